//! The time and the memory of a worker with very many meters. docs/how-to/cluster.md has the command.

use super::stops::Process;
use crate::keys::{kek, ring};
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use collector::network::NetworkId;
use collector::registry::{KeyStore, MeterFile, Registry};
use collector::store::{DatabaseUrl, Options, Reader, Store};
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, Instant};
use testkit::nats;
use testkit::postgres::Server;
use wire::meter::{MeterId, MeterRecord, MeterState, Provision, Setup, Suite};

/// Of a network, whose meters have 16 bits.
const METERS_OF_A_NETWORK: u32 = 62_500;
const WITHIN: Duration = Duration::from_secs(1800);

/// Keys of a network, and its meters in the database as they are when each was heard. All have the
/// same keys.
fn provision(keys: &KeysAt<'_>, (server, database): (&Server, &str), network: NetworkId, meters: u32) {
    let registry = match keys {
        KeysAt::Folder(keys) => Registry::open_network(keys, network).expect("keys"),
        KeysAt::Database { store, .. } => store.open_network(network).expect("keys"),
    };
    let collector = registry.identity().public();
    let rng = &mut StdRng::seed_from_u64(u64::from(network.0));
    let setup = Setup { suite: Suite::Aes128Gcm, ..Setup::usual(1) };
    let record = Provision::generate(setup, collector, rng).record();
    match keys {
        KeysAt::Folder(_) => write_files(&registry, network, &record, meters),
        KeysAt::Database { kek, .. } => write_rows(kek, (server, database), network, &record, meters),
    }
    let state = serde_json::to_string(&MeterState::new(&record)).expect("a state");
    // The meter's number, and its name.
    assert!(state.contains("\"meter\":1,") && state.contains("\"name\":1,"), "{state}");
    let (public, collector, first) =
        (hex(&record.public.to_bytes()), hex(&collector.to_bytes()), u64::from(network.0) << 16);
    server.sql(
        database,
        &format!(
            "INSERT INTO meters SELECT {first} + n, 1, '', regexp_replace('{state}', '\"(meter|name)\":1,', '\"\\1\":' || n || ',', 'g'), 60000, 0, NULL \
             FROM generate_series(1, {meters}) AS n; \
             INSERT INTO meter_keys SELECT {first} + n, 1, decode('{public}', 'hex'), decode('{collector}', 'hex'), 0, NULL \
             FROM generate_series(1, {meters}) AS n; \
             INSERT INTO latest SELECT {first} + n, 1000, 1, 1, 1, -60, 1000, 0, 0, 0, 0, 1000, 900, 5, 1000, \
             0, 1, 1, 5, 5, 5, 0, 1, 1, 5, 5, 5, 0, 1, 1, 5, 5, 5 FROM generate_series(1, {meters}) AS n"
        ),
    );
}

/// The place of the keys.
enum KeysAt<'a> {
    Folder(&'a Path),
    /// Sealed under the KEK in a file.
    Database {
        store: KeyStore,
        kek: &'a Path,
    },
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn write_files(registry: &Registry, network: NetworkId, record: &MeterRecord, meters: u32) {
    let file = toml::to_string(&MeterFile { network, epoch: 1, record: record.clone() }).expect("a file");
    std::fs::create_dir_all(registry.path().expect("files").join("meters")).expect("a folder");
    for meter in 1..=meters {
        let text = file.replace("\nmeter = 1\n", &format!("\nmeter = {meter}\n"));
        let path = registry.path().expect("files").join(format!("meters/{meter:05}.toml"));
        let mut options = std::fs::File::options();
        let mut file = options.write(true).create_new(true).mode(0o600).open(path).expect("a file");
        file.write_all(text.as_bytes()).expect("written");
    }
}

/// Rows of `sealed_keys` as docs/how-to/collector/postgresql.md, "Keys in the database", has them: by commands a
/// million of them take an hour.
fn write_rows(
    kek: &Path,
    (server, database): (&Server, &str),
    network: NetworkId,
    record: &MeterRecord,
    meters: u32,
) {
    let id = ring(&[kek]).first().expect("one").to_string();
    let text = std::fs::read_to_string(kek).expect("a KEK");
    let key = URL_SAFE_NO_PAD.decode(text.trim().strip_prefix("wsk_").expect("a KEK")).expect("a KEK");
    let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &key).expect("a key"));
    let (Setup { address, collector_address, channel, power, interval_s, .. }, suite) =
        (record.setup, record.setup.suite.code());
    let (key128, key256) = record.keys.expose();
    let plaintext = [
        &key128[..],
        key256,
        &record.public.to_bytes(),
        &[address, collector_address, channel, power],
        &interval_s.to_be_bytes(),
        &record.setup.voltage_uv.to_be_bytes(),
        &record.setup.current_ua.to_be_bytes(),
        &record.setup.phase.to_be_bytes(),
    ]
    .concat();
    let mut rows = String::new();
    for meter in 1..=meters as MeterId {
        let context =
            [b"wattseal key 1", &network.0.to_be_bytes()[..], &meter.to_be_bytes(), &[0, 0, 0, 1, suite]];
        let nonce: [u8; 12] = std::array::from_fn(|at| context.concat()[at + 8]);
        let mut sealed = plaintext.clone();
        let (nonce_of, context) = (Nonce::assume_unique_for_key(nonce), Aad::from(context.concat()));
        key.seal_in_place_append_tag(nonce_of, context, &mut sealed).expect("sealed");
        let number = network.meter(meter).key();
        writeln!(rows, "{number}\t1\t{suite}\t1\t{id}\t\\\\x{}{}", hex(&nonce), hex(&sealed))
            .expect("a text");
    }
    // Where the server can read it.
    let file = server.folder().join("rows");
    std::fs::write(&file, rows).expect("written");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("ours");
    server.sql(database, &format!("COPY sealed_keys FROM '{}'", file.display()));
    std::fs::remove_file(file).expect("there");
}

