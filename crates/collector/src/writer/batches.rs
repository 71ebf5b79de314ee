//! The batches: jobs that are one transaction, and the receivers of the result. There is no store
//! here, and no clock but the leases'.

use super::{Counts, Done, Job, To, WriteError};
use crate::fence::{Fence, LeaseNumber};
use crate::network::NetworkId;
use crate::partition::Partition;
use crate::registry::CounterFloor;
use crate::store::{StoreError, Write, Written};
use crossbeam_channel::Sender;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Writes of a transaction at most, but for those of one job, which are never parted.
const WRITES_MAX: usize = 8192;

/// The writes of one transaction.
pub(crate) struct Batch<T> {
    writes: Vec<Write>,
    parts: Vec<Part<T>>,
}

/// A job's part of a transaction.
struct Part<T> {
    /// The number of its writes.
    writes: usize,
    fence: Option<Arc<Fence>>,
    to: To<T>,
}

impl<T> Default for Batch<T> {
    fn default() -> Batch<T> {
        Batch { writes: Vec::new(), parts: Vec::new() }
    }
}

impl<T> Batch<T> {
    pub(crate) fn writes(&self) -> &[Write] {
        &self.writes
    }

    /// Under which it is to be stored.
    pub(crate) fn leases(&self) -> Vec<LeaseNumber> {
        let leases: BTreeSet<LeaseNumber> =
            self.parts.iter().filter_map(|part| Some(part.fence.as_ref()?.lease())).collect();
        leases.into_iter().collect()
    }

    /// Says if the batch is full.
    pub(crate) fn is_full(&self) -> bool {
        self.writes.len() >= WRITES_MAX
    }

    /// It, unless nobody is to hear of it.
    pub(crate) fn if_any(self) -> Option<Batch<T>> {
        (!self.parts.is_empty()).then_some(self)
    }
}

/// The result of adding a job to a batch.
pub(crate) enum Added {
    /// It is in it, or it was refused, and who gave it knows.
    Taken,
    /// A partition is to be taken, and `taken` is to hear of it.
    Take { lease: LeaseNumber, taken: Sender<Result<(), StoreError>> },
    /// A partition's session has ended.
    End { partition: Partition },
    /// This was all.
    Stop,
}

/// A session that hears of its writes.
struct SessionOf<T> {
    commit_generation: u64,
    done: Sender<Done<T>>,
}

/// The sessions that are there.
pub(crate) struct Batches<T> {
    counts: Arc<Counts>,
    /// Floor of each network that has or had a session.
    counter_floor: BTreeMap<NetworkId, CounterFloor>,
    sessions: BTreeMap<Partition, SessionOf<T>>,
}

impl<T> Batches<T> {
    pub(crate) fn new(counts: Arc<Counts>) -> Batches<T> {
        Batches { counts, counter_floor: BTreeMap::new(), sessions: BTreeMap::new() }
    }

    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Returns the counter floor of a network's keys; `None` if it has and had no session.
    pub(super) fn counter_floor(&mut self, network: NetworkId) -> Option<&mut CounterFloor> {
        self.counter_floor.get_mut(&network)
    }

    pub(crate) fn add(&mut self, batch: &mut Batch<T>, job: Job<T>) -> Added {
        if let To::Caller(_) = job.to {
            self.counts.waiting.fetch_sub(1, Ordering::Relaxed);
        }
        let holds = job.fence.as_ref().is_none_or(|fence| fence.holds());
        match job.to {
            To::Stop => return Added::Stop,
            To::Begin { partition, counter_floor, done } => {
                self.counter_floor.entry(partition.network).or_insert(counter_floor);
                self.sessions.insert(partition, SessionOf { commit_generation: 0, done });
            }
            To::Take { lease, taken } => return Added::Take { lease, taken },
            To::End { partition } => {
                self.sessions.remove(&partition);
                return Added::End { partition };
            }
            To::Session { partition, after, .. } if !holds => self.done(partition, Done::Fenced { after }),
            To::Caller(reply) if !holds => drop(reply.send(Err(WriteError::Fenced))),
            To::Session { partition, commit_generation, after }
                if commit_generation < self.commit_generation(partition) =>
            {
                self.fail(partition, after, None);
            }
            to => {
                batch.parts.push(Part { writes: job.writes.len(), fence: job.fence, to });
                batch.writes.extend(job.writes);
            }
        }
        Added::Taken
    }

