//! Decoding of words in memory to [`Op`].
//!
//! An operation has everything about an instruction that does not depend on register contents.
//!
//! Encodings: SLAU208, chapter CPUX, sections "MSP430 and MSP430X Instructions" and "Extended
//! Instruction Binary Descriptions".

use super::op::{INDEX_HIGH, OF_SP};
pub use super::op::{Op, Opcode, Operand, UNKNOWN, Width, indexed16};
use super::timing::{self, Destination, Mode};

/// The extension word before an MSP430X instruction.
#[derive(Clone, Copy)]
struct Extension(u16);

impl Extension {
    /// Bits 19:16 of the source's value, address or index.
    fn source_high(self) -> u32 {
        u32::from(self.0 >> 7 & 15) << 16
    }
    /// Bits 19:16 of the destination's address or index.
    fn destination_high(self) -> u32 {
        u32::from(self.0 & 15) << 16
    }
    /// The two fields are the same: it does not matter which one is meant.
    fn is_plain(self) -> bool {
        self.source_high() == self.destination_high()
    }
    /// `A/L = 0`: 20 bits.
    fn address(self) -> bool {
        self.0 & 0x40 == 0
    }
}

/// An operand as decoding finds it.
struct Found {
    operand: Operand,
    register: u8,
    value: u32,
    mode: Mode,
}

struct Decoder<F> {
    next: u32,
    fetch: F,
    extension: Option<Extension>,
}

/// Decodes the instruction at `pc`. `fetch` gives the word at an address, `None` where there is no
/// memory. `None` where there is no such instruction.
pub fn decode(pc: u32, fetch: impl FnMut(u32) -> Option<u16>) -> Option<Op> {
    let mut decoder = Decoder { next: pc, fetch, extension: None };
    let mut word = decoder.word()?;
    if word & 0xf800 == 0x1800 {
        decoder.extension = Some(Extension(word));
        // Bits 5:4 are reserved.
        if word & 0x30 != 0 {
            return None;
        }
        word = decoder.word()?;
    }
    let op = match (word >> 12, decoder.extension) {
        (0, None) => decoder.address_instruction(word),
        (1, None) if word >= 0x1400 => decoder.multiple(word),
        (1, None) if word >= 0x1300 => decoder.reti_calla(word),
        (1, _) if word < 0x1300 => decoder.single_operand(word),
        (2 | 3, None) => decoder.jump(word),
        (4.., _) => decoder.double_operand(word),
        _ => None,
    }?;
    Some(Op { length: (decoder.next - pc) as u8, ..op })
}

impl<F: FnMut(u32) -> Option<u16>> Decoder<F> {
    fn word(&mut self) -> Option<u16> {
        let word = (self.fetch)(self.next)?;
        self.next = (self.next + 2) & 0xf_ffff;
        Some(word)
    }

    fn op(&self, kind: Opcode, width: Width) -> Op {
        Op {
            kind,
            width,
            source: Operand::Value,
            source_register: 0,
            source_value: 0,
            destination: Operand::Register,
            destination_register: 0,
            destination_value: 0,
            cycles: 0,
            length: 0,
            source_cycle: 0,
            count: 0,
            count_register: 0,
            zero_carry: false,
        }
    }

    /// An instruction of which it is not known what it does.
    fn unknown(&self, reason: u32) -> Op {
        Op { source_value: reason, ..self.op(Opcode::Unknown, Width::Word) }
    }

    /// The address that an index in the next word gives relative to the program counter, which
    /// points to that word.
    fn symbolic(&mut self, high: u32) -> Option<u32> {
        let here = self.next;
        let index = self.word()?;
        Some(if self.extension.is_some() {
            (here + (high | u32::from(index))) & 0xf_ffff
        } else {
            indexed16(here, sign_extend(index))
        })
    }

    /// The index in the next word: 20 bits with an extension word, else 16 bits sign-extended.
    fn index(&mut self, high: u32) -> Option<(Operand, u32)> {
        let index = self.word()?;
        Some(if self.extension.is_some() {
            (Operand::Indexed20, high | u32::from(index))
        } else {
            (Operand::Indexed16, sign_extend(index))
        })
    }

