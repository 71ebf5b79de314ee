//! The roles in this process.

use super::{Radio, WITHIN, until};
use crate::meters::station::SimulatedMeter;
use crate::meters::stored;
use collector::api::Listen;
use collector::cluster::api::{ApiServer, ApiServerStarted};
use collector::cluster::gateway::{Gateway, GatewayStarted};
use collector::cluster::worker::{Worker, WorkerStarted};
use collector::cluster::{ClusterError, HealthListen, Nats};
use collector::network::{NetworkId, OfNetwork};
use collector::partition::Slices;
use collector::service::Config;
use collector::store::DatabaseUrl;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;
use testkit::nats;
use tokio::sync::oneshot;
use wire::meter::{Answer, Command, CommandResult, Content, Measurement, MessageKind, Report, Suite};

const SEVEN: NetworkId = NetworkId(7);

pub fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().expect("an address")
}

pub fn servers(url: &str) -> Nats {
    let servers = url.split(',').map(|url| url.parse().expect("a URL")).collect();
    Nats { servers, ca: None, credentials: None }
}

/// A role on threads of its own. It is stopped with this.
pub struct Role<S> {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<(), ClusterError>>>,
    pub started: S,
}

impl<S: Clone + Send + 'static> Role<S> {
    pub fn run(
        serve: impl AsyncFnOnce(&dyn Fn(&S), oneshot::Receiver<()>) -> Result<(), ClusterError> + Send + 'static,
    ) -> Role<S> {
        let (stop, stopped) = oneshot::channel();
        let (tell, told) = channel();
        let thread = std::thread::spawn(move || {
            let ready = move |started: &S| tell.send(started.clone()).expect("it is waited for");
            collector::daemon::runtime().expect("threads").block_on(serve(&ready, stopped))
        });
        let Ok(started) = told.recv() else {
            panic!("it does not start: {:?}", thread.join().expect("it does not panic"));
        };
        Role { stop: Some(stop), thread: Some(thread), started }
    }
}

impl<S> Role<S> {
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the role's own end.
    pub fn ended(mut self) -> Result<(), ClusterError> {
        self.thread.take().expect("it was not stopped").join().expect("it does not panic")
    }

    pub fn stop(mut self) -> Result<(), ClusterError> {
        drop(self.stop.take());
        self.ended()
    }
}

