//! The SAM D21's peripherals as a program sees them through the bus.

use super::stm32_peripherals::Bench;
use mcu::{Board, Fault, ResetCause};

const PM: u32 = 0x4000_0400;
const SYSCTRL: u32 = 0x4000_0800;
const GCLK: u32 = 0x4000_0c00;
const NVMCTRL: u32 = 0x4100_4000;
const PORTA: u32 = 0x4100_4400;
const IOBUS_A: u32 = 0x6000_0000;
const SERCOM0: u32 = 0x4200_0800;
const ADC: u32 = 0x4200_4000;
const TCC0: u32 = 0x4200_2000;
const TC3: u32 = 0x4200_2c00;

/// A machine's peripherals at 48 MHz.
pub fn bench() -> Bench {
    let mut bench = Bench::new("samd21");
    bench.bus.board = Board::new(48_000_000);
    bench.bus.board.supply_v = 3.3;
    bench
}

pub fn says(result: Result<(), Fault>, words: &str) {
    let fault = format!("{:?}", result.expect_err("a fault"));
    assert!(fault.contains(words), "{fault}");
}

/// Generator 0 on DFLL48M in open loop.
fn at_48_mhz(bench: &mut Bench) {
    bench.write(NVMCTRL + 4, 1 << 1);
    bench.write_part(SYSCTRL + 0x24, 2, 1 << 1);
    bench.write(GCLK + 4, 1 << 16 | 7 << 8);
}

/// DS40001882F sections 15.8.4, 16.8.14, 17.8.9: what a program finds after power-up.
#[test]
fn the_system_starts_on_the_internal_oscillator() {
    let mut bench = bench();
    assert_eq!(bench.read(SYSCTRL + 0x20), 0x8707_0382);
    assert_eq!(bench.read(GCLK + 4), 0x0001_0600, "generator 0: OSC8M");
    bench.write_part(GCLK + 4, 1, 2);
    assert_eq!(bench.read(GCLK + 4), 0x0001_0302, "generator 2: OSCULP32K");
    assert_eq!((bench.read(PM + 0x38), bench.read(NVMCTRL + 8)), (1, 0x0003_1000));
    bench.bus.reset_by(ResetCause::Software, 0, 0);
    assert_eq!(bench.read(PM + 0x38), 1 << 6);
}

/// Table 17-9: STARTUP 6 is 65,536 cycles of OSCULP32K and three of XOSC32K; at 48 MHz 96,000,000
/// and 4,394 cycles.
#[test]
fn the_crystal_takes_its_time() {
    let mut bench = bench();
    bench.write_part(SYSCTRL + 0x14, 2, 6 << 8 | 1 << 3 | 1 << 2 | 1 << 1);
    let ready = bench.now + 96_004_394;
    bench.now = ready - 1;
    assert_eq!(bench.read(SYSCTRL + 0xc) & 2, 0);
    bench.now = ready;
    assert_eq!(bench.read(SYSCTRL + 0xc) & 2, 2);
}

/// Section 37.12: 24 MHz without wait states from 2.7 V up. Without the source that it is given the
/// core stands still.
#[test]
fn the_clock_needs_wait_states_and_a_source() {
    let mut bench = bench();
    says(bench.try_write(GCLK + 4, 1 << 16 | 7 << 8), "no source that runs");
    let mut bench = self::bench();
    bench.write_part(SYSCTRL + 0x24, 2, 1 << 1);
    says(bench.try_write(GCLK + 4, 1 << 16 | 7 << 8), "0 wait states are too few");
    let mut bench = self::bench();
    at_48_mhz(&mut bench);
    says(bench.try_write(NVMCTRL + 4, 0), "0 wait states are too few");
}

/// Closed loop: 1465 times 32,768 Hz is 48,005,120 Hz, as ports of other projects set it; 1466
/// times is beyond the part's limit.
#[test]
fn a_closed_loop_multiplies_its_reference() {
    let mut bench = bench();
    bench.write(NVMCTRL + 4, 1 << 1);
    bench.write_part(SYSCTRL + 0x14, 2, 1 << 3 | 1 << 2 | 1 << 1);
    bench.write(GCLK + 4, 1 << 16 | 5 << 8 | 1);
    bench.write_part(GCLK + 2, 2, 1 << 14 | 1 << 8);
    bench.write(SYSCTRL + 0x2c, 1465);
    bench.write_part(SYSCTRL + 0x24, 2, 1 << 2 | 1 << 1);
    assert_eq!(bench.read(SYSCTRL + 0xc) & 0xd0, 0xd0, "ready and locked");
    bench.write(GCLK + 4, 1 << 16 | 7 << 8);
    says(bench.try_write(SYSCTRL + 0x2c, 1466), "more than it has");
}

