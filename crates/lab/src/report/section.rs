//! A table with its title and the lines below it.

use console::style;
use output::{NARROW, ReportFormat, Sheet, wrapped};

/// In place of costs of wrong outputs.
pub(super) const WRONG: &str = "WRONG";

/// A table with its title, which may be empty, and the lines below it.
pub(super) struct Section<'a> {
    pub(super) title: String,
    pub(super) sheet: Sheet<'a>,
    /// Lines, however long they are.
    pub(super) feet: Vec<String>,
}

impl Section<'_> {
    /// Writes it as Markdown or LaTeX, or else as a table.
    pub(super) fn text(&self, format: ReportFormat, wide: bool) -> String {
        let Section { title, sheet, feet } = self;
        match format {
            ReportFormat::Markdown => {
                let title = if title.is_empty() { String::new() } else { format!("**{title}**\n\n") };
                title + &sheet.markdown() + &feet.iter().map(|foot| format!("\n{foot}\n")).collect::<String>()
            }
            ReportFormat::Latex => sheet.latex(title, feet),
            _ => {
                let title = if title.is_empty() { String::new() } else { format!("{title}\n") };
                // Behind the table's back, which would count what colours it as width.
                let table = sheet.table(wide).replace(WRONG, &style(WRONG).red().to_string());
                title + &table + &lines(feet, wide)
            }
        }
    }
}

/// Writes sections one below the other.
pub(super) fn texts(sections: &[Section<'_>], format: ReportFormat, wide: bool) -> String {
    sections.iter().map(|section| section.text(format, wide)).collect::<Vec<_>>().join("\n")
}

/// Lines below a table, broken where they are not to be `wide`.
pub(super) fn lines(feet: &[String], wide: bool) -> String {
    let most = if wide { usize::MAX } else { NARROW };
    feet.iter().flat_map(|foot| wrapped(foot, most)).map(|line| line + "\n").collect()
}
