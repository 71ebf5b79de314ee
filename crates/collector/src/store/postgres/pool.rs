//! The connections that read.

use super::link::Link;
use super::server::Server;
use super::{READ_TIMEOUT_S, schema};
use crate::store::sql::{Session, SqlError};
use crate::store::{Health, Place, StoreError};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// So many read at once; others wait.
const CONNECTIONS: usize = 4;

/// A question sees what was committed before it, in all of its parts.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

pub(in crate::store) struct Pool {
    place: Place,
    server: Arc<Server>,
    idle: Mutex<Idle>,
    freed: Condvar,
    /// As it was when it was looked at last.
    database_bytes: AtomicU64,
}

#[derive(Default)]
struct Idle {
    links: Vec<Link>,
    lent: usize,
}

impl Pool {
    /// Of a database that is there.
    ///
    /// # Errors
    /// [`StoreError`]: cannot be reached, not one of this program's, of another version.
    pub(in crate::store) fn open(server: &Arc<Server>) -> Result<Pool, StoreError> {
        let pool = Pool::new(server);
        let link = pool.connect()?;
        schema::check_readable(&link, &pool.place)?;
        pool.idle.lock().unwrap_or_else(PoisonError::into_inner).links.push(link);
        Ok(pool)
    }

    pub(super) fn new(server: &Arc<Server>) -> Pool {
        Pool {
            place: Place::Server(Arc::clone(server)),
            server: Arc::clone(server),
            idle: Mutex::default(),
            freed: Condvar::new(),
            database_bytes: AtomicU64::new(0),
        }
    }

    fn connect(&self) -> Result<Link, StoreError> {
        let connect = || {
            let link = Link::connect(&self.server)?;
            link.simple(&format!(
                "SET statement_timeout = '{READ_TIMEOUT_S}s'; SET lock_timeout = '10s'; SET jit = off"
            ))?;
            Ok(link)
        };
        connect().map_err(|error: super::LinkError| error.of(&self.place))
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
        let mut lent = self.lend();
        let link = self.begun(lent.link.take())?;
        let answer = question(Session::Postgres(&link)).and_then(|answer| {
            link.simple("COMMIT")?;
            Ok(answer)
        });
        // One that came to no good end is not lent again.
        lent.link = answer.is_ok().then_some(link);
        answer.map_err(|error| StoreError::asked(&self.place, error))
    }

    /// A connection with a transaction. One that was idle may be gone with its server: then another is made.
    fn begun(&self, idle: Option<Link>) -> Result<Link, StoreError> {
        if let Some(link) = idle.filter(|link| !link.is_closed() && link.simple(BEGIN).is_ok()) {
            return Ok(link);
        }
        let link = self.connect()?;
        link.simple(BEGIN).map_err(|error| error.of(&self.place))?;
        Ok(link)
    }

    fn lend(&self) -> Lent<'_> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while idle.links.is_empty() && idle.lent >= CONNECTIONS {
            idle = self.freed.wait(idle).unwrap_or_else(PoisonError::into_inner);
        }
        idle.lent += 1;
        Lent { pool: self, link: idle.links.pop() }
    }
}

/// A connection that goes back to the pool when it is dropped.
struct Lent<'a> {
    pool: &'a Pool,
    link: Option<Link>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut idle = self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.lent -= 1;
        idle.links.extend(self.link.take());
        self.pool.freed.notify_one();
    }
}
