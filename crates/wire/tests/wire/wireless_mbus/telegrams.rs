//! Telegrams of many makers against the values of other implementations.

use super::fixture::{Telegram, telegram, telegrams, unhex};
use std::collections::BTreeSet;
use wire::wireless_mbus::{
    Application, Date, DateTime, FormatCache, Record, Records, SecurityMode, Time, Unit, Value,
};

fn records_of(telegram: &Telegram) -> Records {
    match FormatCache::default().decode(&telegram.open()) {
        Ok(Application::Records { records, .. }) => records,
        other => panic!("{}: {other:?}", telegram.name),
    }
}

/// The value in the unit of the file, without the zeros behind its point.
fn number(record: &Record, unit: &str) -> String {
    let Value::Number(mut value) = record.value else { return format!("{:?}", record.value) };
    if unit == "s" {
        value.mantissa *= i128::from(record.unit.si().expect("a duration").numerator);
    } else if record.unit.to_string() != unit {
        return format!("{value} {}", record.unit);
    }
    let text = value.to_string();
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn date(value: &Value) -> String {
    let day = |Date { year, month, day }: &Date| {
        format!("{:04}-{:02}-{:02}", year.unwrap_or(0), month.unwrap_or(0), day.unwrap_or(0))
    };
    match value {
        Value::Date(date) => day(date),
        Value::DateTime(DateTime { date, time: Time { hour, minute, second }, .. }) => {
            let seconds = second.map_or(String::new(), |second| format!(":{second:02}"));
            format!("{}T{:02}:{:02}{seconds}", day(date), hour.unwrap_or(24), minute.unwrap_or(60))
        }
        value => format!("{value:?}"),
    }
}

#[test]
fn published_telegrams_have_other_implementations_values() {
    let telegrams = telegrams();
    let mut others = Vec::new();
    for telegram in &telegrams {
        let name = &telegram.name;
        assert_eq!(telegram.open().meter.to_string(), telegram.meter, "{name}");
        let records = records_of(telegram).records;
        for (at, storage, value, unit) in &telegram.records {
            let read = (records[*at].storage, number(&records[*at], unit));
            if read != (*storage, value.clone()) {
                others.push(format!("{name} {at}: {read:?}, not {storage} {value} {unit}"));
            }
        }
        for (at, expected) in &telegram.dates {
            // Some dates of the file leave the seconds out.
            let read = date(&records[*at].value);
            if !read.starts_with(expected) {
                others.push(format!("{name} {at}: {read}, not {expected}"));
            }
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
    let makers: BTreeSet<_> = telegrams.iter().map(|telegram| &telegram.meter[..3]).collect();
    assert!(makers.len() >= 15, "{makers:?}");
}

#[test]
fn authenticated_are_messages_with_a_mac_alone() {
    for telegram in telegrams() {
        let opened = telegram.open();
        assert_eq!(opened.authenticated, matches!(telegram.mode, 7 | 10), "{}", telegram.name);
        assert_eq!(opened.header.configuration.mode, SecurityMode::from_code(telegram.mode));
    }
}

#[test]
fn message_counters_are_those_of_the_telegrams() {
    assert_eq!(telegram("annex-n-profile-b").open().counter, Some(0x0ab3));
    assert_eq!(telegram("kamstrup-profile-d-1").open().counter, Some(939_916));
}

#[test]
fn plaintext_of_profile_d_is_the_published_one() {
    let published = "046D1C2A2F3C04150000000002FF25010406FF1BFFFFFFFFFFFF446D0020213C441500000000";
    assert_eq!(telegram("kamstrup-profile-d-1").open().payload, unhex(published));
}

#[test]
fn units_are_exact_multiples_of_si_units() {
    let watt_hour = Unit::WattHour.si().expect("a multiple");
    assert_eq!((watt_hour.symbol, watt_hour.numerator, watt_hour.denominator), ("J", 3600, 1));
    let flow = Unit::CubicMetrePerHour.si().expect("a multiple");
    assert_eq!((flow.symbol, flow.numerator, flow.denominator), ("m³/s", 1, 3600));
    assert_eq!(Unit::Calorie.si(), None);
}
