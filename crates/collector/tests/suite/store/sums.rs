//! The energy by quarter-hour, hour, day, week and month, against a count over all readings that
//! knows nothing of rollups.

use super::consumption::check_all_meters;
use super::place::{Engine, NEW_YEAR_S, add, measurement, on_each_engine, report, start};
use collector::network::GlobalMeterId;
use collector::store::{
    ConsumptionQuery, Interval, METERS_EPOCH_S, MeterFilter, NewReport, ReadingsQuery, Resolution, Rows,
    Store, Write, Written,
};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Unit, Zoned, ZonedRound};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;
use wire::meter::{Content, Measurement, Report, Suite};

on_each_engine!(
    sums_are_those_of_all_readings,
    readings_that_were_sorted_in_are_the_same,
    a_register_goes_around_at_2_to_the_32,
);

/// The expected figures of an interval: readings, used, least, greatest, sum of power.
pub type Sum = (i64, i64, i16, i16, i64);

/// A measurement, and what was used since the one before.
#[derive(Clone, Copy)]
pub struct Seen {
    pub at_s: i64,
    pub used_dwh: i64,
    pub power_w: i16,
}

/// When an interval begins that a time lies in, asked of the calendar alone.
pub fn begins(zone: &TimeZone, at_s: i64, interval: Interval) -> i64 {
    let zoned = Timestamp::from_second(at_s).expect("a time").to_zoned(zone.clone());
    let day = |zoned: Zoned| zoned.start_of_day().expect("a day");
    let first = match interval {
        Interval::Quarter => return at_s - at_s.rem_euclid(900),
        // By going back minute by minute: while it is the same hour of the same day with the same
        // offset, it is the same hour.
        Interval::Hour => {
            let mut first_s = at_s - at_s.rem_euclid(60);
            loop {
                let before = Timestamp::from_second(first_s - 60).expect("a time").to_zoned(zone.clone());
                let same = (before.date(), before.hour(), before.offset())
                    == (zoned.date(), zoned.hour(), zoned.offset());
                if !same {
                    return first_s;
                }
                first_s -= 60;
            }
        }
        Interval::Day => day(zoned),
        Interval::Week => {
            let mut monday = day(zoned);
            while monday.weekday() != jiff::civil::Weekday::Monday {
                monday = day(monday.yesterday().expect("a day before"));
            }
            monday
        }
        Interval::Month => day(zoned.first_of_month().expect("a first")),
    };
    first.round(ZonedRound::new().smallest(Unit::Second)).expect("seconds").timestamp().as_second()
}

pub fn sums(zone: &TimeZone, seen: &[Seen], interval: Interval) -> BTreeMap<i64, Sum> {
    let mut sums = BTreeMap::new();
    for Seen { at_s, used_dwh, power_w } in seen {
        let sum = sums.entry(begins(zone, *at_s, interval)).or_insert((0, 0, i16::MAX, i16::MIN, 0));
        *sum = (
            sum.0 + 1,
            sum.1 + used_dwh,
            sum.2.min(*power_w),
            sum.3.max(*power_w),
            sum.4 + i64::from(*power_w),
        );
    }
    sums
}

/// A meter's life, with everything that disturbs: restarts that are told and that are not, the
/// register going around, clocks that are not set, that jump, that go back.
struct Life {
    meter: u16,
    n: u32,
    clock_s: i64,
    time_set: bool,
    register_dwh: u64,
    before_dwh: Option<u64>,
    seen: Vec<Seen>,
}

impl Life {
    fn next(&mut self, rng: &mut StdRng) -> NewReport {
        self.n += rng.random_range(1..4);
        self.clock_s += rng.random_range(1..2000);
        let heard_s = self.clock_s + rng.random_range(0..100_000);
        let mut leap = rng.random_range(0..60) == 0;
        match rng.random_range(0..40) {
            0 => {
                // It starts, and says so.
                (self.register_dwh, self.before_dwh) = (0, Some(0));
                self.time_set = rng.random();
                return self.report(heard_s, start(self.clock_s, 2));
            }
            // It starts, and nobody hears of it: what it counted since is all that is known.
            1 if self.register_dwh > 100_000 && self.register_dwh < 1 << 31 => {
                (self.register_dwh, self.before_dwh) = (0, Some(0));
                leap = false;
            }
            2 => self.clock_s -= 90_000,
            3 => self.clock_s += 40 * 86_400,
            4 => self.time_set = !self.time_set,
            _ => {}
        }
        let room = (1 << 32) - (self.register_dwh & 0xffff_ffff);
        self.register_dwh += match leap && room > 1 << 20 {
            // To where the register is about to go around.
            true => room - rng.random_range(1..20_000),
            false => rng.random_range(0..5000),
        };
        let power_w = rng.random();
        let used_dwh = self.before_dwh.map_or(0, |before| self.register_dwh - before);
        self.before_dwh = Some(self.register_dwh);
        let at_s = if self.time_set { self.clock_s } else { heard_s };
        self.seen.push(Seen { at_s, used_dwh: i64::try_from(used_dwh).expect("small"), power_w });
        self.report(heard_s, measurement(self.clock_s, self.register_dwh as u32, power_w))
    }

