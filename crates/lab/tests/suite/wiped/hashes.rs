//! Secrets of hashes and derivations: states, keys of authenticators, and what keys are derived
//! from.

use super::secrets::Secrets;
use super::{Run, random};
use lab::operations::Operation;
use lab::reference::Case;
use lab::reference::sealing::{hkdf, single_step_kdf, x963_kdf};
use lab::reference::symmetric::hmac_case;
use num_bigint::BigUint;
use rand::rngs::StdRng;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// The run of an operation with room for `room` bytes of message; none of another kind.
pub fn run(operation: &Operation, room: usize, rng: &mut StdRng) -> Option<Run> {
    match operation.name.as_str() {
        "hmac-sha256" => Some(hmac_run(rng)),
        "hkdf-sha256" => Some(hkdf_run(room.min(80), rng)),
        name @ ("x963-kdf" | "single-step-kdf") => Some(counted_run(name, room.min(80), rng)),
        _ => hash_run(operation, rng),
    }
}

/// A hash of a secret.
fn hash_run(operation: &Operation, rng: &mut StdRng) -> Option<Run> {
    let is_hash = ["sha", "ascon-hash"].iter().any(|prefix| operation.name.starts_with(prefix));
    let (case, mut secrets) = (super::random_case(operation, 32, rng), Secrets::default());
    let message = case.inputs.iter().find(|(name, _)| *name == "message").map(|(_, bytes)| bytes)?;
    secrets.bytes("the message", message);
    if operation.name == "sha256" {
        Sha256Trace::default().hash(&mut secrets, "the message", message, true);
    }
    case.outputs.iter().for_each(|(_, bytes)| secrets.public(bytes));
    is_hash.then_some((case, secrets))
}

/// SHA-256 with what it holds on its way, FIPS 180-4 section 6.2.
pub struct Sha256Trace {
    state: [u32; 8],
}

impl Default for Sha256Trace {
    fn default() -> Self {
        let state = [
            0x6a09_e667,
            0xbb67_ae85,
            0x3c6e_f372,
            0xa54f_f53a,
            0x510e_527f,
            0x9b05_688c,
            0x1f83_d9ab,
            0x5be0_cd19,
        ];
        Sha256Trace { state }
    }
}

/// The first 32 bits of the fractional parts of the cube roots of the first primes.
static ROUND_CONSTANTS: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let is_prime = |&n: &u64| (2..n).all(|d| n % d != 0);
    // The cube root in units of 2^-32.
    let root = |prime: u64| (BigUint::from(prime) << 96usize).cbrt().iter_u32_digits().next().unwrap_or(0);
    (2..).filter(is_prime).take(64).map(root).collect()
});

impl Sha256Trace {
    /// A block; its words and all of the message schedule where it is secret, and the working
    /// variables.
    pub fn block(&mut self, secrets: &mut Secrets, name: &str, block: &[u8], is_secret: bool) {
        let mut w: Vec<u32> =
            block.chunks(4).map(|word| u32::from_be_bytes(word.try_into().expect("4 bytes"))).collect();
        for t in 16..64 {
            let s0 = w[t - 15].rotate_right(7) ^ w[t - 15].rotate_right(18) ^ w[t - 15] >> 3;
            let s1 = w[t - 2].rotate_right(17) ^ w[t - 2].rotate_right(19) ^ w[t - 2] >> 10;
            w.push(w[t - 16].wrapping_add(s0).wrapping_add(w[t - 7]).wrapping_add(s1));
        }
        if is_secret {
            secrets.bytes(name, &w.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>());
        }
        let initial = self.state;
        let mut v = initial;
        for (w, k) in w.iter().zip(&*ROUND_CONSTANTS) {
            let [a, b, c, d, e, f, g, h] = v;
            let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let t1 = h.wrapping_add(s1).wrapping_add(e & f ^ !e & g).wrapping_add(*k).wrapping_add(*w);
            let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let t2 = s0.wrapping_add(a & b ^ a & c ^ b & c);
            v = [t1.wrapping_add(t2), a, b, c, d.wrapping_add(t1), e, f, g];
            for at in 0..8 {
                let pair = [v[at], v[(at + 1) % 8]];
                if pair.iter().any(|word| !initial.contains(word)) {
                    secrets.bytes("a hash's working variables", &pair.map(u32::to_be_bytes).concat());
                }
            }
        }
        self.state.iter_mut().zip(v).for_each(|(state, v)| *state = state.wrapping_add(v));
        secrets.bytes(&format!("{name}: a hash's state"), &self.digest());
    }

