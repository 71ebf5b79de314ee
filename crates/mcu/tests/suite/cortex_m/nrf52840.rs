//! Peripherals of the nRF52840, and programs on the whole part.
//!
//! The peripherals are as a program sees them through the bus. At 64 MHz, 64 cycles are a
//! microsecond.

use super::programs::{assemble, part};
use super::stm32_peripherals::{Bench, Seen};
use mcu::{Board, Fault, Image, Mcu, Pin, ResetCause, Segment, Stop, Until, new_machine};

const CLOCK: u32 = 0x4000_0000;
const UARTE1: u32 = 0x4002_8000;
const UART0: u32 = 0x4000_2000;
const GPIOTE: u32 = 0x4000_6000;
const TIMER0: u32 = 0x4000_8000;
const TIMER3: u32 = 0x4001_a000;
const RTC0: u32 = 0x4000_b000;
const RTC1: u32 = 0x4001_1000;
const TEMP: u32 = 0x4000_c000;
const RNG: u32 = 0x4000_d000;
const WDT: u32 = 0x4001_0000;
const P0: u32 = 0x5000_0000;
const P1: u32 = 0x5000_0300;

/// Registers that many blocks have.
const INTENSET: u32 = 0x304;
const INTENCLR: u32 = 0x308;

const HZ: u64 = 64_000_000;

fn bench() -> Bench {
    let mut bench = Bench::new("nrf52840");
    bench.bus.board = Board::new(HZ);
    bench
}

fn says(result: Result<(), Fault>, words: &str) {
    let fault = format!("{:?}", result.expect_err("a fault"));
    assert!(fault.contains(words), "{fault}");
}

/// PS, FICR: part, sizes; what Nordic's errata code asks for at 0x10000130 and 0x10000134 names
/// part and revision 3.
#[test]
fn ficr_identifies_the_part() {
    let mut bench = bench();
    let words = [0x10, 0x14, 0x100, 0x10c, 0x110, 0x130, 0x134, 0x404];
    let expected = [4096, 256, 0x52840, 256, 1024, 8, 5, 0x326];
    assert_eq!(words.map(|offset| bench.read(0x1000_0000 + offset)), expected);
    says(bench.try_write(0x1000_0010, 0), "read-only");
}

/// PS, CLOCK: HFCLKSTARTED after power-up (60 us) and HFXODEBOUNCE times 16 us (16 after a reset):
/// 316 us, 20,224 cycles. LFXO takes a quarter of a second, in which LFRC stands in for it.
#[test]
fn oscillators_take_their_time() {
    let mut bench = bench();
    assert_eq!(bench.read(CLOCK + 0x40c), 1 << 16, "HFINT runs");
    bench.write(CLOCK, 1);
    let began = bench.now;
    assert_eq!((bench.read(CLOCK + 0x408), bench.read(CLOCK + 0x40c)), (1, 1 << 16));
    bench.now = began + 20_223;
    assert_eq!(bench.read(CLOCK + 0x100), 0);
    bench.now = began + 20_224;
    assert_eq!((bench.read(CLOCK + 0x100), bench.read(CLOCK + 0x40c)), (1, 1 << 16 | 1));
    bench.write(CLOCK + 0x100, 0);
    assert_eq!(bench.read(CLOCK + 0x100), 0);

    bench.write(CLOCK + 0x518, 1);
    bench.write(CLOCK + INTENSET, 2);
    bench.write(CLOCK + 8, 1);
    let began = bench.now;
    assert_eq!((bench.read(CLOCK + 0x414), bench.read(CLOCK + 0x418)), (1, 1 << 16));
    assert_eq!((bench.bus.due, bench.bus.requests), (began + HZ / 4, 0));
    bench.advance(began + HZ / 4);
    assert_eq!(
        (bench.bus.requests, bench.read(CLOCK + 0x104), bench.read(CLOCK + 0x418)),
        (1, 1, 1 << 16 | 1)
    );
    bench.write(CLOCK + 0x104, 0);
    assert_eq!(bench.bus.requests, 0);
    says(bench.try_write(CLOCK + 0x518, 0), "while LFCLK runs");
    bench.write(CLOCK + 0xc, 1);
    assert_eq!((bench.read(CLOCK + 0x414), bench.read(CLOCK + 0x418)), (0, 0));
}

