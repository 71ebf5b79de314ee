//! Timers of the ATmega328P.
//!
//! They have waveforms at the pins, flags, buffers, input capture and external clocks. Expected
//! values follow from the data sheet's descriptions of the modes (DS40002061, 15.7, 16.9).

use super::programs::{ATMEGA328P, ATMEGA2560, ATTINY85, machine};
use mcu::{Mcu, Observer, Pin, PinEdge, Until};

/// Edges of one pin.
struct Edges {
    port: &'static str,
    pin: u8,
    edges: Vec<(bool, u64)>,
}

impl Observer for Edges {
    fn pin(&mut self, edge: &PinEdge<'_>) {
        if (edge.port, edge.pin) == (self.port, self.pin) {
            self.edges.push((edge.high, edge.cycles));
        }
    }
}

fn run(machine: &mut dyn Mcu, cycles: u64) {
    machine.run(&Until { cycles: Some(cycles), addresses: vec![] }).unwrap();
}

/// The edges at a pin after a setup, up to a cycle; the program then spins.
fn edges(name: &str, port: &'static str, pin: u8, setup: &str, cycles: u64) -> Vec<(bool, u64)> {
    let body =
        format!("int main(void) {{ DDRB = DDRD = 0xFF; {setup} for (;;) __asm__ volatile(\"nop\"); }}");
    let mut machine = machine(name, ATMEGA328P, "atmega328p", &body);
    let mut log = Edges { port, pin, edges: Vec::new() };
    machine.run_observed(&Until { cycles: Some(cycles), addresses: vec![] }, &mut log).unwrap();
    log.edges
}

/// (cycles high, cycles of a period) of all whole periods but the first two.
fn pulses(edges: &[(bool, u64)]) -> Vec<(u64, u64)> {
    let rising = edges.iter().position(|(high, _)| *high).unwrap();
    let periods = edges[rising..].windows(3).step_by(2).skip(2);
    periods.map(|edges| (edges[1].1 - edges[0].1, edges[2].1 - edges[0].1)).collect()
}

fn word(machine: &dyn Mcu, index: u32) -> u16 {
    let mut bytes = [0; 2];
    assert!(machine.peek(0x80_0100 + 2 * index, &mut bytes));
    u16::from_le_bytes(bytes)
}

/// Fast PWM: (OCR + 1) of (TOP + 1) ticks. Phase correct: 2 OCR of 2 TOP. Inverted outputs (COM 3):
/// the rest.
#[test]
fn pulses_are_as_wide_as_their_compare_values() {
    let cases = [
        ("fast0a", "PORTD", 6, "OCR0A = 63; TCCR0A = 0x83; TCCR0B = 2;", 64 * 8, 256 * 8),
        ("fast0b", "PORTD", 5, "OCR0B = 63; TCCR0A = 0x33; TCCR0B = 2;", 192 * 8, 256 * 8),
        ("fast7", "PORTD", 5, "OCR0A = 99; OCR0B = 24; TCCR0A = 0x23; TCCR0B = 0x0A;", 25 * 8, 100 * 8),
        ("spike", "PORTD", 6, "OCR0A = 0; TCCR0A = 0x83; TCCR0B = 2;", 8, 256 * 8),
        ("toggle7", "PORTD", 6, "OCR0A = 99; TCCR0A = 0x43; TCCR0B = 0x0A;", 100 * 8, 200 * 8),
        ("phase2", "PORTD", 3, "OCR2B = 100; TCCR2A = 0x21; TCCR2B = 4;", 200 * 64, 510 * 64),
        ("phase5", "PORTD", 3, "OCR2A = 50; OCR2B = 20; TCCR2A = 0x21; TCCR2B = 0x0A;", 40 * 8, 100 * 8),
        ("phase1", "PORTB", 1, "OCR1A = 100; TCCR1A = 0x81; TCCR1B = 3;", 200 * 64, 510 * 64),
        ("inverted", "PORTB", 2, "OCR1B = 100; TCCR1A = 0x31; TCCR1B = 3;", 310 * 64, 510 * 64),
        ("phase9", "PORTB", 1, "OCR1A = 100; TCCR1A = 0x82; TCCR1B = 1;", 200, 1022),
        ("phase10", "PORTB", 1, "OCR1A = 1000; TCCR1A = 0x83; TCCR1B = 1;", 2000, 2046),
        (
            "phase_icr",
            "PORTB",
            1,
            "TCCR1A = 0x82; TCCR1B = 0x10; ICR1 = 700; OCR1A = 70; TCCR1B = 0x11;",
            140,
            1400,
        ),
        (
            "frequency",
            "PORTB",
            1,
            "TCCR1A = 0x80; TCCR1B = 0x10; ICR1 = 1000; OCR1A = 250; TCCR1B = 0x11;",
            500,
            2000,
        ),
        ("frequency_ocr", "PORTB", 1, "OCR1A = 300; TCCR1A = 0x41; TCCR1B = 0x11;", 600, 1200),
        (
            "servo",
            "PORTB",
            1,
            "TCCR1A = 0x82; TCCR1B = 0x18; ICR1 = 39999; OCR1A = 2999; TCCR1B = 0x1A;",
            24_000,
            320_000,
        ),
        ("fast9", "PORTB", 2, "OCR1B = 9; TCCR1A = 0x22; TCCR1B = 9;", 10, 512),
        ("fast10", "PORTB", 2, "OCR1B = 9; TCCR1A = 0x23; TCCR1B = 9;", 10, 1024),
        ("tone", "PORTB", 3, "OCR2A = 124; TCCR2A = 0x42; TCCR2B = 3;", 125 * 32, 250 * 32),
        (
            "ctc_icr",
            "PORTB",
            2,
            "TCCR1A = 0x10; TCCR1B = 0x18; ICR1 = 199; OCR1B = 50; TCCR1B = 0x19;",
            200,
            400,
        ),
        ("normal", "PORTD", 5, "OCR0B = 77; TCCR0A = 0x10; TCCR0B = 1;", 256, 512),
    ];
    for (name, port, pin, setup, high, period) in cases {
        let pulses = pulses(&edges(name, port, pin, setup, 12 * period + 1000));
        assert!(pulses.len() > 2, "{name}: {pulses:?}");
        assert!(pulses.iter().all(|pulse| *pulse == (high, period)), "{name}: {pulses:?}");
    }
}

