//! ML-DSA on the host build: every published vector, random inputs against the crate fips204, and
//! encodings that must be refused.

use device::crypto::ml_dsa::{MlDsa, products};
use device::crypto::sha3::shake256;
use fips204::traits::{KeyGen, SerDes, Signer, Verifier};
use fips204::{ml_dsa_44, ml_dsa_65};
use testkit::vectors::{self, MlDsaMessage, MlDsaPrivateKey};

const Q: i64 = 8_380_417;

/// A parameter set: FIPS 204 tables 1 and 2, and another implementation of it.
struct Set {
    ours: MlDsa,
    published: vectors::MlDsa,
    /// Bytes of c~; rows and columns of the matrix.
    challenge: usize,
    k: usize,
    l: usize,
    eta: u32,
    omega: usize,
    gamma_1: i64,
    gamma_2: i64,
    beta: i64,
    /// Bits of an encoded coefficient: of s1 and s2, z and w1.
    s_bits: usize,
    z_bits: usize,
    w1_bits: usize,
    theirs: &'static dyn Theirs,
}

/// Another implementation of a parameter set.
trait Theirs {
    /// The public and the private key.
    fn keygen(&self, xi: &[u8; 32]) -> (Vec<u8>, Vec<u8>);
    /// A signature of xi's key.
    fn sign(&self, xi: &[u8; 32], rnd: &[u8; 32], context: &[u8], message: &[u8]) -> Vec<u8>;
    fn verify(&self, public_key: &[u8], context: &[u8], message: &[u8], signature: &[u8]) -> bool;
}

impl Set {
    /// Offset of the hints in a signature, behind c~ and z.
    fn hints(&self) -> usize {
        self.challenge + self.l * 32 * self.z_bits
    }
}

macro_rules! theirs {
    ($name:ident, $module:ident) => {
        struct $name;

        impl Theirs for $name {
            fn keygen(&self, xi: &[u8; 32]) -> (Vec<u8>, Vec<u8>) {
                let (public, private) = $module::KG::keygen_from_seed(xi);
                (public.into_bytes().to_vec(), private.into_bytes().to_vec())
            }

            fn sign(&self, xi: &[u8; 32], rnd: &[u8; 32], context: &[u8], message: &[u8]) -> Vec<u8> {
                let private = $module::KG::keygen_from_seed(xi).1;
                private.try_sign_with_seed(rnd, message, context).expect("it signs").to_vec()
            }

            fn verify(&self, public_key: &[u8], context: &[u8], message: &[u8], signature: &[u8]) -> bool {
                let public = $module::PublicKey::try_from_bytes(public_key.try_into().expect("a key"));
                let signature = signature.try_into().expect("a signature");
                public.expect("any key").verify(message, &signature, context)
            }
        }
    };
}

theirs!(Fips204Of44, ml_dsa_44);
theirs!(Fips204Of65, ml_dsa_65);

const SETS: [Set; 2] = [
    Set {
        ours: MlDsa::MlDsa44,
        published: vectors::MlDsa::MlDsa44,
        challenge: 32,
        k: 4,
        l: 4,
        eta: 2,
        omega: 80,
        gamma_1: 1 << 17,
        gamma_2: (Q - 1) / 88,
        beta: 78,
        s_bits: 3,
        z_bits: 18,
        w1_bits: 6,
        theirs: &Fips204Of44,
    },
    Set {
        ours: MlDsa::MlDsa65,
        published: vectors::MlDsa::MlDsa65,
        challenge: 48,
        k: 6,
        l: 5,
        eta: 4,
        omega: 55,
        gamma_1: 1 << 19,
        gamma_2: (Q - 1) / 32,
        beta: 196,
        s_bits: 4,
        z_bits: 20,
        w1_bits: 4,
        theirs: &Fips204Of65,
    },
];

/// mu of M', FIPS 204 algorithm 7 step 6.
fn represented(tr: &[u8], formatted: &[u8]) -> [u8; 64] {
    shake256(&[tr, formatted].concat(), 64).try_into().expect("64 bytes")
}

