//! Rows as the dashboards of benchmarks take them: a curve over commits for each figure.

use crate::LabError;
use crate::compare::{Figure, Measured};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// A figure of a row, as github-action-benchmark reads it (tool `customSmallerIsBetter`).
#[derive(Serialize)]
struct Entry {
    name: String,
    unit: &'static str,
    value: f64,
}

/// Unit of a figure, and what one of its SI unit is in it.
fn unit(figure: Figure) -> (&'static str, f64) {
    match figure {
        Figure::Cycles => ("cycles", 1.0),
        Figure::Flash | Figure::Ram | Figure::Stack => ("B", 1.0),
        Figure::Energy => ("µJ", 1e6),
    }
}

/// A value to twelve digits, without what its conversion adds.
fn rounded(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

/// Rows with costs: of what is wrong or did not end the figures mean nothing.
fn sound(rows: &[Measured]) -> impl Iterator<Item = &Measured> {
    rows.iter().filter(|row| row.wrong.is_none() && row.unfinished().is_none())
}

/// Rows for github-action-benchmark.
///
/// # Errors
/// None in practice: rows can always be written.
pub(super) fn github(rows: &[Measured]) -> Result<String, LabError> {
    let of_row = |row: &Measured| -> Vec<Entry> {
        let entry = |&(figure, value): &(Figure, f64)| {
            let (unit, scale) = unit(figure);
            let name = format!("{}: {}", row.full_name(), figure.name());
            Entry { name, unit, value: rounded(value * scale) }
        };
        row.figures.iter().map(entry).collect()
    };
    Ok(output::json(&sound(rows).flat_map(of_row).collect::<Vec<_>>())?)
}

/// Rows in Bencher's metric format, in SI units.
///
/// # Errors
/// None in practice: rows can always be written.
pub(super) fn bencher(rows: &[Measured]) -> Result<String, LabError> {
    let mut benchmarks = Map::new();
    for row in sound(rows) {
        let figure =
            |&(figure, value): &(Figure, f64)| (figure.name().to_lowercase(), json!({"value": value}));
        let measures: Map<String, Value> = row.figures.iter().map(figure).collect();
        benchmarks.insert(row.full_name(), measures.into());
    }
    Ok(output::json(&benchmarks)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::BENCH;

    fn rows() -> Vec<Measured> {
        let row = |op: &str, verified: bool| {
            json!({"target": "r8c", "op": op, "variant": "fast", "bytes": 16, "clock_hz": 20_000_000,
                   "supply_v": 5.0, "cycles": {"mean": 2241.5}, "flash_bytes": 900, "ram_bytes": 4,
                   "stack_bytes": 31, "energy_j": 5.6e-6, "time_s": 1e-4, "verified": verified})
        };
        let rows = [row("aes128-encrypt", true), row("sha1", false)];
        crate::compare::measured(&rows, &BENCH).expect("rows of a bench")
    }

    #[test]
    fn github_s_rows_are_named_values_with_units() {
        let entries: Vec<Value> = serde_json::from_str(&github(&rows()).expect("JSON")).expect("an array");
        let name = "r8c aes128-encrypt fast (16 B, 20 MHz, 5 V): cycles";
        assert_eq!(entries[0], json!({"name": name, "unit": "cycles", "value": 2241.5}));
        assert_eq!(entries.len(), 5, "{entries:?}");
        let energy = entries.iter().find(|entry| entry["unit"] == "µJ").expect("an energy");
        assert!((energy["value"].as_f64().expect("a number") - 5.6).abs() < 1e-9);
    }

    #[test]
    fn bencher_s_benchmarks_have_measures() {
        let text = bencher(&rows()).expect("JSON");
        let benchmarks: Value = serde_json::from_str(&text).expect("an object");
        assert_eq!(benchmarks.as_object().map(Map::len), Some(1), "{text}");
        let measures = &benchmarks["r8c aes128-encrypt fast (16 B, 20 MHz, 5 V)"];
        assert_eq!(measures["energy"], json!({"value": 5.6e-6}), "{text}");
        assert_eq!(measures["ram"]["value"], 4.0);
    }
}
