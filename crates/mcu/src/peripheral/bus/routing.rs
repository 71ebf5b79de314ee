//! Routing of messages from one peripheral to the others.

use super::{Context, PeripheralBus};
use crate::{Accessed, BusAccess, Event};
use std::sync::Arc;

impl PeripheralBus {
    /// After an access to a device: what it has told others reaches them, and the next due time is
    /// found.
    pub(super) fn finish_access(&mut self, index: usize, now: u64, pc: u32) {
        if self.reduced != self.events.reduced {
            self.follow_reductions(now, pc);
        }
        let due = self.gates.due(index, &self.devices[index]);
        let before = std::mem::replace(&mut self.dues[index], due);
        if self.board.changed || self.events.is_pending() {
            if self.events.subscription_changed {
                self.subscriber = index;
            }
            self.route_events(now, pc);
            self.find_due();
        } else if due < self.due {
            self.due = due;
        } else if before != due && before == self.due {
            self.find_due();
        }
    }

    /// The input pins follow the board, the subscriber gets the flags that rose.
    #[inline(never)]
    pub(super) fn route_events(&mut self, now: u64, pc: u32) {
        let board_changed = std::mem::take(&mut self.board.changed);
        if board_changed {
            for index in &self.index.inputs {
                if self.gates.stands_still(*index) {
                    continue;
                }
                let device = &mut self.devices[*index];
                device.0.on_event(Event::InputsChanged, &mut context!(self, now, pc, None));
                self.dues[*index] = device.0.due().unwrap_or(u64::MAX);
            }
        }
        let subscribed = std::mem::take(&mut self.events.subscription_changed);
        if subscribed {
            let (vectors, includes_set) = (self.events.subscribed, self.events.includes_set);
            self.broadcast(Event::FlagsSubscribed { vectors, includes_set }, now, pc);
        }
        let controlled = std::mem::take(&mut self.events.controls_changed);
        if controlled {
            self.broadcast(Event::ControlsChanged, now, pc);
        }
        if !self.events.risen_flags.is_empty() {
            self.notify_subscriber(now, pc);
        }
        while self.events.lines.is_pending() {
            self.route_lines(now, pc);
        }
        if subscribed || controlled {
            self.reschedule();
        } else if board_changed {
            self.find_due();
        }
    }

    /// Triggers and requests of DMA reach those whom they are for.
    pub(super) fn route_lines(&mut self, now: u64, pc: u32) {
        let devices = Arc::clone(&self.index);
        if let Some(lines) = self.events.lines.wanted.take() {
            for (_, index) in &devices.dma_requesters {
                self.notify(*index, Event::DmaRequestsWanted(lines), now, pc);
            }
        }
        for (number, high, at) in std::mem::take(&mut self.events.lines.triggers) {
            let event =
                if high { Event::TriggerRose { number, at } } else { Event::TriggerFell { number, at } };
            for index in &devices.triggered {
                self.notify(*index, event, now, pc);
            }
        }
        for (register, at) in std::mem::take(&mut self.events.lines.raised_events) {
            for index in &devices.triggered {
                self.notify(*index, Event::EventRaised { register, at }, now, pc);
            }
        }
        if let Some(at) = self.events.lines.changed.take() {
            for index in &devices.dma_controllers {
                self.notify(*index, Event::DmaRequestsChanged { at }, now, pc);
            }
        }
    }

    /// An access that a DMA controller asked for was made: it is told, and so is whoever made the
    /// request.
    pub(crate) fn complete_access(&mut self, access: &BusAccess, accessed: Accessed, now: u64, pc: u32) {
        self.moved_by_dma = true;
        let devices = Arc::clone(&self.index);
        let acknowledged = Event::DmaAcknowledged { lines: access.serves, last: access.last };
        for (_, index) in devices.dma_requesters.iter().filter(|(lines, _)| lines & access.serves != 0) {
            self.notify(*index, acknowledged, now, pc);
        }
        for index in &devices.dma_controllers {
            self.notify(*index, Event::BusAccessed { access, accessed }, now, pc);
        }
        self.route_events(now, pc);
        self.find_due();
    }

    /// Tells the subscriber of the flags that rose; when it is due is looked up, and no more.
    pub(super) fn notify_subscriber(&mut self, now: u64, pc: u32) {
        let mut risen_flags = std::mem::take(&mut self.events.risen_flags);
        if let Some(device) = self.devices.get_mut(self.subscriber) {
            for (irq, at) in risen_flags.drain(..) {
                let event = Event::FlagRaised { irq, at };
                device.0.on_event(event, &mut context!(self, now, pc, None));
            }
            self.dues[self.subscriber] = self.gates.due(self.subscriber, device);
        }
        if self.events.risen_flags.is_empty() {
            // Keeps its room.
            self.events.risen_flags = risen_flags;
        }
    }

    /// A run begins: somebody may have told the board or its chips something meanwhile.
    pub fn resume(&mut self, now: u64, pc: u32) {
        if self.has_power_management() {
            let event = Event::SupplyApplied(self.board.supply_v);
            self.notify(self.power_device, event, now, pc);
        }
        self.board.reschedule();
        self.route_events(now, pc);
        self.reschedule();
    }
}
