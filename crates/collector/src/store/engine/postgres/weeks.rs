//! The weeks of `readings`, each from Monday 00:00 UTC on: what PostgreSQL calls partitions of that
//! table.

use crate::store::meaning::batch::InsertedReport;
use crate::store::sql::postgres::Connection;
use crate::store::sql::{Session, SqlError, values};
use jiff::Timestamp;
use std::collections::BTreeMap;

const WEEK_S: i64 = 7 * 86_400;
/// 1970-01-05, a Monday.
const MONDAY_S: i64 = 4 * 86_400;
/// It is written down when a week's readings were heard, to the hour above: so that most batches
/// write nothing of it.
const HEARD_S: i64 = 3600;
/// "WSLW": the advisory lock of who makes one.
const LOCK: i64 = 0x5753_4c57;

/// The existing weeks: by beginning, the latest time that one of their readings was heard, in s.
#[derive(Clone, Debug, Default)]
pub(super) struct Weeks(BTreeMap<i64, i64>);

fn week_of(at_s: i64) -> i64 {
    at_s - (at_s - MONDAY_S).rem_euclid(WEEK_S)
}

/// `readings_20260105`; before the year 1 and after 9999 with the seconds.
fn name(from_s: i64) -> String {
    match Timestamp::from_second(from_s) {
        Ok(at) => format!("readings_{}", at.strftime("%Y%m%d")),
        Err(_) => format!("readings_{}", from_s).replace('-', "before_"),
    }
}

impl Weeks {
    pub(super) fn load(session: Session<'_>) -> Result<Weeks, SqlError> {
        let sql = "SELECT from_s, heard_s FROM reading_weeks";
        let rows = session.query(sql, &[], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(Weeks(rows.into_iter().collect()))
    }

    /// Makes those that a batch's readings go into and that there are not, within its transaction.
    pub(super) fn make_for(
        &mut self,
        connection: &Connection,
        landed: &[InsertedReport],
    ) -> Result<(), SqlError> {
        self.make_of(connection, landed.iter().map(|landed| (landed.reading.at_s, landed.heard_ms)))
    }

    /// The same of readings of which it is known when they were taken, in s, and heard, in ms.
    pub(super) fn make_of(
        &mut self,
        connection: &Connection,
        readings: impl Iterator<Item = (i64, i64)>,
    ) -> Result<(), SqlError> {
        let mut heard: BTreeMap<i64, i64> = BTreeMap::new();
        for (at_s, heard_ms) in readings {
            let heard_s = heard_ms.div_euclid(1000);
            let latest = heard.entry(week_of(at_s)).or_insert(heard_s);
            *latest = (*latest).max(heard_s);
        }
        for (from_s, heard_s) in heard {
            let known = self.0.get(&from_s).copied();
            if known.is_some_and(|known_s| heard_s <= known_s) {
                continue;
            }
            self.put(connection, from_s, heard_s - heard_s.rem_euclid(HEARD_S) + HEARD_S)?;
        }
        Ok(())
    }

    /// Says if next week's table exists, so that no batch has to make it.
    pub(super) fn has_next(&self, now_s: i64) -> bool {
        self.0.contains_key(&week_of(now_s + WEEK_S))
    }

    /// Makes next week's, within a transaction.
    pub(super) fn make_next(&mut self, connection: &Connection, now_s: i64) -> Result<(), SqlError> {
        self.put(connection, week_of(now_s + WEEK_S), 0)
    }

    fn put(&mut self, connection: &Connection, from_s: i64, heard_s: i64) -> Result<(), SqlError> {
        let session = Session::Postgres(connection);
        if !self.0.contains_key(&from_s) {
            // Another writer may have made it, or be about to.
            connection.simple(&format!("SELECT pg_advisory_xact_lock({LOCK})"))?;
            let there = "SELECT from_s FROM reading_weeks WHERE from_s = $1";
            if session.first(there, values![from_s], |row| row.get::<i64>(0))?.is_none() {
                attach(connection, from_s)?;
            }
        }
        let heard_s = session.value(
            "INSERT INTO reading_weeks AS stored (from_s, heard_s) VALUES ($1, $2) ON CONFLICT (from_s) \
             DO UPDATE SET heard_s = greatest(stored.heard_s, excluded.heard_s) RETURNING heard_s",
            values![from_s, heard_s],
        )?;
        self.0.insert(from_s, heard_s);
        Ok(())
    }

    /// The oldest of which all readings were taken, and heard, before a time. A late report is not
    /// old when it comes.
    pub(super) fn old(&self, before_s: i64) -> Option<i64> {
        let old = |(from_s, heard_s): (&i64, &i64)| from_s + WEEK_S <= before_s && *heard_s <= before_s;
        self.0.iter().find(|of| old(*of)).map(|(from_s, _)| *from_s)
    }

    /// Takes one away, with all that is in it, within a transaction; not where another writer has
    /// put something into it since.
    pub(super) fn drop(
        &mut self,
        connection: &Connection,
        (from_s, before_s): (i64, i64),
    ) -> Result<(), SqlError> {
        let old = "DELETE FROM reading_weeks WHERE from_s = $1 AND heard_s <= $2";
        if Session::Postgres(connection).execute(old, values![from_s, before_s])? == 1 {
            connection.simple(&format!("DROP TABLE {}", name(from_s)))?;
        }
        self.0.remove(&from_s);
        Ok(())
    }
}

/// Made beside the table and then attached, which who reads does not have to wait for, as for one
/// that is made within it (<https://www.postgresql.org/docs/15/ddl-partitioning.html>, 5.11.2.2).
fn attach(connection: &Connection, from_s: i64) -> Result<(), SqlError> {
    let (name, to_s) = (name(from_s), from_s + WEEK_S);
    connection.simple(&format!(
        "CREATE TABLE {name} (LIKE readings INCLUDING ALL); \
         ALTER TABLE readings ATTACH PARTITION {name} FOR VALUES FROM ({from_s}) TO ({to_s})"
    ))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_begin_on_monday() {
        // 2026-01-05 is one.
        let monday_s = 1_767_571_200;
        assert_eq!((week_of(monday_s), week_of(monday_s - 1)), (monday_s, monday_s - WEEK_S));
        assert_eq!(week_of(monday_s + WEEK_S - 1), monday_s);
        assert_eq!(name(monday_s), "readings_20260105");
        assert_eq!(week_of(-1), MONDAY_S - WEEK_S);
        assert_eq!(name(i64::MIN / 2), "readings_before_4611686018427387904");
    }

    #[test]
    fn old_is_what_was_taken_and_heard_before() {
        let weeks = Weeks([(0, 90 * 86_400), (WEEK_S, 20 * 86_400), (2 * WEEK_S, 0)].into());
        assert_eq!(weeks.old(WEEK_S), None);
        assert_eq!(weeks.old(20 * 86_400), Some(WEEK_S));
        assert_eq!(weeks.old(90 * 86_400), Some(0));
    }
}
