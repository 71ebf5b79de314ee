//! The counter of TIMER and RTC: a counter of some bits, compared with registers, whose state is
//! worked out when somebody looks.

use super::core_clock::CORE_HZ;

/// The counter.
#[derive(Clone)]
pub(super) struct Counter {
    /// Its value at the cycle `since`.
    value: u32,
    since: u64,
    /// The part of a count that has passed since it came to that value, as `count_length` has it.
    carry: u128,
    running: bool,
    /// All ones.
    pub mask: u32,
    /// Frequency of the source, in Hz; `divider` and the core's clock make a count of it.
    pub source_hz: u64,
    pub divider: u64,
    clock_hz: u64,
}

/// The effects of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Compare {
    pub value: u32,
    /// The counter is cleared, or stops, there and then.
    pub clear: bool,
    pub stop: bool,
}

/// Events of a count: a bit for each match, and the way from the highest value to 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Passed {
    pub matches: u32,
    pub overflow: bool,
    pub ticked: bool,
}

impl Counter {
    pub fn new(mask: u32, source_hz: u64) -> Counter {
        Counter {
            value: 0,
            since: 0,
            carry: 0,
            running: false,
            mask,
            source_hz,
            divider: 1,
            clock_hz: CORE_HZ,
        }
    }

    pub fn running(&self) -> bool {
        self.running
    }

    /// Its value, as of the last [`Counter::advance`].
    pub fn value(&self) -> u32 {
        self.value
    }

    pub fn set_value(&mut self, value: u32) {
        self.value = value & self.mask;
    }

    pub fn start(&mut self) {
        self.running = true;
    }

    pub fn stop(&mut self) {
        self.running = false;
        self.carry = 0;
    }

    /// To zero, with a whole count before it.
    pub fn clear(&mut self) {
        self.value = 0;
        self.carry = 0;
    }

    pub fn set_clock(&mut self, clock_hz: u64) {
        // The part of a count that has passed keeps its time.
        self.carry = self.carry * u128::from(clock_hz) / u128::from(self.clock_hz.max(1));
        self.clock_hz = clock_hz;
    }

    /// A count: core cycles times the source's frequency.
    fn count_length(&self) -> u128 {
        u128::from(self.clock_hz.max(1)) * u128::from(self.divider)
    }

    /// Counts from the present value until it comes to `value`, at least one.
    fn counts_to(&self, value: u32) -> Option<u64> {
        (value <= self.mask)
            .then(|| u64::from(value.wrapping_sub(self.value).wrapping_sub(1) & self.mask) + 1)
    }

    /// Comes to the present: what has come about since the last time.
    pub fn advance(&mut self, now: u64, compares: &[Compare]) -> Passed {
        let elapsed = u128::from(now.saturating_sub(self.since)) * u128::from(self.source_hz);
        self.since = now;
        if !self.running || self.source_hz == 0 {
            return Passed::default();
        }
        let passed = self.carry + elapsed;
        self.carry = passed % self.count_length();
        self.count((passed / self.count_length()) as u64, compares)
    }

    /// So many counts at once.
    pub fn count(&mut self, counts: u64, compares: &[Compare]) -> Passed {
        let mut left = counts;
        let mut passed = Passed { ticked: counts != 0, ..Passed::default() };
        while left != 0 {
            // As far as the next point at which something changes.
            let next = compares.iter().filter_map(|compare| self.counts_to(compare.value));
            let step = next.chain(self.counts_to(0)).min().unwrap_or(1).min(left);
            left -= step;
            let before = self.value;
            self.value = self.value.wrapping_add(step as u32) & self.mask;
            passed.overflow |= self.value < before || u64::from(self.mask) < step;
            let mut clear = false;
            for (index, compare) in
                compares.iter().enumerate().filter(|(_, compare)| compare.value == self.value)
            {
                passed.matches |= 1 << index;
                clear |= compare.clear;
                if compare.stop {
                    self.running = false;
                    self.carry = 0;
                    left = 0;
                }
            }
            let here = self.value;
            if clear {
                self.value = 0;
            }
            // Of many whole periods one sets what all set.
            let period = if clear && here != 0 { u64::from(here) } else { u64::from(self.mask) + 1 };
            if self.value == 0 && left > 2 * period {
                left = left % period + period;
            }
        }
        passed
    }

    /// The cycle at which it will have counted so many more.
    pub fn cycle_after(&self, counts: u64) -> Option<u64> {
        if !self.running || self.source_hz == 0 {
            return None;
        }
        let left = u128::from(counts) * self.count_length() - self.carry;
        Some(self.since + left.div_ceil(self.source_hz.into()) as u64)
    }

    /// The cycle at which it comes to `value`, if none of `compares` clears or stops it before.
    pub fn cycle_at(&self, value: u32, compares: &[Compare]) -> Option<u64> {
        let counts = self.counts_to(value)?;
        let changes = compares.iter().filter(|compare| compare.clear || compare.stop);
        let first = changes
            .filter_map(|compare| Some((self.counts_to(compare.value)?, compare)))
            .min_by_key(|(at, _)| *at);
        match first {
            Some((at, compare)) if at < counts => {
                if compare.stop {
                    return None;
                }
                // Cleared before: from 0 on it comes there, or is cleared again.
                let again = value != 0
                    && compares.iter().all(|other| !other.clear && !other.stop || other.value >= value);
                if again { self.cycle_after(at + u64::from(value)) } else { None }
            }
            _ => self.cycle_after(counts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter(divider: u64) -> Counter {
        let mut counter = Counter::new(0xffff, 16_000_000);
        counter.set_clock(64_000_000);
        counter.divider = divider;
        counter.start();
        counter
    }

    const AT_5: Compare = Compare { value: 5, clear: true, stop: false };

    #[test]
    fn a_match_that_clears_makes_a_period_of_its_value() {
        // Four cycles a count: 5 is reached, and left for 0, at cycle 20.
        let mut counter = counter(1);
        assert_eq!(counter.cycle_at(5, &[AT_5]), Some(20));
        assert_eq!(counter.advance(19, &[AT_5]).matches, 0);
        assert_eq!(counter.value(), 4);
        assert_eq!(counter.advance(20, &[AT_5]).matches, 1);
        assert_eq!(counter.value(), 0);
        // A thousand periods and three counts later.
        assert_eq!(counter.advance(20 + 1000 * 20 + 12, &[AT_5]).matches, 1);
        assert_eq!(counter.value(), 3);
    }

    #[test]
    fn it_overflows_and_stops() {
        let mut counter = counter(16);
        counter.set_value(0xfffe);
        let stop = Compare { value: 2, clear: false, stop: true };
        assert_eq!(counter.cycle_at(0, &[stop]), Some(128));
        let passed = counter.advance(1000, &[stop]);
        assert_eq!(passed, Passed { matches: 1, overflow: true, ticked: true });
        assert_eq!((counter.value(), counter.running()), (2, false));
        counter.start();
        assert_eq!(counter.advance(1000 + 64, &[]).matches, 0);
        assert_eq!(counter.value(), 3);
    }
}
