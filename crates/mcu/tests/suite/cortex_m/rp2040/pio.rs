//! PIO: instructions, their times, queues, pins and flags. RP2040 Datasheet, section 3.

use super::*;
use mcu::Pin;

const PIO0: u32 = 0x5020_0000;
const CTRL: u32 = PIO0;
const FDEBUG: u32 = PIO0 + 0x08;
const FLEVEL: u32 = PIO0 + 0x0c;
const TXF0: u32 = PIO0 + 0x10;
const RXF0: u32 = PIO0 + 0x20;
const IRQ: u32 = PIO0 + 0x30;
const CLKDIV: u32 = PIO0 + 0xc8;
const EXECCTRL: u32 = PIO0 + 0xcc;
const SHIFTCTRL: u32 = PIO0 + 0xd0;
const ADDR: u32 = PIO0 + 0xd4;
const INSTR: u32 = PIO0 + 0xd8;
const PINCTRL: u32 = PIO0 + 0xdc;
const IRQ0_INTE: u32 = PIO0 + 0x12c;
const SET_PIN: u32 = 0xe001;
const CLEAR_PIN: u32 = 0xe000;
const ENABLE_WITH_CLOCK: u32 = 1 << 8 | 1;

/// A block with a program that wraps at its end, pin 0 as an output of SET, OUT and side-set.
fn pio(program: &[u32]) -> Bench {
    let mut bench = bench();
    bench.write(RESETS, 0);
    for (at, instruction) in (PIO0 + 0x48..).step_by(4).zip(program) {
        bench.write(at, *instruction);
    }
    bench.write(EXECCTRL, (program.len() as u32 - 1) << 12);
    bench.write(PINCTRL, 1 << 26 | 1 << 20);
    bench.write(IO_BANK0 + 4, 6);
    // SET PINDIRS, 1.
    bench.write(INSTR, 0xe081);
    bench
}

/// The cycles and levels at which pin 0 changed since cycle `from`.
fn edges(bench: &Bench, from: u64) -> Vec<(u64, bool)> {
    let pins = bench.seen.pins.iter().filter(|(_, pin, ..)| *pin == 0);
    pins.map(|(_, _, high, at)| (*at, *high))
        .filter(|(at, _)| *at > from)
        .map(|(at, high)| (at - from, high))
        .collect()
}

/// Section 3.4: an instruction a cycle, and the cycles of its delay.
#[test]
fn instruction_takes_a_cycle_and_its_delay() {
    let mut bench = pio(&[SET_PIN | 1 << 8, CLEAR_PIN]);
    bench.write(CTRL, ENABLE_WITH_CLOCK);
    let from = bench.now;
    bench.advance(from + 7);
    assert_eq!(edges(&bench, from), [(1, true), (3, false), (4, true), (6, false), (7, true)]);
    bench.write(CTRL, 0);
    bench.advance(from + 100);
    assert_eq!(edges(&bench, from + 7), [], "it is off");
}

/// Section 3.5.5: cycles of its own lie CLKDIV apart, here 2.5.
#[test]
fn divider_has_a_fraction() {
    let mut bench = pio(&[SET_PIN, CLEAR_PIN]);
    bench.write(CLKDIV, 2 << 16 | 0x80 << 8);
    bench.write(CTRL, ENABLE_WITH_CLOCK);
    let from = bench.now;
    bench.advance(from + 10);
    assert_eq!(edges(&bench, from), [(3, true), (5, false), (8, true), (10, false)]);
}

/// Section 3.5.4: an OUT with an empty register stalls for the cycle that fills it; with a word in
/// the queue the register is filled by the OUT that empties it.
#[test]
fn out_fills_its_register_by_itself() {
    let mut bench = pio(&[0x6001]);
    bench.write(SHIFTCTRL, 4 << 25 | 3 << 18 | 1 << 17);
    bench.write(CTRL, ENABLE_WITH_CLOCK);
    bench.advance(bench.now + 5);
    assert_eq!(bench.read(FDEBUG), 1 << 24, "TXSTALL");
    bench.write(FDEBUG, 1 << 24);
    assert_eq!(bench.read(FDEBUG), 1 << 24, "it still waits");
    bench.write(TXF0, 0b0101);
    let from = bench.now;
    bench.write(TXF0, 0b1101);
    assert_eq!(bench.read(FLEVEL), 1);
    bench.advance(from + 20);
    // The first bit comes two cycles after the write, and each of the others one after it.
    let bits = [(2, true), (3, false), (4, true), (5, false), (6, true), (7, false), (8, true)];
    assert_eq!(edges(&bench, from), bits);
    bench.write(FDEBUG, 1 << 24);
    assert_eq!((bench.read(FLEVEL), bench.read(FDEBUG)), (0, 1 << 24));
}

