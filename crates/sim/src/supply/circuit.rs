//! The supply of a harvested node: panel, charger, storage, regulator, rail.
//!
//! ```text
//!  sun -> panel -> charger --+--------------------+-- regulator --> rail: processor, radio
//!                            |  terminal          |
//!                          ESR                 overhead
//!                            |
//!                       C || leakage
//! ```
//!
//! A step of the capacitor balances its energies exactly ([`Capacitor::step`]); what this adds
//! keeps the balance.

use crate::energy_account::EnergyAccount;
use energy::storage::Capacitor;
use energy::sun::Panel;
use serde::Deserialize;

/// The harvester's electronics between panel and storage.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Charger {
    /// Current that its own control draws from the storage, in amperes, as long as the storage
    /// holds `minimum_v`.
    pub overhead_a: f64,
    /// The stored voltage below which its control stands still, in volts.
    pub minimum_v: f64,
}

/// The linear regulator between storage and rail, and the switch in front of it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Regulator {
    /// The rail's voltage as long as the storage allows it, in volts.
    pub output_v: f64,
    /// Least voltage of the storage above the rail, in volts.
    pub dropout_v: f64,
    /// The regulator's own current, in amperes, while the rail is on.
    pub quiescent_a: f64,
    /// The stored voltage at which the rail is switched on, in volts.
    pub turn_on_v: f64,
    /// The stored voltage below which the rail is switched off, in volts.
    pub turn_off_v: f64,
}

/// The supply as it is at one moment.
#[derive(Clone, Debug)]
pub struct Circuit {
    panel: Panel,
    charger: Charger,
    capacitor: Capacitor,
    regulator: Regulator,
    /// The voltage of the capacitance itself, behind its series resistance.
    inner_v: f64,
    terminal_v: f64,
    rail_on: bool,
}

impl Circuit {
    /// A circuit whose storage holds `start_v`, its rail on where that is enough to turn it on.
    #[must_use]
    pub fn new(
        panel: Panel,
        charger: Charger,
        capacitor: Capacitor,
        regulator: Regulator,
        start_v: f64,
    ) -> Self {
        let rail_on = start_v >= regulator.turn_on_v;
        Circuit { panel, charger, capacitor, regulator, inner_v: start_v, terminal_v: start_v, rail_on }
    }

    /// The stored voltage at the terminals, in volts, as of the last step.
    #[must_use]
    pub fn stored_v(&self) -> f64 {
        self.terminal_v
    }

    /// The energy in the storage, in joules.
    #[must_use]
    pub fn stored_j(&self) -> f64 {
        self.capacitor.energy_j(self.inner_v)
    }

    /// Returns true if the rail is switched on.
    #[must_use]
    pub fn rail_is_on(&self) -> bool {
        self.rail_on
    }

    /// The rail's voltage, in volts, as of the last step; 0 while it is switched off.
    #[must_use]
    pub fn rail_v(&self) -> f64 {
        self.rail_at(self.terminal_v)
    }

    fn rail_at(&self, terminal_v: f64) -> f64 {
        if self.rail_on {
            self.regulator.output_v.min(terminal_v - self.regulator.dropout_v).max(0.0)
        } else {
            0.0
        }
    }

    /// Switches the rail as the stored voltage asks for; true where that changed it.
    pub fn switch(&mut self) -> bool {
        let before = self.rail_on;
        if self.rail_on {
            self.rail_on = self.terminal_v >= self.regulator.turn_off_v;
        } else {
            self.rail_on = self.terminal_v >= self.regulator.turn_on_v;
        }
        before != self.rail_on
    }

    /// Switches the rail off: what hangs on it has lost its power.
    pub fn switch_off(&mut self) {
        self.rail_on = false;
    }

    /// Returns the time for which the storage holds the rail up at a load, in seconds, if no sun
    /// shines: never too long an answer.
    #[must_use]
    pub fn holds_s(&self, load_a: f64, until_rail_v: f64) -> f64 {
        let until_v = self.regulator.turn_off_v.max(until_rail_v + self.regulator.dropout_v);
        let current_a =
            load_a + self.regulator.quiescent_a + self.charger.overhead_a + self.capacitor.leakage_a;
        let spare_v = (self.terminal_v - until_v).max(0.0);
        if current_a > 0.0 { self.capacitor.capacitance_f * spare_v / current_a } else { f64::INFINITY }
    }

    /// Lets `dt_s` pass under this sun, in W/m², with a charge of `load_c` drawn from the rail;
    /// puts down what went where, except the loads' own energy, which is their charge times the
    /// rail's voltage returned.
    pub fn step(&mut self, dt_s: f64, sun_w_per_m2: f64, load_c: f64, account: &mut EnergyAccount) -> f64 {
        let charge_w = self.panel.power_w(sun_w_per_m2);
        let offered_w = charge_w / self.panel.charger_efficiency;
        let quiescent_a = if self.rail_on { self.regulator.quiescent_a } else { 0.0 };
        let overhead_a =
            if self.terminal_v >= self.charger.minimum_v { self.charger.overhead_a } else { 0.0 };
        let out_a = load_c / dt_s + quiescent_a + overhead_a;
        let step = self.capacitor.step(self.inner_v, charge_w, out_a, dt_s);
        let rail_v = self.rail_at(step.terminal_v);
        let overhead_j = overhead_a * step.terminal_v * dt_s;
        // The charger takes from the panel no more than it can hand on.
        let taken = if charge_w > 0.0 { step.harvested_j / (charge_w * dt_s) } else { 1.0 };

        account.offered_j += offered_w * dt_s;
        account.curtailed_j += (1.0 - taken) * offered_w * dt_s;
        account.charger_j += taken * (offered_w - charge_w) * dt_s;
        account.overhead_j += overhead_j;
        account.regulator_j += step.load_j - overhead_j - load_c * rail_v;
        account.esr_j += step.esr_j;
        account.leakage_j += step.leaked_j;

        // The terminals' voltage at the end of the step, as the part sees it in the next one.
        let lift_v = step.terminal_v - (self.inner_v + step.stored_v) / 2.0;
        self.terminal_v = (step.stored_v + lift_v).max(0.0);
        self.inner_v = step.stored_v;
        rail_v
    }
}
