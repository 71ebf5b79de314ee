//! Machines with programs that avr-gcc makes of a few lines of C.

use mcu::{Image, Mcu, Part, Segment, new_machine};
use object::read::elf::ElfFile32;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

pub const ATMEGA328P: &str = include_str!("../../../../../targets/atmega328p.toml");
pub const ATMEGA324PA: &str = include_str!("../../../../../targets/atmega324pa.toml");
pub const ATMEGA2560: &str = include_str!("../../../../../targets/atmega2560.toml");
pub const ATMEGA32U4: &str = include_str!("../../../../../targets/atmega32u4.toml");
pub const ATTINY85: &str = include_str!("../../../../../targets/attiny85.toml");
pub const ATMEGA128L: &str = include_str!("../../../../../targets/atmega128l.toml");

/// The ELF file that avr-gcc makes of a source.
pub fn compile(name: &str, mcu: &str, source: &str, options: &[&str]) -> Vec<u8> {
    // Tests that run at the same time may give their programs the same name.
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("{name}-{mcu}-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (c, elf) = (folder.join(format!("{name}.c")), folder.join(format!("{name}.elf")));
    std::fs::write(&c, source).unwrap();
    let mut command = Command::new("avr-gcc");
    command.arg(format!("-mmcu={mcu}")).args(options).arg(&c).arg("-o").arg(&elf);
    assert!(command.status().expect("avr-gcc runs").success());
    std::fs::read(elf).unwrap()
}

/// Loadable contents of an ELF file.
pub fn image(elf: &[u8]) -> Image {
    let file = ElfFile32::<object::Endianness>::parse(elf).unwrap();
    let endian = file.endian();
    let segments = file
        .elf_program_headers()
        .iter()
        .filter(|header| header.p_type.get(endian) == object::elf::PT_LOAD && header.p_filesz.get(endian) > 0)
        .map(|header| {
            let (start, size) = (header.p_offset.get(endian) as usize, header.p_filesz.get(endian) as usize);
            Segment { address: header.p_paddr.get(endian), bytes: elf[start..start + size].to_vec() }
        })
        .collect();
    Image { segments }
}

/// The program that avr-gcc makes of `body`, which may define functions and a `main`.
pub fn program(name: &str, mcu: &str, body: &str) -> Image {
    let source = format!(
        "#include <avr/io.h>\n#include <avr/interrupt.h>\n#include <avr/fuse.h>\n#include <avr/sleep.h>\n#include <stdint.h>\n{body}"
    );
    image(&compile(name, mcu, &source, &["-Os"]))
}

/// A machine with an image, reset, at its part's own clock.
pub fn loaded(part: &str, image: &Image) -> Box<dyn Mcu> {
    let part = Part::from_toml(part).unwrap();
    let mut machine = new_machine(&part, part.default_clock_hz).unwrap();
    machine.load(image).unwrap();
    machine.reset();
    machine
}

/// A machine with that program, reset.
pub fn machine(name: &str, part: &str, mcu: &str, body: &str) -> Box<dyn Mcu> {
    loaded(part, &program(name, mcu, body))
}
