//! The clocks that peripherals of the MSP430F5xx count, in cycles of the core clock MCLK.
//!
//! The unified clock system model keeps SMCLK equal to MCLK and ACLK at the 32,768 Hz of XT1 or REFO (see
//! `msp430_ucs`), so the ratio is all there is.

use crate::Part;

/// ACLK: XT1 with a watch crystal, or REFO.
const ACLK_HZ: u128 = 32_768;

/// Converts between cycles of MCLK and edges of ACLK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    mclk_hz: u64,
}

impl Clocks {
    /// The clocks of a part whose core runs at `part.default_clock_hz`.
    #[must_use]
    pub fn new(part: &Part) -> Clocks {
        Clocks { mclk_hz: part.default_clock_hz.max(1) }
    }

    /// Rising edges of ACLK from reset up to and including `cycle`.
    #[must_use]
    pub fn aclk_count(self, cycle: u64) -> u64 {
        (u128::from(cycle) * ACLK_HZ / u128::from(self.mclk_hz)) as u64
    }

    /// The first cycle by which `count` edges of ACLK have come.
    #[must_use]
    pub fn aclk_edge(self, count: u64) -> u64 {
        (u128::from(count) * u128::from(self.mclk_hz)).div_ceil(ACLK_HZ) as u64
    }
}
