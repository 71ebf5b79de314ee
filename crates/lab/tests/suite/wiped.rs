//! Nothing secret stays in RAM: after an operation the stopped machine's whole RAM is searched for
//! eight bytes in a row of anything that it had to keep to itself, in every form that an
//! implementation may have held it in. The buffers that the caller owns are left out, and so is the
//! generator's present state.
//!
//! All operations, variants and targets take half an hour of processor time:
//!
//! ```sh
//! cargo test -p wattseal-lab --test suite -- --ignored --nocapture wiped::all
//! ```
//!
//! WATTSEAL_TARGETS, WATTSEAL_VARIANTS and WATTSEAL_OPERATIONS choose some by patterns, `stm32f4*`,
//! `{small,fast}`.

use firmware::Firmware;
use lab::harness::OperationRun;
use lab::operations::{Catalogue, Operation, VARIANTS};
use lab::reference::{self, Case};
use lab::target::Target;
use lab::workspace::Workspace;
use mcu::MemoryKind;
use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};
use secrets::{Find, Secrets, WINDOW};

mod aes_modes;
mod curves;
mod erased;
mod hash_based;
mod hashes;
mod meter;
mod ml_dsa;
mod ml_kem;
mod noise;
mod secrets;
mod symmetric;

/// Well above what the slowest operation takes.
const CYCLES: u64 = 20_000_000_000;

/// Inputs and outputs, and what must be gone afterwards.
type Run = (Case, Secrets);

fn random(bytes: usize, rng: &mut StdRng) -> Vec<u8> {
    let mut buffer = vec![0; bytes];
    rng.fill_bytes(&mut buffer);
    buffer
}

/// A case whose inputs look random: of others, a piece may be in RAM by chance.
fn random_case(operation: &Operation, bytes: usize, rng: &mut StdRng) -> Case {
    loop {
        let case = reference::random_case(operation, bytes, rng).expect("a reference");
        let is_plain =
            |bytes: &[u8]| bytes.windows(4).any(|window| window.iter().all(|byte| *byte == window[0]));
        if !case.inputs.iter().any(|(_, bytes)| is_plain(bytes)) {
            return case;
        }
    }
}

/// Returns true if an operation knows a secret. Verification knows none; of a field's operations
/// those that use them wipe the operands.
fn knows_a_secret(operation: &Operation) -> bool {
    !operation.name.ends_with("-verify") && !operation.name.contains("-field-")
}

/// The runs of an operation, with room for `room` bytes of message.
fn runs(operation: &Operation, room: usize, rng: &mut StdRng) -> Vec<Run> {
    let name = operation.name.as_str();
    if ["p256-ml-kem-", "x25519-ml-kem-"].iter().any(|pair| name.starts_with(pair)) {
        return vec![ml_kem::hybrid_run(name, rng)];
    }
    if name.starts_with("ml-kem-") {
        return vec![ml_kem::run(name, rng)];
    }
    if name.starts_with("ml-dsa-") {
        return vec![ml_dsa::run(name, rng)];
    }
    if let Some(run) = hash_based::run(operation, rng) {
        return vec![run];
    }
    let of_curves =
        ["drbg", "p192", "p224", "p256", "p384", "secp160r1", "x25519", "ed25519", "ecdsa", "ecies", "ecdh"];
    if of_curves.iter().any(|prefix| name.starts_with(prefix)) {
        return vec![curves::run(name, rng)];
    }
    let runs = symmetric::runs(operation, room, rng);
    assert!(!runs.is_empty(), "{name} has secrets that this test does not know");
    runs
}

/// Variables of the bench: address and bytes.
fn variables(firmware: &Firmware) -> Vec<(u32, u32)> {
    firmware
        .symbols()
        .iter()
        .filter(|(name, symbol)| name.trim_start_matches('_').starts_with("ws_bench_") && symbol.size > 0)
        .map(|(_, symbol)| (symbol.address, symbol.size))
        .collect()
}

