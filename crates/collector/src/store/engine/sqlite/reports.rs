//! Reports as SQLite stores them: one after the other, by statements that are made ready once for a
//! batch.

use super::staging::Staging;
use crate::network::GlobalMeterId;
use crate::store::meaning::batch::{
    ACKNOWLEDGED_BY, ChangedMeter, InsertedReport, Neighbour, Number, Numbered, ReportAlert, Reports,
};
use crate::store::meaning::by_time::{Changes, Key};
use crate::store::meaning::latest::{COLUMNS, Rollup, WIDTH, row};
use crate::store::model::write::NewReport;
use crate::store::sql::{Row, SqlError};
use rusqlite::{CachedStatement, Connection, OptionalExtension, params, params_from_iter};

pub(super) struct Statements<'c> {
    connection: &'c Connection,
    staging: &'c mut Staging,
    land: CachedStatement<'c>,
    sign: CachedStatement<'c>,
    alert: CachedStatement<'c>,
    find_reading: CachedStatement<'c>,
    find_alert: CachedStatement<'c>,
    add: CachedStatement<'c>,
    take: CachedStatement<'c>,
    /// The changes by `add` and `take`, for queries by time.
    changes: Changes,
}

impl<'c> Statements<'c> {
    pub(super) fn new(
        connection: &'c Connection,
        staging: &'c mut Staging,
    ) -> rusqlite::Result<Statements<'c>> {
        let table = staging.table();
        Ok(Statements {
            land: connection.prepare_cached(&format!(
                "INSERT INTO {table} (meter, at_s, epoch, n, power_w, energy_dwh, flags, rssi_dbm, heard_ms) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
            ))?,
            sign: connection.prepare_cached(
                "INSERT INTO signed (meter, epoch, n, at_s, heard_ms, message) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?,
            alert: connection.prepare_cached(
                "INSERT INTO alerts (meter, at_s, heard_ms, cause, detail, epoch, n, report, acknowledged_ms, acknowledged_by) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?,
            find_reading: connection.prepare_cached(
                "SELECT at_s, power_w, energy_dwh, flags FROM readings WHERE meter = ?1 AND at_s BETWEEN ?2 AND ?3 AND epoch = ?4 AND n = ?5 \
                 UNION ALL \
                 SELECT at_s, power_w, energy_dwh, flags FROM landed WHERE meter = ?1 AND at_s BETWEEN ?2 AND ?3 AND epoch = ?4 AND n = ?5",
            )?,
            find_alert: connection
                .prepare_cached("SELECT report FROM alerts WHERE meter = ?1 AND epoch = ?2 AND n = ?3")?,
            add: connection.prepare_cached(
                "INSERT INTO rollups VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO UPDATE SET \
                 readings = readings + excluded.readings, used_dwh = used_dwh + excluded.used_dwh, \
                 power_min_w = min(power_min_w, excluded.power_min_w), \
                 power_max_w = max(power_max_w, excluded.power_max_w), power_sum_w = power_sum_w + excluded.power_sum_w",
            )?,
            take: connection.prepare_cached(
                "DELETE FROM rollups WHERE meter = ?1 AND level = ?2 AND start_s = ?3 RETURNING start_s, readings, used_dwh, \
                 power_min_w, power_max_w, power_sum_w",
            )?,
            changes: Changes::default(),
            connection,
            staging,
        })
    }

    /// The end of a batch: the meters' rows that it changed, what is by time, and what is to be
    /// sorted in.
    pub(super) fn finish(self, changed: &[ChangedMeter<'_>]) -> Result<(), SqlError> {
        let Statements { connection, staging, changes, .. } = self;
        write_by_time(connection, changes)?;
        let places = (1..=WIDTH).map(|place| format!("?{place}")).collect::<Vec<_>>().join(", ");
        let mut save = connection
            .prepare_cached(&format!("REPLACE INTO latest (meter, {COLUMNS}) VALUES ({places})"))?;
        for ChangedMeter { meter, latest, .. } in changed {
            save.execute(params_from_iter(row(*meter, latest)))?;
        }
        Ok(staging.sort_in(connection)?)
    }
}

fn write_by_time(connection: &Connection, changes: Changes) -> Result<(), SqlError> {
    let mut find = connection.prepare_cached(
        "SELECT used_dwh FROM used_by_time WHERE level = ?1 AND start_s = ?2 AND meters = ?3",
    )?;
    for (Key { level, start_s, meters }, change) in changes.rows() {
        let key = params![level, start_s, meters];
        let before: Option<Vec<u8>> = find.query_row(key, |row| row.get(0)).optional()?;
        let row = change.apply(before.as_deref())?;
        if row.is_empty() {
            let sql = "DELETE FROM used_by_time WHERE level = ?1 AND start_s = ?2 AND meters = ?3";
            connection.prepare_cached(sql)?.execute(key)?;
        } else {
            let mut replace =
                connection.prepare_cached("REPLACE INTO used_by_time VALUES (?1, ?2, ?3, ?4)")?;
            replace.execute(params![level, start_s, meters, row])?;
        }
    }
    Ok(())
}

impl Reports for Statements<'_> {
    fn find_alert(&mut self, Number { meter, epoch, n }: Number) -> Result<Option<[u8; 16]>, SqlError> {
        let found = self.find_alert.query_row(params![meter.key(), epoch, n], |row| row.get(0));
        Ok(found.optional()?)
    }

    /// First where it is to be; then all of the meter's readings are looked at, which takes its
    /// time, and is rare.
    fn find_reading(&mut self, number: Number, at_s: Option<i64>) -> Result<Option<Numbered>, SqlError> {
        let Number { meter, epoch, n } = number;
        let anywhere = (i64::MIN, i64::MAX);
        for (from_s, to_s) in at_s.map(|at_s| (at_s, at_s)).into_iter().chain([anywhere]) {
            let found = self.find_reading.query_row(params![meter.key(), from_s, to_s, epoch, n], |row| {
                let (at_s, power_w) = (row.get(0)?, row.get(1)?);
                Ok(Numbered { at_s, power_w, energy_dwh: row.get(2)?, flags: row.get(3)? })
            });
            if let Some(found) = found.optional()? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn unwritten(&self, _: Number) -> Vec<Neighbour> {
        Vec::new()
    }

    fn land(&mut self, landed: &InsertedReport) -> Result<(), SqlError> {
        let InsertedReport { number: Number { meter, epoch, n }, reading, rssi_dbm, heard_ms } = *landed;
        let Numbered { at_s, power_w, energy_dwh, flags } = reading;
        let key = meter.key();
        self.land.execute(params![key, at_s, epoch, n, power_w, energy_dwh, flags, rssi_dbm, heard_ms])?;
        self.staging.staged();
        Ok(())
    }

    fn sign(&mut self, report: &NewReport, at_s: i64) -> Result<(), SqlError> {
        let NewReport { meter, epoch, heard_ms, report, sealed, .. } = report;
        self.sign.execute(params![meter.key(), epoch, report.n, at_s, heard_ms, sealed])?;
        Ok(())
    }

    fn raise(&mut self, alert: &ReportAlert<'_>) -> Result<i64, SqlError> {
        let ReportAlert { number: Number { meter, epoch, n }, at_s, heard_ms, cause, detail, report, .. } =
            *alert;
        let seen_ms = alert.is_information.then_some(heard_ms);
        let seen_by = alert.is_information.then_some(ACKNOWLEDGED_BY);
        let values = params![meter.key(), at_s, heard_ms, cause, detail, epoch, n, report, seen_ms, seen_by];
        Ok(self.alert.insert(values)?)
    }

    fn add(&mut self, meter: GlobalMeterId, level: i64, rollup: &Rollup) -> Result<(), SqlError> {
        let Rollup { start_s, readings, used_dwh, min_w, max_w, sum_w } = *rollup;
        self.add.execute(params![meter.key(), level, start_s, readings, used_dwh, min_w, max_w, sum_w])?;
        self.changes.add(meter, level, rollup);
        Ok(())
    }

    fn take(&mut self, meter: GlobalMeterId, level: i64, start_s: i64) -> Result<Option<Rollup>, SqlError> {
        let mut rows = self.take.query(params![meter.key(), level, start_s])?;
        let taken = match rows.next()? {
            Some(row) => Rollup::read(Row::Sqlite(row), 0)?,
            None => None,
        };
        // To its end, so that it is done.
        while rows.next()?.is_some() {}
        if taken.is_some() {
            self.changes.take(meter, level, start_s);
        }
        Ok(taken)
    }

    fn add_to_month(&mut self, meter: GlobalMeterId, start_s: i64, used_dwh: i64) {
        self.changes.add_to_month(meter, start_s, used_dwh);
    }

    fn settle(&mut self) -> Result<(), SqlError> {
        Ok(())
    }
}
