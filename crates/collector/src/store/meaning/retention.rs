//! Readings that are old enough go, a few at a time; which are. Rollups, alerts and signed messages
//! stay.
//!
//! A clock that is wrong must not make readings old. So a reading's age is the counted time since:
//! time that went by on the system's clock and, while the service ran, on one that nobody sets.
//! Time on the system's clock alone, because it was set or the service was not there, is a pause,
//! and does not count. Nothing is stored in a pause, so that no more is kept than `--keep` days of
//! readings; earlier readings go that much later.

use crate::store::sql::{Session, SqlError, json, values};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The period of the search for old rows.
const EVERY: Duration = Duration::from_secs(3600);
/// The system's clock is ahead of what was counted by no more than that between two looks, or it is
/// a pause.
const DRIFT_S_MAX: i64 = 3600;
/// The time that a clock behind the counted time has to stay there before it is believed. One that
/// nobody has set since the power came back is right within minutes.
const BELIEVED_AFTER: Duration = Duration::from_secs(86_400);
/// Pauses that are remembered; of more the oldest become one.
const PAUSES_MAX: usize = 1000;

/// The retention of rows: it decides, the engine deletes.
#[derive(Debug)]
pub(in crate::store) struct Retention {
    keep_s: i64,
    /// When something was heard last before the start.
    heard_s: Option<i64>,
    counted: Option<Counted>,
    looked: Option<Instant>,
    behind_since: Option<Instant>,
    next: Option<Instant>,
}

/// The counted time; kept in `meta`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Counted {
    /// Until then, in s.
    until_s: i64,
    /// But for what lies between these, oldest first.
    pauses: Vec<(i64, i64)>,
}

impl Counted {
    /// Counts on until now, of which `elapsed_s` went by for certain.
    fn go_on(&mut self, now_s: i64, elapsed_s: i64) {
        if now_s - self.until_s > elapsed_s + DRIFT_S_MAX {
            self.pauses.push((self.until_s, now_s - elapsed_s));
        }
        self.until_s = now_s;
        if self.pauses.len() > PAUSES_MAX {
            let (from_s, _) = self.pauses.remove(0);
            self.pauses[0].0 = from_s;
        }
    }

    /// The clock was ahead, and is not any more.
    fn go_back(&mut self, now_s: i64) {
        self.until_s = now_s;
        self.pauses.retain(|(_, to_s)| *to_s <= now_s);
    }

    /// When it was that so much had to be counted until now. Pauses before that are forgotten.
    fn back(&mut self, mut keep_s: i64) -> i64 {
        let mut to_s = self.until_s;
        let mut needed = 0;
        for (from_s, until_s) in self.pauses.iter().rev() {
            let counted_s = to_s - until_s;
            if counted_s >= keep_s {
                break;
            }
            (keep_s, to_s) = (keep_s - counted_s, *from_s);
            needed += 1;
        }
        self.pauses.drain(..self.pauses.len() - needed);
        to_s - keep_s
    }
}

impl Retention {
    /// heard_ms: when something was heard last that is stored.
    pub(in crate::store) fn new(keep_days: u32, heard_ms: Option<i64>) -> Retention {
        let keep_s = i64::from(keep_days) * 86_400;
        let heard_s = heard_ms.map(|heard_ms| heard_ms.div_euclid(1000));
        Retention { keep_s, heard_s, counted: None, looked: None, behind_since: None, next: None }
    }

    /// Before when readings go, once it is time to look for them again, and the clock can be right.
    /// first_ms: when a meter was heard first.
    pub(in crate::store) fn check(
        &mut self,
        session: Session<'_>,
        first_ms: Option<i64>,
        now_ms: i64,
        now: Instant,
    ) -> Result<Option<i64>, SqlError> {
        if self.next.is_some_and(|next| now < next) {
            return Ok(None);
        }
        self.next = Some(now + EVERY);
        let first_s = first_ms.map(|first_ms| first_ms.div_euclid(1000));
        let Some(before_s) = self.count(session, first_s, now_ms.div_euclid(1000), now)? else {
            return Ok(None);
        };
        session.execute(
            "INSERT INTO meta (key, value) VALUES ('kept_from_s', $1) ON CONFLICT (key) DO UPDATE SET value = excluded.value \
             WHERE CAST(meta.value AS BIGINT) < CAST(excluded.value AS BIGINT)",
            values![&before_s.to_string()],
        )?;
        Ok(Some(before_s))
    }

