//! A server that goes away and comes back: what was acknowledged is there, once.

use super::proxy::Proxy;
use super::{METERS, batch, commit_until_taken, open, place};
use crate::store::place::{NEW_YEAR_S, add, all_readings, reading};
use collector::store::{Reader, Store, StoreError, Written};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use testkit::postgres::{Server, shared};

fn assert_there(reader: &Reader, last: u32) {
    let expected: Vec<u32> = (1..=last).collect();
    for meter in 1..=METERS {
        assert_eq!(all_readings(reader, meter), expected, "meter {meter}");
    }
}

/// The answer to a COMMIT is lost each time: the same batch comes again, and is there once.
#[test]
fn a_commit_whose_answer_was_lost_is_there_once() {
    let server = shared();
    let database = server.database();
    let proxy = Proxy::of(server.folder());
    let mut store = open(&proxy.url(&database));
    add(&mut store, 1..=METERS);
    for n in 1..=5 {
        proxy.cut_after_commit();
        let error = store.commit(batch(n)).expect_err("nobody said that it is stored");
        assert!(matches!(error, StoreError::Unreachable { .. }), "{error:?}");
        assert!(error.to_string().contains("nothing is acknowledged until it answers"), "{error}");
        let (_, written) = commit_until_taken(&mut store, n);
        assert_eq!(written, vec![Written::Repeated; usize::from(METERS)], "batch {n}");
    }
    assert_eq!(proxy.cuts(), 5);
    let direct = Reader::open(place(&server.url(&database))).expect("a database");
    assert_there(&direct, 5);
    let meters = direct.kept_meters().expect("meters");
    assert!(meters.iter().all(|meter| meter.state.last_n == 5), "{meters:?}");
}

/// The server is killed between and during commits, while they come one after the other.
#[test]
fn a_server_that_is_killed_has_what_was_acknowledged_once() {
    let kills = std::env::var("WATTSEAL_KILLS").map_or(4, |kills| kills.parse().expect("a number"));
    let mut rng = StdRng::seed_from_u64(testkit::random::seed());
    let mut server = Server::start(&["shared_buffers=32MB"]);
    let database = server.database();
    let url = server.url(&database);
    let mut store = open(&url);
    let reader = store.reader();
    add(&mut store, 1..=METERS);
    let (over, (said, heard)) = (AtomicBool::new(false), mpsc::channel());
    let (mut n, mut refused) = (0, 0);
    let over_too = &over;
    let _server = std::thread::scope(|scope| {
        let killing = scope.spawn(move || {
            for _ in 0..kills {
                // So that each comes into work.
                heard.recv().expect("commits");
                while heard.try_recv().is_ok() {}
                std::thread::sleep(Duration::from_micros(rng.random_range(0..60_000)));
                server.kill();
                server.run();
            }
            over_too.store(true, Ordering::Relaxed);
            server
        });
        while !over.load(Ordering::Relaxed) {
            n += 1;
            refused += commit_until_taken(&mut store, n).0.len();
            let _ = said.send(());
        }
        killing.join().expect("killed each time")
    });
    println!("{kills} kills, {n} batches, refused {refused} times");
    assert!(refused > 0);
    assert_there(&reader, n);
    drop(store);
    assert_there(&Reader::open(place(&url)).expect("a database"), n);
}

/// A server that hangs for a while answers late; one whose connections it closes is connected with
/// again.
#[test]
fn connections_that_the_server_closes_are_made_again() {
    let server = shared();
    let database = server.database();
    let mut store = open(&server.url(&database));
    let reader = store.reader();
    add(&mut store, 1..=METERS);
    for n in 1..=4 {
        store.commit(batch(n)).expect("stored");
        assert_eq!(all_readings(&reader, 1).len(), n as usize);
        server.sql(
            "postgres",
            &format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'"),
        );
        let ended = Instant::now() + Duration::from_secs(10);
        while reader.health().trouble.is_none() && Instant::now() < ended {
            // Between batches it is noticed, and mended, by a look.
            if store.check().is_ok() {
                break;
            }
        }
    }
    store.commit(batch(5)).expect("stored");
    assert_there(&reader, 5);
}

