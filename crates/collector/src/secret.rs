//! Secrets: `wst_` (a token's) or `wsl_` (the one-time link's), and 32 random bytes in base64url.
//! Only their SHA-256 is kept; with 256 random bits nothing slower is needed.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use std::fmt;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// The beginning of every token, by which scanners find a leaked one.
pub const PREFIX: &str = "wst_";
/// The same of a one-time link, which is no token.
const LINK_PREFIX: &str = "wsl_";
const SECRET_BYTES: usize = 32;
const ENCODED_CHARACTERS: usize = 43;

/// A token, or what is secret of a link, as its owner has it. Never shown but on demand, wiped when
/// dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

/// SHA-256 of a secret's text: what is kept of it.
#[derive(Clone, Copy, Eq)]
pub struct TokenHash(pub [u8; 32]);

impl Secret {
    /// Generates a token.
    #[must_use]
    pub fn generate(rng: &mut impl rand::CryptoRng) -> Secret {
        Secret::with(PREFIX, rng)
    }

    /// Generates the secret of a one-time link.
    pub(crate) fn for_link(rng: &mut impl rand::CryptoRng) -> Secret {
        Secret::with(LINK_PREFIX, rng)
    }

    fn with(prefix: &str, rng: &mut impl rand::CryptoRng) -> Secret {
        let mut bytes = Zeroizing::new([0; SECRET_BYTES]);
        rng.fill_bytes(&mut *bytes);
        let mut text = Zeroizing::new(String::with_capacity(prefix.len() + ENCODED_CHARACTERS));
        text.push_str(prefix);
        URL_SAFE_NO_PAD.encode_string(bytes.as_slice(), &mut text);
        Secret(text)
    }

    /// One that was given; `None` for what cannot be a token.
    #[must_use]
    pub fn parse(text: &str) -> Option<Secret> {
        let encoded = text.strip_prefix(PREFIX)?;
        let is_encoded = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        (encoded.len() == ENCODED_CHARACTERS && encoded.bytes().all(is_encoded))
            .then(|| Secret(Zeroizing::new(text.to_owned())))
    }

    /// The text, to be handed to its owner once.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the hash that is stored.
    #[must_use]
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.0)
    }
}

impl TokenHash {
    /// Hashes any text.
    pub(crate) fn of(text: &str) -> TokenHash {
        TokenHash(Sha256::digest(text.as_bytes()).into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(..)")
    }
}

/// In a time that does not depend on the bytes.
impl PartialEq for TokenHash {
    fn eq(&self, other: &TokenHash) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_256_random_bits_and_shows_none() {
        let (one, other) = (Secret::generate(&mut rand::rng()), Secret::generate(&mut rand::rng()));
        assert_ne!(one, other);
        assert_eq!(one.expose().len(), 47);
        let bytes = URL_SAFE_NO_PAD.decode(&one.expose()[4..]).expect("base64url");
        assert_eq!(bytes.len(), 32);
        assert_eq!(Secret::parse(one.expose()), Some(one.clone()));
        assert!(!format!("{one:?} {:?}", one.hash()).contains(&one.expose()[4..12]));
        assert!(one.hash() == Secret::parse(one.expose()).expect("it").hash() && one.hash() != other.hash());
    }

    #[test]
    fn malformed_token_is_refused() {
        let zeros = "A".repeat(43);
        assert!(Secret::parse(&format!("wst_{zeros}")).is_some());
        for text in [
            "",
            "wst_",
            &zeros,
            &format!("WST_{zeros}"),
            &format!("wst_{zeros}A"),
            &format!("wst_={}", &zeros[1..]),
        ] {
            assert_eq!(Secret::parse(text), None, "{text}");
        }
        // SHA-256 of the text itself: an independent `printf wst_AAAA..AAAA | sha256sum`.
        let hash = Secret::parse(&format!("wst_{zeros}")).expect("a token").hash();
        assert_eq!(hex(&hash.0), SHA256SUM);
    }

    const SHA256SUM: &str = "04ac12da2a8ea425bf62fe0c280470667cb6291160a8b5ac54782e655166ef10";

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
