//! What an ATmega sees of its board: chips on its SPI, levels at its pins, voltages at its converter.

mod avr;

use avr::{ATMEGA328P, machine};
use mcu::{Chip, Fault, Machine, Pin, Signal, Stop, Until, Wiring};
use std::any::Any;

/// Answers each byte with the one before it plus one; after its third byte it pulls its output low until it is selected
/// again.
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
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// As on the emonTx and the JeeNode: select PB2, interrupt PD2.
fn mount(machine: &mut dyn Machine) {
    let wiring =
        Wiring { spi: "SPI".into(), select: Pin::new("PORTB", 2), outputs: vec![(0, Pin::new("PORTD", 2))] };
    machine.board_mut().unwrap().mount(Box::new(Echo::default()), wiring);
}

fn run(machine: &mut dyn Machine, cycles: u64) -> Result<Stop, Fault> {
    machine.run(&Until { cycles: Some(cycles), addresses: vec![] })
}

/// A word of the program's variables at the start of RAM, where the only initialised one lies.
fn word(machine: &dyn Machine, index: u32) -> u16 {
    let mut bytes = [0; 2];
    assert!(machine.peek(0x80_0100 + 2 * index, &mut bytes));
    u16::from_le_bytes(bytes)
}

const SPI: &str = "static volatile uint8_t out[8] = { 0xaa };
    static uint8_t spi(uint8_t byte) { SPDR = byte; while (!(SPSR & 1 << SPIF)); return SPDR; }
    static void spi_start(uint8_t spcr) { PORTB |= 1 << 2; DDRB |= 1 << 2 | 1 << 3 | 1 << 5; SPCR = spcr; }";

/// 16 MHz / 16: a byte has 128 cycles. The interrupt pin goes low a millisecond after the third byte; asleep, the part is woken by
/// it, again and again until selecting the chip lets it go.
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
    let echo = machine.board_mut().unwrap().chip_mut("echo").unwrap().downcast_mut::<Echo>().unwrap();
    assert_eq!(echo.bytes, [1, 2, 3]);
    assert!(echo.times_ns[1] - echo.times_ns[0] > 8_000);
    assert!(echo.times_ns[1] - echo.times_ns[0] < 9_000);
}

#[test]
fn what_a_chip_does_not_understand_is_a_fault() {
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
    let board = machine.board_mut().unwrap();
    board.supply_v = 3.3;
    board.set_analog(0, 1.65);
    board.set_analog(1, 3.4);
    board.set_signal(2, Signal::Level(0.55));
    assert_eq!(run(&mut *machine, 1_000_000), Ok(Stop::Halted));
    // 1024 x 1.1 / 3.3 = 341.3.
    assert_eq!([0, 1, 2, 3].map(|index| word(&*machine, index)), [512, 0xffc0, 512, 341]);
}
