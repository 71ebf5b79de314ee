//! Instructions out of bytes.
//!
//! Source: CPU08RM, "Opcode Map": the opcode's low digit says what is done, its high digit to what.

use super::timing;
use bytemuck::Zeroable;

/// Operation of an instruction. Its [`Mode`] tells whether it works on a register or on memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Zeroable)]
#[repr(u8)]
pub enum Opcode {
    /// Not decoded yet.
    Unknown,
    /// `BRA` or `JMP` to itself.
    JumpToSelf,
    Adc,
    Add,
    And,
    Ais,
    Aix,
    Asr,
    Bclr,
    Bit,
    Bcc,
    Bcs,
    Beq,
    Bge,
    Bgt,
    Bhcc,
    Bhcs,
    Bhi,
    /// Branch where the IRQ pin is high.
    Bih,
    /// Branch where the IRQ pin is low.
    Bil,
    Ble,
    Bls,
    Blt,
    Bmc,
    Bmi,
    Bms,
    Bne,
    Bpl,
    Brn,
    Brclr,
    Brset,
    Bset,
    /// `BSR`, and `JSR` to a known address.
    Call,
    /// `JSR` relative to H:X.
    CallIndexed,
    Cbeq,
    /// `CBEQX`.
    CbeqX,
    /// `CBEQ` that increments H:X.
    CbeqIncrement,
    Clc,
    Cli,
    Clr,
    Clrh,
    Cmp,
    Com,
    Cphx,
    Cpx,
    Daa,
    Dbnz,
    Dec,
    Div,
    Eor,
    Inc,
    /// `BRA`, and `JMP` to a known address.
    Jump,
    /// `JMP` relative to H:X.
    JumpIndexed,
    Lda,
    Ldhx,
    Ldx,
    Lsl,
    Lsr,
    /// `MOV` direct to direct.
    Mov,
    /// `MOV` immediate to direct.
    MovImmediate,
    /// `MOV` direct to indexed with increment.
    MovToIndexed,
    /// `MOV` indexed with increment to direct.
    MovFromIndexed,
    Mul,
    Neg,
    Nop,
    Nsa,
    Ora,
    Psha,
    Pshh,
    Pshx,
    Pula,
    Pulh,
    Pulx,
    Rol,
    Ror,
    Rsp,
    Rti,
    Rts,
    Sbc,
    Sec,
    Sei,
    Sta,
    Sthx,
    Stop,
    Stx,
    Sub,
    Swi,
    Tap,
    Tax,
    Tpa,
    Tst,
    Tsx,
    Txa,
    Txs,
    Wait,
}

/// Location of the operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroable)]
#[repr(u8)]
pub enum Mode {
    /// In the instruction, or there is none.
    Immediate,
    /// At an address in the instruction: `DIR`, `EXT`.
    Address,
    /// At H:X plus an offset: `IX`, `IX1`, `IX2`.
    Indexed,
    /// At SP plus an offset: `SP1`, `SP2`.
    Stack,
    /// In A.
    A,
    /// In X.
    X,
}

/// A decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroable)]
pub struct Op {
    /// Its operation.
    pub kind: Opcode,
    /// Location of its operand.
    pub mode: Mode,
    /// Its length in bytes.
    pub length: u8,
    /// Its bus cycles.
    pub cycles: u8,
    /// Immediate value, address or offset. Bit instructions: the direct address, and the bit's mask
    /// above it.
    pub operand: u16,
    /// Target of a branch; the destination of `MOV`.
    pub target: u16,
}

impl Op {
    /// Nothing is known yet.
    pub const UNKNOWN: Op =
        Op { kind: Opcode::Unknown, mode: Mode::Immediate, length: 0, cycles: 0, operand: 0, target: 0 };
}

/// The longest instruction: `CBEQ` and `DBNZ` relative to the stack pointer, and everything with
/// `SP2`.
pub const LONGEST: usize = 4;

