//! The speed of the store: `cargo bench -p wattseal-collector --bench store -- commit queries`.
//! docs/how-to/collector.md has its figures.
//!
//! `commit`: how many readings a second one writer makes durable, of a million. `queries`: how long
//! questions take on 10 million readings (`WATTSEAL_READINGS=N` for another number of both), and
//! how much memory the process had at most. The database is made in the folder that `TMPDIR` names,
//! which has to be on a real disk; 10 million readings need 2 GB there.
//!
//! `postgres` beside them: the same with PostgreSQL, Debian's, with a server of its own in that
//! folder that syncs as it is set by itself, and reads as a server that has been there for a while
//! (`ANALYZE`); 10 million readings need 4 GB. `backup` with it: how long a dump, what restores it,
//! and a copy of the whole server take, of a million (docs/how-to/operations.md). `WATTSEAL_TIMES=10`
//! before `queries postgres`: ten networks, each with the thousand meters and the readings of the
//! first; 100 million readings need 30 GB.

use collector::api::{Consumption, Readings};
use collector::network::NetworkId;
use collector::store::{
    ConsumptionQuery, DatabaseUrl, Interval, METERS_EPOCH_S, MeterFilter, NewReport, Options, Provisioned,
    Reader, ReadingsQuery, Resolution, Store, Write,
};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::error::Error;
use std::ops::Range;
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use testkit::postgres::Server;
use wire::meter::{
    Content, Identity, Measurement, MeterId, MeterKeys, MeterRecord, MeterState, Report, Setup, Suite,
};

const METERS: u16 = 1000;
/// 2026-01-01 00:00:00 UTC.
const NEW_YEAR_S: i64 = 1_767_225_600;
const DAY_S: i64 = 86_400;
/// The number of times that each query is asked.
const ASKED: usize = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let asked: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let engine = if asked.iter().any(|word| word == "postgres") { Engine::Postgres } else { Engine::Sqlite };
    let wanted = |name: &str| {
        let named = |word: &&String| ["commit", "queries", "backup"].contains(&word.as_str());
        asked.iter().filter(named).count() == 0 || asked.iter().any(|word| word == name)
    };
    if wanted("commit") {
        for (batch, suite) in [(1000, Suite::Aes128Gcm), (4000, Suite::Aes128Gcm), (1000, Suite::EciesEcdsa)]
        {
            commits(engine, batch, suite)?;
        }
    }
    if wanted("queries") {
        queries(engine)?;
    }
    // Of a file of SQLite a backup is a copy.
    if asked.iter().any(|word| word == "backup") {
        backup()?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Engine {
    Sqlite,
    Postgres,
}

/// The location of a separate database.
struct Database {
    place: DatabaseUrl,
    server: Option<Server>,
    _folder: TempDir,
}

impl Database {
    fn new(engine: Engine) -> Result<Database, Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let server = (engine == Engine::Postgres).then(|| Server::start(&["shared_buffers=256MB"]));
        let place = match &server {
            Some(server) => DatabaseUrl::named(&server.url("postgres"))?,
            None => folder.path().join("wattseal.db").into(),
        };
        Ok(Database { place, server, _folder: folder })
    }

    /// For how long the server had a processor.
    fn processor_s(&self) -> f64 {
        self.server.as_ref().map_or(0.0, Server::processor_s)
    }

    /// Does the work that a server does by itself in its first minutes.
    fn settle(&self) {
        if let Some(server) = &self.server {
            server.sql("postgres", "VACUUM ANALYZE");
            server.sql("postgres", "CHECKPOINT");
        }
    }
}

fn open(database: &Database) -> Result<Store, Box<dyn Error>> {
    let mut store = Store::open(&database.place, &Options::default())?;
    let identity = Identity::generate(&mut StdRng::seed_from_u64(1));
    let provisioned = |meter: MeterId| {
        let setup = Setup::usual(meter);
        let record =
            MeterRecord { setup, keys: MeterKeys::new([1; 16], [2; 32]), public: *identity.public() };
        Write::Provisioned(Box::new(Provisioned {
            meter: meter.into(),
            epoch: 1,
            label: None,
            public: record.public,
            collector_public: record.public,
            suite: setup.suite,
            interval_s: 10,
            state: MeterState::new(&record),
            at_ms: 0,
        }))
    };
    store.commit((1..=METERS).map(provisioned).collect())?;
    Ok(store)
}

