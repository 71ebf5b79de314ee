//! Converter and reference of the MSP430FR5994.
//!
//! Sources: SLAU367, chapters "ADC12_B" and "REF_A". SMCLK is MCLK; the watchdog was held in the
//! first four cycles, and a MOV of a number to a register takes four.

use super::fr5994::{RAM, fault, machine};
use super::programs::{mov, mov_byte, poke, register};
use mcu::{Mcu, Stop, Until};

const CTL0: u16 = 0x800;
const CTL1: u16 = 0x802;
const CTL2: u16 = 0x804;
const CTL3: u16 = 0x806;
const LO: u16 = 0x808;
const HI: u16 = 0x80a;
const IFGR0: u16 = 0x80c;
const IFGR1: u16 = 0x80e;
const IFGR2: u16 = 0x810;
const IER0: u16 = 0x812;
const IER1: u16 = 0x814;
const IER2: u16 = 0x816;
const IV: u16 = 0x818;
const MCTL0: u16 = 0x820;
const MEM0: u16 = 0x860;
const REFCTL0: u16 = 0x1b0;
/// `ADC12ON`, and with it `ADC12ENC` and `ADC12SC`.
const ON: u16 = 0x10;
const GO: u16 = 0x13;
/// `ADC12SHP` with SMCLK.
const SMCLK: u16 = 0x218;
const NOP: u16 = 0x4303;
const WINC: u16 = 0x4000;
const DIF: u16 = 0x2000;
const EOS: u16 = 0x80;

/// `MOV &register, R5`, `R6`, ...
fn read(register: u16, into: u16) -> Vec<u16> {
    vec![0x4210 | into, register]
}

fn nops(count: usize) -> Vec<u16> {
    vec![NOP; count]
}

/// At 3.0 V, with 1.0 V at A0, 0.25 V at A1 and 2.9 V at A19.
fn run(words: &[Vec<u16>]) -> Box<dyn Mcu> {
    let mut machine = machine(RAM, &words.concat());
    for (input, volts) in [(0, 1.0), (1, 0.25), (19, 2.9)] {
        machine.board_mut().set_analog(input, volts);
    }
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
    machine
}

fn r5(words: &[Vec<u16>]) -> u32 {
    register(run(words).as_ref(), "r5")
}

/// A conversion with these settings before `ADC12ENC` is set.
fn convert(settings: &[(u16, u16)]) -> Vec<u16> {
    let settings = settings.iter().flat_map(|(register, value)| mov(*value, *register));
    [mov(ON, CTL0), mov(SMCLK, CTL1), settings.collect(), mov(GO, CTL0)].concat()
}

/// The clocks of a conversion into a memory, from its start to its flag.
fn clocks(settings: &[(u16, u16)], go: u16, memory: u16) -> usize {
    let flag = if memory < 16 { IFGR0 } else { IFGR1 };
    let settings: Vec<u16> = settings.iter().flat_map(|(register, value)| mov(*value, *register)).collect();
    let start = [mov(go & !3, CTL0), mov(SMCLK, CTL1), mov(memory, CTL3), settings, mov(go, CTL0)].concat();
    let after = |count: usize| r5(&[start.clone(), nops(count), read(flag, 5)]) != 0;
    let last = (0..2_000).find(|count| after(*count)).expect("a flag");
    // The read is in the third cycle of its instruction.
    last + 3
}

#[test]
fn conversion_takes_sampling_and_fourteen_clocks() {
    assert_eq!(clocks(&[], GO, 0), 4 + 14);
    assert_eq!(clocks(&[(CTL2, 0x10)], GO, 0), 4 + 12);
    assert_eq!(clocks(&[(CTL2, 0)], GO, 0), 4 + 10);
    assert_eq!(clocks(&[(MCTL0, WINC)], GO, 0), 4 + 15);
    // ADC12DIVx divides by 2, ADC12PDIV by 4.
    assert_eq!(clocks(&[(CTL1, SMCLK | 0x20)], GO, 0), 2 * 18);
    assert_eq!(clocks(&[(CTL1, SMCLK | 0x2000)], GO, 0), 4 * 18);
    // ADC12SHT0 is for MEM0 to MEM7 and MEM24 to MEM31, ADC12SHT1 for the others.
    let sampled = |memory| clocks(&[], 0x1200 | GO, memory);
    assert_eq!([7, 8, 23, 24].map(sampled), [16 + 14, 8 + 14, 8 + 14, 16 + 14]);
}

/// ADC12OSC is MODOSC: 18 clocks of 4.8 MHz are 3.75 us, 60 cycles of 16 MHz.
#[test]
fn oscillator_clocks_a_conversion() {
    assert_eq!(clocks(&[(CTL1, 0x200)], GO, 0), 60);
}

