//! Rows of a database: what somebody who has the database, and not the key-encryption key, can do
//! with them.

use super::{Kind, Stand, kek, ring, store};
use collector::network::NetworkId;
use collector::registry::{KeyStore, Registry, RegistryError};
use collector::store::Reader;
use std::path::Path;
use testkit::postgres::shared;
use wire::meter::{Setup, Suite};

const SEVEN: NetworkId = NetworkId(7);

/// Meters 1 of network 0, and 1 and 2 of network 7.
fn three() -> (Stand, Registry) {
    let stand = Stand::new(Kind::Database);
    for (network, meter) in [(NetworkId(0), 1), (SEVEN, 1), (SEVEN, 2)] {
        let registry = stand.store.open_network(network).expect("a network");
        registry.provision(Setup::usual(meter), 0, &stand.images()).expect("a meter");
    }
    let seven = stand.store.open_existing(SEVEN).expect("there");
    (stand, seven)
}

fn key(network: NetworkId, meter: u16) -> i64 {
    network.meter(meter).key()
}

#[test]
fn a_row_that_is_put_in_the_place_of_another_is_not_opened() {
    let (stand, seven) = three();
    seven.load().expect("as they were sealed");
    let one = key(SEVEN, 1);
    let sealed_of = |from: i64| {
        format!(
            "UPDATE sealed_keys SET sealed = (SELECT sealed FROM sealed_keys WHERE meter = {from}) WHERE meter = {one}"
        )
    };
    for (what, change) in [
        ("another meter's", sealed_of(key(SEVEN, 2))),
        ("another network's", sealed_of(key(NetworkId(0), 1))),
        ("the collector's", sealed_of(key(SEVEN, 0))),
        ("a later epoch", format!("UPDATE sealed_keys SET epoch = 2 WHERE meter = {one}")),
        ("another suite", format!("UPDATE sealed_keys SET suite = 0 WHERE meter = {one}")),
        (
            "a bit",
            format!(
                "UPDATE sealed_keys SET sealed = set_bit(sealed, 200, 1 - get_bit(sealed, 200)) WHERE meter = {one}"
            ),
        ),
        ("none", format!("UPDATE sealed_keys SET sealed = '' WHERE meter = {one}")),
    ] {
        stand.sql(&format!("CREATE TABLE before AS SELECT * FROM sealed_keys; {change}"));
        for error in [seven.load().map(drop), seven.get(1).map(drop)].map(|opened| opened.expect_err(what)) {
            assert!(matches!(error, RegistryError::Sealed { .. }), "{what}: {error}");
            let text = error.to_string();
            assert!(text.contains("meter 7-1 ") && text.contains("meters rotate 7-1"), "{what}: {text}");
        }
        // Its own are as they were.
        seven.get(2).expect("another's row");
        stand.sql("DELETE FROM sealed_keys; INSERT INTO sealed_keys SELECT * FROM before; DROP TABLE before");
    }
    let [own, other] = [key(NetworkId(0), 0), key(SEVEN, 0)];
    stand.sql(&format!(
        "UPDATE sealed_keys SET sealed = (SELECT sealed FROM sealed_keys WHERE meter = {other}) WHERE meter = {own}"
    ));
    let text = stand.store.open_network(NetworkId(0)).expect_err("another network's").to_string();
    assert!(text.contains("collector in network 0") && !text.contains("rotate"), "{text}");
}

#[test]
fn wrong_key_encryption_key_is_refused_with_the_right_id() {
    let (stand, _) = three();
    let right = ring(&[&stand.folder.path().join("kek")]);
    let other = ring(&[&kek(stand.folder.path(), "other")]);
    let id = |ring: &collector::registry::KeyRing| ring.first().expect("one").to_string();
    let error = store(&stand.database, &other).expect_err("another");
    assert!(matches!(error, RegistryError::OtherKek { .. }) && error.is_usage(), "{error}");
    let text = error.to_string();
    assert!(
        text.contains(&id(&right)) && text.contains(&id(&other)) && text.contains("--kek-file"),
        "{text}"
    );
    // None: the keys are not looked for in a folder then.
    let reader = Reader::open(super::place(&stand.database)).expect("there");
    let text = KeyStore::of(&reader, None, Path::new("keys")).expect_err("none").to_string();
    assert!(text.contains(&id(&right)) && text.contains("none is given"), "{text}");
    // A row under one that is not given, among others.
    let both = ring(&[&stand.folder.path().join("kek"), &stand.folder.path().join("other")]);
    store(&stand.database, &both).expect("one of them");
    stand.sql(&format!("UPDATE sealed_keys SET kek = '0123456789abcdef' WHERE meter = {}", key(SEVEN, 2)));
    let text =
        stand.store.open_network(SEVEN).and_then(|seven| seven.load()).expect_err("another").to_string();
    assert!(text.contains("meter 7-2") && text.contains("0123456789abcdef"), "{text}");
}

