//! Rows as a report of JUnit's: a test each, which fails where the row is wrong or past a limit.

use crate::LabError;
use crate::compare::{ComparedRow, Comparison, Measured, State};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;

/// The report of a comparison; rows that are gone are no tests of it.
pub(super) fn compared(comparison: &Comparison, command: &str) -> Result<String, LabError> {
    let now = comparison.rows.iter().filter(|row| row.state != State::Gone);
    report(command, now.map(|row: &ComparedRow| (&row.measured, row.failures())), None)
}

/// The report of rows by themselves.
///
/// # Errors
/// None in practice: rows can always be written.
pub fn measured(rows: &[Measured], command: &str) -> Result<String, LabError> {
    unfinished(rows, command, None)
}

/// The report of rows by themselves, with one more test that is an error where the run did not come
/// to its end.
pub(super) fn unfinished(
    rows: &[Measured],
    command: &str,
    error: Option<&LabError>,
) -> Result<String, LabError> {
    report(command, rows.iter().map(|row| (row, row.wrong.iter().cloned().collect())), error)
}

/// The report of one test, which fails for these reasons; with an `error` it did not come to its
/// end.
pub(super) fn test(
    command: &str,
    name: &str,
    failures: &[String],
    error: Option<String>,
) -> Result<String, LabError> {
    let mut test = TestCase::new(name, status(failures, error.as_deref()));
    test.set_classname(format!("wattseal.{command}"));
    let mut suite = TestSuite::new(command);
    suite.add_test_case(test);
    let mut report = Report::new(format!("wattseal {command}"));
    report.add_test_suites([suite]);
    written(&report)
}

/// An error where the test did not come to its end, a failure where it failed at its end.
fn status(failures: &[String], error: Option<&str>) -> TestCaseStatus {
    let kind = if error.is_some() { NonSuccessKind::Error } else { NonSuccessKind::Failure };
    let said: Vec<&str> = error.into_iter().chain(failures.iter().map(String::as_str)).collect();
    if said.is_empty() {
        return TestCaseStatus::success();
    }
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(said.join("; "));
    status
}

fn written(report: &Report) -> Result<String, LabError> {
    report.to_string().map_err(|error| LabError::Usage(format!("cannot be written as JUnit's XML: {error}")))
}

fn report<'a>(
    command: &str,
    tests: impl Iterator<Item = (&'a Measured, Vec<String>)>,
    error: Option<&LabError>,
) -> Result<String, LabError> {
    let mut report = Report::new(format!("wattseal {command}"));
    let mut suites: Vec<TestSuite> = Vec::new();
    for (row, failures) in tests {
        let mut test = TestCase::new(row.full_name(), status(&failures, row.error().as_deref()));
        test.set_classname(format!("wattseal.{command}"));
        // The seconds of the firmware, not those of its model.
        if let Some(time) = row.time_s.and_then(|time_s| Duration::try_from_secs_f64(time_s).ok()) {
            test.set_time(time);
        }
        let figures = row.figures.iter().map(|(figure, value)| format!("{} {value}", figure.name()));
        test.set_system_out(figures.collect::<Vec<_>>().join("\n"));
        if let Some(suite) = suites.iter_mut().find(|suite| suite.name.as_str() == row.group) {
            suite.add_test_case(test);
        } else {
            let mut suite = TestSuite::new(row.group.as_str());
            suite.add_test_case(test);
            suites.push(suite);
        }
    }
    if let Some(error) = error {
        let mut test = TestCase::new("all rows", status(&[], Some(&error.to_string())));
        test.set_classname(format!("wattseal.{command}"));
        let mut suite = TestSuite::new(command);
        suite.add_test_case(test);
        suites.push(suite);
    }
    report.add_test_suites(suites);
    written(&report)
}
