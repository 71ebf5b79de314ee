//! Instructions that repeat themselves R3 times. With R3 = 0 they do nothing.

use super::super::operation::{A0, A1, Op, Opcode, Width};
use super::super::registers::{ADDRESS_MASK, O, R8c};
use crate::machine::Machine;
use crate::{Fault, Observer};

const COUNT: usize = 3;

impl Machine<R8c> {
    /// Counts one repetition.
    fn repeated(&mut self, op: &Op) {
        self.core.registers[COUNT] = self.core.registers[COUNT].wrapping_sub(1);
        self.cycles += u64::from(op.further);
    }

    /// `SMOVF`, `SMOVB`: from the 20-bit address R1H, A0 to the address A1.
    pub fn copy<O: Observer>(&mut self, observer: &mut O, pc: u32, op: &Op) -> Result<(), Fault> {
        let bytes = op.width.bytes();
        let step = if op.kind == Opcode::Smovf { bytes } else { bytes.wrapping_neg() };
        while self.core.registers[COUNT] != 0 {
            let from = u32::from(self.core.registers[usize::from(A0)])
                | u32::from(self.core.registers[1] >> 8) << 16;
            let to = u32::from(self.core.registers[usize::from(A1)]);
            let value = self.read(observer, pc, from & ADDRESS_MASK, op.width)?;
            self.write(observer, pc, to, op.width, value)?;
            let from = from.wrapping_add(step);
            self.core.registers[usize::from(A0)] = from as u16;
            self.core.registers[1] = self.core.registers[1] & 0xff | (from >> 16 << 8) as u16;
            self.core.registers[usize::from(A1)] = to.wrapping_add(step) as u16;
            self.repeated(op);
        }
        Ok(())
    }

    /// `SSTR`: R0L or R0 to the address A1 and upward.
    pub fn fill<O: Observer>(&mut self, observer: &mut O, pc: u32, op: &Op) -> Result<(), Fault> {
        while self.core.registers[COUNT] != 0 {
            let to = u32::from(self.core.registers[usize::from(A1)]);
            let value = u32::from(self.core.registers[0]);
            self.write(observer, pc, to, op.width, value)?;
            self.core.registers[usize::from(A1)] = (to + op.width.bytes()) as u16;
            self.repeated(op);
        }
        Ok(())
    }

    /// `RMPA`: adds products of what A0 and A1 point at to R0 or R2R0. It ends at an overflow.
    pub fn sum_of_products<O: Observer>(&mut self, observer: &mut O, pc: u32, op: &Op) -> Result<(), Fault> {
        while self.core.registers[COUNT] != 0 {
            let (left, right) =
                (self.core.registers[usize::from(A0)].into(), self.core.registers[usize::from(A1)].into());
            let left = self.read(observer, pc, left, op.width)?;
            let right = self.read(observer, pc, right, op.width)?;
            let overflow = if op.width == Width::Byte {
                let product = i16::from(left as u8 as i8) * i16::from(right as u8 as i8);
                let (sum, overflow) = (self.core.registers[0] as i16).overflowing_add(product);
                self.core.registers[0] = sum as u16;
                overflow
            } else {
                let product = i32::from(left as u16 as i16) * i32::from(right as u16 as i16);
                let (sum, overflow) = (self.pair(0) as i32).overflowing_add(product);
                self.set_pair(0, sum as u32);
                overflow
            };
            for address in [A0, A1] {
                let register = &mut self.core.registers[usize::from(address)];
                *register = register.wrapping_add(op.width.bytes() as u16);
            }
            self.repeated(op);
            self.set_flag(O, overflow);
            if overflow {
                break;
            }
        }
        Ok(())
    }
}
