//! The consumption of all meters in one query. It is read by time, from a separate table, and has
//! to be the count over all readings, and the answer for each meter alone.

use super::place::{Engine, NEW_YEAR_S, TestStore, add, measurement, on_each_engine, reading, report};
use super::sums::{Seen, begins, sums};
use collector::network::{GlobalMeterId, NetworkId};
use collector::store::{ConsumptionQuery, Interval, MeterFilter, ReadingsQuery, Rows, Store, Write, Written};
use jiff::tz::TimeZone;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::{BTreeMap, BTreeSet};

on_each_engine!(
    all_meters_used_what_their_readings_say,
    an_hour_that_begins_where_clocks_change_has_its_own_sum,
    a_database_of_before_months_gets_them,
);

const INTERVALS: [(Interval, i64); 5] = [
    (Interval::Quarter, 900),
    (Interval::Hour, 3600),
    (Interval::Day, 86_400),
    (Interval::Week, 7 * 86_400),
    (Interval::Month, 30 * 86_400),
];

fn dwh(used_wh: &[Option<f64>]) -> Vec<Option<i64>> {
    used_wh.iter().map(|used_wh| used_wh.map(|used_wh| (used_wh * 10.0).round() as i64)).collect()
}

/// Asks for stretches that begin and end anywhere.
pub fn check_all_meters(
    store: &Store,
    zone: &TimeZone,
    seen: &BTreeMap<GlobalMeterId, Vec<Seen>>,
    rng: &mut StdRng,
) {
    let times: Vec<i64> = seen.values().flatten().map(|seen| seen.at_s).collect();
    for (interval, about_s) in INTERVALS {
        let expected: BTreeMap<GlobalMeterId, BTreeMap<i64, i64>> = seen
            .iter()
            .map(|(meter, seen)| {
                let sums = sums(zone, seen, interval);
                (*meter, sums.into_iter().map(|(start_s, sum)| (start_s, sum.1)).collect())
            })
            .collect();
        for _ in 0..3 {
            // Both ends may be where a reading is.
            let from_s = times[rng.random_range(0..times.len())] - rng.random_range(0..3) * about_s / 2;
            let to_s = match rng.random() {
                true => from_s + rng.random_range(1..300) * about_s / 3,
                false => times[rng.random_range(0..times.len())].clamp(from_s + 1, from_s + 700 * about_s),
            };
            let query = ConsumptionQuery { from_s, to_s, resolution: interval, whose: MeterFilter::All };
            let shown = store.reader().consumption(&query).expect("consumption");
            assert_eq!(shown.start_s.first(), Some(&begins(zone, from_s, interval)), "{interval:?}");
            assert!(shown.start_s.is_sorted() && shown.start_s.last().is_some_and(|last_s| *last_s < to_s));
            assert_eq!(
                shown.meters.iter().map(|of| of.meter).collect::<Vec<_>>(),
                seen.keys().copied().collect::<Vec<_>>()
            );
            for network in seen.keys().map(|meter| meter.network).collect::<BTreeSet<_>>() {
                let of_network = ConsumptionQuery { whose: MeterFilter::Network(network), ..query };
                let of_network = store.reader().consumption(&of_network).expect("consumption");
                let expected: Vec<_> =
                    shown.meters.iter().filter(|of| of.meter.network == network).cloned().collect();
                assert_eq!(of_network.meters, expected, "network {network}, {interval:?}");
            }
            for of in shown.meters {
                let used_dwh = dwh(&of.used_wh);
                let found: BTreeMap<i64, i64> = (shown.start_s.iter().zip(&used_dwh))
                    .filter_map(|(start_s, used_dwh)| Some((*start_s, (*used_dwh)?)))
                    .collect();
                let of_meter = &expected[&of.meter];
                let expected: BTreeMap<i64, i64> = of_meter
                    .range(shown.start_s[0]..to_s)
                    .map(|(start_s, used_dwh)| (*start_s, *used_dwh))
                    .collect();
                assert_eq!(found, expected, "meter {}, {interval:?}, {from_s} to {to_s}", of.meter);
                let alone = ConsumptionQuery { whose: of.meter.into(), ..query };
                let alone = store.reader().consumption(&alone).expect("consumption");
                assert_eq!(dwh(&alone.meters[0].used_wh), used_dwh, "meter {} alone, {interval:?}", of.meter);
            }
        }
    }
}

