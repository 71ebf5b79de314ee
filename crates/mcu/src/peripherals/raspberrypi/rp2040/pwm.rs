//! PWM: eight slices, each a counter with a fractional divider and two outputs. Section 4.5.
//!
//! Compare and wrap values are taken over where the counter wraps, or at once while the slice
//! stands still (the SDK's `pwm_set_wrap`). With phase-correct modulation the period is twice TOP +
//! 1 counts (section 4.5.2, the formula of its frequency), so the counter stands for two of them at
//! 0 and at TOP. Between two counts lies the divider's value on average; which of them come a cycle
//! later is not said, and here the first ones do. Refused: slices that count or are gated by their
//! pin B (CSR.DIVMODE), PH_RET and PH_ADV, and DMA.

use super::interrupts::Interrupts;
use super::{BLOCK, Write, register};
use crate::peripherals::register::part_of_word;
use crate::{Context, Event, Fault, Peripheral, PeripheralSpec, Pin, Spec};

const SLICES: usize = 8;
const STRIDE: u32 = 0x14;
/// Registers of a slice.
const CSR: u32 = 0x00;
const DIV: u32 = 0x04;
const CTR: u32 = 0x08;
const CC: u32 = 0x0c;
const TOP: u32 = 0x10;
/// Those of all.
const EN: u32 = 0xa0;
const INTR: u32 = 0xa4;
const INTE: u32 = 0xa8;
const INTS: u32 = 0xb0;

/// CSR.
const CSR_EN: u32 = 1 << 0;
const PH_CORRECT: u32 = 1 << 1;
const A_INV: u32 = 1 << 2;
const DIVMODE: u32 = 3 << 4;
const PHASE: u32 = 3 << 6;
const DIV_RESET: u32 = 1 << 4;
const DIV_MASK: u32 = 0xfff;

/// Its bit in RESETS.RESET.
const RESET: u32 = 1 << 14;
/// FUNCSEL of the pins, of which each has a channel: GPIO0 is A of slice 0, GPIO1 its B, and so on;
/// from GPIO16 on again (table 279).
pub(super) const FUNCTION: u8 = 4;
const PINS: u8 = 30;

/// A slice.
#[derive(Clone)]
struct Slice {
    control: u32,
    divider: u32,
    /// Counts since the beginning of the period.
    position: u32,
    compare: u32,
    compare_next: u32,
    top: u32,
    top_next: u32,
    /// The cycle up to which it has counted, and sixteenths of cycles that have gone by since its
    /// last count.
    since: u64,
    rest: u64,
    /// True where channels A and B are at pins.
    shown: [bool; 2],
}

impl Slice {
    fn new(since: u64) -> Slice {
        Slice {
            control: 0,
            divider: DIV_RESET,
            position: 0,
            compare: 0,
            compare_next: 0,
            top: 0xffff,
            top_next: 0xffff,
            since,
            rest: 0,
            shown: [false; 2],
        }
    }

    fn is_on(&self) -> bool {
        self.control & CSR_EN != 0
    }

    /// Sixteenths of a cycle between two counts; an integer part of 0 is 256.
    fn step(&self) -> u64 {
        match self.divider {
            fraction @ 0..16 => (256 << 4 | fraction).into(),
            divider => divider.into(),
        }
    }

    /// Counts of a period.
    fn period(&self) -> u32 {
        (self.top + 1) << u32::from(self.control & PH_CORRECT != 0)
    }

    /// CTR.
    fn count(&self) -> u32 {
        let falls = self.control & PH_CORRECT != 0 && self.position > self.top;
        if falls { self.period().saturating_sub(1 + self.position) } else { self.position }
    }

    fn level(&self, channel: usize) -> bool {
        let high = self.count() < self.compare >> (16 * channel) & 0xffff;
        high != (self.control & A_INV << channel != 0)
    }

    fn latch(&mut self) {
        (self.compare, self.top) = (self.compare_next, self.top_next);
    }

    /// Counts from now until something may be seen: the next change of a channel that is at a pin,
    /// or the end of the period.
    fn until_event(&self) -> u64 {
        let mut next = self.period();
        for channel in (0..2).filter(|channel| self.shown[*channel]) {
            let compare = self.compare >> (16 * channel) & 0xffff;
            for at in [compare, self.period().saturating_sub(compare)] {
                if at > self.position {
                    next = next.min(at);
                }
            }
        }
        (next - self.position).into()
    }

