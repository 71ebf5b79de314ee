//! Vectors of ML-DSA, FIPS 204.

use super::response::{Record, records};

/// A parameter set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MlDsa {
    /// ML-DSA-44.
    MlDsa44,
    /// ML-DSA-65.
    MlDsa65,
}

/// One case of key generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MlDsaKeyCase {
    /// xi.
    pub seed: [u8; 32],
    /// The public key.
    pub public_key: Vec<u8>,
    /// The private key.
    pub private_key: Vec<u8>,
}

/// What is signed, in the form that the case has it in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MlDsaMessage {
    /// A message with its context string, algorithm 2.
    Plain { context: Vec<u8>, message: Vec<u8> },
    /// M', algorithm 7.
    Formatted(Vec<u8>),
    /// mu, step 6 of that.
    Representative([u8; 64]),
}

/// The private key of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MlDsaPrivateKey {
    /// xi, which it is made of.
    Seed([u8; 32]),
    /// As it is encoded.
    Encoded(Vec<u8>),
}

/// One case of signing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MlDsaSigningCase {
    /// The private key.
    pub private_key: MlDsaPrivateKey,
    /// What is signed.
    pub message: MlDsaMessage,
    /// The random bytes; zeros in the deterministic variant.
    pub rnd: [u8; 32],
    /// The signature.
    pub signature: Vec<u8>,
}

/// One case of verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MlDsaVerificationCase {
    /// The public key.
    pub public_key: Vec<u8>,
    /// What is said to be signed.
    pub message: MlDsaMessage,
    /// The signature.
    pub signature: Vec<u8>,
    /// Whether it is one.
    pub valid: bool,
}

/// The published cases of a parameter set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MlDsaCases {
    /// NIST's.
    pub keys: Vec<MlDsaKeyCase>,
    /// NIST's, and some of Wycheproof's.
    pub signings: Vec<MlDsaSigningCase>,
    /// NIST's, and some of Wycheproof's.
    pub verifications: Vec<MlDsaVerificationCase>,
    /// Wycheproof's private keys that are none.
    pub refused: Vec<Vec<u8>>,
}

fn message(record: &Record) -> MlDsaMessage {
    if record.has("mu") {
        MlDsaMessage::Representative(record.array("mu"))
    } else if record.has("formatted") {
        MlDsaMessage::Formatted(record.bytes("formatted"))
    } else {
        MlDsaMessage::Plain { context: record.bytes("context"), message: record.bytes("message") }
    }
}

/// The cases of NIST's ACVP (`ML-DSA-keyGen-FIPS204`, `ML-DSA-sigGen-FIPS204`, `ML-DSA-sigVer-FIPS204`) and a choice of Wycheproof's.
#[must_use]
pub fn ml_dsa(set: MlDsa) -> MlDsaCases {
    let (files, expected) = match set {
        MlDsa::MlDsa44 => {
            ([file!("ML-DSA-44-ACVP.rsp"), file!("wycheproof-mldsa_44.txt")], [25, 20 + 49, 45 + 42, 2])
        }
        MlDsa::MlDsa65 => {
            ([file!("ML-DSA-65-ACVP.rsp"), file!("wycheproof-mldsa_65.txt")], [10, 10 + 36, 19 + 42, 2])
        }
    };
    let mut all = MlDsaCases::default();
    for (name, compressed) in files {
        for record in &records(name, compressed) {
            if record.section("keyGen").is_some() {
                all.keys.push(MlDsaKeyCase {
                    seed: record.array("seed"),
                    public_key: record.bytes("pk"),
                    private_key: record.bytes("sk"),
                });
            } else if record.section("keyCheck").is_some() {
                all.refused.push(record.bytes("sk"));
            } else if record.section("sigGen").is_some() {
                all.signings.push(MlDsaSigningCase {
                    private_key: if record.has("sk") {
                        MlDsaPrivateKey::Encoded(record.bytes("sk"))
                    } else {
                        MlDsaPrivateKey::Seed(record.array("seed"))
                    },
                    message: message(record),
                    rnd: if record.has("rnd") { record.array("rnd") } else { [0; 32] },
                    signature: record.bytes("signature"),
                });
            } else {
                all.verifications.push(MlDsaVerificationCase {
                    public_key: record.bytes("pk"),
                    message: message(record),
                    signature: record.bytes("signature"),
                    valid: !record.has("FAIL"),
                });
            }
        }
    }
    let counts = [all.keys.len(), all.signings.len(), all.verifications.len(), all.refused.len()];
    assert_eq!(counts, expected, "{set:?}: number of cases");
    all
}
