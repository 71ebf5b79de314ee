//! The hybrid key agreements, `device/crypto/p256_ml_kem_512.h` and `x25519_ml_kem.h`: RustCrypto's
//! P-256, curve25519-dalek's X25519, RustCrypto's HMAC, and the crate fips203, put together as SP
//! 800-56C says.

use super::curve::{Curve, x25519};
use super::drbg::{Drbg, SEED_BYTES};
use super::sealing::{hkdf, hmac};
use super::{Case, bytes_of};
use crate::LabError;
use fips203::traits::{Decaps, Encaps, KeyGen, SerDes};
use fips203::{ml_kem_512, ml_kem_768};
use rand::{Rng, rngs::StdRng};
use sha2::Digest;

/// Parameter set of an agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    P256MlKem512,
    X25519MlKem512,
    X25519MlKem768,
}

use Pair::{P256MlKem512, X25519MlKem512, X25519MlKem768};

impl Pair {
    /// Prefix of FixedInfo.
    fn name(self) -> &'static [u8] {
        match self {
            P256MlKem512 => b"P-256 ML-KEM-512",
            X25519MlKem512 => b"X25519 ML-KEM-512",
            X25519MlKem768 => b"X25519 ML-KEM-768",
        }
    }

    /// Bytes of a public key of the curve.
    fn point(self) -> usize {
        if self == P256MlKem512 { 64 } else { 32 }
    }

    /// Range of the encapsulation key in a private key.
    fn encapsulation_key(self) -> std::ops::Range<usize> {
        let from = 32 + self.point() + if self == X25519MlKem768 { 1152 } else { 768 };
        from..from + if self == X25519MlKem768 { 1184 } else { 800 }
    }

    fn generate(self, random: &mut Drbg) -> Vec<u8> {
        if self == P256MlKem512 { Curve::P256.generate(random) } else { random.generate(32) }
    }

    fn public(self, private: &[u8]) -> Result<Vec<u8>, LabError> {
        if self == P256MlKem512 { Curve::P256.public(private) } else { x25519(private, None) }
    }

    fn shared(self, private: &[u8], public: &[u8]) -> Result<Vec<u8>, LabError> {
        if self == P256MlKem512 { Curve::P256.shared(private, public) } else { x25519(private, Some(public)) }
    }

    fn decapsulation_key(self, d: [u8; 32], z: [u8; 32]) -> Vec<u8> {
        match self {
            X25519MlKem768 => ml_kem_768::KG::keygen_from_seed(d, z).1.into_bytes().to_vec(),
            _ => ml_kem_512::KG::keygen_from_seed(d, z).1.into_bytes().to_vec(),
        }
    }

    /// The secret and the ciphertext.
    fn encapsulate(self, key: &[u8], m: [u8; 32]) -> Result<(Vec<u8>, Vec<u8>), LabError> {
        macro_rules! encapsulate {
            ($module:ident) => {{
                let public = $module::EncapsKey::try_from_bytes(array(key)?).map_err(failed)?;
                let (secret, ciphertext) = public.encaps_from_seed(&m);
                (secret.into_bytes().to_vec(), ciphertext.into_bytes().to_vec())
            }};
        }
        Ok(if self == X25519MlKem768 { encapsulate!(ml_kem_768) } else { encapsulate!(ml_kem_512) })
    }

    fn decapsulate(self, key: &[u8], ciphertext: &[u8]) -> Result<Vec<u8>, LabError> {
        macro_rules! decapsulate {
            ($module:ident) => {{
                let private = $module::DecapsKey::try_from_bytes(array(key)?).map_err(failed)?;
                let ciphertext = $module::CipherText::try_from_bytes(array(ciphertext)?).map_err(failed)?;
                private.try_decaps(&ciphertext).map_err(failed)?.into_bytes().to_vec()
            }};
        }
        Ok(if self == X25519MlKem768 { decapsulate!(ml_kem_768) } else { decapsulate!(ml_kem_512) })
    }

    /// Both secrets as they are combined: of P-256 the first, else ML-KEM's.
    fn joined(self, curve: &[u8], kem: &[u8]) -> Vec<u8> {
        if self == P256MlKem512 { [curve, kem].concat() } else { [kem, curve].concat() }
    }
}

/// All that an agreement makes.
#[derive(Clone, Debug)]
pub struct Agreement {
    /// The initiator's, as the header has it: of the curve, its public key, of ML-KEM.
    pub private_key: Vec<u8>,
    pub offer: Vec<u8>,
    /// The responder's of the curve.
    pub ephemeral: Vec<u8>,
    /// Message that ML-KEM encapsulates.
    pub m: Vec<u8>,
    pub response: Vec<u8>,
    /// Both, as they are combined.
    pub secrets: Vec<u8>,
    pub key: Vec<u8>,
}

/// The initiator's private key, made by a generator with this seed; and d and z.
///
/// # Errors
/// [`LabError::Reference`] where the reference fails.
pub fn keys(pair: Pair, seed: &[u8]) -> Result<(Vec<u8>, Vec<u8>), LabError> {
    let mut random = Drbg::new(seed);
    let private = pair.generate(&mut random);
    let seeds = random.generate(64);
    let (d, z) = (array(&seeds[..32])?, array(&seeds[32..])?);
    let point = pair.public(&private)?;
    Ok(([private, point, pair.decapsulation_key(d, z)].concat(), seeds))
}

