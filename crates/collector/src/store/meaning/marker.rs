//! That a database is not to be used, because it was moved away, or is not whole yet:
//! docs/how-to/collector/move.md, "Moving to PostgreSQL and back".
//!
//! Its schema has a version from [`AWAY`] on, so that no program takes it, also none of before; and
//! `meta` says why. Both are written in one transaction, and looked at where each program looks at
//! the version.

use crate::store::sql::{Session, SqlError, from_json, json, values};
use crate::store::{DatabaseUrl, StoreError};
use serde::{Deserialize, Serialize};

/// The offset of the version of a database that is not to be used.
pub(in crate::store) const AWAY: i64 = 1_000_000;
/// In `meta`; no part of what is moved.
pub(in crate::store) const KEY: &str = "relocation";

/// Why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct Marker {
    pub(in crate::store) state: State,
    /// The location of the data; in a target, of the source.
    pub(in crate::store) other: String,
    /// The same on both sides.
    pub(in crate::store) id: String,
    pub(in crate::store) at_ms: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::store) enum State {
    /// The data are elsewhere.
    Moved,
    /// They are not all here yet, or the other place may still be used.
    Arriving,
}

impl Marker {
    pub(in crate::store) fn read(session: Session<'_>) -> Result<Option<Marker>, SqlError> {
        let sql = "SELECT value FROM meta WHERE key = $1";
        let text: Option<String> = session.first(sql, values![KEY], |row| row.get(0))?;
        let parse = |text: String| from_json(&text, &format!("meta, key {KEY}"));
        text.map(parse).transpose()
    }

    /// Within a transaction.
    pub(in crate::store) fn write(&self, session: Session<'_>) -> Result<(), SqlError> {
        let sql = "INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
        session.execute(sql, values![KEY, &json(self)?]).map(drop)
    }

    /// Within a transaction.
    pub(in crate::store) fn erase(session: Session<'_>) -> Result<(), SqlError> {
        session.execute("DELETE FROM meta WHERE key = $1", values![KEY]).map(drop)
    }

    /// Why a database with such a version is not opened.
    pub(in crate::store) fn refusal(session: Session<'_>, place: &DatabaseUrl) -> StoreError {
        let place = place.clone();
        match Marker::read(session) {
            Ok(Some(Marker { state: State::Moved, other, .. })) => StoreError::Moved { place, to: other },
            Ok(Some(Marker { state: State::Arriving, other, .. })) => {
                StoreError::Arriving { place, from: other }
            }
            Ok(None) => StoreError::Database {
                place,
                what: "it is marked as moved, and does not say where to: restore a copy".into(),
            },
            Err(error) => StoreError::asked(&place, error),
        }
    }
}