/// PS, POWER: reasons gather until ones clear them; GPREGRET outlives all but power-up.
#[test]
fn the_reset_has_its_reasons() {
    let mut bench = bench();
    assert_eq!(bench.read(CLOCK + 0x400), 0);
    bench.write(CLOCK + 0x51c, 0x1a5);
    bench.write(CLOCK + 0x578, 1);
    bench.bus.reset_by(ResetCause::Software, 0, 0);
    bench.bus.reset_by(ResetCause::Watchdog, 0, 0);
    assert_eq!(
        (bench.read(CLOCK + 0x400), bench.read(CLOCK + 0x51c), bench.read(CLOCK + 0x578)),
        (6, 0xa5, 0)
    );
    bench.write(CLOCK + 0x400, 2);
    assert_eq!(bench.read(CLOCK + 0x400), 4);
    bench.bus.reset_by(ResetCause::PowerOn, 0, 0);
    assert_eq!((bench.read(CLOCK + 0x400), bench.read(CLOCK + 0x51c)), (0, 0));
    bench.write(CLOCK + 0x908, 1);
    assert_eq!(bench.read(CLOCK + 0x900), 0xfffe);
    says(bench.try_write(CLOCK + 0x500, 1), "System OFF");
    says(bench.try_write(CLOCK + 0x10, 1), "this task");
}

/// PS, GPIO: PIN_CNF has DIR, INPUT (1 disconnects), PULL (3 up) and is the same bit as DIR's.
#[test]
fn pins_are_driven_and_read() {
    let mut bench = bench();
    bench.write(P0 + 0x508, 1 << 13);
    assert!(bench.seen.pins.is_empty(), "an input");
    bench.write(P0 + 0x518, 1 << 13);
    assert_eq!(bench.read(P0 + 0x700 + 4 * 13), 3);
    bench.write(P0 + 0x50c, 1 << 13);
    let port = "P0".to_string();
    assert_eq!(bench.seen.pins, [(port.clone(), 13, true, 2), (port, 13, false, 3)]);
    // An input with its pull-up, then with the buffer disconnected.
    bench.write(P0 + 0x700 + 4 * 11, 3 << 2);
    assert_eq!(bench.read(P0 + 0x510), 1 << 11);
    bench.write(P0 + 0x700 + 4 * 11, 3 << 2 | 2);
    assert_eq!(bench.read(P0 + 0x510), 0);
    // P1 has 16 pins.
    bench.write(P1 + 0x504, u32::MAX);
    assert_eq!(bench.read(P1 + 0x504), 0xffff);
    says(bench.try_write(P0 + 0x510, 1), "read-only");
}

