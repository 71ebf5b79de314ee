//! The keys of both sides. All that is secret is wiped when it is dropped.
//!
//! Agreement and verification, which a collector does for each message, are AWS-LC's with the
//! feature `aws-lc`, without it RustCrypto's. Signing, which has to give the same bytes for the
//! same message (RFC 6979), and the first look at keys are RustCrypto's always.

#[cfg(feature = "aws-lc")]
mod aws_lc;
#[cfg(any(test, not(feature = "aws-lc")))]
mod rust_crypto;

use super::NotAuthentic;
#[cfg(feature = "aws-lc")]
use aws_lc as provider;
use p256::SecretKey;
use p256::ecdsa::SigningKey;
use rand_core::CryptoRng;
#[cfg(not(feature = "aws-lc"))]
use rust_crypto as provider;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroizing;

/// Library of agreement and verification in this build.
pub const EC_LIBRARY: &str = if cfg!(feature = "aws-lc") { "AWS-LC" } else { "RustCrypto" };

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
    agreement: provider::Agreement,
    public: PublicKey,
}

impl Identity {
    /// Generates a key pair.
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

    /// Makes the key pair of a private key, big-endian.
    ///
    /// # Errors
    /// [`KeyError::Private`] where it is none.
    pub fn from_private_bytes(bytes: &[u8; 32]) -> Result<Identity, KeyError> {
        let secret = SecretKey::from_slice(bytes).map_err(|_| KeyError::Private)?;
        let agreement = provider::Agreement::new(bytes)?;
        let public = PublicKey { bytes: agreement.public()? };
        Ok(Identity { secret, agreement, public })
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
        self.agreement.agree(peer)
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
    /// Makes a public key of x and y, big-endian.
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

    /// Verifies a signature of a text, r and s, with this key. Any bytes.
    pub(super) fn verify(&self, text: &[u8], signature: &[u8]) -> Result<(), NotAuthentic> {
        provider::verify(&self.bytes, text, signature)
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

/// The keys that a meter and its collector share.
#[derive(Clone, PartialEq, Eq)]
pub struct MeterKeys {
    pub(super) key128: Zeroizing<[u8; 16]>,
    pub(super) key256: Zeroizing<[u8; 32]>,
    /// `None` of most meters, of which there are very many.
    renewed: Option<Box<Renewed>>,
}

/// The keys of [`super::Suite::Aes256GcmRekeyed`].
#[derive(Clone, Default, PartialEq, Eq)]
struct Renewed {
    epoch: u32,
    /// `None` in epoch 0, whose key is `key256`.
    key: Option<Zeroizing<[u8; 32]>>,
    /// Of the next epoch, from when both sides may have it until the meter has shown that it does.
    next: Option<Zeroizing<[u8; 32]>>,
}

impl MeterKeys {
    /// `key128` and `key256`.
    #[must_use]
    pub fn new(key128: [u8; 16], key256: [u8; 32]) -> MeterKeys {
        MeterKeys { key128: Zeroizing::new(key128), key256: Zeroizing::new(key256), renewed: None }
    }

    /// Generates both keys.
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

    /// Returns the number of renewals of the key of [`super::Suite::Aes256GcmRekeyed`].
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.renewed.as_ref().map_or(0, |renewed| renewed.epoch)
    }

    /// That key.
    #[must_use]
    pub fn expose_epoch_key(&self) -> &[u8; 32] {
        self.renewed.as_ref().and_then(|renewed| renewed.key.as_ref()).unwrap_or(&self.key256)
    }

    /// Says if the meter may have the next epoch's key.
    #[must_use]
    pub fn has_next(&self) -> bool {
        self.renewed.as_ref().is_some_and(|renewed| renewed.next.is_some())
    }

    /// The same with a key for the next epoch, or without one.
    pub(super) fn with_next(&self, next: Option<Zeroizing<[u8; 32]>>) -> MeterKeys {
        let mut renewed = self.renewed.clone().unwrap_or_default();
        renewed.next = next;
        let is_any = renewed.epoch > 0 || renewed.next.is_some();
        MeterKeys { renewed: is_any.then_some(renewed), ..self.clone() }
    }

    /// The keys in the next epoch, where its key is known.
    #[must_use]
    pub fn next_epoch(&self) -> Option<MeterKeys> {
        let before = self.renewed.as_ref()?;
        let (epoch, key) = (before.epoch.checked_add(1)?, before.next.clone()?);
        let renewed = Renewed { epoch, key: Some(key), next: None };
        Some(MeterKeys { renewed: Some(Box::new(renewed)), ..self.clone() })
    }
}

impl std::fmt::Debug for MeterKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MeterKeys(..)")
    }
}