/// Section 23.8: clear, set and toggle, at both addresses; a pin that a module has taken is not
/// driven.
#[test]
fn pins_are_set_at_both_addresses() {
    let mut bench = bench();
    bench.write(PORTA + 0x08, 1 << 17 | 1 << 3);
    bench.write(IOBUS_A + 0x18, 1 << 17);
    bench.write(PORTA + 0x1c, 1 << 17 | 1 << 3);
    bench.write(IOBUS_A + 0x14, 1 << 3);
    let port = |pin, high, cycles| ("PORTA".to_string(), pin, high, cycles);
    assert_eq!(bench.seen.pins, [port(17, true, 2), port(3, true, 3), port(17, false, 3), port(3, false, 4)]);
    // PMUXEN through WRCONFIG: upper half, function C.
    bench.write(PORTA + 0x10, 1 << 17);
    bench.write(PORTA + 0x28, 1 << 31 | 1 << 30 | 1 << 28 | 2 << 24 | 1 << 16 | 1 << 1);
    assert_eq!(bench.seen.pins.last(), Some(&port(17, false, 6)));
    assert_eq!(bench.read(PORTA + 0x38), 0x20, "PMUX8");
    // A pull-up, with the input buffer on.
    bench.write(PORTA + 0x10, 1 << 15);
    assert_eq!(bench.read(PORTA + 0x20), 0);
    bench.write_part(PORTA + 0x4f, 1, 6);
    assert_eq!(bench.read(PORTA + 0x20), 1 << 15);
}

/// Table 25-2: 48 MHz and BAUD 63019 give 115,203 baud: 16 * 65536 / 2517 = 416.6 cycles a bit; ten
/// bits are 4,165.9 cycles.
#[test]
fn characters_take_ten_bits() {
    let mut bench = bench();
    at_48_mhz(&mut bench);
    bench.write_part(GCLK + 2, 2, 1 << 14 | 0x14);
    bench.write(SERCOM0, 1 << 30 | 1 << 2);
    bench.write(SERCOM0 + 4, 1 << 16);
    bench.write_part(SERCOM0 + 0xc, 2, 63019);
    says(bench.try_write(SERCOM0 + 0x28, 1), "transmitter is off");
    bench.write(SERCOM0, 1 << 30 | 1 << 2 | 1 << 1);
    bench.write_part(SERCOM0 + 0x16, 1, 2);
    bench.write_part(SERCOM0 + 0x28, 2, b'a'.into());
    let began = bench.now;
    assert_eq!(bench.read(SERCOM0 + 0x18), 1, "empty again");
    bench.write_part(SERCOM0 + 0x28, 2, b'b'.into());
    assert_eq!((bench.read(SERCOM0 + 0x18), bench.bus.requests), (0, 0));
    bench.advance(began + 2 * 4165);
    let name = || "SERCOM0".to_string();
    assert_eq!(bench.seen.bytes, [(name(), b'a', began + 4165), (name(), b'b', began + 2 * 4165)]);
    assert_eq!((bench.read(SERCOM0 + 0x18), bench.bus.requests), (3, 1 << 9));
    bench.write_part(SERCOM0 + 0x18, 1, 2);
    assert_eq!(bench.bus.requests, 0);
    says(bench.try_write(SERCOM0, 3 << 2 | 2), "only the asynchronous USART");
}

