//! `reproduce`.

use crate::{CacheArgs, Interruptible, interruption, write_row};
use clap::Args;
use lab::LabError;
use lab::delivery::{Deliveries, KeptDeliveries};
use lab::target::Workspace;
use output::{Answer, Bar, PaperFormat};
use papers::files::{ChartFolder, ReportPlace};
use papers::paper::Paper;
use papers::report::{Layout, PaperWriter};
use papers::reproduce::{self, Reproduction};
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct ReproduceArgs {
    /// The paper, by first author and year, or all
    #[arg(value_name = "PAPER|all")]
    paper: String,
    /// Draw the tables that are figures into this folder, as SVG
    #[arg(long, value_name = "FOLDER")]
    plots: Option<PathBuf>,
    /// Write the report of a paper as a page of HTML into this file; of all, as a site into this
    /// folder. A page needs no network
    #[arg(long, value_name = "FILE.html|FOLDER")]
    report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) cache: CacheArgs,
    /// Measure anew what was measured before [default: deliveries between a meter and its collector
    /// whose firmware and program are those of an earlier measurement are taken from there]
    #[arg(long)]
    fresh: bool,
    /// A line for each cell instead of the paper's rows and columns
    #[arg(long)]
    cells: bool,
    /// Tables as wide as their rows are
    #[arg(long)]
    wide: bool,
    /// Format of the tables
    #[arg(long, value_enum, default_value_t = PaperFormat::Table)]
    format: PaperFormat,
}

impl ReproduceArgs {
    /// The place of the report, if there is to be one; tried before the work.
    fn report_place(&self, papers: usize) -> Result<Option<ReportPlace>, LabError> {
        let Some(path) = &self.report else { return Ok(None) };
        match self.paper.as_str() {
            "all" => ReportPlace::site(path, papers).map(Some),
            _ => ReportPlace::page(path).map(Some),
        }
    }
}

/// Files that a paper is written into, besides its tables on standard output.
struct Outlets {
    charts: Option<ChartFolder>,
    report: Option<ReportPlace>,
}

impl Outlets {
    /// Writes a paper into each; returns errors as remarks.
    fn write(&mut self, outcome: &Reproduction) -> Vec<String> {
        let charts = self.charts.as_mut().map(|charts| charts.write(outcome));
        let report = self.report.as_mut().map(|report| report.write(outcome));
        let errors = [charts, report].into_iter().flatten().filter_map(Result::err);
        errors.map(|error| format!("wattseal: {error}")).collect()
    }

    /// Their places, as sentences.
    fn summaries(&self) -> impl Iterator<Item = String> {
        let charts = self.charts.as_ref().map(ChartFolder::summary);
        charts.into_iter().chain(self.report.as_ref().map(ReportPlace::summary))
    }
}

pub(crate) fn run(workspace: &Workspace, args: &ReproduceArgs) -> Result<Answer, LabError> {
    let papers = Paper::named(workspace, &args.paper)?;
    let charts = args.plots.as_deref().map(ChartFolder::make).transpose()?;
    let mut outlets = Outlets { charts, report: args.report_place(papers.len())? };
    let bar = Bar::new();
    let interrupted = interruption()?;
    let watched = Interruptible { bar: &bar, interrupted: &interrupted };
    let layout = Layout { cells: args.cells, wide: args.wide };
    let mut writer = PaperWriter::new(args.format, layout);
    let deliveries: &dyn Deliveries = match args.fresh {
        true => &sim::link::LinkBenchmark,
        false => &KeptDeliveries(&sim::link::LinkBenchmark),
    };
    let (mut remarks, mut success, mut failed) = (Vec::new(), true, None);
    for (done, paper) in papers.iter().enumerate() {
        let outcome = match reproduce::run_to_interruption(workspace, paper, deliveries, &watched) {
            Ok(outcome) if outcome.is_interrupted => {
                output::write(&writer.end())?;
                let rest = papers.len() - done;
                return Err(unfinished(&outcome, rest, papers.len(), &mut outlets));
            }
            Ok(outcome) => outcome,
            Err(error) => {
                // The papers that are there, whatever ended the run.
                output::write(&writer.end())?;
                return Err(error);
            }
        };
        success &= outcome.wrong.is_empty();
        remarks.extend(outcome.wrong.iter().cloned());
        let text = writer.paper(&outcome).map_err(LabError::from);
        if write_row(text, &bar, &mut failed).is_break() {
            return failed
                .map_or(Ok(Answer { data: String::new(), remark: remarks.join("\n"), success }), Err);
        }
        let errors = outlets.write(&outcome);
        success &= errors.is_empty();
        remarks.extend(errors);
    }
    remarks.extend(outlets.summaries());
    Ok(Answer { data: writer.end(), remark: remarks.join("\n"), success })
}

/// The end of an interrupted run. Its report keeps what was measured.
fn unfinished(outcome: &Reproduction, rest: usize, papers: usize, outlets: &mut Outlets) -> LabError {
    let written = outlets.report.as_mut().map(|report| report.write(outcome).map(|()| report.summary()));
    let kept = match written {
        None => String::new(),
        Some(Ok(summary)) => format!("; incomplete {summary}"),
        Some(Err(error)) => format!("; {error}"),
    };
    LabError::Unfinished(format!(
        "interrupted in {}: {rest} of {papers} papers are missing{kept}",
        outcome.id
    ))
}
