//! The rows of a measured call: a part each.

use crate::LabError;
use crate::accuracy::Bound;
use crate::call::CallRow;
use crate::compare::{self, CALL};
use crate::energy_accuracy::EnergyBound;
use output::{Column, ReportFormat, Sheet, csv, figure, grouped, json, scaled};
use serde::Serialize;

const COLUMNS: [Column<'static>; 9] = [
    Column::name("target"),
    Column::right("MHz").spare(3),
    Column::right("cycles"),
    Column::right("time"),
    Column::right("energy"),
    Column::right("flash B"),
    Column::right("RAM B"),
    Column::right("stack B"),
    Column::left("output").spare(4),
];

/// Rows of a call, in one table.
///
/// # Errors
/// None in practice: rows can always be written.
pub fn called(rows: &[CallRow], format: ReportFormat, wide: bool) -> Result<String, LabError> {
    let mut sheet = Sheet::new(&COLUMNS);
    rows.iter().for_each(|row| sheet.row(cells(row)));
    Ok(match format {
        ReportFormat::Json => json(rows)?,
        ReportFormat::Csv => csv(&rows.iter().map(FlatRow::from).collect::<Vec<_>>())?,
        ReportFormat::Junit => super::junit(&compare::measured(rows, &CALL)?, "measure")?,
        ReportFormat::Markdown => {
            sheet.markdown() + &feet(rows).iter().map(|foot| format!("\n{foot}\n")).collect::<String>()
        }
        ReportFormat::Table => {
            sheet.table(wide) + &feet(rows).iter().map(|foot| format!("{foot}\n")).collect::<String>()
        }
    })
}

fn cells(row: &CallRow) -> [String; 9] {
    let bytes = |number: Option<i64>| number.map_or("–".into(), grouped);
    let quantity = |value: Option<f64>, unit| value.map_or("–".into(), |value| scaled(value, unit));
    let mark = row.accuracy.as_ref().map_or("", |accuracy| accuracy.cycles.mark());
    let energy_mark = row.energy_accuracy.as_ref().map_or("", |accuracy| accuracy.energy.mark());
    // Costs of what does not work mean nothing.
    let is_wrong = row.problem.is_some() && row.cycles.is_some();
    let cycles =
        row.cycles.filter(|_| !is_wrong).map(|cycles| figure(Some(cycles.mean.round()), "cycles") + mark);
    [
        row.target.clone(),
        format!("{}", row.clock_hz as f64 / 1e6),
        cycles.unwrap_or(if is_wrong { "WRONG" } else { "none" }.into()),
        quantity(row.time_s.filter(|_| !is_wrong), "s"),
        row.energy_j.filter(|_| !is_wrong).map_or("–".into(), |energy| scaled(energy, "J") + energy_mark),
        bytes(row.flash_bytes),
        bytes(row.ram_bytes),
        bytes(row.stack_bytes.map(i64::from)),
        match (&row.problem, row.verified) {
            (Some(_), _) if row.cycles.is_some() => "WRONG".into(),
            (Some(_), _) => "none".into(),
            (None, true) => "ok".into(),
            (None, false) => "unknown".into(),
        },
    ]
}

/// Explanations of the marks, each once with the parts that it is of.
fn feet(rows: &[CallRow]) -> Vec<String> {
    let mut feet: Vec<(String, Vec<&str>)> = Vec::new();
    for row in rows {
        let accuracy = row.accuracy.as_ref().map(|accuracy| accuracy.foot());
        let energy = row.energy_accuracy.as_ref().map(|accuracy| accuracy.foot());
        for foot in accuracy.into_iter().chain(energy).filter(|foot| !foot.is_empty()) {
            match feet.iter_mut().find(|(known, _)| *known == foot) {
                Some((_, targets)) => targets.push(&row.target),
                None => feet.push((foot, vec![&row.target])),
            }
        }
    }
    match rows {
        [_] => feet.into_iter().map(|(foot, _)| foot).collect(),
        _ => feet.into_iter().map(|(foot, targets)| format!("{}: {foot}", targets.join(", "))).collect(),
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
