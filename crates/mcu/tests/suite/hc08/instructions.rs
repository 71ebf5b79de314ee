//! Instructions of the CPU08 by the manual.
//!
//! There are examples of each group of instructions, and the cycles and bytes of every row of the
//! instruction set summary (CPU08RM, "Instruction Set Summary"; the same table in the data sheets'
//! chapter "Central Processor Unit"). The model itself counts by the opcode map, another table of
//! the same manual.

mod observed;
mod summary;

use mcu::{Fault, Mcu, Part, Stop, Until, new_machine};

const TARGET: &str = include_str!("../../../../../targets/mc68hc08.toml");
const PC: u32 = 0x8000;
const C: u32 = 0x01;
const Z: u32 = 0x02;
const N: u32 = 0x04;
const I: u32 = 0x08;
const H: u32 = 0x10;
const V: u32 = 0x80;
/// Bits 6 and 5 of the condition codes are always 1.
const ONES: u32 = 0x60;

struct Bench(Box<dyn Mcu>);

impl Bench {
    /// A machine with the watchdog off, these bytes at [`PC`] and these registers; all others 0, SP
    /// = 0x0300.
    fn new(bytes: &[u8], registers: &[(&str, u32)]) -> Bench {
        let part = Part::from_toml(TARGET).expect("target file");
        let mut bench = Bench(new_machine(&part, 8_000_000).expect("machine"));
        // MOV #1,CONFIG1
        bench.poke(PC, &[0x6e, 0x01, 0x1f]);
        bench.set("pc", PC);
        bench.step();
        bench.poke(PC, bytes);
        for (name, value) in [("pc", PC), ("sp", 0x0300), ("ccr", 0)] {
            bench.set(name, value);
        }
        for (name, value) in registers {
            bench.set(name, *value);
        }
        bench
    }

    fn set(&mut self, name: &str, value: u32) {
        assert!(self.0.set_register(name, value), "{name}");
    }

    fn get(&self, name: &str) -> u32 {
        self.0.registers().into_iter().find(|(other, _)| other == name).expect("register").1
    }

    fn poke(&mut self, address: u32, bytes: &[u8]) {
        assert!(self.0.poke(address, bytes), "{address:#06x}");
    }

    fn byte(&self, address: u32) -> u8 {
        let mut bytes = [0];
        assert!(self.0.peek(address, &mut bytes), "{address:#06x}");
        bytes[0]
    }

    fn try_step(&mut self) -> Result<Stop, Fault> {
        let until = Until { cycles: Some(self.0.cycles() + 1), addresses: Vec::new() };
        self.0.run(&until)
    }

    fn step(&mut self) {
        assert_eq!(self.try_step(), Ok(Stop::Cycles));
    }

    /// Executes one instruction and gives the registers asked for; `ccr` without the bits that are
    /// always 1.
    fn after<const COUNT: usize>(&mut self, names: [&str; COUNT]) -> [u32; COUNT] {
        self.step();
        names.map(|name| if name == "ccr" { self.get(name) & !ONES } else { self.get(name) })
    }
}

/// One instruction on A.
fn on_a(bytes: &[u8], a: u32, ccr: u32) -> [u32; 2] {
    Bench::new(bytes, &[("a", a), ("ccr", ccr)]).after(["a", "ccr"])
}

#[test]
fn addition_sets_half_carry_and_overflow() {
    assert_eq!(on_a(&[0xab, 0x01], 0x0f, 0), [0x10, H]);
    assert_eq!(on_a(&[0xab, 0x01], 0x7f, 0), [0x80, V | H | N]);
    assert_eq!(on_a(&[0xab, 0x80], 0x80, 0), [0x00, V | Z | C]);
    assert_eq!(on_a(&[0xa9, 0xff], 0x00, C), [0x00, H | Z | C]);
    assert_eq!(on_a(&[0xa9, 0x00], 0x7f, C), [0x80, V | H | N]);
}

