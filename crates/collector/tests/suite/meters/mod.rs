//! Sessions of partitions with all behind them: reports, commands, keys, routes, restarts.

/// Runs each test with keys in files, and with keys in a database.
macro_rules! on_each_kind {
    ($($name:ident),* $(,)?) => {
        mod files {
            $(#[tokio::test(flavor = "multi_thread")] async fn $name() { super::$name(super::Kind::Files).await })*
        }
        mod database {
            $(#[tokio::test(flavor = "multi_thread")] async fn $name() { super::$name(super::Kind::Database).await })*
        }
    };
}

mod backups;
mod concentrator;
mod firmware;
mod later_version;
mod networks;
mod numbers;
mod renewal;
mod server;
pub(crate) mod station;
mod updates;

use collector::event::{CommandState, Event};
use collector::meters::RequestError;
use collector::network::{GlobalMeterId, NetworkId};
use collector::service::{Config, Running};
use collector::store::{AlertFilter, Options, Reader, ReadingsQuery, Rows};
use station::{Gateway, SimulatedMeter, WITHIN, start, start_with};
use std::path::Path;
use std::time::Duration;
use wire::meter::{Command, CommandResult, MessageKind, Suite};

const SHORT: Duration = Duration::from_millis(300);

#[tokio::test(flavor = "multi_thread")]
async fn a_report_is_acknowledged_when_it_is_stored_and_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut meters: Vec<SimulatedMeter> = (1..)
        .zip(Suite::ALL)
        .map(|(meter, suite)| SimulatedMeter::register(&folder.path().join("keys"), meter, suite, 1))
        .collect();
    let running = start(folder.path()).await;
    let gateway = Gateway::attach(running.meters());
    let mut events = running.meters().events();
    for meter in &mut meters {
        let report = meter.report();
        gateway.hear(running.meters(), 1, &report);
        let sent = gateway.next(WITHIN).expect("an acknowledgement");
        assert_eq!((meter.acknowledged(&sent), sent.0), (1, gateway.route(1)));
        let Ok(Event::Reading(reading)) = events.recv().await else { panic!("a reading is told") };
        assert_eq!(
            (reading.meter, reading.n, reading.power_w),
            (meter.provision.setup().meter.into(), 1, 412)
        );
        // The same again: the same acknowledgement, and no other reading.
        gateway.hear(running.meters(), 1, &report);
        assert_eq!(meter.acknowledged(&gateway.next(WITHIN).expect("again")), 1);
    }
    let snapshot = running.meters().snapshot().await.expect("counted");
    let all = meters.len() as u64;
    assert_eq!((snapshot.reports, snapshot.repeats, snapshot.online), (all, all, meters.len()));
    assert_eq!(snapshot.refused.total(), 0);
    assert!(events.try_recv().is_err());
    running.stop().await.expect("it stops well");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_goes_on_after_a_restart_under_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut meter = SimulatedMeter::register(&folder.path().join("keys"), 7, Suite::Aes128Gcm, 1);
    let running = start(folder.path()).await;
    let handle = running.meters();
    assert_eq!(
        handle.command(8.into(), Command::Reboot, "me").await,
        Err(RequestError::UnknownMeter(8.into()))
    );
    let update = Command::UpdateFirmware { bytes: 1, version: 1, header: 1 };
    for wrong in [Command::ReadStatus { page: 3 }, Command::SetTime { time_s: 1 }, update] {
        assert_eq!(handle.command(7.into(), wrong, "me").await, Err(RequestError::OutOfRange), "{wrong:?}");
    }
    let id = handle.command(7.into(), Command::Reboot, "me").await.expect("queued");
    let other = handle.command(7.into(), Command::ReadStatus { page: 0 }, "me").await.expect("queued");
    let gateway = Gateway::attach(handle);
    assert_eq!(gateway.next(SHORT), None, "the meter was not heard yet");
    running.stop().await.expect("it stops well");

    let running = start(folder.path()).await;
    let (handle, gateway) = (running.meters(), Gateway::attach(running.meters()));
    let mut events = handle.events();
    let report = meter.report();
    gateway.hear(handle, 1, &report);
    let (mut m, mut acknowledged) = (None, false);
    while m.is_none() || !acknowledged {
        let sent = gateway.next(WITHIN).expect("an acknowledgement and the command");
        if sent.1 == MessageKind::Acknowledgement {
            acknowledged = true;
        } else {
            let (number, command) = meter.command(&sent);
            assert_eq!(command, Command::Reboot);
            m = Some(number);
        }
    }
    assert_eq!(handle.withdraw(7.into(), other + 1).await, Err(RequestError::NoCommand(other + 1)));
    handle.withdraw(7.into(), other).await.expect("it waits");
    let answer = meter.answer(m.expect("sent"), CommandResult::Done);
    gateway.hear(handle, 1, &answer);
    let mut states = Vec::new();
    while states.last() != Some(&(id, CommandState::Done)) {
        let event =
            tokio::time::timeout(WITHIN, events.recv()).await.expect("told").expect("not too far behind");
        if let Event::Command(update) = event {
            states.push((update.id, update.state));
        }
    }
    assert_eq!(
        states.iter().filter(|state| state.0 == id).map(|state| state.1).collect::<Vec<_>>(),
        [CommandState::Sent, CommandState::Done]
    );
    assert!(states.contains(&(other, CommandState::Withdrawn)));
    let record = running.reader().command(id).expect("readable").expect("there");
    assert_eq!((record.state, record.by.as_str(), record.attempts >= 1), (CommandState::Done, "me", true));
    assert_eq!(running.reader().open_commands().expect("readable"), []);
    running.stop().await.expect("it stops well");
}

/// Somebody who replays what a meter sent is told no more than that again; commands go where the
/// meter is.
#[tokio::test(flavor = "multi_thread")]
async fn a_replay_from_elsewhere_moves_no_route() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut meter = SimulatedMeter::register(&folder.path().join("keys"), 7, Suite::Aes128Gcm, 1);
    let running = start(folder.path()).await;
    let (handle, gateway) = (running.meters(), Gateway::attach(running.meters()));
    let report = meter.report();
    gateway.hear(handle, 1, &report);
    assert_eq!(gateway.next(WITHIN).expect("an acknowledgement").0, gateway.route(1));
    gateway.hear(handle, 666, &report);
    assert_eq!(gateway.next(WITHIN).expect("the same").0, gateway.route(666));
    let mut forged = meter.report().remove(0);
    forged[20] ^= 1;
    gateway.hear(handle, 666, &[forged]);
    handle.command(7.into(), Command::Reboot, "me").await.expect("queued");
    let sent = gateway.next(WITHIN).expect("the command");
    assert_eq!((sent.0, meter.command(&sent).1), (gateway.route(1), Command::Reboot));
    // It moves itself: its next report comes from elsewhere.
    let next = meter.report();
    gateway.hear(handle, 2, &next);
    let sent = gateway.next(WITHIN).expect("an acknowledgement");
    assert_eq!((sent.0, meter.acknowledged(&sent)), (gateway.route(2), meter.n));
    running.stop().await.expect("it stops well");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_come_change_and_go_while_it_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let keys = folder.path().join("keys");
    let running = start(folder.path()).await;
    let (handle, gateway) = (running.meters(), Gateway::attach(running.meters()));
    let mut events = handle.events();
    let mut changed = async || loop {
        let event = tokio::time::timeout(WITHIN, events.recv()).await.expect("told in time").expect("near");
        if let Event::Meter { meter } = event {
            return meter;
        }
    };
    let mut old = SimulatedMeter::register(&keys, 9, Suite::Ecies, 1);
    assert_eq!(changed().await, 9.into());
    for n in 1..=2 {
        let report = old.report();
        gateway.hear(handle, 1, &report);
        assert_eq!(old.acknowledged(&gateway.next(WITHIN).expect("an acknowledgement")), n);
    }
    let id = handle.command(9.into(), Command::ReadStatus { page: 1 }, "me").await.expect("queued");
    assert_eq!(old.command(&gateway.next(WITHIN).expect("the command")).1, Command::ReadStatus { page: 1 });
    let mut new = SimulatedMeter::register(&keys, 9, Suite::Ecies, 2);
    assert_eq!(changed().await, 9.into());
    assert_eq!(
        running.reader().command(id).expect("readable").expect("there").state,
        CommandState::Withdrawn
    );
    let late = old.report();
    gateway.hear(handle, 1, &late);
    assert_eq!(gateway.next(SHORT), None);
    // Its numbers begin with 1 again, and are other readings.
    let report = new.report();
    gateway.hear(handle, 1, &report);
    assert_eq!(new.acknowledged(&gateway.next(WITHIN).expect("an acknowledgement")), 1);
    let record = old.provision.record();
    let over = RequestError::EpochOver { meter: 9.into(), known: 2, given: 1 };
    assert_eq!(handle.set_meter(NetworkId::DEFAULT, 1, record).await, Err(over));
    std::fs::remove_file(keys.join("meters/00009.toml")).expect("there");
    assert_eq!(changed().await, 9.into());
    let report = new.report();
    gateway.hear(handle, 1, &report);
    assert_eq!(gateway.next(SHORT), None);
    let same = new.provision.record();
    let over = RequestError::EpochOver { meter: 9.into(), known: 2, given: 2 };
    assert_eq!(handle.set_meter(NetworkId::DEFAULT, 2, same).await, Err(over));
    running.stop().await.expect("it stops well");
}

