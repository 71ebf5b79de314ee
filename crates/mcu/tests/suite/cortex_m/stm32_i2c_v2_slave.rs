//! I2C interface of the STM32F0, F7 and L4 as a slave.
//!
//! Source: RM0091 section 26.4.7, "I2C slave mode".

use super::stm32_peripherals::Bench;
use mcu::MasterData;

const I2C: u32 = 0x4000_5400;
const CR1: u32 = I2C;
const CR2: u32 = I2C + 0x04;
const OAR1: u32 = I2C + 0x08;
const OAR2: u32 = I2C + 0x0c;
const TIMINGR: u32 = I2C + 0x10;
const ISR: u32 = I2C + 0x18;
const ICR: u32 = I2C + 0x1c;
const RXDR: u32 = I2C + 0x24;
const TXDR: u32 = I2C + 0x28;
/// CR1: PE with all interrupts.
const ON: u32 = 1 | 0x7e;
const NOSTRETCH: u32 = 1 << 17;
const GCEN: u32 = 1 << 19;
/// CR2.
const START: u32 = 1 << 13;
const NACK: u32 = 1 << 15;
/// ISR.
const TXE: u32 = 1;
const TXIS: u32 = 2;
const RXNE: u32 = 4;
const ADDR: u32 = 1 << 3;
const NACKF: u32 = 1 << 4;
const STOPF: u32 = 1 << 5;
const BUSY: u32 = 1 << 15;
const DIR: u32 = 1 << 16;
const BIT: u64 = 10;
const OWN: u8 = 0x3c;
/// ADDCODE.
const CODE: u32 = (OWN as u32) << 17;

fn bench(target: &str) -> Bench {
    let mut bench = Bench::new(target);
    bench.write(OAR1, 1 << 15 | u32::from(OWN) << 1);
    bench.write(CR1, ON);
    bench
}

fn master(bench: &mut Bench, address: u8, write: &[u8], read: usize) {
    bench.outside("I2C1", MasterData::I2c { address, write: write.to_vec(), read });
}

fn until(bench: &mut Bench, flags: u32) -> u64 {
    let from = bench.now;
    while bench.read(ISR) != flags {
        assert!(bench.now < from + 1_000, "{flags:#x} in vain, {:#x}", bench.read(ISR));
        bench.advance(bench.now + 1);
    }
    bench.now - from
}

#[test]
fn slave_receives_bytes_and_sees_the_stop() {
    for (target, irq) in [("stm32f051", 23), ("stm32f767", 31), ("stm32l4r5", 31)] {
        let mut bench = bench(target);
        master(&mut bench, OWN, &[0x11, 0x22], 0);
        assert_eq!(bench.read(ISR), TXE | BUSY);
        assert_eq!(until(&mut bench, TXE | BUSY | ADDR | CODE), 10 * BIT, "{target}");
        assert_eq!(bench.bus.requests, 1 << irq, "{target}");
        bench.advance(bench.now + 1_000);
        assert_eq!(bench.read(ISR), TXE | BUSY | ADDR | CODE, "SCL is held");
        bench.write(ICR, ADDR);
        assert_eq!(bench.bus.requests, 0);
        for byte in [0x11, 0x22] {
            assert_eq!(until(&mut bench, TXE | BUSY | RXNE | CODE), 9 * BIT);
            assert_eq!(bench.read(RXDR), byte);
        }
        assert_eq!(until(&mut bench, TXE | STOPF | CODE), BIT);
        assert_eq!(bench.bus.requests, 1 << irq);
        bench.write(ICR, STOPF);
        assert_eq!((bench.read(ISR), bench.bus.requests), (TXE | CODE, 0));
        assert_eq!(bench.finished(), (bench.now - 1, 3, vec![]));
    }
}

/// RXDR full: the next byte is held in the shift register, and SCL low.
#[test]
fn slave_that_does_not_read_holds_the_clock() {
    let mut bench = bench("stm32l4r5");
    master(&mut bench, OWN, &[1, 2, 3], 0);
    until(&mut bench, TXE | BUSY | ADDR | CODE);
    bench.write(ICR, ADDR);
    bench.advance(bench.now + 1_000);
    assert_eq!((bench.read(RXDR), bench.read(ISR)), (1, TXE | BUSY | RXNE | CODE));
    bench.advance(bench.now + 9 * BIT);
    assert_eq!((bench.read(RXDR), bench.read(RXDR)), (2, 3));
    until(&mut bench, TXE | STOPF | CODE);
    assert_eq!(bench.finished().1, 4);
}

