//! The database's files removed and replaced under the store that has them open, and who may read
//! them.

use super::disk;
use super::place::{NEW_YEAR_S, TestStore, add, all_readings, provisioned, reading};
use collector::store::{Options, Reader, Store, StoreError, Write, Written};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use testkit::alone;

const METERS: u16 = 20;

fn batch(n: u32) -> Vec<Write> {
    (1..=METERS).map(|meter| reading(meter, n, NEW_YEAR_S + i64::from(n) * 10, n, 5)).collect()
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}{ending}", path.display()))
}

/// Each meter's readings from the first to this one, once each, in the file that the name stands
/// for.
fn assert_there(path: &Path, last: u32) {
    let reader = Reader::open(path).expect("a database");
    let expected: Vec<u32> = (1..=last).collect();
    for meter in 1..=METERS {
        assert_eq!(all_readings(&reader, meter), expected, "meter {meter}");
    }
}

/// Commits until it is taken, as a session does. Returns what it was refused with meanwhile.
fn commit_until_taken(store: &mut Store, n: u32) -> Vec<StoreError> {
    let mut errors = Vec::new();
    loop {
        match store.commit(batch(n)) {
            Ok(written) => {
                let taken =
                    |written: &Written| matches!(written, Written::Reading { .. } | Written::Repeated);
                assert!(written.iter().all(taken), "{written:?}");
                return errors;
            }
            Err(error) => errors.push(error),
        }
        assert!(errors.len() < 10_000, "it never came back: {:?}", errors.last());
        if errors.len() > 1 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn removed_file_is_restored_before_any_acknowledgement() {
    for endings in [
        &[""] as &[&str],
        &["", "-wal", "-shm"],
        &["", "-wal", "-shm", ".lock"],
        &["-wal"],
        &["-shm"],
        &[".lock"],
    ] {
        let place = TestStore::new();
        let path = place.path();
        let mut store = place.open();
        let reader = store.reader();
        add(&mut store, 1..=METERS);
        for n in 1..=3 {
            store.commit(batch(n)).expect("stored");
        }
        for ending in endings {
            fs::remove_file(beside(&path, ending)).expect("there");
        }
        let error = store.commit(batch(4)).expect_err("nothing is acknowledged");
        assert!(matches!(error, StoreError::NotInPlace { .. }), "{endings:?}: {error:?}");
        assert!(error.to_string().contains("do not stop the service"), "{error}");
        assert!(reader.health().trouble.is_some(), "{endings:?}");
        // The same again, as meters send it; nothing of it went into a file that nobody would have
        // found.
        let written = store.commit(batch(4)).expect("written back");
        assert!(written.iter().all(|written| matches!(written, Written::Reading { .. })), "{endings:?}");
        assert_eq!(reader.health().trouble, None);
        assert_there(&path, 4);
        assert_eq!(all_readings(&reader, 1), [1, 2, 3, 4], "who reads follows");
        store.commit(batch(5)).expect("stored");
        assert_eq!(all_readings(&reader, 1), [1, 2, 3, 4, 5], "{endings:?}");
        let error = Store::open(&path, &Options::default()).err().expect("it is locked still");
        assert!(matches!(error, StoreError::InUse { .. }), "{endings:?}: {error:?}");
        drop((store, reader));
        assert_there(&path, 5);
        let own = ["", "-wal", "-shm", ".lock"].map(|ending| format!("wattseal.db{ending}"));
        assert!(place.names().iter().all(|name| own.contains(name)), "{endings:?}: {:?}", place.names());
    }
}

#[test]
fn batch_into_a_removed_file_fails_and_is_stored_once() {
    let place = TestStore::new();
    let path = place.path();
    let mut store = place.open();
    add(&mut store, 1..=METERS);
    store.commit(batch(1)).expect("stored");
    for n in 2..=4 {
        let gone = path.clone();
        disk::at_next_sync(&beside(&path, "-wal"), move || fs::remove_file(gone).expect("there"));
        let error = store.commit(batch(n)).expect_err("it is in a file that nobody finds");
        assert!(matches!(error, StoreError::NotInPlace { .. }), "{error:?}");
        assert_eq!(
            store.commit(batch(n)).expect("written back"),
            vec![Written::Repeated; usize::from(METERS)]
        );
        assert_there(&path, n);
    }
}

#[test]
fn another_file_in_its_place_is_waited_for() {
    let place = TestStore::new();
    let (path, other) = (place.path(), place.path().with_file_name("other.db"));
    let mut theirs = Store::open(&other, &Options::default()).expect("another database");
    theirs.commit(vec![Write::Provisioned(Box::new(provisioned(4711, 1)))]).expect("stored");
    drop(theirs);
    let before = fs::read(&other).expect("there");
    let mut store = place.open();
    let reader = store.reader();
    add(&mut store, 1..=METERS);
    for n in 1..=3 {
        store.commit(batch(n)).expect("stored");
    }
    fs::rename(&other, &path).expect("replaced");
    for _ in 0..3 {
        let error = store.commit(batch(4)).expect_err("nothing is acknowledged");
        assert!(error.to_string().contains("until that one is moved away"), "{error}");
    }
    assert!(store.check().is_err());
    assert!(reader.health().trouble.is_some());
    assert_eq!(all_readings(&reader, 1), [1, 2, 3], "no other file is read");
    assert_eq!(fs::read(&path).expect("there"), before, "it is not touched");
    fs::rename(&path, &other).expect("moved away");
    store.check().expect("it comes back by itself");
    assert_eq!(reader.health().trouble, None);
    assert_eq!(commit_until_taken(&mut store, 4).len(), 0);
    assert_there(&path, 4);
    assert_eq!(fs::read(&other).expect("there"), before);
}

#[test]
fn the_right_file_that_is_put_back_is_gone_on_with() {
    let place = TestStore::new();
    let (path, away) = (place.path(), place.path().with_file_name("away.db"));
    let mut store = place.open();
    add(&mut store, 1..=METERS);
    store.commit(batch(1)).expect("stored");
    let inode = fs::metadata(&path).expect("there").ino();
    fs::rename(&path, &away).expect("moved away");
    store.commit(batch(2)).expect_err("nothing is acknowledged");
    fs::rename(&away, &path).expect("put back");
    store.commit(batch(2)).expect("stored");
    assert_eq!(fs::metadata(&path).expect("there").ino(), inode);
    assert_there(&path, 2);
}

#[test]
fn a_service_that_ends_meanwhile_leaves_all_of_it() {
    let place = TestStore::new();
    let path = place.path();
    let mut store = place.open();
    add(&mut store, 1..=METERS);
    store.commit(batch(1)).expect("stored");
    fs::remove_file(&path).expect("there");
    drop(store);
    assert_there(&path, 1);
    let mut store = place.open();
    store.commit(batch(2)).expect("stored");
    fs::write(path.with_file_name("other"), "something else").expect("written");
    fs::rename(path.with_file_name("other"), &path).expect("replaced");
    drop(store);
    assert_eq!(fs::read(&path).expect("there"), b"something else");
    assert_there(&beside(&path, ".saved"), 2);
}

#[test]
fn a_database_that_is_a_link_is_where_the_link_leads() {
    let place = TestStore::new();
    let (path, real) = (place.path(), place.path().with_file_name("real.db"));
    drop(place.open());
    fs::rename(&path, &real).expect("moved");
    std::os::unix::fs::symlink(&real, &path).expect("a link");
    let mut store = place.open();
    add(&mut store, 1..=METERS);
    store.commit(batch(1)).expect("stored");
    fs::remove_file(&real).expect("there");
    store.commit(batch(2)).expect_err("nothing is acknowledged");
    store.commit(batch(2)).expect("stored");
    fs::remove_file(&path).expect("the link");
    for _ in 0..2 {
        store.commit(batch(3)).expect_err("nobody finds it");
    }
    std::os::unix::fs::symlink(&real, &path).expect("a link");
    store.commit(batch(3)).expect("stored");
    drop(store);
    assert_there(&real, 3);
}

/// Files go and come while batches are committed: what was acknowledged is in the file that the
/// name stands for.
fn under_load(disturb: impl Fn(&Path, &AtomicBool) + Sync) {
    let place = TestStore::new();
    let path = place.path();
    let mut store = place.open();
    add(&mut store, 1..=METERS);
    let (mut n, mut refused) = (0, 0);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let disturbing = scope.spawn(|| {
            disturb(&path, &over);
            over.store(true, Ordering::Relaxed);
        });
        while !over.load(Ordering::Relaxed) {
            n += 1;
            refused += commit_until_taken(&mut store, n).len();
        }
        disturbing.join().expect("it was removed each time");
    });
    println!("{n} batches, refused {refused} times");
    assert!(refused > 0);
    for _ in 0..2 {
        // The first of these may be what notices the last time.
        let _ = store.check();
    }
    // As if the process were killed now: nothing of it is tidied up.
    assert_there(&path, n);
    drop(store);
    assert_there(&path, n);
}

