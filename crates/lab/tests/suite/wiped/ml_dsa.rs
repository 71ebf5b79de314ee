//! What ML-DSA-44 keeps to itself, on RustCrypto's SHA-3: FIPS 204 algorithms 6 and 7.

use super::{Secrets, random};
use fips204::ml_dsa_44::KG;
use fips204::traits::{KeyGen, SerDes, Signer};
use lab::reference::Case;
use lab::reference::ml_dsa::{keygen_case, signing_case};
use rand::rngs::StdRng;
use sha3::Shake256;
use sha3::digest::{ExtendableOutput, Update, XofReader};

/// More often than that it begins anew once in thousands of signatures; what it has begun with before is overwritten.
const ATTEMPTS: u16 = 30;

/// H of what is joined of pieces.
fn hash(pieces: &[&[u8]], bytes: usize) -> Vec<u8> {
    let mut output = vec![0; bytes];
    Shake256::default().chain(pieces.concat()).finalize_xof().read(&mut output);
    output
}

/// ExpandMask, algorithm 34: a polynomial of y as it is encoded.
fn mask(seed: &[u8], number: u16) -> Vec<u8> {
    hash(&[seed, &number.to_le_bytes()], 576)
}

/// BitUnpack, algorithm 19: the polynomial, as words.
fn words(encoded: &[u8]) -> Vec<u8> {
    let number = |n: usize| -> i32 {
        (0..18).map(|bit| i32::from(encoded[(18 * n + bit) / 8] >> ((18 * n + bit) % 8) & 1) << bit).sum()
    };
    (0..256).flat_map(|n| (131_072 - number(n)).to_le_bytes()).collect()
}

/// A run, and what must be gone afterwards.
pub fn run(operation: &str, rng: &mut StdRng) -> (Case, Secrets) {
    let mut secrets = Secrets::default();
    let [xi, rnd]: [[u8; 32]; 2] = std::array::from_fn(|_| random(32, rng).try_into().expect("32 bytes"));
    let (public, private) = KG::keygen_from_seed(&xi);
    if operation == "ml-dsa-44-keygen" {
        secrets.bytes("xi", &xi);
        secrets.bytes("rho' and K", &hash(&[&xi, &[4, 4]], 128)[32..]);
        let keys = (public.into_bytes().to_vec(), private.into_bytes().to_vec());
        return (keygen_case(xi.to_vec(), keys), secrets);
    }
    let message = random(32, rng);
    let signature = private.try_sign_with_seed(&rnd, &message, b"").expect("it signs").to_vec();
    let private = private.into_bytes().to_vec();
    let mu = hash(&[&private[64..128], &[0, 0], &message], 64);
    let seed = hash(&[&private[32..64], &rnd, &mu], 64);
    secrets.bytes("K", &private[32..64]);
    secrets.bytes("rho''", &seed);
    for number in 0..4 * ATTEMPTS {
        let encoded = mask(&seed, number);
        secrets.bytes("y, encoded", &encoded);
        secrets.bytes("y", &words(&encoded));
    }
    (signing_case(private, message, rnd, signature), secrets)
}

/// The reference is right: z of the signature is y of one attempt and something small.
#[test]
fn a_signature_is_made_of_the_mask() {
    use rand::SeedableRng;

    let mut rng = StdRng::seed_from_u64(testkit::random::seed());
    let (case, _) = run("ml-dsa-44-sign", &mut rng);
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
        let (y, z) = (words(&mask(&seed, 4 * attempt)), words(&signature[32..32 + 576]));
        y.chunks(4).zip(z.chunks(4)).all(|(y, z)| (number(y) - number(z)).abs() <= 78)
    };
    assert_eq!((0..1000).filter(|&attempt| is_near(attempt)).count(), 1);
}
