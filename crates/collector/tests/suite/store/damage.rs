//! Bits that flip in the file by themselves.

use super::place::{NEW_YEAR_S, TestStore, add, reading};
use collector::store::{Options, Store};
use std::fs;

/// The number of readings that makes the store move them out of the staging table.
const READINGS: u32 = 40_000;

fn filled(place: &TestStore) {
    let mut store = place.open();
    add(&mut store, [1, 2]);
    for from in (1..=READINGS).step_by(1000) {
        let of = |meter| {
            (from..from + 1000).map(move |n| reading(meter, n, NEW_YEAR_S + i64::from(n) * 10, n * 3, 1234))
        };
        store.commit(of(1).chain(of(2)).collect()).expect("there is room");
    }
}

/// Compares all there is, twice. Returns what was found.
fn compare_all(store: &mut Store) -> Vec<String> {
    let found = (0..200).filter_map(|_| store.compare()).collect();
    let compared = store.reader().health().compared;
    assert!(compared > u64::from(READINGS) * 3, "{compared} readings compared");
    found
}

#[test]
fn a_flipped_bit_of_a_reading_is_told_once() {
    let place = TestStore::new();
    filled(&place);
    let mut store = place.open();
    assert_eq!(compare_all(&mut store), Vec::<String>::new(), "nothing is damaged");
    assert_eq!(store.reader().health().damage, None);
    drop(store);
    let whole = fs::read(place.path()).expect("there");
    // A record as SQLite has it: power 1234 W is 0x04d2 in two bytes, and 12,345 times 3 as its
    // register in three.
    let register = [&1234_i16.to_be_bytes()[..], &(12_345_u32 * 3).to_be_bytes()[1..]].concat();
    let at = whole.windows(register.len()).position(|bytes| bytes == register).expect("the reading");
    for (bit, name) in [(at + 1, "power"), (at + 4, "register")] {
        let mut flipped = whole.clone();
        flipped[bit] ^= 4;
        fs::write(place.path(), &flipped).expect("written");
        // SQLite itself finds nothing.
        let mut store = Store::open(place.path(), &Options::default()).expect("the store opens");
        let found = compare_all(&mut store);
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        assert!(
            found[0].starts_with("meter 1, the quarter-hour that begins at 2026-01-0"),
            "{name}: {found:?}"
        );
        assert_eq!(store.reader().health().damage.as_ref(), Some(&found[0]), "{name}");
    }
}
