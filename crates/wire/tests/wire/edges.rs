//! Hostile keys and signatures: points off the curve, numbers at the edges. RustCrypto is the
//! independent oracle; the sealing's curves are another library's.

use p256::ecdsa::signature::{Signer, Verifier};
use p256::ecdsa::{Signature, SigningKey, VerifyingKey};
use p256::elliptic_curve::sec1::ToEncodedPoint;
use rand::{Rng, SeedableRng, rngs::StdRng};
use wire::meter::{
    Channel, Identity, KeyError, MessageKind, MeterKeys, NotAuthentic, PublicKey, Suite, signature_holds,
};

/// The order of P-256, SEC 2 version 2.0 section 2.4.2.
const ORDER: [u8; 32] = hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551");
/// Its field's prime.
const PRIME: [u8; 32] = hex("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff");

const fn hex(digits: &str) -> [u8; 32] {
    let (digits, mut bytes, mut at) = (digits.as_bytes(), [0; 32], 0);
    while at < 64 {
        let digit = match digits[at] {
            digit @ b'0'..=b'9' => digit - b'0',
            letter => letter - b'a' + 10,
        };
        bytes[at / 2] = bytes[at / 2] << 4 | digit;
        at += 1;
    }
    bytes
}

/// Big-endian, with what is given added or taken away.
fn plus(number: &[u8; 32], by: i16) -> [u8; 32] {
    let (mut sum, mut carry) = (*number, i32::from(by));
    for byte in sum.iter_mut().rev() {
        let value = i32::from(*byte) + carry;
        (*byte, carry) = (value.rem_euclid(256) as u8, value.div_euclid(256));
    }
    sum
}

fn both(first: &[u8], second: &[u8]) -> [u8; 64] {
    [first, second].concat().try_into().expect("64 bytes")
}

struct Sides {
    keys: MeterKeys,
    meter: Identity,
    collector: Identity,
}

fn sides(rng: &mut StdRng) -> Sides {
    Sides {
        keys: MeterKeys::generate(rng),
        meter: Identity::generate(rng),
        collector: Identity::generate(rng),
    }
}

impl Sides {
    fn seal(&self, suite: Suite, plaintext: &[u8; 16], rng: &mut StdRng) -> Vec<u8> {
        let (own, peer) = (&self.meter, self.collector.public());
        let channel = Channel { meter: 7, keys: &self.keys, own, peer };
        channel.seal(
            MessageKind::Report,
            suite,
            u32::from_be_bytes([plaintext[0], plaintext[1], plaintext[2], plaintext[3]]),
            plaintext,
            rng,
        )
    }

    fn open(&self, suite: Suite, sealed: &[u8]) -> Result<[u8; 16], NotAuthentic> {
        let (own, peer) = (&self.collector, self.meter.public());
        let channel = Channel { meter: 7, keys: &self.keys, own, peer };
        channel.open(MessageKind::Report, suite, sealed).map(|opened| opened.plaintext)
    }

    fn signing(&self) -> SigningKey {
        SigningKey::from_slice(&self.meter.private_bytes()[..]).expect("a key")
    }

    /// *context* of docs/reference/protocol.md, "How it is sealed".
    fn context(&self) -> Vec<u8> {
        let (sender, recipient) = (self.meter.public().to_bytes(), self.collector.public().to_bytes());
        [&b"WSM2"[..], &[0, 4, 0, 7], &sender[..8], &recipient[..8]].concat()
    }

    fn signed_text(&self, text: &[u8]) -> Vec<u8> {
        [text, &self.context()].concat()
    }
}