    /// Tells who gave it what came of a batch. Returns what is to be committed without what is of
    /// partitions that others have.
    pub(crate) fn committed(
        &mut self,
        mut batch: Batch<T>,
        committed: Result<Vec<Written>, StoreError>,
    ) -> Option<Batch<T>> {
        match committed {
            // Nothing of it was stored. The rest belongs to this one's own partitions.
            Err(StoreError::Fenced { leases, .. }) => {
                self.fenced(&mut batch, &leases);
                return batch.if_any();
            }
            Ok(written) => self.tell(batch.parts, written),
            Err(error) => self.failed(batch.parts, error),
        }
        None
    }

    /// Takes out what is of partitions that others have: whose it was hears that its lease is over.
    fn fenced(&self, batch: &mut Batch<T>, leases: &[LeaseNumber]) {
        self.counts.fenced.fetch_add(1, Ordering::Relaxed);
        let mut writes = std::mem::take(&mut batch.writes).into_iter();
        for part in std::mem::take(&mut batch.parts) {
            let of_part = writes.by_ref().take(part.writes);
            match part.fence.as_ref().filter(|fence| leases.contains(&fence.lease())) {
                None => {
                    batch.writes.extend(of_part);
                    batch.parts.push(part);
                }
                Some(fence) => {
                    of_part.for_each(drop);
                    if fence.holds() {
                        let partition = fence.partition;
                        tracing::warn!(%partition, fence = fence.number, "the database refuses it: another has the partition under a later lease");
                    }
                    fence.end();
                    match part.to {
                        To::Session { partition, after, .. } => self.done(partition, Done::Fenced { after }),
                        To::Caller(reply) => drop(reply.send(Err(WriteError::Fenced))),
                        To::Begin { .. } | To::End { .. } | To::Take { .. } | To::Stop => {}
                    }
                }
            }
        }
    }

    fn failed(&mut self, parts: Vec<Part<T>>, error: StoreError) {
        self.counts.failed.fetch_add(1, Ordering::Relaxed);
        let error = Arc::new(error);
        let mut sessions: BTreeSet<Partition> = parts
            .iter()
            .filter_map(|part| match &part.to {
                To::Session { partition, .. } => Some(*partition),
                _ => None,
            })
            .collect();
        let has_no_part = sessions.insert(Partition::FIRST);
        for partition in &sessions {
            if let Some(session) = self.sessions.get_mut(partition) {
                session.commit_generation += 1;
            }
        }
        if has_no_part {
            // It raises the alert.
            self.fail(Partition::FIRST, Vec::new(), Some(error.clone()));
        }
        for part in parts {
            match part.to {
                To::Session { partition, after, .. } => self.fail(partition, after, Some(error.clone())),
                // A caller who does not wait any more needs no answer.
                To::Caller(reply) => drop(reply.send(Err(WriteError::Store(error.to_string())))),
                To::Begin { .. } | To::End { .. } | To::Take { .. } | To::Stop => {}
            }
        }
    }

    fn tell(&self, parts: Vec<Part<T>>, written: Vec<Written>) {
        let mut written = written.into_iter();
        for part in parts {
            let of_job = written.by_ref().take(part.writes);
            match part.to {
                To::Session { partition, after, .. } => {
                    self.done(partition, Done::Written(after.into_iter().zip(of_job).collect()));
                }
                To::Caller(reply) => drop(reply.send(Ok(of_job.collect()))),
                To::Begin { .. } | To::End { .. } | To::Take { .. } | To::Stop => {}
            }
        }
    }

    pub(super) fn fail(&self, partition: Partition, after: Vec<T>, error: Option<Arc<StoreError>>) {
        self.done(
            partition,
            Done::Failed { after, commit_generation: self.commit_generation(partition), error },
        );
    }

    pub(super) fn done(&self, partition: Partition, done: Done<T>) {
        if let Some(session) = self.sessions.get(&partition) {
            // It may have ended: then nobody is to be told.
            let _ = session.done.send(done);
        }
    }

    fn commit_generation(&self, partition: Partition) -> u64 {
        self.sessions.get(&partition).map_or(0, |session| session.commit_generation)
    }
}
