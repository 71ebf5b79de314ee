//! `reproduce`: a paper's tables, each published figure beside the one measured here.

mod cells;
mod charts;
mod deliveries;
mod runs;

use crate::claim::Claim;
use crate::paper::{FigureKind, Paper, cell_name};
use lab::LabError;
use lab::accuracy::Bound;
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
    /// The kind of number that ours is, if there is one: only `measured` and `modelled` ones
    /// reproduce a published figure.
    pub kind: Option<FigureKind>,
    /// The bound of the cycles behind a measured or modelled figure, as `bench` has it.
    pub accuracy: Option<Bound>,
    /// The seed of the random inputs of such a figure.
    pub seed: Option<u64>,
    /// Contradiction in the paper, or a note that a reader needs.
    pub note: String,
    /// The figure that the paper's own code gives on our model, where it was measured.
    pub corroboration: Option<f64>,
    /// That code and its build.
    pub corroboration_source: Option<String>,
    /// The same, each remark for itself.
    #[serde(skip)]
    pub notes: Vec<String>,
}

impl PaperRow {
    /// Name of the cell: `TABLE/ROW/COLUMN`.
    #[must_use]
    pub fn cell_name(&self) -> String {
        cell_name(&self.table, &self.row, &self.column)
    }
}

/// A cell of a paper's table, with the claims that it shows.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PaperRecord<'a> {
    #[serde(flatten)]
    pub row: &'a PaperRow,
    /// The claims of the paper's text that this cell shows; those without a cell stand with the
    /// paper's first cell.
    pub claims: Vec<&'a Claim>,
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
    /// The claims of the paper's text, each with the verdict of its cells.
    pub claims: Vec<Claim>,
    /// Runs whose output was wrong, as sentences; their figures are left out. And claims whose
    /// cells show another verdict than the paper's file has.
    pub wrong: Vec<String>,
}

impl Reproduction {
    /// The cells with the claims that they show.
    #[must_use]
    pub fn records<'a>(&'a self) -> Vec<PaperRecord<'a>> {
        let record = |(index, row): (usize, &'a PaperRow)| {
            let name = row.cell_name();
            let shows = |claim: &&Claim| claim.cells.contains(&name) || index == 0 && claim.cells.is_empty();
            PaperRecord { row, claims: self.claims.iter().filter(shows).collect() }
        };
        self.rows.iter().enumerate().map(record).collect()
    }
}

/// Measures all that the paper's tables ask for; what goes between a meter and its collector,
/// `deliveries` plays.
///
/// # Errors
/// A paper whose file names a target, a variant, an operation or a radio that does not exist; a
/// build or a model that failed. Wrong outputs are no error: see [`Reproduction::wrong`]. Neither
/// is a clock that the data sheet does not allow at a supply: that cell is empty, and its note says
/// why.
pub fn run(
    workspace: &Workspace,
    paper: &Paper,
    deliveries: &dyn Deliveries,
    progress: &dyn Progress,
) -> Result<Reproduction, LabError> {
    let mut measured = runs::measure(workspace, paper, progress)?;
    measured.delivered = deliveries::deliver(workspace, paper, deliveries, progress)?;
    let (mut rows, mut charts) = (Vec::new(), Vec::new());
    for table in &paper.table {
        let mut cells = Vec::new();
        for line in &table.rows {
            for column in &table.columns {
                cells.push(cells::cell(paper, table, line, column, &measured));
            }
        }
        charts.extend(charts::chart(paper, table, &cells));
        rows.extend(cells);
    }
    let mut wrong = measured.wrong();
    let judge = |claim: &Claim| {
        let (claim, disagreement) = claim.judged(|cell| {
            let row = rows.iter().find(|row| row.cell_name() == cell)?;
            if claim.by_published { row.published } else { row.measured }
        });
        wrong.extend(disagreement.map(|sentence| format!("{}: {sentence}", paper.id)));
        claim
    };
    let claims = paper.claims.iter().map(judge).collect();
    Ok(Reproduction {
        title: format!("{}. {}", paper.title, paper.published_in),
        tables: paper.table.iter().map(|table| (table.name.clone(), table.title.clone())).collect(),
        rows,
        charts,
        claims,
        wrong,
    })
}

/// The folder that charts are written into.
#[derive(Clone, Debug)]
pub struct ChartFolder {
    path: PathBuf,
    written: usize,
}

/// Room that a folder for charts must have, in bytes: a chart takes up to about 60,000.
const ROOM_BYTES: usize = 1 << 20;

impl ChartFolder {
    /// Makes the folder if there is none, and tries to write into it: before the work that the
    /// charts are of.
    ///
    /// # Errors
    /// [`LabError::File`] if it cannot be made, cannot be written, or its disk is full.
    pub fn make(path: &Path) -> Result<ChartFolder, LabError> {
        let failed = |error| LabError::File { path: path.to_path_buf(), error };
        std::fs::create_dir_all(path).map_err(failed)?;
        let trial = path.join(format!(".wattseal-{}", std::process::id()));
        let written = std::fs::write(&trial, vec![0; ROOM_BYTES]);
        let removed = std::fs::remove_file(&trial);
        written.and(removed).map_err(failed)?;
        Ok(ChartFolder { path: path.to_path_buf(), written: 0 })
    }

    /// Writes the charts of a paper.
    ///
    /// # Errors
    /// [`LabError::File`] for one that cannot be written, [`LabError::Chart`] for one that cannot
    /// be drawn; the others are written.
    pub fn write(&mut self, outcome: &Reproduction) -> Result<(), LabError> {
        let mut first = Ok(());
        for (name, chart) in &outcome.charts {
            let path = self.path.join(name);
            let written = plot::svg(chart)
                .and_then(|text| std::fs::write(&path, text).map_err(|error| LabError::File { path, error }));
            match written {
                Ok(()) => self.written += 1,
                Err(error) => first = first.and(Err(error)),
            }
        }
        first
    }

    /// The number of charts and their folder, as a sentence.
    #[must_use]
    pub fn summary(&self) -> String {
        match self.written {
            0 => "no chart was drawn".into(),
            1 => format!("1 chart in {}", self.path.display()),
            count => format!("{count} charts in {}", self.path.display()),
        }
    }
}
