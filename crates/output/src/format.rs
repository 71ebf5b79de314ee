//! `--format`.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

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

/// Format of rows that are measured again with every change of a program; a command offers some of
/// them.
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
    /// A tabular a table, for a document of class article without packages
    Latex,
    /// SARIF 2.1.0: each finding with its source line, for code scanning
    Sarif,
    /// JSON of github-action-benchmark, tool customSmallerIsBetter: a curve over commits
    GithubBenchmark,
    /// Bencher's metric format, SI units: the same
    Bencher,
}

impl ReportFormat {
    /// Formats of rows with costs.
    pub const COSTS: [ReportFormat; 8] = [
        ReportFormat::Table,
        ReportFormat::Json,
        ReportFormat::Csv,
        ReportFormat::Markdown,
        ReportFormat::Junit,
        ReportFormat::Latex,
        ReportFormat::GithubBenchmark,
        ReportFormat::Bencher,
    ];

    /// Formats of a comparison with limits.
    pub const LIMITS: [ReportFormat; 5] = [
        ReportFormat::Table,
        ReportFormat::Json,
        ReportFormat::Csv,
        ReportFormat::Markdown,
        ReportFormat::Junit,
    ];

    /// Formats of findings.
    pub const FINDINGS: [ReportFormat; 6] = [
        ReportFormat::Table,
        ReportFormat::Json,
        ReportFormat::Csv,
        ReportFormat::Markdown,
        ReportFormat::Junit,
        ReportFormat::Sarif,
    ];

    /// Returns a parser of the formats that a command offers.
    pub fn parser(offered: &[ReportFormat]) -> impl TypedValueParser<Value = ReportFormat> + use<> {
        let values: Vec<PossibleValue> =
            offered.iter().filter_map(|format| format.to_possible_value()).collect();
        PossibleValuesParser::new(values).try_map(|name| ReportFormat::from_str(&name, false))
    }

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// The format of rows that nobody compares, where there is one.
    #[must_use]
    pub fn plain(self) -> Option<Format> {
        match self {
            ReportFormat::Table => Some(Format::Table),
            ReportFormat::Json => Some(Format::Json),
            ReportFormat::Csv => Some(Format::Csv),
            _ => None,
        }
    }
}
