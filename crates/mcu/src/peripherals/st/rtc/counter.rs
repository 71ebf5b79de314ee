//! The RTC of the STM32F1: a prescaler and a counter of 32 bits on RTCCLK, with an alarm.
//!
//! RM0008 section 18, RM0041 section 17. What is written in configuration mode counts from its end
//! on; RTOFF says so three periods of RTCCLK later, and RSF comes a period after it was cleared. A
//! system reset leaves all but the interrupts. Whether PWR_CR.DBP allows the writes is not looked
//! at; the alarm does not reach EXTI line 17.

use super::ticks::Ticks;
use crate::peripherals::register::{merged_word, part_of_word};
use crate::{ClockUpdate, Context, Fault, Peripheral, PeripheralSpec, ResetCause, Spec};

const CRH: u32 = 0x00;
const CRL: u32 = 0x04;
const PRLH: u32 = 0x08;
const PRLL: u32 = 0x0c;
const DIVH: u32 = 0x10;
const DIVL: u32 = 0x14;
const CNTH: u32 = 0x18;
const CNTL: u32 = 0x1c;
const ALRH: u32 = 0x20;
const ALRL: u32 = 0x24;

/// CRL, and CRH with the enables at the places of the flags.
const SECF: u32 = 1 << 0;
const ALRF: u32 = 1 << 1;
const OWF: u32 = 1 << 2;
const RSF: u32 = 1 << 3;
const CNF: u32 = 1 << 4;
const RTOFF: u32 = 1 << 5;

/// The clock.
#[derive(Clone)]
pub struct Rtc {
    name: String,
    base: u32,
    irq: Option<u8>,
    ticks: Ticks,
    enables: u32,
    /// SECF, ALRF, OWF, RSF.
    flags: u32,
    configuring: bool,
    /// Halves of PRL, CNT and ALR that were written in configuration mode.
    written: [Option<u32>; 6],
    /// Periods of RTCCLK until RTOFF and RSF rise.
    writing: u64,
    synchronising: u64,
    prescaler: u32,
    /// Periods since the counter's last count.
    phase: u64,
    count: u32,
    alarm: u32,
}

impl Rtc {
    /// The clock at `spec.base`, interrupting with `spec.irq`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Rtc {
        Rtc {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            ticks: Ticks::new(),
            enables: 0,
            flags: 0,
            configuring: false,
            written: [None; 6],
            writing: 0,
            synchronising: 1,
            prescaler: 0x8000,
            phase: 0,
            count: 0,
            alarm: u32::MAX,
        }
    }

    fn period(&self) -> u64 {
        u64::from(self.prescaler) + 1
    }

    /// The counts until the counter comes to a value.
    fn counts_to(&self, value: u32) -> u64 {
        match value.wrapping_sub(self.count) {
            0 => 1 << 32,
            counts => counts.into(),
        }
    }

    fn settle(&mut self, now: u64) {
        let ticks = self.ticks.take(now);
        self.writing = self.writing.saturating_sub(ticks);
        if self.flags & RSF == 0 {
            self.synchronising = self.synchronising.saturating_sub(ticks);
            self.flags |= if self.synchronising == 0 { RSF } else { 0 };
        }
        let phase = self.phase + ticks;
        let counts = phase / self.period();
        self.phase = phase % self.period();
        let flag = |on: bool, flag: u32| if on { flag } else { 0 };
        self.flags |= flag(counts > 0, SECF)
            | flag(counts >= self.counts_to(self.alarm), ALRF)
            | flag(counts >= self.counts_to(0), OWF);
        self.count = self.count.wrapping_add(counts as u32);
    }

    fn signal(&self, context: &mut Context<'_, '_>) {
        let Some(irq) = self.irq else { return };
        if self.flags & self.enables & (SECF | ALRF | OWF) != 0 {
            context.request(irq);
        } else {
            context.withdraw(irq);
        }
    }

    /// Configuration mode ends: what was written counts.
    fn configure(&mut self) {
        let halves = |old: u32, high: Option<u32>, low: Option<u32>| {
            high.unwrap_or(old >> 16) << 16 | low.unwrap_or(old & 0xffff)
        };
        let [prescaler_high, prescaler_low, high, low, alarm_high, alarm_low] = self.written;
        if (prescaler_high, prescaler_low) != (None, None) {
            self.prescaler = halves(self.prescaler, prescaler_high, prescaler_low) & 0xf_ffff;
            self.phase = 0;
        }
        if (high, low) != (None, None) {
            self.count = halves(self.count, high, low);
            self.phase = 0;
        }
        self.alarm = halves(self.alarm, alarm_high, alarm_low);
        self.written = [None; 6];
        self.writing = if self.ticks.runs() { 3 } else { 0 };
    }
}

