//! Cycles that a board counted, beside the model's.

use crate::LabError;
use crate::verify_board::BoardRow;
use output::{Column, Format, Sheet, csv, grouped, json};

const COLUMNS: [Column<'static>; 5] = [
    Column::name("row"),
    Column::right("board cycles"),
    Column::right("their spread").spare(1),
    Column::right("model cycles"),
    Column::right("difference"),
];

/// Rows of a comparison, in one table.
///
/// # Errors
/// None in practice: rows can always be written.
pub fn board(rows: &[BoardRow], format: Format) -> Result<String, LabError> {
    Ok(match format {
        Format::Json => json(rows)?,
        Format::Csv => csv(rows)?,
        Format::Table => {
            let mut sheet = Sheet::new(&COLUMNS);
            rows.iter().for_each(|row| sheet.row(cells(row)));
            sheet.table(false)
        }
    })
}

fn cells(row: &BoardRow) -> [String; 5] {
    let cycles = |cycles: u64| grouped(cycles as i64);
    let difference = if row.board_cycles == row.model_cycles {
        "0".into()
    } else {
        format!("{:+.2} %", row.difference_percent)
    };
    [
        row.name.clone(),
        cycles(row.board_cycles),
        cycles(row.board_spread),
        cycles(row.model_cycles),
        difference,
    ]
}
