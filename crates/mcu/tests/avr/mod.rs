//! Machines with programs that avr-gcc makes of a few lines of C.
#![allow(dead_code, reason = "each test takes what it needs")]

use mcu::{Image, Mcu, Part, Segment, new_machine};
use object::read::elf::ElfFile32;
use std::path::PathBuf;
use std::process::Command;

pub const ATMEGA328P: &str = include_str!("../../../../targets/atmega328p.toml");
pub const ATMEGA128L: &str = include_str!("../../../../targets/atmega128l.toml");

/// The program that avr-gcc makes of `body`, which may define functions and a `main`.
pub fn program(name: &str, mcu: &str, body: &str) -> Vec<Segment> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (c, elf) = (folder.join(format!("{name}.c")), folder.join(format!("{name}.elf")));
    let source = format!(
        "#include <avr/io.h>\n#include <avr/interrupt.h>\n#include <avr/sleep.h>\n#include <stdint.h>\n{body}"
    );
    std::fs::write(&c, source).unwrap();
    let status = Command::new("avr-gcc")
        .arg(format!("-mmcu={mcu}"))
        .arg("-Os")
        .arg(&c)
        .arg("-o")
        .arg(&elf)
        .status()
        .expect("avr-gcc runs");
    assert!(status.success());
    let elf = std::fs::read(elf).unwrap();
    let file = ElfFile32::<object::Endianness>::parse(&*elf).unwrap();
    let endian = file.endian();
    file.elf_program_headers()
        .iter()
        .filter(|header| header.p_type.get(endian) == object::elf::PT_LOAD && header.p_filesz.get(endian) > 0)
        .map(|header| {
            let (start, size) = (header.p_offset.get(endian) as usize, header.p_filesz.get(endian) as usize);
            Segment { address: header.p_paddr.get(endian), bytes: elf[start..start + size].to_vec() }
        })
        .collect()
}

/// A machine with that program, reset.
pub fn machine(name: &str, part: &str, mcu: &str, body: &str) -> Box<dyn Mcu> {
    let part = Part::from_toml(part).unwrap();
    let mut machine = new_machine(&part, part.default_clock_hz).unwrap();
    machine.load(&Image { segments: program(name, mcu, body) }).unwrap();
    machine.reset();
    machine
}
