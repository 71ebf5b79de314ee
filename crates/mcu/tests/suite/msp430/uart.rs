//! USCI_A and eUSCI_A as UARTs that receive, on the MSP430F5438A and the MSP430FR5994.

use super::programs::{mov, mov_byte, poke, register};
use mcu::{Mcu, Observer, Part, Stop, Until, new_machine};

const PC: u32 = 0x2000;
const ISR: u32 = 0x2400;
const END: u16 = 0x3fff;
const UCA0: u16 = 0x05c0;
const RXBUF: u16 = UCA0 + 0xc;
/// Ten bits of 8 clocks of SMCLK, which is MCLK.
const FRAME: u64 = 80;
/// `BIS #GIE + CPUOFF, SR`: LPM0. With SCG1 and SCG0, too: LPM3.
const LPM0: [u16; 2] = [0xd032, 0x0018];
const LPM3: [u16; 2] = [0xd032, 0x00d8];

/// A part, and where it has UCA0STAT, UCA0IE and UCA0IFG.
struct Uart {
    part: Part,
    status: u16,
    enables: u16,
    flags: u16,
}

fn uarts() -> [Uart; 2] {
    let fr5994 = include_str!("../../../../../targets/msp430fr5994.toml");
    let fr5994 = Part::from_toml(fr5994).expect("target file");
    [
        Uart { part: super::programs::part(), status: 0x0a, enables: 0x1c, flags: 0x1d },
        Uart { part: fr5994, status: 0x0a, enables: 0x1a, flags: 0x1c },
    ]
    .map(|uart| Uart {
        status: UCA0 + uart.status,
        enables: UCA0 + uart.enables,
        flags: UCA0 + uart.flags,
        part: uart.part,
    })
}

/// `MOV.B &register, Rn`.
fn read_byte(register: u16, into: u16) -> [u16; 2] {
    [0x4250 | into, register]
}

/// UCRXIFG is waited for; the loop takes 6 cycles.
fn wait(flags: u16) -> [u16; 3] {
    [0xb3d2, flags, 0x27fd]
}

/// The beginning of a program that has UCA0 on, without this control.
fn set(control: u16) -> Vec<u16> {
    [mov(0x5a80, 0x015c), mov(0x0081 | control, UCA0), mov(8, UCA0 + 6), mov(0x0080 | control, UCA0)].concat()
}

/// A machine that has run `set(0)`, at `rest`.
fn receiving(part: &Part, rest: &[u16]) -> Box<dyn Mcu> {
    let mut machine = new_machine(part, 1_000_000).expect("machine");
    let start = set(0);
    poke(&mut *machine, PC, &[&start[..], rest, &[END]].concat());
    assert!(machine.set_register("sp", 0x3000) && machine.set_register("pc", PC));
    assert_eq!(machine.uart_listens("UCA0"), Some(false), "UCSWRST");
    assert_eq!(machine.uart_listens("UCB0"), None);
    let ready = PC + 2 * start.len() as u32;
    assert_eq!(machine.run(&Until { addresses: vec![ready], cycles: None }), Ok(Stop::Address(ready)));
    assert_eq!(machine.uart_listens("UCA0"), Some(true));
    machine
}

/// A character is there after its ten bits, and UCRXIFG goes as it is read.
#[test]
fn characters_arrive_at_the_rate_of_the_line() {
    for uart in uarts() {
        let read = |into| [&wait(uart.flags)[..], &read_byte(RXBUF, into)].concat();
        let words = [read(5), read(6), read_byte(uart.flags, 7).to_vec()].concat();
        let mut machine = receiving(&uart.part, &words);
        let began = machine.cycles();
        assert!(machine.uart_receive("UCA0", b"xy"));
        assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
        let values = ["r5", "r6", "r7"].map(|name| register(&*machine, name));
        // UCTXIFG alone, and UCSTTIFG of the eUSCI.
        assert_eq!(
            [values[0], values[1], values[2] & 3],
            [b'x'.into(), b'y'.into(), 2],
            "{}",
            uart.part.name
        );
        assert_eq!(values[2] & 4 != 0, uart.flags == UCA0 + 0x1c, "{}", uart.part.name);
        let took = machine.cycles() - began;
        assert!((2 * FRAME..2 * FRAME + 20).contains(&took), "{}: {took}", uart.part.name);
    }
}

