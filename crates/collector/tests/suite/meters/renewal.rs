//! Keys that are renewed over the air, where keys are files and where they are rows: kept before
//! they are used, and gone once the meter has shown the next one. With the meter's firmware, or
//! with keys that are in the midst of it.

use super::firmware::{Attacker, Firmware, LONG};
use super::station::{Gateway, SimulatedMeter, WITHIN, start_with};
use crate::keys::{Kind, Stand, kek, place, ring};
use collector::event::CommandState;
use collector::gateway::udp::{datagram, parse};
use collector::gateway::{GatewayId, Route};
use collector::network::NetworkId;
use collector::registry::{MeterFile, Registry};
use collector::service::{Config, Running};
use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testkit::ports::free_address;
use testkit::postgres::shared;
use testkit::random::{Random, seed};
use wire::meter::{
    Command as MeterCommand, MessageKind, MeterKeys, Packet, Provision, Rejection, Setup, Suite,
};

const METER: u16 = 7;
const OTHER: u16 = 8;

on_each_kind![
    renewed_key_survives_a_restart_at_any_moment,
    wrong_pieces_are_refused_on_both_sides,
    a_key_that_cannot_be_kept_is_kept_when_it_can_be,
    nothing_is_written_after_the_service_has_stopped,
    a_meter_that_is_rotated_meanwhile_has_its_new_keys,
];

fn registry(stand: &Stand) -> Registry {
    stand.store.open_network(NetworkId::DEFAULT).expect("a network")
}

/// As they are kept.
fn keys(stand: &Stand) -> MeterKeys {
    registry(stand).get(METER).expect("it is there").record.keys
}

async fn start(stand: &Stand) -> Running {
    start_with(stand.folder.path(), |config: &mut Config| {
        // The firmware's clock is not the one on the wall.
        config.policy.set_time = false;
        if !stand.database.is_empty() {
            config.db = place(&stand.database);
            config.keks = Some(ring(&[&stand.folder.path().join("kek")]));
        }
    })
    .await
}

fn firmware(stand: &Stand, seed: u64) -> Firmware {
    let setup = Setup { suite: Suite::Aes256GcmRekeyed, interval_s: 1, ..Setup::usual(METER) };
    Firmware::provision(&registry(stand), setup, &stand.images(), seed)
}

/// When the service is stopped.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Moment {
    /// The renewal is ordered.
    Ordered,
    /// Packets that were sent since the service began.
    Packets(usize),
    /// The next key is kept.
    Kept,
    /// The meter has it.
    Taken,
    /// The one before is no more.
    Erased,
}

async fn renewed_key_survives_a_restart_at_any_moment(kind: Kind) {
    let mut random = Random::new(seed());
    let stand = Stand::new(kind);
    let mut firmware = firmware(&stand, 41);
    let until = Instant::now() + LONG;
    let mut piece = |from: u32, to: u32| Moment::Packets((from + random.below(to - from)) as usize);
    let moments = [
        Moment::Ordered,
        Moment::Packets(1),
        piece(2, 54),
        piece(54, 105),
        Moment::Packets(105),
        Moment::Kept,
        Moment::Taken,
        Moment::Erased,
    ];
    for moment in moments {
        let running = start(&stand).await;
        let (handle, gateway) = (running.meters(), Gateway::attach(running.meters()));
        if moment == Moment::Ordered {
            // Once: what a restart breaks off goes on by itself.
            handle.command(METER.into(), MeterCommand::RenewKey, "me").await.expect("queued");
        }
        firmware.renewal_packets = 0;
        loop {
            let (kept, epoch) = (keys(&stand), firmware.epoch());
            // The meter never has a key that is not kept, nor one that is no more.
            assert!(
                (kept.epoch()..=kept.epoch() + u32::from(kept.has_next())).contains(&epoch),
                "{moment:?}"
            );
            let is_there = match moment {
                Moment::Ordered => true,
                Moment::Packets(count) => firmware.renewal_packets >= count,
                Moment::Kept => kept.has_next(),
                Moment::Taken => epoch == 1,
                Moment::Erased => (kept.epoch(), kept.has_next()) == (1, false),
            };
            if is_there {
                break;
            }
            assert!(Instant::now() < until, "{moment:?}: {:?}", firmware.meter.status());
            firmware.step(handle, &gateway);
        }
        running.stop().await.expect("it stops well");
    }
    let running = start(&stand).await;
    let gateway = Gateway::attach(running.meters());
    firmware.is_well(running.meters(), &gateway);
    let refused = running.meters().snapshot().await.expect("counted").refused;
    assert_eq!((refused.of(Rejection::NotAuthentic), firmware.epoch()), (0, 1), "{refused:?}");
    // The record of actions: the order, and its result.
    let actions = running.reader().actions(100, None).expect("readable");
    let told: Vec<(&str, &str)> =
        actions.iter().map(|action| (action.who.as_str(), action.what.as_str())).collect();
    assert_eq!(told, [("collector", "renewed the key of meter 7: epoch 1")]);
    running.stop().await.expect("it stops well");
}

