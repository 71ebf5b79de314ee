//! A spread of the published vectors on every emulated target and variant: what a compiler or a
//! kernel made of the primitives must be right, not just their C source. All of the vectors run on
//! the host build (`crates/device`).

use crate::samples;
use firmware::Firmware;
use firmware::toolchain::PUBLIC_KEY;
use lab::harness::OperationRun;
use lab::operations::{Catalogue, Key, Operation, VARIANTS};
use lab::reference::Case;
use lab::reference::symmetric::expand;
use lab::reference::{ascon, lms, ml_dsa, ml_kem, slh_dsa};
use lab::workspace::Workspace;
use std::collections::BTreeMap;
use testkit::vectors;

/// Every so-manieth case of each set, so that a target has some hundred.
const STRIDE: usize = 61;
/// Longest message that the smallest target has room for, and longest associated data.
const ROOM: usize = 500;
const AAD_ROOM: usize = 64;
/// Sets of operations with thousands of hashes each.
const HASH_BASED: [&str; 5] = ["hash-based", "hss", "lms-sign", "slh-dsa", "slh-dsa-128f"];
/// Well above what the slowest of them takes.
const CYCLES: u64 = 4_000_000_000;

/// A case as the operation takes it: with the round keys instead of the key where it wants those.
fn as_taken(operation: &Operation, case: &Case) -> Case {
    let mut case = case.clone();
    if operation.key == Key::Expanded {
        for (_, key) in case.inputs.iter_mut().filter(|(name, _)| *name == "key") {
            *key = expand(key);
        }
    }
    case
}

/// Opening what the case has, and sealing where it is to be opened.
fn sealed_cases(operation: &str, case: vectors::AeadCase, add: &mut impl FnMut(String, Case)) {
    let inputs = vec![("key", case.key), ("nonce", case.nonce.to_vec()), ("aad", case.aad)];
    let (ciphertext, tag) = (case.ciphertext, case.tag.to_vec());
    if let Some(plaintext) = case.plaintext.clone() {
        let seal = ascon::seal_case(inputs.clone(), plaintext, ciphertext.clone(), tag.clone());
        add(format!("{operation}-seal"), Case { result: Some(0), ..seal });
    }
    add(format!("{operation}-open"), ascon::open_case(inputs, ciphertext, tag, case.plaintext));
}

/// Of NIST's cases one of key generation, one of encapsulation, one of each kind of decapsulation;
/// of Wycheproof's for encapsulation by pieces one with a key that is refused, for decapsulation by
/// pieces one in forty, also with such a key; CCTV's whose matrix takes the most hashes.
fn ml_kem_cases(set: &str, cases: vectors::MlKemCases, add: &mut impl FnMut(String, Case)) {
    let length = cases.keys[0].private_key.len();
    let public = (length - 96) / 2..length - 64;
    for case in cases.keys.into_iter().take(1) {
        let key = [case.d, case.z].concat();
        let public_key = &case.private_key[public.clone()];
        add(format!("ml-kem-{set}-keygen-pieces"), ml_kem::keygen_pieces_case(key.clone(), public_key));
        add(format!("ml-kem-{set}-keygen"), ml_kem::keygen_case(key, public_key, &case.private_key));
    }
    let (taken, refused): (Vec<_>, Vec<_>) =
        cases.encapsulations.into_iter().partition(|case| case.given.is_some());
    for case in taken.into_iter().take(1) {
        let (ciphertext, shared) = case.given.expect("it is one of those");
        add(
            format!("ml-kem-{set}-encapsulate-pieces"),
            ml_kem::encapsulation_pieces_case(
                case.public_key.clone(),
                case.m.to_vec(),
                Some((&ciphertext, &shared)),
            ),
        );
        let case = ml_kem::encapsulation_case(case.public_key, case.m.to_vec(), &ciphertext, &shared);
        add(format!("ml-kem-{set}-encapsulate"), case);
    }
    for case in refused.into_iter().take(1) {
        let case = ml_kem::encapsulation_pieces_case(case.public_key, case.m.to_vec(), None);
        add(format!("ml-kem-{set}-encapsulate-pieces"), case);
    }
    for case in cases.exchanges.into_iter().take(1) {
        let sent = (&case.ciphertext[..], &case.shared[..]);
        let (public, m) = (case.public_key, case.m.to_vec());
        let pieces = ml_kem::encapsulation_pieces_case(public.clone(), m.clone(), Some(sent));
        add(format!("ml-kem-{set}-encapsulate-pieces"), pieces);
        add(format!("ml-kem-{set}-encapsulate"), ml_kem::encapsulation_case(public, m, sent.0, sent.1));
        let shared = case.shared.to_vec();
        let case = ml_kem::decapsulation_case(case.private_key, case.ciphertext.clone(), shared);
        add(format!("ml-kem-{set}-decapsulate"), case);
    }
    for case in cases.decapsulations.into_iter().take(3) {
        let shared = case.shared.expect("NIST's keys are right").to_vec();
        let case = ml_kem::decapsulation_case(case.private_key, case.ciphertext, shared);
        add(format!("ml-kem-{set}-decapsulate"), case);
    }
    for case in cases.seeds.into_iter().step_by(40) {
        let pieces = |public: &[u8], shared| {
            ml_kem::decapsulation_pieces_case(case.seed.to_vec(), public, &case.ciphertext, shared)
        };
        let operation = format!("ml-kem-{set}-decapsulate-pieces");
        add(operation.clone(), pieces(&case.public_key, Some(case.shared.to_vec())));
        add(operation, pieces(&[0xff; 800], None));
    }
}

