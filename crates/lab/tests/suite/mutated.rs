//! ELF files with bytes that are not as the linker wrote them: `measure` has an answer to each, and
//! never a panic.

use crate::bare::{request, try_measure};
use lab::measure::Request;
use testkit::random::{self, Random, seed};

/// A program of the target that calls a function and ends.
fn program(target: &str) -> String {
    let (head, call, back) = match target {
        "atmega328p" => ("", "rcall work\n1: rjmp 1b", "ret"),
        "msp430f5438a" => ("mov #0x5c00, r1\nmov #0x5a80, &0x015c", "call #work\n1: jmp 1b", "ret"),
        _ => (".syntax unified\n.word 0x20001000, start + 1\n.thumb_func", "bl work\n1: b 1b", "bx lr"),
    };
    let (before, after) = if target.starts_with("stm32") { (head, "") } else { ("", head) };
    format!("{before}\nfunction start\n{after}\n{call}\nend start\nfunction work\nnop\n{back}\nend work\n")
}

/// Two hundred files a target in the tests, ten thousand with `WATTSEAL_ORACLE=long`.
#[test]
fn mutated_elf_files_are_survived() {
    let mut random = Random::new(seed());
    for target in ["atmega328p", "msp430f5438a", "stm32f407"] {
        let asked = Request { max_cycles: 20_000, ..request(target, &program(target)) };
        let whole = std::fs::read(&asked.setup.elf).expect("linked");
        let mut outcomes = [0_usize; 2];
        for _ in 0..random::instructions(200, 10_000) {
            let mut bytes = whole.clone();
            for _ in 0..=random.below(4) {
                // Half of them in the head and the tables behind it.
                let reach = if random.below(2) == 0 { 0x100.min(bytes.len()) } else { bytes.len() };
                let at = random.below(reach as u32) as usize;
                bytes[at] = match random.below(3) {
                    0 => bytes[at] ^ 1 << random.below(8),
                    1 => [0, 0x7f, 0x80, 0xff][random.below(4) as usize],
                    _ => random.below(256) as u8,
                };
            }
            if random.below(8) == 0 {
                bytes.truncate(random.below(bytes.len() as u32) as usize);
            }
            std::fs::write(&asked.setup.elf, &bytes).expect("written");
            outcomes[usize::from(try_measure(&asked).is_ok())] += 1;
        }
        assert!(outcomes.iter().all(|&count| count > 0), "{target}: {outcomes:?}");
    }
}

/// Found by the seed 1795456134693936342: sections that end beyond the address space.
#[test]
fn sections_may_have_any_size() {
    let asked = request("stm32f407", &program("stm32f407"));
    let mut bytes = std::fs::read(&asked.setup.elf).expect("linked");
    let half = |bytes: &[u8], at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    // e_shoff, e_shentsize and e_shnum; sh_size.
    let table = u32::from_le_bytes(bytes[0x20..0x24].try_into().expect("four")) as usize;
    let (size, count) = (half(&bytes, 0x2e), half(&bytes, 0x30));
    for section in 0..count {
        let at = table + section * size + 0x14;
        bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    }
    std::fs::write(&asked.setup.elf, &bytes).expect("written");
    let _ = try_measure(&asked);
}
