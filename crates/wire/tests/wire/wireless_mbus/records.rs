//! Records of the application layer, and compact frames.

use super::fixture::{datagram, message_of, open, profile_b, unhex};
use wire::wireless_mbus::{
    Application, ApplicationError, Date, DateTime, Decimal, Format, FormatCache, Function, Modifier,
    OpenedMessage, Protocol, Quantity, Record, Records, Time, Unit, Value,
};

fn record(hex: &str) -> Record {
    let mut records = Records::parse(&unhex(hex)).expect("a record").records;
    assert_eq!(records.len(), 1, "{hex}");
    records.remove(0)
}

fn number(hex: &str) -> String {
    match record(hex).value {
        Value::Number(value) => value.to_string(),
        value => panic!("{hex}: {value:?}"),
    }
}

#[test]
fn headers_give_storage_tariff_subunit_and_function() {
    let extended = record("d4 d1 02 13 01000000");
    assert_eq!((extended.storage, extended.tariff, extended.subunit), (1 | 1 << 1 | 2 << 5, 1, 1));
    assert_eq!(extended.function, Function::Maximum);
    let functions = ["02", "12", "22", "32"].map(|dif| record(&format!("{dif} 5a 0100")).function);
    let all = [Function::Instantaneous, Function::Maximum, Function::Minimum, Function::DuringError];
    assert_eq!(functions, all);
    assert_eq!(record(&format!("c1 {} 0f 13 05", "8f".repeat(9))).storage, (1 << 41) - 1);
}

#[test]
fn numbers_are_exact() {
    assert_eq!(number("04 13 ffffff7f"), "2147483.647");
    assert_eq!(number("02 5a 0580").as_str(), "-3276.3");
    assert_eq!(number("01 5b ff"), "-1");
    assert_eq!(number("07 03 ffffffffffffff7f"), "9223372036854775807");
    assert_eq!(number("0c 14 27048502"), "28504.27");
    assert_eq!(number("0e 07 123456789012"), "1290785634120000");
    assert_eq!(number("0b 3b 0000f0"), "0.000");
    assert_eq!(number("0a 5a 01f1"), "-10.1");
    assert_eq!(number("0d 13 c3 563412"), "123.456");
    assert_eq!(number("0d 13 d3 563412"), "-123.456");
    assert_eq!(number("0d 13 e2 0080"), "-32.768");
    assert_eq!(Decimal { mantissa: -5, exponent: -3 }.to_string(), "-0.005");
}

#[test]
fn invalid_numbers_are_no_values() {
    assert_eq!(record("0c 13 78563a12").value, Value::InvalidBcd("123A5678".into()));
    assert_eq!(record("0a 13 f1f1").value, Value::InvalidBcd("F1F1".into()));
    for invalid in
        ["01 5a 80", "02 5a 0080", "04 13 00000080", "01 fd08 ff", "05 5b 0000c07f", "05 5b 0000807f"]
    {
        assert_eq!(record(invalid).value, Value::NotAvailable, "{invalid}");
    }
    assert!(!record("02 5a 0080").is_understood() && record("02 5a 0180").is_understood());
}

#[test]
fn record_with_an_error_has_no_value() {
    let erroneous = record("04 93 16 01020304");
    assert_eq!(erroneous.value, Value::Erroneous(0x16));
    assert!(!erroneous.is_understood());
    assert_eq!(erroneous.modifiers[0].name(), Some("error: data overflow"));
    assert_eq!(number("04 93 00 01000000"), "0.001");
}

#[test]
fn dates_of_all_types_are_read() {
    let day = Date { year: Some(2008), month: Some(5), day: Some(31) };
    let time = Time { hour: Some(23), minute: Some(50), second: None };
    let expected = DateTime { date: day, time, summer_time: false };
    assert_eq!(record("04 6d 32 37 1f 15").value, Value::DateTime(expected));
    let summer = DateTime { summer_time: true, ..expected };
    assert_eq!(record("04 6d 32 b7 1f 15").value, Value::DateTime(summer));
    assert_eq!(record("02 6c 1f 15").value, Value::Date(day));
    let seconds = Time { second: Some(9), ..time };
    let with_seconds = DateTime { time: seconds, ..expected };
    assert_eq!(record("06 6d 09 32 17 1f 15 00").value, Value::DateTime(with_seconds));
    assert_eq!(record("03 6d 09 32 17").value, Value::Time(seconds));
    let every = Date { year: None, month: Some(1), day: Some(1) };
    assert_eq!(record("02 6c e1 f1").value, Value::Date(every));
    let last_century = Date { year: Some(1999), month: Some(1), day: Some(1) };
    assert_eq!(record("02 6c 61 c1").value, Value::Date(last_century));
}

