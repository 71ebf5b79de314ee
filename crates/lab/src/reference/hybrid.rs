//! P-256 with ML-KEM-512, `device/crypto/p256_ml_kem_512.h`: RustCrypto's curve and HMAC, and the crate fips203, put together as SP 800-56C says.

use super::curve::Curve;
use super::drbg::{Drbg, SEED_BYTES};
use super::sealing::{hkdf, hmac};
use super::{Case, bytes_of};
use crate::LabError;
use fips203::ml_kem_512;
use fips203::traits::{Decaps, Encaps, KeyGen, SerDes};
use rand::{Rng, rngs::StdRng};
use sha2::Digest;

/// All that an agreement makes.
#[derive(Clone, Debug)]
pub struct Agreement {
    /// The initiator's, as the header has it: of P-256, x || y, of ML-KEM.
    pub private_key: Vec<u8>,
    pub offer: Vec<u8>,
    /// The responder's of P-256.
    pub ephemeral: Vec<u8>,
    /// What ML-KEM encapsulates.
    pub m: Vec<u8>,
    pub response: Vec<u8>,
    /// Z || T.
    pub secrets: Vec<u8>,
    pub key: Vec<u8>,
}

/// The initiator's private key, made by a generator with this seed; and d and z.
///
/// # Errors
/// [`LabError::Reference`] where the reference fails.
pub fn keys(seed: &[u8]) -> Result<(Vec<u8>, Vec<u8>), LabError> {
    let mut random = Drbg::new(seed);
    let private = Curve::P256.generate(&mut random);
    let seeds = random.generate(64);
    let (d, z) = (array(&seeds[..32])?, array(&seeds[32..])?);
    let (_, decapsulation_key) = ml_kem_512::KG::keygen_from_seed(d, z);
    let point = Curve::P256.public(&private)?;
    Ok(([private, point, decapsulation_key.into_bytes().to_vec()].concat(), seeds))
}

/// An agreement: the initiator's generator has one seed, the responder's the other.
///
/// # Errors
/// [`LabError::Reference`] where the reference fails.
pub fn agreement(seeds: [&[u8]; 2], salt: &[u8], info: &[u8]) -> Result<Agreement, LabError> {
    let (private_key, _) = keys(seeds[0])?;
    let (point, encapsulation_key) = (&private_key[32..96], &private_key[96 + 768..][..800]);
    let mut random = Drbg::new(seeds[1]);
    let ephemeral = Curve::P256.generate(&mut random);
    let m = random.generate(32);
    let z = Curve::P256.shared(&ephemeral, point)?;
    let public = ml_kem_512::EncapsKey::try_from_bytes(array(encapsulation_key)?).map_err(failed)?;
    let (t, ciphertext) = public.encaps_from_seed(&array(&m)?);
    let response = [Curve::P256.public(&ephemeral)?, ciphertext.into_bytes().to_vec()].concat();
    let offer = [point, encapsulation_key].concat();
    let secrets = [z, t.into_bytes().to_vec()].concat();
    let key = derived(&secrets, salt, info, &offer, &response);
    Ok(Agreement { private_key, offer, ephemeral, m, response, secrets, key })
}

/// SP 800-56C revision 2, sections 2 and 5.1.
#[must_use]
pub fn derived(secrets: &[u8], salt: &[u8], info: &[u8], offer: &[u8], response: &[u8]) -> Vec<u8> {
    let transcript = sha2::Sha256::new().chain_update(info).chain_update(offer).chain_update(response);
    let fixed_info = [b"P-256 ML-KEM-512", transcript.finalize().as_slice()].concat();
    hkdf(salt, secrets, &fixed_info, 32)
}

/// The key-derivation key.
#[must_use]
pub fn extracted(secrets: &[u8], salt: &[u8]) -> Vec<u8> {
    hmac(salt, &[secrets])
}

/// A case with random inputs; `None` for another operation. One response in four is not for the offer, and gives the key of implicit rejection.
pub(super) fn case(name: &str, rng: &mut StdRng) -> Result<Option<Case>, LabError> {
    let Some(action) = name.strip_prefix("p256-ml-kem-512-") else { return Ok(None) };
    let (own, other) = (bytes_of(SEED_BYTES, rng), bytes_of(SEED_BYTES, rng));
    let (salt, info) = (bytes_of(32, rng), bytes_of(16, rng));
    Ok(Some(match action {
        "keygen" => keygen_case(own.clone(), keys(&own)?.0),
        "respond" => respond_case(&agreement([&other, &own], &salt, &info)?, &own, &salt, info),
        "agree" => {
            let mut made = agreement([&own, &other], &salt, &info)?;
            if rng.random_range(0..4) == 0 {
                made.response[64 + rng.random_range(0..768)] ^= 1 << rng.random_range(0..8);
                let private = ml_kem_512::DecapsKey::try_from_bytes(array(&made.private_key[96..])?);
                let ciphertext = ml_kem_512::CipherText::try_from_bytes(array(&made.response[64..])?);
                let t = private.map_err(failed)?.try_decaps(&ciphertext.map_err(failed)?).map_err(failed)?;
                let secrets = [&made.secrets[..32], &t.into_bytes()].concat();
                made.key = derived(&secrets, &salt, &info, &made.offer, &made.response);
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
    LabError::Reference { what: "P-256 with ML-KEM-512", problem: error.to_string() }
}
