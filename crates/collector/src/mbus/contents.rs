//! The records of a telegram as they are stored: numbers without rounding, unknown ones as bytes.

use crate::store::{TelegramContents, TelegramRecord};
use jiff::civil;
use jiff::tz::{Offset, TimeZone};
use wire::wireless_mbus::{
    Application, Date, DateTime, Function, Protocol, Quantity, Record, Records, Time, Value,
};

/// Makes the contents of what a message says.
pub(super) fn contents_of(application: &Application) -> TelegramContents {
    match application {
        Application::Records { records, .. } => contents_of_records(records),
        Application::Format => TelegramContents { protocol: Some("format".into()), ..Default::default() },
        Application::Other { protocol, bytes } => TelegramContents {
            protocol: Some(protocol_name(*protocol).into()),
            bytes: hex(bytes),
            ..Default::default()
        },
    }
}

fn protocol_name(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::FullFrame => "full frame",
        Protocol::CompactFrame => "compact frame",
        Protocol::FormatFrame => "format frame",
        Protocol::ApplicationError => "application error",
        Protocol::Alarm => "alarm",
        Protocol::ApplicationSelect => "application selection",
        Protocol::Dlms => "DLMS",
        Protocol::Obis => "OBIS",
        Protocol::TransportOnly => "transport only",
        Protocol::NetworkManagement => "network management",
        Protocol::ImageTransfer => "image transfer",
        Protocol::SecurityInformation => "security information",
        Protocol::Manufacturer => "manufacturer",
    }
}

fn contents_of_records(records: &Records) -> TelegramContents {
    TelegramContents {
        records: records.records.iter().map(record_of).collect(),
        more_follow: records.more_follow,
        manufacturer_data: hex(&records.manufacturer_data),
        unread: records.unread.as_ref().map_or_else(String::new, |unread| hex(&unread.bytes)),
        ..Default::default()
    }
}

/// Quantities whose values open something: neither stored nor shown nor published.
const SECRET: [Quantity; 3] = [Quantity::AccessCode, Quantity::Password, Quantity::SecurityKey];

fn record_of(record: &Record) -> TelegramRecord {
    let function = match record.function {
        Function::Instantaneous => "instantaneous",
        Function::Maximum => "maximum",
        Function::Minimum => "minimum",
        Function::DuringError => "during error",
    };
    let understood = record.is_understood();
    let modifier = |modifier: &wire::wireless_mbus::Modifier| {
        modifier.name().map_or_else(|| format!("{modifier:?}"), str::to_owned)
    };
    let is_secret = record.quantity.is_some_and(|quantity| SECRET.contains(&quantity));
    let number = match record.value {
        Value::Number(number) if understood && !is_secret => Some(number),
        _ => None,
    };
    TelegramRecord {
        function: function.into(),
        storage: record.storage,
        tariff: record.tariff,
        subunit: record.subunit,
        quantity: record.quantity.map(|quantity| quantity.name().into()),
        unit: record.plain_text.clone().unwrap_or_else(|| record.unit.to_string()),
        modifiers: record.modifiers.iter().map(modifier).collect(),
        understood,
        value: if is_secret { "not kept".into() } else { value_text(record, understood) },
        mantissa: number.map(|number| number.mantissa.to_string()),
        exponent: number.map(|number| number.exponent),
        header: hex(&record.header),
        data: if is_secret { String::new() } else { hex(&record.data) },
    }
}

/// The value as a text. A number that is not understood is shown as its bytes.
fn value_text(record: &Record, understood: bool) -> String {
    match &record.value {
        Value::NotAvailable => "not available".into(),
        Value::Erroneous(code) => format!("error {code}"),
        Value::InvalidBcd(digits) => format!("digits {digits}"),
        Value::None => String::new(),
        _ if !understood => hex(&record.data),
        Value::Number(number) => number.to_string(),
        Value::Real { value, exponent: 0 } => value.to_string(),
        Value::Real { value, exponent } => format!("{value}e{exponent}"),
        Value::Flags(bits) => format!("{bits:#x}"),
        Value::Date(date) => date_text(date),
        Value::DateTime(DateTime { date, time, .. }) => format!("{}T{}", date_text(date), time_text(time)),
        Value::Time(time) => time_text(time),
        Value::Text(text) => text.clone(),
        Value::Bytes(bytes) => hex(bytes),
    }
}