#[test]
fn file_removed_repeatedly_loses_no_acknowledged_reading() {
    under_load(|path, _| {
        for time in 0..30u64 {
            std::thread::sleep(Duration::from_millis(5 + time % 7));
            for ending in ["", "-wal", "-shm"].iter().take(1 + time as usize % 3) {
                // It may not be back yet.
                let _ = fs::remove_file(beside(path, ending));
            }
        }
    });
}

#[test]
fn file_replaced_repeatedly_loses_no_acknowledged_reading() {
    under_load(|path, _| {
        let other = path.with_file_name("other");
        for time in 0..30u64 {
            std::thread::sleep(Duration::from_millis(5 + time % 7));
            fs::write(&other, "something else").expect("written");
            fs::rename(&other, path).expect("replaced");
            std::thread::sleep(Duration::from_millis(3));
            // Another file the next time: nobody writes into one that the store may have open.
            fs::rename(path, path.with_file_name(format!("away {time}"))).expect("moved away");
        }
    });
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("there").permissions().mode() & 0o777
}

#[test]
fn file_is_private_under_any_umask() {
    // The umask is the process's.
    let test = "store::in_place::file_is_private_under_any_umask";
    if alone::is_here(test) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("wattseal.db");
        let mut store = Store::open(&path, &Options::default()).expect("the store opens");
        add(&mut store, 1..=METERS);
        store.commit(batch(1)).expect("stored");
        for ending in ["", "-wal", "-shm", ".lock"] {
            assert_eq!(mode(&beside(&path, ending)), 0o600, "wattseal.db{ending}");
        }
        fs::remove_file(&path).expect("there");
        assert!(store.check().is_err());
        store.check().expect("written back");
        for ending in ["", "-wal", "-shm", ".lock"] {
            assert_eq!(mode(&beside(&path, ending)), 0o600, "wattseal.db{ending}, written back");
        }
        return;
    }
    for umask in ["022", "000"] {
        let run = format!("umask {umask}; exec \"$0\" \"$@\"");
        alone::assert_passed(&alone::command(test, &["sh", "-c", &run]).output().expect("it runs"));
    }
}

#[test]
fn file_readable_by_others_is_made_private() {
    let place = TestStore::new();
    let path = place.path();
    drop(place.open());
    let copy = beside(&path, ".before-3");
    fs::write(&copy, "an earlier one").expect("written");
    let stranger = beside(&path, ".txt");
    fs::write(&stranger, "somebody's notes").expect("written");
    for open in [&path, &beside(&path, ".lock"), &copy, &stranger] {
        fs::set_permissions(open, fs::Permissions::from_mode(0o664)).expect("opened to all");
    }
    let store = place.open();
    for ending in ["", "-wal", "-shm", ".lock", ".before-3"] {
        assert_eq!(mode(&beside(&path, ending)), 0o600, "wattseal.db{ending}");
    }
    assert_eq!(mode(&stranger), 0o664, "it is not the store's");
    drop(store);
}
