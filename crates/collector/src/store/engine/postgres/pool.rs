//! The connections that read.
//!
//! They block, and one is lent with a transaction begun. An asynchronous pool (deadpool-postgres,
//! bb8) needs a manager that connects as ours do, to one of several servers, and a runtime around
//! each call: it would be no shorter.

use super::writer::commit;
use super::{READ_TIMEOUT_S, schema};
use crate::store::meaning::marker::{self, Marker};
use crate::store::sql::postgres::{Connection, ConnectionError, Server};
use crate::store::sql::{Session, SqlError};
use crate::store::{DatabaseUrl, Health, StoreError};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Concurrent reads at most; others wait.
const CONNECTIONS: usize = 4;

/// A question sees what was committed before it, in all of its parts.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/// The beginning of a change, which is durable whatever the settings of server and user.
const BEGIN_CHANGE: &str = "BEGIN; SELECT set_config('synchronous_commit', 'on', true) \
                            WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')";

pub(in crate::store) struct Pool {
    place: DatabaseUrl,
    server: Arc<Server>,
    idle: Mutex<Idle>,
    freed: Condvar,
    /// As it was when it was looked at last.
    database_bytes: AtomicU64,
}

#[derive(Default)]
struct Idle {
    connections: Vec<Connection>,
    lent: usize,
}

impl Pool {
    /// Of a database that is there.
    ///
    /// # Errors
    /// [`StoreError`]: cannot be reached, not one of this program's, of another version.
    pub(in crate::store) fn open(server: &Arc<Server>) -> Result<Pool, StoreError> {
        let pool = Pool::new(server);
        let connection = pool.connect()?;
        schema::check_readable(&connection, &pool.place)?;
        pool.idle.lock().unwrap_or_else(PoisonError::into_inner).connections.push(connection);
        Ok(pool)
    }

    pub(super) fn new(server: &Arc<Server>) -> Pool {
        Pool {
            place: DatabaseUrl::Server(Arc::clone(server)),
            server: Arc::clone(server),
            idle: Mutex::default(),
            freed: Condvar::new(),
            database_bytes: AtomicU64::new(0),
        }
    }

    fn connect(&self) -> Result<Connection, StoreError> {
        let connect = || {
            let connection = Connection::connect(&self.server)?;
            connection.simple(&format!(
                "SET statement_timeout = '{READ_TIMEOUT_S}s'; SET lock_timeout = '10s'; SET jit = off"
            ))?;
            Ok(connection)
        };
        connect().map_err(|error: ConnectionError| error.of(&self.place))
    }

    pub(super) fn measured(&self, database_bytes: u64) {
        self.database_bytes.store(database_bytes, Ordering::Relaxed);
    }

    /// Adds how large the database is; its log is the whole server's.
    pub(in crate::store) fn measure(&self, health: &mut Health) {
        health.database_bytes = self.database_bytes.load(Ordering::Relaxed);
    }

    /// Asks within one transaction, so that all answers are of the same moment.
    pub(in crate::store) fn ask<T>(
        &self,
        question: impl FnOnce(Session<'_>) -> Result<T, SqlError>,
    ) -> Result<T, StoreError> {
        let asked = |error| StoreError::asked(&self.place, error);
        let commit = |connection: &Connection| Ok(connection.simple("COMMIT").map(drop)?);
        self.within(BEGIN, |session| question(session).map_err(asked), commit)
    }

    /// Changes something beside the writer, in one transaction: what is `Ok` is durable, and else
    /// nothing was changed.
    pub(in crate::store) fn change<T, E: From<StoreError>>(
        &self,
        change: impl FnOnce(Session<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let change = |session: Session<'_>| {
            self.check_not_left(session)?;
            change(session)
        };
        self.within(BEGIN_CHANGE, change, commit)
    }

    /// Nothing is changed in a database that was moved away since it was opened. A move that is at
    /// its end is waited for.
    fn check_not_left(&self, session: Session<'_>) -> Result<(), StoreError> {
        let version = session.value::<i64>("SELECT version FROM wattseal_schema FOR SHARE", &[]);
        match version.map_err(|error| StoreError::asked(&self.place, error))? {
            version if version >= marker::AWAY => Err(Marker::refusal(session, &self.place)),
            _ => Ok(()),
        }
    }

    fn within<T, E: From<StoreError>>(
        &self,
        begin: &str,
        does: impl FnOnce(Session<'_>) -> Result<T, E>,
        commit: impl FnOnce(&Connection) -> Result<(), SqlError>,
    ) -> Result<T, E> {
        let mut lent = self.lend();
        let connection = self.begun(lent.connection.take(), begin)?;
        let done = does(Session::Postgres(&connection)).and_then(|done| {
            commit(&connection).map_err(|error| StoreError::asked(&self.place, error))?;
            Ok(done)
        });
        // One that came to no good end is not lent again.
        lent.connection = done.is_ok().then_some(connection);
        done
    }

    /// A connection with a transaction. One that was idle may be gone with its server: then another
    /// is made.
    fn begun(&self, idle: Option<Connection>, begin: &str) -> Result<Connection, StoreError> {
        if let Some(connection) =
            idle.filter(|connection| !connection.is_closed() && connection.simple(begin).is_ok())
        {
            return Ok(connection);
        }
        let connection = self.connect()?;
        connection.simple(begin).map_err(|error| error.of(&self.place))?;
        Ok(connection)
    }

    fn lend(&self) -> Lent<'_> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while idle.connections.is_empty() && idle.lent >= CONNECTIONS {
            idle = self.freed.wait(idle).unwrap_or_else(PoisonError::into_inner);
        }
        idle.lent += 1;
        Lent { pool: self, connection: idle.connections.pop() }
    }
}

/// A connection that goes back to the pool when it is dropped.
struct Lent<'a> {
    pool: &'a Pool,
    connection: Option<Connection>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut idle = self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.lent -= 1;
        idle.connections.extend(self.connection.take());
        self.pool.freed.notify_one();
    }
}
