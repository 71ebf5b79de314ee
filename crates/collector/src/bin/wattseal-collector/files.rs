//! `--db`, `--keys` and `--kek-file`.

use crate::failure::CommandError;
use clap::Args;
use collector::registry::{AfterWrongPin, KEK_VARIABLE, KeyRing, KeyStore};
use collector::store::{DatabaseUrl, Reader};
use std::path::PathBuf;
use zeroize::Zeroizing;

/// The files of a collector.
#[derive(Args)]
pub(crate) struct Files {
    #[command(flatten)]
    pub(crate) database: Database,
    /// The folder of keys; made where there is none
    #[arg(long, value_name = "FOLDER", default_value = "wattseal.keys", global = true)]
    pub(crate) keys: PathBuf,
    /// The keys are in the PostgreSQL database, sealed under the key-encryption key in this file,
    /// which its owner alone may read, or which a PKCS#11 token unwraps; may be repeated: the first
    /// one seals what is new there [default: that of the environment's WATTSEAL_KEK, or the folder
    /// of keys]
    #[arg(long, value_name = "FILE", global = true)]
    kek_file: Vec<PathBuf>,
}

impl Files {
    /// Returns the KEKs of the keys in the database; `None`: they are in the folder.
    pub(crate) fn keks(&self, after: AfterWrongPin) -> Result<Option<KeyRing>, CommandError> {
        let is_server = matches!(self.database.place()?, DatabaseUrl::Server(_));
        if !self.kek_file.is_empty() {
            if !is_server {
                let what = "--kek-file is for keys in a database of PostgreSQL: give it with --db postgres://USER@HOST/NAME";
                return Err(CommandError::Usage(what.into()));
            }
            return Ok(Some(KeyRing::of_files(&self.kek_file, after)?));
        }
        match std::env::var(KEK_VARIABLE).map(Zeroizing::new) {
            Ok(text) if is_server => Ok(Some(text.parse()?)),
            _ => Ok(None),
        }
    }

    /// Returns the place of the keys. reader: of the database, if there is one; ring:
    /// [`Files::keks`].
    pub(crate) fn key_store(
        &self,
        reader: Option<&Reader>,
        ring: Option<&KeyRing>,
    ) -> Result<KeyStore, CommandError> {
        Ok(match reader {
            None => KeyStore::Folder(self.keys.clone()),
            Some(reader) => KeyStore::of(reader, ring, &self.keys)?,
        })
    }
}

/// The location of a collector's database.
#[derive(Args)]
pub(crate) struct Database {
    /// The database: a file, made where there is none, or a database of a PostgreSQL server
    // A text, so that nothing of a password is shown where it is wrong.
    #[arg(long, value_name = "FILE|postgres://USER@HOST/NAME", default_value = "wattseal.db", global = true)]
    db: String,
}

impl Database {
    pub(crate) fn place(&self) -> Result<DatabaseUrl, CommandError> {
        DatabaseUrl::named(&self.db).map_err(|wrong| CommandError::Usage(format!("--db: {wrong}")))
    }
}
