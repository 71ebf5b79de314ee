//! Virtual time beside the clock on the wall.

use std::time::{Duration, Instant};

/// Delay of virtual time from which on the lost time is given up.
const PATIENCE: Duration = Duration::from_millis(500);
/// The simulation lives on at most so long at once, so that it is seen when somebody wants it to
/// end.
const MOST: Duration = Duration::from_millis(50);

/// Keeps a simulation in step with the clock on the wall. One that is too slow is not hurried
/// afterwards: what it is behind by is given up, and counted.
#[derive(Debug)]
pub struct RealTimePacer {
    begun: Instant,
    /// The simulation's time then.
    begins_ns: u64,
    behind: Duration,
}

impl RealTimePacer {
    /// Begins now, at a time of the simulation in nanoseconds.
    #[must_use]
    pub fn new(begins_ns: u64) -> RealTimePacer {
        RealTimePacer { begun: Instant::now(), begins_ns, behind: Duration::ZERO }
    }

    /// Virtual time since the beginning.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// By how much the simulation is behind, as far as that was given up.
    #[must_use]
    pub fn behind(&self) -> Duration {
        self.behind
    }

    /// Up to when the simulation, whose time is `now_ns`, is to live next.
    pub fn until_ns(&mut self, now_ns: u64) -> u64 {
        self.next_ns(now_ns, self.elapsed())
    }

    fn next_ns(&mut self, now_ns: u64, elapsed: Duration) -> u64 {
        let lived = Duration::from_nanos(now_ns - self.begins_ns);
        let late = elapsed.saturating_sub(self.behind).saturating_sub(lived);
        if late > PATIENCE {
            self.behind += late - PATIENCE;
        }
        now_ns + late.min(MOST).as_nanos() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pacer_catches_up_short_delays_and_gives_up_long_ones() {
        let ms = Duration::from_millis;
        let mut pace = RealTimePacer::new(7_000_000);
        assert_eq!(pace.next_ns(7_000_000, ms(2)), 9_000_000);
        // A simulation that is ahead waits.
        assert_eq!(pace.next_ns(9_000_000, ms(1)), 9_000_000);
        assert_eq!(pace.next_ns(9_000_000, ms(452)), 9_000_000 + 50_000_000);
        assert_eq!(pace.behind(), Duration::ZERO);
        // It lives 50 ms in a second.
        assert_eq!(pace.next_ns(59_000_000, ms(1452)), 59_000_000 + 50_000_000);
        assert_eq!(pace.behind(), ms(900));
        assert_eq!(pace.next_ns(109_000_000, ms(1452)), 109_000_000 + 50_000_000);
        assert_eq!(pace.behind(), ms(900));
    }
}
