//! Curves and ECDSA: P-256 by RustCrypto, X25519 by curve25519-dalek, the others by `weierstrass`
//! beside this file. RFC 6979 does not cover secp160r1: its nonces are as
//! `device/crypto/ecdsa_secp160r1.h` has them.

use super::drbg::{Drbg, HmacDrbg, SEED_BYTES};
use super::weierstrass::{self, Domain, P192, P224, P384, Point, SECP160R1};
use super::{Case, bytes_of, octets};
use crate::LabError;
use curve25519_dalek::MontgomeryPoint;
use hmac::digest::KeyInit;
use hmac::{Hmac, Mac};
use num_bigint::BigUint;
use p256::ecdsa::signature::{Signer, Verifier};
use p256::ecdsa::{Signature, SigningKey, VerifyingKey};
use p256::elliptic_curve::sec1::ToEncodedPoint;
use p256::{PublicKey, SecretKey};
use rand::{Rng, rngs::StdRng};
use sha1::{Digest, Sha1};

/// A curve of the firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// SP 800-186 section 3.2.1.3.
    P256,
    /// SEC 2 version 1 section 2.4.2.
    Secp160r1,
    /// FIPS 186-4 section D.1.2.1. The firmware has ECDH alone.
    P192,
    /// SP 800-186 section 3.2.1.2. The firmware has ECDH alone.
    P224,
    /// SP 800-186 section 3.2.1.4.
    P384,
}

fn failed(what: &'static str) -> impl Fn(String) -> LabError {
    move |problem| LabError::Reference { what, problem }
}

fn of_p256(error: impl std::fmt::Display) -> LabError {
    failed("P-256")(error.to_string())
}

impl Curve {
    /// By the name that operations have it under.
    #[must_use]
    pub fn named(name: &str) -> Option<Curve> {
        match name {
            "p256" => Some(Curve::P256),
            "secp160r1" => Some(Curve::Secp160r1),
            "p192" => Some(Curve::P192),
            "p224" => Some(Curve::P224),
            "p384" => Some(Curve::P384),
            _ => None,
        }
    }

