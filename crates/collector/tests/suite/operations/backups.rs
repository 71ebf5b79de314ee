//! The promises of docs/how-to/operations.md, "Backup and restore", about a dumped and restored database.

use crate::keys::{Kind, Stand, place, ring, store};
use collector::registry::KeyStore;
use collector::store::{MeterFilter, Reader};
use std::process::Command;
use testkit::postgres::shared;
use wire::meter::Setup;

/// With the key-encryption key alone a restored database has all keys, and knows its meters.
#[test]
fn restore_needs_only_a_dump_and_the_key_encryption_key() {
    let stand = Stand::new(Kind::Database);
    let registry = stand.store.open_network(Default::default()).expect("a network");
    for meter in [258, 259] {
        registry.provision(Setup::usual(meter), 0, &stand.images()).expect("a meter");
    }
    let dump = stand.folder.path().join("wattseal.sql");
    std::fs::write(&dump, shared().dump(&stand.database)).expect("written");
    let restored = shared().database();
    let socket = shared().folder();
    let mut psql = Command::new("/usr/lib/postgresql/15/bin/psql");
    psql.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-d", &restored, "-h"]).arg(socket);
    let done = psql.arg("-f").arg(&dump).output().expect("psql");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));

    let ring = ring(&[&stand.folder.path().join("kek")]);
    let keys: KeyStore = store(&restored, &ring).expect("the same key-encryption key");
    let there = keys.open_existing(Default::default()).expect("there");
    assert_eq!(there.identity().private_bytes(), registry.identity().private_bytes());
    assert_eq!(there.load().expect("two"), registry.load().expect("two"));
    let reader = Reader::open(place(&restored)).expect("the restored one");
    assert!(reader.meters(MeterFilter::All, 0).is_ok());
}
