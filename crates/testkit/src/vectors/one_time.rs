//! The case of a Winternitz one-time signature.

use super::read;

/// A one-time signature within a tree of keys, RFC 8554.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LmOtsCase {
    /// Seed of the secret values of all key pairs, appendix A.
    pub seed: [u8; 32],
    /// The tree's name, I.
    pub id: [u8; 16],
    /// The key pair's number in the tree.
    pub q: u32,
    pub message: Vec<u8>,
    /// C.
    pub randomizer: [u8; 32],
    /// y[0] to y[66].
    pub pieces: Vec<[u8; 32]>,
    /// The nodes beside the way from the key pair to the root.
    pub path: Vec<[u8; 32]>,
    /// The tree's root.
    pub root: [u8; 32],
}

/// The one signature with LMOTS_SHA256_N32_W4 that RFC 8554 has: the upper level of test case 2 of
/// appendix F.
#[must_use]
pub fn lm_ots_w4() -> LmOtsCase {
    let chunks =
        |bytes: &[u8]| bytes.chunks_exact(32).map(|chunk| chunk.try_into().expect("32 bytes")).collect();
    let cases = read(&[(file!("rfc-8554-lmots-w4.txt"), 1)], |_, record| {
        let signature = record.bytes("Signature");
        assert_eq!((&signature[..4], signature.len()), ([0, 0, 0, 3].as_slice(), 36 + 67 * 32));
        Some(LmOtsCase {
            seed: record.array("SEED"),
            id: record.array("I"),
            q: u32::from_be_bytes(record.array("q")),
            message: record.bytes("Message"),
            randomizer: signature[4..36].try_into().expect("32 bytes"),
            pieces: chunks(&signature[36..]),
            path: chunks(&record.bytes("Path")),
            root: record.array("Root"),
        })
    });
    cases.into_iter().next().expect("the file has one case")
}
