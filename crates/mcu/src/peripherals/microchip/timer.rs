//! An 8-bit or 16-bit timer of an ATmega328P: normal and clear-on-compare (CTC) modes.
//!
//! ATmega328P data sheet DS40002061, chapters 15 (timer 0), 16 (timer 1), 17 (prescaler), 18 (timer 2). The prescaler
//! runs from reset on. A write takes effect in the cycle after the instruction began, a read sees the count as it
//! was then. Not modelled, and faults: PWM modes, pins (compare outputs, external clock, input capture), the
//! asynchronous clock of timer 2.

use crate::{Context, Events, Fault, Peripheral, PeripheralSpec, ResetCause};
use std::ops::Range;

/// Width of the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Timers 0 and 2: TCCRA, TCCRB, TCNT, OCRA, OCRB in a row.
    Eight,
    /// Timer 1: TCCRA, TCCRB, TCCRC, -, TCNTL, TCNTH, ICRL, ICRH, OCRAL, OCRAH, OCRBL, OCRBH in a row.
    Sixteen,
}

/// Bits of TIFR; TOIE, OCIEA and OCIEB of TIMSK are at the same places.
const TOV: u8 = 1;
const OCFA: u8 = 2;
const OCFB: u8 = 4;

/// Registers, however wide.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Register {
    ControlA,
    ControlB,
    Count,
    CompareA,
    CompareB,
    Mask,
    Flags,
    Other,
}

/// One timer.
#[derive(Clone)]
pub struct Timer {
    name: String,
    base: u32,
    width: Width,
    mask_address: u32,
    flags_address: u32,
    /// Overflow, compare A, compare B.
    irqs: [u8; 3],
    /// Divisors by clock select, as powers of two; 0 stops, 1 to 5 or 7.
    divisors: &'static [Option<u32>],
    control_a: u8,
    control_b: u8,
    compare: [u16; 2],
    mask: u8,
    flags: u8,
    /// Flags that the converter listens to.
    subscribed: u8,
    /// High byte in transit (16-bit registers).
    temporary: u8,
    /// The count after all ticks up to cycle `at`.
    count: u16,
    at: u64,
    /// The cycle of the reset that the prescaler counts from.
    origin: u64,
    /// What [`Peripheral::due`] tells; counting alone does not move it.
    due: Option<u64>,
}

/// Clock select of timers 0 and 1: tables 15-9 and 16-5. Off, and 1 to 1024 as powers of two.
const PRESCALER: [Option<u32>; 6] = [None, Some(0), Some(3), Some(6), Some(8), Some(10)];
/// Clock select of timer 2: table 18-9.
const PRESCALER_2: [Option<u32>; 8] = [None, Some(0), Some(3), Some(5), Some(6), Some(7), Some(8), Some(10)];

impl Timer {
    /// TCCRA at `spec.base`; `spec.irq` is the vector of compare A, followed by compare B and, unless the setting `overflow` has
    /// it, overflow. Settings `timsk`, `tifr`: addresses; `timer2` = 1: the clock select of timer 2.
    #[must_use]
    pub fn new(spec: &PeripheralSpec, width: Width) -> Timer {
        let setting = |name: &str| spec.settings.get(name).copied().unwrap_or(0);
        let irq = spec.irq.unwrap_or(0);
        Timer {
            name: spec.name.clone(),
            base: spec.base,
            width,
            mask_address: setting("timsk") as u32,
            flags_address: setting("tifr") as u32,
            irqs: [spec.settings.get("overflow").map_or(irq + 2, |vector| *vector as u8), irq, irq + 1],
            divisors: if setting("timer2") == 1 { &PRESCALER_2 } else { &PRESCALER },
            control_a: 0,
            control_b: 0,
            compare: [0; 2],
            mask: 0,
            flags: 0,
            subscribed: 0,
            temporary: 0,
            count: 0,
            at: 0,
            origin: 0,
            due: None,
        }
    }

    fn fault(&self, address: u32, context: &Context<'_, '_>, what: &str) -> Fault {
        Fault::Peripheral { pc: context.pc, address, device: self.name.clone(), what: what.into() }
    }

    /// The register at an address, and which byte of it.
    fn register(&self, address: u32) -> (Register, usize) {
        if address == self.mask_address {
            return (Register::Mask, 0);
        }
        if address == self.flags_address {
            return (Register::Flags, 0);
        }
        let offset = (address - self.base) as usize;
        match (self.width, offset) {
            (_, 0) => (Register::ControlA, 0),
            (_, 1) => (Register::ControlB, 0),
            (Width::Eight, 2) => (Register::Count, 0),
            (Width::Eight, 3) => (Register::CompareA, 0),
            (Width::Eight, 4) => (Register::CompareB, 0),
            (Width::Sixteen, 4 | 5) => (Register::Count, offset - 4),
            (Width::Sixteen, 8 | 9) => (Register::CompareA, offset - 8),
            (Width::Sixteen, 10 | 11) => (Register::CompareB, offset - 10),
            _ => (Register::Other, 0),
        }
    }

