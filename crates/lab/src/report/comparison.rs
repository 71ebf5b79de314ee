//! Report of a comparison: a table for a person or a pull request, JSON, CSV, or JUnit's report.

use super::junit;
use crate::LabError;
use crate::compare::{Change, ComparedRow, Comparison, Figure, Measured, State};
use crate::measure::{Ended, EndedColumns};
use console::style;
use output::{Column, ReportFormat, Sheet, csv, json};
use serde::Serialize;

/// Behind a figure that is past its limit.
const PAST: &str = "PAST";

/// In place of the growth of a row whose run did not end as it should.
const UNFINISHED: &str = "no end";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Those that changed or fail, and the rows that are new or gone.
    Changes,
    /// All of them.
    All,
}

/// A figure of a row on both sides of a comparison.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangeRow<'a> {
    /// Identity of the row in both: firmware or operation, target, function.
    row: String,
    /// Presence of the row on the two sides.
    state: State,
    /// Compared figure.
    figure: Figure,
    /// Earlier value; absent where the row is new, or its run had not ended as it should.
    before: Option<f64>,
    /// Present value; absent where the row is gone, or its run has not ended as it should.
    after: Option<f64>,
    /// Growth; absent where it is only on one side.
    change: Option<f64>,
    /// The same in percent of what it was; absent where that was zero, too.
    percent: Option<f64>,
    /// The limits of it, for a person.
    limit: String,
    /// It is within its limits.
    passed: bool,
    /// Fault of the row, whatever it costs.
    wrong: Option<String>,
    /// End of the row's run; absent of `bench` and `ct`, and where the row is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<&'a Ended>,
}

/// The comparison in the format asked for; `command` names JUnit's report.
///
/// # Errors
/// None in practice: rows can always be written.
pub fn comparison(
    comparison: &Comparison,
    shown: Shown,
    format: ReportFormat,
    wide: bool,
    command: &str,
) -> Result<String, LabError> {
    Ok(match format {
        ReportFormat::Json => json(&change_rows(comparison))?,
        ReportFormat::Csv => csv(&change_rows(comparison).into_iter().map(flat).collect::<Vec<_>>())?,
        ReportFormat::Junit => junit::compared(comparison, command)?,
        ReportFormat::Markdown => markdown(comparison, shown),
        ReportFormat::Table => table(comparison, shown, wide),
        ReportFormat::Latex => sheet(&lines(comparison, shown)).latex(&comparison.summary(), &[]),
        ReportFormat::Sarif | ReportFormat::GithubBenchmark | ReportFormat::Bencher => {
            return Err(super::not_offered(format));
        }
    })
}

fn change_rows(comparison: &Comparison) -> Vec<ChangeRow<'_>> {
    let of_row = |row: &'_ ComparedRow| -> Vec<ChangeRow<'_>> {
        let change_row = |change: &Change| ChangeRow {
            row: row.measured.full_name(),
            state: row.state,
            figure: change.figure,
            before: change.before,
            after: change.after,
            change: change.before.zip(change.after).map(|(before, after)| after - before),
            percent: change.share().map(|share| share * 100.0),
            limit: limits(change),
            passed: change.passed().next().is_none(),
            wrong: None,
            ended: None,
        };
        row.changes.iter().map(change_row).collect()
    };
    let mut rows = Vec::new();
    for row in &comparison.rows {
        let is_now = row.state != State::Gone;
        let wrong = row.error().or_else(|| row.measured.wrong.clone()).filter(|_| is_now);
        let ended = row.measured.ended.as_ref().filter(|_| is_now);
        let changes = of_row(row).into_iter();
        rows.extend(changes.map(|change| ChangeRow { wrong: wrong.clone(), ended, ..change }));
    }
    rows
}

/// A row as CSV has it: how its run ended stands in columns of its own.
fn flat(row: ChangeRow<'_>) -> (ChangeRow<'_>, EndedColumns<'_>) {
    let ended = EndedColumns::from(row.ended);
    (ChangeRow { ended: None, ..row }, ended)
}

fn limits(change: &Change) -> String {
    change.limits.iter().map(|limit| limit.text(change.figure)).collect::<Vec<_>>().join(", ")
}

const CHANGES: [Column<'static>; 6] = [
    Column::left("figure"),
    Column::right("before"),
    Column::right("now"),
    Column::right("change").spare(2),
    Column::right("%"),
    Column::right("limit").spare(1),
];

