//! ChaCha20-Poly1305 on the host build: every published vector, and random inputs against the crate
//! chacha20poly1305.

use chacha20poly1305::ChaCha20Poly1305;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use device::crypto::chacha20_poly1305::{open, seal};
use testkit::vectors;

#[test]
fn sealing_and_opening_as_published() {
    for case in vectors::chacha20_poly1305() {
        let key: [u8; 32] = case.key.as_slice().try_into().expect("32 bytes");
        let mut data = case.ciphertext.clone();
        let accepted = open(&key, &case.nonce, &case.aad, &mut data, &case.tag);
        if let Some(plaintext) = &case.plaintext {
            assert!(accepted, "{case:?}");
            assert_eq!(data, *plaintext, "{case:?}");
            assert_eq!(seal(&key, &case.nonce, &case.aad, &mut data), case.tag, "{case:?}");
            assert_eq!(data, case.ciphertext, "{case:?}");
        } else {
            assert!(!accepted, "{case:?}");
            assert_eq!(data, case.ciphertext, "written although refused: {case:?}");
        }
    }
}

#[test]
fn random_messages_as_another_implementation_has_them() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for _ in 0..500 {
        let key: [u8; 32] = std::array::from_fn(|_| random.u8(..));
        let nonce: [u8; 12] = std::array::from_fn(|_| random.u8(..));
        let mut bytes = |most| -> Vec<u8> {
            let len = random.usize(0..=most);
            // Long runs of one bit reach carries that random bytes hardly ever do.
            let fixed = [None, Some(0), Some(0xff)][random.usize(0..3)];
            std::iter::repeat_with(|| fixed.unwrap_or_else(|| random.u8(..))).take(len).collect()
        };
        let (aad, message) = (bytes(70), bytes(300));
        let mut expected = ChaCha20Poly1305::new(&key.into())
            .encrypt(&nonce.into(), Payload { msg: &message, aad: &aad })
            .expect("it is short");
        let tag: [u8; 16] = expected.split_off(message.len()).try_into().expect("16 bytes");
        let mut data = message.clone();
        assert_eq!(seal(&key, &nonce, &aad, &mut data), tag);
        assert_eq!(data, expected);
        let mut wrong = tag;
        wrong[random.usize(0..16)] ^= 1 << random.u8(0..8);
        assert!(!open(&key, &nonce, &aad, &mut data, &wrong));
        assert_eq!(data, expected, "written although refused");
        assert!(open(&key, &nonce, &aad, &mut data, &tag));
        assert_eq!(data, message);
    }
}