    fn max(&self) -> u16 {
        match self.width {
            Width::Eight => 0xFF,
            Width::Sixteen => 0xFFFF,
        }
    }

    fn clears_on_compare(&self) -> bool {
        match self.width {
            Width::Eight => self.control_a & 3 == 2,
            Width::Sixteen => self.control_b & 0x18 == 0x08,
        }
    }

    /// The last count before zero comes, from `count` on: past the compare value the counter runs to its maximum.
    fn last(&self, count: u16) -> u16 {
        if self.clears_on_compare() && count <= self.compare[0] { self.compare[0] } else { self.max() }
    }

    /// The prescaler's divisor as a power of two; none while the timer stands still.
    fn divisor(&self) -> Option<u32> {
        self.divisors[usize::from(self.control_b & 7).min(self.divisors.len() - 1)]
    }

    /// The flag bits and the counts after which each is set.
    fn events(&self) -> [(u8, u16); 3] {
        [(TOV, self.max()), (OCFA, self.compare[0]), (OCFB, self.compare[1])]
    }

    /// Counts up to `now` and sets the flags of what happened on the way. A flag is set by the tick that leaves its
    /// count (figures 15-8 to 15-11).
    fn advance(&mut self, now: u64, events: &mut Events) {
        let now = now.max(self.at);
        let Some(divisor) = self.divisor() else {
            self.at = now;
            return;
        };
        let until = (now - self.origin) >> divisor;
        let mut ticks = until - ((self.at - self.origin) >> divisor);
        self.at = now;
        let before = self.flags;
        while ticks > 0 {
            let last = self.last(self.count);
            let to_zero = u64::from(last - self.count) + 1;
            let steps = ticks.min(to_zero);
            for (flag, count) in self.events() {
                if count >= self.count && u64::from(count - self.count) < steps && count <= last {
                    if self.subscribed & !self.flags & flag != 0 {
                        let tick = until - ticks + u64::from(count - self.count) + 1;
                        events.raise(self.irq(flag), self.origin + (tick << divisor));
                    }
                    self.flags |= flag;
                }
            }
            ticks -= steps;
            self.count = if steps == to_zero { 0 } else { self.count + steps as u16 };
            if steps == to_zero && ticks > 0 {
                // From zero every period is like the next: the first one sets what there is to set.
                let period = u64::from(self.last(0)) + 1;
                ticks = ticks.min(ticks % period + period);
            }
        }
        if self.flags != before {
            self.plan();
        }
    }

    /// Finds anew when it is due, after anything but counting.
    fn plan(&mut self) {
        let wanted = (self.mask | self.subscribed) & !self.flags;
        self.due = self.divisor().filter(|_| wanted != 0).and_then(|divisor| {
            let events = self.events().into_iter().filter(|(flag, _)| wanted & flag != 0);
            let ticks = events.filter_map(|(_, count)| self.ticks_until(count)).min()?;
            Some(self.origin + ((((self.at - self.origin) >> divisor) + ticks) << divisor))
        });
    }

    fn irq(&self, flag: u8) -> u8 {
        self.irqs[flag.trailing_zeros() as usize]
    }

    fn request(&self, context: &mut Context<'_, '_>) {
        for (flag, irq) in [TOV, OCFA, OCFB].into_iter().zip(self.irqs) {
            if self.flags & self.mask & flag != 0 {
                context.request(irq);
            } else {
                context.withdraw(irq);
            }
        }
    }

    /// Ticks until the one that leaves `count`, if it is ever reached.
    fn ticks_until(&self, count: u16) -> Option<u64> {
        let last = self.last(self.count);
        if (self.count..=last).contains(&count) {
            return Some(u64::from(count - self.count) + 1);
        }
        (count <= self.last(0)).then(|| u64::from(last - self.count) + 1 + u64::from(count) + 1)
    }

    fn set_byte(&mut self, which: Register, byte: usize, value: u8) {
        let value = match (self.width, byte) {
            (Width::Eight, _) => value.into(),
            (Width::Sixteen, 0) => u16::from(self.temporary) << 8 | u16::from(value),
            (Width::Sixteen, _) => {
                self.temporary = value;
                return;
            }
        };
        match which {
            Register::CompareA => self.compare[0] = value,
            Register::CompareB => self.compare[1] = value,
            _ => self.count = value,
        }
    }
}

