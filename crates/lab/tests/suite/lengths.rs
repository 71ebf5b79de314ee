//! Authenticated ciphers and CMAC on messages of 0 to 300 bytes, on each core's kernels, against
//! the crates of the same names. Each run takes some lengths; `WATTSEAL_ORACLE=long` takes all.

use crate::samples::{seed, two_of};
use ascon_aead::AsconAead128;
use ascon_aead::aead::{Aead as _, KeyInit as _, Payload as AsconPayload};
use chacha20poly1305::ChaCha20Poly1305;
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use firmware::Firmware;
use lab::harness::OperationRun;
use lab::operations::Catalogue;
use lab::reference::Case;
use lab::reference::aes_modes::{ccm_case, cmac_case};
use lab::reference::ascon::{open_case, seal_case};
use lab::workspace::Workspace;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, RngCore, SeedableRng};

/// Longest message.
const LONGEST: usize = 300;
/// Lengths of a run that does not take all, besides the ends.
const FEW: usize = 10;
/// Well above what the longest message takes on the slowest core.
const CYCLES: u64 = 1_000_000_000;
const OPERATIONS: [&str; 7] = [
    "chacha20-poly1305-seal",
    "chacha20-poly1305-open",
    "ascon-aead128-seal",
    "ascon-aead128-open",
    "aes128-ccm-seal",
    "aes128-ccm-open",
    "aes128-cmac",
];

fn random(bytes: usize, rng: &mut StdRng) -> Vec<u8> {
    let mut buffer = vec![0; bytes];
    rng.fill_bytes(&mut buffer);
    buffer
}

/// A case on `bytes` of message and `aad_bytes` of associated data.
fn case(operation: &str, bytes: usize, aad_bytes: usize, rng: &mut StdRng) -> Case {
    let (message, aad) = (random(bytes, rng), random(aad_bytes, rng));
    let (key, nonce, mut sealed) = match operation {
        "aes128-cmac" => return cmac_case(random(16, rng), message),
        "aes128-ccm-seal" | "aes128-ccm-open" => {
            let (key, nonce) = (random(16, rng), random(13, rng));
            return ccm_case(operation.ends_with("seal"), key, nonce, aad, message).expect("it seals");
        }
        "ascon-aead128-seal" | "ascon-aead128-open" => {
            let (key, nonce) = (random(16, rng), random(16, rng));
            let cipher = AsconAead128::new_from_slice(&key).expect("a key");
            let payload = AsconPayload { msg: &message, aad: &aad };
            let sealed = cipher.encrypt(nonce.as_slice().try_into().expect("a nonce"), payload);
            (key, nonce, sealed.expect("it seals"))
        }
        _ => {
            let (key, nonce) = (random(32, rng), random(12, rng));
            let payload = Payload { msg: &message, aad: &aad };
            let cipher = ChaCha20Poly1305::new(key.as_slice().into());
            let sealed = cipher.encrypt(nonce.as_slice().into(), payload);
            (key, nonce, sealed.expect("it seals"))
        }
    };
    let tag = sealed.split_off(message.len());
    let inputs = vec![("key", key), ("nonce", nonce), ("aad", aad)];
    if operation.ends_with("seal") {
        return seal_case(inputs, message, sealed, tag);
    }
    open_case(inputs, sealed, tag, Some(message))
}

fn check(name: &str, variant: &str, rng: &mut StdRng) {
    let workspace = Workspace::find().expect("the tests run inside the project");
    let target = workspace.target(name).expect("a target");
    let point = target.operating_point(None, None).expect("its own defaults");
    let catalogue = Catalogue::read(&workspace).expect("the catalogue");
    let mut operations = catalogue.built_as(&target, variant).expect("the target's sets");
    operations.retain(|operation| OPERATIONS.contains(&operation.name.as_str()));
    let names: Vec<&str> = operations.iter().map(|operation| operation.name.as_str()).collect();
    assert!(!names.is_empty(), "{name} has some");
    let build = firmware::build(&workspace.source(&target, &point).expect("a toolchain"), variant, &names)
        .expect("the firmware builds");
    let takes_all = std::env::var("WATTSEAL_ORACLE").is_ok_and(|length| length == "long");
    for operation in &operations {
        let elf = Firmware::read(&build.image(&operation.name), target.part.core).expect("an ELF file");
        let mut bench =
            OperationRun::start(&target, &elf, operation, point.clock_hz, CYCLES).expect("it starts");
        let longest = LONGEST.min(bench.capacity().expect("it takes a message") as usize);
        let most_aad = bench.buffer("aad").map_or(0, |symbol| symbol.size as usize).min(40);
        let mut lengths: Vec<usize> = (0..=longest).collect();
        if !takes_all {
            lengths.shuffle(rng);
            lengths.truncate(FEW);
            lengths.extend([0, longest]);
        }
        for bytes in lengths {
            let aad_bytes = rng.random_range(0..=most_aad);
            let case = case(&operation.name, bytes, aad_bytes, rng);
            let what = format!("{name} {variant} {}, {bytes} and {aad_bytes} bytes", operation.name);
            let is_right = bench.run_case(&case).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert!(is_right, "{what}");
        }
    }
}

/// Targets with their variants that have kernels of their own.
const TARGETS: [(&str, &[&str]); 11] = [
    ("atmega328p", &["small", "fast"]),
    ("atmega128l", &["fast"]),
    ("msp430f5438a", &["small", "fast"]),
    ("stm32f051", &["small", "fast"]),
    ("stm32f100", &["small", "fast"]),
    ("stm32f407", &["small", "fast"]),
    ("stm32f767", &["fast"]),
    ("i8051", &["small", "fast"]),
    ("mc68hc08", &["small", "fast"]),
    ("ch32v003", &["small", "fast"]),
    ("r8c", &["fast"]),
];

fn check_variants((name, variants): &(&str, &[&str])) {
    let mut rng = StdRng::seed_from_u64(seed());
    for variant in *variants {
        check(name, variant, &mut rng);
    }
}

#[test]
fn two_targets() {
    two_of(&TARGETS, seed()).into_iter().for_each(check_variants);
}

#[test]
#[ignore = "minutes: the other targets"]
fn all_targets() {
    TARGETS.iter().for_each(check_variants);
}
