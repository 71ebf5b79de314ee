//! A worker's process. Its decisions are real code (`lease::{View, Held}`, `packets`,
//! `session::PartitionSession`): taking and giving away partitions, renewing leases, choosing
//! consumers, acknowledging, and all that sessions do. The order in which `worker` and
//! `partition_task` call it is written down here and in `partition` again.

use super::jetstream::{Answer, Change, Request};
use super::partition::{Asked, Task, found};
use super::world::{Context, Event, Fault, ToWorker, Us};
use super::writer_model::WriterModel;
use crate::clock;
use crate::cluster::lease::{Held, RENEW_EVERY, View, WriteAnswer, Writing};
use crate::cluster::name::RoleName;
use crate::fence::LeaseNumber;
use crate::gateway::{Route, Transmit};
use crate::meters::{MetersHandle, Submission};
use crate::network::NetworkId;
use crate::partition::{Partition, Slices};
use crate::writer::Jobs;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::Future;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};
use wire::meter::{Command, Identity, MessageKind, MeterId, MeterRecord, Packet, QueuedCommand};

/// `worker::LOOK_EVERY`
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// `worker::PARTITIONS_MAX`
const PARTITIONS_MAX: usize = 64;
/// `leases::MADE_LOOK_EVERY`, `queue::STREAM_LOOK_EVERY`
const MADE_LOOK_EVERY: Duration = Duration::from_secs(1);
/// After a bucket could not be watched.
const WATCH_AGAIN: Duration = Duration::from_secs(1);
/// Unix time at the beginning, in ms: 2026-11-27.
const BEGINS_MS: i64 = 1_795_737_600_000;

/// The beginning, by all clocks.
static BEGINNING: LazyLock<Instant> = LazyLock::new(|| Instant::now() + Duration::from_secs(3600));

#[derive(Clone, Debug)]
pub(super) enum Timer {
    Look,
    Announce,
    /// A turn of the watcher; true if its view of the buckets may be old.
    Watch(bool),
    /// Makes missing streams and buckets, and checks if they are others.
    Make,
    Keep(LeaseNumber),
    Link(LeaseNumber),
    Pull(LeaseNumber),
    /// A question was not answered in time.
    Unanswered(u64),
    /// One to PostgreSQL.
    Silent(u64),
}

/// The shared state of all workers.
pub(super) struct Common {
    pub(super) slices: Slices,
    pub(super) identity: Identity,
    pub(super) records: BTreeMap<MeterId, MeterRecord>,
    pub(super) gateways: usize,
    /// Says if streams and buckets may be lost: otherwise nobody checks.
    pub(super) lies: bool,
}

/// A worker's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// The clock's drift, in millionths.
    pub(super) faster: i64,
    /// The clock's lead.
    pub(super) ahead_ms: i64,
}

impl Clock {
    fn local(self, now: Us) -> Us {
        now.saturating_add_signed(now as i64 * self.faster / 1_000_000)
    }

    fn set(self, now: Us) {
        let local = self.local(now);
        clock::simulated::set(
            *BEGINNING + Duration::from_micros(local),
            BEGINS_MS + self.ahead_ms + local as i64 / 1000,
        );
    }

    /// Returns the true duration of a time of this clock.
    fn real(self, time: Duration) -> Us {
        (time.as_micros() as i64 * 1_000_000 / (1_000_000 + self.faster)) as Us + 1
    }
}

/// The way of a process to the world.
pub(super) struct Io<'c> {
    pub(super) context: &'c mut Context,
    pub(super) who: (usize, u32),
    clock: Clock,
}

impl Io<'_> {
    pub(super) fn timer(&mut self, time: Duration, timer: Timer) {
        self.context.after(self.clock.real(time), Event::ToWorker(self.who, ToWorker::Timer(timer)));
    }

    /// Says something to JetStream that is not answered.
    pub(super) fn say(&mut self, request: Request) {
        self.context.tell_jetstream(self.who, 0, request);
    }
}

/// Packets to gateways.
type Outbox = Arc<Mutex<Vec<(usize, Vec<Vec<u8>>)>>>;

struct Gateway {
    number: usize,
    outbox: Outbox,
}

