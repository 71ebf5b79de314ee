//! Builds the firmware of the Cortex-M tests and benchmarks with the cross compiler.

use mcu::Part;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A number for each program: tests that run side by side may give theirs the same name.
#[allow(dead_code, reason = "the benchmark does not need all")]
pub fn number() -> u32 {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

/// Runs a command that must succeed.
#[allow(dead_code, reason = "the benchmark does not need all")]
pub fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Folder of the sources.
#[allow(dead_code, reason = "the benchmark does not need all")]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/cortex_m")
}

/// The bytes of `mix.c` for a core, linked at the flash of the STM32 parts; the result is at
/// 0x20000000.
#[allow(dead_code, reason = "the benchmark does not need all")]
pub fn build(cpu: &str, optimise: &str, count: u32) -> Vec<u8> {
    build_source("mix", cpu, &["-mfloat-abi=soft"], optimise, count)
}

/// As [`build`], of another source beside `mix.c`, with the compiler's options for floating point.
#[allow(dead_code, reason = "the benchmark does not need all")]
pub fn build_source(source: &str, cpu: &str, float: &[&str], optimise: &str, count: u32) -> Vec<u8> {
    let name = format!("{source}-{cpu}{optimise}-{count}-{}", number());
    let elf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.elf"));
    let binary = elf.with_extension("bin");
    run(Command::new("arm-none-eabi-gcc")
        .args(["-mthumb", "-ffreestanding", "-nostdlib", "-fno-tree-loop-distribute-patterns"])
        .args(float)
        .arg(format!("-mcpu={cpu}"))
        .arg(optimise)
        .arg(format!("-DCOUNT={count}"))
        .arg("-T")
        .arg(folder().join("mix.ld"))
        .arg(folder().join(format!("{source}.c")))
        .arg("-o")
        .arg(&elf)
        .arg("-lgcc"));
    run(Command::new("arm-none-eabi-objcopy").args(["-O", "binary"]).arg(&elf).arg(&binary));
    std::fs::read(binary).expect("objcopy wrote it")
}

/// A target.
pub fn part(name: &str) -> Part {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../../targets/{name}.toml"));
    Part::from_toml(&std::fs::read_to_string(file).expect("a target file")).expect("a valid target file")
}

/// The bytes of an assembly program for a core, linked at the start of the flash.
#[allow(dead_code, reason = "the benchmark does not need all")]
pub fn assemble(cpu: &str, name: &str, source: &str) -> Vec<u8> {
    let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{cpu}-{}.o", number()));
    let file = object.with_extension("s");
    let binary = object.with_extension("bin");
    std::fs::write(&file, format!(".syntax unified\n.thumb\n.text\n{source}\n")).expect("written");
    run(Command::new("arm-none-eabi-as")
        .arg(format!("-mcpu={cpu}"))
        .arg("-mthumb")
        .arg(&file)
        .arg("-o")
        .arg(&object));
    let linked = object.with_extension("elf");
    run(Command::new("arm-none-eabi-ld").arg("-Ttext=0x08000000").arg(&object).arg("-o").arg(&linked));
    run(Command::new("arm-none-eabi-objcopy").args(["-O", "binary"]).arg(&linked).arg(&binary));
    std::fs::read(binary).expect("objcopy wrote it")
}
