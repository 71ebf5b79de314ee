//! A file that is moved from, or to.

use super::files::OpenFiles;
use super::schema::{self, Found, MIGRATIONS};
use super::{Lock, connect};
use crate::store::meaning::marker::{self, Marker};
use crate::store::meaning::tables::{Columns, Table, is_key, key_of};
use crate::store::sql::{Session, SqlError, Value, values};
use crate::store::{DatabaseUrl, StoreError};
use rusqlite::{Connection, params_from_iter};
use std::path::Path;

pub(in crate::store) struct MigrationEndpoint {
    place: DatabaseUrl,
    connection: Connection,
    files: OpenFiles,
    /// Held until the end, and let go of last. `None`: another may have it.
    lock: Option<Lock>,
}

impl MigrationEndpoint {
    /// One that a service may have open, and what is said of it.
    pub(in crate::store) fn source(path: &Path) -> Result<(MigrationEndpoint, Option<Marker>), StoreError> {
        if schema::inspect(path)? != Found::Ours {
            let what = "there is no database to be moved; give the --db that `wattseal collect` has";
            return Err(StoreError::Unreachable { place: path.into(), what: what.to_owned() });
        }
        MigrationEndpoint::open(path, None)
    }

    /// One that nobody else has, and what is said of it.
    pub(in crate::store) fn target(
        path: &Path,
        make: bool,
    ) -> Result<(MigrationEndpoint, Option<Marker>), StoreError> {
        if !make {
            if schema::inspect(path)? != Found::Ours {
                let what = "there is no database, and the data were moved here: put it back";
                return Err(StoreError::Unreachable { place: path.into(), what: what.to_owned() });
            }
            return MigrationEndpoint::open(path, Some(Lock::take(path)?));
        }
        let lock = Lock::take(path)?;
        if schema::inspect(path)? != Found::Ours {
            schema::create(path, MIGRATIONS)?;
        }
        MigrationEndpoint::open(path, Some(lock))
    }

    fn open(path: &Path, lock: Option<Lock>) -> Result<(MigrationEndpoint, Option<Marker>), StoreError> {
        let mark = schema::mark_of(path)?;
        if mark.is_none() {
            let (found, known) = (schema::check(path, MIGRATIONS.len())?, MIGRATIONS.len());
            if found < known {
                let (found, known) = (found as i64, known as i64);
                return Err(StoreError::Older { place: path.into(), found, known });
            }
        }
        let (connection, files) = connect(path, None).map_err(|wrong| wrong.of(path))?;
        Ok((MigrationEndpoint { place: path.into(), connection, files, lock }, mark))
    }

    pub(in crate::store) fn place(&self) -> &DatabaseUrl {
        &self.place
    }

    pub(in crate::store) fn session(&self) -> Session<'_> {
        Session::Sqlite(&self.connection)
    }

    pub(in crate::store) fn freeze(&mut self) -> Result<(), StoreError> {
        if let (None, DatabaseUrl::File(path)) = (&self.lock, &self.place) {
            self.lock = Some(Lock::take(path)?);
        }
        self.is_frozen()
    }

    pub(in crate::store) fn is_frozen(&self) -> Result<(), StoreError> {
        self.files.check()?;
        match (&self.lock, &self.place) {
            (Some(lock), DatabaseUrl::File(path)) => lock.check(path),
            _ => Ok(()),
        }
    }

    pub(in crate::store) fn change(
        &mut self,
        table: &Table,
        gone: &[Columns],
        new: &[Columns],
    ) -> Result<(), SqlError> {
        let (name, columns, connection) = (table.name, table.list(), &self.connection);
        let places = (1..=table.columns().count()).map(|place| format!("?{place}")).collect::<Vec<_>>();
        within(connection, || {
            let delete = format!("DELETE FROM {name} WHERE {}", is_key(table).replace('$', "?"));
            let mut delete = connection.prepare_cached(&delete)?;
            for row in gone {
                delete.execute(params_from_iter(key_of(table, row).iter().map(Value::from)))?;
            }
            let insert = format!("INSERT INTO {name} ({columns}) VALUES ({})", places.join(", "));
            let mut insert = connection.prepare_cached(&insert)?;
            for row in new {
                insert.execute(params_from_iter(row.iter().map(Value::from)))?;
            }
            Ok(())
        })
    }

    /// Returns the highest id that was drawn. A table without AUTOINCREMENT goes on above its rows.
    pub(in crate::store) fn drawn(&self, table: &Table) -> Result<i64, SqlError> {
        let drawn = "SELECT seq FROM sqlite_sequence WHERE name = $1";
        let drawn = self.session().first(drawn, values![table.name], |row| row.get::<i64>(0))?;
        let highest = format!("SELECT coalesce(max(id), 0) FROM {}", table.name);
        Ok(self.session().value::<i64>(&highest, &[])?.max(drawn.unwrap_or(0)))
    }

    pub(in crate::store) fn draw_above(&self, table: &Table, id: i64) -> Result<(), SqlError> {
        let session = self.session();
        within(&self.connection, || {
            session.execute("DELETE FROM sqlite_sequence WHERE name = $1", values![table.name])?;
            session.execute(
                "INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)",
                values![table.name, id],
            )?;
            Ok(())
        })
    }

    pub(in crate::store) fn mark(&mut self, mark: Option<&Marker>) -> Result<(), SqlError> {
        let known = MIGRATIONS.len() as i64;
        within(&self.connection, || {
            let version = match mark {
                Some(mark) => {
                    mark.write(self.session())?;
                    known + marker::AWAY
                }
                None => {
                    Marker::erase(self.session())?;
                    known
                }
            };
            Ok(self.connection.pragma_update(None, "user_version", version)?)
        })
    }
}

/// In one transaction.
fn within(connection: &Connection, does: impl FnOnce() -> Result<(), SqlError>) -> Result<(), SqlError> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let done = does().and_then(|()| Ok(connection.execute_batch("COMMIT")?));
    if done.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    done
}
