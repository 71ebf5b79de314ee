//! A report whose number is below that of another one that came. Its energy is counted as if it had
//! come in its turn.

use super::{Number, Reports, finish_interval};
use crate::network::GlobalMeterId;
use crate::store::meaning::interval::Intervals;
use crate::store::meaning::latest::{LEVELS, Latest, Rollup};
use crate::store::meaning::read::kept_from_s;
use crate::store::meaning::register::{Growth, Register};
use crate::store::model::write::NewReport;
use crate::store::sql::{Session, SqlError, values};
use wire::meter::{Content, Measurement, Report};

/// A reading beside the report, by number.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) struct Neighbour {
    pub(in crate::store) n: u32,
    pub(in crate::store) at_s: i64,
    pub(in crate::store) energy_dwh: u32,
    pub(in crate::store) flags: i64,
}

impl Neighbour {
    /// As it was told, as far as the register goes.
    fn report(self) -> Report {
        let measurement = Measurement { time_s: 0, energy_dwh: self.energy_dwh, power_w: 0 };
        let lost = (self.flags >> 8) as u8;
        Report { n: self.n, time_set: true, lost, content: Content::Measurement(measurement) }
    }
}

/// The change of sums by a late report.
#[derive(Debug, Default)]
pub(super) struct Correction {
    /// The energy of the report's own reading.
    pub(super) used_dwh: i64,
    /// When the next reading by number was taken, and how much more it used than was counted:
    /// mostly less.
    behind: Option<(i64, i64)>,
    /// By how much the meter's total grows.
    counted_dwh: i64,
    /// The register after the report, if no reading follows it.
    register_dwh: Option<u32>,
    is_known: bool,
}

impl Correction {
    pub(super) fn of(
        session: Session<'_>,
        reports: &mut impl Reports,
        new: &NewReport,
    ) -> Result<Correction, SqlError> {
        let number = new.number();
        let before = neighbour(session, reports, number, Side::Before)?;
        let behind = neighbour(session, reports, number, Side::Behind)?;
        if before.is_none() && kept_from_s(session)?.is_some() {
            // The reading before it may have gone, so that nobody knows what was used since.
            return Ok(Correction::default());
        }
        reports.settle()?;
        let mut told = alerts_between(session, number, before, behind)?;
        told.extend(behind.map(Neighbour::report));
        let mut from = Register::default();
        if let Some(before) = before {
            from = Register { dwh: Some(before.energy_dwh), lost: (before.flags >> 8) as u8 };
        }
        let (was, _) = count(from, &told);
        let place = told.partition_point(|report| report.n < number.n);
        told.insert(place, new.report);
        let (is, register) = count(from, &told);
        let last = |growths: &[Growth]| growths.last().copied().unwrap_or_default();
        let counted = |growths: &[Growth]| growths.iter().map(|growth| growth.counted_dwh).sum::<i64>();
        let own = matches!(new.report.content, Content::Measurement(_)).then(|| is[0].used_dwh);
        Ok(Correction {
            used_dwh: own.unwrap_or(0),
            behind: behind.map(|behind| (behind.at_s, last(&is).used_dwh - last(&was).used_dwh)),
            counted_dwh: counted(&is) - counted(&was),
            register_dwh: register.dwh,
            is_known: true,
        })
    }

    /// No reading that came has a higher number.
    pub(super) fn is_last(&self) -> bool {
        self.is_known && self.behind.is_none()
    }

    /// Changes what was counted, but for what the report's own reading used.
    pub(super) fn apply(
        self,
        reports: &mut impl Reports,
        intervals: &mut Intervals,
        meter: GlobalMeterId,
        latest: &mut Latest,
    ) -> Result<(), SqlError> {
        if self.counted_dwh != 0 {
            latest.count(self.counted_dwh);
        }
        if self.is_last() {
            latest.register.dwh = self.register_dwh;
        }
        let Some((at_s, used_dwh)) = self.behind.filter(|(_, used_dwh)| *used_dwh != 0) else {
            return Ok(());
        };
        for ((level, start_s), open) in LEVELS.into_iter().zip(intervals.starts(at_s)).zip(&mut latest.open) {
            let change = Rollup::of_energy(start_s, used_dwh);
            match open {
                Some(open) if open.start_s == start_s => open.add(&change),
                _ => finish_interval(reports, intervals, (meter, level), &change)?,
            }
        }
        Ok(())
    }
}

/// Returns how far the register went with each measurement, and where it is then.
fn count(mut register: Register, told: &[Report]) -> (Vec<Growth>, Register) {
    let growths = told.iter().filter_map(|report| register.take(report)).collect();
    (growths, register)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Before,
    Behind,
}

/// The meter's next reading by number on one side. All of its readings are looked at, which takes
/// its time, and is rare.
fn neighbour(
    session: Session<'_>,
    reports: &impl Reports,
    number: Number,
    side: Side,
) -> Result<Option<Neighbour>, SqlError> {
    let Number { meter, epoch, n } = number;
    let (beyond, order) = match side {
        Side::Before => ("<", "DESC"),
        Side::Behind => (">", "ASC"),
    };
    let mut found = reports.unwritten(number);
    for table in session.reading_tables() {
        let sql = format!(
            "SELECT n, at_s, energy_dwh, flags FROM {table} WHERE meter = $1 AND epoch = $2 AND n {beyond} $3 \
             ORDER BY n {order} LIMIT 1"
        );
        found.extend(session.first(&sql, values![meter, epoch, n], |row| {
            let (n, at_s) = (row.get(0)?, row.get(1)?);
            Ok(Neighbour { n, at_s, energy_dwh: row.get(2)?, flags: row.get(3)? })
        })?);
    }
    Ok(match side {
        Side::Before => found.into_iter().filter(|found| found.n < n).max_by_key(|found| found.n),
        Side::Behind => found.into_iter().filter(|found| found.n > n).min_by_key(|found| found.n),
    })
}

/// The meter's alerts between two readings, in their order.
fn alerts_between(
    session: Session<'_>,
    Number { meter, epoch, .. }: Number,
    before: Option<Neighbour>,
    behind: Option<Neighbour>,
) -> Result<Vec<Report>, SqlError> {
    let from = before.map_or(0, |before| i64::from(before.n));
    let to = behind.map_or(1 << 32, |behind| i64::from(behind.n));
    session.query(
        "SELECT report FROM alerts WHERE meter = $1 AND epoch = $2 AND n > $3 AND n < $4 \
         AND report IS NOT NULL ORDER BY n",
        values![meter, epoch, from, to],
        |row| Ok(Report::from_bytes(&row.get::<[u8; 16]>(0)?)),
    )
}
