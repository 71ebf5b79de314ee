//! `backup`: a copy of what a collector keeps.

use crate::failure::CommandError;
use crate::files::Files;
use clap::Args;
use collector::backup::{Backup, backup};
use output::{Answer, Format, csv, json, table};
use serde::Serialize;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct BackupArgs {
    /// The folder to make; the copies are in it, with the collector's private key and all meters'
    /// keys
    #[arg(value_name = "FOLDER")]
    into: PathBuf,
    #[command(flatten)]
    files: Files,
    /// Format of the list of copied files
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Serialize)]
struct Copied {
    database: PathBuf,
    keys: PathBuf,
}

pub(crate) fn run(args: BackupArgs) -> Result<Answer, CommandError> {
    let Backup { db, keys } = backup(&args.files.database.place()?, &args.files.keys, &args.into)?;
    let data = match args.format {
        Format::Table => {
            let mut rows = table(&["copied", "to"], 2);
            rows.add_row(["database".to_owned(), db.display().to_string()]);
            rows.add_row(["keys".to_owned(), keys.display().to_string()]);
            format!("{rows}\n")
        }
        Format::Json => json(&[Copied { database: db, keys }])?,
        Format::Csv => csv(&[Copied { database: db, keys }])?,
    };
    let remark = "wattseal: whoever has this copy has all keys: keep it as safe as the collector".to_owned();
    Ok(Answer { data, remark, success: true })
}
