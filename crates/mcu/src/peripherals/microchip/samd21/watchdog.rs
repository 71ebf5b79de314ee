//! The watchdog (WDT): early warning, window mode, always on. DS40001882, sections 18.6 and 18.8.
//!
//! CTRL and CLEAR take effect when they are synchronised, and STATUS.SYNCBUSY is set meanwhile. The
//! part takes between 5 clocks of GCLK_WDT and 2 of the bus and 6 and 3 (section 14.3): here it is
//! the longest, with a bus that is as fast as the core. What CLEAR resets the part for it does at
//! once. After a power reset the registers are as the factory sets the user row (section 10.3.1):
//! switched off. The watchdog counts on in every sleep.

use super::SYNCHRONISED;
use crate::clock::rescaled;
use crate::{
    ClockUpdate, Context, Event, Fault, Part, Peripheral, PeripheralSpec, ResetCause, Roles, Spec,
    WatchdogTimer,
};

const CTRL: u32 = 0x0;
const CONFIG: u32 = 0x1;
const EWCTRL: u32 = 0x2;
const INTENCLR: u32 = 0x4;
const INTENSET: u32 = 0x5;
const INTFLAG: u32 = 0x6;
const STATUS: u32 = 0x7;
const CLEAR: u32 = 0x8;
/// Bytes of the registers.
const SIZE: u32 = 0xc;

/// CTRL.
const ENABLE: u8 = 1 << 1;
const WEN: u8 = 1 << 2;
const ALWAYSON: u8 = 1 << 7;
/// INTENCLR, INTENSET, INTFLAG.
const EW: u8 = 1;
/// STATUS.
const SYNCBUSY: u8 = 1 << 7;
/// CLEAR.
const KEY: u8 = 0xa5;

/// Section 10.3.1: CONFIG and EWCTRL as the factory sets them.
const FACTORY_CONFIG: u8 = 0xbb;
const FACTORY_EWCTRL: u8 = 0x0b;
/// PER, WINDOW, EWOFFSET: 8 clocks at 0, twice as many with each; the last that is not reserved.
const SHORTEST: u64 = 8;
const LONGEST: u8 = 0xb;

/// A write that is being synchronised.
#[derive(Clone, Copy)]
enum Command {
    /// CTRL.
    Control(u8),
    /// CLEAR, with the key.
    Clear,
}

/// A time-out period, in cycles.
#[derive(Clone, Copy)]
struct Period {
    /// From here on it may be cleared.
    opens: u64,
    /// Here INTFLAG.EW rises, once.
    warns: Option<u64>,
    /// Here it resets the part.
    ends: u64,
}

/// The watchdog.
#[derive(Clone)]
pub struct Watchdog {
    name: String,
    base: u32,
    irq: Option<u8>,
    clock_id: usize,
    control: u8,
    config: u8,
    early: u8,
    enables: u8,
    flags: u8,
    /// The running period.
    period: Option<Period>,
    /// The next effect, and its cycle.
    synchronising: Vec<(u64, Command)>,
    /// GCLK_WDT, or what it was before it stopped, and the core's clock, in Hz.
    source_hz: u64,
    clock_hz: u64,
    /// The cycle at which GCLK_WDT stopped, where it stands still.
    stopped: Option<u64>,
}

/// Clocks of PER, WINDOW or EWOFFSET.
fn clocks(field: u8) -> u64 {
    SHORTEST << (field & 15)
}

