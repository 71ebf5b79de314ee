//! From encodings to [`Op`]s (ARM DDI 0403E, chapter A5; DDI 0419E for ARMv6-M).
//!
//! Encodings that the manual calls UNDEFINED or UNPREDICTABLE decode to [`Opcode::Undefined`]: the
//! model does not guess.

mod narrow;
mod wide;

use super::fpu::decode as float;
use super::op::{Op, Opcode};

/// The instruction set of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Architecture {
    /// Cortex-M0 and M0+.
    V6M,
    /// Cortex-M3.
    V7M,
    /// Cortex-M4 and M7: with the DSP extension.
    V7EM,
}

/// Returns true if an encoding that starts with this halfword has a second one.
#[must_use]
pub fn is_wide(first: u16) -> bool {
    first >= 0xe800
}

/// Decodes the instruction at `address` with this ITSTATE (0 outside IT blocks). `second` is looked
/// at only where [`is_wide`] says so.
#[must_use]
pub fn decode(first: u16, second: u16, address: u32, it: u8, architecture: Architecture) -> Op {
    let mut op = if is_wide(first) {
        let op = if float::is_float(first, second) {
            float::decode(first, second, address, it != 0)
        } else {
            wide::decode(first, second, address, architecture)
        };
        let mut op = op.unwrap_or_default();
        op.length = 4;
        op
    } else {
        let mut op = narrow::decode(first, address, it != 0, architecture).unwrap_or_default();
        op.length = 2;
        op
    };
    if op.inner == Opcode::B && op.imm == address {
        op.inner = Opcode::Loop;
    }
    if op.inner == Opcode::Undecoded || (it != 0 && !allowed_in_it(&op, it)) {
        op.inner = Opcode::Undefined;
    }
    op.it = it;
    // BKPT is unconditional even in an IT block (DDI 0403E, A7.7.17).
    op.kind = if it != 0 && op.inner != Opcode::Bkpt { Opcode::Conditional } else { op.inner };
    op
}

/// Branches must be last in their block; IT, CBZ, CPS and B with a condition of its own must not be
/// in one.
fn allowed_in_it(op: &Op, it: u8) -> bool {
    use Opcode::*;
    match op.inner {
        It | Cbz | Cbnz | Cps | Beq | Bne | Bcs | Bcc | Bmi | Bpl | Bvs | Bvc | Bhi | Bls | Bge | Blt
        | Bgt | Ble => false,
        B | Loop | Bl | Bx | Blx | MovPc | AddPc | LdrPc | LdmPc | Tbb | Tbh => it & 15 == 8,
        _ => true,
    }
}

/// ITSTATE after an instruction that executed with `it`.
#[must_use]
pub fn advance(it: u8) -> u8 {
    if it & 7 == 0 { 0 } else { it & 0xe0 | it << 1 & 0x1f }
}

/// Bits `high` down to `low` of an encoding.
fn bits(value: u16, high: u32, low: u32) -> u8 {
    (u32::from(value) >> low & ((1 << (high - low + 1)) - 1)) as u8
}

/// Returns true for SP and PC, which most 32-bit encodings must not name.
fn special(register: u8) -> bool {
    register == 13 || register == 15
}
