//! Readings as a Parquet file: columns of a row group are gathered, then written one after the
//! other.

use super::{ExportError, Line, Sink};
use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::io::Write;
use std::sync::Arc;

/// Rows of a group: what is held in memory, about 10 MB.
const GROUP: usize = 100_000;

const SCHEMA: &str = "message readings {
    required int32 meter (INTEGER(16, false));
    required int64 time (TIMESTAMP(MILLIS, true));
    required int32 power_w (INTEGER(16, true));
    required double energy_wh;
    required int32 epoch (INTEGER(32, false));
    required int32 n (INTEGER(32, false));
    required binary suite (STRING);
    required boolean time_set;
    required int32 lost (INTEGER(16, false));
    optional int32 rssi_dbm (INTEGER(8, true));
    required int64 heard (TIMESTAMP(MILLIS, true));
    optional double total_wh;
";
const NETWORK: &str = "required int32 network (INTEGER(32, false));\n";

/// The columns of a row group.
#[derive(Default)]
struct Columns {
    meter: Vec<i32>,
    time: Vec<i64>,
    power_w: Vec<i32>,
    energy_wh: Vec<f64>,
    epoch: Vec<i32>,
    n: Vec<i32>,
    suite: Vec<ByteArray>,
    time_set: Vec<bool>,
    lost: Vec<i32>,
    rssi_dbm: Vec<i32>,
    /// 1 where there is a strength.
    rssi_known: Vec<i16>,
    heard: Vec<i64>,
    total_wh: Vec<f64>,
    /// 1 where there is a total.
    total_known: Vec<i16>,
    network: Vec<i32>,
}

/// A Parquet file under way.
pub(super) struct ParquetSink<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Columns,
    /// Adds a column for the network.
    networks: bool,
}

impl<W: Write + Send> ParquetSink<W> {
    pub(super) fn new(to: W, networks: bool) -> Result<ParquetSink<W>, ExportError> {
        let network = if networks { NETWORK } else { "" };
        let schema = Arc::new(parse_message_type(&format!("{SCHEMA}{network}}}"))?);
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let file = SerializedFileWriter::new(to, schema, Arc::new(properties))?;
        Ok(ParquetSink { file, columns: Columns::default(), networks })
    }

    /// Writes what is left, and the footer.
    pub(super) fn finish(mut self) -> Result<(), ExportError> {
        self.write_group()?;
        self.file.close()?;
        Ok(())
    }

    fn write_group(&mut self) -> Result<(), ExportError> {
        let columns = std::mem::take(&mut self.columns);
        if columns.meter.is_empty() {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        write_column::<Int32Type, W>(&mut group, &columns.meter, None)?;
        write_column::<Int64Type, W>(&mut group, &columns.time, None)?;
        write_column::<Int32Type, W>(&mut group, &columns.power_w, None)?;
        write_column::<DoubleType, W>(&mut group, &columns.energy_wh, None)?;
        write_column::<Int32Type, W>(&mut group, &columns.epoch, None)?;
        write_column::<Int32Type, W>(&mut group, &columns.n, None)?;
        write_column::<ByteArrayType, W>(&mut group, &columns.suite, None)?;
        write_column::<BoolType, W>(&mut group, &columns.time_set, None)?;
        write_column::<Int32Type, W>(&mut group, &columns.lost, None)?;
        write_column::<Int32Type, W>(&mut group, &columns.rssi_dbm, Some(&columns.rssi_known))?;
        write_column::<Int64Type, W>(&mut group, &columns.heard, None)?;
        write_column::<DoubleType, W>(&mut group, &columns.total_wh, Some(&columns.total_known))?;
        if self.networks {
            write_column::<Int32Type, W>(&mut group, &columns.network, None)?;
        }
        group.close()?;
        Ok(())
    }
}

/// The next column of a group. known: which rows have a value, where not all do.
pub(super) fn write_column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    known: Option<&[i16]>,
) -> Result<(), ExportError> {
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(values, known, None)?;
        column.close()?;
    }
    Ok(())
}

impl<W: Write + Send> Sink for ParquetSink<W> {
    fn write(&mut self, line: &Line) -> Result<(), ExportError> {
        let stored = &line.stored;
        let columns = &mut self.columns;
        columns.meter.push(i32::from(line.meter.meter));
        columns.time.push(stored.at.at_s * 1000);
        columns.power_w.push(i32::from(stored.power_w));
        columns.energy_wh.push(f64::from(stored.energy_dwh) / 10.0);
        // Numbers without a sign are kept in the same 32 bits.
        columns.epoch.push(stored.at.epoch.cast_signed());
        columns.n.push(stored.at.n.cast_signed());
        columns.suite.push(ByteArray::from(line.suite().name()));
        columns.time_set.push(line.time_set());
        columns.lost.push(line.lost() as i32);
        columns.rssi_dbm.extend(stored.rssi_dbm.map(i32::from));
        columns.rssi_known.push(i16::from(stored.rssi_dbm.is_some()));
        columns.heard.push(stored.heard_ms);
        columns.total_wh.extend(line.total_dwh.map(|total_dwh| total_dwh as f64 / 10.0));
        columns.total_known.push(i16::from(line.total_dwh.is_some()));
        columns.network.push(line.meter.network.0.cast_signed());
        if columns.meter.len() == GROUP { self.write_group() } else { Ok(()) }
    }
}
