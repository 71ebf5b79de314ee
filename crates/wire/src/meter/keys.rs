//! The keys of both sides. All that is secret is wiped when it is dropped.
//!
//! Agreement and verification, which a collector does for each message, are AWS-LC's; it clears all memory that it frees. Signing,
//! which has to give the same bytes for the same message (RFC 6979), and the first look at keys are RustCrypto's.

use super::NotAuthentic;
use aws_lc_rs::agreement::{self, ECDH_P256};
use aws_lc_rs::signature::{self, ECDSA_P256_SHA256_FIXED};
use p256::SecretKey;
use p256::ecdsa::SigningKey;
use rand_core::CryptoRng;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;
use zeroize::Zeroizing;

/// Bytes that are no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// A private key has to be from 1 to the order of P-256 less 1.
    #[error("a private key that is 0, or the order of P-256 or more")]
    Private,
    /// A public key has to be a point of the curve.
    #[error("a public key that is no point of P-256")]
    Public,
}

/// A P-256 key pair.
#[derive(Clone)]
pub struct Identity {
    secret: SecretKey,
    agreeing: Arc<agreement::PrivateKey>,
    public: PublicKey,
}

impl Identity {
    /// A new one.
    #[must_use]
    pub fn generate(rng: &mut impl CryptoRng) -> Identity {
        loop {
            let mut bytes = Zeroizing::new([0; 32]);
            rng.fill_bytes(&mut bytes[..]);
            // Refused about once in 2^32 times.
            if let Ok(identity) = Identity::from_private_bytes(&bytes) {
                return identity;
            }
        }
    }

    /// From the private key, big-endian.
    ///
    /// # Errors
    /// [`KeyError::Private`] where it is none.
    pub fn from_private_bytes(bytes: &[u8; 32]) -> Result<Identity, KeyError> {
        let secret = SecretKey::from_slice(bytes).map_err(|_| KeyError::Private)?;
        let agreeing =
            agreement::PrivateKey::from_private_key(&ECDH_P256, bytes).map_err(|_| KeyError::Private)?;
        let public = agreeing.compute_public_key().map_err(|_| KeyError::Private)?;
        let public = PublicKey::from_uncompressed(public.as_ref()).ok_or(KeyError::Private)?;
        Ok(Identity { secret, agreeing: Arc::new(agreeing), public })
    }

    /// The private key, big-endian.
    #[must_use]
    pub fn private_bytes(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.secret.to_bytes().into())
    }

    /// The public key.
    #[must_use]
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The x-coordinate of what both sides share. peer: x and y, any bytes.
    pub(super) fn agree(&self, peer: &[u8; 64]) -> Result<Zeroizing<[u8; 32]>, NotAuthentic> {
        let peer = agreement::UnparsedPublicKey::new(&ECDH_P256, uncompressed(peer));
        agreement::agree(&self.agreeing, peer, NotAuthentic, |shared| {
            let mut x = Zeroizing::new([0; 32]);
            // P-256's coordinates have 32 bytes.
            x.copy_from_slice(shared.get(..32).ok_or(NotAuthentic)?);
            Ok(x)
        })
    }

    pub(super) fn signing_key(&self) -> SigningKey {
        SigningKey::from(&self.secret)
    }
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").field("public", &self.public).finish_non_exhaustive()
    }
}

/// A P-256 public key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey {
    bytes: [u8; 64],
}

/// A point as SEC 1 version 2.0 section 2.3.3 writes it, not compressed.
fn uncompressed(bytes: &[u8; 64]) -> [u8; 65] {
    let mut encoded = [4; 65];
    encoded[1..].copy_from_slice(bytes);
    encoded
}

impl PublicKey {
    fn from_uncompressed(encoded: &[u8]) -> Option<PublicKey> {
        let bytes = encoded.strip_prefix(&[4])?.try_into().ok()?;
        Some(PublicKey { bytes })
    }

    /// From x and y, big-endian.
    ///
    /// # Errors
    /// [`KeyError::Public`] where they are no point of the curve.
    pub fn from_bytes(bytes: &[u8; 64]) -> Result<PublicKey, KeyError> {
        p256::PublicKey::from_sec1_bytes(&uncompressed(bytes)).map_err(|_| KeyError::Public)?;
        Ok(PublicKey { bytes: *bytes })
    }

    /// x and y, big-endian.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 64] {
        self.bytes
    }

    /// Whether a signature, r and s, is this key's of a text. Any bytes.
    pub(super) fn verify(&self, text: &[u8], signature: &[u8]) -> Result<(), NotAuthentic> {
        let key = signature::UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, uncompressed(&self.bytes));
        key.verify(text, signature).map_err(|_| NotAuthentic)
    }
}

impl std::fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PublicKey({})", to_hex(&self.bytes))
    }
}

impl Serialize for PublicKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&to_hex(&self.bytes))
    }
}

impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PublicKey, D::Error> {
        let bytes = from_hex::<64, D>(deserializer)?;
        PublicKey::from_bytes(&bytes).map_err(serde::de::Error::custom)
    }
}

/// What a meter and its collector share.
#[derive(Clone, PartialEq, Eq)]
pub struct MeterKeys {
    pub(super) key128: Zeroizing<[u8; 16]>,
    pub(super) key256: Zeroizing<[u8; 32]>,
}

impl MeterKeys {
    /// `key128` and `key256`.
    #[must_use]
    pub fn new(key128: [u8; 16], key256: [u8; 32]) -> MeterKeys {
        MeterKeys { key128: Zeroizing::new(key128), key256: Zeroizing::new(key256) }
    }

    /// New ones.
    #[must_use]
    pub fn generate(rng: &mut impl CryptoRng) -> MeterKeys {
        let mut keys = MeterKeys::new([0; 16], [0; 32]);
        rng.fill_bytes(&mut keys.key128[..]);
        rng.fill_bytes(&mut keys.key256[..]);
        keys
    }

    /// `key128` and `key256`.
    #[must_use]
    pub fn expose(&self) -> (&[u8; 16], &[u8; 32]) {
        (&self.key128, &self.key256)
    }
}

impl std::fmt::Debug for MeterKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MeterKeys(..)")
    }
}

/// For who keeps them, in a store that is as secret as they are: `key128` and `key256`, one after the other, in hexadecimal.
impl Serialize for MeterKeys {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut both = Zeroizing::new([0; 48]);
        both[..16].copy_from_slice(&self.key128[..]);
        both[16..].copy_from_slice(&self.key256[..]);
        serializer.serialize_str(&Zeroizing::new(to_hex(&both[..])))
    }
}

impl<'de> Deserialize<'de> for MeterKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<MeterKeys, D::Error> {
        let both = Zeroizing::new(from_hex::<48, D>(deserializer)?);
        let mut keys = MeterKeys::new([0; 16], [0; 32]);
        keys.key128.copy_from_slice(&both[..16]);
        keys.key256.copy_from_slice(&both[16..]);
        Ok(keys)
    }
}

fn to_hex(bytes: &[u8]) -> String {
    let digit = |digit: u8| char::from(b"0123456789abcdef"[usize::from(digit)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn from_hex<'de, const N: usize, D: Deserializer<'de>>(deserializer: D) -> Result<[u8; N], D::Error> {
    let text = Zeroizing::new(String::deserialize(deserializer)?);
    let wrong = || serde::de::Error::custom(format_args!("{N} bytes in hexadecimal are asked for"));
    let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
    let digits = Zeroizing::new(digits.filter(|digits| digits.len() == 2 * N).ok_or_else(wrong)?);
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = pair[0] << 4 | pair[1];
    }
    Ok(bytes)
}
