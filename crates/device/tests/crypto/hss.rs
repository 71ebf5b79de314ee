//! HSS on the host build: RFC 8554's signatures, those of another implementation with one to four
//! levels, and what must be refused.

use crate::pieces::pieces;
use device::crypto::lms::{hss_verify, signature_bytes};
use hbs_lms::{HssParameter, LmotsAlgorithm, LmsAlgorithm, Seed, Sha256_256};
use testkit::vectors::{self, HssCase};

fn verified(case: &HssCase) -> (i32, i32) {
    hss_verify(&case.public_key, [case.message.as_slice()], &case.signature)
}

#[test]
fn rfc_8554_signatures_verify_in_any_pieces() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for case in vectors::hss() {
        assert_eq!(verified(&case), (0, 0));
        for longest in [1, 5, 40, 300] {
            let message = pieces(&mut random, &case.message, longest);
            assert_eq!(
                hss_verify(&case.public_key, message, &case.signature),
                (0, 0),
                "up to {longest} bytes"
            );
        }
    }
}

/// Keys of another implementation, with these levels, and `count` signatures.
pub fn signed(levels: &[LmotsAlgorithm], count: usize, random: &mut fastrand::Rng) -> Vec<HssCase> {
    let parameters: Vec<_> =
        levels.iter().map(|&width| HssParameter::<Sha256_256>::new(width, LmsAlgorithm::LmsH5)).collect();
    let bytes: [u8; 32] = std::array::from_fn(|_| random.u8(..));
    let (mut private, public) =
        hbs_lms::keygen::<Sha256_256>(&parameters, &Seed::from(bytes), None).expect("keys");
    let mut cases = Vec::new();
    for _ in 0..count {
        let message: Vec<u8> = (0..random.usize(0..200)).map(|_| random.u8(..)).collect();
        let mut next = Vec::new();
        let mut update = |key: &[u8]| {
            next = key.to_vec();
            Ok(())
        };
        let signature = hbs_lms::sign::<Sha256_256>(&message, private.as_slice(), &mut update, None)
            .expect("a leaf that was not used");
        private.as_mut_slice().copy_from_slice(&next);
        let public_key = public.as_slice().try_into().expect("60 bytes");
        cases.push(HssCase { public_key, message, signature: signature.as_ref().to_vec() });
    }
    cases
}

#[test]
fn another_implementation_s_signature_verifies_at_any_level() {
    use LmotsAlgorithm::{LmotsW1, LmotsW2, LmotsW4, LmotsW8};
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for levels in [&[LmotsW4][..], &[LmotsW4, LmotsW1], &[LmotsW2, LmotsW4, LmotsW2], &[LmotsW1, LmotsW8]] {
        for case in signed(levels, 2, &mut random) {
            assert_eq!(case.public_key[..4], [0, 0, 0, levels.len() as u8]);
            assert_eq!(verified(&case), (0, 0), "{} levels", levels.len());
            let mut wrong = case.clone();
            let bit = random.usize(0..8 * wrong.signature.len());
            wrong.signature[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(verified(&wrong).1, -1, "{} levels, bit {bit}", levels.len());
        }
    }
}

#[test]
fn verify_refuses_a_changed_message_or_signature() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for case in vectors::hss() {
        let refused = |wrong: &HssCase, what: &str| assert_eq!(verified(wrong).1, -1, "{what}");
        for bit in (0..96).chain((96..8 * 60).step_by(7)) {
            let mut wrong = case.clone();
            wrong.public_key[bit / 8] ^= 1 << (bit % 8);
            refused(&wrong, &format!("bit {bit} of the public key"));
        }
        // The number of levels, both heads, all of the key that is signed, and of the rest some.
        let length = case.signature.len();
        let key =
            4 + signature_bytes(case.public_key[4..].try_into().expect("56 bytes")).expect("known types");
        let some: Vec<usize> = (0..200).map(|_| random.usize(0..8 * length)).collect();
        for bit in (0..8 * 44).chain(8 * key..8 * (key + 56 + 8)).chain(some) {
            let mut wrong = case.clone();
            wrong.signature[bit / 8] ^= 1 << (bit % 8);
            refused(&wrong, &format!("bit {bit} of the signature"));
        }
        for end in
            (0..5).chain([43, 44, key - 1, key, key + 55, key + 56, key + 57]).chain(length - 40..length)
        {
            let mut wrong = case.clone();
            wrong.signature.truncate(end);
            refused(&wrong, &format!("{end} bytes of the signature"));
        }
        for more in [1, 4, 32, 56, 65536] {
            let mut wrong = case.clone();
            wrong.signature.resize(length + more, 0);
            refused(&wrong, &format!("{more} bytes more"));
        }
        let mut other = case.clone();
        other.message.push(0);
        assert_eq!(verified(&other), (0, -1), "another message");
    }
}

/// The number of levels, in the key and in the signature: both are what they say, and 1 to 8.
#[test]
fn another_number_of_levels_is_refused() {
    let case = vectors::hss().remove(0);
    for levels in [0, 1, 3, 8, 9, 255] {
        let mut wrong = case.clone();
        wrong.public_key[3] = levels;
        assert_eq!(verified(&wrong), (-1, -1), "{levels} in the key alone");
        wrong.signature[3] = levels.wrapping_sub(1);
        assert_eq!(verified(&wrong).1, -1, "{levels} in both");
    }
    // The upper tree's signature of the lower key, by itself, is a signature of one level: of that
    // key and not of the message.
    let upper: [u8; 56] = case.public_key[4..].try_into().expect("56 bytes");
    let end = 4 + signature_bytes(&upper).expect("known types");
    let lower = case.signature[end..end + 56].to_vec();
    let mut one = case.clone();
    one.public_key[3] = 1;
    one.signature.truncate(end);
    one.signature[3] = 0;
    assert_eq!(verified(&one), (0, -1));
    one.message = lower;
    assert_eq!(verified(&one), (0, 0));
}

/// A lower tree may have another type than the upper one, and none that is not known.
#[test]
fn any_key_may_be_signed_and_none_of_an_unknown_type_is_taken() {
    let case = &vectors::hss()[1];
    assert_ne!(case.public_key[4..12], case.signature[4 + 2508 + 56..][..8], "two types");
    for (at, byte) in [(3, 4), (3, 10), (7, 0), (7, 5), (0, 1), (6, 1)] {
        let mut key: [u8; 56] = case.public_key[4..].try_into().expect("56 bytes");
        key[at] = byte;
        assert_eq!(signature_bytes(&key), None, "byte {at} is {byte}");
    }
}
