//! What can go wrong with firmware, said so that a user knows what to do next.

use std::path::PathBuf;
use thiserror::Error;

/// Firmware that cannot be built or read.
#[derive(Debug, Error)]
pub enum FirmwareError {
    /// A name that does not exist.
    #[error("there is no {what} '{name}'{suggestion}")]
    UnknownName {
        /// Kind of name: `function`, `symbol`.
        what: &'static str,
        name: String,
        /// The nearest names, as a sentence.
        suggestion: String,
    },
    /// A part of several names.
    #[error("several functions are called '{name}': {several}; write more of the name")]
    SeveralNames {
        name: String,
        /// Their names.
        several: String,
    },
    /// A file that cannot be read or written.
    #[error("{path}: {error}; check the path and its permissions")]
    File { path: PathBuf, error: std::io::Error },
    /// A file that is not what it should be.
    #[error("{path}: {problem}")]
    BadFile {
        path: PathBuf,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// A tool that is not installed.
    #[error("{tool} is not installed; install it with: apt-get install {packages}")]
    MissingTool {
        /// The program that was looked for.
        tool: String,
        /// Debian packages that bring it.
        packages: &'static str,
    },
    /// The firmware did not build.
    #[error("building {what} failed:\n{output}")]
    Build {
        /// Target, variant and operations.
        what: String,
        /// What make and the compiler said.
        output: String,
    },
}
