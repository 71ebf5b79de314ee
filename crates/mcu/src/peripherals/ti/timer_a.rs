//! Timer_A and Timer_B of the MSP430F5xx and MSP430FR5xx.
//!
//! They have up, continuous and up/down mode, compare, capture and output units.
//!
//! Source: SLAU208 and SLAU367, chapters "Timer_A" and "Timer_B". The counter runs from SMCLK or
//! ACLK through both dividers; Timer_B's may be shorter (`CNTLx`). External clocks, captures of
//! signals within the part, and loading Timer_B's compare latches later than at once are not
//! modelled and refused with a fault; SCCI reads as 0. A counter is not stepped: its value is
//! computed from the cycle, and the machine is woken only for interrupts that are enabled and
//! levels that change.

mod capture;
mod outputs;
mod signals;

use super::clocks::{Clocks, Source};
use super::dma::Trigger;
use crate::{ClockUpdate, Context, Event, Fault, Part, Peripheral, PeripheralSpec, Spec};
use outputs::OutputUnits;
pub(super) use signals::{OUTPUT, Signals};

const CTL: u32 = 0x00;
const CCTL0: u32 = 0x02;
const R: u32 = 0x10;
const CCR0: u32 = 0x12;
const EX0: u32 = 0x20;
const IV: u32 = 0x2e;
const END: u32 = 0x30;

/// Bits of `TAxCTL`.
const TACLR: u32 = 0x04;
const TAIE: u32 = 0x02;
const TAIFG: u32 = 0x01;
/// `CNTLx` and `TBCLGRPx` of `TBxCTL`.
const CNTL: u32 = 0x1800;
const TBCLGRP: u32 = 0x6000;
/// Bits of `TAxCCTLn`: capture, enable, flag.
const CAP: u32 = 0x100;
/// `CLLDx` of `TBxCCTLn`.
const CLLD: u32 = 0x600;
const CCIE: u32 = 0x10;
const CCIFG: u32 = 0x01;
/// `MCx`: stopped, up, continuous, up/down.
const MC_STOP: u32 = 0;
const MC_UP: u32 = 1;
const MC_UP_DOWN: u32 = 3;
/// The longest timers have seven channels.
const CHANNELS: usize = 7;

/// "If the CCIE bit is set, the CCIFG flag does not trigger a transfer."
fn triggers(capture_control: u32) -> bool {
    capture_control & (CCIE | CCIFG) == CCIFG
}

/// Module: one of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Timer_A.
    A,
    /// Timer_B.
    B,
}

/// Timer_A or Timer_B.
#[derive(Clone)]
pub struct Timer {
    name: String,
    kind: Kind,
    base: u32,
    /// Vector of `CCR0`; the one below serves all other flags.
    irq: u8,
    clocks: Clocks,
    channels: usize,
    control: u32,
    expansion: u32,
    capture_control: [u32; CHANNELS],
    compare: [u32; CHANNELS],
    /// A captured count has not been read.
    unread: [bool; CHANNELS],
    outputs: OutputUnits,
    signals: Signals,
    /// The counter at its last change of settings, and the count of the source clock then.
    value: u32,
    since: u64,
    /// In up/down mode: it counted down then.
    down: bool,
    /// Counter clocks since then whose flags are set already.
    seen: u64,
    served: bool,
    /// CCIFG of CCR0 and CCR2 as triggers of the DMA controller.
    triggers: [Trigger; 2],
}

/// The channels whose flags trigger transfers.
const TRIGGERING: [usize; 2] = [0, 2];

impl Timer {
    /// The timer with its registers from `spec.base` on; `spec.irq` is the vector of `CCR0`, and
    /// the setting `channels` says how many capture/compare registers it has; `dma_ccr0_#` and
    /// `dma_ccr2_#` are the triggers of the DMA controller that it makes ([`Trigger`]); its pins
    /// are those of [`Signals::new`].
    ///
    /// # Errors
    /// A trigger or a signal that does not exist.
    pub fn new(part: &Part, spec: &PeripheralSpec, kind: Kind) -> Result<Timer, String> {
        let channels = spec.settings.get("channels").copied().unwrap_or(3);
        let channels = (channels.max(1) as usize).min(CHANNELS);
        Ok(Timer {
            name: spec.name.clone(),
            kind,
            base: spec.base,
            irq: spec.irq.unwrap_or(1),
            clocks: Clocks::new(part),
            channels,
            control: 0,
            expansion: 0,
            capture_control: [0; CHANNELS],
            compare: [0; CHANNELS],
            unread: [false; CHANNELS],
            outputs: OutputUnits::default(),
            signals: Signals::new(spec, channels)?,
            value: 0,
            since: 0,
            down: false,
            seen: 0,
            served: false,
            triggers: [Trigger::new(spec, "dma_ccr0")?, Trigger::new(spec, "dma_ccr2")?],
        })
    }

