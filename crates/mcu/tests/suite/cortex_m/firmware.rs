//! Compiled C on every core: the results equal those of the same source on the host.

use super::programs::{build, build_source, folder, part, run};
use mcu::{Image, Mcu, Segment, Stop, Until, new_machine};
use std::path::Path;
use std::process::Command;

/// Result of the program on the host.
fn expected(source: &str, count: u32) -> u32 {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{source}-host-{count}"));
    let main = program.with_extension("c");
    std::fs::write(
        &main,
        format!(
            "#include <stdint.h>\n#include <stdio.h>\nuint32_t work(uint32_t);\n\
             int main(void) {{ printf(\"%u\", (unsigned)work({count})); }}\n"
        ),
    )
    .expect("the target folder can be written");
    run(Command::new("cc")
        .args(["-O2", "-ffp-contract=off"])
        .arg(folder().join(format!("{source}.c")))
        .arg(&main)
        .arg("-o")
        .arg(&program)
        .arg("-lm"));
    let output = Command::new(&program).output().expect("it was just built");
    String::from_utf8_lossy(&output.stdout).parse().expect("a number")
}

/// First word of RAM when a program comes to its BKPT.
fn result(target: &str, bytes: Vec<u8>, what: &str) -> u32 {
    let mut machine: Box<dyn Mcu> = new_machine(&part(target), 8_000_000).expect("a machine");
    machine.load(&Image { segments: vec![Segment { address: 0x0800_0000, bytes }] }).expect("it fits");
    machine.reset();
    let stop = machine.run(&Until { cycles: Some(20_000_000), ..Until::default() });
    assert_eq!(stop, Ok(Stop::Breakpoint), "{target} {what}");
    let mut word = [0; 4];
    assert!(machine.peek(0x2000_0000, &mut word));
    u32::from_le_bytes(word)
}

#[test]
fn compiled_code_has_the_host_s_result() {
    let expected = expected("mix", 20);
    for (target, cpu) in [
        ("stm32f051", "cortex-m0"),
        ("stm32f100", "cortex-m3"),
        ("stm32f407", "cortex-m4"),
        ("stm32f767", "cortex-m7"),
    ] {
        for optimise in ["-O0", "-Os", "-O2", "-O3"] {
            let bytes = build(cpu, optimise, 20);
            assert_eq!(result(target, bytes, optimise), expected, "{target} {optimise}");
        }
    }
}

#[test]
fn hard_float_code_has_the_host_s_result() {
    let expected = expected("float", 20);
    for (target, cpu, fpu) in
        [("stm32f407", "cortex-m4", "-mfpu=fpv4-sp-d16"), ("stm32f767", "cortex-m7", "-mfpu=fpv5-d16")]
    {
        for optimise in ["-O0", "-Os", "-O2", "-O3"] {
            let options = ["-mfloat-abi=hard", fpu, "-ffp-contract=off", "-fno-math-errno"];
            let bytes = build_source("float", cpu, &options, optimise, 20);
            assert_eq!(result(target, bytes, optimise), expected, "{target} {optimise}");
        }
    }
}