/// `key128` and `key256`; then the epoch and its key; then the next epoch's key.
const KEYS: usize = 16 + 32 + 4 + 32 + 32;
const WITHOUT_NEXT: usize = KEYS - 32;
const NEVER_RENEWED: usize = 48;

/// For who keeps them, in a store that is as secret as they are.
impl MeterKeys {
    /// `key128` and `key256`, one after the other, 48 bytes; where the key was renewed, or is being
    /// renewed, the epoch's number and key behind them, and the next epoch's key.
    #[must_use]
    pub fn expose_all(&self) -> Zeroizing<Vec<u8>> {
        let mut all = Zeroizing::new(Vec::with_capacity(KEYS));
        all.extend_from_slice(&self.key128[..]);
        all.extend_from_slice(&self.key256[..]);
        if let Some(renewed) = &self.renewed {
            all.extend_from_slice(&renewed.epoch.to_be_bytes());
            all.extend_from_slice(self.expose_epoch_key());
            all.extend_from_slice(renewed.next.as_ref().map_or(&[], |next| &next[..]));
        }
        all
    }

    /// Those of [`MeterKeys::expose_all`]; `None`: bytes that it does not give.
    #[must_use]
    pub fn from_exposed(all: &[u8]) -> Option<MeterKeys> {
        let (key128, rest) = all.split_first_chunk()?;
        let (key256, rest) = rest.split_first_chunk()?;
        let mut keys = MeterKeys::new(*key128, *key256);
        if rest.is_empty() {
            return Some(keys);
        }
        let (epoch, rest) = rest.split_first_chunk()?;
        let (key, next) = rest.split_first_chunk()?;
        let epoch = u32::from_be_bytes(*epoch);
        let next = match next {
            [] if epoch > 0 => None,
            next => Some(Zeroizing::new(next.try_into().ok()?)),
        };
        let key = Some(Zeroizing::new(*key)).filter(|_| epoch > 0);
        keys.renewed = Some(Box::new(Renewed { epoch, key, next }));
        Some(keys)
    }
}

/// [`MeterKeys::expose_all`] in hexadecimal.
impl Serialize for MeterKeys {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&Zeroizing::new(to_hex(&self.expose_all())))
    }
}

impl<'de> Deserialize<'de> for MeterKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<MeterKeys, D::Error> {
        let all = bytes_of_hex::<D>(deserializer, &[NEVER_RENEWED, WITHOUT_NEXT, KEYS])?;
        MeterKeys::from_exposed(&all).ok_or_else(|| serde::de::Error::custom("keys of no epoch"))
    }
}

