//! The sessions of a service with the store behind them, begun and ended one by one: of all
//! networks with the service, of partitions as a worker's leases come and go.

use super::registry_changes;
use super::{Config, ServiceError};
use crate::downlink::Images;
use crate::fence::Fence;
use crate::meters::{MetersHandle, Submission};
use crate::network::NetworkId;
use crate::partition::{Partition, Slices};
use crate::registry::{KeyStore, MeterFile, Meters, Registry};
use crate::session::{self, Beginning, End, Parts};
use crate::store::{Reader, Sharing, Store, Write};
use crate::writer::{Jobs, WriteError, WriterHandle};
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use tokio::runtime::Handle;
use wire::meter::{MeterId, Policy, Suite};

/// The store, and the sessions that are there. Its calls block. Sessions of different partitions
/// begin and end side by side.
pub(crate) struct Sessions {
    config: Config,
    keys: KeyStore,
    slices: Slices,
    handle: MetersHandle,
    reader: Reader,
    images: Arc<Images>,
    jobs: Arc<Jobs<Submission>>,
    store: JoinHandle<()>,
    /// Each partition's place is locked while its session begins or ends.
    running: Mutex<BTreeMap<Partition, Arc<Mutex<Option<RunningSession>>>>>,
    /// The runtime of the sessions' tasks.
    runtime: Handle,
}

struct RunningSession {
    thread: JoinHandle<()>,
    /// Brings changes of the key files.
    following: tokio::task::JoinHandle<()>,
}

impl Sessions {
    /// Opens the store. No session is there yet. worker: its name among those that write the
    /// store, too; `None`: no other process writes.
    ///
    /// # Errors
    /// [`ServiceError::Store`], [`ServiceError::Thread`].
    pub(crate) fn open(
        config: Config,
        slices: Slices,
        worker: Option<&str>,
        runtime: Handle,
    ) -> Result<Sessions, ServiceError> {
        let store = match worker {
            None => Store::open(&config.db, &config.store)?,
            Some(worker) => {
                Store::open_shared(&config.db, &config.store, Sharing { worker: worker.to_owned(), slices })?
            }
        };
        let reader = store.reader();
        let keys = KeyStore::of(&reader, config.keks.as_ref(), &config.keys)?;
        let (jobs, store) = Jobs::start(store).map_err(ServiceError::Thread)?;
        let (jobs, handle) = (Arc::new(jobs), MetersHandle::new(slices));
        let images = Arc::new(Images::new(reader.clone()));
        let running = Mutex::default();
        Ok(Sessions { config, keys, slices, handle, reader, images, jobs, store, running, runtime })
    }

    pub(crate) fn handle(&self) -> &MetersHandle {
        &self.handle
    }

    pub(crate) fn reader(&self) -> &Reader {
        &self.reader
    }

    pub(crate) fn writer(&self) -> WriterHandle {
        self.jobs.handle()
    }

    /// Returns the number of transactions that the store refused, because others had partitions of
    /// theirs.
    pub(crate) fn fenced(&self) -> u64 {
        self.jobs.counts().fenced.load(Ordering::Relaxed)
    }

    pub(crate) fn keys(&self) -> &KeyStore {
        &self.keys
    }

    /// Looks whether what is stored of networks without a folder of keys may go without one.
    /// networks: those that have one.
    pub(super) fn belong(&self, networks: &BTreeSet<NetworkId>) -> Result<(), ServiceError> {
        let stored = self.reader.meters_by_network()?;
        match stored.into_iter().find(|(network, _)| !networks.contains(network)) {
            None => Ok(()),
            Some((network, meters)) => Err(self.other_keys(network, meters)),
        }
    }

    /// One that is not there, or another's, must not revoke all meters.
    fn other_keys(&self, network: NetworkId, meters: usize) -> ServiceError {
        let (keys, db) = (self.keys.of_network(network), self.config.db.clone());
        let or = match self.keys {
            KeyStore::Folder(_) => "give the folder that belongs to it with --keys",
            KeyStore::Database(_) => {
                "take the folder of keys that belongs to it into the database with 'wattseal meters import FOLDER'"
            }
        };
        let of = network.named().map_or_else(String::new, |network| format!(" of network {network}"));
        ServiceError::OtherKeys { keys, db, meters, of, or }
    }

