//! Random MSP430X instructions on the model and on GDB's simulator.
//!
//! With all 20 bits, registers, flags and touched memory are the same after each one, and all
//! memory in the end.
//!
//! The short run is seeded by the clock and prints its seed; `WATTSEAL_SEED` repeats it.
//! `WATTSEAL_ORACLE=long` runs ten million instructions, or as many as
//! `WATTSEAL_ORACLE_INSTRUCTIONS` says. What the simulator does otherwise is data:
//! `gdb_deviations.toml`.

use mcu::{Access, AccessKind, Mcu, Observer, Part, Stop, Until, new_machine};
use serde::Deserialize;
use testkit::oracles::gdb_sim::{Answer, Msp430Registers, Script, Simulator};
use testkit::random::{self, Random};

const PART: &str = r#"
name = "oracle"
description = "RAM wherever the simulator has no multiplier"
core = "msp430x"
default_clock_hz = 1000000
[[memory]]
name = "ram"
kind = "ram"
start = 0x500
size = 0xffa00
"#;

/// Memory that is random at first and compared in the end.
const MEMORY: std::ops::Range<u32> = 0x500..0x2_0000;
/// Instructions that follow each other before registers are drawn anew.
const SEQUENCE: usize = 16;
/// Instructions of one run of the simulator.
const BATCH: usize = 50_000;
/// Differences that are shown, so that it is seen what they have in common.
const SHOWN: usize = 40;
const PC: usize = 0;
const SP: usize = 1;
const SR: usize = 2;
const CG: usize = 3;
const FLAGS: u32 = 0x107;
const SR_BITS: u32 = 0x1ff;
const ADDRESS: u32 = 0xf_ffff;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Deviations {
    deviation: Vec<Deviation>,
}

/// A row of `gdb_deviations.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Deviation {
    #[serde(rename = "what")]
    _what: String,
    mask: u32,
    value: u32,
    extended: Option<bool>,
    when: Option<When>,
    flags: Option<Flags>,
}

/// Additional condition of a deviation.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum When {
    /// The destination is, or is addressed with, the register that the source counts up.
    DestinationUsesSource,
    /// It is an instruction of two operands.
    TwoOperands,
    /// It is one of one operand, and that a register.
    OneOperand,
    /// The extension word repeats the instruction.
    Repeated,
    /// The extension word has ZC set.
    ZeroCarry,
    /// The extension word's A/L is 0: 20 bits.
    Address,
    /// The same, of two operands.
    RepeatedTwoOperands,
    /// The two fields of the extension word for bits 19:16 differ, and the one operand is in
    /// memory.
    FieldsDiffer,
    /// SR is among the registers that `PUSHM` pushes.
    PushesSr,
    /// The index has bit 15 set.
    NegativeIndex,
    /// It went to where the simulator has its system calls.
    SystemCall,
    /// An operand of `DADD` has a digit above 9.
    NotDecimal,
}

/// A flag.
#[derive(Clone, Copy, Deserialize)]
enum Flags {
    V,
    C,
}

impl Flags {
    fn bits(self) -> u32 {
        match self {
            Flags::V => 0x100,
            Flags::C => 0x001,
        }
    }
}

/// An instruction: the extension word, where there is one, the opcode, two operand words.
#[derive(Clone, Copy)]
struct Instruction {
    extension: Option<u32>,
    word: u32,
    operands: [u32; 2],
}

