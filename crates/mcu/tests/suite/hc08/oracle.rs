//! Random 68HC08 instructions on the model and on uCsim's `shc08`.
//!
//! Registers, flags, cycles and written memory are the same after each one, and all 64 kB at the
//! end of each batch.
//!
//! The short run is seeded by the clock and prints its seed; `WATTSEAL_SEED` repeats it.
//! `WATTSEAL_ORACLE=long` runs a million instructions, or as many as `WATTSEAL_ORACLE_INSTRUCTIONS`
//! says.
//!
//! Differences of uCsim 0.6.4 from CPU08RM, which are left out or expected here; `instructions.rs`
//! covers them by the manual:
//! - It counts the cycles of the later HCS08 where those differ ([`HCS08_CYCLES`]), also with `-t
//!   HC08`; what it counts there is expected to the cycle. All other instructions must take the
//!   same.
//! - `DBNZ` sets V, N and Z; the manual's leaves all flags ("DBNZ").
//! - `DAA` leaves sums with a low digit above 9 uncorrected; A, N, Z and C are not compared.
//! - `SWI` leaves I clear; the manual's sets it.
//! - `RSP` clears the stack pointer's high byte; the manual's leaves it ("RSP").
//! - Addresses beyond 64 kB do not wrap around: indexed ones that would are not drawn.
//! - `WAIT` and `STOP` do nothing.
//! - An instruction that writes over its own last bytes reads them afterwards, on the model before;
//!   the manual does not say. None such is drawn.
//! - The stack must stay above 0x7000.
//!
//! `DIV` and `DAA` where the manual leaves the result open are not drawn: the model stops there.

use mcu::{Access, AccessKind, Mcu, Observer, Part, Stop, Until, new_machine};
use std::fmt::Write as _;
use testkit::oracles::ucsim::{Answer, Script, Simulator};
use testkit::random::{self, Random};

/// Instructions that follow each other before registers are drawn anew.
const SEQUENCE: usize = 16;
/// Instructions of one run of the simulator.
const BATCH: usize = 10_000;

const PART: &str = r#"
name = "oracle"
description = "RAM everywhere, as the simulator has it"
core = "hc08"
default_clock_hz = 8000000
[[memory]]
name = "ram"
kind = "ram"
start = 0
size = 0x10000
"#;

/// Collects what an instruction writes.
#[derive(Default)]
struct Writes(Vec<Access>);

impl Writes {
    /// The written bytes with their addresses; the high byte of a word comes first.
    fn bytes(&self) -> Vec<(u32, u8)> {
        let bytes = self.0.iter().flat_map(|write| {
            let value = (write.value as u16).to_be_bytes();
            let bytes = value[2 - usize::from(write.size)..].to_vec();
            let address = write.address;
            bytes
                .into_iter()
                .enumerate()
                .map(move |(offset, byte)| (address.wrapping_add(offset as u32) & 0xffff, byte))
        });
        bytes.collect()
    }
}

impl Observer for Writes {
    fn access(&mut self, access: &Access) {
        if access.kind == AccessKind::Write {
            self.0.push(*access);
        }
    }
}

const V: u32 = 0x80;
const I: u32 = 0x08;
const N: u32 = 0x04;
const Z: u32 = 0x02;
const C: u32 = 0x01;

/// Cycles of the simulator where they are not the CPU08's, and the opcodes (9E in the high byte
/// where prefixed).
#[rustfmt::skip]
const HCS08_CYCLES: [(u32, &[u16]); 9] = [
    (1, &[0x62, 0x72, 0x84, 0x94, 0x95, 0x9a, 0x9b, 0xa7]),
    (3, &[
        0x7d, 0x7f, 0x86, 0x88, 0x8a, 0xbc, 0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc,
        0xfe, 0xff,
    ]),
    (4, &[0x3d, 0x3f, 0x6d, 0x6f, 0x74, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x7c, 0xcc]),
    (5, &[
        0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x34, 0x36, 0x37,
        0x38, 0x39, 0x3a, 0x3c, 0x5e, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6c, 0x71, 0x75, 0x7e, 0xbd, 0xfd, 0x9e6d,
        0x9e6f,
    ]),
    (6, &[0x52, 0x7b, 0x81, 0xcd, 0x9e64, 0x9e66, 0x9e67, 0x9e68, 0x9e69, 0x9e6a, 0x9e6c]),
    (7, &[0x3b, 0x6b]),
    (8, &[0x9e6b]),
    (9, &[0x80]),
    (11, &[0x83]),
];

