//! Random instructions on the model and on Unicorn.
//!
//! Registers, flags and touched memory are compared after each.
//!
//! `WATTSEAL_ORACLE=long` runs a million instructions a core, or as many as
//! `WATTSEAL_ORACLE_INSTRUCTIONS` says, `WATTSEAL_SEED=n` another sequence.
//!
//! Unicorn 2.0.1 does not tell what these do, and they are left out:
//! - LDM, LDRD, LDREX and their stores at misaligned addresses: it allows them; the architecture
//!   faults (DDI 0403E, A3.2.1).
//! - Exclusive stores after anything but CLREX or the exclusive load of the same size and address:
//!   its monitor compares address, size and the value in memory, the architecture's only has a
//!   state and leaves the rest IMPLEMENTATION DEFINED (A3.4.1). Each STREX stands directly after
//!   one of these two; the others are in `core.rs`, with the pairs that seed 20261121 found.
//! - Bit-band aliases and the system control space (DDI 0439D, 3.7): it has no memory there. An
//!   instruction of an IT block may turn an address into one of these; the block's remainder is not
//!   compared.
//! - Writes to SP of numbers that are no multiples of four: it keeps the lowest two bits, which are
//!   always zero (DDI 0403E, B1.4.1); they are cleared before comparing.
//!
//! Unicorn executes an IT block at once, so there the states are compared at its end.

use super::encodings::{self, Encoding, InIt, Since};
use mcu::cores::cortex_m::decode::{Architecture, decode};
use mcu::cores::cortex_m::op::Opcode;
use mcu::{Fault, Mcu, MemoryKind, Stop, Until, new_machine};
use testkit::oracles::unicorn::{Model, Unicorn};
use testkit::random::{self, Random};

const CODE: u32 = 0x0800_0000;
const CODE_SIZE: u32 = 0x1_0000;
/// First address of the instructions; below are NOPs.
const START: u32 = CODE + 0x400;
/// Address of `MSR APSR_nzcvqg, r0`.
const SET_FLAGS: u32 = CODE + 0x100;
const RAM: u32 = 0x2000_0000;
const RAM_SIZE: u32 = 0x2000;

/// Numbers at which arithmetic has its corners, and any others.
fn value(random: &mut Random) -> u32 {
    match random.below(8) {
        0 => [0, 1, 0xffff_ffff, 0x8000_0000, 0x7fff_ffff, 0xffff, 0x8000, 0x7fff][random.below(8) as usize],
        1 => random.below(40),
        2 => random.below(40).wrapping_neg(),
        3 => 1 << random.below(32),
        _ => random.word(),
    }
}

struct Pair {
    ours: Box<dyn Mcu>,
    theirs: Unicorn,
    random: Random,
    architecture: Architecture,
    flags: u32,
    at: u32,
    compared: u64,
    faulted: u64,
    kinds: std::collections::HashMap<Opcode, u64>,
}

fn is_it(code: &[u16]) -> bool {
    code.len() == 1 && code[0] >> 8 == 0xbf && code[0] & 15 != 0
}

/// Halfwords at an address, for a message.
fn show(code: &[u16]) -> String {
    code.iter().map(|half| format!("{half:04x}")).collect::<Vec<_>>().join(" ")
}

impl Pair {
    fn new(target: &str, model: Model, architecture: Architecture, seed: u64) -> Pair {
        let mut part = super::programs::part(target);
        // The same memories as the other's: nothing at other addresses.
        part.memories.retain(|memory| matches!(memory.name.as_str(), "flash" | "sram"));
        for memory in &mut part.memories {
            memory.aliases.clear();
            memory.size = if memory.kind == MemoryKind::Flash { CODE_SIZE } else { RAM_SIZE };
        }
        part.peripherals.clear();
        let ours = new_machine(&part, 8_000_000).expect("a machine");
        let mut theirs = Unicorn::new(model).expect("unicorn");
        theirs.map(CODE, CODE_SIZE).expect("mapped");
        theirs.map(RAM, RAM_SIZE).expect("mapped");
        let flags = match architecture {
            Architecture::V6M => 0xf000_0000,
            Architecture::V7M => 0xf800_0000,
            Architecture::V7EM => 0xf80f_0000,
        };
        let mut pair = Pair {
            ours,
            theirs,
            random: Random::new(seed),
            architecture,
            flags,
            at: START,
            compared: 0,
            faulted: 0,
            kinds: std::collections::HashMap::new(),
        };
        assert!(pair.ours.poke(CODE, &[0x00, 0xbf].repeat(CODE_SIZE as usize / 2)));
        assert!(pair.ours.poke(SET_FLAGS, &[0x80, 0xf3, 0x00, 0x8c]));
        pair.resynchronise();
        pair
    }