impl Transmit for Gateway {
    fn transmit(&self, _: Route, packets: &[Vec<u8>]) {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner).push((self.number, packets.to_vec()));
    }
}

/// The state that is lost with the process.
pub(super) struct Process {
    pub(super) common: Arc<Common>,
    pub(super) handle: MetersHandle,
    pub(super) jobs: Arc<Jobs<Submission>>,
    me: RoleName,
    view: View,
    /// All that was there at first was seen.
    current: bool,
    watches: bool,
    /// The bucket of leases that is watched.
    made: Option<u64>,
    all: BTreeSet<Partition>,
    tasks: BTreeMap<Partition, Task>,
    /// Partitions that could not begin here, or go on: until when they are left to others.
    failed: BTreeMap<Partition, Instant>,
    taking: bool,
    to_take: VecDeque<crate::cluster::lease::Free>,
    writer_model: WriterModel,
    outbox: Outbox,
    asked: BTreeMap<u64, Asked>,
    questions: u64,
    stopping: bool,
    leases_changed: bool,
}

impl Process {
    fn new(common: &Arc<Common>, me: RoleName) -> Process {
        let handle = MetersHandle::new(common.slices);
        let outbox = Outbox::default();
        for number in 0..common.gateways {
            handle.gateways().attach(Arc::new(Gateway { number, outbox: outbox.clone() }));
        }
        let (jobs, writer_model) = WriterModel::new(common.slices);
        Process {
            handle,
            jobs,
            view: View::new(me.clone()),
            me,
            current: false,
            watches: false,
            made: None,
            all: common.slices.partitions(NetworkId::DEFAULT).collect(),
            tasks: BTreeMap::new(),
            failed: BTreeMap::new(),
            taking: false,
            to_take: VecDeque::new(),
            writer_model,
            outbox,
            asked: BTreeMap::new(),
            questions: 0,
            stopping: false,
            leases_changed: false,
            common: common.clone(),
        }
    }

    fn begin(&mut self, io: &mut Io<'_>) {
        io.timer(Duration::ZERO, Timer::Watch(true));
        io.timer(Duration::ZERO, Timer::Look);
        io.timer(Duration::ZERO, Timer::Announce);
        if self.common.lies {
            io.timer(Duration::ZERO, Timer::Make);
        }
    }

    /// Asks JetStream.
    fn ask(&mut self, io: &mut Io<'_>, (request, asked, within): (Request, Asked, Duration)) {
        self.questions += 1;
        self.asked.insert(self.questions, asked);
        io.context.tell_jetstream(io.who, self.questions, request);
        io.timer(within, Timer::Unanswered(self.questions));
    }

    fn hear(&mut self, io: &mut Io<'_>, message: ToWorker) {
        match message {
            ToWorker::Timer(timer) => self.timer(io, timer),
            ToWorker::Answer(number, answer) => {
                if let Some(asked) = self.asked.remove(&number) {
                    self.answered(io, asked, Some(answer));
                }
            }
            ToWorker::Packets { consumer, sequence, gateway, packets, age } => {
                let task = self.tasks.values_mut().find(|task| task.is_of(&consumer));
                if let Some(task) = task {
                    task.packets(&self.handle, sequence, gateway, &packets, age);
                }
            }
            ToWorker::ConsumerGone(consumer) => {
                if let Some(task) = self.tasks.values_mut().find(|task| task.is_of(&consumer)) {
                    task.taken();
                }
            }
            ToWorker::All { made, changes } => {
                if self.made.replace(made).is_some_and(|before| before != made) {
                    self.view.leases_made_anew(clock::now());
                }
                changes.into_iter().for_each(|change| self.seen(change));
                (self.current, self.watches) = (true, true);
            }
            ToWorker::Change(change) => self.seen(change),
            ToWorker::Postgres(_, super::postgres::Reply::Read(partition, read)) => {
                if let Some(task) = self.tasks.get_mut(&partition) {
                    let rng = io.context.generator();
                    task.read((&self.common, &self.handle, &self.jobs), read, rng);
                }
            }
            ToWorker::Postgres(connection, reply) => self.writer_model.hear(io, connection, reply),
        }
        self.settle(io);
    }

