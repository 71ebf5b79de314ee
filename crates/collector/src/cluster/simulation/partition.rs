//! The work of a worker on one partition: the steps of `partition_task` and `queue`, in their
//! order, around a real session.

use super::jetstream::{Answer, Entry, Request};
use super::postgres::{Statement, StoredMeter};
use super::worker::{Common, Io, Timer, put};
use super::world::Us;
use crate::clock;
use crate::cluster::lease::{Found, Held, KeepNext, RENEW_EVERY, WriteAnswer, Writing};
use crate::cluster::packets::{PendingMessages, Said, Succession, is_ahead};
use crate::downlink::Images;
use crate::fence::LeaseNumber;
use crate::gateway::{GatewayId, HeardPacket, Route};
use crate::meters::{Inputs, MetersHandle, Outcome, QueuePlace, QueuedPacket, Submission};
use crate::partition::{Partition, Slices};
use crate::registry::CounterFloor;
use crate::session::{Beginning, PartitionSession, Parts};
use crate::store::{self, CommandRecord, StoreError};
use crate::writer::Jobs;
use crossbeam_channel::Receiver;
use rand::rngs::StdRng;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedReceiver;
use wire::meter::Policy;

/// The longest wait of the NATS client for an answer.
const REQUEST_WITHIN: Duration = Duration::from_secs(5);
/// Packets are asked for again before the server has forgotten the last question.
const PULL_EVERY: Duration = Duration::from_secs(3);
/// `queue::CONSUMER_LOOK_EVERY`
const CONSUMER_LOOK_EVERY: Duration = Duration::from_secs(10);
/// `worker::AGAIN_AFTER`, `worker::BEGIN_AGAIN_AFTER`
const FAILED_FOR: Duration = Duration::from_secs(1);
const NOT_BEGUN_FOR: Duration = Duration::from_secs(5);
/// A session is not looked at more often by itself.
const LEAST_WAIT: Duration = Duration::from_millis(1);

/// The subject of a request.
pub(super) enum Asked {
    Take(Writing),
    TakeLook(Partition),
    Made,
    Renew(LeaseNumber, Writing),
    Of(LeaseNumber, Step),
}

/// A request to JetStream for a partition, other than a renewal.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    KeepLook,
    List,
    Create,
    Delete,
    Position,
    /// The attempt's number.
    GiveUp(u8),
    GiveUpLook(u8),
}

type Question = (Request, Asked, Duration);

enum Stage {
    /// The database is told of the lease.
    Taking(Receiver<Result<(), StoreError>>),
    Reading,
    Opening,
    Serving,
    /// The session comes to its end.
    Ending,
    GivingUp,
    Over,
}

/// The end of the work, with the time for which the partition is left to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Told,
    Lost,
    Failed,
    NotBegun,
}

pub(super) struct Task {
    held: Held,
    stage: Stage,
    /// The lease is not renewed any more.
    kept: bool,
    told: bool,
    ended: Option<Ended>,
    /// Later leases that the database knows.
    later: Vec<LeaseNumber>,
    session: Option<(PartitionSession, Inputs)>,
    /// When the session is looked at by itself.
    wake_at: Option<Instant>,
    succession: Option<Succession>,
    to_delete: Vec<String>,
    pending: PendingMessages<()>,
    became: UnboundedReceiver<(QueuePlace, Outcome)>,
    questions: VecDeque<Question>,
    /// Says if the place of its consumer is checked, and when it was last.
    looks: bool,
    looked_at: Option<Instant>,
}

/// `leases::look`
pub(super) fn found(answer: Option<Answer>) -> Option<Found> {
    match answer {
        Some(Answer::Found(entry)) => Some(entry.map_or(Found::NOTHING, Entry::found)),
        _ => None,
    }
}

impl Task {
    /// looks: whether it is looked where its consumer is.
    pub(super) fn new(held: Held, taken: Receiver<Result<(), StoreError>>, looks: bool) -> Task {
        let (pending, became) = PendingMessages::new(held.fence.clone());
        Task {
            held,
            stage: Stage::Taking(taken),
            kept: true,
            told: false,
            ended: None,
            later: Vec::new(),
            session: None,
            wake_at: None,
            succession: None,
            to_delete: Vec::new(),
            pending,
            became,
            questions: VecDeque::new(),
            looks,
            looked_at: None,
        }
    }

