//! The rows of a measurement.

use crate::accuracy::Bound;
use crate::compare::{self, MEASURE};
use crate::measure::{EndedColumns, How, MeasureRow};
use crate::{LabError, report};
use output::{Column, ReportFormat, Sheet, csv, grouped, json, scaled};
use std::collections::HashMap;

/// From so many calls of one function on they stand in one line.
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

/// The rows of a measurement, or of several. A table has many calls of one function in one line, unless it is `wide`.
///
/// # Errors
/// None in practice: rows can always be written.
pub fn measure(rows: &[MeasureRow], format: ReportFormat, wide: bool) -> Result<String, LabError> {
    // Of what did not begin there is nothing for a table.
    let is_begun = |row: &&MeasureRow| row.ended.as_ref().is_none_or(|ended| ended.how != How::NotBegun);
    let begun: Vec<MeasureRow> = rows.iter().filter(is_begun).cloned().collect();
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
                (MeasureRow { ended: None, ..row.clone() }, EndedColumns::from(row.ended.as_ref()))
            });
            csv(&columns.collect::<Vec<_>>())?
        }
        ReportFormat::Junit => report::junit(&compare::measured(rows, &MEASURE)?, "measure")?,
        ReportFormat::Markdown => report::unfinished_markdown(&errors()?) + &sheet(wide).markdown(),
        ReportFormat::Table if begun.is_empty() => String::new(),
        ReportFormat::Table => sheet(wide).table(wide) + &foot(&begun, wide),
    })
}

/// What the lines of many calls say.
fn foot(rows: &[MeasureRow], wide: bool) -> String {
    let are_many = lines(rows, wide).iter().any(|rows| rows.len() > 1);
    let are_open = rows.iter().any(|row| row.calls > 0 && row.not_returned > 0);
    let many = "Of many calls: mean (least to most), deepest stack; each of them with --wide.\n";
    let open = "Open: calls that had not returned when the run ended.\n";
    [(are_many, many), (are_open, open)]
        .into_iter()
        .filter(|(holds, _)| *holds)
        .map(|(_, text)| text)
        .collect()
}

/// The rows of each line: calls of one function, or intervals of one region, where there are many, else one row.
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
    format!("{} ({} to {})", report::figure(Some(mean), "cycles"), count(least), count(most))
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
        scaled(mean(|row| row.energy_j), "J"),
    ]
}
