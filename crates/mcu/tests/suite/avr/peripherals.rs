//! The ATmega's peripherals, used by programs from avr-gcc.

use super::programs::{ATMEGA128L, ATMEGA328P, machine};
use mcu::{Fault, Mcu, Observer, PinEdge, Stop, Until};

#[derive(Default)]
struct Log {
    bytes: Vec<(String, u8, u64)>,
    edges: Vec<(String, u8, bool, u64)>,
}

impl Observer for Log {
    fn uart(&mut self, port: &str, byte: u8, cycles: u64) {
        self.bytes.push((port.into(), byte, cycles));
    }
    fn pin(&mut self, edge: &PinEdge<'_>) {
        self.edges.push((edge.port.into(), edge.pin, edge.high, edge.cycles));
    }
}

fn run_to_the_end(machine: &mut dyn Mcu) -> Log {
    let mut log = Log::default();
    let until = Until { cycles: Some(10_000_000), addresses: vec![] };
    assert_eq!(machine.run_observed(&until, &mut log), Ok(Stop::Halted));
    log
}

/// A frame of 8N1 at UBRR = 103 is 10 bits of 16 * 104 cycles; the second byte waits in the buffer.
#[test]
fn a_usart_sends() {
    for (part, mcu, port) in [(ATMEGA328P, "atmega328p", "USART0"), (ATMEGA128L, "atmega128", "USART0")] {
        let body = "int main(void) {
            UBRR0L = 103; UCSR0B = 1 << TXEN0;
            for (const char *text = \"OK\"; *text; text++) { while (!(UCSR0A & 1 << UDRE0)); UDR0 = *text; }
            while (!(UCSR0A & 1 << TXC0));
            return 0; }";
        let mut machine = machine(&format!("send-{mcu}"), part, mcu, body);
        let log = run_to_the_end(&mut *machine);
        let bytes: Vec<_> = log.bytes.iter().map(|(port, byte, _)| (port.as_str(), *byte)).collect();
        assert_eq!(bytes, [(port, b'O'), (port, b'K')]);
        assert_eq!(log.bytes[1].2 - log.bytes[0].2, 10 * 16 * 104);
    }
}

/// The receive interrupt echoes what arrives, in order, each a frame after the other.
#[test]
fn a_usart_receives_by_interrupt() {
    let body = "ISR(USART_RX_vect) { UDR0 = UDR0 + 1; }
        int main(void) {
            UBRR0L = 1; UCSR0B = 1 << RXEN0 | 1 << TXEN0 | 1 << RXCIE0;
            sei();
            for (;;) sleep_mode(); }";
    let mut machine = machine("echo", ATMEGA328P, "atmega328p", body);
    machine.run(&Until { cycles: Some(1000), addresses: vec![] }).unwrap();
    assert!(machine.uart_receive("USART0", b"abc"));
    assert!(!machine.uart_receive("USART7", b"abc"));
    let log = run_to_the_end(&mut *machine);
    let bytes: Vec<u8> = log.bytes.iter().map(|(_, byte, _)| *byte).collect();
    assert_eq!(bytes, b"bcd");
    assert_eq!(log.bytes[2].2 - log.bytes[1].2, 10 * 32);
}

/// Pins: only outputs report, and writing PINB toggles.
#[test]
fn pins() {
    let body =
        "int main(void) { PORTB = 0x20; PORTB = 0; DDRB = 0x20; PORTB = 0x20; PINB = 0x20; PINB |= 0x20;
        return PINB & 0x20 ? 0 : 1; }";
    let mut machine = machine("pins", ATMEGA328P, "atmega328p", body);
    let log = run_to_the_end(&mut *machine);
    let edges: Vec<_> = log.edges.iter().map(|(port, pin, high, _)| (port.as_str(), *pin, *high)).collect();
    assert_eq!(edges, [("PORTB", 5, true), ("PORTB", 5, false), ("PORTB", 5, true)]);
}

