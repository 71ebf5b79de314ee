//! The session's state of a meter, beside that of `wire::meter::Collector`.

use super::snapshot::MeterStatus;
use crate::gateway::Route;
use crate::network::GlobalMeterId;
use crate::store::SILENT_AFTER_INTERVALS;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use wire::meter::{Collector, MeterKeys};

/// A meter is not silent before that, however short its interval is: it may be sending again.
pub(crate) const LEAST_SILENCE: Duration = Duration::from_secs(10);

/// A meter, since the service's start. Most of very many have no more than this.
#[derive(Debug)]
pub(crate) struct KnownMeter {
    pub(crate) epoch: u32,
    pub(crate) interval_s: u16,
    /// Somebody was told that it is.
    pub(crate) silent: bool,
    /// When something new came last; `None`: never.
    pub(crate) heard: Option<LastHeard>,
    activity: Option<Box<Activity>>,
}

/// When a meter was heard last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastHeard {
    /// Unix ms; before the start, too.
    pub(crate) at_ms: i64,
    /// Silence is counted from here.
    pub(crate) silence_from: Instant,
}

/// The activity of a meter since the service's start.
#[derive(Debug)]
pub(crate) struct Activity {
    /// The route of the last new packet; `None`: nothing since the start.
    pub(crate) route: Option<Route>,
    pub(crate) rssi_dbm: Option<i8>,
    pub(crate) lost: u8,
    /// Messages of it with the verifiers.
    pub(crate) opening: u8,
    pub(crate) reports: u64,
    pub(crate) repeats: u64,
    /// The count that the store has.
    pub(crate) stored_repeats: u64,
    pub(crate) stored_refused: u64,
    /// The number of the report that was handed out last.
    pub(crate) handed_out: Option<u32>,
    /// The revision of its state that is being stored.
    pub(crate) saving: Option<u64>,
    pub(crate) keys: KeysToKeep,
    /// The commands that have a name in the API, by ticket.
    pub(crate) commands: BTreeMap<u32, Named>,
    /// Packets that were not authentic, when the minute began.
    pub(crate) forged: u64,
    /// No alert about those before that.
    pub(crate) forged_quiet_until: Option<Instant>,
    /// No alert about its memory before that.
    pub(crate) memory_quiet_until: Option<Instant>,
}

/// Of renewed keys that are to be kept.
#[derive(Debug)]
pub(crate) struct KeysToKeep {
    /// They are being kept.
    pub(crate) is_asked: bool,
    /// They could not be kept, and are tried again then.
    pub(crate) again_at: Option<Instant>,
    /// The number of failures in a row.
    pub(crate) failures: u32,
    /// Of attempts that failed, and may be there all the same.
    pub(crate) tried: Vec<MeterKeys>,
}

/// The activity of a meter without any.
static NONE: Activity = Activity::new();

impl Activity {
    const fn new() -> Activity {
        Activity {
            route: None,
            rssi_dbm: None,
            lost: 0,
            opening: 0,
            reports: 0,
            repeats: 0,
            stored_repeats: 0,
            stored_refused: 0,
            handed_out: None,
            saving: None,
            keys: KeysToKeep { is_asked: false, again_at: None, failures: 0, tried: Vec::new() },
            commands: BTreeMap::new(),
            forged: 0,
            forged_quiet_until: None,
            memory_quiet_until: None,
        }
    }
}

/// A command that has a name in the API.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    pub(crate) id: i64,
    pub(crate) attempts: u32,
}

impl KnownMeter {
    pub(crate) fn new(epoch: u32, interval_s: u16) -> KnownMeter {
        KnownMeter { epoch, interval_s, silent: false, heard: None, activity: None }
    }

    pub(crate) fn activity(&self) -> &Activity {
        self.activity.as_deref().unwrap_or(&NONE)
    }

    /// To change it: then there is one.
    pub(crate) fn active(&mut self) -> &mut Activity {
        self.activity.get_or_insert_with(|| Box::new(Activity::new()))
    }

    /// Until when it is not silent, where nothing new comes; `None`: it was never heard.
    pub(crate) fn silent_after(&self) -> Option<Instant> {
        let most = Duration::from_secs(u64::from(self.interval_s) * SILENT_AFTER_INTERVALS as u64);
        Some(self.heard?.silence_from + most.max(LEAST_SILENCE))
    }

    /// Returns for how long nothing new came, where that is too long.
    pub(crate) fn silence(&self, now: Instant) -> Option<Duration> {
        let heard = self.heard?;
        (now > self.silent_after()?).then(|| now.saturating_duration_since(heard.silence_from))
    }

    /// Says if it was heard since the start, and recently.
    pub(crate) fn is_online(&self, now: Instant) -> bool {
        self.activity().route.is_some() && self.silence(now).is_none()
    }

    pub(crate) fn status(
        &self,
        meter: GlobalMeterId,
        collector: &Collector,
        now: Instant,
    ) -> Option<MeterStatus> {
        let suite = collector.state(meter.meter)?.suite();
        let Activity { route, rssi_dbm, lost, reports, repeats, .. } = *self.activity();
        Some(MeterStatus {
            meter,
            epoch: self.epoch,
            suite,
            interval_s: self.interval_s,
            online: self.is_online(now),
            heard_ms: self.heard.map(|heard| heard.at_ms),
            route,
            rssi_dbm,
            reports,
            repeats,
            refused: collector.counters_of(meter.meter).map_or(0, |counters| counters.total()),
            lost,
            waiting_commands: collector.commands(meter.meter).len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meter_that_did_nothing_takes_little_memory() {
        assert!(size_of::<KnownMeter>() <= 40, "{} bytes", size_of::<KnownMeter>());
    }

    #[test]
    fn a_meter_is_silent_after_three_intervals_and_ten_seconds() {
        let start = Instant::now();
        for (interval_s, most_s) in [(1, 10), (3, 10), (10, 30), (65_535, 196_605)] {
            let mut known = KnownMeter::new(1, interval_s);
            assert_eq!(known.silence(start + Duration::from_secs(1_000_000)), None, "never heard");
            known.heard = Some(LastHeard { at_ms: 0, silence_from: start });
            assert_eq!(known.silence(start + Duration::from_secs(most_s)), None);
            assert!(known.silence(start + Duration::from_secs(most_s + 1)).is_some());
        }
    }
}
