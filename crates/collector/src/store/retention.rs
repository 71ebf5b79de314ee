//! Readings that are old enough go, a few at a time. Rollups, alerts and signed messages stay.

use rusqlite::{Connection, OptionalExtension, params};
use std::time::{Duration, Instant};
use wire::meter::MeterId;

/// Readings that go in one step, about; and meters that are looked at in one.
const STEP_ROWS: i64 = 2000;
const STEP_METERS: usize = 32;
/// All meters are looked at once in so long.
const EVERY: Duration = Duration::from_secs(3600);
/// A clock that is so far from what it should be was set.
const MOST_DRIFT_MS: i64 = 3_600_000;
/// A database whose last report is so old may have been off; or the clock is wrong.
const MOST_PAUSE_MS: i64 = 30 * 86_400_000;
/// After a clock was set, or may have been, it has to go on steadily for so long before anything goes.
const TRUST_AFTER: Duration = Duration::from_secs(7 * 86_400);

/// What is to go, and how far that is.
#[derive(Debug)]
pub(super) struct Retention {
    keep_ms: i64,
    clock: Option<Clock>,
    sweep: Option<Sweep>,
    next: Option<Instant>,
}

/// The system's clock, against one that nobody sets. A clock that is ahead by years would else empty the database.
#[derive(Clone, Copy, Debug)]
struct Clock {
    at_ms: i64,
    at: Instant,
    trusted_from: Instant,
}

/// One look at all meters.
#[derive(Debug)]
struct Sweep {
    before_s: i64,
    meters: Vec<MeterId>,
}

impl Retention {
    pub(super) fn new(keep_days: u32) -> Retention {
        Retention { keep_ms: i64::from(keep_days) * 86_400_000, clock: None, sweep: None, next: None }
    }

    /// Does a small step. Returns whether there is more.
    pub(super) fn step(
        &mut self,
        connection: &Connection,
        meters: impl Iterator<Item = (MeterId, Option<i64>)>,
        now_ms: i64,
        now: Instant,
    ) -> rusqlite::Result<bool> {
        let Some(sweep) = &mut self.sweep else {
            self.begin(connection, meters, now_ms, now)?;
            return Ok(self.sweep.is_some());
        };
        let mut rows = 0;
        for _ in 0..STEP_METERS {
            let Some(meter) = sweep.meters.last() else {
                self.sweep = None;
                return Ok(false);
            };
            let deleted = delete(connection, *meter, sweep.before_s)?;
            rows += deleted;
            if deleted < STEP_ROWS {
                sweep.meters.pop();
            }
            if rows >= STEP_ROWS {
                break;
            }
        }
        Ok(true)
    }

    fn begin(
        &mut self,
        connection: &Connection,
        meters: impl Iterator<Item = (MeterId, Option<i64>)>,
        now_ms: i64,
        now: Instant,
    ) -> rusqlite::Result<()> {
        if self.next.is_some_and(|next| now < next) {
            return Ok(());
        }
        let (meters, heard): (Vec<MeterId>, Vec<Option<i64>>) = meters.unzip();
        let last_heard_ms = heard.into_iter().flatten().max();
        self.next = Some(now + EVERY);
        if !self.is_trusted(last_heard_ms, now_ms, now) {
            return Ok(());
        }
        let before_s = (now_ms - self.keep_ms).div_euclid(1000);
        connection.execute(
            "INSERT INTO meta (key, value) VALUES ('kept_from_s', ?1) ON CONFLICT (key) DO UPDATE SET value = \
             max(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER))",
            [before_s.to_string()],
        )?;
        self.sweep = Some(Sweep { before_s, meters });
        Ok(())
    }

    fn is_trusted(&mut self, last_heard_ms: Option<i64>, now_ms: i64, now: Instant) -> bool {
        let clock = match self.clock {
            None => {
                let paused = last_heard_ms.is_some_and(|last_ms| now_ms > last_ms + MOST_PAUSE_MS);
                let trusted_from = if paused { now + TRUST_AFTER } else { now };
                Clock { at_ms: now_ms, at: now, trusted_from }
            }
            Some(clock) => {
                let elapsed_ms = i64::try_from((now - clock.at).as_millis()).unwrap_or(i64::MAX);
                let set = (now_ms - clock.at_ms - elapsed_ms).abs() > MOST_DRIFT_MS;
                let trusted_from = if set { now + TRUST_AFTER } else { clock.trusted_from };
                Clock { at_ms: now_ms, at: now, trusted_from }
            }
        };
        self.clock = Some(clock);
        now >= clock.trusted_from
    }
}

/// Deletes about [`STEP_ROWS`] of a meter's oldest readings, if they are before a time. Returns how many.
fn delete(connection: &Connection, meter: MeterId, before_s: i64) -> rusqlite::Result<i64> {
    let mut find = connection.prepare_cached(
        "SELECT at_s FROM readings WHERE meter = ?1 AND at_s < ?2 ORDER BY at_s LIMIT 1 OFFSET ?3",
    )?;
    let until_s: Option<i64> =
        find.query_row(params![meter, before_s, STEP_ROWS], |row| row.get(0)).optional()?;
    let mut delete = connection.prepare_cached("DELETE FROM readings WHERE meter = ?1 AND at_s < ?2")?;
    let until_s = until_s.map_or(before_s, |until_s| until_s + 1);
    delete.execute(params![meter, until_s]).map(|rows| rows as i64)
}