/// Of NIST's cases one of key generation, one signature, and the verification of that and of one
/// that is wrong: what there is room for.
fn slh_dsa_cases(set: &str, cases: vectors::SlhDsaCases, add: &mut impl FnMut(String, Case)) {
    let key = cases.keys[0].to_vec();
    add(format!("slh-dsa-sha2-{set}-keygen"), slh_dsa::keygen_case(key));
    let fits =
        |case: &vectors::SlhDsaSignatureCase| case.context.len() <= AAD_ROOM && case.message.len() <= 64;
    let case = cases.signatures.into_iter().find(fits).expect("one is short");
    let private = case.private_key.to_vec();
    let sign = slh_dsa::sign_case(private, case.context.clone(), case.message.clone(), &case.signature);
    add(format!("slh-dsa-sha2-{set}-sign"), sign);
    let public = case.private_key[32..].to_vec();
    let mut verify = |signature, is_good| {
        let (public, context, message) = (public.clone(), case.context.clone(), case.message.clone());
        let case = slh_dsa::verification(public, context, message, signature, is_good);
        add(format!("slh-dsa-sha2-{set}-verify"), case);
    };
    let mut wrong = case.signature.clone();
    *wrong.last_mut().expect("it is not empty") ^= 1;
    verify(case.signature.clone(), true);
    verify(wrong, false);
}

/// Of NIST's cases one of key generation; of Wycheproof's, with an empty context string, one of
/// signing, and of verification one that is valid and one that is not.
fn ml_dsa_cases(set: &str, cases: vectors::MlDsaCases, add: &mut impl FnMut(String, Case)) {
    for case in cases.keys.into_iter().take(1) {
        let case = ml_dsa::keygen_case(case.seed.to_vec(), (case.public_key, case.private_key));
        add(format!("ml-dsa-{set}-keygen"), case);
    }
    let fitting = |message| match message {
        vectors::MlDsaMessage::Plain { context, message } if context.is_empty() && message.len() <= 128 => {
            Some(message)
        }
        _ => None,
    };
    let signings = cases.signings.into_iter().filter_map(|case| match case.private_key {
        vectors::MlDsaPrivateKey::Seed(xi) => Some((xi, fitting(case.message)?, case.rnd, case.signature)),
        vectors::MlDsaPrivateKey::Encoded(_) => None,
    });
    for (xi, message, rnd, signature) in signings.take(1) {
        let keys =
            ml_dsa::signed(set, &xi, &rnd, &message, None).expect("it signs").expect("a parameter set");
        let case = ml_dsa::verification_case(keys.public, message.clone(), &signature, true);
        add(format!("ml-dsa-{set}-verify"), case);
        let case = ml_dsa::signing_case(keys.private, message, rnd, signature);
        add(format!("ml-dsa-{set}-sign"), case);
    }
    let refused = cases.verifications.into_iter().filter(|case| !case.valid);
    let refused = refused.filter_map(|case| Some((case.public_key, fitting(case.message)?, case.signature)));
    for (public, message, signature) in refused.step_by(60) {
        let case = ml_dsa::verification_case(public, message, &signature, false);
        add(format!("ml-dsa-{set}-verify"), case);
    }
}