/// A folder of keys that is not the database's is a mistake, and no revocation of all meters.
#[tokio::test(flavor = "multi_thread")]
async fn an_empty_folder_of_keys_revokes_nobody() {
    let folder = tempfile::tempdir().expect("a folder");
    SimulatedMeter::register(&folder.path().join("keys"), 7, Suite::Aes128Gcm, 1);
    start(folder.path()).await.stop().await.expect("it stops well");
    let config =
        collector::service::Config::new(folder.path().join("test.db"), folder.path().join("other keys"));
    let error = collector::service::Running::start(config).await.err().expect("refused");
    assert!(error.to_string().contains("--keys"), "{error}");
    let running = start(folder.path()).await;
    assert_eq!(running.meters().meters().await.expect("there").len(), 1);
    running.stop().await.expect("it stops well");
}

/// Somebody who sends messages in a meter's name that take curves to be seen as forged keeps no
/// verifier from others' messages.
#[tokio::test(flavor = "multi_thread")]
async fn forged_messages_of_one_meter_leave_the_verifiers_to_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let keys = folder.path().join("keys");
    let mut attacked = SimulatedMeter::register(&keys, 7, Suite::Ecies, 1);
    let mut other = SimulatedMeter::register(&keys, 8, Suite::Ecies, 1);
    let running = start_with(folder.path(), |config| config.verifiers = 1).await;
    let (handle, gateway) = (running.meters(), Gateway::attach(running.meters()));
    let mut forged = attacked.report();
    forged[1][60] ^= 1;
    for _ in 0..2000 {
        gateway.hear(handle, 666, &forged);
    }
    let begun = std::time::Instant::now();
    let report = other.report();
    gateway.hear(handle, 1, &report);
    let mut most_opening = 0;
    let acknowledgement = loop {
        most_opening = most_opening.max(handle.snapshot().await.expect("counted").opening);
        assert!(begun.elapsed() < WITHIN, "another meter's report is not acknowledged");
        if let Some(sent) = gateway.next(Duration::from_millis(1)) {
            break sent;
        }
    };
    assert_eq!(other.acknowledged(&acknowledgement), 1);
    println!("{most_opening} at the verifiers; another's report acknowledged after {:?}", begun.elapsed());
    // Two of the one, and the other's.
    assert!(most_opening <= 3, "{most_opening} messages at the verifiers at once");
    assert!(handle.snapshot().await.expect("counted").dropped_messages > 0);
    running.stop().await.expect("it stops well");
}

