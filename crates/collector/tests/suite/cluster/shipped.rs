//! NATS servers with the configuration of `operations/`: addresses, files and keys are put into the
//! places that it has for them, and nothing else is changed.

use super::roles::servers;
use crate::concentrator::process::wattseal;
use collector::cluster::Nats;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use testkit::documents::home;
use testkit::nats;
use testkit::ports::free_address;

/// A configuration of `operations/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// `nats/nats-server.conf`, with `nats/cluster.conf` where there are several servers.
    Servers,
    Compose,
    Kubernetes,
}

impl Source {
    pub const ALL: [Source; 3] = [Source::Servers, Source::Compose, Source::Kubernetes];

    /// Its texts, users included.
    fn text(self, several: bool) -> String {
        let read = |name: &str| fs::read_to_string(home().join("operations").join(name)).expect("a text");
        let with = |text: String, line: &str, name: &str| {
            assert!(text.contains(line), "{self:?} has no {line}");
            text.replace(line, &read(name))
        };
        match self {
            Source::Servers if several => {
                with(read("nats/nats-server.conf"), "# include \"cluster.conf\"", "nats/cluster.conf")
            }
            Source::Servers => read("nats/nats-server.conf"),
            Source::Compose => {
                with(read("compose/nats.conf"), "include \"users.conf\"", "kubernetes/users.conf")
            }
            Source::Kubernetes => {
                with(read("kubernetes/nats.conf"), "include \"users.conf\"", "kubernetes/users.conf")
            }
        }
    }
}

/// The servers, and the folder with the keys of their users: `hall.nk` and so on.
pub struct Shipped {
    pub servers: nats::Nats,
    pub folder: PathBuf,
    source: Source,
    /// The ports at which they hear each other.
    pub routes: Vec<u16>,
    /// The ports at which they say by HTTP how they are.
    pub monitors: Vec<u16>,
}

impl Shipped {
    /// The documentation's server.
    pub fn one(folder: &Path) -> Shipped {
        Shipped::start(folder, Source::Servers, 1)
    }

    /// Servers of a configuration, and one cluster where there are several.
    pub fn start(folder: &Path, source: Source, count: usize) -> Shipped {
        let mut text = source.text(count > 1);
        // Keys.
        while let Some(at) = text.find("U_PUBLIC_KEY_OF_THE_") {
            let user: String =
                text[at..].chars().take_while(|c| c.is_ascii_uppercase() || *c == '_').collect();
            let file = format!("{}.nk", user.trim_start_matches("U_PUBLIC_KEY_OF_THE_").to_lowercase());
            let made = wattseal(folder).args(["nkey", &file]).output().expect("it runs");
            let key = String::from_utf8(made.stdout).expect("text");
            assert!(key.starts_with('U'), "{}", String::from_utf8_lossy(&made.stderr));
            text = text.replace(&user, key.trim());
        }
        let names = ["127.0.0.1", "localhost"].map(str::to_owned);
        let made = rcgen::generate_simple_self_signed(names).expect("a certificate");
        fs::write(folder.join("ca.pem"), made.cert.pem()).expect("a file");
        make_routes(folder);
        let ports = || (0..count).map(|_| free_address().port()).collect::<Vec<u16>>();
        let (routes, monitors) = (ports(), ports());
        let servers = nats::Nats::start_from(count, |own, number, port| {
            for (name, text) in [
                ("server.pem", made.cert.pem()),
                ("server.key", made.signing_key.serialize_pem()),
                ("routes.conf", routes_of(folder, &routes)),
            ] {
                fs::write(own.join(name), text).expect("a file");
            }
            let inside = |name: &str| format!("\"{}\"", own.join(name).display());
            let mut text = text.clone();
            for (from, to) in [
                ("0.0.0.0:4222", format!("127.0.0.1:{port}")),
                ("0.0.0.0:6222", format!("127.0.0.1:{}", routes[number])),
                ("$ROUTE_LISTEN", format!("127.0.0.1:{}", routes[number])),
                ("0.0.0.0:8222", format!("127.0.0.1:{}", monitors[number])),
                ("server_name: nats1", format!("server_name: n{number}")),
                ("$SERVER_NAME", format!("n{number}")),
                ("\"server.pem\"", inside("server.pem")),
                ("\"server.key\"", inside("server.key")),
                ("\"/etc/nats-tls/tls.crt\"", inside("server.pem")),
                ("\"/etc/nats-tls/tls.key\"", inside("server.key")),
                ("\"../nats-routes/routes.conf\"", "\"routes.conf\"".to_owned()),
                ("\"/var/lib/nats\"", inside(&format!("store-{number}"))),
                ("\"/data\"", inside(&format!("store-{number}"))),
            ] {
                text = text.replace(from, &to);
            }
            for file in ["routes.crt", "routes.key", "routes-ca.crt"] {
                for from in ["", "/run/secrets/", "/etc/nats-routes/"] {
                    let there = format!("\"{}\"", folder.join(file).display());
                    text = text.replace(&format!("\"{from}{file}\""), &there);
                }
            }
            if !text.contains("\nhttp:") {
                text += &format!("http: 127.0.0.1:{}\n", monitors[number]);
            }
            text
        });
        Shipped { servers, folder: folder.to_owned(), source, routes, monitors }
    }

    fn has_tls(&self) -> bool {
        self.source != Source::Compose
    }

    fn url(&self) -> String {
        self.servers.url_with(if self.has_tls() { "tls" } else { "nats" })
    }

    /// The options of a role that is this user.
    pub fn user(&self, name: &str) -> Nats {
        let mut nats = servers(&self.url());
        nats.ca = self.has_tls().then(|| self.folder.join("ca.pem"));
        nats.credentials = Some(self.folder.join(format!("{name}.nk")));
        nats
    }

    /// The client of NATS, as that user.
    pub async fn client(&self, name: &str) -> async_nats::Client {
        let seed = fs::read_to_string(self.folder.join(format!("{name}.nk"))).expect("a seed");
        let mut options = async_nats::ConnectOptions::new()
            .nkey(seed.trim().to_owned())
            .custom_inbox_prefix(format!("_INBOX.{name}"))
            // A forbidden request is not answered.
            .request_timeout(Some(Duration::from_millis(500)));
        if self.has_tls() {
            options = options.add_root_certificates(self.folder.join("ca.pem"));
        }
        options.connect(servers(&self.url()).servers).await.expect("it is let in")
    }
}

/// Runs the routes' own script, for servers on this machine.
pub fn make_routes(folder: &Path) {
    let mut command = Command::new("bash");
    let script = home().join("operations/nats/make-routes");
    let made = command.arg(script).arg("localhost").current_dir(folder).output().expect("bash");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// `routes.conf` of that folder, with these ports of servers on this machine.
pub fn routes_of(folder: &Path, ports: &[u16]) -> String {
    let text = fs::read_to_string(folder.join("routes.conf")).expect("it was made");
    let (before, route) = text.split_once("routes: [").expect("routes");
    let route = route.trim_end().trim_end_matches(']');
    let each = |port: &u16| route.replace("localhost:6222", &format!("localhost:{port}"));
    let all: Vec<String> = ports.iter().map(each).collect();
    format!("{before}routes: [{}]\n", all.join(", "))
}