/// Bits that are not compared after an instruction: of A, of SP, of the condition codes.
fn ignored(opcode: u16) -> [(&'static str, u32); 3] {
    let (a, sp, ccr) = match opcode {
        0x72 => (0xff, 0, N | Z | C),
        0x83 => (0, 0, I),
        0x9c => (0, 0xff00, 0),
        0x3b | 0x4b | 0x5b | 0x6b | 0x7b | 0x9e6b => (0, 0, V | N | Z),
        _ => (0, 0, 0),
    };
    [("a", a), ("sp", sp), ("ccr", ccr)]
}

/// Returns true if an address lies beyond 64 kB, or the instruction would write over itself.
fn is_left_out(bytes: [u8; 4], machine: &dyn Mcu) -> bool {
    let hx = get(machine, "h") << 8 | get(machine, "x");
    let word = |at: usize| u32::from(bytes[at]) << 8 | u32::from(bytes[at + 1]);
    let address = match (bytes[0], bytes[0] >> 4) {
        (0x9e, _) if bytes[1] >> 4 == 0xd => machine.sp() + word(2),
        (0x9e, _) => machine.sp() + u32::from(bytes[2]),
        (_, 0xc) => word(1),
        (_, 0xd) => hx + word(1),
        (_, 0xe | 0x6) => hx + u32::from(bytes[1]),
        (_, 0x5 | 0x7 | 0xf) => hx,
        _ => 0,
    };
    let itself = machine.pc()..machine.pc() + 4;
    // Five bytes are the most that one instruction pushes.
    let pushed = (0..5).any(|below| itself.contains(&(machine.sp() - below)));
    address > 0xffff || itself.contains(&address) || pushed
}

/// The registers that both print.
const NAMES: [&str; 5] = ["a", "h", "x", "sp", "ccr"];

fn get(machine: &dyn Mcu, name: &str) -> u32 {
    machine.registers().into_iter().find(|(other, _)| other == name).expect("register").1
}

/// State of the model after an instruction.
struct ModelState {
    opcode: u16,
    what: String,
    pc: u32,
    registers: [u32; 5],
    cycles: u64,
    writes: Vec<(u32, u8)>,
}

/// An Intel hex file of all 64 kB.
fn intel_hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (line, bytes) in bytes.chunks(16).enumerate() {
        let address = line * 16;
        let mut record = vec![bytes.len() as u8, (address >> 8) as u8, address as u8, 0];
        record.extend(bytes);
        let sum = record.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        text.push(':');
        for byte in record.iter().chain(&[sum.wrapping_neg()]) {
            let _ = write!(text, "{byte:02X}");
        }
        text.push('\n');
    }
    text.push_str(":00000001FF\n");
    text
}

/// Sets all registers on both sides.
fn synchronise(machine: &dyn Mcu, script: &mut Script) {
    let byte = |name| get(machine, name) as u8;
    script.write("regs8", 0, &[byte("a"), byte("ccr"), byte("h"), byte("x")]);
    script.write_word("regs16", 0, machine.sp() as u16);
    script.jump(machine.pc());
}

/// Draws all registers of the model.
fn draw_registers(random: &mut Random, machine: &mut dyn Mcu) {
    for (name, value) in [
        ("a", random.word()),
        ("h", random.word()),
        ("x", random.word()),
        ("ccr", random.word()),
        ("sp", 0x7100 + random.below(0x8e00)),
        ("pc", 0x100 + random.below(0xfe00)),
    ] {
        assert!(machine.set_register(name, value & if name.len() == 2 { 0xffff } else { 0xff }));
    }
}

