//! Random RISC-V instructions on the model and on Unicorn.
//!
//! Registers, program counter and memory are the same after each one, and the same words are
//! refused.
//!
//! The short run is seeded by the clock and prints its seed; `WATTSEAL_SEED` repeats it.
//! `WATTSEAL_ORACLE=long` runs a million instructions, or as many as `WATTSEAL_ORACLE_INSTRUCTIONS`
//! says.
//!
//! Unicorn's core is RV32GC without WCH's instructions. What it has and RV32EC lacks must be
//! refused by the model: registers from x16 on, multiplication, atomics, floating point, where `xw`
//! stands in the compressed instructions. Left out here, and in `instructions.rs`: `xw`, CSRs,
//! traps, WFI. Misaligned accesses are faults of the model.

use mcu::{Access, AccessKind, Fault, Mcu, Observer, Part, Stop, Until, new_machine};
use testkit::oracles::unicorn::{Error, Model, Unicorn};
use testkit::random::{self, Random};

const RAM: u32 = 0x2000_0000;
const SIZE: u32 = 0x1_0000;
/// Instructions that follow each other before registers are drawn anew.
const SEQUENCE: u32 = 16;
const PC: usize = 32;
/// UC_ERR_FETCH_UNMAPPED.
const UNMAPPED_FETCH: Error = Error(8);

const PART: &str = r#"
name = "oracle"
description = "RAM alone"
core = "qingke-v2"
default_clock_hz = 1000000
[[memory]]
name = "ram"
kind = "ram"
start = 0x20000000
size = 0x10000
"#;

/// A register's value: half of them addresses of words in RAM, some at the edges of the numbers.
fn value(random: &mut Random) -> u32 {
    match random.below(8) {
        0..4 => RAM + 0x1000 + (random.below(0xe000) & !3),
        4 => [0, 1, u32::MAX, 0x7fff_ffff, 0x8000_0000][random.below(5) as usize],
        _ => random.word(),
    }
}

/// Four bytes that begin with an instruction of RV32EC, most of the time.
fn instruction(random: &mut Random) -> u32 {
    if random.below(2) == 0 {
        return random.word() & !3 | random.below(3);
    }
    let opcode =
        [0x37, 0x17, 0x6f, 0x67, 0x63, 0x03, 0x23, 0x13, 0x13, 0x33, 0x33][random.below(11) as usize];
    let mut word = random.word() & !0x7f | opcode;
    // Registers that there are, mostly, and functions that there are.
    if random.below(16) != 0 {
        word &= !(1 << 11 | 1 << 19);
        word = if matches!(opcode, 0x33 | 0x63 | 0x23) { word & !(1 << 24) } else { word };
    }
    if opcode == 0x33 && random.below(8) != 0 || opcode == 0x13 && word >> 12 & 3 == 1 {
        word = word & 0x01ff_ffff | (random.below(2) << 30);
    }
    if matches!(opcode, 0x03 | 0x23) && random.below(2) == 0 {
        // Offsets of whole words.
        word &= !(3 << if opcode == 0x03 { 20 } else { 7 });
    }
    word
}

/// Returns true for words that Unicorn cannot check: see the text of this file.
fn is_left_out(word: u32) -> bool {
    match word & 3 {
        3 => matches!(word & 0x7f, 0x73 | 0x0f),
        quadrant => {
            let funct3 = word >> 13 & 7;
            let ebreak = word & 0xffff == 0x9002;
            quadrant != 1 && matches!(funct3, 1 | 5) || quadrant == 0 && funct3 == 4 || ebreak
        }
    }
}

/// Returns true if the word names a register from x16 on, or is an instruction of an extension that
/// RV32EC lacks.
fn is_beyond(word: u32) -> bool {
    let register = |low: u32| word >> low & 31 >= 16;
    if word & 3 == 3 {
        let (rd, rs1, rs2) = (register(7), register(15), register(20));
        return match word & 0x7f {
            0x37 | 0x17 | 0x6f => rd,
            0x67 | 0x03 | 0x13 => rd || rs1,
            0x63 | 0x23 => rs1 || rs2,
            0x33 => rd || rs1 || rs2 || word >> 25 == 1,
            _ => true,
        };
    }
    match (word & 3, word >> 13 & 7) {
        (1, 0 | 2 | 3) => register(7),
        (2, 7) | (0, 3 | 7) => true,
        (2, 6) => register(2),
        // Shifts by 32 and more, and what RV64C alone has; the silicon refuses them, too
        // (CaiB/CH32V003-Architecture-Exploration, CompressedOpcodesReprocess.csv).
        (1, 4) => word >> 12 & 1 == 1 && word >> 10 & 3 != 2,
        (2, 0) => register(7) || word >> 12 & 1 == 1,
        (2, 2) => register(7),
        (2, 4) => register(7) || register(2),
        // Floating point of RV32FC.
        (2, 3) => true,
        _ => false,
    }
}

