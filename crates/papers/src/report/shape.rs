//! A table in the paper's own rows and columns, the published figure above ours.

use super::{CORROBORATION, Notes, exact, ours, ratio};
use crate::reproduce::PaperRow;
use output::{NARROW, Sheet, wrapped};

/// Width of a row's heading, in letters.
const HEADING_MAX: usize = 24;
/// Letters between two columns of a sheet, and at its edges.
const GAP: usize = 3;
const EDGES: usize = 4;

/// A line of a row: its name, and the text of each of its cells.
type Line = (&'static str, fn(&PaperRow) -> String);

const LINES: [Line; 4] = [
    ("published", |row| exact(row.published)),
    (CORROBORATION, |row| exact(row.corroboration)),
    ("ours", ours),
    ("ratio", ratio),
];

/// The rows of one table. Columns that do not fit in 80 letters follow in a table of their own
/// below, unless it may be `wide`.
pub(super) fn table<'a>(cells: &[&'a PaperRow], notes: &mut Notes<'a>, wide: bool) -> String {
    let rows: Vec<&[&PaperRow]> = cells.chunk_by(|a, b| a.row == b.row).collect();
    let Some(first) = rows.first() else { return String::new() };
    let headings: Vec<Vec<String>> = rows.iter().map(|row| wrapped(&row[0].row, HEADING_MAX)).collect();
    let heading = headings.iter().flatten().map(|line| line.chars().count()).max().unwrap_or(0);
    let heading = heading.max("row".len());
    let numbers: Vec<String> = rows.iter().map(|row| note_numbers(row, notes)).collect();
    let note = numbers.iter().map(String::len).max().unwrap_or(0).max("note".len());
    let fixed = EDGES + heading + GAP + "published".len() + GAP + note;
    let columns: Vec<Column> = (0..first.len()).map(|index| Column::of(&rows, index)).collect();
    let room = if wide { usize::MAX } else { NARROW.saturating_sub(fixed) };
    let mut text = String::new();
    for (index, columns) in fitting(&columns, room).into_iter().enumerate() {
        if index > 0 {
            text += &format!("{}, continued\n", first[0].table);
        }
        text += &part(&rows, &headings, &numbers, columns);
    }
    text
}

/// The cells of a paper's column.
struct Column {
    index: usize,
    /// Its name and unit, in lines.
    header: String,
    width: usize,
}

impl Column {
    fn of(rows: &[&[&PaperRow]], index: usize) -> Column {
        let cell = rows[0][index];
        let unit = if cell.unit == "1" { String::new() } else { format!(", {}", cell.unit) };
        let cells = rows.iter().filter_map(|row| row.get(index));
        let figures = cells.flat_map(|cell| LINES.iter().map(|(_, text)| text(cell).chars().count()));
        let figures = figures.max().unwrap_or(0);
        let header = wrapped(&format!("{}{unit}", cell.column), figures.max(12));
        let width = header.iter().map(|line| line.chars().count()).max().unwrap_or(0).max(figures);
        Column { index, header: header.join("\n"), width }
    }
}

/// The columns in groups of which each fits; a column that never fits is a group.
fn fitting(columns: &[Column], room: usize) -> Vec<&[Column]> {
    let (mut groups, mut begin, mut used) = (Vec::new(), 0, 0);
    for (index, column) in columns.iter().enumerate() {
        used += column.width + GAP;
        if used > room && index > begin {
            groups.push(&columns[begin..index]);
            (begin, used) = (index, column.width + GAP);
        }
    }
    groups.push(&columns[begin..]);
    groups
}

fn part(rows: &[&[&PaperRow]], headings: &[Vec<String>], numbers: &[String], columns: &[Column]) -> String {
    let mut sheet = vec![output::Column::left("row"), output::Column::left("")];
    sheet.extend(columns.iter().map(|column| output::Column::right(&column.header)));
    sheet.push(output::Column::right("note"));
    let mut sheet = Sheet::new(&sheet);
    for ((row, heading), numbers) in rows.iter().zip(headings).zip(numbers) {
        let cells: Vec<&PaperRow> =
            columns.iter().filter_map(|column| row.get(column.index).copied()).collect();
        let has = |line: usize| match line {
            0 => cells.iter().any(|cell| cell.published.is_some()),
            1 => cells.iter().any(|cell| cell.corroboration.is_some()),
            2 => true,
            _ => cells.iter().any(|cell| cell.ratio.is_some()),
        };
        let lines: Vec<&Line> = (0..LINES.len()).filter(|line| has(*line)).map(|line| &LINES[line]).collect();
        for line in 0..lines.len().max(heading.len()) {
            let mut texts = vec![heading.get(line).cloned().unwrap_or_default()];
            match lines.get(line) {
                Some((name, text)) => {
                    texts.push((*name).to_owned());
                    texts.extend(cells.iter().map(|cell| text(cell)));
                }
                None => texts.extend(vec![String::new(); 1 + cells.len()]),
            }
            texts.push(if line == 0 { numbers.clone() } else { String::new() });
            sheet.row(texts);
        }
    }
    sheet.table(true)
}