/// N = 4096 (Vin+ + LSB / 2 - VR-) / (VR+ - VR-).
#[test]
fn results_are_rounded_fractions_of_the_reference() {
    let result = |settings: &[(u16, u16)]| r5(&[convert(settings), nops(40), read(MEM0, 5)]);
    // 4096 * 1.0 / 3.0 = 1365.3; 4096 * 0.25 / 3.0 = 341.3; 4096 * 2.9 / 3.0 = 3959.5.
    assert_eq!(result(&[]), 1365);
    assert_eq!(result(&[(MCTL0, 1)]), 341);
    assert_eq!(result(&[(MCTL0, 19)]), 3959);
    assert_eq!(result(&[(CTL2, 0x10)]), 341);
    assert_eq!(result(&[(CTL2, 0)]), 85);
    // Half the supply, where ADC12BATMAP has it.
    assert_eq!(result(&[(CTL3, 0x40), (MCTL0, 31)]), 2048);
    // 2048 (Vin+ + LSB / 2 - Vin-) / (VR+ - VR-) + 2048, A0 against A1; A1 chooses the same pair.
    assert_eq!(result(&[(MCTL0, DIF)]), 2560);
    assert_eq!(result(&[(MCTL0, DIF | 1)]), 2560);
    assert_eq!(result(&[(MCTL0, DIF | 19)]), 68);
}

/// REF_A: 1.2, 2.0 and 2.5 V. It is ready after 75 us, 1,200 cycles; no REFMSTR has to be set.
#[test]
fn reference_settles_and_says_so() {
    let against = |reference: u16, idle: usize| {
        let wait = [0x4036, idle as u16, 0x8316, 0x23fe].to_vec();
        [mov(reference, REFCTL0), wait, read(REFCTL0, 7), convert(&[(MCTL0, 0x100)]), nops(40), read(MEM0, 5)]
    };
    for (reference, expected) in [(0x01, 3413), (0x11, 2048), (0x21, 1638)] {
        let machine = run(&against(reference, 400));
        assert_eq!(register(machine.as_ref(), "r5"), expected);
        assert_eq!(register(machine.as_ref(), "r7"), u32::from(reference) | 0x3300);
    }
    let early = against(0x01, 10).concat();
    assert!(fault(&early).contains("has settled"));
    let machine = run(&[mov(0x01, REFCTL0), read(REFCTL0, 5)]);
    assert_eq!(register(machine.as_ref(), "r5"), 0x301);
    assert_eq!(r5(&[read(REFCTL0, 5)]), 0);
    assert!(fault(&mov(0x02, REFCTL0)).contains("REFOUT"));
    assert!(fault(&mov(0x80, REFCTL0)).contains("REFBGOT"));
}

/// The result, 1365, is above, below or within the limits, or equals one.
#[test]
fn window_has_three_flags() {
    let flags = |low: u16, high: u16| {
        let limits = [mov(low, LO), mov(high, HI)].concat();
        r5(&[limits, convert(&[(MCTL0, WINC)]), nops(40), read(IFGR2, 5)])
    };
    assert_eq!(flags(1, 1364), 8, "ADC12HIIFG");
    assert_eq!(flags(1366, 4000), 4, "ADC12LOIFG");
    assert_eq!(flags(1364, 1366), 2, "ADC12INIFG");
    assert_eq!([flags(1365, 4000), flags(0, 1365)], [0, 0]);
    // Without ADC12WINC nothing is compared; after a reset the window is everything.
    assert_eq!(r5(&[mov(4000, LO), convert(&[]), nops(40), read(IFGR2, 5)]), 0);
    assert_eq!(r5(&[read(HI, 5)]), 0xfff);
}

/// ADC12IV: ADC12OV, ADC12TOV, ADC12HI, ADC12LO, ADC12IN, then the memories from 12 on.
#[test]
fn vector_has_the_numbers_of_its_flags() {
    let number = |settings: &[(u16, u16)]| {
        let settings = settings.iter().flat_map(|(register, value)| mov(*value, *register)).collect();
        r5(&[settings, read(IV, 5)])
    };
    for (flag, expected) in [(0x10, 2), (0x20, 4), (0x08, 6), (0x04, 8), (0x02, 10)] {
        assert_eq!(number(&[(IER2, flag), (IFGR2, flag)]), expected);
        assert_eq!(number(&[(IFGR2, flag)]), 0, "not enabled");
    }
    assert_eq!(number(&[(IER0, 1), (IFGR0, 1)]), 12);
    assert_eq!(number(&[(IER0, 0x8000), (IFGR0, 0x8000)]), 42);
    assert_eq!(number(&[(IER1, 1), (IFGR1, 1)]), 44);
    assert_eq!(number(&[(IER1, 0x8000), (IFGR1, 0x8000)]), 74);
    // ADC12IV clears the window's flag, and leaves that of a memory.
    let both = [mov(1, IER0), mov(1, IFGR0), mov(2, IER2), mov(2, IFGR2)].concat();
    let machine = run(&[both, read(IV, 5), read(IV, 6), read(IFGR0, 7)]);
    assert_eq!(["r5", "r6", "r7"].map(|name| register(machine.as_ref(), name)), [10, 12, 1]);
}

