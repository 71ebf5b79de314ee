//! I2C interface of the STM32F1 and F4 as a master.
//!
//! Source: RM0090 section 27.3.3, figures "Transfer sequence diagram for master transmitter" and
//! "receiver".

use super::stm32_peripherals::Bench;
use crate::i2c_bus::Device;

const I2C: u32 = 0x4000_5400;
const CR1: u32 = I2C;
const DR: u32 = I2C + 0x10;
const SR1: u32 = I2C + 0x14;
const SR2: u32 = I2C + 0x18;
const SB: u32 = 1;
const ADDR: u32 = 1 << 1;
const BTF: u32 = 1 << 2;
const RXNE: u32 = 1 << 6;
const TXE: u32 = 1 << 7;
const AF: u32 = 1 << 10;
/// CR1.
const PE: u32 = 1;
const START: u32 = 1 << 8;
const STOP: u32 = 1 << 9;
const ACK: u32 = 1 << 10;
const POS: u32 = 1 << 11;
/// Cycles of a bit: CCR 5 in standard mode, twice.
const BIT: u64 = 10;

/// On, at the device of address 0x3c.
fn bench(target: &str) -> Bench {
    let mut bench = Bench::new(target);
    bench.bus.board.mount_two_wire("I2C1", Box::new(Device::default()));
    bench.write(I2C + 4, 8 | 1 << 8 | 1 << 9);
    bench.write(I2C + 0x1c, 5);
    bench.write(CR1, PE | ACK);
    bench
}

/// The cycles that pass until the flags of SR1 are these.
fn until(bench: &mut Bench, flags: u32) -> u64 {
    let from = bench.now;
    while bench.read(SR1) != flags {
        assert!(bench.now < from + 1_000, "{:#x} in vain, {:#x}", flags, bench.read(SR1));
        bench.advance(bench.now + 1);
    }
    bench.now - from
}

/// START and address: after it ADDR or AF is there.
fn address(bench: &mut Bench, byte: u32, flags: u32) {
    let control = bench.read(CR1);
    bench.write(CR1, control | START);
    assert_eq!(until(bench, SB), BIT);
    assert_eq!(bench.read(CR1), control, "START has gone");
    bench.write(DR, byte);
    assert_eq!(until(bench, flags), 9 * BIT);
}

fn stop(bench: &mut Bench) {
    let control = bench.read(CR1);
    bench.write(CR1, control | STOP);
    bench.advance(bench.now + BIT);
    assert_eq!((bench.read(CR1) & STOP, bench.read(SR2)), (0, 0));
}

fn log(bench: &mut Bench) -> Vec<String> {
    let device = bench.bus.board.two_wire_device_mut("device").expect("a device");
    device.downcast_ref::<Device>().expect("this device").log.clone()
}

/// Nobody is at 0x50.
#[test]
fn an_address_is_not_acknowledged() {
    for target in ["stm32f100", "stm32f103", "stm32f407"] {
        let mut bench = bench(target);
        address(&mut bench, 0xa0, AF);
        assert_eq!(bench.bus.requests, 1 << 32, "the error's interrupt");
        assert_eq!(bench.read(SR2), 3, "MSL, BUSY");
        bench.write(SR1, !AF & 0xffff);
        assert_eq!((bench.read(SR1), bench.bus.requests), (0, 0));
        stop(&mut bench);
        assert_eq!(log(&mut bench), ["50W", "STOP"]);
    }
}

/// Two bytes, the second written while the first is sent; BTF when both are out.
#[test]
fn bytes_are_sent() {
    let mut bench = bench("stm32f103");
    address(&mut bench, 0x78, ADDR);
    assert_eq!(bench.bus.requests, 1 << 31, "the event's interrupt");
    assert_eq!(bench.read(SR2), 7, "MSL, BUSY, TRA");
    assert_eq!(bench.read(SR1), TXE);
    bench.write(DR, 0x11);
    let began = bench.now;
    assert_eq!(bench.read(SR1), TXE, "the first byte is in the shift register");
    bench.write(DR, 0x22);
    assert_eq!(bench.read(SR1), 0);
    until(&mut bench, TXE);
    assert_eq!(bench.now, began + 9 * BIT);
    until(&mut bench, TXE | BTF);
    assert_eq!(bench.now, began + 18 * BIT);
    stop(&mut bench);
    assert_eq!(log(&mut bench), ["3cW", "11", "22", "STOP"]);
}

/// One byte: ACK is clear and STOP set before it is there; two with POS; three with BTF, as section
/// 27.3.3 says.
#[test]
fn bytes_are_received() {
    let mut one = bench("stm32f407");
    address(&mut one, 0x79, ADDR);
    one.write(CR1, PE);
    one.read(SR2);
    one.write(CR1, PE | STOP);
    until(&mut one, RXNE);
    one.advance(one.now + BIT);
    assert_eq!((one.read(DR), one.read(SR1), one.read(SR2), one.read(CR1)), (0xa0, 0, 0, PE));
    assert_eq!(log(&mut one), ["3cR", "NACK", "STOP"]);

    let mut two = bench("stm32f407");
    two.write(CR1, PE | ACK | POS);
    address(&mut two, 0x79, ADDR);
    two.read(SR2);
    two.write(CR1, PE | POS);
    let began = two.now;
    until(&mut two, RXNE | BTF);
    assert!(two.now.abs_diff(began + 18 * BIT) <= 1);
    stop(&mut two);
    assert_eq!((two.read(DR), two.read(DR), two.read(SR1)), (0xa0, 0xa1, 0));
    assert_eq!(log(&mut two), ["3cR", "ACK", "NACK", "STOP"]);

    let mut three = bench("stm32f407");
    address(&mut three, 0x79, ADDR);
    three.read(SR2);
    until(&mut three, RXNE | BTF);
    three.advance(three.now + 100 * BIT);
    three.write(CR1, PE);
    assert_eq!(three.read(DR), 0xa0);
    until(&mut three, RXNE | BTF);
    stop(&mut three);
    assert_eq!((three.read(DR), three.read(DR), three.read(SR1)), (0xa1, 0xa2, 0));
    assert_eq!(log(&mut three), ["3cR", "ACK", "ACK", "NACK", "STOP"]);
}

/// A register is read: its number is sent, and a repeated START follows.
#[test]
fn a_start_may_be_repeated() {
    let mut bench = bench("stm32f103");
    address(&mut bench, 0x78, ADDR);
    bench.read(SR2);
    bench.write(DR, 0x07);
    until(&mut bench, TXE | BTF);
    address(&mut bench, 0x79, ADDR);
    bench.write(CR1, PE);
    bench.read(SR2);
    bench.write(CR1, PE | STOP);
    until(&mut bench, RXNE);
    assert_eq!(bench.read(DR), 0xa0);
    assert_eq!(log(&mut bench)[..4], ["3cW", "07", "3cR", "NACK"]);
}

/// RM0090 section 27.6.8: in fast mode a bit has three or 25 times CCR.
#[test]
fn fast_mode_has_its_times() {
    for (clock, bit) in [(1 << 15 | 4, 12), (3 << 14 | 1, 25)] {
        let mut bench = bench("stm32f407");
        bench.write(I2C + 0x1c, clock);
        bench.write(CR1, PE | START);
        assert_eq!(until(&mut bench, SB), bit);
    }
}
