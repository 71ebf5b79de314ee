//! Random floating-point instructions on the model and on Unicorn.
//!
//! S registers, FPSCR, core registers, flags and memory are compared after each.
//!
//! `WATTSEAL_ORACLE=long` runs a million instructions a core, or as many as
//! `WATTSEAL_ORACLE_INSTRUCTIONS` says, `WATTSEAL_SEED=n` another sequence.
//!
//! Unicorn 2.0.1 leaves out what belongs to the core: CPACR, CONTROL.FPCA and the stacking
//! (`float.rs` has these), and accesses at misaligned addresses, which always fault here (DDI
//! 0403E, A3.2.1). Its Cortex-M7 has no double precision: FPv5 is compared with its ARMv8-A, where
//! the instructions are the same.
//!
//! It deviates in this, and is not asked: VCVT from fixed point rounds to the nearest whatever
//! FPSCR says (A7.7.229).

use super::encodings::{Encoding, InIt};
use super::float_encodings;
use mcu::cores::cortex_m::decode::{Architecture, decode};
use mcu::cores::cortex_m::fpu::decode::{Operation, operation};
use mcu::cores::cortex_m::op::Opcode;
use mcu::{Mcu, MemoryKind, Stop, Until, new_machine};
use std::collections::BTreeMap;
use testkit::oracles::unicorn::{Model, Unicorn};
use testkit::random::{self, Random};

const CODE: u32 = 0x0800_0000;
const CODE_SIZE: u32 = 0x1_0000;
/// First address of the instructions; each gets a page of Unicorn's blocks.
const START: u32 = CODE + 0x400;
const PITCH: u32 = 0x400;
const RAM: u32 = 0x2000_0000;
const RAM_SIZE: u32 = 0x2000;
/// Index of S0 and of FPSCR among the registers.
const S0: usize = 23;
const FPSCR: usize = 55;

/// Unicorn's number of one of our registers; it is not asked for stack pointers and masks.
fn number(register: usize) -> Option<usize> {
    match register {
        0..17 => Some(register),
        17..S0 => None,
        _ => Some(register - (S0 - 17)),
    }
}

/// Numbers at the edges of single precision, of half precision and of integers; small and large
/// ones of both signs.
fn single(random: &mut Random) -> u32 {
    let sign = random.word() & 1 << 31;
    let fraction = match random.below(4) {
        0 => 0,
        1 => [1, 0x7f_ffff, 0x40_0000, 0x3f_ffff, 0x7f_e000, 0x00_1000, 0x00_1fff, 0x40_0001]
            [random.below(8) as usize],
        2 => random.word() & random.word() & 0x7f_ffff,
        _ => random.word() & 0x7f_ffff,
    };
    let exponent = match random.below(8) {
        0 => [0, 1, 254, 255][random.below(4) as usize],
        1 => 127 + 16 - random.below(4),
        2 => 127 - 13 - random.below(14),
        3 => 127 + 14 + random.below(20),
        4 => 64 - 4 + random.below(8),
        5 | 6 => 127 - 4 + random.below(9),
        _ => random.below(256),
    };
    sign | exponent << 23 | fraction
}

/// As [`single`] for double precision.
fn double(random: &mut Random) -> u64 {
    let word = |random: &mut Random| u64::from(random.word()) << 32 | u64::from(random.word());
    let sign = word(random) & 1 << 63;
    let mask = (1 << 52) - 1;
    let fraction = match random.below(5) {
        0 => 0,
        1 => [1, mask, 1 << 51, mask >> 1, mask << 29, mask << 28, 1 << 28, (1 << 29) - 1]
            [random.below(8) as usize],
        2 => word(random) & word(random),
        3 => word(random) << 29,
        _ => word(random),
    };
    let exponent = u64::from(match random.below(8) {
        0 => [0, 1, 2046, 2047][random.below(4) as usize],
        1 => 1023 + 128 - random.below(4),
        2 => 1023 - 124 - random.below(30),
        3 => 1023 + 14 + random.below(52),
        4 => 512 - 4 + random.below(8),
        5 | 6 => 1023 - 4 + random.below(9),
        _ => random.below(2048),
    });
    sign | exponent << 52 | fraction & mask
}

