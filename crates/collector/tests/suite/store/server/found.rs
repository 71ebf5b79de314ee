//! The databases that stand in another's place.

use super::{METERS, batch, open, place, refused};
use crate::store::place::{add, all_readings};
use collector::store::{Options, Reader, Store, StoreError};
use std::process::Stdio;
use std::time::Duration;
use testkit::alone;
use testkit::postgres::{Server, shared};

#[test]
fn one_service_at_a_time() {
    let server = shared();
    let url = server.url(&server.database());
    let mut store = open(&url);
    let error = refused(&url);
    assert!(matches!(error, StoreError::InUse { .. }), "{error:?}");
    assert!(error.to_string().contains("(process "), "{error}");
    add(&mut store, 1..=METERS);
    let reader = Reader::open(place(&url)).expect("looking is for everybody");
    assert_eq!(reader.kept_meters().expect("meters").len(), usize::from(METERS));
    drop(store);
    open(&url).commit(batch(1)).expect("stored");
}

/// A process that has lost the lock without knowing, as by a program between that gives connections
/// to several, stores nothing more.
#[test]
fn superseded_writer_stores_nothing() {
    let server = shared();
    let database = server.database();
    let mut first = open(&server.url(&database));
    add(&mut first, 1..=METERS);
    first.commit(batch(1)).expect("stored");
    server.sql(&database, "UPDATE writer SET generation = generation + 1");
    for _ in 0..2 {
        let error = first.commit(batch(2)).expect_err("another one writes");
        assert!(error.to_string().contains("another service has begun to write"), "{error}");
        assert!(first.check().is_err());
    }
    assert_eq!(all_readings(&first.reader(), 1), [1]);
}

const BEGINS: &str = "store::server::found::begins_with_an_empty_database";
const URL: &str = "WATTSEAL_BEGUN_STORE";

/// The work of each of two processes; as a test it does nothing.
#[test]
fn begins_with_an_empty_database() {
    let Ok(url) = std::env::var(URL) else { return };
    let until = std::time::Instant::now() + Duration::from_secs(60);
    loop {
        match Store::open(place(&url), &Options::default()) {
            Ok(store) => {
                drop(store);
                return;
            }
            Err(StoreError::InUse { .. }) if std::time::Instant::now() < until => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn processes_that_begin_at_once_make_the_tables_once() {
    let server = shared();
    let url = server.url(&server.database());
    let begun: Vec<_> = (0..3)
        .map(|_| {
            let mut command = alone::command(BEGINS, &[]);
            command.env(URL, &url).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
        })
        .collect();
    for process in begun {
        alone::assert_passed(&process.wait_with_output().expect("it ends"));
    }
    let mut store = open(&url);
    add(&mut store, 1..=METERS);
    store.commit(batch(1)).expect("stored");
}

#[test]
fn foreign_or_newer_schema_stays_unchanged() {
    let server = shared();
    let database = server.database();
    let url = server.url(&database);
    let empty = Reader::open(place(&url)).err().expect("there is nothing to read");
    assert!(matches!(empty, StoreError::Empty { .. }), "{empty:?}");
    assert!(Reader::open_if_any(&place(&url)).expect("a server").is_none());
    server.sql(&database, "CREATE TABLE invoices (id INTEGER)");
    let error = refused(&url);
    assert!(matches!(error, StoreError::NotOurs { .. }), "{error:?}");
    assert!(error.to_string().contains("invoices") && error.to_string().contains("createdb"), "{error}");
    server.sql(&database, "DROP TABLE invoices");
    drop(open(&url));
    server.sql(&database, "UPDATE wattseal_schema SET version = 4711");
    let error = refused(&url);
    assert!(matches!(error, StoreError::Newer { found: 4711, .. }), "{error:?}");
    assert!(matches!(Reader::open(place(&url)), Err(StoreError::Newer { .. })));
    let generation = server.sql(&database, "SELECT generation FROM writer");
    assert_eq!(generation, "1", "nothing was changed");
}

#[test]
fn an_encoding_that_cannot_keep_every_label_is_refused() {
    let server = shared();
    server.sql("postgres", "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
    let error = refused(&server.url("latin"));
    assert!(matches!(error, StoreError::Unsuited { .. }), "{error:?}");
    assert!(error.to_string().contains("--encoding UTF8"), "{error}");
}

/// A server that makes commits durable later, if nobody tells it not to.
#[test]
fn server_settings_do_not_weaken_a_commit() {
    let mut server = Server::start(&["synchronous_commit=off", "wal_writer_delay=10s", "autovacuum=off"]);
    let database = server.database();
    let url = server.url(&database);
    let mut store = open(&url);
    add(&mut store, 1..=METERS);
    for n in 1..=5 {
        store.commit(batch(n)).expect("stored");
    }
    server.kill();
    server.run();
    let reader = Reader::open(place(&url)).expect("a database");
    for meter in 1..=METERS {
        assert_eq!(all_readings(&reader, meter), [1, 2, 3, 4, 5], "meter {meter}");
    }
}

#[test]
fn a_server_that_takes_no_writes_is_said_to_be_one() {
    let server = shared();
    let database = server.database();
    drop(open(&server.url(&database)));
    server.sql("postgres", &format!("ALTER DATABASE {database} SET default_transaction_read_only = on"));
    let error = refused(&server.url(&database));
    assert!(error.to_string().contains("takes no writes"), "{error}");
}

#[test]
fn a_server_that_is_not_there_is_waited_for() {
    let mut server = Server::start(&["fsync=off"]);
    let database = server.database();
    let url = server.url(&database);
    let mut store = open(&url);
    add(&mut store, 1..=METERS);
    store.commit(batch(1)).expect("stored");
    server.stop();
    let error = store.commit(batch(2)).expect_err("there is no server");
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error:?}");
    let error = refused(&url);
    assert!(error.to_string().contains("Look that it runs"), "{error}");
    assert!(store.reader().kept_meters().is_err());
    assert!(store.reader().health().trouble.is_some());
    server.run();
    store.check().expect("it is there again");
    store.commit(batch(2)).expect("stored");
    assert_eq!(store.reader().health().trouble, None);
    assert_eq!(all_readings(&store.reader(), 1), [1, 2]);
}

#[test]
fn missing_server_connections_are_reported() {
    let server = Server::start(&["fsync=off", "superuser_reserved_connections=0", "max_connections=2"]);
    let database = server.database();
    let url = server.url(&database);
    let store = open(&url);
    let reader = Reader::open(place(&url)).expect("the last connection");
    let error = store.reader().kept_meters().expect_err("there is none left");
    assert!(error.to_string().contains("max_connections"), "{error}");
    drop((store, reader));
}
