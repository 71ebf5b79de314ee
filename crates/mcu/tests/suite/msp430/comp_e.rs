//! Comparator of the MSP430FR5994.
//!
//! Source: SLAU367P, chapter "COMP_E". At 16 MHz, 16 cycles are a microsecond.

use super::fr5994::{RAM, fault, machine};
use super::programs::{mov, poke, register};
use mcu::{Mcu, Observer, PinEdge, Samples, Signal, Stop, Until};
use std::sync::Arc;

const CTL0: u16 = 0x8c0;
const CTL1: u16 = 0x8c2;
const CTL2: u16 = 0x8c4;
const CTL3: u16 = 0x8c6;
const INT: u16 = 0x8cc;
const IV: u16 = 0x8ce;
const ADC_REFCTL0: u16 = 0x1b0;
const PM5CTL0: u16 = 0x0130;
const P1DIR: u16 = 0x0204;
const P1SEL1: u16 = 0x020c;
const NOP: u16 = 0x4303;

const ON: u16 = 0x400;
const OUTPOL: u16 = 2;
const IES: u16 = 8;
const EX: u16 = 0x20;
const MRVS: u16 = 0x1000;
const MRVL: u16 = 0x800;
/// V+ from a pin, V- from a pin.
const PLUS: u16 = 0x80;
const MINUS: u16 = 0x8000;
/// CECTL2: the reference at V-; the ladder at the supply, at the shared reference, or that alone.
const AT_MINUS: u16 = 0x20;
const SUPPLY: u16 = 0x40;
const SHARED_LADDER: u16 = 0x80;
const SHARED: u16 = 0xc0;
const LEVEL_1V2: u16 = 0x2000;
const LEVEL_2V0: u16 = 0x4000;
const LEVEL_2V5: u16 = 0x6000;

/// `MOV &register, R5`, `R6`, ...
fn read(register: u16, into: u16) -> Vec<u16> {
    vec![0x4210 | into, register]
}

/// At 3.0 V, with 1.0 V at C0, 0.25 V at C1, 2.9 V at C15.
fn prepared(words: &[Vec<u16>]) -> Box<dyn Mcu> {
    let mut machine = machine(RAM, &words.concat());
    for (input, volts) in [(0, 1.0), (1, 0.25), (15, 2.9)] {
        machine.board_mut().set_analog(input, volts);
    }
    machine
}

fn r5(words: &[Vec<u16>]) -> u32 {
    let mut machine = prepared(words);
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
    register(machine.as_ref(), "r5")
}

/// CECTL0, CECTL2, CECTL1.
fn set_up(terminals: u16, reference: u16, control: u16) -> Vec<u16> {
    [mov(terminals, CTL0), mov(reference, CTL2), mov(control, CTL1)].concat()
}

fn output(terminals: u16, reference: u16, control: u16) -> u32 {
    r5(&[set_up(terminals, reference, control), read(CTL1, 5)]) & 1
}

#[test]
fn output_compares_two_pins() {
    // C0 with C1, C1 with C0, C15 with C0.
    assert_eq!(output(PLUS | MINUS | 0x100, 0, ON), 1);
    assert_eq!(output(PLUS | MINUS | 1, 0, ON), 0);
    assert_eq!(output(PLUS | MINUS | 15, 0, ON), 1);
    // Equal voltages: V+ is not the higher one.
    assert_eq!(output(PLUS | MINUS, 0, ON), 0);
    // CEOUTPOL inverts; CEEX exchanges inputs and inverts, so the answer stays.
    assert_eq!(output(PLUS | MINUS | 0x100, 0, ON | OUTPOL), 0);
    assert_eq!(output(PLUS | MINUS | 0x100, 0, ON | EX), 1);
    // Off, it is low, or high with CEOUTPOL.
    assert_eq!([output(PLUS | MINUS | 0x100, 0, 0), output(0, 0, OUTPOL)], [0, 1]);
}

/// 1.0 V of 3.0 V is 10.67 of 32 parts: above a tap of 10/32 (CEREF 9), below one of 11/32.
#[test]
fn ladder_divides_the_supply_by_thirty_two() {
    let above = |tap: u16| output(PLUS, SUPPLY | AT_MINUS | tap | tap << 8, ON);
    assert_eq!([above(9), above(10)], [1, 0]);
    // At V+ the answer is the other one; 32 of 32 is the supply itself.
    let below = |tap: u16| output(MINUS, SUPPLY | tap | tap << 8, ON);
    assert_eq!([below(9), below(10), below(31)], [0, 1, 1]);
    // CEMRVL chooses the tap where CEMRVS says so.
    let chosen = |control: u16| output(PLUS, SUPPLY | AT_MINUS | 9 | 10 << 8, ON | control);
    assert_eq!([chosen(MRVS), chosen(MRVS | MRVL)], [1, 0]);
}