    fn report(&self, heard_s: i64, content: Content) -> NewReport {
        let mut new = report(self.meter, self.n, heard_s, content);
        new.report.time_set = self.time_set;
        new
    }
}

fn seen_of(lives: &[Life]) -> BTreeMap<GlobalMeterId, Vec<Seen>> {
    lives.iter().map(|life| (life.meter.into(), life.seen.clone())).collect()
}

fn check(store: &Store, zone: &TimeZone, lives: &[Life]) {
    let (from_s, to_s) = (0, 1 << 33);
    for life in lives {
        for (resolution, interval) in [
            (Resolution::Quarter, Interval::Quarter),
            (Resolution::Hour, Interval::Hour),
            (Resolution::Day, Interval::Day),
        ] {
            let expected = sums(zone, &life.seen, interval);
            let mut found = BTreeMap::new();
            let mut after = None;
            loop {
                // Pages that end anywhere.
                let query =
                    ReadingsQuery { meter: life.meter.into(), from_s, to_s, resolution, after, limit: 37 };
                let page = store.reader().readings(&query).expect("rollups");
                let Rows::Rollup { at_s, power_w, power_min_w, power_max_w, used_wh, readings } = page.rows
                else {
                    panic!("rollups were asked for");
                };
                for row in 0..at_s.len() {
                    let mean_w = expected.get(&at_s[row]).map_or(0.0, |sum| sum.4 as f64 / sum.0 as f64);
                    assert!((power_w[row] - mean_w).abs() < 0.0051, "{} W, not {mean_w}", power_w[row]);
                    let used_dwh = (used_wh[row] * 10.0).round() as i64;
                    let sum_w = expected.get(&at_s[row]).map_or(0, |sum| sum.4);
                    let sum = (i64::from(readings[row]), used_dwh, power_min_w[row], power_max_w[row], sum_w);
                    assert_eq!(found.insert(at_s[row], sum), None, "an interval twice");
                }
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            let differs = found.iter().zip(&expected).find(|(found, expected)| found != expected);
            assert_eq!(differs, None, "meter {}, {resolution:?}", life.meter);
            assert_eq!(found.len(), expected.len(), "meter {}, {resolution:?}", life.meter);
        }
        let mut found = Vec::new();
        let mut after = None;
        loop {
            let query = ReadingsQuery {
                meter: life.meter.into(),
                from_s,
                to_s,
                resolution: Resolution::Raw,
                after,
                limit: 101,
            };
            let page = store.reader().readings(&query).expect("readings");
            let Rows::Raw { at_s, power_w, .. } = page.rows else { panic!("readings were asked for") };
            found.extend(at_s.into_iter().zip(power_w));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        let mut expected: Vec<(i64, i16)> = life.seen.iter().map(|seen| (seen.at_s, seen.power_w)).collect();
        // Readings of the same second are in the order of their numbers, in which they were made.
        expected.sort_by_key(|(at_s, _)| *at_s);
        assert_eq!(found, expected, "meter {}", life.meter);
    }
}

fn sums_are_those_of_all_readings(engine: Engine) {
    let mut rng = StdRng::seed_from_u64(testkit::random::seed());
    // An offset of three quarters of an hour; an hour that clocks change by, and half of one; days
    // that begin at 1 o'clock.
    let zones = ["Asia/Kathmandu", "Europe/Prague", "Australia/Lord_Howe", "America/Asuncion", "UTC"];
    for name in zones {
        let zone = TimeZone::get(name).expect("a zone");
        let place = engine.place();
        let mut store = place.open_in(name);
        add(&mut store, 1..=3);
        let mut lives: Vec<Life> = (1..=3)
            .map(|meter| Life {
                meter,
                n: if meter == 3 { 1000 } else { 0 },
                clock_s: NEW_YEAR_S + rng.random_range(0..30_000_000),
                time_set: true,
                register_dwh: 0,
                before_dwh: None,
                seen: Vec::new(),
            })
            .collect();
        for _ in 0..20 {
            let mut batch = Vec::new();
            for _ in 0..rng.random_range(1..60) {
                let life = &mut lives[rng.random_range(0..3)];
                let first = life.n == 0;
                let new = life.next(&mut rng);
                if first && new.report.n == 1 && life.before_dwh != Some(0) {
                    // With the number 1 nothing was before.
                    if let Some(seen) = life.seen.last_mut() {
                        seen.used_dwh = i64::try_from(life.register_dwh).expect("small");
                    }
                }
                batch.push(Write::Report(new));
            }
            let written = store.commit(batch).expect("there is room");
            assert!(written.iter().all(|w| matches!(w, Written::Reading { .. } | Written::Alert { .. })));
            if rng.random_range(0..5) == 0 {
                drop(store);
                store = place.open_in(name);
            }
        }
        check(&store, &zone, &lives);
        check_all_meters(&store, &zone, &seen_of(&lives), &mut rng);
        // Another zone: hours and days are made anew, and go on.
        drop(store);
        let (other, other_name) = (TimeZone::get("Pacific/Chatham").expect("a zone"), "Pacific/Chatham");
        let mut store = place.open_in(other_name);
        check(&store, &other, &lives);
        check_all_meters(&store, &other, &seen_of(&lives), &mut rng);
        let batch = (0..50).map(|_| Write::Report(lives[0].next(&mut rng))).collect();
        store.commit(batch).expect("there is room");
        check(&store, &other, &lives);
        check_all_meters(&store, &other, &seen_of(&lives), &mut rng);
    }
}

fn readings_that_were_sorted_in_are_the_same(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    add(&mut store, 1..=4);
    let mut expected = [0u32; 4];
    // More than two landings full, of which half is of the time before.
    for round in 0..24u32 {
        let mut batch = Vec::new();
        for place in 0..3000u32 {
            let meter = place % 4;
            let n = round * 750 + place / 4 + 2;
            let at_s = NEW_YEAR_S + i64::from((n * 7919) % 20_000);
            expected[meter as usize] += 1;
            batch.push(Write::Report(report(meter as u16 + 1, n, at_s, measurement(at_s, n * 10, 100))));
        }
        store.commit(batch).expect("there is room");
    }
    for meter in 0..4u16 {
        let mut count = 0;
        let mut after = None;
        let mut last = None;
        loop {
            let query = ReadingsQuery { after, limit: 999, ..ReadingsQuery::raw(meter + 1) };
            let page = store.reader().readings(&query).expect("readings");
            let Rows::Raw { at_s, .. } = page.rows else { panic!("readings were asked for") };
            assert!(at_s.is_sorted() && (last.is_none() || last <= at_s.first().copied()));
            last = at_s.last().copied();
            count += at_s.len();
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(count, expected[usize::from(meter)] as usize);
    }
}

/// The state of a register that only counts up says by itself what was used, but for the first
/// reading.
fn a_register_goes_around_at_2_to_the_32(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    add(&mut store, [1]);
    let states = [0xffff_fff0u32, 0xffff_fffa, 4, 10];
    let batch = states.iter().zip(10u32..).map(|(energy_dwh, n)| {
        let at_s = NEW_YEAR_S + i64::from(n);
        let time_s = u32::try_from(at_s - METERS_EPOCH_S).expect("a time");
        let content = Content::Measurement(Measurement { time_s, energy_dwh: *energy_dwh, power_w: 1 });
        let report = Report { n, time_set: true, lost: 0, content };
        Write::Report(NewReport {
            meter: 1.into(),
            epoch: 1,
            heard_ms: at_s * 1000,
            suite: Suite::None,
            report,
            sealed: Vec::new(),
            rssi_dbm: None,
        })
    });
    store.commit(batch.collect()).expect("there is room");
    let query = ConsumptionQuery {
        from_s: NEW_YEAR_S,
        to_s: NEW_YEAR_S + 1,
        resolution: Interval::Day,
        whose: MeterFilter::Meter(1.into()),
    };
    assert_eq!(store.reader().consumption(&query).expect("consumption").meters[0].used_wh, [Some(2.6)]);
}
