//! `ws_stack_wipe` is told how many bytes to erase, and each call is watched: what was written to
//! the stack before is written over, and little is erased that nothing used.

use super::runs;
use super::secrets::WINDOW;
use firmware::Firmware;
use lab::harness::OperationRun;
use lab::operations::{Catalogue, VARIANTS};
use lab::workspace::Workspace;
use mcu::{Access, AccessKind, CoreName, Observer, Step};
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::collections::{BTreeMap, BTreeSet};

/// The functions that erase behind themselves.
const ERASERS: [&str; 6] = [
    "ws_sha1_blocks",
    "ws_sha256_blocks",
    "ws_ghash_blocks",
    "ws_chacha20_rounds",
    "ws_ascon_aead128_seal",
    "ws_ascon_aead128_open",
];
/// They are all called by these.
const OPERATIONS: [&str; 6] = [
    "sha1",
    "sha256",
    "aes128-gcm-seal",
    "chacha20-poly1305-seal",
    "ascon-aead128-seal",
    "ascon-aead128-open",
];

/// Below a stack pointer at the call of `ws_stack_wipe`, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Depth {
    /// Used by what ran before.
    used: u32,
    erased: u32,
    /// The most bytes in a row of those that were used and are not written over.
    intact: u32,
}

struct Watcher<'a> {
    firmware: &'a Firmware,
    /// Distance of the stack pointer below the lowest byte in use: 1 on the AVR.
    below: u32,
    /// Bytes that a call pushes, at least: none where it puts them into a register.
    pushed: u32,
    /// The bytes that the last instruction wrote.
    written: Vec<u32>,
    /// The function that erases, and the bytes of the stack that were written since it began.
    inside: Option<(&'static str, BTreeSet<u32>)>,
    /// The lowest byte of the stack in use where `ws_stack_wipe` began, and the bytes that it
    /// wrote.
    erasing: Option<(u32, BTreeSet<u32>)>,
    depths: BTreeMap<&'static str, Depth>,
}

impl Watcher<'_> {
    fn begins(&self, name: &str, pc: u32) -> bool {
        self.firmware.symbols().get(name).is_some_and(|symbol| symbol.address == pc)
    }

    /// `ws_stack_wipe` has returned.
    fn note(&mut self) {
        let (began, erased) = self.erasing.take().expect("it began");
        let (name, used) = self.inside.take().expect("one of them calls ws_stack_wipe");
        let depth = |bytes: &BTreeSet<u32>| bytes.first().map_or(0, |lowest| began.saturating_sub(*lowest));
        let (mut intact, mut row, mut last) = (0, 0, None);
        for byte in used.range(..began).filter(|byte| !erased.contains(byte)) {
            row = if last == Some(byte - 1) { row + 1 } else { 1 };
            (last, intact) = (Some(*byte), row.max(intact));
        }
        let deepest = self.depths.entry(name).or_default();
        deepest.used = deepest.used.max(depth(&used));
        deepest.erased = depth(&erased);
        deepest.intact = deepest.intact.max(intact);
    }
}

impl Observer for Watcher<'_> {
    fn step(&mut self, step: &Step) {
        let in_use_from = step.sp + self.below;
        // A byte below the stack pointer is a variable, or a register of the AVR.
        let written = self.written.drain(..).filter(|byte| *byte >= in_use_from);
        match (&mut self.erasing, &mut self.inside) {
            (Some((_, bytes)), _) | (None, Some((_, bytes))) => bytes.extend(written),
            _ => drop(written),
        }
        if let Some((began, _)) = self.erasing {
            let wipe = self.firmware.symbols()["ws_stack_wipe"];
            let is_outside = step.pc.wrapping_sub(wipe.address) >= wipe.size;
            // A call that pushes where to return to gives that back; routines that functions share
            // to push are deeper.
            if is_outside && in_use_from >= began + self.pushed {
                self.note();
            }
            return;
        }
        if let Some(name) = ERASERS.into_iter().find(|name| self.begins(name, step.pc)) {
            self.inside = Some((name, BTreeSet::new()));
        }
        if self.inside.is_some() && self.begins("ws_stack_wipe", step.pc) {
            self.erasing = Some((in_use_from, BTreeSet::new()));
        }
    }

    fn access(&mut self, access: &Access) {
        if access.kind == AccessKind::Write {
            // The AVR's stack pointer is without the ELF file's offset of data.
            let address = if self.below == 0 { access.address } else { access.address & 0xffff };
            self.written.extend(address..address + u32::from(access.size));
        }
    }
}

