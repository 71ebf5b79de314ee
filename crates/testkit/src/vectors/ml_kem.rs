//! Vectors of ML-KEM, FIPS 203.

use super::response::{Record, records};

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
    /// What must be given; `None` where the check of the key must fail.
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
    /// What must be given.
    pub shared: [u8; 32],
}

/// The published cases of a parameter set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MlKemCases {
    /// NIST's, 25.
    pub keys: Vec<MlKemKeyCase>,
    /// NIST's, 25, and Wycheproof's of coefficients that are too large.
    pub encapsulations: Vec<MlKemEncapsulationCase>,
    /// NIST's, 10, and Wycheproof's of keys that are not what they say and ciphertexts that decompress to the same.
    pub decapsulations: Vec<MlKemDecapsulationCase>,
    /// Wycheproof's of ML-KEM-512: right, random and flipped ciphertexts, and matrices of all kinds.
    pub seeds: Vec<MlKemSeedCase>,
}

/// The cases of NIST's ACVP (`ML-KEM-keyGen-FIPS203`, `ML-KEM-encapDecap-FIPS203`) and a choice of Wycheproof's.
#[must_use]
pub fn ml_kem(set: MlKem) -> MlKemCases {
    let (nist, wycheproof, overflowing, seeds) = match set {
        MlKem::MlKem512 => (file!("ML-KEM-512-ACVP.rsp"), file!("wycheproof-mlkem_512.txt"), 8, 22),
        MlKem::MlKem768 => (file!("ML-KEM-768-ACVP.rsp"), file!("wycheproof-mlkem_768.txt"), 12, 0),
    };
    let mut all = MlKemCases {
        keys: Vec::new(),
        encapsulations: Vec::new(),
        decapsulations: Vec::new(),
        seeds: Vec::new(),
    };
    let mut private_key = Vec::new();
    for (name, compressed) in [nist, wycheproof] {
        for record in records(name, compressed) {
            let secret = |record: &Record| (!record.has("FAIL")).then(|| record.array("k"));
            if record.section("keyGen").is_some() {
                all.keys.push(MlKemKeyCase {
                    d: record.array("d"),
                    z: record.array("z"),
                    private_key: record.bytes("dk"),
                });
            } else if record.section("encapsulation").is_some() {
                all.encapsulations.push(MlKemEncapsulationCase {
                    public_key: record.bytes("ek"),
                    m: record.array("m"),
                    given: secret(&record).map(|shared| (record.bytes("c"), shared)),
                });
            } else if record.section("seed").is_some() {
                all.seeds.push(MlKemSeedCase {
                    seed: record.array("seed"),
                    public_key: record.bytes("ek"),
                    ciphertext: record.bytes("c"),
                    shared: record.array("k"),
                });
            } else {
                // NIST's cases have one key together.
                if record.has("dk") {
                    private_key = record.bytes("dk");
                }
                all.decapsulations.push(MlKemDecapsulationCase {
                    private_key: private_key.clone(),
                    ciphertext: record.bytes("c"),
                    shared: secret(&record),
                });
            }
        }
    }
    assert_eq!(
        (all.keys.len(), all.encapsulations.len()),
        (25, 25 + overflowing),
        "{}: number of cases",
        nist.0
    );
    assert_eq!((all.decapsulations.len(), all.seeds.len()), (10 + 5, seeds), "{}: number of cases", nist.0);
    all
}
