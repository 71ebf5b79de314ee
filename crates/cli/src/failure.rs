//! What ends a command: a sentence, and the exit code that it stands for.

use ::demo::live::DemoError;
use collector::backup::BackupError;
use collector::daemon::DaemonError;
use collector::export::ExportError;
use collector::registry::RegistryError;
use collector::store::StoreError;
use collector::tokens::TokenError;
use lab::LabError;
use std::path::Path;

/// Why a command failed.
pub(crate) struct Failure {
    /// What went wrong, and what to do next.
    pub(crate) message: String,
    /// Whether something was asked for that cannot be: exit code 2, else 1.
    pub(crate) is_usage: bool,
}

impl Failure {
    /// Of what was asked for.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), is_usage: true }
    }

    /// Of a file.
    pub(crate) fn file(path: &Path, error: &std::io::Error) -> Failure {
        let message = format!("{}: {error}; check the path and its permissions", path.display());
        Failure { message, is_usage: false }
    }
}

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Failure {
        Failure { is_usage: matches!(error, ExportError::NoMeter(_)), message: error.to_string() }
    }
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Failure {
        Failure { is_usage: error.is_usage(), message: error.to_string() }
    }
}

impl From<RegistryError> for Failure {
    fn from(error: RegistryError) -> Failure {
        Failure { is_usage: error.is_usage(), message: error.to_string() }
    }
}

impl From<BackupError> for Failure {
    fn from(error: BackupError) -> Failure {
        match error {
            BackupError::There(_) => Failure::usage(error.to_string()),
            BackupError::Store(error) => error.into(),
            BackupError::Registry(error) => error.into(),
        }
    }
}

impl From<TokenError> for Failure {
    fn from(error: TokenError) -> Failure {
        Failure { is_usage: error.is_usage(), message: error.to_string() }
    }
}

impl From<DaemonError> for Failure {
    fn from(error: DaemonError) -> Failure {
        Failure { is_usage: error.is_usage(), message: error.to_string() }
    }
}

impl From<DemoError> for Failure {
    fn from(error: DemoError) -> Failure {
        Failure { is_usage: error.is_usage(), message: error.to_string() }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure { is_usage: false, message: error.to_string() }
    }
}
