//! The 32-bit encodings of loads and stores (DDI 0403E, A5.3.5 to A5.3.10).

use super::super::{bits, special};
use crate::cores::cortex_m::op::{Op, Opcode};

/// LDM, STM, PUSH, POP.
pub(super) fn multiple(h1: u16, h2: u16) -> Option<Op> {
    use Opcode::*;
    let n = bits(h1, 3, 0);
    let back = h1 & 0x20 != 0;
    let load = h1 & 0x10 != 0;
    let list = u32::from(h2);
    if n == 15 || list.count_ones() < 2 || list & 0x2000 != 0 || (back && list >> n & 1 != 0) {
        return None;
    }
    if (load && list & 0xc000 == 0xc000) || (!load && list & 0x8000 != 0) {
        return None;
    }
    let decrement = match bits(h1, 8, 7) {
        1 => false,
        2 => true,
        _ => return None,
    };
    let inner = match (load, decrement) {
        (true, _) if list & 0x8000 != 0 => LdmPc,
        (true, false) => Ldm,
        (true, true) => Ldmdb,
        (false, false) => Stm,
        (false, true) => Stmdb,
    };
    Some(Op { inner, n, m: u8::from(decrement), a: u8::from(back), imm: list, ..Op::default() })
}

/// LDRD, STRD, the exclusive accesses, and TBB and TBH.
pub(super) fn dual_exclusive_table(h1: u16, h2: u16, address: u32) -> Option<Op> {
    use Opcode::*;
    let n = bits(h1, 3, 0);
    let (t, t2, m) = (bits(h2, 15, 12), bits(h2, 11, 8), bits(h2, 3, 0));
    let imm8 = u32::from(h2 & 0xff);
    let (index, add, back, load) = (h1 & 0x100 != 0, h1 & 0x80 != 0, h1 & 0x20 != 0, h1 & 0x10 != 0);
    if index || back {
        // LDRD, STRD.
        let offset = if add { imm8 * 4 } else { (imm8 * 4).wrapping_neg() };
        if special(t) || special(t2) || (load && t == t2) || (back && (n == t || n == t2)) {
            return None;
        }
        if n == 15 {
            if !load || back {
                return None;
            }
            let imm = (address.wrapping_add(4) & !3).wrapping_add(offset);
            return Some(Op { inner: Ldrd, d: t, n, a: t2, m: 4, imm, ..Op::default() });
        }
        let mode = match (index, back) {
            (true, false) => 0,
            (true, true) => 2,
            _ => 3,
        };
        let inner = if load { Ldrd } else { Strd };
        return Some(Op { inner, d: t, n, a: t2, m: mode, imm: offset, ..Op::default() });
    }
    if !add {
        // LDREX, STREX.
        if special(t) || n == 15 {
            return None;
        }
        if load {
            return (t2 == 15).then_some(Op { inner: Ldrex, d: t, n, imm: imm8 * 4, ..Op::default() });
        }
        if special(t2) || t2 == n || t2 == t {
            return None;
        }
        return Some(Op { inner: Strex, d: t2, n, a: t, imm: imm8 * 4, ..Op::default() });
    }
    match (load, bits(h2, 7, 4)) {
        (true, operation @ (0 | 1)) => {
            if h2 & 0xff00 != 0xf000 || n == 13 || special(m) {
                return None;
            }
            let inner = if operation == 0 { Tbb } else { Tbh };
            Some(Op { inner, n, m, imm: address.wrapping_add(4), ..Op::default() })
        }
        (true, operation @ (4 | 5)) => {
            if h2 & 0x0f0f != 0x0f0f || special(t) || n == 15 {
                return None;
            }
            let inner = if operation == 4 { Ldrexb } else { Ldrexh };
            Some(Op { inner, d: t, n, ..Op::default() })
        }
        (false, operation @ (4 | 5)) => {
            if t2 != 15 || special(t) || special(m) || n == 15 || m == n || m == t {
                return None;
            }
            let inner = if operation == 4 { Strexb } else { Strexh };
            Some(Op { inner, d: m, n, a: t, ..Op::default() })
        }
        _ => None,
    }
}

