//! [`mcu::Mcu::restore`] on the AVR, Cortex-M0, 8051, R8C and 68HC08: a restored machine runs on as
//! the one that it was made of. So does one that runs in pieces: of a cycle, or up to breakpoints.
//!
//! The programs are random, with writes to registers of peripherals, and where the part has a timer
//! with its interrupts.

use crate::cortex_m::programs::part;
use mcu::{
    Access, ClockChange, DacStep, Image, Mcu, Observer, Part, PinDirections, PinEdge, Segment, SleepInterval,
    Step, Until, new_machine,
};
use std::fmt::Debug;
use testkit::random::{Random, seed};

/// A part of a core, and what its programs are made of.
struct Core {
    target: &'static str,
    /// First address of the program; a multiple of 4.
    code: u32,
    no_operation: &'static [u8],
    /// Instructions that write a value to a register.
    store: fn(address: u32, value: u32) -> Vec<u8>,
    jump: fn(from: u32, to: u32) -> Vec<u8>,
    /// Writes that start a timer, and instructions that allow its interrupts.
    timer: &'static [(u32, u32)],
    enable: &'static [u8],
    /// Vectors, and a handler that returns.
    vectors: fn() -> Vec<Segment>,
}

fn words(address: u32, words: impl IntoIterator<Item = u32>) -> Segment {
    Segment { address, bytes: words.into_iter().flat_map(u32::to_le_bytes).collect() }
}

fn halves(address: u32, halves: impl IntoIterator<Item = u16>) -> Segment {
    Segment { address, bytes: halves.into_iter().flat_map(u16::to_le_bytes).collect() }
}

/// LDI r16; STS.
fn store_avr(address: u32, value: u32) -> Vec<u8> {
    let value = value as u16;
    let ldi = 0xe000 | (value & 0xf0) << 4 | value & 0x0f;
    halves(0, [ldi, 0x9300, address as u16]).bytes
}

/// LDR r0 and r1, which stand behind; STR; B over them. It begins at a multiple of 4.
fn store_cortex_m(address: u32, value: u32) -> Vec<u8> {
    [halves(0, [0x4801, 0x4902, 0x6001, 0xe003]), words(0, [address, value])]
        .map(|segment| segment.bytes)
        .concat()
}

const AVR: Core = Core {
    target: "atmega328p",
    code: 0x200,
    no_operation: &[0, 0],
    store: store_avr,
    // RJMP.
    jump: |from, to| halves(0, [0xc000 | (to.wrapping_sub(from + 2) >> 1) as u16 & 0xfff]).bytes,
    // TIMSK0 and TCCR0B: an interrupt every 256 cycles. SEI.
    timer: &[(0x6e, 1), (0x45, 1)],
    enable: &[0x78, 0x94],
    // JMP 0x200; RETI.
    vectors: || vec![halves(0, [0x940c, 0x100].into_iter().chain(std::iter::repeat_n(0x9518, 0x66)))],
};

const CORTEX_M0: Core = Core {
    target: "stm32f051",
    code: 0x0800_0400,
    no_operation: &[0x00, 0xbf],
    store: store_cortex_m,
    // B.
    jump: |from, to| halves(0, [0xe000 | (to.wrapping_sub(from + 4) >> 1) as u16 & 0x7ff]).bytes,
    // SYST_RVR and SYST_CSR.
    timer: &[(0xe000_e014, 199), (0xe000_e010, 7)],
    enable: &[0x00, 0xbf],
    // BX LR.
    vectors: || {
        let handlers = std::iter::repeat_n(0x0800_0301, 0x98);
        let table = [0x2000_1000, 0x0800_0401].into_iter().chain(handlers);
        vec![words(0x0800_0000, table), halves(0x0800_0300, [0x4770])]
    },
};

const MCS51: Core = Core {
    target: "i8051",
    code: 0x200,
    no_operation: &[0],
    // MOV direct,#value.
    store: |address, value| vec![0x75, address as u8, value as u8],
    // LJMP.
    jump: |_, to| vec![0x02, (to >> 8) as u8, to as u8],
    timer: &[],
    enable: &[0],
    vectors: Vec::new,
};

const R8C: Core = Core {
    target: "r8c",
    code: 0xc000,
    no_operation: &[0x04],
    // MOV.B:S #value,address.
    store: |address, value| [&[0xc7, value as u8][..], &(address as u16).to_le_bytes()].concat(),
    // JMP.A.
    jump: |_, to| [&[0xfc][..], &to.to_le_bytes()[..3]].concat(),
    timer: &[],
    enable: &[0x04],
    vectors: || vec![words(0xfffc, [0xff00_c000])],
};

