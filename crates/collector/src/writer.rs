//! The store's thread: everything that came while the last transaction was made durable is the next
//! one.
//!
//! There is one for all partitions, each of which has a session of its own, which comes and goes. A
//! session's writes have a commit generation. After a transaction that failed, what the session
//! gave before it knew of that fails, too, so that nothing overtakes what has to be tried again.

mod batches;

pub(crate) use batches::{Added, Batch, Batches};

use crate::fence::{Fence, LeaseNumber};
use crate::network::NetworkId;
use crate::partition::Partition;
use crate::registry::CounterFloor;
use crate::store::{Reader, Store, StoreError, Write, Written};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot};
use wire::meter::MeterState;

/// Others' writes that wait at most.
const JOBS_MAX: u64 = 1024;
/// The same beside a writer, where each has a thread.
const BESIDE_MAX: usize = 64;
/// The longest period of retention and of the check that the database is in its place.
const UPKEEP_EVERY: Duration = Duration::from_secs(20);
/// The period of that check while it is not.
const UPKEEP_ASTRAY: Duration = Duration::from_secs(1);

/// The period in which some readings are compared with their sums.
const COMPARE_EVERY: Duration = Duration::from_secs(1);

/// Why something was not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The store did not take it; it can be tried again.
    #[error("{0}")]
    Store(String),
    /// More is written than the disk takes.
    #[error("too much waits to be stored; try again")]
    Busy,
    /// Another worker may have the partition.
    #[error("the lease of the partition is over: another worker writes there")]
    Fenced,
    #[error("the collector is stopping")]
    Stopped,
}

/// Writes that are done together, or not at all, and what is to be told.
pub(crate) struct Job<T> {
    writes: Vec<Write>,
    /// The guard of these writes; `None`: nobody else writes that.
    fence: Option<Arc<Fence>>,
    to: To<T>,
}

/// The session of the writes, with their guard.
#[derive(Clone)]
pub(crate) struct SessionJob {
    pub(crate) partition: Partition,
    pub(crate) commit_generation: u64,
    pub(crate) fence: Option<Arc<Fence>>,
}

enum To<T> {
    /// A partition's session: what it goes on with for each write, and the generation of these.
    Session { partition: Partition, commit_generation: u64, after: Vec<T> },
    /// A partition is taken under a lease; who hears of it.
    Take { lease: LeaseNumber, taken: Sender<Result<(), StoreError>> },
    /// A partition's session begins: where it hears of its writes, and what was sent with its
    /// network's keys.
    Begin { partition: Partition, counter_floor: CounterFloor, done: Sender<Done<T>> },
    /// It has ended.
    End { partition: Partition },
    /// Somebody else.
    Caller(Reply),
    /// The thread itself: this was all.
    Stop,
}

/// The result of a session's writes.
pub(crate) enum Done<T> {
    /// They are durable.
    Written(Vec<(T, Written)>),
    /// They are not; what is given from now on has this generation.
    Failed {
        /// The submissions to go on with.
        after: Vec<T>,
        commit_generation: u64,
        /// Why; `None`: because something before it failed.
        error: Option<Arc<StoreError>>,
    },
    /// They are not, because the lease that they were given under is over.
    Fenced {
        /// The submissions to drop.
        after: Vec<T>,
    },
    /// A stored row changed by itself: the finding.
    Damaged(String),
}

/// The counts of transactions.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) commits: AtomicU64,
    pub(crate) commits_us: AtomicU64,
    pub(crate) failed: AtomicU64,
    /// Transactions that the store refused, because a partition of theirs was taken under a later
    /// lease.
    pub(crate) fenced: AtomicU64,
    /// Jobs of others that wait.
    waiting: AtomicU64,
}

/// The queue of writes. `T`: the submissions that a session goes on with when its own are durable.
pub(crate) struct Jobs<T> {
    jobs: Sender<Job<T>>,
    counts: Arc<Counts>,
}

/// Writes to the store: the API's changes, the concentrator's messages. Each call is part of one
/// transaction, done or not as a whole.
#[derive(Clone)]
pub struct WriterHandle {
    give: Arc<Give>,
}

/// Takes writes, what they are written under, and whom to tell.
type Give = dyn Fn(Vec<Write>, Option<Arc<Fence>>, Reply) -> Result<(), WriteError> + Send + Sync;

type Reply = oneshot::Sender<Result<Vec<Written>, WriteError>>;

