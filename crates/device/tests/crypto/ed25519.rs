//! Ed25519 on the host build: RFC 8032's cases, Wycheproof's, random keys against OpenSSL,
//! encodings that are refused, and the comb's table computed anew.

use device::crypto::ed25519::{comb, public_key, sign, verify};
use openssl::bn::{BigNum, BigNumContext, BigNumRef};
use openssl::pkey::{Id, PKey};
use openssl::sign::Signer;
use testkit::vectors;

/// The curve by its definition, RFC 8032 section 5.1: affine points, x and y.
struct Curve {
    p: BigNum,
    d: BigNum,
    context: BigNumContext,
}

type Point = (BigNum, BigNum);

fn small(value: u32) -> BigNum {
    BigNum::from_u32(value).expect("OpenSSL has memory")
}

fn little_endian(bytes: &[u8]) -> BigNum {
    let big_endian: Vec<u8> = bytes.iter().rev().copied().collect();
    BigNum::from_slice(&big_endian).expect("OpenSSL has memory")
}

fn bytes(number: &BigNumRef) -> [u8; 32] {
    let mut bytes = number.to_vec_padded(32).expect("of up to 32 bytes");
    bytes.reverse();
    bytes.try_into().expect("32 bytes")
}

/// L.
fn order() -> BigNum {
    let low = BigNum::from_dec_str("27742317777372353535851937790883648493").expect("a number");
    &(&small(1) << 252) + &low
}

impl Curve {
    fn new() -> Self {
        let p = &(&small(1) << 255) - &small(19);
        let mut curve = Self { p, d: small(0), context: BigNumContext::new().expect("OpenSSL has memory") };
        let quotient = curve.divide(&small(121_665), &small(121_666));
        curve.d = &curve.p - &quotient;
        curve
    }

    fn reduce(&mut self, a: &BigNumRef) -> BigNum {
        let mut r = small(0);
        r.nnmod(a, &self.p, &mut self.context).expect("p is not 0");
        r
    }

    fn multiply(&mut self, a: &BigNumRef, b: &BigNumRef) -> BigNum {
        self.reduce(&(a * b))
    }

    fn divide(&mut self, a: &BigNumRef, b: &BigNumRef) -> BigNum {
        let mut inverse = small(0);
        inverse.mod_inverse(b, &self.p, &mut self.context).expect("b is not 0");
        self.multiply(a, &inverse)
    }

    /// The base point: y is 4 / 5, and x the even one (section 5.1).
    fn base(&mut self) -> Point {
        let x = "15112221349535400772501151409588531511454012693041857206046113283949847762202";
        let y = self.divide(&small(4), &small(5));
        let base = (BigNum::from_dec_str(x).expect("a number"), y);
        let (xx, yy) = (self.multiply(&base.0, &base.0), self.multiply(&base.1, &base.1));
        let product = self.multiply(&xx, &yy);
        let product = &self.multiply(&product, &self.d.to_owned().expect("OpenSSL has memory")) + &small(1);
        assert_eq!(self.reduce(&(&yy - &xx)), self.reduce(&product), "a point of the curve");
        base
    }

    /// Section 5.1.4's law of addition, in affine coordinates.
    fn add(&mut self, a: &Point, b: &Point) -> Point {
        let (x1y2, x2y1) = (self.multiply(&a.0, &b.1), self.multiply(&b.0, &a.1));
        let (xx, yy) = (self.multiply(&a.0, &b.0), self.multiply(&a.1, &b.1));
        let product = self.multiply(&x1y2, &x2y1);
        let d = self.d.to_owned().expect("OpenSSL has memory");
        let product = self.multiply(&product, &d);
        let (one, x, y) = (small(1), &x1y2 + &x2y1, &yy + &xx);
        (self.divide(&x, &(&one + &product)), self.divide(&y, &(&one - &product)))
    }

    fn negate(&mut self, a: &Point) -> Point {
        (&self.p - &a.0, a.1.to_owned().expect("OpenSSL has memory"))
    }
}

