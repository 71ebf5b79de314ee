//! The 32-bit hardware multiplier MPY32.
//!
//! Source: SLAU208, chapter "32-Bit Hardware Multiplier (MPY32)"; the same chapter stands in
//! SLAU367P, whose table numbers are used here. Of its availability tables the fractional one (5-5)
//! was read; the plain one (5-1) is taken as equal to it, and the saturated one (5-6) could not be
//! had: the manual's examples stand for it.
//!
//! The multiplier works beside the core: a result register that is read before its time holds an
//! intermediate value that the manual does not define. That is a mistake in the firmware, and the
//! model stops there with a fault. Time is counted from the bus cycle of the write to the bus cycle
//! of the read, which gives the manual's rule that a 16×16-bit result is there for the next
//! instruction, except for one that reads it in indirect mode.
//!
//! Further faults, where the manual defines nothing or warns: `RES2`, `RES3` after a 16×16-bit
//! accumulation; an accumulation that starts before the one before it is complete; `OP2H` without
//! `OP2L`; an unsigned result that saturation would change.
//!
//! With `MPYDLYWRTEN` a write waits until the result of the multiplication under way is there: all
//! 64 bits of it, or with `MPYDLY32` its lower 32. The core is taken to wait with it, as the manual
//! names no buffer.

use crate::{Context, Fault, Peripheral, PeripheralSpec, Spec};

/// MCLK cycles from a write until `RES0`, `RES1`, `RES2`, `RES3`, `MPYC` are there; 0 where the
/// write does not count.
type Availability = [u64; 5];

/// One row of the tables: after `OP2` or `OP2L`, and after `OP2H`.
struct AvailabilityRow {
    low: Availability,
    high: Availability,
}

/// Tables 5-1 and 5-5, without saturation; rows: 8/16 × 8/16, 24/32 × 8/16, 8/16 × 24/32, 24/32 ×
/// 24/32.
const AVAILABLE: [AvailabilityRow; 4] = [
    AvailabilityRow { low: [3, 3, 4, 4, 3], high: [0; 5] },
    AvailabilityRow { low: [3, 5, 6, 7, 7], high: [0; 5] },
    AvailabilityRow { low: [3, 5, 6, 7, 7], high: [0, 3, 4, 4, 4] },
    AvailabilityRow { low: [3, 8, 10, 11, 11], high: [0, 3, 5, 6, 6] },
];

/// With saturation nothing is there before all is; `RES2` and `RES3` do not apply to 16×16 bits.
/// Table 5-6 could not be had: these figures follow from the manual's examples ("Putting It All
/// Together"). After a 16×16-bit operation `MOV &RES0` follows at once. After 32×24 bits "5 NOPs
/// required" stands before `MOV &RES0`, whose read is its third cycle: 12 after `OP2L`, one more
/// than `RES3` alone takes. The other 32-bit figures are taken to need that one more, too.
const AVAILABLE_SATURATED: [AvailabilityRow; 4] = [
    AvailabilityRow { low: [3, 3, 3, 3, 3], high: [0; 5] },
    AvailabilityRow { low: [8; 5], high: [0; 5] },
    AvailabilityRow { low: [8; 5], high: [5; 5] },
    AvailabilityRow { low: [12; 5], high: [7; 5] },
];

/// Offsets of the registers.
const MACS: u32 = 0x06;
const OP2: u32 = 0x08;
const RESLO: u32 = 0x0a;
const RESHI: u32 = 0x0c;
const SUMEXT: u32 = 0x0e;
const MPY32L: u32 = 0x10;
const MACS32H: u32 = 0x1e;
const OP2L: u32 = 0x20;
const OP2H: u32 = 0x22;
const RES0: u32 = 0x24;
const RES3: u32 = 0x2a;
/// After the last, `MPY32CTL0` at 0x2c.
const END: u32 = 0x2e;

/// `RES2` and `RES3`, in `undefined`.
const HIGH_WORDS: u8 = 0b1100;

