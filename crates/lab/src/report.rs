//! Rows as a table for a person, JSON for a program, CSV for a spreadsheet, Markdown and JUnit's
//! XML for a server.

mod board;
mod called;
mod comparison;
pub mod constant_time;
mod junit;
mod leaks;
mod listing;
mod measured;
pub mod stream;

pub use board::board;
pub use called::called;
pub use comparison::{ChangeRow, Shown, comparison};
pub use junit::measured as junit;
pub use leaks::{CheckedRow, leaks};
pub use listing::listing;
pub use measured::measure;

/// Reasons of runs that did not end as they should, a line each, for the top of a table.
fn unfinished_lines(errors: &[(String, String)]) -> String {
    errors.iter().map(|(name, why)| format!("{name} did not end as it should: {why}\n")).collect()
}

/// The same for the top of a page in Markdown, with a line between it and what follows.
fn unfinished_markdown(errors: &[(String, String)]) -> String {
    let text = unfinished_lines(errors);
    text.lines().map(|line| format!("**{}**\n\n", output::markdown_text(line))).collect()
}
