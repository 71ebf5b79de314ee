//! Telegrams of other makers' meters as CSV and Parquet: a row for each record.

use super::parquet_file::write_column;
use super::{ExportError, Format, utc};
use crate::mbus_meter::MbusMeterId;
use crate::store::{Reader, StoredTelegram, TelegramQuery, TelegramRecord};
use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::io::Write;
use std::sync::Arc;

/// Telegrams that are read at a time. Their records are a row group.
const CHUNK: usize = 1000;
const COLUMNS_COUNT: usize = 19;

/// The columns of both formats: name, Parquet's type, and whether each row has a value.
const COLUMNS: [(&str, Kind, bool); COLUMNS_COUNT] = [
    ("meter", Kind::Text, true),
    ("heard", Kind::Time, true),
    ("authenticated", Kind::Flag, true),
    ("mode", Kind::Integer, true),
    ("counter", Kind::Integer, false),
    ("access_number", Kind::Integer, false),
    ("status", Kind::Integer, false),
    ("clock_off_s", Kind::Integer, false),
    ("function", Kind::Text, true),
    ("storage", Kind::Integer, true),
    ("tariff", Kind::Integer, true),
    ("subunit", Kind::Integer, true),
    ("quantity", Kind::Text, false),
    ("unit", Kind::Text, true),
    ("modifiers", Kind::Text, true),
    ("understood", Kind::Flag, true),
    ("value", Kind::Text, true),
    ("mantissa", Kind::Text, false),
    ("exponent", Kind::Integer, false),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Integer,
    Flag,
    Time,
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Text(String),
    Integer(i64),
    Flag(bool),
    /// Unix time in ms.
    Time(i64),
    None,
}

/// The telegrams to export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelegramSelection {
    /// The meters; none: all.
    pub meters: Vec<MbusMeterId>,
    /// Heard from then on, in s.
    pub from_s: i64,
    /// Heard before that, in s.
    pub to_s: i64,
}

/// Writes the records of telegrams, oldest first, with whether anything authenticates them. A
/// service may go on writing meanwhile. Returns how many records.
///
/// # Errors
/// [`ExportError`]; what was written then is not whole.
pub fn export_telegrams(
    reader: &Reader,
    selection: &TelegramSelection,
    format: Format,
    to: impl Write + Send,
) -> Result<u64, ExportError> {
    let known = reader.mbus_meters()?;
    let is_known = |meter: &MbusMeterId| known.iter().any(|of| of.meter == meter.to_string());
    if let Some(missing) = selection.meters.iter().find(|meter| !is_known(meter)) {
        return Err(ExportError::NoMbusMeter(*missing));
    }
    match format {
        Format::Csv => {
            let mut to = csv::Writer::from_writer(to);
            to.write_record(COLUMNS.map(|(name, ..)| name))?;
            let rows = each_chunk(reader, selection, |rows| {
                rows.iter().try_for_each(|row| to.write_record(row.iter().map(text))).map_err(Into::into)
            })?;
            to.flush()?;
            Ok(rows)
        }
        Format::Parquet => {
            let schema = Arc::new(parse_message_type(&schema())?);
            let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
            let mut file = SerializedFileWriter::new(to, schema, Arc::new(properties))?;
            let rows = each_chunk(reader, selection, |rows| write_group(&mut file, rows))?;
            file.close()?;
            Ok(rows)
        }
    }
}

/// Hands over the rows of a selection, a chunk at a time, and returns how many.
fn each_chunk(
    reader: &Reader,
    selection: &TelegramSelection,
    mut take: impl FnMut(&[[Cell; COLUMNS_COUNT]]) -> Result<(), ExportError>,
) -> Result<u64, ExportError> {
    let mut meters: Vec<Option<MbusMeterId>> = selection.meters.iter().copied().map(Some).collect();
    if meters.is_empty() {
        meters.push(None);
    }
    let ms = |s: i64| s.saturating_mul(1000);
    let mut count = 0;
    for meter in meters {
        let (from_ms, to_ms) = (ms(selection.from_s), ms(selection.to_s));
        let mut query = TelegramQuery { meter, from_ms, to_ms, after: 0, limit: CHUNK };
        loop {
            let page = reader.telegrams(&query)?;
            let Some(last) = page.last() else { break };
            query.after = last.id;
            let records =
                page.iter().flat_map(|of| of.contents.records.iter().map(move |record| (of, record)));
            let rows: Vec<_> = records.map(|(telegram, record)| row(telegram, record)).collect();
            take(&rows)?;
            count += rows.len() as u64;
        }
    }
    Ok(count)
}

