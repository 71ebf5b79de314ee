//! Clocks of the MSP430F5xx's and MSP430FR5xx's peripherals, in cycles of MCLK.
//!
//! Source: SLAU208, chapter "Unified Clock System (UCS)", SLAU367, chapter "Clock System (CS)":
//! MCLK, SMCLK and ACLK each have an oscillator and a divider. The clock system ([`super::ucs`],
//! [`super::cs`]) says which ([`Tap`]), and peripherals count edges ([`Clocks`]). Nobody says when
//! a divider that is set begins its first period: here what has gone by of a period, as a part of
//! it, stays. A change of the clocks holds from the next cycle on, without the wait for edges of
//! both that the manuals draw.

use crate::{Frequency, Part, SubsystemClocks};

/// Message, in both clock systems, about SMCLKOFF without SMCLKREQEN.
pub const UNREQUESTED: &str =
    "an SMCLK that is off (SMCLKOFF) and that peripherals cannot request (SMCLKREQEN) is not modelled";

/// The oscillators of both clock systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oscillator {
    /// XT1 or LFXT.
    Crystal,
    Vlo,
    Refo,
    Dco,
    Modosc,
}

/// A clock as the clock system makes it: an oscillator, divided by two to the power of `shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tap {
    pub oscillator: Oscillator,
    pub shift: u32,
}

/// DIVM, DIVS, DIVA: 1 to 32, as powers of two.
pub fn divider_shift(field: u32) -> u32 {
    (field & 7).min(5)
}

impl Tap {
    /// Its oscillator behind a divider more.
    pub fn divided(self, field: u32) -> Tap {
        Tap { shift: self.shift + divider_shift(field), ..self }
    }

    /// Its frequency with an oscillator of `hz`, for the core's clock.
    pub fn hz(self, hz: u64) -> u64 {
        (hz >> self.shift).max(1)
    }

    /// Its frequency with an oscillator of `hz`, whatever MCLK's is.
    pub fn alone(self, hz: u64) -> Frequency {
        Frequency::Oscillator { hz, divider: 1 << self.shift }
    }

    /// Its frequency beside MCLK: where they share the oscillator, of which the program may be
    /// given another one than it set, that of MCLK by both dividers.
    pub fn beside(self, mclk: Tap, hz: u64) -> Frequency {
        if self.oscillator == mclk.oscillator {
            Frequency::Ratio { edges: 1 << mclk.shift, cycles: 1 << self.shift }
        } else {
            self.alone(hz)
        }
    }
}

/// A clock that a peripheral selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Smclk,
    Aclk,
}

impl Source {
    /// The manual's name.
    pub fn name(self) -> &'static str {
        match self {
            Source::Smclk => "SMCLK",
            Source::Aclk => "ACLK",
        }
    }
}

/// The rising edges of one clock from reset on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edges {
    frequency: Frequency,
    /// Edges in a number of cycles of MCLK.
    rate: (i128, i128),
    /// The cycle from which on that holds, the edges up to it, and what has gone by of the next, in
    /// 1 / `rate.1`.
    since: (i128, i128, i128),
}

impl Edges {
    /// A watch crystal's, or REFO's.
    pub fn of_watch_crystal(mclk_hz: u64) -> Edges {
        Edges::new(Frequency::Oscillator { hz: 32_768, divider: 1 }, mclk_hz)
    }

    fn new(frequency: Frequency, mclk_hz: u64) -> Edges {
        let rate = match frequency {
            Frequency::Ratio { edges, cycles } => (edges.max(1).into(), cycles.max(1).into()),
            Frequency::Oscillator { hz, divider } => {
                (hz.max(1).into(), i128::from(mclk_hz.max(1)) * i128::from(divider))
            }
        };
        Edges { frequency, rate, since: (0, 0, 0) }
    }

    /// It has this frequency from cycle `now` on, MCLK `mclk_hz`. At cycle 0 time begins.
    fn set(&mut self, frequency: Frequency, mclk_hz: u64, now: u64) {
        let mut after = Edges::new(frequency, mclk_hz);
        if now != 0 {
            let (edges, rest) = self.phase(now);
            after.since = (now.into(), edges, rest * after.rate.1 / self.rate.1);
        }
        *self = after;
    }

    /// MCLK has another frequency from cycle `now` on.
    pub fn set_clock(&mut self, clock_hz: u64, now: u64) {
        self.set(self.frequency, clock_hz, now);
    }

    /// Edges up to a cycle, and what has gone by of the next.
    fn phase(&self, cycle: u64) -> (i128, i128) {
        let (since, edges, rest) = self.since;
        let parts = (i128::from(cycle) - since) * self.rate.0 + rest;
        (edges + parts.div_euclid(self.rate.1), parts.rem_euclid(self.rate.1))
    }

    /// Rising edges from reset up to and including `cycle`.
    pub fn count(&self, cycle: u64) -> u64 {
        if self.rate.0 == self.rate.1 {
            // Each cycle of MCLK has one.
            let (since, edges, _) = self.since;
            return (i128::from(cycle) - since + edges).max(0) as u64;
        }
        self.phase(cycle).0.max(0) as u64
    }

    /// The first cycle by which `count` edges have come.
    pub fn edge(&self, count: u64) -> u64 {
        let (since, edges, rest) = self.since;
        if self.rate.0 == self.rate.1 {
            return (i128::from(count) - edges + since).max(0) as u64;
        }
        let parts = (i128::from(count) - edges) * self.rate.1 - rest;
        (since - (-parts).div_euclid(self.rate.0)).max(0) as u64
    }
}

