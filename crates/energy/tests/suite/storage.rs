//! Capacitor and battery: by hand, against closed forms, and the balance of every joule.

use energy::storage::{Battery, Capacitor, YEAR_S};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// 0.1 F, 5 V, without losses.
const IDEAL: Capacitor = Capacitor { capacitance_f: 0.1, max_v: 5.0, esr_ohm: 0.0, leakage_a: 0.0 };

fn assert_close(found: f64, expected: f64, relative: f64) {
    assert!((found - expected).abs() <= relative * expected.abs(), "{found} is not {expected}");
}

/// 0.1 F · (5 V)² / 2 = 1.25 J, · (3 V)² / 2 = 0.45 J: 0.8 J between them.
#[test]
fn energy_and_voltage() {
    assert_close(IDEAL.energy_j(5.0), 1.25, 1e-12);
    assert_close(IDEAL.usable_j(5.0, 3.0), 0.8, 1e-12);
    assert_close(IDEAL.usable_j(3.0, 5.0), -0.8, 1e-12);
    assert_close(IDEAL.voltage_v(0.45), 3.0, 1e-12);
    assert_eq!(IDEAL.voltage_v(-1.0), 0.0);
}

/// 10 mA for 10 s out of 0.1 F: 1 V less. From 4 V to 3 V the load gets 3.5 V · 0.1 C = 0.35 J, the
/// energy between.
#[test]
fn a_load_takes_charge() {
    let step = IDEAL.step(4.0, 0.0, 10e-3, 10.0);
    assert_close(step.stored_v, 3.0, 1e-12);
    assert_close(step.load_j, 0.35, 1e-12);
    assert_close(step.terminal_v, 3.5, 1e-12);
    assert_eq!((step.harvested_j, step.refused_j, step.esr_j, step.leaked_j), (0.0, 0.0, 0.0, 0.0));
    assert!(!step.starved);
}

/// 45 mW for 10 s are 0.45 J: from empty to 3 V, in one step as in a thousand.
#[test]
fn a_harvester_gives_energy_even_to_an_empty_one() {
    let step = IDEAL.step(0.0, 45e-3, 0.0, 10.0);
    assert_close(step.stored_v, 3.0, 1e-12);
    assert_close(step.harvested_j, 0.45, 1e-12);
    let stored_v = (0..1000).fold(0.0, |stored_v, _| IDEAL.step(stored_v, 45e-3, 0.0, 0.01).stored_v);
    assert_close(stored_v, 3.0, 1e-9);
}

/// A resistance of 10 Ω drops 0.1 V at 10 mA and turns (10 mA)² · 10 Ω · 1 s = 1 mJ to heat; the
/// load sees what is left.
#[test]
fn the_series_resistance_takes_its_part() {
    let capacitor = Capacitor { esr_ohm: 10.0, ..IDEAL };
    let step = capacitor.step(4.0, 0.0, 10e-3, 1.0);
    assert_close(step.stored_v, 3.9, 1e-12);
    assert_close(step.esr_j, 1e-3, 1e-12);
    assert_close(step.terminal_v, 3.95 - 0.1, 1e-12);
    assert_close(step.load_j, 3.85 * 10e-3, 1e-12);
}

/// 50 µA at 5 V are 100 kΩ; with 0.1 F 10,000 s: after that time alone e⁻¹ of the voltage is left,
/// in 1,000 steps as in one.
#[test]
fn leakage_is_a_resistance() {
    let capacitor = Capacitor { leakage_a: 50e-6, ..IDEAL };
    let stored_v = (0..1000).fold(5.0, |stored_v, _| capacitor.step(stored_v, 0.0, 0.0, 10.0).stored_v);
    assert_close(stored_v, 5.0 * (-1.0_f64).exp(), 1e-9);
    let step = capacitor.step(5.0, 0.0, 0.0, 10_000.0);
    assert_close(step.stored_v, stored_v, 1e-9);
    assert_close(step.leaked_j, 1.25 * (1.0 - (-2.0_f64).exp()), 1e-9);
    assert_close(capacitor.leakage_at(2.5), 25e-6, 1e-12);
}

