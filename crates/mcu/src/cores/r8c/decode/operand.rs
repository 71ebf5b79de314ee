//! The fields that say where an operand is.

use super::super::operation::{A0, FB, Mode, Operand, SB, Width};
use super::{Code, address_register};

/// An operand and what the manual's tables call it.
#[derive(Clone, Copy)]
pub struct NamedOperand {
    pub operand: Operand,
    pub name: &'static str,
}

impl NamedOperand {
    pub fn immediate(operand: Operand) -> NamedOperand {
        NamedOperand { operand, name: "#IMM" }
    }

    /// `R0L` or `R0H` of the short formats.
    pub fn short_register(bit: u32) -> NamedOperand {
        NamedOperand { operand: Operand::byte(bit as u8 & 1), name: "Rn" }
    }

    /// `A0` or `A1` of the short formats.
    pub fn short_address(bit: u32) -> NamedOperand {
        NamedOperand { operand: Operand::word(address_register(bit)), name: "An" }
    }

    pub fn new(operand: Operand, name: &'static str) -> NamedOperand {
        NamedOperand { operand, name }
    }

    /// Returns true if it is `A0` or `A1` as a byte.
    fn is_byte_address(&self) -> bool {
        self.operand.mode == Mode::LowByte && self.operand.register >= A0
    }

    /// A byte operation into `A0` or `A1` extends its source by zeros and works on 16 bits.
    pub fn widen_address(&mut self) {
        if self.is_byte_address() {
            self.operand = Operand::word(self.operand.register);
        }
    }

    /// Refuses `A0` and `A1` as bytes.
    pub fn not_byte_address(self) -> Option<NamedOperand> {
        (!self.is_byte_address()).then_some(self)
    }

    /// Refuses what cannot take a product of twice the width: all but `R0L`, `R1L`, `R0`, `R1`,
    /// `A0` and memory.
    pub fn is_factor(&self) -> Option<()> {
        let Operand { mode, register, .. } = self.operand;
        let allowed = match mode {
            Mode::LowByte | Mode::Register => [0, 1, A0].contains(&register),
            _ => self.operand.in_memory(),
        };
        allowed.then_some(())
    }
}

fn memory(mode: Mode, register: u8, width: Width, value: u32) -> Operand {
    Operand { mode, register, width, value }
}

impl<F: Fn(u32) -> Option<u8>> Code<F> {
    /// By the four bits `SRC` or `DEST` of most instructions.
    pub fn operand(&mut self, field: u32, width: Width) -> Option<NamedOperand> {
        Some(match (field, width) {
            (0..=3, Width::Byte) => NamedOperand::new(Operand::byte(field as u8), "Rn"),
            (0..=3, _) => NamedOperand::new(Operand::word(field as u8), "Rn"),
            (4 | 5, Width::Byte) => {
                let register = address_register(field);
                NamedOperand::new(Operand { mode: Mode::LowByte, register, width, value: 0 }, "An")
            }
            (4 | 5, _) => NamedOperand::new(Operand::word(address_register(field)), "An"),
            _ => self.memory(field, width)?,
        })
    }

    /// As [`Code::operand`], for memory alone.
    pub fn memory(&mut self, field: u32, width: Width) -> Option<NamedOperand> {
        let address = address_register(field);
        Some(match field {
            6 | 7 => NamedOperand::new(memory(Mode::Based, address, width, 0), "[An]"),
            8 | 9 => NamedOperand::new(memory(Mode::Based, address, width, self.byte()?), "dsp:8[An]"),
            10 => NamedOperand::new(memory(Mode::Based, SB, width, self.byte()?), "dsp:8[SB/FB]"),
            11 => {
                let displacement = self.byte()? as i8 as u32;
                NamedOperand::new(memory(Mode::Based, FB, width, displacement), "dsp:8[SB/FB]")
            }
            12 | 13 => NamedOperand::new(memory(Mode::Based, address, width, self.word()?), "dsp:16[An]"),
            14 => NamedOperand::new(memory(Mode::Based, SB, width, self.word()?), "dsp:16[SB]"),
            15 => NamedOperand::new(memory(Mode::Absolute, 0, width, self.word()?), "abs16"),
            _ => return None,
        })
    }

