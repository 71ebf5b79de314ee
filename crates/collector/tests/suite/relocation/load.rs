//! Meters report and are commanded while their collector's database moves, there and back.

use super::{moved, open};
use crate::link::station::{Gateway, SimulatedMeter, WITHIN, start_with};
use crate::store::place::{Engine, TestStore, all_readings};
use collector::link::CommandRequest;
use collector::relocation::{Stage, relocate};
use collector::service::Running;
use collector::store::{Place, Reader};
use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use wire::meter::{CommandResult, MessageKind, Suite};

const METERS: u16 = 4;
/// After so long a meter sends again what is not acknowledged.
const AGAIN: Duration = Duration::from_secs(2);
/// A collector runs for so long at least: numbers of commands are seconds, and each meter has several from each.
const RUNS: Duration = Duration::from_millis(2500);

/// What the world around the collector remembers of it.
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
    /// Each meter sends, and hears what is said to it.
    async fn round(&mut self, running: &Running, gateway: &Gateway, meters: &mut [SimulatedMeter]) {
        self.rounds += 1;
        for (id, meter) in (1..).zip(meters.iter_mut()) {
            if self.rounds.is_multiple_of(4) {
                // The queue may be full.
                let _ = running.link().command(id.into(), CommandRequest::Reboot, "me").await;
            }
            let report = self.waiting.remove(&id).unwrap_or_else(|| meter.report());
            let n = meter.n;
            gateway.hear(running.link(), id, &report);
            let (until, mut answers) = (Instant::now() + 6 * WITHIN, Vec::new());
            loop {
                assert!(Instant::now() < until, "no acknowledgement");
                let Some(sent) = gateway.next(AGAIN) else {
                    gateway.hear(running.link(), id, &report);
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
                gateway.hear(running.link(), id, &answer);
            }
        }
    }

    /// A collector runs until the move says that it is to be stopped, or for so many rounds.
    async fn collect(
        &mut self,
        (folder, place): (&Path, &Place),
        meters: &mut [SimulatedMeter],
        mut stop: impl FnMut(u32) -> bool,
    ) {
        let running = start_with(folder, |config| config.db = place.clone()).await;
        let gateway = Gateway::attach(running.link());
        let (mut rounds, began) = (0, Instant::now());
        while !stop(rounds) || began.elapsed() < RUNS {
            self.round(&running, &gateway, meters).await;
            rounds += 1;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // Sent into the end: some of it may be stored, and none of it is known to be.
        for (id, meter) in (1..).zip(meters.iter_mut()) {
            let report = meter.report();
            gateway.hear(running.link(), id, &report);
            self.waiting.insert(id, report);
        }
        running.stop().await.expect("it stops well");
    }
}

/// A move that goes on by itself; hears when the collector is to be stopped.
fn moving(folder: &Path, from: &Place, to: &Place) -> (Receiver<()>, std::thread::JoinHandle<Duration>) {
    let (say, hear) = channel();
    let (keys, from, to) = (folder.join("keys"), from.clone(), to.clone());
    let thread = std::thread::spawn(move || {
        let moved = relocate(&from, &to, &keys, |stage| {
            if let Stage::Waiting(_) = stage {
                say.send(()).expect("somebody listens");
            }
        });
        moved.expect("moved").pause
    });
    (hear, thread)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_acknowledged_reading_is_there_once_and_no_number_of_a_command_comes_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let keys = folder.path().join("keys");
    let mut meters: Vec<SimulatedMeter> =
        (1..=METERS).map(|meter| SimulatedMeter::register(&keys, meter, Suite::Aes128Gcm, 1)).collect();
    let (file, server, back) = (TestStore::new(), Engine::Postgres.place(), TestStore::new());
    let mut world = World::default();
    world.collect((folder.path(), &file.place()), &mut meters, |rounds| rounds >= 20).await;
    for (from, to) in [(&file, &server), (&server, &back)] {
        let (stop, thread) = moving(folder.path(), &from.place(), &to.place());
        let mut told = false;
        let until_told = |rounds| {
            told |= stop.try_recv().is_ok();
            told && rounds >= 20
        };
        world.collect((folder.path(), &from.place()), &mut meters, until_told).await;
        let pause = thread.join().expect("no panic");
        println!("nobody could store for {:.2} s", pause.as_secs_f64());
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
