//! Kernels in assembly with an interrupt at each of their instructions.
//!
//! A handler gives back each register that it changes, as the calling conventions of all cores ask
//! of it. It leaves nothing below the stack pointer as it was. So whenever a kernel would let an
//! interrupt in, what lies there is overwritten with random bytes. A kernel that keeps data below
//! the stack pointer, or makes it a pointer to data, gives another output.
//!
//! Here the first call of each kernel is interrupted. The long form interrupts all calls:
//!
//! ```sh
//! cargo test -p wattseal-lab --test suite -- --ignored --nocapture interrupted::every_call
//! ```

use crate::samples::{is_chosen, seed, two_of};
use firmware::Firmware;
use lab::harness::OperationRun;
use lab::operations::{Catalogue, Operation, VARIANTS};
use lab::reference::{self, Case};
use lab::target::Target;
use lab::workspace::Workspace;
use mcu::{CoreName, Mcu, Until};
use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Bytes that a handler takes of the stack, or all below it.
const DEPTH: u32 = 64;
/// Instructions of a call; with more its return was not seen.
const STEPS_MAX: u64 = 5_000_000;
/// Well above what the slowest operation takes.
const CYCLES: u64 = 20_000_000_000;
/// Linked with `ws_chacha20_rounds_to`, which ChaCha20's kernel on the MSP430 calls in its place.
const UNCALLED: &str = "ws_chacha20_rounds";
/// Operations that between them call each kernel.
const OPERATIONS: [&str; 27] = [
    "aes128-expand",
    "aes256-expand",
    "aes128-encrypt",
    "aes128-decrypt",
    "aes256-decrypt-prepared",
    "aes128-ctr",
    "aes128-ctr-sliced",
    "aes128-gcm-seal",
    "ascon-aead128-seal",
    "ascon-hash256",
    "sha1",
    "sha256",
    "sha3-256",
    "sha512",
    "chacha20-poly1305-open",
    "p192-ecdh",
    "p224-ecdh",
    "p256-ecdh",
    "p256-field-square",
    "p384-field-multiply",
    "secp160r1-field-multiply",
    "secp160r1-field-square",
    "x25519-ecdh",
    "ed25519-keygen",
    "ml-kem-512-encapsulate",
    "ml-kem-512-decapsulate-pieces",
    "ml-dsa-44-verify",
];

/// The stack of a core, and its mask of interrupts.
struct Stack {
    core: CoreName,
    /// Difference of the stack pointer's address in memory from its value.
    offset: u32,
    /// End of the variables, above which the stack is.
    end: u32,
}

impl Stack {
    fn new(core: CoreName, firmware: &Firmware) -> Stack {
        let end = firmware.symbols().get("ws_bss_end").map_or(0, |symbol| symbol.address);
        Stack { core, offset: if core.is_avr() { 0x80_0000 } else { 0 }, end }
    }

    /// The register with the mask of interrupts, its bits, and their value where they are let in.
    fn mask(&self) -> Option<(&'static str, u32, u32)> {
        match self.core {
            core if core.is_avr() => Some(("sreg", 0x80, 0x80)),
            CoreName::Msp430x => Some(("sr", 8, 8)),
            CoreName::Hc08 => Some(("ccr", 8, 0)),
            CoreName::R8c => Some(("flg", 0x40, 0x40)),
            core if core.is_cortex_m() => Some(("primask", 1, 0)),
            _ => None,
        }
    }

    fn allow(&self, machine: &mut dyn Mcu) {
        if let Some((name, bits, open)) = self.mask() {
            let value = register(machine, name);
            assert!(machine.set_register(name, (value & !bits) | open), "{name} can be set");
        }
    }

    fn is_open(&self, machine: &dyn Mcu) -> bool {
        self.mask().is_none_or(|(name, bits, open)| register(machine, name) & bits == open)
    }

    /// Returns true where the call that began at `begun`, with this return address in the link
    /// register if there is one, is over.
    fn has_returned(&self, machine: &dyn Mcu, begun: u32, link: Option<u32>) -> bool {
        match link {
            // What a kernel jumps to returns for it, and takes its frame away.
            Some(link) => machine.sp() > begun || machine.pc() == link && machine.sp() == begun,
            None if self.core == CoreName::Mcs51 => machine.sp() < begun,
            None => machine.sp() > begun,
        }
    }

    /// The return address in the link register, where the core has one.
    fn link(&self, machine: &dyn Mcu) -> Option<u32> {
        match self.core {
            core if core.is_cortex_m() => Some(register(machine, "lr") & !1),
            CoreName::QingkeV2 => Some(register(machine, "ra")),
            _ => None,
        }
    }

