//! `--format`.

use clap::ValueEnum;

/// Format of rows.
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

/// Format of a paper's tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PaperFormat {
    /// Aligned columns in the paper's shape
    #[default]
    Table,
    /// An array of objects, a cell each
    Json,
    /// A line a cell
    Csv,
    /// A tabular a table, for a document of class article without packages
    Latex,
    /// Tables in the paper's shape, as GitHub has them
    Markdown,
}

/// Format of rows that are measured again with every change of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Aligned columns, scaled units
    #[default]
    Table,
    /// An array of objects, SI units
    Json,
    /// A line a row, SI units
    Csv,
    /// A table for the comment of a pull request
    Markdown,
    /// JUnit's XML: each row a test, for the server that shows test reports
    Junit,
}

impl ReportFormat {
    /// The format of rows that nobody compares, where there is one.
    #[must_use]
    pub fn plain(self) -> Option<Format> {
        match self {
            ReportFormat::Table => Some(Format::Table),
            ReportFormat::Json => Some(Format::Json),
            ReportFormat::Csv => Some(Format::Csv),
            ReportFormat::Markdown | ReportFormat::Junit => None,
        }
    }
}
