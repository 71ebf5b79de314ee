//! The handle of the links, one link for each partition: requests and their answers.

use super::command::{CommandRequest, LinkError};
use super::receipt::QueuedPacket;
use super::remote_links::{EventSubscribers, Question, RemoteLinks};
use crate::event::Event;
use crate::gateway::{Gateways, HeardPacket, Route};
use crate::image_digest::ImageDigest;
use crate::network::{GlobalMeterId, NetworkId};
use crate::partition::{Partition, Slices};
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use tokio::sync::{broadcast, oneshot};
use wire::meter::{Counters, MeterId, MeterRecord, Suite};

/// Packets that wait for a link at most; others are dropped, and come again.
const PACKETS_MAX: usize = 8192;
/// Questions that wait for a link at most.
const ASKS_MAX: usize = 1024;
/// Events that a subscriber may be behind before it misses some.
const EVENTS_MAX: usize = 4096;

/// The link's state of a meter since the service's start.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeterStatus {
    /// The meter, as it was provisioned.
    #[serde(flatten)]
    pub meter: GlobalMeterId,
    /// Of its keys: 1 for the first ones.
    pub epoch: u32,
    /// The suite that it was last told to use.
    pub suite: Suite,
    /// Seconds between measurements.
    pub interval_s: u16,
    /// Says if it was heard within three intervals.
    pub online: bool,
    /// When something authentic and new came last: Unix time in milliseconds.
    pub heard_ms: Option<i64>,
    /// The route of that packet.
    #[serde(skip)]
    pub route: Option<Route>,
    /// The signal strength of that packet, in dBm.
    pub rssi_dbm: Option<i8>,
    /// Reports that were stored.
    pub reports: u64,
    /// Reports that came again.
    pub repeats: u64,
    /// Packets in its name that were refused.
    pub refused: u64,
    /// Measurements that it lost for want of room since its start; 255 is 255 or more.
    pub lost: u8,
    /// Commands that are not answered.
    pub waiting_commands: usize,
}

/// The counts and the state of the links since the service's start.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Snapshot {
    /// Packets that gateways heard.
    pub packets: u64,
    /// Packets that were dropped, for want of room in a link's queue.
    pub dropped_packets: u64,
    /// Messages that were dropped, for want of room in the verifiers' queue.
    pub dropped_messages: u64,
    /// Reports that were stored and acknowledged.
    pub reports: u64,
    /// Reports that came again and were acknowledged again.
    pub repeats: u64,
    /// Answers to commands.
    pub answers: u64,
    pub sent_packets: u64,
    /// Refused packets, by reason.
    pub refused: Counters,
    pub meters: usize,
    /// Meters that were heard within three intervals.
    pub online: usize,
    /// Commands that are not answered.
    pub waiting_commands: usize,
    /// Bytes of messages that are not whole yet.
    pub unfinished_bytes: usize,
    /// Packets that wait for a link.
    pub queued_packets: usize,
    /// Messages that are being opened, or wait for it.
    pub opening: usize,
    /// Transactions of the store.
    pub commits: u64,
    /// The duration of the commits, in seconds.
    pub commits_s: f64,
    /// Transactions that failed.
    pub failed_commits: u64,
    /// Says if the clock is behind the stored readings.
    pub clock_behind: bool,
}

impl Snapshot {
    /// Together with what another link counted.
    fn and(self, other: Snapshot) -> Snapshot {
        let mut refused = self.refused;
        refused += other.refused;
        Snapshot {
            packets: self.packets + other.packets,
            dropped_packets: self.dropped_packets + other.dropped_packets,
            dropped_messages: self.dropped_messages + other.dropped_messages,
            reports: self.reports + other.reports,
            repeats: self.repeats + other.repeats,
            answers: self.answers + other.answers,
            sent_packets: self.sent_packets + other.sent_packets,
            refused,
            meters: self.meters + other.meters,
            online: self.online + other.online,
            waiting_commands: self.waiting_commands + other.waiting_commands,
            unfinished_bytes: self.unfinished_bytes + other.unfinished_bytes,
            queued_packets: self.queued_packets + other.queued_packets,
            opening: self.opening + other.opening,
            // Of the one store, as it was when the later of both was asked.
            commits: self.commits.max(other.commits),
            commits_s: self.commits_s.max(other.commits_s),
            failed_commits: self.failed_commits.max(other.failed_commits),
            clock_behind: self.clock_behind || other.clock_behind,
        }
    }
}

