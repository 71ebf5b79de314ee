//! AES, its modes, hashes and HMAC, by RustCrypto.

use super::{Case, bytes_of};
use crate::LabError;
use crate::operations::{Key, Operation};
use aes::cipher::{BlockDecrypt, BlockEncrypt, KeyInit, KeyIvInit, StreamCipher};
use aes::{Aes128, Aes192, Aes256, Block, hazmat};
use aes_gcm::aead::{Aead, Payload};
use aes_gcm::{Aes128Gcm, Aes256Gcm, Nonce};
use hmac::Mac;
use rand::{Rng, rngs::StdRng};
use sha2::Digest;
use sha2::digest::ExtendableOutput;

/// A case with random inputs, on `bytes` of message; `None` for an operation of another kind.
pub(super) fn case(operation: &Operation, bytes: usize, rng: &mut StdRng) -> Result<Option<Case>, LabError> {
    let name = operation.name.as_str();
    if let Some((size, action)) = name.strip_prefix("aes").and_then(|rest| rest.split_once('-')) {
        let key_bytes = match size {
            "128" => 16,
            "192" => 24,
            "256" => 32,
            _ => return Ok(None),
        };
        let key = bytes_of(key_bytes, rng);
        let case = match action {
            "expand" => Ok(expand_case(&key)),
            "encrypt" | "encrypt-expanded" => Ok(block_case(&key, operation.key, bytes_of(16, rng), true)),
            "module-encrypt" => Ok(module_case(&key, bytes_of(16, rng))),
            "decrypt" | "decrypt-prepared" | "prepare-decryption" => {
                Ok(block_case(&key, operation.key, bytes_of(16, rng), false))
            }
            "ctr" | "ctr-sliced" => Ok(ctr_case(&key, &bytes_of(16, rng), bytes_of(bytes, rng))),
            "gcm-seal" => seal_case(&key, bytes_of(12, rng), Vec::new(), bytes_of(bytes, rng)),
            "gcm-open" => open_case(&key, bytes_of(12, rng), Vec::new(), bytes_of(bytes, rng)),
            _ => return Ok(None),
        };
        return case.map(Some);
    }
    let case = match name {
        "sha1" => Ok(hash_case::<sha1::Sha1>(bytes_of(bytes, rng))),
        "sha256" => Ok(hash_case::<sha2::Sha256>(bytes_of(bytes, rng))),
        "sha384" => Ok(hash_case::<sha2::Sha384>(bytes_of(bytes, rng))),
        "sha512" => Ok(hash_case::<sha2::Sha512>(bytes_of(bytes, rng))),
        "sha3-256" => Ok(hash_case::<sha3::Sha3_256>(bytes_of(bytes, rng))),
        "sha3-512" => Ok(hash_case::<sha3::Sha3_512>(bytes_of(bytes, rng))),
        "shake128" => Ok(output_case::<sha3::Shake128>(bytes_of(bytes, rng))),
        "shake256" => Ok(output_case::<sha3::Shake256>(bytes_of(bytes, rng))),
        "digest-check" => Ok(comparison_case(bytes_of(32, rng), rng)),
        "hmac-sha256" => hmac_case(bytes_of(32, rng), bytes_of(bytes, rng)),
        _ => return Ok(None),
    };
    case.map(Some)
}

/// The AES key schedule of a key of 16, 24 or 32 bytes, FIPS 197 section 5.2. The substitution is
/// RustCrypto's.
#[must_use]
pub fn expand(key: &[u8]) -> Vec<u8> {
    let key_words = key.len() / 4;
    let words = 4 * (key_words + 7);
    let mut schedule = key.to_vec();
    let mut round_constant = 1u8;
    for index in key_words..words {
        let mut word = [0; 4];
        word.copy_from_slice(&schedule[4 * index - 4..4 * index]);
        if index % key_words == 0 {
            word.rotate_left(1);
            word = substitute(word);
            word[0] ^= round_constant;
            round_constant = (round_constant << 1) ^ (0x1b * (round_constant >> 7));
        } else if key_words == 8 && index % 8 == 4 {
            word = substitute(word);
        }
        for (byte, position) in word.iter().zip(4 * (index - key_words)..) {
            schedule.push(schedule[position] ^ byte);
        }
    }
    schedule
}

