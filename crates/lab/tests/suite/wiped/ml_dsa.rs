//! Secrets of ML-DSA, on RustCrypto's SHA-3: FIPS 204 algorithms 6 and 7.

use super::secrets::Secrets;
use super::{Run, random};
use lab::reference::ml_dsa::{keygen_case, signed, signing_case};
use rand::rngs::StdRng;
use sha3::Shake256;
use sha3::digest::{ExtendableOutput, Update, XofReader};

/// More often than that it begins anew once in thousands of signatures; what it has begun with
/// before is overwritten.
const ATTEMPTS: u16 = 30;

/// H of what is joined of pieces.
fn hash(pieces: &[&[u8]], bytes: usize) -> Vec<u8> {
    let mut output = vec![0; bytes];
    Shake256::default().chain(pieces.concat()).finalize_xof().read(&mut output);
    output
}

/// Of a parameter set, FIPS 204 table 1: k and l; bits of an encoded coefficient of y, one more
/// than of gamma_1; bytes of c~; and beta.
struct Set {
    k: u8,
    l: u8,
    bits: usize,
    challenge: usize,
    beta: i32,
}

fn set(name: &str) -> Set {
    match name {
        "44" => Set { k: 4, l: 4, bits: 18, challenge: 32, beta: 78 },
        _ => Set { k: 6, l: 5, bits: 20, challenge: 48, beta: 196 },
    }
}

/// ExpandMask, algorithm 34: a polynomial of y as it is encoded.
fn mask(set: &Set, seed: &[u8], number: u16) -> Vec<u8> {
    hash(&[seed, &number.to_le_bytes()], 32 * set.bits)
}

/// BitUnpack, algorithm 19: the polynomial, as words.
fn words(set: &Set, encoded: &[u8]) -> Vec<u8> {
    let number = |n: usize| -> i32 {
        let bit = |bit: usize| (set.bits * n + bit, bit);
        (0..set.bits).map(bit).map(|(at, bit)| i32::from(encoded[at / 8] >> (at % 8) & 1) << bit).sum()
    };
    (0..256).flat_map(|n| ((1 << (set.bits - 1)) - number(n)).to_le_bytes()).collect()
}

/// A run, and what must be gone afterwards.
pub fn run(operation: &str, rng: &mut StdRng) -> Run {
    let mut secrets = Secrets::default();
    let [xi, rnd]: [[u8; 32]; 2] = std::array::from_fn(|_| random(32, rng).try_into().expect("32 bytes"));
    let name = &operation["ml-dsa-".len()..][..2];
    let set = set(name);
    let message = random(32, rng);
    let signed = signed(name, &xi, &rnd, &message, None).expect("it signs").expect("a parameter set");
    let (private, signature) = (signed.private, signed.signature);
    if operation.contains("-keygen") {
        let seeds = hash(&[&xi, &[set.k, set.l]], 128);
        secrets.bytes("rho' and K", &seeds[32..]);
        let key = if operation.ends_with("-seeded") {
            [&seeds[32..], &seeds[..32]].concat()
        } else {
            secrets.bytes("xi", &xi);
            xi.to_vec()
        };
        return (keygen_case(key, (signed.public, private)), secrets);
    }
    let mu = hash(&[&private[64..128], &[0, 0], &message], 64);
    let seed = hash(&[&private[32..64], &rnd, &mu], 64);
    secrets.bytes("K", &private[32..64]);
    secrets.bytes("rho''", &seed);
    for number in 0..u16::from(set.l) * ATTEMPTS {
        let encoded = mask(&set, &seed, number);
        secrets.bytes("y, encoded", &encoded);
        secrets.bytes("y", &words(&set, &encoded));
    }
    (signing_case(private, message, rnd, signature), secrets)
}

/// The reference is right: z of the signature is y of one attempt and something small.
#[test]
fn a_signature_is_made_of_the_mask() {
    use rand::SeedableRng;

    let mut rng = StdRng::seed_from_u64(testkit::random::seed());
    for name in ["44", "65"] {
        let set = set(name);
        let (case, _) = run(&format!("ml-dsa-{name}-sign"), &mut rng);
        let input = |name: &str| {
            case.inputs
                .iter()
                .find(|(input, _)| *input == name)
                .map(|(_, bytes)| bytes.clone())
                .expect("it has it")
        };
        let (private, signature) = (input("key"), &case.outputs[0].1);
        let mu = hash(&[&private[64..128], &[0, 0], &input("message")], 64);
        let seed = hash(&[&private[32..64], &input("aad"), &mu], 64);
        let number = |bytes: &[u8]| i32::from_le_bytes(bytes.try_into().expect("a word"));
        let is_near = |attempt: u16| {
            let y = words(&set, &mask(&set, &seed, u16::from(set.l) * attempt));
            let z = words(&set, &signature[set.challenge..][..32 * set.bits]);
            y.chunks(4).zip(z.chunks(4)).all(|(y, z)| (number(y) - number(z)).abs() <= set.beta)
        };
        assert_eq!((0..1000).filter(|&attempt| is_near(attempt)).count(), 1);
    }
}
