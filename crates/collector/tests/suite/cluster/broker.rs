//! NATS servers whose streams and buckets are lost, changed, or hold what no worker wrote, while
//! workers and gateways run.

use super::roles::{Role, ask, figure, gateway, held, is_ready, servers, worker};
use super::{Radio, until};
use crate::meters::station::SimulatedMeter;
use crate::meters::stored;
use async_nats::jetstream;
use collector::cluster::gateway::GatewayStarted;
use collector::cluster::worker::WorkerStarted;
use collector::cluster::{PacketUp, join_packets};
use collector::network::NetworkId;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};
use testkit::nats;
use wire::meter::Suite;

const LEASE: &str = "$KV.wattseal-leases.0.0";
const SLICES: &str = "$KV.wattseal-settings.slices";
/// JetStream's acknowledgement, as it is written where a publisher says so.
const ACKNOWLEDGEMENT: &[u8] = br#"{"stream":"wattseal-up","seq":7}"#;

/// A worker does nothing under a lease that it could not renew for 2 s.
const LONGER_THAN_A_LEASE: Duration = Duration::from_millis(2500);

/// A worker, a gateway, and a meter near it.
struct Stand {
    // In this order they end.
    worker: Role<WorkerStarted>,
    _gateway: Role<GatewayStarted>,
    server: nats::Nats,
    folder: tempfile::TempDir,
    radio: Radio,
    meter: SimulatedMeter,
}

impl Stand {
    fn new() -> Stand {
        let (folder, server) = (tempfile::tempdir().expect("a folder"), nats::Nats::start());
        let meter = SimulatedMeter::register(&folder.path().join("keys"), 258, Suite::Aes128Gcm, 1);
        let worker = worker(servers(&server.url()), folder.path(), "one", None);
        let gateway = gateway(servers(&server.url()), "hall", &[NetworkId::DEFAULT]);
        let radio = Radio::near(gateway.started.udp[0].what);
        let mut stand = Stand { folder, server, worker, _gateway: gateway, radio, meter };
        stand.radio.report(&mut stand.meter);
        stand
    }

    fn health(&self) -> Option<SocketAddr> {
        self.worker.started.health
    }

    /// A user with all permissions does harm.
    fn harm(&self, does: impl AsyncFnOnce(jetstream::Context)) {
        harm(&self.server.url(), does);
    }

    fn write(&self, subject: &'static str, bytes: impl Into<Vec<u8>>) {
        let bytes = bytes.into();
        self.harm(async |jetstream| {
            let written = jetstream.publish(subject, bytes.into()).await.expect("it is sent");
            written.await.expect("it is stored");
        });
    }

    /// The next report is acknowledged, and then the worker says that all is well.
    fn recovers(&mut self, after: &str) {
        let taken = self.radio.report(&mut self.meter);
        let health = self.health();
        let well = until("all is well again", || is_ready(health));
        println!("{after}: acknowledged after {taken:?}, ready {well:?} later");
    }

    /// The same, and once more when a lease that could not be renewed since is over.
    fn goes_on(&mut self, after: &str) {
        self.recovers(after);
        std::thread::sleep(LONGER_THAN_A_LEASE);
        self.recovers(&format!("{after}, later"));
    }

    /// All reports are stored once.
    fn end(self) {
        self.worker.stop().expect("it stops well");
        let expected = Vec::from_iter(1..=self.meter.n);
        assert_eq!(stored(&self.folder.path().join("one.db"), 258), expected);
    }
}

fn harm(url: &str, does: impl AsyncFnOnce(jetstream::Context)) {
    collector::daemon::runtime().expect("threads").block_on(async {
        let client = async_nats::connect(url).await.expect("a server");
        does(jetstream::new(client)).await;
    });
}