/// AES by blocks, in counter mode and as an AEAD, and ChaCha20-Poly1305.
fn cipher_cases(add: &mut impl FnMut(String, Case)) {
    for case in vectors::aes_ecb().into_iter().filter(|case| case.plaintext.len() == 16).step_by(STRIDE) {
        let bits = 8 * case.key.len();
        let (operation, message, output) = if case.encrypt {
            (format!("aes{bits}-encrypt"), case.plaintext, case.ciphertext)
        } else {
            (format!("aes{bits}-decrypt"), case.ciphertext, case.plaintext)
        };
        let block = Case {
            inputs: vec![("key", case.key.clone()), ("message", message)],
            outputs: vec![("output", output)],
            ..Case::default()
        };
        if case.encrypt {
            add(format!("aes{bits}-module-encrypt"), Case { result: Some(0), ..block.clone() });
        } else {
            add(format!("aes{bits}-decrypt-prepared"), block.clone());
        }
        add(operation, block);
        add(
            format!("aes{bits}-expand"),
            Case {
                outputs: vec![("output", expand(&case.key))],
                inputs: vec![("key", case.key)],
                ..Case::default()
            },
        );
    }
    for case in vectors::aes_ctr() {
        add(
            format!("aes{}-ctr", 8 * case.key.len()),
            Case {
                inputs: vec![
                    ("key", case.key),
                    ("nonce", case.counter.to_vec()),
                    ("message", case.plaintext),
                ],
                outputs: vec![("output", case.ciphertext)],
                ..Case::default()
            },
        );
    }
    let fits = |case: &vectors::AeadCase| {
        case.key.len() != 24 && case.ciphertext.len() <= ROOM && case.aad.len() <= AAD_ROOM
    };
    for case in vectors::aes_gcm().into_iter().filter(fits).step_by(STRIDE / 2) {
        sealed_cases(&format!("aes{}-gcm", 8 * case.key.len()), case, add);
    }
    for case in vectors::chacha20_poly1305().into_iter().filter(fits).step_by(STRIDE / 2) {
        sealed_cases("chacha20-poly1305", case, add);
    }
}

/// AES-CMAC, and AES-128-CCM of the lengths that the bench has, and CBC and key wrap.
fn aes_mode_cases(add: &mut impl FnMut(String, Case)) {
    let fits = |case: &vectors::MacCase| case.valid && case.mac.len() == 16 && case.key.len() != 24;
    for case in vectors::aes_cmac().into_iter().filter(fits).step_by(STRIDE / 4) {
        let operation = format!("aes{}-cmac", 8 * case.key.len());
        let inputs = vec![("key", case.key), ("message", case.message)];
        add(operation, Case { inputs, outputs: vec![("output", case.mac)], ..Case::default() });
    }
    let fits = |case: &vectors::CcmCase| {
        (case.key.len(), case.nonce.len(), case.tag.len()) == (16, 13, 16) && case.aad.len() <= AAD_ROOM
    };
    for case in vectors::aes_ccm().into_iter().filter(fits).step_by(STRIDE / 8) {
        let inputs = vec![("key", case.key), ("nonce", case.nonce), ("aad", case.aad)];
        if let Some(plaintext) = case.plaintext.clone() {
            let seal = ascon::seal_case(inputs.clone(), plaintext, case.ciphertext.clone(), case.tag.clone());
            add("aes128-ccm-seal".into(), Case { result: Some(0), ..seal });
        }
        add("aes128-ccm-open".into(), ascon::open_case(inputs, case.ciphertext, case.tag, case.plaintext));
    }
    for case in vectors::aes_cbc().into_iter().filter(|case| case.key.len() == 16).step_by(STRIDE / 8) {
        let given =
            [("encrypt", &case.plaintext, &case.ciphertext), ("decrypt", &case.ciphertext, &case.plaintext)];
        for (action, from, to) in given {
            let inputs =
                vec![("key", case.key.clone()), ("nonce", case.iv.into()), ("message", from.clone())];
            let outputs = vec![("output", to.clone())];
            add(format!("aes128-cbc-{action}"), Case { inputs, outputs, ..Case::default() });
        }
    }
    let fits = |case: &vectors::WrapCase| {
        case.key.len() != 24 && case.wrapped.len() >= 24 && case.wrapped.len().is_multiple_of(8)
    };
    for case in vectors::aes_key_wrap().into_iter().filter(fits).step_by(STRIDE / 8) {
        let operation = format!("aes{}-key", 8 * case.key.len());
        let inputs = vec![("key", case.key.clone()), ("message", case.wrapped.clone())];
        let zeros = vec![0; case.wrapped.len() - 8];
        let (output, result) = case.plaintext.clone().map_or((zeros, -1), |plaintext| (plaintext, 0));
        let outputs = vec![("output", output)];
        add(format!("{operation}-unwrap"), Case { inputs, outputs, result: Some(result), ..Case::default() });
        let Some(plaintext) = case.plaintext else { continue };
        let inputs = vec![("key", case.key), ("message", plaintext)];
        let outputs = vec![("output", case.wrapped)];
        add(format!("{operation}-wrap"), Case { inputs, outputs, result: Some(0), ..Case::default() });
    }
}

