//! TIMER0 to TIMER4: timer and counter with compare registers, shortcuts and captures. PS, "TIMER".
//!
//! A count of 16 MHz, divided by two to the PRESCALER; a counter that a match clears has been there
//! for no time. Tasks hold at once.

use super::block::{Block, OwnRegisters};
use super::counter::{Compare, Counter, Passed};
use crate::peripherals::register::Register;
use crate::{ClockUpdate, Context, Event, Fault, Peripheral, PeripheralSpec, Spec};
use std::ops::Range;

// Tasks.
const START: u32 = 0x000;
const STOP: u32 = 0x004;
const COUNT: u32 = 0x008;
const CLEAR: u32 = 0x00c;
const SHUTDOWN: u32 = 0x010;
const CAPTURE: u32 = 0x040;

/// EVENTS_COMPARE[0], by its bit.
const COMPARE_SHIFT: u32 = 16;
/// EVENTS_COMPARE[0] to [5]. Of a timer with fewer the others are clear, and may be cleared:
/// Nordic's driver clears six of every timer (nrfx, `haly/nrfy_timer.h`).
const EVENTS_COMPARE: Range<u32> = 0x140..0x158;

const SHORTS: u32 = 0x200;
const MODE: u32 = 0x504;
const BITMODE: u32 = 0x508;
const PRESCALER: u32 = 0x510;
const CC: u32 = 0x540;

/// SHORTS: COMPARE[n] to CLEAR from bit 0 on, to STOP from bit 8 on.
const STOP_SHIFT: usize = 8;
/// The register that keeps what is written.
const MAP: &[Register] = &[Register::new(SHORTS, 0x3f3f)];
/// By BITMODE.
const MASKS: [u32; 4] = [0xffff, 0xff, 0x00ff_ffff, u32::MAX];

const CHANNELS: usize = 6;
const PCLK16M_HZ: u64 = 16_000_000;

/// The timer.
#[derive(Clone)]
pub struct Timer {
    block: Block,
    channels: usize,
    counter: Counter,
    /// Started, in counter mode, too.
    started: bool,
    mode: u32,
    bits: u32,
    prescaler: u32,
    compare: [u32; CHANNELS],
}

impl Timer {
    /// The timer at `spec.base` with `settings.channels` compare registers, 4 where it says
    /// nothing.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Timer {
        let channels = spec.settings.get("channels").copied().unwrap_or(4).clamp(1, CHANNELS as i64) as usize;
        let mut timer = Timer {
            block: Block::new(spec, ((1 << channels) - 1) << COMPARE_SHIFT, MAP),
            channels,
            counter: Counter::new(MASKS[0], PCLK16M_HZ),
            started: false,
            mode: 0,
            bits: 0,
            prescaler: 0,
            compare: [0; CHANNELS],
        };
        timer.reset();
        timer
    }

    fn compares(&self) -> Vec<Compare> {
        let compare = |channel: usize| Compare {
            value: self.compare[channel],
            clear: self.block.registers[SHORTS] >> channel & 1 == 1,
            stop: self.block.registers[SHORTS] >> (channel + STOP_SHIFT) & 1 == 1,
        };
        (0..self.channels).map(compare).collect()
    }

    fn note(&mut self, passed: Passed) {
        self.block.raise(passed.matches << COMPARE_SHIFT);
        self.started &= self.counter.running();
    }

    fn advance(&mut self, now: u64) {
        // In counter mode nothing but COUNT counts.
        if self.mode == 0 {
            let passed = self.counter.advance(now, &self.compares());
            self.note(passed);
        } else {
            self.counter.advance(now, &[]);
        }
    }

    fn task(&mut self, offset: u32) -> Result<(), &'static str> {
        match offset {
            START => {
                self.started = true;
                self.counter.start();
            }
            STOP | SHUTDOWN => {
                self.started = false;
                self.counter.stop();
                if offset == SHUTDOWN {
                    self.counter.clear();
                }
            }
            COUNT if self.mode == 0 => {}
            COUNT if !self.started => {}
            COUNT => {
                let passed = self.counter.count(1, &self.compares());
                self.note(passed);
            }
            CLEAR => self.counter.clear(),
            CAPTURE..0x58 if ((offset - CAPTURE) as usize / 4) < self.channels => {
                self.compare[(offset - CAPTURE) as usize / 4] = self.counter.value();
            }
            _ => return Err("this task is not modelled"),
        }
        Ok(())
    }

    /// The compare register at `offset`.
    fn channel(&self, offset: u32) -> Option<usize> {
        let channel = offset.checked_sub(CC)? as usize / 4;
        (channel < self.channels).then_some(channel)
    }

    /// True where an EVENTS_COMPARE is at `offset` that this timer does not have.
    fn is_absent_event(&self, offset: u32) -> bool {
        EVENTS_COMPARE.contains(&offset) && (offset - EVENTS_COMPARE.start) as usize / 4 >= self.channels
    }
}

