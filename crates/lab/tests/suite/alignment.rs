//! Every primitive with its buffers at every address modulo 4, on every target, in the variants
//! with kernels (`device/alignment`): what it gives must not depend on where they lie, and nothing
//! around them may be touched.

use firmware::{Firmware, build_app};
use lab::workspace::Workspace;
use mcu::{Stop, Until, new_machine};

/// The checks, in the order of `device/alignment/main.c`.
const CHECKS: [&str; 16] = [
    "aes expand",
    "aes encrypt",
    "aes decrypt",
    "aes in place",
    "aes ctr",
    "ghash blocks",
    "aes-gcm",
    "sha1 blocks",
    "sha256 blocks",
    "hmac-sha256",
    "keccak bytes",
    "wipe and equal",
    "chacha20-poly1305",
    "ascon-aead128",
    "aes-ccm",
    "aes-cmac",
];
/// Four places for each of three buffers.
const PLACINGS: u8 = 64;
/// Well above what the slowest variant of the slowest core takes.
const CYCLES: u64 = 1_000_000_000;

fn check(name: &str, variant: &str) {
    let workspace = Workspace::find().expect("the test runs inside the project");
    let target = workspace.target(name).expect("it is one of the targets");
    let point = target.operating_point(None, None).expect("the default is allowed");
    let source = workspace.source(&target, &point).expect("a toolchain");
    let elf = build_app(&source, variant, "alignment").expect("it builds");
    let firmware = Firmware::read(&elf, target.part.core).expect("an ELF file");
    let mut machine =
        new_machine(&target.part, point.clock_hz).expect("the target's peripherals are modelled");
    machine.load(firmware.image()).expect("it fits the target");
    machine.reset();
    let done = firmware.symbol("ws_alignment_done").expect("main calls it").address;
    let stop = machine
        .run(&Until { cycles: Some(CYCLES), addresses: vec![done] })
        .unwrap_or_else(|fault| panic!("{name} {variant} at {}: {fault}", firmware.place(machine.pc())));
    assert_eq!(stop, Stop::Address(done), "{name} {variant} at {}", firmware.place(machine.pc()));

    let counts = |symbol: &str| {
        let mut counts = [0; CHECKS.len()];
        let symbol = firmware.symbol(symbol).expect("main counts");
        assert_eq!(symbol.size as usize, counts.len());
        assert!(machine.peek(symbol.address, &mut counts));
        counts
    };
    assert_eq!(counts("ws_alignment_tried"), [PLACINGS; CHECKS.len()], "{name} {variant}");
    for (what, failed) in CHECKS.iter().zip(counts("ws_alignment_failed")) {
        assert_eq!(failed, 0, "{name} {variant}: {what} depends on where its buffers lie");
    }
}

macro_rules! targets {
    ($($name:ident)*) => { $(
        #[test]
        fn $name() {
            for variant in ["small", "fast"] {
                check(stringify!($name), variant);
            }
        }
    )* };
}

targets! { atmega328p atmega128l msp430f5438a stm32f051 stm32f100 stm32f407 stm32f767 }