impl<S> Drop for Role<S> {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

pub fn gateway(nats: Nats, name: &str, udp: &[NetworkId]) -> Role<GatewayStarted> {
    let udp = udp.iter().map(|network| OfNetwork { network: *network, what: loopback() }).collect();
    let (name, most_packets) = (name.parse().expect("a name"), 10_000.try_into().expect("not 0"));
    let health = Some(HealthListen(loopback()));
    let gateway = Gateway { nats, name, udp, serial: Vec::new(), most_packets, health };
    Role::run(async |ready, stop| gateway.serve(ready, async { drop(stop.await) }).await)
}

/// With `name.db` and the folder `keys`.
pub fn worker(nats: Nats, folder: &Path, name: &str, slices: Option<&str>) -> Role<WorkerStarted> {
    worker_with(nats, folder, name, slices, None)
}

/// With the folder `keys`, and this database.
pub fn worker_of(nats: Nats, folder: &Path, name: &str, db: &DatabaseUrl) -> Role<WorkerStarted> {
    let mut service = Config::new(db, folder.join("keys"));
    (service.require_sealed, service.verifiers) = (Some(false), 1);
    run_worker(nats, service, name, None)
}

pub fn api(nats: Nats, db: &DatabaseUrl) -> Role<ApiServerStarted> {
    let listen = Listen { address: loopback(), tls: None, proxies: Vec::new() };
    let (name, health) = ("api".parse().expect("a name"), Some(HealthListen(loopback())));
    let api = ApiServer { nats, name, db: db.clone(), listen, mqtt: None, health };
    Role::run(async |ready, stop| api.serve(ready, async { drop(stop.await) }).await)
}

/// most_bytes: of its database.
fn worker_with(
    nats: Nats,
    folder: &Path,
    name: &str,
    slices: Option<&str>,
    most_bytes: Option<u64>,
) -> Role<WorkerStarted> {
    let mut service = Config::new(folder.join(format!("{name}.db")), folder.join("keys"));
    (service.require_sealed, service.verifiers, service.store.most_bytes) = (Some(false), 1, most_bytes);
    run_worker(nats, service, name, slices)
}

fn run_worker(nats: Nats, service: Config, name: &str, slices: Option<&str>) -> Role<WorkerStarted> {
    let slices: Option<Slices> = slices.map(|slices| slices.parse().expect("slices"));
    let (name, health) = (name.parse().expect("a name"), Some(HealthListen(loopback())));
    let worker =
        Worker { nats, name, service, slices, change_slices: false, replicas: 1, health, listen: None };
    Role::run(async |ready, stop| worker.serve(ready, async { drop(stop.await) }).await)
}

/// Returns a role's answer at its health address.
pub fn ask(health: Option<SocketAddr>, path: &str) -> String {
    let mut stream = TcpStream::connect(health.expect("it has one")).expect("it listens");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .expect("it listens");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

pub fn figure(health: Option<SocketAddr>, name: &str) -> u64 {
    let text = ask(health, "/metrics");
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().expect("a number")
}

/// Returns the number of a worker's partitions.
pub fn held(worker: &Role<WorkerStarted>) -> usize {
    let text = ask(worker.started.health, "/metrics");
    text.lines().filter(|line| line.starts_with("wattseal_worker_partition_fence{")).count()
}

pub fn is_ready(health: Option<SocketAddr>) -> bool {
    ask(health, "/health/ready").starts_with("HTTP/1.1 200")
}

#[test]
fn reading_crosses_nats_and_its_acknowledgement_returns() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = nats::Nats::start();
    let keys = folder.path().join("keys");
    let mut meters: Vec<(NetworkId, SimulatedMeter)> = Vec::new();
    for (meter, suite) in (258..).zip(Suite::WITH_FIXED_KEYS) {
        meters.push((NetworkId::DEFAULT, SimulatedMeter::register(&keys, meter, suite, 1)));
        meters.push((SEVEN, SimulatedMeter::register_in(&keys, SEVEN.meter(meter), suite, 1)));
    }
    // Keys in files are not renewed under leases: it is left out.
    let mut rekeyed = SimulatedMeter::register(&keys, 300, Suite::Aes256GcmRekeyed, 1);
    let worker = worker(servers(&server.url()), folder.path(), "one", None);
    let gateway = gateway(servers(&server.url()), "hall", &[NetworkId::DEFAULT, SEVEN]);
    let radios: Vec<Radio> = gateway.started.udp.iter().map(|udp| Radio::near(udp.what)).collect();
    for (network, meter) in &mut meters {
        radios[usize::from(*network == SEVEN)].report(meter);
        radios[usize::from(*network == SEVEN)].report(meter);
        // The same again is acknowledged again, and stored no second time.
        let report = meter.report();
        for _ in 0..2 {
            radios[usize::from(*network == SEVEN)].deliver(meter, &report);
        }
    }
    until("all is well", || is_ready(worker.started.health) && is_ready(gateway.started.health));
    // A report with the keys of another network is not taken.
    let mut other = meters.remove(3).1;
    let report = other.report();
    radios[0].send(&report);
    assert!(!radios[0].is_acknowledged(&other, other.n, Duration::from_millis(500)));
    radios[0].send(&rekeyed.report());
    assert!(!radios[0].is_acknowledged(&rekeyed, 1, Duration::from_millis(500)));

    worker.stop().expect("it stops well");
    for (network, meter) in &meters {
        let name = network.meter(meter.provision.setup().meter);
        assert_eq!(stored(&folder.path().join("one.db"), name), [1, 2, 3], "{name}");
    }
    gateway.stop().expect("it stops well");
}

#[test]
fn a_command_goes_by_nats_to_the_meter_and_its_answer_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = nats::Nats::start();
    let mut meter = SimulatedMeter::register(&folder.path().join("keys"), 258, Suite::EciesEcdsa, 1);
    let worker = worker(servers(&server.url()), folder.path(), "one", None);
    let gateway = gateway(servers(&server.url()), "hall", &[NetworkId::DEFAULT]);
    let radio = Radio::near(gateway.started.udp[0].what);
    // Its time is not set: the collector sets it.
    meter.n += 1;
    let content = Content::Measurement(Measurement { time_s: 5, energy_dwh: 1, power_w: 412 });
    let report = meter.send(&Report { n: meter.n, time_set: false, lost: 0, content });
    let begun = std::time::Instant::now();
    let m = loop {
        radio.send(&report);
        if let Some((MessageKind::Command, suite, bytes)) = radio.hear(Duration::from_secs(1)) {
            let route =
                collector::gateway::Route { gateway: collector::gateway::GatewayId::of(0), peer: None };
            let (m, command) = meter.command(&(route, MessageKind::Command, suite, bytes));
            assert!(matches!(command, Command::SetTime { .. }), "{command:?}");
            break m;
        }
        assert!(begun.elapsed() < WITHIN, "no command comes");
    };
    let answer = meter.answer_with(Answer { m, outcome: CommandResult::Done, body: [0; 11] });
    radio.send(&answer);
    until("the answer is taken", || figure(worker.started.health, "wattseal_answers_total") > 0);
}

