//! Vectors of SHA-3 and SHAKE, FIPS 202.

use super::{HashCase, MonteCase, Record, hash_case, monte, read};

/// NIST's cases of SHA3-256 with short messages.
#[must_use]
pub fn sha3_256() -> Vec<HashCase> {
    read(&[(file!("SHA3_256ShortMsg.rsp"), 137)], hash_case)
}

/// NIST's cases of SHA3-512 with short messages.
#[must_use]
pub fn sha3_512() -> Vec<HashCase> {
    read(&[(file!("SHA3_512ShortMsg.rsp"), 73)], hash_case)
}

/// NIST's Monte Carlo test of SHA3-256, SHA3VS section 6.2.3: each checkpoint is what 1000 hashes
/// give, each of the one before it.
#[must_use]
pub fn sha3_256_monte() -> MonteCase {
    monte(file!("SHA3_256Monte.rsp"))
}

/// NIST's cases of SHAKE128 with short messages and 16 bytes of output.
#[must_use]
pub fn shake128() -> Vec<HashCase> {
    read(&[(file!("SHAKE128ShortMsg.rsp"), 337)], |source, record| {
        let mut message = record.bytes("Msg");
        message.truncate(record.number("Len") / 8);
        Some(HashCase { source, message, digest: record.bytes("Output") })
    })
}

/// NIST's cases of SHAKE256 with messages of 32 bytes and 2 to 250 bytes of output.
#[must_use]
pub fn shake256() -> Vec<HashCase> {
    read(&[(file!("SHAKE256VariableOut.rsp"), 1246)], |source, record: &Record| {
        record.has("COUNT").then(|| HashCase {
            source,
            message: record.bytes("Msg"),
            digest: record.bytes("Output"),
        })
    })
}
