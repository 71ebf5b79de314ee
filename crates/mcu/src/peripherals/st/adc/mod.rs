//! The analog-to-digital converters: in [`v1`] those of the STM32F1, F4 and F7, in [`v2`] those of
//! the F0 and the L4.

pub mod v1;
pub mod v2;

use crate::Events;

/// The code of `volts`, in so many bits, with the supply as reference.
fn code(volts: f64, supply_v: f64, bits: u32) -> u32 {
    let steps = f64::from(1u32 << bits);
    (steps * volts / supply_v).clamp(0.0, steps - 1.0) as u32
}

/// Conversions of `name` are started at `hz`, of which the data sheet allows `limit_hz`: the part
/// converts all the same, with less accuracy than is promised (the limit of fADC in the tables "ADC
/// characteristics"), and boards' firmware does it. No run stops there; it says so at its end.
fn check_clock(name: &str, hz: u64, limit_hz: u64, events: &mut Events) {
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