/// Section 25.6.2.3: fractional, f / (16 * (BAUD + FP / 8)): 26 and 1/8 at 48 MHz, 418 cycles a
/// bit.
#[test]
fn a_fractional_baud_rate() {
    let mut bench = bench();
    at_48_mhz(&mut bench);
    bench.write_part(GCLK + 2, 2, 1 << 14 | 0x14);
    bench.write(SERCOM0 + 4, 1 << 16);
    bench.write_part(SERCOM0 + 0xc, 2, 1 << 13 | 26);
    bench.write(SERCOM0, 1 << 13 | 1 << 2 | 1 << 1);
    bench.write_part(SERCOM0 + 0x28, 2, b'a'.into());
    let began = bench.now;
    bench.advance(began + 4180);
    assert_eq!(bench.seen.bytes, [("SERCOM0".to_string(), b'a', began + 4180)]);
}

/// Section 30.6.2.6: MFRQ, 16 bits, a period of CC0 + 1 counts; the flags of overflow and match
/// come with the count after CC0.
#[test]
fn a_timer_matches_its_frequency() {
    let mut bench = bench();
    at_48_mhz(&mut bench);
    bench.write_part(GCLK + 2, 2, 1 << 14 | 0x1b);
    bench.write_part(TC3 + 0x18, 2, 99);
    bench.write_part(TC3 + 0x1a, 2, 9);
    bench.write_part(TC3 + 0xd, 1, 1 << 4);
    // A sixteenth of the clock.
    bench.write_part(TC3, 2, 4 << 8 | 1 << 5 | 1 << 1);
    let began = bench.now;
    assert_eq!(bench.bus.due, began + 1600);
    bench.now = began + 159;
    assert_eq!((bench.read(TC3 + 0x10), bench.read(TC3 + 0xc) >> 16 & 0x31), (9, 0));
    bench.now = began + 160;
    assert_eq!((bench.read(TC3 + 0x10), bench.read(TC3 + 0xc) >> 16 & 0x31), (10, 0x20));
    bench.advance(began + 1599);
    assert_eq!(bench.bus.requests, 0);
    bench.advance(began + 1600);
    assert_eq!((bench.bus.requests, bench.read(TC3 + 0x10)), (1 << 18, 0));
    assert_eq!(bench.read(TC3 + 0xc) >> 16 & 0x31, 0x31);
    bench.write_part(TC3 + 0xe, 1, 0x31);
    assert_eq!((bench.bus.requests, bench.bus.due), (0, began + 3200));
    // A long time later, 1,000 periods and seven counts.
    bench.write_part(TC3 + 0xc, 1, 1 << 4);
    bench.now = began + 1_600_000 + 7 * 16;
    assert_eq!(bench.read(TC3 + 0x10), 7);
    says(bench.try_write(TC3 + 4, 1 << 8), "counting down");
}

/// With one period it stops at 0; with 8 bits PER is its top.
#[test]
fn a_timer_of_eight_bits_counts_once() {
    let mut bench = bench();
    at_48_mhz(&mut bench);
    bench.write_part(GCLK + 2, 2, 1 << 14 | 0x1b);
    bench.write_part(TC3, 2, 1 << 2);
    bench.write_part(TC3 + 0x14, 1, 49);
    bench.write_part(TC3 + 5, 1, 1 << 2);
    bench.write_part(TC3, 2, 1 << 2 | 1 << 1);
    let began = bench.now;
    bench.now = began + 49;
    assert_eq!((bench.read(TC3 + 0x10), bench.read(TC3 + 0xc) >> 24 & 8), (49, 0));
    bench.now = began + 500;
    assert_eq!((bench.read(TC3 + 0x10), bench.read(TC3 + 0xc) >> 24 & 8), (0, 8));
    // RETRIGGER.
    bench.write_part(TC3 + 5, 1, 1 << 6);
    bench.now += 20;
    assert_eq!(bench.read(TC3 + 0x10), 20);
}

