//! Differences of other parts from the ATmega328P.
//!
//! The ATmega324PA, the ATmega2560, the ATmega32U4 and the ATtiny85 have other vectors (by
//! avr-libc's names), ports, converter channels and clocks.

use super::programs::{ATMEGA32U4, ATMEGA324PA, ATMEGA328P, ATMEGA2560, ATTINY85, loaded, machine, program};
use mcu::{Mcu, Stop, Until};

fn run(machine: &mut dyn Mcu, cycles: u64) -> Stop {
    machine.run(&Until { cycles: Some(cycles), addresses: vec![] }).unwrap()
}

/// The first bytes of RAM, where the programs have `out`.
fn out<const N: usize>(machine: &dyn Mcu, start: u32) -> [u8; N] {
    let mut bytes = [0; N];
    assert!(machine.peek(start, &mut bytes));
    bytes
}

const OUT: &str = "static volatile uint8_t out[8] __attribute__((section(\".noinit\")));\n";

/// INT7 is PE7, PCINT9 is PJ0, PCINT8 is PE0, PCINT16 is PK0 (2549Q, 13.3); the part drives them
/// itself.
#[test]
fn the_atmega2560_has_its_external_interrupts() {
    let body = format!(
        "{OUT} ISR(INT0_vect) {{ out[0]++; }} ISR(INT7_vect) {{ out[1]++; }}
        ISR(PCINT0_vect) {{ out[2]++; }} ISR(PCINT1_vect) {{ out[3]++; }} ISR(PCINT2_vect) {{ out[4]++; }}
        int main(void) {{
            DDRB = DDRD = DDRE = DDRJ = DDRK = 0xFF;
            EICRA = 1 << ISC01; EICRB = 1 << ISC71 | 1 << ISC70; EIMSK = 1 << INT0 | 1 << INT7;
            PCICR = 7; PCMSK0 = 1 << PCINT5; PCMSK1 = 1 << PCINT8 | 1 << PCINT9; PCMSK2 = 1 << PCINT16; sei();
            PORTD = 1; PORTD = 0; PORTE = 0x80; PORTE = 0x81; PORTJ = 1; PORTJ = 2; PORTB = 0x20; PORTB = 0x30; PORTK = 1;
            cli(); return 0; }}"
    );
    let mut machine = machine("external", ATMEGA2560, "atmega2560", &body);
    assert_eq!(run(&mut *machine, 100_000), Stop::Halted);
    // INT0 by its falling edge, INT7 by its rising one; PE0, and PJ0 twice.
    assert_eq!(out(&*machine, 0x80_0200), [1, 1, 1, 3, 1]);
}

#[test]
fn the_atmega32u4_has_its_external_interrupts() {
    let body = format!(
        "{OUT} ISR(INT3_vect) {{ out[0]++; }} ISR(INT6_vect) {{ out[1]++; }} ISR(PCINT0_vect) {{ out[2]++; }}
        int main(void) {{
            DDRB = DDRD = 0xFF; DDRE = 1 << 6;
            EICRA = 1 << ISC31; EICRB = 1 << ISC61 | 1 << ISC60; EIMSK = 1 << INT3 | 1 << INT6;
            PCICR = 1; PCMSK0 = 1 << PCINT7; sei();
            PORTD = 8; PORTD = 0; PORTE = 1 << 6; PORTE = 0; PORTB = 0x80; PORTB = 0; PORTB = 1;
            cli(); return 0; }}"
    );
    let mut machine = machine("external", ATMEGA32U4, "atmega32u4", &body);
    assert_eq!(run(&mut *machine, 100_000), Stop::Halted);
    assert_eq!(out(&*machine, 0x80_0100), [1, 1, 2]);
}

