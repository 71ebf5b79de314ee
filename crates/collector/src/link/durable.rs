//! The next steps after a write is durable, or failed.

use super::command::LinkError;
use super::meter_state::Named;
use super::pending::{PendingCommit, Submission};
use super::state::Link;
use crate::clock;
use crate::event::{self, CommandUpdate, Event};
use crate::gateway::Route;
use crate::store::{CommandRecord, NewAlert, NewCommand, NewUpdate, StoreError, Write, Written};
use crate::writer::Done;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use wire::meter::MeterId;

impl Link {
    /// Gives something to the store, or, while that takes nothing, keeps it for later.
    pub(super) fn store(&mut self, pending: PendingCommit) {
        let submitted = self.store_queue.submission(pending);
        if self.store_queue.is_paused() {
            self.keep(submitted);
        } else if let Some(write) = self.write_of(&submitted.pending) {
            self.store_queue.push(write, submitted);
        }
    }

    /// Gives a report to the store.
    pub(super) fn store_report(&mut self, write: Write, pending: PendingCommit) {
        let submitted = self.store_queue.submission(pending);
        self.store_queue.push(write, submitted);
    }

    fn write_of(&mut self, pending: &PendingCommit) -> Option<Write> {
        Some(match pending {
            // Submitted with its message, which is not kept here.
            PendingCommit::Report { .. } => return None,
            PendingCommit::State { meter, .. } => self.state_of(*meter)?,
            PendingCommit::Command { command, .. } => Write::Command(command.clone()),
            PendingCommit::NotGiven { meter, ticket } => {
                Write::CommandNotGiven { meter: self.global(*meter), ticket: *ticket, at_ms: self.now_ms }
            }
            PendingCommit::Progress { progress, .. } => Write::CommandProgress(progress.clone()),
            PendingCommit::Update { update, .. } => Write::Update(update.clone()),
            PendingCommit::UpdateNotBegun { meter, created_ms } => Write::UpdateNotBegun {
                meter: self.global(*meter),
                created_ms: *created_ms,
                at_ms: self.now_ms,
            },
            PendingCommit::UpdateProgress { progress, .. } => Write::UpdateProgress(progress.clone()),
            PendingCommit::Interval { meter, interval_s } => {
                Write::IntervalOf { meter: self.global(*meter), interval_s: *interval_s }
            }
            PendingCommit::Counts(counts) => Write::Counts(*counts),
            PendingCommit::Alert(alert) => Write::Alert(alert.clone()),
            PendingCommit::Action(action) => Write::Action(action.clone()),
            PendingCommit::Provisioned { provisioned, .. } => Write::Provisioned(provisioned.clone()),
            PendingCommit::Revoked { meter, at_ms, .. } => {
                Write::Revoked { meter: self.global(*meter), at_ms: *at_ms }
            }
        })
    }

    fn state_of(&self, meter: MeterId) -> Option<Write> {
        let (known, state) = (self.meters.get(&meter)?, self.collector.state(meter)?);
        let network = self.network();
        Some(Write::State { network, epoch: known.epoch, state: Box::new(state) })
    }

    /// Gives a meter's state to the store.
    pub(super) fn store_state(&mut self, meter: MeterId) {
        let Some(revision) = self.collector.state(meter).map(|state| state.revision) else { return };
        if let Some(known) = self.meters.get_mut(&meter) {
            known.active().saving = Some(revision);
        }
        self.store(PendingCommit::State { meter, revision });
    }

    /// Hands over the writes since the last time.
    pub(crate) fn flush(&mut self) {
        if !self.store_queue.flush(self.partition, self.fence.as_ref()) {
            tracing::error!("the store's thread has ended; nothing more can be stored");
            self.shared.store_ok.store(false, Ordering::Relaxed);
            self.ended = true;
        }
    }

    /// Submits the waiting writes again, when it is time.
    pub(super) fn retry_due(&mut self, now: Instant) {
        for submitted in self.store_queue.take_due(now) {
            if let Some(write) = self.write_of(&submitted.pending) {
                self.store_queue.push(write, submitted);
            }
        }
    }

    pub(super) fn done(&mut self, done: Done<Submission>) {
        self.trace = None;
        match done {
            Done::Written(written) => {
                self.store_queue.on_results(written.len());
                self.shared.store_ok.store(true, Ordering::Relaxed);
                for (submitted, written) in written {
                    self.on_durable(submitted.pending, written);
                }
            }
            Done::Failed { after: pending, commit_generation, error } => {
                self.store_queue.on_results(pending.len());
                self.store_queue.begin_generation(commit_generation);
                if let Some(error) = &error {
                    self.enter_retry(error);
                }
                let why = error.map_or_else(
                    || "what was given before it was not stored".into(),
                    |error| error.to_string(),
                );
                for submitted in pending {
                    self.on_failed(submitted, &why);
                }
            }
            Done::Fenced { after } => {
                // Nothing of it is said to be done: it comes again, to who has the partition now.
                self.store_queue.on_results(after.len());
                self.fenced();
            }
            Done::Damaged(found) => {
                let detail = format!(
                    "what is stored changed by itself: {found}. Look at the disk and the memory; bring the readings back from a backup \
                     (docs/how-to/collector/storage.md, \"Flipped bits\")"
                );
                self.alert(None, "damaged", detail);
            }
        }
    }

