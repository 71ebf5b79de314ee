//! Parts side by side: a line each, with a bar where they are ranked.

use super::section::WRONG;
use crate::accuracy::{Accuracy, Bound};
use crate::energy_accuracy::{EnergyAccuracy, EnergyBound};
use crate::rank::{Costs, Rank};
use crate::repetition::Repetition;
use crate::row::BenchRow;
use output::{Column, Sheet, figure, grouped, scaled};

/// Length of the longest bar, in letters.
const BAR: usize = 6;

/// A part's costs of an operation or a call.
pub(super) struct PartRow<'a> {
    pub(super) target: &'a str,
    /// Build of the operation; empty of a call.
    pub(super) variant: &'a str,
    pub(super) clock_hz: u64,
    pub(super) costs: Costs,
    pub(super) accuracy: Option<&'a Accuracy>,
    pub(super) energy_accuracy: Option<&'a EnergyAccuracy>,
    pub(super) output: Outcome,
}

/// Outcome of the comparison of outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Right,
    /// There was nothing to compare them with.
    Unknown,
    Wrong,
    /// There are none.
    Absent,
}

impl Outcome {
    fn name(self) -> &'static str {
        match self {
            Outcome::Right => "ok",
            Outcome::Unknown => "unknown",
            Outcome::Wrong => WRONG,
            Outcome::Absent => "none",
        }
    }
}

/// The parts in one table; `by` gives it bars, and keeps the figure of that in a narrow table.
pub(super) fn sheet(rows: &[PartRow<'_>], by: Option<Rank>) -> Sheet<'static> {
    let has_variants = rows.iter().any(|row| row.variant != rows[0].variant);
    let spare = |rank: Rank, header, order| match by == Some(rank) {
        true => Column::right(header),
        false => Column::right(header).spare(order),
    };
    let columns = [
        (true, Column::name("target")),
        (has_variants, Column::left("variant")),
        (true, Column::right("MHz").spare(6)),
        (true, Column::right("cycles")),
        (true, spare(Rank::Time, "time", 4)),
        (true, Column::right("energy")),
        (true, spare(Rank::Flash, "flash B", 3)),
        (true, spare(Rank::Ram, "RAM B", 5)),
        (true, spare(Rank::Stack, "stack B", 2)),
        (by.is_some(), Column::left("")),
        (true, Column::left("output").spare(7)),
    ];
    let shown: Vec<Column<'static>> =
        columns.iter().filter(|(is_shown, _)| *is_shown).map(|(_, column)| *column).collect();
    let figures = rows.iter().filter_map(|row| by?.figure(&row.costs));
    let greatest = figures.fold(0.0, f64::max);
    let mut sheet = Sheet::new(&shown);
    for row in rows {
        let share = by.and_then(|by| by.figure(&row.costs)).map(|figure| figure / greatest);
        let cells = columns.iter().zip(cells(row, share)).filter(|((is_shown, _), _)| *is_shown);
        sheet.row(cells.map(|(_, cell)| cell));
    }
    sheet
}

/// Cells of a part; a share of the greatest figure has a bar.
pub(super) fn cells(row: &PartRow<'_>, share: Option<f64>) -> [String; 11] {
    let Costs { cycles, time_s, energy_j, flash_bytes, ram_bytes, stack_bytes } = row.costs;
    let none = || "–".to_owned();
    let bytes = |number: Option<f64>| number.map_or_else(none, |number| grouped(number as i64));
    let mark = row.accuracy.map_or("", |accuracy| accuracy.cycles.mark());
    let energy_mark = row.energy_accuracy.map_or("", |accuracy| accuracy.energy.mark());
    [
        row.target.to_owned(),
        row.variant.to_owned(),
        format!("{}", row.clock_hz as f64 / 1e6),
        // Costs of outputs that are wrong mean nothing.
        match cycles.filter(|_| row.output != Outcome::Wrong) {
            Some(cycles) => figure(Some(cycles.round()), "cycles") + mark,
            None => row.output.name().into(),
        },
        time_s.map_or_else(none, |time_s| scaled(time_s, "s")),
        energy_j.map_or_else(none, |energy_j| scaled(energy_j, "J") + energy_mark),
        bytes(flash_bytes),
        bytes(ram_bytes),
        bytes(stack_bytes),
        share.map_or_else(String::new, bar),
        row.output.name().into(),
    ]
}

/// A bar in steps of an eighth of a letter; the least is a step.
fn bar(share: f64) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let steps = (share * (8 * BAR) as f64).round().max(1.0) as usize;
    "█".repeat(steps / 8) + PARTS[steps % 8]
}

/// A row of a bench as a part.
pub(super) fn part(row: &BenchRow) -> PartRow<'_> {
    PartRow {
        target: &row.target,
        variant: &row.variant,
        clock_hz: row.clock_hz,
        costs: Costs::from(row),
        accuracy: Some(&row.accuracy),
        energy_accuracy: Some(&row.energy_accuracy),
        output: if row.verified { Outcome::Right } else { Outcome::Wrong },
    }
}

/// Says how well the mean of a row is known, where its runs ended before it was known well.
pub(super) fn repetition(row: &BenchRow, name: &str) -> Option<String> {
    let width = Repetition::short_of(&row.cycles, row.runs as usize)?;
    // Rounded up: 2.04 % is not within the 2 % that needs no line.
    let percent = (1000.0 * width).ceil() / 10.0;
    Some(format!("± {name}: mean of {} runs, known to {percent:.1} % (95 % confidence)", row.runs))
}

