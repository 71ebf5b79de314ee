//! Random 8051 instructions on the model and on uCsim's s51.
//!
//! Registers and machine cycles are the same after each one, and the bytes where it wrote external
//! data or a special function register. All of the internal RAM is compared every few instructions.
//!
//! The short run is seeded by the clock and prints its seed; `WATTSEAL_SEED` repeats it.
//! `WATTSEAL_ORACLE=long` runs a million instructions, or as many as `WATTSEAL_ORACLE_INSTRUCTIONS`
//! says.
//!
//! Differences of s51 0.6.4 from the user's manual 272383-002, and instructions that the model
//! refuses. They are left out or masked here; `instructions.rs` covers them by the manual:
//! - The parity in the PSW is what an instruction writes there until the accumulator changes; in
//!   the manual it follows the accumulator "each instruction cycle" (table "PSW: Program Status
//!   Word").
//! - IE1 and IE0 of TCON show the levels of P3.3 and P3.2, as in the manual; the model refuses to
//!   read TCON.
//! - `MOVC` adds without cutting the address to 16 bits; the program counter and DPTR have 16
//!   ("MOVC").
//! - A jump beyond the end of the code memory leaves a program counter of 17 bits; it has 16 (seed
//!   1795444402123680301).
//! - A push that counts the stack pointer from 0xff to 0 stops the simulator.
//! - Opcode 0xA5 and `MOV A,ACC` execute, a division by zero has a result, and indirect addresses
//!   beyond the internal RAM have bytes; these are faults in the model.

use mcu::{Access, AccessKind, Mcu, Observer, Part, Stop, Until, new_machine};
use std::path::{Path, PathBuf};
use testkit::oracles::ucsim::{Answer, Script, Simulator};
use testkit::random::{self, Random};

/// Instructions of one run of the simulator.
const BATCH: usize = 10_000;
/// Instructions after which the internal RAM is compared.
const DUMP: usize = 16;
/// Instructions after which all registers and the internal RAM are drawn anew.
const SEQUENCE: usize = 256;

const CODE: u32 = 0;
const EXTERNAL: u32 = 0x1_0000;
const INTERNAL: u32 = 0x2_0000;
const SPECIAL: u32 = 0x3_0000;
const PSW: u32 = SPECIAL + 0xd0;
const TCON: u32 = SPECIAL + 0x88;
const P: u32 = 1;

/// Special function registers that random operands name; those of the core more often.
const REGISTERS: [u8; 24] = [
    0xe0, 0xe0, 0xf0, 0xf0, 0xd0, 0xd0, 0x81, 0x82, 0x83, 0x90, 0x90, 0xa0, 0xb0, 0x88, 0x89, 0x8a, 0x8b,
    0x8c, 0x8d, 0x98, 0x87, 0xa8, 0xb8, 0x90,
];

/// Ports whose pins are free: the simulator knows no bus.
const PART: &str = r#"
name = "oracle"
description = "an 8051 as the simulator has it"
core = "mcs51"
default_clock_hz = 12000000
clocks_per_cycle = 12
memory = [
    { name = "code", kind = "flash", start = 0x00000, size = 0x10000 },
    { name = "xdata", kind = "ram", start = 0x10000, size = 0x10000 },
    { name = "idata", kind = "ram", start = 0x20000, size = 0x80 },
]
peripheral = [
    { name = "P1", model = "mcs51-port", base = 0x30090 },
    { name = "P2", model = "mcs51-port", base = 0x300a0 },
    { name = "P3", model = "mcs51-port", base = 0x300b0 },
    { name = "SYSTEM", model = "mcs51-system", base = 0x30080 },
]
"#;

/// A byte behind an opcode: a direct or bit address that exists, most of the time.
fn operand(random: &mut Random) -> u8 {
    match random.below(4) {
        0 => random.byte(),
        1 => {
            REGISTERS[random.below(REGISTERS.len() as u32) as usize]
                | if random.below(2) == 0 { 0 } else { random.byte() & 7 }
        }
        _ => random.byte() & 0x7f,
    }
}

/// 64 KB of instructions one behind the other.
fn program(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    while bytes.len() < 0x1_0000 {
        // What needs no operand takes no harm from two bytes that are instructions themselves.
        bytes.push(random.byte());
        bytes.extend([operand(random), operand(random)]);
        if random.below(2) == 0 {
            bytes.pop();
        }
    }
    bytes.truncate(0x1_0000);
    bytes
}