impl Instruction {
    fn draw(random: &mut Random) -> Instruction {
        let extended = random.below(3) == 0;
        let word = match random.below(20) {
            0..=8 => (4 + random.below(12)) << 12 | random.word() & 0xfff,
            9..=12 => 0x1000 | random.below(if extended { 5 } else { 6 }) << 7 | random.word() & 0x7f,
            13 => 0x2000 | random.word() & 0x1fff,
            14..=17 => random.word() & 0xfff,
            18 => 0x1400 | random.word() & 0x3ff,
            _ => 0x1300 | random.word() & 0xff,
        };
        let extension = extended && (word >= 0x4000 || (0x1000..0x1300).contains(&word));
        Instruction {
            // Bits 5:4 and, where registers are all, 10:9 are reserved.
            extension: extension
                .then(|| 0x1800 | random.word() & if random.below(2) == 0 { 0x1cf } else { 0x7cf }),
            word,
            operands: [value(random) & 0xffff, value(random) & 0xffff],
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let words = self.extension.into_iter().chain([self.word]).chain(self.operands);
        words.flat_map(|word| (word as u16).to_le_bytes()).collect()
    }

    /// Of two operands the first, or the one.
    fn source_register(&self) -> usize {
        (if self.word < 0x4000 { self.word & 15 } else { self.word >> 8 & 15 }) as usize
    }

    fn mode(&self) -> u32 {
        self.word >> 4 & 3
    }
}

/// A register value: an address in memory, a number of digits, a number near the ends of the range,
/// or any.
fn value(random: &mut Random) -> u32 {
    match random.below(8) {
        0..=2 => (0x600 + random.below(0x1_f000)) & !1,
        3 => random.below(0xf_f000) & !1,
        4 => (0..5).map(|digit| random.below(10) << (4 * digit)).sum(),
        5 => [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7_ffff, 0x8_0000, ADDRESS]
            [random.below(11) as usize],
        _ => random.word() & ADDRESS,
    }
}

fn draw_registers(random: &mut Random) -> Msp430Registers {
    let mut values: Msp430Registers = std::array::from_fn(|_| value(random));
    let range = if random.below(2) == 0 { 0xf000 } else { 0xf_0000 };
    values[PC] = (0x600 + random.below(range)) & !1;
    values[SP] = (0x600 + random.below(0x1_f000)) & !1;
    values[SR] &= FLAGS;
    (values[CG], values[16]) = (0, 0);
    values
}

/// Their V stands in bit 7 (see the deviations).
fn to_gdb(sr: u32) -> u32 {
    sr & !0x180 | (sr & 0x100) >> 1
}

fn from_gdb(sr: u32) -> u32 {
    sr & !0x180 | (sr & 0x80) << 1
}

fn with_sr(values: &Msp430Registers, change: fn(u32) -> u32) -> Msp430Registers {
    let mut values = *values;
    values[SR] = change(values[SR]);
    values
}

/// Collects what an instruction reads and writes.
#[derive(Default)]
struct Touched {
    reads: Vec<Access>,
    writes: Vec<Access>,
}

impl Observer for Touched {
    fn access(&mut self, access: &Access) {
        match access.kind {
            AccessKind::Read => self.reads.push(*access),
            AccessKind::Write => self.writes.push(*access),
        }
    }
}

fn registers(machine: &dyn Mcu) -> Msp430Registers {
    let mut values = [0; 17];
    for (index, (_, value)) in machine.registers().into_iter().enumerate() {
        // R3 is not among them.
        values[if index < CG { index } else { index + 1 }] = value;
    }
    values
}

fn set_registers(machine: &mut dyn Mcu, values: &Msp430Registers) {
    for register in (0..16).filter(|register| *register != CG) {
        let name = match register {
            PC => "pc".to_string(),
            SP => "sp".to_string(),
            SR => "sr".to_string(),
            _ => format!("r{register}"),
        };
        assert!(machine.set_register(&name, values[register]));
    }
}

fn not_decimal(value: u32) -> bool {
    (0..5).any(|digit| value >> (4 * digit) & 15 > 9)
}

impl When {
    fn holds(
        self,
        instruction: &Instruction,
        before: &Msp430Registers,
        touched: &Touched,
        after_pc: u32,
    ) -> bool {
        let Instruction { extension, word, operands } = *instruction;
        let bits = |mask: u32| extension.is_some_and(|extension| extension & mask != 0);
        let register = |number: usize| match number {
            2 => instruction.mode() != 1,
            3 => true,
            _ => instruction.mode() == 0,
        };
        let registers_alone = register(instruction.source_register()) && (word < 0x4000 || word & 0x80 == 0);
        let source = before[instruction.source_register()];
        let destination = before[(word & 15) as usize];
        match self {
            When::DestinationUsesSource => {
                instruction.mode() == 3 && word >= 0x4000 && word >> 8 & 15 == word & 15
            }
            When::TwoOperands => word >= 0x4000,
            When::OneOperand => (0x1000..0x1300).contains(&word),
            When::Repeated => registers_alone && bits(0x8f),
            When::RepeatedTwoOperands => word >= 0x4000 && word & 0x80 == 0 && bits(0x8f),
            When::FieldsDiffer => {
                word & 0x30 != 0 && extension.is_some_and(|extension| extension >> 7 & 15 != extension & 15)
            }
            When::PushesSr => (word & 15) - (word & 15).min(word >> 4 & 15) <= 2,
            When::NegativeIndex => operands[0] & 0x8000 != 0,
            When::SystemCall => after_pc == 0x160 || (0x180..0x1c0).contains(&after_pc),
            When::ZeroCarry => registers_alone && bits(0x100),
            When::Address => extension.is_some_and(|extension| extension & 0x40 == 0),
            When::NotDecimal => {
                instruction.mode() == 0 && not_decimal(source)
                    || word & 0x80 == 0 && (word & 15 == 0 || not_decimal(destination))
                    || instruction.source_register() == 0
                        && (instruction.mode() == 0 || not_decimal(operands[0]))
                    || instruction.source_register() == 3 && instruction.mode() == 3
                    || touched.reads.iter().any(|read| not_decimal(read.value as u32))
            }
        }
    }
}

impl Deviation {
    fn concerns(
        &self,
        instruction: &Instruction,
        before: &Msp430Registers,
        touched: &Touched,
        after_pc: u32,
    ) -> bool {
        instruction.word & self.mask == self.value
            && self.extended.is_none_or(|extended| extended == instruction.extension.is_some())
            && self.when.is_none_or(|when| when.holds(instruction, before, touched, after_pc))
    }
}

/// State of the model after an instruction.
struct ModelState {
    what: String,
    registers: Msp430Registers,
    ignored_flags: u32,
    writes: Vec<Access>,
}

/// Compares each outcome with the simulator's answers, and lists the first differences.
fn compare_answers(outcomes: &[ModelState], answers: &mut impl Iterator<Item = Answer<17>>) {
    let mut differences = Vec::new();
    for outcome in outcomes {
        let Some(Answer::Registers(theirs)) = answers.next() else {
            panic!("no registers for {}", outcome.what)
        };
        let theirs = with_sr(&theirs, from_gdb);
        if theirs[16] != 1 {
            differences.push(format!("stopped at {}", outcome.what));
        }
        for register in (0..16).filter(|register| *register != CG) {
            let mask = match register {
                // Their bit 0 can be set (see the deviations).
                PC | SP => ADDRESS & !1,
                SR => SR_BITS & !outcome.ignored_flags,
                _ => ADDRESS,
            };
            let (ours, theirs) = (outcome.registers[register] & mask, theirs[register] & mask);
            if ours != theirs {
                differences.push(format!("R{register} {ours:05x}, not {theirs:05x} after {}", outcome.what));
            }
        }
        for write in &outcome.writes {
            let Some(Answer::Bytes(theirs)) = answers.next() else {
                panic!("no memory for {}", outcome.what)
            };
            let ours = &write.value.to_le_bytes()[..usize::from(write.size)];
            // What a later write of the same instruction covers is compared there.
            let covered = outcome.writes.iter().filter(|other| {
                other.address < write.address + u32::from(write.size)
                    && write.address < other.address + u32::from(other.size)
            });
            if covered.count() == 1 && ours != theirs {
                let at = write.address;
                differences.push(format!("{ours:x?}, not {theirs:x?} at {at:#07x} after {}", outcome.what));
            }
        }
    }
    let (count, shown) = (differences.len(), differences.len().min(SHOWN));
    assert!(differences.is_empty(), "{count} differences:\n{}", differences[..shown].join("\n"));
}

/// Runs `count` instructions on both.
fn compare(random: &mut Random, deviations: &[Deviation], count: usize) {
    let part = Part::from_toml(PART).expect("part");
    let mut machine = new_machine(&part, 1_000_000).expect("machine");
    let mut script: Script<17> = Script::new(Simulator::Msp430);
    let mut outcomes = Vec::new();
    let image: Vec<u8> = MEMORY.map(|_| random.word() as u8).collect();
    assert!(machine.poke(MEMORY.start, &image));
    script.write(MEMORY.start, &image);

    while outcomes.len() < count {
        let mut before = draw_registers(random);
        'sequence: for _ in 0..SEQUENCE {
            let pc = before[PC];
            if !(0x600..0xf_fe00).contains(&pc) {
                break;
            }
            for _ in 0..60 {
                let instruction = Instruction::draw(random);
                let bytes = instruction.bytes();
                assert!(machine.poke(pc, &bytes));
                script.write(pc, &bytes);
                set_registers(&mut *machine, &before);
                let mut touched = Touched::default();
                let until = Until { cycles: Some(machine.cycles() + 1), addresses: Vec::new() };
                let stop = machine.run_observed(&until, &mut touched);
                let after_pc = machine.pc();
                let concern = |row: &&Deviation| row.concerns(&instruction, &before, &touched, after_pc);
                let rows: Vec<&Deviation> = deviations.iter().filter(concern).collect();
                if stop != Ok(Stop::Cycles) || rows.iter().any(|row| row.flags.is_none()) {
                    // What it wrote all the same.
                    for write in &touched.writes {
                        let mut bytes = [0; 4];
                        let bytes = &mut bytes[..usize::from(write.size)];
                        assert!(machine.peek(write.address, bytes));
                        script.write(write.address, bytes);
                    }
                    continue;
                }
                script.step(&with_sr(&before, to_gdb));
                for write in &touched.writes {
                    script.read(write.address, usize::from(write.size));
                }
                let after = registers(&*machine);
                let what = format!(
                    "{:04x?} {:04x} {:04x?}, before {before:05x?}",
                    instruction.extension, instruction.word, instruction.operands
                );
                let ignored_flags =
                    rows.iter().filter_map(|row| row.flags).fold(0, |bits, flags| bits | flags.bits());
                outcomes.push(ModelState { what, registers: after, ignored_flags, writes: touched.writes });
                before = after;
                before[SR] &= FLAGS;
                continue 'sequence;
            }
            break;
        }
    }
    script.read(MEMORY.start, image.len());

    let mut answers = script.run().unwrap_or_else(|error| panic!("{error}")).into_iter();
    compare_answers(&outcomes, &mut answers);
    let mut ours = vec![0; image.len()];
    assert!(machine.peek(MEMORY.start, &mut ours));
    assert!(answers.next() == Some(Answer::Bytes(ours)), "memory differs in the end");
}

#[test]
fn random_instructions_end_as_on_gdbs_simulator() {
    let deviations: Deviations = toml::from_str(include_str!("gdb_deviations.toml")).expect("the deviations");
    let count = random::instructions(20_000, 10_000_000);
    let mut random = Random::new(random::seed());
    let mut done = 0;
    while done < count {
        let batch = BATCH.min(count - done);
        compare(&mut random, &deviations.deviation, batch);
        done += batch;
    }
    println!("{done} instructions agree");
}
