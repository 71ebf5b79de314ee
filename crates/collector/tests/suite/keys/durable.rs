//! Keys and tokens that outlive a loss of the server's power.
//!
//! They are said to be there once they are durable, with any settings of server and role.

use super::{kek, ring};
use collector::network::NetworkId;
use collector::registry::KeyStore;
use collector::store::{DatabaseUrl, Reader, Role};
use collector::tokens;
use std::path::Path;
use testkit::postgres::Server;
use wire::meter::Setup;

#[test]
fn keys_and_tokens_are_durable_under_asynchronous_commit() {
    let folder = tempfile::tempdir().expect("a folder");
    let ring = ring(&[&kek(folder.path(), "kek")]);
    let mut server = Server::start(&["synchronous_commit=off", "wal_writer_delay=10s", "autovacuum=off"]);
    let database = server.database();
    let place = DatabaseUrl::named(&server.url(&database)).expect("a URL");
    let keys = || {
        let reader = Reader::open_or_make(&place).expect("the server");
        let store = KeyStore::of(&reader, Some(&ring), Path::new("no folder")).expect("its keys");
        store.open_network(NetworkId::DEFAULT).expect("a network")
    };
    drop(keys());
    // The role's own default is as weak as the server's.
    server.sql("postgres", "ALTER ROLE postgres SET synchronous_commit = off; CHECKPOINT");
    let images = folder.path().join("images");
    let mut lose_power = || {
        server.kill();
        server.run();
    };
    // Nothing else is committed before each loss of power: it would make the one before durable.
    let (provisioned, _) = keys().provision(Setup::usual(258), 0, &images).expect("a meter");
    lose_power();
    assert!(keys().get(258).expect("provisioned").record.keys == provisioned.record.keys);
    let (rotated, _) = keys().rotate(258, 0, &images).expect("new keys");
    lose_power();
    assert!(keys().get(258).expect("rotated").record.keys == rotated.record.keys);
    keys().revoke(258).expect("there");
    lose_power();
    keys().get(258).expect_err("it was revoked");
    let (id, _) = tokens::add(&place, "anna", Role::Administrator).expect("a token");
    lose_power();
    let listed = tokens::list(&place).expect("readable");
    assert!(listed.iter().any(|token| token.id == id && token.revoked_s.is_none()), "{listed:?}");
    tokens::revoke(&place, id).expect("there");
    lose_power();
    let listed = tokens::list(&place).expect("readable");
    assert!(listed.iter().any(|token| token.id == id && token.revoked_s.is_some()), "{listed:?}");
}
