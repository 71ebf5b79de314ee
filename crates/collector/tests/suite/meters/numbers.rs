//! Databases that are lost or go back under keys that were used, memories of meters that do, and
//! meters that seal nothing.

use super::station::{Gateway, SimulatedMeter, WITHIN, start};
use collector::event::{Alert, CommandState, Event};
use collector::meters::{MetersHandle, RequestError};
use collector::network::NetworkId;
use collector::service::{Config, Running};
use collector::store::AlertFilter;
use std::path::Path;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use wire::meter::{
    Alert as MeterAlert, Answer, Cause, Command, CommandResult, Content, MessageKind, Report, Suite,
};

const SHORT: Duration = Duration::from_millis(300);

/// The next alert with this cause.
async fn alert(events: &mut Receiver<Event>, cause: &str) -> Alert {
    loop {
        let event = tokio::time::timeout(WITHIN, events.recv()).await.expect("told in time").expect("near");
        if let Event::Alert(alert) = event
            && alert.cause == cause
        {
            return alert;
        }
    }
}

/// Has the meter report, and its command come; with the number that it came under. A pending time
/// is answered, too.
pub(super) fn commanded(
    handle: &MetersHandle,
    gateway: &Gateway,
    meter: &mut SimulatedMeter,
    wanted: Command,
) -> u32 {
    let report = meter.report();
    gateway.hear(handle, 1, &report);
    loop {
        let sent = gateway.next(WITHIN).expect("the command");
        if sent.1 == MessageKind::Acknowledgement {
            continue;
        }
        let (m, command) = meter.command(&sent);
        if command == wanted {
            return m;
        }
        let answer = meter.answer(m, CommandResult::Done);
        gateway.hear(handle, 1, &answer);
    }
}

fn forget_database(folder: &Path) {
    for name in ["test.db", "test.db-wal", "test.db-shm", "test.db.lock"] {
        let _ = std::fs::remove_file(folder.join(name));
    }
}

/// The clock is as it was: numbers of the same second are told apart by the floor alone, which lies
/// with the keys.
#[tokio::test(flavor = "multi_thread")]
async fn lost_or_old_database_reuses_no_command_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut meter = SimulatedMeter::register(&folder.path().join("keys"), 7, Suite::Aes128Gcm, 1);
    let mut used = Vec::new();
    let copy = folder.path().join("copy.db");
    for round in 0..4 {
        let running = start(folder.path()).await;
        let (handle, gateway) = (running.meters(), Gateway::attach(running.meters()));
        for _ in 0..2 {
            let id = handle.command(7.into(), Command::Reboot, "me").await.expect("queued");
            let m = commanded(handle, &gateway, &mut meter, Command::Reboot);
            assert!(used.iter().all(|before| *before < m), "round {round}: {m} after {used:?}");
            used.push(m);
            let answer = meter.answer(m, CommandResult::Done);
            let mut events = handle.events();
            gateway.hear(handle, 1, &answer);
            loop {
                let event = tokio::time::timeout(WITHIN, events.recv()).await.expect("told").expect("near");
                if matches!(event, Event::Command(update) if (update.id, update.state) == (id, CommandState::Done))
                {
                    break;
                }
            }
        }
        let alerts = running.reader().alerts(&AlertFilter { limit: 100, ..AlertFilter::default() });
        let told = alerts.expect("readable").iter().any(|alert| alert.cause == "restored");
        assert_eq!(told, round == 2, "of a database that does not know used keys, and of no other");
        running.stop().await.expect("it stops well");
        match round {
            0 => drop(std::fs::copy(folder.path().join("test.db"), &copy).expect("a copy")),
            // Lost.
            1 => forget_database(folder.path()),
            // As it was long ago.
            2 => {
                forget_database(folder.path());
                std::fs::copy(&copy, folder.path().join("test.db")).expect("put back");
            }
            _ => {}
        }
    }
}

