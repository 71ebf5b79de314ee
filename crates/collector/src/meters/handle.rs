//! The handle of the sessions, one session for each partition: requests and their answers.

use super::command_by_name;
use super::error::RequestError;
use super::outlets::{Outlets, Shared};
use super::receipt::QueuedPacket;
use super::remote::{EventSubscribers, Question, RemoteMeters};
use super::request::{Inputs, Queues, Request};
use super::snapshot::{MeterStatus, Snapshot};
use crate::event::Event;
use crate::gateway::{Gateways, HeardPacket};
use crate::image_digest::ImageDigest;
use crate::network::{GlobalMeterId, NetworkId};
use crate::partition::{Partition, Slices};
use crossbeam_channel::TrySendError;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use tokio::sync::broadcast;
use wire::meter::{MeterRecord, QueuedCommand};

/// Events that a subscriber may be behind before it misses some.
const EVENTS_MAX: usize = 4096;

/// The way to the sessions for gateways, the API, the registry and subscribers. A request about a
/// meter goes to its partition's session, in a cluster also to one of another process.
#[derive(Clone)]
pub struct MetersHandle {
    sessions: Arc<RwLock<BTreeMap<Partition, Queues>>>,
    pub(crate) slices: Slices,
    pub(crate) outlets: Outlets,
}

impl MetersHandle {
    /// Without any session yet.
    pub(crate) fn new(slices: Slices) -> MetersHandle {
        let shared = Shared { store_ok: AtomicBool::new(true), newest_ms: AtomicI64::new(0) };
        let outlets = Outlets {
            gateways: Arc::default(),
            subscribers: EventSubscribers::new(EVENTS_MAX),
            shared: Arc::new(shared),
        };
        MetersHandle { sessions: Arc::default(), slices, outlets }
    }

    /// There are sessions in other processes from now on. Once is enough.
    pub(crate) fn join(&self, elsewhere: Arc<dyn RemoteMeters>) {
        self.outlets.subscribers.join(elsewhere);
    }

    /// Makes the inputs of a session that begins now.
    pub(crate) fn open(&self, partition: Partition) -> Inputs {
        let (queues, inputs) = Queues::new();
        self.sessions.write().unwrap_or_else(PoisonError::into_inner).insert(partition, queues);
        inputs
    }

    /// Tells a session's thread to come to its end, as [`MetersHandle::stop`]. No caller finds it
    /// any more.
    pub(crate) fn close(&self, partition: Partition) {
        let queues = self.sessions.write().unwrap_or_else(PoisonError::into_inner).remove(&partition);
        if let Some(queues) = queues {
            // It may have ended already. Where it is behind with questions it comes to this one,
            // too.
            let _ = queues.requests.send(Request::Stop);
        }
    }

    fn sessions(&self) -> RwLockReadGuard<'_, BTreeMap<Partition, Queues>> {
        self.sessions.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn all_queues(&self) -> Vec<Queues> {
        self.sessions().values().cloned().collect()
    }

    /// Hands a packet over that a gateway of network 0 heard, as [`MetersHandle::hear_in`].
    pub fn hear(&self, packet: HeardPacket) -> bool {
        self.hear_in(NetworkId::DEFAULT, packet)
    }

