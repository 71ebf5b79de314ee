//! `reproduce`.

use crate::{CacheArgs, Interruptible, interruption};
use clap::Args;
use lab::LabError;
use lab::delivery::{Deliveries, KeptDeliveries};
use lab::workspace::Workspace;
use output::{Answer, Bar, PaperFormat, Written};
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
    /// True once the report has a paper.
    is_reported: bool,
}

impl Outlets {
    /// Writes a paper into each; returns errors as remarks.
    fn write(&mut self, outcome: &Reproduction) -> Vec<String> {
        let charts = self.charts.as_mut().map(|charts| charts.write(outcome));
        let report = self.report.as_mut().map(|report| report.write(outcome));
        self.is_reported |= matches!(report, Some(Ok(())));
        let errors = [charts, report].into_iter().flatten().filter_map(Result::err);
        errors.map(|error| format!("wattseal: {error}")).collect()
    }

    /// True if there is one.
    fn is_any(&self) -> bool {
        self.charts.is_some() || self.report.is_some()
    }

    /// The places that were written, as sentences.
    fn summaries(&self) -> impl Iterator<Item = String> {
        let charts = self.charts.as_ref().map(ChartFolder::summary);
        let report = self.report.as_ref().filter(|_| self.is_reported);
        charts.into_iter().chain(report.map(ReportPlace::summary))
    }
}

pub(crate) fn run(workspace: &Workspace, args: &ReproduceArgs) -> Result<Answer, LabError> {
    let papers = Paper::named(workspace, &args.paper)?;
    let charts = args.plots.as_deref().map(ChartFolder::make).transpose()?;
    let mut outlets = Outlets { charts, report: args.report_place(papers.len())?, is_reported: false };
    let bar = Bar::new();
    let interrupted = interruption()?;
    let watched = Interruptible { bar: &bar, interrupted: &interrupted };
    let layout = Layout { cells: args.cells, wide: args.wide };
    let mut writer = PaperWriter::new(args.format, layout);
    let deliveries: &dyn Deliveries = match args.fresh {
        true => &sim::link::LinkBenchmark,
        false => &KeptDeliveries(&sim::link::LinkBenchmark),
    };
    let (mut remarks, mut success, mut is_read) = (Vec::<String>::new(), true, true);
    for (done, paper) in papers.iter().enumerate() {
        let outcome = match reproduce::run_to_interruption(workspace, paper, deliveries, &watched) {
            Ok(outcome) if !outcome.is_interrupted => outcome,
            ended => {
                // The papers that are there, and what was wrong in them, whatever ended the run.
                let error = match ended {
                    Ok(outcome) => {
                        if outcome.has_figures() {
                            let text = writer.paper(&outcome).map_err(LabError::from)?;
                            bar.aside(|| output::write(&text))?;
                        }
                        unfinished(&outcome, papers.len() - done, papers.len(), &mut outlets)
                    }
                    Err(error) => error,
                };
                output::write(&writer.end())?;
                remarks.iter().for_each(|remark| output::say(remark));
                return Err(error);
            }
        };
        success &= outcome.wrong.is_empty();
        remarks.extend(outcome.wrong.iter().cloned());
        // Files first: a reader of standard output that has gone does not want them less.
        let errors = outlets.write(&outcome);
        success &= errors.is_empty();
        remarks.extend(errors);
        let text = writer.paper(&outcome).map_err(LabError::from)?;
        is_read = is_read && bar.aside(|| output::write(&text))? == Written::All;
        if !is_read && !outlets.is_any() {
            return Ok(Answer { data: String::new(), remark: remarks.join("\n"), success });
        }
    }
    remarks.extend(outlets.summaries());
    let data = if is_read { writer.end() } else { String::new() };
    Ok(Answer { data, remark: remarks.join("\n"), success })
}

/// The end of an interrupted run. Its report keeps what was measured.
fn unfinished(outcome: &Reproduction, rest: usize, papers: usize, outlets: &mut Outlets) -> LabError {
    let written = outlets.report.as_mut().map(|report| report.write(outcome).map(|()| report.summary()));
    let kept = match written {
        None if outcome.has_figures() => "; what was measured of it is printed".into(),
        None => String::new(),
        Some(Ok(summary)) => format!("; incomplete {summary}"),
        Some(Err(error)) => format!("; {error}"),
    };
    LabError::Unfinished(format!(
        "interrupted in {}: {rest} of {papers} papers are missing{kept}",
        outcome.id
    ))
}