const HC08: Core = Core {
    target: "mc68hc08",
    code: 0xc000,
    no_operation: &[0x9d],
    // LDA #value; STA address.
    store: |address, value| [&[0xa6, value as u8, 0xc7][..], &(address as u16).to_be_bytes()].concat(),
    // JMP.
    jump: |_, to| [&[0xcc][..], &(to as u16).to_be_bytes()].concat(),
    timer: &[],
    enable: &[0x9d],
    vectors: || vec![Segment { address: 0xfffe, bytes: vec![0xc0, 0x00] }],
};

/// Bytes of memory for a program.
const ROOM: usize = 1024;
/// The most bytes of a random instruction, and of what may follow it.
const REACH: usize = 12;

/// All that an observer is told, as text.
#[derive(Default, PartialEq)]
struct Record(Vec<String>);

impl Record {
    fn note(&mut self, what: impl Debug) {
        self.0.push(format!("{what:?}"));
    }

    /// Instructions, accesses and interrupts, but for how the instructions were come to: each run
    /// has a first one.
    fn program(&self) -> impl Iterator<Item = &str> {
        let kept = ["Step", "Access", "(\"interrupt\"", "\"skipped\""];
        let events = self.0.iter().filter(move |event| kept.iter().any(|kept| event.starts_with(kept)));
        events.map(|event| event.split(", flow:").next().unwrap_or(event))
    }

    fn count(&self, what: &str) -> usize {
        self.0.iter().filter(|event| event.starts_with(what)).count()
    }
}

impl Observer for Record {
    fn step(&mut self, step: &Step) {
        self.note(step);
    }
    fn skipped(&mut self) {
        self.note("skipped");
    }
    fn bank(&mut self, bank: u8) {
        self.note(("bank", bank));
    }
    fn interrupt(&mut self, sp: u32) {
        self.note(("interrupt", sp));
    }
    fn access(&mut self, access: &Access) {
        self.note(access);
    }
    fn pin(&mut self, edge: &PinEdge<'_>) {
        self.note(edge);
    }
    fn directions(&mut self, directions: &PinDirections<'_>) {
        self.note(directions);
    }
    fn sleep(&mut self, interval: &SleepInterval) {
        self.note(interval);
    }
    fn reset(&mut self, cycles: u64) {
        self.note(("reset", cycles));
    }
    fn clock(&mut self, change: &ClockChange) {
        self.note(change);
    }
    fn uart(&mut self, port: &str, byte: u8, cycles: u64) {
        self.note((port, byte, cycles));
    }
    fn analog(&mut self, step: &DacStep<'_>) {
        self.note(step);
    }
}

/// All that can be seen of a machine, by the name of a part of it.
fn state(machine: &dyn Mcu) -> Vec<(String, Vec<u8>)> {
    let part = machine.part();
    let numbers =
        [machine.cycles(), machine.instructions(), machine.clock_hz(), machine.nonvolatile_writes()];
    let text = format!("{:?} {:?} {:?}", numbers, machine.residency(), machine.next_step());
    let mut found = vec![("counts".to_owned(), text.into_bytes())];
    let registers = machine.registers().into_iter();
    found.extend(registers.map(|(name, value)| (name, value.to_le_bytes().to_vec())));
    for memory in &part.memories {
        let mut bytes = vec![0; memory.size as usize];
        assert!(machine.peek(memory.start, &mut bytes), "{}", memory.name);
        found.push((memory.name.clone(), bytes));
    }
    for peripheral in &part.peripherals {
        for offset in [0, 16, 32] {
            let mut bytes = vec![0; 16];
            // Some have fewer registers.
            let is_read = machine.inspect(peripheral.base + offset, &mut bytes);
            found.push((format!("{}+{offset}", peripheral.name), if is_read { bytes } else { Vec::new() }));
        }
    }
    found
}

/// As [`assert_same`], but for how the next instruction is come to, which each run tells anew.
#[track_caller]
fn assert_same_but_flow(one: &dyn Mcu, other: &dyn Mcu, what: &str) {
    let counts = |machine: &dyn Mcu| (machine.cycles(), machine.instructions(), machine.nonvolatile_writes());
    assert_eq!(counts(one), counts(other), "{what}");
    for ((name, one), (_, other)) in state(one).into_iter().zip(state(other)).skip(1) {
        assert!(one == other, "{what}: {name} is not as in one run");
    }
}

#[track_caller]
fn assert_same(one: &dyn Mcu, other: &dyn Mcu, what: &str) {
    for ((name, one), (_, other)) in state(one).into_iter().zip(state(other)) {
        assert!(one == other, "{what}: {name} is not as it was");
    }
}