    /// Counts on. Before when readings go; `None`: the clock cannot be right.
    fn count(
        &mut self,
        session: Session<'_>,
        first_s: Option<i64>,
        now_s: i64,
        now: Instant,
    ) -> Result<Option<i64>, SqlError> {
        let mut counted = match self.counted.take() {
            Some(counted) => counted,
            None => {
                let stored = load(session)?;
                // The service was there until it heard something last; in a new database all came
                // since the start.
                let until_s = stored.as_ref().map(|stored| stored.until_s).max(self.heard_s);
                let until_s = until_s.or(first_s).unwrap_or(now_s);
                Counted { until_s, pauses: stored.map(|stored| stored.pauses).unwrap_or_default() }
            }
        };
        let elapsed_s = self.looked.map_or(0, |looked| (now - looked).as_secs() as i64);
        self.looked = Some(now);
        if now_s < counted.until_s {
            let since = *self.behind_since.get_or_insert(now);
            if now - since < BELIEVED_AFTER {
                self.counted = Some(counted);
                return Ok(None);
            }
            counted.go_back(now_s);
        } else {
            counted.go_on(now_s, elapsed_s);
        }
        self.behind_since = None;
        let before_s = counted.back(self.keep_s);
        save(session, &counted)?;
        self.counted = Some(counted);
        Ok(Some(before_s))
    }
}