/// PS, GPIOTE: CONFIG has MODE, PSEL and PORT, POLARITY and OUTINIT; edges at inputs, tasks at
/// outputs; PORT when a pin first meets its SENSE.
#[test]
fn gpiote_sees_edges_and_makes_them() {
    let mut bench = bench();
    let button = |high| (Pin::new("P0", 11), Some(high));
    let press = |bench: &mut Bench, (pin, level): (Pin, Option<bool>)| {
        bench.bus.board.set_input(pin, level);
        bench.bus.resume(bench.now, 0);
    };
    // Channel 2: high to low at P0.11, which is pulled up.
    bench.write(P0 + 0x700 + 4 * 11, 3 << 2);
    bench.write(GPIOTE + 0x518, 2 << 16 | 11 << 8 | 1);
    bench.write(GPIOTE + INTENSET, 1 << 2);
    press(&mut bench, button(false));
    assert_eq!((bench.read(GPIOTE + 0x108), bench.bus.requests), (1, 1 << 6));
    bench.write(GPIOTE + 0x108, 0);
    press(&mut bench, button(true));
    assert_eq!((bench.read(GPIOTE + 0x108), bench.bus.requests), (0, 0));
    // SENSE low at the same pin.
    bench.write(GPIOTE + INTENSET, 1 << 31);
    bench.write(P0 + 0x700 + 4 * 11, 3 << 16 | 3 << 2);
    assert_eq!(bench.read(P0 + 0x520), 0);
    press(&mut bench, button(false));
    assert_eq!((bench.read(GPIOTE + 0x17c), bench.read(P0 + 0x520)), (1, 1 << 11));
    bench.write(GPIOTE + 0x17c, 0);
    press(&mut bench, button(true));
    bench.write(P0 + 0x520, 1 << 11);
    assert_eq!((bench.read(GPIOTE + 0x17c), bench.read(P0 + 0x520)), (0, 0));
    // Channel 0: toggles P1.5, high at first.
    bench.write(P1 + 0x518, 1 << 5);
    bench.seen.pins.clear();
    bench.write(GPIOTE + 0x510, 1 << 20 | 3 << 16 | 1 << 13 | 5 << 8 | 3);
    bench.write(GPIOTE, 1);
    bench.write(GPIOTE + 0x30, 1);
    bench.write(GPIOTE + 0x60, 1);
    let levels: Vec<_> =
        bench.seen.pins.iter().map(|(port, pin, high, _)| (port.as_str(), *pin, *high)).collect();
    assert_eq!(levels, [("P1", 5, true), ("P1", 5, false), ("P1", 5, true), ("P1", 5, false)]);
    says(bench.try_write(GPIOTE + 0x510, 2), "reserved value of CONFIG.MODE");
}

/// Nordic's SVD: 115200 baud is 0x01d60000, actually 115,108: 139 periods of 16 MHz a bit, 556
/// cycles; a frame of ten bits 5,560, of twelve (even parity, two stop bits) 6,672.
#[test]
fn the_uart_sends_at_the_actual_rate() {
    let mut bench = bench();
    bench.write(UART0 + 0x50c, 6);
    bench.write(UART0 + 0x524, 0x01d6_0000);
    bench.write(UART0 + 0x500, 4);
    says(bench.try_write(UART0 + 0x51c, 0x41), "before STARTTX");
    bench.write(UART0 + 8, 1);
    bench.write(UART0 + INTENSET, 1 << 7);
    bench.write(UART0 + 0x51c, 0x41);
    let began = bench.now;
    bench.advance(began + 5_559);
    assert_eq!(bench.read(UART0 + 0x11c), 0);
    bench.advance(began + 5_560);
    assert_eq!((bench.read(UART0 + 0x11c), bench.bus.requests), (1, 1 << 2));
    assert_eq!(bench.seen.bytes, [("UART0".to_string(), 0x41, began + 5_560)]);
    bench.write(UART0 + 0x11c, 0);
    bench.write(UART0 + 0x56c, 0x1e);
    bench.write(UART0 + 0x51c, 0x42);
    let began = bench.now;
    bench.advance(began + 7_000);
    assert_eq!(bench.seen.bytes[1].2, began + 6_672);
    // UARTE1 is no UART.
    says(bench.try_write(UARTE1 + 0x500, 4), "reserved value of ENABLE");
}

