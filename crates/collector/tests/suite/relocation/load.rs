//! Meters report and are commanded while their collector's database moves, there and back.

use super::{moved, open};
use crate::meters::station::{Gateway, SimulatedMeter, WITHIN, start_with};
use crate::store::place::{Engine, NEW_YEAR_S, TestStore, all_readings, provisioned, reading};
use collector::relocation::{Relocated, Stage, relocate};
use collector::service::Running;
use collector::store::{DatabaseUrl, Provisioned, Reader, Write};
use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use wire::meter::{Command, CommandResult, MessageKind, MeterState, Suite};

const METERS: u16 = 4;
/// The delay after which a meter sends unacknowledged reports again.
const AGAIN: Duration = Duration::from_secs(2);
/// The least time that a collector runs: numbers of commands are seconds, and each meter has
/// several from each.
const RUNS: Duration = Duration::from_millis(2500);

/// The outer world's memory of the collector.
#[derive(Default)]
struct World {
    /// The bytes of each command, by meter and number.
    commands: HashMap<(u16, u32), Vec<u8>>,
    /// The numbers of each meter's reports that were acknowledged.
    acknowledged: HashMap<u16, Vec<u32>>,
    /// A meter keeps its report, and sends it again, until it is acknowledged.
    waiting: HashMap<u16, Vec<Vec<u8>>>,
    rounds: u32,
}

impl World {
    fn reports(&self) -> usize {
        self.acknowledged.values().map(Vec::len).sum()
    }

    /// Each meter sends, and hears what is said to it.
    async fn round(&mut self, running: &Running, gateway: &Gateway, meters: &mut [SimulatedMeter]) {
        self.rounds += 1;
        for (id, meter) in (1..).zip(meters.iter_mut()) {
            if self.rounds.is_multiple_of(4) {
                // The queue may be full.
                let _ = running.meters().command(id.into(), Command::Reboot, "me").await;
            }
            let report = self.waiting.remove(&id).unwrap_or_else(|| meter.report());
            let n = meter.n;
            gateway.hear(running.meters(), id, &report);
            let (until, mut answers) = (Instant::now() + 6 * WITHIN, Vec::new());
            loop {
                assert!(Instant::now() < until, "no acknowledgement");
                let Some(sent) = gateway.next(AGAIN) else {
                    gateway.hear(running.meters(), id, &report);
                    continue;
                };
                let of = sent.0.peer.expect("a port").port();
                if sent.1 == MessageKind::Acknowledgement {
                    if of == id && meter.acknowledged(&sent) == n {
                        break;
                    }
                } else if of == id && sent.1 == MessageKind::Command {
                    let (m, _) = meter.command(&sent);
                    let before = self.commands.entry((of, m)).or_insert_with(|| sent.3.clone());
                    assert_eq!(*before, sent.3, "number {m} of meter {of} for two commands");
                    answers.push(m);
                }
            }
            self.acknowledged.entry(id).or_default().push(n);
            for m in answers {
                let answer = meter.answer(m, CommandResult::Done);
                gateway.hear(running.meters(), id, &answer);
            }
        }
    }

