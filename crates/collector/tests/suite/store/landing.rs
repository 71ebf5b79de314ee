//! Readings that landed and are sorted in a few at a time: at every moment each is there, once, in
//! its place.

use super::place::{NEW_YEAR_S, TestStore, add, measurement, report};
use collector::network::{GlobalMeterId, NetworkId};
use collector::store::{ReadingsQuery, Rows, Store, Write, Written};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;

/// A meter's readings that are stored, page by page.
fn stored(store: &Store, meter: GlobalMeterId, page: usize) -> Vec<(i64, u32)> {
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let query = ReadingsQuery { after, limit: page, ..ReadingsQuery::raw(meter) };
        let shown = store.reader().readings(&query).expect("readings");
        let Rows::Raw { at_s, energy_wh, .. } = shown.rows else { panic!("readings were asked for") };
        found.extend(at_s.into_iter().zip(energy_wh.iter().map(|wh| (wh * 10.0).round() as u32)));
        after = shown.next;
        if after.is_none() {
            return found;
        }
    }
}

#[test]
fn each_reading_is_there_once_at_every_moment() {
    let mut rng = StdRng::seed_from_u64(testkit::random::seed());
    let place = TestStore::new();
    let mut store = place.open();
    // Gaps between them, and both ends; one has more readings than are sorted in at once.
    let of_network_0 = (0..40).map(|meter| meter * 7 + 1).chain([65_534, 65_535]).map(GlobalMeterId::from);
    let others = [(1, 0), (1, 1), (7, 8), (7, 65_535), (u32::MAX, 65_535)];
    let others = others.map(|(network, meter)| NetworkId(network).meter(meter));
    let meters: Vec<GlobalMeterId> = of_network_0.chain(others).collect();
    add(&mut store, meters.iter().copied());
    let mut expected: BTreeMap<GlobalMeterId, Vec<(i64, u32)>> =
        meters.iter().map(|meter| (*meter, Vec::new())).collect();
    let look = rusqlite::Connection::open(place.path()).expect("a database");
    let count = |sql: &str| look.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a number");
    let (mut made, mut most_in_both, mut partly) = (0, 0, 0);
    while made < 110_000 {
        let size =
            if rng.random_range(0..4) == 0 { rng.random_range(1..20) } else { rng.random_range(1..3000) };
        let mut batch = Vec::new();
        for _ in 0..size {
            let meter = if rng.random_range(0..8) == 0 {
                8.into()
            } else {
                meters[rng.random_range(0..meters.len())]
            };
            let of_meter = expected.get_mut(&meter).expect("one of them");
            let n = of_meter.len() as u32 + 1;
            // Many of the same second, and in any order.
            let at_s = NEW_YEAR_S + rng.random_range(0..5000);
            of_meter.push((at_s, n));
            batch.push(Write::Report(report(meter, n, at_s, measurement(at_s, n, 1))));
        }
        made += size;
        let written = store.commit(batch).expect("there is room");
        assert!(written.iter().all(|written| matches!(written, Written::Reading { .. })));
        let landed = count("SELECT count(*) FROM landed");
        assert_eq!(count("SELECT count(*) FROM readings") + landed, made);
        most_in_both = most_in_both.max(landed);
        partly += i64::from(count("SELECT max(from_meter) FROM sorted_in") > 0);
        let meter = meters[rng.random_range(0..meters.len())];
        let mut of_meter = expected[&meter].clone();
        // Those of the same second are in the order of their numbers, in which they were made.
        of_meter.sort_by_key(|(at_s, _)| *at_s);
        assert!(stored(&store, meter, rng.random_range(50..5000)) == of_meter, "meter {meter}, {made} made");
        if rng.random_range(0..10) == 0 {
            drop(store);
            store = place.open();
        }
    }
    for (meter, of_meter) in &mut expected {
        of_meter.sort_by_key(|(at_s, _)| *at_s);
        assert!(stored(&store, *meter, 10_000) == *of_meter, "meter {meter}");
    }
    // Three times a place was full; what was sorted in meanwhile kept the other from getting full,
    // too.
    assert!(most_in_both < 2 * 32_768, "{most_in_both} had landed");
    assert!(partly > 20, "only {partly} batches found a place that was sorted in partly");
}
