//! Taint tracking on random programs.
//!
//! Two runs have different labelled data. Every difference between them has a label, or a leak was
//! reported before.

mod avr;
mod cortex_m;
mod grown;
mod hc08;
mod mcs51;
mod msp430;
mod r8c;
mod riscv;

use mcu::{Access, Image, Mcu, Observer, Part, Segment, Step, Taint, Until, new_machine};
use testkit::random::{Random, seed};

/// A random program in its machine, about to run, and what may be labelled.
struct Program {
    machine: Box<dyn Mcu>,
    /// Address at which it ends.
    end: u32,
    /// Registers that are data, by their indices, with the bits that may differ.
    registers: Vec<(usize, u32)>,
    /// Memory that is data.
    data: std::ops::Range<u32>,
    /// Its instructions, for a message.
    listing: String,
}

/// Events that an onlooker can tell apart, and the register banks.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Step {
        pc: u32,
        cycles: u64,
    },
    Access {
        address: u32,
        size: u8,
    },
    /// Instructions from here on have the registers of this bank. Which one it is may show in no
    /// access.
    Bank(u8),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Record {
    seen: Vec<Seen>,
    /// The cycle at which each of them was seen.
    cycles: Vec<u64>,
}

impl Observer for Record {
    fn step(&mut self, step: &Step) {
        self.seen.push(Seen::Step { pc: step.pc, cycles: step.cycles });
        self.cycles.push(step.cycles);
    }
    fn access(&mut self, access: &Access) {
        self.seen.push(Seen::Access { address: access.address, size: access.size });
        self.cycles.push(access.cycles);
    }
    fn bank(&mut self, bank: u8) {
        self.seen.push(Seen::Bank(bank));
        self.cycles.push(self.cycles.last().copied().unwrap_or(0));
    }
}

impl Record {
    /// The instruction that an event belongs to, or comes behind.
    fn instruction(&self, event: usize) -> Option<u32> {
        self.seen[..event].iter().rev().find_map(|seen| match seen {
            Seen::Step { pc, .. } => Some(*pc),
            _ => None,
        })
    }
}

fn load(part: &Part, segments: Vec<Segment>) -> Box<dyn Mcu> {
    let mut machine = new_machine(part, part.default_clock_hz).expect("a machine");
    machine.load(&Image { segments }).expect("a program that fits");
    machine.reset();
    machine
}

fn value(machine: &dyn Mcu, register: usize) -> u32 {
    machine.registers()[register].1
}

fn set(machine: &mut dyn Mcu, register: usize, value: u32) {
    let name = machine.register_names()[register].name;
    assert!(machine.set_register(name, value), "{name}");
}

/// Labels some data, and changes it in the second machine.
fn differ(program: &Program, taint: &mut Taint, other: &mut dyn Mcu, random: &mut Random) {
    for &(register, bits) in &program.registers {
        // Small values stay small, so that carries and quotients come about.
        let bits = if random.below(2) == 0 { bits } else { bits & 0xff };
        if random.below(4) == 0 && bits != 0 {
            taint.label_register(register, bits, 1);
            let before = value(other, register);
            set(other, register, before & !bits | random.word() & bits);
        }
    }
    for address in program.data.clone() {
        if random.below(4) == 0 {
            taint.label(address..address + 1, 1);
            assert!(other.poke(address, &[random.byte()]));
        }
    }
}

/// Runs a program twice; false where the model does not let it go on.
fn check(program: &Program, random: &mut Random) -> bool {
    let mut taint = program.machine.taint();
    let mut other = program.machine.snapshot();
    differ(program, &mut taint, &mut *other, random);
    let mut until = Until { cycles: Some(program.machine.cycles() + 20_000), addresses: vec![program.end] };
    let (mut plain, mut record, mut others) =
        (program.machine.snapshot(), Record::default(), Record::default());
    let ended = plain.run_observed(&until, &mut record).is_ok();
    if other.run_observed(&until, &mut others).is_err() || !ended {
        return false;
    }
    let parted = record.seen.iter().zip(&others.seen).position(|(one, other)| one != other);
    let same = plain.cycles() == other.cycles() && record.seen.len() == others.seen.len();
    let parted = parted.or((!same).then(|| record.seen.len() - 1));
    if let Some(parted) = parted {
        until.cycles = Some(record.cycles[parted] + 1);
    }
    let mut tainted = program.machine.snapshot();
    tainted.run_tainted(&until, &mut taint).expect("as before");
    taint.finish();
    assert_eq!(taint.unknown_instruction(), None, "\n{}", program.listing);
    if let Some(parted) = parted {
        let seen = (&record.seen[parted], others.seen.get(parted));
        // Where the bank alone differs, it is the instruction that chose it.
        let chosen = matches!(seen, (Seen::Bank(_), _) | (_, Some(Seen::Bank(_))));
        let by = record.instruction(parted).filter(|_| chosen);
        let told = taint.leaks().iter().any(|leak| by.is_none_or(|pc| leak.pc == pc));
        assert!(told, "no leak, but {seen:x?} behind {by:x?}: {:x?}\n{}", taint.leaks(), program.listing);
        return true;
    }
    for &(register, bits) in &program.registers {
        let name = plain.register_names()[register].name;
        let differing = (value(&*plain, register) ^ value(&*other, register)) & bits;
        for bit in (0..32).filter(|bit| differing >> bit & 1 != 0) {
            assert_ne!(taint.labels_in(register, 1 << bit), 0, "bit {bit} of {name}\n{}", program.listing);
        }
    }
    for address in program.data.clone() {
        let byte = |machine: &dyn Mcu| {
            let mut byte = [0];
            assert!(machine.peek(address, &mut byte));
            byte[0]
        };
        if byte(&*plain) != byte(&*other) {
            assert_ne!(taint.labels_at(address), 0, "memory at {address:#x}\n{}", program.listing);
        }
    }
    true
}

/// Many random programs.
fn check_many(count: u32, mut make: impl FnMut(&mut Random) -> Program) {
    let seed = seed();
    let mut random = Random::new(seed);
    let done = (0..count).filter(|_| check(&make(&mut random), &mut random)).count() as u32;
    assert!(done > count / 2, "{done} of {count} programs ran to their ends");
}