impl WriterHandle {
    /// Of a process that stores no reports: what people change goes to the database by this
    /// reader's connections. Needs a tokio runtime.
    pub(crate) fn beside(reader: Reader) -> WriterHandle {
        let (runtime, waiting) = (Handle::current(), Arc::new(Semaphore::new(BESIDE_MAX)));
        let give = move |writes: Vec<Write>, _, reply: Reply| {
            let place = waiting.clone().try_acquire_owned().map_err(|_| WriteError::Busy)?;
            let reader = reader.clone();
            runtime.spawn_blocking(move || {
                let written = reader.write_admin(&writes);
                drop(place);
                // A caller who does not wait any more needs no answer.
                drop(reply.send(written.map_err(|error| WriteError::Store(error.to_string()))));
            });
            Ok(())
        };
        WriterHandle { give: Arc::new(give) }
    }

    /// Writes; what it returns, one for each in their order, is durable.
    ///
    /// # Errors
    /// [`WriteError`]: nothing was written then.
    pub async fn write(&self, writes: Vec<Write>) -> Result<Vec<Written>, WriteError> {
        let (reply, written) = oneshot::channel();
        (self.give)(writes, None, reply)?;
        written.await.map_err(|_| WriteError::Stopped)?
    }

    /// The same of what is written under a lease, by a thread that may wait.
    ///
    /// # Errors
    /// [`WriteError`]: nothing was written then.
    pub(crate) fn write_under(
        &self,
        fence: Option<Arc<Fence>>,
        writes: Vec<Write>,
    ) -> Result<Vec<Written>, WriteError> {
        let (reply, written) = oneshot::channel();
        (self.give)(writes, fence, reply)?;
        written.blocking_recv().map_err(|_| WriteError::Stopped)?
    }

    /// Writes one thing.
    ///
    /// # Errors
    /// [`WriteError`]: it was not written then.
    pub async fn write_one(&self, write: Write) -> Result<Written, WriteError> {
        let mut written = self.write(vec![write]).await?;
        written.pop().ok_or_else(|| WriteError::Store("the store said nothing of it".into()))
    }
}

impl<T: Send + 'static> Jobs<T> {
    /// Starts the thread. It ends, and the store is closed, after [`Jobs::stop`].
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn start(store: Store) -> std::io::Result<(Jobs<T>, JoinHandle<()>)> {
        let (jobs, jobs_in) = unbounded();
        let counts = Arc::new(Counts::default());
        let thread = Thread { store, jobs: jobs_in, batches: Batches::new(counts.clone()), astray: false };
        let thread = std::thread::Builder::new().name("store".into()).spawn(move || thread.run())?;
        Ok((Jobs { jobs, counts }, thread))
    }

    /// Without a thread: who calls does what is given.
    #[cfg(test)]
    pub(crate) fn without_thread() -> (Jobs<T>, Receiver<Job<T>>) {
        let (jobs, jobs_in) = unbounded();
        (Jobs { jobs, counts: Arc::default() }, jobs_in)
    }

    /// Takes a partition under a lease, and returns when nobody writes it under one before any
    /// more.
    ///
    /// # Errors
    /// The store's error; `None`: its thread has ended.
    pub(crate) fn take(&self, lease: LeaseNumber) -> Result<(), Option<StoreError>> {
        self.begin_take(lease).recv().map_err(|_| None)?.map_err(Some)
    }

    /// Begins to take a partition. The returned receiver gets a message when nobody writes it under
    /// an earlier lease any more.
    pub(crate) fn begin_take(&self, lease: LeaseNumber) -> Receiver<Result<(), StoreError>> {
        let (taken, hears) = bounded(1);
        self.tell(To::Take { lease, taken });
        hears
    }

    /// A partition has a session now, which hears of its writes by what this returns; the first one
    /// hears what is of no session, too. counter_floor: what was sent with the network's keys.
    /// It is written before the states that it has to cover.
    pub(crate) fn begin(&self, partition: Partition, counter_floor: CounterFloor) -> Receiver<Done<T>> {
        let (out, done) = unbounded();
        self.tell(To::Begin { partition, counter_floor, done: out });
        done
    }

    /// A partition's session has ended.
    pub(crate) fn end(&self, partition: Partition) {
        self.tell(To::End { partition });
    }

    /// A session's: there are never more of them than meters and open commands. Returns whether the
    /// thread is there.
    pub(crate) fn give(
        &self,
        SessionJob { partition, commit_generation, fence }: SessionJob,
        writes: Vec<Write>,
        after: Vec<T>,
    ) -> bool {
        self.jobs.send(Job { writes, fence, to: To::Session { partition, commit_generation, after } }).is_ok()
    }

    /// Stops the store's thread, after all earlier writes.
    pub(crate) fn stop(&self) {
        self.tell(To::Stop);
    }

    fn tell(&self, to: To<T>) {
        // It may have stopped already.
        let _ = self.jobs.send(Job { writes: Vec::new(), fence: None, to });
    }

    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    pub(crate) fn handle(&self) -> WriterHandle {
        let (jobs, counts) = (self.jobs.clone(), self.counts.clone());
        let give = move |writes, fence, reply| {
            if counts.waiting.fetch_add(1, Ordering::Relaxed) >= JOBS_MAX {
                counts.waiting.fetch_sub(1, Ordering::Relaxed);
                return Err(WriteError::Busy);
            }
            jobs.send(Job { writes, fence, to: To::Caller(reply) }).map_err(|_| WriteError::Stopped)
        };
        WriterHandle { give: Arc::new(give) }
    }
}

