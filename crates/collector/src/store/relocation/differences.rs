//! The differences between two databases, found without any knowledge of the writers: a later
//! change is found the next time.
//!
//! Readings are compared by count and sum of a meter's weeks; of a week that differs its days, of a
//! day its hours; of an hour the rows. Other tables are compared a page of their keys after the
//! other: those of integers alone by count and sum first, others row by row.

use super::endpoint::MigrationEndpoint;
use crate::store::meaning::tables::{Columns, Owned, READINGS, TABLES, Table, key_of, list};
use crate::store::sql::{SqlError, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};

const WEEK_S: i64 = 7 * 86_400;
/// 1970-01-05, a Monday, as PostgreSQL's weeks of readings begin.
const MONDAY_S: i64 = 4 * 86_400;
/// From long to short.
const SPANS: [i64; 3] = [WEEK_S, 86_400, 3600];
/// The size of a range whose rows are compared one by one, and of a read of rows that the other
/// side lacks.
const FEW_ROWS: i64 = 300;
const ROWS_MAX: i64 = 100_000;
/// Reports of the meters whose weeks are asked for at once.
const REPORTS_MAX: i64 = 200_000;
/// Keys of a page.
const PAGE: i64 = 4000;
/// Rows that one transaction changes, about.
const TRANSACTION: usize = 20_000;

/// Rows of a table.
#[derive(Clone, Debug)]
struct Range {
    table: &'static Table,
    filter: String,
    values: Vec<Owned>,
}

/// Count and sum of rows.
type Sum = (i64, i64);

/// The progress of a migration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Meters whose readings are the same.
    pub meters: u64,
    /// Of how many.
    pub of: u64,
    /// Rows that were copied, and taken away.
    pub rows: u64,
}

/// Makes one side like the other.
pub(super) struct Pass<'p> {
    from: &'p MigrationEndpoint,
    to: &'p mut MigrationEndpoint,
    report: &'p mut dyn FnMut(Progress),
    progress: Progress,
    /// Of one table, to be changed.
    gone: Vec<Columns>,
    new: Vec<Columns>,
    changed: Vec<Range>,
    /// The number of readings to migrate.
    readings: u64,
}

/// The cause of a failure.
#[derive(Debug)]
pub(super) enum Wrong {
    From(SqlError),
    To(SqlError),
    /// They are not the same after all.
    Different(String),
}

