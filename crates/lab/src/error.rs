//! Errors of the lab, with the user's next step.

use firmware::FirmwareError;
use std::path::PathBuf;
use thiserror::Error;

/// An error of the lab. [`LabError::is_usage`] says which exit code it stands for.
#[derive(Debug, Error)]
pub enum LabError {
    /// A name that does not exist.
    #[error("there is no {what} '{name}'{suggestion}")]
    UnknownName {
        /// Kind of name: `target`, `operation`, ...
        what: &'static str,
        name: String,
        /// The nearest names, as a sentence, or where to look.
        suggestion: String,
    },
    /// An argument that makes no sense.
    #[error("{0}")]
    Usage(String),
    /// Rows that the format asked for cannot hold.
    #[error(transparent)]
    Output(#[from] output::OutputError),
    /// Standard output that cannot be written.
    #[error(transparent)]
    Unwritten(#[from] output::Unwritten),
    /// A file that cannot be read or written.
    #[error("{path}: {error}; {advice}", advice = output::advice(.error))]
    File { path: PathBuf, error: std::io::Error },
    /// A file that is not what it should be.
    #[error("{path}: {problem}")]
    BadFile {
        path: PathBuf,
        /// The fault, and the user's next step.
        problem: String,
    },
    /// Firmware that cannot be built or read.
    #[error(transparent)]
    Firmware(#[from] FirmwareError),
    /// A clock and a supply that the data sheet does not allow together.
    #[error("{target}: {error}")]
    Supply {
        target: String,
        /// Its limits.
        error: energy::SupplyError,
    },
    /// A plan that nothing meets.
    #[error("{0}")]
    Impossible(String),
    /// An independent implementation, or what it was given, is not what it should be.
    #[error("the reference for {what} failed: {problem}")]
    Reference {
        /// Value that it was to compute.
        what: &'static str,
        problem: String,
    },
    /// A chart that cannot be drawn.
    #[error("the chart '{title}' cannot be drawn: {problem}")]
    Chart {
        title: String,
        /// Fault of its data.
        problem: String,
    },
    /// The model stopped.
    #[error("{target}: {fault}{place}")]
    Fault {
        target: String,
        fault: mcu::Fault,
        /// Function and source line, as far as the ELF tells, and what to try next, where there is
        /// anything.
        place: String,
    },
    /// The firmware did not come back.
    #[error("{what} did not return within {cycles} cycles{hint}")]
    Endless { what: String, cycles: u64, hint: String },
    /// A run ended before what was asked for came about.
    #[error("{0}")]
    Unfinished(String),
    /// The firmware did something that the protocol of the bench does not allow.
    #[error("{what}: {problem}")]
    Protocol { what: String, problem: String },
}

impl LabError {
    /// Returns true if the user asked for something that does not exist (exit code 2), false if
    /// something went wrong (exit code 1).
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            LabError::UnknownName { .. }
                | LabError::Usage(_)
                | LabError::Output(_)
                | LabError::Supply { .. }
                | LabError::Firmware(
                    FirmwareError::UnknownName { .. }
                        | FirmwareError::SeveralNames { .. }
                        | FirmwareError::OtherKind { .. }
                )
        )
    }
}
