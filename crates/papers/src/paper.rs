//! Published measurements of a paper: `papers/*.toml`.
//!
//! A table is a matrix. A row says what of a run is looked at, a column says which run and which of
//! its figures, so that a cell needs nothing but the published number.

mod table;
mod what;

use crate::claim::Claim;
use energy::instrument::{Instrument, Oscilloscope};
use lab::workspace::Workspace;
use lab::{LabError, delivery, names};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
pub use what::What;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Its name on the command line: first author and year.
    pub id: String,
    pub title: String,
    pub published_in: String,
    /// False if its claims are made from its figures, without a sentence of a text.
    #[serde(default = "yes")]
    pub has_text: bool,
    /// The processor's clock in the paper, in Hz; each target's default where absent.
    #[serde(default)]
    pub clock_hz: Option<u64>,
    /// Its supply, in volts; each target's default where absent.
    #[serde(default)]
    pub supply_v: Option<f64>,
    /// Random inputs for each of its figures, at least 1.
    #[serde(default = "usual_runs")]
    pub runs: u32,
    /// Its radio: a file of `radios/`; none where nothing is sent.
    #[serde(default)]
    pub radio: Option<String>,
    /// The cycles that the paper counted, by variant and operation, for columns that are `theirs`.
    #[serde(default)]
    pub cycles: BTreeMap<String, BTreeMap<String, f64>>,
    /// Its meter for energy, by the highest clock that it was set up for, rising.
    #[serde(default)]
    pub meter: Vec<Meter>,
    /// Its oscilloscope for currents.
    #[serde(default)]
    pub oscilloscope: Option<Oscilloscope>,
    /// Its meter for consumption and its collector, where messages go between them.
    #[serde(default)]
    pub ends: Option<delivery::Endpoints>,
    /// The parts of an operation that the paper tells apart, by name.
    #[serde(default)]
    pub module: BTreeMap<String, Module>,
    /// Descriptions of the paper's own code and its builds, by the names that rows use.
    #[serde(default)]
    pub sources: BTreeMap<String, String>,
    /// Its tables, in its order.
    pub table: Vec<Table>,
    /// The claims of its text, in its order.
    #[serde(default)]
    pub claims: Vec<Claim>,
}

fn usual_runs() -> u32 {
    20
}

fn yes() -> bool {
    true
}

/// Meter by which the paper measured energy, up to a clock.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Meter {
    /// That clock, in Hz.
    pub max_hz: f64,
    /// Instrument of the measurement.
    pub instrument: Instrument,
}

/// A part of an operation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Module {
    /// Executions in one run.
    pub executions: u32,
    /// The C functions that it consists of, inlined or not; assembly kernels mark it by its name.
    #[serde(default)]
    pub functions: Vec<String>,
}

/// A table of the paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Its name: `Table 3`.
    pub name: String,
    pub title: String,
    /// Place of its published figures in the paper; none where none are printed there.
    #[serde(default)]
    pub at: String,
    /// Note that a reader needs on all of it.
    #[serde(default)]
    pub note: String,
    /// False if its published figures repeat those of another table, or fit by design.
    #[serde(default = "yes")]
    pub compares: bool,
    pub columns: Vec<Column>,
    pub rows: Vec<Line>,
    /// Drawing of it, where it is drawn.
    #[serde(default)]
    pub chart: Option<Drawing>,
}