    /// A source whose bits 19:16, where the instruction is extended, are `high`.
    fn source(&mut self, register: u8, mode: u16, high: u32) -> Option<Found> {
        let found = |operand, value, mode| Some(Found { operand, register, value, mode });
        match (register, mode) {
            (0, 0) => found(Operand::Value, self.next, Mode::Register),
            (0, 1) => found(Operand::At, self.symbolic(high)?, Mode::Symbolic),
            (0, 2) => found(Operand::At, self.next, Mode::Indirect),
            (0, 3) => found(Operand::Value, high | u32::from(self.word()?), Mode::Immediate),
            (2, 1) => found(Operand::At, high | u32::from(self.word()?), Mode::Absolute),
            (2, 2) => found(Operand::Value, 4, Mode::Register),
            (2, 3) => found(Operand::Value, 8, Mode::Register),
            (3, 3) => found(Operand::Value, 0xf_ffff, Mode::Register),
            (3, constant) => found(Operand::Value, u32::from(constant), Mode::Register),
            (_, 0) => found(Operand::Register, 0, Mode::Register),
            (_, 1) => {
                let (operand, value) = self.index(high)?;
                found(operand, value, Mode::Indexed)
            }
            (_, 2) => found(Operand::Indirect, 0, Mode::Indirect),
            _ => found(Operand::Increment, 0, Mode::Increment),
        }
    }

    fn destination(&mut self, register: u8, memory: bool) -> Option<(Operand, u32)> {
        let high = self.extension.map_or(0, Extension::destination_high);
        match (register, memory) {
            (_, false) => Some((Operand::Register, 0)),
            (0, true) => Some((Operand::At, self.symbolic(high)?)),
            (2, true) => Some((Operand::At, high | u32::from(self.word()?))),
            // x(R3): the constant generator is no base.
            (3, true) => None,
            (_, true) => self.index(high),
        }
    }

    /// Width from the B/W bit and the extension word's A/L bit; `None` where reserved.
    fn width(&self, byte: bool) -> Option<Width> {
        match (self.extension.is_some_and(Extension::address), byte) {
            (true, true) => Some(Width::Address),
            (true, false) => None,
            (false, true) => Some(Width::Byte),
            (false, false) => Some(Width::Word),
        }
    }

    /// Takes repetition and ZC out of a register-mode extension word.
    fn repetition(&self, op: &mut Op) -> Option<()> {
        let Some(Extension(word)) = self.extension else { return Some(()) };
        // Bits 10:9 are reserved.
        if word & 0x600 != 0 {
            return None;
        }
        op.zero_carry = word & 0x100 != 0;
        if word & 0x80 != 0 {
            op.count_register = (word & 15) as u8;
            // PC, SR and the constant generator hold no count.
            if matches!(op.count_register, 0 | 2 | 3) {
                return None;
            }
        } else {
            op.count = (word & 15) as u8;
            op.cycles += op.count;
        }
        Some(())
    }

    fn double_operand(&mut self, word: u16) -> Option<Op> {
        const KINDS: [Opcode; 12] = [
            Opcode::Mov,
            Opcode::Add,
            Opcode::Addc,
            Opcode::Subc,
            Opcode::Sub,
            Opcode::Cmp,
            Opcode::Dadd,
            Opcode::Bit,
            Opcode::Bic,
            Opcode::Bis,
            Opcode::Xor,
            Opcode::And,
        ];
        let kind = KINDS[usize::from(word >> 12) - 4];
        let width = self.width(word & 0x40 != 0)?;
        let high = self.extension.map_or(0, Extension::source_high);
        let mut source = self.source((word >> 8 & 15) as u8, word >> 4 & 3, high)?;
        let register = (word & 15) as u8;
        let (destination, value) = self.destination(register, word & 0x80 != 0)?;
        if source.register == 0 && source.mode == Mode::Register {
            // PC is the next instruction's address, the destination's index behind it (openMSP430's
            // RTL; on an MSP430FR5994 by Ghidra's pull request 4120).
            source.value = self.next;
        }
        let to = match (destination, register) {
            (Operand::Register, 0) => Destination::ProgramCounter,
            (Operand::Register, _) => Destination::Register,
            _ => Destination::Memory,
        };
        let cycles = match self.extension {
            None => timing::format_i(kind, source.mode, to),
            Some(_) => timing::extended_format_i(kind, width, source.mode, to),
        };
        let mut op = Op {
            source: source.operand,
            source_register: source.register,
            source_value: if source.operand == Operand::Value {
                source.value & width.mask()
            } else {
                source.value
            },
            source_cycle: self.source_cycle(source.mode),
            destination,
            destination_register: register,
            destination_value: value,
            cycles,
            ..self.op(kind, width)
        };
        if source.mode == Mode::Register && destination == Operand::Register {
            self.repetition(&mut op)?;
        }
        Some(op)
    }

