//! A database that a later version wrote, as an older one finds it during a rolling upgrade.

use super::numbers::commanded;
use super::station::{Gateway, SimulatedMeter, WITHIN, start};
use collector::event::CommandState;
use collector::store::RecordedCommand;
use rusqlite::Connection;
use std::path::Path;
use std::time::{Duration, Instant};
use wire::meter::{Command, CommandResult, Suite};

const CONFIGURE: Command = Command::Configure { interval_s: 60, suite: Suite::Aes128Gcm };
/// An argument that this version does not know.
const LATER: &str = r#""interval_s":60,"jitter_s":5"#;

fn change(folder: &Path, sql: &str) -> usize {
    let connection = Connection::open(folder.join("test.db")).expect("a database");
    connection.execute(sql, []).expect("changed")
}

#[tokio::test(flavor = "multi_thread")]
async fn command_of_a_later_version_is_withdrawn_by_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut meter = SimulatedMeter::register(&folder.path().join("keys"), 7, Suite::Aes128Gcm, 1);
    let running = start(folder.path()).await;
    let id = running.meters().command(7.into(), CONFIGURE, "me").await.expect("queued");
    running.stop().await.expect("it stops well");
    for (table, column) in [("commands", "\"order\""), ("meters", "state")] {
        let later =
            format!("UPDATE {table} SET {column} = replace({column}, '\"interval_s\":60', '{LATER}')");
        assert_eq!(change(folder.path(), &later), 1);
    }

    let running = start(folder.path()).await;
    let (handle, gateway) = (running.meters(), Gateway::attach(running.meters()));
    let begun = Instant::now();
    let listed = loop {
        let listed = running.reader().commands(7.into(), 0).expect("commands");
        if listed[0].state == CommandState::Withdrawn {
            break listed;
        }
        assert!(begun.elapsed() < WITHIN, "{listed:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(listed[0].id, id);
    assert_eq!(listed[0].order, RecordedCommand::Later("configure".to_owned()));
    // The meter goes on, and takes other commands.
    handle.command(7.into(), Command::Reboot, "me").await.expect("queued");
    let m = commanded(handle, &gateway, &mut meter, Command::Reboot);
    gateway.hear(handle, 1, &meter.answer(m, CommandResult::Done));
    running.stop().await.expect("it stops well");
}

#[tokio::test(flavor = "multi_thread")]
async fn meter_whose_state_is_unreadable_is_left_out_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut meters =
        [7, 8].map(|meter| SimulatedMeter::register(&folder.path().join("keys"), meter, Suite::Aes128Gcm, 1));
    start(folder.path()).await.stop().await.expect("it stops well");
    assert_eq!(change(folder.path(), "UPDATE meters SET state = '{\"later\":1}' WHERE meter = 7"), 1);

    let running = start(folder.path()).await;
    let gateway = Gateway::attach(running.meters());
    for meter in &mut meters {
        gateway.hear(running.meters(), 1, &meter.report());
    }
    // Of the other one.
    let sent = gateway.next(WITHIN).expect("an acknowledgement");
    assert_eq!(meters[1].opens_acknowledgement(sent.2, &sent.3), Some(1));
    assert!(gateway.next(Duration::from_millis(300)).is_none());
    let snapshot = running.meters().snapshot().await.expect("counted");
    assert_eq!((snapshot.reports, snapshot.refused.total()), (1, 1));
    running.stop().await.expect("it stops well");
}
