//! A worker at work: it takes partitions, gives them up, and watches what is in the buckets.

use super::AGAIN_AFTER;
use super::counts::Counts;
use crate::cluster::connection::ClusterError;
use crate::cluster::failover::Silence;
use crate::cluster::lease::{Free, RENEW_EVERY, View};
use crate::cluster::leases::{Buckets, Change};
use crate::cluster::name::RoleName;
use crate::cluster::partition_task::{Ended, Shared};
use crate::cluster::queue::keep_stream;
use crate::cluster::status::{Part, Status};
use crate::cluster::subject;
use crate::network::NetworkId;
use crate::partition::{Partition, Slices};
use crate::registry::RegistryError;
use crate::service::{NETWORKS_MAX, ServiceError};
use crate::store::StoreError;
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{MissedTickBehavior, interval, timeout};

/// Partitions that one worker has at most: each has threads of its own.
const PARTITIONS_MAX: usize = NETWORKS_MAX;
/// The period of planning.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// The period of the check of the keys for networks.
const NETWORKS_EVERY: Duration = Duration::from_secs(2);
/// The time for which a finding in a stream or bucket is reported.
const DATA_TOLD_FOR: Duration = Duration::from_secs(5);
/// A partition that could not begin here is not tried again before that: another worker may do it
/// meanwhile.
const BEGIN_AGAIN_AFTER: Duration = Duration::from_secs(5);

/// The end of a worker that served.
pub(super) enum End {
    /// It was told to.
    Stopped,
    /// Networks are cut into another number of slices.
    Slices(Slices),
}

/// A worker that has all that it needs.
pub(super) struct Running {
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
    pub(super) fn new(
        me: RoleName,
        shared: Shared,
        buckets: Buckets,
        status: Status,
        counts: Arc<Counts>,
    ) -> Running {
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
    pub(super) async fn run(
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
                // The default network has no row and is there, as in `collect`.
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
