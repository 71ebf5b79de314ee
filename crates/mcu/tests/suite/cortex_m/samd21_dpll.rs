//! FDPLL96M of the SAM D21, and its clocks after a reset.
//!
//! Source: DS40001882, sections 15, 16 and 17.

use super::samd21::{bench, says};
use super::steps::{Step, clocked_machine, run};
use super::stm32_peripherals::Bench;
use mcu::ResetCause;

const SYSCTRL: u32 = 0x4000_0800;
const PCLKSR: u32 = SYSCTRL + 0x0c;
const XOSC32K: u32 = SYSCTRL + 0x14;
const OSC8M: u32 = SYSCTRL + 0x20;
const DPLLCTRLA: u32 = SYSCTRL + 0x44;
const DPLLRATIO: u32 = SYSCTRL + 0x48;
const DPLLCTRLB: u32 = SYSCTRL + 0x4c;
const DPLLSTATUS: u32 = SYSCTRL + 0x50;
const GCLK: u32 = 0x4000_0c00;
const CLKCTRL: u32 = GCLK + 2;
const GENCTRL: u32 = GCLK + 4;
const GENDIV: u32 = GCLK + 8;
const NVMCTRL_CTRLB: u32 = 0x4100_4004;

/// GCLK_CLKCTRL.
const CLKEN: u32 = 1 << 14;
const FDPLL_ID: u32 = 1;
const FDPLL_32K_ID: u32 = 2;
const TCC0_ID: u32 = 26;
/// GCLK_GENCTRL.
const GENEN: u32 = 1 << 16;
const OSC8M_SOURCE: u32 = 6 << 8;
const FDPLL_SOURCE: u32 = 8 << 8;
/// DPLLCTRLA, DPLLCTRLB.
const ENABLE: u32 = 1 << 1;
const ONDEMAND: u32 = 1 << 7;
const REFCLK_GCLK: u32 = 2 << 4;
const WUF: u32 = 1 << 3;

/// Generator 1 with 1 MHz of OSC8M, for the reference; one wait state.
fn referenced() -> Bench {
    let mut bench = bench();
    bench.write(NVMCTRL_CTRLB, 1 << 1);
    bench.write(OSC8M, 0x8707_0082);
    bench.write(GENDIV, 8 << 8 | 1);
    bench.write(GENCTRL, GENEN | OSC8M_SOURCE | 1);
    bench.write_part(CLKCTRL, 2, CLKEN | 1 << 8 | FDPLL_ID);
    bench.write(DPLLCTRLB, REFCLK_GCLK);
    bench
}

/// 25 us, and for each ns of the period beyond 500 what is on the line to 1.3 ms at 31,250 ns:
/// 45.73 us at 1 MHz, 2195 cycles of 48 MHz.
const LOCK: u64 = 2_195;

/// Sections 17.6.8.3 and 37.13.7.
#[test]
fn dpll_multiplies_a_generic_clock() {
    let mut bench = referenced();
    assert_eq!((bench.read(DPLLCTRLA), bench.read(DPLLSTATUS)), (ONDEMAND, 0));
    bench.write(DPLLRATIO, 47);
    bench.write_part(DPLLCTRLA, 1, ENABLE);
    let locks = bench.now + LOCK;
    bench.write_part(CLKCTRL, 2, CLKEN | 4 << 8 | TCC0_ID);
    bench.write(GENCTRL, GENEN | FDPLL_SOURCE | 4);
    bench.advance(locks - 1);
    assert_eq!((bench.read(DPLLSTATUS), bench.read(PCLKSR) >> 15), (4, 0));
    assert_eq!(bench.bus.events.generic_clocks_hz[TCC0_ID as usize], 0, "CK is gated");
    bench.advance(locks);
    assert_eq!((bench.read(DPLLSTATUS), bench.read(PCLKSR) >> 15), (7, 1));
    assert_eq!(bench.bus.events.generic_clocks_hz[TCC0_ID as usize], 48_000_000);
    bench.write(GENCTRL, GENEN | FDPLL_SOURCE);
    // Section 17.6.8.6: another ratio takes the lock away, and the core's clock with it.
    says(bench.try_write(DPLLRATIO, 63), "which has not locked");
}

