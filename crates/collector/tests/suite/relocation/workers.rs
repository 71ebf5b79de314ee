//! From PostgreSQL, which several write: it is waited for all of them, and none of them comes back.

use super::{begun, moved};
use crate::keys;
use crate::store::place::{Engine, NEW_YEAR_S, TestStore, all_readings, provisioned, reading};
use collector::fence::LeaseNumber;
use collector::network::NetworkId;
use collector::partition::Partition;
use collector::store::{DatabaseUrl, Options, Reader, Sharing, Store, StoreError, Write};
use testkit::postgres::shared;
use wire::meter::Setup;

fn worker(place: &DatabaseUrl) -> Result<Store, StoreError> {
    let sharing = Sharing { worker: "one".to_owned(), slices: "1".parse().expect("slices") };
    Store::open_shared(place, &Options::default(), sharing)
}

#[test]
fn it_waits_for_workers_and_ends_their_leases() {
    let (server, file) = (Engine::Postgres.place(), TestStore::new());
    let lease = LeaseNumber { partition: Partition { network: NetworkId(7), slice: 0 }, number: 100 };
    let mut one = worker(&server.place()).expect("it opens");
    one.take(lease).expect("nobody has it");
    let meter = NetworkId(7).meter(9);
    let batch = [Write::Provisioned(Box::new(provisioned(meter, 1))), reading(meter, 1, NEW_YEAR_S, 1, 5)];
    one.commit_under(&batch, &[lease]).expect("stored");
    let mut relocation = begun(&server.place(), &file.place());
    relocation.copy(|_| {}).expect("copied");
    assert!(matches!(relocation.freeze(), Err(StoreError::InUse { .. })));
    one.commit_under(&[reading(meter, 2, NEW_YEAR_S + 10, 2, 5)], &[lease]).expect("it goes on");
    drop(one);
    // The server may not know yet that it is gone.
    while let Err(error) = relocation.freeze() {
        assert!(matches!(error, StoreError::InUse { .. }), "{error:?}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(matches!(worker(&server.place()), Err(StoreError::InUse { .. })));
    let settled = relocation.settle(|_| {}).expect("compared");
    settled.leave().expect("left").open().expect("opened");
    assert!(matches!(worker(&server.place()), Err(StoreError::Moved { .. })));
    assert_eq!(all_readings(&Reader::open(file.place()).expect("a database"), meter), [1, 2]);
    // The earlier holder of the lease, without knowing it, is fenced.
    let DatabaseUrl::Server(_) = server.place() else { panic!("a server") };
    let database = server.place().to_string().rsplit_once('/').expect("a name").1.to_owned();
    assert_eq!(shared().sql(&database, "SELECT fence, holder FROM partitions"), "101|");
    // And back into another one, which workers begin with any lease.
    let again = Engine::Postgres.place();
    moved(&file.place(), &again.place()).expect("moved");
    let mut one = worker(&again.place()).expect("it opens");
    one.take(lease).expect("nobody had it here");
    one.commit_under(&[reading(meter, 3, NEW_YEAR_S + 20, 3, 5)], &[lease]).expect("stored");
    assert_eq!(all_readings(&one.reader(), meter), [1, 2, 3]);
}

/// A change of keys, or of anything else that is no writer's, does not go into the left database:
/// not even where it began before.
#[test]
fn nothing_changes_in_what_is_frozen() {
    let (server, file) = (Engine::Postgres.place(), TestStore::new());
    drop(server.open());
    let mut relocation = begun(&server.place(), &file.place());
    relocation.freeze().expect("nobody has it");
    let database = server.place().to_string().rsplit_once('/').expect("a name").1.to_owned();
    let insert = |table: &str, values: &str| {
        format!("SET lock_timeout = '100ms'; INSERT INTO {table} VALUES ({values}); SELECT 'done'")
    };
    for (table, values) in
        [("tokens", "9, 'a', 'viewer', ''::bytea, 1"), ("told", "1, ''"), ("key_networks", "7, 1, 1")]
    {
        let said = std::panic::catch_unwind(|| shared().sql(&database, &insert(table, values)));
        assert!(said.is_err(), "{table} was changed");
    }
    drop(relocation.settle(|_| {}).expect("compared").leave().expect("left"));
}

/// A process that opened it before it was left changes no keys there any more.
#[test]
fn keys_are_not_changed_in_what_was_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let (database, ring) = (shared().database(), keys::ring(&[&keys::kek(folder.path(), "kek")]));
    let store = keys::store(&database, &ring).expect("an empty database");
    let registry = store.open_network(NetworkId(7)).expect("a network");
    let provision = |meter| registry.provision(Setup::usual(meter), 0, &folder.path().join("images"));
    provision(1).expect("a meter");
    // As a move into another database would leave it.
    let mark = r#"{"state":"moved","other":"elsewhere.db","id":"1","at_ms":1}"#;
    let sql = format!(
        "INSERT INTO meta VALUES ('relocation', '{mark}'); UPDATE wattseal_schema SET version = version + 1000000"
    );
    shared().sql(&database, &sql);
    let error = provision(2).expect_err("it was left").to_string();
    assert!(error.contains("was moved to elsewhere.db"), "{error}");
    assert_eq!(shared().sql(&database, "SELECT count(*) FROM sealed_keys"), "2");
}
