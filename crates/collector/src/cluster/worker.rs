//! The role `worker`: takes its share of the partitions, and does for each what `collect` does for
//! a network. It holds nothing that another worker cannot take over.

use super::connection::{ClusterError, Connection, Nats};
use super::events::{EventCounts, Told};
use super::exchange::{ExchangeCounts, Others};
use super::failover::Silence;
use super::health::{Figures, HealthListen};
use super::http_role::Served;
use super::lease::{Free, RENEW_EVERY, View};
use super::leases::{Buckets, Change};
use super::name::RoleName;
use super::partition_task::{Ended, Shared};
use super::queue::{QueueCounts, keep_stream, open_stream};
use super::remote::{RemoteCounts, RemoteGateways};
use super::status::{Part, Status};
use super::subject;
use super::user::NatsUser;
use crate::api::Listen;
use crate::api::metrics::{self, Text};
use crate::network::NetworkId;
use crate::partition::{Partition, Slices};
use crate::registry::RegistryError;
use crate::service::{Config, NETWORKS_MAX, ServiceError, Sessions};
use crate::store::{DatabaseUrl, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

/// Partitions that one worker has at most: each has threads of its own.
const PARTITIONS_MAX: usize = NETWORKS_MAX;
/// Sessions that begin side by side: one waits for the database while another reads what came.
const BEGINNINGS: usize = 3;
/// The period of planning.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// The period of the check of the keys for networks.
const NETWORKS_EVERY: Duration = Duration::from_secs(2);
/// After JetStream did not answer.
const AGAIN_AFTER: Duration = Duration::from_secs(1);
/// After another process had the database.
const STORE_AGAIN_AFTER: Duration = Duration::from_millis(200);
/// The time for which a finding in a stream or bucket is reported.
const DATA_TOLD_FOR: Duration = Duration::from_secs(5);
/// A partition that could not begin here is not tried again before that: another worker may do it
/// meanwhile.
const BEGIN_AGAIN_AFTER: Duration = Duration::from_secs(5);

/// The configuration of `worker`.
#[derive(Clone, Debug)]
pub struct Worker {
    pub nats: Nats,
    /// Its name in NATS, different from all other workers, and from itself before a restart.
    pub name: RoleName,
    /// The store, the keys, how it behaves; no gateways.
    pub service: Config,
    /// Into how many slices each network is to be cut; `None`: as it is, at first 1.
    pub slices: Option<Slices>,
    /// Says if they may be changed.
    pub change_slices: bool,
    /// On how many servers streams and buckets are that are made.
    pub replicas: usize,
    pub health: Option<HealthListen>,
    /// The address of the dashboard and the API, while it has a store; `None`: nowhere.
    pub listen: Option<Listen>,
}

/// The addresses of a started worker.
#[derive(Clone, Debug)]
pub struct WorkerStarted {
    pub health: Option<SocketAddr>,
}

/// The worker's counts, with the sources of its metrics once it has a store.
#[derive(Default)]
struct Counts {
    queue: Arc<QueueCounts>,
    exchange: Arc<ExchangeCounts>,
    events: Arc<EventCounts>,
    remote: Arc<RemoteCounts>,
    taken: AtomicU64,
    lost: AtomicU64,
    given_up: AtomicU64,
    /// Records in streams and buckets that are not as workers make them.
    unreadable: AtomicU64,
    /// The partitions that it has, with the numbers of their fences.
    held: Mutex<BTreeMap<Partition, u64>>,
    shared: Mutex<Option<Shared>>,
}

impl Counts {
    async fn write(&self, text: &mut Text) {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        for (name, help, count) in [
            ("packets", "Packets that came from the stream", &self.queue.packets),
            ("redelivered_packets", "Of them, those that came again", &self.queue.redelivered),
            ("malformed_packets", "Of them, those that are none", &self.queue.malformed),
            ("stream_acknowledgements", "Acknowledgements to the stream", &self.queue.acknowledgements),
            ("questions", "Questions about its meters that came", &self.exchange.questions),
            ("malformed_questions", "Of them, those that are none", &self.exchange.malformed),
            ("leases_taken", "Partitions that were taken", &self.taken),
            ("leases_lost", "Partitions whose lease was over before they were given up", &self.lost),
            ("leases_given_up", "Partitions that were given up", &self.given_up),
            (
                "unreadable_records",
                "Times that something in a stream or bucket was not as workers make it",
                &self.unreadable,
            ),
        ] {
            text.one(&format!("wattseal_worker_{name}_total"), "counter", help, read(count));
        }
        self.exchange.write(text, "worker");
        self.events.write(text, "worker");
        let name = "wattseal_worker_partition_fence";
        text.head(name, "gauge", "The partitions that it has, with the number of the lease");
        for (partition, fence) in self.held.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            text.labelled(name, &[("partition", &partition.to_string())], fence);
        }
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(shared) = shared else { return };
        let remote = &self.remote;
        for (name, help, count) in [
            ("down_packets", "Packets that were published to gateways", &remote.sent),
            (
                "down_dropped_packets",
                "Packets to gateways that were dropped, for want of room",
                &remote.dropped,
            ),
            ("unknown_gateway_packets", "Packets of gateways for which there is no room", &remote.unknown),
        ] {
            text.one(&format!("wattseal_worker_{name}_total"), "counter", help, read(count));
        }
        let store = shared.sessions(|sessions| Ok((sessions.reader().clone(), sessions.fenced()))).await;
        let snapshot = shared.meters.snapshot().await.ok();
        if let Ok((reader, fenced)) = store {
            text.one(
                "wattseal_worker_fenced_transactions_total",
                "counter",
                "Transactions that the store refused, because a partition was taken under a later lease",
                fenced,
            );
            metrics::store(text, &reader.health(), shared.meters.store_ok(), snapshot.is_some());
        }
        if let Some(snapshot) = &snapshot {
            metrics::sessions(text, snapshot);
        }
    }
}

