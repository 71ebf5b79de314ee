//! Rows as a table for a person, JSON for a program, CSV for a spreadsheet.

use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use serde::Serialize;

/// Rows that a format cannot hold.
#[derive(Debug, thiserror::Error)]
#[error("cannot be written as {format}: {reason}")]
pub struct OutputError {
    format: &'static str,
    reason: String,
}

/// Rows, or a document, as JSON.
///
/// # Errors
/// [`OutputError`] for rows that JSON cannot hold.
pub fn json<T: Serialize + ?Sized>(rows: &T) -> Result<String, OutputError> {
    serde_json::to_string_pretty(rows)
        .map(|text| text + "\n")
        .map_err(|error| OutputError { format: "JSON", reason: error.to_string() })
}

/// One row of a JSON array, with what goes before it: the array's end is the caller's.
///
/// # Errors
/// [`OutputError`] for a row that JSON cannot hold.
pub fn json_item<T: Serialize>(row: &T, first: bool) -> Result<String, OutputError> {
    let object = serde_json::to_string_pretty(row)
        .map_err(|error| OutputError { format: "JSON", reason: error.to_string() })?;
    let start = if first { "[" } else { "," };
    Ok(format!("{start}\n  {}", object.replace('\n', "\n  ")))
}

/// Rows as CSV.
///
/// # Errors
/// [`OutputError`] for rows that CSV cannot hold.
pub fn csv<T: Serialize>(rows: &[T]) -> Result<String, OutputError> {
    let failed = |reason: String| OutputError { format: "CSV", reason };
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).map_err(|error| failed(error.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|error| failed(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| failed(error.to_string()))
}

/// One row as CSV, below the header where that is wanted.
///
/// # Errors
/// [`OutputError`] for a row that CSV cannot hold.
pub fn csv_line<T: Serialize>(row: &T, header: bool) -> Result<String, OutputError> {
    let failed = |reason: String| OutputError { format: "CSV", reason };
    let mut writer = csv::WriterBuilder::new().has_headers(header).from_writer(Vec::new());
    writer.serialize(row).map_err(|error| failed(error.to_string()))?;
    let bytes = writer.into_inner().map_err(|error| failed(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| failed(error.to_string()))
}

/// 1234567 as `1,234,567`.
#[must_use]
pub fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::from(if number < 0 { "-" } else { "" });
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A quantity with its SI prefix and three to four significant digits: 0.000123 s as `123.0 µs`.
#[must_use]
pub fn scaled(value: f64, unit: &str) -> String {
    if value == 0.0 {
        return format!("0 {unit}");
    }
    const PREFIXES: [(f64, &str); 7] =
        [(1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p")];
    let (scale, prefix) =
        PREFIXES.into_iter().find(|(scale, _)| value.abs() >= *scale * 0.99995).unwrap_or(PREFIXES[6]);
    let scaled = value / scale;
    let decimals = if scaled >= 100.0 { 1 } else { 2 };
    format!("{scaled:.decimals$} {prefix}{unit}")
}

/// An empty table with this header, all columns but the first `left` set to the right.
#[must_use]
pub fn table(header: &[&str], left: usize) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.to_vec());
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((1, 1));
        if index >= left {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_carry_the_prefix_that_suits_them() {
        assert_eq!(scaled(0.000_123, "s"), "123.0 µs");
        assert_eq!(scaled(0.001, "s"), "1.00 ms");
        assert_eq!(scaled(2.18e-6, "J"), "2.18 µJ");
        assert_eq!(scaled(0.0, "J"), "0 J");
        assert_eq!(scaled(1.5e-15, "J"), "0.00 pJ");
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(-1_234_567), "-1,234,567");
    }
}
