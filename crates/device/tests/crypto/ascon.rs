//! Ascon on the host build: every published vector, and random inputs against the crates ascon-aead
//! and ascon-hash.

use crate::pieces::{cuts, pieces};
use ascon_aead::AsconAead128;
use ascon_aead::aead::{Aead, KeyInit, Payload};
use ascon_hash::Digest;
use device::crypto::ascon::{self, Function};
use testkit::vectors;

#[test]
fn sealing_and_opening_as_published() {
    for case in vectors::ascon_aead128() {
        let mut opened = vec![0xa5; case.ciphertext.len()];
        let accepted =
            ascon::open(&case.key, &case.nonce, &case.aad, &case.ciphertext, &case.tag, &mut opened);
        if let Some(plaintext) = &case.plaintext {
            assert!(accepted, "{case:?}");
            assert_eq!(opened, *plaintext, "{case:?}");
            let sealed = ascon::seal(&case.key, &case.nonce, &case.aad, plaintext);
            assert_eq!(sealed, (case.ciphertext.clone(), case.tag), "{case:?}");
        } else {
            assert!(!accepted, "{case:?}");
            assert!(opened.iter().all(|&byte| byte == 0xa5), "written although refused: {case:?}");
        }
    }
}

#[test]
fn hashes_as_published_in_any_pieces() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    let mut check = |function: Function, message: &[u8], expected: &[u8]| {
        let parts = pieces(&mut random, message, 20);
        let lengths = cuts(&mut random, expected.len(), 20);
        assert_eq!(ascon::parts(function, parts, &lengths).as_deref(), Some(expected), "{function:?}");
    };
    for case in vectors::ascon_hash256() {
        assert_eq!(ascon::hash256(&case.message).as_slice(), case.digest, "{case:?}");
        check(Function::Hash256, &case.message, &case.digest);
    }
    for case in vectors::ascon_xof128() {
        check(Function::Xof128, &case.message, &case.digest);
    }
    for case in vectors::ascon_cxof128() {
        check(Function::Cxof128(&case.label), &case.message, &case.output);
    }
}

#[test]
fn a_customization_string_has_at_most_256_bytes() {
    let message: &[u8] = &[1, 2, 3];
    assert!(ascon::parts(Function::Cxof128(&[7; 256]), [message], &[8]).is_some());
    assert!(ascon::parts(Function::Cxof128(&[7; 257]), [message], &[8]).is_none());
}

#[test]
fn random_messages_as_another_implementation_has_them() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for _ in 0..500 {
        let key: [u8; 16] = std::array::from_fn(|_| random.u8(..));
        let nonce: [u8; 16] = std::array::from_fn(|_| random.u8(..));
        let mut bytes = |most| -> Vec<u8> {
            let len = random.usize(0..=most);
            std::iter::repeat_with(|| random.u8(..)).take(len).collect()
        };
        let (aad, message) = (bytes(70), bytes(100));
        let mut expected = AsconAead128::new(&key.into())
            .encrypt(&nonce.into(), Payload { msg: &message, aad: &aad })
            .expect("it is short");
        let tag: [u8; 16] = expected.split_off(message.len()).try_into().expect("16 bytes");
        assert_eq!(ascon::seal(&key, &nonce, &aad, &message), (expected.clone(), tag));

        let mut data = message.clone();
        assert_eq!(ascon::seal_in_place(&key, &nonce, &aad, &mut data), tag);
        assert_eq!(data, expected);
        let mut wrong = tag;
        wrong[random.usize(0..16)] ^= 1 << random.u8(0..8);
        assert!(!ascon::open_in_place(&key, &nonce, &aad, &mut data, &wrong));
        assert_eq!(data, expected, "written although refused");
        assert!(ascon::open_in_place(&key, &nonce, &aad, &mut data, &tag));
        assert_eq!(data, message);
        assert_eq!(
            ascon::hash256(&message).as_slice(),
            ascon_hash::AsconHash256::digest(&message).as_slice()
        );
    }
}