/// Waits until a worker hears that number of meters, and is ready. Returns how long that took.
fn hears(worker: &Process, meters: u32) -> Duration {
    let begun = Instant::now();
    loop {
        let figures = worker.asked("/metrics");
        let all = figures.lines().find_map(|line| line.strip_prefix("wattseal_meters ")?.parse::<u32>().ok());
        if all.is_some_and(|all| all >= meters) && figures.contains("wattseal_ready 1\n") {
            return begun.elapsed();
        }
        assert!(begun.elapsed() < WITHIN, "it hears {all:?} of {meters} meters");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
#[ignore = "takes minutes"]
fn a_worker_with_very_many_meters() {
    let wanted = std::env::var("WATTSEAL_METERS").map_or(62_500, |meters| meters.parse().expect("a number"));
    let (folder, nats) = (tempfile::tempdir().expect("a folder"), nats::Nats::start());
    let server = Server::start(&["fsync=off", "shared_buffers=256MB"]);
    let database = server.database();
    let (url, db) = (nats.url(), server.url(&database));
    let place = DatabaseUrl::named(&db).expect("a URL");
    drop(Store::open(place.clone(), &Options::default()).expect("the store opens"));
    let networks = wanted / METERS_OF_A_NETWORK;
    // Where keys are: in the database, or, where it is asked for, in files.
    let files = std::env::var("WATTSEAL_KEYS").is_ok_and(|keys| keys == "files");
    let (keys, kek) = (folder.path().join("keys"), kek(folder.path(), "kek"));
    let at = if files {
        KeysAt::Folder(&keys)
    } else {
        let store = KeyStore::of(&Reader::open(place).expect("there"), Some(&ring(&[&kek])), &keys);
        KeysAt::Database { store: store.expect("no keys yet"), kek: &kek }
    };
    for network in 1..=networks {
        provision(&at, (&server, &database), NetworkId(network), METERS_OF_A_NETWORK);
    }
    server.sql(&database, "VACUUM ANALYZE");
    let all = networks * METERS_OF_A_NETWORK;
    let more: &[&str] = if files { &["--zone", "UTC"] } else { &["--zone", "UTC", "--kek-file", "kek"] };
    let worker = |name: &str| Process::worker_of(folder.path(), &url, name, &db, more);
    let begun = Instant::now();
    let one = worker("one");
    hears(&one, all);
    println!("one worker: {all} meters after {:.1?}, {} MB", begun.elapsed(), one.most_memory_mb());
    let two = worker("two");
    // Of these and of network 0, which is always there.
    hears(&two, networks.div_ceil(2) * METERS_OF_A_NETWORK);
    println!("a second one has its half, {} MB", two.most_memory_mb());
    let begun = Instant::now();
    one.kill();
    hears(&two, all);
    println!(
        "the first was killed: the second has all after {:.1?}, {} MB",
        begun.elapsed(),
        two.most_memory_mb()
    );
}
