//! The messages that wait for the far collector's acknowledgement, and when each is sent again. The store has the same ones.

use crate::gateway::Route;
use crate::store::{MOST_OUTBOX, MOST_OUTBOX_OF_A_METER, NewOutbox, OutboxRecord};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;
use wire::meter::{MeterId, Suite};

/// A message is sent again after so long, each time twice as long, up to the second.
const AGAIN_AFTER: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];
/// A message that nobody acknowledged for so long goes: its meter has it, or it was nobody's. 7 days, in ms.
const MOST_AGE_MS: i64 = 7 * 24 * 3600 * 1000;

/// What an acknowledgement says of its report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Name {
    pub(super) name: MeterId,
    pub(super) low: u8,
    pub(super) suite: Suite,
}

/// Where a message came from, and how strong it was; not known after a restart.
type From = Option<(Route, Option<i8>)>;

struct Entry {
    record: OutboxRecord,
    from: From,
    attempts: u32,
    next_at: Instant,
}

/// The messages that wait.
#[derive(Default)]
pub(super) struct Waiting {
    /// The oldest first.
    entries: BTreeMap<i64, Entry>,
    of_meter: HashMap<MeterId, BTreeSet<i64>>,
    due: BTreeSet<(Instant, i64)>,
}

impl Waiting {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Takes a message that is stored; it is due at `at`.
    pub(super) fn insert(&mut self, record: OutboxRecord, from: From, at: Instant) {
        let id = record.id;
        self.remove(id);
        self.of_meter.entry(record.name).or_default().insert(id);
        self.due.insert((at, id));
        self.entries.insert(id, Entry { record, from, attempts: 0, next_at: at });
    }

    /// Forgets a message, and says where it came from.
    pub(super) fn remove(&mut self, id: i64) -> Option<From> {
        let entry = self.entries.remove(&id)?;
        self.due.remove(&(entry.next_at, id));
        if let Some(ids) = self.of_meter.get_mut(&entry.record.name) {
            ids.remove(&id);
            if ids.is_empty() {
                self.of_meter.remove(&entry.record.name);
            }
        }
        Some(entry.from)
    }

    /// The one that is the same as this, now heard there, if it is time to send it again: it is sent often enough by itself.
    /// `None`: there is none.
    pub(super) fn heard_again(
        &mut self,
        message: &NewOutbox,
        route: Route,
        rssi_dbm: Option<i8>,
        now: Instant,
    ) -> Option<i64> {
        let ids = self.of_meter.get(&message.name)?;
        let same = |id: &&i64| {
            self.entries.get(id).is_some_and(|Entry { record, .. }| {
                (record.kind, record.suite, record.low) == (message.kind, message.suite, message.low)
                    && record.message == message.message
            })
        };
        let id = ids.iter().find(same).copied()?;
        let entry = self.entries.get_mut(&id)?;
        entry.from = Some((route, rssi_dbm));
        // Its meter is near and waits: from the beginning.
        entry.attempts = 0;
        self.due.remove(&(entry.next_at, id));
        entry.next_at = now;
        self.due.insert((now, id));
        Some(id)
    }

    /// Forgets as many of the oldest as have to go for one more of this meter, and for `more` in all. Nothing is lost by that: meters
    /// have what was not acknowledged.
    pub(super) fn make_room(&mut self, meter: MeterId, more: usize) -> Vec<i64> {
        let mut gone = Vec::new();
        while let Some(ids) = self.of_meter.get(&meter)
            && ids.len() >= MOST_OUTBOX_OF_A_METER
            && let Some(id) = ids.first().copied()
        {
            self.remove(id);
            gone.push(id);
        }
        while self.entries.len() + more > MOST_OUTBOX
            && let Some(id) = self.entries.keys().next().copied()
        {
            self.remove(id);
            gone.push(id);
        }
        gone
    }

    /// When the next one is to be sent.
    pub(super) fn next_at(&self) -> Option<Instant> {
        self.due.first().map(|(at, _)| *at)
    }

    /// The next one that is to be sent by now.
    pub(super) fn due(&self, now: Instant) -> Option<i64> {
        self.due.first().filter(|(at, _)| *at <= now).map(|(_, id)| *id)
    }

