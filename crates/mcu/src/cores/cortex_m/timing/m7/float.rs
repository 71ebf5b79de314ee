//! Floating-point instructions in the pipeline of the Cortex-M7.

use super::super::super::op::Op;
use super::super::Retired;
use super::M7;
use super::facts::{AFTER_ACCUMULATE, AFTER_CHAINED, Facts, S0, delay, unit};

/// Cycles after a multiply-accumulate in which sums, constants, and loads and stores of more than a
/// word are not issued (page, "fpu (single precision)").
const ACCUMULATE_KEEPS_OUT: u64 = 4;
/// A fused multiply-accumulate is not issued in the cycle after a chained one (the same).
const CHAINED_KEEPS_OUT: u64 = 2;

impl M7 {
    pub(super) fn float_outcome(&mut self, op: &Op, note: &Facts, outcome: Retired) {
        match outcome {
            Retired::Load { address, size, count: 1 } => self.load(op, note, address, size, 1),
            Retired::Load { address, size, count } => {
                self.issue(note, note.units);
                self.now += u64::from(count.div_ceil(2)) - 1;
                for register in op.d..op.d + count {
                    self.write(S0 + register, delay::FLOAT_LOADED);
                }
                let waits = self.caches.read(address, u32::from(size) * u32::from(count));
                self.stall(waits);
            }
            Retired::Store { address, size, count } => self.store(op, note, address, size, count),
            _ => self.float_process(note),
        }
    }

    fn float_process(&mut self, note: &Facts) {
        self.issue(note, note.units);
        if note.cycles > 1 {
            self.stall(u32::from(note.cycles) - 1);
            self.write(note.result, note.delay);
        }
        if note.units & unit::FLOAT_ACCUMULATE != 0 {
            self.ready[usize::from(AFTER_ACCUMULATE)][0] = self.now + ACCUMULATE_KEEPS_OUT;
            if note.delay == delay::CHAINED {
                self.ready[usize::from(AFTER_CHAINED)][0] = self.now + CHAINED_KEEPS_OUT;
            }
        }
    }
}
