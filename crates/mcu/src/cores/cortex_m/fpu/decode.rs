//! Encodings of the floating-point extension (DDI 0403E, A6.4 to A6.7).
//!
//! All of FPv5 with double precision is decoded. Execution refuses what a part does not have.

use crate::cores::cortex_m::op::{Op, Opcode};
use bytemuck::{CheckedBitPattern, checked};

/// Operation of a floating-point instruction.
///
/// Registers `d`, `n`, `m` are numbers of single or, where [`is_double`] says so, double precision
/// registers. Conversions say of each of theirs which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern)]
#[repr(u8)]
#[rustfmt::skip]
#[allow(missing_docs)] // The names are the architecture's own.
pub enum Operation {
    Vadd, Vsub, Vmul, Vnmul, Vdiv,
    /// Accumulates to `d` with a rounding between, and fused.
    Vmla, Vmls, Vnmla, Vnmls, Vfma, Vfms, Vfnma, Vfnms,
    Vmaxnm, Vminnm,
    /// `imm`: condition.
    Vsel,
    Vabs, Vneg, Vmov, Vsqrt,
    /// `imm`: the value, of double precision its upper half.
    VmovImm,
    /// `n` 1: VCMPE. `imm` 1: with zero.
    Vcmp,
    /// To half, from half; the other register has the precision of [`is_double`]. `imm`: shift of
    /// the half within `d`, `m`.
    VcvtToHalf, VcvtFromHalf,
    /// Between single and double; `m` has the precision of [`is_double`].
    VcvtPrecision,
    /// `d` has the precision of [`is_double`], `m` is an integer. `n` 1: signed.
    VcvtFromInt,
    /// `d` is an integer, `m` has the precision of [`is_double`]. `n` 1: signed. `imm`:
    /// [`rounding`].
    VcvtToInt,
    /// In place in `d`. `n` 1: signed; `m`: 16 or 32 bits; `imm`: bits of the fraction.
    VcvtFromFixed, VcvtToFixed,
    /// `imm`: [`rounding`]; `n` 1: raises the inexact flag.
    Vrint,
    /// S register `d` at core register `n` plus `imm`, or at `imm` where `n` is 15. `m` words.
    Vldr, Vstr,
    /// S registers from `d` on, `m` words, at core register `n`. `imm`: [`WRITE_BACK`],
    /// [`DECREMENT`].
    Vldm, Vstm,
    /// S register `d`, core register `n`.
    VmovToCore, VmovFromCore,
    /// S registers `d` and the next; core registers `n` and `m`.
    VmovToCores, VmovFromCores,
    /// Core register `n`; of VMRS 15 for the flags.
    Vmrs, Vmsr,
}

/// In `imm` of [`Operation::Vldm`] and [`Operation::Vstm`].
pub const WRITE_BACK: u32 = 1;
/// As above: the addresses end at the base.
pub const DECREMENT: u32 = 2;

/// Rounding of a conversion: the values of `imm` of [`Operation::VcvtToInt`] and
/// [`Operation::Vrint`].
pub mod rounding {
    /// As FPSCR says.
    pub const MODE: u32 = 4;
    /// Towards zero.
    pub const ZERO: u32 = 5;
    /// 0 to 3: to the nearest with ties away, ties to even, up, down: the field RM of the
    /// encodings.
    pub const AWAY: u32 = 0;
}

const DOUBLE: u8 = 0x80;

/// The operation of an [`Opcode::Float`].
#[must_use]
#[inline]
pub fn operation(op: &Op) -> Operation {
    checked::cast(op.a & !DOUBLE)
}

/// Returns true for an instruction in double precision.
#[must_use]
#[inline]
pub fn is_double(op: &Op) -> bool {
    op.a & DOUBLE != 0
}

