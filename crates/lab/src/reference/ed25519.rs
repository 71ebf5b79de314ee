//! Ed25519, by ed25519-dalek.

use super::{Case, bytes_of};
use crate::LabError;
use ed25519_dalek::{Signature, Signer, SigningKey, Verifier, VerifyingKey};
use rand::{Rng, rngs::StdRng};

fn failed(problem: impl std::fmt::Display) -> LabError {
    LabError::Reference { what: "Ed25519", problem: problem.to_string() }
}

/// Both keys of a seed.
fn keys(seed: &[u8]) -> Result<SigningKey, LabError> {
    Ok(SigningKey::from_bytes(seed.try_into().map_err(failed)?))
}

/// A case of one of the operations with random keys; `None` for another operation. Of the
/// signatures to be verified one in eight is wrong.
pub(super) fn case(name: &str, bytes: usize, rng: &mut StdRng) -> Result<Option<Case>, LabError> {
    let Some(what) = name.strip_prefix("ed25519-") else { return Ok(None) };
    match what {
        "keygen" => keygen_case(&bytes_of(32, rng)),
        "sign" => signing_case(&bytes_of(32, rng), bytes_of(bytes, rng)),
        "verify" => {
            let (seed, message) = (bytes_of(32, rng), bytes_of(bytes, rng));
            let mut signature = sign(&seed, &message)?;
            if rng.random_range(0..8) == 0 {
                let bit = rng.random_range(0..8 * signature.len());
                signature[bit / 8] ^= 1 << (bit % 8);
            }
            verifying_case(&public(&seed)?, message, &signature)
        }
        _ => return Ok(None),
    }
    .map(Some)
}

/// The public key of a seed.
///
/// # Errors
/// [`LabError::Reference`] where the reference fails.
pub fn public(seed: &[u8]) -> Result<Vec<u8>, LabError> {
    Ok(keys(seed)?.verifying_key().to_bytes().to_vec())
}

fn sign(seed: &[u8], message: &[u8]) -> Result<Vec<u8>, LabError> {
    Ok(keys(seed)?.sign(message).to_bytes().to_vec())
}

/// The public key of a seed.
///
/// # Errors
/// [`LabError::Reference`] where the reference fails.
pub fn keygen_case(seed: &[u8]) -> Result<Case, LabError> {
    Ok(Case {
        inputs: vec![("key", seed.to_vec())],
        outputs: vec![("output", public(seed)?)],
        ..Case::default()
    })
}

/// A signature by the owner of a seed.
///
/// # Errors
/// [`LabError::Reference`] where the reference fails.
pub fn signing_case(seed: &[u8], message: Vec<u8>) -> Result<Case, LabError> {
    let (key, signature) = ([seed, &public(seed)?].concat(), sign(seed, &message)?);
    Ok(Case {
        inputs: vec![("key", key), ("message", message)],
        outputs: vec![("output", signature)],
        ..Case::default()
    })
}

/// Verification of a signature, right or wrong, by a key that is good.
///
/// # Errors
/// [`LabError::Reference`] where it is not.
pub fn verifying_case(public: &[u8], message: Vec<u8>, signature: &[u8]) -> Result<Case, LabError> {
    let key = VerifyingKey::from_bytes(public.try_into().map_err(failed)?).map_err(failed)?;
    let signature_of = Signature::from_slice(signature);
    let valid = signature_of.is_ok_and(|signature| key.verify(&message, &signature).is_ok());
    Ok(Case {
        inputs: vec![("key", [public, signature].concat()), ("message", message)],
        result: Some(if valid { 0 } else { -1 }),
        ..Case::default()
    })
}