/// Drawing of a table: a series for each column, published values apart from measured ones.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drawing {
    /// The quantity of the vertical axis: `energy`; the unit is that of the columns.
    pub y: String,
    /// True if that axis is logarithmic.
    #[serde(default)]
    pub log: bool,
    /// True if the horizontal axis is the rows' clock; it has their names otherwise.
    #[serde(default)]
    pub over_clock: bool,
    /// The columns that are drawn; all where empty.
    #[serde(default)]
    pub columns: Vec<String>,
    /// The five columns that make a box: least, lower quartile, median, upper quartile, greatest.
    #[serde(default)]
    pub boxes: Option<[String; 5]>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    pub name: String,
    /// Unit of its figures: `cycles`, `B`, `kB`, `KiB`, `ms`, `mW`, `µJ`, `bit`, `1`.
    pub unit: String,
    /// The column whose published figures are also this one's; its own where empty.
    #[serde(default)]
    pub published_as: String,
    /// False if its figures are not the like of the published ones, or fit by design.
    #[serde(default = "yes")]
    pub compares: bool,
    /// Figure of the run; none where the table holds no measurements.
    #[serde(default)]
    pub what: Option<What>,
    /// The target of its runs; a row may override this and what follows.
    #[serde(default)]
    pub target: Option<String>,
    /// Variant of their firmware.
    #[serde(default)]
    pub variant: Option<String>,
    /// The operations, one after the other: their cycles add up, and so does their code, what they
    /// share counted once.
    #[serde(default)]
    pub ops: Vec<String>,
    /// Message bytes; each operation's own default where absent.
    #[serde(default)]
    pub bytes: Option<u16>,
    /// The clock, in Hz, where it is not the paper's. Where the flash needs no other wait states
    /// for it the cycles are those of any clock, and it decides on time and power alone.
    #[serde(default)]
    pub clock_hz: Option<u64>,
    /// The supply, in volts, where it is not the paper's.
    #[serde(default)]
    pub supply_v: Option<f64>,
    /// The volts by which the current is multiplied, where the paper takes others than the
    /// supply's.
    #[serde(default)]
    pub times_v: Option<f64>,
    /// Divisor of its figures, in SI units or bytes: all the RAM, of which a figure is the share.
    #[serde(default)]
    pub share_of: Option<f64>,
    /// True if its cycles are those that the paper counted, with our model of all else.
    #[serde(default)]
    pub theirs: bool,
    /// Note that a reader needs on its figures.
    #[serde(default)]
    pub note: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    pub name: String,
    /// A figure a column, without the columns that are `published_as` another; `nan` where the
    /// paper has none, and nothing where it has none in all the row.
    #[serde(default)]
    pub published: Vec<f64>,
    /// False if its published figures repeat those of another row, or are not the like of ours.
    #[serde(default = "yes")]
    pub compares: bool,
    /// Part of the run that the row is about; nothing where it is no measurement.
    #[serde(default)]
    pub of: Part,
    /// The target, where it is not the column's.
    #[serde(default)]
    pub target: Option<String>,
    /// The variant, where it is not the column's.
    #[serde(default)]
    pub variant: Option<String>,
    /// The clock, in Hz, where it is not the column's.
    #[serde(default)]
    pub clock_hz: Option<u64>,
    /// The supply, in volts, where it is not the column's.
    #[serde(default)]
    pub supply_v: Option<f64>,
    /// The operations, where they are not the column's.
    #[serde(default)]
    pub ops: Vec<String>,
    /// Measured is this row's figure over the figure of these runs.
    #[serde(default)]
    pub over: Option<Over>,
    /// Delivery; then no operation is run.
    #[serde(default)]
    pub delivery: Option<delivery::DeliveryKind>,
    /// Bytes that are sent, where they are not those that the operations put out.
    #[serde(default)]
    pub sent_bytes: Option<u32>,
    /// Limit of [`What::LeastClock`].
    #[serde(default)]
    pub within: Option<Within>,
    /// The store of [`What::Voltage`] and [`What::DarkTime`], in farads.
    #[serde(default)]
    pub capacitance_f: Option<f64>,
    /// Voltage of that store when it is full, for [`What::DarkTime`].
    #[serde(default)]
    pub full_v: Option<f64>,
    /// From one signature to the next, in seconds: (6.2) and (6.3).
    #[serde(default)]
    pub every_s: Option<f64>,
    /// Contradiction in the figures, or a note that a reader needs.
    #[serde(default)]
    pub note: String,
    /// The same for single columns.
    #[serde(default)]
    pub notes: BTreeMap<String, String>,
    /// Figures of the paper's own code on our models, by column.
    #[serde(default)]
    pub corroboration: BTreeMap<String, Corroboration>,
    /// Columns whose published figure is computed from others of the paper. It does not print it.
    #[serde(default)]
    pub computed: Vec<String>,
    /// Columns in which the row has no figure, published or ours.
    #[serde(default)]
    pub without: Vec<String>,
    /// Figures of a data sheet instead of ours, by column, in the column's unit. A note of the row
    /// names the source.
    #[serde(default)]
    pub quoted: BTreeMap<String, f64>,
}

