//! Papers' tables: each published figure beside the one measured here.

pub(crate) mod grid;
mod latex;
mod markdown;
mod shape;
pub(crate) mod tally;

use crate::claim::{self, Claim};
use crate::paper::FigureKind;
use crate::reproduce::{PaperRow, Reproduction};
use output::{
    Column, NARROW, OutputError, PaperFormat, Sheet, csv_line, figure, grouped, json_item, significant,
    wrapped,
};
use tally::Tally;

/// Layout of the tables for a reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// A line for each cell instead of the paper's rows and columns.
    pub cells: bool,
    /// Lines as long as a row needs, instead of 80 columns at most.
    pub wide: bool,
}

/// Writes papers one after the other: tables for a reader, one array, or lines below one header.
#[derive(Debug)]
pub struct PaperWriter {
    format: PaperFormat,
    layout: Layout,
    is_first: bool,
}

impl PaperWriter {
    /// A writer of no paper yet.
    #[must_use]
    pub fn new(format: PaperFormat, layout: Layout) -> PaperWriter {
        PaperWriter { format, layout, is_first: true }
    }

    /// A paper, with what goes before it.
    ///
    /// # Errors
    /// None in practice: rows can always be written.
    pub fn paper(&mut self, outcome: &Reproduction) -> Result<String, OutputError> {
        let above = if self.is_first { "" } else { "\n" };
        let mut text = match self.format {
            PaperFormat::Table => format!("{above}{}", tables(outcome, self.layout)),
            PaperFormat::Latex => format!("{above}{}", latex::tables(outcome)),
            PaperFormat::Markdown => format!("{above}{}", markdown::tables(outcome)),
            PaperFormat::Json | PaperFormat::Csv => String::new(),
        };
        for record in outcome.records() {
            match self.format {
                PaperFormat::Json => text += &json_item(&record, self.is_first)?,
                PaperFormat::Csv => text += &csv_line(record.row, self.is_first)?,
                _ => break,
            }
            self.is_first = false;
        }
        self.is_first = false;
        Ok(text)
    }

    /// The text behind the last paper.
    #[must_use]
    pub fn end(&self) -> String {
        match self.format {
            PaperFormat::Json if self.is_first => "[]\n".into(),
            PaperFormat::Json => "\n]\n".into(),
            _ => String::new(),
        }
    }
}

/// The remarks on a paper's cells, numbered as they come.
#[derive(Default)]
struct Notes<'a>(Vec<&'a str>);

impl<'a> Notes<'a> {
    fn numbers(&mut self, row: &'a PaperRow) -> Vec<usize> {
        let number = |note: &'a String| {
            let known = self.0.iter().position(|known| known == note);
            1 + known.unwrap_or_else(|| {
                self.0.push(note);
                self.0.len() - 1
            })
        };
        row.notes.iter().map(number).collect()
    }
}

/// Sentence of an interrupted paper.
pub(crate) const INCOMPLETE: &str =
    "Incomplete. The run was interrupted: figures that were not measured are dashes.";

fn tables(outcome: &Reproduction, layout: Layout) -> String {
    let mut text = paragraph(&outcome.citation(), layout.wide);
    if outcome.is_interrupted {
        text += &paragraph(INCOMPLETE, layout.wide);
    }
    let mut notes = Notes::default();
    for (name, title) in &outcome.tables {
        text += "\n";
        text += &paragraph(&format!("{name}: {title}"), layout.wide);
        let rows: Vec<&PaperRow> = outcome.rows.iter().filter(|row| row.table == *name).collect();
        text += &match layout.cells {
            true => list(&rows, &mut notes, layout.wide),
            false => shape::table(&rows, &mut notes, layout.wide),
        };
    }
    text += &legend(&outcome.rows, layout.wide);
    for (index, note) in notes.0.iter().enumerate() {
        text += if index == 0 { "\n" } else { "" };
        text += &paragraph(&format!("[{}] {note}", index + 1), layout.wide);
    }
    text += &claims(&outcome.claims, layout.wide);
    text += "\n";
    text += &paragraph(&Tally::of(&outcome.rows).sentence(), layout.wide);
    match outcome.claims.is_empty() {
        true => text,
        false => text + &paragraph(&claim::summary(&outcome.claims), layout.wide),
    }
}

/// The claims of the paper's text, each with its verdict, its place and the reason.
fn claims(claims: &[Claim], wide: bool) -> String {
    let one = |claim: &Claim| {
        let Claim { text, at, because, .. } = claim;
        format!("\n{}", paragraph(&format!("{}: {text} ({at}.) {because}", claim.finding()), wide))
    };
    let all: String = claims.iter().map(one).collect();
    if all.is_empty() { all } else { format!("\nClaims of the text, each with its verdict:\n{all}") }
}

