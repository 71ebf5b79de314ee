//! One SQL for both engines. All queries, and most writes, are the same text for SQLite and for
//! PostgreSQL: the tables have the same names and columns, and a value is `$1` in both. An engine's
//! own ways, batches of readings above all, are in its own module.

mod database_url;
mod error;
pub(in crate::store) mod postgres;

pub use database_url::DatabaseUrl;
pub use error::StoreError;

use crate::network::GlobalMeterId;
use postgres::ConnectionError;
use rusqlite::Connection;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;

/// Why a question has no answer.
#[derive(Debug)]
pub(crate) enum SqlError {
    Sqlite(rusqlite::Error),
    Postgres(ConnectionError),
    /// A stored value is damaged.
    Stored(String),
}

impl From<rusqlite::Error> for SqlError {
    fn from(error: rusqlite::Error) -> SqlError {
        SqlError::Sqlite(error)
    }
}

impl From<ConnectionError> for SqlError {
    fn from(error: ConnectionError) -> SqlError {
        SqlError::Postgres(error)
    }
}

/// Something that takes the place of `$1`, `$2` and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Null,
    Int(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Value<'_> {
            fn from(value: $integer) -> Self {
                Value::Int(i64::from(value))
            }
        }

        impl Column for $integer {
            fn of(cell: Cell<'_>) -> Option<$integer> {
                i64::of(cell)?.try_into().ok()
            }
        }
    )*};
}

integers!(u8, i8, u16, i16, u32);

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Value::Int(value)
    }
}

