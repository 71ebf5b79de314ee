//! Time, chance and the network: events in the order of their time, each of which leads to others.

use super::invariants::Invariants;
use super::jetstream::{self, JetStream};
use super::meters_and_radio::MetersAndRadio;
use super::postgres::{self, Postgres};
use super::worker::{Timer as WorkerTimer, Worker};
use crate::partition::Partition;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};

/// Microseconds of the world.
pub(super) type Us = u64;

/// A message to a worker's process.
#[derive(Debug)]
pub(super) enum ToWorker {
    Timer(WorkerTimer),
    Answer(u64, jetstream::Answer),
    Packets {
        consumer: String,
        sequence: u64,
        gateway: usize,
        packets: Vec<Vec<u8>>,
        age: Us,
    },
    ConsumerGone(String),
    /// All that is in the buckets, and which bucket of leases it is.
    All {
        made: u64,
        changes: Vec<jetstream::Change>,
    },
    Change(jetstream::Change),
    /// connection: `None`: the one that there is.
    Postgres(Option<postgres::Connection>, postgres::Reply),
}

#[derive(Debug)]
pub(super) enum Event {
    /// The end of a meter's wait, unless it waits for something else by now.
    Meter(usize, u64),
    MeterHears(usize, Vec<u8>),
    GatewayHears(usize, Vec<u8>),
    GatewayPublishes(usize, Partition),
    ToGateway(usize, Vec<Vec<u8>>),
    ToJetStream {
        from: Option<(usize, u32)>,
        number: u64,
        request: jetstream::Request,
    },
    JetStream(jetstream::Timer),
    ToPostgres((usize, u32), Option<postgres::Connection>, postgres::Statement),
    Postgres(postgres::Timer),
    ToWorker((usize, u32), ToWorker),
    Fault(Fault),
    /// Somebody gives a command.
    Command,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    /// A worker's process ends, and another begins after that.
    Crash(usize, Us),
    /// A worker is told to stop, and another begins after that.
    Stop(usize, Us),
    Start(usize),
    Pause(usize, Us),
    /// When a transaction of the worker has come to this step.
    PauseWithin(usize, u8, Us),
    /// Before its next transaction, which begins when it goes on.
    PauseBefore(usize, Us),
    GoOn(usize, u64),
    /// A worker hears nothing of NATS, and is not heard.
    CutNats(usize, Us),
    CutPostgres(usize, Us),
    /// Its connections to PostgreSQL are lost.
    Reset(usize),
    GatewayDown(usize, Us),
    LeaderLost(Us),
    PostgresCrash {
        fail_over: bool,
        time: Us,
    },
    SlowStandby(Us),
    /// The broker harms what it has.
    Broker,
}

/// The rates of random faults.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rates {
    /// Of packets on the air, each way.
    pub(super) lost_packets: f64,
    /// Packets that JetStream delivers twice.
    pub(super) doubled: f64,
    pub(super) lost_answers: f64,
    /// Messages to and from NATS.
    pub(super) lost_messages: f64,
    /// The longest delay of watchers.
    pub(super) watchers_behind: Us,
}

/// The receiver of messages from one source, which keep their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum To {
    Nats,
    Watcher,
    Postgres,
}

/// The context of all events.
pub(super) struct Context {
    pub(super) now: Us,
    pub(super) faults: Rates,
    pub(super) checks: Invariants,
    rng: StdRng,
    events: BTreeMap<u64, Event>,
    due: BinaryHeap<Reverse<(Us, u64)>>,
    given: u64,
    /// When the last message of each kind to and from a worker arrives.
    order: BTreeMap<(usize, To, bool), Us>,
    /// Until when a worker is cut off.
    cut_nats: Vec<Us>,
    cut_postgres: Vec<Us>,
    pause_before: Vec<Option<Us>>,
}

impl Context {
    pub(super) fn new(rng: StdRng, faults: Rates, checks: Invariants, workers: usize) -> Context {
        Context {
            now: 0,
            faults,
            checks,
            rng,
            events: BTreeMap::new(),
            due: BinaryHeap::new(),
            given: 0,
            order: BTreeMap::new(),
            cut_nats: vec![0; workers],
            cut_postgres: vec![0; workers],
            pause_before: vec![None; workers],
        }
    }