fn load(session: Session<'_>) -> Result<Option<Counted>, SqlError> {
    let sql = "SELECT value FROM meta WHERE key = 'counted'";
    let text: Option<String> = session.first(sql, &[], |row| row.get(0))?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

fn save(session: Session<'_>, counted: &Counted) -> Result<(), SqlError> {
    let sql = "INSERT INTO meta (key, value) VALUES ('counted', $1) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    session.execute(sql, values![&json(counted)?]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::engine::sqlite::Sweep;
    use rusqlite::{Connection, params};

    const DAY_S: i64 = 86_400;
    /// 2026-01-01 00:00:00 UTC.
    const NEW_YEAR_S: i64 = 1_767_225_600;

    /// A collector whose true time and clock are two things, and that hears its meter each hour
    /// while it runs.
    struct Collector {
        connection: Connection,
        retention: Retention,
        keep_days: u32,
        began: Instant,
        true_s: i64,
        /// The lead of its clock.
        ahead_s: i64,
        heard_ms: Option<i64>,
    }

    impl Collector {
        fn new(keep_days: u32) -> Collector {
            let connection = Connection::open_in_memory().expect("a database");
            connection.execute_batch(include_str!("../engine/sqlite/schema/1.sql")).expect("tables");
            let retention = Retention::new(keep_days, None);
            let (began, true_s) = (Instant::now(), NEW_YEAR_S);
            Collector { connection, retention, keep_days, began, true_s, ahead_s: 0, heard_ms: None }
        }

        fn restart_after(&mut self, days: i64) {
            self.true_s += days * DAY_S;
            self.retention = Retention::new(self.keep_days, self.heard_ms);
        }

        /// Runs, with a reading each hour, whose n is the true hour. Nothing younger than is to be
        /// kept ever goes.
        fn run(&mut self, days: i64) {
            for _ in 0..days * 24 {
                self.true_s += 3600;
                let clock_s = self.true_s + self.ahead_s;
                let n = (self.true_s - NEW_YEAR_S) / 3600;
                self.heard_ms = Some(clock_s * 1000);
                let insert = "INSERT INTO readings VALUES (1, ?1, 1, ?2, 0, 0, 0, NULL, ?3)";
                self.connection.execute(insert, params![clock_s, n, clock_s * 1000]).expect("stored");
                let heard: i64 = n + 1;
                self.check(clock_s * 1000);
                assert!(self.stored().last().is_some_and(|last| last + 1 == heard));
            }
        }

        /// Lets go of what is old. Returns whether it was looked for.
        fn check(&mut self, now_ms: i64) -> bool {
            let now = self.began + Duration::from_secs((self.true_s - NEW_YEAR_S) as u64);
            let first = Some(NEW_YEAR_S * 1000);
            let before_s = self.retention.check((&self.connection).into(), first, now_ms, now);
            let Some(before_s) = before_s.expect("a look") else { return false };
            let mut sweep = Sweep::new(before_s, vec![1.into()]);
            while sweep.step(&self.connection).expect("a step") {}
            true
        }

        /// The true hours of all readings that are there, in order.
        fn stored(&self) -> Vec<i64> {
            let mut all = self.connection.prepare("SELECT n FROM readings ORDER BY n").expect("a question");
            all.query_map([], |row| row.get(0)).expect("rows").collect::<Result<_, _>>().expect("numbers")
        }

        /// The youngest readings, as many as days are to be kept, are there.
        fn assert_kept(&self, readings: usize) {
            let stored = self.stored();
            let now = (self.true_s - NEW_YEAR_S) / 3600;
            let oldest = now - i64::from(self.keep_days) * 24 + 1;
            let young: Vec<i64> = stored.iter().copied().filter(|n| *n >= oldest).collect();
            assert_eq!(young.len(), readings, "of {stored:?}");
        }
    }

    #[test]
    fn older_rows_are_removed() {
        let mut collector = Collector::new(7);
        collector.run(20);
        let stored = collector.stored();
        assert_eq!((stored[0], stored.len()), (13 * 24, 7 * 24 + 1));
    }

    #[test]
    fn a_clock_that_is_ahead_takes_nothing_before_its_time() {
        for (keep_days, ahead_days) in [(7, 20), (7, 2), (30, 20), (30, 3650)] {
            for restarted in [true, false] {
                let mut collector = Collector::new(keep_days);
                collector.run(7);
                collector.ahead_s = ahead_days * DAY_S;
                if restarted {
                    collector.restart_after(0);
                }
                for day in 1..=9 {
                    collector.run(1);
                    collector.assert_kept((7 + day).min(i64::from(keep_days)) as usize * 24);
                }
                // It is right again.
                collector.ahead_s = 0;
                for day in 10..=14 {
                    collector.run(1);
                    collector.assert_kept((7 + day).min(i64::from(keep_days)) as usize * 24);
                }
            }
        }
    }

    #[test]
    fn a_clock_that_was_right_again_lets_go_of_what_is_old() {
        let mut collector = Collector::new(7);
        collector.run(7);
        collector.ahead_s = 3650 * DAY_S;
        collector.run(1);
        collector.ahead_s = 0;
        collector.run(20);
        let stored = collector.stored();
        // But for the day of the wrong clock.
        assert_eq!(stored.iter().filter(|n| **n < 20 * 24).count(), 24, "{stored:?}");
    }

    #[test]
    fn after_a_pause_readings_are_kept_that_much_longer_and_go() {
        let mut collector = Collector::new(7);
        collector.run(7);
        collector.restart_after(20);
        collector.run(1);
        // The hour before the first look is taken for one of the pause.
        assert_eq!(collector.stored().len(), 7 * 24 + 2, "a day went for the one that came");
        collector.run(7);
        assert_eq!(collector.stored().len(), 7 * 24 + 1);
        assert!(collector.stored()[0] >= 27 * 24);
    }

    #[test]
    fn clock_beginning_in_1970_keeps_no_row_for_ever() {
        let mut collector = Collector::new(7);
        collector.run(7);
        for _ in 0..10 {
            collector.restart_after(0);
            // One look before it is set.
            assert!(!collector.check(60_000));
            collector.run(1);
        }
        assert!(collector.stored()[0] >= 9 * 24, "{:?}", collector.stored());
    }

    #[test]
    fn late_report_is_not_removed_on_arrival() {
        let mut collector = Collector::new(7);
        collector.run(20);
        let insert = "INSERT INTO readings VALUES (1, ?1, 1, 4711, 0, 0, 0, NULL, ?2)";
        collector.connection.execute(insert, params![NEW_YEAR_S, collector.true_s * 1000]).expect("stored");
        let late = |collector: &Collector| {
            let sql = "SELECT count(*) FROM readings WHERE n = 4711";
            collector.connection.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a number")
        };
        collector.connection.execute("UPDATE readings SET n = n WHERE n = 4711", []).expect("there");
        for _ in 0..6 {
            step_a_day(&mut collector);
            assert_eq!(late(&collector), 1);
        }
        step_a_day(&mut collector);
        step_a_day(&mut collector);
        assert_eq!(late(&collector), 0);
    }

    /// Without readings, which have to be the last ones by number in `run`.
    fn step_a_day(collector: &mut Collector) {
        for _ in 0..24 {
            collector.true_s += 3600;
            collector.check((collector.true_s + collector.ahead_s) * 1000);
        }
    }

    #[test]
    fn pauses_are_bounded() {
        let mut counted = Counted::default();
        for day in 1..=3000 {
            counted.go_on(day * DAY_S, 3600);
        }
        assert_eq!(counted.pauses.len(), PAUSES_MAX);
        assert_eq!(counted.pauses[0].0, 0);
    }
}
