//! The links of a service with the store behind them, begun and ended one by one: of all networks with the service, of partitions as a
//! worker's leases come and go.

use super::registry_changes;
use super::{Config, ServiceError};
use crate::fence::Fence;
use crate::link::{self, Beginning, End, LinkHandle, Parts};
use crate::network::NetworkId;
use crate::partition::{Partition, Slices};
use crate::registry::{KeyStore, MeterFile, Meters};
use crate::store::{KeptMeter, Reader, Sharing, Store, StoreError, Write};
use crate::writer::{Jobs, WriterHandle};
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use tokio::runtime::Handle;
use wire::meter::{MeterId, Policy, Suite};

/// The store, and the links that are there. Its calls block.
pub(crate) struct Links {
    config: Config,
    keys: KeyStore,
    slices: Slices,
    handle: LinkHandle,
    reader: Reader,
    jobs: Arc<Jobs<link::Submitted>>,
    store: JoinHandle<()>,
    running: BTreeMap<Partition, RunningLink>,
    /// Where the links' tasks run.
    runtime: Handle,
}

struct RunningLink {
    thread: JoinHandle<()>,
    /// Brings changes of the key files.
    following: tokio::task::JoinHandle<()>,
}

/// What is stored of meters, by network.
pub(super) type Kept = BTreeMap<NetworkId, BTreeMap<MeterId, KeptMeter>>;

impl Links {
    /// Opens the store. No link is there yet. worker: what it is called among those that write the store, too; `None`: nobody does.
    ///
    /// # Errors
    /// [`ServiceError::Store`], [`ServiceError::Thread`].
    pub(crate) fn open(
        config: Config,
        slices: Slices,
        worker: Option<&str>,
        runtime: Handle,
    ) -> Result<Links, ServiceError> {
        let store = match worker {
            None => Store::open(&config.db, &config.store)?,
            Some(worker) => {
                Store::open_shared(&config.db, &config.store, Sharing { worker: worker.to_owned(), slices })?
            }
        };
        let reader = store.reader();
        let keys = KeyStore::of(&reader, config.keks.as_ref(), &config.keys)?;
        let (jobs, store) = Jobs::start(store).map_err(ServiceError::Thread)?;
        let (jobs, handle) = (Arc::new(jobs), LinkHandle::new(slices));
        Ok(Links { config, keys, slices, handle, reader, jobs, store, running: BTreeMap::new(), runtime })
    }

    pub(crate) fn handle(&self) -> &LinkHandle {
        &self.handle
    }

    pub(crate) fn reader(&self) -> &Reader {
        &self.reader
    }

    pub(crate) fn writer(&self) -> WriterHandle {
        self.jobs.handle()
    }

    /// How many transactions the store refused, because others had partitions of theirs.
    pub(crate) fn fenced(&self) -> u64 {
        self.jobs.counts().fenced.load(Ordering::Relaxed)
    }

    pub(crate) fn keys(&self) -> &KeyStore {
        &self.keys
    }

    /// What is stored of all meters.
    pub(super) fn kept(&self) -> Result<Kept, StoreError> {
        let mut kept = Kept::new();
        for meter in self.reader.kept_meters()? {
            kept.entry(meter.meter.network).or_default().insert(meter.meter.meter, meter);
        }
        Ok(kept)
    }

    /// Looks whether what is stored of a network without a folder of keys may go without one.
    pub(super) fn belongs(
        &self,
        network: NetworkId,
        kept: &BTreeMap<MeterId, KeptMeter>,
    ) -> Result<(), ServiceError> {
        match kept.values().filter(|kept| kept.revoked_ms.is_none()).count() {
            0 => Ok(()),
            meters => Err(self.other_keys(network, meters)),
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

    /// Begins a partition's link, which writes under the lease. Returns how many meters it has.
    ///
    /// # Errors
    /// [`ServiceError`]
    pub(crate) fn begin(&mut self, partition: Partition, fence: Arc<Fence>) -> Result<usize, ServiceError> {
        self.jobs
            .take(fence.lease())
            .map_err(|error| error.map_or(ServiceError::Ended("store"), Into::into))?;
        let kept = self.reader.kept_meters_of(partition, self.slices)?;
        let kept = kept.into_iter().map(|kept| (kept.meter.meter, kept)).collect();
        self.begin_with(partition, kept, Some(fence), None)
    }

    /// Begins a partition's link. kept: what is stored of its meters. end: hears of the link's end.
    ///
    /// # Errors
    /// [`ServiceError`]
    pub(super) fn begin_with(
        &mut self,
        partition: Partition,
        kept: BTreeMap<MeterId, KeptMeter>,
        fence: Option<Arc<Fence>>,
        end: Option<End>,
    ) -> Result<usize, ServiceError> {
        let (network, slices) = (partition.network, self.slices);
        let registry = self.keys.open_network(network)?;
        let stored = self.reader.names(network)?;
        if !registry.belongs_to(&stored)? {
            return Err(self.other_keys(network, stored.len()));
        }
        drop(stored);
        let issued = registry.issued()?;
        let Meters { files, network_seals } = registry.load_of(partition, slices)?;
        let policy = self.policy(network, &files, network_seals);
        let poller = registry.poller_of(Some((partition, slices)), &files);
        let meters = files.len();
        let records = files.into_iter().map(|(meter, file)| (meter, (file.epoch, file.record))).collect();
        let identity = registry.identity().clone();
        let writer = self.writer();
        let commit =
            |writes: Vec<Write>| writer.write_under(fence.clone(), writes).map_err(ServiceError::Write);
        let store = (commit, &self.reader);
        let beginning = Beginning::new(store, (partition, slices), identity, policy, kept, records, &issued)?;
        let parts = Parts {
            jobs: self.jobs.clone(),
            done: self.jobs.begin(partition, issued),
            verifiers: link::verifiers(self.config.verifiers),
            seal_by_itself: self.config.require_sealed.is_none(),
            unknown_meters: self.config.unknown_meters.clone().filter(|_| network.is_default()),
            fence,
            rng: StdRng::from_os_rng(),
        };
        let inputs = self.handle.open(partition);
        let thread = link::start(beginning, parts, &self.handle, inputs, end).map_err(|error| {
            self.handle.close(partition);
            self.jobs.end(partition);
            ServiceError::Thread(error)
        })?;
        let following = registry_changes::follow(poller, self.handle.clone(), (partition, slices));
        let following = self.runtime.spawn(following);
        self.running.insert(partition, RunningLink { thread, following });
        Ok(meters)
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

    /// Ends a partition's link: it takes no more packets, and stores and acknowledges what it has. One whose lease is over stores nothing
    /// more.
    ///
    /// # Errors
    /// [`ServiceError::Ended`] where it had ended in a way that it never should.
    pub(crate) fn end(&mut self, partition: Partition) -> Result<(), ServiceError> {
        self.handle.close(partition);
        let joined = self.running.remove(&partition).map_or(Ok(()), |RunningLink { thread, following }| {
            following.abort();
            thread.join()
        });
        self.jobs.end(partition);
        joined.map_err(|_| ServiceError::Ended("link"))
    }

    /// Ends all links, and closes the store.
    ///
    /// # Errors
    /// [`ServiceError::Ended`] where a part had ended before.
    pub(crate) fn stop(mut self) -> Result<(), ServiceError> {
        // All of them at once, then each, also where one had ended before.
        self.handle.stop();
        let partitions: Vec<Partition> = self.running.keys().copied().collect();
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