    pub(super) fn chance(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.rng.random_bool(probability)
    }

    pub(super) fn between(&mut self, least: u64, most: u64) -> u64 {
        self.rng.random_range(least..=most)
    }

    /// A generator for somebody else.
    pub(super) fn generator(&mut self) -> StdRng {
        StdRng::seed_from_u64(self.rng.random())
    }

    pub(super) fn after(&mut self, time: Us, event: Event) {
        self.at(self.now + time, event);
    }

    fn at(&mut self, at: Us, event: Event) {
        self.given += 1;
        self.events.insert(self.given, event);
        self.due.push(Reverse((at, self.given)));
    }

    /// When a message arrives that is sent now, behind those before it.
    fn arrives(&mut self, of: (usize, To, bool), time: Us) -> Us {
        let last = self.order.entry(of).or_insert(0);
        *last = (*last + 1).max(self.now + time);
        *last
    }

    fn latency(&mut self) -> Us {
        // Most are fast, some are not.
        if self.chance(0.02) { self.between(5_000, 80_000) } else { self.between(150, 1500) }
    }

    pub(super) fn tell_worker(&mut self, worker: (usize, u32), by: To, message: ToWorker) {
        let mut time = self.latency();
        match by {
            To::Nats | To::Watcher => {
                let lost = self.chance(self.faults.lost_messages);
                if by == To::Watcher {
                    time += self.between(0, self.faults.watchers_behind);
                }
                // A watcher that is cut off begins anew; it is not told that it misses something.
                if self.now < self.cut_nats[worker.0] || lost && by == To::Nats {
                    return;
                }
            }
            To::Postgres => time += self.cut_postgres[worker.0].saturating_sub(self.now),
        }
        let at = self.arrives((worker.0, by, true), time);
        self.at(at, Event::ToWorker(worker, message));
    }

    pub(super) fn tell_jetstream(&mut self, from: (usize, u32), number: u64, request: jetstream::Request) {
        let (time, lost) = (self.latency(), self.chance(self.faults.lost_messages));
        if self.now >= self.cut_nats[from.0] && !lost {
            let at = self.arrives((from.0, To::Nats, false), time);
            self.at(at, Event::ToJetStream { from: Some(from), number, request });
        }
    }

    /// A gateway's packet, or a worker's packets to a gateway: nobody hears whether they arrive.
    pub(super) fn publish(&mut self, from: Option<usize>, event: Event) {
        let (time, lost) = (self.latency(), self.chance(self.faults.lost_messages));
        if !lost && from.is_none_or(|worker| self.now >= self.cut_nats[worker]) {
            self.after(time, event);
        }
    }

    pub(super) fn tell_postgres(
        &mut self,
        from: (usize, u32),
        connection: Option<postgres::Connection>,
        statement: postgres::Statement,
    ) {
        let mut time = self.latency() + self.cut_postgres[from.0].saturating_sub(self.now);
        if let postgres::Statement::Begin { .. } = statement
            && let Some(pause) = self.pause_before[from.0].take()
        {
            time += pause;
            self.after(0, Event::Fault(Fault::Pause(from.0, pause)));
        }
        let at = self.arrives((from.0, To::Postgres, false), time);
        self.at(at, Event::ToPostgres(from, connection, statement));
    }
}

/// The hash of a run.
#[derive(Default)]
pub(super) struct Trace(DefaultHasher);

impl Write for Trace {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

pub(super) struct World {
    pub(super) context: Context,
    pub(super) trace: Trace,
    pub(super) field: MetersAndRadio,
    pub(super) jetstream: JetStream,
    pub(super) postgres: Postgres,
    pub(super) workers: Vec<Worker>,
}

impl World {
    /// Lets time pass up to then, or to the first thing that does not hold.
    pub(super) fn run_until(&mut self, end: Us) {
        while self.context.checks.failed().is_none() {
            let Some(Reverse((at, _))) = self.context.due.peek() else { break };
            if *at > end {
                break;
            }
            let Some(Reverse((at, number))) = self.context.due.pop() else { break };
            self.context.now = at;
            self.context.checks.counts.events += 1;
            if let Some(event) = self.context.events.remove(&number) {
                let _ = write!(self.trace, "{at} {event:?}");
                self.context.checks.counts.trace = self.trace.0.finish();
                self.happens(event);
            }
        }
        self.context.now = end;
    }

