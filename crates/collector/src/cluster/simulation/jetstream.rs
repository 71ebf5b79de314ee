//! JetStream in memory: the stream of packets with its consumers, and the buckets of leases and workers.
//!
//! Sources: docs.nats.io, "Consumers" (explicit acknowledgements, ack wait, nak with a delay, max age) and "Key/Value Store" (create and update
//! by revision, watch); NATS' ADR-8 for buckets; nats-server `server/consumer.go` for the ack floor: below the first packet that is not
//! acknowledged, or at the last one that was delivered. A cluster without a leader answers nothing for 4 to 9 s (measured,
//! docs/cluster.md); what was proposed just before is written by some, and unanswered.

use super::world::{Context, Event, To, ToWorker, Us};
use crate::cluster::lease::{Lease, WriteAnswer};
use crate::cluster::queue::{AGAIN_AFTER, AGAIN_SOON};
use crate::partition::Partition;
use std::collections::{BTreeMap, BTreeSet};

/// A question for packets is good for so long (`queue::EXPIRES`); workers ask again before.
const PULL_FOR: Us = 10_000_000;
/// What came in so short a time before the leader was lost may be written, and is not answered.
const PROPOSED_WITHIN: Us = 300_000;

/// What is asked, or said.
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
    Acknowledge {
        consumer: String,
        sequence: u64,
    },
    Again {
        consumer: String,
        sequence: u64,
    },
}

/// What is answered.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    Lease(WriteAnswer),
    Found(Option<(u64, Lease)>),
    /// Names, partitions and ack floors.
    Consumers(Vec<(String, Partition, u64)>),
    Done,
}

/// What is in a bucket, or came into it.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Lease(Partition, u64, Lease),
    Worker(String),
    WorkerGone(String),
}

/// What is to be done later.
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
    messages: BTreeMap<u64, Message>,
    last: u64,
    kept_for: Us,
    /// Packets that were kept for too long.
    aged: BTreeSet<Vec<u8>>,
    consumers: BTreeMap<String, Consumer>,
    leases: BTreeMap<Partition, (u64, Lease)>,
    workers: BTreeSet<String>,
    revision: u64,
    deliveries: u64,
    watchers: Vec<(usize, u32)>,
    lost_leader: (Us, Us),
    /// Changes that nobody was told, for want of a leader.
    untold: Vec<Change>,
}

impl JetStream {
    pub(super) fn new(kept_for: Us) -> JetStream {
        JetStream {
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

    /// There is no leader for so long.
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
        let answer = self.answer(context, from, request);
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
            Request::Publish { partition, gateway, packets } => {
                self.last += 1;
                self.messages.insert(self.last, Message { partition, gateway, packets, at: context.now });
                let names: Vec<String> = self.of(partition).cloned().collect();
                names.iter().for_each(|name| self.deliver(context, name));
                None
            }
            Request::PutLease { partition, lease, revision } => {
                if self.leases.get(&partition).map_or(0, |(revision, _)| *revision) != revision {
                    return Some(Answer::Lease(WriteAnswer::OtherRevision));
                }
                self.revision += 1;
                self.leases.insert(partition, (self.revision, lease.clone()));
                self.tell(context, Change::Lease(partition, self.revision, lease));
                Some(Answer::Lease(WriteAnswer::Written(self.revision)))
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
                let all: Vec<Change> = leases
                    .map(|(partition, (revision, lease))| Change::Lease(*partition, *revision, lease.clone()))
                    .chain(self.workers.iter().cloned().map(Change::Worker))
                    .collect();
                context.tell_worker((worker, life), To::Nats, ToWorker::All(all));
                None
            }
            Request::ListConsumers => {
                let all = self.consumers.iter();
                let all = all.map(|(name, consumer)| (name.clone(), consumer.partition, consumer.floor()));
                Some(Answer::Consumers(all.collect()))
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
            Request::Acknowledge { consumer: name, sequence } => {
                let consumer = self.consumers.get_mut(&name)?;
                consumer.again.remove(&sequence);
                if consumer.pending.remove(&sequence).is_some() {
                    self.look_whether_it_may_go(context, &name, sequence);
                }
                None
            }
            Request::Again { consumer: name, sequence } => {
                let delivery = *self.consumers.get(&name)?.pending.get(&sequence)?;
                let again = Timer::Redeliver { consumer: name, sequence, delivery };
                context.after(AGAIN_SOON.as_micros() as Us, Event::JetStream(again));
                None
            }
        }
    }

    fn of(&self, partition: Partition) -> impl Iterator<Item = &String> {
        let all = self.consumers.iter().filter(move |(_, consumer)| consumer.partition == partition);
        all.map(|(name, _)| name)
    }

    /// A report that is not durable stays in the stream in a copy that is not acknowledged.
    fn look_whether_it_may_go(&self, context: &mut Context, name: &str, sequence: u64) {
        let (Some(gone), Some(consumer)) = (self.messages.get(&sequence), self.consumers.get(name)) else {
            return;
        };
        for packet in &gone.packets {
            let stays = self.messages.iter().any(|(other, message)| {
                let waits = consumer.pending.contains_key(other) || *other >= consumer.next;
                message.packets.contains(packet) && waits
            });
            // The first of several may have been what the link has.
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
        consumer.next = self.last.max(consumer.next - 1) + 1;
        for sequence in due {
            let Some(message) = self.messages.get(&sequence) else { continue };
            self.deliveries += 1;
            let delivery = self.deliveries;
            consumer.pending.insert(sequence, delivery);
            let redeliver = Timer::Redeliver { consumer: name.to_owned(), sequence, delivery };
            context.after(AGAIN_AFTER.as_micros() as Us, Event::JetStream(redeliver));
            let twice = context.chance(context.faults.doubled);
            for _ in 0..=u32::from(twice) {
                let packets = ToWorker::Packets {
                    consumer: name.to_owned(),
                    sequence,
                    gateway: message.gateway,
                    packets: message.packets.clone(),
                    age: context.now - message.at,
                };
                context.tell_worker((worker, life), To::Nats, packets);
            }
        }
    }
}