/// The commit of a primary waits for its standby. A missing one is waited for: an interrupted wait
/// does not make it acknowledged.
#[test]
fn nothing_is_acknowledged_that_a_standby_has_not() {
    let server = Server::start(&["fsync=off"]);
    let database = server.database();
    let url = server.url(&database);
    let mut store = open(&url);
    add(&mut store, 1..=METERS);
    let standby = |name: &str| {
        server.sql("postgres", &format!("ALTER SYSTEM SET synchronous_standby_names = '{name}'"));
        server.reload();
        // Taken when a new connection sees it.
        while server.sql("postgres", "SHOW synchronous_standby_names") != name {
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    standby("nobody");
    let cut = |how: &str| {
        let waiting = format!(
            "SELECT {how}(pid) FROM pg_stat_activity WHERE datname = '{database}' AND wait_event = 'SyncRep'"
        );
        let until = Instant::now() + Duration::from_secs(60);
        while server.sql("postgres", &waiting).is_empty() {
            assert!(Instant::now() < until, "nobody waits for the standby");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    std::thread::scope(|scope| {
        let (said, heard) = mpsc::channel();
        let committing = scope.spawn(move || {
            let mut refused = Vec::new();
            // The second time the batch is there, on the primary alone.
            loop {
                match store.commit(batch(1)) {
                    Ok(written) => break (store, written, refused),
                    Err(error) => refused.push(error),
                }
                said.send(refused.len()).expect("somebody listens");
            }
        });
        for (round, how) in
            ["pg_cancel_backend", "pg_terminate_backend", "pg_cancel_backend"].iter().enumerate()
        {
            cut(how);
            let failed = heard.recv_timeout(Duration::from_secs(60)).expect("a commit that failed");
            assert_eq!(failed, round + 1, "{how}");
        }
        standby("");
        let (store, written, refused) = committing.join().expect("stored at last");
        assert_eq!(written, vec![Written::Repeated; usize::from(METERS)], "{refused:?}");
        assert_there(&store.reader(), 1);
    });
}

/// Readings go by whole weeks, and what came late stays.
#[test]
fn retention_drops_whole_weeks() {
    const DAY_S: i64 = 86_400;
    let server = shared();
    let database = server.database();
    let options = collector::store::Options { keep_days: 30, ..Default::default() };
    let mut store = Store::open(place(&server.url(&database)), &options).expect("the store opens");
    add(&mut store, [1, 2]);
    let daily = |days: std::ops::Range<i64>| {
        days.map(|day| reading(1, day as u32 + 1, NEW_YEAR_S + day * DAY_S, 1, 1)).collect::<Vec<_>>()
    };
    store.commit(daily(0..100)).expect("stored");
    // The report that meter 2 kept for 100 days.
    let mut late = crate::store::place::report(
        2,
        1,
        NEW_YEAR_S + 2 * DAY_S,
        crate::store::place::measurement(NEW_YEAR_S + 2 * DAY_S, 1, 1),
    );
    late.heard_ms = (NEW_YEAR_S + 100 * DAY_S) * 1000;
    store.commit(vec![collector::store::Write::Report(late)]).expect("stored");
    drop(store);
    let mut store = Store::open(place(&server.url(&database)), &options).expect("the store opens");
    let weeks = || {
        let sql = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'readings'::regclass";
        server.sql(&database, sql).parse::<i64>().expect("a number")
    };
    let before = weeks();
    while store.upkeep((NEW_YEAR_S + 100 * DAY_S) * 1000).expect("done") {}
    let reader = store.reader();
    let found = all_readings(&reader, 1).len();
    // 30 days, the rest of their first week, and the week of what came late.
    assert!((30..30 + 7 + 7).contains(&found), "{found} readings");
    assert_eq!(all_readings(&reader, 2).len(), 1);
    assert!(weeks() <= before - 7, "{before} weeks before, {} now", weeks());
    // A deleted reading is not stored a second time.
    let again = store.commit(daily(20..21)).expect("done");
    assert_eq!(again, [Written::Repeated]);
}
