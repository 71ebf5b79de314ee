//! `--db` and `--keys`.

use clap::Args;
use std::path::PathBuf;

/// Where a collector keeps what it knows.
#[derive(Args)]
pub(crate) struct Files {
    /// The database; made where there is none
    #[arg(long, value_name = "FILE", default_value = "wattseal.db", global = true)]
    pub(crate) db: PathBuf,
    /// The folder of keys; made where there is none
    #[arg(long, value_name = "FOLDER", default_value = "wattseal.keys", global = true)]
    pub(crate) keys: PathBuf,
}
