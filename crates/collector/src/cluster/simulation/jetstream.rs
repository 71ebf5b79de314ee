//! JetStream in memory: the stream of packets with its consumers, and the buckets of leases and
//! workers.
//!
//! Sources: docs.nats.io, "Consumers" (explicit acknowledgements, ack wait, nak with a delay, max
//! age) and "Key/Value Store" (create and update by revision, watch); NATS' ADR-8 for buckets;
//! nats-server `server/consumer.go` for the ack floor: below the first packet that is not
//! acknowledged, or at the last one that was delivered. A cluster without a leader answers nothing
//! for 4 to 9 s (measured, docs/how-to/cluster.md); what was proposed just before is written by
//! some, and unanswered.

use super::lies::Lies;
use super::world::{Context, Event, To, ToWorker, Us};
use crate::cluster::lease::{Found, Lease, WriteAnswer};
use crate::cluster::queue::{AGAIN_AFTER, AGAIN_SOON};
use crate::partition::Partition;
use std::collections::{BTreeMap, BTreeSet};

/// The time for which a request for packets is good (`queue::EXPIRES`); workers ask again before.
const PULL_FOR: Us = 10_000_000;
/// The time before the loss of a leader in which proposals may be written without an answer.
const PROPOSED_WITHIN: Us = 300_000;

/// A request, or a message.
#[derive(Clone, Debug)]
pub(super) enum Request {
    Publish {
        partition: Partition,
        gateway: usize,
        packets: Vec<Vec<u8>>,
    },
    PutLease {
        partition: Partition,
        lease: Lease,
        revision: u64,
    },
    GetLease(Partition),
    Announce(String),
    Goes(String),
    Watch,
    /// Makes streams and buckets that are not there.
    Make,
    ListConsumers,
    CreateConsumer {
        name: String,
        partition: Partition,
        start: Option<u64>,
    },
    /// under: the number of the lease of who asks.
    DeleteConsumer {
        name: String,
        under: u64,
    },
    Pull(String),
    /// Up to where a consumer was, and the last message of the stream.
    Position(String),
    Acknowledge {
        consumer: String,
        sequence: u64,
    },
    Again {
        consumer: String,
        sequence: u64,
    },
}

#[derive(Clone, Debug)]
pub(super) enum Answer {
    Lease(WriteAnswer),
    Found(Option<Entry>),
    /// Names, partitions and ack floors; and the last message of the stream.
    Consumers {
        consumers: Vec<(String, Partition, u64)>,
        last: u64,
    },
    Position {
        delivered: u64,
        last: u64,
    },
    /// The number of the bucket of leases.
    Made(u64),
    Done,
}

/// A lease in its bucket: any bytes.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) revision: u64,
    pub(super) bytes: Vec<u8>,
}

impl Entry {
    /// `leases::found`
    pub(super) fn found(self) -> Found {
        Found { revision: self.revision, lease: Lease::read(&self.bytes) }
    }
}

/// The contents of a bucket, or a new entry.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Lease(Partition, Entry),
    Worker(String),
    WorkerGone(String),
}

/// A later step.
#[derive(Clone, Debug)]
pub(super) enum Timer {
    Redeliver { consumer: String, sequence: u64, delivery: u64 },
    Leader,
}

struct Message {
    partition: Partition,
    gateway: usize,
    packets: Vec<Vec<u8>>,
    at: Us,
}

struct Consumer {
    partition: Partition,
    /// The next packet of the stream that it looks at.
    next: u64,
    /// Delivered and not acknowledged: the number of the delivery.
    pending: BTreeMap<u64, u64>,
    /// Of these, those that are to be delivered again.
    again: BTreeSet<u64>,
    pull: Option<(usize, u32, Us)>,
}

impl Consumer {
    fn floor(&self) -> u64 {
        self.pending.first_key_value().map_or(self.next, |(first, _)| *first) - 1
    }
}

