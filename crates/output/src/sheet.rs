//! Rows under columns, as a table for a person or as Markdown.

use crate::latex::latex_text;
use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::{CellAlignment, ContentArrangement, Table};

/// Width of a table without `--wide`: every terminal and every mail has it.
pub const NARROW: usize = 80;

/// Least length of a name that is shortened, where a table is too wide.
const SHORTEST_NAME: usize = 20;

/// A column of a sheet.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    header: &'a str,
    right: bool,
    /// The column with the highest one goes first where a table is too wide; those with 0 stay.
    spare: u8,
    /// True if its names may lose their middle where a table is too wide.
    name: bool,
    /// True if the header is broken to the width of its cells.
    is_header_broken: bool,
}

impl<'a> Column<'a> {
    /// A column of words.
    #[must_use]
    pub const fn left(header: &'a str) -> Column<'a> {
        Column { header, right: false, spare: 0, name: false, is_header_broken: false }
    }

    /// A column of names, of which beginning and end tell enough.
    #[must_use]
    pub const fn name(header: &'a str) -> Column<'a> {
        Column { header, right: false, spare: 0, name: true, is_header_broken: false }
    }

    /// A column of figures.
    #[must_use]
    pub const fn right(header: &'a str) -> Column<'a> {
        Column { header, right: true, spare: 0, name: false, is_header_broken: false }
    }

    /// The same, left out where a table is too wide: the one with the highest number first.
    #[must_use]
    pub const fn spare(self, order: u8) -> Column<'a> {
        Column { spare: order, ..self }
    }

    /// The same, with a header of several lines where its cells are narrower.
    #[must_use]
    pub const fn with_broken_header(self) -> Column<'a> {
        Column { is_header_broken: true, ..self }
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

    /// The headers, each with whether its column is set to the right.
    pub fn headers(&self) -> impl Iterator<Item = (&'a str, bool)> {
        self.columns.iter().map(|column| (column.header, column.right))
    }

    /// The cells of each row.
    pub fn rows(&self) -> impl Iterator<Item = &[String]> {
        self.rows.iter().map(Vec::as_slice)
    }

    /// A table: of all columns where it may be `wide`, else of those that fit in [`NARROW`], with
    /// what is left out below it. Long names lose their middles before a column goes; what is still
    /// too long stands in several lines.
    #[must_use]
    pub fn table(&self, wide: bool) -> String {
        let mut shown: Vec<usize> = (0..self.columns.len()).collect();
        loop {
            let mut table = self.drawn(&shown, usize::MAX);
            let too_wide = width(&table).saturating_sub(NARROW);
            if wide || too_wide == 0 {
                return format!("{table}\n{}", self.left_out(&shown));
            }
            if let Some(most) = self.shortened(&shown, too_wide) {
                return format!("{}\n{}", self.drawn(&shown, most), self.left_out(&shown));
            }
            let spare = |column: &usize| self.columns[*column].spare;
            match shown.iter().copied().filter(|column| spare(column) > 0).max_by_key(spare) {
                Some(column) => shown.retain(|other| *other != column),
                None => {
                    table.set_content_arrangement(ContentArrangement::Dynamic);
                    table.set_width(NARROW as u16);
                    return format!("{table}\n{}", self.left_out(&shown));
                }
            }
        }
    }

    /// Returns the length of names at which the table is `too_wide` narrower; none where that would
    /// be too short for a name.
    fn shortened(&self, shown: &[usize], too_wide: usize) -> Option<usize> {
        let name = shown.iter().find(|column| self.columns[**column].name)?;
        let longest =
            self.rows.iter().filter_map(|row| row.get(*name)).map(|cell| cell.chars().count()).max()?;
        longest.checked_sub(too_wide).filter(|most| *most >= SHORTEST_NAME)
    }

    /// Returns a remark on columns that are not shown.
    fn left_out(&self, shown: &[usize]) -> String {
        let hidden = (0..self.columns.len()).filter(|column| !shown.contains(column));
        left_out(hidden.map(|column| self.columns[column].header))
    }

    /// Draws these columns, with names of at most `most` letters.
    fn drawn(&self, shown: &[usize], most: usize) -> Table {
        let mut table = Table::new();
        table.load_preset(UTF8_BORDERS_ONLY).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(shown.iter().map(|column| self.header(*column)));
        for (index, column) in table.column_iter_mut().enumerate() {
            if self.columns[shown[index]].right {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        for row in &self.rows {
            let cell = |column: &usize| {
                let text = row.get(*column).map_or("", String::as_str);
                if self.columns[*column].name { shorten(text, most) } else { text.to_owned() }
            };
            table.add_row(shown.iter().map(cell));
        }
        table
    }

    /// Returns the header of a column, in lines.
    fn header(&self, column: usize) -> String {
        let Column { header, is_header_broken, .. } = self.columns[column];
        if !is_header_broken {
            return header.to_owned();
        }
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        wrapped(header, cells.map(|cell| cell.chars().count()).max().unwrap_or(0)).join("\n")
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

    /// A floating table in LaTeX, of all columns, with lines below it.
    #[must_use]
    pub fn latex(&self, title: &str, feet: &[String]) -> String {
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let cells: Vec<String> = cells.map(latex_text).collect();
            format!("{}\\\\\n", cells.join(" & "))
        };
        let alignment: String =
            self.columns.iter().map(|column| if column.right { 'r' } else { 'l' }).collect();
        let mut text = String::from("\\begin{table}[htbp]\n\\centering\n");
        if !title.is_empty() {
            text += &format!("\\caption{{{}}}\n", latex_text(title));
        }
        text += &format!(
            "\\footnotesize\n\\setlength{{\\tabcolsep}}{{3pt}}\n\\begin{{tabular}}{{{alignment}}}\n\\hline\n"
        );
        text += &line(&mut self.columns.iter().map(|column| column.header));
        text += "\\hline\n";
        text.extend(self.rows.iter().map(|row| line(&mut row.iter().map(String::as_str))));
        text += "\\hline\n\\end{tabular}\n";
        text.extend(feet.iter().map(|foot| format!("\n\\raggedright {}\n", latex_text(foot))));
        text + "\\end{table}\n"
    }
}

fn width(table: &Table) -> usize {
    table.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

/// Shortens a name to `most` letters, its middle left out: `ws_aes_g…nd_seal`.
fn shorten(name: &str, most: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= most {
        return name.to_owned();
    }
    let begin = most / 2;
    let end = letters.len() - (most - 1 - begin);
    letters[..begin].iter().chain(['…'].iter()).chain(&letters[end..]).collect()
}

/// Returns the line below a table on columns that are not shown, or nothing where all are.
#[must_use]
pub fn left_out<'a>(headers: impl Iterator<Item = &'a str>) -> String {
    let headers: Vec<&str> = headers.collect();
    if headers.is_empty() { String::new() } else { format!("with --wide, too: {}\n", headers.join(", ")) }
}

/// The lines of a text, each of at most `most` letters, broken between words. A longer word has a
/// line of its own.
#[must_use]
pub fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A text that means nothing else in Markdown, in a cell or outside: without a column's end, a
/// row's end, and what HTML begins with.
#[must_use]
pub fn markdown_text(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('|', "\\|").replace('*', "\\*");
    text.replace('<', "&lt;").replace('\n', "<br>")
}

/// A row of a table in Markdown.
pub fn markdown_row<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let cells = cells.map(markdown_text);
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
        assert!(long.ends_with("\nwith --wide, too: first to go\n") && long.contains("kept long"), "{long}");
        let longer = sheet(&"f ".repeat(60)).table(false);
        let table = longer.split("with --wide").next().expect("a table");
        assert!(table.contains("1,234") && !table.contains("kept long"), "{longer}");
        assert_eq!(table.matches('f').count(), 60 + "function".matches('f').count(), "{longer}");
        assert!(longer.ends_with("\nwith --wide, too: kept long, first to go\n"), "{longer}");
        assert!([&short, &long, &longer].iter().all(|table| width(table) <= NARROW), "{longer}");
        assert!(width(&sheet(&"f".repeat(80)).table(true)) > NARROW);
    }

    #[test]
    fn narrow_table_shortens_names_before_it_drops_columns() {
        let sheet = |length: usize, more: &str| {
            let columns = [Column::name("name"), Column::right("cycles"), Column::right("energy").spare(1)];
            let mut sheet = Sheet::new(&columns);
            let name = format!("begin{}end", "x".repeat(length));
            sheet.row([name, more.to_owned(), "1 J".to_owned()]);
            sheet.table(false)
        };
        let table = sheet(90, "1");
        assert!(table.contains("│ beginx") && table.contains('…') && table.contains("xend"), "{table}");
        assert!(table.contains("1 J") && !table.contains("--wide") && width(&table) == NARROW, "{table}");
        let table = sheet(20, &"9".repeat(45));
        assert!(!table.contains("1 J") && table.ends_with("\nwith --wide, too: energy\n"), "{table}");
        assert_eq!(shorten("abcdefgh", 5), "ab…gh");
        assert_eq!(shorten("abcdefgh", 8), "abcdefgh");
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

    #[test]
    fn latex_has_all_columns_and_holds_what_it_would_read() {
        let text = sheet("a_b & c").latex("5 % less", &["± 2 %".to_owned()]);
        assert!(
            text.contains("\\caption{5 \\% less}\n") && text.contains("\\begin{tabular}{lrrr}\n"),
            "{text}"
        );
        assert!(text.contains("function & cycles & kept long & first to go\\\\\n\\hline\n"), "{text}");
        assert!(text.contains("a\\_b \\& c & 1,234 & 5 & 6\\\\\n"), "{text}");
        assert!(text.ends_with("\n\\raggedright $\\pm$ 2 \\%\n\\end{table}\n"), "{text}");
    }
}