#[test]
fn a_server_that_goes_away_and_comes_back_costs_time_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut server = nats::Nats::start();
    let mut meter = SimulatedMeter::register(&folder.path().join("keys"), 258, Suite::Aes128Gcm, 1);
    let worker = worker(servers(&server.url()), folder.path(), "one", None);
    let gateway = gateway(servers(&server.url()), "hall", &[NetworkId::DEFAULT]);
    let radio = Radio::near(gateway.started.udp[0].what);
    for _ in 0..5 {
        radio.report(&mut meter);
    }
    server.kill(0);
    let health = gateway.started.health;
    until("the gateway says that it is away", || !is_ready(health));
    until("the worker says so", || !is_ready(worker.started.health));
    let report = meter.report();
    radio.send(&report);
    assert!(!radio.is_acknowledged(&meter, meter.n, Duration::from_secs(3)));
    let dropped = "wattseal_gateway_dropped_packets_total{why=\"disconnected\"}";
    assert!(figure(health, dropped) > 0);
    server.run(0);
    let again = radio.deliver(&meter, &report);
    println!("acknowledged {again:?} after the server was there again");
    for _ in 0..5 {
        radio.report(&mut meter);
    }
    until("all is well again", || is_ready(health) && is_ready(worker.started.health));
    worker.stop().expect("it stops well");
    assert_eq!(stored(&folder.path().join("one.db"), 258), Vec::from_iter(1..=11));
}

#[test]
fn two_workers_share_four_slices_and_hand_over_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = nats::Nats::start();
    let keys = folder.path().join("keys");
    // One of each slice.
    let slices: Slices = "4".parse().expect("slices");
    let mut meters: Vec<SimulatedMeter> = (0..4)
        .map(|slice| {
            let name = (258..).find(|name| slices.of(*name) == slice).expect("there is one");
            SimulatedMeter::register(&keys, name, Suite::Aes128Gcm, 1)
        })
        .collect();
    let one = worker(servers(&server.url()), folder.path(), "one", Some("4"));
    let gateway = gateway(servers(&server.url()), "hall", &[NetworkId::DEFAULT]);
    let radio = Radio::near(gateway.started.udp[0].what);
    until("one has all", || held(&one) == 4);
    for meter in &mut meters {
        radio.report(meter);
    }
    // Each has a database of its own: one of SQLite has one writer.
    let two = worker(servers(&server.url()), folder.path(), "two", None);
    until("they share", || (held(&one), held(&two)) == (2, 2));
    for meter in &mut meters {
        radio.report(meter);
    }
    one.stop().expect("it stops well");
    let begun = std::time::Instant::now();
    let longest = meters.iter_mut().map(|meter| radio.report(meter)).max();
    println!("after a clean stop: all acknowledged within {:?}, the slowest {longest:?}", begun.elapsed());
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!((held(&two), figure(two.started.health, "wattseal_worker_leases_lost_total")), (4, 0));
    two.stop().expect("it stops well");
    for meter in &meters {
        let name = meter.provision.setup().meter;
        let (one, two) = (folder.path().join("one.db"), folder.path().join("two.db"));
        let mut both = [stored(&one, name), stored(&two, name)].concat();
        both.sort_unstable();
        assert_eq!(both, [1, 2, 3], "meter {name}");
    }
    // Another number of slices is a mistake.
    let name = "three".parse().expect("a name");
    let service = Config::new(folder.path().join("three.db"), &keys);
    let wanted = Some("8".parse().expect("slices"));
    let three = Worker {
        nats: servers(&server.url()),
        name,
        service,
        slices: wanted,
        change_slices: false,
        replicas: 1,
        health: None,
        listen: None,
    };
    let three =
        Role::<WorkerStarted>::run(async |ready, stop| three.serve(ready, async { drop(stop.await) }).await);
    let error = three.ended().expect_err("refused");
    assert!(error.is_usage() && error.to_string().contains("have 4 slices"), "{error}");
}

/// The disk is full: nothing is acknowledged, neither to the meter nor to JetStream, and the next
/// worker has it from there without that the meter sends it again.
#[test]
fn next_worker_stores_unstored_readings() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = nats::Nats::start();
    // More than one, because a gateway takes no flood in one name.
    let keys = folder.path().join("keys");
    let mut meters: Vec<SimulatedMeter> =
        (258..288).map(|meter| SimulatedMeter::register(&keys, meter, Suite::Aes128Gcm, 1)).collect();
    let full = worker_with(servers(&server.url()), folder.path(), "one", None, Some(180_000));
    let gateway = gateway(servers(&server.url()), "hall", &[NetworkId::DEFAULT]);
    let radio = Radio::near(gateway.started.udp[0].what);
    for meter in &mut meters {
        radio.report(meter);
    }
    let failed = || figure(full.started.health, "wattseal_store_failed_batches_total") > 0;
    let last = 'full: loop {
        for (number, meter) in meters.iter_mut().enumerate() {
            let report = meter.report();
            radio.send(&report);
            while !radio.is_acknowledged(meter, meter.n, Duration::from_secs(1)) {
                if failed() {
                    break 'full number;
                }
                radio.send(&report);
            }
        }
        assert!(meters[0].n < 300, "it never was full");
    };
    full.stop().expect("it stops well");
    let room = worker(servers(&server.url()), folder.path(), "one", None);
    let meter = &meters[last];
    assert!(radio.is_acknowledged(meter, meter.n, WITHIN), "report {} does not come again", meter.n);
    room.stop().expect("it stops well");
    let name = meter.provision.setup().meter;
    assert_eq!(stored(&folder.path().join("one.db"), name), Vec::from_iter(1..=meter.n));
}

