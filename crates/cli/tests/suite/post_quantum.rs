//! The tables of docs/reference/post-quantum.md have the figures that the tool has, and its charts
//! are of its tables.

use crate::documentation::{cells, is_rounded, measured, quantity};
use lab::plot::{Axis, Chart, Series, Style, svg};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use testkit::documents::{commands, home};

const PAGE: &str = "docs/reference/post-quantum.md";
/// The table of energies by target, and of messages by scheme: how their heads begin.
const OPERATIONS: &str = "| energy, flash on |";
const MESSAGES: &str = "| scheme |";

/// A document.
pub fn page(path: &str) -> String {
    std::fs::read_to_string(home().join(path)).expect("a document")
}

/// The tables of the page whose head begins so: head and lines, without the rule between them, in
/// cells.
fn tables<'a>(page: &'a str, head: &str) -> Vec<Vec<Vec<&'a str>>> {
    let lines: Vec<&str> = page.lines().collect();
    let tables = lines.split(|line| !line.starts_with('|'));
    let tables = tables.filter(|table| table.first().is_some_and(|first| first.starts_with(head)));
    tables.map(|table| table[..1].iter().chain(&table[2..]).map(|line| cells(line)).collect()).collect()
}

/// The last one of them.
pub fn table<'a>(page: &'a str, head: &str) -> Vec<Vec<&'a str>> {
    tables(page, head).pop().unwrap_or_else(|| panic!("no table begins with {head}"))
}

fn names<'a>(head: &[&'a str]) -> Vec<&'a str> {
    head[1..].iter().map(|cell| cell.trim_matches('`')).collect()
}

