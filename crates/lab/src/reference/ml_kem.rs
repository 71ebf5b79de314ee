//! ML-KEM, FIPS 203, by the crate fips203.

use super::Case;
use fips203::traits::{Decaps, Encaps, KeyGen, SerDes};
use fips203::{ml_kem_512, ml_kem_768};
use rand::{Rng, RngCore, rngs::StdRng};
use sha2::Digest;

/// A key pair, and what was encapsulated to it.
struct Exchange {
    public: Vec<u8>,
    private: Vec<u8>,
    ciphertext: Vec<u8>,
    shared: Vec<u8>,
}

/// An exchange of `d`, `z` and `m`. If `wrong` is not 0, a byte of the ciphertext is XORed with it,
/// and the secret is that of implicit rejection.
macro_rules! exchange {
    ($module:ident, $d:expr, $z:expr, $m:expr, $at:expr, $wrong:expr) => {{
        let (public, private) = $module::KG::keygen_from_seed($d, $z);
        let (shared, ciphertext) = public.encaps_from_seed(&$m);
        let mut bytes = ciphertext.into_bytes();
        let mut shared = shared.into_bytes().to_vec();
        bytes[$at] ^= $wrong;
        if $wrong != 0 {
            let ciphertext = $module::CipherText::try_from_bytes(bytes).ok()?;
            shared = private.try_decaps(&ciphertext).ok()?.into_bytes().to_vec();
        }
        Exchange {
            public: public.into_bytes().to_vec(),
            private: private.into_bytes().to_vec(),
            ciphertext: bytes.to_vec(),
            shared,
        }
    }};
}

/// A case with random inputs; `None` for an operation of another kind. One ciphertext in four is of
/// nobody.
pub(super) fn case(name: &str, rng: &mut StdRng) -> Option<Case> {
    let (set, action) = name.strip_prefix("ml-kem-")?.split_once('-')?;
    let mut seed = || {
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        seed
    };
    let (d, z, m) = (seed(), seed(), seed());
    let (at, wrong) = (rng.random_range(0..768), 1u8 << rng.random_range(0..8));
    let decapsulates = action.starts_with("decapsulate");
    let wrong = if decapsulates && rng.random_range(0..4) == 0 { wrong } else { 0 };
    let (k, made) = match set {
        "512" => (2u8, exchange!(ml_kem_512, d, z, m, at, wrong)),
        "768" => (3, exchange!(ml_kem_768, d, z, m, at, wrong)),
        _ => return None,
    };
    let Exchange { public, private, ciphertext, shared } = made;
    // Algorithm 13, step 1.
    let seeds = sha3::Sha3_512::new().chain_update(d).chain_update([k]).finalize();
    let (rho, sigma) = seeds.split_at(32);
    Some(match action {
        "keygen" => keygen_case([d, z].concat(), &public, &private),
        "keygen-seeded" => keygen_case([sigma, &z, rho].concat(), &public, &private),
        "keygen-pieces" => keygen_pieces_case([d, z].concat(), &public),
        "keygen-pieces-seeded" => keygen_pieces_case([sigma, rho].concat(), &public),
        "encapsulate" => encapsulation_case(public, m.to_vec(), &ciphertext, &shared),
        "encapsulate-pieces" => encapsulation_pieces_case(public, m.to_vec(), Some((&ciphertext, &shared))),
        "decapsulate" => decapsulation_case(private, ciphertext, shared),
        "decapsulate-pieces" => {
            decapsulation_pieces_case([d, z].concat(), &public, &ciphertext, Some(shared))
        }
        _ => return None,
    })
}

/// Key generation of what `key` has, as device/ops.toml says.
#[must_use]
pub fn keygen_case(key: Vec<u8>, public: &[u8], private: &[u8]) -> Case {
    Case {
        inputs: vec![("key", key)],
        outputs: vec![("output", [public, private].concat())],
        ..Case::default()
    }
}

/// Key generation by pieces of what `key` has, as `device/crypto/ml_kem_bench.h` has it.
#[must_use]
pub fn keygen_pieces_case(key: Vec<u8>, public: &[u8]) -> Case {
    Case { inputs: vec![("key", key)], outputs: vec![("output", folded(public).to_vec())], ..Case::default() }
}

/// Encapsulation of `m` to a public key.
#[must_use]
pub fn encapsulation_case(public: Vec<u8>, m: Vec<u8>, ciphertext: &[u8], shared: &[u8]) -> Case {
    Case {
        inputs: vec![("key", public), ("message", m)],
        outputs: vec![("output", [ciphertext, shared].concat())],
        result: Some(0),
        ..Case::default()
    }
}

/// Encapsulation of `m` by pieces, with the public key in flash, as `device/crypto/ml_kem_bench.h`
/// has it; nothing is given where the key is to be refused.
#[must_use]
pub fn encapsulation_pieces_case(public: Vec<u8>, m: Vec<u8>, given: Option<(&[u8], &[u8])>) -> Case {
    let inputs = vec![("stored", public), ("message", m)];
    let Some((ciphertext, shared)) = given else {
        return Case { inputs, untouched: vec![("output", 64)], result: Some(-1), ..Case::default() };
    };
    let output = [&folded(ciphertext), shared].concat();
    Case { inputs, outputs: vec![("output", output)], result: Some(0), ..Case::default() }
}

/// Folds a public key or a ciphertext as the bench does.
fn folded(written: &[u8]) -> [u8; 32] {
    let mut folded = [0u8; 32];
    for (row, bytes) in (0u8..).zip(written.chunks(32)) {
        for (sum, byte) in folded.iter_mut().zip(bytes) {
            *sum = sum.wrapping_mul(3).wrapping_add(byte ^ row);
        }
    }
    folded
}

/// Decapsulation with a private key.
#[must_use]
pub fn decapsulation_case(private: Vec<u8>, ciphertext: Vec<u8>, shared: Vec<u8>) -> Case {
    Case {
        inputs: vec![("key", private), ("message", ciphertext)],
        outputs: vec![("output", shared)],
        ..Case::default()
    }
}

/// Decapsulation by pieces with d and z, the public key and the ciphertext in flash; nothing is
/// given where that key is to be refused.
#[must_use]
pub fn decapsulation_pieces_case(
    key: Vec<u8>,
    public: &[u8],
    ciphertext: &[u8],
    shared: Option<Vec<u8>>,
) -> Case {
    let inputs = vec![("key", key), ("stored", [public, ciphertext].concat())];
    match shared {
        Some(shared) => {
            Case { inputs, outputs: vec![("output", shared)], result: Some(0), ..Case::default() }
        }
        None => Case { inputs, untouched: vec![("output", 32)], result: Some(-1), ..Case::default() },
    }
}