/// Most often a time within some quarter-hours of `around_s`, else one of the last 60 days.
fn draw_time(rng: &mut StdRng, now_s: i64, around_s: i64) -> i64 {
    match rng.random_range(0..10) {
        0 => now_s - rng.random_range(0..60 * 86_400),
        // The last second of a quarter-hour, and the first of the next.
        1 => (around_s - around_s.rem_euclid(900)) - 1,
        2 => around_s - around_s.rem_euclid(900),
        _ => around_s + rng.random_range(-5000..5000),
    }
}

/// Meters whose readings come late, in any order, after hours and weeks of silence, and some that
/// are revoked meanwhile.
fn all_meters_used_what_their_readings_say(engine: Engine) {
    let mut rng = StdRng::seed_from_u64(testkit::random::seed());
    // Rows of the table end after 127, 255, 65,535. The same numbers are in other networks, too.
    let meters = [1, 2, 126, 127, 128, 129, 255, 256, 1000, 65_534, 65_535].map(|meter| (0, meter));
    let others = [(1, 1), (7, 1), (7, 127), (7, 128), (7, 65_535), (u32::MAX, 65_535)];
    let meters: Vec<GlobalMeterId> =
        meters.into_iter().chain(others).map(|(network, meter)| NetworkId(network).meter(meter)).collect();
    for name in ["Europe/Prague", "Australia/Lord_Howe"] {
        let zone = TimeZone::get(name).expect("a zone");
        let place = engine.place();
        let mut store = place.open_in(name);
        add(&mut store, meters.iter().copied());
        let mut seen: BTreeMap<GlobalMeterId, Vec<Seen>> =
            meters.iter().map(|meter| (*meter, Vec::new())).collect();
        let mut state: BTreeMap<GlobalMeterId, (u32, u32)> = BTreeMap::new();
        let mut revoked = Vec::new();
        let now_s = NEW_YEAR_S + rng.random_range(0..30_000_000);
        for _ in 0..30 {
            let mut batch = Vec::new();
            // Where most of this batch's readings are from.
            let around_s = now_s + rng.random_range(-40..40) * 43_200;
            for _ in 0..rng.random_range(1..80) {
                let meter = meters[rng.random_range(0..meters.len())];
                if revoked.contains(&meter) {
                    continue;
                }
                let (n, register_dwh) = state.entry(meter).or_default();
                *n += 1;
                let used_dwh = match rng.random_range(0..8) {
                    0 => 0,
                    1 => rng.random_range(0..5_000_000),
                    _ => rng.random_range(0..300),
                };
                *register_dwh += used_dwh;
                let at_s = draw_time(&mut rng, now_s, around_s);
                let power_w = rng.random();
                let new = Seen { at_s, used_dwh: i64::from(used_dwh), power_w };
                seen.get_mut(&meter).expect("one of them").push(new);
                batch.push(Write::Report(report(meter, *n, at_s, measurement(at_s, *register_dwh, power_w))));
            }
            let written = store.commit(batch).expect("there is room");
            assert!(written.iter().all(|written| matches!(written, Written::Reading { .. })));
            match rng.random_range(0..12) {
                0 => {
                    let meter = meters[rng.random_range(0..meters.len())];
                    let at_ms = now_s * 1000;
                    store.commit(vec![Write::Revoked { meter, at_ms }]).expect("there is room");
                    revoked.push(meter);
                }
                1 => {
                    drop(store);
                    store = place.open_in(name);
                }
                _ => {}
            }
        }
        check_all_meters(&store, &zone, &seen, &mut rng);
        drop(store);
        let (other, other_name) = (TimeZone::get("Pacific/Chatham").expect("a zone"), "Pacific/Chatham");
        let mut store = place.open_in(other_name);
        check_all_meters(&store, &other, &seen, &mut rng);
        // The interval that a meter was in when the zone became another goes on.
        for (meter, seen) in seen.iter_mut().filter(|(meter, _)| !revoked.contains(*meter)) {
            let (n, register_dwh) = state.entry(*meter).or_default();
            (*n, *register_dwh) = (*n + 1, *register_dwh + 3);
            let at_s = seen.iter().map(|seen| seen.at_s).max().unwrap_or(now_s);
            seen.push(Seen { at_s, used_dwh: 3, power_w: 1 });
            let new = Write::Report(report(*meter, *n, at_s, measurement(at_s, *register_dwh, 1)));
            store.commit(vec![new]).expect("there is room");
        }
        check_all_meters(&store, &other, &seen, &mut rng);
    }
}

