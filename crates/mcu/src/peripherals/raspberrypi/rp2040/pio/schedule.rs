//! The time at which a state machine of a PIO block goes on.

use super::machine::Wait;

/// The time at which a state machine goes on.
#[derive(Clone, Copy, Default)]
pub struct Schedule {
    /// The beginning of one of its cycles, in parts of 256 of a cycle of clk_sys.
    pub origin: u64,
    /// The beginning of its next cycle that is none of a delay; none while it is off or waits.
    pub next: Option<u64>,
    /// Cycles of a delay that are left while it is off.
    pub delay: u64,
    pub waits: Option<Wait>,
}

impl Schedule {
    /// The beginning of its first cycle after the cycle `now` of clk_sys.
    pub fn after(&self, now: u64, period: u64) -> u64 {
        let bound = now * 256 + 1;
        self.origin + bound.saturating_sub(self.origin).div_ceil(period) * period
    }

    /// Cycles of a delay that are left after the cycle `now` of clk_sys.
    pub fn left(&self, now: u64, period: u64) -> u64 {
        self.next.map_or(self.delay, |next| next.saturating_sub(self.after(now, period)) / period)
    }
}
