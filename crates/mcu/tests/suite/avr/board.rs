//! Board of an ATmega: chips on its SPI, levels at its pins, voltages at its converter.

use super::programs::{ATMEGA328P, machine};
use mcu::{Chip, Fault, Mcu, Observer, Pin, PinEdge, Signal, Stop, Until, Wiring};

/// Answers each byte with the one before it plus one; after its third byte it pulls its output low
/// until it is selected again.
#[derive(Clone, Default)]
struct Echo {
    selected: bool,
    bytes: Vec<u8>,
    times_ns: Vec<u64>,
    low_from: Option<u64>,
    low: bool,
}

impl Chip for Echo {
    fn name(&self) -> &str {
        "echo"
    }
    fn power_up(&mut self) {
        *self = Echo::default();
    }
    fn select(&mut self, selected: bool, _now_ns: u64) {
        self.selected = selected;
        self.low &= !selected;
    }
    fn transfer(&mut self, byte: u8, now_ns: u64) -> Result<u8, String> {
        let answer = self.bytes.last().map_or(0, |last| last + 1);
        self.bytes.push(byte);
        self.times_ns.push(now_ns);
        if self.bytes.len() == 3 {
            self.low_from = Some(now_ns + 1_000_000);
        }
        Ok(answer)
    }
    fn spi_limit_hz(&self) -> u64 {
        2_000_000
    }
    fn output(&self, _index: u8) -> Option<bool> {
        Some(!self.low)
    }
    fn due(&self) -> Option<u64> {
        self.low_from
    }
    fn tick(&mut self, now_ns: u64) {
        if self.low_from.is_some_and(|from| from <= now_ns) {
            self.low_from = None;
            self.low = true;
        }
    }
    fn boxed_clone(&self) -> Box<dyn Chip> {
        Box::new(self.clone())
    }
}

/// As on the emonTx and the JeeNode: select PB2, interrupt PD2.
fn mount(machine: &mut dyn Mcu) {
    let wiring =
        Wiring { spi: "SPI".into(), select: Pin::new("PORTB", 2), outputs: vec![(0, Pin::new("PORTD", 2))] };
    machine.board_mut().mount(Box::new(Echo::default()), wiring);
}

fn run(machine: &mut dyn Mcu, cycles: u64) -> Result<Stop, Fault> {
    machine.run(&Until { cycles: Some(cycles), addresses: vec![] })
}

/// A word of the program's variables at the start of RAM, where the only initialised one lies.
fn word(machine: &dyn Mcu, index: u32) -> u16 {
    let mut bytes = [0; 2];
    assert!(machine.peek(0x80_0100 + 2 * index, &mut bytes));
    u16::from_le_bytes(bytes)
}

const SPI: &str = "static volatile uint8_t out[8] = { 0xaa };
    static uint8_t spi(uint8_t byte) { SPDR = byte; while (!(SPSR & 1 << SPIF)); return SPDR; }
    static void spi_start(uint8_t spcr) { PORTB |= 1 << 2; DDRB |= 1 << 2 | 1 << 3 | 1 << 5; SPCR = spcr; }";

