//! Analog comparator of the ATmega328P and ATmega2560.
//!
//! Sources: DS40002061, chapter 23; 2549Q, chapter 25.

use super::programs::{ATMEGA328P, ATMEGA2560, machine};
use mcu::{Mcu, Pin, Until};

fn run_on(machine: &mut dyn Mcu, cycles: u64) {
    let until = Until { cycles: Some(machine.cycles() + cycles), addresses: vec![] };
    machine.run(&until).unwrap();
}

fn out(machine: &dyn Mcu) -> [u8; 3] {
    let mut bytes = [0; 3];
    assert!(machine.peek(0x80_0100, &mut bytes));
    bytes
}

/// AIN0 is PD6, AIN1 PD7: ACO while AIN0 is the higher one; an interrupt for each edge that ACIS
/// asks for; with ACBG 1.1 V instead of AIN0.
#[test]
fn pins_are_compared() {
    for (acis, interrupts) in [(0, 4), (2, 2), (3, 2)] {
        let body = format!(
            "static volatile uint8_t out[3] = {{ 0xaa }}; ISR(ANALOG_COMP_vect) {{ out[1]++; }}
            int main(void) {{ ACSR = 1 << ACI | {acis}; ACSR |= 1 << ACIE; sei();
                for (;;) out[0] = ACSR & 1 << ACO; }}"
        );
        let mut machine = machine(&format!("comparator{acis}"), ATMEGA328P, "atmega328p", &body);
        let set = |machine: &mut dyn Mcu, bit: u8, level: bool| {
            machine.board_mut().set_input(Pin::new("PORTD", bit), Some(level));
            run_on(machine, 1_000);
            out(machine)[0]
        };
        run_on(&mut *machine, 1_000);
        let seen =
            [(6, true), (7, true), (7, false), (6, false)].map(|(bit, level)| set(&mut *machine, bit, level));
        assert_eq!(seen, [0x20, 0, 0x20, 0]);
        assert_eq!(out(&*machine)[1], interrupts, "ACIS = {acis}");
    }
    let body = "static volatile uint8_t out[3] = { 0xaa };
        int main(void) { ACSR = 1 << ACBG; for (;;) out[0] = ACSR; }";
    let mut machine = machine("comparator-bandgap", ATMEGA328P, "atmega328p", body);
    run_on(&mut *machine, 1_000);
    assert_eq!(out(&*machine)[0] & 0x60, 0x60, "1.1 V against a pin that is low");
    machine.board_mut().set_input(Pin::new("PORTD", 7), Some(true));
    run_on(&mut *machine, 1_000);
    assert_eq!(out(&*machine)[0] & 0x20, 0);
}

/// ACIC: the comparator's rising output (ICES1) captures timer 1, whose own pin does not any more.
#[test]
fn its_output_captures() {
    let body = "static volatile uint8_t out[3] = { 0xaa };
        int main(void) { TCCR1B = 1 << ICES1 | 1 << CS10; ACSR = 1 << ACIC; TIFR1 = 1 << ICF1;
            for (;;) { out[0] = TIFR1 & 1 << ICF1; if (out[0]) { out[1]++; TIFR1 = 1 << ICF1; } } }";
    for (target, name, port, ain0, (own_port, own)) in [
        (ATMEGA328P, "atmega328p", "PORTD", 6, ("PORTB", 0)),
        (ATMEGA2560, "atmega2560", "PORTE", 2, ("PORTD", 4)),
    ] {
        let mut machine = machine(&format!("comparator-capture-{name}"), target, name, body);
        let set = |machine: &mut dyn Mcu, port: &str, bit: u8, level: bool| {
            machine.board_mut().set_input(Pin::new(port, bit), Some(level));
            run_on(machine, 1_000);
        };
        let at = if name == "atmega2560" { 0x80_0200 } else { 0x80_0100 };
        let captures = |machine: &dyn Mcu| {
            let mut bytes = [0; 2];
            assert!(machine.peek(at, &mut bytes));
            bytes[1]
        };
        run_on(&mut *machine, 1_000);
        for level in [true, false, true] {
            set(&mut *machine, own_port, own, level);
        }
        assert_eq!(captures(&*machine), 0, "{name}");
        for (level, seen) in [(true, 1), (false, 1), (true, 2)] {
            set(&mut *machine, port, ain0, level);
            assert_eq!(captures(&*machine), seen, "{name}");
        }
    }
}
