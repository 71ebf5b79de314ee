//! Verification of LMS signatures on RustCrypto's SHA-256, RFC 8554 sections 4 and 5, with LMS_SHA256_M32_H5 and
//! LMOTS_SHA256_N32_W8.

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
        let digest = hash(id, self.leaf, &[&[0x81, 0x81], &self.randomizer, message]);
        let checksum: u16 = digest.iter().map(|&digit| 255 - u16::from(digit)).sum();
        let digits = digest.into_iter().chain(checksum.to_be_bytes());
        let ends: Vec<Node> = digits
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

/// A case with random inputs, on `bytes` of message; `None` for another operation. Any values are a signature under the key that they lead to.
/// One in eight is wrong.
pub(super) fn case(name: &str, bytes: usize, rng: &mut StdRng) -> Option<Case> {
    if name != "lms-sha256-m32-h5-verify" {
        return None;
    }
    let mut node = |_| -> Node { bytes_of(32, rng).try_into().expect("32 bytes") };
    let randomizer = node(0);
    let values = (0..VALUES).map(&mut node).collect();
    let path = (0..HEIGHT).map(&mut node).collect();
    let signature = Signature { leaf: rng.random_range(0..1 << HEIGHT), randomizer, values, path };
    let (id, message) = (bytes_of(16, rng), bytes_of(bytes, rng));
    let key = [TREE.as_slice(), &ONE_TIME, &id, &signature.root(&id, &message)].concat();
    let mut stored = signature.bytes();
    let wrong = rng.random_range(0..8) == 0;
    if wrong {
        // Behind the head: what is in it says what is hashed.
        let bit = rng.random_range(8 * 40..8 * stored.len());
        stored[bit / 8] ^= 1 << (bit % 8);
    }
    Some(verification(key, message, stored, !wrong))
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
        }
    }
}
