//! Images with fuses, lock bits and a signature.
//!
//! avr-libc's sections are `.fuse`, `.lock`, `.signature`.

use super::programs::{ATMEGA128L, ATMEGA328P, compile, image, machine};
use mcu::{Fault, Image, Mcu, Part, Stop, Until, new_clocked_machine};

const MAIN: &str = "int main(void) { return 0; }";

fn built(mcu: &str, declarations: &str, options: &[&str]) -> Image {
    let source =
        format!("#include <avr/io.h>\n#include <avr/fuse.h>\n#include <avr/lock.h>\n{declarations}\n{MAIN}");
    image(&compile("fuses", mcu, &source, options))
}

/// A machine that follows the clock, with what loading the image says.
fn loaded(part: &str, image: &Image) -> Result<Box<dyn Mcu>, Fault> {
    let mut machine = new_clocked_machine(&Part::from_toml(part).unwrap(), None).unwrap();
    machine.load(image)?;
    machine.reset();
    Ok(machine)
}

fn fused(low: u8, high: u8, extended: u8) -> Box<dyn Mcu> {
    let fuses = format!("FUSES = {{ .low = {low}, .high = {high}, .extended = {extended} }};");
    loaded(ATMEGA328P, &built("atmega328p", &fuses, &["-Os"])).unwrap()
}

#[test]
fn the_low_fuse_of_an_image_sets_the_clock() {
    // Tables 9-1 and 28-9: crystal; the factory's RC oscillator by 8; RC oscillator; 128 kHz;
    // crystal by 8.
    for (low, hz) in
        [(0xFF, 16_000_000), (0x62, 1_000_000), (0xE2, 8_000_000), (0xE3, 128_000), (0x7F, 2_000_000)]
    {
        let mut machine = fused(low, 0xD9, 0xFF);
        assert_eq!(machine.clock_hz(), hz, "{low:#04x}");
        machine.reset_by(mcu::ResetCause::External);
        assert_eq!(machine.clock_hz(), hz, "{low:#04x}");
        machine.reset();
        assert_eq!(machine.clock_hz(), hz, "{low:#04x}");
    }
}

/// Table 27-13: word addresses 0x3F00, 0x3E00, 0x3C00, 0x3800, where BOOTRST is programmed.
#[test]
fn bootrst_starts_in_the_boot_section() {
    for (high, start) in [(0xD9, 0), (0xDE, 0x7E00), (0xDC, 0x7C00), (0xDA, 0x7800), (0xD8, 0x7000)] {
        assert_eq!(fused(0xFF, high, 0xFF).pc(), start, "{high:#04x}");
    }
    let source = format!(
        "#include <avr/io.h>\n#include <avr/fuse.h>\nFUSES = {{ .low = 0xFF, .high = 0xDE, .extended = 0xFF }};\n{MAIN}"
    );
    let elf = compile("boot", "atmega328p", &source, &["-Os", "-Wl,--section-start=.text=0x7e00"]);
    let mut machine = loaded(ATMEGA328P, &image(&elf)).unwrap();
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
    assert!(machine.pc() > 0x7E00, "{:#x}", machine.pc());
}

/// 2048 periods of 128 kHz are 16 ms; WDIE stays zero and WDE one.
#[test]
fn wdton_keeps_the_watchdog_on() {
    let body = "FUSES = { .low = 0xFF, .high = 0xC9, .extended = 0xFF };
        static volatile uint8_t out[4] __attribute__((section(\".noinit\")));
        int main(void) {
            out[0]++; out[1] = MCUSR; MCUSR = 0;
            WDTCSR = 1 << WDCE | 1 << WDE; WDTCSR = 1 << WDIE; out[2] = WDTCSR;
            for (;;) __asm__(\"nop\"); }";
    let mut machine = machine("wdton", ATMEGA328P, "atmega328p", body);
    let out = |machine: &dyn Mcu| {
        let mut out = [0; 3];
        assert!(machine.peek(0x80_0100, &mut out));
        out
    };
    let run = |machine: &mut dyn Mcu, cycles| machine.run(&Until { cycles: Some(cycles), addresses: vec![] });
    run(&mut *machine, 255_000).unwrap();
    assert_eq!(out(&*machine), [1, 1, 0x08]);
    run(&mut *machine, 257_000).unwrap();
    assert_eq!(out(&*machine), [2, 8, 0x08]);
}

#[test]
fn lock_bits_and_fuses_can_be_read() {
    let image = built("atmega328p", "LOCKBITS = 0xCF; FUSES = { 0xE2, 0xD1, 0xFD };", &["-Os"]);
    let machine = loaded(ATMEGA328P, &image).unwrap();
    let (mut lock, mut fuses, mut signature) = ([0], [0; 3], [0; 3]);
    assert!(machine.peek(0x83_0000, &mut lock) && machine.peek(0x82_0000, &mut fuses));
    assert!(machine.peek(0x84_0000, &mut signature) && !machine.peek(0x82_0003, &mut lock));
    assert_eq!((lock, fuses, signature), ([0xCF], [0xE2, 0xD1, 0xFD], [0x1E, 0x95, 0x0F]));
}

#[test]
fn a_signature_must_be_the_parts() {
    let signed = |mcu: &str| built(mcu, "#include <avr/signature.h>", &["-Os"]);
    assert!(loaded(ATMEGA328P, &signed("atmega328p")).is_ok());
    assert!(loaded(ATMEGA128L, &signed("atmega128")).is_ok());
    let said = loaded(ATMEGA328P, &signed("atmega128")).err().expect("refused").to_string();
    assert!(said.contains("1e 97 02") && said.contains("1e 95 0f"), "{said}");
}

#[test]
fn a_fuse_with_an_effect_that_is_not_modelled_is_refused() {
    let fused =
        |fuses: &str| loaded(ATMEGA128L, &built("atmega128", &format!("FUSES = {{ {fuses} }};"), &["-Os"]));
    assert!(fused("0xFF, 0xD9, 0xFF").is_ok());
    let said = fused("0xFF, 0xD9, 0xFD").err().expect("refused").to_string();
    assert!(said.contains("M103C"), "{said}");
    // Its watchdog cannot reset it yet.
    let said = fused("0xFF, 0xD9, 0xFE").unwrap().run(&Until::default()).expect_err("refused").to_string();
    assert!(said.contains("WDTON"), "{said}");
}