/// 16 MHz / 16: a byte has 128 cycles. The interrupt pin goes low a millisecond after the third
/// byte; asleep, the part is woken by it, again and again until selecting the chip lets it go.
#[test]
fn a_chip_is_selected_clocked_and_interrupts() {
    let body = format!(
        "{SPI} ISR(INT0_vect) {{ out[4]++; PORTB &= ~(1 << 2); }}
        int main(void) {{
            spi_start(1 << SPE | 1 << MSTR | 1 << SPR0);
            out[7] = PIND;
            PORTB &= ~(1 << 2);
            out[0] = spi(1); out[1] = spi(2); out[2] = spi(3);
            PORTB |= 1 << 2;
            out[3] = spi(4);
            EIMSK = 1 << INT0; sei(); sleep_mode(); cli();
            return 0; }}"
    );
    let mut machine = machine("chip", ATMEGA328P, "atmega328p", &body);
    mount(&mut *machine);
    assert_eq!(run(&mut *machine, 1_000_000), Ok(Stop::Halted));
    assert_eq!([word(&*machine, 0), word(&*machine, 1)], [0x02_00, 0xff_03]);
    assert_eq!(word(&*machine, 2) & 0xff, 1, "one interrupt: the chip lets go when it is selected");
    assert_eq!(word(&*machine, 3) >> 8 & 4, 4, "high before");
    let idle = machine.residency().asleep_in("idle");
    assert!((15_000..16_000).contains(&idle), "a millisecond less one byte: {idle}");
    let echo = machine.board_mut().chip_mut("echo").unwrap().downcast_mut::<Echo>().unwrap();
    assert_eq!(echo.bytes, [1, 2, 3]);
    assert!(echo.times_ns[1] - echo.times_ns[0] > 8_000);
    assert!(echo.times_ns[1] - echo.times_ns[0] < 9_000);
}

#[test]
fn transfer_that_a_chip_does_not_understand_is_a_fault() {
    let cases = [
        ("1 << SPE | 1 << MSTR | 1 << SPR0 | 1 << CPHA", "mode 1, but understands mode 0"),
        ("1 << SPE | 1 << MSTR", "4000000 Hz"),
        ("1 << MSTR", "SPE is clear"),
        ("1 << SPE", "slaves"),
    ];
    for (number, (spcr, what)) in cases.into_iter().enumerate() {
        let body =
            format!("{SPI} int main(void) {{ spi_start({spcr}); PORTB &= ~4; out[0] = spi(1); return 0; }}");
        let mut machine = machine(&format!("refused{number}"), ATMEGA328P, "atmega328p", &body);
        mount(&mut *machine);
        let fault = run(&mut *machine, 100_000).expect_err(spcr).to_string();
        assert!(fault.contains(what), "{fault}");
    }
}

/// A single conversion of half the supply: 512, left adjusted 0x8000.
#[test]
fn a_conversion() {
    let body = "static volatile uint16_t out[4] = { 0xaaaa };
        static uint16_t convert(uint8_t admux) {
            ADMUX = admux; ADCSRA |= 1 << ADSC; while (ADCSRA & 1 << ADSC); return ADC; }
        int main(void) {
            ADCSRA = 1 << ADEN | 7;
            out[0] = convert(1 << REFS0); out[1] = convert(1 << REFS0 | 1 << ADLAR | 1);
            out[2] = convert(3 << REFS0 | 2); out[3] = convert(1 << REFS0 | 14);
            return 0; }";
    let mut machine = machine("convert", ATMEGA328P, "atmega328p", body);
    let board = machine.board_mut();
    board.supply_v = 3.3;
    board.set_analog(0, 1.65);
    board.set_analog(1, 3.4);
    board.set_signal(2, Signal::Level(0.55));
    assert_eq!(run(&mut *machine, 1_000_000), Ok(Stop::Halted));
    // 1024 x 1.1 / 3.3 = 341.3.
    assert_eq!([0, 1, 2, 3].map(|index| word(&*machine, index)), [512, 0xffc0, 512, 341]);
}

/// When pins of port B went which way.
#[derive(Default)]
struct Edges(Vec<(u8, u64)>);

impl Observer for Edges {
    fn pin(&mut self, edge: &PinEdge<'_>) {
        self.0.push((edge.pin, edge.cycles));
    }
}

impl Edges {
    fn of(&self, pin: u8) -> Vec<u64> {
        self.0.iter().filter(|(of, _)| *of == pin).map(|(_, cycles)| *cycles).collect()
    }
}

fn edges(machine: &mut dyn Mcu, cycles: u64) -> Edges {
    let mut edges = Edges::default();
    let until = Until { cycles: Some(cycles), addresses: vec![] };
    machine.run_observed(&until, &mut edges).unwrap();
    edges
}