#[test]
fn subtraction_borrows_and_leaves_half_carry() {
    assert_eq!(on_a(&[0xa0, 0x01], 0x00, H), [0xff, H | N | C]);
    assert_eq!(on_a(&[0xa0, 0x01], 0x80, 0), [0x7f, V]);
    assert_eq!(on_a(&[0xa2, 0xff], 0xff, C), [0xff, N | C]);
    assert_eq!(on_a(&[0xa2, 0x7f], 0x80, C), [0x00, V | Z]);
    assert_eq!(on_a(&[0xa1, 0x20], 0x20, V), [0x20, Z]);
    let mut bench = Bench::new(&[0xa3, 0x81], &[("x", 0x80), ("h", 0x12)]);
    assert_eq!(bench.after(["h", "x", "ccr"]), [0x12, 0x80, N | C]);
}

#[test]
fn logic_clears_overflow_and_keeps_carry() {
    assert_eq!(on_a(&[0xa4, 0x0f], 0xf0, V | C), [0x00, Z | C]);
    assert_eq!(on_a(&[0xaa, 0x0f], 0xf0, V | C), [0xff, N | C]);
    assert_eq!(on_a(&[0xa8, 0xff], 0xff, V | H), [0x00, Z | H]);
    assert_eq!(on_a(&[0xa5, 0x80], 0x80, V), [0x80, N]);
}

#[test]
fn read_modify_write_flags() {
    // NEG: C unless the result is 0, V where it is 0x80.
    assert_eq!(on_a(&[0x40], 0x00, C | V), [0x00, Z]);
    assert_eq!(on_a(&[0x40], 0x80, 0), [0x80, V | N | C]);
    assert_eq!(on_a(&[0x40], 0x01, 0), [0xff, N | C]);
    assert_eq!(on_a(&[0x43], 0x0f, V), [0xf0, N | C]);
    // INC, DEC leave C.
    assert_eq!(on_a(&[0x4c], 0x7f, C), [0x80, V | N | C]);
    assert_eq!(on_a(&[0x4c], 0xff, 0), [0x00, Z]);
    assert_eq!(on_a(&[0x4a], 0x80, 0), [0x7f, V]);
    assert_eq!(on_a(&[0x4a], 0x00, C), [0xff, N | C]);
    assert_eq!(on_a(&[0x4d], 0x80, V | C), [0x80, N | C]);
    assert_eq!(on_a(&[0x4f], 0x80, V | N | C), [0x00, Z | C]);
    // Shifts: V is N different from C.
    assert_eq!(on_a(&[0x44], 0x01, 0), [0x00, V | Z | C]);
    assert_eq!(on_a(&[0x47], 0x81, 0), [0xc0, N | C]);
    assert_eq!(on_a(&[0x47], 0x80, C), [0xc0, V | N]);
    assert_eq!(on_a(&[0x48], 0x80, 0), [0x00, V | Z | C]);
    assert_eq!(on_a(&[0x48], 0xc0, 0), [0x80, N | C]);
    assert_eq!(on_a(&[0x49], 0x40, C), [0x81, V | N]);
    assert_eq!(on_a(&[0x46], 0x02, C), [0x81, V | N]);
    assert_eq!(on_a(&[0x46], 0x01, C), [0x80, N | C]);
    // On X, H stays.
    let mut bench = Bench::new(&[0x5c], &[("h", 0x12), ("x", 0xff)]);
    assert_eq!(bench.after(["h", "x", "ccr"]), [0x12, 0x00, Z]);
    // CLRH
    let mut bench = Bench::new(&[0x8c], &[("h", 0x12), ("x", 0x34), ("ccr", V | N)]);
    assert_eq!(bench.after(["h", "x", "ccr"]), [0x00, 0x34, Z]);
}

