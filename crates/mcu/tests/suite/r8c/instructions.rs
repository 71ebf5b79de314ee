//! R8C instructions by the manual's definitions (REJ09B0001, chapter 3).
//!
//! Most are those that GDB's simulator, with which `oracle.rs` compares, executes otherwise.

use mcu::{Access, AccessKind, Fault, Flow, Mcu, Observer, Part, Step, Stop, Until, new_machine};

const PART: &str = r#"
name = "instructions"
description = "RAM below, flash above"
core = "r8c"
default_clock_hz = 20000000
[[memory]]
name = "ram"
kind = "ram"
start = 0x400
size = 0x7c00
[[memory]]
name = "rom"
kind = "flash"
start = 0x8000
size = 0x8000
"#;

const START: u32 = 0x8000;
const D: u32 = 0x02;
const S: u32 = 0x08;
const C: u32 = 0x01;
const Z: u32 = 0x04;
const B: u32 = 0x10;
const O: u32 = 0x20;
const I: u32 = 0x40;
const U: u32 = 0x80;

/// Registers by name.
type Registers<'a> = &'a [(&'a str, u32)];

fn machine() -> Box<dyn Mcu> {
    let part = Part::from_toml(PART).expect("part");
    let mut machine = new_machine(&part, 20_000_000).expect("machine");
    assert!(machine.set_register("isp", 0x2000) && machine.set_register("usp", 0x3000));
    machine
}

fn get(machine: &dyn Mcu, name: &str) -> u32 {
    let all = machine.registers();
    all.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("no {name}")).1
}

fn set(machine: &mut dyn Mcu, values: Registers<'_>) {
    for (name, value) in values {
        assert!(machine.set_register(name, *value), "{name}");
    }
}

fn bytes<const N: usize>(machine: &dyn Mcu, address: u32) -> [u8; N] {
    let mut bytes = [0; N];
    assert!(machine.peek(address, &mut bytes));
    bytes
}

/// One instruction at [`START`].
fn step(machine: &mut dyn Mcu, code: &[u8]) -> Result<Stop, Fault> {
    assert!(machine.poke(START, code));
    machine.set_pc(START);
    machine.run(&Until { cycles: Some(machine.cycles() + 1), addresses: Vec::new() })
}

/// As [`step`] on a machine of its own with these registers.
fn after(code: &[u8], values: Registers<'_>) -> Box<dyn Mcu> {
    let mut machine = machine();
    set(&mut *machine, values);
    assert_eq!(step(&mut *machine, code), Ok(Stop::Cycles), "{code:02x?}");
    machine
}

#[track_caller]
fn assert_registers(machine: &dyn Mcu, expected: Registers<'_>) {
    for (name, value) in expected {
        assert_eq!(get(machine, name), *value, "{name}");
    }
}

/// Bytes into `A0` and `A1` are extended by zeros, and the operation has 16 bits.
#[test]
fn bytes_into_address_registers() {
    // MOV.B:S #0x80,A0; MOV.B:G R0L,A1; MOV.B R0L,A1 with 0
    assert_registers(&*after(&[0xe2, 0x80], &[("a0", 0x1234), ("flg", S | Z)]), &[("a0", 0x80), ("flg", 0)]);
    assert_registers(&*after(&[0x72, 0x05], &[("r0", 0x12ff), ("a1", 0x5678)]), &[("a1", 0xff), ("flg", 0)]);
    assert_registers(&*after(&[0x72, 0x05], &[("r0", 0x1200), ("a1", 0x5678)]), &[("a1", 0), ("flg", Z)]);
    // ADD.B R0L,A0: R0L is zero-extended and added to A0.
    assert_registers(
        &*after(&[0xa0, 0x04], &[("r0", 0x12ff), ("a0", 0x1201)]),
        &[("a0", 0x1300), ("flg", 0)],
    );
    // SUB.B #1,A0 and CMP.B R0L,A0
    assert_registers(&*after(&[0x76, 0x54, 0x01], &[("a0", 0)]), &[("a0", 0xffff), ("flg", S)]);
    assert_registers(&*after(&[0xc0, 0x04], &[("r0", 0x34), ("a0", 0x1234)]), &[("flg", C)]);
    // XCHG.B R0L,A0
    let exchanged = after(&[0x7a, 0x04], &[("r0", 0x12ff), ("a0", 0x5678)]);
    assert_registers(&*exchanged, &[("r0", 0x1278), ("a0", 0xff)]);
    // SHL.B #1,A0; NEG.B A0; MOV.B A0,A1: cannot be chosen.
    for code in [[0xe8, 0x04], [0x74, 0x54], [0x72, 0x45]] {
        assert!(matches!(step(&mut *machine(), &code), Err(Fault::Opcode { .. })), "{code:02x?}");
    }
}

/// Section 2.5, "Bit Instruction Addressing".
#[test]
fn addresses_of_bits() {
    // The instruction, registers, and the byte whose bit is set.
    let cases: [(&[u8], Registers<'_>, u32, u8); 6] = [
        // BSET [A0]: bits from address 0
        (&[0x7e, 0x96], &[("a0", 0x2805)], 0x500, 0x20),
        // BSET 0x12[A0], BSET 0x1234[A0]: bytes of base, bits of A0
        (&[0x7e, 0x98, 0x12], &[("a0", 0x2805)], 0x512, 0x20),
        (&[0x7e, 0x9c, 0x34, 0x12], &[("a0", 0x0083)], 0x1244, 0x08),
        // BSET 3,0x1234[SB], BSET 3,0x12[SB] with an SB that has its upper bits set
        (&[0x7e, 0x9e, 0xa3, 0x91], &[("sb", 0x4000)], 0x5234, 0x08),
        (&[0x7e, 0x9a, 0x93], &[("sb", 0x6000)], 0x6012, 0x08),
        // BSET 3,-4[FB]
        (&[0x7e, 0x9b, 0xe3], &[("fb", 0x6000)], 0x5ffc, 0x08),
    ];
    for (code, values, address, expected) in cases {
        let machine = after(code, values);
        assert_eq!(bytes::<1>(&*machine, address), [expected], "{code:02x?}");
    }
    // BTST:S 3,0x12[SB]; BMGT 3,R0
    let mut machine = machine();
    assert!(machine.poke(0x612, &[0x08]));
    set(&mut *machine, &[("sb", 0x600), ("flg", Z)]);
    assert_eq!(step(&mut *machine, &[0x5b, 0x12]), Ok(Stop::Cycles));
    assert_registers(&*machine, &[("flg", C)]);
    assert_registers(&*after(&[0x7e, 0x20, 0x03, 0xfc], &[("r0", 0)]), &[("r0", 8)]);
    assert_registers(&*after(&[0x7e, 0x20, 0x03, 0xfc], &[("r0", 0xf), ("flg", Z)]), &[("r0", 7)]);
}

/// The examples of the manual's question on `DIV` and `DIVX` ("Q&A", page 6), and overflow.
#[test]
fn division() {
    let quotient_and_remainder =
        |quotient: i8, remainder: i8| u32::from(quotient as u8) | u32::from(remainder as u8) << 8;
    let minus_ten = (-10i16) as u16 as u32;
    let cases: [(&[u8], u32, u32); 4] = [
        (&[0x7c, 0xe1, 0xfd], 10, quotient_and_remainder(-3, 1)),
        (&[0x7c, 0xe3, 0xfd], 10, quotient_and_remainder(-4, -2)),
        (&[0x7c, 0xe1, 0x03], minus_ten, quotient_and_remainder(-3, -1)),
        (&[0x7c, 0xe3, 0x03], minus_ten, quotient_and_remainder(-4, 2)),
    ];
    for (code, dividend, expected) in cases {
        assert_registers(&*after(code, &[("r0", dividend), ("flg", O)]), &[("r0", expected), ("flg", 0)]);
    }
    // DIV.W R1: the dividend has 32 bits. -100000 / 300 = -333, remainder -100.
    let dividend = -100_000i32 as u32;
    let divided = after(&[0x77, 0xd1], &[("r0", dividend & 0xffff), ("r2", dividend >> 16), ("r1", 300)]);
    assert_registers(&*divided, &[("r0", 0xfeb3), ("r2", 0xff9c), ("flg", 0)]);
    // DIVU.W #2 of 0x20000: the quotient has 17 bits. DIVU.B #0.
    let overflow = after(&[0x7d, 0xe0, 2, 0], &[("r0", 0), ("r2", 2)]);
    assert_registers(&*overflow, &[("r0", 0), ("r2", 2), ("flg", O)]);
    assert_registers(&*after(&[0x7c, 0xe0, 0], &[("r0", 5)]), &[("r0", 5), ("flg", O)]);
}

#[test]
fn products_leave_other_registers() {
    // MUL.B R0L,A0: -2 * 100
    let product = after(&[0x78, 0x04], &[("r0", 0xfe), ("a0", 0x1264), ("a1", 0x5678), ("flg", C)]);
    assert_registers(&*product, &[("a0", 0xff38), ("a1", 0x5678), ("r0", 0xfe), ("flg", C)]);
    // MUL.B R0L,R0H and MUL.B R0L,A1 cannot be chosen.
    for code in [[0x78, 0x01], [0x78, 0x05]] {
        assert!(matches!(step(&mut *machine(), &code), Err(Fault::Opcode { .. })), "{code:02x?}");
    }
}

#[test]
fn flags_of_transfers() {
    // LDE.B 0x600,R0L
    let mut machine = machine();
    assert!(machine.poke(0x600, &[0x80]));
    set(&mut *machine, &[("flg", Z | C)]);
    assert_eq!(step(&mut *machine, &[0x74, 0x80, 0x00, 0x06, 0x00]), Ok(Stop::Cycles));
    assert_registers(&*machine, &[("r0", 0x80), ("flg", S | C)]);
    // STE.B A0,0x600: a byte is stored, the flags are those of all 16 bits.
    let stored = after(&[0x74, 0x04, 0x00, 0x06, 0x00], &[("a0", 0x8100), ("flg", Z)]);
    assert_eq!(bytes::<1>(&*stored, 0x600), [0]);
    assert_registers(&*stored, &[("flg", S)]);
}

#[test]
fn shifts() {
    // SHA.B #1,R0L: O where the most significant bit changes.
    assert_registers(&*after(&[0xf0, 0x00], &[("r0", 0x40)]), &[("r0", 0x80), ("flg", O | S)]);
    assert_registers(&*after(&[0xf0, 0x00], &[("r0", 0xc0), ("flg", O)]), &[("r0", 0x80), ("flg", C | S)]);
    // SHA.B #2,R0L of 0xa0: 1 0 1, the sign changes on the way and back.
    assert_registers(&*after(&[0xf0, 0x10], &[("r0", 0xa0)]), &[("r0", 0x80), ("flg", O | S)]);
    // SHA.B #-1,R0L
    assert_registers(&*after(&[0xf0, 0x80], &[("r0", 0x81), ("flg", O)]), &[("r0", 0xc0), ("flg", C | S)]);
    // SHA.L #-8,R3R1 leaves O.
    let long = after(&[0xeb, 0xbf], &[("r3", 0x8000), ("r1", 0x0080), ("flg", O)]);
    assert_registers(&*long, &[("r3", 0xff80), ("r1", 0), ("flg", O | C | S)]);
    // SHL.B R1H,R0L: by 0 nothing changes, by 9 the result is undefined.
    let nothing = after(&[0x74, 0xe0], &[("r0", 0x55), ("r1", 0x0012), ("flg", C | Z | S | O)]);
    assert_registers(&*nothing, &[("r0", 0x55), ("flg", C | Z | S | O)]);
    let mut machine = machine();
    set(&mut *machine, &[("r1", 0x0900)]);
    assert!(matches!(step(&mut *machine, &[0x74, 0xe0]), Err(Fault::Architecture { .. })));
    assert_eq!(machine.pc(), START);
    // SHL.L R1H,R2R0 by 16
    let moved = after(&[0xeb, 0x01], &[("r0", 0x1234), ("r1", 0x1000)]);
    assert_registers(&*moved, &[("r0", 0), ("r2", 0x1234)]);
}

#[test]
fn absolute_value_of_the_smallest_number() {
    assert_registers(&*after(&[0x76, 0xf0], &[("r0", 0x80)]), &[("r0", 0x80), ("flg", O | S)]);
    assert_registers(&*after(&[0x76, 0xf0], &[("r0", 0xff), ("flg", O)]), &[("r0", 0x01), ("flg", 0)]);
}

#[test]
fn indirect_jumps() {
    // JMPI.A R3R1
    assert_eq!(after(&[0x7d, 0x01], &[("r1", 0x9000), ("r3", 0)]).pc(), 0x9000);
    // JMPI.W 0x00300[A0]
    let mut machine = machine();
    assert!(machine.poke(0x1300, &[0xfe, 0xff]));
    set(&mut *machine, &[("a0", 0x1000)]);
    assert_eq!(step(&mut *machine, &[0x7d, 0x2c, 0x00, 0x03, 0x00]), Ok(Stop::Cycles));
    assert_eq!(machine.pc(), START - 2);
}

#[test]
fn sums_of_products_end_at_an_overflow() {
    // RMPA.W: 0x7fff * 0x7fff, three times
    let mut machine = machine();
    assert!(machine.poke(0x600, &[0xff, 0x7f].repeat(3)) && machine.poke(0x700, &[0xff, 0x7f].repeat(3)));
    set(&mut *machine, &[("r3", 3), ("a0", 0x600), ("a1", 0x700)]);
    assert_eq!(step(&mut *machine, &[0x7d, 0xf1]), Ok(Stop::Cycles));
    // 3 * 0x3fff0001 does not fit 32 bits with sign.
    assert_registers(&*machine, &[("r0", 0x0003), ("r2", 0xbffd), ("flg", O)]);
}

#[test]
fn interrupts_and_their_stack() {
    // INT #5 in bank 1 with U set, from an address beyond 64 kB of the vector's point of view: FLG
    // and PC share a byte.
    let mut machine = machine();
    assert!(machine.poke(0x4014, &[0x00, 0x90, 0x00]) && machine.poke(0x40a0, &[0x00, 0x91, 0x00]));
    let flags = 0x5000 | U | I | B | C;
    set(&mut *machine, &[("intb", 0x4000), ("flg", flags)]);
    assert_eq!(step(&mut *machine, &[0xeb, 0xc5]), Ok(Stop::Cycles));
    assert_registers(&*machine, &[("pc", 0x9000), ("isp", 0x1ffc), ("usp", 0x3000), ("flg", 0x5000 | B | C)]);
    assert_eq!(bytes::<4>(&*machine, 0x1ffc), [0x02, 0x80, 0xd1, 0x50]);
    // REIT brings everything back.
    assert_eq!(step(&mut *machine, &[0xfb]), Ok(Stop::Cycles));
    assert_registers(&*machine, &[("pc", START + 2), ("isp", 0x2000), ("usp", 0x3000), ("flg", flags)]);
    // INT #40 keeps U.
    assert_eq!(step(&mut *machine, &[0xeb, 0xe8]), Ok(Stop::Cycles));
    assert_registers(&*machine, &[("pc", 0x9100), ("isp", 0x2000), ("usp", 0x2ffc), ("flg", flags & !I)]);
}

#[test]
fn fixed_vectors() {
    let mut machine = machine();
    for (vector, target) in [(0xffdcu32, 0x91u8), (0xffe0, 0x92), (0xffe4, 0x93)] {
        assert!(machine.poke(vector, &[0x00, target, 0x00, 0x00]));
    }
    assert!(machine.poke(0x4000, &[0x00, 0x94, 0x00]));
    set(&mut *machine, &[("intb", 0x4000)]);
    // UND; INTO without and with O; BRK
    for (flags, code, target) in
        [(0, 0xff, 0x9100), (0, 0xf6, START + 1), (O, 0xf6, 0x9200), (0, 0x00, 0x9300)]
    {
        set(&mut *machine, &[("flg", flags)]);
        assert_eq!(step(&mut *machine, &[code]), Ok(Stop::Cycles));
        assert_eq!(machine.pc(), target, "{code:02x}");
    }
    // BRK with an erased vector takes number 0 of the relocatable table.
    assert!(machine.poke(0xffe7, &[0xff]));
    assert_eq!(step(&mut *machine, &[0x00]), Ok(Stop::Cycles));
    assert_eq!(machine.pc(), 0x9400);
}

#[test]
fn control_registers() {
    // LDIPL #5
    assert_registers(&*after(&[0x7d, 0xa5], &[("flg", 0x2000 | C)]), &[("flg", 0x5000 | C)]);
    // STC PC,R2R0 and STC PC,0x500: the address of the next instruction, three bytes in memory.
    assert_registers(&*after(&[0x7c, 0xc0], &[("r2", 0x1234)]), &[("r0", START + 2), ("r2", 0)]);
    let stored = after(&[0x7c, 0xcf, 0x00, 0x05], &[]);
    assert_eq!(bytes::<4>(&*stored, 0x500), [0x04, 0x80, 0x00, 0x00]);
    // PUSHC ISP saves the stack pointer before it is counted down; POPC ISP does not count what it
    // loads.
    let pushed = after(&[0xeb, 0x42], &[]);
    assert_registers(&*pushed, &[("isp", 0x1ffe)]);
    assert_eq!(bytes::<2>(&*pushed, 0x1ffe), [0x00, 0x20]);
    let mut machine = pushed;
    assert_eq!(step(&mut *machine, &[0xeb, 0x43]), Ok(Stop::Cycles));
    assert_registers(&*machine, &[("isp", 0x2000)]);
    // LDC #5,INTBH: INTB has 20 bits.
    assert_registers(&*after(&[0xeb, 0x20, 0x15, 0x00], &[("intb", 0x1234)]), &[("intb", 0x5_1234)]);
}

#[test]
fn contexts_of_tasks() {
    // STCTX 0x500,0x00600: task 1 of the table has R0, A0 and FB, six bytes.
    let mut machine = machine();
    assert!(machine.poke(0x500, &[1]) && machine.poke(0x600, &[0xff, 0xff, 0x91, 0x06]));
    set(&mut *machine, &[("r0", 0x1111), ("a0", 0x2222), ("fb", 0x3333)]);
    assert_eq!(step(&mut *machine, &[0x7d, 0xf0, 0x00, 0x05, 0x00, 0x06, 0x00]), Ok(Stop::Cycles));
    assert_registers(&*machine, &[("isp", 0x1ffa)]);
    assert_eq!(bytes::<6>(&*machine, 0x1ffa), [0x11, 0x11, 0x22, 0x22, 0x33, 0x33]);
    set(&mut *machine, &[("r0", 0), ("r1", 0x4444), ("a0", 0), ("fb", 0)]);
    assert_eq!(step(&mut *machine, &[0x7c, 0xf0, 0x00, 0x05, 0x00, 0x06, 0x00]), Ok(Stop::Cycles));
    let expected = [("isp", 0x2000), ("r0", 0x1111), ("r1", 0x4444), ("a0", 0x2222), ("fb", 0x3333)];
    assert_registers(&*machine, &expected);
}

#[test]
fn banks_of_registers() {
    // FSET B: SB stays, the seven others change places.
    let mut machine = machine();
    set(&mut *machine, &[("r0", 1), ("fb", 2), ("sb", 3), ("bank1.r0", 4), ("bank1.fb", 5)]);
    assert_eq!(step(&mut *machine, &[0xeb, 0x44]), Ok(Stop::Cycles));
    assert_registers(
        &*machine,
        &[("r0", 4), ("fb", 5), ("sb", 3), ("bank0.r0", 1), ("bank0.fb", 2), ("flg", B)],
    );
    set(&mut *machine, &[("bank0.r0", 7), ("bank1.r0", 8)]);
    assert_registers(&*machine, &[("r0", 8), ("bank0.r0", 7)]);
    assert!(!machine.set_register("bank2.r0", 0) && !machine.set_register("r4", 0));
    let copy = machine.snapshot();
    set(&mut *machine, &[("r0", 9)]);
    assert_registers(&*copy, &[("r0", 8)]);
    machine.reset();
    assert_registers(&*machine, &[("r0", 0), ("flg", 0), ("bank1.r0", 0)]);
}

#[test]
fn wait_and_a_jump_to_itself_end_a_run() {
    // WAIT; JMP.B to itself
    for code in [[0x7d, 0xf3], [0xfe, 0xff]] {
        let mut machine = machine();
        assert_eq!(step(&mut *machine, &code), Ok(Stop::Halted));
        assert_eq!((machine.pc(), machine.instructions()), (START, 0));
    }
    // FSET D: a single-step interrupt would come after the next instruction.
    let mut machine = machine();
    assert_eq!(step(&mut *machine, &[0xeb, 0x14, 0x04]), Ok(Stop::Cycles));
    assert_registers(&*machine, &[("flg", D)]);
    assert!(matches!(machine.run(&Until::default()), Err(Fault::Architecture { .. })));
    // MOV.B #0,[A0] into flash, and where there is nothing
    for (address, flash) in [(0x9000, true), (0x0200, false)] {
        let mut machine = self::machine();
        set(&mut *machine, &[("a0", address)]);
        let fault = step(&mut *machine, &[0x74, 0xc6, 0x00]).expect_err("fault");
        assert_eq!(matches!(fault, Fault::Architecture { .. }), flash, "{fault}");
        assert_eq!((fault.pc(), machine.pc()), (Some(START), START));
    }
    // 0xf7; PUSHM and POPM of no register
    for code in [[0xf7, 0x00], [0xec, 0x00], [0xed, 0x00]] {
        assert!(matches!(step(&mut *self::machine(), &code), Err(Fault::Opcode { .. })), "{code:02x?}");
    }
}

/// Writes down what an observer is told.
#[derive(Default)]
struct Seen {
    steps: Vec<(u32, Flow, u64)>,
    accesses: Vec<(AccessKind, u32, u8, u64)>,
}

impl Observer for Seen {
    fn step(&mut self, step: &Step) {
        self.steps.push((step.pc, step.flow, step.cycles));
    }
    fn access(&mut self, access: &Access) {
        self.accesses.push((access.kind, access.address, access.size, access.value));
    }
}

#[test]
fn observers_follow_calls() {
    // JSR.W to RTS at 0x8010; then JMP.S over one byte; then JMP to itself.
    let mut machine = machine();
    assert!(
        machine.poke(START, &[0xf5, 0x0f, 0x00, 0x60, 0x04, 0xfe, 0xff]) && machine.poke(0x8010, &[0xf3])
    );
    machine.set_pc(START);
    let mut seen = Seen::default();
    assert_eq!(machine.run_observed(&Until::default(), &mut seen), Ok(Stop::Halted));
    // 8 + 1 for JSR.W, 6 + 1 for RTS, 5 for JMP.S (timing.toml).
    let expected =
        [(0x8000, Flow::Start, 0), (0x8010, Flow::Call { return_to: 0x8003 }, 9), (0x8003, Flow::Return, 16)];
    assert_eq!(seen.steps[..3], expected);
    assert_eq!((machine.pc(), machine.cycles(), machine.instructions()), (0x8005, 21, 3));
    let pushed = [(AccessKind::Write, 0x1fff, 1, 0x00), (AccessKind::Write, 0x1ffd, 2, 0x8003)];
    let popped = [(AccessKind::Read, 0x1ffd, 2, 0x8003), (AccessKind::Read, 0x1fff, 1, 0x00)];
    assert_eq!(seen.accesses, [pushed, popped].concat());
    // Addresses to stop at.
    machine.reset();
    set(&mut *machine, &[("isp", 0x2000), ("pc", START)]);
    let until = Until { cycles: None, addresses: vec![0x8010] };
    assert_eq!(machine.run(&until), Ok(Stop::Address(0x8010)));
    assert_eq!(machine.cycles(), 9);
}

#[test]
fn code_in_ram_can_change_itself() {
    // At 0x1000: MOV.B #0x04,0x1005 (NOP over WAIT's first byte), then WAIT at 0x1005, whose second
    // byte is RTS.
    let mut machine = machine();
    assert!(machine.poke(0x1000, &[0x74, 0xcf, 0x05, 0x10, 0x04, 0x7d, 0xf3]));
    machine.set_pc(0x1005);
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
    machine.set_pc(0x1000);
    let until = Until { cycles: None, addresses: vec![0x1006] };
    assert_eq!(machine.run(&until), Ok(Stop::Address(0x1006)));
}