/// SLAU208, UCAxSTAT: UCOE "is set when a character is transferred into UCAxRXBUF before the
/// previous character was read", and goes with UCRXERR as UCAxRXBUF is read.
#[test]
fn a_character_that_is_not_read_is_overrun() {
    for uart in uarts() {
        let words = [
            &[0x4303; 200][..],
            &read_byte(uart.status, 5),
            &read_byte(RXBUF, 6),
            &read_byte(uart.status, 7),
        ]
        .concat();
        let mut machine = receiving(&uart.part, &words);
        assert!(machine.uart_receive("UCA0", b"xy"));
        assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
        let values = ["r5", "r6", "r7"].map(|name| register(&*machine, name));
        assert_eq!(values, [0x24, b'y'.into(), 0], "{}", uart.part.name);
    }
}

#[derive(Default)]
struct Sent(Vec<(u8, u64)>);

impl Observer for Sent {
    fn uart(&mut self, _port: &str, byte: u8, cycles: u64) {
        self.0.push((byte, cycles));
    }
}

/// TI's msp430fr599x_euscia0_uart_01.c: each character wakes the core from LPM3, in which the
/// module activates SMCLK by itself, and is sent back; UCAxIV is 2.
#[test]
fn the_interrupt_of_a_character_wakes_the_core() {
    let [f5438a, fr5994] = uarts();
    let [_, again] = uarts();
    // The F5438A takes longer to wake from LPM3 than these characters take to come.
    for (uart, sleep) in [(f5438a, LPM0), (fr5994, LPM0), (again, LPM3)] {
        let words = [&mov_byte(1, uart.enables)[..], &sleep].concat();
        let mut machine = receiving(&uart.part, &words);
        let vector = if uart.flags == UCA0 + 0x1d { 57 } else { 56 };
        poke(&mut *machine, 0xff80 + 2 * vector, &[ISR as u16]);
        // ADD &UCA0IV, R5; MOV.B &UCA0RXBUF, &UCA0TXBUF; RETI.
        poke(&mut *machine, ISR, &[0x5215, UCA0 + 0x1e, 0x42d2, RXBUF, UCA0 + 0xe, 0x1300]);
        machine.board_mut().externally_wakeable = true;
        assert!(machine.set_register("r5", 0));
        let began = machine.cycles();
        assert!(machine.uart_receive("UCA0", b"abc"));
        let mut sent = Sent::default();
        let until = Until { cycles: Some(began + 6 * FRAME), addresses: Vec::new() };
        assert_eq!(machine.run_observed(&until, &mut sent), Ok(Stop::Cycles));
        assert_eq!(sent.0.iter().map(|sent| sent.0).collect::<Vec<_>>(), b"abc", "{}", uart.part.name);
        assert_eq!(register(&*machine, "r5"), 3 * 2);
        for (number, (_, cycles)) in sent.0.iter().enumerate() {
            let after = cycles - began - (number as u64 + 2) * FRAME;
            assert!((1..40).contains(&after), "{}: {after}", uart.part.name);
        }
    }
}

/// Characters that come while UCSWRST is set, or the module listens to itself, are nobody's.
#[test]
fn characters_that_come_in_reset_are_lost() {
    for uart in uarts() {
        for (off, on) in
            [(mov(0x81, UCA0), mov(0x80, UCA0)), (mov_byte(0x80, uart.status), mov_byte(0, uart.status))]
        {
            let words = [&off[..], &[0x4303; 100], &on, &wait(uart.flags), &read_byte(RXBUF, 5)].concat();
            let mut machine = receiving(&uart.part, &words);
            assert!(machine.uart_receive("UCA0", b"xy"));
            assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
            assert_eq!(register(&*machine, "r5"), u32::from(b'y'), "{}", uart.part.name);
        }
    }
}

/// A dormant receiver would hear addresses only.
#[test]
fn a_dormant_receiver_is_refused() {
    for uart in uarts() {
        let mut machine = new_machine(&uart.part, 1_000_000).expect("machine");
        poke(&mut *machine, PC, &[&set(0x08)[..], &[END]].concat());
        assert!(machine.set_register("sp", 0x3000) && machine.set_register("pc", PC));
        assert!(machine.run(&Until::default()).expect_err("a fault").to_string().contains("UCDORM"));
        // UCRXEIE and UCBRKIE are about errors, which the line does not have.
        poke(&mut *machine, PC, &[&set(0x30)[..], &[END]].concat());
        assert!(machine.set_register("pc", PC));
        assert_eq!(machine.run(&Until::default()), Ok(Stop::Halted));
    }
}