    /// RAM with data, and here and there the address of code.
    fn fill_ram(&mut self) {
        let mut bytes = Vec::new();
        for _ in 0..RAM_SIZE / 4 {
            let word = if self.random.below(3) == 0 {
                CODE + self.random.below(CODE_SIZE) | 1
            } else {
                self.random.word()
            };
            bytes.extend(word.to_le_bytes());
        }
        assert!(self.ours.poke(RAM, &bytes));
        self.theirs.write(RAM, &bytes).expect("written");
    }

    fn set(&mut self, register: usize, value: u32) {
        let name = match register {
            13 => "sp".to_string(),
            14 => "lr".to_string(),
            _ => format!("r{register}"),
        };
        assert!(self.ours.set_register(&name, value));
        self.theirs.set_register(register, value).expect("set");
    }

    /// Puts a sequence of instructions at the next free place and executes it one by one.
    fn run(&mut self, sequence: &[Vec<u16>]) {
        let halves = sequence.iter().flatten().chain(&[0xbf00; 4]);
        let bytes: Vec<u8> = halves.flat_map(|half| half.to_le_bytes()).collect();
        if self.at > CODE + CODE_SIZE - 0x1400 {
            self.at = START;
        }
        self.at += 2 * self.random.below(4);
        // Unicorn ends its blocks of instructions, and with them IT blocks, where a page of 1 KB
        // ends.
        if self.at & 0x3ff > 0x3c0 {
            self.at = (self.at + 0x3ff) & !0x3ff;
        }
        let pc = self.at;
        self.at += bytes.len() as u32;
        assert!(self.ours.poke(pc, &bytes));
        self.theirs.write(pc, &bytes).expect("written");

        // What a block reads from SP after such a write would differ.
        let to_sp = |code: &Vec<u16>| {
            let op = decode(code[0], code.get(1).copied().unwrap_or(0), pc, 0, self.architecture);
            matches!(op.inner, Opcode::MovSp | Opcode::AddSpShift | Opcode::SubSpShift | Opcode::LdrSp)
        };
        if sequence.len() > 1 && sequence[..sequence.len() - 1].iter().any(to_sp) {
            return;
        }

        let flags = self.draw_state(sequence, pc);
        self.execute(sequence, pc, flags);
    }

    /// Draws registers and flags for a sequence at `pc`. Registers are anything; those that form
    /// addresses are mostly in RAM, mostly aligned.
    fn draw_state(&mut self, sequence: &[Vec<u16>], pc: u32) -> u32 {
        for register in 0..15 {
            let value = value(&mut self.random);
            self.set(register, if register == 13 { RAM + 0x1000 + (value & 0xffc) } else { value });
        }
        let mut it = 0;
        let mut address = pc;
        for code in sequence {
            let op = decode(code[0], code.get(1).copied().unwrap_or(0), address, it, self.architecture);
            assert_ne!(op.inner, Opcode::Undefined, "{} is an instruction", show(code));
            *self.kinds.entry(op.inner).or_default() += 1;
            it =
                if op.inner == Opcode::It { op.imm as u8 } else { mcu::cores::cortex_m::decode::advance(it) };
            address += 2 * code.len() as u32;
            let operands = op.operands();
            let indexed =
                matches!(op.inner, Opcode::Tbb | Opcode::Tbh) || operands.addresses.count_ones() > 1;
            for register in 0..15u8 {
                if operands.addresses >> register & 1 == 0 {
                    continue;
                }
                let value = if indexed && register == op.m && register != op.n {
                    self.random.below(0x100)
                } else {
                    let align = if self.random.below(6) == 0 && register != 13 { 0 } else { 3 };
                    RAM + 0x400 + (self.random.below(RAM_SIZE - 0x800) & !align)
                };
                self.set(usize::from(register), value);
            }
            if matches!(op.inner, Opcode::Bx | Opcode::Blx | Opcode::MovPc)
                && op.m != 13
                && self.random.below(8) != 0
            {
                let value = CODE + self.random.below(CODE_SIZE) | 1;
                self.set(usize::from(op.m), value);
            }
            if op.inner == Opcode::AddPc && op.m != 13 {
                let value = self.random.below(0x400) & !1;
                self.set(usize::from(op.m), value);
            }
        }
        let flags = self.random.word() & self.flags;
        self.ours.set_pc(pc);
        assert!(self.ours.set_register("xpsr", flags));
        self.theirs.set_register(16, flags | 1 << 24).expect("set");
        if self.architecture == Architecture::V7EM {
            // Unicorn does not set GE from outside.
            let r0 = self.theirs.register(0).expect("read");
            self.theirs.set_register(0, flags).expect("set");
            self.theirs.step(SET_FLAGS, 1).expect("MSR");
            self.theirs.set_register(0, r0).expect("set");
        }
        flags
    }

