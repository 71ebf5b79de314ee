//! MQTT brokers that lie, break off and say anything.
//!
//! None of them ends the publisher or fills its memory, and readings go on once one is honest. The
//! bytes are those of MQTT 3.1.1 (OASIS), written down here.

use super::{Fixture, WITHIN, fixture, meter, reading};
use collector::event::{Alert, Event};
use collector::publish::{Broker, WAITING_MAX};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};
use testkit::random::{Random, seed};

const CONNACK: [u8; 4] = [0x20, 2, 0, 0];
/// Packet types, MQTT 3.1.1, 2.2.1.
const PUBLISH: u8 = 3;
const SUBSCRIBE: u8 = 8;
const PING: u8 = 12;

type Attack = Box<dyn FnMut(&mut TcpStream) + Send>;

/// Attacks the first connections, one after the other, and is honest to those that follow.
struct HostileBroker {
    address: SocketAddr,
    /// When each connection came.
    connections: Arc<Mutex<Vec<Instant>>>,
    /// Topics and payloads, while it is honest.
    heard: Receiver<(String, Vec<u8>)>,
    subscribed: Arc<AtomicBool>,
}

/// A control packet; `None` where the connection ends, or says nothing for as long as it may.
fn next_packet(stream: &mut TcpStream) -> Option<(u8, Vec<u8>)> {
    let mut byte = [0];
    stream.read_exact(&mut byte).ok()?;
    let (first, mut length, mut shift) = (byte[0], 0, 0);
    loop {
        stream.read_exact(&mut byte).ok()?;
        length |= usize::from(byte[0] & 0x7f) << shift;
        shift += 7;
        if byte[0] < 0x80 {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some((first, body))
}

/// Topic, packet identifier and payload of a PUBLISH with QoS 1.
fn parts_of(body: &[u8]) -> (String, [u8; 2], Vec<u8>) {
    let length = usize::from(u16::from_be_bytes([body[0], body[1]]));
    let (topic, rest) = body[2..].split_at(length);
    (String::from_utf8(topic.to_vec()).expect("UTF-8"), [rest[0], rest[1]], rest[2..].to_vec())
}

fn puback([high, low]: [u8; 2]) -> [u8; 4] {
    [0x40, 2, high, low]
}

fn is_honest(stream: &mut TcpStream, said: &Sender<(String, Vec<u8>)>, subscribed: &AtomicBool) {
    let _ = stream.write_all(&CONNACK);
    while let Some((first, body)) = next_packet(stream) {
        match first >> 4 {
            PUBLISH => {
                let (topic, id, payload) = parts_of(&body);
                let _ = said.send((topic, payload));
                let _ = stream.write_all(&puback(id));
            }
            PING => drop(stream.write_all(&[0xd0, 0])),
            SUBSCRIBE => subscribed.store(true, Ordering::SeqCst),
            _ => {}
        }
    }
}

impl HostileBroker {
    fn start(mut attacks: Vec<Attack>) -> HostileBroker {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("bound");
        let (said, heard) = channel();
        let broker =
            HostileBroker { address, connections: Arc::default(), heard, subscribed: Arc::default() };
        let (connections, subscribed) = (broker.connections.clone(), broker.subscribed.clone());
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let mut stream = stream.expect("a connection");
                connections.lock().expect("nobody panics").push(Instant::now());
                let connect = next_packet(&mut stream);
                match (connect, attacks.get_mut(number)) {
                    (None, _) => {}
                    (_, Some(attack)) => attack(&mut stream),
                    _ => is_honest(&mut stream, &said, &subscribed),
                }
            }
        });
        broker
    }

    fn broker(&self) -> Broker {
        format!("mqtt://{}", self.address).parse().expect("a broker")
    }

    /// Returns the number of connections.
    fn count(&self) -> usize {
        self.connections.lock().expect("nobody panics").len()
    }

    /// The numbers of readings that come, up to this one; and how many messages there were.
    fn readings_until(&self, last: u32, what: &str) -> (Vec<u32>, usize) {
        let (begun, mut numbers, mut messages) = (Instant::now(), Vec::new(), 0);
        while numbers.last() != Some(&last) {
            let left = WITHIN.saturating_sub(begun.elapsed());
            let (topic, payload) = match self.heard.recv_timeout(left) {
                Ok(heard) => heard,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("{what}: {last} does not come; {} of {messages} did", numbers.len())
                }
            };
            messages += 1;
            if topic == "wattseal/258/reading" {
                let whole: Value = serde_json::from_slice(&payload).expect("JSON");
                numbers.push(whole["n"].as_u64().expect("a number") as u32);
            }
        }
        (numbers, messages)
    }
}