    /// Somebody else may have the partition: nothing more is written or sent.
    pub(super) fn fenced(&mut self) {
        if !self.ended {
            let partition = self.partition;
            tracing::warn!(%partition, "its lease is over: nothing more is written or acknowledged here");
        }
        self.ended = true;
    }

    fn enter_retry(&mut self, error: &Arc<StoreError>) {
        let now = clock::now();
        let is_alert_due = self.store_queue.pause(now);
        if self.shared.store_ok.swap(false, Ordering::Relaxed) {
            tracing::error!(%error, "nothing can be stored");
        }
        if self.tells_for_all() && is_alert_due {
            self.store_queue.on_alert(now);
            self.alert(None, "store", format!("readings could not be stored for a time: {error}"));
        }
    }

    fn keep(&mut self, mut submitted: Submission) {
        // The caller gets the error now; the write is done all the same when it can be.
        if let PendingCommit::Progress { answer, .. }
        | PendingCommit::UpdateProgress { answer, .. }
        | PendingCommit::Revoked { answer, .. } = &mut submitted.pending
            && let Some(answer) = answer.take()
        {
            drop(answer.send(Err(LinkError::Store("it is kept, and tried again".into()))));
        }
        self.store_queue.keep(submitted);
    }

    fn on_failed(&mut self, submitted: Submission, why: &str) {
        let store = || LinkError::Store(why.to_owned());
        match submitted.pending {
            PendingCommit::Report { meter, n, epoch, .. } => {
                if self.meters.get(&meter).is_some_and(|known| known.epoch == epoch) {
                    // It was handed out; after a rotation it is not any more.
                    let _ = self.collector.reject_report(meter, n);
                }
            }
            PendingCommit::Command { command, answer } => {
                // It may have been answered since, or the meter is gone.
                let _ = self.collector.withdraw(command.meter.meter, command.ticket);
                if let Some(answer) = answer {
                    drop(answer.send(Err(store())));
                }
                let NewCommand { meter, ticket, .. } = command;
                // It may be durable all the same, where it was the answer that was lost.
                self.store(PendingCommit::NotGiven { meter: meter.meter, ticket });
                self.store_state(meter.meter);
            }
            PendingCommit::Update { update, answer } => {
                if let Some(answer) = answer {
                    drop(answer.send(Err(store())));
                }
                let NewUpdate { meter, created_ms, .. } = update;
                // It may be durable all the same, where it was the answer that was lost.
                self.store(PendingCommit::UpdateNotBegun { meter: meter.meter, created_ms });
            }
            PendingCommit::Provisioned { answer, .. } => drop(answer.send(Err(store()))),
            _ => self.keep(submitted),
        }
    }

