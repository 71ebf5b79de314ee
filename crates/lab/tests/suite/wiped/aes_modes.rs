//! Secrets of AES-CMAC, CCM, CBC and key wrap.

use super::symmetric::{encrypted, key_stream};
use super::{Run, Secrets, random};
use lab::operations::Operation;
use lab::reference::Case;
use lab::reference::aes_modes::{cbc_case, ccm_case, cmac_case, oms_kdf_case, unwrap_case, wrap_case};
use rand::rngs::StdRng;

/// The states of a chain of blocks, SP 800-38A section 6.2, from `iv` on.
fn chain(secrets: &mut Secrets, key: &[u8], iv: &[u8], blocks: &[u8]) {
    let mut state = iv.to_vec();
    for block in blocks.chunks(16) {
        state.iter_mut().zip(block).for_each(|(state, byte)| *state ^= byte);
        state = encrypted(secrets, key, &state);
        secrets.bytes("the chain", &state);
    }
}

/// Zeros behind the last block.
fn padded(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes.resize(bytes.len().next_multiple_of(16), 0);
    bytes
}

/// SP 800-38C, appendix A, of a message with a nonce of 13 bytes and a tag of 16.
fn ccm(secrets: &mut Secrets, key: &[u8], nonce: &[u8], aad: &[u8], message: &[u8]) {
    let first = [&[0x79], nonce, &(message.len() as u16).to_be_bytes()[..]].concat();
    let associated = padded(&[&(aad.len() as u16).to_be_bytes()[..], aad].concat());
    chain(secrets, key, &[0; 16], &[first, associated, padded(message)].concat());
    key_stream(secrets, key, &[&[1], nonce, &[0, 0][..]].concat(), message.len() + 16);
}

/// RFC 3394, section 2.2.1: the state before each block, and the blocks.
fn wrapping(secrets: &mut Secrets, key: &[u8], wrapped: &[u8]) {
    let (mut a, mut halves) = (vec![0xa6; 8], wrapped.to_vec());
    let count = halves.len() / 8;
    for step in 0..6 * count {
        let half = &mut halves[8 * (step % count)..][..8];
        let block = encrypted(secrets, key, &[a.as_slice(), half].concat());
        secrets.bytes("a step of the wrapping", &block);
        half.copy_from_slice(&block[8..]);
        a = (u64::from_be_bytes(block[..8].try_into().expect("8 bytes")) ^ (step as u64 + 1))
            .to_be_bytes()
            .into();
    }
}

/// The subkeys of SP 800-38B, section 6.1.
fn subkeys(secrets: &mut Secrets, key: &[u8]) {
    let mut subkey = encrypted(secrets, key, &[0; 16]);
    for _ in 0..2 {
        let whole = u128::from_be_bytes(subkey.try_into().expect("a block"));
        subkey = (whole << 1 ^ (whole >> 127) * 0x87).to_be_bytes().into();
        secrets.bytes("a subkey", &subkey);
    }
}

/// The runs of an operation of these; `None` of another.
pub fn runs(
    operation: &Operation,
    key: &[u8],
    action: &str,
    room: usize,
    rng: &mut StdRng,
) -> Option<Vec<Run>> {
    let mut secrets = Secrets::default();
    secrets.aes_key("the key schedule", key);
    let message = random(room.min(40), rng);
    let blocks = message[..message.len() - message.len() % 16].to_vec();
    let case = match action {
        "cmac" => {
            secrets.bytes("the message", &message);
            subkeys(&mut secrets, key);
            chain(&mut secrets, key, &[0; 16], &message[..(message.len() - 1) / 16 * 16]);
            cmac_case(key.to_vec(), message)
        }
        "oms-kdf" => {
            subkeys(&mut secrets, key);
            oms_kdf_case(key.to_vec(), message[..9].to_vec())
        }
        "ccm-seal" | "ccm-open" => {
            let (nonce, aad) = (random(13, rng), random(13, rng));
            secrets.bytes("the plaintext", &message);
            ccm(&mut secrets, key, &nonce, &aad, &message);
            ccm_case(action == "ccm-seal", key.to_vec(), nonce, aad, message).expect("it seals")
        }
        "cbc-encrypt" | "cbc-decrypt" => {
            let iv = random(16, rng);
            let case = cbc_case(action == "cbc-encrypt", operation.key, key, iv.clone(), blocks.clone());
            let output = &case.outputs[0].1;
            let plain = if action == "cbc-encrypt" { &blocks } else { output };
            secrets.bytes("the plaintext", plain);
            chain(&mut secrets, key, &iv, plain);
            secrets.public(if action == "cbc-encrypt" { output } else { &blocks });
            secrets.public(&iv);
            return Some(vec![(case, secrets)]);
        }
        "key-wrap" | "key-unwrap" => {
            let wrapped = random(16, rng);
            secrets.bytes("the wrapped key", &wrapped);
            wrapping(&mut secrets, key, &wrapped);
            secrets.decryption_keys("a decryption key", key);
            let case = if action == "key-wrap" { wrap_case(key, wrapped) } else { unwrap_case(key, wrapped) };
            case.expect("it is wrapped")
        }
        _ => return None,
    };
    let shown = |(_, bytes): &(&str, Vec<u8>)| secrets.public(bytes);
    match action {
        "cmac" | "ccm-seal" | "key-wrap" => case.outputs.iter().for_each(shown),
        _ => case.inputs.iter().filter(|(name, _)| ["message", "tag"].contains(name)).for_each(shown),
    }
    let is_opening = ["ccm-open", "key-unwrap"].contains(&action);
    let wrong = is_opening.then(|| (refused(&case, action), secrets.clone()));
    Some([(case, secrets)].into_iter().chain(wrong).collect())
}

/// The same with one bit changed, which is refused.
fn refused(case: &Case, action: &str) -> Case {
    let mut case = case.clone();
    let changed = if action == "ccm-open" { "tag" } else { "message" };
    for (_, bytes) in case.inputs.iter_mut().filter(|(name, _)| *name == changed) {
        bytes[7] ^= 4;
    }
    let (_, output) = case.outputs.remove(0);
    match action {
        "ccm-open" => case.untouched.push(("output", output.len())),
        _ => case.outputs.push(("output", vec![0; output.len()])),
    }
    case.result = Some(-1);
    case
}
