//! The RP2040: its registers as a program sees them through the bus, and its start.

mod dma;
mod pio;
mod programs;
mod serial;

use super::programs::run;
use super::stm32_peripherals::Bench;
use mcu::{Fault, ResetCause};

const SYSINFO: u32 = 0x4000_0000;
const CLOCKS: u32 = 0x4000_8000;
const CLK_REF: u32 = CLOCKS + 0x30;
const CLK_SYS: u32 = CLOCKS + 0x3c;
const CLK_PERI: u32 = CLOCKS + 0x48;
const RESETS: u32 = 0x4000_c000;
const PSM: u32 = 0x4001_0000;
const IO_BANK0: u32 = 0x4001_4000;
const PADS_BANK0: u32 = 0x4001_c000;
const XOSC: u32 = 0x4002_4000;
const PLL_SYS: u32 = 0x4002_8000;
const UART0: u32 = 0x4003_4000;
const PWM: u32 = 0x4005_0000;
const TIMER: u32 = 0x4005_4000;
const WATCHDOG: u32 = 0x4005_8000;
const SSI: u32 = 0x1800_0000;
const SIO: u32 = 0xd000_0000;
/// The aliases of section 2.1.2.
const XOR: u32 = 0x1000;
const SET: u32 = 0x2000;
const CLEAR: u32 = 0x3000;

/// The machine's peripherals at 125 MHz.
fn bench() -> Bench {
    let mut bench = Bench::new("rp2040");
    bench.bus.board = mcu::Board::new(125_000_000);
    bench.bus.reset();
    bench
}

fn says<T: std::fmt::Debug>(result: Result<T, Fault>, words: &str) {
    let fault = format!("{:?}", result.expect_err("a fault"));
    assert!(fault.contains(words), "{fault}");
}

/// The crystal, PLL_SYS at 125 MHz, the tick of a microsecond and clk_peri of clk_sys; nothing held
/// in reset.
fn at_125_mhz(bench: &mut Bench) {
    bench.write(RESETS, 0);
    bench.write(XOSC, 0x00fa_baa0);
    bench.write(PLL_SYS + 8, 125);
    bench.write(PLL_SYS + 0xc, 6 << 16 | 2 << 12);
    bench.write(PLL_SYS + CLEAR + 4, 1 << 5 | 1 << 3 | 1);
    bench.write(CLK_REF, 2);
    bench.write(CLK_SYS + SET, 1);
    bench.write(WATCHDOG + 0x2c, 1 << 9 | 12);
    bench.write(CLK_PERI, 1 << 11);
}

/// Section 2.13: who holds SIO and the second core in reset waits until FRCE_OFF says so, as boot
/// code does. SIO begins anew; the processor behind it goes on if it is forced to.
#[test]
fn the_power_on_state_machine_resets_sio() {
    const SIO_AND_PROC1: u32 = 1 << 16 | 1 << 14;
    const PROC0: u32 = 1 << 15;
    const SPINLOCK31: u32 = SIO + 0x17c;
    let mut bench = bench();
    assert_ne!(bench.read(SPINLOCK31), 0);
    assert_eq!(bench.read(SPINLOCK31), 0, "taken");
    says(self::bench().try_write(PSM + 4, SIO_AND_PROC1), "the processor with it");
    bench.write(PSM, PROC0);
    bench.write(PSM + SET + 4, SIO_AND_PROC1);
    assert_eq!([0, 4, 0xc].map(|at| bench.read(PSM + at)), [PROC0, SIO_AND_PROC1, 0xbfff]);
    says(bench.bus.read(SIO, 4, 0, 0, None), "SIO is held in reset");
    bench.write(PSM + CLEAR + 4, SIO_AND_PROC1);
    bench.write(PSM, 0);
    assert_eq!([0, 4, 0xc].map(|at| bench.read(PSM + at)), [0, 0, 0x1_ffff]);
    assert_ne!(bench.read(SPINLOCK31), 0);
    says(bench.try_write(PSM + 4, 1), "powering parts");
}

