//! Single instructions against the AVR Instruction Set Manual, DS40002198.
//!
//! A test puts the opcode, runs it, and checks the registers. The rest of the instruction set is
//! compared with simavr in `oracle`.

use super::programs::{ATMEGA128L, ATMEGA328P};
use mcu::{Access, Fault, Flow, Mcu, Observer, Part, Step, Stop, Until, new_machine};

const C: u32 = 1;
const Z: u32 = 2;
const N: u32 = 4;
const V: u32 = 8;
const S: u32 = 16;
const H: u32 = 32;
const T: u32 = 64;
const I: u32 = 128;

struct Cpu(Box<dyn Mcu>);

impl Cpu {
    /// A part with these words at the start of its flash.
    fn with(part: &str, words: &[u16]) -> Cpu {
        let part = Part::from_toml(part).unwrap();
        let mut machine = new_machine(&part, part.default_clock_hz).unwrap();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(machine.poke(0, &bytes));
        machine.set_register("sp", 0x08FF);
        Cpu(machine)
    }

    fn new(words: &[u16]) -> Cpu {
        Cpu::with(ATMEGA328P, words)
    }

    fn set(mut self, name: &str, value: u32) -> Cpu {
        assert!(self.0.set_register(name, value));
        self
    }

    /// Runs `count` instructions.
    fn run(mut self, count: u64) -> Cpu {
        let end = self.0.instructions() + count;
        while self.0.instructions() < end {
            let until = Until { cycles: Some(self.0.cycles() + 1), addresses: vec![] };
            assert_eq!(self.0.run(&until), Ok(Stop::Cycles));
        }
        self
    }

    fn fault(mut self) -> Fault {
        self.0.run(&Until { cycles: Some(100), addresses: vec![] }).unwrap_err()
    }

    fn get(&self, name: &str) -> u32 {
        self.0.registers().into_iter().find(|(register, _)| register == name).expect(name).1
    }

    fn word(&self, low: u8) -> u32 {
        self.get(&format!("r{low}")) | self.get(&format!("r{}", low + 1)) << 8
    }
}

/// `SBC r0, r1`, `CPC r0, r1`: "Previous value remains unchanged when the result is zero; cleared
/// otherwise."
#[test]
fn subtraction_with_carry_keeps_z_clear() {
    for opcode in [0x0801, 0x0401] {
        let cpu = Cpu::new(&[opcode]).set("r0", 5).set("r1", 4).set("sreg", C).run(1);
        assert_eq!(cpu.get("sreg") & (Z | C), 0);
        let cpu = Cpu::new(&[opcode]).set("r0", 5).set("r1", 4).set("sreg", C | Z).run(1);
        assert_eq!(cpu.get("sreg") & (Z | C), Z);
        let cpu = Cpu::new(&[opcode]).set("r0", 5).set("r1", 5).set("sreg", C | Z).run(1);
        assert_eq!(cpu.get("sreg") & (Z | C | N | H | S), C | N | H | S);
    }
}

/// `NEG r0`: C unless the result is zero; V only for 0x80.
#[test]
fn negation() {
    assert_eq!(Cpu::new(&[0x9401]).set("r0", 0).run(1).get("sreg"), Z);
    assert_eq!(Cpu::new(&[0x9401]).set("r0", 0x80).run(1).get("sreg"), C | N | V);
    assert_eq!(Cpu::new(&[0x9401]).set("r0", 1).run(1).get("sreg"), C | N | S | H);
}

/// `ADIW r24, 1` and `SBIW r24, 1`: V and C of the sixteen bits.
#[test]
fn word_arithmetic() {
    let cpu = Cpu::new(&[0x9601]).set("r24", 0xFF).set("r25", 0x7F).run(1);
    assert_eq!((cpu.word(24), cpu.get("sreg"), cpu.0.cycles()), (0x8000, N | V, 2));
    let cpu = Cpu::new(&[0x9601]).set("r24", 0xFF).set("r25", 0xFF).run(1);
    assert_eq!((cpu.word(24), cpu.get("sreg")), (0, Z | C));
    let cpu = Cpu::new(&[0x9701]).set("r24", 0).set("r25", 0x80).run(1);
    assert_eq!((cpu.word(24), cpu.get("sreg")), (0x7FFF, V | S));
}

