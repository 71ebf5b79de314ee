//! Random R8C instructions on the model and on GDB's simulator.
//!
//! Registers of both banks, flags and touched memory are the same after each one, and all memory in
//! the end.
//!
//! The short run is seeded by the clock and prints its seed; `WATTSEAL_SEED` repeats it.
//! `WATTSEAL_ORACLE=long` runs a million instructions, or as many as `WATTSEAL_ORACLE_INSTRUCTIONS`
//! says.
//!
//! Gaps of the simulator of GDB 13.1 and differences from REJ09B0001, which are left out or masked
//! here; `instructions.rs` covers them by the manual:
//! - `LDCTX`, `STCTX`, `BRK` are not executed; `LDIPL` sets reserved bits; `STC PC` stores its own
//!   address.
//! - Byte operations into `A0` and `A1` work on 8 bits; the manual extends the source by zeros and
//!   works on 16. Of `MOV` alone the value is the same, S is not.
//! - `MUL.B` and `MULU.B` into `A0` clear `A1`.
//! - `DIV` and `DIVX` cut the dividend to the divisor's width: only dividends of that width are
//!   drawn. After an overflow quotient and remainder are undefined, and `DIVU.W` does not always
//!   set O.
//! - `LDE` leaves S and Z; `SHA` and `RMPA` leave O; `ABS` does not set O. A shift by R1H = 0
//!   changes flags.
//! - `base:8[An]`, `base:16[An]` and `bit,base:16[SB]` take the base as bits or SB as a bit
//!   address; `bit,base:8[SB/FB]` loses the upper three bits of SB or FB.
//! - `JMPI` and `JSRI` cut `dsp:20[An]` to 16 bits and take R2R0 for R3R1.
//! - Interrupts and `REIT` put the upper bits of FLG and PC in other places of the fourth byte on
//!   the stack, and save to the wrong stack where U is set, and beyond 64 kB where the stack
//!   pointer wraps around: only what makes no difference there is drawn.
//! - `PUSHC` of the selected stack pointer saves it after counting down, `POPC` counts it up after
//!   loading it; `POPC FLG` and `REIT` count the stack pointer that is selected afterwards.
//! - `JMP` to itself, `WAIT` and flag D end the run of the model.
//! - Addresses below 0x500 belong to the simulator's devices; reserved bits of FLG and INTB can be
//!   set.

use mcu::{Access, AccessKind, Mcu, Observer, Part, Stop, Until, new_machine};
use testkit::oracles::gdb_sim::{Answer, R8cRegisters as Registers, Script as GdbScript, Simulator};
use testkit::random::{self, Random};

type Script = GdbScript<20>;

const PART: &str = r#"
name = "oracle"
description = "RAM where the simulator has some"
core = "r8c"
default_clock_hz = 20000000
[[memory]]
name = "ram"
kind = "ram"
start = 0x500
size = 0xffa00
"#;

/// End of that memory.
const END: u32 = 0xf_ff00;
/// Memory that is random at first and compared in the end.
const MEMORY: std::ops::Range<u32> = 0x500..0x2_0000;
/// Instructions that follow each other before registers are drawn anew.
const SEQUENCE: usize = 16;
/// Instructions of one run of the simulator.
const BATCH: usize = 50_000;

const NAMES: [&str; 20] = [
    "bank0.r0", "bank0.r1", "bank0.r2", "bank0.r3", "bank0.a0", "bank0.a1", "bank0.fb", "bank1.r0",
    "bank1.r1", "bank1.r2", "bank1.r3", "bank1.a0", "bank1.a1", "bank1.fb", "sb", "usp", "isp", "flg",
    "intb", "pc",
];
const R0: usize = 0;
const R1: usize = 1;
const R2: usize = 2;
const R3: usize = 3;
const A0: usize = 4;
const A1: usize = 5;
const FB: usize = 6;
const BANK1: usize = 7;
const SB: usize = 14;
const USP: usize = 15;
const ISP: usize = 16;
const FLG: usize = 17;
const PC: usize = 19;

const D: u32 = 0x02;
const Z: u32 = 0x04;
const S: u32 = 0x08;
const B: u32 = 0x10;
const O: u32 = 0x20;
const U: u32 = 0x80;
const FLG_BITS: u32 = 0x70ff;

