//! LMS and HSS signatures and their verification on RustCrypto's SHA-256, RFC 8554 sections 4 to 6,
//! with LMS_SHA256_M32_H5 and LMOTS_SHA256_N32_W8.

use super::{Case, bytes_of};
use rand::{Rng, rngs::StdRng};
use sha2::{Digest, Sha256};

type Node = [u8; 32];

/// u32str(LMS_SHA256_M32_H5) and u32str(LMOTS_SHA256_N32_W8), tables 2 and 1.
const TREE: [u8; 4] = [0, 0, 0, 5];
const ONE_TIME: [u8; 4] = [0, 0, 0, 4];
const HEIGHT: usize = 5;
/// p of table 1: 32 digits of the digest and two of its checksum, a byte each.
const VALUES: usize = 34;

/// A hash of what begins with I and a number.
fn hash(id: &[u8], number: u32, pieces: &[&[u8]]) -> Node {
    let mut digest = Sha256::new();
    digest.update(id);
    digest.update(number.to_be_bytes());
    pieces.iter().for_each(|piece| digest.update(piece));
    digest.finalize().into()
}

/// Q and its checksum, sections 4.4 and 4.5.
fn digits(id: &[u8], leaf: u32, randomizer: &[u8], message: &[u8]) -> impl Iterator<Item = u8> {
    let digest = hash(id, leaf, &[&[0x81, 0x81], randomizer, message]);
    let checksum: u16 = digest.iter().map(|&digit| 255 - u16::from(digit)).sum();
    digest.into_iter().chain(checksum.to_be_bytes())
}

/// A signature in its parts.
struct Signature {
    leaf: u32,
    randomizer: Node,
    values: Vec<Node>,
    path: Vec<Node>,
}

impl Signature {
    /// Section 5.4.
    fn bytes(&self) -> Vec<u8> {
        let head = [&self.leaf.to_be_bytes(), ONE_TIME.as_slice(), &self.randomizer].concat();
        [head, self.values.concat(), TREE.to_vec(), self.path.concat()].concat()
    }

    /// The root that it leads to: algorithms 4b and 6a.
    fn root(&self, id: &[u8], message: &[u8]) -> Node {
        let ends: Vec<Node> = digits(id, self.leaf, &self.randomizer, message)
            .zip(&self.values)
            .zip(0u16..)
            .map(|((digit, value), place)| {
                let step =
                    |value: Node, step: u8| hash(id, self.leaf, &[&place.to_be_bytes(), &[step], &value]);
                (digit..255).fold(*value, step)
            })
            .collect();
        let key = hash(id, self.leaf, &[&[0x80, 0x80], &ends.concat()]);
        let leaf = (1 << HEIGHT) + self.leaf;
        let start = (leaf, hash(id, leaf, &[&[0x82, 0x82], &key]));
        let (_, root) = self.path.iter().fold(start, |(number, node), beside| {
            let (left, right) = if number & 1 == 1 { (beside, &node) } else { (&node, beside) };
            (number / 2, hash(id, number / 2, &[&[0x83, 0x83], left, right]))
        });
        root
    }
}

/// Algorithm 3, with the secret values of appendix A: `values` of a signature.
fn values(id: &[u8], leaf: u32, seed: &[u8], randomizer: &[u8], message: &[u8]) -> Vec<Node> {
    let hash_at =
        |place: u16, step: u8, value: &[u8]| hash(id, leaf, &[&place.to_be_bytes(), &[step], value]);
    digits(id, leaf, randomizer, message)
        .zip(0..)
        .map(|(digit, place)| {
            let secret = hash_at(place, 0xff, seed);
            (0..digit).fold(secret, |value, step| hash_at(place, step, &value))
        })
        .collect()
}

/// A case with random inputs, on `bytes` of message; `None` for another operation.
pub(super) fn case(name: &str, bytes: usize, rng: &mut StdRng) -> Option<Case> {
    match name {
        "lms-sha256-m32-h5-sign" => Some(random_signature(bytes, rng)),
        "lms-sha256-m32-h5-verify" => Some(random_verification(bytes, rng)),
        "hss-sha256-m32-h5-h5-verify" => Some(random_hss_verification(bytes, rng)),
        _ => None,
    }
}

/// A signature with nodes that are anything: they are what is shown of the tree.
fn random_signature(bytes: usize, rng: &mut StdRng) -> Case {
    let (id, seed, randomizer) = (bytes_of(16, rng), bytes_of(32, rng), bytes_of(32, rng));
    let (nodes, message) = (bytes_of(2 * 32 << HEIGHT, rng), bytes_of(bytes, rng));
    signature(seed, &id, rng.random_range(0..1 << HEIGHT), &randomizer, message, nodes)
}

/// A signature by a leaf of a tree whose nodes are given, as `device/crypto/lms_sign_bench.h` has
/// it.
#[must_use]
pub fn signature(
    seed: Vec<u8>,
    id: &[u8],
    leaf: u32,
    randomizer: &[u8],
    message: Vec<u8>,
    nodes: Vec<u8>,
) -> Case {
    let way = (0..HEIGHT).map(|height| ((1 << HEIGHT) + leaf as usize) >> height ^ 1);
    let made = Signature {
        leaf,
        randomizer: randomizer.try_into().expect("32 bytes"),
        values: values(id, leaf, &seed, randomizer, &message),
        path: way.map(|node| nodes[32 * node..][..32].try_into().expect("32 bytes")).collect(),
    };
    let whole = made.bytes();
    let (head, rest) = whole.split_at(40);
    let output = [head, &fold(rest)].concat();
    let aad = [id, &leaf.to_be_bytes(), randomizer].concat();
    Case {
        inputs: vec![("key", seed), ("aad", aad), ("message", message), ("stored", nodes)],
        outputs: vec![("output", output)],
        result: Some(0),
        ..Case::default()
    }
}

