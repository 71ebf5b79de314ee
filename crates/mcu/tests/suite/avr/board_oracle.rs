//! Board of an ATmega328P, on the model and on simavr.
//!
//! The same program, pins and voltages lead to the same memory.
//!
//! `board` tests the parts that simavr does not model: automatic triggers of the converter, and the
//! times of conversions and of serial transfers. simavr takes 1023 steps for the reference, the
//! data sheet (24.7) 1024: results may differ by one.

use super::programs::{ATMEGA328P, loaded, program};
use mcu::{Chip, Mcu, Pin, Until, Wiring};
use testkit::oracles::simavr::Simavr;
use testkit::random::{self, Random};

/// Both with the program of `body`.
fn both(name: &str, body: &str) -> (Box<dyn Mcu>, Simavr) {
    let image = program(name, "atmega328p", body);
    let mut simavr = Simavr::new("atmega328p", 16_000_000).unwrap();
    for segment in &image.segments {
        let start = segment.address as usize;
        simavr.flash()[start..start + segment.bytes.len()].copy_from_slice(&segment.bytes);
    }
    let mut machine = loaded(ATMEGA328P, &image);
    machine.board_mut().externally_wakeable = true;
    (machine, simavr)
}

fn run(machine: &mut dyn Mcu, simavr: &mut Simavr, cycle: u64) {
    machine.run(&Until { cycles: Some(cycle), addresses: vec![] }).unwrap();
    assert!(simavr.run_to(cycle));
}

/// The first bytes of RAM, where the only initialised variable lies.
fn memory(machine: &dyn Mcu, simavr: &mut Simavr, size: usize) -> (Vec<u8>, Vec<u8>) {
    let mut bytes = vec![0; size];
    assert!(machine.peek(0x80_0100, &mut bytes));
    (bytes, simavr.data()[0x100..0x100 + size].to_vec())
}

#[test]
fn edges_and_pin_changes_interrupt_as_on_simavr() {
    let mut random = Random::new(random::seed_or(20_261_122));
    for senses in [[1, 1], [1, 2], [2, 3], [3, 1], [3, 2], [2, 2]] {
        let masks: Vec<u32> = (0..3).map(|_| random.below(256)).collect();
        let body = format!(
            "static volatile uint8_t n[6] = {{ 1 }};
            ISR(INT0_vect) {{ n[1]++; }} ISR(INT1_vect) {{ n[2]++; }}
            ISR(PCINT0_vect) {{ n[3]++; }} ISR(PCINT1_vect) {{ n[4]++; }} ISR(PCINT2_vect) {{ n[5]++; }}
            int main(void) {{ DDRB = 0x80; EICRA = {}; EIMSK = 3; PCICR = 7; PCMSK0 = {}; PCMSK1 = {}; PCMSK2 = {};
                sei(); for (;;) sleep_mode(); }}",
            senses[0] | senses[1] << 2,
            masks[0] & 0x7f,
            masks[1] & 0x3f,
            masks[2],
        );
        let (mut machine, mut simavr) = both(&format!("edges{}{}", senses[0], senses[1]), &body);
        run(&mut *machine, &mut simavr, 2_000);
        // To simavr a pin that was never driven has no level: its first one is a change. That is
        // left out of its counts.
        for (port, bits) in [('B', 7), ('C', 6), ('D', 8)] {
            (0..bits).for_each(|bit| simavr.set_pin(port, bit, false));
        }
        let mut cycle = 10_000;
        run(&mut *machine, &mut simavr, cycle);
        let (_, before) = memory(&*machine, &mut simavr, 6);
        for step in 0..400 {
            let (port, bits) = [('B', 7), ('C', 6), ('D', 8), ('D', 4)][random.below(4) as usize];
            let (bit, level) = (random.below(bits) as u8, random.below(2) == 1);
            let pin = Pin::new(&format!("PORT{port}"), bit);
            machine.board_mut().set_input(pin, Some(level));
            simavr.set_pin(port, bit, level);
            cycle += 5_000;
            run(&mut *machine, &mut simavr, cycle);
            let (ours, theirs) = memory(&*machine, &mut simavr, 6);
            let theirs: Vec<u8> =
                theirs.iter().zip(&before).map(|(now, before)| now.wrapping_sub(*before)).collect();
            let what = format!("senses {senses:?}, masks {masks:x?}, step {step}: P{port}{bit} = {level}");
            assert_eq!(ours[1..], theirs[1..], "{what}");
        }
        let (counts, _) = memory(&*machine, &mut simavr, 6);
        assert!(counts[1] > 2 && counts[2] > 2, "too little happened: {counts:?}");
    }
}