#[derive(Default)]
struct Touched {
    writes: Vec<Access>,
}

impl Observer for Touched {
    fn access(&mut self, access: &Access) {
        if access.kind == AccessKind::Write {
            self.writes.push(*access);
        }
    }
}

fn registers(machine: &dyn Mcu) -> Vec<u32> {
    machine.registers().into_iter().take(16).map(|(_, value)| value).collect()
}

/// Counts of the comparison.
#[derive(Debug, Default)]
struct Counts {
    executed: u32,
    refused: u32,
    beyond: u32,
    misaligned: u32,
    left_out: u32,
}

struct Pair {
    ours: Box<dyn Mcu>,
    theirs: Unicorn,
}

impl Pair {
    fn new() -> Pair {
        let part = Part::from_toml(PART).expect("part");
        let ours = new_machine(&part, 1_000_000).expect("machine");
        let mut theirs = Unicorn::new(Model::RiscV32).expect("unicorn");
        theirs.map(RAM, SIZE).expect("memory");
        Pair { ours, theirs }
    }

    fn draw(&mut self, random: &mut Random) {
        let names: Vec<&str> =
            self.ours.register_names().iter().take(15).map(|register| register.name).collect();
        for (index, name) in names.into_iter().enumerate() {
            let value = value(random);
            assert!(self.ours.set_register(name, value));
            self.theirs.set_register(index + 1, value).expect("register");
        }
        self.set_pc(RAM + 0x1000 + (random.below(0xe000) & !1));
    }

    fn set_pc(&mut self, pc: u32) {
        self.ours.set_pc(pc);
        self.theirs.set_register(PC, pc).expect("register");
    }

    /// One instruction on both; false where a new sequence must begin.
    fn step(&mut self, word: u32, counts: &mut Counts) -> bool {
        let pc = self.ours.pc();
        if !(RAM..RAM + SIZE - 4).contains(&pc) {
            return false;
        }
        if is_left_out(word) {
            counts.left_out += 1;
            return false;
        }
        assert!(self.ours.poke(pc, &word.to_le_bytes()));
        self.theirs.write(pc, &word.to_le_bytes()).expect("memory");
        let before = registers(&*self.ours);
        let mut touched = Touched::default();
        let until = Until { cycles: Some(self.ours.cycles() + 1), addresses: Vec::new() };
        let ours = self.ours.run_observed(&until, &mut touched);
        let what = format!("{word:08x} at {pc:#x} with {before:08x?}");
        match ours {
            Ok(Stop::Cycles | Stop::Halted) => {}
            Err(Fault::Opcode { .. }) if is_beyond(word) => {
                counts.beyond += 1;
                return false;
            }
            Err(Fault::Opcode { .. }) => {
                assert!(self.theirs.step(pc, 1).is_err(), "refused by the model alone: {what}");
                counts.refused += 1;
                return false;
            }
            Err(Fault::Architecture { .. } | Fault::Unmapped { .. }) => {
                counts.misaligned += 1;
                return false;
            }
            other => panic!("{other:?}: {what}"),
        }
        assert!(!is_beyond(word), "executed by the model: {what}");
        let there = (RAM..RAM + SIZE).contains(&self.ours.pc());
        match self.theirs.step(pc, 1) {
            Ok(()) => {}
            // The model stops at the next instruction then.
            Err(UNMAPPED_FETCH) if !there => return false,
            Err(error) => panic!("{error}: {what}"),
        }
        for (index, value) in registers(&*self.ours).into_iter().enumerate() {
            let register = if index == 15 { PC } else { index + 1 };
            let expected = self.theirs.register(register).expect("register");
            assert_eq!(value, expected, "register {register}: {what}");
        }
        for write in touched.writes {
            let mut expected = [0; 4];
            let size = usize::from(write.size);
            self.theirs.read(write.address, &mut expected[..size]).expect("memory");
            let mut ours = [0; 4];
            assert!(self.ours.peek(write.address, &mut ours[..size]));
            assert_eq!(ours, expected, "memory at {:#x}: {what}", write.address);
        }
        counts.executed += 1;
        true
    }
}

#[test]
fn every_instruction_ends_as_unicorn_ends_it() {
    let wanted = random::instructions(50_000, 1_000_000) as u32;
    let mut random = Random::new(random::seed());
    let mut pair = Pair::new();
    let mut counts = Counts::default();
    while counts.executed < wanted {
        pair.draw(&mut random);
        for _ in 0..SEQUENCE {
            if !pair.step(instruction(&mut random), &mut counts) {
                break;
            }
        }
    }
    println!("{counts:?}");
    assert!(counts.refused > wanted / 1000 && counts.beyond > wanted / 1000, "{counts:?}");
}