/// Explanations of the marks: of one part with their sources, of several the bound of each.
pub(super) fn feet(rows: &[PartRow<'_>]) -> Vec<String> {
    let shown: Vec<&PartRow<'_>> = rows.iter().filter(|row| row.costs.cycles.is_some()).collect();
    let Some(first) = shown.first() else { return Vec::new() };
    if shown.iter().all(|row| row.target == first.target) {
        let mut feet: Vec<String> = Vec::new();
        for row in shown {
            let cycles = row.accuracy.map(Accuracy::foot);
            for foot in cycles.into_iter().chain(row.energy_accuracy.map(EnergyAccuracy::foot)) {
                if !foot.is_empty() && !feet.contains(&foot) {
                    feet.push(foot);
                }
            }
        }
        return feet;
    }
    let cycles = |holds: fn(Bound) -> bool| {
        by_bound(&shown, |row| row.accuracy.map(|accuracy| accuracy.cycles).filter(|bound| holds(*bound)))
    };
    let energy = |holds: fn(EnergyBound) -> bool| {
        let bound = |row: &PartRow<'_>| row.energy_accuracy.map(|accuracy| accuracy.energy);
        by_bound(&shown, |row| bound(row).filter(|bound| holds(*bound)))
    };
    let lines = [
        ("~ within a share of the part's cycles", cycles(|bound| matches!(bound, Bound::Percent(_)))),
        ("? cycles", cycles(|bound| bound == Bound::Estimate)),
        ("energy ~ within a share", energy(|bound| matches!(bound, EnergyBound::Percent(_)))),
        ("energy ?", energy(|bound| !matches!(bound, EnergyBound::Percent(_)))),
    ];
    let said: Vec<String> = lines
        .into_iter()
        .filter(|(_, bounds)| !bounds.is_empty())
        .map(|(head, bounds)| format!("{head}: {bounds}"))
        .collect();
    let sources = "Sources of these bounds: --format json.".to_owned();
    if said.is_empty() { said } else { said.into_iter().chain([sources]).collect() }
}

/// Each bound behind its parts: `stm32f051 (1.2 %), samd21, stm32f767 (5.8 %)`.
fn by_bound<B: PartialEq + ToString>(
    rows: &[&PartRow<'_>],
    bound: impl Fn(&PartRow<'_>) -> Option<B>,
) -> String {
    let mut found: Vec<(B, Vec<&str>)> = Vec::new();
    for row in rows {
        let Some(bound) = bound(row) else { continue };
        let at = found.iter().position(|(known, _)| *known == bound).unwrap_or(found.len());
        if at == found.len() {
            found.push((bound, Vec::new()));
        }
        if !found[at].1.contains(&row.target) {
            found[at].1.push(row.target);
        }
    }
    let text = |(bound, targets): (B, Vec<&str>)| format!("{} ({})", targets.join(", "), bound.to_string());
    found.into_iter().map(text).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accuracy(cycles: Bound) -> Accuracy {
        Accuracy { cycles, ..Accuracy::estimate("a table".into()) }
    }

    fn row<'a>(target: &'a str, energy_j: f64, accuracy: &'a Accuracy) -> PartRow<'a> {
        let costs = Costs { cycles: Some(185_366.0), energy_j: Some(energy_j), ..Costs::default() };
        let output = Outcome::Right;
        let (variant, clock_hz) = ("fast", 16_000_000);
        PartRow { target, variant, clock_hz, costs, accuracy: Some(accuracy), energy_accuracy: None, output }
    }

    #[test]
    fn bars_are_shares_of_the_greatest_figure() {
        let exact = accuracy(Bound::Exact);
        let rows = [row("nrf52840", 1e-6, &exact), row("mc68hc08", 4e-6, &exact), row("i8051", 1e-9, &exact)];
        let table = sheet(&rows, Some(Rank::Energy)).table(false);
        let bars: Vec<usize> = table.lines().map(|line| line.matches('█').count()).collect();
        assert_eq!(bars[..7], [0, 0, 0, 1, 6, 0, 0], "{table}");
        assert!(table.lines().nth(3).is_some_and(|line| line.contains("█▌")), "{table}");
        assert!(table.lines().nth(5).is_some_and(|line| line.contains('▏')), "{table}");
        assert!(!sheet(&rows, None).table(true).contains('█'));
    }

    #[test]
    fn wrong_outputs_have_no_costs() {
        let exact = accuracy(Bound::Exact);
        let wrong = PartRow { output: Outcome::Wrong, costs: Costs::default(), ..row("r8c", 1.0, &exact) };
        let table = sheet(&[wrong], Some(Rank::Energy)).table(false);
        assert!(table.contains("WRONG") && table.contains('–') && !table.contains('█'), "{table}");
    }

    #[test]
    fn feet_of_several_parts_have_the_bound_of_each() {
        let [exact, near, far] = [Bound::Exact, Bound::Percent(1.2), Bound::Estimate].map(accuracy);
        let rows = [row("atmega328p", 1.0, &exact), row("stm32f051", 1.0, &near), row("r8c", 1.0, &far)];
        let expected = [
            "~ within a share of the part's cycles: stm32f051 (1.2 %)",
            "? cycles: r8c (estimate)",
            "Sources of these bounds: --format json.",
        ];
        assert_eq!(feet(&rows), expected);
        assert_eq!(feet(&rows[1..2]), ["~ within 1.2 % of the part's cycles: a table"]);
        assert_eq!(feet(&rows[..1]), [""; 0]);
    }
}
