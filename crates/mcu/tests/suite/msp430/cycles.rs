//! A test per row of the manual's cycle tables: SLAU208, chapter CPUX.
//!
//! The tables are written down here as the manual prints them, footnotes as footnotes. Table
//! numbers are those of SLAU445I, chapter 4, which has the same core.

use super::programs::part;
use mcu::{Mcu, Stop, Until, new_machine};

const PC: u32 = 0x2000;

fn machine() -> Box<dyn Mcu> {
    let part = part();
    let mut machine = new_machine(&part, 25_000_000).expect("machine");
    for (name, value) in [("r5", 0x3000), ("r6", 0x3100), ("r7", 0x3200), ("sp", 0x4000), ("pc", PC)] {
        assert!(machine.set_register(name, value));
    }
    machine
}

/// Cycles and length in words of one instruction, given as its words; the length only where
/// execution goes on behind.
fn run(machine: &mut dyn Mcu, words: &[u16]) -> (u64, u32) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert!(machine.poke(PC, &bytes));
    let before = machine.cycles();
    let until = Until { cycles: Some(before + 1), addresses: Vec::new() };
    assert_eq!(machine.run(&until), Ok(Stop::Cycles), "{words:04x?}");
    (machine.cycles() - before, machine.pc().wrapping_sub(PC) / 2)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Rn,
    At,
    AtPlus,
    Immediate,
    Indexed,
    Symbolic,
    Absolute,
    Pc,
}
use Mode::{Absolute, At, AtPlus, Immediate, Indexed, Pc, Rn, Symbolic};

/// Bits of the source register and As, and whether a word follows.
fn source(mode: Mode) -> (u16, Option<u16>) {
    match mode {
        Rn => (0x500, None),
        At => (0x520, None),
        AtPlus => (0x530, None),
        Immediate => (0x030, Some(0x1234)),
        Indexed => (0x510, Some(0x0010)),
        Symbolic => (0x010, Some(0x1000)),
        Absolute => (0x210, Some(0x3300)),
        Pc => unreachable!("no row has it"),
    }
}

fn destination(mode: Mode) -> (u16, Option<u16>) {
    match mode {
        Rn => (7, None),
        Pc => (0, None),
        Indexed => (0x86, Some(0x0020)),
        Symbolic => (0x80, Some(0x1100)),
        Absolute => (0x82, Some(0x3400)),
        _ => unreachable!("no row has it"),
    }
}

fn double(opcode: u16, byte: bool, from: Mode, to: Mode) -> Vec<u16> {
    let ((source, first), (destination, second)) = (source(from), destination(to));
    let word = opcode << 12 | source | destination | if byte { 0x40 } else { 0 };
    std::iter::once(word).chain(first).chain(second).collect()
}

fn extended(address: bool, words: Vec<u16>) -> Vec<u16> {
    std::iter::once(if address { 0x1800 } else { 0x1840 }).chain(words).collect()
}

const MOV: u16 = 4;
const ADD: u16 = 5;
const SUB: u16 = 8;
const CMP: u16 = 9;
const BIT: u16 = 11;

/// Table 4-10: source, destination, cycles, words. [1]: MOV, BIT, and CMP with memory execute in
/// one fewer cycle.
const FORMAT_I: [(Mode, Mode, u64, u32); 35] = [
    (Rn, Rn, 1, 1),
    (Rn, Pc, 3, 1),
    (Rn, Indexed, 4, 2),
    (Rn, Symbolic, 4, 2),
    (Rn, Absolute, 4, 2),
    (At, Rn, 2, 1),
    (At, Pc, 4, 1),
    (At, Indexed, 5, 2),
    (At, Symbolic, 5, 2),
    (At, Absolute, 5, 2),
    (AtPlus, Rn, 2, 1),
    (AtPlus, Pc, 4, 1),
    (AtPlus, Indexed, 5, 2),
    (AtPlus, Symbolic, 5, 2),
    (AtPlus, Absolute, 5, 2),
    (Immediate, Rn, 2, 2),
    (Immediate, Pc, 3, 2),
    (Immediate, Indexed, 5, 3),
    (Immediate, Symbolic, 5, 3),
    (Immediate, Absolute, 5, 3),
    (Indexed, Rn, 3, 2),
    (Indexed, Pc, 5, 2),
    (Indexed, Symbolic, 6, 3),
    (Indexed, Indexed, 6, 3),
    (Indexed, Absolute, 6, 3),
    (Symbolic, Rn, 3, 2),
    (Symbolic, Pc, 5, 2),
    (Symbolic, Symbolic, 6, 3),
    (Symbolic, Indexed, 6, 3),
    (Symbolic, Absolute, 6, 3),
    (Absolute, Rn, 3, 2),
    (Absolute, Pc, 5, 2),
    (Absolute, Symbolic, 6, 3),
    (Absolute, Indexed, 6, 3),
    (Absolute, Absolute, 6, 3),
];

