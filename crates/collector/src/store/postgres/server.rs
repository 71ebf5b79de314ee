//! A server's database as a URL names it: `postgres://USER@HOST/DATABASE`.

use super::passwords;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// A server that is not there is given up after so long; one that was there and says nothing any more is, too.
const CONNECT: Duration = Duration::from_secs(10);
const SILENT: Duration = Duration::from_secs(20);
const ALIVE: Duration = Duration::from_secs(5);
const ASKED: u32 = 3;

/// A database of a server. Its password is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Server {
    config: Config,
    authorities: Option<PathBuf>,
}

impl Server {
    /// # Errors
    /// What is wrong with it; nothing of its password.
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
            // What goes over a network is not for all who are on it.
            None if elsewhere || own.authorities.is_some() => config.ssl_mode(SslMode::Require),
            None => config.ssl_mode(SslMode::Disable),
        };
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        config.application_name("wattseal-collector");
        config.keepalives(true).keepalives_idle(ALIVE).keepalives_interval(ALIVE).keepalives_retries(ASKED);
        config.tcp_user_timeout(SILENT);
        if config.get_password().is_none()
            && let Some(password) = passwords::find(&config, own.passfile)?
        {
            config.password(password.as_bytes());
        }
        Ok(Server { config, authorities: own.authorities })
    }

    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    /// The authorities of its certificate; `None`: those that this system trusts.
    pub(super) fn authorities(&self) -> Option<&PathBuf> {
        self.authorities.as_ref()
    }

    pub(super) fn has_tls(&self) -> bool {
        self.config.get_ssl_mode() != SslMode::Disable
    }

    pub(super) fn user(&self) -> &str {
        self.config.get_user().unwrap_or_default()
    }

    pub(super) fn database(&self) -> &str {
        self.config.get_dbname().unwrap_or_default()
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

/// Whether what is sent to a host stays on this machine.
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
        write!(f, "postgres://{}@", self.user())?;
        let ports = self.config.get_ports();
        for (place, host) in self.config.get_hosts().iter().enumerate() {
            f.write_str(if place > 0 { "," } else { "" })?;
            match host {
                Host::Tcp(name) if name.contains(':') => write!(f, "[{name}]")?,
                Host::Tcp(name) => f.write_str(name)?,
                Host::Unix(path) => write!(f, "{}", path.display().to_string().replace('/', "%2F"))?,
            }
            if let Some(port) = ports.get(place).or(ports.first()).filter(|port| **port != 5432) {
                write!(f, ":{port}")?;
            }
        }
        write!(f, "/{}", self.database())
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

    fn server(url: &str) -> Server {
        Server::of_url(url).expect(url)
    }

    #[test]
    fn a_password_is_never_shown() {
        let server = server("postgres://anna:correct-horse@localhost:5433/meters?sslmode=disable");
        assert_eq!(server.config.get_password(), Some(b"correct-horse".as_slice()));
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
    fn what_leaves_the_machine_is_encrypted() {
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
