//! The results of writes: the next steps after they are durable, or failed.

use super::registration;
use crate::downlink::Downlink;
use crate::event::{CommandUpdate, Event};
use crate::meters::{Named, PartitionState, PendingCommit, RequestError, Submission};
use crate::store::{CommandRecord, NewCommand, NewUpdate, Written};
use crate::uplink::{SubmittedReport, on_report_failed, on_report_stored};
use crate::writer::Done;

/// Goes on with the results of a transaction.
pub(super) fn on_done(state: &mut PartitionState, downlink: &mut Downlink, done: Done<Submission>) {
    state.trace = None;
    match done {
        Done::Written(written) => {
            state.store_queue.on_results(written.len());
            state.on_stored();
            for (submitted, written) in written {
                on_durable(state, downlink, submitted.pending, written);
            }
        }
        Done::Failed { after: pending, commit_generation, error } => {
            state.store_queue.on_results(pending.len());
            state.store_queue.begin_generation(commit_generation);
            if let Some(error) = &error {
                state.on_store_error(error);
            }
            let why = error
                .map_or_else(|| "what was given before it was not stored".into(), |error| error.to_string());
            for submitted in pending {
                on_failed(state, submitted, &why);
            }
        }
        Done::Fenced { after } => {
            // Nothing of it is said to be done: it comes again, to who has the partition now.
            state.store_queue.on_results(after.len());
            state.lease.on_fenced();
        }
        Done::Damaged(found) => {
            let detail = format!(
                "what is stored changed by itself: {found}. Look at the disk and the memory; bring the readings back from a backup \
                 (docs/how-to/collector/storage.md, \"Flipped bits\")"
            );
            state.alert(None, "damaged", detail);
        }
    }
}

fn on_failed(state: &mut PartitionState, submitted: Submission, why: &str) {
    let store = || RequestError::Store(why.to_owned());
    match submitted.pending {
        PendingCommit::Report { meter, n, epoch, .. } => on_report_failed(state, (meter, epoch), n),
        PendingCommit::Command { command, answer } => {
            let NewCommand { meter, ticket, .. } = command;
            // It may have been answered since, or the meter is gone.
            let _ = state.meters.engine.withdraw(meter.meter, ticket);
            if let Some(answer) = answer {
                drop(answer.send(Err(store())));
            }
            // It may be durable all the same, where it was the answer that was lost.
            state.store(PendingCommit::NotGiven { meter: meter.meter, ticket });
            state.store_state(meter.meter);
        }
        PendingCommit::Update { update, answer } => {
            if let Some(answer) = answer {
                drop(answer.send(Err(store())));
            }
            let NewUpdate { meter, created_ms, .. } = update;
            // It may be durable all the same, where it was the answer that was lost.
            state.store(PendingCommit::UpdateNotBegun { meter: meter.meter, created_ms });
        }
        PendingCommit::Provisioned { answer, .. } => drop(answer.send(Err(store()))),
        _ => state.keep(submitted),
    }
}

fn on_durable(state: &mut PartitionState, downlink: &mut Downlink, pending: PendingCommit, written: Written) {
    match (pending, written) {
        (PendingCommit::Report { meter, epoch, n, heard_ms, route, receipts }, written) => {
            let report = SubmittedReport { meter, epoch, n, heard_ms, route };
            on_report_stored(state, report, receipts, written);
        }
        (PendingCommit::State { meter, revision }, _) => {
            state.meters.engine.confirm_state(meter, revision);
            if let Some(known) = state.meters.get_mut(meter)
                && known.activity().saving.is_some_and(|saving| saving <= revision)
            {
                known.active().saving = None;
            }
            state.check_due = true;
        }
        (PendingCommit::Command { command, answer }, Written::Command(record)) => {
            // The caller may be gone; the command stays.
            if let Some(answer) = answer {
                drop(answer.send(Ok(record.id)));
            }
            on_command_stored(state, &command, *record);
        }
        (PendingCommit::Progress { answer, .. }, Written::Command(record)) => {
            if let Some(answer) = answer {
                drop(answer.send(Ok(())));
            }
            publish_command(state, *record);
        }
        (PendingCommit::NotGiven { .. }, Written::Command(record)) => publish_command(state, *record),
        (PendingCommit::NotGiven { .. }, _) => {}
        (PendingCommit::Provisioned { provisioned, record, answer }, Written::Done) => {
            let added = registration::add(state, *provisioned, *record);
            drop(answer.send(added));
        }
        (PendingCommit::Provisioned { provisioned, answer, .. }, _) => {
            drop(answer.send(Err(RequestError::State(provisioned.meter))));
        }
        (PendingCommit::Revoked { meter, answer, .. }, _) => {
            if let Some(answer) = answer {
                drop(answer.send(Ok(())));
            }
            state.publish(Event::Meter { meter: state.global(meter) });
        }
        (PendingCommit::Interval { meter, .. }, _) => {
            state.publish(Event::Meter { meter: state.global(meter) });
        }
        (PendingCommit::Alert(_), Written::Alert { alert, .. }) => state.publish(Event::Alert(alert)),
        (PendingCommit::Counts(_) | PendingCommit::Action(_), _) => {}
        (pending, written) => on_update_durable(state, downlink, pending, written),
    }
}

fn on_update_durable(
    state: &mut PartitionState,
    downlink: &mut Downlink,
    pending: PendingCommit,
    written: Written,
) {
    match (pending, written) {
        (PendingCommit::Update { answer, .. }, Written::Update(record)) => {
            if let Some(answer) = answer {
                drop(answer.send(Ok(0)));
            }
            downlink.rollout.on_begun(state, *record);
        }
        (PendingCommit::Update { update, answer }, _) => {
            if let Some(answer) = answer {
                drop(answer.send(Err(RequestError::UnknownImage(update.image))));
            }
        }
        (PendingCommit::UpdateNotBegun { meter, .. }, _) => {
            state.publish(Event::Update { meter: state.global(meter) });
        }
        (PendingCommit::UpdateProgress { progress, answer }, written) => {
            if let Some(answer) = answer {
                drop(answer.send(Ok(())));
            }
            if written == Written::Unknown {
                downlink.rollout.on_replaced(state, progress.meter.meter, progress.created_ms);
            }
            state.publish(Event::Update { meter: progress.meter });
        }
        (pending, written) => tracing::error!("the store said {written:?} of {pending:?}"),
    }
}

/// Gives a waiting command its name in the API.
fn on_command_stored(state: &mut PartitionState, command: &NewCommand, record: CommandRecord) {
    let (meter, ticket) = (command.meter.meter, command.ticket);
    let is_waiting = state.meters.engine.commands(meter).iter().any(|(waiting, ..)| *waiting == ticket);
    if let (true, Some(known)) = (is_waiting, state.meters.get_mut(meter)) {
        known.active().commands.insert(ticket, Named { id: record.id, attempts: 0 });
    }
    publish_command(state, CommandRecord { meter: command.meter, ..record });
}

fn publish_command(state: &PartitionState, CommandRecord { id, meter, state: of_it, .. }: CommandRecord) {
    state.publish(Event::Command(CommandUpdate { id, meter, state: of_it }));
}
