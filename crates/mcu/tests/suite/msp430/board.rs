//! Board of an MSP430F5438A.
//!
//! It has levels and edges at ports, a chip on SPI, and sleep that somebody attends.

use super::programs::{HOLD, mov_byte, part, poke, register};
use mcu::{Chip, Mcu, Pin, Stop, Until, Wiring, new_machine};

const PC: u32 = 0x2000;
const ISR: u32 = 0x2200;
const END: u16 = 0x3fff;
/// `BIS #GIE+CPUOFF, SR`.
const SLEEP: [u16; 2] = [0xd032, 0x0018];

/// `MOV.B &register, R5`.
fn read_byte(register: u16) -> [u16; 2] {
    [0x4255, register]
}

fn machine(words: &[u16]) -> Box<dyn Mcu> {
    let part = part();
    let mut machine = new_machine(&part, 1_000_000).expect("machine");
    let stopped = [&HOLD[..], words, &[END]].concat();
    poke(&mut *machine, PC, &stopped);
    assert!(machine.set_register("sp", 0x4000) && machine.set_register("pc", PC));
    machine
}

/// Answers each byte with the one before, drives output 0 high from 10 us after being selected.
#[derive(Clone, Default)]
struct Echo {
    last: u8,
    heard: Vec<(u8, u64)>,
    selected_ns: Option<u64>,
    high: bool,
}

impl Chip for Echo {
    fn name(&self) -> &str {
        "echo"
    }
    fn power_up(&mut self) {
        *self = Echo::default();
    }
    fn select(&mut self, selected: bool, now_ns: u64) {
        self.selected_ns = selected.then_some(now_ns);
        self.high = false;
    }
    fn transfer(&mut self, byte: u8, now_ns: u64) -> Result<u8, String> {
        self.heard.push((byte, now_ns));
        Ok(std::mem::replace(&mut self.last, byte))
    }
    fn spi_limit_hz(&self) -> u64 {
        500_000
    }
    fn output(&self, index: u8) -> Option<bool> {
        (index == 0).then_some(self.high)
    }
    fn due(&self) -> Option<u64> {
        self.selected_ns.filter(|_| !self.high).map(|since| since + 10_000)
    }
    fn tick(&mut self, now_ns: u64) {
        self.high |= self.due().is_some_and(|due| due <= now_ns);
    }
    fn boxed_clone(&self) -> Box<dyn Chip> {
        Box::new(self.clone())
    }
}

fn with_echo(words: &[u16]) -> Box<dyn Mcu> {
    let mut machine = machine(words);
    let wiring =
        Wiring { spi: "UCB0".into(), select: Pin::new("P3", 0), outputs: vec![(0, Pin::new("P1", 3))] };
    machine.board_mut().mount(Box::new(Echo::default()), wiring);
    machine
}

fn echo(machine: &mut dyn Mcu) -> &mut Echo {
    machine.board_mut().chip_mut("echo").and_then(|chip| chip.downcast_mut()).expect("the chip")
}

/// The chip's select line low, the interface set up with this divider, the byte 0x9f sent, then
/// 0x37.
fn spi(control: u16, divider: u16) -> Vec<u16> {
    [
        &mov_byte(1, 0x222)[..],
        &mov_byte(1, 0x224),
        &mov_byte(0, 0x222),
        &mov_byte(0x81, 0x5e0),
        &mov_byte(control, 0x5e1),
        &mov_byte(divider, 0x5e6),
        &mov_byte(0x80, 0x5e0),
        &mov_byte(0x9f, 0x5ee),
        &mov_byte(0x37, 0x5ee),
    ]
    .concat()
}

#[test]
fn a_byte_takes_eight_bit_clocks() {
    let words = [&spi(0xa9, 4)[..], &[0x4303; 64], &read_byte(0x5ec)].concat();
    let mut machine = with_echo(&words);
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
    // Each MOV takes 4 cycles and writes in its last; the ninth writes TXBUF, at cycle 36. 8 bits
    // of 4 cycles at 1 MHz, then the byte that waited.
    let heard = echo(&mut *machine).heard.clone();
    let [(first, first_ns), (second, second_ns)] = heard[..] else { panic!("{heard:?}") };
    assert_eq!((first, second), (0x9f, 0x37));
    assert_eq!((first_ns, second_ns), (68_000, 100_000));
    // The second answer is the first byte, and the first was overrun.
    assert_eq!(register(&*machine, "r5"), 0x9f);
    let words = [&spi(0xa9, 4)[..], &[0x4303; 64], &read_byte(0x5ea)].concat();
    let mut machine = with_echo(&words);
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
    assert_eq!(register(&*machine, "r5"), 0x20, "UCOE, and not UCBUSY");
}

