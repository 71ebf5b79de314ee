//! Old readings go from SQLite meter by meter, a few at a time.

use crate::network::GlobalMeterId;
use rusqlite::{Connection, OptionalExtension, params};

/// Readings that are looked at in one step, about; and meters in one.
const STEP_ROWS: i64 = 2000;
const STEP_METERS: usize = 32;

/// One look at all meters.
#[derive(Debug)]
pub(in crate::store) struct Sweep {
    before_s: i64,
    meters: Vec<GlobalMeterId>,
    /// The position in the last of them.
    from_s: i64,
}

impl Sweep {
    /// Of what was taken, and heard, before a time.
    pub(in crate::store) fn new(before_s: i64, meters: Vec<GlobalMeterId>) -> Sweep {
        Sweep { before_s, meters, from_s: i64::MIN }
    }

    /// Does a small step. Returns whether there is more.
    pub(in crate::store) fn step(&mut self, connection: &Connection) -> rusqlite::Result<bool> {
        for _ in 0..STEP_METERS {
            let Some(meter) = self.meters.last() else { return Ok(false) };
            match delete(connection, *meter, self.from_s, self.before_s)? {
                Some(from_s) => {
                    self.from_s = from_s;
                    break;
                }
                None => {
                    self.meters.pop();
                    self.from_s = i64::MIN;
                }
            }
        }
        Ok(true)
    }
}

/// Deletes of about [`STEP_ROWS`] of a meter's readings those that were taken, and heard, before a
/// time. Returns the start of the rest. A late report is not old when it comes.
fn delete(
    connection: &Connection,
    meter: GlobalMeterId,
    from_s: i64,
    before_s: i64,
) -> rusqlite::Result<Option<i64>> {
    let mut find = connection.prepare_cached(
        "SELECT at_s FROM readings WHERE meter = ?1 AND at_s >= ?2 AND at_s < ?3 ORDER BY at_s LIMIT 1 OFFSET ?4",
    )?;
    let last_s: Option<i64> =
        find.query_row(params![meter.key(), from_s, before_s, STEP_ROWS], |row| row.get(0)).optional()?;
    let next_s = last_s.map(|last_s| last_s + 1);
    let mut delete = connection.prepare_cached(
        "DELETE FROM readings WHERE meter = ?1 AND at_s >= ?2 AND at_s < ?3 AND heard_ms < ?4",
    )?;
    delete.execute(params![
        meter.key(),
        from_s,
        next_s.unwrap_or(before_s),
        before_s.saturating_mul(1000)
    ])?;
    Ok(next_s)
}