#[test]
fn a_dump_of_the_database_has_no_key() {
    let (stand, _) = three();
    let zero = stand.store.open_network(NetworkId(0)).expect("there");
    zero.rotate(1, 0, &stand.images()).expect("new keys");
    zero.provision(Setup { suite: Suite::Ecies, ..Setup::usual(9) }, 0, &stand.images()).expect("a meter");
    zero.revoke(9).expect("there");
    let dump = shared().dump(&stand.database).to_lowercase();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    // The public data are there, so that it is the right dump.
    let revoked = zero.revoked().expect("one")[&9].public.to_bytes();
    assert!(dump.contains(&hex(&revoked)), "{dump}");
    for registry in stand.store.open_all().expect("both") {
        let mut secrets = vec![registry.identity().private_bytes().to_vec()];
        for file in registry.load().expect("meters").values() {
            let (key128, key256) = file.record.keys.expose();
            secrets.extend([key128.to_vec(), key256.to_vec()]);
        }
        for secret in secrets {
            let hex = hex(&secret);
            // As PostgreSQL writes bytes where they are no hexadecimal, and any half of it.
            let escaped = secret.iter().map(|byte| format!("\\\\{byte:03o}")).collect::<String>();
            assert!(!dump.contains(&escaped));
            for part in [&hex, &hex[..hex.len() / 2], &hex[hex.len() / 2..]] {
                assert!(!dump.contains(part), "a key is in the dump");
            }
        }
    }
    let kek = std::fs::read_to_string(stand.folder.path().join("kek")).expect("there");
    assert!(!dump.contains(&kek.trim().to_lowercase()[4..12]));
}

#[test]
fn folder_is_imported_into_the_database_once() {
    let stand = Stand::new(Kind::Database);
    let keys = stand.folder.path().join("keys");
    let files = KeyStore::Folder(keys.clone());
    for (network, meter) in [(NetworkId(0), 258), (SEVEN, 1), (SEVEN, 2)] {
        let registry = files.open_network(network).expect("a network");
        registry.provision(Setup::usual(meter), 0, &stand.images()).expect("a meter");
    }
    let seven = files.open_existing(SEVEN).expect("there");
    seven.revoke(2).expect("there");
    let told = "[1]\nepoch = 1\nsuites = [\"aes128-gcm\"]\naddresses = []\n";
    crate::meters::station::put(&keys.join("networks/7/told.toml"), told);
    crate::meters::station::put(&keys.join("networks/7/commands.toml"), "below = 1234\n");
    // A worker that began before made a key pair, which no meter knows.
    stand.store.open_network(SEVEN).expect("a network");
    assert_eq!(stand.store.import(&keys).expect("imported"), 2);
    let now = stand.store.open_existing(SEVEN).expect("there");
    assert_eq!(now.identity().private_bytes(), seven.identity().private_bytes());
    assert_eq!(
        (now.load().expect("one"), now.revoked().expect("one")),
        (seven.load().expect("one"), seven.revoked().expect("one"))
    );
    assert_eq!(stand.sql("SELECT below FROM key_networks WHERE network = 7"), "1234");
    assert!(stand.sql("SELECT told FROM told").contains("aes128-gcm"));
    let text = stand.store.import(&keys).expect_err("they are there").to_string();
    assert!(text.contains("network 0 already"), "{text}");
    let text = files.import(&keys).expect_err("no database").to_string();
    assert!(text.contains("--kek-file"), "{text}");
}