    fn mode(&self) -> u32 {
        // In the modes that count to CCR0 the value 0 stops the timer.
        match self.control >> 4 & 3 {
            MC_UP | MC_UP_DOWN if self.compare[0] == 0 => MC_STOP,
            mode => mode,
        }
    }

    /// The highest count: 16 bits, or as `CNTLx` has it.
    fn highest(&self) -> u32 {
        [0xffff, 0xfff, 0x3ff, 0xff][(self.control >> 11 & 3) as usize]
    }

    fn divider(&self) -> u64 {
        (1 << (self.control >> 6 & 3)) * (u64::from(self.expansion & 7) + 1)
    }

    fn source(&self) -> Source {
        if self.control >> 8 & 3 == 1 { Source::Aclk } else { Source::Smclk }
    }

    fn source_count(&self, cycle: u64) -> u64 {
        self.clocks.count(self.source(), cycle)
    }

    /// Counter clocks since the last change of settings.
    fn clocks_at(&self, cycle: u64) -> u64 {
        if self.mode() == MC_STOP {
            0
        } else {
            self.source_count(cycle).saturating_sub(self.since) / self.divider()
        }
    }

    /// The cycle of a counter clock.
    fn cycle_of(&self, clock: u64) -> u64 {
        self.clocks.edge(self.source(), self.since + clock * self.divider())
    }

    fn period(&self) -> u64 {
        let (top, highest) = (u64::from(self.compare[0]), u64::from(self.highest()));
        match self.mode() {
            MC_UP if top <= highest => top + 1,
            MC_UP_DOWN => 2 * top,
            _ => highest + 1,
        }
    }

    /// Clocks since the counter stood at 0, at the last change of settings.
    fn phase(&self) -> u64 {
        let (value, period) = (u64::from(self.value), self.period());
        if self.mode() == MC_UP_DOWN && self.down {
            return period.saturating_sub(value) % period;
        }
        // Beyond the period the next clock goes to 0.
        if value >= period { period - 1 } else { value }
    }

    /// Clocks since the counter stood at 0.
    fn position(&self, clock: u64) -> u64 {
        (self.phase() + clock) % self.period()
    }

    fn counter(&self, clock: u64) -> u32 {
        let position = self.position(clock) as u32;
        match self.mode() {
            _ if clock == 0 => self.value,
            MC_UP_DOWN if position > self.compare[0] => 2 * self.compare[0] - position,
            _ => position,
        }
    }

    /// The first clock after `clock` at which the counter gets to `value`.
    fn next(&self, value: u32, clock: u64) -> Option<u64> {
        let (value, period) = (u64::from(value), self.period());
        let up_down = self.mode() == MC_UP_DOWN;
        let highest = if up_down { period / 2 } else { period - 1 };
        if self.mode() == MC_STOP || value > highest {
            return None;
        }
        let now = self.position(clock);
        let ahead = |position: u64| (position + period - now - 1) % period + 1;
        // Up/down it comes by twice.
        let first = if up_down { ahead(value).min(ahead((period - value) % period)) } else { ahead(value) };
        Some(clock + first)
    }

    /// Sets the flags of all that came up to `cycle`.
    fn advance(&mut self, cycle: u64) {
        let clock = self.clocks_at(cycle);
        let came = |value, from| self.next(value, from).is_some_and(|at| at <= clock);
        let overflow = came(0, self.seen);
        let compares: Vec<bool> =
            (0..self.channels).map(|n| self.compares(n) && came(self.compare[n], self.seen)).collect();
        self.run_outputs(clock);
        self.control |= u32::from(overflow) * TAIFG;
        for (n, matched) in compares.into_iter().enumerate() {
            self.capture_control[n] |= u32::from(matched) * CCIFG;
        }
        self.seen = clock;
    }

