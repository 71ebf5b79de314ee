//! SLH-DSA, FIPS 205, by the crate fips205.

use super::Case;
use fips205::traits::{KeyGen, SerDes, Signer};
use fips205::{slh_dsa_sha2_128f, slh_dsa_sha2_128s};
use rand::{Rng, RngCore, SeedableRng, rngs::StdRng};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A key pair, and what it signed.
struct Signed {
    private: Vec<u8>,
    context: Vec<u8>,
    message: Vec<u8>,
    signature: Vec<u8>,
}

/// The key pair of three seeds.
macro_rules! pair {
    ($module:ident, $seeds:expr) => {{
        let [secret, prf, public] = $seeds;
        $module::KG::keygen_from_seed(&secret, &prf, &public).1
    }};
}

/// Bytes of context, at most: the bench has room for them everywhere.
const LONGEST_CONTEXT: usize = 16;

fn seeds(rng: &mut StdRng) -> [[u8; 16]; 3] {
    std::array::from_fn(|_| {
        let mut seed = [0; 16];
        rng.fill_bytes(&mut seed);
        seed
    })
}

fn sign(is_fast: bool, bytes: usize, rng: &mut StdRng) -> Signed {
    let seeds = seeds(rng);
    let mut context = vec![0; rng.random_range(0..=LONGEST_CONTEXT)];
    rng.fill_bytes(&mut context);
    let mut message = vec![0; bytes];
    rng.fill_bytes(&mut message);
    let wrong = "a context that is short enough";
    let (private, signature) = if is_fast {
        let key = pair!(slh_dsa_sha2_128f, seeds);
        let signature = key.try_sign(&message, &context, false).expect(wrong).to_vec();
        (key.into_bytes().to_vec(), signature)
    } else {
        let key = pair!(slh_dsa_sha2_128s, seeds);
        let signature = key.try_sign(&message, &context, false).expect(wrong).to_vec();
        (key.into_bytes().to_vec(), signature)
    };
    Signed { private, context, message, signature }
}

/// Number of signatures that a process makes for a parameter set and message length, however many
/// runs and targets it has: a signature takes two million hashes.
const POOL: u64 = 12;

fn signed(is_fast: bool, bytes: usize, rng: &mut StdRng) -> Arc<Signed> {
    type Made = HashMap<(bool, usize, u64), Arc<Signed>>;
    static MADE: Mutex<Option<Made>> = Mutex::new(None);
    let which = rng.random_range(0..POOL);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let one = made
        .get_or_insert_default()
        .entry((is_fast, bytes, which))
        .or_insert_with(|| Arc::new(sign(is_fast, bytes, &mut StdRng::seed_from_u64(which))));
    Arc::clone(one)
}

/// A case with random inputs, on `bytes` of message; `None` for an operation of another kind. Of
/// the signatures to be verified one in eight is wrong.
pub(super) fn case(name: &str, bytes: usize, rng: &mut StdRng) -> Option<Case> {
    let (set, action) = name.strip_prefix("slh-dsa-sha2-")?.split_once('-')?;
    let is_fast = match set {
        "128s" => false,
        "128f" => true,
        _ => return None,
    };
    match action {
        "keygen" => {
            let seeds = seeds(rng);
            let private = if is_fast {
                pair!(slh_dsa_sha2_128f, seeds).into_bytes()
            } else {
                pair!(slh_dsa_sha2_128s, seeds).into_bytes()
            };
            Some(keygen_case(private.to_vec()))
        }
        "sign" => {
            let Signed { private, context, message, signature } = &*signed(is_fast, bytes, rng);
            Some(sign_case(private.clone(), context.clone(), message.clone(), signature))
        }
        "verify" => {
            let Signed { private, context, message, signature } = &*signed(is_fast, bytes, rng);
            let mut signature = signature.clone();
            let wrong = rng.random_range(0..8) == 0;
            if wrong {
                let bit = rng.random_range(0..8 * signature.len());
                signature[bit / 8] ^= 1 << (bit % 8);
            }
            let public = private[32..].to_vec();
            Some(verification(public, context.clone(), message.clone(), signature, !wrong))
        }
        _ => None,
    }
}

/// A verification of a signature that is good or is not.
#[must_use]
pub fn verification(
    public: Vec<u8>,
    context: Vec<u8>,
    message: Vec<u8>,
    signature: Vec<u8>,
    is_good: bool,
) -> Case {
    Case {
        inputs: vec![("key", public), ("aad", context), ("message", message), ("stored", signature)],
        result: Some(if is_good { 0 } else { -1 }),
        ..Case::default()
    }
}

/// Key generation, from what of the private key is random.
#[must_use]
pub fn keygen_case(private: Vec<u8>) -> Case {
    Case {
        inputs: vec![("key", private[..48].to_vec())],
        outputs: vec![("output", private)],
        result: Some(0),
        ..Case::default()
    }
}

/// A deterministic signature, folded as `device/crypto/slh_dsa_sign_bench.h` has it.
#[must_use]
pub fn sign_case(private: Vec<u8>, context: Vec<u8>, message: Vec<u8>, signature: &[u8]) -> Case {
    let mut folded = [0u8; 16];
    for (index, piece) in signature.chunks(16).enumerate() {
        for ((sum, byte), lane) in folded.iter_mut().zip(piece).zip(0..) {
            let mask = if lane % 2 == 0 { index } else { index / 4 };
            *sum = sum.wrapping_mul(3).wrapping_add(byte ^ mask as u8);
        }
    }
    Case {
        inputs: vec![("key", private), ("aad", context), ("message", message)],
        outputs: vec![("output", folded.to_vec())],
        result: Some(0),
        ..Case::default()
    }
}
