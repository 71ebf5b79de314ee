//! The rows of a check for constant time.

use super::{junit, sarif};
use crate::compare::{self, CONSTANT_TIME};
use crate::ct::{ConstantTimeRow, Dependence, Difference, Verdict};
use crate::{LabError, report};
use console::style;
use output::{Column, ReportFormat, Sheet, csv_line, grouped, json_item, markdown_row};
use serde::Serialize;
use std::collections::BTreeMap;

const WRONG: &str = "WRONG output";
const VARIABLE: &str = "VARIABLE";
const DEPENDS: &str = "DEPENDS";
const UNREAD: &str = "UNREAD";
const FAILED: &str = "FAILED";
const UNCOMPARED: &str = "output NOT COMPARED";

const COLUMNS: [Column<'static>; 8] = [
    Column::left("operation"),
    Column::left("variant"),
    Column::right("runs"),
    Column::right("cycles"),
    Column::right("instructions").spare(1),
    Column::right("data accesses").spare(3),
    Column::right("secret B read").spare(2),
    Column::left("found"),
];

/// Writer of a constant-time check's rows, one after the other. A target's table comes once all its
/// rows are there. JUnit's report, which says first how many there are, and SARIF come at the end.
pub struct RowWriter {
    format: ReportFormat,
    wide: bool,
    rows: Vec<ConstantTimeRow>,
}

impl RowWriter {
    /// A table that may not be `wide` has no more columns than fit in 80.
    #[must_use]
    pub fn new(format: ReportFormat, wide: bool) -> RowWriter {
        RowWriter { format, wide, rows: Vec::new() }
    }

    /// A row, with what goes before it.
    ///
    /// # Errors
    /// None in practice: rows can always be written.
    pub fn row(&mut self, row: &ConstantTimeRow) -> Result<String, LabError> {
        let first = self.rows.is_empty();
        let text = match self.format {
            ReportFormat::Json => json_item(row, first)?,
            ReportFormat::Csv => csv_line(&FlatRow::from(row), first)?,
            ReportFormat::Markdown => {
                let head = match first {
                    true => Sheet::new(&[&[Column::left("target")][..], &COLUMNS].concat()).markdown(),
                    false => String::new(),
                };
                let cells = cells(row);
                head + &markdown_row(
                    [row.target.as_str()].into_iter().chain(cells.iter().map(String::as_str)),
                )
            }
            ReportFormat::Table if self.rows.last().is_some_and(|last| last.target != row.target) => {
                self.last_table() + "\n"
            }
            _ => String::new(),
        };
        self.rows.push(row.clone());
        Ok(text)
    }

    /// Returns the text behind the last row, of a run that ended early with its error.
    ///
    /// # Errors
    /// None in practice: rows can always be written.
    pub fn end(&self, error: Option<&LabError>) -> Result<String, LabError> {
        Ok(match self.format {
            ReportFormat::Json if self.rows.is_empty() => "[]\n".into(),
            ReportFormat::Json => "\n]\n".into(),
            ReportFormat::Junit => {
                junit::unfinished(&compare::measured(&self.rows, &CONSTANT_TIME)?, "ct", error)?
            }
            ReportFormat::Markdown => match accepted(&self.rows).as_str() {
                "" => String::new(),
                accepted => format!("\n{accepted}"),
            },
            ReportFormat::Table => self.last_table(),
            ReportFormat::Csv => String::new(),
            ReportFormat::Sarif => sarif::of_operations(&self.rows, error)?,
            ReportFormat::Latex | ReportFormat::GithubBenchmark | ReportFormat::Bencher => {
                return Err(report::not_offered(self.format));
            }
        })
    }

    /// The table of the target whose row came last.
    fn last_table(&self) -> String {
        self.rows
            .chunk_by(|a, b| a.target == b.target)
            .next_back()
            .map_or(String::new(), |rows| table(rows, self.wide))
    }
}

/// A row as CSV has it: what depends on a secret is a text.
#[derive(Serialize)]
struct FlatRow<'a> {
    target: &'a str,
    op: &'a str,
    variant: &'a str,
    verdict: Verdict,
    runs: u32,
    seed: u64,
    cycles: u64,
    instructions: u64,
    accesses: u64,
    tables: &'a str,
    differs: Option<Difference>,
    place: Option<&'a str>,
    pc: Option<u32>,
    run: Option<u32>,
    what: Option<&'a str>,
    secret_bytes: u32,
    secret_bytes_read: u32,
    readers: u32,
    leaks: String,
    accepted: String,
    version: Option<&'a str>,
    commit: Option<&'a str>,
    compiler: Option<&'a str>,
    target_sha256: Option<&'a str>,
}