/// Section 2.1.4, the example: narrow writes fill the register, narrow reads pick their bytes.
/// Section 2.1.2: the aliases.
#[test]
fn registers_have_aliases_and_take_words() {
    let mut bench = bench();
    let scratch = WATCHDOG + 0x0c;
    bench.write(scratch, 0xdead_beef);
    let byte = |bench: &mut Bench, at| bench.bus.read(scratch + at, 1, 0, 0, None).expect("a byte");
    assert_eq!([0, 1, 2, 3].map(|at| byte(&mut bench, at)), [0xef, 0xbe, 0xad, 0xde]);
    bench.write_part(scratch, 1, 0xa5);
    assert_eq!(bench.read(scratch), 0xa5a5_a5a5);
    bench.write_part(scratch + 1, 1, 0x3c);
    assert_eq!(bench.read(scratch), 0x3c3c_3c3c);
    bench.write_part(scratch, 2, 0xf00d);
    assert_eq!(bench.read(scratch), 0xf00d_f00d);
    bench.write(scratch + XOR, 0xf);
    assert_eq!(bench.read(scratch), 0xf00d_f002);
    bench.write(scratch + SET, 0x10);
    assert_eq!(bench.read(scratch), 0xf00d_f012);
    bench.write(scratch + CLEAR, 0xf000_0000);
    assert_eq!(bench.read(scratch), 0x000d_f012);
}

/// Section 2.14: what the boot ROM has not released is in reset, and RESET_DONE follows. Section
/// 2.20: version B2.
#[test]
fn blocks_are_held_in_reset() {
    let mut bench = bench();
    assert_eq!(bench.read(RESETS), 0x01ff_ffff & !(1 << 6 | 1 << 9 | 1 << 21));
    says(bench.try_write(UART0 + 0x24, 1), "held in reset");
    says(bench.try_write(PLL_SYS, 1), "pll_sys is held in reset");
    says(bench.try_write(IO_BANK0 + 4, 5), "IO_BANK0 is held in reset");
    bench.write(RESETS + CLEAR, 1 << 22 | 1 << 19);
    assert_eq!(bench.read(RESETS + 8), 1 << 6 | 1 << 9 | 1 << 21 | 1 << 22 | 1 << 19);
    assert_eq!(bench.read(SYSINFO), 0x2000_2927);
    bench.write(UART0 + 0x24, 67);
    assert_eq!(bench.read(UART0 + 0x24), 67);
    bench.write(RESETS + SET, 1 << 22);
    bench.write(RESETS + CLEAR, 1 << 22);
    assert_eq!(bench.read(UART0 + 0x24), 0, "a reset clears it");
}

/// Section 4.1.4: what a program without USB does to switch it off.
#[test]
fn usb_can_be_switched_off() {
    const SIE_CTRL: u32 = 0x5011_004c;
    let mut bench = bench();
    bench.write(SIE_CTRL + SET, 1 << 18);
    assert_eq!(bench.read(SIE_CTRL), 0, "held in reset");
    bench.write(RESETS + CLEAR, 1 << 24);
    bench.write(SIE_CTRL + SET, 1 << 18);
    assert_eq!(bench.read(SIE_CTRL), 1 << 18);
    says(bench.try_write(SIE_CTRL + SET, 1 << 13), "as a host");
}

/// Section 2.16.4: STARTUP 47 is 47 * 256 cycles of the 12 MHz crystal, 125,333 of 125 MHz.
#[test]
fn the_crystal_takes_its_time() {
    let mut bench = bench();
    bench.write(XOSC + 0xc, 47);
    bench.write(XOSC, 0xaa0);
    assert_eq!(bench.read(XOSC + 4), 0);
    bench.write(XOSC + SET, 0xfab << 12);
    let ready = bench.now + 125_333;
    bench.now = ready - 1;
    assert_eq!(bench.read(XOSC + 4), 1 << 12);
    bench.now = ready;
    assert_eq!(bench.read(XOSC + 4), 1 << 31 | 1 << 12);
}

/// Section 2.18.1: 12 MHz * 125 / (6 * 2) is 125 MHz, as the SDK sets it. Section 2.15.3: the
/// multiplexers say what they have selected.
#[test]
fn the_pll_makes_the_clock() {
    let mut bench = bench();
    at_125_mhz(&mut bench);
    assert_eq!(bench.read(PLL_SYS) >> 31, 1, "locked");
    assert_eq!(bench.bus.events.generic_clocks_hz[4..7], [12_000_000, 125_000_000, 125_000_000]);
    assert_eq!(bench.bus.events.generic_clocks_hz[10], 1_000_000, "the tick");
    assert_eq!((bench.read(CLK_REF + 8), bench.read(CLK_SYS + 8)), (1 << 2, 1 << 1));
    // clk_sys by 2.5.
    bench.write(CLK_SYS + 4, 2 << 8 | 0x80);
    assert_eq!(bench.bus.events.generic_clocks_hz[5], 50_000_000);
    bench.write(CLK_SYS + 4, 1 << 8);
    // 132 is 132 MHz: beyond what this machine is run at.
    says(bench.try_write(PLL_SYS + 8, 132), "run it at the program's clock");
    let mut bench = self::bench();
    bench.write(RESETS, 0);
    says(bench.try_write(CLK_SYS, 1), "stands still");
}

