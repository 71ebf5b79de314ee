//! Cost of a run in each of its states: running, and asleep in each mode.

use crate::LabError;
use crate::target::{Sleeping, Target};
use energy::Fetch;
use mcu::Span;

/// The name of the state in which the core runs or is held up.
pub const ACTIVE: &str = "active";

/// Time and energy in one state, whatever the clock.
#[derive(Clone, Debug, PartialEq)]
pub struct StateSpent {
    /// `active`, or the sleep mode's name: `idle`, `LPM3`, `sleep`, `deep sleep`.
    pub state: String,
    /// Cycles in it.
    pub cycles: u64,
    /// Time in it, in seconds.
    pub time_s: f64,
    /// Mean current in it, in amperes.
    pub current_a: f64,
    /// Energy in it, in joules.
    pub energy_j: f64,
    /// Of the time, what the target file has no current for at the clock, in seconds: counted at an
    /// upper bound, the active current or the mode's at a faster clock.
    pub bounded_s: f64,
}

/// Returns the cost in each state, in the order in which the states came.
///
/// # Errors
/// [`LabError::Supply`] for a clock that the data sheet does not allow at the supply.
pub fn by_state(
    target: &Target,
    supply_v: f64,
    fetch: Fetch,
    spans: &[Span],
) -> Result<Vec<StateSpent>, LabError> {
    let mut states: Vec<StateSpent> = Vec::new();
    for span in spans {
        let clock_hz = span.clock_hz as f64;
        let time_s = span.cycles as f64 * f64::from(target.part.clocks_per_cycle) / clock_hz;
        let active_a = target.supply.current_at(clock_hz, supply_v, fetch);
        let active_a = active_a.map_err(|error| LabError::Supply { target: target.name().into(), error })?;
        let running = Sleeping { current_a: active_a, is_bound: false };
        let asleep = |mode: &str| target.sleeping(mode, clock_hz, supply_v, active_a);
        let Sleeping { current_a, is_bound } = span.mode.map_or(running, asleep);
        let name = span.mode.unwrap_or(ACTIVE);
        let known = states.iter().position(|state| state.state == name);
        let index = known.unwrap_or_else(|| {
            let state = name.into();
            let none = StateSpent { state, cycles: 0, time_s: 0.0, current_a, energy_j: 0.0, bounded_s: 0.0 };
            states.push(none);
            states.len() - 1
        });
        let state = &mut states[index];
        state.cycles += span.cycles;
        state.time_s += time_s;
        state.energy_j += time_s * current_a * supply_v;
        state.bounded_s += if is_bound { time_s } else { 0.0 };
        state.current_a = state.energy_j / (state.time_s * supply_v);
    }
    Ok(states)
}
