//! A batch's reports, gathered: what they need to know is asked for all of them at once, and what
//! they write is written at once, so that a batch takes a handful of round trips to the server, and
//! not some for each report.

use super::record::Record;
use super::weeks::Weeks;
use crate::network::GlobalMeterId;
use crate::store::meaning::batch::{
    ACKNOWLEDGED_BY, ChangedMeter, Expected, InsertedReport, Neighbour, Number, Numbered, ReportAlert,
    Reports,
};
use crate::store::meaning::by_time::Changes;
use crate::store::meaning::latest::{COLUMNS, Rollup, row};
use crate::store::model::write::NewReport;
use crate::store::sql::postgres::Connection;
use crate::store::sql::{Row, SqlError, Value};
use std::collections::{BTreeMap, HashMap, VecDeque};
use tokio_postgres::types::ToSql;

/// "WSLT": with a network, the advisory lock of who changes its rows of `used_by_time`, where
/// several write.
const BY_TIME_LOCK: i32 = 0x5753_4c54;

/// Key of the meter, level, beginning.
type Interval = (i64, i64, i64);

/// The change of a row of `rollups`: first a deletion, then an addition.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    taken: bool,
    added: Option<Rollup>,
}

/// Alerts with their ids.
#[derive(Default)]
struct Alerts {
    ids: Vec<i64>,
    numbers: Vec<Number>,
    at_s: Vec<i64>,
    heard_ms: Vec<i64>,
    causes: Vec<String>,
    details: Vec<String>,
    reports: Vec<[u8; 16]>,
    acknowledged_ms: Vec<Option<i64>>,
    acknowledged_by: Vec<Option<&'static str>>,
}

pub(super) struct Pending<'a> {
    connection: &'a Connection,
    /// Others write, too.
    shared: bool,
    /// Ids that the server gave for alerts, and that none has yet.
    alert_ids: &'a mut VecDeque<i64>,
    /// The contents that are stored or given under the numbers of reports that may be known.
    known_alerts: HashMap<Number, [u8; 16]>,
    known_readings: HashMap<Number, Numbered>,
    stored_rollups: HashMap<Interval, Rollup>,
    rollups: BTreeMap<Interval, Change>,
    by_time: Changes,
    landed: Vec<InsertedReport>,
    signed: Vec<(Number, i64, i64, Vec<u8>)>,
    alerts: Alerts,
}