/// Bits of `MPY32CTL0`.
const MPYDLY32: u32 = 0x200;
const MPYDLYWRTEN: u32 = 0x100;
const MPYOP2_32: u32 = 0x80;
const MPYOP1_32: u32 = 0x40;
const MPYSAT: u32 = 0x08;
const MPYFRAC: u32 = 0x04;
const MPYC: u32 = 0x01;

/// Kind of multiplication, `MPYMx`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Operation {
    signed: bool,
    accumulate: bool,
}

impl Operation {
    fn from_bits(bits: u32) -> Operation {
        Operation { signed: bits & 1 != 0, accumulate: bits & 2 != 0 }
    }

    fn bits(self) -> u32 {
        u32::from(self.signed) | u32::from(self.accumulate) << 1
    }
}

/// A multiplication under way or done.
#[derive(Clone, Copy, Debug, Default)]
struct Started {
    /// When `OP2` or `OP2L` was written.
    low: u64,
    /// When `OP2H` was written; `None` while it is awaited.
    high: Option<u64>,
    /// It needs an `OP2H`.
    needs_high: bool,
    /// Row of the tables.
    row: usize,
    /// The result registers before it.
    accumulator: u64,
}

/// MPY32.
#[derive(Clone, Debug)]
pub struct Mpy32 {
    name: String,
    base: u32,
    operation: Operation,
    op1: u32,
    op1_is_32: bool,
    op2: u32,
    op2_is_32: bool,
    /// `RES3:RES2:RES1:RES0` without saturation and fractional shift.
    result: u64,
    /// A bit per result register that holds nothing defined.
    undefined: u8,
    carry: bool,
    /// `SUMEXT` without fraction.
    sum_extension: u32,
    /// The carry and the most significant bit of the result as it was computed.
    top: u32,
    /// The result is that of a signed operation.
    signed: bool,
    saturate: bool,
    fraction: bool,
    /// The result is one of 32 bits (16×16), or of 64.
    wide: bool,
    started: Option<Started>,
    /// `MPYDLYWRTEN` and `MPYDLY32`.
    delay: u32,
}

