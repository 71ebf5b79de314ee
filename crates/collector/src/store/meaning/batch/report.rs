//! A report that comes: the reading or the alert, the signed message, the meter's row, and the
//! rollups.

use super::late::Correction;
use super::{InsertedReport, MeterCache, Number, Numbered, ReportAlert, Reports, finish_interval};
use crate::event;
use crate::network::GlobalMeterId;
use crate::store::METERS_EPOCH_S;
use crate::store::meaning::interval::Intervals;
use crate::store::meaning::latest::{DAY, LEVELS, Measured, Rollup};
use crate::store::meaning::read::kept_from_s;
use crate::store::meaning::register::{is_first_start, is_start};
use crate::store::model::query::Interval;
use crate::store::model::write::{NewReport, Written};
use crate::store::sql::{Session, SqlError};
use wire::meter::{Alert, Cause, Content, Report, Suite};

impl NewReport {
    pub(in crate::store) fn number(&self) -> Number {
        Number { meter: self.meter, epoch: self.epoch, n: self.report.n }
    }
}

/// Returns the result of a report whose number is not above the last one. `None`: nothing is stored
/// under that number. Such a report comes late, because the meter's memory did not read as whole at
/// an earlier start.
fn known(
    session: Session<'_>,
    reports: &mut impl Reports,
    new: &NewReport,
) -> Result<Option<Written>, SqlError> {
    let NewReport { suite, report, .. } = *new;
    let same = match (reports.find_alert(new.number())?, report.content) {
        (Some(stored), content) => {
            Some(stored == report.to_bytes() && !matches!(content, Content::Measurement(_)))
        }
        (None, Content::Measurement(measurement)) => {
            let flags = flags_of(report.time_set, suite, report.lost);
            let made_s = time_of(&report);
            reports.find_reading(new.number(), made_s)?.map(|stored| {
                let at_s = made_s.unwrap_or(stored.at_s);
                let (power_w, energy_dwh) = (measurement.power_w, measurement.energy_dwh);
                stored == Numbered { at_s, power_w, energy_dwh, flags }
            })
        }
        (None, _) => reports.find_reading(new.number(), None)?.map(|_| false),
    };
    Ok(match same {
        Some(true) => Some(Written::Repeated),
        Some(false) => Some(Written::NumberReused),
        None if is_gone(session, &report)? => Some(Written::Repeated),
        None => None,
    })
}

/// Says if a report belongs to a time whose readings are deleted.
fn is_gone(session: Session<'_>, report: &Report) -> Result<bool, SqlError> {
    let Some(at_s) = time_of(report) else { return Ok(false) };
    Ok(kept_from_s(session)?.is_some_and(|from_s| at_s < from_s))
}

/// An alert of a meter's.
fn raise(
    reports: &mut impl Reports,
    new: &NewReport,
    at_s: i64,
    lost: u8,
    (cause, detail): (String, String),
) -> Result<Written, SqlError> {
    let (heard_ms, report) = (new.heard_ms, new.report.to_bytes());
    let is_information = matches!(new.report.content, Content::Alert(alert) if is_first_start(&alert));
    let number = new.number();
    let raised =
        ReportAlert { number, at_s, heard_ms, cause: &cause, detail: &detail, report, is_information };
    let id = reports.raise(&raised)?;
    Ok(Written::Alert { alert: event::Alert { id, meter: Some(new.meter), at_s, cause, detail }, lost })
}

/// The energy that a reading adds, with the power at its time.
struct Used {
    meter: GlobalMeterId,
    at_s: i64,
    used_dwh: i64,
    power_w: i16,
}

impl Used {
    /// Adds to the open interval of each level. An interval that is over goes to its row; one that
    /// begins continues its row, if there is one.
    fn add_to_rollups(
        &self,
        reports: &mut impl Reports,
        intervals: &mut Intervals,
        open: &mut [Option<Rollup>; LEVELS.len()],
    ) -> Result<(), SqlError> {
        let meter = self.meter;
        for ((level, start_s), open) in LEVELS.into_iter().zip(intervals.starts(self.at_s)).zip(open) {
            let new = Rollup::of(start_s, self.used_dwh, self.power_w);
            match open {
                Some(open) if open.start_s == start_s => open.add(&new),
                // Late.
                Some(open) if open.start_s > start_s => {
                    finish_interval(reports, intervals, (meter, level), &new)?
                }
                _ => {
                    if let Some(over) = open {
                        finish_interval(reports, intervals, (meter, level), over)?;
                    }
                    let mut begun = new;
                    if let Some(taken) = reports.take(meter, level, start_s)? {
                        if level == DAY {
                            let month_s = intervals.start(start_s, Interval::Month);
                            reports.add_to_month(meter, month_s, -taken.used_dwh);
                        }
                        begun.add(&taken);
                    }
                    *open = Some(begun);
                }
            }
        }
        Ok(())
    }
}

