//! Alerts about numbers: of a meter whose memory went back, and of a collector whose database did.

use crate::clock;
use crate::meters::PartitionState;
use std::time::Duration;
use wire::meter::MeterId;

/// The shortest interval between alerts about one meter's memory.
const QUIET: Duration = Duration::from_secs(3600);

/// Raises an alert: a meter sent another report under a stored number. It is not acknowledged.
pub(super) fn on_number_reused(state: &mut PartitionState, meter: MeterId, n: u32) {
    on_counter_rollback(state, meter, &format!("number {n} came with other contents than are stored"));
}

/// Raises an alert: a meter's memory was written again.
pub(super) fn on_counter_rollback(state: &mut PartitionState, meter: MeterId, how: &str) {
    let now = clock::now();
    let Some(known) = state.meters.get_mut(meter) else { return };
    if known.activity().memory_quiet_until.is_some_and(|until| now < until) {
        return;
    }
    known.active().memory_quiet_until = Some(now + QUIET);
    let named = state.global(meter);
    let detail = format!(
        "{how}: its EEPROM was written again, and numbers come twice under its keys, which is not safe. Replace them: \
         'wattseal meters rotate {named}', and write both new images"
    );
    state.alert(Some(meter), "number-reused", detail);
}

/// Raises an alert: a meter has taken commands that this collector does not know of.
pub(super) fn on_number_too_low(state: &mut PartitionState, meter: MeterId, last_m: u32) {
    let detail = format!(
        "it has taken commands up to number {last_m}, above all that this collector used: database and keys are older copies, or \
         somebody else has its keys. Commands go on above it"
    );
    state.alert(Some(meter), "command-numbers", detail);
    state.store_state(meter);
}
