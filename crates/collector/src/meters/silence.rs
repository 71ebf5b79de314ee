//! The search for meters that have become silent. There may be very many meters, and few become
//! silent.

use super::known_meter::{KnownMeter, LEAST_SILENCE};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use wire::meter::MeterId;

/// Looks at all meters no more often than one of them can have become silent.
#[derive(Debug)]
pub(crate) struct SilenceWatch {
    /// None becomes silent before that.
    look_at: Instant,
}

impl SilenceWatch {
    pub(crate) fn new(now: Instant) -> SilenceWatch {
        SilenceWatch { look_at: now }
    }

    /// Returns the meters that have become silent, each once until it is heard again, and for how
    /// long nothing new came.
    pub(crate) fn check(
        &mut self,
        meters: &mut BTreeMap<MeterId, KnownMeter>,
        now: Instant,
    ) -> Vec<(MeterId, Duration)> {
        if now < self.look_at {
            return Vec::new();
        }
        // A meter that is heard from now on, or has a shorter interval, is not silent before that.
        self.look_at = now + LEAST_SILENCE;
        let mut silent = Vec::new();
        for (meter, known) in meters.iter_mut().filter(|(_, known)| !known.silent) {
            if let Some(silence) = known.silence(now) {
                known.silent = true;
                silent.push((*meter, silence));
            } else if let Some(at) = known.silent_after() {
                self.look_at = self.look_at.min(at);
            }
        }
        silent
    }
}

#[cfg(test)]
mod tests {
    use super::super::known_meter::LastHeard;
    use super::*;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};
    use testkit::random;

    #[test]
    fn a_meter_is_silent_in_the_second_in_which_it_becomes_so() {
        let mut rng = StdRng::seed_from_u64(random::seed());
        let (start, meter) = (Instant::now(), |rng: &mut StdRng| KnownMeter::new(1, rng.random_range(1..20)));
        let mut meters: BTreeMap<MeterId, KnownMeter> = (1..=20).map(|id| (id, meter(&mut rng))).collect();
        let (mut watch, mut found) = (SilenceWatch::new(start), 0);
        for s in 0..3600 {
            let now = start + Duration::from_secs(s);
            let id = rng.random_range(1..=20);
            let known = meters.get_mut(&id).expect("one of them");
            known.heard = Some(LastHeard { at_ms: 0, silence_from: now });
            known.silent = false;
            if rng.random_bool(0.1) {
                known.interval_s = rng.random_range(1..20);
            }
            let is_new = |known: &KnownMeter| !known.silent && known.silence(now).is_some();
            let expected: Vec<MeterId> =
                meters.iter().filter(|(_, known)| is_new(known)).map(|(id, _)| *id).collect();
            let looked: Vec<MeterId> = watch.check(&mut meters, now).into_iter().map(|(id, _)| id).collect();
            assert_eq!(looked, expected, "after {s} s");
            found += looked.len();
        }
        assert!(found > 100, "{found}");
    }
}
