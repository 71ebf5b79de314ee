//! MPY32 against arithmetic done in 128 bits, and its result latency against the manual's tables.

use mcu::peripherals::ti::mpy32::Mpy32;
use mcu::{Board, Context, Events, Fault, Peripheral, PeripheralSpec};
use testkit::random::{self, Random};

const BASE: u32 = 0x4c0;
const OP2: u32 = 0x08;
const RESLO: u32 = 0x0a;
const RESHI: u32 = 0x0c;
const SUMEXT: u32 = 0x0e;
const OP2L: u32 = 0x20;
const OP2H: u32 = 0x22;
const RES0: u32 = 0x24;
const CONTROL: u32 = 0x2c;
const SATURATE: u32 = 0x08;
const FRACTION: u32 = 0x04;
const CARRY: u32 = 0x01;

/// Random, with the edges of the number ranges more often than chance has them.
fn operand(random: &mut Random, bits: u32) -> u32 {
    let mask = u32::MAX >> (32 - bits);
    let edge = [0, 1, mask, mask >> 1, (mask >> 1) + 1, mask - 1];
    match random.word64() % 4 {
        0 => edge[(random.word64() % 6) as usize],
        _ => (random.word64() >> 16) as u32 & mask,
    }
}

struct Bench {
    device: Mpy32,
    now: u64,
    requests: u128,
    /// Cycles for which the core waits for the last write.
    stall: u64,
}

impl Bench {
    fn new() -> Bench {
        let spec = PeripheralSpec {
            name: "MPY32".into(),
            model: "mpy32".into(),
            base: BASE,
            irq: None,
            settings: Default::default(),
            pins: Default::default(),
            stub: false,
        };
        Bench { device: Mpy32::new(&spec), now: 100, requests: 0, stall: 0 }
    }

    fn try_write(&mut self, offset: u32, size: u8, value: u32) -> Result<(), Fault> {
        self.stall = 0;
        let mut context = Context {
            now: self.now,
            pc: 0x5c00,
            requests: &mut self.requests,
            board: &mut Board::default(),
            events: &mut Events::default(),
            observer: None,
            reads_latch: false,
            stall: &mut self.stall,
        };
        self.device.write(BASE + offset, size, value, &mut context)
    }

    fn try_read(&mut self, offset: u32) -> Result<u32, Fault> {
        let mut context = Context {
            now: self.now,
            pc: 0x5c00,
            requests: &mut self.requests,
            board: &mut Board::default(),
            events: &mut Events::default(),
            observer: None,
            reads_latch: false,
            stall: &mut 0,
        };
        self.device.read(BASE + offset, 2, &mut context)
    }

    fn write(&mut self, offset: u32, size: u8, value: u32) {
        self.try_write(offset, size, value).expect("write");
        self.now += 4;
    }

    /// The cycles for which a write of a word holds up the core, at the same time as the access
    /// before.
    fn waited(&mut self, offset: u32) -> u64 {
        self.try_write(offset, 2, 0).expect("write");
        self.stall
    }

    fn read(&mut self, offset: u32) -> u32 {
        self.try_read(offset).expect("read")
    }

    /// Writes an operand of 8, 16, 24 or 32 bits at the register pair (or the single 16-bit
    /// register) given.
    fn operand(&mut self, low: u32, high: Option<u32>, bits: u32, value: u32) {
        match bits {
            8 => self.write(low, 1, value),
            16 => self.write(low, 2, value),
            24 => {
                self.write(low, 2, value & 0xffff);
                self.write(high.expect("a pair"), 1, value >> 16);
            }
            _ => {
                self.write(low, 2, value & 0xffff);
                self.write(high.expect("a pair"), 2, value >> 16);
            }
        }
    }

    /// First operand in operation 0 MPY, 1 MPYS, 2 MAC, 3 MACS.
    fn first(&mut self, operation: u32, bits: u32, value: u32) {
        if bits > 16 {
            self.operand(0x10 + 4 * operation, Some(0x12 + 4 * operation), bits, value);
        } else {
            self.operand(2 * operation, None, bits, value);
        }
    }

    fn second(&mut self, bits: u32, value: u32) {
        if bits > 16 {
            self.operand(OP2L, Some(OP2H), bits, value);
        } else {
            self.operand(OP2, None, bits, value);
        }
        self.now += 20;
    }

    fn result(&mut self, words: u32) -> u64 {
        (0..words).map(|word| u64::from(self.read(RES0 + 2 * word)) << (16 * word)).sum()
    }

