//! Tables in Markdown, as GitHub has them.

use super::grid::{Figure, Grid, Head};
use super::tally::Tally;
use super::{INCOMPLETE, meanings};
use crate::claim;
use crate::reproduce::Reproduction;
use output::{Column, Sheet, markdown_text};

/// A paper's tables, each with its notes.
pub(super) fn tables(outcome: &Reproduction) -> String {
    let mut text = format!("# {}\n\n{}\n", line(&outcome.title), line(&outcome.published_in));
    if outcome.is_interrupted {
        text += &format!("\n**{INCOMPLETE}**\n");
    }
    for grid in Grid::all(outcome) {
        let title = line(&noted(&format!("{}: {}", grid.name, grid.title), &grid.on_all));
        text += &format!("\n## {title}\n\n{}", table(&grid));
        for (index, note) in grid.notes.iter().enumerate() {
            text += if index == 0 { "\n" } else { "" };
            text += &format!("{}. {}\n", index + 1, line(note));
        }
    }
    for (mark, meaning) in meanings(&outcome.rows) {
        text += &format!("\n{} {meaning}\n", line(mark));
    }
    text += &format!("\n{}\n", Tally::of(&outcome.rows).sentence());
    if outcome.claims.is_empty() {
        return text;
    }
    text += &format!("\n## Claims\n\n{}\n\n", claim::summary(&outcome.claims));
    for claim in &outcome.claims {
        let [sentence, at, because] = [&claim.text, &claim.at, &claim.because].map(|part| line(part));
        text += &format!("- {sentence} ({at}) **{}**: {because}\n", claim.finding());
    }
    text
}

/// A text outside of a table's cells.
fn line(text: &str) -> String {
    markdown_text(text).replace('_', "\\_").replace('[', "\\[").replace('`', "\\`")
}

/// A text of a table's cell, whose own escapes the sheet makes: what it has none for, as entities.
fn in_cell(text: &str) -> String {
    text.replace('[', "&#91;").replace('_', "&#95;").replace('`', "&#96;")
}

/// Numbers of notes behind a text; papers have brackets for their references.
fn noted(text: &str, notes: &[usize]) -> String {
    let numbers: Vec<String> = notes.iter().map(usize::to_string).collect();
    match notes.len() {
        0 => text.to_owned(),
        1 => format!("{text} (note {})", numbers[0]),
        _ => format!("{text} (notes {})", numbers.join(", ")),
    }
}

fn table(grid: &Grid) -> String {
    let figures =
        || grid.columns.iter().flat_map(|head| head.figures.iter().map(move |figure| (head, *figure)));
    let header = |(head, figure): (&Head, Figure)| match head.figures.first() == Some(&figure) {
        true => format!("{}: {}", noted(&head.text(), &head.notes), figure.name()),
        false => figure.name().to_owned(),
    };
    let headers: Vec<String> = figures().map(header).map(|text| in_cell(&text)).collect();
    let mut columns = vec![Column::left("row")];
    columns.extend(headers.iter().map(|header| Column::right(header)));
    let mut sheet = Sheet::new(&columns);
    for row in &grid.rows {
        let mut texts = vec![noted(row.name, &row.notes)];
        for (head, cell) in grid.columns.iter().zip(&row.cells) {
            texts.extend(head.figures.iter().map(|figure| figure.text(cell.row)));
            if let Some(last) = texts.last_mut() {
                *last = noted(last, &cell.notes);
            }
        }
        sheet.row(texts.iter().map(|text| in_cell(text)));
    }
    sheet.markdown()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::shape::tests::cell;

    #[test]
    fn a_table_has_published_and_ours_side_by_side() {
        let mut cells = [cell("a|b [4]_`", "x", Some(8_000.0), Some(7_288.0)), cell("c", "x", None, None)];
        cells[0].notes = vec!["why".into()];
        let text = table(&Grid::of("Table 1", "", &cells.iter().collect::<Vec<_>>()));
        assert_eq!(
            text,
            "| row | x, cycles: published | ours | ratio |\n| --- | ---: | ---: | ---: |\n\
             | a\\|b &#91;4]&#95;&#96; (note 1) | 8,000 | 7,288 | 0.91 |\n| c | – | – | – |\n"
        );
    }
}
