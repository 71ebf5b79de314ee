//! End of a command.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use thiserror::Error;

/// Answer of a command: data, a remark for a person, and whether all is well.
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
    /// Error, and the user's next step.
    pub message: String,
    /// True if the request is impossible: exit code 2, else 1.
    pub is_usage: bool,
}

impl Failure {
    /// An error as it says itself.
    pub fn new(error: impl Display, is_usage: bool) -> Failure {
        Failure { message: error.to_string(), is_usage }
    }
}

/// Fate of a text for standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It is all there.
    All,
    /// Nobody reads on: a reader that has seen enough (`| head`) is no failure.
    Unread,
}

/// Standard output that does not take what is written: a full disk behind it, `/dev/full`.
#[derive(Debug, Error)]
#[error("standard output: {0}; not all of it is there: make room, or write it elsewhere")]
pub struct Unwritten(#[from] std::io::Error);

/// Returns advice on a file that cannot be read or written.
#[must_use]
pub fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::NotFound => "check the path",
        ErrorKind::PermissionDenied => "check its permissions",
        ErrorKind::ReadOnlyFilesystem => "name a place that can be written",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "make room, or name a place elsewhere"
        }
        ErrorKind::IsADirectory => "name a file in that folder",
        ErrorKind::NotADirectory => "check the path: a part of it is a file and no folder",
        ErrorKind::InvalidFilename => "choose a shorter name",
        _ => "check the path and its permissions",
    }
}

/// Writes a text to standard output at once.
///
/// # Errors
/// [`Unwritten`], but for a reader that has gone.
pub fn write(text: &str) -> Result<Written, Unwritten> {
    let mut output = std::io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Ok(()) => Ok(Written::All),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Written::Unread),
        Err(error) => Err(error.into()),
    }
}

/// Writes a line to standard error. A reader that has gone (`2>&1 | head`) is no failure.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Writes what a command has to say, and returns its exit code.
#[must_use]
pub fn end(result: Result<Answer, Failure>) -> ExitCode {
    match result {
        Ok(answer) => {
            let written = write(&answer.data);
            if !answer.remark.is_empty() {
                say(&answer.remark);
            }
            if let Err(error) = &written {
                say(&format!("wattseal: {error}"));
            }
            if answer.success && written.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(1) }
        }
        Err(failure) => {
            say(&format!("wattseal: {}", failure.message));
            ExitCode::from(if failure.is_usage { 2 } else { 1 })
        }
    }
}
