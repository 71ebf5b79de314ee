//! What a paper published: `papers/*.toml`.
//!
//! A table is a matrix. A row says what of a run is looked at, a column says which run and which of its figures, so
//! that a cell needs nothing but the published number.

use crate::{LabError, names, target::House};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Its name on the command line: first author and year.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Where it was published.
    pub published_in: String,
    /// The processor's clock in the paper, in Hz; each target's default where absent.
    #[serde(default)]
    pub clock_hz: Option<u64>,
    /// Its supply, in volts; each target's default where absent.
    #[serde(default)]
    pub supply_v: Option<f64>,
    /// Random inputs for each of its figures, at least 1.
    #[serde(default = "usual_runs")]
    pub runs: u32,
    /// The parts of an operation that the paper tells apart, by name.
    #[serde(default)]
    pub module: BTreeMap<String, Module>,
    /// Its tables, in its order.
    pub table: Vec<Table>,
}

fn usual_runs() -> u32 {
    20
}

/// A part of an operation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Module {
    /// How often one run executes it.
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
    /// What it shows.
    pub title: String,
    /// What a reader must know about all of it.
    #[serde(default)]
    pub note: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Line>,
}

/// A column.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// Unit of its figures: `cycles`, `B`, `kB`, `KiB`, `ms`, `mW`, `µJ`, `bit`, `1`.
    pub unit: String,
    /// The column whose published figures are also this one's; its own where empty.
    #[serde(default)]
    pub published_as: String,
    /// Which figure of the run; none where the table holds no measurements.
    #[serde(default)]
    pub what: Option<What>,
    /// The target of its runs; a row may override this and what follows.
    #[serde(default)]
    pub target: Option<String>,
    /// How their firmware is built.
    #[serde(default)]
    pub variant: Option<String>,
    /// The operations, one after the other: their cycles add up, and so does their code, what they share counted once.
    #[serde(default)]
    pub ops: Vec<String>,
    /// Message bytes; each operation's own default where absent.
    #[serde(default)]
    pub bytes: Option<u16>,
    /// What a reader must know about its figures.
    #[serde(default)]
    pub note: String,
}

/// A row.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Its heading.
    pub name: String,
    /// A figure a column, without the columns that are `published_as` another; `nan` where the paper has none.
    pub published: Vec<f64>,
    /// What of the run the row is about; nothing where it is no measurement.
    #[serde(default)]
    pub of: Part,
    /// The target, where it is not the column's.
    #[serde(default)]
    pub target: Option<String>,
    /// The variant, where it is not the column's.
    #[serde(default)]
    pub variant: Option<String>,
    /// The clock, in Hz, where it is not the paper's.
    #[serde(default)]
    pub clock_hz: Option<u64>,
    /// The operations, where they are not the column's.
    #[serde(default)]
    pub ops: Vec<String>,
    /// Measured is the figure of this variant over the figure of `over`.
    #[serde(default)]
    pub over: Option<String>,
    /// What does not add up, or what a reader must know.
    #[serde(default)]
    pub note: String,
    /// The same for single columns.
    #[serde(default)]
    pub notes: BTreeMap<String, String>,
}

/// Which part of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum Part {
    /// None.
    #[default]
    Nothing,
    /// The whole operation, from its call to its return.
    Operation,
    /// One of the full rounds: from where it begins to substitute to where the next one does, on average.
    Iteration,
    /// From where the last round begins to substitute to the return.
    LastIteration,
    /// What belongs to no module.
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

/// Which figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// Cycles.
    Cycles,
    /// Bytes of program memory.
    Flash,
    /// Bytes of RAM, stack included.
    Ram,
    /// Seconds.
    Time,
    /// Standard deviation of the time over the runs as a population (1/N, not 1/(N − 1)), in seconds.
    Deviation,
    /// Standard error of the mean time: that deviation over the root of the number of runs, in seconds.
    Error,
    /// Watts.
    Power,
    /// Joules.
    Energy,
    /// Bytes that the operation puts out.
    Output,
    /// How often a module is entered; compiled code does not tell.
    Executions,
    /// In how many places a module stands; compiled code does not tell.
    Copies,
}

impl Paper {
    /// Reads a paper by its name.
    ///
    /// # Errors
    /// [`LabError::UnknownName`] with the nearest names; [`LabError::BadFile`] for a malformed file.
    pub fn read(house: &House, name: &str) -> Result<Paper, LabError> {
        let known = Paper::names(house)?;
        if !known.iter().any(|candidate| candidate == name) {
            let suggestion = names::suggestion(name, known.iter().map(String::as_str));
            return Err(LabError::UnknownName { what: "paper", name: name.into(), suggestion });
        }
        let path = house.root().join("papers").join(format!("{name}.toml"));
        let text =
            std::fs::read_to_string(&path).map_err(|error| LabError::File { path: path.clone(), error })?;
        let bad = |problem: String| LabError::BadFile { path: path.clone(), problem };
        let paper: Paper = toml::from_str(&text).map_err(|error| bad(error.to_string()))?;
        paper.check().map_err(bad)?;
        Ok(paper)
    }

    /// The names of all papers, sorted.
    ///
    /// # Errors
    /// [`LabError::File`] where the folder cannot be read.
    pub fn names(house: &House) -> Result<Vec<String>, LabError> {
        house.names_in("papers")
    }

    /// Every row has its figures, every name refers to something.
    fn check(&self) -> Result<(), String> {
        if self.runs == 0 {
            return Err("runs must be at least 1".into());
        }
        for table in &self.table {
            let own = table.columns.iter().filter(|column| column.published_as.is_empty()).count();
            for column in &table.columns {
                if !column.published_as.is_empty() && table.published_column(column).is_none() {
                    return Err(format!("{}: there is no column '{}'", table.name, column.published_as));
                }
            }
            for line in &table.rows {
                let place = format!("{}, row '{}'", table.name, line.name);
                if line.published.len() != own {
                    return Err(format!("{place}: {} figures for {own} columns", line.published.len()));
                }
                if let Part::Module(name) = &line.of
                    && !self.module.contains_key(name)
                {
                    return Err(format!("{place}: there is no module '{name}'"));
                }
                if let Some(column) =
                    line.notes.keys().find(|name| table.columns.iter().all(|column| column.name != **name))
                {
                    return Err(format!("{place}: a note for the column '{column}', which there is not"));
                }
            }
        }
        Ok(())
    }
}

impl Table {
    /// Where in [`Line::published`] the figures of a column stand.
    #[must_use]
    pub fn published_column(&self, column: &Column) -> Option<usize> {
        let name = if column.published_as.is_empty() { &column.name } else { &column.published_as };
        self.columns.iter().filter(|column| column.published_as.is_empty()).position(|own| own.name == *name)
    }
}