    /// Parameters of a curve that no library here has.
    fn domain(self) -> Option<&'static Domain> {
        match self {
            Curve::P256 => None,
            Curve::Secp160r1 => Some(&SECP160R1),
            Curve::P192 => Some(&P192),
            Curve::P224 => Some(&P224),
            Curve::P384 => Some(&P384),
        }
    }

    /// The order of the base point.
    #[must_use]
    pub fn order(self) -> BigUint {
        let of_p256 = b"ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
        let order = || BigUint::parse_bytes(of_p256, 16).unwrap_or_default();
        self.domain().map_or_else(order, Domain::order)
    }

    /// Bytes of a private key.
    #[must_use]
    pub fn private_bytes(self) -> usize {
        match self {
            Curve::P256 => 32,
            Curve::Secp160r1 => 21,
            Curve::P192 => 24,
            Curve::P224 => 28,
            Curve::P384 => 48,
        }
    }

    /// Bytes of a coordinate, and of a half of a signature.
    #[must_use]
    pub fn coordinate_bytes(self) -> usize {
        match self {
            Curve::P256 => 32,
            Curve::Secp160r1 => 20,
            Curve::P192 => 24,
            Curve::P224 => 28,
            Curve::P384 => 48,
        }
    }

    /// A private key, as often as not one that begins or ends with many equal bits.
    #[must_use]
    pub fn private_key(self, rng: &mut StdRng) -> Vec<u8> {
        let order = self.order();
        let power = BigUint::from(1u8) << rng.random_range(0..order.bits() - 1);
        let number = match rng.random_range(0..12) {
            0 => BigUint::from(rng.random_range(1..20u8)),
            1 => &order - rng.random_range(1..20u8),
            2 => power,
            3 => power + 1u8,
            4 => &order - power,
            5 => power * rng.random_range(1..256u32),
            _ => BigUint::from_bytes_be(&bytes_of(self.private_bytes() + 8, rng)),
        };
        let number = number % &order;
        octets(&number.max(BigUint::from(1u8)), self.private_bytes())
    }

    /// The private key that the firmware makes of what its generator gives: FIPS 186-5 appendix
    /// A.2.1.
    #[must_use]
    pub fn generate(self, random: &mut Drbg) -> Vec<u8> {
        let c = random.generate(self.private_bytes() + 8);
        octets(&self.below_order(&c), self.private_bytes())
    }

    /// (c mod (n - 1)) + 1.
    fn below_order(self, c: &[u8]) -> BigUint {
        BigUint::from_bytes_be(c) % (self.order() - 1u8) + 1u8
    }

    /// The public key, x and y.
    ///
    /// # Errors
    /// [`LabError::Reference`] for a private key that is none.
    pub fn public(self, private: &[u8]) -> Result<Vec<u8>, LabError> {
        let Some(domain) = self.domain() else {
            let key = SecretKey::from_slice(private).map_err(of_p256)?;
            return Ok(key.public_key().to_encoded_point(false).as_bytes()[1..].to_vec());
        };
        Ok(times(&domain.base(), private)?.to_bytes())
    }

    /// The x-coordinate of the private key times the public one.
    ///
    /// # Errors
    /// [`LabError::Reference`] for a key that is none.
    pub fn shared(self, private: &[u8], public: &[u8]) -> Result<Vec<u8>, LabError> {
        let Some(domain) = self.domain() else {
            let key = SecretKey::from_slice(private).map_err(of_p256)?;
            let point = PublicKey::from_sec1_bytes(&sec1(public)).map_err(of_p256)?;
            let shared = p256::ecdh::diffie_hellman(key.to_nonzero_scalar(), point.as_affine());
            return Ok(shared.raw_secret_bytes().to_vec());
        };
        let shared = times(&point(domain, public)?, private)?;
        Ok(octets(shared.x(), self.coordinate_bytes()))
    }

    /// The digest that the firmware signs, as a number.
    fn digest(self, message: &[u8]) -> BigUint {
        match self {
            Curve::P256 => BigUint::from_bytes_be(&sha2::Sha256::digest(message)),
            Curve::P384 => BigUint::from_bytes_be(&sha2::Sha384::digest(message)),
            Curve::Secp160r1 | Curve::P192 | Curve::P224 => BigUint::from_bytes_be(&Sha1::digest(message)),
        }
    }

    /// The nonces of RFC 6979 section 3.2, with a hash as long as the order.
    fn drawn_nonces<M: Mac + KeyInit + 'static>(
        self,
        private: &[u8],
        message: &[u8],
    ) -> Box<dyn Iterator<Item = BigUint>> {
        let (order, bytes) = (self.order(), self.private_bytes());
        let seed = [private.to_vec(), octets(&(self.digest(message) % &order), bytes)].concat();
        let mut drbg = HmacDrbg::<M>::new(&seed);
        let in_range = move |k: &BigUint| *k > BigUint::ZERO && *k < order;
        let draw = move || {
            let k = BigUint::from_bytes_be(&drbg.draw(bytes));
            drbg.update(&[]);
            Some(k)
        };
        Box::new(std::iter::from_fn(draw).filter(in_range))
    }

    /// The nonces with which the firmware signs, the first and whatever would come after it: those
    /// of P-256 and P-384 are RFC 6979's, all others' as secp160r1's.
    fn nonces(self, private: &[u8], message: &[u8]) -> Box<dyn Iterator<Item = BigUint>> {
        match self {
            Curve::P256 => self.drawn_nonces::<Hmac<sha2::Sha256>>(private, message),
            Curve::P384 => self.drawn_nonces::<Hmac<sha2::Sha384>>(private, message),
            Curve::Secp160r1 | Curve::P192 | Curve::P224 => {
                let seed = [private.to_vec(), octets(&self.digest(message), self.private_bytes())].concat();
                let mut drbg = HmacDrbg::<Hmac<Sha1>>::new(&seed);
                Box::new(std::iter::from_fn(move || {
                    let c = drbg.draw(self.private_bytes() + 8);
                    drbg.update(&[]);
                    Some(self.below_order(&c))
                }))
            }
        }
    }

    /// The nonce with which the firmware signs.
    #[must_use]
    pub fn nonce(self, private: &[u8], message: &[u8]) -> Vec<u8> {
        octets(&self.nonces(private, message).next().unwrap_or_default(), self.private_bytes())
    }

    /// The inverse of a number modulo the order.
    #[must_use]
    pub fn inverse(self, number: &BigUint) -> BigUint {
        number.modinv(&self.order()).unwrap_or_default()
    }

    /// ECDSA, r and s: with RFC 6979 and SHA-256 over P-256, SHA-384 over P-384; with SHA-1 over
    /// secp160r1.
    ///
    /// # Errors
    /// [`LabError::Reference`] for a private key that is none, and where what came out is not
    /// accepted.
    pub fn sign(self, private: &[u8], message: &[u8]) -> Result<Vec<u8>, LabError> {
        let Some(domain) = self.domain() else {
            let signature: Signature = SigningKey::from_slice(private).map_err(of_p256)?.sign(message);
            return Ok(signature.to_bytes().to_vec());
        };
        let (order, bytes) = (self.order(), self.coordinate_bytes());
        let hash = self.digest(message);
        let key = BigUint::from_bytes_be(private);
        let fits = |half: &BigUint| *half > BigUint::ZERO && half.bits() <= 8 * bytes as u64;
        for k in self.nonces(private, message).take(8) {
            let r = times(&domain.base(), &k.to_bytes_be())?.x() % &order;
            let s = self.inverse(&k) * (&hash + &r * &key) % &order;
            if fits(&r) && fits(&s) {
                let signature = [octets(&r, bytes), octets(&s, bytes)].concat();
                if !self.verifies(&self.public(private)?, message, &signature)? {
                    return Err(failed("a curve")("a signature made here is refused".into()));
                }
                return Ok(signature);
            }
        }
        Err(failed("a curve")("no nonce gave a signature that fits".into()))
    }

    /// Returns true if a signature is right.
    ///
    /// # Errors
    /// [`LabError::Reference`] for a public key that is none.
    pub fn verifies(self, public: &[u8], message: &[u8], signature: &[u8]) -> Result<bool, LabError> {
        let Some(domain) = self.domain() else {
            let key = VerifyingKey::from_sec1_bytes(&sec1(public)).map_err(of_p256)?;
            let signature = Signature::from_slice(signature);
            return Ok(signature.is_ok_and(|signature| key.verify(message, &signature).is_ok()));
        };
        let (r, s) = signature.split_at(signature.len() / 2);
        let (r, s) = (BigUint::from_bytes_be(r), BigUint::from_bytes_be(s));
        Ok(weierstrass::verifies(&point(domain, public)?, &self.digest(message), &r, &s))
    }
}