    fn place(&self, partition: Partition) -> Arc<Mutex<Option<RunningSession>>> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.entry(partition).or_default().clone()
    }

    /// Begins a partition's session. fence: what it writes under. end: hears of the session's end.
    /// Returns how many meters it has.
    ///
    /// # Errors
    /// [`ServiceError`]
    pub(crate) fn begin(
        &self,
        partition: Partition,
        fence: Option<Arc<Fence>>,
        end: Option<End>,
    ) -> Result<usize, ServiceError> {
        let place = self.place(partition);
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fence) = &fence {
            if !fence.holds() {
                // Its holder waits for its end already.
                return Err(WriteError::Fenced.into());
            }
            self.jobs
                .take(fence.lease())
                .map_err(|error| error.map_or(ServiceError::Ended("store"), Into::into))?;
        }
        let (network, slices) = (partition.network, self.slices);
        let registry = self.keys.open_network(network)?;
        let Meters { files, network_seals, revision } = registry.load_of(partition, slices)?;
        self.check_owner(&registry, partition, &files)?;
        let counter_floor = registry.counter_floor()?;
        let renew_keys = registry.renews(fence.is_some());
        let policy = Policy { renew_keys, ..self.policy(network, &files, network_seals) };
        let poller = registry.poller_of(Some((partition, slices)), &files, revision);
        let meters = files.len();
        let identity = registry.identity().clone();
        let writer = self.writer();
        let commit =
            |writes: Vec<Write>| writer.write_under(fence.clone(), writes).map_err(ServiceError::Write);
        let store = (commit, &self.reader);
        let beginning = Beginning::new(store, (partition, slices), identity, policy, files, &counter_floor)?;
        let parts = Parts {
            jobs: self.jobs.clone(),
            done: self.jobs.begin(partition, counter_floor),
            verifiers: session::verifiers(self.config.verifiers),
            auto_require_sealed: self.config.require_sealed.is_none(),
            images: self.images.clone(),
            unknown_meters: self.config.unknown_meters.clone().filter(|_| network.is_default()),
            fence,
            registry: Some(registry).filter(|_| renew_keys),
            rng: StdRng::from_os_rng(),
        };
        let inputs = self.handle.open(partition);
        let thread = session::start(beginning, parts, &self.handle, inputs, end).map_err(|error| {
            self.handle.close(partition);
            self.jobs.end(partition);
            ServiceError::Thread(error)
        })?;
        let following = registry_changes::follow(poller, self.handle.clone(), (partition, slices));
        let following = self.runtime.spawn(following);
        *place = Some(RunningSession { thread, following });
        Ok(meters)
    }

    /// Looks that the network's keys and what is stored of it belong together.
    fn check_owner(
        &self,
        registry: &Registry,
        partition: Partition,
        files: &BTreeMap<MeterId, MeterFile>,
    ) -> Result<(), ServiceError> {
        let first = self.reader.stored_meters(partition, self.slices, None)?;
        if first.iter().any(|stored| stored.revoked_ms.is_none() && files.contains_key(&stored.meter)) {
            return Ok(());
        }
        let stored = self.reader.names(partition.network)?;
        match registry.belongs_to(&stored)? {
            true => Ok(()),
            false => Err(self.other_keys(partition.network, stored.len())),
        }
    }

    fn policy(
        &self,
        network: NetworkId,
        files: &BTreeMap<MeterId, MeterFile>,
        network_seals: bool,
    ) -> Policy {
        let seals = |file: &MeterFile| file.record.setup.suite != Suite::None;
        let require_sealed = self.config.require_sealed.unwrap_or(network_seals);
        if require_sealed {
            for meter in files.iter().filter(|(_, file)| !seals(file)).map(|(meter, _)| meter) {
                tracing::warn!(
                    meter,
                    network = network.named(),
                    "it was provisioned to seal nothing, and is not heard before it was told to: start with --require-sealed=false to hear it"
                );
            }
        }
        Policy { require_sealed, ..self.config.policy }
    }

    /// Ends a partition's session: it takes no more packets, and stores and acknowledges what it
    /// has. One whose lease is over stores nothing more.
    ///
    /// # Errors
    /// [`ServiceError::Ended`] where it had ended in a way that it never should.
    pub(crate) fn end(&self, partition: Partition) -> Result<(), ServiceError> {
        let place = self.place(partition);
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        self.handle.close(partition);
        let joined = place.take().map_or(Ok(()), |RunningSession { thread, following }| {
            following.abort();
            thread.join()
        });
        self.jobs.end(partition);
        joined.map_err(|_| ServiceError::Ended("link"))
    }

    /// Ends all sessions, and closes the store.
    ///
    /// # Errors
    /// [`ServiceError::Ended`] where a part had ended before.
    pub(crate) fn stop(self) -> Result<(), ServiceError> {
        // All of them at once, then each, also where one had ended before.
        self.handle.stop();
        let partitions: Vec<Partition> =
            self.running.lock().unwrap_or_else(PoisonError::into_inner).keys().copied().collect();
        let ended: Vec<_> = partitions.into_iter().map(|partition| self.end(partition)).collect();
        let ended = ended.into_iter().collect::<Result<(), _>>();
        self.jobs.stop();
        self.store.join().map_err(|_| ServiceError::Ended("store")).and(ended)
    }

    /// The networks that there are keys of.
    ///
    /// # Errors
    /// [`ServiceError::Registry`]
    pub(crate) fn networks(&self) -> Result<BTreeSet<NetworkId>, ServiceError> {
        Ok(self.keys.networks()?.into_iter().collect())
    }
}
