//! Readings: stored once, counted right.

use super::place::{
    Engine, NEW_YEAR_S, add, measurement, on_each_engine, provisioned, reading, report, start,
};
use collector::api;
use collector::store::{
    ConsumptionQuery, Interval, MeterFilter, ReadingsQuery, Resolution, Rows, Write, Written,
};
use wire::meter::Suite;

on_each_engine!(a_reading_is_stored_once_and_shown, new_keys_begin_anew_and_old_ones_are_over,);

fn raw(meter: u16) -> ReadingsQuery {
    ReadingsQuery::raw(meter)
}

fn a_reading_is_stored_once_and_shown(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    add(&mut store, [258]);
    let at_s = NEW_YEAR_S + 100;
    let batch = vec![
        Write::Report(report(258, 1, at_s, start(at_s, 1))),
        reading(258, 2, at_s + 10, 7, 412),
        reading(258, 2, at_s + 10, 7, 412),
        reading(259, 3, at_s + 20, 8, 412),
        reading(258, 3, at_s + 20, 19, -5),
    ];
    let written = store.commit(batch).expect("there is room");
    assert!(matches!(&written[0], Written::Alert { alert, lost: 0 } if alert.cause == "power-on"));
    assert!(matches!(&written[1], Written::Reading { reading, lost: 0 } if reading.at_s == at_s + 10));
    assert_eq!((&written[2], &written[3]), (&Written::Repeated, &Written::Unknown));
    assert!(matches!(&written[4], Written::Reading { .. }));
    drop(store);
    let mut store = place.open();
    let again = store.commit(vec![reading(258, 3, at_s + 20, 19, -5)]).expect("there is room");
    assert_eq!(again, [Written::Repeated]);
    let reader = store.reader();
    let rows = reader.readings(&raw(258)).expect("readings").rows;
    let expected =
        Rows::Raw { at_s: vec![at_s + 10, at_s + 20], power_w: vec![412, -5], energy_wh: vec![0.7, 1.9] };
    assert_eq!(rows, expected);
    let meter = reader.meter(258.into(), at_s * 1000 + 30_000).expect("the meter").expect("there is one");
    let shown = serde_json::to_value(api::Meter::from(meter)).expect("JSON");
    let expected = serde_json::json!({
        "meter": 258, "label": "", "epoch": 1, "suite": "aes128-gcm", "interval_s": 10, "revoked": false,
        "last": {"at_s": at_s + 20, "power_w": -5, "energy_wh": 1.9}, "total_wh": 1.9, "heard_s": at_s + 20, "online": true,
        "link": {"rssi_dbm": -60, "reports": 3, "repeats": 0, "refused": 0, "lost": 0},
        "open_alerts": 0, "waiting_commands": 0
    });
    assert_eq!(shown, expected);
    let query = ConsumptionQuery {
        from_s: NEW_YEAR_S,
        to_s: NEW_YEAR_S + 3600,
        resolution: Interval::Quarter,
        whose: MeterFilter::All,
    };
    let consumption = reader.consumption(&query).expect("consumption");
    let shown = serde_json::to_value(api::Consumption::from(consumption)).expect("JSON");
    let starts: Vec<i64> = (0..4).map(|quarter| NEW_YEAR_S + 900 * quarter).collect();
    let expected = serde_json::json!({
        "resolution": "quarter", "zone": "UTC", "start_s": starts,
        "meters": [{"meter": 258, "used_wh": [1.9, null, null, null]}]
    });
    assert_eq!(shown, expected);
}

fn new_keys_begin_anew_and_old_ones_are_over(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    add(&mut store, [1]);
    let at_s = NEW_YEAR_S;
    store
        .commit(vec![reading(1, 40, at_s, 1000, 1), reading(1, 41, at_s + 10, 1003, 1)])
        .expect("there is room");
    let rotated = Write::Provisioned(Box::new(provisioned(1, 2)));
    let old = reading(1, 42, at_s + 20, 1005, 1);
    let mut new = report(1, 2, at_s + 30, measurement(at_s + 30, 4, 1));
    (new.epoch, new.suite) = (2, Suite::None);
    let other_key = Write::Provisioned(Box::new(collector::store::Provisioned {
        public: *super::place::identity(99).public(),
        ..provisioned(1, 2)
    }));
    let batch = vec![rotated.clone(), old, Write::Report(new), rotated, other_key];
    let written = store.commit(batch).expect("there is room");
    assert_eq!((&written[0], &written[1]), (&Written::Done, &Written::Unknown));
    assert!(matches!(written[2], Written::Reading { .. }));
    assert_eq!((&written[3], &written[4]), (&Written::Done, &Written::Unknown));
    let kept = store.reader().kept_meters().expect("meters");
    assert_eq!((kept[0].epoch, kept[0].state.last_n, kept[0].suite), (2, 2, Suite::None));
    // The register before the first reading was not known with either keys: 3 from 1000 to 1003 is
    // all.
    let day = ReadingsQuery { resolution: Resolution::Day, ..raw(1) };
    let Rows::Rollup { used_wh, readings, .. } = store.reader().readings(&day).expect("days").rows else {
        panic!("rollups were asked for");
    };
    assert_eq!((used_wh, readings), (vec![0.3], vec![3]));
    store.commit(vec![Write::Revoked { meter: 1.into(), at_ms: 5 }]).expect("there is room");
    let mut late = report(1, 3, at_s + 40, measurement(at_s + 40, 5, 1));
    late.epoch = 2;
    assert_eq!(store.commit(vec![Write::Report(late)]).expect("there is room"), [Written::Unknown]);
}