fn row(telegram: &StoredTelegram, record: &TelegramRecord) -> [Cell; COLUMNS_COUNT] {
    let integer = |value: Option<i64>| value.map_or(Cell::None, Cell::Integer);
    let text = |value: &Option<String>| value.clone().map_or(Cell::None, Cell::Text);
    [
        Cell::Text(telegram.meter.clone()),
        Cell::Time(telegram.heard_ms),
        Cell::Flag(telegram.authenticated),
        Cell::Integer(telegram.mode.into()),
        integer(telegram.counter),
        integer(telegram.access_number.map(i64::from)),
        integer(telegram.status.map(i64::from)),
        integer(telegram.clock_off_s),
        Cell::Text(record.function.clone()),
        // A DIF and its ten extensions give 41 bits.
        Cell::Integer(record.storage.cast_signed()),
        Cell::Integer(record.tariff.into()),
        Cell::Integer(record.subunit.into()),
        text(&record.quantity),
        Cell::Text(record.unit.clone()),
        Cell::Text(record.modifiers.join("; ")),
        Cell::Flag(record.understood),
        Cell::Text(record.value.clone()),
        text(&record.mantissa),
        integer(record.exponent.map(i64::from)),
    ]
}

/// A value as CSV has it.
fn text(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        Cell::Integer(number) => number.to_string(),
        Cell::Flag(flag) => flag.to_string(),
        Cell::Time(at_ms) => utc(*at_ms),
        Cell::None => String::new(),
    }
}

/// Parquet's schema of the columns.
fn schema() -> String {
    let field = |(name, kind, always): (&str, Kind, bool)| {
        let presence = if always { "required" } else { "optional" };
        match kind {
            Kind::Text => format!("{presence} binary {name} (STRING);\n"),
            Kind::Integer => format!("{presence} int64 {name};\n"),
            Kind::Flag => format!("{presence} boolean {name};\n"),
            Kind::Time => format!("{presence} int64 {name} (TIMESTAMP(MILLIS, true));\n"),
        }
    };
    format!("message telegrams {{\n{}}}", COLUMNS.map(field).concat())
}

fn write_group<W: Write + Send>(
    file: &mut SerializedFileWriter<W>,
    rows: &[[Cell; COLUMNS_COUNT]],
) -> Result<(), ExportError> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut group = file.next_row_group()?;
    for (column, (_, kind, always)) in COLUMNS.iter().enumerate() {
        let cells = || rows.iter().map(|row| &row[column]);
        let known: Vec<i16> = cells().map(|cell| i16::from(*cell != Cell::None)).collect();
        let known = (!always).then_some(known.as_slice());
        match kind {
            Kind::Text => {
                let texts = cells().filter_map(|cell| match cell {
                    Cell::Text(text) => Some(ByteArray::from(text.as_str())),
                    _ => None,
                });
                write_column::<ByteArrayType, W>(&mut group, &texts.collect::<Vec<_>>(), known)?;
            }
            Kind::Integer | Kind::Time => {
                let numbers = cells().filter_map(|cell| match cell {
                    Cell::Integer(number) | Cell::Time(number) => Some(*number),
                    _ => None,
                });
                write_column::<Int64Type, W>(&mut group, &numbers.collect::<Vec<_>>(), known)?;
            }
            Kind::Flag => {
                let flags = cells().map(|cell| *cell == Cell::Flag(true));
                write_column::<BoolType, W>(&mut group, &flags.collect::<Vec<_>>(), known)?;
            }
        }
    }
    group.close()?;
    Ok(())
}