fn is_valid(ours: MlDsa, public_key: &[u8], message: &MlDsaMessage, signature: &[u8]) -> bool {
    match message {
        MlDsaMessage::Plain { context, message } => ours.verify(public_key, context, message, signature),
        MlDsaMessage::Formatted(formatted) => {
            ours.verify_mu(public_key, &represented(&shake256(public_key, 64), formatted), signature)
        }
        MlDsaMessage::Representative(mu) => ours.verify_mu(public_key, mu, signature),
    }
}

#[test]
fn as_published() {
    for Set { ours, published, .. } in SETS {
        let cases = vectors::ml_dsa(published);
        for case in cases.keys {
            let (public, private) = ours.keygen(&case.seed);
            assert_eq!((public, &private), (case.public_key, &case.private_key));
            assert!(ours.check(&private));
        }
        for case in cases.signings {
            let private = match case.private_key {
                MlDsaPrivateKey::Seed(seed) => ours.keygen(&seed).1,
                MlDsaPrivateKey::Encoded(key) => key,
            };
            assert!(ours.check(&private));
            let signature = match case.message {
                MlDsaMessage::Plain { context, message } => {
                    ours.sign(&private, &context, &message, &case.rnd)
                }
                MlDsaMessage::Formatted(formatted) => {
                    ours.sign_mu(&private, &represented(&private[64..128], &formatted), &case.rnd)
                }
                MlDsaMessage::Representative(mu) => ours.sign_mu(&private, &mu, &case.rnd),
            };
            assert_eq!(signature, Some(case.signature));
        }
        for case in cases.verifications {
            let valid = is_valid(ours, &case.public_key, &case.message, &case.signature);
            assert_eq!(valid, case.valid);
        }
        for key in cases.refused {
            assert!(!ours.check(&key));
        }
    }
}

#[test]
fn random_signatures_as_another_implementation_has_them() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for (set, _) in SETS.iter().flat_map(|set| (0..40).map(move |round| (set, round))) {
        let ours = set.ours;
        let mut seed = || -> [u8; 32] { std::array::from_fn(|_| random.u8(..)) };
        let (xi, rnd) = (seed(), seed());
        let bytes = |random: &mut fastrand::Rng, most| -> Vec<u8> {
            (0..random.usize(0..=most)).map(|_| random.u8(..)).collect()
        };
        let (context, message) = (bytes(&mut random, 255), bytes(&mut random, 600));
        let (public, private) = ours.keygen(&xi);
        assert_eq!((public.clone(), private.clone()), set.theirs.keygen(&xi));
        assert!(ours.check(&private));
        let signature = ours.sign(&private, &context, &message, &rnd).expect("an own key signs");
        assert_eq!(signature, set.theirs.sign(&xi, &rnd, &context, &message));
        assert!(ours.verify(&public, &context, &message, &signature));
        // One bit changed anywhere is refused.
        let mut changed = [public.as_slice(), &context, &message, &signature].map(<[u8]>::to_vec);
        let which = random.usize(0..4);
        let Some(place) = (0..changed[which].len()).nth(random.usize(0..changed[which].len().max(1))) else {
            continue;
        };
        changed[which][place] ^= 1 << random.u8(0..8);
        let [public, context, message, signature] = changed;
        let theirs = set.theirs.verify(&public, &context, &message, &signature);
        assert_eq!(ours.verify(&public, &context, &message, &signature), theirs);
        assert!(!theirs, "piece {which}, byte {place}");
    }
}

/// Keys and signatures of any bytes are taken as the other implementation takes them.
#[test]
fn any_bytes_are_refused() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for (set, _) in SETS.iter().flat_map(|set| (0..20).map(move |round| (set, round))) {
        let [public, _, signature] = set.ours.sizes();
        let public: Vec<u8> = (0..public).map(|_| random.u8(..)).collect();
        let mut signature: Vec<u8> = (0..signature).map(|_| random.u8(..)).collect();
        assert!(!set.ours.verify(&public, b"", b"message", &signature));
        // With hints that are encoded as they should be.
        signature[set.hints()..].fill(0);
        let theirs = set.theirs.verify(&public, b"", b"message", &signature);
        assert_eq!(set.ours.verify(&public, b"", b"message", &signature), theirs);
    }
}

