//! Step 6: a durable report is confirmed, acknowledged and published.

use super::numbers::on_number_reused;
use super::receive::Origin;
use crate::event::Event;
use crate::gateway::Route;
use crate::meters::{PartitionState, Receipts};
use crate::store::Written;
use wire::meter::{MeterId, Transmission};

/// A report that was submitted to the store.
pub(crate) struct SubmittedReport {
    pub(crate) meter: MeterId,
    pub(crate) epoch: u32,
    pub(crate) n: u32,
    pub(crate) heard_ms: i64,
    pub(crate) route: Route,
}

/// Acknowledges a report that the store is done with, and tells the queue of its packets.
pub(crate) fn on_report_stored(
    state: &mut PartitionState,
    report: SubmittedReport,
    mut receipts: Receipts,
    written: Written,
) {
    let (meter, n) = (report.meter, report.n);
    receipts.span("commit");
    state.trace = receipts.trace();
    acknowledge(state, report, written);
    receipts.span("acknowledge");
    receipts.done();
    let trace_id = state.trace.take().map(tracing::field::display);
    let network = state.network().named();
    tracing::debug!(trace_id, meter, network, n, "the store is done with a report");
}

/// Takes back a report that could not be stored: the meter sends it again.
pub(crate) fn on_report_failed(state: &mut PartitionState, (meter, epoch): (MeterId, u32), n: u32) {
    if state.meters.get_of_epoch(meter, epoch).is_some() {
        // It was handed out; after a rotation it is not any more.
        let _ = state.meters.engine.reject_report(meter, n);
    }
}

fn acknowledge(state: &mut PartitionState, report: SubmittedReport, written: Written) {
    let SubmittedReport { meter, epoch, n, heard_ms, route } = report;
    let Some(known) = state.meters.get_of_epoch(meter, epoch) else { return };
    let (event, lost) = match written {
        Written::Reading { reading, lost } => (Some(Event::Reading(reading)), lost),
        Written::Alert { alert, lost } => (Some(Event::Alert(alert)), lost),
        Written::Repeated => (None, 0),
        Written::NumberReused => {
            let _ = state.meters.engine.number_reused(meter, n);
            on_number_reused(state, meter, n);
            return;
        }
        written => {
            let network = state.network().named();
            let trace_id = state.trace.map(tracing::field::display);
            tracing::error!(trace_id, meter, network, n, "the store did not take a report: {written:?}");
            let _ = state.meters.engine.reject_report(meter, n);
            return;
        }
    };
    known.active().reports += u64::from(event.is_some());
    // Handed out and not confirmed: else it was another's, of which nothing must be said.
    let Ok(sent) = state.meters.engine.confirm_report(meter, n) else { return };
    state.transmit(route, &sent);
    state.on_newest(heard_ms);
    state.counted.reports += u64::from(event.is_some());
    if lost > 0 {
        let detail =
            format!("{lost} readings were lost in the meter, for want of room, since its last report");
        state.alert(Some(meter), "lost-readings", detail);
    }
    if let Some(event) = event {
        state.publish(event);
    }
}

/// Acknowledges a report that is stored already. It may be an attacker who sends it again: only the
/// acknowledgement goes there.
pub(super) fn acknowledge_duplicate(state: &mut PartitionState, sent: &Transmission, origin: &Origin) {
    let Some(known) = state.meters.get_mut(sent.meter) else { return };
    known.active().repeats += 1;
    state.counted.repeats += 1;
    state.transmit(origin.route, sent);
}
