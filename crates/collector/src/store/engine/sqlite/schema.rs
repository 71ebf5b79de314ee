//! The database's tables, and how an older database gets them.

use super::files::{beside, free_beside, make_private, put_in_place, remove};
use crate::store::StoreError;
use crate::store::meaning::by_time;
use crate::store::meaning::marker::{self, Marker};
use crate::store::meaning::zone;
use crate::store::sql::{Session, SqlError};
use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// "WSL1": that a database is this program's.
pub(super) const APPLICATION_ID: i32 = 0x5753_4c31;
/// The time for which a database is checked when it is opened; later damage is found when it is
/// read.
const CHECK_FOR: Duration = Duration::from_secs(2);

/// The steps from each version of the schema to the next.
pub(super) const MIGRATIONS: &[Migration] = &[
    Migration { sql: include_str!("schema/1.sql"), fill: |_| Ok(()) },
    Migration { sql: include_str!("schema/2.sql"), fill: |connection| by_time::rebuild(connection.into()) },
    Migration { sql: include_str!("schema/3.sql"), fill: |_| Ok(()) },
    Migration { sql: include_str!("schema/4.sql"), fill: |_| Ok(()) },
    Migration { sql: include_str!("schema/5.sql"), fill: |connection| zone::make_months(connection.into()) },
    Migration { sql: include_str!("schema/6.sql"), fill: |_| Ok(()) },
    Migration { sql: include_str!("schema/7.sql"), fill: |_| Ok(()) },
    Migration { sql: include_str!("schema/8.sql"), fill: |_| Ok(()) },
];

/// A step from a version to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Migration {
    /// The tables that are new.
    sql: &'static str,
    /// Fills them from the existing tables.
    fill: fn(&Connection) -> Result<(), SqlError>,
}

/// The kind of a file, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    /// A file without a byte in it, and no log of it: as good as nothing to who writes.
    Empty,
    /// A database of this program.
    Ours,
}

/// Looks at a file without SQLite, which would take up what another program left unfinished in it.
///
/// # Errors
/// [`StoreError::NotOurs`], [`StoreError::Damaged`], [`StoreError::Unreachable`].
pub(super) fn inspect(path: &Path) -> Result<Found, StoreError> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(StoreError::file(path, &error)),
    };
    let mut header = Vec::new();
    file.by_ref().take(100).read_to_end(&mut header).map_err(|error| StoreError::file(path, &error))?;
    let not_ours = |what: String| Err(StoreError::NotOurs { place: path.into(), what });
    if header.is_empty() {
        if fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > 0) {
            let what = "it is empty, and its log beside it is not: it was cut off".to_owned();
            return Err(StoreError::Damaged { path: path.to_owned(), what });
        }
        return Ok(Found::Empty);
    }
    if !header.starts_with(b"SQLite format 3\0") {
        return not_ours("no SQLite database, or one whose beginning was overwritten".to_owned());
    }
    // https://sqlite.org/fileformat2.html, section 1.3: the application's number is at 68.
    match header.get(68..72).map(|id| i32::from_be_bytes([id[0], id[1], id[2], id[3]])) {
        None => Err(StoreError::Damaged { path: path.to_owned(), what: "its header is cut off".to_owned() }),
        Some(APPLICATION_ID) => Ok(Found::Ours),
        Some(id) => not_ours(format!("a database of another program (application id {id:#010x})")),
    }
}

/// The version of a database's schema, after a look through it that changes nothing.
///
/// # Errors
/// [`StoreError::Newer`], [`StoreError::Damaged`] and others.
pub(super) fn check(path: &Path, known: usize) -> Result<usize, StoreError> {
    let of = |error: &rusqlite::Error| StoreError::of(path, error);
    let (mut connection, version) = with_version(path)?;
    let known = known as i64;
    if version >= marker::AWAY {
        return Err(Marker::refusal(Session::Sqlite(&connection), &path.into()));
    }
    if version > known {
        return Err(StoreError::Newer { place: path.into(), found: version, known });
    }
    let damaged = |what: String| StoreError::Damaged { path: path.to_owned(), what };
    if version < 1 {
        return Err(damaged(format!("its schema has version {version}, which there never was")));
    }
    let until = Instant::now() + CHECK_FOR;
    connection.progress_handler(10_000, Some(move || Instant::now() > until)).map_err(|error| of(&error))?;
    let found: Result<String, _> = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0));
    match found {
        Ok(found) if found == "ok" => {}
        Ok(found) => return Err(damaged(found)),
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) => {}
        Err(error) => return Err(of(&error)),
    }
    Ok(usize::try_from(version).unwrap_or(0))
}

/// Why a database is not to be used, if it says so.
pub(super) fn mark_of(path: &Path) -> Result<Option<Marker>, StoreError> {
    let (connection, version) = with_version(path)?;
    if version < marker::AWAY {
        return Ok(None);
    }
    Marker::read(Session::Sqlite(&connection)).map_err(|error| StoreError::asked(&path.into(), error))
}

