//! The hybrid key agreements on the host build. No standards body has vectors of these pairs: their
//! parts are compared with RustCrypto's P-256, HMAC and SHA-256, OpenSSL's X25519 and the crate
//! fips203, which the published vectors of each are compared with in their own suites.

use device::crypto::Drbg;
use device::crypto::hybrid::Hybrid::{self, P256MlKem512, X25519MlKem512, X25519MlKem768};
use fips203::traits::{Decaps, SerDes};
use fips203::{ml_kem_512, ml_kem_768};
use hmac::Mac;
use openssl::derive::Deriver;
use openssl::pkey::{Id, PKey};
use p256::elliptic_curve::sec1::ToEncodedPoint;
use p256::{PublicKey, SecretKey};
use sha2::Digest;

const ALL: [Hybrid; 3] = [P256MlKem512, X25519MlKem512, X25519MlKem768];

/// Bytes of a public key of the curve.
fn point(pair: Hybrid) -> usize {
    if pair == P256MlKem512 { 64 } else { 32 }
}

fn generator(random: &mut fastrand::Rng) -> Drbg {
    let seed: [u8; 48] = std::array::from_fn(|_| random.u8(..));
    let mut generator = Drbg::default();
    assert_eq!(generator.instantiate(&seed), 0);
    generator
}

fn bytes(len: usize, random: &mut fastrand::Rng) -> Vec<u8> {
    std::iter::repeat_with(|| random.u8(..)).take(len).collect()
}

fn hmac(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(key).expect("any length");
    mac.update(message);
    mac.finalize().into_bytes().to_vec()
}

/// Z of P-256.
fn p256_shared(private_key: &[u8], public: &[u8], peer: &[u8]) -> Vec<u8> {
    let own = SecretKey::from_slice(private_key).expect("a private key");
    assert_eq!(&own.public_key().to_encoded_point(false).as_bytes()[1..], public);
    let peer = PublicKey::from_sec1_bytes(&[&[4], peer].concat()).expect("a point");
    p256::ecdh::diffie_hellman(own.to_nonzero_scalar(), peer.as_affine()).raw_secret_bytes().to_vec()
}

fn x25519_shared(private_key: &[u8], public: &[u8], peer: &[u8]) -> Vec<u8> {
    let own = PKey::private_key_from_raw_bytes(private_key, Id::X25519).expect("any bytes");
    assert_eq!(own.raw_public_key().expect("it has one"), public);
    let peer = PKey::public_key_from_raw_bytes(peer, Id::X25519).expect("any bytes");
    let mut deriver = Deriver::new(&own).expect("a key");
    deriver.set_peer(&peer).expect("a key");
    deriver.derive_to_vec().expect("it is of no small order")
}

macro_rules! decapsulated {
    ($module:ident, $key:expr, $ciphertext:expr) => {{
        let key = $module::DecapsKey::try_from_bytes($key.try_into().expect("a key"));
        let ciphertext = $module::CipherText::try_from_bytes($ciphertext.try_into().expect("a ciphertext"));
        let secret = key.expect("a key").try_decaps(&ciphertext.expect("any bytes"));
        secret.expect("it decapsulates").into_bytes().to_vec()
    }};
}

/// Computes the initiator's result of a response: both secrets, the approved scheme's first, then
/// extraction and expansion, SP 800-56C revision 2 sections 2 and 5.1.
fn expected(pair: Hybrid, private_key: &[u8], salt: &[u8], info: &[u8], response: &[u8]) -> Vec<u8> {
    let (own, rest) = private_key.split_at(32);
    let (public, kem) = rest.split_at(point(pair));
    let (peer, ciphertext) = response.split_at(point(pair));
    let (name, secrets) = match pair {
        P256MlKem512 => {
            let t = decapsulated!(ml_kem_512, kem, ciphertext);
            ("P-256 ML-KEM-512", [p256_shared(own, public, peer), t])
        }
        X25519MlKem512 => {
            let t = decapsulated!(ml_kem_512, kem, ciphertext);
            ("X25519 ML-KEM-512", [t, x25519_shared(own, public, peer)])
        }
        X25519MlKem768 => {
            let t = decapsulated!(ml_kem_768, kem, ciphertext);
            ("X25519 ML-KEM-768", [t, x25519_shared(own, public, peer)])
        }
    };
    let said = [info, &pair.offer(private_key), response].concat();
    let fixed_info = [name.as_bytes(), &sha2::Sha256::digest(said)].concat();
    hmac(&hmac(salt, &secrets.concat()), &[&fixed_info[..], &[1]].concat())
}

