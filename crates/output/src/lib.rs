//! Output and end of every binary. A command gives an [`Answer`] or a [`Failure`]; [`end`] writes
//! it and returns the exit code: 0 success, 1 failure, 2 wrong usage. Data goes to standard output,
//! all else to standard error.

mod answer;
pub mod commands;
mod format;
mod latex;
mod number;
mod progress;
mod rows;
mod sheet;
pub mod stop;

pub use answer::{Answer, Failure, Unwritten, Written, advice, end, say, write};
pub use format::{Format, PaperFormat, ReportFormat};
pub use latex::latex_text;
pub use number::{duration, figure, grouped, scaled, significant};
pub use progress::Bar;
pub use rows::{OutputError, csv, csv_line, json, json_item, table};
pub use sheet::{Column, NARROW, Sheet, left_out, markdown_row, markdown_text, wrapped};
