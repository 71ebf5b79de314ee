//! Resets of an ATmega: lost state, kept state, reset flags.

use super::programs::{ATMEGA328P, machine};
use mcu::{Mcu, ResetCause, Stop, Until};

fn run(machine: &mut dyn Mcu, cycles: u64) -> Stop {
    machine.run(&Until { cycles: Some(cycles), addresses: vec![] }).unwrap()
}

fn byte(machine: &dyn Mcu, address: u32) -> u8 {
    let mut byte = [0];
    assert!(machine.peek(address, &mut byte));
    byte[0]
}

/// Starts and causes, kept in RAM that nobody initialises.
const CAUSES: &str = "static volatile uint8_t out[8] __attribute__((section(\".noinit\")));
    #define BEGIN() out[1 + out[0]++] = MCUSR; MCUSR = 0;\n";
const OUT: u32 = 0x80_0100;

/// 16 ms are 256,000 cycles of 16 MHz. After the reset the watchdog runs on in its shortest time
/// until it is switched off.
#[test]
fn the_watchdog_resets() {
    let body = format!(
        "{CAUSES} int main(void) {{ BEGIN();
            if (out[0] == 1) {{ WDTCSR = 1 << WDCE | 1 << WDE; WDTCSR = 1 << WDE | 1 << WDP0; out[7] = WDTCSR; for (;;); }}
            if (out[0] == 2) for (;;);
            WDTCSR = 1 << WDCE | 1 << WDE; WDTCSR = 0; out[6] = WDTCSR;
            return 0; }}"
    );
    let mut machine = machine("watchdog", ATMEGA328P, "atmega328p", &body);
    assert_eq!(run(&mut *machine, 2_000_000), Stop::Halted);
    let out: Vec<u8> = (0..8).map(|index| byte(&*machine, OUT + index)).collect();
    // Power-on, twice the watchdog; WDE and WDP0, then nothing.
    assert_eq!(out, [3, 1, 8, 8, 0, 0, 0, 0x09]);
    // 32 ms and 16 ms, and less than two hundred cycles for three starts.
    assert!((768_000..768_200).contains(&machine.cycles()), "{}", machine.cycles());
}

/// With its interrupt on, too, the first time out interrupts and the second resets; feeding it
/// defers both.
#[test]
fn the_watchdog_interrupts_before_it_resets() {
    let body = format!(
        "{CAUSES} ISR(WDT_vect) {{ out[6]++; out[7] = WDTCSR; }}
        int main(void) {{ BEGIN();
            if (out[0] == 2) {{ WDTCSR = 1 << WDCE | 1 << WDE; WDTCSR = 0; return 0; }}
            WDTCSR = 1 << WDCE | 1 << WDE; WDTCSR = 1 << WDE | 1 << WDIE; sei();
            for (uint8_t n = 0; n < 10; n++) {{ __builtin_avr_delay_cycles(200000); __asm__(\"wdr\"); }}
            for (;;) sleep_mode(); }}"
    );
    let mut machine = machine("watchdog2", ATMEGA328P, "atmega328p", &body);
    assert_eq!(run(&mut *machine, 10_000_000), Stop::Halted);
    let out: Vec<u8> = (0..8).map(|index| byte(&*machine, OUT + index)).collect();
    assert_eq!(out, [2, 1, 8, 0, 0, 0, 1, 0x08]);
    assert!((2_512_000..2_513_000).contains(&machine.cycles()), "{}", machine.cycles());
}

/// A reset from outside keeps RAM and the EEPROM's write that is under way; time goes on.
#[test]
fn resets_from_outside_add_their_flags() {
    let body = "static volatile uint8_t out[8] __attribute__((section(\".noinit\")));
        int main(void) { out[0]++; out[1] = MCUSR; if (out[0] == 1) {
            EEAR = 5; EEDR = 0x5A; EECR = 1 << EEMPE; EECR = 1 << EEPE; PORTB = 1; DDRB = 1; }
            for (;;) __asm__(\"nop\"); }";
    let mut machine = machine("outside", ATMEGA328P, "atmega328p", body);
    run(&mut *machine, 10_000);
    assert!(machine.board().is_driven("PORTB", 0));
    machine.reset_by(ResetCause::External);
    assert!(!machine.board().is_driven("PORTB", 0));
    run(&mut *machine, 20_000);
    assert_eq!([byte(&*machine, OUT), byte(&*machine, OUT + 1)], [2, 3]);
    machine.reset_by(ResetCause::BrownOut);
    assert!((20_000..20_003).contains(&machine.cycles()), "time goes on");
    assert_eq!(byte(&*machine, 0x81_0005), 0xFF);
    run(&mut *machine, 80_000);
    assert_eq!([byte(&*machine, OUT), byte(&*machine, OUT + 1)], [3, 7]);
    assert_eq!(byte(&*machine, 0x81_0005), 0x5A);
    machine.reset_by(ResetCause::PowerOn);
    assert_eq!(machine.cycles(), 0);
    run(&mut *machine, 1_000);
    assert_eq!([byte(&*machine, OUT), byte(&*machine, OUT + 1)], [1, 1]);
}

/// A cut while a byte is written tears that byte and no other; before it and after it, none.
#[test]
fn a_cut_tears_the_byte_that_is_written() {
    let body = "int main(void) { for (uint8_t n = 0; n < 4; n++) {
            while (EECR & 1 << EEPE); EEAR = n; EEDR = 0x10 + n; EECR = 1 << EEMPE; EECR = 1 << EEPE; }
        while (EECR & 1 << EEPE); return 0; }";
    let fresh = machine("cut", ATMEGA328P, "atmega328p", body);
    for cut in 0..=4 {
        let mut machine = fresh.snapshot();
        let mut at = 0;
        while machine.nonvolatile_writes() < cut {
            at += 50;
            run(&mut *machine, at);
        }
        machine.cut_power(0x77);
        assert_eq!(machine.cycles(), 0);
        let cells: Vec<u8> = (0..4).map(|cell| byte(&*machine, 0x81_0000 + cell)).collect();
        let mut expected = [0xFF; 4];
        for (cell, value) in expected.iter_mut().enumerate().take(cut as usize) {
            *value = if cell as u64 + 1 == cut { 0x77 } else { 0x10 + cell as u8 };
        }
        assert_eq!(cells, expected, "after {cut} writes");
        assert_eq!(run(&mut *machine, 1_000_000), Stop::Halted);
        assert_eq!(machine.nonvolatile_writes(), cut + 4);
        machine.cut_power(0x77);
        assert_eq!([0, 3].map(|cell| byte(&*machine, 0x81_0000 + cell)), [0x10, 0x13]);
    }
}
