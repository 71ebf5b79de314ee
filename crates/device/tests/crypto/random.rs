//! Random inputs against independent implementations (RustCrypto), and what the contracts in the
//! headers promise.
//!
//! The seed is printed; `WATTSEAL_SEED` sets it.

use aes::cipher::{BlockDecrypt, BlockEncrypt, KeyInit, KeyIvInit, StreamCipher};
use aes_gcm::aead::AeadInPlace;
use hmac::Mac;
use sha2::Digest;

pub const KEY_BYTES: [usize; 3] = [16, 24, 32];

pub fn random() -> fastrand::Rng {
    fastrand::Rng::with_seed(testkit::random::seed())
}

pub fn bytes(random: &mut fastrand::Rng, len: usize) -> Vec<u8> {
    std::iter::repeat_with(|| random.u8(..)).take(len).collect()
}

pub fn array<const N: usize>(random: &mut fastrand::Rng) -> [u8; N] {
    std::array::from_fn(|_| random.u8(..))
}

/// Encryption or decryption of one block by RustCrypto.
fn reference_block(key: &[u8], block: &[u8; 16], encrypt: bool) -> [u8; 16] {
    fn run<C: KeyInit + BlockEncrypt + BlockDecrypt>(
        key: &[u8],
        block: &[u8; 16],
        encrypt: bool,
    ) -> [u8; 16] {
        let cipher = C::new_from_slice(key).expect("the key's length is the cipher's");
        let mut bytes = aes::cipher::Block::<C>::clone_from_slice(block);
        if encrypt {
            cipher.encrypt_block(&mut bytes);
        } else {
            cipher.decrypt_block(&mut bytes);
        }
        bytes.as_slice().try_into().expect("AES has 16-byte blocks")
    }
    match key.len() {
        16 => run::<aes::Aes128>(key, block, encrypt),
        24 => run::<aes::Aes192>(key, block, encrypt),
        _ => run::<aes::Aes256>(key, block, encrypt),
    }
}

fn reference_ctr(key: &[u8], iv: &[u8; 16], data: &[u8]) -> Vec<u8> {
    let mut data = data.to_vec();
    let fits = "lengths are the cipher's";
    match key.len() {
        16 => ctr::Ctr128BE::<aes::Aes128>::new_from_slices(key, iv).expect(fits).apply_keystream(&mut data),
        24 => ctr::Ctr128BE::<aes::Aes192>::new_from_slices(key, iv).expect(fits).apply_keystream(&mut data),
        _ => ctr::Ctr128BE::<aes::Aes256>::new_from_slices(key, iv).expect(fits).apply_keystream(&mut data),
    }
    data
}

fn reference_seal(key: &[u8], nonce: &[u8; 12], aad: &[u8], data: &[u8]) -> (Vec<u8>, [u8; 16]) {
    fn run<C: KeyInit + AeadInPlace>(key: &[u8], nonce: &[u8], aad: &[u8], data: &mut [u8]) -> [u8; 16] {
        let cipher = C::new_from_slice(key).expect("the key's length is the cipher's");
        let nonce = aes_gcm::aead::Nonce::<C>::from_slice(nonce);
        let tag = cipher.encrypt_in_place_detached(nonce, aad, data).expect("the data is short");
        tag.as_slice().try_into().expect("GCM has 16-byte tags")
    }
    type Aes192Gcm = aes_gcm::AesGcm<aes::Aes192, aes::cipher::consts::U12>;
    let mut out = data.to_vec();
    let tag = match key.len() {
        16 => run::<aes_gcm::Aes128Gcm>(key, nonce, aad, &mut out),
        24 => run::<Aes192Gcm>(key, nonce, aad, &mut out),
        _ => run::<aes_gcm::Aes256Gcm>(key, nonce, aad, &mut out),
    };
    (out, tag)
}