fn figures(counts: &Arc<Counts>) -> Figures {
    let counts = counts.clone();
    Arc::new(move |mut text| {
        let counts = counts.clone();
        Box::pin(async move {
            counts.write(&mut text).await;
            text
        })
    })
}

impl Worker {
    /// Runs until `stop`. Then what it has is stored, acknowledged, and given up. ready: is called
    /// at once; its health says when it works.
    ///
    /// # Errors
    /// [`ClusterError`]: errors that waiting does not mend. Acknowledged readings are stored
    /// whatever happens.
    pub async fn serve(
        self,
        ready: impl FnOnce(&WorkerStarted),
        stop: impl Future<Output = ()>,
    ) -> Result<(), ClusterError> {
        let (status, counts) = (Status::default(), Arc::new(Counts::default()));
        let health =
            self.health.map(|health| health.serve("worker", status.clone(), figures(&counts))).transpose()?;
        ready(&WorkerStarted { health });
        status.trouble(Part::Nats, "not connected yet");
        status.trouble(Part::Store, "not opened yet");
        let (nats, name, looked_at) = (self.nats.clone(), self.name.clone(), status.clone());
        let mut wide = None;
        let ended = {
            let stop = async {
                tokio::select! {
                    () = stop => {}
                    error = nats.refuse_wide_user(&NatsUser::Worker, &name, &looked_at) => wide = Some(error),
                }
            };
            self.serve_until(pin!(stop), &status, &counts).await
        };
        wide.map_or(ended, Err)
    }