    pub(super) fn lease(&self) -> LeaseNumber {
        self.held.fence.lease()
    }

    pub(super) fn holds(&self) -> bool {
        self.held.fence.holds()
    }

    fn partition(&self) -> Partition {
        self.held.fence.partition
    }

    fn consumer(&self) -> String {
        Succession::new(self.lease(), self.partition().to_string()).name()
    }

    /// Says if packets of this consumer are taken.
    pub(super) fn is_of(&self, consumer: &str) -> bool {
        self.serves() && self.consumer() == consumer
    }

    pub(super) fn serves(&self) -> bool {
        matches!(self.stage, Stage::Serving) && self.ended.is_none()
    }

    /// `HeldLease::keep`
    pub(super) fn keep(&mut self, io: &mut Io<'_>, next: KeepNext) {
        if !self.kept {
            return;
        }
        let lease = self.lease();
        match next {
            _ if !self.held.fence.holds() => self.lose(),
            KeepNext::Renew(after) => io.timer(after, Timer::Keep(lease)),
            KeepNext::Look => {
                let look = Asked::Of(lease, Step::KeepLook);
                self.questions.push_back((Request::GetLease(lease.partition), look, RENEW_EVERY));
            }
            KeepNext::Over => self.lose(),
        }
    }

    fn lose(&mut self) {
        self.kept = false;
        self.held.fence.end();
        self.ended.get_or_insert(Ended::Lost);
    }

    pub(super) fn renew(&mut self) -> Option<Question> {
        if !self.kept {
            return None;
        }
        let renewal = self.held.renewal();
        Some((put(&renewal), Asked::Renew(self.lease(), renewal), RENEW_EVERY))
    }

    pub(super) fn renewed(&mut self, io: &mut Io<'_>, renewal: &Writing, answer: Option<Answer>) {
        let answer = match answer {
            Some(Answer::Lease(answer)) => answer,
            _ => WriteAnswer::Missing,
        };
        let next = self.held.renewed(renewal, answer);
        self.keep(io, next);
    }

    /// It is told to give the partition up.
    pub(super) fn tell_to_stop(&mut self) {
        self.told = true;
    }

    /// Its consumer is not there any more: another worker has the partition.
    pub(super) fn taken(&mut self) {
        self.ended.get_or_insert(Ended::Lost);
    }

    pub(super) fn woken(&mut self) {
        self.wake_at = None;
    }

    pub(super) fn pull(&mut self, io: &mut Io<'_>) {
        if self.serves() {
            self.check_consumer();
            io.say(Request::Pull(self.consumer()));
            io.timer(PULL_EVERY, Timer::Pull(self.lease()));
        }
    }

    /// `Queue::delivers_nothing`
    fn check_consumer(&mut self) {
        let now = clock::now();
        let looked = *self.looked_at.get_or_insert(now);
        if self.looks && now.saturating_duration_since(looked) >= CONSUMER_LOOK_EVERY {
            self.looked_at = Some(now);
            let look = Asked::Of(self.lease(), Step::Position);
            self.questions.push_back((Request::Position(self.consumer()), look, RENEW_EVERY));
        }
    }

    /// `Queue::hand_over`
    pub(super) fn packets(
        &mut self,
        handle: &MetersHandle,
        sequence: u64,
        gateway: usize,
        packets: &[Vec<u8>],
        age: Us,
    ) {
        for receipt in self.pending.receipts(sequence, (), packets.len() as u8) {
            let route = Route { gateway: GatewayId::of(gateway as u32), peer: None };
            let bytes = packets[usize::from(receipt.packet())].clone();
            let packet = HeardPacket { route, bytes, rssi_dbm: None };
            let heard_ms = Some(clock::unix_ms() - (age / 1000) as i64);
            let queued = QueuedPacket { packet, heard_ms, receipt: Some(receipt) };
            if let Err(None) = handle.hear_queued(self.partition(), queued) {
                self.ended.get_or_insert(Ended::Lost);
                return;
            }
        }
    }

