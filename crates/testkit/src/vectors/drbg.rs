//! NIST's cases of HMAC_DRBG.

use super::read;
use super::response::Record;

/// One case: instantiate, reseed where there is entropy for it, and draw twice; before each draw
/// reseed again where the case is one with prediction resistance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrbgCase {
    /// The file it is from.
    pub source: &'static str,
    /// The entropy input.
    pub entropy: Vec<u8>,
    /// Half as long as the entropy input, or more.
    pub nonce: Vec<u8>,
    /// Any length.
    pub personalization: Vec<u8>,
    /// Entropy input and additional input of a reseed before the first draw.
    pub reseed: Option<(Vec<u8>, Vec<u8>)>,
    /// Additional input of the two draws. With prediction resistance it goes to the reseed, SP
    /// 800-90A section 9.3.1 step 7.
    pub additional: [Vec<u8>; 2],
    /// Entropy inputs of the reseeds before the two draws, where the case is one with prediction
    /// resistance.
    pub prediction_resistance: Option<[Vec<u8>; 2]>,
    /// Output of the second draw; the first gives as many bytes.
    pub returned: Vec<u8>,
}

fn case(source: &'static str, record: &Record) -> DrbgCase {
    let two = |name| record.all_bytes(name).try_into().expect("the case draws twice");
    DrbgCase {
        source,
        entropy: record.bytes("EntropyInput"),
        nonce: record.bytes("Nonce"),
        personalization: record.bytes("PersonalizationString"),
        reseed: record
            .has("EntropyInputReseed")
            .then(|| (record.bytes("EntropyInputReseed"), record.bytes("AdditionalInputReseed"))),
        additional: two("AdditionalInput"),
        prediction_resistance: record.has("EntropyInputPR").then(|| two("EntropyInputPR")),
        returned: record.bytes("ReturnedBits"),
    }
}

fn cases(hash: &str) -> Vec<DrbgCase> {
    let files = [
        (file!("HMAC_DRBG-no-reseed.rsp"), 240),
        (file!("HMAC_DRBG-reseed.rsp"), 240),
        (file!("HMAC_DRBG-pr.rsp"), 240),
    ];
    read(&files, |source, record| record.section(hash).map(|_| case(source, record)))
}

/// NIST's cases with SHA-1, without a reseed, with one, and with prediction resistance: 720.
#[must_use]
pub fn drbg_sha1() -> Vec<DrbgCase> {
    cases("SHA-1")
}

/// NIST's cases with SHA-256: 720.
#[must_use]
pub fn drbg_sha256() -> Vec<DrbgCase> {
    cases("SHA-256")
}
