//! A harvested node's supply over time: sun, circuit, and where each joule went.

use super::circuit::Circuit;
use super::{Draw, State, Voltages};
use crate::energy_account::{EnergyAccount, Load};
use crate::time::seconds;
use energy::sun::Irradiance;
use serde::Deserialize;

/// A current that no sleeping node has: a receiver's, in amperes.
const HIGHEST_A: f64 = 0.025;

/// Steps of time.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Longest step while the processor runs, in seconds.
    pub awake_s: f64,
    /// Longest step while it sleeps or has no power, in seconds.
    pub asleep_s: f64,
    /// Between two samples of the trace, in seconds.
    pub sample_s: f64,
}

impl Default for Step {
    fn default() -> Self {
        Step { awake_s: 1e-3, asleep_s: 1.0, sample_s: 60.0 }
    }
}

/// The supply.
pub struct Harvest {
    /// Panel, storage, regulator.
    pub circuit: Circuit,
    /// Steps of time.
    pub step: Step,
    /// Energy that was offered, drawn and lost.
    pub account: EnergyAccount,
    /// The lowest and the highest stored voltage.
    pub extremes_v: (f64, f64),
    /// The processor slept at the end of the last step.
    pub asleep: bool,
    sun: Irradiance,
    sun_share: f64,
    lowest_rail_v: f64,
    powered: bool,
}

impl Harvest {
    /// A supply whose node is off. sun_share: of the sun, what reaches the panel. lowest_rail_v:
    /// below it the part loses its state.
    #[must_use]
    pub fn new(
        circuit: Circuit,
        (sun, sun_share): (Irradiance, f64),
        lowest_rail_v: f64,
        step: Step,
        states: &[State],
    ) -> Harvest {
        let load =
            |state: &State| Load { part: state.part, state: state.name.clone(), time_s: 0.0, energy_j: 0.0 };
        let stored_start_j = circuit.stored_j();
        let loads = states.iter().map(load).collect();
        Harvest {
            account: EnergyAccount { loads, stored_start_j, ..EnergyAccount::default() },
            extremes_v: (circuit.stored_v(), circuit.stored_v()),
            circuit,
            step,
            asleep: false,
            sun,
            sun_share,
            lowest_rail_v,
            powered: false,
        }
    }

    /// Returns true if the node has power.
    #[must_use]
    pub fn is_powered(&self) -> bool {
        self.powered
    }

    /// Returns the irradiance at the panel, in W/m².
    #[must_use]
    pub fn sun_w_per_m2(&self, at_s: f64) -> f64 {
        self.sun.at(at_s) * self.sun_share
    }

    pub(crate) fn turn_on(&mut self) {
        (self.powered, self.asleep) = (true, false);
    }

    pub(crate) fn turn_off(&mut self) {
        self.circuit.switch_off();
        self.powered = false;
    }

    pub(crate) fn voltages(&self) -> Voltages {
        Voltages { rail_v: self.circuit.rail_v(), stored_v: self.circuit.stored_v() }
    }

    /// While the processor runs, a step is [`Step::awake_s`] at most; while it sleeps, longer, but
    /// no longer than half the time for which the storage holds the rail up.
    pub(crate) fn longest_step_s(&self) -> f64 {
        if self.asleep {
            let holds_s = self.circuit.holds_s(HIGHEST_A, self.lowest_rail_v);
            (holds_s / 2.0).clamp(self.step.awake_s, self.step.asleep_s)
        } else {
            self.step.awake_s
        }
    }

    /// Lets the circuit follow from one time to another, with these draws spread evenly.
    pub(crate) fn pass(&mut self, from_ns: u64, until_ns: u64, draws: &[Draw]) {
        let dt_s = seconds(until_ns - from_ns);
        let middle_s = seconds(from_ns) + dt_s / 2.0;
        let sun = self.sun_w_per_m2(middle_s);
        let charge_c = draws.iter().map(|draw| draw.charge_c).sum();
        let rail_v = self.circuit.step(dt_s, sun, charge_c, &mut self.account);
        for draw in draws {
            let load = &mut self.account.loads[draw.state];
            load.time_s += draw.time_s;
            load.energy_j += draw.charge_c * rail_v;
        }
        self.circuit.switch();
        let stored_v = self.circuit.stored_v();
        self.extremes_v = (self.extremes_v.0.min(stored_v), self.extremes_v.1.max(stored_v));
    }
}
