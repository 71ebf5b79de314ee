//! A database of a test's own, and meters in it.

use collector::network::GlobalMeterId;
use collector::store::{
    DatabaseUrl, METERS_EPOCH_S, NewReport, Options, Provisioned, Reader, ReadingsQuery, Rows, Store,
    StoreError, Write, Written,
};
use jiff::tz::TimeZone;
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use testkit::postgres;
use wire::meter::{
    Alert, Cause, Content, Identity, Measurement, MeterKeys, MeterRecord, MeterState, Report, Setup, Suite,
};

/// 2026-01-01 00:00:00 UTC.
pub const NEW_YEAR_S: i64 = 1_767_225_600;

/// The engine of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres,
}

impl Engine {
    /// A database of a test's own, which is not made yet.
    pub fn place(self) -> TestStore {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let database = (self == Engine::Postgres).then(|| postgres::shared().database());
        TestStore { folder, database }
    }
}

/// Makes a test for each engine of functions that take one.
macro_rules! on_each_engine {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[test] fn $name() { super::$name(crate::store::place::Engine::Sqlite) })*
        }
        mod postgres {
            $(#[test] fn $name() { super::$name(crate::store::place::Engine::Postgres) })*
        }
    };
}
pub(crate) use on_each_engine;

pub struct TestStore {
    folder: TempDir,
    /// Of the server that all tests share; `None`: it is a file.
    database: Option<String>,
}

impl TestStore {
    /// A file of SQLite's.
    pub fn new() -> TestStore {
        Engine::Sqlite.place()
    }

    /// Returns its location.
    pub fn place(&self) -> DatabaseUrl {
        match &self.database {
            Some(database) => DatabaseUrl::named(&postgres::shared().url(database)).expect("a URL"),
            None => self.path().into(),
        }
    }

    /// Changes something behind the store's back. The caller checks the change.
    pub fn change(&self, sql: &str) {
        match &self.database {
            Some(database) => drop(postgres::shared().sql(database, sql)),
            None => {
                let connection = rusqlite::Connection::open(self.path()).expect("the database");
                connection.execute_batch(sql).expect("changed");
            }
        }
    }

    /// Makes the database one of an older schema, from 4 on, without what later ones brought.
    pub fn set_back(&self, version: u32) {
        let brought = [
            (8, "DROP TABLE mbus_meters; DROP TABLE mbus_counters; DROP TABLE mbus_telegrams;"),
            (8, "DROP TABLE IF EXISTS sealed_mbus_keys;"),
            (7, "ALTER TABLE latest DROP COLUMN total_dwh;"),
            (6, "DROP TABLE images; DROP TABLE updates;"),
        ];
        brought.iter().filter(|(since, _)| *since > version).for_each(|(_, sql)| self.change(sql));
        self.change(&match self.database {
            None => format!("PRAGMA user_version = {version}"),
            Some(_) => format!("UPDATE wattseal_schema SET version = {version}"),
        });
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("wattseal.db")
    }

    /// The names of the files that there are, in order.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).expect("the folder");
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<String> =
            entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    pub fn open(&self) -> Store {
        self.open_in("UTC")
    }

    pub fn open_in(&self, zone: &str) -> Store {
        let zone = TimeZone::get(zone).expect("the zone");
        self.open_with(&Options { zone, ..Options::default() })
    }

    pub fn open_with(&self, options: &Options) -> Store {
        // A process that another test just began has this one's files, locks among them, until it
        // is the other program.
        let until = Instant::now() + Duration::from_secs(5);
        loop {
            match Store::open(self.place(), options) {
                Err(StoreError::InUse { .. }) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                opened => return opened.expect("the store opens"),
            }
        }
    }
}

pub fn identity(seed: u64) -> Identity {
    Identity::generate(&mut StdRng::seed_from_u64(seed))
}

pub fn provisioned(meter: impl Into<GlobalMeterId>, epoch: u32) -> Provisioned {
    let meter = meter.into();
    let public = *identity(meter.key().unsigned_abs() << 8 | u64::from(epoch)).public();
    let setup = Setup::usual(meter.meter);
    let state = MeterState::new(&MeterRecord { setup, keys: MeterKeys::new([1; 16], [2; 32]), public });
    Provisioned {
        meter,
        epoch,
        label: None,
        public,
        collector_public: *identity(1).public(),
        suite: setup.suite,
        interval_s: setup.interval_s,
        state,
        at_ms: NEW_YEAR_S * 1000,
    }
}

/// Adds meters with their first keys.
pub fn add(store: &mut Store, meters: impl IntoIterator<Item = impl Into<GlobalMeterId>>) {
    let batch: Vec<Write> =
        meters.into_iter().map(|meter| Write::Provisioned(Box::new(provisioned(meter, 1)))).collect();
    let written = store.commit(batch).expect("the meters are added");
    assert!(written.iter().all(|written| *written == Written::Done));
}

/// A report that was heard when it was made; at_s: Unix time.
pub fn report(meter: impl Into<GlobalMeterId>, n: u32, at_s: i64, content: Content) -> NewReport {
    NewReport {
        meter: meter.into(),
        epoch: 1,
        heard_ms: at_s * 1000 + 250,
        suite: Suite::Aes128Gcm,
        report: Report { n, time_set: true, lost: 0, content },
        sealed: Vec::new(),
        rssi_dbm: Some(-60),
    }
}

pub fn measurement(at_s: i64, energy_dwh: u32, power_w: i16) -> Content {
    let time_s = u32::try_from(at_s - METERS_EPOCH_S).expect("a time that a meter can say");
    Content::Measurement(Measurement { time_s, energy_dwh, power_w })
}

pub fn start(at_s: i64, starts: u16) -> Content {
    let time_s = u32::try_from(at_s - METERS_EPOCH_S).expect("a time that a meter can say");
    Content::Alert(Alert { time_s, cause: Cause::PowerOn, starts, detail: [0; 3] })
}

/// The registers of all of a meter's readings, in tenths of Wh, oldest first.
pub fn all_readings(reader: &Reader, meter: impl Into<GlobalMeterId>) -> Vec<u32> {
    let meter = meter.into();
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let query = ReadingsQuery { after, ..ReadingsQuery::raw(meter) };
        let page = reader.readings(&query).expect("readings");
        let Rows::Raw { energy_wh, .. } = page.rows else { panic!("readings were asked for") };
        found.extend(energy_wh.iter().map(|wh| (wh * 10.0).round() as u32));
        after = page.next;
        if after.is_none() {
            return found;
        }
    }
}

/// A measurement, to be written.
pub fn reading(meter: impl Into<GlobalMeterId>, n: u32, at_s: i64, energy_dwh: u32, power_w: i16) -> Write {
    Write::Report(report(meter, n, at_s, measurement(at_s, energy_dwh, power_w)))
}