/// SEC 1 section 2.3.3, not compressed.
fn sec1(public: &[u8]) -> Vec<u8> {
    [&[4], public].concat()
}

/// SEC 1 section 2.3.3, compressed.
pub(super) fn compressed(public: &[u8]) -> Vec<u8> {
    let (x, y) = public.split_at(public.len() / 2);
    let odd = y.last().is_some_and(|last| last & 1 == 1);
    [&[if odd { 3 } else { 2 }], x].concat()
}

fn point(domain: &'static Domain, public: &[u8]) -> Result<Point, LabError> {
    domain.point(public).ok_or_else(|| failed("a curve")("the public key is no point of it".into()))
}

/// The product of a point and a big-endian number.
fn times(point: &Point, number: &[u8]) -> Result<Point, LabError> {
    let at_infinity = || failed("a curve")("the private key is a multiple of the order".into());
    point.times(&BigUint::from_bytes_be(number)).ok_or_else(at_infinity)
}

/// A case of key generation, ECDH or ECDSA with random keys; `None` for another operation. Of the
/// signatures to be verified one in eight is wrong.
pub(super) fn case(name: &str, bytes: usize, rng: &mut StdRng) -> Result<Option<Case>, LabError> {
    let split = |name: &str| match name.strip_prefix("ecdsa-") {
        Some(rest) => {
            rest.split_once('-').map(|(curve, what)| (Curve::named(curve), format!("ecdsa-{what}")))
        }
        None => name.split_once('-').map(|(curve, what)| (Curve::named(curve), what.to_owned())),
    };
    if name == "x25519-ecdh" {
        return x25519_case(&bytes_of(32, rng), &bytes_of(32, rng)).map(Some);
    }
    let Some((Some(curve), what)) = split(name) else { return Ok(None) };
    match what.as_str() {
        "keygen" => generation_case(curve, &bytes_of(SEED_BYTES, rng)),
        "ecdh" => {
            let (private, peer) = (curve.private_key(rng), curve.private_key(rng));
            agreement_case(curve, &private, &curve.public(&peer)?)
        }
        "ecdsa-sign" => signing_case(curve, &curve.private_key(rng), bytes_of(bytes, rng)),
        "ecdsa-verify" => {
            let (private, message) = (curve.private_key(rng), bytes_of(bytes, rng));
            let mut signature = curve.sign(&private, &message)?;
            if rng.random_range(0..8) == 0 {
                let bit = rng.random_range(0..8 * signature.len());
                signature[bit / 8] ^= 1 << (bit % 8);
            }
            verifying_case(curve, &curve.public(&private)?, message, &signature)
        }
        _ => return Ok(None),
    }
    .map(Some)
}