/// PS, TIMER: 16 MHz / 2^PRESCALER; with PRESCALER 4 a count is a microsecond. COMPARE0_CLEAR makes
/// periods of CC[0].
#[test]
fn a_timer_makes_periods() {
    let mut bench = bench();
    bench.write(TIMER0 + 0x508, 3);
    bench.write(TIMER0 + 0x540, 1000);
    bench.write(TIMER0 + 0x200, 1);
    bench.write(TIMER0 + INTENSET, 1 << 16);
    bench.write(TIMER0, 1);
    let began = bench.now;
    assert_eq!(bench.bus.due, began + 64_000);
    bench.advance(began + 64_000);
    assert_eq!((bench.bus.requests, bench.read(TIMER0 + 0x140)), (1 << 8, 1));
    bench.write(TIMER0 + 0x140, 0);
    assert_eq!((bench.bus.requests, bench.bus.due), (0, began + 128_000));
    bench.now = began + 64_000 + 64 * 123 + 63;
    bench.write(TIMER0 + 0x44, 1);
    // The write itself is a cycle later: 124 counts.
    assert_eq!(bench.read(TIMER0 + 0x544), 124, "CAPTURE[1]");
    says(bench.try_write(TIMER0 + 0x510, 0), "while it runs");
    says(bench.try_write(TIMER0 + 0x550, 0), "register not modelled");
    bench.write(TIMER0 + 0x150, 0);
    assert_eq!(bench.read(TIMER0 + 0x150), 0, "an event that it does not have is clear");
    says(bench.try_write(TIMER0 + 0x150, 1), "register not modelled");
    bench.write(TIMER3 + 0x550, 7);
    assert_eq!(bench.read(TIMER3 + 0x550), 7, "six compare registers");
}

/// PS, TIMER: a counter counts COUNT; COMPARE1_STOP stops it.
#[test]
fn a_timer_counts_tasks_and_stops() {
    let mut bench = bench();
    bench.write(TIMER0 + 0x504, 2);
    bench.write(TIMER0 + 0x544, 2);
    bench.write(TIMER0 + 0x200, 1 << 9);
    bench.write(TIMER0, 1);
    for count in 1..4 {
        bench.now += 1_000_000;
        bench.write(TIMER0 + 8, 1);
        assert_eq!(bench.read(TIMER0 + 0x144), u32::from(count > 1));
    }
    bench.write(TIMER0 + 0x40, 1);
    assert_eq!(bench.read(TIMER0 + 0x540), 2);
}

/// PS, RTC: LFCLK / (PRESCALER + 1); events only where enabled. It waits for LFCLK: 32,768 Hz are
/// 1953.125 cycles.
#[test]
fn the_rtc_counts_the_low_clock() {
    let mut bench = bench();
    bench.write(RTC1 + 0x508, 31);
    bench.write(RTC1 + 0x540, 1024);
    bench.write(RTC1 + INTENSET, 1 << 16);
    bench.write(RTC1, 1);
    bench.advance(10 * HZ);
    assert_eq!((bench.read(RTC1 + 0x504), bench.bus.due), (0, u64::MAX), "LFCLK stands still");
    bench.write(CLOCK + 8, 1);
    let began = bench.now;
    assert_eq!(bench.bus.due, began + HZ, "1024 counts of 1024 Hz");
    bench.advance(began + HZ / 2);
    assert_eq!(bench.read(RTC1 + 0x504), 512);
    bench.advance(began + HZ);
    assert_eq!((bench.read(RTC1 + 0x504), bench.read(RTC1 + 0x140), bench.bus.requests), (1024, 1, 1 << 17));
    bench.write(RTC1 + INTENCLR, 1 << 16);
    assert_eq!(bench.bus.requests, 0);
    assert_eq!(bench.read(RTC1 + 0x100), 0, "TICK is not enabled");
    // TRIGOVRFLW: 16 counts before the end of 24 bits.
    bench.write(RTC1 + 0x344, 2);
    bench.write(RTC1 + 0xc, 1);
    let began = bench.now;
    bench.advance(began + 16 * HZ / 1024);
    assert_eq!((bench.read(RTC1 + 0x504), bench.read(RTC1 + 0x104)), (0, 1));
    says(bench.try_write(RTC1 + 0x508, 0), "while it runs");
    says(bench.try_write(RTC0 + 0x54c, 0), "register not modelled");
}

