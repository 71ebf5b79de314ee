//! HMAC in parts, HMAC-SHA-1 and the key derivation functions: published vectors, and RustCrypto at
//! every length.

use device::crypto::{
    hkdf_sha256, hmac_sha1, hmac_sha1_parts, hmac_sha256, hmac_sha256_parts, oms_kdf, single_step_kdf,
    x963_kdf,
};
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

/// OMS volume 2, Annex N, issue 4.0.2, N.1.3: the telegram decrypts with the first key, and the
/// second one makes its authentication code.
#[test]
fn oms_kdf_opens_the_telegram_of_annex_n() {
    use aes::cipher::{BlockDecryptMut, KeyIvInit, block_padding::NoPadding};
    let key = std::array::from_fn(|at| at as u8);
    let (counter, meter) = ([0xb3, 0x0a, 0x00, 0x00], [0x78, 0x56, 0x34, 0x12]);
    let header = [0x7a, 0x75, 0x00, 0x20, 0x07, 0x10];
    let blocks = [
        0x90, 0x58, 0x47, 0x5f, 0x4b, 0xc9, 0x1d, 0xf8, 0x78, 0xb8, 0x0a, 0x1b, 0x0f, 0x98, 0xb6, 0x29, 0x02,
        0x4a, 0xac, 0x72, 0x79, 0x42, 0xbf, 0xc5, 0x49, 0x23, 0x3c, 0x01, 0x40, 0x82, 0x9b, 0x93,
    ];
    let cipher =
        cbc::Decryptor::<aes::Aes128>::new(&oms_kdf(&key, 0, counter, meter).into(), &[0; 16].into());
    let plaintext = cipher.decrypt_padded_vec_mut::<NoPadding>(&blocks).expect("whole blocks");
    assert_eq!(
        plaintext[..18],
        [
            0x2f, 0x2f, 0x0c, 0x14, 0x27, 0x04, 0x85, 0x02, 0x04, 0x6d, 0x32, 0x37, 0x1f, 0x15, 0x02, 0xfd,
            0x17, 0x00
        ]
    );
    assert!(plaintext[19..].iter().all(|&fill| fill == 0x2f));
    let authentication = oms_kdf(&key, 1, counter, meter);
    let mac = <cmac::Cmac<aes::Aes128> as Mac>::new_from_slice(&authentication)
        .expect("its length")
        .chain_update([0x25])
        .chain_update(counter)
        .chain_update(header)
        .chain_update(blocks);
    assert_eq!(mac.finalize().into_bytes()[..8], [0x21, 0x92, 0x4d, 0x4f, 0x2f, 0xb6, 0x6e, 0x01]);
}

/// Blocks are hashes of the counter, the secret and the information; lengths around a block and
/// beyond the counter's first byte.
#[test]
fn single_step_kdf_hashes_the_counter_first() {
    use sha2::Digest;
    for len in [0, 1, 31, 32, 33, 64, 32 * 300 + 7] {
        for (z, info) in [(&b"secret"[..], &b"info"[..]), (b"", b"i"), (b"s", b"")] {
            let key = single_step_kdf(z, info, len);
            assert_eq!(key.len(), len);
            for (block, index) in key.chunks(32).zip(1u32..) {
                let digest =
                    sha2::Sha256::new().chain_update(index.to_be_bytes()).chain_update(z).chain_update(info);
                assert_eq!(block, &digest.finalize()[..block.len()], "block {index}");
            }
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