/// X25519 with a private key, and the public one of another.
///
/// # Errors
/// [`LabError::Reference`] where the reference fails.
pub fn x25519_case(private: &[u8], peer: &[u8]) -> Result<Case, LabError> {
    let public = x25519(peer, None)?;
    let shared = x25519(private, Some(&public))?;
    Ok(Case {
        inputs: vec![("key", [private, &public].concat())],
        outputs: vec![("output", shared)],
        result: Some(0),
        ..Case::default()
    })
}

/// Secret that an X25519 private key shares with a public key; without one, its own public key.
///
/// # Errors
/// [`LabError::Reference`] where the reference fails.
pub fn x25519(private: &[u8], public: Option<&[u8]>) -> Result<Vec<u8>, LabError> {
    let key = |bytes: &[u8]| -> Result<[u8; 32], LabError> {
        bytes
            .try_into()
            .map_err(|_| failed("X25519")(format!("{} bytes are no key, which has 32", bytes.len())))
    };
    let private = key(private)?;
    let Some(public) = public else {
        return Ok(MontgomeryPoint::mul_base_clamped(private).to_bytes().to_vec());
    };
    let shared = MontgomeryPoint(key(public)?).mul_clamped(private).to_bytes();
    // RFC 7748 section 6.1: such a public key has a small order.
    if shared == [0; 32] {
        return Err(failed("X25519")("the shared secret is zero".into()));
    }
    Ok(shared.to_vec())
}

/// Key generation from a generator with this seed.
///
/// # Errors
/// [`LabError::Reference`] where the reference fails.
pub fn generation_case(curve: Curve, seed: &[u8]) -> Result<Case, LabError> {
    let private = curve.generate(&mut Drbg::new(seed));
    let public = curve.public(&private)?;
    Ok(Case {
        inputs: vec![("key", seed.to_vec())],
        outputs: vec![("output", [private, public].concat())],
        result: Some(0),
        ..Case::default()
    })
}

/// ECDH of two keys that are good.
///
/// # Errors
/// [`LabError::Reference`] where they are not.
pub fn agreement_case(curve: Curve, private: &[u8], peer: &[u8]) -> Result<Case, LabError> {
    Ok(Case {
        inputs: vec![("key", [private, peer].concat())],
        outputs: vec![("output", curve.shared(private, peer)?)],
        result: Some(0),
        ..Case::default()
    })
}

