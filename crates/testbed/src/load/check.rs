//! Reads a collector's database by itself, and compares it row by row with what the meters sent and
//! what was acknowledged.

use crate::load::LoadError;
use crate::load::meters::Fleet;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;

/// 2000-01-01 00:00:00 UTC in Unix seconds.
const METERS_EPOCH_S: i64 = 946_684_800;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Rows, all of which were compared.
    pub rows: u64,
    /// Of those, how many were not acknowledged: at most one of each meter.
    pub not_acknowledged: u64,
}

/// Every acknowledged reading is there once, with the figures that were sent, and nothing else but
/// at most one more of each meter: a reading that was stored, and whose acknowledgement did not
/// come.
///
/// # Errors
/// [`LoadError::Wrong`] says which is not.
pub fn check(database: &Path, fleet: &Fleet) -> Result<Checked, LoadError> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // Those that came last lie in tables of their own.
    let mut statement = connection.prepare(
        "SELECT n, at_s, power_w, energy_dwh, epoch FROM readings WHERE meter = ?1
         UNION ALL SELECT n, at_s, power_w, energy_dwh, epoch FROM landed WHERE meter = ?1
         ORDER BY epoch, n",
    )?;
    let (mut rows, mut not_acknowledged) = (0, 0);
    for meter in fleet.meters() {
        let mut expected = 0;
        let mut found = statement.query([meter.id])?;
        while let Some(row) = found.next()? {
            expected += 1;
            let n: u32 = row.get(0)?;
            if n != expected {
                return Err(LoadError::Wrong(format!(
                    "meter {}: reading {n} is where {expected} should be ({} are acknowledged): lost, or stored twice",
                    meter.id, meter.acknowledged
                )));
            }
            let sent = meter.measurement(n);
            let stored: (i64, i64, i64, i64) = (row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
            let right = (
                i64::from(sent.time_s) + METERS_EPOCH_S,
                i64::from(sent.power_w),
                i64::from(sent.energy_dwh),
                1,
            );
            if stored != right {
                return Err(LoadError::Wrong(format!(
                    "meter {}: reading {n} is stored as {stored:?}, and was sent as {right:?}",
                    meter.id
                )));
            }
            rows += 1;
        }
        if expected < meter.acknowledged || expected > meter.acknowledged + 1 {
            return Err(LoadError::Wrong(format!(
                "meter {}: {} readings are acknowledged, {expected} are stored",
                meter.id, meter.acknowledged
            )));
        }
        not_acknowledged += u64::from(expected - meter.acknowledged);
    }
    let all = "SELECT (SELECT count(*) FROM readings) + (SELECT count(*) FROM landed)";
    let all = connection.query_row(all, [], |row| row.get::<_, i64>(0))? as u64;
    if all != rows {
        return Err(LoadError::Wrong(format!("{all} readings are stored, {rows} of them of these meters")));
    }
    Ok(Checked { rows, not_acknowledged })
}
