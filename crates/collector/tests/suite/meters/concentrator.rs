//! A concentrator between meters and the collector that has their keys, while somebody forges
//! reports by the thousand. Meters, forger and collector are at UDP addresses of loopback of their
//! own.

use super::firmware::{Firmware, LONG};
use super::station::{Gateway, SimulatedMeter, WITHIN, start_with};
use collector::forward::{Forwarder, PACKETS_MAX};
use collector::gateway::udp::{datagram, parse};
use collector::registry::Registry;
use collector::service::{Config, Running};
use rand::rngs::StdRng;
use rand::{Rng, RngCore, SeedableRng};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use testkit::ports::free_address;
use tokio::sync::mpsc;
use wire::meter::{Command, MessageKind, MeterId, Packet, Setup, Suite, message_bytes, packets};

const METERS: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 3));
const FORGER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
/// The radio address of collectors that [`wire::meter::Setup::usual`] has.
const ADDRESS: u8 = 0x4f;
/// The delay after which a meter sends the same again.
const AGAIN_AFTER: Duration = Duration::from_millis(200);
/// Datagrams upstream in a second that forged reports of one source become at most: what they may
/// have at once, and that of a second.
const UPSTREAM_MAX: usize = 100;

struct Concentrator {
    running: Running,
    forwarder: Forwarder,
}

impl Concentrator {
    async fn start(folder: &Path, upstream: SocketAddr) -> Concentrator {
        let (unknown_meters, heard) = mpsc::channel(PACKETS_MAX);
        let mut config = Config::new(folder.join("near.db"), folder.join("near.keys"));
        config.udp = vec![SocketAddr::from(([127, 0, 0, 1], 0)).into()];
        config.unknown_meters = Some(unknown_meters);
        let running = Running::start(config).await.expect("it starts");
        let outbox = running.reader().outbox().expect("readable");
        let gateways = running.meters().gateways().clone();
        let forwarder =
            Forwarder::start(upstream.to_string(), heard, gateways, running.writer().clone(), outbox);
        Concentrator { running, forwarder }
    }

    fn address(&self) -> SocketAddr {
        self.running.udp()[0]
    }

    fn waiting(&self) -> usize {
        self.forwarder.counts().waiting.load(Ordering::Relaxed)
    }
}

/// A meter that reaches the concentrator by UDP.
struct Meter {
    station: SimulatedMeter,
    socket: UdpSocket,
}

impl Meter {
    fn new(station: SimulatedMeter, concentrator: SocketAddr) -> Meter {
        let socket = socket_at(METERS, concentrator);
        socket.set_read_timeout(Some(AGAIN_AFTER)).expect("a time-out");
        Meter { station, socket }
    }

    fn say(&self, report: &[Vec<u8>]) {
        report.iter().for_each(|packet| send(&self.socket, packet));
    }

    /// Says if the acknowledgement of its last report comes before the time-out.
    fn hears_acknowledgement(&self) -> bool {
        let mut buffer = [0; 100];
        while let Ok(length) = self.socket.recv(&mut buffer) {
            let (bytes, _) = parse(&buffer[..length]).expect("a packet");
            let packet = Packet::parse(bytes).expect("well-formed");
            if packet.kind == MessageKind::Acknowledgement
                && self.station.opens_acknowledgement(packet.suite, packet.body) == Some(self.station.n)
            {
                return true;
            }
        }
        false
    }

    /// Sends its next report until it is acknowledged, and returns how long that took.
    fn reports(&mut self) -> Duration {
        let report = self.station.report();
        let begun = Instant::now();
        loop {
            self.say(&report);
            if self.hears_acknowledgement() {
                return begun.elapsed();
            }
            assert!(begun.elapsed() < 4 * WITHIN, "report {} is not acknowledged", self.station.n);
        }
    }
}

fn socket_at(address: IpAddr, peer: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind((address, 0)).expect("a port");
    socket.connect(peer).expect("an address");
    socket
}

fn send(socket: &UdpSocket, packet: &[u8]) {
    // A datagram that the system does not take is lost, as by radio.
    let _ = socket.send(&datagram(packet, Some(-61)).expect("it fits"));
}

fn forged(rng: &mut StdRng, meter: MeterId, suite: Suite, number_lsb: u8) -> Vec<Vec<u8>> {
    let mut message = vec![0; message_bytes(MessageKind::Report, suite)];
    rng.fill_bytes(&mut message);
    packets(ADDRESS, MessageKind::Report, suite, meter, u32::from(number_lsb), &message)
}