/// SHA-384, some of the lengths.
fn sha384_cases(add: &mut impl FnMut(String, Case)) {
    for case in vectors::sha384().into_iter().step_by(STRIDE / 4) {
        let (inputs, outputs) = (vec![("message", case.message)], vec![("output", case.digest)]);
        add("sha384".into(), Case { inputs, outputs, ..Case::default() });
    }
}

/// Ascon's AEAD.
fn ascon_cases(add: &mut impl FnMut(String, Case)) {
    for case in vectors::ascon_aead128().into_iter().filter(|case| case.aad.len() <= AAD_ROOM).step_by(STRIDE)
    {
        let inputs =
            vec![("key", case.key.to_vec()), ("nonce", case.nonce.to_vec()), ("aad", case.aad.clone())];
        let (ciphertext, tag) = (case.ciphertext, case.tag.to_vec());
        if let Some(plaintext) = case.plaintext.clone() {
            let seal = ascon::seal_case(inputs.clone(), plaintext, ciphertext.clone(), tag.clone());
            add("ascon-aead128-seal".into(), seal);
        }
        add("ascon-aead128-open".into(), ascon::open_case(inputs, ciphertext, tag, case.plaintext));
    }
}

/// Lattices and hash-based signatures.
fn post_quantum_cases(add: &mut impl FnMut(String, Case)) {
    for (set, published) in [("512", vectors::MlKem::MlKem512), ("768", vectors::MlKem::MlKem768)] {
        ml_kem_cases(set, vectors::ml_kem(published), add);
    }
    for (set, published) in [("44", vectors::MlDsa::MlDsa44), ("65", vectors::MlDsa::MlDsa65)] {
        ml_dsa_cases(set, vectors::ml_dsa(published), add);
    }
    // One, because it takes thousands of hashes.
    let is_measured = |case: &vectors::LmsCase| case.public_key[..8] == [0, 0, 0, 5, 0, 0, 0, 4];
    for case in vectors::lms().into_iter().filter(is_measured).take(1) {
        let case = lms::verification(case.public_key.to_vec(), case.message, case.signature, true);
        add("lms-sha256-m32-h5-verify".into(), case);
    }
    // The one of two trees of that type.
    let case = vectors::hss().swap_remove(0);
    let case = lms::verification(case.public_key.to_vec(), case.message, case.signature, true);
    add("hss-sha256-m32-h5-h5-verify".into(), case);
    slh_dsa_cases("128s", vectors::slh_dsa(vectors::SlhDsa::Sha2Small128), add);
    slh_dsa_cases("128f", vectors::slh_dsa(vectors::SlhDsa::Sha2Fast128), add);
}

fn hash_case(case: vectors::HashCase) -> Case {
    Case {
        inputs: vec![("message", case.message)],
        outputs: vec![("output", case.digest)],
        ..Case::default()
    }
}

/// Hashes, with messages at and around the ends of blocks.
fn hash_cases(add: &mut impl FnMut(String, Case)) {
    for case in
        vectors::ascon_hash256().into_iter().filter(|case| [0, 1, 7, 8, 9, 32].contains(&case.message.len()))
    {
        add("ascon-hash256".into(), hash_case(case));
    }
    let around = |case: &vectors::HashCase, rate: usize| {
        [0, 1, rate - 1, rate, rate + 1].contains(&case.message.len()) && case.digest.len() <= 64
    };
    let sponges = [("sha3-256", vectors::sha3_256(), 136), ("sha3-512", vectors::sha3_512(), 72)];
    for (operation, hashes, rate) in sponges {
        for case in hashes.into_iter().filter(|case| around(case, rate)) {
            add(operation.into(), hash_case(case));
        }
    }
    // The call gives as many bytes as it takes.
    for (operation, outputs) in [("shake128", vectors::shake128()), ("shake256", vectors::shake256())] {
        for case in outputs.into_iter().filter(|case| case.message.len() == case.digest.len()).take(2) {
            add(operation.into(), hash_case(case));
        }
    }
    for (operation, hashes) in [("sha1", vectors::sha1()), ("sha256", vectors::sha256())] {
        for case in hashes.into_iter().filter(|case| case.message.len() <= ROOM).step_by(STRIDE / 6) {
            add(operation.into(), hash_case(case));
        }
    }
}