#[test]
fn keys_are_what_the_hash_of_the_seed_makes() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for set in SETS {
        let xi: [u8; 32] = std::array::from_fn(|_| random.u8(..));
        let (public, private) = set.ours.keygen(&xi);
        let seeds = shake256(&[&xi[..], &[set.k as u8, set.l as u8]].concat(), 128);
        let piece = |from: usize| -> [u8; 32] { seeds[from..from + 32].try_into().expect("32 bytes") };
        let rho_prime: [u8; 64] = seeds[32..96].try_into().expect("64 bytes");
        let made = set.ours.keygen_seeded(&rho_prime, &piece(96), &piece(0));
        assert_eq!(made, (public, private.clone()));
        // s1 and s2: the bits of each must be one of 2 eta + 1 numbers.
        for _ in 0..20 {
            let mut changed = private.clone();
            let place = random.usize(0..(set.k + set.l) * 256);
            for bit in 0..set.s_bits {
                let at = 8 * 128 + set.s_bits * place + bit;
                let number = 2 * set.eta + 1;
                changed[at / 8] &= !(1 << (at % 8));
                changed[at / 8] |= ((number >> bit & 1) as u8) << (at % 8);
            }
            assert!(!set.ours.check(&changed), "coefficient {place}");
        }
    }
}

/// Writes a number of 13 bits in the place of each coefficient of t0, which is what the number
/// lacks of 2^12.
fn with_t0(set: &Set, private: &[u8], number: impl Fn(usize) -> u16) -> Vec<u8> {
    let mut changed = private.to_vec();
    let t0 = private.len() - set.k * 416;
    changed[t0..].fill(0);
    for place in 0..256 * set.k {
        for bit in 0..13 {
            let at = 8 * t0 + 13 * place + bit;
            changed[at / 8] |= ((number(place) >> bit & 1) as u8) << (at % 8);
        }
    }
    changed
}

/// Each coefficient of t0 is as large as its encoding allows, with the sign of a bit of the hash of
/// xi: c t0 needs more hints than there may be.
fn with_extreme_t0(set: &Set, private: &[u8]) -> Vec<u8> {
    let signs = shake256(&[0; 32], 32 * set.k);
    with_t0(set, private, |place| if signs[place / 8] >> (place % 8) & 1 == 1 { 8191 } else { 0 })
}

/// FIPS 204 appendix C, table 3. How many attempts the messages take was counted at the challenges,
/// on a build without the bound.
#[test]
fn signing_with_a_hostile_key_ends_after_814_attempts() {
    let [set, _] = &SETS;
    let private = set.ours.keygen(&[0; 32]).1;
    let hostile = with_extreme_t0(set, &private);
    let mu = |message: u8| represented(&hostile[64..128], &[0, 0, message]);
    // 728 attempts.
    assert!(set.ours.sign(&hostile, b"", &[49], &[0; 32]).is_some());
    assert!(set.ours.sign_mu(&hostile, &mu(49), &[0; 32]).is_some());
    // More than 814.
    assert_eq!(set.ours.sign(&hostile, b"", &[0], &[0; 32]), None);
    assert_eq!(set.ours.sign_mu(&hostile, &mu(0), &[0; 32]), None);
    assert!(set.ours.sign(&private, b"", &[0], &[0; 32]).is_some());
}

/// t0 and tr follow from the rest of a private key. One that has others was not made by key
/// generation.
#[test]
fn private_keys_that_contradict_themselves_are_refused() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for set in &SETS {
        let xi = std::array::from_fn(|_| random.u8(..));
        let private = set.ours.keygen(&xi).1;
        assert!(set.ours.check(&private));
        assert!(!set.ours.check(&with_extreme_t0(set, &private)), "extreme t0");
        assert!(!set.ours.check(&with_t0(set, &private, |_| 4096)), "no t0");
        let t0 = private.len() - set.k * 416;
        // rho, tr, each polynomial of s1, s2 and t0; K follows from nothing that the key has.
        let s = (0..set.k + set.l).map(|n| 128 + n * 32 * set.s_bits);
        let polynomials = s.chain((0..set.k).map(|n| t0 + 416 * n));
        for start in [0, 31, 64, 127].into_iter().chain(polynomials) {
            let mut changed = private.clone();
            changed[start] ^= 1 << random.u8(0..8);
            assert!(!set.ours.check(&changed), "byte {start}");
        }
    }
}

