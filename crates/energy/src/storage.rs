//! Storage of energy: a capacitor that a harvester charges, and a battery.

use crate::range::{self, OutOfRange};
use serde::Deserialize;

/// Seconds in a year of 365 days.
pub const YEAR_S: f64 = 365.0 * 86_400.0;

/// A capacitor with the losses that a data sheet gives: its series resistance, and a leakage that
/// the model takes as a resistance in parallel, so that it falls with the voltage. (Within hours of
/// a charge a supercapacitor takes more than its leakage as charge wanders into its pores; that is
/// not modelled.)
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capacitor {
    /// Capacitance, in farads.
    pub capacitance_f: f64,
    /// Highest voltage, in volts; the harvester stops charging there.
    pub max_v: f64,
    /// Equivalent series resistance, in ohms.
    #[serde(default)]
    pub esr_ohm: f64,
    /// Leakage current at `max_v`, in amperes.
    #[serde(default)]
    pub leakage_a: f64,
}

/// Effect of a step on a capacitor, every joule of it: `harvested_j` = `load_j` + `esr_j` +
/// `leaked_j` + the change of [`Capacitor::energy_j`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Open-circuit voltage after the step, in volts.
    pub stored_v: f64,
    /// Mean voltage at the terminals during the step, which is what the load sees, in volts.
    pub terminal_v: f64,
    /// Taken from the harvester, in joules.
    pub harvested_j: f64,
    /// Offered by the harvester and refused because the capacitor is full, in joules.
    pub refused_j: f64,
    /// Delivered to the load, in joules.
    pub load_j: f64,
    /// Turned to heat in the series resistance, in joules.
    pub esr_j: f64,
    /// Lost to leakage, in joules.
    pub leaked_j: f64,
    /// The load asked for more than there was: the capacitor is empty, or its series resistance
    /// does not let the current through, and `load_j` is what the load got.
    pub starved: bool,
}

impl Capacitor {
    /// Refuses what no capacitor has.
    ///
    /// # Errors
    /// [`OutOfRange`] with the field.
    pub fn check(&self) -> Result<(), OutOfRange> {
        range::positive("capacitance_f", self.capacitance_f)?;
        range::positive("max_v", self.max_v)?;
        range::not_negative("esr_ohm", self.esr_ohm)?;
        range::not_negative("leakage_a", self.leakage_a)
    }

    /// The energy it holds at an open-circuit voltage, in joules: C·V²/2.
    #[must_use]
    pub fn energy_j(&self, stored_v: f64) -> f64 {
        self.capacitance_f * stored_v * stored_v / 2.0
    }

    /// The energy between two voltages, in joules; negative where `from_v` is the lower.
    #[must_use]
    pub fn usable_j(&self, from_v: f64, to_v: f64) -> f64 {
        self.energy_j(from_v) - self.energy_j(to_v)
    }

    /// The voltage at which it holds an energy, in volts; it may be above `max_v`.
    #[must_use]
    pub fn voltage_v(&self, energy_j: f64) -> f64 {
        (2.0 * energy_j.max(0.0) / self.capacitance_f).sqrt()
    }

    /// The current that it loses at a voltage, in amperes.
    #[must_use]
    pub fn leakage_at(&self, stored_v: f64) -> f64 {
        self.leakage_a * stored_v / self.max_v
    }