/// A random program in its machine, before its first instruction.
struct Program {
    machine: Box<dyn Mcu>,
    /// Address at which it begins anew, each time that it comes to its end.
    again: u32,
}

/// Runs for some cycles; how it ended, and what was seen.
fn run(machine: &mut dyn Mcu, cycles: u64) -> (String, Record) {
    let mut record = Record::default();
    let how = run_in_pieces(machine, cycles, cycles, &[], Some(&mut record));
    (how, record)
}

/// As [`run`], in runs of at most `piece` cycles, which end at breakpoints, too.
fn run_in_pieces(
    machine: &mut dyn Mcu,
    cycles: u64,
    piece: u64,
    breakpoints: &[u32],
    mut record: Option<&mut Record>,
) -> String {
    let end = machine.cycles() + cycles;
    loop {
        let piece = Some(end.min(machine.cycles() + piece));
        let until = Until { cycles: piece, addresses: breakpoints.to_vec() };
        let stop = match &mut record {
            Some(record) => machine.run_observed(&until, *record),
            None => machine.run(&until),
        };
        match stop {
            Ok(mcu::Stop::Address(_)) => {}
            Ok(mcu::Stop::Cycles) if machine.cycles() < end => {}
            stop => return format!("{stop:?}"),
        }
    }
}

/// Executes one instruction; false where the model does not.
fn step(machine: &mut dyn Mcu) -> bool {
    let before = machine.instructions();
    let until = Until { cycles: Some(machine.cycles() + 1), addresses: Vec::new() };
    machine.run(&until).is_ok() && machine.instructions() > before
}

impl Core {
    fn machine(&self, part: &Part, code: Vec<u8>) -> Box<dyn Mcu> {
        let mut machine = new_machine(part, part.default_clock_hz).expect("a machine");
        let mut segments = (self.vectors)();
        segments.push(Segment { address: self.code, bytes: code });
        machine.load(&Image { segments }).expect("a program that fits");
        machine.reset();
        machine
    }

    /// A write to a register of a peripheral, or any bytes.
    fn candidate(&self, part: &Part, random: &mut Random) -> (Vec<u8>, Option<u32>) {
        if random.below(3) > 0 {
            return ((0..8).map(|_| random.byte()).collect(), None);
        }
        let peripheral = &part.peripherals[random.below(part.peripherals.len() as u32) as usize];
        let value = [random.word(), 1 << random.below(16)][random.below(2) as usize];
        let bytes = (self.store)(peripheral.base + 4 * random.below(8), value);
        let length = bytes.len() as u32;
        (bytes, Some(length))
    }

    /// Bytes that go on behind themselves, with the machine there.
    fn grown(&self, part: &Part, machine: &dyn Mcu, random: &mut Random) -> Option<(Box<dyn Mcu>, Vec<u8>)> {
        let pc = machine.pc();
        for _ in 0..1_000 {
            let (bytes, length) = self.candidate(part, random);
            let mut next = machine.snapshot();
            assert!(next.poke(pc, &bytes));
            let steps = if length.is_some() { 8 } else { 1 };
            let goes_on = (0..steps).any(|_| {
                let end = pc + length.unwrap_or(0);
                step(&mut *next) && (next.pc() == end || length.is_none())
            });
            let went = next.pc().wrapping_sub(pc) as usize;
            if goes_on && (1..=bytes.len().max(REACH)).contains(&went) && (length.is_some() || went <= 8) {
                return Some((next, [bytes, self.no_operation.repeat(REACH)].concat()[..went].to_vec()));
            }
        }
        None
    }

    fn program(&self, random: &mut Random) -> Program {
        let part = part(self.target);
        let rest = || self.no_operation.repeat(ROOM / self.no_operation.len());
        let mut setup: Vec<u8> =
            self.timer.iter().flat_map(|&(address, value)| (self.store)(address, value)).collect();
        setup.extend(self.enable);
        while !setup.len().is_multiple_of(4) {
            setup.extend(self.no_operation);
        }
        let mut start = self.machine(&part, [setup.clone(), rest()].concat());
        let kept =
            ["pc", "sp", "xpsr", "sr", "flg", "ccr", "psw", "sreg", "intb", "usp", "isp", "msp", "psp"];
        let ram = part.memories.iter().rfind(|memory| memory.kind == mcu::MemoryKind::Ram).expect("RAM");
        for register in start.register_names() {
            let value = [random.word(), ram.start + random.below(ram.size.min(0x400)), random.below(64)];
            if register.role == mcu::Role::General && !kept.contains(&register.name) {
                start.set_register(register.name, value[random.below(3) as usize]);
            }
        }
        let again = self.code + setup.len() as u32;
        let mut machine = start.snapshot();
        machine.set_pc(again);
        let mut code = setup;
        for _ in 0..24 {
            while !code.len().is_multiple_of(4) {
                code.extend(self.no_operation);
            }
            machine.set_pc(self.code + code.len() as u32);
            let Some((next, bytes)) = self.grown(&part, &*machine, random) else { break };
            code.extend(bytes);
            machine = next;
        }
        code.extend((self.jump)(self.code + code.len() as u32, again));
        assert!(start.poke(self.code, &code));
        start.set_pc(self.code);
        Program { machine: start, again }
    }
}