/// Section 30.6.2.4: an even one counts with 32 bits, with the next as its slave; COUNT and CC0 and
/// CC1 are words.
#[test]
fn a_timer_of_32_bits_has_a_slave() {
    const TC4: u32 = 0x4200_3000;
    let mut bench = bench();
    at_48_mhz(&mut bench);
    bench.write_part(GCLK + 2, 2, 1 << 14 | 0x1b);
    bench.write_part(GCLK + 2, 2, 1 << 14 | 0x1c);
    says(bench.bus.write(TC3, 2, 2 << 2 | 1 << 1, bench.now, 0, None), "it has no slave");
    says(bench.bus.write(TC4, 2, 3 << 2 | 1 << 1, bench.now, 0, None), "reserved");
    bench.write_part(TC4, 2, 2 << 2 | 1 << 1);
    let began = bench.now;
    bench.now = began + 0x1234_5678;
    assert_eq!(bench.read(TC4 + 0x10), 0x1234_5678);
    bench.write(TC4 + 0x18, 0x1234_5700);
    bench.write(TC4 + 0x1c, 0x1234_5600);
    assert_eq!((bench.read(TC4 + 0x18), bench.read(TC4 + 0x1c)), (0x1234_5700, 0x1234_5600));
    bench.write_part(TC4 + 0xe, 1, 0x31);
    bench.write_part(TC4 + 0xd, 1, 1 << 4);
    assert_eq!(bench.bus.due, began + 0x1234_5701);
    bench.advance(began + 0x1234_5701);
    assert_eq!((bench.bus.requests, bench.read(TC4 + 0xc) >> 16 & 0x31), (1 << 19, 0x10));
    // It overflows, and comes to CC1.
    bench.write_part(TC4 + 0xc, 1, 1 << 4);
    bench.now = began + 0xffff_ffff;
    assert_eq!((bench.read(TC4 + 0x10), bench.read(TC4 + 0xc) >> 16 & 0x31), (u32::MAX, 0x10));
    bench.now = began + 0x1_0000_0000;
    assert_eq!((bench.read(TC4 + 0x10), bench.read(TC4 + 0xc) >> 16 & 0x31), (0, 0x11));
    bench.now = began + 0x1_1234_5601;
    assert_eq!(bench.read(TC4 + 0xc) >> 16 & 0x31, 0x31);
}

/// As the Arduino core's `analogRead` does it: GCLK_ADC of generator 0 by 512, half the supply as
/// the reference and half the gain, 10 bits. 1 + 5 + 1.5 clocks and 63 halves for SAMPLEN are 39
/// clocks of 512 cycles.
#[test]
fn the_converter_takes_its_clocks() {
    let mut bench = bench();
    at_48_mhz(&mut bench);
    bench.bus.board.set_analog(2, 1.65);
    bench.write_part(ADC + 0xc, 1, 2);
    assert_eq!(bench.bus.due, u64::MAX, "it is off");
    bench.write_part(ADC, 1, 2);
    says(bench.try_write(ADC + 0xc, 2), "without a generic clock");
    bench.write_part(GCLK + 2, 2, 1 << 14 | 30);
    bench.write_part(ADC + 4, 2, 7 << 8 | 2 << 4);
    bench.write_part(ADC + 3, 1, 63);
    bench.write(ADC + 0x10, 0x0f << 24 | 0x18 << 8 | 2);
    bench.write_part(ADC + 1, 1, 2);
    bench.write_part(ADC + 0x17, 1, 1);
    bench.write_part(ADC + 0xc, 1, 2);
    let end = bench.now + 39 * 512;
    bench.advance(end - 1);
    assert_eq!(bench.bus.requests, 0);
    bench.advance(end);
    assert_eq!(bench.bus.requests, 1 << 23);
    assert_eq!(bench.read(ADC + 0x18) & 0xff, 9);
    // Half of the supply, of which 1023 is all.
    assert_eq!(bench.read(ADC + 0x18) >> 16, 512);
    assert_eq!((bench.bus.requests, bench.read(ADC + 0x18) & 1), (0, 0), "RESRDY goes with RESULT");
    // Differential, 12 bits, gain 1, against INT1V: AIN2 - AIN3 = -0.25 V, and free running in six
    // clocks.
    bench.bus.board.set_analog(2, 1.5);
    bench.bus.board.set_analog(3, 1.75);
    bench.write_part(ADC + 4, 2, 7 << 8 | 1 << 2 | 1);
    bench.write_part(ADC + 3, 1, 0);
    bench.write(ADC + 0x10, 3 << 8 | 2);
    bench.write_part(ADC + 1, 1, 0);
    bench.write_part(ADC + 0xc, 1, 2);
    let first = bench.now + 7 * 512;
    bench.advance(first);
    assert_eq!(bench.bus.due, first + 6 * 512);
    assert_eq!(bench.read(ADC + 0x18) >> 16, 0xfe00);
    bench.advance(first + 12 * 512);
    assert_eq!(bench.read(ADC + 0x18) & 0xff, 0xb, "a result was lost");
    bench.write_part(ADC, 1, 0);
    assert_eq!(bench.bus.due, u64::MAX);
}