pub(super) struct JetStream {
    /// `None`: it does what it says.
    lies: Option<Lies>,
    /// The number of the bucket of leases.
    made: u64,
    has_leases: bool,
    has_stream: bool,
    messages: BTreeMap<u64, Message>,
    last: u64,
    kept_for: Us,
    /// Packets that were kept for too long.
    aged: BTreeSet<Vec<u8>>,
    consumers: BTreeMap<String, Consumer>,
    leases: BTreeMap<Partition, Entry>,
    workers: BTreeSet<String>,
    revision: u64,
    deliveries: u64,
    watchers: Vec<(usize, u32)>,
    lost_leader: (Us, Us),
    /// Changes that nobody was told, for want of a leader.
    untold: Vec<Change>,
}

impl JetStream {
    pub(super) fn new(kept_for: Us, lies: Option<Lies>) -> JetStream {
        JetStream {
            lies,
            made: 1,
            has_leases: true,
            has_stream: true,
            messages: BTreeMap::new(),
            last: 0,
            kept_for,
            aged: BTreeSet::new(),
            consumers: BTreeMap::new(),
            leases: BTreeMap::new(),
            workers: BTreeSet::new(),
            revision: 0,
            deliveries: 0,
            watchers: Vec::new(),
            lost_leader: (0, 0),
            untold: Vec::new(),
        }
    }

    /// Takes the leader away for a time.
    pub(super) fn lose_leader(&mut self, context: &mut Context, time: Us) {
        self.lost_leader = (context.now, context.now + time);
        context.after(time, Event::JetStream(Timer::Leader));
    }

    fn leads(&self, context: &Context) -> bool {
        context.now >= self.lost_leader.1
    }

    pub(super) fn later(&mut self, context: &mut Context, timer: Timer) {
        match timer {
            Timer::Redeliver { consumer: name, sequence, delivery } => {
                if let Some(consumer) = self.consumers.get_mut(&name)
                    && consumer.pending.get(&sequence) == Some(&delivery)
                {
                    consumer.again.insert(sequence);
                    self.deliver(context, &name);
                }
            }
            Timer::Leader => {
                for change in std::mem::take(&mut self.untold) {
                    self.tell(context, change);
                }
                let names: Vec<String> = self.consumers.keys().cloned().collect();
                names.iter().for_each(|name| self.deliver(context, name));
            }
        }
    }

    /// from: whom to answer, under which number.
    pub(super) fn ask(
        &mut self,
        context: &mut Context,
        from: Option<(usize, u32)>,
        number: u64,
        request: Request,
    ) {
        let mut answers = true;
        if !self.leads(context) {
            let proposed = context.now < self.lost_leader.0 + PROPOSED_WITHIN && context.chance(0.5);
            if !proposed {
                return;
            }
            answers = false;
        }
        let lies = self.lies.as_mut().is_some_and(Lies::lie);
        let lie = if lies { self.lie(context, from, &request) } else { None };
        let answer = lie.unwrap_or_else(|| self.answer(context, from, request));
        if let (Some(answer), true, Some((worker, life))) = (answer, answers, from)
            && !context.chance(context.faults.lost_answers)
        {
            context.tell_worker((worker, life), To::Nats, ToWorker::Answer(number, answer));
        }
    }