struct Thread<T> {
    store: Store,
    jobs: Receiver<Job<T>>,
    batches: Batches<T>,
    /// The database was not where it belongs when that was looked at without a batch.
    astray: bool,
}

impl<T> Thread<T> {
    fn run(mut self) {
        let mut upkeep_at = Instant::now() + UPKEEP_EVERY;
        let mut compare_at = Instant::now() + COMPARE_EVERY;
        loop {
            match self.jobs.recv_deadline(upkeep_at.min(compare_at)) {
                Ok(job) => {
                    if self.commit(job) {
                        break;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if Instant::now() >= upkeep_at {
                upkeep_at = Instant::now() + self.upkeep();
            }
            if Instant::now() >= compare_at {
                compare_at = Instant::now() + COMPARE_EVERY;
                if let Some(damage) = self.store.compare() {
                    self.batches.done(Partition::FIRST, Done::Damaged(damage));
                }
            }
        }
    }

    /// Returns after how long it is due again.
    fn upkeep(&mut self) -> Duration {
        if let Err(error) = self.store.check() {
            self.astray = true;
            self.batches.fail(Partition::FIRST, Vec::new(), Some(Arc::new(error)));
            return UPKEEP_ASTRAY;
        }
        if std::mem::take(&mut self.astray) {
            // That it stores again.
            self.batches.done(Partition::FIRST, Done::Written(Vec::new()));
        }
        let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis() as i64);
        match self.store.upkeep(now_ms) {
            Ok(true) => Duration::from_millis(50),
            Ok(false) => UPKEEP_EVERY,
            Err(error) => {
                tracing::warn!(%error, "old readings could not be taken away");
                UPKEEP_EVERY
            }
        }
    }

    /// Commits this job, and all that came meanwhile. Returns whether that was all.
    fn commit(&mut self, first: Job<T>) -> bool {
        let mut stop = false;
        let mut batch = Batch::default();
        let mut next = Some(first);
        while let Some(job) = next {
            match self.batches.add(&mut batch, job) {
                Added::Taken => {}
                Added::Take { lease, taken } => drop(taken.send(self.store.take(lease))),
                Added::End { partition } => self.store.leave(partition),
                Added::Stop => {
                    stop = true;
                    break;
                }
            }
            next = if batch.is_full() { None } else { self.jobs.try_recv().ok() };
        }
        let mut next = batch.if_any();
        while let Some(batch) = next {
            let committed = self.commit_batch(&batch);
            next = self.batches.committed(batch, committed);
        }
        stop
    }

    fn commit_batch(&mut self, batch: &Batch<T>) -> Result<Vec<Written>, StoreError> {
        let start = Instant::now();
        let committed = self.cover(batch.writes());
        let committed = committed.and_then(|()| self.store.commit_under(batch.writes(), &batch.leases()));
        let counts = self.batches.counts();
        counts.commits.fetch_add(1, Ordering::Relaxed);
        counts.commits_us.fetch_add(start.elapsed().as_micros() as u64, Ordering::Relaxed);
        committed
    }

    /// Makes the commands in these writes durable beside the keys, before they are in the database.
    fn cover(&mut self, writes: &[Write]) -> Result<(), StoreError> {
        let mut states: BTreeMap<NetworkId, Vec<(u32, &MeterState)>> = BTreeMap::new();
        for write in writes {
            if let Write::State { network, epoch, state } = write {
                states.entry(*network).or_default().push((*epoch, state));
            }
        }
        for (network, states) in states {
            let no_folder = || StoreError::Keys(format!("network {network} has no folder of keys"));
            let counter_floor = self.batches.counter_floor(network).ok_or_else(no_folder)?;
            counter_floor.cover(states.into_iter()).map_err(|error| StoreError::Keys(error.to_string()))?;
        }
        Ok(())
    }
}
