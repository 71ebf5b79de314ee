//! Watchdog timer WDT_A and the special function registers.
//!
//! Those registers hold enable and flag of its interrupt, and of an oscillator's fault.
//!
//! Source: SLAU208, chapter "Watchdog Timer (WDT_A)", and chapter "System Resets, Interrupts, and
//! Operating Modes", section "SFR Registers". After power-up the watchdog runs on SMCLK for 2^15
//! clocks. Where it expires in watchdog mode the part is reset: the model asks for the reset
//! vector. A write to `WDTCTL` without its password resets it, too, in either mode. `OFIFG` with
//! `OFIE` is the user NMI, and of those that `SYSUNIV` tells the only one: of the NMI pin and
//! violations there is no model.

use super::clocks::{Clocks, Source};
use crate::{
    ClockUpdate, Context, Event, Fault, Part, Peripheral, PeripheralSpec, Protected, ResetCause, Roles, Spec,
    WatchdogTimer,
};
use std::ops::Range;

/// `SFRIE1`, `SFRIFG1`, `SFRRPCR`.
const SFR: Range<u32> = 0x100..0x106;
/// The user NMI's vector generator, and what it says of `OFIFG`.
const SYSUNIV: Range<u32> = 0x19a..0x19c;
const SYSUNIV_OFIFG: u32 = 4;
/// The user NMI.
const UNMI: u8 = 61;
const PASSWORD_READ: u32 = 0x6900;
const PASSWORD_WRITE: u32 = 0x5a;
const WDTHOLD: u32 = 0x80;
/// Interval timer rather than watchdog.
const WDTTMSEL: u32 = 0x10;
/// Clears the counter; reads as 0.
const WDTCNTCL: u32 = 0x08;
/// After power-up: SMCLK, 2^15.
const AFTER_RESET: u32 = 0x04;
/// log2 of the interval, by WDTIS.
const INTERVAL_BITS: [u32; 8] = [31, 27, 23, 19, 15, 13, 9, 6];
/// `WDTIE`, `WDTIFG`: bit 0 of `SFRIE1`, `SFRIFG1`.
const WDTIFG: u32 = 1;
/// `OFIE`, `OFIFG`, which the power-up sets: the oscillators have not started yet.
const OFIFG: u32 = 2;

/// WDT_A and the special function registers.
#[derive(Clone)]
pub struct Watchdog {
    name: String,
    base: u32,
    irq: u8,
    clocks: Clocks,
    control: u32,
    enables: u32,
    flags: u32,
    reset_pin: u32,
    /// Edges of its clock up to where the counter last stood at 0.
    since: u64,
}

impl Watchdog {
    /// The watchdog whose `WDTCTL` stands at `spec.base`; `spec.irq` is its interval interrupt.
    #[must_use]
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Watchdog {
        Watchdog {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq.unwrap_or(0),
            clocks: Clocks::new(part),
            control: AFTER_RESET,
            enables: 0,
            flags: OFIFG,
            reset_pin: 0,
            since: 0,
        }
    }

    fn source(&self) -> Source {
        if self.control >> 5 & 3 == 0 { Source::Smclk } else { Source::Aclk }
    }

    /// Clocks until it expires.
    fn interval(&self) -> u64 {
        1 << INTERVAL_BITS[(self.control & 7) as usize]
    }

    fn expiry(&self) -> Option<u64> {
        let counts = self.control & WDTHOLD == 0;
        counts.then(|| self.clocks.edge(self.source(), self.since + self.interval()))
    }

    fn update(&self, context: &mut Context<'_, '_>) {
        if self.enables & self.flags & WDTIFG != 0 {
            context.request(self.irq);
        } else {
            context.withdraw(self.irq);
        }
        if self.enables & self.flags & OFIFG != 0 {
            context.request(UNMI);
        } else {
            context.withdraw(UNMI);
        }
    }

    /// An oscillator's fault sets `OFIFG` as long as it is there.
    fn notice_fault(&mut self, context: &Context<'_, '_>) {
        if context.events.has_oscillator_fault() {
            self.flags |= OFIFG;
        }
    }