    /// Whether it waited for too long.
    pub(super) fn is_over(&self, id: i64, now: SystemTime) -> bool {
        let now_ms = now.duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis() as i64);
        self.entries.get(&id).is_some_and(|entry| now_ms - entry.record.heard_ms > MOST_AGE_MS)
    }

    /// Counts an attempt, and says what to send.
    pub(super) fn sent(&mut self, id: i64, now: Instant) -> Option<(NewOutbox, Option<i8>)> {
        let entry = self.entries.get_mut(&id)?;
        self.due.remove(&(entry.next_at, id));
        let after = AGAIN_AFTER[0].saturating_mul(1 << entry.attempts.min(10)).min(AGAIN_AFTER[1]);
        entry.attempts += 1;
        entry.next_at = now + after;
        self.due.insert((entry.next_at, id));
        let OutboxRecord { address, name, kind, suite, low, ref message, heard_ms, .. } = entry.record;
        let message = NewOutbox { address, name, kind, suite, low, message: message.clone(), heard_ms };
        Some((message, entry.from.and_then(|(_, rssi_dbm)| rssi_dbm)))
    }

    /// Those that an acknowledgement is of.
    pub(super) fn named(&self, of: Name) -> Vec<i64> {
        let is = |id: &&i64| {
            self.entries
                .get(id)
                .is_some_and(|entry| entry.record.low == of.low && entry.record.suite == of.suite)
        };
        self.of_meter.get(&of.name).map(|ids| ids.iter().filter(is).copied().collect()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::GatewayId;
    use wire::meter::Kind;

    fn record(id: i64, name: MeterId, low: u8) -> OutboxRecord {
        let (suite, message) = (Suite::Aes128Gcm, vec![low; 36]);
        OutboxRecord { id, address: 0x4f, name, kind: Kind::Report, suite, low, message, heard_ms: 0 }
    }

    fn new(name: MeterId, low: u8) -> NewOutbox {
        let OutboxRecord { address, name, kind, suite, low, message, heard_ms, .. } = record(0, name, low);
        NewOutbox { address, name, kind, suite, low, message, heard_ms }
    }

    #[test]
    fn each_is_sent_less_and_less_often_and_at_once_when_it_is_heard_again() {
        let begun = Instant::now();
        let mut waiting = Waiting::default();
        waiting.insert(record(1, 5, 9), None, begun);
        let mut now = begun;
        let mut gaps = Vec::new();
        for _ in 0..9 {
            let at = waiting.next_at().expect("one waits");
            gaps.push((at - now).as_secs());
            now = at;
            assert_eq!(waiting.due(now), Some(1));
            assert!(waiting.sent(1, now).is_some());
            assert_eq!(waiting.due(now), None);
        }
        assert_eq!(gaps, [0, 1, 2, 4, 8, 16, 32, 60, 60]);
        let route = Route { gateway: GatewayId(3), peer: None };
        assert_eq!(waiting.heard_again(&new(5, 8), route, None, now), None);
        assert_eq!(waiting.heard_again(&new(6, 9), route, None, now), None);
        assert_eq!(waiting.heard_again(&new(5, 9), route, Some(-50), now), Some(1));
        assert_eq!(waiting.sent(1, now).expect("it waits"), (new(5, 9), Some(-50)));
        assert_eq!(waiting.next_at(), Some(now + AGAIN_AFTER[0]));
        assert_eq!(waiting.remove(1), Some(Some((route, Some(-50)))));
        assert!(waiting.next_at().is_none() && waiting.of_meter.is_empty());
    }

    #[test]
    fn an_acknowledgement_is_of_one_meter_suite_and_number() {
        let mut waiting = Waiting::default();
        for (id, name, low) in [(1, 5, 9), (2, 5, 10), (3, 6, 9)] {
            waiting.insert(record(id, name, low), None, Instant::now());
        }
        let named = |name, low, suite| waiting.named(Name { name, low, suite });
        assert_eq!(named(5, 9, Suite::Aes128Gcm), [1]);
        assert!(named(5, 9, Suite::Ecies).is_empty());
        assert!(named(7, 9, Suite::Aes128Gcm).is_empty());
    }

    #[test]
    fn the_oldest_of_a_meter_make_room() {
        let mut waiting = Waiting::default();
        for id in 1..=8 {
            waiting.insert(record(id, 5, id as u8), None, Instant::now());
        }
        waiting.insert(record(9, 6, 1), None, Instant::now());
        assert!(waiting.make_room(6, 1).is_empty());
        assert_eq!(waiting.make_room(5, 1), [1]);
        assert_eq!(waiting.len(), 8);
    }

    #[test]
    fn what_nobody_wanted_for_a_week_is_over() {
        let mut waiting = Waiting::default();
        waiting.insert(record(1, 5, 9), None, Instant::now());
        let at = |ms: i64| UNIX_EPOCH + Duration::from_millis(ms as u64);
        assert!(!waiting.is_over(1, at(MOST_AGE_MS)));
        assert!(waiting.is_over(1, at(MOST_AGE_MS + 1)));
    }
}