/// The registers of a meter's readings that are in a file, which are their numbers here.
pub(crate) fn stored(db: &Path, meter: impl Into<GlobalMeterId>) -> Vec<u32> {
    let reader = Reader::open(db).expect("a database");
    let query = ReadingsQuery::raw(meter);
    let Rows::Raw { mut energy_wh, .. } = reader.readings(&query).expect("readings").rows else {
        panic!("readings were asked for")
    };
    energy_wh.sort_by(f64::total_cmp);
    energy_wh.iter().map(|wh| (wh * 10.0).round() as u32).collect()
}

/// Of a batch that fails nothing is acknowledged; the same is stored once when there is room.
#[tokio::test(flavor = "multi_thread")]
async fn unstored_report_is_not_acknowledged() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("test.db");
    let mut meter = SimulatedMeter::register(&folder.path().join("keys"), 7, Suite::Aes128Gcm, 1);
    let config = Config {
        store: Options { most_bytes: Some(140_000), ..Options::default() },
        ..Config::new(&db, folder.path().join("keys"))
    };
    let running = Running::start(config).await.expect("it starts");
    let gateway = Gateway::attach(running.meters());
    let (mut acknowledged, mut report) = (0, Vec::new());
    while running.reader().health().failed == 0 {
        report = meter.report();
        gateway.hear(running.meters(), 1, &report);
        if let Some(sent) = gateway.next_acknowledgement(Duration::from_secs(3)) {
            acknowledged = meter.acknowledged(&sent);
        }
        assert!(meter.n < 3000, "it never was full");
    }
    running.stop().await.expect("it stops well");
    assert_eq!((acknowledged, stored(&db, 7)), (meter.n - 1, Vec::from_iter(1..meter.n)));

    let running = start(folder.path()).await;
    let gateway = Gateway::attach(running.meters());
    gateway.hear(running.meters(), 1, &report);
    assert_eq!(meter.acknowledged(&gateway.next(WITHIN).expect("there is room")), meter.n);
    running.stop().await.expect("it stops well");
    assert_eq!(stored(&db, 7), Vec::from_iter(1..=meter.n));
}

