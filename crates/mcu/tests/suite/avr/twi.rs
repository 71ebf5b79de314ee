//! Two-wire interface as a master, with and without a device.
//!
//! Status codes, bytes and times: DS40002061, 22.5.2, tables 22-2 and 22-3.

use super::programs::{ATMEGA128L, ATMEGA328P, machine};
use crate::i2c_bus::Device;
use mcu::{Mcu, Stop, Until};

const STEPS: &str = "static volatile uint8_t out[24] = { 0xaa }; static uint8_t n;
    static void go(uint8_t control) { TWCR = control | 1 << TWINT | 1 << TWEN; while (!(TWCR & 1 << TWINT)); out[n++] = TWSR; }
    static void start(void) { go(1 << TWSTA); }
    static void put(uint8_t byte) { TWDR = byte; go(0); }
    static void stop(void) { TWCR = 1 << TWINT | 1 << TWEN | 1 << TWSTO; while (TWCR & 1 << TWSTO); out[n++] = TWSR; }";

fn out(machine: &dyn Mcu, size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    assert!(machine.peek(0x80_0100, &mut bytes));
    bytes
}

fn run(machine: &mut dyn Mcu) {
    assert_eq!(machine.run(&Until { cycles: Some(1_000_000), addresses: vec![] }), Ok(Stop::Halted));
}

#[test]
fn a_device_is_written_and_read() {
    for (part, mcu) in [(ATMEGA328P, "atmega328p"), (ATMEGA128L, "atmega128")] {
        let body = format!(
            "{STEPS} int main(void) {{ TWBR = 72; start(); put(0x78); put(1); put(2); put(3); put(4);
                start(); put(0x79); go(1 << TWEA); out[n++] = TWDR; go(0); out[n++] = TWDR; stop(); return 0; }}"
        );
        let mut machine = machine("two-wire", part, mcu, &body);
        machine.board_mut().mount_two_wire("TWI", Box::new(Device::default()));
        run(&mut *machine);
        let expected = [0x08, 0x18, 0x28, 0x28, 0x28, 0x30, 0x10, 0x40, 0x50, 0xA0, 0x58, 0xA1, 0xF8];
        assert_eq!(out(&*machine, 13), expected, "{mcu}");
        let clock_hz = machine.board_mut().clock_hz();
        let device = machine.board_mut().two_wire_device_mut("device").unwrap();
        let device = device.downcast_ref::<Device>().unwrap();
        assert_eq!(device.log, ["3cW", "01", "02", "03", "04", "3cR", "ACK", "NACK", "STOP"]);
        // Nine bits of 16 + 2 * 72 cycles, and the few instructions between the flag and the next
        // byte.
        let byte_ns = 9 * 160 * 1_000_000_000 / clock_hz;
        for pair in device.times_ns[..5].windows(2) {
            let more = pair[1] - pair[0] - byte_ns;
            assert!(more < 60 * 1_000_000_000 / clock_hz, "{mcu}: {more} ns");
        }
    }
}

/// The prescaler multiplies TWBR by 4 for each step: 16 + 2 * 10 * 16 = 336 cycles a bit.
#[test]
fn empty_bus_does_not_acknowledge() {
    let body = format!(
        "{STEPS} int main(void) {{ TWBR = 10; TWSR = 2; start(); TCCR1B = 1; TCNT1 = 0; put(0x78);
            uint16_t ticks = TCNT1; out[n++] = ticks; out[n++] = ticks >> 8; put(5); start(); put(0x79); stop(); return 0; }}"
    );
    let mut machine = machine("empty", ATMEGA328P, "atmega328p", &body);
    run(&mut *machine);
    let out = out(&*machine, 8);
    let ticks = u16::from_le_bytes([out[2], out[3]]);
    assert!((9 * 336..9 * 336 + 40).contains(&ticks), "{ticks}");
    assert_eq!([out[0], out[1], out[4], out[5], out[6], out[7]], [0x0A, 0x22, 0x32, 0x12, 0x4A, 0xFA]);
}

/// The interrupt comes again as long as TWINT is set; TWDR is refused with TWWC while it is clear;
/// TWEN off ends everything.
#[test]
fn flags_and_interrupt() {
    let body = "static volatile uint8_t out[4] = { 0xaa };
        ISR(TWI_vect) { if (++out[0] == 3) TWCR = 0; }
        int main(void) { out[0] = 0; TWBR = 12; TWDR = 7; out[1] = TWCR; out[2] = TWDR;
            TWCR = 1 << TWINT | 1 << TWSTA | 1 << TWEN | 1 << TWIE; sei(); while (out[0] < 3) sleep_mode(); cli();
            out[3] = TWSR; return 0; }";
    let mut machine = machine("twi-flags", ATMEGA328P, "atmega328p", body);
    run(&mut *machine);
    assert_eq!(out(&*machine, 4), [3, 0x08, 0xFF, 0xF8]);
}