/// Somebody who sends forged reports until it is dropped: of all names, and of some names in their
/// suites.
struct Flood {
    stop: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Flood {
    /// datagrams: a second, at most.
    fn start(concentrator: SocketAddr, datagrams: u32, names: Vec<(MeterId, Suite)>) -> Flood {
        let (stop, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stopped, counted) = (stop.clone(), sent.clone());
        let thread = std::thread::spawn(move || {
            let seed = 14;
            println!("flood: seed {seed}");
            let (socket, mut rng) = (socket_at(FORGER, concentrator), StdRng::seed_from_u64(seed));
            let begun = Instant::now();
            while !stopped.load(Ordering::Relaxed) {
                let due = begun.elapsed().as_secs_f64() * f64::from(datagrams);
                while (counted.load(Ordering::Relaxed) as f64) < due && !stopped.load(Ordering::Relaxed) {
                    let (meter, suite) = match rng.random_range(0..2) {
                        0 => (rng.random_range(1..=u16::MAX), Suite::Aes128Gcm),
                        _ => names[rng.random_range(0..names.len())],
                    };
                    // As of the genuine ones, whose pieces it may spoil.
                    let number_lsb = rng.random_range(1..=6);
                    let cut = forged(&mut rng, meter, suite, number_lsb);
                    cut.iter().for_each(|packet| send(&socket, packet));
                    counted.fetch_add(cut.len() as u64, Ordering::Relaxed);
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        Flood { stop, sent, thread: Some(thread) }
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < WITHIN, "{what} did not come about");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The collector that has the keys, at an address that stays.
async fn far(folder: &Path, address: SocketAddr) -> Running {
    start_with(folder, |config| config.udp = vec![address.into()]).await
}

/// Its pieces and their replies are passed on, too: here of the firmware itself.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_renewed_through_a_concentrator() {
    let folder = tempfile::tempdir().expect("a folder");
    let registry = Registry::open(&folder.path().join("keys")).expect("a registry");
    let setup = Setup { suite: Suite::Aes256GcmRekeyed, interval_s: 1, ..Setup::usual(7) };
    let mut firmware = Firmware::provision(&registry, setup, &folder.path().join("images"), 43);
    let running = start_with(folder.path(), |config| {
        config.udp = vec![SocketAddr::from(([127, 0, 0, 1], 0)).into()];
        // The firmware's clock is not the one on the wall.
        config.policy.set_time = false;
    })
    .await;
    let near = Concentrator::start(folder.path(), running.udp()[0]).await;
    let (handle, radio) = (near.running.meters(), Gateway::attach(near.running.meters()));
    firmware.is_well(handle, &radio);
    running.meters().command(7.into(), Command::RenewKey, "me").await.expect("queued");
    let begun = Instant::now();
    while firmware.epoch() == 0 {
        assert!(begun.elapsed() < LONG, "{:?}, {:?}", firmware.meter.status(), near.forwarder.counts());
        firmware.step(handle, &radio);
    }
    firmware.is_well(handle, &radio);
    near.running.stop().await.expect("it stops well");
    running.stop().await.expect("it stops well");
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_reports_from_elsewhere_push_no_genuine_one_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let station = SimulatedMeter::register(&folder.path().join("keys"), 7, Suite::Aes128Gcm, 1);
    let address = free_address();
    let running = far(folder.path(), address).await;
    let near = Concentrator::start(folder.path(), address).await;
    let mut meter = Meter::new(station, near.address());
    tokio::task::block_in_place(|| meter.reports());
    running.stop().await.expect("it stops well");

    // Said once, while its collector is away. Then the forger, in its name.
    let report = meter.station.report();
    meter.say(&report);
    until("a waiting report", || near.waiting() == 1).await;
    let (forger, mut rng) = (socket_at(FORGER, near.address()), StdRng::seed_from_u64(1));
    let reports = || near.forwarder.counts().reports.load(Ordering::Relaxed);
    for number_lsb in 0..64 {
        forged(&mut rng, 7, Suite::Aes128Gcm, number_lsb).iter().for_each(|packet| send(&forger, packet));
        until("a forged report", || reports() == 3 + u64::from(number_lsb)).await;
    }

    let running = far(folder.path(), address).await;
    let begun = Instant::now();
    let acknowledged = tokio::task::block_in_place(|| {
        while begun.elapsed() < WITHIN {
            if meter.hears_acknowledgement() {
                return true;
            }
        }
        false
    });
    println!("acknowledged: {acknowledged} after {:?}, {} waiting", begun.elapsed(), near.waiting());
    assert!(acknowledged, "the genuine report was pushed out");
    near.running.stop().await.expect("it stops well");
    running.stop().await.expect("it stops well");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_goes_on_upstream_as_a_trickle() {
    let folder = tempfile::tempdir().expect("a folder");
    let upstream = UdpSocket::bind("127.0.0.1:0").expect("a port");
    upstream.set_read_timeout(Some(Duration::from_millis(100))).expect("a time-out");
    let near = Concentrator::start(folder.path(), upstream.local_addr().expect("an address")).await;
    let flood = Flood::start(near.address(), 20_000, vec![(7, Suite::Ecies)]);
    let by_second = tokio::task::block_in_place(|| {
        let (begun, mut by_second) = (Instant::now(), [0; 5]);
        while let Some(second) = by_second.get_mut(begun.elapsed().as_secs() as usize) {
            *second += usize::from(upstream.recv(&mut [0; 100]).is_ok());
        }
        by_second
    });
    println!("{} forged, {by_second:?} upstream in each second", flood.sent.load(Ordering::Relaxed));
    assert!(by_second.iter().sum::<usize>() > 0, "unknown meters have a way, too");
    assert!(by_second.iter().all(|count| *count <= UPSTREAM_MAX), "{by_second:?}");
    drop(flood);
    assert_eq!(
        near.running.reader().outbox().expect("readable"),
        [],
        "unknown meters' reports are not stored"
    );
    near.running.stop().await.expect("it stops well");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn genuine_reports_pass_in_the_midst_of_a_flood() {
    let folder = tempfile::tempdir().expect("a folder");
    let suites = [Suite::Aes128Gcm, Suite::Ecies, Suite::EciesEcdsa];
    let stations: Vec<_> = (7..)
        .zip(suites)
        .map(|(meter, suite)| SimulatedMeter::register(&folder.path().join("keys"), meter, suite, 1))
        .collect();
    let address = free_address();
    let running = far(folder.path(), address).await;
    let near = Concentrator::start(folder.path(), address).await;
    let mut meters: Vec<_> =
        stations.into_iter().map(|station| Meter::new(station, near.address())).collect();
    // The last of them is as new to the concentrator as those that are forged.
    let known = meters.len() - 1;
    tokio::task::block_in_place(|| meters[..known].iter_mut().map(Meter::reports).count());

    let flood = Flood::start(near.address(), 5000, (7..).zip(suites).collect());
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = running.meters().snapshot().await.expect("counted");
    let begun = Instant::now();
    let longest: Vec<Duration> = tokio::task::block_in_place(|| {
        let longest = |meter: &mut Meter| (0..5).map(|_| meter.reports()).max().unwrap_or_default();
        meters.iter_mut().map(longest).collect()
    });
    let after = running.meters().snapshot().await.expect("counted");
    let upstream = (after.packets - before.packets) as f64;
    let seconds = begun.elapsed().as_secs_f64();
    let sent = flood.sent.load(Ordering::Relaxed);
    drop(flood);
    println!("longest: {longest:?}; {sent} forged; {upstream} datagrams upstream in {seconds:.2} s");
    assert!(longest.iter().all(|time| *time < WITHIN / 2), "{longest:?}");
    // The meters' own, each of at most three, again and again where the machine is slow.
    let own = 3.0 * 15.0 * (1.0 + seconds / AGAIN_AFTER.as_secs_f64() / 15.0);
    assert!(upstream < own + UPSTREAM_MAX as f64 * (1.0 + seconds), "{upstream} datagrams upstream");
    near.running.stop().await.expect("it stops well");
    running.stop().await.expect("it stops well");
}

/// A collector with the keys, and one source at its UDP gateway that sends all that it can:
/// `cargo test -p wattseal-collector --test suite gateway_of_all -- --ignored --nocapture`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement of ten seconds"]
async fn a_flood_at_the_gateway_of_all_leaves_room_for_others() {
    for suite in [Suite::Aes128Gcm, Suite::Ecies] {
        let folder = tempfile::tempdir().expect("a folder");
        let register = |meter| SimulatedMeter::register(&folder.path().join("keys"), meter, suite, 1);
        let (attacked, other) = (register(7), register(8));
        let address = free_address();
        let running = far(folder.path(), address).await;
        let meters = [Meter::new(attacked, address), Meter::new(other, address)];
        let flood = Flood::start(address, u32::MAX, vec![(7, suite)]);
        let begun = Instant::now();
        let lives = meters.map(|mut meter| {
            std::thread::spawn(move || {
                let mut times = Vec::new();
                while begun.elapsed() < Duration::from_secs(5) {
                    times.push(meter.reports());
                }
                times.sort();
                times
            })
        });
        let times =
            tokio::task::block_in_place(|| lives.map(|life| life.join().expect("all are acknowledged")));
        let (sent, seconds) = (flood.sent.load(Ordering::Relaxed), begun.elapsed().as_secs_f64());
        let snapshot = running.meters().snapshot().await.expect("counted");
        drop(flood);
        println!(
            "{}: {:.0} forged a second, {:.0} at the link, {} in all found its queue full",
            suite.name(),
            sent as f64 / seconds,
            snapshot.packets as f64 / seconds,
            snapshot.dropped_packets
        );
        for (whose, times) in ["the meter in whose name they are", "another"].into_iter().zip(&times) {
            println!(
                "{whose}: {} reports acknowledged after {:?} (median), {:?} (longest); {} not with the first attempt",
                times.len(),
                times[times.len() / 2],
                times[times.len() - 1],
                times.iter().filter(|time| **time >= AGAIN_AFTER).count()
            );
        }
        assert!(times[1].iter().all(|time| *time < WITHIN));
        running.stop().await.expect("it stops well");
    }
}