/// Interrupts that toggle a pin as their first instruction, so that each tells of itself equally
/// late.
const TOGGLES: &str = "ISR(ADC_vect, ISR_NAKED) { __asm__ volatile(\"sbi 0x03, 0\\n reti\"); }
    ISR(TIMER0_COMPA_vect, ISR_NAKED) { __asm__ volatile(\"sbi 0x03, 1\\n reti\"); }";

/// Table 24-1: 25 clocks of the converter for the first conversion, 13 for each of the next, here
/// of 128 cycles.
#[test]
fn free_running_conversions_take_13_clocks() {
    let body = format!(
        "{TOGGLES} int main(void) {{ DDRB = 3; ADMUX = 1 << REFS0; sei();
            __asm__ volatile(\"sbi 0x03, 0\\n sts %0, %1\" :: \"n\"(_SFR_MEM_ADDR(ADCSRA)),
                \"r\"((uint8_t)(1 << ADEN | 1 << ADSC | 1 << ADATE | 1 << ADIE | 7)));
            for (;;) sleep_mode(); }}"
    );
    let mut machine = machine("free", ATMEGA328P, "atmega328p", &body);
    let at = edges(&mut *machine, 50_000).of(0);
    // From the STS, which begins at the first edge, a cycle to its effect; then eight to enter the
    // interrupt asleep, three to jump from the vector and two for SBI.
    assert_eq!(at[1] - at[0], 1 + 25 * 128 + 8 + 3 + 2);
    assert!(at.len() > 20);
    for pair in at[1..].windows(2) {
        assert_eq!(pair[1] - pair[0], 13 * 128);
    }
}

/// Table 24-1: 13.5 clocks from the flag on, and three cycles to synchronise. Timer 0 sets its flag
/// each 50 x 64 cycles.
#[test]
fn a_timer_triggers_conversions() {
    let body = |taken: &str| {
        format!(
            "{TOGGLES} int main(void) {{ DDRB = 3; ADMUX = 1 << REFS0; ADCSRB = 3;
                ADCSRA = 1 << ADEN | 1 << ADSC | 7; while (ADCSRA & 1 << ADSC);
                ADCSRA = 1 << ADEN | 1 << ADATE | 1 << ADIF | 1 << ADIE | 7;
                {taken} OCR0A = 49; TCCR0A = 1 << WGM01; TCCR0B = 3; sei();
                for (;;) sleep_mode(); }}"
        )
    };
    let mut cleared = machine("triggered", ATMEGA328P, "atmega328p", &body("TIMSK0 = 1 << OCIE0A;"));
    let edges_of = edges(&mut *cleared, 100_000);
    let (conversions, compares) = (edges_of.of(0), edges_of.of(1));
    assert!(conversions.len() > 25);
    for (conversion, compare) in conversions.iter().zip(&compares) {
        assert_eq!(conversion - compare, 27 * 128 / 2 + 3);
    }
    for pair in compares.windows(2) {
        assert_eq!(pair[1] - pair[0], 50 * 64);
    }
    // Where nobody clears the flag it rises once, whether or not its interrupt is enabled.
    let mut kept = machine("untaken", ATMEGA328P, "atmega328p", &body(""));
    assert_eq!(edges(&mut *kept, 100_000).of(0).len(), 1);
}