/// A request to a link's thread.
#[derive(Debug)]
pub(crate) enum Request {
    Command { meter: MeterId, request: CommandRequest, by: String, answer: Answer<Result<i64, LinkError>> },
    Withdraw { meter: MeterId, id: i64, answer: Answer<Result<(), LinkError>> },
    Update { meter: MeterId, image: ImageDigest, by: String, answer: Answer<Result<i64, LinkError>> },
    ForgetUpdate { meter: MeterId, answer: Answer<Result<(), LinkError>> },
    SetMeter { epoch: u32, record: Box<MeterRecord>, answer: Answer<Result<(), LinkError>> },
    Revoke { meter: MeterId, answer: Answer<Result<(), LinkError>> },
    Meters { answer: Answer<Vec<MeterStatus>> },
    Meter { meter: MeterId, answer: Answer<Option<MeterStatus>> },
    Snapshot { answer: Answer<Snapshot> },
    Stop,
}

/// The channel of an answer.
pub(crate) type Answer<T> = oneshot::Sender<T>;

/// The inputs of a link's thread.
pub(crate) struct Inputs {
    pub(super) packets: Receiver<QueuedPacket>,
    pub(super) requests: Receiver<Request>,
    pub(super) dropped_packets: Arc<AtomicU64>,
}

/// The way to a link.
#[derive(Clone)]
struct Queues {
    packets: Sender<QueuedPacket>,
    requests: Sender<Request>,
    dropped_packets: Arc<AtomicU64>,
}

impl Queues {
    fn new() -> (Queues, Inputs) {
        let (packets, packets_in) = bounded(PACKETS_MAX);
        let (requests, requests_in) = bounded(ASKS_MAX);
        let dropped_packets = Arc::new(AtomicU64::new(0));
        let inputs =
            Inputs { packets: packets_in, requests: requests_in, dropped_packets: dropped_packets.clone() };
        (Queues { packets, requests, dropped_packets }, inputs)
    }

    async fn ask<T>(self, ask: impl FnOnce(Answer<T>) -> Request) -> Result<T, LinkError> {
        let (answer, answered) = oneshot::channel();
        self.requests.try_send(ask(answer)).map_err(|refused| match refused {
            TrySendError::Full(_) => LinkError::Busy,
            TrySendError::Disconnected(_) => LinkError::Stopped,
        })?;
        // A question to a link that ends stays in its queue for as long as somebody has that.
        drop(self);
        answered.await.map_err(|_| LinkError::Stopped)
    }
}

/// The state that all sides can read without asking.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(super) store_ok: AtomicBool,
    /// When the newest of what is stored was heard, in any network: Unix ms.
    pub(super) newest_ms: AtomicI64,
}

/// The way to the links for gateways, the API, the registry and subscribers. A request about a
/// meter goes to its partition's link, in a cluster also to one of another process.
#[derive(Clone)]
pub struct LinkHandle {
    links: Arc<RwLock<BTreeMap<Partition, Queues>>>,
    pub(super) slices: Slices,
    pub(super) subscribers: EventSubscribers,
    pub(super) gateways: Arc<Gateways>,
    pub(super) shared: Arc<Shared>,
}

impl LinkHandle {
    /// Without any link yet.
    pub(crate) fn new(slices: Slices) -> LinkHandle {
        let shared = Shared { store_ok: AtomicBool::new(true), newest_ms: AtomicI64::new(0) };
        LinkHandle {
            links: Arc::default(),
            slices,
            subscribers: EventSubscribers::new(EVENTS_MAX),
            gateways: Arc::default(),
            shared: Arc::new(shared),
        }
    }

    /// There are links in other processes from now on. Once is enough.
    pub(crate) fn join(&self, elsewhere: Arc<dyn RemoteLinks>) {
        self.subscribers.join(elsewhere);
    }

    /// Makes the inputs of a link that begins now.
    pub(crate) fn open(&self, partition: Partition) -> Inputs {
        let (queues, inputs) = Queues::new();
        self.links.write().unwrap_or_else(PoisonError::into_inner).insert(partition, queues);
        inputs
    }

    /// Tells a link's thread to come to its end, as [`LinkHandle::stop`], and nobody finds it any
    /// more.
    pub(crate) fn close(&self, partition: Partition) {
        let queues = self.links.write().unwrap_or_else(PoisonError::into_inner).remove(&partition);
        if let Some(queues) = queues {
            // It may have ended already. Where it is behind with questions it comes to this one,
            // too.
            let _ = queues.requests.send(Request::Stop);
        }
    }

    fn links(&self) -> RwLockReadGuard<'_, BTreeMap<Partition, Queues>> {
        self.links.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn all_queues(&self) -> Vec<Queues> {
        self.links().values().cloned().collect()
    }

    /// Hands a packet over that a gateway of network 0 heard, as [`LinkHandle::hear_in`].
    pub fn hear(&self, packet: HeardPacket) -> bool {
        self.hear_in(NetworkId::DEFAULT, packet)
    }