    fn seen(&mut self, change: Change) {
        let now = clock::now();
        match change {
            Change::Lease(partition, entry) => self.view.lease(partition, entry.found(), now),
            Change::Worker(name) => {
                if let Ok(name) = name.parse() {
                    self.view.worker(name, now);
                }
            }
            Change::WorkerGone(name) => {
                if let Ok(name) = name.parse() {
                    self.view.worker_gone(&name);
                }
            }
        }
    }

    fn timer(&mut self, io: &mut Io<'_>, timer: Timer) {
        match timer {
            Timer::Look => self.check(io),
            Timer::Announce => {
                io.say(Request::Announce(self.me.to_string()));
                io.timer(RENEW_EVERY, Timer::Announce);
            }
            Timer::Watch(anew) => {
                self.watches &= !anew;
                if !self.watches {
                    io.say(Request::Watch);
                    io.timer(WATCH_AGAIN, Timer::Watch(false));
                }
            }
            Timer::Make => {
                self.ask(io, (Request::Make, Asked::Made, MADE_LOOK_EVERY));
                io.timer(MADE_LOOK_EVERY, Timer::Make);
            }
            Timer::Keep(lease) => {
                if let Some(task) = self.task(lease)
                    && let Some(asks) = task.renew()
                {
                    self.ask(io, asks);
                }
            }
            Timer::Link(lease) => {
                if let Some(task) = self.task(lease) {
                    task.woken();
                }
            }
            Timer::Pull(lease) => {
                if let Some(task) = self.task(lease) {
                    task.pull(io);
                }
            }
            Timer::Unanswered(number) => {
                if let Some(asked) = self.asked.remove(&number) {
                    self.answered(io, asked, None);
                }
            }
            Timer::Silent(asked) => self.writer_model.silent(io, asked),
        }
    }

    fn task(&mut self, lease: LeaseNumber) -> Option<&mut Task> {
        self.tasks.get_mut(&lease.partition).filter(|task| task.lease() == lease)
    }

    /// `Running::look`
    fn check(&mut self, io: &mut Io<'_>) {
        io.timer(LOOK_EVERY, Timer::Look);
        if !self.current || self.taking || self.stopping {
            return;
        }
        let now = clock::now();
        self.failed.retain(|_, until| now < *until);
        let held: BTreeSet<Partition> = self.tasks.keys().copied().collect();
        let plan = self.view.plan(&self.all, &held, PARTITIONS_MAX, now);
        for partition in plan.release {
            if let Some(task) = self.tasks.get_mut(&partition) {
                task.tell_to_stop();
            }
        }
        let failed = &self.failed;
        self.to_take = plan.take.into_iter().filter(|free| !failed.contains_key(&free.partition)).collect();
        self.take_next(io);
    }

    fn take_next(&mut self, io: &mut Io<'_>) {
        self.taking = false;
        let Some(free) = self.to_take.pop_front().filter(|_| !self.stopping) else { return };
        self.taking = true;
        let taking = Writing::taking(&free, &self.me);
        self.ask(io, (put(&taking), Asked::Take(taking), RENEW_EVERY));
    }

    /// `Buckets::take`: another worker was faster, or what was seen is not what is there.
    fn check_stream(&mut self, io: &mut Io<'_>, partition: Partition) {
        self.ask(io, (Request::GetLease(partition), Asked::TakeLook(partition), RENEW_EVERY));
    }

    fn answered(&mut self, io: &mut Io<'_>, asked: Asked, answer: Option<Answer>) {
        match asked {
            Asked::Take(taking) => match answer {
                Some(Answer::Lease(WriteAnswer::Written(revision))) => {
                    let held = taking.taken(revision);
                    io.context.checks.counts.taken += 1;
                    self.leases_changed = true;
                    let taken = self.jobs.begin_take(held.fence.lease());
                    let mut task = Task::new(held, taken, self.common.lies);
                    task.keep(io, Held::FIRST);
                    self.tasks.insert(task.lease().partition, task);
                    self.take_next(io);
                }
                Some(Answer::Lease(WriteAnswer::OtherRevision)) => {
                    self.check_stream(io, taking.partition);
                }
                _ => (self.taking, self.to_take) = (false, VecDeque::new()),
            },
            Asked::TakeLook(partition) => {
                if let Some(found) = found(answer) {
                    self.view.on_lease_read(partition, found, clock::now());
                }
                self.take_next(io);
            }
            Asked::Made => {
                if let Some(Answer::Made(made)) = answer
                    && self.made.is_some_and(|before| before != made)
                {
                    io.timer(Duration::ZERO, Timer::Watch(true));
                }
            }
            Asked::Renew(lease, renewal) => {
                if let Some(task) = self.task(lease) {
                    task.renewed(io, &renewal, answer);
                    self.leases_changed = true;
                }
            }
            Asked::Of(lease, step) => {
                let slices = self.common.slices;
                if let Some(task) = self.task(lease)
                    && let Some(asks) = task.answered(io, slices, step, answer)
                {
                    self.ask(io, asks);
                }
            }
        }
    }

