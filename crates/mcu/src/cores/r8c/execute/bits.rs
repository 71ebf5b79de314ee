//! Single bits.

use super::super::operation::{Mode, Op, Opcode, Operand, Width};
use super::super::registers::{C, R8c, Z};
use crate::machine::Machine;
use crate::{Fault, Observer};

impl Machine<R8c> {
    /// The byte that a bit of memory is in, and the bit's number there.
    ///
    /// The register of `[An]` and `base[An]` counts bits from the base, the displacement of the
    /// others counts bits, too (section 2.5, "Bit Instruction Addressing").
    fn bit_place(&self, operand: &Operand) -> (u32, u32) {
        let register = u32::from(self.core.registers[usize::from(operand.register & 7)]);
        match operand.mode {
            Mode::BasedBit => {
                let bytes = operand.value as i32 >> 3;
                (register.wrapping_add_signed(bytes) & 0xffff, operand.value & 7)
            }
            Mode::IndirectBit => (operand.value.wrapping_add(register >> 3) & 0xffff, register & 7),
            _ => (operand.value >> 3, operand.value & 7),
        }
    }

    /// An instruction on one bit.
    pub fn bit<O: Observer>(&mut self, observer: &mut O, pc: u32, op: &Op) -> Result<(), Fault> {
        let in_register = op.destination.mode == Mode::RegisterBit;
        let (address, number) =
            if in_register { (0, op.destination.value & 15) } else { self.bit_place(&op.destination) };
        let before = if in_register {
            u32::from(self.core.registers[usize::from(op.destination.register & 7)])
        } else {
            self.read(observer, pc, address, Width::Byte)?
        };
        let bit = before >> number & 1 != 0;
        let carry = self.core.flg & C != 0;
        let after = match op.kind {
            Opcode::Bset | Opcode::Btsts => Some(true),
            Opcode::Bclr | Opcode::Btstc => Some(false),
            Opcode::Bnot => Some(!bit),
            Opcode::Bm => Some(self.holds(op.extra)),
            _ => None,
        };
        match op.kind {
            Opcode::Btst | Opcode::Btstc | Opcode::Btsts => {
                self.set_flag(Z, !bit);
                self.set_flag(C, bit);
            }
            Opcode::Bntst => {
                self.set_flag(Z, !bit);
                self.set_flag(C, !bit);
            }
            Opcode::Band => self.set_flag(C, carry && bit),
            Opcode::Bnand => self.set_flag(C, carry && !bit),
            Opcode::Bor => self.set_flag(C, carry || bit),
            Opcode::Bnor => self.set_flag(C, carry || !bit),
            Opcode::Bxor => self.set_flag(C, carry != bit),
            Opcode::Bnxor => self.set_flag(C, carry == bit),
            _ => {}
        }
        let Some(after) = after else { return Ok(()) };
        let value = before & !(1 << number) | u32::from(after) << number;
        if in_register {
            self.core.registers[usize::from(op.destination.register & 7)] = value as u16;
            Ok(())
        } else {
            self.write(observer, pc, address, Width::Byte, value)
        }
    }
}
