//! The timer: a count of 64 bits of the watchdog's tick, microseconds as it is meant, and four
//! alarms. Section 4.6.

use super::interrupts::Interrupts;
use super::{BLOCK, TICK, Write, register};
use crate::peripherals::register::part_of_word;
use crate::{ClockUpdate, Context, Event, Fault, Peripheral, PeripheralSpec, Spec};

const TIMEHW: u32 = 0x00;
const TIMELW: u32 = 0x04;
const TIMEHR: u32 = 0x08;
const TIMELR: u32 = 0x0c;
const ALARM0: u32 = 0x10;
const ALARM3: u32 = 0x1c;
const ARMED: u32 = 0x20;
const TIMERAWH: u32 = 0x24;
const TIMERAWL: u32 = 0x28;
const DBGPAUSE: u32 = 0x2c;
const PAUSE: u32 = 0x30;
const INTR: u32 = 0x34;
const INTE: u32 = 0x38;
const INTS: u32 = 0x40;

/// Its bit in RESETS.RESET.
const RESET: u32 = 1 << 21;

/// The registers.
#[derive(Clone)]
pub struct Timer {
    name: String,
    base: u32,
    irq: u8,
    held: bool,
    clock_hz: u64,
    tick_hz: u64,
    /// The count at cycle `since`, and 1/(core clock) parts of one that have gone by.
    count: u64,
    since: u64,
    carry: u128,
    /// TIMEHR as the last read of TIMELR has left it; TIMELW until TIMEHW is written.
    latched: u32,
    low: u32,
    alarms: [u32; 4],
    armed: u32,
    debug: u32,
    paused: bool,
    raised: u32,
    interrupts: Interrupts,
}

impl Timer {
    /// The timer at `spec.base`, with interrupts from `spec.irq` on.
    ///
    /// # Errors
    /// No interrupt.
    pub fn new(spec: &PeripheralSpec) -> Result<Timer, String> {
        let irq = spec.irq.filter(|irq| *irq < 100).ok_or_else(|| format!("{} needs irq", spec.name))?;
        Ok(Timer {
            name: spec.name.clone(),
            base: spec.base,
            irq,
            held: false,
            clock_hz: 1,
            tick_hz: 0,
            count: 0,
            since: 0,
            carry: 0,
            latched: 0,
            low: 0,
            alarms: [0; 4],
            armed: 0,
            debug: 7,
            paused: false,
            raised: 0,
            interrupts: Interrupts::new(15),
        })
    }

    fn counts(&self) -> bool {
        self.tick_hz != 0 && !self.paused && !self.held
    }

    /// Counts from `count` on until the low half is an alarm's.
    fn ahead(&self, alarm: usize) -> u64 {
        self.alarms[alarm].wrapping_sub(self.count as u32).into()
    }

    fn advance(&mut self, now: u64) {
        let elapsed = u128::from(now.saturating_sub(self.since));
        self.since = self.since.max(now);
        if !self.counts() {
            return;
        }
        let parts = self.carry + elapsed * u128::from(self.tick_hz);
        let clock = u128::from(self.clock_hz);
        let steps = (parts / clock) as u64;
        self.carry = parts % clock;
        for alarm in 0..4 {
            let bit = 1 << alarm;
            if self.armed & bit != 0 && self.ahead(alarm) <= steps {
                self.armed &= !bit;
                self.raised |= bit;
            }
        }
        self.count = self.count.wrapping_add(steps);
    }

    fn signal(&self, context: &mut Context<'_, '_>) {
        let active = self.interrupts.status(self.raised);
        for alarm in 0..4 {
            if active >> alarm & 1 != 0 {
                context.request(self.irq + alarm);
            } else {
                context.withdraw(self.irq + alarm);
            }
        }
    }

    /// As after its own reset.
    fn clear(&mut self) {
        self.count = 0;
        self.carry = 0;
        self.latched = 0;
        self.low = 0;
        self.alarms = [0; 4];
        self.armed = 0;
        self.debug = 7;
        self.paused = false;
        self.raised = 0;
        self.interrupts.reset();
    }
}

impl Peripheral for Timer {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + BLOCK)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context.now);
        let word = match register(address) {
            TIMEHR => self.latched,
            TIMELR => {
                self.latched = (self.count >> 32) as u32;
                self.count as u32
            }
            at @ ALARM0..=ALARM3 => self.alarms[((at - ALARM0) / 4) as usize],
            ARMED => self.armed,
            TIMERAWH => (self.count >> 32) as u32,
            TIMERAWL => self.count as u32,
            DBGPAUSE => self.debug,
            PAUSE => self.paused.into(),
            INTR => self.raised,
            at @ INTE..=INTS => self.interrupts.read(at - INTE, self.raised),
            TIMEHW | TIMELW => 0,
            _ => return context.refuse(&self.name, address, "register not modelled"),
        };
        self.signal(context);
        Ok(part_of_word(word, address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        if self.held {
            return super::written_in_reset(&self.name, address, context);
        }
        self.advance(context.now);
        let write = Write::new(address, size, value);
        match register(address) {
            TIMEHW => {
                self.count = u64::from(write.value) << 32 | u64::from(self.low);
                self.carry = 0;
            }
            TIMELW => self.low = write.value,
            at @ ALARM0..=ALARM3 => {
                let alarm = (at - ALARM0) / 4;
                let time = &mut self.alarms[alarm as usize];
                *time = write.onto(*time);
                self.armed |= 1 << alarm;
            }
            // A one disarms.
            ARMED => self.armed &= !write.value,
            DBGPAUSE => self.debug = write.onto(self.debug) & 7,
            PAUSE => self.paused = write.onto(self.paused.into()) & 1 != 0,
            // A one clears, by whatever alias it comes: programs use them all.
            INTR => self.raised &= !write.value,
            at @ INTE..=INTS => self.interrupts.write(at - INTE, write),
            TIMEHR | TIMELR | TIMERAWH | TIMERAWL => {}
            _ => return context.refuse(&self.name, address, "register not modelled"),
        }
        self.signal(context);
        Ok(())
    }

    /// The next alarm that is armed.
    fn due(&self) -> Option<u64> {
        if !self.counts() {
            return None;
        }
        let armed = (0..4).filter(|alarm| self.armed >> alarm & 1 != 0);
        let steps = armed.map(|alarm| self.ahead(alarm)).min()?;
        let parts = (u128::from(steps) * u128::from(self.clock_hz)).saturating_sub(self.carry);
        Some(self.since + parts.div_ceil(self.tick_hz.into()) as u64)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context.now);
        self.signal(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        if matches!(event, Event::ControlsChanged) {
            self.advance(context.now);
            self.tick_hz = context.events.generic_clocks_hz.get(TICK).copied().unwrap_or(0);
            self.held = context.events.held & RESET != 0;
            if self.held {
                self.clear();
                self.signal(context);
            }
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.advance(now);
            self.carry = self.carry * u128::from(clock_hz) / u128::from(self.clock_hz);
            self.clock_hz = clock_hz.max(1);
        }
    }

    fn reset(&mut self) {
        self.clear();
        self.held = false;
        self.tick_hz = 0;
        self.since = 0;
    }

    fn reset_by(&mut self, _cause: crate::ResetCause, now: u64) {
        self.reset();
        self.since = now;
    }
}