#[test]
fn every_entry_of_the_comb_is_its_multiple() {
    let mut curve = Curve::new();
    // 2^(51 j) B.
    let mut powers = vec![curve.base()];
    for _ in 1..5 {
        let mut point = curve.add(&powers[powers.len() - 1], &powers[powers.len() - 1]);
        for _ in 1..51 {
            point = curve.add(&point, &point);
        }
        powers.push(point);
    }
    let words: Vec<u8> = comb().iter().flat_map(|word| word.to_le_bytes()).collect();
    for (index, entry) in words.chunks(96).enumerate() {
        let mut sum = (small(0), small(1));
        sum = curve.add(&sum, &powers[4]);
        let table = index / 16;
        for (j, power) in powers[..4].iter().enumerate() {
            let negative = curve.negate(power);
            sum = curve.add(&sum, if index >> j & 1 == 1 { power } else { &negative });
        }
        for _ in 0..13 * table {
            sum = curve.add(&sum, &sum);
        }
        let (x, y) = &sum;
        let xy = curve.multiply(x, y);
        let twice = &curve.d + &curve.d;
        let expected =
            [curve.reduce(&(y - x)), curve.reduce(&(y + x)), curve.multiply(&xy, &twice)].map(|e| bytes(&e));
        assert_eq!(entry, expected.concat(), "{index}");
    }
}

#[test]
fn signatures_as_in_the_rfc() {
    for case in vectors::ed25519_signatures() {
        assert_eq!(public_key(&case.seed), case.public_key, "{case:?}");
        let key = [case.seed, case.public_key].concat().try_into().expect("64 bytes");
        assert_eq!(sign(&key, &case.message), case.signature, "{case:?}");
        assert!(verify(&case.public_key, &case.message, &case.signature), "{case:?}");
    }
}

#[test]
fn verification_as_published() {
    let mut refused = 0;
    for case in vectors::ed25519() {
        // What has another length is no signature to this function.
        let Ok(signature) = case.signature.as_slice().try_into() else {
            assert!(!case.valid, "{case:?}");
            continue;
        };
        let key = case.key.as_slice().try_into().expect("32 bytes");
        assert_eq!(verify(key, &case.message, signature), case.valid, "{case:?}");
        refused += u32::from(!case.valid);
    }
    assert!(refused > 30, "{refused} cases to be refused");
}

/// Checks that each case is accepted or refused as it states.
fn assert_verdicts(cases: &[vectors::SignatureCase]) {
    for case in cases {
        let key = case.key.as_slice().try_into().expect("32 bytes");
        let signature = case.signature.as_slice().try_into().expect("64 bytes");
        assert_eq!(verify(key, &case.message, signature), case.valid, "{case:?}");
    }
}

#[test]
fn points_of_small_orders_as_published() {
    let cases = vectors::ed25519_small_orders();
    assert_eq!(cases.iter().filter(|case| case.valid).count(), 172);
    assert_verdicts(&cases);
}

#[test]
fn edge_cases_as_the_header_says() {
    assert_verdicts(&vectors::ed25519_speccheck());
}

#[test]
fn random_keys_as_openssl_has_them() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for turn in 0..200 {
        let seed: [u8; 32] = std::array::from_fn(|_| random.u8(..));
        let message: Vec<u8> = (0..turn).map(|_| random.u8(..)).collect();
        let private = PKey::private_key_from_raw_bytes(&seed, Id::ED25519).expect("32 bytes");
        let public = public_key(&seed);
        assert_eq!(public.to_vec(), private.raw_public_key().expect("it has one"));
        let mut signer = Signer::new_without_digest(&private).expect("it is a key");
        let key = [seed, public].concat().try_into().expect("64 bytes");
        let mut signature = sign(&key, &message);
        assert_eq!(signature.to_vec(), signer.sign_oneshot_to_vec(&message).expect("it signs"));
        assert!(verify(&public, &message, &signature));
        // The same S modulo L.
        let s = little_endian(&signature[32..]);
        let forged = [&signature[..32], &bytes(&(&s + &order()))].concat().try_into().expect("64 bytes");
        assert!(!verify(&public, &message, &forged));
        signature[random.usize(..64)] ^= 1 << random.u8(..8);
        assert!(!verify(&public, &message, &signature));
    }
}

/// Of the neutral point A, k A is neutral: every S and its S B are a signature by it, if it is let
/// in.
#[test]
fn public_keys_in_no_other_encoding() {
    let curve = Curve::new();
    let mut s = [0; 32];
    s[0] = 1;
    let mut base = [0x66; 32];
    base[0] = 0x58;
    let signature = [base, s].concat().try_into().expect("64 bytes");
    let mut neutral = [0; 32];
    neutral[0] = 1;
    assert!(verify(&neutral, b"any", &signature), "small orders are let in, as the header says");
    let mut with_sign = neutral;
    with_sign[31] |= 0x80;
    assert!(!verify(&with_sign, b"any", &signature), "x = 0 with a sign");
    for above in 0..19 {
        let mut encoding = bytes(&(&curve.p + &small(above)));
        for sign in [0, 0x80] {
            encoding[31] = encoding[31] & 0x7f | sign;
            assert!(!verify(&encoding, b"any", &signature), "p + {above}, sign {sign}");
        }
    }
}