    fn preload(&mut self, value: u64) {
        for word in 0..4 {
            self.write(RES0 + 2 * word, 2, (value >> (16 * word)) as u32 & 0xffff);
        }
    }
}

fn extended(value: u32, bits: u32, signed: bool) -> i128 {
    let value = i128::from(value);
    if signed && value >> (bits - 1) == 1 { value - (1 << bits) } else { value }
}

#[test]
fn every_width_and_operation_multiplies_as_integers_do() {
    let mut random = Random::new(random::seed());
    let mut bench = Bench::new();
    for round in 0..40_000u32 {
        let operation = round % 4;
        let (signed, accumulate) = (operation & 1 != 0, operation & 2 != 0);
        let bits1 = [8, 16, 24, 32][(random.word64() % 4) as usize];
        let bits2 = [8, 16, 24, 32][(random.word64() % 4) as usize];
        let width = if bits1 > 16 || bits2 > 16 { 64 } else { 32 };
        let (a, b) = (operand(&mut random, bits1), operand(&mut random, bits2));
        let before = u64::from(operand(&mut random, 32)) << 32 | u64::from(operand(&mut random, 32));
        bench.preload(before);
        bench.first(operation, bits1, a);
        bench.second(bits2, b);

        let mask = (1i128 << width) - 1;
        let mut exact = extended(a, bits1, signed) * extended(b, bits2, signed);
        if accumulate {
            let accumulator = i128::from(before) & mask;
            let negative = signed && accumulator >> (width - 1) == 1;
            exact += accumulator - if negative { 1 << width } else { 0 };
        }
        let what = format!("operation {operation}, {bits1} x {bits2}: {a:#x} x {b:#x} + {before:#x}");
        assert_eq!(i128::from(bench.result(width / 16)), exact & mask, "{what}");
        assert_eq!(bench.read(RESLO), exact as u32 & 0xffff, "{what}");
        assert_eq!(bench.read(RESHI), (exact >> 16) as u32 & 0xffff, "{what}");
        let top = exact >> (width - 1) & 1;
        let beyond = exact >> width & 1;
        let (extension, carry) = match (signed, accumulate) {
            (false, false) => (0, 0),
            (true, _) => (top * 0xffff, beyond),
            (false, true) => (beyond, beyond),
        };
        assert_eq!(i128::from(bench.read(SUMEXT)), extension, "SUMEXT, {what}");
        assert_eq!(i128::from(bench.read(CONTROL) & CARRY), carry, "MPYC, {what}");
        // The upper words of a 16x16-bit result: its extension, undefined after an accumulation.
        if width == 32 && accumulate {
            assert!(bench.try_read(RES0 + 4).is_err() && bench.try_read(RES0 + 6).is_err(), "{what}");
        } else if width == 32 {
            assert_eq!(i128::from(bench.result(4)), exact & ((1 << 64) - 1), "{what}");
        }
    }
}

#[test]
fn fractional_and_saturated_results_stay_in_range() {
    let mut random = Random::new(random::seed());
    let mut bench = Bench::new();
    for round in 0..40_000u32 {
        let operation = [1, 3][round as usize % 2];
        let (fraction, saturate) = (round & 2 != 0, round & 4 != 0);
        let bits = if round & 8 != 0 { 32 } else { 16 };
        let width = 2 * bits;
        let (a, b) = (operand(&mut random, bits), operand(&mut random, bits));
        let most = (1i128 << (width - 1)) - 1;
        let before = u64::from(operand(&mut random, 32)) << 32 | u64::from(operand(&mut random, 32));
        let mask = (1i128 << width) - 1;
        let accumulator = extended_wide(i128::from(before) & mask, width);
        bench.preload(before);
        // Saturation wants MPYC to be the sign of what was preloaded (section "Saturation Mode").
        let carry = if accumulator < 0 { CARRY } else { 0 };
        let modes = if fraction { FRACTION } else { 0 } | if saturate { SATURATE } else { 0 };
        bench.write(CONTROL, 2, modes | carry);
        bench.first(operation, bits, a);
        bench.second(bits, b);
        let mut exact = extended(a, bits, true) * extended(b, bits, true);
        if operation == 3 {
            exact += accumulator;
        }
        let expected = match (saturate, fraction) {
            (false, false) => exact & mask,
            (false, true) => (exact << 1) & mask,
            (true, false) => exact.clamp(-most - 1, most) & mask,
            (true, true) => (exact << 1).clamp(-most - 1, most) & mask,
        };
        let what = format!("{operation}, {modes:#x}, {bits} bits: {a:#x} x {b:#x} + {before:#x}");
        assert_eq!(i128::from(bench.result(width / 16)), expected, "{what}");
        bench.write(CONTROL, 2, 0);
    }
}

