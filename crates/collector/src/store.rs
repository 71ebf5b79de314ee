//! The database: readings, alerts, commands, and the state of meters. One [`Store`] writes, any
//! number of [`Reader`]s read.
//!
//! These two types are the whole seam: SQLite and PostgreSQL stand behind them, and nothing of
//! either is in their signatures. Four layers stand below them, each of which knows those before
//! it: `sql` has the connections and the common language, `model` the rows and their codes,
//! `meaning` what they mean in both databases, `engine` the databases. A write that
//! [`Store::commit`] returned `Ok` for is durable. Times are Unix times, as the names say in
//! seconds or milliseconds.

mod engine;
mod meaning;
mod model;
mod reader;
pub mod relocation;
mod sql;

pub use model::query::{
    AlertFilter, Consumption, ConsumptionOf, ConsumptionQuery, Cursor, Interval, MeterFilter, NoCursor,
    Readings, ReadingsQuery, Resolution, Rows,
};
pub use model::record::{
    Action, AlertRecord, CommandRecord, CommitTimes, Health, ImageRecord, KeptMeter, Last, Link, Meter,
    OutboxRecord, RecordedCommand, Role, TokenRecord, UpdateRecord,
};
pub use model::telegram::{
    MbusMeterRecord, NewTelegram, StoredTelegram, TelegramContents, TelegramQuery, TelegramRecord,
};
pub use model::write::{
    CommandProgress, ImageAdded, MeterCounts, NewAction, NewAlert, NewCommand, NewImage, NewOutbox,
    NewReport, NewToken, NewUpdate, Provisioned, UpdateProgress, Write, Written,
};
pub use reader::Reader;
pub use sql::{DatabaseUrl, StoreError};

pub(crate) use engine::postgres::is_held;
pub(crate) use meaning::batch::flags_of;
pub(crate) use meaning::read::{Stored, kept_from_s, stored};
pub(crate) use meaning::register::Register;
pub(crate) use model::meter_range::{METERS_OF_A_PAGE, MeterRange, keys_of};
pub(crate) use model::record::{StoredMeter, has_administrator};
pub(crate) use sql::{Row, Session, SqlError, Value, values};

use crate::fence::LeaseNumber;
use crate::partition::{Partition, Slices};
use engine::{postgres, sqlite};

/// 2000-01-01 00:00:00 UTC, where the meters' time begins, as Unix time in seconds.
pub const METERS_EPOCH_S: i64 = 946_684_800;
/// The number of its intervals after which an unheard meter is silent.
pub const SILENT_AFTER_INTERVALS: i64 = 3;
/// Rows of a page of readings at most.
pub const ROWS_MAX: usize = 10_000;
/// Figures in a table of consumption at most: meters times intervals.
pub const FIGURES_MAX: usize = 250_000;
/// Messages that wait to be forwarded at most, of one name.
pub const METER_OUTBOX_MAX: usize = 32;
/// Messages that wait to be forwarded at most.
pub const OUTBOX_MAX: usize = 100_000;

/// Images of firmware at most: they are read whole where a database is moved.
pub const IMAGES_MAX: usize = 64;

#[derive(Clone, Debug)]
pub struct Options {
    /// The zone of hours, days and months; one with a name. If the database had another, opening it
    /// makes hours and days anew of its quarter-hours.
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

/// Several services that write one database, each the meters of the partitions that it has taken.
#[derive(Clone, Debug)]
pub struct Sharing {
    /// The worker's name.
    pub worker: String,
    /// The same for all.
    pub slices: Slices,
}

/// The writer of a database: one alone, or one for each meter of a shared database.
pub struct Store {
    engine: Engine,
}

enum Engine {
    Sqlite(Box<sqlite::Store>),
    Postgres(Box<postgres::Store>),
}

impl Store {
    /// Opens a database, or makes one; of a server the database has to be there, empty. An older
    /// schema is brought up to date, of a file after a copy of it beside it.
    ///
    /// # Errors
    /// [`StoreError`]: not a database of this program, a later version's, damaged, in use by
    /// another service, no access. Then nothing of it was changed.
    pub fn open(place: impl Into<DatabaseUrl>, options: &Options) -> Result<Store, StoreError> {
        Store::open_with(place.into(), options, None)
    }

