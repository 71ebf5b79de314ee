//! A timer of the STM32 that counts up: prescaler, auto-reload, update interrupt, one-pulse mode, compare flags.
//!
//! RM0090 section 18.4 (TIM2 to TIM5) and 20.4 (TIM6, TIM7); the other families' are the same. Counting down or both
//! ways, capture, outputs, slave modes and DMA are not modelled. The timer's clock is the bus's, or twice that where the bus is slower
//! than the core (RM0090, section 7.2, and the clock trees of the others); RCC_DCKCFGR.TIMPRE is taken to be zero.

use crate::{Context, Fault, Peripheral, PeripheralSpec};
use std::ops::Range;

/// CR1.
const CEN: u32 = 1 << 0;
const UDIS: u32 = 1 << 1;
const URS: u32 = 1 << 2;
const OPM: u32 = 1 << 3;
const ARPE: u32 = 1 << 7;
/// SR.UIF; DIER.UIE and EGR.UG are at the same place.
const UIF: u32 = 1;

/// The timer.
#[derive(Clone)]
pub struct Timer {
    name: String,
    base: u32,
    irq: Option<u8>,
    mask: u32,
    /// Cycles of the core's clock in one of the timer's.
    clock_divider: u64,
    control: u32,
    enables: u32,
    status: u32,
    compare: [u32; 4],
    /// The prescaler as written, and as in use since the last update.
    prescaler_next: u32,
    prescaler: u32,
    reload_next: u32,
    reload: u32,
    /// The count at `since`.
    count: u32,
    /// The cycle at which the count was `count` and the prescaler zero.
    since: u64,
}

impl Timer {
    /// The timer at `spec.base`, interrupting with `spec.irq`, of `settings.bits` (16 where absent).
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Timer {
        let mask = if spec.settings.get("bits") == Some(&32) { u32::MAX } else { 0xffff };
        let mut timer = Timer {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            mask,
            clock_divider: 1,
            control: 0,
            enables: 0,
            status: 0,
            compare: [0; 4],
            prescaler_next: 0,
            prescaler: 0,
            reload_next: mask,
            reload: mask,
            count: 0,
            since: 0,
        };
        timer.reset();
        timer
    }

    fn running(&self) -> bool {
        self.control & CEN != 0 && self.reload != 0
    }

    fn step(&self) -> u64 {
        (u64::from(self.prescaler) + 1) * self.clock_divider
    }

    /// Returns the cycle at which the count next goes from the reload value to zero.
    fn update_at(&self) -> Option<u64> {
        let left = if self.count <= self.reload {
            u64::from(self.reload - self.count) + 1
        } else {
            // It runs to its end before it meets the reload value.
            u64::from(self.mask - self.count) + 1 + u64::from(self.reload) + 1
        };
        self.running().then(|| self.since + left * self.step())
    }

    /// Brings count, flags and reload up to `now`.
    fn settle(&mut self, now: u64) {
        while let Some(at) = self.update_at() {
            if at > now {
                break;
            }
            self.since = at;
            self.count = 0;
            if self.control & UDIS == 0 {
                self.status |= UIF;
                self.take_over();
            }
            if self.control & OPM != 0 {
                self.control &= !CEN;
            }
        }
        if self.running() {
            let steps = now.saturating_sub(self.since) / self.step();
            self.count = self.count.wrapping_add(steps as u32) & self.mask;
            self.since += steps * self.step();
        } else {
            self.since = now;
        }
    }

    fn take_over(&mut self) {
        self.prescaler = self.prescaler_next;
        self.reload = self.reload_next;
    }

    fn signal(&self, context: &mut Context<'_, '_>) {
        if let Some(irq) = self.irq {
            if self.status & self.enables & UIF != 0 {
                context.request(irq);
            } else {
                context.withdraw(irq);
            }
        }
    }

    fn fault(&self, address: u32, context: &Context<'_, '_>, what: &str) -> Fault {
        Fault::Peripheral { pc: context.pc, address, device: self.name.clone(), what: what.into() }
    }
}

impl Peripheral for Timer {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        std::iter::once(self.base..self.base + 0x400).collect()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.settle(context.now);
        let offset = address - self.base;
        let word = match offset & !3 {
            0x00 => self.control,
            0x0c => self.enables,
            0x10 => self.status,
            0x24 => self.count,
            0x28 => self.prescaler_next,
            0x2c => self.reload_next,
            register @ (0x34 | 0x38 | 0x3c | 0x40) => self.compare[(register as usize - 0x34) / 4],
            _ => return Err(self.fault(address, context, "register not modelled")),
        };
        Ok(super::register::part_of_word(word, offset, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.settle(context.now);
        let offset = address - self.base;
        let merge = |old: u32| super::register::merged_word(old, offset, size, value);
        match offset & !3 {
            0x00 => {
                let control = merge(self.control);
                if control & !(CEN | UDIS | URS | OPM | ARPE) != 0 {
                    return Err(self.fault(address, context, "only counting up is modelled"));
                }
                self.control = control;
                self.since = context.now;
            }
            0x0c => {
                let enables = merge(self.enables);
                if enables & !UIF != 0 {
                    return Err(self.fault(address, context, "only the update interrupt is modelled"));
                }
                self.enables = enables;
            }
            // Flags are cleared by writing zero.
            0x10 => self.status &= merge(u32::MAX),
            0x14 => {
                if merge(0) & UIF != 0 {
                    self.count = 0;
                    self.since = context.now;
                    self.take_over();
                    if self.control & (UDIS | URS) == 0 {
                        self.status |= UIF;
                    }
                }
            }
            0x24 => {
                self.count = merge(self.count) & self.mask;
                self.since = context.now;
            }
            0x28 => self.prescaler_next = merge(self.prescaler_next) & 0xffff,
            0x2c => {
                self.reload_next = merge(self.reload_next) & self.mask;
                if self.control & ARPE == 0 {
                    self.reload = self.reload_next;
                }
            }
            register @ (0x34 | 0x38 | 0x3c | 0x40) => {
                let index = (register as usize - 0x34) / 4;
                self.compare[index] = merge(self.compare[index]) & self.mask;
            }
            _ => return Err(self.fault(address, context, "register not modelled")),
        }
        self.signal(context);
        Ok(())
    }

    fn set_bus_dividers(&mut self, apb1: u64, apb2: u64, now: u64) {
        self.settle(now);
        self.clock_divider = match super::bus::divider(self.base, apb1, apb2) {
            1 => 1,
            divider => divider / 2,
        };
        self.since = now;
    }

    fn due(&self) -> Option<u64> {
        // Once the flag is up, nothing changes until the program looks.
        self.update_at().filter(|_| self.status & UIF == 0 && self.enables & UIF != 0)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.settle(context.now);
        self.signal(context);
    }

    fn reset(&mut self) {
        self.clock_divider = 1;
        self.control = 0;
        self.enables = 0;
        self.status = 0;
        self.compare = [0; 4];
        self.prescaler_next = 0;
        self.prescaler = 0;
        self.reload_next = self.mask;
        self.reload = self.mask;
        self.count = 0;
        self.since = 0;
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
