//! AES-CMAC, CCM, CBC and key wrap, by RustCrypto.

use super::ascon::{open_case, seal_case};
use super::symmetric::expand;
use super::{Case, bytes_of};
use crate::LabError;
use crate::operations::{Key, Operation};
use aes::cipher::block_padding::NoPadding;
use aes::cipher::{BlockDecryptMut, BlockEncryptMut, KeyInit, KeyIvInit};
use aes::{Aes128, Aes256};
use ccm::aead::{Aead, Payload};
use cmac::{Cmac, Mac};
use rand::rngs::StdRng;
use std::ops::RangeInclusive;

/// CCM with nonces of 13 bytes, which OMS has, and tags of 16.
type Ccm = ccm::Ccm<Aes128, ccm::consts::U16, ccm::consts::U13>;

/// Step and range of the message lengths that an operation takes; `None` where it takes any.
fn lengths(name: &str) -> Option<(usize, RangeInclusive<usize>)> {
    match name.strip_prefix("aes")?.split_once('-')?.1 {
        "cbc-encrypt" | "cbc-decrypt" => Some((16, 16..=usize::MAX)),
        "oms-kdf" => Some((1, 9..=9)),
        "key-wrap" => Some((8, 16..=4096)),
        "key-unwrap" => Some((8, 24..=4104)),
        _ => None,
    }
}

/// Refuses a length of message that an operation does not take.
///
/// # Errors
/// [`LabError::Usage`] with the lengths that it takes.
pub(crate) fn check_length(operation: &Operation, bytes: usize) -> Result<(), LabError> {
    let Some((step, range)) = lengths(&operation.name) else { return Ok(()) };
    if range.contains(&bytes) && bytes.is_multiple_of(step) {
        return Ok(());
    }
    let (least, most) = (range.start(), range.end());
    let most = if *most == usize::MAX { String::new() } else { format!(", at most {most}") };
    Err(LabError::Usage(format!(
        "{} takes no message of {bytes} bytes: write --bytes with a multiple of {step}, at least {least}{most}",
        operation.name
    )))
}

/// A case with random inputs, on `bytes` of message; `None` for an operation of another kind.
pub(super) fn case(operation: &Operation, bytes: usize, rng: &mut StdRng) -> Result<Option<Case>, LabError> {
    let Some((size, action)) = operation.name.strip_prefix("aes").and_then(|name| name.split_once('-'))
    else {
        return Ok(None);
    };
    check_length(operation, bytes)?;
    let key = bytes_of(if size == "128" { 16 } else { 32 }, rng);
    Ok(match action {
        "cmac" => Some(cmac_case(key, bytes_of(bytes, rng))),
        "oms-kdf" => Some(oms_kdf_case(key, bytes_of(bytes, rng))),
        "ccm-seal" | "ccm-open" => {
            let (nonce, aad) = (bytes_of(13, rng), Vec::new());
            Some(ccm_case(action == "ccm-seal", key, nonce, aad, bytes_of(bytes, rng))?)
        }
        "cbc-encrypt" | "cbc-decrypt" => {
            let (iv, message) = (bytes_of(16, rng), bytes_of(bytes, rng));
            Some(cbc_case(action == "cbc-encrypt", operation.key, &key, iv, message))
        }
        "key-wrap" => Some(wrap_case(&key, bytes_of(bytes, rng))?),
        "key-unwrap" => Some(unwrap_case(&key, bytes_of(bytes - 8, rng))?),
        _ => None,
    })
}

/// A code by SP 800-38B.
#[must_use]
pub fn cmac_case(key: Vec<u8>, message: Vec<u8>) -> Case {
    fn code<M: Mac + KeyInit>(key: &[u8], message: &[u8]) -> Vec<u8> {
        let mac = <M as Mac>::new_from_slice(key).expect("AES has such a key").chain_update(message);
        mac.finalize().into_bytes().to_vec()
    }
    let code = match key.len() {
        16 => code::<Cmac<Aes128>>(&key, &message),
        _ => code::<Cmac<Aes256>>(&key, &message),
    };
    let inputs = vec![("key", key), ("message", message)];
    Case { inputs, outputs: vec![("output", code)], ..Case::default() }
}

/// A key by OMS volume 2, section 9.3: CMAC over the constant, the counter, the meter's number and
/// seven times 07h. The message holds the first three.
#[must_use]
pub fn oms_kdf_case(key: Vec<u8>, message: Vec<u8>) -> Case {
    let outputs = cmac_case(key.clone(), [&message[..], &[7; 7]].concat()).outputs;
    Case { inputs: vec![("key", key), ("message", message)], outputs, ..Case::default() }
}