impl<'a> Pending<'a> {
    /// Asks for what a batch's reports may need to know. shared: others write, too.
    pub(super) fn new(
        connection: &'a Connection,
        alert_ids: &'a mut VecDeque<i64>,
        expected: &Expected,
        shared: bool,
    ) -> Result<Pending<'a>, SqlError> {
        let mut pending = Pending {
            shared,
            connection,
            alert_ids,
            known_alerts: HashMap::new(),
            known_readings: HashMap::new(),
            stored_rollups: HashMap::new(),
            rollups: BTreeMap::new(),
            by_time: Changes::default(),
            landed: Vec::new(),
            signed: Vec::new(),
            alerts: Alerts::default(),
        };
        if !expected.late.is_empty() {
            pending.find_numbers(&expected.late)?;
        }
        if !expected.begun.is_empty() {
            pending.find_rollups(&expected.begun)?;
        }
        if expected.alerts > pending.alert_ids.len() {
            let wanted = (expected.alerts - pending.alert_ids.len()) as i64;
            let ids =
                "SELECT nextval(pg_get_serial_sequence('alerts', 'id')) FROM generate_series(1, $1::bigint)";
            for row in connection.query(ids, &[Value::Int(wanted)])? {
                pending.alert_ids.push_back(Row::Postgres(&row).get(0)?);
            }
        }
        Ok(pending)
    }

    fn find_numbers(&mut self, late: &[(Number, Option<i64>)]) -> Result<(), SqlError> {
        let numbers: Vec<Number> = late.iter().map(|(number, _)| *number).collect();
        let wanted = Numbers::of(&numbers);
        let alerts = self.connection.query_with(
            "SELECT meter, epoch, n, report FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS wanted (meter, epoch, n) \
             JOIN alerts USING (meter, epoch, n)",
            &wanted.columns(),
        )?;
        for row in &alerts {
            let row = Row::Postgres(row);
            self.known_alerts.insert(number_of(row)?, row.get(3)?);
        }
        // Where they are to be first, which is quick; then those that are not there anywhere, which
        // takes its time, and is rare.
        let with_time: Vec<(Number, i64)> =
            late.iter().filter_map(|(number, at_s)| Some((*number, (*at_s)?))).collect();
        let numbers: Vec<Number> = with_time.iter().map(|(number, _)| *number).collect();
        let at_s: Vec<i64> = with_time.iter().map(|(_, at_s)| *at_s).collect();
        let wanted = Numbers::of(&numbers);
        let [meters, epochs, ns] = wanted.columns();
        let there = self.connection.query_with(
            "SELECT meter, epoch, n, at_s, power_w, energy_dwh, flags \
             FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS wanted (meter, epoch, n, at_s) \
             JOIN readings USING (meter, epoch, n, at_s)",
            &[meters, epochs, ns, &at_s],
        )?;
        self.know_readings(&there)?;
        let missing: Vec<Number> = late
            .iter()
            .map(|(number, _)| *number)
            .filter(|number| {
                !self.known_readings.contains_key(number) && !self.known_alerts.contains_key(number)
            })
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let anywhere = self.connection.query_with(
            "SELECT meter, epoch, n, at_s, power_w, energy_dwh, flags \
             FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS wanted (meter, epoch, n) JOIN readings USING (meter, epoch, n)",
            &Numbers::of(&missing).columns(),
        )?;
        self.know_readings(&anywhere)
    }

    fn know_readings(&mut self, rows: &[tokio_postgres::Row]) -> Result<(), SqlError> {
        for row in rows {
            let row = Row::Postgres(row);
            let (at_s, power_w) = (row.get(3)?, row.get(4)?);
            let reading = Numbered { at_s, power_w, energy_dwh: row.get(5)?, flags: row.get(6)? };
            self.known_readings.insert(number_of(row)?, reading);
        }
        Ok(())
    }

    fn find_rollups(&mut self, begun: &[(GlobalMeterId, i64, i64)]) -> Result<(), SqlError> {
        let meters: Vec<i64> = begun.iter().map(|(meter, _, _)| meter.key()).collect();
        let levels: Vec<i64> = begun.iter().map(|(_, level, _)| *level).collect();
        let starts: Vec<i64> = begun.iter().map(|(_, _, start_s)| *start_s).collect();
        let there = self.connection.query_with(
            "SELECT start_s, readings, used_dwh, power_min_w, power_max_w, power_sum_w, meter, level \
             FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS wanted (of_meter, of_level, begins_s) \
             JOIN rollups ON meter = of_meter AND level = of_level::integer AND start_s = begins_s",
            &[&meters, &levels, &starts],
        )?;
        for row in &there {
            let row = Row::Postgres(row);
            if let Some(rollup) = Rollup::read(row, 0)? {
                self.stored_rollups.insert((row.get(6)?, row.get(7)?, rollup.start_s), rollup);
            }
        }
        Ok(())
    }

    /// The end of a batch: all of it is written.
    pub(super) fn finish(mut self, weeks: &mut Weeks, changed: &[ChangedMeter<'_>]) -> Result<(), SqlError> {
        self.write_alerts()?;
        self.write_readings(weeks)?;
        self.write_signed()?;
        self.write_rollups()?;
        write_by_time(self.connection, self.by_time, self.shared)?;
        write_latest(self.connection, changed)
    }

    fn write_alerts(&mut self) -> Result<(), SqlError> {
        let alerts = std::mem::take(&mut self.alerts);
        if alerts.ids.is_empty() {
            return Ok(());
        }
        let numbers = Numbers::of(&alerts.numbers);
        let [meters, epochs, ns] = numbers.columns();
        let reports: Vec<&[u8]> = alerts.reports.iter().map(<[u8; 16]>::as_slice).collect();
        self.connection.execute_with(
            "INSERT INTO alerts (id, meter, epoch, n, at_s, heard_ms, cause, detail, report, acknowledged_ms, acknowledged_by) \
             SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[], \
             $8::text[], $9::bytea[], $10::bigint[], $11::text[])",
            &[
                &alerts.ids,
                meters,
                epochs,
                ns,
                &alerts.at_s,
                &alerts.heard_ms,
                &alerts.causes,
                &alerts.details,
                &reports,
                &alerts.acknowledged_ms,
                &alerts.acknowledged_by,
            ],
        )?;
        Ok(())
    }

    fn write_readings(&mut self, weeks: &mut Weeks) -> Result<(), SqlError> {
        if self.landed.is_empty() {
            return Ok(());
        }
        weeks.make_for(self.connection, &self.landed)?;
        // In the order of the primary key, whose pages each are changed once.
        self.landed.sort_unstable_by_key(|landed| {
            let Number { meter, epoch, n } = landed.number;
            (meter, landed.reading.at_s, epoch, n)
        });
        let numbers: Vec<Number> = self.landed.iter().map(|landed| landed.number).collect();
        let numbers = Numbers::of(&numbers);
        let [meters, epochs, ns] = numbers.columns();
        let column = |of: fn(&InsertedReport) -> i64| self.landed.iter().map(of).collect::<Vec<i64>>();
        let power_w: Vec<i16> = self.landed.iter().map(|landed| landed.reading.power_w).collect();
        let flags: Vec<i32> = self.landed.iter().map(|landed| landed.reading.flags as i32).collect();
        let rssi_dbm: Vec<Option<i16>> =
            self.landed.iter().map(|landed| landed.rssi_dbm.map(i16::from)).collect();
        self.connection.execute_with(
            "INSERT INTO readings (meter, epoch, n, at_s, energy_dwh, heard_ms, flags, power_w, rssi_dbm) \
             SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::integer[], \
             $8::smallint[], $9::smallint[])",
            &[
                meters,
                epochs,
                ns,
                &column(|landed| landed.reading.at_s),
                &column(|landed| landed.reading.energy_dwh.into()),
                &column(|landed| landed.heard_ms),
                &flags,
                &power_w,
                &rssi_dbm,
            ],
        )?;
        Ok(())
    }

    fn write_signed(&mut self) -> Result<(), SqlError> {
        if self.signed.is_empty() {
            return Ok(());
        }
        let numbers: Vec<Number> = self.signed.iter().map(|signed| signed.0).collect();
        let numbers = Numbers::of(&numbers);
        let [meters, epochs, ns] = numbers.columns();
        let at_s: Vec<i64> = self.signed.iter().map(|signed| signed.1).collect();
        let heard_ms: Vec<i64> = self.signed.iter().map(|signed| signed.2).collect();
        let messages: Vec<&[u8]> = self.signed.iter().map(|signed| signed.3.as_slice()).collect();
        // Their ids are in the order in which they came.
        self.connection.execute_with(
            "INSERT INTO signed (meter, epoch, n, at_s, heard_ms, message) \
             SELECT meter, epoch, n, at_s, heard_ms, message \
             FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bytea[]) \
             WITH ORDINALITY AS given (meter, epoch, n, at_s, heard_ms, message, place) ORDER BY place",
            &[meters, epochs, ns, &at_s, &heard_ms, &messages],
        )?;
        Ok(())
    }

    fn write_rollups(&mut self) -> Result<(), SqlError> {
        let taken: Vec<&Interval> =
            self.rollups.iter().filter(|(_, change)| change.taken).map(|(of, _)| of).collect();
        if !taken.is_empty() {
            let [meters, levels, starts] = intervals(taken.into_iter());
            self.connection.execute_with(
                "DELETE FROM rollups USING unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS taken (of_meter, of_level, begins_s) \
                 WHERE meter = of_meter AND level = of_level::integer AND start_s = begins_s",
                &[&meters, &levels, &starts],
            )?;
        }
        let added: Vec<(&Interval, Rollup)> =
            self.rollups.iter().filter_map(|(of, change)| Some((of, change.added?))).collect();
        if added.is_empty() {
            return Ok(());
        }
        let [meters, levels, starts] = intervals(added.iter().map(|(of, _)| *of));
        let column =
            |of: fn(&Rollup) -> i64| added.iter().map(|(_, rollup)| of(rollup)).collect::<Vec<i64>>();
        self.connection.execute_with(
            "INSERT INTO rollups AS stored (meter, level, start_s, readings, used_dwh, power_min_w, power_max_w, power_sum_w) \
             SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], \
             $8::bigint[]) ON CONFLICT (meter, level, start_s) DO UPDATE SET readings = stored.readings + excluded.readings, \
             used_dwh = stored.used_dwh + excluded.used_dwh, power_min_w = least(stored.power_min_w, excluded.power_min_w), \
             power_max_w = greatest(stored.power_max_w, excluded.power_max_w), \
             power_sum_w = stored.power_sum_w + excluded.power_sum_w",
            &[
                &meters,
                &levels,
                &starts,
                &column(|rollup| rollup.readings),
                &column(|rollup| rollup.used_dwh),
                &column(|rollup| rollup.min_w.into()),
                &column(|rollup| rollup.max_w.into()),
                &column(|rollup| rollup.sum_w),
            ],
        )?;
        Ok(())
    }
}