/// Converts between cycles of MCLK and edges of SMCLK and ACLK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    mclk_hz: u64,
    smclk: Edges,
    aclk: Edges,
}

impl Clocks {
    /// The clocks of a part whose core runs at `part.default_clock_hz`, before the clock system has
    /// said otherwise.
    pub fn new(part: &Part) -> Clocks {
        let mclk_hz = part.default_clock_hz.max(1);
        let smclk = Edges::new(Frequency::Ratio { edges: 1, cycles: 1 }, mclk_hz);
        Clocks { mclk_hz, smclk, aclk: Edges::of_watch_crystal(mclk_hz) }
    }

    /// MCLK has another frequency from cycle `now` on.
    pub fn set_clock(&mut self, clock_hz: u64, now: u64) {
        self.mclk_hz = clock_hz.max(1);
        self.smclk.set_clock(clock_hz, now);
        self.aclk.set_clock(clock_hz, now);
    }

    /// SMCLK and ACLK have these frequencies from cycle `now` on.
    pub fn set(&mut self, clocks: &SubsystemClocks, now: u64) {
        self.smclk.set(clocks.smclk, self.mclk_hz, now);
        self.aclk.set(clocks.aclk, self.mclk_hz, now);
    }

    fn edges(&self, source: Source) -> &Edges {
        match source {
            Source::Smclk => &self.smclk,
            Source::Aclk => &self.aclk,
        }
    }

    /// Rising edges of a clock from reset up to and including `cycle`.
    pub fn count(&self, source: Source, cycle: u64) -> u64 {
        self.edges(source).count(cycle)
    }

    /// The first cycle by which `count` edges of a clock have come.
    pub fn edge(&self, source: Source, count: u64) -> u64 {
        self.edges(source).edge(count)
    }

    /// The cycle of the edge that is `clocks` clocks after cycle `now`.
    pub fn after(&self, source: Source, clocks: u64, now: u64) -> u64 {
        self.edge(source, self.count(source, now) + clocks)
    }

    /// The cycle of the edge that came at `at` with the clocks `before`, which became these at
    /// cycle `now`.
    pub fn moved(&self, before: &Clocks, source: Source, at: u64, now: u64) -> u64 {
        if at <= now { at } else { self.edge(source, before.count(source, at)) }
    }

    /// The frequency of a clock, in Hz.
    pub fn hz(&self, source: Source) -> u64 {
        let (edges, cycles) = self.edges(source).rate;
        (i128::from(self.mclk_hz) * edges / cycles) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aclk_goes_on_where_mclk_changes() {
        let mut aclk = Edges::of_watch_crystal(1_048_576);
        // 32 cycles for an edge; half of one is over when MCLK doubles, so the next comes 32 cycles
        // later.
        assert_eq!((aclk.count(3216), aclk.edge(101)), (100, 3232));
        aclk.set_clock(2_097_152, 3216);
        assert_eq!((aclk.count(3216), aclk.count(3247), aclk.count(3248)), (100, 100, 101));
        assert_eq!((aclk.edge(101), aclk.edge(102)), (3248, 3312));
        // A reset by power begins at cycle 0.
        aclk.set_clock(1_048_576, 0);
        assert_eq!((aclk.count(31), aclk.count(32)), (0, 1));
    }

    #[test]
    fn a_divided_clock_goes_on_where_its_divider_changes() {
        let eighth = Frequency::Ratio { edges: 1, cycles: 8 };
        let mut smclk = Edges::new(Frequency::Ratio { edges: 1, cycles: 1 }, 8_000_000);
        assert_eq!((smclk.count(100), smclk.edge(100)), (100, 100));
        smclk.set(eighth, 8_000_000, 100);
        assert_eq!((smclk.count(107), smclk.count(108), smclk.edge(102)), (100, 101, 116));
        // Half of a period is over when the period becomes two cycles: the next edge comes after
        // one.
        smclk.set(Frequency::Ratio { edges: 1, cycles: 2 }, 8_000_000, 112);
        assert_eq!((smclk.count(112), smclk.count(113), smclk.edge(103)), (101, 102, 115));
        // MCLK's frequency is nothing to it.
        smclk.set_clock(1_000_000, 113);
        assert_eq!((smclk.count(114), smclk.count(115)), (102, 103));
        smclk.set(Frequency::Ratio { edges: 1, cycles: 1 }, 1_000_000, 115);
        assert_eq!((smclk.count(115), smclk.count(120), smclk.edge(108)), (103, 108, 120));
    }

    #[test]
    fn taps_of_one_oscillator_keep_their_ratio() {
        let dco = Tap { oscillator: Oscillator::Dco, shift: 1 };
        assert_eq!(dco.divided(3).beside(dco, 1), Frequency::Ratio { edges: 2, cycles: 16 });
        let vlo = Tap { oscillator: Oscillator::Vlo, shift: 0 };
        assert_eq!(vlo.divided(7).beside(dco, 9_400), Frequency::Oscillator { hz: 9_400, divider: 32 });
        let part = Part::from_toml(include_str!("../../../../../targets/msp430fr5994.toml")).expect("a part");
        let mut clocks = Clocks::new(&part);
        clocks.set_clock(16_000_000, 0);
        let (smclk, aclk) = (dco.divided(3).beside(dco, 0), vlo.divided(1).alone(9_400));
        clocks.set(&SubsystemClocks { smclk, aclk }, 0);
        assert_eq!((clocks.hz(Source::Smclk), clocks.hz(Source::Aclk)), (2_000_000, 4_700));
    }
}
