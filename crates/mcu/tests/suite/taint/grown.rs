//! Random programs that grow by instructions that the model executes.
//!
//! An instruction is kept if it goes on behind itself and writes nothing but data. This serves
//! cores whose decoders are not public.

use super::{Program, load, set};
use mcu::{Access, AccessKind, Mcu, Observer, Part, Segment, Until};
use std::ops::Range;
use testkit::random::Random;

/// Material of a core's programs.
pub(super) struct Soil {
    pub part: &'static str,
    /// First address of the program.
    pub code: u32,
    pub no_operation: u8,
    /// The bytes of an instruction and what may follow it.
    pub instruction: fn(&mut Random) -> [u8; 8],
    pub data: Range<u32>,
    /// Registers with an address, which may be written, too.
    pub registers_in_memory: &'static [u32],
    /// Registers that are data, with the bits that may differ.
    pub registers: &'static [(&'static str, u32)],
    /// Initial values of the registers.
    pub draw: fn(&mut Random, &str) -> Option<u32>,
}

/// Observer that checks that all writes were to data.
struct Writes<'a> {
    soil: &'a Soil,
    tame: bool,
}

impl Observer for Writes<'_> {
    fn access(&mut self, access: &Access) {
        let Access { address, size, .. } = *access;
        let in_data = self.soil.data.contains(&address) && address + u32::from(size) <= self.soil.data.end;
        let allowed = in_data || self.soil.registers_in_memory.contains(&address);
        self.tame &= access.kind == AccessKind::Read || allowed;
    }
}

/// The most that a branch may go on by.
const REACH: u32 = 12;

impl Soil {
    pub fn program(&self, random: &mut Random, instructions: u32) -> Program {
        let part = Part::from_toml(self.part).expect("a part");
        let rest = Segment { address: self.code, bytes: vec![self.no_operation; 1024] };
        let mut machine = load(&part, vec![rest]);
        let names: Vec<&str> = machine.register_names().iter().map(|register| register.name).collect();
        for (index, name) in names.iter().enumerate() {
            if let Some(value) = (self.draw)(random, name) {
                set(&mut *machine, index, value);
            }
        }
        for address in self.data.clone() {
            assert!(machine.poke(address, &[random.byte()]));
        }
        let pc = names.iter().position(|name| *name == "pc").expect("a program counter");
        set(&mut *machine, pc, self.code);
        let begin = machine.snapshot();
        for _ in 0..instructions {
            self.grow(&mut machine, random);
        }
        let end = machine.pc();
        let mut code = vec![0; (end - self.code + REACH) as usize];
        assert!(machine.peek(self.code, &mut code));
        let mut machine = begin;
        assert!(machine.poke(self.code, &code));
        let listing = code.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
        let index = |name: &str| names.iter().position(|other| *other == name).expect("a register");
        let registers = self.registers.iter().map(|(name, bits)| (index(name), *bits)).collect();
        Program { machine, end, registers, data: self.data.clone(), listing }
    }

    /// Executes another instruction, behind which one more can follow.
    fn grow(&self, machine: &mut Box<dyn Mcu>, random: &mut Random) {
        let pc = machine.pc();
        for _ in 0..10_000 {
            let mut next = machine.snapshot();
            let mut bytes = [self.no_operation; REACH as usize + 8];
            bytes[..8].copy_from_slice(&(self.instruction)(random));
            assert!(next.poke(pc, &bytes));
            let mut writes = Writes { soil: self, tame: true };
            let near = pc + 1..=pc + REACH;
            if !step(&mut *next, &mut writes) || !writes.tame || !near.contains(&next.pc()) {
                continue;
            }
            // It may have fallen asleep, or asked for an interrupt.
            let mut behind = next.snapshot();
            assert!(behind.poke(next.pc(), &[self.no_operation]));
            if step(&mut *behind, &mut writes) {
                *machine = next;
                return;
            }
        }
        panic!("no instruction of 10,000 at {pc:#x} goes on behind itself");
    }
}

/// Executes one instruction; false where the model does not.
fn step(machine: &mut dyn Mcu, observer: &mut dyn Observer) -> bool {
    let before = machine.instructions();
    let until = Until { cycles: Some(machine.cycles() + 1), addresses: Vec::new() };
    machine.run_observed(&until, observer).is_ok() && machine.instructions() > before
}

/// An address in a range most of the time, a small number or any other.
pub(super) fn address(random: &mut Random, range: Range<u32>) -> u32 {
    match random.below(8) {
        0 => random.below(16),
        1 => random.word() & 0xffff,
        _ => range.start + random.below(range.end - range.start),
    }
}