/// Message authentication and the derivation of keys.
fn mac_cases(add: &mut impl FnMut(String, Case)) {
    let fits = |case: &vectors::MacCase| case.valid && case.message.len() <= ROOM && case.key.len() <= 240;
    for case in vectors::hmac_sha256().into_iter().filter(fits).step_by(STRIDE / 6) {
        let case = Case {
            inputs: vec![("key", case.key), ("message", case.message)],
            outputs: vec![("output", case.mac)],
            ..Case::default()
        };
        add("hmac-sha256".into(), case);
    }
    let derivations = [("x963-kdf", vectors::x963_kdf_sha256()), ("hkdf-sha256", vectors::hkdf_sha256())];
    for (operation, cases) in derivations {
        for case in cases {
            // The call takes 16 bytes of salt.
            let fits = case.info.len() <= AAD_ROOM && case.secret.len() <= 160 && case.len <= 160;
            let Some(key) = case.key.filter(|_| fits && (case.salt.len() == 16 || operation == "x963-kdf"))
            else {
                continue;
            };
            let case = Case {
                inputs: vec![
                    ("nonce", case.salt),
                    ("key", case.secret),
                    ("aad", case.info),
                    ("message", vec![0; case.len]),
                ],
                outputs: vec![("output", key)],
                ..Case::default()
            };
            add(operation.into(), case);
        }
    }
}

/// The cases by operation, each with the key itself.
fn cases() -> BTreeMap<String, Vec<Case>> {
    let mut all: BTreeMap<String, Vec<Case>> = BTreeMap::new();
    let mut add = |operation: String, case: Case| all.entry(operation).or_default().push(case);
    cipher_cases(&mut add);
    aes_mode_cases(&mut add);
    sha384_cases(&mut add);
    ascon_cases(&mut add);
    post_quantum_cases(&mut add);
    hash_cases(&mut add);
    mac_cases(&mut add);
    all
}

/// A target in the variants that are built of it.
fn check(target: &str, variants: &[&str]) {
    let workspace = Workspace::find().expect("the tests run inside the project");
    let target = workspace.target(target).expect("a target");
    let point = target.operating_point(None, None).expect("its own defaults");
    let catalogue = Catalogue::read(&workspace).expect("the catalogue");
    let cases = cases();
    let of = |operation: &Operation| cases.get(operation.name.trim_end_matches("-expanded"));
    for &variant in variants {
        let mut operations = catalogue.built_as(&target, variant).expect("the target's sets");
        operations.retain(|operation| {
            let is_slow = HASH_BASED.contains(&operation.set.as_str()) || operation.set.starts_with("ml-dsa");
            let is_long = operation.set == PUBLIC_KEY || is_slow && variant != "fast";
            !is_long && cases.contains_key(operation.name.trim_end_matches("-expanded"))
        });
        if operations.is_empty() {
            continue;
        }
        assert!(
            operations.iter().all(|operation| of(operation).is_some()),
            "every operation has published vectors"
        );
        let names: Vec<&str> = operations.iter().map(|operation| operation.name.as_str()).collect();
        let build =
            firmware::build(&workspace.source(&target, &point).expect("a toolchain"), variant, &names)
                .expect("the firmware builds");
        for operation in &operations {
            let elf = Firmware::read(&build.image(&operation.name), target.part.core).expect("an ELF file");
            let mut bench =
                OperationRun::start(&target, &elf, operation, point.clock_hz, CYCLES).expect("start-up ends");
            for (index, case) in of(operation).into_iter().flatten().enumerate() {
                let is_right = bench.run_case(&as_taken(operation, case)).expect("the operation returns");
                assert!(is_right, "{} {} {variant}, case {index}", target.name(), operation.name);
            }
        }
    }
}

fn whole(target: &str) {
    check(target, &VARIANTS);
}

/// Compiler and kernels are those of other targets, which together are built in all variants: here
/// the kernels, and the C of another variant each time.
fn relative(target: &str) {
    check(target, &["fast", samples::c_variant(target, samples::seed())]);
}

macro_rules! targets {
    ($names:ident: $($name:ident)*) => { mod $names { $(
        #[test]
        fn $name() {
            super::$names(stringify!($name));
        }
    )* } };
}

// All variants of the one target of a core or a port, or of one of two.
targets! {
    whole: msp430f5438a stm32f103 stm32f767 r8c i8051 mc68hc08 ch32v003
}
targets! {
    relative: atmega328p atmega2560 atmega128l atmega324pa atmega32u4 msp430fr5994 stm32f051 stm32f100 stm32f407 stm32l4r5 stm32f401 stm32f411 samd21 nrf52840 rp2040
}

/// One target of each sampled core, in all variants.
#[test]
#[ignore = "minutes: builds all variants"]
fn all_variants() {
    ["atmega328p", "atmega2560", "stm32f051", "stm32f407"].into_iter().for_each(whole);
}
