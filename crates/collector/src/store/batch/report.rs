//! A report that comes: the reading or the alert, the signed message, the meter's row, and the rollups.

use super::Kept;
use crate::event;
use crate::network::GlobalMeterId;
use crate::store::METERS_EPOCH_S;
use crate::store::by_time::Changes;
use crate::store::latest::{LEVELS, Measured, Rollup, is_start};
use crate::store::write::{NewReport, Written};
use rusqlite::{CachedStatement, Connection, OptionalExtension, params};
use wire::meter::{Alert, Cause, Content, Report, Suite};

/// Power, register and flags of a reading.
type StoredReading = (i16, u32, i64);

/// What is done for each report, made ready once for a batch.
pub(super) struct Statements<'c> {
    land: CachedStatement<'c>,
    sign: CachedStatement<'c>,
    alert: CachedStatement<'c>,
    find_reading: CachedStatement<'c>,
    find_alert: CachedStatement<'c>,
    kept_from: CachedStatement<'c>,
    add: CachedStatement<'c>,
    take: CachedStatement<'c>,
    /// What `add` and `take` do, for who asks by time.
    pub(super) changes: Changes,
}

impl Statements<'_> {
    /// table: where readings land.
    pub(super) fn new<'c>(connection: &'c Connection, table: &str) -> rusqlite::Result<Statements<'c>> {
        Ok(Statements {
            land: connection.prepare_cached(&format!(
                "INSERT INTO {table} (meter, at_s, epoch, n, power_w, energy_dwh, flags, rssi_dbm, heard_ms) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
            ))?,
            sign: connection.prepare_cached(
                "INSERT INTO signed (meter, epoch, n, at_s, heard_ms, message) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?,
            alert: connection.prepare_cached(
                "INSERT INTO alerts (meter, at_s, heard_ms, cause, detail, epoch, n, report) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?,
            find_reading: connection.prepare_cached(
                "SELECT at_s, power_w, energy_dwh, flags FROM readings WHERE meter = ?1 AND at_s BETWEEN ?2 AND ?3 AND epoch = ?4 AND n = ?5 \
                 UNION ALL \
                 SELECT at_s, power_w, energy_dwh, flags FROM landed WHERE meter = ?1 AND at_s BETWEEN ?2 AND ?3 AND epoch = ?4 AND n = ?5",
            )?,
            find_alert: connection
                .prepare_cached("SELECT report FROM alerts WHERE meter = ?1 AND epoch = ?2 AND n = ?3")?,
            kept_from: connection.prepare_cached("SELECT value FROM meta WHERE key = 'kept_from_s'")?,
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
        })
    }

    /// An alert of a meter's.
    fn raise(
        &mut self,
        new: &NewReport,
        at_s: i64,
        lost: u8,
        cause: String,
        detail: String,
    ) -> rusqlite::Result<Written> {
        let NewReport { meter, epoch, heard_ms, report, .. } = *new;
        let bytes = report.to_bytes();
        let id = self.alert.insert(params![meter, at_s, heard_ms, cause, detail, epoch, report.n, bytes])?;
        Ok(Written::Alert { alert: event::Alert { id, meter: Some(meter), at_s, cause, detail }, lost })
    }

    /// What there is to say of a report whose number is not above the last one; `None` where nothing is stored under that number: then it
    /// comes late, because the meter's memory did not read as whole at a start before.
    fn known(&mut self, new: &NewReport) -> rusqlite::Result<Option<Written>> {
        let NewReport { meter, epoch, suite, report, .. } = *new;
        let of_number = params![meter, epoch, report.n];
        let alert: Option<[u8; 16]> = self.find_alert.query_row(of_number, |row| row.get(0)).optional()?;
        let same = match (alert, report.content) {
            (Some(stored), content) => {
                Some(stored == report.to_bytes() && !matches!(content, Content::Measurement(_)))
            }
            (None, Content::Measurement(measurement)) => {
                let flags = flags_of(report.time_set, suite, report.lost);
                let of_report = (measurement.power_w, measurement.energy_dwh, flags);
                let made_s = time_of(&report);
                let stored = self.reading_of(new, made_s)?;
                stored.map(|(at_s, stored)| stored == of_report && made_s.is_none_or(|made_s| made_s == at_s))
            }
            (None, _) => self.reading_of(new, None)?.map(|_| false),
        };
        Ok(match same {
            Some(true) => Some(Written::Repeated),
            Some(false) => Some(Written::NumberReused),
            None if self.is_gone(&report)? => Some(Written::Repeated),
            None => None,
        })
    }

    /// The reading that is stored under a report's number, with its time. at_s: where it is looked for first; then all of the meter's
    /// readings are, which takes its time, and is rare.
    fn reading_of(
        &mut self,
        new: &NewReport,
        at_s: Option<i64>,
    ) -> rusqlite::Result<Option<(i64, StoredReading)>> {
        let NewReport { meter, epoch, report, .. } = *new;
        let anywhere = (i64::MIN, i64::MAX);
        for (from_s, to_s) in at_s.map(|at_s| (at_s, at_s)).into_iter().chain([anywhere]) {
            let range = params![meter, from_s, to_s, epoch, report.n];
            let found = self
                .find_reading
                .query_row(range, |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?))));
            if let Some(found) = found.optional()? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Whether a report is of a time of which readings are not kept any more.
    fn is_gone(&mut self, report: &Report) -> rusqlite::Result<bool> {
        let Some(at_s) = time_of(report) else { return Ok(false) };
        let kept_from: Option<String> = self.kept_from.query_row([], |row| row.get(0)).optional()?;
        Ok(kept_from.and_then(|from_s| from_s.parse::<i64>().ok()).is_some_and(|from_s| at_s < from_s))
    }

    fn add(&mut self, meter: GlobalMeterId, level: i64, rollup: &Rollup) -> rusqlite::Result<()> {
        let Rollup { start_s, readings, used_dwh, min_w, max_w, sum_w } = *rollup;
        self.add.execute(params![meter, level, start_s, readings, used_dwh, min_w, max_w, sum_w])?;
        self.changes.add(meter, level, rollup);
        Ok(())
    }

    fn take(&mut self, meter: GlobalMeterId, level: i64, start_s: i64) -> rusqlite::Result<Option<Rollup>> {
        let taken = self.take.query_row(params![meter, level, start_s], |row| Rollup::read(row, 0));
        let taken = taken.optional()?.flatten();
        if taken.is_some() {
            self.changes.take(meter, level, start_s);
        }
        Ok(taken)
    }
}

