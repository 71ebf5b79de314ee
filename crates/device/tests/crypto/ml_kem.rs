//! ML-KEM on the host build: every published vector, and random inputs against the crate fips203.

use device::crypto::ml_kem::{MlKem, compressed, decapsulate_pieces, encapsulate_pieces, keygen_pieces};
use fips203::traits::{Decaps, Encaps, KeyGen, SerDes};
use fips203::{ml_kem_512, ml_kem_768};
use testkit::vectors;

const SETS: [(MlKem, vectors::MlKem); 2] =
    [(MlKem::MlKem512, vectors::MlKem::MlKem512), (MlKem::MlKem768, vectors::MlKem::MlKem768)];

/// The private key of `ml_kem_pieces.h`.
fn halves(d: &[u8; 32], z: &[u8; 32]) -> [u8; 64] {
    std::array::from_fn(|place| if place < 32 { d[place] } else { z[place - 32] })
}

#[test]
fn as_published() {
    for (set, published) in SETS {
        let cases = vectors::ml_kem(published);
        let [public, private, _] = set.sizes();
        for case in cases.keys {
            let (public_key, private_key) = set.keygen(&case.d, &case.z);
            assert_eq!(private_key, case.private_key, "{set:?}");
            assert_eq!(public_key, case.private_key[private - 64 - public..private - 64], "{set:?}");
            assert!(set.check(&private_key));
            if set == MlKem::MlKem512 {
                assert_eq!(keygen_pieces(&halves(&case.d, &case.z)), public_key);
            }
        }
        for case in cases.encapsulations {
            assert_eq!(set.encapsulate(&case.public_key, &case.m), case.given, "{set:?}");
            if set == MlKem::MlKem512 {
                assert_eq!(encapsulate_pieces(&case.public_key, &case.m), case.given);
            }
        }
        for case in cases.decapsulations {
            assert_eq!(set.check(&case.private_key), case.shared.is_some(), "{set:?}");
            if let Some(shared) = case.shared {
                assert_eq!(set.decapsulate(&case.private_key, &case.ciphertext), shared, "{set:?}");
            }
        }
        for case in cases.seeds {
            let (d, z) = case.seed.split_first_chunk().expect("two halves");
            let (public_key, private_key) = set.keygen(d, z.try_into().expect("the second"));
            assert_eq!(public_key, case.public_key);
            assert_eq!(set.decapsulate(&private_key, &case.ciphertext), case.shared);
            if set != MlKem::MlKem512 {
                continue;
            }
            assert_eq!(keygen_pieces(&case.seed), case.public_key);
            let shared = decapsulate_pieces(&case.seed, &case.public_key, &case.ciphertext);
            assert_eq!(shared, Some(case.shared));
        }
        for case in cases.exchanges {
            assert!(set.check(&case.private_key), "{set:?}");
            let sent = Some((case.ciphertext.clone(), case.shared));
            assert_eq!(set.encapsulate(&case.public_key, &case.m), sent, "{set:?}");
            assert_eq!(set.decapsulate(&case.private_key, &case.ciphertext), case.shared, "{set:?}");
            if set == MlKem::MlKem512 {
                assert_eq!(encapsulate_pieces(&case.public_key, &case.m), sent);
            }
        }
    }
}

/// The keys of `d` and `z`, what is encapsulated with `m`, and the secret of a ciphertext with a
/// byte that is XORed by `wrong`, all of fips203.
macro_rules! of_fips203 {
    ($module:ident, $d:expr, $z:expr, $m:expr, $at:expr, $wrong:expr) => {{
        let (public, private) = $module::KG::keygen_from_seed($d, $z);
        let (shared, ciphertext) = public.encaps_from_seed(&$m);
        let mut bytes = ciphertext.into_bytes();
        let sent = bytes.to_vec();
        bytes[$at] ^= $wrong;
        let ciphertext = $module::CipherText::try_from_bytes(bytes).expect("any bytes");
        let rejected = private.try_decaps(&ciphertext).expect("it decapsulates").into_bytes();
        let keys = (public.into_bytes().to_vec(), private.into_bytes().to_vec());
        (keys, (sent, shared.into_bytes()), (bytes.to_vec(), rejected))
    }};
}

#[test]
fn random_keys_as_another_implementation_has_them() {
    let mut random = fastrand::Rng::with_seed(testkit::random::seed());
    for round in 0..100 {
        let mut seed = || -> [u8; 32] { std::array::from_fn(|_| random.u8(..)) };
        let (d, z, m) = (seed(), seed(), seed());
        let (at, wrong) = (random.usize(0..768), 1 << random.u8(0..8));
        let set = SETS[round % 2].0;
        let (keys, sent, rejected) = match set {
            MlKem::MlKem512 => of_fips203!(ml_kem_512, d, z, m, at, wrong),
            MlKem::MlKem768 => of_fips203!(ml_kem_768, d, z, m, at, wrong),
        };
        assert_eq!(set.keygen(&d, &z), keys, "{set:?}");
        assert_eq!(set.encapsulate(&keys.0, &m).as_ref(), Some(&sent), "{set:?}");
        if set == MlKem::MlKem512 {
            let seed = halves(&d, &z);
            assert_eq!(keygen_pieces(&seed), keys.0);
            assert_eq!(encapsulate_pieces(&keys.0, &m).as_ref(), Some(&sent));
            assert_eq!(decapsulate_pieces(&seed, &keys.0, &sent.0), Some(sent.1));
            assert_eq!(decapsulate_pieces(&seed, &keys.0, &rejected.0), Some(rejected.1), "byte {at}");
        }
        assert_eq!(set.decapsulate(&keys.1, &sent.0), sent.1, "{set:?}");
        assert_eq!(set.decapsulate(&keys.1, &rejected.0), rejected.1, "{set:?}, byte {at}");
    }
}

/// Erased flash, say, and a coefficient that is q, in each polynomial's last place.
#[test]
fn a_public_key_that_is_none_is_refused_by_its_owner_too() {
    let public_key = keygen_pieces(&[1; 64]);
    let ciphertext = [2; 768];
    assert!(decapsulate_pieces(&[1; 64], &public_key, &ciphertext).is_some());
    assert_eq!(decapsulate_pieces(&[1; 64], &[0xff; 800], &ciphertext), None);
    for end in [384, 768] {
        let mut wrong = public_key.clone();
        wrong[end - 2] = wrong[end - 2] & 0x0f | 0x10;
        wrong[end - 1] = 0xd0;
        assert_eq!(decapsulate_pieces(&[1; 64], &wrong, &ciphertext), None, "byte {end}");
    }
}

/// FIPS 203 equation 4.7, for everything that stands for a residue.
#[test]
fn coefficients_are_rounded_as_the_standard_says() {
    for coefficient in i16::MIN..=i16::MAX {
        let x = i32::from(coefficient).rem_euclid(3329);
        let expected = [10, 4, 1].map(|bits| (((x << bits) * 2 + 3329) / (2 * 3329) % (1 << bits)) as u16);
        assert_eq!(compressed(coefficient), expected, "{coefficient}");
    }
}