/// The offset of the imm8 forms and its mode: 0 Imm, 2 Pre, 3 Post.
fn indexed(h2: u16) -> Option<(u32, u8)> {
    let imm8 = u32::from(h2 & 0xff);
    let (index, add, back) = (h2 & 0x400 != 0, h2 & 0x200 != 0, h2 & 0x100 != 0);
    let offset = if add { imm8 } else { imm8.wrapping_neg() };
    match (index, back) {
        (true, false) => Some((offset, 0)),
        (true, true) => Some((offset, 2)),
        (false, true) => Some((offset, 3)),
        (false, false) => None,
    }
}

/// Returns true if an imm8 form is one of the unprivileged accesses, such as LDRT.
fn unprivileged(h2: u16) -> bool {
    h2 & 0xf00 == 0xe00
}

/// Stores of a byte, a halfword or a word.
pub(super) fn store(h1: u16, h2: u16) -> Option<Op> {
    use Opcode::*;
    let (n, t, m) = (bits(h1, 3, 0), bits(h2, 15, 12), bits(h2, 3, 0));
    let kinds = match bits(h1, 6, 5) {
        0 => [StrbImm, StrbReg, StrbPre, StrbPost],
        1 => [StrhImm, StrhReg, StrhPre, StrhPost],
        2 => [StrImm, StrReg, StrPre, StrPost],
        _ => return None,
    };
    let word = kinds[0] == StrImm;
    if n == 15 || t == 15 || (t == 13 && !word) {
        return None;
    }
    let op = Op { d: t, n, ..Op::default() };
    if h1 & 0x80 != 0 {
        return Some(Op { inner: kinds[0], imm: u32::from(h2 & 0xfff), ..op });
    }
    if h2 & 0x800 != 0 {
        let (imm, mode) = indexed(h2)?;
        if (mode != 0 && (n == t || (n == 13 && imm & 3 != 0))) || (t == 13 && unprivileged(h2)) {
            return None;
        }
        return Some(Op { inner: kinds[usize::from(mode)], imm, ..op });
    }
    if h2 & 0xfc0 != 0 || special(m) {
        return None;
    }
    Some(Op { inner: kinds[1], m, imm: u32::from(bits(h2, 5, 4)), ..op })
}

/// Loads of a byte, a halfword or a word, and the hints PLD and PLI.
pub(super) fn load(h1: u16, h2: u16, address: u32) -> Option<Op> {
    use Opcode::*;
    let (n, t, m) = (bits(h1, 3, 0), bits(h2, 15, 12), bits(h2, 3, 0));
    let signed = h1 & 0x100 != 0;
    let kinds = match (bits(h1, 6, 5), signed) {
        (0, false) => [LdrbImm, LdrbReg, LdrbPre, LdrbPost, LdrbLit],
        (0, true) => [LdrsbImm, LdrsbReg, LdrsbPre, LdrsbPost, LdrsbLit],
        (1, false) => [LdrhImm, LdrhReg, LdrhPre, LdrhPost, LdrhLit],
        (1, true) => [LdrshImm, LdrshReg, LdrshPre, LdrshPost, LdrshLit],
        (2, false) => [LdrImm, LdrReg, LdrPre, LdrPost, LdrLit],
        _ => return None,
    };
    let word = kinds[0] == LdrImm;
    let byte = matches!(kinds[0], LdrbImm | LdrsbImm);
    let (mode, imm) = if n == 15 {
        let pc = address.wrapping_add(4) & !3;
        let imm12 = u32::from(h2 & 0xfff);
        (4, if h1 & 0x80 != 0 { pc.wrapping_add(imm12) } else { pc.wrapping_sub(imm12) })
    } else if h1 & 0x80 != 0 {
        (0, u32::from(h2 & 0xfff))
    } else if h2 & 0x800 != 0 {
        let (imm, mode) = indexed(h2)?;
        if (mode != 0 && (n == t || (n == 13 && imm & 3 != 0))) || (special(t) && unprivileged(h2)) {
            return None;
        }
        (mode, imm)
    } else {
        if h2 & 0xfc0 != 0 || special(m) {
            return None;
        }
        (1, u32::from(bits(h2, 5, 4)))
    };
    if t == 15 && byte && (mode < 2 || mode == 4) {
        // PLD and PLI: hints.
        return Some(Op { inner: Nop, ..Op::default() });
    }
    let op = Op { d: t, n, m, imm, ..Op::default() };
    match t {
        13 if word => Some(Op { inner: LdrSp, a: mode, ..op }),
        15 if word => Some(Op { inner: LdrPc, a: mode, ..op }),
        13 | 15 => None,
        _ => Some(Op { inner: kinds[usize::from(mode)], ..op }),
    }
}
