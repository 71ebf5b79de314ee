//! The watchdog of an ATmega, and the flags of what reset the part (MCUSR).
//!
//! ATmega328P data sheet DS40002061, 11.8 and 11.9; ATmega128 data sheet 2467, "Watchdog Timer".
//! Stopped, as a timer that interrupts, as one that resets the part, or both, one after the other.
//! A reset of the part by the watchdog is modelled where the target file says where MCUSR is, else
//! the write that would leave it on faults. The oscillator counts at its typical 128 kHz
//! (DS40002061, 11.8; real ones differ by several per cent with supply and temperature).

use crate::clock::rescaled;
use crate::{
    ClockUpdate, Context, Event, Fault, Peripheral, PeripheralSpec, ResetCause, Roles, Spec, WatchdogTimer,
};

/// The address at which the core reports the instruction `WDR`: beyond the data space.
pub const WATCHDOG_RESET: u32 = 0x1_0000;

/// An address beyond the block, at which the core writes the fuse WDTON after a reset.
pub const WATCHDOG_ALWAYS_ON: u32 = 0x1_0002;

const OSCILLATOR_HZ: u64 = 128_000;

const WDIF: u8 = 0x80;
const WDIE: u8 = 0x40;
const WDCE: u8 = 0x10;
const WDE: u8 = 0x08;
/// WDP3 to WDP0.
const WDP: u8 = 0x27;

/// MCUSR.
const PORF: u8 = 1;
const EXTRF: u8 = 2;
const BORF: u8 = 4;
const WDRF: u8 = 8;
/// The last step of the prescaler that is not reserved: 8 s.
const LAST_STEP: u8 = 9;

/// A change of WDE and the prescaler is allowed for four cycles after the write that begins it.
const WINDOW: u64 = 4;

/// The watchdog.
#[derive(Clone)]
pub struct Watchdog {
    name: String,
    base: u32,
    irq: Option<u8>,
    /// The address of MCUSR.
    cause_address: Option<u32>,
    clock_hz: u64,
    control: u8,
    /// MCUSR.
    causes: u8,
    /// WDTON: WDE is locked to one and WDIE to zero (DS40002061, 11.8.2).
    always_on: bool,
    /// Until when WDE and the prescaler may be changed.
    window_end: u64,
    /// When the time runs out, if it counts.
    deadline: Option<u64>,
}

/// The step of the prescaler: WDP3 to WDP0.
fn step(control: u8) -> u8 {
    control & 7 | control >> 2 & 8
}

impl Watchdog {
    /// WDTCSR or WDTCR at `spec.base`; with `spec.irq` it can interrupt (ATmega328P). The setting
    /// `mcusr` is the address of MCUSR: with it, it can reset the part.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Watchdog {
        Watchdog {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            cause_address: spec.settings.get("mcusr").map(|address| *address as u32),
            clock_hz: 1,
            control: 0,
            causes: PORF,
            always_on: false,
            window_end: 0,
            deadline: None,
        }
    }

    /// Cycles of the core clock until the time runs out: 2048 periods of the oscillator, doubled by
    /// each step of the prescaler (table 11-2 of DS40002061).
    fn period(&self) -> u64 {
        (2048 << step(self.control)) * self.clock_hz / OSCILLATOR_HZ
    }

    fn restart(&mut self, now: u64) {
        let runs = self.control & WDIE != 0 || self.is_running();
        self.deadline = runs.then(|| now + self.period());
    }

    /// The fuse WDTON.
    fn write_always_on(&mut self, on: bool, context: &Context<'_, '_>) -> Result<(), Fault> {
        self.always_on = on;
        if on && self.cause_address.is_none() {
            let what = "WDTON: a watchdog that resets the part is not modelled";
            return context.refuse(&self.name, WATCHDOG_ALWAYS_ON, what);
        }
        if on {
            self.control |= WDE;
            self.restart(context.now);
        }
        Ok(())
    }

    /// WDTCSR or WDTCR.
    fn write_control(&mut self, value: u8, context: &mut Context<'_, '_>) -> Result<(), Fault> {
        let open = self.control & WDCE != 0 && context.now <= self.window_end;
        // "WDE is always set when WDRF is set."
        let held = self.control & WDE != 0 && !open || self.causes & WDRF != 0;
        let enable = if held { WDE } else { value & WDE };
        if enable != 0 && self.cause_address.is_none() && value & WDCE == 0 {
            return context.refuse(&self.name, self.base, "a watchdog that resets the part is not modelled");
        }
        if value & WDCE != 0 && value & WDE != 0 {
            self.control |= WDCE | WDE;
            self.window_end = context.now + WINDOW;
            if self.deadline.is_none() {
                self.restart(context.now);
            }
            return Ok(());
        }
        // Outside of the timed sequence the prescaler and a WDE that is set stay; all other bits
        // are written (11.9.2).
        let prescaler = if open { value & WDP } else { self.control & WDP };
        let in_vain = value & WDP != 0 && value & WDP != prescaler;
        if in_vain
            && !context.events.tolerate("the watchdog's prescaler was written outside of four cycles of WDCE")
        {
            let what = "the prescaler changes only within four cycles of WDCE";
            return context.refuse(&self.name, self.base, what);
        }
        if step(prescaler) > LAST_STEP {
            return context.refuse(&self.name, self.base, "this setting of the prescaler is reserved");
        }
        if value & WDIE != 0 && self.irq.is_none() {
            return context.refuse(&self.name, self.base, "this part's watchdog has no interrupt");
        }
        let flag = self.control & WDIF & !value;
        let counts_on = self.deadline.is_some() && self.control & WDP == prescaler;
        self.control = flag | value & WDIE | enable | prescaler;
        if let Some(irq) = self.irq {
            if self.control & WDIE != 0 && flag != 0 {
                context.request(irq);
            } else {
                context.withdraw(irq);
            }
        }
        // A counter that runs is not cleared by the write.
        let runs = self.control & WDIE != 0 || self.is_running();
        if !(counts_on && runs) {
            self.restart(context.now);
        }
        Ok(())
    }
}

