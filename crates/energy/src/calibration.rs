//! A user's own measurements, against the data sheet's typical currents.

use crate::current::Adjustment;
use crate::line;
use crate::supply::{Supply, SupplyError};
use serde::Deserialize;
use thiserror::Error;

/// Measurements of one part: `calibrations/*.toml`, or a file of the user's.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// The target that was measured.
    pub target: String,
    /// Author and method of the measurement.
    pub source: String,
    /// The measurements, at least one.
    #[serde(rename = "point")]
    pub points: Vec<Measurement>,
}

/// A measurement of the part while it runs from flash: its current, or the energy of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    /// Clock, in Hz.
    pub clock_hz: f64,
    /// Supply at the part, in volts.
    pub supply_v: f64,
    /// Mean current, in amperes; or else `energy_j` and one of `cycles` and `time_s`.
    #[serde(default)]
    pub current_a: Option<f64>,
    /// Energy of the workload, in joules.
    #[serde(default)]
    pub energy_j: Option<f64>,
    /// Clock cycles of the workload; of an 8051 twelve times its machine cycles.
    #[serde(default)]
    pub cycles: Option<f64>,
    /// Time of the workload, in seconds.
    #[serde(default)]
    pub time_s: Option<f64>,
}

/// Effect of a calibration on the active current: `gain * current + offset`.
#[derive(Clone, Debug, PartialEq)]
pub struct Correction {
    /// On the data sheet's current.
    pub gain: f64,
    /// Current at any clock, in amperes; 0 where all points lie at one current of the data sheet.
    pub offset_a: f64,
    /// Deviation of the model from each point, in the file's order.
    pub deviations: Vec<Deviation>,
}

/// Deviation of the model from one measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deviation {
    /// Clock, in Hz.
    pub clock_hz: f64,
    /// Supply, in volts.
    pub supply_v: f64,
    /// Measured current, in amperes.
    pub measured_a: f64,
    /// The data sheet's current there, in amperes.
    pub model_a: f64,
    /// By how much the data sheet's current is off, as a share of the measured one.
    pub before: f64,
    /// The same after the correction.
    pub after: f64,
}

/// A calibration that cannot be used.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum CalibrationError {
    /// The file is not what it must be.
    #[error("calibration file: {0}")]
    File(String),
    /// A point says too little, too much, or what cannot be.
    #[error(
        "calibration point {number}: {problem}; give current_a, or energy_j with cycles or time_s, all above zero"
    )]
    Point {
        /// Number of the point, counted from 1.
        number: usize,
        /// Fault of the point.
        problem: &'static str,
    },
    /// A point lies where the data sheet does not let the part run.
    #[error("calibration point {number}: {error}")]
    Outside {
        /// Number of the point, counted from 1.
        number: usize,
        /// The data sheet's limits.
        error: SupplyError,
    },
    /// The measured current falls where the data sheet's rises.
    #[error(
        "the calibration points contradict the data sheet: fitted to them, the current falls by {fall:.2} A for each \
         ampere that it should rise by; check their clocks, supplies and units"
    )]
    Contradiction {
        /// The gain, without its minus sign.
        fall: f64,
    },
}

impl Measurement {
    fn current(&self) -> Result<f64, &'static str> {
        let given = [self.current_a, self.energy_j, self.cycles, self.time_s];
        if given.iter().flatten().any(|value| !(value.is_finite() && *value > 0.0)) {
            return Err("a value is not above zero");
        }
        match (self.current_a, self.energy_j, self.cycles, self.time_s) {
            (Some(current_a), None, None, None) => Ok(current_a),
            (None, Some(energy_j), Some(cycles), None) => {
                Ok(energy_j * self.clock_hz / (cycles * self.supply_v))
            }
            (None, Some(energy_j), None, Some(time_s)) => Ok(energy_j / (time_s * self.supply_v)),
            (None, None, ..) => Err("it has neither a current nor an energy"),
            (None, Some(_), None, None) => Err("its energy lacks the cycles or the time"),
            (None, Some(_), Some(_), Some(_)) => Err("it has both cycles and a time"),
            (Some(_), ..) => Err("it has more than a current"),
        }
    }
}

impl Calibration {
    /// Reads a calibration file.
    ///
    /// # Errors
    /// [`CalibrationError::File`] with what is missing or wrong and the line.
    pub fn from_toml(text: &str) -> Result<Calibration, CalibrationError> {
        let calibration: Calibration =
            toml::from_str(text).map_err(|error| CalibrationError::File(error.to_string()))?;
        if calibration.points.is_empty() {
            return Err(CalibrationError::File("it has no [[point]]; give at least one".into()));
        }
        Ok(calibration)
    }

    /// Returns the effect on a data sheet's currents: the gain and the offset whose relative
    /// deviations from the points have the least sum of squares. It is only the gain where all
    /// points lie at one current of the data sheet.
    ///
    /// # Errors
    /// [`CalibrationError::Point`], [`CalibrationError::Outside`] and
    /// [`CalibrationError::Contradiction`].
    pub fn correction(&self, supply: &Supply) -> Result<Correction, CalibrationError> {
        let uncalibrated = Supply { adjustment: Adjustment::default(), ..supply.clone() };
        let mut pairs = Vec::new();
        for (number, point) in (1..).zip(&self.points) {
            let model_a = uncalibrated
                .current_a(point.clock_hz, point.supply_v)
                .map_err(|error| CalibrationError::Outside { number, error })?;
            let measured_a =
                point.current().map_err(|problem| CalibrationError::Point { number, problem })?;
            pairs.push((model_a, measured_a));
        }
        let (gain, offset_a) = line::through(&pairs).unwrap_or_else(|| (gain_alone(&pairs), 0.0));
        if gain <= 0.0 {
            return Err(CalibrationError::Contradiction { fall: -gain });
        }
        let adjustment = Adjustment { gain, offset_a };
        let deviations = self.points.iter().zip(&pairs).map(|(point, &(model_a, measured_a))| Deviation {
            clock_hz: point.clock_hz,
            supply_v: point.supply_v,
            measured_a,
            model_a,
            before: model_a / measured_a - 1.0,
            after: adjustment.apply(model_a) / measured_a - 1.0,
        });
        Ok(Correction { gain, offset_a, deviations: deviations.collect() })
    }
}

impl Supply {
    /// This supply with its active currents corrected; sleep modes and modules stay as they are.
    ///
    /// # Errors
    /// As [`Calibration::correction`].
    pub fn calibrated(&self, calibration: &Calibration) -> Result<Supply, CalibrationError> {
        let Correction { gain, offset_a, .. } = calibration.correction(self)?;
        Ok(Supply { adjustment: Adjustment { gain, offset_a }, ..self.clone() })
    }
}

/// The gain whose relative deviations have the least sum of squares.
fn gain_alone(pairs: &[(f64, f64)]) -> f64 {
    let ratios = || pairs.iter().map(|&(model_a, measured_a)| model_a / measured_a);
    ratios().sum::<f64>() / ratios().map(|ratio| ratio * ratio).sum::<f64>()
}
