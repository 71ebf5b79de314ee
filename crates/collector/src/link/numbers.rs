//! Alerts about numbers: of a meter whose memory went back, and of a collector whose database did.

use super::state::Link;
use crate::clock;
use std::time::Duration;
use wire::meter::MeterId;

/// A meter whose memory went back is told of once in that time.
const QUIET: Duration = Duration::from_secs(3600);
/// Meters that an alert names at most.
const NAMED_MAX: usize = 10;

impl Link {
    /// The database does not know these meters, with whose keys commands were sent.
    pub(super) fn forgotten(&mut self, meters: &[MeterId]) {
        if meters.is_empty() {
            return;
        }
        let named: Vec<String> =
            meters.iter().take(NAMED_MAX).map(|meter| self.global(*meter).to_string()).collect();
        let more = if meters.len() > NAMED_MAX { " and others" } else { "" };
        let detail = format!(
            "the database does not know meter {}{more}, whose keys were used: it is new, or an older copy. Commands go on with numbers \
             above all that were used; readings that were acknowledged since the copy are not in it",
            named.join(", ")
        );
        self.alert(None, "restored", detail);
    }

    /// A meter sent another report under a number that is stored. It is not acknowledged.
    pub(super) fn number_reused(&mut self, meter: MeterId, n: u32) {
        self.counter_rollback(meter, &format!("number {n} came with other contents than are stored"));
    }

    /// A meter's memory was written again.
    pub(super) fn counter_rollback(&mut self, meter: MeterId, how: &str) {
        let now = clock::now();
        let Some(known) = self.meters.get_mut(&meter) else { return };
        if known.activity().memory_quiet_until.is_some_and(|until| now < until) {
            return;
        }
        known.active().memory_quiet_until = Some(now + QUIET);
        let named = self.global(meter);
        let detail = format!(
            "{how}: its EEPROM was written again, and numbers come twice under its keys, which is not safe. Replace them: \
             './wattseal meters rotate {named}', and write both new images"
        );
        self.alert(Some(meter), "number-reused", detail);
    }

    /// A meter has taken commands that this collector does not know of.
    pub(super) fn on_number_too_low(&mut self, meter: MeterId, last_m: u32) {
        let detail = format!(
            "it has taken commands up to number {last_m}, above all that this collector used: database and keys are older copies, or \
             somebody else has its keys. Commands go on above it"
        );
        self.alert(Some(meter), "command-numbers", detail);
        self.store_state(meter);
    }
}