    fn answer(
        &mut self,
        context: &mut Context,
        from: Option<(usize, u32)>,
        request: Request,
    ) -> Option<Answer> {
        match request {
            Request::Publish { .. } if !self.has_stream => None,
            Request::ListConsumers | Request::CreateConsumer { .. } if !self.has_stream => None,
            Request::PutLease { .. } if !self.has_leases => Some(Answer::Lease(WriteAnswer::Refused)),
            Request::GetLease(_) if !self.has_leases => None,
            Request::Make => {
                (self.has_stream, self.has_leases) = (true, true);
                Some(Answer::Made(self.made))
            }
            Request::Publish { partition, gateway, packets } => {
                self.last += 1;
                self.messages.insert(self.last, Message { partition, gateway, packets, at: context.now });
                let names: Vec<String> = self.of(partition).cloned().collect();
                names.iter().for_each(|name| self.deliver(context, name));
                None
            }
            Request::PutLease { partition, lease, revision } => {
                if self.leases.get(&partition).map_or(0, |entry| entry.revision) != revision {
                    return Some(Answer::Lease(WriteAnswer::OtherRevision));
                }
                let bytes = serde_json::to_vec(&lease).unwrap_or_default();
                Some(Answer::Lease(WriteAnswer::Written(self.put(context, partition, bytes))))
            }
            Request::GetLease(partition) => Some(Answer::Found(self.leases.get(&partition).cloned())),
            Request::Announce(name) => {
                self.workers.insert(name.clone());
                self.tell(context, Change::Worker(name));
                None
            }
            Request::Goes(name) => {
                self.workers.remove(&name);
                self.tell(context, Change::WorkerGone(name));
                None
            }
            Request::Watch => {
                let (worker, life) = from?;
                self.watchers.retain(|(other, _)| *other != worker);
                self.watchers.push((worker, life));
                let leases = self.leases.iter();
                let changes: Vec<Change> = leases
                    .map(|(partition, entry)| Change::Lease(*partition, entry.clone()))
                    .chain(self.workers.iter().cloned().map(Change::Worker))
                    .collect();
                let all = ToWorker::All { made: self.made, changes };
                context.tell_worker((worker, life), To::Nats, all);
                None
            }
            of_consumer => self.answer_of_consumer(context, from, of_consumer),
        }
    }

    /// Answers a request about consumers and their packets.
    fn answer_of_consumer(
        &mut self,
        context: &mut Context,
        from: Option<(usize, u32)>,
        request: Request,
    ) -> Option<Answer> {
        match request {
            Request::ListConsumers => {
                let all = self.consumers.iter();
                let all = all.map(|(name, consumer)| (name.clone(), consumer.partition, consumer.floor()));
                Some(Answer::Consumers { consumers: all.collect(), last: self.last })
            }
            Request::CreateConsumer { name, partition, start } => {
                let next = start.unwrap_or(1).max(1);
                let (pending, again) = (BTreeMap::new(), BTreeSet::new());
                let new = Consumer { partition, next, pending, again, pull: None };
                self.consumers.entry(name).or_insert(new);
                Some(Answer::Done)
            }
            Request::DeleteConsumer { name, under } => {
                context.checks.consumer_deleted(&name, under);
                if let Some((worker, life, _)) = self.consumers.remove(&name).and_then(|gone| gone.pull) {
                    context.tell_worker((worker, life), To::Nats, ToWorker::ConsumerGone(name));
                }
                Some(Answer::Done)
            }
            Request::Pull(name) => {
                let (worker, life) = from?;
                match self.consumers.get_mut(&name) {
                    Some(consumer) => {
                        consumer.pull = Some((worker, life, context.now + PULL_FOR));
                        self.deliver(context, &name);
                    }
                    None => context.tell_worker((worker, life), To::Nats, ToWorker::ConsumerGone(name)),
                }
                None
            }
            Request::Position(name) => {
                let delivered = self.consumers.get(&name)?.next.saturating_sub(1);
                Some(Answer::Position { delivered, last: self.last })
            }
            Request::Acknowledge { consumer: name, sequence } => {
                let consumer = self.consumers.get_mut(&name)?;
                consumer.again.remove(&sequence);
                if consumer.pending.remove(&sequence).is_some() {
                    self.check_removable(context, &name, sequence);
                }
                None
            }
            Request::Again { consumer: name, sequence } => {
                let delivery = *self.consumers.get(&name)?.pending.get(&sequence)?;
                let again = Timer::Redeliver { consumer: name, sequence, delivery };
                context.after(AGAIN_SOON.as_micros() as Us, Event::JetStream(again));
                None
            }
            // Answered above.
            _ => None,
        }
    }

