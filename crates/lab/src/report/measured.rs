//! The rows of a measurement.

use super::history;
use super::section::Section;
use crate::accuracy::Bound;
use crate::compare::{self, MEASURE};
use crate::energy_accuracy::EnergyBound;
use crate::measure::{EndedColumns, How, MeasureRow};
use crate::origin::OriginColumns;
use crate::{LabError, report};
use output::{Column, ReportFormat, Sheet, csv, grouped, json, scaled};
use std::collections::HashMap;

/// Number of calls of one function from which on they stand in one line.
const MANY: usize = 4;

const COLUMNS: [Column<'static>; 11] = [
    Column::left("what").spare(7),
    Column::name("name"),
    Column::right("calls"),
    Column::right("at cycle").spare(8),
    Column::right("inclusive"),
    Column::right("exclusive").spare(3),
    Column::right("stack B"),
    Column::right("flash B").spare(5),
    Column::right("RAM B").spare(6),
    Column::right("time").spare(2),
    Column::right("energy").spare(1),
];

/// The rows of a measurement, or of several. A table has many calls of one function in one line,
/// unless it is `wide`.
///
/// # Errors
/// None in practice: rows can always be written.
pub fn measure(rows: &[MeasureRow], format: ReportFormat, wide: bool) -> Result<String, LabError> {
    // Of what did not begin there is nothing for a table.
    let is_begun = |row: &&MeasureRow| row.ended.as_ref().is_none_or(|ended| ended.how != How::NotBegun);
    let begun = rows.iter().filter(is_begun).cloned();
    let (of_states, begun): (Vec<MeasureRow>, Vec<MeasureRow>) = begun.partition(|row| row.kind == "state");
    let errors = || Ok::<_, LabError>(compare::errors(&compare::measured(rows, &MEASURE)?));
    let several = rows.iter().any(|row| row.firmware != rows[0].firmware);
    let sheet = |wide: bool| {
        let firmware: &[Column<'_>] = if several { &[Column::left("firmware")] } else { &[] };
        let mut sheet = Sheet::new(&[firmware, &COLUMNS].concat());
        for rows in lines(&begun, wide) {
            let firmware = several.then(|| rows[0].firmware.clone());
            sheet.row(firmware.into_iter().chain(cells(&rows)));
        }
        sheet
    };
    Ok(match format {
        ReportFormat::Json => json(rows)?,
        ReportFormat::Csv => {
            let columns = rows.iter().map(|row| {
                let ended = EndedColumns::from(row.ended.as_ref());
                let origin = row.provenance.as_ref().map(OriginColumns::from).unwrap_or_default();
                (MeasureRow { ended: None, provenance: None, ..row.clone() }, ended, origin)
            });
            csv(&columns.collect::<Vec<_>>())?
        }
        ReportFormat::Junit => report::junit(&compare::measured(rows, &MEASURE)?, "measure")?,
        ReportFormat::Markdown => {
            let states = states(&of_states, several).map(|sheet| format!("\n{}", sheet.markdown()));
            report::unfinished_markdown(&errors()?) + &sheet(wide).markdown() + &states.unwrap_or_default()
        }
        ReportFormat::Latex => {
            let states = states(&of_states, several).map(|sheet| format!("\n{}", sheet.latex("States", &[])));
            sheet(wide).latex("", &conditions(&begun)) + &states.unwrap_or_default()
        }
        ReportFormat::GithubBenchmark => history::github(&compare::measured(rows, &MEASURE)?)?,
        ReportFormat::Bencher => history::bencher(&compare::measured(rows, &MEASURE)?)?,
        ReportFormat::Sarif => return Err(report::not_offered(format)),
        ReportFormat::Table if begun.is_empty() => String::new(),
        ReportFormat::Table => {
            let states = states(&of_states, several).map(|sheet| sheet.table(wide)).unwrap_or_default();
            sheet(wide).table(wide) + &foot(&begun, wide) + &states
        }
    })
}

/// The rows and the states of one program, for a page.
pub(super) fn sections(rows: &[MeasureRow]) -> Vec<Section<'static>> {
    let (of_states, begun): (Vec<MeasureRow>, Vec<MeasureRow>) =
        rows.iter().cloned().partition(|row| row.kind == "state");
    let mut sheet = Sheet::new(&COLUMNS);
    lines(&begun, false).iter().for_each(|rows| sheet.row(cells(rows)));
    let feet = foot(&begun, false).lines().map(str::to_owned).collect();
    let rows = Section { title: "Cycles, time and energy".into(), sheet, feet };
    let states = states(&of_states, false);
    let states = states.map(|sheet| Section { title: "States".into(), sheet, feet: Vec::new() });
    [rows].into_iter().chain(states).collect()
}

/// Time and energy by state, of the programs that slept.
fn states(rows: &[MeasureRow], several: bool) -> Option<Sheet<'static>> {
    let firmware: &[Column<'_>] = if several { &[Column::left("firmware")] } else { &[] };
    let mut sheet = Sheet::new(&[firmware, &STATES].concat());
    for row in rows {
        let current = scaled(row.current_a, "A");
        let cells = [
            row.name.clone(),
            scaled(row.time_s, "s"),
            if row.bounded_s > 0.0 { format!("≤ {current}") } else { current },
            at_most(row.energy_j, row.bounded_s),
        ];
        sheet.row(several.then(|| row.firmware.clone()).into_iter().chain(cells));
    }
    (!rows.is_empty()).then_some(sheet)
}

