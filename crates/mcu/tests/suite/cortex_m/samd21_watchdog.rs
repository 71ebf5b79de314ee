//! The SAM D21's watchdog, with the times of the data sheet: DS40001882, section 18.

use super::samd21::{bench, says};
use super::steps::{KEPT, Step, machine, run, word};
use super::stm32_peripherals::Bench;
use mcu::ResetCause;

const RCAUSE: u32 = 0x4000_0438;
const GCLK: u32 = 0x4000_0c00;
const WDT: u32 = 0x4000_1000;
const CONFIG: u32 = WDT + 1;
const EWCTRL: u32 = WDT + 2;
const INTENSET: u32 = WDT + 5;
const INTFLAG: u32 = WDT + 6;
const CLEAR: u32 = WDT + 8;
/// CTRL.
const ENABLE: u32 = 1 << 1;
const WEN: u32 = 1 << 2;
const ALWAYSON: u32 = 1 << 7;
const KEY: u32 = 0xa5;

/// After a reset, with generator 2 on OSCULP32K as its clock (section 15.8.3), and the core at 48
/// MHz.
fn reset() -> Bench {
    let mut bench = bench();
    bench.bus.reset();
    bench
}

/// Cycles of 48 MHz in `clocks` clocks of 32,768 Hz.
fn cycles(clocks: u64) -> u64 {
    (clocks * 48_000_000).div_ceil(32_768)
}

/// Section 14.3: at most six clocks and three of the bus.
fn synchronised() -> u64 {
    cycles(6) + 3
}

fn byte(bench: &mut Bench, address: u32) -> u32 {
    bench.bus.read(address, 1, bench.now, 0, None).expect("a modelled register")
}

/// Writes CTRL, and returns the cycle at which the value takes effect.
fn control(bench: &mut Bench, value: u32) -> u64 {
    bench.write_part(WDT, 1, value);
    bench.now + synchronised()
}

/// Section 18.6.4, the example: with PER 2 and EWOFFSET 1 it warns after 16 clocks and resets the
/// part after 32.
#[test]
fn watchdog_warns_and_then_resets() {
    let mut bench = reset();
    assert_eq!(bench.read(WDT), 0x000b_bb00, "section 10.3.1: the factory's user row");
    bench.write_part(CONFIG, 1, 2);
    bench.write_part(EWCTRL, 1, 1);
    bench.write_part(INTENSET, 1, 1);
    let began = control(&mut bench, ENABLE);
    assert_eq!(byte(&mut bench, WDT), ENABLE, "read back at once");
    bench.advance(began - 1);
    assert_eq!((bench.read(WDT + 4) >> 24, bench.bus.has_running_watchdog()), (0x80, true));
    bench.advance(began);
    assert_eq!((bench.read(WDT + 4) >> 24, bench.bus.has_running_watchdog()), (0, true));
    bench.advance(began + cycles(16) - 1);
    assert_eq!((bench.bus.requests, bench.read(WDT + 4)), (0, 0x0101));
    bench.advance(began + cycles(16));
    assert_eq!((bench.bus.requests, bench.read(WDT + 4)), (1 << 2, 0x1_0101));
    assert_eq!(bench.bus.due, began + cycles(32));
    bench.write_part(INTFLAG, 1, 1);
    assert_eq!(bench.bus.requests, 0);
    // Cleared: the next warning is so far from there.
    bench.write_part(CLEAR, 1, KEY);
    let cleared = bench.now + synchronised();
    bench.advance(cleared);
    assert_eq!(bench.bus.due, cleared + cycles(16));
    // Enable-protected.
    bench.write_part(CONFIG, 1, 0xb);
    assert_eq!(byte(&mut bench, CONFIG), 2);
    // Off.
    let off = control(&mut bench, 0);
    bench.advance(off);
    assert_eq!((bench.bus.due, bench.bus.has_running_watchdog()), (u64::MAX, false));
    bench.write_part(CONFIG, 1, 0xb);
    assert_eq!(byte(&mut bench, CONFIG), 0xb);
}

/// Section 18.6.4: a warning that is not before the reset never comes. Section 18.6.2.5: in window
/// mode it comes when the window opens.
#[test]
fn the_warning_depends_on_the_mode() {
    for (early, mode, config, warns, closed, open) in [
        (2, 0, 0x02, None, 0, 32),
        (3, 0, 0x02, None, 0, 32),
        (1, 0, 0x02, Some(16), 0, 32),
        (0, WEN, 0x21, Some(32), 32, 16),
    ] {
        let mut bench = reset();
        bench.write_part(CONFIG, 1, config);
        bench.write_part(EWCTRL, 1, early);
        let began = control(&mut bench, ENABLE | mode);
        bench.advance(began);
        if let Some(warns) = warns {
            assert_eq!(bench.bus.due, began + cycles(warns));
            bench.advance(began + cycles(warns));
        }
        assert_eq!(byte(&mut bench, INTFLAG), u32::from(warns.is_some()));
        assert_eq!(bench.bus.due, began + cycles(closed) + cycles(open));
    }
}

/// Section 18.6.5: an access that must be synchronised waits for the one before.
#[test]
fn the_bus_waits_for_the_synchronisation() {
    let mut bench = reset();
    let first = control(&mut bench, ENABLE);
    bench.write_part(CLEAR, 1, KEY);
    assert_eq!(bench.bus.stall, first - bench.now);
    bench.now = first + synchronised() - 1;
    assert_eq!(bench.read(WDT + 4) >> 24, 0x80);
    bench.now += 1;
    assert_eq!(bench.read(WDT + 4) >> 24, 0);
    // The longest period counts from the second.
    bench.advance(bench.now);
    assert_eq!(bench.bus.due, bench.now + cycles(16_384));
}