/// INT2 is PB2; PCINT0 is PA0, PCINT13 PB5, PCINT16 PC0, and PCINT24, behind PCMSK3, PD0
/// (iom324pa.h, ATmega324PA.atdf).
#[test]
fn the_atmega324pa_has_pin_changes_at_four_ports() {
    let body = format!(
        "{OUT} ISR(INT2_vect) {{ out[0]++; }} ISR(PCINT0_vect) {{ out[1]++; }} ISR(PCINT1_vect) {{ out[2]++; }}
        ISR(PCINT2_vect) {{ out[3]++; }} ISR(PCINT3_vect) {{ out[4]++; }}
        int main(void) {{
            DDRA = DDRB = DDRC = DDRD = 0xFF;
            EICRA = 1 << ISC21 | 1 << ISC20; EIMSK = 1 << INT2;
            PCICR = 0xF; PCMSK0 = 1; PCMSK1 = 1 << PCINT13; PCMSK2 = 1; PCMSK3 = 1 << PCINT24 | 1 << PCINT31; sei();
            PORTB = 4; PORTB = 0; PORTA = 1; PORTA = 3; PORTB = 0x20; PORTC = 1; PORTC = 0; PORTD = 1; PORTD = 0x81; PORTD = 0x83;
            PORTD = 2; cli(); return 0; }}"
    );
    let mut machine = machine("external", ATMEGA324PA, "atmega324pa", &body);
    assert_eq!(run(&mut *machine, 100_000), Stop::Halted);
    assert_eq!(out(&*machine, 0x80_0100), [1, 1, 1, 2, 3]);
}

/// Each vector by avr-libc's name, and that the power reduction register reaches each module.
#[test]
fn the_atmega324pa_has_its_vectors() {
    // Two flags are as long as there is nothing to do.
    let names = [
        ("TIMER0_OVF", ""),
        ("TIMER1_COMPB", ""),
        ("TIMER2_COMPA", ""),
        ("USART0_TX", ""),
        ("USART1_UDRE", "UCSR1B &= ~(1 << UDRIE1);"),
        ("ADC", ""),
        ("EE_READY", "EECR &= ~(1 << EERIE);"),
        ("SPI_STC", ""),
    ];
    let handlers = names.iter().enumerate();
    let handlers: String = handlers
        .map(|(n, (name, enough))| format!("ISR({name}_vect) {{ out[{n}]++; {enough} }}\n"))
        .collect();
    let body = format!(
        "{OUT} {handlers} int main(void) {{
            for (uint8_t n = 0; n < 8; n++) out[n] = 0;
            DDRB = 0xB0; OCR1B = 100; OCR2A = 100; TIMSK0 = 1; TIMSK1 = 1 << OCIE1B; TIMSK2 = 1 << OCIE2A;
            UCSR0B = 1 << TXEN0 | 1 << TXCIE0; UCSR1B = 1 << TXEN1 | 1 << UDRIE1; UDR0 = 0x55;
            ADMUX = 1 << REFS0 | 3; ADCSRA = 0xCF; SPCR0 = 1 << SPIE0 | 1 << SPE0 | 1 << MSTR0; SPDR0 = 1;
            EECR = 1 << EERIE; TCCR0B = TCCR1B = TCCR2B = 1; sei();
            while (!(out[0] && out[1] && out[2] && out[3] && out[4] && out[5] && out[6] && out[7]));
            cli(); PRR0 = 0xFF; return 0; }}"
    );
    let mut machine = machine("vectors", ATMEGA324PA, "atmega324pa", &body);
    assert_eq!(run(&mut *machine, 200_000), Stop::Halted);
    for module in [
        "TCCR0B = 1",
        "TCCR1B = 1",
        "TCCR2B = 1",
        "UCSR0B = 8",
        "UCSR1B = 8",
        "SPCR0 = 64",
        "TWCR = 4",
        "ADCSRA = 128",
    ] {
        let body = format!("int main(void) {{ PRR0 = 0xFF; {module}; return 0; }}");
        let mut machine = super::programs::machine("prr0", ATMEGA324PA, "atmega324pa", &body);
        let said = machine.run(&Until::default()).expect_err(module).to_string();
        assert!(said.contains("power reduction"), "{module}: {said}");
    }
}

/// Toggled outputs of the three timers: OC0A PB3, OC0B PB4, OC1A PD5, OC1B PD4, OC2A PD7, OC2B PD6.
#[test]
fn the_atmega324pa_s_timers_drive_their_pins() {
    let body = format!(
        "{OUT} int main(void) {{ DDRB = 0x18; DDRD = 0xF0;
            TCCR0A = TCCR1A = TCCR2A = 0x50; OCR0A = OCR0B = OCR2A = OCR2B = 50; OCR1A = OCR1B = 50;
            TCCR0B = TCCR1B = TCCR2B = 1; for (uint8_t n = 0; n < 50; n++) __asm__ volatile (\"nop\");
            out[0] = PINB; out[1] = PIND; return 0; }}"
    );
    let mut machine = machine("pins", ATMEGA324PA, "atmega324pa", &body);
    assert_eq!(run(&mut *machine, 100_000), Stop::Halted);
    assert_eq!(out(&*machine, 0x80_0100), [0x18, 0xF0]);
}

