//! States of a microcontroller beside running: it sleeps, changes its core level and clock, starts,
//! browns out.

use crate::current::{Point, at};
use serde::Deserialize;

/// A sleep mode of a microcontroller.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SleepMode {
    /// Its name, as the processor model reports it: `LPM3`, `power-down`, `stop`.
    pub name: String,
    /// Current, in amperes: typical, 25 °C, all else off.
    pub current_a: f64,
    /// At which supply, in volts; none where it does not depend on it, or the data sheet does not
    /// say.
    #[serde(default)]
    pub supply_v: Option<f64>,
    /// At which clock, in Hz, where clocks run on in this mode and the current depends on them.
    #[serde(default)]
    pub clock_hz: Option<f64>,
    /// Currents at other clocks and supplies, where the data sheet has them.
    #[serde(default)]
    pub points: Vec<Point>,
    /// At each core level, from the lowest, where the data sheet tells them apart.
    #[serde(default)]
    pub by_level_a: Vec<f64>,
    /// From the wake-up event to the first instruction, in seconds, typical; none where the data
    /// sheet has no time.
    #[serde(default)]
    pub wake_s: Option<f64>,
    /// Activity in this mode and the contents of the current, in a sentence.
    pub what: String,
    /// Document and table.
    pub source: String,
}

impl SleepMode {
    /// Returns the current at a clock and supply, in amperes: between its points as the active
    /// current is; its one current where it has no points.
    #[must_use]
    pub fn current_at(&self, clock_hz: f64, supply_v: f64) -> f64 {
        if self.points.is_empty() { self.current_a } else { at(&self.points, clock_hz, supply_v) }
    }

    /// Returns true if the data sheet has a current of this mode at a clock. The current does not
    /// depend on the clock, is given at several, or was measured at one no further off than a
    /// free-running oscillator is.
    #[must_use]
    pub fn is_known_at(&self, clock_hz: f64) -> bool {
        const OSCILLATOR: f64 = 0.05;
        let measured_there = |measured_hz: f64| (clock_hz / measured_hz - 1.0).abs() <= OSCILLATOR;
        !self.points.is_empty() || self.clock_hz.is_none_or(measured_there)
    }

    /// Returns the current at a core level, counted from 0, in amperes: its one current where the
    /// data sheet does not tell levels apart.
    #[must_use]
    pub fn current_at_level(&self, level: usize) -> f64 {
        self.by_level_a.get(level).copied().unwrap_or(self.current_a)
    }
}

/// A part of a microcontroller that draws beside the core while it is on.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Module {
    /// Its name in the data sheet: `REFO`, `ADC12_A`.
    pub name: String,
    /// Current, in amperes, typical.
    pub current_a: f64,
    /// Under which conditions, in a sentence.
    pub what: String,
    /// Document and table.
    pub source: String,
}

/// Duration of a change.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// In seconds, typical.
    pub time_s: f64,
    /// Event that is waited for, in a sentence.
    pub what: String,
    /// Document and table.
    pub source: String,
}

/// Durations of the changes that the firmware makes; none where the part has no such change or no
/// source was found.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// One step of the core level.
    #[serde(default)]
    pub level: Option<Timing>,
    /// A new clock.
    #[serde(default)]
    pub clock: Option<Timing>,
    /// From the supply's return, or a reset, to the first instruction.
    #[serde(default)]
    pub start: Option<Timing>,
}

/// Supply below which a part resets itself.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BrownOut {
    /// Its name in the data sheet, with the setting: `SVSH, SVSHRVL 0`.
    pub name: String,
    /// Below this falling supply the part is in reset, in volts, typical unless `what` says
    /// otherwise.
    pub falling_v: f64,
    /// From this rising supply it leaves reset, in volts.
    pub rising_v: f64,
    /// The value of the fuses' field for it that puts it in force (AVR: BODLEVEL).
    #[serde(default)]
    pub fuse: Option<u8>,
    /// When it is in force, in a sentence.
    pub what: String,
    /// Document and table.
    pub source: String,
}