/// Collects what an instruction writes.
#[derive(Default)]
struct Writes(Vec<Access>);

impl Observer for Writes {
    fn access(&mut self, access: &Access) {
        if access.kind == AccessKind::Write {
            self.0.push(*access);
        }
    }
}

/// State of the model at each answer of the simulator.
enum ModelState {
    Step { what: String, cycles: u64, registers: Vec<(String, u32)>, wrote_psw: bool },
    Byte { what: String, mask: u8, value: u8 },
    Internal { what: String, bytes: Vec<u8> },
}

fn write_hex(path: &Path, bytes: &[u8]) {
    let mut text = String::new();
    for (line, bytes) in bytes.chunks(16).enumerate() {
        let address = (line * 16) as u16;
        let mut record = vec![bytes.len() as u8, (address >> 8) as u8, address as u8, 0];
        record.extend(bytes);
        let sum = record.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        record.push(sum.wrapping_neg());
        text.push(':');
        record.iter().for_each(|byte| text.push_str(&format!("{byte:02X}")));
        text.push('\n');
    }
    text.push_str(":00000001FF\n");
    std::fs::write(path, text).expect("hex file");
}

/// Draws what the next instruction finds: only the program counter and the pointers, or everything.
fn draw(random: &mut Random, machine: &mut dyn Mcu, script: &mut Script, everything: bool) {
    if everything {
        let internal: Vec<u8> = (0..0x80)
            .map(|_| if random.below(2) == 0 { random.byte() } else { random.byte() & 0x7f })
            .collect();
        assert!(machine.poke(INTERNAL, &internal));
        script.write("iram", 0, &internal);
        for address in [0xe0, 0xf0, 0xd0, 0x82, 0x83] {
            let value = random.byte();
            assert!(machine.poke(SPECIAL + address, &[value]));
            // The parity is the model's.
            let mut there = [0];
            assert!(machine.peek(SPECIAL + address, &mut there));
            script.write("sfr", address, &there);
        }
    }
    let sp = random.byte() & 0x7f;
    assert!(machine.poke(SPECIAL + 0x81, &[sp]));
    script.write("sfr", 0x81, &[sp]);
    for bank in [0, 8, 16, 24] {
        let pointers = [random.byte() & 0x7f, random.byte() & 0x7f];
        assert!(machine.poke(INTERNAL + bank, &pointers));
        script.write("iram", bank, &pointers);
    }
    let pc = random.below(0x1_0000);
    machine.set_pc(pc);
    script.jump(pc);
}

/// Returns true if `MOVC` reads beyond the end of the program memory, on from its start.
fn table_wraps(opcode: u8, registers: &[(String, u32)]) -> bool {
    let get = |wanted: &str| registers.iter().find(|(name, _)| name == wanted).map_or(0, |(_, value)| *value);
    let base = match opcode {
        0x83 => get("pc") + 1,
        0x93 => get("dptr"),
        _ => return false,
    };
    base + get("a") > 0xffff
}

/// Loads the program and random external memory on both sides.
fn load(random: &mut Random, machine: &mut dyn Mcu, script: &mut Script, program: &[u8], file: &Path) {
    assert!(machine.poke(CODE, program));
    write_hex(file, program);
    script.load(file);
    let external: Vec<u8> = (0..0x1_0000).map(|_| random.byte()).collect();
    assert!(machine.poke(EXTERNAL, &external));
    script.write("xram", 0, &external);
}

/// Compares each outcome with the simulator's answer.
fn compare_answers(outcomes: &[ModelState], answers: Vec<Answer>) {
    for (outcome, answer) in outcomes.iter().zip(answers) {
        match (outcome, answer) {
            (
                ModelState::Step { what, cycles, registers, wrote_psw },
                Answer::Step { ticks, registers: theirs },
            ) => {
                assert_eq!(cycles * 12, u64::from(ticks), "clocks of {what}");
                for (name, ours) in registers {
                    let theirs = if name == "pc" { Some(theirs.pc & 0xffff) } else { theirs.get(name) };
                    let ignored = if *wrote_psw && name == "psw" { P } else { 0 };
                    let [ours, theirs] =
                        [Some(*ours), theirs].map(|value| value.map(|value| value & !ignored));
                    assert_eq!(ours, theirs, "{name} (ours, theirs) after {what}");
                }
            }
            (ModelState::Byte { what, mask, value }, Answer::Bytes(theirs)) => {
                assert_eq!(*value & mask, theirs[0] & mask, "written by {what}");
            }
            (ModelState::Internal { what, bytes }, Answer::Bytes(theirs)) => {
                assert_eq!(*bytes, theirs, "internal RAM after some instructions up to {what}");
            }
            _ => panic!("answers and questions differ"),
        }
    }
}

