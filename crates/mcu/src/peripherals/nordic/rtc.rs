//! RTC0 to RTC2: a counter of 24 bits of LFCLK, with compare registers. PS, "RTC".
//!
//! An event comes about only where INTEN or EVTEN has it enabled. Tasks hold at once, where the
//! part takes up to two periods of LFCLK.

use super::block::{Block, OwnRegisters};
use super::clock::LFCLK;
use super::counter::{Compare, Counter, Passed};
use crate::{ClockUpdate, Context, Event, Fault, Peripheral, PeripheralSpec, Spec};
use std::ops::Range;

// Tasks.
const START: u32 = 0x000;
const STOP: u32 = 0x004;
const CLEAR: u32 = 0x008;
const TRIGOVRFLW: u32 = 0x00c;

// Events, by their bits.
const TICK: u32 = 1 << 0;
const OVRFLW: u32 = 1 << 1;
const COMPARE_SHIFT: u32 = 16;

/// EVENTS_COMPARE[0] to [3]. Those that a counter does not have are clear, and may be cleared, as a
/// timer's.
const EVENTS_COMPARE: Range<u32> = 0x140..0x150;
const EVTEN: u32 = 0x340;
const EVTENSET: u32 = 0x344;
const EVTENCLR: u32 = 0x348;
const COUNTER: u32 = 0x504;
const PRESCALER: u32 = 0x508;
const CC: u32 = 0x540;

const MASK: u32 = 0x00ff_ffff;
/// TRIGOVRFLW.
const NEAR_OVERFLOW: u32 = 0x00ff_fff0;
const CHANNELS: usize = 4;

/// The counter.
#[derive(Clone)]
pub struct Rtc {
    block: Block,
    known: u32,
    channels: usize,
    counter: Counter,
    routed: u32,
    prescaler: u32,
    compare: [u32; CHANNELS],
}

impl Rtc {
    /// The counter at `spec.base` with `settings.channels` compare registers, 4 where it says
    /// nothing.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Rtc {
        let channels = spec.settings.get("channels").copied().unwrap_or(4).clamp(1, CHANNELS as i64) as usize;
        let known = TICK | OVRFLW | ((1 << channels) - 1) << COMPARE_SHIFT;
        Rtc {
            block: Block::new(spec, known, &[]),
            known,
            channels,
            counter: Counter::new(MASK, 0),
            routed: 0,
            prescaler: 0,
            compare: [0; CHANNELS],
        }
    }

    fn compares(&self) -> Vec<Compare> {
        let compare = |value: &u32| Compare { value: *value, clear: false, stop: false };
        self.compare[..self.channels].iter().map(compare).collect()
    }

    fn advance(&mut self, now: u64) {
        let Passed { matches, overflow, ticked } = self.counter.advance(now, &self.compares());
        let events = matches << COMPARE_SHIFT | u32::from(overflow) * OVRFLW | u32::from(ticked) * TICK;
        self.block.raise(events & (self.block.enabled | self.routed));
    }

    fn channel(&self, offset: u32) -> Option<usize> {
        let channel = offset.checked_sub(CC)? as usize / 4;
        (channel < self.channels).then_some(channel)
    }

    /// True where an EVENTS_COMPARE is at `offset` that this counter does not have.
    fn is_absent_event(&self, offset: u32) -> bool {
        EVENTS_COMPARE.contains(&offset) && (offset - EVENTS_COMPARE.start) as usize / 4 >= self.channels
    }
}

impl OwnRegisters for Rtc {
    fn block(&mut self) -> &mut Block {
        &mut self.block
    }

    fn write_own(
        &mut self,
        offset: u32,
        value: u32,
        _context: &mut Context<'_, '_>,
    ) -> Result<(), &'static str> {
        match (offset, self.channel(offset)) {
            (0..0x100, _) if value & 1 == 0 => {}
            _ if self.is_absent_event(offset) && value == 0 => {}
            (START, _) => self.counter.start(),
            (STOP, _) => self.counter.stop(),
            (CLEAR, _) => self.counter.clear(),
            (TRIGOVRFLW, _) => self.counter.set_value(NEAR_OVERFLOW),
            (EVTEN, _) => self.routed = value & self.known,
            (EVTENSET, _) => self.routed |= value & self.known,
            (EVTENCLR, _) => self.routed &= !value,
            (PRESCALER, _) if self.counter.running() => return Err("PRESCALER is written while it runs"),
            (PRESCALER, _) => {
                self.prescaler = value & 0xfff;
                self.counter.divider = u64::from(self.prescaler) + 1;
            }
            (_, Some(channel)) => self.compare[channel] = value & MASK,
            _ => return Err("register not modelled"),
        }
        Ok(())
    }
}

impl Peripheral for Rtc {
    fn spec(&self) -> Spec {
        self.block.spec()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context.now);
        self.block.signal(context);
        let offset = (address - self.block.base) & !3;
        let own = match offset {
            0..0x100 => Some(0),
            EVTEN | EVTENSET | EVTENCLR => Some(self.routed),
            COUNTER => Some(self.counter.value()),
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

    /// The next event that somebody waits for.
    fn due(&self) -> Option<u64> {
        let wanted = self.block.awaited() & (self.block.enabled | self.routed);
        if wanted == 0 {
            return None;
        }
        let tick = (wanted & TICK != 0).then(|| self.counter.cycle_after(1)).flatten();
        let overflow = (wanted & OVRFLW != 0).then(|| self.counter.cycle_at(0, &[])).flatten();
        let channels =
            (0..self.channels).filter(|channel| wanted >> (COMPARE_SHIFT as usize + channel) & 1 == 1);
        let matches = channels.filter_map(|channel| self.counter.cycle_at(self.compare[channel], &[]));
        matches.chain(tick).chain(overflow).min()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context.now);
        self.block.signal(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        if matches!(event, Event::ControlsChanged) {
            self.advance(context.now);
            self.block.connect(context);
            self.counter.source_hz = context.events.generic_clocks_hz.get(LFCLK).copied().unwrap_or(0);
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
        self.counter.source_hz = 0;
        self.counter.divider = 1;
        self.routed = 0;
        self.prescaler = 0;
        self.compare = [0; CHANNELS];
    }
}