/// A timer in CTC mode interrupts every (OCR + 1) * prescaler cycles: timer 1 at 8 * 125, timer 0
/// at 64 * 25, timer 2 at 32 * 50.
#[test]
fn timers_clear_on_compare() {
    let timers = [
        ("TIMER1_COMPA_vect", "OCR1A = 124; TCCR1B = 1 << WGM12 | 1 << CS11; TIMSK1 = 1 << OCIE1A;", 1000),
        ("TIMER0_COMPA_vect", "OCR0A = 24; TCCR0A = 1 << WGM01; TCCR0B = 3; TIMSK0 = 1 << OCIE0A;", 1600),
        ("TIMER2_COMPA_vect", "OCR2A = 49; TCCR2A = 1 << WGM21; TCCR2B = 3; TIMSK2 = 1 << OCIE2A;", 1600),
    ];
    for (vector, setup, period) in timers {
        let body = format!(
            "volatile uint8_t n; ISR({vector}) {{ PINB = 1; if (++n == 20) {{ TIMSK0 = TIMSK1 = TIMSK2 = 0; }} }}
            int main(void) {{ DDRB = 1; {setup} sei(); for (;;) sleep_mode(); }}"
        );
        let mut machine = machine(vector, ATMEGA328P, "atmega328p", &body);
        let log = run_to_the_end(&mut *machine);
        assert_eq!(log.edges.len(), 20, "{vector}");
        // Woken from idle each time, so that the entry always takes the same.
        for pair in log.edges.windows(2) {
            assert_eq!(pair[1].3 - pair[0].3, period, "{vector}");
        }
    }
}

/// Timer 1 counts the cycles between two reads: 16 bits at the core clock.
#[test]
fn a_timer_counts_cycles() {
    let body = "uint16_t a, b; int main(void) { TCCR1B = 1; a = TCNT1;
        __asm__ volatile(\"ldi r24, 100\\n1: dec r24\\n brne 1b\" ::: \"r24\");
        b = TCNT1; GPIOR1 = (uint8_t)(b - a); GPIOR2 = (b - a) >> 8;
        __asm__ volatile(\"in r2, 0x2A\\n in r3, 0x2B\"); return 0; }";
    let mut machine = machine("count", ATMEGA328P, "atmega328p", body);
    run_to_the_end(&mut *machine);
    let registers = machine.registers();
    let between = registers[2].1 | registers[3].1 << 8;
    // The loop takes 1 + 100 * 3 - 1; between the reads of the low bytes lie four more instructions
    // of two cycles: the two LDS of the first read and the two STS of its result.
    assert_eq!(between, 308);
}

/// 3.4 ms at 16 MHz for a write, nothing lost, and the byte is erased meanwhile.
#[test]
fn eeprom_keeps_written_bytes() {
    let body = "int main(void) { EEAR = 0x123; EEDR = 0x5A; EECR = 1 << EEMPE; EECR = 1 << EEPE;
        PORTB = 1; DDRB = 1; while (EECR & 1 << EEPE); PORTB = 0;
        EECR = 1 << EERE; __asm__ volatile(\"mov r2, %0\" :: \"r\"(EEDR)); return 0; }";
    let mut machine = machine("eeprom", ATMEGA328P, "atmega328p", body);
    machine.run(&Until { cycles: Some(10_000), addresses: vec![] }).unwrap();
    let mut byte = [0];
    assert!(machine.peek(0x81_0123, &mut byte));
    assert_eq!(byte, [0xFF]);
    run_to_the_end(&mut *machine);
    assert!(machine.peek(0x81_0123, &mut byte));
    assert_eq!((byte, machine.registers()[2].1), ([0x5A], 0x5A));
    assert!((54_400..54_500).contains(&machine.cycles()), "{}", machine.cycles());
    machine.reset();
    assert!(machine.peek(0x81_0123, &mut byte));
    assert_eq!(byte, [0x5A]);
}

/// The watchdog's sequence to switch it off works; what has no model faults.
#[test]
fn unmodelled_settings_are_faults() {
    let off = "int main(void) { WDTCSR = 1 << WDCE | 1 << WDE; WDTCSR = 0; return 0; }";
    run_to_the_end(&mut *machine("off", ATMEGA328P, "atmega328p", off));
    for (name, statement) in [
        ("wdt", "WDTCSR = 1 << WDCE | 1 << WDE; WDTCSR = 1 << WDE | 1 << WDP3 | 1 << WDP1"),
        ("wgm", "TCCR0B = 1 << WGM02 | 1"),
        ("pud", "MCUCR = 1 << PUD"),
        ("adc", "ADCSRB = 1 << ACME"),
        ("prr", "PRR = 1 << PRADC; ADCSRA = 0"),
        ("ivsel", "MCUCR = 2"),
    ] {
        let body = format!("int main(void) {{ {statement}; return 0; }}");
        let mut machine = machine(name, ATMEGA328P, "atmega328p", &body);
        let fault = machine.run(&Until { cycles: Some(1000), addresses: vec![] }).unwrap_err();
        assert!(matches!(fault, Fault::Peripheral { .. } | Fault::Unmapped { .. }), "{statement}: {fault}");
    }
}
