//! Key derivation and ECIES, composed of RustCrypto's parts as `device/crypto/ecies.h` and
//! `ecies_ecdsa.h` say.

use super::curve::{Curve, compressed};
use super::drbg::{Drbg, SEED_BYTES};
use super::symmetric::block_case;
use super::{Case, bytes_of};
use crate::LabError;
use crate::operations::Key;
use aes::cipher::{KeyIvInit, StreamCipher};
use hmac::{Hmac, Mac};
use rand::rngs::StdRng;
use sha2::{Digest, Sha256};

/// Bytes of info that a packet is signed with: those that `device/bench` has room for on the
/// smallest target.
const INFO_BYTES: usize = 16;

/// X9.63's key derivation with SHA-256, SEC 1 version 2.0 section 3.6.1.
#[must_use]
pub fn x963_kdf(z: &[u8], info: &[u8], bytes: usize) -> Vec<u8> {
    let block = |counter: u32| {
        let digest = Sha256::new().chain_update(z).chain_update(counter.to_be_bytes()).chain_update(info);
        digest.finalize().to_vec()
    };
    let mut out: Vec<u8> = (1..=bytes.div_ceil(32) as u32).flat_map(block).collect();
    out.truncate(bytes);
    out
}

/// The one-step key derivation of SP 800-56C revision 2, section 4.1, with SHA-256.
#[must_use]
pub fn single_step_kdf(z: &[u8], info: &[u8], bytes: usize) -> Vec<u8> {
    let block = |counter: u32| {
        let digest = Sha256::new().chain_update(counter.to_be_bytes()).chain_update(z).chain_update(info);
        digest.finalize().to_vec()
    };
    let mut out: Vec<u8> = (1..=bytes.div_ceil(32) as u32).flat_map(block).collect();
    out.truncate(bytes);
    out
}

pub(super) fn hmac(key: &[u8], pieces: &[&[u8]]) -> Vec<u8> {
    // HMAC takes keys of any length.
    let Ok(mut mac) = <Hmac<Sha256> as Mac>::new_from_slice(key) else { return Vec::new() };
    for piece in pieces {
        mac.update(piece);
    }
    mac.finalize().into_bytes().to_vec()
}

/// HKDF with SHA-256, RFC 5869.
#[must_use]
pub fn hkdf(salt: &[u8], material: &[u8], info: &[u8], bytes: usize) -> Vec<u8> {
    let key = hmac(salt, &[material]);
    let (mut out, mut last) = (Vec::new(), Vec::new());
    for counter in 1..=bytes.div_ceil(32) as u8 {
        last = hmac(&key, &[&last, info, &[counter]]);
        out.extend_from_slice(&last);
    }
    out.truncate(bytes);
    out
}

/// Seal at the end of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seal<'a> {
    /// HMAC-SHA-256.
    Mac,
    /// A signature by this private key.
    Signature(&'a [u8]),
}

/// All that sealing makes.
pub struct Sealed {
    /// The ephemeral private key.
    pub ephemeral: Vec<u8>,
    /// The x-coordinate that both sides share.
    pub shared: Vec<u8>,
    /// The encryption key, and behind it the MAC's where there is one.
    pub keys: Vec<u8>,
    /// Signed bytes, where something is signed.
    pub signed: Vec<u8>,
    pub packet: Vec<u8>,
}

/// Seals to a public key with what a generator of this seed gives.
///
/// # Errors
/// [`LabError::Reference`] for a key that is none.
pub fn seal(
    seed: &[u8],
    recipient: &[u8],
    compress: bool,
    seal: Seal<'_>,
    info: &[u8],
    message: &[u8],
) -> Result<Sealed, LabError> {
    let ephemeral = Curve::P256.generate(&mut Drbg::new(seed));
    let shared = Curve::P256.shared(&ephemeral, recipient)?;
    let mut sent = Curve::P256.public(&ephemeral)?;
    if compress {
        sent = compressed(&sent);
    }
    let keys = match seal {
        Seal::Mac => x963_kdf(&shared, &sent, 16 + 32),
        Seal::Signature(_) => x963_kdf(&shared, &[&sent, info].concat(), 16),
    };
    let (key, mac_key) = keys.split_at(16);
    let mut ciphertext = message.to_vec();
    ctr::Ctr128BE::<aes::Aes128>::new(key.into(), &[0; 16].into()).apply_keystream(&mut ciphertext);
    let (signed, end) = match seal {
        Seal::Mac => (Vec::new(), hmac(mac_key, &[&ciphertext, info])),
        Seal::Signature(private) => {
            let signed = [&sent[..], &ciphertext, info].concat();
            let signature = Curve::P256.sign(private, &signed)?;
            (signed, signature)
        }
    };
    let packet = [sent, ciphertext, end].concat();
    Ok(Sealed { ephemeral, shared, keys, signed, packet })
}

