//! Audits of signed messages, and readings for other programs.

use super::place::{
    Engine, NEW_YEAR_S, TestStore, add, identity, measurement, on_each_engine, report, start,
};
use collector::audit::{Audit, Wrong, audit};
use collector::export::{ExportError, Format, Selection, export};
use collector::store::{NewReport, Reader, Store, Write, Written};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use rand::SeedableRng;
use rand::rngs::StdRng;
use wire::meter::{Channel, Content, Identity, MessageKind, MeterId, MeterKeys, Suite};

on_each_engine!(
    signed_readings_are_proved,
    later_change_is_found,
    a_reading_that_was_kept_long_enough_is_not_missed,
    readings_as_csv,
    readings_as_parquet,
);

/// The table that readings are in when they have only just come.
fn table(engine: Engine) -> &'static str {
    if engine == Engine::Sqlite { "landing" } else { "readings" }
}

/// Returns this number of zero bytes, as SQL.
fn zeros(engine: Engine, bytes: usize) -> String {
    match engine {
        Engine::Sqlite => format!("zeroblob({bytes})"),
        Engine::Postgres => format!("decode(repeat('00', {bytes}), 'hex')"),
    }
}

fn collector_identity() -> Identity {
    identity(1)
}

fn sealed(meter: MeterId, n: u32, at_s: i64, content: Content) -> NewReport {
    let mut new = report(meter, n, at_s, content);
    new.suite = Suite::EciesEcdsa;
    let (own, collector) = (identity(u64::from(meter) << 8 | 1), collector_identity());
    let keys = MeterKeys::new([1; 16], [2; 32]);
    let channel = Channel { meter, keys: &keys, own: &own, peer: collector.public() };
    let mut rng = StdRng::seed_from_u64(u64::from(n));
    new.sealed = channel.seal(MessageKind::Report, Suite::EciesEcdsa, n, &new.report.to_bytes(), &mut rng);
    new
}

/// An alert and 40 signed readings of each of two meters, and some that are not signed.
fn fill(store: &mut Store) {
    add(store, 1..=2);
    let mut batch = Vec::new();
    for meter in 1..=2 {
        batch.push(Write::Report(sealed(meter, 1, NEW_YEAR_S, start(NEW_YEAR_S, 1))));
        for n in 2..=41 {
            let at_s = NEW_YEAR_S + i64::from(n) * 10;
            let mut new = sealed(meter, n, at_s, measurement(at_s, n * 3, -7));
            new.rssi_dbm = (n % 2 == 0).then_some(-71);
            batch.push(Write::Report(new));
        }
        for n in 42..=44 {
            let at_s = NEW_YEAR_S + i64::from(n) * 10;
            batch.push(Write::Report(report(meter, n, at_s, measurement(at_s, n * 3, 9))));
        }
    }
    let written = store.commit(batch).expect("there is room");
    assert!(written.iter().all(|w| matches!(w, Written::Reading { .. } | Written::Alert { .. })));
}

fn audited(place: &TestStore, own: Option<&Identity>) -> Audit {
    let mut last = (0, 0);
    let reader = Reader::open(place.place()).expect("the database");
    let audit = audit(&reader, own, |done, of| last = (done, of)).expect("the database is read");
    assert_eq!(last, (audit.messages, audit.messages));
    audit
}

fn signed_readings_are_proved(engine: Engine) {
    let place = engine.place();
    fill(&mut place.open());
    let own = collector_identity();
    let found = audited(&place, Some(&own));
    let expected = Audit {
        messages: 82,
        meters: 2,
        signatures: 82,
        readings: 80,
        alerts: 2,
        opened: 82,
        totals: 2,
        ..Audit::default()
    };
    assert_eq!(found, expected);
    let without = audited(&place, None);
    assert_eq!(without, Audit { opened: 0, closed: 82, totals: 0, ..expected.clone() });
    assert_eq!(audited(&place, Some(&identity(2))), without, "another private key opens nothing");
}

