//! `reproduce`: a paper's tables, each published figure beside the one measured here.

mod cells;
mod charts;
mod deliveries;
mod runs;

use crate::paper::Paper;
use lab::LabError;
use lab::delivery::Deliveries;
use lab::plot::{self, Chart};
use lab::progress::Progress;
use lab::target::Workspace;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A cell of a paper's table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaperRow {
    /// The paper, by first author and year.
    pub paper: String,
    /// Its table, by the name that the paper has for it.
    pub table: String,
    /// The row's heading.
    pub row: String,
    /// The column's heading.
    pub column: String,
    /// Unit of both figures.
    pub unit: String,
    /// The paper's figure, where it has one.
    pub published: Option<f64>,
    /// Ours, where there is one.
    pub measured: Option<f64>,
    /// Measured over published, unless that is zero.
    pub ratio: Option<f64>,
    /// Contradiction in the paper, or a note that a reader needs.
    pub note: String,
    /// The same, each remark for itself.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// A paper reproduced.
#[derive(Clone, Debug, PartialEq)]
pub struct Reproduction {
    /// The title and where it was published.
    pub title: String,
    /// The tables' names with their titles.
    pub tables: Vec<(String, String)>,
    /// All cells.
    pub rows: Vec<PaperRow>,
    /// The charts of those tables that are drawn, each with the name of its file:
    /// `mane2014-figure-4.1.svg`.
    pub charts: Vec<(String, Chart)>,
    /// Runs whose output was wrong, as sentences; their figures are left out.
    pub wrong: Vec<String>,
}

/// Reproduces one paper, or every one where `name` is `all`.
///
/// # Errors
/// As [`run`].
pub fn run_named(
    workspace: &Workspace,
    name: &str,
    deliveries: &dyn Deliveries,
    progress: &dyn Progress,
) -> Result<Vec<Reproduction>, LabError> {
    if name == "all" {
        return Paper::names(workspace)?
            .iter()
            .map(|name| run(workspace, name, deliveries, progress))
            .collect();
    }
    Ok(vec![run(workspace, name, deliveries, progress)?])
}

/// Measures all that the paper's tables ask for; what goes between a meter and its collector,
/// `deliveries` plays.
///
/// # Errors
/// A paper that does not exist, or whose file names a target, a variant, an operation or a radio
/// that does not; a build or a model that failed. Wrong outputs are no error: see
/// [`Reproduction::wrong`]. Neither is a clock that the data sheet does not allow at a supply: that
/// cell is empty, and its note says why.
pub fn run(
    workspace: &Workspace,
    name: &str,
    deliveries: &dyn Deliveries,
    progress: &dyn Progress,
) -> Result<Reproduction, LabError> {
    let paper = Paper::read(workspace, name)?;
    let mut measured = runs::measure(workspace, &paper, progress)?;
    measured.delivered = deliveries::deliver(workspace, &paper, deliveries, progress)?;
    let (mut rows, mut charts) = (Vec::new(), Vec::new());
    for table in &paper.table {
        let mut cells = Vec::new();
        for line in &table.rows {
            for column in &table.columns {
                cells.push(cells::cell(&paper, table, line, column, &measured));
            }
        }
        charts.extend(charts::chart(&paper, table, &cells));
        rows.extend(cells);
    }
    Ok(Reproduction {
        title: format!("{}. {}", paper.title, paper.published_in),
        tables: paper.table.iter().map(|table| (table.name.clone(), table.title.clone())).collect(),
        rows,
        charts,
        wrong: measured.wrong(),
    })
}

#[derive(Clone, Debug)]
pub struct ChartFolder {
    path: PathBuf,
}

impl ChartFolder {
    /// Makes the folder where there is none: before the work that the charts are of, so that it
    /// fails early.
    ///
    /// # Errors
    /// [`LabError::File`] where it cannot be made.
    pub fn make(path: &Path) -> Result<ChartFolder, LabError> {
        std::fs::create_dir_all(path).map_err(|error| LabError::File { path: path.to_path_buf(), error })?;
        Ok(ChartFolder { path: path.to_path_buf() })
    }

    /// Writes all charts of some papers; says how many and where.
    ///
    /// # Errors
    /// [`LabError::File`] for what cannot be written, [`LabError::Chart`] for what cannot be drawn.
    pub fn write(&self, outcomes: &[Reproduction]) -> Result<String, LabError> {
        let charts: Vec<&(String, Chart)> = outcomes.iter().flat_map(|outcome| &outcome.charts).collect();
        for (name, chart) in &charts {
            let path = self.path.join(name);
            std::fs::write(&path, plot::svg(chart)?).map_err(|error| LabError::File { path, error })?;
        }
        Ok(match charts.len() {
            0 => "no table of this paper is drawn".into(),
            count => format!("{count} charts in {}", self.path.display()),
        })
    }
}
