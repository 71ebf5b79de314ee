//! A primary and its synchronous standby: what was acknowledged survives the primary, and nothing
//! is acknowledged by one that was left.

use super::{METERS, batch, commit_until_taken, open, place, refused};
use crate::store::place::{add, all_readings};
use collector::store::{Reader, Written};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use testkit::postgres::Server;

const SETTINGS: [&str; 2] = ["fsync=off", "shared_buffers=32MB"];

struct Pair {
    primary: Server,
    standby: Server,
    database: String,
}

impl Pair {
    fn new() -> Pair {
        let primary = Server::start(&SETTINGS);
        let database = primary.database();
        let standby = primary.standby(&SETTINGS);
        // The standby's files were copied before: when it is promoted it waits for none.
        primary.sql("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'");
        primary.reload();
        while primary.sql("postgres", "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")
            != "1"
        {
            std::thread::sleep(Duration::from_millis(20));
        }
        Pair { primary, standby, database }
    }

    fn url(&self) -> String {
        let (primary, standby) = (self.primary.host(), self.standby.host());
        format!("postgres://postgres@{primary},{standby}/{}?target_session_attrs=read-write", self.database)
    }

    /// Every batch up to this one is in the standby, once.
    fn assert_on_standby(&self, last: u32) {
        let reader = Reader::open(place(&self.standby.url(&self.database))).expect("a database");
        let expected: Vec<u32> = (1..=last).collect();
        for meter in 1..=METERS {
            assert_eq!(all_readings(&reader, meter), expected, "meter {meter}");
        }
    }
}

/// Killed while batches come one after the other; the next ones go on with the standby, by
/// themselves.
#[test]
fn a_standby_that_is_promoted_has_all_that_was_acknowledged() {
    let mut pair = Pair::new();
    let url = pair.url();
    let mut store = open(&url);
    add(&mut store, 1..=METERS);
    let (over, (said, heard)) = (AtomicBool::new(false), mpsc::channel());
    let (mut n, mut failures) = (0, 0);
    std::thread::scope(|scope| {
        let (over, pair) = (&over, &mut pair);
        let losing = scope.spawn(move || {
            for _ in 0..3 {
                heard.recv().expect("commits");
            }
            pair.primary.kill();
            let begun = Instant::now();
            pair.standby.promote();
            while heard.try_recv().is_ok() {}
            // And three that were begun with the standby alone.
            for _ in 0..3 {
                heard.recv().expect("commits");
            }
            println!("promoted and committed again {:?} after the primary was killed", begun.elapsed());
            over.store(true, Ordering::Relaxed);
        });
        while !over.load(Ordering::Relaxed) {
            n += 1;
            failures += commit_until_taken(&mut store, n).0.len();
            let _ = said.send(());
        }
        losing.join().expect("lost");
    });
    println!("{n} batches, refused {failures} times");
    pair.assert_on_standby(n);
    // A new process finds the present one.
    drop(store);
    let mut store = open(&url);
    commit_until_taken(&mut store, n + 1);
    pair.assert_on_standby(n + 1);
    drop(store);
    pair.standby.kill();
    let error = refused(&url).to_string();
    assert!(error.contains("none of its hosts is to be had"), "{error}");
}

/// The old primary is stopped, left by its standby, and goes on: both take writes, and one of them
/// waits for a standby for ever.
#[test]
fn abandoned_primary_acknowledges_none_and_promoted_is_found() {
    let pair = Pair::new();
    let mut store = open(&pair.url());
    add(&mut store, 1..=METERS);
    store.commit(batch(1)).expect("stored");
    pair.primary.hold(true);
    pair.standby.promote();
    pair.primary.hold(false);
    let waits = |how: &str| {
        let database = &pair.database;
        format!("SELECT {how} FROM pg_stat_activity WHERE datname = '{database}' AND wait_event = 'SyncRep'")
    };
    std::thread::scope(|scope| {
        let committing = scope.spawn(|| store.commit(batch(2)));
        let until = Instant::now() + Duration::from_secs(60);
        while pair.primary.sql("postgres", &waits("pid")).is_empty() {
            assert!(Instant::now() < until && !committing.is_finished(), "it does not wait for the standby");
            std::thread::sleep(Duration::from_millis(20));
        }
        pair.primary.sql("postgres", &waits("pg_terminate_backend(pid)"));
        committing.join().expect("no panic").expect_err("no standby has it");
    });
    // The old one is the first in the URL, takes writes, and has the batch.
    let (errors, written) = commit_until_taken(&mut store, 2);
    assert!(
        written.iter().all(|written| matches!(written, Written::Reading { .. })),
        "{written:?} {errors:?}"
    );
    pair.assert_on_standby(2);
    let readings = "SELECT count(*) FROM readings WHERE n = 2";
    assert_eq!(pair.primary.sql(&pair.database, readings), METERS.to_string(), "what was not acknowledged");
}
