//! Instructions of RV32EC with `Zicsr`, `Zifencei` and WCH's `xw`, decoded once.
//!
//! "The RISC-V Instruction Set Manual, Volume I", 20191213: chapters 2, 4 (RV32E), 9, 16 (C) and 24
//! (listings). No manual of WCH's has the encodings of `xw`: they are from github jnk0le/random,
//! "ch32v003_(qkv2).md", and CaiB/CH32V003-Architecture-Exploration, "NewInstructionNotes.md",
//! which agree with each other. They stand where RV32DC has its floating-point loads and stores.

use super::timing::Place;
use bytemuck::Zeroable;

/// Operation of an instruction. `imm` of jumps and branches is the target, of `Constant` the
/// result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroable)]
#[repr(u8)]
pub enum Opcode {
    /// `lui`, `auipc`, `c.li`, `c.lui`.
    Constant,
    Jal,
    /// `jal x0` to itself: the end of a program, where nothing interrupts it.
    JalSelf,
    Jalr,
    Beq,
    Bne,
    Blt,
    Bge,
    Bltu,
    Bgeu,
    Lb,
    Lh,
    Lw,
    Lbu,
    Lhu,
    Sb,
    Sh,
    Sw,
    Addi,
    Slti,
    Sltiu,
    Xori,
    Ori,
    Andi,
    Slli,
    Srli,
    Srai,
    Add,
    Sub,
    Sll,
    Slt,
    Sltu,
    Xor,
    Srl,
    Sra,
    Or,
    And,
    /// `fence`: nothing, on one core without a cache.
    Fence,
    /// `fence.i`: what was read ahead is read again.
    FenceI,
    Ecall,
    Ebreak,
    Mret,
    Wfi,
    /// `csrrw`, `csrrs`, `csrrc`; `imm` is the register's number.
    Csrrw,
    Csrrs,
    Csrrc,
    /// The same with the number of `rs1` as the operand.
    Csrrwi,
    Csrrsi,
    Csrrci,
}

/// A decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroable)]
pub struct Op {
    /// Its operation.
    pub kind: Opcode,
    /// Destination.
    pub rd: u8,
    /// First source.
    pub rs1: u8,
    /// Second source.
    pub rs2: u8,
    /// Bytes: 2 or 4.
    pub length: u8,
    /// Its position in the words that are read.
    pub place: Place,
    /// Immediate, sign-extended.
    pub imm: u32,
}

/// The instruction at `pc` that begins with `low`; `high` is the next halfword, where there is one.
/// `None` for what the core does not have.
#[must_use]
pub fn decode(pc: u32, low: u16, high: Option<u16>) -> Option<Op> {
    let op = if low & 3 == 3 {
        long(pc, u32::from(high?) << 16 | u32::from(low))
    } else {
        short(pc, u32::from(low))
    }?;
    let ends = op.kind == Opcode::Jal && op.imm == pc && op.rd == 0;
    let op = Op { kind: if ends { Opcode::JalSelf } else { op.kind }, ..op };
    // RV32E has sixteen registers. The immediate forms of the CSR instructions have a number in the
    // place of `rs1`.
    let immediate = matches!(op.kind, Opcode::Csrrwi | Opcode::Csrrsi | Opcode::Csrrci);
    (op.rd < 16 && (op.rs1 < 16 || immediate) && op.rs2 < 16).then_some(op)
}

/// Bits `high` to `low` of an instruction.
const fn field(word: u32, high: u32, low: u32) -> u32 {
    word >> low & ((1 << (high - low + 1)) - 1)
}

/// The low `bits` of `value`, sign-extended.
const fn signed(value: u32, bits: u32) -> u32 {
    ((value << (32 - bits)) as i32 >> (32 - bits)) as u32
}

