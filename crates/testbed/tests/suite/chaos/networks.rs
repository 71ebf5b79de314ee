//! Networks that are slow or cut for as long as it takes, by themselves.

use super::{WITHIN, collector};
use collector::registry::Registry;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use testbed::chaos::check::check;
use testbed::chaos::http::ask;
use testbed::chaos::machines::Machines;
use testbed::chaos::meters::Meters;
use testbed::chaos::network::Condition;
use testbed::chaos::parts::{Kind, PartId};
use testkit::random;

const METERS: u16 = 12;
const WORKER: PartId = PartId { kind: Kind::Worker, index: 0 };
const HOSTILE: PartId = PartId { kind: Kind::HostileGateway, index: 0 };
/// Each way: a lease is renewed within 600 ms, or not at all.
const SLOW: Duration = Duration::from_millis(400);

/// All roles, which are ready, and meters.
fn started() -> (Machines, Meters) {
    let mut machines = Machines::start(&collector()).expect("servers");
    let keys = machines.folder().join("keys");
    let registry = Registry::open(&keys).expect("keys");
    let meters = Meters::new(METERS, &registry, machines.folder(), random::seed()).expect("meters");
    machines.begin(&keys).expect("roles");
    for (part, health) in machines.health() {
        until(&format!("{part} is ready"), || is_ready(health));
    }
    (machines, meters)
}

fn is_ready(health: SocketAddr) -> bool {
    let answered = ask(health, ("GET", "/health/ready"), None, "", WITHIN);
    answered.is_ok_and(|answered| answered.status == 200)
}

/// Of all workers together.
fn figure(machines: &Machines, name: &str) -> u64 {
    let workers = machines.health().into_iter().filter(|(part, _)| part.kind == Kind::Worker);
    let of = |(_, health)| {
        let said = ask(health, ("GET", "/metrics"), None, "", WITHIN).expect("it answers").body;
        let value = said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.and_then(|value| value.parse::<u64>().ok()).unwrap_or_default()
    };
    workers.map(of).sum()
}

/// It takes part of the workers' time, and nothing else.
#[test]
fn hostile_gateway_reaches_workers_and_all_meters_are_served() {
    let (mut machines, meters) = started();
    let (gateways, noticed) = (machines.listening(Kind::Gateway), meters.noticed());
    let names: Vec<_> = meters.meters.iter().map(|meter| meter.id).collect();
    let (last, over) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let _over = OnDrop(&over);
        let sending = scope.spawn(|| meters.run(&gateways, &last, &over));
        let acknowledged = || noticed.lock().expect("meters").acknowledged;
        until("meters are served", || acknowledged() > u64::from(METERS));
        let malformed = "wattseal_worker_malformed_packets_total";
        let before = figure(&machines, malformed);
        machines.attack(HOSTILE, &names, (random::seed(), WITHIN)).expect("it attacks");
        until("it has sent all inputs", || machines.hostile_messages() > 300);
        until("workers hear it", || figure(&machines, malformed) > before);
        machines.end_attack();
        let sent = machines.hostile_messages();
        let before = acknowledged();
        until("meters are served again", || acknowledged() > before + u64::from(METERS));
        last.store(true, Ordering::Relaxed);
        until("nothing waits", || noticed.lock().expect("meters").waiting.is_empty());
        over.store(true, Ordering::Relaxed);
        let meters = sending.join().expect("meters");
        assert_eq!(machines.restart_ended().expect("roles"), [], "a role ended");
        let checked = check(&machines, &meters.meters, &[], &[]).expect("the database answers");
        assert_eq!(checked.wrong, Vec::<String>::new());
        // A meter that began another report meanwhile may not have heard of its storing.
        let stored = checked.acknowledged..=checked.acknowledged + u64::from(METERS);
        assert!(stored.contains(&checked.stored), "{} of {stored:?}", checked.stored);
        println!("{sent} messages, {} readings acknowledged", checked.acknowledged);
    });
    for (part, health) in machines.health() {
        until(&format!("{part} is ready"), || is_ready(health));
    }
}

#[test]
fn worker_answered_late_keeps_no_meter_from_others() {
    let (machines, meters) = started();
    let (gateways, noticed) = (machines.listening(Kind::Gateway), meters.noticed());
    let (last, over) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        // A test that fails ends them, too.
        let _over = OnDrop(&over);
        let sending = scope.spawn(|| meters.run(&gateways, &last, &over));
        until("meters are served", || noticed.lock().expect("meters").acknowledged > u64::from(METERS));
        machines.network().set(WORKER.networks().0, Condition::Delays(SLOW));
        // What is on its way comes, and the worker's leases are over.
        std::thread::sleep(Duration::from_secs(4));
        last.store(true, Ordering::Relaxed);
        let begun = Instant::now();
        let waiting = || noticed.lock().expect("meters").waiting.len();
        while waiting() > 0 && begun.elapsed() < WITHIN / 3 {
            std::thread::sleep(Duration::from_millis(20));
        }
        let left = waiting();
        over.store(true, Ordering::Relaxed);
        sending.join().expect("meters");
        assert_eq!(left, 0, "of {METERS} meters wait");
        println!("all are acknowledged after {:?}", begun.elapsed());
    });
}

struct OnDrop<'a>(&'a AtomicBool);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < WITHIN, "in vain: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Returns the number of routes of each NATS server.
fn routes(machines: &Machines) -> Vec<u64> {
    let of = |(_, monitor)| {
        let answered = ask(monitor, ("GET", "/routez"), None, "", WITHIN).expect("it answers");
        let said: serde_json::Value = serde_json::from_str(&answered.body).expect("JSON");
        said["num_routes"].as_u64().expect("a number")
    };
    machines.monitors().into_iter().map(of).collect()
}

#[test]
fn cut_nats_servers_find_no_detour_and_rejoin_later() {
    let machines = Machines::start(&collector()).expect("servers");
    until("all have found each other", || routes(&machines) == [2, 2, 2]);
    for (index, left) in [(0, [2, 1, 1]), (5, [1, 1, 0]), (6, [0, 0, 0])] {
        let part = PartId { kind: Kind::Routes, index };
        machines.network().set(part, Condition::Refuses);
        until(&format!("{part} broken"), || routes(&machines) == left);
        // They look for each other each second.
        std::thread::sleep(Duration::from_millis(1500));
        assert_eq!(routes(&machines), left, "{part}");
        machines.network().set(part, Condition::Carries);
        until(&format!("{part} mended"), || routes(&machines) == [2, 2, 2]);
    }
}