impl From<GlobalMeterId> for Value<'_> {
    fn from(meter: GlobalMeterId) -> Self {
        Value::Int(meter.key())
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Value<'a> {
        Value::Text(text)
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Value<'a> {
        Value::Text(text)
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(bytes: &'a [u8]) -> Value<'a> {
        Value::Bytes(bytes)
    }
}

impl<'a> From<&'a Vec<u8>> for Value<'a> {
    fn from(bytes: &'a Vec<u8>) -> Value<'a> {
        Value::Bytes(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Value<'a> {
    fn from(bytes: &'a [u8; N]) -> Value<'a> {
        Value::Bytes(bytes)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Value<'a> {
        value.map_or(Value::Null, Into::into)
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Int(value) => ValueRef::Integer(*value),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// Values of any kinds, as [`Session::query`] takes them.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        &[$($crate::store::Value::from($value)),*] as &[$crate::store::Value<'_>]
    };
}
pub(crate) use values;

/// A value of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell<'a> {
    Null,
    Int(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

/// A type that a column is read as.
pub(crate) trait Column: Sized {
    /// `None`: that is not in it.
    fn of(cell: Cell<'_>) -> Option<Self>;
}

impl Column for i64 {
    fn of(cell: Cell<'_>) -> Option<i64> {
        if let Cell::Int(value) = cell { Some(value) } else { None }
    }
}

impl Column for GlobalMeterId {
    fn of(cell: Cell<'_>) -> Option<GlobalMeterId> {
        GlobalMeterId::from_key(i64::of(cell)?)
    }
}

impl Column for String {
    fn of(cell: Cell<'_>) -> Option<String> {
        if let Cell::Text(text) = cell { Some(text.to_owned()) } else { None }
    }
}

impl Column for Vec<u8> {
    fn of(cell: Cell<'_>) -> Option<Vec<u8>> {
        if let Cell::Bytes(bytes) = cell { Some(bytes.to_vec()) } else { None }
    }
}

impl<const N: usize> Column for [u8; N] {
    fn of(cell: Cell<'_>) -> Option<[u8; N]> {
        if let Cell::Bytes(bytes) = cell { bytes.try_into().ok() } else { None }
    }
}

impl<T: Column> Column for Option<T> {
    fn of(cell: Cell<'_>) -> Option<Option<T>> {
        if let Cell::Null = cell { Some(None) } else { T::of(cell).map(Some) }
    }
}

/// One row of an answer.
#[derive(Clone, Copy)]
pub(crate) enum Row<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

impl Row<'_> {
    /// The value in a column, from 0 on.
    pub(crate) fn get<T: Column>(&self, column: usize) -> Result<T, SqlError> {
        T::of(self.cell(column)?).ok_or_else(|| not_there(column))
    }

    /// The bytes in a column, without a copy.
    pub(crate) fn read_bytes<T>(
        &self,
        column: usize,
        read: impl FnOnce(&[u8]) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        match self.cell(column)? {
            Cell::Bytes(bytes) => read(bytes),
            _ => Err(not_there(column)),
        }
    }

    /// The text in a column, without a copy.
    pub(crate) fn read_text<T>(
        &self,
        column: usize,
        read: impl FnOnce(&str) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        match self.cell(column)? {
            Cell::Text(text) => read(text),
            _ => Err(not_there(column)),
        }
    }

    fn cell(&self, column: usize) -> Result<Cell<'_>, SqlError> {
        Ok(match self {
            Row::Sqlite(row) => match row.get_ref(column)? {
                ValueRef::Null => Cell::Null,
                ValueRef::Integer(value) => Cell::Int(value),
                ValueRef::Text(text) => Cell::Text(str::from_utf8(text).map_err(|_| not_there(column))?),
                ValueRef::Blob(bytes) => Cell::Bytes(bytes),
                ValueRef::Real(_) => return Err(not_there(column)),
            },
            Row::Postgres(row) => row.try_get(column).map_err(ConnectionError::from)?,
        })
    }
}

/// Returns a value as JSON text.
pub(in crate::store) fn json(value: &impl Serialize) -> Result<String, SqlError> {
    serde_json::to_string(value).map_err(|error| SqlError::Stored(error.to_string()))
}

/// Reads a value from JSON text. column: where it is stored.
pub(in crate::store) fn from_json<T: DeserializeOwned>(text: &str, column: &str) -> Result<T, SqlError> {
    serde_json::from_str(text).map_err(|error| SqlError::Stored(format!("{column}: {error}")))
}

fn not_there(column: usize) -> SqlError {
    SqlError::Stored(format!("column {column} of an answer has a value that is never stored there"))
}

/// A connection, to ask and to write.
#[derive(Clone, Copy)]
pub(crate) enum Session<'c> {
    Sqlite(&'c Connection),
    Postgres(&'c postgres::Connection),
}

impl<'c> From<&'c Connection> for Session<'c> {
    fn from(connection: &'c Connection) -> Session<'c> {
        Session::Sqlite(connection)
    }
}

impl Session<'_> {
    /// Returns the tables of readings: SQLite has a second one, of rows that are not sorted in yet.
    pub(crate) fn reading_tables(&self) -> &'static [&'static str] {
        match self {
            Session::Sqlite(_) => &["readings", "landed"],
            Session::Postgres(_) => &["readings"],
        }
    }

    /// All rows of an answer, each as `read` reads it.
    pub(crate) fn query<T>(
        &self,
        sql: &str,
        values: &[Value<'_>],
        mut read: impl FnMut(Row<'_>) -> Result<T, SqlError>,
    ) -> Result<Vec<T>, SqlError> {
        match self {
            Session::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(&of_sqlite(sql))?;
                let mut rows = statement.query(rusqlite::params_from_iter(values))?;
                let mut answer = Vec::new();
                while let Some(row) = rows.next()? {
                    answer.push(read(Row::Sqlite(row))?);
                }
                Ok(answer)
            }
            Session::Postgres(connection) => {
                connection.query(sql, values)?.iter().map(|row| read(Row::Postgres(row))).collect()
            }
        }
    }

    /// The first row of an answer, if it has one.
    pub(crate) fn first<T>(
        &self,
        sql: &str,
        values: &[Value<'_>],
        read: impl FnMut(Row<'_>) -> Result<T, SqlError>,
    ) -> Result<Option<T>, SqlError> {
        Ok(self.query(sql, values, read)?.into_iter().next())
    }

    /// The one value of an answer, such as a count, or the id of what was put in.
    pub(crate) fn value<T: Column>(&self, sql: &str, values: &[Value<'_>]) -> Result<T, SqlError> {
        self.first(sql, values, |row| row.get(0))?
            .ok_or_else(|| SqlError::Stored("a question with one answer has none".to_owned()))
    }

    /// Writes; returns how many rows.
    pub(crate) fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<u64, SqlError> {
        match self {
            Session::Sqlite(connection) => {
                let rows = connection
                    .prepare_cached(&of_sqlite(sql))?
                    .execute(rusqlite::params_from_iter(values))?;
                Ok(rows as u64)
            }
            Session::Postgres(connection) => Ok(connection.execute(sql, values)?),
        }
    }
}

/// SQLite numbers values as `?1`; `$1` is a name there. No text within our SQL has a dollar.
fn of_sqlite(sql: &str) -> Cow<'_, str> {
    if sql.contains('$') { Cow::Owned(sql.replace('$', "?")) } else { Cow::Borrowed(sql) }
}
