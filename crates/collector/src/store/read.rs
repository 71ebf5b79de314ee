//! Reading while the store writes.

mod rows;
mod series;

pub(super) use rows::{alert, command, json, name_of_role, name_of_state};
pub(super) use series::rollups;
pub(crate) use series::{Stored, stored};

use super::files::FileId;
use super::health::Pulse;
use super::interval::Intervals;
use super::query::{AlertFilter, Consumption, ConsumptionQuery, Readings, ReadingsQuery, Resolution, Whose};
use super::record::{
    Action, AlertRecord, CommandRecord, Health, KeptMeter, Meter, OutboxRecord, TokenRecord,
};
use super::schema::{self, Found, MIGRATIONS};
use super::{StoreError, zone};
use crate::network::GlobalMeterId;
use jiff::tz::TimeZone;
use rusqlite::{Connection, OpenFlags};
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// So many read at once; others wait.
const CONNECTIONS: usize = 4;
/// What each keeps of the database in memory, in kB.
const CACHE_KB: i64 = 8_000;

/// Reads while the store writes: each call sees what was committed before it. Calls block for as long as the database takes; it is
/// cheap to clone.
#[derive(Clone)]
pub struct Reader {
    pool: Arc<Pool>,
}

struct Pool {
    path: PathBuf,
    zone: TimeZone,
    zone_name: String,
    pulse: Arc<Pulse>,
    idle: Mutex<Idle>,
    freed: Condvar,
}

#[derive(Default)]
struct Idle {
    connections: Vec<Connection>,
    lent: usize,
    /// The file that all of them have open, where a store has it open, too; those of another one are not lent again.
    database: Option<FileId>,
}

impl Reader {
    /// Opens a database to look at it alone, whether a service has it open or not: for `audit` and `export`.
    ///
    /// # Errors
    /// [`StoreError`]: not there, not one of this program's, of another version, damaged.
    pub fn open(path: &Path) -> Result<Reader, StoreError> {
        let unreachable =
            |what: &str| Err(StoreError::Unreachable { path: path.to_owned(), what: what.to_owned() });
        match schema::look_at(path)? {
            Found::Ours => {}
            Found::Nothing => {
                return unreachable("there is no database; give the --db that `./wattseal collect` has");
            }
            Found::Empty => {
                return unreachable(
                    "it is an empty file, in which nothing was ever stored; give the --db that `./wattseal collect` has, or start that \
                     with this one, which makes a new database of it",
                );
            }
        }
        let known = MIGRATIONS.len();
        let version = schema::check(path, known)?;
        if version < known {
            let (found, known) = (version as i64, known as i64);
            return Err(StoreError::Older { path: path.to_owned(), found, known });
        }
        let connection = connect(path)?;
        let name = zone::stored(&connection).map_err(|error| StoreError::of(path, &error))?;
        let name = name.unwrap_or_else(|| "UTC".to_owned());
        Reader::new(path, zone::named(&name)?, name, Arc::new(Pulse::new(path)))
    }

    pub(super) fn new(
        path: &Path,
        zone: TimeZone,
        zone_name: String,
        pulse: Arc<Pulse>,
    ) -> Result<Reader, StoreError> {
        let idle = Mutex::new(Idle { connections: vec![connect(path)?], lent: 0, database: None });
        let path = path.to_owned();
        Ok(Reader { pool: Arc::new(Pool { path, zone, zone_name, pulse, idle, freed: Condvar::new() }) })
    }

    /// Writes a whole copy of the database, as of one moment, into a new file that its owner alone can read, while a service goes on. It
    /// is durable when this returns.
    ///
    /// # Errors
    /// [`StoreError`]: the file is there already, or cannot be written.
    pub fn copy_to(&self, path: &Path) -> Result<(), StoreError> {
        let file = |error| StoreError::file(path, &error);
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(file)?;
        let lent = Lent::of(&self.pool)?;
        // https://sqlite.org/lang_vacuum.html#vacuuminto: in no transaction, and a file that is there has to be empty.
        lent.connection()
            .and_then(|connection| connection.execute("VACUUM INTO ?1", [path.to_string_lossy()]))
            .map_err(|error| StoreError::of(path, &error))?;
        made.sync_all().map_err(file)?;
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(file)
    }