impl Kept {
    pub(super) fn report(
        &mut self,
        statements: &mut Statements<'_>,
        new: &NewReport,
    ) -> rusqlite::Result<Written> {
        let NewReport { meter, epoch, heard_ms, suite, report, .. } = *new;
        let Some(latest) = self.latest.get_mut(&meter) else { return Ok(Written::Unknown) };
        let whole = suite != Suite::EciesEcdsa || new.sealed.len() == 144;
        if latest.epoch != epoch || latest.revoked || !whole {
            return Ok(Written::Unknown);
        }
        let late = report.n <= latest.last_n;
        if late && let Some(written) = statements.known(new)? {
            return Ok(written);
        }
        self.before.entry(meter).or_insert(Some(*latest));
        let started = matches!(&report.content, Content::Alert(alert) if is_start(alert));
        let lost = if late {
            latest.heard_late(heard_ms);
            0
        } else {
            latest.heard(report.n, suite, report.lost, started, heard_ms)
        };
        latest.rssi_dbm = new.rssi_dbm;
        let at_s = time_of(&report).unwrap_or_else(|| heard_ms.div_euclid(1000));
        if suite == Suite::EciesEcdsa {
            statements.sign.execute(params![meter, epoch, report.n, at_s, heard_ms, new.sealed])?;
        }
        let measurement = match report.content {
            Content::Measurement(measurement) => measurement,
            Content::Alert(alert) => {
                return statements.raise(new, at_s, lost, cause(&alert), detail(&alert));
            }
            Content::Other(code, bytes) => {
                return statements.raise(new, at_s, lost, format!("report-{code}"), hex(&bytes));
            }
        };
        let (power_w, energy_dwh) = (measurement.power_w, measurement.energy_dwh);
        let flags = flags_of(report.time_set, suite, report.lost);
        statements.land.execute(params![
            meter,
            at_s,
            epoch,
            report.n,
            power_w,
            energy_dwh,
            flags,
            new.rssi_dbm,
            heard_ms
        ])?;
        self.counts.staging.staged();
        // What was used since the one before it is in what the one behind it used.
        let used_dwh = if late { 0 } else { latest.measured(Measured { at_s, power_w, energy_dwh }) };
        for ((level, start_s), open) in
            LEVELS.into_iter().zip(self.intervals.starts(at_s)).zip(&mut latest.open)
        {
            let new = Rollup::of(start_s, used_dwh, power_w);
            match open {
                Some(open) if open.start_s == start_s => open.add(&new),
                // Late.
                Some(open) if open.start_s > start_s => statements.add(meter, level, &new)?,
                _ => {
                    if let Some(over) = open {
                        statements.add(meter, level, over)?;
                    }
                    let mut begun = new;
                    if let Some(taken) = statements.take(meter, level, start_s)? {
                        begun.add(&taken);
                    }
                    *open = Some(begun);
                }
            }
        }
        let reading = event::Reading {
            meter,
            n: report.n,
            at_s,
            heard_ms,
            power_w,
            energy_dwh,
            suite,
            rssi_dbm: new.rssi_dbm,
        };
        Ok(Written::Reading { reading, lost })
    }
}

/// When a report was made, where its meter's time was set.
fn time_of(report: &Report) -> Option<i64> {
    let time_s = report.time_s().filter(|_| report.time_set)?;
    Some(METERS_EPOCH_S + i64::from(time_s))
}

/// `readings.flags`: bit 0: the meter's time was not set; bits 1 to 3: the suite; bits 8 to 15: what the report says of measurements
/// lost since the meter's start.
pub(crate) fn flags_of(time_set: bool, suite: Suite, lost: u8) -> i64 {
    i64::from(!time_set) | i64::from(suite.code()) << 1 | i64::from(lost) << 8
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn detail(alert: &Alert) -> String {
    if alert.detail == [0; 3] {
        return format!("start {}", alert.starts);
    }
    format!("start {}, detail {}", alert.starts, hex(&alert.detail))
}

fn cause(alert: &Alert) -> String {
    let name = match alert.cause {
        Cause::PowerOn => "power-on",
        Cause::ExternalReset => "external-reset",
        Cause::BrownOut => "brown-out",
        Cause::Watchdog => "watchdog",
        Cause::Commanded => "commanded",
        Cause::Unknown => "unknown",
        Cause::NoiseSource => "noise-source",
        Cause::Journal => "journal",
        Cause::Other(code) => return format!("cause-{code}"),
    };
    name.to_owned()
}