#[test]
fn lost_nats_store_is_recreated_and_reports_are_acknowledged() {
    let mut stand = Stand::new();
    for _ in 0..2 {
        let fence = figure(stand.health(), r#"wattseal_worker_partition_fence{partition="0.0"}"#);
        stand.server.kill(0);
        stand.server.lose_store(0);
        stand.server.run(0);
        stand.goes_on("NATS came back without its store");
        let later = figure(stand.health(), r#"wattseal_worker_partition_fence{partition="0.0"}"#);
        assert!(later >= fence, "{later} after {fence}");
    }
    stand.end();
}

#[test]
fn running_worker_recreates_deleted_stream_or_bucket() {
    let mut stand = Stand::new();
    for name in ["wattseal-up", "KV_wattseal-leases", "KV_wattseal-workers", "KV_wattseal-settings"] {
        stand.harm(async |jetstream| {
            jetstream.delete_stream(name).await.expect("it was there");
        });
        stand.goes_on(name);
        let there = || {
            let mut is_there = false;
            stand.harm(async |jetstream| is_there = jetstream.get_stream(name).await.is_ok());
            is_there
        };
        until("it is there again", there);
    }
    for name in ["KV_wattseal-leases", "KV_wattseal-settings", "KV_wattseal-workers"] {
        stand.harm(async |jetstream| {
            let stream = jetstream.get_stream(name).await.expect("it is there");
            stream.purge().await.expect("it is purged");
        });
        stand.goes_on(&format!("{name} purged"));
    }
    stand.end();
}

#[test]
fn foreign_bytes_in_buckets_are_replaced() {
    let mut stand = Stand::new();
    let far = r#"{"worker":"ghost","fence":18446744073709551615,"renewed":18446744073709551615}"#;
    let long = format!(r#"{{"worker":"{}","fence":1,"renewed":1}}"#, "a".repeat(100_000));
    let unreadable = "wattseal_worker_unreadable_records_total";
    for bytes in [ACKNOWLEDGEMENT, b"", b"null", far.as_bytes(), long.as_bytes(), &[0xff; 100]] {
        let before = figure(stand.health(), unreadable);
        stand.write(LEASE, bytes);
        let health = stand.health();
        until("it is seen", || figure(health, unreadable) > before);
        stand.recovers("an unreadable lease");
    }
    stand.goes_on("unreadable leases");
    // One that another worker could have written is waited for.
    stand.write(LEASE, &br#"{"worker":"ghost","fence":7,"renewed":1}"#[..]);
    stand.goes_on("the lease of a worker that is not there");
    stand.write(LEASE, &br#"{"worker":null,"fence":7,"renewed":1}"#[..]);
    stand.goes_on("a lease that was given up");
    for bytes in [ACKNOWLEDGEMENT, b"", b"3", &[0xff; 100]] {
        let before = figure(stand.health(), unreadable);
        stand.write(SLICES, bytes);
        let health = stand.health();
        until("it is seen", || figure(health, unreadable) > before);
        stand.recovers("an unreadable setting");
    }
    stand.harm(async |jetstream| {
        for key in 0..200 {
            let valid = (format!("$KV.wattseal-workers.ghost{key}"), &b"here"[..]);
            let none = (format!("$KV.wattseal-workers.none{key}"), ACKNOWLEDGEMENT);
            for (subject, bytes) in [valid, none, (format!("$KV.wattseal-leases.none{key}"), &b"here"[..])] {
                let written = jetstream.publish(subject, bytes.into()).await.expect("it is sent");
                written.await.expect("it is stored");
            }
        }
    });
    stand.goes_on("records of workers that are not there");
    assert_eq!(held(&stand.worker), 1);
    stand.end();
}

#[test]
fn slices_that_are_changed_under_a_running_worker_are_followed() {
    let mut stand = Stand::new();
    for slices in ["2", "16", "1"] {
        stand.write(SLICES, slices);
        let count: usize = slices.parse().expect("a number");
        until("it has all partitions of the new number", || held(&stand.worker) == count);
        stand.recovers(&format!("{slices} slices"));
    }
    stand.end();
}

/// The setting is purged, and a worker is started again, as in a rolling update.
#[test]
fn lost_slices_are_rewritten_by_running_not_starting_workers() {
    let (folder, server) = (tempfile::tempdir().expect("a folder"), nats::Nats::start());
    SimulatedMeter::register(&folder.path().join("keys"), 258, Suite::Aes128Gcm, 1);
    let start = |name: &str, slices| worker(servers(&server.url()), folder.path(), name, slices);
    let one = start("one", Some("4"));
    until("one has all", || held(&one) == 4);
    let two = start("two", None);
    until("they share", || (held(&one), held(&two)) == (2, 2));
    two.stop().expect("it stops well");
    harm(&server.url(), async |jetstream| {
        let stream = jetstream.get_stream("KV_wattseal-settings").await.expect("it is there");
        stream.purge().await.expect("it is purged");
    });
    let two = start("three", None);
    until("they share again", || (held(&one), held(&two)) == (2, 2));
}

/// Each of 65,536 inputs of one gateway's own choice.
#[test]
fn gateway_that_names_all_inputs_shuts_out_no_other() {
    let (folder, server) = (tempfile::tempdir().expect("a folder"), nats::Nats::start());
    let keys = folder.path().join("keys");
    let mut meter = SimulatedMeter::register(&keys, 258, Suite::Aes128Gcm, 1);
    SimulatedMeter::register_in(&keys, NetworkId(7).meter(258), Suite::Aes128Gcm, 1);
    let worker = worker(servers(&server.url()), folder.path(), "one", None);
    until("it has both networks", || held(&worker) == 2);
    let begun = Instant::now();
    harm(&server.url(), async |jetstream| {
        for first in (0..=u16::MAX).step_by(32) {
            let up = |input| PacketUp {
                trace: [1; 16],
                heard_ms: 0,
                rssi_dbm: None,
                input,
                peer: None,
                packet: vec![0x4f, 8, 1, 2, 0],
            };
            let packets: Vec<Vec<u8>> = (first..=first + 31).map(|input| up(input).to_bytes()).collect();
            let message = join_packets(&packets).into();
            let stored = jetstream.publish("wattseal.7.up.0.1.1.1.mill", message).await.expect("it is sent");
            stored.await.expect("it is stored");
        }
    });
    println!("65,536 inputs of one gateway: {:?}", begun.elapsed());
    let health = worker.started.health;
    until("they are heard", || figure(health, "wattseal_worker_packets_total") >= 1 << 16);
    let yard = gateway(servers(&server.url()), "yard", &[NetworkId::DEFAULT]);
    let radio = Radio::near(yard.started.udp[0].what);
    for _ in 0..5 {
        radio.report(&mut meter);
    }
    assert_eq!(figure(health, "wattseal_worker_unknown_gateway_packets_total"), 0);
    assert!(is_ready(health), "{}", ask(health, "/health/ready"));
    let folder: &Path = folder.path();
    worker.stop().expect("it stops well");
    assert_eq!(stored(&folder.join("one.db"), 258), [1, 2, 3, 4, 5]);
}

/// Also of a stream that a version before made.
#[test]
fn stream_keeps_a_quarter_of_its_bytes_of_one_gateway_at_most() {
    let (folder, server) = (tempfile::tempdir().expect("a folder"), nats::Nats::start());
    SimulatedMeter::register(&folder.path().join("keys"), 258, Suite::Aes128Gcm, 1);
    harm(&server.url(), async |jetstream| {
        let (name, subjects) = ("wattseal-up".to_owned(), vec!["wattseal.*.up.*.*.*.*.*".to_owned()]);
        let before = jetstream::stream::Config { name, subjects, ..Default::default() };
        jetstream.create_stream(before).await.expect("it is made");
    });
    let worker = worker(servers(&server.url()), folder.path(), "one", None);
    until("it is ready", || is_ready(worker.started.health));
    harm(&server.url(), async |jetstream| {
        let send = async |subject: &'static str, bytes: usize| {
            jetstream.publish(subject, vec![0; bytes].into()).await.expect("it is sent")
        };
        send("wattseal.7.up.0.0.0.0.yard", 4000).await.await.expect("it is stored");
        let mut last = None;
        for _ in 0..5000 {
            last = Some(send("wattseal.7.up.0.0.0.0.hall", 100).await);
        }
        last.expect("there are some").await.expect("it is stored");
        let mut stream = jetstream.get_stream("wattseal-up").await.expect("it is there");
        let info = stream.info().await.expect("it answers");
        assert_eq!(info.state.messages, 4096 + 1, "the other's is there");
        let bytes = 16 * info.config.max_messages_per_subject * i64::from(info.config.max_message_size);
        assert_eq!(bytes, (1 << 30) / 4);
        send("wattseal.7.up.0.0.0.0.yard", 5000).await.await.expect_err("it is too long");
    });
}
