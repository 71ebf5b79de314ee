//! A copy of a collector's files, made while its service goes on. docs/how-to/collector.md, "Back up and
//! restore".

use crate::registry::{Registry, RegistryError, make_folder};
use crate::store::{DatabaseUrl, Reader, StoreError};
use std::path::{Path, PathBuf};

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The folder has something in it.
    #[error("{0} is there already: give a folder that is not, so that no copy of before is changed")]
    There(PathBuf),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

/// The copied files, and their folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// The database, whole, as of one moment.
    pub db: PathBuf,
    /// The folder of keys, as it was after that moment.
    pub keys: PathBuf,
}

/// Copies database and keys into a folder, which is made, for its owner alone. The copy has all
/// that was acknowledged before the call.
///
/// # Errors
/// [`BackupError`]; what was copied until then stays.
pub fn backup(db: &DatabaseUrl, keys: &Path, into: &Path) -> Result<Backup, BackupError> {
    if into.exists() {
        return Err(BackupError::There(into.to_owned()));
    }
    if let DatabaseUrl::Server(_) = db {
        return Err(StoreError::NotAFile { place: db.clone() }.into());
    }
    let registries = Registry::open_all(keys)?;
    let reader = Reader::open(db)?;
    make_folder(into)?;
    let backup = Backup { db: into.join("wattseal.db"), keys: into.join("wattseal.keys") };
    // The keys after it: numbers of commands that the copied database knows of are below their
    // floor.
    reader.copy_to(&backup.db)?;
    for registry in registries {
        registry.copy_to(&backup.keys)?;
    }
    Ok(backup)
}
