//! Fingerprint of a run, in 128 bits, of all that an observer could tell.

use crate::{Access, AccessKind, Observer, Step};
use std::ops::Range;

/// Odd multipliers, one for each half of a fingerprint: the fractions of the golden ratio and of
/// √3, in 64 bits.
const MULTIPLIERS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xbb67_ae85_84ca_a73b];

/// Sum over all events so far.
///
/// A step of the sum turns, adds and multiplies by an odd number, all of which can be undone: what
/// two runs differ in once is never lost again by what they have in common. Two or more differences
/// cancel each other with the probability of a random function, 2^-128.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint([u64; 2]);

impl Fingerprint {
    #[inline(always)]
    fn add(&mut self, word: u64) {
        self.0[0] = (self.0[0].rotate_left(23) ^ word).wrapping_mul(MULTIPLIERS[0]);
        self.0[1] = (self.0[1].rotate_left(41) ^ word).wrapping_mul(MULTIPLIERS[1]);
    }
}

/// Tables whose data may be read at addresses that a secret decides, because an access takes the
/// same time at all of them: which entry is read is no part of what is summed up, which table is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    ranges: Vec<Range<u32>>,
    first: u32,
    span: u32,
}

impl Tables {
    /// These, by address.
    #[must_use]
    pub fn new(ranges: Vec<Range<u32>>) -> Tables {
        let first = ranges.iter().map(|range| range.start).min().unwrap_or(0);
        let end = ranges.iter().map(|range| range.end).max().unwrap_or(0);
        Tables { ranges, first, span: end - first }
    }

    /// The number of the table that an address lies in, in the order in which they were given.
    #[inline(always)]
    #[must_use]
    pub fn find(&self, address: u32) -> Option<usize> {
        if address.wrapping_sub(self.first) >= self.span {
            return None;
        }
        self.ranges.iter().position(|range| range.contains(&address))
    }
}

/// Sums up what an onlooker with a clock, a logic analyser on the buses and no view of their data
/// could tell of a run: the address of each instruction and the cycles that it took, and address,
/// size and direction of each data access.
///
/// To be handed to [`crate::Mcu::run_traced`] for a part of a run; [`Trace::end`] closes the part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    fingerprint: Fingerprint,
    checkpoints: Vec<Fingerprint>,
    instructions: u64,
    accesses: u64,
    begin: Option<u64>,
    last: u64,
    tables: Tables,
    read: u64,
}

impl Trace {
    /// Instructions between two of [`Trace::checkpoints`].
    pub const INTERVAL: u64 = 1 << 16;

    /// Makes a trace of no instructions.
    #[must_use]
    pub fn new(tables: Tables) -> Trace {
        Trace { tables, ..Trace::default() }
    }

    /// Ends the part of the run at this many cycles since reset.
    pub fn end(&mut self, cycles: u64) {
        self.fingerprint.add(word(u32::MAX, cycles - self.last));
        self.last = cycles;
    }

    /// Returns the fingerprint of all instructions so far.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Returns the fingerprints before each [`Trace::INTERVAL`]th instruction, the first one
    /// included.
    #[must_use]
    pub fn checkpoints(&self) -> &[Fingerprint] {
        &self.checkpoints
    }

    /// Instructions so far.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Data accesses so far.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        self.accesses
    }

    /// Returns true if one of the first 64 tables was read.
    #[must_use]
    pub fn has_read(&self, table: usize) -> bool {
        table < 64 && self.read >> table & 1 != 0
    }

    /// Cycles from the first instruction to the end.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.last - self.begin.unwrap_or(self.last)
    }

    #[cold]
    #[inline(never)]
    fn checkpoint(&mut self, cycles: u64) {
        if self.begin.is_none() {
            self.begin = Some(cycles);
            self.last = cycles;
        }
        self.checkpoints.push(self.fingerprint);
    }
}

/// An instruction, with the cycles of the one before it; bit 63 is clear.
#[inline(always)]
fn word(pc: u32, elapsed: u64) -> u64 {
    u64::from(pc) | (elapsed & 0x7fff_ffff) << 32
}

impl Observer for Trace {
    #[inline(always)]
    fn step(&mut self, step: &Step) {
        if self.instructions.is_multiple_of(Trace::INTERVAL) {
            self.checkpoint(step.cycles);
        }
        self.instructions += 1;
        self.fingerprint.add(word(step.pc, step.cycles - self.last));
        self.last = step.cycles;
    }

