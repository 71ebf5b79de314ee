//! Registers of the unit that an instruction reads and writes, for timing models with interlocks.

use super::decode::{Operation, is_double, operation};
use crate::cores::cortex_m::op::Op;

/// A bit for each of S0 to S31.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatOperands {
    /// Registers read, but for the accumulated one.
    pub reads: u32,
    /// The register that a multiply-accumulate adds to.
    pub accumulates: u32,
    /// Registers written.
    pub writes: u32,
}

/// The registers of an [`super::super::op::Opcode::Float`].
#[must_use]
pub fn float_operands(op: &Op) -> FloatOperands {
    use Operation::*;
    let double = is_double(op);
    let bits = |register: u8, double: bool| {
        if double { 3u32 << (2 * (register & 15)) } else { 1 << (register & 31) }
    };
    let (d, n, m) = (bits(op.d, double), bits(op.n, double), bits(op.m, double));
    let list = |count: u8| (((1u64 << count) - 1) << op.d) as u32;
    let (reads, accumulates, writes) = match operation(op) {
        Vadd | Vsub | Vmul | Vnmul | Vdiv | Vmaxnm | Vminnm | Vsel => (n | m, 0, d),
        Vmla | Vmls | Vnmla | Vnmls | Vfma | Vfms | Vfnma | Vfnms => (n | m, d, d),
        Vabs | Vneg | Vmov | Vsqrt | Vrint => (m, 0, d),
        VmovImm => (0, 0, d),
        Vcmp if op.imm == 1 => (d, 0, 0),
        Vcmp => (d | m, 0, 0),
        VcvtToHalf => (m | bits(op.d, false), 0, bits(op.d, false)),
        VcvtFromHalf | VcvtFromInt => (bits(op.m, false), 0, d),
        VcvtPrecision => (m, 0, bits(op.d, !double)),
        VcvtToInt => (m, 0, bits(op.d, false)),
        VcvtFromFixed | VcvtToFixed => (d, 0, d),
        Vldr | Vldm => (0, 0, list(op.m)),
        Vstr | Vstm => (list(op.m), 0, 0),
        VmovToCore => (list(1), 0, 0),
        VmovFromCore => (0, 0, list(1)),
        VmovToCores => (list(2), 0, 0),
        VmovFromCores => (0, 0, list(2)),
        Vmrs | Vmsr => (0, 0, 0),
    };
    FloatOperands { reads, accumulates, writes }
}

/// Returns true for a multiplication with a sum, fused or not.
#[must_use]
pub fn is_multiply_accumulate(operation: Operation) -> bool {
    use Operation::*;
    matches!(operation, Vmla | Vmls | Vnmla | Vnmls | Vfma | Vfms | Vfnma | Vfnms)
}
