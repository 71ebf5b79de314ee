//! `migrate`: moves a collector's database to the other engine.

use crate::failure::CommandError;
use clap::Args;
use collector::relocation::{Relocated, Stage, relocate};
use collector::store::DatabaseUrl;
use output::{Answer, Bar, Format, csv, grouped, json, table};
use serde::Serialize;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct MigrateArgs {
    /// The database that the collector has now: a file, or a database of a PostgreSQL server
    // A text, so that nothing of a password is shown where it is wrong.
    #[arg(long, value_name = "FILE|postgres://USER@HOST/NAME")]
    from: String,
    /// The one that it is to have: the other of both; a file is made, a server's database has to be
    /// there, empty
    #[arg(long, value_name = "FILE|postgres://USER@HOST/NAME")]
    to: String,
    /// The folder of keys: it stays as it is, and is looked at
    #[arg(long, value_name = "FOLDER", default_value = "wattseal.keys")]
    keys: PathBuf,
    /// Format of the list of moved rows
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Serialize)]
struct Moved {
    table: &'static str,
    rows: u64,
}

pub(crate) fn run(args: MigrateArgs) -> Result<Answer, CommandError> {
    let place = |option: &str, text: &str| {
        DatabaseUrl::named(text).map_err(|wrong| CommandError::Usage(format!("{option}: {wrong}")))
    };
    let (from, to) = (place("--from", &args.from)?, place("--to", &args.to)?);
    let bar = Bar::new();
    let Relocated { rows, pause } = relocate(&from, &to, &args.keys, |stage| {
        match stage {
        Stage::NoKeys(path) => bar.aside(|| {
            let path = path.display();
            eprintln!("wattseal: there are no keys in {path}, and a collector does not start without them: nothing is compared with them");
        }),
        Stage::Copying(progress) | Stage::Settling(progress) => {
            let what = format!("meters, {} rows changed", grouped(progress.rows as i64));
            // Other tables come after the meters.
            bar.report(progress.meters, progress.of + 1, &what);
        }
        Stage::Waiting(by) => bar.aside(|| {
            eprintln!(
                "wattseal: all is copied but what came just now. STOP THE COLLECTOR NOW{by}, and all workers: this goes on by itself \
                 as soon as nobody writes. Meters keep what is not acknowledged meanwhile, and send it again"
            );
        }),
    }
    })?;
    bar.report(1, 1, "");
    let rows: Vec<Moved> = rows.into_iter().map(|(table, rows)| Moved { table, rows }).collect();
    let data = match args.format {
        Format::Table if rows.is_empty() => String::new(),
        Format::Table => {
            let mut shown = table(&["table", "rows"], 1);
            for Moved { table, rows } in &rows {
                shown.add_row([(*table).to_owned(), grouped(*rows as i64)]);
            }
            format!("{shown}\n")
        }
        Format::Json => json(&rows)?,
        Format::Csv => csv(&rows)?,
    };
    let remark = format!(
        "wattseal: all is in {to}, and compared; nobody could store for {:.1} s. Start the collector with --db {to} and the same --keys; \
         {from} is not used any more",
        pause.as_secs_f64()
    );
    Ok(Answer { data, remark, success: true })
}
