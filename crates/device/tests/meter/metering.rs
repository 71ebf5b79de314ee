//! Energy, power and RMS against double precision: sines and distorted waves, through a converter
//! of 10 bits.

use device::meter::metering::Metering;
use std::f64::consts::TAU;

const HZ: f64 = 1250.0;
/// Volts and amperes a step: 409.6 V and 51.2 A at most.
const VOLTS: f64 = 0.8;
const AMPERES: f64 = 0.1;

/// Amplitude and phase of the fundamental and its harmonics: (which, amplitude, angle).
type Wave<'a> = &'a [(f64, f64, f64)];

fn at(wave: Wave, hz: f64, time_s: f64) -> f64 {
    wave.iter().map(|(k, amplitude, angle)| amplitude * (TAU * k * hz * time_s + angle).sin()).sum()
}

/// Real power: harmonics of different order carry none together.
fn real_power(voltage: Wave, current: Wave) -> f64 {
    let pairs = voltage.iter().flat_map(|v| current.iter().map(move |i| (v, i)));
    pairs.filter(|(v, i)| v.0 == i.0).map(|(v, i)| v.1 * i.1 / 2.0 * (v.2 - i.2).cos()).sum()
}

fn rms(wave: Wave) -> f64 {
    wave.iter().map(|(_, amplitude, _)| amplitude.powi(2) / 2.0).sum::<f64>().sqrt()
}

fn converted(value: f64, per_step: f64, offset: f64) -> u16 {
    (value / per_step + offset).round().clamp(0.0, 1023.0) as u16
}

/// The current is sampled `skew_s` after the voltage. The noise of a converter spreads the steps'
/// rounding.
struct Line<'a> {
    voltage: Wave<'a>,
    current: Wave<'a>,
    hz: f64,
    skew_s: f64,
    offsets: [f64; 2],
}

impl Line<'_> {
    fn feed(&self, metering: &mut Metering, seconds: u32, rng: &mut fastrand::Rng) {
        for n in 0..seconds * 1250 {
            let time_s = f64::from(n) / HZ;
            let noise = |rng: &mut fastrand::Rng| rng.f64() - 0.5;
            let u = at(self.voltage, self.hz, time_s) + noise(rng) * VOLTS;
            let i = at(self.current, self.hz, time_s + self.skew_s) + noise(rng) * AMPERES;
            metering.add(converted(u, VOLTS, self.offsets[0]), converted(i, AMPERES, self.offsets[1]));
            if n % 1250 == 1249 {
                metering.take();
            }
        }
    }
}

fn metering(phase: i16) -> Metering {
    Metering::calibrated(800_000, 100_000, phase).expect("in range")
}

/// Duration of the measurement, after 10 s in which offsets settle.
const SECONDS: u32 = 240;

/// Energy, power and RMS are those of the line, within a relative error.
fn check(line: &Line, phase: i16, relative: f64) {
    let mut rng = fastrand::Rng::with_seed(7);
    let mut metering = metering(phase);
    line.feed(&mut metering, 10, &mut rng);
    let before = metering.energy;
    metering.power_w();
    line.feed(&mut metering, SECONDS, &mut rng);
    let expected_w = real_power(line.voltage, line.current);
    let measured = f64::from(metering.energy.wrapping_sub(before));
    let expected = expected_w * f64::from(SECONDS) / 360.0;
    // A unit at either end, and 0.1 W of what noise makes.
    let room = expected.abs() * relative + 1.0 + 0.1 * f64::from(SECONDS) / 360.0;
    assert!((measured - expected.max(0.0)).abs() <= room, "{measured} is not {expected} of 0.1 Wh");
    let power_w = f64::from(metering.power_w());
    assert!(
        (power_w - expected_w).abs() <= expected_w.abs() * relative + 0.6,
        "{power_w} W, not {expected_w}"
    );
    let (voltage, current) = (f64::from(metering.voltage()) / 10.0, f64::from(metering.current()) / 100.0);
    assert!((voltage - rms(line.voltage)).abs() < 0.3, "{voltage} V, not {}", rms(line.voltage));
    // Noise and rounding: 0.4 steps together.
    let expected_a = rms(line.current).hypot(0.41 * AMPERES);
    assert!((current - expected_a).abs() < 0.02 + expected_a * 0.002, "{current} A, not {expected_a}");
}

const SINE: Wave = &[(1.0, 325.27, 0.3)];

#[test]
fn a_resistive_load_at_once() {
    for (amplitude, hz) in [(0.5, 50.0), (5.0, 49.8), (40.0, 60.0)] {
        let current: Wave = &[(1.0, amplitude, 0.3)];
        check(&Line { voltage: SINE, current, hz, skew_s: 0.0, offsets: [512.0; 2] }, 0, 1e-3);
    }
}

#[test]
fn offsets_that_are_not_in_the_middle() {
    let current: Wave = &[(1.0, 5.0, 0.3)];
    check(&Line { voltage: SINE, current, hz: 50.0, skew_s: 0.0, offsets: [498.3, 520.8] }, 0, 1e-3);
}

#[test]
fn a_load_that_is_not_resistive() {
    // cos 60 degrees, and 80: there an angle is worth the most.
    for angle in [60f64, 80.0, -60.0] {
        let current: Wave = &[(1.0, 20.0, 0.3 + angle.to_radians())];
        check(&Line { voltage: SINE, current, hz: 50.0, skew_s: 0.0, offsets: [512.0; 2] }, 0, 2e-3);
    }
}