    /// The same as one of several that write it, where it is a server's; a file has one writer all
    /// the same. Nothing is known of meters before [`Store::take`].
    ///
    /// # Errors
    /// As [`Store::open`]; [`StoreError::InUse`] where one writes it alone, or has yet to bring its
    /// tables up to date.
    pub fn open_shared(
        place: impl Into<DatabaseUrl>,
        options: &Options,
        sharing: Sharing,
    ) -> Result<Store, StoreError> {
        Store::open_with(place.into(), options, Some(sharing))
    }

    fn open_with(
        place: DatabaseUrl,
        options: &Options,
        sharing: Option<Sharing>,
    ) -> Result<Store, StoreError> {
        Ok(Store {
            engine: match place {
                DatabaseUrl::File(path) => Engine::Sqlite(Box::new(sqlite::Store::open(&path, options)?)),
                DatabaseUrl::Server(server) => {
                    Engine::Postgres(Box::new(postgres::Store::open(&server, options, sharing)?))
                }
            },
        })
    }

    /// Takes a partition under a lease: nobody stores anything under one before any more, and its
    /// meters are known as they are stored.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] with the later lease under which it was taken; others, where it can
    /// be tried again.
    pub fn take(&mut self, lease: LeaseNumber) -> Result<(), StoreError> {
        match &mut self.engine {
            Engine::Sqlite(_) => Ok(()),
            Engine::Postgres(store) => store.take(lease),
        }
    }

    /// A partition's meters are another's to write.
    pub fn leave(&mut self, partition: Partition) {
        match &mut self.engine {
            Engine::Sqlite(_) => {}
            Engine::Postgres(store) => store.leave(partition),
        }
    }

    /// Does all of a batch, in order, or nothing of it. The returned results, one for each in their
    /// order, are durable.
    ///
    /// # Errors
    /// [`StoreError::Full`] and others, where nothing was stored and nothing must be acknowledged;
    /// the same can be tried again.
    pub fn commit(&mut self, batch: Vec<Write>) -> Result<Vec<Written>, StoreError> {
        self.commit_under(&batch, &[])
    }

    /// The same under the leases of all partitions whose meters are written, where several write.
    ///
    /// # Errors
    /// As [`Store::commit`]; [`StoreError::Fenced`] where some of the partitions were taken by
    /// others since: the same without what is of these can be tried again.
    pub fn commit_under(
        &mut self,
        batch: &[Write],
        leases: &[LeaseNumber],
    ) -> Result<Vec<Written>, StoreError> {
        match &mut self.engine {
            Engine::Sqlite(store) => store.commit(batch),
            Engine::Postgres(store) => store.commit(batch, leases),
        }
    }

    /// Looks whether the database is where it belongs: its files in their place, where they are put
    /// back if that can be; its server there, with which it is connected again. To be called when
    /// there was no batch for some seconds.
    ///
    /// # Errors
    /// [`StoreError::NotInPlace`] and others: nothing can be stored.
    pub fn check(&mut self) -> Result<(), StoreError> {
        match &mut self.engine {
            Engine::Sqlite(store) => store.check(),
            Engine::Postgres(store) => store.check(),
        }
    }

    /// A small step of what need not be done at once: old readings go. To be called between
    /// batches, and at least once a minute; returns whether there is more to do.
    ///
    /// # Errors
    /// As [`Store::commit`]; nothing is lost by it.
    pub fn upkeep(&mut self, now_ms: i64) -> Result<bool, StoreError> {
        match &mut self.engine {
            Engine::Sqlite(store) => store.upkeep(now_ms),
            Engine::Postgres(store) => store.upkeep(now_ms),
        }
    }

    /// Compares some readings with the sums that were stored when they came, and goes on with
    /// others the next time: 100 kB are read. To be called each second. Returns what is not as it
    /// was stored, once.
    pub fn compare(&mut self) -> Option<String> {
        match &mut self.engine {
            Engine::Sqlite(store) => store.compare(),
            Engine::Postgres(store) => store.compare(),
        }
    }

    #[must_use]
    pub fn reader(&self) -> Reader {
        Reader::of(match &self.engine {
            Engine::Sqlite(store) => store.access(),
            Engine::Postgres(store) => store.access(),
        })
    }
}
