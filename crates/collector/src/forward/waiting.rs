//! The messages that wait for the far collector's acknowledgement, and when each is sent again. The
//! store has those of meters that it acknowledged something of before.

use super::acknowledged::SOURCES_MAX;
use super::bucket::Rate;
use super::queue::{LaneKey, Queue};
use super::source::Source;
use crate::gateway::Route;
use crate::store::{METER_OUTBOX_MAX, NewOutbox, OUTBOX_MAX, OutboxRecord};
use rand::Rng;
use rand::rngs::StdRng;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;
use wire::meter::{MeterId, Suite, pieces};

/// Messages of a meter by one source at most.
pub(super) const PER_SOURCE_MAX: usize = 8;
/// Messages of unknown meters at most. They are in memory alone.
pub(super) const UNKNOWN_MAX: usize = 4096;
/// The number of messages among which one is dropped when room is short.
const CANDIDATES: usize = 16;

/// The standing of a message, as far as the concentrator can know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Something of that meter was acknowledged that came from there; or it was stored before a
    /// restart.
    Acknowledged,
    /// It may be anybody's.
    Unknown,
}

/// The treatment of a standing's messages.
struct Treatment {
    /// Messages that wait at most.
    most: usize,
    /// Datagrams upstream of all of them.
    rate: Rate,
    /// Of a lane: of one meter by one source; of unknown meters by a source.
    lane_rate: Rate,
    /// The delays of the first and the longest repetition; each is twice as long as the one before.
    again_after: [Duration; 2],
    /// The age at which an unacknowledged message goes: its meter has it, or it was nobody's.
    most_age: Duration,
}

const ACKNOWLEDGED: Treatment = Treatment {
    most: OUTBOX_MAX,
    rate: Rate { per_s: 2000, burst: 500 },
    // A journal that is emptied is a burst; then four messages of three pieces a second.
    lane_rate: Rate { per_s: 12, burst: 96 },
    again_after: [Duration::from_secs(1), Duration::from_secs(60)],
    most_age: Duration::from_secs(7 * 24 * 3600),
};

const UNKNOWN: Treatment = Treatment {
    most: UNKNOWN_MAX,
    rate: Rate { per_s: 100, burst: 200 },
    lane_rate: Rate { per_s: 20, burst: 60 },
    again_after: [Duration::from_secs(1), Duration::from_secs(1024)],
    most_age: Duration::from_secs(3600),
};

impl Standing {
    fn treatment(self) -> &'static Treatment {
        match self {
            Standing::Acknowledged => &ACKNOWLEDGED,
            Standing::Unknown => &UNKNOWN,
        }
    }
}

/// The report that an acknowledgement names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Name {
    pub(super) name: MeterId,
    pub(super) number_lsb: u8,
    pub(super) suite: Suite,
}

/// The origin of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) route: Route,
    pub(super) rssi_dbm: Option<i8>,
    pub(super) standing: Standing,
}

struct Entry {
    record: OutboxRecord,
    /// One for each source, at most [`SOURCES_MAX`].
    origins: Vec<Origin>,
    /// The source that it counts for; `None`: not known after a restart.
    source: Option<Source>,
    standing: Standing,
    /// The number of times that it was heard.
    heard: u32,
    attempts: u32,
    next_at: Instant,
}

impl Entry {
    fn lane(&self) -> LaneKey {
        let name = (self.standing == Standing::Acknowledged).then_some(self.record.name);
        LaneKey { name, source: self.source }
    }

    /// Adds where it was heard again. An unknown origin replaces no known one.
    fn add(&mut self, origin: Origin) {
        let source = |origin: &Origin| Source::from(origin.route);
        if let Some(same) = self.origins.iter_mut().find(|known| source(known) == source(&origin)) {
            *same = origin;
        } else if self.origins.len() < SOURCES_MAX {
            self.origins.push(origin);
        } else if let Some(unknown_meter) =
            self.origins.iter_mut().find(|known| known.standing == Standing::Unknown)
        {
            *unknown_meter = origin;
        }
    }
}

/// The messages that wait.
pub(super) struct Waiting {
    entries: HashMap<i64, Entry>,
    of_name: HashMap<MeterId, Vec<i64>>,
    acknowledged: Queue,
    unknown_meters: Queue,
    /// Of the next message that is not stored.
    next_id: i64,
    rng: StdRng,
}

