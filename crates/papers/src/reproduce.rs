//! `reproduce`: a paper's tables, each published figure beside the one measured here.

mod cells;
mod charts;
mod deliveries;
pub mod provenance;
mod quantile;
mod runs;

use crate::claim::Claim;
use crate::paper::{FigureKind, Paper, cell_name};
use crate::reason::{self, Source};
use lab::LabError;
use lab::accuracy::Bound;
use lab::delivery::Deliveries;
use lab::plot::Chart;
use lab::progress::Progress;
use lab::workspace::Workspace;
use provenance::Provenance;
use serde::Serialize;

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
    /// The same, each remark for itself.
    #[serde(skip)]
    pub notes: Vec<String>,
    /// True for a cost, of which less is better: cycles, bytes, times, energies; not for
    /// deviations, shares, voltages and clocks.
    #[serde(skip)]
    pub is_cost: bool,
    /// True if the counts of published figures have this one, by
    /// [`crate::paper::Table::compares`].
    #[serde(skip)]
    pub compares: bool,
    /// The figure that the paper's own code gives on our model, where it was measured.
    pub corroboration: Option<f64>,
    /// That code and its build.
    pub corroboration_source: Option<String>,
    /// Name and version of the compilers behind such a figure: `avr-gcc 5.4.0`.
    pub compiler: Option<String>,
    /// Version of the program that reproduced the paper.
    pub version: String,
    /// Commit of its source tree, with `-dirty` where a file of it differs; `unknown` where there
    /// is no repository.
    pub commit: String,
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
    /// Its name on the command line.
    pub id: String,
    /// The paper's title.
    pub title: String,
    /// Authors, place and year.
    pub published_in: String,
    /// The tables' names with their titles.
    pub tables: Vec<(String, String)>,
    /// All cells.
    pub rows: Vec<PaperRow>,
    /// The charts of those tables that are drawn.
    pub charts: Vec<TableChart>,
    /// The claims of the paper's text, each with the verdict of its cells.
    pub claims: Vec<Claim>,
    /// Runs whose output was wrong, as sentences; their figures are left out. And claims whose
    /// cells show another verdict than the paper's file has, or have no figure in a whole run.
    pub wrong: Vec<String>,
    /// Program, source tree, targets and compilers.
    pub provenance: Provenance,
    /// True if somebody ended the work before all of it was done: figures are missing.
    pub is_interrupted: bool,
}

impl Reproduction {
    /// Title, authors, place and year.
    #[must_use]
    pub fn citation(&self) -> String {
        format!("{}. {}", self.title, self.published_in)
    }

    /// True if some cell has a figure of ours.
    #[must_use]
    pub fn has_figures(&self) -> bool {
        self.rows.iter().any(|row| row.measured.is_some())
    }

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

/// The chart of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableChart {
    /// The table's name.
    pub table: String,
    /// Name of its file: `mane2014-figure-4.1.svg`.
    pub file: String,
    /// Axes and series.
    pub chart: Chart,
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
    let outcome = run_to_interruption(workspace, paper, deliveries, progress)?;
    match outcome.is_interrupted {
        true => Err(LabError::Unfinished("interrupted".into())),
        false => Ok(outcome),
    }
}

/// As [`run`], but an interruption is no error: the cells have what was measured before it.
///
/// # Errors
/// As [`run`].
pub fn run_to_interruption(
    workspace: &Workspace,
    paper: &Paper,
    deliveries: &dyn Deliveries,
    progress: &dyn Progress,
) -> Result<Reproduction, LabError> {
    let mut measured = runs::measure(workspace, paper, progress)?;
    measured.delivery_targets = deliveries::targets(workspace, paper, deliveries)?;
    let (delivered, delivers_less) = deliveries::deliver(workspace, paper, deliveries, progress)?;
    measured.delivered = delivered;
    let (native, times_less) = deliveries::time_natively(paper, deliveries, progress)?;
    measured.native = native;
    measured.is_interrupted |= delivers_less || times_less;
    runs::note_compilers(workspace, &mut measured)?;
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
    let is_interrupted = measured.is_interrupted;
    let mut wrong = measured.wrong();
    let judge = |claim: &Claim| {
        let figure = |cell: &str| {
            let row = rows.iter().find(|row| row.cell_name() == cell)?;
            if claim.by_published { row.published } else { row.measured }
        };
        let (claim, disagreement) = claim.judged(figure, is_interrupted);
        wrong.extend(disagreement.map(|sentence| format!("{}: {sentence}", paper.id)));
        let named = |cell: &str, source| {
            let row = rows.iter().find(|row| row.cell_name() == cell)?;
            let figure = if source == Source::Paper { row.published } else { row.measured };
            Some((figure?, row.unit.clone()))
        };
        Claim { because: reason::filled(&claim.because, &named), ..claim }
    };
    let claims = paper.claims.iter().map(judge).collect();
    Ok(Reproduction {
        id: paper.id.clone(),
        title: paper.title.clone(),
        published_in: paper.published_in.clone(),
        tables: paper.table.iter().map(|table| (table.name.clone(), table.title.clone())).collect(),
        rows,
        charts,
        claims,
        wrong,
        provenance: Provenance::of(workspace, measured.origin, paper.runs, &measured.compilers)?,
        is_interrupted,
    })
}
