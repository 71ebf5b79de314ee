//! The AVR.

use super::{Program, check_many, load, set};
use crate::avr::programs::{ATMEGA328P, ATMEGA2560};
use mcu::{Part, Segment, Until};
use testkit::random::Random;

const DATA: u32 = 0x80_0000;

/// Instructions that neither sleep nor jump far, and leave Y and the stack pointer as they are.
fn instruction(random: &mut Random) -> Vec<u16> {
    let word = random.word() as u16;
    // A destination other than Y, and one of r16 to r27.
    let d = [0, 1, 2, 7, 15, 16, 17, 24, 25, 26, 27, 30, 31][random.below(13) as usize];
    let d_high = 16 + random.below(12) as u16;
    let r5 = word & 0x0f | word << 5 & 0x200;
    let k = word & 0xf0f;
    match random.below(24) {
        0..7 => {
            let opcode =
                [0x0400, 0x0800, 0x0c00, 0x1000, 0x1400, 0x1800, 0x1c00, 0x2000, 0x2400, 0x2800, 0x2c00];
            let opcode = opcode[random.below(11) as usize];
            // CPSE skips one word.
            let skipped = if opcode == 0x1000 { vec![0x0000] } else { Vec::new() };
            [vec![opcode | r5 | d << 4], skipped].concat()
        }
        7 | 8 => vec![
            [0x3000, 0x4000, 0x5000, 0x6000, 0x7000, 0xe000][random.below(6) as usize]
                | k
                | (d_high - 16) << 4,
        ],
        9 => vec![0x0100 | [0, 1, 2, 8, 12, 13, 15][random.below(7) as usize] << 4 | word & 15],
        10 => vec![0x9c00 | r5 | (word & 31) << 4],
        11 => vec![[0x0200 | word & 0xff, 0x0300 | word & 0xff][random.below(2) as usize]],
        12..15 => {
            let opcode = [0, 1, 2, 3, 5, 6, 7, 10][random.below(8) as usize];
            vec![0x9400 | d << 4 | opcode]
        }
        15 => vec![0x9600 | word & 0xff & !0x30 | [0, 0x10, 0x30][random.below(3) as usize] | word & 0x100],
        16 => vec![[0x9408, 0x9488][random.below(2) as usize] | (word & 7).min(6) << 4],
        17 => vec![[0xf800, 0xfa00][random.below(2) as usize] | d << 4 | word & 7],
        18 => vec![[0xfc00, 0xfe00][random.below(2) as usize] | d << 4 | word & 7, 0x0000],
        // A branch over one word; never on I.
        19 => vec![[0xf000, 0xf400][random.below(2) as usize] | 1 << 3 | (word & 7).min(6), 0x0000],
        // LDD and STD at Y, PUSH and POP.
        20 | 21 => vec![[0x8008, 0x8208][random.below(2) as usize] | d << 4 | word & 7],
        22 => vec![[0x920f, 0x900f][random.below(2) as usize] | d << 4],
        // SREG through IN and OUT, I kept clear by what is written: only bits of data.
        _ => match random.below(3) {
            0 => vec![0xb60f | d << 4],
            1 => vec![0x9004 | d << 4],
            // LD and ST of a working register through its address: LDS, STS.
            _ => vec![[0x9000, 0x9200][random.below(2) as usize] | d << 4, 2 + (word & 7)],
        },
    }
}

fn program(part: &str, random: &mut Random) -> Program {
    let part = Part::from_toml(part).expect("a part");
    let code: Vec<u16> = (0..24).flat_map(|_| instruction(random)).collect();
    let listing = code.iter().map(|word| format!("{word:04x}")).collect::<Vec<_>>().join(" ");
    let end = 2 * code.len() as u32;
    // Whatever is skipped last, the program ends.
    let bytes = code.iter().chain(&[0, 0, 0]).flat_map(|word| word.to_le_bytes()).collect();
    let mut machine = load(&part, vec![Segment { address: 0, bytes }]);
    let data = DATA + 0x400..DATA + 0x440;
    for register in 0..32 {
        set(&mut *machine, register, random.byte().into());
    }
    set(&mut *machine, 32, u32::from(random.byte()) & 0x7f);
    set(&mut *machine, 33, 0x420);
    set(&mut *machine, 28, 0x10);
    set(&mut *machine, 29, 0x04);
    // Z points to the beginning of the flash, for LPM.
    set(&mut *machine, 31, 0);
    for address in data.clone() {
        assert!(machine.poke(address, &[random.byte()]));
    }
    let mut registers: Vec<(usize, u32)> =
        (0..32).filter(|register| !(28..30).contains(register)).map(|register| (register, 0xff)).collect();
    registers.push((32, 0x7f));
    Program { machine, end, registers, data, listing }
}

#[test]
fn all_that_a_secret_changes_has_a_label() {
    check_many(500, |random| program(ATMEGA328P, random));
    check_many(100, |random| program(ATMEGA2560, random));
}

/// libgcc's `__ashrdi3` keeps a sign in R1, shifts it out, and its callers take R1 for 0.
#[test]
fn bit_0_of_a_register_is_public_once_it_is_shifted_out() {
    const BST_R25_7: u16 = 0xfb97;
    const BLD_R1_0: u16 = 0xf810;
    const BLD_R1_1: u16 = 0xf811;
    const LSR_R1: u16 = 0x9416;
    const CPI_R30_15: u16 = 0x30ef;
    const CPC_R31_R1: u16 = 0x05f1;
    const BRLT: u16 = 0xf004;
    const BRCS: u16 = 0xf000;
    const STS_R1_LDS_R31: [u16; 4] = [0x9210, 0x0420, 0x91f0, 0x0420];
    let part = Part::from_toml(ATMEGA328P).expect("a part");
    let leaks = |code: &[u16]| {
        let bytes = code.iter().chain(&[0, 0]).flat_map(|word| word.to_le_bytes()).collect();
        let mut machine = load(&part, vec![Segment { address: 0, bytes }]);
        let mut taint = machine.taint();
        taint.label_register(25, 0xff, 1);
        let until = Until { cycles: None, addresses: vec![2 * code.len() as u32] };
        machine.run_tainted(&until, &mut taint).expect("it runs");
        taint.finish();
        taint.leaks().len()
    };
    assert_eq!(leaks(&[BST_R25_7, BLD_R1_0, LSR_R1, CPI_R30_15, CPC_R31_R1, BRLT]), 0);
    assert_eq!(leaks(&[BST_R25_7, BLD_R1_0, CPI_R30_15, CPC_R31_R1, BRLT]), 1, "bit 0 is there");
    assert_eq!(leaks(&[BST_R25_7, BLD_R1_0, LSR_R1, BRCS]), 1, "the carry has it");
    assert_eq!(leaks(&[BST_R25_7, BLD_R1_1, LSR_R1, CPI_R30_15, CPC_R31_R1, BRLT]), 1, "bit 1 moves");
    let stored = [&[BST_R25_7, BLD_R1_0][..], &STS_R1_LDS_R31, &[CPI_R30_15, CPC_R31_R1, BRLT]].concat();
    assert_eq!(leaks(&stored), 1, "memory keeps it");
}
