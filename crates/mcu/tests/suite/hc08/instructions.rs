//! The CPU08 by the manual: examples of each group of instructions, and the cycles and bytes of
//! every row of the instruction set summary (CPU08RM, "Instruction Set Summary"; the same table in
//! the data sheets' chapter "Central Processor Unit"). The model itself counts by the opcode map,
//! another table of the same manual.

use mcu::{Access, AccessKind, Fault, Flow, Mcu, Observer, Part, Step, Stop, Until, new_machine};

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

#[derive(Default)]
struct Log {
    steps: Vec<Step>,
    accesses: Vec<(u32, u8, AccessKind, u64)>,
}

impl Observer for Log {
    fn step(&mut self, step: &Step) {
        self.steps.push(*step);
    }
    fn access(&mut self, access: &Access) {
        self.accesses.push((access.address, access.size, access.kind, access.value));
    }
}

fn observed(bench: &mut Bench, instructions: usize) -> Log {
    let mut log = Log::default();
    while log.steps.len() < instructions {
        let until = Until { cycles: Some(bench.0.cycles() + 1), addresses: Vec::new() };
        let mut one = Log::default();
        assert_eq!(bench.0.run_observed(&until, &mut one), Ok(Stop::Cycles));
        log.steps.append(&mut one.steps);
        log.accesses.append(&mut one.accesses);
    }
    log
}

#[test]
fn calls_and_returns_are_told() {
    // BSR +2; NOP; BRA *-1; JSR ,X at the target; RTS behind it.
    let mut bench = Bench::new(&[0xad, 0x02, 0x9d, 0x9d, 0xfd, 0x81], &[("h", 0x80), ("x", 0x20)]);
    bench.poke(0x8020, &[0x81]);
    let until = Until { cycles: None, addresses: vec![PC + 3] };
    let mut log = Log::default();
    assert_eq!(bench.0.run_observed(&until, &mut log), Ok(Stop::Address(PC + 3)));
    let flows: Vec<(u32, Flow)> = log.steps.iter().map(|step| (step.pc, step.flow)).collect();
    assert_eq!(
        flows,
        [
            (PC, Flow::Start),
            (PC + 4, Flow::Call { return_to: PC + 2 }),
            (0x8020, Flow::Call { return_to: PC + 5 }),
            (PC + 5, Flow::Return),
            (PC + 2, Flow::Return),
        ]
    );
    assert_eq!(log.steps[1].sp, 0x2fe);
    assert_eq!(
        log.accesses,
        [
            (0x2ff, 2, AccessKind::Write, 0x8002),
            (0x2fd, 2, AccessKind::Write, 0x8005),
            (0x2fd, 2, AccessKind::Read, 0x8005),
            (0x2ff, 2, AccessKind::Read, 0x8002),
        ]
    );
    // Low byte pushed first: high byte first in memory.
    assert_eq!((bench.byte(0x2ff), bench.byte(0x300)), (0x80, 0x02));
}