/// The mains at 50 Hz, 25 samples a period, each at its moment: the values follow from the moments,
/// two clocks of 128 cycles and three cycles after each compare match.
#[test]
fn mains_are_sampled_when_the_timer_says() {
    let body = "static volatile uint16_t out[30] = { 1 }; static volatile uint8_t n = 0;
        ISR(ADC_vect) { TIFR0 = 1 << OCF0A; if (n < 30) out[n++] = ADC; }
        int main(void) { ADMUX = 1 << REFS0 | 5; ADCSRB = 3;
            ADCSRA = 1 << ADEN | 1 << ADATE | 1 << ADIE | 7;
            OCR0A = 199; TCCR0A = 1 << WGM01; TCCR0B = 3; sei();
            while (n < 30) sleep_mode();
            cli(); sleep_mode(); return 0; }";
    let mut machine = machine("mains", ATMEGA328P, "atmega328p", body);
    let signal = Signal::Mains {
        offset_v: 1.65,
        amplitude_v: 1.2,
        hz: 50.0,
        phase_rad: 0.3,
        harmonics: vec![mcu::Harmonic { order: 3, amplitude_v: 0.1, phase_rad: 1.0 }],
        noise_v: 0.003,
        seed: 7,
    };
    let board = machine.board_mut();
    board.supply_v = 3.3;
    board.signals_from_ns = 5_000_000;
    board.set_signal(5, signal.clone());
    assert_eq!(run(&mut *machine, 1_000_000), Ok(Stop::Halted));
    // The timer is started within the first prescaler periods: find which.
    let matches = |start: u64| {
        (1..30).all(|index| {
            let cycle = (start + 200 * (index + 1)) * 64 + 2 * 128 + 3;
            let expected = 1024.0 * signal.voltage_v(5_000_000 + cycle * 1_000_000_000 / 16_000_000) / 3.3;
            word(&*machine, index as u32) == expected as u16
        })
    };
    assert!((0..20).any(matches));
}

/// ADC noise reduction starts a conversion by itself, and is a fault while an interface would lose
/// its clock.
#[test]
fn noise_reduction_converts_asleep() {
    let body = |start: &str| {
        format!(
            "EMPTY_INTERRUPT(ADC_vect) int main(void) {{ {start} ADMUX = 1 << REFS0; ADCSRA = 1 << ADEN | 1 << ADIE | 7; sei();
            set_sleep_mode(SLEEP_MODE_ADC); sleep_mode(); cli(); ADCSRA = 0; sleep_mode(); return 0; }}"
        )
    };
    let machine_of = |name: &str, start: &str| machine(name, ATMEGA328P, "atmega328p", &body(start));
    let mut quiet = machine_of("quiet", "");
    assert_eq!(run(&mut *quiet, 1_000_000), Ok(Stop::Halted));
    let asleep = quiet.residency().asleep_in("adc-noise-reduction");
    assert!((24 * 128..=26 * 128).contains(&asleep), "{asleep}");
    assert_eq!(quiet.residency().cycles(), quiet.cycles());
    let fault = run(&mut *machine_of("noisy", "UCSR0B = 8; UDR0 = 1;"), 1_000_000).unwrap_err().to_string();
    assert!(fault.contains("USART0"), "{fault}");
}

#[test]
fn conversion_that_is_not_modelled_is_a_fault() {
    for (number, (statements, what)) in [
        ("ADMUX = 1 << REFS0 | 8; ADCSRA = 0xc7;", "temperature"),
        ("ADMUX = 1 << REFS1; ADCSRA = 0xc7;", "reserved"),
        ("ADMUX = 0; ADCSRA = 0xc7;", "AREF"),
        ("ADMUX = 1 << REFS0; ADCSRA = 0xc1;", "8000000 Hz"),
        ("ADMUX = 1 << REFS0; ADCSRA = 0xc7; ADMUX = 1 << REFS0 | 1;", "first clock"),
        ("ADMUX = 1 << REFS0; ADCSRA = 0xc7; ADCSRA = 0x86;", "prescaler"),
        ("ADCSRB = 1;", "trigger"),
    ]
    .into_iter()
    .enumerate()
    {
        let body = format!("int main(void) {{ {statements} while (ADCSRA & 1 << ADSC); return ADCL; }}");
        let mut machine = machine(&format!("cannot{number}"), ATMEGA328P, "atmega328p", &body);
        let fault = run(&mut *machine, 100_000).expect_err(statements).to_string();
        assert!(fault.contains(what), "{statements}: {fault}");
    }
}
