//! RV32EC.

use super::{Program, check_many, load, set};
use mcu::{Part, Segment};
use testkit::random::Random;

const PART: &str = include_str!("../../../../../targets/ch32v003.toml");
/// Initial value of the stack pointer.
const MIDDLE: u32 = 0x2000_0200;
const NOP: u32 = 0x13;

/// A data register: not `x2`.
fn x(random: &mut Random) -> u32 {
    [1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0][random.below(15) as usize]
}

fn halves(word: u32) -> Vec<u16> {
    vec![word as u16, (word >> 16) as u16]
}

fn instruction(random: &mut Random) -> Vec<u16> {
    let (rd, rs1, rs2) = (x(random) << 7, x(random) << 15, x(random) << 20);
    let funct3 = random.below(8) << 12;
    let offset = random.below(16) * 4;
    match random.below(16) {
        0..4 => {
            let alternative = if matches!(funct3 >> 12, 0 | 5) { random.below(2) << 30 } else { 0 };
            halves(0x33 | rd | funct3 | rs1 | rs2 | alternative)
        }
        4..7 => match funct3 >> 12 {
            1 => halves(0x13 | rd | funct3 | rs1 | random.below(32) << 20),
            5 => halves(0x13 | rd | funct3 | rs1 | random.below(32) << 20 | random.below(2) << 30),
            _ => halves(0x13 | rd | funct3 | rs1 | random.below(4096) << 20),
        },
        7 => halves(0x37 | rd | random.word() & 0xffff_f000),
        8 | 9 => {
            let width = [0, 1, 2, 4, 5][random.below(5) as usize] << 12;
            halves(0x03 | rd | width | 2 << 15 | offset << 20)
        }
        10 | 11 => {
            halves(0x23 | random.below(3) << 12 | 2 << 15 | rs2 | (offset & 31) << 7 | offset >> 5 << 25)
        }
        // A branch over a NOP: to 8 bytes behind it.
        12 => {
            let kind = [0, 1, 4, 5, 6, 7][random.below(6) as usize] << 12;
            [halves(0x63 | kind | rs1 | rs2 | 8 << 7), halves(NOP)].concat()
        }
        // c.sub, c.xor, c.or, c.and; c.mv and c.add; c.srli, c.srai, c.andi.
        13 => vec![0x8c01 | (random.word() as u16 & 0x03fc)],
        14 => {
            let (to, from) = (1 + random.below(15) as u16, 1 + random.below(15) as u16);
            let to = if to == 2 { 3 } else { to };
            vec![0x8002 | (random.below(2) as u16) << 12 | to << 7 | from << 2]
        }
        // mscratch.
        _ => halves(0x73 | rd | (1 + random.below(3)) << 12 | rs1 | 0x340 << 20),
    }
}

fn program(random: &mut Random) -> Program {
    let part = Part::from_toml(PART).expect("a part");
    let code: Vec<u16> = (0..24).flat_map(|_| instruction(random)).collect();
    let listing = code.iter().map(|half| format!("{half:04x}")).collect::<Vec<_>>().join(" ");
    let end = 2 * code.len() as u32;
    let bytes = code.iter().chain(&[1, 1]).flat_map(|half| half.to_le_bytes()).collect();
    let mut machine = load(&part, vec![Segment { address: 0, bytes }]);
    for register in 0..15 {
        let value = if random.below(3) == 0 { random.below(64) } else { random.word() };
        set(&mut *machine, register, value);
    }
    set(&mut *machine, 1, MIDDLE);
    let data = MIDDLE..MIDDLE + 0x48;
    for address in data.clone() {
        assert!(machine.poke(address, &[random.byte()]));
    }
    let registers = (0..15).filter(|register| *register != 1).map(|register| (register, u32::MAX)).collect();
    Program { machine, end, registers, data, listing }
}

#[test]
fn all_that_a_secret_changes_has_a_label() {
    check_many(300, program);
}
