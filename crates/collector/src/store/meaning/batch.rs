//! A batch of writes, in one transaction: all of it, or nothing.

mod admin;
mod commands;
mod firmware;
mod late;
mod report;

use crate::event;
use crate::network::GlobalMeterId;
use crate::store::meaning::interval::Intervals;
use crate::store::meaning::latest::{self, DAY, LEVELS, Latest, Rollup};
use crate::store::model::meter_range::MeterRange;
use crate::store::model::query::Interval;
use crate::store::model::write::{NewOutbox, NewReport, Provisioned, Write, Written};
use crate::store::sql::json;
use crate::store::sql::{Session, SqlError, Value, values};
use crate::store::{METER_OUTBOX_MAX, OUTBOX_MAX};
pub(in crate::store) use admin::write as write_admin;
pub(in crate::store) use late::Neighbour;
pub(crate) use report::flags_of;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use wire::meter::Content;

/// An engine's own way to store the reports of a batch: one after the other, or many at once.
pub(in crate::store) trait Reports {
    /// The alert that is stored under a number.
    fn find_alert(&mut self, number: Number) -> Result<Option<[u8; 16]>, SqlError>;
    /// The reading that is stored under a number. at_s: where it is looked for first.
    fn find_reading(&mut self, number: Number, at_s: Option<i64>) -> Result<Option<Numbered>, SqlError>;
    /// The readings of a number's meter and epoch that other statements do not find yet.
    fn unwritten(&self, number: Number) -> Vec<Neighbour>;
    fn land(&mut self, landed: &InsertedReport) -> Result<(), SqlError>;
    /// Keeps the message of a report that was signed.
    fn sign(&mut self, report: &NewReport, at_s: i64) -> Result<(), SqlError>;
    /// Keeps an alert of a meter's; returns its id.
    fn raise(&mut self, alert: &ReportAlert<'_>) -> Result<i64, SqlError>;
    /// Adds to what there is of an interval, or begins it.
    fn add(&mut self, meter: GlobalMeterId, level: i64, rollup: &Rollup) -> Result<(), SqlError>;
    /// Takes away what there is of an interval.
    fn take(&mut self, meter: GlobalMeterId, level: i64, start_s: i64) -> Result<Option<Rollup>, SqlError>;
    /// The same happened to days of a month. used_dwh: below 0 where they were taken away.
    fn add_to_month(&mut self, meter: GlobalMeterId, start_s: i64, used_dwh: i64);
    /// Alerts that were given until now are to be found by other statements.
    fn settle(&mut self) -> Result<(), SqlError>;
}

/// The key of a report among those of its meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::store) struct Number {
    pub(in crate::store) meter: GlobalMeterId,
    pub(in crate::store) epoch: u32,
    pub(in crate::store) n: u32,
}

/// The contents of a stored reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct Numbered {
    pub(in crate::store) at_s: i64,
    pub(in crate::store) power_w: i16,
    pub(in crate::store) energy_dwh: u32,
    pub(in crate::store) flags: i64,
}

/// A reading to be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct InsertedReport {
    pub(in crate::store) number: Number,
    pub(in crate::store) reading: Numbered,
    pub(in crate::store) rssi_dbm: Option<i8>,
    pub(in crate::store) heard_ms: i64,
}

/// An alert to be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct ReportAlert<'a> {
    pub(in crate::store) number: Number,
    pub(in crate::store) at_s: i64,
    pub(in crate::store) heard_ms: i64,
    pub(in crate::store) cause: &'a str,
    pub(in crate::store) detail: &'a str,
    pub(in crate::store) report: [u8; 16],
    /// It is for the record, and nobody has to look at it.
    pub(in crate::store) is_information: bool,
}

/// The name under which alerts for the record are acknowledged.
pub(in crate::store) const ACKNOWLEDGED_BY: &str = "collector";

/// A meter's row that a batch changed.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) struct ChangedMeter<'k> {
    pub(in crate::store) meter: GlobalMeterId,
    pub(in crate::store) latest: &'k Latest,
    /// It is not stored yet.
    pub(in crate::store) is_new: bool,
}

/// The stored rows that a batch may need.
#[derive(Debug, Default)]
pub(in crate::store) struct Expected {
    /// Numbers that may be known, and when their reports were made, where that is known.
    pub(in crate::store) late: Vec<(Number, Option<i64>)>,
    /// Intervals that may be begun: meter, level, beginning.
    pub(in crate::store) begun: Vec<(GlobalMeterId, i64, i64)>,
    /// Alerts of meters, at most.
    pub(in crate::store) alerts: usize,
}