/// A case with random inputs, on `bytes` of message; `None` for another operation.
pub(super) fn case(name: &str, bytes: usize, rng: &mut StdRng) -> Result<Option<Case>, LabError> {
    match name {
        "x963-kdf" | "single-step-kdf" => {
            let (z, info) = (bytes_of(32, rng), bytes_of(64, rng));
            let derive = if name == "x963-kdf" { x963_kdf } else { single_step_kdf };
            let output = derive(&z, &info, bytes);
            return Ok(Some(Case {
                inputs: vec![("key", z), ("aad", info), ("message", vec![0; bytes])],
                outputs: vec![("output", output)],
                ..Case::default()
            }));
        }
        "hkdf-sha256" => {
            let (salt, material, info) = (bytes_of(16, rng), bytes_of(32, rng), bytes_of(16, rng));
            let output = hkdf(&salt, &material, &info, bytes);
            return Ok(Some(Case {
                inputs: vec![("nonce", salt), ("key", material), ("aad", info), ("message", vec![0; bytes])],
                outputs: vec![("output", output)],
                result: Some(0),
                ..Case::default()
            }));
        }
        "ecdh-aes128-encrypt" | "ecdh-aes128-encrypt-raw" => {
            let (private, peer) = (Curve::P256.private_key(rng), Curve::P256.private_key(rng));
            let (public, message) = (Curve::P256.public(&peer)?, bytes_of(16, rng));
            let shared = Curve::P256.shared(&private, &public)?;
            let key = if name.ends_with("-raw") { shared[..16].to_vec() } else { x963_kdf(&shared, &[], 16) };
            let block = block_case(&key, Key::Raw, message.clone(), true);
            return Ok(Some(Case {
                inputs: vec![("key", [private, public].concat()), ("message", message)],
                outputs: block.outputs,
                result: Some(0),
                ..Case::default()
            }));
        }
        _ => {}
    }
    let (name, compress) = name.strip_suffix("-compressed").map_or((name, false), |name| (name, true));
    let (signed, open) = match name {
        "ecies-seal" => (false, false),
        "ecies-open" => (false, true),
        "ecies-ecdsa-seal" => (true, false),
        "ecies-ecdsa-open" => (true, true),
        _ => return Ok(None),
    };
    let (recipient, sender) = (Curve::P256.private_key(rng), Curve::P256.private_key(rng));
    let (seed, message) = (bytes_of(SEED_BYTES, rng), bytes_of(bytes, rng));
    let to = Curve::P256.public(&recipient)?;
    let end = if signed { Seal::Signature(&sender) } else { Seal::Mac };
    let info = if signed { bytes_of(INFO_BYTES, rng) } else { Vec::new() };
    let packet = seal(&seed, &to, compress, end, &info, &message)?.packet;
    let (key, input, output) = match (open, signed) {
        (false, false) => ([to, seed].concat(), message, packet),
        (false, true) => ([to, sender, seed].concat(), message, packet),
        (true, false) => (recipient, packet, message),
        (true, true) => {
            let from = Curve::P256.public(&sender)?;
            ([recipient, from].concat(), packet, message)
        }
    };
    Ok(Some(Case {
        inputs: vec![("key", key), ("aad", info), ("message", input)],
        outputs: vec![("output", output)],
        result: Some(0),
        ..Case::default()
    }))
}
