//! Taps of the DCO that the frequency-locked loop of the MSP430F5xx finds.
//!
//! Source: SLAU208, "Digitally Controlled Oscillator (DCO)" and "Frequency-Locked Loop (FLL)": 32
//! taps and 32 steps of modulation between two of them; "n x 32 f(FLLREFCLK) cycles are required
//! between taps". The data sheet gives the least and the most that a part may have at the lowest
//! and at the highest tap of each range, so where the loop will stand is an estimate: the geometric
//! mean of both, and taps that are each the same factor apart.

use crate::PeripheralSpec;
use std::ops::Range;

/// Taps times steps of modulation.
pub const POSITIONS: u32 = 32 * 32;

/// The positions of the lowest and of the highest tap.
pub const LOWEST_TAP: Range<u32> = 0..32;
pub const HIGHEST_TAP: Range<u32> = POSITIONS - 32..POSITIONS;

/// Returns true if the oscillator is at its lowest or at its highest tap, which is a fault
/// (DCOFFG).
pub fn is_outermost(position: u32) -> bool {
    LOWEST_TAP.contains(&position) || HIGHEST_TAP.contains(&position)
}

/// The frequencies of the lowest and of the highest tap, in Hz, by DCORSEL.
#[derive(Clone, Debug)]
pub struct Ranges([(f64, f64); 8]);

impl Ranges {
    /// From the settings `dco_#_0_khz` and `dco_#_31_khz`.
    ///
    /// # Errors
    /// One of them is missing.
    pub fn new(spec: &PeripheralSpec) -> Result<Ranges, String> {
        let mut ranges = [(0.0, 0.0); 8];
        for (number, range) in ranges.iter_mut().enumerate() {
            let hz = |tap: u32| {
                let key = format!("dco_{number}_{tap}_khz");
                let khz = spec.settings.get(&key).filter(|khz| **khz > 0);
                khz.map(|khz| *khz as f64 * 1e3).ok_or_else(|| format!("{} needs {key}", spec.name))
            };
            *range = (hz(0)?, hz(31)?);
        }
        Ok(Ranges(ranges))
    }

    /// The position at which a range gives this frequency; the first or the last where it does not.
    pub fn position(&self, range: u32, hz: u64) -> u32 {
        let (low, high) = self.0[(range & 7) as usize];
        let taps = 31.0 * (hz as f64 / low).ln() / (high / low).ln();
        (32.0 * taps).clamp(0.0, f64::from(POSITIONS - 1)).round() as u32
    }
}
