//! The RP2040: its registers as a program sees them through the bus, and its start.

use super::programs::{part, run};
use super::stm32_peripherals::Bench;
use mcu::{Fault, Image, Mcu, Observer, ResetCause, Segment, Stop, Until, new_clocked_machine};
use std::path::Path;
use std::process::Command;

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
    says(bench.try_write(SIE_CTRL + SET, 1 << 16), "USB is not modelled");
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

/// Section 2.3.1.3: a read claims a spinlock, and the state of all can be read. A message to the
/// other core is refused.
#[test]
fn spinlocks_are_claimed_once() {
    let mut bench = bench();
    assert_eq!(bench.read(SIO + 0x100 + 4 * 9), 1 << 9);
    assert_eq!(bench.read(SIO + 0x100 + 4 * 9), 0);
    assert_eq!(bench.read(SIO + 0x5c), 1 << 9);
    bench.write(SIO + 0x100 + 4 * 9, 0);
    assert_eq!(bench.read(SIO + 0x5c), 0);
    assert_eq!(bench.read(SIO + 0x50), 2);
    says(bench.try_write(SIO + 0x54, 0), "second core");
}

/// A pin is SIO's to drive once FUNCSEL is 5; an input wakes its interrupt by an edge and is pulled
/// as its pad says.
#[test]
fn pins_belong_to_sio_and_interrupt() {
    let mut bench = bench();
    bench.write(RESETS, 0);
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
    says(bench.try_write(SSI + 0x14, 2), "while it is on");
    let mut bench = self::bench();
    bench.write(SSI, 7 << 16);
    bench.write(SSI + 8, 1);
    bench.write(SSI + 0x60, 0x03);
    says(bench.try_write(SSI + 0x60, 0), "only those of its status");
}

/// The bytes of a program linked at `base`.
fn assemble(name: &str, base: u32, source: &str) -> Image {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [text, object, elf, binary] =
        ["s", "o", "elf", "bin"].map(|end| folder.join(format!("rp2040-{name}.{end}")));
    std::fs::write(&text, format!(".syntax unified\n.thumb\n.text\n.global _start\n_start:\n{source}\n"))
        .expect("written");
    let mut assembler = Command::new("arm-none-eabi-as");
    run(assembler.args(["-mcpu=cortex-m0plus", "-mthumb"]).arg(&text).arg("-o").arg(&object));
    run(Command::new("arm-none-eabi-ld").arg(format!("-Ttext={base:#x}")).arg(&object).arg("-o").arg(&elf));
    run(Command::new("arm-none-eabi-objcopy").args(["-O", "binary"]).arg(&elf).arg(&binary));
    let bytes = std::fs::read(binary).expect("objcopy wrote it");
    Image { segments: vec![Segment { address: base, bytes }] }
}

