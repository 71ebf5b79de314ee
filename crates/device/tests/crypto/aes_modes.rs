//! AES-CMAC, CCM, CBC and key wrap: published vectors, and RustCrypto on random inputs.

use super::random::{KEY_BYTES, array, bytes, random};
use aes::cipher::block_padding::NoPadding;
use aes::cipher::{BlockDecryptMut, BlockEncryptMut, KeyInit, KeyIvInit};
use ccm::aead::AeadInPlace;
use cmac::Mac;
use device::crypto::aes_modes::{
    aes_cbc_decrypt, aes_cbc_encrypt, aes_ccm_open, aes_ccm_seal, aes_cmac, aes_cmac_of_pieces,
    aes_key_unwrap, aes_key_wrap,
};
use testkit::vectors;

fn reference_cmac<M: Mac + KeyInit>(key: &[u8], message: &[u8]) -> [u8; 16] {
    let mac = <M as Mac>::new_from_slice(key).expect("a key").chain_update(message);
    mac.finalize().into_bytes().as_slice().try_into().expect("a block")
}

#[test]
fn cmac_of_published_vectors() {
    let all = vectors::aes_cmac();
    assert!(all.len() > 250, "{}", all.len());
    for case in all {
        let code = aes_cmac(&case.key, &case.message);
        assert_eq!(code[..case.mac.len()] == case.mac, case.valid, "{case:?}");
    }
}

#[test]
fn cmac_at_every_length_in_any_pieces() {
    let mut random = random();
    for len in 0..=100 {
        for key_bytes in KEY_BYTES {
            let (key, message) = (bytes(&mut random, key_bytes), bytes(&mut random, len));
            let expected = match key_bytes {
                16 => reference_cmac::<cmac::Cmac<aes::Aes128>>(&key, &message),
                24 => reference_cmac::<cmac::Cmac<aes::Aes192>>(&key, &message),
                _ => reference_cmac::<cmac::Cmac<aes::Aes256>>(&key, &message),
            };
            assert_eq!(aes_cmac(&key, &message), expected, "{len}");
            let cuts = [random.usize(..=len), random.usize(..=len)];
            let (first, last) = (cuts[0].min(cuts[1]), cuts[0].max(cuts[1]));
            let pieces = [&message[..first], &message[first..last], &message[last..]];
            assert_eq!(aes_cmac_of_pieces(&key, pieces), expected, "{len}: {cuts:?}");
        }
    }
}

/// Lengths that CCM has (SP 800-38C, appendix A.1).
fn is_possible(nonce: &[u8], tag: &[u8]) -> bool {
    (7..=13).contains(&nonce.len()) && (4..=16).contains(&tag.len()) && tag.len().is_multiple_of(2)
}

#[test]
fn ccm_of_published_vectors() {
    let all = vectors::aes_ccm();
    assert!(all.len() > 500, "{}", all.len());
    let (mut refused, mut impossible) = (0, 0);
    for case in all {
        let mut data = case.ciphertext.clone();
        let accepted = aes_ccm_open(&case.key, &case.nonce, &case.aad, &mut data, &case.tag);
        impossible += usize::from(!is_possible(&case.nonce, &case.tag));
        match &case.plaintext {
            Some(plaintext) => {
                assert!(accepted && data == *plaintext, "{case:?}");
                let mut tag = vec![0; case.tag.len()];
                assert!(aes_ccm_seal(&case.key, &case.nonce, &case.aad, &mut data, &mut tag), "{case:?}");
                assert_eq!((data, tag), (case.ciphertext, case.tag));
            }
            None => {
                refused += 1;
                assert!(!accepted && data == case.ciphertext, "{case:?}");
            }
        }
    }
    assert!(refused > 100 && impossible > 10, "{refused}, {impossible}");
}

#[test]
fn ccm_at_every_length() {
    type Ccm = ccm::Ccm<aes::Aes128, ccm::consts::U8, ccm::consts::U13>;
    let mut random = random();
    // The length of associated data has two forms.
    for (len, aad_len) in (0..=100).map(|len| (len, 3 * len % 101)).chain([(5, 0xfeff), (5, 0xff00)]) {
        let (key, nonce): ([u8; 16], [u8; 13]) = (array(&mut random), array(&mut random));
        let (aad, data) = (bytes(&mut random, aad_len), bytes(&mut random, len));
        let mut expected = data.clone();
        let reference = <Ccm as KeyInit>::new(&key.into());
        let code = reference.encrypt_in_place_detached(&nonce.into(), &aad, &mut expected).expect("it seals");
        let (mut sealed, mut tag) = (data.clone(), [0; 8]);
        assert!(aes_ccm_seal(&key, &nonce, &aad, &mut sealed, &mut tag));
        assert_eq!((&sealed, tag.as_slice()), (&expected, code.as_slice()), "{len}, {aad_len}");
        assert!(aes_ccm_open(&key, &nonce, &aad, &mut sealed, &tag));
        assert_eq!(sealed, data);
    }
}