#[test]
fn every_addressing_mode_reaches_its_byte() {
    // LDA: IMM, DIR, EXT, IX2, IX1, IX, SP1, SP2. Offsets are unsigned, sums wrap at 64 kB.
    let cases: [(&[u8], u32); 10] = [
        (&[0xa6, 0x99], 0),
        (&[0xb6, 0x71], 0x71),
        (&[0xc6, 0x02, 0x12], 0x212),
        (&[0xd6, 0x01, 0x20], 0x220),
        (&[0xe6, 0xff], 0x1ff),
        (&[0xf6], 0x100),
        (&[0x9e, 0xe6, 0xff], 0x3ff),
        (&[0x9e, 0xd6, 0x01, 0x01], 0x401),
        (&[0xd6, 0xff, 0xf0], 0xf0),
        (&[0x9e, 0xd6, 0xff, 0x00], 0x200),
    ];
    for (bytes, address) in cases {
        let mut bench = Bench::new(bytes, &[("h", 1), ("x", 0), ("ccr", V)]);
        if address != 0 {
            bench.poke(address, &[0x99]);
        }
        assert_eq!(bench.after(["a", "ccr", "pc"]), [0x99, N, PC + bytes.len() as u32], "{bytes:02x?}");
    }
    // STX to the same places.
    let stores: [(&[u8], u32); 7] = [
        (&[0xbf, 0x71], 0x71),
        (&[0xcf, 0x02, 0x12], 0x212),
        (&[0xdf, 0x01, 0x20], 0x2a7),
        (&[0xef, 0xff], 0x286),
        (&[0xff], 0x187),
        (&[0x9e, 0xef, 0xff], 0x3ff),
        (&[0x9e, 0xdf, 0x01, 0x01], 0x401),
    ];
    for (bytes, address) in stores {
        let mut bench = Bench::new(bytes, &[("h", 1), ("x", 0x87)]);
        bench.step();
        assert_eq!(bench.byte(address), 0x87, "{bytes:02x?}");
    }
    // INC: DIR, IX1, IX, SP1.
    let changes: [(&[u8], u32); 4] =
        [(&[0x3c, 0x60], 0x60), (&[0x6c, 0x80], 0x1a0), (&[0x7c], 0x120), (&[0x9e, 0x6c, 0x02], 0x302)];
    for (bytes, address) in changes {
        let mut bench = Bench::new(bytes, &[("h", 1), ("x", 0x20)]);
        bench.poke(address, &[0x7f]);
        assert_eq!(bench.after(["ccr"]), [V | N], "{bytes:02x?}");
        assert_eq!(bench.byte(address), 0x80, "{bytes:02x?}");
    }
}

#[test]
fn sixteen_bits_are_stored_high_byte_first() {
    let mut bench = Bench::new(&[0x45, 0x81, 0x23], &[]);
    assert_eq!(bench.after(["h", "x", "ccr"]), [0x81, 0x23, N]);
    // The second byte of a word at the end of page zero lies behind it.
    let mut bench = Bench::new(&[0x55, 0xff], &[]);
    bench.poke(0xff, &[0x12, 0x34]);
    assert_eq!(bench.after(["h", "x", "ccr"]), [0x12, 0x34, 0]);
    let mut bench = Bench::new(&[0x35, 0x60], &[("ccr", V)]);
    assert_eq!(bench.after(["ccr"]), [Z]);
    let mut bench = Bench::new(&[0x35, 0x60], &[("h", 0x12), ("x", 0x34)]);
    bench.step();
    assert_eq!((bench.byte(0x60), bench.byte(0x61)), (0x12, 0x34));
    // CPHX
    let cphx = |hx: u32, value: [u8; 2]| {
        Bench::new(&[0x65, value[0], value[1]], &[("h", hx >> 8), ("x", hx & 0xff)]).after(["ccr"])[0]
    };
    assert_eq!(cphx(0x8000, [0x00, 0x01]), V);
    assert_eq!(cphx(0x1234, [0x12, 0x34]), Z);
    assert_eq!(cphx(0x1234, [0x12, 0x35]), N | C);
    let mut bench = Bench::new(&[0x75, 0x60], &[("h", 0x10), ("x", 0x00)]);
    bench.poke(0x60, &[0x0f, 0xff]);
    assert_eq!(bench.after(["ccr"]), [0]);
    // AIX, AIS: signed, no flags.
    let mut bench = Bench::new(&[0xaf, 0xff], &[("h", 1), ("x", 0), ("ccr", C)]);
    assert_eq!(bench.after(["h", "x", "ccr"]), [0x00, 0xff, C]);
    assert_eq!(Bench::new(&[0xa7, 0x80], &[]).after(["sp", "ccr"]), [0x0280, 0]);
    // TSX, TXS: SP points to the next free byte.
    assert_eq!(Bench::new(&[0x95], &[]).after(["h", "x"]), [0x03, 0x01]);
    assert_eq!(Bench::new(&[0x94], &[("h", 1), ("x", 0)]).after(["sp"]), [0x00ff]);
    // RSP sets the low byte alone (CPU08RM, RSP: for compatibility with the M68HC05).
    assert_eq!(Bench::new(&[0x9c], &[]).after(["sp"]), [0x03ff]);
}