/// AES-128-CCM by SP 800-38C.
///
/// # Errors
/// [`LabError::Usage`] for too long a message.
pub fn ccm_case(
    seals: bool,
    key: Vec<u8>,
    nonce: Vec<u8>,
    aad: Vec<u8>,
    plaintext: Vec<u8>,
) -> Result<Case, LabError> {
    let payload = Payload { msg: &plaintext, aad: &aad };
    let cipher = Ccm::new(key.as_slice().into());
    let sealed = cipher.encrypt(nonce.as_slice().into(), payload);
    let mut sealed = sealed.map_err(|_| LabError::Usage("too long a message for AES-CCM".into()))?;
    let tag = sealed.split_off(plaintext.len());
    let inputs = vec![("key", key), ("nonce", nonce), ("aad", aad)];
    Ok(match seals {
        true => Case { result: Some(0), ..seal_case(inputs, plaintext, sealed, tag) },
        false => open_case(inputs, sealed, tag, Some(plaintext)),
    })
}

/// AES-128 in CBC mode, of whole blocks; `takes` says what of the key the firmware is given.
#[must_use]
pub fn cbc_case(encrypts: bool, takes: Key, key: &[u8], iv: Vec<u8>, message: Vec<u8>) -> Case {
    let output = match encrypts {
        true => cbc::Encryptor::<Aes128>::new_from_slices(key, &iv)
            .expect("AES has such lengths")
            .encrypt_padded_vec_mut::<NoPadding>(&message),
        false => cbc::Decryptor::<Aes128>::new_from_slices(key, &iv)
            .expect("AES has such lengths")
            .decrypt_padded_vec_mut::<NoPadding>(&message)
            .expect("whole blocks"),
    };
    let given = match takes {
        Key::Raw => key.to_vec(),
        Key::Expanded => expand(key),
    };
    let inputs = vec![("key", given), ("nonce", iv), ("message", message)];
    Case { inputs, outputs: vec![("output", output)], ..Case::default() }
}

fn wrap(key: &[u8], wrapped: &[u8]) -> Result<Vec<u8>, LabError> {
    let done = match key.len() {
        16 => aes_kw::KekAes128::try_from(key).and_then(|key| key.wrap_vec(wrapped)),
        _ => aes_kw::KekAes256::try_from(key).and_then(|key| key.wrap_vec(wrapped)),
    };
    done.map_err(|error| LabError::Usage(format!("AES key wrap: {error}")))
}

/// Wrapping of a key by RFC 3394.
///
/// # Errors
/// [`LabError::Usage`] for a length that is not wrapped.
pub fn wrap_case(key: &[u8], message: Vec<u8>) -> Result<Case, LabError> {
    let output = wrap(key, &message)?;
    let inputs = vec![("key", key.to_vec()), ("message", message)];
    Ok(Case { inputs, outputs: vec![("output", output)], result: Some(0), ..Case::default() })
}

/// Unwrapping of what wrapping `output` gives.
///
/// # Errors
/// [`LabError::Usage`] for a length that is not wrapped.
pub fn unwrap_case(key: &[u8], output: Vec<u8>) -> Result<Case, LabError> {
    let inputs = vec![("key", key.to_vec()), ("message", wrap(key, &output)?)];
    Ok(Case { inputs, outputs: vec![("output", output)], result: Some(0), ..Case::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn length_that_a_mode_lacks_is_refused_not_rounded() {
        for (name, refused, allowed) in [
            ("aes128-cbc-encrypt", [0, 8, 20], [16, 32]),
            ("aes128-cbc-decrypt", [0, 8, 20], [16, 4096]),
            ("aes128-key-wrap", [8, 20, 4104], [16, 4096]),
            ("aes256-key-unwrap", [16, 28, 4112], [24, 4104]),
        ] {
            let operation = Operation::of_call(name, name);
            let mut rng = StdRng::seed_from_u64(1);
            for bytes in refused {
                let error = case(&operation, bytes, &mut rng).expect_err(name).to_string();
                assert!(
                    error.contains(&format!("{bytes} bytes: write --bytes with a multiple of")),
                    "{error}"
                );
            }
            for bytes in allowed {
                let case = case(&operation, bytes, &mut rng).expect(name).expect("a case");
                let message = case.inputs.iter().find(|(input, _)| *input == "message");
                assert_eq!(message.map(|(_, message)| message.len()), Some(bytes), "{name}");
            }
        }
    }
}
