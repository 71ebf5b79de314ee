//! Ascon-AEAD128 and Ascon-Hash256, by the crates ascon-aead and ascon-hash (ascon-core).

use super::{Case, bytes_of};
use crate::LabError;
use ascon_aead::AsconAead128;
use ascon_aead::aead::{Aead, KeyInit, Payload};
use ascon_hash::{AsconHash256, Digest};
use rand::rngs::StdRng;

/// A case with random inputs, on `bytes` of message and 16 of associated data; `None` for an
/// operation of another kind.
pub(super) fn case(name: &str, bytes: usize, rng: &mut StdRng) -> Result<Option<Case>, LabError> {
    let case = match name {
        "ascon-hash256" => {
            let message = bytes_of(bytes, rng);
            let digest = AsconHash256::digest(&message).to_vec();
            Case { inputs: vec![("message", message)], outputs: vec![("output", digest)], ..Case::default() }
        }
        "ascon-aead128-seal" | "ascon-aead128-open" => {
            let (key, nonce, aad) = (bytes_of(16, rng), bytes_of(16, rng), bytes_of(16, rng));
            let plaintext = bytes_of(bytes, rng);
            let mut sealed = AsconAead128::new_from_slice(&key)
                .ok()
                .zip(nonce.as_slice().try_into().ok())
                .and_then(|(cipher, nonce)| {
                    cipher.encrypt(nonce, Payload { msg: &plaintext, aad: &aad }).ok()
                })
                .ok_or_else(|| LabError::Usage("too long a message for Ascon-AEAD128".into()))?;
            let tag = sealed.split_off(plaintext.len());
            let inputs = vec![("key", key), ("nonce", nonce), ("aad", aad)];
            if name == "ascon-aead128-seal" {
                seal_case(inputs, plaintext, sealed, tag)
            } else {
                open_case(inputs, sealed, tag, Some(plaintext))
            }
        }
        _ => return Ok(None),
    };
    Ok(Some(case))
}

/// Sealing `plaintext` with a key, a nonce and associated data.
#[must_use]
pub fn seal_case(
    mut inputs: Vec<(&'static str, Vec<u8>)>,
    plaintext: Vec<u8>,
    ciphertext: Vec<u8>,
    tag: Vec<u8>,
) -> Case {
    inputs.push(("message", plaintext));
    Case { inputs, outputs: vec![("output", ciphertext), ("tag", tag)], ..Case::default() }
}

/// Opening `ciphertext` with a key, a nonce and associated data; without a plaintext it must be
/// refused.
#[must_use]
pub fn open_case(
    mut inputs: Vec<(&'static str, Vec<u8>)>,
    ciphertext: Vec<u8>,
    tag: Vec<u8>,
    plaintext: Option<Vec<u8>>,
) -> Case {
    let bytes = ciphertext.len();
    inputs.extend([("message", ciphertext), ("tag", tag)]);
    match plaintext {
        Some(plaintext) => {
            Case { inputs, outputs: vec![("output", plaintext)], result: Some(0), ..Case::default() }
        }
        None => Case { inputs, untouched: vec![("output", bytes)], result: Some(-1), ..Case::default() },
    }
}
