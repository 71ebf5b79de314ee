//! NATS servers with JetStream, Debian's, on loopback ports of their own, with a folder of their own. They are killed with what holds them,
//! also where a test panics, and with this process.

use crate::server_folder::ServerFolder;
use std::fs::{self, File};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const INSTALL: &str = "nats-server is missing; install it with: apt-get install nats-server";
/// Where Debian has it, which need not be in the path of who is not the superuser.
const SERVER: &str = "/usr/sbin/nats-server";
const WITHIN: Duration = Duration::from_secs(20);

/// One server, or several that are one cluster.
pub struct Nats {
    folder: ServerFolder,
    servers: Vec<Server>,
}

struct Server {
    port: u16,
    child: Option<Child>,
}

impl Nats {
    /// A server that everybody may use.
    ///
    /// # Panics
    /// Where it does not start.
    #[must_use]
    pub fn start() -> Nats {
        Nats::start_from(1, configuration)
    }

    /// Several servers that are one cluster.
    ///
    /// # Panics
    /// Where they do not start.
    #[must_use]
    pub fn start_cluster(count: usize) -> Nats {
        let routes = free_ports(count);
        let all: Vec<String> = routes.iter().map(|port| format!("nats-route://127.0.0.1:{port}")).collect();
        let all = all.join(", ");
        let cluster = |number: usize| {
            let route = routes[number];
            format!("cluster {{ name: test, listen: 127.0.0.1:{route}, routes: [{all}] }}")
        };
        Nats::start_from(count, |folder, number, port| configuration(folder, number, port) + &cluster(number))
    }

    /// Servers with a configuration that is made of their folder, each one's number, and its port.
    ///
    /// # Panics
    /// Where they do not start.
    #[must_use]
    pub fn start_from(count: usize, configuration: impl Fn(&Path, usize, u16) -> String) -> Nats {
        let folder = ServerFolder::make("nats");
        let ports = free_ports(count);
        for (number, port) in ports.iter().enumerate() {
            let text = configuration(folder.path(), number, *port);
            fs::write(folder.path().join(format!("{number}.conf")), text).expect("a file");
        }
        let servers = ports.into_iter().map(|port| Server { port, child: None }).collect();
        let mut nats = Nats { folder, servers };
        (0..count).for_each(|number| nats.run(number));
        nats
    }

    /// All servers, as `--nats` takes them.
    #[must_use]
    pub fn url(&self) -> String {
        self.url_with("nats")
    }

    /// The same with another scheme.
    #[must_use]
    pub fn url_with(&self, scheme: &str) -> String {
        let servers = self.servers.iter().map(|server| format!("{scheme}://127.0.0.1:{}", server.port));
        servers.collect::<Vec<_>>().join(",")
    }

    /// As if a server's power went.
    ///
    /// # Panics
    /// Where it does not run.
    pub fn kill(&mut self, number: usize) {
        assert!(self.servers[number].child.is_some(), "it runs");
        self.end(number);
    }

    fn process_file(&self, number: usize) -> PathBuf {
        self.folder.path().join(format!("{number}.pid"))
    }

    fn end(&mut self, number: usize) {
        let Some(mut child) = self.servers[number].child.take() else { return };
        let _ = child.kill();
        let _ = child.wait();
        // The number may be another process's from now on.
        let _ = fs::remove_file(self.process_file(number));
    }

    /// Starts a server again that was killed, with what it has on its disk.
    ///
    /// # Panics
    /// Where it does not start.
    pub fn run(&mut self, number: usize) {
        let log = self.folder.path().join(format!("{number}.log"));
        let file = File::options().create(true).append(true).open(&log).expect("a log");
        let child = Command::new(SERVER)
            .arg("-c")
            .arg(self.folder.path().join(format!("{number}.conf")))
            .arg("-P")
            .arg(self.process_file(number))
            .stdin(Stdio::null())
            .stdout(file.try_clone().expect("a file"))
            .stderr(file)
            .spawn()
            .expect(INSTALL);
        let server = &mut self.servers[number];
        let child = server.child.insert(child);
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", server.port)).is_err() {
            let ended = child.try_wait().expect("a child");
            if ended.is_some() || begun.elapsed() > WITHIN {
                panic!("a NATS server does not listen: {}", fs::read_to_string(&log).unwrap_or_default());
            }
            sleep(Duration::from_millis(20));
        }
    }
}

/// Everybody may do everything.
fn configuration(folder: &Path, number: usize, port: u16) -> String {
    let store = folder.join(format!("store-{number}"));
    format!(
        "server_name: n{number}\nlisten: 127.0.0.1:{port}\njetstream {{ store_dir: \"{}\" }}\n",
        store.display()
    )
}

impl Drop for Nats {
    fn drop(&mut self) {
        (0..self.servers.len()).for_each(|number| self.end(number));
    }
}

/// Ports that nobody has at the moment, all different.
fn free_ports(count: usize) -> Vec<u16> {
    let listeners: Vec<_> =
        (0..count).map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port")).collect();
    listeners.iter().map(|listener| listener.local_addr().expect("an address").port()).collect()
}
