//! The 32-bit encodings (DDI 0403E, A5.3). `h1` and `h2` are the first and second halfword.

mod memory;

use super::narrow::conditional_branch;
use super::{Architecture, bits, special};
use crate::cores::cortex_m::op::{Op, Opcode};
use memory::{dual_exclusive_table, load, multiple, store};

/// `None` for what is UNDEFINED or UNPREDICTABLE.
pub(super) fn decode(h1: u16, h2: u16, address: u32, architecture: Architecture) -> Option<Op> {
    if architecture == Architecture::V6M {
        return if h1 >> 11 == 0b11110 && h2 >> 15 == 1 {
            control(h1, h2, address, architecture)
        } else {
            None
        };
    }
    match h1 >> 9 {
        0b1110100 if h1 & 0x40 == 0 => multiple(h1, h2),
        0b1110100 => dual_exclusive_table(h1, h2, address),
        0b1110101 => shifted_register(h1, h2, architecture),
        0b1111000..=0b1111011 if h2 >> 15 == 1 => control(h1, h2, address, architecture),
        0b1111000 | 0b1111010 if h1 & 0x200 == 0 => modified_immediate(h1, h2),
        0b1111001 | 0b1111011 => plain_immediate(h1, h2, address, architecture),
        0b1111100 if h1 & 0x10 == 0 && h1 & 0x100 == 0 => store(h1, h2),
        0b1111100 if h1 & 0x10 != 0 => load(h1, h2, address),
        0b1111101 if h1 & 0x100 == 0 => register(h1, h2, architecture),
        0b1111101 if h1 & 0x80 == 0 => multiply(h1, h2, architecture),
        0b1111101 => long_multiply(h1, h2, architecture),
        // Coprocessors: none but the floating-point unit, whose encodings are decoded elsewhere.
        _ => None,
    }
}

/// The pairs (plain, S) of the data processing operations by their four-bit code: immediate,
/// register, shifted.
type Family = [(Opcode, Opcode); 3];

fn family(operation: u8) -> Option<Family> {
    use Opcode::*;
    Some(match operation {
        0 => [(AndImm, AndImmS), (AndReg, AndRegS), (AndShift, AndShiftS)],
        1 => [(BicImm, BicImmS), (BicReg, BicRegS), (BicShift, BicShiftS)],
        2 => [(OrrImm, OrrImmS), (OrrReg, OrrRegS), (OrrShift, OrrShiftS)],
        3 => [(OrnImm, OrnImmS), (OrnShift, OrnShiftS), (OrnShift, OrnShiftS)],
        4 => [(EorImm, EorImmS), (EorReg, EorRegS), (EorShift, EorShiftS)],
        8 => [(AddImm, AddImmS), (AddReg, AddRegS), (AddShift, AddShiftS)],
        10 => [(AdcImm, AdcImmS), (AdcReg, AdcRegS), (AdcShift, AdcShiftS)],
        11 => [(SbcImm, SbcImmS), (SbcReg, SbcRegS), (SbcShift, SbcShiftS)],
        13 => [(SubImm, SubImmS), (SubReg, SubRegS), (SubShift, SubShiftS)],
        14 => [(RsbImm, RsbImmS), (RsbReg, RsbRegS), (RsbShift, RsbShiftS)],
        _ => return None,
    })
}

/// The comparison that AND, EOR, ADD, SUB with S become when Rd is 15: immediate, register,
/// shifted.
fn comparison(operation: u8) -> Option<[Opcode; 3]> {
    use Opcode::*;
    match operation {
        0 => Some([TstImm, TstReg, TstShift]),
        4 => Some([TeqImm, TeqShift, TeqShift]),
        8 => Some([CmnImm, CmnReg, CmnShift]),
        13 => Some([CmpImm, CmpReg, CmpShift]),
        _ => None,
    }
}

