//! The used energy of `rollups` once more, by time: a question about all meters reads few rows that
//! lie together, instead of some of each meter's.
//!
//! A row of `used_by_time` is of up to [`METERS_OF_A_ROW`] meters of one network, those with the
//! same `meter / 128`, where `meter` is the key of a meter (`key`). Its blob has an entry for each
//! of them that has a row in `rollups`, by key: a byte, `meter % 128`, and `used_dwh` in LEB128.
//! With 128 meters it stays below the thousand bytes above which SQLite would put it into pages of
//! its own.
//!
//! Months, which `rollups` does not have, are here, too: of each meter the sum of its days that are
//! over.

use crate::network::GlobalMeterId;
use crate::store::meaning::interval::Intervals;
use crate::store::meaning::latest::{DAY, LEVELS, Rollup};
use crate::store::model::query::Interval;
use crate::store::sql::{Session, SqlError, values};
use std::collections::BTreeMap;

/// The level of months: as long as the longest.
pub(in crate::store) const MONTH: i64 = 31 * DAY;
const METERS_OF_A_ROW: i64 = 128;
/// Intervals that are gathered at once when all is made anew: with 128 meters 128,000 figures.
const STRETCH: i64 = 1000;

/// The changes of a batch to `rollups`: by level, beginning and key of the meter, so that the parts
/// of one row follow one another.
#[derive(Debug, Default)]
pub(in crate::store) struct Changes(BTreeMap<(i64, i64, i64), Change>);

/// First the row may be taken away, then something may be added.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    taken: bool,
    added_dwh: Option<i64>,
}

impl Changes {
    /// A rollup's energy is added to what there is of the same interval, or begins it.
    pub(in crate::store) fn add(&mut self, meter: GlobalMeterId, level: i64, rollup: &Rollup) {
        let change = self.0.entry((level, rollup.start_s, meter.key())).or_default();
        change.added_dwh = Some(change.added_dwh.unwrap_or(0) + rollup.used_dwh);
    }

    /// Days of a month are over, or, with what they used below 0, are not any more. A month whose
    /// days all went keeps its entry: what took them is of the same month.
    pub(in crate::store) fn add_to_month(&mut self, meter: GlobalMeterId, start_s: i64, used_dwh: i64) {
        let change = self.0.entry((MONTH, start_s, meter.key())).or_default();
        change.added_dwh = Some(change.added_dwh.unwrap_or(0) + used_dwh);
    }

    /// A rollup goes.
    pub(in crate::store) fn take(&mut self, meter: GlobalMeterId, level: i64, start_s: i64) {
        self.0.insert((level, start_s, meter.key()), Change { taken: true, added_dwh: None });
    }

    /// Returns the changes row by row.
    pub(in crate::store) fn rows(self) -> Vec<(Key, RowChange)> {
        let mut rows: Vec<(Key, RowChange)> = Vec::new();
        for ((level, start_s, meter), change) in self.0 {
            let key = Key { level, start_s, meters: meter / METERS_OF_A_ROW };
            let change = (low_of(meter), change);
            match rows.last_mut().filter(|(of, _)| *of == key) {
                Some((_, row)) => row.0.push(change),
                None => rows.push((key, RowChange(vec![change]))),
            }
        }
        rows
    }
}

/// The changes of a batch to one row.
#[derive(Debug)]
pub(in crate::store) struct RowChange(Vec<(u8, Change)>);

impl RowChange {
    /// Makes the row's new entries of those that it has; empty where there is no row any more.
    /// before: as it is stored.
    pub(in crate::store) fn apply(self, before: Option<&[u8]>) -> Result<Vec<u8>, SqlError> {
        let mut entries = Entries::new();
        decode(before.unwrap_or_default(), |low, used_dwh| {
            entries.insert(low, used_dwh);
        })?;
        for (low, change) in self.0 {
            if change.taken {
                entries.remove(&low);
            }
            if let Some(added_dwh) = change.added_dwh {
                *entries.entry(low).or_insert(0) += added_dwh;
            }
        }
        Ok(encode(&entries))
    }
}

/// Makes all but the months anew from `rollups`, a stretch of time after the other.
pub(in crate::store) fn rebuild(session: Session<'_>) -> Result<(), SqlError> {
    session.execute("DELETE FROM used_by_time", &[])?;
    let meters: Vec<i64> = session.query("SELECT meter FROM latest ORDER BY meter", &[], |row| row.get(0))?;
    for level in LEVELS {
        let mut from_s = i64::MIN;
        loop {
            let mut next_s: Option<i64> = None;
            for meter in &meters {
                let of_meter: Option<i64> = session.value(
                    "SELECT min(start_s) FROM rollups WHERE meter = $1 AND level = $2 AND start_s >= $3",
                    values![*meter, level, from_s],
                )?;
                next_s = [next_s, of_meter].into_iter().flatten().min();
            }
            let Some(next_s) = next_s else { break };
            let to_s = next_s + STRETCH * level;
            for row in meters.chunk_by(|a, b| a / METERS_OF_A_ROW == b / METERS_OF_A_ROW) {
                let mut by_start: BTreeMap<i64, Entries> = BTreeMap::new();
                for meter in row {
                    session.query(
                        "SELECT start_s, used_dwh FROM rollups WHERE meter = $1 AND level = $2 AND start_s >= $3 AND start_s < $4",
                        values![*meter, level, next_s, to_s],
                        |found| {
                            let entries = by_start.entry(found.get(0)?).or_default();
                            entries.insert(low_of(*meter), found.get(1)?);
                            Ok(())
                        },
                    )?;
                }
                for (start_s, entries) in by_start {
                    insert(session, Key { level, start_s, meters: row[0] / METERS_OF_A_ROW }, &entries)?;
                }
            }
            from_s = to_s;
        }
    }
    Ok(())
}

