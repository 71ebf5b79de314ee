//! The Cortex-M3 and M4 beside measurements on silicon: `pipeline_m3_m4.toml`.

use super::programs::{assemble, part};
use mcu::{Image, Mcu, Segment, Stop, Until, new_machine};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

const FLASH: u32 = 0x0800_0000;
/// Bytes that each loop has to itself.
const PITCH: u32 = 256;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    sources: BTreeMap<String, String>,
    sequence: Vec<Sequence>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sequence {
    what: String,
    source: String,
    code: String,
    #[serde(default)]
    ops: Vec<String>,
    #[serde(default)]
    two_blocks: bool,
    m3: Option<u64>,
    m4: Option<u64>,
}

/// A sequence with its figure, as it stands in the source of the program.
struct Case {
    code: String,
    two_blocks: bool,
    cycles: u64,
    what: String,
}

/// The cases that say something of a core.
fn cases(cycles_of: fn(&Sequence) -> Option<u64>) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/cortex_m/pipeline_m3_m4.toml");
    let text = std::fs::read_to_string(path).expect("the file is there");
    let file: File = toml::from_str(&text).expect("a valid file");
    let mut cases = Vec::new();
    for sequence in &file.sequence {
        assert!(file.sources.contains_key(&sequence.source), "{}: no such source", sequence.source);
        let Some(cycles) = cycles_of(sequence) else { continue };
        let none = [String::new()];
        let ops = if sequence.ops.is_empty() { &none } else { sequence.ops.as_slice() };
        for op in ops {
            let code = sequence.code.replace("{}", op).replace("{{", "{").replace("}}", "}");
            let what = format!("{} ({}): {code}", sequence.what, sequence.source);
            cases.push(Case { code, two_blocks: sequence.two_blocks, cycles, what });
        }
    }
    cases
}

/// Loops of four moves, the code, four moves, each at a multiple of [`PITCH`]; the first without
/// code.
fn program(cases: &[Case]) -> String {
    let moves = "mov r8, r8\n".repeat(4);
    let mut text = String::new();
    for (index, code) in std::iter::once("").chain(cases.iter().map(|case| case.code.as_str())).enumerate() {
        let code = code.replace("; ", "\n");
        text += &format!(".balign {PITCH}\nloop{index}:\n{moves}{code}\n{moves}b.n loop{index}\n");
    }
    text
}

/// Cycles of a round of the loop at `start`, the fourth.
fn round(machine: &mut dyn Mcu, start: u32, block: u32, other: u32) -> u64 {
    let mut cycles = 0;
    machine.set_pc(start);
    for _ in 0..4 {
        for (name, value) in [
            ("r0", 0),
            ("r1", block),
            ("r2", block + 0x100),
            ("r3", block + 0x200),
            ("r4", 0x1234_5678),
            ("r5", 3),
            ("r6", 5),
            ("r7", other),
        ] {
            assert!(machine.set_register(name, value));
        }
        let before = machine.cycles();
        let stop = machine.run(&Until { cycles: Some(before + 10_000), addresses: vec![start] });
        assert_eq!(stop, Ok(Stop::Address(start)));
        cycles = machine.cycles() - before;
    }
    cycles
}

/// Runs the cases with their data in each of `blocks`, the other block the one after it, at each
/// setting of FLASH_ACR.
fn check(target: &str, cpu: &str, cases: &[Case], blocks: &[u32], acr: u32, settings: &[u32]) {
    let has_float = cpu == "cortex-m4";
    let fpu = if has_float { ".fpu fpv4-sp-d16\n" } else { "" };
    let bytes = assemble(cpu, "pipeline", &format!("{fpu}{}", program(cases)));
    let mut wrong = Vec::new();
    for &setting in settings {
        let mut machine = new_machine(&part(target), 24_000_000).expect("a machine");
        // STR r6, [r1]; BKPT behind the loops.
        let mut all = bytes.clone();
        let prologue = FLASH + all.len() as u32;
        all.extend([0x0e, 0x60, 0x00, 0xbe]);
        machine.load(&Image { segments: vec![Segment { address: FLASH, bytes: all }] }).expect("it fits");
        // There is no vector table: the loops begin where it would be.
        let writes = [(acr, setting), (0xe000_ed88, 0xf0_0000)];
        // FLASH_ACR, and CPACR where there is a floating-point unit.
        for (address, value) in &writes[..if has_float { 2 } else { 1 }] {
            machine.set_pc(prologue);
            assert!(machine.set_register("r1", *address) && machine.set_register("r6", *value));
            let until = Until { cycles: Some(machine.cycles() + 1_000), ..Until::default() };
            assert_eq!(machine.run(&until), Ok(Stop::Breakpoint));
        }
        for (index, &block) in blocks.iter().enumerate() {
            let other = blocks[(index + 1) % blocks.len()];
            let bare = round(machine.as_mut(), FLASH, block, other);
            for (case, start) in cases.iter().zip((FLASH + PITCH..).step_by(PITCH as usize)) {
                if case.two_blocks && blocks.len() == 1 {
                    continue;
                }
                let cycles = round(machine.as_mut(), start, block, other) - bare;
                if cycles != case.cycles {
                    wrong.push(format!(
                        "FLASH_ACR {setting:#x}, data at {block:#x}: {cycles}, not {}: {}",
                        case.cycles, case.what
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{target}: {} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn cortex_m3_takes_the_cycles_measured_on_the_stm32f103() {
    // STM32F100: no wait states at any clock; prefetch on and off.
    let settings = [0x30, 0];
    check("stm32f100", "cortex-m3", &cases(|s| s.m3), &[0x2000_0000], 0x4002_2000, &settings);
}

#[test]
fn cortex_m4_takes_the_cycles_measured_on_the_stm32f407() {
    // ICEN and DCEN, without and with PRFTEN, at 0 to 5 wait states.
    let settings: Vec<u32> = (0..=5).flat_map(|waits| [0x600 | waits, 0x700 | waits]).collect();
    let blocks = [0x2000_0000, 0x1000_0000];
    check("stm32f407", "cortex-m4", &cases(|s| s.m4), &blocks, 0x4002_3c00, &settings);
}
