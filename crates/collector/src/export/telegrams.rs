//! Telegrams of other makers' meters as CSV: a line for each record.

use super::{ExportError, utc};
use crate::mbus_meter::MbusMeterId;
use crate::store::{Reader, StoredTelegram, TelegramQuery, TelegramRecord};
use std::io::Write;

/// Telegrams that are read at a time.
const CHUNK: usize = 1000;

const NAMES: [&str; 19] = [
    "meter",
    "heard",
    "authenticated",
    "mode",
    "counter",
    "access_number",
    "status",
    "clock_off_s",
    "function",
    "storage",
    "tariff",
    "subunit",
    "quantity",
    "unit",
    "modifiers",
    "understood",
    "value",
    "mantissa",
    "exponent",
];

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
    to: impl Write,
) -> Result<u64, ExportError> {
    let known = reader.mbus_meters()?;
    let is_known = |meter: &MbusMeterId| known.iter().any(|of| of.meter == meter.to_string());
    if let Some(missing) = selection.meters.iter().find(|meter| !is_known(meter)) {
        return Err(ExportError::NoMbusMeter(*missing));
    }
    let mut to = csv::Writer::from_writer(to);
    to.write_record(NAMES)?;
    let mut meters: Vec<Option<MbusMeterId>> = selection.meters.iter().copied().map(Some).collect();
    if meters.is_empty() {
        meters.push(None);
    }
    let ms = |s: i64| s.saturating_mul(1000);
    let mut lines = 0;
    for meter in meters {
        let (from_ms, to_ms) = (ms(selection.from_s), ms(selection.to_s));
        let mut query = TelegramQuery { meter, from_ms, to_ms, after: 0, limit: CHUNK };
        loop {
            let page = reader.telegrams(&query)?;
            let Some(last) = page.last() else { break };
            query.after = last.id;
            for telegram in &page {
                for record in &telegram.contents.records {
                    to.write_record(line(telegram, record))?;
                    lines += 1;
                }
            }
        }
    }
    to.flush()?;
    Ok(lines)
}

fn line(telegram: &StoredTelegram, record: &TelegramRecord) -> [String; NAMES.len()] {
    let text = |value: Option<String>| value.unwrap_or_default();
    [
        telegram.meter.clone(),
        utc(telegram.heard_ms),
        telegram.authenticated.to_string(),
        telegram.mode.to_string(),
        text(telegram.counter.map(|counter| counter.to_string())),
        text(telegram.access_number.map(|number| number.to_string())),
        text(telegram.status.map(|status| status.to_string())),
        text(telegram.clock_off_s.map(|off| off.to_string())),
        record.function.clone(),
        record.storage.to_string(),
        record.tariff.to_string(),
        record.subunit.to_string(),
        text(record.quantity.clone()),
        record.unit.clone(),
        record.modifiers.join("; "),
        record.understood.to_string(),
        record.value.clone(),
        text(record.mantissa.clone()),
        text(record.exponent.map(|exponent| exponent.to_string())),
    ]
}