/// The cells behind a row's name.
fn cells(row: &ComparedRow, change: &Change) -> [String; 6] {
    let Change { figure, before, after, .. } = *change;
    let text = |value: Option<f64>| value.map_or_else(|| "–".into(), |value| figure.text(value));
    let signed = |sign: f64, text: String| if sign > 0.0 { format!("+{text}") } else { text };
    let difference = before.zip(after).map(|(before, after)| after - before).filter(|change| *change != 0.0);
    let percent = match (row.state, change.share()) {
        (State::New, _) => "new".into(),
        (State::Gone, _) => "gone".into(),
        (State::Known, None) if row.error().is_some() => UNFINISHED.into(),
        (State::Known, Some(share)) if share != 0.0 => signed(share, format!("{:.2}", share * 100.0)),
        (State::Known, _) => String::new(),
    };
    let past = if change.passed().next().is_some() { format!(" {PAST}") } else { String::new() };
    [
        figure.name().into(),
        text(before),
        text(after),
        difference.map_or_else(String::new, |change| signed(change, figure.text(change))),
        percent + &past,
        limits(change),
    ]
}

/// Returns true if a figure of a row has a line; a row that is new or gone has one for all of them.
fn is_shown(shown: Shown, row: &ComparedRow, change: &Change) -> bool {
    let is_first = row.changes.first() == Some(change);
    let says_row = (row.state != State::Known || row.error().is_some()) && is_first;
    shown == Shown::All || change.is_change() || change.passed().next().is_some() || says_row
}

fn lines(comparison: &Comparison, shown: Shown) -> Vec<(&ComparedRow, &Change)> {
    let of_row = |row: &'_ ComparedRow| -> Vec<usize> {
        (0..row.changes.len()).filter(|index| is_shown(shown, row, &row.changes[*index])).collect()
    };
    let mut lines = Vec::new();
    for row in &comparison.rows {
        lines.extend(of_row(row).into_iter().map(|index| (row, &row.changes[index])));
    }
    lines
}

/// Faults of rows, whatever they cost, a line each.
fn wrong(comparison: &Comparison) -> impl Iterator<Item = String> {
    let now = comparison.rows.iter().filter(|row| row.state != State::Gone);
    now.filter_map(|row| Some(format!("{}: {}", row.measured.full_name(), row.measured.wrong.as_ref()?)))
}

fn table(comparison: &Comparison, shown: Shown, wide: bool) -> String {
    let columns = [&[Column::left("row")][..], &CHANGES].concat();
    let mut text = super::unfinished_lines(&comparison.errors());
    for lines in lines(comparison, shown).chunk_by(|a, b| a.0.measured.group == b.0.measured.group) {
        let mut sheet = Sheet::new(&columns);
        for (row, change) in lines {
            let Measured { name, .. } = &row.measured;
            let is_known = row.state == State::Known || shown == Shown::All;
            let name = if is_known { name.clone() } else { row.measured.detailed_name() };
            sheet.row([name].into_iter().chain(cells(row, change)));
        }
        text += &format!("{}\n{}\n", lines[0].0.measured.group, sheet.table(wide));
    }
    text.extend(wrong(comparison).map(|line| line + "\n"));
    text += &format!("{}\n", comparison.summary());
    // Behind the table's back, which would count what colours it as width.
    let text = text.replace(UNFINISHED, &style(UNFINISHED).red().to_string());
    text.replace(PAST, &style(PAST).red().to_string())
}

/// All lines in one sheet.
fn sheet(lines: &[(&ComparedRow, &Change)]) -> Sheet<'static> {
    let mut sheet = Sheet::new(&[&[Column::left("row")][..], &CHANGES].concat());
    for (row, change) in lines {
        sheet.row([row.measured.full_name()].into_iter().chain(cells(row, change)));
    }
    sheet
}

fn markdown(comparison: &Comparison, shown: Shown) -> String {
    let lines = lines(comparison, shown);
    let table = if lines.is_empty() { String::new() } else { sheet(&lines).markdown() + "\n" };
    let wrong: String = wrong(comparison).map(|line| format!("- {line}\n")).collect();
    let wrong = if wrong.is_empty() { wrong } else { wrong + "\n" };
    let errors = super::unfinished_markdown(&comparison.errors());
    format!("{errors}{table}{wrong}{}\n", comparison.summary())
}
