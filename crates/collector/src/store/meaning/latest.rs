//! The changes of a meter's row by each of its reports: numbers, register, and the rollups of the
//! present intervals.

use crate::network::GlobalMeterId;
use crate::store::meaning::register::{Growth, Register};
use crate::store::model::meter_range::{METERS_OF_A_PAGE, MeterRange};
use crate::store::sql::{Row, Session, SqlError, Value, values};
use wire::meter::Suite;

/// Lengths of the intervals of rollups, as `rollups.level` has them: quarter-hour, hour, day.
pub(in crate::store) const LEVELS: [i64; 3] = [900, 3600, DAY];
/// The last of them.
pub(in crate::store) const DAY: i64 = 86_400;

/// The sum of an interval's readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct Rollup {
    pub(in crate::store) start_s: i64,
    pub(in crate::store) readings: i64,
    pub(in crate::store) used_dwh: i64,
    pub(in crate::store) min_w: i16,
    pub(in crate::store) max_w: i16,
    pub(in crate::store) sum_w: i64,
}

impl Rollup {
    pub(in crate::store) fn of(start_s: i64, used_dwh: i64, power_w: i16) -> Rollup {
        Rollup { start_s, readings: 1, used_dwh, min_w: power_w, max_w: power_w, sum_w: i64::from(power_w) }
    }

    /// Energy of an interval that has readings.
    pub(in crate::store) fn of_energy(start_s: i64, used_dwh: i64) -> Rollup {
        Rollup { start_s, readings: 0, used_dwh, min_w: i16::MAX, max_w: i16::MIN, sum_w: 0 }
    }

    pub(in crate::store) fn add(&mut self, other: &Rollup) {
        self.readings += other.readings;
        self.used_dwh += other.used_dwh;
        self.min_w = self.min_w.min(other.min_w);
        self.max_w = self.max_w.max(other.max_w);
        self.sum_w += other.sum_w;
    }

    /// From six columns, the first of which is NULL where there is none.
    pub(in crate::store) fn read(row: Row<'_>, first: usize) -> Result<Option<Rollup>, SqlError> {
        let Some(start_s) = row.get(first)? else { return Ok(None) };
        Ok(Some(Rollup {
            start_s,
            readings: row.get(first + 1)?,
            used_dwh: row.get(first + 2)?,
            min_w: row.get(first + 3)?,
            max_w: row.get(first + 4)?,
            sum_w: row.get(first + 5)?,
        }))
    }
}

/// A measurement as it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct Measured {
    pub(in crate::store) at_s: i64,
    pub(in crate::store) power_w: i16,
    pub(in crate::store) energy_dwh: u32,
}

/// The row of `latest`, and what of `meters` decides whether a report is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct Latest {
    pub(in crate::store) epoch: u32,
    pub(in crate::store) revoked: bool,
    pub(in crate::store) last_n: u32,
    pub(in crate::store) suite: Suite,
    pub(in crate::store) first_heard_ms: Option<i64>,
    pub(in crate::store) last_heard_ms: Option<i64>,
    pub(in crate::store) rssi_dbm: Option<i8>,
    pub(in crate::store) reports: i64,
    pub(in crate::store) repeats: i64,
    pub(in crate::store) refused: i64,
    pub(in crate::store) lost: i64,
    pub(in crate::store) register: Register,
    /// Energy since the meter's first start, over its restarts and its keys; `None`: it has not
    /// measured yet.
    pub(in crate::store) total_dwh: Option<i64>,
    pub(in crate::store) measured: Option<Measured>,
    /// The open interval of each of [`LEVELS`]. No reading of a later one has come, and `rollups`
    /// has no row of it.
    pub(in crate::store) open: [Option<Rollup>; 3],
}

/// Of the table, but for `meter`.
pub(in crate::store) const COLUMNS: &str = "last_n, suite, first_heard_ms, last_heard_ms, rssi_dbm, reports, repeats, refused, lost, lost_since_start, \
     register_dwh, at_s, power_w, last_energy_dwh, quarter_s, quarter_readings, quarter_used_dwh, quarter_min_w, quarter_max_w, \
     quarter_sum_w, hour_s, hour_readings, hour_used_dwh, hour_min_w, hour_max_w, hour_sum_w, day_s, day_readings, day_used_dwh, \
     day_min_w, day_max_w, day_sum_w, total_dwh";

impl Latest {
    /// Makes the row of a meter that was never heard.
    pub(in crate::store) fn new(epoch: u32, suite: Suite) -> Latest {
        Latest {
            epoch,
            revoked: false,
            last_n: 0,
            suite,
            first_heard_ms: None,
            last_heard_ms: None,
            rssi_dbm: None,
            reports: 0,
            repeats: 0,
            refused: 0,
            lost: 0,
            register: Register::default(),
            total_dwh: None,
            measured: None,
            open: [None; 3],
        }
    }