#[test]
fn moves_copy_and_count() {
    let mut bench = Bench::new(&[0x4e, 0x60, 0x61], &[("ccr", V | C)]);
    bench.poke(0x60, &[0x80]);
    assert_eq!(bench.after(["ccr"]), [N | C]);
    assert_eq!(bench.byte(0x61), 0x80);
    let mut bench = Bench::new(&[0x6e, 0x00, 0x61], &[]);
    assert_eq!(bench.after(["ccr"]), [Z]);
    let mut bench = Bench::new(&[0x5e, 0x60], &[("h", 1), ("x", 0xff)]);
    bench.poke(0x60, &[0x11]);
    assert_eq!(bench.after(["h", "x", "ccr"]), [2, 0, 0]);
    assert_eq!(bench.byte(0x1ff), 0x11);
    let mut bench = Bench::new(&[0x7e, 0x60], &[("h", 1), ("x", 0xff)]);
    bench.poke(0x1ff, &[0x22]);
    assert_eq!(bench.after(["h", "x"]), [2, 0]);
    assert_eq!(bench.byte(0x60), 0x22);
}

#[test]
fn multiplication_and_division() {
    let mut bench = Bench::new(&[0x42], &[("a", 0xff), ("x", 0xff), ("h", 0x77), ("ccr", V | H | N | Z | C)]);
    assert_eq!(bench.after(["h", "x", "a", "ccr"]), [0x77, 0xfe, 0x01, V | N | Z]);
    let mut bench = Bench::new(&[0x52], &[("h", 0x12), ("a", 0x34), ("x", 0x56), ("ccr", V | N | Z | C)]);
    assert_eq!(bench.after(["a", "h", "x", "ccr"]), [0x1234 / 0x56, 0x1234 % 0x56, 0x56, V | N]);
    let mut bench = Bench::new(&[0x52], &[("h", 0), ("a", 5), ("x", 6)]);
    assert_eq!(bench.after(["a", "h", "ccr"]), [0, 5, Z]);
    // The result is indeterminate.
    for (h, x) in [(0, 0), (0x56, 0x56)] {
        let mut bench = Bench::new(&[0x52], &[("h", h), ("x", x)]);
        assert!(matches!(bench.try_step(), Err(Fault::Architecture { pc: PC, .. })));
        assert_eq!(bench.get("pc"), PC);
    }
}