/// A register value: an address in memory, a small number, a number near the ends of the range, or
/// any.
fn value(random: &mut Random) -> u32 {
    match random.below(8) {
        0..=3 => 0x600 + random.below(0xf800),
        4 => random.below(16),
        5 => [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff][random.below(8) as usize],
        _ => random.word() & 0xffff,
    }
}

fn draw_registers(random: &mut Random) -> Registers {
    let mut values: Registers = std::array::from_fn(|_| value(random));
    for register in [FB, BANK1 + FB, SB] {
        // Where `bit,base:8` is the same on both.
        if random.below(2) == 0 {
            values[register] = 0x600 + random.below(0x1900);
        }
    }
    for register in [USP, ISP] {
        values[register] = 0x600 + random.below(0xf800);
    }
    values[FLG] = random.word() & FLG_BITS & !D;
    values[FLG + 1] = 0x600 + random.below(0xf800);
    values[PC] = 0x600 + random.below(0xf000);
    values
}

/// The bytes of an instruction, most of the time: opcodes of two bytes more often than the others.
fn instruction(random: &mut Random) -> [u8; 8] {
    let mut bytes: [u8; 8] = std::array::from_fn(|_| random.word() as u8);
    if random.below(2) == 0 {
        bytes[0] = [0x74, 0x75, 0x76, 0x77, 0x7a, 0x7b, 0x7c, 0x7d, 0x7e, 0xeb][random.below(10) as usize];
    }
    bytes
}

/// Returns true for the exclusions above that do not depend on registers.
fn is_left_out(bytes: &[u8; 8]) -> bool {
    let (first, second) = (bytes[0], bytes[1]);
    let (operation, field) = (second >> 4, second & 15);
    let to_address = field == 4 || field == 5;
    match first {
        0x00 => true,
        // Byte operations on two operands, and by a small immediate.
        0x70 | 0x78 | 0x80 | 0x88 | 0x90 | 0x98 | 0xa0 | 0xa8 | 0xb0 | 0xb8 | 0xc0 | 0xc8 | 0xd0 => {
            to_address
        }
        0x76 => to_address && operation < 9,
        0x7c => matches!(second, 0x44 | 0x54 | 0xc0..=0xcf | 0xf0),
        0x7d => match operation {
            0..=3 => matches!(field, 1 | 12 | 13) && (field != 1 || operation < 2),
            10 => true,
            _ => second == 0xf0,
        },
        0x7e => matches!(field, 8 | 9 | 12 | 13 | 14),
        _ => false,
    }
}

/// Returns true for `ROT`, `SHL` and `SHA` by R1H.
fn shifts_by_register(bytes: &[u8; 8]) -> bool {
    let operation = bytes[1] >> 4;
    match bytes[0] {
        0x74 | 0x75 => matches!(operation, 6 | 14 | 15),
        0xeb => operation < 4 && bytes[1] & 15 == 1,
        _ => false,
    }
}