    #[inline(always)]
    fn access(&mut self, access: &Access) {
        let write = u64::from(access.kind == AccessKind::Write);
        let shape = 1 << 63 | write << 40 | u64::from(access.size) << 32;
        self.accesses += 1;
        let mut address = access.address;
        if access.kind == AccessKind::Read
            && let Some(table) = self.tables.find(address)
        {
            address = self.tables.ranges[table].start;
            self.read |= 1 << (table & 63);
        }
        self.fingerprint.add(shape | u64::from(address));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Flow;

    fn step(trace: &mut Trace, pc: u32, cycles: u64) {
        trace.step(&Step { pc, sp: 0, cycles, flow: Flow::Next });
    }

    fn access(trace: &mut Trace, address: u32, size: u8, kind: AccessKind, value: u64) {
        trace.access(&Access { pc: 0, address, size, kind, value, cycles: 0 });
    }

    /// Two instructions with an access each; what is asked for differs from the plain run.
    fn run(
        begin: u64,
        second: u32,
        took: u64,
        address: u32,
        size: u8,
        kind: AccessKind,
        value: u64,
    ) -> Trace {
        let mut trace = Trace::new(Tables::default());
        step(&mut trace, 0x100, begin);
        access(&mut trace, 0x2000, 4, AccessKind::Read, value);
        step(&mut trace, second, begin + took);
        access(&mut trace, address, size, kind, value);
        trace.end(begin + took + 2);
        trace
    }

    #[test]
    fn fingerprint_ignores_what_no_observer_can_tell() {
        let plain = run(7, 0x102, 1, 0x3000, 2, AccessKind::Write, 5);
        assert_eq!(plain.fingerprint(), run(7, 0x102, 1, 0x3000, 2, AccessKind::Write, 6).fingerprint());
        assert_eq!(plain.fingerprint(), run(9, 0x102, 1, 0x3000, 2, AccessKind::Write, 5).fingerprint());
        assert_eq!((plain.instructions(), plain.accesses(), plain.cycles()), (2, 2, 3));
    }

    #[test]
    fn each_thing_that_an_onlooker_can_tell_makes_one() {
        let plain = run(7, 0x102, 1, 0x3000, 2, AccessKind::Write, 5).fingerprint();
        for (what, other) in [
            ("program address", run(7, 0x104, 1, 0x3000, 2, AccessKind::Write, 5)),
            ("time", run(7, 0x102, 2, 0x3000, 2, AccessKind::Write, 5)),
            ("data address", run(7, 0x102, 1, 0x3001, 2, AccessKind::Write, 5)),
            ("size", run(7, 0x102, 1, 0x3000, 1, AccessKind::Write, 5)),
            ("direction", run(7, 0x102, 1, 0x3000, 2, AccessKind::Read, 5)),
        ] {
            assert_ne!(other.fingerprint(), plain, "{what}");
        }
    }

    #[test]
    fn the_order_counts_and_so_does_the_last_instruction_s_time() {
        let of = |pcs: [u32; 2], end: u64| {
            let mut trace = Trace::new(Tables::default());
            step(&mut trace, pcs[0], 0);
            step(&mut trace, pcs[1], 1);
            trace.end(end);
            trace.fingerprint()
        };
        assert_ne!(of([2, 4], 2), of([4, 2], 2));
        assert_ne!(of([2, 4], 2), of([2, 4], 3));
    }

    #[test]
    fn fingerprint_ignores_the_entry_that_is_read_of_a_table() {
        let of = |address: u32, kind: AccessKind| {
            let mut trace = Trace::new(Tables::new(vec![0x400..0x500, 0x100..0x200]));
            step(&mut trace, 0x100, 0);
            access(&mut trace, address, 1, kind, 0);
            trace.end(1);
            trace.fingerprint()
        };
        let plain = of(0x1ff, AccessKind::Read);
        assert_eq!(of(0x100, AccessKind::Read), plain);
        for address in [0xff, 0x200, 0x3ff, 0x400] {
            assert_ne!(of(address, AccessKind::Read), plain, "{address:#x}");
        }
        assert_ne!(of(0x100, AccessKind::Write), of(0x101, AccessKind::Write));
    }

    #[test]
    fn checkpoints_show_the_point_at_which_two_runs_differ() {
        let of = |odd: u64| {
            let mut trace = Trace::new(Tables::default());
            for index in 0..3 * Trace::INTERVAL + 5 {
                step(&mut trace, u32::from(index == odd), index);
            }
            trace.checkpoints().to_vec()
        };
        let (plain, other) = (of(u64::MAX), of(Trace::INTERVAL + 9));
        assert_eq!(plain.len(), 4);
        let same: Vec<bool> = plain.iter().zip(&other).map(|(a, b)| a == b).collect();
        assert_eq!(same, [true, true, false, false]);
    }
}
