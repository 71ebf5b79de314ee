//! The cost of a reading for a meter, suite by suite: measured on the meter's model, or by a
//! process that runs models beside the collector.

use super::schema::SuiteName;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, PoisonError, RwLock};
use utoipa::ToSchema;
use wire::meter::Suite;

/// The cost of a reading for the meter that sends it; figures that were not measured are `None`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// The suite.
    #[schema(value_type = SuiteName)]
    pub suite: Suite,
    /// From the plain measurement to the message that is ready to be sent, in ms.
    pub prepare_ms: Option<f64>,
    /// Energy of microcontroller and radio from there on to the accepted acknowledgement, in µJ.
    pub energy_uj: Option<f64>,
    /// Bytes that the meter has on the air for it, with preambles and check sums.
    pub air_bytes: Option<f64>,
    /// From the plain measurement to the acceptance of the acknowledgement, in ms.
    pub round_trip_ms: Option<f64>,
    /// On what it was measured.
    pub source: String,
}

/// The table of costs. Clones share it.
#[derive(Clone, Debug)]
pub struct Costs(Arc<RwLock<Vec<Cost>>>);

impl Costs {
    /// Instead of what there was, in the order that it is to be shown.
    pub fn set(&self, costs: Vec<Cost>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = costs;
    }

    /// Returns the costs, in that order.
    #[must_use]
    pub fn get(&self) -> Vec<Cost> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Default for Costs {
    /// The costs of `data/costs.toml`, which names the command that wrote it.
    fn default() -> Costs {
        Costs(Arc::new(RwLock::new(measured())))
    }
}

#[derive(Deserialize)]
struct File {
    cost: Vec<Cost>,
}

fn measured() -> Vec<Cost> {
    toml::from_str::<File>(include_str!("../../data/costs.toml")).map(|file| file.cost).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_cost_of_each_suite() {
        let suites: Vec<Suite> = measured().iter().map(|cost| cost.suite).collect();
        assert_eq!(suites, Suite::WITH_FIXED_KEYS);
    }
}
