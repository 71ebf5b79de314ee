//! A converter's clock beyond what its data sheet allows: the part converts all the same, with less accuracy than is promised (the limit of
//! fADC in the tables "ADC characteristics"), and boards' firmware does it. No run stops there; it says so at its end.

use crate::Events;

/// Conversions of `name` are started at `hz`, of which `limit_hz` are allowed.
pub(super) fn look(name: &str, hz: u64, limit_hz: u64, events: &mut Events) {
    if hz > limit_hz {
        let megahertz = |hz: u64| hz as f64 / 1e6;
        events.pass_over(
            format!(
                "{name} converts at {} MHz; the data sheet allows {} MHz, and promises nothing of what it reads above",
                megahertz(hz),
                megahertz(limit_hz)
            )
            .into(),
        );
    }
}
