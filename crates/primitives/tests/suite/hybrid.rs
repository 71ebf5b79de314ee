//! P-256 with ML-KEM-512 on the host build. No standards body has vectors of this pair: its parts are compared with RustCrypto's P-256, HMAC and
//! SHA-256 and with the crate fips203, which the published vectors of each are compared with in their own suites.

use fips203::ml_kem_512;
use fips203::traits::{Decaps, SerDes};
use hmac::Mac;
use p256::elliptic_curve::sec1::ToEncodedPoint;
use p256::{PublicKey, SecretKey};
use primitives::Drbg;
use primitives::hybrid::{PrivateKey, Response, agree, keygen, offer, respond};
use sha2::Digest;

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

/// What the initiator has to make of a response: Z || T, then extraction and expansion, SP 800-56C revision 2 sections 2 and 5.1.
fn expected(private_key: &PrivateKey, salt: &[u8], info: &[u8], response: &Response) -> Vec<u8> {
    let own = SecretKey::from_slice(&private_key[..32]).expect("a private key");
    assert_eq!(own.public_key().to_encoded_point(false).as_bytes()[1..], private_key[32..96]);
    let peer = PublicKey::from_sec1_bytes(&[&[4], &response[..64]].concat()).expect("a point");
    let z = p256::ecdh::diffie_hellman(own.to_nonzero_scalar(), peer.as_affine());
    let kem = ml_kem_512::DecapsKey::try_from_bytes(private_key[96..].try_into().expect("1632 bytes"));
    let ciphertext = ml_kem_512::CipherText::try_from_bytes(response[64..].try_into().expect("768 bytes"));
    let t = kem.expect("a key").try_decaps(&ciphertext.expect("any bytes")).expect("it decapsulates");
    let secrets = [&z.raw_secret_bytes()[..], &t.into_bytes()].concat();
    let said = [info, &offer(private_key), response].concat();
    let fixed_info = [&b"P-256 ML-KEM-512"[..], &sha2::Sha256::digest(said)].concat();
    hmac(&hmac(salt, &secrets), &[&fixed_info[..], &[1]].concat())
}

#[test]
fn both_sides_have_the_key_that_other_implementations_make() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for round in 0..20 {
        let private_key = keygen(&mut generator(&mut random)).expect("it has a seed");
        let salt = bytes([0, 16, 32, 100][round % 4], &mut random);
        let info = bytes(round, &mut random);
        let (response, key) = respond(&mut generator(&mut random), &salt, &info, &offer(&private_key))
            .expect("the offer is one");
        assert_eq!(key.to_vec(), expected(&private_key, &salt, &info, &response));
        assert_eq!(agree(&private_key, &salt, &info, &response), Some(key));
    }
}

/// One bit of what was sent, of the salt or of info: the other side does not have the key, and nothing else tells of it but a point that is none.
#[test]
fn a_bit_changed_gives_another_key() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    let private_key = keygen(&mut generator(&mut random)).expect("it has a seed");
    let (salt, info) = (bytes(32, &mut random), bytes(16, &mut random));
    let (response, key) =
        respond(&mut generator(&mut random), &salt, &info, &offer(&private_key)).expect("the offer is one");
    let bit = |bytes: &mut [u8], random: &mut fastrand::Rng| {
        let at = random.usize(..bytes.len());
        bytes[at] ^= 1 << random.u8(..8);
    };
    let (mut refused, mut rejected) = (0, 0);
    for _ in 0..40 {
        let (mut other_salt, mut other_info, mut point, mut ciphertext) =
            (salt.clone(), info.clone(), response, response);
        bit(&mut other_salt, &mut random);
        bit(&mut other_info, &mut random);
        bit(&mut point[..64], &mut random);
        bit(&mut ciphertext[64..], &mut random);
        assert_ne!(agree(&private_key, &other_salt, &info, &response), Some(key));
        assert_ne!(agree(&private_key, &salt, &other_info, &response), Some(key));
        let other = agree(&private_key, &salt, &info, &ciphertext).expect("implicit rejection");
        assert_eq!(other.to_vec(), expected(&private_key, &salt, &info, &ciphertext));
        assert_ne!(other, key);
        rejected += 1;
        match agree(&private_key, &salt, &info, &point) {
            None => refused += 1,
            Some(other) => assert_ne!(other, key),
        }
    }
    assert!(refused == 40 && rejected == 40, "{refused} {rejected}");
}

#[test]
fn what_is_no_offer_is_refused() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    let private_key = keygen(&mut generator(&mut random)).expect("it has a seed");
    let good = offer(&private_key);
    let mut beside = good;
    beside[63] ^= 1;
    // A coefficient of q: FIPS 203 section 7.2.
    let mut large = good;
    large[64..67].copy_from_slice(&[0x01, 0xdd, 0xff]);
    for wrong in [beside, large, [0; 864], [0xff; 864]] {
        assert_eq!(respond(&mut generator(&mut random), &[], &[], &wrong), None);
    }
    assert_eq!(keygen(&mut Drbg::default()), None, "without a seed");
    assert_eq!(respond(&mut Drbg::default(), &[], &[], &good), None, "without a seed");
}
