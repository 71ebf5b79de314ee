//! ML-DSA-44 on the host build: every published vector, random inputs against the crate fips204, and encodings that must be refused.

use fips204::ml_dsa_44::{KG, PublicKey};
use fips204::traits::{KeyGen, SerDes, Signer, Verifier};
use primitives::ml_dsa::{
    check, decomposed, keygen, keygen_seeded, products, sign, sign_mu, verify, verify_mu,
};
use primitives::sha3::shake256;
use testkit::vectors::{MlDsaMessage, MlDsaPrivateKey, ml_dsa_44};

const Q: i64 = 8_380_417;
/// Where z, the hints and their numbers begin in a signature; and the largest number of hints.
const Z: usize = 32;
const HINTS: usize = Z + 4 * 576;
const OMEGA: usize = 80;

/// mu of M', FIPS 204 algorithm 7 step 6.
fn represented(tr: &[u8], formatted: &[u8]) -> [u8; 64] {
    shake256(&[tr, formatted].concat(), 64).try_into().expect("64 bytes")
}

fn is_valid(public_key: &[u8], message: &MlDsaMessage, signature: &[u8]) -> bool {
    match message {
        MlDsaMessage::Plain { context, message } => verify(public_key, context, message, signature),
        MlDsaMessage::Formatted(formatted) => {
            verify_mu(public_key, &represented(&shake256(public_key, 64), formatted), signature)
        }
        MlDsaMessage::Representative(mu) => verify_mu(public_key, mu, signature),
    }
}

#[test]
fn as_published() {
    let cases = ml_dsa_44();
    for case in cases.keys {
        let (public, private) = keygen(&case.seed);
        assert_eq!((public, &private), (case.public_key, &case.private_key));
        assert!(check(&private));
    }
    for case in cases.signings {
        let private = match case.private_key {
            MlDsaPrivateKey::Seed(seed) => keygen(&seed).1,
            MlDsaPrivateKey::Encoded(key) => key,
        };
        let signature = match case.message {
            MlDsaMessage::Plain { context, message } => sign(&private, &context, &message, &case.rnd),
            MlDsaMessage::Formatted(formatted) => {
                sign_mu(&private, &represented(&private[64..128], &formatted), &case.rnd)
            }
            MlDsaMessage::Representative(mu) => sign_mu(&private, &mu, &case.rnd),
        };
        assert_eq!(signature, case.signature);
    }
    for case in cases.verifications {
        assert_eq!(is_valid(&case.public_key, &case.message, &case.signature), case.valid);
    }
    for key in cases.refused {
        assert!(!check(&key));
    }
}

#[test]
fn random_signatures_as_another_implementation_has_them() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for _ in 0..60 {
        let mut seed = || -> [u8; 32] { std::array::from_fn(|_| random.u8(..)) };
        let (xi, rnd) = (seed(), seed());
        let bytes = |random: &mut fastrand::Rng, most| -> Vec<u8> {
            (0..random.usize(0..=most)).map(|_| random.u8(..)).collect()
        };
        let (context, message) = (bytes(&mut random, 255), bytes(&mut random, 600));
        let (public, private) = keygen(&xi);
        let (their_public, their_private) = KG::keygen_from_seed(&xi);
        assert_eq!(public, their_public.clone().into_bytes());
        assert_eq!(private, their_private.clone().into_bytes());
        let signature = sign(&private, &context, &message, &rnd);
        let theirs = their_private.try_sign_with_seed(&rnd, &message, &context).expect("it signs");
        assert_eq!(signature, theirs);
        assert!(verify(&public, &context, &message, &signature));
        // One bit changed anywhere is refused.
        let mut changed = [public.as_slice(), &context, &message, &signature].map(<[u8]>::to_vec);
        let which = random.usize(0..4);
        let Some(place) = (0..changed[which].len()).nth(random.usize(0..changed[which].len().max(1))) else {
            continue;
        };
        changed[which][place] ^= 1 << random.u8(0..8);
        let [public, context, message, signature] = changed;
        let their_public =
            PublicKey::try_from_bytes(public.clone().try_into().expect("a key")).expect("any key");
        let theirs =
            their_public.verify(&message, &signature.clone().try_into().expect("a signature"), &context);
        assert_eq!(verify(&public, &context, &message, &signature), theirs);
        assert!(!theirs, "piece {which}, byte {place}");
    }
}