/// Points that are none: every one is refused as a key, and as an ephemeral key in a message that
/// is right otherwise.
#[test]
fn invalid_curve_point_is_refused() {
    let rng = &mut StdRng::seed_from_u64(1);
    let sides = sides(rng);
    let good = sides.collector.public().to_bytes();
    let (x, y): ([u8; 32], [u8; 32]) =
        (good[..32].try_into().expect("32"), good[32..].try_into().expect("32"));
    let mut points = vec![
        both(&[0; 32], &[0; 32]),
        both(&x, &[0; 32]),
        both(&[0; 32], &y),
        both(&x, &plus(&y, 1)),
        both(&plus(&x, -1), &y),
        both(&y, &x),
        both(&PRIME, &y),
        both(&x, &PRIME),
        both(&[0xff; 32], &[0xff; 32]),
        both(&ORDER, &ORDER),
    ];
    // x that mostly is no point's, or another's.
    for _ in 0..20 {
        points.push(both(&rng.random::<[u8; 32]>(), &rng.random::<[u8; 32]>()));
    }
    // Not the least number that stands for x = 5: 5 + p. RustCrypto finds y.
    let five = plus(&[0; 32], 5);
    let compressed = [&[2][..], &five].concat();
    if let Ok(point) = p256::PublicKey::from_sec1_bytes(&compressed) {
        let encoded = point.to_encoded_point(false);
        let y = encoded.y().expect("not compressed");
        assert!(PublicKey::from_bytes(&both(&five, y)).is_ok());
        points.push(both(&plus(&PRIME, 5), y));
    }
    for point in points {
        let sec1 = [&[4][..], &point].concat();
        assert!(p256::PublicKey::from_sec1_bytes(&sec1).is_err(), "the oracle");
        assert_eq!(PublicKey::from_bytes(&point), Err(KeyError::Public), "{point:02x?}");
        for suite in [Suite::Ecies, Suite::EciesEcdsa] {
            let mut sealed = sides.seal(suite, &[1; 16], rng);
            sealed[..64].copy_from_slice(&point);
            if suite == Suite::EciesEcdsa {
                // Signed by the meter itself, so that the point alone is wrong.
                let signature: Signature = sides.signing().sign(&sides.signed_text(&sealed[..80]));
                sealed[80..].copy_from_slice(&signature.to_bytes());
            }
            assert_eq!(sides.open(suite, &sealed), Err(NotAuthentic), "{suite} {point:02x?}");
        }
    }
}

/// r and s at the edges, and both ways to write s: as the oracle has it.
#[test]
fn signature_verdicts_match_the_oracle() {
    let rng = &mut StdRng::seed_from_u64(2);
    let sides = sides(rng);
    let verifying = VerifyingKey::from(&sides.signing());
    let sealed = sides.seal(Suite::EciesEcdsa, &[3; 16], rng);
    let text = sides.signed_text(&sealed[..80]);
    let right = Signature::from_slice(&sealed[80..]).expect("made here");
    let other_s = Signature::from_scalars(right.r().to_bytes(), (-*right.s()).to_bytes()).expect("not 0");
    let (r, s) = (right.r().to_bytes(), right.s().to_bytes());
    let edges = [[0; 32], plus(&[0; 32], 1), plus(&ORDER, -1), ORDER, plus(&ORDER, 1), [0xff; 32], PRIME];
    let mut signatures = vec![right.to_bytes().to_vec(), other_s.to_bytes().to_vec()];
    for edge in edges {
        signatures.extend([both(&edge, &s).to_vec(), both(&r, &edge).to_vec()]);
        signatures.extend(edges.map(|other| both(&edge, &other).to_vec()));
    }
    for _ in 0..200 {
        let mut signature = right.to_bytes().to_vec();
        signature[rng.random_range(0..64)] ^= 1 << rng.random_range(0..8);
        signatures.push(signature);
    }
    let mut held = 0;
    for signature in signatures {
        let oracle =
            Signature::from_slice(&signature).and_then(|signature| verifying.verify(&text, &signature));
        let message = [&sealed[..80], &signature].concat();
        let holds = signature_holds(7, sides.meter.public(), sides.collector.public(), &message);
        assert_eq!(holds, oracle.is_ok(), "{signature:02x?}");
        assert_eq!(sides.open(Suite::EciesEcdsa, &message).is_ok(), oracle.is_ok());
        held += u32::from(holds);
    }
    // The right one, and it with the order less s.
    assert_eq!(held, 2);
}

