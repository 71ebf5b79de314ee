//! Where the broker is.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use zeroize::Zeroizing;

const PORT: u16 = 1883;

/// A broker: `mqtt://[USER@]HOST[:PORT]`. The password is not part of it: command lines are seen by all users of a machine.
#[derive(Clone, PartialEq, Eq)]
pub struct Broker {
    /// Name or address.
    pub host: String,
    /// 1883 where nothing else is said.
    pub port: u16,
    /// As whom.
    pub user: Option<String>,
    /// See [`Broker::with_password_file`].
    pub(super) password: Zeroizing<String>,
}

impl Broker {
    /// With the password that a file has in its first line.
    ///
    /// # Errors
    /// A sentence: no user, no such file, nothing in it, or everybody may read it.
    pub fn with_password_file(mut self, path: &Path) -> Result<Broker, String> {
        use std::os::unix::fs::PermissionsExt;
        let path_is = path.display();
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
        let wanted = || "write the broker as mqtt://HOST:1883 or mqtt://USER@HOST:1883".to_owned();
        if text.starts_with("mqtts://") || text.starts_with("ssl://") {
            return Err("TLS to the broker is not there; have a broker on this machine, with mqtt://localhost, pass it on by TLS".into());
        }
        let rest = text.strip_prefix("mqtt://").ok_or_else(wanted)?;
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
        let port = port.map_or(Ok(PORT), |port| port.parse().map_err(|_| wanted()))?;
        if host.is_empty() || port == 0 || host.contains(['/', '[', ' ']) {
            return Err(wanted());
        }
        Ok(Broker { host: host.to_owned(), port, user, password: Zeroizing::default() })
    }
}

impl fmt::Display for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "mqtt://[{}]:{}", self.host, self.port),
            false => write!(f, "mqtt://{}:{}", self.host, self.port),
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
        assert!(parts("mqtts://a").expect_err("TLS").contains("TLS"));
    }
}
