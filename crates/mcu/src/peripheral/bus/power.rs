//! Power, sleep and resets, as the peripherals see them.

use super::PeripheralBus;
use crate::{Event, Fault, ResetCause};

impl PeripheralBus {
    /// The core goes to sleep, in the mode of this name.
    pub fn sleep(&mut self, mode: &str, now: u64, pc: u32) {
        self.asleep = true;
        self.broadcast(Event::Sleep(mode), now, pc);
        self.reschedule();
    }

    /// The core wakes, if it slept: the clocks run again from `now` on.
    pub fn wake(&mut self, now: u64, pc: u32) {
        if std::mem::take(&mut self.asleep) {
            self.broadcast(Event::Wake, now, pc);
            self.reschedule();
        }
    }

    /// Whether the devices were last told of a sleep.
    #[must_use]
    pub fn is_asleep(&self) -> bool {
        self.asleep
    }

    pub(super) fn refresh_power(&mut self) {
        let device = self.devices.get(self.power_device);
        self.power = device.and_then(|device| device.0.power()).unwrap_or_default();
        self.power_changed = true;
    }

    /// Whether one of the devices is the part's power management.
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
        self.asleep = false;
        self.events.reset();
        for device in &mut self.devices {
            device.0.reset_by(cause, now);
        }
        if let Some(clocks_hz) = self.devices.iter().find_map(|device| device.0.module_clocks()) {
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
    }

    /// Why the part cannot begin: see [`Peripheral::refusal`].
    ///
    /// [`Peripheral::refusal`]: crate::Peripheral::refusal
    pub(crate) fn refusal(&self, pc: u32) -> Option<Fault> {
        self.devices.iter().zip(&*self.specs).find_map(|(device, spec)| {
            let address = device.0.memory().map_or(0, |(start, _)| start);
            let (device, what) = (spec.name.clone(), device.0.refusal()?);
            Some(Fault::Peripheral { pc, address, device, what })
        })
    }

    /// Whether the watchdog will reset the part if nobody does anything.
    #[must_use]
    pub fn will_reset(&self) -> bool {
        self.devices.iter().any(|device| device.0.will_reset())
    }

    /// The supply is cut off: see [`Peripheral::cut_power`].
    pub fn cut_power(&mut self, torn: u8) {
        for device in &mut self.devices {
            device.0.cut_power(torn);
        }
    }
}
