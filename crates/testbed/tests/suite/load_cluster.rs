//! Load of one worker with PostgreSQL and NATS beside a collector with SQLite, and of two workers
//! beside one: docs/how-to/load.md has the command. Ratios of one run hold on any machine, figures
//! on one that does nothing else.

use std::net::UdpSocket;
use std::num::NonZeroU32;
use std::path::Path;
use std::time::{Duration, Instant};
use testbed::load::{self, Child, Drive, Fleet, Latency, Program};
use testkit::nats::Nats;
use testkit::postgres::Server;
use wire::meter::Suite;

const METERS: u16 = 2000;
const SUITE: Suite = Suite::Aes128Gcm;

fn program(arguments: &[&str]) -> Program {
    let arguments = arguments.iter().map(ToString::to_string).collect();
    Program { path: env!("CARGO_BIN_EXE_wattseal-load-collector").into(), arguments }
}

/// Result of a load: readings a second, their waits, processors that the collector's processes
/// used.
struct Figures {
    per_s: f64,
    latency: Latency,
    processors: Vec<f64>,
}

impl Figures {
    fn print(&self, what: &str) {
        let (Latency { p50_ms, p99_ms }, processors) = (self.latency, &self.processors);
        println!(
            "{what}: {:.0} readings/s, p50 {p50_ms:.1} ms, p99 {p99_ms:.1} ms, processors {processors:.2?}",
            self.per_s
        );
    }
}

/// children: the first is who hears the packets.
fn measured(
    fleet: Fleet,
    rate: Option<u32>,
    seconds: u64,
    address: std::net::SocketAddr,
    children: &mut [Child],
) -> (Drive, Figures) {
    let mut drive = Drive::new(fleet, address).expect("a socket");
    drive.until_heard(&mut children[0], Duration::from_secs(60)).expect("heard");
    if let Some(rate) = rate.and_then(NonZeroU32::new) {
        drive.set_rate(rate);
    }
    // Leases spread meanwhile.
    drive.run(Duration::from_secs(3), &mut children[0]).expect("it goes on");
    drive.forget();
    let used = |children: &[Child]| -> Vec<f64> {
        children.iter().map(|child| child.usage().expect("it runs").cpu_s).collect()
    };
    let (before, start) = (used(children), Instant::now());
    drive.run(Duration::from_secs(seconds), &mut children[0]).expect("it goes on");
    let took_s = start.elapsed().as_secs_f64();
    let processors =
        used(children).iter().zip(before).map(|(after, before)| (after - before) / took_s).collect();
    let (per_s, latency) = (drive.acknowledged() as f64 / took_s, drive.latency());
    (drive, Figures { per_s, latency, processors })
}

fn fleet(folder: &Path, per_s: u64, seconds: u64) -> Fleet {
    let mut fleet = Fleet::make(folder, SUITE, METERS).expect("meters");
    fleet.seal((per_s * (seconds + 4) / u64::from(METERS)) as usize, 2);
    fleet
}

fn free_address() -> std::net::SocketAddr {
    UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port")
}

fn sqlite(rate: Option<u32>, seconds: u64) -> Figures {
    let (folder, address) = (tempfile::tempdir().expect("a folder"), free_address());
    let fleet = fleet(folder.path(), 40_000, seconds);
    let child = Child::start(&program(&["{folder}", "{udp}"]), folder.path(), address).expect("a collector");
    let mut children = [child];
    let (drive, figures) = measured(fleet, rate, seconds, address, &mut children);
    let [mut child] = children;
    child.stop().expect("it stops well");
    load::check(&child.database(), drive.fleet()).expect("all is there");
    figures
}

/// Each worker has its share of two slices.
fn cluster(workers: usize, rate: Option<u32>, seconds: u64) -> Figures {
    let (folder, address, nats) = (tempfile::tempdir().expect("a folder"), free_address(), Nats::start());
    let server = Server::start(&["shared_buffers=256MB"]);
    let database = server.database();
    let (url, db) = (nats.url(), server.url(&database));
    let fleet = fleet(folder.path(), 20_000, seconds);
    let mut children =
        vec![Child::start(&program(&["gateway", &url, "{udp}"]), folder.path(), address).expect("a gateway")];
    for number in 1..=workers {
        let name = format!("worker-{number}");
        let worker = program(&["worker", &url, "{folder}", &db, &name, "2"]);
        children.push(Child::start(&worker, folder.path(), address).expect("a worker"));
    }
    let (drive, figures) = measured(fleet, rate, seconds, address, &mut children);
    for child in &mut children {
        child.stop().expect("it stops well");
    }
    // Of each meter all that was acknowledged is stored once, and one more at most.
    let rows = server.sql(
        &database,
        "SELECT meter, count(*), max(n), sum(energy_dwh) FROM readings GROUP BY meter ORDER BY meter",
    );
    assert_eq!(rows.lines().count(), usize::from(METERS));
    for (meter, row) in drive.fleet().meters().iter().zip(rows.lines()) {
        let row: Vec<u64> = row.split('|').map(|figure| figure.parse().expect("a figure")).collect();
        let [id, count, last, energy] = row[..] else { panic!("{row:?}") };
        let acknowledged = u64::from(meter.acknowledged);
        assert_eq!((id, count), (u64::from(meter.id), last));
        assert!((acknowledged..=acknowledged + 1).contains(&count), "meter {id}: {count} of {acknowledged}");
        let sent: u64 = (1..=count as u32).map(|n| u64::from(meter.measurement(n).energy_dwh)).sum();
        assert_eq!(energy, sent, "meter {id}");
    }
    figures
}

#[test]
fn acknowledged_readings_of_a_cluster_are_stored() {
    let figures = cluster(2, Some(100), 2);
    assert!(figures.per_s > 20.0, "{}", figures.per_s);
}

#[test]
#[ignore = "a measurement of two minutes"]
fn a_cluster_beside_one_process() {
    let seconds = 15;
    let alone = sqlite(None, seconds);
    alone.print("SQLite, one process");
    let one = cluster(1, None, seconds);
    one.print("PostgreSQL and NATS, one worker");
    let two = cluster(2, None, seconds);
    two.print("PostgreSQL and NATS, two workers");
    println!(
        "one worker by SQLite: {:.3}; two workers by one: {:.3}",
        one.per_s / alone.per_s,
        two.per_s / one.per_s
    );
    cluster(1, Some(5000), seconds).print("one worker at 5,000 a second");
}