/// `MUL r16, r17`, `MULS`, `MULSU`.
#[test]
fn multiplication() {
    let cpu = Cpu::new(&[0x9F01]).set("r16", 0xFF).set("r17", 0xFF).run(1);
    assert_eq!((cpu.word(0), cpu.get("sreg"), cpu.0.cycles()), (0xFE01, C, 2));
    let cpu = Cpu::new(&[0x0201]).set("r16", 0xFF).set("r17", 0xFF).run(1);
    assert_eq!((cpu.word(0), cpu.get("sreg")), (1, 0));
    let cpu = Cpu::new(&[0x0301]).set("r16", 0xFF).set("r17", 0xFF).run(1);
    assert_eq!((cpu.word(0), cpu.get("sreg")), (0xFF01, C));
    let cpu = Cpu::new(&[0x9F01]).set("r16", 0).set("r17", 0xFF).run(1);
    assert_eq!((cpu.word(0), cpu.get("sreg")), (0, Z));
}

/// `FMUL r16, r17`, `FMULS`, `FMULSU`: C is bit 15 before the shift.
#[test]
fn fractional_multiplication() {
    let cpu = Cpu::new(&[0x0309]).set("r16", 0xC0).set("r17", 0xC0).run(1);
    assert_eq!((cpu.word(0), cpu.get("sreg"), cpu.0.cycles()), (0x2000, C, 2));
    let cpu = Cpu::new(&[0x0381]).set("r16", 0x80).set("r17", 0x80).run(1);
    assert_eq!((cpu.word(0), cpu.get("sreg")), (0x8000, 0));
    let cpu = Cpu::new(&[0x0389]).set("r16", 0x80).set("r17", 0x80).run(1);
    assert_eq!((cpu.word(0), cpu.get("sreg")), (0x8000, C));
}

/// `ASR`, `LSR`, `ROR`: V is N xor C after the shift.
#[test]
fn shifts() {
    assert_eq!(Cpu::new(&[0x9406]).set("r0", 1).run(1).get("sreg"), Z | C | V | S);
    assert_eq!(Cpu::new(&[0x9405]).set("r0", 0x81).run(1).get("sreg"), C | N | S);
    let cpu = Cpu::new(&[0x9407]).set("r0", 0).set("sreg", C).run(1);
    assert_eq!((cpu.get("r0"), cpu.get("sreg")), (0x80, N | V));
}

/// S can be written without N or V, and a branch looks at S: `BSET 4`, `BRLT .+2`.
#[test]
fn the_sign_flag_stands_by_itself() {
    let cpu = Cpu::new(&[0x9448, 0xF00C]).run(2);
    assert_eq!((cpu.get("sreg"), cpu.0.pc(), cpu.0.cycles()), (S, 6, 3));
    let cpu = Cpu::new(&[0x9448, 0x0C01]).run(2);
    assert_eq!(cpu.get("sreg"), Z);
}

/// `BST r0, 7`; `BLD r1, 0`.
#[test]
fn bit_transfer() {
    let cpu = Cpu::new(&[0xFA07, 0xF810]).set("r0", 0x80).run(2);
    assert_eq!((cpu.get("r1"), cpu.get("sreg")), (1, T));
}

/// `SBRC r0, 0` before one word, before two (`LDS r1, 0x100`), and not skipping.
#[test]
fn skips_take_a_cycle_for_each_word_that_they_skip() {
    let cpu = Cpu::new(&[0xFC00, 0x0000]).run(1);
    assert_eq!((cpu.0.pc(), cpu.0.cycles()), (4, 2));
    let cpu = Cpu::new(&[0xFC00, 0x9010, 0x0100]).run(1);
    assert_eq!((cpu.0.pc(), cpu.0.cycles()), (6, 3));
    let cpu = Cpu::new(&[0xFC00, 0x0000]).set("r0", 1).run(1);
    assert_eq!((cpu.0.pc(), cpu.0.cycles()), (2, 1));
    let cpu = Cpu::new(&[0x1001, 0x940C, 0x0000]).run(1);
    assert_eq!((cpu.0.pc(), cpu.0.cycles()), (6, 3));
}

/// `CALL`, `RCALL`, `ICALL`, `RET`, `RETI`, `JMP`, `RJMP`, `IJMP`: a 16-bit program counter.
#[test]
fn cycles_of_jumps() {
    assert_eq!(Cpu::new(&[0x940E, 0x0010]).run(1).0.cycles(), 4);
    assert_eq!(Cpu::new(&[0xD00F]).run(1).0.cycles(), 3);
    assert_eq!(Cpu::new(&[0x9509]).run(1).0.cycles(), 3);
    assert_eq!(Cpu::new(&[0x940C, 0x0010]).run(1).0.cycles(), 3);
    assert_eq!(Cpu::new(&[0xC00F]).run(1).0.cycles(), 2);
    assert_eq!(Cpu::new(&[0x9409]).run(1).0.cycles(), 2);
    for opcode in [0x9508, 0x9518] {
        let mut cpu = Cpu::new(&[opcode]).set("sp", 0x0200);
        assert!(cpu.0.poke(0x80_0201, &[0x12, 0x34]));
        let cpu = cpu.run(1);
        assert_eq!((cpu.0.pc(), cpu.0.cycles(), cpu.0.sp()), (0x1234 * 2, 4, 0x0202));
    }
}

