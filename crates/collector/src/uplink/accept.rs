//! Step 4: the engine accepts an opened message, and its outcome decides what follows.

use super::acknowledge::acknowledge_duplicate;
use super::numbers::{on_counter_rollback, on_number_reused, on_number_too_low};
use super::receive::Origin;
use super::store::store_report;
use crate::downlink::on_answer;
use crate::meters::{PartitionState, since_2000_ms};
use wire::meter::{MeterId, OpenedMessage, ReceivedReport, UplinkOutcome};

/// Has the engine accept a message, and chooses the next step by the outcome.
pub(super) fn accept(state: &mut PartitionState, message: OpenedMessage, mut origin: Origin) {
    origin.receipts.span("verify");
    state.trace = origin.receipts.trace();
    let meter = message.meter();
    match state.meters.engine.accept(message, since_2000_ms(origin.heard_ms)) {
        UplinkOutcome::Report(accepted) => return on_report(state, *accepted, origin),
        UplinkOutcome::OldNumber(accepted) => return on_old_number(state, *accepted, origin),
        // The meter is reached there with what shows how it seals.
        UplinkOutcome::OtherSuite => update_route(state, meter, &origin),
        UplinkOutcome::Duplicate(sent) => acknowledge_duplicate(state, &sent, &origin),
        UplinkOutcome::NumberReused(accepted) => on_number_reused(state, meter, accepted.report.n),
        UplinkOutcome::NumberTooLow { last_m, .. } => {
            update_route(state, meter, &origin);
            state.check_due = true;
            on_number_too_low(state, meter, last_m);
        }
        // Before it is durable: a command whose answer is lost is sent again, and answered again.
        UplinkOutcome::Answer(answered) => {
            update_route(state, meter, &origin);
            on_answer(state, *answered);
        }
        UplinkOutcome::Busy => {
            let Some(known) = state.meters.get_mut(meter) else { return origin.receipts.done() };
            let known = known.active();
            known.repeats += 1;
            // Another report is being stored: a queue delivers this one again.
            if known.handed_out.is_some_and(|n| n as u8 != origin.number_lsb) {
                return;
            }
        }
        UplinkOutcome::Piece | UplinkOutcome::Rejected(_) => {}
    }
    origin.receipts.done();
}

fn update_route(state: &mut PartitionState, meter: MeterId, origin: &Origin) {
    let route = (origin.route, origin.rssi_dbm);
    // It can be reached now.
    state.check_due |= state.meters.update_route(meter, origin.heard_ms, route);
}

fn on_report(state: &mut PartitionState, accepted: ReceivedReport, origin: Origin) {
    let meter = accepted.meter;
    update_route(state, meter, &origin);
    state.check_due |= state.meters.is_any_busy();
    if let Some(known) = state.meters.get_mut(meter) {
        known.active().lost = accepted.report.lost;
    }
    if accepted.counter_rollback {
        on_counter_rollback(state, meter, "it counts its starts from the beginning again");
    }
    store_report(state, accepted, origin);
}

/// Submits a report whose number was taken before the service began: the store compares them. It
/// may be an attacker who sends it again.
fn on_old_number(state: &mut PartitionState, accepted: ReceivedReport, origin: Origin) {
    if let Some(known) = state.meters.get_mut(accepted.meter) {
        known.active().repeats += 1;
        state.counted.repeats += 1;
    }
    store_report(state, accepted, origin);
}