/// On the Chatham Islands clocks go from 2:45 to 3:45: the hour at 2 lasts 45 minutes, the one at 3
/// a quarter of an hour.
fn an_hour_that_begins_where_clocks_change_has_its_own_sum(engine: Engine) {
    let place = engine.place();
    let mut store = place.open_in("Pacific/Chatham");
    add(&mut store, [1]);
    // 2026-09-26 14:00 UTC.
    let change_s = 1_790_431_200;
    let times = [change_s - 100, change_s + 100, change_s + 1000];
    let reading = |(at_s, n): (&i64, u32)| Write::Report(report(1, n, *at_s, measurement(*at_s, n * n, 1)));
    store.commit(times.iter().zip(1..).map(reading).collect()).expect("there is room");
    for whose in [MeterFilter::All, MeterFilter::Meter(1.into())] {
        let (from_s, to_s) = (change_s - 2700, change_s + 1800);
        let query = ConsumptionQuery { from_s, to_s, resolution: Interval::Hour, whose };
        let shown = store.reader().consumption(&query).expect("consumption");
        assert_eq!(shown.start_s, [change_s - 2700, change_s, change_s + 900]);
        assert_eq!(dwh(&shown.meters[0].used_wh), [Some(1), Some(3), Some(5)]);
    }
}

/// Months of all meters are read where they are kept, not summed of days.
fn a_database_of_before_months_gets_them(engine: Engine) {
    let mut rng = StdRng::seed_from_u64(testkit::random::seed());
    let name = "Europe/Prague";
    let (zone, place) = (TimeZone::get(name).expect("a zone"), engine.place());
    let mut store = place.open_in(name);
    let meters = [(0, 1), (0, 127), (0, 128), (7, 1), (7, 65_535)];
    let meters = meters.map(|(network, meter)| NetworkId(network).meter(meter));
    add(&mut store, meters);
    let mut seen: BTreeMap<GlobalMeterId, Vec<Seen>> = BTreeMap::new();
    for (meter, n) in meters.into_iter().flat_map(|meter| (1..=60).map(move |n| (meter, n))) {
        let at_s = NEW_YEAR_S + i64::from(n) * 300_000 + rng.random_range(-500_000..0);
        seen.entry(meter).or_default().push(Seen { at_s, used_dwh: 7, power_w: 1 });
        store.commit(vec![reading(meter, n, at_s, n * 7, 1)]).expect("there is room");
    }
    check_all_meters(&store, &zone, &seen, &mut rng);
    drop(store);
    // As a version of before left it.
    place.change("DELETE FROM used_by_time WHERE level NOT IN (900, 3600, 86400)");
    let store = place.open_in(name);
    let march = ["2026-03-01T00:00+01:00", "2026-04-01T00:00+02:00"];
    let [from_s, to_s] = march.map(|at| at.parse::<jiff::Timestamp>().expect("a time").as_second());
    let query = ConsumptionQuery { from_s, to_s, resolution: Interval::Month, whose: MeterFilter::All };
    let used = || store.reader().consumption(&query).expect("consumption").meters;
    assert!(used().iter().all(|of| of.used_wh == [None]), "{:?}", used());
    drop(store);
    place.set_back(4);
    let store = place.open_in(name);
    check_all_meters(&store, &zone, &seen, &mut rng);
    let used = store.reader().consumption(&query).expect("consumption").meters;
    assert!(used.iter().all(|of| of.used_wh[0].is_some()), "{used:?}");
}

