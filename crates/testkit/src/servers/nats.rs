//! NATS servers with JetStream.

use crate::servers::ServerError;
use crate::servers::process::{Process, tail};
use rustix::process::Signal;
use std::fs::OpenOptions;
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Path in Debian; the search path of a user without privileges need not have it.
const SERVER: &str = "/usr/sbin/nats-server";
const WITHIN: Duration = Duration::from_secs(20);
/// A port of the superuser's alone.
const NOBODY: &str = "127.0.0.1:1";

/// A server, which runs or does not.
pub struct Nats {
    folder: PathBuf,
    name: String,
    port: u16,
    process: Option<Process>,
}

/// The configuration of one server. Without accounts everybody may use it.
#[must_use]
pub fn configuration(folder: &Path, name: &str, port: u16) -> String {
    let store = folder.join(format!("store-{name}"));
    format!(
        "server_name: \"{name}\"\nlisten: 127.0.0.1:{port}\njetstream {{ store_dir: \"{}\" }}\n",
        store.display()
    )
}

/// Returns the configuration of a server of a cluster. routes: the ports at which they hear each
/// other; its own is the one with this index. Clients are not told of the others: they know them,
/// or see one by another way.
#[must_use]
pub fn cluster_configuration(routes: &[u16], index: usize) -> String {
    let all: Vec<String> = routes.iter().map(|port| format!("nats-route://127.0.0.1:{port}")).collect();
    let (own, all) = (routes[index], all.join(", "));
    format!("cluster {{ name: wattseal, listen: 127.0.0.1:{own}, routes: [{all}], no_advertise: true }}\n")
}

/// The same where servers hear each other by relays alone. own: the port at which it hears the
/// others. to: those by which it gets to them. It tells the others of an address at which nobody
/// is, as they do, and takes that for its own: so none is told of a way around a relay. password: a
/// server without it joins none of them.
#[must_use]
pub fn relayed_cluster_configuration(own: u16, to: &[u16], password: &str) -> String {
    let route = |to: String| format!("nats-route://route:{password}@{to}");
    let all: Vec<String> = to.iter().map(|port| route(format!("127.0.0.1:{port}"))).collect();
    // JetStream takes as many servers to be there as there are routes: its own is among them.
    let (nobody, all) = (route(NOBODY.to_owned()), all.join(", "));
    format!(
        "cluster {{\nname: wattseal, listen: 127.0.0.1:{own}, advertise: \"{NOBODY}\", no_advertise: true\n\
         authorization {{ user: route, password: \"{password}\" }}\nroutes: [{nobody}, {all}]\n}}\n"
    )
}

impl Nats {
    /// One that does not run yet, with its files in a folder.
    ///
    /// # Errors
    /// If its configuration cannot be written.
    pub fn new(folder: &Path, name: &str, port: u16, configuration: &str) -> Result<Nats, ServerError> {
        let nats = Nats { folder: folder.to_owned(), name: name.to_owned(), port, process: None };
        nats.configure(configuration)?;
        Ok(nats)
    }

    /// Gives it another configuration, which it has when it is started next.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn configure(&self, configuration: &str) -> Result<(), ServerError> {
        let file = self.folder.join(format!("{}.conf", self.name));
        let io = |error| ServerError::io(file.display().to_string())(error);
        // It may have a password.
        let mut options = OpenOptions::new();
        let opened = options.write(true).create(true).truncate(true).mode(0o600).open(&file);
        opened.map_err(io)?.write_all(configuration.as_bytes()).map_err(io)
    }

    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    #[must_use]
    pub fn is_running(&self) -> bool {
        self.process.is_some()
    }

    /// Starts it, or starts it again with what it has on its disk; returns once it listens.
    ///
    /// # Errors
    /// If it does not start.
    pub fn run(&mut self) -> Result<(), ServerError> {
        if !Path::new(SERVER).exists() {
            return Err(ServerError::Missing { program: SERVER.into(), package: "nats-server" });
        }
        let file = |ending: &str| self.folder.join(format!("{}.{ending}", self.name));
        let mut command = Command::new(SERVER);
        command.arg("-c").arg(file("conf")).arg("-P").arg(file("pid"));
        let mut process = Process::start(&mut command, &file("log"), file("pid"))?;
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            if process.is_over() || begun.elapsed() > WITHIN {
                let what = format!("the NATS server {}", self.name);
                return Err(ServerError::Silent { what, log: tail(&file("log")) });
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        self.process = Some(process);
        Ok(())
    }

    /// As if its power went.
    ///
    /// # Errors
    /// The system's error.
    pub fn kill(&mut self) -> Result<(), ServerError> {
        self.process.take().map_or(Ok(()), Process::kill)
    }

    /// Holds it, as a machine that hangs, or lets it go on.
    pub fn hold(&self, hold: bool) {
        if let Some(process) = &self.process {
            process.tell(if hold { Signal::STOP } else { Signal::CONT });
        }
    }
}
