//! Every published vector on the host build of the firmware's primitives.

use device::crypto::{
    aes_ctr, aes_decrypt, aes_encrypt, aes_encrypt_keyed, aes_expand, aes_gcm_open, aes_gcm_seal,
    aes128_ctr_sliced,
};
use testkit::vectors;

fn blocks(bytes: &[u8]) -> impl Iterator<Item = &[u8; 16]> {
    bytes.chunks_exact(16).map(|block| block.try_into().expect("16 bytes"))
}

#[test]
fn aes_blocks() {
    for case in vectors::aes_ecb() {
        let round_keys = aes_expand(&case.key);
        let plain: Vec<_> = blocks(&case.plaintext).collect();
        let cipher: Vec<_> = blocks(&case.ciphertext).collect();
        assert!(!plain.is_empty() && plain.len() == cipher.len(), "{case:?}");
        for (plain, cipher) in plain.into_iter().zip(cipher) {
            assert_eq!(aes_encrypt(&round_keys, plain), *cipher, "{case:?}");
            assert_eq!(aes_encrypt_keyed(&case.key, plain), *cipher, "{case:?}");
            assert_eq!(aes_decrypt(&round_keys, cipher), *plain, "{case:?}");
        }
    }
}

#[test]
fn aes_counter_mode() {
    for case in vectors::aes_ctr() {
        assert_eq!(aes_ctr(&case.key, &case.counter, &case.plaintext), case.ciphertext, "{case:?}");
        assert_eq!(aes_ctr(&case.key, &case.counter, &case.ciphertext), case.plaintext, "{case:?}");
        if let Ok(key) = case.key.as_slice().try_into() {
            assert_eq!(aes128_ctr_sliced(key, &case.counter, &case.plaintext), case.ciphertext, "{case:?}");
        }
    }
}

#[test]
fn aes_gcm() {
    let mut refused = 0;
    for case in vectors::aes_gcm() {
        let mut opened = vec![0xa5; case.ciphertext.len()];
        let accepted =
            aes_gcm_open(&case.key, &case.nonce, &case.aad, &case.ciphertext, &case.tag, &mut opened);
        if let Some(plaintext) = &case.plaintext {
            assert!(accepted, "{case:?}");
            assert_eq!(opened, *plaintext, "{case:?}");
            let sealed = aes_gcm_seal(&case.key, &case.nonce, &case.aad, plaintext);
            assert_eq!(sealed, (case.ciphertext.clone(), case.tag), "{case:?}");
        } else {
            refused += 1;
            assert!(!accepted, "{case:?}");
            assert!(opened.iter().all(|&byte| byte == 0xa5), "written although refused: {case:?}");
        }
    }
    assert!(refused >= 577, "only {refused} cases to be refused");
}

#[test]
fn sha1() {
    for case in vectors::sha1() {
        assert_eq!(device::crypto::sha1(&case.message).as_slice(), case.digest, "{}", case.source);
    }
}

#[test]
fn sha256() {
    for case in vectors::sha256() {
        assert_eq!(device::crypto::sha256(&case.message).as_slice(), case.digest, "{}", case.source);
    }
}

#[test]
fn sha512() {
    for case in vectors::sha512() {
        assert_eq!(device::crypto::sha512(&case.message).as_slice(), case.digest, "{}", case.source);
    }
}

#[test]
fn sha384() {
    for case in vectors::sha384() {
        assert_eq!(device::crypto::sha384(&case.message).as_slice(), case.digest, "{}", case.source);
    }
    monte(&vectors::sha384_monte(), |message| device::crypto::sha384(message).to_vec());
}

/// SHAVS section 6.4.
fn monte(case: &vectors::MonteCase, hash: impl Fn(&[u8]) -> Vec<u8>) {
    let mut seed = case.seed.clone();
    for (index, checkpoint) in case.checkpoints.iter().enumerate() {
        let mut last = [seed.clone(), seed.clone(), seed];
        for _ in 0..1000 {
            last = [last[1].clone(), last[2].clone(), hash(&last.concat())];
        }
        let [_, _, digest] = last;
        assert_eq!(digest, *checkpoint, "{}, checkpoint {index}", case.source);
        seed = digest;
    }
}

#[test]
fn sha1_monte_carlo() {
    monte(&vectors::sha1_monte(), |message| device::crypto::sha1(message).to_vec());
}

#[test]
fn sha256_monte_carlo() {
    monte(&vectors::sha256_monte(), |message| device::crypto::sha256(message).to_vec());
}

#[test]
fn sha512_monte_carlo() {
    monte(&vectors::sha512_monte(), |message| device::crypto::sha512(message).to_vec());
}

#[test]
fn hmac_sha256() {
    let mut invalid = 0;
    for case in vectors::hmac_sha256() {
        assert!(!case.mac.is_empty(), "{case:?}");
        let mac = device::crypto::hmac_sha256(&case.key, &case.message);
        assert_eq!(mac[..case.mac.len()] == *case.mac, case.valid, "{case:?}");
        invalid += usize::from(!case.valid);
    }
    assert!(invalid > 0, "no case that must fail");
}