#[test]
fn decimal_addition_of_all_pairs_of_digits() {
    for (left, right, carry) in (0..100).flat_map(|l| (0..100).flat_map(move |r| [(l, r, 0), (l, r, C)])) {
        let digits = |value: u32| value / 10 << 4 | value % 10;
        // ADC #right; DAA
        let registers = [("a", digits(left)), ("ccr", carry)];
        let mut bench = Bench::new(&[0xa9, digits(right) as u8, 0x72], &registers);
        bench.step();
        let sum = left + right + carry;
        let flags = |ccr: u32| ccr & (N | Z | C);
        let [a, ccr] = bench.after(["a", "ccr"]);
        assert_eq!(a, digits(sum % 100), "{left} + {right} + {carry}");
        let expected = if a & 0x80 != 0 { N } else { 0 } | if a == 0 { Z } else { 0 } | u32::from(sum > 99);
        assert_eq!(flags(ccr), expected, "{left} + {right} + {carry}");
    }
    let mut bench = Bench::new(&[0x72], &[("a", 0x0f), ("ccr", H)]);
    assert!(matches!(bench.try_step(), Err(Fault::Architecture { .. })));
}

#[test]
fn transfers_and_the_condition_codes() {
    assert_eq!(on_a(&[0x62], 0xa5, C), [0x5a, C]);
    assert_eq!(Bench::new(&[0x97], &[("a", 7), ("h", 1)]).after(["x", "h"]), [7, 1]);
    assert_eq!(Bench::new(&[0x9f], &[("x", 7)]).after(["a"]), [7]);
    let mut bench = Bench::new(&[0x84], &[("a", 0x00)]);
    bench.step();
    assert_eq!(bench.get("ccr"), ONES);
    assert_eq!(Bench::new(&[0x85], &[("ccr", V | C)]).after(["a"]), [V | ONES | C]);
    let flags: [(u8, u32, u32); 4] = [(0x98, C, 0), (0x99, 0, C), (0x9a, I, 0), (0x9b, 0, I)];
    for (opcode, before, after) in flags {
        assert_eq!(Bench::new(&[opcode], &[("ccr", before)]).after(["ccr"]), [after]);
    }
}

#[test]
fn the_stack() {
    let mut bench = Bench::new(&[0x87, 0x89, 0x8b], &[("a", 1), ("x", 2), ("h", 3)]);
    for _ in 0..3 {
        bench.step();
    }
    assert_eq!((bench.byte(0x300), bench.byte(0x2ff), bench.byte(0x2fe)), (1, 2, 3));
    assert_eq!(bench.get("sp"), 0x2fd);
    let mut bench = Bench::new(&[0x86, 0x88, 0x8a], &[]);
    bench.poke(0x301, &[0x80, 5, 6]);
    for _ in 0..3 {
        bench.step();
    }
    assert_eq!(["a", "x", "h", "sp", "ccr"].map(|name| bench.get(name)), [0x80, 5, 6, 0x303, ONES]);
}

/// A branch's opcode, and with which flags it is taken.
type Branch = (u8, fn(u32) -> bool);

#[test]
fn branches_look_at_their_flags() {
    let branches: [Branch; 20] = [
        (0x21, |_| false),
        (0x22, |f| f & (C | Z) == 0),
        (0x23, |f| f & (C | Z) != 0),
        (0x24, |f| f & C == 0),
        (0x25, |f| f & C != 0),
        (0x26, |f| f & Z == 0),
        (0x27, |f| f & Z != 0),
        (0x28, |f| f & H == 0),
        (0x29, |f| f & H != 0),
        (0x2a, |f| f & N == 0),
        (0x2b, |f| f & N != 0),
        (0x2c, |f| f & I == 0),
        (0x2d, |f| f & I != 0),
        (0x2e, |_| false),
        (0x90, |f| (f & N != 0) == (f & V != 0)),
        (0x91, |f| (f & N != 0) != (f & V != 0)),
        (0x92, |f| f & Z == 0 && (f & N != 0) == (f & V != 0)),
        (0x93, |f| f & Z != 0 || (f & N != 0) != (f & V != 0)),
        (0x20, |_| true),
        (0x2f, |_| true),
    ];
    for (opcode, taken) in branches {
        for flags in (0..0x100).filter(|flags| flags & ONES == 0) {
            let mut bench = Bench::new(&[opcode, 0x80], &[("ccr", flags)]);
            let to = if taken(flags) { PC + 2 - 0x80 } else { PC + 2 };
            assert_eq!(bench.after(["pc", "ccr"]), [to, flags], "{opcode:02x}, {flags:02x}");
        }
    }
}

