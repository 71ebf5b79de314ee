//! The two databases: how each is opened, written in transactions, and read by several at once.

pub(in crate::store) mod postgres;
pub(in crate::store) mod sqlite;

use crate::store::model::health::Heartbeat;
use crate::store::sql::{DatabaseUrl, Session, SqlError, StoreError};
use jiff::tz::TimeZone;
use std::sync::Arc;

/// The connections by which a database is read, and its writer's health.
pub(in crate::store) struct ReadAccess {
    pub(in crate::store) url: DatabaseUrl,
    pub(in crate::store) zone: TimeZone,
    pub(in crate::store) zone_name: String,
    pub(in crate::store) pulse: Arc<Heartbeat>,
    pub(in crate::store) pool: Pool,
}

/// An engine's connections.
pub(in crate::store) enum Pool {
    Sqlite(Arc<sqlite::Pool>),
    Postgres(Arc<postgres::Pool>),
}

impl From<Arc<sqlite::Pool>> for Pool {
    fn from(pool: Arc<sqlite::Pool>) -> Pool {
        Pool::Sqlite(pool)
    }
}

impl From<Arc<postgres::Pool>> for Pool {
    fn from(pool: Arc<postgres::Pool>) -> Pool {
        Pool::Postgres(pool)
    }
}

impl Pool {
    pub(in crate::store) fn ask<T>(
        &self,
        question: impl FnOnce(Session<'_>) -> Result<T, SqlError>,
    ) -> Result<T, StoreError> {
        match self {
            Pool::Sqlite(pool) => pool.ask(question),
            Pool::Postgres(pool) => pool.ask(question),
        }
    }
}
