//! Old readings go, and nothing else.

use super::place::{Engine, NEW_YEAR_S, add, on_each_engine, reading};
use collector::store::{ConsumptionQuery, Interval, MeterFilter, Options, ReadingsQuery, Resolution, Rows};

on_each_engine!(old_readings_go_and_their_sums_stay, a_clock_that_is_ahead_takes_nothing_away);

fn old_readings_go_and_their_sums_stay(engine: Engine) {
    let place = engine.place();
    let options = Options { keep_days: 10, ..Options::default() };
    let mut store = place.open_with(&options);
    add(&mut store, [1]);
    // An hour apart; more than land before they are sorted in.
    for from in (1..=40_000u32).step_by(2000) {
        let batch =
            (from..from + 2000).map(|n| reading(1, n, NEW_YEAR_S + i64::from(n) * 3600, n, 5)).collect();
        store.commit(batch).expect("there is room");
    }
    // They came one after the other, and not all since the start.
    drop(store);
    let mut store = place.open_with(&options);
    let now_ms = (NEW_YEAR_S + 40_000 * 3600) * 1000;
    while store.upkeep(now_ms).expect("there is room") {}
    let query = ReadingsQuery { limit: 1, ..ReadingsQuery::raw(1) };
    let Rows::Raw { at_s, .. } = store.reader().readings(&query).expect("readings").rows else {
        panic!("readings were asked for");
    };
    // Readings that landed only just are compared when they are sorted in.
    assert!(at_s[0] >= NEW_YEAR_S + 32_000 * 3600, "{at_s:?}");
    let days = ReadingsQuery { resolution: Resolution::Day, limit: 10_000, ..query };
    let Rows::Rollup { readings, .. } = store.reader().readings(&days).expect("days").rows else {
        panic!("rollups were asked for");
    };
    assert_eq!(readings.iter().sum::<u32>(), 40_000);
    let months = ConsumptionQuery {
        from_s: NEW_YEAR_S,
        to_s: NEW_YEAR_S + 40_001 * 3600,
        resolution: Interval::Month,
        whose: MeterFilter::All,
    };
    let used_wh = &store.reader().consumption(&months).expect("consumption").meters[0].used_wh;
    assert_eq!(used_wh.iter().flatten().map(|wh| (wh * 10.0).round() as u32).sum::<u32>(), 40_000);
}

fn a_clock_that_is_ahead_takes_nothing_away(engine: Engine) {
    let place = engine.place();
    let options = Options { keep_days: 1, ..Options::default() };
    let mut store = place.open_with(&options);
    add(&mut store, [1]);
    for from in (1..=36_000u32).step_by(2000) {
        let batch = (from..from + 2000).map(|n| reading(1, n, NEW_YEAR_S + i64::from(n), n, 5)).collect();
        store.commit(batch).expect("there is room");
    }
    for days in [20, 10 * 365] {
        while store.upkeep(NEW_YEAR_S * 1000 + days * 86_400_000).expect("there is room") {}
    }
    let query = ReadingsQuery { limit: 1, ..ReadingsQuery::raw(1) };
    let Rows::Raw { at_s, .. } = store.reader().readings(&query).expect("readings").rows else {
        panic!("readings were asked for");
    };
    assert_eq!(at_s, [NEW_YEAR_S + 1]);
}
