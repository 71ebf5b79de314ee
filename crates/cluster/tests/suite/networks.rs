//! Networks that are slow or cut for as long as it takes, by themselves.

use super::{WITHIN, collector};
use cluster::http::ask;
use cluster::machines::Machines;
use cluster::meters::Meters;
use cluster::network::Condition;
use cluster::parts::{Kind, PartId};
use collector::registry::Registry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use testkit::random;

const METERS: u16 = 12;
const WORKER: PartId = PartId { kind: Kind::Worker, index: 0 };
/// Each way: a lease is renewed within 600 ms, or not at all.
const SLOW: Duration = Duration::from_millis(400);

#[test]
fn a_worker_that_is_not_answered_in_time_keeps_no_meter_from_the_others() {
    let mut machines = Machines::start(&collector()).expect("servers");
    let keys = machines.folder().join("keys");
    let registry = Registry::open(&keys).expect("keys");
    let meters = Meters::new(METERS, &registry, machines.folder(), random::seed()).expect("meters");
    machines.begin(&keys).expect("roles");
    for (part, health) in machines.health() {
        let is_ready = || {
            let answered = ask(health, ("GET", "/health/ready"), None, "", WITHIN);
            answered.is_ok_and(|answered| answered.status == 200)
        };
        until(&format!("{part} is ready"), is_ready);
    }
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

/// How many routes each NATS server has.
fn routes(machines: &Machines) -> Vec<u64> {
    let of = |(_, monitor)| {
        let answered = ask(monitor, ("GET", "/routez"), None, "", WITHIN).expect("it answers");
        let said: serde_json::Value = serde_json::from_str(&answered.body).expect("JSON");
        said["num_routes"].as_u64().expect("a number")
    };
    machines.monitors().into_iter().map(of).collect()
}

#[test]
fn nats_servers_find_no_way_around_a_cut_network_and_find_each_other_again() {
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
