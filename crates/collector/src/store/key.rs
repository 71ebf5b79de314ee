//! A meter in the database: the column `meter` is the network's number times 65,536 and the meter's. So a meter of network 0 is its number,
//! and the meters of a network lie together.

use crate::network::{GlobalMeterId, NetworkId};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use wire::meter::MeterId;

impl ToSql for GlobalMeterId {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.key().into())
    }
}

impl FromSql for GlobalMeterId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<GlobalMeterId> {
        let key = i64::column_result(value)?;
        GlobalMeterId::from_key(key).ok_or(FromSqlError::OutOfRange(key))
    }
}

/// The first and the last key that a network's meters may have.
pub(super) fn keys_of(network: NetworkId) -> (i64, i64) {
    (network.meter(MeterId::MIN).key(), network.meter(MeterId::MAX).key())
}