/// Keys and signatures of any bytes are taken as the other implementation takes them.
#[test]
fn any_bytes_are_refused() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for _ in 0..20 {
        let public: [u8; 1312] = std::array::from_fn(|_| random.u8(..));
        let mut signature: [u8; 2420] = std::array::from_fn(|_| random.u8(..));
        assert!(!verify(&public, b"", b"message", &signature));
        // With hints that are encoded as they should be.
        signature[HINTS..].fill(0);
        let theirs = PublicKey::try_from_bytes(public).expect("any key").verify(b"message", &signature, b"");
        assert_eq!(verify(&public, b"", b"message", &signature), theirs);
    }
}

/// The seed and the private key that another implementation signs with.
fn key_pair(random: &mut fastrand::Rng) -> ([u8; 32], Vec<u8>, Vec<u8>) {
    let xi = std::array::from_fn(|_| random.u8(..));
    let (public, private) = keygen(&xi);
    (xi, public, private)
}

#[test]
fn keys_are_what_the_hash_of_the_seed_makes() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    let (xi, public, private) = key_pair(&mut random);
    let seeds = shake256(&[&xi[..], &[4, 4]].concat(), 128);
    let piece = |from: usize| -> [u8; 32] { seeds[from..from + 32].try_into().expect("32 bytes") };
    let rho_prime: [u8; 64] = seeds[32..96].try_into().expect("64 bytes");
    assert_eq!(keygen_seeded(&rho_prime, &piece(96), &piece(0)), (public, private.clone()));
    // s1 and s2: each of their three bits must be one of five numbers.
    for _ in 0..20 {
        let mut changed = private.clone();
        let place = random.usize(0..8 * 256);
        let bit = 8 * 128 + 3 * place;
        for bit in bit..bit + 3 {
            changed[bit / 8] |= 1 << (bit % 8);
        }
        assert!(!check(&changed), "coefficient {place}");
    }
}

/// FIPS 204 algorithm 21: what hints are refused for, each by itself.
#[test]
fn hints_have_one_encoding() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    let (_, public, private) = key_pair(&mut random);
    let mut tried = [0; 5];
    for number in 0..30u8 {
        let signature = sign(&private, b"", &[number], &[0; 32]);
        assert!(verify(&public, b"", &[number], &signature));
        let ends: Vec<usize> = signature[HINTS + OMEGA..].iter().map(|&end| usize::from(end)).collect();
        let mut refused = |kind: usize, change: &dyn Fn(&mut [u8])| {
            let mut changed = signature.clone();
            change(&mut changed[HINTS..]);
            tried[kind] += 1;
            assert!(!verify(&public, b"", &[number], &changed), "{kind}");
        };
        // Two of a row in descending order, or the same one twice.
        if ends[0] >= 2 {
            refused(0, &|hints| hints.swap(0, 1));
            refused(1, &|hints| hints[1] = hints[0]);
        }
        // A row that ends before it begins; one that ends behind the last hint there may be.
        if ends[1] > 0 {
            refused(2, &|hints| hints[OMEGA] = hints[OMEGA + 1] + 1);
        }
        for end in [81, 84, 255] {
            refused(3, &|hints| hints[OMEGA + 3] = end);
        }
        // Something behind the hints.
        if ends[3] < OMEGA {
            refused(4, &|hints| hints[OMEGA - 1] = 1);
        }
    }
    assert!(tried.iter().all(|&count| count > 0), "{tried:?}");
}