/// The database is removed under the service: what is acknowledged is in the file that has its name
/// then, and somebody is told.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_removed_comes_back_and_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("test.db");
    let mut meter = SimulatedMeter::register(&folder.path().join("keys"), 7, Suite::Aes128Gcm, 1);
    let running = start(folder.path()).await;
    let gateway = Gateway::attach(running.meters());
    for round in 1..=3 {
        let report = meter.report();
        gateway.hear(running.meters(), 1, &report);
        assert_eq!(meter.acknowledged(&gateway.next_acknowledgement(WITHIN).expect("stored")), meter.n);
        std::fs::remove_file(&db).expect("there");
        let report = meter.report();
        let until = std::time::Instant::now() + WITHIN;
        // As a meter does, until it is acknowledged.
        let sent = loop {
            gateway.hear(running.meters(), 1, &report);
            if let Some(sent) = gateway.next_acknowledgement(SHORT) {
                break sent;
            }
            assert!(std::time::Instant::now() < until, "round {round}: it does not come back");
        };
        assert_eq!(meter.acknowledged(&sent), meter.n);
        assert_eq!(stored(&db, 7), Vec::from_iter(1..=meter.n));
    }
    let alerts =
        running.reader().alerts(&AlertFilter { limit: 10, ..AlertFilter::default() }).expect("alerts");
    let told: Vec<_> = alerts.iter().filter(|alert| alert.cause == "store").collect();
    // Once in an hour.
    assert_eq!(told.len(), 1, "{alerts:?}");
    assert!(told[0].detail.contains("was removed or moved away"), "{}", told[0].detail);
    running.stop().await.expect("it stops well");
    assert_eq!(stored(&db, 7), Vec::from_iter(1..=meter.n));
}