fn intervals<'i>(of: impl Iterator<Item = &'i Interval>) -> [Vec<i64>; 3] {
    let mut columns = [Vec::new(), Vec::new(), Vec::new()];
    for (meter, level, start_s) in of {
        columns[0].push(*meter);
        columns[1].push(*level);
        columns[2].push(*start_s);
    }
    columns
}

/// Rows that are of meters of several slices are read and written by one after the other of those
/// who write.
fn write_by_time(connection: &Connection, changes: Changes, shared: bool) -> Result<(), SqlError> {
    let rows = changes.rows();
    if rows.is_empty() {
        return Ok(());
    }
    if shared {
        // A row's `meters` is a key without its last 7 bits, and a network's keys have 16.
        let mut networks: Vec<i64> = rows.iter().map(|(key, _)| key.meters >> 9).collect();
        networks.sort_unstable();
        networks.dedup();
        let lock =
            |network: i64| format!("SELECT pg_advisory_xact_lock({BY_TIME_LOCK}, {});", network as i32);
        connection.simple(&networks.into_iter().map(lock).collect::<String>())?;
    }
    let column = |of: fn(&crate::store::meaning::by_time::Key) -> i64| {
        rows.iter().map(|(key, _)| of(key)).collect::<Vec<i64>>()
    };
    let (levels, starts, meters) =
        (column(|key| key.level), column(|key| key.start_s), column(|key| key.meters));
    let there = connection.query_with(
        "SELECT level, start_s, meters, used_dwh FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS wanted (of_level, begins_s, of_meters) \
         JOIN used_by_time ON level = of_level::integer AND start_s = begins_s AND meters = of_meters",
        &[&levels, &starts, &meters],
    )?;
    let mut before: HashMap<Interval, Vec<u8>> = HashMap::new();
    for row in &there {
        let row = Row::Postgres(row);
        before.insert((row.get(0)?, row.get(1)?, row.get(2)?), row.get(3)?);
    }
    let (mut kept, mut gone): (Vec<Interval>, Vec<Interval>) = (Vec::new(), Vec::new());
    let mut blobs = Vec::new();
    for (key, change) in rows {
        let key = (key.level, key.start_s, key.meters);
        let blob = change.apply(before.get(&key).map(Vec::as_slice))?;
        if blob.is_empty() {
            gone.push(key);
        } else {
            kept.push(key);
            blobs.push(blob);
        }
    }
    if !gone.is_empty() {
        let [levels, starts, meters] = intervals(gone.iter());
        connection.execute_with(
            "DELETE FROM used_by_time USING unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS gone (of_level, begins_s, of_meters) \
             WHERE level = of_level::integer AND start_s = begins_s AND meters = of_meters",
            &[&levels, &starts, &meters],
        )?;
    }
    if !kept.is_empty() {
        let [levels, starts, meters] = intervals(kept.iter());
        connection.execute_with(
            "INSERT INTO used_by_time (level, start_s, meters, used_dwh) \
             SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[]) \
             ON CONFLICT (level, start_s, meters) DO UPDATE SET used_dwh = excluded.used_dwh",
            &[&levels, &starts, &meters, &blobs],
        )?;
    }
    Ok(())
}

