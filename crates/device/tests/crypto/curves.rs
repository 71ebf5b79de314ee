//! The curves, against OpenSSL (both) and the `p256` crate: keys, shared secrets, signatures; RFC
//! 6979's vectors and Wycheproof's; and what the headers say is refused.
//!
//! The seed of what is random is printed; `WATTSEAL_SEED` sets it.

mod older;
mod published;
mod reference;

use device::crypto::{Drbg, p256, p384, secp160r1};
use openssl::bn::{BigNum, BigNumRef};
use openssl::ec::{EcKey, EcPoint, PointConversionForm};
use openssl::ecdsa::EcdsaSig;
use openssl::nid::Nid;
use reference::{Nonces, Reference, bytes, column, number, power_of_two, small};
use sha1::Sha1;
use sha2::{Sha256, Sha384};

fn random() -> fastrand::Rng {
    fastrand::Rng::with_seed(testkit::random::seed())
}

macro_rules! tests_of {
    ($tests:ident, $curve:ident, $name:ident, $columns:literal, equal $equal:expr, tables $tables:literal, $hash:ident, random $random:literal, power $power:literal, nonce $nonce:ident) => {
        mod $tests {
            use super::*;
            use sha2::Digest;

            const KEY: usize = $curve::KEY;
            const COORDINATE: usize = $curve::COORDINATE;

            fn reference() -> Reference {
                Reference::new(Nid::$name)
            }

            fn digest(message: &[u8]) -> [u8; $curve::DIGEST] {
                $hash::digest(message).into()
            }

            /// Random bytes hardly ever come near a multiple of the order - 1, or a power of 2
            /// above it, at any of the bytes by which they are taken in.
            #[test]
            fn scalars_near_multiples_of_the_order() {
                let mut random = random();
                let reference = reference();
                let modulus = &reference.order - &small(1);
                let end = power_of_two(8 * $random);
                let mut near_from_below = 0;
                for turn in 0..4000 {
                    let factor = number(&random.u64(..).to_be_bytes()[random.usize(..8)..]);
                    let base = match turn % 3 {
                        0 => &modulus * &factor,
                        1 => modulus.to_owned().expect("OpenSSL has memory"),
                        _ => power_of_two(modulus.num_bits() - turn / 3 % 2),
                    };
                    let offset = small(random.u32(..) >> random.u32(..32));
                    let near = if turn & 4 == 0 { &base + &offset } else { &base - &offset };
                    let shift = 8 * random.i32(0..10);
                    let tail = number(&random.u128(..).to_be_bytes()[16 - shift as usize / 8..]);
                    let drawn = &(&near * &power_of_two(shift)) + &tail;
                    if near.is_negative() || drawn >= end {
                        continue;
                    }
                    near_from_below += i32::from(turn & 4 != 0);
                    let expected = &(&drawn % &modulus) + &small(1);
                    let input: [u8; $random] = bytes(&drawn);
                    assert_eq!($curve::scalar(&input), bytes::<KEY>(&expected), "{drawn}");
                }
                assert!(near_from_below > 300, "{near_from_below} of the cases");
            }

            #[test]
            fn every_entry_of_the_comb_is_its_multiple() {
                let mut reference = reference();
                // The form in which elements stand.
                let factor = power_of_two($power);
                let elements: Vec<BigNum> = $curve::comb()
                    .chunks(COORDINATE / 4)
                    .map(|words| {
                        let big_endian: Vec<u8> =
                            words.iter().rev().flat_map(|word| word.to_be_bytes()).collect();
                        number(&big_endian)
                    })
                    .collect();
                assert_eq!(elements.len(), $tables * 16 * 2);
                for (entry, index) in elements.chunks(2).zip(0..) {
                    let table = index / 16;
                    let scalar = &column($columns, 16 + index % 16) << (2 * $columns / $tables * table);
                    let point = reference.base(&scalar);
                    let expected: [u8; 2 * COORDINATE] = reference.coordinates(&point);
                    for (element, expected) in entry.iter().zip(expected.chunks(COORDINATE)) {
                        assert_eq!(*element, &(&number(expected) * &factor) % &reference.prime, "{index}");
                    }
                }
            }

            /// Statement of curve.inc on the last column: no scalar n + 2 D has digit D there but
            /// for the one that is replaced.
            #[test]
            fn the_comb_never_adds_a_point_to_itself() {
                let mut reference = reference();
                let mut equal = None;
                for signs in 0..16 {
                    let digit = column($columns, signs);
                    let scalar = &reference.order + &(&digit << 1);
                    let last_column = (0..5)
                        .fold(0, |all, j| all | i32::from(scalar.is_bit_set(2 * $columns * j + 1)) << j);
                    if last_column == signs {
                        assert_eq!(equal.replace(signs), None);
                    }
                    let expected: [u8; 2 * COORDINATE] = {
                        let point = reference.base(&scalar);
                        reference.coordinates(&point)
                    };
                    assert_eq!($curve::public_key(&bytes(&scalar)), Some(expected), "{signs}");
                    let opposite = bytes(&(&reference.order - &scalar));
                    let negated = $curve::public_key(&opposite).expect("in range");
                    assert_eq!(negated[..COORDINATE], expected[..COORDINATE], "{signs}");
                }
                assert_eq!(equal, $equal);
            }

            #[test]
            fn multiples_of_the_base_point_and_of_another() {
                let (mut reference, mut random) = (reference(), random());
                for scalar in reference.scalars($columns, &mut random) {
                    let key: $curve::Private = bytes(&scalar);
                    let point = reference.base(&scalar);
                    let public_key = $curve::public_key(&key).expect("a scalar in range");
                    assert_eq!(public_key, reference.coordinates(&point), "{scalar}");

                    let other = reference.scalar(&mut random);
                    let other = reference.base(&other);
                    let shared: [u8; 2 * COORDINATE] = {
                        let product = reference.times(&other, &scalar);
                        reference.coordinates(&product)
                    };
                    let other = reference.coordinates(&other);
                    assert_eq!(
                        $curve::ecdh(&key, &other).expect("both in range"),
                        shared[..COORDINATE],
                        "{scalar}"
                    );
                }
            }

            #[test]
            fn keys_come_from_one_draw() {
                let (mut reference, mut random) = (reference(), random());
                let seed: [u8; 48] = std::array::from_fn(|_| random.u8(..));
                let mut drbg = Drbg::default();
                assert_eq!($curve::keygen(&mut drbg), None, "without a seed");
                assert_eq!(drbg.instantiate(&seed), 0);
                for _ in 0..20 {
                    let mut drawn = [0; $random];
                    let mut copy = drbg.clone();
                    assert_eq!(copy.generate(&mut drawn, &[]), 0);
                    let (private_key, public_key) = $curve::keygen(&mut drbg).expect("it has a seed");
                    assert_eq!(drbg, copy);
                    let expected = &(&number(&drawn) % &(&reference.order - &small(1))) + &small(1);
                    assert_eq!(private_key, bytes(&expected));
                    let point = reference.base(&expected);
                    assert_eq!(public_key, reference.coordinates(&point));
                }
            }

            #[test]
            fn points_in_all_forms() {
                let (mut reference, mut random) = (reference(), random());
                for _ in 0..40 {
                    let scalar = reference.scalar(&mut random);
                    let point = reference.base(&scalar);
                    let public_key = reference.coordinates(&point);
                    let full = reference.encode(&point, PointConversionForm::UNCOMPRESSED);
                    let compressed = reference.encode(&point, PointConversionForm::COMPRESSED);
                    assert!($curve::validate(&public_key));
                    assert_eq!($curve::compress(&public_key).as_slice(), compressed);
                    let array = compressed.as_slice().try_into().expect("its length");
                    assert_eq!($curve::decompress(array), Some(public_key));
                    assert_eq!($curve::decode(&compressed), Some(public_key));
                    assert_eq!($curve::decode(&full), Some(public_key));

                    for first in (0..=255).filter(|first| ![2, 3].contains(first)) {
                        let mut other = compressed.clone();
                        other[0] = first;
                        assert_eq!($curve::decode(&other), None, "{first}");
                    }
                    for first in (0..=255).filter(|first| *first != 4) {
                        let mut other = full.clone();
                        other[0] = first;
                        assert_eq!($curve::decode(&other), None, "{first}");
                    }
                    for len in (0..full.len()).filter(|len| *len != compressed.len()) {
                        assert_eq!($curve::decode(&full[..len]), None, "{len} bytes");
                        let mut other = full[..len].to_vec();
                        other[..1.min(len)].fill(2);
                        assert_eq!($curve::decode(&other), None, "{len} bytes");
                    }
                    assert_eq!($curve::decode(&[full.as_slice(), &[0]].concat()), None);
                }
                assert_eq!($curve::decode(&[0]), None, "infinity");
            }

            #[test]
            fn no_points() {
                let (mut reference, mut random) = (reference(), random());
                let key = bytes(&small(3));
                let refused = |public_key: &$curve::Public| {
                    assert!(!$curve::validate(public_key), "{public_key:02x?}");
                    assert_eq!($curve::ecdh(&key, public_key), None);
                    assert_eq!($curve::decode(&[&[4], public_key.as_slice()].concat()), None);
                };
                refused(&[0; 2 * COORDINATE]);
                refused(&[0xff; 2 * COORDINATE]);
                for _ in 0..20 {
                    let scalar = reference.scalar(&mut random);
                    let point = reference.base(&scalar);
                    let public_key: $curve::Public = reference.coordinates(&point);
                    for bit in 0..16 * COORDINATE {
                        let mut other = public_key;
                        other[bit / 8] ^= 1 << (bit % 8);
                        refused(&other);
                    }
                }
                // Points whose x or y is small enough that p more still fits.
                let mut aliases = 0;
                for x in 0..40u32 {
                    let low: [u8; COORDINATE] = bytes(&small(x));
                    let mut compressed = [2; COORDINATE + 1];
                    compressed[1..].copy_from_slice(&low);
                    let known = EcPoint::from_bytes(&reference.group, &compressed, &mut reference.context);
                    let Ok(point) = known else {
                        assert_eq!($curve::decompress(&compressed), None, "no point has x = {x}");
                        continue;
                    };
                    let mut public_key: $curve::Public = reference.coordinates(&point);
                    assert_eq!($curve::decompress(&compressed), Some(public_key));
                    assert!($curve::validate(&public_key));
                    let alias: [u8; COORDINATE] = bytes(&(&small(x) + &reference.prime));
                    public_key[..COORDINATE].copy_from_slice(&alias);
                    refused(&public_key);
                    compressed[1..].copy_from_slice(&alias);
                    assert_eq!($curve::decompress(&compressed), None);
                    aliases += 1;
                }
                assert!(aliases > 10);
            }

            #[test]
            fn no_private_keys() {
                let reference = reference();
                let public_key = $curve::public_key(&bytes(&small(5))).expect("in range");
                let beyond: [BigNum; 4] = [
                    small(0),
                    &reference.order + &small(0),
                    &reference.order + &small(1),
                    &power_of_two(8 * KEY as i32) - &small(1),
                ];
                for scalar in beyond {
                    let key = bytes(&scalar);
                    assert_eq!($curve::public_key(&key), None);
                    assert_eq!($curve::ecdh(&key, &public_key), None);
                    assert_eq!($curve::sign(&key, b"message", &[]), None);
                    assert_eq!($curve::sign_digest(&key, &[1; $curve::DIGEST], &[]), None);
                }
            }

            /// r and s follow from the nonce as FIPS 186-5 section 6.4.1 says, and the nonce from a
            /// generator that is written anew here.
            #[test]
            fn signatures_from_their_nonces() {
                let (mut reference, mut random) = (reference(), random());
                for round in 0..40 {
                    let private = if round < 3 { small(round + 1) } else { reference.scalar(&mut random) };
                    let key: $curve::Private = bytes(&private);
                    let message: Vec<u8> = (0..random.usize(..200)).map(|_| random.u8(..)).collect();
                    let extra: Vec<u8> =
                        (0..random.usize(..40) * (round as usize % 2)).map(|_| random.u8(..)).collect();
                    let signature = $curve::sign(&key, &message, &extra).expect("in range");
                    let hashed = digest(&message);
                    assert_eq!($curve::sign_digest(&key, &hashed, &extra), Some(signature));

                    let e = reference.reduced(&number(&hashed));
                    let mut seed = key.to_vec();
                    seed.extend(bytes::<KEY>(&e));
                    seed.extend(&extra);
                    let mut nonces = Nonces::<hmac::Hmac<$hash>>::new($curve::DIGEST, &seed);
                    let nonce = $nonce(&reference, &mut nonces);
                    let point = reference.base(&nonce);
                    let r = {
                        let point: $curve::Public = reference.coordinates(&point);
                        reference.reduced(&number(&point[..COORDINATE]))
                    };
                    let inverse = reference.inverse(&nonce);
                    let sum = &reference.product(&r, &private) + &e;
                    let s = reference.product(&sum, &inverse);
                    assert_eq!(signature[..COORDINATE], bytes::<COORDINATE>(&r));
                    assert_eq!(signature[COORDINATE..], bytes::<COORDINATE>(&s));
                }
            }

            #[test]
            fn openssl_accepts_ours_and_we_openssls() {
                let (mut reference, mut random) = (reference(), random());
                for round in 0..30 {
                    let private = reference.scalar(&mut random);
                    let point = reference.base(&private);
                    let public_key: $curve::Public = reference.coordinates(&point);
                    let message: Vec<u8> = (0..round).map(|_| random.u8(..)).collect();
                    let hashed = digest(&message);
                    let pair =
                        EcKey::from_private_components(&reference.group, &private, &point).expect("a pair");
                    let ours = $curve::sign(&bytes(&private), &message, &[]).expect("in range");
                    let as_openssl = |signature: &$curve::Signature| {
                        let (r, s) = signature.split_at(COORDINATE);
                        EcdsaSig::from_private_components(number(r), number(s)).expect("OpenSSL has memory")
                    };
                    assert!(as_openssl(&ours).verify(&hashed, &pair).expect("a public key"));
                    assert!($curve::verify(&public_key, &message, &ours));

                    let theirs = EcdsaSig::sign(&hashed, &pair).expect("a private key");
                    let mut joined = [0; 2 * COORDINATE];
                    joined[..COORDINATE].copy_from_slice(&bytes::<COORDINATE>(theirs.r()));
                    joined[COORDINATE..].copy_from_slice(&bytes::<COORDINATE>(theirs.s()));
                    assert!($curve::verify(&public_key, &message, &joined));
                    assert!($curve::verify_digest(&public_key, &hashed, &joined));

                    // One bit of anything.
                    for _ in 0..20 {
                        let bit = random.usize(..16 * COORDINATE);
                        let mut other = joined;
                        other[bit / 8] ^= 1 << (bit % 8);
                        assert!(!$curve::verify(&public_key, &message, &other));
                        let mut other = hashed;
                        other[bit / 8 % $curve::DIGEST] ^= 1 << (bit % 8);
                        assert!(!$curve::verify_digest(&public_key, &other, &joined));
                        let mut other = public_key;
                        other[bit / 8] ^= 1 << (bit % 8);
                        assert!(!$curve::verify(&other, &message, &joined), "not even a point");
                    }
                    let other = reference.scalar(&mut random);
                    let other = reference.base(&other);
                    assert!(
                        !$curve::verify(&reference.coordinates(&other), &message, &joined),
                        "another's key"
                    );
                }
            }

            #[test]
            fn halves_of_signatures_out_of_range() {
                let mut reference = reference();
                let private = small(7);
                let point = reference.base(&private);
                let public_key: $curve::Public = reference.coordinates(&point);
                let good = $curve::sign(&bytes(&private), b"message", &[]).expect("in range");
                assert!($curve::verify(&public_key, b"message", &good));
                let mut wrong = vec![[0; COORDINATE], [0xff; COORDINATE], bytes(&reference.prime)];
                if reference.order.num_bits() <= 8 * COORDINATE as i32 {
                    wrong.push(bytes(&reference.order));
                    wrong.push(bytes(&(&reference.order + &small(1))));
                }
                for value in wrong {
                    for half in 0..2 {
                        let mut other = good;
                        other[half * COORDINATE..][..COORDINATE].copy_from_slice(&value);
                        assert!(!$curve::verify(&public_key, b"message", &other), "{value:02x?}");
                        other[..COORDINATE].copy_from_slice(&value);
                        other[COORDINATE..].copy_from_slice(&value);
                        assert!(!$curve::verify(&public_key, b"message", &other), "{value:02x?}");
                    }
                }
                // s + n where it fits, as that is s to whoever reduces it.
                let s = &number(&good[COORDINATE..]) + &reference.order;
                if s.num_bits() <= 8 * COORDINATE as i32 {
                    let mut other = good;
                    other[COORDINATE..].copy_from_slice(&bytes::<COORDINATE>(&s));
                    assert!(!$curve::verify(&public_key, b"message", &other));
                }
            }

            /// Verifies the signature that leads to u G + v Q, Q = `private` G: s = r / v, e = u s.
            /// Returns whether the sum is infinity, or `None` where s or e does not fit.
            fn verify_sum(
                reference: &mut Reference,
                random: &mut fastrand::Rng,
                u: &BigNumRef,
                v: &BigNumRef,
                private: &BigNumRef,
            ) -> Option<bool> {
                let public = reference.base(private);
                let part = reference.times(&public, v);
                let rest = reference.base(u);
                let sum = reference.plus(&part, &rest);
                let infinite = sum.is_infinity(&reference.group);
                let r = if infinite {
                    reference.scalar(random)
                } else {
                    let sum: $curve::Public = reference.coordinates(&sum);
                    reference.reduced(&number(&sum[..COORDINATE]))
                };
                let inverse = reference.inverse(v);
                let s = reference.product(&r, &inverse);
                let e = reference.product(u, &s);
                if [&r, &s, &e].iter().any(|part| part.num_bits() > 8 * COORDINATE as i32) {
                    return None;
                }
                let mut signature = [0; 2 * COORDINATE];
                signature[..COORDINATE].copy_from_slice(&bytes::<COORDINATE>(&r));
                signature[COORDINATE..].copy_from_slice(&bytes::<COORDINATE>(&s));
                let public_key = reference.coordinates(&public);
                let accepted = $curve::verify_digest(&public_key, &bytes(&e), &signature);
                assert_eq!(accepted, !infinite, "{u} G + {v} {private} G");
                Some(infinite)
            }

            /// The last column of the comb and the last digit of v meet sums that are the same
            /// point, so that doubling is called for, or the opposite one, after which the sum goes
            /// on from infinity.
            #[test]
            fn the_last_sums_in_verification() {
                let (mut reference, mut random) = (reference(), random());
                let mut checked = [0; 5];
                for round in 0..300 {
                    let case = round % checked.len();
                    let u = reference.scalar(&mut random);
                    // What the comb adds at last for u: an odd number's signs, or the opposite of
                    // those of the order less u.
                    let odd = u.is_bit_set(0);
                    let recoded = if odd { &u + &small(0) } else { &reference.order - &u };
                    let addend = |table: i32| {
                        let further = 2 * $columns / $tables * table;
                        let signs = (0..5).fold(0, |all, j| {
                            all | i32::from(recoded.is_bit_set(further + 2 * $columns * j + 1)) << j
                        });
                        let digit = &column($columns, signs) << further;
                        if odd { digit } else { &small(0) - &digit }
                    };
                    let (first, last) = (addend(1), addend(0));
                    // v = 2^k + 1 ends with the digit 1.
                    let v = &power_of_two(random.i32(40..150)) + &small(1);
                    let before = (0..$tables).fold(&small(0) - &u, |sum, table| &sum + &addend(table));
                    let (times, is) = match case {
                        // Before the last addition, the sum is the summand.
                        0 => (&v + &small(0), &(&last << 1) - &u),
                        // So it is before the one before that; or it is the opposite.
                        1 => (&v + &small(0), &(&last + &(&first << 1)) - &u),
                        2 => (&v + &small(0), &last - &u),
                        // Likewise before v's last digit.
                        3 => (&v - &small(2), before),
                        _ => (&v + &small(0), before),
                    };
                    let inverse = reference.inverse(&times);
                    let is = reference.reduced(&is);
                    let private = reference.product(&is, &inverse);
                    if private.num_bits() > 0
                        && verify_sum(&mut reference, &mut random, &u, &v, &private).is_some()
                    {
                        checked[case] += 1;
                    }
                }
                assert!(checked.iter().all(|count| *count > 5), "{checked:?}");
            }

            /// u G + v Q of which parts are nothing, the same, or opposite; Q itself may be a small
            /// multiple of G.
            #[test]
            fn sums_in_verification() {
                let (mut reference, mut random) = (reference(), random());
                let (mut at_infinity, mut others) = (0, 0);
                for _ in 0..600 {
                    let pick = |reference: &Reference, random: &mut fastrand::Rng| match random.u32(..5) {
                        0 => small(random.u32(1..40)),
                        1 => &reference.order - &small(random.u32(1..40)),
                        2 => power_of_two(random.i32(0..reference.order.num_bits() - 1)),
                        _ => reference.scalar(random),
                    };
                    let private = pick(&reference, &mut random);
                    let v = pick(&reference, &mut random);
                    let whole = reference.product(&private, &v);
                    let u = match random.u32(..6) {
                        0 => small(0),
                        1 => reference.reduced(&(&small(0) - &whole)),
                        2 => reference.reduced(&whole),
                        3 => {
                            let near = &small(random.u32(..64)) - &whole;
                            reference.reduced(&near)
                        }
                        4 => reference.reduced(&v),
                        _ => pick(&reference, &mut random),
                    };
                    match verify_sum(&mut reference, &mut random, &u, &v, &private) {
                        Some(true) => at_infinity += 1,
                        Some(false) => others += 1,
                        None => {}
                    }
                }
                assert!(at_infinity > 20 && others > 100);
            }
        }
    };
}