/// Table 4-18: source, destination, cycles of .B and .W, cycles of .A, words. [2]: one less for
/// MOV, BIT, CMP with memory; [3]: two less; [4], marked: one less for MOV, ADD, SUB.
const EXTENDED_I: [(Mode, Mode, u64, u64, u32, bool); 35] = [
    (Rn, Rn, 2, 2, 2, false),
    (Rn, Pc, 4, 4, 2, false),
    (Rn, Indexed, 5, 7, 3, false),
    (Rn, Symbolic, 5, 7, 3, false),
    (Rn, Absolute, 5, 7, 3, false),
    (At, Rn, 3, 4, 2, false),
    (At, Pc, 5, 6, 2, false),
    (At, Indexed, 6, 9, 3, false),
    (At, Symbolic, 6, 9, 3, false),
    (At, Absolute, 6, 9, 3, false),
    (AtPlus, Rn, 3, 4, 2, false),
    (AtPlus, Pc, 5, 6, 2, false),
    (AtPlus, Indexed, 6, 9, 3, false),
    (AtPlus, Symbolic, 6, 9, 3, false),
    (AtPlus, Absolute, 6, 9, 3, false),
    (Immediate, Rn, 3, 3, 3, false),
    (Immediate, Pc, 4, 4, 3, true),
    (Immediate, Indexed, 6, 8, 4, false),
    (Immediate, Symbolic, 6, 8, 4, false),
    (Immediate, Absolute, 6, 8, 4, false),
    (Indexed, Rn, 4, 5, 3, false),
    (Indexed, Pc, 6, 7, 3, true),
    (Indexed, Symbolic, 7, 10, 4, false),
    (Indexed, Indexed, 7, 10, 4, false),
    (Indexed, Absolute, 7, 10, 4, false),
    (Symbolic, Rn, 4, 5, 3, false),
    (Symbolic, Pc, 6, 7, 3, true),
    (Symbolic, Symbolic, 7, 10, 4, false),
    (Symbolic, Indexed, 7, 10, 4, false),
    (Symbolic, Absolute, 7, 10, 4, false),
    (Absolute, Rn, 4, 5, 3, false),
    (Absolute, Pc, 6, 7, 3, true),
    (Absolute, Symbolic, 7, 10, 4, false),
    (Absolute, Indexed, 7, 10, 4, false),
    (Absolute, Absolute, 7, 10, 4, false),
];

fn spares_memory(opcode: u16) -> bool {
    [MOV, BIT, CMP].contains(&opcode)
}

#[test]
fn format_i() {
    for (from, to, cycles, length) in FORMAT_I {
        for opcode in 4..16 {
            for byte in [false, true] {
                let words = double(opcode, byte, from, to);
                let memory = !matches!(to, Rn | Pc);
                let expected = cycles - u64::from(memory && spares_memory(opcode));
                let (taken, behind) = run(&mut *machine(), &words);
                assert_eq!(taken, expected, "{opcode:x} {from:?}, {to:?}");
                assert_eq!(words.len() as u32, length);
                assert!(to == Pc || behind == length, "{opcode:x} {from:?}, {to:?}");
            }
        }
    }
}

#[test]
fn extended_format_i() {
    for (from, to, word_cycles, address_cycles, length, marked) in EXTENDED_I {
        for opcode in 4..16 {
            for (address, byte) in [(false, false), (false, true), (true, true)] {
                let words = extended(address, double(opcode, byte, from, to));
                let memory = !matches!(to, Rn | Pc);
                let less = match (memory && spares_memory(opcode), address) {
                    (true, true) => 2,
                    (true, false) => 1,
                    _ => u64::from(marked && [MOV, ADD, SUB].contains(&opcode)),
                };
                let expected = if address { address_cycles } else { word_cycles } - less;
                let (taken, behind) = run(&mut *machine(), &words);
                assert_eq!(taken, expected, "{opcode:x} {from:?}, {to:?}, address {address}");
                assert_eq!(words.len() as u32, length);
                assert!(to == Pc || behind == length, "{opcode:x} {from:?}, {to:?}");
            }
        }
    }
}