/// 48 MHz by 4 is too fast (section 37.11.4), and what has no model is said.
#[test]
fn converter_refuses_unmodelled_settings() {
    let mut bench = bench();
    at_48_mhz(&mut bench);
    bench.write_part(GCLK + 2, 2, 1 << 14 | 30);
    bench.write_part(ADC, 1, 2);
    says(bench.try_write(ADC + 0xc, 2), "12000000 Hz");
    says(bench.try_write(ADC + 8, 1), "window monitor");
    bench.write_part(ADC + 4, 2, 7 << 8);
    bench.write_part(ADC + 2, 1, 4);
    says(bench.try_write(ADC + 0xc, 2), "averaging");
}

/// Normal PWM (section 31.6.2.5) as the Arduino core's `analogWrite` sets it up: high for CC0 of
/// PER + 1 counts, at each pin that PMUX gives output 0 or, of the same channel, output 4; what
/// CCB0 has comes with the next period.
#[test]
fn a_tcc_moves_its_pins() {
    let mut bench = bench();
    at_48_mhz(&mut bench);
    says(bench.try_write(TCC0, 2), "without a generic clock");
    bench.write_part(GCLK + 2, 2, 1 << 14 | 26);
    // PA8: function E, WO0. PA14: function F, WO4. PA15: function E, TC3's.
    bench.write_part(PORTA + 0x30 + 4, 1, 4);
    bench.write_part(PORTA + 0x30 + 7, 1, 4 << 4 | 5);
    for pin in [8, 14, 15] {
        bench.write_part(PORTA + 0x40 + pin, 1, 1);
    }
    bench.write(TCC0 + 0x3c, 2);
    bench.write(TCC0 + 0x44, 3);
    bench.write(TCC0 + 0x40, 9);
    bench.write(TCC0 + 0x28, 1);
    bench.write(TCC0, 2);
    let start = bench.now;
    bench.write(TCC0 + 0x70, 5);
    assert_eq!(bench.read(TCC0 + 0x30), 1 << 16, "CCBV0");
    bench.advance(start + 9);
    assert_eq!(bench.bus.requests, 0);
    bench.advance(start + 10);
    assert_eq!(bench.bus.requests, 1 << 15, "OVF");
    assert_eq!(bench.read(TCC0 + 0x2c), 0xf << 16 | 1, "CC1 to CC3 are 0");
    bench.write(TCC0 + 0x2c, 1);
    assert_eq!(bench.bus.requests, 0);
    bench.advance(start + 15);
    let edge = |pin, high, at: u64| ("PORTA".to_string(), pin, high, start + at);
    let expected = [
        edge(8, true, 0),
        edge(14, true, 0),
        edge(8, false, 3),
        edge(14, false, 3),
        edge(8, true, 10),
        edge(14, true, 10),
        edge(8, false, 15),
        edge(14, false, 15),
    ];
    assert_eq!(bench.seen.pins, expected);
    assert_eq!(bench.read(TCC0 + 0x34), 5);
    says(bench.try_write(TCC0 + 0x3c, 5), "WAVE");
    // Without pins and interrupts it costs nothing, and the flags come all the same: a period of
    // 4096 counts of 64 cycles.
    bench.write(TCC0, 1);
    bench.write_part(PORTA + 0x40 + 8, 1, 0);
    bench.write_part(PORTA + 0x40 + 14, 1, 0);
    bench.write(TCC0 + 0x40, 0xfff);
    bench.write(TCC0 + 0x44, 0x800);
    bench.write(TCC0, 5 << 8 | 2);
    let start = bench.now;
    assert_eq!(bench.bus.due, u64::MAX);
    bench.now = start + 0x800 * 64;
    assert_eq!((bench.read(TCC0 + 0x34), bench.read(TCC0 + 0x2c)), (0x800, 0xe << 16));
    bench.now = start + 1_000_000 * 0x1000 * 64 + 64 * 7;
    assert_eq!((bench.read(TCC0 + 0x34), bench.read(TCC0 + 0x2c)), (7, 0xf << 16 | 1));
}