fn report(meter: MeterId, n: u32, at_s: i64, suite: Suite) -> Result<Write, Box<dyn Error>> {
    let measurement = Measurement {
        time_s: u32::try_from(at_s - METERS_EPOCH_S)?,
        energy_dwh: n.wrapping_mul(11),
        power_w: ((u32::from(meter) * 7 + n * 13) % 3000) as i16,
    };
    let report = Report { n, time_set: true, lost: 0, content: Content::Measurement(measurement) };
    let sealed = if suite == Suite::EciesEcdsa { vec![0x5a; 144] } else { Vec::new() };
    let heard_ms = at_s * 1000;
    Ok(Write::Report(NewReport {
        meter: meter.into(),
        epoch: 1,
        heard_ms,
        suite,
        report,
        sealed,
        rssi_dbm: Some(-60),
    }))
}

/// Batches as they come with many meters: some readings of each, one after the other.
fn commits(engine: Engine, batch: usize, suite: Suite) -> Result<(), Box<dyn Error>> {
    let readings = std::env::var("WATTSEAL_READINGS").map_or(Ok(1_000_000), |number| number.parse())?;
    let database = Database::new(engine)?;
    let mut store = open(&database)?;
    let mut times = Vec::new();
    let (mut log_bytes, mut busy_s) = (0, 0.0);
    let (mut made, served_before_s) = (0, database.processor_s());
    while made < readings {
        let mut writes = Vec::with_capacity(batch);
        for place in made..made + batch {
            let n = u32::try_from(place / usize::from(METERS))? + 1;
            let meter = 1 + (place % usize::from(METERS)) as u16;
            writes.push(report(meter, n, NEW_YEAR_S + i64::from(n) * 10, suite)?);
        }
        made += batch;
        let (began, busy_before_s) = (Instant::now(), processor_s()?);
        store.commit(writes)?;
        times.push(began.elapsed());
        busy_s += processor_s()? - busy_before_s;
        log_bytes = log_bytes.max(store.reader().health().log_bytes);
    }
    let total: Duration = times.iter().sum();
    // This measures a server's database.
    store.check()?;
    let health = store.reader().health();
    println!(
        "commit, {suite}, batches of {batch}: {:.0} readings/s, {:.1} µs of a processor each, and {:.1} µs of the server's; a batch {}; \
         log at most {} MB, database {} MB",
        made as f64 / total.as_secs_f64(),
        busy_s * 1e6 / made as f64,
        (database.processor_s() - served_before_s) * 1e6 / made as f64,
        quantiles(&mut times),
        log_bytes >> 20,
        health.database_bytes >> 20
    );
    Ok(())
}

/// For how long this thread had a processor, which others that are busy on the machine do not
/// change.
fn processor_s() -> Result<f64, Box<dyn Error>> {
    let ran = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let ns: f64 = ran.split_whitespace().next().unwrap_or("0").parse()?;
    Ok(ns / 1e9)
}

/// Median, 99th percentile and longest.
fn quantiles(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize].as_secs_f64() * 1e3;
    format!("p50 {:.2} ms, p99 {:.2} ms, longest {:.2} ms", at(0.5), at(0.99), at(1.0))
}

/// The contents of the database.
struct Filled {
    range: Range<i64>,
    /// Networks of [`METERS`] meters.
    times: u16,
}

/// Every meter's readings: 2,800 of each 10,000 three hours apart, a year long, and the rest 10 s
/// apart, until `end`.
fn fill(store: &mut Store, readings: usize) -> Result<Range<i64>, Box<dyn Error>> {
    let each = readings / usize::from(METERS);
    let sparse = each * 28 / 100;
    let begin = NEW_YEAR_S;
    let dense_from = begin + sparse as i64 * 10_800;
    let time = |place: usize| match place.checked_sub(sparse) {
        None => begin + place as i64 * 10_800,
        Some(place) => dense_from + place as i64 * 10,
    };
    let began = Instant::now();
    for places in (0..each).collect::<Vec<_>>().chunks(4) {
        let mut writes = Vec::with_capacity(4 * usize::from(METERS));
        for place in places {
            for meter in 1..=METERS {
                let at_s = time(*place) + i64::from(meter % 10);
                writes.push(report(meter, u32::try_from(*place)? + 1, at_s, Suite::Aes128Gcm)?);
            }
        }
        store.commit(writes)?;
    }
    // This measures a server's database.
    store.check()?;
    println!(
        "filled with {} readings in {:.0} s, database {} MB",
        each * usize::from(METERS),
        began.elapsed().as_secs_f64(),
        store.reader().health().database_bytes >> 20
    );
    Ok(begin..time(each))
}

