//! Changes of a network's sealed keys while the service runs: rows with a later revision than the
//! last seen one.

use super::change::Change;
use super::sealed::{COLUMNS, SealedNetwork, SealedRow};
use super::{MeterFile, RegistryError};
use crate::network::GlobalMeterId;
use crate::partition::{Partition, Slices};
use crate::store::{Row, SqlError, keys_of, values};
use std::collections::BTreeMap;
use wire::meter::MeterId;

/// Sees what changes of a network's sealed keys, or of one partition's.
#[derive(Debug)]
pub(super) struct SealedPoller {
    sealed: SealedNetwork,
    of: Option<(Partition, Slices)>,
    /// The epochs of those that are registered.
    known: BTreeMap<MeterId, u32>,
    /// The revision up to which all was seen; 0: nothing was, because what is known may have been
    /// read at any time.
    seen: i64,
}

/// The changed rows: the epochs of keys, and of revoked ones.
struct Found {
    revision: i64,
    keys: BTreeMap<MeterId, u32>,
    revoked: BTreeMap<MeterId, u32>,
}

impl SealedPoller {
    pub(super) fn new(
        sealed: SealedNetwork,
        of: Option<(Partition, Slices)>,
        known: &BTreeMap<MeterId, MeterFile>,
        seen: i64,
    ) -> SealedPoller {
        let known = known.iter().map(|(meter, file)| (*meter, file.epoch)).collect();
        SealedPoller { sealed, of, known, seen }
    }

    pub(super) fn poll(&mut self) -> (Vec<Change>, Vec<RegistryError>) {
        let (mut changes, mut problems) = (Vec::new(), Vec::new());
        let found = match self.found() {
            Ok(Some(found)) => found,
            // The row went away, or the database: no meter was revoked by that.
            Ok(None) => return (changes, problems),
            Err(error) => return (changes, vec![error]),
        };
        for (meter, epoch) in &found.keys {
            if self.known.get(meter).is_some_and(|known| known == epoch) {
                continue;
            }
            match self.check(*meter) {
                Ok(change) => changes.extend(change),
                // It is not reported again, as a file is not.
                Err(error) => problems.push(error),
            }
        }
        for (meter, epoch) in found.revoked {
            // It may have been registered again.
            if !found.keys.contains_key(&meter) && self.known.remove(&meter).is_some() {
                changes.push(Change::Revoked { meter: self.sealed.network.meter(meter), epoch });
            }
        }
        self.seen = found.revision;
        (changes, problems)
    }

    fn found(&self) -> Result<Option<Found>, RegistryError> {
        let network = self.sealed.network;
        self.sealed.store.ask(|session| {
            let revision = "SELECT revision FROM key_networks WHERE network = $1";
            let revision = session.first(revision, values![network.0], |row| row.get::<i64>(0))?;
            let Some(revision) = revision.filter(|revision| *revision != self.seen) else { return Ok(None) };
            let (first, last) = keys_of(network);
            let epochs = |table: &str| {
                let sql = format!(
                    "SELECT meter, epoch FROM {table} WHERE meter > $1 AND meter <= $2 AND revision > $3"
                );
                let read = |row: Row<'_>| Ok((row.get::<GlobalMeterId>(0)?.meter, row.get::<u32>(1)?));
                let rows = session.query(&sql, values![first, last, self.seen], read)?;
                let own = |meter: &MeterId| {
                    self.of.is_none_or(|(partition, slices)| slices.of(*meter) == partition.slice)
                };
                Ok::<_, SqlError>(rows.into_iter().filter(|(meter, _)| own(meter)).collect())
            };
            Ok(Some(Found { revision, keys: epochs("sealed_keys")?, revoked: epochs("revoked_keys")? }))
        })
    }

    /// `None`: it has gone since, which is seen the next time.
    fn check(&mut self, meter: MeterId) -> Result<Option<Change>, RegistryError> {
        let store = &self.sealed.store;
        let sql = format!("SELECT {COLUMNS} FROM sealed_keys WHERE meter = $1");
        let named = self.sealed.network.meter(meter);
        let row = store.ask(|session| session.first(&sql, values![named], SealedRow::read))?;
        let Some(row) = row else { return Ok(None) };
        let file = row.file(store)?;
        let before = self.known.get(&meter).copied();
        if let Some(before) = before.filter(|before| *before >= file.epoch) {
            return Err(RegistryError::Kek(format!(
                "meter {named}: its keys changed, and their epoch {} is not higher than that of before, {before}; the meter stays as it \
                 was. 'wattseal meters rotate {named}' makes new keys",
                file.epoch
            )));
        }
        self.known.insert(meter, file.epoch);
        Ok(Some(match before {
            None => Change::Added(file),
            Some(old_epoch) => Change::Rotated { file, old_epoch },
        }))
    }
}