impl Waiting {
    /// rng: chooses who goes where room is short.
    pub(super) fn new(rng: StdRng) -> Waiting {
        let queue = |standing: Standing| {
            let Treatment { rate, lane_rate, .. } = *standing.treatment();
            Queue::new(rate, lane_rate)
        };
        Waiting {
            entries: HashMap::new(),
            of_name: HashMap::new(),
            acknowledged: queue(Standing::Acknowledged),
            unknown_meters: queue(Standing::Unknown),
            next_id: -1,
            rng,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn unknown_meters(&self) -> usize {
        self.unknown_meters.len()
    }

    fn queue(&mut self, standing: Standing) -> &mut Queue {
        match standing {
            Standing::Acknowledged => &mut self.acknowledged,
            Standing::Unknown => &mut self.unknown_meters,
        }
    }

    /// Takes a message that is stored, due at `at`; origin: where it was heard, which is not known
    /// after a restart. Returns the messages that made room for it. Nothing is lost by that: meters
    /// have what was not acknowledged.
    pub(super) fn insert(&mut self, record: OutboxRecord, origin: Option<Origin>, at: Instant) -> Vec<i64> {
        let id = record.id;
        self.remove(id);
        let standing = origin.map_or(Standing::Acknowledged, |origin| origin.standing);
        let source = origin.map(|origin| Source::from(origin.route));
        let gone = self.make_room(record.name, source, standing);
        let heard = u32::from(origin.is_some());
        let origins = origin.into_iter().collect();
        self.put(Entry { record, origins, source, standing, heard, attempts: 0, next_at: at });
        gone
    }

    /// Takes a message that is in memory alone.
    pub(super) fn insert_unstored(&mut self, message: NewOutbox, origin: Origin, at: Instant) -> Vec<i64> {
        let NewOutbox { address, name, kind, suite, number_lsb, message, heard_ms } = message;
        let id = self.next_id;
        self.next_id -= 1;
        let record = OutboxRecord { id, address, name, kind, suite, number_lsb, message, heard_ms };
        self.insert(record, Some(origin), at)
    }

    fn put(&mut self, entry: Entry) {
        let (id, lane) = (entry.record.id, entry.lane());
        self.of_name.entry(entry.record.name).or_default().push(id);
        self.queue(entry.standing).insert(lane, entry.next_at, id);
        self.entries.insert(id, entry);
    }

    fn take_out(&mut self, id: i64) -> Option<Entry> {
        let entry = self.entries.remove(&id)?;
        self.queue(entry.standing).remove(entry.lane(), entry.next_at, id);
        if let Some(ids) = self.of_name.get_mut(&entry.record.name) {
            ids.retain(|other| *other != id);
            if ids.is_empty() {
                self.of_name.remove(&entry.record.name);
            }
        }
        Some(entry)
    }

    /// Forgets a message, and says where it was heard.
    pub(super) fn remove(&mut self, id: i64) -> Option<Vec<Origin>> {
        self.take_out(id).map(|entry| entry.origins)
    }

    /// Says if the same message waits, and records its new origin. A message of a meter that is
    /// known there is due at once, from the beginning. With unknown meters only the order of
    /// dropping changes.
    pub(super) fn heard_again(&mut self, message: &NewOutbox, origin: Origin, now: Instant) -> bool {
        let Some(ids) = self.of_name.get(&message.name) else { return false };
        let same = |id: &&i64| {
            self.entries.get(id).is_some_and(|Entry { record, .. }| {
                (record.kind, record.suite, record.number_lsb)
                    == (message.kind, message.suite, message.number_lsb)
                    && record.message == message.message
            })
        };
        let Some(id) = ids.iter().find(same).copied() else { return false };
        let Some(entry) = self.entries.get_mut(&id) else { return false };
        entry.heard = entry.heard.saturating_add(1);
        entry.add(origin);
        if origin.standing == Standing::Acknowledged {
            self.move_to(id, Source::from(origin.route), now);
        }
        true
    }

    /// A meter is known by that source from now on: its messages of there, and of before a restart,
    /// are treated like that.
    pub(super) fn acknowledged(&mut self, name: MeterId, source: Source, now: Instant) {
        for id in self.of_name.get(&name).cloned().unwrap_or_default() {
            let is_there = |entry: &Entry| entry.source.is_none_or(|of| of == source);
            if self.entries.get(&id).is_some_and(is_there) {
                self.move_to(id, source, now);
            }
        }
    }

    /// Counts a message for a source by which its meter is known, and has it sent from the
    /// beginning.
    fn move_to(&mut self, id: i64, source: Source, now: Instant) {
        let Some(entry) = self.take_out(id) else { return };
        let next_at = entry.next_at.min(now);
        let standing = Standing::Acknowledged;
        self.put(Entry { source: Some(source), standing, attempts: 0, next_at, ..entry });
    }

    /// Forgets what has to go for one more of this meter and source.
    fn make_room(&mut self, name: MeterId, source: Option<Source>, standing: Standing) -> Vec<i64> {
        let most = standing.treatment().most;
        let mut gone = Vec::new();
        loop {
            let of_name = self.of_name.get(&name).map(Vec::as_slice).unwrap_or_default();
            let is_of = |id: &i64| self.entries.get(id).filter(|entry| entry.standing == standing);
            let of_name: Vec<(i64, Option<Source>)> =
                of_name.iter().filter_map(|id| Some((*id, is_of(id)?.source))).collect();
            let of_source: Vec<i64> =
                of_name.iter().filter(|(_, of)| *of == source).map(|(id, _)| *id).collect();
            let candidates = if source.is_some() && of_source.len() >= PER_SOURCE_MAX {
                of_source
            } else if of_name.len() >= METER_OUTBOX_MAX {
                of_name.into_iter().map(|(id, _)| id).collect()
            } else if self.queue(standing).len() >= most {
                self.some(standing)
            } else {
                return gone;
            };
            let Some(id) = self.least(&candidates) else { return gone };
            self.remove(id);
            gone.push(id);
        }
    }

    fn some(&mut self, standing: Standing) -> Vec<i64> {
        let Waiting { acknowledged, unknown_meters, rng, .. } = self;
        let queue = match standing {
            Standing::Acknowledged => acknowledged,
            Standing::Unknown => unknown_meters,
        };
        (0..CANDIDATES).filter_map(|_| queue.any(rng)).collect()
    }

    /// The one that was heard least often, a meter says the same until it is acknowledged; among
    /// these one of who has most; else any: who knows when a meter speaks must not know what goes.
    fn least(&mut self, candidates: &[i64]) -> Option<i64> {
        let Waiting { entries, acknowledged, unknown_meters, rng, .. } = self;
        let rank = |id: &&i64| {
            let entry = entries.get(id);
            let of_lane = entry.map(|entry| match entry.standing {
                Standing::Acknowledged => acknowledged.len_of(entry.lane()),
                Standing::Unknown => unknown_meters.len_of(entry.lane()),
            });
            (entry.map(|entry| entry.heard), Reverse(of_lane), rng.random::<u32>())
        };
        candidates.iter().min_by_key(rank).copied()
    }

    /// When the next one may be sent.
    pub(super) fn next_at(&self) -> Option<Instant> {
        self.acknowledged.next_at().into_iter().chain(self.unknown_meters.next_at()).min()
    }

    /// The next one that may be sent by now.
    pub(super) fn due(&self, now: Instant) -> Option<i64> {
        self.acknowledged.due(now).or_else(|| self.unknown_meters.due(now))
    }

    /// Says if it waited for too long.
    pub(super) fn is_over(&self, id: i64, now: SystemTime) -> bool {
        let now_ms = now.duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis() as i64);
        self.entries.get(&id).is_some_and(|entry| {
            now_ms - entry.record.heard_ms > entry.standing.treatment().most_age.as_millis() as i64
        })
    }

    /// Counts an attempt, and says what to send.
    pub(super) fn sent(&mut self, id: i64, now: Instant) -> Option<(NewOutbox, Option<i8>)> {
        let entry = self.entries.get_mut(&id)?;
        let (lane, standing, before) = (entry.lane(), entry.standing, entry.next_at);
        let [first, most] = standing.treatment().again_after;
        let after = first.saturating_mul(1 << entry.attempts.min(20)).min(most);
        entry.attempts += 1;
        entry.next_at = now + after;
        let next_at = entry.next_at;
        let rssi_dbm = entry.origins.last().and_then(|origin| origin.rssi_dbm);
        let OutboxRecord { address, name, kind, suite, number_lsb, ref message, heard_ms, .. } = entry.record;
        let message =
            NewOutbox { address, name, kind, suite, number_lsb, message: message.clone(), heard_ms };
        let queue = self.queue(standing);
        queue.set_due(lane, before, next_at, id);
        queue.count(lane, pieces(kind, suite) as u32, now);
        Some((message, rssi_dbm))
    }

    /// Those that an acknowledgement is of.
    pub(super) fn named(&self, of: Name) -> Vec<i64> {
        let is = |id: &&i64| {
            self.entries.get(id).is_some_and(|entry| {
                entry.record.number_lsb == of.number_lsb && entry.record.suite == of.suite
            })
        };
        self.of_name.get(&of.name).map(|ids| ids.iter().filter(is).copied().collect()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::GatewayId;
    use rand::SeedableRng;
    use wire::meter::MessageKind;

    fn record(id: i64, name: MeterId, number_lsb: u8) -> OutboxRecord {
        let (suite, message) = (Suite::Aes128Gcm, vec![number_lsb; 36]);
        OutboxRecord {
            id,
            address: 0x4f,
            name,
            kind: MessageKind::Report,
            suite,
            number_lsb,
            message,
            heard_ms: 0,
        }
    }

    fn new(name: MeterId, number_lsb: u8) -> NewOutbox {
        let OutboxRecord { address, name, kind, suite, number_lsb, message, heard_ms, .. } =
            record(0, name, number_lsb);
        NewOutbox { address, name, kind, suite, number_lsb, message, heard_ms }
    }

    fn origin(gateway: u16, standing: Standing) -> Origin {
        let route = Route { gateway: GatewayId::of(gateway.into()), peer: None };
        Origin { route, rssi_dbm: Some(-50), standing }
    }

    fn waiting() -> Waiting {
        Waiting::new(StdRng::seed_from_u64(1))
    }

    /// After how many seconds one message is sent, ten times.
    fn gaps(waiting: &mut Waiting, begun: Instant) -> Vec<u64> {
        let mut now = begun;
        let gap = |_| {
            let at = waiting.next_at().expect("one waits");
            let id = waiting.due(at).expect("it is due");
            assert!(waiting.sent(id, at).is_some());
            assert_eq!(waiting.due(at), None);
            let gap = (at - now).as_secs();
            now = at;
            gap
        };
        (0..13).map(gap).collect()
    }

    #[test]
    fn resend_interval_grows_and_faster_for_unknown_meters() {
        let begun = Instant::now();
        let mut known = waiting();
        known.insert(record(1, 5, 9), Some(origin(3, Standing::Acknowledged)), begun);
        assert_eq!(gaps(&mut known, begun), [0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60]);
        let mut unknown_meters = waiting();
        unknown_meters.insert_unstored(new(5, 9), origin(3, Standing::Unknown), begun);
        assert_eq!(gaps(&mut unknown_meters, begun), [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024]);
    }

    #[test]
    fn repeated_message_of_known_meter_is_due_at_once() {
        let now = Instant::now();
        let mut waiting = waiting();
        let (known, unknown_meter) = (origin(3, Standing::Acknowledged), origin(4, Standing::Unknown));
        waiting.insert(record(1, 5, 9), Some(known), now);
        assert!(waiting.sent(1, now).is_some() && waiting.sent(1, now).is_some());
        assert!(!waiting.heard_again(&new(5, 8), known, now));
        assert!(!waiting.heard_again(&new(6, 9), known, now));
        assert!(waiting.heard_again(&new(5, 9), unknown_meter, now));
        assert_eq!(waiting.due(now), None);
        assert!(waiting.heard_again(&new(5, 9), known, now));
        assert_eq!(waiting.due(now), Some(1));
        assert_eq!(waiting.sent(1, now).expect("it waits"), (new(5, 9), Some(-50)));
        assert_eq!(waiting.next_at(), Some(now + ACKNOWLEDGED.again_after[0]));
        assert_eq!(waiting.remove(1), Some(vec![known, unknown_meter]));
        assert!(waiting.next_at().is_none() && waiting.of_name.is_empty());
    }

    #[test]
    fn an_acknowledgement_is_of_one_meter_suite_and_number() {
        let mut waiting = waiting();
        for (id, name, number_lsb) in [(1, 5, 9), (2, 5, 10), (3, 6, 9)] {
            waiting.insert(record(id, name, number_lsb), None, Instant::now());
        }
        let named = |name, number_lsb, suite| waiting.named(Name { name, number_lsb, suite });
        assert_eq!(named(5, 9, Suite::Aes128Gcm), [1]);
        assert!(named(5, 9, Suite::Ecies).is_empty());
        assert!(named(7, 9, Suite::Aes128Gcm).is_empty());
    }

    #[test]
    fn repeated_message_outlives_single_one() {
        let now = Instant::now();
        let mut waiting = waiting();
        let known = origin(3, Standing::Acknowledged);
        waiting.insert(record(1, 5, 255), Some(known), now);
        waiting.heard_again(&new(5, 255), known, now);
        for number_lsb in 0..200 {
            waiting.insert_unstored(new(5, number_lsb), known, now);
        }
        assert_eq!(waiting.len(), PER_SOURCE_MAX);
        assert_eq!(waiting.named(Name { name: 5, number_lsb: 255, suite: Suite::Aes128Gcm }), [1]);
    }

    #[test]
    fn a_name_has_its_bound_whatever_the_number_of_sources() {
        let mut waiting = waiting();
        for gateway in 0..200 {
            let unknown_meter = origin(gateway, Standing::Unknown);
            waiting.insert_unstored(new(5, gateway as u8), unknown_meter, Instant::now());
        }
        assert_eq!(waiting.len(), METER_OUTBOX_MAX);
    }

    #[test]
    fn full_queue_drops_from_unknown_meter_with_most_first() {
        let now = Instant::now();
        let mut waiting = waiting();
        waiting.insert(record(1, 5, 1), Some(origin(3, Standing::Acknowledged)), now);
        for name in 10..30 {
            waiting.insert_unstored(new(name, 1), origin(4, Standing::Unknown), now);
        }
        for name in 100..100 + 2 * UNKNOWN_MAX as u16 {
            waiting.insert_unstored(new(name, 1), origin(5, Standing::Unknown), now);
        }
        assert_eq!((waiting.len(), waiting.unknown_meters()), (UNKNOWN_MAX + 1, UNKNOWN_MAX));
        let is_there =
            |name| !waiting.named(Name { name, number_lsb: 1, suite: Suite::Aes128Gcm }).is_empty();
        assert!(is_there(5) && (10..30).all(is_there));
    }

    #[test]
    fn message_from_before_restart_joins_its_meter_once_known() {
        let now = Instant::now();
        let mut waiting = waiting();
        waiting.insert(record(1, 5, 1), None, now);
        waiting.insert_unstored(new(5, 2), origin(3, Standing::Unknown), now);
        waiting.insert_unstored(new(5, 3), origin(4, Standing::Unknown), now);
        for _ in 0..3 {
            let id = waiting.due(now).expect("all are due");
            assert!(waiting.sent(id, now).is_some());
        }
        assert_eq!(waiting.due(now), None);
        waiting.acknowledged(5, origin(3, Standing::Unknown).route.into(), now);
        assert_eq!((waiting.len(), waiting.unknown_meters()), (3, 1));
        for _ in 0..2 {
            let id = waiting.due(now).expect("two are due anew");
            assert!(waiting.sent(id, now).is_some());
        }
        assert_eq!(waiting.due(now), None);
    }

    #[test]
    fn unwanted_message_expires_after_a_week_or_an_hour_if_unknown() {
        let mut waiting = waiting();
        let at = |ms: u64| UNIX_EPOCH + Duration::from_millis(ms);
        waiting.insert(record(1, 5, 9), None, Instant::now());
        waiting.insert_unstored(new(5, 8), origin(3, Standing::Unknown), Instant::now());
        for (id, hours) in [(1, 7 * 24), (-1, 1)] {
            assert!(!waiting.is_over(id, at(hours * 3_600_000)));
            assert!(waiting.is_over(id, at(hours * 3_600_000 + 1)));
        }
    }
}