    fn put(&mut self, context: &mut Context, partition: Partition, bytes: Vec<u8>) -> u64 {
        self.revision += 1;
        let entry = Entry { revision: self.revision, bytes };
        self.leases.insert(partition, entry.clone());
        self.tell(context, Change::Lease(partition, entry));
        self.revision
    }

    /// Says only true things from now on. Earlier lies stay.
    pub(super) fn be_honest(&mut self) {
        self.lies = None;
    }

    /// Does something else than it is asked. `None`: it does what it is asked.
    fn lie(
        &mut self,
        context: &mut Context,
        from: Option<(usize, u32)>,
        request: &Request,
    ) -> Option<Option<Answer>> {
        let lies = self.lies.as_mut()?;
        let answer = match request {
            Request::PutLease { partition, .. } => match lies.below(4) {
                // It is not stored.
                0 => Answer::Lease(WriteAnswer::Written(lies.number(self.revision))),
                1 => Answer::Lease(WriteAnswer::OtherRevision),
                2 => Answer::Lease(WriteAnswer::Refused),
                // Something else is stored.
                _ => {
                    let bytes = lies.lease(&self.leases);
                    Answer::Lease(WriteAnswer::Written(self.put(context, *partition, bytes)))
                }
            },
            Request::GetLease(_) if lies.below(4) == 0 => Answer::Found(None),
            Request::GetLease(_) => {
                let (revision, bytes) = (lies.number(self.revision), lies.lease(&self.leases));
                Answer::Found(Some(Entry { revision, bytes }))
            }
            Request::ListConsumers => {
                let (partition, floor) = (lies.partition(&self.leases), lies.number(self.last));
                let name = format!("{}-{}-{}", partition.network, partition.slice, lies.number(floor));
                let consumers = vec![(name, partition, floor)];
                Answer::Consumers { consumers, last: lies.number(self.last) }
            }
            Request::Position(_) => {
                Answer::Position { delivered: lies.number(self.last), last: lies.number(self.last) }
            }
            Request::CreateConsumer { .. } | Request::DeleteConsumer { .. } | Request::Make => Answer::Done,
            Request::Pull(name) => {
                let from = from?;
                context.tell_worker(from, To::Nats, ToWorker::ConsumerGone(name.clone()));
                return Some(None);
            }
            // It is acknowledged, and not stored.
            Request::Publish { .. }
            | Request::Acknowledge { .. }
            | Request::Again { .. }
            | Request::Goes(_)
            | Request::Announce(_) => return Some(None),
            Request::Watch => {
                let (made, change) = (lies.number(self.made), lies.change(self.revision, &self.leases));
                let all = ToWorker::All { made, changes: vec![change] };
                context.tell_worker(from?, To::Nats, all);
                return Some(None);
            }
        };
        Some(Some(answer))
    }

    /// Something that nobody asked for, while it lies: what was stored is changed or lost, and
    /// anything is said to who listens.
    pub(super) fn harm(&mut self, context: &mut Context) {
        let Some(lies) = &mut self.lies else { return };
        match lies.below(8) {
            0 => {
                (self.leases, self.has_leases) = (BTreeMap::new(), false);
                (self.made, self.revision) = (self.made + 1, 0);
            }
            1 => {
                (self.messages, self.last, self.has_stream) = (BTreeMap::new(), 0, false);
                for (name, consumer) in std::mem::take(&mut self.consumers) {
                    if let Some((worker, life, _)) = consumer.pull {
                        context.tell_worker((worker, life), To::Nats, ToWorker::ConsumerGone(name));
                    }
                }
            }
            // As a purge: nobody is told.
            2 => drop(self.leases.pop_first()),
            3 => {
                let (partition, next) = (lies.partition(&self.leases), lies.number(self.last).max(1));
                let name = format!("{}-{}-{}", partition.network, partition.slice, lies.number(next));
                let (pending, again) = (BTreeMap::new(), BTreeSet::new());
                self.consumers.insert(name, Consumer { partition, next, pending, again, pull: None });
            }
            4 | 5 => {
                let (partition, bytes) = (lies.partition(&self.leases), lies.lease(&self.leases));
                self.put(context, partition, bytes);
            }
            _ => {
                let changes: Vec<Change> =
                    (0..lies.below(30)).map(|_| lies.change(self.revision, &self.leases)).collect();
                changes.into_iter().for_each(|change| self.tell(context, change));
            }
        }
    }