    /// The cycle of the count that comes after so many.
    fn cycle_of(&self, counts: u64) -> u64 {
        self.since + (counts * self.step() - self.rest).div_ceil(16)
    }

    /// Counts up to a cycle; whether it wrapped.
    fn advance(&mut self, now: u64) -> bool {
        let elapsed = now.saturating_sub(self.since);
        self.since = self.since.max(now);
        if !self.is_on() {
            return false;
        }
        let parts = elapsed * 16 + self.rest;
        let mut counts = parts / self.step();
        self.rest = parts % self.step();
        let mut wrapped = false;
        while counts != 0 {
            let left = u64::from(self.period() - self.position);
            if counts < left {
                self.position += counts as u32;
                break;
            }
            counts -= left;
            self.position = 0;
            wrapped = true;
            self.latch();
            counts %= u64::from(self.period());
        }
        wrapped
    }
}

/// The registers.
#[derive(Clone)]
pub struct Pwm {
    name: String,
    base: u32,
    irq: u8,
    /// The port that its pins are of, and the routing of the board when they were last looked at.
    port: String,
    routing: Option<u32>,
    /// The level that each of its pins was last driven to.
    driven: [Option<bool>; PINS as usize],
    held: bool,
    slices: [Slice; SLICES],
    raised: u32,
    interrupts: Interrupts,
}

impl Pwm {
    /// PWM at `spec.base`, interrupting with `spec.irq`; its pins are those of the port `GPIO`.
    ///
    /// # Errors
    /// No interrupt.
    pub fn new(spec: &PeripheralSpec) -> Result<Pwm, String> {
        Ok(Pwm {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq.filter(|irq| *irq < 128).ok_or_else(|| format!("{} needs irq", spec.name))?,
            port: "GPIO".into(),
            routing: None,
            driven: [None; PINS as usize],
            held: false,
            slices: std::array::from_fn(|_| Slice::new(0)),
            raised: 0,
            interrupts: Interrupts::new(0xff),
        })
    }

    /// The slice and the channel of a pin.
    fn channel(pin: u8) -> (usize, usize) {
        (usize::from(pin >> 1) % SLICES, usize::from(pin & 1))
    }

    /// Its pins, if they have changed.
    fn look(&mut self, context: &mut Context<'_, '_>) {
        if self.routing.replace(context.board.routing()) == Some(context.board.routing()) {
            return;
        }
        self.slices.iter_mut().for_each(|slice| slice.shown = [false; 2]);
        for pin in 0..PINS {
            if context.board.alternate_function(&Pin::new(&self.port, pin)) == Some(FUNCTION) {
                let (slice, channel) = Pwm::channel(pin);
                self.slices[slice].shown[channel] = true;
            } else {
                self.driven[usize::from(pin)] = None;
            }
        }
    }

    /// Its pins have the levels of their channels, from cycle `at` on.
    fn drive(&mut self, slice: usize, at: u64, context: &mut Context<'_, '_>) {
        for pin in (0..PINS).filter(|pin| Pwm::channel(*pin).0 == slice) {
            let (_, channel) = Pwm::channel(pin);
            let at_pin = Pin::new(&self.port, pin);
            if context.board.alternate_function(&at_pin) != Some(FUNCTION) {
                continue;
            }
            let level = Some(self.slices[slice].level(channel));
            if std::mem::replace(&mut self.driven[usize::from(pin)], level) != level {
                context.module_output(&at_pin, level, at);
            }
        }
    }

    /// Time passes up to now, event by event.
    fn advance(&mut self, context: &mut Context<'_, '_>) {
        self.look(context);
        for index in 0..SLICES {
            while self.slices[index].shown != [false; 2] && self.slices[index].is_on() {
                let at = self.slices[index].cycle_of(self.slices[index].until_event());
                if at > context.now {
                    break;
                }
                self.raised |= u32::from(self.slices[index].advance(at)) << index;
                self.drive(index, at, context);
            }
            self.raised |= u32::from(self.slices[index].advance(context.now)) << index;
        }
    }

    /// After something was written.
    fn settle(&mut self, context: &mut Context<'_, '_>) {
        for index in 0..SLICES {
            if self.slices[index].shown != [false; 2] {
                self.drive(index, context.now, context);
            }
        }
        if self.interrupts.status(self.raised) != 0 {
            context.request(self.irq);
        } else {
            context.withdraw(self.irq);
        }
    }

