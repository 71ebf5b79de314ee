//! Papers' tables: each published figure beside the one measured here.

use crate::reproduce;
use lab::report::{figure, significant};
use output::{Column, Format, OutputError, Sheet, csv, grouped, json};

/// The cells of papers' tables.
///
/// # Errors
/// None in practice: rows can always be written.
pub fn reproduce(
    outcomes: &[reproduce::Reproduction],
    format: Format,
    wide: bool,
) -> Result<String, OutputError> {
    let rows: Vec<&reproduce::PaperRow> = outcomes.iter().flat_map(|outcome| &outcome.rows).collect();
    match format {
        Format::Json => json(&rows),
        Format::Csv => csv(&rows),
        Format::Table => {
            let tables = outcomes.iter().map(|outcome| reproduce_table(outcome, wide));
            Ok(tables.collect::<Vec<_>>().join("\n"))
        }
    }
}

/// A published figure with all its digits; a dash where there is none.
fn exact(value: Option<f64>) -> String {
    let Some(value) = value else { return "–".into() };
    let text = value.abs().to_string();
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}{rest}", whole.parse().map_or_else(|_| whole.to_owned(), grouped))
}

const COLUMNS: [Column<'static>; 7] = [
    Column::left("row"),
    Column::left("column"),
    Column::left("unit"),
    Column::right("published"),
    Column::right("measured"),
    Column::right("ratio"),
    Column::right("note"),
];

fn reproduce_table(outcome: &reproduce::Reproduction, wide: bool) -> String {
    let mut text = format!("{}\n", outcome.title);
    let mut notes: Vec<&str> = Vec::new();
    for (name, title) in &outcome.tables {
        text += &format!("\n{name}: {title}\n");
        let mut sheet = Sheet::new(&COLUMNS);
        let mut last = "";
        for row in outcome.rows.iter().filter(|row| row.table == *name) {
            let repeated = std::mem::replace(&mut last, &row.row) == row.row;
            let mut numbers = Vec::new();
            for note in &row.notes {
                let index = notes.iter().position(|known| known == note).unwrap_or_else(|| {
                    notes.push(note);
                    notes.len() - 1
                });
                numbers.push((index + 1).to_string());
            }
            sheet.row([
                if repeated { "" } else { row.row.as_str() }.to_owned(),
                row.column.clone(),
                row.unit.clone(),
                exact(row.published),
                figure(row.measured, &row.unit),
                row.ratio.map_or("–".into(), |ratio| match ratio {
                    0.1.. => format!("{ratio:.2}"),
                    _ => significant(ratio, 2),
                }),
                numbers.join(" "),
            ]);
        }
        text += &sheet.table(wide);
    }
    for (index, note) in notes.iter().enumerate() {
        text += &format!("\n[{}] {note}", index + 1);
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_figure_keeps_its_digits() {
        assert_eq!(exact(None), "–");
        assert_eq!(exact(Some(863.081_077)), "863.081077");
        assert_eq!(exact(Some(2_496.780_385)), "2,496.780385");
        assert_eq!(exact(Some(124_942_312.0)), "124,942,312");
        assert_eq!(exact(Some(0.039)), "0.039");
        assert_eq!(exact(Some(-1_234.5)), "-1,234.5");
        assert_eq!(exact(Some(0.0)), "0");
    }
}