/// `ELPM r0, Z+` crosses into RAMPZ.
#[test]
fn extended_program_memory() {
    let mut cpu = Cpu::with(ATMEGA128L, &[0x9007, 0x9006]).set("r30", 0xFF).set("r31", 0xFF);
    assert!(cpu.0.poke(0xFFFF, &[0xA5, 0x5A]));
    let cpu = cpu.run(1);
    assert_eq!((cpu.get("r0"), cpu.word(30), cpu.0.cycles()), (0xA5, 0, 3));
    assert_eq!(cpu.run(1).get("r0"), 0x5A);
    assert_eq!(Cpu::new(&[0x9007]).fault(), Fault::Opcode { pc: 0, bytes: vec![0x07, 0x90] });
}

#[test]
fn instruction_that_the_part_lacks_is_a_fault() {
    // Reserved; LD r26, X+; EIJMP; DES; XCH.
    for opcode in [0x0001u16, 0x91AD, 0x9419, 0x940B, 0x9204] {
        let bytes = opcode.to_le_bytes().to_vec();
        assert_eq!(Cpu::new(&[opcode]).fault(), Fault::Opcode { pc: 0, bytes });
    }
    assert!(matches!(Cpu::new(&[0x95E8]).fault(), Fault::Peripheral { pc: 0, .. }));
    let beyond = Cpu::new(&[0x9000, 0x0900]).fault();
    assert_eq!(beyond, Fault::Unmapped { pc: 0, address: 0x80_0900, size: 1, kind: "read" });
    let reserved = Cpu::new(&[0x9000, 0x00FF]).fault();
    assert_eq!(reserved, Fault::Unmapped { pc: 0, address: 0xFF, size: 1, kind: "read" });
    let z = Cpu::new(&[0x95C8]).set("r31", 0x80).fault();
    assert_eq!(z, Fault::Unmapped { pc: 0, address: 0x8000, size: 1, kind: "read" });
    assert!(matches!(Cpu::new(&[0x0000]).set("pc", 0x8000).fault(), Fault::Architecture { .. }));
}

/// After a fault nothing has moved: `LD r0, X+` beyond the RAM.
#[test]
fn a_fault_leaves_the_machine_at_the_instruction() {
    let mut cpu = Cpu::new(&[0x900D]).set("r27", 0x80);
    assert!(cpu.0.run(&Until::default()).is_err());
    assert_eq!((cpu.0.pc(), cpu.0.cycles(), cpu.0.instructions(), cpu.word(26)), (0, 0, 0, 0x8000));
}

/// `SLEEP` without SE is nothing; with SE and interrupts off nothing wakes it: the end.
#[test]
fn sleep() {
    assert_eq!(Cpu::new(&[0x9588]).run(1).0.cycles(), 1);
    // LDI r16, 1; OUT SMCR, r16; SLEEP.
    let mut cpu = Cpu::new(&[0xE001, 0xBF03, 0x9588]);
    assert_eq!(cpu.0.run(&Until::default()), Ok(Stop::Halted));
    // SEI, with SM = 4, which is reserved.
    let cpu = Cpu::new(&[0x9478, 0xE009, 0xBF03, 0x9588]);
    assert!(matches!(cpu.fault(), Fault::Peripheral { pc: 6, .. }));
}

#[test]
fn the_end_and_the_breakpoint() {
    let mut cpu = Cpu::new(&[0x0000, 0xCFFF]);
    assert_eq!((cpu.0.run(&Until::default()), cpu.0.pc()), (Ok(Stop::Halted), 2));
    let mut cpu = Cpu::new(&[0x0000, 0x9598]);
    assert_eq!((cpu.0.run(&Until::default()), cpu.0.pc(), cpu.0.cycles()), (Ok(Stop::Breakpoint), 2, 1));
}

