//! SHA-3 and SHAKE on the host build: published vectors, and random inputs against RustCrypto.

use crate::pieces::{cuts, pieces};
use device::crypto::sha3;
use sha3_of_rustcrypto::digest::{Digest, ExtendableOutput, Update, XofReader};
use testkit::vectors;

#[test]
fn as_published() {
    for case in vectors::sha3_256() {
        assert_eq!(sha3::sha3_256(&case.message).as_slice(), case.digest, "{case:?}");
    }
    for case in vectors::sha3_512() {
        assert_eq!(sha3::sha3_512(&case.message).as_slice(), case.digest, "{case:?}");
    }
    for case in vectors::shake128() {
        assert_eq!(sha3::shake128(&case.message, case.digest.len()), case.digest, "{case:?}");
    }
    for case in vectors::shake256() {
        assert_eq!(sha3::shake256(&case.message, case.digest.len()), case.digest, "{case:?}");
    }
}

#[test]
fn monte_carlo() {
    let case = vectors::sha3_256_monte();
    let mut digest: [u8; 32] = case.seed.as_slice().try_into().expect("32 bytes");
    for checkpoint in &case.checkpoints {
        for _ in 0..1000 {
            digest = sha3::sha3_256(&digest);
        }
        assert_eq!(digest.as_slice(), checkpoint);
    }
}

#[test]
fn hash_in_any_pieces_agrees_with_another_implementation() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for _ in 0..500 {
        let len = random.usize(0..700);
        let message: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(len).collect();
        let mut expected = vec![0; random.usize(0..700)];
        let mut check = |rate, suffix, expected: &[u8]| {
            let parts = pieces(&mut random, &message, 300);
            let lengths = cuts(&mut random, expected.len(), 300);
            assert_eq!(sha3::parts(rate, suffix, parts, &lengths), expected, "rate {rate}, {len} bytes");
        };
        check(136, 6, &sha3_of_rustcrypto::Sha3_256::digest(&message));
        check(72, 6, &sha3_of_rustcrypto::Sha3_512::digest(&message));
        sha3_of_rustcrypto::Shake128::default().chain(&message).finalize_xof().read(&mut expected);
        check(168, 0x1f, &expected);
        sha3_of_rustcrypto::Shake256::default().chain(&message).finalize_xof().read(&mut expected);
        check(136, 0x1f, &expected);
    }
}