    async fn serve_until(
        &self,
        mut stop: Pin<&mut impl Future<Output = ()>>,
        status: &Status,
        counts: &Arc<Counts>,
    ) -> Result<(), ClusterError> {
        let connection = tokio::select! {
            connected = self.nats.connect(&self.name, status) => connected?,
            () = &mut stop => return Ok(()),
        };
        // The command line's slices count once: they may be changed later.
        let mut slices = (self.slices, self.change_slices);
        loop {
            let prepared = tokio::select! {
                prepared = self.prepare(&connection, slices, status, counts) => prepared?,
                () = &mut stop => return Ok(()),
            };
            match self.serve_prepared(prepared, status, counts, stop.as_mut()).await? {
                End::Stopped => return Ok(()),
                End::Slices(there) => {
                    status.trouble(
                        Part::Partitions,
                        format!(
                            "the cluster's networks have {there} slices now: all partitions are taken anew"
                        ),
                    );
                    slices = (None, false);
                }
            }
        }
    }

    /// Serves until `stop`, or until it has to prepare itself anew.
    async fn serve_prepared(
        &self,
        (shared, buckets): (Shared, Buckets),
        status: &Status,
        counts: &Arc<Counts>,
        stop: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<End, ClusterError> {
        let api = match &self.listen {
            Some(listen) => Some(loop {
                let parts =
                    shared.sessions(|sessions| Ok((sessions.reader().clone(), sessions.writer()))).await?;
                let hears = (&shared.connection, &self.name, &counts.events);
                match Served::start(listen, parts, shared.meters.clone(), hears).await {
                    Err(ClusterError::Service(error)) if is_waited_for(&error) => {
                        status.trouble(Part::Store, format!("{error}. Trying again"));
                        sleep(STORE_AGAIN_AFTER).await;
                    }
                    started => break started?,
                }
            }),
            None => None,
        };
        let sessions = shared.sessions.clone();
        let running = Running::new(self.name.clone(), shared, buckets, status.clone(), counts.clone());
        let ended = running.run(self.replicas, stop).await;
        if let Some(api) = api {
            api.stop().await;
        }
        let stopped = tokio::task::spawn_blocking(move || {
            let sessions = sessions.write().unwrap_or_else(PoisonError::into_inner).take();
            sessions.map_or(Ok(()), Sessions::stop)
        });
        stopped.await.map_err(|_| ClusterError::Ended("store"))??;
        tracing::info!("the worker has stopped; all that it acknowledged is stored");
        ended
    }

    /// Waits for all that it needs.
    async fn prepare(
        &self,
        connection: &Connection,
        (wanted, change): (Option<Slices>, bool),
        status: &Status,
        counts: &Arc<Counts>,
    ) -> Result<(Shared, Buckets), ClusterError> {
        let connection = connection.clone();
        let mut silence = Silence::default();
        let (stream, buckets, slices) = loop {
            let open = async {
                let stream = open_stream(&connection, self.replicas).await?;
                let buckets = Buckets::open(&connection, self.replicas).await?;
                let slices = buckets.slices(wanted, change).await?;
                Ok::<_, String>((stream, buckets, slices))
            };
            match open.await {
                Ok((stream, buckets, slices)) => break (stream, buckets, slices?),
                Err(why) => {
                    status.trouble(
                        Part::JetStream,
                        format!("{why}; trying again each second. Is JetStream on, has it a leader, may this user use it?"),
                    );
                    silence.unanswered(&connection);
                    sleep(AGAIN_AFTER).await;
                }
            }
        };
        status.fine(Part::JetStream);
        // Before others are told that it is there: one who cannot write has no share.
        let sessions = loop {
            let (config, name, runtime) = (self.service.clone(), self.name.clone(), Handle::current());
            let open = move || Sessions::open(config, slices, Some(name.as_str()), runtime);
            let opened = tokio::task::spawn_blocking(open).await;
            match opened.map_err(|_| ClusterError::Ended("store"))? {
                Ok(sessions) => break sessions,
                Err(error) if is_waited_for(&error) => {
                    status.trouble(Part::Store, format!("{error}. Waiting for it, trying again"));
                    sleep(STORE_AGAIN_AFTER).await;
                }
                Err(error) => return Err(error.into()),
            }
        };
        status.fine(Part::Store);
        let (meters, keys) = (sessions.handle().clone(), sessions.keys().clone());
        let remote = Arc::new(RemoteGateways::start(
            connection.clone(),
            meters.gateways().clone(),
            counts.remote.clone(),
        ));
        let sessions = Arc::new(RwLock::new(Some(sessions)));
        let beginnings = Arc::new(Semaphore::new(BEGINNINGS));
        let (queue, exchange) = (counts.queue.clone(), counts.exchange.clone());
        let told = Told::start(connection.clone(), self.name.clone(), counts.events.clone());
        let others = Others::new(connection.clone(), self.name.clone(), told, exchange.clone());
        meters.join(Arc::new(others));
        let shared = Shared {
            connection,
            stream,
            slices,
            keys,
            sessions,
            beginnings,
            meters,
            remote,
            counts: queue,
            exchange,
        };
        *counts.shared.lock().unwrap_or_else(PoisonError::into_inner) = Some(shared.clone());
        Ok((shared, buckets))
    }
}

/// The end of a worker that served.
enum End {
    /// It was told to.
    Stopped,
    /// Networks are cut into another number of slices.
    Slices(Slices),
}

/// Says if a worker waits for the database: another worker has it, or its server is not reachable
/// now, such as while its standby is promoted.
fn is_waited_for(error: &ServiceError) -> bool {
    match error {
        ServiceError::Store(error) | ServiceError::Registry(RegistryError::Store(error)) => {
            matches!(
                error,
                StoreError::InUse { .. } | StoreError::Unreachable { place: DatabaseUrl::Server(_), .. }
            )
        }
        _ => false,
    }
}

/// A worker that has all that it needs.
struct Running {
    me: RoleName,
    shared: Shared,
    buckets: Buckets,
    status: Status,
    counts: Arc<Counts>,
    view: View,
    /// The findings in streams and buckets, with the time when each was seen last.
    data_troubles: BTreeMap<&'static str, (Instant, String)>,
    silence: Silence,
    /// All partitions of the cluster.
    all: BTreeSet<Partition>,
    networks_at: Option<Instant>,
    /// The look for networks that is under way, and what the last one came to nothing for.
    networks_look: Option<JoinHandle<Result<Vec<NetworkId>, RegistryError>>>,
    networks_trouble: Option<String>,
    /// Those that it has, each with who tells it to stop; `None`: it was told.
    held: BTreeMap<Partition, Option<oneshot::Sender<()>>>,
    tasks: JoinSet<(Partition, Ended)>,
    /// Partitions that could not begin here, or go on: until when they are left to others, and why.
    failed: BTreeMap<Partition, (Instant, String)>,
}

impl Running {
    fn new(me: RoleName, shared: Shared, buckets: Buckets, status: Status, counts: Arc<Counts>) -> Running {
        Running {
            view: View::new(me.clone()),
            data_troubles: BTreeMap::new(),
            silence: Silence::default(),
            me,
            shared,
            buckets,
            status,
            counts,
            all: BTreeSet::new(),
            networks_at: None,
            networks_look: None,
            networks_trouble: None,
            held: BTreeMap::new(),
            tasks: JoinSet::new(),
            failed: BTreeMap::new(),
        }
    }

