//! The tables that are migrated, and those that are an engine's own. An unknown table or column
//! stops the migration.

use crate::store::meaning::marker;
use crate::store::sql::{Cell, Column, DatabaseUrl, Session, SqlError, StoreError, Value};
use std::collections::BTreeMap;

/// The value of a column.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::store) enum Owned {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

/// A row's columns, in [`Table::columns`]'s order.
pub(in crate::store) type Columns = Box<[Owned]>;

impl Owned {
    /// The value of a column of integers; 0 where there is none.
    pub(in crate::store) fn int(&self) -> i64 {
        if let Owned::Int(value) = self { *value } else { 0 }
    }
}

impl Column for Owned {
    fn of(cell: Cell<'_>) -> Option<Owned> {
        Some(match cell {
            Cell::Null => Owned::Null,
            Cell::Int(value) => Owned::Int(value),
            Cell::Text(text) => Owned::Text(text.to_owned()),
            Cell::Bytes(bytes) => Owned::Bytes(bytes.to_vec()),
        })
    }
}

impl<'a> From<&'a Owned> for Value<'a> {
    fn from(value: &'a Owned) -> Value<'a> {
        match value {
            Owned::Null => Value::Null,
            Owned::Int(value) => Value::Int(*value),
            Owned::Text(text) => Value::Text(text),
            Owned::Bytes(bytes) => Value::Bytes(bytes),
        }
    }
}

/// A table of both engines.
#[derive(Debug)]
pub(in crate::store) struct Table {
    pub(in crate::store) name: &'static str,
    /// Its primary key.
    pub(in crate::store) key: &'static [&'static str],
    others: &'static [&'static str],
    /// Its columns have integers alone: the engine itself says whether rows are the same.
    pub(in crate::store) integers: bool,
    /// Its key is an id that is drawn, and that nothing else ever has.
    pub(in crate::store) has_ids: bool,
}