/// FIPS 204 algorithm 21: what hints are refused for, each by itself.
#[test]
fn hints_have_one_encoding() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for set in SETS {
        let (omega, last) = (set.omega, set.omega + set.k - 1);
        let xi = std::array::from_fn(|_| random.u8(..));
        let (public, private) = set.ours.keygen(&xi);
        let mut tried = [0; 6];
        for number in 0..30u8 {
            let signature = set.ours.sign(&private, b"", &[number], &[0; 32]).expect("an own key signs");
            assert!(set.ours.verify(&public, b"", &[number], &signature));
            let ends: Vec<usize> =
                signature[set.hints() + omega..].iter().map(|&end| usize::from(end)).collect();
            let mut refused = |kind: usize, change: &dyn Fn(&mut [u8])| {
                let mut changed = signature.clone();
                change(&mut changed[set.hints()..]);
                tried[kind] += 1;
                assert!(!set.ours.verify(&public, b"", &[number], &changed), "{kind}");
            };
            // Two of a row in descending order, or the same one twice.
            if ends[0] >= 2 {
                refused(0, &|hints| hints.swap(0, 1));
                refused(1, &|hints| hints[1] = hints[0]);
            }
            // A row that ends before it begins; one that ends behind the last hint there may be.
            if ends[1] > 0 {
                refused(2, &|hints| hints[omega] = hints[omega + 1] + 1);
            }
            for end in [omega + 1, omega + set.k, 255] {
                refused(3, &|hints| hints[last] = end as u8);
            }
            // Something behind the hints.
            if ends[set.k - 1] < omega {
                refused(4, &|hints| hints[omega - 1] = 1);
                // One more of the last row, below the others: a verifier that walks up the row
                // never meets it, and would accept a second encoding of the signature.
                let used = ends[set.k - 1];
                if used > ends[set.k - 2] && signature[set.hints() + used - 1] > 0 {
                    refused(5, &|hints| hints[last] += 1);
                }
            }
        }
        assert!(tried.iter().all(|&count| count > 0), "{tried:?}");
    }
}

/// A signature of a key whose t1 is 0 needs no private key: z alone decides what c must be, so that
/// z can be as large as one likes.
#[test]
fn z_is_refused_where_it_is_too_large() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for set in SETS {
        let xi = std::array::from_fn(|_| random.u8(..));
        let mut public = set.ours.keygen(&xi).0;
        public[32..].fill(0);
        let mu = represented(&shake256(&public, 64), b"\0\0message");
        let largest = set.gamma_1 - set.beta;
        for (z, valid) in [
            (0, true),
            (largest - 1, true),
            (1 - largest, true),
            (largest, false),
            (-largest, false),
            (set.gamma_1, false),
            (1 - set.gamma_1, false),
        ] {
            for place in [0, 255, 256 + random.usize(0..(set.l - 1) * 256)] {
                let signature = forged(&set, &public[..32], &mu, place, z);
                assert_eq!(set.ours.verify_mu(&public, &mu, &signature), valid, "z = {z} at {place}");
                let theirs = set.theirs.verify(&public, b"", b"message", &signature);
                assert_eq!(theirs, valid, "z = {z} at {place}");
            }
        }
    }
}

/// A signature whose z has one coefficient, for a key whose t1 is 0: w = A z, by the definition of
/// the product, and no hints.
fn forged(set: &Set, rho: &[u8], mu: &[u8; 64], place: usize, z: i64) -> Vec<u8> {
    let mut signature = vec![0; set.ours.sizes()[2]];
    for n in 0..256 * set.l {
        let number = set.gamma_1 - if n == place { z } else { 0 };
        for bit in 0..set.z_bits {
            let at = 8 * set.challenge + set.z_bits * n + bit;
            signature[at / 8] |= ((number >> bit & 1) as u8) << (at % 8);
        }
    }
    let mut polynomial = [0; 256];
    polynomial[place % 256] = z.rem_euclid(Q);
    let transformed = ntt(polynomial);
    let mut encoded = mu.to_vec();
    for row in 0..set.k as u8 {
        let matrix = matrix(rho, (place / 256) as u8, row);
        let product: Vec<i64> = (0..256).map(|n| matrix[n] * transformed[n] % Q).collect();
        let high: Vec<u8> =
            inverse_ntt(&product).into_iter().map(|a| high_and_low(set.gamma_2, a).0 as u8).collect();
        for four in high.chunks(4) {
            let bits = four.iter().rev().fold(0u32, |bits, &high| bits << set.w1_bits | u32::from(high));
            encoded.extend(&bits.to_le_bytes()[..set.w1_bits / 2]);
        }
    }
    signature[..set.challenge].copy_from_slice(&shake256(&encoded, set.challenge));
    signature
}

