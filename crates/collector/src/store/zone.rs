//! The zone whose hours and days are in the database; and what is to be done when it is another.

use super::interval::Intervals;
use super::latest::{LEVELS, Rollup};
use super::{StoreError, by_time};
use crate::network::GlobalMeterId;
use jiff::tz::TimeZone;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

/// The name that a zone is known by.
///
/// # Errors
/// [`StoreError::Zone`] where it has none.
pub(super) fn name(zone: &TimeZone) -> Result<String, StoreError> {
    if *zone == TimeZone::UTC {
        return Ok("UTC".to_owned());
    }
    let name = zone.iana_name().ok_or_else(|| StoreError::Zone("this one has none".to_owned()))?;
    named(name).map(|_| name.to_owned())
}

/// The zone of a name.
///
/// # Errors
/// [`StoreError::Zone`] where this system knows none.
pub(super) fn named(name: &str) -> Result<TimeZone, StoreError> {
    if name == "UTC" {
        return Ok(TimeZone::UTC);
    }
    TimeZone::get(name).map_err(|error| StoreError::Zone(error.to_string()))
}

/// The name of the zone that a database's hours and days are of.
pub(super) fn stored(connection: &Connection) -> rusqlite::Result<Option<String>> {
    connection.query_row("SELECT value FROM meta WHERE key = 'zone'", [], |row| row.get(0)).optional()
}

/// Makes a database's hours and days those of a zone, in one transaction.
pub(super) fn settle(
    connection: &mut Connection,
    name: &str,
    intervals: &mut Intervals,
) -> rusqlite::Result<()> {
    let before = stored(connection)?;
    if before.as_deref() == Some(name) {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if let Some(before) = before {
        tracing::info!(before, now = name, "hours and days are made anew of quarter-hours");
        rebuild(&transaction, intervals)?;
    }
    transaction.execute("REPLACE INTO meta (key, value) VALUES ('zone', ?1)", [name])?;
    transaction.commit()
}

fn rebuild(connection: &Connection, intervals: &mut Intervals) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO rollups SELECT meter, 900, quarter_s, quarter_readings, quarter_used_dwh, quarter_min_w, quarter_max_w, \
         quarter_sum_w FROM latest WHERE quarter_s IS NOT NULL",
        [],
    )?;
    connection.execute("UPDATE latest SET quarter_s = NULL, hour_s = NULL, day_s = NULL", [])?;
    let mut meters = connection.prepare("SELECT meter FROM latest")?;
    let meters: Vec<GlobalMeterId> = meters.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for meter in meters {
        connection.execute("DELETE FROM rollups WHERE meter = ?1 AND level IN (3600, 86400)", [meter])?;
        for (place, level) in [(1, LEVELS[1]), (2, LEVELS[2])] {
            rebuild_level(connection, intervals, meter, place, level)?;
        }
    }
    by_time::rebuild(connection)
}

/// Of the quarter-hours, which come in order, so that those of an hour or a day come one after the other.
fn rebuild_level(
    connection: &Connection,
    intervals: &mut Intervals,
    meter: GlobalMeterId,
    place: usize,
    level: i64,
) -> rusqlite::Result<()> {
    let mut quarters = connection.prepare_cached(
        "SELECT start_s, readings, used_dwh, power_min_w, power_max_w, power_sum_w FROM rollups \
         WHERE meter = ?1 AND level = 900 ORDER BY start_s",
    )?;
    let mut rows = quarters.query([meter])?;
    let mut open: Option<Rollup> = None;
    while let Some(row) = rows.next()? {
        let Some(mut quarter) = Rollup::read(row, 0)? else { continue };
        quarter.start_s = intervals.starts(quarter.start_s)[place];
        match &mut open {
            Some(open) if open.start_s == quarter.start_s => open.add(&quarter),
            _ => {
                if let Some(over) = open.replace(quarter) {
                    insert(connection, meter, level, &over)?;
                }
            }
        }
    }
    open.map_or(Ok(()), |last| insert(connection, meter, level, &last))
}

fn insert(
    connection: &Connection,
    meter: GlobalMeterId,
    level: i64,
    rollup: &Rollup,
) -> rusqlite::Result<()> {
    let Rollup { start_s, readings, used_dwh, min_w, max_w, sum_w } = *rollup;
    let mut statement =
        connection.prepare_cached("INSERT INTO rollups VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
    statement.execute(params![meter, level, start_s, readings, used_dwh, min_w, max_w, sum_w])?;
    Ok(())
}