fn extended_wide(value: i128, bits: u32) -> i128 {
    if value >> (bits - 1) == 1 { value - (1 << bits) } else { value }
}

/// The three examples of SLAU208 in sections "Saturation Mode" and "Putting It All Together".
#[test]
fn the_examples_of_the_manual() {
    // Fractional and saturated, 8-bit signed accumulation onto 0x7ffffa60.
    let mut bench = Bench::new();
    bench.write(CONTROL, 2, FRACTION | SATURATE);
    bench.preload(0x7fff_fa60);
    bench.first(3, 8, 0x50);
    bench.second(8, 0x12);
    assert_eq!((bench.read(RES0), bench.read(RES0 + 2)), (0xffff, 0x7fff));

    // 32x24 bits, then a 16x16-bit MACS that finds a saturated accumulator.
    let mut bench = Bench::new();
    bench.write(CONTROL, 2, SATURATE);
    bench.first(0, 32, 0x6153_52c5);
    bench.second(24, 0x23_01ab);
    assert_eq!(bench.result(4), 0x000d_4f06_a6ea_0e97);
    assert_eq!(bench.read(CONTROL) & CARRY, 0);
    bench.first(3, 16, 0xccc3);
    bench.second(16, 0xffb6);
    assert_eq!((bench.read(RESLO), bench.read(RESHI)), (0xffff, 0x7fff));

    // MPYC set against the sign of the preloaded result saturates downwards.
    let mut bench = Bench::new();
    bench.preload(0);
    bench.write(CONTROL, 2, SATURATE | CARRY);
    bench.first(3, 8, 0x82);
    bench.second(8, 0x4f);
    assert_eq!((bench.read(RES0), bench.read(RES0 + 2)), (0x0000, 0x8000));
}

/// Cycles from the write given to the first at which the register can be read.
fn latency(bench: &Bench, from: u64, offset: u32) -> Option<u64> {
    (0..=20).find(|cycles| {
        let mut bench = Bench { device: bench.device.clone(), now: from + cycles, ..Bench::new() };
        bench.try_read(offset).is_ok()
    })
}

/// Bits of the first and second operand; cycles until each result word is there after `OP2` or
/// `OP2L`, and after `OP2H`.
type AvailabilityRow = (u32, u32, [u64; 5], Option<[u64; 5]>);

/// SLAU208, "Result Availability (MPYFRAC = 0, MPYSAT = 0)" and "… in Fractional Mode", which have
/// the same figures: bits of the operands, then cycles for RES0, RES1, RES2, RES3, MPYC after OP2
/// or OP2L, and after OP2H.
const TABLE: [AvailabilityRow; 4] = [
    (16, 16, [3, 3, 4, 4, 3], None),
    (32, 16, [3, 5, 6, 7, 7], None),
    (16, 32, [3, 5, 6, 7, 7], Some([0, 3, 4, 4, 4])),
    (32, 32, [3, 8, 10, 11, 11], Some([0, 3, 5, 6, 6])),
];

/// Times that follow from SLAU208's examples, see the model; RES2 and RES3 of 16x16 bits do not
/// apply.
const TABLE_SATURATED: [AvailabilityRow; 4] = [
    (16, 16, [3, 3, 0, 0, 3], None),
    (32, 16, [8; 5], None),
    (16, 32, [8; 5], Some([5; 5])),
    (32, 32, [12; 5], Some([7; 5])),
];

#[test]
fn results_come_when_the_manual_says() {
    for (mode, table) in [(0, TABLE), (FRACTION, TABLE), (SATURATE, TABLE_SATURATED)] {
        for (bits1, bits2, after_low, after_high) in table {
            let mut bench = Bench::new();
            bench.write(CONTROL, 2, mode);
            bench.first(1, bits1, 0x1234);
            let low = bench.now;
            bench.write(if after_high.is_some() { OP2L } else { OP2 }, 2, 0x5678);
            let results = [RES0, RES0 + 2, RES0 + 4, RES0 + 6, CONTROL];
            for (index, offset) in results.into_iter().enumerate() {
                if bits1 == 16 && bits2 == 16 && mode != 0 && (2..4).contains(&index) {
                    continue;
                }
                let what = format!("{bits1} x {bits2}, mode {mode}, result {index}");
                let Some(after_high) = after_high else {
                    assert_eq!(latency(&bench, low, offset), Some(after_low[index]), "{what}");
                    continue;
                };
                // OP2H in the very next cycle: the row after OP2L decides, or the one after OP2H
                // where it is later.
                let mut early = Bench { device: bench.device.clone(), now: low + 1, ..Bench::new() };
                early.write(OP2H, 2, 1);
                let expected =
                    after_low[index].max(if after_high[index] == 0 { 0 } else { 1 + after_high[index] });
                assert_eq!(latency(&early, low, offset), Some(expected), "OP2H early, {what}");
                // OP2H long after: only the row after OP2H counts.
                let mut late = Bench { device: bench.device.clone(), now: low + 50, ..Bench::new() };
                late.write(OP2H, 2, 1);
                assert_eq!(latency(&late, low + 50, offset), Some(after_high[index]), "OP2H late, {what}");
                let before = latency(&bench, low, offset);
                assert_eq!(
                    before,
                    (after_high[index] == 0).then_some(after_low[index]),
                    "before OP2H, {what}"
                );
            }
        }
    }
}

