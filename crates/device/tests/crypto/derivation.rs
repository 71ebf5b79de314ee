//! HMAC in parts, HMAC-SHA-1 and the key derivation functions: published vectors, and RustCrypto at
//! every length.

use device::crypto::{hkdf_sha256, hmac_sha1, hmac_sha1_parts, hmac_sha256, hmac_sha256_parts, x963_kdf};
use hmac::Mac;
use testkit::vectors;

/// Bytes that differ from place to place.
fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 7 + 1) as u8).collect()
}

#[test]
fn hmac_sha1_of_rfc_2202_and_wycheproof() {
    let mut invalid = 0;
    for case in vectors::hmac_sha1() {
        assert!(!case.mac.is_empty(), "{case:?}");
        let mac = hmac_sha1(&case.key, &case.message);
        assert_eq!(mac[..case.mac.len()] == *case.mac, case.valid, "{case:?}");
        invalid += usize::from(!case.valid);
    }
    assert!(invalid > 0, "no case that must fail");
}

#[test]
fn every_length_of_key_and_message() {
    for key_len in 0..=130 {
        for len in [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 200] {
            let (key, message) = (bytes(key_len), bytes(len));
            let mut mac = hmac::Hmac::<sha1::Sha1>::new_from_slice(&key).expect("any length");
            mac.update(&message);
            assert_eq!(hmac_sha1(&key, &message).as_slice(), mac.finalize().into_bytes().as_slice());
            let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(&key).expect("any length");
            mac.update(&message);
            assert_eq!(hmac_sha256(&key, &message).as_slice(), mac.finalize().into_bytes().as_slice());
        }
    }
}

#[test]
fn a_message_in_parts_gives_the_same_code_and_leaves_nothing() {
    for key_len in [0, 20, 64, 65, 100] {
        let (key, message) = (bytes(key_len), bytes(150));
        for at in 0..=message.len() {
            let parts = [&message[..at], &[], &message[at..]];
            assert_eq!(hmac_sha1_parts(&key, parts), (hmac_sha1(&key, &message), true));
            assert_eq!(hmac_sha256_parts(&key, parts), (hmac_sha256(&key, &message), true));
        }
    }
}

#[test]
fn x963_kdf_of_nist() {
    for case in vectors::x963_kdf_sha256() {
        for at in 0..=case.info.len() {
            let (info, more) = case.info.split_at(at);
            assert_eq!(Some(x963_kdf(&case.secret, [info, more], case.len)), case.key, "{at} of {case:?}");
        }
    }
}

/// The counter's second byte: 256 blocks are 8192 bytes. Each block is a hash of its own.
#[test]
fn x963_kdf_counts_beyond_one_byte() {
    use sha2::Digest;
    let key = x963_kdf(b"secret", [b"in", b"fo"], 32 * 300 + 7);
    for (block, index) in key.chunks(32).zip(1u32..) {
        let digest = sha2::Sha256::new()
            .chain_update(b"secret")
            .chain_update(index.to_be_bytes())
            .chain_update(b"info");
        assert_eq!(block, &digest.finalize()[..block.len()], "block {index}");
    }
}

#[test]
fn hkdf_of_rfc_5869_and_wycheproof() {
    let mut refused = 0;
    for case in vectors::hkdf_sha256() {
        let (result, key) = hkdf_sha256(&case.salt, &case.secret, &case.info, case.len);
        if let Some(expected) = &case.key {
            assert_eq!((result, &key), (0, expected), "{case:?}");
        } else {
            refused += 1;
            assert_eq!(result, -1, "{case:?}");
            assert!(key.iter().all(|&byte| byte == 0), "{case:?}");
        }
    }
    assert!(refused > 0, "no case that must be refused");
}
