//! A point of a calibration file out of a recording of a board's current.

use crate::LabError;
use crate::calibration::Calibrated;
use crate::recorded::{self, Column, TIMES};
use crate::workspace::Workspace;
use energy::Calibration;
use output::scaled;
use std::path::PathBuf;

/// Units of a column of currents.
const CURRENTS: [(&str, f64); 5] = [("A", 1.0), ("mA", 1e-3), ("uA", 1e-6), ("µA", 1e-6), ("nA", 1e-9)];

/// A recording, and what the part did meanwhile.
#[derive(Clone, Debug)]
pub struct PointRequest {
    /// A table of times and currents, such as Nordic's Power Profiler exports.
    pub recording: PathBuf,
    /// The target that was measured.
    pub target: String,
    /// Its clock, in Hz.
    pub clock_hz: u64,
    /// Supply at the part, in volts.
    pub supply_v: f64,
    /// Beginning of the part of the recording that counts, in nanoseconds.
    pub from_ns: u64,
    /// Its end; the recording's own where absent.
    pub until_ns: Option<u64>,
    /// The calibration file; the point is added to one that is there.
    pub file: PathBuf,
    /// Author and method, for a new file.
    pub source: Option<String>,
}

/// A point that was added.
#[derive(Clone, Debug)]
pub struct Point {
    /// Number of the point in its file, counted from 1.
    pub number: usize,
    /// Mean, smallest and largest current, in amperes.
    pub mean_a: f64,
    pub least_a: f64,
    pub most_a: f64,
    /// Samples that counted.
    pub samples: usize,
    /// The file, as it corrects its target now.
    pub calibrated: Calibrated,
}

impl Point {
    /// Describes the point and its effect for a person.
    #[must_use]
    pub fn describe(&self) -> String {
        let [mean, least, most] =
            [self.mean_a, self.least_a, self.most_a].map(|current_a| scaled(current_a, "A"));
        format!(
            "point {} of {}: {mean}, the mean of {} samples from {least} to {most}\n{}",
            self.number,
            self.calibrated.path.display(),
            self.samples,
            self.calibrated.remark()
        )
    }
}

impl PointRequest {
    /// Adds the recording's mean current to the calibration file, which is written only where it
    /// can be used.
    ///
    /// # Errors
    /// A recording or a file that cannot be read or written; a file of another target; points that
    /// contradict the data sheet.
    pub fn add(&self, workspace: &Workspace) -> Result<Point, LabError> {
        let samples = self.samples()?;
        let text = self.begun()?;
        let mean_a = mean(&samples);
        let name = self.recording.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = format!(
            "{text}\n[[point]] # {}\nclock_hz = {:e}\nsupply_v = {:?}\ncurrent_a = {mean_a:e}\n",
            name.replace(char::is_control, " "),
            self.clock_hz as f64,
            self.supply_v,
        );
        let calibrated = workspace.fitted(self.file.clone(), &text)?;
        std::fs::write(&self.file, &text)
            .map_err(|error| LabError::File { path: self.file.clone(), error })?;
        let currents = || samples.iter().map(|(_, current_a)| *current_a);
        Ok(Point {
            number: calibrated.file.points.len(),
            mean_a,
            least_a: currents().fold(f64::INFINITY, f64::min),
            most_a: currents().fold(f64::NEG_INFINITY, f64::max),
            samples: samples.len(),
            calibrated,
        })
    }

    /// The samples that count: times in nanoseconds, currents in amperes.
    fn samples(&self) -> Result<Vec<(u64, f64)>, LabError> {
        let time = Column { heading: None, place: 0, units: &TIMES };
        let current = Column { heading: None, place: 1, units: &CURRENTS };
        let mut samples = recorded::columns(&self.recording, time, current).map_err(LabError::Usage)?;
        let until_ns = self.until_ns.unwrap_or(u64::MAX);
        samples.retain(|(at_ns, _)| (self.from_ns..until_ns).contains(at_ns));
        if samples.len() < 2 {
            return Err(LabError::Usage(format!(
                "{}: fewer than two samples lie between --from and --until",
                self.recording.display()
            )));
        }
        Ok(samples)
    }

    /// The file as it is, or a new one without points.
    fn begun(&self) -> Result<String, LabError> {
        match (std::fs::read_to_string(&self.file), &self.source) {
            (Ok(text), None) => {
                let bad = |problem: String| LabError::BadFile { path: self.file.clone(), problem };
                let file = Calibration::from_toml(&text).map_err(|error| bad(error.to_string()))?;
                if file.target == self.target {
                    return Ok(text);
                }
                let problem =
                    format!("it is of the {}, not of the {}; give another --out", file.target, self.target);
                Err(bad(problem))
            }
            (Ok(_), Some(_)) => Err(LabError::Usage(format!(
                "{} is there, and has its source; leave --source out, or give another --out",
                self.file.display()
            ))),
            (Err(error), Some(source)) if error.kind() == std::io::ErrorKind::NotFound => {
                let quoted = |text: &str| toml::Value::String(text.into());
                Ok(format!("target = {}\nsource = {}\n", quoted(&self.target), quoted(source)))
            }
            (Err(error), None) if error.kind() == std::io::ErrorKind::NotFound => Err(LabError::Usage(
                format!("{} is new: --source says who measured, and how", self.file.display()),
            )),
            (Err(error), _) => Err(LabError::File { path: self.file.clone(), error }),
        }
    }
}

/// Mean over time: a sample counts up to the next one, the last as long as the one before it.
fn mean(samples: &[(u64, f64)]) -> f64 {
    let lengths: Vec<f64> = samples.windows(2).map(|pair| (pair[1].0 - pair[0].0) as f64).collect();
    let last = lengths.last().copied().unwrap_or(1.0);
    let weighted = samples.iter().zip(lengths.iter().copied().chain([last]));
    let (charge, time) = weighted.fold((0.0, 0.0), |(charge, time), ((_, current), length)| {
        (charge + current * length, time + length)
    });
    charge / time
}