async fn wrong_pieces_are_refused_on_both_sides(kind: Kind) {
    let stand = Stand::new(kind);
    let mut firmware = firmware(&stand, 42);
    firmware.attacker = Some(Attacker::new(seed()));
    let running = start(&stand).await;
    let (handle, gateway) = (running.meters(), Gateway::attach(running.meters()));
    let until = Instant::now() + LONG;
    for epoch in 1..=2 {
        firmware.is_well(running.meters(), &gateway);
        let id = handle.command(METER.into(), MeterCommand::RenewKey, "me").await.expect("queued");
        while firmware.epoch() < epoch || keys(&stand).has_next() || keys(&stand).epoch() < epoch {
            assert!(Instant::now() < until, "{epoch}: {:?}", firmware.meter.status());
            firmware.step(handle, &gateway);
        }
        let command = running.reader().command(id).expect("readable").expect("there");
        assert_eq!(command.state, CommandState::Done);
    }
    let made = firmware.attacker.take().expect("there").made;
    firmware.is_well(running.meters(), &gateway);
    let (status, refused) = (firmware.meter.status(), handle.snapshot().await.expect("counted").refused);
    assert_eq!((status.lost, status.starts), (0, 1));
    assert!(made > 2 * 2 * 53 * 4, "{made}");
    // About half of them on each side.
    let by_collector = refused.total() as usize;
    assert!(by_collector > made / 3 && usize::from(status.refused) > made / 5, "{refused:?}, {status:?}");
    running.stop().await.expect("it stops well");
}

/// A meter whose renewal is over on its side: the service has the next key, and has not seen it
/// used.
fn with_next_key(stand: &Stand) -> SimulatedMeter {
    let registry = registry(stand);
    let elsewhere = tempfile::tempdir().expect("a folder");
    let mut meter =
        SimulatedMeter::register(&elsewhere.path().join("keys"), METER, Suite::Aes256GcmRekeyed, 1);
    let provision = &meter.provision;
    let collector = *registry.identity().public();
    let mut record = provision.record();
    let (key128, key256) = record.keys.expose();
    let all = [&key128[..], key256, &[0; 4], key256, &[9; 32]].concat();
    record.keys = MeterKeys::from_exposed(&all).expect("keys");
    let next = record.keys.next_epoch().expect("it is known");
    let identity = provision.identity().clone();
    meter.provision = Provision::with_keys(*provision.setup(), next, identity, &collector, [0; 48]);
    meter.collector = collector;
    let file = MeterFile { network: NetworkId::DEFAULT, epoch: 1, record };
    let path = elsewhere.path().join("copy.toml");
    super::station::put(&path, &toml::to_string(&file).expect("a file"));
    registry.add(&path).expect("a meter");
    assert!(keys(stand) == file.record.keys);
    meter
}