/// Multiplies the stored rows of network 0's meters, for meters of other networks, until there are
/// `times` as many. The server does it itself: as much as the store would have written, and sooner.
fn multiply(server: &Server, times: u16) {
    let began = Instant::now();
    let of_meter = |table: &str, columns: &str| {
        format!(
            "INSERT INTO {table} SELECT meter + 65536 * time, {columns} FROM {table}, generate_series(1, {times} - 1) AS time"
        )
    };
    let latest = "SELECT string_agg(column_name, ', ' ORDER BY ordinal_position) FROM information_schema.columns \
                  WHERE table_name = 'latest' AND column_name <> 'meter'";
    let latest = server.sql("postgres", latest);
    for (table, columns) in [
        ("meters", "epoch, label, state, interval_s, added_ms, revoked_ms"),
        ("latest", &latest),
        ("readings", "at_s, epoch, n, energy_dwh, heard_ms, flags, power_w, rssi_dbm"),
        ("rollups", "level, start_s, readings, used_dwh, power_min_w, power_max_w, power_sum_w"),
    ] {
        server.sql("postgres", &of_meter(table, columns));
    }
    server.sql(
        "postgres",
        &format!(
            "INSERT INTO used_by_time SELECT level, start_s, meters + 512 * time, used_dwh \
             FROM used_by_time, generate_series(1, {times} - 1) AS time"
        ),
    );
    let readings =
        server.sql("postgres", "SELECT count(*), pg_database_size('postgres') >> 20 FROM readings");
    println!(
        "{times} times as many meters after {:.0} s: readings, MB: {readings}",
        began.elapsed().as_secs_f64()
    );
}

fn queries(engine: Engine) -> Result<(), Box<dyn Error>> {
    let readings = std::env::var("WATTSEAL_READINGS").map_or(Ok(10_000_000), |number| number.parse())?;
    let times: u16 = std::env::var("WATTSEAL_TIMES").map_or(Ok(1), |number| number.parse())?;
    let database = Database::new(engine)?;
    let mut store = open(&database)?;
    let filled = Filled { range: fill(&mut store, readings)?, times };
    match &database.server {
        Some(server) if times > 1 => multiply(server, times),
        _ => {}
    }
    database.settle();
    let reader = store.reader();
    let seed = 7;
    let mut rng = StdRng::seed_from_u64(seed);
    let mut all = Vec::new();
    type Ask = fn(&Reader, &Filled, &mut StdRng) -> Result<usize, Box<dyn Error>>;
    let kinds: [(&str, Ask); 9] = [
        ("raw, an hour", |reader, filled, rng| series(reader, filled, rng, Resolution::Raw, 3600)),
        ("raw, a day", |reader, filled, rng| series(reader, filled, rng, Resolution::Raw, DAY_S)),
        ("hours, a month", |reader, filled, rng| series(reader, filled, rng, Resolution::Hour, 30 * DAY_S)),
        ("days, a year", |reader, filled, rng| series(reader, filled, rng, Resolution::Day, 365 * DAY_S)),
        ("a network, 10 days by hour", |reader, filled, rng| {
            consumption(reader, filled, rng, (Interval::Hour, 10 * DAY_S), Of::Network)
        }),
        ("a network, a month by day", |reader, filled, rng| {
            consumption(reader, filled, rng, (Interval::Day, 30 * DAY_S), Of::Network)
        }),
        ("a network, a year by month", |reader, filled, rng| {
            consumption(reader, filled, rng, (Interval::Month, 365 * DAY_S), Of::Network)
        }),
        ("all networks, a day by hour", |reader, filled, rng| {
            consumption(reader, filled, rng, (Interval::Hour, DAY_S), Of::All)
        }),
        ("all networks, a year by month", |reader, filled, rng| {
            consumption(reader, filled, rng, (Interval::Month, 365 * DAY_S), Of::All)
        }),
    ];
    for (name, ask) in kinds {
        let (mut took, mut rows) = (Vec::new(), 0);
        let busy_before_s = processor_s()?;
        for _ in 0..ASKED {
            let began = Instant::now();
            rows += ask(&reader, &filled, &mut rng)?;
            took.push(began.elapsed());
        }
        let busy_ms = (processor_s()? - busy_before_s) * 1e3 / ASKED as f64;
        println!(
            "{name}: {}; mean {busy_ms:.2} ms of a processor, {} figures",
            quantiles(&mut took),
            rows / ASKED
        );
        all.extend(took);
    }
    println!("all of them: {}", quantiles(&mut all));
    for (name, ask) in &kinds[4..] {
        let mut took = Vec::new();
        for _ in 0..20 {
            let new = Reader::open(&database.place)?;
            let began = Instant::now();
            ask(&new, &filled, &mut rng)?;
            took.push(began.elapsed());
        }
        println!("{name}, the first question of a connection: {}", quantiles(&mut took));
    }
    let status = std::fs::read_to_string("/proc/self/status")?;
    let memory = |name: &str| status.lines().find(|line| line.starts_with(name)).unwrap_or("?").to_owned();
    println!("memory: {}, {}", memory("VmHWM"), memory("VmRSS"));
    Ok(())
}

