//! A server's database as a URL names it: `postgres://USER@HOST/DATABASE`.

use super::passwords;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// The time after which a server is given up: one that is not there, and one that is silent.
const CONNECT: Duration = Duration::from_secs(10);
const SILENT: Duration = Duration::from_secs(20);
const ALIVE: Duration = Duration::from_secs(5);
const ASKED: u32 = 3;

/// A database of a server, or of one of several that have it: a primary and its standbys. Its
/// password is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Server {
    /// For each host, with no other; at least one.
    hosts: Vec<Config>,
    authorities: Option<PathBuf>,
}

impl Server {
    /// # Errors
    /// The fault, without its password.
    pub(crate) fn of_url(url: &str) -> Result<Server, String> {
        let (url, own) = take_own(url)?;
        let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
            let why = std::error::Error::source(&error).map_or(String::new(), |why| format!(" ({why})"));
            format!("write the database as postgres://USER@HOST:5432/DATABASE?sslmode=verify-full{why}")
        })?;
        if config.get_hosts().is_empty() {
            return Err("the URL of the database names no host: postgres://USER@HOST/DATABASE".to_owned());
        }
        let Some(user) = config.get_user().filter(|user| !user.is_empty()).map(str::to_owned) else {
            return Err("the URL of the database names no user: postgres://USER@HOST/DATABASE".to_owned());
        };
        if config.get_dbname().is_none() {
            config.dbname(user);
        }
        let elsewhere = config.get_hosts().iter().any(|host| !is_here(host));
        match own.sslmode.as_deref() {
            Some("disable") => config.ssl_mode(SslMode::Disable),
            Some("require" | "verify-full") => config.ssl_mode(SslMode::Require),
            Some(other) => {
                return Err(format!(
                    "sslmode={other} is not taken: verify-full (require is the same) has TLS and looks whose certificate it is, \
                     disable has none"
                ));
            }
            // Traffic on a network is not for all who are on it.
            None if elsewhere || own.authorities.is_some() => config.ssl_mode(SslMode::Require),
            None => config.ssl_mode(SslMode::Disable),
        };
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        config.application_name("wattseal-collector");
        config.keepalives(true).keepalives_idle(ALIVE).keepalives_interval(ALIVE).keepalives_retries(ASKED);
        config.tcp_user_timeout(SILENT);
        // The library reads this when it connects with several.
        let count = config.get_hosts().len();
        let fits = |given: usize| given == 0 || given == count;
        if !fits(config.get_hostaddrs().len())
            || config.get_ports().len() > 1 && !fits(config.get_ports().len())
        {
            return Err(format!(
                "the URL of the database names {count} hosts, and as many addresses and ports have to be there"
            ));
        }
        let mut hosts: Vec<Config> = (0..count).map(|at| of_host(&config, at)).collect();
        for host in hosts.iter_mut().filter(|host| host.get_password().is_none()) {
            if let Some(password) = passwords::find(host, own.passfile.as_deref())? {
                host.password(password.as_bytes());
            }
        }
        Ok(Server { hosts, authorities: own.authorities })
    }

    /// Returns a configuration for each of its hosts.
    pub(super) fn hosts(&self) -> &[Config] {
        &self.hosts
    }

    fn any(&self) -> &Config {
        &self.hosts[0]
    }

    /// The authorities of its certificate; `None`: those that this system trusts.
    pub(super) fn authorities(&self) -> Option<&PathBuf> {
        self.authorities.as_ref()
    }

    pub(super) fn has_tls(&self) -> bool {
        self.any().get_ssl_mode() != SslMode::Disable
    }

    pub(in crate::store) fn user(&self) -> &str {
        self.any().get_user().unwrap_or_default()
    }

    pub(in crate::store) fn database(&self) -> &str {
        self.any().get_dbname().unwrap_or_default()
    }
}

/// The configuration of one host of several.
fn of_host(all: &Config, at: usize) -> Config {
    let mut one = Config::new();
    match &all.get_hosts()[at] {
        Host::Tcp(name) => one.host(name),
        Host::Unix(folder) => one.host_path(folder),
    };
    // One port is all hosts'; so are addresses, of which there is one for each host or none.
    if let Some(port) = all.get_ports().get(at).or(all.get_ports().first()) {
        one.port(*port);
    }
    if let Some(address) = all.get_hostaddrs().get(at) {
        one.hostaddr(*address);
    }
    if let Some(user) = all.get_user() {
        one.user(user);
    }
    if let Some(database) = all.get_dbname() {
        one.dbname(database);
    }
    if let Some(options) = all.get_options() {
        one.options(options);
    }
    if let Some(name) = all.get_application_name() {
        one.application_name(name);
    }
    if let Some(password) = all.get_password() {
        one.password(password);
    }
    if let Some(within) = all.get_connect_timeout() {
        one.connect_timeout(*within);
    }
    if let Some(within) = all.get_tcp_user_timeout() {
        one.tcp_user_timeout(*within);
    }
    if let Some(interval) = all.get_keepalives_interval() {
        one.keepalives_interval(interval);
    }
    if let Some(retries) = all.get_keepalives_retries() {
        one.keepalives_retries(retries);
    }
    one.keepalives(all.get_keepalives()).keepalives_idle(all.get_keepalives_idle());
    one.ssl_mode(all.get_ssl_mode()).ssl_negotiation(all.get_ssl_negotiation());
    one.channel_binding(all.get_channel_binding()).target_session_attrs(all.get_target_session_attrs());
    one
}