#[test]
fn conversions_are_those_of_simavr() {
    let mut random = Random::new(random::seed_or(20_261_122));
    let body = "static volatile uint16_t out[18] = { 1 };
        int main(void) { ADCSRA = 1 << ADEN | 7;
            for (uint8_t n = 0; n < 16; n++) {
                ADMUX = (n & 8 ? 3 << REFS0 : 1 << REFS0) | (n & 7);
                ADCSRA |= 1 << ADSC; while (ADCSRA & 1 << ADSC); out[n] = ADC;
            }
            out[16] = 0x1234; for (;;); }";
    for _ in 0..10 {
        let (mut machine, mut simavr) = both("converter", body);
        machine.board_mut().supply_v = 3.3;
        simavr.set_supply(3300);
        for channel in 0..8 {
            let millivolts = random.below(3400);
            machine.board_mut().set_analog(channel, f64::from(millivolts) / 1000.0);
            simavr.set_analog(channel, millivolts);
        }
        run(&mut *machine, &mut simavr, 200_000);
        let (ours, theirs) = memory(&*machine, &mut simavr, 34);
        let words = |bytes: &[u8]| -> Vec<i32> {
            bytes.chunks(2).map(|pair| i32::from(pair[0]) | i32::from(pair[1]) << 8).collect()
        };
        let (ours, theirs) = (words(&ours), words(&theirs));
        assert_eq!((ours[16], theirs[16]), (0x1234, 0x1234));
        for (index, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            assert!((ours - theirs).abs() <= 1, "{index}: {ours}, simavr {theirs}");
        }
    }
}

/// Gives back what it is sent.
#[derive(Clone)]
struct Loop;

impl Chip for Loop {
    fn name(&self) -> &str {
        "loop"
    }
    fn power_up(&mut self) {}
    fn select(&mut self, _selected: bool, _now_ns: u64) {}
    fn transfer(&mut self, byte: u8, _now_ns: u64) -> Result<u8, String> {
        Ok(byte)
    }
    fn output(&self, _index: u8) -> Option<bool> {
        None
    }
    fn due(&self) -> Option<u64> {
        None
    }
    fn tick(&mut self, _now_ns: u64) {}
    fn boxed_clone(&self) -> Box<dyn Chip> {
        Box::new(Loop)
    }
}

/// Polled, then by interrupt; what comes in, and when the flag is there.
#[test]
fn bytes_go_round_the_serial_interface_as_on_simavr() {
    let body = "static volatile uint8_t out[40] = { 1 }; static volatile uint8_t n;
        ISR(SPI_STC_vect) { uint8_t byte = SPDR; out[16 + n] = byte; if (++n < 16) SPDR = byte * 5 + 3; }
        int main(void) { PORTB = 0; DDRB = 1 << 2 | 1 << 3 | 1 << 5; SPCR = 1 << SPE | 1 << MSTR | 1 << SPR0;
            for (uint8_t i = 0; i < 16; i++) { SPDR = i * 7 + 1; while (!(SPSR & 1 << SPIF)); out[i] = SPDR; }
            out[32] = SPSR;
            SPDR = 9; while (!(SPSR & 1 << SPIF)); out[33] = SPSR; out[34] = SPDR; out[35] = SPSR;
            SPCR |= 1 << SPIE; sei(); SPDR = 77;
            while (n < 16) sleep_mode();
            out[36] = SPSR; out[37] = 99; cli(); for (;;); }";
    let (mut machine, mut simavr) = both("serial", body);
    let wiring = Wiring { spi: "SPI".into(), select: Pin::new("PORTB", 2), outputs: vec![] };
    machine.board_mut().mount(Box::new(Loop), wiring);
    simavr.loop_spi();
    run(&mut *machine, &mut simavr, 200_000);
    let (ours, theirs) = memory(&*machine, &mut simavr, 40);
    assert_eq!(ours[37], 99);
    assert_eq!(ours, theirs);
    assert_eq!(ours[..3], [1, 8, 15]);
}