/// Hears the client until it breaks off, for up to this long.
fn listen(stream: &mut TcpStream, for_ms: u64) {
    let begun = Instant::now();
    stream.set_read_timeout(Some(Duration::from_millis(50))).expect("a socket");
    let mut buffer = [0; 4096];
    while begun.elapsed() < Duration::from_millis(for_ms) {
        match stream.read(&mut buffer) {
            Ok(0) => return,
            Err(error) if !matches!(error.kind(), std::io::ErrorKind::WouldBlock) => return,
            _ => {}
        }
    }
}

/// Says this instead of CONNACK, or with one before it.
fn says(bytes: impl Into<Vec<u8>>) -> Attack {
    let bytes = bytes.into();
    Box::new(move |stream| {
        let _ = stream.write_all(&bytes);
        listen(stream, 300);
    })
}

fn says_connected(bytes: impl AsRef<[u8]>) -> Attack {
    says([&CONNACK[..], bytes.as_ref()].concat())
}

/// Answers each message so, once.
fn answers(mut answer: impl FnMut([u8; 2]) -> Vec<u8> + Send + 'static) -> Attack {
    Box::new(move |stream| {
        let _ = stream.write_all(&CONNACK);
        stream.set_read_timeout(Some(Duration::from_millis(300))).expect("a socket");
        while let Some((first, body)) = next_packet(stream) {
            if first >> 4 == PUBLISH && stream.write_all(&answer(parts_of(&body).1)).is_err() {
                return;
            }
        }
    })
}

/// A retained message under a topic, with this QoS.
fn retained(topic: &[u8], qos: u8, payload: &[u8]) -> Vec<u8> {
    let id: &[u8] = if qos == 0 { &[] } else { &[0, 9] };
    let body = [&(topic.len() as u16).to_be_bytes()[..], topic, id, payload].concat();
    [&[0x31 | qos << 1, body.len() as u8][..], &body].concat()
}

/// Each attack with its name.
fn attacks(random: &mut Random) -> Vec<(String, Attack)> {
    let mut all: Vec<(String, Attack)> = vec![
        ("is closed at once".into(), Box::new(|_| {})),
        ("closed behind CONNACK".into(), Box::new(|stream| drop(stream.write_all(&CONNACK)))),
        ("CONNACK twice".into(), says_connected(CONNACK)),
        ("half a CONNACK".into(), says(&CONNACK[..3])),
        ("another answer".into(), says([0xd0, 0])),
        ("a session that there was not".into(), says([0x20, 2, 1, 0])),
        ("256 MB are announced".into(), says_connected([0x30, 0xff, 0xff, 0xff, 0x7f, 0, 1, b'a'])),
        ("a length without an end".into(), says_connected([0x30, 0xff, 0xff, 0xff, 0xff, 0xff])),
        ("a topic that is longer than its packet".into(), says_connected([0x30, 4, 0xff, 0xff, b'a', b'b'])),
        ("no topic".into(), says_connected([0x30, 0])),
        ("an unsolicited answer to a ping".into(), says_connected([0xd0, 0, 0xd0, 0])),
        ("PUBREC for QoS 1".into(), answers(|[high, low]| vec![0x50, 2, high, low])),
        (
            "PUBREC, and PUBCOMP twice".into(),
            answers(|[high, low]| vec![0x50, 2, high, low, 0x70, 2, high, low, 0x70, 2, high, low]),
        ),
        ("PUBACK twice".into(), answers(|id| [puback(id), puback(id)].concat())),
        ("PUBACK of another".into(), answers(|[high, low]| puback([high, low ^ 0x15]).to_vec())),
        ("a flood".into(), says_connected(retained(b"wattseal/258/command", 1, b"reboot").repeat(2000))),
    ];
    for code in [1, 2, 3, 4, 5, 6, 255] {
        all.push((format!("refused with {code}"), says([0x20, 2, 0, code])));
    }
    // Acknowledgements of nothing: PUBACK, PUBREC, PUBREL, PUBCOMP, SUBACK, UNSUBACK.
    for first in [0x40, 0x50, 0x62, 0x70, 0x90, 0xb0] {
        for id in [[0, 0], [0, 77], [0xff, 0xff]] {
            let bytes = [first, 2, id[0], id[1]];
            all.push((format!("{first:02x} of {id:?}"), says_connected(bytes)));
        }
    }
    // Packets that only clients send, and types that there are not.
    for first in [0x00, 0x10, 0x82, 0xa2, 0xc0, 0xe0, 0xf0] {
        all.push((format!("a packet of type {first:02x}"), says_connected([first, 2, 0, 4])));
    }
    for topic in [
        &b"wattseal/258/command"[..],
        b"wattseal/status",
        b"$SYS/broker",
        b"homeassistant/+/#",
        b"a\0b",
        b"\xff",
    ] {
        for qos in 0..4 {
            all.push((format!("{topic:?} with QoS {qos}"), says_connected(retained(topic, qos, b"{}"))));
        }
    }
    for round in 0..16 {
        let bytes: Vec<u8> = (0..1 + random.below(400)).map(|_| random.byte()).collect();
        let begun = if round % 2 == 0 { says(bytes) } else { says_connected(bytes) };
        all.push((format!("any bytes, {round}"), begun));
    }
    all
}

