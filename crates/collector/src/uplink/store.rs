//! Step 5: an accepted report goes to the store's thread.

use super::receive::Origin;
use crate::meters::{PartitionState, PendingCommit};
use crate::store::{NewReport, Write};
use wire::meter::ReceivedReport;

/// Submits a report that the engine has handed out.
pub(super) fn store_report(state: &mut PartitionState, accepted: ReceivedReport, origin: Origin) {
    let ReceivedReport { meter, suite, report, sealed, .. } = accepted;
    let Some(known) = state.meters.get_mut(meter) else { return origin.receipts.done() };
    known.active().handed_out = Some(report.n);
    if state.store_queue.is_paused() {
        // It was handed out just now. A queue has its packets come again.
        let _ = state.meters.engine.reject_report(meter, report.n);
        return;
    }
    let epoch = known.epoch;
    let Origin { route, rssi_dbm, heard_ms, receipts, .. } = origin;
    let pending = PendingCommit::Report { meter, epoch, n: report.n, heard_ms, route, receipts };
    let write = NewReport { meter: state.global(meter), epoch, heard_ms, suite, report, sealed, rssi_dbm };
    state.store_report(Write::Report(write), pending);
}
