//! The connections that read a SQLite database.

use super::files::{FileId, beside};
use super::schema::{self, Found, MIGRATIONS};
use crate::store::sql::{Session, SqlError};
use crate::store::{Health, StoreError};
use rusqlite::{Connection, OpenFlags};
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Concurrent reads at most; others wait.
const CONNECTIONS: usize = 4;
/// The cache of each reader, in kB.
const CACHE_KB: i64 = 8_000;

pub(in crate::store) struct Pool {
    path: PathBuf,
    log: PathBuf,
    idle: Mutex<Idle>,
    freed: Condvar,
}

#[derive(Default)]
struct Idle {
    connections: Vec<Connection>,
    lent: usize,
    /// The file that all of them have open, where a store has it open, too; those of another one
    /// are not lent again.
    database: Option<FileId>,
}

impl Pool {
    /// Of a database that is there, whether a service has it open or not.
    ///
    /// # Errors
    /// [`StoreError`]: not there, not one of this program's, of another version, damaged.
    pub(in crate::store) fn open(path: &Path) -> Result<Pool, StoreError> {
        let unreachable =
            |what: &str| Err(StoreError::Unreachable { place: path.into(), what: what.to_owned() });
        match schema::inspect(path)? {
            Found::Ours => {}
            Found::Nothing => {
                return unreachable("there is no database; give the --db that `wattseal collect` has");
            }
            Found::Empty => {
                return unreachable(
                    "it is an empty file, in which nothing was ever stored; give the --db that `wattseal collect` has, or start that \
                     with this one, which makes a new database of it",
                );
            }
        }
        let known = MIGRATIONS.len();
        let version = schema::check(path, known)?;
        if version < known {
            let (found, known) = (version as i64, known as i64);
            return Err(StoreError::Older { place: path.into(), found, known });
        }
        Pool::new(path)
    }

    pub(super) fn new(path: &Path) -> Result<Pool, StoreError> {
        let idle = Mutex::new(Idle { connections: vec![connect(path)?], lent: 0, database: None });
        Ok(Pool { path: path.to_owned(), log: beside(path, "-wal"), idle, freed: Condvar::new() })
    }

    pub(in crate::store) fn copy_to(&self, path: &Path) -> Result<(), StoreError> {
        let file = |error| StoreError::file(path, &error);
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(file)?;
        let lent = Lent::of(self)?;
        // https://sqlite.org/lang_vacuum.html#vacuuminto: in no transaction, and a file that is
        // there has to be empty.
        lent.connection()
            .and_then(|connection| connection.execute("VACUUM INTO ?1", [path.to_string_lossy()]))
            .map_err(|error| StoreError::of(path, &error))?;
        made.sync_all().map_err(file)?;
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(file)
    }

    /// From now on this file is read, and no other that may have its name.
    pub(super) fn follow(&self, database: FileId) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.database.replace(database).is_some_and(|before| before != database) {
            idle.connections.clear();
        }
    }

    pub(super) fn log_bytes(&self) -> u64 {
        std::fs::metadata(&self.log).map_or(0, |log| log.len())
    }

    /// Adds how large its files are.
    pub(in crate::store) fn measure(&self, health: &mut Health) {
        health.database_bytes = std::fs::metadata(&self.path).map_or(0, |database| database.len());
        health.log_bytes = self.log_bytes();
    }

    /// Asks within one transaction, so that all answers are of the same moment.
    pub(in crate::store) fn ask<T>(
        &self,
        question: impl FnOnce(Session<'_>) -> Result<T, SqlError>,
    ) -> Result<T, StoreError> {
        let lent = Lent::of(self)?;
        let answer = lent.connection().map_err(SqlError::from).and_then(|connection| {
            let transaction = connection.unchecked_transaction()?;
            question(Session::Sqlite(&transaction))
        });
        answer.map_err(|error| StoreError::asked(&self.path.as_path().into(), error))
    }
}

/// A connection that goes back to the pool when it is dropped.
struct Lent<'a> {
    pool: &'a Pool,
    connection: Option<Connection>,
    database: Option<FileId>,
}

impl Lent<'_> {
    fn of(pool: &Pool) -> Result<Lent<'_>, StoreError> {
        let mut idle = pool.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while idle.connections.is_empty() && idle.lent >= CONNECTIONS {
            idle = pool.freed.wait(idle).unwrap_or_else(PoisonError::into_inner);
        }
        idle.lent += 1;
        let (connection, database) = (idle.connections.pop(), idle.database);
        drop(idle);
        let mut lent = Lent { pool, connection, database };
        if lent.connection.is_none() {
            lent.in_place()?;
            let connection = connect(&pool.path)?;
            lent.in_place()?;
            lent.connection = Some(connection);
        }
        Ok(lent)
    }

    /// Looks that the database's name stands for the file that it should.
    fn in_place(&self) -> Result<(), StoreError> {
        let Some(database) = self.database else { return Ok(()) };
        match FileId::of(&self.pool.path)? {
            Some(found) if found == database => Ok(()),
            Some(_) => Err(StoreError::in_the_way(&self.pool.path)),
            None => Err(StoreError::missing(&self.pool.path)),
        }
    }

    fn connection(&self) -> rusqlite::Result<&Connection> {
        self.connection.as_ref().ok_or(rusqlite::Error::InvalidQuery)
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut idle = self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.lent -= 1;
        if idle.database == self.database {
            idle.connections.extend(self.connection.take());
        }
        self.pool.freed.notify_one();
    }
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    let open = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        connection.pragma_update(None, "cache_size", -CACHE_KB)?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        connection.set_prepared_statement_cache_capacity(32);
        Ok(connection)
    };
    open().map_err(|error| StoreError::of(path, &error))
}