/// At 4.9 V 0.1 F lacks 1.25 - 1.2005 = 0.0495 J: of 0.1 J offered the rest is refused, and the
/// load runs on the harvester.
#[test]
fn a_full_one_refuses_the_rest() {
    let step = IDEAL.step(4.9, 0.1, 0.0, 1.0);
    assert_eq!(step.stored_v, 5.0);
    assert_close(step.harvested_j, 0.0495, 1e-9);
    assert_close(step.refused_j, 0.0505, 1e-9);
    let step = IDEAL.step(5.0, 0.1, 10e-3, 1.0);
    assert_eq!(step.stored_v, 5.0);
    assert_close(step.load_j, 0.05, 1e-9);
    assert_close(step.refused_j, 0.05, 1e-9);
}

/// 0.1 F at 1 V holds 0.1 C; 1 A for a second asks ten times that. The load gets the 0.05 J that
/// there are.
#[test]
fn an_empty_one_starves_its_load() {
    let step = IDEAL.step(1.0, 0.0, 1.0, 1.0);
    assert_eq!((step.stored_v, step.starved), (0.0, true));
    assert_close(step.load_j, 0.05, 1e-9);
    let through = Capacitor { esr_ohm: 100.0, ..IDEAL }.step(1.0, 0.0, 1.0, 1e-3);
    assert!(through.starved && through.stored_v > 0.99, "{through:?}");
    assert!(!IDEAL.step(0.0, 0.0, 0.0, 1.0).starved);
}

#[test]
fn every_joule_is_somewhere() {
    for seed in 0..2000 {
        let mut random = StdRng::seed_from_u64(seed);
        let maybe = |random: &mut StdRng, value: f64| if random.random_bool(0.2) { 0.0 } else { value };
        let max_v = random.random_range(1.0..6.0);
        let capacitor = Capacitor {
            capacitance_f: 10_f64.powf(random.random_range(-5.0..1.0)),
            max_v,
            esr_ohm: random.random_range(0.0..200.0),
            leakage_a: 10_f64.powf(random.random_range(-7.0..-3.0)),
        };
        let capacitor = Capacitor {
            esr_ohm: maybe(&mut random, capacitor.esr_ohm),
            leakage_a: maybe(&mut random, capacitor.leakage_a),
            ..capacitor
        };
        let mut stored_v = random.random_range(0.0..=max_v);
        let start_j = capacitor.energy_j(stored_v);
        let (mut in_j, mut out_j) = (0.0, 0.0);
        for _ in 0..50 {
            let harvest_w = 10_f64.powf(random.random_range(-6.0..0.0));
            let harvest_w = maybe(&mut random, harvest_w);
            let load_a = 10_f64.powf(random.random_range(-7.0..-1.0));
            let load_a = maybe(&mut random, load_a);
            let seconds = 10_f64.powf(random.random_range(-4.0..3.0));
            let step = capacitor.step(stored_v, harvest_w, load_a, seconds);
            let told = format!(
                "seed {seed}: {capacitor:?} at {stored_v} V, {harvest_w} W, {load_a} A, {seconds} s: {step:?}"
            );
            assert!((0.0..=max_v).contains(&step.stored_v), "{told}");
            let never_negative =
                [step.terminal_v, step.harvested_j, step.refused_j, step.load_j, step.esr_j, step.leaked_j];
            let slack_j =
                1e-9 * (capacitor.energy_j(max_v) + harvest_w * seconds + step.load_j.abs() + step.esr_j);
            assert!(never_negative.iter().all(|&value| value >= -slack_j), "{told}");
            let change_j = capacitor.energy_j(step.stored_v) - capacitor.energy_j(stored_v);
            let lost_j = step.load_j + step.esr_j + step.leaked_j;
            assert!((step.harvested_j - lost_j - change_j).abs() <= slack_j, "{told}");
            assert!((step.harvested_j + step.refused_j - harvest_w * seconds).abs() <= slack_j, "{told}");
            if !step.starved {
                assert!((step.load_j - load_a * step.terminal_v * seconds).abs() <= slack_j, "{told}");
            }
            in_j += step.harvested_j;
            out_j += lost_j;
            stored_v = step.stored_v;
        }
        let slack_j = 1e-7 * (start_j + in_j + capacitor.energy_j(max_v));
        assert!((start_j + in_j - out_j - capacitor.energy_j(stored_v)).abs() <= slack_j, "seed {seed}");
    }
}

