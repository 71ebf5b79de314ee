//! `wattseal check`.

use crate::{interruption, lines};
use clap::Args;
use lab::LabError;
use lab::check;
use lab::compare::SaveFile;
use lab::report::{self, Shown};
use lab::workspace::Workspace;
use output::{Answer, ReportFormat};
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct CheckArgs {
    /// The project's file, or its folder
    #[arg(value_name = "FILE.toml", default_value = check::FILE)]
    project: PathBuf,
    /// Make what is measured the baseline, which limits such as +1% are of
    #[arg(long)]
    save: bool,
    /// Write the table into this file, too, in the format that its name ends in: .md, .xml (JUnit),
    /// .json or .csv; may be repeated
    #[arg(long, value_name = "FILE")]
    report: Vec<PathBuf>,
    /// Format of the rows
    #[arg(long, default_value = "table", value_parser = ReportFormat::parser(&ReportFormat::LIMITS))]
    format: ReportFormat,
    /// Tables of all columns, however wide they are
    #[arg(long)]
    wide: bool,
}

/// Builds, measures, compares.
pub(crate) fn command(workspace: &Workspace, args: CheckArgs) -> Result<Answer, LabError> {
    let open = |path: &PathBuf| Ok((check::report_format(path)?, SaveFile::open(path)?));
    let reports: Vec<(ReportFormat, SaveFile)> =
        args.report.iter().map(open).collect::<Result<_, LabError>>()?;
    let result = check::run(workspace, &args.project, args.save, interruption()?.as_ref())?;
    let written = |format| report::comparison(&result.comparison, Shown::All, format, args.wide, "check");
    let mut remarks = result.remarks.clone();
    let mut success = result.success;
    for (format, file) in reports {
        if let Err(error) = file.write_text(&written(format)?) {
            // The table is still to be had.
            remarks.push(error.to_string());
            success = false;
        }
    }
    let remarks = remarks.iter().map(|remark| format!("wattseal: {remark}"));
    Ok(Answer { data: written(args.format)?, remark: lines(remarks), success })
}