fn tell(fixture: &Fixture, numbers: impl Iterator<Item = u32>) {
    numbers.for_each(|n| fixture.tell(reading(n)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readings_go_on_behind_each_attack_of_a_broker() {
    let seed = seed();
    let mut stands = Vec::new();
    for (what, attack) in attacks(&mut Random::new(seed)) {
        let (broker, fixture) = (HostileBroker::start(vec![attack]), fixture());
        let publisher = fixture.publisher(broker.broker());
        tell(&fixture, 1..=5);
        stands.push((what, broker, fixture, publisher));
    }
    for (what, broker, fixture, publisher) in stands {
        let what = format!("seed {seed}: {what}");
        let begun = Instant::now();
        while broker.count() < 2 {
            assert!(begun.elapsed() < WITHIN, "{what}: no second connection");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        tell(&fixture, 6..=10);
        let (numbers, _) = broker.readings_until(10, &what);
        // Those before were taken by the attacker, or come now.
        assert!(numbers.ends_with(&[6, 7, 8, 9, 10]), "{what}: {numbers:?}");
        assert!(numbers.is_sorted_by(|a, b| a < b), "{what}: {numbers:?}");
        assert!(!broker.subscribed.load(Ordering::SeqCst), "{what}: it hears what a broker says");
        publisher.stop().await;
    }
}

/// One message waits for another's identifier when the connection ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broker_acknowledging_out_of_order_and_dying_stops_nothing() {
    let attack: Attack = Box::new(|stream| {
        let _ = stream.write_all(&CONNACK);
        stream.set_read_timeout(Some(Duration::from_millis(500))).expect("a socket");
        let mut ids = Vec::new();
        while let Some((first, body)) = next_packet(stream) {
            if first >> 4 == PUBLISH {
                ids.push(parts_of(&body).1);
            }
            // All are in flight that may be; of those it takes one from the midst.
            if ids.len() == 100 {
                let _ = stream.write_all(&puback(ids[50]));
            }
        }
        assert!(ids.len() >= 100, "{}", ids.len());
    });
    let (broker, fixture) = (HostileBroker::start(vec![attack]), fixture());
    let publisher = fixture.publisher(broker.broker());
    tell(&fixture, 1..=200);
    let (mut numbers, _) = broker.readings_until(200, "out of order");
    numbers.sort_unstable();
    numbers.dedup();
    // But for the one that was acknowledged, where that was a whole reading.
    assert!(numbers.len() >= 199, "{numbers:?}");
    publisher.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_that_never_acknowledges_fills_no_memory() {
    const READINGS: u32 = 4000;
    let (told, is_told) = channel();
    let attack: Attack = Box::new(move |stream| {
        let _ = stream.write_all(&CONNACK);
        stream.set_nonblocking(false).expect("a socket");
        let _ = is_told.recv_timeout(WITHIN);
    });
    let (broker, fixture) = (HostileBroker::start(vec![attack]), fixture());
    let publisher = fixture.publisher(broker.broker());
    tell(&fixture, 1..=READINGS);
    let begun = Instant::now();
    while !fixture.events.is_empty() {
        assert!(begun.elapsed() < WITHIN, "events are not taken");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    told.send(()).expect("it waits");
    let (numbers, messages) = broker.readings_until(READINGS, "never acknowledged");
    // Three of each reading, of which the oldest went; what is said at a connection comes before.
    assert!(numbers.is_sorted_by(|a, b| a < b) && messages <= WAITING_MAX + 8, "{messages} messages");
    assert!(numbers.len() > WAITING_MAX / 3 - 100, "{} readings", numbers.len());
    publisher.stop().await;
}

/// Each connection has all meters read and said. One that ends at once is no reason to do that
/// each second for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broker_dropping_connections_is_retried_ever_more_rarely() {
    let drops = || -> Attack {
        Box::new(|stream| {
            let _ = stream.write_all(&CONNACK);
            if let Some((_, body)) = next_packet(stream) {
                let _ = stream.write_all(&puback(parts_of(&body).1));
            }
            sleep(Duration::from_millis(50));
        })
    };
    let (broker, fixture) = (HostileBroker::start(vec![drops(), drops()]), fixture());
    let publisher = fixture.publisher(broker.broker());
    tell(&fixture, 1..=5);
    broker.readings_until(5, "dropped");
    let connections = broker.connections.lock().expect("nobody panics").clone();
    let pauses: Vec<Duration> = connections.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(pauses.len() == 2 && pauses[1] >= Duration::from_secs(2), "{pauses:?}");
    publisher.stop().await;
}

/// A message that is refused for its length would come first at each connection, for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_alert_stops_nothing() {
    let (broker, fixture) = (HostileBroker::start(Vec::new()), fixture());
    let publisher = fixture.publisher(broker.broker());
    let detail = "x".repeat(100_000);
    fixture.tell(Event::Alert(Alert { id: 1, meter: None, at_s: 5, cause: "store".into(), detail }));
    tell(&fixture, 1..=5);
    broker.readings_until(5, "a long alert");
    assert_eq!(broker.count(), 1);
    publisher.stop().await;
}

/// More is said at a connection than may wait: nothing of that makes room for readings.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_meters_than_queue_slots_are_all_announced() {
    const METERS: usize = WAITING_MAX / 2 + 1000;
    let (broker, fixture) = (HostileBroker::start(Vec::new()), fixture());
    *fixture.meters.lock().expect("nobody panics") =
        (1..=METERS as u16).map(|id| meter(id, "Flat")).collect();
    let publisher = fixture.publisher(broker.broker());
    let (mut announced, mut is_online, mut n) = (BTreeSet::new(), false, 0);
    let begun = Instant::now();
    while announced.len() < 2 * METERS {
        n += 1;
        fixture.tell(reading(n));
        assert!(begun.elapsed() < WITHIN, "{} of {} are announced", announced.len(), 2 * METERS);
        tokio::time::sleep(Duration::from_millis(2)).await;
        while let Ok((topic, payload)) = broker.heard.try_recv() {
            is_online |= topic == "wattseal/status" && payload == b"online";
            if topic.starts_with("homeassistant/") {
                announced.insert(topic);
            }
        }
    }
    assert!(is_online);
    // Those of before may have been heard above.
    fixture.tell(reading(n + 1));
    broker.readings_until(n + 1, "behind the announcements");
    publisher.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_that_hangs_holds_nobody_up_who_stops() {
    let hangs = |bytes: &'static [u8]| -> Attack {
        Box::new(move |stream| {
            let _ = stream.write_all(bytes);
            sleep(WITHIN);
        })
    };
    for bytes in [&[][..], &CONNACK] {
        let (broker, fixture) = (HostileBroker::start(vec![hangs(bytes)]), fixture());
        *fixture.meters.lock().expect("nobody panics") = (1..=500).map(|id| meter(id, "Flat")).collect();
        let publisher = fixture.publisher(broker.broker());
        tell(&fixture, 1..=1000);
        while broker.count() == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        let begun = Instant::now();
        publisher.stop().await;
        assert!(begun.elapsed() < Duration::from_secs(6), "{:?}", begun.elapsed());
    }
}