/// From the end of `SBI PORTD, 0`, which takes two cycles, four to the vector; five where the
/// program counter has 22 bits (2549Q, 7.8.1).
#[test]
fn an_interrupt_takes_five_cycles_with_22_bits() {
    let body = "ISR(INT0_vect) { }
        int main(void) { DDRD = 5; EICRA = 3; EIMSK = 1; sei(); __asm__(\"nop\"); PORTD |= 1 << PD; for (;;); }";
    for (part, mcu, pin, sbi, cycles) in
        [(ATMEGA328P, "atmega328p", "2", 0x9A5A_u16, 6), (ATMEGA2560, "atmega2560", "0", 0x9A58, 7)]
    {
        let image = program("latency", mcu, &body.replace("PD;", &format!("{pin};")));
        let flash = &image.segments[0].bytes;
        let words: Vec<u16> = flash.chunks(2).map(|word| u16::from_le_bytes([word[0], word[1]])).collect();
        let address = words.iter().position(|word| *word == sbi).expect("SBI") as u32 * 2;
        let mut machine = loaded(part, &image);
        let until = |address| Until { cycles: Some(10_000), addresses: vec![address] };
        assert_eq!(machine.run(&until(address)), Ok(Stop::Address(address)));
        let before = machine.cycles();
        assert_eq!(machine.run(&until(4)), Ok(Stop::Address(4)), "{mcu}");
        assert_eq!(machine.cycles() - before, cycles, "{mcu}");
    }
}

#[test]
fn each_timer_of_the_atmega2560_has_its_vectors() {
    let names = [
        "TIMER0_OVF",
        "TIMER1_OVF",
        "TIMER2_OVF",
        "TIMER3_OVF",
        "TIMER4_COMPA",
        "TIMER4_OVF",
        "TIMER5_OVF",
        "TIMER3_COMPC",
    ];
    let handlers = names.iter().enumerate();
    let handlers: String =
        handlers.map(|(n, name)| format!("ISR({name}_vect) {{ out[{n}]++; }}\n")).collect();
    let body = format!(
        "{OUT} {handlers} int main(void) {{
            TIMSK0 = TIMSK1 = TIMSK2 = TIMSK5 = 1; TIMSK3 = 9; TIMSK4 = 3; OCR4A = 500; OCR3C = 600; sei();
            TCCR0B = TCCR1B = TCCR2B = TCCR3B = TCCR4B = TCCR5B = 1; TCNT0 = TCNT2 = 0;
            TCNT1 = TCNT3 = TCNT4 = TCNT5 = 0;
            while (!out[6]); cli(); TCCR0B = TCCR1B = TCCR2B = TCCR3B = TCCR4B = TCCR5B = 0; return 0; }}"
    );
    let mut machine = machine("timers", ATMEGA2560, "atmega2560", &body);
    assert_eq!(run(&mut *machine, 200_000), Stop::Halted);
    let counts: [u8; 8] = out(&*machine, 0x80_0200);
    // 65,536 cycles are 256 periods of the timers of 8 bits: a byte goes round once, less what
    // interrupts of others hide.
    assert_eq!([1, 3, 4, 5, 6, 7].map(|timer| counts[timer]), [1; 6]);
    assert!(counts[0] != 0 || counts[2] != 0);
}

