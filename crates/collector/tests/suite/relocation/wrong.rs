//! The refusals of a move, by source and by target: nothing is changed.

use super::{begun, fill, moved, stands};
use crate::meters::station::SimulatedMeter;
use crate::store::place::{Engine, TestStore, add};
use collector::relocation::{RelocationError, Stage, relocate};
use collector::store::relocation::Relocation;
use collector::store::{DatabaseUrl, Reader, StoreError};
use std::path::Path;
use testkit::postgres::shared;
use wire::meter::Suite;

fn store_error(result: Result<impl Sized, RelocationError>) -> StoreError {
    match result.err().expect("it is refused") {
        RelocationError::Store(error) => error,
        other => panic!("{other}"),
    }
}

#[test]
fn nothing_is_moved_into_what_has_something() {
    for (from, to) in [(Engine::Sqlite, Engine::Postgres), (Engine::Postgres, Engine::Sqlite)] {
        let (from, to) = (from.place(), to.place());
        fill(&mut from.open());
        // One meter is enough.
        add(&mut to.open(), [9]);
        let error = moved(&from.place(), &to.place()).expect_err("it is refused");
        assert!(error.is_usage() && error.to_string().contains("has meters already"), "{error}");
        assert_eq!(to.open().reader().kept_meters().expect("meters").len(), 1);
        drop(from.open());
    }
}

/// A service that was started once with what becomes the target leaves its zone there.
#[test]
fn a_target_that_was_only_opened_is_taken() {
    let (file, server) = stands();
    drop(server.open());
    moved(&file.place(), &server.place()).expect("moved");
}

#[test]
fn a_target_of_another_move_stays_that() {
    let (file, server) = stands();
    drop(begun(&file.place(), &server.place()));
    let other = TestStore::new();
    drop(other.open());
    let error = store_error(moved(&other.place(), &server.place()));
    assert!(
        matches!(&error, StoreError::Arriving { from, .. } if *from == file.path().display().to_string()),
        "{error:?}"
    );
    drop(other.open());
    moved(&file.place(), &server.place()).expect("moved");
}

#[test]
fn concurrent_writer_of_the_target_is_seen_and_keeps_it() {
    let (file, server) = stands();
    let store = server.open();
    assert!(matches!(store_error(moved(&file.place(), &server.place())), StoreError::InUse { .. }));
    drop(store);
    // Two moves into one.
    let first = begun(&file.place(), &server.place());
    assert!(matches!(store_error(moved(&file.place(), &server.place())), StoreError::InUse { .. }));
    drop(first);
}

#[test]
fn places_that_are_none_are_told() {
    let (file, server) = stands();
    let nowhere: DatabaseUrl = file.path().with_file_name("other.db").into();
    let error = moved(&nowhere, &server.place()).expect_err("there is none").to_string();
    assert!(error.contains("other.db") && error.contains("--db"), "{error}");
    for (from, to) in [(file.place(), nowhere.clone()), (server.place(), Engine::Postgres.place().place())] {
        let error = moved(&from, &to).expect_err("both are the same engine's");
        assert!(error.is_usage() && error.to_string().contains("of one engine"), "{error}");
    }
    let missing = DatabaseUrl::named(&shared().url("no_such_database")).expect("a URL");
    let error = moved(&file.place(), &missing).expect_err("there is none").to_string();
    assert!(error.contains("createdb"), "{error}");
    // Nothing was ever stored in it.
    let error = moved(&server.place(), &nowhere).expect_err("it is empty").to_string();
    assert!(error.contains("nothing was ever stored in it"), "{error}");
    assert!(!file.names().contains(&"other.db".to_owned()), "{:?}", file.names());
    drop(file.open());
}

/// A table, or a column, that the program does not know is not left behind without a word: also
/// where it is the program's own new one.
#[test]
fn unknown_table_is_not_left_behind() {
    for (change, what) in [
        ("ALTER TABLE alerts ADD COLUMN colour BIGINT", "table alerts has a column colour"),
        ("CREATE TABLE tariffs (id BIGINT)", "has a table tariffs"),
        ("ALTER TABLE readings RENAME COLUMN rssi_dbm TO strength", "table readings has a column strength"),
    ] {
        for (from, to) in [(Engine::Sqlite, Engine::Postgres), (Engine::Postgres, Engine::Sqlite)] {
            let [from, to] = [from, to].map(Engine::place);
            for store in [&from, &to] {
                drop(store.open());
            }
            // SQLite's tables know its own names of types, and a view of it names this column.
            let change = |store: &TestStore| match store.place() {
                DatabaseUrl::File(_) => {
                    store.change(&format!("DROP VIEW landed; {}", change.replace("BIGINT", "INTEGER")))
                }
                DatabaseUrl::Server(_) => store.change(change),
            };
            change(&from);
            let error = store_error(moved(&from.place(), &to.place()));
            assert!(
                matches!(error, StoreError::Unsuited { .. }) && error.to_string().contains(what),
                "{error}"
            );
        }
    }
    // Those of the schema are all known: else nothing would be moved at all.
    let (file, server) = stands();
    moved(&file.place(), &server.place()).expect("moved");
}

#[test]
fn a_database_of_keys_has_no_way_into_a_file() {
    let (file, server) = (TestStore::new(), Engine::Postgres.place());
    drop(server.open());
    server.change("INSERT INTO key_networks VALUES (7, 1, 1)");
    let error = store_error(moved(&server.place(), &file.place()));
    assert!(error.to_string().contains("keys are in it"), "{error}");
    // Nor do they come before a move into it.
    let (from, _) = stands();
    let error = store_error(moved(&from.place(), &server.place()));
    assert!(error.to_string().contains("meters import"), "{error}");
    drop((from.open(), server.open()));
}

#[test]
fn keys_of_other_meters_are_told_at_the_beginning() {
    let (file, server) = (TestStore::new(), Engine::Postgres.place());
    add(&mut file.open(), 1..=4);
    let folder = tempfile::tempdir().expect("a folder");
    let keys = folder.path().join("keys");
    SimulatedMeter::register(&keys, 77, Suite::Aes128Gcm, 1);
    let error = relocate(&file.place(), &server.place(), &keys, |_| {}).expect_err("others' keys");
    assert!(error.is_usage() && error.to_string().contains("--keys"), "{error}");
    assert!(Reader::open_if_any(&server.place()).expect("empty").is_none(), "nothing was begun");
    let mut told = false;
    relocate(&file.place(), &server.place(), Path::new("no keys"), |stage| {
        told |= matches!(stage, Stage::NoKeys(_));
    })
    .expect("moved");
    assert!(told, "that there are no keys");
}

/// A user who may read the source, and not mark it, is told before anything is copied.
#[test]
fn unmarkable_source_is_refused_at_the_beginning() {
    let (file, server) = (TestStore::new(), Engine::Postgres.place());
    fill(&mut server.open());
    server.change("CREATE ROLE reads_only LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reads_only");
    let url = server.place().to_string().replace("postgres@", "reads_only@");
    let error = Relocation::begin(&DatabaseUrl::named(&url).expect("a URL"), &file.place())
        .err()
        .expect("it is refused");
    assert!(error.to_string().contains("may not change"), "{error}");
    assert!(!file.path().exists());
    server.change("DROP OWNED BY reads_only; DROP ROLE reads_only");
}
