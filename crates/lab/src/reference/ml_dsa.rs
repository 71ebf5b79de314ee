//! ML-DSA-44, FIPS 204, by the crate fips204.

use super::{Case, bytes_of};
use crate::LabError;
use fips204::ml_dsa_44::KG;
use fips204::traits::{KeyGen, SerDes, Signer, Verifier};
use rand::{Rng, RngCore, rngs::StdRng};
use sha3::Shake256;
use sha3::digest::{ExtendableOutput, Update, XofReader};

/// A case with random inputs and so many bytes of message; `None` for an operation of another kind. One signature in four is none.
pub(super) fn case(name: &str, bytes: usize, rng: &mut StdRng) -> Result<Option<Case>, LabError> {
    let Some(action) = name.strip_prefix("ml-dsa-44-") else { return Ok(None) };
    let failed = |problem: &str| LabError::Reference { what: "ML-DSA", problem: problem.to_owned() };
    let mut seed = || {
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        seed
    };
    let (xi, rnd) = (seed(), seed());
    let message = bytes_of(bytes, rng);
    let (public, private) = KG::keygen_from_seed(&xi);
    let sign = || private.try_sign_with_seed(&rnd, &message, b"").map_err(failed);
    let keys = || (public.clone().into_bytes().to_vec(), private.clone().into_bytes().to_vec());
    Ok(Some(match action {
        "keygen" => keygen_case(xi.to_vec(), keys()),
        "keygen-seeded" => keygen_case(seeds(xi), keys()),
        "sign" => {
            let signature = sign()?.to_vec();
            signing_case(keys().1, message, rnd, signature)
        }
        "verify" => {
            let mut signature = sign()?;
            if rng.random_range(0..4) == 0 {
                signature[rng.random_range(0..2420)] ^= 1 << rng.random_range(0..8);
            }
            let is_valid = public.verify(&message, &signature, b"");
            verification_case(keys().0, message, &signature, is_valid)
        }
        _ => return Ok(None),
    }))
}

/// rho', K and rho, as `device/ops.toml` has them: algorithm 6, step 1.
fn seeds(xi: [u8; 32]) -> Vec<u8> {
    let mut seeds = [0; 128];
    Shake256::default().chain(xi).chain([4, 4]).finalize_xof().read(&mut seeds);
    [&seeds[32..], &seeds[..32]].concat()
}

/// Key generation of what `key` has, as `device/ops.toml` says.
#[must_use]
pub fn keygen_case(key: Vec<u8>, (public, private): (Vec<u8>, Vec<u8>)) -> Case {
    Case {
        inputs: vec![("key", key)],
        outputs: vec![("output", [public, private].concat())],
        ..Case::default()
    }
}

/// Signing with an empty context string.
#[must_use]
pub fn signing_case(private: Vec<u8>, message: Vec<u8>, rnd: [u8; 32], signature: Vec<u8>) -> Case {
    Case {
        inputs: vec![("key", private), ("message", message), ("aad", rnd.to_vec())],
        outputs: vec![("output", signature)],
        ..Case::default()
    }
}

/// Verification with an empty context string.
#[must_use]
pub fn verification_case(public: Vec<u8>, message: Vec<u8>, signature: &[u8], is_valid: bool) -> Case {
    Case {
        inputs: vec![("key", [&public, signature].concat()), ("message", message)],
        result: Some(if is_valid { 0 } else { -1 }),
        ..Case::default()
    }
}
