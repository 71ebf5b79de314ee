//! The queue of a session's writes to the store: those of this turn, those in flight, and those
//! that wait until the store takes writes again.

use super::pending::{PendingCommit, Submission};
use crate::fence::Fence;
use crate::partition::Partition;
use crate::store::Write;
use crate::writer::{Counts, Done, Jobs, SessionJob};
use crossbeam_channel::Receiver;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The pause after a transaction that failed.
const PAUSE: Duration = Duration::from_secs(1);
/// The shortest interval between alerts about the store.
const ALERT_INTERVAL: Duration = Duration::from_secs(3600);
/// Alerts that wait for the store at most. Meters and commands bound the other writes.
const ALERTS_MAX: usize = 1000;

/// The queue of a session's writes.
pub(crate) struct StoreQueue {
    jobs: Arc<Jobs<Submission>>,
    pub(crate) done: Receiver<Done<Submission>>,
    pub(crate) writes: Vec<Write>,
    pub(crate) submitted: Vec<Submission>,
    submissions: u64,
    in_flight: usize,
    commit_generation: u64,
    /// Nothing is stored before that.
    pub(crate) paused_until: Option<Instant>,
    /// The writes for the end of the pause.
    pub(crate) waiting: Vec<Submission>,
    quiet_until: Option<Instant>,
}

impl StoreQueue {
    pub(crate) fn new(jobs: Arc<Jobs<Submission>>, done: Receiver<Done<Submission>>) -> StoreQueue {
        StoreQueue {
            jobs,
            done,
            writes: Vec::new(),
            submitted: Vec::new(),
            submissions: 0,
            in_flight: 0,
            commit_generation: 0,
            paused_until: None,
            waiting: Vec::new(),
            quiet_until: None,
        }
    }

    /// Numbers a pending commit.
    pub(crate) fn submission(&mut self, pending: PendingCommit) -> Submission {
        self.submissions += 1;
        Submission { number: self.submissions, pending }
    }

    /// Adds a write to this turn's.
    pub(crate) fn push(&mut self, write: Write, submitted: Submission) {
        self.writes.push(write);
        self.submitted.push(submitted);
    }

    /// Hands this turn's writes over. Returns false if the store's thread has ended.
    pub(crate) fn flush(&mut self, partition: Partition, fence: Option<&Arc<Fence>>) -> bool {
        if self.writes.is_empty() {
            return true;
        }
        let (writes, submitted) = (std::mem::take(&mut self.writes), std::mem::take(&mut self.submitted));
        self.in_flight += submitted.len();
        let commit_generation = self.commit_generation;
        let session = SessionJob { partition, commit_generation, fence: fence.cloned() };
        self.jobs.give(session, writes, submitted)
    }

    /// Removes results from those in flight.
    pub(crate) fn on_results(&mut self, count: usize) {
        self.in_flight -= count;
    }

    /// Begins the next generation: later writes of an earlier one fail.
    pub(crate) fn begin_generation(&mut self, commit_generation: u64) {
        self.commit_generation = commit_generation;
    }

    /// Says if all submitted writes are stored or given up.
    pub(crate) fn is_idle(&self) -> bool {
        self.in_flight == 0 && self.writes.is_empty()
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.paused_until.is_some()
    }

    /// Pauses after a failure. Returns whether an alert about it is due.
    pub(crate) fn pause(&mut self, now: Instant) -> bool {
        self.paused_until = Some(now + PAUSE);
        self.quiet_until.is_none_or(|quiet| now >= quiet)
    }

    /// Records an alert about the store.
    pub(crate) fn on_alert(&mut self, now: Instant) {
        self.quiet_until = Some(now + ALERT_INTERVAL);
    }

    /// Ends a pause now.
    pub(crate) fn end_pause(&mut self, now: Instant) {
        self.paused_until = self.paused_until.map(|_| now);
    }

    /// Keeps a write for the end of the pause; drops an alert if too many wait.
    pub(crate) fn keep(&mut self, submitted: Submission) {
        let is_alert = |submitted: &Submission| matches!(submitted.pending, PendingCommit::Alert(_));
        let alerts = || self.waiting.iter().filter(|submitted| is_alert(submitted)).count();
        if is_alert(&submitted) && alerts() >= ALERTS_MAX {
            tracing::warn!("an alert was lost: {:?}", submitted.pending);
            return;
        }
        self.waiting.push(submitted);
    }

    /// Returns the waiting writes in their order, if the pause is over.
    pub(crate) fn take_due(&mut self, now: Instant) -> Vec<Submission> {
        if self.paused_until.is_none_or(|until| now < until) {
            return Vec::new();
        }
        self.paused_until = None;
        let mut due = std::mem::take(&mut self.waiting);
        due.sort_by_key(|submitted| submitted.number);
        due
    }

    /// The counts of the store's transactions.
    pub(crate) fn counts(&self) -> &Counts {
        self.jobs.counts()
    }
}
