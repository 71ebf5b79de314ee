//! Several that write one database, each some partitions.

use super::proxy::Proxy;
use super::{METERS, batch, open, place};
use crate::store::place::{NEW_YEAR_S, all_readings, provisioned, reading};
use collector::fence::LeaseNumber;
use collector::network::NetworkId;
use collector::partition::{Partition, Slices};
use collector::store::{
    ConsumptionQuery, Interval, MeterFilter, Options, Sharing, Store, StoreError, Write, Written,
};
use std::time::Duration;
use testkit::postgres::{Server, shared};
use wire::meter::MeterId;

fn slices(count: &str) -> Slices {
    count.parse().expect("slices")
}

fn lease(slice: u8, number: u64) -> LeaseNumber {
    LeaseNumber { partition: Partition { network: NetworkId::DEFAULT, slice }, number }
}

fn try_open(url: &str, worker: &str, count: &str) -> Result<Store, StoreError> {
    let sharing = Sharing { worker: worker.to_owned(), slices: slices(count) };
    Store::open_shared(place(url), &Options::default(), sharing)
}

fn worker(url: &str, name: &str) -> Store {
    try_open(url, name, "2").expect("the store opens")
}

/// Meters of one of two slices.
fn meters_of(slice: u8) -> impl Iterator<Item = MeterId> + Clone {
    (1..=METERS).filter(move |meter| slices("2").of(*meter) == slice)
}

fn provision(store: &mut Store, lease: LeaseNumber) {
    let writes =
        meters_of(lease.partition.slice).map(|meter| Write::Provisioned(Box::new(provisioned(meter, 1))));
    store.commit_under(&writes.collect::<Vec<_>>(), &[lease]).expect("stored");
}

/// The n-th reading of each meter of a slice.
fn of_slice(slice: u8, n: u32) -> Vec<Write> {
    let at_s = NEW_YEAR_S + i64::from(n) * 10;
    meters_of(slice).map(|meter| reading(meter, n, at_s, n, 5)).collect()
}

fn assert_refused(error: &StoreError, lost: &[LeaseNumber]) {
    assert!(matches!(error, StoreError::Fenced { leases, .. } if leases == lost), "{error:?}");
}

/// Nothing of the transaction is stored, also not what is of partitions that it still has; that can
/// be tried again without the rest.
#[test]
fn nothing_is_stored_under_a_lease_that_another_has_followed() {
    let server = shared();
    let url = server.url(&server.database());
    let (mut one, mut two) = (worker(&url, "one"), worker(&url, "two"));
    let (first, second) = (lease(0, 100), lease(1, 100));
    for lease in [first, second] {
        one.take(lease).expect("nobody has it");
        provision(&mut one, lease);
    }
    one.commit_under(&batch(1), &[first, second]).expect("stored");
    two.take(lease(0, 101)).expect("a later lease");
    let error = one.commit_under(&batch(2), &[first, second]).expect_err("one partition is another's");
    assert_refused(&error, &[first]);
    assert!(error.to_string().contains("partition 0.0 was taken under a later lease"), "{error}");
    assert_eq!(one.reader().health().trouble, None, "it stores, others' partitions excepted");
    one.commit_under(&of_slice(1, 2), &[second]).expect("its own");
    let written = two.commit_under(&of_slice(0, 2), &[lease(0, 101)]).expect("its own");
    assert!(written.iter().all(|written| matches!(written, Written::Reading { .. })), "{written:?}");
    // The first one's readings are known as stored; a meter of others is unknown here.
    let repeated = two.commit_under(&of_slice(0, 1), &[lease(0, 101)]).expect("its own");
    assert!(repeated.iter().all(|written| *written == Written::Repeated), "{repeated:?}");
    let unknown = two.commit_under(&of_slice(1, 3), &[lease(0, 101)]).expect("done");
    assert!(unknown.iter().all(|written| *written == Written::Unknown), "{unknown:?}");
    // An older lease than the database saw is none, also after a connection that was made again.
    assert_refused(&one.take(lease(0, 101)).expect_err("another has it"), &[lease(0, 101)]);
    one.take(lease(0, 102)).expect("a later one");
    assert_refused(&two.commit_under(&of_slice(0, 3), &[lease(0, 101)]).expect_err("lost"), &[lease(0, 101)]);
    one.commit_under(&batch(3), &[lease(0, 102), second]).expect("all its own again");
    for meter in 1..=METERS {
        assert_eq!(all_readings(&one.reader(), meter), [1, 2, 3], "meter {meter}");
    }
}