/// The writer's own knowledge of its meters: nobody else writes them.
#[derive(Debug)]
pub(in crate::store) struct MeterCache {
    /// Each by itself in memory: the map is half empty when there are very many.
    latest: HashMap<GlobalMeterId, Box<Latest>>,
    /// The meters that this batch changed, as they were before; `None`: not there.
    before: HashMap<GlobalMeterId, Option<Latest>>,
    /// Messages that wait to be forwarded; now, and before this batch.
    outbox: (i64, i64),
    intervals: Intervals,
}

impl MeterCache {
    /// Without any meter yet.
    pub(in crate::store) fn new(session: Session<'_>, intervals: Intervals) -> Result<MeterCache, SqlError> {
        let outbox = session.value("SELECT count(*) FROM outbox", &[])?;
        Ok(MeterCache { latest: HashMap::new(), before: HashMap::new(), outbox: (outbox, outbox), intervals })
    }

    /// Knows these meters as they are stored, from now on.
    pub(in crate::store) fn load(&mut self, session: Session<'_>, keys: MeterRange) -> Result<(), SqlError> {
        latest::load(session, keys, |meter, of_meter| self.know(meter, of_meter))
    }

    /// The meters whose rows a batch may need, and that are not known.
    pub(in crate::store) fn missing(&self, batch: &[Write]) -> BTreeSet<GlobalMeterId> {
        let of = |write: &Write| match write {
            Write::Report(report) => Some(report.meter),
            Write::Counts(counts) => Some(counts.meter),
            Write::Provisioned(provisioned) => Some(provisioned.meter),
            Write::Revoked { meter, .. } => Some(*meter),
            _ => None,
        };
        batch.iter().filter_map(of).filter(|meter| !self.latest.contains_key(meter)).collect()
    }

    /// Knows a meter as it is stored, from now on.
    pub(in crate::store) fn know(&mut self, meter: GlobalMeterId, latest: Latest) {
        self.latest.insert(meter, Box::new(latest));
    }

    pub(in crate::store) fn len(&self) -> usize {
        self.latest.len()
    }

    /// Knows those meters alone from now on.
    pub(in crate::store) fn retain(&mut self, keep: impl Fn(GlobalMeterId) -> bool) {
        self.latest.retain(|meter, _| keep(*meter));
        self.latest.shrink_to_fit();
    }