/// Makes the months anew of the days that are here, a day after the other.
pub(in crate::store) fn rebuild_months(
    session: Session<'_>,
    intervals: &mut Intervals,
) -> Result<(), SqlError> {
    session.execute("DELETE FROM used_by_time WHERE level = $1", values![MONTH])?;
    let (mut month_s, mut rows): (i64, BTreeMap<i64, Entries>) = (i64::MIN, BTreeMap::new());
    let mut from_s = i64::MIN;
    loop {
        let next = "SELECT min(start_s) FROM used_by_time WHERE level = $1 AND start_s >= $2";
        let day_s: Option<i64> = session.value(next, values![DAY, from_s])?;
        let of_s = day_s.map(|day_s| intervals.start(day_s, Interval::Month));
        if of_s != Some(month_s) {
            for (meters, entries) in std::mem::take(&mut rows) {
                insert(session, Key { level: MONTH, start_s: month_s, meters }, &entries)?;
            }
        }
        let (Some(day_s), Some(of_s)) = (day_s, of_s) else { return Ok(()) };
        (month_s, from_s) = (of_s, day_s + 1);
        let sql = "SELECT meters, used_dwh FROM used_by_time WHERE level = $1 AND start_s = $2";
        session.query(sql, values![DAY, day_s], |row| {
            let entries = rows.entry(row.get(0)?).or_default();
            row.read_bytes(1, |bytes| {
                decode(bytes, |low, used_dwh| *entries.entry(low).or_insert(0) += used_dwh)
            })
        })?;
    }
}

fn insert(session: Session<'_>, key: Key, entries: &Entries) -> Result<(), SqlError> {
    let sql = "INSERT INTO used_by_time (level, start_s, meters, used_dwh) VALUES ($1, $2, $3, $4)";
    let blob = encode(entries);
    session.execute(sql, values![key.level, key.start_s, key.meters, &blob]).map(drop)
}

/// Hands out what the meters of a range of keys, whole networks, used in the intervals that are
/// over and begin in a range: beginning, key, energy, by the first two.
pub(in crate::store) fn each(
    session: Session<'_>,
    level: i64,
    (first_key, last_key): (i64, i64),
    (from_s, to_s): (i64, i64),
    mut take: impl FnMut(i64, i64, i64),
) -> Result<(), SqlError> {
    let sql = "SELECT start_s, meters, used_dwh FROM used_by_time WHERE level = $1 AND start_s >= $2 AND start_s < $3 \
               AND meters BETWEEN $4 AND $5 ORDER BY start_s, meters";
    let (first, last) = (first_key / METERS_OF_A_ROW, last_key / METERS_OF_A_ROW);
    session.query(sql, values![level, from_s, to_s, first, last], |row| {
        let (start_s, meters): (i64, i64) = (row.get(0)?, row.get(1)?);
        let first = meters.checked_mul(METERS_OF_A_ROW).ok_or_else(damaged)?;
        row.read_bytes(2, |bytes| {
            decode(bytes, |low, used_dwh| take(start_s, first + i64::from(low), used_dwh))
        })
    })?;
    Ok(())
}

/// Returns the number of a meter within its row.
fn low_of(key: i64) -> u8 {
    (key % METERS_OF_A_ROW) as u8
}

/// By `meter % 128`, what each used.
type Entries = BTreeMap<u8, i64>;

/// The primary key of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::store) struct Key {
    pub(in crate::store) level: i64,
    pub(in crate::store) start_s: i64,
    pub(in crate::store) meters: i64,
}

fn encode(entries: &Entries) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(entries.len() * 4);
    for (low, used_dwh) in entries {
        bytes.push(*low);
        let mut rest = *used_dwh as u64;
        while rest >= 0x80 {
            bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
    }
    bytes
}

fn decode(bytes: &[u8], mut take: impl FnMut(u8, i64)) -> Result<(), SqlError> {
    let mut bytes = bytes.iter();
    while let Some(low) = bytes.next() {
        let (mut used_dwh, mut shift) = (0u64, 0);
        loop {
            let byte = *bytes.next().filter(|_| shift < 64).ok_or_else(damaged)?;
            used_dwh |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        if i64::from(*low) >= METERS_OF_A_ROW {
            return Err(damaged());
        }
        take(*low, used_dwh as i64);
    }
    Ok(())
}

fn damaged() -> SqlError {
    SqlError::Stored("a row of used_by_time is damaged".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let entries: Entries =
            [(0, 0), (1, 127), (2, 128), (77, 1 << 32), (126, i64::MAX), (127, 16_384)].into();
        let bytes = encode(&entries);
        let mut read = Vec::new();
        decode(&bytes, |low, used_dwh| read.push((low, used_dwh))).expect("whole");
        assert_eq!(read, entries.into_iter().collect::<Vec<_>>());
        for end in [1, 3, bytes.len() - 1] {
            assert!(decode(&bytes[..end], |_, _| {}).is_err(), "cut off after {end} bytes");
        }
        assert!(decode(&[128, 0], |_, _| {}).is_err(), "no meter of a row");
        assert!(decode(&[[0].as_slice(), &[0xff; 10], &[0]].concat(), |_, _| {}).is_err(), "too long");
    }

    /// 200 kWh of each in a day: SQLite's limit for a row that stays in its page is 1,002 bytes of
    /// 4,096 (fileformat2.html, 1.6).
    #[test]
    fn a_row_stays_in_its_page() {
        let entries: Entries = (0..128).map(|low| (low, 2_000_000)).collect();
        assert!(encode(&entries).len() < 1000);
    }
}