#[test]
fn invalid_dates_are_no_values() {
    for invalid in
        ["02 6c ffff", "02 6c 1e12", "02 6c 1f14", "02 6c 0110", "04 6d b2371f15", "04 6d 3c371f15"]
    {
        assert_eq!(record(invalid).value, Value::NotAvailable, "{invalid}");
    }
    assert_eq!(record("02 6c 1d 12").value, record("02 6c 1d 12").value);
    assert!(matches!(record("02 6c 1d 12").value, Value::Date(_)), "2008 has a 29 February");
    assert_eq!(record("01 6c 05").value, Value::Bytes(vec![5]));
}

#[test]
fn modifiers_change_scale_and_meaning() {
    assert_eq!(number("04 fb 82 75 3f000000"), "6300");
    assert_eq!(number("04 93 fd 00 01000000"), "1");
    let limit = record("02 db 52 1e00");
    assert_eq!((limit.unit, limit.value), (Unit::Hour, Value::Number(Decimal { mantissa: 30, exponent: 0 })));
    assert!(matches!(record("04 da 4b 32371f15").value, Value::DateTime(_)));
    assert_eq!(record("01 da 41 05").unit, Unit::One);
    assert_eq!(record("02 fd c8 fc 01 e600").modifiers, [Modifier::Extension(1)]);
    assert_eq!(record("02 da 12 c800").modifiers[0].name(), Some("average"));
}

#[test]
fn unknown_codes_are_shown_and_not_guessed() {
    for unknown in ["04 6f 01000000", "04 fb 60 01000000", "04 fd 7d 01000000", "04 ef 05 01000000"] {
        let record = record(unknown);
        assert_eq!((record.quantity, record.value), (None, Value::Bytes(vec![1, 0, 0, 0])), "{unknown}");
    }
    let own = record("02 ff 20 0102");
    assert_eq!(own.quantity, Some(Quantity::ManufacturerSpecific));
    assert_eq!(
        (own.value, own.modifiers),
        (Value::Bytes(vec![1, 2]), vec![Modifier::Manufacturer(vec![0x20])])
    );
    for unsure in ["02 a9 ff 01 0102", "02 da 79 0102", "02 da 44 0102", "02 da fc 77 0102"] {
        assert!(!record(unsure).is_understood(), "{unsure}");
    }
    assert_eq!(record("0d 93 1f 03 010203").value, Value::Bytes(vec![1, 2, 3]));
    assert_eq!(record("0d fd 3b 02 0102").value, Value::Bytes(vec![1, 2]));
}

#[test]
fn texts_are_read_from_their_end() {
    assert_eq!(record("0d fd 11 03 636261").value, Value::Text("abc".into()));
    let humidity = record("02 fc 03 485225 74 440d");
    assert_eq!(humidity.plain_text.as_deref(), Some("%RH"));
    assert_eq!(humidity.value, Value::Number(Decimal { mantissa: 0x0d44, exponent: -2 }));
}

#[test]
fn special_functions_end_or_skip() {
    let read = Records::parse(&unhex("2f 01 5b 05 2f 0f 0102")).expect("records");
    assert_eq!((read.records.len(), &*read.manufacturer_data, read.more_follow), (1, &[1, 2][..], false));
    assert!(Records::parse(&[0x1f, 9]).expect("records").more_follow);
    let reserved = Records::parse(&unhex("01 5b 05 3f 0102")).expect("records");
    let unread = reserved.unread.expect("the rest");
    assert_eq!((unread.offset, &*unread.bytes), (3, &[0x3f, 1, 2][..]));
    assert_eq!(Records::parse(&unhex("08 13 00 13")).expect("records").records.len(), 2);
}

#[test]
fn record_that_is_cut_refuses_all() {
    let whole = unhex("01 5b 05 0c 13 78563412");
    for length in [4, 5, 6, 7, 8] {
        let error = Records::parse(&whole[..length]);
        assert_eq!(error, Err(ApplicationError::Truncated { offset: 3 }), "{length}");
    }
    assert!(Records::parse(&unhex("0d 13 f7 00")).is_err());
    let endless = [&[0x84; 12][..], &[0x13, 1, 0, 0, 0]].concat();
    assert_eq!(Records::parse(&endless), Err(ApplicationError::TooManyExtensions { offset: 0 }));
    let endless = [&[0x04], &[0x93; 13][..], &[0, 1, 0, 0, 0]].concat();
    assert_eq!(Records::parse(&endless), Err(ApplicationError::TooManyExtensions { offset: 0 }));
}

#[test]
fn number_of_records_is_bounded() {
    assert_eq!(Records::parse(&[0; 2048]).expect("records").records.len(), 1024);
    assert_eq!(Records::parse(&[0; 2050]), Err(ApplicationError::TooManyRecords { offset: 2048 }));
}

fn clear(body: &str) -> OpenedMessage {
    message_of(&datagram(&unhex(body))).open(None).expect("clear")
}

const FULL: &str = "78 0202D204 02152E16 022A3423";
const FORMAT: &str = "69 08 313B 0202 0215 022A";
const COMPACT: &str = "79 313B 42A6 D204 2E16 3423";

