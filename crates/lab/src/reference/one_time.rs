//! One-time signatures on RustCrypto's SHA-256: LM-OTS of RFC 8554 section 4 with
//! LMOTS_SHA256_N32_W4 and _W2, Lamport-Diffie as `device/crypto/lamport.h` has it; and what
//! `one_time_bench.h` folds and makes of their pieces.

use super::{Case, bytes_of};
use rand::{Rng, rngs::StdRng};
use sha2::{Digest, Sha256};

type Piece = [u8; 32];

/// Bytes of a key pair's name, I || q.
const NAME: usize = 20;

fn sha256(pieces: &[&[u8]]) -> Piece {
    let mut digest = Sha256::new();
    for piece in pieces {
        digest.update(piece);
    }
    digest.finalize().into()
}

/// RFC 8554: H(I || q || u16str(place) || u8str(step) || value).
fn hash(name: &[u8], place: u16, step: u8, value: &[u8]) -> Piece {
    sha256(&[name, &place.to_be_bytes(), &[step], value])
}

/// The step that makes a secret value of the seed, RFC 8554 appendix A.
const SECRET: u8 = 0xff;
/// D_PBLC and D_MESG, RFC 8554 section 3.1; and Lamport-Diffie's.
const WINTERNITZ_KINDS: (u16, u16) = (0x8080, 0x8181);
const LAMPORT_KINDS: (u16, u16) = (0x8484, 0x8585);

/// A scheme: how a piece of a signature comes of the seed, and what of it goes into the public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scheme {
    Lamport,
    Winternitz(Digits),
}

/// A row of RFC 8554 table 1: w, p and ls, and the type code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Digits {
    bits: u8,
    pieces: u16,
    checksum_shift: u8,
    type_code: [u8; 4],
}

const W2: Digits = Digits { bits: 2, pieces: 133, checksum_shift: 6, type_code: [0, 0, 0, 2] };
const W4: Digits = Digits { bits: 4, pieces: 67, checksum_shift: 4, type_code: [0, 0, 0, 3] };

impl Digits {
    /// The highest digit, and the steps of a chain.
    fn steps(self) -> u8 {
        (1 << self.bits) - 1
    }

    /// RFC 8554 algorithm 2: the digits of the digest and of its checksum.
    fn of(self, digest: &Piece) -> Vec<u8> {
        let per_byte = 8 / self.bits;
        let split = |byte: &u8| {
            let byte = *byte;
            (0..per_byte).rev().map(move |index| byte >> (self.bits * index) & self.steps())
        };
        let of_digest: Vec<u8> = digest.iter().flat_map(split).collect();
        let checksum: u16 = of_digest.iter().map(|&digit| u16::from(self.steps() - digit)).sum();
        let checksum = (checksum << self.checksum_shift).to_be_bytes();
        of_digest.iter().copied().chain(checksum.iter().flat_map(split)).take(self.pieces.into()).collect()
    }
}

impl Scheme {
    fn kinds(self) -> (u16, u16) {
        if self == Scheme::Lamport { LAMPORT_KINDS } else { WINTERNITZ_KINDS }
    }

    /// Prefix of the public key.
    fn type_code(self) -> Vec<u8> {
        match self {
            Scheme::Lamport => Vec::new(),
            Scheme::Winternitz(digits) => digits.type_code.to_vec(),
        }
    }

    fn digest(self, name: &[u8], randomizer: &[u8], message: &[u8]) -> Piece {
        sha256(&[name, &self.kinds().1.to_be_bytes(), randomizer, message])
    }

    fn key_of(self, name: &[u8], ends: &[Piece]) -> Vec<u8> {
        let key = sha256(&[name, &self.kinds().0.to_be_bytes(), &ends.concat()]);
        [&self.type_code(), name, &key].concat()
    }

    fn public(self, seed: &[u8], name: &[u8]) -> Vec<u8> {
        let ends: Vec<Piece> = match self {
            Scheme::Lamport => (0..512)
                .map(|index| 0x4000 + index)
                .map(|place| hash(name, place, 0, &hash(name, place, SECRET, seed)))
                .collect(),
            Scheme::Winternitz(digits) => (0..digits.pieces)
                .map(|place| chain(name, place, 0, digits.steps(), hash(name, place, SECRET, seed)))
                .collect(),
        };
        self.key_of(name, &ends)
    }

    fn sign(self, seed: &[u8], name: &[u8], randomizer: &[u8], message: &[u8]) -> Vec<Piece> {
        let digest = self.digest(name, randomizer, message);
        match self {
            Scheme::Lamport => bits(&digest)
                .zip(0..256)
                .flat_map(|(bit, index)| {
                    let place = |bit| 0x4000 + 2 * index + u16::from(bit);
                    let shown = hash(name, place(bit), SECRET, seed);
                    let hidden = hash(name, place(!bit), SECRET, seed);
                    [shown, hash(name, place(!bit), 0, &hidden)]
                })
                .collect(),
            Scheme::Winternitz(digits) => digits
                .of(&digest)
                .into_iter()
                .zip(0..)
                .map(|(digit, place)| chain(name, place, 0, digit, hash(name, place, SECRET, seed)))
                .collect(),
        }
    }

