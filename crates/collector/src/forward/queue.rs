//! When messages are due, lane by lane. A lane has a rate of its own, and so has the queue, so that
//! neither one sender nor all of them fill the line.

use super::bucket::{Bucket, Rate};
use super::source::Source;
use rand::Rng;
use std::collections::{BTreeSet, HashMap};
use tokio::time::Instant;
use wire::meter::MeterId;

/// The messages that share a rate: a meter's by a source, or all of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct LaneKey {
    pub(super) name: Option<MeterId>,
    /// `None`: not known after a restart.
    pub(super) source: Option<Source>,
}

struct Lane {
    due: BTreeSet<(Instant, i64)>,
    bucket: Bucket,
    /// Its entry in [`Queue::next`].
    next_at: Instant,
}

/// The messages that wait, by id.
pub(super) struct Queue {
    /// In datagrams.
    lane_rate: Rate,
    bucket: Bucket,
    lanes: HashMap<LaneKey, Lane>,
    /// When each lane may send its next.
    next: BTreeSet<(Instant, LaneKey)>,
    ids: Vec<i64>,
    /// The position of each in `ids`.
    positions: HashMap<i64, usize>,
}

impl Queue {
    /// Rates in datagrams.
    pub(super) fn new(rate: Rate, lane_rate: Rate) -> Queue {
        Queue {
            lane_rate,
            bucket: Bucket::new(rate),
            lanes: HashMap::new(),
            next: BTreeSet::new(),
            ids: Vec::new(),
            positions: HashMap::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn insert(&mut self, key: LaneKey, at: Instant, id: i64) {
        let bucket = Bucket::new(self.lane_rate);
        let lane =
            self.lanes.entry(key).or_insert_with(|| Lane { due: BTreeSet::new(), bucket, next_at: at });
        lane.due.insert((at, id));
        self.positions.insert(id, self.ids.len());
        self.ids.push(id);
        self.inspect(key);
    }

    /// at: when it was due.
    pub(super) fn remove(&mut self, key: LaneKey, at: Instant, id: i64) {
        if let Some(lane) = self.lanes.get_mut(&key) {
            lane.due.remove(&(at, id));
        }
        if let Some(position) = self.positions.remove(&id) {
            self.ids.swap_remove(position);
            if let Some(moved) = self.ids.get(position) {
                self.positions.insert(*moved, position);
            }
        }
        self.inspect(key);
    }

    /// Has a message due at another time.
    pub(super) fn set_due(&mut self, key: LaneKey, from: Instant, to: Instant, id: i64) {
        if let Some(lane) = self.lanes.get_mut(&key) {
            lane.due.remove(&(from, id));
            lane.due.insert((to, id));
        }
        self.inspect(key);
    }

    /// Counts the datagrams of a message that is sent.
    pub(super) fn count(&mut self, key: LaneKey, datagrams: u32, now: Instant) {
        self.bucket.take(datagrams, now);
        if let Some(lane) = self.lanes.get_mut(&key) {
            lane.bucket.take(datagrams, now);
        }
        self.inspect(key);
    }

    /// When the next message may be sent.
    pub(super) fn next_at(&self) -> Option<Instant> {
        let (at, _) = self.next.first()?;
        Some(self.bucket.ready_at().map_or(*at, |ready_at| ready_at.max(*at)))
    }

    /// The next message that may be sent by now.
    pub(super) fn due(&self, now: Instant) -> Option<i64> {
        let (at, key) = self.next.first()?;
        let may_send = *at <= now && self.bucket.is_ready(now);
        self.lanes.get(key).filter(|_| may_send)?.due.first().map(|(_, id)| *id)
    }

    /// Messages of a lane.
    pub(super) fn len_of(&self, key: LaneKey) -> usize {
        self.lanes.get(&key).map_or(0, |lane| lane.due.len())
    }

    /// Any of the messages.
    pub(super) fn any(&self, rng: &mut impl Rng) -> Option<i64> {
        (!self.ids.is_empty()).then(|| self.ids[rng.random_range(0..self.ids.len())])
    }

    /// After something of a lane has changed.
    fn inspect(&mut self, key: LaneKey) {
        let Some(lane) = self.lanes.get_mut(&key) else { return };
        self.next.remove(&(lane.next_at, key));
        let Some((at, _)) = lane.due.first() else {
            self.lanes.remove(&key);
            return;
        };
        lane.next_at = lane.bucket.ready_at().map_or(*at, |ready_at| ready_at.max(*at));
        self.next.insert((lane.next_at, key));
    }
}
