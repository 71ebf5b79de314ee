//! Names of gateways and workers: a token of NATS' subjects.

use std::fmt;
use std::str::FromStr;

/// No longer, so that subjects stay short.
const BYTES_MAX: usize = 32;

/// The name of a gateway or a worker: 1 to 32 letters, digits, `-` and `_`. None of them means
/// anything in a subject, of which it is one token, nor in a key of a bucket.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoleName(String);

impl RoleName {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RoleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text that is no such name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a name has 1 to 32 letters, digits, '-' and '_'")]
pub struct NoName;

impl FromStr for RoleName {
    type Err = NoName;

    fn from_str(text: &str) -> Result<RoleName, NoName> {
        let may = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if (1..=BYTES_MAX).contains(&text.len()) && text.bytes().all(may) {
            Ok(RoleName(text.to_owned()))
        } else {
            Err(NoName)
        }
    }
}