/// ECDSA by a key that is good.
///
/// # Errors
/// [`LabError::Reference`] where it is not.
pub fn signing_case(curve: Curve, private: &[u8], message: Vec<u8>) -> Result<Case, LabError> {
    let signature = curve.sign(private, &message)?;
    Ok(Case {
        inputs: vec![("key", private.to_vec()), ("message", message)],
        outputs: vec![("output", signature)],
        result: Some(0),
        ..Case::default()
    })
}

/// Verification of a signature, right or wrong, by a key that is good.
///
/// # Errors
/// [`LabError::Reference`] where it is not.
pub fn verifying_case(
    curve: Curve,
    public: &[u8],
    message: Vec<u8>,
    signature: &[u8],
) -> Result<Case, LabError> {
    let result = if curve.verifies(public, &message, signature)? { 0 } else { -1 };
    Ok(Case {
        inputs: vec![("key", [public, signature].concat()), ("message", message)],
        result: Some(result),
        ..Case::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;
    use rand::SeedableRng;

    /// RFC 6979 appendix A.2.5, SHA-256, message "sample": k, r and s.
    #[test]
    fn the_nonce_and_the_signature_of_rfc_6979() {
        let private = hex!("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721");
        let nonce = hex!("a6e3c57dd01abe90086538398355dd4c3b17aa873382b0f24d6129493d8aad60");
        let signature = hex!(
            "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
            "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"
        );
        assert_eq!(Curve::P256.nonce(&private, b"sample"), nonce);
        assert_eq!(Curve::P256.sign(&private, b"sample").expect("a good key"), signature);
    }

    /// RFC 6979 appendix A.2.6, SHA-384, message "sample": k, r and s.
    #[test]
    fn the_nonce_and_the_signature_of_rfc_6979_on_p384() {
        let private = hex!(
            "6b9d3dad2e1b8c1c05b19875b6659f4de23c3b667bf297ba9aa47740787137d8"
            "96d5724e4c70a825f872c9ea60d2edf5"
        );
        let nonce = hex!(
            "94ed910d1a099dad3254e9242ae85abde4ba15168eaf0ca87a555fd56d10fbca"
            "2907e3e83ba95368623b8c4686915cf9"
        );
        let signature = hex!(
            "94edbb92a5ecb8aad4736e56c691916b3f88140666ce9fa73d64c4ea95ad133c"
            "81a648152e44acf96e36dd1e80fabe46"
            "99ef4aeb15f178cea1fe40db2603138f130e740a19624526203b6351d0a3a94f"
            "a329c145786e679e7b82c71a38628ac8"
        );
        assert_eq!(Curve::P384.nonce(&private, b"sample"), nonce);
        assert_eq!(Curve::P384.sign(&private, b"sample").expect("a good key"), signature);
    }

    #[test]
    fn both_sides_agree_and_wrong_signatures_are_wrong() {
        let mut rng = StdRng::seed_from_u64(1);
        for curve in [Curve::P256, Curve::Secp160r1, Curve::P192, Curve::P224, Curve::P384] {
            for _ in 0..20 {
                let (a, b) = (curve.private_key(&mut rng), curve.private_key(&mut rng));
                let (of_a, of_b) = (curve.public(&a).expect("a key"), curve.public(&b).expect("a key"));
                let shared = curve.shared(&a, &of_b).expect("two keys");
                assert_eq!(shared, curve.shared(&b, &of_a).expect("two keys"));
                let mut signature = curve.sign(&a, b"message").expect("a key");
                assert!(curve.verifies(&of_a, b"message", &signature).expect("a key"));
                assert!(!curve.verifies(&of_a, b"messagf", &signature).expect("a key"));
                signature[rng.random_range(0..2 * curve.coordinate_bytes())] ^= 1;
                assert!(!curve.verifies(&of_a, b"message", &signature).expect("a key"));
            }
        }
    }
}
