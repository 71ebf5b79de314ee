//! Readings and rollups by time: those that are in their place, and those that only just came.

use crate::network::GlobalMeterId;
use crate::store::meaning::by_time;
use crate::store::meaning::interval::Intervals;
use crate::store::meaning::latest::Rollup;
use crate::store::model::query::{
    ConsumptionOf, ConsumptionQuery, Cursor, Interval, MeterFilter, Readings, ReadingsQuery, Resolution, Rows,
};
use crate::store::sql::{Row, Session, SqlError, values};
use crate::store::{FIGURES_MAX, ROWS_MAX, StoreError};
use std::ops::Range;

/// A reading as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) at: Cursor,
    pub(crate) power_w: i16,
    pub(crate) energy_dwh: u32,
    pub(crate) flags: i64,
    pub(crate) rssi_dbm: Option<i8>,
    pub(crate) heard_ms: i64,
}

fn stored_of(row: Row<'_>) -> Result<Stored, SqlError> {
    Ok(Stored {
        at: Cursor { at_s: row.get(0)?, epoch: row.get(1)?, n: row.get(2)? },
        power_w: row.get(3)?,
        energy_dwh: row.get(4)?,
        flags: row.get(5)?,
        rssi_dbm: row.get(6)?,
        heard_ms: row.get(7)?,
    })
}

/// The first of a meter's readings in a range, and where to go on: of those that are sorted in and
/// those that landed only just, each in order.
pub(crate) fn stored(
    session: Session<'_>,
    meter: GlobalMeterId,
    (from_s, to_s): (i64, i64),
    after: Option<Cursor>,
    limit: usize,
) -> Result<(Vec<Stored>, Option<Cursor>), SqlError> {
    let limit = limit.clamp(1, ROWS_MAX);
    let after = after.unwrap_or(Cursor { at_s: i64::MIN, epoch: 0, n: 0 });
    let from_s = from_s.max(after.at_s);
    let values = values![meter, from_s, to_s, after.at_s, after.epoch, after.n, limit as i64 + 1];
    let mut rows = Vec::new();
    for table in session.reading_tables() {
        let sql = format!(
            "SELECT at_s, epoch, n, power_w, energy_dwh, flags, rssi_dbm, heard_ms FROM {table} WHERE meter = $1 AND at_s >= $2 \
             AND at_s < $3 AND (at_s, epoch, n) > ($4, $5, $6) ORDER BY at_s, epoch, n LIMIT $7"
        );
        rows.extend(session.query(&sql, values, stored_of)?);
    }
    rows.sort_by_key(|row| row.at);
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| more).map(|row| row.at);
    Ok((rows, next))
}

/// A page of readings.
pub(in crate::store) fn raw(session: Session<'_>, query: &ReadingsQuery) -> Result<Readings, SqlError> {
    let ReadingsQuery { meter, from_s, to_s, after, limit, .. } = *query;
    let (rows, next) = stored(session, meter, (from_s, to_s), after, limit)?;
    Ok(Readings {
        meter,
        resolution: Resolution::Raw,
        next,
        rows: Rows::Raw {
            at_s: rows.iter().map(|row| row.at.at_s).collect(),
            power_w: rows.iter().map(|row| row.power_w).collect(),
            energy_wh: rows.iter().map(|row| f64::from(row.energy_dwh) / 10.0).collect(),
        },
    })
}

/// Returns the name of a level in `rollups` and in `latest`.
fn level(interval: Interval) -> (i64, &'static str) {
    match interval {
        Interval::Quarter => (900, "quarter"),
        Interval::Hour => (3600, "hour"),
        Interval::Day | Interval::Week | Interval::Month => (86_400, "day"),
    }
}

/// A meter's rollups that begin in a range, oldest first: those that are over, and the one that is
/// not.
pub(in crate::store) fn rollups(
    session: Session<'_>,
    meter: GlobalMeterId,
    interval: Interval,
    (from_s, to_s): (i64, i64),
    limit: usize,
) -> Result<Vec<Rollup>, SqlError> {
    let (level, name) = level(interval);
    let most = i64::try_from(limit).unwrap_or(i64::MAX);
    let over = session.query(
        "SELECT start_s, readings, used_dwh, power_min_w, power_max_w, power_sum_w FROM rollups \
         WHERE meter = $1 AND level = $2 AND start_s >= $3 AND start_s < $4 ORDER BY start_s LIMIT $5",
        values![meter, level, from_s, to_s, most],
        |row| Rollup::read(row, 0),
    )?;
    let mut rows: Vec<Rollup> = over.into_iter().flatten().collect();
    let sql = format!(
        "SELECT {name}_s, {name}_readings, {name}_used_dwh, {name}_min_w, {name}_max_w, {name}_sum_w FROM latest \
         WHERE meter = $1 AND {name}_s >= $2 AND {name}_s < $3"
    );
    let open = session.first(&sql, values![meter, from_s, to_s], |row| Rollup::read(row, 0))?.flatten();
    if let Some(open) = open {
        rows.insert(rows.partition_point(|row| row.start_s < open.start_s), open);
    }
    Ok(rows)
}

