//! `--format`.

use clap::ValueEnum;

/// How rows are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned columns, scaled units
    #[default]
    Table,
    /// An array of objects, SI units
    Json,
    /// A line a row, SI units
    Csv,
}
