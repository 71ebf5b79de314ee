//! What is kept: readings, alerts, commands, and what is known of meters. One [`Store`] writes, any number of [`Reader`]s read.
//!
//! These two types are the whole seam: nothing of SQLite is in their signatures, so that a larger store can stand behind them.
//! What [`Store::commit`] returned `Ok` for is durable. Times are Unix times, as the names say in seconds or milliseconds.

mod batch;
mod by_time;
mod check;
mod error;
mod files;
mod health;
mod interval;
mod key;
mod latest;
mod query;
mod read;
mod record;
mod retention;
mod schema;
mod write;
mod zone;

pub use error::StoreError;
pub use query::{
    AlertFilter, Consumption, ConsumptionOf, ConsumptionQuery, Cursor, Interval, NoCursor, Readings,
    ReadingsQuery, Resolution, Rows, Whose,
};
pub use read::Reader;
pub use record::{
    Action, AlertRecord, CommandRecord, Health, KeptMeter, Last, Link, Meter, OutboxRecord, Role, TokenRecord,
};
pub use write::{
    CommandProgress, MeterCounts, NewAction, NewAlert, NewCommand, NewOutbox, NewReport, NewToken,
    Provisioned, Write, Written,
};

pub(crate) use batch::flags_of;
pub(crate) use read::{Stored, stored};
pub(crate) use record::has_administrator;

use batch::Kept;
use check::Check;
use files::{
    FileId, OpenFiles, beside, free_beside, open_private, put_in_free_place, put_in_place, remove, tighten,
};
use health::Pulse;
use interval::Intervals;
use retention::Retention;
use rusqlite::{Connection, OpenFlags};
use schema::Found;
use std::fs::{File, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// 2000-01-01 00:00:00 UTC, where the meters' time begins, as Unix time in seconds.
pub const METERS_EPOCH_S: i64 = 946_684_800;
/// A meter that was not heard for so many of its intervals is silent.
pub const SILENT_AFTER_INTERVALS: i64 = 3;
/// Rows of a page of readings at most.
pub const MOST_ROWS: usize = 10_000;
/// Figures in a table of consumption at most: meters times intervals.
pub const MOST_FIGURES: usize = 250_000;
/// Messages that wait to be forwarded at most, of one name.
pub const MOST_OUTBOX_OF_A_METER: usize = 32;
/// Messages that wait to be forwarded at most.
pub const MOST_OUTBOX: usize = 100_000;

/// Pages of the log after which it is written back into the database: 16 MB.
const CHECKPOINT_PAGES: u32 = 4000;
/// A log larger than that is written back even if readers have to be waited for, and is cut off then.
const MOST_LOG_BYTES: u64 = 64 << 20;
/// What the writer keeps of the database in memory, in kB.
const CACHE_KB: i64 = 24_000;

/// How a store behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whose midnights begin the days, and whose hours are the hours; one with a name. Another than the database had: hours and days are
    /// made anew of its quarter-hours when it is opened.
    pub zone: jiff::tz::TimeZone,
    /// Readings older than that go; rollups stay.
    pub keep_days: u32,
    /// The database does not grow above this; `None`: as the disk has room.
    pub most_bytes: Option<u64>,
}

impl Default for Options {
    /// UTC, 400 days, all of the disk.
    fn default() -> Options {
        Options { zone: jiff::tz::TimeZone::UTC, keep_days: 400, most_bytes: None }
    }
}

/// The one writer. It holds the database's lock file until it is dropped.
pub struct Store {
    path: PathBuf,
    most_bytes: Option<u64>,
    connection: Connection,
    files: OpenFiles,
    /// A name was found that does not stand for its file: nothing is committed until that is mended.
    astray: bool,
    /// The copy of what is open that was put in its place, until it is open itself.
    written_back: Option<FileId>,
    kept: Kept,
    retention: Retention,
    check: Check,
    pulse: Arc<Pulse>,
    reader: Reader,
    /// Held until the end: the last field that is dropped.
    lock: Lock,
}

/// What keeps other services from a database.
struct Lock {
    _file: File,
    id: Option<FileId>,
}

