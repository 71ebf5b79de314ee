//! A user's measurements of a part, and the targets as they correct them.

use crate::LabError;
use crate::energy_accuracy::{EnergyAccuracy, EnergyBound};
use crate::target::Target;
use energy::{Calibration, Correction, Supply};
use std::path::{Path, PathBuf};

/// A calibration file that has been read and fitted to its target.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibrated {
    pub path: PathBuf,
    pub file: Calibration,
    /// Correction of the target's active current.
    pub correction: Correction,
}

impl Calibrated {
    /// Fits a calibration to its target's supply.
    ///
    /// # Errors
    /// [`LabError::BadFile`] for one that contradicts the data sheet or leaves it.
    pub(crate) fn fit(path: PathBuf, file: Calibration, supply: &Supply) -> Result<Calibrated, LabError> {
        let correction = file.correction(supply).map_err(|error| bad(&path, error))?;
        Ok(Calibrated { path, file, correction })
    }

    /// Puts the correction on a target, where it is the one that was measured.
    pub(crate) fn put_on(&self, target: &mut Target) -> Result<(), LabError> {
        if target.name() == self.file.target {
            target.supply = target.supply.calibrated(&self.file).map_err(|error| bad(&self.path, error))?;
            target.energy_accuracy = vec![self.accuracy()];
        }
        Ok(())
    }

    /// Bound on the deviation of corrected energies: the rest at the points says nothing of clocks
    /// far from them.
    fn accuracy(&self) -> EnergyAccuracy {
        let left = self.correction.deviations.iter().map(|point| point.after.abs()).fold(0.0, f64::max);
        let source = format!(
            "corrected by {}, whose points it meets within {:.1} %",
            self.path.display(),
            // Rounded up: 2.04 % is not within 2.0 %.
            (left * 1000.0).ceil() / 10.0
        );
        EnergyAccuracy { max_hz: None, energy: EnergyBound::Estimate, source, programs: Vec::new() }
    }

    /// Describes the correction in a sentence for the reader of the figures.
    #[must_use]
    pub fn remark(&self) -> String {
        let Correction { gain, offset_a, deviations } = &self.correction;
        let percent = |share: f64| format!("{:+.0} %", share * 100.0);
        let before: Vec<String> = deviations.iter().map(|point| percent(point.before)).collect();
        let after: Vec<String> = deviations.iter().map(|point| percent(point.after)).collect();
        format!(
            "{}: calibrated by {}: {gain:.3} times the data sheet's active current, and {:.3} mA; against its points \
             the model was {}, and is {}",
            self.file.target,
            self.path.display(),
            offset_a * 1e3,
            before.join(", "),
            after.join(", ")
        )
    }
}

fn bad(path: &Path, error: impl std::fmt::Display) -> LabError {
    LabError::BadFile { path: path.into(), problem: error.to_string() }
}
