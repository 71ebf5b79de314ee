//! The command, in this process.

use pyo3::prelude::*;
use std::ffi::OsString;
use std::process::ExitCode;

/// Does what a command line says, `line[0]` being what the command is called by, and returns its
/// exit code.
#[pyfunction]
pub fn command(py: Python<'_>, line: Vec<OsString>) -> u8 {
    let ended = py.detach(|| cli::run(line));
    // What is in an exit code is for the system alone, but it can be compared.
    (0..=u8::MAX).find(|code| ExitCode::from(*code) == ended).unwrap_or(1)
}
