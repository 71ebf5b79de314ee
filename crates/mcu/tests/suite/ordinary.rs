//! Ordinary firmware, at which a model must not stop.
//!
//! The programs are whole, each with the value that the part gives.

use crate::avr::programs::{ATMEGA328P, ATMEGA2560, image};
use crate::cortex_m::programs::{number, part, run};
use mcu::{Image, Part, Stop, Until, new_clocked_machine, new_machine, vectors_behind_bootloader};
use std::path::{Path, PathBuf};
use std::process::Command;

const UNTIL: Until = Until { cycles: Some(100_000_000), addresses: Vec::new() };

fn source(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/ordinary").join(file)
}

/// The image that a compiler makes of a program.
fn built(name: &str, command: &mut Command) -> Image {
    let elf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ordinary-{name}-{}.elf", number()));
    run(command.arg("-o").arg(&elf));
    image(&std::fs::read(elf).expect("the compiler wrote it"))
}

fn arm(file: &str, target: &str, script: &str, options: &[&str]) -> Image {
    let cpu = match target {
        "stm32f051" => "cortex-m0",
        "samd21" | "rp2040" => "cortex-m0plus",
        "stm32f100" | "stm32f103" => "cortex-m3",
        "stm32f767" => "cortex-m7",
        _ => "cortex-m4",
    };
    let name = format!("{file}-{target}{}", options.concat());
    let mut command = Command::new("arm-none-eabi-gcc");
    command.args(["-O1", "-mthumb", "-nostdlib", &format!("-mcpu={cpu}")]).args(options);
    built(&name, command.arg("-T").arg(source(script)).arg(source(file)))
}

fn avr(file: &str, mcu: &str) -> Image {
    avr_with(file, mcu, &[])
}

fn avr_with(file: &str, mcu: &str, options: &[&str]) -> Image {
    let mut command = Command::new("avr-gcc");
    command.args(["-Os", &format!("-mmcu={mcu}"), "-DF_CPU=16000000UL"]);
    built(&format!("{file}-{mcu}{}", options.concat()), command.args(options).arg(source(file)))
}

/// End of an image's run on a part, and its output.
fn ending(part: &Part, image: &Image) -> (Result<Stop, mcu::Fault>, String) {
    let mut machine = new_machine(part, part.default_clock_hz).expect("a machine");
    machine.load(image).expect("it fits");
    machine.reset();
    // As a debugger starts an image in RAM.
    if let Some(segment) = image.segments.iter().find(|segment| segment.address == 0x2000_0000) {
        let word = |at: usize| u32::from_le_bytes(segment.bytes[at..at + 4].try_into().expect("a word"));
        assert!(machine.set_register("sp", word(0)));
        machine.set_pc(word(4));
    }
    // From here on the board keeps what is sent.
    machine.board_mut().take_sent();
    let stop = machine.run(&UNTIL);
    machine.finish_sending(&mut mcu::NoObserver);
    let said = machine.board_mut().take_sent().into_iter().map(|sent| char::from(sent.byte)).collect();
    (stop, said)
}

/// The linker script whose flash is the target's, which for the RP2040 is its RAM.
fn script(target: &str) -> &'static str {
    match target {
        "nrf52840" | "samd21" => "cm0.ld",
        "rp2040" => "rp2040ram.ld",
        _ => "cm.ld",
    }
}

const ARM: [&str; 11] = [
    "stm32f051",
    "stm32f100",
    "stm32f103",
    "stm32f401",
    "stm32f407",
    "stm32f411",
    "stm32f767",
    "stm32l4r5",
    "nrf52840",
    "samd21",
    "rp2040",
];

fn exits_well(file: &str, target: &str) {
    let image = arm(file, target, script(target), &[]);
    assert_eq!(ending(&part(target), &image).0, Ok(Stop::Exit(0)), "{file} on {target}");
}

#[test]
fn nvic_registers_beyond_the_interrupts_read_as_zero() {
    ARM.iter().for_each(|target| exits_well("nvic_beyond.c", target));
}

#[test]
fn systick_calibration_can_be_read_on_every_part() {
    ARM.iter().for_each(|target| exits_well("systick_calib.c", target));
}

#[test]
fn sevonpend_wakes_for_an_interrupt_pended_by_software() {
    for target in ARM {
        let image = arm("sevonpend.c", target, script(target), &[]);
        assert_eq!(ending(&part(target), &image), (Ok(Stop::Exit(0)), "1\n".into()), "{target}");
    }
}

