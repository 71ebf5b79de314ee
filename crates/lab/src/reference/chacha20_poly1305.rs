//! ChaCha20-Poly1305, by the crate chacha20poly1305.

use super::ascon::{open_case, seal_case};
use super::{Case, bytes_of};
use crate::LabError;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce};
use rand::rngs::StdRng;

/// A case with random inputs, on `bytes` of message and 16 of associated data; `None` for an
/// operation of another kind.
pub(super) fn case(name: &str, bytes: usize, rng: &mut StdRng) -> Result<Option<Case>, LabError> {
    let Some(action) = name.strip_prefix("chacha20-poly1305-") else { return Ok(None) };
    let (key, nonce, aad) = (bytes_of(32, rng), bytes_of(12, rng), bytes_of(16, rng));
    let plaintext = bytes_of(bytes, rng);
    let mut sealed = ChaCha20Poly1305::new(Key::from_slice(&key))
        .encrypt(Nonce::from_slice(&nonce), Payload { msg: &plaintext, aad: &aad })
        .map_err(|_| LabError::Usage("too long a message for ChaCha20-Poly1305".into()))?;
    let tag = sealed.split_off(plaintext.len());
    let inputs = vec![("key", key), ("nonce", nonce), ("aad", aad)];
    Ok(match action {
        "seal" => Some(Case { result: Some(0), ..seal_case(inputs, plaintext, sealed, tag) }),
        "open" => Some(open_case(inputs, sealed, tag, Some(plaintext))),
        _ => None,
    })
}