/// The database is removed: what could not be stored before it is back is delivered again soon,
/// without that the meter sends it again.
#[test]
fn briefly_unstorable_reading_is_redelivered_soon() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = nats::Nats::start();
    let mut meter = SimulatedMeter::register(&folder.path().join("keys"), 258, Suite::Aes128Gcm, 1);
    let worker = worker(servers(&server.url()), folder.path(), "one", None);
    let gateway = gateway(servers(&server.url()), "hall", &[NetworkId::DEFAULT]);
    let radio = Radio::near(gateway.started.udp[0].what);
    radio.report(&mut meter);
    std::fs::remove_file(folder.path().join("one.db")).expect("there");
    let report = meter.report();
    radio.send(&report);
    // JetStream itself waits for 30 s.
    assert!(radio.is_acknowledged(&meter, meter.n, Duration::from_secs(15)), "it is not delivered again");
    assert!(figure(worker.started.health, "wattseal_worker_redelivered_packets_total") > 0);
    worker.stop().expect("it stops well");
    assert_eq!(stored(&folder.path().join("one.db"), 258), [1, 2]);
}

/// Of a message in several packets one is lost: JetStream is told of all that come behind the
/// others, and not only when those are given up.
#[test]
fn piece_of_incomplete_message_blocks_no_other_packet() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = nats::Nats::start();
    let keys = folder.path().join("keys");
    let mut torn = SimulatedMeter::register(&keys, 258, Suite::EciesEcdsa, 1);
    let mut whole = SimulatedMeter::register(&keys, 259, Suite::Aes128Gcm, 1);
    let worker = worker(servers(&server.url()), folder.path(), "one", None);
    let gateway = gateway(servers(&server.url()), "hall", &[NetworkId::DEFAULT]);
    let radio = Radio::near(gateway.started.udp[0].what);
    // So that all is there.
    radio.report(&mut whole);
    let told = || figure(worker.started.health, "wattseal_worker_stream_acknowledgements_total");
    until("it is told", || told() > 0);
    let (before, pieces) = (told(), torn.report());
    assert!(pieces.len() > 1);
    radio.send(&pieces[1..]);
    let begun = std::time::Instant::now();
    for _ in 0..10 {
        radio.report(&mut whole);
    }
    until("they are told", || told() >= before + 10);
    // uplink::reassemble gives up pieces after 10 s.
    assert!(begun.elapsed() < Duration::from_secs(9), "{:?}", begun.elapsed());
    let packets = figure(worker.started.health, "wattseal_worker_packets_total");
    assert!(told() < packets, "a piece may yet be made whole");
}

/// A server of three is killed; whichever led, the two others go on.
#[test]
fn of_three_servers_one_may_be_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut cluster = nats::Nats::start_cluster(3);
    let mut meter = SimulatedMeter::register(&folder.path().join("keys"), 258, Suite::Aes128Gcm, 1);
    let (name, health) = ("one".parse().expect("a name"), Some(HealthListen(loopback())));
    let service = Config::new(folder.path().join("one.db"), folder.path().join("keys"));
    let nats = servers(&cluster.url());
    let worker =
        Worker { nats, name, service, slices: None, change_slices: false, replicas: 3, health, listen: None };
    let worker =
        Role::<WorkerStarted>::run(async |ready, stop| worker.serve(ready, async { drop(stop.await) }).await);
    let gateway = gateway(servers(&cluster.url()), "hall", &[NetworkId::DEFAULT]);
    let radio = Radio::near(gateway.started.udp[0].what);
    let first = radio.report(&mut meter);
    cluster.kill(0);
    let second = radio.report(&mut meter);
    println!("acknowledged {first:?} after the start of all, and {second:?} after a server was killed");
    cluster.run(0);
    radio.report(&mut meter);
    worker.stop().expect("it stops well");
    assert_eq!(stored(&folder.path().join("one.db"), 258), [1, 2, 3]);
}
