//! Why a command fails, and which exit code that is.

use collector::backup::BackupError;
use collector::cluster::ClusterError;
use collector::daemon::DaemonError;
use collector::export::ExportError;
use collector::mbus::ImportError;
use collector::registry::RegistryError;
use collector::relocation::RelocationError;
use collector::store::StoreError;
use collector::tokens::TokenError;
use output::{Failure, OutputError};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error("{0}")]
    Usage(String),
    #[error("{}: {error}; {}", .path.display(), output::advice(.error))]
    File { path: PathBuf, error: std::io::Error },
    #[error(transparent)]
    Backup(#[from] BackupError),
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    #[error(transparent)]
    Daemon(#[from] DaemonError),
    #[error(transparent)]
    Export(#[from] ExportError),
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Registry(#[from] RegistryError),
    #[error(transparent)]
    Relocation(#[from] RelocationError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Token(#[from] TokenError),
}

impl CommandError {
    pub(crate) fn file(path: &Path, error: std::io::Error) -> CommandError {
        CommandError::File { path: path.to_owned(), error }
    }

    /// Says if the request was impossible: exit code 2, else 1.
    fn is_usage(&self) -> bool {
        match self {
            CommandError::Usage(_) => true,
            CommandError::File { .. } | CommandError::Store(_) => false,
            CommandError::Backup(BackupError::There(_)) => true,
            CommandError::Backup(BackupError::Store(_)) => false,
            CommandError::Backup(BackupError::Registry(error)) => error.is_usage(),
            CommandError::Cluster(error) => error.is_usage(),
            CommandError::Daemon(error) => error.is_usage(),
            CommandError::Export(error) => {
                matches!(error, ExportError::NoMeter(_) | ExportError::NoMbusMeter(_))
            }
            CommandError::Import(error) => !matches!(error, ImportError::File { .. }),
            // Rows that cannot be written as they were asked for.
            CommandError::Output(_) => true,
            CommandError::Registry(error) => error.is_usage(),
            CommandError::Relocation(error) => error.is_usage(),
            CommandError::Token(error) => error.is_usage(),
        }
    }
}

impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Failure {
        Failure::new(&error, error.is_usage())
    }
}