/// Figure that the paper's own code gives on our model of the processor, measured once.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corroboration {
    /// The figure, in the column's unit.
    pub value: f64,
    /// Its code and build, by a name of [`Paper::sources`].
    pub source: String,
}

/// Difference of the runs that a row is divided by.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Over {
    #[serde(default)]
    pub variant: Option<String>,
    #[serde(default)]
    pub ops: Vec<String>,
    #[serde(default)]
    pub supply_v: Option<f64>,
    /// Delivery instead of the operation.
    #[serde(default)]
    pub delivery: Option<delivery::DeliveryKind>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Within {
    EnergyJ(f64),
    TimeS(f64),
}

/// Part of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum Part {
    /// None.
    #[default]
    Nothing,
    /// The whole operation, from its call to its return.
    Operation,
    /// One of the full rounds: from where it begins to substitute to where the next one does, on
    /// average.
    Iteration,
    /// From where the last round begins to substitute to the return.
    LastIteration,
    /// All that belongs to no module.
    Others,
    /// The modules' costs, each as often as it is executed.
    Modules,
    /// One module, once.
    Module(String),
}

impl From<String> for Part {
    fn from(name: String) -> Part {
        match name.as_str() {
            "" => Part::Nothing,
            "operation" => Part::Operation,
            "iteration" => Part::Iteration,
            "last iteration" => Part::LastIteration,
            "others" => Part::Others,
            "modules" => Part::Modules,
            _ => Part::Module(name),
        }
    }
}

/// The kind of number that a figure of ours is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FigureKind {
    /// Counted on a processor's model, or the time of such a count at a clock.
    Measured,
    /// Computed from a count with the data sheet's typical current, a radio's figures or an
    /// instrument's model.
    Modelled,
    /// Computed from the paper's own counts, or from the data sheet alone because the counts
    /// cancel.
    Derived,
    /// A constant of a data sheet or of the paper, or measured once as the cell's note says.
    Quoted,
    /// Timed on the machine that ran this program. It varies, and reproduces nothing.
    Native,
}

impl FigureKind {
    /// Returns true if a figure of this kind can reproduce a published one.
    #[must_use]
    pub fn reproduces(self) -> bool {
        matches!(self, FigureKind::Measured | FigureKind::Modelled)
    }
}

impl Paper {
    /// Reads a paper by its name.
    ///
    /// # Errors
    /// [`LabError::UnknownName`] with the nearest names; [`LabError::BadFile`] for a malformed
    /// file.
    pub fn read(workspace: &Workspace, name: &str) -> Result<Paper, LabError> {
        let known = Paper::names(workspace)?;
        if !known.iter().any(|candidate| candidate == name) {
            let suggestion = names::suggestion(name, known.iter().map(String::as_str));
            return Err(LabError::UnknownName { what: "paper", name: name.into(), suggestion });
        }
        let (path, text) = workspace.read(format!("papers/{name}.toml"))?;
        let bad = |problem: String| LabError::BadFile { path: path.clone(), problem };
        Paper::parse(&text).map_err(bad)
    }

    /// Parses a paper's file.
    ///
    /// # Errors
    /// A sentence on a malformed file, or on a name in it that refers to nothing.
    pub fn parse(text: &str) -> Result<Paper, String> {
        let mut paper: Paper = toml::from_str(text).map_err(|error| error.to_string())?;
        paper.check()?;
        let mut claims = std::mem::take(&mut paper.claims);
        claims
            .iter_mut()
            .try_for_each(|claim| claim.complete(paper.has_text, |cell| paper.has_cell(cell)))?;
        paper.claims = claims;
        Ok(paper)
    }

