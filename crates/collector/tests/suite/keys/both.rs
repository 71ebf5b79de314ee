//! The operations that files and rows share.

use super::{Kind, Stand};
use collector::network::{GlobalMeterId, NetworkId};
use collector::registry::{Change, MeterFile, RegistryError, RegistryPoller};
use std::fs;
use std::path::{Path, PathBuf};
use wire::meter::{Setup, Suite};

macro_rules! on_each_kind {
    ($($name:ident),* $(,)?) => {
        mod files {
            $(#[test] fn $name() { super::$name(super::Kind::Files) })*
        }
        mod database {
            $(#[test] fn $name() { super::$name(super::Kind::Database) })*
        }
    };
}

on_each_kind![
    keys_made_are_read_back_per_network,
    new_keys_and_revocation_raise_the_epoch,
    a_running_service_sees_what_changes,
    a_meter_comes_back_with_its_file,
];

const SEVEN: NetworkId = NetworkId(7);

fn keys_made_are_read_back_per_network(kind: Kind) {
    let stand = Stand::new(kind);
    assert!(stand.store.networks().expect("none").is_empty());
    assert!(matches!(stand.store.open_existing(SEVEN), Err(RegistryError::Missing(_))));
    assert!(matches!(stand.store.open_all(), Err(RegistryError::Missing(_))));
    let odd = Setup {
        suite: Suite::EciesEcdsa,
        interval_s: 65_535,
        phase: -256,
        voltage_uv: 4_000_000,
        current_ua: 123_456,
        power: 7,
        channel: 3,
        ..Setup::usual(65_535)
    };
    let setups = [(NetworkId(0), Setup::usual(258)), (SEVEN, Setup::usual(258)), (SEVEN, odd)];
    let made = setups.map(|(network, setup)| {
        let registry = stand.store.open_network(network).expect("a network");
        registry.provision(setup, 0, &stand.images()).expect("a meter").0
    });
    assert_eq!(stand.store.networks().expect("two"), [NetworkId(0), SEVEN]);
    let [zero, seven] =
        [NetworkId(0), SEVEN].map(|network| stand.store.open_existing(network).expect("there"));
    assert_ne!(zero.identity().public(), seven.identity().public());
    let again = stand.store.open_network(SEVEN).expect("there");
    assert_eq!(again.identity().private_bytes(), seven.identity().private_bytes());
    assert_eq!(zero.load().expect("one").into_values().collect::<Vec<_>>(), made[..1]);
    assert_eq!(seven.load().expect("two").into_values().collect::<Vec<_>>(), made[1..]);
    assert_eq!(seven.get(65_535).expect("there"), made[2]);
    let listed = stand.store.list(&[]).expect("three");
    let names: Vec<GlobalMeterId> = listed.iter().map(|meter| meter.name()).collect();
    assert_eq!(names, [258.into(), SEVEN.meter(258), SEVEN.meter(65_535)]);
    assert_eq!((listed[2].suite, listed[2].interval_s), (Suite::EciesEcdsa, 65_535));
}

fn new_keys_and_revocation_raise_the_epoch(kind: Kind) {
    let stand = Stand::new(kind);
    let (registry, images) = (stand.store.open_network(NetworkId(0)).expect("a network"), stand.images());
    let (first, _) = registry.provision(Setup::usual(5), 0, &images).expect("a meter");
    let five = GlobalMeterId::from(5);
    let again = registry.provision(Setup::usual(5), 0, &images);
    assert!(matches!(again, Err(RegistryError::Exists(meter)) if meter == five));
    let (second, _) = registry.rotate(5, 0, &images).expect("new keys");
    assert_eq!((second.epoch, second.record.setup), (2, first.record.setup));
    assert!(second.record.keys != first.record.keys && second.record.public != first.record.public);
    let revoked = registry.revoke(5).expect("revoked");
    assert_eq!((revoked.epoch, revoked.public), (2, second.record.public));
    assert_eq!(registry.revoked().expect("one")[&5], revoked);
    assert!(matches!(registry.revoke(5), Err(RegistryError::Unknown(meter)) if meter == five));
    assert!(matches!(registry.rotate(5, 0, &images), Err(RegistryError::Unknown(meter)) if meter == five));
    assert!(registry.load().expect("none").is_empty());
    let (third, _) = registry.provision(Setup::usual(5), 0, &images).expect("again");
    assert_eq!(third.epoch, 3);
    // Readings of epoch 8 are in a database: other keys were there before.
    assert_eq!(registry.rotate(5, 8, &images).expect("new keys").0.epoch, 9);
    let wrong = registry.provision(Setup { meter: 0, ..Setup::usual(1) }, 0, &images).expect_err("refused");
    assert!(wrong.is_usage(), "{wrong}");
}

fn poll(poller: &mut RegistryPoller) -> Vec<Change> {
    let (changes, problems) = poller.poll();
    assert!(problems.is_empty(), "{problems:?}");
    changes
}

fn a_running_service_sees_what_changes(kind: Kind) {
    let stand = Stand::new(kind);
    let (registry, images) = (stand.store.open_network(SEVEN).expect("a network"), stand.images());
    registry.provision(Setup::usual(1), 0, &images).expect("a meter");
    let mut poller = registry.poller(&registry.load().expect("one"));
    assert_eq!(poll(&mut poller), []);
    // Another command's.
    let elsewhere = stand.store.open_network(SEVEN).expect("there");
    let (two, _) = elsewhere.provision(Setup::usual(2), 0, &images).expect("a meter");
    assert_eq!(poll(&mut poller), [Change::Added(two)]);
    assert_eq!(poll(&mut poller), []);
    let (new, _) = elsewhere.rotate(1, 0, &images).expect("new keys");
    assert_eq!(poll(&mut poller), [Change::Rotated { file: new, old_epoch: 1 }]);
    elsewhere.revoke(1).expect("revoked");
    assert_eq!(poll(&mut poller), [Change::Revoked { meter: SEVEN.meter(1), epoch: 2 }]);
    assert_eq!(poll(&mut poller), []);
    let (again, _) = elsewhere.provision(Setup::usual(1), 0, &images).expect("again");
    assert_eq!((again.epoch, poll(&mut poller)), (3, vec![Change::Added(again)]));
    // Both between two looks: it has new keys, and none of them went.
    elsewhere.revoke(1).expect("revoked");
    let (again, _) = elsewhere.provision(Setup::usual(1), 0, &images).expect("again");
    assert_eq!(poll(&mut poller), [Change::Rotated { file: again, old_epoch: 3 }]);
    // Another network's.
    let other = stand.store.open_network(NetworkId(8)).expect("a network");
    other.provision(Setup::usual(3), 0, &images).expect("a meter");
    assert_eq!(poll(&mut poller), []);
}

fn write(path: &Path, file: &MeterFile) -> PathBuf {
    crate::meters::station::put(path, &toml::to_string(file).expect("TOML"));
    path.to_owned()
}

fn a_meter_comes_back_with_its_file(kind: Kind) {
    let stand = Stand::new(kind);
    let (registry, images) = (stand.store.open_network(NetworkId(0)).expect("a network"), stand.images());
    let (file, _) = registry.provision(Setup::usual(3), 0, &images).expect("a meter");
    let saved = write(&stand.folder.path().join("saved.toml"), &file);
    assert!(matches!(stand.store.add_file(&saved), Err(RegistryError::Exists(meter)) if meter == 3.into()));
    registry.revoke(3).expect("there");
    assert_eq!(stand.store.add_file(&saved).expect("taken back"), file);
    registry.revoke(3).expect("there");
    // Its keys under a later epoch: what it sent before would be new again. Other keys in an epoch
    // that is over.
    let other = stand.store.open_network(NetworkId(1)).expect("a network");
    let (other, _) = other.provision(Setup::usual(3), 0, &images).expect("a meter");
    let other = MeterFile { network: NetworkId(0), ..other };
    for (wrong, from) in [(2, &file), (1, &other)] {
        write(&saved, &MeterFile { epoch: wrong, ..from.clone() });
        assert!(matches!(stand.store.add_file(&saved), Err(RegistryError::Bad { .. })));
    }
    let later = MeterFile { epoch: 2, ..other };
    write(&saved, &later);
    assert_eq!(stand.store.add_file(&saved).expect("new keys"), later);
    assert_eq!(registry.load().expect("one")[&3], later);
    assert!(fs::exists(&saved).expect("it stays"));
}
