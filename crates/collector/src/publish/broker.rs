//! The URL of the broker.

use crate::trust;
use rustls::ClientConfig;
use std::fmt;
use std::net::IpAddr;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use zeroize::Zeroizing;

const PORT: u16 = 1883;
const TLS_PORT: u16 = 8883;

/// A broker: `mqtt://[USER@]HOST[:PORT]`, or `mqtts://` with TLS. The password is not part of it:
/// command lines are seen by all users of a machine.
#[derive(Clone)]
pub struct Broker {
    /// Name or address.
    pub host: String,
    /// 1883 where nothing else is said, with TLS 8883.
    pub port: u16,
    pub user: Option<String>,
    /// See [`Broker::with_password_file`].
    pub(super) password: Zeroizing<String>,
    /// Connects by TLS.
    pub tls: bool,
    /// The authorities that TLS trusts; none until [`Broker::with_ca_file`] or
    /// [`Broker::with_system_authorities`].
    pub(super) trust: Option<Arc<ClientConfig>>,
}

impl Broker {
    /// Trusts the authorities whose certificates a PEM file has, and no others.
    ///
    /// # Errors
    /// A sentence: no TLS, no such file, no certificate in it.
    pub fn with_ca_file(mut self, path: &Path) -> Result<Broker, String> {
        if !self.tls {
            return Err("--mqtt-ca is for TLS: --mqtt mqtts://HOST".into());
        }
        self.trust = Some(trust::authorities(Some(path), "--mqtt-ca")?);
        Ok(self)
    }

    /// Trusts the authorities that this system trusts. Without TLS it is as it was.
    ///
    /// # Errors
    /// A sentence: the system has none.
    pub fn with_system_authorities(mut self) -> Result<Broker, String> {
        if self.tls {
            self.trust = Some(trust::authorities(None, "--mqtt-ca")?);
        }
        Ok(self)
    }

    /// Says if only this machine reaches it.
    fn is_on_loopback(&self) -> bool {
        let address = self.host.parse::<IpAddr>();
        self.host.eq_ignore_ascii_case("localhost")
            || address.is_ok_and(|address| address.to_canonical().is_loopback())
    }

    /// With the password that a file has in its first line. allow_plain: also where it goes to
    /// another machine without TLS.
    ///
    /// # Errors
    /// A sentence: no user, others could read the password on its way, no such file, nothing in it,
    /// or everybody may read it.
    pub fn with_password_file(mut self, path: &Path, allow_plain: bool) -> Result<Broker, String> {
        use std::os::unix::fs::PermissionsExt;
        let path_is = path.display();
        if !(self.tls || allow_plain || self.is_on_loopback()) {
            return Err(format!(
                "without TLS others can read the password on its way to {}: give --mqtt mqtts://.., or, if nobody else is on that \
                 network, --mqtt-plain-password",
                self.host
            ));
        }
        if self.user.is_none() {
            return Err("a password is for a user: --mqtt mqtt://USER@HOST".into());
        }
        let said = |error: std::io::Error| format!("{path_is}: {error}; check --mqtt-password-file");
        let mode = std::fs::metadata(path).map_err(said)?.permissions().mode();
        // systemd's credentials may be readable by the group.
        if mode & 0o007 != 0 {
            return Err(format!(
                "{path_is} is open to everybody on this machine; run: chmod 600 '{path_is}'"
            ));
        }
        let text = Zeroizing::new(std::fs::read_to_string(path).map_err(said)?);
        let password = text.lines().next().unwrap_or_default();
        if password.is_empty() {
            return Err(format!("{path_is}: there is no password in its first line"));
        }
        self.password = Zeroizing::new(password.to_owned());
        Ok(self)
    }
}

impl FromStr for Broker {
    type Err = String;