/// AHP, DN, FZ, the rounding mode, and flags that may be set already.
fn modes(random: &mut Random) -> u32 {
    let mut value = random.word() & 0xf0c0_0000;
    for bit in [24, 25, 26] {
        value |= u32::from(random.below(4) == 0) << bit;
    }
    if random.below(4) == 0 { value | random.word() & 0x9f } else { value }
}

struct Pair {
    ours: Box<dyn Mcu>,
    theirs: Unicorn,
    names: Vec<&'static str>,
    random: Random,
    at: u32,
    kinds: BTreeMap<String, u64>,
}

impl Pair {
    fn new(target: &str, model: Model, seed: u64) -> Pair {
        let mut part = super::programs::part(target);
        part.memories.retain(|memory| matches!(memory.name.as_str(), "flash" | "sram"));
        for memory in &mut part.memories {
            memory.aliases.clear();
            memory.start = if memory.kind == MemoryKind::Flash { CODE } else { RAM };
            memory.size = if memory.kind == MemoryKind::Flash { CODE_SIZE } else { RAM_SIZE };
        }
        part.peripherals.clear();
        let mut ours = new_machine(&part, 8_000_000).expect("a machine");
        let mut theirs = Unicorn::new(model).expect("unicorn");
        theirs.map(CODE, CODE_SIZE).expect("mapped");
        theirs.map(RAM, RAM_SIZE).expect("mapped");
        let mut random = Random::new(seed);
        for (start, size) in [(CODE, CODE_SIZE), (RAM, RAM_SIZE)] {
            let bytes: Vec<u8> = (0..size / 4).flat_map(|_| single(&mut random).to_le_bytes()).collect();
            assert!(ours.poke(start, &bytes));
            theirs.write(start, &bytes).expect("written");
        }
        // STR r1, [r0]; VMOV s0, s0; BKPT: the unit is on, and its context begun.
        let start = [0x01, 0x60, 0xb0, 0xee, 0x40, 0x0a, 0x00, 0xbe];
        assert!(ours.poke(CODE, &start));
        theirs.write(CODE, &start).expect("written");
        theirs.step(CODE + 2, 1).expect("VMOV");
        ours.set_pc(CODE);
        assert!(ours.set_register("r0", 0xe000_ed88) && ours.set_register("r1", 0xf0_0000));
        assert_eq!(ours.run(&Until { cycles: Some(1000), ..Until::default() }), Ok(Stop::Breakpoint));
        let names = ours.register_names().iter().map(|register| register.name).collect();
        Pair { ours, theirs, names, random, at: START, kinds: BTreeMap::new() }
    }

    fn set(&mut self, register: usize, value: u32) {
        assert!(self.ours.set_register(self.names[register], value));
        self.theirs.set_register(number(register).expect("a register of both"), value).expect("set");
    }

    fn fill(&mut self) {
        for register in 0..13 {
            let value = if self.random.below(2) == 0 { single(&mut self.random) } else { self.random.word() };
            self.set(register, value);
        }
        self.set(13, RAM + RAM_SIZE / 2);
        self.set(14, 0xffff_ffff);
        for register in (S0..FPSCR).step_by(2) {
            let (low, high) = match self.random.below(4) {
                0 | 1 => (single(&mut self.random), single(&mut self.random)),
                2 => {
                    let value = double(&mut self.random);
                    (value as u32, (value >> 32) as u32)
                }
                _ => (self.random.word(), self.random.word()),
            };
            self.set(register, low);
            self.set(register + 1, high);
        }
        let value = modes(&mut self.random);
        self.set(FPSCR, value);
        let flags = self.random.word() & 0xf000_0000;
        assert!(self.ours.set_register("xpsr", flags));
        self.theirs.set_register(16, flags | 1 << 24).expect("set");
    }