    fn happens(&mut self, event: Event) {
        let World { context, field, jetstream, postgres, workers, .. } = self;
        match event {
            Event::Meter(meter, call) => field.call_over(context, meter, call),
            Event::MeterHears(meter, packet) => field.meter_hears(context, meter, &packet),
            Event::GatewayHears(gateway, packet) => field.gateway_hears(context, gateway, packet),
            Event::GatewayPublishes(gateway, partition) => field.publish(context, gateway, partition),
            Event::ToGateway(gateway, packets) => field.send(context, gateway, &packets),
            Event::ToJetStream { from, number, request } => jetstream.ask(context, from, number, request),
            Event::JetStream(timer) => jetstream.later(context, timer),
            Event::ToPostgres(worker, connection, statement) => {
                postgres.ask(context, worker, connection, statement);
            }
            Event::Postgres(timer) => postgres.later(context, timer),
            Event::ToWorker((worker, life), message) => {
                workers[worker].hear(context, life, message);
                self.check_holders(worker);
            }
            Event::Fault(fault) => self.goes_wrong(fault),
            Event::Command => {
                let (meter, request) = field.some_command(context);
                let partition = postgres.rows().partition_of(meter);
                for worker in workers {
                    worker.command(context, partition, meter, request);
                }
            }
        }
    }

    /// Of each partition one worker holds the lease at most, each by its own clock.
    fn check_holders(&mut self, changed: usize) {
        if !std::mem::take(&mut self.workers[changed].leases_changed) {
            return;
        }
        let mut held = Vec::new();
        for (number, worker) in self.workers.iter().enumerate() {
            held.extend(worker.holds(self.context.now).map(|lease| (number, lease)));
        }
        self.context.checks.holding(&held);
    }

    fn goes_wrong(&mut self, fault: Fault) {
        let World { context, field, jetstream, postgres, workers, .. } = self;
        context.checks.counts.faults += 1;
        match fault {
            Fault::Crash(worker, time) => {
                if workers[worker].end(context) {
                    postgres.reset(context, worker);
                    context.after(time, Event::Fault(Fault::Start(worker)));
                }
            }
            Fault::Stop(worker, time) => workers[worker].stop(context, time),
            Fault::Start(worker) => workers[worker].start(context),
            Fault::Pause(worker, time) => workers[worker].pause(context, time),
            Fault::PauseWithin(worker, step, time) => workers[worker].pause_within = Some((step, time)),
            Fault::PauseBefore(worker, time) => context.pause_before[worker] = Some(time),
            Fault::GoOn(worker, pause) => {
                workers[worker].go_on(context, pause);
                self.check_holders(worker);
            }
            Fault::CutNats(worker, time) => {
                context.cut_nats[worker] = context.cut_nats[worker].max(context.now + time);
                // Then the client is connected again, and watches from the beginning.
                workers[worker].watch_after(context, time);
            }
            Fault::CutPostgres(worker, time) => {
                context.cut_postgres[worker] = context.cut_postgres[worker].max(context.now + time);
            }
            Fault::Reset(worker) => postgres.reset(context, worker),
            Fault::GatewayDown(gateway, time) => field.gateway_down(context, gateway, time),
            Fault::LeaderLost(time) => jetstream.lose_leader(context, time),
            Fault::PostgresCrash { fail_over, time } => postgres.crash(context, fail_over, time),
            Fault::SlowStandby(time) => postgres.slow_standby(context, time),
            Fault::Broker => jetstream.harm(context),
        }
    }

    /// Nothing goes wrong any more.
    pub(super) fn calm(&mut self) {
        self.context.faults = Rates { watchers_behind: 2_000, ..Rates::default() };
        for worker in &mut self.workers {
            worker.pause_within = None;
        }
        self.context.pause_before.fill(None);
        self.jetstream.be_honest();
    }
}
