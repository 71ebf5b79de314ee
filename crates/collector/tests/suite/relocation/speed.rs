//! The speed of a move: docs/how-to/collector/move.md, "Moving to PostgreSQL and back".

use super::moved;
use crate::store::place::{Engine, NEW_YEAR_S, TestStore, add, reading};
use std::time::Instant;

const METERS: u16 = 1000;

/// `WATTSEAL_READINGS=1000000`, of a thousand meters, there and back.
#[test]
#[ignore = "takes minutes"]
fn a_million_readings_there_and_back() {
    let readings =
        std::env::var("WATTSEAL_READINGS").map_or(1_000_000, |count| count.parse().expect("a number"));
    let (file, server, back) = (TestStore::new(), Engine::Postgres.place(), TestStore::new());
    let mut store = file.open();
    add(&mut store, 1..=METERS);
    for n in 1..=readings / u32::from(METERS) {
        let at_s = NEW_YEAR_S + i64::from(n) * 60;
        store
            .commit((1..=METERS).map(|meter| reading(meter, n, at_s, n, 5)).collect())
            .expect("there is room");
    }
    drop(store);
    for (from, to) in [(&file, &server), (&server, &back)] {
        let began = Instant::now();
        let done = moved(&from.place(), &to.place()).expect("moved");
        let (took, pause) = (began.elapsed().as_secs_f64(), done.pause.as_secs_f64());
        let rows: u64 = done.rows.iter().map(|(_, rows)| rows).sum();
        println!(
            "{} rows, {readings} of them readings: {took:.1} s, {:.0} rows/s; of it the pause {pause:.1} s",
            rows,
            rows as f64 / (took - pause)
        );
    }
}