/// A meter that has taken higher numbers than anybody here knows of says so, and the command is
/// done under a higher one.
#[tokio::test(flavor = "multi_thread")]
async fn a_meter_s_last_number_is_learned_from_its_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut meter = SimulatedMeter::register(&folder.path().join("keys"), 7, Suite::Ecies, 1);
    let running = start(folder.path()).await;
    let (handle, gateway) = (running.meters(), Gateway::attach(running.meters()));
    let mut events = handle.events();
    handle.command(7.into(), Command::Reboot, "me").await.expect("queued");
    let m = commanded(handle, &gateway, &mut meter, Command::Reboot);
    let mut body = [0; 11];
    body[..4].copy_from_slice(&3_000_000_000u32.to_be_bytes());
    let answer = meter.answer_with(Answer { m, outcome: CommandResult::NumberTooLow, body });
    gateway.hear(handle, 1, &answer);
    let told = alert(&mut events, "command-numbers").await;
    assert!(told.meter == Some(7.into()) && told.detail.contains("3000000000"), "{told:?}");
    let again = loop {
        let sent = gateway.next(WITHIN).expect("the command again");
        if sent.1 == MessageKind::Command && meter.command(&sent).0 != m {
            break meter.command(&sent);
        }
    };
    assert_eq!(again, (3_000_000_001, Command::Reboot));
    running.stop().await.expect("it stops well");
}

/// Known while the service goes on, and known to the database after it began anew.
#[tokio::test(flavor = "multi_thread")]
async fn other_report_under_known_number_alerts_unacknowledged() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut meter = SimulatedMeter::register(&folder.path().join("keys"), 7, Suite::Aes128Gcm, 1);
    for restarted in [false, true] {
        let running = start(folder.path()).await;
        let (handle, gateway) = (running.meters(), Gateway::attach(running.meters()));
        let mut events = handle.events();
        if !restarted {
            for n in 1..=3 {
                let report = meter.report();
                gateway.hear(handle, 1, &report);
                assert_eq!(meter.acknowledged(&gateway.next(WITHIN).expect("an acknowledgement")), n);
            }
            let content =
                Content::Alert(MeterAlert { time_s: 5, cause: Cause::PowerOn, starts: 2, detail: [0; 3] });
            meter.n += 1;
            let report = meter.send(&Report { n: 4, time_set: false, lost: 0, content });
            gateway.hear(handle, 1, &report);
            assert_eq!(meter.acknowledged(&gateway.next(WITHIN).expect("an acknowledgement")), 4);
        }
        // Another reading where a reading is, and where an alert is.
        for n in [2, 4] {
            meter.n = n - 1;
            let other = meter.report();
            let other = if n == 2 { changed(&mut meter, 2) } else { other };
            gateway.hear(handle, 1, &other);
        }
        let told = alert(&mut events, "number-reused").await;
        assert!(told.meter == Some(7.into()) && told.detail.contains("meters rotate 7"), "{told:?}");
        while let Some(sent) = gateway.next(SHORT) {
            assert_ne!(sent.1, MessageKind::Acknowledgement, "restarted: {restarted}");
        }
        meter.n = 4;
        running.stop().await.expect("it stops well");
    }
}

/// A measurement of long ago under a number.
fn changed(meter: &mut SimulatedMeter, n: u32) -> Vec<Vec<u8>> {
    let measurement = wire::meter::Measurement { time_s: 800_000_000, energy_dwh: 9, power_w: 30_000 };
    meter.send(&Report { n, time_set: true, lost: 0, content: Content::Measurement(measurement) })
}

