//! The store's thread of a worker: which jobs are one transaction, and who hears of it, is the real
//! `writer::Batches`; what `store::postgres` asks of the server, one statement after the other, is
//! written down here again.

use super::postgres::{Connection, Reply, Statement};
use super::worker::{Io, Timer};
use crate::clock;
use crate::fence::LeaseNumber;
use crate::meters::Submission;
use crate::partition::{Partition, Slices};
use crate::store::{DatabaseUrl, StoreError, Written};
use crate::writer::{Added, Batch, Batches, Job, Jobs};
use crossbeam_channel::{Receiver, Sender};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::meter::MeterId;

/// `postgres::writer::STATEMENT_TIMEOUT_S`, and `COMMIT`.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// `postgres::partitions::WAIT`
const TAKE_WITHIN: Duration = Duration::from_secs(4);

enum Work {
    Batch(Batch<Submission>),
    Take { lease: LeaseNumber, taken: Sender<Result<(), StoreError>>, until: Instant },
}

/// The event that it waits for.
#[derive(Debug)]
enum Step {
    Nothing,
    Connected,
    Begun,
    Written,
    Committed(Vec<Written>),
    RolledBack(Vec<LeaseNumber>),
    Taken,
    HoldersEnded,
    TakeCommitted,
    /// With the number of a later lease.
    TakeRolledBack(u64),
    /// Meters loaded into memory; true if the partition was taken.
    Loaded(bool),
}

pub(super) struct WriterModel {
    jobs: Receiver<Job<Submission>>,
    batches: Batches<Submission>,
    slices: Slices,
    collected: Batch<Submission>,
    work: Option<Work>,
    step: Step,
    asked: u64,
    connection: Option<Connection>,
    /// The last one, which the server may not know to be lost.
    before: Option<Connection>,
    held: Vec<LeaseNumber>,
    /// The last number of each meter, and as it was before the transaction.
    known: BTreeMap<MeterId, u32>,
}

fn unreachable(what: &str) -> StoreError {
    StoreError::Unreachable { place: DatabaseUrl::File(PathBuf::from("simulated")), what: what.to_owned() }
}

impl WriterModel {
    pub(super) fn new(slices: Slices) -> (Arc<Jobs<Submission>>, WriterModel) {
        let (given, jobs) = Jobs::without_thread();
        let writer_model = WriterModel {
            jobs,
            batches: Batches::new(Arc::default()),
            slices,
            collected: Batch::default(),
            work: None,
            step: Step::Nothing,
            asked: 0,
            connection: None,
            before: None,
            held: Vec::new(),
            known: BTreeMap::new(),
        };
        (Arc::new(given), writer_model)
    }

    /// Returns the step of the transaction under way, as `Fault::PauseWithin` counts.
    pub(super) fn step(&self) -> u8 {
        match self.step {
            Step::Begun => 1,
            Step::Written => 2,
            Step::Committed(_) => 3,
            Step::Taken => 4,
            Step::TakeCommitted => 5,
            Step::Loaded(true) => 6,
            _ => 0,
        }
    }

    /// Begins with what was given, unless it is at something. Returns whether there was something.
    pub(super) fn turn(&mut self, io: &mut Io<'_>) -> bool {
        if self.work.is_some() {
            return false;
        }
        let mut any = false;
        while let Ok(job) = self.jobs.try_recv() {
            any = true;
            match self.batches.add(&mut self.collected, job) {
                Added::Taken => {}
                Added::Take { lease, taken } => {
                    self.leave(lease.partition);
                    let until = clock::now() + TAKE_WITHIN;
                    self.begin(io, Work::Take { lease, taken, until });
                    return true;
                }
                Added::End { partition } => self.leave(partition),
                Added::Stop => break,
            }
            if self.collected.is_full() {
                break;
            }
        }
        if let Some(batch) = std::mem::take(&mut self.collected).if_any() {
            self.begin(io, Work::Batch(batch));
        }
        any
    }

    /// `postgres::Store::leave`
    fn leave(&mut self, partition: Partition) {
        self.held.retain(|lease| lease.partition != partition);
        let slices = self.slices;
        self.known.retain(|meter, _| slices.of(*meter) != partition.slice);
    }

    fn begin(&mut self, io: &mut Io<'_>, work: Work) {
        self.work = Some(work);
        match self.connection {
            Some(_) => self.go_on(io),
            None => {
                let statement = Statement::Connect { before: self.before, held: self.held.clone() };
                self.ask(io, statement, Step::Connected);
            }
        }
    }

    fn go_on(&mut self, io: &mut Io<'_>) {
        match &self.work {
            Some(Work::Batch(batch)) => {
                let leases = batch.leases();
                self.ask(io, Statement::Begin { leases }, Step::Begun);
            }
            Some(Work::Take { lease, .. }) => {
                let lease = *lease;
                self.ask(io, Statement::Take(lease), Step::Taken);
            }
            None => self.step = Step::Nothing,
        }
    }

    fn ask(&mut self, io: &mut Io<'_>, statement: Statement, step: Step) {
        self.step = step;
        self.asked += 1;
        io.context.tell_postgres(io.who, self.connection, statement);
        io.timer(ANSWER_WITHIN, Timer::Silent(self.asked));
    }

