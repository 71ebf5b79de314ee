//! Whole programs: the start, the cache of the flash, the boot ROM, and the clock that they set.

use super::super::programs::part;
use super::*;
use mcu::{Image, Mcu, Observer, Segment, Stop, Until, new_clocked_machine};
use std::path::Path;
use std::process::Command;

/// The bytes of a program linked at `base`.
pub fn assemble(name: &str, base: u32, source: &str) -> Image {
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
pub const STAGE_2: &str = "
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

pub fn machine(image: &Image) -> Box<dyn Mcu> {
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
    // Section 2.8.3.1.3: those that prepare commands to the flash come back, and the emptied cache
    // takes its time (section 2.6.3.2).
    for code in [b"IF", b"EX", b"CX", b"FC"] {
        let (function, before) = (look_up(&mut *machine, 0x14, code), machine.cycles());
        call(&mut *machine, function, [0; 3]);
        assert_eq!(machine.cycles() - before > 1_024, code == b"FC", "{code:?}");
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
