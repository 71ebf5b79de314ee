//! Converter and reference of the MSP430F5438A.
//!
//! Instructions drive them as firmware does.

use super::programs::{mov, mov_byte, part, poke, register};
use mcu::{Fault, Mcu, Stop, Until, new_machine};

const PC: u16 = 0x6000;
const CTL0: u16 = 0x700;
const CTL1: u16 = 0x702;
const CTL2: u16 = 0x704;
const IFG: u16 = 0x70a;
const IE: u16 = 0x70c;
const IV: u16 = 0x70e;
const MCTL0: u16 = 0x710;
const MEM0: u16 = 0x720;
const REFCTL0: u16 = 0x1b0;
const LPM3: u16 = 0xd8;
/// `ADC12ON`, and with it `ADC12ENC` and `ADC12SC`.
const ON: u16 = 0x10;
const GO: u16 = 0x13;
/// `ADC12SHP`; with ADC12OSC, and with SMCLK.
const BY_OSCILLATOR: u16 = 0x200;
const BY_SMCLK: u16 = 0x218;
const NOP: u16 = 0x4303;

/// `MOV &register, R5`, `R6`, ...
fn read(register: u16, into: u16) -> Vec<u16> {
    vec![0x4210 | into, register]
}

/// At 1 MHz and 3.0 V, with 1.001 V at A0, 0.5 V at A1 and more than any reference at A2. The first
/// instruction holds the watchdog, 4 cycles; the converter's handler reads MEM0 into R7 and wakes
/// the core.
fn machine(words: &[Vec<u16>]) -> Box<dyn Mcu> {
    let part = part();
    let mut machine = new_machine(&part, 1_000_000).expect("machine");
    let program = [mov(0x5a80, 0x15c), words.concat(), vec![0x3fff]].concat();
    let handler = [read(MEM0, 7), vec![0xc0b1, 0x00f0, 0x0000, 0x1300]].concat();
    poke(machine.as_mut(), u32::from(PC), &program);
    poke(machine.as_mut(), 0x7000, &handler);
    poke(machine.as_mut(), 0xff80 + 2 * 55, &[0x7000]);
    poke(machine.as_mut(), 0xfffe, &[PC]);
    machine.reset();
    assert!(machine.set_register("sp", 0x4000));
    let board = machine.board_mut();
    board.set_analog(0, 1.001);
    board.set_analog(1, 0.5);
    board.set_analog(2, 2.9);
    machine
}

fn run(words: &[Vec<u16>]) -> Box<dyn Mcu> {
    let mut machine = machine(words);
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
    machine
}

fn r5(words: &[Vec<u16>]) -> u32 {
    register(run(words).as_ref(), "r5")
}

fn fault(words: &[Vec<u16>]) -> String {
    match machine(words).run(&Until::default()) {
        Err(fault @ Fault::Peripheral { .. }) => fault.to_string(),
        other => panic!("no fault: {other:?}"),
    }
}

fn nops(count: usize) -> Vec<u16> {
    vec![NOP; count]
}

#[test]
fn a_conversion_takes_sampling_and_thirteen_clocks() {
    // Started in cycle 16; 4 + 13 clocks of SMCLK: the flag is there in cycle 33. A MOV reads in
    // its third cycle.
    let start = [mov(ON, CTL0), mov(BY_SMCLK, CTL1), mov(GO, CTL0)].concat();
    assert_eq!(r5(&[start.clone(), nops(13), read(IFG, 5)]), 0);
    assert_eq!(r5(&[start.clone(), nops(14), read(IFG, 5)]), 1);
    assert_eq!(r5(&[start.clone(), nops(13), read(CTL1, 5)]), 0x219, "busy");
    assert_eq!(r5(&[start.clone(), nops(14), read(CTL1, 5)]), 0x218);
    // SHT0 = 2, 16 clocks, and SMCLK / 2: (16 + 13) * 2 = 58, so cycle 74.
    let start = [mov(0x200 | ON, CTL0), mov(BY_SMCLK | 0x20, CTL1), mov(0x200 | GO, CTL0)].concat();
    assert_eq!(r5(&[start.clone(), nops(54), read(IFG, 5)]), 0);
    assert_eq!(r5(&[start, nops(55), read(IFG, 5)]), 1);
    // ADC12OSC, 4.8 MHz: 17 clocks are 3.54 us, 4 cycles: cycle 20.
    let start = [mov(ON, CTL0), mov(BY_OSCILLATOR, CTL1), mov(GO, CTL0)].concat();
    assert_eq!(r5(&[start.clone(), read(IFG, 5)]), 0);
    assert_eq!(r5(&[start, nops(1), read(IFG, 5)]), 1);
    // Eight bits take 9 clocks: cycle 20 for CTL2 and the start, 13 clocks later 33.
    let start = [mov(ON, CTL0), mov(BY_SMCLK, CTL1), mov(0, CTL2), mov(GO, CTL0)].concat();
    assert_eq!(r5(&[start.clone(), nops(9), read(IFG, 5)]), 0);
    assert_eq!(r5(&[start, nops(10), read(IFG, 5)]), 1);
}