/// RFC 6979 section 3.2 step h. That a first draw is out of range happens once in 2^32 times.
fn nonce_as_drawn(_: &Reference, nonces: &mut Nonces<hmac::Hmac<sha2::Sha256>>) -> BigNum {
    number(&nonces.draw(32))
}

/// The same, where it happens once in 2^194 times.
fn nonce_of_p384(_: &Reference, nonces: &mut Nonces<hmac::Hmac<Sha384>>) -> BigNum {
    number(&nonces.draw(48))
}

/// FIPS 186-5 section A.3.1.
fn nonce_reduced(reference: &Reference, nonces: &mut Nonces<hmac::Hmac<sha1::Sha1>>) -> BigNum {
    &(&number(&nonces.draw(29)) % &(&reference.order - &small(1))) + &small(1)
}

tests_of! { on_p256, p256, X9_62_PRIME256V1, 26, equal None, tables 4, Sha256, random 40, power 256, nonce nonce_as_drawn }
tests_of! { on_p384, p384, SECP384R1, 40, equal Some(6), tables 4, Sha384, random 56, power 384, nonce nonce_of_p384 }
tests_of! { on_secp160r1, secp160r1, SECP160R1, 17, equal None, tables 2, Sha1, random 29, power 0, nonce nonce_reduced }