impl OwnRegisters for Timer {
    fn block(&mut self) -> &mut Block {
        &mut self.block
    }

    fn write_own(
        &mut self,
        offset: u32,
        value: u32,
        _context: &mut Context<'_, '_>,
    ) -> Result<(), &'static str> {
        let still = !self.started;
        match (offset, self.channel(offset)) {
            (0..0x100, _) if value & 1 == 0 => {}
            (0..0x100, _) => self.task(offset)?,
            _ if self.is_absent_event(offset) && value == 0 => {}
            (MODE | BITMODE | PRESCALER, _) if !still => return Err("it is set up while it runs"),
            (MODE, _) if value & 3 == 3 => return Err("a reserved value of MODE"),
            (MODE, _) => {
                self.mode = value & 3;
                // What was counted is not followed into another mode.
                self.counter.source_hz = if self.mode == 0 { PCLK16M_HZ } else { 0 };
            }
            (BITMODE, _) => {
                self.bits = value & 3;
                self.counter.mask = MASKS[self.bits as usize];
                self.counter.set_value(self.counter.value());
            }
            (PRESCALER, _) if value & 15 > 9 => return Err("PRESCALER above 9"),
            (PRESCALER, _) => {
                self.prescaler = value & 15;
                self.counter.divider = 1 << self.prescaler;
            }
            (_, Some(channel)) => self.compare[channel] = value,
            _ => return Err("register not modelled"),
        }
        Ok(())
    }
}

impl Peripheral for Timer {
    fn spec(&self) -> Spec {
        self.block.spec()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context.now);
        self.block.signal(context);
        let offset = (address - self.block.base) & !3;
        let own = match offset {
            0..0x100 => Some(0),
            MODE => Some(self.mode),
            BITMODE => Some(self.bits),
            PRESCALER => Some(self.prescaler),
            _ if self.is_absent_event(offset) => Some(0),
            _ => self.channel(offset).map(|channel| self.compare[channel]),
        };
        self.block.read(address, size, own, context)
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.advance(context.now);
        self.write_register(address, size, value, context).map(|_| ())
    }

    /// The next match that somebody waits for.
    fn due(&self) -> Option<u64> {
        let wanted = self.block.awaited() >> COMPARE_SHIFT;
        if wanted == 0 || self.mode != 0 {
            return None;
        }
        let compares = self.compares();
        let channels = (0..self.channels).filter(|channel| wanted >> channel & 1 == 1);
        channels.filter_map(|channel| self.counter.cycle_at(self.compare[channel], &compares)).min()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context.now);
        self.block.signal(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        if matches!(event, Event::ControlsChanged) {
            self.advance(context.now);
            self.block.connect(context);
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.advance(now);
            self.counter.set_clock(clock_hz);
        }
    }

    fn reset(&mut self) {
        self.block.reset();
        self.counter.stop();
        self.counter.clear();
        self.counter.mask = MASKS[0];
        self.counter.source_hz = PCLK16M_HZ;
        self.started = false;
        self.mode = 0;
        self.bits = 0;
        self.prescaler = 4;
        self.counter.divider = 1 << self.prescaler;
        self.compare = [0; CHANNELS];
    }
}