/// PS, RNG: 128 us and 30 us to the first byte, 30 us to the next; 120 us with bias correction.
#[test]
fn random_bytes_are_the_same_after_power_up() {
    let mut bench = bench();
    let mut bytes = [0; 4];
    for byte in &mut bytes {
        bench.write(RNG + 0x200, 1);
        bench.write(RNG + 0x100, 0);
        bench.write(RNG, 1);
        let began = bench.now;
        bench.now = began + 158 * 64 - 1;
        assert_eq!(bench.read(RNG + 0x100), 0);
        bench.now += 1;
        assert_eq!(bench.read(RNG + 0x100), 1);
        *byte = bench.read(RNG + 0x508);
        assert!(*byte < 256);
    }
    assert!(bytes.iter().any(|byte| *byte != bytes[0]));
    bench.bus.reset_by(ResetCause::PowerOn, 0, 0);
    bench.now = 0;
    bench.write(RNG + 0x504, 1);
    bench.write(RNG + INTENSET, 1);
    bench.write(RNG, 1);
    assert_eq!(bench.bus.due, bench.now + 248 * 64);
    bench.advance(bench.bus.due);
    assert_eq!((bench.bus.requests, bench.read(RNG + 0x508)), (1 << 13, bytes[0]));
}

/// PS, TEMP: quarters of a degree, after 36 us.
#[test]
fn temperature_sensor_reads_25_degrees() {
    let mut bench = bench();
    bench.write(TEMP, 1);
    let began = bench.now;
    bench.now = began + 36 * 64 - 1;
    assert_eq!(bench.read(TEMP + 0x100), 0);
    bench.now += 1;
    assert_eq!((bench.read(TEMP + 0x100), bench.read(TEMP + 0x508)), (1, 25 * 4));
    assert_eq!(bench.read(TEMP + 0x520), 0x326);
}

/// PS, WDT: (CRV + 1) / 32768 s; all enabled reload registers must be written; TIMEOUT two periods
/// of LFCLK (3907 cycles) before the reset.
#[test]
fn the_watchdog_wants_all_its_requests() {
    let mut bench = bench();
    bench.write(WDT + 0x504, 32_767);
    bench.write(WDT + 0x508, 3);
    bench.write(WDT, 1);
    let began = bench.now;
    assert_eq!((bench.read(WDT + 0x400), bench.read(WDT + 0x404)), (1, 3));
    assert_eq!(bench.bus.due, began + HZ);
    bench.now = began + HZ / 2;
    bench.write(WDT + 0x600, 0x6e52_4635);
    assert_eq!((bench.read(WDT + 0x404), bench.bus.due), (2, began + HZ));
    bench.write(WDT + 0x604, 0x6e52_4635);
    assert_eq!((bench.read(WDT + 0x404), bench.bus.due), (3, bench.now + HZ));
    // It is locked, and goes on over a soft reset.
    bench.write(WDT + 0x504, 15);
    assert_eq!(bench.read(WDT + 0x504), 32_767);
    let timeout = bench.bus.due;
    bench.bus.reset_by(ResetCause::Software, bench.now, 0);
    assert_eq!(bench.bus.due, timeout);
    bench.bus.tick(timeout, 0, None);
    bench.now = timeout;
    assert_eq!((bench.read(WDT + 0x100), bench.bus.due), (1, timeout + 3_907));
    assert!(bench.bus.has_running_watchdog());
}

/// A machine with a program at address 0, behind a vector table.
fn machine(name: &str, source: &str) -> Box<dyn Mcu> {
    let source = format!(".word 0x20004000, 9\n{source}\nbkpt 0\n.ltorg\n");
    let bytes = assemble("cortex-m4", &format!("nrf52840-{name}"), &source);
    let mut machine = new_machine(&part("nrf52840"), HZ).expect("a machine");
    machine.load(&Image { segments: vec![Segment { address: 0, bytes }] }).expect("it fits");
    machine.reset();
    machine
}

fn finish(machine: &mut dyn Mcu, seen: &mut Seen) -> u64 {
    let until = Until { cycles: Some(machine.cycles() + HZ), ..Until::default() };
    assert_eq!(machine.run_observed(&until, seen), Ok(Stop::Breakpoint), "{:x?}", machine.registers());
    machine.cycles()
}

fn register(machine: &dyn Mcu, name: &str) -> u32 {
    machine.registers().into_iter().find(|(known, _)| known == name).expect("a register").1
}

