//! Vectors of SLH-DSA, FIPS 205.

use super::response::records;

/// A parameter set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlhDsa {
    /// SLH-DSA-SHA2-128s.
    Sha2Small128,
    /// SLH-DSA-SHA2-128f.
    Sha2Fast128,
}

/// A signature that is deterministic, with its private key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlhDsaSignatureCase {
    /// SK.seed, SK.prf, PK.seed and PK.root.
    pub private_key: [u8; 64],
    /// At most 255 bytes.
    pub context: Vec<u8>,
    /// Any length.
    pub message: Vec<u8>,
    /// As long as the parameter set has it.
    pub signature: Vec<u8>,
}

/// A signature to be verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlhDsaVerificationCase {
    /// PK.seed and PK.root.
    pub public_key: [u8; 32],
    /// At most 255 bytes.
    pub context: Vec<u8>,
    /// Any length.
    pub message: Vec<u8>,
    /// Any length.
    pub signature: Vec<u8>,
    /// True if the signature is good.
    pub is_good: bool,
}

/// The published cases of a parameter set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlhDsaCases {
    /// Private keys, the first 48 bytes of which are random and decide the others: 10.
    pub keys: Vec<[u8; 64]>,
    /// Two of 128s, one of 128f.
    pub signatures: Vec<SlhDsaSignatureCase>,
    /// One of each kind, of which one is good: 7.
    pub verifications: Vec<SlhDsaVerificationCase>,
}

/// A choice of NIST's ACVP cases of pure signatures with a context.
#[must_use]
pub fn slh_dsa(set: SlhDsa) -> SlhDsaCases {
    let ((name, compressed), signed) = match set {
        SlhDsa::Sha2Small128 => (file!("SLH-DSA-SHA2-128s-ACVP.rsp"), 2),
        SlhDsa::Sha2Fast128 => (file!("SLH-DSA-SHA2-128f-ACVP.rsp"), 1),
    };
    let mut all = SlhDsaCases { keys: Vec::new(), signatures: Vec::new(), verifications: Vec::new() };
    for record in records(name, compressed) {
        if record.section("keyGen").is_some() {
            all.keys.push(record.array("sk"));
        } else if record.section("sigGen").is_some() {
            all.signatures.push(SlhDsaSignatureCase {
                private_key: record.array("sk"),
                context: record.bytes("context"),
                message: record.bytes("message"),
                signature: record.bytes("signature"),
            });
        } else {
            all.verifications.push(SlhDsaVerificationCase {
                public_key: record.array("pk"),
                context: record.bytes("context"),
                message: record.bytes("message"),
                signature: record.bytes("signature"),
                is_good: !record.has("FAIL"),
            });
        }
    }
    let counts = (all.keys.len(), all.signatures.len(), all.verifications.len());
    assert_eq!(counts, (10, signed, 7), "{name}: number of cases");
    all
}