impl<'p> Pass<'p> {
    pub(super) fn new(
        from: &'p MigrationEndpoint,
        to: &'p mut MigrationEndpoint,
        report: &'p mut dyn FnMut(Progress),
    ) -> Pass<'p> {
        let (gone, new, changed) = (Vec::new(), Vec::new(), Vec::new());
        Pass { from, to, report, progress: Progress::default(), gone, new, changed, readings: 0 }
    }

    /// Goes through all tables. Returns how many rows were changed.
    pub(super) fn run(&mut self) -> Result<u64, Wrong> {
        self.readings()?;
        for table in TABLES {
            self.pages(table)?;
        }
        Ok(self.progress.rows)
    }

    /// Looks once more at all that was changed, and at how many rows there are, while nobody
    /// writes. Returns these.
    pub(super) fn verify(&mut self) -> Result<Vec<(&'static str, u64)>, Wrong> {
        for range in std::mem::take(&mut self.changed) {
            self.inspect(&range, false)?;
            if let Some(row) = self.gone.first().or(self.new.first()) {
                let key = key_of(range.table, row);
                return Err(Wrong::Different(format!(
                    "{}: the row of {key:?} is not the same on both sides",
                    range.table.name
                )));
            }
        }
        // All of them were counted on both sides, part by part.
        let mut counts = vec![(READINGS.name, self.readings)];
        for table in TABLES {
            let all = Range { table, filter: table.rows(), values: Vec::new() };
            let [here, there] =
                [count(self.from, &all).map_err(Wrong::From)?, count(self.to, &all).map_err(Wrong::To)?];
            if here != there {
                return Err(Wrong::Different(format!("{}: {here} rows became {there}", table.name)));
            }
            counts.push((table.name, here.unsigned_abs()));
        }
        Ok(counts)
    }

    fn readings(&mut self) -> Result<(), Wrong> {
        let sql = "SELECT meter, reports FROM latest ORDER BY meter";
        let meters: Vec<(i64, i64)> =
            self.from.session().query(sql, &[], |row| Ok((row.get(0)?, row.get(1)?))).map_err(Wrong::From)?;
        self.progress.of = meters.len() as u64;
        // All keys there may be are in one of the parts, whether `latest` has them or not.
        let (mut first, mut reports, mut done) = (i64::MIN, 0, 0);
        for (place, (meter, of_meter)) in meters.iter().enumerate() {
            (reports, done) = (reports + of_meter, done + 1);
            let next = meters.get(place + 1).map(|(_, of_next)| reports + of_next);
            if next.is_some_and(|next| next > REPORTS_MAX) {
                self.parts((first, *meter), (i64::MIN, i64::MAX), 0)?;
                (first, reports) = (*meter, 0);
                self.progress.meters = done;
                (self.report)(self.progress);
            }
        }
        self.parts((first, i64::MAX), (i64::MIN, i64::MAX), 0)?;
        self.flush(&READINGS)?;
        self.progress.meters = self.progress.of;
        (self.report)(self.progress);
        Ok(())
    }

    /// Compares the readings of some meters, first (exclusive) and last, in a time, part by part.
    fn parts(&mut self, meters: (i64, i64), time: (i64, i64), level: usize) -> Result<(), Wrong> {
        let here = parts(self.from, meters, time, SPANS[level]).map_err(Wrong::From)?;
        let there = parts(self.to, meters, time, SPANS[level]).map_err(Wrong::To)?;
        if level == 0 {
            self.readings += here.values().map(|(count, _)| count.unsigned_abs()).sum::<u64>();
        }
        let all: BTreeSet<(i64, i64)> = here.keys().chain(there.keys()).copied().collect();
        for (meter, from_s) in all {
            let of =
                |parts: &BTreeMap<(i64, i64), Sum>| parts.get(&(meter, from_s)).copied().unwrap_or_default();
            let (here, there) = (of(&here), of(&there));
            if here == there {
                continue;
            }
            let (most, least) = (here.0.max(there.0), here.0.min(there.0));
            let to_s = from_s.saturating_add(SPANS[level]);
            if level + 1 == SPANS.len() || most <= FEW_ROWS || least == 0 && most <= ROWS_MAX {
                let filter = "meter = $1 AND at_s >= $2 AND at_s < $3".to_owned();
                let values = [meter, from_s, to_s].map(Owned::Int).to_vec();
                self.make_same(Range { table: &READINGS, filter, values }, true)?;
            } else {
                self.parts((meter.saturating_sub(1), meter), (from_s, to_s), level + 1)?;
            }
        }
        Ok(())
    }

    fn pages(&mut self, table: &'static Table) -> Result<(), Wrong> {
        let mut after: Option<Vec<Owned>> = None;
        loop {
            // Texts are not ordered the same in both; and this table is short.
            let last = match table.name {
                "meta" => None,
                _ => last_of_page(self.from, table, after.as_deref()).map_err(Wrong::From)?,
            };
            self.make_same(between(table, after.as_deref(), last.as_deref()), false)?;
            (self.report)(self.progress);
            if last.is_none() {
                return self.flush(table);
            }
            after = last;
        }
    }

    /// differs: that is known already.
    fn make_same(&mut self, range: Range, differs: bool) -> Result<(), Wrong> {
        let before = self.gone.len() + self.new.len();
        self.inspect(&range, differs)?;
        let changes = self.gone.len() + self.new.len();
        let table = range.table;
        if changes > before {
            self.changed.push(range);
        }
        if changes >= TRANSACTION { self.flush(table) } else { Ok(()) }
    }

    /// Finds what is to be taken away and put in.
    fn inspect(&mut self, range: &Range, differs: bool) -> Result<(), Wrong> {
        if range.table.integers && !differs {
            let (here, there) =
                (sum(self.from, range).map_err(Wrong::From)?, sum(self.to, range).map_err(Wrong::To)?);
            if here == there {
                return Ok(());
            }
        }
        let here = rows(self.from, range).map_err(Wrong::From)?;
        let there = rows(self.to, range).map_err(Wrong::To)?;
        let mut by_key: HashMap<&[Owned], &Columns> =
            there.iter().map(|row| (key_of(range.table, row), row)).collect();
        for row in here {
            match by_key.remove(key_of(range.table, &row)) {
                Some(same) if *same == row => continue,
                Some(other) => self.gone.push(other.clone()),
                None => {}
            }
            self.new.push(row);
        }
        self.gone.extend(by_key.into_values().cloned());
        Ok(())
    }

    fn flush(&mut self, table: &Table) -> Result<(), Wrong> {
        if self.gone.is_empty() && self.new.is_empty() {
            return Ok(());
        }
        self.to.change(table, &self.gone, &self.new).map_err(Wrong::To)?;
        self.progress.rows += (self.gone.len() + self.new.len()) as u64;
        self.gone.clear();
        self.new.clear();
        (self.report)(self.progress);
        Ok(())
    }
}

