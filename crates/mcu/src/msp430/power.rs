//! What the core's sleep and its voltage are to a power budget: modes by name, cycles by mode and level.

use super::state::{CPUOFF, OSCOFF, SCG0, SCG1};
use crate::Residency;

/// The low-power mode that a status register stands for (SLAU208, chapter "System Resets, Interrupts, and Operating
/// Modes", table "Operating Modes"); `None` for the settings that the table does not have.
pub fn mode(status: u32) -> Option<&'static str> {
    const STOPPED: u32 = CPUOFF | OSCOFF | SCG0 | SCG1;
    const LPM0: u32 = CPUOFF;
    const LPM1: u32 = CPUOFF | SCG0;
    const LPM2: u32 = CPUOFF | SCG1;
    const LPM3: u32 = CPUOFF | SCG0 | SCG1;
    match status & STOPPED {
        LPM0 => Some("LPM0"),
        LPM1 => Some("LPM1"),
        LPM2 => Some("LPM2"),
        LPM3 => Some("LPM3"),
        STOPPED => Some("LPM4"),
        _ => None,
    }
}

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