/// Returns true if the instruction needs FPv5 or double precision. Moves and loads of double
/// registers need neither.
#[must_use]
pub fn needs_double_unit(op: &Op) -> bool {
    use Operation::*;
    is_double(op)
        || matches!(operation(op), Vmaxnm | Vminnm | Vsel | Vrint | VcvtPrecision)
        || (operation(op) == VcvtToInt && op.imm < rounding::MODE)
}

/// The core registers read, written, and read to form an address, a bit each.
#[must_use]
pub fn core_registers(op: &Op) -> (u16, u16, u16) {
    use Operation::*;
    let bit = |register: u8| if register < 15 { 1u16 << register } else { 0 };
    let (n, m) = (bit(op.n), bit(op.m));
    match operation(op) {
        Vldr | Vstr => (n, 0, n),
        Vldm | Vstm => (n, if op.imm & WRITE_BACK != 0 { n } else { 0 }, n),
        VmovToCore | Vmrs => (0, n, 0),
        VmovFromCore | Vmsr => (n, 0, 0),
        VmovToCores => (0, n | m, 0),
        VmovFromCores => (n | m, 0, 0),
        _ => (0, 0, 0),
    }
}

fn op(operation: Operation, double: bool) -> Op {
    Op { inner: Opcode::Float, a: operation as u8 | if double { DOUBLE } else { 0 }, ..Op::default() }
}

/// A register's number out of its four bits and its single one; `None` for D16 to D31, which no
/// Cortex-M has.
fn number(four: u16, one: u16, double: bool) -> Option<u8> {
    let (four, one) = ((four & 15) as u8, (one & 1) as u8);
    if double { (one == 0).then_some(four) } else { Some(four << 1 | one) }
}

/// The fields of an encoding.
struct Fields {
    h1: u16,
    h2: u16,
    double: bool,
}

impl Fields {
    fn d_of(&self, double: bool) -> Option<u8> {
        number(self.h2 >> 12, self.h1 >> 6, double)
    }

    fn n_of(&self, double: bool) -> Option<u8> {
        number(self.h1, self.h2 >> 7, double)
    }

    fn m_of(&self, double: bool) -> Option<u8> {
        number(self.h2, self.h2 >> 5, double)
    }

    fn three(&self, operation: Operation) -> Option<Op> {
        let double = self.double;
        let (d, n, m) = (self.d_of(double)?, self.n_of(double)?, self.m_of(double)?);
        Some(Op { d, n, m, ..op(operation, double) })
    }

    fn two(&self, operation: Operation) -> Option<Op> {
        Some(Op { d: self.d_of(self.double)?, m: self.m_of(self.double)?, ..op(operation, self.double) })
    }
}

/// Returns true if an encoding is of coprocessor 10 or 11.
#[must_use]
pub fn is_float(h1: u16, h2: u16) -> bool {
    h1 & 0xec00 == 0xec00 && h1 < 0xff00 && h2 & 0x0e00 == 0x0a00
}

/// Decodes what [`is_float`]; `None` for what is UNDEFINED or UNPREDICTABLE.
#[must_use]
pub fn decode(h1: u16, h2: u16, address: u32, in_it: bool) -> Option<Op> {
    let fields = Fields { h1, h2, double: h2 & 0x100 != 0 };
    match h1 >> 8 {
        0xec | 0xed if h1 & 0x1e0 == 0x40 => pair(&fields),
        0xec | 0xed => memory(&fields, address),
        0xee if h2 & 0x10 == 0 => processing(&fields),
        0xee => transfer(&fields),
        0xfe if h2 & 0x10 == 0 && !in_it => version_5(&fields),
        _ => None,
    }
}