/// Section 2.3.1.5: eight cycles; the quotient's sign, and what a division by zero gives.
#[test]
fn the_divider_takes_eight_cycles() {
    let mut bench = bench();
    let mut divide = |first: u32, n: u32, m: u32| {
        bench.write(SIO + first, n);
        bench.write(SIO + first + 4, m);
        bench.now += 7;
        assert_eq!(bench.read(SIO + 0x78), 2, "not ready, and dirty");
        says(bench.bus.read(SIO + 0x70, 4, bench.now, 0, None), "eight cycles");
        bench.now += 1;
        assert_eq!(bench.read(SIO + 0x78), 3);
        let remainder = bench.read(SIO + 0x74);
        let quotient = bench.read(SIO + 0x70);
        assert_eq!(bench.read(SIO + 0x78), 1, "reading the quotient ends it");
        (quotient, remainder)
    };
    assert_eq!(divide(0x60, 1000, 7), (142, 6));
    assert_eq!(divide(0x68, -1000i32 as u32, 7), (-142i32 as u32, -6i32 as u32));
    assert_eq!(divide(0x60, 5, 0), (u32::MAX, 5));
    assert_eq!(divide(0x68, -5i32 as u32, 0), (1, -5i32 as u32));
}

/// Section 2.3.1.3: a read claims a spinlock, and the state of all can be read.
#[test]
fn spinlocks_are_claimed_once() {
    let mut bench = bench();
    assert_eq!(bench.read(SIO + 0x100 + 4 * 9), 1 << 9);
    assert_eq!(bench.read(SIO + 0x100 + 4 * 9), 0);
    assert_eq!(bench.read(SIO + 0x5c), 1 << 9);
    bench.write(SIO + 0x100 + 4 * 9, 0);
    assert_eq!(bench.read(SIO + 0x5c), 0);
}

/// A pin is SIO's to drive once FUNCSEL is 5; an input wakes its interrupt by an edge and is pulled
/// as its pad says.
#[test]
fn pins_belong_to_sio_and_interrupt() {
    let mut bench = bench();
    bench.write(RESETS, 0);
    // The second core's greeting interrupts until it is read.
    assert_eq!(bench.read(SIO + 0x58), 0);
    bench.write(SIO + 0x14, 1 << 25);
    bench.write(SIO + 0x24, 1 << 25);
    assert_eq!(bench.seen.pins, []);
    bench.write(IO_BANK0 + 8 * 25 + 4, 5);
    bench.write(SIO + 0x1c, 1 << 25);
    let pin = |high, cycles| ("GPIO".to_string(), 25, high, cycles);
    assert_eq!(bench.seen.pins, [pin(true, 4), pin(false, 5)]);
    // Pin 3: falling edges; its pull-up instead of the pull-down.
    bench.write(IO_BANK0 + 0x100, 4 << 12);
    assert_eq!(bench.read(SIO + 4), 0);
    bench.write(PADS_BANK0 + 4 + 4 * 3, 0x4a);
    assert_eq!(bench.read(SIO + 4), 1 << 3);
    assert_eq!(bench.bus.requests, 0);
    bench.write(PADS_BANK0 + 4 + 4 * 3, 0x56);
    assert_eq!(bench.bus.requests, 1 << 13);
    assert_eq!(bench.read(IO_BANK0 + 0x120), 4 << 12);
    bench.write(IO_BANK0 + 0xf0, 4 << 12);
    assert_eq!(bench.bus.requests, 0);
}

