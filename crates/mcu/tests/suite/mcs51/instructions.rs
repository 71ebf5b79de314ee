//! Single 8051 instructions against Intel's user's manual.
//!
//! Source: *MCS 51 Microcontroller Family User's Manual* (272383-002), chapter "MCS 51 Programmer's
//! Guide and Instruction Set": the examples of its section "Instruction Definitions", and the rows
//! of its table "8051 Instruction Set Summary". Refused instructions are tested, too.

mod observed;
mod summary;

use mcu::{Fault, Image, Mcu, Observer, Part, Segment, Stop, Until, new_machine};

const I8051: &str = include_str!("../../../../../targets/i8051.toml");

const CY: u32 = 0x80;
const AC: u32 = 0x40;
const OV: u32 = 0x04;

const EXTERNAL: u32 = 0x1_0000;
const INTERNAL: u32 = 0x2_0000;
const SPECIAL: u32 = 0x3_0000;

/// A place in the middle of the program memory, so that branches reach both ways.
const PC: u32 = 0x1234;

struct Cpu(Box<dyn Mcu>);

impl Cpu {
    /// The part with these bytes at [`PC`].
    fn new(bytes: &[u8]) -> Cpu {
        Cpu::at(PC, bytes)
    }

    fn at(pc: u32, bytes: &[u8]) -> Cpu {
        let part = Part::from_toml(I8051).expect("target file");
        let mut machine = new_machine(&part, part.default_clock_hz).expect("machine");
        assert!(machine.poke(pc, bytes));
        machine.set_pc(pc);
        Cpu(machine)
    }

    fn set(mut self, name: &str, value: u32) -> Cpu {
        assert!(self.0.set_register(name, value));
        self
    }

