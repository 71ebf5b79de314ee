//! Measurements as tables, JSON and CSV.

use crate::load::{KillsResult, LoadResult};
use output::Format;
use serde::Serialize;
use std::fmt::Write;

/// Loads, a row each.
#[must_use]
pub fn table(outcomes: &[LoadResult], format: Format) -> String {
    if format != Format::Table {
        return for_programs(outcomes, format);
    }
    let mut out = format!(
        "{:<12} {:>7} {:>6} {:>11} {:>10} {:>10} {:>8} {:>9} {:>11} {:>7} {:>9}\n",
        "suite", "meters", "s", "readings/s", "p50 ms", "p99 ms", "CPU", "MB", "bare/s", "ratio", "stored"
    );
    for row in outcomes {
        let bare = row.bare_per_s.map_or("-".into(), |bare| format!("{bare:.0}"));
        let ratio = row.ratio.map_or("-".into(), |ratio| format!("{ratio:.3}"));
        let _ = writeln!(
            out,
            "{:<12} {:>7} {:>6.1} {:>11.0} {:>10.1} {:>10.1} {:>8.2} {:>9.1} {:>11} {:>7} {:>9}",
            row.suite,
            row.meters,
            row.seconds,
            row.readings_per_s,
            row.latency_p50_ms,
            row.latency_p99_ms,
            row.collector_cpu,
            row.collector_memory_bytes as f64 / 1e6,
            bare,
            ratio,
            row.stored
        );
    }
    out
}

/// Kills, a row.
#[must_use]
pub fn kills_table(outcome: &KillsResult, format: Format) -> String {
    if format != Format::Table {
        return for_programs(std::slice::from_ref(outcome), format);
    }
    format!(
        "{} kills: {} readings acknowledged, {} stored, each once and as it was sent; {} more were stored when a kill kept their \
         acknowledgement back, and were acknowledged later (seed {})\n",
        outcome.kills, outcome.acknowledged, outcome.stored, outcome.stored_unacknowledged, outcome.seed
    )
}

fn for_programs<T: Serialize>(rows: &[T], format: Format) -> String {
    let rows = serde_json::to_value(rows).unwrap_or_default();
    if format == Format::Json {
        return serde_json::to_string_pretty(&rows).unwrap_or_default() + "\n";
    }
    let mut out = String::new();
    for (number, row) in rows.as_array().into_iter().flatten().filter_map(|row| row.as_object()).enumerate() {
        if number == 0 {
            out += &row.keys().cloned().collect::<Vec<_>>().join(",");
            out += "\n";
        }
        let cell = |value: &serde_json::Value| match value {
            serde_json::Value::Null => String::new(),
            serde_json::Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        out += &row.values().map(cell).collect::<Vec<_>>().join(",");
        out += "\n";
    }
    out
}