/// A question about some rows, wherever they are.
fn question(side: &MigrationEndpoint, table: &Table, what: &str, filter: &str) -> String {
    let of = |source: &str| format!("SELECT {what} FROM {source} WHERE {filter}");
    table.sources(side.session()).into_iter().map(of).collect::<Vec<_>>().join(" UNION ALL ")
}

fn bound(values: &[Owned]) -> Vec<Value<'_>> {
    values.iter().map(Value::from).collect()
}

fn rows(side: &MigrationEndpoint, range: &Range) -> Result<Vec<Columns>, SqlError> {
    let Range { table, filter, values } = range;
    let width = table.columns().count();
    let sql = question(side, table, &table.list(), filter);
    side.session().query(&sql, &bound(values), |row| (0..width).map(|column| row.get(column)).collect())
}

fn count(side: &MigrationEndpoint, range: &Range) -> Result<i64, SqlError> {
    let Range { table, filter, values } = range;
    let counts = question(side, table, "count(*)", filter);
    Ok(side.session().query(&counts, &bound(values), |row| row.get::<i64>(0))?.into_iter().sum())
}

fn sum(side: &MigrationEndpoint, range: &Range) -> Result<Sum, SqlError> {
    let Range { table, filter, values } = range;
    let what = format!("count(*), CAST(coalesce(sum({}), 0) AS BIGINT)", digest(table));
    let parts = side.session().query(&question(side, table, &what, filter), &bound(values), |row| {
        Ok((row.get::<i64>(0)?, row.get::<i64>(1)?))
    })?;
    Ok(parts.into_iter().fold((0, 0), |all, part| (all.0 + part.0, all.1 + part.1)))
}

/// Count and sum of some meters' readings in a time, by meter and beginning of a span.
fn parts(
    side: &MigrationEndpoint,
    (first, last): (i64, i64),
    (from_s, to_s): (i64, i64),
    span: i64,
) -> Result<BTreeMap<(i64, i64), Sum>, SqlError> {
    let start = format!("at_s - ((at_s - {MONDAY_S}) % {span} + {span}) % {span}");
    let what = format!("meter, {start} AS from_s, {} AS digest", digest(&READINGS));
    let filter = "meter > $1 AND meter <= $2 AND at_s >= $3 AND at_s < $4";
    let rows = question(side, &READINGS, &what, filter);
    let sql = format!(
        "SELECT meter, from_s, count(*), CAST(sum(digest) AS BIGINT) FROM ({rows}) AS rows GROUP BY meter, from_s"
    );
    let values = [first, last, from_s, to_s].map(Value::Int);
    let read = side
        .session()
        .query(&sql, &values, |row| Ok(((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?))))?;
    Ok(read.into_iter().collect())
}

/// A row of integers as one below 2^31, which its engine reckons: a polynomial of its columns
/// modulo 2^31 - 1, whose parts stay below 2^62.
fn digest(table: &Table) -> String {
    const MODULUS: i64 = 2_147_483_647;
    const FACTOR: i64 = 1_103_515_245;
    const NULL: i64 = -987_654_321;
    table.columns().fold("0".to_owned(), |sum, column| {
        format!("(({sum}) * CAST({FACTOR} AS BIGINT) + coalesce(CAST(\"{column}\" AS BIGINT), {NULL}) % {MODULUS}) % {MODULUS}")
    })
}

/// The last key of the next page; `None`: it is the last page.
fn last_of_page(
    side: &MigrationEndpoint,
    table: &Table,
    after: Option<&[Owned]>,
) -> Result<Option<Vec<Owned>>, SqlError> {
    let keys = list(table.key.iter().copied());
    let (filter, values) = filter(table, after, None);
    let sql = format!(
        "SELECT {keys} FROM {} WHERE {filter} ORDER BY {keys} LIMIT 1 OFFSET {}",
        table.name,
        PAGE - 1
    );
    side.session()
        .first(&sql, &bound(&values), |row| (0..table.key.len()).map(|column| row.get(column)).collect())
}

fn between(table: &'static Table, after: Option<&[Owned]>, last: Option<&[Owned]>) -> Range {
    let (filter, values) = filter(table, after, last);
    Range { table, filter, values }
}

/// Keys after the one, up to the other.
fn filter(table: &Table, after: Option<&[Owned]>, last: Option<&[Owned]>) -> (String, Vec<Owned>) {
    let mut filter = table.rows();
    let mut values = Vec::new();
    for (compared, key) in [(">", after), ("<=", last)] {
        let Some(key) = key else { continue };
        let places: Vec<String> = (1..=key.len()).map(|place| format!("${}", values.len() + place)).collect();
        let keys = list(table.key.iter().copied());
        filter = format!("{filter} AND ({keys}) {compared} ({})", places.join(", "));
        values.extend_from_slice(key);
    }
    (filter, values)
}
