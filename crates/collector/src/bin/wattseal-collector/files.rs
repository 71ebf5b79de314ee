//! `--db` and `--keys`.

use crate::failure::CommandError;
use clap::Args;
use collector::store::Place;
use std::path::PathBuf;

/// Where a collector keeps what it knows.
#[derive(Args)]
pub(crate) struct Files {
    #[command(flatten)]
    pub(crate) database: Database,
    /// The folder of keys; made where there is none
    #[arg(long, value_name = "FOLDER", default_value = "wattseal.keys", global = true)]
    pub(crate) keys: PathBuf,
}

/// Where a collector's database is.
#[derive(Args)]
pub(crate) struct Database {
    /// The database: a file, made where there is none, or a database of a PostgreSQL server
    // A text, so that nothing of a password is shown where it is wrong.
    #[arg(long, value_name = "FILE|postgres://USER@HOST/NAME", default_value = "wattseal.db", global = true)]
    db: String,
}

impl Database {
    pub(crate) fn place(&self) -> Result<Place, CommandError> {
        Place::named(&self.db).map_err(|wrong| CommandError::Usage(format!("--db: {wrong}")))
    }
}
