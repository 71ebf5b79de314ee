//! Rows as a table for a person, JSON for a program, CSV for a spreadsheet, Markdown, JUnit's XML,
//! SARIF and dashboards' JSON for a server, LaTeX for a paper.

mod arrangement;
mod called;
mod comparison;
pub mod constant_time;
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
pub use called::called;
pub use comparison::{ChangeRow, Shown, comparison};
pub use junit::measured as junit;
pub use leaks::{CheckedRow, leaks};
pub use listing::listing;
pub use measured::measure;
pub use pages::{MeasuredRun, bench_page, call_page, measured_page};
pub use pair::Pair;
pub use picture::picture;

use crate::LabError;
use output::{ReportFormat, grouped, scaled};

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

/// A time as a person says it: from a minute on in minutes, hours, days or years of 365.25 days,
/// below as [`scaled`].
#[must_use]
pub fn duration(seconds: f64) -> String {
    const UNITS: [(f64, &str); 4] =
        [(31_557_600.0, "years"), (86_400.0, "days"), (3600.0, "h"), (60.0, "min")];
    match UNITS.into_iter().find(|(unit, _)| seconds >= 2.0 * unit || (seconds >= *unit && *unit < 86_400.0))
    {
        Some((unit, name)) if seconds / unit < 100.0 => format!("{} {name}", significant(seconds / unit, 3)),
        Some((unit, name)) => format!("{:.0} {name}", seconds / unit),
        None => scaled(seconds, "s"),
    }
}

/// A figure with as many digits as its unit is worth; a dash where there is none.
#[must_use]
pub fn figure(value: Option<f64>, unit: &str) -> String {
    match value {
        None => "–".into(),
        Some(value) if matches!(unit, "cycles" | "B" | "bit") && value.fract().abs() < 0.05 => {
            grouped(value.round() as i64)
        }
        Some(value) if value.abs() >= 10_000.0 || (value.abs() >= 100.0 && value.fract() == 0.0) => {
            grouped(value.round() as i64)
        }
        Some(value) if value.abs() >= 100.0 => {
            let tenths = (value * 10.0).round() as i64;
            format!("{}.{}", grouped(tenths / 10), tenths.unsigned_abs() % 10)
        }
        Some(value) => significant(value, 4),
    }
}

/// Writes a number below 100 to `digits` significant digits, without trailing zeros.
#[must_use]
pub fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let decimals = (digits - 1 - value.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_that_say_nothing_are_left_out() {
        assert_eq!(significant(7.101, 4), "7.101");
        assert_eq!(significant(0.01437812, 4), "0.01438");
        assert_eq!(significant(0.44, 4), "0.44");
        assert_eq!(significant(40.0, 4), "40");
        assert_eq!(significant(0.0, 4), "0");
        assert_eq!(significant(0.0057, 2), "0.0057");
    }

    #[test]
    fn figures_have_the_digits_that_their_unit_is_worth() {
        let cell = |value, unit| figure(Some(value), unit);
        assert_eq!(figure(None, "cycles"), "–");
        assert_eq!(cell(42_105_985.7, "cycles"), "42,105,986");
        assert_eq!(cell(1_797.0, "cycles"), "1,797");
        assert_eq!(cell(1_796.97, "cycles"), "1,797.0");
        assert_eq!(cell(1_578.5, "µs"), "1,578.5");
        assert_eq!(cell(486.47, "µs"), "486.5");
        assert_eq!(cell(0.0, "cycles"), "0");
    }
}