    /// All meters, and when they were heard first, in ms.
    pub(in crate::store) fn meters(&self) -> impl Iterator<Item = (GlobalMeterId, Option<i64>)> + '_ {
        self.latest.iter().map(|(meter, latest)| (*meter, latest.first_heard_ms))
    }

    /// Returns when any meter was heard last, in ms.
    pub(in crate::store) fn heard_ms(&self) -> Option<i64> {
        self.latest.values().filter_map(|latest| latest.last_heard_ms).max()
    }

    /// Does all of a batch, but for the meters' rows: those that it changed are
    /// [`MeterCache::changes`]. Then it is to be kept, or undone.
    pub(in crate::store) fn write(
        &mut self,
        session: Session<'_>,
        reports: &mut impl Reports,
        batch: &[Write],
    ) -> Result<Vec<Written>, SqlError> {
        let mut written = Vec::with_capacity(batch.len());
        for write in batch {
            written.push(match write {
                Write::Report(report) => self.report(session, reports, report)?,
                Write::Counts(counts) => match self.changed(counts.meter) {
                    None => Written::Unknown,
                    Some(latest) => {
                        latest.repeats += i64::from(counts.repeats);
                        latest.refused += i64::from(counts.refused);
                        Written::Done
                    }
                },
                other => {
                    reports.settle()?;
                    self.other(session, other)?
                }
            });
        }
        Ok(written)
    }

    /// The meters' rows that a batch changed, by meter.
    pub(in crate::store) fn changes(&self) -> Vec<ChangedMeter<'_>> {
        let changed = |(meter, before): (&GlobalMeterId, &Option<Latest>)| {
            Some(ChangedMeter { meter: *meter, latest: self.latest.get(meter)?, is_new: before.is_none() })
        };
        let mut changes: Vec<ChangedMeter<'_>> = self.before.iter().filter_map(changed).collect();
        changes.sort_unstable_by_key(|changed| changed.meter);
        changes
    }

    /// Returns all that a batch's reports may have to be compared with, for an engine that asks for
    /// it at once.
    pub(in crate::store) fn expect(&mut self, batch: &[Write]) -> Expected {
        let mut expected = Expected::default();
        let mut highest: HashMap<GlobalMeterId, u32> = HashMap::new();
        for write in batch {
            let Write::Report(new) = write else { continue };
            let latest = self.latest.get(&new.meter);
            let highest = highest.entry(new.meter).or_insert(latest.map_or(0, |latest| latest.last_n));
            if new.report.n <= *highest {
                expected.late.push((new.number(), report::time_of(&new.report)));
            }
            *highest = (*highest).max(new.report.n);
            if !matches!(new.report.content, Content::Measurement(_)) {
                expected.alerts += 1;
                continue;
            }
            let at_s = report::at_s(new);
            for (place, start_s) in self.intervals.starts(at_s).into_iter().enumerate() {
                let open = latest.and_then(|latest| latest.open[place]);
                if open.is_none_or(|open| open.start_s < start_s) {
                    expected.begun.push((new.meter, LEVELS[place], start_s));
                }
            }
        }
        expected.begun.sort_unstable();
        expected.begun.dedup();
        expected
    }

    /// The batch is stored.
    pub(in crate::store) fn keep(&mut self) {
        self.before.clear();
        self.outbox.1 = self.outbox.0;
    }

    /// The batch is not stored.
    pub(in crate::store) fn undo(&mut self) {
        self.outbox.0 = self.outbox.1;
        for (meter, before) in self.before.drain() {
            match before {
                Some(before) => self.latest.insert(meter, Box::new(before)),
                None => self.latest.remove(&meter),
            };
        }
    }

    /// A meter's row, to be changed.
    fn changed(&mut self, meter: GlobalMeterId) -> Option<&mut Latest> {
        let latest = self.latest.get_mut(&meter)?;
        self.before.entry(meter).or_insert(Some(**latest));
        Some(latest)
    }

    fn other(&mut self, session: Session<'_>, write: &Write) -> Result<Written, SqlError> {
        let execute = |sql: &str, values: &[Value<'_>]| executed(session, sql, values);
        match write {
            // Told apart before.
            Write::Report(_) | Write::Counts(_) => Ok(Written::Unknown),
            Write::Label { .. }
            | Write::Acknowledge { .. }
            | Write::Token(_)
            | Write::Telegram(_)
            | Write::TelegramsRefused { .. }
            | Write::TokenRevoked { .. }
            | Write::TokenUsed { .. }
            | Write::Action(_)
            | Write::Image(_)
            | Write::ImageRemoved { .. } => admin::write(session, write),
            Write::State { network, epoch, state } => execute(
                "UPDATE meters SET state = $3 WHERE meter = $1 AND epoch = $2",
                values![network.meter(state.meter), *epoch, &json(&**state)?],
            ),
            Write::Provisioned(provisioned) => self.provision(session, provisioned),
            Write::IntervalOf { meter, interval_s } => {
                execute("UPDATE meters SET interval_s = $2 WHERE meter = $1", values![*meter, *interval_s])
            }
            Write::Revoked { meter, at_ms } => {
                let Some(latest) = self.changed(*meter) else { return Ok(Written::Unknown) };
                latest.revoked = true;
                execute(
                    "UPDATE meter_keys SET until_ms = $2 WHERE meter = $1 AND until_ms IS NULL",
                    values![*meter, *at_ms],
                )?;
                execute(
                    "UPDATE meters SET revoked_ms = coalesce(revoked_ms, $2) WHERE meter = $1",
                    values![*meter, *at_ms],
                )
            }
            Write::Alert(alert) => {
                let at_s = alert.at_ms.div_euclid(1000);
                let id = session.value(
                    "INSERT INTO alerts (meter, at_s, heard_ms, cause, detail) VALUES ($1, $2, $3, $4, $5) RETURNING id",
                    values![alert.meter, at_s, alert.at_ms, &alert.cause, &alert.detail],
                )?;
                let (cause, detail) = (alert.cause.clone(), alert.detail.clone());
                Ok(Written::Alert {
                    alert: event::Alert { id, meter: alert.meter, at_s, cause, detail },
                    lost: 0,
                })
            }
            Write::Command(_) | Write::CommandProgress(_) | Write::CommandNotGiven { .. } => {
                commands::write(session, write)
            }
            Write::Update(update) => firmware::begin_update(session, update),
            Write::UpdateProgress(progress) => firmware::update_went_on(session, progress),
            Write::UpdateNotBegun { meter, created_ms, at_ms } => {
                firmware::update_not_begun(session, *meter, *created_ms, *at_ms)
            }
            Write::OutboxPut(message) => self.put(session, message),
            Write::OutboxRemove { id } => {
                let done = execute("DELETE FROM outbox WHERE id = $1", values![*id])?;
                self.outbox.0 -= i64::from(done == Written::Done);
                Ok(done)
            }
        }
    }

    fn provision(&mut self, session: Session<'_>, new: &Provisioned) -> Result<Written, SqlError> {
        let Provisioned { meter, epoch, suite, interval_s, at_ms, .. } = *new;
        let (public, collector) = (new.public.to_bytes(), new.collector_public.to_bytes());
        let label = new.label.as_deref();
        match self.latest.entry(meter) {
            Entry::Vacant(vacant) => {
                vacant.insert(Box::new(Latest::new(epoch, suite)));
                self.before.insert(meter, None);
                let state = json(&new.state)?;
                session.execute(
                    "INSERT INTO meters (meter, epoch, label, state, interval_s, added_ms) VALUES ($1, $2, $3, $4, $5, $6)",
                    values![meter, epoch, label.unwrap_or_default(), &state, interval_s, at_ms],
                )?;
            }
            Entry::Occupied(mut occupied) => {
                let latest = occupied.get_mut();
                let known = "SELECT public_key FROM meter_keys WHERE meter = $1 AND epoch = $2";
                let known: Option<[u8; 64]> =
                    session.first(known, values![meter, epoch], |row| row.get(0))?;
                let over = epoch < latest.epoch || epoch == latest.epoch && latest.revoked;
                if over || known.is_some_and(|known| known != public) {
                    return Ok(Written::Unknown);
                }
                if epoch == latest.epoch {
                    let update = "UPDATE meters SET label = coalesce($2, label) WHERE meter = $1";
                    session.execute(update, values![meter, label])?;
                    return Ok(Written::Done);
                }
                self.before.entry(meter).or_insert(Some(**latest));
                latest.rotate(epoch, suite);
                session.execute(
                    "UPDATE meters SET epoch = $2, label = coalesce($3, label), state = $4, interval_s = $5, revoked_ms = NULL \
                     WHERE meter = $1",
                    values![meter, epoch, label, &json(&new.state)?, interval_s],
                )?;
                let over = "UPDATE meter_keys SET until_ms = $2 WHERE meter = $1 AND until_ms IS NULL";
                session.execute(over, values![meter, at_ms])?;
            }
        }
        session.execute(
            "INSERT INTO meter_keys (meter, epoch, public_key, collector_public_key, from_ms) VALUES ($1, $2, $3, $4, $5)",
            values![meter, epoch, &public, &collector, at_ms],
        )?;
        Ok(Written::Done)
    }

    fn put(&mut self, session: Session<'_>, message: &NewOutbox) -> Result<Written, SqlError> {
        let NewOutbox { address, name, kind, suite, number_lsb, message, heard_ms } = message;
        let (kind, suite) = (kind.code(), suite.code());
        let same = session.first(
            "SELECT id FROM outbox WHERE name = $1 AND kind = $2 AND suite = $3 AND low = $4 AND message = $5",
            values![*name, kind, suite, *number_lsb, message],
            |row| row.get::<i64>(0),
        )?;
        if same.is_some() {
            return Ok(Written::Outbox(same));
        }
        let of_a_meter: i64 = session.value("SELECT count(*) FROM outbox WHERE name = $1", values![*name])?;
        if of_a_meter >= METER_OUTBOX_MAX as i64 || self.outbox.0 >= OUTBOX_MAX as i64 {
            return Ok(Written::Outbox(None));
        }
        let id = session.value(
            "INSERT INTO outbox (address, name, kind, suite, low, message, heard_ms) VALUES ($1, $2, $3, $4, $5, $6, $7) \
             RETURNING id",
            values![*address, *name, kind, suite, *number_lsb, message, *heard_ms],
        )?;
        self.outbox.0 += 1;
        Ok(Written::Outbox(Some(id)))
    }
}

/// Adds the rest of an interval that is over to its stored row.
fn finish_interval(
    reports: &mut impl Reports,
    intervals: &mut Intervals,
    (meter, level): (GlobalMeterId, i64),
    over: &Rollup,
) -> Result<(), SqlError> {
    reports.add(meter, level, over)?;
    if level == DAY {
        reports.add_to_month(meter, intervals.start(over.start_s, Interval::Month), over.used_dwh);
    }
    Ok(())
}

fn executed(session: Session<'_>, sql: &str, values: &[Value<'_>]) -> Result<Written, SqlError> {
    Ok(if session.execute(sql, values)? == 0 { Written::Unknown } else { Written::Done })
}
