//! LMS on the host build: RFC 8554's signatures, those of another implementation with each type,
//! what another implementation takes, and what must be refused.

use crate::hss::signed;
use crate::pieces::pieces;
use device::crypto::lms::{Piece, keygen, sign, verify};
use hbs_lms::{LmotsAlgorithm, Sha256_256};
use testkit::vectors::{self, LmsCase};

/// In one piece each.
fn verified(case: &LmsCase) -> (i32, i32) {
    let (head, rest) = case.signature.split_first_chunk().expect("it has a head");
    verify(&case.public_key, head, [Piece::Message(&case.message), Piece::Signature(rest)])
}

#[test]
fn the_signatures_of_rfc_8554_are_good_however_they_are_cut() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    let cases = vectors::lms();
    assert_eq!(cases.len(), 4);
    for case in &cases {
        assert_eq!(verified(case), (0, 0));
        for longest in [1, 5, 40, 300] {
            let (head, rest) = case.signature.split_first_chunk().expect("it has a head");
            let message = pieces(&mut random, &case.message, longest);
            let rest = pieces(&mut random, rest, longest);
            let all = message.into_iter().map(Piece::Message).chain(rest.into_iter().map(Piece::Signature));
            assert_eq!(verify(&case.public_key, head, all), (0, 0), "pieces of up to {longest} bytes");
        }
    }
}

#[test]
fn another_implementation_s_signature_verifies_at_any_width() {
    let seed = testkit::random::seed();
    let mut random = fastrand::Rng::with_seed(seed);
    let widths =
        [LmotsAlgorithm::LmotsW1, LmotsAlgorithm::LmotsW2, LmotsAlgorithm::LmotsW4, LmotsAlgorithm::LmotsW8];
    for width in widths {
        for case in signed(&[width], 3, &mut random) {
            // Of one level: its number, 1, and the number of signed keys, 0, stand before LMS's.
            let (public, signature) = (&case.public_key, &case.signature);
            assert_eq!((&public[..4], &signature[..4]), ([0, 0, 0, 1].as_slice(), [0; 4].as_slice()));
            let case = LmsCase {
                public_key: public[4..].try_into().expect("56 bytes"),
                message: case.message,
                signature: signature[4..].to_vec(),
            };
            assert_eq!(verified(&case), (0, 0), "type {}", case.public_key[7]);
        }
    }
}

#[test]
fn verify_refuses_a_changed_message_or_signature() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for case in vectors::lms() {
        let refused = |wrong: &LmsCase, what: &str| assert_eq!(verified(wrong).1, -1, "{what}");
        // All of the types, and of the rest some.
        for bit in (0..64).chain((64..8 * 56).step_by(7)) {
            let mut wrong = case.clone();
            wrong.public_key[bit / 8] ^= 1 << (bit % 8);
            refused(&wrong, &format!("bit {bit} of the public key"));
        }
        // All of the head and of what is around the type of the tree, and of the rest some.
        let length = case.signature.len();
        let kind = length - 4 - 32 * 5 * usize::from(case.public_key[3] - 4);
        let some: Vec<usize> = (0..200).map(|_| random.usize(0..8 * length)).collect();
        for bit in (0..8 * 40).chain(8 * (kind - 1)..8 * (kind + 5)).chain(some) {
            let mut wrong = case.clone();
            wrong.signature[bit / 8] ^= 1 << (bit % 8);
            refused(&wrong, &format!("bit {bit} of the signature"));
        }
        let mut shorter = case.clone();
        shorter.message.pop();
        refused(&shorter, "a byte less of the message");
        let mut longer = case.clone();
        longer.message.push(0);
        refused(&longer, "a byte more");
        for end in (40..length).step_by(61).chain(length - 40..length) {
            let mut wrong = case.clone();
            wrong.signature.truncate(end);
            refused(&wrong, &format!("{end} bytes of the signature"));
        }
        for more in [1, 4, 31, 32, 33, 65536] {
            let mut wrong = case.clone();
            wrong.signature.resize(length + more, 0);
            refused(&wrong, &format!("{more} bytes more"));
        }
        // A key of its own kind, with all that follows of another: what is known is there alone.
        for (byte, kinds) in [(3, [0, 4, 10, 255]), (7, [0, 5, 9, 255])] {
            for kind in kinds {
                let mut wrong = case.clone();
                wrong.public_key[byte] = kind;
                assert_eq!(verified(&wrong), (-1, -1), "type {kind}");
            }
        }
        let mut beyond = case.clone();
        beyond.signature[..4].copy_from_slice(&(1u32 << (5 * (case.public_key[3] - 4))).to_be_bytes());
        assert_eq!(verified(&beyond), (-1, -1), "a leaf that the tree does not have");
    }
}