/// A stored report is acknowledged after a restart, in all the ways in which reports are stored.
#[tokio::test(flavor = "multi_thread")]
async fn the_same_report_is_acknowledged_again_after_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut meter = SimulatedMeter::register(&folder.path().join("keys"), 7, Suite::EciesEcdsa, 1);
    let mut sent = Vec::new();
    for time_set in [true, false, true] {
        meter.n += 1;
        let measurement = wire::meter::Measurement { time_s: 900, energy_dwh: 77, power_w: -5 };
        let content = Content::Measurement(measurement);
        sent.push(meter.send(&Report { n: meter.n, time_set, lost: 3, content }));
    }
    meter.n += 1;
    let content =
        Content::Alert(MeterAlert { time_s: 9, cause: Cause::Journal, starts: 1, detail: [1, 2, 3] });
    sent.push(meter.send(&Report { n: meter.n, time_set: true, lost: 3, content }));
    for _ in 0..2 {
        let running = start(folder.path()).await;
        let (handle, gateway) = (running.meters(), Gateway::attach(running.meters()));
        for (n, report) in (1..).zip(&sent) {
            gateway.hear(handle, 1, report);
            let acknowledgement = loop {
                let sent = gateway.next(WITHIN).expect("an acknowledgement");
                if sent.1 == MessageKind::Acknowledgement {
                    break sent;
                }
            };
            assert_eq!(meter.acknowledged(&acknowledgement), n);
        }
        running.stop().await.expect("it stops well");
    }
}

/// A torn byte of its memory reads otherwise than before: a report comes when later ones have come.
#[tokio::test(flavor = "multi_thread")]
async fn a_report_that_comes_late_is_stored_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut meter = SimulatedMeter::register(&folder.path().join("keys"), 7, Suite::EciesEcdsa, 1);
    let (first, late, third) = (meter.report(), meter.report(), meter.report());
    for _ in 0..2 {
        let running = start(folder.path()).await;
        let (handle, gateway) = (running.meters(), Gateway::attach(running.meters()));
        for (n, report) in [(1, &first), (3, &third), (2, &late), (2, &late)] {
            gateway.hear(handle, 1, report);
            assert_eq!(meter.acknowledged(&gateway.next(WITHIN).expect("an acknowledgement")), n);
        }
        running.stop().await.expect("it stops well");
        assert_eq!(super::stored(&folder.path().join("test.db"), 7), [1, 2, 3]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_meter_that_counts_its_starts_anew_is_an_alert() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut meter = SimulatedMeter::register(&folder.path().join("keys"), 7, Suite::Aes256Gcm, 1);
    let running = start(folder.path()).await;
    let (handle, gateway) = (running.meters(), Gateway::attach(running.meters()));
    let mut events = handle.events();
    for starts in [1, 2, 1] {
        meter.n += 1;
        let content = Content::Alert(MeterAlert { time_s: 5, cause: Cause::PowerOn, starts, detail: [0; 3] });
        let report = meter.send(&Report { n: meter.n, time_set: true, lost: 0, content });
        gateway.hear(handle, 1, &report);
        while gateway.next(WITHIN).expect("an acknowledgement").1 != MessageKind::Acknowledgement {}
    }
    let told = alert(&mut events, "number-reused").await;
    assert!(told.detail.contains("starts"), "{told:?}");
    running.stop().await.expect("it stops well");
}

/// Nobody said otherwise: with a meter that seals, nothing unsealed is taken, also when that meter
/// comes later.
#[tokio::test(flavor = "multi_thread")]
async fn unsealed_report_of_unsealing_meter_is_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    let keys = folder.path().join("keys");
    let mut open = SimulatedMeter::register(&keys, 5, Suite::None, 1);
    let config = Config::new(folder.path().join("test.db"), keys.clone());
    let running = Running::start(config).await.expect("it starts");
    let (handle, gateway) = (running.meters(), Gateway::attach(running.meters()));
    let report = open.report();
    gateway.hear(handle, 1, &report);
    assert_eq!(open.acknowledged(&gateway.next(WITHIN).expect("an acknowledgement")), 1);
    let sealing = SimulatedMeter::register(&keys, 6, Suite::Aes128Gcm, 1);
    handle.set_meter(NetworkId::DEFAULT, 1, sealing.provision.record()).await.expect("added");
    let report = open.report();
    gateway.hear(handle, 1, &report);
    assert_eq!(gateway.next(SHORT), None);
    let nothing = Command::Configure { interval_s: 10, suite: Suite::None };
    assert_eq!(handle.command(6.into(), nothing, "me").await, Err(RequestError::SealRequired));
    running.stop().await.expect("it stops well");
}
