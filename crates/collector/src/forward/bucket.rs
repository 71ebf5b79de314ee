//! Token buckets.

use std::time::Duration;
use tokio::time::Instant;

/// The rate of a bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    /// Tokens a second in the long run.
    pub(super) per_s: u32,
    /// Tokens at once.
    pub(super) burst: u32,
}

impl Rate {
    fn token(self) -> Duration {
        Duration::from_secs(1) / self.per_s
    }
}

/// A token bucket, full at first. Its state is one time, as in the virtual scheduling algorithm of
/// ITU-T I.371, Annex A.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    rate: Rate,
    /// When it had a token, or will have one; `None`: nothing was taken yet.
    ready_at: Option<Instant>,
}

impl Bucket {
    pub(super) fn new(rate: Rate) -> Bucket {
        Bucket { rate, ready_at: None }
    }

    /// From when it has a token; `None`: always had.
    pub(super) fn ready_at(&self) -> Option<Instant> {
        self.ready_at
    }

    pub(super) fn is_ready(&self, now: Instant) -> bool {
        self.ready_at.is_none_or(|ready_at| ready_at <= now)
    }

    /// Takes tokens, also such as it has not yet: then it is ready later.
    pub(super) fn take(&mut self, tokens: u32, now: Instant) {
        let full = self.rate.token() * self.rate.burst.saturating_sub(1);
        let earned = self.ready_at.map_or(full, |ready_at| now.saturating_duration_since(ready_at).min(full));
        let ready_at = self.ready_at.map_or(now, |ready_at| ready_at.max(now));
        self.ready_at = Some(ready_at.checked_sub(earned).unwrap_or(now) + self.rate.token() * tokens);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        // Behind the system's start, so that a full bucket's time is one that there is.
        let begun = Instant::now() + Duration::from_secs(100);
        let mut bucket = Bucket::new(Rate { per_s: 10, burst: 5 });
        let mut pass = |now| {
            let ready = bucket.is_ready(now);
            if ready {
                bucket.take(1, now);
            }
            ready
        };
        let passed = |pass: &mut dyn FnMut(Instant) -> bool, now| (0..100).filter(|_| pass(now)).count();
        assert_eq!(passed(&mut pass, begun), 5);
        assert_eq!(passed(&mut pass, begun + Duration::from_millis(99)), 0);
        assert_eq!(passed(&mut pass, begun + Duration::from_millis(1000)), 10 - 5);
        assert_eq!(passed(&mut pass, begun + Duration::from_secs(60)), 5);
        let mut bucket = Bucket::new(Rate { per_s: 10, burst: 1 });
        bucket.take(3, begun);
        assert_eq!(bucket.ready_at(), Some(begun + Duration::from_millis(300)));
    }
}