    fn of(&self, partition: Partition) -> impl Iterator<Item = &String> {
        let all = self.consumers.iter().filter(move |(_, consumer)| consumer.partition == partition);
        all.map(|(name, _)| name)
    }

    /// A report that is not durable stays in the stream in a copy that is not acknowledged.
    fn check_removable(&self, context: &mut Context, name: &str, sequence: u64) {
        let (Some(gone), Some(consumer)) = (self.messages.get(&sequence), self.consumers.get(name)) else {
            return;
        };
        for packet in &gone.packets {
            let stays = self.messages.iter().any(|(other, message)| {
                let waits = consumer.pending.contains_key(other) || *other >= consumer.next;
                message.packets.contains(packet) && waits
            });
            // The first of several may have been what the session has.
            if !stays && !self.aged.contains(packet) {
                context.checks.taken_from_the_stream(packet);
            }
        }
    }

    fn tell(&mut self, context: &mut Context, change: Change) {
        if !self.leads(context) {
            self.untold.push(change);
            return;
        }
        for watcher in &self.watchers {
            context.tell_worker(*watcher, To::Watcher, ToWorker::Change(change.clone()));
        }
    }

    fn deliver(&mut self, context: &mut Context, name: &str) {
        let leads = self.leads(context);
        let before = context.now.saturating_sub(self.kept_for);
        while self.messages.first_key_value().is_some_and(|(_, message)| message.at < before) {
            let Some((gone, message)) = self.messages.pop_first() else { break };
            self.aged.extend(message.packets);
            for consumer in self.consumers.values_mut() {
                consumer.pending.remove(&gone);
                consumer.again.remove(&gone);
            }
        }
        let Some(consumer) = self.consumers.get_mut(name) else { return };
        let Some((worker, life, _)) = consumer.pull.filter(|(.., until)| leads && *until > context.now)
        else {
            return;
        };
        let mut due: Vec<u64> = std::mem::take(&mut consumer.again).into_iter().collect();
        let new = self.messages.range(consumer.next..);
        due.extend(new.filter(|(_, of)| of.partition == consumer.partition).map(|(sequence, _)| *sequence));
        consumer.next = self.last.max(consumer.next - 1).saturating_add(1);
        for sequence in due {
            let Some(message) = self.messages.get(&sequence) else { continue };
            self.deliveries += 1;
            let delivery = self.deliveries;
            consumer.pending.insert(sequence, delivery);
            let redeliver = Timer::Redeliver { consumer: name.to_owned(), sequence, delivery };
            context.after(AGAIN_AFTER.as_micros() as Us, Event::JetStream(redeliver));
            let twice = context.chance(context.faults.doubled);
            for _ in 0..=u32::from(twice) {
                let (mut of, mut packets) = (sequence, message.packets.clone());
                if let Some(lies) = &mut self.lies
                    && lies.lie()
                {
                    (of, packets) = lies.packets(of, packets);
                }
                let packets = ToWorker::Packets {
                    consumer: name.to_owned(),
                    sequence: of,
                    gateway: message.gateway,
                    packets,
                    age: context.now - message.at,
                };
                context.tell_worker((worker, life), To::Nats, packets);
            }
        }
    }
}
