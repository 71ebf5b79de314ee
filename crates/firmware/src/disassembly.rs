//! Instructions as text, by the objdump of the part's toolchain.

use crate::Firmware;
use mcu::CoreName;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

/// An instruction, as objdump shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disassembled {
    /// Its address, as in the ELF file.
    pub address: u32,
    /// Mnemonic and operands.
    pub text: String,
}

/// The programs that disassemble a core's code, the first one that is there to be taken, and the
/// Debian package of the first.
fn disassemblers(core: CoreName) -> (&'static [&'static str], &'static str) {
    match core {
        CoreName::Avr25 | CoreName::Avr5 | CoreName::Avr51 | CoreName::Avr6 => {
            (&["avr-objdump", "llvm-objdump"], "binutils-avr")
        }
        CoreName::CortexM0
        | CoreName::CortexM0Plus
        | CoreName::CortexM3
        | CoreName::CortexM4
        | CoreName::CortexM7 => (&["arm-none-eabi-objdump", "llvm-objdump"], "binutils-arm-none-eabi"),
        CoreName::Msp430x => (&["llvm-objdump", "msp430-elf-objdump"], "llvm"),
        CoreName::QingkeV2 => {
            (&["riscv64-unknown-elf-objdump", "llvm-objdump"], "binutils-riscv64-unknown-elf")
        }
        CoreName::R8c => (&["m32c-elf-objdump"], ""),
        CoreName::Mcs51 | CoreName::Hc08 => (&[], ""),
    }
}

impl Firmware {
    /// The instructions of a range of addresses, as the toolchain's objdump shows them.
    ///
    /// # Errors
    /// Why there are none, as a sentence that says what to do.
    pub fn disassemble(&self, range: Range<u32>) -> Result<Vec<Disassembled>, String> {
        let (programs, package) = disassemblers(self.core());
        let mut problem = match (programs, package) {
            ([], _) => "there is no disassembler for this core".to_owned(),
            ([first, ..], "") => format!("{first} is not on the PATH"),
            ([first, ..], package) => format!("{first} is not on the PATH; install {package}"),
        };
        for program in programs {
            match run(program, self.path(), &range) {
                Ok(found) if !found.is_empty() => return Ok(found),
                Ok(_) => problem = format!("{program} shows nothing of this function"),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => problem = format!("{program}: {error}"),
            }
        }
        Err(problem)
    }
}

fn run(program: &str, elf: &Path, range: &Range<u32>) -> std::io::Result<Vec<Disassembled>> {
    let output = Command::new(program)
        .args(["--disassemble", "--disassemble-zeroes", "--no-show-raw-insn"])
        .arg(format!("--start-address={:#x}", range.start))
        .arg(format!("--stop-address={:#x}", range.end))
        .arg(elf)
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(instruction).filter(|found| range.contains(&found.address)).collect())
}

/// A line such as `  80001a0:<tab>push<tab>{r4, lr}`, of GNU's and of LLVM's objdump.
fn instruction(line: &str) -> Option<Disassembled> {
    let (address, text) = line.split_once(':')?;
    let address = u32::from_str_radix(address.trim(), 16).ok()?;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(Disassembled { address, text })
}

#[cfg(test)]
mod tests {
    use super::{Disassembled, instruction};

    #[test]
    fn parser_reads_both_objdumps_and_skips_other_lines() {
        let found = |address, text: &str| Some(Disassembled { address, text: text.into() });
        assert_eq!(instruction("  80:\tldi\tr24, 0x20\t; 32"), found(0x80, "ldi r24, 0x20 ; 32"));
        assert_eq!(instruction(" 80001a0:      \tpush\t{r4, lr}"), found(0x0800_01a0, "push {r4, lr}"));
        for line in ["00000080 <main>:", "t.elf:     file format elf32-avr", "", "\t..."] {
            assert_eq!(instruction(line), None, "{line}");
        }
    }
}