/// "Setting OCR0A equal to MAX will result in a constantly high or low output"; in phase correct
/// mode so with BOTTOM.
#[test]
fn extreme_compare_values_are_constant_outputs() {
    let cases = [
        ("fast-high", "OCR0A = 255; TCCR0A = 0x83; TCCR0B = 1;", true),
        ("fast-low", "OCR0A = 255; TCCR0A = 0xC3; TCCR0B = 1; ", false),
        ("phase-high", "OCR0A = 255; TCCR0A = 0x81; TCCR0B = 1;", true),
        ("phase-low", "OCR0A = 0; TCCR0A = 0x81; TCCR0B = 1;", false),
        ("phase-inverted", "OCR0A = 0; TCCR0A = 0xC1; TCCR0B = 1;", true),
    ];
    for (name, setup, high) in cases {
        let edges = edges(name, "PORTD", 6, setup, 10_000);
        let late = edges.iter().filter(|(_, cycle)| *cycle > 1_000).count();
        assert_eq!((late, edges.last().is_some_and(|edge| edge.0)), (0, high), "{name}: {edges:?}");
    }
}

/// The port has its latch at the pin while the output is disconnected; as an input the output is
/// not seen.
#[test]
fn the_port_gives_way_to_a_connected_output() {
    let setup = "PORTD = 0; OCR0A = 127; TCCR0A = 0x83; TCCR0B = 1;
        for (uint8_t n = 250; n; n--) __asm__ volatile(\"nop\"); TCCR0A = 3; PORTD = 0x40; DDRD = 0; DDRD = 0x40;";
    let edges = edges("port", "PORTD", 6, setup, 20_000);
    let last: Vec<bool> = edges.iter().rev().take(3).map(|edge| edge.0).collect();
    assert_eq!(last, [true, false, true], "the latch, let go of, the latch: {edges:?}");
    let mut machine = machine(
        "pin",
        ATMEGA328P,
        "atmega328p",
        "volatile uint8_t seen[2] = { 1 }; int main(void) { OCR0A = 127; TCCR0A = 0x83; TCCR0B = 1; DDRD = 0x40;
            for (;;) seen[PIND >> 6 & 1]++; }",
    );
    run(&mut *machine, 20_000);
    let [low, high] = word(&*machine, 0).to_le_bytes();
    assert!(low > 5 && high > 5, "PIND shows what is at the pin: {low} {high}");
}