    /// Lets `seconds` pass with a harvester pushing `harvest_w` into the terminals and a load
    /// drawing `load_a` out of them. The current through the capacitor is taken as constant within
    /// the step, as the mean voltage asks for; with it the solution is exact, leakage included, so
    /// energies balance whatever the step. For the harvester's current to be true as well the step
    /// should change the voltage by a few per cent at most.
    ///
    /// `stored_v` is 0 to `max_v`; `harvest_w` and `load_a` are not negative; `seconds` is above
    /// zero.
    #[must_use]
    pub fn step(&self, stored_v: f64, harvest_w: f64, load_a: f64, seconds: f64) -> Step {
        // C dv/dt = i - g·v with constant i, x = g·t / C: v(t) = e^-x·v0 + gain·i, mean of v =
        // share·v0 + lift·i.
        let siemens = self.leakage_a / self.max_v;
        let x = siemens * seconds / self.capacitance_f;
        let kept = (-x).exp();
        let share = if x > 0.0 { -(-x).exp_m1() / x } else { 1.0 };
        // (1 - share) / x; by its series where the difference would be rounding.
        let rest = if x > 1e-4 { (1.0 - share) / x } else { 0.5 - x / 6.0 + x * x / 24.0 };
        let per_f = seconds / self.capacitance_f;
        let (gain, lift) = (per_f * share, per_f * rest);

        // The terminals stand at v = open_v + ohm·i, and v·(i + load) = P: both roots without a
        // difference of like numbers.
        let open_v = share * stored_v;
        let ohm = self.esr_ohm + lift;
        let w = open_v - ohm * load_a;
        let root = (w * w + 4.0 * ohm * harvest_w).sqrt();
        let asked_a = match open_v + ohm * load_a + root {
            0.0 => 0.0,
            sum => 2.0 * (harvest_w - open_v * load_a) / sum,
        };

        // At the lowest current the capacitor ends empty, or its terminals are at zero; at the
        // highest it ends full.
        let lowest_a = (-kept * stored_v / gain).max(-open_v / ohm);
        let highest_a = (self.max_v - kept * stored_v) / gain;
        let starved = asked_a < lowest_a || (w <= 0.0 && harvest_w == 0.0 && load_a > 0.0);
        let full = !starved && asked_a > highest_a;
        let (i, terminal_v) = if starved {
            (lowest_a, open_v + ohm * lowest_a)
        } else if full {
            (highest_a, open_v + ohm * highest_a)
        } else if w > 0.0 {
            (asked_a, (w + root) / 2.0)
        } else if root > 0.0 {
            (asked_a, 2.0 * ohm * harvest_w / (root - w))
        } else {
            (asked_a, open_v)
        };
        let offered_j = harvest_w * seconds;
        let harvested_j = if full { (i + load_a) * terminal_v * seconds } else { offered_j };
        let load_j =
            if starved { harvested_j - i * terminal_v * seconds } else { load_a * terminal_v * seconds };
        let end_v = if full { self.max_v } else { (kept * stored_v + gain * i).clamp(0.0, self.max_v) };
        let change_j = self.capacitance_f * (end_v - stored_v) * (end_v + stored_v) / 2.0;
        let mean_v = open_v + lift * i;
        let leaked_j = if siemens > 0.0 { (i * mean_v * seconds - change_j).max(0.0) } else { 0.0 };
        Step {
            stored_v: end_v,
            terminal_v,
            harvested_j,
            refused_j: offered_j - harvested_j,
            load_j,
            esr_j: i * i * self.esr_ohm * seconds,
            leaked_j,
            starved,
        }
    }
}

/// A primary battery.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Battery {
    /// Rated capacity, in ampere-hours.
    pub capacity_ah: f64,
    /// Voltage over its discharge, in volts.
    pub voltage_v: f64,
    /// Share of its charge that it loses by itself in a year: 0 to below 1.
    #[serde(default)]
    pub self_discharge_per_year: f64,
    /// Share of the capacity that can be drawn before the voltage is too low for the load: above 0,
    /// at most 1.
    #[serde(default = "whole")]
    pub usable: f64,
}

fn whole() -> f64 {
    1.0
}

impl Battery {
    /// Refuses what no battery has.
    ///
    /// # Errors
    /// [`OutOfRange`] with the field.
    pub fn check(&self) -> Result<(), OutOfRange> {
        range::positive("capacity_ah", self.capacity_ah)?;
        range::positive("voltage_v", self.voltage_v)?;
        let lost = self.self_discharge_per_year;
        range::require(
            "self_discharge_per_year",
            lost,
            (0.0..1.0).contains(&lost),
            "from 0 to below 1: 0.01 is one per cent a year",
        )?;
        range::share("usable", self.usable)
    }

    /// The energy that a load can draw from a new one at once, in joules.
    #[must_use]
    pub fn usable_j(&self) -> f64 {
        self.energy_j() * self.usable
    }

    /// Returns how long it feeds a load of constant power, in seconds; for ever (infinity) where
    /// nothing draws and nothing leaks. Its charge E follows dE/dt = -P - λE with λ = -ln(1 -
    /// `self_discharge_per_year`) a year.
    #[must_use]
    pub fn life_s(&self, power_w: f64) -> f64 {
        let end_j = (1.0 - self.usable) * self.energy_j();
        let rate = -(-self.self_discharge_per_year).ln_1p() / YEAR_S;
        if rate == 0.0 {
            return self.usable_j() / power_w;
        }
        (rate * self.usable_j() / (power_w + rate * end_j)).ln_1p() / rate
    }

    /// Returns the energy of a new one, in joules.
    fn energy_j(&self) -> f64 {
        self.capacity_ah * 3600.0 * self.voltage_v
    }
}