/// SLAU208, UCSCTL5: DIVS 1 is half of MCLK, 3 an eighth.
#[test]
fn a_conversion_takes_as_many_clocks_of_a_divided_smclk() {
    const UCSCTL5: u16 = 0x16a;
    // Started in cycle 20; 17 clocks of two cycles: cycle 54.
    let start = [mov(0x10, UCSCTL5), mov(ON, CTL0), mov(BY_SMCLK, CTL1), mov(GO, CTL0)].concat();
    assert_eq!(r5(&[start.clone(), nops(30), read(IFG, 5)]), 0);
    assert_eq!(r5(&[start, nops(31), read(IFG, 5)]), 1);
    // Started in cycle 16; the divider comes four clocks later, in cycle 20, and 13 clocks of eight
    // cycles end in 124.
    let start = [mov(ON, CTL0), mov(BY_SMCLK, CTL1), mov(GO, CTL0), mov(0x30, UCSCTL5)].concat();
    assert_eq!(r5(&[start.clone(), nops(100), read(IFG, 5)]), 0);
    assert_eq!(r5(&[start, nops(101), read(IFG, 5)]), 1);
}

#[test]
fn results_are_fractions_of_the_reference() {
    let convert = |mctl: u16, reference: u16| {
        let wait = nops(80);
        r5(&[
            mov(reference, REFCTL0),
            wait,
            mov(ON, CTL0),
            mov(BY_OSCILLATOR, CTL1),
            mov_byte(mctl, MCTL0),
            mov(GO, CTL0),
            nops(10),
            read(MEM0, 5),
        ])
    };
    // SLAU208: N = 4095 Vin / Vref. 4095 * 1.001 / 3.0 = 1366.365.
    assert_eq!(convert(0x00, 0x80), 1366);
    // SLAS655H: REFVSEL 0, 1, 2 give 1.49 V, 1.98 V, 2.50 V: 2751.07, 2070.25, 1639.638.
    assert_eq!(convert(0x10, 0x81), 2751);
    assert_eq!(convert(0x10, 0x91), 2070);
    assert_eq!(convert(0x10, 0xa1), 1639);
    assert_eq!(convert(0x11, 0x81), 1374, "4095 * 0.5 / 1.49 = 1374.16");
    assert_eq!(convert(0x12, 0x81), 4095, "above the reference");
    assert_eq!(convert(0x13, 0x81), 0, "nothing connected");
    assert_eq!(convert(0x0b, 0x80), 2047, "half the supply: 2047.5");
}

#[test]
fn a_reference_must_be_on_settled_and_supplied() {
    let convert = |reference: u16, wait: usize| {
        let start = [mov(ON, CTL0), mov(BY_OSCILLATOR, CTL1), mov_byte(0x10, MCTL0)].concat();
        [start, mov(reference, REFCTL0), nops(wait), mov(GO, CTL0)]
    };
    assert!(fault(&convert(0x80, 100)).contains("REFON"));
    // 75 us are 75 cycles; the MOV that starts writes in its fourth.
    assert!(fault(&convert(0x81, 70)).contains("1 cycle(s) before the reference of 1.49 V has settled"));
    run(&convert(0x81, 71));
    assert!(fault(&convert(0x01, 71)).contains("REFMSTR"));
    let at = |supply_v: f64, reference: u16| {
        let mut machine = machine(&convert(reference, 80));
        machine.board_mut().supply_v = supply_v;
        machine.run(&Until::default()).map_err(|fault| fault.to_string())
    };
    assert_eq!(at(2.2, 0x81), Ok(Stop::Halted));
    assert_eq!(at(2.8, 0xa1), Ok(Stop::Halted));
    assert!(at(2.79, 0xa1).expect_err("2.5 V").contains("needs a supply of 2.8 V and has 2.79 V"));
    assert!(at(2.19, 0x81).expect_err("below 2.2 V").contains("2.2 V"));
}

