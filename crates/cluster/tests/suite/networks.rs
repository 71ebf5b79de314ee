//! Networks that are slow or cut for as long as it takes, by themselves.

use super::{WITHIN, collector};
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
    machines.network().set(WORKER.networks().0, Condition::Delays(SLOW));
    let (gateways, noticed) = (machines.listening(Kind::Gateway), meters.noticed());
    let (last, over) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| meters.run(&gateways, &last, &over));
        let begun = Instant::now();
        let waiting = || noticed.lock().expect("meters").waiting.len();
        while waiting() < usize::from(METERS) && begun.elapsed() < WITHIN {
            std::thread::sleep(Duration::from_millis(1));
        }
        last.store(true, Ordering::Relaxed);
        while waiting() > 0 && begun.elapsed() < WITHIN / 3 {
            std::thread::sleep(Duration::from_millis(20));
        }
        over.store(true, Ordering::Relaxed);
        let meters = sending.join().expect("meters").meters;
        let unheard = meters.iter().filter(|meter| meter.acknowledged().is_empty()).count();
        assert_eq!(unheard, 0, "of {METERS} meters after {:?}", begun.elapsed());
        println!("all are acknowledged after {:?}", begun.elapsed());
    });
}
