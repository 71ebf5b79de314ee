//! `check`: builds somebody's project, measures its firmware and compares it with its limits, all
//! of which its `wattseal.toml` says.

mod project;

pub use project::{FILE, Project};

use crate::compare::{self, Comparison, Figure, Limit, MEASURE, Measured, SaveFile};
use crate::measure::{self, MeasureRow};
use crate::workspace::Workspace;
use crate::{LabError, names};
use firmware::Firmware;
use project::Measurement;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

/// Result of a check.
#[derive(Debug)]
pub struct CheckResult {
    /// All rows, their figures before and now, and their limits.
    pub comparison: Comparison,
    /// Remarks on the runs, a line each.
    pub remarks: Vec<String>,
    /// All ran as it was asked for, and no limit is passed.
    pub success: bool,
}

/// Builds and measures a project's file, and compares it with the baseline and the limits. With
/// `save` the rows become the baseline, and growth is no failure.
///
/// # Errors
/// A file that says what cannot be, a build that fails, a baseline that is none, firmware that
/// cannot be run.
pub fn run(
    workspace: &Workspace,
    path: &Path,
    save: bool,
    interrupted: &AtomicBool,
) -> Result<CheckResult, LabError> {
    let path = if path.is_dir() { path.join(FILE) } else { path.to_owned() };
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let project = Project::read(&path)?;
    let measurements = project.measurements(&path, folder)?;
    let baseline = folder.join(&project.baseline);
    let before = if baseline.exists() { compare::read(&baseline, &MEASURE)? } else { Vec::new() };
    let file = save.then(|| SaveFile::open(&baseline)).transpose()?;
    if let Some(line) = &project.build {
        build(line, folder)?;
    }
    let mut measured = Run { rows: Vec::new(), limits: HashMap::new(), remarks: Vec::new(), success: true };
    for measurement in &measurements {
        measured.take(workspace, measurement, interrupted)?;
    }
    let Run { rows, limits, mut remarks, mut success } = measured;
    let limits = |row: &Measured, figure: Figure| {
        let of_row = limits.get(&row.identity).into_iter().flatten();
        let of_figure = of_row.filter(|(limited, _)| *limited == figure).map(|(_, limit)| *limit);
        of_figure.filter(|limit| !save || !matches!(limit, Limit::Growth(_))).collect()
    };
    let comparison = Comparison::new(&before, compare::measured(&rows, &MEASURE)?, limits);
    match file {
        Some(file) if success => {
            file.write(&rows)?;
            remarks.push(format!("{} is the baseline now", baseline.display()));
        }
        Some(_) => remarks.push(format!("{} stays as it was: not all was measured", baseline.display())),
        None if !baseline.exists() => {
            remarks.push(format!("there is no {} to compare with; --save writes it", baseline.display()));
        }
        None => {}
    }
    remarks.extend(comparison.limit_failures());
    success &= comparison.passes();
    Ok(CheckResult { comparison, remarks, success })
}

/// Runs the project's own build, whose output is no data of ours.
fn build(line: &str, folder: &Path) -> Result<(), LabError> {
    let mut shell = Command::new("sh");
    let shell = shell.args(["-c", line]).current_dir(folder).stdin(Stdio::null()).stdout(std::io::stderr());
    let failed = |why: String| LabError::Unfinished(format!("build: {line}: {why}; nothing was measured"));
    let status = shell.status().map_err(|error| failed(error.to_string()))?;
    if status.success() { Ok(()) } else { Err(failed(status.to_string())) }
}

/// Measurements of a project so far.
struct Run {
    rows: Vec<MeasureRow>,
    /// By the identity of a row.
    limits: HashMap<Vec<String>, Vec<(Figure, Limit)>>,
    remarks: Vec<String>,
    success: bool,
}

impl Run {
    /// Measures one firmware. One that cannot be run is an error of its own, beside the rows of the
    /// others.
    fn take(
        &mut self,
        workspace: &Workspace,
        measurement: &Measurement,
        interrupted: &AtomicBool,
    ) -> Result<(), LabError> {
        let error = match self.measure(workspace, measurement, interrupted) {
            Err(error) if !error.is_usage() => error,
            other => return other,
        };
        let Measurement { request, elf, .. } = measurement;
        self.remarks.push(format!("{}: {error}", elf.display()));
        self.success = false;
        let target = &request.setup.target;
        self.rows.push(MeasureRow::not_begun(elf, target, &error));
        Ok(())
    }

    fn measure(
        &mut self,
        workspace: &Workspace,
        measurement: &Measurement,
        interrupted: &AtomicBool,
    ) -> Result<(), LabError> {
        let Measurement { request, elf, ends_asleep, general, program, region, functions } = measurement;
        let core = workspace.target(&request.setup.target)?.part.core;
        let mut firmware = Firmware::read_with(&request.setup.elf, core, &request.setup.loading)?;
        firmware.name_functions(&request.functions);
        let limited: HashMap<&str, _> = functions
            .iter()
            .map(|(name, limits)| {
                Ok((firmware.functions()[firmware.function(name)?].name.as_str(), limits.as_slice()))
            })
            .collect::<Result<_, LabError>>()?;
        let mut result = measure::run(workspace, request, interrupted, None)?;
        if !ends_asleep {
            result.refuse_sleep();
        }
        let elf = elf.display().to_string();
        if let Some(failure) = &result.failure {
            self.success = false;
            self.remarks.push(format!("{elf}: {failure}"));
        }
        self.remarks
            .extend(result.accuracies.iter().map(|accuracy| accuracy.foot()).filter(|foot| !foot.is_empty()));
        let mut rows = result.rows;
        // Without functions asked for there are the sums of all, which nobody limits.
        rows.retain(|row| row.kind != "function");
        rows.push(result.program);
        for mut row in rows {
            row.firmware.clone_from(&elf);
            let own = match row.kind {
                "program" => program.as_slice(),
                "region" => region.as_slice(),
                _ => limited.get(row.name.as_str()).copied().unwrap_or_default(),
            };
            let identity = [&row.firmware, &row.target, row.kind, &row.name].map(str::to_owned);
            self.limits.insert(identity.to_vec(), [general.as_slice(), own].concat());
            self.rows.push(row);
        }
        Ok(())
    }
}

/// The format of a report's file, by the end of its name.
///
/// # Errors
/// [`LabError::Usage`] for a name that ends otherwise.
pub fn report_format(path: &Path) -> Result<output::ReportFormat, LabError> {
    use output::ReportFormat::{Csv, Json, Junit, Markdown};
    const FORMATS: [(&str, output::ReportFormat); 4] =
        [("md", Markdown), ("xml", Junit), ("json", Json), ("csv", Csv)];
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    let found = FORMATS.into_iter().find(|(known, _)| *known == end).map(|(_, format)| format);
    found.ok_or_else(|| {
        let known = names::suggestion("?", FORMATS.iter().map(|(known, _)| *known));
        LabError::Usage(format!("{}: its name must say the format{known}", PathBuf::from(path).display()))
    })
}