/// SubWord: a round without a key on four equal columns, its MixColumns undone. ShiftRows does not
/// change equal columns.
fn substitute(word: [u8; 4]) -> [u8; 4] {
    let mut block: Block = [word; 4].into_iter().flatten().collect();
    hazmat::cipher_round(&mut block, &Block::default());
    hazmat::inv_mix_columns(&mut block);
    [block[0], block[1], block[2], block[3]]
}

/// The key schedule of `key`.
#[must_use]
pub fn expand_case(key: &[u8]) -> Case {
    Case { inputs: vec![("key", key.to_vec())], outputs: vec![("output", expand(key))], ..Case::default() }
}

/// One block, encrypted or decrypted under `key`; `takes` says what of it the firmware is given.
#[must_use]
pub fn block_case(key: &[u8], takes: Key, message: Vec<u8>, encrypt: bool) -> Case {
    let mut block = *Block::from_slice(&message);
    macro_rules! crypt {
        ($cipher:ty) => {{
            let cipher = <$cipher>::new(key.into());
            if encrypt { cipher.encrypt_block(&mut block) } else { cipher.decrypt_block(&mut block) }
        }};
    }
    match key.len() {
        16 => crypt!(Aes128),
        24 => crypt!(Aes192),
        _ => crypt!(Aes256),
    }
    let given = match takes {
        Key::Raw => key.to_vec(),
        Key::Expanded => expand(key),
    };
    Case {
        inputs: vec![("key", given), ("message", message)],
        outputs: vec![("output", block.to_vec())],
        ..Case::default()
    }
}

/// One block, encrypted by a part's own module, which may report an error.
#[must_use]
pub fn module_case(key: &[u8], message: Vec<u8>) -> Case {
    Case { result: Some(0), ..block_case(key, Key::Raw, message, true) }
}

/// CTR with a 128-bit big-endian counter, SP 800-38A section 6.5.
#[must_use]
pub fn ctr_case(key: &[u8], nonce: &[u8], message: Vec<u8>) -> Case {
    let mut output = message.clone();
    macro_rules! apply {
        ($cipher:ty) => {
            ctr::Ctr128BE::<$cipher>::new(key.into(), nonce.into()).apply_keystream(&mut output)
        };
    }
    match key.len() {
        16 => apply!(Aes128),
        24 => apply!(Aes192),
        _ => apply!(Aes256),
    }
    Case {
        inputs: vec![("key", key.to_vec()), ("nonce", nonce.to_vec()), ("message", message)],
        outputs: vec![("output", output)],
        ..Case::default()
    }
}

/// AES-GCM sealing, SP 800-38D section 7.1.
///
/// # Errors
/// [`LabError::Usage`] for a key of a length that has no reference.
pub fn seal_case(key: &[u8], nonce: Vec<u8>, aad: Vec<u8>, message: Vec<u8>) -> Result<Case, LabError> {
    let (output, tag) = seal(key, &nonce, &aad, &message)?;
    Ok(Case {
        inputs: vec![("key", key.to_vec()), ("nonce", nonce), ("aad", aad), ("message", message)],
        outputs: vec![("output", output), ("tag", tag)],
        result: Some(0),
        ..Case::default()
    })
}

/// AES-GCM opening, SP 800-38D section 7.2, of what sealing `message` gave.
///
/// # Errors
/// [`LabError::Usage`] for a key of a length that has no reference.
pub fn open_case(key: &[u8], nonce: Vec<u8>, aad: Vec<u8>, message: Vec<u8>) -> Result<Case, LabError> {
    let (sealed, tag) = seal(key, &nonce, &aad, &message)?;
    Ok(Case {
        inputs: vec![
            ("key", key.to_vec()),
            ("nonce", nonce),
            ("aad", aad),
            ("message", sealed),
            ("tag", tag),
        ],
        outputs: vec![("output", message)],
        result: Some(0),
        ..Case::default()
    })
}

