//! SQLite: a database in a file. The matters of a file are here: its owner, its place, and its
//! permissions.

mod endpoint;
mod files;
mod pool;
mod reports;
mod schema;
mod staging;
mod sweep;

pub(in crate::store) use endpoint::MigrationEndpoint;
pub(in crate::store) use pool::Pool;
pub(in crate::store) use sweep::Sweep;

use super::{Pool as Connections, ReadAccess};
use crate::store::meaning::batch::MeterCache;
use crate::store::meaning::check::Check;
use crate::store::meaning::interval::Intervals;
use crate::store::meaning::retention::Retention;
use crate::store::meaning::telegrams;
use crate::store::meaning::zone;
use crate::store::model::health::Heartbeat;
use crate::store::model::meter_range::MeterRange;
use crate::store::sql::{Session, SqlError};
use crate::store::{Options, StoreError, Write, Written};
use files::{
    FileId, OpenFiles, beside, free_beside, open_private, put_in_free_place, put_in_place, remove, tighten,
};
use reports::Statements;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use schema::Found;
use staging::Staging;
use std::fs::{File, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Pages of the log after which it is written back into the database: 16 MB.
const CHECKPOINT_PAGES: u32 = 4000;
/// A log larger than that is written back even if readers have to be waited for, and is cut off
/// then.
const LOG_BYTES_MAX: u64 = 64 << 20;
/// The writer's cache of the database, in kB.
const CACHE_KB: i64 = 24_000;

/// The one writer. It holds the database's lock file until it is dropped.
pub(in crate::store) struct Store {
    path: PathBuf,
    most_bytes: Option<u64>,
    connection: Connection,
    files: OpenFiles,
    /// A name was found that does not stand for its file: nothing is committed until that is
    /// mended.
    astray: bool,
    /// The copy of what is open that was put in its place, until it is open itself.
    written_back: Option<FileId>,
    kept: MeterCache,
    staging: Staging,
    retention: Retention,
    sweep: Option<Sweep>,
    check: Check,
    pulse: Arc<Heartbeat>,
    pool: Arc<Pool>,
    access: Arc<ReadAccess>,
    /// Held until the end: the last field that is dropped.
    lock: Lock,
}

/// The lock that keeps other services from a database.
struct Lock {
    _file: File,
    id: Option<FileId>,
}

impl Store {
    /// An older schema is brought up to date, after a copy of the file beside it.
    pub(in crate::store) fn open(path: &Path, options: &Options) -> Result<Store, StoreError> {
        let zone = zone::name(&options.zone)?;
        schema::inspect(path)?;
        let lock = Lock::take(path)?;
        let known = schema::MIGRATIONS.len();
        // Looked at again: it may have been made meanwhile.
        match schema::inspect(path)? {
            Found::Nothing => schema::create(path, schema::MIGRATIONS)?,
            Found::Empty => {
                tracing::warn!(db = %path.display(), "an empty file was there: it becomes a new database");
                schema::create(path, schema::MIGRATIONS)?;
            }
            Found::Ours => {
                tighten(path)?;
                let version = schema::check(path, known)?;
                if version < known {
                    let copy = schema::migrate(path, version, schema::MIGRATIONS)?;
                    tracing::info!(from = version, to = known, copy = %copy.display(), "database brought up to date");
                }
            }
        }
        Store::open_whole(path, options, &zone, lock).map_err(|wrong| wrong.of(path))
    }

    fn open_whole(path: &Path, options: &Options, zone: &str, lock: Lock) -> Result<Store, Wrong> {
        let (mut connection, files) = connect(path, options.most_bytes)?;
        let mut intervals = Intervals::new(options.zone.clone());
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        zone::settle(Session::Sqlite(&transaction), zone, &mut intervals)?;
        transaction.commit()?;
        let mut kept = MeterCache::new(Session::Sqlite(&connection), intervals)?;
        kept.load(Session::Sqlite(&connection), MeterRange::All)?;
        let staging = Staging::load(&connection)?;
        let pulse = Arc::new(Heartbeat::default());
        let pool = Arc::new(Pool::new(path)?);
        pool.follow(files.database());
        let access = Arc::new(ReadAccess {
            url: path.into(),
            zone: options.zone.clone(),
            zone_name: zone.to_owned(),
            pulse: Arc::clone(&pulse),
            pool: Connections::Sqlite(Arc::clone(&pool)),
        });
        let retention = Retention::new(options.keep_days, kept.heard_ms());
        let (path, most_bytes) = (path.to_owned(), options.most_bytes);
        let (astray, written_back) = (false, None);
        Ok(Store {
            path,
            most_bytes,
            connection,
            files,
            astray,
            written_back,
            kept,
            staging,
            retention,
            sweep: None,
            check: Check::default(),
            pulse,
            pool,
            access,
            lock,
        })
    }

    pub(in crate::store) fn commit(&mut self, batch: &[Write]) -> Result<Vec<Written>, StoreError> {
        let began = Instant::now();
        let done = self.commit_in_place(batch);
        self.pulse.beat(began.elapsed(), done.as_ref().map(|written| written.as_slice()));
        if done.is_ok() && self.pool.log_bytes() > LOG_BYTES_MAX {
            self.write_back();
        }
        done
    }

    fn commit_in_place(&mut self, batch: &[Write]) -> Result<Vec<Written>, StoreError> {
        // Before it, so that nothing goes into a file that nobody will find.
        self.stay_in_place()?;
        let written = self.write(batch);
        let written = written.map_err(|error| StoreError::asked(&self.path.as_path().into(), error))?;
        // And after it, before anything is acknowledged. A batch that failed only here is stored:
        // it is `Repeated` when it comes again.
        self.check_in_place()?;
        Ok(written)
    }

    /// All of it in one transaction.
    fn write(&mut self, batch: &[Write]) -> Result<Vec<Written>, SqlError> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        let connection = &self.connection;
        let mut staging = self.staging;
        connection.execute_batch("BEGIN IMMEDIATE")?;
        let mut write = || {
            let mut reports = Statements::new(connection, &mut staging)?;
            let written = self.kept.write(Session::Sqlite(connection), &mut reports, batch)?;
            reports.finish(&self.kept.changes())?;
            connection.execute_batch("COMMIT")?;
            Ok(written)
        };
        let done = write();
        if done.is_ok() {
            self.staging = staging;
            self.kept.keep();
            return done;
        }
        self.kept.undo();
        // SQLite may have rolled back by itself: https://sqlite.org/lang_transaction.html, section
        // 3.
        if !connection.is_autocommit() {
            connection.execute_batch("ROLLBACK")?;
        }
        done
    }

    pub(in crate::store) fn check(&mut self) -> Result<(), StoreError> {
        let in_place = self.stay_in_place();
        self.pulse.place(in_place.as_ref());
        in_place
    }

    /// Looks that the database's names stand for the files that are open. Where one did not the
    /// last time, that is mended first, if it can be.
    fn stay_in_place(&mut self) -> Result<(), StoreError> {
        if self.astray {
            self.come_back()?;
            self.astray = false;
        }
        self.check_in_place()
    }

    fn check_in_place(&mut self) -> Result<(), StoreError> {
        let found = self.files.check().and_then(|()| self.lock.check(&self.path));
        self.astray = found.is_err();
        found
    }

    /// Makes the database's names stand for what is open again: where files are missing, a copy of
    /// all of it takes the database's place. Nothing that is there and is not this store's is
    /// touched.
    fn come_back(&mut self) -> Result<(), StoreError> {
        if self.lock.check(&self.path).is_err() {
            self.lock = Lock::take(&self.path)?;
        }
        let real = self.files.real().to_owned();
        if self.written_back.is_none() || FileId::of(&real)? != self.written_back {
            if self.files.missing()?.is_none() {
                return Ok(());
            }
            // The file there is this store's own, or empty: a log or an index is missing.
            let put = if FileId::of(&real)?.is_some() { put_in_place } else { put_in_free_place };
            let part = beside(&real, ".part");
            schema::copy_whole(&self.connection, &part)?;
            self.written_back = FileId::of(&part)?;
            put(&part, &real).inspect_err(|_| drop(remove(&part)))?;
        }
        self.files.remove_log()?;
        let opened = connect(&self.path, self.most_bytes).map_err(|wrong| wrong.of(&self.path))?;
        (self.connection, self.files) = opened;
        self.written_back = None;
        self.pool.follow(self.files.database());
        tracing::warn!(db = %self.path.display(), "files of the database were missing: all that was stored is written back");
        Ok(())
    }

    pub(in crate::store) fn upkeep(&mut self, now_ms: i64) -> Result<bool, StoreError> {
        let step = self.sweep_on(now_ms);
        step.map_err(|error| StoreError::asked(&self.path.as_path().into(), error))
    }

    fn sweep_on(&mut self, now_ms: i64) -> Result<bool, SqlError> {
        if let Some(sweep) = &mut self.sweep {
            let more = sweep.step(&self.connection)?;
            self.sweep = self.sweep.take().filter(|_| more);
            return Ok(more);
        }
        let first_ms = self.kept.meters().filter_map(|(_, first_ms)| first_ms).min();
        let session = Session::Sqlite(&self.connection);
        let before_s = self.retention.check(session, first_ms, now_ms, Instant::now())?;
        if before_s.is_some() {
            telegrams::sweep(session)?;
        }
        let meters = || self.kept.meters().map(|(meter, _)| meter).collect();
        self.sweep = before_s.map(|before_s| Sweep::new(before_s, meters()));
        Ok(self.sweep.is_some())
    }

    pub(in crate::store) fn compare(&mut self) -> Option<String> {
        let meters = || Ok(self.kept.meters().map(|(meter, _)| meter).collect());
        let damage = self
            .check
            .step(Session::Sqlite(&self.connection), meters)
            .unwrap_or_else(|error| Some(StoreError::asked(&self.path.as_path().into(), error).to_string()));
        let first = self.pulse.compared(self.check.looked_at, damage.as_deref());
        damage.filter(|_| first)
    }

    pub(in crate::store) fn access(&self) -> Arc<ReadAccess> {
        Arc::clone(&self.access)
    }

    /// The last resort: what is open has no name, and cannot get its own again.
    fn save(&self, why: &StoreError) {
        let saved = free_beside(&self.path, ".saved");
        let part = beside(&saved, ".part");
        match schema::copy_whole(&self.connection, &part).and_then(|()| put_in_place(&part, &saved)) {
            Ok(()) => {
                let saved = saved.display();
                tracing::error!(
                    "{why}. The service ends: what it had stored is in {saved}; move that to its place"
                );
            }
            Err(error) => {
                tracing::error!("{why}. The service ends, and what it had stored cannot be saved: {error}")
            }
        }
    }

    /// Writes the log back into the database. A reader or a full disk puts that off until the next
    /// time.
    fn write_back(&self) {
        let patience = [Duration::from_millis(200), Duration::from_secs(5)];
        let _ = self.connection.busy_timeout(patience[0]);
        let done =
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
        if let Err(error) = done {
            tracing::warn!(%error, "the database's log cannot be written back");
        }
        let _ = self.connection.busy_timeout(patience[1]);
    }
}

