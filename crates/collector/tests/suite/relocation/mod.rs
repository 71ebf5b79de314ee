//! A database goes to the other engine and back, while it is written: nothing is lost, and one of
//! both is used.

mod crashes;
mod load;
mod round;
mod speed;
mod workers;
mod wrong;

use crate::store::place::{Engine, NEW_YEAR_S, TestStore, add, reading, report, start};
use collector::event::{CommandState, UpdateState};
use collector::image_digest::ImageDigest;
use collector::network::NetworkId;
use collector::relocation::{Relocated, RelocationError, relocate};
use collector::store::relocation::{Begun, Relocation};
use collector::store::{
    CommandProgress, DatabaseUrl, MeterCounts, NewAction, NewAlert, NewCommand, NewImage, NewOutbox,
    NewTelegram, NewToken, NewUpdate, Role, Store, StoreError, TelegramContents, TelegramRecord,
    UpdateProgress, Write,
};
use device::meter::flash::Flash;
use rusqlite::Connection;
use rusqlite::types::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use wire::meter::{Command, Image, ImageRefusal, MessageKind, QueuedCommand, Suite};
use wire::wireless_mbus::{Manufacturer, MeterAddress};

const HOUR_S: i64 = 3600;

/// Moves, without keys; nobody writes it.
fn moved(from: &DatabaseUrl, to: &DatabaseUrl) -> Result<Relocated, RelocationError> {
    relocate(from, to, Path::new("no keys"), |_| {})
}

/// A move that is at its beginning.
fn begun(from: &DatabaseUrl, to: &DatabaseUrl) -> Relocation {
    // A server lets go of a lock a moment after its connection is closed.
    for _ in 0..100 {
        match Relocation::begin(from, to) {
            Ok(Begun::Copying(relocation)) => return *relocation,
            Ok(Begun::Left(_)) => panic!("it was at its end"),
            Err(StoreError::InUse { .. }) => std::thread::sleep(Duration::from_millis(50)),
            Err(error) => panic!("it does not begin: {error}"),
        }
    }
    panic!("it is in use for 5 s")
}

fn open(place: &DatabaseUrl) -> Store {
    Store::open(place, &collector::store::Options::default()).expect("the store opens")
}

/// Something in every table, of two networks: weeks, days and hours with few readings and with
/// many, those that have just landed, what came late, and ids that were drawn for what is not there
/// any more.
fn fill(store: &mut Store) {
    let of_seven = NetworkId(7).meter(300);
    add(store, 1..=4);
    add(store, [of_seven]);
    let mut batch = Vec::new();
    for meter in [1.into(), 2.into(), 3.into(), of_seven] {
        batch.push(Write::Report(report(meter, 1, NEW_YEAR_S - HOUR_S, start(NEW_YEAR_S - HOUR_S, 1))));
        for n in 2..=90 {
            batch.push(reading(meter, n, NEW_YEAR_S + i64::from(n) * 13 * HOUR_S, n * 7, -3));
        }
    }
    // 2,000 within a day and a half.
    let later_s = NEW_YEAR_S + 100 * 24 * HOUR_S;
    batch.extend((91..=2090).map(|n| reading(1, n, later_s + i64::from(n) * 60, n * 7, 12)));
    // Of meter 2 some came late, into intervals that are over.
    batch.extend((100..=110).map(|n| reading(2, n, later_s + i64::from(n) * 900, n * 7, 5)));
    batch.extend((95..=99).map(|n| reading(2, n, later_s + i64::from(n) * 900, n * 7, 5)));
    for n in 91..=95 {
        let Write::Report(mut signed) = reading(3, n, later_s + i64::from(n), n * 7, i16::MAX) else {
            continue;
        };
        (signed.suite, signed.sealed, signed.rssi_dbm) = (Suite::EciesEcdsa, vec![n as u8; 144], None);
        batch.push(Write::Report(signed));
    }
    store.commit(batch).expect("there is room");
    fill_rows(store);
}

const MBUS_METER: &str = "ELS-12345678";
const ODD_TEXT: &str = "‘’ \" \\ ; '";

fn telegram(counter: u32, heard_ms: i64) -> Write {
    let record = TelegramRecord { value: ODD_TEXT.to_owned(), ..TelegramRecord::default() };
    Write::Telegram(Box::new(NewTelegram {
        meter: MBUS_METER.parse().expect("a meter"),
        heard_ms,
        address: MeterAddress {
            manufacturer: Manufacturer(0x1593),
            identification: [0x78, 0x56, 0x34, 0x12],
            version: 0x33,
            device_type: 3,
        },
        mode: 7,
        authenticated: true,
        counter: Some(([0x80; 8], counter)),
        access_number: Some(255),
        status: None,
        clock_off_s: Some(-1),
        contents: TelegramContents { records: vec![record], ..TelegramContents::default() },
    }))
}

fn refused_telegrams(at_ms: i64) -> Write {
    let meter = MBUS_METER.parse().expect("a meter");
    Write::TelegramsRefused { meter, count: 9, at_ms, reason: ODD_TEXT.to_owned() }
}