/// Stack bytes that each function of a target and variant uses and erases.
fn depths(target: &str, variant: &str) -> BTreeMap<&'static str, Depth> {
    let workspace = Workspace::find().expect("the tests run inside the project");
    let target = workspace.target(target).expect("a target");
    let point = target.operating_point(None, None).expect("its own defaults");
    let catalogue = Catalogue::read(&workspace).expect("the catalogue");
    let mut operations = catalogue.built_as(&target, variant).expect("the target's sets");
    operations.retain(|operation| OPERATIONS.contains(&&*operation.name));
    if operations.is_empty() {
        return BTreeMap::new();
    }
    let names: Vec<&str> = operations.iter().map(|operation| &*operation.name).collect();
    let source = workspace.source(&target, &point).expect("a toolchain");
    let build = firmware::build(&source, variant, &names).expect("the firmware builds");
    let mut rng = StdRng::seed_from_u64(testkit::random::seed());
    let mut depths = BTreeMap::new();
    for operation in &operations {
        let image = build.image(&operation.name);
        let firmware = Firmware::read(&image, target.part.core).expect("an ELF file");
        if firmware.symbols().get("ws_stack_wipe").is_none() {
            continue;
        }
        let fresh = OperationRun::start(&target, &firmware, operation, point.clock_hz, super::CYCLES)
            .expect("start-up ends");
        let mut bench = fresh.fork();
        let room = fresh.capacity().map_or(0, |bytes| bytes as usize);
        let core = target.part.core;
        let below =
            u32::from(matches!(core, CoreName::Avr25 | CoreName::Avr5 | CoreName::Avr51 | CoreName::Avr6));
        let pushed = if below == 1 || core == CoreName::Msp430x { 2 } else { 0 };
        for (case, _) in runs(operation, room, &mut rng) {
            bench.rewind(&fresh);
            let run = bench.measure(&case).expect("it returns");
            assert!(run.verified, "{} {variant} {}", target.name(), operation.name);
            bench.rewind(&fresh);
            let mut watcher = Watcher {
                firmware: &firmware,
                below,
                pushed,
                written: Vec::new(),
                inside: None,
                erasing: None,
                depths,
            };
            bench.observe_call(&case, run.return_to, &mut watcher).expect("it returns");
            depths = watcher.depths;
        }
    }
    depths
}

/// Description of a function of a target and variant.
fn shown(target: &str, variant: &str, name: &str, depth: Depth) -> String {
    format!(
        "{target} {variant} {name}: {} bytes used, {} erased, {} in a row kept",
        depth.used, depth.erased, depth.intact
    )
}

/// Fewer bytes in a row than a find has are kept.
fn is_enough(depth: Depth) -> bool {
    depth.erased >= depth.used && depth.intact < WINDOW as u32
}

#[test]
fn stack_is_erased_as_deep_as_it_was_used() {
    let targets = ["atmega328p", "attiny85", "ch32v003", "msp430f5438a", "stm32f051", "stm32f407"];
    for target in targets {
        for (name, depth) in depths(target, "portable") {
            assert!(is_enough(depth), "{}", shown(target, "portable", name, depth));
        }
    }
}

/// More that is erased takes stack that nothing else needs.
const SPARE: u32 = 40;

/// Builds of one port share a size, which one of them comes near to; those that are not optimised
/// share one of all ports.
#[test]
#[ignore = "minutes: builds all variants"]
fn stack_is_erased_to_its_used_depth_on_every_target() {
    let workspace = Workspace::find().expect("the tests run inside the project");
    let mut too_few = Vec::new();
    let mut spare: BTreeMap<(String, &str), u32> = BTreeMap::new();
    for target in workspace.target_names().expect("the targets") {
        let port = workspace.target(&target).expect("a target").toolchain.map(|toolchain| toolchain.port);
        for variant in VARIANTS {
            for (name, depth) in depths(&target, variant) {
                let line = shown(&target, variant, name, depth);
                println!("{line}");
                let key = match (&port, variant) {
                    (Some(port), variant) if variant != "O0" => (port.clone(), name),
                    _ => ("O0".into(), ""),
                };
                let least = spare.entry(key).or_insert(u32::MAX);
                *least = depth.erased.saturating_sub(depth.used).min(*least);
                too_few.extend((!is_enough(depth)).then_some(line));
            }
        }
    }
    assert!(too_few.is_empty(), "{}", too_few.join("\n"));
    spare.retain(|_, spare| *spare > SPARE);
    assert!(spare.is_empty(), "erased in vain: {spare:?}");
}