/// TOV comes every 256 ticks in fast PWM, every 510 in phase correct mode; the compare flag once
/// and twice in these.
#[test]
fn flags_come_with_the_period() {
    for (wgm, period) in [(3, 256), (1, 510)] {
        let setup = format!("TCCR0A = {wgm}; TCCR0B = 3; TIMSK0 = 1; sei();");
        let isr = "ISR(TIMER0_OVF_vect) { PINB = 1; }";
        let body = format!("{isr} int main(void) {{ DDRB = 1; {setup} for (;;) sleep_mode(); }}");
        let mut machine = machine(&format!("tov{wgm}"), ATMEGA328P, "atmega328p", &body);
        let mut log = Edges { port: "PORTB", pin: 0, edges: Vec::new() };
        machine.run_observed(&Until { cycles: Some(200_000), addresses: vec![] }, &mut log).unwrap();
        assert!(log.edges.len() > 4);
        assert!(log.edges.windows(2).all(|pair| pair[1].1 - pair[0].1 == period * 64), "{:?}", log.edges);
    }
    // OCR2A = 100 on the way up and down: 155 ticks up to TOP and as many back, then 200.
    let body = "ISR(TIMER2_COMPA_vect) { PINB = 1; }
        int main(void) { DDRB = 1; OCR2A = 100; TCCR2A = 1; TCCR2B = 4; TIMSK2 = 2; sei(); for (;;) sleep_mode(); }";
    let mut machine = machine("ocf", ATMEGA328P, "atmega328p", body);
    let mut log = Edges { port: "PORTB", pin: 0, edges: Vec::new() };
    machine.run_observed(&Until { cycles: Some(300_000), addresses: vec![] }, &mut log).unwrap();
    let between: Vec<u64> = log.edges.windows(2).map(|pair| (pair[1].1 - pair[0].1) / 64).take(5).collect();
    assert_eq!(between, [310, 200, 310, 200, 310]);
}

/// In fast PWM a new compare value counts from the next period on: OCR0A is set to 199 when 50 of
/// 256 ticks are over. It is read back at once.
#[test]
fn compare_values_are_buffered() {
    let setup =
        "OCR0A = 99; TCCR0A = 0x83; TCCR0B = 3; while (TCNT0 < 50); OCR0A = 199; if (OCR0A != 199) for (;;);
        while (!(TIFR0 & 1)); while (TCNT0 < 50); OCR0A = 29;";
    let edges = edges("buffer", "PORTD", 6, setup, 100_000);
    let falls: Vec<u64> = edges.iter().filter(|edge| !edge.0).map(|edge| edge.1 / 64).collect();
    let rises: Vec<u64> = edges.iter().filter(|edge| edge.0).map(|edge| edge.1 / 64).collect();
    // The first period begins low; the flag of its end is still set in the second one, and 50 is
    // past then: OCR0A = 29 counts from the third.
    let widths: Vec<u64> = rises.iter().zip(&falls).map(|(rise, fall)| fall - rise).collect();
    assert_eq!(widths[..3], [200, 30, 30], "{edges:?}");
}

