//! The energy since a meter's first start: over power cuts, late reports and other keys, in any
//! order of reports.

use super::place::{Engine, NEW_YEAR_S, add, measurement, on_each_engine, provisioned, report, start};
use collector::export::{Format, Selection, export};
use collector::store::{ConsumptionQuery, Interval, MeterFilter, NewReport, Store, Write, Written};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;
use wire::meter::Content;

on_each_engine!(
    power_cuts_take_nothing_from_a_total,
    a_total_does_not_depend_on_the_order_of_reports,
    a_start_that_nobody_heard_of_shows_by_its_losses,
    a_late_report_that_is_the_last_reading_is_counted_once,
    another_meter_s_register_is_added,
    a_reading_whose_neighbour_is_gone_adds_nothing,
    a_database_of_before_has_the_sums_of_its_days,
);

fn total_wh(store: &Store, meter: u16) -> Option<f64> {
    store.reader().meter(meter.into(), 0).expect("readable").expect("there is one").total_wh
}

fn commit(store: &mut Store, reports: impl IntoIterator<Item = NewReport>) -> Vec<Written> {
    let batch = reports.into_iter().map(Write::Report).collect();
    store.commit(batch).expect("there is room")
}

/// Returns the energy of a meter's readings by quarter-hour, and in all.
fn used_dwh(store: &Store, meter: u16) -> BTreeMap<i64, i64> {
    let (from_s, to_s) = (NEW_YEAR_S, NEW_YEAR_S + 86_400);
    let whose = MeterFilter::Meter(meter.into());
    let query = ConsumptionQuery { from_s, to_s, resolution: Interval::Quarter, whose };
    let shown = store.reader().consumption(&query).expect("consumption");
    let of = shown.start_s.iter().zip(&shown.meters[0].used_wh);
    of.filter_map(|(start_s, used_wh)| Some((*start_s, ((*used_wh)? * 10.0).round() as i64))).collect()
}

/// All of a meter's readings as CSV.
fn exported(store: &Store, meter: u16) -> String {
    let selection = Selection { meters: vec![meter.into()], from_s: 0, to_s: i64::MAX };
    let mut text = Vec::new();
    export(&store.reader(), &selection, Format::Csv, &mut text, |_| {}).expect("exported");
    String::from_utf8(text).expect("text")
}

fn measured(meter: u16, n: u32, energy_dwh: u32) -> NewReport {
    let at_s = NEW_YEAR_S + i64::from(n) * 100;
    report(meter, n, at_s, measurement(at_s, energy_dwh, 5))
}

fn started(meter: u16, n: u32, starts: u16) -> NewReport {
    let at_s = NEW_YEAR_S + i64::from(n) * 100;
    report(meter, n, at_s, start(at_s, starts))
}

fn power_cuts_take_nothing_from_a_total(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    add(&mut store, [1, 2]);
    assert_eq!(total_wh(&store, 1), None, "it has not measured yet");
    commit(&mut store, [started(1, 1, 1)]);
    assert_eq!(total_wh(&store, 1), None);
    commit(&mut store, [measured(1, 2, 70), measured(1, 3, 100)]);
    assert_eq!(total_wh(&store, 1), Some(10.0));
    let written = commit(&mut store, [started(1, 17, 2), measured(1, 18, 4)]);
    let Written::Reading { reading, .. } = &written[1] else { panic!("a reading: {written:?}") };
    assert_eq!((reading.energy_dwh, reading.total_dwh), (4, Some(104)));
    drop(store);
    // Another service takes over, and reports come again.
    let mut store = place.open();
    assert_eq!(total_wh(&store, 1), Some(10.4));
    let again = commit(&mut store, [measured(1, 3, 100), measured(1, 18, 4)]);
    assert_eq!(again, [Written::Repeated, Written::Repeated]);
    // A power cut whose alert was lost with it.
    commit(&mut store, [measured(1, 33, 3), measured(1, 34, 9)]);
    assert_eq!(total_wh(&store, 1), Some(11.3));
    let text = exported(&store, 1);
    let last = |line: &str| line.rsplit(',').next().map(str::to_owned);
    let totals: Vec<String> = text.lines().skip(1).filter_map(last).collect();
    assert_eq!(totals, ["7.0", "10.0", "10.4", "10.7", "11.3"]);
    // A meter that ran before it was known here says what it counted since its start.
    commit(&mut store, [measured(2, 500, 9000), measured(2, 501, 9001)]);
    assert_eq!(total_wh(&store, 2), Some(900.1));
    assert_eq!(used_dwh(&store, 2).values().sum::<i64>(), 1, "of which nobody knows when it was used");
}