/// 1.0 V against 1.2 V, and against parts of 1.2, 2.0 and 2.5 V.
#[test]
fn shared_reference_has_three_voltages() {
    let above = |reference: u16| output(PLUS, reference | AT_MINUS, ON);
    assert_eq!(above(SHARED | LEVEL_1V2), 0);
    // 26/32 of 1.2 V is 0.975 V, 27/32 is 1.0125 V.
    let part = |level: u16, tap: u16| above(SHARED_LADDER | level | tap | tap << 8);
    assert_eq!([part(LEVEL_1V2, 25), part(LEVEL_1V2, 26)], [1, 0]);
    // 15/32 of 2.0 V is 0.9375 V, 17/32 is 1.0625 V; 12/32 of 2.5 V is 0.9375 V, 13/32 is 1.0156 V.
    assert_eq!([part(LEVEL_2V0, 14), part(LEVEL_2V0, 16)], [1, 0]);
    assert_eq!([part(LEVEL_2V5, 11), part(LEVEL_2V5, 12)], [1, 0]);
    assert_eq!(output(PLUS | 15, SHARED | LEVEL_2V5 | AT_MINUS, ON), 1);
}

/// With the output low, 2/3 of the supply is the threshold; with it high, 1/3.
#[test]
fn two_taps_make_a_hysteresis() {
    // CEREF0 = 20: 21/32 of 3 V is 1.97 V. CEREF1 = 10: 11/32 is 1.03 V.
    let hysteresis = set_up(PLUS, SUPPLY | AT_MINUS | 20 | 10 << 8, ON);
    let run_at = |before: f64, after: f64| {
        let mut machine = machine(RAM, &[hysteresis.clone(), vec![NOP; 200], read(CTL1, 5)].concat());
        let points = vec![(0, before), (8_000, after)];
        let samples = Samples { points, steps: true, repeats: false };
        machine.board_mut().set_signal(0, Signal::Samples(Arc::new(samples)));
        assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
        register(machine.as_ref(), "r5") & 1
    };
    assert_eq!([run_at(1.5, 1.5), run_at(2.5, 1.5), run_at(2.5, 0.9), run_at(0.1, 1.5)], [0, 1, 0, 0]);
}

/// A voltage over time crosses the threshold at 20 us; the flag is there a microsecond later.
#[test]
fn changing_voltage_is_looked_at_every_microsecond() {
    let flags_after = |us: usize| {
        let start = set_up(PLUS, SUPPLY | AT_MINUS | 15 | 15 << 8, ON);
        let words = [start, vec![NOP; 16 * us], read(INT, 5)].concat();
        let mut machine = machine(RAM, &words);
        let points = vec![(0, 0.0), (40_000, 3.0)];
        let samples = Samples { points, steps: false, repeats: false };
        machine.board_mut().set_signal(0, Signal::Samples(Arc::new(samples)));
        assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
        register(machine.as_ref(), "r5")
    };
    assert_eq!([flags_after(17), flags_after(21)], [0, 1]);
}

#[test]
fn flags_are_of_the_edges_that_ceies_chooses() {
    let rises =
        |control: u16| r5(&[set_up(PLUS | MINUS | 0x100, 0, control), mov(ON | control, CTL1), read(INT, 5)]);
    assert_eq!([rises(0), rises(IES)], [1, 2]);
    let falls = |control: u16| {
        let up = set_up(PLUS | MINUS | 0x100, 0, ON | control);
        r5(&[up, mov(0, INT), mov(control, CTL1), read(INT, 5)])
    };
    assert_eq!([falls(0), falls(IES)], [2, 1]);
}

/// CEIV: 2 is CEIFG, 4 CEIIFG, of those that are enabled; a read clears the flag.
#[test]
fn vector_has_the_numbers_of_its_flags() {
    assert_eq!(r5(&[mov(0x103, INT), read(IV, 5)]), 2);
    assert_eq!(r5(&[mov(0x203, INT), read(IV, 5)]), 4);
    assert_eq!(r5(&[mov(0x003, INT), read(IV, 5)]), 0);
    assert_eq!(r5(&[mov(0x303, INT), read(IV, 6), read(INT, 5)]), 0x302);
    assert_eq!(r5(&[mov(0x303, INT), mov(0, IV), read(INT, 5)]), 0x302);
}

