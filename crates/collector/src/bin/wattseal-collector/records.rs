//! `audit` and `export`: what a collector has stored, for those who check it and those who go on
//! with it.

use crate::failure::CommandError;
use crate::files::{Database, Files};
use crate::names::meter;
use clap::Args;
use collector::audit::{self, Audit};
use collector::export::{self, Selection, TelegramSelection};
use collector::network::GlobalMeterId;
use collector::registry::{AfterWrongPin, Registry};
use collector::store::Reader;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use output::{Answer, Bar, Format, csv, grouped, json, table};
use serde::Serialize;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct AuditArgs {
    #[command(flatten)]
    files: Files,
    /// Verify signatures and order alone, without the collector's private keys
    #[arg(long)]
    public: bool,
    /// Format of the findings
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Args)]
pub(crate) struct ExportArgs {
    /// File to write; its ending chooses the format
    #[arg(value_name = "OUT.csv|OUT.parquet")]
    out: PathBuf,
    #[command(flatten)]
    database: Database,
    /// Of this meter, as 258, or, of network 7, as 7-258; may be repeated [default: all]
    #[arg(long, value_name = "[NETWORK-]METER", value_parser = meter)]
    meter: Vec<GlobalMeterId>,
    /// Records of other makers' telegrams; --meter is not for them
    #[arg(long, conflicts_with = "meter")]
    wireless_mbus: bool,
    /// From then on: 2026-01-31, or 2026-01-31T12:00:00Z [default: the first]
    #[arg(long, value_name = "TIME", value_parser = time)]
    from: Option<Timestamp>,
    /// Before that [default: the last]
    #[arg(long, value_name = "TIME", value_parser = time)]
    to: Option<Timestamp>,
}

/// A day, which begins at midnight here, or a moment.
fn time(text: &str) -> Result<Timestamp, String> {
    let day = || text.parse::<Date>().ok()?.to_zoned(TimeZone::system()).ok().map(|at| at.timestamp());
    let moment = || text.parse::<Timestamp>().ok();
    moment().or_else(day).ok_or_else(|| "write a time as 2026-01-31 or 2026-01-31T12:00:00Z".into())
}

/// The figures of an audit, one beside the other.
#[derive(Serialize)]
struct Figures {
    messages: u64,
    meters: usize,
    signatures: u64,
    readings: u64,
    alerts: u64,
    gone: u64,
    opened: u64,
    closed: u64,
    totals: usize,
    telegrams: u64,
    telegrams_unauthenticated: u64,
    failures: u64,
}

pub(crate) fn run_audit(args: AuditArgs) -> Result<Answer, CommandError> {
    let reader = Reader::open(args.files.database.place()?)?;
    let registries = match args.public {
        true => Vec::new(),
        false => {
            let ring = args.files.keks(AfterWrongPin::TryOnce)?;
            args.files.key_store(Some(&reader), ring.as_ref())?.open_all()?
        }
    };
    let bar = Bar::new();
    let progress = |done: u64, of: u64| bar.report(done, of, "messages");
    let found = audit::audit(&reader, registries.iter().map(Registry::identity), progress)?;
    let remark = match found.failures {
        0 => String::new(),
        count => format!("wattseal: {} are not as they should be", grouped(count as i64)),
    };
    let data = match args.format {
        Format::Json => json(&[&found])?,
        Format::Csv => csv(&[figures(&found)])?,
        Format::Table => tables(&found),
    };
    Ok(Answer { data, remark, success: found.failures == 0 })
}

fn figures(found: &Audit) -> Figures {
    let Audit { opened, .. } = *found;
    Figures {
        messages: found.messages,
        meters: found.meters,
        signatures: found.signatures,
        readings: found.readings,
        alerts: found.alerts,
        gone: found.gone,
        opened,
        closed: found.closed,
        totals: found.totals,
        telegrams: found.telegrams,
        telegrams_unauthenticated: found.telegrams_unauthenticated,
        failures: found.failures,
    }
}

fn tables(found: &Audit) -> String {
    let mut sums = table(&["signed messages", "count"], 1);
    let meters = found.meters as u64;
    for (what, count) in [
        ("all", found.messages),
        ("  of so many meters", meters),
        ("signature holds", found.signatures),
        ("reading is stored", found.readings),
        ("alert is stored", found.alerts),
        ("reading is older than readings are kept", found.gone),
        ("opened: says what is stored", found.opened),
        ("not opened, for want of the private key", found.closed),
        ("meters whose total was compared with them", found.totals as u64),
        ("telegrams of other makers, authenticated when they came", found.telegrams),
        ("telegrams of other makers, not authenticated", found.telegrams_unauthenticated),
        ("not as it should be", found.failures),
    ] {
        sums.add_row([what.to_owned(), grouped(count as i64)]);
    }
    let mut text = format!("{sums}\n");
    for failure in &found.first {
        let (meter, epoch, n) = (failure.meter, failure.epoch, failure.n);
        text += &format!("meter {meter}, epoch {epoch}, n {n}: {}\n", failure.wrong);
    }
    text
}

pub(crate) fn run_export(args: ExportArgs) -> Result<Answer, CommandError> {
    let format = match args.out.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => export::Format::Csv,
        Some("parquet") => export::Format::Parquet,
        _ => {
            return Err(CommandError::Usage(
                "the file's ending says what it is to be: OUT.csv or OUT.parquet".into(),
            ));
        }
    };
    let second = |at: Option<Timestamp>, none: i64| at.map_or(none, Timestamp::as_second);
    let selection = Selection {
        meters: args.meter,
        from_s: second(args.from, i64::MIN),
        to_s: second(args.to, i64::MAX),
    };
    let reader = Reader::open(args.database.place()?)?;
    // Under its name only when it is whole.
    let beside = beside(&args.out);
    let file = |error| CommandError::file(&args.out, error);
    let to = BufWriter::new(File::create(&beside).map_err(file)?);
    let written = if args.wireless_mbus {
        let Selection { from_s, to_s, .. } = selection;
        let all = TelegramSelection { meters: Vec::new(), from_s, to_s };
        export::export_telegrams(&reader, &all, format, to).map_err(CommandError::from)
    } else {
        export::export(&reader, &selection, format, to, |_| {}).map_err(CommandError::from)
    };
    let written = match written {
        Ok(written) => written,
        Err(failure) => {
            let _ = fs::remove_file(&beside);
            return Err(failure);
        }
    };
    fs::rename(&beside, &args.out).map_err(file)?;
    let remark = format!("wattseal: {} readings in {}", grouped(written as i64), args.out.display());
    Ok(Answer { data: String::new(), remark, success: true })
}

fn beside(out: &Path) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    out.with_file_name(name)
}