    /// `dsp:8[SB]`, `dsp:8[FB]` or `abs16` by two bits of a short format.
    pub fn short_memory(&mut self, field: u32) -> Option<NamedOperand> {
        self.memory([0, 10, 11, 15][(field & 3) as usize], Width::Byte)
    }

    /// The source of a short format whose destination is `R0L`, `R0H`, `A0` or `A1` by `bit`: 0 is
    /// the other of `R0L` and `R0H`, for `A0` `R0H` and for `A1` `R0L`.
    pub fn short_source(&mut self, field: u32, bit: u32) -> Option<NamedOperand> {
        if field == 0 { Some(NamedOperand::short_register(bit ^ 1)) } else { self.short_memory(field) }
    }

    /// The destination of a short format by three bits: `R0H`, `R0L`, `dsp:8[SB]`, `dsp:8[FB]`,
    /// `abs16`.
    pub fn short_destination(&mut self, field: u32) -> Option<NamedOperand> {
        match field {
            3 => Some(NamedOperand::short_register(1)),
            4 => Some(NamedOperand::short_register(0)),
            5..=7 => self.short_memory(field - 4),
            _ => None,
        }
    }

    /// The bit of a generic bit instruction.
    pub fn bit(&mut self, field: u32) -> Option<NamedOperand> {
        let byte = Width::Byte;
        let address = address_register(field);
        Some(match field {
            0..=5 => {
                let (register, name) = if field < 4 { (field as u8, "bit,Rn") } else { (address, "bit,An") };
                let bit = self.byte()?;
                if bit > 15 {
                    return None;
                }
                NamedOperand::new(memory(Mode::RegisterBit, register, Width::Word, bit), name)
            }
            6 | 7 => NamedOperand::new(memory(Mode::IndirectBit, address, byte, 0), "[An]"),
            8 | 9 => NamedOperand::new(memory(Mode::IndirectBit, address, byte, self.byte()?), "base:8[An]"),
            10 => NamedOperand::new(memory(Mode::BasedBit, SB, byte, self.byte()?), "bit,base:8[SB/FB]"),
            11 => {
                let bits = self.byte()? as i8 as u32;
                NamedOperand::new(memory(Mode::BasedBit, FB, byte, bits), "bit,base:8[SB/FB]")
            }
            12 | 13 => {
                NamedOperand::new(memory(Mode::IndirectBit, address, byte, self.word()?), "base:16[An]")
            }
            14 => NamedOperand::new(memory(Mode::BasedBit, SB, byte, self.word()?), "bit,base:16[SB]"),
            _ => NamedOperand::new(memory(Mode::AbsoluteBit, 0, byte, self.word()?), "bit,base:16"),
        })
    }

    /// The bit of a short bit instruction: `bit,base:11[SB]`, its byte in the code.
    pub fn bit_sb(&mut self, bit: u32) -> Option<NamedOperand> {
        let bits = self.byte()? << 3 | bit;
        Some(NamedOperand::new(memory(Mode::BasedBit, SB, Width::Byte, bits), "bit,base:11[SB]"))
    }

    /// Location of an indirect jump's target: as many bytes as `width` (a word, or three bytes of a
    /// long).
    pub fn jump_source(&mut self, field: u32, width: Width) -> Option<NamedOperand> {
        let address = address_register(field);
        Some(match (field, width) {
            (0..=5, Width::Word) => self.operand(field, width)?,
            (0, _) => NamedOperand::new(Operand::pair(0), "Rn"),
            (1, _) => NamedOperand::new(Operand::pair(1), "Rn"),
            (4, _) => NamedOperand::new(Operand::pair(A0), "An"),
            (2 | 3 | 5, _) => return None,
            (12 | 13, _) => {
                NamedOperand::new(memory(Mode::FarBased, address, width, self.address()?), "dsp:20[An]")
            }
            _ => self.memory(field, width)?,
        })
    }

    /// A control register by its three bits.
    pub fn control(&self, field: u32) -> Option<NamedOperand> {
        let operand =
            Operand { mode: Mode::Control, register: field as u8 & 7, width: Width::Word, value: 0 };
        (field & 7 != 0).then_some(NamedOperand::new(operand, "creg"))
    }
}
