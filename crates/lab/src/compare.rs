//! Comparison of the rows of `bench`, `measure` or `ct` with those of an earlier run, and their
//! limits.

mod layout;
mod limit;
mod saved;

pub use layout::{BENCH, CALL, CONSTANT_TIME, Layout, MEASURE, Measured};
pub use limit::Limit;
pub use saved::SaveFile;

use crate::LabError;
use output::{figure, grouped, scaled};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Figure of a row that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Figure {
    /// Clock cycles, of several calls their mean.
    Cycles,
    /// Bytes of program memory.
    Flash,
    /// Bytes of static RAM.
    Ram,
    /// Bytes of stack, of several calls the most.
    Stack,
    /// Joules, of several calls their mean.
    Energy,
}

impl Figure {
    /// Its name, as in `wattseal.toml`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Figure::Cycles => "cycles",
            Figure::Flash => "flash",
            Figure::Ram => "RAM",
            Figure::Stack => "stack",
            Figure::Energy => "energy",
        }
    }

    /// A value for a person.
    #[must_use]
    pub fn text(self, value: f64) -> String {
        match self {
            Figure::Cycles => figure(Some(value), "cycles"),
            Figure::Energy => scaled(value, "J"),
            Figure::Flash | Figure::Ram | Figure::Stack => grouped(value.round() as i64),
        }
    }
}

/// A figure now and before, and the limits of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub figure: Figure,
    /// None where the row is new, or its run had not ended as it should.
    pub before: Option<f64>,
    /// None where the row is gone, or its run has not ended as it should.
    pub after: Option<f64>,
    pub limits: Vec<Limit>,
}

impl Change {
    /// By how much it grew, as a share of what it was.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        let (before, after) = (self.before?, self.after?);
        (before != 0.0).then(|| (after - before) / before)
    }

    /// Returns true if both sides have it and differ.
    #[must_use]
    pub fn is_change(&self) -> bool {
        matches!((self.before, self.after), (Some(before), Some(after)) if before != after)
    }

    /// The limits that are passed.
    pub fn passed(&self) -> impl Iterator<Item = &Limit> {
        self.limits.iter().filter(|limit| limit.is_passed(self.before, self.after))
    }
}

/// Presence of a row on the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// On both sides.
    Known,
    /// Only now.
    New,
    /// Only before.
    Gone,
}

/// A row and what became of its figures.
#[derive(Clone, Debug)]
pub struct ComparedRow {
    pub state: State,
    /// The row now; the one before where it is gone.
    pub measured: Measured,
    pub changes: Vec<Change>,
}

impl ComparedRow {
    /// Why its run did not end as it should, where it did not.
    #[must_use]
    pub fn error(&self) -> Option<String> {
        self.measured.error().filter(|_| self.state != State::Gone)
    }

    /// Returns true if it ended as it should, with nothing wrong and within its limits.
    fn passes(&self) -> bool {
        self.error().is_none() && self.failures().is_empty()
    }

    /// Why this row fails: what is wrong with it, and the limits that it passes.
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        let now = (self.state != State::Gone).then_some(&self.measured.wrong);
        now.into_iter().flatten().cloned().chain(self.passed()).collect()
    }

    /// The limits that it passes.
    fn passed(&self) -> impl Iterator<Item = String> {
        self.changes.iter().flat_map(|change| {
            change.passed().map(|limit| limit.passed_text(change.figure, change.before, change.after))
        })
    }
}

/// All rows of both sides, in the order of now, those that are gone at the end.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    pub rows: Vec<ComparedRow>,
}

/// Returns true if two values differ by no more than a sum or a file of theirs may lose.
fn is_rounding(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs()
}

