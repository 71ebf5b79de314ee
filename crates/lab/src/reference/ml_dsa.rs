//! ML-DSA, FIPS 204, by the crate fips204.

use super::{Case, bytes_of};
use crate::LabError;
use fips204::traits::{KeyGen, SerDes, Signer, Verifier};
use fips204::{ml_dsa_44, ml_dsa_65};
use rand::{Rng, RngCore, rngs::StdRng};
use sha3::Shake256;
use sha3::digest::{ExtendableOutput, Update, XofReader};

/// A key pair, and a signature of it, wrong in a bit where that is wished.
#[derive(Clone, Debug)]
pub struct Signed {
    /// The public key.
    pub public: Vec<u8>,
    /// The private key.
    pub private: Vec<u8>,
    /// The signature with an empty context string.
    pub signature: Vec<u8>,
    pub is_valid: bool,
}

macro_rules! signed {
    ($module:ident, $xi:expr, $rnd:expr, $message:expr, $flipped:expr) => {{
        let (public, private) = $module::KG::keygen_from_seed($xi);
        let mut signature = private.try_sign_with_seed($rnd, $message, b"").map_err(failed)?;
        if let Some(bit) = $flipped {
            let bit = bit % (8 * signature.len());
            signature[bit / 8] ^= 1 << (bit % 8);
        }
        let is_valid = public.verify($message, &signature, b"");
        Signed {
            public: public.into_bytes().to_vec(),
            private: private.into_bytes().to_vec(),
            signature: signature.to_vec(),
            is_valid,
        }
    }};
}

fn failed(problem: &str) -> LabError {
    LabError::Reference { what: "ML-DSA", problem: problem.to_owned() }
}

/// A key pair of `xi`, and its signature, one bit of which is flipped, counted modulo how many
/// there are. `None` for a parameter set that is not known.
///
/// # Errors
/// [`LabError::Reference`] where the crate does not sign.
pub fn signed(
    set: &str,
    xi: &[u8; 32],
    rnd: &[u8; 32],
    message: &[u8],
    flipped: Option<usize>,
) -> Result<Option<Signed>, LabError> {
    Ok(match set {
        "44" => Some(signed!(ml_dsa_44, xi, rnd, message, flipped)),
        "65" => Some(signed!(ml_dsa_65, xi, rnd, message, flipped)),
        _ => None,
    })
}

/// A case with random inputs and `bytes` bytes of message; `None` for an operation of another kind.
/// One signature in four is invalid.
pub(super) fn case(name: &str, bytes: usize, rng: &mut StdRng) -> Result<Option<Case>, LabError> {
    let Some((set, action)) = name.strip_prefix("ml-dsa-").and_then(|rest| rest.split_once('-')) else {
        return Ok(None);
    };
    let mut seed = || {
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        seed
    };
    let (xi, rnd) = (seed(), seed());
    let message = bytes_of(bytes, rng);
    let is_wrong = action == "verify" && rng.random_range(0..4) == 0;
    let flipped = is_wrong.then(|| rng.random_range(0..1 << 20));
    let Some(Signed { public, private, signature, is_valid }) = signed(set, &xi, &rnd, &message, flipped)?
    else {
        return Ok(None);
    };
    Ok(Some(match action {
        "keygen" => keygen_case(xi.to_vec(), (public, private)),
        "keygen-seeded" => keygen_case(seeds(set, xi), (public, private)),
        "sign" => signing_case(private, message, rnd, signature),
        "verify" => verification_case(public, message, &signature, is_valid),
        _ => return Ok(None),
    }))
}

/// rho', K and rho, as `device/ops.toml` has them: algorithm 6, step 1.
fn seeds(set: &str, xi: [u8; 32]) -> Vec<u8> {
    let mut seeds = [0; 128];
    Shake256::default()
        .chain(xi)
        .chain(if set == "44" { [4, 4] } else { [6, 5] })
        .finalize_xof()
        .read(&mut seeds);
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
        result: Some(0),
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