    /// Hands a packet over that a gateway of this network heard, without waiting. Returns whether
    /// there was room for it; where there was none it comes again.
    pub fn hear_in(&self, network: NetworkId, packet: HeardPacket) -> bool {
        let links = self.links();
        let Some(queues) = links.get(&self.slices.partition_of_packet(network, &packet.bytes)) else {
            return false;
        };
        let taken = queues.packets.try_send(QueuedPacket::heard_here(network, packet)).is_ok();
        if !taken {
            queues.dropped_packets.fetch_add(1, Ordering::Relaxed);
        }
        taken
    }

    /// Hands a packet over that waits in a queue elsewhere, without waiting. Where there is no room
    /// for it, it is given back, for later.
    ///
    /// # Errors
    /// The packet; `None` where the partition has no link any more.
    pub(crate) fn hear_queued(
        &self,
        partition: Partition,
        packet: QueuedPacket,
    ) -> Result<(), Option<Box<QueuedPacket>>> {
        let links = self.links();
        let queues = links.get(&partition).ok_or(None)?;
        queues.packets.try_send(packet).map_err(|refused| match refused {
            TrySendError::Full(packet) => Some(Box::new(packet)),
            TrySendError::Disconnected(_) => None,
        })
    }

    /// The networks that have a link.
    #[must_use]
    pub fn networks(&self) -> BTreeSet<NetworkId> {
        self.links().keys().map(|partition| partition.network).collect()
    }

    fn queues_of(&self, meter: GlobalMeterId) -> Result<Queues, LinkError> {
        let partition = self.slices.partition_of(meter);
        self.links().get(&partition).cloned().ok_or(LinkError::UnknownMeter(meter))
    }

    /// The service's gateways; more may be attached at any time.
    #[must_use]
    pub fn gateways(&self) -> &Arc<Gateways> {
        &self.gateways
    }

