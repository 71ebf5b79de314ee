//! Floating-point instructions of the Cortex-M7.
//!
//! Source: the page's sections "fpu (single precision)" and "fpu (double precision)".
//!
//! Assumptions beyond the page: conversions, comparisons, roundings and selections go as sums; VMRS
//! and VMSR go alone, and VCMP's flags are there in the next cycle. In double precision the cycles
//! hang on the numbers; those of "different exponents" are taken, of VSQRT those of LLVM's
//! ARMScheduleM7.td.

use super::super::super::super::fpu::decode::{Operation, is_double, operation};
use super::super::super::super::fpu::operands::{float_operands, is_multiply_accumulate};
use super::super::super::super::op::{Op, Operands};
use super::{AFTER_ACCUMULATE, AFTER_CHAINED, Builder, FLAGS, FPSCR, S0, delay, stage, unit};

/// Stages in which floating-point operands are consumed: columns of the rows of S registers.
mod float_stage {
    /// Arithmetic, factors, moves.
    pub const OPERAND: u8 = 0;
    /// Stage at which a fused multiply-accumulate reads its addend.
    pub const FUSED: u8 = 1;
    /// Stage at which a chained multiply-accumulate reads its addend.
    pub const CHAINED: u8 = 2;
    pub const STORE: u8 = 3;
}

/// VDIV, VSQRT and, in double precision, what else takes more than a cycle.
fn cycles(operation: Operation, double: bool) -> u8 {
    use Operation::*;
    match (operation, double) {
        (Vdiv, false) => 16,
        (Vsqrt, false) => 14,
        (Vdiv | Vsqrt, true) => 30,
        (Vadd | Vsub, true) => 2,
        (Vmul | Vnmul, true) => 5,
        (Vfma | Vfms | Vfnma | Vfnms, true) => 8,
        (Vmla | Vmls | Vnmla | Vnmls, true) => 9,
        _ => 1,
    }
}

impl Builder {
    /// The registers of a mask; of a double one its lower half stands for both. Conversions have a
    /// single one beside it.
    fn need_float(&mut self, mut registers: u32, double: bool, stage: u8) {
        while registers != 0 {
            let lowest = registers.trailing_zeros();
            self.need(S0 + lowest as u8, stage);
            registers &= if double { !(0b11 << (lowest & !1)) } else { !(1 << lowest) };
        }
    }
}

pub(super) fn facts(op: &Op, o: &Operands, b: &mut Builder) {
    use Operation::*;
    let (operation, double) = (operation(op), is_double(op));
    let s = float_operands(op);
    b.facts.cycles = cycles(operation, double);
    if s.writes != 0 {
        b.facts.result = S0 + s.writes.trailing_zeros() as u8;
    }
    match operation {
        Vldr | Vstr | Vldm | Vstm => {
            b.need_all(o.addresses, stage::EARLY);
            b.facts.delay = delay::FLOAT_LOADED;
            if op.m > 1 {
                b.need(AFTER_ACCUMULATE, 0);
                b.alone();
            } else {
                b.single(unit::FLOAT_MOVE);
                b.facts.blocks |= unit::FLOAT_ACCUMULATE;
                if operation == Vstr {
                    b.single(unit::STORE_OR_MULTIPLY);
                }
            }
            b.need_float(s.reads, false, float_stage::STORE);
            if o.writes != 0 {
                b.also_writes(o.writes.trailing_zeros() as u8, delay::BASE);
            }
        }
        VmovToCore | VmovFromCore | VmovToCores | VmovFromCores => {
            b.need_float(s.reads, false, float_stage::OPERAND);
            b.need_all(o.reads, stage::LATE);
            b.facts.units |= unit::FLOAT_MOVE;
            b.facts.blocks |= unit::FLOAT_ACCUMULATE;
            b.facts.delay = delay::FLOAT_MOVED;
            if o.writes != 0 {
                b.writes(o.writes.trailing_zeros() as u8, delay::WORD);
            }
            if matches!(operation, VmovToCores | VmovFromCores) {
                b.alone();
                if o.writes != 0 {
                    b.also_writes(15 - o.writes.leading_zeros() as u8, delay::WORD);
                }
            }
        }
        Vmrs | Vmsr => {
            b.need_all(o.reads, stage::LATE);
            b.need(FPSCR, 0);
            b.alone();
            if o.writes & 0x7fff != 0 {
                b.writes(o.writes.trailing_zeros() as u8, delay::LATE_ALU);
            }
        }
        Vcmp => {
            b.need_float(s.reads, double, float_stage::OPERAND);
            b.single(unit::FLOAT);
            b.facts.flags = FPSCR;
        }
        Vmov => {
            b.need_float(s.reads, double, float_stage::OPERAND);
            b.facts.units |= unit::FLOAT_MOVE;
            b.facts.blocks |= unit::FLOAT_ACCUMULATE;
            b.facts.delay = delay::FLOAT_MOVED;
        }
        _ => process(operation, double, s.reads, s.accumulates, b),
    }
    debug_assert!(b.facts.flags != FLAGS || operation == Vmrs);
}

fn process(operation: Operation, double: bool, reads: u32, accumulates: u32, b: &mut Builder) {
    use Operation::*;
    b.need_float(reads, double, float_stage::OPERAND);
    b.single(unit::FLOAT);
    b.facts.delay = delay::FLOAT;
    if !is_multiply_accumulate(operation) {
        if matches!(operation, Vadd | Vsub | VmovImm) {
            b.need(AFTER_ACCUMULATE, 0);
        }
        return;
    }
    b.single(unit::FLOAT_ACCUMULATE);
    b.facts.blocks |= unit::FLOAT_MOVE;
    if matches!(operation, Vfma | Vfms | Vfnma | Vfnms) {
        b.need_float(accumulates, double, float_stage::FUSED);
        b.need(AFTER_CHAINED, 0);
        b.facts.delay = delay::FUSED;
    } else {
        b.need_float(accumulates, double, float_stage::CHAINED);
        b.facts.delay = delay::CHAINED;
    }
    if double {
        // Measured as three cycles beyond its own.
        b.facts.delay = delay::FLOAT;
    }
}