/// A text in lines of 80 letters, or in one if they may be `wide`.
fn paragraph(text: &str, wide: bool) -> String {
    let most = if wide { usize::MAX } else { NARROW };
    wrapped(text, most).join("\n") + "\n"
}

/// The mark behind a figure of ours that is not simply measured.
pub(crate) fn mark(kind: Option<FigureKind>) -> &'static str {
    match kind {
        None | Some(FigureKind::Measured) => "",
        Some(FigureKind::Modelled) => "*",
        Some(FigureKind::Derived) => "†",
        Some(FigureKind::Quoted) => "‡",
        Some(FigureKind::Native) => "§",
    }
}

/// The marks that stand behind some figure, each with its meaning.
pub(crate) fn meanings<'a>(
    rows: impl IntoIterator<Item = &'a PaperRow>,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    let kinds: Vec<FigureKind> = rows.into_iter().filter_map(|row| row.kind).collect();
    let meanings = [
        (
            FigureKind::Modelled,
            "a count times a data sheet's current, or through a radio's or an instrument's model",
        ),
        (FigureKind::Derived, "the paper's own counts, or the data sheet alone; reproduces nothing"),
        (
            FigureKind::Quoted,
            "a constant of a data sheet or of the paper, or measured once as its note says; reproduces nothing",
        ),
        (FigureKind::Native, "measured natively on this machine, which varies; reproduces nothing"),
    ];
    let present = meanings.into_iter().filter(move |(kind, _)| kinds.contains(kind));
    present.map(|(kind, meaning)| (mark(Some(kind)), meaning))
}

fn legend(rows: &[PaperRow], wide: bool) -> String {
    let line = |(mark, meaning)| paragraph(&format!("{mark} {meaning}"), wide);
    let lines: String = meanings(rows).map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// A published figure with all its digits; a dash where there is none.
pub(crate) fn exact(value: Option<f64>) -> String {
    let Some(value) = value else { return "–".into() };
    let text = value.abs().to_string();
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}{rest}", whole.parse().map_or_else(|_| whole.to_owned(), grouped))
}

/// Heading of the figures that the paper's own code gives on our models.
const CORROBORATION: &str = "its code";
const CORROBORATION_COLUMN: usize = 4;

const COLUMNS: [Column<'static>; 8] = [
    Column::left("row"),
    Column::left("column"),
    Column::left("unit"),
    Column::right("published"),
    Column::right(CORROBORATION),
    Column::right("ours"),
    Column::right("ratio"),
    Column::right("note"),
];

/// Ours with its mark.
fn ours(row: &PaperRow) -> String {
    let text = figure(row.measured, &row.unit);
    if row.measured.is_none() { text } else { text + mark(row.kind) }
}

pub(crate) fn ratio(row: &PaperRow) -> String {
    row.ratio.map_or("–".into(), |ratio| match ratio {
        10.0.. => significant(ratio, 3),
        0.1.. => format!("{ratio:.2}"),
        _ => significant(ratio, 2),
    })
}

/// A line for each cell; the figures of the paper's own code where a cell has one.
fn list<'a>(rows: &[&'a PaperRow], notes: &mut Notes<'a>, wide: bool) -> String {
    let is_corroborated = rows.iter().any(|row| row.corroboration.is_some());
    let is_shown = |index: &usize| is_corroborated || *index != CORROBORATION_COLUMN;
    let shown: Vec<usize> = (0..COLUMNS.len()).filter(is_shown).collect();
    let mut sheet = Sheet::new(&shown.iter().map(|&index| COLUMNS[index]).collect::<Vec<_>>());
    let mut last = "";
    for row in rows {
        let repeated = std::mem::replace(&mut last, &row.row) == row.row;
        let numbers: Vec<String> = notes.numbers(row).iter().map(usize::to_string).collect();
        let cells = [
            if repeated { "" } else { row.row.as_str() }.to_owned(),
            row.column.clone(),
            row.unit.clone(),
            exact(row.published),
            exact(row.corroboration),
            ours(row),
            ratio(row),
            numbers.join(" "),
        ];
        sheet.row(shown.iter().map(|&index| cells[index].clone()));
    }
    sheet.table(wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_figures_keep_their_digits() {
        assert_eq!(exact(None), "–");
        assert_eq!(exact(Some(863.081_077)), "863.081077");
        assert_eq!(exact(Some(2_496.780_385)), "2,496.780385");
        assert_eq!(exact(Some(124_942_312.0)), "124,942,312");
        assert_eq!(exact(Some(0.039)), "0.039");
        assert_eq!(exact(Some(-1_234.5)), "-1,234.5");
        assert_eq!(exact(Some(0.0)), "0");
    }
}
