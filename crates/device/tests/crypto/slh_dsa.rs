//! SLH-DSA on the host build: NIST's keys and signatures, what another implementation takes, and
//! what must be refused.

use crate::pieces::pieces;
use device::crypto::slh_dsa::{Piece, SHA2_128F, SHA2_128S, keygen, sign, verify};
use fips205::slh_dsa_sha2_128f;
use fips205::traits::{SerDes, Verifier};
use testkit::vectors::{self, SlhDsa, SlhDsaVerificationCase};

const SETS: [(u8, SlhDsa); 2] = [(SHA2_128S, SlhDsa::Sha2Small128), (SHA2_128F, SlhDsa::Sha2Fast128)];

/// In one piece each.
fn verified(set: u8, case: &SlhDsaVerificationCase) -> (i32, i32) {
    let (randomizer, rest) = case.signature.split_first_chunk().expect("it has R");
    let all = [Piece::Message(&case.message), Piece::Signature(rest)];
    verify(set, &case.public_key, randomizer, Some(&case.context), all)
}

fn good(set: SlhDsa) -> SlhDsaVerificationCase {
    vectors::slh_dsa(set).verifications.into_iter().find(|case| case.is_good).expect("one is")
}

#[test]
fn nist_s_signatures_are_good_or_not_as_nist_says() {
    for (set, published) in SETS {
        for case in vectors::slh_dsa(published).verifications {
            let length = case.signature.len();
            assert_eq!(verified(set, &case), (0, if case.is_good { 0 } else { -1 }), "{set}, {length} bytes");
        }
    }
}

#[test]
fn a_signature_is_good_however_it_is_cut() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for (set, published) in SETS {
        let case = good(published);
        let (randomizer, rest) = case.signature.split_first_chunk().expect("it has R");
        for longest in [1, 5, 40, 300] {
            let message = pieces(&mut random, &case.message, longest);
            let rest = pieces(&mut random, rest, longest);
            let all = message.into_iter().map(Piece::Message).chain(rest.into_iter().map(Piece::Signature));
            let results = verify(set, &case.public_key, randomizer, Some(&case.context), all);
            assert_eq!(results, (0, 0), "pieces of up to {longest} bytes");
        }
    }
}

/// FIPS 205 algorithm 24: what the internal interface is called with.
#[test]
fn the_internal_interface_takes_the_message_as_it_is() {
    for (set, published) in SETS {
        let case = good(published);
        let (randomizer, rest) = case.signature.split_first_chunk().expect("it has R");
        let prefix = [0, u8::try_from(case.context.len()).expect("255 at most")];
        let inner = [prefix.as_slice(), &case.context, &case.message].concat();
        let internal = |message| {
            let all = [Piece::Message(message), Piece::Signature(rest)];
            verify(set, &case.public_key, randomizer, None, all)
        };
        assert_eq!((internal(&inner), internal(&case.message)), ((0, 0), (0, -1)));
    }
}

