//! PostgreSQL in memory, as far as a cluster relies on it, with one synchronous standby.
//!
//! Sources: PostgreSQL 15's manual, 13.3.2 "Row-Level Locks" (FOR SHARE against UPDATE), 13.2.1
//! "Read Committed" (a row that was waited for is looked at anew), 20.11 `lock_timeout`,
//! `idle_in_transaction_session_timeout`, 27.2.8 "Synchronous Replication" (locks are held, and
//! nothing is seen, until the standby has it), 9.27.2 `pg_terminate_backend`;
//! src/backend/replication/syncrep.c: who is ended while it waits for the standby has committed on
//! this server alone.

use super::rows::{Effect, Rows};
use super::world::{Context, Event, To, ToWorker, Us};
use crate::fence::LeaseNumber;
use crate::partition::Partition;
use crate::store::{CommandRecord, Write, Written};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use wire::meter::{MeterId, MeterState};

pub(super) type Connection = u64;

/// `postgres::writer::IDLE_SHARED_S`.
const IDLE: Us = 3_000_000;
/// `postgres::partitions::LOCK_MS`.
const TAKE_LOCK: Us = 200_000;
/// `lock_timeout` of all else.
const LOCK: Us = 10_000_000;

/// A statement of a worker's connection.
#[derive(Clone, Debug)]
pub(super) enum Statement {
    /// Connects, ends the connection before, and goes on with partitions: `Writer::begin`.
    Connect {
        before: Option<Connection>,
        held: Vec<LeaseNumber>,
    },
    /// `partitions::transaction`
    Begin {
        leases: Vec<LeaseNumber>,
    },
    /// known: the last numbers of meters, as the worker has them in memory.
    Write {
        writes: Vec<Write>,
        known: BTreeMap<MeterId, u32>,
    },
    Commit,
    RollBack,
    /// `partitions::take`, without its commit.
    Take(LeaseNumber),
    /// `partitions::end_holders`
    EndHolders(LeaseNumber),
    /// The last numbers of these partitions' meters, to be kept in memory.
    Load(Vec<Partition>),
    /// The stored state for a session, by a reader's connection.
    Read(Partition),
}

/// The stored state of a meter, with which a session begins.
#[derive(Clone, Debug)]
pub(super) struct StoredMeter {
    pub(super) state: MeterState,
    pub(super) heard_ms: Option<i64>,
}

#[derive(Debug)]
pub(super) enum Reply {
    Done,
    Connected {
        lost: Vec<LeaseNumber>,
    },
    /// These are another's.
    Lost(Vec<LeaseNumber>),
    Written(Vec<Written>),
    /// The number of a later lease, where there is one.
    Taken(Option<u64>),
    LockTimeout,
    Loaded(BTreeMap<MeterId, u32>),
    /// `None`: the server is not there.
    Read(Partition, Option<(Vec<StoredMeter>, Vec<CommandRecord>)>),
    /// The connection is lost.
    Closed,
}

#[derive(Clone, Debug)]
pub(super) enum Timer {
    Idle(Connection, u64),
    LockTimeout(Connection, u64),
    /// The standby has it; of which history.
    Replicated(u64, u32),
    Up,
}

#[derive(Default)]
struct Transaction {
    leases: Vec<LeaseNumber>,
    shares: BTreeSet<Partition>,
    alone: BTreeSet<Partition>,
    effects: Vec<Effect>,
}

struct Session {
    worker: (usize, u32),
    transaction: Option<Transaction>,
    /// The commit that it waits for.
    committing: Option<u64>,
    /// Answered with that instead of `Done` once it is durable.
    answer: Option<Reply>,
    asked: u64,
}

/// A transaction that is committed on this server.
struct Commit {
    effects: Vec<Effect>,
    seen: bool,
}

pub(super) struct Postgres {
    rows: Rows,
    log: Vec<Commit>,
    /// The number of them on the standby.
    replicated: u64,
    history: u32,
    sessions: BTreeMap<Connection, Session>,
    last: Connection,
    waiting: VecDeque<(Connection, Statement)>,
    up: bool,
    slow_until: Us,
}

impl Postgres {
    pub(super) fn new(rows: Rows) -> Postgres {
        let (sessions, waiting) = (BTreeMap::new(), VecDeque::new());
        let log = Vec::new();
        Postgres { rows, log, replicated: 0, history: 0, sessions, last: 0, waiting, up: true, slow_until: 0 }
    }

    pub(super) fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Delays the standby by a time.
    pub(super) fn slow_standby(&mut self, context: &Context, time: Us) {
        self.slow_until = context.now + time;
    }

    /// The server is killed. Commits stay, those that wait for the standby, too; where the standby
    /// takes its place those that it has.
    pub(super) fn crash(&mut self, context: &mut Context, fail_over: bool, time: Us) {
        self.up = false;
        self.history += 1;
        if fail_over {
            self.log.truncate(self.replicated as usize);
            self.log.iter_mut().for_each(|commit| commit.seen = true);
            self.rows.back_to(self.log.iter().map(|commit| &commit.effects[..]));
        } else {
            for at in 0..self.log.len() {
                self.see(context, at);
            }
        }
        for (_, session) in std::mem::take(&mut self.sessions) {
            context.tell_worker(session.worker, To::Postgres, ToWorker::Postgres(None, Reply::Closed));
        }
        self.waiting.clear();
        context.after(time, Event::Postgres(Timer::Up));
    }

