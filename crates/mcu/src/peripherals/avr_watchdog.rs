//! The watchdog of an ATmega: switched off, or as a timer that interrupts.
//!
//! ATmega328P data sheet DS40002061, 11.8 and 11.9.2; ATmega128 data sheet 2467, "Watchdog Timer". A watchdog that
//! resets the part is not modelled: the write that would leave it on faults. The oscillator counts at its typical
//! 128 kHz (DS40002061, 11.8; real ones differ by several per cent with supply and temperature).

use crate::{Context, Fault, Peripheral, PeripheralSpec};
use std::ops::Range;

/// Where the core reports the instruction `WDR`: beyond the data space.
pub const WATCHDOG_RESET: u32 = 0x1_0000;

const OSCILLATOR_HZ: u64 = 128_000;

const WDIF: u8 = 0x80;
const WDIE: u8 = 0x40;
const WDCE: u8 = 0x10;
const WDE: u8 = 0x08;
/// WDP3 and WDP2..WDP0.
const PRESCALER: u8 = 0x27;

/// A change of WDE and the prescaler is allowed for four cycles after the write that begins it.
const WINDOW: u64 = 4;

/// The watchdog.
#[derive(Clone)]
pub struct Watchdog {
    name: String,
    base: u32,
    irq: Option<u8>,
    clock_hz: u64,
    control: u8,
    /// Until when WDE and the prescaler may be changed.
    window_end: u64,
    /// When the time runs out, if it counts.
    deadline: Option<u64>,
}

impl Watchdog {
    /// WDTCSR or WDTCR at `spec.base`; with `spec.irq` it can interrupt (ATmega328P).
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Watchdog {
        Watchdog {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            clock_hz: 1,
            control: 0,
            window_end: 0,
            deadline: None,
        }
    }

    fn fault(&self, address: u32, context: &Context<'_, '_>, what: &str) -> Fault {
        Fault::Peripheral { pc: context.pc, address, device: self.name.clone(), what: what.into() }
    }

    /// Cycles of the core clock until the time runs out: 2048 periods of the oscillator, doubled by each step of the
    /// prescaler (table 11-2 of DS40002061).
    fn period(&self) -> u64 {
        let step = self.control & 7 | self.control >> 2 & 8;
        (2048 << step) * self.clock_hz / OSCILLATOR_HZ
    }

    fn restart(&mut self, now: u64) {
        self.deadline = (self.control & WDIE != 0).then(|| now + self.period());
    }
}

impl Peripheral for Watchdog {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        vec![self.base..self.base + 1, WATCHDOG_RESET..WATCHDOG_RESET + 1]
    }

    fn read(&mut self, _address: u32, _size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let changing = if context.now <= self.window_end { WDCE } else { 0 };
        Ok((self.control & !WDCE | self.control & changing).into())
    }

    fn write(
        &mut self,
        address: u32,
        _size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        if address == WATCHDOG_RESET {
            self.restart(context.now);
            return Ok(());
        }
        let value = value as u8;
        if value & WDCE != 0 && value & WDE != 0 {
            self.control |= WDCE | WDE;
            self.window_end = context.now + WINDOW;
            return Ok(());
        }
        let open = self.control & WDCE != 0 && context.now <= self.window_end;
        let was_on = self.control & WDE != 0;
        if value & WDE != 0 || was_on && !open {
            return Err(self.fault(address, context, "a watchdog that resets the part is not modelled"));
        }
        let prescaler = if open { value & PRESCALER } else { self.control & PRESCALER };
        if !open && value & PRESCALER != prescaler {
            return Err(self.fault(
                address,
                context,
                "the prescaler changes only within four cycles of WDCE",
            ));
        }
        if value & WDIE != 0 && self.irq.is_none() {
            return Err(self.fault(address, context, "this part's watchdog has no interrupt"));
        }
        let mut flag = self.control & WDIF;
        if value & WDIF != 0 {
            flag = 0;
        }
        self.control = flag | value & WDIE | prescaler;
        if let Some(irq) = self.irq {
            if self.control & WDIE != 0 && flag != 0 {
                context.request(irq);
            } else {
                context.withdraw(irq);
            }
        }
        self.restart(context.now);
        Ok(())
    }

    fn set_clock(&mut self, clock_hz: u64) {
        self.clock_hz = clock_hz;
    }

    fn due(&self) -> Option<u64> {
        self.deadline
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        let Some(deadline) = self.deadline else { return };
        self.control |= WDIF;
        if let Some(irq) = self.irq {
            context.request(irq);
        }
        self.deadline = Some(deadline + self.period());
    }

    fn taken(&mut self, irq: u8) {
        if self.irq == Some(irq) {
            self.control &= !WDIF;
        }
    }

    fn reset(&mut self) {
        self.control = 0;
        self.window_end = 0;
        self.deadline = None;
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
