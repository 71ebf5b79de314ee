//! The meters of which the other collector acknowledged something, and where that came from.
//!
//! The concentrator cannot tell who sent a packet. But only who holds the keys acknowledges, and
//! only what a meter sealed: so where an acknowledged report came from somebody hears that meter,
//! or heard it once.

use super::bucket::{Bucket, Rate};
use super::source::Source;
use crate::gateway::Route;
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;
use wire::meter::MeterId;

/// Sources of a meter at most: more than one gateway may hear it.
pub(super) const SOURCES_MAX: usize = 4;
/// The silence after which another source of the meter may have its place.
const KEPT_FOR: Duration = Duration::from_secs(24 * 3600);
/// Reports that are stored, and answers that are passed on, of a meter and source. A journal that
/// is emptied is a burst.
const RATE: Rate = Rate { per_s: 4, burst: 32 };
/// Replies to pieces that are passed on: twice what an image's pieces, one each 100 ms, bring; a
/// renewal has 53.
const REPLIES: Rate = Rate { per_s: 20, burst: 64 };

struct AcknowledgedSource {
    source: Source,
    /// The last one of that source.
    route: Route,
    at: Instant,
    stored: Bucket,
    answers: Bucket,
    replies: Bucket,
}

/// By name.
#[derive(Default)]
pub(super) struct Acknowledged(HashMap<MeterId, Vec<AcknowledgedSource>>);

impl Acknowledged {
    pub(super) fn contains(&self, name: MeterId, source: Source) -> bool {
        self.0.get(&name).is_some_and(|of_name| of_name.iter().any(|known| known.source == source))
    }

    /// Something was acknowledged that came by this route. Returns whether it is known from now on:
    /// where a name has its sources already, no other takes the place of one that is in use.
    pub(super) fn insert(&mut self, name: MeterId, route: Route, at: Instant) -> bool {
        let source = Source::from(route);
        let of_name = self.0.entry(name).or_default();
        if let Some(known) = of_name.iter_mut().find(|known| known.source == source) {
            (known.route, known.at) = (route, at);
            return true;
        }
        if of_name.len() >= SOURCES_MAX {
            let unused = |known: &AcknowledgedSource| at.saturating_duration_since(known.at) > KEPT_FOR;
            let Some(oldest) = of_name.iter().position(unused) else { return false };
            of_name.swap_remove(oldest);
        }
        let [stored, answers, replies] = [RATE, RATE, REPLIES].map(Bucket::new);
        of_name.push(AcknowledgedSource { source, route, at, stored, answers, replies });
        true
    }

    /// Returns the route of the last acknowledged report.
    pub(super) fn route(&self, name: MeterId) -> Option<Route> {
        self.0.get(&name)?.iter().max_by_key(|known| known.at).map(|known| known.route)
    }

    /// Says if one more report of this meter and source may be stored now, and counts it.
    pub(super) fn may_store(&mut self, name: MeterId, source: Source, now: Instant) -> bool {
        self.find(name, source).is_some_and(|known| pass(&mut known.stored, now))
    }

    /// Says if one more answer of this meter and source may be passed on now, and counts it.
    pub(super) fn may_answer(&mut self, name: MeterId, source: Source, now: Instant) -> bool {
        self.find(name, source).is_some_and(|known| pass(&mut known.answers, now))
    }

    /// The same of a reply to a piece of a renewal or an image.
    pub(super) fn may_reply(&mut self, name: MeterId, source: Source, now: Instant) -> bool {
        self.find(name, source).is_some_and(|known| pass(&mut known.replies, now))
    }

    fn find(&mut self, name: MeterId, source: Source) -> Option<&mut AcknowledgedSource> {
        self.0.get_mut(&name)?.iter_mut().find(|known| known.source == source)
    }
}

fn pass(bucket: &mut Bucket, now: Instant) -> bool {
    let ready = bucket.is_ready(now);
    if ready {
        bucket.take(1, now);
    }
    ready
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::GatewayId;

    fn route(gateway: u16) -> Route {
        Route { gateway: GatewayId::of(gateway.into()), peer: None }
    }

    #[test]
    fn route_in_use_keeps_its_place_for_a_day() {
        let begun = Instant::now();
        let mut acknowledged = Acknowledged::default();
        assert!((0..4).all(|gateway| acknowledged.insert(7, route(gateway), begun)));
        let later = begun + KEPT_FOR;
        assert!((1..4).all(|gateway| acknowledged.insert(7, route(gateway), later)));
        assert!(!acknowledged.insert(7, route(9), later));
        assert!(acknowledged.insert(7, route(9), later + Duration::from_millis(1)));
        assert!(!acknowledged.contains(7, route(0).into()) && acknowledged.contains(7, route(1).into()));
        assert_eq!(acknowledged.route(7), Some(route(9)));
        assert!(!acknowledged.contains(8, route(9).into()));
    }

    #[test]
    fn a_meter_stores_and_answers_no_more_than_its_rate() {
        let now = Instant::now();
        let mut acknowledged = Acknowledged::default();
        assert!(!acknowledged.may_store(7, route(1).into(), now));
        acknowledged.insert(7, route(1), now);
        let burst = RATE.burst as usize;
        assert_eq!((0..100).filter(|_| acknowledged.may_store(7, route(1).into(), now)).count(), burst);
        assert_eq!((0..100).filter(|_| acknowledged.may_answer(7, route(1).into(), now)).count(), burst);
        assert!(acknowledged.may_store(7, route(1).into(), now + Duration::from_millis(250)));
        let replies = (0..100).filter(|_| acknowledged.may_reply(7, route(1).into(), now)).count();
        assert_eq!(replies, REPLIES.burst as usize);
        assert!(acknowledged.may_reply(7, route(1).into(), now + Duration::from_millis(50)));
    }
}
