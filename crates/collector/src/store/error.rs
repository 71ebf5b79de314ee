//! What goes wrong with a database, and what to do then.

use rusqlite::ErrorCode;
use std::path::{Path, PathBuf};

/// Why a store could not be opened, written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The disk is full, or the database as large as it may be.
    #[error(
        "there is no room for more in {path}: free some on its disk; what was not stored is not acknowledged, and comes again"
    )]
    Full { path: PathBuf },
    /// Another process has it.
    #[error("{path} is in use by another service{by}: stop that one, or give this one another --db")]
    InUse {
        path: PathBuf,
        /// Who, where that is known: ` (process 123)`.
        by: String,
    },
    /// A name does not stand any more for the file that is open.
    #[error("{path} {what}")]
    NotInPlace {
        path: PathBuf,
        /// What there is, and what to do.
        what: &'static str,
    },
    /// Not a database of this program.
    #[error(
        "{path} is {what}, not a database of WattSeal; nothing in it was changed. Give another --db, or move this file away"
    )]
    NotOurs { path: PathBuf, what: String },
    /// A later version's.
    #[error(
        "{path} was written by a later version of WattSeal (its schema is {found}, this version knows {known}); nothing in it was \
         changed. Use that version, or restore a copy that was made before it"
    )]
    Newer {
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The latest that is known.
        known: i64,
    },
    /// An older version's, which is only to be looked at.
    #[error(
        "{path} has schema {found}, this version reads {known}: start `./wattseal collect` with it once, which brings it up to date"
    )]
    Older {
        path: PathBuf,
        /// Its schema.
        found: i64,
        known: i64,
    },
    /// It is damaged.
    #[error(
        "{path} is damaged: {what}. Nothing in it was changed. Restore a copy; or keep this one, and save what it holds with \
         `sqlite3 {path} .recover`"
    )]
    Damaged { path: PathBuf, what: String },
    /// It cannot be reached.
    #[error("{path}: {what}")]
    Unreachable { path: PathBuf, what: String },
    /// A time zone without a name.
    #[error("a time zone needs a name like Europe/Prague that this system knows: {0}")]
    Zone(String),
    /// More was asked for than is given at once.
    #[error(
        "{figures} figures were asked for, {most} are given at once: ask for a shorter time, a coarser resolution, or one meter"
    )]
    TooMuch {
        /// How many it would be.
        figures: usize,
        /// How many it may be.
        most: usize,
    },
    /// What has to be written beside the keys before it is stored, cannot be.
    #[error("{0}")]
    Keys(String),
    /// What the database said, otherwise.
    #[error("{path}: {what}")]
    Database { path: PathBuf, what: String },
}

impl StoreError {
    /// A name that stands for nothing.
    pub(super) fn missing(path: &Path) -> StoreError {
        let what = "was removed or moved away while the service has it open. Nothing is acknowledged until all that was stored is \
                    written back there; do not stop the service before";
        StoreError::NotInPlace { path: path.to_owned(), what }
    }

    /// A name that stands for another file.
    pub(super) fn in_the_way(path: &Path) -> StoreError {
        let what = "is another file than the one that the service has open. Nothing is acknowledged until that one is moved away; then \
                    all that was stored is written back there. Do not stop the service before";
        StoreError::NotInPlace { path: path.to_owned(), what }
    }

    /// Makes the error of what SQLite says of a database.
    pub(super) fn of(path: &Path, error: &rusqlite::Error) -> StoreError {
        let (path, what) = (path.to_owned(), error.to_string());
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::Full { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Damaged { path, what },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                StoreError::InUse { path, by: String::new() }
            }
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
                StoreError::Unreachable { path, what }
            }
            _ => StoreError::Database { path, what },
        }
    }

    /// Makes the error of what the system says of a file.
    pub(super) fn file(path: &Path, error: &std::io::Error) -> StoreError {
        match error.kind() {
            std::io::ErrorKind::StorageFull => StoreError::Full { path: path.to_owned() },
            _ => StoreError::Unreachable { path: path.to_owned(), what: error.to_string() },
        }
    }
}