/// A meter's reports, with starts between them that are told or, where the register is lower then,
/// are not.
fn life(rng: &mut StdRng) -> Vec<NewReport> {
    let (mut n, mut register_dwh, mut lost) = (rng.random_range(0..3), 0u32, 0u8);
    let mut reports = Vec::new();
    for _ in 0..rng.random_range(2..14) {
        n += rng.random_range(1..4);
        match rng.random_range(0..6) {
            0 => {
                (register_dwh, lost) = (0, 0);
                reports.push(started(1, n, 2));
                continue;
            }
            1 => (register_dwh, lost) = (0, 0),
            2 => lost += 1,
            _ => {}
        }
        register_dwh += rng.random_range(0..5000);
        let mut new = measured(1, n, register_dwh);
        new.report.lost = lost;
        reports.push(new);
    }
    reports
}

fn a_total_does_not_depend_on_the_order_of_reports(engine: Engine) {
    let seed = testkit::random::seed();
    let mut rng = StdRng::seed_from_u64(seed);
    let rounds = if engine == Engine::Sqlite { 60 } else { 12 };
    for round in 0..rounds {
        let reports = life(&mut rng);
        let in_order = engine.place();
        let mut expected = in_order.open();
        add(&mut expected, [1]);
        commit(&mut expected, reports.clone());
        let mut shuffled: Vec<NewReport> = reports.iter().chain(&reports).cloned().collect();
        shuffled.shuffle(&mut rng);
        let place = engine.place();
        let mut store = place.open();
        add(&mut store, [1]);
        while !shuffled.is_empty() {
            let batch = shuffled.split_off(shuffled.len() - rng.random_range(1..=shuffled.len().min(5)));
            commit(&mut store, batch);
            if rng.random_range(0..4) == 0 {
                drop(store);
                store = place.open();
            }
        }
        let numbers = |reports: &[NewReport]| {
            let said = |new: &NewReport| match new.report.content {
                Content::Measurement(measurement) => format!("{} {}", new.report.n, measurement.energy_dwh),
                _ => format!("{} started", new.report.n),
            };
            reports.iter().map(said).collect::<Vec<_>>().join(", ")
        };
        let of = format!("seed {seed}, round {round}: {}", numbers(&reports));
        assert_eq!(total_wh(&store, 1), total_wh(&expected, 1), "{of}");
        assert_eq!(used_dwh(&store, 1), used_dwh(&expected, 1), "{of}");
        // The register goes on from the same place.
        let next = measured(1, 60, 100_000);
        commit(&mut store, [next.clone()]);
        commit(&mut expected, [next]);
        assert_eq!(total_wh(&store, 1), total_wh(&expected, 1), "{of}, then the next one");
        assert_eq!(used_dwh(&store, 1), used_dwh(&expected, 1), "{of}, then the next one");
        assert_eq!(exported(&store, 1), exported(&expected, 1), "{of}, then the next one");
    }
}

/// The register is higher than before the start, so that it alone does not show it.
fn a_start_that_nobody_heard_of_shows_by_its_losses(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    add(&mut store, [1]);
    let mut first = measured(1, 1, 50);
    first.report.lost = 3;
    commit(&mut store, [first, measured(1, 17, 60)]);
    assert_eq!(total_wh(&store, 1), Some(11.0));
    assert_eq!(used_dwh(&store, 1).values().sum::<i64>(), 110);
}

