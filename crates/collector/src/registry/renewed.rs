//! Keys that were renewed over the air, in the place of those before.

use super::keys::Keys;
use super::{Registry, RegistryError};
use crate::fence::LeaseNumber;
use crate::partition::Slices;
use wire::meter::{MeterKeys, MeterRecord};

impl Registry {
    /// Says if keys can be renewed: files belong to one service, and no lease is checked when one
    /// is written.
    pub(crate) fn renews(&self, under_leases: bool) -> bool {
        !under_leases || matches!(self.keys, Keys::Sealed(_))
    }

    /// Keeps renewed keys in the place of those before; once more, that changes nothing. They are
    /// durable when this returns. before: those that may be there: the last ones that are durable,
    /// and, where it is not known whether others were kept since, these. lease: what they are
    /// written under; `None`: nobody else writes.
    ///
    /// # Errors
    /// [`RegistryError::OtherKeys`] where none of those before is there,
    /// [`RegistryError::LeaseOver`], [`RegistryError::Unknown`], [`RegistryError::File`].
    pub(crate) fn renew(
        &self,
        before: &[MeterKeys],
        record: &MeterRecord,
        lease: Option<(Slices, LeaseNumber)>,
    ) -> Result<(), RegistryError> {
        let meter = record.setup.meter;
        self.keys.change(|keys| {
            if let Some(lease) = lease
                && !keys.is_under(lease)?
            {
                return Err(RegistryError::LeaseOver);
            }
            let mut file = self.registered(keys, meter)?;
            if file.record == *record {
                return Ok(());
            }
            if !before.contains(&file.record.keys) || file.record.public != record.public {
                return Err(RegistryError::OtherKeys(self.network.meter(meter)));
            }
            file.record.keys = record.keys.clone();
            keys.put(&file)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::NetworkId;
    use crate::partition::Partition;
    use crate::registry::{AfterWrongPin, KeyRing, KeyStore, make_kek};
    use crate::store::{DatabaseUrl, Options, Reader, Sharing, Store};
    use std::path::Path;
    use testkit::postgres::shared;
    use wire::meter::{Setup, Suite};

    const METER: u16 = 7;

    /// The same keys in epoch 0 with a next key, and in epoch 1 with that.
    fn renewed(keys: &MeterKeys, next: u8) -> [MeterKeys; 2] {
        let (key128, key256) = keys.expose();
        let all = [&key128[..], key256, &[0; 4], key256, &[next; 32]].concat();
        let begun = MeterKeys::from_exposed(&all).expect("keys");
        [begun.clone(), begun.next_epoch().expect("it is known")]
    }

    fn place(database: &str) -> DatabaseUrl {
        DatabaseUrl::named(&shared().url(database)).expect("a URL")
    }

    fn in_database(folder: &Path, database: &str) -> KeyStore {
        make_kek(&folder.join("kek"), None).expect("drawn");
        let ring = KeyRing::of_files(&[folder.join("kek")], AfterWrongPin::Refuse).expect("read");
        let reader = Reader::open_or_make(&place(database)).expect("the server");
        KeyStore::of(&reader, Some(&ring), folder).expect("an empty database")
    }

    fn on_each(test: impl Fn(&Registry, &Path)) {
        let folder = tempfile::tempdir().expect("a folder");
        let stores =
            [KeyStore::Folder(folder.path().join("keys")), in_database(folder.path(), &shared().database())];
        for store in stores {
            let registry = store.open_network(NetworkId::DEFAULT).expect("a network");
            let setup = Setup { suite: Suite::Aes256GcmRekeyed, ..Setup::usual(METER) };
            registry.provision(setup, 0, &folder.path().join("images")).expect("a meter");
            test(&registry, folder.path());
        }
    }

    #[test]
    fn keys_come_in_the_place_of_those_that_may_be_there() {
        on_each(|registry, folder| {
            let is = |keys: &MeterKeys| assert!(registry.get(METER).expect("there").record.keys == *keys);
            let first = registry.get(METER).expect("there").record;
            let [begun, other] = [1, 2].map(|next| renewed(&first.keys, next));
            let record = |keys: &MeterKeys| MeterRecord { keys: keys.clone(), ..first.clone() };
            let renew = |before: &[&MeterKeys], keys| {
                let before: Vec<MeterKeys> = before.iter().copied().cloned().collect();
                registry.renew(&before, &record(keys), None)
            };
            renew(&[&first.keys], &begun[0]).expect("kept");
            is(&begun[0]);
            // Once more, as where nobody heard that they are.
            renew(&[&first.keys], &begun[0]).expect("they are there");
            // It was not known whether they are: others come in their place, and not in that of
            // others.
            let error = renew(&[&first.keys], &other[0]).expect_err("others are there");
            assert!(matches!(error, RegistryError::OtherKeys(meter) if meter == METER.into()), "{error}");
            is(&begun[0]);
            renew(&[&first.keys, &begun[0]], &other[0]).expect("kept");
            is(&other[0]);
            renew(&[&other[0]], &other[1]).expect("kept");
            is(&other[1]);
            // A service that was left behind does not bring back what is over.
            for late in [&begun[0], &begun[1], &other[0]] {
                renew(&[&first.keys, &begun[0]], late).expect_err("late");
            }
            is(&other[1]);
            // Nor after a rotation, or a revocation.
            let (rotated, _) = registry.rotate(METER, 0, &folder.join("images")).expect("new keys");
            let error = renew(&[&other[1]], &begun[1]).expect_err("rotated");
            assert!(matches!(error, RegistryError::OtherKeys(_)), "{error}");
            // Not even with keys that look the same: they are another meter's.
            renew(&[&rotated.record.keys], &begun[1]).expect_err("another public key");
            is(&rotated.record.keys);
            registry.revoke(METER).expect("there");
            let error = renew(&[&other[1]], &begun[1]).expect_err("revoked");
            assert!(matches!(error, RegistryError::Unknown(_)), "{error}");
        });
    }

    #[test]
    fn a_worker_whose_lease_is_over_writes_no_keys() {
        let (folder, database) = (tempfile::tempdir().expect("a folder"), shared().database());
        let slices = "4".parse::<Slices>().expect("so many");
        let partition = Partition { network: NetworkId::DEFAULT, slice: slices.of(METER) };
        let lease = |number| LeaseNumber { partition, number };
        let worker = |name: &str| {
            let sharing = Sharing { worker: name.to_owned(), slices };
            Store::open_shared(place(&database), &Options::default(), sharing).expect("a worker")
        };
        let (mut one, mut two) = (worker("one"), worker("two"));
        one.take(lease(11)).expect("taken");
        let store = in_database(folder.path(), &database);
        let registry = store.open_network(NetworkId::DEFAULT).expect("a network");
        registry.provision(Setup::usual(METER), 0, &folder.path().join("images")).expect("a meter");
        let first = registry.get(METER).expect("there").record;
        let [begun, next] = renewed(&first.keys, 1);
        let renew = |before: &MeterKeys, keys: &MeterKeys, number| {
            let record = MeterRecord { keys: keys.clone(), ..first.clone() };
            registry.renew(std::slice::from_ref(before), &record, Some((slices, lease(number))))
        };
        renew(&first.keys, &begun, 11).expect("it has the lease");
        two.take(lease(12)).expect("taken");
        let error = renew(&begun, &next, 11).expect_err("it had the lease");
        assert!(matches!(error, RegistryError::LeaseOver), "{error}");
        assert!(registry.get(METER).expect("there").record.keys == begun);
        renew(&begun, &next, 12).expect("it has the lease");
        // Nobody takes it within the transaction: its row is held until the end.
        let free = "SELECT count(*) FROM (SELECT fence FROM partitions FOR UPDATE SKIP LOCKED) AS free";
        let held = registry.keys.change(|keys| {
            assert!(keys.is_under((slices, lease(12)))?);
            Ok(shared().sql(&database, free))
        });
        assert_eq!((held.expect("it is under it"), shared().sql(&database, free)), ("0".into(), "1".into()));
        // And where the row is gone, nobody has it.
        shared().sql(&database, "DELETE FROM partitions");
        renew(&next, &next, 12).expect_err("nobody has it");
        drop((one, two));
    }

    #[test]
    fn keys_in_files_are_renewed_by_one_service_alone() {
        on_each(|registry, _| {
            assert_eq!((registry.renews(false), registry.renews(true)), (true, registry.path().is_none()));
        });
    }
}