impl Watchdog {
    /// WDT at `spec.base`, interrupting with `spec.irq`; `settings.clock` is its clock's
    /// GCLK_CLKCTRL.ID.
    ///
    /// # Errors
    /// No clock.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Watchdog, String> {
        let clock = spec.settings.get("clock").and_then(|clock| usize::try_from(*clock).ok());
        Ok(Watchdog {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            clock_id: clock.ok_or_else(|| format!("{}: {} needs clock", part.name, spec.name))?,
            control: 0,
            config: FACTORY_CONFIG,
            early: FACTORY_EWCTRL,
            enables: 0,
            flags: 0,
            period: None,
            synchronising: Vec::new(),
            source_hz: 1,
            clock_hz: part.default_clock_hz,
            stopped: Some(0),
        })
    }

    fn is_on(&self) -> bool {
        self.control & (ENABLE | ALWAYSON) != 0
    }

    /// Core cycles of so many clocks of GCLK_WDT.
    fn cycles(&self, clocks: u64) -> u64 {
        (u128::from(clocks) * u128::from(self.clock_hz)).div_ceil(self.source_hz.into()) as u64
    }

    /// A period begins at cycle `at`. Section 18.6.4: a warning that would come with the reset or
    /// later never comes.
    fn begin(&mut self, at: u64) {
        let open = clocks(self.config);
        self.period = Some(if self.control & WEN != 0 {
            let opens = at + self.cycles(clocks(self.config >> 4));
            Period { opens, warns: Some(opens), ends: opens + self.cycles(open) }
        } else {
            let warns = clocks(self.early);
            let warns = (warns < open).then(|| at + self.cycles(warns));
            Period { opens: at, warns, ends: at + self.cycles(open) }
        });
    }

    fn take_effect(&mut self, at: u64, command: Command) {
        match command {
            Command::Control(control) if control & (ENABLE | ALWAYSON) == 0 => self.period = None,
            Command::Control(_) if self.period.is_some() => {}
            Command::Control(_) => self.begin(at),
            // It was switched off meanwhile.
            Command::Clear if self.period.is_none() => {}
            Command::Clear => self.begin(at),
        }
    }

    /// The cycle of the next of what comes, where its clock runs.
    fn next(&self) -> Option<u64> {
        let effect = self.synchronising.first().map(|(at, _)| *at);
        let period = self.period.map(|period| period.warns.unwrap_or(period.ends));
        let next = effect.into_iter().chain(period).min();
        next.filter(|_| self.stopped.is_none())
    }

    fn advance(&mut self, context: &mut Context<'_, '_>) {
        while let Some(at) = self.next().filter(|at| *at <= context.now) {
            if self.synchronising.first().is_some_and(|(effect, _)| *effect == at) {
                let (_, command) = self.synchronising.remove(0);
                self.take_effect(at, command);
            } else if let Some(period) = self.period.as_mut().filter(|period| period.warns.is_some()) {
                period.warns = None;
                self.flags |= EW;
            } else {
                self.period = None;
                context.events.request_reset(ResetCause::Watchdog);
            }
        }
        self.signal(context);
    }

    fn signal(&self, context: &mut Context<'_, '_>) {
        if let Some(irq) = self.irq {
            if self.flags & self.enables != 0 {
                context.request(irq);
            } else {
                context.withdraw(irq);
            }
        }
    }

    /// Every cycle that it waits for becomes another one.
    fn reschedule(&mut self, change: impl Fn(u64) -> u64) {
        for (at, _) in &mut self.synchronising {
            *at = change(*at);
        }
        self.period = self.period.map(|period| Period {
            opens: change(period.opens),
            warns: period.warns.map(&change),
            ends: change(period.ends),
        });
    }

    /// Comes to the present, of which the clock is.
    fn look(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context);
        let source_hz = context.events.generic_clocks_hz.get(self.clock_id).copied().unwrap_or(0);
        self.follow(source_hz, context.now);
    }

    /// GCLK_WDT has this frequency from cycle `now` on; what has been counted stays.
    fn follow(&mut self, source_hz: u64, now: u64) {
        if source_hz == 0 {
            self.stopped = self.stopped.or(Some(now));
            return;
        }
        let (stood, before) =
            (self.stopped.take().map_or(0, |since| now.saturating_sub(since)), self.source_hz);
        if stood != 0 || source_hz != before {
            self.reschedule(|at| rescaled(at + stood, now, source_hz, before));
            self.source_hz = source_hz;
        }
    }

    /// Lets a write take effect later; an access that comes before the last one has done so waits
    /// for it on the bus.
    fn synchronise(&mut self, command: Command, context: &mut Context<'_, '_>) -> Result<(), String> {
        if self.stopped.is_some() {
            return Err("GCLK_WDT stands still: what is written is never synchronised".into());
        }
        let free = self.synchronising.last().map_or(context.now, |(at, _)| *at);
        *context.stall += free.saturating_sub(context.now);
        let (source, bus) = SYNCHRONISED;
        self.synchronising.push((free + self.cycles(source) + bus, command));
        Ok(())
    }

    fn write_control(&mut self, value: u8, context: &mut Context<'_, '_>) -> Result<(), String> {
        if self.control & ALWAYSON != 0 {
            // Section 18.6.3.1 allows that, and 18.8.1 does not.
            return if (value ^ self.control) & WEN != 0 {
                Err("window mode cannot be switched while it is always on: not modelled".into())
            } else {
                Ok(())
            };
        }
        // WEN is enable-protected.
        let window = if self.is_on() { self.control & WEN } else { value & WEN };
        let control = value & (ENABLE | ALWAYSON) | window;
        if control & (ENABLE | ALWAYSON) != 0 {
            let window = if control & WEN != 0 { self.config >> 4 } else { 0 };
            if (self.config & 15).max(window).max(self.early & 15) > LONGEST {
                return Err("a period of CONFIG or EWCTRL is reserved".into());
            }
        }
        self.synchronise(Command::Control(control), context)?;
        self.control = control;
        Ok(())
    }

    fn write_clear(&mut self, value: u8, context: &mut Context<'_, '_>) -> Result<(), String> {
        if !self.is_on() {
            return if value == KEY {
                Ok(())
            } else {
                Err("CLEAR without the key while it is off: the data sheet does not say what becomes of it"
                    .into())
            };
        }
        if value != KEY || self.period.is_some_and(|period| context.now < period.opens) {
            context.events.request_reset(ResetCause::Watchdog);
            return Ok(());
        }
        self.synchronise(Command::Clear, context)
    }

    fn write_byte(&mut self, offset: u32, value: u8, context: &mut Context<'_, '_>) -> Result<(), String> {
        match offset {
            CTRL => self.write_control(value, context)?,
            // Enable-protected: what is written while it is on is lost.
            CONFIG | EWCTRL if self.is_on() => {}
            CONFIG => self.config = value,
            EWCTRL => self.early = value & 0xf,
            INTENCLR => self.enables &= !value,
            INTENSET => self.enables |= value & EW,
            INTFLAG => self.flags &= !value,
            CLEAR => self.write_clear(value, context)?,
            _ => {}
        }
        Ok(())
    }

    fn read_byte(&self, offset: u32) -> u8 {
        match offset {
            CTRL => self.control,
            CONFIG => self.config,
            EWCTRL => self.early,
            INTENCLR | INTENSET => self.enables,
            INTFLAG => self.flags,
            STATUS if !self.synchronising.is_empty() => SYNCBUSY,
            _ => 0,
        }
    }
}

