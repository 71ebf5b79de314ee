//! The Cortex-M0+ of the SAM D21 against Arm's table of cycles.
//!
//! `m0plus.toml` has the table, and the waits for the flash.

use super::programs::{part, run};
use mcu::{Image, Mcu, Part, Segment, Stop, Until, new_machine};
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    row: Vec<Row>,
    waiting: Vec<Waiting>,
}

/// A sequence and its cycles without wait states.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    what: String,
    code: Vec<String>,
    cycles: u64,
}

/// A loop and the cycles of a turn, with NVMCTRL.CTRLB set.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Waiting {
    what: String,
    code: String,
    control_b: u32,
    cycles: u64,
}

fn file() -> File {
    toml::from_str(include_str!("m0plus.toml")).expect("m0plus.toml")
}

/// The bytes of a program at address 0, behind a vector table.
fn assemble(name: &str, source: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [text, object, elf, binary] =
        ["s", "o", "elf", "bin"].map(|end| folder.join(format!("m0plus-{name}.{end}")));
    let source = format!(
        ".syntax unified\n.thumb\n.text\n.global _start\n.word 0x20001f00, _start + 1\n.thumb_func\n_start:\n{source}\nbkpt 0\n\
         .ltorg\n.balign 4\n"
    );
    std::fs::write(&text, source).expect("written");
    run(Command::new("arm-none-eabi-as")
        .args(["-mcpu=cortex-m0plus", "-mthumb"])
        .arg(&text)
        .arg("-o")
        .arg(&object));
    run(Command::new("arm-none-eabi-ld").arg("-Ttext=0").arg(&object).arg("-o").arg(&elf));
    run(Command::new("arm-none-eabi-objcopy").args(["-O", "binary"]).arg(&elf).arg(&binary));
    std::fs::read(binary).expect("objcopy wrote it")
}

/// A machine with a program.
fn machine(part: &Part, name: &str, source: &str) -> Box<dyn Mcu> {
    let mut machine = new_machine(part, 24_000_000).expect("a machine");
    let bytes = assemble(name, source);
    machine.load(&Image { segments: vec![Segment { address: 0, bytes }] }).expect("it fits");
    machine.reset();
    machine
}

fn finish(machine: &mut dyn Mcu, what: &str) -> u64 {
    let stop = machine.run(&Until { cycles: Some(machine.cycles() + 1_000_000), ..Until::default() });
    assert_eq!(stop, Ok(Stop::Breakpoint), "{what}: {:x?}", machine.registers());
    machine.cycles()
}

fn register(machine: &dyn Mcu, name: &str) -> u32 {
    machine.registers().into_iter().find(|(known, _)| known == name).expect("a register").1
}

/// Cycles of a sequence: a tenth of what ten more copies take.
fn one(name: &str, code: &str) -> u64 {
    let of = |copies: usize| {
        let setup = "ldr r1, =0x20000100\nldr r2, =0x60000000\nldr r3, =0x20000200\nmovs r5, #3\nldr r4, =0x12345678\n";
        // Literals near, behind a branch over them.
        let source = format!(
            "{setup}b 7f\n.ltorg\n.balign 4\n7:\n{}",
            format!("{}\n", code.replace(';', "\n")).repeat(copies)
        );
        finish(machine(&part("samd21"), &format!("{name}-{copies}"), &source).as_mut(), code)
    };
    let ten = of(14) - of(4);
    assert_eq!(ten % 10, 0, "{code}: the same cycles each time, {ten} in ten");
    ten / 10
}

#[test]
fn cortex_m0plus_rows() {
    let mut wrong = Vec::new();
    for (index, row) in file().row.iter().enumerate() {
        for (variant, code) in row.code.iter().enumerate() {
            let cycles = one(&format!("{index}-{variant}"), code);
            if cycles != row.cycles {
                wrong.push(format!("{}: {code}: {cycles}, not {}", row.what, row.cycles));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn cortex_m0plus_waits_for_the_flash() {
    for (index, row) in file().waiting.iter().enumerate() {
        let of = |turns: u32| {
            let source = format!(
                "ldr r0, =0x41004004\nldr r1, ={}\nstr r1, [r0]\nldr r7, ={turns}\nmovs r6, #0\nb 1f\n.ltorg\n.balign 64\n1:\n{}\n\
                 subs r7, #1\nbne 1b",
                row.control_b,
                row.code.replace(';', "\n")
            );
            finish(machine(&part("samd21"), &format!("wait-{index}-{turns}"), &source).as_mut(), &row.what)
        };
        let ten = of(14) - of(4);
        assert_eq!(ten, 10 * row.cycles, "{}", row.what);
    }
}

/// DDI 0484C: the vector table can be moved, an interrupt is taken 15 cycles after it is asked for.
#[test]
fn vector_table_moves_and_interrupts_take_fifteen_cycles() {
    let source = "
        ldr r0, =0xe000ed08
        ldr r1, =0x20000400
        str r1, [r0]
        ldr r2, [r0]
        ldr r3, =handler + 1
        str r3, [r1, #56]
        ldr r0, =0xe000ed04
        ldr r1, =0x10000000
        ldr r4, =0xe000e010
        ldr r5, =0x00ffffff
        str r5, [r4, #4]
        str r5, [r4, #8]
        movs r5, #5
        str r5, [r4]
        ldr r6, [r4, #8]
        str r1, [r0]
        nop
        bkpt 1
        .thumb_func
        handler:
        ldr r7, [r4, #8]";
    let mut machine = machine(&part("samd21"), "vtor", source);
    finish(machine.as_mut(), "vtor");
    assert_eq!(register(machine.as_ref(), "r2"), 0x2000_0400);
    let between = register(machine.as_ref(), "r6") - register(machine.as_ref(), "r7");
    // LDR and STR two cycles each; the counter is read in the same cycle of both loads.
    assert_eq!(between, 2 + 2 + 15);
}