/// Compares each outcome with the simulator's answers.
fn compare_answers(outcomes: &[ModelState], answers: &mut impl Iterator<Item = Answer>) {
    for outcome in outcomes {
        let what = &outcome.what;
        let Some(Answer::Step { ticks, registers }) = answers.next() else { panic!("no step for {what}") };
        for (name, ours) in NAMES.iter().zip(outcome.registers) {
            let masks = ignored(outcome.opcode);
            let mask = masks.iter().find(|(ignored, _)| ignored == name).map_or(0, |(_, mask)| *mask);
            let theirs = registers.get(name).expect("register");
            assert_eq!(ours & !mask, theirs & !mask, "{name} after {what}, seen {ours:#x} and {theirs:#x}");
        }
        assert_eq!(outcome.pc, registers.pc, "pc after {what}");
        let other = HCS08_CYCLES.iter().find(|(_, opcodes)| opcodes.contains(&outcome.opcode));
        let expected = other.map_or(outcome.cycles, |(cycles, _)| u64::from(*cycles));
        assert_eq!(expected, u64::from(ticks), "cycles of {what}");
        for (address, ours) in &outcome.writes {
            let Some(Answer::Bytes(theirs)) = answers.next() else { panic!("no memory for {what}") };
            assert_eq!(theirs, [*ours], "at {address:#06x} after {what}");
        }
    }
}

/// Runs `count` instructions on both.
fn compare(random: &mut Random, count: usize) {
    let part = Part::from_toml(PART).expect("part");
    let mut machine = new_machine(&part, 8_000_000).expect("machine");
    let mut script = Script::new(Simulator::Shc08);
    let mut outcomes = Vec::new();

    let image: Vec<u8> = (0..0x1_0000).map(|_| random.word() as u8).collect();
    assert!(machine.poke(0, &image));
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let name = format!("hc08_oracle_{}_{}", std::process::id(), random.word());
    let file = folder.join(&name).with_extension("ihx");
    std::fs::write(&file, intel_hex(&image)).expect("image");
    script.load(&file);

    while outcomes.len() < count {
        draw_registers(random, &mut *machine);
        synchronise(&*machine, &mut script);
        'sequence: for _ in 0..SEQUENCE {
            let pc = machine.pc();
            if !(0x100..0xff00).contains(&pc) || !(0x7080..0xfff0).contains(&machine.sp()) {
                break;
            }
            let mut kept = [0; 4];
            assert!(machine.peek(pc, &mut kept));
            for _ in 0..60 {
                let mut bytes = random.word().to_be_bytes();
                if random.below(8) == 0 {
                    bytes[0] = 0x9e;
                    bytes[1] = [0x60, 0xd0, 0xe0][random.below(3) as usize] | bytes[1] & 15;
                }
                if matches!(bytes[0], 0x8e | 0x8f) || is_left_out(bytes, &*machine) {
                    continue;
                }
                assert!(machine.poke(pc, &bytes));
                let before: Vec<u32> = NAMES.iter().map(|name| get(&*machine, name)).collect();
                let cycles = machine.cycles();
                let mut writes = Writes::default();
                let until = Until { cycles: Some(cycles + 1), addresses: Vec::new() };
                if machine.run_observed(&until, &mut writes) != Ok(Stop::Cycles) {
                    assert!(machine.poke(pc, &kept));
                    continue;
                }
                script.write("rom", pc, &bytes);
                script.step();
                let writes = writes.bytes();
                for (address, _) in &writes {
                    script.read("rom", *address, 1);
                }
                let opcode = if bytes[0] == 0x9e { 0x9e00 | u16::from(bytes[1]) } else { bytes[0].into() };
                outcomes.push(ModelState {
                    opcode,
                    what: format!("{bytes:02x?} at {pc:#06x}, before {before:02x?}"),
                    pc: machine.pc(),
                    registers: NAMES.map(|name| get(&*machine, name)),
                    cycles: machine.cycles() - cycles,
                    writes,
                });
                // Go on from the same state on both sides, where they differ as described above.
                if ignored(opcode).iter().any(|(_, mask)| *mask != 0) {
                    synchronise(&*machine, &mut script);
                }
                continue 'sequence;
            }
            break;
        }
    }

    script.read("rom", 0, 0x1_0000);

    let answers = script.run(&folder.join(&name).with_extension("commands")).expect("shc08");
    let _ = std::fs::remove_file(&file);
    let mut answers = answers.into_iter();
    compare_answers(&outcomes, &mut answers);
    let mut memory = vec![0; 0x1_0000];
    assert!(machine.peek(0, &mut memory));
    let Some(Answer::Bytes(theirs)) = answers.next() else { panic!("no memory at the end") };
    let different = memory.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
    assert_eq!(different, None, "the first address of memory that differs at the end");
}

#[test]
fn random_instructions_end_as_on_shc08() {
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
