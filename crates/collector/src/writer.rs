//! The store's thread: everything that came while the last transaction was made durable is the next one.
//!
//! There is one for all networks, each of which has a link of its own. A link's writes are of an era. After a transaction that failed,
//! what the link gave before it knew of that fails, too, so that nothing overtakes what has to be tried again.

use crate::network::NetworkId;
use crate::registry::Issued;
use crate::store::{Store, StoreError, Write, Written};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::oneshot;
use wire::meter::MeterState;

/// Writes of a transaction at most, but for those of one job, which are never parted.
const MOST_WRITES: usize = 8192;
/// Others' writes that wait at most.
const MOST_JOBS: u64 = 1024;
/// So often old readings go, at least, and it is looked whether the database is where it belongs.
const UPKEEP_EVERY: Duration = Duration::from_secs(20);
/// So often while it is not.
const UPKEEP_ASTRAY: Duration = Duration::from_secs(1);

/// So often some readings are compared with their sums.
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
    #[error("the collector is stopping")]
    Stopped,
}

/// Writes that are done together, or not at all, and what is to be told.
struct Job<T> {
    writes: Vec<Write>,
    to: To<T>,
}

enum To<T> {
    /// A network's link: what it goes on with for each write, and in which era it gave them.
    Link { network: NetworkId, era: u64, after: Vec<T> },
    /// Somebody else.
    Caller(Reply),
    /// The thread itself: this was all.
    Stop,
}

/// What became of a link's writes.
pub(crate) enum Done<T> {
    /// They are durable.
    Written(Vec<(T, Written)>),
    /// They are not; what is given from now on is of this era.
    Failed {
        /// What to go on with.
        after: Vec<T>,
        era: u64,
        /// Why; `None`: because something before it failed.
        error: Option<Arc<StoreError>>,
    },
    /// What is stored changed by itself: what was found.
    Damaged(String),
}

/// How the transactions went.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) commits: AtomicU64,
    pub(crate) commits_us: AtomicU64,
    pub(crate) failed: AtomicU64,
    /// Jobs of others that wait.
    waiting: AtomicU64,
}

/// Where writes are given. `T`: what a link goes on with when its own are durable.
pub(crate) struct Jobs<T> {
    jobs: Sender<Job<T>>,
    counts: Arc<Counts>,
}

/// Writes to the store: the API's changes, the concentrator's messages. Each call is part of one transaction, done or not as a whole.
#[derive(Clone)]
pub struct WriterHandle {
    give: Arc<dyn Fn(Vec<Write>, Reply) -> Result<(), WriteError> + Send + Sync>,
}

type Reply = oneshot::Sender<Result<Vec<Written>, WriteError>>;

