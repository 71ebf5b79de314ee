//! NATS and PostgreSQL servers, Debian's, that a program starts for itself: heard on this machine
//! alone, in a folder that goes with the program, whatever ends that. The demonstration of the
//! cluster has them, and tests.
//!
//! - [`folder`]: the folder, and who clears it up; [`process`]: one process, its log, its signals
//! - [`nats`], [`postgres`]: the servers; [`ports`]: where they are heard

pub mod folder;
pub mod nats;
pub mod ports;
pub mod postgres;
pub mod process;

use std::io;

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// A file, a process.
    #[error("{what}: {error}")]
    Io { what: String, error: io::Error },
    /// A program or package that is not installed.
    #[error("{program} is missing; install it with: apt-get install {package}")]
    Missing { program: String, package: &'static str },
    /// A program said no.
    #[error("{program} failed: {said}")]
    Failed { program: String, said: String },
    /// It does not answer.
    #[error("{what} does not start; its log ends with: {log}")]
    Silent { what: String, log: String },
}

impl ServerError {
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> ServerError {
        let what = what.into();
        move |error| ServerError::Io { what, error }
    }
}