/// MOV of a register, and the shifts by an immediate.
fn move_or_shift(s: bool, d: u8, m: u8, kind: u8, amount: u32) -> Option<Op> {
    use Opcode::*;
    let pick = |pair: (Opcode, Opcode)| if s { pair.1 } else { pair.0 };
    if kind == 0 && amount == 0 {
        let allowed =
            if s { !special(d) && !special(m) } else { d != 15 && m != 15 && !(d == 13 && m == 13) };
        let inner = if d == 13 { MovSp } else { pick((MovReg, MovRegS)) };
        return allowed.then_some(Op { inner, d, m, ..Op::default() });
    }
    let inner = pick(match kind {
        0 => (LslImm, LslImmS),
        1 => (LsrImm, LsrImmS),
        2 => (AsrImm, AsrImmS),
        3 => (RorImm, RorImmS),
        _ => (Rrx, RrxS),
    });
    (!special(d) && !special(m)).then_some(Op { inner, d, m, imm: amount, ..Op::default() })
}

/// Data processing with a second operand in a register, shifted by an immediate (A5.3.11).
fn shifted_register(h1: u16, h2: u16, architecture: Architecture) -> Option<Op> {
    use Opcode::*;
    if h2 & 0x8000 != 0 {
        return None;
    }
    let operation = bits(h1, 8, 5);
    let s = h1 & 0x10 != 0;
    let (n, d, m) = (bits(h1, 3, 0), bits(h2, 11, 8), bits(h2, 3, 0));
    let amount = u32::from(bits(h2, 14, 12) << 2 | bits(h2, 7, 6));
    let (kind, amount) = match (bits(h2, 5, 4), amount) {
        (0, amount) => (0, amount),
        (kind @ (1 | 2), 0) => (kind, 32),
        (3, 0) => (4, 0),
        (kind, amount) => (kind, amount),
    };
    let plain = kind == 0 && amount == 0;
    let pick = |pair: (Opcode, Opcode)| if s { pair.1 } else { pair.0 };

    if operation == 6 {
        if architecture < Architecture::V7EM || s || h2 & 0x10 != 0 || special(d) || special(n) || special(m)
        {
            return None;
        }
        let inner = if h2 & 0x20 == 0 { Pkhbt } else { Pkhtb };
        return Some(Op { inner, d, n, m, imm: amount, ..Op::default() });
    }
    if n == 15 && operation == 2 {
        return move_or_shift(s, d, m, kind, amount);
    }
    if n == 15 && operation == 3 {
        let inner = if plain { pick((MvnReg, MvnRegS)) } else { pick((MvnShift, MvnShiftS)) };
        return (!special(d) && !special(m)).then_some(Op {
            inner,
            d,
            m,
            a: kind,
            imm: amount,
            ..Op::default()
        });
    }
    let form = if plain { 1 } else { 2 };
    if d == 15 && s {
        let inner = comparison(operation)?[form];
        let arithmetic = operation >= 8;
        if special(m) || n == 15 || (n == 13 && !arithmetic) {
            return None;
        }
        return Some(Op { inner, n, m, a: kind, imm: amount, ..Op::default() });
    }
    let inner = pick(family(operation)?[form]);
    if special(m) || d == 15 || n == 15 {
        return None;
    }
    let sum = operation == 8 || operation == 13;
    if d == 13 {
        // ADD and SUB to SP: from SP alone, and shifted left by at most 3.
        if n != 13 || !sum || kind != 0 || amount > 3 {
            return None;
        }
        let inner = if operation == 8 { AddSpShift } else { SubSpShift };
        return Some(Op { inner, d, n, m, a: u8::from(s), imm: amount, ..Op::default() });
    }
    if n == 13 && !sum {
        return None;
    }
    Some(Op { inner, d, n, m, a: kind, imm: amount, ..Op::default() })
}

/// ThumbExpandImm_C (DDI 0403E, A5.3.2): the constant, and 0, 1, 2 for C kept, cleared, set.
fn expand(h1: u16, h2: u16) -> Option<(u32, u8)> {
    let byte = u32::from(h2 & 0xff);
    let code = bits(h1, 10, 10) << 4 | bits(h2, 14, 12) << 1 | bits(h2, 7, 7);
    if code < 8 {
        let value = match code >> 1 {
            0 => byte,
            _ if byte == 0 => return None,
            1 => byte << 16 | byte,
            2 => byte << 24 | byte << 8,
            _ => byte * 0x0101_0101,
        };
        return Some((value, 0));
    }
    let value = (byte | 0x80).rotate_right(u32::from(code));
    Some((value, 1 + (value >> 31) as u8))
}