/// ADC9, MUX5 with MUX = 1, against 2.56 V: 1024 * 1.28 / 2.56. The bandgap's 1.1 V is channel 30:
/// 440.
#[test]
fn converters_have_channels_beyond_eight() {
    let body = |mux5: &str| {
        format!(
            "static volatile uint16_t out[2] __attribute__((section(\".noinit\")));
            static uint16_t convert(uint8_t a, uint8_t b) {{ ADMUX = a; ADCSRB = b; ADCSRA = 0xC7; while (ADCSRA & 0x40); return ADC; }}
            int main(void) {{ out[0] = convert(0xC1, {mux5}); out[1] = convert(0xDE, 0); return 0; }}"
        )
    };
    for (part, mcu, mux5, ram) in
        [(ATMEGA2560, "atmega2560", "0x08", 0x80_0200), (ATMEGA32U4, "atmega32u4", "0x20", 0x80_0100)]
    {
        let mut machine = machine("adc", part, mcu, &body(mux5));
        machine.board_mut().set_analog(9, 1.28);
        assert_eq!(run(&mut *machine, 100_000), Stop::Halted);
        assert_eq!(out(&*machine, ram), [0, 2, 440_u16.to_le_bytes()[0], 1], "{mcu}");
    }
}

/// 7766J, 24.8, the example of differential channels: ADMUX = 0xE9, ADC1 of 300 mV and ADC0 of 500
/// mV give -400, 0x270, left adjusted 0x9C00. Table 24-4: MUX = 48 is 40 times ADC4 - ADC0, 512 *
/// 40 * 0.02 / 2.56.
#[test]
fn the_atmega32u4_converts_differences() {
    let source = "static volatile uint8_t out[4] __attribute__((section(\".noinit\")));
        static uint16_t convert(uint8_t a, uint8_t b) { ADMUX = a; ADCSRB = b; ADCSRA = 0xC7; while (ADCSRA & 0x40); return ADC; }
        int main(void) { uint16_t v = convert(0xE9, 0); out[0] = v; out[1] = v >> 8;
            v = convert(0xD0, 0x20); out[2] = v; out[3] = v >> 8; return 0; }";
    let mut machine = machine("adc-differences", ATMEGA32U4, "atmega32u4", source);
    for (input, volts) in [(0, 0.5), (1, 0.3), (4, 0.52)] {
        machine.board_mut().set_analog(input, volts);
    }
    assert_eq!(run(&mut *machine, 100_000), Stop::Halted);
    assert_eq!(out(&*machine, 0x80_0100), [0x00, 0x9C, 160, 0]);
}

/// At 9600 baud a frame takes ten times 16 * 104 cycles of 16 MHz (2549Q, table 22-9: UBRR = 103).
#[test]
fn every_usart_of_the_atmega2560_sends() {
    for number in 0..4 {
        let body = "int main(void) { UBRRn = 103; UCSRnB = 1 << 3; UDRn = 0x55; while (!(UCSRnA & 1 << 6)); return 0; }";
        let body = body.replace("Rn", &format!("R{number}"));
        let mut machine = machine("usart", ATMEGA2560, "atmega2560", &body);
        assert_eq!(run(&mut *machine, 100_000), Stop::Halted);
        assert!((16_640..16_900).contains(&machine.cycles()), "{number}: {}", machine.cycles());
    }
}

/// RIOT's driver writes 0 to UCSR1D at its start; RTSEN is bit 0 (7766J, 18.11.5).
#[test]
fn atmega32u4_s_usart_refuses_flow_control() {
    let body = "int main(void) { UCSR1D = 0; if (UCSR1D) return 1; UCSR1D = 1 << 0; return 0; }";
    let mut machine = machine("usart-flow-control", ATMEGA32U4, "atmega32u4", body);
    let said = machine.run(&Until::default()).expect_err("not modelled").to_string();
    assert!(said.contains("flow control"), "{said}");
}

#[test]
fn the_second_power_reduction_register_stops_modules() {
    let body =
        "int main(void) { UCSR1B = 1 << 3; PRR1 = 1 << PRUSART1; UCSR0B = 1 << 3; UCSR1B = 0; return 0; }";
    let mut machine = machine("prr1", ATMEGA2560, "atmega2560", body);
    let said = machine.run(&Until::default()).expect_err("switched off").to_string();
    assert!(said.contains("power reduction"), "{said}");
}

