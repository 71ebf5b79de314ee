//! The files that stand in a database's place, and full disks.

use super::place::{NEW_YEAR_S, TestStore, add, reading};
use collector::store::{Options, Reader, ReadingsQuery, Rows, Store, StoreError, Write, Written};
use std::fs;
use std::path::Path;

fn refused(path: &Path) -> StoreError {
    Store::open(path, &Options::default()).err().expect("it is refused")
}

fn filled(place: &TestStore) {
    let mut store = place.open();
    add(&mut store, 1..=10);
    for n in 1..=200 {
        let batch = (1..=10).map(|meter| reading(meter, n, NEW_YEAR_S + i64::from(n) * 10, n, 5)).collect();
        store.commit(batch).expect("there is room");
    }
}

#[test]
fn foreign_file_stays_unchanged() {
    let place = TestStore::new();
    let text = b"not a database, but something that somebody may want to keep".to_vec();
    fs::write(place.path(), &text).expect("written");
    let error = refused(&place.path());
    assert!(matches!(error, StoreError::NotOurs { .. }) && error.to_string().contains("--db"), "{error}");
    assert_eq!(fs::read(place.path()).expect("there"), text);
    fs::remove_file(place.path()).expect("removed");

    let other = rusqlite::Connection::open(place.path()).expect("a database");
    other
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        .expect("filled");
    let wal = place.path().with_extension("db-wal");
    let before = (fs::read(place.path()).expect("there"), fs::read(&wal).expect("there"));
    assert!(matches!(refused(&place.path()), StoreError::NotOurs { .. }));
    assert_eq!((fs::read(place.path()).expect("there"), fs::read(&wal).expect("there")), before);
}

#[test]
fn an_empty_file_becomes_a_database_unless_its_log_is_there() {
    let place = TestStore::new();
    fs::write(place.path(), "").expect("written");
    let error = Reader::open(place.path()).err().expect("there is nothing to read");
    assert!(error.to_string().contains("it is an empty file"), "{error}");
    drop(place.open());
    drop(Reader::open(place.path()).expect("a database"));

    filled(&place);
    let wal = place.path().with_extension("db-wal");
    fs::write(&wal, "all that is left").expect("written");
    fs::write(place.path(), "").expect("cut off");
    let error = refused(&place.path());
    assert!(matches!(error, StoreError::Damaged { .. }) && error.to_string().contains("its log"), "{error}");
    assert_eq!(fs::read(&wal).expect("there"), b"all that is left");
    // A log alone is not taken for the new database's, and not lost.
    fs::remove_file(place.path()).expect("removed");
    drop(place.open());
    let left = place.path().with_extension("db-wal.left");
    assert_eq!(fs::read(left).expect("there"), b"all that is left");
}

#[test]
fn a_later_version_s_database_stays_as_it_is() {
    let place = TestStore::new();
    filled(&place);
    let later = rusqlite::Connection::open(place.path()).expect("a database");
    later.pragma_update(None, "user_version", 4711).expect("set");
    drop(later);
    let before = fs::read(place.path()).expect("there");
    let error = refused(&place.path());
    assert!(matches!(error, StoreError::Newer { found: 4711, .. }), "{error}");
    assert!(matches!(Reader::open(place.path()), Err(StoreError::Newer { .. })));
    assert_eq!(fs::read(place.path()).expect("there"), before);
}

#[test]
fn a_damaged_database_stays_as_it_is() {
    let place = TestStore::new();
    filled(&place);
    let whole = fs::read(place.path()).expect("there");
    let pages = whole.len() / 4096;
    assert!(pages > 20, "{pages} pages");
    let mut damages: Vec<(&str, Vec<u8>)> = vec![
        ("cut off in its header", whole[..50].to_vec()),
        ("cut off in the middle", whole[..whole.len() / 2].to_vec()),
    ];
    let mut overwritten = whole.clone();
    for page in 2..pages {
        overwritten[page * 4096..page * 4096 + 64].fill(0xa5);
    }
    damages.push(("its pages overwritten", overwritten));
    let mut beginning = whole.clone();
    beginning[..16].fill(0);
    damages.push(("its beginning overwritten", beginning));
    for (name, bytes) in damages {
        fs::write(place.path(), &bytes).expect("written");
        let error = refused(&place.path());
        assert!(
            matches!(error, StoreError::Damaged { .. } | StoreError::NotOurs { .. }),
            "{name}: {error:?}"
        );
        assert!(error.to_string().contains("othing in it was changed"), "{name}: {error}");
        assert_eq!(fs::read(place.path()).expect("there"), bytes, "{name}");
    }
}

