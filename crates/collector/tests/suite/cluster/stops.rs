//! The roles as processes, which are killed, stopped for a while, and started again.

use super::{Radio, WITHIN, until};
use crate::concentrator::process::wattseal;
use crate::meters::station::SimulatedMeter;
use crate::meters::stored;
use collector::gateway::{GatewayId, Route};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use testkit::nats;
use testkit::ports::free_address;
use wire::meter::{CommandResult, MessageKind, Suite};

/// A role as a process. It is killed with this.
pub struct Process {
    child: Child,
    /// The addresses that it reported, by name.
    said: Vec<(String, String)>,
}

impl Process {
    /// Starts a role, whose log goes to `name.log`, and returns once it said `lines` lines.
    pub fn start(folder: &Path, name: &str, lines: usize, arguments: &[&str]) -> Process {
        let log = folder.join(format!("{name}.log"));
        let file = File::options().create(true).append(true).open(&log).expect("a log");
        let mut child = wattseal(folder)
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(file)
            .spawn()
            .expect("the binary under test runs");
        let said =
            BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok).take(lines);
        let said: Vec<_> = said
            .filter_map(|line| line.split_once(' ').map(|(name, at)| (name.to_owned(), at.to_owned())))
            .collect();
        if said.len() < lines {
            let _ = child.kill();
            panic!("{name} does not start: {}", std::fs::read_to_string(log).unwrap_or_default());
        }
        Process { child, said }
    }

    fn worker(folder: &Path, url: &str, name: &str, db: &str) -> Process {
        Process::worker_of(folder, url, name, &format!("{db}.db"), &[])
    }

    /// more: arguments.
    pub fn worker_of(folder: &Path, url: &str, name: &str, db: &str, more: &[&str]) -> Process {
        let fixed = ["--keys", "keys", "--health", "127.0.0.1:0", "--verifiers", "1"];
        Process::start(folder, name, 1, &[&["worker", "--nats", url, "--db", db][..], &fixed, more].concat())
    }

    pub fn gateway(folder: &Path, url: &str, udp: &str) -> Process {
        Process::start(folder, "hall", 1, &["gateway", "--nats", url, "--name", "hall", "--udp", udp])
    }

    pub fn address(&self, name: &str) -> SocketAddr {
        let (_, at) = self.said.iter().find(|(said, _)| said == name).expect("it says it");
        let at = at.strip_prefix("http://").unwrap_or(at);
        at.split('/').next().expect("an address").parse().expect("an address")
    }

    pub fn signal(&self, signal: &str) {
        let told = Command::new("kill").args([signal, &self.child.id().to_string()]).status().expect("kill");
        assert!(told.success());
    }

    /// It stands still when this returns: the signal stops one thread, and that the others, which
    /// on a busy machine is later.
    pub fn pause(&self) {
        self.signal("-STOP");
        let tasks = format!("/proc/{}/task", self.child.id());
        let stands = || {
            let mut tasks =
                std::fs::read_dir(&tasks).expect("it runs").map(|task| task.expect("a thread").path());
            tasks.all(|task| {
                let stat = std::fs::read_to_string(task.join("stat")).unwrap_or_default();
                // Behind the name, in which there may be anything.
                stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T'))
            })
        };
        until("all its threads stand still", stands);
    }

    /// As if its power went.
    pub fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ran");
    }

    /// As by systemd: it says so with exit code 0.
    pub fn stop(mut self) {
        self.signal("-TERM");
        assert_eq!(self.child.wait().expect("it ran").code(), Some(0));
    }

    pub fn asked(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.address("health")).expect("it listens");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .expect("it listens");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    /// The most that it had of the machine's memory.
    pub fn most_memory_mb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a figure");
        most.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") / 1024
    }

    fn holds(&self) -> bool {
        self.asked("/metrics").contains("wattseal_worker_partition_fence{partition=\"0.0\"}")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn killed_worker_or_gateway_loses_and_doubles_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (folder, server) = (folder.path(), nats::Nats::start());
    let url = server.url();
    let keys = folder.join("keys");
    let mut meters = [
        SimulatedMeter::register(&keys, 258, Suite::Aes128Gcm, 1),
        SimulatedMeter::register(&keys, 259, Suite::EciesEcdsa, 1),
    ];
    let mut workers = vec![Process::worker(folder, &url, "w0", "one")];
    let mut gateway = Process::gateway(folder, &url, "127.0.0.1:0");
    let at = gateway.address("udp");
    let radio = Radio::near(at);
    let report = |meters: &mut [SimulatedMeter; 2]| meters.iter_mut().map(|meter| radio.report(meter)).max();
    report(&mut meters);
    let mut takeovers = Vec::new();
    for round in 1..=2 {
        // Of those with one database of SQLite, one works and the others wait for it.
        workers.push(Process::worker(folder, &url, &format!("w{round}"), "one"));
        until("it waits for the database", || {
            workers[1].asked("/health/ready").contains("in use by another service")
        });
        for _ in 0..5 {
            report(&mut meters);
        }
        // Heard, and not acknowledged before it is killed, or acknowledged just then.
        let last = meters[0].report();
        radio.send(&last);
        let begun = Instant::now();
        workers.remove(0).kill();
        radio.deliver(&meters[0], &last);
        takeovers.push(begun.elapsed());
        report(&mut meters);
        assert!(workers[0].holds());
    }
    println!("after a worker was killed the next acknowledged after {takeovers:?}");
    assert!(takeovers.iter().min().expect("two") < &Duration::from_secs(5), "{takeovers:?}");
    // Meters find a gateway there again after it was started anew, and keep what it did not hear.
    gateway.kill();
    let missed = meters[1].report();
    radio.send(&missed);
    gateway = Process::gateway(folder, &url, &at.to_string());
    radio.deliver(&meters[1], &missed);
    report(&mut meters);
    workers.remove(0).stop();
    gateway.stop();
    for meter in &meters {
        let name = meter.provision.setup().meter;
        assert_eq!(stored(&folder.join("one.db"), name), Vec::from_iter(1..=meter.n), "meter {name}");
    }
}