/// Section 4.6: microseconds; reading the low half latches the high one; an alarm goes off when the
/// low half is its own.
#[test]
fn the_timer_counts_microseconds() {
    let mut bench = bench();
    at_125_mhz(&mut bench);
    let start = bench.read(TIMER + 0x28);
    bench.now += 125 * 1000;
    assert_eq!(bench.read(TIMER + 0x28) - start, 1000);
    bench.write(TIMER + 4, 0xffff_fff0);
    bench.write(TIMER, 7);
    bench.now += 125 * 32;
    assert_eq!((bench.read(TIMER + 0xc), bench.read(TIMER + 8)), (0x10, 8));
    bench.write(TIMER + 0x38, 2);
    let set = bench.now;
    bench.write(TIMER + 0x14, 0x10 + 100);
    assert_eq!(bench.read(TIMER + 0x20), 2);
    bench.advance(set + 99 * 125);
    assert_eq!((bench.bus.requests, bench.read(TIMER + 0x34)), (0, 0));
    bench.advance(set + 100 * 125);
    assert_eq!((bench.bus.requests, bench.read(TIMER + 0x20)), (1 << 1, 0));
    bench.write(TIMER + 0x34, 2);
    assert_eq!(bench.bus.requests, 0);
}

/// Section 4.2.3.2: 125 MHz and a divisor of 67 + 52/64 are 16 * 67.8125 = 1085 cycles a bit; ten
/// bits are 10,850.
#[test]
fn characters_take_ten_bits() {
    let mut bench = bench();
    at_125_mhz(&mut bench);
    bench.write(UART0 + 0x24, 67);
    bench.write(UART0 + 0x28, 52);
    bench.write(UART0 + 0x2c, 3 << 5 | 1 << 4);
    says(bench.try_write(UART0, 1), "transmitter is off");
    bench.write(UART0 + 0x30, 1 << 9 | 1 << 8 | 1);
    assert_eq!(bench.read(UART0 + 0x18), 0x90);
    for byte in b"RP" {
        bench.write(UART0, u32::from(*byte));
    }
    let start = bench.now - 1;
    assert_eq!(bench.read(UART0 + 0x18), 1 << 4 | 1 << 3);
    bench.advance(start + 21_700);
    let byte = |byte, end: u64| ("UART0".to_string(), byte, start + end);
    assert_eq!(bench.seen.bytes, [byte(b'R', 10_850), byte(b'P', 21_700)]);
    assert_eq!(bench.read(UART0 + 0x18), 0x90);
    // What comes in: the receive timeout is 32 bits after the last character.
    bench.write(UART0 + 0x38, 1 << 6);
    let now = bench.now;
    assert!(bench.bus.uart_receive("UART0", b"a", now));
    bench.advance(now + 10_850 + 32 * 1085 - 1);
    assert_eq!(bench.bus.requests, 0);
    bench.advance(now + 10_850 + 32 * 1085);
    assert_eq!(bench.bus.requests, 1 << 20);
    assert_eq!(bench.read(UART0), u32::from(b'a'));
    assert_eq!(bench.bus.requests, 0);
}

/// Section 4.7 and RP2040-E1: a count is half a microsecond. The scratch registers outlive it.
#[test]
fn the_watchdog_counts_twice_a_tick() {
    let mut bench = bench();
    at_125_mhz(&mut bench);
    bench.write(WATCHDOG + 0x0c, 0x1234);
    bench.write(WATCHDOG + 4, 2000);
    says(bench.try_write(WATCHDOG + SET, 1 << 30), "PSM.WDSEL");
    let mut bench = self::bench();
    at_125_mhz(&mut bench);
    bench.write(PSM + 8, 0x1_fffc);
    bench.write(WATCHDOG + 0x0c, 0x1234);
    bench.write(WATCHDOG + 4, 2000);
    bench.write(WATCHDOG + SET, 1 << 30);
    let due = bench.now + 125 * 1000;
    assert_eq!(bench.bus.due, due);
    bench.now = due;
    bench.bus.tick(due, 0, None);
    bench.bus.reset_by(ResetCause::Watchdog, due, 0);
    assert_eq!((bench.read(WATCHDOG + 8), bench.read(WATCHDOG + 0x0c)), (1, 0x1234));
}