const fn table(name: &'static str, key: &'static [&'static str], others: &'static [&'static str]) -> Table {
    Table { name, key, others, integers: false, has_ids: false }
}

const fn of_integers(table: Table) -> Table {
    Table { integers: true, ..table }
}

const fn with_ids(name: &'static str, others: &'static [&'static str]) -> Table {
    Table { name, key: &["id"], others, integers: false, has_ids: true }
}

pub(in crate::store) const READINGS: Table = of_integers(table(
    "readings",
    &["meter", "at_s", "epoch", "n"],
    &["power_w", "energy_dwh", "flags", "rssi_dbm", "heard_ms"],
));

/// All but [`READINGS`].
pub(in crate::store) const TABLES: &[Table] = &[
    table("meta", &["key"], &["value"]),
    table("meters", &["meter"], &["epoch", "label", "state", "interval_s", "added_ms", "revoked_ms"]),
    table("meter_keys", &["meter", "epoch"], &["public_key", "collector_public_key", "from_ms", "until_ms"]),
    of_integers(table(
        "latest",
        &["meter"],
        &[
            "last_n",
            "suite",
            "first_heard_ms",
            "last_heard_ms",
            "rssi_dbm",
            "reports",
            "repeats",
            "refused",
            "lost",
            "lost_since_start",
            "register_dwh",
            "at_s",
            "power_w",
            "last_energy_dwh",
            "quarter_s",
            "quarter_readings",
            "quarter_used_dwh",
            "quarter_min_w",
            "quarter_max_w",
            "quarter_sum_w",
            "hour_s",
            "hour_readings",
            "hour_used_dwh",
            "hour_min_w",
            "hour_max_w",
            "hour_sum_w",
            "day_s",
            "day_readings",
            "day_used_dwh",
            "day_min_w",
            "day_max_w",
            "day_sum_w",
            "total_dwh",
        ],
    )),
    of_integers(table(
        "rollups",
        &["meter", "level", "start_s"],
        &["readings", "used_dwh", "power_min_w", "power_max_w", "power_sum_w"],
    )),
    table("used_by_time", &["level", "start_s", "meters"], &["used_dwh"]),
    with_ids("signed", &["meter", "epoch", "n", "at_s", "heard_ms", "message"]),
    with_ids(
        "alerts",
        &[
            "meter",
            "at_s",
            "heard_ms",
            "cause",
            "detail",
            "epoch",
            "n",
            "report",
            "acknowledged_ms",
            "acknowledged_by",
        ],
    ),
    with_ids(
        "commands",
        &[
            "meter",
            "ticket",
            "order",
            "by",
            "created_ms",
            "state",
            "attempts",
            "sent_ms",
            "ended_ms",
            "answer",
        ],
    ),
    table(
        "images",
        &["digest"],
        &["target", "version", "address", "bytes", "pieces", "by", "added_ms", "content"],
    ),
    table(
        "updates",
        &["meter"],
        &[
            "digest",
            "asked",
            "version",
            "state",
            "refusal",
            "pieces",
            "of_pieces",
            "by",
            "created_ms",
            "changed_ms",
        ],
    ),
    with_ids("tokens", &["name", "role", "hash", "created_ms", "last_used_ms", "revoked_ms"]),
    with_ids("actions", &["at_ms", "who", "what"]),
    table(
        "mbus_meters",
        &["meter"],
        &[
            "first_heard_ms",
            "last_heard_ms",
            "telegrams",
            "unauthenticated",
            "refused",
            "refused_ms",
            "refusal",
        ],
    ),
    table("mbus_counters", &["meter", "key_id"], &["counter"]),
    with_ids(
        "mbus_telegrams",
        &[
            "meter",
            "heard_ms",
            "address",
            "mode",
            "authenticated",
            "counter",
            "access_number",
            "status",
            "clock_off_s",
            "contents",
        ],
    ),
    with_ids("outbox", &["address", "name", "kind", "suite", "low", "message", "heard_ms"]),
];

/// SQLite's alone: readings that have landed are moved as readings.
const OF_SQLITE: &[&str] = &["landing", "landing_too", "sorted_in"];
/// PostgreSQL's alone: who writes, and which weeks there are; and keys, with which nothing is
/// moved.
const OF_POSTGRES: &[&str] = &[
    "wattseal_schema",
    "writer",
    "partitions",
    "reading_weeks",
    "key_networks",
    "sealed_keys",
    "revoked_keys",
    "told",
    "sealed_mbus_keys",
];
/// Those of them that keys are in, or belong to.
pub(in crate::store) const OF_KEYS: &[&str] =
    &["key_networks", "sealed_keys", "revoked_keys", "told", "sealed_mbus_keys"];

impl Table {
    pub(in crate::store) fn columns(&self) -> impl Iterator<Item = &'static str> {
        self.key.iter().chain(self.others).copied()
    }

    /// The columns, as SQL lists them.
    pub(in crate::store) fn list(&self) -> String {
        list(self.columns())
    }

    pub(in crate::store) fn place_of(&self, column: &str) -> usize {
        self.columns().position(|of| of == column).unwrap_or(usize::MAX)
    }

    /// Returns the condition of the rows that are migrated.
    pub(in crate::store) fn rows(&self) -> String {
        if self.name == "meta" { format!("key <> '{}'", marker::KEY) } else { "true".to_owned() }
    }

    /// Returns the tables that hold its rows.
    pub(in crate::store) fn sources(&self, session: Session<'_>) -> Vec<&'static str> {
        if self.name == READINGS.name { session.reading_tables().to_vec() } else { vec![self.name] }
    }
}

pub(in crate::store) fn list(columns: impl Iterator<Item = &'static str>) -> String {
    columns.map(|column| format!("\"{column}\"")).collect::<Vec<_>>().join(", ")
}

/// Looks that a database has these tables, with these columns, and no others.
///
/// # Errors
/// [`StoreError::Unsuited`]
pub(in crate::store) fn check(session: Session<'_>, url: &DatabaseUrl) -> Result<(), StoreError> {
    let found = found(session).map_err(|error| StoreError::asked(url, error))?;
    match difference(&found, session) {
        None => Ok(()),
        Some(what) => Err(StoreError::Unsuited {
            place: url.clone(),
            what: format!(
                "{what}: nothing is moved, so that nothing is lost. Use a version of WattSeal that moves it, or take it away"
            ),
        }),
    }
}

/// The columns of each table that a database has.
fn found(session: Session<'_>) -> Result<BTreeMap<String, Vec<String>>, SqlError> {
    let sql = match session {
        Session::Sqlite(_) => {
            "SELECT tables.name, columns.name FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns \
             WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite%' ORDER BY 1, 2"
        }
        Session::Postgres(_) => {
            "SELECT relname::text, attname::text FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid \
             WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition \
             AND attnum > 0 AND NOT attisdropped"
        }
    };
    let mut tables: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (table, column) in
        session.query(sql, &[], |row| Ok((row.get::<String>(0)?, row.get::<String>(1)?)))?
    {
        tables.entry(table).or_default().push(column);
    }
    tables.values_mut().for_each(|columns| columns.sort_unstable());
    Ok(tables)
}

fn difference(found: &BTreeMap<String, Vec<String>>, session: Session<'_>) -> Option<String> {
    let own = match session {
        Session::Sqlite(_) => OF_SQLITE,
        Session::Postgres(_) => OF_POSTGRES,
    };
    for table in TABLES.iter().chain([&READINGS]) {
        let Some(columns) = found.get(table.name) else {
            return Some(format!("it has no table {}", table.name));
        };
        let mut known: Vec<&str> = table.columns().collect();
        known.sort_unstable();
        if let Some(new) = columns.iter().find(|column| !known.contains(&column.as_str())) {
            return Some(format!("its table {} has a column {new} that is not known", table.name));
        }
        if known != *columns {
            return Some(format!("its table {} has not all columns", table.name));
        }
    }
    let known =
        |name: &str| own.contains(&name) || TABLES.iter().chain([&READINGS]).any(|table| table.name == name);
    let other = found.keys().find(|name| !known(name))?;
    Some(format!("it has a table {other} that is not known"))
}

/// The key's columns of a row.
pub(in crate::store) fn key_of<'c>(table: &Table, row: &'c Columns) -> &'c [Owned] {
    &row[..table.key.len()]
}

/// `"a" = $1 AND "b" = $2`
pub(in crate::store) fn is_key(table: &Table) -> String {
    let equal = |(place, column): (usize, &&str)| format!("\"{column}\" = ${}", place + 1);
    table.key.iter().enumerate().map(equal).collect::<Vec<_>>().join(" AND ")
}
