//! Traces that go to somebody who takes none, or answers anything.
//!
//! Readings are acknowledged as ever, memory keeps its bounds, and the process ends when it is told
//! to.

use crate::concentrator::process::wattseal;
use crate::meters::station::SimulatedMeter;
use collector::gateway::udp::{datagram, parse};
use collector::gateway::{GatewayId, Route};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use testkit::ports::free_address;
use testkit::random::{Random, seed};
use wire::meter::{MessageKind, Packet, Suite};

const WITHIN: Duration = Duration::from_secs(30);
/// Reports that each collector has to acknowledge.
const REPORTS: u32 = 5;

type Answer = Arc<dyn Fn(&mut TcpStream) + Send + Sync>;

/// Takes requests, and answers each so. Counts them.
fn hostile_collector(answer: Answer) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound");
    let count = Arc::new(AtomicUsize::new(0));
    let counting = count.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, answer, counting) =
                (stream.expect("a connection"), answer.clone(), counting.clone());
            std::thread::spawn(move || {
                // A part of it is enough to answer wrongly.
                let mut request = [0; 4096];
                while stream.read(&mut request).is_ok_and(|length| length > 0) {
                    counting.fetch_add(1, Ordering::SeqCst);
                    answer(&mut stream);
                }
            });
        }
    });
    (address, count)
}

fn says(bytes: impl Into<Vec<u8>>) -> Answer {
    let bytes = bytes.into();
    Arc::new(move |stream| drop(stream.write_all(&bytes)))
}

/// A head, and then this again and again, until the client breaks off.
fn says_for_ever(head: &'static str, again: Vec<u8>, pause: Duration) -> Answer {
    Arc::new(move |stream| {
        let _ = stream.write_all(head.as_bytes());
        while stream.write_all(&again).is_ok() {
            std::thread::sleep(pause);
        }
    })
}

/// elsewhere: an address that is not to be asked.
fn answers(elsewhere: SocketAddr) -> Vec<(&'static str, Answer)> {
    let mut random = Random::new(seed());
    let garbage: Vec<u8> = (0..2000).map(|_| random.byte()).collect();
    let protobuf = [&b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n"[..], &[0xff; 12]].concat();
    let redirect = format!(
        "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://{elsewhere}/v1/traces\r\nContent-Length: 0\r\n\r\n"
    );
    let later = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 4000000000\r\nContent-Length: 0\r\n\r\n";
    let endless = "HTTP/1.1 200 OK\r\n\r\n";
    let bomb = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
    let announced = "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n";
    vec![
        ("hangs", Arc::new(|_| std::thread::sleep(WITHIN))),
        ("breaks off", Arc::new(|stream| drop(stream.shutdown(std::net::Shutdown::Both)))),
        ("any bytes", says(garbage)),
        ("no protobuf", says(protobuf)),
        ("a redirect", says(redirect)),
        ("later", says(later)),
        ("a body without an end", says_for_ever(endless, vec![0x0a; 1 << 20], Duration::ZERO)),
        ("an announced body without an end", says_for_ever(announced, vec![0; 1 << 20], Duration::ZERO)),
        ("a compressed body without an end", says_for_ever(bomb, vec![0x1f; 1 << 20], Duration::ZERO)),
        (
            "heads without an end",
            says_for_ever("HTTP/1.1 200 OK\r\n", b"a: b\r\n".repeat(1 << 12), Duration::ZERO),
        ),
        ("a byte a time", says_for_ever(endless, vec![0x0a], Duration::from_millis(20))),
    ]
}

/// A collector that sends traces of all packets; killed with this.
struct Collector {
    child: Child,
    udp: SocketAddr,
    meter: SimulatedMeter,
    socket: UdpSocket,
    _folder: tempfile::TempDir,
}

impl Collector {
    fn start(otlp: SocketAddr) -> Collector {
        let folder = tempfile::tempdir().expect("a folder");
        let meter = SimulatedMeter::register(&folder.path().join("wattseal.keys"), 7, Suite::Aes128Gcm, 1);
        let udp = free_address();
        let log = std::fs::File::create(folder.path().join("log")).expect("a file");
        let mut child = wattseal(folder.path())
            .args(["collect", "--listen", "127.0.0.1:0", "--udp", &udp.to_string()])
            .args(["--otlp", &format!("http://{otlp}")])
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("it runs");
        let mut said = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        assert!(said.any(|line| line.expect("text").starts_with("udp ")));
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        socket.set_read_timeout(Some(Duration::from_millis(500))).expect("a socket");
        Collector { child, udp, meter, socket, _folder: folder }
    }

    /// A report, until it is acknowledged.
    fn report(&mut self, what: &str) {
        let (packets, begun) = (self.meter.report(), Instant::now());
        let mut buffer = [0; 128];
        loop {
            for packet in &packets {
                let bytes = datagram(packet, Some(-61)).expect("it fits");
                self.socket.send_to(&bytes, self.udp).expect("sent");
            }
            while let Ok(length) = self.socket.recv(&mut buffer) {
                let (packet, _) = parse(&buffer[..length]).expect("a datagram");
                let packet = Packet::parse(packet).expect("a packet");
                if packet.kind == MessageKind::Acknowledgement {
                    let route = Route { gateway: GatewayId::of(0), peer: None };
                    let sent = (route, packet.kind, packet.suite, packet.body.to_vec());
                    if self.meter.acknowledged(&sent) == self.meter.n {
                        return;
                    }
                }
            }
            assert!(begun.elapsed() < WITHIN, "{what}: no acknowledgement");
        }
    }

    /// Bytes of memory that it had at most.
    fn most_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
    }

    /// As by SIGTERM. Returns how long it took.
    fn stop(&mut self) -> Duration {
        let begun = Instant::now();
        let told = Command::new("kill").arg(self.child.id().to_string()).status().expect("kill");
        assert!(told.success() && self.child.wait().expect("it ran").success());
        begun.elapsed()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn readings_are_acknowledged_under_any_trace_collector_answer() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").expect("a port");
    elsewhere.set_nonblocking(true).expect("a listener");
    let mut stands = Vec::new();
    for (what, answer) in answers(elsewhere.local_addr().expect("bound")) {
        let (address, requests) = hostile_collector(answer);
        stands.push((what, requests, Collector::start(address)));
    }
    let memory: Vec<u64> = stands.iter().map(|(.., collector)| collector.most_memory()).collect();
    for _ in 0..REPORTS {
        for (what, _, collector) in &mut stands {
            collector.report(what);
        }
    }
    let begun = Instant::now();
    for (what, requests, _) in &stands {
        while requests.load(Ordering::SeqCst) == 0 {
            assert!(begun.elapsed() < WITHIN, "{what}: nothing was sent");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    std::thread::sleep(Duration::from_millis(1500));
    for ((what, _, mut collector), before) in stands.into_iter().zip(memory) {
        collector.report(what);
        let more = collector.most_memory() - before;
        assert!(more < 48 << 20, "{what}: {} MB more", more >> 20);
        let took = collector.stop();
        assert!(took < Duration::from_secs(10), "{what}: it took {took:?}");
    }
    elsewhere.accept().expect_err("a redirect was followed");
}