/// The API of a worker, with its store and its sessions: a command goes by NATS to the meter, and
/// its answer back.
#[test]
fn a_worker_shows_what_it_has_and_sends_commands() {
    let folder = tempfile::tempdir().expect("a folder");
    let (folder, server) = (folder.path(), nats::Nats::start());
    let (url, listen) = (server.url(), free_address());
    let mut meter = SimulatedMeter::register(&folder.join("keys"), 258, Suite::Aes128Gcm, 1);
    let token = ["tokens", "add", "me", "--role", "administrator", "--db", "one.db"];
    let token = wattseal(folder).args(token).output().expect("it runs").stdout;
    let token = String::from_utf8(token).expect("text");
    let worker = ["worker", "--nats", &url, "--db", "one.db", "--keys", "keys", "--health", "127.0.0.1:0"];
    let worker =
        Process::start(folder, "one", 1, &[&worker[..], &["--listen", &listen.to_string()]].concat());
    let gateway = Process::gateway(folder, &url, "127.0.0.1:0");
    let radio = Radio::near(gateway.address("udp"));
    radio.report(&mut meter);
    let ask = |method: &str, path: &str, body: &str| {
        let mut stream = TcpStream::connect(listen).expect("it listens");
        write!(
            stream,
            "{method} /api/v1/{path} HTTP/1.1\r\nHost: {listen}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            token.trim(),
            body.len()
        )
        .expect("it listens");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    };
    let ordered = ask("POST", "meters/258/commands", r#"{"command": "reboot"}"#);
    assert!(ordered.starts_with("HTTP/1.1 201"), "{ordered}");
    let begun = Instant::now();
    let m = loop {
        if let Some((MessageKind::Command, suite, bytes)) = radio.hear(Duration::from_secs(1)) {
            let route = Route { gateway: GatewayId::of(0), peer: None };
            let (m, command) = meter.command(&(route, MessageKind::Command, suite, bytes));
            assert_eq!(command, wire::meter::Command::Reboot);
            break m;
        }
        assert!(begun.elapsed() < WITHIN, "no command comes");
    };
    let answer = meter.answer(m, CommandResult::Done);
    radio.send(&answer);
    until("it is done", || ask("GET", "meters/258/commands", "").contains(r#""state":"done""#));
    worker.stop();
}

/// A worker that is stopped for longer than its lease finds packets when it goes on, which came
/// meanwhile, and another has its partition.
#[test]
fn worker_stopped_beyond_its_lease_writes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (folder, server) = (folder.path(), nats::Nats::start());
    let url = server.url();
    let mut meter = SimulatedMeter::register(&folder.join("keys"), 258, Suite::Aes128Gcm, 1);
    let one = Process::worker(folder, &url, "one", "one");
    let gateway = Process::gateway(folder, &url, "127.0.0.1:0");
    let radio = Radio::near(gateway.address("udp"));
    for _ in 0..3 {
        radio.report(&mut meter);
    }
    one.pause();
    // They come to it, and are delivered to the next when it has the partition.
    let report = meter.report();
    (0..3).for_each(|_| radio.send(&report));
    assert!(!radio.is_acknowledged(&meter, 4, Duration::from_millis(500)), "it is stopped");
    let begun = Instant::now();
    let two = Process::worker(folder, &url, "two", "two");
    until("the other takes it", || two.holds());
    let first = until("what was delivered to the first comes again", || {
        radio.is_acknowledged(&meter, 4, Duration::from_millis(100))
    });
    println!("acknowledged {first:?} after it was taken, {:?} in all", begun.elapsed());
    assert_eq!(stored(&folder.join("two.db"), 258), [4]);

    one.signal("-CONT");
    until("it knows", || one.asked("/metrics").contains("wattseal_worker_leases_lost_total 1\n"));
    for _ in 0..5 {
        radio.report(&mut meter);
    }
    std::thread::sleep(Duration::from_secs(1));
    assert!(two.holds());
    // First, because it may have the partition again when the other gives it up.
    one.stop();
    two.stop();
    assert_eq!(stored(&folder.join("two.db"), 258), Vec::from_iter(4..=9));
    assert_eq!(stored(&folder.join("one.db"), 258), [1, 2, 3], "it wrote what was another's");
}
