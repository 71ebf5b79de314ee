//! The link's state of a meter, beside that of `wire::meter::Collector`.

use super::handle::MeterStatus;
use crate::gateway::Route;
use crate::network::GlobalMeterId;
use crate::store::SILENT_AFTER_INTERVALS;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use wire::meter::{Collector, MeterKeys};

/// A meter is not silent before that, however short its interval is: it may be sending again.
pub(super) const LEAST_SILENCE: Duration = Duration::from_secs(10);

/// A meter, since the service's start. Most of very many have no more than this.
#[derive(Debug)]
pub(super) struct MeterLinkState {
    pub(super) epoch: u32,
    pub(super) interval_s: u16,
    /// Somebody was told that it is.
    pub(super) silent: bool,
    /// When something new came last; `None`: never.
    pub(super) heard: Option<LastHeard>,
    activity: Option<Box<Activity>>,
}

/// When a meter was heard last.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastHeard {
    /// Unix ms; before the start, too.
    pub(super) at_ms: i64,
    /// Silence is counted from here.
    pub(super) silence_from: Instant,
}

/// The activity of a meter since the service's start.
#[derive(Debug)]
pub(super) struct Activity {
    /// The route of the last new packet; `None`: nothing since the start.
    pub(super) route: Option<Route>,
    pub(super) rssi_dbm: Option<i8>,
    pub(super) lost: u8,
    /// Messages of it with the verifiers.
    pub(super) opening: u8,
    pub(super) reports: u64,
    pub(super) repeats: u64,
    /// As the store was told.
    pub(super) told_repeats: u64,
    pub(super) told_refused: u64,
    /// The number of the report that was handed out last.
    pub(super) handed_out: Option<u32>,
    /// The revision of its state that is being stored.
    pub(super) saving: Option<u64>,
    pub(super) keys: KeysToKeep,
    /// The commands that have a name in the API, by ticket.
    pub(super) commands: BTreeMap<u32, Named>,
    /// Packets that were not authentic, when the minute began.
    pub(super) forged: u64,
    /// No alert about those before that.
    pub(super) forged_quiet_until: Option<Instant>,
    /// No alert about its memory before that.
    pub(super) memory_quiet_until: Option<Instant>,
}

/// Of renewed keys that are to be kept.
#[derive(Debug)]
pub(super) struct KeysToKeep {
    /// They are being kept.
    pub(super) is_asked: bool,
    /// They could not be kept, and are tried again then.
    pub(super) again_at: Option<Instant>,
    /// The number of failures in a row.
    pub(super) failures: u32,
    /// Of attempts that failed, and may be there all the same.
    pub(super) tried: Vec<MeterKeys>,
}

/// That of a meter without any.
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
            told_repeats: 0,
            told_refused: 0,
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
pub(super) struct Named {
    pub(super) id: i64,
    pub(super) attempts: u32,
}

impl MeterLinkState {
    pub(super) fn new(epoch: u32, interval_s: u16) -> MeterLinkState {
        MeterLinkState { epoch, interval_s, silent: false, heard: None, activity: None }
    }

    pub(super) fn activity(&self) -> &Activity {
        self.activity.as_deref().unwrap_or(&NONE)
    }

    /// To change it: then there is one.
    pub(super) fn active(&mut self) -> &mut Activity {
        self.activity.get_or_insert_with(|| Box::new(Activity::new()))
    }

    /// Until when it is not silent, where nothing new comes; `None`: it was never heard.
    pub(super) fn silent_after(&self) -> Option<Instant> {
        let most = Duration::from_secs(u64::from(self.interval_s) * SILENT_AFTER_INTERVALS as u64);
        Some(self.heard?.silence_from + most.max(LEAST_SILENCE))
    }

    /// Returns for how long nothing new came, where that is too long.
    pub(super) fn silence(&self, now: Instant) -> Option<Duration> {
        let heard = self.heard?;
        (now > self.silent_after()?).then(|| now.saturating_duration_since(heard.silence_from))
    }

    /// Says if it was heard since the start, and recently.
    pub(super) fn is_online(&self, now: Instant) -> bool {
        self.activity().route.is_some() && self.silence(now).is_none()
    }

    pub(super) fn status(
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
        assert!(size_of::<MeterLinkState>() <= 40, "{} bytes", size_of::<MeterLinkState>());
    }

    #[test]
    fn a_meter_is_silent_after_three_intervals_and_ten_seconds() {
        let start = Instant::now();
        for (interval_s, most_s) in [(1, 10), (3, 10), (10, 30), (65_535, 196_605)] {
            let mut known = MeterLinkState::new(1, interval_s);
            assert_eq!(known.silence(start + Duration::from_secs(1_000_000)), None, "never heard");
            known.heard = Some(LastHeard { at_ms: 0, silence_from: start });
            assert_eq!(known.silence(start + Duration::from_secs(most_s)), None);
            assert!(known.silence(start + Duration::from_secs(most_s + 1)).is_some());
        }
    }
}
