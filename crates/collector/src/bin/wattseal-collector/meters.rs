//! `meters`: the keys of a collector.

use crate::failure::CommandError;
use crate::files::Files;
use crate::mbus::{self, MbusCommand};
use crate::names::meter;
use crate::times::time;
use clap::{Args, Subcommand};
use collector::network::{GlobalMeterId, NetworkId};
use collector::registry::{
    AfterWrongPin, Images, ListedMeter, MadeKek, MeterFile, Pkcs11Uri, RegistryError, WrappedKeys, make_kek,
    require_suite,
};
use collector::store::{MeterFilter, Reader};
use jiff::Timestamp;
use output::{Answer, Bar, Format, csv, grouped, json, table};
use serde::Serialize;
use std::path::{Path, PathBuf};
use wire::meter::{MeterId, Setup, Suite};

#[derive(Args)]
pub(crate) struct MetersArgs {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    files: Files,
    /// Format of the rows
    #[arg(long, value_enum, default_value_t = Format::Table, global = true)]
    format: Format,
}

#[derive(Subcommand)]
enum What {
    /// All meters, also those that are revoked, with their last readings
    #[command(after_help = "Example: wattseal meters list --format csv")]
    List,
    /// Draw keys for new meters, register them, and write what their maker writes into them
    #[command(
        after_help = "For each meter there are three files: 00258.flash.bin, 176 bytes for the symbol ws_provision; 00258.eeprom.bin, 1024 \
                      bytes; and 00258.eep, the same in Intel hex, for avrdude -p m328p -U eeprom:w:00258.eep:i\n\
                      Its private key is in them: delete them when the meter is made.\n\n\
                      A meter of another network than 0 has the network's number before its own; the first one begins the network, with a \
                      key pair of its own for the collector.\n\n\
                      Examples: wattseal meters provision 258 --suite ecies-ecdsa --interval 60 --images for-the-maker\n          \
                      wattseal meters provision 7-258 7-259 --images for-the-maker"
    )]
    Provision(ProvisionArgs),
    /// Register a meter again from a copy of its file
    #[command(after_help = "Example: wattseal meters add backup/00258.toml")]
    Add {
        /// The copy of keys/meters/00258.toml
        file: PathBuf,
    },
    /// Draw new keys for a meter that is to be made again; from now on it is not heard with its old
    /// ones
    #[command(after_help = "Example: wattseal meters rotate 258 --images for-the-maker")]
    Rotate {
        /// The meter
        #[arg(value_parser = meter)]
        meter: GlobalMeterId,
        #[command(flatten)]
        images: ImagesArgs,
    },
    /// Hear a meter no more; its secret keys go
    #[command(after_help = "Example: wattseal meters revoke 258")]
    Revoke {
        /// The meter
        #[arg(value_parser = meter)]
        meter: GlobalMeterId,
    },
    /// Draw a key-encryption key, for keys in a database of PostgreSQL, and show its id
    #[command(
        after_help = "Keep a copy of it apart from the database and its backups: without it the keys in them are lost.\n\n\
                      Examples: wattseal meters new-kek wattseal.kek\n          \
                      wattseal meters new-kek wattseal.kek --pkcs11 'pkcs11:token=wattseal;object=kek-1?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=file:/etc/wattseal/pin'"
    )]
    NewKek {
        /// The file to make, readable by its owner only
        file: PathBuf,
        /// Wrap it under this key of a PKCS#11 token (RFC 7512), which never leaves that: the file
        /// has the URI and what is wrapped. The token's key is made where there is none of that
        /// name
        // A text, so that nothing of a PIN is shown where it is wrong.
        #[arg(long, value_name = "URI")]
        pkcs11: Option<String>,
    },
    /// Take the keys of a folder, and what belongs to them, into the database; no service may use
    /// them meanwhile
    #[command(
        after_help = "Example: wattseal meters import wattseal.keys --db postgres://wattseal@localhost/wattseal --kek-file wattseal.kek"
    )]
    Import {
        /// The folder of keys; its files stay: delete them when workers have started without them
        folder: PathBuf,
    },
    /// Meters of other makers, whose telegrams come by wireless M-Bus
    #[command(after_help = "Example: wattseal meters mbus import keys.csv")]
    Mbus {
        #[command(subcommand)]
        command: MbusCommand,
    },
    /// Count the keys in the database by the key-encryption key that they are sealed under
    #[command(
        after_help = "Example: wattseal meters keks --db postgres://wattseal@localhost/wattseal --kek-file wattseal.kek"
    )]
    Keks,
    /// Seal all keys in the database under the first --kek-file, while workers go on that were
    /// started with it, too
    #[command(
        after_help = "Start each worker with both files first. Afterwards the old one is needed for old backups alone.\n\n\
                      Example: wattseal meters rewrap --db postgres://wattseal@localhost/wattseal --kek-file new.kek --kek-file wattseal.kek"
    )]
    Rewrap,
}