impl Mpy32 {
    /// The multiplier with its registers from `spec.base` on.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Mpy32 {
        Mpy32 {
            name: spec.name.clone(),
            base: spec.base,
            operation: Operation::default(),
            op1: 0,
            op1_is_32: false,
            op2: 0,
            op2_is_32: false,
            result: 0,
            undefined: 0,
            carry: false,
            sum_extension: 0,
            top: 0,
            signed: false,
            saturate: false,
            fraction: false,
            wide: false,
            started: None,
            delay: 0,
        }
    }

    /// The cycles that a write waits for the multiplication under way. One that waits for its
    /// `OP2H` holds nothing up.
    fn write_delay(&self, now: u64) -> u64 {
        let waits_for_high = self.started.is_some_and(|started| started.needs_high && started.high.is_none());
        if self.delay & MPYDLYWRTEN == 0 || waits_for_high {
            return 0;
        }
        let results = if self.delay & MPYDLY32 != 0 { 2 } else { 5 };
        let there = (0..results).filter_map(|index| self.ready(index)).max();
        there.unwrap_or(0).saturating_sub(now)
    }

    fn fault(&self, offset: u32, pc: u32, what: String) -> Fault {
        Fault::Peripheral { pc, address: self.base + offset, device: self.name.clone(), what }
    }

    /// When result `index` (`RES0` to `RES3`, then `MPYC`) is there; `None`: not before `OP2H` is
    /// written.
    fn ready(&self, index: usize) -> Option<u64> {
        let Some(started) = self.started else { return Some(0) };
        let row = &if self.saturate { AVAILABLE_SATURATED } else { AVAILABLE }[started.row];
        let low = started.low + row.low[index];
        match started.high {
            // Without OP2H, RES0 comes all the same: it does not depend on it.
            None if started.needs_high && row.high[index] != 0 => None,
            Some(high) if row.high[index] != 0 => Some(low.max(high + row.high[index])),
            _ => Some(low),
        }
    }

    fn require(&self, index: usize, name: &str, offset: u32, context: &Context<'_, '_>) -> Result<(), Fault> {
        match self.ready(index) {
            None => Err(self.fault(offset, context.pc, format!("{name} is read before OP2H is written"))),
            Some(ready) if ready > context.now => {
                let missing = ready - context.now;
                Err(self.fault(
                    offset,
                    context.pc,
                    format!("{name} is read {missing} cycle(s) before it is there"),
                ))
            }
            Some(_) => Ok(()),
        }
    }

    /// Returns true if all of the last multiplication is done.
    fn complete(&self, now: u64) -> bool {
        (0..5).all(|index| self.ready(index).is_some_and(|ready| ready <= now))
    }

    /// Sign or zero extension of an operand of which `bits` were written.
    fn extend(&self, value: u32, bits: u32) -> i128 {
        let shift = 32 - bits;
        if self.operation.signed {
            i128::from((value << shift) as i32 >> shift)
        } else {
            i128::from(value << shift >> shift)
        }
    }

    /// The accumulator as the next accumulation takes it: saturated in saturation mode, as if
    /// without fraction.
    fn saturated_accumulator(&self, accumulator: u64, wide: bool) -> u64 {
        if !self.saturate {
            return accumulator;
        }
        let (top, most) =
            if wide { (accumulator >> 63, u64::MAX >> 1) } else { (accumulator >> 31 & 1, 0x7fff_ffff) };
        match (self.carry, top) {
            (false, 1) => most,
            (true, 0) => most + 1,
            _ => accumulator,
        }
    }

    /// Sets result, carry and sum extension from the operands and the accumulator before.
    fn multiply(&mut self, accumulator: u64) {
        let op1 = self.extend(self.op1, if self.op1_is_32 { 32 } else { 16 });
        let op2 = self.extend(self.op2, if self.op2_is_32 { 32 } else { 16 });
        let wide = self.op1_is_32 || self.op2_is_32;
        let bits = if wide { 64 } else { 32 };
        let mask = (1i128 << bits) - 1;
        let mut sum = op1 * op2;
        if self.operation.accumulate {
            let accumulator = i128::from(self.saturated_accumulator(accumulator, wide)) & mask;
            let negative = self.operation.signed && accumulator >> (bits - 1) & 1 == 1;
            sum += if negative { accumulator - (1 << bits) } else { accumulator };
        }
        self.top = (sum >> (bits - 1) & 3) as u32;
        self.carry = self.top & 2 != 0 && (self.operation.signed || self.operation.accumulate);
        self.signed = self.operation.signed;
        self.sum_extension = if self.signed { (self.top & 1) * 0xffff } else { u32::from(self.carry) };
        self.wide = wide;
        if wide {
            self.result = (sum & mask) as u64;
            self.undefined = 0;
        } else if self.operation.accumulate {
            self.result = self.result & !0xffff_ffff | (sum & mask) as u64;
            self.undefined = HIGH_WORDS;
        } else {
            // The upper words extend the product.
            self.result = sum as u64;
            self.undefined = 0;
        }
    }

    /// The result registers as software reads them.
    fn visible(&self, offset: u32, pc: u32) -> Result<u64, Fault> {
        let bits = if self.wide { 64 } else { 32 };
        let value = if self.wide { self.result } else { self.result & 0xffff_ffff };
        let most = (1u64 << (bits - 1)) - 1;
        if self.saturate {
            let top = value >> (bits - 1) & 1 == 1;
            let next = value >> (bits - 2) & 1 == 1;
            let overflow = !self.carry && (top || self.fraction && next);
            let underflow = self.carry && !(top && (next || !self.fraction));
            if overflow || underflow {
                if !self.signed {
                    let what = "saturation of an unsigned result is not defined".to_string();
                    return Err(self.fault(offset, pc, what));
                }
                return Ok(if overflow { most } else { most + 1 });
            }
        }
        Ok(if self.fraction { value << 1 } else { self.result })
    }

    fn read_result(
        &self,
        index: usize,
        name: &str,
        offset: u32,
        context: &Context<'_, '_>,
    ) -> Result<u32, Fault> {
        self.require(index, name, offset, context)?;
        if index >= 2 && (self.undefined >> index & 1 != 0 || !self.wide && (self.saturate || self.fraction))
        {
            let what = format!("{name} is not defined after this 16x16-bit operation");
            return Err(self.fault(offset, context.pc, what));
        }
        Ok((self.visible(offset, context.pc)? >> (16 * index)) as u32 & 0xffff)
    }

    fn write_result(&mut self, index: usize, value: u32) {
        let shift = 16 * index;
        self.result = self.result & !(0xffff << shift) | u64::from(value) << shift;
        self.undefined &= !(1 << index);
    }

    /// A second operand starts a multiplication.
    fn start(&mut self, offset: u32, wide_op2: bool, context: &Context<'_, '_>) -> Result<(), Fault> {
        let wide = self.op1_is_32 || wide_op2;
        // A 16x16-bit accumulation takes RES0, RES1 and MPYC.
        let taken: &[usize] = if wide { &[0, 1, 2, 3, 4] } else { &[0, 1, 4] };
        let there = |index: &usize| self.ready(*index).is_some_and(|ready| ready <= context.now);
        if self.operation.accumulate && !taken.iter().all(there) {
            let what = "an accumulation starts before the multiplication before it is complete".to_string();
            return Err(self.fault(offset, context.pc, what));
        }
        if self.operation.accumulate && wide && self.undefined != 0 {
            let what =
                "a 64-bit accumulation follows a 16x16-bit one, with RES2 and RES3 undefined".to_string();
            return Err(self.fault(offset, context.pc, what));
        }
        self.op2_is_32 = wide_op2;
        let accumulator = self.result;
        self.started = Some(Started {
            low: context.now,
            high: None,
            needs_high: wide_op2,
            row: usize::from(self.op1_is_32) | usize::from(wide_op2) << 1,
            accumulator,
        });
        let carry = self.carry;
        self.multiply(accumulator);
        if wide_op2 {
            // The saturation of the accumulator looks at the carry before this multiplication, also
            // at OP2H.
            self.carry = carry;
        }
        Ok(())
    }

    /// A byte written to an operand: extended by the multiplier itself.
    fn operand(&self, value: u32, size: u8, signed: bool) -> u32 {
        if size == 1 && signed { value as i8 as u32 & 0xffff } else { value }
    }
}