    /// A worker's connections are lost on the way; the server sees it, too.
    pub(super) fn reset(&mut self, context: &mut Context, worker: usize) {
        let of = |(connection, session): (&Connection, &Session)| {
            (session.worker.0 == worker).then_some(*connection)
        };
        let lost: Vec<Connection> = self.sessions.iter().filter_map(of).collect();
        lost.into_iter().for_each(|connection| self.end(context, connection));
    }

    /// Ends a connection. Its commits that wait for the standby are visible from now on.
    fn end(&mut self, context: &mut Context, connection: Connection) {
        let Some(session) = self.sessions.remove(&connection) else { return };
        self.waiting.retain(|(of, _)| *of != connection);
        if let Some(commit) = session.committing {
            self.see(context, commit as usize - 1);
        }
        context.tell_worker(
            session.worker,
            To::Postgres,
            ToWorker::Postgres(Some(connection), Reply::Closed),
        );
        self.wake(context);
    }

    pub(super) fn later(&mut self, context: &mut Context, timer: Timer) {
        match timer {
            Timer::Idle(connection, asked) => {
                let idle = |session: &&Session| session.asked == asked && session.transaction.is_some();
                if self.sessions.get(&connection).filter(idle).is_some() {
                    self.end(context, connection);
                }
            }
            Timer::LockTimeout(connection, asked) => {
                let waits = self.waiting.iter().position(|(of, _)| *of == connection);
                if let (Some(at), Some(session)) = (waits, self.sessions.get_mut(&connection))
                    && session.asked == asked
                {
                    self.waiting.remove(at);
                    session.transaction = None;
                    self.reply(context, connection, Reply::LockTimeout);
                    self.wake(context);
                }
            }
            Timer::Replicated(commit, history) if history == self.history => self.durable(context, commit),
            Timer::Replicated(..) => {}
            Timer::Up => {
                self.up = true;
                // A server that is started again, or a new standby, has all before anything is
                // acknowledged.
                self.durable(context, self.log.len() as u64);
            }
        }
    }

    fn durable(&mut self, context: &mut Context, up_to: u64) {
        for at in self.replicated..up_to {
            context.checks.durable(&self.log[at as usize].effects);
        }
        self.replicated = self.replicated.max(up_to);
        let waits = |(connection, session): (&Connection, &Session)| {
            session.committing.is_some_and(|commit| commit <= up_to).then_some(*connection)
        };
        let done: Vec<Connection> = self.sessions.iter().filter_map(waits).collect();
        for connection in done {
            let Some(session) = self.sessions.get_mut(&connection) else { continue };
            let commit = session.committing.take().unwrap_or(1);
            session.transaction = None;
            let answer = session.answer.take().unwrap_or(Reply::Done);
            self.see(context, commit as usize - 1);
            self.reply(context, connection, answer);
        }
        self.wake(context);
    }

    fn see(&mut self, context: &mut Context, at: usize) {
        if !std::mem::replace(&mut self.log[at].seen, true) {
            for effect in &self.log[at].effects {
                self.rows.apply(effect, &mut context.checks);
            }
        }
    }

    fn reply(&mut self, context: &mut Context, connection: Connection, reply: Reply) {
        let Some(session) = self.sessions.get_mut(&connection) else { return };
        session.asked += 1;
        if session.transaction.is_some() {
            context.after(IDLE, Event::Postgres(Timer::Idle(connection, session.asked)));
        }
        context.tell_worker(session.worker, To::Postgres, ToWorker::Postgres(Some(connection), reply));
    }

    /// connection: `None` with [`Statement::Connect`] alone.
    pub(super) fn ask(
        &mut self,
        context: &mut Context,
        worker: (usize, u32),
        connection: Option<Connection>,
        statement: Statement,
    ) {
        if let Statement::Read(partition) = statement {
            let read = Reply::Read(partition, self.up.then(|| self.rows.of_partition(partition)));
            return context.tell_worker(worker, To::Postgres, ToWorker::Postgres(None, read));
        }
        if let (Statement::Connect { before, .. }, true) = (&statement, self.up) {
            self.last += 1;
            let (transaction, committing) = (None, None);
            let session = Session { worker, transaction, committing, answer: None, asked: 0 };
            self.sessions.insert(self.last, session);
            if let Some(before) = before {
                self.end(context, *before);
            }
            return self.statement(context, self.last, statement);
        }
        match connection.filter(|connection| self.sessions.contains_key(connection)) {
            Some(connection) => self.statement(context, connection, statement),
            None => context.tell_worker(worker, To::Postgres, ToWorker::Postgres(connection, Reply::Closed)),
        }
    }