/// Runs `count` instructions on both.
fn compare(random: &mut Random, count: usize) {
    let part = Part::from_toml(PART).expect("part");
    let mut machine = new_machine(&part, 12_000_000).expect("machine");
    let mut script = Script::new(Simulator::S51);
    let mut outcomes = Vec::new();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(format!("mcs51_oracle_{}_{}", std::process::id(), random.word()));

    let program = program(random);
    load(random, &mut *machine, &mut script, &program, &file.with_extension("ihx"));

    let mut done = 0;
    let mut drawn = true;
    while done < count {
        if done % SEQUENCE == 0 || drawn {
            draw(random, &mut *machine, &mut script, done % SEQUENCE == 0);
        }
        let before = machine.registers();
        let (pc, cycles) = (machine.pc(), machine.cycles());
        let mut bytes = [0; 3];
        (0..3).for_each(|offset| bytes[offset] = program[(pc as usize + offset) & 0xffff]);
        if table_wraps(bytes[0], &before) {
            drawn = true;
            continue;
        }
        let mut writes = Writes::default();
        let until = Until { cycles: Some(cycles + 1), addresses: Vec::new() };
        if machine.run_observed(&until, &mut writes) != Ok(Stop::Cycles) {
            // Refused, and nothing changed.
            assert_eq!(machine.registers(), before, "{bytes:02x?} at {pc:#06x}");
            drawn = true;
            continue;
        }
        // The simulator stops where the stack pointer counts from 0xff to 0, and is nowhere where a
        // jump goes over the end.
        drawn = machine.sp() >= INTERNAL + 0x80 || (pc > 0xff00 && machine.pc() < 0x100);
        done += 1;
        let what = || format!("{bytes:02x?} at {pc:#06x}, before {before:x?}");
        script.step();
        outcomes.push(ModelState::Step {
            what: what(),
            cycles: machine.cycles() - cycles,
            registers: machine.registers(),
            wrote_psw: writes.0.iter().any(|write| write.address == PSW),
        });
        if writes.0.iter().any(|write| write.address == PSW) {
            let mut psw = [0];
            assert!(machine.peek(PSW, &mut psw));
            script.write("sfr", PSW - SPECIAL, &psw);
        }
        for write in &writes.0 {
            let (memory, address) = match write.address {
                SPECIAL.. => ("sfr", write.address - SPECIAL),
                INTERNAL.. => continue,
                _ => ("xram", write.address - EXTERNAL),
            };
            // Registers of the core are among the registers, and may have changed since (POP SP).
            if memory == "xram" || !machine.peek(write.address, &mut [0]) {
                // IE1 and IE0 of TCON show pins.
                let mask = if write.address == TCON { 0xf5 } else { 0xff };
                script.read(memory, address, 1);
                outcomes.push(ModelState::Byte { what: what(), mask, value: write.value as u8 });
            }
        }
        if done % DUMP == 0 {
            let mut bytes = vec![0; 0x80];
            assert!(machine.peek(INTERNAL, &mut bytes));
            script.read("iram", 0, bytes.len());
            outcomes.push(ModelState::Internal { what: what(), bytes });
        }
    }

    let answers = script.run(&file.with_extension("commands")).expect("s51");
    std::fs::remove_file(file.with_extension("ihx")).expect("hex file");
    assert_eq!(answers.len(), outcomes.len());
    compare_answers(&outcomes, answers);
}

#[test]
fn random_instructions_end_as_on_ucsim() {
    let count = random::instructions(20_000, 1_000_000);
    let mut random = Random::new(random::seed());
    let mut done = 0;
    while done < count {
        let batch = BATCH.min(count - done);
        compare(&mut random, batch);
        done += batch;
    }
    println!("{done} instructions agree");
}
