//! Ticks of one clock by the cycles of another, neither of which need be a multiple of the other.

/// A count of ticks that goes on while the core's clock and its own change.
#[derive(Clone, Copy)]
pub(super) struct Ticks {
    hz: u64,
    core_hz: u64,
    /// The cycle up to which ticks have been counted.
    since: u64,
    /// Part of a tick that had gone by then, in parts of `core_hz`.
    part: u64,
}

impl Ticks {
    pub fn new() -> Ticks {
        Ticks { hz: 0, core_hz: 1_000_000, since: 0, part: 0 }
    }

    /// The ticks that have come since it was last asked.
    pub fn take(&mut self, now: u64) -> u64 {
        let cycles = now.saturating_sub(self.since);
        self.since = self.since.max(now);
        let parts = u128::from(cycles) * u128::from(self.hz) + u128::from(self.part);
        self.part = (parts % u128::from(self.core_hz)) as u64;
        (parts / u128::from(self.core_hz)) as u64
    }

    /// The cycle at which as many ticks as these will have come since it was last asked.
    pub fn cycle_of(&self, ticks: u64) -> Option<u64> {
        let parts = u128::from(ticks) * u128::from(self.core_hz);
        let cycles = parts.saturating_sub(self.part.into()).div_ceil(u128::from(self.hz).max(1));
        (self.hz != 0).then(|| self.since.saturating_add(u64::try_from(cycles).unwrap_or(u64::MAX)))
    }

    /// Its clock is another one; what had come was taken before.
    pub fn set_hz(&mut self, hz: u64) {
        self.part = if hz == self.hz { self.part } else { 0 };
        self.hz = hz;
    }

    pub fn runs(&self) -> bool {
        self.hz != 0
    }

    /// The core's clock is another one; what had come was taken before.
    pub fn set_core_hz(&mut self, core_hz: u64) {
        self.part = (u128::from(self.part) * u128::from(core_hz) / u128::from(self.core_hz)) as u64;
        self.core_hz = core_hz.max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::Ticks;

    #[test]
    fn no_tick_is_lost() {
        let mut ticks = Ticks::new();
        ticks.set_core_hz(8_000_000);
        ticks.set_hz(32_768);
        // 8 MHz / 32768 Hz is 244.140625 cycles.
        assert_eq!((ticks.cycle_of(1), ticks.cycle_of(64)), (Some(245), Some(15_625)));
        assert_eq!((ticks.take(244), ticks.cycle_of(1)), (0, Some(245)));
        assert_eq!((1..=8_000).map(|second| ticks.take(second * 1_000)).sum::<u64>(), 32_768);
        assert_eq!(ticks.cycle_of(1), Some(8_000_245));
        // Half a tick at one clock is half a tick at another.
        ticks.take(8_000_122);
        ticks.set_core_hz(16_000_000);
        assert_eq!(ticks.cycle_of(1), Some(8_000_122 + 245));
    }
}