fn seal(key: &[u8], nonce: &[u8], aad: &[u8], message: &[u8]) -> Result<(Vec<u8>, Vec<u8>), LabError> {
    let payload = Payload { msg: message, aad };
    let nonce = Nonce::from_slice(nonce);
    let sealed = match key.len() {
        16 => Aes128Gcm::new(key.into()).encrypt(nonce, payload),
        32 => Aes256Gcm::new(key.into()).encrypt(nonce, payload),
        other => return Err(LabError::Usage(format!("AES-GCM has no reference for keys of {other} bytes"))),
    };
    let mut sealed = sealed.map_err(|_| LabError::Usage("too long a message for AES-GCM".into()))?;
    let tag = sealed.split_off(message.len());
    Ok((sealed, tag))
}

#[must_use]
pub fn hash_case<D: Digest>(message: Vec<u8>) -> Case {
    let digest = D::digest(&message).to_vec();
    Case { inputs: vec![("message", message)], outputs: vec![("output", digest)], ..Case::default() }
}

/// As many bytes of output as of message.
fn output_case<X: ExtendableOutput + Default>(message: Vec<u8>) -> Case {
    let mut output = vec![0; message.len()];
    X::digest_xof(&message, &mut output);
    Case { inputs: vec![("message", message)], outputs: vec![("output", output)], ..Case::default() }
}

/// A digest compared with itself, or with one that differs in a bit.
fn comparison_case(digest: Vec<u8>, rng: &mut StdRng) -> Case {
    let mut other = digest.clone();
    let equal: bool = rng.random();
    if !equal {
        other[rng.random_range(0..digest.len())] ^= 1 << rng.random_range(0..8);
    }
    Case { inputs: vec![("key", digest), ("message", other)], result: Some(equal.into()), ..Case::default() }
}

/// HMAC-SHA-256, FIPS 198-1.
///
/// # Errors
/// None in practice: HMAC takes keys of any length.
pub fn hmac_case(key: Vec<u8>, message: Vec<u8>) -> Result<Case, LabError> {
    let mac = <hmac::Hmac<sha2::Sha256> as Mac>::new_from_slice(&key)
        .map_err(|error| LabError::Usage(format!("HMAC takes no key of {} bytes: {error}", key.len())))?
        .chain_update(&message)
        .finalize()
        .into_bytes()
        .to_vec();
    Ok(Case {
        inputs: vec![("key", key), ("message", message)],
        outputs: vec![("output", mac)],
        ..Case::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;
    use rand::SeedableRng;

    /// FIPS 197, appendix A.1 to A.3: the last four words of each schedule.
    #[test]
    fn the_key_schedules_of_fips_197() {
        let cases: [(&[u8], [u8; 16]); 3] = [
            (&hex!("2b7e151628aed2a6abf7158809cf4f3c"), hex!("d014f9a8c9ee2589e13f0cc8b6630ca6")),
            (
                &hex!("8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b"),
                hex!("e98ba06f448c773c8ecc720401002202"),
            ),
            (
                &hex!("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"),
                hex!("fe4890d1e6188d0b046df344706c631e"),
            ),
        ];
        for (key, last) in cases {
            assert_eq!(expand(key)[expand(key).len() - 16..], last);
        }
    }

    #[test]
    fn decryption_inverts_encryption() {
        let mut rng = StdRng::seed_from_u64(1);
        for bytes in [16, 24, 32] {
            let key = bytes_of(bytes, &mut rng);
            let there = block_case(&key, Key::Raw, bytes_of(16, &mut rng), true);
            let back = block_case(&key, Key::Raw, there.outputs[0].1.clone(), false);
            assert_eq!(back.outputs[0].1, there.inputs[1].1);
        }
    }
}