#[test]
fn a_software_interrupt_stacks_all_but_h() {
    let registers = [("a", 0x11), ("x", 0x22), ("h", 0x33), ("ccr", V | C)];
    let mut bench = Bench::new(&[0x83], &registers);
    bench.poke(0xfffc, &[0x90, 0x00]);
    bench.poke(0x9000, &[0x80]);
    let before = bench.0.cycles();
    let log = observed(&mut bench, 1);
    assert_eq!(log.steps[0].flow, Flow::Start);
    assert_eq!(["pc", "sp", "ccr"].map(|name| bench.get(name)), [0x9000, 0x2fb, ONES | V | I | C]);
    let stacked: Vec<u8> = (0x2fc..0x301).map(|address| bench.byte(address)).collect();
    assert_eq!(stacked, [0xe1, 0x11, 0x22, 0x80, 0x01]);
    for (name, value) in [("a", 0), ("x", 0), ("h", 0x44)] {
        bench.set(name, value);
    }
    assert_eq!(bench.after(["pc", "sp", "a", "x", "h"]), [0x8001, 0x300, 0x11, 0x22, 0x44]);
    assert_eq!(bench.get("ccr"), ONES | V | C);
    assert_eq!(bench.0.cycles() - before, 9 + 7);
    // Both ways are told, within one run.
    let mut bench = Bench::new(&[0x83, 0x9d], &registers);
    bench.poke(0xfffc, &[0x90, 0x00]);
    bench.poke(0x9000, &[0x80]);
    let mut log = Log::default();
    let until = Until { cycles: None, addresses: vec![PC + 2] };
    assert_eq!(bench.0.run_observed(&until, &mut log), Ok(Stop::Address(PC + 2)));
    let flows: Vec<Flow> = log.steps.iter().map(|step| step.flow).collect();
    assert_eq!(flows, [Flow::Start, Flow::Interrupt { return_to: PC + 1 }, Flow::InterruptReturn]);
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

/// A row of the summary: mnemonic, and of each of its forms the opcode, the bytes and the cycles.
type SummaryRow = (&'static str, &'static [(u16, u8, u8)]);

#[rustfmt::skip]
const SUMMARY: &[SummaryRow] = &[
    ("ADC", &[(0xa9, 2, 2), (0xb9, 2, 3), (0xc9, 3, 4), (0xd9, 3, 4), (0xe9, 2, 3), (0xf9, 1, 2), (0x9ee9, 3, 4), (0x9ed9, 4, 5)]),
    ("ADD", &[(0xab, 2, 2), (0xbb, 2, 3), (0xcb, 3, 4), (0xdb, 3, 4), (0xeb, 2, 3), (0xfb, 1, 2), (0x9eeb, 3, 4), (0x9edb, 4, 5)]),
    ("AIS", &[(0xa7, 2, 2)]),
    ("AIX", &[(0xaf, 2, 2)]),
    ("AND", &[(0xa4, 2, 2), (0xb4, 2, 3), (0xc4, 3, 4), (0xd4, 3, 4), (0xe4, 2, 3), (0xf4, 1, 2), (0x9ee4, 3, 4), (0x9ed4, 4, 5)]),
    ("ASL, LSL", &[(0x38, 2, 4), (0x48, 1, 1), (0x58, 1, 1), (0x68, 2, 4), (0x78, 1, 3), (0x9e68, 3, 5)]),
    ("ASR", &[(0x37, 2, 4), (0x47, 1, 1), (0x57, 1, 1), (0x67, 2, 4), (0x77, 1, 3), (0x9e67, 3, 5)]),
    ("BCC, BHS", &[(0x24, 2, 3)]),
    ("BCLR", &[(0x11, 2, 4), (0x13, 2, 4), (0x15, 2, 4), (0x17, 2, 4), (0x19, 2, 4), (0x1b, 2, 4), (0x1d, 2, 4), (0x1f, 2, 4)]),
    ("BCS, BLO", &[(0x25, 2, 3)]),
    ("BEQ", &[(0x27, 2, 3)]),
    ("BGE", &[(0x90, 2, 3)]),
    ("BGT", &[(0x92, 2, 3)]),
    ("BHCC", &[(0x28, 2, 3)]),
    ("BHCS", &[(0x29, 2, 3)]),
    ("BHI", &[(0x22, 2, 3)]),
    ("BIH", &[(0x2f, 2, 3)]),
    ("BIL", &[(0x2e, 2, 3)]),
    ("BIT", &[(0xa5, 2, 2), (0xb5, 2, 3), (0xc5, 3, 4), (0xd5, 3, 4), (0xe5, 2, 3), (0xf5, 1, 2), (0x9ee5, 3, 4), (0x9ed5, 4, 5)]),
    ("BLE", &[(0x93, 2, 3)]),
    ("BLS", &[(0x23, 2, 3)]),
    ("BLT", &[(0x91, 2, 3)]),
    ("BMC", &[(0x2c, 2, 3)]),
    ("BMI", &[(0x2b, 2, 3)]),
    ("BMS", &[(0x2d, 2, 3)]),
    ("BNE", &[(0x26, 2, 3)]),
    ("BPL", &[(0x2a, 2, 3)]),
    ("BRA", &[(0x20, 2, 3)]),
    ("BRCLR", &[(0x01, 3, 5), (0x03, 3, 5), (0x05, 3, 5), (0x07, 3, 5), (0x09, 3, 5), (0x0b, 3, 5), (0x0d, 3, 5), (0x0f, 3, 5)]),
    ("BRN", &[(0x21, 2, 3)]),
    ("BRSET", &[(0x00, 3, 5), (0x02, 3, 5), (0x04, 3, 5), (0x06, 3, 5), (0x08, 3, 5), (0x0a, 3, 5), (0x0c, 3, 5), (0x0e, 3, 5)]),
    ("BSET", &[(0x10, 2, 4), (0x12, 2, 4), (0x14, 2, 4), (0x16, 2, 4), (0x18, 2, 4), (0x1a, 2, 4), (0x1c, 2, 4), (0x1e, 2, 4)]),
    ("BSR", &[(0xad, 2, 4)]),
    ("CBEQ", &[(0x31, 3, 5), (0x41, 3, 4), (0x51, 3, 4), (0x61, 3, 5), (0x71, 2, 4), (0x9e61, 4, 6)]),
    ("CLC", &[(0x98, 1, 1)]),
    ("CLI", &[(0x9a, 1, 2)]),
    ("CLR", &[(0x3f, 2, 3), (0x4f, 1, 1), (0x5f, 1, 1), (0x8c, 1, 1), (0x6f, 2, 3), (0x7f, 1, 2), (0x9e6f, 3, 4)]),
    ("CMP", &[(0xa1, 2, 2), (0xb1, 2, 3), (0xc1, 3, 4), (0xd1, 3, 4), (0xe1, 2, 3), (0xf1, 1, 2), (0x9ee1, 3, 4), (0x9ed1, 4, 5)]),
    ("COM", &[(0x33, 2, 4), (0x43, 1, 1), (0x53, 1, 1), (0x63, 2, 4), (0x73, 1, 3), (0x9e63, 3, 5)]),
    ("CPHX", &[(0x65, 3, 3), (0x75, 2, 4)]),
    ("CPX", &[(0xa3, 2, 2), (0xb3, 2, 3), (0xc3, 3, 4), (0xd3, 3, 4), (0xe3, 2, 3), (0xf3, 1, 2), (0x9ee3, 3, 4), (0x9ed3, 4, 5)]),
    ("DAA", &[(0x72, 1, 2)]),
    ("DBNZ", &[(0x3b, 3, 5), (0x4b, 2, 3), (0x5b, 2, 3), (0x6b, 3, 5), (0x7b, 2, 4), (0x9e6b, 4, 6)]),
    ("DEC", &[(0x3a, 2, 4), (0x4a, 1, 1), (0x5a, 1, 1), (0x6a, 2, 4), (0x7a, 1, 3), (0x9e6a, 3, 5)]),
    ("DIV", &[(0x52, 1, 7)]),
    ("EOR", &[(0xa8, 2, 2), (0xb8, 2, 3), (0xc8, 3, 4), (0xd8, 3, 4), (0xe8, 2, 3), (0xf8, 1, 2), (0x9ee8, 3, 4), (0x9ed8, 4, 5)]),
    ("INC", &[(0x3c, 2, 4), (0x4c, 1, 1), (0x5c, 1, 1), (0x6c, 2, 4), (0x7c, 1, 3), (0x9e6c, 3, 5)]),
    ("JMP", &[(0xbc, 2, 2), (0xcc, 3, 3), (0xdc, 3, 4), (0xec, 2, 3), (0xfc, 1, 2)]),
    ("JSR", &[(0xbd, 2, 4), (0xcd, 3, 5), (0xdd, 3, 6), (0xed, 2, 5), (0xfd, 1, 4)]),
    ("LDA", &[(0xa6, 2, 2), (0xb6, 2, 3), (0xc6, 3, 4), (0xd6, 3, 4), (0xe6, 2, 3), (0xf6, 1, 2), (0x9ee6, 3, 4), (0x9ed6, 4, 5)]),
    ("LDHX", &[(0x45, 3, 3), (0x55, 2, 4)]),
    ("LDX", &[(0xae, 2, 2), (0xbe, 2, 3), (0xce, 3, 4), (0xde, 3, 4), (0xee, 2, 3), (0xfe, 1, 2), (0x9eee, 3, 4), (0x9ede, 4, 5)]),
    ("LSR", &[(0x34, 2, 4), (0x44, 1, 1), (0x54, 1, 1), (0x64, 2, 4), (0x74, 1, 3), (0x9e64, 3, 5)]),
    ("MOV", &[(0x4e, 3, 5), (0x5e, 2, 4), (0x6e, 3, 4), (0x7e, 2, 4)]),
    ("MUL", &[(0x42, 1, 5)]),
    ("NEG", &[(0x30, 2, 4), (0x40, 1, 1), (0x50, 1, 1), (0x60, 2, 4), (0x70, 1, 3), (0x9e60, 3, 5)]),
    ("NOP", &[(0x9d, 1, 1)]),
    ("NSA", &[(0x62, 1, 3)]),
    ("ORA", &[(0xaa, 2, 2), (0xba, 2, 3), (0xca, 3, 4), (0xda, 3, 4), (0xea, 2, 3), (0xfa, 1, 2), (0x9eea, 3, 4), (0x9eda, 4, 5)]),
    ("PSHA", &[(0x87, 1, 2)]),
    ("PSHH", &[(0x8b, 1, 2)]),
    ("PSHX", &[(0x89, 1, 2)]),
    ("PULA", &[(0x86, 1, 2)]),
    ("PULH", &[(0x8a, 1, 2)]),
    ("PULX", &[(0x88, 1, 2)]),
    ("ROL", &[(0x39, 2, 4), (0x49, 1, 1), (0x59, 1, 1), (0x69, 2, 4), (0x79, 1, 3), (0x9e69, 3, 5)]),
    ("ROR", &[(0x36, 2, 4), (0x46, 1, 1), (0x56, 1, 1), (0x66, 2, 4), (0x76, 1, 3), (0x9e66, 3, 5)]),
    ("RSP", &[(0x9c, 1, 1)]),
    ("RTI", &[(0x80, 1, 7)]),
    ("RTS", &[(0x81, 1, 4)]),
    ("SBC", &[(0xa2, 2, 2), (0xb2, 2, 3), (0xc2, 3, 4), (0xd2, 3, 4), (0xe2, 2, 3), (0xf2, 1, 2), (0x9ee2, 3, 4), (0x9ed2, 4, 5)]),
    ("SEC", &[(0x99, 1, 1)]),
    ("SEI", &[(0x9b, 1, 2)]),
    ("STA", &[(0xb7, 2, 3), (0xc7, 3, 4), (0xd7, 3, 4), (0xe7, 2, 3), (0xf7, 1, 2), (0x9ee7, 3, 4), (0x9ed7, 4, 5)]),
    ("STHX", &[(0x35, 2, 4)]),
    ("STOP", &[(0x8e, 1, 1)]),
    ("STX", &[(0xbf, 2, 3), (0xcf, 3, 4), (0xdf, 3, 4), (0xef, 2, 3), (0xff, 1, 2), (0x9eef, 3, 4), (0x9edf, 4, 5)]),
    ("SUB", &[(0xa0, 2, 2), (0xb0, 2, 3), (0xc0, 3, 4), (0xd0, 3, 4), (0xe0, 2, 3), (0xf0, 1, 2), (0x9ee0, 3, 4), (0x9ed0, 4, 5)]),
    ("SWI", &[(0x83, 1, 9)]),
    ("TAP", &[(0x84, 1, 2)]),
    ("TAX", &[(0x97, 1, 1)]),
    ("TPA", &[(0x85, 1, 1)]),
    ("TST", &[(0x3d, 2, 3), (0x4d, 1, 1), (0x5d, 1, 1), (0x6d, 2, 3), (0x7d, 1, 2), (0x9e6d, 3, 4)]),
    ("TSX", &[(0x95, 1, 2)]),
    ("TXA", &[(0x9f, 1, 1)]),
    ("TXS", &[(0x94, 1, 2)]),
    ("WAIT", &[(0x8f, 1, 1)]),
];

#[test]
fn every_row_of_the_summary() {
    let mut seen = std::collections::BTreeSet::new();
    for (mnemonic, forms) in SUMMARY {
        for (opcode, length, cycles) in *forms {
            assert!(seen.insert(*opcode), "{mnemonic}: {opcode:04x} twice");
            let [prefix, opcode] = opcode.to_be_bytes();
            let mut bytes: Vec<u8> = if prefix == 0 { vec![opcode] } else { vec![prefix, opcode] };
            // Direct addresses, offsets and extended addresses in RAM.
            let wide = matches!(opcode >> 4, 0xc | 0xd);
            bytes.extend(if wide { [0x01, 0x20, 0x05] } else { [0x60, 0x61, 0x62] });
            // Taken and not: the time is the same.
            for flags in [0, V | H | I | N | Z | C] {
                let mut bench = Bench::new(&[], &[("h", 1), ("x", 0x20), ("ccr", flags)]);
                bench.poke(PC, &bytes);
                if *mnemonic == "STOP" {
                    // Enabled, which the bench's CONFIG1 is not.
                    let part = Part::from_toml(TARGET).expect("target file");
                    bench.0 = new_machine(&part, 8_000_000).expect("machine");
                    bench.poke(PC, &[0x6e, 0x03, 0x1f, 0x8e]);
                    bench.set("pc", PC);
                    bench.step();
                }
                let (before, pc) = (bench.0.cycles(), bench.0.pc());
                let stop = bench.try_step();
                assert_eq!(stop, Ok(Stop::Cycles), "{mnemonic} {bytes:02x?}");
                assert_eq!(bench.0.cycles() - before, u64::from(*cycles), "{mnemonic} {bytes:02x?}");
                let behind = bench.0.pc().wrapping_sub(pc + u32::from(*length));
                let distance = u32::from(bytes[usize::from(*length) - 1]);
                match *mnemonic {
                    "JMP" | "JSR" | "RTS" | "RTI" | "SWI" => {}
                    "BSR" | "BRA" | "BIH" => assert_eq!(behind, distance, "{bytes:02x?}"),
                    "BSET" | "BCLR" | "BIT" => assert_eq!(behind, 0, "{bytes:02x?}"),
                    "CBEQ" | "DBNZ" => assert!(behind == 0 || behind == distance, "{bytes:02x?}"),
                    branch if branch.starts_with('B') => {
                        assert!(behind == 0 || behind == distance, "{bytes:02x?}");
                    }
                    _ => assert_eq!(behind, 0, "{bytes:02x?}"),
                }
            }
        }
    }
    // The map has 290 instructions.
    assert_eq!(seen.len(), 290);
}
