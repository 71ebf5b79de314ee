//! Published telegrams of many makers, through the receiver and both stores.

use super::fixture::{NEW_YEAR_MS, Published, receive, receiver, telegrams};
use crate::store::place::{Engine, on_each_engine};
use collector::export::{Format, TelegramSelection, export_telegrams};
use collector::mbus::Refusal;
use collector::store::{NewTelegram, Reader, StoredTelegram, TelegramQuery, TelegramRecord, Write, Written};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use std::collections::{BTreeMap, BTreeSet};

on_each_engine!(telegrams_of_all_makers_are_stored_with_their_values);

/// Receives a published telegram at about the time that it says.
fn received(published: &Published) -> Result<NewTelegram, Refusal> {
    let meters = [published.registered(!published.is_authentic())];
    match receive(&mut receiver(&meters, false), &published.line, NEW_YEAR_MS) {
        Err(Refusal::Clock { off_s, .. }) => {
            receive(&mut receiver(&meters, false), &published.line, NEW_YEAR_MS + off_s * 1000)
        }
        received => received,
    }
}

/// The value in the unit of the file, without the zeros behind its point.
fn number(record: &TelegramRecord, unit: &str) -> String {
    let (Some(mantissa), Some(exponent)) = (&record.mantissa, record.exponent) else {
        return record.value.clone();
    };
    let seconds = match &*record.unit {
        "d" => 86_400,
        "h" => 3600,
        "min" => 60,
        _ => 1,
    };
    let is_duration = unit == "s" && seconds > 1;
    if record.unit != unit && !is_duration {
        return format!("{} {}", record.value, record.unit);
    }
    let mantissa: i128 = mantissa.parse().expect("an integer");
    let mantissa = if is_duration { mantissa * seconds } else { mantissa };
    let text = wire::wireless_mbus::Decimal { mantissa, exponent }.to_string();
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn stored(reader: &Reader) -> BTreeMap<(String, i64), StoredTelegram> {
    let query = TelegramQuery { meter: None, from_ms: i64::MIN, to_ms: i64::MAX, after: 0, limit: 1000 };
    let telegrams = reader.telegrams(&query).expect("telegrams");
    telegrams.into_iter().map(|telegram| ((telegram.meter.clone(), telegram.heard_ms), telegram)).collect()
}

fn telegrams_of_all_makers_are_stored_with_their_values(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    // This one has the counter of the telegram before it.
    let published = telegrams().into_iter().filter(|telegram| telegram.name != "annex-n-profile-b-adapter");
    let mut published: Vec<(Published, NewTelegram)> = published
        .map(|published| {
            let telegram =
                received(&published).unwrap_or_else(|refusal| panic!("{}: {refusal}", published.name));
            (published, telegram)
        })
        .collect();
    published.sort_by_key(|(_, telegram)| telegram.counter);
    for (at, (_, telegram)) in (0..).zip(&mut published) {
        // So that each one is found again.
        telegram.heard_ms += at;
    }
    let writes = published.iter().map(|(_, telegram)| Write::Telegram(Box::new(telegram.clone())));
    let written = store.commit(writes.collect()).expect("there is room");
    assert!(written.iter().all(|written| *written == Written::Done), "{written:?}");

    let reader = store.reader();
    let found = stored(&reader);
    let (mut makers, mut others, mut values) = (BTreeSet::new(), Vec::new(), 0);
    for (published, telegram) in &published {
        let stored = &found[&(published.meter.clone(), telegram.heard_ms)];
        assert_eq!(stored.authenticated, published.is_authentic(), "{}", published.name);
        assert_eq!((stored.mode, &stored.contents), (published.mode, &telegram.contents));
        for (at, storage, value, unit) in &published.records {
            let record = &stored.contents.records[*at];
            if !record.understood {
                // Shown as it came, because of a code that nobody knows.
                assert_eq!((&record.value, &record.mantissa), (&record.data, &None), "{}", published.name);
                continue;
            }
            let read = (record.storage, number(record, unit));
            values += 1;
            if read != (*storage, value.clone()) {
                others.push(format!("{} {at}: {read:?}, not {storage} {value} {unit}", published.name));
            }
        }
        makers.insert(&published.meter[..3]);
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
    assert!(makers.len() >= 44 && values > 100, "{} makers, {values} values", makers.len());

    let all = TelegramSelection { meters: Vec::new(), from_s: i64::MIN, to_s: i64::MAX };
    let mut csv = Vec::new();
    let lines = export_telegrams(&reader, &all, Format::Csv, &mut csv).expect("exported");
    let csv = String::from_utf8(csv).expect("UTF-8");
    assert_eq!(csv.lines().count() as u64, lines + 1);
    assert!(csv.contains("m³") && csv.contains(",false,5,"), "{}", &csv[..500]);
    check_parquet(&reader, &all, &csv);
    let proved = published.iter().filter(|(published, _)| published.is_authentic()).count() as u64;
    let audit = collector::audit::audit(&reader, [], |_, _| {}).expect("audited");
    assert_eq!((audit.telegrams, audit.telegrams_unauthenticated), (proved, published.len() as u64 - proved));
}

/// The Parquet file has the rows of the CSV file.
fn check_parquet(reader: &Reader, all: &TelegramSelection, csv: &str) {
    let mut file = tempfile::tempfile().expect("a file");
    let rows = export_telegrams(reader, all, Format::Parquet, &mut file).expect("exported");
    let file = SerializedFileReader::new(file).expect("a Parquet file");
    let mut lines = csv::Reader::from_reader(csv.as_bytes());
    let mut seen = 0;
    for (row, line) in file.get_row_iter(None).expect("rows").zip(lines.records()) {
        let (row, line) = (row.expect("a row"), line.expect("a line"));
        for text in [0, 8, 13, 14, 16] {
            assert_eq!(row.get_string(text).expect("a text"), &line[text]);
        }
        for optional in [12, 17] {
            assert_eq!(row.get_string(optional).map_or("", |text| text), &line[optional]);
        }
        for integer in [3, 4, 5, 6, 7, 9, 10, 11, 18] {
            let number = row.get_long(integer).map_or(String::new(), |number| number.to_string());
            assert_eq!(number, line[integer], "column {integer}");
        }
        for flag in [2, 15] {
            assert_eq!(row.get_bool(flag).expect("a flag").to_string(), line[flag]);
        }
        let heard = jiff::Timestamp::from_millisecond(row.get_timestamp_millis(1).expect("a time"));
        assert_eq!(heard.expect("a time"), line[1].parse().expect("a time"));
        seen += 1;
    }
    assert_eq!((seen, rows), (csv.lines().count() as u64 - 1, seen));
}
