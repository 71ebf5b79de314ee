//! DSP extension (DDI 0403E, chapter A7).
//!
//! It has saturation, parallel additions and multiplications of halfwords.

use super::arithmetic::{absolute_differences, half, parallel, saturate_signed, saturate_unsigned};
use super::op::{Op, Opcode};
use super::registers::State;

impl State {
    /// The DSP instructions without a multiplication.
    pub(super) fn dsp(&mut self, kind: Opcode, op: &Op) {
        let (n, m) = (self.r[usize::from(op.n & 15)], self.r[usize::from(op.m & 15)]);
        let rotated = m.rotate_right(op.imm);
        // The bytes 0 and 2, extended into halfwords.
        let low = rotated as i8 as u32;
        let high = (rotated >> 16) as i8 as u32;
        let halves = |bottom: u32, top: u32| bottom & 0xffff | top << 16;
        let sum =
            |first: u32, second: u32| saturate_signed(i64::from(first as i32) + i64::from(second as i32), 32);
        let difference =
            |first: u32, second: u32| saturate_signed(i64::from(first as i32) - i64::from(second as i32), 32);
        let mut q = false;
        let result = match kind {
            Opcode::Sxtb16 => halves(low, high),
            Opcode::Sxtab16 => halves(n.wrapping_add(low), (n >> 16).wrapping_add(high)),
            Opcode::Uxtab16 => {
                halves(n.wrapping_add(rotated & 0xff), (n >> 16).wrapping_add(rotated >> 16 & 0xff))
            }
            Opcode::Sel => {
                let mask = (0..4)
                    .filter(|byte| self.ge >> byte & 1 != 0)
                    .map(|byte| 0xffu32 << (byte * 8))
                    .sum::<u32>();
                n & mask | m & !mask
            }
            Opcode::Ssat | Opcode::Usat => {
                let by = op.imm & 31;
                let value = if op.imm < 32 { ((n as i32) << by) as i64 } else { i64::from(n as i32 >> by) };
                if kind == Opcode::Ssat {
                    let (value, changed) = saturate_signed(value, u32::from(op.a));
                    q = changed;
                    value as u32
                } else {
                    let (value, changed) = saturate_unsigned(value, u32::from(op.a));
                    q = changed;
                    value
                }
            }
            Opcode::Sat16 => {
                let mut lane = |value: i32| {
                    let (value, changed) = if op.imm == 0 {
                        let (value, changed) = saturate_signed(i64::from(value), u32::from(op.a));
                        (value as u32, changed)
                    } else {
                        saturate_unsigned(i64::from(value), u32::from(op.a))
                    };
                    q |= changed;
                    value
                };
                let bottom = lane(half(n, false));
                halves(bottom, lane(half(n, true)))
            }
            Opcode::Qadd | Opcode::Qsub | Opcode::Qdadd | Opcode::Qdsub => {
                let (second, doubled) =
                    if matches!(kind, Opcode::Qdadd | Opcode::Qdsub) { sum(n, n) } else { (n as i32, false) };
                let add = matches!(kind, Opcode::Qadd | Opcode::Qdadd);
                let (value, changed) = if add { sum(m, second as u32) } else { difference(m, second as u32) };
                q = doubled || changed;
                value as u32
            }
            Opcode::Usad8 => absolute_differences(n, m),
            Opcode::Usada8 => absolute_differences(n, m).wrapping_add(self.r[usize::from(op.a & 15)]),
            _ => {
                let (value, ge) = parallel(op.imm, op.a, n, m);
                self.ge = ge.unwrap_or(self.ge);
                value
            }
        };
        self.q |= q;
        self.r[usize::from(op.d & 15)] = result;
    }

    /// The DSP multiplications (DDI 0403E, A7.7: SMLABB and its kin).
    pub(super) fn dsp_multiply(&mut self, kind: Opcode, op: &Op) {
        let (n, m) = (self.r[usize::from(op.n & 15)], self.r[usize::from(op.m & 15)]);
        let accumulator = self.r[usize::from(op.a & 15)];
        let before = (u64::from(accumulator) << 32 | u64::from(self.r[usize::from(op.d & 15)])) as i64;
        let flag = op.imm & 1 != 0;
        let crossed = if flag { m.rotate_right(16) } else { m };
        let bottom = i64::from(half(n, false)) * i64::from(half(crossed, false));
        let top = i64::from(half(n, true)) * i64::from(half(crossed, true));
        let halves = i64::from(half(n, op.imm & 2 != 0)) * i64::from(half(m, flag));
        let word = (i64::from(n as i32) * i64::from(half(m, flag))) >> 16;
        let wide = i64::from(n as i32) * i64::from(m as i32);
        let round = if flag { 0x8000_0000 } else { 0 };
        let added = i64::from(accumulator as i32);
        let upper = added << 32;
        // Those with a 64-bit result.
        let long = match kind {
            Opcode::Smlalxy => Some(before.wrapping_add(halves)),
            Opcode::Smlald => Some(before.wrapping_add(bottom + top)),
            Opcode::Smlsld => Some(before.wrapping_add(bottom - top)),
            _ => None,
        };
        if let Some(value) = long {
            self.r[usize::from(op.d & 15)] = value as u32;
            self.r[usize::from(op.a & 15)] = (value >> 32) as u32;
            return;
        }
        // The exact value, and whether Q tells of its not fitting.
        let (value, sticky) = match kind {
            Opcode::Smulxy => (halves, false),
            Opcode::Smlaxy => (halves + added, true),
            Opcode::Smulwy => (word, false),
            Opcode::Smlawy => (word + added, true),
            Opcode::Smuad => (bottom + top, true),
            Opcode::Smlad => (bottom + top + added, true),
            Opcode::Smusd => (bottom - top, false),
            Opcode::Smlsd => (bottom - top + added, true),
            Opcode::Smmul => ((wide + round) >> 32, false),
            Opcode::Smmla => ((upper.wrapping_add(wide).wrapping_add(round)) >> 32, false),
            _ => ((upper.wrapping_sub(wide).wrapping_add(round)) >> 32, false),
        };
        self.q |= sticky && i64::from(value as i32) != value;
        self.r[usize::from(op.d & 15)] = value as u32;
    }
}
