//! Errors of firmware, with the user's next step.

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
    #[error("{path}: {error}; {advice}", advice = output::advice(.error))]
    File { path: PathBuf, error: std::io::Error },
    /// A file that is not what it should be.
    #[error("{path}: {problem}")]
    BadFile {
        path: PathBuf,
        /// Fault of the file, and the user's next step.
        problem: String,
    },
    /// A file of another kind than the one that was asked for.
    #[error("{path}: {problem}")]
    OtherKind {
        path: PathBuf,
        /// Kind of the file, and the one to give instead.
        problem: String,
    },
    /// A tool that is not installed.
    #[error("{tool} is not installed; install it with: apt-get install {packages}")]
    MissingTool {
        /// The program that was looked for.
        tool: String,
        /// Debian packages that bring it.
        packages: String,
    },
    /// The firmware did not build.
    #[error("building {what} failed{advice}:\n{output}", advice = build_advice(.output))]
    Build {
        /// Target, variant and operations.
        what: String,
        /// Output of make and the compiler.
        output: String,
    },
}

/// Returns advice, where the tools' own is less clear.
fn build_advice(output: &str) -> &'static str {
    match output.contains("No space left on device") {
        true => ", since the disk is full; make room, or build elsewhere with --cache",
        false => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_said_before_what_the_tools_say() {
        let build =
            |output: &str| FirmwareError::Build { what: "x".into(), output: output.into() }.to_string();
        let said = build("as: out of memory writing a.o: No space left on device");
        assert!(said.starts_with("building x failed, since the disk is full; make room"), "{said}");
        assert_eq!(build("a.c:1: error"), "building x failed:\na.c:1: error");
    }
}