/// The agreed secret is the oracle's: only it opens the message.
#[test]
fn both_libraries_agree_on_the_same_secret() {
    let rng = &mut StdRng::seed_from_u64(3);
    for round in 0..50u8 {
        let sides = sides(rng);
        let ephemeral =
            p256::SecretKey::from_slice(&Identity::generate(rng).private_bytes()[..]).expect("a key");
        let encoded = [&[4][..], &sides.collector.public().to_bytes()].concat();
        let collector = p256::PublicKey::from_sec1_bytes(&encoded).expect("a point");
        let shared = p256::ecdh::diffie_hellman(ephemeral.to_nonzero_scalar(), collector.as_affine());
        let point = ephemeral.public_key().to_encoded_point(false);
        let public = &point.as_bytes()[1..];
        let block = <sha2::Sha256 as sha2::Digest>::digest(
            [&shared.raw_secret_bytes()[..], &1u32.to_be_bytes(), public, &sides.context()].concat(),
        );
        let mut text = [round; 16];
        let mut stream =
            <ctr::Ctr128BE<aes::Aes128> as aes::cipher::KeyIvInit>::new(block[..16].into(), &[0; 16].into());
        aes::cipher::StreamCipher::apply_keystream(&mut stream, &mut text);
        let mut sealed = [public, &text].concat();
        let signature: Signature = sides.signing().sign(&sides.signed_text(&sealed));
        sealed.extend_from_slice(&signature.to_bytes());
        assert_eq!(sides.open(Suite::EciesEcdsa, &sealed), Ok([round; 16]));
    }
}

/// Private keys at the edges.
#[test]
fn private_keys_are_from_1_to_the_order_less_1() {
    for (bytes, valid) in [
        ([0; 32], false),
        (plus(&[0; 32], 1), true),
        (plus(&ORDER, -1), true),
        (ORDER, false),
        (plus(&ORDER, 1), false),
        ([0xff; 32], false),
    ] {
        let oracle = p256::SecretKey::from_slice(&bytes);
        assert_eq!(oracle.is_ok(), valid);
        match (Identity::from_private_bytes(&bytes), oracle) {
            (Ok(identity), Ok(oracle)) => {
                let point = oracle.public_key().to_encoded_point(false);
                assert_eq!(identity.public().to_bytes()[..], point.as_bytes()[1..]);
            }
            (Err(KeyError::Private), Err(_)) => {}
            (ours, _) => panic!("{bytes:02x?}: {ours:?}"),
        }
    }
}

/// Prints the times of both libraries, in one run: `cargo test --release -p wattseal-wire --test
/// suite edges -- --ignored --nocapture`
#[test]
#[ignore = "a measurement; release builds alone"]
fn how_long_curves_take() {
    let rng = &mut StdRng::seed_from_u64(4);
    let sides = sides(rng);
    let sealed = sides.seal(Suite::EciesEcdsa, &[3; 16], rng);
    let ecies = sides.seal(Suite::Ecies, &[3; 16], rng);
    let (text, signature) =
        (sides.signed_text(&sealed[..80]), Signature::from_slice(&sealed[80..]).expect("good"));
    let verifying = VerifyingKey::from(&sides.signing());
    let secret = p256::SecretKey::from_slice(&sides.collector.private_bytes()[..]).expect("a key");
    let encoded = [&[4][..], &sealed[..64]].concat();
    let time = |name: &str, run: &mut dyn FnMut()| {
        run();
        let start = std::time::Instant::now();
        (0..2000).for_each(|_| run());
        println!("{name:<40} {:>7.1} us", start.elapsed().as_secs_f64() / 2000.0 * 1e6);
    };
    time("RustCrypto: ECDSA verify", &mut || verifying.verify(&text, &signature).expect("holds"));
    time("RustCrypto: ECDH", &mut || {
        let point = p256::PublicKey::from_sec1_bytes(&encoded).expect("a point");
        std::hint::black_box(p256::ecdh::diffie_hellman(secret.to_nonzero_scalar(), point.as_affine()));
    });
    time("here: signature_holds", &mut || {
        assert!(signature_holds(7, sides.meter.public(), sides.collector.public(), &sealed));
    });
    time("here: open ecies", &mut || assert!(sides.open(Suite::Ecies, &ecies).is_ok()));
    time("here: open ecies-ecdsa", &mut || assert!(sides.open(Suite::EciesEcdsa, &sealed).is_ok()));
    let mut number = 0;
    time("here: seal ecies-ecdsa", &mut || {
        number += 1;
        std::hint::black_box(sides.seal(Suite::EciesEcdsa, &[number as u8; 16], rng));
    });
}
