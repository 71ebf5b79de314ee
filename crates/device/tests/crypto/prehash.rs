//! Signatures of a message's digest are none of the message, nor of its digest: HashML-DSA and
//! HashSLH-DSA begin what is signed with another byte.

use device::crypto::sha3::shake256;
use device::crypto::slh_dsa::{self, Piece};
use device::crypto::{ml_dsa::MlDsa, slh_dsa::SHA2_128F, slh_dsa::SHA2_128S};
use openssl::hash::{MessageDigest, hash};
use testkit::vectors::{self, PrehashCase};

/// The last byte of the hash function's object identifier, 2.16.840.1.101.3.4.2 before it, and
/// OpenSSL's name.
fn function(hash: &str) -> (u8, &'static str) {
    match hash {
        "SHA2-256" => (1, "SHA256"),
        "SHA2-384" => (2, "SHA384"),
        "SHA2-224" => (4, "SHA224"),
        "SHA2-512/256" => (6, "SHA512-256"),
        "SHA3-224" => (7, "SHA3-224"),
        "SHA3-256" => (8, "SHA3-256"),
        "SHA3-384" => (9, "SHA3-384"),
        _ => panic!("no case has {hash}"),
    }
}

/// Returns true if the signature is one of a message with the case's context, or, by the internal
/// interface, of M'.
fn accepts(case: &PrehashCase, is_formatted: bool, message: &[u8]) -> bool {
    let ml_dsa = |set: MlDsa| {
        if is_formatted {
            let mu = shake256(&[&shake256(&case.public_key, 64), message].concat(), 64);
            set.verify_mu(&case.public_key, &mu.try_into().expect("64 bytes"), &case.signature)
        } else {
            set.verify(&case.public_key, &case.context, message, &case.signature)
        }
    };
    let slh_dsa = |set| {
        let public_key = case.public_key.as_slice().try_into().expect("32 bytes");
        let (randomizer, rest) = case.signature.split_first_chunk().expect("it has R");
        let context = (!is_formatted).then_some(&*case.context);
        let all = [Piece::Message(message), Piece::Signature(rest)];
        slh_dsa::verify(set, public_key, randomizer, context, all) == (0, 0)
    };
    match case.set {
        "ML-DSA-44" => ml_dsa(MlDsa::MlDsa44),
        "ML-DSA-65" => ml_dsa(MlDsa::MlDsa65),
        "SLH-DSA-SHA2-128s" => slh_dsa(SHA2_128S),
        "SLH-DSA-SHA2-128f" => slh_dsa(SHA2_128F),
        set => panic!("no parameter set of the project: {set}"),
    }
}

#[test]
fn signatures_of_a_digest_are_refused() {
    for case in vectors::prehash() {
        let (last, name) = function(&case.hash);
        let function = MessageDigest::from_name(name).expect("OpenSSL has it");
        let digest = hash(function, &case.message).expect("it hashes");
        let identifier = [&[6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, last], &*digest].concat();
        let context = u8::try_from(case.context.len()).expect("255 at most");
        let formatted = |kind| [&[kind, context], &*case.context, &identifier].concat();
        let name = format!("{}, {}", case.set, case.hash);
        assert!(accepts(&case, true, &formatted(1)), "{name}: the signature is good");
        assert!(!accepts(&case, true, &formatted(0)), "{name}");
        for message in [&case.message, &*digest, &identifier] {
            assert!(!accepts(&case, false, message), "{name}");
        }
    }
}