#[test]
fn bits_are_tested_and_changed() {
    for bit in 0..8 {
        for (set, value) in [(true, 1 << bit), (false, !(1 << bit))] {
            let mut bench = Bench::new(&[2 * bit, 0x60, 0x10], &[("ccr", 0)]);
            bench.poke(0x60, &[value]);
            let expected = if set { [PC + 0x13, C] } else { [PC + 3, 0] };
            assert_eq!(bench.after(["pc", "ccr"]), expected);
            let mut bench = Bench::new(&[2 * bit + 1, 0x60, 0x10], &[("ccr", C)]);
            bench.poke(0x60, &[value]);
            let expected = if set { [PC + 3, C] } else { [PC + 0x13, 0] };
            assert_eq!(bench.after(["pc", "ccr"]), expected);
            let mut bench = Bench::new(&[0x10 + 2 * bit + u8::from(set), 0x60], &[]);
            bench.poke(0x60, &[value]);
            bench.step();
            assert_eq!(bench.byte(0x60), if set { 0 } else { 0xff });
        }
    }
}

#[test]
fn compare_and_branch_and_decrement_and_branch() {
    // CBEQ dd, CBEQA, CBEQX, CBEQ ff,X+, CBEQ X+, CBEQ ff,SP: branch where equal; no flags.
    let cases: [(&[u8], u32); 6] = [
        (&[0x31, 0x60, 0x10], 0x60),
        (&[0x41, 0x42, 0x10], 0),
        (&[0x51, 0x42, 0x10], 0),
        (&[0x61, 0x05, 0x10], 0x147),
        (&[0x71, 0x10], 0x142),
        (&[0x9e, 0x61, 0x05, 0x10], 0x305),
    ];
    for (bytes, address) in cases {
        for equal in [true, false] {
            let other = if equal { 0x42 } else { 0x41 };
            let mut bytes = bytes.to_vec();
            let mut registers = vec![("a", 0x42), ("h", 1), ("x", 0x42), ("ccr", C)];
            if address == 0 {
                bytes[1] = other;
            }
            if bytes[0] == 0x51 {
                registers[0] = ("a", 0);
            }
            let mut bench = Bench::new(&bytes, &registers);
            if address != 0 {
                bench.poke(address, &[other]);
            }
            let next = PC + bytes.len() as u32;
            let x = if matches!(bytes[0], 0x61 | 0x71) { 0x43 } else { 0x42 };
            let to = if equal { next + 0x10 } else { next };
            assert_eq!(bench.after(["pc", "x", "ccr"]), [to, x, C], "{bytes:02x?}, {equal}");
        }
    }
    let cases: [(&[u8], u32); 4] = [
        (&[0x3b, 0x60, 0xf0], 0x60),
        (&[0x6b, 0x05, 0xf0], 0x147),
        (&[0x7b, 0xf0], 0x142),
        (&[0x9e, 0x6b, 0x05, 0xf0], 0x305),
    ];
    for (bytes, address) in cases {
        for (before, taken) in [(1, false), (2, true), (0, true)] {
            let mut bench = Bench::new(bytes, &[("h", 1), ("x", 0x42), ("ccr", Z)]);
            bench.poke(address, &[before]);
            let next = PC + bytes.len() as u32;
            assert_eq!(bench.after(["pc", "ccr"]), [if taken { next - 0x10 } else { next }, Z]);
            assert_eq!(bench.byte(address), before.wrapping_sub(1));
        }
    }
    assert_eq!(Bench::new(&[0x4b, 0x10], &[("a", 1)]).after(["a", "pc"]), [0, PC + 2]);
    // X alone: H does not change.
    assert_eq!(
        Bench::new(&[0x5b, 0x10], &[("h", 1), ("x", 0)]).after(["h", "x", "pc"]),
        [1, 0xff, PC + 0x12]
    );
}

