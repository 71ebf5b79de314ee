//! X25519 on the host build: RFC 7748's iterations, Wycheproof's cases, and random keys against
//! OpenSSL.

use device::crypto::x25519::{public_key, shared};
use openssl::derive::Deriver;
use openssl::pkey::{Id, PKey};
use testkit::vectors;

fn bytes(hex: &str) -> [u8; 32] {
    std::array::from_fn(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hex"))
}

/// Section 5.2: after one iteration, and after a thousand.
#[test]
fn iterations_as_in_the_rfc() {
    let mut nine = [0; 32];
    nine[0] = 9;
    let (mut scalar, mut point) = (nine, nine);
    for iteration in 1..=1000 {
        let (next, accepted) = shared(&scalar, &point);
        assert!(accepted);
        (scalar, point) = (next, scalar);
        if iteration == 1 {
            assert_eq!(scalar, bytes("422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"));
        }
    }
    assert_eq!(scalar, bytes("684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"));
}

#[test]
fn agreements_as_published() {
    for case in vectors::x25519() {
        let private = case.private_key.as_slice().try_into().expect("32 bytes");
        let public = case.public_key.as_slice().try_into().expect("32 bytes");
        let expected = case.shared.clone().expect("X25519 takes every key");
        let (shared, accepted) = shared(private, public);
        assert_eq!(shared.as_slice(), expected, "{case:?}");
        assert_eq!(accepted, expected != [0; 32], "{case:?}");
    }
}

#[test]
fn random_keys_as_openssl_has_them() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for _ in 0..200 {
        let mut key = || -> [u8; 32] { std::array::from_fn(|_| random.u8(..)) };
        let (own, other) = (key(), key());
        let private = PKey::private_key_from_raw_bytes(&own, Id::X25519).expect("32 bytes");
        assert_eq!(public_key(&own).to_vec(), private.raw_public_key().expect("it has one"));
        // Any 32 bytes are a point of the curve or of its twist.
        let peer = PKey::public_key_from_raw_bytes(&other, Id::X25519).expect("32 bytes");
        let mut deriver = Deriver::new(&private).expect("it is a key");
        deriver.set_peer(&peer).expect("of the same kind");
        let (shared, accepted) = shared(&own, &other);
        assert!(accepted);
        assert_eq!(shared.to_vec(), deriver.derive_to_vec().expect("of no small order"));
    }
}