    /// `Sessions::begin`, once the stored state was read.
    pub(super) fn read(
        &mut self,
        (common, handle, jobs): (&Common, &MetersHandle, &Arc<Jobs<Submission>>),
        read: Option<(Vec<StoredMeter>, Vec<CommandRecord>)>,
        rng: StdRng,
    ) {
        if !matches!(self.stage, Stage::Reading) {
            return;
        }
        let partition = self.partition();
        let begun = read.map(|(meters, commands)| {
            let meters = meters.into_iter().filter_map(|StoredMeter { state, heard_ms }| {
                let record = common.records.get(&state.meter)?.clone();
                let stored = store::StoredMeter {
                    meter: state.meter,
                    epoch: 1,
                    interval_s: record.setup.interval_s,
                    last_heard_ms: heard_ms,
                    revoked_ms: None,
                    public: Some(record.public.to_bytes()),
                    state: Ok(state),
                };
                Some((record, stored))
            });
            let policy = Policy { require_sealed: true, ..Policy::default() };
            let identity = (common.identity.clone(), policy);
            let beginning = Beginning::of_stored(partition, identity, meters.collect(), commands);
            let parts = Parts {
                registry: None,
                jobs: jobs.clone(),
                verifiers: 0,
                auto_require_sealed: false,
                unknown_meters: None,
                images: Arc::new(Images::none()),
                fence: Some(self.held.fence.clone()),
                done: jobs.begin(partition, CounterFloor::nowhere()),
                rng,
            };
            let inputs = handle.open(partition);
            PartitionSession::new(beginning, parts, handle).map(|session| (session, inputs))
        });
        let Some(Ok(session)) = begun else {
            self.ended.get_or_insert(Ended::NotBegun);
            self.stage = Stage::Ending;
            return;
        };
        self.session = Some(session);
        self.stage = Stage::Opening;
        let list = Asked::Of(self.lease(), Step::List);
        self.questions.push_back((Request::ListConsumers, list, REQUEST_WITHIN));
    }

    /// Takes an answer of JetStream; `None`: nothing in time.
    pub(super) fn answered(
        &mut self,
        io: &mut Io<'_>,
        slices: Slices,
        step: Step,
        answer: Option<Answer>,
    ) -> Option<Question> {
        let lease = self.lease();
        let partition = lease.partition;
        match step {
            Step::KeepLook => {
                let next = self.held.on_lease_read(found(answer));
                self.keep(io, next);
            }
            Step::GiveUp(tries) => match answer {
                Some(Answer::Lease(WriteAnswer::Written(_))) => self.stage = Stage::Over,
                _ => {
                    let look = Asked::Of(lease, Step::GiveUpLook(tries));
                    return Some((Request::GetLease(partition), look, RENEW_EVERY));
                }
            },
            Step::GiveUpLook(tries) => match self.held.on_lease_read(found(answer)) {
                KeepNext::Renew(Duration::ZERO) if tries < 2 => {
                    let again = Asked::Of(lease, Step::GiveUp(tries + 1));
                    return Some((put(&self.held.giving_up()), again, RENEW_EVERY));
                }
                _ => self.stage = Stage::Over,
            },
            Step::Position => {
                if let Some(Answer::Position { delivered, last }) = answer
                    && is_ahead(delivered, last)
                {
                    self.ended.get_or_insert(Ended::Failed);
                }
            }
            Step::List | Step::Create | Step::Delete if !matches!(self.stage, Stage::Opening) => {}
            // One that stays goes by itself when nobody has used it for some time.
            Step::Delete => return self.delete_next(io),
            Step::List => {
                let Some(Answer::Consumers { consumers, last }) = answer else {
                    self.ended.get_or_insert(Ended::Failed);
                    return None;
                };
                let filter = crate::cluster::subject::of_partition(partition, slices);
                let mut succession = Succession::new(lease, filter);
                for (name, of, floor) in consumers {
                    let filter = crate::cluster::subject::of_partition(of, slices);
                    succession.there_is(&name, &filter, floor);
                }
                let (name, start) = (succession.name(), succession.start(last));
                self.succession = Some(succession);
                let create = Asked::Of(lease, Step::Create);
                return Some((Request::CreateConsumer { name, partition, start }, create, REQUEST_WITHIN));
            }
            Step::Create => {
                if answer.is_none() {
                    self.ended.get_or_insert(Ended::Failed);
                    return None;
                }
                let before = self.succession.as_ref().map(|succession| succession.over().cloned().collect());
                self.to_delete = before.unwrap_or_default();
                return self.delete_next(io);
            }
        }
        None
    }