    fn from_str(text: &str) -> Result<Broker, String> {
        let wanted = || {
            "write the broker as mqtt://HOST:1883 or mqtt://USER@HOST:1883, with TLS mqtts://HOST:8883"
                .to_owned()
        };
        let (tls, rest) = match text.strip_prefix("mqtts://") {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix("mqtt://").ok_or_else(wanted)?),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (user, place) = match rest.rsplit_once('@') {
            Some((user, _)) if user.contains(':') => {
                return Err("other users of this machine could see a password here; put it into a file, and give that as \
                            --mqtt-password-file"
                    .into());
            }
            Some((user, place)) if !user.is_empty() => (Some(user.to_owned()), place),
            Some(_) => return Err(wanted()),
            None => (None, rest),
        };
        let (host, port) = match place.strip_prefix('[').and_then(|place| place.split_once(']')) {
            Some((host, "")) => (host, None),
            Some((host, port)) => (host, Some(port.strip_prefix(':').ok_or_else(wanted)?)),
            None => match place.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (place, None),
            },
        };
        let port =
            port.map_or(Ok(if tls { TLS_PORT } else { PORT }), |port| port.parse().map_err(|_| wanted()))?;
        if host.is_empty() || port == 0 || host.contains(['/', '[', ' ']) {
            return Err(wanted());
        }
        Ok(Broker { host: host.to_owned(), port, user, password: Zeroizing::default(), tls, trust: None })
    }
}

impl fmt::Display for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "mqtts" } else { "mqtt" };
        match self.host.contains(':') {
            true => write!(f, "{scheme}://[{}]:{}", self.host, self.port),
            false => write!(f, "{scheme}://{}:{}", self.host, self.port),
        }
    }
}

/// Without the password.
impl fmt::Debug for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brokers() {
        let parts = |text: &str| text.parse::<Broker>().map(|broker| (broker.host, broker.port, broker.user));
        let made =
            |host: &str, port, user: Option<&str>| Ok((host.to_owned(), port, user.map(str::to_owned)));
        assert_eq!(parts("mqtt://localhost"), made("localhost", 1883, None));
        assert_eq!(parts("mqtt://ha@10.0.0.2:1884/"), made("10.0.0.2", 1884, Some("ha")));
        assert_eq!(parts("mqtt://[::1]:1884"), made("::1", 1884, None));
        assert_eq!(parts("mqtt://[::1]"), made("::1", 1883, None));
        for wrong in [
            "localhost",
            "mqtt://",
            "mqtt://@a",
            "mqtt://a:b",
            "mqtt://a:0",
            "mqtt://a:70000",
            "mqtt://[::1]x",
        ] {
            assert!(parts(wrong).expect_err(wrong).contains("mqtt://HOST"), "{wrong}");
        }
        assert!(parts("mqtt://u:secret@a").expect_err("a password").contains("--mqtt-password-file"));
        assert_eq!(parts("mqtts://ha@a"), made("a", 8883, Some("ha")));
    }

    #[test]
    fn a_password_leaves_the_machine_by_tls_alone() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "correct horse\n").expect("written");
        let with = |text: &str, plain| {
            let broker = text.parse::<Broker>().expect(text).with_password_file(file.path(), plain);
            broker.map(|broker| broker.password.as_str() == "correct horse")
        };
        for elsewhere in ["mqtt://u@10.0.0.2", "mqtt://u@localhost.example", "mqtt://u@[::ffff:10.0.0.2]"] {
            let error = with(elsewhere, false).expect_err(elsewhere);
            assert!(error.contains("mqtts://") && !error.contains("horse"), "{error}");
            assert_eq!(with(elsewhere, true), Ok(true));
        }
        for safe in ["mqtts://u@10.0.0.2", "mqtt://u@localhost", "mqtt://u@127.0.0.1", "mqtt://u@[::1]"] {
            assert_eq!(with(safe, false), Ok(true), "{safe}");
        }
        let plain = "mqtt://a".parse::<Broker>().expect("a broker").with_ca_file(file.path());
        assert!(plain.expect_err("no TLS").contains("mqtts://"));
        let none = "mqtts://a".parse::<Broker>().expect("a broker").with_ca_file(file.path());
        assert!(none.expect_err("no certificate").contains("BEGIN CERTIFICATE"));
    }
}
