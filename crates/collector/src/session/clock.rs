//! The collector's own clock: steps of it, and whether it can be right.

/// A step of more than this is told, in ms.
const STEP_MS: i64 = 2_000;
/// A clock that is further behind what was stored before cannot be right, in ms.
const BEHIND_MS: i64 = 60_000;

/// Compares the system's clock with one that nobody sets, and with what was stored.
#[derive(Debug)]
pub(super) struct Clock {
    /// The lead of the system's clock over the steady one at the last check, in ms.
    ahead_ms: Option<i64>,
    /// The newest time that something stored was heard, in Unix ms.
    newest_ms: i64,
    behind: bool,
}

impl Clock {
    /// newest_ms: when the newest of what is stored was heard, in Unix ms.
    pub(super) fn new(newest_ms: i64) -> Clock {
        Clock { ahead_ms: None, newest_ms, behind: false }
    }

    /// Looks at both clocks: Unix ms, and ms since any moment. Returns by how much the system's was
    /// set, where that is much.
    pub(super) fn check(&mut self, system_ms: i64, steady_ms: i64) -> Option<i64> {
        let ahead_ms = system_ms - steady_ms;
        let step_ms = ahead_ms - self.ahead_ms.replace(ahead_ms).unwrap_or(ahead_ms);
        self.behind = self.newest_ms - system_ms > BEHIND_MS;
        (step_ms.abs() > STEP_MS).then_some(step_ms)
    }

    /// Something was stored that was heard then.
    pub(super) fn stored(&mut self, heard_ms: i64) {
        self.newest_ms = self.newest_ms.max(heard_ms);
    }

    /// Says if the clock was behind the stored readings at the last check.
    pub(super) fn is_behind(&self) -> bool {
        self.behind
    }

    /// Returns when the newest stored report was heard, in Unix ms.
    pub(super) fn newest_ms(&self) -> i64 {
        self.newest_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_steps_above_two_seconds_are_reported_once_slewing_not() {
        let mut clock = Clock::new(0);
        assert_eq!(clock.check(1_000_000, 50), None);
        assert_eq!(clock.check(1_001_000, 1_050), None);
        // Half a second a second, which no daemon does.
        for second in 1..=20 {
            assert_eq!(clock.check(1_001_000 + 1_500 * second, 1_050 + 1_000 * second), None);
        }
        assert_eq!(clock.check(1_034_001, 22_050), Some(2_001));
        assert_eq!(clock.check(1_035_001, 23_050), None);
        assert_eq!(clock.check(1_026_001, 24_050), Some(-10_000));
        assert_eq!(clock.check(1_027_001, 25_050), None);
    }

    #[test]
    fn clock_a_minute_behind_the_store_is_wrong() {
        let mut clock = Clock::new(1_000_000);
        clock.check(940_000, 0);
        assert!(!clock.is_behind());
        clock.check(939_999, 0);
        assert!(clock.is_behind());
        clock.stored(500);
        clock.stored(1_000_500);
        clock.check(940_500, 600);
        assert!(!clock.is_behind());
    }
}