#[test]
fn reset_and_the_watchdog() {
    let part = Part::from_toml(TARGET).expect("target file");
    let machine = || new_machine(&part, 8_000_000).expect("machine");
    let program = |bytes: &[u8]| {
        let mut machine = machine();
        assert!(machine.poke(0x8000, bytes) && machine.poke(0xfffe, &[0x80, 0x00]));
        machine.reset();
        machine
    };
    // INC $70, BRA * or WAIT, with the COP on: the part is reset each 2^13 - 2^4 clocks of 88 kHz,
    // and RAM stays.
    for last in [&[0x20, 0xfe][..], &[0x8f]] {
        let mut bench = Bench(program(&[&[0x3c, 0x70], last].concat()));
        assert_eq!(["pc", "sp", "h", "ccr"].map(|name| bench.get(name)), [0x8000, 0xff, 0, ONES | I]);
        for (cycles, starts) in [(743_272, 1), (743_285, 2), (2 * 743_272, 2), (2 * 743_272 + 30, 3)] {
            assert_eq!(bench.0.run(&Until { cycles: Some(cycles), ..Until::default() }), Ok(Stop::Cycles));
            let mut counted = [0];
            assert!(bench.0.peek(0x70, &mut counted));
            assert_eq!(counted[0], starts, "{last:02x?} at {cycles}");
        }
    }
    // With COPD set it never ends, which is the end.
    let mut bench = Bench(program(&[0x6e, 0x01, 0x1f, 0x20, 0xfe]));
    assert_eq!(bench.0.run(&Until::default()), Ok(Stop::Halted));
    assert_eq!((bench.get("pc"), bench.0.cycles()), (0x8003, 4));
    // CONFIG1 is written once: the second write changes nothing. LDA reads it.
    let mut bench = Bench(program(&[0x6e, 0x73, 0x1f, 0x6e, 0x01, 0x1f, 0xb6, 0x1f, 0x20, 0xfe]));
    assert_eq!(bench.0.run(&Until::default()), Ok(Stop::Halted));
    assert_eq!(bench.get("a"), 0x73);
    // A COP that stays on is not modelled.
    let mut bench = Bench(program(&[0x6e, 0x70, 0x1f]));
    assert!(matches!(bench.0.run(&Until::default()), Err(Fault::Peripheral { address: 0x1f, .. })));
    // WAIT with the COP off sleeps for ever. STOP must be enabled.
    let mut bench = Bench(program(&[0x6e, 0x01, 0x1f, 0x8f]));
    assert_eq!(bench.0.run(&Until::default()), Ok(Stop::Halted));
    assert_eq!((bench.get("pc"), bench.get("ccr") & I), (0x8004, 0));
    let mut bench = Bench(program(&[0x6e, 0x03, 0x1f, 0x8e]));
    assert_eq!(bench.0.run(&Until::default()), Ok(Stop::Halted));
    let mut bench = Bench(program(&[0x6e, 0x01, 0x1f, 0x8e]));
    assert!(matches!(bench.0.run(&Until::default()), Err(Fault::Architecture { pc: 0x8003, .. })));
}

