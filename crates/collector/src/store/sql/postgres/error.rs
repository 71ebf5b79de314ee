//! Errors of a PostgreSQL server, each with its remedy.

use crate::store::sql::{DatabaseUrl, StoreError};
use std::error::Error;
use std::time::Duration;
use tokio_postgres::error::SqlState;

/// Why a server did not answer as it should.
#[derive(Debug)]
pub(crate) enum ConnectionError {
    /// The server's error, or the reason why nothing came.
    Said(Box<tokio_postgres::Error>),
    /// It was silent for that time.
    Silent(Duration),
    /// An error on this side.
    Here(String),
    /// Of several hosts none is to be had: each with the reason.
    NoHost(Vec<(String, ConnectionError)>),
}

impl From<tokio_postgres::Error> for ConnectionError {
    fn from(error: tokio_postgres::Error) -> ConnectionError {
        ConnectionError::Said(Box::new(error))
    }
}

impl ConnectionError {
    /// A lock was waited for as long as `lock_timeout` says.
    pub(in crate::store) fn is_lock_timeout(&self) -> bool {
        matches!(self, ConnectionError::Said(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE))
    }

    /// Why, without what to do.
    fn reason(&self) -> String {
        match self {
            ConnectionError::Said(error) => match error.as_db_error() {
                Some(said) => said.message().to_owned(),
                None => chain(error),
            },
            ConnectionError::Silent(within) => format!("it says nothing for {} s", within.as_secs()),
            ConnectionError::Here(what) => what.clone(),
            ConnectionError::NoHost(hosts) => {
                hosts.iter().map(|(_, error)| error.reason()).collect::<Vec<_>>().join("; ")
            }
        }
    }

    /// Makes the error that people read: what, where, and what to do.
    pub(in crate::store) fn of(self, place: &DatabaseUrl) -> StoreError {
        let place = place.clone();
        let error = match self {
            ConnectionError::Said(error) => error,
            ConnectionError::Silent(within) => {
                let what = format!(
                    "the server says nothing for {} s. It may be overloaded, or wait for its standby; nothing is acknowledged until it \
                     answers",
                    within.as_secs()
                );
                return StoreError::Unreachable { place, what };
            }
            ConnectionError::Here(what) => return StoreError::Unreachable { place, what },
            ConnectionError::NoHost(hosts) => {
                let said: Vec<String> =
                    hosts.into_iter().map(|(host, error)| format!("{host}: {}", error.reason())).collect();
                let what = format!(
                    "none of its hosts is to be had: {}. Start the primary, or promote a standby; nothing is acknowledged until one of \
                     them takes writes",
                    said.join("; ")
                );
                return StoreError::Unreachable { place, what };
            }
        };
        let Some(said) = error.as_db_error() else {
            let what = format!(
                "the server cannot be reached: {}. Look that it runs, and that host, port and sslmode are right; nothing is \
                 acknowledged until it answers",
                chain(&error)
            );
            return StoreError::Unreachable { place, what };
        };
        let message = said.message();
        let unreachable = |what: String| StoreError::Unreachable { place: place.clone(), what };
        match *said.code() {
            SqlState::DISK_FULL => StoreError::Full { place },
            SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
                unreachable(format!(
                    "the server lets this user not in: {message}. Give the password by PGPASSWORD, or passfile= in the URL, or look at \
                 the server's pg_hba.conf"
                ))
            }
            SqlState::INVALID_CATALOG_NAME => {
                unreachable(format!("{message}: make it with createdb, or correct --db"))
            }
            SqlState::TOO_MANY_CONNECTIONS => unreachable(format!(
                "the server has no connection left: {message}. Raise its max_connections (a collector takes 5), or end others"
            )),
            SqlState::READ_ONLY_SQL_TRANSACTION => unreachable(STANDBY.to_owned()),
            SqlState::INSUFFICIENT_PRIVILEGE => unreachable(format!(
                "this user may not do that: {message}. Make it the database's owner: ALTER DATABASE .. OWNER TO .."
            )),
            SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => unreachable(format!(
                "the server finds its files damaged: {message}. Promote a standby, or restore a copy"
            )),
            SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN | SqlState::CANNOT_CONNECT_NOW => {
                unreachable(format!(
                    "the server stops, starts or recovers: {message}. It is connected with again by itself; nothing is acknowledged \
                 until then"
                ))
            }
            SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT | SqlState::IDLE_SESSION_TIMEOUT => {
                unreachable(format!(
                    "the server heard nothing for too long: {message}. The network, or this machine, stood still. It is connected with \
                     again by itself; nothing is acknowledged until then"
                ))
            }
            SqlState::QUERY_CANCELED
            | SqlState::LOCK_NOT_AVAILABLE
            | SqlState::T_R_DEADLOCK_DETECTED
            | SqlState::T_R_SERIALIZATION_FAILURE => unreachable(format!(
                "the server gave a question up: {message}. It may be overloaded; nothing is acknowledged until it answers"
            )),
            SqlState::UNDEFINED_TABLE => {
                unreachable(format!("a table is gone: {message}. Somebody dropped it: restore a copy"))
            }
            _ => StoreError::Database { place, what: format!("{message} (SQLSTATE {})", said.code().code()) },
        }
    }
}

/// The remedy for a server that takes no writes.
pub(in crate::store) const STANDBY: &str = "this server takes no writes: it is a standby, or set read-only. Give the primary, or both hosts with \
                                  target_session_attrs=read-write; nothing is acknowledged until it takes them";

/// An error with all that caused it.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let further = error.to_string();
        if !text.contains(&further) {
            text = format!("{text}: {further}");
        }
        cause = error.source();
    }
    text
}
