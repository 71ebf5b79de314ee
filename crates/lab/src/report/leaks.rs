//! The leaks of a firmware.

use crate::ct::Difference;
use crate::ct::firmware::LeakRow;
use crate::{LabError, report};
use output::{Column, ReportFormat, Sheet, csv, grouped, json};

const COLUMNS: [Column; 5] = [
    Column::left("depends"),
    Column::left("at"),
    Column::left("instruction").spare(2),
    Column::left("on"),
    Column::right("times").spare(1),
];

/// The leaks of a function's calls. Without any a table is empty; JUnit's report always has a test, of the function.
///
/// # Errors
/// None in practice: rows can always be written.
pub fn leaks(rows: &[LeakRow], function: &str, format: ReportFormat, wide: bool) -> Result<String, LabError> {
    let mut sheet = Sheet::new(&COLUMNS);
    rows.iter().for_each(|row| sheet.row(cells(row)));
    Ok(match format {
        ReportFormat::Json => json(rows)?,
        ReportFormat::Csv => csv(rows)?,
        ReportFormat::Junit => {
            let failures =
                rows.iter().map(|row| format!("{} depends on {}{}", kind(row), row.secrets, row.place));
            report::junit::test("ct", function, &failures.collect::<Vec<_>>())?
        }
        ReportFormat::Markdown | ReportFormat::Table if rows.is_empty() => String::new(),
        ReportFormat::Markdown => sheet.markdown(),
        ReportFormat::Table => sheet.table(wide),
    })
}

pub(super) fn kind(row: &LeakRow) -> &'static str {
    match row.kind {
        Difference::Branch => "branch",
        Difference::Address => "address",
        Difference::Time => "time",
    }
}

fn cells(row: &LeakRow) -> [String; 5] {
    [
        kind(row).into(),
        row.place.clone(),
        format!("{:#x}", row.pc),
        row.secrets.clone(),
        grouped(i64::try_from(row.times).unwrap_or(i64::MAX)),
    ]
}