    /// Overwrites what an interrupt may. Returns the number of bytes.
    fn interrupt(&self, machine: &mut dyn Mcu, rng: &mut StdRng) -> u32 {
        let sp = machine.sp() + self.offset;
        let mut bytes = [0; DEPTH as usize];
        rng.fill_bytes(&mut bytes);
        if self.core == CoreName::Mcs51 {
            // It grows upwards, to the end of the internal memory.
            let mut rooms = (1..=16).rev();
            return rooms.find(|room| machine.poke(sp + 1, &bytes[..*room])).unwrap_or(0) as u32;
        }
        // These point to the next free byte.
        let above = sp + u32::from(self.core.is_avr() || self.core == CoreName::Hc08);
        // Its linker does not say where the variables end, which the stack comes near to.
        let depth = if self.core == CoreName::Hc08 { 16 } else { DEPTH };
        let room = depth.min(above.saturating_sub(self.end));
        assert!(machine.poke(above - room, &bytes[..room as usize]), "{sp:#x} is in memory");
        room
    }
}

fn register(machine: &dyn Mcu, name: &str) -> u32 {
    let registers = machine.registers();
    registers.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("a register {name}")).1
}

/// Names in the sources of a variant's kernels: their own functions, and those that they call.
fn named_by_kernels(sources: &Path, variant: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in std::fs::read_dir(sources).expect("the kernels") {
        let path = file.expect("a file").path();
        let stem = path.file_stem().expect("a name").to_str().expect("UTF-8");
        // All variants but `small` take the fast kernels, too.
        let is_small = stem.ends_with("_small");
        if is_small != (variant == "small") && path.extension().is_some_and(|kind| kind != "inc") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source");
        let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let words = words.map(|word| word.trim_start_matches('_')).filter(|word| word.starts_with("ws_"));
        let words = words.filter(|word| !word.starts_with("ws_secret_table"));
        names.extend(words.map(str::to_owned));
    }
    names
}

/// Interrupts at the kernels' instructions, by kernel.
#[derive(Default)]
struct Count {
    interrupts: BTreeMap<String, u64>,
    linked: BTreeSet<String>,
}

/// Writes the inputs of a case, and into its outputs what they must not be.
fn write(machine: &mut dyn Mcu, firmware: &Firmware, case: &Case) {
    let mut poke = |name: &str, bytes: &[u8]| {
        let symbol = firmware.symbol(&format!("ws_bench_{name}")).expect("a buffer");
        assert!(bytes.len() <= symbol.size as usize && machine.poke(symbol.address, bytes), "{name}");
    };
    case.outputs.iter().for_each(|(name, bytes)| poke(name, &bytes.iter().map(|b| !b).collect::<Vec<u8>>()));
    case.inputs.iter().for_each(|(name, bytes)| poke(name, bytes));
    for name in ["message", "aad", "key"] {
        let variable = format!("{name}_len");
        if firmware.symbol(&format!("ws_bench_{variable}")).is_ok() {
            let input = case.inputs.iter().find(|(input, _)| *input == name);
            let length = input.map_or(0, |(_, bytes)| bytes.len()) as u16;
            let is_big = firmware.core().is_big_endian();
            poke(&variable, &if is_big { length.to_be_bytes() } else { length.to_le_bytes() });
        }
    }
}

/// Returns true if the outputs are those of a case.
fn is_right(machine: &dyn Mcu, firmware: &Firmware, case: &Case) -> bool {
    case.outputs.iter().all(|(name, expected)| {
        let symbol = firmware.symbol(&format!("ws_bench_{name}")).expect("a buffer");
        let mut found = vec![0; expected.len()];
        machine.peek(symbol.address, &mut found) && found == *expected
    })
}