/// The lock takes the 3 ms of the target file, 48,000 cycles; nothing is plugged in.
#[test]
fn the_usb_pll_of_the_atmega32u4_locks() {
    let body = format!(
        "{OUT} int main(void) {{
            UHWCON |= 1 << UVREGE; USBCON = 1 << USBE | 1 << FRZCLK; PLLCSR |= 1 << PINDIV; out[0] = PLLCSR;
            PLLCSR |= 1 << PLLE; out[1] = PLLCSR; while (!(PLLCSR & 1 << PLOCK)); out[2] = PLLCSR;
            USBCON = (USBCON & ~(1 << FRZCLK)) | 1 << OTGPADE; out[3] = USBCON; out[4] = UDCON;
            UDCON &= ~(1 << DETACH); UDIEN = 1 << EORSTE | 1 << SOFE; out[5] = UDINT; out[6] = USBSTA & 1 << VBUS;
            return 0; }}"
    );
    let mut machine = machine("usb", ATMEGA32U4, "atmega32u4", &body);
    assert_eq!(run(&mut *machine, 100_000), Stop::Halted);
    assert_eq!(out(&*machine, 0x80_0100), [0x10, 0x12, 0x13, 0x90, 0x01, 0, 0]);
    assert!((48_000..48_200).contains(&machine.cycles()), "{}", machine.cycles());
}

/// Vectors of one word; the watchdog's interrupt is number 12.
#[test]
fn the_attiny85_has_vectors_of_one_word() {
    let body = format!(
        "{OUT} ISR(WDT_vect) {{ out[0]++; }}
        int main(void) {{ WDTCR = 1 << WDIE; sei(); while (!out[0]); cli(); WDTCR = 0; DDRB = 1; PINB = 1; out[1] = PORTB; return 0; }}"
    );
    let mut machine = machine("vectors", ATTINY85, "attiny85", &body);
    assert_eq!(run(&mut *machine, 1_000_000), Stop::Halted);
    assert_eq!(out(&*machine, 0x80_0060), [1, 1]);
    // 16 ms of 8 MHz.
    assert!((128_000..128_200).contains(&machine.cycles()), "{}", machine.cycles());
}

/// INT0 is PB2 by its rising edge, PCINT3 is PB3; a low level interrupts until it ends.
#[test]
fn the_attiny85_has_its_external_interrupts() {
    let body = format!(
        "{OUT} ISR(INT0_vect) {{ out[0]++; if (out[0] == 3) PORTB |= 4; }} ISR(PCINT0_vect) {{ out[1]++; }}
        int main(void) {{ out[0] = out[1] = 0;
            DDRB = 0x3F; MCUCR = 1 << ISC01 | 1 << ISC00; GIMSK = 1 << INT0 | 1 << PCIE; PCMSK = 1 << PCINT3; sei();
            PORTB |= 4; PORTB |= 8; PORTB &= ~8; PORTB |= 1; MCUCR = 0; out[2] = GIFR; PORTB &= ~4;
            while (out[0] < 3); cli(); return 0; }}"
    );
    let mut machine = machine("external", ATTINY85, "attiny85", &body);
    assert_eq!(run(&mut *machine, 100_000), Stop::Halted);
    assert_eq!(out(&*machine, 0x80_0060), [3, 2, 0]);
}

/// 2586Q, tables 17-3 and 17-4: ADC2 against 2.56 V (REFS2 and REFS1), against VCC; the bandgap
/// against VCC of 5 V: 225.
#[test]
fn the_attiny85_converts() {
    let body = "static volatile uint16_t out[3] __attribute__((section(\".noinit\")));
        static uint16_t convert(uint8_t a) { ADMUX = a; ADCSRA = 0xC6; while (ADCSRA & 0x40); return ADC; }
        int main(void) { out[0] = convert(0x92); out[1] = convert(0x02); out[2] = convert(0x0C); return 0; }";
    let mut machine = machine("adc", ATTINY85, "attiny85", body);
    machine.board_mut().supply_v = 5.0;
    machine.board_mut().set_analog(2, 1.28);
    assert_eq!(run(&mut *machine, 100_000), Stop::Halted);
    let expected = [512_u16, 262, 225].map(u16::to_le_bytes).concat();
    assert_eq!(out::<6>(&*machine, 0x80_0060).to_vec(), expected);
}

