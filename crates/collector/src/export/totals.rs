//! A meter's energy since its first start, as of each of its readings: the database has the last
//! one, from which it is counted back.

use crate::network::GlobalMeterId;
use crate::store::{Register, Session, SqlError, values};
use wire::meter::{Content, Measurement, Report};

/// By epoch and number, in their order.
#[derive(Debug, Default)]
pub(super) struct Totals(Vec<(u32, u32, i64)>);

impl Totals {
    /// Reads all of a meter's readings, because those behind a reading are what its total lacks.
    pub(super) fn of(session: Session<'_>, meter: GlobalMeterId) -> Result<Totals, SqlError> {
        let last = "SELECT total_dwh FROM latest WHERE meter = $1 AND total_dwh IS NOT NULL";
        let Some(last_dwh) = session.first(last, values![meter], |row| row.get::<i64>(0))? else {
            return Ok(Totals::default());
        };
        let mut reports: Vec<(u32, Report)> = Vec::new();
        for table in session.reading_tables() {
            let sql = format!("SELECT epoch, n, energy_dwh, flags FROM {table} WHERE meter = $1");
            reports.extend(session.query(&sql, values![meter], |row| {
                let measurement = Measurement { time_s: 0, energy_dwh: row.get(2)?, power_w: 0 };
                let (n, lost) = (row.get(1)?, (row.get::<i64>(3)? >> 8) as u8);
                let content = Content::Measurement(measurement);
                Ok((row.get(0)?, Report { n, time_set: true, lost, content }))
            })?);
        }
        let alerts = "SELECT epoch, report FROM alerts WHERE meter = $1 AND report IS NOT NULL";
        reports.extend(session.query(alerts, values![meter], |row| {
            Ok((row.get(0)?, Report::from_bytes(&row.get::<[u8; 16]>(1)?)))
        })?);
        reports.sort_unstable_by_key(|(epoch, report)| (*epoch, report.n));
        Ok(Totals::count(&reports, last_dwh))
    }

    fn count(reports: &[(u32, Report)], last_dwh: i64) -> Totals {
        let (mut counted_dwh, mut register, mut of_epoch) = (0, Register::default(), None);
        let mut totals = Vec::new();
        for (epoch, report) in reports {
            if of_epoch.replace(*epoch) != Some(*epoch) {
                register = Register::default();
            }
            let Some(growth) = register.take(report) else { continue };
            counted_dwh += growth.counted_dwh;
            totals.push((*epoch, report.n, counted_dwh));
        }
        for (_, _, total_dwh) in &mut totals {
            *total_dwh += last_dwh - counted_dwh;
        }
        Totals(totals)
    }

    /// The total as of a reading, in 0.1 Wh; `None`: it came after they were read. No total is
    /// below its own register.
    pub(super) fn at(&self, epoch: u32, n: u32, energy_dwh: u32) -> Option<i64> {
        let place = self.0.binary_search_by_key(&(epoch, n), |(epoch, n, _)| (*epoch, *n)).ok()?;
        Some(self.0[place].2.max(energy_dwh.into()))
    }
}