/// 1 Ah at 3 V are 10,800 J: at 100 µW 1.08e8 s = 3.425 years; 80 % of it for 80 %.
#[test]
fn a_battery_without_losses() {
    let battery = Battery { capacity_ah: 1.0, voltage_v: 3.0, self_discharge_per_year: 0.0, usable: 1.0 };
    assert_close(battery.life_s(100e-6), 1.08e8, 1e-12);
    assert_close(battery.life_s(100e-6) / YEAR_S, 3.4247, 1e-4);
    assert_close(Battery { usable: 0.8, ..battery }.life_s(100e-6), 0.864e8, 1e-12);
    assert_eq!(battery.life_s(0.0), f64::INFINITY);
}

/// 1 % a year: λ = -ln 0.99 = 0.01005034 a year. Without a load it is down to half after ln 2 / λ =
/// 68.97 years. With one, a sum of small steps gives the same life.
#[test]
fn a_battery_that_discharges_itself() {
    let battery = Battery { capacity_ah: 1.0, voltage_v: 3.0, self_discharge_per_year: 0.01, usable: 0.5 };
    assert_close(battery.life_s(0.0) / YEAR_S, 0.5_f64.ln() / 0.99_f64.ln(), 1e-9);
    let step_s = 3600.0;
    let (mut left_j, mut life_s) = (10_800.0, 0.0);
    while left_j > 5_400.0 {
        left_j = left_j * 0.99_f64.powf(step_s / YEAR_S) - 20e-6 * step_s;
        life_s += step_s;
    }
    assert_close(battery.life_s(20e-6), life_s, 1e-4);
}

/// A loss too small to matter, as of a file that says 1e-15, leaves the life without one: 3.4247
/// years at 100 µW.
#[test]
fn next_to_no_self_discharge_is_as_none() {
    let none = Battery { capacity_ah: 1.0, voltage_v: 3.0, self_discharge_per_year: 0.0, usable: 1.0 };
    for self_discharge_per_year in [1e-18, 1e-15, 1e-12, 1e-9] {
        assert_close(Battery { self_discharge_per_year, ..none }.life_s(100e-6), 1.08e8, 1e-8);
    }
}

#[test]
fn storage_refuses_impossible_figures() {
    let message = |capacitor: Capacitor| capacitor.check().unwrap_err().to_string();
    assert_eq!(IDEAL.check(), Ok(()));
    assert_eq!(
        message(Capacitor { capacitance_f: 0.0, ..IDEAL }),
        "capacitance_f is 0; it must be a number above zero"
    );
    assert!(message(Capacitor { esr_ohm: -1.0, ..IDEAL }).contains("from zero up"));
    assert!(message(Capacitor { leakage_a: f64::NAN, ..IDEAL }).starts_with("leakage_a is NaN"));
    let battery = Battery { capacity_ah: 1.0, voltage_v: 3.0, self_discharge_per_year: 0.01, usable: 1.0 };
    assert_eq!(battery.check(), Ok(()));
    let percent = Battery { self_discharge_per_year: 1.0, ..battery }.check().unwrap_err().to_string();
    assert!(percent.contains("0.01 is one per cent a year"), "{percent}");
    assert!(Battery { usable: 0.0, ..battery }.check().is_err());
}
