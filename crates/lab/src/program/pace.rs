//! Pace of a run that has a peer outside: the part's own, so that timeouts on both sides fit.

use std::time::{Duration, Instant};

/// Parts of a second between two looks at what goes in and out.
pub(super) const LOOKS_PER_S: u64 = 1_000;
/// The longest wait between two looks for Ctrl-C.
const LONGEST: Duration = Duration::from_millis(100);

/// A run's beginning by the clock on the wall.
pub(super) struct Pace {
    begun: Instant,
}

impl Pace {
    pub(super) fn new() -> Pace {
        Pace { begun: Instant::now() }
    }

    /// Waits until the wall's clock has come to the program's time. A model that is slower than the
    /// part goes on at once.
    pub(super) fn wait(&self, program_s: f64) {
        let ahead =
            Duration::try_from_secs_f64(program_s).unwrap_or_default().saturating_sub(self.begun.elapsed());
        std::thread::sleep(ahead.min(LONGEST));
    }
}
