//! A current between the points that a data sheet gives.

use serde::Deserialize;

/// A current that the data sheet gives: peripherals off, typical, 25 °C.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Clock, in Hz.
    pub clock_hz: f64,
    /// Supply, in volts.
    pub supply_v: f64,
    /// Current, in amperes.
    pub current_a: f64,
}

/// Effect of a calibration on a current.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Adjustment {
    pub gain: f64,
    pub offset_a: f64,
}

impl Default for Adjustment {
    fn default() -> Adjustment {
        Adjustment { gain: 1.0, offset_a: 0.0 }
    }
}

impl Adjustment {
    pub fn apply(&self, current_a: f64) -> f64 {
        self.gain * current_a + self.offset_a
    }
}

/// The current at a clock and supply between points, of which there is at least one: see
/// [`Supply::current_at`](crate::Supply::current_at).
pub(crate) fn at(points: &[Point], clock_hz: f64, supply_v: f64) -> f64 {
    let mut supplies: Vec<f64> = points.iter().map(|point| point.supply_v).collect();
    supplies.sort_by(f64::total_cmp);
    supplies.dedup();
    let along_clock = |v: f64| {
        let mut curve: Vec<(f64, f64)> = points
            .iter()
            .filter(|point| point.supply_v == v)
            .map(|point| (point.clock_hz, point.current_a))
            .collect();
        curve.sort_by(|a, b| a.0.total_cmp(&b.0));
        if let [(hz, a)] = curve[..] { a * clock_hz / hz } else { interpolate(&curve, clock_hz) }
    };
    let across: Vec<(f64, f64)> = supplies.iter().map(|&v| (v, along_clock(v))).collect();
    match across[..] {
        [(_, current_a)] => current_a,
        _ => interpolate(&across, supply_v),
    }
}

/// The value at `x` on the line through the two points around it, or through the outermost two; at
/// least two points.
fn interpolate(curve: &[(f64, f64)], x: f64) -> f64 {
    let right = curve.partition_point(|point| point.0 < x).clamp(1, curve.len() - 1);
    let ((x0, y0), (x1, y1)) = (curve[right - 1], curve[right]);
    y0 + (x - x0) / (x1 - x0) * (y1 - y0)
}
