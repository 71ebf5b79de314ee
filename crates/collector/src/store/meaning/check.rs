//! Looks for what a disk changed by itself: each quarter-hour's readings are compared with the sums
//! that were stored when they came.
//!
//! SQLite keeps no checksum of a page, and finds a flipped bit only where it breaks a page's
//! structure. Readings and rollups lie in pages of their own, so that one that changed shows
//! against the other. docs/how-to/collector/storage.md, "Flipped bits", says what is not found.

use crate::network::GlobalMeterId;
use crate::store::meaning::latest::Rollup;
use crate::store::meaning::read::{self, Stored, rollups, stored};
use crate::store::meaning::register::Register;
use crate::store::model::query::{Cursor, Interval};
use crate::store::sql::{Session, SqlError};
use jiff::Timestamp;
use std::collections::BTreeMap;

/// Readings that are looked at in one step, about: 100 kB.
const STEP_ROWS: usize = 2000;
const QUARTER_S: i64 = 900;

/// One look at all meters after the other.
#[derive(Debug, Default)]
pub(in crate::store) struct Check {
    /// Meters that are still to come in this one; the last is the one that is looked at.
    meters: Vec<GlobalMeterId>,
    from_s: Option<i64>,
    /// The reading before.
    before: Option<Stored>,
    /// Readings that were looked at since the start.
    pub(in crate::store) looked_at: u64,
}

impl Check {
    /// Looks at some more readings. meters: all there are, or the next ones, for when it has come
    /// to the last. Returns the first thing that is not as it was stored.
    pub(in crate::store) fn step(
        &mut self,
        session: Session<'_>,
        meters: impl FnOnce() -> Result<Vec<GlobalMeterId>, SqlError>,
    ) -> Result<Option<String>, SqlError> {
        if self.meters.is_empty() {
            self.meters = meters()?;
            self.meters.sort_unstable_by(|a, b| b.cmp(a));
        }
        let Some(meter) = self.meters.last().copied() else { return Ok(None) };
        let found = self.inspect(session, meter);
        if found.is_err() {
            // An unreadable meter is reported; the others are compared all the same.
            self.next_meter();
        }
        found
    }

    /// Looks at those meters alone from now on.
    pub(in crate::store) fn retain(&mut self, keep: impl Fn(GlobalMeterId) -> bool) {
        let now = self.meters.last().copied();
        self.meters.retain(|meter| keep(*meter));
        if self.meters.last().copied() != now {
            (self.from_s, self.before) = (None, None);
        }
    }

    fn next_meter(&mut self) {
        self.meters.pop();
        (self.from_s, self.before) = (None, None);
    }

    fn inspect(&mut self, session: Session<'_>, meter: GlobalMeterId) -> Result<Option<String>, SqlError> {
        let from_s = match self.from_s {
            Some(from_s) => from_s,
            None => kept_from_s(session)?,
        };
        let (mut rows, next) = stored(session, meter, (from_s, i64::MAX), None, STEP_ROWS)?;
        // The last quarter-hour may go on.
        let to_s = next.map_or(i64::MAX, |next| quarter(next.at_s));
        if to_s == from_s {
            // One with more readings than a step has.
            (self.from_s, self.before) = (Some(from_s + QUARTER_S), None);
            return Ok(None);
        }
        rows.retain(|row| row.at.at_s < to_s);
        self.looked_at += rows.len() as u64;
        let mut sums: BTreeMap<i64, Sum> = BTreeMap::new();
        for row in rows {
            let before = self.before.replace(row);
            sums.entry(quarter(row.at.at_s)).or_default().add(before, &row);
        }
        let rollups = rollups(session, meter, Interval::Quarter, (from_s, to_s), usize::MAX)?;
        if next.is_some() {
            self.from_s = Some(to_s);
        } else {
            self.next_meter();
        }
        Ok(difference(sums, rollups).map(|(start_s, what)| {
            let start =
                Timestamp::from_second(start_s).map_or_else(|_| start_s.to_string(), |at| at.to_string());
            format!("meter {meter}, the quarter-hour that begins at {start}: {what}")
        }))
    }
}

/// Returns the start of the first whole quarter-hour that retention left.
fn kept_from_s(session: Session<'_>) -> Result<i64, SqlError> {
    let kept_from_s = read::kept_from_s(session)?;
    Ok(kept_from_s.map_or(i64::MIN, |kept_from_s| quarter(kept_from_s) + QUARTER_S))
}

fn quarter(at_s: i64) -> i64 {
    at_s - at_s.rem_euclid(QUARTER_S)
}

/// The sum of a quarter-hour's readings. Energy counts while each reading follows the one before by
/// its number.
#[derive(Default)]
struct Sum {
    rollup: Option<Rollup>,
    energy_unknown: bool,
}

impl Sum {
    fn add(&mut self, before: Option<Stored>, row: &Stored) {
        let Cursor { epoch, n, at_s } = row.at;
        let lost = |row: &Stored| (row.flags >> 8) as u8;
        let before =
            before.filter(|before| before.at.epoch == epoch && before.at.n.checked_add(1) == Some(n));
        self.energy_unknown |= before.is_none();
        let of = |before: Stored| Register { dwh: Some(before.energy_dwh), lost: lost(&before) };
        let mut register = before.map_or_else(Register::default, of);
        register.hear(n, lost(row), false);
        let new = Rollup::of(quarter(at_s), register.read(row.energy_dwh).used_dwh, row.power_w);
        match &mut self.rollup {
            Some(rollup) => rollup.add(&new),
            None => self.rollup = Some(new),
        }
    }
}

fn difference(mut sums: BTreeMap<i64, Sum>, rollups: Vec<Rollup>) -> Option<(i64, String)> {
    for stored in rollups {
        let start_s = stored.start_s;
        let sum = sums.remove(&start_s).unwrap_or_default();
        let Some(mut found) = sum.rollup else {
            return Some((start_s, format!("{} readings were stored, none is there", stored.readings)));
        };
        if sum.energy_unknown {
            found.used_dwh = stored.used_dwh;
        }
        if found != stored {
            return Some((start_s, format!("{}; stored were {}", in_words(&found), in_words(&stored))));
        }
    }
    let (start_s, sum) = sums.into_iter().next()?;
    Some((start_s, format!("{}; stored was none", in_words(&sum.rollup?))))
}

fn in_words(rollup: &Rollup) -> String {
    let Rollup { readings, used_dwh, min_w, max_w, sum_w, .. } = rollup;
    let used_wh = *used_dwh as f64 / 10.0;
    format!("{readings} readings of {min_w} to {max_w} W, {sum_w} W in all, {used_wh} Wh")
}
