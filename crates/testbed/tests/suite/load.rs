//! A collector of its own process under load: what it acknowledges is stored, whatever happens to
//! it. Chance begins with the seed that is printed; `WATTSEAL_SEED` repeats it.

use output::Format;
use std::net::UdpSocket;
use std::num::NonZeroU32;
use std::time::Duration;
use testbed::load::{
    self, Child, Drive, Fleet, Kills, LoadError, Options, Program, check, kills, run, run_telegrams,
};
use testkit::random::seed;
use wire::meter::Suite;

fn program(more: &[&str]) -> Program {
    let arguments = ["{folder}", "{udp}"].iter().chain(more).map(ToString::to_string).collect();
    Program { path: env!("CARGO_BIN_EXE_wattseal-load-collector").into(), arguments }
}

fn quiet(_: &str) {}

#[test]
fn every_suite_is_acknowledged_and_stored() {
    for suite in Suite::WITH_FIXED_KEYS {
        let options =
            Options { suite, meters: 20, seconds: 1, rate: None, program: program(&[]), folder: None };
        let outcome = run(&options, &quiet).expect("a collector that does its work");
        assert!(outcome.acknowledged > 20, "{outcome:?}");
        assert!(outcome.stored >= outcome.acknowledged);
        assert!(outcome.collector_memory_bytes < 200_000_000, "{outcome:?}");
    }
}

#[test]
fn reports_come_at_the_rate_that_is_asked_for() {
    let rate = NonZeroU32::new(200);
    let (suite, program) = (Suite::Aes128Gcm, program(&[]));
    let options = Options { suite, meters: 100, seconds: 2, rate, program, folder: None };
    let outcome = run(&options, &quiet).expect("a collector that does its work");
    // Without it there are ten times as many, also on a machine that has other work.
    assert!((100.0..=250.0).contains(&outcome.readings_per_s), "{outcome:?}");
}

#[test]
fn telegrams_are_stored_once_as_they_were_sent() {
    let (suite, path) = (Suite::None, env!("CARGO_BIN_EXE_wattseal-load-collector").into());
    let arguments = ["telegrams", "{folder}", "{udp}"].map(str::to_owned).to_vec();
    let program = Program { path, arguments };
    let options = Options { suite, meters: 30, seconds: 1, rate: None, program, folder: None };
    let outcome = run_telegrams(&options, &quiet).expect("each telegram is stored");
    assert!(outcome.acknowledged > 60, "{outcome:?}");
    assert!(outcome.stored >= outcome.acknowledged, "{outcome:?}");
}

/// `WATTSEAL_KILLS=200` kills it 200 times, as `./wattseal load --kills 200` does.
#[test]
fn kills_lose_and_double_nothing() {
    let count = std::env::var("WATTSEAL_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(5);
    for suite in [Suite::Aes128Gcm, Suite::EciesEcdsa] {
        let request = Kills { suite, meters: 50, count, seed: seed(), program: program(&[]), folder: None };
        let outcome = kills(&request, &quiet).expect("what was acknowledged is stored");
        println!("{}", load::kills_table(&outcome, Format::Table));
        assert!(outcome.acknowledged > 250, "{outcome:?}");
    }
}

/// A database that may not grow: nothing more is acknowledged, nothing that was is lost, and with
/// more room all goes on.
#[test]
fn a_full_disk_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let fleet = Fleet::make(folder.path(), Suite::Aes128Gcm, 200).expect("meters");
    let address = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port");
    let mut drive = Drive::new(fleet, address).expect("a socket");
    let mut child = Child::start(&program(&["400000"]), folder.path(), address).expect("a collector");
    drive.until_heard(&mut child, Duration::from_secs(30)).expect("heard");
    let mut before = 0;
    let full = (0..60).any(|_| {
        drive.run(Duration::from_millis(500), &mut child).expect("it goes on");
        std::mem::replace(&mut before, drive.acknowledged()) == drive.acknowledged()
    });
    assert!(full, "400 kB held {before} readings and more");
    child.stop().expect("it stops well");
    let checked = check(&child.database(), drive.fleet()).expect("all is there");
    assert!(checked.rows >= before && before > 200, "{checked:?}");
    let mut child = Child::start(&program(&[]), folder.path(), address).expect("a collector");
    drive.until_heard(&mut child, Duration::from_secs(30)).expect("heard again");
    drive.run(Duration::from_millis(500), &mut child).expect("it goes on");
    assert!(drive.acknowledged() > before);
    child.kill().expect("killed");
    check(&child.database(), drive.fleet()).expect("all is there");
}

/// The check itself: what is not as acknowledged is seen.
#[test]
fn a_database_that_lost_a_reading_is_seen() {
    let folder = tempfile::tempdir().expect("a folder");
    let fleet = Fleet::make(folder.path(), Suite::Aes128Gcm, 5).expect("meters");
    let address = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port");
    let mut drive = Drive::new(fleet, address).expect("a socket");
    let mut child = Child::start(&program(&[]), folder.path(), address).expect("a collector");
    drive.until_heard(&mut child, Duration::from_secs(30)).expect("heard");
    drive.run(Duration::from_millis(300), &mut child).expect("it goes on");
    child.stop().expect("it stops well");
    let database = child.database();
    check(&database, drive.fleet()).expect("all is there");
    let connection = rusqlite::Connection::open(&database).expect("a database");
    for damage in
        ["SET power_w = power_w + 1 WHERE meter = 2 AND n = 2", "SET n = 0 WHERE meter = 3 AND n = 1"]
    {
        let tables = ["readings", "landing"].map(|table| format!("UPDATE {table} {damage}"));
        let changed: usize =
            tables.iter().map(|damage| connection.execute(damage, []).expect("damaged")).sum();
        assert_eq!(changed, 1, "{damage}");
        assert!(matches!(check(&database, drive.fleet()), Err(LoadError::Wrong(_))), "{damage}");
    }
}

/// Speed without the rest of the service: `cargo test --release -p wattseal-testbed --test suite --
/// --ignored --nocapture figures`
#[test]
#[ignore = "a measurement; release builds alone"]
fn figures() {
    let say = |what: &str| println!("{what}");
    let outcomes: Vec<_> = [Suite::Aes128Gcm, Suite::EciesEcdsa]
        .map(|suite| Options {
            suite,
            meters: 0,
            seconds: 10,
            rate: None,
            program: program(&[]),
            folder: None,
        })
        .iter()
        .map(|options| run(options, &say).expect("a collector that does its work"))
        .collect();
    println!("{}", load::table(&outcomes, Format::Table));
}
