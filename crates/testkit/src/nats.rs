//! NATS servers with JetStream, Debian's, on loopback ports of their own, with a folder of their
//! own. They are killed with what holds them, also where a test panics, and with this process.

use crate::servers::folder::ServerFolder;
use crate::servers::nats;
pub use crate::servers::nats::cluster_configuration;
use crate::servers::ports::free_ports;
use std::path::Path;

/// One server, or several that are one cluster.
pub struct Nats {
    // In this order they end.
    servers: Vec<nats::Nats>,
    folder: ServerFolder,
}

impl Nats {
    /// A server that everybody may use.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn start() -> Nats {
        Nats::start_from(1, configuration)
    }

    /// A server with accounts of users, or something else beside what every one has.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn start_with(more: &str) -> Nats {
        Nats::start_from(1, |folder, number, port| configuration(folder, number, port) + more)
    }

    /// Several servers that are one cluster.
    ///
    /// # Panics
    /// If they do not start.
    #[must_use]
    pub fn start_cluster(count: usize) -> Nats {
        let routes = free_ports(count).expect("free ports");
        let cluster = |number| nats::cluster_configuration(&routes, number);
        Nats::start_from(count, |folder, number, port| configuration(folder, number, port) + &cluster(number))
    }

    /// Servers with a configuration that is made of their folder, each one's number, and its port.
    ///
    /// # Panics
    /// If they do not start.
    #[must_use]
    pub fn start_from(count: usize, configuration: impl Fn(&Path, usize, u16) -> String) -> Nats {
        let folder = ServerFolder::make("nats").expect("a folder");
        let ports = free_ports(count).expect("free ports");
        let server = |(number, port): (usize, u16)| {
            let text = configuration(folder.path(), number, port);
            nats::Nats::new(folder.path(), &number.to_string(), port, &text).expect("a file")
        };
        let servers = ports.into_iter().enumerate().map(server).collect();
        let mut nats = Nats { servers, folder };
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
        let servers = self.servers.iter().map(|server| format!("{scheme}://127.0.0.1:{}", server.port()));
        servers.collect::<Vec<_>>().join(",")
    }

    /// Kills all servers, and starts them with another configuration and what they have on their
    /// disks.
    ///
    /// # Panics
    /// If they do not start.
    pub fn restart_from(&mut self, configuration: impl Fn(&Path, usize, u16) -> String) {
        for (number, server) in self.servers.iter_mut().enumerate() {
            server.kill().expect("killed");
            let text = configuration(self.folder.path(), number, server.port());
            server.configure(&text).expect("a file");
        }
        (0..self.servers.len()).for_each(|number| self.run(number));
    }

    /// As if a server's power went.
    ///
    /// # Panics
    /// If it does not run.
    pub fn kill(&mut self, number: usize) {
        assert!(self.servers[number].is_running(), "it runs");
        self.servers[number].kill().expect("killed");
    }

    /// Removes all that a server has on its disk, which was killed.
    ///
    /// # Panics
    /// If it runs, or has nothing.
    pub fn lose_store(&mut self, number: usize) {
        assert!(!self.servers[number].is_running(), "it was killed");
        let store = self.folder.path().join(format!("store-{}", server_name(number)));
        std::fs::remove_dir_all(store).expect("it has a store");
    }

    /// Starts a server again that was killed, with what it has on its disk.
    ///
    /// # Panics
    /// If it does not start.
    pub fn run(&mut self, number: usize) {
        self.servers[number].run().expect("a NATS server");
    }
}

/// The configuration of one of several servers. Without accounts everybody may do everything.
#[must_use]
pub fn configuration(folder: &Path, number: usize, port: u16) -> String {
    nats::configuration(folder, &server_name(number), port)
}

fn server_name(number: usize) -> String {
    format!("n{number}")
}
