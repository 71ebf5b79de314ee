//! Another key-encryption key for all keys in a database, while workers go on that know both.

use super::RegistryError;
use super::sealed::{COLUMNS, SEALING, SealedRow, SealedStore};
use crate::store::values;
use serde::Serialize;

/// Keys that are wrapped in one transaction.
const BATCH: i64 = 500;

/// The number of keys that were wrapped anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrapped {
    pub keys: u64,
    /// Under which all are sealed now.
    pub kek: String,
}

/// The number of keys sealed under a key-encryption key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WrappedKeys {
    pub kek: String,
    pub keys: u64,
}

impl SealedStore {
    /// Says under which keys are sealed.
    pub(super) fn wrapped(&self) -> Result<Vec<WrappedKeys>, RegistryError> {
        let sql = "SELECT kek, count(*) FROM (SELECT kek FROM sealed_keys UNION ALL SELECT kek FROM sealed_mbus_keys) AS all_keys \
                   GROUP BY kek ORDER BY kek";
        self.ask(|session| {
            session.query(sql, &[], |row| {
                Ok(WrappedKeys { kek: row.get(0)?, keys: row.get::<i64>(1)?.unsigned_abs() })
            })
        })
    }

    /// Seals all keys under the ring's first KEK. From the first moment on nothing is sealed under
    /// another; what was until then is wrapped anew in small transactions, so that nobody waits for
    /// long. One that ends early goes on where it is started again.
    pub(super) fn rewrap(&self, mut progress: impl FnMut(u64)) -> Result<Rewrapped, RegistryError> {
        let Some(kek) = self.ring.first().map(|id| id.0.clone()) else {
            return Err(RegistryError::Kek("no key-encryption key is given".to_owned()));
        };
        self.reader.change(|session| {
            // Waits for those who seal under the one before.
            let sql =
                "INSERT INTO meta VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
            session.execute(sql, values![SEALING, &kek]).map(drop).map_err(|error| self.asked(error))
        })?;
        let (mut keys, mut after) = (0, -1);
        while let Some((wrapped, last)) = self.reader.change(|session| {
            let sql = format!(
                "SELECT {COLUMNS} FROM sealed_keys WHERE meter > $1 AND kek <> $2 ORDER BY meter LIMIT $3 FOR UPDATE"
            );
            let rows = session.query(&sql, values![after, &kek, BATCH], SealedRow::read);
            let rows = rows.map_err(|error| self.asked(error))?;
            for row in &rows {
                let sealed = self.ring.seal(&kek, &row.context(), &self.open(row)?)?;
                let sql = "UPDATE sealed_keys SET kek = $2, sealed = $3 WHERE meter = $1";
                session.execute(sql, values![row.meter, &kek, &sealed]).map_err(|error| self.asked(error))?;
            }
            Ok::<_, RegistryError>(rows.last().map(|last| (rows.len() as u64, last.meter.key())))
        })? {
            keys += wrapped;
            after = last;
            progress(keys);
        }
        let mut after = String::new();
        while let Some((wrapped, last)) =
            self.reader.change(|session| self.rewrap_mbus(session, &kek, &after, BATCH))?
        {
            keys += wrapped;
            after = last;
            progress(keys);
        }
        Ok(Rewrapped { keys, kek })
    }
}
