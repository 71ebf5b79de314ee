//! Rows as a table for a person, JSON for a program, CSV for a spreadsheet.

pub mod stream;

use crate::accuracy::Bound;
use crate::{ct, measure};
use comfy_table::{Cell, CellAlignment};
use console::style;
use output::{Format, OutputError, csv, grouped, json, scaled, table};

/// A time as a person says it: from a minute on in minutes, hours, days or years of 365.25 days, below as
/// [`scaled`].
#[must_use]
pub fn duration(seconds: f64) -> String {
    const UNITS: [(f64, &str); 4] =
        [(31_557_600.0, "years"), (86_400.0, "days"), (3600.0, "h"), (60.0, "min")];
    match UNITS.into_iter().find(|(unit, _)| seconds >= 2.0 * unit || (seconds >= *unit && *unit < 86_400.0))
    {
        Some((unit, name)) if seconds / unit < 100.0 => format!("{} {name}", significant(seconds / unit, 3)),
        Some((unit, name)) => format!("{:.0} {name}", seconds / unit),
        None => scaled(seconds, "s"),
    }
}

/// The rows of a measurement.
///
/// # Errors
/// None in practice: rows can always be written.
pub fn measure(rows: &[measure::MeasureRow], format: Format) -> Result<String, OutputError> {
    match format {
        Format::Json => json(rows),
        Format::Csv => csv(rows),
        Format::Table => {
            let header =
                ["what", "name", "calls", "at cycle", "inclusive", "exclusive", "stack B", "time", "energy"];
            let mut table = table(&header, 2);
            let count = |number: u64| grouped(i64::try_from(number).unwrap_or(i64::MAX));
            let optional = |number: Option<u64>| number.map_or_else(String::new, count);
            for row in rows {
                table.add_row(vec![
                    row.kind.to_owned(),
                    row.name.clone(),
                    match (row.calls, row.not_returned) {
                        (calls, 0) => count(calls),
                        (0, 1) => "not returned".to_owned(),
                        (0, open) => format!("{} not returned", count(open)),
                        (calls, open) => format!("{} + {} not returned", count(calls), count(open)),
                    },
                    optional(row.start_cycle),
                    count(row.inclusive_cycles) + row.accuracy.map_or("", Bound::mark),
                    optional(row.exclusive_cycles),
                    optional(row.stack_bytes.map(u64::from)),
                    scaled(row.time_s, "s"),
                    scaled(row.energy_j, "J"),
                ]);
            }
            Ok(format!("{table}\n"))
        }
    }
}

/// The rows of a check for constant time.
///
/// # Errors
/// None in practice: rows can always be written.
pub fn ct(rows: &[ct::ConstantTimeRow], format: Format) -> Result<String, OutputError> {
    match format {
        Format::Json => json(rows),
        Format::Csv => csv(rows),
        Format::Table => Ok(ct_table(rows)),
    }
}

const WRONG: &str = "WRONG output";
const VARIABLE: &str = "VARIABLE";

fn ct_table(rows: &[ct::ConstantTimeRow]) -> String {
    let mut text = String::new();
    for rows in rows.chunk_by(|a, b| a.target == b.target) {
        let first = &rows[0];
        text += &format!("{}  {} runs, seed {}\n", first.target, first.runs, first.seed);
        let mut table =
            table(&["operation", "variant", "cycles", "instructions", "data accesses", "found"], 2);
        if let Some(found) = table.column_mut(5) {
            found.set_cell_alignment(CellAlignment::Left);
        }
        let count = |number: u64| match number {
            0 => String::new(),
            _ => grouped(i64::try_from(number).unwrap_or(i64::MAX)),
        };
        for row in rows {
            let found = match row.verdict {
                ct::Verdict::Constant if row.tables.is_empty() => Cell::new("constant"),
                ct::Verdict::Constant => Cell::new(format!("constant, whichever entry of {}", row.tables)),
                ct::Verdict::Public => Cell::new("public data, not checked"),
                ct::Verdict::Wrong => Cell::new(WRONG),
                ct::Verdict::Variable => {
                    let lines = [row.place.as_deref(), row.what.as_deref()].into_iter().flatten();
                    let lines: Vec<&str> = lines.collect();
                    Cell::new(format!("{VARIABLE}: {}", lines.join("\n")))
                }
            };
            table.add_row(vec![
                Cell::new(&row.op),
                Cell::new(&row.variant),
                Cell::new(count(row.cycles)),
                Cell::new(count(row.instructions)),
                Cell::new(count(row.accesses)),
                found,
            ]);
        }
        text += &format!("{table}\n\n");
    }
    text.pop();
    // Behind the table's back, which would count what colours it as width.
    [WRONG, VARIABLE]
        .into_iter()
        .fold(text, |text, found| text.replace(found, &style(found).red().to_string()))
}

/// A figure with as many digits as its unit is worth; a dash where there is none.
#[must_use]
pub fn figure(value: Option<f64>, unit: &str) -> String {
    match value {
        None => "–".into(),
        Some(value) if matches!(unit, "cycles" | "B" | "bit") && value.fract().abs() < 0.05 => {
            grouped(value.round() as i64)
        }
        Some(value) if value.abs() >= 10_000.0 || (value.abs() >= 100.0 && value.fract() == 0.0) => {
            grouped(value.round() as i64)
        }
        Some(value) if value.abs() >= 100.0 => {
            let tenths = (value * 10.0).round() as i64;
            format!("{}.{}", grouped(tenths / 10), tenths.unsigned_abs() % 10)
        }
        Some(value) => significant(value, 4),
    }
}

/// A number below 100 to so many significant digits, without zeros at its end.
#[must_use]
pub fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let decimals = (digits - 1 - value.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_that_say_nothing_are_left_out() {
        assert_eq!(significant(7.101, 4), "7.101");
        assert_eq!(significant(0.01437812, 4), "0.01438");
        assert_eq!(significant(0.44, 4), "0.44");
        assert_eq!(significant(40.0, 4), "40");
        assert_eq!(significant(0.0, 4), "0");
        assert_eq!(significant(0.0057, 2), "0.0057");
    }

    #[test]
    fn figures_have_the_digits_that_their_unit_is_worth() {
        let cell = |value, unit| figure(Some(value), unit);
        assert_eq!(figure(None, "cycles"), "–");
        assert_eq!(cell(42_105_985.7, "cycles"), "42,105,986");
        assert_eq!(cell(1_797.0, "cycles"), "1,797");
        assert_eq!(cell(1_796.97, "cycles"), "1,797.0");
        assert_eq!(cell(1_578.5, "µs"), "1,578.5");
        assert_eq!(cell(486.47, "µs"), "486.5");
        assert_eq!(cell(0.0, "cycles"), "0");
    }
}
