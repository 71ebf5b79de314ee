//! Rows under columns, as a table for a person or as Markdown.

use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::{CellAlignment, ContentArrangement, Table};

/// What a table is wide without `--wide`: what every terminal and every mail has.
pub const NARROW: usize = 80;

/// A column of a sheet.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    header: &'a str,
    right: bool,
    /// The column with the highest one goes first where a table is too wide; those with 0 stay.
    spare: u8,
}

impl<'a> Column<'a> {
    /// A column of words.
    #[must_use]
    pub const fn left(header: &'a str) -> Column<'a> {
        Column { header, right: false, spare: 0 }
    }

    /// A column of figures.
    #[must_use]
    pub const fn right(header: &'a str) -> Column<'a> {
        Column { header, right: true, spare: 0 }
    }

    /// The same, left out where a table is too wide: the one with the highest number first.
    #[must_use]
    pub const fn spare(self, order: u8) -> Column<'a> {
        Column { spare: order, ..self }
    }
}

/// Rows under columns.
#[derive(Clone, Debug)]
pub struct Sheet<'a> {
    columns: Vec<Column<'a>>,
    rows: Vec<Vec<String>>,
}

impl<'a> Sheet<'a> {
    /// Without rows.
    #[must_use]
    pub fn new(columns: &[Column<'a>]) -> Sheet<'a> {
        Sheet { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// One more row, with a cell for each column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// A table: of all columns where it may be `wide`, else of those that fit in [`NARROW`]; what is still too long stands in several
    /// lines.
    #[must_use]
    pub fn table(&self, wide: bool) -> String {
        let mut shown: Vec<usize> = (0..self.columns.len()).collect();
        loop {
            let mut table = self.drawn(&shown);
            let width = table.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            if wide || width <= NARROW {
                return format!("{table}\n");
            }
            let spare = |column: &usize| self.columns[*column].spare;
            match shown.iter().copied().filter(|column| spare(column) > 0).max_by_key(spare) {
                Some(column) => shown.retain(|other| *other != column),
                None => {
                    table.set_content_arrangement(ContentArrangement::Dynamic);
                    table.set_width(NARROW as u16);
                    return format!("{table}\n");
                }
            }
        }
    }

    fn drawn(&self, shown: &[usize]) -> Table {
        let mut table = Table::new();
        table.load_preset(UTF8_BORDERS_ONLY).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(shown.iter().map(|column| self.columns[*column].header));
        for (index, column) in table.column_iter_mut().enumerate() {
            if self.columns[shown[index]].right {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        for row in &self.rows {
            table.add_row(shown.iter().map(|column| row.get(*column).map_or("", String::as_str)));
        }
        table
    }

    /// A table in Markdown, of all columns.
    #[must_use]
    pub fn markdown(&self) -> String {
        let rules = self.columns.iter().map(|column| if column.right { "---:" } else { "---" });
        let mut text = markdown_row(self.columns.iter().map(|column| column.header));
        text += &format!("| {} |\n", rules.collect::<Vec<_>>().join(" | "));
        text.extend(self.rows.iter().map(|row| markdown_row(row.iter().map(String::as_str))));
        text
    }
}

/// A row of a table in Markdown.
pub fn markdown_row<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    // What a cell may not hold: the column's end, the row's end, and what HTML begins with.
    let cells = cells.map(|cell| {
        cell.replace('\\', "\\\\")
            .replace('|', "\\|")
            .replace('*', "\\*")
            .replace('<', "&lt;")
            .replace('\n', "<br>")
    });
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(name: &str) -> Sheet<'static> {
        let columns = [
            Column::left("function"),
            Column::right("cycles"),
            Column::right("kept long").spare(1),
            Column::right("first to go").spare(2),
        ];
        let mut sheet = Sheet::new(&columns);
        sheet.row([name, "1,234", "5", "6"].map(str::to_owned));
        sheet
    }

    fn width(text: &str) -> usize {
        text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
    }

    #[test]
    fn a_table_leaves_out_columns_until_it_fits() {
        let short = sheet("f").table(false);
        assert!(short.contains("first to go"), "{short}");
        let long = sheet(&"f".repeat(50)).table(false);
        assert!(!long.contains("first to go") && long.contains("kept long"), "{long}");
        let longer = sheet(&"f ".repeat(60)).table(false);
        assert!(longer.contains("1,234") && !longer.contains("kept long"), "{longer}");
        assert_eq!(longer.matches('f').count(), 60 + "function".matches('f').count(), "{longer}");
        assert!([&short, &long, &longer].iter().all(|table| width(table) <= NARROW), "{longer}");
        assert!(width(&sheet(&"f".repeat(80)).table(true)) > NARROW);
    }

    #[test]
    fn markdown_holds_what_would_end_a_cell() {
        let text = sheet("operator|<T>\nnext").markdown();
        assert_eq!(
            text,
            "| function | cycles | kept long | first to go |\n| --- | ---: | ---: | ---: |\n\
             | operator\\|&lt;T><br>next | 1,234 | 5 | 6 |\n"
        );
    }
}