/// From LPM4, in which no clock runs: `BIS #LPM4 + GIE, SR`.
#[test]
fn interrupt_wakes_from_lpm4() {
    let start = [mov(0x100, INT), set_up(PLUS, SUPPLY | AT_MINUS | 15 | 15 << 8, ON)].concat();
    let sleep = vec![0xd032, 0x00f8, NOP];
    let mut machine = machine(RAM, &[start, sleep].concat());
    // MOV &CEIV, R7; BIC #CPUOFF + OSCOFF + SCG1 + SCG0, 0(SP); RETI.
    poke(machine.as_mut(), 0x3000, &[0x4217, IV, 0xc0b1, 0x00f0, 0x0000, 0x1300]);
    poke(machine.as_mut(), 0xfff8, &[0x3000]);
    let samples = Samples { points: vec![(0, 0.0), (1_000_000, 3.0)], steps: true, repeats: false };
    machine.board_mut().set_signal(0, Signal::Samples(Arc::new(samples)));
    let mut run_to = |cycles: u64| {
        let until = Until { cycles: Some(cycles), ..Until::default() };
        assert_eq!(machine.run(&until), Ok(Stop::Cycles));
        register(machine.as_ref(), "r7")
    };
    assert_ne!(run_to(15_900), 2);
    assert_eq!(run_to(16_300), 2);
}

/// Edges at P1.2.
#[derive(Default)]
struct Edges(Vec<bool>);

impl Observer for Edges {
    fn pin(&mut self, edge: &PinEdge<'_>) {
        if (edge.port, edge.pin) == ("P1", 2) {
            self.0.push(edge.high);
        }
    }
}

#[test]
fn output_is_at_its_pin() {
    let pins = [mov(0, PM5CTL0), mov(4, P1DIR), mov(4, P1SEL1)].concat();
    let on_and_off = [set_up(PLUS | MINUS | 0x100, 0, ON), mov(0, CTL1)].concat();
    let mut machine = prepared(&[pins, on_and_off]);
    let mut edges = Edges::default();
    assert_eq!(machine.run_observed(&Until::default(), &mut edges), Ok(Stop::Halted));
    assert_eq!(edges.0, [true, false]);
}

#[test]
fn unmodelled_settings_are_refused() {
    let refused =
        |terminals: u16, reference: u16, control: u16| fault(&set_up(terminals, reference, control));
    assert!(refused(PLUS, 0, ON).contains("V- is open"));
    assert!(refused(0, SUPPLY, ON).contains("V- is open"));
    assert!(refused(MINUS, 0, ON).contains("V+ is open"));
    assert!(refused(PLUS | MINUS, SUPPLY, ON).contains("V+ has a pin and the reference"));
    assert!(refused(PLUS | MINUS, SUPPLY | AT_MINUS, ON).contains("V- has a pin and the reference"));
    assert!(refused(PLUS | 6, SUPPLY | AT_MINUS, ON).contains("C6 lies at a pin"));
    assert!(refused(PLUS, SHARED | AT_MINUS, ON).contains("CEREFL = 0"));
    assert!(refused(PLUS | MINUS, 0, ON | 0x10).contains("CESHORT"));
    assert!(refused(PLUS | MINUS, 0, ON | 0x300).contains("CEPWRMD"));
    // The lower threshold while the output is low: 1.0 V is above it, and below the other.
    let mut wrong = prepared(&[set_up(PLUS, SUPPLY | AT_MINUS | 5 | 20 << 8, ON)]);
    let said = wrong.run(&Until::default()).expect_err("a fault").to_string();
    assert!(said.contains("oscillate"), "{said}");
    let two = [mov(0x11, ADC_REFCTL0), set_up(PLUS, SHARED | LEVEL_1V2 | AT_MINUS, ON)].concat();
    assert!(fault(&two).contains("REFVSEL"));
    assert!(fault(&mov(0x1000, INT)).contains("CERDYIE"));
    assert!(fault(&read(0x8c8, 5)).contains("no such register"));
}

/// The same voltage of the reference that REFON holds on is none too many.
#[test]
fn reference_that_is_on_may_have_the_same_voltage() {
    let same = [mov(0x01, ADC_REFCTL0), set_up(PLUS, SHARED | LEVEL_1V2 | AT_MINUS, ON)].concat();
    assert_eq!(r5(&[same, read(CTL1, 5)]) & 1, 0);
}

#[test]
fn registers_keep_the_bits_that_they_have() {
    for (register, kept) in [(CTL0, 0x8f8f), (CTL2, 0xffff), (CTL3, 0xffff)] {
        assert_eq!(r5(&[mov(0xffff, register), read(register, 5)]), kept, "{register:#x}");
    }
    // Off; CEOUT is only read, and high by CEOUTPOL.
    assert_eq!(r5(&[mov(0x18ee, CTL1), read(CTL1, 5)]), 0x18ef);
    assert_eq!(r5(&[mov(0x0313, INT), read(INT, 5)]), 0x0313);
}
