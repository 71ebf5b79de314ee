//! Secrets of hash-based signatures: seeds, and the values of chains and pairs that a signature
//! does not show.

use super::secrets::Secrets;
use super::{Run, random_case};
use hmac::{Hmac, Mac};
use lab::operations::Operation;
use rand::rngs::StdRng;
use sha2::{Digest, Sha256};

fn sha256(pieces: &[&[u8]]) -> Vec<u8> {
    Sha256::digest(pieces.concat()).to_vec()
}

/// RFC 8554: H(I || q || u16str(place) || u8str(step) || value).
fn hash(name: &[u8], place: u16, step: u8, value: &[u8]) -> Vec<u8> {
    sha256(&[name, &place.to_be_bytes(), &[step], value])
}

/// RFC 8554 algorithm 2 and table 1: `pieces` digits of `bits` bits, of a digest and its checksum,
/// which is shifted by `shift` bits.
fn digits(digest: &[u8], bits: u8, pieces: usize, shift: u8) -> Vec<u8> {
    let split = |byte: &u8| {
        let byte = *byte;
        (0..8 / bits).rev().map(move |index| byte >> (bits * index) & (0xff >> (8 - bits)))
    };
    let digits: Vec<u8> = digest.iter().flat_map(split).collect();
    let sum: u16 = digits.iter().map(|&digit| (1 << bits) - 1 - u16::from(digit)).sum();
    let checksum = (sum << shift).to_be_bytes();
    digits.iter().copied().chain(checksum.iter().flat_map(split)).take(pieces).collect()
}

impl Secrets {
    /// The values of a chain before a step, from the seed's on.
    fn chain(&mut self, name: &[u8], seed: &[u8], place: u16, end: u8) {
        let mut value = hash(name, place, 0xff, seed);
        for step in 0..end {
            self.bytes("a value of a chain", &value);
            value = hash(name, place, step, &value);
        }
    }
}

/// A run of an operation; none of another kind.
pub fn run(operation: &Operation, rng: &mut StdRng) -> Option<Run> {
    let (scheme, action) = operation.name.rsplit_once('-')?;
    if !["lamport", "winternitz", "winternitz-w2", "lms-sha256-m32-h5", "slh-dsa-sha2-128f"].contains(&scheme)
    {
        return None;
    }
    let (case, mut secrets) = (random_case(operation, 32, rng), Secrets::default());
    let input = |name: &str| -> &[u8] {
        case.inputs.iter().find(|(input, _)| *input == name).map_or(&[], |(_, bytes)| bytes)
    };
    let (seed, aad, message) = (input("key"), input("aad"), input("message"));
    let name = &aad[..aad.len().min(20)];
    let digest = |kind: [u8; 2]| sha256(&[name, &kind, aad.get(20..).unwrap_or_default(), message]);
    if !scheme.starts_with("slh-dsa") {
        secrets.bytes("the seed", seed);
    }
    match (scheme, action) {
        ("lamport", "keygen") => {
            (0x4000..0x4200).for_each(|place| secrets.bytes("a value", &hash(name, place, 0xff, seed)));
        }
        ("lamport", _) => {
            let digest = digest([0x85, 0x85]);
            for index in 0..256u16 {
                let bit = u16::from(digest[usize::from(index / 8)] >> (7 - index % 8) & 1);
                secrets.bytes("a value not shown", &hash(name, 0x4000 + 2 * index + (1 - bit), 0xff, seed));
            }
        }
        ("winternitz", "keygen") => (0..67).for_each(|place| secrets.chain(name, seed, place, 15)),
        ("winternitz", _) => (0..)
            .zip(digits(&digest([0x81, 0x81]), 4, 67, 4))
            .for_each(|(place, digit)| secrets.chain(name, seed, place, digit)),
        ("winternitz-w2", "keygen") => (0..133).for_each(|place| secrets.chain(name, seed, place, 3)),
        ("winternitz-w2", _) => (0..)
            .zip(digits(&digest([0x81, 0x81]), 2, 133, 6))
            .for_each(|(place, digit)| secrets.chain(name, seed, place, digit)),
        ("lms-sha256-m32-h5", _) => (0..)
            .zip(digits(&digest([0x81, 0x81]), 8, 34, 0))
            .for_each(|(place, digit)| secrets.chain(name, seed, place, digit)),
        _ => slh_dsa(&mut secrets, seed, aad, message, action == "sign"),
    }
    Some((case, secrets))
}

/// FIPS 205 with SLH-DSA-SHA2-128f: n, d, h', k, a and len.
const N: usize = 16;
const LAYERS: u32 = 22;
const TREE_HEIGHT: u32 = 3;
const FORS_TREES: u32 = 33;
const FORS_HEIGHT: u32 = 6;
const CHAINS: u32 = 35;

