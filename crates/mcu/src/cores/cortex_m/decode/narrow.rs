//! The 16-bit encodings (DDI 0403E, A5.2).

use super::{Architecture, bits};
use crate::cores::cortex_m::op::{Op, Opcode};

const CONDITIONAL_BRANCHES: [Opcode; 14] = [
    Opcode::Beq,
    Opcode::Bne,
    Opcode::Bcs,
    Opcode::Bcc,
    Opcode::Bmi,
    Opcode::Bpl,
    Opcode::Bvs,
    Opcode::Bvc,
    Opcode::Bhi,
    Opcode::Bls,
    Opcode::Bge,
    Opcode::Blt,
    Opcode::Bgt,
    Opcode::Ble,
];

/// The branch with a condition code of 0 to 13.
pub(super) fn conditional_branch(condition: u8) -> Opcode {
    CONDITIONAL_BRANCHES[usize::from(condition)]
}

/// `None` for what is UNDEFINED or UNPREDICTABLE.
pub(super) fn decode(h: u16, address: u32, in_it: bool, architecture: Architecture) -> Option<Op> {
    use Opcode::*;
    // Outside IT blocks the 16-bit data processing instructions set the flags.
    let s = |plain: Opcode, flags: Opcode| if in_it { plain } else { flags };
    let pc = address.wrapping_add(4);
    let low = bits(h, 2, 0);
    let mid = bits(h, 5, 3);
    let high = bits(h, 8, 6);
    let wide = bits(h, 10, 8);
    let imm5 = u32::from(bits(h, 10, 6));
    let imm8 = u32::from(h & 0xff);
    let op = |inner: Opcode| Op { inner, ..Op::default() };
    let dn_imm = |inner, d, n, imm| Some(Op { inner, d, n, imm, ..Op::default() });
    let dnm = |inner, d, n, m| Some(Op { inner, d, n, m, ..Op::default() });

    match h >> 11 {
        0b00000 if imm5 == 0 => {
            if in_it {
                return None;
            }
            dnm(MovRegS, low, 0, mid)
        }
        0b00000 => Some(Op { d: low, m: mid, imm: imm5, ..op(s(LslImm, LslImmS)) }),
        0b00001 => {
            Some(Op { d: low, m: mid, imm: if imm5 == 0 { 32 } else { imm5 }, ..op(s(LsrImm, LsrImmS)) })
        }
        0b00010 => {
            Some(Op { d: low, m: mid, imm: if imm5 == 0 { 32 } else { imm5 }, ..op(s(AsrImm, AsrImmS)) })
        }
        0b00011 => match bits(h, 10, 9) {
            0 => dnm(s(AddReg, AddRegS), low, mid, high),
            1 => dnm(s(SubReg, SubRegS), low, mid, high),
            2 => dn_imm(s(AddImm, AddImmS), low, mid, u32::from(high)),
            _ => dn_imm(s(SubImm, SubImmS), low, mid, u32::from(high)),
        },
        0b00100 => dn_imm(s(MovImm, MovImmS), wide, 0, imm8),
        0b00101 => dn_imm(CmpImm, 0, wide, imm8),
        0b00110 => dn_imm(s(AddImm, AddImmS), wide, wide, imm8),
        0b00111 => dn_imm(s(SubImm, SubImmS), wide, wide, imm8),
        0b01000 if h & 0x0400 == 0 => data_processing(h, in_it),
        0b01000 => registers(h, pc),
        0b01001 => dn_imm(LdrLit, wide, 15, (pc & !3) + imm8 * 4),
        0b01010 | 0b01011 => {
            let kind = [StrReg, StrhReg, StrbReg, LdrsbReg, LdrReg, LdrhReg, LdrbReg, LdrshReg]
                [usize::from(bits(h, 11, 9))];
            dnm(kind, low, mid, high)
        }
        0b01100 => dn_imm(StrImm, low, mid, imm5 * 4),
        0b01101 => dn_imm(LdrImm, low, mid, imm5 * 4),
        0b01110 => dn_imm(StrbImm, low, mid, imm5),
        0b01111 => dn_imm(LdrbImm, low, mid, imm5),
        0b10000 => dn_imm(StrhImm, low, mid, imm5 * 2),
        0b10001 => dn_imm(LdrhImm, low, mid, imm5 * 2),
        0b10010 => dn_imm(StrImm, wide, 13, imm8 * 4),
        0b10011 => dn_imm(LdrImm, wide, 13, imm8 * 4),
        0b10100 => dn_imm(MovImm, wide, 0, (pc & !3).wrapping_add(imm8 * 4)),
        0b10101 => dn_imm(AddImm, wide, 13, imm8 * 4),
        0b10110 | 0b10111 => miscellaneous(h, pc, architecture),
        0b11000 => {
            let below = imm8 & ((1 << wide) - 1);
            // A base in the list must come first: otherwise what is stored is UNKNOWN.
            if imm8 == 0 || (imm8 >> wide & 1 != 0 && below != 0) {
                return None;
            }
            Some(Op { n: wide, a: 1, imm: imm8, ..op(Stm) })
        }
        0b11001 => {
            if imm8 == 0 {
                return None;
            }
            let back = imm8 >> wide & 1 == 0;
            Some(Op { n: wide, a: u8::from(back), imm: imm8, ..op(Ldm) })
        }
        0b11010 | 0b11011 => match bits(h, 11, 8) {
            14 => None,
            15 => Some(Op { imm: imm8, ..op(Svc) }),
            condition => {
                let offset = (h as u8 as i8 as i32 * 2) as u32;
                Some(Op { imm: pc.wrapping_add(offset), ..op(conditional_branch(condition)) })
            }
        },
        0b11100 => {
            let offset = ((i32::from(h & 0x7ff) << 21) >> 20) as u32;
            Some(Op { imm: pc.wrapping_add(offset), ..op(B) })
        }
        _ => None,
    }
}

