//! How a command ends.

use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

/// What a command has to say: data, a remark for a person, and whether all is well.
pub struct Answer {
    /// For standard output.
    pub data: String,
    /// For standard error; may be empty.
    pub remark: String,
    /// Exit code 0, else 1.
    pub success: bool,
}

/// Why a command failed.
pub struct Failure {
    /// What went wrong, and what to do next.
    pub message: String,
    /// Whether something was asked for that cannot be: exit code 2, else 1.
    pub is_usage: bool,
}

impl Failure {
    /// An error as it says itself.
    pub fn new(error: impl Display, is_usage: bool) -> Failure {
        Failure { message: error.to_string(), is_usage }
    }
}

/// Writes what a command has to say, and returns its exit code.
#[must_use]
pub fn end(result: Result<Answer, Failure>) -> ExitCode {
    match result {
        Ok(answer) => {
            // A reader that has seen enough (`| head`) is no failure.
            let _ = std::io::stdout().write_all(answer.data.as_bytes());
            if !answer.remark.is_empty() {
                eprintln!("{}", answer.remark);
            }
            if answer.success { ExitCode::SUCCESS } else { ExitCode::from(1) }
        }
        Err(failure) => {
            eprintln!("wattseal: {}", failure.message);
            ExitCode::from(if failure.is_usage { 2 } else { 1 })
        }
    }
}