/// After it the database is whole without its log, for who copies it.
impl Drop for Store {
    fn drop(&mut self) {
        if self.check_in_place().is_err()
            && let Err(error) = self.come_back()
        {
            self.save(&error);
            return;
        }
        self.write_back();
    }
}

/// An error within the writer.
enum Wrong {
    Sql(SqlError),
    Store(StoreError),
}

impl Wrong {
    fn of(self, path: &Path) -> StoreError {
        match self {
            Wrong::Sql(error) => StoreError::asked(&path.into(), error),
            Wrong::Store(error) => error,
        }
    }
}

impl From<SqlError> for Wrong {
    fn from(error: SqlError) -> Wrong {
        Wrong::Sql(error)
    }
}

impl From<rusqlite::Error> for Wrong {
    fn from(error: rusqlite::Error) -> Wrong {
        Wrong::Sql(error.into())
    }
}

impl From<StoreError> for Wrong {
    fn from(error: StoreError) -> Wrong {
        Wrong::Store(error)
    }
}

/// Opens a database to write.
fn connect(path: &Path, most_bytes: Option<u64>) -> Result<(Connection, OpenFiles), Wrong> {
    let database = FileId::of(path)?.ok_or_else(|| StoreError::missing(path))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    // Durable when a commit returns: https://sqlite.org/pragma.html#pragma_synchronous
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES_MAX as i64)?;
    connection.pragma_update(None, "cache_size", -CACHE_KB)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    if let Some(bytes) = most_bytes {
        let page_bytes: i64 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
        let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page_bytes.max(1);
        connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
    }
    // Reads, which makes log and index.
    connection.query_row("SELECT count(*) FROM meta", [], |_| Ok(()))?;
    let files = OpenFiles::of(path, database)?;
    Ok((connection, files))
}

impl Lock {
    /// Takes a database for this process alone, for as long as the file is held.
    fn take(path: &Path) -> Result<Lock, StoreError> {
        let place = beside(path, ".lock");
        let mut file = open_private(&place)?;
        match file.try_lock() {
            Ok(()) => {
                // For who finds it locked; it may as well not be written.
                let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
                Ok(Lock { id: FileId::of(&place)?, _file: file })
            }
            Err(TryLockError::WouldBlock) => {
                let mut process = String::new();
                let _ = file.take(20).read_to_string(&mut process);
                let by = process.trim().parse::<u32>().map_or(String::new(), |id| format!(" (process {id})"));
                Err(StoreError::InUse { place: path.into(), by })
            }
            Err(TryLockError::Error(error)) => Err(StoreError::file(&place, &error)),
        }
    }

    /// Looks that who comes next finds this one.
    fn check(&self, path: &Path) -> Result<(), StoreError> {
        let place = beside(path, ".lock");
        if FileId::of(&place)? == self.id { Ok(()) } else { Err(StoreError::missing(&place)) }
    }
}