#[test]
fn single_writer_and_sharing_writers_exclude_each_other() {
    let server = shared();
    let database = server.database();
    let url = server.url(&database);
    let mut one = worker(&url, "one");
    let error = super::refused(&url);
    assert!(matches!(&error, StoreError::InUse { by, .. } if by.contains("process")), "{error:?}");
    one.take(lease(0, 100)).expect("nobody has it");
    provision(&mut one, lease(0, 100));
    drop(one);
    let mut alone = open(&url);
    let error = try_open(&url, "two", "2").err().expect("one writes alone");
    assert!(matches!(error, StoreError::InUse { .. }), "{error:?}");
    alone.commit(of_slice(0, 1)).expect("stored");
    // As if one of several had lost the lock without knowing, and its lease were not over.
    let fence = server.sql(&database, "SELECT fence FROM partitions WHERE slices = 2 AND slice = 0");
    assert_eq!(fence, "101", "who is alone has ended the leases");
    drop(alone);
    drop(worker(&url, "two"));
    assert_eq!(server.sql(&database, "SELECT generation, shared FROM writer"), "3|t");
}

/// A worker whose network stands still while it begins is cut off by the server, and waits for it
/// as for any that does not answer.
#[test]
fn worker_silent_while_beginning_begins_again() {
    let server = shared();
    let database = server.database();
    drop(worker(&server.url(&database), "one"));
    let proxy = Proxy::of(server.folder());
    let url = proxy.url(&database);
    proxy.stand_still_after_begin(Duration::from_secs(4));
    let error = try_open(&url, "two", "2").err().expect("3 s within a transaction are too long");
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error:?}");
    assert!(error.to_string().contains("heard nothing for too long"), "{error}");
    worker(&url, "two").take(lease(0, 100)).expect("nobody has it");
}

/// A worker that knows another number of slices writes nothing more as soon as one partition is
/// taken with the new one.
#[test]
fn partitions_of_another_number_of_slices_are_over() {
    let server = shared();
    let url = server.url(&server.database());
    let mut old = worker(&url, "old");
    old.take(lease(1, 100)).expect("nobody has it");
    provision(&mut old, lease(1, 100));
    let mut new = try_open(&url, "new", "8").expect("the store opens");
    new.take(lease(3, 101)).expect("nobody has it");
    assert_refused(&old.commit_under(&of_slice(1, 1), &[lease(1, 100)]).expect_err("over"), &[lease(1, 100)]);
}

/// Both make the same weeks, and change rows that are of meters of both.
#[test]
fn two_who_write_at_once_lose_nothing_of_each_other_s_sums() {
    let server = shared();
    let url = server.url(&server.database());
    let commit = |slice: u8| {
        let mut store = worker(&url, &format!("worker-{slice}"));
        let own = lease(slice, 100);
        store.take(own).expect("nobody has it");
        provision(&mut store, own);
        for n in 1..=60 {
            let at_s = NEW_YEAR_S + i64::from(n) * 7000;
            let batch: Vec<Write> =
                meters_of(slice).map(|meter| reading(meter, n, at_s, n * 10, 5)).collect();
            store.commit_under(&batch, &[own]).expect("stored");
        }
        assert_eq!(store.compare(), None);
        store
    };
    let stores: Vec<Store> = std::thread::scope(|scope| {
        let writing = [0, 1].map(|slice| scope.spawn(move || commit(slice)));
        writing.into_iter().map(|writing| writing.join().expect("it does not panic")).collect()
    });
    let reader = stores[0].reader();
    let consumption = |whose: MeterFilter| {
        let (from_s, to_s) = (NEW_YEAR_S, NEW_YEAR_S + 61 * 7000);
        let query = ConsumptionQuery { from_s, to_s, resolution: Interval::Hour, whose };
        reader.consumption(&query).expect("figures").meters
    };
    let all = consumption(MeterFilter::Network(NetworkId::DEFAULT));
    assert_eq!(all.len(), usize::from(METERS));
    for of_all in all {
        let alone = consumption(MeterFilter::Meter(of_all.meter));
        assert_eq!(alone[0].used_wh, of_all.used_wh, "meter {}", of_all.meter);
        assert_eq!(of_all.used_wh.iter().flatten().sum::<f64>(), 60.0, "meter {}", of_all.meter);
    }
}

