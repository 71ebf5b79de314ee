//! `wattseal collect` as a process.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use testkit::ports::free_address;

/// The longest wait for an expected event: the machine may be busy.
pub const WITHIN: Duration = Duration::from_secs(120);

/// The binary under test, in a folder.
pub fn wattseal(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wattseal-collector"));
    command.current_dir(folder);
    command
}

/// A collector that runs. It is killed with this.
pub struct Collector {
    folder: PathBuf,
    name: String,
    forward: Option<SocketAddr>,
    /// An administrator's.
    token: String,
    child: Child,
    /// The address that meters send to.
    pub udp: SocketAddr,
    http: SocketAddr,
}

impl Collector {
    /// With `name.db`, `name.keys` and `name.log`.
    pub fn start(folder: &Path, name: &str, forward: Option<SocketAddr>) -> Collector {
        // Meters find it there again after a restart.
        let udp = free_address();
        let token = ["tokens", "add", "test", "--role", "administrator", "--db", &format!("{name}.db")];
        let made = wattseal(folder).args(token).output().expect("the binary under test runs");
        let token = String::from_utf8(made.stdout).expect("text").trim().to_owned();
        assert!(token.starts_with("wst_"), "{}", String::from_utf8_lossy(&made.stderr));
        let (child, http) = run(folder, name, udp, forward);
        Collector { folder: folder.into(), name: name.into(), forward, token, child, udp, http }
    }

    /// As if its power went.
    pub fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ran");
    }

    /// After it was killed.
    pub fn restart(&mut self) {
        (self.child, self.http) = run(&self.folder, &self.name, self.udp, self.forward);
    }

    /// As by Ctrl-C: it says so with exit code 0.
    pub fn stop(&mut self) {
        let told = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().expect("kill");
        assert!(told.success());
        let ended = self.child.wait().expect("it ran");
        assert_eq!(ended.code(), Some(0));
    }

    /// Tells a meter something, and returns the command's id.
    pub fn command(&self, meter: u16, body: &str) -> String {
        let answer = self.ask("POST", &format!("/api/v1/meters/{meter}/commands"), body);
        assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
        let id = answer.split_once("\"id\":").expect("an id").1;
        id.chars().take_while(char::is_ascii_digit).collect()
    }

    /// Returns the API's answer.
    pub fn get(&self, path: &str) -> String {
        let answer = self.ask("GET", path, "");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        answer
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(self.http).expect("it listens");
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.http,
            self.token,
            body.len()
        )
        .expect("it listens");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts it, and returns it with the address of its API once it runs.
fn run(folder: &Path, name: &str, udp: SocketAddr, forward: Option<SocketAddr>) -> (Child, SocketAddr) {
    let log =
        File::options().create(true).append(true).open(folder.join(format!("{name}.log"))).expect("a log");
    let mut command = wattseal(folder);
    command
        .args([
            "collect",
            "--listen",
            "127.0.0.1:0",
            "--zone",
            "UTC",
            "--verifiers",
            "2",
            "--udp",
            &udp.to_string(),
        ])
        .args(["--db", &format!("{name}.db"), "--keys", &format!("{name}.keys")]);
    if let Some(forward) = forward {
        command.args(["--forward", &forward.to_string()]);
    }
    let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().expect("the binary under test runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    let url = lines.find_map(|line| line.strip_prefix("dashboard http://").map(str::to_owned));
    let Some(url) = url else {
        let log = std::fs::read_to_string(folder.join(format!("{name}.log"))).unwrap_or_default();
        panic!("{name} does not start: {log}");
    };
    (child, url.trim_end_matches('/').parse().expect("an address"))
}
