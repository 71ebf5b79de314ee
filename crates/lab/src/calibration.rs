//! A user's measurements of a part, and the targets as they correct them.

mod recording;

pub use recording::{Point, PointRequest};

use crate::energy_accuracy::{EnergyAccuracy, EnergyBound};
use crate::target::{Target, Workspace};
use crate::{LabError, names};
use energy::{Calibration, Correction};
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
        EnergyAccuracy { max_hz: None, energy: EnergyBound::Estimate, source }
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

impl Workspace {
    /// The same workspace, with a target's active current corrected by a calibration file.
    ///
    /// # Errors
    /// [`LabError::File`] where it cannot be read. [`LabError::BadFile`] where it is malformed,
    /// contradicts the data sheet or leaves it. [`LabError::UnknownName`] for a target that does
    /// not exist.
    pub fn calibrated(mut self, path: &Path) -> Result<Workspace, LabError> {
        let (path, text) = self.read_own(path)?;
        self.calibration = Some(self.fitted(path, &text)?);
        Ok(self)
    }

    /// Reads a calibration file's text, and fits it to its target.
    fn fitted(&self, path: PathBuf, text: &str) -> Result<Calibrated, LabError> {
        let file = Calibration::from_toml(text).map_err(|error| bad(&path, error))?;
        let known = self.target_names()?;
        if !known.contains(&file.target) {
            let suggestion = names::suggestion(&file.target, known.iter().map(String::as_str));
            let problem = format!("there is no target '{}'{suggestion}", file.target);
            return Err(LabError::BadFile { path, problem });
        }
        let supply = self.uncalibrated().target(&file.target)?.supply;
        let correction = file.correction(&supply).map_err(|error| bad(&path, error))?;
        Ok(Calibrated { path, file, correction })
    }

    /// The same workspace with the data sheets' currents.
    #[must_use]
    pub fn uncalibrated(&self) -> Workspace {
        let mut workspace = self.clone();
        workspace.calibration = None;
        workspace
    }

    /// The calibration that its targets are corrected by.
    #[must_use]
    pub fn calibration(&self) -> Option<&Calibrated> {
        self.calibration.as_ref()
    }

    /// Refuses a calibration of none of these targets, which would do nothing without a word.
    ///
    /// # Errors
    /// [`LabError::Usage`] with the target that it is of.
    pub fn calibration_is_of<'a>(&self, targets: impl IntoIterator<Item = &'a str>) -> Result<(), LabError> {
        let Some(Calibrated { path, file, .. }) = &self.calibration else { return Ok(()) };
        if targets.into_iter().any(|name| name == file.target) {
            return Ok(());
        }
        Err(LabError::Usage(format!(
            "{} calibrates {}, which is not asked for; add --target {} or leave --calibration out",
            path.display(),
            file.target,
            file.target
        )))
    }
}

fn bad(path: &Path, error: impl std::fmt::Display) -> LabError {
    LabError::BadFile { path: path.into(), problem: error.to_string() }
}