fn modified_immediate(h1: u16, h2: u16) -> Option<Op> {
    use Opcode::*;
    let operation = bits(h1, 8, 5);
    let s = h1 & 0x10 != 0;
    let (n, d) = (bits(h1, 3, 0), bits(h2, 11, 8));
    let (imm, carry) = expand(h1, h2)?;
    let pick = |pair: (Opcode, Opcode)| if s { pair.1 } else { pair.0 };
    let op = Op { d, n, a: carry, imm, ..Op::default() };
    if n == 15 && (operation == 2 || operation == 3) {
        let inner = pick(if operation == 2 { (MovImm, MovImmS) } else { (MvnImm, MvnImmS) });
        return (!special(d)).then_some(Op { inner, ..op });
    }
    if d == 15 && s {
        let inner = comparison(operation)?[0];
        if n == 15 || (n == 13 && operation < 8) {
            return None;
        }
        return Some(Op { inner, d: 0, ..op });
    }
    if d == 15 || n == 15 {
        return None;
    }
    let sum = operation == 8 || operation == 13;
    if d == 13 {
        return if n == 13 && sum { sp_immediate(operation == 8, s, imm) } else { None };
    }
    if n == 13 && !sum {
        return None;
    }
    Some(Op { inner: pick(family(operation)?[0]), ..op })
}

/// ADD and SUB of a constant to SP, whose lowest two bits are always zero (DDI 0403E, B1.4.1).
fn sp_immediate(add: bool, s: bool, imm: u32) -> Option<Op> {
    use Opcode::*;
    let inner = match (add, s, imm & 3) {
        (true, false, 0) => AddImm,
        (true, true, 0) => AddImmS,
        (false, false, 0) => SubImm,
        (false, true, 0) => SubImmS,
        // A misaligned stack pointer: nobody writes it.
        _ => return None,
    };
    Some(Op { inner, d: 13, n: 13, imm, ..Op::default() })
}

fn plain_immediate(h1: u16, h2: u16, address: u32, architecture: Architecture) -> Option<Op> {
    use Opcode::*;
    let (n, d) = (bits(h1, 3, 0), bits(h2, 11, 8));
    let imm12 = u32::from(bits(h1, 10, 10)) << 11 | u32::from(bits(h2, 14, 12)) << 8 | u32::from(h2 & 0xff);
    let imm16 = u32::from(n) << 12 | imm12;
    let lsb = u32::from(bits(h2, 14, 12) << 2 | bits(h2, 7, 6));
    let low5 = bits(h2, 4, 0);
    let op = Op { d, n, ..Op::default() };
    let operation = bits(h1, 8, 4);
    match operation {
        0b00000 | 0b01010 => {
            let add = operation == 0;
            if n == 15 {
                let pc = address.wrapping_add(4) & !3;
                let imm = if add { pc.wrapping_add(imm12) } else { pc.wrapping_sub(imm12) };
                return (!special(d)).then_some(Op { inner: MovImm, imm, n: 0, ..op });
            }
            if n == 13 && d == 13 {
                return sp_immediate(add, false, imm12);
            }
            let inner = if add { AddImm } else { SubImm };
            (!special(d)).then_some(Op { inner, imm: imm12, ..op })
        }
        0b00100 => (!special(d)).then_some(Op { inner: MovImm, imm: imm16, n: 0, ..op }),
        0b01100 => (!special(d)).then_some(Op { inner: Movt, imm: imm16 << 16, n: 0, ..op }),
        _ if h1 & 0x400 != 0 || h2 & 0x20 != 0 || special(d) => None,
        0b10000 | 0b10010 | 0b11000 | 0b11010 if !special(n) => {
            let unsigned = operation & 0b01000 != 0;
            let to = if unsigned { low5 } else { low5 + 1 };
            let shift_right = operation & 0b00010 != 0;
            if shift_right && lsb == 0 {
                if architecture < Architecture::V7EM || h2 & 0x10 != 0 {
                    return None;
                }
                return Some(Op { inner: Sat16, a: to, imm: u32::from(unsigned), ..op });
            }
            let imm = if shift_right { 32 + lsb } else { lsb };
            Some(Op { inner: if unsigned { Usat } else { Ssat }, a: to, imm, ..op })
        }
        0b10100 | 0b11100 if !special(n) => {
            if lsb + u32::from(low5) > 31 {
                return None;
            }
            let inner = if operation == 0b10100 { Sbfx } else { Ubfx };
            Some(Op { inner, a: low5 + 1, imm: lsb, ..op })
        }
        0b10110 if n != 13 => {
            let width = (u32::from(low5) + 1).checked_sub(lsb).filter(|width| *width > 0)?;
            Some(Op { inner: if n == 15 { Bfc } else { Bfi }, a: width as u8, imm: lsb, ..op })
        }
        _ => None,
    }
}

