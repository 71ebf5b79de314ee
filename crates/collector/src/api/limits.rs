//! The rates of an address: its requests, and its wrong tokens.

use super::error::ApiError;
use crate::source_prefix::source_prefix;
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Bounds on what an address may ask.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// Requests a second in the long run.
    pub requests_per_s: NonZeroU32,
    /// Requests at once.
    pub requests_burst: NonZeroU32,
    /// Failed tokens a minute.
    pub failures_per_min: NonZeroU32,
}

impl Default for Rates {
    /// 50 a second, 100 at once; 5 failed tokens a minute.
    fn default() -> Rates {
        let number = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        Rates { requests_per_s: number(50), requests_burst: number(100), failures_per_min: number(5) }
    }
}

/// Requests until addresses are forgotten that were not heard for long.
const TIDY_EVERY: u32 = 4096;

pub(super) struct Limits {
    requests: DefaultKeyedRateLimiter<IpAddr>,
    failures: DefaultKeyedRateLimiter<IpAddr>,
    clock: DefaultClock,
    count: AtomicU32,
}

impl Limits {
    pub(super) fn new(rates: &Rates) -> Limits {
        let requests = Quota::per_second(rates.requests_per_s).allow_burst(rates.requests_burst);
        Limits {
            requests: RateLimiter::keyed(requests),
            failures: RateLimiter::keyed(Quota::per_minute(rates.failures_per_min)),
            clock: DefaultClock::default(),
            count: AtomicU32::new(0),
        }
    }

    /// Counts a request.
    pub(super) fn request(&self, peer: IpAddr) -> Result<(), ApiError> {
        if self.count.fetch_add(1, Ordering::Relaxed) % TIDY_EVERY == TIDY_EVERY - 1 {
            self.requests.retain_recent();
            self.failures.retain_recent();
        }
        self.check(&self.requests, peer)
            .map_err(|wait| ApiError::too_many("rate", "too many requests from this address", wait))
    }

    /// Counts a failed token.
    pub(super) fn failure(&self, peer: IpAddr) -> Result<(), ApiError> {
        self.check(&self.failures, peer)
            .map_err(|wait| ApiError::too_many("token-rate", "too many wrong tokens from this address", wait))
    }

    fn check(&self, limiter: &DefaultKeyedRateLimiter<IpAddr>, peer: IpAddr) -> Result<(), Duration> {
        limiter.check_key(&source_prefix(peer)).map_err(|until| until.wait_time_from(self.clock.now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_pass_and_floods_do_not() {
        let limits = Limits::new(&Rates::default());
        let (one, other): (IpAddr, IpAddr) = ([192, 0, 2, 1].into(), [192, 0, 2, 2].into());
        let passed = (0..1000).filter(|_| limits.request(one).is_ok()).count();
        assert!((100..150).contains(&passed), "{passed}");
        assert_eq!(limits.request(one).expect_err("flood").code, "rate");
        assert!(limits.request(other).is_ok());
        let wrong = (0..20).filter(|_| limits.failure(one).is_ok()).count();
        assert_eq!(wrong, 5);
        assert_eq!(limits.failure(one).expect_err("guessing").code, "token-rate");
        assert!(limits.failure(other).is_ok());
    }
}