/// A second stage that sets the serial interface up as the SDK's does for a W25Q080, at a divisor
/// of 2, and goes on at the vectors.
const STAGE_2: &str = "
    ldr r0, =0x18000000
    movs r1, #0
    str r1, [r0, #8]
    movs r1, #2
    str r1, [r0, #0x14]
    ldr r1, =0x005f0300
    str r1, [r0]
    ldr r2, =0x180000f4
    ldr r1, =0xa0002022
    str r1, [r2]
    movs r1, #1
    str r1, [r0, #8]
    ldr r0, =0x10000100
    ldr r1, =0xe000ed08
    str r0, [r1]
    ldmia r0, {r0, r1}
    msr msp, r0
    bx r1
    .ltorg
    .org 0x100
    .word 0x20042000, 0x10000109
";

fn machine(image: &Image) -> Box<dyn Mcu> {
    let mut machine = new_clocked_machine(&part("rp2040"), None).expect("a machine");
    machine.load(image).expect("it fits");
    machine.reset();
    machine
}

fn until(machine: &mut dyn Mcu, address: u32) -> u64 {
    let stop = machine.run(&Until { cycles: Some(machine.cycles() + 100_000), addresses: vec![address] });
    assert!(matches!(stop, Ok(Stop::Address(_))), "{stop:?} {:x?}", machine.registers());
    machine.cycles()
}

fn register(machine: &dyn Mcu, name: &str) -> u32 {
    machine.registers().into_iter().find(|(known, _)| known == name).expect("a register").1
}

/// The ring oscillator is as fast as its ring is short: 6.5 MHz of eight stages, then of six and of
/// four; the core runs from it.
#[test]
fn the_ring_oscillator_has_three_ranges() {
    let with = |range: u32| {
        let set = format!("ldr r0, =0x40060000\nldr r1, ={:#x}\nstr r1, [r0]", 0xfab << 12 | range);
        let image =
            assemble(&format!("ring-{range:x}"), 0x1000_0000, &format!("{STAGE_2}\n{set}\nloop: b loop"));
        let mut machine = self::machine(&image);
        machine.run(&Until { cycles: Some(100_000), ..Until::default() }).map(|_| machine.clock_hz())
    };
    assert_eq!([0xfa4, 0xfa5, 0xfa7].map(with), [Ok(6_500_000), Ok(8_666_666), Ok(13_000_000)]);
    says(with(0xfa6), "FREQ_RANGE");
}

/// Section 2.8.1.3: the second stage runs at the end of the RAM, with LR zero, from the ring
/// oscillator's 6.5 MHz. A wrong checksum is refused; one that the linker has left out is not.
#[test]
fn a_reset_runs_the_second_stage_in_ram() {
    let mut image = assemble("start", 0x1000_0000, &format!("{STAGE_2}\nloop: b loop"));
    let mut machine = self::machine(&image);
    assert_eq!(
        (machine.pc(), register(&*machine, "sp"), register(&*machine, "lr")),
        (0x2004_1f00, 0x2004_1f00, 0)
    );
    assert_eq!(machine.clock_hz(), 6_500_000);
    until(&mut *machine, 0x1000_0108);
    assert_eq!(register(&*machine, "sp"), 0x2004_2000);
    image.segments[0].bytes[252..256].copy_from_slice(&[1, 2, 3, 4]);
    let mut machine = new_clocked_machine(&part("rp2040"), None).expect("a machine");
    machine.load(&image).expect("it fits");
    machine.reset();
    says(machine.run(&Until { cycles: Some(100), ..Until::default() }), "checksum");
}

/// A program in RAM begins at its vectors, or, where it has none at its start, there.
#[test]
fn a_program_in_ram_needs_no_flash() {
    let vectors = assemble("ram", 0x2000_0000, ".word 0x20042000, 0x20000009\nloop: b loop");
    assert_eq!(machine(&vectors).pc(), 0x2000_0008);
    let code = assemble("code", 0x2000_0000, "movs r0, #1\nmovs r0, #2\nloop: b loop");
    assert_eq!(machine(&code).pc(), 0x2000_0000);
}

/// A word is 8 clocks of address and mode bits, 4 of waiting and 8 of data, at half of clk_sys: 40
/// cycles. The core fetches every word of code in a row: 32 no-operations from the beginning of a
/// line, and the branch after them, are 17 words the first time and none the second; the fetch goes
/// a word beyond the branch.
#[test]
fn code_that_is_not_in_the_cache_is_read_word_by_word() {
    let image = assemble(
        "lines",
        0x1000_0000,
        &format!("{STAGE_2}\nb 1f\n.balign 0x100\n1:\n.rept 32\nnop\n.endr\nb 1b\n.balign 8\nnop"),
    );
    let mut machine = self::machine(&image);
    let top = 0x1000_0200;
    let before = until(&mut *machine, top);
    let first = until(&mut *machine, top);
    let second = until(&mut *machine, top);
    // The first word was fetched by the branch to it.
    assert_eq!((first - before, second - first), (34 + 17 * 40, 34));
}

/// Wait states of each of the loads, which code in RAM makes one after the other.
fn waits_of_loads(name: &str, loads: &[(&str, u32)]) -> Vec<u64> {
    const RAM: u32 = 0x2000_0100;
    let jump = format!("{STAGE_2}\nldr r0, ={:#x}\nbx r0\n.ltorg", RAM | 1);
    let mut image = assemble(&format!("{name}-flash"), 0x1000_0000, &jump);
    let code: String =
        loads.iter().map(|(load, address)| format!("ldr r1, ={address:#x}\n{load} r2, [r1]\n")).collect();
    image.segments.extend(assemble(name, RAM, &format!("{code}loop: b loop\n.ltorg")).segments);
    let mut machine = machine(&image);
    let mut before = until(&mut *machine, RAM);
    let times = (1..=loads.len() as u32).map(|load| {
        let after = until(&mut *machine, RAM + 4 * load);
        std::mem::replace(&mut before, after).abs_diff(after) - 4
    });
    times.collect()
}

/// The halves of a line are valid by themselves, and a miss reads the word that is asked for alone
/// (L. Wren in raspberrypi/pico-feedback, issue 307: "8 bytes with an upper/lower valid bit"; data
/// is never seen to fill a whole line).
#[test]
fn data_that_is_not_in_the_cache_is_one_word() {
    let waits = waits_of_loads(
        "halves",
        &[
            ("ldr", 0x1000_8000),
            ("ldr", 0x1000_8000),
            ("ldr", 0x1000_8004),
            ("ldr", 0x1000_8004),
            ("ldrb", 0x1000_800c),
            ("ldrh", 0x1000_800c),
            ("ldrb", 0x1000_8008),
            ("ldr", 0x1000_8000),
        ],
    );
    assert_eq!(waits, [40, 0, 40, 0, 40, 0, 40, 0]);
}

/// Section 2.6.3.1: two lines at the same place have room, 8 kB apart. A third one makes the one
/// used last but one go, with both halves.
#[test]
fn a_third_line_at_the_same_place_displaces_both_halves_of_one() {
    let [one, other, third] = [0x1000_8000, 0x1000_a000, 0x1000_c000];
    let loads = [one, one + 4, other, one, third, other, one, one + 4];
    let waits = waits_of_loads("ways", &loads.map(|address| ("ldr", address)));
    assert_eq!(waits, [40, 40, 40, 0, 40, 40, 40, 40]);
}

/// Section 2.6.3: the second address of the flash looks only, the third fills only, the fourth does
/// neither.
#[test]
fn the_addresses_of_the_flash_fill_words_and_look_for_them() {
    let at = |alias: u32, place: u32| ("ldr", 0x1000_0000 + (alias << 24) + place);
    let loads = [
        at(1, 0x8000),
        at(0, 0x8000),
        at(1, 0x8000),
        at(1, 0x8004),
        at(2, 0x8000),
        at(2, 0x8004),
        at(0, 0x8004),
        at(3, 0x8004),
        at(0, 0x8004),
    ];
    assert_eq!(waits_of_loads("aliases", &loads), [40, 40, 0, 40, 40, 40, 0, 40, 0]);
}

/// Section 2.8.3: functions are looked up by their codes.
#[test]
fn the_boot_rom_has_functions() {
    const NOTHING: &str = "loop: b loop";
    let mut machine = machine(&assemble("rom", 0x1000_0000, &format!("{STAGE_2}\n{NOTHING}")));
    let half = |machine: &dyn Mcu, at: u32| {
        let mut bytes = [0; 2];
        assert!(machine.peek(at, &mut bytes));
        u32::from(u16::from_le_bytes(bytes))
    };
    let call = |machine: &mut dyn Mcu, function: u32, arguments: [u32; 3]| {
        for (name, value) in ["r0", "r1", "r2"].into_iter().zip(arguments) {
            assert!(machine.set_register(name, value));
        }
        assert!(machine.set_register("lr", 0x2000_0001) && machine.set_register("sp", 0x2004_0000));
        machine.set_pc(function & !1);
        until(machine, 0x2000_0000);
        register(machine, "r0")
    };
    let look_up = |machine: &mut dyn Mcu, table: u32, code: &[u8; 2]| {
        let arguments = [half(machine, table), u32::from(u16::from_le_bytes(*code)), 0];
        let function = half(machine, 0x18);
        call(machine, function, arguments)
    };
    assert_eq!(half(&*machine, 0x10), u32::from(u16::from_le_bytes(*b"Mu")));
    assert_eq!(look_up(&mut *machine, 0x14, b"??"), 0);
    let of =
        |word: u32| [word.count_ones(), word.reverse_bits(), word.leading_zeros(), word.trailing_zeros()];
    for word in [0, 1, 0x8000_0000, 0x0012_3400, 0xffff_ffff, 0x0080_0100] {
        for (code, expected) in [b"P3", b"R3", b"L3", b"T3"].into_iter().zip(of(word)) {
            let function = look_up(&mut *machine, 0x14, code);
            assert_eq!(call(&mut *machine, function, [word, 0, 0]), expected, "{code:?} of {word:#x}");
        }
    }
    let (set, copy) = (look_up(&mut *machine, 0x14, b"MS"), look_up(&mut *machine, 0x14, b"MC"));
    for (to, from, count) in
        [(0, 0, 0), (1, 1, 3), (0, 0, 16), (3, 3, 70), (2, 1, 37), (0, 2, 64), (1, 1, 35)]
    {
        let source: Vec<u8> = (0..100u8).map(|at| at.wrapping_mul(7).wrapping_add(3)).collect();
        assert!(machine.poke(0x2000_1000, &source) && machine.poke(0x2000_2000, &[0xee; 100]));
        assert_eq!(
            call(&mut *machine, copy, [0x2000_2000 + to, 0x2000_1000 + from, count]),
            0x2000_2000 + to
        );
        let (to, from, count) = (to as usize, from as usize, count as usize);
        let mut expected = [0xee; 100];
        expected[to..to + count].copy_from_slice(&source[from..from + count]);
        let mut found = [0; 100];
        assert!(machine.peek(0x2000_2000, &mut found));
        assert_eq!(found, expected);
        expected[to..to + count].fill(0x5a);
        call(&mut *machine, set, [0x2000_2000 + to as u32, 0x35a, count as u32]);
        assert!(machine.peek(0x2000_2000, &mut found));
        assert_eq!(found, expected);
    }
    // What is not here says so.
    let erase = look_up(&mut *machine, 0x14, b"RE");
    machine.set_pc(erase);
    says(machine.run(&Until::default()), "flash_range_erase");
    let floats = look_up(&mut *machine, 0x16, b"SF");
    machine.set_pc(half(&*machine, floats + 8));
    says(machine.run(&Until::default()), "float mul");
}

/// The whole of it: a program that sets 125 MHz, says a character, and is followed.
#[test]
fn a_programs_clock_is_followed() {
    #[derive(Default)]
    struct Heard(Vec<(u8, u64)>, Vec<(u64, u64)>);
    impl Observer for Heard {
        fn uart(&mut self, _port: &str, byte: u8, cycles: u64) {
            self.0.push((byte, cycles));
        }
        fn clock(&mut self, change: &mcu::ClockChange) {
            self.1.push((change.clock_hz, change.cycles));
        }
    }
    let store =
        |address: u32, value: u32| format!("ldr r0, ={address:#x}\nldr r1, ={value:#x}\nstr r1, [r0]\n");
    let steps = [
        (RESETS, 0),
        (XOSC, 0x00fa_baa0),
        (PLL_SYS + 8, 125),
        (PLL_SYS + 0xc, 6 << 16 | 2 << 12),
        (PLL_SYS + 4, 4),
        (CLK_REF, 2),
        (CLK_SYS, 0),
        (CLK_SYS, 1),
        (CLK_PERI, 1 << 11),
        (UART0 + 0x24, 67),
        (UART0 + 0x28, 52),
        (UART0 + 0x2c, 3 << 5),
        (UART0 + 0x30, 0x301),
        (UART0, u32::from(b'!')),
    ];
    let program: String = steps.into_iter().map(|(address, value)| store(address, value)).collect();
    let image =
        assemble("clock", 0x1000_0000, &format!("{STAGE_2}\n{program}\nloop: adds r2, #1\nb loop\n.ltorg"));
    let mut machine = machine(&image);
    let mut heard = Heard::default();
    let stop = machine.run_observed(&Until { cycles: Some(40_000), ..Until::default() }, &mut heard);
    assert_eq!(stop, Ok(Stop::Cycles));
    let clocks: Vec<u64> = heard.1.iter().map(|(clock_hz, _)| *clock_hz).collect();
    assert_eq!(clocks, [12_000_000, 125_000_000]);
    assert_eq!(heard.0.iter().map(|(byte, _)| *byte).collect::<Vec<_>>(), [b'!']);
}

/// Units that the core has and the model lacks stop the run.
#[test]
fn systick_on_the_tick_and_the_mpu_are_refused() {
    for (name, address, value, words) in
        [("systick", 0xe000_e010_u32, 1, "SysTick"), ("mpu", 0xe000_ed94, 1, "MPU is not modelled")]
    {
        let program = format!("ldr r0, ={address:#x}\nldr r1, ={value}\nstr r1, [r0]\nloop: b loop\n.ltorg");
        let mut machine = machine(&assemble(name, 0x1000_0000, &format!("{STAGE_2}\n{program}")));
        says(machine.run(&Until { cycles: Some(10_000), ..Until::default() }), words);
    }
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
