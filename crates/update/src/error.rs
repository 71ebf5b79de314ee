//! Errors, with the user's next step.

use std::path::PathBuf;
use thiserror::Error;

/// An error of this crate. [`UpdateError::is_usage`] says which exit code it stands for.
#[derive(Debug, Error)]
pub enum UpdateError {
    /// A file that cannot be read or written.
    #[error("{path}: {error}; {advice}", advice = output::advice(.error))]
    File {
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file that is not what it should be.
    #[error("{path}: {problem}")]
    BadFile {
        path: PathBuf,
        /// Fault of the file, and the user's next step.
        problem: String,
    },
    /// A program that no image can be made of.
    #[error("{0}")]
    Program(String),
    /// An argument that makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The signature is not good.
    #[error(
        "the signature is not good under this key: the image was changed, or signed by another key; sign it anew"
    )]
    Signature,
    /// The bootloader rejects the request or the image.
    #[error("the bootloader rejects it: {0}")]
    Rejected(crate::loader::Rejection),
    /// The bootloader does not answer.
    #[error(
        "the bootloader does not answer: it listens for 0.2 s after a reset, so reset the part while this waits; check the \
         wires and the port's name"
    )]
    Silent,
}

impl UpdateError {
    /// Returns true if the request is impossible (exit code 2), false if something went wrong (exit
    /// code 1).
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, UpdateError::Usage(_))
    }
}