/// A host as errors name it, with its port where it is not the usual one.
pub(super) fn name_of(host: &Config) -> String {
    let name = match host.get_hosts().first() {
        Some(Host::Tcp(name)) if name.contains(':') => format!("[{name}]"),
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(path)) => path.display().to_string().replace('/', "%2F"),
        None => String::new(),
    };
    match host.get_ports().first() {
        Some(port) if *port != 5432 => format!("{name}:{port}"),
        _ => name,
    }
}

/// Arguments of the URL that the library does not know.
#[derive(Default)]
struct Own {
    sslmode: Option<String>,
    authorities: Option<PathBuf>,
    passfile: Option<PathBuf>,
}

fn take_own(url: &str) -> Result<(String, Own), String> {
    let Some((place, arguments)) = url.split_once('?') else { return Ok((url.to_owned(), Own::default())) };
    let mut own = Own::default();
    let mut others = Vec::new();
    for argument in arguments.split('&') {
        let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
        match name {
            "sslmode" => own.sslmode = Some(value.to_owned()),
            "sslrootcert" => own.authorities = Some(decoded(value)?.into()),
            "passfile" => own.passfile = Some(decoded(value)?.into()),
            "password" => return Err("a password in a URL stands behind the user's name".to_owned()),
            _ => others.push(argument),
        }
    }
    let url = if others.is_empty() { place.to_owned() } else { format!("{place}?{}", others.join("&")) };
    Ok((url, own))
}

/// With `%2F` for `/`.
fn decoded(text: &str) -> Result<String, String> {
    let wrong = || format!("{text} has a % without two hexadecimal digits behind it");
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16)).ok_or_else(wrong);
        bytes.push((digit()? * 16 + digit()?) as u8);
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

/// Says if the traffic to a host stays on this machine.
fn is_here(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
    }
}

/// As a URL without a password.
impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts: Vec<String> = self.hosts.iter().map(name_of).collect();
        write!(f, "postgres://{}@{}/{}", self.user(), hosts.join(","), self.database())
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio_postgres::config::TargetSessionAttrs;

    fn server(url: &str) -> Server {
        Server::of_url(url).expect(url)
    }

    #[test]
    fn a_password_is_never_shown() {
        let server = server("postgres://anna:correct-horse@localhost:5433/meters?sslmode=disable");
        assert_eq!(server.hosts[0].get_password(), Some(b"correct-horse".as_slice()));
        for shown in [server.to_string(), format!("{server:?}")] {
            assert_eq!(shown, "postgres://anna@localhost:5433/meters");
        }
        for wrong in [
            "postgres://anna:correct-horse@localhost:port/meters",
            "postgres://anna:correct-horse@localhost/meters?sslmode=perhaps",
            "postgres://anna@localhost/meters?password=correct-horse",
            "postgres://anna:correct-horse@localhost/meters?nonsense=1",
            "postgres://anna:correct-horse@/meters",
            "postgres://:correct-horse@localhost/meters",
        ] {
            let error = Server::of_url(wrong).expect_err(wrong);
            assert!(!error.contains("horse"), "{error}");
        }
    }

    #[test]
    fn each_of_several_hosts_has_its_port_and_all_else_of_the_url() {
        let url = "postgres://anna:horse@one.lan:5433,two.lan,[::1]:5434/meters?target_session_attrs=read-write&sslmode=disable\
                   &connect_timeout=3&options=-csearch_path%3Dours&keepalives_idle=7";
        let several = server(url);
        assert_eq!(several.to_string(), "postgres://anna@one.lan:5433,two.lan,[::1]:5434/meters");
        for (host, own) in several.hosts().iter().zip(["one.lan:5433", "two.lan:5432", "[::1]:5434"]) {
            // All that the library reads of a URL with this host alone.
            let alone: Config =
                url.replace("one.lan:5433,two.lan,[::1]:5434", own).parse().expect("a URL of one host");
            let known = server(&url.replace("one.lan:5433,two.lan,[::1]:5434", own));
            assert_eq!(host, &known.hosts()[0]);
            assert_eq!((host.get_hosts(), host.get_ports()), (alone.get_hosts(), alone.get_ports()));
            assert_eq!(host.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
            assert_eq!(host.get_options(), Some("-csearch_path=ours"));
        }
        let sockets = "postgres://anna@%2Frun%2Fone:5433,%2Frun%2Ftwo/meters";
        assert_eq!(server(sockets).to_string(), sockets);
    }

    #[test]
    fn remote_connection_is_encrypted() {
        for (url, tls) in [
            ("postgres://a@localhost/b", false),
            ("postgres://a@127.0.0.1/b", false),
            ("postgres://a@[::1]/b", false),
            ("postgres://a@%2Frun%2Fpostgresql/b", false),
            ("postgres://a@db.example/b", true),
            ("postgres://a@10.0.0.2/b", true),
            ("postgres://a@localhost,10.0.0.2/b", true),
            ("postgres://a@10.0.0.2/b?sslmode=disable", false),
            ("postgres://a@localhost/b?sslmode=require", true),
            ("postgres://a@localhost/b?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem", true),
        ] {
            assert_eq!(server(url).has_tls(), tls, "{url}");
        }
        for mode in ["prefer", "allow", "verify-ca", ""] {
            assert!(Server::of_url(&format!("postgres://a@h/b?sslmode={mode}")).is_err(), "{mode}");
        }
        let authorities = "postgres://a@h/b?sslrootcert=%2Fetc%2Fca.pem";
        assert_eq!(server(authorities).authorities(), Some(&PathBuf::from("/etc/ca.pem")));
        assert_eq!(
            server("postgres://a@%2Frun%2Fpostgresql/b").to_string(),
            "postgres://a@%2Frun%2Fpostgresql/b"
        );
    }
}
