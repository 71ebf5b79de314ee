//! The leaks of a firmware, and what was read of its secrets.

use super::sarif;
use crate::ct::firmware::{Checked, LeakRow};
use crate::ct::{Difference, SecretRead};
use crate::{LabError, report};
use output::{Column, ReportFormat, Sheet, csv, grouped, json};
use serde::Serialize;
use std::path::Path;

const LEAKS: [Column<'static>; 5] = [
    Column::left("depends"),
    Column::left("at"),
    Column::left("instruction").spare(2),
    Column::left("on"),
    Column::right("times").spare(1),
];

const READS: [Column<'static>; 3] = [Column::left("secret"), Column::right("bytes"), Column::right("read")];

/// Kind of a row of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
enum Said {
    /// The next instruction depends on secrets.
    Branch,
    /// The address of data that is read or written depends on secrets.
    Address,
    /// The time of the instruction depends on secrets.
    Time,
    /// No leak: what was read of a secret.
    Read,
}

impl From<Difference> for Said {
    fn from(kind: Difference) -> Said {
        match kind {
            Difference::Branch => Said::Branch,
            Difference::Address => Said::Address,
            Difference::Time => Said::Time,
        }
    }
}

/// An instruction through which secrets show, or what was read of a secret.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckedRow<'a> {
    /// Kind of dependence on secrets; `read` for a row on the reads of one, which is no leak.
    kind: Said,
    /// Function and source line, as far as the file tells; of `read` the function that was
    /// followed.
    place: &'a str,
    /// Functions that the compiler inlined there, the innermost first, separated by blanks.
    inlined: &'a str,
    /// Address of the instruction; absent of `read`.
    pc: Option<u32>,
    /// The secrets, as they were named, separated by blanks.
    secrets: &'a str,
    /// Number of dependent executions; of `read` the calls that were followed.
    times: u64,
    /// Only of `read`: bytes that were secret at a call.
    bytes: Option<u32>,
    /// Only of `read`: bytes of them that an instruction read, in the call that read most.
    bytes_read: Option<u32>,
    /// Only of `read`: instructions that read a byte of any secret.
    readers: Option<u32>,
}

impl<'a> CheckedRow<'a> {
    fn leak(row: &'a LeakRow) -> CheckedRow<'a> {
        CheckedRow {
            kind: row.kind.into(),
            place: &row.place,
            inlined: &row.inlined,
            pc: Some(row.pc),
            secrets: &row.secrets,
            times: row.times,
            bytes: None,
            bytes_read: None,
            readers: None,
        }
    }

    fn read(secret: &'a SecretRead, checked: &Checked, function: &'a str) -> CheckedRow<'a> {
        CheckedRow {
            kind: Said::Read,
            place: function,
            inlined: "",
            pc: None,
            secrets: &secret.secret,
            times: checked.calls,
            bytes: Some(secret.bytes),
            bytes_read: Some(secret.read),
            readers: Some(checked.reads.readers()),
        }
    }
}

/// The leaks of a function's calls, and what was read of each secret. JUnit's report has one test,
/// of the function.
///
/// # Errors
/// None in practice: rows can always be written.
pub fn leaks(
    checked: &Checked,
    function: &str,
    elf: &Path,
    format: ReportFormat,
    wide: bool,
) -> Result<String, LabError> {
    let rows = || -> Vec<CheckedRow<'_>> {
        let leaks = checked.leaks.iter().map(CheckedRow::leak);
        let secrets = checked.reads.secrets.iter();
        leaks.chain(secrets.map(|secret| CheckedRow::read(secret, checked, function))).collect()
    };
    let mut leaks = Sheet::new(&LEAKS);
    checked.leaks.iter().for_each(|row| leaks.row(cells(row)));
    let mut reads = Sheet::new(&READS);
    for SecretRead { secret, bytes, read } in &checked.reads.secrets {
        reads.row([secret.clone(), bytes.to_string(), read.to_string()]);
    }
    let is_clear = checked.leaks.is_empty();
    Ok(match format {
        ReportFormat::Json => json(&rows())?,
        ReportFormat::Csv => csv(&rows())?,
        ReportFormat::Junit => {
            let dependent = checked.leaks.iter().map(|row| {
                format!("{} depends on {} at {}", row.kind.name(), row.secrets, row.place_with_inlined())
            });
            let failures: Vec<String> = dependent.chain(checked.reads.unread()).collect();
            report::junit::test("ct", function, &failures, checked.failure.as_ref().map(ToString::to_string))?
        }
        ReportFormat::Markdown if is_clear => reads.markdown(),
        ReportFormat::Markdown => format!("{}\n{}", leaks.markdown(), reads.markdown()),
        ReportFormat::Table if is_clear => reads.table(wide),
        ReportFormat::Table => leaks.table(wide) + &reads.table(wide),
        ReportFormat::Sarif => sarif::of_firmware(checked, function, elf)?,
        ReportFormat::Latex | ReportFormat::GithubBenchmark | ReportFormat::Bencher => {
            return Err(report::not_offered(format));
        }
    })
}

fn cells(row: &LeakRow) -> [String; 5] {
    [
        row.kind.name().into(),
        row.place_with_inlined(),
        format!("{:#x}", row.pc),
        row.secrets.clone(),
        grouped(i64::try_from(row.times).unwrap_or(i64::MAX)),
    ]
}