/// Floating-point data processing (A6.5).
fn processing(f: &Fields) -> Option<Op> {
    use Operation::*;
    let second = f.h2 & 0x40 != 0;
    let pick = |plain: Operation, other: Operation| f.three(if second { other } else { plain });
    match f.h1 >> 4 & 0b1011 {
        0b0000 => pick(Vmla, Vmls),
        0b0001 => pick(Vnmls, Vnmla),
        0b0010 => pick(Vmul, Vnmul),
        0b0011 => pick(Vadd, Vsub),
        0b1000 if !second => f.three(Vdiv),
        0b1001 => pick(Vfnms, Vfnma),
        0b1010 => pick(Vfma, Vfms),
        0b1011 if second => other(f),
        0b1011 if f.h2 & 0xa0 == 0 => {
            let byte = (f.h1 & 15) << 4 | f.h2 & 15;
            Some(Op { d: f.d_of(f.double)?, imm: expand(byte, f.double), ..op(VmovImm, f.double) })
        }
        _ => None,
    }
}

/// `VFPExpandImm`; of double precision the upper half, the lower is zero.
fn expand(byte: u16, double: bool) -> u32 {
    let byte = u32::from(byte);
    let (sign, repeated, low) = (byte >> 7 << 31, byte >> 6 & 1, byte & 0x3f);
    let exponent = |ones: u32| if repeated == 1 { (1 << ones) - 1 } else { 1 << ones };
    sign | if double { exponent(8) << 22 | low << 16 } else { exponent(5) << 25 | low << 19 }
}

fn other(f: &Fields) -> Option<Op> {
    use Operation::*;
    let top = f.h2 & 0x80 != 0;
    let code = f.h1 & 15;
    let signed = |signed: bool| u8::from(signed);
    match code {
        0 => f.two(if top { Vabs } else { Vmov }),
        1 => f.two(if top { Vsqrt } else { Vneg }),
        2 | 3 => {
            let to_half = code == 3;
            let (d, m) = (f.d_of(f.double && !to_half)?, f.m_of(f.double && to_half)?);
            let operation = if to_half { VcvtToHalf } else { VcvtFromHalf };
            Some(Op { d, m, imm: if top { 16 } else { 0 }, ..op(operation, f.double) })
        }
        4 => Some(Op { n: signed(top), ..f.two(Vcmp)? }),
        5 if f.h2 & 0x2f == 0 => Some(Op { n: signed(top), imm: 1, ..f.two(Vcmp)? }),
        6 => {
            let imm = if top { rounding::ZERO } else { rounding::MODE };
            Some(Op { imm, ..f.two(Vrint)? })
        }
        7 if !top => Some(Op { imm: rounding::MODE, n: 1, ..f.two(Vrint)? }),
        7 => Some(Op { d: f.d_of(!f.double)?, m: f.m_of(f.double)?, ..op(VcvtPrecision, f.double) }),
        8 => {
            Some(Op { d: f.d_of(f.double)?, m: f.m_of(false)?, n: signed(top), ..op(VcvtFromInt, f.double) })
        }
        10 | 11 | 14 | 15 => {
            let size = if top { 32 } else { 16 };
            let bits = u32::from((f.h2 & 15) << 1 | f.h2 >> 5 & 1);
            let imm = u32::from(size).checked_sub(bits)?;
            let operation = if code & 4 != 0 { VcvtToFixed } else { VcvtFromFixed };
            let n = signed(code & 1 == 0);
            Some(Op { d: f.d_of(f.double)?, n, m: size, imm, ..op(operation, f.double) })
        }
        12 | 13 => {
            let imm = if top { rounding::ZERO } else { rounding::MODE };
            to_int(f, signed(code == 13), imm)
        }
        _ => None,
    }
}

fn to_int(f: &Fields, signed: u8, imm: u32) -> Option<Op> {
    let (d, m) = (f.d_of(false)?, f.m_of(f.double)?);
    Some(Op { d, m, n: signed, imm, ..op(Operation::VcvtToInt, f.double) })
}