/// Changes registers, memory and operands before an instruction so that both sides mean the same by
/// it.
fn arrange(
    random: &mut Random,
    machine: &mut dyn Mcu,
    script: &mut Script,
    bytes: &mut [u8; 8],
    values: &mut Registers,
) {
    let bank = if values[FLG] & B != 0 { BANK1 } else { 0 };
    let (first, second) = (bytes[0], bytes[1]);
    let wide = first & 1 == 1;
    if shifts_by_register(bytes) && random.below(8) != 0 {
        let most = if first == 0x74 { 8 } else { 16 };
        let count = 1 + random.below(most);
        let count = if random.below(2) == 0 { count } else { count.wrapping_neg() & 0xff };
        values[bank + R1] = values[bank + R1] & 0xff | count << 8;
    }
    let group_e = (first == 0x7c || first == 0x7d) && second >> 4 == 14;
    let divides =
        group_e && matches!(second & 15, 1 | 3) || first >> 1 == 0x3b && matches!(second >> 4, 9 | 13);
    if divides {
        let value = values[bank + R0];
        if wide {
            values[bank + R2] = if value & 0x8000 != 0 { 0xffff } else { 0 };
        } else {
            values[bank + R0] = value as u8 as i8 as u16 as u32;
        }
    }
    if group_e && (second & 15 >= 12 || (4..8).contains(&(second & 15))) {
        let mut decimal = || (0..4).map(|digit| random.below(10) << (4 * digit)).sum::<u32>();
        values[bank + R0] = decimal();
        values[bank + R1] = decimal();
        let immediate = decimal() as u16;
        if second & 15 >= 12 {
            bytes[2..4].copy_from_slice(&immediate.to_le_bytes());
        }
    }
    if group_e && (8..=10).contains(&(second & 15)) || (first == 0x7c || first == 0x7d) && second == 0xf1 {
        values[bank + R3] = random.below(6);
        values[bank + A1] = 0x600 + random.below(0xf800);
        values[bank + A0] = 0x600 + random.below(0xf800);
        values[bank + R1] = values[bank + R1] & 0xff | random.below(15) << 8;
    }
    let interrupts = first == 0xff || first == 0xf6 || first == 0xeb && second >= 0xc0;
    if interrupts {
        values[FLG] &= FLG_BITS & !0x70f0;
    }
    if first == 0xfb {
        let pointer = if values[FLG] & U != 0 { USP } else { ISP };
        // Not on the instruction itself, which would be written over.
        if values[pointer].abs_diff(values[PC]) < 16 {
            values[pointer] ^= 0x100;
        }
        let sp = values[pointer];
        if machine.poke(sp + 3, &[0]) {
            script.write(sp + 3, &[0]);
        }
    }
}

/// Collects what an instruction writes.
#[derive(Default)]
struct Touched(Vec<Access>);

impl Observer for Touched {
    fn access(&mut self, access: &Access) {
        if access.kind == AccessKind::Write {
            self.0.push(*access);
        }
    }
}

fn registers(machine: &dyn Mcu) -> Registers {
    let all = machine.registers();
    let selected =
        if all.iter().any(|(name, value)| name == "flg" && value & B != 0) { "bank1." } else { "bank0." };
    NAMES.map(|name| {
        let name = name.strip_prefix(selected).unwrap_or(name);
        all.iter().find(|(known, _)| known == name).expect("register").1
    })
}

fn set_registers(machine: &mut dyn Mcu, values: &Registers) {
    // FLG first: it says which bank is selected.
    assert!(machine.set_register("flg", values[FLG]));
    for (name, value) in NAMES.iter().zip(values) {
        assert!(machine.set_register(name, *value));
    }
}

/// Bits that are compared after an instruction; `None` where it is left out after all.
fn masks(bytes: &[u8; 8], before: &Registers, after: &Registers) -> Option<Registers> {
    let (first, second) = (bytes[0], bytes[1]);
    let (operation, field) = (second >> 4, second & 15);
    let to_address = field == 4 || field == 5;
    let bank = if before[FLG] & B != 0 { BANK1 } else { 0 };
    let mut masks = [0xffff; 20];
    masks[FLG] = FLG_BITS;
    (masks[FLG + 1], masks[PC]) = (0xf_ffff, 0xf_ffff);
    let overflow = after[FLG] & O != 0;
    let stack = before[if before[FLG] & U != 0 { USP } else { ISP }];
    match first {
        // MOV.B into A0 or A1.
        0x30..=0x37 | 0xe2 | 0xea => masks[FLG] &= !S,
        0x72 | 0xd8 if to_address => masks[FLG] &= !S,
        0x74 if to_address && matches!(operation, 11 | 12) => masks[FLG] &= !S,
        0x40..=0x5f if before[SB] > 0xfeff => return None,
        // PUSHC and POPC
        0xeb if matches!(second, 0x52 | 0x53) => return None,
        0xeb if matches!(second, 0x42 | 0x43) && before[FLG] & U == 0 => return None,
        // Interrupts
        0xf6 | 0xff if stack < 4 => return None,
        0xeb if second >= 0xc0 && stack < 4 => return None,
        0xfb if (before[FLG] ^ after[FLG]) & U != 0 => return None,
        0xeb if second == 0x33 && (before[FLG] ^ after[FLG]) & U != 0 => return None,
        0xf0 | 0xf1 => masks[FLG] &= !O,
        0x7e if matches!(field, 10 | 11) => {
            let base = before[if field == 10 { SB } else { bank + FB }];
            if !(0x20..0x1fe0).contains(&base) {
                return None;
            }
        }
        _ => {}
    }
    if shifts_by_register(bytes) {
        if before[bank + R1] >> 8 == 0 {
            return None;
        }
        masks[FLG] &= !O;
    }
    let group = first >> 1;
    // LDE
    if group == 0x3a && (8..=10).contains(&operation) {
        masks[FLG] &= !(S | Z);
    }
    // ABS
    if group == 0x3b && operation == 15 && overflow {
        masks[FLG] &= !O;
    }
    let group_e = group == 0x3e && operation == 14;
    let unsigned = group == 0x3b && operation == 12 || group_e && field == 0;
    let signed = group == 0x3b && matches!(operation, 9 | 13) || group_e && matches!(field, 1 | 3);
    if (unsigned || signed) && overflow {
        (masks[bank + R0], masks[bank + R2]) = (0, 0);
        if unsigned && first & 1 == 1 {
            masks[FLG] &= !O;
        }
    }
    // RMPA
    if group == 0x3e && second == 0xf1 {
        if overflow && before[bank + R3] != 0 {
            return None;
        }
        masks[FLG] &= !O;
    }
    Some(masks)
}