#[test]
fn aes_blocks() {
    let mut random = random();
    for round in 0..3000 {
        let key = bytes(&mut random, KEY_BYTES[round % 3]);
        let block = array(&mut random);
        let round_keys = device::crypto::aes_expand(&key);
        assert_eq!(round_keys.as_bytes()[..key.len()], key);

        let encrypted = reference_block(&key, &block, true);
        assert_eq!(device::crypto::aes_encrypt(&round_keys, &block), encrypted);
        assert_eq!(device::crypto::aes_encrypt_keyed(&key, &block), encrypted);
        let mut in_place = block;
        device::crypto::aes_encrypt_in_place(&round_keys, &mut in_place);
        assert_eq!(in_place, encrypted);

        let decrypted = reference_block(&key, &block, false);
        assert_eq!(device::crypto::aes_decrypt(&round_keys, &block), decrypted);
        let mut in_place = block;
        device::crypto::aes_decrypt_in_place(&round_keys, &mut in_place);
        assert_eq!(in_place, decrypted);
    }
}

#[test]
fn counter_mode_at_every_length() {
    let mut random = random();
    for len in 0..=100 {
        for key_bytes in KEY_BYTES {
            let key = bytes(&mut random, key_bytes);
            let mut iv: [u8; 16] = array(&mut random);
            // Half of the counters overflow some or all of their bytes.
            if random.bool() {
                let from = random.usize(..16);
                iv[from..].fill(0xff);
            }
            let data = bytes(&mut random, len);
            let expected = reference_ctr(&key, &iv, &data);
            assert_eq!(device::crypto::aes_ctr(&key, &iv, &data), expected);

            // In place, in two calls: the first of whole blocks.
            let round_keys = device::crypto::aes_expand(&key);
            let mut counter = iv;
            let mut in_place = data;
            let split = random.usize(..=len / 16) * 16;
            device::crypto::aes_ctr_in_place(&round_keys, &mut counter, &mut in_place[..split]);
            device::crypto::aes_ctr_in_place(&round_keys, &mut counter, &mut in_place[split..]);
            assert_eq!(in_place, expected);
            let blocks = u128::try_from(len.div_ceil(16)).expect("few blocks");
            assert_eq!(u128::from_be_bytes(counter), u128::from_be_bytes(iv).wrapping_add(blocks));
        }
    }
}

#[test]
fn gcm_at_every_length() {
    let mut random = random();
    for len in 0..=100 {
        for key_bytes in KEY_BYTES {
            let key = bytes(&mut random, key_bytes);
            let nonce = array(&mut random);
            let aad_len = random.usize(..=100);
            let aad = bytes(&mut random, aad_len);
            let data = bytes(&mut random, len);
            let (ciphertext, tag) = reference_seal(&key, &nonce, &aad, &data);
            assert_eq!(device::crypto::aes_gcm_seal(&key, &nonce, &aad, &data), (ciphertext.clone(), tag));

            let mut in_place = data.clone();
            assert_eq!(device::crypto::aes_gcm_seal_in_place(&key, &nonce, &aad, &mut in_place), tag);
            assert_eq!(in_place, ciphertext);
            assert!(device::crypto::aes_gcm_open_in_place(&key, &nonce, &aad, &mut in_place, &tag));
            assert_eq!(in_place, data);
        }
    }
}

