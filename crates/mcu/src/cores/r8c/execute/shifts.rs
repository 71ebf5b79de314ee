//! Shifts and rotations.

use super::super::operation::{Op, Opcode, Width};
use super::super::registers::{C, O, R8c};
use crate::machine::Machine;
use crate::{Fault, Observer};

impl Machine<R8c> {
    /// `ROLC`.
    pub fn rotate_left_carry(&mut self, width: Width, value: u32) -> u32 {
        let result = (value << 1 | self.carry()) & width.mask();
        self.set_flag(C, value & width.sign() != 0);
        self.set_sz(width, result);
        result
    }

    /// `RORC`.
    pub fn rotate_right_carry(&mut self, width: Width, value: u32) -> u32 {
        let result = value >> 1 | if self.carry() != 0 { width.sign() } else { 0 };
        self.set_flag(C, value & 1 != 0);
        self.set_sz(width, result);
        result
    }

    /// `ROT`, `SHL`, `SHA`: left for a positive count.
    pub fn shift<O: Observer>(&mut self, observer: &mut O, pc: u32, op: &Op) -> Result<(), Fault> {
        let count = self.load(observer, pc, &op.source)? as u8 as i8;
        let most = if op.width == Width::Byte { 8 } else { 16 };
        if count.unsigned_abs() > most {
            let what =
                format!("a shift by {count} in R1H, of which the manual says that its result is undefined");
            return Err(Fault::Architecture { pc, address: count.unsigned_abs().into(), what });
        }
        self.cycles += u64::from(op.further) * u64::from(count.unsigned_abs());
        if count == 0 {
            return Ok(());
        }
        let before = self.load(observer, pc, &op.destination)?;
        let value = self.shifted(op.kind, op.width, before, count.into());
        self.store(observer, pc, &op.destination, value)
    }

    /// The value shifted by a count other than 0, and the flags.
    fn shifted(&mut self, kind: Opcode, width: Width, before: u32, count: i32) -> u32 {
        let (bits, mask) = (8 * width.bytes(), u64::from(width.mask()));
        let by = count.unsigned_abs();
        let wide = u64::from(before);
        let (value, out) = match (kind, count > 0) {
            (Opcode::Rot, true) => {
                let by = by % bits;
                let value = (wide << by | wide >> (bits - by)) & mask;
                (value, value & 1)
            }
            (Opcode::Rot, false) => {
                let by = by % bits;
                let value = (wide >> by | wide << (bits - by)) & mask;
                (value, value >> (bits - 1))
            }
            (_, true) => (wide << by & mask, wide << by >> bits & 1),
            (Opcode::Sha, false) => {
                // The sign in all upper bits, so that shifting right brings it down.
                let extended = ((wide << (64 - bits)) as i64 >> (64 - bits)) as u64;
                (((extended as i64 >> by) as u64) & mask, (extended as i64 >> (by - 1)) as u64 & 1)
            }
            (_, false) => (wide >> by, wide >> (by - 1) & 1),
        };
        if kind == Opcode::Sha && width != Width::Long {
            // Whether the most significant bit changed on the way: whether the bits that pass it
            // are not all alike.
            let passing = if count > 0 { wide << by >> (bits - 1) & ((2 << by) - 1) } else { 0 };
            self.set_flag(O, passing != 0 && passing != (2 << by) - 1);
        }
        self.set_flag(C, out != 0);
        self.set_sz(width, value as u32);
        value as u32
    }
}
