//! The system timer of QingKe V2 (STK): 32 bits, upwards. Its state is worked out when somebody
//! looks.
//!
//! CH32V003RM V1.4, section 6.5.4.

use crate::peripherals::register::{merged_word, part_of_word};
use crate::{Context, Fault, Peripheral, PeripheralSpec, Spec};

const CTLR: u32 = 0x00;
const SR: u32 = 0x04;
const CNTL: u32 = 0x08;
const CMPLR: u32 = 0x10;
const SIZE: u32 = 0x14;

/// STK_CTLR: on, interrupt, from HCLK, back to 0 after the compare value, software interrupt.
const STE: u32 = 1 << 0;
const STIE: u32 = 1 << 1;
const STCLK: u32 = 1 << 2;
const STRE: u32 = 1 << 3;
const SWIE: u32 = 1 << 31;

/// Cycles of a tick without STCLK.
const DIVIDER: u64 = 8;

/// The timer.
#[derive(Clone)]
pub struct SysTick {
    name: String,
    base: u32,
    irq: Option<u8>,
    software_irq: Option<u8>,
    control: u32,
    compare: u32,
    /// STK_SR.CNTIF.
    flag: bool,
    /// The counter at `since`.
    count: u32,
    since: u64,
}

impl SysTick {
    /// The timer at `spec.base`, interrupting with `spec.irq`, and by software with
    /// `settings.software_irq`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> SysTick {
        SysTick {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            software_irq: spec.settings.get("software_irq").and_then(|irq| u8::try_from(*irq).ok()),
            control: 0,
            compare: 0,
            flag: false,
            count: 0,
            since: 0,
        }
    }

    fn divider(&self) -> u64 {
        if self.control & STCLK != 0 { 1 } else { DIVIDER }
    }

    /// Ticks until the counter next comes to the compare value.
    fn ahead(&self) -> u64 {
        match self.compare.wrapping_sub(self.count) {
            0 if self.control & STRE != 0 => u64::from(self.compare) + 1,
            0 => 1 << 32,
            ticks => ticks.into(),
        }
    }

    fn advance(&mut self, now: u64) {
        if self.control & STE == 0 {
            self.since = now;
            return;
        }
        let mut ticks = now.saturating_sub(self.since) / self.divider();
        self.since += ticks * self.divider();
        let ahead = self.ahead();
        if ticks >= ahead {
            self.flag = true;
            if self.control & STRE != 0 {
                ticks = (ticks - ahead) % (u64::from(self.compare) + 1);
                self.count = self.compare;
            }
        }
        let reloads = self.control & STRE != 0 && self.count == self.compare && ticks > 0;
        self.count = if reloads { ticks as u32 - 1 } else { self.count.wrapping_add(ticks as u32) };
    }

    fn signal(&self, context: &mut Context<'_, '_>) {
        let lines = [
            (self.irq, self.flag && self.control & STIE != 0),
            (self.software_irq, self.control & SWIE != 0),
        ];
        for (irq, high) in lines {
            match irq {
                Some(irq) if high => context.request(irq),
                Some(irq) => context.withdraw(irq),
                None => {}
            }
        }
    }
}

impl Peripheral for SysTick {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + SIZE)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context.now);
        let offset = address - self.base;
        let word = match offset & !3 {
            CTLR => self.control,
            SR => self.flag.into(),
            CNTL => self.count,
            CMPLR => self.compare,
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
        self.advance(context.now);
        let offset = address - self.base;
        let merge = |old: u32| merged_word(old, offset, size, value);
        match offset & !3 {
            CTLR => self.control = merge(self.control) & (SWIE | STRE | STCLK | STIE | STE),
            // Written as 0 it clears, as 1 it does nothing.
            SR => self.flag &= merge(self.flag.into()) & 1 != 0,
            CNTL => self.count = merge(self.count),
            CMPLR => self.compare = merge(self.compare),
            _ => return context.refuse(&self.name, address, "register not modelled"),
        }
        self.signal(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        let armed = self.control & (STE | STIE) == STE | STIE && !self.flag;
        armed.then(|| self.since + self.ahead() * self.divider())
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context.now);
        self.signal(context);
    }

    fn reset(&mut self) {
        (self.control, self.compare, self.count, self.since) = (0, 0, 0, 0);
        self.flag = false;
    }

    fn reset_by(&mut self, _cause: crate::ResetCause, now: u64) {
        self.reset();
        self.since = now;
    }
}
