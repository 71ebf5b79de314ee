//! The MSP430 port's compiler runtime (`device/ports/msp430/runtime.S`), run in mspdebug's
//! simulator: every result that `device/runtime/main.c` leaves in memory against the host's
//! arithmetic.

use std::path::Path;
use std::process::Command;

use object::{Object, ObjectSymbol};

const VALUES: [u32; 12] = [
    0,
    1,
    2,
    0x7fff,
    0x8000,
    0xffff,
    0x0001_0000,
    0x1234_5678,
    0x7fff_ffff,
    0x8000_0000,
    0x89ab_cdef,
    0xffff_ffff,
];

/// Runs a command to success and returns what it wrote.
fn run(command: &mut Command, package: &str) -> String {
    let output =
        command.output().unwrap_or_else(|error| panic!("{command:?}: {error}; apt-get install {package}"));
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{command:?}: {text}");
    text
}

/// The RAM of the simulated part after the program's end, and where its variables are.
struct Results {
    elf: Vec<u8>,
    ram: Vec<u8>,
}

impl Results {
    /// Returns `N` bytes of the variable `name`, from the multiple `index` of `N` on.
    fn bytes<const N: usize>(&self, name: &str, index: usize) -> [u8; N] {
        let at = address(&self.elf, name) - RAM + N * index;
        self.ram[at..at + N].try_into().expect("in the RAM")
    }

    fn u32_at(&self, name: &str, index: usize) -> u32 {
        u32::from_le_bytes(self.bytes(name, index))
    }

    fn u16_at(&self, name: &str, index: usize) -> u16 {
        u16::from_le_bytes(self.bytes(name, index))
    }
}

fn address(elf: &[u8], name: &str) -> usize {
    let file = object::File::parse(elf).expect("it is an ELF");
    let symbol = file.symbol_by_name(name).unwrap_or_else(|| panic!("no symbol {name}"));
    usize::try_from(symbol.address()).expect("an address of 16 bits")
}

/// SLAS655: the RAM is 0x1c00 to 0x5bff.
const RAM: usize = 0x1c00;

/// Builds the program and runs it on mspdebug's simulator.
fn simulate() -> Results {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("msp430-runtime");
    let device = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../device");
    let mut make = Command::new("make");
    make.arg("-C").arg(device).args(["TARGET=msp430f5438a", "APP=runtime"]);
    // A make that runs the tests must not lend its settings to the one below.
    make.arg(format!("OUT={}", out.display())).env_remove("MAKEFLAGS").env_remove("MAKELEVEL");
    run(&mut make, "make clang lld");

    let elf = out.join("msp430f5438a/portable/runtime.elf");
    let bytes = std::fs::read(&elf).expect("make has built it");

    // Straight to main, because the simulator has no clock system to wait for.
    let ram_file = out.join("ram.bin");
    let commands = [
        format!("prog {}", elf.display()),
        format!("set 0 {:#x}", address(&bytes, "main")),
        "set 1 0x5c00".to_owned(),
        format!("setbreak {:#x}", address(&bytes, "ws_runtime_done")),
        "run".to_owned(),
        format!("save_raw 0x1c00 0x4000 {}", ram_file.display()),
    ];
    run(Command::new("mspdebug").args(["-q", "sim"]).args(commands), "mspdebug");
    Results { elf: bytes, ram: std::fs::read(&ram_file).expect("mspdebug has saved it") }
}

#[test]
fn every_function_at_every_edge() {
    let results = simulate();
    for (i, a) in VALUES.into_iter().enumerate() {
        for (j, b) in VALUES.into_iter().enumerate() {
            let d = if b == 0 { 7 } else { b };
            let signed = (a.cast_signed(), d.cast_signed());
            let expected = [
                a.wrapping_mul(b),
                a / d,
                a % d,
                signed.0.wrapping_div(signed.1).cast_unsigned(),
                signed.0.wrapping_rem(signed.1).cast_unsigned(),
            ];
            let found = std::array::from_fn(|k| {
                results.u32_at("ws_runtime_results32", (i * VALUES.len() + j) * expected.len() + k)
            });
            assert_eq!(expected, found, "{a:#x} and {b:#x}, 32 bits");

            let (a, b) = (a as u16, b as u16);
            let d = if b == 0 { 7 } else { b };
            let signed = (a.cast_signed(), d.cast_signed());
            let expected = [
                a.wrapping_mul(b),
                a / d,
                a % d,
                signed.0.wrapping_div(signed.1).cast_unsigned(),
                signed.0.wrapping_rem(signed.1).cast_unsigned(),
            ];
            let found = std::array::from_fn(|k| {
                results.u16_at("ws_runtime_results16", (i * VALUES.len() + j) * expected.len() + k)
            });
            assert_eq!(expected, found, "{a:#x} and {b:#x}, 16 bits");
        }
        for count in 0..32 {
            let expected = [a << count, a >> count, (a.cast_signed() >> count).cast_unsigned()];
            let found =
                std::array::from_fn(|k| results.u32_at("ws_runtime_shifts32", (i * 32 + count) * 3 + k));
            assert_eq!(expected, found, "{a:#x} shifted by {count}, 32 bits");
        }
        for count in 0..16 {
            let a = a as u16;
            let expected = [a << count, a >> count, (a.cast_signed() >> count).cast_unsigned()];
            let found =
                std::array::from_fn(|k| results.u16_at("ws_runtime_shifts16", (i * 16 + count) * 3 + k));
            assert_eq!(expected, found, "{a:#x} shifted by {count}, 16 bits");
        }
    }
}