#[test]
fn verify_refuses_a_changed_message_or_signature() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for (set, published) in SETS {
        let case = good(published);
        let refused = |wrong: &SlhDsaVerificationCase, what: &str| {
            assert_eq!(verified(set, wrong), (0, -1), "{what}");
        };
        for bit in (0..256).step_by(7) {
            let mut wrong = case.clone();
            wrong.public_key[bit / 8] ^= 1 << (bit % 8);
            refused(&wrong, &format!("bit {bit} of the public key"));
        }
        // All of R, and of the rest some.
        let length = case.signature.len();
        for bit in (0..128).chain((0..200).map(|_| random.usize(0..8 * length))) {
            let mut wrong = case.clone();
            wrong.signature[bit / 8] ^= 1 << (bit % 8);
            refused(&wrong, &format!("bit {bit} of the signature"));
        }
        for end in (16..length).step_by(997).chain(length - 20..length) {
            let mut wrong = case.clone();
            wrong.signature.truncate(end);
            refused(&wrong, &format!("{end} bytes of the signature"));
        }
        for more in [1, 15, 16, 17, 65536] {
            let mut wrong = case.clone();
            wrong.signature.resize(length + more, 0);
            refused(&wrong, &format!("{more} bytes more"));
        }
        let mut moved = case.clone();
        moved.message.insert(0, moved.context.pop().expect("it has a context"));
        refused(&moved, "a byte of the context that is in the message");
        let mut without = case.clone();
        without.context.clear();
        refused(&without, "no context");
        let other = if set == SHA2_128S { SHA2_128F } else { SHA2_128S };
        assert_eq!(verified(other, &case), (0, -1), "the other parameter set");
        assert_eq!(verified(2, &case), (-1, -1), "a parameter set that there is not");
        let mut long = case.clone();
        long.context = vec![0; 256];
        assert_eq!(verified(set, &long), (-1, -1), "256 bytes of context");
        let (randomizer, rest) = case.signature.split_first_chunk().expect("it has R");
        for at in [0, 1, 16, rest.len()] {
            let (first, second) = rest.split_at(at);
            let message = Piece::Message(&case.message);
            let all = [message, Piece::Signature(first), Piece::Message(&[]), Piece::Signature(second)];
            let results = verify(set, &case.public_key, randomizer, Some(&case.context), all);
            assert_eq!(results, (0, -1), "a message behind {at} bytes of the signature");
        }
    }
}

#[test]
fn keys_are_nist_s() {
    for (set, published) in SETS {
        // A tree of 128s has 512 leaves.
        let some = if set == SHA2_128S { 1 } else { 10 };
        for key in vectors::slh_dsa(published).keys.iter().take(some) {
            assert_eq!(keygen(set, key.first_chunk().expect("48 bytes")).as_ref(), Some(key));
        }
    }
}

fn signatures_are_nist_s(set: u8, published: SlhDsa) {
    for case in vectors::slh_dsa(published).signatures {
        let random = case.private_key[32..48].try_into().expect("16 bytes");
        let signature = sign(set, &case.private_key, random, &case.context, &case.message);
        assert!(signature == Some(case.signature));
    }
}

#[test]
fn signatures_with_the_fast_set_are_nist_s() {
    signatures_are_nist_s(SHA2_128F, SlhDsa::Sha2Fast128);
}

#[test]
#[ignore = "4.5 million hashes"]
fn signatures_with_the_small_set_are_nist_s() {
    signatures_are_nist_s(SHA2_128S, SlhDsa::Sha2Small128);
}

#[test]
fn another_implementation_takes_what_is_signed() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for length in [0, 1, 255] {
        let seeds: [u8; 48] = std::array::from_fn(|_| random.u8(..));
        let private_key = keygen(SHA2_128F, &seeds).expect("a known set");
        let public_key: [u8; 32] = private_key[32..].try_into().expect("32 bytes");
        let context: Vec<u8> = (0..length).map(|_| random.u8(..)).collect();
        let message: Vec<u8> = (0..random.usize(0..200)).map(|_| random.u8(..)).collect();
        let hedge = std::array::from_fn(|_| random.u8(..));
        let signature = sign(SHA2_128F, &private_key, &hedge, &context, &message).expect("a known set");
        let theirs = slh_dsa_sha2_128f::PublicKey::try_from_bytes(public_key).expect("a public key");
        let as_array = signature.as_slice().try_into().expect("17,088 bytes");
        assert!(theirs.verify(&message, as_array, &context), "{length} bytes of context");
        let case = SlhDsaVerificationCase { public_key, context, message, signature, is_good: true };
        assert_eq!(verified(SHA2_128F, &case), (0, 0));
    }
}

#[test]
fn keygen_and_sign_refuse_unusable_parameters() {
    assert_eq!(keygen(2, &[1; 48]), None);
    assert_eq!(sign(2, &[1; 64], &[2; 16], b"", b"message"), None);
    assert_eq!(sign(SHA2_128F, &[1; 64], &[2; 16], &[0; 256], b"message"), None);
}
