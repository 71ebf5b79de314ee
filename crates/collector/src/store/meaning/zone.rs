//! The zone whose hours, days and months are in the database; and what is to be done when it is
//! another.

use crate::network::GlobalMeterId;
use crate::store::StoreError;
use crate::store::meaning::by_time;
use crate::store::meaning::interval::Intervals;
use crate::store::meaning::latest::{LEVELS, Rollup};
use crate::store::sql::{Session, SqlError, values};
use jiff::tz::TimeZone;

/// The name that a zone is known by.
///
/// # Errors
/// [`StoreError::Zone`] where it has none.
pub(in crate::store) fn name(zone: &TimeZone) -> Result<String, StoreError> {
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
pub(in crate::store) fn named(name: &str) -> Result<TimeZone, StoreError> {
    if name == "UTC" {
        return Ok(TimeZone::UTC);
    }
    TimeZone::get(name).map_err(|error| StoreError::Zone(error.to_string()))
}

/// The name of the zone that a database's hours and days are of.
pub(in crate::store) fn stored(session: Session<'_>) -> Result<Option<String>, SqlError> {
    session.first("SELECT value FROM meta WHERE key = 'zone'", &[], |row| row.get(0))
}

/// Makes a database's hours and days those of a zone, within a transaction.
pub(in crate::store) fn settle(
    session: Session<'_>,
    name: &str,
    intervals: &mut Intervals,
) -> Result<(), SqlError> {
    let before = stored(session)?;
    if before.as_deref() == Some(name) {
        return Ok(());
    }
    if let Some(before) = before {
        tracing::info!(before, now = name, "hours and days are made anew of quarter-hours");
        rebuild(session, intervals)?;
    }
    let sql = "INSERT INTO meta (key, value) VALUES ('zone', $1) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    session.execute(sql, values![name]).map(drop)
}

/// Makes the months of a database that has none yet, within a transaction.
pub(in crate::store) fn make_months(session: Session<'_>) -> Result<(), SqlError> {
    let name = stored(session)?;
    // A zone that this system does not know is another than the one it is opened with, of which all
    // is made anew.
    let zone = name.and_then(|name| named(&name).ok()).unwrap_or(TimeZone::UTC);
    by_time::rebuild_months(session, &mut Intervals::new(zone))
}

fn rebuild(session: Session<'_>, intervals: &mut Intervals) -> Result<(), SqlError> {
    session.execute(
        "INSERT INTO rollups SELECT meter, 900, quarter_s, quarter_readings, quarter_used_dwh, quarter_min_w, quarter_max_w, \
         quarter_sum_w FROM latest WHERE quarter_s IS NOT NULL",
        &[],
    )?;
    session.execute("UPDATE latest SET quarter_s = NULL, hour_s = NULL, day_s = NULL", &[])?;
    let meters: Vec<GlobalMeterId> = session.query("SELECT meter FROM latest", &[], |row| row.get(0))?;
    for meter in meters {
        session.execute("DELETE FROM rollups WHERE meter = $1 AND level IN (3600, 86400)", values![meter])?;
        for (place, level) in [(1, LEVELS[1]), (2, LEVELS[2])] {
            rebuild_level(session, intervals, meter, place, level)?;
        }
    }
    by_time::rebuild(session)?;
    by_time::rebuild_months(session, intervals)
}

/// Of the quarter-hours, which come in order, so that those of an hour or a day come one after the
/// other.
fn rebuild_level(
    session: Session<'_>,
    intervals: &mut Intervals,
    meter: GlobalMeterId,
    place: usize,
    level: i64,
) -> Result<(), SqlError> {
    let quarters = session.query(
        "SELECT start_s, readings, used_dwh, power_min_w, power_max_w, power_sum_w FROM rollups \
         WHERE meter = $1 AND level = 900 ORDER BY start_s",
        values![meter],
        |row| Rollup::read(row, 0),
    )?;
    let mut rebuilt: Vec<Rollup> = Vec::new();
    for mut quarter in quarters.into_iter().flatten() {
        quarter.start_s = intervals.starts(quarter.start_s)[place];
        match rebuilt.last_mut() {
            Some(open) if open.start_s == quarter.start_s => open.add(&quarter),
            _ => rebuilt.push(quarter),
        }
    }
    for Rollup { start_s, readings, used_dwh, min_w, max_w, sum_w } in rebuilt {
        session.execute(
            "INSERT INTO rollups VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            values![meter, level, start_s, readings, used_dwh, min_w, max_w, sum_w],
        )?;
    }
    Ok(())
}