    fn on_durable(&mut self, pending: PendingCommit, written: Written) {
        match (pending, written) {
            (PendingCommit::Report { meter, epoch, n, heard_ms, route, mut receipts }, written) => {
                receipts.span("commit");
                self.trace = receipts.trace();
                self.on_report_durable((meter, epoch), n, (heard_ms, route), written);
                receipts.span("acknowledge");
                receipts.done();
                let trace_id = self.trace.take().map(tracing::field::display);
                tracing::debug!(
                    trace_id,
                    meter,
                    network = self.network().named(),
                    n,
                    "the store is done with a report"
                );
            }
            (PendingCommit::State { meter, revision }, _) => {
                self.collector.confirm_state(meter, revision);
                if let Some(known) = self.meters.get_mut(&meter)
                    && known.activity().saving.is_some_and(|saving| saving <= revision)
                {
                    known.active().saving = None;
                }
                self.check_due = true;
            }
            (PendingCommit::Command { command, answer }, Written::Command(record)) => {
                // The caller may be gone; the command stays.
                if let Some(answer) = answer {
                    drop(answer.send(Ok(record.id)));
                }
                let NewCommand { meter, ticket, .. } = command;
                let waits =
                    self.collector.commands(meter.meter).iter().any(|(waiting, ..)| *waiting == ticket);
                if let (true, Some(known)) = (waits, self.meters.get_mut(&meter.meter)) {
                    known.active().commands.insert(ticket, Named { id: record.id, attempts: 0 });
                }
                self.publish(Event::Command(CommandUpdate { id: record.id, meter, state: record.state }));
            }
            (PendingCommit::Progress { answer, .. }, Written::Command(record)) => {
                if let Some(answer) = answer {
                    drop(answer.send(Ok(())));
                }
                self.publish(Event::Command(CommandUpdate {
                    id: record.id,
                    meter: record.meter,
                    state: record.state,
                }));
            }
            (PendingCommit::NotGiven { .. }, Written::Command(record)) => {
                let CommandRecord { id, meter, state, .. } = *record;
                self.publish(Event::Command(CommandUpdate { id, meter, state }));
            }
            (PendingCommit::NotGiven { .. }, _) => {}
            (PendingCommit::Update { answer, .. }, Written::Update(record)) => {
                if let Some(answer) = answer {
                    drop(answer.send(Ok(0)));
                }
                self.on_update_begun(*record);
            }
            (PendingCommit::Update { update, answer }, _) => {
                if let Some(answer) = answer {
                    drop(answer.send(Err(LinkError::UnknownImage(update.image))));
                }
            }
            (PendingCommit::UpdateNotBegun { meter, .. }, _) => {
                self.publish(Event::Update { meter: self.global(meter) });
            }
            (PendingCommit::UpdateProgress { progress, answer }, written) => {
                if let Some(answer) = answer {
                    drop(answer.send(Ok(())));
                }
                if written == Written::Unknown {
                    self.update_replaced(progress.meter.meter, progress.created_ms);
                }
                self.publish(Event::Update { meter: progress.meter });
            }
            (PendingCommit::Alert(_), Written::Alert { alert, .. }) => self.publish(Event::Alert(alert)),
            (PendingCommit::Provisioned { provisioned, record, answer }, Written::Done) => {
                let added = self.add(*provisioned, *record);
                drop(answer.send(added));
            }
            (PendingCommit::Provisioned { provisioned, answer, .. }, _) => {
                drop(answer.send(Err(LinkError::State(provisioned.meter))));
            }
            (PendingCommit::Revoked { meter, answer, .. }, _) => {
                if let Some(answer) = answer {
                    drop(answer.send(Ok(())));
                }
                self.publish(Event::Meter { meter: self.global(meter) });
            }
            (PendingCommit::Interval { meter, .. }, _) => {
                self.publish(Event::Meter { meter: self.global(meter) });
            }
            (PendingCommit::Counts(_) | PendingCommit::Action(_), _) => {}
            (pending, written) => tracing::error!("the store said {written:?} of {pending:?}"),
        }
    }

    fn on_report_durable(
        &mut self,
        (meter, epoch): (MeterId, u32),
        n: u32,
        (heard_ms, route): (i64, Route),
        written: Written,
    ) {
        let Some(known) = self.meters.get_mut(&meter).filter(|known| known.epoch == epoch) else { return };
        let (event, lost) = match written {
            Written::Reading { reading, lost } => (Some(Event::Reading(reading)), lost),
            Written::Alert { alert, lost } => (Some(Event::Alert(alert)), lost),
            Written::Repeated => (None, 0),
            Written::NumberReused => {
                let _ = self.collector.number_reused(meter, n);
                self.number_reused(meter, n);
                return;
            }
            written => {
                let network = self.network().named();
                let trace_id = self.trace.map(tracing::field::display);
                tracing::error!(trace_id, meter, network, n, "the store did not take a report: {written:?}");
                let _ = self.collector.reject_report(meter, n);
                return;
            }
        };
        known.active().reports += u64::from(event.is_some());
        // Handed out and not confirmed: else it was another's, of which nothing must be said.
        let Ok(sent) = self.collector.confirm_report(meter, n) else { return };
        self.transmit(route, &sent);
        self.clock.stored(heard_ms);
        self.shared.newest_ms.fetch_max(heard_ms, Ordering::Relaxed);
        self.counted.reports += u64::from(event.is_some());
        if lost > 0 {
            let detail =
                format!("{lost} readings were lost in the meter, for want of room, since its last report");
            self.alert(Some(meter), "lost-readings", detail);
        }
        if let Some(event) = event {
            self.publish(event);
        }
    }

    /// Publishes to subscribers.
    pub(super) fn publish(&self, event: event::Event) {
        self.subscribers.publish(event);
    }

    /// Raises an alert of the collector's own.
    pub(super) fn alert(&mut self, meter: Option<MeterId>, cause: &str, detail: String) {
        let trace_id = self.trace.map(tracing::field::display);
        tracing::warn!(trace_id, meter, network = self.network().named(), cause, detail, "alert");
        let meter = meter.map(|meter| self.global(meter));
        let alert = NewAlert { meter, at_ms: self.now_ms, cause: cause.to_owned(), detail };
        self.store(PendingCommit::Alert(alert));
    }
}
