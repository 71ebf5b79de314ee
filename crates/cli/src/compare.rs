//! `--save`, `--against` and `--fail-over`.

use clap::Args;
use lab::compare::{self, Comparison, Layout, Limit, Measured, SaveFile};
use lab::report::{self, Shown};
use lab::{LabError, units};
use output::{Answer, ReportFormat};
use serde::Serialize;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct CompareArgs {
    /// Write the rows as JSON into this file, to compare later runs with, once they are all
    /// measured
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Show what changed since the rows of this file, which --save or --format json wrote
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Fail where a figure (cycles, flash, RAM, stack or energy) grew by more than this, such as 1%
    /// [default: none fails]
    #[arg(long, value_name = "PERCENT", requires = "against", value_parser = units::growth)]
    fail_over: Option<f64>,
}

/// Destination of the rows, checked before the run.
pub(crate) struct Destination {
    layout: &'static Layout,
    before: Option<Vec<Measured>>,
    fail_over: Option<f64>,
    save: Option<SaveFile>,
}

impl CompareArgs {
    /// Reads what to compare with, and opens the file for the rows.
    pub(crate) fn prepare(&self, layout: &'static Layout) -> Result<Destination, LabError> {
        let before = self.against.as_deref().map(|path| compare::read(path, layout)).transpose()?;
        let save = self.save.as_deref().map(SaveFile::open).transpose()?;
        Ok(Destination { layout, before, fail_over: self.fail_over, save })
    }
}

impl Destination {
    /// Returns true if the changes are shown in place of the rows.
    pub(crate) fn is_comparison(&self) -> bool {
        self.before.is_some()
    }

    /// Returns true if the rows are of use behind the run.
    pub(crate) fn wants_rows(&self) -> bool {
        self.before.is_some() || self.save.is_some()
    }

    /// Saves the rows of a run that succeeded, and shows what changed; the answer without that is
    /// `plain`.
    pub(crate) fn finish<T: Serialize>(
        self,
        rows: &[T],
        plain: Answer,
        format: ReportFormat,
        wide: bool,
    ) -> Result<Answer, LabError> {
        let mut answer = plain;
        // What did not come to its end is nothing to compare later runs with.
        let save = self.save.filter(|_| answer.success);
        if let Some(before) = self.before {
            let limit = self.fail_over.map(Limit::Growth);
            let after = compare::measured(rows, self.layout)?;
            let comparison = Comparison::new(&before, after, |_, _| limit.into_iter().collect());
            answer.data = report::comparison(&comparison, Shown::Changes, format, wide, self.layout.command)?;
            for failure in comparison.limit_failures() {
                answer.remark += &format!("\nwattseal: {failure}");
                answer.success = false;
            }
            answer.remark = answer.remark.trim_start().to_owned();
        }
        if let Err(error) = save.map_or(Ok(()), |file| file.write(rows)) {
            // The rows are still to be had.
            answer.remark = format!("{}\nwattseal: {error}", answer.remark).trim_start().to_owned();
            answer.success = false;
        }
        Ok(answer)
    }
}