/// All RAM of the machine, what the bench's variables hold blotted out.
fn memories(bench: &mut OperationRun<'_>, target: &Target, firmware: &Firmware) -> Vec<(u32, Vec<u8>)> {
    let blots = variables(firmware);
    let ram = target.part.memories.iter();
    ram.filter(|memory| matches!(memory.kind, MemoryKind::Ram | MemoryKind::Tcm))
        .map(|memory| {
            let mut bytes = vec![0; memory.size as usize];
            assert!(bench.machine().peek(memory.start, &mut bytes), "{} can be read", memory.name);
            for (address, size) in &blots {
                for address in *address..address + size {
                    if let Some(byte) = bytes.get_mut(address.wrapping_sub(memory.start) as usize) {
                        *byte = 0;
                    }
                }
            }
            (memory.start, bytes)
        })
        .collect()
}

/// Remains of an operation, as lines to be read.
fn search(
    target: &Target,
    firmware: &Firmware,
    operation: &Operation,
    clock_hz: u64,
    rng: &mut StdRng,
) -> Vec<String> {
    let fresh = OperationRun::start(target, firmware, operation, clock_hz, CYCLES).expect("start-up ends");
    let mut bench = fresh.fork();
    let room = fresh.capacity().map_or(0, |bytes| bytes as usize);
    let what = format!("{} {}", target.name(), operation.name);
    let mut left = Vec::new();
    for (case, secrets) in runs(operation, room, rng) {
        bench.rewind(&fresh);
        assert!(bench.run_case(&case).expect("it returns"), "{what}");
        let ending = if case.result.is_some_and(|result| result < 0) { " refused" } else { "" };
        for (start, memory) in memories(&mut bench, target, firmware) {
            left.extend(secrets.find(start, &memory).into_iter().map(|Find { address, bytes, name }| {
                let place = firmware.object_at(address).unwrap_or("the stack".into());
                format!("{}{ending}: {bytes} bytes of {name} at {address:#x}, {place}", operation.name)
            }));
        }
        // A piece of a secret that somebody forgets far from the stack is found.
        let (start, size) = (target.part.memories.iter())
            .find(|memory| matches!(memory.kind, MemoryKind::Ram | MemoryKind::Tcm))
            .map(|memory| (memory.start, memory.size))
            .expect("it has RAM");
        let is_free = |at: &u32| {
            let overlaps = |(start, size): (u32, u32)| *at < start + size && start < at + WINDOW as u32;
            !variables(firmware).into_iter().any(overlaps)
        };
        let planted = (start + size / 4 * 3 + 3..start + size).chain(start..).find(is_free).expect("room");
        let piece = secrets.piece().expect("it has secrets");
        assert!(bench.machine().poke(planted, &piece));
        let finds = memories(&mut bench, target, firmware).iter().any(|(start, memory)| {
            secrets.find(*start, memory).iter().any(|find| find.address.abs_diff(planted) <= 64)
        });
        assert!(finds, "{what}: what was planted is found");
    }
    left
}

/// Number of operations of a target and a variant that were searched, and their remains.
fn check(
    target: &str,
    variant: &str,
    wanted: impl Fn(&Operation) -> bool,
    rng: &mut StdRng,
) -> (usize, Vec<String>) {
    let workspace = Workspace::find().expect("the tests run inside the project");
    let target = workspace.target(target).expect("a target");
    let point = target.operating_point(None, None).expect("its own defaults");
    let catalogue = Catalogue::read(&workspace).expect("the catalogue");
    let mut operations = catalogue.built_as(&target, variant).expect("the target's sets");
    operations.retain(|operation| knows_a_secret(operation) && wanted(operation));
    if operations.is_empty() {
        return (0, Vec::new());
    }
    let names: Vec<&str> = operations.iter().map(|operation| operation.name.as_str()).collect();
    let build = firmware::build(&workspace.source(&target, &point).expect("a toolchain"), variant, &names)
        .expect("the firmware builds");
    let left = operations.iter().flat_map(|operation| {
        let firmware = Firmware::read(&build.image(&operation.name), target.part.core).expect("an ELF file");
        search(&target, &firmware, operation, point.clock_hz, rng)
            .into_iter()
            .map(|line| format!("{} {variant} {line}", target.name()))
            .collect::<Vec<String>>()
    });
    let left = left.collect();
    (operations.len(), left)
}