/// RejNTTPoly, algorithm 30.
fn matrix(rho: &[u8], column: u8, row: u8) -> Vec<i64> {
    let bytes = device::crypto::sha3::shake128(&[rho, &[column, row]].concat(), 1200);
    let numbers =
        bytes.chunks(3).map(|b| i64::from(b[0]) | i64::from(b[1]) << 8 | i64::from(b[2] & 127) << 16);
    numbers.filter(|&number| number < Q).take(256).collect()
}

/// 1753 to the power of the eight bits of a number in reverse order, and so on.
fn zeta(number: u8) -> i64 {
    (0..number.reverse_bits()).fold(1, |zeta, _| zeta * 1753 % Q)
}

/// A coefficient of the transform is the value at an odd power of 1753: algorithm 41 by its
/// definition in section 2.5.
fn ntt(f: [i64; 256]) -> Vec<i64> {
    let value = |x: i64| f.iter().rev().fold(0, |sum, a| (sum * x + a) % Q);
    (0..=255u8).map(|n| value(point(n))).collect()
}

/// Returns the point at which the polynomial is evaluated for a coefficient: 1753 to the power of 2
/// times the reversed bits, plus 1.
fn point(n: u8) -> i64 {
    zeta(n) * zeta(n) % Q * 1753 % Q
}

fn inverse_ntt(f: &[i64]) -> Vec<i64> {
    // 256 f_i is the sum of the values times the points to the power of -i, and the points are
    // those of order 512.
    let power = |base: i64, exponent: i64| (0..exponent).fold(1, |product, _| product * base % Q);
    let inverse: Vec<i64> = (0..=255u8).map(|n| power(point(n), 511)).collect();
    let mut powers = vec![1; 256];
    let scale = 8_347_681;
    assert_eq!(256 * scale % Q, 1);
    (0..256)
        .map(|_| {
            let sum = f.iter().zip(&powers).map(|(a, power)| a * power % Q).sum::<i64>();
            powers.iter_mut().zip(&inverse).for_each(|(power, inverse)| *power = *power * inverse % Q);
            sum % Q * scale % Q
        })
        .collect()
}

/// Decompose, algorithm 36, as the standard has it.
fn high_and_low(gamma_2: i64, a: i64) -> (i64, i64) {
    let step = 2 * gamma_2;
    let low = if a % step > step / 2 { a % step - step } else { a % step };
    if a - low == Q - 1 { (0, low - 1) } else { ((a - low) / step, low) }
}

#[test]
fn every_residue_is_decomposed_as_the_standard_says() {
    for set in SETS {
        for a in 0..Q {
            let (high, low) = set.ours.decomposed(a as i32);
            assert_eq!((i64::from(high), i64::from(low)), high_and_low(set.gamma_2, a), "{a}");
        }
    }
}

#[test]
fn products_are_reduced() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for round in 0..200_000i64 {
        let bound = 16 * Q;
        let a = if round < 1000 { [-bound, bound][round as usize % 2] } else { random.i64(-bound..=bound) };
        let factor = if round < 2000 { [0, 1, Q - 1][round as usize % 3] } else { random.i64(0..Q) };
        for product in products(a as i32, factor as u32).map(i64::from) {
            assert!(-Q <= product && 16 * product <= 17 * Q, "{a} times {factor} is {product}");
            let difference = (product << 32) - a * factor;
            assert_eq!(difference % Q, 0, "{a} times {factor}");
        }
    }
}