impl Peripheral for Watchdog {
    fn spec(&self) -> Spec {
        let addresses = [Some(self.base), Some(WATCHDOG_RESET), Some(WATCHDOG_ALWAYS_ON), self.cause_address];
        Spec {
            interrupts: self.irq.map_or(0, |irq| 1 << irq),
            ..Spec::with_ranges(
                &self.name,
                addresses.into_iter().flatten().map(|address| address..address + 1),
            )
        }
    }

    fn read(&mut self, address: u32, _size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        if Some(address) == self.cause_address {
            return Ok(self.causes.into());
        }
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
        match address {
            WATCHDOG_RESET => {
                self.restart(context.now);
                Ok(())
            }
            WATCHDOG_ALWAYS_ON => self.write_always_on(value & 1 == 1, context),
            _ => {
                let value = if self.always_on { value as u8 & !WDIE | WDE } else { value as u8 };
                if Some(address) != self.cause_address {
                    return self.write_control(value, context);
                }
                // Flags are reset by writing zeros.
                self.causes &= value;
                Ok(())
            }
        }
    }

    fn due(&self) -> Option<u64> {
        self.deadline
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        let Some(deadline) = self.deadline else { return };
        // With both, the first time out interrupts; the interrupt clears WDIE, or the second time
        // out finds WDIF set.
        let waiting = self.control & (WDIE | WDIF) == WDIE;
        if self.control & WDE != 0 && !waiting && self.cause_address.is_some() {
            context.events.request_reset(ResetCause::Watchdog);
            return;
        }
        self.control |= WDIF;
        if let Some(irq) = self.irq {
            context.request(irq);
        }
        self.deadline = Some(deadline + self.period());
    }

    fn on_event(&mut self, event: Event<'_>, _context: &mut Context<'_, '_>) {
        if matches!(event, Event::InterruptAcknowledged(_)) {
            self.control &= !WDIF;
            if self.control & WDE != 0 {
                self.control &= !WDIE;
            }
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.deadline = self.deadline.map(|deadline| rescaled(deadline, now, self.clock_hz, clock_hz));
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.reset_by(ResetCause::PowerOn, 0);
    }

    fn reset_by(&mut self, cause: ResetCause, now: u64) {
        match cause {
            ResetCause::PowerOn => self.causes = PORF,
            ResetCause::External => self.causes |= EXTRF,
            ResetCause::BrownOut => self.causes |= BORF,
            ResetCause::Watchdog | ResetCause::WindowWatchdog => self.causes |= WDRF,
            // There is none on AVR.
            ResetCause::Software | ResetCause::OptionBytes | ResetCause::Password(_) => {}
        }
        self.control = if self.causes & WDRF != 0 { WDE } else { 0 };
        self.window_end = 0;
        self.restart(now);
    }

    fn roles(&self) -> Roles<'_> {
        Roles { watchdog: Some(self), ..Roles::default() }
    }
}

impl WatchdogTimer for Watchdog {
    fn is_running(&self) -> bool {
        self.control & WDE != 0 && self.cause_address.is_some()
    }
}