    /// A whole message.
    pub fn hash(&mut self, secrets: &mut Secrets, name: &str, message: &[u8], is_secret: bool) -> Vec<u8> {
        self.ended(secrets, name, message, 0, is_secret)
    }

    /// Adds the end of a message, of which `before` bytes are hashed.
    fn ended(
        &mut self,
        secrets: &mut Secrets,
        name: &str,
        message: &[u8],
        before: usize,
        is_secret: bool,
    ) -> Vec<u8> {
        let mut padded = [message, &[0x80]].concat();
        while padded.len() % 64 != 56 {
            padded.push(0);
        }
        padded.extend((8 * (before + message.len()) as u64).to_be_bytes());
        secrets.public(&padded[message.len()..]);
        padded.chunks(64).for_each(|block| self.block(secrets, name, block, is_secret));
        self.digest()
    }

    fn digest(&self) -> Vec<u8> {
        self.state.iter().flat_map(|word| word.to_be_bytes()).collect()
    }
}

/// FIPS 198-1 with a key of at most a block: both hashes with what they hold.
pub fn hmac(secrets: &mut Secrets, name: &str, key: &[u8], message: &[u8]) -> Vec<u8> {
    secrets.mac_key(name, key);
    let [mut inner, mut outer] = [0x36, 0x5c].map(|pad| {
        let mut block = vec![pad; 64];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        let mut trace = Sha256Trace::default();
        trace.block(secrets, name, &block, true);
        trace
    });
    let digest = inner.ended(secrets, "the inner hash", message, 64, false);
    outer.ended(secrets, "the inner hash", &digest, 64, true)
}

fn hmac_run(rng: &mut StdRng) -> Run {
    let (key, message, mut secrets) = (random(32, rng), random(32, rng), Secrets::default());
    let mac = hmac(&mut secrets, "the key", &key, &message);
    secrets.public(&mac);
    (hmac_case(key, message).expect("a key of any length"), secrets)
}

/// Key derivation by a hash with a counter, behind the secret or before it.
fn counted_run(name: &str, bytes: usize, rng: &mut StdRng) -> Run {
    let (z, info, mut secrets) = (random(32, rng), random(16, rng), Secrets::default());
    let counts_first = name == "single-step-kdf";
    let output = if counts_first { single_step_kdf } else { x963_kdf }(&z, &info, bytes);
    secrets.bytes("z", &z);
    for counter in (1..=bytes.div_ceil(32) as u32).map(u32::to_be_bytes) {
        let (message, public) = match counts_first {
            true => ([&counter[..], &z, &info].concat(), info.clone()),
            false => ([&*z, &counter, &info].concat(), [&counter[..], &info].concat()),
        };
        Sha256Trace::default().hash(&mut secrets, "a block of key", &message, true);
        secrets.public(&public);
    }
    let inputs = vec![("key", z), ("aad", info), ("message", vec![0; bytes])];
    (Case { inputs, outputs: vec![("output", output)], ..Case::default() }, secrets)
}

fn hkdf_run(bytes: usize, rng: &mut StdRng) -> Run {
    let (salt, material, info) = (random(16, rng), random(32, rng), random(16, rng));
    let mut secrets = Secrets::default();
    secrets.bytes("the input key", &material);
    let key = hmac(&mut secrets, "the salt", &salt, &material);
    let mut last = Vec::new();
    for counter in 1..=bytes.div_ceil(32) as u8 {
        last = hmac(&mut secrets, "the PRK", &key, &[&*last, &info, &[counter]].concat());
        secrets.bytes(&format!("T({counter})"), &last);
        secrets.public(&[&*info, &[counter]].concat());
    }
    let output = hkdf(&salt, &material, &info, bytes);
    let inputs = vec![("nonce", salt), ("key", material), ("aad", info), ("message", vec![0; bytes])];
    (Case { inputs, outputs: vec![("output", output)], result: Some(0), ..Case::default() }, secrets)
}

/// A traced hash computes the library's values.
#[test]
fn traced_hash_gives_what_the_library_gives() {
    use rand::SeedableRng;

    let mut rng = StdRng::seed_from_u64(testkit::random::seed());
    let mut secrets = Secrets::default();
    let (message, key) = (random(150, &mut rng), random(32, &mut rng));
    let hash = Sha256Trace::default().hash(&mut secrets, "", &message, true);
    assert_eq!(hash, Sha256::digest(&message).to_vec());
    let mac = hmac_case(key.clone(), message.clone()).expect("a key").outputs.remove(0).1;
    assert_eq!(hmac(&mut secrets, "", &key, &message), mac);
}