    /// The bus cycle, from 1, in which a source is read: extension word, instruction, index,
    /// operand, one each.
    fn source_cycle(&self, mode: Mode) -> u8 {
        let after = u8::from(self.extension.is_some());
        match mode {
            Mode::Register | Mode::Immediate => 0,
            Mode::Indirect | Mode::Increment => after + 2,
            Mode::Indexed | Mode::Symbolic | Mode::Absolute => after + 3,
        }
    }

    fn single_operand(&mut self, word: u16) -> Option<Op> {
        const KINDS: [Opcode; 6] =
            [Opcode::Rrc, Opcode::Swpb, Opcode::Rra, Opcode::Sxt, Opcode::Push, Opcode::Call];
        let kind = KINDS[usize::from(word >> 7 & 7)];
        let byte = word & 0x40 != 0;
        let width = match kind {
            Opcode::Swpb | Opcode::Sxt if byte => return None,
            // Table 4-12: SWPBX.A and SXTX.A have both A/L and B/W zero.
            Opcode::Swpb | Opcode::Sxt if self.extension.is_some_and(Extension::address) => Width::Address,
            Opcode::Call if byte || self.extension.is_some() => return None,
            _ => self.width(byte)?,
        };
        let register = (word & 15) as u8;
        // SLAU208, figure 4-31: bits 19:16 of a single operand are in 3:0.
        let high = self.extension.map_or(0, Extension::destination_high);
        let found = self.source(register, word >> 4 & 3, high)?;
        let in_place = !matches!(kind, Opcode::Push | Opcode::Call);
        // A constant cannot be rotated in place.
        if in_place && found.mode == Mode::Register && word & 0x30 != 0 {
            return None;
        }
        let cycles = match self.extension {
            None => timing::format_ii(kind, found.mode)?,
            Some(_) => timing::extended_format_ii(kind, width, found.mode, register == 1)?,
        };
        let indexed = found.operand == Operand::Indexed20;
        if indexed && self.extension.is_some_and(|extension| !extension.is_plain()) {
            return Some(self.unknown(INDEX_HIGH));
        }
        let at_sp = matches!(found.operand, Operand::Indirect | Operand::Increment) && register == 1;
        let call_sp = kind == Opcode::Call && found.operand == Operand::Register && register == 1;
        if at_sp && !in_place || call_sp {
            return Some(self.unknown(OF_SP));
        }
        let operand =
            if in_place && found.mode == Mode::Register { Operand::Register } else { found.operand };
        let mut op = Op {
            source: operand,
            source_register: register,
            source_value: if operand == Operand::Value { found.value & width.mask() } else { found.value },
            source_cycle: self.source_cycle(found.mode),
            cycles,
            ..self.op(kind, width)
        };
        if !in_place && register == 1 && matches!(operand, Operand::Indexed16 | Operand::Indexed20) {
            // SP has counted down before the operand is addressed (openMSP430's RTL, MSPSim, the
            // description tried on an MSP430FR5994).
            let pushed = if width == Width::Address { 4 } else { 2 };
            op.source_value = op.source_value.wrapping_sub(pushed);
        }
        if found.mode == Mode::Register {
            self.repetition(&mut op)?;
            // The manual gives no cycles for a repeated PUSHX.
            if !in_place && (op.count, op.count_register) != (0, 0) {
                return None;
            }
        }
        Some(op)
    }

