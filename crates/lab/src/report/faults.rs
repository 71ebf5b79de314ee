//! The rows of a fault campaign.

use super::{junit, not_offered, sarif};
use crate::LabError;
use crate::fault::{FaultRow, Injected, RowKind};
use output::{Column, ReportFormat, Sheet, csv, grouped, json};
use serde::Serialize;
use std::path::Path;

const COLUMNS: [Column<'static>; 10] = [
    Column::left("at"),
    Column::left("instruction").spare(3),
    Column::right("faults"),
    Column::right("bypassed"),
    Column::right("detected"),
    Column::right("crash"),
    Column::right("hang"),
    Column::right("other").spare(4),
    Column::right("no effect"),
    Column::left("replay").spare(1),
];

/// A row as CSV has it.
#[derive(Serialize)]
struct FlatRow<'a> {
    firmware: &'a str,
    target: &'a str,
    kind: RowKind,
    place: &'a str,
    pc: u32,
    instruction: Option<&'a str>,
    faults: u64,
    detected: u64,
    bypassed: u64,
    crash: u64,
    hang: u64,
    other: u64,
    no_effect: u64,
    protect: &'a str,
    example: Option<&'a str>,
    complete: bool,
    seed: Option<u64>,
    version: &'a str,
    commit: &'a str,
    target_sha256: &'a str,
}

impl<'a> From<&'a FaultRow> for FlatRow<'a> {
    fn from(row: &'a FaultRow) -> FlatRow<'a> {
        FlatRow {
            firmware: &row.firmware,
            target: &row.target,
            kind: row.kind,
            place: &row.place,
            pc: row.pc,
            instruction: row.instruction.as_deref(),
            faults: row.faults,
            detected: row.detected,
            bypassed: row.bypassed,
            crash: row.crash,
            hang: row.hang,
            other: row.other,
            no_effect: row.no_effect,
            protect: &row.protect,
            example: row.example.as_deref(),
            complete: row.complete,
            seed: row.provenance.seed,
            version: &row.provenance.version,
            commit: row.provenance.commit.as_str(),
            target_sha256: &row.provenance.target_sha256,
        }
    }
}

/// The rows of a campaign over `subject`, of which at most `limit` faults may be bypassed. JUnit's
/// report has one test.
///
/// # Errors
/// None in practice: rows can always be written.
pub fn faults(
    injected: &Injected,
    subject: &str,
    elf: &Path,
    limit: u64,
    format: ReportFormat,
    wide: bool,
) -> Result<String, LabError> {
    let mut sheet = Sheet::new(&COLUMNS);
    injected.rows.iter().for_each(|row| sheet.row(cells(row)));
    let incomplete = (!injected.is_complete())
        .then(|| format!("interrupted after {} of {} faults", injected.counts.total(), injected.planned));
    Ok(match format {
        ReportFormat::Json => json(&injected.rows)?,
        ReportFormat::Csv => csv(&injected.rows.iter().map(FlatRow::from).collect::<Vec<_>>())?,
        ReportFormat::Table => sheet.table(wide),
        ReportFormat::Markdown => sheet.markdown(),
        ReportFormat::Junit => {
            let bypassed = injected.rows.last().map_or(0, |total| total.bypassed);
            let failures: Vec<String> = match bypassed > limit {
                true => bypasses(injected).map(bypass).collect(),
                false => Vec::new(),
            };
            junit::test("fault", subject, &failures, incomplete)?
        }
        ReportFormat::Sarif => {
            let found = bypasses(injected).map(|row| (bypass(row), row.place.as_str()));
            sarif::of_faults(found, subject, elf, incomplete)?
        }
        ReportFormat::Latex | ReportFormat::GithubBenchmark | ReportFormat::Bencher => {
            return Err(not_offered(format));
        }
    })
}

fn bypasses(injected: &Injected) -> impl Iterator<Item = &FaultRow> {
    injected.rows.iter().filter(|row| row.kind != RowKind::Total && row.bypassed > 0)
}

/// A row with bypasses, as a sentence.
fn bypass(row: &FaultRow) -> String {
    let example = row.example.as_ref().map(|id| format!(", such as {id}")).unwrap_or_default();
    format!("{} of {} faults bypass {} from {:#x} on{example}", row.bypassed, row.faults, row.place, row.pc)
}

fn cells(row: &FaultRow) -> [String; 10] {
    let count = |count: u64| grouped(i64::try_from(count).unwrap_or(i64::MAX));
    [
        if row.kind == RowKind::Total { "total".into() } else { row.place.clone() },
        row.instruction.clone().unwrap_or_default(),
        count(row.faults),
        count(row.bypassed),
        count(row.detected),
        count(row.crash),
        count(row.hang),
        count(row.other),
        count(row.no_effect),
        row.example.clone().unwrap_or_default(),
    ]
}