/// Its generic clock is slowed down and switched off and on under it: what it has counted stays.
#[test]
fn watchdog_follows_its_generic_clock() {
    let mut bench = reset();
    let began = control(&mut bench, ENABLE);
    bench.advance(began);
    let end = began + cycles(16_384);
    assert_eq!(bench.bus.due, end);
    // Generator 2 by 2: what is left takes twice as long.
    bench.now = began + cycles(4_096);
    bench.write(GCLK + 8, 2 << 8 | 2);
    let slower = bench.now + 2 * (end - bench.now);
    assert_eq!(bench.bus.due, slower);
    // CLKCTRL without CLKEN.
    bench.now += 1_000_000;
    bench.write_part(GCLK + 2, 2, 2 << 8 | 3);
    let stopped = bench.now;
    assert_eq!((bench.bus.due, bench.bus.has_running_watchdog()), (u64::MAX, false));
    says(bench.bus.write(CLEAR, 1, KEY, bench.now, 0, None), "GCLK_WDT stands still");
    bench.now += 5_000_000;
    bench.write_part(GCLK + 2, 2, 1 << 14 | 2 << 8 | 3);
    assert_eq!(bench.bus.due, slower + bench.now - stopped);
}

/// Settings on which the sheet is silent or contradicts itself are refused.
#[test]
fn watchdog_refuses_undefined_settings() {
    let mut bench = reset();
    bench.write_part(CONFIG, 1, 0xc);
    says(bench.try_write(WDT, 0x000b_0c00 | ENABLE), "reserved");
    bench.write_part(CLEAR, 1, KEY);
    says(bench.bus.write(CLEAR, 1, 0, bench.now, 0, None), "while it is off");
    bench.write_part(CONFIG, 1, 0);
    bench.write_part(WDT, 1, ALWAYSON);
    says(bench.bus.write(WDT, 1, WEN, bench.now, 0, None), "window mode");
}

/// Sections 18.6.3.1 and 16.6.2.7: always on it stays until the power goes.
#[test]
fn always_on_outlives_other_resets() {
    let mut bench = reset();
    bench.write_part(CONFIG, 1, 3);
    let began = control(&mut bench, ALWAYSON);
    bench.advance(began);
    bench.write_part(WDT, 1, 0);
    bench.write_part(CONFIG, 1, 4);
    assert_eq!((byte(&mut bench, WDT), byte(&mut bench, CONFIG)), (ALWAYSON, 3));
    let end = began + cycles(64);
    bench.bus.reset_by(ResetCause::Software, bench.now, 0);
    assert_eq!((byte(&mut bench, WDT), byte(&mut bench, CONFIG)), (ALWAYSON, 3));
    assert_eq!((bench.bus.due, bench.bus.has_running_watchdog()), (end, true));
    bench.bus.reset_by(ResetCause::BrownOut, bench.now, 0);
    assert_eq!((bench.read(WDT), bench.bus.has_running_watchdog()), (0x000b_bb00, false));
    // Without it the others switch it off, too.
    let began = control(&mut bench, ENABLE);
    bench.advance(began);
    bench.bus.reset_by(ResetCause::Software, bench.now, 0);
    assert_eq!((bench.read(WDT), bench.bus.has_running_watchdog()), (0x000b_bb00, false));
}

/// RCAUSE as a program finds it in its last life within `cycles`. A write of the first word sets
/// CTRL before CONFIG and EWCTRL.
fn cause(steps: Vec<Step>, cycles: u64) -> u32 {
    let steps: Vec<Step> = std::iter::once(Step::Copy(KEPT, RCAUSE)).chain(steps).collect();
    let mut machine = machine("samd21", &steps);
    run(&mut *machine, cycles);
    word(&*machine, KEPT)
}

const POR: u32 = 1 << 0;
const RCAUSE_WDT: u32 = 1 << 5;
/// 8 clocks of 32,768 Hz, and what comes before: about 9,000 cycles to switch it on.
const SHORT: u64 = 30_000;

/// Section 16.8.14. A write of the first word while it is off sets it up, the next one switches it
/// on.
#[test]
fn a_program_finds_why_it_was_reset() {
    let on = |config: u32, control: u32| {
        vec![Step::Write(WDT, config << 8), Step::Write(WDT, config << 8 | control)]
    };
    let then = |mut steps: Vec<Step>, more: Vec<Step>| {
        steps.extend(more);
        steps
    };
    assert_eq!(cause(on(0xb, ENABLE), SHORT), POR, "not yet");
    assert_eq!(cause(on(0, ENABLE), SHORT + 10_000), RCAUSE_WDT, "left alone");
    assert_eq!(cause(then(on(0xb, ENABLE), vec![Step::Write(CLEAR, 0x5a)]), SHORT), RCAUSE_WDT, "no key");
    let windowed = on(0xb5, ENABLE | WEN);
    assert_eq!(cause(then(windowed, vec![Step::Write(CLEAR, KEY)]), SHORT), POR, "it is not on yet");
    // 256 clocks are 375,000 cycles; a turn of the loop is three.
    let late = |turns| vec![Step::Wait(turns), Step::Write(CLEAR, KEY)];
    assert_eq!(
        cause(then(on(0x55, ENABLE | WEN), late(50_000)), 300_000),
        RCAUSE_WDT,
        "the window is closed"
    );
    assert_eq!(cause(then(on(0x55, ENABLE | WEN), late(150_000)), 700_000), POR, "the window is open");
    assert_eq!(cause(then(on(0x55, ENABLE | WEN), late(150_000)), 1_400_000), RCAUSE_WDT, "not again");
    let stubborn = then(on(0, ALWAYSON), vec![Step::Write(WDT, 0)]);
    assert_eq!(cause(stubborn, SHORT + 10_000), RCAUSE_WDT, "always on");
}