#[test]
fn absent_registers_memory_and_opcodes_are_faults() {
    // A register without a model, a write to flash, the watchdog's service, an address that is
    // nothing, an opcode.
    let unmapped = |bytes: &[u8], at: u32| {
        let mut bench = Bench::new(bytes, &[]);
        let fault = bench.try_step();
        assert!(matches!(fault, Err(Fault::Unmapped { address, pc: PC, .. }) if address == at), "{fault:?}");
        assert_eq!(bench.get("pc"), PC);
    };
    unmapped(&[0xb6, 0x10], 0x10);
    unmapped(&[0x3f, 0x10], 0x10);
    unmapped(&[0xc6, 0xfe, 0x00], 0xfe00);
    for bytes in [[0xc7, 0x80, 0x00], [0xc7, 0xff, 0xff]] {
        assert!(matches!(Bench::new(&bytes, &[]).try_step(), Err(Fault::Architecture { .. })));
    }
    for bytes in
        [&[0x32][..], &[0x82], &[0x8d], &[0x96], &[0xac], &[0x9e, 0x40], &[0x9e, 0xae], &[0x9e, 0xfe]]
    {
        let fault = Bench::new(bytes, &[]).try_step();
        assert_eq!(fault, Err(Fault::Opcode { pc: PC, bytes: bytes.to_vec() }));
    }
    let mut bench = Bench::new(&[0x20, 0x00], &[("pc", 0x5f)]);
    assert!(matches!(bench.try_step(), Err(Fault::Unmapped { kind: "fetch", .. })));
}

#[test]
fn target_files_that_cannot_be_are_refused() {
    let changed = |from: &str, to: &str| {
        assert!(TARGET.contains(from), "{from}");
        let part = Part::from_toml(&TARGET.replace(from, to)).map_err(|error| error.to_string())?;
        new_machine(&part, 8_000_000).map(|_| ())
    };
    assert_eq!(changed("0x0004", "0x0004"), Ok(()));
    for (from, to) in [
        // Two peripherals at one address; no address at all; none of the family.
        ("base = 0x0001", "base = 0x0000"),
        ("base = 0x0001", "base = 0xffffffff"),
        ("direction = 0x0005", "direction = -1"),
        ("direction = 0x0005", "direction = 0x10005"),
        ("start = 0xffd0", "start = 0xffd1"),
        ("base = 0x0001", "base = 0x0001\nbases = 1"),
        ("default_clock_hz", "clocks_per_cycle = 0\ndefault_clock_hz"),
    ] {
        assert!(changed(from, to).is_err(), "{to}");
    }
}

#[test]
fn ports_are_latches() {
    // MOV #0x0f,DDRA; MOV #0x55,PTA; LDA PTA: outputs read the latch, inputs are low.
    let mut bench = Bench::new(&[0x6e, 0x0f, 0x04, 0x6e, 0x55, 0x00, 0xb6, 0x00], &[]);
    for _ in 0..3 {
        bench.step();
    }
    assert_eq!(bench.get("a"), 0x05);
}

#[test]
fn snapshots_and_changed_code() {
    // INCA in RAM, changed to DECA by the program itself.
    let mut bench = Bench::new(&[], &[("pc", 0x100), ("a", 5)]);
    bench.poke(0x100, &[0x4c, 0x20, 0xfd]);
    bench.step();
    bench.step();
    let mut other = Bench(bench.0.snapshot());
    other.poke(0x100, &[0x4a]);
    assert_eq!(other.after(["a"]), [5]);
    assert_eq!(bench.after(["a"]), [7]);
    // LDA #$4A; STA $0104; (0x104) INCA
    let mut bench = Bench::new(&[], &[("pc", 0x104), ("a", 5)]);
    bench.poke(0x104, &[0x4c]);
    bench.poke(0x100, &[0xa6, 0x4a, 0xb7, 0x60]);
    bench.step();
    bench.poke(0x100, &[0xa6, 0x4a, 0xc7, 0x01, 0x05, 0x4c]);
    bench.set("pc", 0x100);
    assert_eq!(bench.after(["a"]), [0x4a]);
    bench.step();
    assert_eq!(bench.after(["a"]), [0x49]);
}