/// Section 3.5.1: a side-set comes with its instruction's first cycle, also where that stalls, and
/// has precedence over what the instruction sets.
#[test]
fn side_set_comes_with_a_stall() {
    // PULL BLOCK side 1; SET PINS, 1 side 0 [1].
    let mut bench = pio(&[0x90a0, 0xe101]);
    bench.write(PINCTRL, 1 << 29 | 1 << 26);
    bench.write(CTRL, ENABLE_WITH_CLOCK);
    let from = bench.now;
    bench.advance(from + 9);
    assert_eq!(edges(&bench, from), [(1, true)]);
    bench.write(TXF0, 1);
    let pushed = bench.now;
    bench.advance(pushed + 4);
    assert_eq!(edges(&bench, pushed), [(2, false), (4, true)]);
}

/// Section 3.5.6.3: an input is seen two cycles later. Section 3.4.9: IRQ sets a flag, which
/// interrupts where it is enabled; the program clears it.
#[test]
fn input_passes_its_synchroniser_and_flag_interrupts() {
    // WAIT 1 GPIO 3; IRQ 0; JMP 2.
    let mut bench = pio(&[0x2083, 0xc000, 0x0002]);
    bench.write(IRQ0_INTE, 1 << 8);
    bench.write(CTRL, ENABLE_WITH_CLOCK);
    let from = bench.now + 20;
    bench.advance(from);
    bench.bus.board.set_input(Pin::new("GPIO", 3), Some(true));
    bench.bus.resume(from, 0);
    bench.advance(from + 2);
    assert_eq!((bench.bus.requests >> 7 & 1, bench.read(ADDR)), (0, 1));
    bench.advance(from + 3);
    assert_eq!((bench.bus.requests >> 7 & 1, bench.read(IRQ)), (1, 1));
    bench.write(IRQ, 1);
    assert_eq!((bench.bus.requests >> 7 & 1, bench.read(IRQ)), (0, 0));
}

/// Section 3.4.9: IRQ WAIT goes on when somebody has cleared the flag, another state machine by
/// WAIT, in the cycle after it.
#[test]
fn state_machines_wait_for_each_other() {
    // 0: IRQ WAIT 4; SET PINS, 1; JMP 2. 3: WAIT 1 IRQ 4 [7]; JMP 4.
    let mut bench = pio(&[0xc024, SET_PIN, 0x0002, 0x27c4, 0x0004]);
    bench.write(INSTR + 0x18, 0x0003);
    bench.write(CTRL, 3 << 8 | 3);
    let from = bench.now;
    bench.advance(from + 20);
    assert_eq!((edges(&bench, from), bench.read(IRQ)), (vec![(4, true)], 0));
}

/// Section 3.5.4: IN pushes what it has gathered, the first bits highest where the register shifts
/// to the left; a full queue stalls it, and is seen as that.
#[test]
fn in_pushes_by_itself() {
    let mut bench = pio(&[0x4004]);
    bench.bus.board.set_input(Pin::new("GPIO", 1), Some(true));
    bench.bus.resume(bench.now, 0);
    bench.now += 2;
    bench.write(SHIFTCTRL, 8 << 20 | 1 << 16);
    bench.write(CTRL, ENABLE_WITH_CLOCK);
    let from = bench.now;
    bench.advance(from + 2);
    assert_eq!(bench.read(FLEVEL), 1 << 4);
    bench.advance(from + 40);
    assert_eq!((bench.read(FLEVEL), bench.read(FDEBUG)), (4 << 4, 1));
    assert_eq!(bench.read(RXF0), 0x22);
    // FJOIN_RX: eight words, and none to transmit.
    bench.write(CTRL, 0);
    bench.write(SHIFTCTRL, 1 << 31 | 8 << 20 | 1 << 16);
    assert_eq!(bench.read(FLEVEL), 0, "joining empties");
    bench.write(CTRL, 1);
    bench.advance(bench.now + 40);
    assert_eq!(bench.read(FLEVEL), 8 << 4);
    bench.write(TXF0, 1);
    assert_eq!(bench.read(FDEBUG) >> 16 & 1, 1, "TXOVER");
}

