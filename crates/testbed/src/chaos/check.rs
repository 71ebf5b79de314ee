//! Comparison of the meters' packets with the database.

use crate::chaos::ClusterError;
use crate::chaos::firmware::record::{MeterLog, OnAir, unix_s};
use crate::chaos::machines::Machines;
use crate::chaos::meters::{METERS_EPOCH_S, Meter, Sent};
use crate::chaos::orders::Given;
use serde::Serialize;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use wire::meter::{Command, Content, Measurement, MeterId};

/// Number of faults of each kind that are named one by one.
const TOLD: usize = 10;

/// Result of the comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Checked {
    /// Readings whose acknowledgement a meter heard, all of which were looked for.
    pub acknowledged: u64,
    /// Readings in the database.
    pub stored: u64,
    pub lost: u64,
    pub double: u64,
    /// Stored otherwise than they were sent, or never sent.
    pub altered: u64,
    /// Commands that the API took, and those of which nobody knows.
    pub commands: u64,
    pub commands_in_doubt: u64,
    /// Commands that meters did, and those that one did more than once.
    pub commands_done: u64,
    pub commands_twice: u64,
    /// Meters with their firmware, whose readings are among those above.
    pub firmware_meters: Vec<FirmwareRow>,
    /// Faults, the first few of each kind.
    pub wrong: Vec<String>,
}

/// A meter that runs the meter's firmware, and what it noticed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FirmwareRow {
    pub meter: u16,
    /// Its board and its microcontroller, on their models; none of both where the firmware is built
    /// for this machine.
    pub board: Option<&'static str>,
    pub target: Option<String>,
    pub suite: &'static str,
    /// Measurements that it made; of these, those whose acknowledgement it took, and those that
    /// were lost for want of room, as it counts them.
    pub measurements: u32,
    pub acknowledged: u64,
    pub lost: u16,
    /// Its readings in the database.
    pub stored: u64,
    /// Reports that it sent again, each time.
    pub resent: u16,
    /// From a report's first packet to its acknowledgement, at most.
    pub longest_s: f64,
}

impl FirmwareRow {
    fn new(meter: &MeterLog, acknowledged: u64, stored: u64) -> FirmwareRow {
        FirmwareRow {
            meter: meter.id(),
            board: meter.board.as_ref().map(|board| board.name),
            target: meter.board.as_ref().map(|board| board.target.clone()),
            suite: meter.suite().name(),
            measurements: meter.status.measurements,
            acknowledged,
            lost: meter.status.lost,
            stored,
            resent: meter.status.resent,
            longest_s: meter.longest.as_secs_f64(),
        }
    }

    /// Names the runner of its firmware.
    pub(super) fn runs_on(&self) -> String {
        match (&self.target, self.board) {
            (Some(target), Some(board)) => format!("{target} ({board})"),
            _ => "this machine".into(),
        }
    }
}

impl Checked {
    fn wrong(&mut self, count: impl FnOnce(&mut Checked) -> &mut u64, what: String) {
        let count = count(self);
        *count += 1;
        if *count <= TOLD as u64 {
            self.wrong.push(what);
        }
    }
}

/// A row of the database: when, watts, tenths of watt-hours.
type Row = (i64, i64, i64);

/// A reading, as it has to be there.
struct Expected {
    n: u32,
    is_acknowledged: bool,
    /// A meter whose clock is not set leaves the time to the collector.
    at_s: RangeInclusive<i64>,
    power_w: i64,
    energy_dwh: i64,
}

impl Expected {
    fn new(n: u32, measurement: &Measurement, is_acknowledged: bool) -> Expected {
        let at_s = i64::from(measurement.time_s) + METERS_EPOCH_S as i64;
        let (power_w, energy_dwh) = (measurement.power_w.into(), measurement.energy_dwh.into());
        Expected { n, is_acknowledged, at_s: at_s..=at_s, power_w, energy_dwh }
    }

    /// Of a report that was on the air; nothing where it is no measurement.
    fn on_air(n: u32, on_air: &OnAir, now_s: i64) -> Option<Expected> {
        let Content::Measurement(measurement) = on_air.report.content else { return None };
        let expected = Expected::new(n, &measurement, on_air.acknowledged_s.is_some());
        // The collector's clock is this one; its seconds begin as these.
        let heard_s = on_air.first_s..=on_air.acknowledged_s.unwrap_or(now_s);
        Some(if on_air.report.time_set { expected } else { Expected { at_s: heard_s, ..expected } })
    }

    fn is(&self, (at_s, power_w, energy_dwh): Row) -> bool {
        self.at_s.contains(&at_s) && (self.power_w, self.energy_dwh) == (power_w, energy_dwh)
    }
}

