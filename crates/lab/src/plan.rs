//! `plan`: the right clock, supply, microcontroller and scheme for a requirement, and the battery,
//! capacitor and panel for them, on measured figures.

mod picture;
mod report;
mod sizing;
mod space;

pub use picture::{page, picture};
pub use report::{PlanRow, impossible, table};
pub use sizing::{Sizing, Sun};

use crate::energy_accuracy::{self, EnergyAccuracy};
use crate::progress::Progress;
use crate::workspace::Workspace;
use crate::{LabError, cost_table};
use energy::plan::{Candidate, Quantity, Requirement, SearchResult, search};
use energy::storage::{Battery, Capacitor};
use energy::sun::Panel;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Parameters of a plan. An absent one is not limited, or is found.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Patterns of targets; all where empty.
    pub targets: Vec<String>,
    /// Patterns of schemes; where empty, all that protect a message of any length.
    pub schemes: Vec<String>,
    /// Patterns of variants; all but `O0` where empty.
    pub variants: Vec<String>,
    /// Core clocks in Hz; those of the target files where empty.
    pub clocks_hz: Vec<u64>,
    /// Supplies in volts; where empty, each target's own, those of its limits, and steps of 0.1 V.
    pub supplies_v: Vec<f64>,
    /// Bytes of message; 16 where none are given, or those of a scheme with a message of its own.
    pub bytes: Option<u16>,
    /// Cycles of computation instead of the measured ones.
    pub cycles: Option<f64>,
    /// Most energy a message, in joules.
    pub energy_j: Option<f64>,
    /// Longest computation and sending, in seconds.
    pub latency_s: Option<f64>,
    /// Least security level, in bits.
    pub security_bits: Option<u32>,
    /// Messages a second.
    pub rate_hz: Option<f64>,
    /// Most program memory, in bytes.
    pub flash_bytes: Option<f64>,
    /// Most static RAM and stack, in bytes.
    pub ram_bytes: Option<f64>,
    /// Least life of the battery, in seconds.
    pub life_s: Option<f64>,
    /// Battery of the node.
    pub battery: Option<Battery>,
    /// Capacitor for the panel's energy.
    pub capacitor: Option<Capacitor>,
    /// Panel that charges the capacitor.
    pub panel: Option<Panel>,
    /// E_ov of (6.1), in joules.
    pub overhead_j: f64,
    /// Radio: a name of `radios/`; none where sending does not count.
    pub radio: Option<String>,
    /// Finds capacitor and panel for a year of sun where neither is given.
    pub harvest: bool,
    /// A file of irradiance; that of the project where none is given.
    pub sun: Option<PathBuf>,
}

/// Result of a plan.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Every point that was looked at.
    pub candidates: Vec<Candidate>,
    /// Bounds on their energies, by target and clock.
    pub energy_accuracies: BTreeMap<String, Vec<EnergyAccuracy>>,
    /// Sorts of its schemes, by name.
    pub kinds: BTreeMap<String, String>,
    /// Requirements of the request.
    pub requirements: Vec<Requirement>,
    /// Targets that are not among them because their files have no current asleep, which a rate of
    /// messages needs.
    pub left_out: Vec<String>,
    /// The candidates that meet the requirements, or the reason why none does.
    pub outcome: SearchResult,
    /// Storage and panel for the feasible point of least energy; none where nothing is asked that
    /// needs it.
    pub sizing: Option<Sizing>,
}