#[test]
fn the_core_needs_a_locked_one() {
    let mut bench = referenced();
    bench.write(DPLLRATIO, 47);
    bench.write_part(DPLLCTRLA, 1, ENABLE);
    says(bench.try_write(GENCTRL, GENEN | FDPLL_SOURCE), "which has not locked");
    let mut bench = referenced();
    says(bench.try_write(GENCTRL, GENEN | FDPLL_SOURCE), "no source that runs");
}

/// 1464 + 14/16 times 32,768 Hz, when XOSC32K has started: a period of 30,517 ns makes 1,269.6 us,
/// 60,942 cycles.
#[test]
fn dpll_multiplies_the_crystal_by_a_fraction() {
    let mut bench = bench();
    bench.write_part(XOSC32K, 2, 3 << 8 | 1 << 3 | 1 << 2 | 1 << 1);
    let ready = bench.now + 4096 * 48_000_000 / 32_768 + 3 * 48_000_000 / 32_768;
    bench.write(DPLLRATIO, 14 << 16 | 1463);
    bench.write_part(CLKCTRL, 2, CLKEN | 4 << 8 | TCC0_ID);
    bench.write(GENCTRL, GENEN | FDPLL_SOURCE | 4);
    bench.write_part(DPLLCTRLA, 1, ENABLE);
    bench.advance(ready + 60_941);
    assert_eq!(bench.read(DPLLSTATUS), 4);
    bench.advance(ready + 60_942);
    assert_eq!(bench.read(DPLLSTATUS), 7);
    assert_eq!(bench.bus.events.generic_clocks_hz[TCC0_ID as usize], 32_768 * 1464 + 28_672);
}

/// DPLLCTRLB.LTIME, section 17.8.19: a time that GCLK_FDPLL96M_32K counts.
#[test]
fn a_lock_time_can_be_given() {
    let mut bench = referenced();
    bench.write(DPLLRATIO, 95);
    bench.write(DPLLCTRLB, 5 << 8 | REFCLK_GCLK);
    says(bench.bus.write(DPLLCTRLA, 1, ENABLE, bench.now, 0, None), "GCLK_FDPLL96M_32K");
    let mut bench = referenced();
    bench.write(DPLLRATIO, 95);
    bench.write_part(CLKCTRL, 2, CLKEN | 2 << 8 | FDPLL_32K_ID);
    bench.write(DPLLCTRLB, 5 << 8 | REFCLK_GCLK);
    bench.write_part(DPLLCTRLA, 1, ENABLE);
    let locks = bench.now + 9 * 48_000;
    bench.advance(locks - 1);
    assert_eq!(bench.read(DPLLSTATUS), 4);
    bench.advance(locks);
    assert_eq!(bench.read(DPLLSTATUS), 7);
}

/// Section 17.8.17: on demand it runs while a clock in use is made of it.
#[test]
fn on_demand_it_waits_for_somebody() {
    let mut bench = referenced();
    bench.write(DPLLRATIO, 95);
    bench.write_part(DPLLCTRLA, 1, ONDEMAND | ENABLE);
    bench.write(GENCTRL, GENEN | FDPLL_SOURCE | 4);
    bench.advance(bench.now + 10 * LOCK);
    assert_eq!(bench.read(DPLLSTATUS), 4);
    bench.write_part(CLKCTRL, 2, CLKEN | 4 << 8 | TCC0_ID);
    bench.advance(bench.now + LOCK);
    assert_eq!(bench.read(DPLLSTATUS), 7);
    bench.write_part(CLKCTRL, 2, 4 << 8 | TCC0_ID);
    assert_eq!(bench.read(DPLLSTATUS), 4);
}

