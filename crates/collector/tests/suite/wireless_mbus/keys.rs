//! Keys of other makers' meters, as files and as rows.

use super::fixture::{KAW, registered, telegram};
use crate::keys::{Kind, Stand, kek, ring, store};
use collector::registry::{MbusImported, Registry, RegistryError};
use std::os::unix::fs::MetadataExt;

const OTHER: &str = "ELS-12345678";
const KEY: &str = "000102030405060708090a0b0c0d0e0f";

fn both_kinds(test: impl Fn(&Stand)) {
    for kind in [Kind::Files, Kind::Database] {
        test(&Stand::new(kind));
    }
}

#[test]
fn meters_are_put_changed_and_removed() {
    both_kinds(|stand| {
        let keys = &stand.store;
        assert!(keys.mbus_meters().expect("none").is_empty());
        let kaw = telegram("kamstrup-profile-d-1").registered(false);
        let (mut other, mut revisions) =
            (registered(OTHER, "", true), vec![keys.mbus_revision().expect("one")]);
        let imported = keys.put_mbus_meters(&[kaw.clone(), other.clone()]).expect("put");
        assert_eq!(imported, MbusImported { added: 2, changed: 0 });
        revisions.push(keys.mbus_revision().expect("one"));
        other.key = registered(OTHER, KEY, true).key;
        let imported = keys.put_mbus_meters(&[kaw.clone(), other.clone()]).expect("put");
        assert_eq!(imported, MbusImported { added: 0, changed: 1 });
        revisions.push(keys.mbus_revision().expect("one"));
        let meters = keys.mbus_meters().expect("two");
        assert_eq!((&meters[&kaw.meter], &meters[&other.meter]), (&kaw, &other));
        assert!(!format!("{meters:?}").to_lowercase().contains("bf902d"), "a key is shown");
        keys.remove_mbus_meter(other.meter).expect("removed");
        revisions.push(keys.mbus_revision().expect("one"));
        assert!(revisions.windows(2).all(|pair| pair[0] != pair[1]), "{revisions:?}");
        let error = keys.remove_mbus_meter(other.meter).expect_err("gone");
        assert!(matches!(error, RegistryError::UnknownMbus(_)) && error.is_usage(), "{error}");
        assert_eq!(keys.mbus_meters().expect("one").len(), 1);
    });
}

#[test]
fn file_is_its_owners_alone_and_an_error_shows_no_key() {
    let stand = Stand::new(Kind::Files);
    stand.store.put_mbus_meters(&[registered(OTHER, KEY, false)]).expect("put");
    let path = stand.folder.path().join("keys/wireless-mbus.toml");
    assert_eq!(std::fs::metadata(&path).expect("a file").mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&path).expect("text");
    for wrong in [text.replace(KEY, &KEY[1..]), format!("{text}{text}"), text.replace("key", "kex")] {
        crate::meters::station::put(&path, &wrong);
        let error = stand.store.mbus_meters().expect_err("wrong").to_string();
        assert!(error.contains("wireless-mbus.toml") && !error.contains(&KEY[1..9]), "{error}");
    }
}

#[test]
fn sealed_row_opens_for_its_own_meter_alone() {
    let stand = Stand::new(Kind::Database);
    let meters = [telegram("kamstrup-profile-d-1").registered(false), registered(OTHER, KEY, false)];
    stand.store.put_mbus_meters(&meters).expect("put");
    assert!(!stand.sql("SELECT encode(sealed, 'hex') FROM sealed_mbus_keys").contains(KEY));
    stand.sql(&format!(
        "UPDATE sealed_mbus_keys SET sealed = (SELECT sealed FROM sealed_mbus_keys WHERE meter = '{KAW}') WHERE meter = '{OTHER}'"
    ));
    let error = stand.store.mbus_meters().expect_err("another's");
    assert!(matches!(error, RegistryError::Sealed { .. }) && error.to_string().contains(OTHER), "{error}");
}

#[test]
fn rewrap_and_import_take_these_keys_too() {
    let (files, stand) = (Stand::new(Kind::Files), Stand::new(Kind::Database));
    let meter = registered(OTHER, KEY, false);
    let folder = files.folder.path().join("keys");
    Registry::open(&folder).expect("a registry");
    files.store.put_mbus_meters(std::slice::from_ref(&meter)).expect("put");
    assert_eq!(stand.store.import(&folder).expect("imported"), 1);
    let new = kek(stand.folder.path(), "new");
    let rings = [ring(&[&new, &stand.folder.path().join("kek")]), ring(&[&new])];
    let both = store(&stand.database, &rings[0]).expect("both");
    // The collector's own key is one of them.
    assert_eq!(both.rewrap(|_| {}).expect("rewrapped").keys, 2);
    let wrapped = both.wrapped().expect("counted");
    assert_eq!((wrapped.len(), wrapped[0].keys), (1, 2));
    let alone = store(&stand.database, &rings[1]).expect("the new one");
    assert_eq!(alone.mbus_meters().expect("opened")[&meter.meter], meter);
}

#[test]
fn backup_has_the_keys() {
    let stand = Stand::new(Kind::Files);
    let keys = stand.folder.path().join("keys");
    Registry::open(&keys).expect("a registry");
    stand.store.put_mbus_meters(&[registered(OTHER, KEY, false)]).expect("put");
    let db = stand.folder.path().join("wattseal.db");
    let place = collector::store::DatabaseUrl::File(db);
    drop(
        collector::store::Store::open(place.clone(), &collector::store::Options::default()).expect("a store"),
    );
    let backup = collector::backup::backup(&place, &keys, &stand.folder.path().join("copy")).expect("copied");
    let copy = collector::registry::KeyStore::Folder(backup.keys);
    assert_eq!(copy.mbus_meters().expect("there").len(), 1);
}