#[test]
fn interrupt_wakes_the_core_and_its_vector_has_the_number() {
    // 1024 + 13 clocks of 4.8 MHz are 216.04 us, 217 cycles; the oscillator runs in LPM3, too.
    let words = [
        mov(0xc00 | ON, CTL0),
        mov(BY_OSCILLATOR, CTL1),
        mov(1, IE),
        mov(0xc00 | GO, CTL0),
        vec![0xd032, LPM3],
        read(IFG, 5),
    ];
    let machine = run(&words);
    assert_eq!(register(machine.as_ref(), "r7"), 1366);
    assert_eq!(register(machine.as_ref(), "r5"), 0, "reading MEM0 clears the flag");
    // Started in cycle 20, asleep from 22 to 237 (SHT 12: 1024 clocks).
    assert_eq!(machine.residency().asleep_in("LPM3"), 20 + 217 - 22);
    // IE0 and IE1 set, both flags up: 6 for the first; the flags are not cleared by that.
    let vector = [mov(3, IE), mov(2, IFG), read(IV, 5), read(IFG, 6)];
    let machine = run(&vector);
    assert_eq!(register(machine.as_ref(), "r5"), 8);
    assert_eq!(register(machine.as_ref(), "r6"), 2);
}

#[test]
fn a_sequence_goes_through_its_memories() {
    // CONSEQ = 1, MSC: MEM4 to MEM5 from A0 and A1, EOS in MCTL5.
    let words = |multiple: u16| {
        [
            mov(multiple | ON, CTL0),
            mov(0x4000 | BY_SMCLK | 2, CTL1),
            mov(0x8100, MCTL0 + 4),
            mov(multiple | GO, CTL0),
            nops(40),
            read(MEM0 + 8, 5),
            read(IFG, 6),
            mov(multiple | GO, CTL0),
            nops(20),
            read(MEM0 + 10, 7),
            read(CTL1, 8),
        ]
    };
    let machine = run(&words(0x80));
    // 4095 * 0.5 / 3.0 = 682.5.
    assert_eq!(register(machine.as_ref(), "r5"), 1366);
    assert_eq!(register(machine.as_ref(), "r6"), 0x20);
    assert_eq!(register(machine.as_ref(), "r7"), 682);
    // Without MSC each start converts one.
    let machine = run(&words(0));
    assert_eq!(register(machine.as_ref(), "r6"), 0);
    assert_eq!(register(machine.as_ref(), "r7"), 682);
    assert_eq!(register(machine.as_ref(), "r8") & 1, 0);
}

#[test]
fn unmodelled_settings_are_faults() {
    assert!(fault(&[mov(0x03, CTL0)]).contains("ADC12ON"));
    assert!(fault(&[mov(ON, CTL0), mov(GO, CTL0)]).contains("ADC12SHP"));
    let on = [mov(ON, CTL0), mov(BY_SMCLK, CTL1)].concat();
    assert!(fault(&[on.clone(), mov_byte(0x0a, MCTL0), mov(GO, CTL0)]).contains("inner inputs"));
    assert!(fault(&[on.clone(), mov_byte(0x20, MCTL0), mov(GO, CTL0)]).contains("VREF+"));
    assert!(fault(&[on.clone(), mov(GO, CTL0), mov(0x210, CTL1)]).contains("ADC12ENC"));
    assert!(fault(&[on, mov(GO, CTL0), mov(0x100 | GO, CTL0)]).contains("ADC12ENC"));
    assert!(fault(&[mov(ON, CTL0), mov(BY_SMCLK | 0x400, CTL1), mov(GO, CTL0)]).contains("ADC12SC"));
    assert!(fault(&[read(0x706, 5)]).contains("no such register"));
}