#[test]
fn message_that_goes_on_behind_the_signature_is_refused() {
    let case = &vectors::lms()[0];
    let (head, rest) = case.signature.split_first_chunk().expect("it has a head");
    for at in [0, 1, 32, rest.len()] {
        let (first, second) = rest.split_at(at);
        let all = [
            Piece::Message(&case.message),
            Piece::Signature(first),
            Piece::Message(&[]),
            Piece::Signature(second),
        ];
        assert_eq!(verify(&case.public_key, head, all), (0, -1), "behind {at} bytes");
    }
}

/// RFC 8554 appendix F, test case 2, the lower tree: LMS_SHA256_M32_H5 with LMOTS_SHA256_N32_W8,
/// whose seed it gives, too.
#[test]
fn the_key_and_the_signature_of_rfc_8554_are_made_of_its_seed() {
    let seed = bytes("a1c4696e2608035a886100d05cd99945eb3370731884a8235e2fb3d4d71f2547");
    let case = vectors::lms().pop().expect("four of them");
    let identifier = case.public_key[8..24].try_into().expect("16 bytes");
    assert_eq!(keygen(5, &seed, identifier), Some(case.public_key));
    let leaf = u32::from_be_bytes(case.signature[..4].try_into().expect("4 bytes"));
    let randomizer = case.signature[8..40].try_into().expect("32 bytes");
    let signature = sign(5, &seed, identifier, leaf, randomizer, &case.message);
    assert!(signature == Some(case.signature));
}

fn bytes(digits: &str) -> [u8; 32] {
    std::array::from_fn(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).expect("hexadecimal"))
}

fn signatures_of_a_tree_verify(height: u8) {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    let (seed, randomizer) = (std::array::from_fn(|_| random.u8(..)), std::array::from_fn(|_| random.u8(..)));
    let identifier = std::array::from_fn(|_| random.u8(..));
    let public_key = keygen(height, &seed, &identifier).expect("a known height");
    let last = (1 << height) - 1;
    for leaf in [0, random.u32(1..last), last] {
        let message: Vec<u8> = (0..random.usize(0..200)).map(|_| random.u8(..)).collect();
        let signature =
            sign(height, &seed, &identifier, leaf, &randomizer, &message).expect("the tree has this leaf");
        // Of one level, as above.
        let (public, signed) =
            ([&[0, 0, 0, 1], public_key.as_slice()].concat(), [&[0; 4], signature.as_slice()].concat());
        assert!(hbs_lms::verify::<Sha256_256>(&message, &signed, &public).is_ok(), "leaf {leaf}");
        assert_eq!(verified(&LmsCase { public_key, message, signature }), (0, 0), "leaf {leaf}");
    }
    for leaf in [last + 1, 1 << 16, u32::MAX] {
        assert_eq!(sign(height, &seed, &identifier, leaf, &randomizer, b""), None, "leaf {leaf}");
    }
}

#[test]
fn another_implementation_takes_what_is_signed() {
    signatures_of_a_tree_verify(5);
}

#[test]
#[ignore = "9 million hashes"]
fn another_implementation_verifies_a_tree_of_1024_leaves() {
    signatures_of_a_tree_verify(10);
}

#[test]
fn trees_of_other_heights_are_not_made() {
    for height in [0, 4, 6, 15, 255] {
        assert_eq!(keygen(height, &[1; 32], &[2; 16]), None);
        assert_eq!(sign(height, &[1; 32], &[2; 16], 0, &[3; 32], b""), None);
    }
}
