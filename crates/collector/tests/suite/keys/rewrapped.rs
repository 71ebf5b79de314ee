//! Another key-encryption key while a service goes on, from the packet to the acknowledgement.

use super::{kek, place, ring, store};
use crate::meters::station::{Gateway, SimulatedMeter, WITHIN, put, start_with};
use collector::network::NetworkId;
use collector::registry::{KeyRing, RegistryError, WrappedKeys};
use collector::service::{Config, Running, ServiceError};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use testkit::postgres::shared;
use wire::meter::{Command, Setup, Suite};

/// More than are wrapped in one transaction.
const METERS: u16 = 1200;

/// Until it is acknowledged, as a meter does.
fn report(running: &Running, gateway: &Gateway, meter: &mut SimulatedMeter) {
    let packets = meter.report();
    let begun = Instant::now();
    while begun.elapsed() < WITHIN {
        gateway.hear(running.meters(), 1, &packets);
        if let Some(sent) = gateway.next_acknowledgement(Duration::from_secs(1))
            && meter.acknowledged(&sent) == meter.n
        {
            return;
        }
    }
    panic!("no acknowledgement");
}

async fn begin(folder: &Path, database: &str, ring: &KeyRing) -> Running {
    let (db, keks) = (place(database), Some(ring.clone()));
    start_with(folder, |config: &mut Config| (config.db, config.keks) = (db, keks)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn rewrap_under_load_leaves_nothing_to_the_old_key() {
    let (folder, database) = (tempfile::tempdir().expect("a folder"), shared().database());
    let (old, new) = (kek(folder.path(), "old"), kek(folder.path(), "new"));
    let (before, both, after) = (ring(&[&old]), ring(&[&old, &new]), ring(&[&new, &old]));
    let files = folder.path().join("files");
    let mut meter = SimulatedMeter::register(&files, 258, Suite::Aes128Gcm, 1);
    let keys = store(&database, &before).expect("the database");
    keys.import(&files).expect("imported");
    let registry = keys.open_existing(NetworkId(0)).expect("there");
    let images = folder.path().join("images");
    let other = registry.get(258).expect("there");
    for meter in 1000..1000 + METERS {
        let mut other = other.clone();
        other.record.setup.meter = meter;
        let file = folder.path().join("other.toml");
        put(&file, &toml::to_string(&other).expect("TOML"));
        registry.add(&file).expect("a meter");
    }
    let running = begin(folder.path(), &database, &both).await;
    let gateway = Gateway::attach(running.meters());
    report(&running, &gateway, &mut meter);

    let (done, rewrapping) = (AtomicBool::new(false), store(&database, &after).expect("both are known"));
    let (wrapped, reported) = std::thread::scope(|scope| {
        let (done, images) = (&done, &images);
        // Keys that commands seal meanwhile are under the one or the other, and are not left
        // behind.
        let provisioned = scope.spawn(|| {
            let registry =
                store(&database, &both).expect("known").open_existing(NetworkId(0)).expect("there");
            for meter in 3000.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                registry.provision(Setup::usual(meter), 0, images).expect("a meter");
            }
        });
        let rewrapping = scope.spawn(|| {
            let mut seen = 0;
            let wrapped = rewrapping.rewrap(|keys| seen = keys).expect("sealed anew");
            done.store(true, Ordering::Relaxed);
            assert_eq!(seen, wrapped.keys);
            wrapped
        });
        let mut reported = 0;
        while !done.load(Ordering::Relaxed) {
            report(&running, &gateway, &mut meter);
            reported += 1;
        }
        let wrapped = rewrapping.join().expect("it ends");
        provisioned.join().expect("it ends");
        (wrapped, reported)
    });
    assert!(wrapped.keys >= u64::from(METERS) + 2 && reported > 0, "{wrapped:?}, {reported} reports");
    assert_eq!(wrapped.kek, after.first().expect("one").to_string());
    let now = store(&database, &after).expect("the database");
    let of: Vec<WrappedKeys> = now.wrapped().expect("rows");
    assert!(of.len() == 1 && of[0].kek == wrapped.kek, "{of:?}");
    assert_eq!(now.rewrap(|_| {}).expect("nothing to do").keys, 0);

    // A process without the new one seals nothing under the old one.
    let refused = registry.provision(Setup::usual(60_000), 0, &images).expect_err("it is over");
    assert!(matches!(refused, RegistryError::OtherKek { .. }), "{refused}");
    report(&running, &gateway, &mut meter);
    running.stop().await.expect("it stops well");

    let mut config = Config::new(place(&database), folder.path().join("keys"));
    config.keks = Some(before);
    let error = Running::start(config).await.err().expect("the old one alone");
    assert!(matches!(error, ServiceError::Registry(RegistryError::OtherKek { .. })), "{error}");
    let running = begin(folder.path(), &database, &ring(&[&new])).await;
    report(&running, &Gateway::attach(running.meters()), &mut meter);
    running.stop().await.expect("it stops well");
}

/// The key-encryption key that a transaction seals under stays until its end. Else a row would come
/// after all were sealed anew.
#[test]
fn rewrap_waits_for_a_key_that_is_being_sealed() {
    let (folder, database) = (tempfile::tempdir().expect("a folder"), shared().database());
    let (old, new) = (kek(folder.path(), "old"), kek(folder.path(), "new"));
    let (both, after) = (ring(&[&old, &new]), ring(&[&new, &old]));
    let registry = store(&database, &both).expect("there").open_network(NetworkId(0)).expect("a network");
    let images = folder.path().join("images");
    registry.provision(Setup::usual(1), 0, &images).expect("a meter");
    // The provisioning asks what to seal under, and then waits for this transaction's row.
    let row = "INSERT INTO sealed_keys SELECT 2, epoch, suite, revision, kek, sealed FROM sealed_keys WHERE meter = 1";
    let transaction = shared().transaction(&database, row);
    let waiting = || {
        let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        shared().sql(&database, sql).parse::<u32>().expect("a number")
    };
    std::thread::scope(|scope| {
        let until = |what: &str, is: &dyn Fn() -> bool| {
            let begun = Instant::now();
            while !is() {
                assert!(begun.elapsed() < WITHIN, "{what}");
                std::thread::sleep(Duration::from_millis(10));
            }
        };
        let provisioning = scope.spawn(|| registry.provision(Setup::usual(2), 0, &images).expect("a meter"));
        until("nobody waits for the row", &|| waiting() == 1);
        let rewrapping = scope
            .spawn(|| store(&database, &after).expect("both are known").rewrap(|_| {}).expect("sealed anew"));
        until("nobody waits for who seals", &|| waiting() == 2 || rewrapping.is_finished());
        drop(transaction);
        provisioning.join().expect("it ends");
        rewrapping.join().expect("it ends");
    });
    let of = store(&database, &after).expect("the database").wrapped().expect("rows");
    assert!(of.len() == 1 && of[0].kek == after.first().expect("one").to_string(), "{of:?}");
    // The new one is all that it takes.
    let registry =
        store(&database, &ring(&[&new])).expect("known").open_existing(NetworkId(0)).expect("there");
    assert_eq!(registry.load().expect("opened").len(), 2);
}

/// A database that knows meters whose keys were not taken into it revokes none of them.
#[tokio::test(flavor = "multi_thread")]
async fn database_without_keys_revokes_no_meter_of_the_folder() {
    let (folder, database) = (tempfile::tempdir().expect("a folder"), shared().database());
    let ring = ring(&[&kek(folder.path(), "kek")]);
    let mut meter = SimulatedMeter::register(&folder.path().join("keys"), 258, Suite::Aes128Gcm, 1);
    let db = place(&database);
    let running = start_with(folder.path(), |config: &mut Config| config.db = db).await;
    report(&running, &Gateway::attach(running.meters()), &mut meter);
    running.stop().await.expect("it stops well");

    let start = || {
        let mut config = Config::new(place(&database), folder.path().join("keys"));
        config.keks = Some(ring.clone());
        Running::start(config)
    };
    let text = start().await.err().expect("no keys").to_string();
    assert!(text.contains("meters import"), "{text}");
    assert_eq!(shared().sql(&database, "SELECT count(*) FROM meters WHERE revoked_ms IS NULL"), "1");
    store(&database, &ring).expect("there").import(&folder.path().join("keys")).expect("imported");
    let running = start().await.expect("it starts");
    report(&running, &Gateway::attach(running.meters()), &mut meter);
    // A change in the database comes to the running service; numbers of commands are beside the
    // keys there.
    let keys = store(&database, &ring).expect("there").open_existing(NetworkId(0)).expect("there");
    running.meters().command(258.into(), Command::Reboot, "test").await.expect("ordered");
    assert_ne!(shared().sql(&database, "SELECT below FROM key_networks WHERE network = 0"), "0");
    keys.revoke(258).expect("there");
    let begun = Instant::now();
    while shared().sql(&database, "SELECT count(*) FROM meters WHERE revoked_ms IS NULL") != "0" {
        assert!(begun.elapsed() < WITHIN, "it is not revoked");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    running.stop().await.expect("it stops well");
}