#[test]
fn p256_multiples_and_signatures_are_those_of_the_p256_crate() {
    use ::p256::elliptic_curve::ops::Reduce;
    use ::p256::elliptic_curve::sec1::ToEncodedPoint;
    use ecdsa::hazmat::SignPrimitive;

    let mut random = random();
    for _ in 0..300 {
        let wide: [u8; 32] = std::array::from_fn(|_| random.u8(..));
        let scalar = <::p256::Scalar as Reduce<::p256::U256>>::reduce_bytes(&wide.into());
        let key: p256::Private = scalar.to_bytes().into();
        let point = (::p256::ProjectivePoint::GENERATOR * scalar).to_affine().to_encoded_point(false);
        let public_key = p256::public_key(&key).expect("not 0");
        assert_eq!(public_key, point.as_bytes()[1..]);

        let digest: [u8; 32] = std::array::from_fn(|_| random.u8(..));
        let extra: Vec<u8> = (0..random.usize(..50)).map(|_| random.u8(..)).collect();
        let (signature, _) =
            scalar.try_sign_prehashed_rfc6979::<sha2::Sha256>(&digest.into(), &extra).expect("not 0");
        assert_eq!(p256::sign_digest(&key, &digest, &extra).expect("not 0"), signature.to_bytes().as_slice());
    }
}