fn later_change_is_found(engine: Engine) {
    let (of, landing) = ("meter = 2 AND n = 20", table(engine));
    type Found = fn(&Wrong) -> bool;
    let changes: [(&str, String, Found); 9] = [
        ("energy", format!("UPDATE {landing} SET energy_dwh = 61 WHERE {of}"), |wrong| {
            wrong.to_string() == "its energy in 0.1 Wh is stored as 61, and the message says 60"
        }),
        ("power", format!("UPDATE {landing} SET power_w = 7 WHERE {of}"), |wrong| {
            matches!(wrong, Wrong::Differs { .. })
        }),
        ("time", format!("UPDATE {landing} SET at_s = at_s + 1 WHERE {of}"), |wrong| {
            *wrong == Wrong::Missing
        }),
        ("taken away", format!("DELETE FROM {landing} WHERE {of}"), |wrong| *wrong == Wrong::Missing),
        ("message", format!("UPDATE signed SET message = {} WHERE {of}", zeros(engine, 144)), |wrong| {
            *wrong == Wrong::Signature
        }),
        ("alert", format!("UPDATE alerts SET report = {} WHERE meter = 2", zeros(engine, 16)), |wrong| {
            matches!(wrong, Wrong::Differs { .. })
        }),
        (
            "put in",
            format!(
                "INSERT INTO {landing} (meter, at_s, epoch, n, power_w, energy_dwh, flags, heard_ms) \
                 VALUES (2, 1767225700, 1, 30, 1, 1, 8, 0)"
            ),
            |wrong| *wrong == Wrong::Unsigned { readings: 41, messages: 40 },
        ),
        ("total", "UPDATE latest SET total_dwh = 122 WHERE meter = 2".to_owned(), |wrong| {
            *wrong == Wrong::Total { stored: 122, messages: 123 }
        }),
        ("moved", format!("UPDATE signed SET n = 1 WHERE {of}"), |wrong| {
            matches!(wrong, Wrong::Order { before: 19 })
        }),
    ];
    for (name, sql, is_it) in changes {
        let place = engine.place();
        fill(&mut place.open());
        place.change(&sql);
        let found = audited(&place, Some(&collector_identity()));
        assert!(
            found.failures > 0 && found.first.iter().any(|failure| is_it(&failure.wrong)),
            "{name}: {found:?}"
        );
        assert!(found.first.iter().all(|failure| failure.meter == 2.into()), "{name}: {found:?}");
    }
}

fn a_reading_that_was_kept_long_enough_is_not_missed(engine: Engine) {
    let place = engine.place();
    fill(&mut place.open());
    let (landing, kept_s) = (table(engine), NEW_YEAR_S + 105);
    place.change(&format!(
        "INSERT INTO meta VALUES ('kept_from_s', '{kept_s}'); DELETE FROM {landing} WHERE at_s < {kept_s}"
    ));
    let found = audited(&place, Some(&collector_identity()));
    assert_eq!((found.failures, found.gone, found.readings, found.opened), (0, 18, 62, 82));
}

fn readings_as_csv(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    fill(&mut store);
    let reader = store.reader();
    let range = NEW_YEAR_S + 410..NEW_YEAR_S + 430;
    let selection = Selection { meters: vec![2.into()], from_s: range.start, to_s: range.end };
    let mut text = Vec::new();
    let lines = export(&reader, &selection, Format::Csv, &mut text, |_| {}).expect("exported");
    let expected = "meter,time,power_w,energy_wh,epoch,n,suite,time_set,lost,rssi_dbm,heard,total_wh\n\
                    2,2026-01-01T00:06:50Z,-7,12.3,1,41,ecies-ecdsa,true,0,,2026-01-01T00:06:50.25Z,12.3\n\
                    2,2026-01-01T00:07:00Z,9,12.6,1,42,aes128-gcm,true,0,-60,2026-01-01T00:07:00.25Z,12.6\n";
    assert_eq!((lines, String::from_utf8(text).expect("text").as_str()), (2, expected));
    let stranger = Selection { meters: vec![9.into()], ..selection };
    let refused = export(&reader, &stranger, Format::Csv, Vec::new(), |_| {});
    assert!(matches!(refused, Err(ExportError::NoMeter(meter)) if meter == 9.into()));
}

fn readings_as_parquet(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    fill(&mut store);
    let all = Selection { meters: Vec::new(), from_s: 0, to_s: i64::MAX };
    let path = place.path().with_extension("parquet");
    let file = std::fs::File::create(&path).expect("a file");
    let mut told = 0;
    let lines = export(&store.reader(), &all, Format::Parquet, file, |lines| told = lines).expect("exported");
    assert_eq!((lines, told), (86, 86));
    let file = SerializedFileReader::new(std::fs::File::open(&path).expect("there")).expect("a Parquet file");
    let mut expected = (1..=2u16).flat_map(|meter| (2..=44u32).map(move |n| (meter, n)));
    for row in file.get_row_iter(None).expect("rows") {
        let row = row.expect("a row");
        let (meter, n) = expected.next().expect("no more than there are");
        assert_eq!((row.get_ushort(0).expect("meter"), row.get_uint(5).expect("n")), (meter, n));
        assert_eq!(row.get_timestamp_millis(1).expect("time"), (NEW_YEAR_S + i64::from(n) * 10) * 1000);
        assert_eq!(row.get_double(3).expect("energy"), f64::from(n * 3) / 10.0);
        let (power_w, suite) = if n < 42 { (-7, "ecies-ecdsa") } else { (9, "aes128-gcm") };
        assert_eq!(row.get_short(2).expect("power"), power_w);
        assert_eq!(row.get_string(6).expect("suite"), suite);
        let rssi_dbm = match n {
            42.. => Some(-60),
            n if n % 2 == 0 => Some(-71),
            _ => None,
        };
        assert_eq!(row.get_byte(9).ok(), rssi_dbm, "{n}");
        assert_eq!(row.get_double(11).expect("total"), f64::from(n * 3) / 10.0);
    }
    assert_eq!(expected.next(), None);
}