/// The private key, the values of the one-time signatures along the hypertree, and those of FORS,
/// of which a signature shows one a tree.
fn slh_dsa(secrets: &mut Secrets, private: &[u8], context: &[u8], message: &[u8], signs: bool) {
    let (seed, prf, public) = (&private[..N], &private[N..2 * N], &private[2 * N..3 * N]);
    secrets.bytes("SK.seed", seed);
    secrets.bytes("SK.prf", prf);
    // PRF of section 11.2.1, with a compressed address.
    let value = |layer: u32, tree: u64, kind: u8, pair: u32, index: u32| {
        let address = [
            &[layer as u8][..],
            &tree.to_be_bytes(),
            &[kind],
            &pair.to_be_bytes(),
            &[0; 4],
            &index.to_be_bytes(),
        ];
        // FORS has the index in the last word, WOTS+ its chain in the word before.
        let mut address = address.concat();
        if kind == 5 {
            address[14..].copy_from_slice(&[index.to_be_bytes(), [0; 4]].concat());
        }
        sha256(&[public, &[0; 64 - N], &address, seed])[..N].to_vec()
    };
    let mut one_time = |layer: u32, tree: u64| {
        for pair in 0..1 << TREE_HEIGHT {
            (0..CHAINS).for_each(|chain| {
                secrets.bytes("a one-time key", &value(layer, tree, 5, pair, chain));
            });
        }
    };
    if !signs {
        return one_time(LAYERS - 1, 0);
    }
    let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(prf).expect("a key");
    let head = [&[0, context.len() as u8], context, message].concat();
    mac.update(public);
    mac.update(&head);
    let randomizer = &mac.finalize().into_bytes()[..N];
    let inner = sha256(&[randomizer, &private[2 * N..], &head]);
    // MGF1: two blocks have the 34 bytes of the digest.
    let digest = [0u32, 1].map(|block| sha256(&[randomizer, public, &inner, &block.to_be_bytes()])).concat();
    let indices = &digest[25..34];
    let tree = u64::from_be_bytes(indices[..8].try_into().expect("8 bytes")) & (u64::MAX >> 1);
    let leaf = u32::from(indices[8]) & 7;
    (0..LAYERS).for_each(|layer| one_time(layer, tree >> (TREE_HEIGHT * layer)));
    let bit = |at: u32| u32::from(digest[at as usize / 8] >> (7 - at % 8) & 1);
    for fors in 0..FORS_TREES {
        let shown = (0..FORS_HEIGHT).fold(0, |index, at| index << 1 | bit(FORS_HEIGHT * fors + at));
        for index in 0..1 << FORS_HEIGHT {
            let value = value(0, tree, 6, leaf, (fors << FORS_HEIGHT) + index);
            if index == shown {
                secrets.public(&value);
            }
            secrets.bytes("a value of FORS", &value);
        }
    }
}

/// The reference is right: a signature shows the first value of a chain whose digit is 0, and one
/// of each tree of FORS.
#[test]
fn signature_shows_values_of_the_reference() {
    use fips205::slh_dsa_sha2_128f;
    use fips205::traits::{KeyGen, SerDes, Signer};

    let case = testkit::vectors::lm_ots_w4();
    let name = [case.id.as_slice(), &case.q.to_be_bytes()].concat();
    let mut secrets = Secrets::default();
    let digits = digits(&sha256(&[&name, &[0x81, 0x81], &case.randomizer, &case.message]), 4, 67, 4);
    (0..).zip(&digits).for_each(|(place, digit)| secrets.chain(&name, &case.seed, place, *digit));
    assert!(case.pieces.iter().all(|piece| secrets.find(0, piece).is_empty()), "shown values are no secrets");
    (0..).zip(&digits).for_each(|(place, digit)| secrets.chain(&name, &case.seed, place, *digit + 1));
    assert!(case.pieces.iter().all(|piece| secrets.find(0, piece).len() == 1));

    let key = slh_dsa_sha2_128f::KG::keygen_from_seed(&[7; N], &[8; N], &[9; N]).1;
    let signature = key.try_sign(b"message", b"context", false).expect("it signs");
    let mut secrets = Secrets::default();
    slh_dsa(&mut secrets, &key.into_bytes(), b"context", b"message", true);
    let shown = |tree: usize| &signature[N + tree * N * (1 + FORS_HEIGHT as usize)..][..N];
    assert!((0..FORS_TREES as usize).all(|tree| secrets.is_known_and_public(shown(tree))));
}