/// State of the model after an instruction.
struct ModelState {
    what: String,
    registers: Registers,
    masks: Registers,
    writes: Vec<Access>,
}

/// Compares each outcome with the simulator's answers.
fn compare_answers(outcomes: &[ModelState], answers: &mut impl Iterator<Item = Answer<20>>) {
    for outcome in outcomes {
        let Some(Answer::Registers(theirs)) = answers.next() else {
            panic!("no registers for {}", outcome.what)
        };
        for (register, (ours, theirs)) in outcome.registers.iter().zip(theirs).enumerate() {
            let mask = outcome.masks[register];
            assert_eq!(
                format!("{:05x}", ours & mask),
                format!("{:05x}", theirs & mask),
                "{} after {}",
                NAMES[register],
                outcome.what
            );
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
            assert!(
                covered.count() > 1 || ours == theirs,
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
    let mut machine = new_machine(&part, 20_000_000).expect("machine");
    let mut script = Script::new(Simulator::M32c);
    let mut outcomes = Vec::new();
    let image: Vec<u8> = MEMORY.map(|_| random.word() as u8).collect();
    assert!(machine.poke(MEMORY.start, &image));
    script.write(MEMORY.start, &image);

    while outcomes.len() < count {
        let mut before = draw_registers(random);
        'sequence: for _ in 0..SEQUENCE {
            let pc = before[PC];
            if !(0x600..0xff00).contains(&pc) {
                break;
            }
            for _ in 0..60 {
                let (mut bytes, mut values) = (instruction(random), before);
                if is_left_out(&bytes) {
                    continue;
                }
                arrange(random, &mut *machine, &mut script, &mut bytes, &mut values);
                assert!(machine.poke(pc, &bytes));
                script.write(pc, &bytes);
                set_registers(&mut *machine, &values);
                let mut touched = Touched::default();
                let until = Until { cycles: Some(machine.cycles() + 1), addresses: Vec::new() };
                let stop = machine.run_observed(&until, &mut touched);
                let after = registers(&*machine);
                let masks = masks(&bytes, &values, &after).filter(|_| stop == Ok(Stop::Cycles));
                let Some(masks) = masks else {
                    // What it wrote all the same; a word across the end of memory is not reported.
                    for (address, size) in
                        touched.0.iter().map(|write| (write.address, write.size)).chain([(END - 1, 1)])
                    {
                        let mut bytes = [0; 2];
                        let bytes = &mut bytes[..usize::from(size)];
                        assert!(machine.peek(address, bytes));
                        script.write(address, bytes);
                    }
                    continue;
                };
                script.step(&values);
                for write in &touched.0 {
                    script.read(write.address, usize::from(write.size));
                }
                let what = format!("{bytes:02x?}, before {values:05x?}");
                outcomes.push(ModelState { what, registers: after, masks, writes: touched.0 });
                before = after;
                before[FLG] &= !D;
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