fn figure(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// The rows of `bench` for the tables that begin with a target and operations, and the cells that
/// differ: a target a line, an operation a column, in the variant fast.
pub fn stale_costs(page: &str) -> (Vec<Value>, Vec<String>) {
    let (mut rows, mut stale) = (Vec::new(), Vec::new());
    for table in tables(page, "| target | `") {
        let mut arguments = vec!["--variant", "fast"];
        arguments.extend(table[1..].iter().flat_map(|line| ["--target", line[0]]));
        arguments.extend(names(&table[0]).iter().flat_map(|operation| ["--op", operation]));
        let measured = measured(&arguments);
        stale.extend(stale_cells(&table, &measured, |row| {
            Some([figure(&row["cycles"]["mean"]), figure(&row["stack_bytes"])])
        }));
        rows.extend(measured);
    }
    (rows, stale)
}

/// The cells of the table of energies that differ from these rows of `bench`.
pub fn stale_energies(page: &str, rows: &[Value]) -> Vec<String> {
    stale_cells(&table(page, OPERATIONS), rows, |row| {
        Some([figure(&row["energy_j"]), figure(&row["flash_bytes"])])
    })
}

#[test]
fn the_costs_are_what_bench_measures() {
    let page = page(PAGE);
    assert!(tables(&page, "| target | `").len() >= 4, "{PAGE} lacks tables of costs");
    let (rows, mut stale) = stale_costs(&page);
    stale.extend(stale_energies(&page, &rows));
    assert!(stale.is_empty(), "{PAGE} is stale:\n{}", stale.join("\n"));
}

/// Returns the cells of a table by target and operation that differ from the rows of `bench`.
fn stale_cells(
    table: &[Vec<&str>],
    rows: &[Value],
    figures: impl Fn(&Value) -> Option<[f64; 2]>,
) -> Vec<String> {
    let mut stale = Vec::new();
    for line in &table[1..] {
        for (operation, cell) in names(&table[0]).into_iter().zip(&line[1..]) {
            let row = rows.iter().find(|row| row["target"] == line[0] && row["op"] == operation);
            let cost = row.and_then(&figures);
            if cost.is_none_or(|cost| cell.is_empty() || !is_rounded(cell, cost))
                && (cost.is_some() || !cell.is_empty())
            {
                stale.push(format!("{}, {operation}: '{cell}' where bench has {cost:?}", line[0]));
            }
        }
    }
    stale
}

/// Its table of ML-KEM by pieces: an operation, a target and a variant a line.
#[test]
fn the_costs_by_pieces_are_what_bench_measures() {
    let page = page(PAGE);
    let lines = table(&page, "| operation | target | variant |").split_off(1);
    let operation = |line: &[&str]| line[0].trim_matches('`').to_owned();
    let arguments: Vec<String> = lines
        .iter()
        .flat_map(|line| ["--op".to_owned(), operation(line), "--target".to_owned(), line[1].to_owned()])
        .collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let rows = measured(&arguments);
    let mut stale = Vec::new();
    for line in lines {
        let row = rows.iter().find(|row| {
            row["op"] == operation(&line) && row["target"] == line[1] && row["variant"] == line[2]
        });
        let row = row.unwrap_or_else(|| panic!("bench has no {line:?}"));
        let costs = [
            (line[3], [figure(&row["cycles"]["mean"]), figure(&row["stack_bytes"])]),
            (line[4], [figure(&row["ram_bytes"]), figure(&row["flash_bytes"])]),
        ];
        for (cell, cost) in costs.into_iter().filter(|(cell, cost)| !is_rounded(cell, *cost)) {
            stale.push(format!("{}: '{cell}' where bench has {cost:?}", line[..3].join(", ")));
        }
    }
    assert!(stale.is_empty(), "{PAGE} is stale:\n{}", stale.join("\n"));
}

/// The cells of a page's table of messages that differ from what its commands of `plan` say: the
/// lives of a battery are by two rates.
pub fn stale_messages(path: &str, rates: [&str; 2]) -> Vec<String> {
    let points = |rate: &str| -> Vec<Value> {
        let lines = commands(path);
        let line =
            lines.iter().find(|line| line.contains("plan ") && line.ends_with(rate)).expect("its command");
        let line = line.replacen("./wattseal", env!("CARGO_BIN_EXE_wattseal"), 1) + " --format json";
        let output =
            Command::new("sh").arg("-c").arg(&line).env("WATTSEAL_HOME", home()).output().expect("a shell");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("an array")
    };
    let [often, seldom] = rates.map(points);
    let page = page(path);
    let table = table(&page, MESSAGES);
    assert_eq!(table.len() - 1, often.len(), "a scheme a line");
    let mut stale = Vec::new();
    for line in &table[1..] {
        let of = |points: &[Value], field: &str| {
            let point = points.iter().find(|point| point["scheme"] == line[0].trim_matches('`'));
            figure(&point.unwrap_or_else(|| panic!("plan has no {}", line[0]))[field])
        };
        let years = |points: &[Value]| of(points, "life_s") / (365.25 * 86_400.0);
        let figures = [
            of(&often, "security_bits"),
            of(&often, "radio_bytes"),
            of(&often, "radio_packets"),
            of(&often, "compute_j"),
            of(&often, "radio_j"),
            of(&often, "latency_s"),
            of(&often, "flash_bytes"),
            of(&often, "ram_bytes"),
            years(&often),
            years(&seldom),
        ];
        for (cell, figure) in line[1..].iter().zip(figures) {
            let (value, tolerance) = cell.parse().map_or_else(|_| quantity(cell), |count| (count, 0.0));
            if (value - figure).abs() > tolerance {
                stale.push(format!("{}: '{cell}' where plan has {figure}", line[0]));
            }
        }
    }
    stale
}

#[test]
fn the_messages_are_what_plan_says() {
    let stale = stale_messages(PAGE, ["1/15min", "1/24h"]);
    assert!(stale.is_empty(), "{PAGE} is stale:\n{}", stale.join("\n"));
}

/// The column of a table that has this head, in units of `unit`; nothing where its cell is empty.
fn series(table: &[Vec<&str>], head: &str, label: &str, unit: f64) -> Series {
    let column = table[0].iter().position(|cell| *cell == head).expect("a column");
    let point = |(at, line): (usize, &Vec<&str>)| {
        let cell = line[column].split(", ").next().filter(|cell| !cell.is_empty())?;
        Some((at as f64, quantity(cell).0 / unit))
    };
    let points = table[1..].iter().enumerate().filter_map(point).collect();
    Series { label: label.to_owned(), points, style: Style::Marks }
}

fn first_column(table: &[Vec<&str>]) -> Vec<String> {
    table[1..].iter().map(|line| line[0].trim_matches('`').to_owned()).collect()
}

/// The chart of a page's table of energies.
pub fn chart_of_energies(page: &str, title: &str) -> Chart {
    let table = table(page, OPERATIONS);
    Chart {
        title: title.into(),
        x: Axis::of(first_column(&table)),
        y: Axis::log("energy", "mJ"),
        series: table[0][1..].iter().map(|head| series(&table, head, head.trim_matches('`'), 1e-3)).collect(),
        notes: vec!["Variant fast, each target's usual clock and supply; the processor alone.".into()],
    }
}

/// The charts of the page, each with its file.
fn charts() -> [(PathBuf, String); 3] {
    let page = page(PAGE);
    let messages = table(&page, MESSAGES);
    let of_operations = chart_of_energies(&page, "Energy of an operation, by target");
    let of_message = Chart {
        title: "Energy of a message of 16 bytes, by scheme".into(),
        x: Axis::of(first_column(&messages)),
        y: Axis::log("energy", "mJ"),
        series: vec![
            series(&messages, "computing", "computing", 1e-3),
            series(&messages, "sending", "sending", 1e-3),
        ],
        notes: vec!["MSP430F5438A at 8 MHz and 3 V, CC2500 at 250 kBd.".into()],
    };
    let of_battery = Chart {
        title: "How long a cell of 2.6 Ah lasts, by scheme".into(),
        x: Axis::of(first_column(&messages)),
        y: Axis { from_zero: true, ..Axis::linear("life", "years") },
        series: vec![
            series(&messages, "one in 15 min: lasts", "a message in 15 min", 1.0),
            series(&messages, "one a day: lasts", "a message a day", 1.0),
        ],
        notes: vec![
            "MSP430F5438A at 8 MHz and 3 V, CC2500; the cell has 3.6 V and loses 1 % a year by itself."
                .into(),
        ],
    };
    [("operations", of_operations), ("message", of_message), ("battery", of_battery)].map(|(name, chart)| {
        (
            home().join(format!("docs/reference/post-quantum-{name}.svg")),
            svg(&chart).expect("points in all of them"),
        )
    })
}

#[test]
fn the_charts_are_of_the_tables() {
    for (path, chart) in charts() {
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        let renew = "cargo test -p wattseal-cli --test suite -- --ignored renew_the_charts";
        assert!(there == chart, "{} is of other figures; {renew}", path.display());
    }
}

#[test]
#[ignore = "writes docs/reference/post-quantum-*.svg"]
fn renew_the_charts() {
    for (path, chart) in charts() {
        std::fs::write(path, chart).expect("written");
    }
}
