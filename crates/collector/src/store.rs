//! What is kept: readings, alerts, commands, and what is known of meters. One [`Store`] writes, any number of [`Reader`]s read.
//!
//! These two types are the whole seam: nothing of SQLite is in their signatures, so that a larger store can stand behind them.
//! What [`Store::commit`] returned `Ok` for is durable. Times are Unix times, as the names say in seconds or milliseconds.

mod error;
mod query;
mod record;
mod write;

pub use error::StoreError;
pub use query::{
    AlertFilter, Consumption, ConsumptionOf, ConsumptionQuery, Cursor, Interval, Readings, ReadingsQuery,
    Resolution, Rows,
};
pub use record::{
    Action, AlertRecord, CommandRecord, Health, KeptMeter, Last, Link, Meter, OutboxRecord, Role, TokenRecord,
};
pub use write::{
    CommandProgress, MeterCounts, NewAction, NewAlert, NewCommand, NewOutbox, NewReport, NewToken,
    Provisioned, Write, Written,
};

use std::path::{Path, PathBuf};

/// 2000-01-01 00:00:00 UTC, where the meters' time begins, as Unix time in seconds.
pub const METERS_EPOCH_S: i64 = 946_684_800;
/// A meter that was not heard for so many of its intervals is silent.
pub const SILENT_AFTER_INTERVALS: i64 = 3;
/// Rows of a page of readings at most.
pub const MOST_ROWS: usize = 10_000;
/// Figures in a table of consumption at most: meters times intervals.
pub const MOST_FIGURES: usize = 250_000;
/// Messages that wait to be forwarded at most, of one name.
pub const MOST_OUTBOX_OF_A_METER: usize = 8;
/// Messages that wait to be forwarded at most.
pub const MOST_OUTBOX: usize = 100_000;

/// How a store behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whose midnights begin the days, and whose hours are the hours. Another than the database had: hours and days are made anew
    /// of its quarter-hours when it is opened.
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
}

impl Store {
    /// Opens a database, or makes one. An older schema is brought up to date, after a copy of the file beside it.
    ///
    /// # Errors
    /// [`StoreError`]: not a database of this program, a later version's, damaged, in use by another service, no access. Then nothing of
    /// it was changed.
    pub fn open(path: &Path, options: &Options) -> Result<Store, StoreError> {
        let _ = options;
        Ok(Store { path: path.to_owned() })
    }

    /// Does all of a batch, in order, or nothing of it. What it returns, one for each, in their order, is durable.
    ///
    /// # Errors
    /// [`StoreError::Full`] and others, where nothing was stored and nothing must be acknowledged; the same can be tried again.
    pub fn commit(&mut self, batch: Vec<Write>) -> Result<Vec<Written>, StoreError> {
        let _ = batch;
        todo!("{}", self.path.display())
    }

    /// A small step of what need not be done at once: old readings go, the write-ahead log is written back. To be called between
    /// batches, and at least once a minute; returns whether there is more to do.
    ///
    /// # Errors
    /// As [`Store::commit`]; nothing is lost by it.
    pub fn upkeep(&mut self, now_ms: i64) -> Result<bool, StoreError> {
        let _ = now_ms;
        todo!()
    }

    /// For who looks on.
    ///
    /// # Errors
    /// Where the database cannot be opened once more.
    pub fn reader(&self) -> Result<Reader, StoreError> {
        Ok(Reader {})
    }
}

/// Reads while the store writes: each call sees what was committed before it. Calls block for as long as the database takes; it is
/// cheap to clone.
#[derive(Clone)]
pub struct Reader {}

impl Reader {
    /// Opens a database to look at it alone, whether a service has it open or not: for `audit` and `export`.
    ///
    /// # Errors
    /// [`StoreError`]: not there, not one of this program's, of another version, damaged.
    pub fn open(path: &Path) -> Result<Reader, StoreError> {
        let _ = path;
        todo!()
    }

    /// All meters as a collector starts with them; also those that are revoked.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn kept_meters(&self) -> Result<Vec<KeptMeter>, StoreError> {
        todo!()
    }

    /// All meters as they are shown, by number. now_ms: says who is online.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn meters(&self, now_ms: i64) -> Result<Vec<Meter>, StoreError> {
        let _ = now_ms;
        todo!()
    }

    /// One meter as it is shown; `None` where there is none.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn meter(&self, meter: u16, now_ms: i64) -> Result<Option<Meter>, StoreError> {
        let _ = (meter, now_ms);
        todo!()
    }

    /// A page of readings, or of rollups; empty where there are none, or no such meter.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn readings(&self, query: &ReadingsQuery) -> Result<Readings, StoreError> {
        let _ = query;
        todo!()
    }

    /// Energy used by interval.
    ///
    /// # Errors
    /// [`StoreError::TooMuch`] above [`MOST_FIGURES`], and others.
    pub fn consumption(&self, query: &ConsumptionQuery) -> Result<Consumption, StoreError> {
        let _ = query;
        todo!()
    }

    /// Alerts, newest first.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn alerts(&self, filter: &AlertFilter) -> Result<Vec<AlertRecord>, StoreError> {
        let _ = filter;
        todo!()
    }

    /// One alert.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn alert(&self, id: i64) -> Result<Option<AlertRecord>, StoreError> {
        let _ = id;
        todo!()
    }

    /// A meter's commands, newest first.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn commands(&self, meter: u16, limit: usize) -> Result<Vec<CommandRecord>, StoreError> {
        let _ = (meter, limit);
        todo!()
    }

    /// One command.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn command(&self, id: i64) -> Result<Option<CommandRecord>, StoreError> {
        let _ = id;
        todo!()
    }

    /// The commands of all meters that are waiting or sent, oldest first.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn open_commands(&self) -> Result<Vec<CommandRecord>, StoreError> {
        todo!()
    }

    /// All tokens, also those that are revoked, oldest first.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError> {
        todo!()
    }

    /// What administrators did, newest first; before: only those with a lower id.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn actions(&self, limit: usize, before: Option<i64>) -> Result<Vec<Action>, StoreError> {
        let _ = (limit, before);
        todo!()
    }

    /// The messages that wait to be forwarded, oldest first.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn outbox(&self) -> Result<Vec<OutboxRecord>, StoreError> {
        todo!()
    }

    /// How the store is. It asks no disk.
    #[must_use]
    pub fn health(&self) -> Health {
        todo!()
    }
}