/// All of them, a line a find.
#[test]
#[ignore = "takes half an hour"]
fn all() {
    let chosen = |variable: &str, name: &str| {
        std::env::var(variable).map_or(true, |pattern| fast_glob::glob_match(&pattern, name))
    };
    let workspace = Workspace::find().expect("the tests run inside the project");
    let mut rng = StdRng::seed_from_u64(testkit::random::seed());
    let (mut looked_at, mut left) = (0, 0);
    for target in workspace.target_names().expect("the targets") {
        for variant in VARIANTS {
            if !chosen("WATTSEAL_TARGETS", &target) || !chosen("WATTSEAL_VARIANTS", variant) {
                continue;
            }
            let wanted = |operation: &Operation| chosen("WATTSEAL_OPERATIONS", &operation.name);
            let (operations, lines) = check(&target, variant, wanted, &mut rng);
            lines.iter().for_each(|line| println!("{line}"));
            if operations > 0 {
                println!("{target} {variant}: {operations} operations, {} finds", lines.len());
            }
            looked_at += operations;
            left += lines.len();
        }
    }
    println!("{looked_at} operations, {left} finds");
    assert_ne!(looked_at, 0, "something is looked at");
    assert_eq!(left, 0, "secrets are left in RAM");
}

macro_rules! targets {
    ($($name:ident: $($variant:ident $operations:literal),*;)*) => { $(
        #[test]
        fn $name() {
            let mut rng = StdRng::seed_from_u64(testkit::random::seed());
            for (variant, pattern) in [$((stringify!($variant), $operations)),*] {
                let wanted = |operation: &Operation| fast_glob::glob_match(pattern, &operation.name);
                let (operations, left) = check(stringify!($name), variant, wanted, &mut rng);
                assert_ne!(operations, 0, "{variant}: {pattern}");
                assert!(left.is_empty(), "left in RAM:\n{}", left.join("\n"));
            }
        }
    )* };
}

// Each core once, and what was once left.
targets! {
    atmega328p:
        small "{aes128-ctr,aes*-gcm-*,ascon-*,hkdf-*,ecies-seal}",
        fast "{aes128-gcm-*,*-pieces,ecdsa-p256-sign,lms-*-sign}";
    atmega128l: fast "{p192-ecdh,p224-ecdh}";
    atmega2560: small "aes128-*", fast "{hmac-*,winternitz-*sign}";
    attiny85: small "{aes128-*,ascon-*}";
    ch32v003: fast "{hmac-*,hkdf-*,x963-kdf,aes128-gcm-*,chacha20-*}", portable "{x25519-ecdh,drbg-*}";
    i8051: small "{aes128-*,hmac-*}";
    mc68hc08: O0 "{sha3-256,shake128}", small "{aes128-*,hmac-*}";
    nrf52840: fast "aes128-module-encrypt";
    msp430fr5994: fast "aes*-module-encrypt";
    r8c: memory "aes128-*", register "aes128-*", fast "{aes256-*,ascon-*}";
    msp430f5438a:
        portable "{x25519-ecdh,aes128-gcm-*}",
        small "{aes128-*,hkdf-*,ecies-open-compressed}",
        mpy16 "{x25519-ecdh,p192-ecdh,p224-ecdh}",
        fast "{p192-ecdh,p224-ecdh,p256-ecdh,x25519-ml-kem-768-respond,lamport-sign}";
    stm32f051: small "aes128-gcm-*", fast "{ecdsa-*-sign,x25519-ecdh,ml-kem-512-*}";
    stm32f103: portable "{hkdf-*,x963-kdf,chacha20-*,ecdsa-secp160r1-sign}", fast "{aes128-gcm-*,x25519-ecdh,ml-kem-768-*}";
    stm32f407: fast "{aes128-gcm-*,ascon-*,ed25519-*,ecies-ecdsa-*,ml-kem-768-*,ml-dsa-44-*}";
    stm32f767: fast "{aes128-gcm-*,p256-keygen,p256-ml-kem-512-*}";
}
