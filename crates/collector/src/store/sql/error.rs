//! Errors of a database, each with its remedy.

use super::{DatabaseUrl, SqlError};
use crate::fence::LeaseNumber;
use rusqlite::ErrorCode;
use std::path::{Path, PathBuf};

/// Why a store could not be opened, written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The disk is full, or the database as large as it may be.
    #[error(
        "there is no room for more in {place}: free some on its disk; what was not stored is not acknowledged, and comes again"
    )]
    Full { place: DatabaseUrl },
    /// Another process has it.
    #[error("{place} is in use by another service{by}: stop that one, or give this one another --db")]
    InUse {
        place: DatabaseUrl,
        /// The holder, if it is known: ` (process 123)`.
        by: String,
    },
    /// Other workers have taken partitions since that were to be written.
    #[error(
        "{place}: partition {} was taken under a later lease: nothing is stored under the one before",
        in_words(leases)
    )]
    Fenced { place: DatabaseUrl, leases: Vec<LeaseNumber> },
    /// A name does not stand any more for the file that is open.
    #[error("{path} {what}")]
    NotInPlace {
        path: PathBuf,
        /// The contents, with the remedy.
        what: &'static str,
    },
    /// Not a database of this program.
    #[error(
        "{place} is {what}, not a database of WattSeal; nothing in it was changed. Give another --db, or {}",
        place.or_else()
    )]
    NotOurs { place: DatabaseUrl, what: String },
    /// A later version's.
    #[error(
        "{place} was written by a later version of WattSeal (its schema is {found}, this version knows {known}); nothing in it was \
         changed. Use that version, or restore a copy that was made before it"
    )]
    Newer {
        place: DatabaseUrl,
        /// Its schema.
        found: i64,
        /// The latest that is known.
        known: i64,
    },
    /// An older version's, which is only to be looked at.
    #[error(
        "{place} has schema {found}, this version reads {known}: start `wattseal collect` with it once, which brings it up to date"
    )]
    Older {
        place: DatabaseUrl,
        /// Its schema.
        found: i64,
        known: i64,
    },
    /// A server's database in which nothing was ever stored.
    #[error(
        "{place}: nothing was ever stored in it; give the --db that `wattseal collect` has, or start that with this one"
    )]
    Empty { place: DatabaseUrl },
    /// Its data are elsewhere.
    #[error(
        "{place} was moved to {to}: nothing is stored here any more, so that nothing is in two places. Start the service with --db \
         {to}; `./wattseal migrate` brings the data back"
    )]
    Moved { place: DatabaseUrl, to: String },
    /// A move into it is not over.
    #[error(
        "{place} is not whole: a move from {from} into it was begun, and is not over. Give the same `./wattseal migrate` again, which goes \
         on; until then the data are in {from}"
    )]
    Arriving { place: DatabaseUrl, from: String },
    /// Something is in it where nothing may be.
    #[error(
        "{place} has {what} already, and nothing was changed: move into a database that has nothing ({})",
        place.or_else()
    )]
    Occupied { place: DatabaseUrl, what: String },
    /// The two sides differ after a migration.
    #[error(
        "{place}: {what}. Nothing was changed in the database that was to be moved from, which is to be used as before; move into \
         an empty database, and tell the authors"
    )]
    Different { place: DatabaseUrl, what: String },
    /// A server, or a database, that does not do.
    #[error("{place}: {what}")]
    Unsuited {
        place: DatabaseUrl,
        /// The missing part, with the remedy.
        what: String,
    },
    /// It is damaged.
    #[error(
        "{path} is damaged: {what}. Nothing in it was changed. Restore a copy; or keep this one, and save what it holds with \
         `sqlite3 {path} .recover`"
    )]
    Damaged { path: PathBuf, what: String },
    /// It cannot be reached.
    #[error("{place}: {what}")]
    Unreachable { place: DatabaseUrl, what: String },
    /// A copy of it is no file.
    #[error(
        "{place} is not a file: copy it with pg_dump, or the whole server with pg_basebackup (docs/how-to/collector/postgresql.md, \"PostgreSQL\"), and the \
         folder of keys with cp -a, in this order"
    )]
    NotAFile { place: DatabaseUrl },
    /// A time zone without a name.
    #[error("a time zone needs a name like Europe/Prague that this system knows: {0}")]
    Zone(String),
    /// More was asked for than is given at once.
    #[error(
        "{figures} figures were asked for, {most} are given at once: ask for a shorter time, a coarser resolution, or one meter"
    )]
    TooMuch {
        /// The number of figures that were asked for.
        figures: usize,
        /// The largest number.
        most: usize,
    },
    /// The file beside the keys, which has to be written first, cannot be written.
    #[error("{0}")]
    Keys(String),
    /// Any other error of the database.
    #[error("{place}: {what}")]
    Database { place: DatabaseUrl, what: String },
}

fn in_words(leases: &[LeaseNumber]) -> String {
    leases.iter().map(|lease| lease.partition.to_string()).collect::<Vec<_>>().join(", ")
}

impl StoreError {
    /// A name that stands for nothing.
    pub(in crate::store) fn missing(path: &Path) -> StoreError {
        let what = "was removed or moved away while the service has it open. Nothing is acknowledged until all that was stored is \
                    written back there; do not stop the service before";
        StoreError::NotInPlace { path: path.to_owned(), what }
    }

    /// A name that stands for another file.
    pub(in crate::store) fn in_the_way(path: &Path) -> StoreError {
        let what = "is another file than the one that the service has open. Nothing is acknowledged until that one is moved away; then \
                    all that was stored is written back there. Do not stop the service before";
        StoreError::NotInPlace { path: path.to_owned(), what }
    }

    /// Makes the error of what SQLite says of a database.
    pub(in crate::store) fn of(path: &Path, error: &rusqlite::Error) -> StoreError {
        let (place, what) = (DatabaseUrl::from(path), error.to_string());
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::Full { place },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                StoreError::Damaged { path: path.to_owned(), what }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                StoreError::InUse { place, by: String::new() }
            }
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
                StoreError::Unreachable { place, what }
            }
            _ => StoreError::Database { place, what },
        }
    }

    /// Makes the error of a question that has no answer.
    pub(crate) fn asked(place: &DatabaseUrl, error: SqlError) -> StoreError {
        match (place, error) {
            (DatabaseUrl::File(path), SqlError::Sqlite(error)) => StoreError::of(path, &error),
            (_, SqlError::Sqlite(error)) => {
                StoreError::Database { place: place.clone(), what: error.to_string() }
            }
            (_, SqlError::Postgres(error)) => error.of(place),
            (_, SqlError::Stored(what)) => StoreError::Database { place: place.clone(), what },
        }
    }

    /// Makes the error of what the system says of a file.
    pub(in crate::store) fn file(path: &Path, error: &std::io::Error) -> StoreError {
        match error.kind() {
            std::io::ErrorKind::StorageFull => StoreError::Full { place: path.into() },
            _ => StoreError::Unreachable { place: path.into(), what: error.to_string() },
        }
    }
}