/// Sections 3.4.2, 3.4.8 and 3.4.10: what is written to INSTR is executed.
#[test]
fn instructions_compute() {
    let mut bench = pio(&[0xa042]);
    let mut result = |instructions: &[u32]| {
        instructions.iter().for_each(|instruction| bench.write(INSTR, *instruction));
        // PUSH NOBLOCK.
        bench.write(INSTR, 0x8000);
        (bench.read(RXF0), bench.read(ADDR))
    };
    // SET X, 5; MOV ISR, ~X.
    assert_eq!(result(&[0xe025, 0xa0c9]).0, !5);
    // MOV ISR, ::X.
    assert_eq!(result(&[0xa0d1]).0, 5u32.reverse_bits());
    // JMP X-- 7; MOV ISR, X.
    assert_eq!(result(&[0x0047, 0xa0c1]), (4, 7));
    // SET X, 0; JMP X-- 9 is not taken, and yet decrements; MOV ISR, X.
    assert_eq!(result(&[0xe020, 0x0049, 0xa0c1]), (u32::MAX, 7));
    // SET Y, 31; MOV PC, Y; MOV ISR, NULL.
    assert_eq!(result(&[0xe05f, 0xa0a2, 0xa0c3]), (0, 31));
    // MOV X, ~NULL; IN X, 4 from the left; IN NULL, 28.
    assert_eq!(result(&[0xa02b, 0x4024, 0x407c]).0, 0xf);
    // SET X, 3; MOV OSR, X; OUT ISR, 2; the rest is 0.
    assert_eq!(result(&[0xe023, 0xa0e1, 0x60c2]).0, 3);
    // OUT EXEC of SET Y, 9 goes with a cycle of its own.
    bench.write(INSTR, 0xe020);
    bench.write(TXF0, 0xe049);
    bench.write(INSTR, 0x80a0);
    bench.write(INSTR, 0x60f0);
    bench.write(CTRL, ENABLE_WITH_CLOCK);
    bench.advance(bench.now + 1);
    bench.write(INSTR, 0xa0c2);
    bench.write(INSTR, 0x8000);
    assert_eq!(bench.read(RXF0), 9);
}

/// A level that changes twice within the synchroniser wakes a WAIT for the second one.
#[test]
fn wait_sees_each_of_two_near_edges() {
    // WAIT 1 GPIO 3; IRQ 0; JMP 2.
    let mut bench = pio(&[0x2083, 0xc000, 0x0002]);
    bench.bus.board.set_input(Pin::new("GPIO", 3), Some(true));
    bench.bus.resume(bench.now, 0);
    bench.now += 10;
    bench.bus.board.set_input(Pin::new("GPIO", 3), Some(false));
    bench.bus.resume(bench.now, 0);
    bench.now += 10;
    bench.write(CTRL, ENABLE_WITH_CLOCK);
    for high in [false, true] {
        let now = bench.now + 1;
        bench.advance(now);
        bench.bus.board.set_input(Pin::new("GPIO", 4), Some(!high));
        bench.bus.board.set_input(Pin::new("GPIO", 3), Some(high));
        bench.bus.resume(now, 0);
    }
    bench.advance(bench.now + 10);
    assert_eq!(bench.read(IRQ), 1);
}

/// A reserved encoding is refused where it is executed, and a count where it is written.
#[test]
fn reserved_settings_are_refused() {
    let mut bench = pio(&[0xa042]);
    for instruction in [0x2060, 0x4081, 0x8081, 0xa044, 0xa05a, 0xa062, 0xc080, 0xe060] {
        says(bench.try_write(INSTR, instruction), "reserved");
    }
    says(bench.try_write(PINCTRL, 6 << 26), "go to 5");
}

/// RESETS holds the block; two settings are refused.
#[test]
fn block_in_reset_takes_nothing() {
    let mut bench = bench();
    says(bench.try_write(TXF0, 1), "PIO0 is held in reset");
    let mut bench = pio(&[0xa042]);
    says(bench.try_write(EXECCTRL, 1 << 17), "OUT_STICKY");
    bench.write(CTRL, 1);
    bench.write(RESETS + SET, 1 << 10);
    bench.write(RESETS + CLEAR, 1 << 10);
    assert_eq!((bench.read(CTRL), bench.read(EXECCTRL)), (0, 0x1f << 12));
}
