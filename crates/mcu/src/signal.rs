//! Voltages at the inputs of a converter, as functions of time.

use std::f64::consts::TAU;
use std::sync::Arc;

/// A multiple of the mains frequency within a [`Signal::Mains`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Harmonic {
    /// Multiple of the mains frequency: 3 is 150 Hz at 50 Hz.
    pub order: u8,
    /// Peak, in volts at the input.
    pub amplitude_v: f64,
    /// Phase at time 0, in radians of its own period.
    pub phase_rad: f64,
}

/// A voltage over time. The same signal has the same voltage at the same time, always.
#[derive(Clone, Debug, PartialEq)]
pub enum Signal {
    /// The same for ever, in volts.
    Level(f64),
    /// A mains voltage or current as a sensor shows it: `offset_v + amplitude_v sin(2 pi hz t +
    /// phase_rad)`, harmonics and noise.
    Mains {
        /// Offset that the sensor's bias adds, in volts.
        offset_v: f64,
        /// Peak, in volts.
        amplitude_v: f64,
        /// Mains frequency, in Hz.
        hz: f64,
        /// Phase at time 0, in radians.
        phase_rad: f64,
        /// Harmonics that come on top.
        harmonics: Vec<Harmonic>,
        /// Standard deviation of noise (normally distributed, independent at every nanosecond), in
        /// volts.
        noise_v: f64,
        /// Seed of the noise.
        seed: u64,
    },
    /// Voltages that were recorded or computed.
    Samples(Arc<Samples>),
}

/// Voltages at times. Before the first and after the last one it is theirs.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// Times in nanoseconds, in ascending order, with their voltages; at least one.
    pub points: Vec<(u64, f64)>,
    /// A voltage holds until the next one, instead of a straight line between them.
    pub steps: bool,
    /// The first one follows the last: the time of the last is the period, of which it is no part.
    pub repeats: bool,
}

impl Samples {
    fn voltage_v(&self, time_ns: u64) -> f64 {
        let period_ns = self.points.last().map_or(0, |(at_ns, _)| *at_ns);
        let time_ns = if self.repeats && period_ns > 0 { time_ns % period_ns } else { time_ns };
        let next = self.points.partition_point(|(at_ns, _)| *at_ns <= time_ns);
        match (next.checked_sub(1).map(|before| self.points[before]), self.points.get(next)) {
            (Some((_, volts)), None) => volts,
            (Some((_, volts)), Some(_)) if self.steps => volts,
            (Some((from_ns, from_v)), Some((to_ns, to_v))) => {
                let share = (time_ns - from_ns) as f64 / (to_ns - from_ns) as f64;
                from_v + share * (to_v - from_v)
            }
            (None, first) => first.map_or(0.0, |(_, volts)| *volts),
        }
    }
}

impl Signal {
    /// The voltage at a time.
    #[must_use]
    pub fn voltage_v(&self, time_ns: u64) -> f64 {
        match self {
            Signal::Level(volts) => *volts,
            Signal::Samples(samples) => samples.voltage_v(time_ns),
            Signal::Mains { offset_v, amplitude_v, hz, phase_rad, harmonics, noise_v, seed } => {
                // Whole seconds and the rest apart: hours of nanoseconds times a frequency would
                // lose the phase's last digits.
                let seconds = (time_ns / 1_000_000_000) as f64;
                let rest_s = (time_ns % 1_000_000_000) as f64 * 1e-9;
                let turns = (seconds * hz).fract() + rest_s * hz;
                let mut volts = offset_v + amplitude_v * (TAU * turns + phase_rad).sin();
                for harmonic in harmonics {
                    let order = f64::from(harmonic.order);
                    volts += harmonic.amplitude_v * (TAU * turns * order + harmonic.phase_rad).sin();
                }
                if *noise_v > 0.0 {
                    volts += noise_v * normal(seed.wrapping_add(mixed(time_ns)));
                }
                volts
            }
        }
    }
}

/// The output function of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", 2014).
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

/// A number of the standard normal distribution that follows from `seed` (Box and Muller).
fn normal(seed: u64) -> f64 {
    let unit = |number: u64| ((number >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    let (radius, angle) = (unit(mixed(seed)), unit(mixed(seed ^ 0xffff_ffff)));
    (-2.0 * radius.ln()).sqrt() * (TAU * angle).cos()
}

#[cfg(test)]
mod tests {
    use super::{Harmonic, Samples, Signal};

    fn mains(noise_v: f64, seed: u64, harmonics: Vec<Harmonic>) -> Signal {
        Signal::Mains { offset_v: 1.65, amplitude_v: 1.0, hz: 50.0, phase_rad: 0.0, harmonics, noise_v, seed }
    }

    #[test]
    fn a_sine_has_its_quarters_where_they_belong() {
        let signal = mains(0.0, 0, Vec::new());
        // A quarter of 20 ms is 5 ms; also after a day.
        for day_ns in [0, 86_400_000_000_000] {
            for (ms, volts) in [(0, 1.65), (5, 2.65), (10, 1.65), (15, 0.65)] {
                let voltage_v = signal.voltage_v(day_ns + ms * 1_000_000);
                assert!((voltage_v - volts).abs() < 1e-9, "{ms} ms: {voltage_v}");
            }
        }
    }

    #[test]
    fn samples_have_lines_steps_and_a_period() {
        let points = vec![(100, 1.0), (200, 2.0), (400, 0.0)];
        let at = |steps, repeats, times: [u64; 5]| {
            let samples = Samples { points: points.clone(), steps, repeats };
            times.map(|time_ns| samples.voltage_v(time_ns))
        };
        assert_eq!(at(false, false, [0, 100, 150, 300, 500]), [1.0, 1.0, 1.5, 1.0, 0.0]);
        assert_eq!(at(true, false, [0, 100, 150, 300, 500]), [1.0, 1.0, 1.0, 2.0, 0.0]);
        assert_eq!(at(false, true, [400, 500, 550, 700, 4_000_000_150]), [1.0, 1.0, 1.5, 1.0, 1.5]);
    }

    #[test]
    fn a_third_harmonic_flattens_the_top() {
        let third = Harmonic { order: 3, amplitude_v: 0.1, phase_rad: 0.0 };
        // sin(3 pi / 2) = -1.
        assert!((mains(0.0, 0, vec![third]).voltage_v(5_000_000) - 2.55).abs() < 1e-9);
    }

    #[test]
    fn noise_is_normal_and_repeats_itself() {
        let (one, other) = (mains(0.01, 1, Vec::new()), mains(0.01, 2, Vec::new()));
        let still = mains(0.0, 1, Vec::new());
        let errors: Vec<f64> =
            (0..20_000).map(|n| n * 400_000).map(|t| one.voltage_v(t) - still.voltage_v(t)).collect();
        let count = errors.len() as f64;
        let mean = errors.iter().sum::<f64>() / count;
        let deviation = (errors.iter().map(|error| error * error).sum::<f64>() / count).sqrt();
        // Five standard errors of either.
        assert!(mean.abs() < 5.0 * 0.01 / count.sqrt(), "{mean}");
        assert!((deviation - 0.01).abs() < 5.0 * 0.01 / (2.0 * count).sqrt(), "{deviation}");
        assert_eq!(one.voltage_v(400_000), one.voltage_v(400_000));
        assert_ne!(one.voltage_v(400_000), other.voltage_v(400_000));
    }
}