/// Runs a program from one state to another in runs of other lengths than the first.
fn check_pieces(
    breakpoints: &[u32],
    before: &dyn Mcu,
    after: &dyn Mcu,
    cycles: u64,
    first: &(String, Record),
) {
    for (piece, addresses) in [(1, &[][..]), (7, breakpoints), (cycles, breakpoints)] {
        let mut stepped = before.snapshot();
        let mut record = Record::default();
        let how = run_in_pieces(&mut *stepped, cycles, piece, addresses, Some(&mut record));
        let what = format!("in pieces of {piece} cycles, with breakpoints at {addresses:x?}");
        assert!(how == first.0 && record.program().eq(first.1.program()), "{what}");
        assert_same_but_flow(&*stepped, after, &what);
    }
    let mut unseen = before.snapshot();
    assert_eq!(run_in_pieces(&mut *unseen, cycles, cycles, &[], None), first.0);
    assert_same_but_flow(&*unseen, after, "without an observer");
}

/// Runs a program, restores it in several ways, and runs it again each time.
fn check(core: &Core, random: &mut Random) -> Record {
    let (program, other) = (core.program(random), core.program(random));
    let mut machine = program.machine.snapshot();
    let _ = run(&mut *machine, 1 + u64::from(random.below(3_000)));
    let before = machine.snapshot();
    let cycles = 1 + u64::from(random.below(3_000));
    let first = run(&mut *machine, cycles);
    let after = machine.snapshot();

    let again = |machine: &mut dyn Mcu, what: &str| {
        assert!(machine.restore(&*before), "{what}");
        assert_same(machine, &*before, what);
        let second = run(machine, cycles);
        assert!(second == first, "{what}: it goes another way");
        assert_same(machine, &*after, what);
    };
    again(&mut *machine, "restored after its run");
    let breakpoints: Vec<u32> = (0..3).map(|_| program.again + 2 * random.below(48)).collect();
    check_pieces(&breakpoints, &*before, &*after, cycles, &first);
    // Whoever changed its program has it back.
    assert!(machine.poke(program.again, &core.no_operation.repeat(8)));
    let _ = run(&mut *machine, cycles);
    again(&mut *machine, "restored after a change of its program");
    let mut machine = other.machine;
    let _ = run(&mut *machine, 500);
    again(&mut *machine, "restored from another program's machine");
    assert!(run(&mut *before.snapshot(), cycles) == first, "the snapshot stays as it was");
    first.1
}

/// Six programs, and more until their runs had steps, accesses and interrupts: many end early.
fn check_many(core: &Core) {
    let mut random = Random::new(seed());
    let (mut steps, mut accesses, mut interrupts) = (0, 0, 0);
    for programs in 1..=100 {
        let seen = check(core, &mut random);
        steps += seen.count("Step");
        accesses += seen.count("Access");
        interrupts += seen.count("(\"interrupt\"");
        let is_enough = steps > 100 && accesses > 0 && (interrupts > 0 || core.timer.is_empty());
        if programs >= 6 && is_enough {
            return;
        }
    }
    panic!("{}: {steps} steps, {accesses} accesses, {interrupts} interrupts", core.target);
}

macro_rules! restored_machine_runs_on_as_before {
    ($($name:ident $core:ident,)*) => { $(
        #[test]
        fn $name() {
            check_many(&$core);
        }
    )* };
}

restored_machine_runs_on_as_before! {
    avr_restored_runs_on_as_before AVR,
    cortex_m0_restored_runs_on_as_before CORTEX_M0,
    mcs51_restored_runs_on_as_before MCS51,
    r8c_restored_runs_on_as_before R8C,
    hc08_restored_runs_on_as_before HC08,
}

#[test]
fn machine_of_another_part_is_not_restored() {
    let machines = [&AVR, &R8C, &MCS51].map(|core| core.machine(&part(core.target), vec![0; 8]));
    let mut machine = new_machine(&part("stm32f051"), 8_000_000).expect("a machine");
    let before = state(&*machine);
    for other in &machines {
        assert!(!machine.restore(&**other));
    }
    assert!(state(&*machine) == before);
}
