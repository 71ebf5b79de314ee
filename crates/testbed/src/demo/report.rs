//! The figures as a table for a person, JSON for a program, CSV for a spreadsheet.

use crate::demo::cost::Cost;
use output::{Format, OutputError, csv, grouped, json, scaled, table};
use serde::Serialize;

/// A suite of the demonstration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostRow {
    /// Cost of readings with it.
    #[serde(flatten)]
    pub cost: Cost,
    /// Loads: those of the meters that seal with it now.
    pub load: String,
    /// Present load of these, in watts.
    pub load_w: f64,
}

/// Writes the figures at the end.
///
/// width: of the terminal that the table is for, in columns; what does not fit is left out of the
/// table.
///
/// # Errors
/// None in practice.
pub fn report(rows: &[CostRow], format: Format, width: Option<usize>) -> Result<String, OutputError> {
    let costs = || rows.iter().map(|row| row.cost).collect::<Vec<Cost>>();
    match format {
        Format::Json => json(&costs()),
        Format::Csv => csv(&costs()),
        Format::Table => Ok(format!("{}\n\n{NOTE}\n", costs_table(rows, false, width))),
    }
}

/// Explanation of the columns.
const NOTE: &str = "\
What a reading costs its meter, from the beginning of sealing to the accepted
acknowledgement, waiting to send again included: means; round trip: median.
ATmega328P at 16 MHz and 3.3 V, RFM12B at 433 MHz and 7 dBm, on their models;
cycles include the sampler's interrupts.";

/// Columns that are left out where there is no room, the first one first.
const LEFT_OUT: [&str; 6] = ["cycles", "load", "resent", "on air", "draws", "readings"];
/// Nothing between columns, and around them (comfy-table's presets: a character for each line and
/// corner).
const NO_LINES: &str = "                   ";

/// A line a suite. live: with what is drawn now. width: as [`report`] has it.
#[must_use]
pub fn costs_table(rows: &[CostRow], live: bool, width: Option<usize>) -> String {
    let most = width.unwrap_or(usize::MAX);
    let fits = |text: &String| text.lines().all(|line| line.chars().count() <= most);
    let mut out = if live { Vec::new() } else { vec!["draws"] };
    let mut text = drawn(rows, &out);
    for column in LEFT_OUT {
        if fits(&text) {
            break;
        }
        out.push(column);
        text = drawn(rows, &out);
    }
    text
}

fn drawn(rows: &[CostRow], out: &[&str]) -> String {
    let names = [
        "suite",
        "load",
        "draws",
        "readings",
        "resent",
        "cycles",
        "prepare",
        "processor",
        "radio",
        "on air",
        "round trip",
    ];
    let is_in = |name: &&str| !out.contains(name);
    let header: Vec<&str> = names.into_iter().filter(is_in).collect();
    let left = header.iter().take_while(|name| matches!(**name, "suite" | "load")).count();
    let mut table = table(&header, left);
    table.load_preset(NO_LINES);
    for CostRow { cost, load, load_w } in rows {
        let known = |value: f64, text: String| if value.is_nan() { "–".to_owned() } else { text };
        let figure = |value: f64, unit: &str| known(value, scaled(value, unit));
        let cells = [
            cost.suite.to_owned(),
            load.clone(),
            format!("{load_w:.0} W"),
            cost.readings.to_string(),
            cost.resent.to_string(),
            known(cost.prepare_cycles, grouped(cost.prepare_cycles.round() as i64)),
            figure(cost.prepare_ms * 1e-3, "s"),
            figure(cost.processor_uj * 1e-6, "J"),
            figure(cost.radio_uj * 1e-6, "J"),
            known(cost.air_bytes, format!("{:.0} B", cost.air_bytes)),
            figure(cost.round_trip_ms * 1e-3, "s"),
        ];
        table.add_row(names.into_iter().zip(cells).filter(|(name, _)| is_in(name)).map(|(_, cell)| cell));
    }
    table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<CostRow> {
        let cost = Cost {
            suite: "ecies-ecdsa",
            readings: 1234,
            resent: 56,
            prepare_cycles: 42_467_550.4,
            prepare_ms: 2654.2,
            processor_uj: 49_850.0,
            radio_uj: 7870.0,
            air_bytes: 189.0,
            round_trip_ms: 2700.0,
        };
        let none = Cost { suite: "none", readings: 0, resent: 0, prepare_cycles: f64::NAN, ..cost };
        let row = |cost| CostRow { cost, load: "Washing machine".into(), load_w: 2345.6 };
        vec![row(none), row(cost)]
    }

    #[test]
    fn a_table_has_room_on_a_terminal_of_80_columns() {
        let text = costs_table(&rows(), true, Some(80));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for kept in ["ecies-ecdsa", "2.65 s", "49.85 mJ", "7.87 mJ", "2.70 s", "2346 W"] {
            assert!(text.contains(kept), "{text}");
        }
        let all = costs_table(&rows(), true, None);
        for column in LEFT_OUT {
            assert!(all.contains(column), "{all}");
        }
    }

    #[test]
    fn unmeasured_cost_has_no_figure() {
        let text = report(&rows(), Format::Json, None).expect("JSON");
        assert!(text.contains("\"prepare_cycles\": null") && !text.contains("NaN"), "{text}");
        assert!(costs_table(&rows(), false, None).contains('–'));
    }
}
