//! What the core's sleep and its voltage are to a power budget: modes by name, cycles by mode and level; and whether the
//! supply lets it run at all.

use super::state::{CPUOFF, OSCOFF, SCG0, SCG1};
use crate::{Power, Residency};

/// The low-power mode that a status register stands for (SLAU208, chapter "System Resets, Interrupts, and Operating
/// Modes", table "Operating Modes"); `None` for the settings that the table does not have.
pub fn mode(status: u32) -> Option<&'static Mode> {
    MODES.iter().find(|mode| mode.bits == status & (CPUOFF | OSCOFF | SCG0 | SCG1))
}

/// One of the low-power modes.
pub struct Mode {
    /// As the manual calls it.
    pub name: &'static str,
    bits: u32,
    /// The clocks that it stops.
    pub stops: &'static [&'static str],
    /// Whether the main clock's source has to start again.
    pub wakes_slowly: bool,
}

const MODES: [Mode; 5] = [
    Mode { name: "LPM0", bits: CPUOFF, stops: &[], wakes_slowly: false },
    Mode { name: "LPM1", bits: CPUOFF | SCG0, stops: &[], wakes_slowly: false },
    Mode { name: "LPM2", bits: CPUOFF | SCG1, stops: &["SMCLK"], wakes_slowly: true },
    Mode { name: "LPM3", bits: CPUOFF | SCG0 | SCG1, stops: &["SMCLK"], wakes_slowly: true },
    Mode { name: "LPM4", bits: CPUOFF | OSCOFF | SCG0 | SCG1, stops: &["SMCLK", "ACLK"], wakes_slowly: true },
];

/// The cycles accounted for so far.
#[derive(Clone, Default)]
pub struct Usage {
    past: Residency,
    /// The core voltage level since [`Usage::until`].
    level: u8,
    /// The cycle up to which `past` tells.
    until: u64,
}

impl Usage {
    /// Up to `now` the core ran; from here on the level is `level`.
    pub fn ran(&mut self, now: u64, level: u8) {
        self.past.add_active(self.level, now - self.until);
        self.until = now;
        self.level = level;
    }

    /// From `from` to `to` the core slept in `mode`.
    pub fn slept(&mut self, mode: &'static str, from: u64, to: u64) {
        self.ran(from, self.level);
        self.past.add_asleep(mode, self.level, to - from);
        self.until = to;
    }

    /// All cycles up to `now`.
    pub fn residency(&self, now: u64) -> Residency {
        let mut residency = self.past.clone();
        residency.add_active(self.level, now - self.until);
        residency
    }
}

/// Where the part stands between power lost and power restored.
#[derive(Clone, Copy, Default)]
pub struct Supply {
    state: Stage,
    /// The supply at which the reset ends, where a supervisor struck and the part has not browned out since.
    warm_v: Option<f64>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Stage {
    /// Reset, and not yet released.
    #[default]
    Starting,
    Running,
    /// Held in reset until somebody resets the machine.
    Lost,
}

impl Supply {
    /// The machine is reset.
    pub fn reset(&mut self) {
        if self.state == Stage::Running {
            self.warm_v = None;
        }
        self.state = Stage::Starting;
    }

    /// Whether the part runs at this supply.
    pub fn suffices(&mut self, power: &Power, supply_v: f64) -> bool {
        if self.state == Stage::Running && supply_v < power.falling_v {
            self.state = Stage::Lost;
            self.warm_v = Some(power.rising_v);
        }
        if supply_v < power.brown_out_v {
            // The release level was set by the program; it is the default again after a brown-out.
            self.warm_v = None;
        }
        if self.state == Stage::Starting && supply_v >= self.warm_v.unwrap_or(power.cold_v) {
            self.state = Stage::Running;
        }
        self.state == Stage::Running
    }

    /// The supplies at which the part is reset and released.
    pub fn limits(&self, power: &Power) -> (f64, f64) {
        let rising_v = match self.state {
            Stage::Running => power.rising_v,
            _ => self.warm_v.unwrap_or(power.cold_v),
        };
        (power.falling_v, rising_v)
    }
}
