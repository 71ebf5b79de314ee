//! Several networks in one service: the same meter numbers, other keys, other gateways, and nothing
//! that crosses.

use super::station::{Gateway, SimulatedMeter, WITHIN, start, start_with};
use super::{SHORT, stored};
use collector::event::Event;
use collector::gateway::HeardPacket;
use collector::meters::RequestError;
use collector::network::{GlobalMeterId, NetworkId};
use collector::registry::{KeyStore, Registry, RegistryError};
use collector::service::{Config, NETWORKS_MAX, Running, ServiceError};
use collector::store::{AlertFilter, Meter, MeterFilter};
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::fs;
use std::path::Path;
use wire::meter::{
    Alert, Cause, Channel, Command, CommandResult, Content, Identity, Measurement, MessageKind, MeterRecord,
    Report, Suite, packets,
};

const SEVEN: NetworkId = NetworkId(7);
const METER: u16 = 258;

/// A meter, and the gateway of its network.
struct Site {
    network: NetworkId,
    meter: SimulatedMeter,
    gateway: Gateway,
}

impl Site {
    fn name(&self) -> GlobalMeterId {
        self.network.meter(METER)
    }

    fn hear(&self, running: &Running, packets: &[Vec<u8>]) {
        for packet in packets {
            let route = self.gateway.route(1);
            let heard = HeardPacket { route, bytes: packet.clone(), rssi_dbm: Some(-61) };
            assert!(running.meters().hear_in(self.network, heard));
        }
    }

    /// The next report is acknowledged.
    fn report(&mut self, running: &Running) {
        let report = self.meter.report();
        self.hear(running, &report);
        let sent = self.gateway.next_acknowledgement(WITHIN).expect("an acknowledgement");
        assert_eq!(self.meter.acknowledged(&sent), self.meter.n, "network {}", self.network);
    }
}

/// The same number in both.
fn register(keys: &Path, suite: Suite) -> [SimulatedMeter; 2] {
    [NetworkId::DEFAULT, SEVEN]
        .map(|network| SimulatedMeter::register_in(keys, network.meter(METER), suite, 1))
}

fn sites(running: &Running, meters: [SimulatedMeter; 2]) -> [Site; 2] {
    let [default, seven] = meters;
    [(NetworkId::DEFAULT, default), (SEVEN, seven)].map(|(network, meter)| {
        let gateway = Gateway::attach(running.meters());
        Site { network, meter, gateway }
    })
}

/// Nothing of the other network was sent by its gateway.
fn is_silent(site: &Site) {
    assert_eq!(site.gateway.next(SHORT), None, "network {}", site.network);
}

