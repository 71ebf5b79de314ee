//! Output units and captures of Timer_A and Timer_B.
//!
//! Source: SLAU208, sections "Output Unit" and "Capture Mode".

use super::programs::{mov, mov_byte, poke, register};
use mcu::{Mcu, Observer, Part, Pin, PinEdge, Stop, Until, new_machine};

const PC: u32 = 0x2000;
const TA0CTL: u16 = 0x340;
const TA0CCTL0: u16 = 0x342;
const TA0CCTL1: u16 = 0x344;
const TA0CCR0: u16 = 0x352;
const TA0CCR1: u16 = 0x354;
/// TASSEL_2 and TACLR, with MC: from SMCLK, up, continuous, up/down.
const UP: u16 = 0x214;
const CONTINUOUS: u16 = 0x224;
const UP_DOWN: u16 = 0x234;
const P1DIR: u16 = 0x204;
const P1SEL: u16 = 0x20a;

/// Each part, and the bit of P1 at which TA0.1 and CCI1A are.
fn both() -> [(Part, u8); 2] {
    let fr5994 = include_str!("../../../../../targets/msp430fr5994.toml");
    [(super::programs::part(), 2), (Part::from_toml(fr5994).expect("target file"), 0)]
}

/// The watchdog rests, the pins are released where they are held; then these words, and a loop of
/// two jumps.
fn machine(part: &Part, words: &[u16]) -> Box<dyn Mcu> {
    let mut machine = new_machine(part, 1_000_000).expect("machine");
    let start = [mov(0x5a80, 0x15c), mov(0, 0x130)].concat();
    let start = if part.name == "msp430fr5994" { &start[..] } else { &start[..3] };
    poke(&mut *machine, PC, &[start, words, &[0x3c00, 0x3ffe]].concat());
    assert!(machine.set_register("sp", 0x3000) && machine.set_register("pc", PC));
    machine
}

#[derive(Default)]
struct Edges(Vec<(u8, bool, u64)>);

impl Observer for Edges {
    fn pin(&mut self, edge: &PinEdge<'_>) {
        if edge.port == "P1" {
            self.0.push((edge.pin, edge.high, edge.cycles));
        }
    }
}

fn until(cycles: u64) -> Until {
    Until { cycles: Some(cycles), addresses: Vec::new() }
}

/// The edges of TA0.1 from when the timer starts, in clocks of it, in this mode of counting with
/// CCR0 = 100 and CCR1 = 25.
fn edges(part: &Part, bit: u8, counting: u16, mode: u16, count: usize) -> Vec<(bool, u64)> {
    let pin = 1 << bit;
    let words = [
        mov_byte(pin, P1DIR),
        mov_byte(pin, P1SEL),
        mov(100, TA0CCR0),
        mov(25, TA0CCR1),
        mov(mode << 5, TA0CCTL1),
        mov(counting, TA0CTL),
    ];
    let mut machine = machine(part, &words.concat());
    // Each MOV takes four cycles; the timer is written at the end of the last.
    let start = if part.name == "msp430fr5994" { 8 } else { 4 };
    let started = start + 6 * 4;
    let mut seen = Edges::default();
    assert_eq!(machine.run_observed(&until(started + 70_000), &mut seen), Ok(Stop::Cycles));
    let of_pin = seen.0.iter().filter(|(number, ..)| *number == bit);
    of_pin.map(|(_, high, at)| (*high, at - started)).take(count).collect()
}

/// Table "Output Modes": EQU1 at 25, EQU0 as the counter rolls from 100 to 0, which is clock 101.
#[test]
fn output_modes_in_up_mode() {
    for (part, bit) in both() {
        let seen = |mode, count| edges(&part, bit, UP, mode, count);
        assert_eq!(seen(0, 9), [], "{}: output", part.name);
        assert_eq!(seen(1, 9), [(true, 25)], "{}: set", part.name);
        assert_eq!(
            seen(2, 4),
            [(true, 25), (false, 101), (true, 126), (false, 202)],
            "{}: toggle/reset",
            part.name
        );
        assert_eq!(
            seen(3, 4),
            [(true, 25), (false, 101), (true, 126), (false, 202)],
            "{}: set/reset",
            part.name
        );
        assert_eq!(seen(4, 3), [(true, 25), (false, 126), (true, 227)], "{}: toggle", part.name);
        assert_eq!(seen(5, 9), [], "{}: reset", part.name);
        assert_eq!(
            seen(6, 4),
            [(true, 25), (false, 126), (true, 202), (false, 227)],
            "{}: toggle/set",
            part.name
        );
        assert_eq!(
            seen(7, 4),
            [(true, 101), (false, 126), (true, 202), (false, 227)],
            "{}: reset/set",
            part.name
        );
    }
}

/// EQU0 at the count of 100: in continuous mode once in 65,536 clocks, up/down at the top.
#[test]
fn output_modes_in_the_other_modes() {
    for (part, bit) in both() {
        let continuous = [(true, 25), (false, 100), (true, 65_561), (false, 65_636)];
        assert_eq!(edges(&part, bit, CONTINUOUS, 3, 4), continuous, "{}", part.name);
        let up_down = [(true, 25), (false, 175), (true, 225), (false, 375)];
        assert_eq!(edges(&part, bit, UP_DOWN, 4, 4), up_down, "{}", part.name);
        let to_the_top = [(true, 25), (false, 100), (true, 175), (false, 225), (true, 375), (false, 425)];
        assert_eq!(edges(&part, bit, UP_DOWN, 2, 6), to_the_top, "{}", part.name);
    }
}