impl Store {
    /// Opens a database, or makes one. An older schema is brought up to date, after a copy of the file beside it.
    ///
    /// # Errors
    /// [`StoreError`]: not a database of this program, a later version's, damaged, in use by another service, no access. Then nothing of
    /// it was changed.
    pub fn open(path: &Path, options: &Options) -> Result<Store, StoreError> {
        let zone = zone::name(&options.zone)?;
        schema::look_at(path)?;
        let lock = Lock::take(path)?;
        let known = schema::MIGRATIONS.len();
        // Looked at again: it may have been made meanwhile.
        match schema::look_at(path)? {
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
        zone::settle(&mut connection, zone, &mut intervals)?;
        let kept = Kept::load(&connection, intervals)?;
        let pulse = Arc::new(Pulse::new(path));
        let reader = Reader::new(path, options.zone.clone(), zone.to_owned(), Arc::clone(&pulse))?;
        reader.follow(files.database());
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
            retention,
            check: Check::default(),
            pulse,
            reader,
            lock,
        })
    }

    /// Does all of a batch, in order, or nothing of it. What it returns, one for each, in their order, is durable.
    ///
    /// # Errors
    /// [`StoreError::Full`] and others, where nothing was stored and nothing must be acknowledged; the same can be tried again.
    pub fn commit(&mut self, batch: Vec<Write>) -> Result<Vec<Written>, StoreError> {
        let began = Instant::now();
        let done = self.commit_in_place(batch);
        self.pulse.beat(began.elapsed(), done.as_ref().map(|written| written.as_slice()));
        if done.is_ok() && self.pulse.log_bytes() > MOST_LOG_BYTES {
            self.write_back();
        }
        done
    }

    fn commit_in_place(&mut self, batch: Vec<Write>) -> Result<Vec<Written>, StoreError> {
        // Before it, so that nothing goes into a file that nobody will find.
        self.stay_in_place()?;
        let written = self.kept.commit(&self.connection, batch);
        let written = written.map_err(|error| StoreError::of(&self.path, &error))?;
        // And after it, before anything is acknowledged. What failed only here is stored: it is `Repeated` when it comes again.
        self.look_in_place()?;
        Ok(written)
    }

    /// Looks whether the database's files are where they belong, and, where they were not the last time, puts them back there if that
    /// can be. To be called when there was no batch for some seconds.
    ///
    /// # Errors
    /// [`StoreError::NotInPlace`] and others: nothing can be stored.
    pub fn look(&mut self) -> Result<(), StoreError> {
        let in_place = self.stay_in_place();
        self.pulse.place(in_place.as_ref());
        in_place
    }

    /// Looks that the database's names stand for the files that are open. Where one did not the last time, that is mended first, if it
    /// can be.
    fn stay_in_place(&mut self) -> Result<(), StoreError> {
        if self.astray {
            self.come_back()?;
            self.astray = false;
        }
        self.look_in_place()
    }

    fn look_in_place(&mut self) -> Result<(), StoreError> {
        let found = self.files.check().and_then(|()| self.lock.check(&self.path));
        self.astray = found.is_err();
        found
    }

    /// Makes the database's names stand for what is open again: where files are missing, a copy of all of it takes the database's
    /// place. Nothing that is there and is not this store's is touched.
    fn come_back(&mut self) -> Result<(), StoreError> {
        if self.lock.check(&self.path).is_err() {
            self.lock = Lock::take(&self.path)?;
        }
        let real = self.files.real().to_owned();
        if self.written_back.is_none() || FileId::of(&real)? != self.written_back {
            if self.files.missing()?.is_none() {
                return Ok(());
            }
            // What is there is this store's own, or empty: a log or an index is missing.
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
        self.reader.follow(self.files.database());
        tracing::warn!(db = %self.path.display(), "files of the database were missing: all that was stored is written back");
        Ok(())
    }

    /// A small step of what need not be done at once: old readings go. To be called between batches, and at least once a minute; returns
    /// whether there is more to do.
    ///
    /// # Errors
    /// As [`Store::commit`]; nothing is lost by it.
    pub fn upkeep(&mut self, now_ms: i64) -> Result<bool, StoreError> {
        let meters = self.kept.meters();
        let step = self.retention.step(&self.connection, meters, now_ms, Instant::now());
        step.map_err(|error| StoreError::of(&self.path, &error))
    }

    /// Compares some readings with the sums that were stored when they came, and goes on with others the next time: 100 kB are read. To
    /// be called each second. Returns what is not as it was stored, once.
    pub fn compare(&mut self) -> Option<String> {
        let meters = self.kept.meters().map(|(meter, _)| meter);
        let damage =
            self.check.step(&self.connection, meters).unwrap_or_else(|error| Some(error.to_string()));
        let first = self.pulse.compared(self.check.looked_at, damage.as_deref());
        damage.filter(|_| first)
    }

    /// Returns a reader.
    #[must_use]
    pub fn reader(&self) -> Reader {
        self.reader.clone()
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

    /// Writes the log back into the database. What keeps it from that, a reader or a full disk, does so until the next time.
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
        if self.look_in_place().is_err()
            && let Err(error) = self.come_back()
        {
            self.save(&error);
            return;
        }
        self.write_back();
    }
}

/// What goes wrong within.
enum Wrong {
    Sqlite(rusqlite::Error),
    Store(StoreError),
}

impl Wrong {
    fn of(self, path: &Path) -> StoreError {
        match self {
            Wrong::Sqlite(error) => StoreError::of(path, &error),
            Wrong::Store(error) => error,
        }
    }
}

impl From<rusqlite::Error> for Wrong {
    fn from(error: rusqlite::Error) -> Wrong {
        Wrong::Sqlite(error)
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
    connection.pragma_update(None, "journal_size_limit", MOST_LOG_BYTES as i64)?;
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
                Err(StoreError::InUse { path: path.to_owned(), by })
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