#[test]
fn constants_count_as_registers() {
    for constant in [0x220, 0x230, 0x300, 0x310, 0x320, 0x330] {
        assert_eq!(run(&mut *machine(), &[0x4007 | constant]), (1, 1));
        assert_eq!(run(&mut *machine(), &[0x5082 | constant, 0x3400]), (4, 2));
    }
}

/// Table 4-18, footnote 1, and table 4-17a: n + 1 cycles for n executions.
#[test]
fn repetitions() {
    for n in 1..=16u16 {
        let cycles = u64::from(n) + 1;
        assert_eq!(run(&mut *machine(), &[0x1840 | (n - 1), 0x5507]), (cycles, 2), "ADDX R5, R7");
        assert_eq!(run(&mut *machine(), &[0x1840 | (n - 1), 0x1107]), (cycles, 2), "RRAX R7");
        let mut by_register = machine();
        assert!(by_register.set_register("r9", 0xfff0 | u32::from(n - 1)));
        assert_eq!(run(&mut *by_register, &[0x18c9, 0x5507]), (cycles, 2), "n in R9");
    }
}

/// Operand bits of a single-operand instruction.
fn operand(mode: Mode) -> (u16, Option<u16>) {
    match mode {
        Rn => (0x05, None),
        At => (0x25, None),
        AtPlus => (0x35, None),
        Immediate => (0x30, Some(0x1234)),
        Indexed => (0x15, Some(0x0010)),
        Symbolic => (0x10, Some(0x1000)),
        _ => (0x12, Some(0x3300)),
    }
}

fn single(opcode: u16, mode: Mode) -> Vec<u16> {
    let (bits, word) = operand(mode);
    std::iter::once(opcode | bits).chain(word).collect()
}

const MODES: [Mode; 7] = [Rn, At, AtPlus, Immediate, Indexed, Symbolic, Absolute];

/// Table 4-9, by mode: RRA, RRC, SWPB, SXT; PUSH; CALL.
#[test]
fn format_ii() {
    let rotate = [1, 3, 3, 0, 4, 4, 4];
    for (mode, cycles) in MODES.into_iter().zip(rotate).filter(|(_, cycles)| *cycles != 0) {
        for opcode in [0x1000, 0x1080, 0x1100, 0x1180] {
            let words = single(opcode, mode);
            assert_eq!(run(&mut *machine(), &words), (cycles, words.len() as u32), "{opcode:x} {mode:?}");
        }
    }
    for (mode, cycles) in MODES.into_iter().zip([3, 3, 3, 3, 4, 4, 4]) {
        let words = single(0x1200, mode);
        assert_eq!(run(&mut *machine(), &words), (cycles, words.len() as u32), "PUSH {mode:?}");
    }
    for (mode, cycles) in MODES.into_iter().zip([4, 4, 4, 4, 5, 5, 6]) {
        assert_eq!(run(&mut *machine(), &single(0x1280, mode)).0, cycles, "CALL {mode:?}");
    }
}

/// Table 4-17a, rows RRAX to PUSHX.A.
#[test]
fn extended_format_ii() {
    for (address, cycles) in [(false, [2, 4, 4, 0, 5, 5, 5]), (true, [2, 6, 6, 0, 7, 7, 7])] {
        for (mode, cycles) in MODES.into_iter().zip(cycles).filter(|(_, cycles)| *cycles != 0) {
            for opcode in [0x1000, 0x1100] {
                let words = extended(address, single(opcode | if address { 0x40 } else { 0 }, mode));
                assert_eq!(run(&mut *machine(), &words), (cycles, words.len() as u32), "{words:04x?}");
            }
        }
    }
    for (address, cycles) in [(false, [4, 4, 4, 4, 5, 5, 5]), (true, [5, 6, 6, 5, 7, 7, 7])] {
        for (mode, cycles) in MODES.into_iter().zip(cycles) {
            let words = extended(address, single(0x1200 | if address { 0x40 } else { 0 }, mode));
            assert_eq!(run(&mut *machine(), &words), (cycles, words.len() as u32), "{words:04x?}");
        }
        // Footnote 1: one more for x(SP).
        let words = [if address { 0x1800 } else { 0x1840 }, 0x1211 | if address { 0x40 } else { 0 }, 4];
        assert_eq!(run(&mut *machine(), &words).0, if address { 8 } else { 6 });
    }
    // POPX: MOVX @SP+, dst.
    assert_eq!(run(&mut *machine(), &[0x1840, 0x4137]).0, 3);
    assert_eq!(run(&mut *machine(), &[0x1800, 0x4177]).0, 4);
    assert_eq!(run(&mut *machine(), &[0x1840, 0x41b6, 0x10]).0, 5);
    assert_eq!(run(&mut *machine(), &[0x1800, 0x41f6, 0x10]).0, 7);
}