    /// From now on this file is read, and no other that may have its name.
    pub(super) fn follow(&self, database: FileId) {
        let mut idle = self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.database.replace(database).is_some_and(|before| before != database) {
            idle.connections.clear();
        }
    }

    /// The name of the zone whose hours and days are shown.
    #[must_use]
    pub fn zone(&self) -> &str {
        &self.pool.zone_name
    }

    /// All meters, of all networks, as a collector starts with them; also those that are revoked.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn kept_meters(&self) -> Result<Vec<KeptMeter>, StoreError> {
        self.ask(rows::kept_meters)
    }

    /// Meters as they are shown, by network and number; also those that are revoked. now_ms: says who is online.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn meters(&self, whose: Whose, now_ms: i64) -> Result<Vec<Meter>, StoreError> {
        self.ask(|connection| rows::meters(connection, whose, now_ms))
    }

    /// One meter as it is shown; `None` where there is none.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn meter(&self, meter: GlobalMeterId, now_ms: i64) -> Result<Option<Meter>, StoreError> {
        self.ask(|connection| Ok(rows::meters(connection, meter.into(), now_ms)?.pop()))
    }

    /// A page of readings, or of rollups; empty where there are none, or no such meter.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn readings(&self, query: &ReadingsQuery) -> Result<Readings, StoreError> {
        let mut intervals = Intervals::new(self.pool.zone.clone());
        self.ask(|connection| match query.resolution {
            Resolution::Raw => series::raw(connection, query),
            _ => series::rolled_up(connection, query, &mut intervals),
        })
    }

    /// Energy used by interval, of all of these meters that have any, or of one.
    ///
    /// # Errors
    /// [`StoreError::TooMuch`] above [`super::MOST_FIGURES`], and others.
    pub fn consumption(&self, query: &ConsumptionQuery) -> Result<Consumption, StoreError> {
        let mut intervals = Intervals::new(self.pool.zone.clone());
        let meters = self.ask(|connection| series::meters_of(connection, query))?;
        let start_s = series::starts(query, meters.len(), &mut intervals)?;
        let meters = self.ask(|connection| series::used(connection, query, &meters, &start_s))?;
        let zone = self.pool.zone_name.clone();
        let intervals = start_s.len().saturating_sub(1);
        let start_s = start_s[..intervals].to_vec();
        Ok(Consumption { resolution: query.resolution, zone, start_s, meters })
    }

    /// Alerts, newest first.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn alerts(&self, filter: &AlertFilter) -> Result<Vec<AlertRecord>, StoreError> {
        self.ask(|connection| rows::alerts(connection, filter))
    }

    /// One alert.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn alert(&self, id: i64) -> Result<Option<AlertRecord>, StoreError> {
        self.ask(|connection| rows::alert(connection, id))
    }

    /// A meter's commands, newest first.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn commands(&self, meter: GlobalMeterId, limit: usize) -> Result<Vec<CommandRecord>, StoreError> {
        self.ask(|connection| rows::commands(connection, meter, limit))
    }

    /// One command.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn command(&self, id: i64) -> Result<Option<CommandRecord>, StoreError> {
        self.ask(|connection| rows::command(connection, id))
    }

    /// The commands of all meters that are waiting or sent, oldest first.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn open_commands(&self) -> Result<Vec<CommandRecord>, StoreError> {
        self.ask(rows::open_commands)
    }

    /// All tokens, also those that are revoked, oldest first.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError> {
        self.ask(rows::tokens)
    }

    /// Returns the administrators' actions, newest first; before: only those with a lower id.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn actions(&self, limit: usize, before: Option<i64>) -> Result<Vec<Action>, StoreError> {
        self.ask(|connection| rows::actions(connection, limit, before))
    }

    /// The messages that wait to be forwarded, oldest first.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn outbox(&self) -> Result<Vec<OutboxRecord>, StoreError> {
        self.ask(rows::outbox)
    }

    /// Returns the store's health. It waits for nothing.
    #[must_use]
    pub fn health(&self) -> Health {
        self.pool.pulse.health()
    }

    /// Asks within one transaction, so that all answers are of the same moment.
    pub(crate) fn ask<T>(
        &self,
        question: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let lent = Lent::of(&self.pool)?;
        let answer = lent.connection().and_then(|connection| {
            let transaction = connection.unchecked_transaction()?;
            question(&transaction)
        });
        answer.map_err(|error| StoreError::of(&self.pool.path, &error))
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