impl<'a> From<&'a ConstantTimeRow> for FlatRow<'a> {
    fn from(row: &'a ConstantTimeRow) -> FlatRow<'a> {
        let leaks = |accepted: bool| {
            let leaks = row.leaks.iter().filter(|leak| leak.accepted.is_some() == accepted);
            leaks.map(dependence).collect::<Vec<_>>().join("; ")
        };
        let provenance = row.provenance.as_ref();
        FlatRow {
            target: &row.target,
            op: &row.op,
            variant: &row.variant,
            verdict: row.verdict,
            runs: row.runs,
            seed: row.seed,
            cycles: row.cycles,
            instructions: row.instructions,
            accesses: row.accesses,
            tables: &row.tables,
            differs: row.differs,
            place: row.place.as_deref(),
            pc: row.pc,
            run: row.run,
            what: row.what.as_deref(),
            secret_bytes: row.secret_bytes,
            secret_bytes_read: row.secret_bytes_read,
            readers: row.readers,
            leaks: leaks(false),
            accepted: leaks(true),
            version: provenance.map(|provenance| provenance.version.as_str()),
            commit: provenance.map(|provenance| provenance.commit.as_str()),
            compiler: provenance.and_then(|provenance| provenance.compiler.as_deref()),
            target_sha256: provenance.map(|provenance| provenance.target_sha256.as_str()),
        }
    }
}

/// The table of a target.
fn table(rows: &[ConstantTimeRow], wide: bool) -> String {
    let mut sheet = Sheet::new(&COLUMNS);
    rows.iter().for_each(|row| sheet.row(cells(row)));
    let first = &rows[0];
    let text = format!("{}  seed {}\n{}{}", first.target, first.seed, sheet.table(wide), accepted(rows));
    // Behind the table's back, which would count what colours it as width.
    [WRONG, VARIABLE, DEPENDS, UNREAD, UNCOMPARED, FAILED]
        .into_iter()
        .fold(text, |text, found| text.replace(found, &style(found).red().to_string()))
}

/// Describes a dependence on a secret in a line.
fn dependence(found: &Dependence) -> String {
    let leak = &found.leak;
    format!("{} on {} at {}", leak.kind.name(), leak.secrets, leak.place_with_inlined())
}

/// Accepted dependences in these rows, a reason a line, with its places.
fn accepted(rows: &[ConstantTimeRow]) -> String {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for Dependence { leak, accepted } in rows.iter().flat_map(|row| &row.leaks) {
        let Some(reason) = accepted else { continue };
        // The offset in the function differs from build to build.
        let (function, line) = leak.place.split_once(" at ").unwrap_or((&leak.place, ""));
        let place = if line.is_empty() { function } else { line };
        let place = format!("{} at {place}", leak.kind.name());
        let places = reasons.entry(reason).or_default();
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let line =
        |(reason, places): (&str, Vec<String>)| format!("- accepted: {}: {reason}\n", places.join(", "));
    reasons.into_iter().map(line).collect()
}

fn cells(row: &ConstantTimeRow) -> [String; 8] {
    let count = |number: u64| match number {
        0 => String::new(),
        _ => grouped(i64::try_from(number).unwrap_or(i64::MAX)),
    };
    let found = match row.verdict {
        Verdict::Uncompared => format!("constant, {UNCOMPARED}"),
        Verdict::Constant => {
            let tables = if row.tables.is_empty() { "" } else { ", whichever entry of " };
            let accepted = match row.leaks.len() {
                0 => String::new(),
                count => format!(", {count} accepted"),
            };
            format!("constant{tables}{}{accepted}", row.tables)
        }
        Verdict::Public => "public data, not checked".into(),
        Verdict::Wrong => WRONG.into(),
        Verdict::Failed => format!("{FAILED}: {}", row.what.as_deref().unwrap_or_default()),
        Verdict::Unread => format!("{UNREAD}: {}", row.what.as_deref().unwrap_or_default()),
        Verdict::Dependent => format!("{DEPENDS}: {}", row.not_accepted().join("\n")),
        Verdict::Variable => {
            let seen = [&row.place, &row.what].into_iter().flatten().cloned();
            format!("{VARIABLE}: {}", seen.chain(row.not_accepted()).collect::<Vec<_>>().join("\n"))
        }
    };
    [
        row.op.clone(),
        row.variant.clone(),
        count(row.runs.into()),
        count(row.cycles),
        count(row.instructions),
        count(row.accesses),
        match row.secret_bytes {
            0 => String::new(),
            bytes => format!("{} of {bytes} by {}", row.secret_bytes_read, row.readers),
        },
        found,
    ]
}

impl ConstantTimeRow {
    /// Dependences that are not accepted, one line for a line of the source.
    fn not_accepted(&self) -> Vec<String> {
        // Without the offset in the function, by which the instructions of a line differ.
        let line = |found: &Dependence| match found.leak.place_with_inlined().split_once(" at ") {
            Some((at, line)) => {
                let function = at.split_once('+').map_or(at, |(name, _)| name);
                format!("{} on {} in {function} at {line}", found.leak.kind.name(), found.leak.secrets)
            }
            None => dependence(found),
        };
        let mut lines: Vec<(String, u32)> = Vec::new();
        for text in self.leaks.iter().filter(|leak| leak.accepted.is_none()).map(line) {
            match lines.iter_mut().find(|(known, _)| *known == text) {
                Some((_, count)) => *count += 1,
                None => lines.push((text, 1)),
            }
        }
        let counted = |(text, count)| match count {
            1 => text,
            _ => format!("{text} ({count} instructions)"),
        };
        lines.into_iter().map(counted).collect()
    }
}
