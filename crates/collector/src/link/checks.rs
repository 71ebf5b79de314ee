//! The checks of each second: silence, forgeries, clock, store.

use super::meter_state::Activity;
use super::pending::PendingCommit;
use super::state::{Link, since_2000_ms};
use crate::clock;
use crate::store::MeterCounts;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use wire::meter::{MeterId, Policy, Rejection};

/// Packets in a meter's name that are not authentic, of which more in a minute are told.
const FORGED_MAX: u64 = 30;
/// They are told at most once in that time, of each meter.
const FORGED_QUIET: Duration = Duration::from_secs(3600);
/// Alerts about forgeries in an hour at most, of all meters.
const FORGED_ALERTS_MAX: u32 = 20;
/// The period in ticks in which the store gets the counts.
const COUNTS_EVERY: u32 = 10;
/// The period in ticks in which idle meters are compacted: one or two periods after their last
/// packet. By then no report comes again.
const REST_EVERY: u32 = 20;

impl Link {
    pub(super) fn tick(&mut self, now: Instant) {
        self.retry_due(now);
        self.partial_messages.tidy(now);
        self.check_clock(now);
        self.check_silence(now);
        self.advance_updates(now);
        self.minute.ticks += 1;
        if self.minute.ticks.is_multiple_of(COUNTS_EVERY) {
            self.store_counts();
        }
        if self.minute.ticks.is_multiple_of(REST_EVERY) {
            self.collector.compact_idle(since_2000_ms(self.now_ms));
        }
        if self.minute.ticks >= 60 {
            self.minute.ticks = 0;
            self.check_forgeries(now);
        }
    }

    fn check_clock(&mut self, now: Instant) {
        let steady_ms = now.saturating_duration_since(self.began).as_millis() as i64;
        let was_behind = self.clock.is_behind();
        self.clock.stored(self.shared.newest_ms.load(Ordering::Relaxed));
        if let Some(step_ms) = self.clock.check(clock::unix_ms(), steady_ms) {
            if self.tells_for_all() {
                let detail = format!("the collector's clock was set by {:+.1} s", step_ms as f64 / 1000.0);
                self.alert(None, "clock", detail);
            }
            // Commands were to be sent by the old time.
            self.check_due = true;
        }
        let behind = self.clock.is_behind();
        if behind && !was_behind && self.tells_for_all() {
            let by_s = (self.clock.newest_ms() - self.now_ms) / 1000;
            let detail = format!(
                "the collector's clock is {by_s} s behind the newest reading that it stored; until it is right, meters' times are not set"
            );
            self.alert(None, "clock", detail);
        }
        let set_time = self.policy.set_time && !behind;
        if set_time != self.collector.policy().set_time {
            self.collector.set_policy(Policy { set_time, ..self.policy });
        }
        if behind {
            self.withdraw_times();
        }
    }

    fn check_silence(&mut self, now: Instant) {
        for (meter, silence) in self.silence.check(&mut self.meters, now) {
            let detail =
                format!("nothing new was heard for {} s, more than three intervals", silence.as_secs());
            self.alert(Some(meter), "silent", detail);
        }
    }

    fn check_forgeries(&mut self, now: Instant) {
        if self.minute.hour.is_none_or(|hour| now.duration_since(hour) > FORGED_QUIET) {
            (self.minute.hour, self.minute.forged_alerts) = (Some(now), 0);
        }
        let mut forged: Vec<(MeterId, u64)> = Vec::new();
        for (meter, known) in &mut self.meters {
            let count =
                self.collector.counters_of(*meter).map_or(0, |counters| counters.of(Rejection::NotAuthentic));
            if count == known.activity().forged {
                continue;
            }
            let known = known.active();
            let in_minute = count - std::mem::replace(&mut known.forged, count);
            let quiet = known.forged_quiet_until.is_some_and(|until| now < until);
            if in_minute > FORGED_MAX && !quiet && self.minute.forged_alerts < FORGED_ALERTS_MAX {
                self.minute.forged_alerts += 1;
                known.forged_quiet_until = Some(now + FORGED_QUIET);
                forged.push((*meter, in_minute));
            }
        }
        for (meter, count) in forged {
            let detail = format!(
                "{count} messages in a minute came in the meter's name that are not authentic: somebody forges them, or its keys are \
                 not those that the collector has"
            );
            self.alert(Some(meter), "refused", detail);
        }
    }

    /// Gives the store what was counted since it was told last.
    pub(super) fn store_counts(&mut self) {
        if self.store_queue.is_paused() {
            return;
        }
        let (mut counts, network) = (Vec::new(), self.network());
        for (meter, known) in &mut self.meters {
            let refused = self.collector.counters_of(*meter).map_or(0, |counters| counters.total());
            let Activity { repeats, told_repeats, told_refused, .. } = *known.activity();
            if (repeats, refused) == (told_repeats, told_refused) {
                continue;
            }
            let known = known.active();
            let new = |now: u64, told: &mut u64| {
                let new = u32::try_from(now - *told).unwrap_or(u32::MAX);
                *told += u64::from(new);
                new
            };
            let repeats = new(known.repeats, &mut known.told_repeats);
            let refused = new(refused, &mut known.told_refused);
            if repeats > 0 || refused > 0 {
                counts.push(MeterCounts { meter: network.meter(*meter), repeats, refused });
            }
        }
        for counts in counts {
            self.store(PendingCommit::Counts(counts));
        }
    }
}
