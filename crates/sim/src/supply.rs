//! Power supply of a node.
//!
//! - [`harvest`]: sun and storage; [`circuit`]: panel, charger, storage, regulator

pub mod circuit;
pub mod harvest;

pub use circuit::{Charger, Circuit, Regulator};

use crate::chance::{Chance, Purpose};
use crate::time::SECOND_NS;
use serde::Deserialize;

/// The voltages that a node sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Voltages {
    /// Supply of processor and radio, in volts.
    pub rail_v: f64,
    /// The storage, as the node's converter can read it, in volts.
    pub stored_v: f64,
}

/// A part of a node in one of its states, as the energy is put down for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// `cpu` or `radio`.
    pub part: &'static str,
    /// The state's name.
    pub name: String,
}

/// Energy that was drawn from the rail in one state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draw {
    /// Index of the state among those of the node.
    pub state: usize,
    /// Time in this state, in seconds.
    pub time_s: f64,
    /// Charge drawn in it, in coulombs.
    pub charge_c: f64,
}

/// Losses of the mains' power, as a scenario says it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerCuts {
    /// Cuts a day, of each meter, at random times.
    #[serde(default)]
    pub per_day: f64,
    /// Share of them that wait for a byte of non-volatile memory to be written, or a change of
    /// flash, and hit that.
    #[serde(default)]
    pub while_writing: f64,
    /// Duration of a loss of power: least and most, in seconds.
    #[serde(default = "a_while")]
    pub off_s: [f64; 2],
}

/// Changes of flash that a cut lets pass, at most: an image's pieces are nine words each, a record
/// of the bootloader's journal six.
const MOST_SPARED: u64 = 24;

fn a_while() -> [f64; 2] {
    [0.05, 5.0]
}

impl PowerCuts {
    /// None at all.
    pub const NONE: PowerCuts = PowerCuts { per_day: 0.0, while_writing: 0.0, off_s: [0.05, 5.0] };
}

/// The mains' state at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Power {
    /// It comes at a time.
    Off {
        /// In nanoseconds of the simulation.
        until_ns: u64,
    },
    /// It is cut at a time.
    On {
        /// In nanoseconds of the simulation.
        cut_ns: u64,
    },
    /// It is cut as soon as a byte is written, or flash is changed.
    Armed,
}

/// The mains: power without end, but for its losses.
#[derive(Clone, Debug)]
pub struct Mains {
    cuts: PowerCuts,
    chance: Chance,
    of_flash: Chance,
    /// Present power.
    pub power: Power,
}

impl Mains {
    /// Power that comes at `from_ns`. The cuts are those of a seed and a site.
    #[must_use]
    pub fn new(cuts: PowerCuts, (seed, site): (u64, u64), from_ns: u64) -> Mains {
        let chance = Chance::new(seed, Purpose::Cuts, site, 0);
        let of_flash = Chance::new(seed, Purpose::Cuts, site, 1);
        Mains { cuts, chance, of_flash, power: Power::Off { until_ns: from_ns } }
    }

    /// Power that is there and stays.
    #[must_use]
    pub fn steady() -> Mains {
        Mains { power: Power::On { cut_ns: u64::MAX }, ..Mains::new(PowerCuts::NONE, (0, 0), 0) }
    }

    /// From now on it stays.
    pub fn stop_faults(&mut self) {
        self.cuts.per_day = 0.0;
        if !matches!(self.power, Power::Off { .. }) {
            self.power = Power::On { cut_ns: u64::MAX };
        }
    }

    /// It comes; the next cut is planned.
    pub fn turn_on(&mut self, now_ns: u64) {
        let cut_ns = if self.cuts.per_day > 0.0 {
            now_ns + (self.chance.exponential(86_400.0 / self.cuts.per_day) * SECOND_NS as f64) as u64
        } else {
            u64::MAX
        };
        self.power = Power::On { cut_ns };
    }

    /// It is time for a cut: true for now, else it waits for something to be written.
    pub fn cuts_now(&mut self) -> bool {
        let waits = self.chance.happens(self.cuts.while_writing);
        if waits {
            self.power = Power::Armed;
        }
        !waits
    }

    /// Returns the value of a byte whose writing was interrupted.
    pub fn torn(&mut self) -> u8 {
        self.chance.bits() as u8
    }

    /// Returns the number of flash changes before the one that is hit, and the bits that have
    /// changed then.
    pub fn hits(&mut self) -> (u64, u8) {
        (self.of_flash.below(MOST_SPARED), self.of_flash.bits() as u8)
    }

    /// It goes; when it comes again is drawn.
    pub fn turn_off(&mut self, now_ns: u64) {
        let [least_s, most_s] = self.cuts.off_s;
        let off_s = self.chance.between(least_s, most_s);
        self.power = Power::Off { until_ns: now_ns + (off_s * SECOND_NS as f64) as u64 + 1 };
    }
}