/// The meters' rows: those that are there are changed, which takes half of what an upsert does.
fn write_latest(connection: &Connection, changed: &[ChangedMeter<'_>]) -> Result<(), SqlError> {
    let rows = |is_new: bool| {
        let of = changed.iter().filter(|changed| changed.is_new == is_new);
        of.map(|changed| Record(row(changed.meter, changed.latest))).collect::<Vec<_>>()
    };
    let (new, old) = (rows(true), rows(false));
    if !new.is_empty() {
        connection.execute_with("INSERT INTO latest SELECT * FROM unnest($1::latest[])", &[&new])?;
    }
    if old.is_empty() {
        return Ok(());
    }
    let sets: Vec<String> = COLUMNS.split(", ").map(|column| format!("{column} = given.{column}")).collect();
    let update = format!(
        "UPDATE latest SET {} FROM unnest($1::latest[]) AS given WHERE latest.meter = given.meter",
        sets.join(", ")
    );
    let there = connection.execute_with(&update, &[&old])?;
    if there != old.len() as u64 {
        return Err(SqlError::Stored(format!(
            "{} of {} meters' rows are not there any more: somebody changed the database. Nothing is acknowledged; restore a copy",
            old.len() as u64 - there,
            old.len()
        )));
    }
    Ok(())
}

/// Numbers as columns.
struct Numbers {
    meters: Vec<i64>,
    epochs: Vec<i64>,
    ns: Vec<i64>,
}

impl Numbers {
    fn of(numbers: &[Number]) -> Numbers {
        Numbers {
            meters: numbers.iter().map(|number| number.meter.key()).collect(),
            epochs: numbers.iter().map(|number| number.epoch.into()).collect(),
            ns: numbers.iter().map(|number| number.n.into()).collect(),
        }
    }

    fn columns(&self) -> [&(dyn ToSql + Sync); 3] {
        [&self.meters, &self.epochs, &self.ns]
    }
}

/// Of the first three columns.
fn number_of(row: Row<'_>) -> Result<Number, SqlError> {
    Ok(Number { meter: row.get(0)?, epoch: row.get(1)?, n: row.get(2)? })
}

impl Reports for Pending<'_> {
    fn find_alert(&mut self, number: Number) -> Result<Option<[u8; 16]>, SqlError> {
        Ok(self.known_alerts.get(&number).copied())
    }

    fn find_reading(&mut self, number: Number, _: Option<i64>) -> Result<Option<Numbered>, SqlError> {
        Ok(self.known_readings.get(&number).copied())
    }

    fn unwritten(&self, number: Number) -> Vec<Neighbour> {
        let is_its = |landed: &&InsertedReport| {
            (landed.number.meter, landed.number.epoch) == (number.meter, number.epoch)
        };
        let neighbour = |landed: &InsertedReport| {
            let Numbered { at_s, energy_dwh, flags, .. } = landed.reading;
            Neighbour { n: landed.number.n, at_s, energy_dwh, flags }
        };
        self.landed.iter().filter(is_its).map(neighbour).collect()
    }

    fn land(&mut self, landed: &InsertedReport) -> Result<(), SqlError> {
        self.known_readings.insert(landed.number, landed.reading);
        self.landed.push(*landed);
        Ok(())
    }

    fn sign(&mut self, report: &NewReport, at_s: i64) -> Result<(), SqlError> {
        self.signed.push((report.number(), at_s, report.heard_ms, report.sealed.clone()));
        Ok(())
    }

    fn raise(&mut self, alert: &ReportAlert<'_>) -> Result<i64, SqlError> {
        let id = self.alert_ids.pop_front();
        let id = id.ok_or_else(|| SqlError::Stored("there is no id for an alert".to_owned()))?;
        self.known_alerts.insert(alert.number, alert.report);
        self.alerts.ids.push(id);
        self.alerts.numbers.push(alert.number);
        self.alerts.at_s.push(alert.at_s);
        self.alerts.heard_ms.push(alert.heard_ms);
        self.alerts.causes.push(alert.cause.to_owned());
        self.alerts.details.push(alert.detail.to_owned());
        self.alerts.reports.push(alert.report);
        self.alerts.acknowledged_ms.push(alert.is_information.then_some(alert.heard_ms));
        self.alerts.acknowledged_by.push(alert.is_information.then_some(ACKNOWLEDGED_BY));
        Ok(id)
    }

    fn add(&mut self, meter: GlobalMeterId, level: i64, rollup: &Rollup) -> Result<(), SqlError> {
        let change = self.rollups.entry((meter.key(), level, rollup.start_s)).or_default();
        match &mut change.added {
            Some(added) => added.add(rollup),
            None => change.added = Some(*rollup),
        }
        self.by_time.add(meter, level, rollup);
        Ok(())
    }

    fn take(&mut self, meter: GlobalMeterId, level: i64, start_s: i64) -> Result<Option<Rollup>, SqlError> {
        let interval = (meter.key(), level, start_s);
        let change = self.rollups.get(&interval).copied().unwrap_or_default();
        let stored = self.stored_rollups.get(&interval).filter(|_| !change.taken).copied();
        let taken = match (stored, change.added) {
            (Some(mut stored), Some(added)) => {
                stored.add(&added);
                Some(stored)
            }
            (stored, added) => stored.or(added),
        };
        if taken.is_some() {
            self.rollups.insert(interval, Change { taken: true, added: None });
            self.by_time.take(meter, level, start_s);
        }
        Ok(taken)
    }

    fn add_to_month(&mut self, meter: GlobalMeterId, start_s: i64, used_dwh: i64) {
        self.by_time.add_to_month(meter, start_s, used_dwh);
    }

    /// Alerts are what something else than a report may be about.
    fn settle(&mut self) -> Result<(), SqlError> {
        self.write_alerts()
    }
}