fn data_processing(h: u16, in_it: bool) -> Option<Op> {
    use Opcode::*;
    let (d, m) = (bits(h, 2, 0), bits(h, 5, 3));
    let (plain, flags) = match bits(h, 9, 6) {
        0 => (AndReg, AndRegS),
        1 => (EorReg, EorRegS),
        2 => (LslReg, LslRegS),
        3 => (LsrReg, LsrRegS),
        4 => (AsrReg, AsrRegS),
        5 => (AdcReg, AdcRegS),
        6 => (SbcReg, SbcRegS),
        7 => (RorReg, RorRegS),
        8 => return Some(Op { inner: TstReg, n: d, m, ..Op::default() }),
        9 => {
            let inner = if in_it { RsbImm } else { RsbImmS };
            return Some(Op { inner, d, n: m, ..Op::default() });
        }
        10 => return Some(Op { inner: CmpReg, n: d, m, ..Op::default() }),
        11 => return Some(Op { inner: CmnReg, n: d, m, ..Op::default() }),
        12 => (OrrReg, OrrRegS),
        13 => (Mul, MulS),
        14 => (BicReg, BicRegS),
        _ => (MvnReg, MvnRegS),
    };
    Some(Op { inner: if in_it { plain } else { flags }, d, n: d, m, ..Op::default() })
}

