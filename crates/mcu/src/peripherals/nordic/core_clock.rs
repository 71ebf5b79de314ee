//! Clock of the core, in which the peripherals count.

/// The core's clock, as after power-up and ever after.
pub(super) const CORE_HZ: u64 = 64_000_000;

/// Core cycles of so many microseconds, at least.
pub(super) fn cycles_of_us(us: u64, clock_hz: u64) -> u64 {
    (us * clock_hz).div_ceil(1_000_000)
}
