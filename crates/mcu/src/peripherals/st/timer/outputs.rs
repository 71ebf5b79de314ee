//! The outputs of a timer: levels at its pins, its trigger, requests of DMA.

use super::counter::{CEN, Event, STOP};
use super::{AOE, DMA_ENABLES, MOE, Timer, UIF};
use crate::Context;

/// CR2: what goes out as trigger.
const MMS: u32 = 7 << 4;
/// BDTR.
const OSSI: u32 = 1 << 10;
const OSSR: u32 = 1 << 11;

impl Timer {
    /// Sets the events that others than the program may want: see [`Counter::watched`].
    pub(super) fn watch(&mut self) {
        let transfers = self.enables >> DMA_ENABLES;
        let trigger = match self.master_mode() {
            0 | 1 => 0,
            2 => UIF,
            3 => 2,
            reference => 2 << (reference - 4),
        };
        let shown =
            (0..self.channels).filter(|channel| self.pins.shows(*channel) && self.is_enabled(*channel));
        let shown = shown.fold(0, |flags, channel| flags | 2 << channel);
        let automatic = if self.is_output_awaited() { UIF } else { 0 };
        self.counter.watched = (transfers | trigger | shown | automatic) & (UIF | self.output_flags());
        if self.master_mode() == 1 {
            self.counter.watched |= STOP;
        }
    }

    /// True where the next update sets MOE.
    pub(super) fn is_output_awaited(&self) -> bool {
        self.breaks & (AOE | MOE) == AOE
    }

    /// MMS: 0 to 3 are reset, enable, update and a match of channel 1; 4 to 7 the references of the
    /// channels.
    pub(super) fn master_mode(&self) -> usize {
        ((self.control2 & MMS) >> 4) as usize
    }

    /// True where a channel's output or its complement is on.
    pub(super) fn is_enabled(&self, channel: usize) -> bool {
        self.complementary.outputs >> (4 * channel) & 5 != 0
    }

    /// OCx and OCxN of a channel, of its reference: RM0090, table 95; none where they are not
    /// driven.
    pub(super) fn output(&self, channel: usize, reference: bool) -> [Option<bool>; 2] {
        let bit = |bit: u32| self.complementary.outputs >> (4 * channel as u32 + bit) & 1 == 1;
        let (on, low, complement_on, complement_low) = (bit(0), bit(1), bit(2), bit(3));
        if self.selection(channel) != 0 || channel >= self.channels || !self.is_enabled(channel) {
            [None, None]
        } else if !self.repeats {
            [on.then_some(reference != low), None]
        } else if self.breaks & MOE == 0 {
            let idle = |bit: usize| (self.breaks & OSSI != 0).then_some(self.control2 >> bit & 1 == 1);
            [idle(8 + 2 * channel), idle(9 + 2 * channel)]
        } else if on && complement_on && self.complementary.is_dead(channel) {
            [Some(low), Some(complement_low)]
        } else {
            let off = |level: bool| (self.breaks & OSSR != 0).then_some(level);
            let complement = (reference != on) != complement_low;
            [
                if on { Some(reference != low) } else { off(low) },
                if complement_on { Some(complement) } else { off(complement_low) },
            ]
        }
    }

    /// The pins follow the registers.
    pub(super) fn drive(&mut self, at: u64, context: &mut Context<'_, '_>) {
        for channel in 0..self.channels {
            let levels = self.output(channel, self.counter.references[channel]);
            self.pins.drive(channel, levels, at, context);
        }
    }

    /// Its trigger comes or goes.
    pub(super) fn send(&mut self, high: bool, at: u64, context: &mut Context<'_, '_>) {
        if self.is_triggered {
            self.late.push((high, at + self.counter.clock_divider()));
        } else if high {
            context.events.trigger(self.number, at);
        } else {
            context.events.end_trigger(self.number, at);
        }
    }

    pub(super) fn send_pulse(&mut self, at: u64, context: &mut Context<'_, '_>) {
        self.send(true, at, context);
        self.send(false, at + self.counter.clock_divider(), context);
    }

    pub(super) fn set_trigger(&mut self, high: bool, at: u64, context: &mut Context<'_, '_>) {
        if self.trigger != high {
            self.trigger = high;
            self.send(high, at, context);
        }
    }

    /// Changes that were put off are due.
    pub(super) fn send_late(&mut self, context: &mut Context<'_, '_>) {
        while let Some(index) = self.late.iter().position(|(_, at)| *at <= context.now) {
            let (high, at) = self.late.remove(index);
            self.send(high, at, context);
        }
    }

    /// Passes on what came about: triggers and requests of DMA.
    pub(super) fn pass_on(&mut self, context: &mut Context<'_, '_>) {
        for at in std::mem::take(&mut self.resets) {
            if self.master_mode() == 0 {
                self.send_pulse(at, context);
            }
        }
        if self.counter.events.is_empty() {
            self.end_dead_times(context.now, context);
            return;
        }
        let mut events = std::mem::take(&mut self.counter.events);
        events.sort_by_key(|(at, _)| *at);
        for (at, event) in events.drain(..) {
            if matches!(event, Event::Update) && self.is_output_awaited() {
                self.breaks |= MOE;
                self.watch();
                self.drive(at, context);
            }
            match (event, self.master_mode()) {
                (Event::Update, 2) | (Event::Compare(0), 3) => self.send_pulse(at, context),
                (Event::Stop, 1) => self.set_trigger(false, at, context),
                (Event::Reference(channel, high), mode) => {
                    self.end_dead_times(at, context);
                    self.begin_dead_time(channel, high, at);
                    if mode == channel + 4 {
                        self.set_trigger(high, at, context);
                    }
                    let levels = self.output(channel, high);
                    self.pins.drive(channel, levels, at, context);
                }
                _ => {}
            }
            let request = match event {
                Event::Update => Some(0),
                Event::Compare(channel) => Some(channel + 1),
                Event::Reference(..) | Event::Stop => None,
            };
            if let Some(index) = request.filter(|index| self.enables >> DMA_ENABLES >> index & 1 == 1) {
                self.transfers[index].set(true, at, context);
            }
        }
        self.end_dead_times(context.now, context);
        // Keeps its room.
        self.counter.events = events;
    }

    /// The level of its trigger, of those that have one.
    pub(super) fn master_level(&self) -> bool {
        match self.master_mode() {
            1 => self.counter.control() & CEN != 0,
            mode @ 4.. => self.counter.references[mode - 4],
            _ => false,
        }
    }
}
