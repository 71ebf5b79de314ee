//! The location of a database: a file of SQLite, or a database of a PostgreSQL server.

use super::postgres::Server;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

/// The location of a database. In text a path, or `postgres://USER@HOST/DATABASE`; its password is
/// never shown.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    File(PathBuf),
    Server(Arc<Server>),
}

impl DatabaseUrl {
    /// The place that a user names.
    ///
    /// # Errors
    /// The fault of a URL, without its password.
    pub fn named(text: &str) -> Result<DatabaseUrl, String> {
        match text.split_once("://") {
            Some(("postgres" | "postgresql", _)) => Ok(DatabaseUrl::Server(Arc::new(Server::of_url(text)?))),
            _ => Ok(DatabaseUrl::File(text.into())),
        }
    }

    /// Says if the file does not exist: then nothing was ever stored in it.
    pub(in crate::store) fn is_missing(&self) -> bool {
        matches!(self, DatabaseUrl::File(path) if !path.exists())
    }

    /// Returns the file or folder that the service puts its own files beside: the database's file,
    /// or the folder of keys.
    #[must_use]
    pub fn beside<'a>(&'a self, keys: &'a Path) -> &'a Path {
        match self {
            DatabaseUrl::File(path) => path,
            DatabaseUrl::Server(_) => keys,
        }
    }

    /// Returns the remedy for a foreign file or database, besides another location.
    pub(in crate::store) fn or_else(&self) -> &'static str {
        match self {
            DatabaseUrl::File(_) => "move this file away",
            DatabaseUrl::Server(_) => "make a database for it alone, with createdb NAME",
        }
    }
}

impl FromStr for DatabaseUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<DatabaseUrl, String> {
        DatabaseUrl::named(text)
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatabaseUrl::File(path) => path.display().fmt(f),
            DatabaseUrl::Server(server) => server.fmt(f),
        }
    }
}

/// As it is shown, without a password.
impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

impl From<&Path> for DatabaseUrl {
    fn from(path: &Path) -> DatabaseUrl {
        DatabaseUrl::File(path.to_owned())
    }
}

impl From<&PathBuf> for DatabaseUrl {
    fn from(path: &PathBuf) -> DatabaseUrl {
        DatabaseUrl::File(path.clone())
    }
}

impl From<PathBuf> for DatabaseUrl {
    fn from(path: PathBuf) -> DatabaseUrl {
        DatabaseUrl::File(path)
    }
}

impl From<&DatabaseUrl> for DatabaseUrl {
    fn from(place: &DatabaseUrl) -> DatabaseUrl {
        place.clone()
    }
}
