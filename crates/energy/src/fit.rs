//! The model of the literature, E = n (alpha C V^2 + K V T), fitted to a data sheet's currents.

use crate::current::at;
use crate::line;
use crate::supply::{Level, Supply, SupplyError};

/// Charge per cycle and steady current of a core level at one supply.
///
/// A workload of n cycles of length T at a supply V takes `E = n (alpha C V^2 + K V T)`: Mane,
/// "Energy-harvested lightweight cryptosystems", 2014, equations (2.1) to (2.3). Divided by V and
/// the time n T this is a current, `I = alpha C V f + K`, a straight line over the clock f, which
/// is fitted here.
///
/// If the core is behind a linear regulator, `alpha C V` is the charge that a cycle takes at the
/// core's own voltage, and does not change with the supply. `alpha C` at another supply is another,
/// and the energy goes with V, not with its square. [`Fit::charge_c`] is the constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Switched capacitance by activity, alpha C, in farads, at `supply_v`.
    pub alpha_c_f: f64,
    /// Steady current K, in amperes.
    pub k_a: f64,
    /// Largest deviation of the line from a current that it was fitted to, as a share of that
    /// current.
    pub worst: f64,
    /// The supply that it holds at, in volts.
    pub supply_v: f64,
    /// True if the data sheet has only one supply, so that the current is taken to be the same at
    /// all.
    pub regulated: bool,
}

impl Fit {
    /// The charge that a cycle takes, alpha C V, in coulombs.
    #[must_use]
    pub fn charge_c(&self) -> f64 {
        self.alpha_c_f * self.supply_v
    }

    /// The energy of a workload, in joules: equation (2.3).
    #[must_use]
    pub fn energy_j(&self, cycles: f64, clock_hz: f64) -> f64 {
        cycles * (self.alpha_c_f * self.supply_v.powi(2) + self.k_a * self.supply_v / clock_hz)
    }
}

impl Supply {
    /// Fits the model to a level's currents from flash at one supply, over the clocks that the data
    /// sheet lists for the level and allows at the supply; the deviations are taken relative to the
    /// currents.
    ///
    /// # Errors
    /// [`SupplyError::Voltage`] outside the part's supplies; [`SupplyError::Fit`] where there are
    /// fewer than two clocks.
    pub fn fit(&self, level: &Level, supply_v: f64) -> Result<Fit, SupplyError> {
        self.check_supply(supply_v)?;
        let regulated = level.points.iter().all(|point| point.supply_v == level.points[0].supply_v);
        let mut clocks: Vec<f64> = level.points.iter().map(|point| point.clock_hz).collect();
        clocks.sort_by(f64::total_cmp);
        clocks.dedup();
        let points: Vec<(f64, f64)> = clocks
            .into_iter()
            .filter(|&clock_hz| self.check(clock_hz, supply_v).is_ok())
            .map(|clock_hz| (clock_hz, self.adjustment.apply(at(&level.points, clock_hz, supply_v))))
            .collect();
        let Some((slope, k_a)) = line::through(&points) else {
            return Err(SupplyError::Fit { level: level.name.clone(), supply_v, clocks: points.len() });
        };
        let worst = points.iter().map(|&(hz, a)| ((slope * hz + k_a) / a - 1.0).abs()).fold(0.0, f64::max);
        Ok(Fit { alpha_c_f: slope / supply_v, k_a, worst, supply_v, regulated })
    }
}
