//! The database's tables, and how an older database gets them: forwards only, by the one writer, in
//! its transaction.

use crate::store::meaning::marker::{self, Marker};
use crate::store::meaning::zone;
use crate::store::sql::postgres::Connection;
use crate::store::sql::{Session, SqlError, values};
use crate::store::{DatabaseUrl, StoreError};

/// The steps from each version of the schema to the next.
const MIGRATIONS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
    include_str!("schema/6.sql"),
    include_str!("schema/7.sql"),
    include_str!("schema/8.sql"),
];
/// The version that has months: they are made of what is there.
const WITH_MONTHS: usize = 5;

/// The oldest server: PostgreSQL 15.
const OLDEST: i64 = 150_000;

/// The kind of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Without a table.
    Nothing,
    /// This program's, with this version of the schema.
    Ours(usize),
}

/// The kind of a database, or the reason why it is not to be used.
pub(super) enum Looked {
    Found(Found),
    Marked(Marker),
}

impl Found {
    /// Its tables are up to date.
    pub(super) fn is_current(self) -> bool {
        self == Found::Ours(MIGRATIONS.len())
    }
}

/// Looks at a server and its database; changes nothing.
///
/// # Errors
/// [`StoreError`]; also where it is marked as moved, or as not whole.
pub(super) fn inspect(connection: &Connection, place: &DatabaseUrl) -> Result<Found, StoreError> {
    match check_marker(connection, place)? {
        Looked::Found(found) => Ok(found),
        Looked::Marked(_) => Err(Marker::refusal(Session::Postgres(connection), place)),
    }
}

/// The same; one that is marked is found, too.
pub(super) fn check_marker(connection: &Connection, place: &DatabaseUrl) -> Result<Looked, StoreError> {
    let asked = |error: SqlError| StoreError::asked(place, error);
    let session = Session::Postgres(connection);
    let unsuited = |what: String| Err(StoreError::Unsuited { place: place.clone(), what });
    let setting =
        |name: &str| session.value::<String>("SELECT current_setting($1)", values![name]).map_err(asked);
    let version: i64 = setting("server_version_num")?.parse().unwrap_or(0);
    if version < OLDEST {
        return unsuited(format!(
            "the server is PostgreSQL {}, and it takes 15 or later: bring it up to date with pg_upgrade",
            setting("server_version")?
        ));
    }
    let encoding = setting("server_encoding")?;
    if encoding != "UTF8" {
        return unsuited(format!(
            "the database has the encoding {encoding}, in which not every meter's label can be kept: make one with \
             createdb --encoding UTF8 --template template0"
        ));
    }
    let tables = "SELECT relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm') \
                  ORDER BY relname <> 'wattseal_schema', relname LIMIT 1";
    let first: Option<String> = session.first(tables, &[], |row| row.get(0)).map_err(asked)?;
    match first.as_deref() {
        None => Ok(Looked::Found(Found::Nothing)),
        Some("wattseal_schema") => {
            let version: i64 = session.value("SELECT version FROM wattseal_schema", &[]).map_err(asked)?;
            let known = MIGRATIONS.len();
            if version >= marker::AWAY {
                let mark = Marker::read(session).map_err(asked)?;
                return mark.map(Looked::Marked).ok_or_else(|| Marker::refusal(session, place));
            }
            match usize::try_from(version) {
                Ok(version) if (1..=known).contains(&version) => Ok(Looked::Found(Found::Ours(version))),
                Ok(version) if version > known => Err(StoreError::Newer {
                    place: place.clone(),
                    found: version as i64,
                    known: known as i64,
                }),
                _ => unsuited(format!(
                    "its schema has version {version}, which there never was: restore a copy"
                )),
            }
        }
        Some(other) => Err(StoreError::NotOurs {
            place: place.clone(),
            what: format!("a database with other tables, such as {other}"),
        }),
    }
}

/// Looks at a database that is only to be read.
pub(super) fn check_readable(connection: &Connection, place: &DatabaseUrl) -> Result<(), StoreError> {
    let known = MIGRATIONS.len();
    match inspect(connection, place)? {
        Found::Ours(version) if version == known => Ok(()),
        Found::Ours(version) => {
            Err(StoreError::Older { place: place.clone(), found: version as i64, known: known as i64 })
        }
        Found::Nothing => Err(StoreError::Empty { place: place.clone() }),
    }
}

/// Says that a database is not to be used, or, with `None`, lets it be used, within a transaction.
pub(super) fn mark(connection: &Connection, mark: Option<&Marker>) -> Result<(), SqlError> {
    let (session, known) = (Session::Postgres(connection), MIGRATIONS.len() as i64);
    let version = match mark {
        Some(mark) => {
            mark.write(session)?;
            known + marker::AWAY
        }
        None => {
            Marker::erase(session)?;
            known
        }
    };
    session.execute("UPDATE wattseal_schema SET version = $1", values![version]).map(drop)
}

/// Brings a database up to date, within a transaction.
pub(super) fn migrate(connection: &Connection, found: Found) -> Result<(), SqlError> {
    let from = match found {
        Found::Nothing => 0,
        Found::Ours(version) => version,
    };
    for sql in MIGRATIONS.iter().skip(from) {
        connection.simple(sql)?;
    }
    if from < WITH_MONTHS {
        zone::make_months(Session::Postgres(connection))?;
    }
    if from < MIGRATIONS.len() {
        let version = MIGRATIONS.len() as i64;
        Session::Postgres(connection).execute("UPDATE wattseal_schema SET version = $1", values![version])?;
        tracing::info!(from, to = version, "the database's tables are made");
    }
    Ok(())
}