#[derive(Args)]
pub(crate) struct ImagesArgs {
    /// Folder of the images for the maker; made if it is missing
    #[arg(long, value_name = "FOLDER", default_value = "wattseal.images")]
    pub(crate) images: PathBuf,
}

/// Settings of a new meter's radio, converter and clock.
#[derive(Args)]
pub(crate) struct BoardArgs {
    /// Seconds between measurements
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) interval: u16,
    /// Radio channel: an RFM12B's group, a CC2500's CHANNR
    #[arg(long, value_name = "BYTE", default_value = "210", value_parser = byte)]
    pub(crate) channel: u8,
    /// Output power, as the radio has it
    #[arg(long, value_name = "BYTE", default_value = "0", value_parser = byte)]
    pub(crate) power: u8,
    /// Voltage of a step of the converter, in µV
    #[arg(long, value_name = "UV", default_value_t = Setup::usual(1).voltage_uv)]
    pub(crate) voltage_uv: u32,
    /// Current of a step of the converter, in µA
    #[arg(long, value_name = "UA", default_value_t = Setup::usual(1).current_ua)]
    pub(crate) current_ua: u32,
    /// By how much later the voltage is to be taken, in 1/256 of a sampling interval
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) phase: i16,
}

#[derive(Args)]
struct ProvisionArgs {
    /// The meters' numbers, 1 to 65535; 7-258 is meter 258 of network 7
    #[arg(required = true, value_name = "[NETWORK-]METER", value_parser = meter)]
    meters: Vec<GlobalMeterId>,
    /// First suite of the meters: none, aes128-gcm, aes256-gcm, ecies, ecies-ecdsa, ascon-aead128
    /// or aes256-gcm-rekeyed
    #[arg(long, value_name = "SUITE", default_value = "aes128-gcm", value_parser = suite)]
    suite: Suite,
    /// Radio address of the meter, as 0x42; with an RFM12B 0x40 and a node, 1 to 30 [default: by
    /// its number, another than the collector's]
    #[arg(long, value_name = "BYTE", value_parser = byte)]
    address: Option<u8>,
    /// Radio address of the collector; 0x4f is node 15, as RFM12Pi and RFM69Pi are set
    #[arg(long, value_name = "BYTE", default_value = "0x4f", value_parser = byte)]
    collector_address: u8,
    #[command(flatten)]
    board: BoardArgs,
    /// Their firmware, meter.elf: it has to have the suite, which not every build has
    #[arg(long, value_name = "ELF")]
    firmware: Option<PathBuf>,
    #[command(flatten)]
    images: ImagesArgs,
}

fn suite(name: &str) -> Result<Suite, String> {
    let names = Suite::ALL.map(Suite::name).join(", ");
    Suite::named(name).ok_or_else(|| format!("the suites are: {names}"))
}

/// 66, or 0x42.
pub(crate) fn byte(text: &str) -> Result<u8, String> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|_| "write a byte as 66 or 0x42".into())
}