/// Branches and miscellaneous control (A5.3.4).
fn control(h1: u16, h2: u16, address: u32, architecture: Architecture) -> Option<Op> {
    use Opcode::*;
    let v7 = architecture >= Architecture::V7M;
    let op = |inner: Opcode| Op { inner, ..Op::default() };
    let pc = address.wrapping_add(4);
    let (s, j1, j2) = (i32::from(h1 >> 10 & 1), i32::from(h2 >> 13 & 1), i32::from(h2 >> 11 & 1));
    if h2 & 0x1000 != 0 {
        // B without condition (T4) and BL.
        let call = h2 & 0x4000 != 0;
        if !call && !v7 {
            return None;
        }
        let (i1, i2) = (1 - (j1 ^ s), 1 - (j2 ^ s));
        let offset =
            -s << 24 | i1 << 23 | i2 << 22 | i32::from(h1 & 0x3ff) << 12 | i32::from(h2 & 0x7ff) << 1;
        return Some(Op { imm: pc.wrapping_add(offset as u32), ..op(if call { Bl } else { B }) });
    }
    if h2 & 0x4000 != 0 {
        // UDF, and BLX to ARM state.
        return None;
    }
    if h1 & 0x380 != 0x380 {
        if !v7 {
            return None;
        }
        let offset = -s << 20 | j2 << 19 | j1 << 18 | i32::from(h1 & 0x3f) << 12 | i32::from(h2 & 0x7ff) << 1;
        return Some(Op { imm: pc.wrapping_add(offset as u32), ..op(conditional_branch(bits(h1, 9, 6))) });
    }
    let sysm = h2 & 0xff;
    let known = match sysm {
        0..=3 | 5..=9 | 16 | 20 => true,
        17..=19 => v7,
        _ => false,
    };
    match h1 {
        0xf380..=0xf38f if h2 & 0x3300 == 0 => {
            let (n, mask) = (bits(h1, 3, 0), bits(h2, 11, 10));
            let dsp = architecture == Architecture::V7EM;
            if special(n) || !known || mask == 0 || (mask != 2 && (sysm > 3 || !dsp)) {
                return None;
            }
            Some(Op { n, a: mask, imm: u32::from(sysm), ..op(Msr) })
        }
        0xf3ef if h2 & 0x3000 == 0 => {
            let d = bits(h2, 11, 8);
            (known && !special(d)).then_some(Op { d, imm: u32::from(sysm), ..op(Mrs) })
        }
        0xf3af if v7 && h2 & 0xff00 == 0x8000 => Some(op(match h2 & 0xff {
            2 => Wfe,
            3 => Wfi,
            4 => Sev,
            // YIELD, DBG, and hints that are not allocated execute as NOP.
            _ => Nop,
        })),
        0xf3bf if h2 & 0xff00 == 0x8f00 => match bits(h2, 7, 4) {
            2 if v7 && h2 & 15 == 15 => Some(op(Clrex)),
            4 => Some(op(Dsb)),
            5 => Some(op(Dmb)),
            6 => Some(op(Isb)),
            _ => None,
        },
        _ => None,
    }
}