#[test]
fn slave_sends_bytes_until_the_master_does_not_acknowledge() {
    let state = TXE | BUSY | DIR | CODE;
    let mut bench = bench("stm32f051");
    master(&mut bench, OWN, &[], 3);
    until(&mut bench, state | ADDR);
    bench.write(ICR, ADDR);
    assert_eq!(bench.read(ISR), state | TXIS);
    bench.advance(bench.now + 1_000);
    bench.write(TXDR, 0xa1);
    let began = bench.now;
    assert_eq!(bench.read(ISR), state | TXIS, "the first byte is in the shift register");
    bench.write(TXDR, 0xa2);
    assert_eq!(bench.read(ISR), state & !TXE);
    until(&mut bench, state | TXIS);
    assert_eq!(bench.now, began + 9 * BIT);
    bench.advance(began + 18 * BIT + 1_000);
    assert_eq!(bench.read(ISR), state | TXIS, "SCL is held");
    bench.write(TXDR, 0xa3);
    assert_eq!(until(&mut bench, state | NACKF), 9 * BIT);
    assert_eq!(until(&mut bench, state & !BUSY | NACKF | STOPF), BIT);
    assert_eq!(bench.finished().2, [Some(0xa1), Some(0xa2), Some(0xa3)]);
    let sent: Vec<(&str, u8)> = bench.seen.bytes.iter().map(|(port, byte, _)| (&port[..], *byte)).collect();
    assert_eq!(sent, [("I2C1", 0xa1), ("I2C1", 0xa2), ("I2C1", 0xa3)]);
}

/// A byte in TXDR is sent with the first, unless a one in TXE flushes it.
#[test]
fn byte_that_waits_goes_out_or_is_flushed() {
    let mut bench = bench("stm32f767");
    bench.write(TXDR, 0x55);
    master(&mut bench, OWN, &[], 1);
    until(&mut bench, BUSY | ADDR | DIR | CODE);
    bench.advance(bench.now + 200);
    assert_eq!(bench.read(ISR) & ADDR, ADDR);
    bench.write(ICR, ADDR);
    assert_eq!(until(&mut bench, TXE | BUSY | NACKF | DIR | CODE), 9 * BIT);
    bench.advance(bench.now + BIT);
    assert_eq!(bench.finished().2, [Some(0x55)]);
    bench.write(ICR, STOPF | NACKF);
    bench.write(TXDR, 0x66);
    master(&mut bench, OWN, &[], 1);
    until(&mut bench, BUSY | ADDR | DIR | CODE);
    bench.write(ISR, TXE);
    bench.write(ICR, ADDR);
    bench.write(TXDR, 0x77);
    bench.advance(bench.now + 10 * BIT);
    assert_eq!(bench.finished().2, [Some(0x77)]);
}

#[test]
fn addresses_are_those_of_oar1_oar2_and_the_general_call() {
    let answer = |address: u8, read: usize, settings: &[(u32, u32)]| {
        let mut bench = bench("stm32l4r5");
        for (register, value) in settings {
            bench.write(*register, *value);
        }
        master(&mut bench, address, &[], read);
        bench.advance(bench.now + 10 * BIT);
        let code = (bench.read(ISR) & ADDR != 0).then(|| bench.read(ISR) >> 17 & 0x7f);
        bench.advance(bench.now + BIT);
        if code.is_none() {
            assert_eq!((bench.finished().1, bench.read(ISR)), (0, TXE), "and the bus is free");
        }
        code
    };
    let second = |address: u32, mask: u32| [(OAR2, 1 << 15 | mask << 8 | address << 1)];
    assert_eq!(answer(OWN, 0, &[]), Some(OWN.into()));
    assert_eq!(answer(OWN + 1, 0, &[]), None);
    assert_eq!(answer(OWN, 0, &[(CR1, 0)]), None, "PE is clear");
    assert_eq!(answer(OWN, 0, &[(OAR1, u32::from(OWN) << 1)]), None, "OA1EN is clear");
    assert_eq!(answer(OWN, 0, &[(OAR1, 1 << 15 | 1 << 10 | u32::from(OWN) << 1)]), None, "OA1MODE");
    assert_eq!(answer(0x21, 0, &second(0x21, 0)), Some(0x21));
    assert_eq!(answer(0x20, 0, &second(0x21, 0)), None);
    assert_eq!(answer(0x20, 0, &second(0x21, 1)), Some(0x20));
    assert_eq!(answer(0x22, 0, &second(0x21, 1)), None);
    assert_eq!(answer(0x55, 0, &second(0, 7)), Some(0x55));
    assert_eq!(answer(0x78, 0, &second(0, 7)), None, "a reserved address");
    assert_eq!(answer(0x78, 0, &second(0x78, 0)), Some(0x78));
    assert_eq!(answer(0x21, 0, &[(OAR2, 0x21 << 1)]), None, "OA2EN is clear");
    assert_eq!(answer(0, 0, &[]), None);
    assert_eq!(answer(0, 0, &[(CR1, ON | GCEN)]), Some(0));
    assert_eq!(answer(0, 1, &[(CR1, ON | GCEN)]), None, "a START byte");
}