/// OUT is the level in mode 0; a pin that is not selected, or no output, is not driven by it; in
/// channel 0 EQU0 is its own.
#[test]
fn outputs_are_at_selected_pins() {
    for (part, bit) in both() {
        let pin = 1 << bit;
        for (direction, selection, driven) in [(pin, pin, true), (pin, 0, false), (0, pin, false)] {
            let words =
                [mov_byte(direction, P1DIR), mov_byte(selection, P1SEL), mov(4, TA0CCTL1), mov(0, TA0CCTL1)];
            let (mut machine, mut seen) = (machine(&part, &words.concat()), Edges::default());
            assert_eq!(machine.run_observed(&until(100), &mut seen), Ok(Stop::Cycles));
            let levels: Vec<bool> =
                seen.0.iter().filter(|(number, ..)| *number == bit).map(|edge| edge.1).collect();
            assert_eq!(
                levels == [true, false],
                driven,
                "{} {direction:#x} {selection:#x}: {levels:?}",
                part.name
            );
        }
        let fault = machine(&part, &mov(0xe0, TA0CCTL0)).run(&until(100)).expect_err("mode 7 in channel 0");
        assert!(fault.to_string().contains("channel 0"), "{fault}");
    }
}

/// CM_1 and CM_3 at CCI1A: the counts of the edges, CCI, CCIFG, and COV where the one before was
/// not read.
#[test]
fn edges_of_a_pin_are_captured() {
    const CCIFG: u32 = 1;
    const COV: u32 = 2;
    const CCI: u32 = 8;
    for (part, bit) in both() {
        let begin = [mov_byte(1 << bit, P1SEL), mov(0xc900, TA0CCTL1), mov(CONTINUOUS, TA0CTL)].concat();
        let start = if part.name == "msp430fr5994" { 8 } else { 4 };
        let started = start + 3 * 4;
        let mut machine = machine(&part, &begin);
        let pin = Pin::new("P1", bit);
        let peek = |machine: &dyn Mcu, address: u16| {
            // As the program would: CCR1 and CCTL1 into registers by two MOVs, on a copy.
            let mut copy = machine.snapshot();
            poke(&mut *copy, 0x2400, &[0x4215, address, 0x3c00, 0x3ffe]);
            assert!(copy.set_register("pc", 0x2400));
            let limit = copy.cycles() + 20;
            assert_eq!(copy.run(&until(limit)), Ok(Stop::Cycles));
            register(&*copy, "r5")
        };
        let at = |machine: &mut dyn Mcu, cycles: u64, level: bool| {
            assert_eq!(machine.run(&until(cycles)), Ok(Stop::Cycles));
            let now = machine.cycles();
            machine.board_mut().set_input(pin.clone(), Some(level));
            assert_eq!(machine.run(&until(now + 4)), Ok(Stop::Cycles));
            now - started
        };
        at(&mut *machine, 200, false);
        assert_eq!(peek(&*machine, TA0CCTL1) & 0xf, 0, "{}: no edge yet", part.name);
        let count = at(&mut *machine, 300, true);
        let captured = u64::from(peek(&*machine, TA0CCR1));
        assert!((count..count + 3).contains(&captured), "{}: {captured} for {count}", part.name);
        assert_eq!(peek(&*machine, TA0CCTL1) & 0xf, CCI | CCIFG, "{}", part.name);
        let count = at(&mut *machine, 400, false);
        let captured = u64::from(peek(&*machine, TA0CCR1));
        assert!((count..count + 3).contains(&captured), "{}: {captured} for {count}", part.name);
        assert_eq!(peek(&*machine, TA0CCTL1) & 0xf, CCIFG | COV, "{}: a capture was lost", part.name);
    }
}

/// "Capture initiated by software": the input goes from GND to VCC.
#[test]
fn a_program_captures_the_count() {
    for (part, _) in both() {
        let words =
            [mov(CONTINUOUS, TA0CTL), mov(0xe900, TA0CCTL1), mov(0xf900, TA0CCTL1), mov(0xe900, TA0CCTL1)];
        let mut machine = machine(
            &part,
            &[&words.concat()[..9], &[0x4215, TA0CCR1], &words[3], &[0x4216, TA0CCR1]].concat(),
        );
        assert_eq!(machine.run(&until(200)), Ok(Stop::Cycles));
        // CM_3: the write of VCC is two MOVs after the timer's start; that of GND two more, of
        // three and four cycles.
        assert_eq!([register(&*machine, "r5"), register(&*machine, "r6")], [8, 15], "{}", part.name);
        let inside = machine_with_internal_input(&part);
        assert!(inside.contains("no pin"), "{}: {inside}", part.name);
    }
}

/// CCIxB of a channel that has it within the part.
fn machine_with_internal_input(part: &Part) -> String {
    let words = match &*part.name {
        // TA0.2's CCI2B is ACLK.
        "msp430fr5994" => mov(0x5100, 0x346),
        // All are pins here: a part of its own without them.
        _ => {
            let mut part = part.clone();
            part.peripherals.iter_mut().for_each(|spec| spec.pins.clear());
            return machine(&part, &mov(0x5100, 0x346)).run(&until(100)).expect_err("internal").to_string();
        }
    };
    machine(part, &words).run(&until(100)).expect_err("internal").to_string()
}