    /// An access to `SYSUNIV` clears the flag that it tells of.
    fn clear_nmi(&mut self, context: &mut Context<'_, '_>) {
        if self.enables & OFIFG != 0 {
            self.flags &= !OFIFG;
        }
        self.notice_fault(context);
        self.update(context);
    }
}

impl Peripheral for Watchdog {
    fn spec(&self) -> Spec {
        Spec {
            interrupts: 1 << self.irq,
            ..Spec::with_ranges(&self.name, [SFR, SYSUNIV, self.base..self.base + 2])
        }
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.notice_fault(context);
        let word = match address & !1 {
            address if SYSUNIV.contains(&address) => {
                let pending = self.enables & self.flags & OFIFG != 0;
                self.clear_nmi(context);
                if pending { SYSUNIV_OFIFG } else { 0 }
            }
            0x100 => self.enables,
            0x102 => self.flags,
            0x104 => self.reset_pin,
            _ => PASSWORD_READ | self.control,
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
        if SYSUNIV.contains(&address) {
            self.clear_nmi(context);
            return Ok(());
        }
        if address >= self.base {
            if size != 2 {
                return context.refuse(&self.name, address, "WDTCTL is written in words only");
            }
            if value >> 8 != PASSWORD_WRITE {
                context.events.request_reset(ResetCause::Password(Protected::Watchdog));
                return Ok(());
            }
            if value >> 5 & 3 > 1 && value & WDTHOLD == 0 {
                return context.refuse(
                    &self.name,
                    address,
                    "the watchdog runs from SMCLK or ACLK only in this model",
                );
            }
            let cleared = value & WDTCNTCL != 0 || (value ^ self.control) & (WDTHOLD | 0x60) != 0;
            self.control = value & 0xff & !WDTCNTCL;
            if cleared {
                self.since = self.clocks.count(self.source(), context.now);
            }
            return Ok(());
        }
        let register = match address & !1 {
            0x100 => &mut self.enables,
            0x102 => &mut self.flags,
            _ => &mut self.reset_pin,
        };
        let shift = 8 * (address & 1);
        *register = if size == 2 { value } else { *register & !(0xff << shift) | value << shift };
        if self.enables & !(WDTIFG | OFIFG) != 0 {
            let what = "of the interrupts of SFRIE1 only WDTIE and OFIE are modelled";
            return context.refuse(&self.name, address, what);
        }
        self.notice_fault(context);
        self.update(context);
        Ok(())
    }

    fn clock_needed(&self) -> Option<&'static str> {
        (self.control & WDTHOLD == 0).then_some(self.source().name())
    }

    fn due(&self) -> Option<u64> {
        self.expiry()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        if self.expiry().is_some_and(|expiry| expiry <= context.now) {
            self.since += self.interval();
            if self.control & WDTTMSEL == 0 {
                context.events.request_reset(ResetCause::Watchdog);
                // Expired once is enough: the core stops.
                self.control |= WDTHOLD;
            } else {
                self.flags |= WDTIFG;
            }
        }
        self.update(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::ControlsChanged => {
                self.notice_fault(context);
                self.update(context);
            }
            // A single-source flag: reset when the interrupt is served.
            Event::InterruptAcknowledged(_) => self.flags &= !WDTIFG,
            _ => {}
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        match update {
            ClockUpdate::Core(clock_hz) => self.clocks.set_clock(clock_hz, now),
            ClockUpdate::Subsystem(clocks) => self.clocks.set(&clocks, now),
            _ => {}
        }
    }

    fn reset(&mut self) {
        self.control = AFTER_RESET;
        self.enables = 0;
        self.flags = OFIFG;
        self.reset_pin = 0;
        self.since = 0;
    }

    fn reset_by(&mut self, cause: ResetCause, now: u64) {
        self.reset();
        if cause != ResetCause::PowerOn {
            self.since = self.clocks.count(Source::Smclk, now);
        }
    }

    fn roles(&self) -> Roles<'_> {
        Roles { watchdog: Some(self), ..Roles::default() }
    }
}

impl WatchdogTimer for Watchdog {
    fn is_running(&self) -> bool {
        self.control & (WDTHOLD | WDTTMSEL) == 0
    }
}
