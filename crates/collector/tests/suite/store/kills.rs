//! SIGKILL at any time: what was acknowledged is there, once. 20 kills; `WATTSEAL_KILLS=200` for
//! more.

use super::place::{Engine, NEW_YEAR_S, TestStore, add, all_readings, on_each_engine, reading};
use collector::store::{ConsumptionQuery, DatabaseUrl, Interval, MeterFilter, Store};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::io::{BufRead, BufReader, Write as _};
use std::process::Stdio;
use std::time::Duration;
use testkit::alone;

const METERS: u16 = 50;
/// The database, for the process that is killed.
const PLACE: &str = "WATTSEAL_KILLED_STORE";
const WRITER: &str = "store::kills::writes_until_it_is_killed";

/// The process that is killed; as a test it does nothing.
#[test]
fn writes_until_it_is_killed() {
    let Ok(place) = std::env::var(PLACE) else { return };
    let place = DatabaseUrl::named(&place).expect("a place");
    let mut store = Store::open(place, &collector::store::Options::default()).expect("the store opens");
    let last = store.reader().kept_meters().expect("meters");
    let mut n = last.iter().map(|meter| meter.state.last_n).max().unwrap_or(0);
    let mut out = std::io::stdout().lock();
    loop {
        n += 1;
        let batch =
            (1..=METERS).map(|meter| reading(meter, n, NEW_YEAR_S + i64::from(n) * 10, n, 5)).collect();
        store.commit(batch).expect("there is room");
        writeln!(out, "acknowledged {n}").and_then(|()| out.flush()).expect("somebody listens");
        if n % 16 == 0 {
            store.upkeep((NEW_YEAR_S + i64::from(n) * 10) * 1000).expect("there is room");
        }
    }
}

fn run_and_kill(place: &TestStore, after: Duration) -> Option<u32> {
    let mut child = alone::command(WRITER, &[])
        .env(PLACE, place.place().to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    // Counted from the first line on, so that the kill falls into work, not into the start of the
    // process.
    let number = |line: &str| line.rsplit_once("acknowledged ")?.1.parse::<u32>().ok();
    let mut last = None;
    for line in lines.by_ref() {
        last = number(&line.expect("text"));
        if last.is_some() {
            break;
        }
    }
    std::thread::sleep(after);
    child.kill().expect("killed");
    for line in lines {
        last = line.ok().as_deref().and_then(number).or(last);
    }
    child.wait().expect("over");
    last
}

on_each_engine!(acknowledged_reading_is_stored_once);

fn acknowledged_reading_is_stored_once(engine: Engine) {
    let kills = std::env::var("WATTSEAL_KILLS").map_or(20, |kills| kills.parse().expect("a number"));
    let mut rng = StdRng::seed_from_u64(testkit::random::seed());
    let place = engine.place();
    let mut store = place.open();
    add(&mut store, 1..=METERS);
    // Enough that kills come before, while and after landed readings are sorted in.
    let mut acknowledged = 640;
    let before = (1..=acknowledged)
        .flat_map(|n| (1..=METERS).map(move |meter| reading(meter, n, NEW_YEAR_S + i64::from(n) * 10, n, 5)));
    store.commit(before.collect()).expect("there is room");
    drop(store);
    for _ in 0..kills {
        let after = Duration::from_micros(rng.random_range(0..80_000));
        acknowledged = run_and_kill(&place, after).unwrap_or(acknowledged);
        let store = place.open();
        let reader = store.reader();
        let stored = reader.kept_meters().expect("meters")[0].state.last_n;
        // The last batch may have been made durable without a word.
        assert!(
            stored == acknowledged || stored == acknowledged + 1,
            "{stored} stored, {acknowledged} acknowledged"
        );
        for meter in 1..=METERS {
            let (found, expected) = (all_readings(&reader, meter), Vec::from_iter(1..=stored));
            assert!(found == expected, "meter {meter}: {} readings of {stored}", found.len());
        }
        let to_s = NEW_YEAR_S + i64::from(stored) * 10 + 1;
        let query =
            ConsumptionQuery { from_s: NEW_YEAR_S, to_s, resolution: Interval::Day, whose: MeterFilter::All };
        for meter in reader.consumption(&query).expect("consumption").meters {
            let used_wh: f64 = meter.used_wh.iter().flatten().sum();
            assert!((used_wh - f64::from(stored) / 10.0).abs() < 0.01, "{used_wh} Wh of {stored}");
        }
        acknowledged = stored;
    }
    println!("{kills} kills, {} readings", acknowledged * u32::from(METERS));
}