/// Shifts by register, extensions, parallel arithmetic, miscellaneous (A5.3.12 to A5.3.15).
fn register(h1: u16, h2: u16, architecture: Architecture) -> Option<Op> {
    use Opcode::*;
    let (n, d, m) = (bits(h1, 3, 0), bits(h2, 11, 8), bits(h2, 3, 0));
    if h2 >> 12 != 15 || special(d) || special(m) || n == 13 {
        return None;
    }
    let dsp = architecture == Architecture::V7EM;
    let code = bits(h1, 6, 4);
    let op = Op { d, n, m, ..Op::default() };
    match (h1 & 0x80 != 0, bits(h2, 7, 4)) {
        (false, 0) if n != 15 => {
            let inner =
                [LslReg, LslRegS, LsrReg, LsrRegS, AsrReg, AsrRegS, RorReg, RorRegS][usize::from(code)];
            Some(Op { inner, ..op })
        }
        (false, 8..=11) => {
            let (alone, added) = match code {
                0 => (Sxth, Sxtah),
                1 => (Uxth, Uxtah),
                2 => (Sxtb16, Sxtab16),
                3 => (Uxtb16, Uxtab16),
                4 => (Sxtb, Sxtab),
                5 => (Uxtb, Uxtab),
                _ => return None,
            };
            if !dsp && (n != 15 || matches!(code, 2 | 3)) {
                return None;
            }
            let inner = if n == 15 { alone } else { added };
            Some(Op { inner, imm: u32::from(bits(h2, 5, 4)) * 8, ..op })
        }
        (true, prefix @ (0..=2 | 4..=6)) if dsp && n != 15 && !matches!(code, 3 | 7) => Some(Op {
            inner: Parallel,
            a: if prefix < 4 { prefix } else { prefix - 1 },
            imm: u32::from(code),
            ..op
        }),
        (true, operation @ 8..=11) => {
            let inner = match (code, operation) {
                (0, _) if dsp && n != 15 => [Qadd, Qdadd, Qsub, Qdsub][usize::from(operation - 8)],
                (1, _) if n == m => [Rev, Rev16, Rbit, Revsh][usize::from(operation - 8)],
                (2, 8) if dsp && n != 15 => Sel,
                (3, 8) if n == m => Clz,
                _ => return None,
            };
            Some(Op { inner, ..op })
        }
        _ => None,
    }
}

fn multiply(h1: u16, h2: u16, architecture: Architecture) -> Option<Op> {
    use Opcode::*;
    let (n, a, d, m) = (bits(h1, 3, 0), bits(h2, 15, 12), bits(h2, 11, 8), bits(h2, 3, 0));
    if h2 & 0xc0 != 0 || special(d) || special(n) || special(m) || a == 13 {
        return None;
    }
    let low = bits(h2, 5, 4);
    let alone = a == 15;
    let code = bits(h1, 6, 4);
    let pick = |without: Opcode, with: Opcode| if alone { without } else { with };
    let inner = match (code, low) {
        (0, 0) => pick(Mul, Mla),
        (0, 1) if !alone => Mls,
        _ if architecture < Architecture::V7EM => return None,
        (1, _) => pick(Smulxy, Smlaxy),
        (2, 0 | 1) => pick(Smuad, Smlad),
        (3, 0 | 1) => pick(Smulwy, Smlawy),
        (4, 0 | 1) => pick(Smusd, Smlsd),
        (5, 0 | 1) => pick(Smmul, Smmla),
        (6, 0 | 1) if !alone => Smmls,
        (7, 0) => pick(Usad8, Usada8),
        _ => return None,
    };
    let imm = if code == 0 { 0 } else { u32::from(low) };
    Some(Op { inner, d, n, m, a, imm, ..Op::default() })
}

fn long_multiply(h1: u16, h2: u16, architecture: Architecture) -> Option<Op> {
    use Opcode::*;
    let (n, low, high, m) = (bits(h1, 3, 0), bits(h2, 15, 12), bits(h2, 11, 8), bits(h2, 3, 0));
    if special(n) || special(m) || special(high) {
        return None;
    }
    let operation = bits(h2, 7, 4);
    let divide = match (bits(h1, 6, 4), operation) {
        (1, 15) => Some(Sdiv),
        (3, 15) => Some(Udiv),
        _ => None,
    };
    if let Some(inner) = divide {
        return (low == 15).then_some(Op { inner, d: high, n, m, ..Op::default() });
    }
    if special(low) || low == high {
        return None;
    }
    let dsp = architecture == Architecture::V7EM;
    let inner = match (bits(h1, 6, 4), operation) {
        (0, 0) => Smull,
        (2, 0) => Umull,
        (4, 0) => Smlal,
        (6, 0) => Umlal,
        (6, 6) if dsp => Umaal,
        (4, 8..=11) if dsp => Smlalxy,
        (4, 12 | 13) if dsp => Smlald,
        (5, 12 | 13) if dsp => Smlsld,
        _ => return None,
    };
    Some(Op { inner, d: low, n, m, a: high, imm: u32::from(operation & 3), ..Op::default() })
}