/// Two bits as a 16-bit two's complement number.
fn sign_extend_2(bits: u32) -> u32 {
    if bits & 2 != 0 { bits | 0xfffc } else { bits }
}

impl Peripheral for Mpy32 {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + END)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = (address - self.base) & !1;
        let word = match offset {
            ..=MACS => self.op1 & 0xffff,
            MPY32L..=MACS32H => self.op1 >> (8 * (offset & 2)) & 0xffff,
            OP2 | OP2L => self.op2 & 0xffff,
            OP2H => self.op2 >> 16,
            RESLO => self.read_result(0, "RESLO", offset, context)?,
            RESHI => self.read_result(1, "RESHI", offset, context)?,
            SUMEXT => {
                self.require(4, "SUMEXT", offset, context)?;
                if self.fraction { sign_extend_2(self.top) } else { self.sum_extension }
            }
            RES0..=RES3 => {
                let index = (offset - RES0) as usize / 2;
                self.read_result(index, ["RES0", "RES1", "RES2", "RES3"][index], offset, context)?
            }
            _ => {
                self.require(4, "MPYC", offset, context)?;
                let flags = [
                    (self.op2_is_32, MPYOP2_32),
                    (self.op1_is_32, MPYOP1_32),
                    (self.saturate, MPYSAT),
                    (self.fraction, MPYFRAC),
                    (self.carry, MPYC),
                ];
                let set = flags.iter().filter(|(set, _)| *set).map(|(_, bit)| bit);
                self.delay | (self.operation.bits() << 4) | set.sum::<u32>()
            }
        };
        Ok(if size == 2 { word } else { word >> (8 * (address & 1)) & 0xff })
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let waited = self.write_delay(context.now);
        *context.stall += waited;
        context.now += waited;
        let written = self.write_register(address, size, value, context);
        context.now -= waited;
        written
    }

    fn reset(&mut self) {
        let spec = PeripheralSpec {
            name: std::mem::take(&mut self.name),
            model: String::new(),
            base: self.base,
            irq: None,
            settings: std::collections::BTreeMap::new(),
            pins: Default::default(),
            stub: false,
        };
        *self = Mpy32::new(&spec);
    }
}