impl Peripheral for Watchdog {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + SIZE)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.look(context);
        let offset = address - self.base;
        let bytes = (0..u32::from(size)).rev().map(|byte| self.read_byte(offset + byte));
        Ok(bytes.fold(0, |word, byte| word << 8 | u32::from(byte)))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.look(context);
        let offset = address - self.base;
        for (byte, value) in (offset..).zip(value.to_le_bytes()).take(size.into()) {
            self.write_byte(byte, value, context).map_err(|what| context.fault(&self.name, address, what))?;
        }
        self.signal(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        self.next()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        if matches!(event, Event::ControlsChanged) {
            self.look(context);
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            let (before, from) = (self.clock_hz, self.stopped.unwrap_or(now));
            self.reschedule(|at| rescaled(at, from, before, clock_hz));
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.control = 0;
        self.config = FACTORY_CONFIG;
        self.early = FACTORY_EWCTRL;
        self.enables = 0;
        self.flags = 0;
        self.period = None;
        self.synchronising.clear();
        self.stopped = Some(0);
    }

    /// Section 16.6.2.7: always on, it is reset with the power alone.
    fn reset_by(&mut self, cause: ResetCause, now: u64) {
        if self.control & ALWAYSON == 0 || matches!(cause, ResetCause::PowerOn | ResetCause::BrownOut) {
            self.reset();
        } else if self.period.is_none() {
            self.begin(self.stopped.unwrap_or(now));
        }
    }

    fn roles(&self) -> Roles<'_> {
        Roles { watchdog: Some(self), ..Roles::default() }
    }
}

impl WatchdogTimer for Watchdog {
    fn is_running(&self) -> bool {
        (self.is_on() || self.period.is_some()) && self.stopped.is_none()
    }
}