    /// replicas: on how many servers a stream is that is made.
    async fn run(
        mut self,
        replicas: usize,
        mut stop: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<End, ClusterError> {
        let (changes_in, mut changes) = mpsc::channel(1024);
        let mut beside = JoinSet::new();
        beside.spawn(self.buckets.clone().keep_slices(self.shared.slices, changes_in.clone()));
        let replicas = self.shared.stream.cached_info().config.num_replicas.max(replicas);
        beside.spawn(keep_stream(self.shared.connection.clone(), replicas, changes_in.clone()));
        beside.spawn(self.buckets.clone().watch(changes_in));
        let (buckets, me) = (self.buckets.clone(), self.me.clone());
        beside.spawn(async move { buckets.announce(&me).await });
        let mut ticks = interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut current = false;
        let ended = loop {
            tokio::select! {
                change = changes.recv() => match change {
                    Some(Change::Current) => current = true,
                    Some(Change::Slices(there)) => break Ok(End::Slices(there)),
                    Some(change) => self.seen(change),
                    None => break Err(ClusterError::Ended("watch of the leases")),
                },
                Some(ended) = self.tasks.join_next() => {
                    let ended = match ended {
                        Ok(ended) => self.ended(ended),
                        Err(_) => Err(ClusterError::Ended("task of a partition")),
                    };
                    if let Err(error) = ended { break Err(error) }
                }
                _ = ticks.tick(), if current => self.check().await,
                () = &mut stop => break Ok(End::Stopped),
            }
        };
        tracing::info!("giving up what it has");
        for told in self.held.values_mut() {
            drop(told.take());
        }
        while let Some(ended) = self.tasks.join_next().await {
            if let Ok(ended) = ended {
                // How the first one ended is what is told.
                let _ = self.ended(ended);
            }
        }
        beside.shutdown().await;
        self.buckets.goes(&self.me).await;
        ended
    }

    fn seen(&mut self, change: Change) {
        let now = Instant::now();
        match change {
            Change::Lease { partition, found } => {
                if found.lease.is_none() {
                    self.counts.unreadable.fetch_add(1, Ordering::Relaxed);
                }
                self.view.lease(partition, found, now);
            }
            Change::LeasesMadeAnew => self.view.leases_made_anew(now),
            Change::Worker { name } => self.view.worker(name, now),
            Change::WorkerGone { name } => self.view.worker_gone(&name),
            Change::Trouble { of, why } => {
                self.counts.unreadable.fetch_add(1, Ordering::Relaxed);
                self.data_troubles.insert(of, (now, why));
            }
            Change::Slices(_) | Change::Current => {}
        }
    }

    fn check_data(&mut self, now: Instant) {
        self.data_troubles.retain(|_, (seen, _)| now.duration_since(*seen) < DATA_TOLD_FOR);
        let unreadable = self.view.unreadable(&self.all).next();
        let unreadable = unreadable.map(|partition| {
            format!(
                "bucket {}, key {partition}: the lease cannot be read; it is replaced, unless its worker writes it again",
                subject::LEASES
            )
        });
        match unreadable.or_else(|| self.data_troubles.values().next().map(|(_, why)| why.clone())) {
            Some(why) => self.status.trouble(Part::Data, why),
            None => self.status.fine(Part::Data),
        }
    }

    fn ended(&mut self, (partition, ended): (Partition, Ended)) -> Result<(), ClusterError> {
        self.held.remove(&partition);
        self.counts.held.lock().unwrap_or_else(PoisonError::into_inner).remove(&partition);
        let count = |count: &AtomicU64| count.fetch_add(1, Ordering::Relaxed);
        match ended {
            Ended::Told => {
                count(&self.counts.given_up);
                tracing::info!(%partition, "a partition is given up");
            }
            Ended::Lost => {
                count(&self.counts.lost);
                tracing::warn!(%partition, "the lease of a partition is over: others may have it now");
            }
            Ended::Failed(why) => {
                count(&self.counts.given_up);
                let why = format!("packets of partition {partition} do not come: {why}");
                self.failed.insert(partition, (Instant::now() + AGAIN_AFTER, why));
            }
            Ended::NotBegun(error) => {
                count(&self.counts.given_up);
                if let ServiceError::Store(StoreError::Fenced { leases, .. }) = &error {
                    leases.iter().for_each(|lease| self.view.later_lease(*lease, Instant::now()));
                }
                let until = Instant::now() + BEGIN_AGAIN_AFTER;
                self.failed
                    .insert(partition, (until, format!("partition {partition} cannot begin here: {error}")));
            }
            Ended::Broken => return Err(ClusterError::Ended("link")),
        }
        Ok(())
    }

    /// Looks at what is to be done, and does it.
    async fn check(&mut self) {
        self.discover_networks().await;
        let now = Instant::now();
        self.check_data(now);
        match self.shared.remote.trouble() {
            Some(why) => self.status.trouble(Part::Gateways, why),
            None => self.status.fine(Part::Gateways),
        }
        self.failed.retain(|_, (until, _)| now < *until);
        match self.failed.values().next().map(|(_, why)| why).or(self.networks_trouble.as_ref()) {
            Some(why) => self.status.trouble(Part::Partitions, why.clone()),
            None => self.status.fine(Part::Partitions),
        }
        if self.shared.meters.store_ok() {
            self.status.fine(Part::Store);
        } else {
            self.status.trouble(
                Part::Store,
                "nothing can be stored, and so nothing is acknowledged; the log says why",
            );
        }
        let held: BTreeSet<Partition> = self.held.keys().copied().collect();
        let plan = self.view.plan(&self.all, &held, PARTITIONS_MAX, now);
        for partition in plan.release {
            // Dropped: it is told.
            drop(self.held.get_mut(&partition).and_then(Option::take));
        }
        if plan.take.is_empty() && self.shared.connection.is_connected() {
            // Leases are seen to be renewed.
            self.silence.answered();
            self.status.fine(Part::JetStream);
        }
        for free in plan.take {
            if !self.failed.contains_key(&free.partition) && !self.take(&free).await {
                return;
            }
        }
    }

    /// Returns whether JetStream answered.
    async fn take(&mut self, free: &Free) -> bool {
        let taken = timeout(RENEW_EVERY, self.buckets.take(free, &self.me)).await;
        let silent =
            || Err("JetStream does not answer: it has no leader, or its servers are away".to_owned());
        match taken.unwrap_or_else(|_| silent()) {
            Ok(Ok(lease)) => {
                let (told, stop) = oneshot::channel();
                self.counts.taken.fetch_add(1, Ordering::Relaxed);
                let mut held = self.counts.held.lock().unwrap_or_else(PoisonError::into_inner);
                held.insert(free.partition, lease.fence().number);
                self.held.insert(free.partition, Some(told));
                self.tasks.spawn(self.shared.clone().hold(lease, stop));
            }
            // Another worker has it, or what was seen is not what is there.
            Ok(Err(found)) => {
                if let Some(found) = found {
                    self.view.on_lease_read(free.partition, found, Instant::now());
                }
            }
            Err(why) => {
                self.status.trouble(Part::JetStream, why);
                self.silence.unanswered(&self.shared.connection);
                return false;
            }
        }
        self.silence.answered();
        self.status.fine(Part::JetStream);
        true
    }

    /// Takes what the last look found, and begins another where it is time: a database may be slow
    /// to answer, and leases are not.
    async fn discover_networks(&mut self) {
        if let Some(looked) = self.networks_look.take_if(|look| look.is_finished())
            && let Ok(found) = looked.await
        {
            self.networks_trouble = found.as_ref().err().map(RegistryError::to_string);
            if let Ok(networks) = found {
                // As in `collect`: the network that nobody names is there.
                let all: BTreeSet<NetworkId> = networks.into_iter().chain([NetworkId::DEFAULT]).collect();
                let slices = self.shared.slices;
                self.all = all.into_iter().flat_map(|network| slices.partitions(network)).collect();
            }
        }
        if self.networks_look.is_none() && self.networks_at.is_none_or(|at| at.elapsed() >= NETWORKS_EVERY) {
            self.networks_at = Some(Instant::now());
            let keys = self.shared.keys.clone();
            self.networks_look = Some(tokio::task::spawn_blocking(move || keys.networks()));
        }
    }
}
