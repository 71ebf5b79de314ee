//! The writers of a database: one service alone, or several that share it by partitions.

use super::schema::{self, Found};
use crate::store::sql::postgres::Connection;
use crate::store::sql::postgres::ConnectionError;
use crate::store::sql::{Session, SqlError, values};
use crate::store::{DatabaseUrl, StoreError};
use std::time::{Duration, Instant};

/// The longest wait for a writer that is ending.
const WAIT: Duration = Duration::from_secs(3);
/// "WSL1": the advisory lock of who writes; several hold it as one of many, one holds it alone.
const LOCK: i64 = 0x5753_4c31;

/// The server's process of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Backend {
    pub(super) process: i64,
    /// In a text that is the same for all who ask.
    pub(super) began: String,
}

impl Backend {
    pub(super) fn of(connection: &Connection) -> Result<Backend, SqlError> {
        let session = Session::Postgres(connection);
        let began = "SELECT extract(epoch FROM backend_start)::text FROM pg_stat_activity WHERE pid = pg_backend_pid()";
        let process = session.value("SELECT pg_backend_pid()", &[])?;
        Ok(Backend { process, began: session.value(began, &[])? })
    }

    /// Ends it, unless its process is another's by now.
    fn end(&self, session: Session<'_>) -> Result<(), SqlError> {
        let end = "SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity \
                   WHERE pid = $1 AND extract(epoch FROM backend_start)::text = $2";
        session.query(end, values![self.process, &self.began], |_| Ok(())).map(drop)
    }
}

/// Goes up when those who write change: what nobody who lost the lock without knowing finds
/// unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Generation(i64);

impl Generation {
    /// Begins, within a transaction. Of several the first after one who was alone raises it; one
    /// who is alone always does, and ends what any partition was taken under: a transaction of
    /// several looks at its partitions alone.
    pub(super) fn begin(session: Session<'_>, shared: bool) -> Result<Generation, SqlError> {
        if shared {
            let first = "UPDATE writer SET generation = generation + 1, shared = true WHERE NOT shared";
            session.execute(first, &[])?;
            return session.value("SELECT generation FROM writer", &[]).map(Generation);
        }
        session.execute("UPDATE partitions SET fence = fence + 1, holder = ''", &[])?;
        let alone = "UPDATE writer SET generation = generation + 1, shared = false RETURNING generation";
        session.value(alone, &[]).map(Generation)
    }

    /// Begins a transaction, if those who write are the same still; held until its end.
    pub(super) fn transaction(self, connection: &Connection) -> Result<(), SqlError> {
        let Generation(generation) = self;
        let found = connection
            .simple(&format!("BEGIN; SELECT id FROM writer WHERE generation = {generation} FOR SHARE"))?;
        match found.is_empty() {
            false => Ok(()),
            true => Err(SqlError::Postgres(ConnectionError::Here(
                "another service has begun to write: this one stores nothing more. Stop one of both"
                    .to_owned(),
            ))),
        }
    }
}

/// Becomes one who writes, for as long as the connection lasts. before: this writer's last
/// connection, which the server may still wait for. Returns what the database is, and whether it is
/// held as one of many.
pub(super) fn lock(
    connection: &Connection,
    place: &DatabaseUrl,
    shared: bool,
    before: Option<&Backend>,
) -> Result<(Found, bool), StoreError> {
    let asked = |error: SqlError| StoreError::asked(place, error);
    let session = Session::Postgres(connection);
    let until = Instant::now() + WAIT;
    if let Some(before) = before.filter(|_| shared) {
        // The lock does not wait for what it may be at still.
        before.end(session).map_err(asked)?;
    }
    loop {
        // Tables are made, and brought up to date, by who is alone.
        let many = shared && schema::inspect(connection, place)?.is_current();
        let which = if many { "_shared" } else { "" };
        if try_lock(session, which).map_err(asked)? {
            // Another may have made them until it let go of the lock.
            return Ok((schema::inspect(connection, place)?, many));
        }
        if let Some(before) = before {
            before.end(session).map_err(asked)?;
        }
        if Instant::now() >= until {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Err(in_use(session, place))
}

/// Becomes the only one who writes, if nobody does.
pub(super) fn try_alone(connection: &Connection, place: &DatabaseUrl) -> Result<(), StoreError> {
    let session = Session::Postgres(connection);
    match try_lock(session, "").map_err(|error| StoreError::asked(place, error))? {
        true => Ok(()),
        false => Err(in_use(session, place)),
    }
}

fn try_lock(session: Session<'_>, which: &str) -> Result<bool, SqlError> {
    let take = format!("SELECT pg_try_advisory_lock{which}($1)::text");
    Ok(session.value::<String>(&take, values![LOCK])? == "true")
}

/// That others write, and who.
fn in_use(session: Session<'_>, place: &DatabaseUrl) -> StoreError {
    let holder = "SELECT ' (process ' || pid || ' of the server, from ' || coalesce(host(client_addr), 'its own machine') || ')' \
                  FROM pg_locks JOIN pg_stat_activity USING (pid) \
                  WHERE locktype = 'advisory' AND objid::bigint = $1 AND objsubid = 1 AND granted \
                  AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1";
    match session.first(holder, values![LOCK], |row| row.get(0)) {
        Ok(by) => StoreError::InUse { place: place.clone(), by: by.unwrap_or_default() },
        Err(error) => StoreError::asked(place, error),
    }
}

/// Holds it as one of many from now on, who took it alone to bring the tables up to date.
pub(super) fn make_room(connection: &Connection) -> Result<(), ConnectionError> {
    connection
        .simple(&format!("SELECT pg_advisory_lock_shared({LOCK}); SELECT pg_advisory_unlock({LOCK})"))
        .map(drop)
}