const STATES: [Column<'static>; 4] =
    [Column::left("state"), Column::right("time"), Column::right("current"), Column::right("energy")];

/// An energy, of which a part may be an upper bound.
fn at_most(energy_j: f64, bounded_s: f64) -> String {
    let sign = if bounded_s > 0.0 { "≤ " } else { "" };
    format!("{sign}{}", scaled(energy_j, "J"))
}

/// Explanation of lines of many calls.
fn foot(rows: &[MeasureRow], wide: bool) -> String {
    let are_many = lines(rows, wide).iter().any(|rows| rows.len() > 1);
    let are_open = rows.iter().any(|row| row.calls > 0 && row.not_returned > 0);
    let many = "Of many calls: mean (least to most), deepest stack; each of them with --wide.\n";
    let open = "Open: calls that had not returned when the run ended.\n";
    let are_bounds = rows.iter().any(|row| row.bounded_s > 0.0);
    let bounds =
        "≤ asleep in a mode of which the target file has no current at that clock: an upper bound.\n";
    let said = [(are_many, many), (are_open, open), (are_bounds, bounds)];
    let said = said.into_iter().filter(|(holds, _)| *holds).map(|(_, text)| text.to_owned());
    said.chain(conditions(rows)).collect()
}

/// At which supply, and with which memory's currents, the energies are, each once.
fn conditions(rows: &[MeasureRow]) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    let several = rows.iter().any(|row| row.target != rows[0].target);
    for row in rows {
        let Some(supply_v) = row.supply_v else { continue };
        let target = if several { format!(" of {}", row.target) } else { String::new() };
        let line = format!("Energy{target} at {supply_v} V, code in {}.\n", row.memory);
        if !said.contains(&line) {
            said.push(line);
        }
    }
    said
}

/// The rows of each line: calls of one function, or intervals of one region, where there are many,
/// else one row.
fn lines(rows: &[MeasureRow], wide: bool) -> Vec<Vec<&MeasureRow>> {
    let key = |row: &'_ MeasureRow| (row.firmware.clone(), row.kind, row.name.clone(), row.not_returned > 0);
    let mut calls: HashMap<_, usize> = HashMap::new();
    rows.iter().for_each(|row| *calls.entry(key(row)).or_default() += 1);
    let mut lines: Vec<Vec<&MeasureRow>> = Vec::new();
    let mut of_many = HashMap::new();
    for row in rows {
        let key = key(row);
        if wide || calls[&key] < MANY {
            lines.push(vec![row]);
        } else {
            let line = *of_many.entry(key).or_insert(lines.len());
            if line == lines.len() {
                lines.push(Vec::new());
            }
            lines[line].push(row);
        }
    }
    lines
}

fn count(number: u64) -> String {
    grouped(i64::try_from(number).unwrap_or(i64::MAX))
}

/// The mean of counts, with the least and the most where they differ.
fn spread(counts: impl Iterator<Item = u64> + Clone) -> String {
    let (least, most) = (counts.clone().min().unwrap_or(0), counts.clone().max().unwrap_or(0));
    if least == most {
        return count(least);
    }
    let (number, sum) =
        counts.fold((0u64, 0u128), |(number, sum), value| (number + 1, sum + u128::from(value)));
    let mean = sum as f64 / number as f64;
    format!("{} ({} to {})", output::figure(Some(mean), "cycles"), count(least), count(most))
}

fn cells(rows: &[&MeasureRow]) -> [String; 11] {
    let first = rows[0];
    let optional = |number: Option<i64>| number.map_or_else(String::new, grouped);
    let calls: u64 = rows.iter().map(|row| row.calls).sum();
    let mean =
        |value: fn(&MeasureRow) -> f64| rows.iter().map(|row| value(row)).sum::<f64>() / rows.len() as f64;
    let exclusive: Vec<u64> = rows.iter().filter_map(|row| row.exclusive_cycles).collect();
    let stack = rows.iter().filter_map(|row| row.stack_bytes).max();
    [
        first.kind.to_owned(),
        first.name.clone(),
        match (calls, first.not_returned) {
            (calls, 0) => count(calls),
            (0, 1) => "not returned".to_owned(),
            (0, open) => format!("{} not returned", count(open)),
            (calls, open) => format!("{} + {} open", count(calls), count(open)),
        },
        first.start_cycle.map_or_else(String::new, count),
        spread(rows.iter().map(|row| row.inclusive_cycles)) + first.accuracy.map_or("", Bound::mark),
        if exclusive.is_empty() { String::new() } else { spread(exclusive.iter().copied()) },
        optional(stack.map(i64::from)),
        optional(first.flash_bytes),
        optional(first.ram_bytes),
        scaled(mean(|row| row.time_s), "s"),
        at_most(mean(|row| row.energy_j), rows.iter().map(|row| row.bounded_s).sum())
            + first.energy_accuracy.map_or("", EnergyBound::mark),
    ]
}
