//! Rows as a table for a person, JSON for a program, CSV for a spreadsheet, Markdown, JUnit's XML,
//! SARIF and dashboards' JSON for a server, LaTeX for a paper.

mod arrangement;
mod board;
mod called;
mod comparison;
pub mod constant_time;
mod faults;
mod history;
mod junit;
mod leaks;
mod listing;
mod measured;
mod pages;
mod pair;
mod parts;
mod picture;
mod sarif;
mod section;
pub mod stream;
mod summary;

pub use arrangement::Arrangement;
pub use board::board;
pub use called::called;
pub use comparison::{ChangeRow, Shown, comparison};
pub use faults::faults;
pub use junit::measured as junit;
pub use leaks::{CheckedRow, leaks};
pub use listing::listing;
pub use measured::measure;
pub use pages::{MeasuredRun, bench_page, call_page, measured_page};
pub use pair::Pair;
pub use picture::{call_picture, picture};

use crate::LabError;
use output::ReportFormat;

/// The error of a format that rows are not written in.
fn not_offered(format: ReportFormat) -> LabError {
    LabError::Usage(format!("--format {} is not for these rows; see --help", format.name()))
}

/// Reasons of runs that did not end as they should, a line each, for the top of a table.
fn unfinished_lines(errors: &[(String, String)]) -> String {
    errors.iter().map(|(name, why)| format!("{name} did not end as it should: {why}\n")).collect()
}

/// The same for the top of a page in Markdown, with a line between it and what follows.
fn unfinished_markdown(errors: &[(String, String)]) -> String {
    let text = unfinished_lines(errors);
    text.lines().map(|line| format!("**{}**\n\n", output::markdown_text(line))).collect()
}