impl WriterHandle {
    /// Writes; what it returns, one for each in their order, is durable.
    ///
    /// # Errors
    /// [`WriteError`]: nothing was written then.
    pub async fn write(&self, writes: Vec<Write>) -> Result<Vec<Written>, WriteError> {
        let (reply, written) = oneshot::channel();
        (self.give)(writes, reply)?;
        written.await.map_err(|_| WriteError::Stopped)?
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
    /// Starts the thread. It ends, and the store is closed, after [`Jobs::stop`]. issued: of each network that has a link; is written
    /// before the states that it has to cover. done: hears of the links' writes; what is of no link is told to network 0's.
    ///
    /// # Errors
    /// Where the system gives no thread.
    pub(crate) fn start(
        store: Store,
        issued: BTreeMap<NetworkId, Issued>,
        done: impl Fn(NetworkId, Done<T>) + Send + 'static,
    ) -> std::io::Result<(Jobs<T>, JoinHandle<()>)> {
        let (jobs, jobs_in) = unbounded();
        let counts = Arc::new(Counts::default());
        let eras = issued.keys().map(|network| (*network, 0)).collect();
        let thread =
            Thread { store, issued, jobs: jobs_in, done, counts: counts.clone(), eras, astray: false };
        let thread = std::thread::Builder::new().name("store".into()).spawn(move || thread.run())?;
        Ok((Jobs { jobs, counts }, thread))
    }

    /// A link's: there are never more of them than meters and open commands. Returns whether the thread is there.
    pub(crate) fn give(&self, network: NetworkId, era: u64, writes: Vec<Write>, after: Vec<T>) -> bool {
        self.jobs.send(Job { writes, to: To::Link { network, era, after } }).is_ok()
    }

    /// What was given before is done, nothing after it.
    pub(crate) fn stop(&self) {
        // It may have stopped already.
        let _ = self.jobs.send(Job { writes: Vec::new(), to: To::Stop });
    }

    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    pub(crate) fn handle(&self) -> WriterHandle {
        let (jobs, counts) = (self.jobs.clone(), self.counts.clone());
        let give = move |writes, reply| {
            if counts.waiting.fetch_add(1, Ordering::Relaxed) >= MOST_JOBS {
                counts.waiting.fetch_sub(1, Ordering::Relaxed);
                return Err(WriteError::Busy);
            }
            jobs.send(Job { writes, to: To::Caller(reply) }).map_err(|_| WriteError::Stopped)
        };
        WriterHandle { give: Arc::new(give) }
    }
}

struct Thread<T, F> {
    store: Store,
    issued: BTreeMap<NetworkId, Issued>,
    jobs: Receiver<Job<T>>,
    done: F,
    counts: Arc<Counts>,
    /// Of each link.
    eras: BTreeMap<NetworkId, u64>,
    /// The database was not where it belongs when that was looked at without a batch.
    astray: bool,
}

impl<T, F: Fn(NetworkId, Done<T>)> Thread<T, F> {
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
                    (self.done)(NetworkId::DEFAULT, Done::Damaged(damage));
                }
            }
        }
    }

    /// Returns after how long it is due again.
    fn upkeep(&mut self) -> Duration {
        if let Err(error) = self.store.look() {
            self.astray = true;
            self.fail(NetworkId::DEFAULT, Vec::new(), Some(Arc::new(error)));
            return UPKEEP_ASTRAY;
        }
        if std::mem::take(&mut self.astray) {
            // That it stores again.
            (self.done)(NetworkId::DEFAULT, Done::Written(Vec::new()));
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
        let mut writes = Vec::new();
        let mut stop = false;
        let mut parts = Vec::new();
        let mut next = Some(first);
        while let Some(job) = next {
            match job.to {
                To::Stop => {
                    stop = true;
                    break;
                }
                To::Link { network, era, after } if era < self.era(network) => {
                    self.fail(network, after, None)
                }
                to => {
                    if let To::Caller(_) = to {
                        self.counts.waiting.fetch_sub(1, Ordering::Relaxed);
                    }
                    parts.push((job.writes.len(), to));
                    writes.extend(job.writes);
                }
            }
            next = if writes.len() < MOST_WRITES { self.jobs.try_recv().ok() } else { None };
        }
        if parts.is_empty() {
            return stop;
        }
        let start = Instant::now();
        let committed = self.cover(&writes).and_then(|()| self.store.commit(writes));
        self.counts.commits.fetch_add(1, Ordering::Relaxed);
        self.counts.commits_us.fetch_add(start.elapsed().as_micros() as u64, Ordering::Relaxed);
        match committed {
            Ok(written) => self.tell(parts, written),
            Err(error) => {
                self.counts.failed.fetch_add(1, Ordering::Relaxed);
                let error = Arc::new(error);
                let mut links: BTreeSet<NetworkId> = parts
                    .iter()
                    .filter_map(|(_, to)| match to {
                        To::Link { network, .. } => Some(*network),
                        _ => None,
                    })
                    .collect();
                let has_no_part = links.insert(NetworkId::DEFAULT);
                for network in &links {
                    *self.eras.entry(*network).or_default() += 1;
                }
                if has_no_part {
                    // It raises the alert.
                    self.fail(NetworkId::DEFAULT, Vec::new(), Some(error.clone()));
                }
                for (_, to) in parts {
                    match to {
                        To::Link { network, after, .. } => self.fail(network, after, Some(error.clone())),
                        // Who does not wait any more need not be told.
                        To::Caller(reply) => drop(reply.send(Err(WriteError::Store(error.to_string())))),
                        To::Stop => {}
                    }
                }
            }
        }
        stop
    }

    /// What these writes say of commands is durable beside the keys before it is in the database.
    fn cover(&mut self, writes: &[Write]) -> Result<(), StoreError> {
        let mut states: BTreeMap<NetworkId, Vec<(u32, &MeterState)>> = BTreeMap::new();
        for write in writes {
            if let Write::State { network, epoch, state } = write {
                states.entry(*network).or_default().push((*epoch, state));
            }
        }
        for (network, states) in states {
            let no_folder = || StoreError::Keys(format!("network {network} has no folder of keys"));
            let issued = self.issued.get_mut(&network).ok_or_else(no_folder)?;
            issued.cover(states.into_iter()).map_err(|error| StoreError::Keys(error.to_string()))?;
        }
        Ok(())
    }

    fn tell(&self, parts: Vec<(usize, To<T>)>, written: Vec<Written>) {
        let mut written = written.into_iter();
        for (count, to) in parts {
            let of_job = written.by_ref().take(count);
            match to {
                To::Link { network, after, .. } => {
                    (self.done)(network, Done::Written(after.into_iter().zip(of_job).collect()));
                }
                To::Caller(reply) => drop(reply.send(Ok(of_job.collect()))),
                To::Stop => {}
            }
        }
    }

    fn fail(&self, network: NetworkId, after: Vec<T>, error: Option<Arc<StoreError>>) {
        (self.done)(network, Done::Failed { after, era: self.era(network), error });
    }

    fn era(&self, network: NetworkId) -> u64 {
        self.eras.get(&network).copied().unwrap_or(0)
    }
}
