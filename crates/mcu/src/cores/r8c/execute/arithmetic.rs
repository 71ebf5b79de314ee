//! Multiplication, division, decimal arithmetic, sign extension.

use super::super::operation::{Mode, Op, Opcode, Operand, Width};
use super::super::registers::{C, O, R8c};
use crate::machine::Machine;
use crate::{Fault, Observer};

/// The value as a signed number.
fn signed(width: Width, value: u32) -> i64 {
    match width {
        Width::Byte => i64::from(value as u8 as i8),
        Width::Word => i64::from(value as u16 as i16),
        Width::Long => i64::from(value as i32),
    }
}

impl Machine<R8c> {
    /// `ABS`; O is set where the value has no positive counterpart.
    pub fn absolute(&mut self, width: Width, value: u32) -> u32 {
        self.set_flag(O, value == width.sign());
        let value = if value & width.sign() != 0 { value.wrapping_neg() & width.mask() } else { value };
        self.set_sz(width, value);
        value
    }

    /// Stores a result of twice the width where an operand of the width is.
    fn store_wide<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        operand: &Operand,
        value: u32,
    ) -> Result<(), Fault> {
        match operand.mode {
            Mode::LowByte => self.core.registers[usize::from(operand.register & 7)] = value as u16,
            Mode::Register => self.set_pair(operand.register, value),
            _ => {
                let address = self.address(operand);
                self.write(observer, pc, address, Width::Word, value & 0xffff)?;
                if operand.width == Width::Word {
                    self.write(observer, pc, (address + 2) & 0xf_ffff, Width::Word, value >> 16)?;
                }
            }
        }
        Ok(())
    }

    /// `MUL`, `MULU`: no flag changes.
    pub fn multiply<O: Observer>(&mut self, observer: &mut O, pc: u32, op: &Op) -> Result<(), Fault> {
        let (source, destination) = self.both(observer, pc, op)?;
        let product = if op.kind == Opcode::Mul {
            (signed(op.width, source) * signed(op.width, destination)) as u32
        } else {
            source * destination
        };
        self.store_wide(observer, pc, &op.destination, product)
    }

    /// `DIV`, `DIVU`, `DIVX`.
    pub fn divide<O: Observer>(&mut self, observer: &mut O, pc: u32, op: &Op) -> Result<(), Fault> {
        let divisor = self.load(observer, pc, &op.source)?;
        let (dividend, wide) = match op.width {
            Width::Byte => (u32::from(self.core.registers[0]), Width::Word),
            _ => (self.pair(0), Width::Long),
        };
        let unsigned = op.kind == Opcode::Divu;
        let (dividend, divisor) = if unsigned {
            (i64::from(dividend), i64::from(divisor))
        } else {
            (signed(wide, dividend), signed(op.width, divisor))
        };
        let result = (divisor != 0).then(|| {
            let (quotient, remainder) = (dividend / divisor, dividend % divisor);
            // DIVX: the remainder has the divisor's sign.
            if op.kind == Opcode::Divx && remainder != 0 && (remainder < 0) != (divisor < 0) {
                (quotient - 1, remainder + divisor)
            } else {
                (quotient, remainder)
            }
        });
        let mask = i64::from(op.width.mask());
        let range = if unsigned { 0..=mask } else { -(mask + 1) / 2..=mask / 2 };
        let result = result.filter(|(quotient, _)| range.contains(quotient));
        self.set_flag(O, result.is_none());
        if let Some((quotient, remainder)) = result {
            if op.width == Width::Byte {
                self.core.registers[0] = quotient as u16 & 0xff | (remainder as u16) << 8;
            } else {
                self.core.registers[0] = quotient as u16;
                self.core.registers[2] = remainder as u16;
            }
        }
        Ok(())
    }

    /// `DADD`, `DADC`, `DSUB`, `DSBB`, digit by digit.
    pub fn decimal<O: Observer>(&mut self, observer: &mut O, pc: u32, op: &Op) -> Result<(), Fault> {
        let (source, destination) = self.both(observer, pc, op)?;
        let subtract = matches!(op.kind, Opcode::Dsub | Opcode::Dsbb);
        let mut carry = match op.kind {
            Opcode::Dadd => 0,
            Opcode::Dsub => 1,
            _ => self.carry(),
        };
        let mut value = 0;
        for shift in (0..8 * op.width.bytes()).step_by(4) {
            let digit = source >> shift & 15;
            let digit = if subtract { 9u32.wrapping_sub(digit) } else { digit };
            let mut sum = (destination >> shift & 15).wrapping_add(digit).wrapping_add(carry);
            carry = u32::from(sum > 9);
            if carry != 0 {
                sum = sum.wrapping_sub(10);
            }
            value |= (sum & 15) << shift;
        }
        self.set_sz(op.width, value);
        self.set_flag(C, carry != 0);
        self.store(observer, pc, &op.destination, value)
    }

    /// `EXTS`.
    pub fn sign_extend<O: Observer>(&mut self, observer: &mut O, pc: u32, op: &Op) -> Result<(), Fault> {
        let before = self.load(observer, pc, &op.destination)?;
        let value = signed(op.width, before) as u32;
        match op.width {
            Width::Byte => self.set_sz(Width::Word, value & 0xffff),
            _ => self.set_sz(Width::Long, value),
        }
        self.store_wide(observer, pc, &op.destination, value)
    }
}
