//! The rows of a check for constant time.

use crate::compare::{self, CONSTANT_TIME};
use crate::ct::{ConstantTimeRow, Verdict};
use crate::{LabError, report};
use console::style;
use output::{Column, ReportFormat, Sheet, csv, grouped, json};

const WRONG: &str = "WRONG output";
const VARIABLE: &str = "VARIABLE";

const COLUMNS: [Column<'static>; 6] = [
    Column::left("operation"),
    Column::left("variant"),
    Column::right("cycles"),
    Column::right("instructions").spare(1),
    Column::right("data accesses").spare(2),
    Column::left("found"),
];

/// The rows of a check for constant time.
///
/// # Errors
/// None in practice: rows can always be written.
pub fn constant_time(rows: &[ConstantTimeRow], format: ReportFormat, wide: bool) -> Result<String, LabError> {
    Ok(match format {
        ReportFormat::Json => json(rows)?,
        ReportFormat::Csv => csv(rows)?,
        ReportFormat::Junit => report::junit(&compare::measured(rows, &CONSTANT_TIME)?, "ct")?,
        ReportFormat::Markdown => {
            let mut sheet = Sheet::new(&[&[Column::left("target")][..], &COLUMNS].concat());
            rows.iter().for_each(|row| sheet.row([row.target.clone()].into_iter().chain(cells(row))));
            sheet.markdown()
        }
        ReportFormat::Table => table(rows, wide),
    })
}

fn table(rows: &[ConstantTimeRow], wide: bool) -> String {
    let mut text = String::new();
    for rows in rows.chunk_by(|a, b| a.target == b.target) {
        let first = &rows[0];
        let mut sheet = Sheet::new(&COLUMNS);
        rows.iter().for_each(|row| sheet.row(cells(row)));
        text +=
            &format!("{}  {} runs, seed {}\n{}\n", first.target, first.runs, first.seed, sheet.table(wide));
    }
    text.pop();
    // Behind the table's back, which would count what colours it as width.
    [WRONG, VARIABLE]
        .into_iter()
        .fold(text, |text, found| text.replace(found, &style(found).red().to_string()))
}

fn cells(row: &ConstantTimeRow) -> [String; 6] {
    let count = |number: u64| match number {
        0 => String::new(),
        _ => grouped(i64::try_from(number).unwrap_or(i64::MAX)),
    };
    let found = match row.verdict {
        Verdict::Constant if row.tables.is_empty() => "constant".into(),
        Verdict::Constant => format!("constant, whichever entry of {}", row.tables),
        Verdict::Public => "public data, not checked".into(),
        Verdict::Wrong => WRONG.into(),
        Verdict::Variable => {
            let lines: Vec<&str> =
                [row.place.as_deref(), row.what.as_deref()].into_iter().flatten().collect();
            format!("{VARIABLE}: {}", lines.join("\n"))
        }
    };
    [
        row.op.clone(),
        row.variant.clone(),
        count(row.cycles),
        count(row.instructions),
        count(row.accesses),
        found,
    ]
}