impl Peripheral for Rtc {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + 0x400)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.settle(context.now);
        let offset = address - self.base;
        let left = (self.period() - 1 - self.phase) as u32;
        let word = match offset & !3 {
            CRH => self.enables,
            CRL => {
                let done = if self.writing == 0 { RTOFF } else { 0 };
                self.flags | done | if self.configuring { CNF } else { 0 }
            }
            // PRL and ALR are write-only.
            PRLH | PRLL | ALRH | ALRL => 0,
            DIVH => left >> 16,
            DIVL => left & 0xffff,
            CNTH => self.count >> 16,
            CNTL => self.count & 0xffff,
            _ => return context.refuse(&self.name, address, "register not modelled"),
        };
        self.signal(context);
        Ok(part_of_word(word, offset, size))
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
        let merge = |old: u32| merged_word(old, offset, size, value) & 0xffff;
        let register = offset & !3;
        match register {
            CRH => self.enables = merge(self.enables) & (SECF | ALRF | OWF),
            CRL => {
                let value = merge(u32::MAX);
                if self.flags & RSF != 0 && value & RSF == 0 {
                    self.synchronising = 1;
                }
                self.flags &= value;
                let configuring = value & CNF != 0;
                if self.configuring && !configuring {
                    self.configure();
                }
                self.configuring = configuring;
            }
            DIVH | DIVL => {}
            PRLH | PRLL | CNTH | CNTL | ALRH | ALRL => {
                let index = [PRLH, PRLL, CNTH, CNTL, ALRH, ALRL].iter().position(|at| *at == register);
                if let Some(index) = index.filter(|_| self.configuring) {
                    self.written[index] = Some(merge(0));
                }
            }
            _ => return context.refuse(&self.name, address, "register not modelled"),
        }
        self.signal(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        let waited = self.enables & !self.flags;
        let counts = [(SECF, 1), (ALRF, self.counts_to(self.alarm)), (OWF, self.counts_to(0))];
        let counts = counts.iter().filter(|(flag, _)| waited & flag != 0).map(|(_, counts)| *counts).min()?;
        self.ticks.cycle_of(counts * self.period() - self.phase)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.settle(context.now);
        self.signal(context);
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        match update {
            ClockUpdate::Core(clock_hz) => {
                self.settle(now);
                self.ticks.set_core_hz(clock_hz);
            }
            ClockUpdate::Rtc { clock_hz, in_reset } => {
                self.settle(now);
                if in_reset {
                    self.reset();
                }
                self.ticks.set_hz(clock_hz);
            }
            _ => {}
        }
    }

    fn reset(&mut self) {
        self.enables = 0;
        self.flags = 0;
        self.configuring = false;
        self.written = [None; 6];
        self.writing = 0;
        self.synchronising = 1;
        self.prescaler = 0x8000;
        self.phase = 0;
        self.count = 0;
        self.alarm = u32::MAX;
    }

    /// A system reset leaves the backup domain alone; CRH and CRL are reset.
    fn reset_by(&mut self, cause: ResetCause, now: u64) {
        if cause == ResetCause::PowerOn {
            self.reset();
            self.ticks = Ticks::new();
        } else {
            self.settle(now);
            self.enables = 0;
            self.flags = 0;
            self.configuring = false;
            self.synchronising = 1;
        }
    }
}
