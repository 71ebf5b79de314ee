//! The power goes at every point at which something is made durable, and after every batch: what
//! was told to be stored is there, once. `WATTSEAL_POWER_CUTS=200` for more of the cuts that keep
//! some of what was not durable.

use super::disk::{self, Disk, Event};
use super::place::{NEW_YEAR_S, TestStore, add, all_readings, reading};
use collector::store::{Options, Store};
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::fs;

const METERS: u16 = 8;

/// Batches; the store is closed and opened again between, which writes its log back, and once its
/// file is removed under it.
fn run(place: &TestStore) {
    let mut n = 0;
    for round in 0..6 {
        let mut store = place.open();
        if round == 0 {
            add(&mut store, 1..=METERS);
            disk::told(1);
        }
        for _ in 0..6 {
            n += 1;
            let batch = |n: u32| {
                (1..=METERS)
                    .map(move |meter| reading(meter, n, NEW_YEAR_S + i64::from(n) * 300, n, 5))
                    .collect()
            };
            if round == 3 && n % 6 == 3 {
                // Until it is written back it is gone with the power.
                disk::told(0);
                fs::remove_file(place.path()).expect("there");
                store.commit(batch(n)).expect_err("it is gone");
            }
            store.commit(batch(n)).expect("stored");
            disk::told(n + 1);
        }
    }
}

#[test]
fn acknowledged_row_survives_power_loss_at_any_write() {
    let chances = std::env::var("WATTSEAL_POWER_CUTS").map_or(1, |cuts| cuts.parse().expect("a number"));
    let mut rng = StdRng::seed_from_u64(testkit::random::seed());
    let place = TestStore::new();
    disk::record(place.path().parent().expect("a folder"));
    run(&place);
    let events = disk::recorded();

    let (mut disk, mut told, mut cuts) = (Disk::default(), None, 0);
    for event in events {
        match &event {
            Event::Write { name, .. } if name == "wattseal.db-wal" => {
                assert!(
                    disk.has("wattseal.db"),
                    "after {told:?}: a log is written whose database has no durable name"
                );
            }
            Event::Sync { .. } | Event::SyncFolder { .. } => {
                cuts += cut(&disk, told, chances, &mut rng);
            }
            Event::Told { what, .. } => {
                told = Some(*what);
                cuts += cut(&disk, told, 0, &mut rng);
            }
            _ => {}
        }
        disk.go_on(event);
    }
    println!("{cuts} cuts");
    assert!(told == Some(37) && cuts > 100, "{cuts} cuts, {told:?}");
}

/// The power goes: without anything that was not durable, and as often as is said with some of it.
/// Returns how often that was.
fn cut(disk: &Disk, told: Option<u32>, chances: u32, rng: &mut StdRng) -> u32 {
    check(&disk.cut(None), told, "all lost");
    for _ in 0..chances {
        check(&disk.cut(Some(rng)), told, "some lost");
    }
    1 + chances
}

fn check(left: &Disk, told: Option<u32>, how: &str) {
    let place = TestStore::new();
    left.lay_out(place.path().parent().expect("a folder"));
    if told > Some(0) {
        assert!(place.path().exists(), "{how}, after {told:?}: the database is gone");
    }
    let store = Store::open(place.path(), &Options::default());
    let store = store.unwrap_or_else(|error| panic!("{how}, after {told:?}: {error}"));
    let reader = store.reader();
    let Some(batches) = told.and_then(|told| told.checked_sub(1)) else { return };
    assert_eq!(reader.kept_meters().expect("meters").len(), usize::from(METERS), "{how}, after {told:?}");
    for meter in 1..=METERS {
        let found = all_readings(&reader, meter);
        let expected: Vec<u32> = (1..=found.len() as u32).collect();
        assert_eq!(found, expected, "{how}, after {told:?}: meter {meter}");
        // One more may be durable without a word.
        let stored = found.len() as u32;
        assert!(stored == batches || stored == batches + 1, "{how}: {stored} stored, {batches} acknowledged");
    }
}