/// A batch that failed leaves nothing behind that is by time.
#[test]
fn a_batch_that_was_not_stored_is_in_no_sum() {
    let place = TestStore::new();
    let options = collector::store::Options { most_bytes: Some(400_000), ..Default::default() };
    let mut store = Store::open(place.path(), &options).expect("the store opens");
    add(&mut store, 1..=3);
    let zone = TimeZone::UTC;
    let mut seen: BTreeMap<GlobalMeterId, Vec<Seen>> =
        (1..=3u16).map(|meter| (meter.into(), Vec::new())).collect();
    // Every reading begins a quarter-hour, and each sixth day is gone back to.
    let at_s = |n: u32| NEW_YEAR_S + i64::from(n) * 1000 - if n.is_multiple_of(6) { 400_000 } else { 0 };
    let mut n = 0;
    loop {
        n += 1;
        let of = |meter: u16| Write::Report(report(meter, n, at_s(n), measurement(at_s(n), n * 7, 1)));
        if store.commit((1..=3).map(of).collect()).is_err() {
            break;
        }
        for seen in seen.values_mut() {
            seen.push(Seen { at_s: at_s(n), used_dwh: 7, power_w: 1 });
        }
        assert!(n < 10_000, "it never was full");
    }
    let mut rng = StdRng::seed_from_u64(1);
    check_all_meters(&store, &zone, &seen, &mut rng);
    drop(store);
    let mut store = place.open();
    let of = |meter: u16| Write::Report(report(meter, n, at_s(n), measurement(at_s(n), n * 7, 1)));
    store.commit((1..=3).map(of).collect()).expect("there is room");
    for seen in seen.values_mut() {
        seen.push(Seen { at_s: at_s(n), used_dwh: 7, power_w: 1 });
    }
    check_all_meters(&store, &zone, &seen, &mut rng);
}

/// All of a meter's readings as they are stored.
fn raw(store: &Store, meter: GlobalMeterId) -> Vec<(i64, i64)> {
    let query = ReadingsQuery::raw(meter);
    let page = store.reader().readings(&query).expect("readings");
    assert_eq!(page.next, None);
    let Rows::Raw { at_s, energy_wh, .. } = page.rows else { panic!("readings were asked for") };
    at_s.into_iter().zip(energy_wh.iter().map(|wh| (wh * 10.0).round() as i64)).collect()
}

#[test]
fn a_database_of_the_first_version_has_the_same_sums() {
    let place = TestStore::new();
    let old = rusqlite::Connection::open(place.path()).expect("a file");
    old.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).expect("a log");
    old.execute_batch(include_str!("data/version-1.sql")).expect("the first version's database");
    drop(old);
    let before = std::fs::read(place.path()).expect("there");
    let mut store = place.open_in("Europe/Prague");
    let copy = std::fs::read(place.path().with_extension("db.before-2")).expect("a copy");
    assert_eq!(copy.len(), before.len());
    let zone = TimeZone::get("Europe/Prague").expect("a zone");
    let mut seen = BTreeMap::new();
    for meter in [1, 127, 128, 300, 65_535].map(GlobalMeterId::from) {
        let mut readings = raw(&store, meter);
        assert_eq!(readings.len(), [53, 76, 48, 63, 60][seen.len()], "meter {meter}");
        // Registers that only count up, from the meter's first reading on, are in the order of the
        // readings.
        readings.sort_by_key(|(_, register_dwh)| *register_dwh);
        let mut before_dwh = 0;
        let seen_of = readings.iter().map(|(at_s, register_dwh)| {
            let used_dwh = register_dwh - std::mem::replace(&mut before_dwh, *register_dwh);
            Seen { at_s: *at_s, used_dwh, power_w: 0 }
        });
        seen.insert(meter, seen_of.collect::<Vec<_>>());
    }
    let mut rng = StdRng::seed_from_u64(2);
    check_all_meters(&store, &zone, &seen, &mut rng);
    // It goes on: some of it late.
    for (meter, seen) in &mut seen {
        let n = 1000;
        let (first_s, register_dwh) = (seen[0].at_s, seen.iter().map(|seen| seen.used_dwh).sum::<i64>());
        let register_dwh = u32::try_from(register_dwh).expect("small") + 5;
        let late = Write::Report(report(*meter, n, first_s, measurement(first_s, register_dwh, 1)));
        store.commit(vec![late]).expect("there is room");
        seen.push(Seen { at_s: first_s, used_dwh: 5, power_w: 1 });
    }
    check_all_meters(&store, &zone, &seen, &mut rng);
}
