//! Secrets of curves, the generator and ECIES.

use super::secrets::Secrets;
use super::{Run, random};
use lab::reference::Case;
use lab::reference::curve::{Curve, agreement_case, generation_case, signing_case, x25519_case};
use lab::reference::drbg::{Drbg, SEED_BYTES};
use lab::reference::ed25519;
use lab::reference::sealing::{Seal, seal, x963_kdf};
use lab::reference::symmetric::block_case;
use num_bigint::BigUint;
use rand::rngs::StdRng;
use sha2::{Digest, Sha512};

/// A private key that looks random in all its forms.
fn private_key(curve: Curve, rng: &mut StdRng) -> Vec<u8> {
    curve.generate(&mut Drbg::new(&random(SEED_BYTES, rng)))
}

const GOOD: &str = "a good key";

/// RFC 8032 section 5.1.5.
fn ed25519(operation: &str, message: Vec<u8>, secrets: &mut Secrets, rng: &mut StdRng) -> Case {
    let seed = random(32, rng);
    let order = (BigUint::from(1u8) << 252) + 27_742_317_777_372_353_535_851_937_790_883_648_493_u128;
    let scalar = |secrets: &mut Secrets, name: &str, bytes: &[u8]| {
        let number = BigUint::from_bytes_le(bytes) % &order;
        secrets.bytes(name, bytes);
        secrets.number(name, &number, &order, 256);
        secrets.bytes(&format!("L + {name}"), &(number + &order).to_bytes_be());
    };
    let mut hash = Sha512::digest(&seed).to_vec();
    hash[0] &= 248;
    hash[31] = hash[31] & 127 | 64;
    secrets.bytes("the seed", &seed);
    secrets.bytes("the prefix", &hash[32..]);
    scalar(secrets, "the private scalar", &hash[..32]);
    if operation == "ed25519-keygen" {
        ed25519::keygen_case(&seed).expect(GOOD)
    } else {
        scalar(secrets, "the nonce", &Sha512::digest([&hash[32..], &message].concat()));
        ed25519::signing_case(&seed, message).expect(GOOD)
    }
}

/// ECIES, with a signature or a tag.
fn sealing(
    operation: &str,
    (message, seed): (Vec<u8>, Vec<u8>),
    secrets: &mut Secrets,
    rng: &mut StdRng,
) -> Case {
    let p256 = Curve::P256;
    let (name, compress) =
        operation.strip_suffix("-compressed").map_or((operation, false), |name| (name, true));
    let (recipient, sender) = (private_key(p256, rng), private_key(p256, rng));
    let (to, from) = (p256.public(&recipient).expect(GOOD), p256.public(&sender).expect(GOOD));
    let signed = name.contains("ecdsa");
    let end = if signed { Seal::Signature(&sender) } else { Seal::Mac };
    let info = if signed { random(16, rng) } else { Vec::new() };
    let sealed = seal(&seed, &to, compress, end, &info, &message).expect(GOOD);
    let packet = sealed.packet.clone();
    let (key, input, output) = if name.ends_with("open") {
        secrets.scalar("the private key", &recipient, p256);
        secrets.opened(&sealed);
        (if signed { [recipient, from].concat() } else { recipient.clone() }, packet, message)
    } else {
        secrets.generator(&seed, 40);
        secrets.sealed(&sealed);
        if signed {
            secrets.signature(p256, &sender, &sealed.signed);
        }
        let sender = if signed { sender.clone() } else { Vec::new() };
        ([to, sender, seed].concat(), message, packet)
    };
    Case {
        inputs: vec![("key", key), ("aad", info), ("message", input)],
        outputs: vec![("output", output)],
        result: Some(0),
        ..Case::default()
    }
}

/// A run of an operation, and what must be gone afterwards.
pub fn run(operation: &str, rng: &mut StdRng) -> Run {
    let mut secrets = Secrets::default();
    let (message, seed) = (random(16, rng), random(SEED_BYTES, rng));
    let p256 = Curve::P256;
    let case = match operation {
        "drbg-generate" => {
            secrets.generator(&seed, 32);
            let output = Drbg::new(&seed).generate(32);
            // Its outputs are only the caller's, and may stay with the caller.
            Case {
                inputs: vec![("key", seed), ("message", vec![0; 32])],
                outputs: vec![("output", output)],
                result: Some(0),
                ..Case::default()
            }
        }
        "p256-keygen" | "secp160r1-keygen" | "p384-keygen" => {
            let curve = Curve::named(operation.split('-').next().expect("a name")).expect("a curve");
            secrets.generator(&seed, curve.private_bytes() + 8);
            secrets.scalar("the private key", &curve.generate(&mut Drbg::new(&seed)), curve);
            generation_case(curve, &seed).expect(GOOD)
        }
        "p256-ecdh" | "secp160r1-ecdh" | "p192-ecdh" | "p224-ecdh" | "p384-ecdh" => {
            let curve = Curve::named(operation.split('-').next().expect("a name")).expect("a curve");
            let (private, peer) = (private_key(curve, rng), private_key(curve, rng));
            let public = curve.public(&peer).expect(GOOD);
            secrets.scalar("the private key", &private, curve);
            secrets.shared(&curve.shared(&private, &public).expect(GOOD));
            agreement_case(curve, &private, &public).expect(GOOD)
        }
        "x25519-ecdh" => {
            let (private, peer) = (random(32, rng), random(32, rng));
            let case = x25519_case(&private, &peer).expect(GOOD);
            secrets.bytes("the private key", &private[1..31]);
            secrets.bytes("what is shared", &case.outputs[0].1);
            case
        }
        "ed25519-keygen" | "ed25519-sign" => ed25519(operation, message, &mut secrets, rng),
        "ecdsa-p256-sign" | "ecdsa-p384-sign" | "ecdsa-secp160r1-sign" => {
            let curve = Curve::named(operation.split('-').nth(1).expect("a name")).expect("a curve");
            let private = private_key(curve, rng);
            secrets.signature(curve, &private, &message);
            signing_case(curve, &private, message).expect(GOOD)
        }
        "ecdh-aes128-encrypt" | "ecdh-aes128-encrypt-raw" => {
            let (private, peer) = (private_key(p256, rng), private_key(p256, rng));
            let public = p256.public(&peer).expect(GOOD);
            let shared = p256.shared(&private, &public).expect(GOOD);
            let key =
                if operation.ends_with("-raw") { shared[..16].to_vec() } else { x963_kdf(&shared, &[], 16) };
            secrets.scalar("the private key", &private, p256);
            secrets.shared(&shared);
            secrets.aes_key("the encryption key", &key);
            let block = block_case(&key, lab::operations::Key::Raw, message.clone(), true);
            Case {
                inputs: vec![("key", [private, public].concat()), ("message", message)],
                outputs: block.outputs,
                result: Some(0),
                ..Case::default()
            }
        }
        _ => sealing(operation, (message, seed), &mut secrets, rng),
    };
    (case, secrets)
}