    /// Executes an instruction, in an IT block if a condition is given, and compares all.
    fn run(&mut self, code: &[u16], condition: Option<u16>) {
        self.fill();
        let it = condition.map(|condition| 0xbf08 | condition << 4);
        let (pc, start) = (self.at, if it.is_some() { self.at + 2 } else { self.at });
        let next = start + 4;
        self.at = if self.at + 2 * PITCH < CODE + CODE_SIZE { self.at + PITCH } else { START };
        let halves = it.iter().chain(code).chain(&[0xbf00, 0xbf00]);
        let bytes: Vec<u8> = halves.flat_map(|half| half.to_le_bytes()).collect();
        assert!(self.ours.poke(pc, &bytes));
        self.theirs.write(pc, &bytes).expect("written");
        let op = decode(code[0], code[1], start, 0, Architecture::V7EM);
        assert_eq!(op.inner, Opcode::Float, "{code:04x?} is an instruction");
        *self.kinds.entry(format!("{:?}", operation(&op))).or_default() += 1;
        for register in 0..15 {
            if op.operands().addresses >> register & 1 == 1 {
                let address = RAM + 0x400 + (self.random.below(RAM_SIZE - 0x800) & !3);
                self.set(register, address);
            }
        }
        if matches!(operation(&op), Operation::Vmsr) {
            // Bits that QEMU's A-profile registers have and these have not.
            let value = modes(&mut self.random);
            self.set(usize::from(op.n), value);
        }
        if operation(&op) == Operation::VcvtFromFixed {
            let fpscr = modes(&mut self.random) & !0xc0_0000;
            self.set(FPSCR, fpscr);
        }
        let before = self.ours.registers();
        self.ours.set_pc(pc);
        let ours = self.ours.run(&Until { cycles: Some(self.ours.cycles() + 200), addresses: vec![next] });
        let context =
            format!("{code:04x?} ({:?}) at {pc:#x}, condition {condition:?}, {op:?}", operation(&op));
        assert_eq!(ours, Ok(Stop::Address(next)), "{context}");
        let theirs = self.theirs.step(pc, 1);
        assert_eq!(theirs, Ok(()), "{context}");
        let after = self.ours.registers();
        for (register, (name, ours)) in after.iter().enumerate() {
            let Some(number) = number(register) else { continue };
            let mask = match register {
                16 => 0xf000_0000,
                FPSCR => 0xf7c0_009f,
                _ => u32::MAX,
            };
            let theirs = self.theirs.register(number).expect("read") & mask;
            assert!(
                ours & mask == theirs,
                "{context}: {name} is {:#x}, not {theirs:#x}\nbefore {before:x?}\nafter {after:x?}",
                ours & mask
            );
        }
        if op.operands().addresses != 0 {
            let (mut ours, mut theirs) = (vec![0; RAM_SIZE as usize], vec![0; RAM_SIZE as usize]);
            assert!(self.ours.peek(RAM, &mut ours));
            self.theirs.read(RAM, &mut theirs).expect("read");
            assert!(ours == theirs, "{context}: memory");
        }
    }
}

fn compare(target: &str, model: Model, has_double: bool) {
    let (seed, count) = (random::seed_or(0x0f10_a7ed), random::instructions(20_000, 1_000_000));
    let mut pair = Pair::new(target, model, seed);
    let table: Vec<Encoding> = float_encodings::all(has_double);
    let mut compared = 0;
    while compared < count {
        let encoding = &table[pair.random.below(table.len() as u32) as usize];
        let start = u64::from(pair.random.word()) << 32 | u64::from(pair.random.word()) | 1;
        let mut random = Random::new(start);
        let code = encoding.instance(&mut || random.word());
        if !has_double && float_encodings::is_double_processing(&code) {
            continue;
        }
        let in_it = encoding.in_it != InIt::Never && pair.random.below(8) == 0;
        let condition = in_it.then(|| pair.random.below(14) as u16);
        pair.run(&code, condition);
        compared += 1;
    }
    println!("{target}: {compared} instructions compared, seed {seed:#x}: {:?}", pair.kinds);
}

#[test]
fn fpv4_as_unicorn() {
    compare("stm32f407", Model::CortexM4, false);
}

#[test]
fn fpv5_as_unicorn() {
    compare("stm32f767", Model::ArmV8, true);
}
