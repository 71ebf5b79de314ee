//! Ascon-AEAD128 (NIST SP 800-232) with the meter's keys: docs/reference/protocol.md, "How it is sealed".

use super::{MeterKeys, NotAuthentic};
use aes::Aes128;
use aes::cipher::{BlockEncrypt, KeyInit as _};
use ascon_aead::AsconAead128;
use ascon_aead::aead::{AeadInOut, KeyInit};
use zeroize::Zeroizing;

/// The block that `key128` encrypts to Ascon's key. None of AES-GCM's is like it: those begin with
/// a kind, below 4, or are zero.
const LABEL: [u8; 16] = *b"WattSeal suite 5";

fn cipher(keys: &MeterKeys) -> AsconAead128 {
    let mut key = Zeroizing::new(LABEL);
    Aes128::new((&*keys.key128).into()).encrypt_block((&mut *key).into());
    AsconAead128::new((&*key).into())
}

/// The nonce of AES-GCM, and zeros.
fn long(nonce: &[u8; 12]) -> [u8; 16] {
    let mut long = [0; 16];
    long[..12].copy_from_slice(nonce);
    long
}

/// Encrypts in place; the tag.
pub(super) fn seal(keys: &MeterKeys, nonce: &[u8; 12], text: &mut [u8]) -> [u8; 16] {
    let tag = cipher(keys).encrypt_inout_detached(&long(nonce).into(), &[], text.into());
    // Refused are texts that no memory holds alone.
    tag.map_or([0; 16], Into::into)
}

/// Decrypts in place. After an error the buffer is of no use.
pub(super) fn open(
    keys: &MeterKeys,
    nonce: &[u8; 12],
    text: &mut [u8],
    tag: &[u8; 16],
) -> Result<(), NotAuthentic> {
    let opened = cipher(keys).decrypt_inout_detached(&long(nonce).into(), &[], text.into(), tag.into());
    opened.map_err(|_| NotAuthentic)
}
