//! The clocks that peripherals count: who sets them, and who is told.

use super::PeripheralBus;
use crate::{ClockChange, ClockControl, ClockUpdate, Observer};

impl PeripheralBus {
    /// The device that keeps the clock of this name running, if one does: see
    /// [`Peripheral::clock_needed`].
    #[must_use]
    pub fn clock_needed(&self, clock: &str) -> Option<&str> {
        let index = self.devices.iter().position(|device| device.0.clock_needed() == Some(clock))?;
        Some(&self.specs[index].name)
    }

    /// The core's clock, in Hz.
    #[must_use]
    pub fn clock_hz(&self) -> u64 {
        self.board.clock_hz()
    }

    /// The part's clock control, where it is a device.
    pub(super) fn clock_control(&self) -> Option<&dyn ClockControl> {
        self.devices.get(self.clock_device)?.0.roles().clock_control
    }

    /// The clock control may have set other clocks.
    pub(crate) fn follow_clock(&mut self, now: u64, observer: Option<&mut (dyn Observer + '_)>) {
        let Some(control) = self.clock_control() else { return };
        let clocks = control.subsystem_clocks();
        if let Some(clock_hz) = control.core_clock_hz() {
            self.change_clock(clock_hz, now, observer);
        }
        if let Some(clocks) = clocks.filter(|_| clocks != self.subsystem_clocks) {
            self.subsystem_clocks = Some(clocks);
            self.update_clocks(ClockUpdate::Subsystem(clocks), now);
        }
    }

    /// The core's clock is `clock_hz` from cycle `now` on.
    pub(crate) fn change_clock(
        &mut self,
        clock_hz: u64,
        now: u64,
        observer: Option<&mut (dyn Observer + '_)>,
    ) {
        if clock_hz == self.board.clock_hz() {
            return;
        }
        self.set_clock(clock_hz, now);
        self.refresh_power();
        self.tell_clock(now, observer);
    }

    pub(super) fn set_clock(&mut self, clock_hz: u64, now: u64) {
        self.clock_changes.push(ClockChange { clock_hz, cycles: now });
        self.board.set_clock(clock_hz, now);
        self.update_clocks(ClockUpdate::Core(clock_hz), now);
    }

    /// Tells the observer of the clock as it is.
    pub(crate) fn tell_clock(&self, now: u64, observer: Option<&mut (dyn Observer + '_)>) {
        if let Some(observer) = observer {
            observer.clock(&ClockChange { clock_hz: self.board.clock_hz(), cycles: now });
        }
    }

    /// Other clocks run from cycle `now` on.
    pub fn update_clocks(&mut self, update: ClockUpdate, now: u64) {
        self.gates.remember(update);
        for (index, device) in self.devices.iter_mut().enumerate() {
            device.0.clocks_changed(update, self.gates.time(index, now));
        }
        self.reschedule();
    }

    /// Tells the devices of the modules' clocks: see [`Events::set_controls`].
    pub(crate) fn set_module_clocks(&mut self, clocks_hz: Vec<u64>, now: u64, pc: u32) {
        self.events.set_controls(self.events.held, clocks_hz);
        if self.events.is_pending() {
            self.route_events(now, pc);
        }
    }

    /// A write into protected memory, this part of it, was left out: tells the unit that protects
    /// it.
    pub(crate) fn violate(&mut self, segment: u8, now: u64, pc: u32) {
        self.events.violated = Some(segment);
        self.events.controls_changed = true;
        self.route_events(now, pc);
    }
}
