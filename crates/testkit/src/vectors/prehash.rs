//! Signatures of a message's digest, HashML-DSA and HashSLH-DSA, which the project does not offer.

use super::response::records;

/// A signature that is valid where the message is hashed first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrehashCase {
    /// The parameter set, as its standard calls it: `ML-DSA-44`, say.
    pub set: &'static str,
    /// The hash function, as NIST calls it: `SHA3-256`, say.
    pub hash: String,
    /// The public key.
    pub public_key: Vec<u8>,
    /// At most 255 bytes.
    pub context: Vec<u8>,
    /// The message, not its digest.
    pub message: Vec<u8>,
    /// The signature.
    pub signature: Vec<u8>,
}

/// The valid cases of NIST's ACVP (`ML-DSA-sigVer-FIPS204`, `SLH-DSA-sigVer-FIPS205`) of the
/// parameter sets that the project has: 10.
#[must_use]
pub fn prehash() -> Vec<PrehashCase> {
    let (name, compressed) = file!("ACVP-prehash.rsp");
    let sets = ["ML-DSA-44", "ML-DSA-65", "SLH-DSA-SHA2-128s", "SLH-DSA-SHA2-128f"];
    let records = records(name, compressed);
    let cases = records.iter().map(|record| PrehashCase {
        set: sets.into_iter().find(|set| record.section(set).is_some()).expect("one of these"),
        hash: record.text("hash").to_owned(),
        public_key: record.bytes("pk"),
        context: record.bytes("context"),
        message: record.bytes("message"),
        signature: record.bytes("signature"),
    });
    let all: Vec<_> = cases.collect();
    assert_eq!(all.len(), 3 + 3 + 2 + 2, "{name}: number of cases");
    all
}
