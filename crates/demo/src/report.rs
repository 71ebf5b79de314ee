//! The figures as a table for a person, JSON for a program, CSV for a spreadsheet.

use crate::cost::Cost;
use lab::LabError;
use lab::report::{Format, csv, grouped, json, scaled, table};
use serde::Serialize;

/// A suite of the demonstration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What readings with it cost.
    #[serde(flatten)]
    pub cost: Cost,
    /// What is measured: the meters that seal with it now.
    pub load: String,
    /// What these draw now, in watts.
    pub load_w: f64,
}

/// Writes the figures at the end.
///
/// # Errors
/// None in practice.
pub fn report(rows: &[Row], format: Format) -> Result<String, LabError> {
    let costs = || rows.iter().map(|row| row.cost).collect::<Vec<Cost>>();
    match format {
        Format::Json => json(&costs()),
        Format::Csv => csv(&costs()),
        Format::Table => Ok(format!("{}\n{NOTE}\n", costs_table(rows, false))),
    }
}

/// What the columns say.
const NOTE: &str = "A reading costs from the beginning of sealing to the accepted acknowledgement, waiting to send again included. \
Means; round trip: median.\nATmega328P at 16 MHz and 3.3 V, RFM12B at 7 dBm, 433 MHz; the sampler's interrupts are among the cycles.";

/// A line a suite. live: with what is drawn now.
#[must_use]
pub fn costs_table(rows: &[Row], live: bool) -> String {
    let mut header = vec!["suite", "load"];
    if live {
        header.push("draws");
    }
    header.extend([
        "readings",
        "resent",
        "cycles",
        "to prepare",
        "processor",
        "radio",
        "on air",
        "round trip",
    ]);
    let mut table = table(&header, 2);
    for Row { cost, load, load_w } in rows {
        let figure = |value: f64, unit: &str| {
            if value.is_nan() { "–".into() } else { scaled(value, unit) }
        };
        let mut cells = vec![cost.suite.to_owned(), load.clone()];
        if live {
            cells.push(format!("{load_w:.0} W"));
        }
        cells.extend([
            cost.readings.to_string(),
            cost.resent.to_string(),
            if cost.prepare_cycles.is_nan() {
                "–".into()
            } else {
                grouped(cost.prepare_cycles.round() as i64)
            },
            figure(cost.prepare_ms * 1e-3, "s"),
            figure(cost.processor_uj * 1e-6, "J"),
            figure(cost.radio_uj * 1e-6, "J"),
            if cost.air_bytes.is_nan() { "–".into() } else { format!("{:.0} B", cost.air_bytes) },
            figure(cost.round_trip_ms * 1e-3, "s"),
        ]);
        table.add_row(cells);
    }
    table.to_string()
}