/// DS40002061, table 24-2: 314 mV at 25 °C are 292 of 1,024 steps of 1.1 V; 2586Q, table 17-2: 300
/// steps. Against another reference nobody says what is read.
#[test]
fn the_temperature_sensor_is_read_against_its_reference() {
    let convert = |admux: &str, mux5: &str| {
        format!(
            "static volatile uint16_t out[1] __attribute__((section(\".noinit\")));
            int main(void) {{ ADMUX = {admux}; ADCSRB = {mux5}; ADCSRA = 0xC7; while (ADCSRA & 0x40); out[0] = ADC; return 0; }}"
        )
    };
    for (part, mcu, admux, mux5, ram, expected) in [
        (ATMEGA328P, "atmega328p", "0xC8", "0", 0x80_0100, 292_u16),
        (ATTINY85, "attiny85", "0x8F", "0", 0x80_0060, 300),
        (ATMEGA32U4, "atmega32u4", "0xC7", "1 << MUX5", 0x80_0100, 298),
    ] {
        let mut right = machine("temperature", part, mcu, &convert(admux, mux5));
        assert_eq!(run(&mut *right, 100_000), Stop::Halted);
        assert_eq!(out(&*right, ram), expected.to_le_bytes(), "{mcu}");
    }
    let mut wrong = machine("temperature-avcc", ATMEGA328P, "atmega328p", &convert("0x48", "0"));
    let fault = wrong.run(&Until { cycles: Some(100_000), addresses: vec![] }).unwrap_err();
    assert!(fault.to_string().contains("internal reference alone"), "{fault}");
}

/// Registers, flags and vectors of timer 0 lie elsewhere; TIMSK and TIFR have timer 1's bits, too.
#[test]
fn the_attiny85_has_its_timer_0() {
    let body = format!(
        "{OUT} ISR(TIMER0_COMPA_vect) {{ out[0]++; }} ISR(TIMER0_COMPB_vect) {{ out[1]++; }} ISR(TIMER0_OVF_vect) {{ out[2]++; }}
        int main(void) {{ out[0] = out[1] = out[2] = 0; OCR0A = 50; OCR0B = 100;
            TIMSK = 1 << OCIE0A | 1 << OCIE0B | 1 << TOIE0; TCCR0A = 3; TCCR0B = 1 << CS01; sei();
            while (out[2] < 2); cli(); TCCR0B = 0; TIMSK |= 1 << TOIE1; out[3] = TIMSK; TCCR0B = TCCR1 = 1;
            while (TIFR != (1 << TOV1 | 1 << OCF1A | 1 << OCF1B | 1 << OCF0A | 1 << OCF0B | 1 << TOV0));
            TIFR = 1 << OCF1A | 1 << TOV0; out[4] = TIFR; return 0; }}"
    );
    let mut machine = machine("timer0", ATTINY85, "attiny85", &body);
    assert_eq!(run(&mut *machine, 100_000), Stop::Halted);
    // Two periods of 256 times 8 cycles.
    assert_eq!(out::<5>(&*machine, 0x80_0060), [2, 2, 2, 0x1E, 0x3C]);
    assert!((4096..5000).contains(&machine.cycles()), "{}", machine.cycles());
}

#[test]
fn the_attiny85_starts_on_the_oscillator_that_its_fuses_choose() {
    // 2586Q, tables 6-1 and 6-2: PLL, RC oscillator, that by 8, 6.4 MHz, 128 kHz.
    for (low, hz) in
        [(0xF1, 16_000_000), (0xE2, 8_000_000), (0x62, 1_000_000), (0xE3, 6_400_000), (0xE4, 128_000)]
    {
        let image = program(
            "fuses",
            "attiny85",
            &format!("FUSES = {{ {low}, 0xDF, 0xFF }}; int main(void) {{ return 0; }}"),
        );
        let part = mcu::Part::from_toml(ATTINY85).unwrap();
        let mut machine = mcu::new_clocked_machine(&part, None).unwrap();
        machine.load(&image).unwrap();
        machine.reset();
        assert_eq!(machine.clock_hz(), hz, "{low:#04x}");
    }
}

#[test]
fn unknown_core_is_refused_with_the_list_of_cores() {
    let said = mcu::Part::from_toml(&ATTINY85.replace("\"avr25\"", "\"avr26\"")).unwrap_err().to_string();
    for core in ["avr25", "avr5", "avr51", "avr6"] {
        assert!(said.contains(core), "{said}");
    }
}
