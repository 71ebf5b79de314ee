//! A backup that is made while meters report and are commanded, and is put back.

use super::station::{Gateway, SimulatedMeter, WITHIN, start};
use collector::backup::{BackupError, backup};
use collector::store::{Reader, ReadingsQuery, Resolution, Rows};
use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};
use wire::meter::{Command, CommandResult, MessageKind, Suite};

const METERS: u16 = 4;

/// The outer world's memory of the collector.
#[derive(Default)]
struct World {
    /// The bytes of each command, by meter and number.
    commands: HashMap<(u16, u32), Vec<u8>>,
    /// The reports of each meter that were acknowledged.
    acknowledged: HashMap<u16, Vec<u32>>,
}

impl World {
    /// Has all meters report and be commanded for a time; `until` ends it.
    async fn goes_on(
        &mut self,
        folder: &Path,
        meters: &mut [SimulatedMeter],
        mut until: impl FnMut() -> bool,
    ) {
        let running = start(folder).await;
        let (handle, gateway) = (running.meters(), Gateway::attach(running.meters()));
        let limit = Instant::now() + 3 * WITHIN;
        let mut rounds = 0;
        while !until() || rounds < 20 {
            assert!(Instant::now() < limit, "it takes too long");
            rounds += 1;
            for (id, meter) in (1..).zip(meters.iter_mut()) {
                if rounds % 4 == 0 {
                    // The queue may be full.
                    let _ = handle.command(id.into(), Command::Reboot, "me").await;
                }
                let report = meter.report();
                let n = meter.n;
                gateway.hear(handle, id, &report);
                // Until its acknowledgement, and as long as commands come.
                let mut last = false;
                while !last {
                    let sent = gateway.next(WITHIN).expect("an acknowledgement");
                    let of: u16 = sent.0.peer.expect("a port").port();
                    if sent.1 == MessageKind::Acknowledgement {
                        last = meter.acknowledged(&sent) == n;
                        if last {
                            self.acknowledged.entry(id).or_default().push(n);
                        }
                    } else if of == id {
                        let (m, _) = meter.command(&sent);
                        let before = self.commands.entry((of, m)).or_insert_with(|| sent.3.clone());
                        assert_eq!(*before, sent.3, "number {m} of meter {of} for two commands");
                        let answer = meter.answer(m, CommandResult::Done);
                        gateway.hear(handle, id, &answer);
                    }
                }
            }
        }
        running.stop().await.expect("it stops well");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn backup_under_load_restores_whole_and_reuses_no_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let (home, into) = (folder.path().join("home"), folder.path().join("backup"));
    std::fs::create_dir(&home).expect("a folder");
    let (db, keys) = (home.join("test.db"), home.join("keys"));
    let mut meters: Vec<SimulatedMeter> =
        (1..=METERS).map(|meter| SimulatedMeter::register(&keys, meter, Suite::Aes128Gcm, 1)).collect();
    let mut world = World::default();
    world.goes_on(&home, &mut meters, || true).await;
    let before = world.acknowledged.clone();
    // Made by another process than the service, as far as SQLite knows.
    let copying = {
        let (db, keys, into) = (db.clone(), keys.clone(), into.clone());
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            backup(&db.as_path().into(), &keys, &into)
        })
    };
    world.goes_on(&home, &mut meters, || copying.is_finished()).await;
    let copy = copying.join().expect("no panic").expect("a backup");
    for path in [&copy.db, &copy.keys.join("collector.toml"), &copy.keys.join("commands.toml")] {
        assert_eq!(path.metadata().expect("there").permissions().mode() & 0o077, 0, "{}", path.display());
    }
    assert!(matches!(backup(&db.as_path().into(), &keys, &into), Err(BackupError::There(_))));
    // The database is lost, and put back.
    for name in ["test.db", "test.db-wal", "test.db-shm", "test.db.lock"] {
        let _ = std::fs::remove_file(home.join(name));
    }
    std::fs::copy(&copy.db, &db).expect("put back");
    world.goes_on(&home, &mut meters, || true).await;
    let reader = Reader::open(&db).expect("a database");
    for (meter, acknowledged) in &before {
        let query = ReadingsQuery {
            meter: (*meter).into(),
            from_s: 0,
            to_s: i64::MAX / 2,
            resolution: Resolution::Raw,
            after: None,
            limit: 10_000,
        };
        let Rows::Raw { energy_wh, .. } = reader.readings(&query).expect("readable").rows else {
            panic!("asked for as they were measured")
        };
        // A test meter's register is its number.
        let stored: Vec<u32> = energy_wh.iter().map(|wh| (wh * 10.0).round() as u32).collect();
        for n in acknowledged {
            assert_eq!(stored.iter().filter(|of| *of == n).count(), 1, "n {n} of meter {meter}");
        }
    }
}