    /// The papers that a name on the command line stands for: one, or each if it is `all`.
    ///
    /// # Errors
    /// As [`Paper::read`].
    pub fn named(workspace: &Workspace, name: &str) -> Result<Vec<Paper>, LabError> {
        match name {
            "all" => Paper::names(workspace)?.iter().map(|name| Paper::read(workspace, name)).collect(),
            _ => Ok(vec![Paper::read(workspace, name)?]),
        }
    }

    /// The names of all papers, sorted.
    ///
    /// # Errors
    /// [`LabError::File`] where the folder cannot be read.
    pub fn names(workspace: &Workspace) -> Result<Vec<String>, LabError> {
        workspace.names_in("papers")
    }

    /// Returns true if a table has the cell of this name, `TABLE/ROW/COLUMN`.
    #[must_use]
    pub fn has_cell(&self, name: &str) -> bool {
        let names = |table: &Table, line: &Line, column: &Column| {
            cell_name(&table.name, &line.name, &column.name) == name
        };
        self.table.iter().any(|table| {
            table.rows.iter().any(|line| table.columns.iter().any(|column| names(table, line, column)))
        })
    }

    fn has(&self, need: &str) -> bool {
        match need {
            "radio" => self.radio.is_some(),
            "ends" => self.ends.is_some(),
            "oscilloscope" => self.oscilloscope.is_some(),
            _ => !self.meter.is_empty(),
        }
    }

    /// Every row has its figures, every name refers to something.
    fn check(&self) -> Result<(), String> {
        if self.runs == 0 {
            return Err("runs must be at least 1".into());
        }
        if let Some(oscilloscope) = &self.oscilloscope {
            oscilloscope.check().map_err(|error| format!("oscilloscope: {error}"))?;
        }
        for table in &self.table {
            let own = table.columns.iter().filter(|column| column.published_as.is_empty()).count();
            for column in &table.columns {
                if !column.published_as.is_empty() && table.published_column(column).is_none() {
                    return Err(format!("{}: there is no column '{}'", table.name, column.published_as));
                }
                let needs = column.what.and_then(What::needs);
                if table.compares && column.compares && column.what.is_some_and(What::is_native) {
                    let place = format!("{}, column '{}'", table.name, column.name);
                    return Err(format!("{place} is of this machine, and must not compare"));
                }
                if let Some(missing) = needs.filter(|need| !self.has(need)) {
                    let place = format!("{}, column '{}'", table.name, column.name);
                    return Err(format!("{place} needs '{missing}', which the paper has not"));
                }
            }
            table.chart.as_ref().map_or(Ok(()), |drawing| table.check_drawing(drawing))?;
            for line in &table.rows {
                let place = format!("{}, row '{}'", table.name, line.name);
                if !line.published.is_empty() && line.published.len() != own {
                    return Err(format!("{place}: {} figures for {own} columns", line.published.len()));
                }
                if let Part::Module(name) = &line.of
                    && !self.module.contains_key(name)
                {
                    return Err(format!("{place}: there is no module '{name}'"));
                }
                let named = line.notes.keys().chain(line.corroboration.keys());
                if let Some(column) = named
                    .chain(&line.computed)
                    .chain(&line.without)
                    .chain(line.quoted.keys())
                    .find(|name| table.columns.iter().all(|column| column.name != **name))
                {
                    return Err(format!("{place} names the column '{column}', which there is not"));
                }
                if !line.quoted.is_empty() && line.note.is_empty() {
                    return Err(format!("{place}: a quoted figure needs a note with its source"));
                }
                let mut sources = line.corroboration.values().map(|figure| &figure.source);
                if let Some(source) = sources.find(|source| !self.sources.contains_key(*source)) {
                    return Err(format!("{place}: there is no source '{source}'"));
                }
            }
        }
        Ok(())
    }
}

/// Name of a cell: `TABLE/ROW/COLUMN`.
#[must_use]
pub fn cell_name(table: &str, row: &str, column: &str) -> String {
    format!("{table}/{row}/{column}")
}