    fn set_control(&mut self, index: usize, control: u32) -> Result<(), &'static str> {
        if control & DIVMODE != 0 {
            return Err("slices that count by their pin B (CSR.DIVMODE) are not modelled");
        }
        if control & PHASE != 0 {
            return Err("PH_RET and PH_ADV are not modelled");
        }
        let slice = &mut self.slices[index];
        if (slice.control ^ control) & PH_CORRECT != 0 {
            slice.position = slice.count();
        }
        slice.control = control & 0xf;
        Ok(())
    }

    fn write_register(&mut self, offset: u32, write: Write) -> Result<(), &'static str> {
        match offset {
            EN => {
                let before = self.on();
                let after = write.onto(before) & 0xff;
                for index in 0..SLICES {
                    let slice = &mut self.slices[index];
                    slice.control = slice.control & !CSR_EN | after >> index & 1;
                }
            }
            // A one clears, by whatever alias it comes.
            INTR => self.raised &= !write.value,
            INTE..=INTS => self.interrupts.write(offset - INTE, write),
            _ if offset >= EN => return Err("register not modelled"),
            _ => {
                let index = (offset / STRIDE) as usize;
                let slice = &mut self.slices[index];
                match offset % STRIDE {
                    CSR => {
                        let control = write.onto(slice.control);
                        self.set_control(index, control)?;
                    }
                    DIV => {
                        slice.divider = write.onto(slice.divider) & DIV_MASK;
                        slice.rest = slice.rest.min(slice.step() - 1);
                    }
                    CTR => slice.position = write.onto(slice.count()) & 0xffff,
                    CC => slice.compare_next = write.onto(slice.compare_next),
                    TOP => slice.top_next = write.onto(slice.top_next) & 0xffff,
                    _ => return Err("register not modelled"),
                }
            }
        }
        for slice in &mut self.slices {
            if !slice.is_on() {
                slice.latch();
            } else if slice.position >= slice.period() {
                slice.control &= !CSR_EN;
                return Err("a counter beyond TOP, which would count on to 65535, is not modelled");
            }
        }
        Ok(())
    }

    fn on(&self) -> u32 {
        self.slices.iter().enumerate().fold(0, |on, (index, slice)| on | (slice.control & CSR_EN) << index)
    }

    /// As after its own reset.
    fn clear(&mut self, now: u64) {
        self.slices = std::array::from_fn(|_| Slice::new(now));
        self.raised = 0;
        self.interrupts.reset();
        self.routing = None;
    }

    fn on_controls_changed(&mut self, context: &mut Context<'_, '_>) {
        self.held = context.events.held & RESET != 0;
        if self.held {
            self.clear(context.now);
            self.look(context);
            self.settle(context);
        }
    }
}

impl Peripheral for Pwm {
    fn spec(&self) -> Spec {
        Spec { follows_inputs: true, ..Spec::new(&self.name, self.base..self.base + BLOCK) }
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context);
        let offset = register(address);
        let slice = &self.slices[(offset / STRIDE) as usize % SLICES];
        let word = match offset {
            EN => self.on(),
            INTR => self.raised,
            INTE..=INTS => self.interrupts.read(offset - INTE, self.raised),
            _ if offset >= EN => return context.refuse(&self.name, address, "register not modelled"),
            _ => match offset % STRIDE {
                CSR => slice.control,
                DIV => slice.divider,
                CTR => slice.count(),
                CC => slice.compare_next,
                _ => slice.top_next,
            },
        };
        self.settle(context);
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
        self.advance(context);
        let written = self.write_register(register(address), Write::new(address, size, value));
        written.map_err(|what| context.fault(&self.name, address, what))?;
        self.settle(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        let seen = |(index, slice): &(usize, &Slice)| {
            slice.is_on() && (slice.shown != [false; 2] || self.interrupts.enabled() >> index & 1 == 1)
        };
        let slices = self.slices.iter().enumerate().filter(seen);
        slices.map(|(_, slice)| slice.cycle_of(slice.until_event())).min()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context);
        self.settle(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::InputsChanged => {
                self.advance(context);
                self.settle(context);
            }
            Event::ControlsChanged => self.on_controls_changed(context),
            _ => {}
        }
    }

    fn reset(&mut self) {
        self.clear(0);
        self.held = false;
        self.driven = [None; PINS as usize];
    }

    fn reset_by(&mut self, _cause: crate::ResetCause, now: u64) {
        self.reset();
        self.slices = std::array::from_fn(|_| Slice::new(now));
    }
}