    /// Subscribes to the events that become durable from now on, in order. A receiver that is too
    /// far behind misses some, and is told so.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.subscribers.subscribe()
    }

    /// Tells subscribers of something that is durable, and that was not the link's: a changed
    /// label, an acknowledged alert.
    pub fn publish(&self, event: Event) {
        self.subscribers.publish(event);
    }

    /// Tells those who look on here of something that another process told.
    pub(crate) fn publish_local(&self, event: Event) {
        self.subscribers.publish_local(event);
    }

    /// Says if the store accepts writes.
    #[must_use]
    pub fn store_ok(&self) -> bool {
        self.shared.store_ok.load(Ordering::Relaxed)
    }

    /// Says so, of a process whose links are all elsewhere.
    pub(crate) fn store_is(&self, ok: bool) {
        self.shared.store_ok.store(ok, Ordering::Relaxed);
    }

    /// Asks the process that has the meter's link, this or another.
    async fn ask(&self, meter: GlobalMeterId, question: Question) -> Result<i64, LinkError> {
        match (self.request_local(meter, &question), self.subscribers.elsewhere()) {
            (Some(here), _) => here.await,
            (None, Some(elsewhere)) => elsewhere.ask(meter, question).await,
            (None, None) => Err(LinkError::UnknownMeter(meter)),
        }
    }

    /// Asks the meter's link; `None`: it is not here, and was not asked.
    pub(crate) fn request_local(
        &self,
        meter: GlobalMeterId,
        question: &Question,
    ) -> Option<impl Future<Output = Result<i64, LinkError>> + Send + use<>> {
        let (queues, meter) = (self.queues_of(meter).ok()?, meter.meter);
        let question = question.clone();
        Some(async move {
            match question {
                Question::Command { request, by } => {
                    queues.ask(|answer| Request::Command { meter, request, by, answer }).await?
                }
                Question::Withdraw { id } => {
                    queues.ask(|answer| Request::Withdraw { meter, id, answer }).await?.map(|()| id)
                }
                Question::Update { image, by } => {
                    queues.ask(|answer| Request::Update { meter, image, by, answer }).await?
                }
                Question::ForgetUpdate => {
                    queues.ask(|answer| Request::ForgetUpdate { meter, answer }).await?.map(|()| 0)
                }
            }
        })
    }

    /// Queues a command, and returns its name when it is durable. by: who wants it.
    ///
    /// # Errors
    /// [`LinkError`]: unknown meter, arguments out of range, name taken, queue full, clock behind,
    /// store. With [`LinkError::Silent`] alone, and [`LinkError::Stopped`], it may be queued all
    /// the same.
    pub async fn command(
        &self,
        meter: GlobalMeterId,
        request: CommandRequest,
        by: &str,
    ) -> Result<i64, LinkError> {
        self.ask(meter, Question::Command { request, by: by.to_owned() }).await
    }

    /// Takes a command back. One that was sent may have been done all the same.
    ///
    /// # Errors
    /// [`LinkError::UnknownMeter`], [`LinkError::NoCommand`], [`LinkError::Store`].
    pub async fn withdraw(&self, meter: GlobalMeterId, id: i64) -> Result<(), LinkError> {
        self.ask(meter, Question::Withdraw { id }).await.map(drop)
    }

    /// Has a meter take an image of its firmware, and returns when that is durable; where it is
    /// taking that image already, nothing changes. Another one takes the place of the one before.
    /// by: who wants it.
    ///
    /// # Errors
    /// [`LinkError::UnknownMeter`], [`LinkError::UnknownImage`], [`LinkError::Store`]. With
    /// [`LinkError::Silent`] alone, and [`LinkError::Stopped`], it may be done all the same.
    pub async fn update(&self, meter: GlobalMeterId, image: ImageDigest, by: &str) -> Result<(), LinkError> {
        self.ask(meter, Question::Update { image, by: by.to_owned() }).await.map(drop)
    }

    /// Takes an update back. A meter that had all of the image may run it all the same.
    ///
    /// # Errors
    /// [`LinkError::UnknownMeter`], [`LinkError::NoUpdate`], [`LinkError::Store`].
    pub async fn forget_update(&self, meter: GlobalMeterId) -> Result<(), LinkError> {
        self.ask(meter, Question::ForgetUpdate).await.map(drop)
    }

    /// Adds a meter, or gives one that is there keys of a later epoch: what waits for it is
    /// withdrawn, and its numbers begin anew. With the epoch and keys that it has nothing changes.
    /// Returns when it is durable.
    ///
    /// # Errors
    /// [`LinkError::EpochOver`], [`LinkError::NameTaken`], [`LinkError::State`],
    /// [`LinkError::Store`].
    pub async fn set_meter(
        &self,
        network: NetworkId,
        epoch: u32,
        record: MeterRecord,
    ) -> Result<(), LinkError> {
        let (queues, record) = (self.queues_of(network.meter(record.setup.meter))?, Box::new(record));
        queues.ask(|answer| Request::SetMeter { epoch, record, answer }).await?
    }

    /// Forgets a meter's keys: nothing of it is taken any more, and what waits for it is withdrawn.
    /// Returns when it is durable.
    ///
    /// # Errors
    /// [`LinkError::UnknownMeter`], [`LinkError::Store`].
    pub async fn revoke(&self, meter: GlobalMeterId) -> Result<(), LinkError> {
        let (queues, meter) = (self.queues_of(meter)?, meter.meter);
        queues.ask(|answer| Request::Revoke { meter, answer }).await?
    }

    /// All meters that have a link here, by partition and number.
    ///
    /// # Errors
    /// [`LinkError::Busy`], [`LinkError::Stopped`].
    pub async fn meters(&self) -> Result<Vec<MeterStatus>, LinkError> {
        let mut all = Vec::new();
        for queues in self.all_queues() {
            all.extend(queues.ask(|answer| Request::Meters { answer }).await?);
        }
        Ok(all)
    }

    /// One meter; `None` where it has no link here.
    ///
    /// # Errors
    /// [`LinkError::Busy`], [`LinkError::Stopped`].
    pub async fn meter(&self, meter: GlobalMeterId) -> Result<Option<MeterStatus>, LinkError> {
        let (Ok(queues), meter) = (self.queues_of(meter), meter.meter) else { return Ok(None) };
        queues.ask(|answer| Request::Meter { meter, answer }).await
    }

    /// Returns the counters since the service's start, of all links of this process together.
    ///
    /// # Errors
    /// [`LinkError::Busy`], [`LinkError::Stopped`].
    pub async fn snapshot(&self) -> Result<Snapshot, LinkError> {
        let mut all = Snapshot::default();
        for queues in self.all_queues() {
            all = all.and(queues.ask(|answer| Request::Snapshot { answer }).await?);
        }
        Ok(all)
    }

    /// Tells the links' threads to come to their end: they take no more packets, and store and
    /// acknowledge what they have.
    pub(crate) fn stop(&self) {
        let partitions: Vec<Partition> = self.links().keys().copied().collect();
        for partition in partitions {
            self.close(partition);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn request_to_an_ending_link_is_answered() {
        let handle = LinkHandle::new(Slices::ONE);
        let inputs = handle.open(Partition::FIRST);
        let asked = tokio::spawn({
            let handle = handle.clone();
            async move { handle.snapshot().await }
        });
        while inputs.requests.is_empty() {
            tokio::task::yield_now().await;
        }
        handle.close(Partition::FIRST);
        drop(inputs);
        let answer = tokio::time::timeout(Duration::from_secs(10), asked).await.expect("an answer");
        assert!(matches!(answer, Ok(Err(LinkError::Stopped))), "{answer:?}");
    }
}