impl Peripheral for Timer {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        let length = match self.width {
            Width::Eight => 5,
            Width::Sixteen => 12,
        };
        let (mask, flags) = (self.mask_address, self.flags_address);
        vec![self.base..self.base + length, mask..mask + 1, flags..flags + 1]
    }

    fn read(&mut self, address: u32, _size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context.now, context.events);
        let (register, byte) = self.register(address);
        let value = match register {
            Register::ControlA => self.control_a,
            Register::ControlB => self.control_b,
            Register::Mask => self.mask,
            Register::Flags => self.flags,
            Register::Count if byte == 0 => {
                self.temporary = (self.count >> 8) as u8;
                self.count as u8
            }
            Register::Count => self.temporary,
            Register::CompareA => (self.compare[0] >> (8 * byte)) as u8,
            Register::CompareB => (self.compare[1] >> (8 * byte)) as u8,
            Register::Other => return Err(self.fault(address, context, "no such register is modelled")),
        };
        self.request(context);
        Ok(value.into())
    }

    fn write(
        &mut self,
        address: u32,
        _size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.advance(context.now + 1, context.events);
        let value = value as u8;
        let (register, byte) = self.register(address);
        let eight = self.width == Width::Eight;
        match register {
            Register::ControlA if value & 0xF0 != 0 => {
                return Err(self.fault(address, context, "compare outputs (COM) are not modelled"));
            }
            Register::ControlA if value & 1 != 0 || !eight && value & 3 != 0 => {
                return Err(self.fault(address, context, "PWM modes (WGM) are not modelled"));
            }
            Register::ControlA => self.control_a = value,
            Register::ControlB if value & if eight { 0xC8 } else { 0xD0 } != 0 => {
                let what = "forced compare, input capture and PWM modes (WGM) are not modelled";
                return Err(self.fault(address, context, what));
            }
            Register::ControlB if usize::from(value & 7) >= self.divisors.len() => {
                return Err(self.fault(address, context, "an external clock is not modelled"));
            }
            Register::ControlB => self.control_b = value,
            Register::Mask if value & !7 != 0 => {
                return Err(self.fault(address, context, "input capture is not modelled"));
            }
            Register::Mask => self.mask = value,
            Register::Flags => self.flags &= !value,
            Register::Count | Register::CompareA | Register::CompareB => self.set_byte(register, byte, value),
            Register::Other => return Err(self.fault(address, context, "no such register is modelled")),
        }
        self.plan();
        self.request(context);
        Ok(())
    }

    fn write_bit(
        &mut self,
        address: u32,
        bit: u8,
        on: bool,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        // SBI clears that flag alone (DS40002061, "About Code Examples"); CBI writes a zero, which does nothing.
        if address == self.flags_address {
            return self.write(address, 1, u32::from(on) << bit, context);
        }
        let value = self.read(address, 1, context)? & !(1 << bit) | u32::from(on) << bit;
        self.write(address, 1, value, context)
    }

    fn due(&self) -> Option<u64> {
        self.due
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context.now, context.events);
        self.request(context);
    }

    fn subscribed(&mut self, vectors: u128, to_set: bool, context: &mut Context<'_, '_>) {
        self.subscribed = 0;
        for flag in [TOV, OCFA, OCFB] {
            let irq = self.irq(flag);
            if vectors >> irq & 1 == 1 {
                self.subscribed |= flag;
                if to_set && self.flags & flag != 0 {
                    context.events.raise(irq, context.now);
                }
            }
        }
        self.plan();
    }

    fn clock_needed(&self) -> Option<&'static str> {
        self.divisor().map(|_| "clkI/O")
    }

    fn interrupts(&self) -> u128 {
        self.irqs.iter().fold(0, |all, irq| all | 1 << irq)
    }

    fn taken(&mut self, irq: u8) {
        for (flag, own) in [TOV, OCFA, OCFB].into_iter().zip(self.irqs) {
            if own == irq {
                self.flags &= !flag;
                self.plan();
            }
        }
    }

    fn reset(&mut self) {
        self.control_a = 0;
        self.control_b = 0;
        self.compare = [0; 2];
        self.mask = 0;
        self.flags = 0;
        self.subscribed = 0;
        self.temporary = 0;
        self.count = 0;
        self.at = 0;
        self.origin = 0;
        self.due = None;
    }

    fn reset_by(&mut self, _cause: ResetCause, now: u64) {
        self.reset();
        self.at = now;
        self.origin = now;
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
