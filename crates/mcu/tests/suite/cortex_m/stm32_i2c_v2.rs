//! I2C interface of the STM32F0, F7 and L4 as a master.
//!
//! Source: RM0091 section 26.4.8, "I2C master mode".

use super::stm32_peripherals::Bench;
use crate::i2c_bus::Device;

const I2C: u32 = 0x4000_5400;
const CR1: u32 = I2C;
const CR2: u32 = I2C + 0x04;
const TIMINGR: u32 = I2C + 0x10;
const ISR: u32 = I2C + 0x18;
const ICR: u32 = I2C + 0x1c;
const RXDR: u32 = I2C + 0x24;
const TXDR: u32 = I2C + 0x28;
/// CR2.
const RD_WRN: u32 = 1 << 10;
const START: u32 = 1 << 13;
const STOP: u32 = 1 << 14;
const RELOAD: u32 = 1 << 24;
const AUTOEND: u32 = 1 << 25;
/// ISR.
const TXE: u32 = 1;
const TXIS: u32 = 2;
const RXNE: u32 = 4;
const NACKF: u32 = 1 << 4;
const STOPF: u32 = 1 << 5;
const TC: u32 = 1 << 6;
const TCR: u32 = 1 << 7;
const BUSY: u32 = 1 << 15;
/// Cycles of a bit: SCLL 9, SCLH 5 and PRESC 1 are 32 clocks, and two at each edge.
const BIT: u64 = 36;
const DEVICE: u32 = 0x3c << 1;

/// On, with all interrupts, at the device of address 0x3c.
fn bench(target: &str) -> Bench {
    let mut bench = Bench::new(target);
    bench.bus.board.mount_two_wire("I2C1", Box::new(Device::default()));
    bench.write(TIMINGR, 1 << 28 | 5 << 8 | 9);
    bench.write(CR1, 1 | 0x7e);
    bench
}

fn until(bench: &mut Bench, flags: u32) -> u64 {
    let from = bench.now;
    while bench.read(ISR) & !BUSY != flags {
        assert!(bench.now < from + 2_000, "{:#x} in vain, {:#x}", flags, bench.read(ISR));
        bench.advance(bench.now + 1);
    }
    bench.now - from
}

fn log(bench: &mut Bench) -> Vec<String> {
    let device = bench.bus.board.two_wire_device_mut("device").expect("a device");
    device.downcast_ref::<Device>().expect("this device").log.clone()
}

/// Nobody is at 0x50: NACKF, and a STOP by itself.
#[test]
fn an_address_is_not_acknowledged() {
    for (target, irq) in [("stm32f051", 23), ("stm32f767", 31), ("stm32l4r5", 31)] {
        let mut bench = bench(target);
        bench.write(CR2, 0xa0 | 1 << 16 | START);
        assert_eq!(until(&mut bench, TXE | NACKF), 10 * BIT, "{target}");
        assert_eq!(bench.bus.requests, 1 << irq, "{target}");
        assert_eq!(bench.read(CR2) & START, 0);
        assert_eq!(until(&mut bench, TXE | NACKF | STOPF), BIT);
        assert_eq!(bench.read(ISR) & BUSY, 0);
        bench.write(ICR, NACKF | STOPF);
        assert_eq!((bench.read(ISR), bench.bus.requests), (TXE, 0));
        assert_eq!(log(&mut bench), ["50W", "STOP"]);
    }
}

/// Two bytes with AUTOEND: TXIS for each, nine bits each, then the STOP.
#[test]
fn bytes_are_sent() {
    let mut bench = bench("stm32f051");
    bench.write(CR2, DEVICE | 2 << 16 | AUTOEND | START);
    assert_eq!(until(&mut bench, TXE | TXIS), 10 * BIT);
    bench.write(TXDR, 0x11);
    let began = bench.now;
    assert_eq!(bench.read(ISR), BUSY | TXE | TXIS, "the first is in the shift register");
    bench.write(TXDR, 0x22);
    assert_eq!(bench.read(ISR), BUSY);
    until(&mut bench, TXE);
    assert_eq!(bench.now, began + 9 * BIT);
    until(&mut bench, TXE | STOPF);
    assert_eq!(bench.now, began + 19 * BIT);
    assert_eq!(log(&mut bench), ["3cW", "11", "22", "STOP"]);
}

/// A register's number, then a repeated START and two bytes: TC holds the bus; the last byte is not
/// acknowledged.
#[test]
fn a_register_is_read() {
    let mut bench = bench("stm32l4r5");
    bench.write(CR2, DEVICE | 1 << 16 | START);
    until(&mut bench, TXE | TXIS);
    bench.write(TXDR, 0x07);
    until(&mut bench, TXE | TC);
    bench.advance(bench.now + 10_000);
    assert_eq!(bench.read(ISR), BUSY | TXE | TC);
    bench.write(CR2, DEVICE | 2 << 16 | RD_WRN | AUTOEND | START);
    until(&mut bench, TXE | RXNE);
    assert_eq!(bench.read(RXDR), 0xa0);
    until(&mut bench, TXE | RXNE);
    assert_eq!(bench.read(RXDR), 0xa1);
    until(&mut bench, TXE | STOPF);
    assert_eq!(log(&mut bench), ["3cW", "07", "3cR", "ACK", "NACK", "STOP"]);
}

/// A byte that nobody takes from RXDR holds the bus; RELOAD asks for more, and STOP ends.
#[test]
fn the_bus_is_held() {
    let mut bench = bench("stm32f767");
    bench.write(CR2, DEVICE | 3 << 16 | RD_WRN | AUTOEND | START);
    until(&mut bench, TXE | RXNE);
    bench.advance(bench.now + 10_000);
    assert_eq!(bench.read(ISR), BUSY | TXE | RXNE, "two are there, the third waits");
    assert_eq!((bench.read(RXDR), bench.read(RXDR)), (0xa0, 0xa1));
    until(&mut bench, TXE | RXNE);
    assert_eq!(bench.read(RXDR), 0xa2);

    let mut more = self::bench("stm32f767");
    more.write(CR2, DEVICE | 1 << 16 | RELOAD | START);
    until(&mut more, TXE | TXIS);
    more.write(TXDR, 1);
    until(&mut more, TXE | TCR);
    more.write(CR2, DEVICE | 1 << 16);
    until(&mut more, TXE | TXIS);
    more.write(TXDR, 2);
    until(&mut more, TXE | TC);
    let control = more.read(CR2);
    more.write(CR2, control | STOP);
    until(&mut more, TXE | STOPF);
    assert_eq!(log(&mut more), ["3cW", "01", "02", "STOP"]);
}

#[test]
fn unmodelled_settings_are_refused() {
    for (target, address, value) in
        [("stm32f051", CR1, 1 << 20), ("stm32f051", CR2, 1 << 11), ("stm32f051", I2C + 0x14, 1)]
    {
        assert!(Bench::new(target).try_write(address, value).is_err(), "{address:#x}");
    }
}