    fn put(mut self, address: u32, bytes: &[u8]) -> Cpu {
        assert!(self.0.poke(address, bytes));
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

    /// The fault of the instruction, which leaves the machine as it was.
    fn fault(mut self) -> Fault {
        let before = self.0.registers();
        let fault = self.0.run(&Until { cycles: Some(1), addresses: vec![] }).expect_err("a fault");
        assert_eq!(self.0.registers(), before);
        fault
    }

    fn get(&self, name: &str) -> u32 {
        self.0.registers().into_iter().find(|(register, _)| register == name).expect(name).1
    }

    fn byte(&self, address: u32) -> u8 {
        let mut byte = [0];
        assert!(self.0.peek(address, &mut byte));
        byte[0]
    }

    fn flags(&self) -> u32 {
        self.get("psw") & (CY | AC | OV)
    }
}

/// A and the flags after one instruction, for tables of instructions that combine A with a value.
fn accumulator(bytes: &[u8], a: u32, psw: u32) -> (u32, u32) {
    let cpu = Cpu::new(bytes).set("a", a).set("psw", psw).run(1);
    (cpu.get("a"), cpu.flags())
}

#[test]
fn examples_of_addition_and_subtraction() {
    // "ADD A,<src-byte>": 0C3H + 0AAH in R0; "ADDC": the same with the carry set.
    let cpu = Cpu::new(&[0x28]).set("a", 0xc3).set("r0", 0xaa).run(1);
    assert_eq!((cpu.get("a"), cpu.flags()), (0x6d, CY | OV));
    let cpu = Cpu::new(&[0x38]).set("a", 0xc3).set("r0", 0xaa).set("psw", CY).run(1);
    assert_eq!((cpu.get("a"), cpu.flags()), (0x6e, CY | OV));
    // "SUBB A,<src-byte>": 0C9H - 54H in R2 with the carry set.
    let cpu = Cpu::new(&[0x9a]).set("a", 0xc9).set("r2", 0x54).set("psw", CY).run(1);
    assert_eq!((cpu.get("a"), cpu.flags()), (0x74, OV));
    // Carries out of bit 3, and with the carry alone.
    assert_eq!(accumulator(&[0x24, 0x01], 0x0f, 0), (0x10, AC));
    assert_eq!(accumulator(&[0x24, 0x01], 0xff, CY), (0x00, CY | AC));
    assert_eq!(accumulator(&[0x34, 0xff], 0x00, CY), (0x00, CY | AC));
    assert_eq!(accumulator(&[0x34, 0x00], 0x7f, CY), (0x80, AC | OV));
    assert_eq!(accumulator(&[0x94, 0x01], 0x00, 0), (0xff, CY | AC));
    assert_eq!(accumulator(&[0x94, 0xff], 0x00, CY), (0x00, CY | AC));
    assert_eq!(accumulator(&[0x94, 0x01], 0x80, 0), (0x7f, AC | OV));
}

#[test]
fn addition_and_subtraction_of_all_bytes_are_those_of_integers() {
    let mut cpu = Cpu::new(&[0x38]);
    for (opcode, sign) in [(0x38, 1), (0x98, -1)] {
        cpu = cpu.put(PC, &[opcode]);
        for case in 0..0x2_0000u32 {
            let (a, value, carry) = (case & 0xff, case >> 8 & 0xff, case >> 16);
            cpu.0.set_pc(PC);
            cpu = cpu.set("a", a).set("r0", value).set("psw", carry * CY).run(1);
            let add = |bits: u32| {
                let mask = (1i64 << bits) - 1;
                (i64::from(a) & mask) + sign * ((i64::from(value) & mask) + i64::from(carry))
            };
            let signed = |byte: u32| i64::from(byte as u8 as i8);
            let sum = signed(a) + sign * (signed(value) + i64::from(carry));
            let flag = |on: bool, mask: u32| if on { mask } else { 0 };
            let flags = flag(!(0..=0xff).contains(&add(8)), CY)
                | flag(!(0..=0xf).contains(&add(4)), AC)
                | flag(!(-0x80..=0x7f).contains(&sum), OV);
            let expected = ((add(8) & 0xff) as u32, flags);
            assert_eq!((cpu.get("a"), cpu.flags()), expected, "{a:#x} {value:#x} {carry} {sign}");
        }
    }
}

#[test]
fn examples_of_multiplication_division_and_decimal_adjustment() {
    // "MUL AB": 80 * 160 = 12,800.
    let cpu = Cpu::new(&[0xa4]).set("a", 80).set("b", 160).set("psw", CY).run(1);
    assert_eq!((cpu.get("a"), cpu.get("b"), cpu.flags()), (0x00, 0x32, OV));
    let cpu = Cpu::new(&[0xa4]).set("a", 15).set("b", 17).set("psw", CY | OV).run(1);
    assert_eq!((cpu.get("a"), cpu.get("b"), cpu.flags()), (0xff, 0, 0));
    // "DIV AB": 251 / 18 = 13, remainder 17.
    let cpu = Cpu::new(&[0x84]).set("a", 251).set("b", 18).set("psw", CY | OV | AC).run(1);
    assert_eq!((cpu.get("a"), cpu.get("b"), cpu.flags()), (13, 17, AC));
    // "DA A": 56 + 67 + 1 = 124; 30 - 1 = 29 by adding 99.
    let cpu = Cpu::new(&[0x3b, 0xd4]).set("a", 0x56).set("r3", 0x67).set("psw", CY).run(1);
    assert_eq!((cpu.get("a"), cpu.flags() & (CY | AC)), (0xbe, 0));
    let cpu = cpu.run(1);
    assert_eq!((cpu.get("a"), cpu.flags() & CY), (0x24, CY));
    let cpu = Cpu::new(&[0x24, 0x99, 0xd4]).set("a", 0x30).run(2);
    assert_eq!((cpu.get("a"), cpu.flags() & CY), (0x29, CY));
    // Decimal addition of all pairs of two digits.
    let mut cpu = Cpu::new(&[0x38, 0xd4]);
    for case in 0..20_000 {
        let (left, right, carry) = (case % 100, case / 100 % 100, case / 10_000);
        let digits = |number: u32| number / 10 % 10 * 16 + number % 10;
        cpu.0.set_pc(PC);
        cpu = cpu.set("a", digits(left)).set("r0", digits(right)).set("psw", carry * CY).run(2);
        let sum = left + right + carry;
        let expected = (digits(sum), if sum > 99 { CY } else { 0 });
        assert_eq!((cpu.get("a"), cpu.flags() & CY), expected, "{left} + {right} + {carry}");
    }
}

#[test]
fn examples_of_increments_and_decrements() {
    // "INC": INC @R0; INC R0; INC @R0 with R0 = 7EH, 7EH: 0FFH, 7FH: 40H.
    let cpu = Cpu::new(&[0x06, 0x08, 0x06]).set("r0", 0x7e).put(INTERNAL + 0x7e, &[0xff, 0x40]).run(3);
    assert_eq!((cpu.get("r0"), cpu.byte(INTERNAL + 0x7e), cpu.byte(INTERNAL + 0x7f)), (0x7f, 0x00, 0x41));
    // "INC DPTR" three times from 12FEH.
    let cpu = Cpu::new(&[0xa3, 0xa3, 0xa3]).set("dptr", 0x12fe).run(3);
    assert_eq!(cpu.get("dptr"), 0x1301);
    assert_eq!(Cpu::new(&[0xa3]).set("dptr", 0xffff).run(1).get("dptr"), 0);
    // "DEC": DEC @R0; DEC R0; DEC @R0 with R0 = 7FH, 7EH: 00H, 7FH: 40H.
    let cpu = Cpu::new(&[0x16, 0x18, 0x16]).set("r0", 0x7f).put(INTERNAL + 0x7e, &[0x00, 0x40]).run(3);
    assert_eq!((cpu.get("r0"), cpu.byte(INTERNAL + 0x7e), cpu.byte(INTERNAL + 0x7f)), (0x7e, 0xff, 0x3f));
    assert_eq!(accumulator(&[0x04], 0xff, CY | AC | OV), (0, CY | AC | OV));
    assert_eq!(accumulator(&[0x14], 0x00, 0), (0xff, 0));
}

#[test]
fn examples_of_logic_and_rotation() {
    // "ANL", "ORL", "XRL" A,R0 with A = 0C3H and R0 = 55H, 55H, 0AAH.
    for (opcode, value, expected) in [(0x58, 0x55, 0x41), (0x48, 0x55, 0xd7), (0x68, 0xaa, 0x69)] {
        let cpu = Cpu::new(&[opcode]).set("a", 0xc3).set("r0", value).run(1);
        assert_eq!((cpu.get("a"), cpu.flags()), (expected, 0), "{opcode:#x}");
    }
    // "ANL P1,#01110011B", "ORL P1,#00110010B", "XRL P1,#00110001B": read, modify and write the
    // latch, which is 0FFH.
    for (opcode, value, expected) in [(0x53, 0x73, 0x73), (0x43, 0x32, 0xff), (0x63, 0x31, 0xce)] {
        let cpu = Cpu::new(&[opcode, 0x90, value, 0xe5, 0x90]).run(2);
        assert_eq!(cpu.get("a"), expected, "{opcode:#x}");
    }
    // "RL A", "RLC A", "RR A", "RRC A" with 0C5H and no carry; "SWAP A"; "CPL A" of 5CH; "CLR A".
    assert_eq!(accumulator(&[0x23], 0xc5, 0), (0x8b, 0));
    assert_eq!(accumulator(&[0x33], 0xc5, 0), (0x8a, CY));
    assert_eq!(accumulator(&[0x03], 0xc5, 0), (0xe2, 0));
    assert_eq!(accumulator(&[0x13], 0xc5, 0), (0x62, CY));
    assert_eq!(accumulator(&[0x33], 0x00, CY), (0x01, 0));
    assert_eq!(accumulator(&[0x13], 0x00, CY), (0x80, 0));
    assert_eq!(accumulator(&[0xc4], 0xc5, 0), (0x5c, 0));
    assert_eq!(accumulator(&[0xf4], 0x5c, 0), (0xa3, 0));
    assert_eq!(accumulator(&[0xe4], 0x5c, CY), (0x00, CY));
}

#[test]
fn example_of_mov() {
    // "MOV": 30H holds 40H, 40H holds 10H, port 1 has 0CAH.
    let code = [0x78, 0x30, 0xe6, 0xf9, 0x87, 0xf0, 0xa7, 0x90, 0x85, 0x90, 0xa0];
    let cpu = Cpu::at(PC - 3, &[0x75, 0x90, 0xca])
        .put(PC, &code)
        .put(INTERNAL + 0x30, &[0x40])
        .put(INTERNAL + 0x40, &[0x10]);
    let cpu = cpu.run(7);
    let registers = ["r0", "a", "r1", "b"].map(|name| cpu.get(name));
    assert_eq!((registers, cpu.byte(INTERNAL + 0x40)), ([0x30, 0x40, 0x40, 0x10], 0xca));
    // P2 has 0CAH, too: its latch is the high half of MOVX @R0.
    let cpu = cpu.put(PC + 11, &[0xf2]).run(1);
    assert_eq!(cpu.byte(EXTERNAL + 0xca30), 0x40);
    // "MOV DPTR,#1234H"
    assert_eq!(Cpu::new(&[0x90, 0x12, 0x34]).run(1).get("dptr"), 0x1234);
}

#[test]
fn examples_of_tables_and_external_memory() {
    // "MOVC": INC A; MOVC A,@A+PC; RET; DB 66H, 77H, 88H, 99H.
    let code = [0x04, 0x83, 0x22, 0x66, 0x77, 0x88, 0x99];
    for (a, expected) in [(0, 0x66), (1, 0x77), (3, 0x99)] {
        assert_eq!(Cpu::new(&code).set("a", a).run(2).get("a"), expected);
    }
    assert_eq!(
        Cpu::new(&[0x93]).put(0x2101, &[0x5a]).set("dptr", 0x2002).set("a", 0xff).run(1).get("a"),
        0x5a
    );
    // "MOVX A,@R1; MOVX @R0,A" with R0 = 12H, R1 = 34H, 34H of the external RAM: 56H; here in page
    // 0.
    let cpu = Cpu::new(&[0x75, 0xa0, 0x00, 0xe3, 0xf2])
        .set("r0", 0x12)
        .set("r1", 0x34)
        .put(EXTERNAL + 0x34, &[0x56]);
    let cpu = cpu.run(3);
    assert_eq!((cpu.get("a"), cpu.byte(EXTERNAL + 0x12)), (0x56, 0x56));
    let cpu = Cpu::new(&[0xe0, 0xa3, 0xf0]).set("dptr", 0xfffe).put(EXTERNAL + 0xfffe, &[0x81]).run(3);
    assert_eq!(cpu.byte(EXTERNAL + 0xffff), 0x81);
}

#[test]
fn examples_of_the_stack_and_of_exchange() {
    // "PUSH DPL; PUSH DPH" with SP = 09H and DPTR = 0123H.
    let cpu = Cpu::new(&[0xc0, 0x82, 0xc0, 0x83]).set("sp", 9).set("dptr", 0x0123).run(2);
    assert_eq!((cpu.get("sp"), cpu.byte(INTERNAL + 0x0a), cpu.byte(INTERNAL + 0x0b)), (0x0b, 0x23, 0x01));
    assert_eq!(cpu.0.sp(), INTERNAL + 0x0b);
    // "POP DPH; POP DPL; POP SP" with 20H, 23H, 01H at 30H to 32H.
    let cpu = Cpu::new(&[0xd0, 0x83, 0xd0, 0x82, 0xd0, 0x81])
        .set("sp", 0x32)
        .put(INTERNAL + 0x30, &[0x20, 0x23, 0x01]);
    let cpu = cpu.run(2);
    assert_eq!((cpu.get("sp"), cpu.get("dptr")), (0x30, 0x0123));
    assert_eq!(cpu.run(1).get("sp"), 0x20);
    // "PUSH": SP counts first, then the source is read.
    assert_eq!(Cpu::new(&[0xc0, 0x81]).set("sp", 0x30).run(1).byte(INTERNAL + 0x31), 0x31);
    // "XCH A,@R0" and "XCHD A,@R0" with 20H: 75H and A = 3FH, 36H.
    let cpu = Cpu::new(&[0xc6]).set("r0", 0x20).set("a", 0x3f).put(INTERNAL + 0x20, &[0x75]).run(1);
    assert_eq!((cpu.get("a"), cpu.byte(INTERNAL + 0x20)), (0x75, 0x3f));
    let cpu = Cpu::new(&[0xd6]).set("r0", 0x20).set("a", 0x36).put(INTERNAL + 0x20, &[0x75]).run(1);
    assert_eq!((cpu.get("a"), cpu.byte(INTERNAL + 0x20)), (0x35, 0x76));
}

#[test]
fn examples_of_bits() {
    // "SETB C; SETB P1.0" with port 1 at 34H; "CLR P1.2" at 5DH; "CPL P1.1; CPL P1.2" at 5BH.
    for (latch, code, count, expected) in [
        (0x34, vec![0xd3, 0xd2, 0x90], 2, 0x35),
        (0x5d, vec![0xc2, 0x92], 1, 0x59),
        (0x5b, vec![0xb2, 0x91, 0xb2, 0x92], 2, 0x5d),
    ] {
        let mut bytes = vec![0x75, 0x90, latch];
        bytes.extend(code);
        bytes.extend([0xe5, 0x90]);
        assert_eq!(Cpu::new(&bytes).run(count + 2).get("a"), expected, "{latch:#x}");
    }
    // "MOV C": MOV P1.3,C; MOV C,P3.3; MOV P1.2,C with the carry set, port 3 at 0C5H, port 1 at
    // 35H: 39H, carry clear.
    let code = [0x75, 0x90, 0x35, 0x75, 0xb0, 0xc5, 0x92, 0x93, 0xa2, 0xb3, 0x92, 0x92, 0xe5, 0x90];
    let cpu = Cpu::new(&code).set("psw", CY).run(6);
    assert_eq!((cpu.get("a"), cpu.flags()), (0x39, 0));
    // Bits of the internal RAM: bit 00H is 20H.0, bit 7FH is 2FH.7.
    let cpu = Cpu::new(&[0xd2, 0x00, 0xd2, 0x7f]).run(2);
    assert_eq!((cpu.byte(INTERNAL + 0x20), cpu.byte(INTERNAL + 0x2f)), (0x01, 0x80));
    // ANL C, ORL C and their complements, for all four cases.
    for case in 0..4u32 {
        let (carry, bit) = (case & 1, case >> 1);
        for (opcode, expected) in
            [(0x82, carry & bit), (0xb0, carry & (1 - bit)), (0x72, carry | bit), (0xa0, carry | (1 - bit))]
        {
            let cpu =
                Cpu::new(&[opcode, 0x0b]).set("psw", carry * CY).put(INTERNAL + 0x21, &[(bit << 3) as u8]);
            assert_eq!(cpu.run(1).flags(), expected * CY, "{opcode:#x} {carry} {bit}");
        }
    }
    assert_eq!(accumulator(&[0xb3], 0, CY).1, 0);
    assert_eq!(accumulator(&[0xc3], 0, CY).1, 0);
    // The accumulator, B and PSW have bits, too; the parity cannot be written.
    let cpu = Cpu::new(&[0xd2, 0xe7, 0xd2, 0xf0, 0xd2, 0xd5, 0xc2, 0xd0]).run(4);
    assert_eq!((cpu.get("a"), cpu.get("b"), cpu.get("psw")), (0x80, 0x01, 0x21));
}

#[test]
fn parity_follows_the_accumulator() {
    let mut cpu = Cpu::new(&[0x74, 0x00, 0x75, 0xd0, 0xff]);
    for value in 0..=0xffu8 {
        cpu = cpu.put(PC + 1, &[value]).set("pc", PC).set("psw", 0).run(1);
        assert_eq!(cpu.get("psw"), value.count_ones() & 1);
    }
    // 0xff has an even number of ones.
    assert_eq!(cpu.run(1).get("psw"), 0xfe);
}

#[test]
fn jumps_reach_both_ways() {
    // JC, JNC, JZ, JNZ, SJMP: opcode, A, PSW, whether taken.
    for (opcode, a, psw, taken) in [
        (0x40, 0, CY, true),
        (0x40, 0, 0, false),
        (0x50, 0, 0, true),
        (0x50, 0, CY, false),
        (0x60, 0, 0, true),
        (0x60, 1, 0, false),
        (0x70, 1, 0, true),
        (0x70, 0, 0, false),
        (0x80, 0, 0, true),
    ] {
        for (offset, target) in [(0x7f, PC + 2 + 127), (0x80, PC + 2 - 128)] {
            let cpu = Cpu::new(&[opcode, offset]).set("a", a).set("psw", psw).run(1);
            assert_eq!(cpu.get("pc"), if taken { target } else { PC + 2 }, "{opcode:#x}");
        }
    }
    // JB, JNB, JBC on bit 21H.3: opcode, bit, whether taken, bit after.
    for (opcode, bit, taken, after) in [
        (0x20, 8, true, 8),
        (0x20, 0, false, 0),
        (0x30, 0, true, 0),
        (0x30, 8, false, 8),
        (0x10, 8, true, 0),
        (0x10, 0, false, 0),
    ] {
        let cpu = Cpu::new(&[opcode, 0x0b, 0x85]).put(INTERNAL + 0x21, &[bit]).run(1);
        let target = if taken { PC + 3 - 123 } else { PC + 3 };
        assert_eq!((cpu.get("pc"), cpu.byte(INTERNAL + 0x21)), (target, after), "{opcode:#x} {bit}");
    }
    // CJNE: opcode and operand, and how the two compare.
    for value in [0x33u32, 0x34, 0x35] {
        let cases: [(&[u8], u32); 4] = [
            (&[0xb4, 0x34, 0x10], value),
            (&[0xb5, 0x40, 0x10], value),
            (&[0xb6, 0x34, 0x10], value),
            (&[0xbf, 0x34, 0x10], value),
        ];
        for (bytes, left) in cases {
            let cpu = Cpu::new(bytes).set("a", left).set("r7", left).set("r0", 0x41).set("psw", CY | OV);
            let cpu = cpu.put(INTERNAL + 0x40, &[0x34, left as u8]).run(1);
            let target = if left == 0x34 { PC + 3 } else { PC + 3 + 0x10 };
            let flags = OV | if left < 0x34 { CY } else { 0 };
            assert_eq!((cpu.get("pc"), cpu.flags()), (target, flags), "{bytes:x?} {left:#x}");
        }
    }
    // DJNZ: 01H counts to 0 and falls through, 00H to 0FFH.
    for (start, after, taken) in [(1, 0, false), (0, 0xff, true), (2, 1, true)] {
        let cpu = Cpu::new(&[0xda, 0x80]).set("r2", start).run(1);
        assert_eq!((cpu.get("r2"), cpu.get("pc")), (after, if taken { PC + 2 - 128 } else { PC + 2 }));
        let cpu = Cpu::new(&[0xd5, 0x50, 0x7f]).put(INTERNAL + 0x50, &[start as u8]).run(1);
        let target = if taken { PC + 3 + 127 } else { PC + 3 };
        assert_eq!((u32::from(cpu.byte(INTERNAL + 0x50)), cpu.get("pc")), (after, target));
    }
    // "JMP @A+DPTR" and LJMP.
    assert_eq!(Cpu::new(&[0x73]).set("a", 0xff).set("dptr", 0xff02).run(1).get("pc"), 1);
    assert_eq!(Cpu::new(&[0x02, 0xfe, 0xdc]).run(1).get("pc"), 0xfedc);
    // A program counter that counts over the end.
    assert_eq!(Cpu::at(0xffff, &[0x80]).put(0, &[0x10]).run(1).get("pc"), 0x11);
}

#[test]
fn calls_push_the_low_byte_first() {
    // "ACALL SUBRTN": SP = 07H, SUBRTN at 0345H, the call at 0123H. "LCALL": SUBRTN at 1234H.
    let cpu = Cpu::at(0x0123, &[0x71, 0x45]).put(0x0345, &[0x22]).run(1);
    assert_eq!((cpu.get("pc"), cpu.get("sp")), (0x0345, 9));
    assert_eq!((cpu.byte(INTERNAL + 8), cpu.byte(INTERNAL + 9)), (0x25, 0x01));
    let cpu = cpu.run(1);
    assert_eq!((cpu.get("pc"), cpu.get("sp")), (0x0125, 7));
    let cpu = Cpu::at(0x0123, &[0x12, 0x12, 0x34]).put(0x1234, &[0x32]).run(1);
    assert_eq!((cpu.get("pc"), cpu.byte(INTERNAL + 8), cpu.byte(INTERNAL + 9)), (0x1234, 0x26, 0x01));
    let cpu = cpu.run(1);
    assert_eq!((cpu.get("pc"), cpu.get("sp")), (0x0126, 7));
    // "AJMP JMPADR" at 0345H to 0123H; the page is that of the next instruction; all eight pages of
    // 256 bytes.
    assert_eq!(Cpu::at(0x0345, &[0x21, 0x23]).run(1).get("pc"), 0x0123);
    assert_eq!(Cpu::at(0x07fe, &[0x01, 0x10]).run(1).get("pc"), 0x0810);
    for page in 0..8u8 {
        for opcode in [0x01, 0x11] {
            let cpu = Cpu::at(0x4801, &[opcode | page << 5, 0x56]).run(1);
            assert_eq!(cpu.get("pc"), 0x4856 + u32::from(page) * 0x100);
        }
    }
}

#[test]
fn register_banks_are_the_first_32_bytes() {
    for bank in 0..4u32 {
        for number in 0..8u32 {
            let cpu = Cpu::new(&[0x78 | number as u8, 0xa5]).set("psw", bank << 3).run(1);
            assert_eq!(cpu.byte(INTERNAL + bank * 8 + number), 0xa5);
            assert_eq!(cpu.get(&format!("r{number}")), 0xa5);
        }
    }
}

#[test]
fn undefined_and_unmodelled_accesses_are_faults() {
    let opcode = |cpu: Cpu| matches!(cpu.fault(), Fault::Opcode { pc: PC, .. });
    let architecture = |cpu: Cpu| matches!(cpu.fault(), Fault::Architecture { pc: PC, .. });
    let unmapped = |cpu: Cpu| match cpu.fault() {
        Fault::Unmapped { pc: PC, address, .. } => address,
        other => panic!("{other}"),
    };
    let peripheral = |bytes: &[u8]| match Cpu::new(bytes).fault() {
        Fault::Peripheral { pc: PC, address, device, .. } => (device, address - SPECIAL),
        other => panic!("{other}"),
    };
    assert!(opcode(Cpu::new(&[0xa5])));
    assert!(architecture(Cpu::new(&[0x84]).set("a", 5)));
    assert!(architecture(Cpu::new(&[0xe5, 0xe0])));
    // Beyond 128 bytes of internal RAM; a special function register that is not there.
    assert_eq!(unmapped(Cpu::new(&[0xe6]).set("r0", 0x80)), INTERNAL + 0x80);
    assert_eq!(unmapped(Cpu::new(&[0xf7]).set("r1", 0xff)), INTERNAL + 0xff);
    assert_eq!(unmapped(Cpu::new(&[0xc0, 0x00]).set("sp", 0x7f)), INTERNAL + 0x80);
    assert_eq!(unmapped(Cpu::new(&[0x12, 0, 0]).set("sp", 0x7e)), INTERNAL + 0x80);
    assert_eq!(unmapped(Cpu::new(&[0x22]).set("sp", 0x80)), INTERNAL + 0x80);
    assert_eq!(unmapped(Cpu::new(&[0xd0, 0xc8]).set("sp", 0x20)), SPECIAL + 0xc8);
    assert_eq!(unmapped(Cpu::new(&[0xd2, 0xff])), SPECIAL + 0xf8);
    // Interrupts, timers, the serial port, idle and power-down.
    assert_eq!(peripheral(&[0x75, 0xa8, 0x82]), ("IE".into(), 0xa8));
    assert_eq!(peripheral(&[0x75, 0xa8, 0x20]), ("IE".into(), 0xa8));
    assert_eq!(peripheral(&[0x75, 0x88, 0x10]), ("TCON".into(), 0x88));
    assert_eq!(peripheral(&[0xd2, 0x8e]), ("TCON".into(), 0x88));
    assert_eq!(peripheral(&[0xe5, 0x88]), ("TCON".into(), 0x88));
    assert_eq!(peripheral(&[0x75, 0x98, 0x50]), ("SCON".into(), 0x98));
    assert_eq!(peripheral(&[0x75, 0x99, 0x00]), ("SBUF".into(), 0x99));
    assert_eq!(peripheral(&[0xe5, 0x99]), ("SBUF".into(), 0x99));
    assert_eq!(peripheral(&[0x43, 0x87, 0x01]), ("PCON".into(), 0x87));
    assert_eq!(peripheral(&[0x43, 0x87, 0x02]), ("PCON".into(), 0x87));
    // Ports that the external bus needs.
    assert_eq!(peripheral(&[0xe5, 0x80]), ("P0".into(), 0x80));
    assert_eq!(peripheral(&[0x75, 0x80, 0x00]), ("P0".into(), 0x80));
    assert_eq!(peripheral(&[0xe5, 0xa0]), ("P2".into(), 0xa0));
    assert_eq!(peripheral(&[0xc2, 0xb7]), ("P3".into(), 0xb0));
    // What comes near to these and is allowed: sources without EA and EA without sources, a timer's
    // setting, a latch.
    Cpu::new(&[0x75, 0xa8, 0x1f, 0x75, 0xa8, 0x80, 0x75, 0x89, 0x21, 0x05, 0xa0, 0xc2, 0xb0]).run(5);
    // EA comes second.
    assert!(matches!(
        Cpu::new(&[0x75, 0xa8, 0x02, 0xd2, 0xaf]).run(1).0.run(&Until::default()),
        Err(Fault::Peripheral { .. })
    ));
}

#[test]
fn ports_start_high_and_tell_their_pins() {
    struct Pins(Vec<(String, u8, bool, u64)>);
    impl Observer for Pins {
        fn pin(&mut self, edge: &mcu::PinEdge<'_>) {
            self.0.push((edge.port.into(), edge.pin, edge.high, edge.cycles));
        }
    }
    // CLR P1.3; ANL P1,#0FEH; MOV P2,#0: no pins of P2 while it carries addresses.
    let mut cpu = Cpu::new(&[0xc2, 0x93, 0x53, 0x90, 0xfe, 0x75, 0xa0, 0x00, 0x80, 0xfe]);
    let mut pins = Pins(Vec::new());
    assert_eq!(cpu.0.run_observed(&Until::default(), &mut pins), Ok(Stop::Halted));
    assert_eq!(pins.0, [("P1".into(), 3, false, 1), ("P1".into(), 0, false, 3)]);
}

#[test]
fn runs_stop_at_given_addresses_and_go_on() {
    // INC A; SJMP back; behind it jumps to themselves.
    let mut machine = Cpu::new(&[0x04, 0x80, 0xfd]).0;
    let at = |address| Until { cycles: None, addresses: vec![address] };
    for round in 1..4 {
        assert_eq!(machine.run(&at(PC + 1)), Ok(Stop::Address(PC + 1)));
        assert_eq!(machine.instructions(), 2 * round - 1);
    }
    let until = Until { cycles: Some(machine.cycles() + 7), addresses: vec![0x4000] };
    assert_eq!(machine.run(&until), Ok(Stop::Cycles));
    // A snapshot goes its own way.
    let mut other = machine.snapshot();
    assert_eq!(other.run(&at(PC)), Ok(Stop::Address(PC)));
    assert_eq!(machine.run(&at(PC)), Ok(Stop::Address(PC)));
    assert_eq!(machine.registers(), other.registers());
    assert_eq!(machine.cycles(), other.cycles());
    for bytes in [vec![0x80, 0xfe], vec![0x02, 0x12, 0x34], vec![0x41, 0x34]] {
        let mut machine = Cpu::new(&bytes).0;
        assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted), "{bytes:x?}");
        assert_eq!((machine.cycles(), machine.pc()), (0, PC));
    }
    // A jump to itself is stopped at like any other instruction.
    let mut machine = Cpu::at(PC - 1, &[0x00, 0x80, 0xfe]).0;
    assert_eq!(machine.run(&at(PC)), Ok(Stop::Address(PC)));
}