fn long(pc: u32, word: u32) -> Option<Op> {
    use Opcode::*;
    let (rd, rs1, rs2) = (field(word, 11, 7) as u8, field(word, 19, 15) as u8, field(word, 24, 20) as u8);
    let (funct3, funct7) = (field(word, 14, 12) as usize, field(word, 31, 25));
    let immediate = signed(word >> 20, 12);
    let op =
        |kind, rd, rs1, rs2, imm| Some(Op { kind, rd, rs1, rs2, length: 4, place: Place::of(pc, 4), imm });
    match word & 0x7f {
        0x37 => op(Constant, rd, 0, 0, word & 0xffff_f000),
        0x17 => op(Constant, rd, 0, 0, pc.wrapping_add(word & 0xffff_f000)),
        0x6f => {
            let offset = field(word, 31, 31) << 20
                | field(word, 19, 12) << 12
                | field(word, 20, 20) << 11
                | field(word, 30, 21) << 1;
            op(Jal, rd, 0, 0, pc.wrapping_add(signed(offset, 21)))
        }
        0x67 if funct3 == 0 => op(Jalr, rd, rs1, 0, immediate),
        0x63 => {
            let kind =
                [Some(Beq), Some(Bne), None, None, Some(Blt), Some(Bge), Some(Bltu), Some(Bgeu)][funct3]?;
            let offset = field(word, 31, 31) << 12
                | field(word, 7, 7) << 11
                | field(word, 30, 25) << 5
                | field(word, 11, 8) << 1;
            op(kind, 0, rs1, rs2, pc.wrapping_add(signed(offset, 13)))
        }
        0x03 => {
            let kind = [Some(Lb), Some(Lh), Some(Lw), None, Some(Lbu), Some(Lhu), None, None][funct3]?;
            op(kind, rd, rs1, 0, immediate)
        }
        0x23 => {
            let kind = [Sb, Sh, Sw].get(funct3).copied()?;
            op(kind, 0, rs1, rs2, signed(funct7 << 5 | u32::from(rd), 12))
        }
        0x13 => {
            let shift = field(word, 24, 20);
            match (funct3, funct7) {
                (1, 0) => op(Slli, rd, rs1, 0, shift),
                (5, 0) => op(Srli, rd, rs1, 0, shift),
                (5, 0x20) => op(Srai, rd, rs1, 0, shift),
                (1 | 5, _) => None,
                _ => op([Addi, Slli, Slti, Sltiu, Xori, Srli, Ori, Andi][funct3], rd, rs1, 0, immediate),
            }
        }
        0x33 => match (funct3, funct7) {
            (_, 0) => op([Add, Sll, Slt, Sltu, Xor, Srl, Or, And][funct3], rd, rs1, rs2, 0),
            (0, 0x20) => op(Sub, rd, rs1, rs2, 0),
            (5, 0x20) => op(Sra, rd, rs1, rs2, 0),
            _ => None,
        },
        // The other fields of fences are reserved and ignored.
        0x0f => op([Fence, FenceI].get(funct3).copied()?, 0, 0, 0, 0),
        0x73 => match funct3 {
            0 => match word {
                0x0000_0073 => op(Ecall, 0, 0, 0, 0),
                0x0010_0073 => op(Ebreak, 0, 0, 0, 0),
                0x3020_0073 => op(Mret, 0, 0, 0, 0),
                0x1050_0073 => op(Wfi, 0, 0, 0, 0),
                _ => None,
            },
            4 => None,
            _ => {
                let kind = [Csrrw, Csrrs, Csrrc, Csrrw, Csrrwi, Csrrsi, Csrrci][funct3 - 1];
                op(kind, rd, rs1, 0, word >> 20)
            }
        },
        _ => None,
    }
}