fn to_hex(bytes: &[u8]) -> String {
    let digit = |digit: u8| char::from(b"0123456789abcdef"[usize::from(digit)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn from_hex<'de, const N: usize, D: Deserializer<'de>>(deserializer: D) -> Result<[u8; N], D::Error> {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&bytes_of_hex::<D>(deserializer, &[N])?);
    Ok(bytes)
}

/// As many bytes as one of the lengths says.
fn bytes_of_hex<'de, D: Deserializer<'de>>(
    deserializer: D,
    lengths: &[usize],
) -> Result<Zeroizing<Vec<u8>>, D::Error> {
    let text = Zeroizing::new(String::deserialize(deserializer)?);
    let wrong =
        || serde::de::Error::custom(format_args!("{} bytes in hexadecimal are asked for", lengths[0]));
    let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
    let fits = |digits: &Vec<u8>| digits.len().is_multiple_of(2) && lengths.contains(&(digits.len() / 2));
    let digits = Zeroizing::new(digits.filter(fits).ok_or_else(wrong)?);
    Ok(Zeroizing::new(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()))
}

#[cfg(test)]
mod kept {
    use super::*;

    #[test]
    fn keys_are_kept_whole_in_each_state_of_a_renewal() {
        let never = MeterKeys::new([1; 16], [2; 32]);
        let begun = never.with_next(Some(Zeroizing::new([3; 32])));
        let renewed = begun.next_epoch().expect("its key is known");
        let again = renewed.with_next(Some(Zeroizing::new([4; 32])));
        for (keys, bytes) in [(never, 48), (begun, 116), (renewed, 84), (again, 116)] {
            let all = keys.expose_all();
            assert_eq!(all.len(), bytes);
            assert!(MeterKeys::from_exposed(&all).as_ref() == Some(&keys));
            for wrong in (0..all.len()).filter(|wrong| ![48, 84].contains(wrong)) {
                assert!(MeterKeys::from_exposed(&all[..wrong]).is_none(), "{wrong} of {bytes} bytes");
            }
            assert!(
                MeterKeys::from_exposed(&[&all[..], &[0]].concat()).is_none(),
                "{bytes} bytes and one more"
            );
            let text = serde_json::to_string(&keys).expect("they can be written");
            assert!(serde_json::from_str::<MeterKeys>(&text).expect("and read") == keys);
        }
        // Epoch 0 has no key but key256.
        assert!(MeterKeys::from_exposed(&[0; 84]).is_none());
    }
}

/// Both libraries say the same.
#[cfg(all(test, feature = "aws-lc"))]
mod tests {
    use super::*;
    use p256::ecdsa::Signature;
    use p256::ecdsa::signature::Signer;
    use rand::rngs::StdRng;
    use rand::{RngCore, SeedableRng};

    /// Of one private key, by AWS-LC and by RustCrypto.
    fn both(bytes: &[u8; 32]) -> (aws_lc::Agreement, rust_crypto::Agreement) {
        (aws_lc::Agreement::new(bytes).expect("a key"), rust_crypto::Agreement::new(bytes).expect("a key"))
    }

    #[test]
    fn both_libraries_agree_upon_keys_and_secrets() {
        let mut rng = StdRng::seed_from_u64(1);
        for _ in 0..20 {
            let (mut ours, mut theirs, mut nonsense) = ([0; 32], [0; 32], [0; 64]);
            rng.fill_bytes(&mut ours);
            rng.fill_bytes(&mut theirs);
            rng.fill_bytes(&mut nonsense);
            let ((one, other), (peer, _)) = (both(&ours), both(&theirs));
            assert_eq!(one.public(), other.public());
            let peer = peer.public().expect("a point");
            let agreed = one.agree(&peer).expect("a secret");
            assert_eq!(agreed[..], other.agree(&peer).expect("a secret")[..]);
            assert!(one.agree(&nonsense).is_err() && other.agree(&nonsense).is_err());
        }
        for none in [[0; 32], [0xff; 32]] {
            assert!(aws_lc::Agreement::new(&none).is_err() && rust_crypto::Agreement::new(&none).is_err());
        }
    }

    #[test]
    fn both_libraries_verify_the_same_signatures() {
        let mut rng = StdRng::seed_from_u64(2);
        for _ in 0..20 {
            let identity = {
                let mut bytes = [0; 32];
                rng.fill_bytes(&mut bytes);
                Identity::from_private_bytes(&bytes).expect("a key")
            };
            let key = identity.public().to_bytes();
            let signature: Signature = identity.signing_key().sign(b"a reading");
            let good = signature.to_bytes().to_vec();
            // Of (r, s) and (r, n - s) each is a signature.
            let (r, s) = signature.split_scalars();
            let mirrored = Signature::from_scalars(r.to_bytes(), (-*s).to_bytes())
                .expect("in range")
                .to_bytes()
                .to_vec();
            let mut damaged = good.clone();
            damaged[rng.next_u32() as usize % 64] ^= 1;
            let cases = [
                (b"a reading", good.clone(), true),
                (b"a reading", mirrored, true),
                (b"a READING", good.clone(), false),
                (b"a reading", damaged, false),
                (b"a reading", good[..63].to_vec(), false),
                (b"a reading", vec![0; 64], false),
                (b"a reading", vec![0xff; 64], false),
                (b"a reading", Vec::new(), false),
            ];
            for (text, signature, valid) in cases {
                assert_eq!(aws_lc::verify(&key, text, &signature).is_ok(), valid, "{signature:02x?}");
                assert_eq!(rust_crypto::verify(&key, text, &signature).is_ok(), valid, "{signature:02x?}");
            }
        }
    }
}