/// The holder of the first partition does the work for all meters, under its lease.
#[test]
fn holder_of_first_partition_does_unpartitioned_work() {
    const DAY_S: i64 = 86_400;
    let server = shared();
    let database = server.database();
    let url = server.url(&database);
    let (mut one, mut two) = (worker(&url, "one"), worker(&url, "two"));
    for (store, own) in [(&mut one, lease(0, 100)), (&mut two, lease(1, 100))] {
        store.take(own).expect("nobody has it");
        provision(store, own);
        for n in [1, 2] {
            let at_s = NEW_YEAR_S + i64::from(n) * DAY_S;
            let batch: Vec<Write> =
                meters_of(own.partition.slice).map(|meter| reading(meter, n, at_s, n, 5)).collect();
            store.commit_under(&batch, &[own]).expect("stored");
        }
    }
    let weeks = || server.sql(&database, "SELECT count(*) FROM reading_weeks");
    let now_ms = (NEW_YEAR_S + 3 * DAY_S) * 1000;
    while two.upkeep(now_ms).expect("done") {}
    assert_eq!(weeks(), "1", "next week's is not the second's to make");
    while one.upkeep(now_ms).expect("done") {}
    assert_eq!(weeks(), "2");
    // One who has the partition no more leaves it to the other.
    two.take(lease(0, 101)).expect("a later lease");
    assert_refused(&one.upkeep(now_ms).expect_err("it lost it"), &[lease(0, 100)]);
}

/// The others' rows name the connections of those who have them, which are ended where these stand
/// still.
#[test]
fn connection_made_anew_goes_on_with_its_own_partitions_alone() {
    let server = shared();
    let database = server.database();
    let url = server.url(&database);
    let (mut one, mut two) = (worker(&url, "one"), worker(&url, "two"));
    for slice in [0, 1] {
        one.take(lease(slice, 100)).expect("nobody has it");
        provision(&mut one, lease(slice, 100));
    }
    let backend = |slice: u8| {
        let of = format!("SELECT backend FROM partitions WHERE slices = 2 AND slice = {slice}");
        server.sql(&database, &of)
    };
    two.take(lease(0, 101)).expect("a later lease");
    let (of_one, of_two) = (backend(1), backend(0));
    server.sql(&database, &format!("SELECT pg_terminate_backend({of_one})"));
    let mut stores = || one.commit_under(&of_slice(1, 1), &[lease(1, 100)]).is_ok();
    let stored = (0..50).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        stores()
    });
    assert!(stored, "it is connected again");
    assert_ne!(backend(1), of_one, "it goes on with its own");
    assert_eq!(backend(0), of_two, "the other's is the other's");
}

/// Another zone would make all of the others' hours anew.
#[test]
fn sharing_writers_have_one_zone() {
    let server: &Server = shared();
    let url = server.url(&server.database());
    let _one = worker(&url, "one");
    let zone = jiff::tz::TimeZone::get("Europe/Prague").expect("a zone");
    let options = Options { zone, ..Options::default() };
    let sharing = Sharing { worker: "two".to_owned(), slices: slices("2") };
    let error = Store::open_shared(place(&url), &options, sharing).err().expect("it is refused");
    assert!(error.to_string().contains("give each worker --zone UTC"), "{error}");
}
