//! Random MSP430 instructions on the model and on mspdebug's simulator.
//!
//! Registers, flags and touched memory are the same after each one.
//!
//! The short run is seeded by the clock and prints its seed; `WATTSEAL_SEED` repeats it.
//! `WATTSEAL_ORACLE=long` runs a million instructions, or as many as `WATTSEAL_ORACLE_INSTRUCTIONS`
//! says.
//!
//! Gaps of mspdebug 0.22 and differences from SLAU208, which are left out or masked here;
//! `instructions.rs` covers them by the manual:
//! - MSP430X instructions and bits 19:16 of registers (sections "MSP430X Extended Instructions",
//!   "CPU Registers"); `SXT Rn` sets bits 19:16, the model's are cut off after each instruction.
//! - `PUSH.B` clears the high byte of the stack's word; the manual leaves it ("PUSH").
//! - `PUSH` and `CALL` of `x(SP)` address with the SP before it counts down, and PC as a source is
//!   the address behind the opcode, also where an index follows; `instructions.rs` names who knows
//!   better.
//! - `PUSH SP` stores the old SP; the manual's figure "PUSH SP – POP SP Sequence" has the new one
//!   stored.
//! - `@SP+` of a byte counts SP up by 1; the manual's SP counts by 2 ("Indirect Autoincrement
//!   Mode").
//! - Bit 0 of PC and SP can be set; the manual has it always 0 ("Program Counter", "Stack
//!   Pointer").
//! - SR keeps its reserved bits 15:9.
//! - `DADD` clears V, which the manual leaves undefined; with digits above 9 the result is
//!   undefined, too.
//! - Words at odd addresses are accessed; the model stops with a fault.
//! - Addresses below 0x200 belong to mspdebug's own peripherals.

use mcu::{Access, AccessKind, Mcu, Observer, Part, Stop, Until, new_machine};
use testkit::oracles::mspdebug::{Answer, Script};
use testkit::random::{self, Random};

const MEMORY: std::ops::Range<u32> = 0x200..0xff00;
/// Instructions that follow each other before registers are drawn anew.
const SEQUENCE: usize = 16;
/// Instructions of one run of the simulator.
const BATCH: usize = 8_000;
const SR: usize = 2;
const FLAGS: u32 = 0x107;
const SR_BITS: u32 = 0x1ff;
const CPUOFF: u32 = 0x10;
const V: u32 = 0x100;

const PART: &str = r#"
name = "oracle"
description = "RAM where the simulator has some"
core = "msp430x"
default_clock_hz = 1000000
[[memory]]
name = "ram"
kind = "ram"
start = 0x200
size = 0xfd00
"#;

/// A register value: half of them even addresses in memory.
fn value(random: &mut Random) -> u32 {
    if random.below(2) == 0 { (0x400 + random.below(0xf800)) & !1 } else { random.word() & 0xffff }
}

/// A word that is an instruction of the MSP430, most of the time.
fn instruction(random: &mut Random) -> u32 {
    match random.below(10) {
        0..=5 => (4 + random.below(12)) << 12 | random.word() & 0xfff,
        6 | 7 => 0x1000 | random.below(6) << 7 | random.word() & 0x7f,
        8 => 0x2000 | random.word() & 0x1fff,
        _ => [0x1300, 0x4130, 0x4303, 0x1280 | random.word() & 0x3f][random.below(4) as usize],
    }
}

/// Returns true for the exclusions above; the operand words do not matter.
fn is_left_out(word: u32) -> bool {
    let push_byte = word & 0xffc0 == 0x1240;
    let push_sp = word == 0x1201;
    let by_sp = word & 0xffbf == 0x1211 || word == 0x1291;
    let pc_before_index = word >> 12 >= 4 && word & 0xfb0 == 0x080;
    let register = if word >> 12 == 1 { word & 15 } else { word >> 8 & 15 };
    let byte_from_sp = (word >> 12 == 1 || word >> 12 >= 4) && word & 0x70 == 0x70 && register == 1;
    push_byte || push_sp || by_sp || pc_before_index || byte_from_sp
}