/// A meter that was provisioned: what its maker needs.
#[derive(Serialize)]
struct Made {
    meter: MeterId,
    /// Of all rows, where one is of another network than 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<NetworkId>,
    epoch: u32,
    suite: Suite,
    flash: PathBuf,
    eeprom: PathBuf,
    eeprom_hex: PathBuf,
    note: PathBuf,
}

impl Made {
    fn of((file, images): (MeterFile, Images)) -> Made {
        let GlobalMeterId { network, meter } = file.meter();
        let suite = file.record.setup.suite;
        let Images { flash, eeprom, eeprom_hex, note } = images;
        Made { meter, network: Some(network), epoch: file.epoch, suite, flash, eeprom, eeprom_hex, note }
    }
}

pub(crate) fn run(args: MetersArgs) -> Result<Answer, CommandError> {
    if let What::NewKek { file, pkcs11 } = &args.what {
        let token = pkcs11.as_deref().map(Pkcs11Uri::parse).transpose().map_err(RegistryError::from)?;
        let MadeKek { id, made_in_token } = make_kek(file, token.as_ref())?;
        let mut remark = "wattseal: keep a copy of it apart from the database and its backups: without it the keys in them are lost".to_owned();
        if token.is_some() {
            remark += ", and so they are without the token's key";
        }
        if made_in_token {
            remark += "\nwattseal: the token had no key of that name; one was made in it";
        }
        return Ok(Answer { data: format!("{id}\n"), remark, success: true });
    }
    let place = args.files.database.place()?;
    // A token is asked once.
    let ring = args.files.keks(AfterWrongPin::TryOnce)?;
    let reader = match ring {
        Some(_) => Some(Reader::open_or_make(&place)?),
        None => Reader::open_if_any(&place)?,
    };
    let keys = args.files.key_store(reader.as_ref(), ring.as_ref())?;
    // The database's figures of the meters; nothing if there is no database.
    let now_ms = Timestamp::now().as_millisecond();
    if let What::Mbus { command } = args.what {
        return mbus::run(command, &keys, reader.as_ref(), args.format);
    }
    let stored = reader.map_or(Ok(Vec::new()), |reader| reader.meters(MeterFilter::All, now_ms))?;
    let above = |meter| stored.iter().find(|of| of.meter == meter).map_or(0, |of| of.epoch);
    let (data, remark) = match args.what {
        What::List => (listing(&keys.list(&stored)?, args.format)?, String::new()),
        What::Provision(args_of) => {
            if let Some(firmware) = &args_of.firmware {
                require_suite(firmware, args_of.suite)?;
            }
            let mut made = Vec::new();
            for meter in &args_of.meters {
                let registry = keys.open_network(meter.network)?;
                let (setup, images) = (setup(meter.meter, &args_of), &args_of.images.images);
                made.push(Made::of(registry.provision(setup, above(*meter), images)?));
            }
            (makers(made, args.format)?, DELETE.to_owned())
        }
        What::Rotate { meter, images } => {
            let registry = keys.open_existing(meter.network)?;
            let made = Made::of(registry.rotate(meter.meter, above(meter), &images.images)?);
            (makers(vec![made], args.format)?, DELETE.to_owned())
        }
        What::Add { file } => {
            let file = keys.add_file(&file)?;
            (String::new(), format!("wattseal: meter {} is registered, epoch {}", file.meter(), file.epoch))
        }
        What::Revoke { meter } => {
            let revoked = keys.open_existing(meter.network)?.revoke(meter.meter)?;
            (String::new(), format!("wattseal: meter {meter} is revoked, epoch {}", revoked.epoch))
        }
        // They were done above.
        What::NewKek { .. } | What::Mbus { .. } => (String::new(), String::new()),
        What::Import { folder } => {
            let meters = keys.import(&folder)?;
            let files = folder.display();
            let remark = format!(
                "wattseal: the keys of {} meters are in {keys}; delete {files} when workers have started without it",
                grouped(meters as i64)
            );
            (String::new(), remark)
        }
        What::Keks => (wrapped(&keys.wrapped()?, args.format)?, String::new()),
        What::Rewrap => {
            let (bar, all) = (Bar::new(), keys.wrapped()?.iter().map(|of| of.keys).sum());
            let done = keys.rewrap(|done| bar.report(done, all, "keys"))?;
            let remark = format!(
                "wattseal: {} keys were sealed anew; all are under {}",
                grouped(done.keys as i64),
                done.kek
            );
            (wrapped(&keys.wrapped()?, args.format)?, remark)
        }
    };
    Ok(Answer { data, remark, success: true })
}