    fn delete_next(&mut self, io: &mut Io<'_>) -> Option<Question> {
        let lease = self.lease();
        let Some(name) = self.to_delete.pop() else {
            self.stage = Stage::Serving;
            self.pull(io);
            return None;
        };
        let request = Request::DeleteConsumer { name, under: lease.number };
        Some((request, Asked::Of(lease, Step::Delete), REQUEST_WITHIN))
    }

    /// Does what can be done now. Returns whether something was.
    pub(super) fn go_on(
        &mut self,
        io: &mut Io<'_>,
        handle: &MetersHandle,
        jobs: &Arc<Jobs<Submission>>,
    ) -> bool {
        let partition = self.partition();
        if self.told && self.serves() {
            self.ended = Some(Ended::Told);
        }
        match &self.stage {
            Stage::Taking(taken) => match taken.try_recv() {
                Ok(Ok(())) if self.ended.is_none() => {
                    self.stage = Stage::Reading;
                    io.context.tell_postgres(io.who, None, Statement::Read(partition));
                }
                Ok(Ok(())) => self.stage = Stage::Ending,
                Ok(Err(error)) => {
                    if let StoreError::Fenced { leases, .. } = error {
                        self.later = leases;
                    }
                    self.ended.get_or_insert(Ended::NotBegun);
                    self.stage = Stage::Ending;
                }
                Err(_) => return false,
            },
            Stage::Reading => return false,
            Stage::Opening | Stage::Serving if self.ended.is_some() => {
                handle.close(partition);
                let ended = self.step_session(io);
                if let Some((session, _)) = self.session.as_mut().filter(|_| ended && self.held.fence.holds())
                {
                    session.begin_finish();
                } else {
                    self.session = None;
                }
                self.stage = Stage::Ending;
            }
            Stage::Opening | Stage::Serving => {
                if self.step_session(io) {
                    self.session = None;
                    self.ended.get_or_insert(Ended::Lost);
                    handle.close(partition);
                    self.stage = Stage::Ending;
                }
            }
            Stage::Ending => {
                if let Some((session, _)) = &mut self.session {
                    session.take_done();
                    session.state.flush();
                    if !session.is_finished() {
                        return false;
                    }
                    self.session = None;
                }
                jobs.end(partition);
                self.acknowledge(io);
                if !self.held.fence.holds() {
                    self.stage = Stage::Over;
                    return true;
                }
                self.stage = Stage::GivingUp;
                self.kept = false;
                let asked = Asked::Of(self.lease(), Step::GiveUp(1));
                self.questions.push_back((put(&self.held.giving_up()), asked, RENEW_EVERY));
            }
            Stage::GivingUp | Stage::Over => return false,
        }
        self.acknowledge(io);
        // The store may be given something, and what it has done is seen the next time.
        !matches!(self.stage, Stage::Opening | Stage::Serving)
    }

    /// Returns whether the session has ended.
    fn step_session(&mut self, io: &mut Io<'_>) -> bool {
        let lease = self.lease();
        let Some((session, inputs)) = &mut self.session else { return true };
        if session.step(None, inputs) {
            return true;
        }
        let at = clock::now() + session.wait().max(LEAST_WAIT);
        if self.wake_at.is_none_or(|before| at < before) {
            self.wake_at = Some(at);
            io.timer(at - clock::now(), Timer::Link(lease));
        }
        false
    }

    /// `Queue::tell`
    fn acknowledge(&mut self, io: &mut Io<'_>) {
        let consumer = self.consumer();
        while let Ok((place, outcome)) = self.became.try_recv() {
            if let Some(said) = self.pending.became(place, outcome) {
                let (consumer, sequence) = (consumer.clone(), place.message);
                io.say(match said {
                    Said::Done(..) => Request::Acknowledge { consumer, sequence },
                    Said::Again(()) => Request::Again { consumer, sequence },
                });
            }
        }
    }

    pub(super) fn later(&self) -> &[LeaseNumber] {
        &self.later
    }

    pub(super) fn next_question(&mut self) -> Option<Question> {
        self.questions.pop_front()
    }

    /// Returns the end of the work, with the time for which the partition is left to others.
    pub(super) fn is_over(&self) -> Option<Option<Duration>> {
        matches!(self.stage, Stage::Over).then(|| match self.ended {
            Some(Ended::Failed) => Some(FAILED_FOR),
            Some(Ended::NotBegun) => Some(NOT_BEGUN_FOR),
            _ => None,
        })
    }
}