    /// Nothing was answered in time.
    pub(super) fn silent(&mut self, io: &mut Io<'_>, asked: u64) {
        if asked == self.asked && self.work.is_some() {
            self.lost(io);
        }
    }

    /// Nobody knows what became of it.
    fn lost(&mut self, io: &mut Io<'_>) {
        self.connection = None;
        self.failed(io, unreachable("the connection is lost"));
    }

    fn failed(&mut self, io: &mut Io<'_>, error: StoreError) {
        self.step = Step::Nothing;
        match self.work.take() {
            Some(Work::Batch(batch)) => self.committed(io, batch, Err(error)),
            // The taker does not wait any more.
            Some(Work::Take { taken, .. }) => drop(taken.send(Err(error))),
            None => {}
        }
    }

    fn committed(
        &mut self,
        io: &mut Io<'_>,
        batch: Batch<Submission>,
        came: Result<Vec<Written>, StoreError>,
    ) {
        if let Err(StoreError::Fenced { .. }) = came {
            io.context.checks.counts.fenced += 1;
        }
        if let Some(rest) = self.batches.committed(batch, came) {
            self.begin(io, Work::Batch(rest));
        }
    }

    fn on_closed(&mut self, io: &mut Io<'_>, connection: Option<Connection>) {
        let ours = connection.is_none() || connection == self.connection;
        // While it connects there is none, and the one before is ended.
        let connects = self.connection.is_none() && connection != self.before;
        let waits = self.work.is_some() && (ours || connects);
        if ours {
            self.connection = None;
        }
        if waits {
            self.lost(io);
        }
    }

    pub(super) fn hear(&mut self, io: &mut Io<'_>, connection: Option<Connection>, reply: Reply) {
        if let Reply::Closed = reply {
            self.on_closed(io, connection);
            return;
        }
        if self.work.is_none() || self.connection.is_some() && connection != self.connection {
            return;
        }
        match (std::mem::replace(&mut self.step, Step::Nothing), reply) {
            (Step::Connected, Reply::Connected { lost }) => {
                (self.connection, self.before) = (connection, connection);
                self.held.retain(|lease| !lost.contains(lease));
                self.known.clear();
                let partitions = self.held.iter().map(|lease| lease.partition).collect();
                self.ask(io, Statement::Load(partitions), Step::Loaded(false));
            }
            (Step::Begun, Reply::Lost(lost)) if lost.is_empty() => {
                let Some(Work::Batch(batch)) = &self.work else { return };
                let (writes, known) = (batch.writes().to_vec(), self.known.clone());
                self.ask(io, Statement::Write { writes, known }, Step::Written);
            }
            (Step::Begun, Reply::Lost(lost)) => self.ask(io, Statement::RollBack, Step::RolledBack(lost)),
            (Step::Written, Reply::Written(written)) => {
                self.ask(io, Statement::Commit, Step::Committed(written));
            }
            (Step::Committed(written), Reply::Done) => {
                let Some(Work::Batch(batch)) = self.work.take() else { return };
                for write in batch.writes() {
                    if let crate::store::Write::Report(report) = write {
                        let known = self.known.entry(report.meter.meter).or_default();
                        *known = report.report.n.max(*known);
                    }
                }
                self.committed(io, batch, Ok(written));
            }
            (Step::RolledBack(leases), Reply::Done) => {
                let place = DatabaseUrl::File(PathBuf::from("simulated"));
                self.failed(io, StoreError::Fenced { place, leases });
            }
            (Step::Taken, Reply::Taken(None)) => self.ask(io, Statement::Commit, Step::TakeCommitted),
            (Step::Taken, Reply::Taken(Some(later))) => {
                self.ask(io, Statement::RollBack, Step::TakeRolledBack(later));
            }
            (Step::Taken, Reply::LockTimeout) => match &self.work {
                Some(Work::Take { lease, until, .. }) if clock::now() < *until => {
                    let lease = *lease;
                    self.ask(io, Statement::EndHolders(lease), Step::HoldersEnded);
                }
                _ => self.failed(io, unreachable("a row is locked")),
            },
            (Step::HoldersEnded, Reply::Done) => self.go_on(io),
            (Step::TakeCommitted, Reply::Done) => {
                let Some(Work::Take { lease, .. }) = &self.work else { return };
                let partitions = vec![lease.partition];
                self.ask(io, Statement::Load(partitions), Step::Loaded(true));
            }
            (Step::TakeRolledBack(number), Reply::Done) => {
                let Some(Work::Take { lease, .. }) = &self.work else { return };
                let leases = vec![LeaseNumber { number, ..*lease }];
                let place = DatabaseUrl::File(PathBuf::from("simulated"));
                self.failed(io, StoreError::Fenced { place, leases });
            }
            (Step::Loaded(taken), Reply::Loaded(known)) => {
                self.known.extend(known);
                if !taken {
                    return self.go_on(io);
                }
                if let Some(Work::Take { lease, taken, .. }) = self.work.take() {
                    self.held.push(lease);
                    let _ = taken.send(Ok(()));
                }
            }
            // A lock was waited for too long, within a transaction: `Failed::Doubtful`.
            _ => self.lost(io),
        }
    }
}