/// Opens a database of any version to read.
fn with_version(path: &Path) -> Result<(Connection, i64), StoreError> {
    let open = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        let version = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        Ok((connection, version))
    };
    open().map_err(|error: rusqlite::Error| StoreError::of(path, &error))
}

/// Makes a database: beside its place, and then moves it there whole.
///
/// # Errors
/// [`StoreError::Full`], [`StoreError::Unreachable`] and others.
pub(super) fn create(path: &Path, migrations: &[Migration]) -> Result<(), StoreError> {
    let new = beside(path, ".new");
    let of = |error: &rusqlite::Error| StoreError::of(path, error);
    remove(&beside(&new, "-journal"))?;
    leave_log(path)?;
    make_private(&new)?;
    {
        let mut connection = Connection::open(&new).map_err(|error| of(&error))?;
        // It is made durable as a whole.
        connection.pragma_update(None, "synchronous", "OFF").map_err(|error| of(&error))?;
        connection.pragma_update(None, "application_id", APPLICATION_ID).map_err(|error| of(&error))?;
        apply(&mut connection, 0, migrations).map_err(|error| StoreError::asked(&path.into(), error))?;
        // Written into the header while no log is there yet.
        connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).map_err(|error| of(&error))?;
        connection.close().map_err(|(_, error)| of(&error))?;
    }
    put_in_place(&new, path)
}

/// The log of a database that is not there any more would be taken for the new one's. It may be all
/// that is left of that one: it is kept under another name.
fn leave_log(path: &Path) -> Result<(), StoreError> {
    let log = beside(path, "-wal");
    if fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
        let left = free_beside(path, "-wal.left");
        fs::rename(&log, &left).map_err(|error| StoreError::file(&log, &error))?;
        tracing::warn!(log = %left.display(), "a log without its database was there: kept under this name");
    }
    remove(&log)?;
    remove(&beside(path, "-shm"))
}

/// Brings a database from an older version up to date, after a copy of it. Returns where that is.
///
/// # Errors
/// [`StoreError`]; then the database is as it was.
pub(super) fn migrate(path: &Path, from: usize, migrations: &[Migration]) -> Result<PathBuf, StoreError> {
    let of = |error: &rusqlite::Error| StoreError::of(path, error);
    let mut connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(|error| of(&error))?;
    let copy = free_beside(path, &format!(".before-{}", from + 1));
    let part = beside(&copy, ".part");
    copy_whole(&connection, &part)?;
    put_in_place(&part, &copy)?;
    apply(&mut connection, from, migrations).map_err(|error| StoreError::asked(&path.into(), error))?;
    Ok(copy)
}

/// Copies a database that is open, page by page, with what is in its log. The copy is not durable
/// yet.
///
/// # Errors
/// [`StoreError::Full`] and others; then there is no copy.
pub(super) fn copy_whole(connection: &Connection, part: &Path) -> Result<(), StoreError> {
    let of = |error: rusqlite::Error| StoreError::of(part, &error);
    let copy = || {
        make_private(part)?;
        let mut to = Connection::open(part).map_err(of)?;
        to.pragma_update(None, "synchronous", "OFF").map_err(of)?;
        let backup = Backup::new(connection, &mut to).map_err(of)?;
        backup.run_to_completion(1000, Duration::ZERO, None).map_err(of)
    };
    copy().inspect_err(|_| drop(remove(part)))
}

/// All in one transaction.
fn apply(connection: &mut Connection, from: usize, migrations: &[Migration]) -> Result<(), SqlError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    for migration in migrations.iter().skip(from) {
        transaction.execute_batch(migration.sql)?;
        (migration.fill)(&transaction)?;
    }
    transaction.pragma_update(None, "user_version", migrations.len() as i64)?;
    Ok(transaction.commit()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(path: &Path) -> i64 {
        let connection = Connection::open(path).expect("a database");
        connection.query_row("PRAGMA user_version", [], |row| row.get(0)).expect("a version")
    }

    #[test]
    fn an_older_database_is_copied_and_brought_up_to_date() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("wattseal.db");
        create(&path, MIGRATIONS).expect("made");
        assert_eq!(inspect(&path).expect("ours"), Found::Ours);
        let latest = MIGRATIONS.len();
        let step = |sql| Migration { sql, fill: |_| Ok(()) };
        let next = [MIGRATIONS, &[step("ALTER TABLE meters ADD COLUMN place TEXT")]].concat();
        let broken = [MIGRATIONS, &[step("CREATE TABLE new (x ANY) STRICT"), step("no SQL")]].concat();
        assert_eq!(check(&path, next.len()).expect("whole"), latest);
        assert!(migrate(&path, latest, &broken).is_err());
        assert_eq!(version(&path), latest as i64);
        let copy = migrate(&path, latest, &next).expect("migrated");
        assert_eq!((version(&path), version(&copy)), (latest as i64 + 1, latest as i64));
        assert_eq!(copy, folder.path().join(format!("wattseal.db.before-{}-2", latest + 1)));
        assert!(matches!(check(&path, latest), Err(StoreError::Newer { .. })));
    }
}
