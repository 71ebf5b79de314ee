//! ECDH on P-192 and P-224 against OpenSSL: scalars at the edges of the recoding, and what is
//! refused.

use super::random;
use super::reference::{Reference, bytes, power_of_two, small};
use device::crypto::{p192, p224};
use openssl::nid::Nid;

macro_rules! tests_of {
    ($tests:ident, $curve:ident, $name:ident) => {
        mod $tests {
            use super::*;

            const COORDINATE: usize = $curve::COORDINATE;

            /// Among the scalars are the order less each of 1 to 64: curve.inc has one special
            /// case there.
            #[test]
            fn agreements_are_those_of_openssl() {
                let (mut reference, mut random) = (Reference::new(Nid::$name), random());
                for scalar in reference.scalars(COORDINATE as i32, &mut random) {
                    let other = reference.scalar(&mut random);
                    let other = reference.base(&other);
                    let product = reference.times(&other, &scalar);
                    let shared: [u8; 2 * COORDINATE] = reference.coordinates(&product);
                    let public_key = reference.coordinates(&other);
                    assert!($curve::validate(&public_key));
                    assert_eq!(
                        $curve::ecdh(&bytes(&scalar), &public_key).expect("both in range"),
                        shared[..COORDINATE],
                        "{scalar}"
                    );
                }
            }

            #[test]
            fn keys_out_of_range_and_points_beside_the_curve_are_refused() {
                let (mut reference, mut random) = (Reference::new(Nid::$name), random());
                let scalar = reference.scalar(&mut random);
                let point = reference.base(&scalar);
                let public_key: [u8; 2 * COORDINATE] = reference.coordinates(&point);
                let all_ones = &power_of_two(8 * COORDINATE as i32) - &small(1);
                for beyond in [small(0), &reference.order + &small(0), &reference.order + &small(1), all_ones]
                {
                    assert_eq!($curve::ecdh(&bytes(&beyond), &public_key), None, "{beyond}");
                }
                let key = bytes(&small(3));
                assert!($curve::ecdh(&key, &public_key).is_some());
                let wrong = (0..16 * COORDINATE).map(|bit| {
                    let mut other = public_key;
                    other[bit / 8] ^= 1 << (bit % 8);
                    other
                });
                for other in wrong.chain([[0; 2 * COORDINATE], [0xff; 2 * COORDINATE]]) {
                    assert!(!$curve::validate(&other), "{other:02x?}");
                    assert_eq!($curve::ecdh(&key, &other), None);
                }
            }
        }
    };
}

tests_of! { on_p192, p192, X9_62_PRIME192V1 }
tests_of! { on_p224, p224, SECP224R1 }