fn values(application: &Application) -> Vec<String> {
    let Application::Records { records, .. } = application else { panic!("{application:?}") };
    let value = |record: &Record| match record.value {
        Value::Number(value) => format!("{value} {}", record.unit),
        _ => panic!("{record:?}"),
    };
    records.records.iter().map(value).collect()
}

#[test]
fn compact_frame_is_read_with_its_format() {
    // EN 13757-3:2018, G.5.2, as tudborg/exmbus quotes it: 123.4 Wh, 567.8 m³, 901.2 W.
    for teacher in [FULL, FORMAT] {
        let mut cache = FormatCache::default();
        let unknown = cache.decode(&clear(COMPACT));
        assert_eq!(unknown, Err(ApplicationError::UnknownFormat { signature: 0x3b31 }));
        cache.decode(&clear(teacher)).expect("a format");
        let read = cache.decode(&clear(COMPACT)).expect("records");
        assert_eq!(values(&read), ["123.4 Wh", "567.8 m³", "901.2 W"]);
    }
    let mut cache = FormatCache::default();
    cache.decode(&clear("6A 01 00 0000 08 313B 0202 0215 022A")).expect("a format");
    assert_eq!(
        values(&cache.decode(&clear("7B 01 00 0000 313B 42A6 D2042E163423")).expect("records")).len(),
        3
    );
}

#[test]
fn compact_frame_that_does_not_fit_is_refused() {
    let mut cache = FormatCache::default();
    cache.decode(&clear(FULL)).expect("a format");
    for wrong in
        ["79 313B 42A6 D204 2E16 3424", "79 313B 42A6 D204 2E16 34", "79 313B 42A6 D204 2E16 3423 00"]
    {
        let mismatch = Err(ApplicationError::FormatMismatch { signature: 0x3b31 });
        assert_eq!(cache.decode(&clear(wrong)), mismatch, "{wrong}");
    }
    let other = FormatCache::default().decode(&clear("69 08 323B 0202 0215 022A"));
    assert_eq!(other, Err(ApplicationError::FormatSignature { expected: 0x3b31, found: 0x3b32 }));
    for cut in ["79 31 3B 42", "69 08 31", "69 09 313B 0202 0215 022A", "69 01 313B 0202"] {
        assert!(FormatCache::default().decode(&clear(cut)).is_err(), "{cut}");
    }
}

/// A compact frame in a message of mode 7, by changing the CI field of an opened one.
fn authenticated(body: &str) -> OpenedMessage {
    let mut opened = open(&profile_b(5, &[0x2f; 16])).expect("its key");
    let clear = clear(body);
    opened.header.protocol = clear.header.protocol;
    opened.payload = clear.payload;
    opened
}

fn is_authenticated(application: &Application) -> bool {
    matches!(application, Application::Records { authenticated: true, .. })
}

#[test]
fn format_that_is_not_authenticated_authenticates_no_record() {
    let mut cache = FormatCache::default();
    cache.decode(&clear(FULL)).expect("a format");
    assert!(!is_authenticated(&cache.decode(&authenticated(COMPACT)).expect("records")));
    cache.decode(&authenticated(FORMAT)).expect("a format");
    assert!(is_authenticated(&cache.decode(&authenticated(COMPACT)).expect("records")));
    // Anybody can send a format again.
    cache.decode(&clear(FULL)).expect("a format");
    assert!(is_authenticated(&cache.decode(&authenticated(COMPACT)).expect("records")));
    assert!(!is_authenticated(&cache.decode(&clear(COMPACT)).expect("records")));
}

#[test]
fn format_of_another_meter_is_not_used() {
    let mut cache = FormatCache::default();
    let mut other = clear(FULL);
    other.meter.version ^= 1;
    cache.decode(&other).expect("a format");
    assert!(matches!(cache.decode(&clear(COMPACT)), Err(ApplicationError::UnknownFormat { .. })));
}

#[test]
fn formats_are_bounded_and_authenticated_ones_stay() {
    let mut cache = FormatCache::default();
    assert!(cache.is_empty());
    cache.decode(&authenticated(FULL)).expect("a format");
    let mut meter = clear(FULL).meter;
    for number in 0..5000_u16 {
        let [low, high] = number.to_le_bytes();
        meter.identification = [low, high, 0, 0];
        cache.add(Format { meter, headers: vec![2, 2], authenticated: false });
    }
    assert_eq!(cache.len(), 4096);
    assert!(is_authenticated(&cache.decode(&authenticated(COMPACT)).expect("records")));
}

#[test]
fn other_protocols_are_shown_as_bytes() {
    let own = FormatCache::default().decode(&clear("a2 010203"));
    assert_eq!(own, Ok(Application::Other { protocol: Protocol::Manufacturer, bytes: vec![1, 2, 3] }));
    let dlms = FormatCache::default().decode(&clear("7d 01 00 0000 c2"));
    assert_eq!(dlms, Ok(Application::Other { protocol: Protocol::Dlms, bytes: vec![0xc2] }));
}
