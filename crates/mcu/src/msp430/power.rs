//! What the core's sleep and its voltage are to a power budget: modes by name, cycles by mode and level.

use super::state::{CPUOFF, OSCOFF, SCG0, SCG1};
use crate::Residency;

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

    /// The level now.
    #[inline(always)]
    pub fn level(&self) -> u8 {
        self.level
    }

    /// All cycles up to `now`.
    pub fn residency(&self, now: u64) -> Residency {
        let mut residency = self.past.clone();
        residency.add_active(self.level, now - self.until);
        residency
    }
}