    /// The public key that pieces lead to.
    fn candidate(self, name: &[u8], randomizer: &[u8], message: &[u8], pieces: &[Piece]) -> Vec<u8> {
        let digest = self.digest(name, randomizer, message);
        let ends: Vec<Piece> = match self {
            Scheme::Lamport => bits(&digest)
                .zip(0..256)
                .zip(pieces.chunks_exact(2))
                .flat_map(|((bit, index), pair)| {
                    let shown = hash(name, 0x4000 + 2 * index + u16::from(bit), 0, &pair[0]);
                    if bit { [pair[1], shown] } else { [shown, pair[1]] }
                })
                .collect(),
            Scheme::Winternitz(digits) => digits
                .of(&digest)
                .into_iter()
                .zip(0..)
                .zip(pieces)
                .map(|((digit, place), piece)| chain(name, place, digit, digits.steps(), *piece))
                .collect(),
        };
        self.key_of(name, &ends)
    }

    fn pieces(self) -> usize {
        match self {
            Scheme::Lamport => 512,
            Scheme::Winternitz(digits) => digits.pieces.into(),
        }
    }
}

/// RFC 8554 algorithms 1, 3 and 4b: the steps from one to before another.
fn chain(name: &[u8], place: u16, from: u8, to: u8, start: Piece) -> Piece {
    (from..to).fold(start, |value, step| hash(name, place, step, &value))
}

fn bits(digest: &Piece) -> impl Iterator<Item = bool> {
    digest.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1))
}

/// Folds the pieces of a signature as the device does.
fn fold(pieces: &[Piece]) -> Piece {
    let mut folded = [0u8; 32];
    for (index, piece) in pieces.iter().enumerate() {
        for ((sum, byte), lane) in folded.iter_mut().zip(piece).zip(0..) {
            let mask = if lane % 2 == 0 { index } else { index / 4 };
            *sum = sum.wrapping_mul(3).wrapping_add(byte ^ mask as u8);
        }
    }
    folded
}

/// A case with random inputs, on `bytes` of message; `None` for another operation. Of the keys to
/// verify with one in eight is wrong.
pub(super) fn case(name: &str, bytes: usize, rng: &mut StdRng) -> Option<Case> {
    let (scheme, what) = name.rsplit_once('-')?;
    let scheme = match scheme {
        "lamport" => Scheme::Lamport,
        "winternitz" => Scheme::Winternitz(W4),
        "winternitz-w2" => Scheme::Winternitz(W2),
        _ => return None,
    };
    let (seed, name, randomizer) = (bytes_of(32, rng), bytes_of(NAME, rng), bytes_of(32, rng));
    let message = bytes_of(bytes, rng);
    match what {
        "keygen" => Some(Case {
            outputs: vec![("output", scheme.public(&seed, &name))],
            inputs: vec![("key", seed), ("aad", name)],
            ..Case::default()
        }),
        "sign" => {
            let folded = fold(&scheme.sign(&seed, &name, &randomizer, &message));
            Some(Case {
                inputs: vec![("key", seed), ("aad", [name, randomizer].concat()), ("message", message)],
                outputs: vec![("output", folded.to_vec())],
                ..Case::default()
            })
        }
        "verify" => {
            let mask = bytes_of(32, rng);
            let piece = |index: usize| {
                let mut piece = [0; 32];
                piece.iter_mut().zip(&mask).for_each(|(byte, mask)| *byte = mask ^ index as u8);
                piece
            };
            let pieces: Vec<Piece> = (0..scheme.pieces()).map(piece).collect();
            let mut public = scheme.candidate(&name, &randomizer, &message, &pieces);
            let wrong = rng.random_range(0..8) == 0;
            if wrong {
                // In K: what stands before it says what is hashed.
                let bit = 8 * (public.len() - 32) + rng.random_range(0..256);
                public[bit / 8] ^= 1 << (bit % 8);
            }
            Some(Case {
                inputs: vec![("key", [public, randomizer, mask].concat()), ("message", message)],
                result: Some(if wrong { -1 } else { 0 }),
                ..Case::default()
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn a_signature_leads_to_its_public_key_and_no_other() {
        let mut rng = StdRng::seed_from_u64(1);
        for scheme in [Scheme::Lamport, Scheme::Winternitz(W4), Scheme::Winternitz(W2)] {
            let (seed, name, randomizer) =
                (bytes_of(32, &mut rng), bytes_of(NAME, &mut rng), bytes_of(32, &mut rng));
            let mut pieces = scheme.sign(&seed, &name, &randomizer, b"message");
            assert_eq!(pieces.len(), scheme.pieces());
            let public = scheme.public(&seed, &name);
            assert_eq!(scheme.candidate(&name, &randomizer, b"message", &pieces), public);
            assert_ne!(scheme.candidate(&name, &randomizer, b"messagf", &pieces), public);
            pieces[7][0] ^= 1;
            assert_ne!(scheme.candidate(&name, &randomizer, b"message", &pieces), public);
        }
    }

    /// The upper level of RFC 8554's test case 2, appendix F.
    #[test]
    fn winternitz_is_that_of_rfc_8554() {
        let case = testkit::vectors::lm_ots_w4();
        let name = [case.id.as_slice(), &case.q.to_be_bytes()].concat();
        let signature = Scheme::Winternitz(W4).sign(&case.seed, &name, &case.randomizer, &case.message);
        assert_eq!(signature, case.pieces);
    }

    #[test]
    fn folding_sees_two_pieces_change_places() {
        let pieces: Vec<Piece> = (0..512u16).map(|index| sha256(&[&index.to_be_bytes()])).collect();
        let whole = fold(&pieces);
        for (a, b) in [(0, 1), (1, 2), (0, 64), (5, 261), (254, 510), (510, 511)] {
            let mut swapped = pieces.clone();
            swapped.swap(a, b);
            assert_ne!(fold(&swapped), whole, "{a} and {b}");
        }
    }
}