/// Searches all that is asked for; measures missing figures.
///
/// # Errors
/// Unknown names; a clock and supply that no chosen target allows; an option that needs another
/// one; errors of [`cost_table::get`]. An infeasible plan is no error here but an outcome without
/// points.
pub fn run(workspace: &Workspace, request: &Request, progress: &dyn Progress) -> Result<Plan, LabError> {
    check(request)?;
    let space = space::Space::new(workspace, request)?;
    let figures = cost_table::get(workspace, &space.wanted(), progress)?;
    let sun = Sun::of(workspace, request)?;
    let mut candidates = space.candidates(request, &figures)?;
    let left_out = leave_out(request, &mut candidates)?;
    let requirements = requirements(request, sun.as_ref());
    let outcome = search(&candidates, &requirements);
    let best = outcome
        .points
        .iter()
        .map(|point| &candidates[point.index])
        .min_by(|a, b| a.energy_j().total_cmp(&b.energy_j()));
    let sizing = match best {
        Some(best) => Sizing::of(request, best, sun.as_ref()),
        None => None,
    };
    let energy_accuracies = space.energy_accuracies();
    Ok(Plan { candidates, energy_accuracies, kinds: space.kinds(), requirements, left_out, outcome, sizing })
}

impl Plan {
    /// Bound on the energy of a point beside that of its cycles: that of computing.
    #[must_use]
    pub fn energy_accuracy(&self, one: &Candidate) -> EnergyAccuracy {
        let stated = self.energy_accuracies.get(&*one.target).map_or(&[][..], Vec::as_slice);
        energy_accuracy::at(stated, one.clock_hz as f64)
    }
}

/// Takes out the points whose sleep is not known where it counts, and says of which targets.
fn leave_out(request: &Request, candidates: &mut Vec<Candidate>) -> Result<Vec<String>, LabError> {
    let mut left_out: Vec<String> = Vec::new();
    if request.rate_hz.is_none() {
        return Ok(left_out);
    }
    candidates.retain(|one| {
        if one.sleep_w.is_none() && left_out.last().is_none_or(|last| **last != *one.target) {
            left_out.push(one.target.to_string());
        }
        one.sleep_w.is_some()
    });
    if candidates.is_empty() {
        return Err(LabError::Usage(format!(
            "--rate needs a current asleep, and the target files have none for {}; leave it out, or add one to [[supply.sleep]]",
            left_out.join(", ")
        )));
    }
    Ok(left_out)
}

fn check(request: &Request) -> Result<(), LabError> {
    let usage = |text: &str| Err(LabError::Usage(text.into()));
    if request.life_s.is_some() && request.battery.is_none() {
        return usage("--life is the battery's: give it, as in --battery 220mAh@3V");
    }
    if request.life_s.is_some() && request.rate_hz.is_none() {
        return usage("--life needs the rate of messages: give it, as in --rate 4/h");
    }
    if request.harvest && request.rate_hz.is_none() {
        return usage("--harvest needs the rate of messages: give it, as in --rate 4/h");
    }
    let bad = |name: &str, error: energy::OutOfRange| LabError::Usage(format!("{name}: {error}"));
    request.battery.map_or(Ok(()), |battery| battery.check()).map_err(|error| bad("--battery", error))?;
    request.capacitor.map_or(Ok(()), |part| part.check()).map_err(|error| bad("--capacitor", error))?;
    request.panel.map_or(Ok(()), |panel| panel.check()).map_err(|error| bad("--panel", error))
}

/// The limits in the order in which a person would name them.
fn requirements(request: &Request, sun: Option<&Sun>) -> Vec<Requirement> {
    let harvest = match (request.panel, request.rate_hz, sun) {
        (Some(panel), Some(_), Some(sun)) => Some(panel.power_w(sun.mean_w_per_m2())),
        _ => None,
    };
    [
        (Quantity::Energy, request.energy_j),
        (Quantity::Latency, request.latency_s),
        (Quantity::Security, request.security_bits.map(f64::from)),
        (Quantity::Interval, request.rate_hz.map(|rate_hz| 1.0 / rate_hz)),
        (Quantity::Flash, request.flash_bytes),
        (Quantity::Ram, request.ram_bytes),
        (Quantity::Life, request.life_s),
        (Quantity::Stored, request.capacitor.map(|capacitor| capacitor.max_v)),
        (Quantity::Harvest, harvest),
    ]
    .into_iter()
    .filter_map(|(quantity, limit)| limit.map(|limit| Requirement { quantity, limit }))
    .collect()
}