/// A signature of a key whose t1 is 0 needs no private key: z alone decides what c must be, so that z can be as large as one likes.
#[test]
fn z_is_refused_where_it_is_too_large() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    let xi = std::array::from_fn(|_| random.u8(..));
    let mut public = keygen(&xi).0;
    public[32..].fill(0);
    let mu = represented(&shake256(&public, 64), b"\0\0message");
    let largest = 131_072 - 78;
    for (z, valid) in [
        (0, true),
        (largest - 1, true),
        (1 - largest, true),
        (largest, false),
        (-largest, false),
        (131_072, false),
        (-131_071, false),
    ] {
        for place in [0, 255, 256 + random.usize(0..768)] {
            let signature = forged(&public[..32], &mu, place, z);
            assert_eq!(verify_mu(&public, &mu, &signature), valid, "z = {z} at {place}");
            let signature = signature.try_into().expect("a signature");
            let key: [u8; 1312] = public.clone().try_into().expect("a key");
            let theirs = PublicKey::try_from_bytes(key).expect("a key").verify(b"message", &signature, b"");
            assert_eq!(theirs, valid, "z = {z} at {place}");
        }
    }
}

/// A signature whose z has one coefficient, for a key whose t1 is 0: w = A z, by the definition of the product, and no hints.
fn forged(rho: &[u8], mu: &[u8; 64], place: usize, z: i64) -> Vec<u8> {
    let mut signature = vec![0; 2420];
    for n in 0..1024 {
        let number = 131_072 - if n == place { z } else { 0 };
        for bit in 0..18 {
            let at = 18 * n + bit;
            signature[Z + at / 8] |= ((number >> bit & 1) as u8) << (at % 8);
        }
    }
    let mut polynomial = [0; 256];
    polynomial[place % 256] = z.rem_euclid(Q);
    let transformed = ntt(polynomial);
    let mut encoded = mu.to_vec();
    for row in 0..4u8 {
        let matrix = matrix(rho, (place / 256) as u8, row);
        let product: Vec<i64> = (0..256).map(|n| matrix[n] * transformed[n] % Q).collect();
        let high: Vec<u8> = inverse_ntt(&product).into_iter().map(|a| high_and_low(a).0 as u8).collect();
        for four in high.chunks(4) {
            let bits = four.iter().rev().fold(0u32, |bits, &high| bits << 6 | u32::from(high));
            encoded.extend(&bits.to_le_bytes()[..3]);
        }
    }
    signature[..32].copy_from_slice(&shake256(&encoded, 32));
    signature
}

/// RejNTTPoly, algorithm 30.
fn matrix(rho: &[u8], column: u8, row: u8) -> Vec<i64> {
    let bytes = primitives::sha3::shake128(&[rho, &[column, row]].concat(), 1200);
    let numbers =
        bytes.chunks(3).map(|b| i64::from(b[0]) | i64::from(b[1]) << 8 | i64::from(b[2] & 127) << 16);
    numbers.filter(|&number| number < Q).take(256).collect()
}

/// 1753 to the power of the eight bits of a number in reverse order, and so on.
fn zeta(number: u8) -> i64 {
    (0..number.reverse_bits()).fold(1, |zeta, _| zeta * 1753 % Q)
}

/// A coefficient of the transform is the value at an odd power of 1753: algorithm 41 by its definition in section 2.5.
fn ntt(f: [i64; 256]) -> Vec<i64> {
    let value = |x: i64| f.iter().rev().fold(0, |sum, a| (sum * x + a) % Q);
    (0..=255u8).map(|n| value(point(n))).collect()
}

/// Where the polynomial is evaluated for a coefficient: 1753 to the power of 2 times the reversed bits, plus 1.
fn point(n: u8) -> i64 {
    zeta(n) * zeta(n) % Q * 1753 % Q
}

fn inverse_ntt(f: &[i64]) -> Vec<i64> {
    // 256 f_i is the sum of the values times the points to the power of -i, and the points are those of order 512.
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
fn high_and_low(a: i64) -> (i64, i64) {
    let step = 2 * 95_232;
    let low = if a % step > step / 2 { a % step - step } else { a % step };
    if a - low == Q - 1 { (0, low - 1) } else { ((a - low) / step, low) }
}

#[test]
fn every_residue_is_decomposed_as_the_standard_says() {
    for a in 0..Q {
        let (high, low) = decomposed(a as i32);
        assert_eq!((i64::from(high), i64::from(low)), high_and_low(a), "{a}");
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