/// # Errors
/// The database does not answer, or its answer is no reading.
pub fn check(
    machines: &Machines,
    meters: &[Meter],
    firmware: &[MeterLog],
    given: &[Given],
) -> Result<Checked, ClusterError> {
    let text = machines.sql("SELECT meter, n, at_s, power_w, energy_dwh FROM readings")?;
    let mut rows: HashMap<(MeterId, u32), Vec<Row>> = HashMap::new();
    for line in text.lines() {
        let (name, row) = parse(line).ok_or_else(|| ClusterError::NoReading(line.to_owned()))?;
        rows.entry(name).or_default().push(row);
    }
    let mut checked =
        Checked { stored: rows.values().map(|rows| rows.len() as u64).sum(), ..Checked::default() };
    for meter in meters {
        let acknowledged = meter.acknowledged().len();
        checked.acknowledged += acknowledged as u64;
        for (at, Sent { n, measurement }) in meter.sent.iter().enumerate() {
            let found = rows.remove(&(meter.id, *n)).unwrap_or_default();
            // The last may be stored without that its acknowledgement was heard.
            of_reading(&mut checked, meter.id, &found, &Expected::new(*n, measurement, at < acknowledged));
        }
    }
    for meter in firmware {
        of_firmware(&mut checked, meter, &mut rows);
    }
    for (meter, n) in rows.keys() {
        let what = format!("meter {meter}: reading {n} is stored, and was never sent");
        checked.wrong(|checked| &mut checked.altered, what);
    }
    commands(&mut checked, meters, given);
    Ok(checked)
}

/// Compares a meter's packets on the air with the acknowledgements that its firmware counts.
fn of_firmware(checked: &mut Checked, meter: &MeterLog, rows: &mut HashMap<(MeterId, u32), Vec<Row>>) {
    let (mut acknowledged, mut stored) = (0, 0);
    for (n, on_air) in &meter.on_air {
        let Some(expected) = Expected::on_air(*n, on_air, unix_s()) else { continue };
        let found = rows.remove(&(meter.id(), *n)).unwrap_or_default();
        acknowledged += u64::from(expected.is_acknowledged);
        stored += found.len() as u64;
        of_reading(checked, meter.id(), &found, &expected);
    }
    checked.acknowledged += acknowledged;
    checked.firmware_meters.push(FirmwareRow::new(meter, acknowledged, stored));
    checked.wrong.extend(meter.wrong.iter().take(TOLD).cloned());
}

fn of_reading(checked: &mut Checked, meter: MeterId, found: &[Row], expected: &Expected) {
    let Expected { n, is_acknowledged, at_s, power_w, energy_dwh } = expected;
    if found.is_empty() && *is_acknowledged {
        let what = format!("meter {meter}: reading {n} was acknowledged and is not stored");
        checked.wrong(|checked| &mut checked.lost, what);
    }
    if found.len() > 1 {
        let what = format!("meter {meter}: reading {n} is stored {} times", found.len());
        checked.wrong(|checked| &mut checked.double, what);
    }
    for row in found.iter().filter(|row| !expected.is(**row)) {
        let right = (at_s, power_w, energy_dwh);
        let what = format!("meter {meter}: reading {n} is stored as {row:?}, and was sent as {right:?}");
        checked.wrong(|checked| &mut checked.altered, what);
    }
}

/// Each command has an interval that no other one has.
fn commands(checked: &mut Checked, meters: &[Meter], given: &[Given]) {
    for order in given {
        let count = if order.taken { &mut checked.commands } else { &mut checked.commands_in_doubt };
        *count += 1;
        let is_it = |done: &&(u32, Command)| matches!(done.1, Command::Configure { interval_s, .. } if interval_s == order.interval_s);
        let times = meters.iter().map(|meter| meter.done.iter().filter(is_it).count()).sum::<usize>();
        checked.commands_done += u64::from(times > 0);
        if times > 1 {
            let what =
                format!("meter {} did the command with {} s {times} times", order.meter, order.interval_s);
            checked.wrong(|checked| &mut checked.commands_twice, what);
        }
    }
}

fn parse(line: &str) -> Option<((MeterId, u32), Row)> {
    let mut fields = line.split('|').map(|field| field.parse::<i64>().ok());
    let mut next = || fields.next().flatten();
    let name = (MeterId::try_from(next()?).ok()?, u32::try_from(next()?).ok()?);
    Some((name, (next()?, next()?, next()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_reports_lost_doubled_and_altered_readings() {
        let sent = Measurement { time_s: 100, energy_dwh: 3, power_w: 412 };
        let (_, right) = parse("1001|7|946684900|412|3").expect("a row");
        let other = (right.0, right.1, 4);
        for (found, is_acknowledged, expected) in [
            (vec![right], true, (0, 0, 0)),
            (vec![], false, (0, 0, 0)),
            (vec![right], false, (0, 0, 0)),
            (vec![], true, (1, 0, 0)),
            (vec![right, right], true, (0, 1, 0)),
            (vec![other], false, (0, 0, 1)),
            (vec![right, other], true, (0, 1, 1)),
        ] {
            let mut checked = Checked::default();
            of_reading(&mut checked, 1001, &found, &Expected::new(7, &sent, is_acknowledged));
            assert_eq!((checked.lost, checked.double, checked.altered), expected, "{found:?}");
            assert_eq!(checked.wrong.len() as u64, expected.0 + expected.1 + expected.2);
        }
        for line in ["", "1|2", "x|1|2|3|4", "99999|1|2|3|4"] {
            assert!(parse(line).is_none(), "{line}");
        }
    }
}
