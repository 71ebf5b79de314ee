//! The clocks that peripherals of the MSP430F5xx count, in cycles of the core clock MCLK.
//!
//! The unified clock system model keeps SMCLK equal to MCLK and ACLK at the 32,768 Hz of XT1 or REFO (see [`super::ucs`]), so the
//! ratio is all there is, and where a change of MCLK left ACLK.

use crate::Part;

/// ACLK: XT1 with a watch crystal, or REFO.
const ACLK_HZ: i128 = 32_768;

/// Converts between cycles of MCLK and edges of ACLK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    mclk_hz: u64,
    /// The cycle from which on that holds, the edges of ACLK up to it, and what has gone by of the next, in 1 / `mclk_hz`.
    since: (i128, i128, i128),
}

impl Clocks {
    /// The clocks of a part whose core runs at `part.default_clock_hz`.
    #[must_use]
    pub fn new(part: &Part) -> Clocks {
        Clocks { mclk_hz: part.default_clock_hz.max(1), since: (0, 0, 0) }
    }

    /// MCLK has another frequency from cycle `now` on.
    pub fn set_clock(&mut self, clock_hz: u64, now: u64) {
        if now == 0 {
            *self = Clocks { mclk_hz: clock_hz.max(1), since: (0, 0, 0) };
            return;
        }
        let (edges, rest) = self.phase(now);
        let rest = rest * i128::from(clock_hz) / i128::from(self.mclk_hz);
        *self = Clocks { mclk_hz: clock_hz.max(1), since: (now.into(), edges, rest) };
    }

    /// The frequency of MCLK.
    #[must_use]
    pub fn mclk_hz(self) -> u64 {
        self.mclk_hz
    }

    /// Edges of ACLK up to a cycle, and what has gone by of the next.
    fn phase(self, cycle: u64) -> (i128, i128) {
        let ((since, edges, rest), hz) = (self.since, i128::from(self.mclk_hz));
        let parts = (i128::from(cycle) - since) * ACLK_HZ + rest;
        (edges + parts.div_euclid(hz), parts.rem_euclid(hz))
    }

    /// Rising edges of ACLK from reset up to and including `cycle`.
    #[must_use]
    pub fn aclk_count(self, cycle: u64) -> u64 {
        self.phase(cycle).0.max(0) as u64
    }

    /// The first cycle by which `count` edges of ACLK have come.
    #[must_use]
    pub fn aclk_edge(self, count: u64) -> u64 {
        let (since, edges, rest) = self.since;
        let parts = (i128::from(count) - edges) * i128::from(self.mclk_hz) - rest;
        (since - (-parts).div_euclid(ACLK_HZ)).max(0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aclk_goes_on_where_mclk_changes() {
        let mut clocks = Clocks { mclk_hz: 1_048_576, since: (0, 0, 0) };
        // 32 cycles for an edge; half of one is over when MCLK doubles, so the next comes 32 cycles later.
        assert_eq!((clocks.aclk_count(3216), clocks.aclk_edge(101)), (100, 3232));
        clocks.set_clock(2_097_152, 3216);
        assert_eq!(
            (clocks.aclk_count(3216), clocks.aclk_count(3247), clocks.aclk_count(3248)),
            (100, 100, 101)
        );
        assert_eq!((clocks.aclk_edge(101), clocks.aclk_edge(102)), (3248, 3312));
        // A reset by power begins at cycle 0.
        clocks.set_clock(1_048_576, 0);
        assert_eq!((clocks.aclk_count(31), clocks.aclk_count(32)), (0, 1));
    }
}