#[test]
fn both_sides_have_the_key_that_other_implementations_make() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for (pair, round) in ALL.into_iter().flat_map(|pair| (0..20).map(move |round| (pair, round))) {
        let private_key = pair.keygen(&mut generator(&mut random)).expect("it has a seed");
        let salt = bytes([0, 16, 32, 100][round % 4], &mut random);
        let info = bytes(round, &mut random);
        let (response, key) = pair
            .respond(&mut generator(&mut random), &salt, &info, &pair.offer(&private_key))
            .expect("the offer is one");
        assert_eq!(key.to_vec(), expected(pair, &private_key, &salt, &info, &response), "{pair:?}");
        assert_eq!(pair.agree(&private_key, &salt, &info, &response), Some(key), "{pair:?}");
    }
}

/// One bit of what was sent, of the salt or of info: the other side does not have the key, and
/// nothing else tells of it but a point of P-256 that is none.
#[test]
fn a_bit_changed_gives_another_key() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for pair in ALL {
        let private_key = pair.keygen(&mut generator(&mut random)).expect("it has a seed");
        let (salt, info) = (bytes(32, &mut random), bytes(16, &mut random));
        let (response, key) = pair
            .respond(&mut generator(&mut random), &salt, &info, &pair.offer(&private_key))
            .expect("the offer is one");
        let bit = |bytes: &mut [u8], random: &mut fastrand::Rng| {
            let at = random.usize(..bytes.len());
            bytes[at] ^= 1 << random.u8(..8);
        };
        let (mut refused, mut rejected) = (0, 0);
        for _ in 0..40 {
            let (mut other_salt, mut other_info) = (salt.clone(), info.clone());
            let (mut other_point, mut ciphertext) = (response.clone(), response.clone());
            bit(&mut other_salt, &mut random);
            bit(&mut other_info, &mut random);
            bit(&mut other_point[..point(pair)], &mut random);
            bit(&mut ciphertext[point(pair)..], &mut random);
            assert_ne!(pair.agree(&private_key, &other_salt, &info, &response), Some(key));
            assert_ne!(pair.agree(&private_key, &salt, &other_info, &response), Some(key));
            let other = pair.agree(&private_key, &salt, &info, &ciphertext).expect("implicit rejection");
            assert_eq!(other.to_vec(), expected(pair, &private_key, &salt, &info, &ciphertext));
            assert_ne!(other, key);
            rejected += 1;
            match pair.agree(&private_key, &salt, &info, &other_point) {
                None => refused += 1,
                Some(other) => assert_ne!(other, key),
            }
        }
        // X25519 takes any bytes but those of a small order.
        assert_eq!((refused, rejected), (if pair == P256MlKem512 { 40 } else { 0 }, 40), "{pair:?}");
    }
}

#[test]
fn respond_refuses_a_malformed_offer() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for pair in ALL {
        let private_key = pair.keygen(&mut generator(&mut random)).expect("it has a seed");
        let good = pair.offer(&private_key);
        // Beside the curve; of a small order, RFC 7748 section 6.1.
        let mut beside = good.clone();
        if pair == P256MlKem512 {
            beside[63] ^= 1;
        } else {
            beside[..32].fill(0);
        }
        // A coefficient of q: FIPS 203 section 7.2.
        let mut large = good.clone();
        large[point(pair)..][..3].copy_from_slice(&[0x01, 0xdd, 0xff]);
        for wrong in [beside.clone(), large, vec![0; good.len()], vec![0xff; good.len()]] {
            assert_eq!(pair.respond(&mut generator(&mut random), &[], &[], &wrong), None, "{pair:?}");
        }
        let (mut response, _) =
            pair.respond(&mut generator(&mut random), &[], &[], &good).expect("the offer is one");
        response[..point(pair)].copy_from_slice(&beside[..point(pair)]);
        assert_eq!(pair.agree(&private_key, &[], &[], &response), None, "{pair:?}");
        assert_eq!(pair.keygen(&mut Drbg::default()), None, "without a seed");
        assert_eq!(pair.respond(&mut Drbg::default(), &[], &[], &good), None, "without a seed");
    }
}