/// A phase of p takes a voltage that came p / 256 of an interval too early as it was with the
/// current: the gain stays.
#[test]
fn the_phase_takes_up_what_lies_between_the_two_samples() {
    for phase in [35i16, 128, 256, -77, -128] {
        let skew_s = f64::from(phase) / 256.0 / HZ;
        for angle in [0f64, 60.0] {
            let current: Wave = &[(1.0, 20.0, 0.3 - angle.to_radians())];
            check(&Line { voltage: SINE, current, hz: 50.0, skew_s, offsets: [512.0; 2] }, phase, 1e-3);
        }
        let current: Wave = &[(1.0, 20.0, 0.3)];
        let relative = if phase >= 0 { 4e-3 } else { 1.1e-2 };
        check(&Line { voltage: SINE, current, hz: 60.0, skew_s, offsets: [512.0; 2] }, phase, relative);
    }
}

/// A rectifier's current, with third to ninth harmonics, at a flattened voltage.
#[test]
fn distorted_waves() {
    let voltage: Wave = &[(1.0, 320.0, 0.0), (3.0, 8.0, 0.2), (5.0, 10.0, 2.9), (7.0, 4.0, 0.1)];
    let current: Wave =
        &[(1.0, 9.0, -0.2), (3.0, 7.0, 2.8), (5.0, 5.0, -0.3), (7.0, 3.0, 2.5), (9.0, 1.0, 0.4)];
    check(&Line { voltage, current, hz: 50.0, skew_s: 0.0, offsets: [512.0; 2] }, 0, 1e-3);
    // With the skew of the ATmega's converter, 13.5 of its clocks at 125 kHz, 35 / 256 of an
    // interval, harmonics lose power: metering.h. These have 4 % of it, and give it back.
    check(&Line { voltage, current, hz: 50.0, skew_s: 108e-6, offsets: [512.0; 2] }, 35, 4e-3);
}

#[test]
fn energy_that_flows_back_is_told_and_not_counted() {
    let current: Wave = &[(1.0, 10.0, 0.3 + TAU / 2.0)];
    let line = Line { voltage: SINE, current, hz: 50.0, skew_s: 0.0, offsets: [512.0; 2] };
    check(&line, 0, 1e-3);
    // And afterwards energy counts from there, but for 0.1 Wh.
    let mut rng = fastrand::Rng::with_seed(1);
    let mut metering = metering(0);
    line.feed(&mut metering, 60, &mut rng);
    assert_eq!(metering.energy, 0);
    let current: Wave = &[(1.0, 10.0, 0.3)];
    Line { current, ..line }.feed(&mut metering, 360, &mut rng);
    let expected = real_power(SINE, current);
    assert!(
        (f64::from(metering.energy) - expected).abs() < expected * 1e-3 + 3.0,
        "{} {expected}",
        metering.energy
    );
}

#[test]
fn without_a_load_nothing_adds_up() {
    let line = Line { voltage: SINE, current: &[], hz: 50.0, skew_s: 0.0, offsets: [511.7, 512.4] };
    let mut metering = metering(0);
    line.feed(&mut metering, 3600, &mut fastrand::Rng::with_seed(3));
    assert!(metering.energy <= 1, "{}", metering.energy);
    assert_eq!(metering.power_w(), 0);
}

/// Samples at their limits, in any order: sums keep within their types (this would stop with an
/// overflow otherwise), and nothing is counted for what never changes.
#[test]
fn any_samples_at_all() {
    let mut rng = fastrand::Rng::with_seed(5);
    let mut metering = metering(-256);
    for n in 0..200_000u32 {
        let sample = |rng: &mut fastrand::Rng| *rng.choice(&[0, 1023, 512]).expect("some");
        metering.add(sample(&mut rng), sample(&mut rng));
        if n % 10_000 == 0 {
            metering.take();
        }
    }
    metering.power_w();
    let before = metering.energy;
    for n in 0..2_000_000u32 {
        metering.add(1023, 1023);
        if n % 10_000 == 0 {
            metering.take();
        }
    }
    // The offset follows: what is left of it after the first seconds is nothing.
    assert!(metering.energy.wrapping_sub(before) < 60_000, "{}", metering.energy.wrapping_sub(before));
    metering.power_w();
    for _ in 0..12_500 {
        metering.add(1023, 1023);
    }
    metering.take();
    assert_eq!(metering.power_w(), 0);
}

#[test]
fn calibrations_out_of_range_are_refused() {
    for (micro_u, micro_i, phase) in [
        (0, 100_000, 0),
        (800_000, 0, 0),
        (4_000_001, 100_000, 0),
        (800_000, 4_000_001, 0),
        (10_000, 10_000, 0),
        (u32::MAX, u32::MAX, 0),
        (800_000, 100_000, 257),
        (800_000, 100_000, -257),
    ] {
        assert!(Metering::calibrated(micro_u, micro_i, phase).is_none(), "{micro_u} {micro_i} {phase}");
    }
    for (micro_u, micro_i, phase) in
        [(4_000_000, 4_000_000, 256), (11_000, 10_000, -256), (1, 110_000_000 / 28, 0)]
    {
        let possible = u64::from(micro_u) * u64::from(micro_i) >= 110_000_000;
        assert_eq!(Metering::calibrated(micro_u, micro_i, phase).is_some(), possible);
    }
}