/// The compare match of a count that was just written does not count (15.6.2); FOC0A sets the
/// output without the flag.
#[test]
fn written_counts_do_not_match_and_matches_can_be_forced() {
    let body = "volatile uint8_t out[4] = { 1 };
        int main(void) { OCR0A = 10; TCCR0A = 0xC0; DDRD = 0x40; TCNT0 = 10; TCCR0B = 1; __asm__ volatile(\"nop\\nnop\\nnop\");
            TCCR0B = 0; out[0] = TIFR0 & 2; out[1] = PIND & 0x40; TCCR0B = 0x80; out[2] = PIND & 0x40; out[3] = TIFR0 & 2;
            for (;;); }";
    let mut machine = machine("forced", ATMEGA328P, "atmega328p", body);
    run(&mut *machine, 1_000);
    assert_eq!((word(&*machine, 0), word(&*machine, 1)), (0, 0x40));
}

/// Timer 1 takes its count at an edge of PB0; with the noise canceler four cycles later, and not
/// where the level lasts for less.
#[test]
fn an_edge_captures_the_count() {
    let body = "volatile uint16_t out[4] = { 1 };
        ISR(TIMER1_CAPT_vect) { out[1] = ICR1; out[2]++; }
        int main(void) { TCCR1B = CONTROL; TIFR1 = 0x20; TIMSK1 = 0x20; sei(); for (;;) __asm__ volatile(\"nop\"); }";
    for (control, edge, noise) in [("0x41", true, 0), ("0x01", false, 0), ("0xC1", true, 4)] {
        let body = body.replace("CONTROL", control);
        let mut machine = machine(&format!("icp{control}"), ATMEGA328P, "atmega328p", &body);
        let pin = || Pin::new("PORTB", 0);
        machine.board_mut().set_input(pin(), Some(!edge));
        run(&mut *machine, 1_000);
        let level_from = |machine: &mut dyn Mcu, level: bool, cycles: u64| {
            machine.board_mut().set_input(pin(), Some(level));
            let from = machine.cycles();
            run(machine, from + cycles);
            from as u16
        };
        let count = |machine: &dyn Mcu| word(machine, 2);
        assert_eq!(count(&*machine), 0);
        let first = level_from(&mut *machine, edge, 500);
        let first_capture = word(&*machine, 1);
        level_from(&mut *machine, !edge, 500);
        let second = level_from(&mut *machine, edge, 500);
        assert_eq!(word(&*machine, 1) - first_capture, second - first, "{control}");
        assert_eq!(count(&*machine), 2);
        // A glitch of two or three cycles.
        level_from(&mut *machine, !edge, 500);
        level_from(&mut *machine, edge, 2);
        level_from(&mut *machine, !edge, 500);
        assert_eq!(count(&*machine), if noise == 0 { 3 } else { 2 }, "{control}");
        // The counter began a while after reset: without noise canceler the capture is four cycles
        // earlier.
        let start = first + noise - first_capture;
        assert!(start < 200, "{control}: {start}");
    }
}

/// Without its clock in PRR a timer keeps its count, and goes on with the prescaler's next pulse:
/// data sheet, 10.11.3, PRTIM1: "operation will continue like before the shutdown".
#[test]
fn timer_stands_still_in_power_reduction() {
    let count = |prr: &str| {
        let body = format!(
            "volatile uint16_t out[2] = {{ 1 }};
            int main(void) {{ TCCR1B = 2; PRR = {prr};
                for (uint8_t turns = 0; turns < 100; turns++) __asm__ volatile(\"nop\");
                PRR = 0; out[0] = TCNT1; out[1] = 1; for (;;) __asm__ volatile(\"nop\"); }}"
        );
        let mut machine = machine(&format!("prr-{}", prr.len()), ATMEGA328P, "atmega328p", &body);
        run(&mut *machine, 5_000);
        assert_eq!(word(&*machine, 1), 1);
        word(&*machine, 0)
    };
    let (running, stopped) = (count("0"), count("1 << PRTIM1"));
    assert!(running > 40 && stopped <= 2, "{running} counts, {stopped} of them with the clock");
}

/// Timers 0 and 1 count edges of PD4 and PD5: clock select 6 falling ones, 7 rising ones.
#[test]
fn pins_are_counted() {
    let body = "volatile uint16_t out[2] = { 1 };
        int main(void) { TCCR0B = 6; TCCR1B = 7; for (;;) { out[0] = TCNT0; out[1] = TCNT1; } }";
    let mut machine = machine("pins-counted", ATMEGA328P, "atmega328p", body);
    run(&mut *machine, 1_000);
    for step in 0..7u64 {
        machine.board_mut().set_input(Pin::new("PORTD", 4), Some(step % 2 == 0));
        machine.board_mut().set_input(Pin::new("PORTD", 5), Some(step % 2 == 0));
        run(&mut *machine, 2_000 + 1_000 * step);
    }
    assert_eq!((word(&*machine, 0), word(&*machine, 1)), (3, 4));
}

/// Registers, flags and vectors at other places: the ATtiny85's timer 0, and channel C of the
/// ATmega2560's timer 3.
#[test]
fn other_parts_have_their_timers() {
    let body = "ISR(TIMER0_OVF_vect) { PINB = 4; } ISR(TIMER0_COMPA_vect) { PINB = 8; }
        int main(void) { DDRB = 0x0F; OCR0A = 99; TCCR0A = 0x83; TCCR0B = 3; TIMSK = 1 << TOIE0 | 1 << OCIE0A; sei();
            for (;;) __asm__ volatile(\"nop\"); }";
    for (pin, first) in [(0, 100), (2, 256), (3, 256)] {
        let mut machine = machine("tiny-timer", ATTINY85, "attiny85", body);
        let mut log = Edges { port: "PORTB", pin, edges: Vec::new() };
        machine.run_observed(&Until { cycles: Some(200_000), addresses: vec![] }, &mut log).unwrap();
        let between = log.edges[4].1 - log.edges[3].1;
        let high = log.edges[3].0;
        // The interrupts come up to an instruction late.
        let expected = 64 * if pin == 0 && !high { 156 } else { first };
        assert!(between.abs_diff(expected) <= if pin == 0 { 0 } else { 2 }, "PB{pin}: {between}");
    }
    let body = "int main(void) { DDRE = 0xFF; OCR3C = 24; TCCR3A = 0x09; TCCR3B = 0x09; for (;;) __asm__ volatile(\"nop\"); }";
    let mut machine = machine("channel-c", ATMEGA2560, "atmega2560", body);
    let mut log = Edges { port: "PORTE", pin: 5, edges: Vec::new() };
    machine.run_observed(&Until { cycles: Some(10_000), addresses: vec![] }, &mut log).unwrap();
    let pulses = pulses(&log.edges);
    assert!(pulses.len() > 20 && pulses.iter().all(|pulse| *pulse == (25, 256)), "{pulses:?}");
}