#[test]
fn ictr_tells_the_interrupts_of_the_part() {
    let known = [
        ("stm32f100", 1),
        ("stm32f103", 1),
        ("stm32f401", 2),
        ("stm32f407", 2),
        ("stm32f411", 2),
        ("stm32l4r5", 2),
        ("stm32f767", 3),
        ("nrf52840", 1),
    ];
    for (target, groups) in known {
        let image = arm("ictr.c", target, script(target), &[]);
        assert_eq!(ending(&part(target), &image).0, Ok(Stop::Exit(groups)), "{target}");
    }
}

#[test]
fn rp2040_reads_blocks_in_reset_and_sets_dma_interrupts() {
    for options in [&[][..], &["-DDMA"]] {
        let image = arm("rp2040_reset_dma.c", "rp2040", "rp2040ram.ld", options);
        assert_eq!(ending(&part("rp2040"), &image).0, Ok(Stop::Exit(0)), "{options:?}");
    }
}

#[test]
fn image_behind_a_bootloader_begins_without_a_vtor() {
    let image = arm("m0_behind_bootloader.c", "stm32f051", "cm-boot.ld", &[]);
    let mut part = part("stm32f051");
    part.vectors = vectors_behind_bootloader(&part, &image);
    assert_eq!(part.vectors, Some(0x0800_2000));
    assert_eq!(ending(&part, &image).0, Ok(Stop::Exit(0)));
}

#[test]
fn stm32_vrefint_follows_the_supply() {
    let image = arm("stm32_vrefint.c", "stm32f407", "cm.ld", &[]);
    for (supply_v, expected) in [(3.3, 1501), (3.0, 1651), (2.0, 2477)] {
        let mut part = part("stm32f407");
        part.supply_v = supply_v;
        // The part begins on its internal oscillator.
        let mut machine = new_clocked_machine(&part, None).expect("a machine");
        machine.load(&image).expect("it fits");
        machine.reset();
        machine.board_mut().take_sent();
        assert_eq!(machine.run(&UNTIL), Ok(Stop::Exit(u32::from(supply_v != 3.3))), "{supply_v} V");
        let said: String =
            machine.board_mut().take_sent().into_iter().map(|sent| char::from(sent.byte)).collect();
        let code: i32 = said.trim().parse().expect("a number");
        assert!((code - expected).abs() <= 1, "{supply_v} V: {code}");
    }
}

#[test]
fn avr_bandgap_follows_the_supply() {
    let image = avr("avr_vcc_bandgap.c", "atmega328p");
    for (supply_v, code) in [(None, "225"), (Some(3.3), "341")] {
        let mut part = Part::from_toml(ATMEGA328P).expect("a part");
        part.supply_v = supply_v.unwrap_or(part.supply_v);
        assert_eq!(ending(&part, &image).1.trim(), code, "{supply_v:?}");
    }
}

#[test]
fn wdie_alone_interrupts_first_and_resets_then() {
    let image = avr("wdt_wdie_only.c", "atmega328p");
    let said = ending(&Part::from_toml(ATMEGA328P).expect("a part"), &image).1;
    assert_eq!(said, "WDTCSR 4D\nirq\nWDTCSR 0D\nreset by watchdog\n.");
}

#[test]
fn eeprom_erases_and_programs_by_itself() {
    for (target, mcu) in [(ATMEGA328P, "atmega328p"), (ATMEGA2560, "atmega2560")] {
        let image = avr("eeprom_split.c", mcu);
        let said = ending(&Part::from_toml(target).expect("a part"), &image).1;
        assert_eq!(said.trim(), "FF 3C 0C", "{mcu}");
    }
}

/// ADIF stays from the conversions that have ended, unless it is cleared, too.
#[test]
fn adc_switched_off_ends_its_conversion() {
    for (options, control) in [(&[][..], "10"), (&["-DOFF=16"], "00")] {
        let image = avr_with("adc_off_midway.c", "atmega328p", options);
        let said = ending(&Part::from_toml(ATMEGA328P).expect("a part"), &image).1;
        assert_eq!(said.trim(), control, "{options:?}");
    }
}

#[test]
fn msp430_watchdog_password_resets() {
    let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ordinary-msp_wdt_password.o");
    let assembly = source("msp_wdt_password.S");
    run(Command::new("clang").args(["--target=msp430", "-c"]).arg(assembly).arg("-o").arg(&object));
    let mut link = Command::new("ld.lld");
    let image = built("msp_wdt_password", link.args(["-N", "-T"]).arg(source("msp.ld")).arg(&object));
    let part = Part::from_toml(include_str!("../../../../targets/msp430f5438a.toml")).expect("a part");
    let mut machine = new_machine(&part, part.default_clock_hz).expect("a machine");
    machine.load(&image).expect("it fits");
    machine.reset();
    assert_eq!(machine.run(&UNTIL), Ok(Stop::Halted));
    let registers = machine.registers();
    assert!(registers.contains(&("r12".into(), 0)), "{registers:?}");
}
