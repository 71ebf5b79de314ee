//! The inputs' side of a timer: capture, and what the slave mode controller makes of its trigger.
//!
//! RM0090 sections 18.3.5, 18.3.6 and 18.3.14, registers SMCR, CCMRx (input mode) and CCER of
//! section 18.4. In the encoder modes (section 18.3.12) the counter counts edges of TI1 and TI2, of
//! TI1 alone in mode 1 and of TI2 alone in mode 2: so RM0410 and RM0432, where RM0008 and RM0090
//! have the two the other way round. The few clocks in which the part brings an input or a trigger
//! into step with its own clock are left out.

use super::complementary::{CCPC, CCUS};
use super::counter::{CEN, Event};
use super::inputs::filter_cycles;
use super::pins::ETR;
use super::{TI1S, TRIGGERS, Timer, UIF, URS};
use crate::{Board, Context};
use std::ops::RangeInclusive;

/// SMCR.
const SMS: u32 = 7;
const ECE: u32 = 1 << 14;
const ETP: u32 = 1 << 15;
/// SMS[3] of the STM32F7 and L4.
const SMS_3: u32 = 1 << 16;
/// TS[4:3] of newer timers.
const TS_MORE: u32 = 3 << 20;
/// SMS: encoder modes 1 to 3, whose bits are the inputs that count.
const ENCODERS: RangeInclusive<u32> = 1..=3;
const RESET: u32 = 4;
const GATED: u32 = 5;
const TRIGGER: u32 = 6;
const EXTERNAL: u32 = 7;
/// SR.TIF, EGR.TG.
pub(super) const TIF: u32 = 1 << 6;
/// SR: CC1OF.
const CC1OF: u32 = 1 << 9;

/// The effect of a trigger.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Rise,
    Fall,
    /// It is there for one clock.
    Pulse,
}

impl Timer {
    /// The trigger of timer `number` comes or goes.
    pub(super) fn follow_trigger(
        &mut self,
        number: u8,
        change: Change,
        at: u64,
        context: &mut Context<'_, '_>,
    ) {
        if number >= TRIGGERS {
            return;
        }
        let source = (self.slave >> 4 & 7) as usize;
        let level = 1 << number;
        self.trigger_levels = self.trigger_levels & !level | if change == Change::Rise { level } else { 0 };
        if self.internal.get(source).copied().flatten() != Some(number) {
            return;
        }
        self.is_triggered = true;
        self.advance(at);
        self.trigger_input(change, at);
        self.signal(context);
        self.set_trigger(self.master_level(), at, context);
        self.is_triggered = false;
    }

    /// TS.
    fn source(&self) -> usize {
        (self.slave >> 4 & 7) as usize
    }

