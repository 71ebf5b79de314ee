//! Sleep modes without the I/O clock.
//!
//! Stopped modules and wake-up sources: DS40002061, table 10-1. Start-up times: table 9-4.

use super::programs::{ATMEGA328P, loaded, machine, program};
use mcu::{Mcu, Observer, Pin, PinEdge, Segment, Stop, Until};

fn run(machine: &mut dyn Mcu, cycles: u64) -> Result<Stop, mcu::Fault> {
    machine.run(&Until { cycles: Some(cycles), addresses: vec![] })
}

fn word(machine: &dyn Mcu, index: u32) -> u16 {
    let mut bytes = [0; 2];
    assert!(machine.peek(0x80_0100 + 2 * index, &mut bytes));
    u16::from_le_bytes(bytes)
}

/// The watchdog's 2048 cycles at 128 kHz are 256,000 of 16 MHz. Timer 1 stands still meanwhile, and
/// for the start-up of the crystal: 16 K cycles after power-down, 6 after standby, none after ADC
/// noise reduction.
#[test]
fn the_watchdog_wakes_and_timers_have_stood_still() {
    for (mode, name, start_up) in [
        ("SLEEP_MODE_PWR_DOWN", "power-down", 16_384),
        ("SLEEP_MODE_PWR_SAVE", "power-save", 16_384),
        ("SLEEP_MODE_STANDBY", "standby", 6),
        ("SLEEP_MODE_EXT_STANDBY", "extended-standby", 6),
        ("SLEEP_MODE_ADC", "adc-noise-reduction", 0),
    ] {
        let body = format!(
            "volatile uint16_t out[2] = {{ 1 }}; EMPTY_INTERRUPT(WDT_vect)
            int main(void) {{ TCCR1B = 1; WDTCSR = 1 << WDCE | 1 << WDE; WDTCSR = 1 << WDIE;
                set_sleep_mode({mode}); sei(); uint16_t before = TCNT1; sleep_mode(); out[1] = TCNT1 - before;
                cli(); return 0; }}"
        );
        let mut machine = machine(name, ATMEGA328P, "atmega328p", &body);
        assert_eq!(run(&mut *machine, 1_000_000), Ok(Stop::Halted), "{name}");
        let residency = machine.residency();
        let asleep = residency.asleep_in(name);
        assert!((255_800..=256_000).contains(&asleep), "{name}: {asleep}");
        // SLEEP, the halt of 4 cycles, the entry and RETI of 4 each, and a handful of instructions
        // around them.
        let counted = u64::from(word(&*machine, 1));
        assert!((15..50).contains(&counted), "{name}: {counted}");
        let active = residency.active_cycles();
        assert!((start_up..start_up + 200).contains(&active), "{name}: {active}");
    }
}

/// The low fuse byte 0xE2: the calibrated oscillator is there after six cycles.
#[test]
fn the_fuses_choose_the_start_up_time() {
    let body = "EMPTY_INTERRUPT(WDT_vect)
        int main(void) { WDTCSR = 1 << WDCE | 1 << WDE; WDTCSR = 1 << WDIE;
            set_sleep_mode(SLEEP_MODE_PWR_DOWN); sei(); sleep_mode(); cli(); return 0; }";
    let mut image = program("start-up", "atmega328p", body);
    image.segments.push(Segment { address: 0x82_0000, bytes: vec![0xE2] });
    let mut machine = loaded(ATMEGA328P, &image);
    assert_eq!(run(&mut *machine, 1_000_000), Ok(Stop::Halted));
    let active = machine.residency().active_cycles();
    assert!((30..200).contains(&active), "{active}");
}

#[derive(Default)]
struct Edges(Vec<u64>);

impl Observer for Edges {
    fn pin(&mut self, edge: &PinEdge<'_>) {
        if (edge.port, edge.pin) == ("PORTB", 1) {
            self.0.push(edge.cycles);
        }
    }
}

/// A pin change wakes from power-down; a pulse of timer 1 at PB1 that was under way is as much
/// longer as the part slept and started up.
#[test]
fn a_pin_change_wakes_and_outputs_stand_still() {
    let body = "EMPTY_INTERRUPT(PCINT2_vect)
        int main(void) { DDRB = 2; OCR1A = 9999; TCCR1A = 0x40; TCCR1B = 0x09; PCICR = 4; PCMSK2 = 1;
            set_sleep_mode(SLEEP_MODE_PWR_DOWN); sei(); sleep_mode(); for (;;) __asm__ volatile(\"nop\"); }";
    let mut machine = machine("pin-change", ATMEGA328P, "atmega328p", body);
    machine.board_mut().externally_wakeable = true;
    let mut edges = Edges::default();
    let mut run_to = |machine: &mut dyn Mcu, cycles: u64| {
        machine.run_observed(&Until { cycles: Some(cycles), addresses: vec![] }, &mut edges).unwrap();
    };
    run_to(&mut *machine, 500_000);
    machine.board_mut().set_input(Pin::new("PORTD", 0), Some(true));
    run_to(&mut *machine, 600_000);
    let asleep = machine.residency().asleep_in("power-down");
    assert!((499_000..500_000).contains(&asleep), "{asleep}");
    let edges = edges.0;
    assert_eq!(edges[1] - edges[0], 10_000);
    // It began to count before it slept, and ends its first 10,000 cycles after that.
    let begin = edges[0] - 10_000 - asleep - 16_384;
    assert!(begin < 100, "{begin}");
}

#[test]
fn sleep_that_would_cut_a_module_off_is_a_fault() {
    for (number, (setup, what)) in [
        ("UCSR0B = 8; UDR0 = 1;", "USART0"),
        ("EICRA = 2; EIMSK = 1;", "EXTERNAL"),
        ("ADCSRA = 0xC7;", "ADC"),
    ]
    .into_iter()
    .enumerate()
    {
        let body = format!(
            "int main(void) {{ {setup} set_sleep_mode(SLEEP_MODE_PWR_DOWN); sei(); sleep_mode(); return 0; }}"
        );
        let mut machine = machine(&format!("cut-off{number}"), ATMEGA328P, "atmega328p", &body);
        let fault = run(&mut *machine, 100_000).unwrap_err().to_string();
        assert!(fault.contains(what) && fault.contains("power-down"), "{fault}");
    }
}
