//! The check of a meter's time against its reports.

use super::policy::Policy;
use crate::meter::Report;

/// The action on a meter's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Advice {
    /// The time is right, or it is not known to be wrong.
    Keep,
    /// Ask it: a report says less than the time now, but it may have waited.
    Ask,
    /// Set it.
    Set,
}

/// The memory of the check between reports.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClockCheck {
    /// The meter is not asked, and one that did not take a time not told it again, before that.
    quiet_until_ms: u64,
    refused: bool,
}

impl ClockCheck {
    /// A meter did not take the time.
    pub(super) fn refused(&mut self, policy: &Policy, now_ms: u64) {
        (self.refused, self.quiet_until_ms) = (true, now_ms + policy.look_at_time_every_ms);
    }

    /// Says if the meter is not to be asked yet.
    pub(super) fn is_quiet(&self, policy: &Policy, now_ms: u64) -> bool {
        now_ms < self.quiet_until_ms && self.quiet_until_ms - now_ms <= policy.look_at_time_every_ms
    }

    /// A new report came, made after the time was last set. Meters count whole seconds, so that a
    /// time t is right from t to t + 1.
    pub(super) fn report(&mut self, report: &Report, policy: &Policy, now_ms: u64) -> Advice {
        let Some(time_s) = report.time_s() else { return Advice::Keep };
        let quiet = self.is_quiet(policy, now_ms);
        let (time_s, now_s) = (u64::from(time_s), now_ms / 1000);
        if !report.time_set || time_s > now_s + 1 {
            return if quiet && self.refused { Advice::Keep } else { Advice::Set };
        }
        if time_s + 2 < now_s && !quiet {
            (self.refused, self.quiet_until_ms) = (false, now_ms + policy.look_at_time_every_ms);
            return Advice::Ask;
        }
        Advice::Keep
    }

    /// The meter said what time it has, between these two.
    pub(super) fn status(time_s: u32, asked_ms: u64, now_ms: u64) -> Advice {
        let time_s = u64::from(time_s);
        if time_s > now_ms / 1000 + 1 || time_s + 2 < asked_ms / 1000 { Advice::Set } else { Advice::Keep }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::{Content, Measurement};

    fn report(time_s: u32, time_set: bool) -> Report {
        let content = Content::Measurement(Measurement { time_s, energy_dwh: 0, power_w: 0 });
        Report { n: 1, time_set, lost: 0, content }
    }

    #[test]
    fn only_a_certainly_wrong_time_is_set() {
        let policy = Policy::default();
        let cases = [
            (report(1000, true), Advice::Keep),
            (report(1001, true), Advice::Keep),
            (report(1002, true), Advice::Set),
            (report(998, true), Advice::Keep),
            (report(997, true), Advice::Ask),
            (report(1000, false), Advice::Set),
        ];
        for (report, advice) in cases {
            assert_eq!(ClockCheck::default().report(&report, &policy, 1_000_999), advice, "{report:?}");
        }
        assert_eq!(ClockCheck::status(998, 1_000_000, 1_009_000), Advice::Keep);
        assert_eq!(ClockCheck::status(997, 1_000_000, 1_009_000), Advice::Set);
        assert_eq!(ClockCheck::status(1010, 1_000_000, 1_009_000), Advice::Keep);
        assert_eq!(ClockCheck::status(1011, 1_000_000, 1_009_000), Advice::Set);
    }

    #[test]
    fn meter_is_asked_for_its_time_at_most_once_a_minute() {
        let (policy, mut check) = (Policy::default(), ClockCheck::default());
        assert_eq!(check.report(&report(1, true), &policy, 100_000), Advice::Ask);
        assert_eq!(check.report(&report(2, true), &policy, 101_000), Advice::Keep);
        assert_eq!(check.report(&report(2, false), &policy, 101_000), Advice::Set);
        assert_eq!(check.report(&report(2, true), &policy, 160_000), Advice::Ask);
        check.refused(&policy, 161_000);
        assert_eq!(check.report(&report(2, false), &policy, 162_000), Advice::Keep);
        assert_eq!(check.report(&report(2, false), &policy, 221_000), Advice::Set);
    }
}