    /// SMCR can be written so.
    pub(super) fn check_slave(&self, value: u32) -> Result<(), &'static str> {
        let listens = value & SMS != 0;
        match value & SMS {
            mode if ENCODERS.contains(&mode) && self.channels < 4 => {
                return Err("encoder modes (SMS 1 to 3), which this timer does not have");
            }
            _ if value & (SMS_3 | TS_MORE) != 0 => {
                return Err("combined slave modes (SMS[3]) and triggers beyond ETRF are not modelled");
            }
            _ => {}
        }
        let source = (value >> 4 & 7) as usize;
        let listens = listens && !ENCODERS.contains(&(value & SMS));
        if listens && source < 4 && self.internal[source].is_none() {
            return Err("an internal trigger (TS) that leads nowhere on this part, or that is not modelled");
        }
        Ok(())
    }

    /// CCxS of a channel: 0 for an output.
    pub(super) fn selection(&self, channel: usize) -> u32 {
        self.modes[channel / 2] >> (channel % 2 * 8) & 3
    }

    /// The inputs that somebody listens to.
    fn used_inputs(&self) -> u8 {
        let mut used = 0;
        let is_slave = self.slave & SMS != 0 || self.control2 & (CCPC | CCUS) == CCPC | CCUS;
        for channel in (0..self.channels).filter(|channel| self.outputs >> (4 * channel) & 1 == 1) {
            used |= match self.selection(channel) {
                1 => 1 << channel,
                2 => 1 << (channel ^ 1),
                3 if self.source() == 4 => 1,
                _ => 0,
            };
        }
        if self.is_encoder() {
            used |= 3;
        } else if is_slave {
            used |= match self.source() {
                4 | 5 => 1,
                6 => 2,
                7 => 1 << ETR,
                _ => 0,
            };
        }
        used | if self.slave & ECE != 0 { 1 << ETR } else { 0 }
    }

    fn is_encoder(&self) -> bool {
        ENCODERS.contains(&(self.slave & SMS))
    }

    /// The level of an input before its filter; TI1 may be the exclusive or of three.
    fn input_level(&self, index: usize, board: &Board) -> bool {
        match index {
            0 if self.control2 & TI1S != 0 => {
                (0..3).filter(|input| self.pins.level(*input, board)).count() % 2 == 1
            }
            _ => self.pins.level(index, board),
        }
    }

    /// A register says what is listened to.
    pub(super) fn listen(&mut self, board: &Board, now: u64) {
        let used = self.used_inputs();
        let mut inputs = std::mem::take(&mut self.inputs);
        inputs.listen(used, |index| self.input_level(index, board));
        self.inputs = inputs;
        let external = self.slave & ECE != 0 || self.slave & SMS == EXTERNAL || self.is_encoder();
        self.counter.set_external_clock(external, now);
        let open = self.slave & SMS != GATED || self.trigger_level();
        self.counter.set_gate(open, now);
    }

    /// Cycles of the core's clock in one of tDTS, that of filters and dead times: CKD.
    pub(super) fn dts_cycles(&self) -> u64 {
        self.counter.clock_divider() << (self.control >> 8 & 3).min(2)
    }

    /// Levels at the pins may have changed.
    pub(super) fn look_at_inputs(&mut self, board: &Board, now: u64) {
        let used = self.inputs.used;
        for index in (0..=ETR).filter(|index| used >> index & 1 == 1) {
            let level = self.input_level(index, board);
            let clock = self.counter.clock_divider();
            let dts = self.dts_cycles();
            let setting = match index {
                ETR => self.slave >> 8,
                _ if self.selection(index) == 0 => 0,
                _ => self.modes[index / 2] >> (index % 2 * 8 + 4),
            };
            self.inputs.set(index, level, filter_cycles(setting, clock, dts), now);
        }
    }

    /// True where an edge to `level` at an input is one of those that a channel is for: CCxP,
    /// CCxNP.
    fn is_active(&self, channel: usize, level: bool) -> bool {
        match self.outputs >> (4 * channel) & 0xa {
            0 => level,
            0xa => true,
            _ => !level,
        }
    }

    /// The level of the trigger as it is.
    fn trigger_level(&self) -> bool {
        match self.source() {
            5 => self.is_active(0, self.inputs.level(0)),
            6 => self.is_active(1, self.inputs.level(1)),
            7 => self.inputs.level(ETR) != (self.slave & ETP != 0),
            source => {
                let number = self.internal.get(source).copied().flatten();
                number.is_some_and(|number| self.trigger_levels >> number & 1 == 1)
            }
        }
    }

    /// An input has a new level behind its filter since cycle `at`, up to which the counter is
    /// settled.
    pub(super) fn edge(&mut self, index: usize, level: bool, at: u64) {
        if index == ETR {
            return self.external_edge(level != (self.slave & ETP != 0), at);
        }
        for (channel, selection) in [(index, 1), (index ^ 1, 2)] {
            if channel < self.channels
                && self.selection(channel) == selection
                && self.is_active(channel, level)
            {
                self.capture(channel, at);
            }
        }
        if self.is_encoder() && index < 2 {
            return self.encoder_edge(index, at);
        }
        let both = self.outputs >> (4 * index) & 0xa == 0xa;
        let active = self.is_active(index, level);
        match (self.source(), index) {
            (4, 0) => self.trigger_input(Change::Pulse, at),
            (5, 0) | (6, 1) if both => self.trigger_input(Change::Pulse, at),
            (5, 0) | (6, 1) if active => self.trigger_input(Change::Rise, at),
            (5, 0) | (6, 1) => self.trigger_input(Change::Fall, at),
            _ => {}
        }
    }

    /// An edge of TI1 or TI2 in an encoder mode: the other input's level says the direction (table
    /// "Counting direction versus encoder signals").
    fn encoder_edge(&mut self, index: usize, at: u64) {
        if self.slave >> index & 1 == 0 {
            return;
        }
        let [own, other] = [index, index ^ 1]
            .map(|input| self.inputs.level(input) != (self.outputs >> (4 * input) & 2 != 0));
        self.counter.set_direction((own == other) == (index == 0));
        self.counter.pulse(at, self.output_flags());
    }

    /// ETRP has a new level.
    fn external_edge(&mut self, high: bool, at: u64) {
        let prescaler = self.slave >> 12 & 3;
        let mut change = if high { Change::Rise } else { Change::Fall };
        if prescaler != 0 {
            self.external_edges += u32::from(high);
            if !high || self.external_edges < 1 << prescaler {
                return;
            }
            self.external_edges = 0;
            change = Change::Pulse;
        }
        if self.slave & ECE != 0 && change != Change::Fall {
            self.counter.pulse(at, self.output_flags());
        }
        if self.source() == 7 {
            self.trigger_input(change, at);
        }
    }

    /// TRGI.
    pub(super) fn trigger_input(&mut self, change: Change, at: u64) {
        let comes = change != Change::Fall;
        if comes && self.control2 & (CCPC | CCUS) == CCPC | CCUS {
            self.commutate(at);
        }
        if comes && self.source() <= 4 {
            for channel in
                (0..self.channels).filter(|channel| self.selection(*channel) == 3).collect::<Vec<_>>()
            {
                self.capture(channel, at);
            }
        }
        match self.slave & SMS {
            RESET if comes => {
                self.counter.generate_update(at, self.control & URS == 0);
                self.resets.push(at);
            }
            GATED => {
                self.counter.set_gate(comes, at);
                if change == Change::Pulse {
                    let end = at + self.counter.clock_divider();
                    self.settle(end);
                    self.counter.set_gate(false, end);
                }
            }
            TRIGGER if comes => self.counter.set_control(self.counter.control() | CEN, at),
            EXTERNAL if comes => self.counter.pulse(at, self.output_flags()),
            _ => return,
        }
        self.counter.status |= TIF;
    }

    /// A channel captures the counter, at each edge that its prescaler lets through.
    fn capture(&mut self, channel: usize, at: u64) {
        if self.outputs >> (4 * channel) & 1 == 0 {
            return;
        }
        let prescaler = self.modes[channel / 2] >> (channel % 2 * 8 + 2) & 3;
        self.capture_edges[channel] += 1;
        if self.capture_edges[channel] < 1 << prescaler {
            return;
        }
        self.capture_edges[channel] = 0;
        self.capture_now(channel, at);
    }

    /// As with EGR.CCxG.
    pub(super) fn capture_now(&mut self, channel: usize, at: u64) {
        self.counter.compare_next[channel] = self.counter.count;
        let flag = UIF << (channel + 1);
        if self.counter.status & flag != 0 {
            self.counter.status |= CC1OF << channel;
        }
        self.counter.status |= flag;
        self.counter.events.push((at, Event::Compare(channel)));
    }
}