#[test]
fn a_fault_names_the_register_and_the_cycles_missing() {
    let mut bench = Bench::new();
    bench.first(0, 16, 3);
    bench.try_write(OP2, 2, 5).expect("write");
    bench.now += 2;
    let fault = bench.try_read(RESLO).expect_err("too early").to_string();
    assert!(fault.contains("RESLO is read 1 cycle(s) before it is there"), "{fault}");
}

#[test]
fn accesses_that_the_manual_leaves_undefined_are_refused() {
    let mut bench = Bench::new();
    assert!(bench.try_write(OP2H, 2, 1).is_err(), "OP2H without OP2L");
    assert!(bench.try_write(SUMEXT, 2, 1).is_err(), "SUMEXT is read-only");
    // An accumulation on top of one that is not complete.
    bench.first(2, 32, 7);
    bench.write(OP2L, 2, 9);
    bench.write(OP2H, 2, 0);
    assert!(bench.try_write(OP2L, 2, 9).is_err());
}

/// MPYDLYWRTEN: a write waits for RES0 to RES3, with MPYDLY32 for RES0 and RES1 alone; OP2H, which
/// the multiplication waits for, never.
#[test]
fn delayed_writes_wait_for_the_multiplication_under_way() {
    // OP2L, OP2H five cycles later and a write at once: RES1 is there 8 cycles after OP2L, the
    // carry 11.
    for (control, waited) in [(0x100, 6), (0x300, 3)] {
        let mut bench = Bench::new();
        bench.write(CONTROL, 2, control);
        assert_eq!(bench.try_read(CONTROL).expect("a word") & 0x300, control);
        bench.first(0, 32, 0x0003_0007);
        bench.write(OP2L, 2, 9);
        bench.now += 1;
        assert_eq!(bench.waited(OP2H), 0, "OP2H");
        assert_eq!(bench.waited(OP2L), waited, "{control:#x}");
    }
    let mut bench = Bench::new();
    bench.first(2, 32, 0x0003_0007);
    bench.write(OP2L, 2, 9);
    bench.write(OP2H, 2, 0);
    assert!(bench.try_write(OP2L, 2, 5).is_err(), "without it, an accumulation must not begin");
}

/// The second example of "Putting It All Together" as a program, with `nops` NOPs: "5 NOPs
/// required".
fn saturated_after(nops: usize) -> Result<[u32; 4], Fault> {
    use super::programs::{mov, mov_byte, part, poke, register};
    let at = |offset: u32| (BASE + offset) as u16;
    let mut words = [
        mov(SATURATE as u16, at(CONTROL)),
        mov(0x52c5, at(0x10)),
        mov(0x6153, at(0x12)),
        mov(0x01ab, at(OP2L)),
        mov_byte(0x23, at(OP2H)),
        vec![0x4303; nops],
    ]
    .concat();
    for word in 0..4 {
        words.extend([0x4216 + word, at(RES0) + 2 * word]);
    }
    words.push(0x3fff);
    let mut machine = mcu::new_machine(&part(), 1_000_000).expect("a machine");
    poke(&mut *machine, 0x2000, &words);
    machine.set_pc(0x2000);
    let until = mcu::Until { cycles: Some(200), addresses: Vec::new() };
    machine.run(&until).map(|_| ["r6", "r7", "r8", "r9"].map(|name| register(&*machine, name)))
}

#[test]
fn a_saturated_result_takes_the_five_nops_of_the_manual() {
    assert_eq!(saturated_after(5), Ok([0x0e97, 0xa6ea, 0x4f06, 0x000d]));
    assert!(matches!(saturated_after(4), Err(Fault::Peripheral { .. })));
}