/// Decodes the instruction at `pc`, whose first bytes are given; `None` where the processor has
/// none such.
pub fn decode(pc: u16, bytes: [u8; LONGEST]) -> Option<Op> {
    let prefixed = bytes[0] == 0x9e;
    let (opcode, at) = if prefixed { (bytes[1], 2) } else { (bytes[0], 1) };
    let cycles = timing::cycles(if prefixed { 0x9e00 } else { 0 } | u16::from(opcode))?;
    let (column, row) = (opcode >> 4, opcode & 15);
    let mut bytes = Bytes { bytes, at, pc };
    let mut op = Op { cycles, ..Op::UNKNOWN };
    match column {
        0x0 | 0x1 => {
            let on = row & 1 == 0;
            op.operand = u16::from(bytes.next()) | 0x100 << (row >> 1);
            op.kind = match (column, on) {
                (0, true) => Opcode::Brset,
                (0, false) => Opcode::Brclr,
                (_, true) => Opcode::Bset,
                (_, false) => Opcode::Bclr,
            };
            if column == 0 {
                op.target = bytes.relative();
            }
        }
        0x2 => {
            op.kind = BRANCHES[usize::from(row)];
            op.target = bytes.relative();
        }
        0x3..=0x7 => read_modify_write(&mut op, column, row, prefixed, &mut bytes)?,
        0x8 | 0x9 => {
            op.kind = CONTROL[usize::from(column - 8)][usize::from(row)]?;
            if column == 9 && row < 4 {
                op.target = bytes.relative();
            }
        }
        _ => register_and_memory(&mut op, column, row, prefixed, &mut bytes),
    }
    if op.kind == Opcode::Jump && op.target == pc {
        op.kind = Opcode::JumpToSelf;
    }
    op.length = bytes.at as u8;
    Some(op)
}

/// The bytes of an instruction, one after the other.
struct Bytes {
    bytes: [u8; LONGEST],
    at: usize,
    pc: u16,
}

impl Bytes {
    fn next(&mut self) -> u8 {
        let byte = self.bytes[self.at];
        self.at += 1;
        byte
    }

    fn word(&mut self) -> u16 {
        u16::from_be_bytes([self.next(), self.next()])
    }

    /// The last byte, a distance from the next instruction.
    fn relative(&mut self) -> u16 {
        let distance = self.next() as i8;
        self.pc.wrapping_add(self.at as u16).wrapping_add_signed(distance.into())
    }
}

/// Column 2.
const BRANCHES: [Opcode; 16] = [
    Opcode::Jump,
    Opcode::Brn,
    Opcode::Bhi,
    Opcode::Bls,
    Opcode::Bcc,
    Opcode::Bcs,
    Opcode::Bne,
    Opcode::Beq,
    Opcode::Bhcc,
    Opcode::Bhcs,
    Opcode::Bpl,
    Opcode::Bmi,
    Opcode::Bmc,
    Opcode::Bms,
    Opcode::Bil,
    Opcode::Bih,
];

/// Columns 8 and 9.
const CONTROL: [[Option<Opcode>; 16]; 2] = [
    [
        Some(Opcode::Rti),
        Some(Opcode::Rts),
        None,
        Some(Opcode::Swi),
        Some(Opcode::Tap),
        Some(Opcode::Tpa),
        Some(Opcode::Pula),
        Some(Opcode::Psha),
        Some(Opcode::Pulx),
        Some(Opcode::Pshx),
        Some(Opcode::Pulh),
        Some(Opcode::Pshh),
        Some(Opcode::Clrh),
        None,
        Some(Opcode::Stop),
        Some(Opcode::Wait),
    ],
    [
        Some(Opcode::Bge),
        Some(Opcode::Blt),
        Some(Opcode::Bgt),
        Some(Opcode::Ble),
        Some(Opcode::Txs),
        Some(Opcode::Tsx),
        None,
        Some(Opcode::Tax),
        Some(Opcode::Clc),
        Some(Opcode::Sec),
        Some(Opcode::Cli),
        Some(Opcode::Sei),
        Some(Opcode::Rsp),
        Some(Opcode::Nop),
        None,
        Some(Opcode::Txa),
    ],
];

