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