impl Comparison {
    /// Compares what was measured with what was measured before; `limits` says which limits there
    /// are of a row's figure.
    #[must_use]
    pub fn new(
        before: &[Measured],
        after: Vec<Measured>,
        limits: impl Fn(&Measured, Figure) -> Vec<Limit>,
    ) -> Comparison {
        let alike = |one: &Measured, other: &Measured| one.is_same_as(other, before, &after);
        let earlier: Vec<Option<usize>> =
            after.iter().map(|now| before.iter().position(|then| alike(then, now))).collect();
        let mut rows: Vec<ComparedRow> = Vec::new();
        let gone = before.iter().enumerate().filter(|(index, _)| !earlier.contains(&Some(*index)));
        let gone: Vec<ComparedRow> = gone
            .map(|(_, then)| {
                let change = |&(figure, value)| Change {
                    figure,
                    before: Some(value),
                    after: None,
                    limits: Vec::new(),
                };
                ComparedRow {
                    state: State::Gone,
                    measured: then.clone(),
                    changes: then.figures.iter().map(change).collect(),
                }
            })
            .collect();
        for (now, then) in after.into_iter().zip(&earlier) {
            let change = |&(figure, value): &(Figure, f64)| Change {
                figure,
                before: then
                    .filter(|then| before[*then].unfinished().is_none())
                    .and_then(|then| before[then].figure(figure))
                    .map(|then| if is_rounding(then, value) { value } else { then }),
                after: now.unfinished().is_none().then_some(value),
                limits: limits(&now, figure),
            };
            let changes = now.figures.iter().map(change).collect();
            let state = if then.is_some() { State::Known } else { State::New };
            rows.push(ComparedRow { state, changes, measured: now });
        }
        rows.extend(gone);
        Comparison { rows }
    }

    /// Rows now that pass no limit and are not wrong.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.rows.iter().all(ComparedRow::passes)
    }

    /// Summary in a line: how many rows changed, are new, gone, and fail.
    #[must_use]
    pub fn summary(&self) -> String {
        let count = |holds: &dyn Fn(&ComparedRow) -> bool| self.rows.iter().filter(|row| holds(row)).count();
        let known = count(&|row| row.state == State::Known);
        let changed = count(&|row| row.changes.iter().any(Change::is_change));
        let (new, gone) = (count(&|row| row.state == State::New), count(&|row| row.state == State::Gone));
        let failed = count(&|row| !row.failures().is_empty());
        let unfinished = count(&|row| row.error().is_some());
        let mut text = format!("{changed} of {known} rows changed, {new} new, {gone} gone");
        if unfinished > 0 {
            text += &format!(
                "; {unfinished} of runs that did not end as they should, whose figures are not compared"
            );
        }
        if failed > 0 {
            text += &format!("; {failed} past a limit or wrong");
        }
        text
    }

    /// Each run that did not end as it should: what ran, and why.
    #[must_use]
    pub fn errors(&self) -> Vec<(String, String)> {
        let now = self.rows.iter().filter(|row| row.state != State::Gone);
        errors(now.map(|row| &row.measured))
    }

    /// Each limit that is passed, with its row, a line each.
    #[must_use]
    pub fn limit_failures(&self) -> Vec<String> {
        let of_row = |row: &ComparedRow| -> Vec<String> {
            row.passed().map(|failure| format!("{}: {failure}", row.measured.full_name())).collect()
        };
        self.rows.iter().flat_map(of_row).collect()
    }
}

/// Each run of these rows that did not end as it should, once: what ran, and why.
#[must_use]
pub fn errors<'a>(rows: impl IntoIterator<Item = &'a Measured>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for row in rows {
        let error = row.error().map(|error| (row.group.clone(), error));
        found.extend(error.filter(|error| !found.contains(error)));
    }
    found
}

/// The rows of an earlier run, from the file that it saved.
///
/// # Errors
/// [`LabError::File`] for a file that cannot be read. [`LabError::BadFile`] for one that is not
/// this command's JSON.
pub fn read(path: &Path, layout: &'static Layout) -> Result<Vec<Measured>, LabError> {
    let text = std::fs::read_to_string(path).map_err(|error| LabError::File { path: path.into(), error })?;
    let bad = |problem| LabError::BadFile {
        path: path.into(),
        problem: format!("{problem}; --save of wattseal {} writes such a file", layout.command),
    };
    let rows: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| bad(format!("not JSON: {error}")))?;
    let rows = rows.as_array().ok_or_else(|| bad("not an array of rows".into()))?;
    layout.measured(rows).map_err(bad)
}