    /// Returns true if a channel compares, and does not capture.
    fn compares(&self, channel: usize) -> bool {
        self.capture_control[channel] & CAP == 0
    }

    /// Starts counting anew from here, where settings are about to change.
    fn rebase(&mut self, cycle: u64) {
        self.advance(cycle);
        if self.mode() == MC_UP_DOWN {
            // At the top it goes down from here on.
            self.down = self.position(self.seen) >= u64::from(self.compare[0]);
        }
        self.value = self.counter(self.seen);
        self.since = self.source_count(cycle);
        self.seen = 0;
    }

    fn pending(&self, channel: usize) -> bool {
        self.capture_control[channel] & (CCIE | CCIFG) == CCIE | CCIFG
    }

    fn update(&mut self, context: &mut Context<'_, '_>) {
        let overflow = self.control & (TAIE | TAIFG) == TAIE | TAIFG;
        let others = overflow || (1..self.channels).any(|channel| self.pending(channel));
        for (irq, requested) in [(self.irq, self.pending(0)), (self.irq - 1, others)] {
            if requested {
                context.request(irq);
            } else {
                context.withdraw(irq);
            }
        }
        for (trigger, channel) in self.triggers.iter_mut().zip(TRIGGERING) {
            trigger.set(triggers(self.capture_control[channel]), context);
        }
        self.drive_edges(context);
    }

    /// Reads and clears the interrupt of the highest priority but that of `CCR0`.
    fn take_vector(&mut self) -> u32 {
        for channel in 1..self.channels {
            if self.pending(channel) {
                self.capture_control[channel] &= !CCIFG;
                return 2 * channel as u32;
            }
        }
        if self.control & (TAIE | TAIFG) == TAIE | TAIFG {
            self.control &= !TAIFG;
            return 0x0e;
        }
        0
    }

    fn on_inputs_changed(&mut self, context: &mut Context<'_, '_>) {
        let moved = self.signals.look(context.board);
        let captures = (0..self.channels).any(|channel| self.captures(channel));
        if !moved && !captures {
            return;
        }
        self.advance(context.now);
        self.update(context);
        if moved {
            self.drive_all(context);
        }
        for channel in (0..self.channels).filter(|channel| self.captures(*channel)).collect::<Vec<_>>() {
            self.look_at_input(channel, context.board);
        }
        self.update(context);
    }

    fn on_dma_acknowledged(&mut self, lines: u128, context: &mut Context<'_, '_>) {
        for (trigger, channel) in self.triggers.iter().zip(TRIGGERING) {
            if trigger.lines() & lines != 0 {
                self.capture_control[channel] &= !CCIFG;
            }
        }
        self.update(context);
    }
}