#[test]
fn images_survive_a_reset_and_must_fit() {
    let part = Part::from_toml(I8051).expect("target file");
    assert_eq!(part.clocks_per_cycle, 12);
    let mut machine = new_machine(&part, 12_000_000).expect("machine");
    let segment = |address, bytes: &[u8]| Segment { address, bytes: bytes.to_vec() };
    let image = Image {
        segments: vec![
            segment(0, &[0x75, 0x30, 0x77, 0x80, 0xfe]),
            segment(EXTERNAL + 5, &[9]),
            segment(INTERNAL + 0x31, &[8]),
        ],
    };
    machine.load(&image).expect("loaded");
    machine.reset();
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
    machine.poke(EXTERNAL + 4, &[1, 2, 3]);
    machine.reset();
    let mut bytes = [0; 3];
    assert!(machine.peek(EXTERNAL + 4, &mut bytes));
    assert_eq!(bytes, [0, 9, 0]);
    assert!(machine.peek(INTERNAL + 0x30, &mut bytes));
    assert_eq!(bytes, [0, 8, 0]);
    let registers: Vec<u32> = machine.registers().into_iter().map(|(_, value)| value).collect();
    assert_eq!(registers, [0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let beyond = Image { segments: vec![segment(INTERNAL + 0x7f, &[1, 2])] };
    assert!(matches!(machine.load(&beyond), Err(Fault::Load { address: 0x2_007f, size: 2, .. })));
    // Less program memory: what lies beyond is neither executed nor read.
    let mut small = part.clone();
    small.memories[0].size = 0x1000;
    let mut machine = new_machine(&small, 12_000_000).expect("machine");
    assert!(machine.poke(0xffe, &[0x00, 0x75]));
    machine.set_pc(0xffe);
    let fault = machine.run(&Until::default());
    assert!(
        matches!(fault, Err(Fault::Unmapped { pc: 0xfff, address: 0x1000, kind: "fetch", .. })),
        "{fault:?}"
    );
    assert!(machine.poke(0, &[0x93]) && machine.set_register("dptr", 0x1000));
    machine.set_pc(0);
    assert!(matches!(
        machine.run(&Until::default()),
        Err(Fault::Unmapped { address: 0x1000, kind: "read", .. })
    ));
    // A part that this family cannot be.
    small.memories[2].size = 0x90;
    assert!(new_machine(&small, 12_000_000).is_err());
}
