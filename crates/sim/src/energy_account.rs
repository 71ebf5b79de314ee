//! Account of every joule: its source and its use.

use serde::Serialize;

/// The energy of a run, in joules. What the panel offered is what was lost, used and stored, but
/// for rounding.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EnergyAccount {
    /// Energy that the panel could give at its rating under this sun.
    pub offered_j: f64,
    /// Of it, what was not taken because the storage was full or the charger at its limit.
    pub curtailed_j: f64,
    /// Lost in the charger.
    pub charger_j: f64,
    /// Drawn by the harvester's own control.
    pub overhead_j: f64,
    /// Lost in the regulator: its voltage drop and its own current.
    pub regulator_j: f64,
    /// Lost in the storage's series resistance.
    pub esr_j: f64,
    /// Lost in the storage's leakage.
    pub leakage_j: f64,
    /// Drawn from the rail, by part and state.
    pub loads: Vec<Load>,
    /// In the storage when the run began.
    pub stored_start_j: f64,
    /// In the storage when it ended.
    pub stored_end_j: f64,
}

/// Energy that one part drew from the rail in one of its states.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Load {
    /// `cpu` or `radio`.
    pub part: &'static str,
    /// The state's name in the target's or the radio's file; `active` for a running processor.
    pub state: String,
    /// Time in this state, in seconds.
    pub time_s: f64,
    /// Energy at the rail, in joules.
    pub energy_j: f64,
}

impl EnergyAccount {
    /// Energy that reached the storage's terminals, in joules.
    #[must_use]
    pub fn harvested_j(&self) -> f64 {
        self.offered_j - self.curtailed_j - self.charger_j
    }

    /// Energy that the parts drew from the rail, in joules.
    #[must_use]
    pub fn used_j(&self) -> f64 {
        self.loads.iter().map(|load| load.energy_j).sum()
    }

    /// All that passed the storage's terminals, in joules: what an imbalance is measured by.
    #[must_use]
    pub fn throughput_j(&self) -> f64 {
        self.harvested_j() + self.lost_j() + self.used_j()
    }

    /// Harvested less lost, used and stored, in joules.
    #[must_use]
    pub fn imbalance_j(&self) -> f64 {
        self.harvested_j() - self.lost_j() - self.used_j() - (self.stored_end_j - self.stored_start_j)
    }

    /// Energy that was lost between the storage's terminals and the rail, and in the storage
    /// itself, in joules.
    #[must_use]
    pub fn lost_j(&self) -> f64 {
        self.overhead_j + self.regulator_j + self.esr_j + self.leakage_j
    }
}
