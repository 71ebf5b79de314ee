//! The 68HC08.

use super::check_many;
use super::grown::Soil;
use testkit::random::Random;

/// RAM in the direct page and behind it, the program in flash.
const PART: &str = r#"
name = "hc08"
description = "a 68HC08 without peripherals"
core = "hc08"
default_clock_hz = 8000000
memory = [
    { name = "ram", kind = "ram", start = 0x60, size = 0x800 },
    { name = "flash", kind = "flash", start = 0x1000, size = 0xf000 },
]
"#;

fn instruction(random: &mut Random) -> [u8; 8] {
    let mut bytes = std::array::from_fn(|_| random.byte());
    // What SP is relative to has a prefix.
    match random.below(12) {
        0 => bytes[0] = 0x9e,
        // The direct page.
        1 => bytes[0] = 0x30 | bytes[0] & 0x0f,
        2 => bytes[0] = 0xb0 | bytes[0] & 0x0f,
        _ => {}
    }
    if random.below(2) == 0 {
        bytes[1] = 0x60 + (bytes[1] & 0x7f);
    }
    bytes
}

fn draw(random: &mut Random, register: &str) -> Option<u32> {
    Some(match register {
        "sp" => 0x120,
        "h" => random.below(2),
        "ccr" => random.word() & 0xff,
        "pc" => return None,
        _ => random.byte().into(),
    })
}

static SOIL: Soil = Soil {
    part: PART,
    code: 0x8000,
    no_operation: 0x9d,
    instruction,
    data: 0x60..0x160,
    registers_in_memory: &[],
    registers: &[("a", 0xff), ("h", 0xff), ("x", 0xff), ("ccr", 0x97)],
    draw,
};

#[test]
fn all_that_a_secret_changes_has_a_label() {
    check_many(300, |random| SOIL.program(random, 24));
}
