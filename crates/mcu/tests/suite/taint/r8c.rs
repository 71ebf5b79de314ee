//! The R8C.

use super::check_many;
use super::grown::{Soil, address};
use testkit::random::Random;

const PART: &str = r#"
name = "r8c"
description = "an R8C without peripherals"
core = "r8c"
default_clock_hz = 20000000
memory = [
    { name = "ram", kind = "ram", start = 0x400, size = 0x800 },
    { name = "flash", kind = "flash", start = 0x1000, size = 0xff000 },
]
"#;

/// Opcodes of two bytes more often than the others.
fn instruction(random: &mut Random) -> [u8; 8] {
    let mut bytes: [u8; 8] = std::array::from_fn(|_| random.byte());
    if random.below(2) == 0 {
        bytes[0] = [0x74, 0x75, 0x76, 0x77, 0x7a, 0x7b, 0x7c, 0x7d, 0x7e, 0xeb][random.below(10) as usize];
    }
    // Small displacements.
    if random.below(2) == 0 {
        bytes[2] &= 0x1f;
    }
    // The contexts of tasks have no description: LDCTX and STCTX.
    if matches!(bytes[0], 0x7c | 0x7d) && bytes[1] == 0xf0 {
        bytes[1] = 0xf1;
    }
    bytes
}

fn draw(random: &mut Random, register: &str) -> Option<u32> {
    let register = register.rsplit('.').next().unwrap_or(register);
    Some(match register {
        "sp" | "pc" => return None,
        "usp" | "isp" => 0x580,
        // Neither single steps nor, for now, another bank.
        "flg" => random.word() & 0x70ed,
        "r3" => random.below(8),
        "r1" => random.word() & 0x07ff,
        "a0" | "a1" | "fb" | "sb" => address(random, 0x500..0x600),
        "intb" => 0x500,
        _ => random.word() & [0xffff, 0xff][random.below(2) as usize],
    })
}

static SOIL: Soil = Soil {
    part: PART,
    code: 0x8000,
    no_operation: 0x04,
    instruction,
    data: 0x480..0x680,
    registers_in_memory: &[],
    registers: &[
        ("bank0.r0", 0xffff),
        ("bank0.r1", 0xffff),
        ("bank0.r2", 0xffff),
        ("bank0.r3", 0xffff),
        ("bank0.a0", 0xffff),
        ("bank0.a1", 0xffff),
        ("bank0.fb", 0xffff),
        ("bank1.r0", 0xffff),
        ("bank1.r1", 0xffff),
        ("bank1.r2", 0xffff),
        ("bank1.r3", 0xffff),
        ("bank1.a0", 0xffff),
        ("bank1.a1", 0xffff),
        ("bank1.fb", 0xffff),
        ("sb", 0xffff),
        ("flg", 0x2d),
    ],
    draw,
};

#[test]
fn all_that_a_secret_changes_has_a_label() {
    check_many(100, |random| SOIL.program(random, 20));
}
