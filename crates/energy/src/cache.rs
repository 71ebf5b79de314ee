//! Currents of programs by the answers of a read cache.

use serde::Deserialize;

/// Charges of a part's cycles, by whether its read cache answers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheCharges {
    /// Charge of a cycle in which the cache misses nothing, in coulombs.
    pub cycle_c: f64,
    /// Charge that a miss, or a write to the memory behind the cache, takes beside its cycle.
    pub miss_c: f64,
    /// Highest clock that they hold for, in Hz.
    pub max_hz: f64,
    /// Deviation that the source has from measured power, in percent.
    pub error_percent: f64,
    /// Document of the figures, and their conditions.
    pub source: String,
}

impl CacheCharges {
    /// Returns the current of a program with `misses_per_cycle`, in amperes. None above the clock
    /// that the charges hold for.
    #[must_use]
    pub fn current_a(&self, clock_hz: f64, misses_per_cycle: f64) -> Option<f64> {
        let charge_c = self.cycle_c + misses_per_cycle * self.miss_c;
        (clock_hz <= self.max_hz).then_some(clock_hz * charge_c)
    }

    /// Checks that a current comes out of the figures.
    pub(crate) fn check(&self) -> Result<(), String> {
        let figures = [self.cycle_c, self.miss_c, self.max_hz, self.error_percent];
        if figures.into_iter().all(|figure| figure.is_finite() && figure > 0.0) {
            return Ok(());
        }
        Err("has a figure in cache that is not above zero".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charges() -> CacheCharges {
        CacheCharges { cycle_c: 0.1e-9, miss_c: 0.2e-9, max_hz: 8e6, error_percent: 3.0, source: "s".into() }
    }

    #[test]
    fn misses_add_their_charge_to_each_cycle() {
        let current_a = |clock_hz, misses| charges().current_a(clock_hz, misses);
        assert!((current_a(8e6, 0.0).unwrap() - 0.8e-3).abs() < 1e-12);
        assert!((current_a(8e6, 0.25).unwrap() - 1.2e-3).abs() < 1e-12);
        assert_eq!(current_a(8.1e6, 0.25), None);
    }

    #[test]
    fn charge_of_nothing_is_refused() {
        assert_eq!(charges().check(), Ok(()));
        assert!(CacheCharges { miss_c: 0.0, ..charges() }.check().is_err());
        assert!(CacheCharges { cycle_c: f64::NAN, ..charges() }.check().is_err());
    }
}
