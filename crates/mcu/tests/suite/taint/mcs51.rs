//! The 8051.

use super::check_many;
use super::grown::Soil;
use testkit::random::Random;

/// The ports' pins are free.
const PART: &str = r#"
name = "mcs51"
description = "an 8051 with port 2, which MOVX @Ri needs"
core = "mcs51"
default_clock_hz = 12000000
clocks_per_cycle = 12
memory = [
    { name = "code", kind = "flash", start = 0x00000, size = 0x10000 },
    { name = "xdata", kind = "ram", start = 0x10000, size = 0x10000 },
    { name = "idata", kind = "ram", start = 0x20000, size = 0x80 },
]
peripheral = [
    { name = "P2", model = "mcs51-port", base = 0x300a0 },
]
"#;

/// Registers that a direct address or the address of a bit may name.
const SPECIAL: [u8; 8] = [0xe0, 0xe0, 0xf0, 0xd0, 0x81, 0x82, 0x83, 0xa0];

fn instruction(random: &mut Random) -> [u8; 8] {
    let mut bytes: [u8; 8] = std::array::from_fn(|_| random.byte());
    match random.below(3) {
        0 => bytes[1] = SPECIAL[random.below(8) as usize] | [0, bytes[1] & 7][random.below(2) as usize],
        1 => bytes[1] &= 0x7f,
        _ => {}
    }
    bytes[2] &= [0xff, 0x07, 0x7f][random.below(3) as usize];
    bytes
}

fn draw(random: &mut Random, register: &str) -> Option<u32> {
    Some(match register {
        // The end of the external RAM, and bytes of the internal.
        "dptr" => 0xff80 + random.below(0x80),
        "sp" => 0x50,
        "psw" => random.word() & 0xdc,
        "pc" => return None,
        _ => u32::from(random.byte()) & [0x7f, 0xff][random.below(2) as usize],
    })
}

static SOIL: Soil = Soil {
    part: PART,
    code: 0x1000,
    no_operation: 0x00,
    instruction,
    // The last of the external RAM and all of the internal.
    data: 0x1_ff80..0x2_0080,
    registers_in_memory: &[0x3_0081, 0x3_0082, 0x3_0083, 0x3_00a0, 0x3_00d0, 0x3_00e0, 0x3_00f0],
    registers: &[("a", 0xff), ("b", 0xff), ("dptr", 0xffff), ("psw", 0xc4)],
    draw,
};

#[test]
fn all_that_a_secret_changes_has_a_label() {
    check_many(200, |random| SOIL.program(random, 24));
}
