//! Power, sleep and resets, as the peripherals see them.

use super::PeripheralBus;
use crate::{Event, Fault, ResetCause};

/// In [`Event::Sleep`]: a module alone has lost its clock.
pub(crate) const POWER_REDUCTION: &str = "power reduction";

impl PeripheralBus {
    /// The core goes to sleep, in the mode of this name.
    pub fn sleep(&mut self, mode: &str, now: u64, pc: u32) {
        self.sleeping = true;
        self.broadcast(Event::Sleep(mode), now, pc);
        self.reschedule();
    }

    /// The core wakes, if it slept: the clocks run again from `now` on.
    pub fn wake(&mut self, now: u64, pc: u32) {
        if std::mem::take(&mut self.sleeping) {
            self.broadcast(Event::Wake, now, pc);
            self.reschedule();
        }
    }

    /// A power reduction register was written: a module stands still as in sleep, or goes on.
    #[cold]
    pub(super) fn follow_reductions(&mut self, now: u64, pc: u32) {
        let before = std::mem::replace(&mut self.reduced, self.events.reduced);
        for index in 0..self.devices.len() {
            let [was, is] = [before, self.reduced].map(|reduced| reduced & self.reductions[index] != 0);
            if was != is {
                let event = if is { Event::Sleep(POWER_REDUCTION) } else { Event::Wake };
                self.notify(index, event, now, pc);
            }
        }
        self.find_due();
    }

    /// Returns true if the devices were last told of a sleep.
    #[must_use]
    pub fn is_asleep(&self) -> bool {
        self.sleeping
    }

    pub(super) fn refresh_power(&mut self) {
        let management =
            self.devices.get(self.power_device).and_then(|device| device.0.roles().power_management);
        self.power = management.map(|management| management.power()).unwrap_or_default();
        self.power_changed = true;
    }

    /// Returns true if one of the devices is the part's power management.
    pub(crate) fn has_power_management(&self) -> bool {
        self.power_device < self.devices.len()
    }

    /// Every device and every chip on the board as after power-up.
    pub fn reset(&mut self) {
        self.reset_devices(ResetCause::PowerOn, 0);
        self.board.power_up();
        self.reschedule();
    }

    /// Every device as after a reset of this cause, while the board goes on.
    pub fn reset_by(&mut self, cause: ResetCause, now: u64, pc: u32) {
        self.reset_devices(cause, now);
        self.board.high_impedance(now);
        self.route_events(now, pc);
        self.reschedule();
    }

    pub(super) fn reset_devices(&mut self, cause: ResetCause, now: u64) {
        self.requests = 0;
        self.stall = 0;
        self.sleeping = false;
        self.reduced = 0;
        self.events.reset();
        self.gates.on_reset();
        for device in &mut self.devices {
            device.0.reset_by(cause, now);
        }
        let control = self.devices.get(self.clock_device).and_then(|device| device.0.roles().clock_control);
        if let Some(clocks_hz) = control.and_then(|control| control.module_clocks()) {
            self.events.set_controls(self.events.held, clocks_hz);
        }
        if cause == ResetCause::PowerOn {
            // Time begins anew.
            let clock_hz = self.board.clock_hz();
            self.set_clock(clock_hz, 0);
            self.subsystem_clocks = None;
        }
        self.follow_clock(now, None);
        self.refresh_power();
        self.reset_gates(now);
    }

    /// Fault with which the part cannot begin: see [`Nonvolatile::pending_fault`].
    ///
    /// [`Nonvolatile::pending_fault`]: crate::Nonvolatile::pending_fault
    pub(crate) fn pending_fault(&self, pc: u32) -> Option<Fault> {
        self.nonvolatile().find_map(|(spec, device)| {
            let (what, address) = (device.pending_fault()?, device.memory().map_or(0, |(start, _)| start));
            Some(Fault::Peripheral { pc, address, device: spec.name.clone(), what })
        })
    }

    /// Returns true if a watchdog will reset the part unless the program acts.
    #[must_use]
    pub fn has_running_watchdog(&self) -> bool {
        let mut roles = self.index.watchdogs.iter().map(|index| self.devices[*index].0.roles());
        roles.any(|roles| roles.watchdog.is_some_and(|watchdog| watchdog.is_running()))
    }

    /// The supply is cut off: see [`Nonvolatile::cut_power`].
    ///
    /// [`Nonvolatile::cut_power`]: crate::Nonvolatile::cut_power
    pub fn cut_power(&mut self, torn: u8) {
        for device in self.devices.iter_mut().filter_map(|device| device.0.as_nonvolatile()) {
            device.cut_power(torn);
        }
    }
}