    fn statement(&mut self, context: &mut Context, connection: Connection, statement: Statement) {
        let timeout = if let Statement::Take(_) = statement { TAKE_LOCK } else { LOCK };
        let Some(session) = self.sessions.get_mut(&connection) else { return };
        session.asked += 1;
        let asked = session.asked;
        if !self.does(context, connection, &statement) {
            self.waiting.push_back((connection, statement));
            context.after(timeout, Event::Postgres(Timer::LockTimeout(connection, asked)));
        }
    }

    /// Resumes the waiting connections in their order.
    fn wake(&mut self, context: &mut Context) {
        for (connection, statement) in std::mem::take(&mut self.waiting) {
            if !self.does(context, connection, &statement) {
                self.waiting.push_back((connection, statement));
            }
        }
    }

    fn is_locked(&self, by_others: Connection, partition: Partition, shares_count: bool) -> bool {
        let others = self.sessions.iter().filter(|(connection, _)| **connection != by_others);
        others.filter_map(|(_, session)| session.transaction.as_ref()).any(|transaction| {
            transaction.alone.contains(&partition) || shares_count && transaction.shares.contains(&partition)
        })
    }

    /// Returns whether it need not wait.
    fn does(&mut self, context: &mut Context, connection: Connection, statement: &Statement) -> bool {
        match statement {
            Statement::Connect { held, .. } => {
                if held.iter().any(|lease| self.is_locked(connection, lease.partition, true)) {
                    return false;
                }
                let is_lost = |lease: &&LeaseNumber| !self.rows.is_under(**lease);
                let lost: Vec<LeaseNumber> = held.iter().filter(is_lost).copied().collect();
                let ours = held.iter().filter(|lease| !lost.contains(lease));
                let effects = ours.map(|lease| Effect::Connection(lease.partition, connection)).collect();
                let alone = held.iter().map(|lease| lease.partition).collect();
                let Some(session) = self.sessions.get_mut(&connection) else { return true };
                session.transaction = Some(Transaction { effects, alone, ..Transaction::default() });
                session.answer = Some(Reply::Connected { lost });
                self.commit(context, connection);
            }
            Statement::Begin { leases } => {
                if leases.iter().any(|lease| self.is_locked(connection, lease.partition, false)) {
                    return false;
                }
                let is_lost = |lease: &&LeaseNumber| !self.rows.is_under(**lease);
                let lost: Vec<LeaseNumber> = leases.iter().filter(is_lost).copied().collect();
                let shares = leases.iter().map(|lease| lease.partition).collect();
                let Some(session) = self.sessions.get_mut(&connection) else { return true };
                let leases = leases.clone();
                session.transaction = Some(Transaction { leases, shares, ..Transaction::default() });
                self.reply(context, connection, Reply::Lost(lost));
            }
            Statement::Write { writes, known } => {
                let (effects, written) = self.rows.write(writes, known);
                if let Some(transaction) =
                    self.sessions.get_mut(&connection).and_then(|of| of.transaction.as_mut())
                {
                    transaction.effects.extend(effects);
                }
                self.reply(context, connection, Reply::Written(written));
            }
            Statement::Commit => self.commit(context, connection),
            Statement::RollBack => {
                if let Some(session) = self.sessions.get_mut(&connection) {
                    session.transaction = None;
                }
                self.reply(context, connection, Reply::Done);
                self.wake(context);
            }
            Statement::Take(lease) => {
                if self.is_locked(connection, lease.partition, true) {
                    return false;
                }
                let later = self.rows.fence(lease.partition).filter(|fence| *fence >= lease.number);
                let Some(session) = self.sessions.get_mut(&connection) else { return true };
                let mut transaction = Transaction::default();
                transaction.alone.insert(lease.partition);
                if later.is_none() {
                    transaction.effects.push(Effect::Take(*lease, connection));
                }
                session.transaction = Some(transaction);
                self.reply(context, connection, Reply::Taken(later));
            }
            Statement::EndHolders(lease) => {
                if let Some(holder) = self.rows.holder_below(*lease).filter(|holder| *holder != connection) {
                    self.end(context, holder);
                }
                self.reply(context, connection, Reply::Done);
            }
            Statement::Load(partitions) => {
                let known = partitions.iter().flat_map(|partition| self.rows.last_numbers(*partition));
                let known = known.collect();
                self.reply(context, connection, Reply::Loaded(known));
            }
            Statement::Read(_) => {}
        }
        true
    }

    fn commit(&mut self, context: &mut Context, connection: Connection) {
        let Some(session) = self.sessions.get_mut(&connection) else { return };
        let transaction = session.transaction.take().unwrap_or_default();
        let effects = transaction.effects.clone();
        context.checks.committed(&transaction.leases, &effects, self.log.iter().map(|of| &of.effects[..]));
        // Its locks stay until the standby has it.
        session.transaction = Some(transaction);
        self.log.push(Commit { effects, seen: false });
        let commit = self.log.len() as u64;
        session.committing = Some(commit);
        session.asked += 1;
        let slow = self.slow_until.saturating_sub(context.now);
        let time = slow + context.between(300, 3000);
        context.after(time, Event::Postgres(Timer::Replicated(commit, self.history)));
    }
}
