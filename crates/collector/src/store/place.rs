//! Where a database is: a file of SQLite's, or a database of a PostgreSQL server.

use super::postgres::Server;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

/// Where a database is. In text a path, or `postgres://USER@HOST/DATABASE`; a password in it is never shown.
#[derive(Clone, PartialEq, Eq)]
pub enum Place {
    File(PathBuf),
    Server(Arc<Server>),
}

impl Place {
    /// The place that a user names.
    ///
    /// # Errors
    /// What is wrong with a URL, without its password.
    pub fn named(text: &str) -> Result<Place, String> {
        match text.split_once("://") {
            Some(("postgres" | "postgresql", _)) => Ok(Place::Server(Arc::new(Server::of_url(text)?))),
            _ => Ok(Place::File(text.into())),
        }
    }

    /// Whether it is a file that is not there: then nothing was ever stored in it.
    pub(super) fn is_missing(&self) -> bool {
        matches!(self, Place::File(path) if !path.exists())
    }

    /// What files of the service stand beside: the database's, or, where that is none, the folder of keys.
    #[must_use]
    pub fn beside<'a>(&'a self, keys: &'a Path) -> &'a Path {
        match self {
            Place::File(path) => path,
            Place::Server(_) => keys,
        }
    }

    /// What to do with what is not ours there, but for naming another place.
    pub(super) fn or_else(&self) -> &'static str {
        match self {
            Place::File(_) => "move this file away",
            Place::Server(_) => "make a database for it alone, with createdb NAME",
        }
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Place, String> {
        Place::named(text)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File(path) => path.display().fmt(f),
            Place::Server(server) => server.fmt(f),
        }
    }
}

/// As it is shown, without a password.
impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

impl From<&Path> for Place {
    fn from(path: &Path) -> Place {
        Place::File(path.to_owned())
    }
}

impl From<&PathBuf> for Place {
    fn from(path: &PathBuf) -> Place {
        Place::File(path.clone())
    }
}

impl From<PathBuf> for Place {
    fn from(path: PathBuf) -> Place {
        Place::File(path)
    }
}

impl From<&Place> for Place {
    fn from(place: &Place) -> Place {
        place.clone()
    }
}