/// Section 4.10: boot code asks the flash for its status by frames of eight bits, which take 8 *
/// BAUDR cycles each.
#[test]
fn the_flash_answers_boot_code() {
    let mut bench = bench();
    bench.write(SSI + 0x14, 4);
    bench.write(SSI, 7 << 16);
    bench.write(SSI + 8, 1);
    bench.write(SSI + 0x60, 0x35);
    bench.write(SSI + 0x60, 0);
    assert_eq!(bench.read(SSI + 0x28), 3);
    bench.now += 64;
    assert_eq!(bench.read(SSI + 0x28), 0xe);
    bench.read(SSI + 0x60);
    assert_eq!(bench.read(SSI + 0x60), 2, "quad mode is on");
    bench.write(SSI + 0x60, 0x9f);
    bench.now += 32;
    bench.read(SSI + 0x60);
    // The flash's own number, behind four bytes without meaning.
    for byte in [0x4b, 0, 0, 0, 0, 0, 0] {
        bench.write(SSI + 0x60, byte);
    }
    bench.now += 7 * 32;
    assert_eq!([0; 7].map(|_| bench.read(SSI + 0x60)), [0xff, 0xff, 0xff, 0xff, 0xff, 0, 1]);
    says(bench.try_write(SSI + 0x14, 2), "while it is on");
    let mut bench = self::bench();
    bench.write(SSI, 7 << 16);
    bench.write(SSI + 8, 1);
    bench.write(SSI + 0x60, 0x03);
    says(bench.try_write(SSI + 0x60, 0), "only those of its status");
}

/// Section 4.5.2: a slice wraps after TOP + 1 counts of the divided clock, and a channel is high
/// while the counter is below its level, at each pin that IO_BANK0 gives it; levels are taken over
/// at the wrap.
#[test]
fn a_pwm_slice_moves_its_pins() {
    let mut bench = bench();
    at_125_mhz(&mut bench);
    // GPIO2 is A and GPIO3 B of slice 1; GPIO18 has A, too.
    for pin in [2, 3, 18] {
        bench.write(IO_BANK0 + 8 * pin + 4, 4);
    }
    let slice = PWM + 0x14;
    bench.write(slice + 4, 2 << 4);
    bench.write(slice + 0x10, 9);
    bench.write(slice + 0xc, 7 << 16 | 3);
    bench.write(PWM + 0xa8, 2);
    bench.seen.pins.clear();
    bench.write(slice, 1);
    let start = bench.now;
    bench.write(slice + 0xc, 7 << 16 | 5);
    assert_eq!(bench.bus.requests, 0);
    bench.advance(start + 20);
    assert_eq!(bench.bus.requests, 1 << 4, "PWM_IRQ_WRAP");
    bench.write(PWM + 0xa4, 2);
    assert_eq!(bench.bus.requests, 0);
    bench.advance(start + 34);
    let edge = |pin, high, at: u64| ("GPIO".to_string(), pin, high, start + at);
    let expected = [
        edge(2, false, 6),
        edge(18, false, 6),
        edge(3, false, 14),
        edge(2, true, 20),
        edge(3, true, 20),
        edge(18, true, 20),
        edge(2, false, 30),
        edge(18, false, 30),
        edge(3, false, 34),
    ];
    assert_eq!(bench.seen.pins, expected);
    // CTR: 14 of 20 cycles are seven counts.
    assert_eq!(bench.read(slice + 8), 7);
    says(bench.try_write(slice, 1 << 4 | 1), "DIVMODE");
    // A slice that stands still may have any counter, one that counts may not.
    bench.write(slice, 0);
    bench.write(slice + 0x10, 5);
    assert_eq!(bench.read(slice + 8), 8);
    says(bench.try_write(slice, 1), "beyond TOP");
    bench.write(slice + 8, 5);
    bench.write(RESETS + SET, 1 << 14);
    says(bench.try_write(slice, 1), "held in reset");
}

/// Phase-correct: up to TOP and back, in twice as many counts, so that a channel of level 3 is high
/// for three counts on both sides of 0.
#[test]
fn a_phase_correct_slice_takes_twice_as_long() {
    let mut bench = bench();
    at_125_mhz(&mut bench);
    bench.write(IO_BANK0 + 4, 4);
    bench.write(PWM + 0x10, 9);
    bench.write(PWM + 0xc, 3);
    bench.seen.pins.clear();
    bench.write(PWM, 3);
    let start = bench.now;
    bench.advance(start + 43);
    let edges: Vec<_> = bench.seen.pins.iter().map(|(_, pin, high, at)| (*pin, *high, at - start)).collect();
    assert_eq!(edges, [(0, false, 3), (0, true, 17), (0, false, 23), (0, true, 37), (0, false, 43)]);
    assert_eq!((bench.read(PWM + 8), bench.read(PWM + 0xa4)), (3, 1));
}
