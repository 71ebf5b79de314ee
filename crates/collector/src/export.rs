//! Readings for other programs: CSV and Parquet, streamed a few thousand at a time.

mod parquet_file;
mod telegrams;
mod totals;

pub use telegrams::{TelegramSelection, export_telegrams};

use crate::mbus_meter::MbusMeterId;
use crate::network::GlobalMeterId;
use crate::store::{MeterFilter, Reader, StoreError, Stored, stored};
use jiff::Timestamp;
use std::io::{self, Write};
use totals::Totals;
use wire::meter::Suite;

/// Readings that are read at a time.
const CHUNK: usize = 10_000;

/// The format of exported readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text with a line of names, as RFC 4180 has it, in UTF-8.
    Csv,
    /// Apache Parquet, compressed with Snappy.
    Parquet,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The meters; none: all meters of all networks.
    pub meters: Vec<GlobalMeterId>,
    /// From then on, in s.
    pub from_s: i64,
    /// Before that, in s.
    pub to_s: i64,
}

/// Why an export came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A meter that there is not.
    #[error("there is no meter {0}; see `wattseal meters list`")]
    NoMeter(GlobalMeterId),
    /// Another maker's meter of which no telegram came.
    #[error("no telegram of meter {0} came; see `wattseal meters mbus list`")]
    NoMbusMeter(MbusMeterId),
    /// The output cannot be written.
    #[error("the export cannot be written: {0}")]
    Write(#[from] io::Error),
    /// The output cannot be written, by Parquet's error.
    #[error("the export cannot be written: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
}

impl From<csv::Error> for ExportError {
    fn from(error: csv::Error) -> ExportError {
        ExportError::Write(error.into())
    }
}

/// One reading as it is written. Both formats have these columns, in this order.
struct Line {
    meter: GlobalMeterId,
    stored: Stored,
    /// The meter's total as of it.
    total_dwh: Option<i64>,
}

impl Line {
    fn suite(&self) -> Suite {
        Suite::from_code((self.stored.flags >> 1 & 7) as u8).unwrap_or(Suite::None)
    }

    fn time_set(&self) -> bool {
        self.stored.flags & 1 == 0
    }

    fn lost(&self) -> i64 {
        self.stored.flags >> 8 & 0xff
    }
}

/// The output of rows.
trait Sink {
    fn write(&mut self, line: &Line) -> Result<(), ExportError>;
}

/// Writes the readings of a selection, meter by meter, oldest first: columns `meter`, `time` (UTC),
/// `power_w`, `energy_wh` (the register), `epoch`, `n`, `suite`, `time_set` (false: `time` is when
/// it was heard), `lost` (measurements lost since the meter's start), `rssi_dbm`, `heard` (UTC),
/// `total_wh` (energy since the meter's first start), and, where there is a meter of another
/// network than 0 among them, `network`. A service may go on writing meanwhile. progress: hears how
/// many are written. Returns how many.
///
/// # Errors
/// [`ExportError`]; what was written then is not whole.
pub fn export(
    reader: &Reader,
    selection: &Selection,
    format: Format,
    to: impl Write + Send,
    mut progress: impl FnMut(u64),
) -> Result<u64, ExportError> {
    let meters = chosen(reader, selection)?;
    let networks = meters.iter().any(|meter| !meter.network.is_default());
    match format {
        Format::Csv => {
            let mut sink = CsvSink { to: csv::Writer::from_writer(to), networks };
            sink.to.write_record(NAMES.iter().chain(networks.then_some(&NETWORK)))?;
            let lines = each(reader, selection, &meters, &mut sink, &mut progress)?;
            sink.to.flush()?;
            Ok(lines)
        }
        Format::Parquet => {
            let mut sink = parquet_file::ParquetSink::new(to, networks)?;
            let lines = each(reader, selection, &meters, &mut sink, &mut progress)?;
            sink.finish()?;
            Ok(lines)
        }
    }
}

const NAMES: [&str; 12] = [
    "meter",
    "time",
    "power_w",
    "energy_wh",
    "epoch",
    "n",
    "suite",
    "time_set",
    "lost",
    "rssi_dbm",
    "heard",
    "total_wh",
];

/// The last column, so that the others are where they are without it.
const NETWORK: &str = "network";

/// The meters of a selection, in order.
fn chosen(reader: &Reader, selection: &Selection) -> Result<Vec<GlobalMeterId>, ExportError> {
    let known: Vec<GlobalMeterId> =
        reader.meters(MeterFilter::All, 0)?.into_iter().map(|meter| meter.meter).collect();
    let mut meters = selection.meters.clone();
    meters.sort_unstable();
    meters.dedup();
    match meters.iter().find(|meter| !known.contains(meter)) {
        Some(missing) => Err(ExportError::NoMeter(*missing)),
        None => Ok(if meters.is_empty() { known } else { meters }),
    }
}

fn each(
    reader: &Reader,
    selection: &Selection,
    meters: &[GlobalMeterId],
    sink: &mut impl Sink,
    progress: &mut impl FnMut(u64),
) -> Result<u64, ExportError> {
    let mut lines = 0;
    for meter in meters.iter().copied() {
        let totals = reader.ask(|session| Totals::of(session, meter))?;
        let mut after = None;
        loop {
            let range = (selection.from_s, selection.to_s);
            let (page, next) = reader.ask(|session| stored(session, meter, range, after, CHUNK))?;
            for stored in page {
                let total_dwh = totals.at(stored.at.epoch, stored.at.n, stored.energy_dwh);
                sink.write(&Line { meter, stored, total_dwh })?;
                lines += 1;
            }
            progress(lines);
            after = next;
            if after.is_none() {
                break;
            }
        }
    }
    Ok(lines)
}

struct CsvSink<W: Write> {
    to: csv::Writer<W>,
    /// Adds a column for the network.
    networks: bool,
}

impl<W: Write> Sink for CsvSink<W> {
    fn write(&mut self, line: &Line) -> Result<(), ExportError> {
        let Stored { at, power_w, energy_dwh, rssi_dbm, heard_ms, .. } = line.stored;
        let network = self.networks.then(|| line.meter.network.to_string());
        let columns = [
            line.meter.meter.to_string(),
            utc(at.at_s * 1000),
            power_w.to_string(),
            format!("{}.{}", energy_dwh / 10, energy_dwh % 10),
            at.epoch.to_string(),
            at.n.to_string(),
            line.suite().to_string(),
            line.time_set().to_string(),
            line.lost().to_string(),
            rssi_dbm.map_or(String::new(), |rssi_dbm| rssi_dbm.to_string()),
            utc(heard_ms),
            line.total_dwh
                .map_or(String::new(), |total_dwh| format!("{}.{}", total_dwh / 10, total_dwh % 10)),
        ];
        self.to.write_record(columns.into_iter().chain(network))?;
        Ok(())
    }
}

/// RFC 3339; a time outside of the calendar as a number.
fn utc(at_ms: i64) -> String {
    Timestamp::from_millisecond(at_ms).map_or_else(|_| at_ms.to_string(), |time| time.to_string())
}
