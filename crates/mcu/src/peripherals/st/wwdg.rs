//! The window watchdog (WWDG) of the STM32.
//!
//! RM0090 section 22, RM0008 section 20; the other families' are the same. It counts 4096 * 2^WDGTB
//! clocks of APB1 down; the prescaler is taken to begin anew with each write of the counter, which
//! gives the times of the manuals' formula: on the part it runs freely, so that they may be up to
//! one count shorter. The counter of a watchdog that is off is not followed.

use crate::peripherals::register::{merged_word, part_of_word};
use crate::{
    ClockUpdate, Context, Fault, Peripheral, PeripheralSpec, ResetCause, Roles, Spec, WatchdogTimer,
};

const CR: u32 = 0x0;
const CFR: u32 = 0x4;
const SR: u32 = 0x8;

/// CR.
const T: u32 = 0x7f;
const T6: u32 = 0x40;
const WDGA: u32 = 0x80;
/// CFR: W, WDGTB, EWI.
const W: u32 = 0x7f;
const EWI: u32 = 1 << 9;
/// SR.
const EWIF: u32 = 1;

/// The registers.
#[derive(Clone)]
pub struct Wwdg {
    name: String,
    base: u32,
    irq: Option<u8>,
    bus_divider: u64,
    on: bool,
    /// The counter as it was written, and when.
    count: u32,
    written: u64,
    /// EWIF has risen since then.
    warned: bool,
    configuration: u32,
    status: u32,
}

impl Wwdg {
    /// WWDG at `spec.base`, interrupting with `spec.irq`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Wwdg {
        Wwdg {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            bus_divider: 1,
            on: false,
            count: T,
            written: 0,
            warned: false,
            configuration: W,
            status: 0,
        }
    }

    /// Core cycles of a count.
    fn step(&self) -> u64 {
        (4096 * self.bus_divider) << (self.configuration >> 7 & 3)
    }

    fn count_at(&self, now: u64) -> u32 {
        let counts = if self.on { now.saturating_sub(self.written) / self.step() } else { 0 };
        self.count.saturating_sub(u32::try_from(counts).unwrap_or(T))
    }

    /// The cycle at which the counter comes to a value below the one that was written.
    fn reaches(&self, value: u32) -> u64 {
        self.written + u64::from(self.count.saturating_sub(value)) * self.step()
    }

    fn signal(&self, context: &mut Context<'_, '_>) {
        let Some(irq) = self.irq else { return };
        if self.status & EWIF != 0 && self.configuration & EWI != 0 {
            context.request(irq);
        } else {
            context.withdraw(irq);
        }
    }

    fn advance(&mut self, context: &mut Context<'_, '_>) {
        if !self.on {
            return;
        }
        if !self.warned && context.now >= self.reaches(T6) {
            self.warned = true;
            self.status |= EWIF;
        }
        if context.now >= self.reaches(T6 - 1) {
            context.events.request_reset(ResetCause::WindowWatchdog);
            self.on = false;
        }
        self.signal(context);
    }

    /// The prescaler changes: what it has counted so far stays.
    fn rebase(&mut self, now: u64) {
        self.count = self.count_at(now);
        self.written = now;
    }
}

impl Peripheral for Wwdg {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + 0x400)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context);
        let offset = address - self.base;
        let word = match offset & !3 {
            CR => self.count_at(context.now) | if self.on { WDGA } else { 0 },
            CFR => self.configuration,
            SR => self.status,
            _ => return context.refuse(&self.name, address, "register not modelled"),
        };
        Ok(part_of_word(word, offset, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.advance(context);
        let offset = address - self.base;
        let merge = |old: u32| merged_word(old, offset, size, value);
        match offset & !3 {
            CR => {
                let value = merge(self.count_at(context.now));
                // Too early, or with T6 clear: it resets the part.
                let early = self.on && self.count_at(context.now) > self.configuration & W;
                self.on |= value & WDGA != 0;
                self.count = value & T;
                self.written = context.now;
                self.warned = false;
                if self.on && (early || value & T6 == 0) {
                    context.events.request_reset(ResetCause::WindowWatchdog);
                    self.on = false;
                }
            }
            CFR => {
                self.rebase(context.now);
                // EWI can only be set; a reset clears it.
                self.configuration = merge(self.configuration) & 0x3ff | self.configuration & EWI;
            }
            SR => self.status &= merge(u32::MAX),
            _ => return context.refuse(&self.name, address, "register not modelled"),
        }
        self.signal(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        self.on.then(|| self.reaches(if self.warned { T6 - 1 } else { T6 }))
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context);
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        if let ClockUpdate::Buses { apb1, .. } = update
            && apb1 != self.bus_divider
        {
            self.rebase(now);
            self.bus_divider = apb1;
        }
    }

    fn delay(&mut self, cycles: u64) {
        self.written += cycles;
    }

    fn reset(&mut self) {
        self.bus_divider = 1;
        self.on = false;
        self.count = T;
        self.written = 0;
        self.warned = false;
        self.configuration = W;
        self.status = 0;
    }

    fn roles(&self) -> Roles<'_> {
        Roles { watchdog: Some(self), ..Roles::default() }
    }
}

impl WatchdogTimer for Wwdg {
    fn is_running(&self) -> bool {
        self.on
    }
}