/// The numbers of all notes on a row's cells.
fn note_numbers<'a>(row: &[&'a PaperRow], notes: &mut Notes<'a>) -> String {
    let mut numbers: Vec<usize> = row.iter().flat_map(|cell| notes.numbers(cell)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::paper::FigureKind;

    pub(in super::super) fn cell(
        row: &str,
        column: &str,
        published: Option<f64>,
        measured: Option<f64>,
    ) -> PaperRow {
        PaperRow {
            paper: "paper".into(),
            table: "Table 1".into(),
            row: row.into(),
            column: column.into(),
            unit: "cycles".into(),
            published,
            corroboration: None,
            corroboration_source: None,
            measured,
            ratio: measured.zip(published).map(|(measured, published)| measured / published),
            kind: measured.map(|_| FigureKind::Measured),
            accuracy: None,
            seed: None,
            note: String::new(),
            notes: Vec::new(),
            is_cost: true,
            compares: true,
            compiler: None,
            version: String::new(),
            commit: String::new(),
        }
    }

    fn drawn(columns: usize, wide: bool) -> String {
        let cells: Vec<PaperRow> = ["Key generation of a signature scheme", "Signing"]
            .iter()
            .flat_map(|row| {
                (0..columns).map(move |column| {
                    cell(row, &format!("variant {column}"), Some(346_290_644.0), Some(38_007_851.0))
                })
            })
            .collect();
        table(&cells.iter().collect::<Vec<_>>(), &mut Notes::default(), wide)
    }

    #[test]
    fn wide_tables_continue_below_and_break_no_number() {
        let text = drawn(7, false);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(NARROW), "{text}");
        assert_eq!(text.matches("346,290,644").count(), 14, "{text}");
        let parts = text.matches("Key generation of a").count();
        assert!(parts > 1, "{text}");
        assert_eq!(text.matches("Table 1, continued").count(), parts - 1, "{text}");
        let text = drawn(7, true);
        assert_eq!((text.matches("Key generation of a").count(), text.matches("continued").count()), (1, 0));
    }

    /// Headings may be shorter than the column's own name.
    #[test]
    fn table_is_never_wider_than_its_room() {
        for figure in (0..9).map(|digits| 10f64.powi(digits)) {
            for row in ["M", "M0", "row 0", "a longer heading"] {
                let column = |index: usize| cell(row, &format!("column {index}"), Some(figure), Some(1.0));
                let cells: Vec<PaperRow> = (0..9).map(column).collect();
                let text = table(&cells.iter().collect::<Vec<_>>(), &mut Notes::default(), false);
                let widest = text.lines().map(|line| line.chars().count()).max();
                assert!(widest <= Some(NARROW), "{text}");
            }
        }
    }

    #[test]
    fn figure_of_the_papers_own_code_has_a_line() {
        let own =
            PaperRow { corroboration: Some(10_996.0), ..cell("one", "time", Some(11_100.0), Some(9_705.0)) };
        let cells = [own, cell("two", "time", Some(1.0), Some(1.0))];
        let text = table(&cells.iter().collect::<Vec<_>>(), &mut Notes::default(), false);
        let lines: Vec<&str> = text.lines().filter(|line| line.contains(CORROBORATION)).collect();
        assert!(matches!(lines[..], [line] if line.contains("10,996")), "{text}");
        let list = super::super::list(&cells.iter().collect::<Vec<_>>(), &mut Notes::default(), false);
        assert!(list.contains(CORROBORATION) && list.contains("10,996"), "{list}");
        let list = super::super::list(&[&cells[1]], &mut Notes::default(), false);
        assert!(!list.contains(CORROBORATION), "{list}");
    }

    #[test]
    fn a_row_without_published_figures_has_one_line() {
        let cells = [cell("none", "time", None, Some(5.0))];
        let text = table(&cells.iter().collect::<Vec<_>>(), &mut Notes::default(), false);
        assert!(!text.contains("published") && !text.contains("ratio") && text.contains("ours"), "{text}");
    }
}