/// A date; a part that stands for every one is `*`.
fn date_text(date: &Date) -> String {
    let year = date.year.map_or_else(|| "*".into(), |year| format!("{year:04}"));
    format!("{year}-{}-{}", two(date.month), two(date.day))
}

fn time_text(time: &Time) -> String {
    let minutes = format!("{}:{}", two(time.hour), two(time.minute));
    time.second.map_or(minutes.clone(), |second| format!("{minutes}:{second:02}"))
}

fn two(part: Option<u8>) -> String {
    part.map_or_else(|| "*".into(), |part| format!("{part:02}"))
}

/// Seconds by which the meter's clock is ahead, if the records have its time. In a zone with summer
/// time the record's own flag decides.
pub(super) fn clock_off_s(application: &Application, zone: &TimeZone, heard_ms: i64) -> Option<i64> {
    let Application::Records { records, .. } = application else { return None };
    let now = |record: &&Record| {
        record.quantity == Some(Quantity::DateTime)
            && record.function == Function::Instantaneous
            && (record.storage, record.tariff, record.subunit) == (0, 0, 0)
            && record.modifiers.is_empty()
    };
    let Value::DateTime(DateTime { date, time, summer_time }) = &records.records.iter().find(now)?.value
    else {
        return None;
    };
    let (Some(year), Some(month), Some(day)) = (date.year, date.month, date.day) else { return None };
    let (hour, minute) = (time.hour?, time.minute?);
    let [year, month, day, hour, minute, second] =
        [year, month.into(), day.into(), hour.into(), minute.into(), time.second.unwrap_or(0).into()];
    let part = |part: u16| i8::try_from(part).ok();
    let local = civil::DateTime::new(
        i16::try_from(year).ok()?,
        part(month)?,
        part(day)?,
        part(hour)?,
        part(minute)?,
        part(second)?,
        0,
    )
    .ok()?;
    // The zone's winter time, and an hour more if the record says so.
    let winter = winter_offset(zone, i16::try_from(year).ok()?)?;
    let offset = Offset::from_seconds(winter.seconds() + 3600 * i32::from(*summer_time)).ok()?;
    let at_s = offset.to_timestamp(local).ok()?.as_second();
    Some(at_s - heard_ms.div_euclid(1000))
}

/// The zone's offset without summer time: the smaller one of January and July.
fn winter_offset(zone: &TimeZone, year: i16) -> Option<Offset> {
    let at = |month| {
        let noon = civil::DateTime::new(year, month, 1, 12, 0, 0, 0).ok()?;
        Some(zone.to_offset(zone.to_ambiguous_timestamp(noon).compatible().ok()?))
    };
    Some(at(1)?.min(at(7)?))
}

/// Bytes in hexadecimal.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_open_something_are_not_kept() {
        // Access code, password, security key (EN 13757-3, tables of FDh), and a volume.
        let bytes =
            [0x02, 0xfd, 0x13, 0x34, 0x12, 0x02, 0xfd, 0x16, 0x34, 0x12, 0x02, 0xfd, 0x19, 0x34, 0x12];
        let volume = [0x02, 0x13, 0x34, 0x12];
        let records = Records::parse(&[&bytes[..], &volume].concat()).expect("records");
        let contents = contents_of_records(&records);
        let names: Vec<_> = contents.records.iter().map(|record| record.quantity.as_deref()).collect();
        assert_eq!(names, ["access code", "password", "security key", "volume"].map(Some));
        for record in &contents.records[..3] {
            assert_eq!((record.value.as_str(), record.data.as_str()), ("not kept", ""));
            assert_eq!((&record.mantissa, record.exponent), (&None, None));
        }
        let volume = &contents.records[3];
        assert_eq!((volume.data.as_str(), volume.mantissa.as_deref()), ("3412", Some("4660")));
    }
}