impl MeterCache {
    pub(super) fn report(
        &mut self,
        session: Session<'_>,
        reports: &mut impl Reports,
        new: &NewReport,
    ) -> Result<Written, SqlError> {
        let NewReport { meter, epoch, heard_ms, suite, report, rssi_dbm, .. } = *new;
        let Some(latest) = self.latest.get_mut(&meter) else { return Ok(Written::Unknown) };
        let whole = suite != Suite::EciesEcdsa || new.sealed.len() == 144;
        if latest.epoch != epoch || latest.revoked || !whole {
            return Ok(Written::Unknown);
        }
        let late = report.n <= latest.last_n;
        if late && let Some(written) = known(session, reports, new)? {
            return Ok(written);
        }
        self.before.entry(meter).or_insert(Some(**latest));
        let started = matches!(&report.content, Content::Alert(alert) if is_start(alert));
        let mut late_by = None;
        let lost = if late {
            latest.heard_late(heard_ms);
            late_by = Some(Correction::of(session, reports, new)?);
            0
        } else {
            latest.heard(report.n, suite, report.lost, started, heard_ms)
        };
        latest.rssi_dbm = rssi_dbm;
        let at_s = at_s(new);
        if suite == Suite::EciesEcdsa {
            reports.sign(new, at_s)?;
        }
        let measurement = match report.content {
            Content::Measurement(measurement) => measurement,
            Content::Alert(alert) => {
                if let Some(correction) = late_by {
                    correction.apply(reports, &mut self.intervals, meter, latest)?;
                }
                return raise(reports, new, at_s, lost, (cause(&alert), detail(&alert)));
            }
            Content::Other(code, bytes) => {
                return raise(reports, new, at_s, lost, (format!("report-{code}"), hex(&bytes)));
            }
        };
        let (power_w, energy_dwh) = (measurement.power_w, measurement.energy_dwh);
        let flags = flags_of(report.time_set, suite, report.lost);
        let reading = Numbered { at_s, power_w, energy_dwh, flags };
        reports.land(&InsertedReport { number: new.number(), reading, rssi_dbm, heard_ms })?;
        let measured = Measured { at_s, power_w, energy_dwh };
        let used_dwh = match &late_by {
            None => latest.measured(measured),
            Some(correction) => {
                if correction.is_last() {
                    latest.measured = Some(measured);
                }
                latest.count(0);
                correction.used_dwh
            }
        };
        let used = Used { meter, at_s, used_dwh, power_w };
        used.add_to_rollups(reports, &mut self.intervals, &mut latest.open)?;
        if let Some(correction) = late_by {
            correction.apply(reports, &mut self.intervals, meter, latest)?;
        }
        let reading = event::Reading {
            meter,
            n: report.n,
            at_s,
            heard_ms,
            power_w,
            energy_dwh,
            total_dwh: latest.total_dwh,
            suite,
            rssi_dbm,
        };
        Ok(Written::Reading { reading, lost })
    }
}

/// When a report was made, where its meter's time was set.
pub(super) fn time_of(report: &Report) -> Option<i64> {
    let time_s = report.time_s().filter(|_| report.time_set)?;
    Some(METERS_EPOCH_S + i64::from(time_s))
}

/// When a report is said to be made: where its meter's time was not set, when it was heard.
pub(super) fn at_s(new: &NewReport) -> i64 {
    time_of(&new.report).unwrap_or_else(|| new.heard_ms.div_euclid(1000))
}

/// `readings.flags`: bit 0: the meter's time was not set; bits 1 to 3: the suite; bits 8 to 15:
/// what the report says of measurements lost since the meter's start.
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