fn short(pc: u32, word: u32) -> Option<Op> {
    use Opcode::*;
    let op = |kind, rd: u32, rs1: u32, rs2: u32, imm| {
        Some(Op {
            kind,
            rd: rd as u8,
            rs1: rs1 as u8,
            rs2: rs2 as u8,
            length: 2,
            place: Place::of(pc, 2),
            imm,
        })
    };
    // The registers as most instructions have them, and those of three bits, x8 to x15.
    let (rd, rs2) = (field(word, 11, 7), field(word, 6, 2));
    let (first, second) = (8 + field(word, 9, 7), 8 + field(word, 4, 2));
    let immediate = signed(field(word, 12, 12) << 5 | field(word, 6, 2), 6);
    // Bit 5 of a shift is for 64 bits.
    let shift = (field(word, 12, 12) == 0).then_some(field(word, 6, 2));
    match (word & 3, word >> 13) {
        (0, 0) => {
            let offset = field(word, 10, 7) << 6
                | field(word, 12, 11) << 4
                | field(word, 5, 5) << 3
                | field(word, 6, 6) << 2;
            if offset == 0 { None } else { op(Addi, second, 2, 0, offset) }
        }
        (0, 2) => op(Lw, second, first, 0, word_offset(word)),
        (0, 6) => op(Sw, 0, first, second, word_offset(word)),
        (0, 1) => op(Lbu, second, first, 0, byte_offset(word)),
        (0, 5) => op(Sb, 0, first, second, byte_offset(word)),
        (2, 1) => op(Lhu, second, first, 0, half_offset(word)),
        (2, 5) => op(Sh, 0, first, second, half_offset(word)),
        (0, 4) if field(word, 12, 11) == 0 => {
            let byte = field(word, 10, 7);
            let half = field(word, 7, 7) << 4 | field(word, 10, 8) << 1;
            match field(word, 6, 5) {
                0 => op(Lbu, second, 2, 0, byte),
                1 => op(Lhu, second, 2, 0, half),
                2 => op(Sb, 0, 2, second, byte),
                _ => op(Sh, 0, 2, second, half),
            }
        }
        (1, 0) => op(Addi, rd, rd, 0, immediate),
        (1, 1) => op(Jal, 1, 0, 0, pc.wrapping_add(jump_offset(word))),
        (1, 5) => op(Jal, 0, 0, 0, pc.wrapping_add(jump_offset(word))),
        (1, 2) => op(Constant, rd, 0, 0, immediate),
        (1, 3) if immediate == 0 => None,
        (1, 3) if rd == 2 => {
            let offset = field(word, 12, 12) << 9
                | field(word, 4, 3) << 7
                | field(word, 5, 5) << 6
                | field(word, 2, 2) << 5
                | field(word, 6, 6) << 4;
            op(Addi, 2, 2, 0, signed(offset, 10))
        }
        (1, 3) => op(Constant, rd, 0, 0, immediate << 12),
        (1, 4) => match (field(word, 11, 10), field(word, 12, 12), field(word, 6, 5)) {
            (0, _, _) => op(Srli, first, first, 0, shift?),
            (1, _, _) => op(Srai, first, first, 0, shift?),
            (2, _, _) => op(Andi, first, first, 0, immediate),
            (_, 0, index) => op([Sub, Xor, Or, And][index as usize], first, first, second, 0),
            _ => None,
        },
        (1, 6) => op(Beq, 0, first, 0, pc.wrapping_add(branch_offset(word))),
        (1, 7) => op(Bne, 0, first, 0, pc.wrapping_add(branch_offset(word))),
        (2, 0) => op(Slli, rd, rd, 0, shift?),
        (2, 2) if rd == 0 => None,
        (2, 2) => {
            let offset = field(word, 3, 2) << 6 | field(word, 12, 12) << 5 | field(word, 6, 4) << 2;
            op(Lw, rd, 2, 0, offset)
        }
        (2, 6) => op(Sw, 0, 2, rs2, field(word, 8, 7) << 6 | field(word, 12, 9) << 2),
        (2, 4) => match (field(word, 12, 12), rd, rs2) {
            (0, 0, 0) => None,
            (0, _, 0) => op(Jalr, 0, rd, 0, 0),
            (0, _, _) => op(Add, rd, 0, rs2, 0),
            (_, 0, 0) => op(Ebreak, 0, 0, 0, 0),
            (_, _, 0) => op(Jalr, 1, rd, 0, 0),
            _ => op(Add, rd, rd, rs2, 0),
        },
        _ => None,
    }
}

/// `c.lw` and `c.sw`.
const fn word_offset(word: u32) -> u32 {
    field(word, 5, 5) << 6 | field(word, 12, 10) << 3 | field(word, 6, 6) << 2
}

/// `xw.c.lbu` and `xw.c.sb`.
const fn byte_offset(word: u32) -> u32 {
    field(word, 11, 10) << 3 | field(word, 6, 5) << 1 | field(word, 12, 12)
}

/// `xw.c.lhu` and `xw.c.sh`.
const fn half_offset(word: u32) -> u32 {
    field(word, 12, 10) << 3 | field(word, 6, 5) << 1
}

/// `c.j` and `c.jal`.
const fn jump_offset(word: u32) -> u32 {
    let offset = field(word, 12, 12) << 11
        | field(word, 8, 8) << 10
        | field(word, 10, 9) << 8
        | field(word, 6, 6) << 7
        | field(word, 7, 7) << 6
        | field(word, 2, 2) << 5
        | field(word, 11, 11) << 4
        | field(word, 5, 3) << 1;
    signed(offset, 12)
}

/// `c.beqz` and `c.bnez`.
const fn branch_offset(word: u32) -> u32 {
    let offset = field(word, 12, 12) << 8
        | field(word, 6, 5) << 6
        | field(word, 2, 2) << 5
        | field(word, 11, 10) << 3
        | field(word, 4, 3) << 1;
    signed(offset, 9)
}
