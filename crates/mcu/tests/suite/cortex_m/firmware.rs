//! Compiled C on every core: the results equal those of the same source on the host.

use super::programs::{build, folder, part, run};
use mcu::{Image, Mcu, Segment, Stop, Until, new_machine};
use std::path::Path;
use std::process::Command;

/// What the host computes.
fn expected(count: u32) -> u32 {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mix-host-{count}"));
    let main = program.with_extension("c");
    std::fs::write(
        &main,
        format!(
            "#include <stdint.h>\n#include <stdio.h>\nuint32_t work(uint32_t);\n\
             int main(void) {{ printf(\"%u\", (unsigned)work({count})); }}\n"
        ),
    )
    .expect("the target folder can be written");
    run(Command::new("cc").arg("-O2").arg(folder().join("mix.c")).arg(&main).arg("-o").arg(&program));
    let output = Command::new(&program).output().expect("it was just built");
    String::from_utf8_lossy(&output.stdout).parse().expect("a number")
}

#[test]
fn compiled_code_computes_what_the_host_computes() {
    let expected = expected(20);
    for (target, cpu) in [
        ("stm32f051", "cortex-m0"),
        ("stm32f100", "cortex-m3"),
        ("stm32f407", "cortex-m4"),
        ("stm32f767", "cortex-m7"),
    ] {
        for optimise in ["-O0", "-Os", "-O2", "-O3"] {
            let part = part(target);
            let mut machine: Box<dyn Mcu> = new_machine(&part, 8_000_000).expect("a machine");
            let bytes = build(cpu, optimise, 20);
            let image = Image { segments: vec![Segment { address: 0x0800_0000, bytes }] };
            machine.load(&image).expect("it fits");
            machine.reset();
            let stop = machine.run(&Until { cycles: Some(20_000_000), ..Until::default() });
            assert_eq!(stop, Ok(Stop::Breakpoint), "{target} {optimise}");
            let mut result = [0; 4];
            assert!(machine.peek(0x2000_0000, &mut result));
            assert_eq!(u32::from_le_bytes(result), expected, "{target} {optimise}");
        }
    }
}
