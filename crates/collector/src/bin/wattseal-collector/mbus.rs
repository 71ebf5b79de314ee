//! `meters mbus`: other makers' meters and their keys.

use crate::failure::CommandError;
use crate::meters::{BoardArgs, DELETE, ImagesArgs, byte};
use clap::{Args, Subcommand, ValueEnum};
use collector::mbus::read_key_file;
use collector::mbus_meter::MbusMeterId;
use collector::registry::{Images, KeyStore, MbusImages, MbusMeter};
use collector::store::{MbusMeterRecord, Reader};
use output::{Answer, Format, csv, grouped, json, table};
use serde::Serialize;
use std::path::PathBuf;
use wire::wireless_mbus::{FrameFormat, MeterSetup, SecurityProfile};

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
    /// Draw keys for new meters whose firmware is make -C device APP=oms, register them, and write
    /// what their maker writes into them
    #[command(
        after_help = "For each meter there are ELS-12345678.flash.bin, 176 bytes for the symbol ws_provision; ELS-12345678.eeprom.bin, 1024 \
                      bytes; ELS-12345678.eep, the same in Intel hex; and ELS-12345678.csv, its key for another receiver\n\
                      Its key is in them: delete them when the meter is made.\n\n\
                      Examples: wattseal meters mbus provision ELS-12345678 --interval 60 --images for-the-maker\n          \
                      wattseal meters mbus provision ELS-12345678 ELS-12345679 --profile d --frame a"
    )]
    Provision(ProvisionArgs),
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

#[derive(Args)]
pub(crate) struct ProvisionArgs {
    /// The meters, each as its maker's letters and its number
    #[arg(required = true, value_name = "METER")]
    meters: Vec<MbusMeterId>,
    /// Security profile of OMS
    #[arg(long, value_enum, default_value_t = Profile::B)]
    profile: Profile,
    /// Frame format of EN 13757-4
    #[arg(long, value_enum, default_value_t = FrameOption::B)]
    frame: FrameOption,
    /// The meters' version
    #[arg(long, value_name = "BYTE", default_value = "1", value_parser = byte)]
    meter_version: u8,
    /// Take telegrams of profile A, which nothing authenticates. Anybody can forge those
    #[arg(long)]
    unauthenticated: bool,
    #[command(flatten)]
    board: BoardArgs,
    #[command(flatten)]
    images: ImagesArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum Profile {
    /// Mode 5: encrypted, and authenticated by nothing
    A,
    /// Mode 7: AES-CBC and a CMAC
    B,
    /// Mode 10: AES-CCM
    D,
}

#[derive(Clone, Copy, ValueEnum)]
enum FrameOption {
    /// A block of 10 bytes and further ones of 16, each with a CRC
    A,
    /// A block of up to 126 bytes, with a CRC
    B,
}

impl ProvisionArgs {
    fn setup(&self, meter: MbusMeterId) -> MeterSetup {
        let BoardArgs { interval, channel, power, voltage_uv, current_ua, phase } = self.board;
        let profile = match self.profile {
            Profile::A => SecurityProfile::A,
            Profile::B => SecurityProfile::B,
            Profile::D => SecurityProfile::D,
        };
        let format = match self.frame {
            FrameOption::A => FrameFormat::A,
            FrameOption::B => FrameFormat::B,
        };
        MeterSetup {
            address: meter.address(self.meter_version, ELECTRICITY),
            profile,
            format,
            channel,
            power,
            interval_s: interval,
            voltage_uv,
            current_ua,
            phase,
        }
    }
}

/// The device type of a meter for electricity: OMS volume 2, table 2.
const ELECTRICITY: u8 = 2;

/// A meter that was provisioned: what its maker needs.
#[derive(Serialize)]
struct Made {
    meter: MbusMeterId,
    /// The number of its security mode.
    mode: u8,
    flash: PathBuf,
    eeprom: PathBuf,
    eeprom_hex: PathBuf,
    note: PathBuf,
    key_file: PathBuf,
}

impl Made {
    fn of(meter: MbusMeterId, setup: &MeterSetup, files: MbusImages) -> Made {
        let MbusImages { images: Images { flash, eeprom, eeprom_hex, note }, key_file } = files;
        Made { meter, mode: setup.profile.mode(), flash, eeprom, eeprom_hex, note, key_file }
    }
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
        MbusCommand::Provision(args) => {
            let mut made = Vec::new();
            for &meter in &args.meters {
                let setup = args.setup(meter);
                let files = keys.provision_mbus_meter(&setup, args.unauthenticated, &args.images.images)?;
                made.push(Made::of(meter, &setup, files));
            }
            (makers(&made, format)?, DELETE.to_owned())
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

fn makers(made: &[Made], format: Format) -> Result<String, CommandError> {
    Ok(match format {
        Format::Json => json(made)?,
        Format::Csv => csv(made)?,
        Format::Table => {
            let mut rows = table(&["meter", "mode", "flash", "others"], 4);
            for row in made {
                rows.add_row([
                    row.meter.to_string(),
                    row.mode.to_string(),
                    row.flash.display().to_string(),
                    ".eep, .eeprom.bin, .csv".to_owned(),
                ]);
            }
            format!("{rows}\n")
        }
    })
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