/// Columns 3 to 7 and 9E6.
fn read_modify_write(op: &mut Op, column: u8, row: u8, prefixed: bool, bytes: &mut Bytes) -> Option<()> {
    match (row, column) {
        (0x2, 4) => op.kind = Opcode::Mul,
        (0x2, 5) => op.kind = Opcode::Div,
        (0x2, 6) => op.kind = Opcode::Nsa,
        (0x2, 7) => op.kind = Opcode::Daa,
        (0x5, 4 | 6) => {
            op.kind = if column == 4 { Opcode::Ldhx } else { Opcode::Cphx };
            op.operand = bytes.word();
        }
        (0x5, _) => {
            op.kind = match column {
                3 => Opcode::Sthx,
                5 => Opcode::Ldhx,
                _ => Opcode::Cphx,
            };
            op.mode = Mode::Address;
            op.operand = bytes.next().into();
        }
        (0xe, 5) => {
            op.kind = Opcode::MovToIndexed;
            op.operand = bytes.next().into();
        }
        (0xe, 7) => {
            op.kind = Opcode::MovFromIndexed;
            op.target = bytes.next().into();
        }
        (0xe, _) => {
            op.kind = if column == 4 { Opcode::Mov } else { Opcode::MovImmediate };
            op.operand = bytes.next().into();
            op.target = bytes.next().into();
        }
        (0x1, 4 | 5) => {
            op.kind = if column == 4 { Opcode::Cbeq } else { Opcode::CbeqX };
            op.operand = bytes.next().into();
            op.target = bytes.relative();
        }
        _ => {
            op.kind = match row {
                0x0 => Opcode::Neg,
                0x1 if column >= 6 && !prefixed => Opcode::CbeqIncrement,
                0x1 => Opcode::Cbeq,
                0x3 => Opcode::Com,
                0x4 => Opcode::Lsr,
                0x6 => Opcode::Ror,
                0x7 => Opcode::Asr,
                0x8 => Opcode::Lsl,
                0x9 => Opcode::Rol,
                0xa => Opcode::Dec,
                0xb => Opcode::Dbnz,
                0xc => Opcode::Inc,
                0xd => Opcode::Tst,
                0xf => Opcode::Clr,
                _ => return None,
            };
            op.mode = match column {
                3 => Mode::Address,
                4 => Mode::A,
                5 => Mode::X,
                _ if prefixed => Mode::Stack,
                _ => Mode::Indexed,
            };
            if matches!(column, 3 | 6) {
                op.operand = bytes.next().into();
            }
            if matches!(row, 0x1 | 0xb) {
                op.target = bytes.relative();
            }
        }
    }
    Some(())
}

/// Columns A to F, 9ED and 9EE.
fn register_and_memory(op: &mut Op, column: u8, row: u8, prefixed: bool, bytes: &mut Bytes) {
    op.kind = match row {
        0x0 => Opcode::Sub,
        0x1 => Opcode::Cmp,
        0x2 => Opcode::Sbc,
        0x3 => Opcode::Cpx,
        0x4 => Opcode::And,
        0x5 => Opcode::Bit,
        0x6 => Opcode::Lda,
        0x7 if column == 0xa => Opcode::Ais,
        0x7 => Opcode::Sta,
        0x8 => Opcode::Eor,
        0x9 => Opcode::Adc,
        0xa => Opcode::Ora,
        0xb => Opcode::Add,
        0xc if column >= 0xd => Opcode::JumpIndexed,
        0xc => Opcode::Jump,
        0xd if column >= 0xd => Opcode::CallIndexed,
        0xd => Opcode::Call,
        0xe => Opcode::Ldx,
        _ if column == 0xa => Opcode::Aix,
        _ => Opcode::Stx,
    };
    if row == 0xd && column == 0xa {
        op.target = bytes.relative();
        return;
    }
    op.mode = match column {
        0xa => Mode::Immediate,
        0xb | 0xc => Mode::Address,
        _ if prefixed => Mode::Stack,
        _ => Mode::Indexed,
    };
    op.operand = match column {
        0xa | 0xb | 0xe => bytes.next().into(),
        0xc | 0xd => bytes.word(),
        _ => 0,
    };
    if matches!(op.kind, Opcode::Jump | Opcode::Call) {
        op.target = op.operand;
    }
    if matches!(op.kind, Opcode::Ais | Opcode::Aix) {
        op.operand = (op.operand as i8) as u16;
    }
}

#[cfg(test)]
mod tests {
    use super::{Opcode, decode, timing};

    /// The map has an instruction exactly where it has cycles, and no other opcode decodes.
    #[test]
    fn every_opcode_of_the_map_decodes_and_no_other() {
        let mut count = 0;
        for prefix in [0, 0x9e00] {
            for opcode in 0..=0xff_u16 {
                let [high, low] = (prefix | opcode).to_be_bytes();
                let bytes = if prefix == 0 { [low, 1, 2, 3] } else { [high, low, 2, 3] };
                let op = decode(0x8000, bytes);
                let known = timing::cycles(prefix | opcode).is_some();
                assert_eq!(op.is_some_and(|op| op.kind != Opcode::Unknown), known, "{:04x}", prefix | opcode);
                count += usize::from(known);
            }
        }
        // 16 rows of 19 columns, but for 3x and 9E6x (2, 5, E; 2, E), 82, 8D, 96, 9E, AC, 9EDC,
        // 9EEC, 9EDD, 9EED.
        assert_eq!(count, 16 * 19 - 14);
    }
}