    fn jump(&mut self, word: u16) -> Option<Op> {
        const KINDS: [Opcode; 8] = [
            Opcode::Jne,
            Opcode::Jeq,
            Opcode::Jnc,
            Opcode::Jc,
            Opcode::Jn,
            Opcode::Jge,
            Opcode::Jl,
            Opcode::Jmp,
        ];
        let kind = KINDS[usize::from(word >> 10 & 7)];
        let offset = i32::from((word << 6) as i16 >> 6) * 2;
        Some(Op {
            source_value: self.next.wrapping_add_signed(offset) & 0xf_ffff,
            cycles: timing::JUMP,
            ..self.op(kind, Width::Address)
        })
    }

    fn address_instruction(&mut self, word: u16) -> Option<Op> {
        let first = (word >> 8 & 15) as u8;
        let second = (word & 15) as u8;
        let high = |nibble: u8| u32::from(nibble) << 16;
        let to = if second == 0 { Destination::ProgramCounter } else { Destination::Register };
        let identifier = word >> 4 & 15;
        let mut op = self.op(Opcode::Mov, Width::Address);
        op.source_register = first;
        op.destination_register = second;
        let mode = match identifier {
            4 | 5 => return Some(rotation(op, identifier)),
            0 | 1 => {
                let (operand, mode) = match (first, identifier) {
                    (0, 0) => (Operand::At, Mode::Indirect),
                    (0, _) | (2 | 3, _) => return None,
                    (_, 0) => (Operand::Indirect, Mode::Indirect),
                    _ => (Operand::Increment, Mode::Increment),
                };
                op.source = operand;
                op.source_value = self.next;
                mode
            }
            2 => {
                op.source = Operand::At;
                op.source_value = high(first) | u32::from(self.word()?);
                Mode::Absolute
            }
            3 => {
                let here = self.next;
                let index = sign_extend(self.word()?);
                match first {
                    0 => {
                        op.source = Operand::At;
                        op.source_value = here.wrapping_add(index) & 0xf_ffff;
                        Mode::Symbolic
                    }
                    2 | 3 => return None,
                    _ => {
                        op.source = Operand::Indexed20;
                        op.source_value = index & 0xf_ffff;
                        Mode::Indexed
                    }
                }
            }
            6 | 7 => return self.address_store(op, identifier),
            8..=11 => {
                op.source = Operand::Value;
                op.source_value = high(first) | u32::from(self.word()?);
                Mode::Immediate
            }
            _ => {
                let here = self.next;
                self.address_register(&mut op, here);
                // ADDA and SUBA take the constants 4 and 2 for R2 and R3: not in the manual, but
                // TI's compiler emits it, and it was tried on an MSP430FR5969 (TI E2E 1489338;
                // renode issue 773).
                if let (14 | 15, 2 | 3) = (identifier, first) {
                    (op.source, op.source_value) = (Operand::Value, if first == 2 { 4 } else { 2 });
                }
                Mode::Register
            }
        };
        op.source_cycle = self.source_cycle(mode);
        op.kind = match identifier {
            9 | 13 => Opcode::Cmp,
            10 | 14 => Opcode::Add,
            11 | 15 => Opcode::Sub,
            _ => Opcode::Mov,
        };
        op.cycles = match op.kind {
            Opcode::Mov => timing::mova(mode, to),
            _ => timing::address_arithmetic(mode == Mode::Immediate, second == 0),
        };
        Some(op)
    }

