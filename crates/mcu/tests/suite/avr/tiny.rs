//! The ATtiny85's timer 1 (2586Q, chapter 12).

use super::programs::{ATTINY85, machine};
use mcu::{Mcu, Observer, PinEdge, Stop, Until};

struct Edges(u8, Vec<(bool, u64)>);

impl Observer for Edges {
    fn pin(&mut self, edge: &PinEdge<'_>) {
        if edge.pin == self.0 {
            self.1.push((edge.high, edge.cycles));
        }
    }
}

/// Edges at a pin of port B after a setup.
fn edges(pin: u8, setup: &str, cycles: u64) -> Vec<(bool, u64)> {
    let body = format!("int main(void) {{ DDRB = 0x1F; {setup} for (;;) __asm__ volatile(\"nop\"); }}");
    let mut machine = machine("tiny-pwm", ATTINY85, "attiny85", &body);
    let mut log = Edges(pin, Vec::new());
    machine.run_observed(&Until { cycles: Some(cycles), addresses: vec![] }, &mut log).unwrap();
    log.1
}

/// (cycles high, cycles of a period) of all whole periods but the first two.
fn pulses(edges: &[(bool, u64)]) -> Vec<(u64, u64)> {
    let rising = edges.iter().position(|(high, _)| *high).unwrap();
    let periods = edges[rising..].windows(3).step_by(2).skip(2);
    periods.map(|edges| (edges[1].1 - edges[0].1, edges[2].1 - edges[0].1)).collect()
}

fn bytes<const N: usize>(machine: &dyn Mcu) -> [u8; N] {
    let mut bytes = [0; N];
    assert!(machine.peek(0x80_0060, &mut bytes));
    bytes
}

/// (OCR1x + 1) of (OCR1C + 1) ticks; toggling outputs have a period of twice (OCR1C + 1). At 8 MHz
/// a cycle has 8 ticks of PCK.
#[test]
fn pulses_are_as_wide_as_their_compare_values() {
    let pll = "PLLCSR = 2; while (!(PLLCSR & 1)); PLLCSR |= 4;";
    let low = "PLLCSR = 0x82; while (!(PLLCSR & 1)); PLLCSR |= 4;";
    let cases = [
        (1, "", "OCR1A = 24; OCR1C = 99; TCCR1 = 0x63;", 25 * 4, 100 * 4),
        (1, "", "OCR1A = 24; OCR1C = 99; TCCR1 = 0x73;", 75 * 4, 100 * 4),
        (1, "", "OCR1A = 24; OCR1C = 99; TCCR1 = 0x53;", 25 * 4, 100 * 4),
        (0, "", "OCR1A = 24; OCR1C = 99; TCCR1 = 0x53;", 75 * 4, 100 * 4),
        (4, "", "OCR1B = 200; GTCCR = 0x60; TCCR1 = 8;", 201 * 128, 256 * 128),
        (3, "", "OCR1B = 200; GTCCR = 0x50; TCCR1 = 1;", 55, 256),
        (1, "", "OCR1A = 24; OCR1C = 99; TCCR1 = 0x91;", 100, 200),
        // A in normal mode while B makes pulses.
        (1, "", "OCR1A = 24; OCR1C = 99; GTCCR = 0x40; TCCR1 = 0x11;", 100, 200),
        (1, pll, "OCR1A = 63; TCCR1 = 0x61;", 8, 32),
        (1, low, "OCR1A = 63; TCCR1 = 0x61;", 16, 64),
        (4, pll, "OCR1B = 15; OCR1C = 199; GTCCR = 0x60; TCCR1 = 4;", 16, 200),
    ];
    for (pin, pll, setup, high, period) in cases {
        let pulses = pulses(&edges(pin, &format!("{pll} {setup}"), 400_000));
        assert!(pulses.len() > 5, "{setup}");
        assert!(pulses.iter().all(|pulse| *pulse == (high, period)), "{setup}: {:?}", &pulses[..5]);
    }
}

/// Table 12-3: OCR1x = 0 and OCR1C are constant outputs.
#[test]
fn extreme_compare_values_are_constant_outputs() {
    let cases = [
        ("0; TCCR1 = 0x61;", false),
        ("0; TCCR1 = 0x71;", true),
        ("99; TCCR1 = 0x61;", true),
        ("99; TCCR1 = 0x71;", false),
    ];
    for (setup, high) in cases {
        let edges = edges(1, &format!("OCR1C = 99; OCR1A = {setup}"), 10_000);
        assert!(edges.len() <= 3, "{setup}: {edges:?}");
        assert_eq!(edges.last().is_some_and(|(level, _)| *level), high, "{setup}: {edges:?}");
    }
}

/// PLOCK comes 100 us after PLLE: 800 cycles at 8 MHz. TOV1 comes with OCR1C in PWM mode and not by
/// CTC1; PSR1 lets a tick begin anew.
#[test]
fn the_pll_locks_and_flags_come() {
    let body = "static volatile uint8_t out[4] __attribute__((section(\".noinit\")));
        int main(void) {
            OCR1A = 50; OCR1C = 99; TCCR1 = 0x81; while (!(TIFR & 0x40)); TCNT1 = 90; while (TCNT1 > 60); out[0] = TIFR; TCCR1 = 0;
            TIFR = 0xFF; TCNT1 = 90; TCCR1 = 0x41; while (!(TIFR & 4)); TCCR1 = 0; out[1] = TCNT1 < 20;
            GTCCR = 2; TCNT1 = 0; TCCR1 = 8; GTCCR = 2; out[2] = GTCCR;
            PLLCSR = 2; OCR1C = 255; TCNT1 = 0; GTCCR = 2; TCCR1 = 3; while (!(PLLCSR & 1)); out[3] = TCNT1; return 0; }";
    let mut machine = machine("tiny-pll", ATTINY85, "attiny85", body);
    assert_eq!(machine.run(&Until { cycles: Some(100_000), addresses: vec![] }), Ok(Stop::Halted));
    let [overflow, wrapped, general, ticks] = bytes(&*machine);
    assert_eq!([overflow & 4, wrapped, general], [0, 1, 0]);
    assert!((197..=201).contains(&ticks), "{ticks}");
}

#[test]
fn unmodelled_settings_are_faults() {
    for (body, what) in
        [("PLLCSR = 2; PLLCSR = 6;", "PLOCK"), ("DT1A = 0x11;", "dead times"), ("GTCCR = 0x81;", "TSM")]
    {
        let mut machine =
            machine("tiny-fault", ATTINY85, "attiny85", &format!("int main(void) {{ {body} }}"));
        let said =
            machine.run(&Until { cycles: Some(10_000), addresses: vec![] }).expect_err(body).to_string();
        assert!(said.contains(what), "{said}");
    }
}
