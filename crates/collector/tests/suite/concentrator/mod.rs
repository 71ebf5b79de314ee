//! Meters of all suites, a concentrator that has none of their keys, and the collector that has:
//! each a process of its own, between them nothing but datagrams. The far collector is killed, and
//! so is the concentrator; nothing is lost, and nothing comes twice.

mod meter;
pub(crate) mod process;

use collector::store::{Reader, ReadingsQuery, Rows};
use meter::Meter;
use process::{Collector, WITHIN, wattseal};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use wire::meter::Suite;

const SUITES: [Suite; 5] =
    [Suite::Aes128Gcm, Suite::Aes256Gcm, Suite::Ecies, Suite::EciesEcdsa, Suite::AsconAead128];
/// Of a meter, by the end.
const REPORTS: u32 = 8;

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < WITHIN, "{what} did not come about");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The powers that are stored of a meter, by time: a meter's n-th reading says n.
fn stored(db: &Path, meter: u16) -> Vec<i16> {
    let Ok(reader) = Reader::open(db) else { return Vec::new() };
    let query = ReadingsQuery::raw(meter);
    match reader.readings(&query).expect("a page").rows {
        Rows::Raw { power_w, .. } => power_w,
        Rows::Rollup { .. } => panic!("raw was asked for"),
    }
}

#[test]
fn concentrator_passes_packets_unchanged_and_kills_lose_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    // The far collector has the keys.
    for (meter, suite) in (1..).zip(SUITES) {
        let made = wattseal(folder.path())
            .args(["meters", "provision", "--db", "far.db", "--keys", "far.keys", "--images", "images"])
            .args(["--suite", suite.name(), &u16::to_string(&meter)])
            .output()
            .expect("the binary under test runs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }
    let mut far = Collector::start(folder.path(), "far", None);
    let mut near = Collector::start(folder.path(), "near", Some(far.udp));
    let images = at("images");
    let meters: Vec<Arc<Meter>> = (1..)
        .zip(SUITES)
        .map(|(id, suite)| Arc::new(Meter::of_images(&images, id, suite, near.udp)))
        .collect();
    let lives: Vec<_> = meters
        .iter()
        .map(|meter| {
            let meter = meter.clone();
            std::thread::spawn(move || meter.live(REPORTS))
        })
        .collect();
    let acknowledged = |least| meters.iter().all(|meter| meter.acknowledged.load(Ordering::SeqCst) >= least);

    // All are there: reports and their acknowledgements pass, a command and its answer.
    meters.iter().for_each(|meter| meter.may_send(3));
    until("acknowledgement of the third reports", || acknowledged(3));
    for meter in &meters {
        let id = far.command(meter.id, r#"{"command":{"read-status":{"page":0}}}"#);
        until("the answer to a command", || {
            let state = far.get(&format!("/api/v1/meters/{}/commands", meter.id));
            state.contains(&format!("\"id\":{id},")) && state.contains("\"state\":\"done\"")
        });
    }

    // The far one is killed: what is said meanwhile waits in the concentrator, as it was sealed.
    far.kill();
    meters.iter().for_each(|meter| meter.may_send(4));
    let outbox = || Reader::open(at("near.db")).and_then(|reader| reader.outbox()).expect("an outbox");
    until("all fourth reports in the outbox", || {
        let waiting = outbox();
        meters.iter().all(|meter| {
            let (report, sealed) = meter.last_sealed();
            report == 4 && waiting.iter().any(|one| one.message == sealed)
        })
    });
    // The concentrator is killed, too. Both come back, and the reports come by themselves.
    meters.iter().for_each(|meter| meter.silent.store(true, Ordering::SeqCst));
    assert!(!acknowledged(4));
    near.kill();
    far.restart();
    near.restart();
    until("all fourth reports at the far collector", || {
        meters.iter().all(|meter| stored(&at("far.db"), meter.id).contains(&4))
    });
    until("an empty outbox", || outbox().is_empty());

    // The meters continue: they get their acknowledgements, and nothing is there twice.
    meters.iter().for_each(|meter| meter.silent.store(false, Ordering::SeqCst));
    meters.iter().for_each(|meter| meter.may_send(REPORTS));
    until("acknowledgement of all reports", || acknowledged(REPORTS));
    lives.into_iter().for_each(|life| life.join().expect("no meter fails"));
    let all: Vec<i16> = (1..=REPORTS as i16).collect();
    for meter in &meters {
        assert_eq!(stored(&at("far.db"), meter.id), all, "meter {}", meter.id);
    }
    assert!(
        Reader::open(at("near.db")).and_then(|reader| reader.kept_meters()).expect("no meters").is_empty()
    );
    near.stop();
    far.stop();
    for log in ["near.log", "far.log"] {
        let text = std::fs::read_to_string(at(log)).expect("a log");
        assert!(!text.contains("panicked") && !text.contains("ERROR"), "{text}");
    }
}