/// A loop at 0 of `NOP`, `RJMP`: stops before the address, goes on from it, and stops at the cycle
/// asked for.
#[test]
fn stops_are_exact() {
    let mut cpu = Cpu::new(&[0x0000, 0xCFFE]);
    let at = Until { cycles: None, addresses: vec![0] };
    for turn in 1..4 {
        assert_eq!(cpu.0.run(&at), Ok(Stop::Address(0)));
        assert_eq!((cpu.0.pc(), cpu.0.cycles(), cpu.0.instructions()), (0, 3 * turn, 2 * turn));
    }
    for limit in 10..20 {
        assert_eq!(cpu.0.run(&Until { cycles: Some(limit), addresses: vec![] }), Ok(Stop::Cycles));
        // Boundaries are at multiples of three and one past them.
        assert_eq!(cpu.0.cycles(), if limit % 3 == 2 { limit + 1 } else { limit });
    }
}

#[derive(Default)]
struct Log {
    steps: Vec<Step>,
    accesses: Vec<Access>,
}

impl Observer for Log {
    fn step(&mut self, step: &Step) {
        self.steps.push(*step);
    }
    fn access(&mut self, access: &Access) {
        self.accesses.push(*access);
    }
}

/// RCALL to a function that stores and returns; a branch not taken; BREAK.
#[test]
fn an_observer_sees_the_flow() {
    let mut cpu = Cpu::new(&[0xD002, 0xF3F1, 0x9598, 0x9300, 0x0123, 0x9508]).set("r16", 0x5A);
    let mut log = Log::default();
    assert_eq!(cpu.0.run_observed(&Until::default(), &mut log), Ok(Stop::Breakpoint));
    let flow: Vec<_> = log.steps.iter().map(|step| (step.pc, step.cycles, step.sp, step.flow)).collect();
    assert_eq!(
        flow,
        [
            (0, 0, 0x8FF, Flow::Start),
            (6, 3, 0x8FD, Flow::Call { return_to: 2 }),
            (10, 5, 0x8FD, Flow::Next),
            (2, 9, 0x8FF, Flow::Return),
        ]
    );
    let written: Vec<_> = log.accesses.iter().map(|a| (a.pc, a.address, a.size, a.value)).collect();
    assert_eq!(
        written,
        [
            (0, 0x80_08FF, 1, 1),
            (0, 0x80_08FE, 1, 0),
            (6, 0x80_0123, 1, 0x5A),
            (10, 0x80_08FE, 1, 0),
            (10, 0x80_08FF, 1, 1),
        ]
    );
}

/// With an observer and without one the machine ends in the same state.
#[test]
fn looking_on_changes_nothing() {
    let words = [0x9503, 0x9F00, 0x0D01, 0x930F, 0x911F, 0x954A, 0xF7C9, 0x9598];
    let (mut observed, mut alone) = (Cpu::new(&words), Cpu::new(&words));
    let until = Until { cycles: Some(100_000), addresses: vec![] };
    assert_eq!(observed.0.run_observed(&until, &mut Log::default()), alone.0.run(&until));
    assert_eq!(observed.0.registers(), alone.0.registers());
    assert_eq!(observed.0.cycles(), alone.0.cycles());
    assert_eq!(observed.0.instructions(), alone.0.instructions());
}

/// SEI lets one instruction go before the interrupt, entry takes four cycles and clears I; timer 0
/// overflows at once.
#[test]
fn an_interrupt_waits_for_one_instruction_after_sei() {
    // LDI r16,1; STS TIMSK0,r16; LDI r17,255; OUT TCNT0,r17; OUT TCCR0B,r16; NOP*3; SEI; NOP; NOP.
    let mut cpu = Cpu::new(&[
        0xE001, 0x9300, 0x006E, 0xEF1F, 0xBD16, 0xBD05, 0x0000, 0x0000, 0x0000, 0x9478, 0x0000, 0x0000,
    ])
    .run(9);
    assert_eq!((cpu.0.pc(), cpu.get("sreg") & I), (20, I));
    let cycles = cpu.0.cycles();
    let mut log = Log::default();
    let until = Until { cycles: Some(cycles + 6), addresses: vec![] };
    // The vector holds an erased word: no instruction.
    assert!(cpu.0.run_observed(&until, &mut log).is_err());
    let flow: Vec<_> = log.steps.iter().map(|step| (step.pc, step.cycles - cycles, step.flow)).collect();
    assert_eq!(flow, [(20, 0, Flow::Start), (16 * 4, 5, Flow::Interrupt { return_to: 22 })]);
    assert_eq!((cpu.get("sreg") & I, cpu.0.sp()), (0, 0x08FD));
}
