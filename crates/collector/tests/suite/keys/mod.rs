//! The places of keys, files or rows of a database: their common behaviour, and that of rows.

mod both;
mod durable;
mod hostile_token;
mod rewrapped;
mod sealed;
mod token;

use collector::registry::{AfterWrongPin, KeyRing, KeyStore, make_kek};
use collector::store::{DatabaseUrl, Reader};
use std::path::{Path, PathBuf};
use testkit::postgres::shared;

/// The place of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Files,
    Database,
}

/// A store of keys of a test's own.
pub struct Stand {
    pub folder: tempfile::TempDir,
    pub store: KeyStore,
    /// Of the server that all tests share; empty where keys are files.
    pub database: String,
}

impl Stand {
    pub fn new(kind: Kind) -> Stand {
        let folder = tempfile::tempdir().expect("a folder");
        match kind {
            Kind::Files => {
                let store = KeyStore::Folder(folder.path().join("keys"));
                Stand { folder, store, database: String::new() }
            }
            Kind::Database => {
                let (database, ring) = (shared().database(), ring(&[&kek(folder.path(), "kek")]));
                let store = store(&database, &ring).expect("an empty database");
                Stand { folder, store, database }
            }
        }
    }

    pub fn images(&self) -> PathBuf {
        self.folder.path().join("images")
    }

    pub fn sql(&self, sql: &str) -> String {
        shared().sql(&self.database, sql)
    }
}

/// A file with a KEK.
pub fn kek(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    make_kek(&path, None).expect("drawn");
    path
}

pub fn ring(files: &[&Path]) -> KeyRing {
    KeyRing::of_files(files, AfterWrongPin::Refuse).expect("read")
}

pub fn place(database: &str) -> DatabaseUrl {
    DatabaseUrl::named(&shared().url(database)).expect("a URL")
}

pub fn store(database: &str, ring: &KeyRing) -> Result<KeyStore, collector::registry::RegistryError> {
    let reader = Reader::open_or_make(&place(database)).expect("the server");
    KeyStore::of(&reader, Some(ring), Path::new("no folder"))
}
