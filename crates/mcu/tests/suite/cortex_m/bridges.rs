//! Accesses to peripherals behind the bridges to peripheral buses: `bridges.toml`.

use super::programs::{part, run};
use crate::clock_gates::enabling;
use mcu::{CoreName, Image, MemoryKind, Segment, Stop, Until, new_machine};
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    row: Vec<Row>,
}

/// A sequence and the cycles that each of its repetitions takes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    /// The targets.
    on: Vec<String>,
    what: String,
    /// Ahead of the repetitions.
    setup: String,
    code: String,
    cycles: u64,
    /// The count on the part or the manual's sentence; a row without one follows from the target
    /// file.
    #[serde(default)]
    source: Option<String>,
}

fn rows() -> Vec<Row> {
    toml::from_str::<File>(include_str!("bridges.toml")).expect("bridges.toml").row
}

/// Cycles of a program that runs from the first flash, or from RAM on a part whose flash is a
/// serial one, until it ends.
fn cycles(target: &str, name: &str, source: &str) -> u64 {
    let part = part(target);
    let wanted = if target == "rp2040" { MemoryKind::Ram } else { MemoryKind::Flash };
    let start = part.memories.iter().find(|memory| memory.kind == wanted).expect("a memory").start;
    let cpu = match part.core {
        CoreName::CortexM0 => "cortex-m0",
        CoreName::CortexM0Plus => "cortex-m0plus",
        CoreName::CortexM3 => "cortex-m3",
        _ => "cortex-m4",
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [text, object, elf, binary] =
        ["s", "o", "elf", "bin"].map(|end| folder.join(format!("bridge-{target}-{name}.{end}")));
    let source = format!(
        ".syntax unified\n.thumb\n.text\n.global _start\n.word 0x20001f00, _start + 1\n.thumb_func\n_start:\n\
         {source}\nbkpt 0\n"
    );
    std::fs::write(&text, source).expect("written");
    let cpu = format!("-mcpu={cpu}");
    run(Command::new("arm-none-eabi-as").args([cpu.as_str(), "-mthumb"]).arg(&text).arg("-o").arg(&object));
    let at = format!("-Ttext={start:#x}");
    run(Command::new("arm-none-eabi-ld").arg(at).arg(&object).arg("-o").arg(&elf));
    run(Command::new("arm-none-eabi-objcopy").args(["-O", "binary"]).arg(&elf).arg(&binary));
    let bytes = std::fs::read(binary).expect("objcopy wrote it");
    let mut machine = new_machine(&part, 8_000_000).expect("a machine");
    machine.load(&Image { segments: vec![Segment { address: start, bytes }] }).expect("it fits");
    machine.reset();
    let stop = machine.run(&Until { cycles: Some(100_000), ..Until::default() });
    assert_eq!(stop, Ok(Stop::Breakpoint), "{target}: {name}");
    machine.cycles()
}

#[test]
fn accesses_over_bridges_take_their_cycles() {
    const MORE: u64 = 24;
    let mut wrong = Vec::new();
    for (index, row) in rows().iter().enumerate() {
        for target in &row.on {
            let of = |copies: u64| {
                let setup = format!("{}{}", enabling(target), row.setup.replace(';', "\n"));
                let code = format!("{}\n", row.code.replace(';', "\n")).repeat(copies as usize);
                let source = format!("{setup}\nb 7f\n.ltorg\n.balign 32\n7:\n{code}");
                cycles(target, &format!("{index}-{copies}"), &source)
            };
            let taken = of(8 + MORE) - of(8);
            if taken != MORE * row.cycles {
                let each = taken as f64 / MORE as f64;
                let source = row.source.as_deref().unwrap_or("from the target file");
                wrong.push(format!("{target}: {}: {each}, not {} ({source})", row.what, row.cycles));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