/// A page of rollups.
pub(in crate::store) fn rolled_up(
    session: Session<'_>,
    query: &ReadingsQuery,
    intervals: &mut Intervals,
) -> Result<Readings, SqlError> {
    let limit = query.limit.clamp(1, ROWS_MAX);
    let interval = match query.resolution {
        Resolution::Raw | Resolution::Quarter => Interval::Quarter,
        Resolution::Hour => Interval::Hour,
        Resolution::Day => Interval::Day,
    };
    let from_s = intervals.start(query.from_s, interval);
    let from_s = query.after.map_or(from_s, |after| from_s.max(after.at_s.saturating_add(1)));
    let mut rows = rollups(session, query.meter, interval, (from_s, query.to_s), limit + 1)?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| more).map(|row| Cursor { at_s: row.start_s, epoch: 0, n: 0 });
    Ok(Readings {
        meter: query.meter,
        resolution: query.resolution,
        rows: Rows::Rollup {
            at_s: rows.iter().map(|row| row.start_s).collect(),
            power_w: rows.iter().map(mean_w).collect(),
            power_min_w: rows.iter().map(|row| row.min_w).collect(),
            power_max_w: rows.iter().map(|row| row.max_w).collect(),
            used_wh: rows.iter().map(|row| row.used_dwh as f64 / 10.0).collect(),
            readings: rows.iter().map(|row| u32::try_from(row.readings).unwrap_or(u32::MAX)).collect(),
        },
        next,
    })
}

fn mean_w(row: &Rollup) -> f64 {
    (row.sum_w as f64 * 100.0 / row.readings as f64).round() / 100.0
}

/// Returns the meters of a query.
pub(in crate::store) fn meters_of(
    session: Session<'_>,
    query: &ConsumptionQuery,
) -> Result<Vec<GlobalMeterId>, SqlError> {
    let (first, last) = query.whose.keys();
    let sql = "SELECT meter FROM latest WHERE meter BETWEEN $1 AND $2 ORDER BY meter";
    session.query(sql, values![first, last], |row| row.get(0))
}

/// When the intervals begin, and where the last one ends.
pub(in crate::store) fn starts(
    query: &ConsumptionQuery,
    meters: usize,
    intervals: &mut Intervals,
) -> Result<Vec<i64>, StoreError> {
    let most = (FIGURES_MAX / meters.max(1)).min(ROWS_MAX);
    let starts = intervals.within(query.from_s, query.to_s, query.resolution, most);
    starts.ok_or(StoreError::TooMuch { figures: (most + 1) * meters.max(1), most: most * meters.max(1) })
}

/// Returns the energy of each meter in each interval.
pub(in crate::store) fn used(
    session: Session<'_>,
    query: &ConsumptionQuery,
    meters: &[GlobalMeterId],
    start_s: &[i64],
) -> Result<Vec<ConsumptionOf>, SqlError> {
    let (Some(from_s), Some(to_s)) = (start_s.first(), start_s.last()) else { return Ok(Vec::new()) };
    let range = (*from_s, *to_s);
    let mut table = Table::new(meters, start_s);
    match query.whose {
        MeterFilter::Meter(meter) => {
            for rollup in rollups(session, meter, query.resolution, range, usize::MAX)? {
                table.add(rollup.start_s, meter.key(), rollup.used_dwh);
            }
        }
        MeterFilter::All | MeterFilter::Network(_) => {
            let (level, name) = level(query.resolution);
            let level = if query.resolution == Interval::Month { by_time::MONTH } else { level };
            let keys = query.whose.keys();
            by_time::each(session, level, keys, range, |start_s, key, used_dwh| {
                table.add(start_s, key, used_dwh);
            })?;
            let sql = format!(
                "SELECT {name}_s, meter, {name}_used_dwh FROM latest WHERE {name}_s >= $1 AND {name}_s < $2 \
                 AND meter BETWEEN $3 AND $4"
            );
            session.query(&sql, values![range.0, range.1, keys.0, keys.1], |row| {
                table.add(row.get(0)?, row.get(1)?, row.get(2)?);
                Ok(())
            })?;
        }
    }
    Ok(table.rows())
}

/// The energy by meter and interval.
struct Table<'a> {
    /// In order, as their keys are.
    meters: &'a [GlobalMeterId],
    keys: Vec<i64>,
    /// The place of the meter that was asked for last: the next one is mostly that behind it.
    place: usize,
    start_s: &'a [i64],
    /// The interval that was asked for last, where it begins and ends.
    interval: (usize, Range<i64>),
    used_dwh: Vec<Option<i64>>,
}

impl<'a> Table<'a> {
    fn new(meters: &'a [GlobalMeterId], start_s: &'a [i64]) -> Table<'a> {
        let keys = meters.iter().map(|meter| meter.key()).collect();
        let used_dwh = vec![None; meters.len() * (start_s.len() - 1)];
        Table { meters, keys, place: 0, start_s, interval: (0, 0..0), used_dwh }
    }

    /// The place of a meter, where it has one.
    fn place_of(&mut self, key: i64) -> Option<usize> {
        let next = self.place + 1;
        self.place =
            if self.keys.get(next) == Some(&key) { next } else { self.keys.binary_search(&key).ok()? };
        Some(self.place)
    }

    /// Of an interval that begins within one of the table's. Meters that are not in it, those that
    /// came only just, are left out.
    fn add(&mut self, start_s: i64, key: i64, used_dwh: i64) {
        if !self.interval.1.contains(&start_s) {
            let after = self.start_s.partition_point(|begin_s| *begin_s <= start_s);
            let (Some(place), Some(end_s)) = (after.checked_sub(1), self.start_s.get(after)) else { return };
            self.interval = (place, self.start_s[place]..*end_s);
        }
        let Some(row) = self.place_of(key) else { return };
        let used = &mut self.used_dwh[row * (self.start_s.len() - 1) + self.interval.0];
        *used = Some(used.unwrap_or(0) + used_dwh);
    }

    fn rows(&self) -> Vec<ConsumptionOf> {
        let rows = self.meters.iter().zip(self.used_dwh.chunks(self.start_s.len() - 1));
        let wh = |used_dwh: &Option<i64>| used_dwh.map(|used_dwh| used_dwh as f64 / 10.0);
        rows.map(|(meter, used)| ConsumptionOf { meter: *meter, used_wh: used.iter().map(wh).collect() })
            .collect()
    }
}