/// CR2.NACK answers one byte, and is clear then.
#[test]
fn nack_refuses_the_next_byte() {
    let mut bench = bench("stm32f051");
    master(&mut bench, OWN, &[1, 2], 0);
    until(&mut bench, TXE | BUSY | ADDR | CODE);
    bench.write(CR2, NACK);
    bench.write(ICR, ADDR);
    until(&mut bench, TXE | BUSY | RXNE | CODE);
    assert_eq!((bench.read(CR2), bench.read(RXDR)), (0, 1));
    until(&mut bench, TXE | STOPF | CODE);
    assert_eq!(bench.finished().1, 1);
    // An address clears it, too; the bus is free for a bit before it.
    bench.write(CR2, NACK);
    bench.advance(bench.now + BIT);
    master(&mut bench, OWN, &[], 0);
    bench.advance(bench.now + 10 * BIT);
    assert_eq!(bench.read(CR2), 0);
}

#[test]
fn master_may_repeat_its_start() {
    let mut bench = bench("stm32f767");
    master(&mut bench, OWN, &[7], 1);
    until(&mut bench, TXE | BUSY | ADDR | CODE);
    bench.write(ICR, ADDR);
    until(&mut bench, TXE | BUSY | RXNE | CODE);
    assert_eq!(bench.read(RXDR), 7);
    until(&mut bench, TXE | BUSY | ADDR | DIR | CODE);
    bench.write(ICR, ADDR);
    bench.write(TXDR, 0x99);
    bench.advance(bench.now + 10 * BIT);
    let (_, acknowledged, received) = bench.finished();
    assert_eq!((acknowledged, received), (3, vec![Some(0x99)]));
}

/// A START of its own waits for the master's STOP.
#[test]
fn start_waits_for_the_master_outside() {
    let mut bench = bench("stm32f051");
    bench.write(CR1, 0);
    bench.write(TIMINGR, 1 << 28 | 5 << 8 | 9);
    bench.write(CR1, ON);
    master(&mut bench, 0x11, &[], 0);
    let began = bench.now;
    bench.write(CR2, 0xa0 | 1 << 16 | START);
    // A bit has 36 cycles of its own.
    until(&mut bench, TXE | BUSY | NACKF);
    assert_eq!(bench.now, began + 11 * BIT + 10 * 36);
    assert_eq!(bench.finished().0, began + 11 * BIT);
}

#[test]
fn slave_that_is_switched_off_lets_go_of_the_lines() {
    let mut bench = bench("stm32l4r5");
    master(&mut bench, OWN, &[1, 2], 0);
    until(&mut bench, TXE | BUSY | ADDR | CODE);
    bench.write(CR1, 0);
    bench.advance(bench.now + 10 * BIT);
    assert_eq!((bench.finished().1, bench.read(ISR)), (1, TXE));
    let mut bench = self::bench("stm32l4r5");
    master(&mut bench, OWN, &[], 2);
    until(&mut bench, TXE | BUSY | ADDR | DIR | CODE);
    bench.write(CR1, 0);
    bench.advance(bench.now + 19 * BIT);
    assert_eq!(bench.finished().2, [Some(0xff), Some(0xff)]);
}

#[test]
fn slave_that_does_not_hold_the_clock_is_refused() {
    let mut bench = bench("stm32f051");
    bench.write(CR1, 0);
    bench.write(CR1, ON | NOSTRETCH);
    master(&mut bench, OWN, &[1], 0);
    bench.advance(bench.now + 10 * BIT);
    assert!(bench.failure().contains("CR1.NOSTRETCH"));
}