    /// Hands a packet over that a gateway of this network heard, without waiting. Returns whether
    /// there was room for it; where there was none it comes again.
    pub fn hear_in(&self, network: NetworkId, packet: HeardPacket) -> bool {
        let sessions = self.sessions();
        let Some(queues) = sessions.get(&self.slices.partition_of_packet(network, &packet.bytes)) else {
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
    /// The packet; `None` where the partition has no session any more.
    pub(crate) fn hear_queued(
        &self,
        partition: Partition,
        packet: QueuedPacket,
    ) -> Result<(), Option<Box<QueuedPacket>>> {
        let sessions = self.sessions();
        let queues = sessions.get(&partition).ok_or(None)?;
        queues.packets.try_send(packet).map_err(|refused| match refused {
            TrySendError::Full(packet) => Some(Box::new(packet)),
            TrySendError::Disconnected(_) => None,
        })
    }

    /// The networks that have a session.
    #[must_use]
    pub fn networks(&self) -> BTreeSet<NetworkId> {
        self.sessions().keys().map(|partition| partition.network).collect()
    }

    fn queues_of(&self, meter: GlobalMeterId) -> Result<Queues, RequestError> {
        let partition = self.slices.partition_of(meter);
        self.sessions().get(&partition).cloned().ok_or(RequestError::UnknownMeter(meter))
    }

    /// The service's gateways; more may be attached at any time.
    #[must_use]
    pub fn gateways(&self) -> &Arc<Gateways> {
        &self.outlets.gateways
    }

    /// Subscribes to the events that become durable from now on, in order. A receiver that is too
    /// far behind misses some, and is told so.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.outlets.subscribers.subscribe()
    }

    /// Tells subscribers of something that is durable, and that was not the session's: a changed
    /// label, an acknowledged alert.
    pub fn publish(&self, event: Event) {
        self.outlets.subscribers.publish(event);
    }

    /// Tells those who look on here of something that another process told.
    pub(crate) fn publish_local(&self, event: Event) {
        self.outlets.subscribers.publish_local(event);
    }

    /// Says if the store accepts writes.
    #[must_use]
    pub fn store_ok(&self) -> bool {
        self.outlets.shared.store_ok.load(Ordering::Relaxed)
    }

    /// Says so, of a process whose sessions are all elsewhere.
    pub(crate) fn store_is(&self, ok: bool) {
        self.outlets.shared.store_ok.store(ok, Ordering::Relaxed);
    }

    /// Asks the process that has the meter's session, this or another.
    async fn ask(&self, meter: GlobalMeterId, question: Question) -> Result<i64, RequestError> {
        match (self.request_local(meter, &question), self.outlets.subscribers.elsewhere()) {
            (Some(here), _) => here.await,
            (None, Some(elsewhere)) => elsewhere.ask(meter, question).await,
            (None, None) => Err(RequestError::UnknownMeter(meter)),
        }
    }

    /// Asks the meter's session; `None`: it is not here, and was not asked.
    pub(crate) fn request_local(
        &self,
        meter: GlobalMeterId,
        question: &Question,
    ) -> Option<impl Future<Output = Result<i64, RequestError>> + Send + use<>> {
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
    /// [`RequestError`]: unknown meter, arguments out of range, name taken, queue full, clock
    /// behind, store. With [`RequestError::Silent`] alone, and [`RequestError::Stopped`], it may be
    /// queued all the same.
    pub async fn command(
        &self,
        meter: GlobalMeterId,
        command: impl Into<QueuedCommand>,
        by: &str,
    ) -> Result<i64, RequestError> {
        let (request, by) = (command.into(), by.to_owned());
        // Another process is asked by the command's name, which leaves out what no user gives.
        if !command_by_name::is_given(&request) {
            return Err(RequestError::OutOfRange);
        }
        self.ask(meter, Question::Command { request, by }).await
    }

    /// Takes a command back. One that was sent may have been done all the same.
    ///
    /// # Errors
    /// [`RequestError::UnknownMeter`], [`RequestError::NoCommand`], [`RequestError::Store`].
    pub async fn withdraw(&self, meter: GlobalMeterId, id: i64) -> Result<(), RequestError> {
        self.ask(meter, Question::Withdraw { id }).await.map(drop)
    }

    /// Has a meter take an image of its firmware, and returns when that is durable; where it is
    /// taking that image already, nothing changes. Another one takes the place of the one before.
    /// by: who wants it.
    ///
    /// # Errors
    /// [`RequestError::UnknownMeter`], [`RequestError::UnknownImage`], [`RequestError::Store`].
    /// With [`RequestError::Silent`] alone, and [`RequestError::Stopped`], it may be done all the
    /// same.
    pub async fn update(
        &self,
        meter: GlobalMeterId,
        image: ImageDigest,
        by: &str,
    ) -> Result<(), RequestError> {
        self.ask(meter, Question::Update { image, by: by.to_owned() }).await.map(drop)
    }

    /// Takes an update back. A meter that had all of the image may run it all the same.
    ///
    /// # Errors
    /// [`RequestError::UnknownMeter`], [`RequestError::NoUpdate`], [`RequestError::Store`].
    pub async fn forget_update(&self, meter: GlobalMeterId) -> Result<(), RequestError> {
        self.ask(meter, Question::ForgetUpdate).await.map(drop)
    }

    /// Adds a meter, or gives one that is there keys of a later epoch: what waits for it is
    /// withdrawn, and its numbers begin anew. With the epoch and keys that it has nothing changes.
    /// Returns when it is durable.
    ///
    /// # Errors
    /// [`RequestError::EpochOver`], [`RequestError::NameTaken`], [`RequestError::State`],
    /// [`RequestError::Store`].
    pub async fn set_meter(
        &self,
        network: NetworkId,
        epoch: u32,
        record: MeterRecord,
    ) -> Result<(), RequestError> {
        let (queues, record) = (self.queues_of(network.meter(record.setup.meter))?, Box::new(record));
        queues.ask(|answer| Request::SetMeter { epoch, record, answer }).await?
    }

    /// Forgets a meter's keys: nothing of it is taken any more, and what waits for it is withdrawn.
    /// Returns when it is durable.
    ///
    /// # Errors
    /// [`RequestError::UnknownMeter`], [`RequestError::Store`].
    pub async fn revoke(&self, meter: GlobalMeterId) -> Result<(), RequestError> {
        let (queues, meter) = (self.queues_of(meter)?, meter.meter);
        queues.ask(|answer| Request::Revoke { meter, answer }).await?
    }

    /// All meters that have a session here, by partition and number.
    ///
    /// # Errors
    /// [`RequestError::Busy`], [`RequestError::Stopped`].
    pub async fn meters(&self) -> Result<Vec<MeterStatus>, RequestError> {
        let mut all = Vec::new();
        for queues in self.all_queues() {
            all.extend(queues.ask(|answer| Request::Meters { answer }).await?);
        }
        Ok(all)
    }

    /// One meter; `None` where it has no session here.
    ///
    /// # Errors
    /// [`RequestError::Busy`], [`RequestError::Stopped`].
    pub async fn meter(&self, meter: GlobalMeterId) -> Result<Option<MeterStatus>, RequestError> {
        let (Ok(queues), meter) = (self.queues_of(meter), meter.meter) else { return Ok(None) };
        queues.ask(|answer| Request::Meter { meter, answer }).await
    }

    /// Returns the counters since the service's start, of all sessions of this process together.
    ///
    /// # Errors
    /// [`RequestError::Busy`], [`RequestError::Stopped`].
    pub async fn snapshot(&self) -> Result<Snapshot, RequestError> {
        let mut all = Snapshot::default();
        for queues in self.all_queues() {
            all = all.and(queues.ask(|answer| Request::Snapshot { answer }).await?);
        }
        Ok(all)
    }

    /// Tells the sessions' threads to come to their end: they take no more packets, and store and
    /// acknowledge what they have.
    pub(crate) fn stop(&self) {
        let partitions: Vec<Partition> = self.sessions().keys().copied().collect();
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
        let handle = MetersHandle::new(Slices::ONE);
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
        assert!(matches!(answer, Ok(Err(RequestError::Stopped))), "{answer:?}");
    }
}
