//! The checks of each second: silence, forgeries, the clock.

use super::clock::Clock;
use crate::clock;
use crate::downlink::withdraw_times;
use crate::meters::{PartitionState, SilenceWatch, since_2000_ms};
use std::time::{Duration, Instant};
use wire::meter::{MeterId, Rejection};

/// The largest number of packets a minute in a meter's name that are not authentic, without an
/// alert.
const FORGED_MAX: u64 = 30;
/// The shortest interval between alerts about forgeries of one meter.
const FORGED_QUIET: Duration = Duration::from_secs(3600);
/// Alerts about forgeries in an hour at most, of all meters.
const FORGED_ALERTS_MAX: u32 = 20;
/// The period in ticks in which the store gets the counts.
const COUNTS_EVERY: u32 = 10;
/// The period in ticks in which idle meters are compacted: one or two periods after their last
/// packet. By then no report comes again.
const REST_EVERY: u32 = 20;

/// The checks of each second, and their state.
pub(super) struct Monitor {
    clock: Clock,
    began: Instant,
    silence: SilenceWatch,
    /// Ticks of this minute.
    ticks: u32,
    /// Alerts about forgeries of this hour.
    forged_alerts: u32,
    hour: Option<Instant>,
}

impl Monitor {
    /// newest_ms: when the newest stored report was heard, in Unix ms.
    pub(super) fn new(newest_ms: i64) -> Monitor {
        Monitor {
            clock: Clock::new(newest_ms),
            began: clock::now(),
            silence: SilenceWatch::new(clock::now()),
            ticks: 0,
            forged_alerts: 0,
            hour: None,
        }
    }

    pub(super) fn is_clock_behind(&self) -> bool {
        self.clock.is_behind()
    }

    /// Checks the clock, and searches for meters that have become silent.
    pub(super) fn check(&mut self, state: &mut PartitionState, now: Instant) {
        self.check_clock(state, now);
        for (meter, silence) in self.silence.check(&mut state.meters.known, now) {
            let detail =
                format!("nothing new was heard for {} s, more than three intervals", silence.as_secs());
            state.alert(Some(meter), "silent", detail);
        }
    }

    /// Counts a second, and does the checks that are due only now and then.
    pub(super) fn tick(&mut self, state: &mut PartitionState, now: Instant) {
        self.ticks += 1;
        if self.ticks.is_multiple_of(COUNTS_EVERY) {
            state.store_counts();
        }
        if self.ticks.is_multiple_of(REST_EVERY) {
            state.meters.engine.compact_idle(since_2000_ms(state.now_ms));
        }
        if self.ticks >= 60 {
            self.ticks = 0;
            self.check_forgeries(state, now);
        }
    }

    fn check_clock(&mut self, state: &mut PartitionState, now: Instant) {
        let steady_ms = now.saturating_duration_since(self.began).as_millis() as i64;
        let was_behind = self.clock.is_behind();
        self.clock.stored(state.newest_ms());
        if let Some(step_ms) = self.clock.check(clock::unix_ms(), steady_ms) {
            if state.lease.reports_for_all() {
                let detail = format!("the collector's clock was set by {:+.1} s", step_ms as f64 / 1000.0);
                state.alert(None, "clock", detail);
            }
            // Commands were to be sent by the old time.
            state.check_due = true;
        }
        let behind = self.clock.is_behind();
        if behind && !was_behind && state.lease.reports_for_all() {
            let by_s = (self.clock.newest_ms() - state.now_ms) / 1000;
            let detail = format!(
                "the collector's clock is {by_s} s behind the newest reading that it stored; until it is right, meters' times are not set"
            );
            state.alert(None, "clock", detail);
        }
        state.meters.allow_set_time(!behind);
        if behind {
            withdraw_times(state);
        }
    }

    fn check_forgeries(&mut self, state: &mut PartitionState, now: Instant) {
        if self.hour.is_none_or(|hour| now.duration_since(hour) > FORGED_QUIET) {
            (self.hour, self.forged_alerts) = (Some(now), 0);
        }
        let mut forged: Vec<(MeterId, u64)> = Vec::new();
        for (meter, known) in &mut state.meters.known {
            let counters = state.meters.engine.counters_of(*meter);
            let count = counters.map_or(0, |counters| counters.of(Rejection::NotAuthentic));
            if count == known.activity().forged {
                continue;
            }
            let known = known.active();
            let in_minute = count - std::mem::replace(&mut known.forged, count);
            let quiet = known.forged_quiet_until.is_some_and(|until| now < until);
            if in_minute > FORGED_MAX && !quiet && self.forged_alerts < FORGED_ALERTS_MAX {
                self.forged_alerts += 1;
                known.forged_quiet_until = Some(now + FORGED_QUIET);
                forged.push((*meter, in_minute));
            }
        }
        for (meter, count) in forged {
            let detail = format!(
                "{count} messages in a minute came in the meter's name that are not authentic: somebody forges them, or its keys are \
                 not those that the collector has"
            );
            state.alert(Some(meter), "refused", detail);
        }
    }
}