#[test]
fn gcm_refuses_every_flipped_bit_and_writes_nothing() {
    let mut random = random();
    for key_bytes in KEY_BYTES {
        let key = bytes(&mut random, key_bytes);
        let nonce = array(&mut random);
        let aad = bytes(&mut random, 13);
        let (ciphertext, tag) =
            device::crypto::aes_gcm_seal(&key, &nonce, &aad, b"29 bytes, more than one block");
        let mut untouched = vec![0xa5; ciphertext.len()];
        let mut refused = |nonce: &[u8; 12], aad: &[u8], ciphertext: &[u8], tag: &[u8; 16]| {
            assert!(!device::crypto::aes_gcm_open(&key, nonce, aad, ciphertext, tag, &mut untouched));
            assert!(untouched.iter().all(|&byte| byte == 0xa5));
            let mut in_place = ciphertext.to_vec();
            assert!(!device::crypto::aes_gcm_open_in_place(&key, nonce, aad, &mut in_place, tag));
            assert_eq!(in_place, ciphertext);
        };
        fn flipped<T: AsMut<[u8]> + Clone>(whole: &T, bit: usize) -> T {
            let mut copy = whole.clone();
            copy.as_mut()[bit / 8] ^= 1 << (bit % 8);
            copy
        }
        (0..128).for_each(|bit| refused(&nonce, &aad, &ciphertext, &flipped(&tag, bit)));
        (0..96).for_each(|bit| refused(&flipped(&nonce, bit), &aad, &ciphertext, &tag));
        (0..8 * aad.len()).for_each(|bit| refused(&nonce, &flipped(&aad, bit), &ciphertext, &tag));
        (0..8 * ciphertext.len()).for_each(|bit| refused(&nonce, &aad, &flipped(&ciphertext, bit), &tag));
    }
}

#[test]
fn gcm_refuses_other_key_sizes() {
    for words in 0..=8 {
        let (result, output, tag) = device::crypto::aes_gcm_seal_with_key_words(&[7; 32], words);
        if matches!(words, 4 | 6 | 8) {
            assert_eq!(result, 0);
        } else {
            assert_eq!((result, output, tag), (-1, [0xa5; 16], [0xa5; 16]));
        }
    }
}

#[test]
fn hashes_in_any_parts() {
    let mut random = random();
    for len in (0..=200).chain([1000, 4096, 10_000]) {
        let message = bytes(&mut random, len);
        let mut parts: Vec<&[u8]> = Vec::new();
        let mut rest = message.as_slice();
        while !rest.is_empty() {
            let (part, tail) = rest.split_at(random.usize(..=rest.len().min(150)));
            parts.push(part);
            rest = tail;
        }
        let sha1: [u8; 20] = sha1::Sha1::digest(&message).into();
        assert_eq!(device::crypto::sha1(&message), sha1);
        assert_eq!(device::crypto::sha1_parts(parts.iter().copied()), (sha1, true));
        let sha256: [u8; 32] = sha2::Sha256::digest(&message).into();
        assert_eq!(device::crypto::sha256(&message), sha256);
        assert_eq!(device::crypto::sha256_parts(parts.iter().copied()), (sha256, true));
        let sha512: [u8; 64] = sha2::Sha512::digest(&message).into();
        assert_eq!(device::crypto::sha512(&message), sha512);
        assert_eq!(device::crypto::sha512_parts(parts), (sha512, true));
    }
}

#[test]
fn hmac_at_every_key_length() {
    let mut random = random();
    for key_len in 0..=200 {
        let key = bytes(&mut random, key_len);
        let len = random.usize(..=200);
        let message = bytes(&mut random, len);
        let mut reference =
            <hmac::Hmac<sha2::Sha256> as Mac>::new_from_slice(&key).expect("HMAC takes any key");
        reference.update(&message);
        let expected: [u8; 32] = reference.finalize().into_bytes().into();
        assert_eq!(device::crypto::hmac_sha256(&key, &message), expected);
    }
}

#[test]
fn wipe_and_compare() {
    let mut random = random();
    for len in 0..=40 {
        let a = bytes(&mut random, len);
        assert_eq!(device::crypto::equal(&a, &a), 1);
        for bit in 0..8 * len {
            let mut b = a.clone();
            b[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(device::crypto::equal(&a, &b), 0);
        }
        let mut guarded = vec![0xa5; len + 2];
        device::crypto::wipe(&mut guarded[1..=len]);
        assert!(guarded[1..=len].iter().all(|&byte| byte == 0));
        assert_eq!((guarded[0], guarded[len + 1]), (0xa5, 0xa5));
    }
}