fn a_late_report_that_is_the_last_reading_is_counted_once(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    add(&mut store, [1]);
    commit(&mut store, [started(1, 1, 1), measured(1, 2, 100), started(1, 17, 2)]);
    // It waited in the journal when the power went.
    commit(&mut store, [measured(1, 3, 150)]);
    assert_eq!(total_wh(&store, 1), Some(15.0));
    let last = store.reader().meter(1.into(), 0).expect("readable").expect("there").last.expect("a reading");
    assert_eq!(last.energy_wh, 15.0);
    commit(&mut store, [measured(1, 18, 20)]);
    assert_eq!(total_wh(&store, 1), Some(17.0));
    // The start itself comes late.
    commit(&mut store, [measured(1, 34, 30), started(1, 33, 3)]);
    assert_eq!(total_wh(&store, 1), Some(20.0));
    assert_eq!(used_dwh(&store, 1).values().sum::<i64>(), 200);
}

/// A meter that was provisioned again, which is what one is that takes another's place.
fn another_meter_s_register_is_added(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    add(&mut store, [1]);
    commit(&mut store, [started(1, 1, 1), measured(1, 2, 5000)]);
    store.commit(vec![Write::Provisioned(Box::new(provisioned(1, 2)))]).expect("there is room");
    assert_eq!(total_wh(&store, 1), Some(500.0));
    let of_epoch_2 = |mut new: NewReport| {
        new.epoch = 2;
        new
    };
    // Its first report did not come: its register is higher than the one before was.
    commit(&mut store, [of_epoch_2(measured(1, 4, 6000))]);
    assert_eq!(total_wh(&store, 1), Some(1100.0));
    commit(&mut store, [of_epoch_2(started(1, 20, 2)), of_epoch_2(measured(1, 21, 1))]);
    assert_eq!(total_wh(&store, 1), Some(1100.1));
    // Of the one before nothing is taken any more.
    assert_eq!(commit(&mut store, [measured(1, 3, 5001)]), [Written::Unknown]);
    assert_eq!(total_wh(&store, 1), Some(1100.1));
}

fn a_reading_whose_neighbour_is_gone_adds_nothing(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    add(&mut store, [1]);
    commit(&mut store, [started(1, 1, 1), measured(1, 2, 5000), measured(1, 4, 5400)]);
    drop(store);
    let kept_s = NEW_YEAR_S + 250;
    let from = match engine {
        Engine::Sqlite => "landing",
        Engine::Postgres => "readings",
    };
    place.change(&format!(
        "INSERT INTO meta VALUES ('kept_from_s', '{kept_s}'); DELETE FROM {from} WHERE at_s < {kept_s}"
    ));
    let mut store = place.open();
    let written = commit(&mut store, [measured(1, 3, 5200)]);
    assert!(matches!(written[0], Written::Reading { .. }), "{written:?}");
    assert_eq!(total_wh(&store, 1), Some(540.0));
}

fn a_database_of_before_has_the_sums_of_its_days(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    add(&mut store, [1, 2, 3]);
    // Days that are over, and one that is not; and a start between them.
    for day in 0..3u32 {
        let at_s = NEW_YEAR_S + i64::from(day) * 86_400 + 60;
        let n = 10 * day + 1;
        let of = |n: u32, content| report(1, n, at_s + i64::from(n), content);
        commit(&mut store, [of(n, start(at_s, 1)), of(n + 1, measurement(at_s, 300 + day, 1))]);
    }
    commit(&mut store, [measured(2, 77, 4000), measured(2, 78, 4004)]);
    drop(store);
    place.set_back(6);
    let mut store = place.open();
    assert_eq!(total_wh(&store, 1), Some(90.3));
    assert_eq!(total_wh(&store, 2), Some(400.4), "no less than its register");
    assert_eq!(total_wh(&store, 3), None);
    commit(&mut store, [measured(2, 79, 4010), measured(3, 1, 5)]);
    assert_eq!((total_wh(&store, 2), total_wh(&store, 3)), (Some(401.0), Some(0.5)));
}