/// Folds the pieces of a signature as the device does: the values, the type with the bytes behind
/// the last value, the nodes.
fn fold(rest: &[u8]) -> Vec<u8> {
    let (values, rest) = rest.split_at(32 * VALUES);
    let (kind, path) = rest.split_at(4);
    let last = &values[32 * (VALUES - 1) + 4..];
    let whole = [values, kind, last, path].concat();
    let mut folded = [0u8; 32];
    for (index, piece) in whole.chunks(32).enumerate() {
        for (sum, byte) in folded.iter_mut().zip(piece) {
            *sum = sum.wrapping_mul(3).wrapping_add(byte ^ index as u8);
        }
    }
    folded.to_vec()
}

/// A public key and a signature of the message: any values are one under the key that they lead to.
fn random_key(message: &[u8], rng: &mut StdRng) -> (Vec<u8>, Vec<u8>) {
    let mut node = |_| -> Node { bytes_of(32, rng).try_into().expect("32 bytes") };
    let randomizer = node(0);
    let values = (0..VALUES).map(&mut node).collect();
    let path = (0..HEIGHT).map(&mut node).collect();
    let signature = Signature { leaf: rng.random_range(0..1 << HEIGHT), randomizer, values, path };
    let id = bytes_of(16, rng);
    let key = [TREE.as_slice(), &ONE_TIME, &id, &signature.root(&id, message)].concat();
    (key, signature.bytes())
}

/// One in eight is wrong.
fn random_verification(bytes: usize, rng: &mut StdRng) -> Case {
    let message = bytes_of(bytes, rng);
    let (key, stored) = random_key(&message, rng);
    // Behind the head: what is in it says what is hashed.
    one_in_eight_wrong(key, message, stored, 40, rng)
}

/// The same of two levels, section 6. In the head of the first, too, a bit that is wrong ends it.
fn random_hss_verification(bytes: usize, rng: &mut StdRng) -> Case {
    let message = bytes_of(bytes, rng);
    let (lower_key, lower) = random_key(&message, rng);
    let (upper_key, upper) = random_key(&lower_key, rng);
    let key = [[0, 0, 0, 2].as_slice(), &upper_key].concat();
    let stored = [[0, 0, 0, 1].as_slice(), &upper, &lower_key, &lower].concat();
    one_in_eight_wrong(key, message, stored, 0, rng)
}

/// A verification of a good signature, or of one with a wrong bit behind `from` bytes.
fn one_in_eight_wrong(
    key: Vec<u8>,
    message: Vec<u8>,
    mut signature: Vec<u8>,
    from: usize,
    rng: &mut StdRng,
) -> Case {
    let is_wrong = rng.random_range(0..8) == 0;
    if is_wrong {
        let bit = rng.random_range(8 * from..8 * signature.len());
        signature[bit / 8] ^= 1 << (bit % 8);
    }
    verification(key, message, signature, !is_wrong)
}

/// A verification of a signature that is good or is not.
#[must_use]
pub fn verification(key: Vec<u8>, message: Vec<u8>, signature: Vec<u8>, is_good: bool) -> Case {
    Case {
        inputs: vec![("key", key), ("message", message), ("stored", signature)],
        result: Some(if is_good { 0 } else { -1 }),
        ..Case::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signatures_of_rfc_8554_lead_to_their_roots() {
        let nodes = |bytes: &[u8]| bytes.chunks(32).map(|node| node.try_into().expect("32 bytes")).collect();
        let cases = testkit::vectors::lms();
        let cases: Vec<_> =
            cases.iter().filter(|case| case.public_key[..8] == [TREE, ONE_TIME].concat()).collect();
        assert_eq!(cases.len(), 3);
        let mut of_the_seed = 0;
        for case in cases {
            let (values, rest) = case.signature[40..].split_at(32 * VALUES);
            let signature = Signature {
                leaf: u32::from_be_bytes(case.signature[..4].try_into().expect("4 bytes")),
                randomizer: case.signature[8..40].try_into().expect("32 bytes"),
                values: nodes(values),
                path: nodes(&rest[4..]),
            };
            assert_eq!(signature.bytes(), case.signature);
            assert_eq!(signature.root(&case.public_key[8..24], &case.message), case.public_key[24..]);
            // Appendix F, test case 2: the lower tree, whose seed it gives.
            let seed = hex_literal::hex!("a1c4696e2608035a886100d05cd99945eb3370731884a8235e2fb3d4d71f2547");
            if case.public_key[8..10] == hex_literal::hex!("215f") {
                let id = &case.public_key[8..24];
                let made = super::values(id, signature.leaf, &seed, &signature.randomizer, &case.message);
                assert_eq!(made, signature.values);
                of_the_seed += 1;
            }
        }
        assert_eq!(of_the_seed, 1);
    }
}
