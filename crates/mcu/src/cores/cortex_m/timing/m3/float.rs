//! The Cortex-M4's floating-point unit.
//!
//! DDI 0439, table 7-1 "FPU instruction set" (transcribed in TI's SWCU192, table 3-27) and its
//! notes: VDIV and VSQRT take a cycle if no further floating-point instructions follow, for integer
//! ones go on beside them; the result of arithmetic is there a cycle later for the next
//! instruction, but in time where a multiply-accumulate adds to it.
//!
//! The table has two cycles for a move between a single register and a core register; it takes one
//! (compendium.i-0.nl, "FPU registers" and "Counters in the FPU", measured), as the table has it
//! for half a double register. VCMP's flags are there for the VMRS that follows (the same).

use super::super::super::fpu::decode::{Operation, operation};
use super::super::super::fpu::operands::{float_operands, is_multiply_accumulate};
use super::super::super::op::Op;

/// VDIV and VSQRT.
const DIVIDE: u64 = 14;
/// Multiply-accumulates.
const ACCUMULATE: u32 = 3;

/// State of the floating-point unit's pipeline.
#[derive(Clone, Default)]
pub(super) struct FloatUnit {
    /// The cycle from which on it takes instructions: VDIV or VSQRT is done.
    free: u64,
    /// The last results, and from which cycle on they are there.
    results: u32,
    ready: u64,
}

impl FloatUnit {
    /// Cycles that an instruction which begins at `now` waits; it is then counted as begun.
    pub fn wait(&mut self, op: &Op, now: u64) -> u32 {
        let operands = float_operands(op);
        let start = now.max(self.free);
        // The addend has a cycle more, which is all that it can lack.
        let start = if operands.reads & self.results != 0 { start.max(self.ready) } else { start };
        (start - now) as u32
    }

    /// Cycles of a data processing instruction or a transfer that begins at `now`; what it leaves
    /// is noted.
    pub fn process(&mut self, op: &Op, now: u64) -> u32 {
        use Operation::*;
        let operation = operation(op);
        self.results = 0;
        let cycles = match operation {
            VmovToCores | VmovFromCores => return 2,
            VmovToCore | VmovFromCore | Vmrs | Vmsr | Vabs | Vneg | Vmov | VmovImm | Vcmp => return 1,
            Vdiv | Vsqrt => {
                self.free = now + DIVIDE;
                DIVIDE as u32
            }
            operation if is_multiply_accumulate(operation) => ACCUMULATE,
            _ => 1,
        };
        self.results = float_operands(op).writes;
        self.ready = now + u64::from(cycles) + 1;
        if matches!(operation, Vdiv | Vsqrt) { 1 } else { cycles }
    }
}