pub(crate) const DELETE: &str = "wattseal: these images are for one writing each, and have the meters' keys; delete them when the meters are made";

fn wrapped(keks: &[WrappedKeys], format: Format) -> Result<String, CommandError> {
    Ok(match format {
        Format::Json => json(keks)?,
        Format::Csv => csv(keks)?,
        Format::Table => {
            let mut rows = table(&["key-encryption key", "keys"], 1);
            for WrappedKeys { kek, keys } in keks {
                rows.add_row([kek.clone(), grouped(*keys as i64)]);
            }
            format!("{rows}\n")
        }
    })
}

fn setup(meter: MeterId, args: &ProvisionArgs) -> Setup {
    Setup {
        meter,
        address: args.address.unwrap_or_else(|| Setup::node_address(meter, args.collector_address)),
        collector_address: args.collector_address,
        channel: args.board.channel,
        power: args.board.power,
        interval_s: args.board.interval,
        suite: args.suite,
        voltage_uv: args.board.voltage_uv,
        current_ua: args.board.current_ua,
        phase: args.board.phase,
    }
}

fn makers(mut made: Vec<Made>, format: Format) -> Result<String, CommandError> {
    let names: Vec<GlobalMeterId> =
        made.iter().map(|row| row.network.unwrap_or_default().meter(row.meter)).collect();
    if names.iter().all(|name| name.network.is_default()) {
        for row in &mut made {
            row.network = None;
        }
    }
    Ok(match format {
        Format::Json => json(&made)?,
        Format::Csv => csv(&made)?,
        Format::Table => {
            let mut rows = table(&["meter", "epoch", "suite", "flash", "EEPROM", "EEPROM, Intel hex"], 6);
            for (row, name) in made.iter().zip(names) {
                let path = |path: &Path| path.display().to_string();
                rows.add_row([
                    name.to_string(),
                    row.epoch.to_string(),
                    row.suite.to_string(),
                    path(&row.flash),
                    path(&row.eeprom),
                    path(&row.eeprom_hex),
                ]);
            }
            format!("{rows}\n")
        }
    })
}

fn listing(meters: &[ListedMeter], format: Format) -> Result<String, CommandError> {
    Ok(match format {
        Format::Json => json(meters)?,
        Format::Csv => csv(meters)?,
        Format::Table => {
            let header = [
                "meter", "label", "state", "epoch", "suite", "interval", "address", "heard", "power",
                "energy", "total",
            ];
            let mut rows = table(&header, 7);
            for row in meters {
                let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".into());
                rows.add_row([
                    row.name().to_string(),
                    row.label.clone(),
                    row.state.into(),
                    row.epoch.to_string(),
                    row.suite.to_string(),
                    format!("{} s", row.interval_s),
                    format!("0x{:02x}", row.address),
                    or_dash(row.heard_s.map(time)),
                    or_dash(row.power_w.map(|power| format!("{} W", grouped(power.into())))),
                    or_dash(row.energy_wh.map(|energy| format!("{energy:.1} Wh"))),
                    or_dash(row.total_wh.map(|total| format!("{total:.1} Wh"))),
                ]);
            }
            format!("{rows}\n")
        }
    })
}
