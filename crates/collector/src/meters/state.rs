//! The state of a partition, which its session's thread has for itself. Each step of the uplink and
//! of the downlink works on it.

use super::error::RequestError;
use super::lease::PartitionLease;
use super::outlets::Outlets;
use super::pending::{PendingCommit, Submission};
use super::snapshot::Snapshot;
use super::store_queue::StoreQueue;
use super::table::MeterTable;
use crate::clock;
use crate::event::Event;
use crate::gateway::Route;
use crate::network::{GlobalMeterId, NetworkId};
use crate::store::{METERS_EPOCH_S, NewAlert, StoreError, Write};
use opentelemetry::trace::TraceId;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use wire::meter::{MeterId, Transmission};

/// The state of a partition.
pub(crate) struct PartitionState {
    pub(crate) lease: PartitionLease,
    pub(crate) meters: MeterTable,
    pub(crate) store_queue: StoreQueue,
    outlets: Outlets,
    pub(crate) counted: Snapshot,
    /// The trace of the packet that is worked on, if it came with one.
    pub(crate) trace: Option<TraceId>,
    /// Unix ms, as of this turn.
    pub(crate) now_ms: i64,
    /// Something may be due for a meter.
    pub(crate) check_due: bool,
}

impl PartitionState {
    pub(crate) fn new(
        lease: PartitionLease,
        meters: MeterTable,
        store_queue: StoreQueue,
        outlets: Outlets,
    ) -> PartitionState {
        PartitionState {
            lease,
            meters,
            store_queue,
            outlets,
            counted: Snapshot::default(),
            trace: None,
            now_ms: clock::unix_ms(),
            check_due: true,
        }
    }

    pub(crate) fn network(&self) -> NetworkId {
        self.lease.network()
    }

    pub(crate) fn global(&self, meter: MeterId) -> GlobalMeterId {
        self.lease.global(meter)
    }

    pub(crate) fn update_time(&mut self) {
        self.now_ms = clock::unix_ms();
    }

    /// Submits a write, or keeps it while the store takes nothing.
    pub(crate) fn store(&mut self, pending: PendingCommit) {
        let submitted = self.store_queue.submission(pending);
        if self.store_queue.is_paused() {
            self.keep(submitted);
        } else if let Some(write) = self.write_of(&submitted.pending) {
            self.store_queue.push(write, submitted);
        }
    }

    /// Submits a report, whose message is not kept here.
    pub(crate) fn store_report(&mut self, write: Write, pending: PendingCommit) {
        let submitted = self.store_queue.submission(pending);
        self.store_queue.push(write, submitted);
    }

    /// Submits a meter's state.
    pub(crate) fn store_state(&mut self, meter: MeterId) {
        let Some(revision) = self.meters.engine.state(meter).map(|state| state.revision) else { return };
        if let Some(known) = self.meters.get_mut(meter) {
            known.active().saving = Some(revision);
        }
        self.store(PendingCommit::State { meter, revision });
    }

    /// Submits the counts that the store does not have yet.
    pub(crate) fn store_counts(&mut self) {
        if self.store_queue.is_paused() {
            return;
        }
        for counts in self.meters.take_counts() {
            self.store(PendingCommit::Counts(counts));
        }
    }

    fn write_of(&self, pending: &PendingCommit) -> Option<Write> {
        match pending {
            PendingCommit::State { meter, .. } => self.meters.state_write(*meter),
            pending => pending.write(self.network(), self.now_ms),
        }
    }

    /// Hands over the writes since the last time.
    pub(crate) fn flush(&mut self) {
        if !self.store_queue.flush(self.lease.partition, self.lease.fence.as_ref()) {
            tracing::error!("the store's thread has ended; nothing more can be stored");
            self.outlets.shared.store_ok.store(false, Ordering::Relaxed);
            self.lease.end();
        }
    }

    /// Submits the waiting writes again, when it is time.
    pub(crate) fn retry_due(&mut self, now: Instant) {
        for submitted in self.store_queue.take_due(now) {
            if let Some(write) = self.write_of(&submitted.pending) {
                self.store_queue.push(write, submitted);
            }
        }
    }

    /// Keeps a write for another attempt. Its caller gets the error now.
    pub(crate) fn keep(&mut self, mut submitted: Submission) {
        if let PendingCommit::Progress { answer, .. }
        | PendingCommit::UpdateProgress { answer, .. }
        | PendingCommit::Revoked { answer, .. } = &mut submitted.pending
            && let Some(answer) = answer.take()
        {
            drop(answer.send(Err(RequestError::Store("it is kept, and tried again".into()))));
        }
        self.store_queue.keep(submitted);
    }

    /// Records that the store has written.
    pub(crate) fn on_stored(&mut self) {
        self.outlets.shared.store_ok.store(true, Ordering::Relaxed);
    }

    /// Pauses after a transaction that failed.
    pub(crate) fn on_store_error(&mut self, error: &Arc<StoreError>) {
        let now = clock::now();
        let is_alert_due = self.store_queue.pause(now);
        if self.outlets.shared.store_ok.swap(false, Ordering::Relaxed) {
            tracing::error!(%error, "nothing can be stored");
        }
        if self.lease.reports_for_all() && is_alert_due {
            self.store_queue.on_alert(now);
            self.alert(None, "store", format!("readings could not be stored for a time: {error}"));
        }
    }

    /// Returns when the newest stored report of any partition was heard: Unix ms.
    pub(crate) fn newest_ms(&self) -> i64 {
        self.outlets.shared.newest_ms.load(Ordering::Relaxed)
    }

    /// Records when a stored report was heard.
    pub(crate) fn on_newest(&self, heard_ms: i64) {
        self.outlets.shared.newest_ms.fetch_max(heard_ms, Ordering::Relaxed);
    }

    /// Sends packets, while the lease holds.
    pub(crate) fn transmit(&mut self, route: Route, sent: &Transmission) {
        if self.lease.may_send() {
            self.counted.sent_packets += sent.packets.len() as u64;
            self.outlets.gateways.transmit(route, &sent.packets);
        }
    }

    /// Publishes a durable event to subscribers.
    pub(crate) fn publish(&self, event: Event) {
        self.outlets.subscribers.publish(event);
    }

    /// Raises an alert of the collector's own.
    pub(crate) fn alert(&mut self, meter: Option<MeterId>, cause: &str, detail: String) {
        let trace_id = self.trace.map(tracing::field::display);
        tracing::warn!(trace_id, meter, network = self.network().named(), cause, detail, "alert");
        let meter = meter.map(|meter| self.global(meter));
        let alert = NewAlert { meter, at_ms: self.now_ms, cause: cause.to_owned(), detail };
        self.store(PendingCommit::Alert(alert));
    }
}

/// Unix time in ms as meters count it: since 2000; 0 before that.
pub(crate) fn since_2000_ms(unix_ms: i64) -> u64 {
    u64::try_from(unix_ms - METERS_EPOCH_S * 1000).unwrap_or(0)
}