async fn until(what: &str, is: impl Fn() -> bool) {
    let until = Instant::now() + WITHIN;
    while !is() {
        assert!(Instant::now() < until, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Readings are stored meanwhile; and it is tried again without anything that is heard.
async fn a_key_that_cannot_be_kept_is_kept_when_it_can_be(kind: Kind) {
    let stand = Stand::new(kind);
    let mut meter = with_next_key(&stand);
    let running = start(&stand).await;
    let gateway = Gateway::attach(running.meters());
    let in_the_way = stand.folder.path().join("keys/meters/.00007.toml.new/in the way");
    match kind {
        Kind::Files => std::fs::create_dir_all(&in_the_way).expect("a folder"),
        Kind::Database => drop(stand.sql(
            "CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'full'; END $$ LANGUAGE plpgsql; \
             CREATE TRIGGER refuse BEFORE UPDATE ON sealed_keys FOR EACH ROW EXECUTE FUNCTION refuse()",
        )),
    }
    for _ in 0..2 {
        gateway.hear(running.meters(), 1, &meter.report());
        let sent = gateway.next(WITHIN).expect("an acknowledgement");
        assert_eq!(meter.acknowledged(&sent), meter.n);
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(keys(&stand).has_next());
    match kind {
        Kind::Files => std::fs::remove_dir_all(in_the_way.parent().expect("a folder")).expect("removed"),
        Kind::Database => drop(stand.sql("DROP TRIGGER refuse ON sealed_keys")),
    }
    until("it is kept", || keys(&stand).epoch() == 1).await;
    assert!(keys(&stand) == meter.provision.record().keys);
    running.stop().await.expect("it stops well");
}

async fn nothing_is_written_after_the_service_has_stopped(kind: Kind) {
    let stand = Stand::new(kind);
    let mut meter = with_next_key(&stand);
    let running = start(&stand).await;
    let gateway = Gateway::attach(running.meters());
    // A writer of keys waits.
    let lock = std::fs::File::open(stand.folder.path().join("keys")).ok();
    let transaction = match (&lock, kind) {
        (Some(lock), Kind::Files) => {
            lock.lock().expect("nobody changes keys");
            None
        }
        _ => Some(shared().transaction(&stand.database, "SELECT * FROM sealed_keys FOR UPDATE")),
    };
    gateway.hear(running.meters(), 1, &meter.report());
    assert_eq!(meter.acknowledged(&gateway.next(WITHIN).expect("an acknowledgement")), meter.n);
    tokio::time::sleep(Duration::from_millis(300)).await;
    let stopping = tokio::spawn(running.stop());
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert!(!stopping.is_finished(), "what is being written comes later than the stop");
    drop((lock, transaction));
    stopping.await.expect("no panic").expect("it stops well");
    let then = keys(&stand);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(keys(&stand) == then && then.epoch() == 1);
}

/// Its renewed key comes too late, and nothing of it is kept; all others go on.
async fn a_meter_that_is_rotated_meanwhile_has_its_new_keys(kind: Kind) {
    let stand = Stand::new(kind);
    let mut meter = with_next_key(&stand);
    let registry = registry(&stand);
    let usual = Setup { suite: Suite::Aes256GcmRekeyed, ..Setup::usual(OTHER) };
    registry.provision(usual, 0, &stand.images()).expect("another meter");
    let running = start(&stand).await;
    let gateway = Gateway::attach(running.meters());
    let (rotated, _) = registry.rotate(METER, 0, &stand.images()).expect("new keys");
    // With the key of before, and before the service has looked.
    gateway.hear(running.meters(), 1, &meter.report());
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(keys(&stand).expose_all(), rotated.record.keys.expose_all());
    let status = running.meters().meter(METER.into()).await.expect("it answers").expect("there");
    assert_eq!((status.epoch, status.online), (2, false));
    assert!(running.meters().meter(OTHER.into()).await.expect("it answers").is_some());
    // Commands wait for nothing of before.
    running.meters().command(METER.into(), MeterCommand::RenewKey, "me").await.expect("queued");
    running.stop().await.expect("it stops well");
}

#[test]
fn keys_are_renewed_by_age_where_the_collector_is_told_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let keys = folder.path().join("wattseal.keys");
    let mut meter = SimulatedMeter::register(&keys, METER, Suite::Aes256GcmRekeyed, 1);
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.set_read_timeout(Some(Duration::from_millis(100))).expect("a socket");
    let free = free_address();
    for (arguments, is_ordered) in [(&[][..], false), (&["--renew-keys", "90"], true)] {
        let mut collector = Command::new(env!("CARGO_BIN_EXE_wattseal-collector"))
            .current_dir(folder.path())
            .args(["collect", "--listen", "127.0.0.1:0", "--udp", &free.to_string()])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary under test runs");
        let mut said = BufReader::new(collector.stdout.take().expect("a pipe")).lines();
        let begun = said.any(|line| line.expect("text").starts_with("udp "));
        for packet in meter.report() {
            socket.send_to(&datagram(&packet, Some(-61)).expect("it fits"), free).expect("sent");
        }
        let (mut kinds, until) = (Vec::new(), Instant::now() + Duration::from_secs(3));
        while Instant::now() < until && kinds.len() < 2 {
            let mut buffer = [0; 128];
            let Ok(length) = socket.recv(&mut buffer) else { continue };
            let (packet, _) = parse(&buffer[..length]).expect("a datagram");
            let packet = Packet::parse(packet).expect("a packet");
            kinds.push(packet.kind);
            if packet.kind == MessageKind::Command {
                let route = Route { gateway: GatewayId::of(0), peer: None };
                let command = meter.command(&(route, packet.kind, packet.suite, packet.body.to_vec()));
                assert_eq!(command.1, MeterCommand::RenewKey);
            }
        }
        let _ = Command::new("kill").args(["-INT", &collector.id().to_string()]).status();
        assert!(collector.wait().expect("it ran").success() && begun);
        assert_eq!(
            (kinds.len(), kinds.contains(&MessageKind::Command)),
            (1 + usize::from(is_ordered), is_ordered)
        );
    }
}

/// A copy that is older than the renewal, as a backup is: the key that the meter has is in none,
/// and nothing of it is taken.
#[tokio::test(flavor = "multi_thread")]
async fn a_copy_of_the_keys_of_before_a_renewal_opens_nothing() {
    let stand = Stand::new(Kind::Files);
    let mut meter = with_next_key(&stand);
    let file = stand.folder.path().join("keys/meters/00007.toml");
    let half = std::fs::read_to_string(&file).expect("there");
    let mut before = registry(&stand).get(METER).expect("there");
    before.record.keys = MeterKeys::from_exposed(&before.record.keys.expose_all()[..48]).expect("keys");
    let before = toml::to_string(&before).expect("a file");
    for (copy, is_heard) in [(None, true), (Some(half), true), (Some(before), false)] {
        if let Some(copy) = copy {
            super::station::put(&file, &copy);
        }
        let running = start(&stand).await;
        let gateway = Gateway::attach(running.meters());
        gateway.hear(running.meters(), 1, &meter.report());
        let heard = gateway.next_acknowledgement(Duration::from_secs(2));
        assert_eq!(heard.map(|sent| meter.acknowledged(&sent)), is_heard.then_some(meter.n));
        let refused = running.meters().snapshot().await.expect("counted").refused;
        assert_eq!(refused.of(Rejection::NotAuthentic), u64::from(!is_heard));
        if is_heard {
            until("the one before is erased", || keys(&stand).epoch() == 1 && !keys(&stand).has_next()).await;
        }
        running.stop().await.expect("it stops well");
    }
}

/// A copy of a database whose keys were sealed before there were renewed ones is read as it was.
#[test]
fn keys_that_are_sealed_come_and_go_in_each_state_of_a_renewal() {
    let stand = Stand::new(Kind::Database);
    let meter = with_next_key(&stand);
    let registry = registry(&stand);
    let half = keys(&stand);
    assert!(half.has_next() && half.next_epoch().expect("known") == meter.provision.record().keys);
    // Its length says which it is: 128 bytes, as ever, of a meter whose key was never renewed.
    registry.provision(Setup::usual(OTHER), 0, &stand.images()).expect("a meter");
    let bytes = |meter: u16| {
        stand
            .sql(&format!("SELECT octet_length(sealed) FROM sealed_keys WHERE meter = {meter}"))
            .parse::<i32>()
    };
    let [of_half, never] = [METER, OTHER].map(|meter| bytes(meter).expect("a number"));
    assert_eq!(of_half - never, 4 + 32 + 32);
    // Under another key-encryption key, too.
    let (one, two) = (stand.folder.path().join("kek"), kek(stand.folder.path(), "two"));
    let both = crate::keys::store(&stand.database, &ring(&[&two, &one])).expect("both are known");
    assert_eq!(both.rewrap(|_| {}).expect("sealed anew").keys, 3);
    let two = crate::keys::store(&stand.database, &ring(&[&two])).expect("it is known");
    let sealed_anew = two.open_network(NetworkId::DEFAULT).expect("there").get(METER).expect("there");
    assert!(sealed_anew.record.keys == half);
    // From a folder into a database.
    let folder = Stand::new(Kind::Files);
    let of_files = with_next_key(&folder);
    let into = Stand::new(Kind::Database);
    assert_eq!(into.store.import(&folder.folder.path().join("keys")).expect("imported"), 1);
    assert!(keys(&into) == keys(&folder));
    assert!(keys(&into).next_epoch().expect("known") == of_files.provision.record().keys);
}