/// Returns the identities and figures of a command's rows.
///
/// # Errors
/// None in practice: the layout is that of the rows.
pub fn measured<T: Serialize>(rows: &[T], layout: &'static Layout) -> Result<Vec<Measured>, LabError> {
    let rows: Result<Vec<_>, _> = rows.iter().map(serde_json::to_value).collect();
    let rows = rows.map_err(|error| LabError::Usage(format!("cannot be written as JSON: {error}")))?;
    layout.measured(&rows).map_err(LabError::Usage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn call(firmware: &str, name: &str, cycles: u64) -> Value {
        json!({"firmware": firmware, "target": "stm32f407", "kind": "call", "name": name, "inclusive_cycles": cycles,
               "flash_bytes": null, "ram_bytes": null, "stack_bytes": cycles / 10, "energy_j": 1e-9, "time_s": 1e-6})
    }

    fn compared(before: &[Value], after: &[Value]) -> Comparison {
        let [before, after] = [before, after].map(|rows| MEASURE.measured(rows).unwrap());
        Comparison::new(&before, after, |_, _| vec![Limit::Growth(0.01)])
    }

    #[test]
    fn rows_new_and_gone_are_told_from_those_that_changed() {
        let old = [call("a.elf", "f", 1000), call("a.elf", "g", 10), call("a.elf", "same", 7)];
        let new = [call("a.elf", "same", 7), call("a.elf", "f", 1020), call("a.elf", "h", 5)];
        let comparison = compared(&old, &new);
        let states: Vec<_> =
            comparison.rows.iter().map(|row| (row.measured.name.as_str(), row.state)).collect();
        let expected = [("same", State::Known), ("f", State::Known), ("h", State::New), ("g", State::Gone)];
        assert_eq!(states, expected);
        assert_eq!(comparison.summary(), "1 of 2 rows changed, 1 new, 1 gone; 1 past a limit or wrong");
        assert!(!comparison.passes());
        assert_eq!(
            comparison.limit_failures(),
            [
                "a.elf stm32f407 f (call): cycles grew by 2.00 % (1,000 to 1,020), limit +1 %",
                "a.elf stm32f407 f (call): stack grew by 2.00 % (100 to 102), limit +1 %"
            ]
        );
    }

    /// Exactly the limit is allowed; less is no failure, however much.
    #[test]
    fn a_limit_is_passed_above_it_alone() {
        for (cycles, passes) in [(1010, true), (1011, false), (10, true)] {
            let comparison = compared(&[call("a", "f", 1000)], &[call("a", "f", cycles)]);
            let cycles_pass =
                comparison.limit_failures().iter().all(|failure| !failure.contains("cycles grew"));
            assert_eq!(cycles_pass, passes, "{cycles}");
        }
        let from_nothing = compared(&[call("a", "f", 0)], &[call("a", "f", 1)]);
        assert!(!from_nothing.passes());
    }

    #[test]
    fn calls_of_one_function_are_one_row() {
        let rows = MEASURE.measured(&[call("a", "f", 100), call("a", "f", 200)]).unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].figure(Figure::Cycles), Some(150.0));
        assert_eq!(rows[0].figure(Figure::Stack), Some(20.0));
        assert_eq!(rows[0].figure(Figure::Flash), None);
    }

    #[test]
    fn the_only_firmware_may_have_another_name() {
        let one = compared(&[call("old.elf", "f", 1)], &[call("new.elf", "f", 1)]);
        assert_eq!(one.rows[0].state, State::Known);
        let many = compared(&[call("old.elf", "f", 1)], &[call("new.elf", "f", 1), call("b.elf", "f", 1)]);
        assert!(many.rows[..2].iter().all(|row| row.state == State::New));
    }

    /// A crash is no improvement, and neither is what follows one.
    #[test]
    fn figures_of_a_run_that_did_not_end_are_not_compared() {
        let whole = call("a", "f", 1000);
        let mut crashed = call("a", "f", 10);
        crashed["ended"] =
            json!({"how": "fault", "where": "0x10 in f+0x2 at f.c:3", "why": "no such register"});
        let now = compared(std::slice::from_ref(&whole), std::slice::from_ref(&crashed));
        assert!(now.rows[0].changes.iter().all(|change| change.before.is_some() && change.after.is_none()));
        let error = "no such register (ended at 0x10 in f+0x2 at f.c:3)".to_owned();
        assert_eq!(now.errors(), [("a stm32f407".to_owned(), error)]);
        assert!(!now.passes() && now.rows[0].changes.iter().all(|change| change.share().is_none()));
        let then = compared(&[crashed], &[whole]);
        assert!(then.passes() && then.rows[0].changes.iter().all(|change| change.share().is_none()));
    }

    #[test]
    fn a_row_that_is_none_is_named() {
        let error = MEASURE.measured(&[call("a", "f", 1), json!({"target": "stm32f407"})]).unwrap_err();
        assert_eq!(error, "row 2 has no text 'firmware', and so is no row of measure");
        let mut row = call("a", "f", 1);
        row["inclusive_cycles"] = json!("many");
        let error = MEASURE.measured(&[row]).unwrap_err();
        assert_eq!(error, "row 1 has no number 'inclusive_cycles', and so is no row of measure");
    }
}
