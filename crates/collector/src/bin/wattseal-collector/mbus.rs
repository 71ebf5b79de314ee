//! `meters mbus`: other makers' meters and their keys.

use crate::failure::CommandError;
use clap::Subcommand;
use collector::mbus::read_key_file;
use collector::mbus_meter::MbusMeterId;
use collector::registry::{KeyStore, MbusMeter};
use collector::store::{MbusMeterRecord, Reader};
use output::{Answer, Format, csv, grouped, json, table};
use serde::Serialize;
use std::path::PathBuf;

#[derive(Subcommand)]
pub(crate) enum MbusCommand {
    /// Register meters by their maker's key file, or change them: CSV with a line of names, such as
    /// manufacturer, id, key, and version and type if given
    #[command(
        after_help = "An empty key is of a meter that does not encrypt, or of a radio beside a meter. Delete the file afterwards.\n\n\
                      Example: wattseal meters mbus import keys.csv"
    )]
    Import {
        /// The maker's file
        file: PathBuf,
        /// Take telegrams of these meters that nothing authenticates: profile A, and what is not
        /// encrypted. Anybody can forge those
        #[arg(long)]
        unauthenticated: bool,
    },
    /// All registered meters, without keys, with what was heard of them
    #[command(after_help = "Example: wattseal meters mbus list --format csv")]
    List,
    /// Forget a meter and its key; its stored telegrams stay
    #[command(after_help = "Example: wattseal meters mbus remove ELS-12345678")]
    Remove {
        /// The meter, as its maker's letters and its number
        meter: MbusMeterId,
    },
}

/// A registered meter.
#[derive(Serialize)]
struct Row {
    meter: MbusMeterId,
    has_key: bool,
    takes_unauthenticated: bool,
    telegrams: i64,
    unauthenticated: i64,
    refused: i64,
    refusal: Option<String>,
}

/// reader: of the database, if there is one.
pub(crate) fn run(
    command: MbusCommand,
    keys: &KeyStore,
    reader: Option<&Reader>,
    format: Format,
) -> Result<Answer, CommandError> {
    let heard = reader.map_or(Ok(Vec::new()), Reader::mbus_meters)?;
    let (data, remark) = match command {
        MbusCommand::Import { file, unauthenticated } => {
            let meters = read_key_file(&file, unauthenticated)?;
            let imported = keys.put_mbus_meters(&meters)?;
            let [added, changed] = [imported.added, imported.changed].map(|count| grouped(count as i64));
            let remark = format!(
                "wattseal: {added} meters are new and {changed} changed; delete {} if it is not needed any more",
                file.display()
            );
            (String::new(), remark)
        }
        MbusCommand::List => {
            let rows: Vec<Row> = keys.mbus_meters()?.values().map(|meter| row(meter, &heard)).collect();
            (listing(&rows, format)?, String::new())
        }
        MbusCommand::Remove { meter } => {
            keys.remove_mbus_meter(meter)?;
            (String::new(), format!("wattseal: meter {meter} is not heard any more"))
        }
    };
    Ok(Answer { data, remark, success: true })
}

fn row(meter: &MbusMeter, heard: &[MbusMeterRecord]) -> Row {
    let name = meter.meter.to_string();
    let heard = heard.iter().find(|heard| heard.meter == name);
    Row {
        meter: meter.meter,
        has_key: meter.key.is_some(),
        takes_unauthenticated: meter.unauthenticated,
        telegrams: heard.map_or(0, |heard| heard.telegrams),
        unauthenticated: heard.map_or(0, |heard| heard.unauthenticated),
        refused: heard.map_or(0, |heard| heard.refused),
        refusal: heard.and_then(|heard| heard.refusal.clone()),
    }
}

fn listing(rows: &[Row], format: Format) -> Result<String, CommandError> {
    Ok(match format {
        Format::Json => json(rows)?,
        Format::Csv => csv(rows)?,
        Format::Table => {
            let names = [
                "meter",
                "key",
                "takes unauthenticated",
                "telegrams",
                "unauthenticated",
                "refused",
                "last refusal",
            ];
            let mut shown = table(&names, 1);
            let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
            for row in rows {
                shown.add_row([
                    row.meter.to_string(),
                    yes(row.has_key),
                    yes(row.takes_unauthenticated),
                    grouped(row.telegrams),
                    grouped(row.unauthenticated),
                    grouped(row.refused),
                    row.refusal.clone().unwrap_or_default(),
                ]);
            }
            format!("{shown}\n")
        }
    })
}