impl Mpy32 {
    /// A write whose time has come.
    fn write_register(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let offset = address - self.base;
        if offset & 1 != 0 {
            return Err(self.fault(offset, context.pc, "a write to an upper byte is not defined".into()));
        }
        match offset {
            ..=MACS => {
                self.operation = Operation::from_bits(offset >> 1);
                self.op1 = self.operand(value, size, self.operation.signed);
                self.op1_is_32 = false;
            }
            MPY32L..=MACS32H if offset & 2 == 0 => {
                self.operation = Operation::from_bits((offset - MPY32L) >> 2);
                self.op1 = self.operand(value, size, self.operation.signed);
                self.op1_is_32 = false;
            }
            MPY32L..=MACS32H => {
                if self.operation != Operation::from_bits((offset - MPY32L) >> 2) {
                    let what = "the high word of another operation than the low word's".to_string();
                    return Err(self.fault(offset, context.pc, what));
                }
                self.op1 = self.op1 & 0xffff | self.operand(value, size, self.operation.signed) << 16;
                self.op1_is_32 = true;
            }
            OP2 => {
                self.op2 = self.operand(value, size, self.operation.signed);
                self.start(offset, false, context)?;
            }
            OP2L => {
                self.op2 = self.operand(value, size, self.operation.signed);
                self.start(offset, true, context)?;
            }
            OP2H => {
                let Some(Started { needs_high: true, high: None, accumulator, .. }) = self.started else {
                    return Err(self.fault(
                        offset,
                        context.pc,
                        "OP2H is written without OP2L before it".into(),
                    ));
                };
                self.op2 = self.op2 & 0xffff | self.operand(value, size, self.operation.signed) << 16;
                self.multiply(accumulator);
                if let Some(started) = &mut self.started {
                    started.high = Some(context.now);
                }
            }
            SUMEXT if context.events.tolerate("a write to SUMEXT, which is read-only") => {}
            SUMEXT => return Err(self.fault(offset, context.pc, "SUMEXT is read-only".into())),
            RESLO | RESHI | RES0..=RES3 => {
                if size != 2 {
                    return Err(self.fault(
                        offset,
                        context.pc,
                        "result registers are written in words".into(),
                    ));
                }
                if !self.complete(context.now) {
                    let what = "a result register is written while a multiplication is under way".to_string();
                    return Err(self.fault(offset, context.pc, what));
                }
                let from = if offset < SUMEXT { RESLO } else { RES0 };
                self.write_result((offset - from) as usize / 2, value);
            }
            _ => {
                if self.started.is_some() && !self.complete(context.now) {
                    let what = "MPY32CTL0 is written while a multiplication is under way".to_string();
                    return Err(self.fault(offset, context.pc, what));
                }
                if size == 2 {
                    self.delay = value & (MPYDLYWRTEN | MPYDLY32);
                }
                self.op2_is_32 = value & MPYOP2_32 != 0;
                self.op1_is_32 = value & MPYOP1_32 != 0;
                self.operation = Operation::from_bits(value >> 4 & 3);
                self.saturate = value & MPYSAT != 0;
                self.fraction = value & MPYFRAC != 0;
                self.carry = value & MPYC != 0;
            }
        }
        Ok(())
    }
}