    /// The meter has new keys: it was erased, and counts from its first number on.
    pub(in crate::store) fn rotate(&mut self, epoch: u32, suite: Suite) {
        (self.epoch, self.revoked, self.suite) = (epoch, false, suite);
        (self.last_n, self.register) = (0, Register::default());
    }

    /// A report came, whose n is above all before. Returns how many measurements were lost since
    /// the one before.
    pub(in crate::store) fn heard(
        &mut self,
        n: u32,
        suite: Suite,
        lost: u8,
        started: bool,
        heard_ms: i64,
    ) -> u8 {
        let before = self.register.lost;
        let restarted = self.register.hear(n, lost, started);
        let newly_lost = lost - if restarted { 0 } else { before };
        self.lost += i64::from(newly_lost);
        (self.last_n, self.suite) = (n, suite);
        self.reports += 1;
        self.first_heard_ms = self.first_heard_ms.or(Some(heard_ms));
        self.last_heard_ms = Some(heard_ms);
        newly_lost
    }

    /// A report came whose n is below another's that came.
    pub(in crate::store) fn heard_late(&mut self, heard_ms: i64) {
        self.reports += 1;
        self.last_heard_ms = Some(heard_ms);
    }

    /// The register was read. Returns what was used since it was read before.
    pub(in crate::store) fn measured(&mut self, measured: Measured) -> i64 {
        let Growth { used_dwh, counted_dwh } = self.register.read(measured.energy_dwh);
        self.measured = Some(measured);
        self.count(counted_dwh);
        used_dwh
    }

    /// Energy is added to the meter's total.
    pub(in crate::store) fn count(&mut self, counted_dwh: i64) {
        self.total_dwh = Some(self.total_dwh.unwrap_or(0) + counted_dwh);
    }
}

/// Hands out all rows, with their meters.
pub(in crate::store) fn load(
    session: Session<'_>,
    keys: MeterRange,
    mut take: impl FnMut(GlobalMeterId, Latest),
) -> Result<(), SqlError> {
    let sql = format!(
        "SELECT meter, epoch, revoked_ms, {COLUMNS} FROM meters JOIN latest USING (meter) WHERE {} ORDER BY meter LIMIT $5",
        MeterRange::sql()
    );
    let mut after = None;
    loop {
        let page = session.query(&sql, &keys.page(after, METERS_OF_A_PAGE), read)?;
        let Some((last, _)) = page.last() else { return Ok(()) };
        after = Some(last.key());
        for (meter, latest) in page {
            take(meter, latest);
        }
    }
}

/// Of `meter, epoch, revoked_ms` and [`COLUMNS`].
pub(in crate::store) fn read(row: Row<'_>) -> Result<(GlobalMeterId, Latest), SqlError> {
    let measured = match row.get(14)? {
        None => None,
        Some(at_s) => Some(Measured { at_s, power_w: row.get(15)?, energy_dwh: row.get(16)? }),
    };
    let latest = Latest {
        epoch: row.get(1)?,
        revoked: row.get::<Option<i64>>(2)?.is_some(),
        last_n: row.get(3)?,
        suite: Suite::from_code(row.get(4)?).unwrap_or(Suite::None),
        first_heard_ms: row.get(5)?,
        last_heard_ms: row.get(6)?,
        rssi_dbm: row.get(7)?,
        reports: row.get(8)?,
        repeats: row.get(9)?,
        refused: row.get(10)?,
        lost: row.get(11)?,
        register: Register { lost: row.get(12)?, dwh: row.get(13)? },
        total_dwh: row.get(35)?,
        measured,
        open: [Rollup::read(row, 17)?, Rollup::read(row, 23)?, Rollup::read(row, 29)?],
    };
    Ok((row.get(0)?, latest))
}

/// The columns of the table: `meter`, and [`COLUMNS`].
pub(in crate::store) const WIDTH: usize = 34;

/// A row, as it is stored.
pub(in crate::store) fn row(meter: GlobalMeterId, latest: &Latest) -> [Value<'static>; WIDTH] {
    let [quarter, hour, day] = latest.open;
    let measured = latest.measured;
    let mut row = [Value::Null; WIDTH];
    row[WIDTH - 1] = latest.total_dwh.into();
    let (fixed, rollups) = row.split_at_mut(15);
    fixed.copy_from_slice(values![
        meter,
        latest.last_n,
        latest.suite.code(),
        latest.first_heard_ms,
        latest.last_heard_ms,
        latest.rssi_dbm,
        latest.reports,
        latest.repeats,
        latest.refused,
        latest.lost,
        latest.register.lost,
        latest.register.dwh,
        measured.map(|measured| measured.at_s),
        measured.map(|measured| measured.power_w),
        measured.map(|measured| measured.energy_dwh),
    ]);
    for (columns, rollup) in rollups.chunks_mut(6).zip([quarter, hour, day]) {
        if let Some(Rollup { start_s, readings, used_dwh, min_w, max_w, sum_w }) = rollup {
            columns.copy_from_slice(values![start_s, readings, used_dwh, min_w, max_w, sum_w]);
        }
    }
    row
}