/// Section 37.13.7, and what has no frequency that is known.
#[test]
fn dpll_refuses_settings_out_of_range() {
    let on = |ratio: u32, divider: u32, control_b: u32| {
        let mut bench = referenced();
        bench.write(GENDIV, divider << 8 | 1);
        bench.write(DPLLRATIO, ratio);
        bench.write(DPLLCTRLB, control_b | REFCLK_GCLK);
        bench.bus.write(DPLLCTRLA, 1, ENABLE, bench.now, 0, None)
    };
    says(on(46, 8, 0), "is set to 47 MHz");
    says(on(96, 8, 0), "is set to 97 MHz");
    says(on(23, 2, 0), "its reference has 4000000 Hz");
    says(on(47, 8, WUF), "wake-up fast");
    says(on(47, 8, 2 << 8), "reserved");
    on(47, 8, 0).expect("48 MHz");
}

/// Section 15.6.3.4: WRTLOCK keeps a module's clock and its generator, but for the core's, from
/// every write and every reset but that of the power. Section 16.6.2.7: the sources of 32 kHz are
/// reset with the power alone.
#[test]
fn locked_clock_outlives_all_resets_but_that_of_the_power() {
    let mut bench = bench();
    bench.write_part(XOSC32K, 2, 1 << 3 | 1 << 2 | 1 << 1);
    bench.write(GENCTRL, GENEN | 5 << 8 | 4);
    bench.write_part(CLKCTRL, 2, 1 << 15 | CLKEN | 4 << 8 | TCC0_ID);
    bench.now += 10_000;
    let clock_hz = |bench: &Bench| bench.bus.events.generic_clocks_hz[TCC0_ID as usize];
    bench.write(GENDIV, 2 << 8 | 4);
    bench.write_part(CLKCTRL, 2, TCC0_ID);
    bench.write_part(GCLK, 1, 1);
    assert_eq!(clock_hz(&bench), 32_768);
    bench.bus.reset_by(ResetCause::Software, bench.now, 0);
    assert_eq!(clock_hz(&bench), 32_768);
    assert_eq!(bench.read(PCLKSR) & 2, 2);
    bench.bus.reset_by(ResetCause::PowerOn, 0, 0);
    assert_eq!((clock_hz(&bench), bench.read(PCLKSR) & 2), (0, 0));
    // The core's generator starts as ever.
    assert_eq!(bench.read(GENCTRL), GENEN | OSC8M_SOURCE);
}

/// Table 15-7: the last module is 0x24. Start-up code that switches off all that CLKCTRL.ID can
/// name does no harm.
#[test]
fn reserved_modules_can_be_switched_off_alone() {
    let mut bench = bench();
    for id in 3..0x40 {
        bench.write_part(CLKCTRL, 2, 7 << 8 | id);
        assert_eq!(bench.read(GCLK) >> 16, 7 << 8 | id);
    }
    says(bench.bus.write(CLKCTRL, 2, CLKEN | 0x25, bench.now, 0, None), "no such module");
    bench.write_part(CLKCTRL, 1, 0x25);
    says(bench.bus.write(CLKCTRL + 1, 1, CLKEN >> 8, bench.now, 0, None), "no such module");
    bench.write_part(CLKCTRL, 2, CLKEN | 0x24);
}

/// A program that goes from 1 MHz to 48 MHz by it, as an operating system for the part does.
#[test]
fn a_program_runs_on_it() {
    let steps = [
        Step::Write(NVMCTRL_CTRLB, 1 << 1),
        Step::Write(OSC8M, 0x8707_0082),
        Step::Write(GENDIV, 8 << 8 | 1),
        Step::Write(GENCTRL, GENEN | OSC8M_SOURCE | 1),
        Step::WriteHalf(CLKCTRL, (CLKEN | 1 << 8 | FDPLL_ID) as u16),
        Step::Write(DPLLRATIO, 47),
        Step::Write(DPLLCTRLB, REFCLK_GCLK),
        Step::Write(DPLLCTRLA, ENABLE),
        Step::Wait(200),
        Step::Write(GENCTRL, GENEN | FDPLL_SOURCE),
    ];
    let mut machine = clocked_machine("samd21", &steps);
    assert_eq!(machine.clock_hz(), 1_000_000);
    run(&mut *machine, 2_000);
    assert_eq!(machine.clock_hz(), 48_000_000);
}