#[test]
fn ccm_refuses_lengths_and_writes_nothing() {
    for nonce_len in 0..=20 {
        for tag_len in 0..=20 {
            let (nonce, mut data, mut tag) = (vec![1; nonce_len], [0xa5; 20], vec![0xa5; tag_len]);
            let accepted = aes_ccm_seal(&[7; 16], &nonce, &[], &mut data, &mut tag);
            assert_eq!(accepted, is_possible(&nonce, &tag), "{nonce_len}, {tag_len}");
            assert!(accepted || data == [0xa5; 20] && tag.iter().all(|byte| *byte == 0xa5));
        }
    }
    // A nonce of 13 bytes leaves two for the length.
    for (nonce_len, len, possible) in [(13, 0xffff, true), (13, 0x1_0000, false), (12, 0x1_0000, true)] {
        let (mut data, mut tag) = (vec![0; len], [0; 4]);
        assert_eq!(aes_ccm_seal(&[7; 16], &[1; 13][..nonce_len], &[], &mut data, &mut tag), possible);
    }
}

#[test]
fn cbc_of_published_vectors() {
    let all = vectors::aes_cbc();
    assert!(all.len() > 50, "{}", all.len());
    for case in all {
        let (mut iv, mut data) = (case.iv, case.plaintext.clone());
        aes_cbc_encrypt(&case.key, &mut iv, &mut data);
        assert_eq!(data, case.ciphertext, "{case:?}");
        assert_eq!(iv, data[data.len() - 16..], "the next call's");
        (iv, data) = (case.iv, case.ciphertext.clone());
        aes_cbc_decrypt(&case.key, &mut iv, &mut data);
        assert_eq!(data, case.plaintext, "{case:?}");
        assert_eq!(iv, case.ciphertext[data.len() - 16..], "the next call's");
    }
}

#[test]
fn cbc_of_random_blocks() {
    let mut random = random();
    for blocks in 0..=20 {
        let (key, iv): ([u8; 32], [u8; 16]) = (array(&mut random), array(&mut random));
        let data = bytes(&mut random, 16 * blocks);
        let expected = cbc::Encryptor::<aes::Aes256>::new(&key.into(), &iv.into())
            .encrypt_padded_vec_mut::<NoPadding>(&data);
        let (mut sealed, cut) = (data.clone(), 16 * random.usize(..=blocks));
        let mut chain = iv;
        aes_cbc_encrypt(&key, &mut chain, &mut sealed[..cut]);
        aes_cbc_encrypt(&key, &mut chain, &mut sealed[cut..]);
        assert_eq!(sealed, expected);
        let opened = cbc::Decryptor::<aes::Aes256>::new(&key.into(), &iv.into())
            .decrypt_padded_vec_mut::<NoPadding>(&sealed);
        chain = iv;
        aes_cbc_decrypt(&key, &mut chain, &mut sealed[..cut]);
        aes_cbc_decrypt(&key, &mut chain, &mut sealed[cut..]);
        assert_eq!(opened.expect("no padding"), sealed);
        assert_eq!(sealed, data);
    }
}

#[test]
fn key_wrap_of_published_vectors() {
    let all = vectors::aes_key_wrap();
    assert!(all.len() > 100, "{}", all.len());
    let mut refused = 0;
    for case in all {
        let unwrapped = aes_key_unwrap(&case.key, &case.wrapped);
        assert_eq!(unwrapped, case.plaintext, "{case:?}");
        match case.plaintext {
            Some(plaintext) => assert_eq!(aes_key_wrap(&case.key, &plaintext), Some(case.wrapped)),
            None => refused += 1,
        }
    }
    assert!(refused > 50, "{refused}");
}

#[test]
fn key_wrap_of_every_length() {
    let mut random = random();
    for len in 0..=200 {
        let (key, wrapped): ([u8; 16], _) = (array(&mut random), bytes(&mut random, len));
        let sealed = aes_key_wrap(&key, &wrapped);
        assert_eq!(sealed.is_some(), len >= 16 && len.is_multiple_of(8), "{len}");
        let Some(mut sealed) = sealed else { continue };
        let expected = aes_kw::KekAes128::from(key).wrap_vec(&wrapped).expect("it wraps");
        assert_eq!(sealed, expected);
        assert_eq!(aes_key_unwrap(&key, &sealed), Some(wrapped));
        let bit = random.usize(..8 * sealed.len());
        sealed[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(aes_key_unwrap(&key, &sealed), None, "bit {bit}");
    }
    for (len, possible) in [(4096, true), (4104, false)] {
        assert_eq!(aes_key_wrap(&[3; 16], &vec![1; len]).is_some(), possible);
    }
}
