//! Cost of one operation, as `bench` reports it.

use crate::accuracy::Accuracy;
use crate::energy_accuracy::EnergyAccuracy;
use crate::origin::Provenance;
use serde::Serialize;

/// Mean, spread and range of the cycles of a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cycles {
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation of the sample (n − 1).
    pub sd: f64,
    /// Standard error of the mean, sd/√n.
    pub se: f64,
    /// The fewest of a run.
    pub min: u64,
    /// The most of a run.
    pub max: u64,
}

impl Cycles {
    /// Of one or more measurements.
    #[must_use]
    pub fn of(samples: &[u64]) -> Cycles {
        let count = samples.len() as f64;
        let mean = samples.iter().map(|&sample| sample as f64).sum::<f64>() / count;
        let squares: f64 = samples.iter().map(|&sample| (sample as f64 - mean).powi(2)).sum();
        let sd = if samples.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        let min = samples.iter().copied().min().unwrap_or(0);
        let max = samples.iter().copied().max().unwrap_or(0);
        Cycles { mean, sd, se: sd / count.sqrt(), min, max }
    }
}

/// Cost of one operation on one target.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BenchRow {
    /// Target name.
    pub target: String,
    /// Operation name.
    pub op: String,
    /// Variant of the build.
    pub variant: String,
    /// Message bytes.
    pub bytes: u16,
    /// Core clock, in Hz.
    pub clock_hz: u64,
    /// Supply, in volts.
    pub supply_v: f64,
    /// Random inputs.
    pub runs: u32,
    /// From the call to the return.
    pub cycles: Cycles,
    /// Bound on the cycles against the part's.
    pub accuracy: Accuracy,
    /// Mean time, in seconds.
    pub time_s: f64,
    /// Active power, in watts.
    pub power_w: f64,
    /// Mean energy, in joules.
    pub energy_j: f64,
    /// Bound on the energy against the part's, beside that of its cycles.
    pub energy_accuracy: EnergyAccuracy,
    /// The memory whose current that is: the data sheet's for code that executes from there.
    pub memory: String,
    /// Program memory that linking the operation adds, in bytes.
    pub flash_bytes: i64,
    /// Static RAM that linking the operation adds, in bytes.
    pub ram_bytes: i64,
    /// Deepest stack use of the runs that were observed, in bytes: those of the first four million
    /// cycles, and at least one.
    pub stack_bytes: u32,
    /// Every output equalled the reference's.
    pub verified: bool,
    /// Origin of the figures.
    pub provenance: Provenance,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_that_of_the_sample() {
        let cycles = Cycles::of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert!((cycles.mean - 5.0).abs() < 1e-12);
        assert!((cycles.sd - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        assert!((cycles.se - cycles.sd / 8f64.sqrt()).abs() < 1e-12);
        assert_eq!((cycles.min, cycles.max), (2, 9));
        assert_eq!(Cycles::of(&[3]).sd, 0.0);
    }
}
