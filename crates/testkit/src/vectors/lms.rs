//! Signatures with a tree of one-time keys.

use super::read;

/// An LMS signature of RFC 8554, section 5.4.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LmsCase {
    pub public_key: [u8; 56],
    pub message: Vec<u8>,
    pub signature: Vec<u8>,
}

/// Returns the length of the signature at the beginning of some bytes, by the types in the public
/// key: RFC 8554 tables 1 and 2.
fn signature_length(public_key: &[u8; 56]) -> usize {
    let values = [265, 133, 67, 34][usize::from(public_key[7] - 1)];
    let height = 5 * usize::from(public_key[3] - 4);
    40 + 32 * values + 4 + 32 * height
}

/// An HSS signature of RFC 8554, section 6.2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HssCase {
    pub public_key: [u8; 60],
    pub message: Vec<u8>,
    pub signature: Vec<u8>,
}

/// The two of RFC 8554, appendix F, of two levels each.
#[must_use]
pub fn hss() -> Vec<HssCase> {
    read(&[(file!("rfc-8554-hss.txt"), 2)], |_, record| {
        let public_key = record.bytes("PublicKey").try_into().expect("60 bytes");
        Some(HssCase { public_key, message: record.bytes("Message"), signature: record.bytes("Signature") })
    })
}

/// The four of which those are made: the upper tree signs the lower one's key. Three have the types
/// LMS_SHA256_M32_H5 and LMOTS_SHA256_N32_W8; that of the third is LMS_SHA256_M32_H10 with
/// LMOTS_SHA256_N32_W4.
#[must_use]
pub fn lms() -> Vec<LmsCase> {
    let cases = hss().into_iter().map(|case| {
        let (public_key, signature) = (case.public_key, case.signature);
        // Section 6: two levels, one signed public key.
        assert_eq!((&public_key[..4], &signature[..4]), ([0, 0, 0, 2].as_slice(), [0, 0, 0, 1].as_slice()));
        let upper: [u8; 56] = public_key[4..].try_into().expect("56 bytes");
        let (first, rest) = signature[4..].split_at(signature_length(&upper));
        let (lower, second) = rest.split_at(56);
        let lower: [u8; 56] = lower.try_into().expect("56 bytes");
        assert_eq!(second.len(), signature_length(&lower));
        [
            LmsCase { public_key: upper, message: lower.to_vec(), signature: first.to_vec() },
            LmsCase { public_key: lower, message: case.message, signature: second.to_vec() },
        ]
    });
    cases.flatten().collect()
}