/// Decodes the unconditional instructions that FPv5 adds.
fn version_5(f: &Fields) -> Option<Op> {
    use Operation::*;
    let second = f.h2 & 0x40 != 0;
    let mode = u32::from(f.h1 & 3);
    match f.h1 >> 4 & 0b1011 {
        // EQ, VS, GE, GT.
        code @ 0..=3 if !second => Some(Op { imm: [0, 6, 10, 12][usize::from(code & 3)], ..f.three(Vsel)? }),
        0b1000 => f.three(if second { Vminnm } else { Vmaxnm }),
        0b1011 if second && f.h1 & 0xc == 8 && f.h2 & 0x80 == 0 => Some(Op { imm: mode, ..f.two(Vrint)? }),
        0b1011 if second && f.h1 & 0xc == 0xc => to_int(f, (f.h2 >> 7 & 1) as u8, mode),
        _ => None,
    }
}

/// Loads and stores (A6.6).
fn memory(f: &Fields, address: u32) -> Option<Op> {
    use Operation::*;
    let (index, add, back) = (f.h1 & 0x100 != 0, f.h1 & 0x80 != 0, f.h1 & 0x20 != 0);
    let load = f.h1 & 0x10 != 0;
    let n = (f.h1 & 15) as u8;
    let d = f.d_of(f.double)?;
    let first = if f.double { 2 * d } else { d };
    let imm8 = u32::from(f.h2 & 0xff);
    if index && !back {
        let offset = if add { imm8 * 4 } else { (imm8 * 4).wrapping_neg() };
        let imm = match (n, load) {
            (15, false) => return None,
            (15, true) => (address.wrapping_add(4) & !3).wrapping_add(offset),
            _ => offset,
        };
        let m = if f.double { 2 } else { 1 };
        return Some(Op { d: first, n, m, imm, ..op(if load { Vldr } else { Vstr }, false) });
    }
    let decrement = index;
    let fits = (1..=32 - u32::from(first)).contains(&imm8) && !(f.double && imm8 & 1 != 0);
    if index == add || n == 15 || !fits {
        return None;
    }
    let imm = if back { WRITE_BACK } else { 0 } | if decrement { DECREMENT } else { 0 };
    Some(Op { d: first, n, m: imm8 as u8, imm, ..op(if load { Vldm } else { Vstm }, false) })
}

/// Between two core registers and two single registers or a double one.
fn pair(f: &Fields) -> Option<Op> {
    use Operation::*;
    let (n, m) = ((f.h2 >> 12) as u8, (f.h1 & 15) as u8);
    let to_core = f.h1 & 0x10 != 0;
    let register = f.m_of(f.double)?;
    let d = if f.double { 2 * register } else { register };
    let special = |register: u8| matches!(register, 13 | 15);
    if f.h2 & 0xd0 != 0x10 || special(n) || special(m) || d == 31 || (to_core && n == m) {
        return None;
    }
    Some(Op { d, n, m, ..op(if to_core { VmovToCores } else { VmovFromCores }, false) })
}

/// 32-bit transfers (A6.7).
fn transfer(f: &Fields) -> Option<Op> {
    use Operation::*;
    let to_core = f.h1 & 0x10 != 0;
    let n = (f.h2 >> 12) as u8;
    let special = matches!(n, 13 | 15);
    let pick = |to: Operation, from: Operation| op(if to_core { to } else { from }, false);
    match (f.double, f.h1 >> 5 & 7) {
        (false, 0) if f.h2 & 0x6f == 0 && !special => {
            Some(Op { d: f.n_of(false)?, n, ..pick(VmovToCore, VmovFromCore) })
        }
        (true, half @ 0..=1) if f.h2 & 0x6f == 0 && !special => {
            let d = 2 * f.n_of(true)? + half as u8;
            Some(Op { d, n, ..pick(VmovToCore, VmovFromCore) })
        }
        // FPSCR is the only one that ARMv7-M has.
        (false, 7) if f.h1 & 15 == 1 && f.h2 & 0xef == 0 && n != 13 && (to_core || n != 15) => {
            Some(Op { n, ..pick(Vmrs, Vmsr) })
        }
        _ => None,
    }
}