fn fill_rows(store: &mut Store) {
    let now_ms = NEW_YEAR_S * 1000;
    let command = |ticket| {
        let order = QueuedCommand::Command(Command::Configure { interval_s: 60, suite: Suite::Ecies });
        let by = "Ada ☂".to_owned();
        Write::Command(NewCommand { meter: 1.into(), ticket, order, by, created_ms: now_ms })
    };
    let outbox = |number_lsb: u8| {
        Write::OutboxPut(NewOutbox {
            address: 0x4f,
            name: 65_535,
            kind: MessageKind::Report,
            suite: Suite::Aes128Gcm,
            number_lsb,
            message: vec![0, 255, number_lsb],
            heard_ms: now_ms,
        })
    };
    let alert = |meter, cause: &str| {
        let (cause, detail) = (cause.to_owned(), "‘’ \" \\ ; '".to_owned());
        Write::Alert(NewAlert { meter, at_ms: now_ms, cause, detail })
    };
    let token = |name: &str| {
        Write::Token(NewToken { name: name.to_owned(), role: Role::Viewer, hash: [0x80; 32], created_ms: 1 })
    };
    let sent = CommandProgress { id: 1, state: CommandState::Sent, attempts: 3, at_ms: now_ms, answer: None };
    let kept = store.reader().kept_meters().expect("meters").remove(1);
    let mut state = kept.state;
    state.number_commands_from(1_900_000_000);
    let image = |slot, version| {
        let image = Image::new(Flash::image(slot, version, &[0, 255, b'\\', b'\n'])).expect("an image");
        NewImage { image, by: "Ada ☂".to_owned(), added_ms: now_ms }
    };
    let update = |meter: u16| {
        let (meter, image) = (meter.into(), ImageDigest(*image(0, u32::MAX).image.digest()));
        Write::Update(NewUpdate { meter, image, by: "Bob".to_owned(), created_ms: now_ms })
    };
    let refused = UpdateProgress {
        meter: 2.into(),
        created_ms: now_ms,
        image: ImageDigest(*image(1, 3).image.digest()),
        state: UpdateState::Refused,
        refusal: Some(ImageRefusal::OnTrial),
        pieces: 3,
        of: 16,
        at_ms: now_ms + 1,
    };
    let batch = vec![
        Write::Image(image(0, u32::MAX)),
        Write::Image(image(1, 3)),
        update(1),
        update(2),
        Write::UpdateProgress(refused),
        command(1),
        command(2),
        Write::CommandProgress(sent),
        telegram(1, now_ms),
        telegram(7, now_ms),
        refused_telegrams(now_ms),
        outbox(1),
        outbox(2),
        outbox(3),
        Write::OutboxRemove { id: 3 },
        alert(None, "store"),
        alert(Some(1.into()), "silent"),
        Write::Acknowledge { alert: 5, by: "Bob".to_owned(), at_ms: now_ms },
        token("wall"),
        token("hall"),
        Write::TokenUsed { token: 1, at_ms: 50 },
        Write::TokenRevoked { token: 2, at_ms: 60 },
        Write::Action(NewAction { at_ms: now_ms, who: "Ada".to_owned(), what: String::new() }),
        Write::Label { meter: 3.into(), label: "Küche".to_owned() },
        Write::Counts(MeterCounts { meter: 3.into(), repeats: 9, refused: 8 }),
        Write::State { network: NetworkId::DEFAULT, epoch: 1, state: Box::new(state) },
        Write::Revoked { meter: 4.into(), at_ms: now_ms },
    ];
    store.commit(batch).expect("there is room");
    while store.upkeep((NEW_YEAR_S + 120 * 24 * HOUR_S) * 1000).expect("done") {}
}

/// All rows of all tables of a file, each as text, in order; readings wherever they are. Read by
/// another way than the one under test.
fn contents(path: &Path) -> BTreeMap<String, Vec<String>> {
    let connection = Connection::open(path).expect("a database");
    let names = |sql: &str| -> Vec<String> {
        let mut names = connection.prepare(sql).expect("a question");
        names.query_map([], |row| row.get(0)).expect("names").collect::<Result<_, _>>().expect("text")
    };
    let mut tables = BTreeMap::new();
    for table in names("SELECT name FROM sqlite_schema WHERE type = 'table'") {
        if ["landing", "landing_too", "sorted_in"].contains(&table.as_str()) {
            continue;
        }
        let columns = names(&format!("SELECT name FROM pragma_table_info('{table}') ORDER BY name"));
        let columns = columns.iter().map(|column| format!("\"{column}\"")).collect::<Vec<_>>().join(", ");
        let mut sql = format!("SELECT {columns} FROM {table}");
        match table.as_str() {
            "readings" => sql += &format!(" UNION ALL SELECT {columns} FROM landed"),
            "meta" => sql += " WHERE key <> 'relocation'",
            // How many rows there were at most is SQLite's where no id was ever drawn.
            "sqlite_sequence" => sql += " WHERE seq > 0 AND name <> 'signed'",
            _ => {}
        }
        let mut rows = connection.prepare(&sql).expect("a question");
        let width = rows.column_count();
        let row = |row: &rusqlite::Row<'_>| {
            (0..width).map(|at| row.get::<_, Value>(at)).collect::<Result<Vec<_>, _>>()
        };
        let rows = rows.query_map([], row).expect("rows");
        let mut rows: Vec<String> = rows.map(|row| format!("{:?}", row.expect("a row"))).collect();
        rows.sort_unstable();
        tables.insert(table, rows);
    }
    tables
}

fn assert_same(here: &Path, there: &Path) {
    let (here, there) = (contents(here), contents(there));
    assert_eq!(here.keys().collect::<Vec<_>>(), there.keys().collect::<Vec<_>>());
    if let Some((table, rows)) = here.iter().find(|(table, rows)| **rows != there[*table]) {
        let only = |some: &[String], others: &[String]| -> Vec<String> {
            some.iter().filter(|row| !others.contains(row)).take(3).cloned().collect()
        };
        let (gone, new) = (only(rows, &there[table]), only(&there[table], rows));
        panic!("{table}: {} and {} rows; {gone:?}, {new:?}", rows.len(), there[table].len());
    }
}

/// A file that is filled, and what is to be moved into.
fn stands() -> (TestStore, TestStore) {
    let (file, server) = (TestStore::new(), Engine::Postgres.place());
    let mut store = file.open();
    fill(&mut store);
    (file, server)
}