/// ADD, CMP, MOV on high registers; BX, BLX.
fn registers(h: u16, pc: u32) -> Option<Op> {
    use Opcode::*;
    let m = bits(h, 6, 3);
    let d = bits(h, 2, 0) | bits(h, 7, 7) << 3;
    match bits(h, 9, 8) {
        0 => match (d, m) {
            (15, 15) => None,
            (15, _) => Some(Op { inner: AddPc, d, m, imm: pc, ..Op::default() }),
            (_, 15) => Some(Op { inner: AddImm, d, n: d, imm: pc, ..Op::default() }),
            (13, _) => Some(Op { inner: AddSpShift, d, n: d, m, ..Op::default() }),
            _ => Some(Op { inner: AddReg, d, n: d, m, ..Op::default() }),
        },
        1 => {
            if (d < 8 && m < 8) || d == 15 || m == 15 {
                return None;
            }
            Some(Op { inner: CmpReg, n: d, m, ..Op::default() })
        }
        2 => match (d, m) {
            // A branch to the next instruction but one; nobody writes it.
            (15, 15) => None,
            (15, _) => Some(Op { inner: MovPc, d, m, ..Op::default() }),
            (_, 15) => Some(Op { inner: MovImm, d, imm: pc, ..Op::default() }),
            (13, _) => Some(Op { inner: MovSp, d, m, ..Op::default() }),
            _ => Some(Op { inner: MovReg, d, m, ..Op::default() }),
        },
        _ => {
            // PC as the operand cannot have bit 0 set.
            if h & 7 != 0 || m == 15 {
                return None;
            }
            Some(Op { inner: if h & 0x80 == 0 { Bx } else { Blx }, m, ..Op::default() })
        }
    }
}

fn miscellaneous(h: u16, pc: u32, architecture: Architecture) -> Option<Op> {
    use Opcode::*;
    let v7 = architecture >= Architecture::V7M;
    let op = |inner: Opcode| Op { inner, ..Op::default() };
    let (low, mid) = (bits(h, 2, 0), bits(h, 5, 3));
    if v7 && h & 0xf500 == 0xb100 {
        let offset = u32::from(bits(h, 9, 9)) << 6 | u32::from(bits(h, 7, 3)) << 1;
        let inner = if h & 0x0800 == 0 { Cbz } else { Cbnz };
        return Some(Op { n: low, imm: pc.wrapping_add(offset), ..op(inner) });
    }
    match h >> 8 & 15 {
        0b0000 => {
            let inner = if h & 0x80 == 0 { AddImm } else { SubImm };
            Some(Op { d: 13, n: 13, imm: u32::from(h & 0x7f) * 4, ..op(inner) })
        }
        0b0010 => {
            let inner = [Sxth, Sxtb, Uxth, Uxtb][usize::from(bits(h, 7, 6))];
            Some(Op { d: low, m: mid, ..op(inner) })
        }
        0b0100 | 0b0101 => {
            let list = u32::from(h & 0xff) | u32::from(bits(h, 8, 8)) << 14;
            (list != 0).then_some(Op { n: 13, a: 1, imm: list, ..op(Stmdb) })
        }
        0b1100 | 0b1101 => {
            let list = u32::from(h & 0xff) | u32::from(bits(h, 8, 8)) << 15;
            let inner = if list >> 15 != 0 { LdmPc } else { Ldm };
            (list != 0).then_some(Op { n: 13, a: 1, imm: list, ..op(inner) })
        }
        0b0110 if h & 0xffec == 0xb660 => {
            let masks = h & 3;
            // ARMv6-M has PRIMASK alone.
            if masks == 0 || (!v7 && masks != 2) {
                return None;
            }
            Some(Op { a: bits(h, 4, 4), imm: u32::from(masks), ..op(Cps) })
        }
        0b1010 => {
            let inner = match bits(h, 7, 6) {
                0 => Rev,
                1 => Rev16,
                3 => Revsh,
                _ => return None,
            };
            Some(Op { d: low, n: mid, m: mid, ..op(inner) })
        }
        0b1110 => Some(Op { imm: u32::from(h & 0xff), ..op(Bkpt) }),
        0b1111 if h & 15 == 0 => Some(op(match bits(h, 7, 4) {
            2 => Wfe,
            3 => Wfi,
            4 => Sev,
            // YIELD, and hints that are not allocated execute as NOP.
            _ => Nop,
        })),
        0b1111 if v7 => {
            let condition = bits(h, 7, 4);
            let mask = h & 15;
            if condition == 15 || (condition == 14 && mask.count_ones() != 1) {
                return None;
            }
            Some(Op { imm: u32::from(h & 0xff), ..op(It) })
        }
        _ => None,
    }
}
