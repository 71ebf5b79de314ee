//! Arrangement of a bench's rows in tables.

use super::pair::{self, Pair};
use super::parts::{self, PartRow, part, repetition};
use super::section::Section;
use super::summary;
use crate::rank::Rank;
use crate::row::BenchRow;
use crate::selection::Tables;
use output::{Column, Sheet, scaled};

/// Arrangement of a bench's rows in tables.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrangement {
    /// A table for each target, written row by row.
    Targets,
    /// A table for each operation, a line for each target and variant; ranked where a figure is
    /// given.
    Operations(Option<Rank>),
    /// The tables of `bench.toml`.
    Summary(Tables),
    /// Two targets or variants side by side.
    Pair(Pair),
}

impl Arrangement {
    /// The figure that rows are ranked by.
    pub(super) fn rank(&self) -> Option<Rank> {
        match self {
            Arrangement::Operations(by) => *by,
            _ => None,
        }
    }

    /// Puts ranked rows into their order within each operation.
    pub(super) fn sort(&self, rows: &mut [BenchRow]) {
        let Some(by) = self.rank() else { return };
        let mut operations: Vec<(String, u16)> = Vec::new();
        for row in rows.iter() {
            let operation = (row.op.clone(), row.bytes);
            if !operations.contains(&operation) {
                operations.push(operation);
            }
        }
        by.sort(rows);
        rows.sort_by_key(|row| {
            operations.iter().position(|(op, bytes)| *op == row.op && *bytes == row.bytes)
        });
    }

    /// The tables; `narrow` ones have 80 columns, and `bars` are for a person's eye.
    pub(super) fn sections(&self, rows: &[BenchRow], narrow: bool, bars: bool) -> Vec<Section<'_>> {
        match self {
            Arrangement::Targets => {
                rows.chunk_by(|one, other| one.target == other.target).map(target).collect()
            }
            Arrangement::Operations(by) => operations(rows, by.filter(|_| bars)),
            Arrangement::Summary(tables) => summary::sections(tables, rows, narrow),
            Arrangement::Pair(pair) => pair::sections(pair, rows),
        }
    }
}

/// A table for each operation.
fn operations(rows: &[BenchRow], by: Option<Rank>) -> Vec<Section<'static>> {
    let mut groups: Vec<Vec<&BenchRow>> = Vec::new();
    for row in rows {
        match groups.iter_mut().find(|rows| rows[0].op == row.op && rows[0].bytes == row.bytes) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups.iter().map(|rows| operation(rows, by)).collect()
}

const OPERATIONS: [Column<'static>; 10] = [
    Column::name("operation"),
    Column::left("variant"),
    Column::right("bytes").spare(3),
    Column::right("cycles"),
    Column::right("time").spare(2),
    Column::right("energy"),
    Column::right("flash B"),
    Column::right("RAM B").spare(1),
    Column::right("stack B"),
    Column::left("output").spare(4),
];

/// The table of a target.
fn target(rows: &[BenchRow]) -> Section<'static> {
    let BenchRow { target, clock_hz, supply_v, memory, power_w, .. } = &rows[0];
    let mhz = *clock_hz as f64 / 1e6;
    let mut sheet = Sheet::new(&OPERATIONS);
    for row in rows {
        let [_, variant, _, cycles, time, energy, flash, ram, stack, _, output] =
            parts::cells(&part(row), None);
        sheet.row([
            row.op.clone(),
            variant,
            row.bytes.to_string(),
            cycles,
            time,
            energy,
            flash,
            ram,
            stack,
            output,
        ]);
    }
    let shown: Vec<PartRow<'_>> = rows.iter().map(part).collect();
    let mut feet = parts::feet(&shown);
    feet.extend(rows.iter().filter_map(|row| repetition(row, &format!("{} {}", row.op, row.variant))));
    let title = format!("{target}: {mhz} MHz, {supply_v} V, {memory}, {}", scaled(*power_w, "W"));
    Section { title, sheet, feet }
}

/// The table of an operation.
fn operation(rows: &[&BenchRow], by: Option<Rank>) -> Section<'static> {
    let first = rows[0];
    let mut title = format!("{} of {} bytes", first.op, first.bytes);
    if rows.iter().all(|row| row.variant == first.variant) {
        title += &format!(", {}", first.variant);
    }
    if let Some(by) = by {
        title += &format!(", by {}", by.name());
    }
    let parts: Vec<PartRow<'_>> = rows.iter().map(|row| part(row)).collect();
    let mut feet = parts::feet(&parts);
    feet.extend(rows.iter().filter_map(|row| repetition(row, &format!("{} {}", row.target, row.variant))));
    Section { title, sheet: parts::sheet(&parts, by), feet }
}