/// The double-operand opcode `DADD`.
fn is_dadd(word: u32) -> bool {
    word >> 12 == 10
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

/// State of the model after an instruction.
struct ModelState {
    what: String,
    registers: [u32; 16],
    ignored_flags: u32,
    writes: Vec<Access>,
}

fn registers(machine: &dyn Mcu) -> [u32; 16] {
    let mut values = [0; 16];
    for (index, (_, value)) in machine.registers().into_iter().enumerate() {
        // R3 is not among them.
        values[if index < 3 { index } else { index + 1 }] = value;
    }
    values
}

fn set_registers(machine: &mut dyn Mcu, values: &[u32; 16]) {
    for (register, value) in values.iter().enumerate().filter(|(register, _)| *register != 3) {
        let name =
            ["pc", "sp", "sr"].get(register).map_or_else(|| format!("r{register}"), |name| name.to_string());
        assert!(machine.set_register(&name, *value));
    }
}

fn step(machine: &mut dyn Mcu) -> Option<Touched> {
    let mut touched = Touched::default();
    let until = Until { cycles: Some(machine.cycles() + 1), addresses: Vec::new() };
    match machine.run_observed(&until, &mut touched) {
        Ok(Stop::Cycles) => Some(touched),
        _ => None,
    }
}

/// Returns true if a word has a digit above 9.
fn not_decimal(value: u32) -> bool {
    (0..4).any(|digit| value >> (4 * digit) & 15 > 9)
}

/// Returns true if `DADD` at the program counter would add something other than decimal digits.
fn adds_other_than_digits(machine: &dyn Mcu, word: u32, operand: u32) -> bool {
    let mut trial = machine.snapshot();
    let before = registers(machine);
    let Some(touched) = step(&mut *trial) else { return true };
    let (source, mode) = ((word >> 8 & 15) as usize, word >> 4 & 3);
    let immediate = source == 0 && mode == 3;
    let in_register = |register: usize, used: bool| used && register > 3 && not_decimal(before[register]);
    let special = (source < 3 && mode == 0) || (word & 0x8f) < 3 || (source == 3 && mode == 3);
    special
        || touched.reads.iter().any(|read| not_decimal(read.value as u32))
        || (immediate && not_decimal(operand))
        || in_register(source, mode == 0)
        || in_register((word & 15) as usize, word & 0x80 == 0)
}

/// Puts decimal digits where `DADD` will find its operands in registers.
fn make_decimal(random: &mut Random, values: &mut [u32; 16], word: u32) {
    for register in [(word >> 8 & 15) as usize, (word & 15) as usize] {
        if register > 3 && random.below(2) == 0 {
            values[register] = (0..4).map(|digit| random.below(10) << (4 * digit)).sum();
        }
    }
}

/// Draws all registers, on both sides.
fn draw_registers(random: &mut Random, machine: &mut dyn Mcu, script: &mut Script) {
    let mut values: [u32; 16] = std::array::from_fn(|_| value(random));
    values[0] = (0x400 + random.below(0xf000)) & !1;
    values[1] = (0x400 + random.below(0xf000)) & !1;
    values[SR] &= FLAGS;
    values[3] = 0;
    set_registers(machine, &values);
    for (register, value) in values.iter().enumerate() {
        script.set(register, *value as u16);
    }
}

/// Goes on from the same state on both sides, where they differ as described above.
fn synchronise(machine: &mut dyn Mcu, script: &mut Script, mut after: [u32; 16]) {
    after.iter_mut().for_each(|value| *value &= 0xffff);
    after[SR] &= !CPUOFF;
    set_registers(machine, &after);
    for (register, value) in after.iter().enumerate().take(3) {
        script.set(register, *value as u16);
    }
}

/// Compares each outcome with the simulator's answers.
fn compare_answers(outcomes: &[ModelState], answers: &mut impl Iterator<Item = Answer>) {
    for outcome in outcomes {
        let Some(Answer::Registers(theirs)) = answers.next() else {
            panic!("no registers for {}", outcome.what)
        };
        for (register, (ours, theirs)) in outcome.registers.iter().zip(theirs).enumerate() {
            let mask = match register {
                0 | 1 => 0xfffe,
                SR => SR_BITS & !outcome.ignored_flags,
                3 => 0,
                _ => 0xffff,
            };
            assert_eq!(ours & mask, u32::from(theirs) & mask, "R{register} after {}", outcome.what);
        }
        for write in &outcome.writes {
            let Some(Answer::Bytes(theirs)) = answers.next() else {
                panic!("no memory for {}", outcome.what)
            };
            let ours = &write.value.to_le_bytes()[..usize::from(write.size)];
            // What a later write of the same instruction covers is compared there.
            let covered = outcome.writes.iter().filter(|other| other.address == write.address).count() > 1;
            assert!(
                covered || ours == theirs,
                "{ours:x?}, not {theirs:x?} at {:#06x} after {}",
                write.address,
                outcome.what
            );
        }
    }
}

/// Runs `count` instructions on both.
fn compare(random: &mut Random, count: usize) {
    let part = Part::from_toml(PART).expect("part");
    let mut machine = new_machine(&part, 1_000_000).expect("machine");
    let mut script = Script::new();
    let mut outcomes = Vec::new();

    let image: Vec<u8> = MEMORY.map(|_| random.word() as u8).collect();
    assert!(machine.poke(MEMORY.start, &image));
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let name = format!("msp430_oracle_{}_{}", std::process::id(), random.word());
    let file = folder.join(&name).with_extension("bin");
    std::fs::write(&file, &image).expect("image");
    script.load(&file, MEMORY.start as u16);

    while outcomes.len() < count {
        draw_registers(random, &mut *machine, &mut script);
        'sequence: for _ in 0..SEQUENCE {
            let before = registers(&*machine);
            let pc = before[0];
            if !(0x200..0xfe00).contains(&pc) {
                break;
            }
            let mut kept = [0; 6];
            assert!(machine.peek(pc, &mut kept));
            for _ in 0..60 {
                let word = instruction(random);
                if is_left_out(word) {
                    continue;
                }
                let mut values = before;
                if is_dadd(word) {
                    make_decimal(random, &mut values, word);
                }
                let operands = [value(random), value(random)];
                let mut bytes = Vec::new();
                for word in [word, operands[0], operands[1]] {
                    bytes.extend((word as u16).to_le_bytes());
                }
                assert!(machine.poke(pc, &bytes));
                set_registers(&mut *machine, &values);
                let refused = is_dadd(word) && adds_other_than_digits(&*machine, word, operands[0]);
                let touched = if refused { None } else { step(&mut *machine) };
                let Some(touched) = touched else {
                    assert!(machine.poke(pc, &kept));
                    set_registers(&mut *machine, &before);
                    continue;
                };
                script.write(pc as u16, &bytes);
                for register in (4..16).filter(|register| values[*register] != before[*register]) {
                    script.set(register, values[register] as u16);
                }
                script.step();
                for write in &touched.writes {
                    script.read(write.address as u16, usize::from(write.size));
                }
                let after = registers(&*machine);
                outcomes.push(ModelState {
                    what: format!(
                        "{word:04x} {:04x} {:04x} at {pc:#06x}, before {values:04x?}",
                        operands[0], operands[1]
                    ),
                    registers: after,
                    ignored_flags: if is_dadd(word) { V } else { 0 },
                    writes: touched.writes,
                });
                synchronise(&mut *machine, &mut script, after);
                continue 'sequence;
            }
            break;
        }
    }

    let mut answers =
        script.run(&folder.join(&name).with_extension("commands")).expect("mspdebug").into_iter();
    compare_answers(&outcomes, &mut answers);
    let _ = std::fs::remove_file(&file);
}

#[test]
fn random_instructions_end_as_on_mspdebug() {
    let count = random::instructions(8_000, 1_000_000);
    let mut random = Random::new(random::seed());
    let mut done = 0;
    while done < count {
        let batch = BATCH.min(count - done);
        compare(&mut random, batch);
        done += batch;
    }
    println!("{done} instructions agree");
}