    /// `MOVA` of a register to memory: absolute, symbolic or indexed.
    fn address_store(&mut self, mut op: Op, identifier: u16) -> Option<Op> {
        let register = op.destination_register;
        let here = self.next;
        let value = self.word()?;
        (op.destination, op.destination_value) = match (identifier, register) {
            (6, _) => (Operand::At, u32::from(register) << 16 | u32::from(value)),
            (_, 0) => (Operand::At, here.wrapping_add(sign_extend(value)) & 0xf_ffff),
            (_, 2 | 3) => return None,
            _ => (Operand::Indexed20, sign_extend(value) & 0xf_ffff),
        };
        self.address_register(&mut op, self.next);
        Some(Op { cycles: timing::mova(Mode::Register, Destination::Memory), ..op })
    }

    /// A register as the source of an address instruction; `here` is the program counter as a
    /// source.
    fn address_register(&self, op: &mut Op, here: u32) {
        (op.source, op.source_value) = match op.source_register {
            0 => (Operand::Value, here),
            3 => (Operand::Value, 0),
            _ => (Operand::Register, 0),
        };
    }

    fn multiple(&mut self, word: u16) -> Option<Op> {
        let count = (word >> 4 & 15) as u8 + 1;
        let register = (word & 15) as u8;
        let width = if word & 0x100 == 0 { Width::Address } else { Width::Word };
        let (kind, lowest, highest) = if word & 0x200 == 0 {
            (Opcode::Pushm, register.checked_sub(count - 1)?, register)
        } else {
            (Opcode::Popm, register, register + count - 1)
        };
        // The manual does not say what pushing or popping PC and SP among others does.
        if lowest < 2 || highest > 15 {
            return None;
        }
        let cycles = timing::multiple(width, count);
        let source_value = u32::from(count);
        Some(Op { source_value, destination_register: register, cycles, ..self.op(kind, width) })
    }

    fn reti_calla(&mut self, word: u16) -> Option<Op> {
        if word == 0x1300 {
            return Some(Op { cycles: timing::RETI, ..self.op(Opcode::Reti, Width::Word) });
        }
        let register = (word & 15) as u8;
        let high = u32::from(register) << 16;
        let mut op = self.op(Opcode::Calla, Width::Address);
        op.source_register = register;
        let here = self.next;
        let mode = match word >> 4 & 15 {
            4 => {
                self.address_register(&mut op, here);
                Mode::Register
            }
            5..=7 if matches!(register, 2 | 3) => return None,
            5 => {
                let index = sign_extend(self.word()?);
                if register == 0 {
                    (op.source, op.source_value) = (Operand::At, here.wrapping_add(index) & 0xf_ffff);
                    Mode::Symbolic
                } else {
                    (op.source, op.source_value) = (Operand::Indexed20, index & 0xf_ffff);
                    Mode::Indexed
                }
            }
            6 | 7 if register == 0 => return None,
            6 => {
                op.source = Operand::Indirect;
                Mode::Indirect
            }
            7 => {
                op.source = Operand::Increment;
                Mode::Increment
            }
            8 => {
                (op.source, op.source_value) = (Operand::At, high | u32::from(self.word()?));
                Mode::Absolute
            }
            9 => {
                let index = high | u32::from(self.word()?);
                (op.source, op.source_value) = (Operand::At, (here + index) & 0xf_ffff);
                Mode::Symbolic
            }
            11 => {
                (op.source, op.source_value) = (Operand::Value, high | u32::from(self.word()?));
                Mode::Immediate
            }
            _ => return None,
        };
        op.source_cycle = self.source_cycle(mode);
        op.cycles = timing::calla(mode, register == 1);
        Some(op)
    }
}

/// A rotation by 1 to 4 positions (table "Extended Instruction Binary Descriptions").
fn rotation(op: Op, identifier: u16) -> Op {
    const KINDS: [Opcode; 4] = [Opcode::Rrcm, Opcode::Rram, Opcode::Rlam, Opcode::Rrum];
    let count = (op.source_register >> 2) + 1;
    Op {
        kind: KINDS[usize::from(op.source_register & 3)],
        width: if identifier == 4 { Width::Address } else { Width::Word },
        source_value: u32::from(count),
        cycles: timing::rotate_multiple(count),
        ..op
    }
}

fn sign_extend(word: u16) -> u32 {
    i32::from(word as i16) as u32
}