fn series(
    reader: &Reader,
    Filled { range, times }: &Filled,
    rng: &mut StdRng,
    resolution: Resolution,
    length_s: i64,
) -> Result<usize, Box<dyn Error>> {
    // Half of what is asked is of the last two days: what people look at.
    let earliest = if rng.random() { range.start } else { range.end - 2 * DAY_S };
    let from_s = rng.random_range(earliest..range.end);
    let meter = any_network(*times, rng).meter(rng.random_range(1..=METERS));
    let query =
        ReadingsQuery { meter, from_s, to_s: from_s + length_s, resolution, after: None, limit: 10_000 };
    Ok(serde_json::to_vec(&Readings::from(reader.readings(&query)?))?
        .iter()
        .filter(|byte| **byte == b',')
        .count())
}

/// The meters whose consumption is asked for.
enum Of {
    /// A thousand meters: what the dashboard asks for.
    Network,
    All,
}

fn any_network(networks: u16, rng: &mut StdRng) -> NetworkId {
    NetworkId(rng.random_range(0..networks).into())
}

fn consumption(
    reader: &Reader,
    Filled { range, times }: &Filled,
    rng: &mut StdRng,
    (resolution, length_s): (Interval, i64),
    of: Of,
) -> Result<usize, Box<dyn Error>> {
    let whose = match of {
        Of::Network => MeterFilter::Network(any_network(*times, rng)),
        Of::All => MeterFilter::All,
    };
    let from_s = rng.random_range(range.start..(range.end - length_s).max(range.start + 1));
    let query = ConsumptionQuery { from_s, to_s: from_s + length_s, resolution, whose };
    Ok(serde_json::to_vec(&Consumption::from(reader.consumption(&query)?))?
        .iter()
        .filter(|byte| **byte == b',')
        .count())
}

/// Times the backup of docs/how-to/operations.md, "Backup and restore".
fn backup() -> Result<(), Box<dyn Error>> {
    let readings = std::env::var("WATTSEAL_READINGS").map_or(Ok(1_000_000), |number| number.parse())?;
    let database = Database::new(Engine::Postgres)?;
    fill(&mut open(&database)?, readings)?;
    database.settle();
    let server = database.server.as_ref().ok_or("there is a server")?;
    let (socket, into) = (server.folder().to_path_buf(), tempfile::tempdir()?);
    let timed = |program: &str, arguments: &[&str]| -> Result<(), Box<dyn Error>> {
        let began = Instant::now();
        let mut command = Command::new(program);
        command.current_dir(into.path()).arg("-h").arg(&socket).args(["-U", "postgres"]).args(arguments);
        let done = command.output()?;
        if !done.status.success() {
            return Err(format!("{program}: {}", String::from_utf8_lossy(&done.stderr)).into());
        }
        let took = began.elapsed().as_secs_f64();
        let made = Command::new("du").args(["-sm", "."]).current_dir(into.path()).output()?.stdout;
        let made = String::from_utf8(made)?.split_whitespace().next().unwrap_or_default().to_owned();
        println!("{program} {}: {took:.1} s; {made} MB there now", arguments.join(" "));
        Ok(())
    };
    let programs = "/usr/lib/postgresql/15/bin";
    let program = |name: &str| format!("{programs}/{name}");
    timed(&program("pg_dump"), &["--format=custom", "--file=wattseal.dump", "postgres"])?;
    timed(&program("createdb"), &["restored"])?;
    timed(&program("pg_restore"), &["--jobs=2", "--dbname=restored", "wattseal.dump"])?;
    let count = "SELECT count(*), sum(energy_dwh) FROM readings";
    let (before, after) = (server.sql("postgres", count), server.sql("restored", count));
    if before != after {
        return Err(format!("{before} before, {after} restored").into());
    }
    server.sql("postgres", "DROP DATABASE restored WITH (FORCE)");
    timed(&program("pg_basebackup"), &["--pgdata=copy", "--checkpoint=fast"])?;
    Ok(())
}