    /// Goes on with all that can go on.
    fn settle(&mut self, io: &mut Io<'_>) {
        loop {
            let mut again = false;
            for task in self.tasks.values_mut() {
                again |= task.go_on(io, &self.handle, &self.jobs);
            }
            again |= self.writer_model.turn(io);
            if !again {
                break;
            }
        }
        let mut over = Vec::new();
        for (partition, task) in &mut self.tasks {
            while let Some(asks) = task.next_question() {
                self.questions += 1;
                let (request, asked, within) = asks;
                self.asked.insert(self.questions, asked);
                io.context.tell_jetstream(io.who, self.questions, request);
                io.timer(within, Timer::Unanswered(self.questions));
            }
            if let Some(left_for) = task.is_over() {
                over.push((*partition, left_for));
                task.later().iter().for_each(|lease| self.view.later_lease(*lease, clock::now()));
            }
        }
        for (partition, left_for) in over {
            self.tasks.remove(&partition);
            if let Some(time) = left_for {
                self.failed.insert(partition, clock::now() + time);
            }
        }
        let sent = std::mem::take(&mut *self.outbox.lock().unwrap_or_else(PoisonError::into_inner));
        for (gateway, packets) in sent {
            if let Some(Ok(packet)) = packets.first().map(|packet| Packet::parse(packet))
                && packet.kind == MessageKind::Acknowledgement
            {
                io.context.checks.acknowledged(packet.meter, packet.number_lsb);
            }
            io.context.publish(Some(io.who.0), Event::ToGateway(gateway, packets));
        }
    }

    fn is_stopped(&self) -> bool {
        self.stopping && self.tasks.is_empty()
    }

    fn command(&mut self, io: &mut Io<'_>, partition: Partition, meter: MeterId, command: QueuedCommand) {
        if !self.tasks.get(&partition).is_some_and(Task::serves) {
            return;
        }
        let handle = self.handle.clone();
        let meter = NetworkId::DEFAULT.meter(meter);
        // It is asked at once; nobody waits for the answer.
        let mut asks = Box::pin(async move { handle.command(meter, command, "simulation").await });
        let _ = asks.as_mut().poll(&mut std::task::Context::from_waker(Waker::noop()));
        io.context.checks.counts.commands += 1;
        if command == Command::Reboot.into() {
            io.context.checks.reboot_given(meter.meter);
        }
        self.settle(io);
    }
}

/// Writes a lease.
pub(super) fn put(writing: &Writing) -> Request {
    let Writing { partition, lease, revision, .. } = writing;
    Request::PutLease { partition: *partition, lease: lease.clone(), revision: *revision }
}

/// A worker, with one process after the other.
pub(super) struct Worker {
    number: usize,
    life: u32,
    clock: Clock,
    common: Arc<Common>,
    process: Option<Process>,
    /// The messages that came while it stands still.
    stalled: Option<VecDeque<ToWorker>>,
    pauses: u64,
    starts_after: Us,
    pub(super) pause_within: Option<(u8, Us)>,
    pub(super) leases_changed: bool,
}

impl Worker {
    pub(super) fn new(number: usize, clock: Clock, common: Arc<Common>) -> Worker {
        Worker {
            number,
            life: 0,
            clock,
            common,
            process: None,
            stalled: None,
            pauses: 0,
            starts_after: 0,
            pause_within: None,
            leases_changed: false,
        }
    }