    /// Runs a collector until the move says that it is to be stopped, or for that number of rounds.
    async fn collect(
        &mut self,
        (folder, place): (&Path, &DatabaseUrl),
        meters: &mut [SimulatedMeter],
        mut stop: impl FnMut(u32) -> bool,
    ) {
        let running = start_with(folder, |config| config.db = place.clone()).await;
        let gateway = Gateway::attach(running.meters());
        let (mut rounds, began) = (0, Instant::now());
        while !stop(rounds) || began.elapsed() < RUNS {
            self.round(&running, &gateway, meters).await;
            rounds += 1;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // Sent into the end: some of it may be stored, and none of it is known to be.
        for (id, meter) in (1..).zip(meters.iter_mut()) {
            let report = meter.report();
            gateway.hear(running.meters(), id, &report);
            self.waiting.insert(id, report);
        }
        running.stop().await.expect("it stops well");
    }
}

/// A move that goes on by itself; hears when the collector is to be stopped.
fn moving(
    folder: &Path,
    from: &DatabaseUrl,
    to: &DatabaseUrl,
) -> (Receiver<()>, std::thread::JoinHandle<Relocated>) {
    let (say, hear) = channel();
    let (keys, from, to) = (folder.join("keys"), from.clone(), to.clone());
    let thread = std::thread::spawn(move || {
        let moved = relocate(&from, &to, &keys, |stage| {
            if let Stage::Waiting(_) = stage {
                say.send(()).expect("somebody listens");
            }
        });
        moved.expect("moved")
    });
    (hear, thread)
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_readings_migrate_once_and_no_number_repeats() {
    there_and_back(0).await;
}

/// `WATTSEAL_READINGS=200000`, as many before the first move.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes"]
async fn readings_by_the_hundred_thousand_move_while_meters_send() {
    let readings =
        std::env::var("WATTSEAL_READINGS").map_or(200_000, |count| count.parse().expect("a number"));
    there_and_back(readings).await;
}

/// Stores an equal share of `readings` for each meter.
fn fill(place: &DatabaseUrl, meters: &mut [SimulatedMeter], readings: u32) {
    let mut store = open(place);
    let provisioned = |(id, meter): (u16, &SimulatedMeter)| {
        let record = meter.provision.record();
        let (public, collector_public) = (record.public, meter.collector);
        let state = MeterState::new(&record);
        Write::Provisioned(Box::new(Provisioned { public, collector_public, state, ..provisioned(id, 1) }))
    };
    store.commit((1..).zip(meters.iter()).map(provisioned).collect()).expect("the meters are added");
    let share = readings / u32::from(METERS);
    for first in (1..=share).step_by(1000) {
        let of = |meter| {
            let measured = move |n| reading(meter, n, NEW_YEAR_S + i64::from(n) * 60, n, 412);
            (first..=share.min(first + 999)).map(measured)
        };
        store.commit((1..=METERS).flat_map(of).collect()).expect("there is room");
    }
    for meter in meters {
        meter.n = share;
    }
}

/// A database of `readings` goes to PostgreSQL and back, and meters send meanwhile.
async fn there_and_back(readings: u32) {
    let folder = tempfile::tempdir().expect("a folder");
    let keys = folder.path().join("keys");
    let mut meters: Vec<SimulatedMeter> =
        (1..=METERS).map(|meter| SimulatedMeter::register(&keys, meter, Suite::Aes128Gcm, 1)).collect();
    let (file, server, back) = (TestStore::new(), Engine::Postgres.place(), TestStore::new());
    let mut world = World::default();
    if readings > 0 {
        fill(&file.place(), &mut meters, readings);
    }
    world.collect((folder.path(), &file.place()), &mut meters, |rounds| rounds >= 20).await;
    for (from, to) in [(&file, &server), (&server, &back)] {
        let before = world.reports();
        let (mut told, mut moved_by, began) = (false, None, Instant::now());
        let until_told = |rounds| {
            // The collector runs by now. A move before it would have ended, and refused its start.
            let (stop, _) = moved_by.get_or_insert_with(|| moving(folder.path(), &from.place(), &to.place()));
            told |= stop.try_recv().is_ok();
            told && rounds >= 20
        };
        world.collect((folder.path(), &from.place()), &mut meters, until_told).await;
        let (_, thread) = moved_by.expect("the move has begun");
        let done = thread.join().expect("no panic");
        let rows: u64 = done.rows.iter().map(|(_, rows)| rows).sum();
        println!(
            "{rows} rows in {:.1} s; nobody could store for {:.2} s of it; meanwhile {} reports were acknowledged",
            began.elapsed().as_secs_f64(),
            done.pause.as_secs_f64(),
            world.reports() - before
        );
        // As systemd would.
        let config = collector::service::Config::new(from.place(), &keys);
        let error = Running::start(config).await.err().expect("it was moved").to_string();
        assert!(error.contains(&format!("--db {}", to.place())), "{error}");
    }
    world.collect((folder.path(), &back.place()), &mut meters, |rounds| rounds >= 20).await;
    let reader = Reader::open(back.place()).expect("a database");
    for (id, acknowledged) in &world.acknowledged {
        // A test meter's register is its number; some of its numbers are answers'.
        let stored = all_readings(&reader, *id);
        let mut once = stored.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), stored.len(), "meter {id}: something is there twice");
        let before = readings / u32::from(METERS);
        assert!(once.len() as u32 >= before + acknowledged.len() as u32, "meter {id}: only {}", once.len());
        assert!(
            (1..=before).eq(once.iter().copied().take(before as usize)),
            "meter {id}: what was there before"
        );
        let missing = acknowledged.iter().find(|n| once.binary_search(n).is_err());
        assert!(missing.is_none(), "meter {id}: {missing:?} of {acknowledged:?}");
        assert!(acknowledged.len() >= 80, "meter {id}: only {} reports", acknowledged.len());
    }
    // Of each meter by each of the four collectors.
    let least = 4 * usize::from(METERS);
    assert!(world.commands.len() >= least, "only {} commands", world.commands.len());
    drop(reader);
    drop(open(&back.place()));
    assert!(moved(&file.place(), &server.place()).is_err());
}