    /// Executes a sequence on both, and compares the states after each instruction.
    fn execute(&mut self, sequence: &[Vec<u16>], pc: u32, flags: u32) {
        let mut at = pc;
        let block = is_it(&sequence[0]);
        let mut elsewhere = false;
        for (index, code) in sequence.iter().enumerate() {
            let context = format!(
                "{} of [{}] at {at:#x}",
                show(code),
                sequence.iter().map(|c| show(c)).collect::<Vec<_>>().join(", ")
            );
            let before = self.ours.registers();
            let op = decode(code[0], code.get(1).copied().unwrap_or(0), at, 0, self.architecture);
            let addresses = op.operands().addresses;
            elsewhere |= reaches_elsewhere(addresses, &before);
            let next = at + 2 * code.len() as u32;
            // IT may take no time: it ends at the address after it.
            let it = is_it(code);
            // An instruction can take no cycle: IT, and what goes by beside a load.
            let until = Until { cycles: (!it).then(|| self.ours.cycles() + 1), addresses: vec![next] };
            let ours = self.ours.run(&until).map_err(|fault| match fault {
                Fault::BitBand { fault, .. } => *fault,
                fault => fault,
            });
            // Unicorn counts an IT block as one instruction: its state is compared at the end of
            // the block.
            if block && index + 1 < sequence.len() && ours.is_ok() && self.ours.pc() == next {
                self.compared += 1;
                at = next;
                continue;
            }
            let theirs = self.theirs.step(if block { pc } else { at }, 1);
            match ours {
                Ok(Stop::Cycles | Stop::Address(_) | Stop::Halted) => {}
                Err(Fault::Architecture { ref what, .. })
                    if what.contains("misaligned") || what.contains("STREX") =>
                {
                    self.faulted += 1;
                    return self.resynchronise();
                }
                Err(
                    Fault::Unmapped { .. }
                    | Fault::Architecture { .. }
                    | Fault::Peripheral { .. }
                    | Fault::Returned { .. },
                ) => {
                    self.faulted += 1;
                    if theirs.is_ok() {
                        // Unicorn stops before it fetches: its program counter tells.
                        let pc = self.theirs.register(15).expect("read");
                        assert!(
                            !(CODE..CODE + CODE_SIZE).contains(&pc)
                                || matches!(ours, Err(Fault::Architecture { .. } | Fault::Peripheral { .. })),
                            "{context}: {ours:?}, but unicorn goes on at {pc:#x}"
                        );
                    }
                    return self.resynchronise();
                }
                other => panic!("{context}: {other:?}"),
            }
            let after = self.ours.registers();
            if block && elsewhere && theirs.is_err() {
                self.faulted += 1;
                return self.resynchronise();
            }
            if let Err(error) = theirs {
                let pc = self.theirs.register(15).expect("read");
                assert!(
                    pc == self.ours.pc() && index + 1 == sequence.len(),
                    "{context}: {error}, before {before:x?}"
                );
            }
            self.compare_registers(&context, flags, &before, &after);
            self.compared += 1;
            if after[15].1 != next {
                break;
            }
            at = next;
        }
        self.compare_ram(sequence);
    }

    fn compare_registers(
        &mut self,
        context: &str,
        flags: u32,
        before: &[(String, u32)],
        after: &[(String, u32)],
    ) {
        let sp = self.theirs.register(13).expect("read");
        self.theirs.set_register(13, sp & !3).expect("set");
        for register in 0..16 {
            let theirs = self.theirs.register(register).expect("read");
            assert_eq!(
                format!("{:#x}", after[register].1),
                format!("{theirs:#x}"),
                "{context}: register {register}, flags before {flags:#x}, before {before:x?}, after {after:x?}"
            );
        }
        let theirs = self.theirs.register(16).expect("read") & self.flags;
        assert_eq!(
            format!("{:#x}", after[16].1 & self.flags),
            format!("{theirs:#x}"),
            "{context}: flags, before {before:x?}, after {after:x?}"
        );
    }

    fn compare_ram(&mut self, sequence: &[Vec<u16>]) {
        let (mut ours, mut theirs) = (vec![0; RAM_SIZE as usize], vec![0; RAM_SIZE as usize]);
        assert!(self.ours.peek(RAM, &mut ours));
        self.theirs.read(RAM, &mut theirs).expect("read");
        if ours != theirs {
            let at = ours.iter().zip(&theirs).position(|(a, b)| a != b).expect("they differ");
            panic!(
                "memory differs at {:#x} after {:?}",
                RAM + at as u32,
                sequence.iter().map(|c| show(c)).collect::<Vec<_>>()
            );
        }
    }

    /// After a fault the two may have stored different parts of what was to be stored, also to
    /// flash, and Unicorn may be within an IT block, which NOPs end.
    fn resynchronise(&mut self) {
        let mut flash = vec![0; CODE_SIZE as usize];
        assert!(self.ours.peek(CODE, &mut flash));
        self.theirs.write(CODE, &flash).expect("written");
        self.theirs.step(CODE, 8).expect("NOPs");
        self.fill_ram();
    }
}