/// Table 4-17a, rows RRAM to POPM.A and CALLA.
#[test]
fn multiple_registers_and_positions() {
    for n in 1..=4u16 {
        for rotate in 0..4 {
            for identifier in [0x40, 0x50] {
                let word = (n - 1) << 10 | rotate << 8 | identifier | 7;
                assert_eq!(run(&mut *machine(), &[word]), (u64::from(n), 1), "{word:04x}");
            }
        }
    }
    for n in 1..=12u16 {
        let (words, cycles) = (n - 1, u64::from(n));
        assert_eq!(run(&mut *machine(), &[0x1500 | words << 4 | 15]), (2 + cycles, 1), "PUSHM.W #{n}");
        assert_eq!(run(&mut *machine(), &[0x1400 | words << 4 | 15]), (2 + 2 * cycles, 1), "PUSHM.A #{n}");
        assert_eq!(run(&mut *machine(), &[0x1700 | words << 4 | 4]), (2 + cycles, 1), "POPM.W #{n}");
        assert_eq!(run(&mut *machine(), &[0x1600 | words << 4 | 4]), (2 + 2 * cycles, 1), "POPM.A #{n}");
    }
    for (words, cycles) in [
        (vec![0x1345], 5),         // Rn
        (vec![0x1365], 6),         // @Rn
        (vec![0x1375], 6),         // @Rn+
        (vec![0x13b0, 0x2800], 5), // #N
        (vec![0x1355, 0x0010], 5), // x(Rn)
        (vec![0x1351, 0x0010], 6), // x(SP)
        (vec![0x1390, 0x1000], 7), // EDE
        (vec![0x1380, 0x3300], 7), // &EDE
    ] {
        assert_eq!(run(&mut *machine(), &words).0, cycles, "CALLA {words:04x?}");
    }
}

/// Tables 4-19a and 4-19b.
#[test]
fn address_instructions() {
    for (words, to_register, to_pc) in [
        (vec![0x05c7], 1, Some(3)),         // Rn
        (vec![0x0507], 3, Some(5)),         // @Rn
        (vec![0x0517], 3, Some(5)),         // @Rn+
        (vec![0x0087, 0x2800], 2, Some(3)), // #N
        (vec![0x0537, 0x0010], 4, Some(6)), // x(Rn)
        (vec![0x0037, 0x1000], 4, Some(6)), // EDE
        (vec![0x0027, 0x3300], 4, Some(6)), // &EDE
        (vec![0x0577, 0x0010], 4, None),    // Rn, x(Rm)
        (vec![0x0570, 0x1000], 4, None),    // Rn, EDE
        (vec![0x0560, 0x3300], 4, None),    // Rn, &EDE
    ] {
        assert_eq!(run(&mut *machine(), &words), (to_register, words.len() as u32), "MOVA {words:04x?}");
        if let Some(to_pc) = to_pc {
            let mut words = words;
            words[0] &= !15;
            assert_eq!(run(&mut *machine(), &words).0, to_pc, "MOVA {words:04x?}");
        }
    }
    for identifier in [0x90, 0xa0, 0xb0] {
        assert_eq!(run(&mut *machine(), &[identifier | 7, 0x2800]), (3, 2), "#N, Rm");
        assert_eq!(run(&mut *machine(), &[identifier, 0x2800]).0, 3, "#N, PC");
        assert_eq!(run(&mut *machine(), &[0x0540 | identifier | 7]), (1, 1), "Rn, Rm");
        assert_eq!(run(&mut *machine(), &[0x0540 | identifier]).0, 3, "Rn, PC");
    }
}

/// Section "Jump Instructions Cycles and Lengths": two, taken or not. Table 4-8: RETI five, RET
/// four.
#[test]
fn jumps_and_returns() {
    for condition in 0..8u16 {
        for flags in [0, 1, 2, 4, 0x100, 0x104] {
            let mut machine = machine();
            assert!(machine.set_register("sr", flags));
            assert_eq!(run(&mut *machine, &[0x2000 | condition << 10 | 4]).0, 2);
        }
    }
    assert_eq!(run(&mut *machine(), &[0x1300]).0, 5);
    assert_eq!(run(&mut *machine(), &[0x4130]).0, 4);
}
