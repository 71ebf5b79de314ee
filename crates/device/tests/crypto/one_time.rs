//! One-time signatures: RFC 8554's case, Lamport-Diffie as its header writes it, and what must be
//! refused.

use device::crypto::one_time::*;
use sha2::{Digest, Sha256};
use testkit::vectors;

fn hash(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

fn name(id: &[u8; 16], q: u32) -> [u8; 20] {
    [id.as_slice(), &q.to_be_bytes()].concat().try_into().expect("20 bytes")
}

/// The leaf and the way to the root, RFC 8554 section 5.4.2 algorithm 6a.
fn root(id: &[u8; 16], q: u32, key: &[u8; 32], path: &[[u8; 32]]) -> [u8; 32] {
    let mut node = (1 << path.len()) + q;
    let mut value = hash(&[id, &node.to_be_bytes(), &[0x82, 0x82], key]);
    for sibling in path {
        let (left, right) = if node & 1 == 1 { (sibling, &value) } else { (&value, sibling) };
        value = hash(&[id, &(node / 2).to_be_bytes(), &[0x83, 0x83], left, right]);
        node /= 2;
    }
    value
}

#[test]
fn the_signature_of_rfc_8554_is_accepted_and_made_again() {
    let case = vectors::lm_ots_w4();
    let name = name(&case.id, case.q);
    let public_key = winternitz_keygen(&case.seed, &name);
    assert_eq!(public_key[..24], [&[0, 0, 0, 3], name.as_slice()].concat());
    let key: [u8; 32] = public_key[24..].try_into().expect("32 bytes");
    assert_eq!(root(&case.id, case.q, &key, &case.path), case.root);

    let candidate = winternitz_candidate(&public_key, &case.randomizer, &case.message, &case.pieces);
    assert_eq!(candidate, (0, key));
    assert_eq!(winternitz_verify(&public_key, &case.randomizer, &case.message, &case.pieces), (0, 0));
    assert_eq!(winternitz_sign(&case.seed, &name, &case.randomizer, &case.message), case.pieces);
}

/// All 1024 keys of the tree: section 5.3.
#[test]
fn the_keys_of_rfc_8554_have_its_root() {
    let case = vectors::lm_ots_w4();
    let mut row: Vec<[u8; 32]> = (0..1024u32)
        .map(|q| {
            let key = winternitz_keygen(&case.seed, &name(&case.id, q));
            hash(&[&case.id, &(1024 + q).to_be_bytes(), &[0x82, 0x82], &key[24..]])
        })
        .collect();
    while row.len() > 1 {
        row = (row.len() as u32 / 2..)
            .zip(row.chunks(2))
            .map(|(node, pair)| hash(&[&case.id, &node.to_be_bytes(), &[0x83, 0x83], &pair[0], &pair[1]]))
            .collect();
    }
    assert_eq!(row, [case.root]);
}

#[test]
fn winternitz_refuses_what_is_not_signed() {
    let case = vectors::lm_ots_w4();
    let public_key = winternitz_keygen(&case.seed, &name(&case.id, case.q));
    let verify = |public_key: &[u8; 56], randomizer: &[u8; 32], message: &[u8], pieces: &[[u8; 32]]| {
        winternitz_verify(public_key, randomizer, message, pieces)
    };
    for bit in 0..56 * 8 {
        let mut wrong = public_key;
        wrong[bit / 8] ^= 1 << (bit % 8);
        let begun = if bit < 32 { -1 } else { 0 };
        assert_eq!(verify(&wrong, &case.randomizer, &case.message, &case.pieces), (begun, -1), "bit {bit}");
    }
    for bit in 0..256 {
        let mut wrong = case.randomizer;
        wrong[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(verify(&public_key, &wrong, &case.message, &case.pieces), (0, -1), "bit {bit}");
    }
    for at in 0..case.pieces.len() {
        for bit in [0, 100, 255] {
            let mut wrong = case.pieces.clone();
            wrong[at][bit / 8] ^= 1 << (bit % 8);
            assert_eq!(verify(&public_key, &case.randomizer, &case.message, &wrong), (0, -1), "piece {at}");
        }
    }
    let short = &case.message[..case.message.len() - 1];
    assert_eq!(verify(&public_key, &case.randomizer, short, &case.pieces), (0, -1));
    for count in [0, 1, 66, 68, 67 + 256] {
        let pieces: Vec<_> = case.pieces.iter().copied().cycle().take(count).collect();
        assert_eq!(verify(&public_key, &case.randomizer, &case.message, &pieces), (0, -1), "{count} pieces");
        let candidate = winternitz_candidate(&public_key, &case.randomizer, &case.message, &pieces);
        assert_eq!(candidate, (-1, [0; 32]), "{count} pieces");
    }
}

/// A chain of RFC 8554, section 4: from the value before one step to that before another.
fn chain(name: &[u8; 20], place: u16, from: u8, to: u8, value: [u8; 32]) -> [u8; 32] {
    (from..to).fold(value, |value, step| hash(&[name, &place.to_be_bytes(), &[step], &value]))
}

/// RFC 8554 with w = 2, p = 133 and ls = 6 (table 1): the digits of a message.
fn two_bit_digits(name: &[u8; 20], randomizer: &[u8; 32], message: &[u8]) -> Vec<u8> {
    let digest = hash(&[name, &[0x81, 0x81], randomizer, message]);
    let split = |byte: &u8| [byte >> 6, byte >> 4 & 3, byte >> 2 & 3, byte & 3];
    let digits: Vec<u8> = digest.iter().flat_map(split).collect();
    let checksum: u16 = digits.iter().map(|&digit| 3 - u16::from(digit)).sum();
    let checksum = (checksum << 6).to_be_bytes();
    digits.iter().copied().chain(checksum.iter().flat_map(split)).take(133).collect()
}

/// No published vector has LMOTS_SHA256_N32_W2: the expected values follow the RFC's algorithms.
#[test]
fn winternitz_with_two_bits_is_rfc_8554_s_algorithm() {
    for (seed, name, randomizer, message) in inputs() {
        let secret = |place: u16| hash(&[&name, &place.to_be_bytes(), &[0xff], &seed]);
        let ends: Vec<_> = (0..133).map(|place| chain(&name, place, 0, 3, secret(place))).collect();
        let key = hash(&[&name, &[0x80, 0x80], &ends.concat()]);
        let public_key = winternitz_w2_keygen(&seed, &name);
        assert_eq!(public_key.as_slice(), [&[0, 0, 0, 2], name.as_slice(), &key].concat());

        let digits = two_bit_digits(&name, &randomizer, &message);
        let expected: Vec<_> =
            (0..).zip(&digits).map(|(place, &digit)| chain(&name, place, 0, digit, secret(place))).collect();
        let pieces = winternitz_w2_sign(&seed, &name, &randomizer, &message);
        assert_eq!(pieces, expected);
        assert_eq!(winternitz_w2_verify(&public_key, &randomizer, &message, &pieces), (0, 0));
        assert_eq!(winternitz_w2_candidate(&public_key, &randomizer, &message, &pieces), (0, key));
    }
}

#[test]
fn winternitz_with_two_bits_refuses_what_is_not_signed() {
    let (seed, name, randomizer, message) = inputs().last().expect("there are several");
    let public_key = winternitz_w2_keygen(&seed, &name);
    let signature = winternitz_w2_sign(&seed, &name, &randomizer, &message);
    for bit in 0..56 * 8 {
        let mut wrong = public_key;
        wrong[bit / 8] ^= 1 << (bit % 8);
        let begun = if bit < 32 { -1 } else { 0 };
        assert_eq!(winternitz_w2_verify(&wrong, &randomizer, &message, &signature), (begun, -1), "bit {bit}");
    }
    for at in 0..signature.len() {
        let mut wrong = signature.clone();
        wrong[at][at % 32] ^= 1 << (at % 8);
        assert_eq!(winternitz_w2_verify(&public_key, &randomizer, &message, &wrong), (0, -1), "piece {at}");
    }
    assert_eq!(winternitz_w2_verify(&public_key, &randomizer, &message[1..], &signature), (0, -1));
    for count in [0, 132, 134, 133 + 256] {
        let pieces: Vec<_> = signature.iter().copied().cycle().take(count).collect();
        assert_eq!(
            winternitz_w2_verify(&public_key, &randomizer, &message, &pieces),
            (0, -1),
            "{count} pieces"
        );
    }
    // One kind's key and signature are not the other's.
    let other = winternitz_keygen(&seed, &name);
    assert_eq!(winternitz_w2_verify(&other, &randomizer, &message, &signature).1, -1);
}

/// Lamport-Diffie as lamport.h defines it: all x and y, the public key, and the digest of a
/// message.
struct Lamport {
    x: Vec<[u8; 32]>,
    y: Vec<[u8; 32]>,
    public_key: Vec<u8>,
}

impl Lamport {
    fn new(seed: &[u8; 32], name: &[u8; 20]) -> Lamport {
        let place = |at: u16| (0x4000 + at).to_be_bytes();
        let x: Vec<_> = (0..512).map(|at| hash(&[name, &place(at), &[0xff], seed])).collect();
        let y: Vec<_> = (0..512).zip(&x).map(|(at, x)| hash(&[name, &place(at), &[0x00], x])).collect();
        let public_key = [name.as_slice(), &hash(&[name, &[0x84, 0x84], &y.concat()])].concat();
        Lamport { x, y, public_key }
    }

    fn sign(&self, name: &[u8; 20], randomizer: &[u8; 32], message: &[u8]) -> Vec<[u8; 32]> {
        let digest = hash(&[name, &[0x85, 0x85], randomizer, message]);
        (0..256)
            .flat_map(|i| {
                let bit = usize::from(digest[i / 8] >> (7 - i % 8) & 1);
                [self.x[2 * i + bit], self.y[2 * i + 1 - bit]]
            })
            .collect()
    }
}

/// Seeds, names, randomizers and messages of several lengths.
fn inputs() -> impl Iterator<Item = ([u8; 32], [u8; 20], [u8; 32], Vec<u8>)> {
    [0, 1, 9, 10, 32, 100].into_iter().map(|len| {
        let digest = |tag: u8| hash(&[&[tag, len]]);
        let name = digest(1)[..20].try_into().expect("20 bytes");
        (digest(0), name, digest(2), (0..len).collect())
    })
}

#[test]
fn lamport_is_what_its_header_says() {
    for (seed, name, randomizer, message) in inputs() {
        let reference = Lamport::new(&seed, &name);
        let public_key = lamport_keygen(&seed, &name);
        assert_eq!(public_key.as_slice(), reference.public_key);
        let signature = lamport_sign(&seed, &name, &randomizer, &message);
        assert_eq!(signature, reference.sign(&name, &randomizer, &message));
        assert_eq!(lamport_verify(&public_key, &randomizer, &message, &signature), 0);
        let candidate = lamport_candidate(&public_key, &randomizer, &message, &signature);
        assert_eq!(candidate.0, 0);
        assert_eq!(candidate.1, public_key[20..]);
    }
}

#[test]
fn lamport_refuses_what_is_not_signed() {
    let (seed, name, randomizer, message) = inputs().last().expect("there are several");
    let public_key = lamport_keygen(&seed, &name);
    let signature = lamport_sign(&seed, &name, &randomizer, &message);
    for bit in 0..52 * 8 {
        let mut wrong = public_key;
        wrong[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(lamport_verify(&wrong, &randomizer, &message, &signature), -1, "bit {bit}");
    }
    for bit in 0..256 {
        let mut wrong = randomizer;
        wrong[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(lamport_verify(&public_key, &wrong, &message, &signature), -1, "bit {bit}");
    }
    for at in 0..signature.len() {
        let mut wrong = signature.clone();
        wrong[at][at % 32] ^= 1 << (at % 8);
        assert_eq!(lamport_verify(&public_key, &randomizer, &message, &wrong), -1, "piece {at}");
    }
    assert_eq!(lamport_verify(&public_key, &randomizer, &message[1..], &signature), -1);
    for count in [0, 1, 510, 511, 513, 1024] {
        let pieces: Vec<_> = signature.iter().copied().cycle().take(count).collect();
        assert_eq!(lamport_verify(&public_key, &randomizer, &message, &pieces), -1, "{count} pieces");
        let candidate = lamport_candidate(&public_key, &randomizer, &message, &pieces);
        assert_eq!(candidate, (-1, [0; 32]), "{count} pieces");
    }
}

/// The bench measures the same signatures.
#[test]
fn the_bench_s_calls_are_the_whole_signatures() {
    let fold = |pieces: &[[u8; 32]]| {
        let mut folded = [0u8; 32];
        for (piece, index) in pieces.iter().zip(0u16..) {
            for ((byte, new), lane) in folded.iter_mut().zip(piece).zip(0..) {
                *byte = byte.wrapping_mul(3).wrapping_add(new ^ (index >> (2 * (lane & 1))) as u8);
            }
        }
        folded
    };
    for (seed, name, randomizer, message) in inputs() {
        let signature = winternitz_sign(&seed, &name, &randomizer, &message);
        assert_eq!(winternitz_sign_all(&seed, &name, &randomizer, &message), fold(&signature));
        let signature = winternitz_w2_sign(&seed, &name, &randomizer, &message);
        assert_eq!(winternitz_w2_sign_all(&seed, &name, &randomizer, &message), fold(&signature));
        let signature = lamport_sign(&seed, &name, &randomizer, &message);
        assert_eq!(lamport_sign_all(&seed, &name, &randomizer, &message), fold(&signature));

        let pieces = |count: u16| -> Vec<[u8; 32]> {
            (0..count).map(|index| seed.map(|byte| byte ^ index as u8)).collect()
        };
        let mut public_key = winternitz_keygen(&seed, &name);
        assert_eq!(winternitz_verify_all(&public_key, &randomizer, &message, &seed), -1);
        let (_, key) = winternitz_candidate(&public_key, &randomizer, &message, &pieces(67));
        public_key[24..].copy_from_slice(&key);
        assert_eq!(winternitz_verify_all(&public_key, &randomizer, &message, &seed), 0);

        let mut public_key = winternitz_w2_keygen(&seed, &name);
        assert_eq!(winternitz_w2_verify_all(&public_key, &randomizer, &message, &seed), -1);
        let (_, key) = winternitz_w2_candidate(&public_key, &randomizer, &message, &pieces(133));
        public_key[24..].copy_from_slice(&key);
        assert_eq!(winternitz_w2_verify_all(&public_key, &randomizer, &message, &seed), 0);

        let mut public_key = lamport_keygen(&seed, &name);
        assert_eq!(lamport_verify_all(&public_key, &randomizer, &message, &seed), -1);
        let (_, key) = lamport_candidate(&public_key, &randomizer, &message, &pieces(512));
        public_key[20..].copy_from_slice(&key);
        assert_eq!(lamport_verify_all(&public_key, &randomizer, &message, &seed), 0);
    }
}