#[test]
fn one_service_at_a_time() {
    let place = TestStore::new();
    let store = place.open();
    let error = refused(&place.path());
    assert!(error.to_string().contains(&format!("(process {})", std::process::id())), "{error}");
    let reader = Reader::open(place.path()).expect("looking is for everybody");
    assert!(reader.kept_meters().expect("meters").is_empty());
    drop(store);
    place.open();
}

#[test]
fn a_full_disk_takes_nothing_and_goes_on_when_there_is_room() {
    let place = TestStore::new();
    let options = Options { most_bytes: Some(400_000), ..Options::default() };
    let mut store = Store::open(place.path(), &options).expect("the store opens");
    add(&mut store, 1..=10);
    let batch = |n: u32| -> Vec<Write> {
        (1..=10).map(|meter| reading(meter, n, NEW_YEAR_S + i64::from(n) * 10, n, 5)).collect()
    };
    let mut n = 1;
    let error = loop {
        match store.commit(batch(n)) {
            Ok(_) => n += 1,
            Err(error) => break error,
        }
        assert!(n < 10_000, "it never was full");
    };
    assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
    assert!(store.commit(batch(n)).is_err());
    let health = store.reader().health();
    assert!(health.trouble.is_some_and(|trouble| trouble.contains("no room")) && health.failed == 2);
    drop(store);
    let mut store = place.open();
    assert_eq!(store.commit(batch(n - 1)).expect("there is room"), vec![Written::Repeated; 10]);
    let written = store.commit(batch(n)).expect("there is room");
    assert!(written.iter().all(|written| matches!(written, Written::Reading { .. })));
    for meter in 1..=10 {
        let query = ReadingsQuery::raw(meter);
        let Rows::Raw { energy_wh, .. } = store.reader().readings(&query).expect("readings").rows else {
            panic!("readings were asked for");
        };
        let expected: Vec<f64> = (1..=n).map(|n| f64::from(n) / 10.0).collect();
        assert_eq!(energy_wh, expected);
    }
}

/// With a disk of its own, where this user may make one: `cargo test -p wattseal-collector --test
/// suite -- --ignored real_disk`.
#[test]
#[ignore = "mounts a file system, as root"]
fn a_real_disk_that_is_full() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |program: &str, words: &[&str]| {
        let done = std::process::Command::new(program).args(words).status().expect("it runs");
        assert!(done.success(), "{program} {words:?}");
    };
    let at = folder.path().to_str().expect("a name");
    run("mount", &["-t", "tmpfs", "-o", "size=3m", "tmpfs", at]);
    let path = folder.path().join("wattseal.db");
    let ballast = folder.path().join("ballast");
    fs::write(&ballast, vec![0; 600_000]).expect("written");
    let outcome = std::panic::catch_unwind(|| {
        let mut store = Store::open(&path, &Options::default()).expect("the store opens");
        add(&mut store, 1..=10);
        let batch = |n: u32| -> Vec<Write> {
            (1..=10).map(|meter| reading(meter, n, NEW_YEAR_S + i64::from(n) * 10, n, 5)).collect()
        };
        let mut n = 1;
        while store.commit(batch(n)).is_ok() {
            n += 1;
            assert!(n < 100_000, "it never was full");
        }
        println!("full after {n} batches");
        assert!(store.commit(batch(n)).is_err());
        fs::remove_file(&ballast).expect("removed");
        let written = store.commit(batch(n)).expect("there is room");
        assert!(written.iter().all(|written| matches!(written, Written::Reading { .. })));
        drop(store);
        let store = Store::open(&path, &Options::default()).expect("the store opens");
        assert!(store.reader().kept_meters().expect("meters").iter().all(|meter| meter.state.last_n == n));
    });
    run("umount", &[at]);
    assert!(outcome.is_ok());
}