/// Runs an operation with interrupts in the first `calls` calls of each kernel.
fn run(
    target: &Target,
    firmware: &Firmware,
    (operation, clock_hz, calls): (&Operation, u64, u64),
    kernels: &BTreeSet<String>,
    (count, rng): (&mut Count, &mut StdRng),
) {
    let functions = firmware.functions().iter();
    let entries: BTreeMap<u32, &str> = functions
        .filter(|function| kernels.contains(function.name.trim_start_matches('_')))
        .map(|function| (function.address, function.name.as_str()))
        .collect();
    count.linked.extend(entries.values().map(|name| (*name).to_owned()));
    if calls == 1 && entries.values().all(|name| count.interrupts.contains_key(*name)) {
        return;
    }
    let what = format!("{} {}", target.name(), operation.name);
    let mut bench =
        OperationRun::start(target, firmware, operation, clock_hz, CYCLES).expect("start-up ends");
    let bytes = usize::from(operation.bytes);
    let case = reference::random_case(operation, bytes, rng).expect("a reference");
    let stack = Stack::new(target.part.core, firmware);
    let ready = firmware.function("ws_bench_ready").expect("the bench has it");
    let ready = firmware.functions()[ready].address;
    let mut left: BTreeMap<u32, u64> = entries.keys().map(|address| (*address, calls)).collect();
    let machine = bench.machine();
    write(machine, firmware, &case);
    stack.allow(machine);
    loop {
        let open = left.iter().filter(|(_, calls)| **calls > 0).map(|(address, _)| *address);
        let until = Until { cycles: None, addresses: open.chain([ready]).collect() };
        machine.run(&until).unwrap_or_else(|fault| panic!("{what}: {fault}"));
        if machine.pc() == ready {
            break;
        }
        let (begun, link) = (machine.sp(), stack.link(machine));
        let mut inside = machine.pc();
        let mut was_open = true;
        let mut steps = 0_u64;
        loop {
            steps += 1;
            assert!(steps < STEPS_MAX, "{what}: {} does not return", entries[&inside]);
            if let Some(calls) = left.get_mut(&machine.pc()) {
                *calls = calls.saturating_sub(1);
                inside = machine.pc();
            }
            let is_open = stack.is_open(machine);
            // The instruction behind the one that lets interrupts in is still carried out.
            if is_open && was_open {
                if stack.has_returned(machine, begun, link) {
                    break;
                }
                if stack.interrupt(machine, rng) != 0 {
                    *count.interrupts.entry(entries[&inside].to_owned()).or_default() += 1;
                }
            }
            was_open = is_open;
            let until = Until { cycles: Some(machine.cycles() + 1), addresses: Vec::new() };
            machine
                .run(&until)
                .unwrap_or_else(|fault| panic!("{what} at {}: {fault}", firmware.place(machine.pc())));
        }
    }
    assert!(is_right(machine, firmware, &case), "{what}: an interrupt changes the output");
}

/// Runs a target's operations in its variants that have kernels. Returns the interrupts.
fn check(name: &str, calls: u64, rng: &mut StdRng) -> u64 {
    let workspace = Workspace::find().expect("the tests run inside the project");
    let target = workspace.target(name).expect("a target");
    let point = target.operating_point(None, None).expect("its own defaults");
    let catalogue = Catalogue::read(&workspace).expect("the catalogue");
    let toolchain = target.toolchain.as_ref().expect("the project builds for it");
    let port = workspace.root().expect("a clone").join("device/ports").join(&toolchain.port);
    let sources = port.join("kernels").join(&toolchain.kernels);
    let mut total = 0;
    for variant in VARIANTS.iter().filter(|variant| !["O0", "portable"].contains(variant)) {
        let mut operations = catalogue.built_as(&target, variant).expect("the target's sets");
        operations.retain(|operation| OPERATIONS.contains(&operation.name.as_str()));
        let names: Vec<&str> = operations.iter().map(|operation| operation.name.as_str()).collect();
        if names.is_empty() {
            continue;
        }
        let source = workspace.source(&target, &point).expect("a toolchain");
        let build = firmware::build(&source, variant, &names).expect("the firmware builds");
        let kernels = named_by_kernels(&sources, variant);
        let mut count = Count::default();
        for operation in &operations {
            let elf = Firmware::read(&build.image(&operation.name), target.part.core).expect("an ELF file");
            run(&target, &elf, (operation, point.clock_hz, calls), &kernels, (&mut count, rng));
        }
        let interrupts: u64 = count.interrupts.values().sum();
        println!("{name} {variant}: {} kernels, {interrupts} interrupts", count.interrupts.len());
        let missed: Vec<&String> = (count.linked.iter())
            .filter(|name| !count.interrupts.contains_key(*name) && name.as_str() != UNCALLED)
            .collect();
        assert!(missed.is_empty(), "{name} {variant}: linked and not called are {missed:?}");
        total += interrupts;
    }
    total
}

// Each core once; the ATmega128L has kernels that the ATmega328P has no room for.
const TARGETS: [&str; 10] = [
    "atmega328p",
    "atmega128l",
    "msp430f5438a",
    "stm32f051",
    "stm32f100",
    "stm32f407",
    "stm32f767",
    "mc68hc08",
    "ch32v003",
    "r8c",
];

fn check_all(targets: &[&str], calls: u64) {
    for name in targets.iter().filter(|name| is_chosen("WATTSEAL_TARGETS", name)) {
        let mut rng = StdRng::seed_from_u64(seed());
        assert_ne!(check(name, calls, &mut rng), 0, "{name}");
    }
}

#[test]
fn first_calls_of_two_targets() {
    check_all(&two_of(&TARGETS, seed()).map(|name| *name), 1);
}

#[test]
#[ignore = "minutes: the other targets"]
fn first_calls() {
    check_all(&TARGETS, 1);
}

#[test]
#[ignore = "hours: each call of each kernel"]
fn every_call() {
    check_all(&TARGETS, u64::MAX);
}