impl Peripheral for Timer {
    fn spec(&self) -> Spec {
        Spec {
            interrupts: 0b11 << (self.irq - 1),
            dma_lines: self.triggers[0].lines() | self.triggers[1].lines(),
            follows_inputs: true,
            ..Spec::new(&self.name, self.base..self.base + END)
        }
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context.now);
        let offset = (address - self.base) & !1;
        let channels = self.channels as u32;
        let word = match offset {
            CTL => self.control,
            R => self.counter(self.seen),
            EX0 => self.expansion,
            IV => self.take_vector(),
            _ if (CCTL0..CCTL0 + 2 * channels).contains(&offset) => {
                self.capture_control[((offset - CCTL0) / 2) as usize]
            }
            _ if (CCR0..CCR0 + 2 * channels).contains(&offset) => {
                let channel = ((offset - CCR0) / 2) as usize;
                self.unread[channel] = false;
                self.compare[channel]
            }
            _ => return context.refuse(&self.name, address, "there is no such register"),
        };
        self.update(context);
        Ok(if size == 2 { word } else { word >> (8 * (address & 1)) & 0xff })
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        if size != 2 {
            return context.refuse(&self.name, address, "the registers are written in words");
        }
        self.rebase(context.now);
        let offset = address - self.base;
        let channels = self.channels as u32;
        match offset {
            CTL => {
                if self.kind == Kind::B && value & TBCLGRP != 0 {
                    return context.refuse(&self.name, address, "groups of compare latches are not modelled");
                }
                if value >> 4 & 3 != MC_STOP && !matches!(value >> 8 & 3, 1 | 2) {
                    return context.refuse(&self.name, address, "an external clock is not modelled");
                }
                let length = if self.kind == Kind::B { CNTL } else { 0 };
                self.control = value & (0x3ff | length) & !TACLR;
                self.since = self.source_count(context.now);
                if value & TACLR != 0 {
                    self.value = 0;
                    self.down = false;
                }
            }
            R => self.value = value & self.highest(),
            EX0 => self.expansion = value & 7,
            IV => {
                self.take_vector();
            }
            _ if (CCTL0..CCTL0 + 2 * channels).contains(&offset) => {
                let channel = ((offset - CCTL0) / 2) as usize;
                if channel == 0 && value & CAP == 0 && Timer::acts_by_equ0(value) {
                    let what = "output modes 2, 3, 6 and 7 are of no use in channel 0, whose EQU0 is its own: the manual does not say \
                                what they do";
                    return context.refuse(&self.name, address, what);
                }
                if self.kind == Kind::B && value & CLLD != 0 {
                    let what = "compare latches that are loaded later are not modelled";
                    return context.refuse(&self.name, address, what);
                }
                self.write_capture_control(channel, value, context.board);
                if self.captures(channel) && self.capture_input(channel, context.board).is_none() {
                    let what = "this capture input is no pin: signals within the part are not modelled";
                    return context.refuse(&self.name, address, what);
                }
                self.output_written(channel, context.now);
            }
            _ if (CCR0..CCR0 + 2 * channels).contains(&offset) => {
                self.compare[((offset - CCR0) / 2) as usize] = value;
            }
            _ => return context.refuse(&self.name, address, "there is no such register"),
        }
        if self.mode() == MC_UP_DOWN && self.value > self.compare[0] {
            let what = "a counter beyond CCR0 in up/down mode is not modelled; clear it with TACLR";
            return context.refuse(&self.name, address, what);
        }
        self.update(context);
        Ok(())
    }

    fn clock_needed(&self) -> Option<&'static str> {
        (self.mode() != MC_STOP).then_some(self.source().name())
    }

    fn due(&self) -> Option<u64> {
        if self.served {
            return Some(0);
        }
        let overflow = (self.control & TAIE != 0).then_some(0);
        let enabled =
            (0..self.channels).filter(|n| self.compares(*n) && self.capture_control[*n] & CCIE != 0);
        let triggering = self.triggers.iter().zip(TRIGGERING);
        let triggering =
            triggering.filter(|(trigger, channel)| trigger.is_wanted() && self.compares(*channel));
        overflow
            .into_iter()
            .chain(enabled.chain(triggering.map(|(_, channel)| channel)).map(|channel| self.compare[channel]))
            .filter_map(|value| self.next(value, self.seen))
            .chain(self.next_output(self.seen))
            .min()
            .map(|clock| self.cycle_of(clock))
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.served = false;
        self.advance(context.now);
        self.update(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::InputsChanged => self.on_inputs_changed(context),
            Event::InterruptAcknowledged(irq) => {
                if irq == self.irq {
                    self.capture_control[0] &= !CCIFG;
                } else {
                    // The flags behind the other vector stay until software clears them.
                    self.served = true;
                }
            }
            Event::DmaRequestsWanted(lines) => {
                self.advance(context.now);
                for (trigger, channel) in self.triggers.iter_mut().zip(TRIGGERING) {
                    trigger.want(lines, triggers(self.capture_control[channel]), context);
                }
            }
            Event::DmaAcknowledged { lines, .. } => self.on_dma_acknowledged(lines, context),
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
        self.triggers.iter_mut().for_each(Trigger::reset);
        self.control = 0;
        self.expansion = 0;
        self.capture_control = [0; CHANNELS];
        self.compare = [0; CHANNELS];
        self.unread = [false; CHANNELS];
        self.outputs = OutputUnits::default();
        self.signals.reset();
        self.value = 0;
        self.since = 0;
        self.down = false;
        self.seen = 0;
        self.served = false;
    }
}
