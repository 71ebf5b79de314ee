//! NATS and PostgreSQL servers, Debian's, that a program starts for itself: heard on this machine alone, in a folder that goes with the
//! program, whatever ends that. The demonstration of the cluster has them, and tests.
//!
//! - [`folder`]: the folder, and who clears it up; [`process`]: one process, its log, its signals
//! - [`nats`], [`postgres`]: the servers

pub mod folder;
pub mod nats;
pub mod postgres;
pub mod process;

use std::io;

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// A file, a process.
    #[error("{what}: {error}")]
    Io { what: String, error: io::Error },
    /// What belongs to it is not installed.
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

/// Ports on loopback that nobody has at the moment, all different.
///
/// # Errors
/// Where the system has none.
pub fn free_ports(count: usize) -> Result<Vec<u16>, ServerError> {
    let failed = || ServerError::io("a free port on 127.0.0.1");
    let bind = |_| std::net::TcpListener::bind("127.0.0.1:0").map_err(failed());
    let listeners: Vec<_> = (0..count).map(bind).collect::<Result<_, _>>()?;
    listeners
        .iter()
        .map(|listener| listener.local_addr().map(|address| address.port()).map_err(failed()))
        .collect()
}