#[test]
fn a_chip_that_is_clocked_wrongly_is_a_fault() {
    for (control, divider, expected) in
        [(0x29, 4, "SPI mode 1"), (0xe9, 4, "SPI mode 2"), (0xa9, 1, "1000000 Hz")]
    {
        let words = [&spi(control, divider)[..], &[0x4303; 64], &read_byte(0x5ec)].concat();
        let fault = with_echo(&words).run(&Until::default()).expect_err("a fault").to_string();
        assert!(fault.contains(expected), "{fault}");
    }
    for control in [0x89, 0xa1, 0xad, 0xb9, 0xa8] {
        let fault = with_echo(&spi(control, 4)).run(&Until::default()).expect_err("a fault").to_string();
        assert!(fault.contains("three-pin master"), "{fault}");
    }
}

#[test]
fn line_stays_high_while_no_chip_is_selected() {
    let mut words = spi(0xa9, 4);
    words[7] = 1;
    let mut machine = with_echo(&[&words[..], &[0x4303; 64], &read_byte(0x5ec)].concat());
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
    assert_eq!(register(&*machine, "r5"), 0xff);
    assert_eq!(echo(&mut *machine).heard, []);
}

#[test]
fn inputs_follow_the_board() {
    // P1REN 0x206 = 0x0f, P1OUT 0x202 = 0x03: pulled up, up, down, down, the rest open; P1IN 0x200.
    let words = [&mov_byte(0x0f, 0x206)[..], &mov_byte(0x03, 0x202), &read_byte(0x200)].concat();
    let mut machine = machine(&words);
    let board = machine.board_mut();
    for (bit, level) in [(1, false), (3, true), (5, true), (6, false)] {
        board.set_input(Pin::new("P1", bit), Some(level));
    }
    board.set_input(Pin::new("P2", 0), Some(true));
    assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
    assert_eq!(register(&*machine, "r5"), 0b0010_1001);
}

/// Edges at P1.3 by the chip and at P2.7 by hand; the interrupts' vectors, and P1IV and P2IV.
#[test]
fn edges_interrupt() {
    // P1IES = 0 (rising), P1IFG = 0, P1IE = bit 3; select the chip, sleep.
    let words = [
        &mov_byte(0, 0x21c)[..],
        &mov_byte(0x08, 0x21a),
        &mov_byte(0x80, 0x219),
        &mov_byte(0, 0x21d),
        &mov_byte(0x80, 0x21b),
        &mov_byte(1, 0x224),
        &SLEEP,
        &[0x4303],
    ]
    .concat();
    let mut machine = with_echo(&words);
    machine.board_mut().set_input(Pin::new("P2", 7), Some(true));
    // Each: MOV &PxIV, R6 or R7; BIC #CPUOFF, 0(SP); RETI.
    poke(&mut *machine, ISR, &[0x4216, 0x020e, 0xc0b1, 0x0010, 0, 0x1300]);
    poke(&mut *machine, ISR + 0x100, &[0x4217, 0x021e, 0xc0b1, 0x0010, 0, 0x1300]);
    // SLAS655, "Interrupt Vector Addresses": P1 at 0xffde, P2 at 0xffd4.
    poke(&mut *machine, 0xffde, &[ISR as u16]);
    poke(&mut *machine, 0xffd4, &[ISR as u16 + 0x100]);
    machine.board_mut().externally_wakeable = true;
    let until = |cycles| Until { cycles: Some(cycles), addresses: Vec::new() };
    assert_eq!(machine.run(&until(500)), Ok(Stop::Cycles));
    assert_eq!(register(&*machine, "r6"), 8, "P1IV names bit 3 as 2 * 3 + 2");
    assert_eq!(register(&*machine, "r7"), 0);

    // Asleep in a fresh one, with nothing on its way: the world pulls P2.7 low.
    let words =
        [&mov_byte(0x80, 0x219)[..], &mov_byte(0, 0x21d), &mov_byte(0x80, 0x21b), &SLEEP, &[0x4303]].concat();
    let mut machine = self::machine(&words);
    poke(&mut *machine, ISR, &[0x4217, 0x021e, 0xc0b1, 0x0010, 0, 0x1300]);
    poke(&mut *machine, 0xffd4, &[ISR as u16]);
    let board = machine.board_mut();
    board.externally_wakeable = true;
    board.set_input(Pin::new("P2", 7), Some(true));
    assert_eq!(machine.run(&until(10_000)), Ok(Stop::Cycles));
    assert_eq!((machine.cycles(), register(&*machine, "r7")), (10_000, 0), "it slept up to the limit");
    machine.board_mut().set_input(Pin::new("P2", 7), Some(false));
    let mut copy = machine.snapshot();
    for machine in [&mut machine, &mut copy] {
        assert_eq!(machine.run(&until(10_100)), Ok(Stop::Cycles));
        assert_eq!(register(&**machine, "r7"), 16, "P2IV names bit 7");
    }
    // Nobody attending: nothing will wake it.
    let mut machine = self::machine(&SLEEP);
    assert_eq!(machine.run(&until(10_000)), Ok(Stop::Halted));
}