#[tokio::test(flavor = "multi_thread")]
async fn networks_with_the_same_numbers_never_mix() {
    for suite in [Suite::Aes128Gcm, Suite::EciesEcdsa] {
        let folder = tempfile::tempdir().expect("a folder");
        let keys = folder.path().join("keys");
        let meters = register(&keys, suite);
        let own = |network| *Registry::open_network(&keys, network).expect("keys").identity().public();
        assert_ne!(own(NetworkId::DEFAULT), own(SEVEN), "each network has a key pair of its own");
        let running = start(folder.path()).await;
        let mut events = running.meters().events();
        let [mut default, mut seven] = sites(&running, meters);
        default.report(&running);
        seven.report(&running);
        seven.report(&running);
        is_silent(&default);
        let db = folder.path().join("test.db");
        assert_eq!((stored(&db, default.name()), stored(&db, seven.name())), (vec![1], vec![1, 2]));
        let mut told = Vec::new();
        while let Ok(Event::Reading(reading)) = events.try_recv() {
            told.push((reading.meter, reading.n));
        }
        assert_eq!(told, [(default.name(), 1), (seven.name(), 1), (seven.name(), 2)]);

        // A message of network 7's meter in another network: forwarded, or recorded and sent again.
        let before = running.meters().snapshot().await.expect("counted");
        let report = seven.meter.report();
        default.hear(&running, &report);
        is_silent(&default);
        is_silent(&seven);
        let after = running.meters().snapshot().await.expect("counted");
        assert_eq!((after.refused.total() - before.refused.total(), after.reports), (1, before.reports));
        assert_eq!((stored(&db, default.name()), stored(&db, seven.name())), (vec![1], vec![1, 2]));
        seven.hear(&running, &report);
        let sent = seven.gateway.next_acknowledgement(WITHIN).expect("an acknowledgement");
        assert_eq!(seven.meter.acknowledged(&sent), 3);

        // All the same after a restart.
        let meters = [default.meter, seven.meter];
        running.stop().await.expect("it stops well");
        let running = start(folder.path()).await;
        let [mut default, mut seven] = sites(&running, meters);
        default.report(&running);
        seven.report(&running);
        assert_eq!((stored(&db, default.name()), stored(&db, seven.name())), (vec![1, 2], vec![1, 2, 3, 4]));
        running.stop().await.expect("it stops well");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_and_alerts_are_their_network_s() {
    let folder = tempfile::tempdir().expect("a folder");
    let meters = register(&folder.path().join("keys"), Suite::Aes128Gcm);
    let running = start(folder.path()).await;
    let [mut default, mut seven] = sites(&running, meters);
    default.report(&running);
    seven.report(&running);
    let (handle, reader) = (running.meters(), running.reader());
    let id = handle.command(seven.name(), Command::Reboot, "me").await.expect("queued");
    let sent = seven.gateway.next(WITHIN).expect("the command");
    let (m, command) = seven.meter.command(&sent);
    assert_eq!(command, Command::Reboot);
    is_silent(&default);
    assert_eq!(handle.withdraw(default.name(), id).await, Err(RequestError::NoCommand(id)));
    let answer = seven.meter.answer(m, CommandResult::Done);
    // Not from where another network's meters are.
    default.hear(&running, &answer);
    is_silent(&default);
    assert_eq!(reader.open_commands().expect("readable").len(), 1);
    seven.hear(&running, &answer);
    let until = std::time::Instant::now() + WITHIN;
    while !reader.open_commands().expect("readable").is_empty() {
        assert!(std::time::Instant::now() < until, "the answer does not count");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let of = |site: &Site| reader.commands(site.name(), 10).expect("readable").len();
    assert_eq!((of(&default), of(&seven)), (0, 1));
    let nowhere = NetworkId(9).meter(METER);
    let unknown = handle.command(nowhere, Command::Reboot, "me").await;
    assert_eq!(unknown, Err(RequestError::UnknownMeter(nowhere)));
    assert!(unknown.expect_err("unknown").to_string().contains("meter 9-258"));

    seven.meter.n += 1;
    let content = Content::Alert(Alert { time_s: 9, cause: Cause::Watchdog, starts: 2, detail: [0; 3] });
    let alert = seven.meter.send(&Report { n: seven.meter.n, time_set: true, lost: 0, content });
    seven.hear(&running, &alert);
    seven.gateway.next_acknowledgement(WITHIN).expect("an acknowledgement");
    let alerts = |whose| {
        let filter = AlertFilter { whose, ..AlertFilter::default() };
        let found = reader.alerts(&filter).expect("readable");
        found
            .into_iter()
            .filter(|alert| alert.cause == "watchdog")
            .map(|alert| alert.meter)
            .collect::<Vec<_>>()
    };
    assert_eq!(alerts(MeterFilter::All), [Some(seven.name())]);
    assert_eq!(alerts(MeterFilter::Network(SEVEN)), [Some(seven.name())]);
    assert_eq!(alerts(seven.name().into()), [Some(seven.name())]);
    assert_eq!(
        (alerts(MeterFilter::Network(NetworkId::DEFAULT)), alerts(default.name().into())),
        (vec![], vec![])
    );
    running.stop().await.expect("it stops well");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_of_a_network_come_and_go_and_the_other_s_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    let keys = folder.path().join("keys");
    let meters = register(&keys, Suite::Aes128Gcm);
    let running = start(folder.path()).await;
    let mut events = running.meters().events();
    let [mut default, mut seven] = sites(&running, meters);
    default.report(&running);
    seven.report(&running);
    Registry::open_network(&keys, SEVEN).expect("keys").revoke(METER).expect("registered");
    let until = std::time::Instant::now() + WITHIN;
    loop {
        match tokio::time::timeout(WITHIN, events.recv()).await.expect("told").expect("not too far behind") {
            Event::Meter { meter } => break assert_eq!(meter, seven.name()),
            _ => assert!(std::time::Instant::now() < until, "nobody is told"),
        }
    }
    default.report(&running);
    let report = seven.meter.report();
    seven.hear(&running, &report);
    is_silent(&seven);
    let meters = running.reader().meters(MeterFilter::All, 0).expect("readable");
    let revoked: Vec<_> = meters.iter().map(|meter| (meter.meter, meter.revoked)).collect();
    assert_eq!(revoked, [(default.name(), false), (seven.name(), true)]);
    running.stop().await.expect("it stops well");
}

#[tokio::test]
async fn invalid_networks_are_refused_at_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let keys = folder.path().join("keys");
    register(&keys, Suite::Aes128Gcm);
    let start_again = async || {
        let config = Config::new(folder.path().join("test.db"), &keys);
        Running::start(config).await.map(drop)
    };
    start(folder.path()).await.stop().await.expect("it stops well");

    // A network's folder went away: that revokes none of its meters.
    let (seven, away) = (keys.join("networks/7"), folder.path().join("away"));
    fs::rename(&seven, &away).expect("moved");
    let error = start_again().await.expect_err("no folder");
    assert!(matches!(error, ServiceError::OtherKeys { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("of network 7") && text.contains("networks/7"), "{text}");
    fs::rename(&away, &seven).expect("back");

    // Another network's meter.
    fs::copy(seven.join("meters/00258.toml"), keys.join("meters/00258.toml")).expect("copied");
    let text = start_again().await.expect_err("another network's").to_string();
    assert!(text.contains("meter 7-258") && text.contains("network 0"), "{text}");
    fs::remove_file(keys.join("meters/00258.toml")).expect("there");
    let add = KeyStore::Folder(keys.clone()).add_file(&seven.join("meters/00258.toml"));
    assert!(matches!(add, Err(RegistryError::Exists(meter)) if meter == SEVEN.meter(METER)));

    // A folder that is no network's.
    for wrong in ["seven", "07", "0"] {
        fs::create_dir(keys.join("networks").join(wrong)).expect("made");
        let text = start_again().await.expect_err("no network").to_string();
        assert!(text.contains(wrong) && text.contains("move it away"), "{text}");
        fs::remove_dir(keys.join("networks").join(wrong)).expect("there");
    }

    let mut config = Config::new(folder.path().join("other.db"), folder.path().join("other"));
    config.networks = (1..=NETWORKS_MAX as u32).map(NetworkId).collect();
    let text = Running::start(config).await.map(drop).expect_err("too many").to_string();
    assert!(text.contains("65 networks") && text.contains("start several"), "{text}");
    assert!(!folder.path().join("other/networks").exists(), "nothing was made");
}

/// A database and a folder of keys that the program of before wrote, which knew one network.
#[tokio::test(flavor = "multi_thread")]
async fn files_of_before_are_taken_over_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let (db, keys) = (folder.path().join("test.db"), folder.path().join("keys"));
    let old = rusqlite::Connection::open(&db).expect("a file");
    old.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).expect("a log");
    old.execute_batch(include_str!("data/version-3.sql")).expect("the third version's database");
    let before = rows(&old);
    drop(old);
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/meters/data/keys");
    for file in [
        "collector.toml",
        "commands.toml",
        "told.toml",
        "meters/00258.toml",
        "meters/00259.toml",
        "revoked/00260-1.toml",
    ] {
        super::station::put(&keys.join(file), &fs::read_to_string(data.join(file)).expect("a key file"));
    }
    let running = start_with(folder.path(), |config| config.require_sealed = None).await;
    running.stop().await.expect("it stops well");
    let new = rusqlite::Connection::open(&db).expect("there");
    assert_eq!(rows(&new), before, "something was changed");
    let version = |path: &Path| -> i64 {
        let database = rusqlite::Connection::open(path).expect("a database");
        database.query_row("PRAGMA user_version", [], |row| row.get(0)).expect("a version")
    };
    assert_eq!((version(&db), version(&folder.path().join("test.db.before-4"))), (8, 3));
    drop(new);
    for file in ["collector.toml", "commands.toml", "told.toml", "meters/00258.toml", "revoked/00260-1.toml"]
    {
        let (now, then) = (fs::read(keys.join(file)), fs::read(data.join(file)));
        assert_eq!(now.expect("there"), then.expect("there"), "{file}");
    }
    assert!(!keys.join("networks").exists(), "nobody asked for networks");

    let running = start(folder.path()).await;
    let registry = Registry::open(&keys).expect("keys");
    let audited = collector::audit::audit(running.reader(), [registry.identity()], |_, _| {}).expect("read");
    assert_eq!((audited.messages, audited.opened, audited.failures), (5, 5, 0), "{audited:?}");
    // Meter 258 goes on, and the one that was revoked does not.
    let record = registry.load().expect("all are good")[&METER].record.clone();
    let gateway = Gateway::attach(running.meters());
    gateway.hear(running.meters(), 1, &measured(&record, 6));
    gateway.next_acknowledgement(WITHIN).expect("an acknowledgement");
    assert_eq!(stored(&db, METER), [1, 2, 3, 4, 6]);
    let meters = running.reader().meters(MeterFilter::All, 0).expect("readable");
    let shown = |meter: &Meter| (meter.meter.to_string(), meter.revoked, meter.total_wh);
    let shown: Vec<_> = meters.iter().map(shown).collect();
    let expected = [("258", false, 0.6), ("259", false, 0.4), ("260", true, 0.4)];
    assert_eq!(shown, expected.map(|(meter, revoked, total)| (meter.to_owned(), revoked, Some(total))));
    running.stop().await.expect("it stops well");
}

/// A measurement of a meter whose private key is not there: with AES-GCM no key pair takes part.
/// Its register is its number.
fn measured(record: &MeterRecord, n: u32) -> Vec<Vec<u8>> {
    let content = Content::Measurement(Measurement { time_s: 1, energy_dwh: n, power_w: 1 });
    let report = Report { n, time_set: false, lost: 0, content };
    let mut rng = StdRng::seed_from_u64(1);
    let (own, peer) = (Identity::generate(&mut rng), Identity::generate(&mut rng));
    let channel = Channel { meter: METER, keys: &record.keys, own: &own, peer: peer.public() };
    let (kind, suite) = (MessageKind::Report, record.setup.suite);
    let sealed = channel.seal(kind, suite, n, &report.to_bytes(), &mut rng);
    packets(record.setup.collector_address, kind, suite, METER, n, &sealed)
}

/// All rows of all tables but what the service remembers of itself, as text; without the column
/// that version 7 added.
fn rows(connection: &rusqlite::Connection) -> Vec<String> {
    let mut names = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('meta', 'sqlite_sequence') ORDER BY name")
        .expect("tables");
    let names: Vec<String> =
        names.query_map([], |row| row.get(0)).expect("names").collect::<Result<_, _>>().expect("text");
    assert!(names.contains(&"used_by_time".to_owned()), "{names:?}");
    let of_table = |name: &String| {
        let mut all = connection.prepare(&format!("SELECT * FROM {name}")).expect("a table");
        let old: Vec<usize> = all
            .column_names()
            .enumerate()
            .filter(|(_, name)| *name != "total_dwh")
            .map(|(place, _)| place)
            .collect();
        let row = |row: &rusqlite::Row<'_>| {
            let values = old.iter().map(|column| row.get::<_, rusqlite::types::Value>(*column));
            Ok(format!("{name}: {:?}", values.collect::<Result<Vec<_>, _>>()?))
        };
        all.query_map([], row).expect("rows").collect::<Result<Vec<String>, _>>().expect("values")
    };
    names.iter().flat_map(of_table).collect()
}