/// An agreement: the initiator's generator has one seed, the responder's the other.
///
/// # Errors
/// [`LabError::Reference`] where the reference fails.
pub fn agreement(pair: Pair, seeds: [&[u8]; 2], salt: &[u8], info: &[u8]) -> Result<Agreement, LabError> {
    let (private_key, _) = keys(pair, seeds[0])?;
    let (point, encapsulation_key) =
        (&private_key[32..][..pair.point()], &private_key[pair.encapsulation_key()]);
    let mut random = Drbg::new(seeds[1]);
    let ephemeral = pair.generate(&mut random);
    let m = random.generate(32);
    let curve = pair.shared(&ephemeral, point)?;
    let (kem, ciphertext) = pair.encapsulate(encapsulation_key, array(&m)?)?;
    let response = [pair.public(&ephemeral)?, ciphertext].concat();
    let offer = [point, encapsulation_key].concat();
    let secrets = pair.joined(&curve, &kem);
    let key = derived(pair, &secrets, salt, info, &offer, &response);
    Ok(Agreement { private_key, offer, ephemeral, m, response, secrets, key })
}

/// SP 800-56C revision 2, sections 2 and 5.1.
#[must_use]
pub fn derived(
    pair: Pair,
    secrets: &[u8],
    salt: &[u8],
    info: &[u8],
    offer: &[u8],
    response: &[u8],
) -> Vec<u8> {
    let transcript = sha2::Sha256::new().chain_update(info).chain_update(offer).chain_update(response);
    let fixed_info = [pair.name(), transcript.finalize().as_slice()].concat();
    hkdf(salt, secrets, &fixed_info, 32)
}

/// The key-derivation key.
#[must_use]
pub fn extracted(secrets: &[u8], salt: &[u8]) -> Vec<u8> {
    hmac(salt, &[secrets])
}

/// A case with random inputs; `None` for another operation. One response in four is not for the
/// offer, and gives the key of implicit rejection.
pub(super) fn case(name: &str, rng: &mut StdRng) -> Result<Option<Case>, LabError> {
    let pairs = [
        ("p256-ml-kem-512-", P256MlKem512),
        ("x25519-ml-kem-512-", X25519MlKem512),
        ("x25519-ml-kem-768-", X25519MlKem768),
    ];
    let Some((action, pair)) =
        pairs.into_iter().find_map(|(prefix, pair)| Some((name.strip_prefix(prefix)?, pair)))
    else {
        return Ok(None);
    };
    let (own, other) = (bytes_of(SEED_BYTES, rng), bytes_of(SEED_BYTES, rng));
    let (salt, info) = (bytes_of(32, rng), bytes_of(16, rng));
    Ok(Some(match action {
        "keygen" => keygen_case(own.clone(), keys(pair, &own)?.0),
        "respond" => respond_case(&agreement(pair, [&other, &own], &salt, &info)?, &own, &salt, info),
        "agree" => {
            let mut made = agreement(pair, [&own, &other], &salt, &info)?;
            if rng.random_range(0..4) == 0 {
                let (point, bits) = (pair.point(), 8 * made.response.len());
                let bit = rng.random_range(8 * point..bits);
                made.response[bit / 8] ^= 1 << (bit % 8);
                let curve = pair.shared(&made.private_key[..32], &made.response[..point])?;
                let kem = pair.decapsulate(&made.private_key[32 + point..], &made.response[point..])?;
                let secrets = pair.joined(&curve, &kem);
                made.key = derived(pair, &secrets, &salt, &info, &made.offer, &made.response);
            }
            agree_case(&made, &salt, info)
        }
        _ => return Ok(None),
    }))
}

/// Key generation from a generator with this seed.
#[must_use]
pub fn keygen_case(seed: Vec<u8>, private_key: Vec<u8>) -> Case {
    Case {
        inputs: vec![("key", seed)],
        outputs: vec![("output", private_key)],
        result: Some(0),
        ..Case::default()
    }
}

/// The responder's side, whose generator has this seed.
#[must_use]
pub fn respond_case(made: &Agreement, seed: &[u8], salt: &[u8], info: Vec<u8>) -> Case {
    Case {
        inputs: vec![("key", [salt, seed].concat()), ("aad", info), ("message", made.offer.clone())],
        outputs: vec![("output", [&*made.response, &*made.key].concat())],
        result: Some(0),
        ..Case::default()
    }
}

/// The initiator's side, once the response is there.
#[must_use]
pub fn agree_case(made: &Agreement, salt: &[u8], info: Vec<u8>) -> Case {
    let key = [salt, &made.private_key].concat();
    Case {
        inputs: vec![("key", key), ("aad", info), ("message", made.response.clone())],
        outputs: vec![("output", made.key.clone())],
        result: Some(0),
        ..Case::default()
    }
}

fn array<const N: usize>(bytes: &[u8]) -> Result<[u8; N], LabError> {
    bytes.try_into().map_err(failed)
}

fn failed(error: impl ToString) -> LabError {
    LabError::Reference { what: "the hybrid key agreement", problem: error.to_string() }
}