/// A result that is overwritten, and a start that comes too soon.
#[test]
fn overflows_have_flags() {
    let again = [convert(&[]), nops(40), mov(GO, CTL0), nops(40), read(IFGR2, 5)].concat();
    assert_eq!(r5(&[again]), 0x10);
    let soon = [convert(&[]), mov(GO, CTL0), nops(40), read(IFGR2, 5)].concat();
    assert_eq!(r5(&[soon]), 0x20);
    // It has their enables in ADC12IER2, and none in ADC12CTL0.
    let both = [mov(ON | 0xc, CTL0), mov(0x30, IFGR2), read(IV, 5)];
    assert_eq!(r5(&both), 0);
}

#[test]
fn interrupt_has_its_vector() {
    let start = [convert(&[]), mov(1, IER0), vec![0xd232], nops(40)].concat();
    let mut machine = machine(RAM, &start);
    // MOV &MEM0, R7; RETI.
    poke(machine.as_mut(), 0x3000, &[0x4217, MEM0, 0x1300]);
    poke(machine.as_mut(), 0xff80 + 2 * 54, &[0x3000]);
    machine.board_mut().set_analog(0, 1.0);
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
    assert_eq!(register(machine.as_ref(), "r7"), 1365);
}

/// From MEM30 on; MEM31 is followed by MEM0.
#[test]
fn sequence_goes_round_its_memories() {
    let memories = [(MCTL0 + 60, 0), (MCTL0 + 62, 1), (MCTL0, 19 | EOS)];
    let words = [
        mov(0x80 | ON, CTL0),
        mov(SMCLK | 2, CTL1),
        mov(30, CTL3),
        memories.iter().flat_map(|(register, value)| mov(*value, *register)).collect(),
        mov(0x80 | GO, CTL0),
        nops(80),
        read(IFGR0, 5),
        read(IFGR1, 6),
        read(MEM0 + 60, 7),
        read(MEM0 + 62, 8),
        read(MEM0, 9),
        read(IFGR1, 10),
        read(CTL1, 11),
    ];
    let machine = run(&words);
    let registers = ["r5", "r6", "r7", "r8", "r9", "r10", "r11"].map(|name| register(machine.as_ref(), name));
    assert_eq!(registers, [1, 0xc000, 1365, 341, 3959, 0, u32::from(SMCLK | 2)]);
}

#[test]
fn unmodelled_settings_are_refused() {
    let refused = |settings: &[(u16, u16)]| fault(&[convert(settings), nops(40)].concat());
    assert!(refused(&[(CTL1, SMCLK | 0x1000)]).contains("ADC12SC"));
    assert!(refused(&[(CTL1, 0x18)]).contains("ADC12SHP"));
    assert!(refused(&[(CTL1, 0x210)]).contains("ADC12SSEL"));
    assert!(refused(&[(CTL2, 0x28)]).contains("ADC12DF"));
    assert!(refused(&[(CTL2, 0x30)]).contains("ADC12RES"));
    assert!(refused(&[(MCTL0, 0x200)]).contains("VREF+"));
    assert!(refused(&[(MCTL0, 20)]).contains("ADC12INCH"));
    assert!(refused(&[(MCTL0, 31)]).contains("ADC12INCH"), "ADC12BATMAP is clear");
    assert!(refused(&[(CTL3, 0x80), (MCTL0, 30)]).contains("ADC12CTL3"));
    assert!(refused(&[(CTL3, 0x40), (MCTL0, DIF | 31)]).contains("ADC12CTL3"));
}

#[test]
fn settings_are_fixed_while_enc_is_set() {
    let on = convert(&[]);
    for (register, value) in [(CTL1, 0), (CTL2, 0), (CTL3, 1), (MCTL0, 1), (CTL0, 0x100 | GO)] {
        assert!(fault(&[on.clone(), nops(40), mov(value, register)].concat()).contains("ADC12ENC"));
    }
    assert!(fault(&mov(0x40, IER2)).contains("ADC12RDYIE"));
    assert!(fault(&mov_byte(0, MEM0)).contains("in words"));
    assert!(fault(&read(0x81a, 5)).contains("no such register"));
    assert!(
        fault(&[mov(0xb00 | ON, CTL0), mov(SMCLK, CTL1), mov(0xb00 | GO, CTL0)].concat())
            .contains("ADC12SHT")
    );
}

#[test]
fn registers_keep_the_bits_that_they_have() {
    for (register, kept) in [(CTL1, 0x7ffe), (CTL2, 0x39), (CTL3, 0xfdf), (MCTL0 + 62, 0x6f9f), (HI, 0xffff)]
    {
        assert_eq!(r5(&[mov(0xffff, register), read(register, 5)]), kept, "{register:#x}");
    }
    // A byte leaves the other as it is.
    assert_eq!(r5(&[mov(0x6f9f, MCTL0), mov_byte(1, MCTL0), read(MCTL0, 5)]), 0x6f01);
}