    fn io<'c>(&self, context: &'c mut Context) -> Io<'c> {
        self.clock.set(context.now);
        Io { context, who: (self.number, self.life), clock: self.clock }
    }

    /// A process begins, under another name than all before it.
    pub(super) fn start(&mut self, context: &mut Context) {
        if self.process.is_some() {
            return;
        }
        self.life += 1;
        let name = format!("w{}-{}", self.number, self.life).parse();
        let mut io = self.io(context);
        if let Ok(me) = name {
            self.process.insert(Process::new(&self.common, me)).begin(&mut io);
        }
    }

    /// The process is killed. Returns whether there was one.
    pub(super) fn end(&mut self, _: &Context) -> bool {
        self.stalled = None;
        self.process.take().is_some()
    }

    /// It is told to stop, and comes to its end by itself; another begins after that.
    pub(super) fn stop(&mut self, context: &mut Context, then: Us) {
        let mut io = self.io(context);
        if let Some(process) = self.process.as_mut().filter(|process| !process.stopping) {
            process.stopping = true;
            process.tasks.values_mut().for_each(Task::tell_to_stop);
            self.starts_after = then;
            if self.stalled.is_none() {
                process.settle(&mut io);
            }
            self.check_ended(context);
        }
    }

    fn check_ended(&mut self, context: &mut Context) {
        if let Some(process) = self.process.take_if(|process| process.is_stopped()) {
            let who = (self.number, self.life);
            context.tell_jetstream(who, 0, Request::Goes(process.me.to_string()));
            context.after(self.starts_after, Event::Fault(Fault::Start(self.number)));
        }
    }

    pub(super) fn pause(&mut self, context: &mut Context, time: Us) {
        if self.process.is_some() && self.stalled.is_none() {
            self.pauses += 1;
            self.stalled = Some(VecDeque::new());
            context.after(time, Event::Fault(Fault::GoOn(self.number, self.pauses)));
        }
    }

    pub(super) fn go_on(&mut self, context: &mut Context, pause: u64) {
        if pause != self.pauses {
            return;
        }
        // Messages that came meanwhile are handled at once, in a random order.
        let stalled = self.stalled.take().unwrap_or_default();
        let timers_first = context.chance(0.5);
        let (timers, messages): (Vec<_>, Vec<_>) =
            stalled.into_iter().partition(|message| matches!(message, ToWorker::Timer(_)));
        let (first, then) = if timers_first { (timers, messages) } else { (messages, timers) };
        let life = self.life;
        first.into_iter().chain(then).for_each(|message| self.hear(context, life, message));
    }

    pub(super) fn watch_after(&mut self, context: &mut Context, time: Us) {
        let who = (self.number, self.life);
        context.after(time + 1, Event::ToWorker(who, ToWorker::Timer(Timer::Watch(true))));
    }

    pub(super) fn hear(&mut self, context: &mut Context, life: u32, message: ToWorker) {
        if life != self.life {
            return;
        }
        if let (ToWorker::Postgres(..), Some((step, time)), Some(process)) =
            (&message, self.pause_within, &self.process)
            && process.writer_model.step() == step
        {
            self.pause_within = None;
            self.pause(context, time);
        }
        if let Some(stalled) = &mut self.stalled {
            return stalled.push_back(message);
        }
        let mut io = self.io(context);
        let Some(process) = &mut self.process else { return };
        process.hear(&mut io, message);
        self.leases_changed |= std::mem::take(&mut process.leases_changed);
        self.check_ended(context);
    }

    pub(super) fn command(
        &mut self,
        context: &mut Context,
        partition: Partition,
        meter: MeterId,
        command: QueuedCommand,
    ) {
        let mut io = self.io(context);
        if let (Some(process), None) = (&mut self.process, &self.stalled) {
            process.command(&mut io, partition, meter, command);
        }
    }

    /// The leases that hold by its clock, also while it stands still.
    pub(super) fn holds(&self, now: Us) -> impl Iterator<Item = LeaseNumber> {
        self.clock.set(now);
        let tasks = self.process.iter().flat_map(|process| process.tasks.values());
        tasks.filter(|task| task.holds()).map(Task::lease)
    }
}