/// PS, UARTE: three bytes out of RAM by EasyDMA, at 250,000 baud (64 periods of 16 MHz a bit) 2,560
/// cycles each; TXD.AMOUNT. EasyDMA reaches RAM alone.
#[test]
fn uarte_sends_out_of_ram() {
    let source = "
        ldr r0, =0x40002000
        ldr r1, =0x20000100
        ldr r2, =0x00636261
        str r2, [r1]
        movs r2, #5
        str r2, [r0, #0x50c]
        movs r2, #8
        str r2, [r0, #0x500]
        str r1, [r0, #0x544]
        movs r2, #3
        str r2, [r0, #0x548]
        movs r2, #1
        str r2, [r0, #8]
1:      ldr r3, [r0, #0x120]
        cmp r3, #0
        beq 1b
        ldr r4, [r0, #0x54c]
        bkpt 0
        movs r1, #0
        str r1, [r0, #0x544]
        str r2, [r0, #8]
        nop";
    let mut machine = machine("uarte", source);
    let mut seen = Seen::default();
    finish(machine.as_mut(), &mut seen);
    let bytes: Vec<u8> = seen.bytes.iter().map(|(_, byte, _)| *byte).collect();
    assert_eq!((bytes.as_slice(), register(machine.as_ref(), "r4")), (&b"abc"[..], 3));
    assert_eq!(seen.bytes[2].2 - seen.bytes[1].2, 2_560);
    machine.set_pc(machine.pc() + 2);
    let stop = machine.run(&Until { cycles: Some(machine.cycles() + 1000), ..Until::default() });
    assert!(format!("{stop:?}").contains("beyond RAM"), "{stop:?}");
}

/// PS, ECB: key, cleartext and ciphertext in RAM; 7.2 us, 461 cycles. FIPS 197, appendix C.1.
#[test]
fn ecb_encrypts_a_block() {
    let source = "
        ldr r0, =0x4000e000
        ldr r1, =0x20000100
        str r1, [r0, #0x504]
        movs r2, #1
        str r2, [r0]
1:      ldr r3, [r0, #0x100]
        cmp r3, #0
        beq 1b
        ldr r4, [r1, #32]
        bkpt 0
        str r2, [r0]
        str r2, [r0, #4]
        ldr r5, [r0, #0x104]
        bkpt 0";
    let mut machine = machine("ecb", source);
    let key: Vec<u8> = (0..16).collect();
    let clear: Vec<u8> = (0..16).map(|byte| byte * 0x11).collect();
    assert!(machine.poke(0x2000_0100, &key) && machine.poke(0x2000_0110, &clear));
    let cycles = finish(machine.as_mut(), &mut Seen::default());
    assert!((461..461 + 50).contains(&cycles), "{cycles}");
    let mut cipher = [0; 16];
    assert!(machine.peek(0x2000_0120, &mut cipher));
    assert_eq!(u128::from_be_bytes(cipher), 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a);
    assert_eq!(register(machine.as_ref(), "r4"), 0xd8e0_c469);
    machine.set_pc(machine.pc() + 2);
    finish(machine.as_mut(), &mut Seen::default());
    assert_eq!(register(machine.as_ref(), "r5"), 1, "ERRORECB");
}

/// PS, NVMC: words are written where CONFIG says so, zeros alone, 41 us each; a page is erased in
/// 85 ms; UICR can be written, too.
#[test]
fn flash_is_written_and_erased() {
    let source = "
        ldr r0, =0x4001e000
        ldr r1, =0x00080004
        movs r2, #1
        str r2, [r0, #0x504]
        ldr r2, =0x12345678
        str r2, [r1]
        ldr r2, =0xffff0000
        str r2, [r1]
        ldr r4, [r1]
        ldr r3, =0x10001080
        str r2, [r3]
        ldr r5, [r3]
        bkpt 0
        movs r2, #2
        str r2, [r0, #0x504]
        str r1, [r0, #0x508]
        ldr r6, [r0, #0x400]
        ldr r4, [r1]
        movs r2, #0
        str r2, [r0, #0x504]
        bkpt 0
        str r2, [r1]
        nop";
    let mut machine = machine("nvmc", source);
    let mut seen = Seen::default();
    let written = finish(machine.as_mut(), &mut seen);
    assert!((3 * 2_624..3 * 2_624 + 100).contains(&written), "{written}");
    let word = |machine: &dyn Mcu, name| register(machine, name);
    assert_eq!((word(machine.as_ref(), "r4"), word(machine.as_ref(), "r5")), (0x1234_0000, 0xffff_0000));
    machine.set_pc(machine.pc() + 2);
    let erased = finish(machine.as_mut(), &mut seen) - written;
    assert!((5_440_000..5_440_100).contains(&erased), "{erased}");
    assert_eq!((word(machine.as_ref(), "r4"), word(machine.as_ref(), "r6")), (u32::MAX, 1));
    machine.set_pc(machine.pc() + 2);
    let stop = machine.run(&Until { cycles: Some(machine.cycles() + 1000), ..Until::default() });
    assert!(format!("{stop:?}").contains("without NVMC's CONFIG.WEN"), "{stop:?}");
}

/// Cycles of a turn of a loop, which begins at a line.
fn turn(name: &str, cache: u32, code: &str) -> u64 {
    let of = |turns: u32| {
        let source = format!(
            "ldr r0, =0x4001e540\nmovs r1, #{cache}\nstr r1, [r0]\nldr r2, ={turns}\nb 1f\n.ltorg\n.balign 16\n1:\n{code}"
        );
        finish(machine(&format!("{name}-{cache}-{turns}"), &source).as_mut(), &mut Seen::default())
    };
    let ten = of(24) - of(14);
    assert_eq!(ten % 10, 0, "{ten} in ten");
    ten / 10
}

/// The delay loop of Nordic's nrfx_coredep.h takes the 3 cycles that it names, without the cache,
/// because it lies in one line. Two branches a turn into other lines wait twice two cycles more
/// without the cache than with it (PS, CPU: two wait states).
#[test]
fn branches_wait_for_the_flash() {
    let delay = "subs r2, #1\nbhi 1b\n";
    assert_eq!([turn("delay", 0, delay), turn("delay", 1, delay)], [3, 3]);
    let far = "b 2f\n.balign 64\n2: subs r2, #1\nbhi 1b\n";
    assert_eq!(turn("far", 0, far), turn("far", 1, far) + 4);
    assert_eq!(turn("far", 1, far), 5);
}

/// Data goes past the instruction cache and waits for the flash: three cycles while that cache is
/// on (PS, CPU). The line of the last read is kept, which is an assumption (`timing/m3.rs`): of
/// eight words in a row two wait, of eight from two lines in turn all.
#[test]
fn data_in_flash_waits_once_a_line() {
    let turn_of = |name: &str, places: [u32; 8]| {
        let loads = places.map(|place| format!("ldr r1, [r3, #{place}]\nnop\nnop\n")).concat();
        turn(name, 1, &format!("mov r3, #0x10000\n{loads}subs r2, #1\nbne 1b\n"))
    };
    let in_a_row = turn_of("row", [0, 4, 8, 12, 16, 20, 24, 28]);
    let in_turn = turn_of("in-turn", [0, 16, 4, 20, 8, 24, 12, 28]);
    assert_eq!(in_turn - in_a_row, 6 * 3);
}

/// PS, "MWU": start-up code reads that no region is watched, and clears what is not set. RAMON is
/// the nRF52832's: a write is counted, and the run goes on.
#[test]
fn start_up_code_of_mbed_passes() {
    const MWU: u32 = 0x4002_0000;
    let mut bench = Bench::new("nrf52840");
    assert_eq!(bench.read(MWU + 0x510), 0);
    bench.write(MWU + 0x518, u32::MAX);
    assert!(bench.try_write(MWU + 0x514, 1).is_err());
    bench.write(0x4000_0524, 3);
    let tolerated = bench.bus.events.tolerated();
    assert!(matches!(tolerated[..], [(said, 1)] if said.contains("RAMON")), "{tolerated:?}");
}