/// The exclusive load of the address and size of an exclusive store, which leaves the base register
/// as it is.
fn exclusive_load(store: &[u16], random: &mut impl FnMut() -> u32) -> Option<Vec<u16>> {
    let base = store[0] & 15;
    let register = (base + 1 + (random() % 7) as u16) % 8;
    match store[0] & 0xfff0 {
        0xe840 => Some(vec![0xe850 | base, register << 12 | 0x0f00 | store[1] & 0xff]),
        0xe8c0 => Some(vec![0xe8d0 | base, register << 12 | 0x0f0f | store[1] & 0xf0]),
        _ => None,
    }
}

fn compare(target: &str, model: Model, architecture: Architecture, since: Since) {
    let (seed, count) =
        (random::seed_or(0x0123_4567_89ab_cdef), random::instructions(20_000, 1_000_000) as u64);
    let mut pair = Pair::new(target, model, architecture, seed);
    let table: Vec<Encoding> =
        encodings::all().into_iter().filter(|encoding| encoding.since <= since).collect();
    let clrex = vec![0xf3bf, 0x8f2f];
    while pair.compared < count {
        let which = pair.random.below(table.len() as u32) as usize;
        let encoding = &table[which];
        let mut random = {
            let start = u64::from(pair.random.word()) << 32 | u64::from(pair.random.word()) | 1;
            let mut random = Random::new(start);
            move || random.word()
        };
        let instance = encoding.instance(&mut random);
        let mut sequence = vec![instance];
        let in_it = architecture >= Architecture::V7M && encoding.in_it != InIt::Never && random() % 4 == 0;
        if in_it {
            let before = random() % 4;
            let mut block = Vec::new();
            if let Some(load) = exclusive_load(&sequence[0], &mut random) {
                pair.run(std::slice::from_ref(&clrex));
                if random() % 2 == 0 {
                    sequence.insert(0, load);
                }
            }
            let before = before.min(4 - sequence.len() as u32);
            while (block.len() as u32) < before {
                let filler = &table[random() as usize % table.len()];
                // MSR and barriers make Unicorn look up in the midst of the block; STREX needs what
                // comes before it.
                let odd = ["1111001110", "11101000010", "11101000110"];
                if filler.in_it == InIt::Anywhere && !odd.iter().any(|bits| filler.bits.starts_with(bits)) {
                    block.push(filler.instance(&mut random));
                }
            }
            block.append(&mut sequence);
            let condition = random() % 15;
            let length = block.len() as u32;
            let mask = if condition == 14 {
                1 << (4 - length)
            } else {
                // Then or else for each after the first, and the end.
                (random() & 15) & !((1 << (5 - length)) - 1) | 1 << (4 - length)
            };
            sequence.push(vec![(0xbf00 | condition << 4 | mask & 15) as u16]);
            sequence.append(&mut block);
        } else if let Some(load) = exclusive_load(&sequence[0], &mut random) {
            sequence.insert(0, if random() % 2 == 0 { load } else { clrex.clone() });
        }
        pair.run(&sequence);
    }
    let mut kinds: Vec<_> = pair.kinds.iter().collect();
    kinds.sort_by_key(|(_, count)| **count);
    println!("{target}: {} instructions compared, {} faulted in both", pair.compared, pair.faulted);
    println!("{} kinds, the rarest: {:?}", kinds.len(), &kinds[..8.min(kinds.len())]);
}

/// Returns true if these registers, a bit each, may address an alias of bits or a system register,
/// at which Unicorn has no memory. They count also as a base with an index of up to three bits to
/// the left.
fn reaches_elsewhere(addresses: u16, before: &[(String, u32)]) -> bool {
    let is_elsewhere = |address: u32| matches!(address >> 24, 0x22 | 0x23 | 0xe0);
    let values: Vec<u32> = (0..15)
        .filter(|register| addresses >> register & 1 == 1)
        .map(|register| before[register].1)
        .collect();
    let sums = values.iter().flat_map(|base| values.iter().map(move |index| (base, index)));
    values.iter().copied().any(is_elsewhere)
        || sums
            .into_iter()
            .any(|(base, index)| (0..4).any(|shift| is_elsewhere(base.wrapping_add(index << shift))))
}

#[test]
fn armv6m_as_unicorn() {
    compare("stm32f051", Model::CortexM0, Architecture::V6M, Since::V6M);
}

#[test]
fn armv7m_as_unicorn() {
    compare("stm32f100", Model::CortexM3, Architecture::V7M, Since::V7M);
}

#[test]
fn armv7em_as_unicorn() {
    compare("stm32f407", Model::CortexM4, Architecture::V7EM, Since::V7EM);
}
