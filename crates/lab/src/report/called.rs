//! The rows of a measured call: a part each.

use super::history;
use super::parts::{self, Outcome, PartRow};
use super::section::Section;
use crate::LabError;
use crate::accuracy::Bound;
use crate::call::CallRow;
use crate::compare::{self, CALL};
use crate::energy_accuracy::EnergyBound;
use crate::origin::OriginColumns;
use crate::rank::{Costs, Rank};
use output::{ReportFormat, csv, json};
use serde::Serialize;

/// Rows of a call, in one table; `by` says what they are ranked by.
///
/// # Errors
/// None in practice: rows can always be written.
pub fn called(
    rows: &[CallRow],
    format: ReportFormat,
    by: Option<Rank>,
    wide: bool,
) -> Result<String, LabError> {
    Ok(match format {
        ReportFormat::Json => json(rows)?,
        ReportFormat::Csv => {
            let origins = rows.iter().map(|row| OriginColumns::from(&row.provenance));
            csv(&rows.iter().map(FlatRow::from).zip(origins).collect::<Vec<_>>())?
        }
        ReportFormat::Junit => super::junit(&compare::measured(rows, &CALL)?, "measure")?,
        ReportFormat::GithubBenchmark => history::github(&compare::measured(rows, &CALL)?)?,
        ReportFormat::Bencher => history::bencher(&compare::measured(rows, &CALL)?)?,
        ReportFormat::Sarif => return Err(super::not_offered(format)),
        ReportFormat::Markdown | ReportFormat::Latex | ReportFormat::Table => {
            let parts: Vec<PartRow<'_>> = rows.iter().map(part).collect();
            let bar = by.filter(|_| format == ReportFormat::Table);
            Section { title: String::new(), sheet: parts::sheet(&parts, bar), feet: parts::feet(&parts) }
                .text(format, wide)
        }
    })
}

pub(super) fn part(row: &CallRow) -> PartRow<'_> {
    PartRow {
        target: &row.target,
        variant: "",
        clock_hz: row.clock_hz,
        // Bytes are there before a call goes wrong.
        costs: Costs {
            flash_bytes: row.flash_bytes.map(|bytes| bytes as f64),
            ram_bytes: row.ram_bytes.map(|bytes| bytes as f64),
            stack_bytes: row.stack_bytes.map(f64::from),
            ..Costs::from(row)
        },
        accuracy: row.accuracy.as_ref(),
        energy_accuracy: row.energy_accuracy.as_ref(),
        output: match (&row.problem, row.verified) {
            (Some(_), _) if row.cycles.is_some() => Outcome::Wrong,
            (Some(_), _) => Outcome::Absent,
            (None, true) => Outcome::Right,
            (None, false) => Outcome::Unknown,
        },
    }
}

/// A row with its cycles and bounds spread over columns of their own.
#[derive(Serialize)]
struct FlatRow<'a> {
    call: &'a str,
    target: &'a str,
    clock_hz: u64,
    supply_v: f64,
    runs: u32,
    cycles_mean: Option<f64>,
    cycles_sd: Option<f64>,
    cycles_se: Option<f64>,
    cycles_min: Option<u64>,
    cycles_max: Option<u64>,
    accuracy: Option<Bound>,
    accuracy_source: Option<&'a str>,
    time_s: Option<f64>,
    energy_j: Option<f64>,
    energy_accuracy: Option<EnergyBound>,
    energy_accuracy_source: Option<&'a str>,
    memory: Option<&'a str>,
    flash_bytes: Option<i64>,
    ram_bytes: Option<i64>,
    stack_bytes: Option<u32>,
    outputs: Option<&'a str>,
    verified: bool,
    compiler: &'a str,
    seed: u64,
    problem: Option<&'a str>,
}

impl<'a> From<&'a CallRow> for FlatRow<'a> {
    fn from(row: &'a CallRow) -> Self {
        FlatRow {
            call: &row.call,
            target: &row.target,
            clock_hz: row.clock_hz,
            supply_v: row.supply_v,
            runs: row.runs,
            cycles_mean: row.cycles.map(|cycles| cycles.mean),
            cycles_sd: row.cycles.map(|cycles| cycles.sd),
            cycles_se: row.cycles.map(|cycles| cycles.se),
            cycles_min: row.cycles.map(|cycles| cycles.min),
            cycles_max: row.cycles.map(|cycles| cycles.max),
            accuracy: row.accuracy.as_ref().map(|accuracy| accuracy.cycles),
            accuracy_source: row.accuracy.as_ref().map(|accuracy| accuracy.source.as_str()),
            time_s: row.time_s,
            energy_j: row.energy_j,
            energy_accuracy: row.energy_accuracy.as_ref().map(|accuracy| accuracy.energy),
            energy_accuracy_source: row.energy_accuracy.as_ref().map(|accuracy| accuracy.source.as_str()),
            memory: row.memory.as_deref(),
            flash_bytes: row.flash_bytes,
            ram_bytes: row.ram_bytes,
            stack_bytes: row.stack_bytes,
            outputs: row.outputs.as_deref(),
            verified: row.verified,
            compiler: &row.compiler,
            seed: row.seed,
            problem: row.problem.as_deref(),
        }
    }
}
