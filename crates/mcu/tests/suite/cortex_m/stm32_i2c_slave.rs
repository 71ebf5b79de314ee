//! I2C interface of the STM32F1 and F4 as a slave.
//!
//! Source: RM0090 section 27.3.2, figures "Transfer sequence diagram for slave transmitter" and
//! "receiver".

use super::stm32_peripherals::Bench;
use mcu::MasterData;

const I2C: u32 = 0x4000_5400;
const CR1: u32 = I2C;
const CR2: u32 = I2C + 4;
const OAR1: u32 = I2C + 8;
const OAR2: u32 = I2C + 0xc;
const DR: u32 = I2C + 0x10;
const SR1: u32 = I2C + 0x14;
const SR2: u32 = I2C + 0x18;
const CCR: u32 = I2C + 0x1c;
/// CR1.
const PE: u32 = 1;
const ENGC: u32 = 1 << 6;
const NOSTRETCH: u32 = 1 << 7;
const START: u32 = 1 << 8;
const STOP: u32 = 1 << 9;
const ACK: u32 = 1 << 10;
const SWRST: u32 = 1 << 15;
/// SR1.
const SB: u32 = 1;
const ADDR: u32 = 1 << 1;
const BTF: u32 = 1 << 2;
const STOPF: u32 = 1 << 4;
const RXNE: u32 = 1 << 6;
const TXE: u32 = 1 << 7;
const AF: u32 = 1 << 10;
/// SR2.
const BUSY: u32 = 2;
const TRA: u32 = 4;
const GENCALL: u32 = 1 << 4;
const DUALF: u32 = 1 << 7;
const BIT: u64 = 10;
const OWN: u8 = 0x3c;

/// On, with the address 0x3c and all interrupts.
fn bench(target: &str) -> Bench {
    let mut bench = Bench::new(target);
    bench.write(CR2, 8 | 7 << 8);
    bench.write(OAR1, 1 << 14 | u32::from(OWN) << 1);
    bench.write(CR1, PE | ACK);
    bench
}

fn master(bench: &mut Bench, address: u8, write: &[u8], read: usize) {
    bench.outside("I2C1", MasterData::I2c { address, write: write.to_vec(), read });
}

/// The cycles that pass until the flags of SR1 are these.
fn until(bench: &mut Bench, flags: u32) -> u64 {
    let from = bench.now;
    while bench.read(SR1) != flags {
        assert!(bench.now < from + 1_000, "{flags:#x} in vain, {:#x}", bench.read(SR1));
        bench.advance(bench.now + 1);
    }
    bench.now - from
}

/// ADDR comes ten bits after the START, and the next reads clear it.
fn addressed(bench: &mut Bench, state: u32) {
    assert_eq!(until(bench, ADDR), 10 * BIT);
    assert_eq!(bench.read(SR2), state);
}

#[test]
fn slave_receives_bytes_and_sees_the_stop() {
    for target in ["stm32f100", "stm32f103", "stm32f407"] {
        let mut bench = bench(target);
        master(&mut bench, OWN, &[0x11, 0x22], 0);
        assert_eq!(bench.read(SR2), BUSY);
        assert_eq!(until(&mut bench, ADDR), 10 * BIT);
        assert_eq!(bench.bus.requests, 1 << 31, "the event's interrupt");
        bench.advance(bench.now + 1_000);
        assert_eq!((bench.read(SR1), bench.read(SR2)), (ADDR, BUSY), "SCL is held");
        for byte in [0x11, 0x22] {
            assert_eq!(until(&mut bench, RXNE), 9 * BIT);
            assert_eq!(bench.read(DR), byte);
        }
        assert_eq!(until(&mut bench, STOPF), BIT);
        assert_eq!((bench.read(SR2), bench.bus.requests), (0, 1 << 31));
        bench.write(CR1, PE | ACK);
        assert_eq!((bench.read(SR1), bench.bus.requests), (0, 0));
        assert_eq!(bench.finished(), (bench.now - 1, 3, vec![]));
    }
}

/// A write of CR1 clears STOPF behind a read of SR1 alone.
#[test]
fn stopf_is_cleared_by_sr1_and_cr1() {
    let mut bench = bench("stm32f407");
    master(&mut bench, OWN, &[], 0);
    addressed(&mut bench, BUSY);
    bench.advance(bench.now + BIT);
    bench.write(CR1, PE | ACK);
    assert_eq!(bench.read(SR1), STOPF);
    bench.write(CR1, PE | ACK);
    assert_eq!(bench.read(SR1), 0);
}

/// BTF: DR and the shift register are full, and SCL is held until DR is read.
#[test]
fn slave_that_does_not_read_holds_the_clock() {
    let mut bench = bench("stm32f103");
    master(&mut bench, OWN, &[1, 2, 3], 0);
    addressed(&mut bench, BUSY);
    assert_eq!(until(&mut bench, RXNE), 9 * BIT);
    assert_eq!(until(&mut bench, RXNE | BTF), 9 * BIT);
    bench.advance(bench.now + 1_000);
    assert_eq!((bench.read(SR1), bench.read(DR), bench.read(SR1)), (RXNE | BTF, 1, RXNE));
    assert_eq!(until(&mut bench, RXNE | BTF), 9 * BIT);
    assert_eq!((bench.read(DR), bench.read(DR)), (2, 3));
    until(&mut bench, STOPF);
}

#[test]
fn slave_sends_bytes_until_the_master_does_not_acknowledge() {
    let mut bench = bench("stm32f407");
    master(&mut bench, OWN, &[], 3);
    addressed(&mut bench, BUSY | TRA);
    bench.advance(bench.now + 1_000);
    assert_eq!(bench.read(SR1), TXE, "SCL is held for the first byte");
    bench.write(DR, 0xa1);
    let began = bench.now;
    assert_eq!(bench.read(SR1), TXE, "the first byte is in the shift register");
    bench.write(DR, 0xa2);
    assert_eq!(bench.read(SR1), 0);
    until(&mut bench, TXE);
    assert_eq!(bench.now, began + 9 * BIT);
    until(&mut bench, TXE | BTF);
    assert_eq!(bench.now, began + 18 * BIT);
    bench.advance(bench.now + 1_000);
    bench.write(DR, 0xa3);
    assert_eq!(bench.read(SR1), TXE);
    assert_eq!(until(&mut bench, TXE | AF), 9 * BIT);
    assert_eq!(bench.bus.requests >> 32 & 1, 1, "the error's interrupt");
    assert_eq!(until(&mut bench, AF), BIT, "no STOPF behind a NACK");
    assert_eq!((bench.read(SR2), bench.finished().2), (0, vec![Some(0xa1), Some(0xa2), Some(0xa3)]));
    let sent: Vec<(&str, u8)> = bench.seen.bytes.iter().map(|(port, byte, _)| (&port[..], *byte)).collect();
    assert_eq!(sent, [("I2C1", 0xa1), ("I2C1", 0xa2), ("I2C1", 0xa3)]);
}

/// A byte that was written before ADDR is cleared goes out with that.
#[test]
fn byte_that_waits_goes_out_at_once() {
    let mut bench = bench("stm32f103");
    master(&mut bench, OWN, &[], 1);
    until(&mut bench, ADDR);
    bench.write(DR, 0x55);
    bench.advance(bench.now + 200);
    assert_eq!((bench.read(SR1), bench.read(SR2)), (ADDR, BUSY | TRA));
    assert_eq!(until(&mut bench, TXE | AF), 9 * BIT);
    bench.advance(bench.now + BIT);
    assert_eq!(bench.finished().2, [Some(0x55)]);
}

#[test]
fn addresses_are_those_of_oar1_oar2_and_the_general_call() {
    let answer = |address: u8, read: usize, settings: &[(u32, u32)]| {
        let mut bench = bench("stm32f407");
        for (register, value) in settings {
            bench.write(*register, *value);
        }
        master(&mut bench, address, &[], read);
        bench.advance(bench.now + 10 * BIT);
        let state = (bench.read(SR1) == ADDR).then(|| bench.read(SR2));
        bench.advance(bench.now + BIT);
        if state.is_none() {
            assert_eq!((bench.finished().1, bench.read(SR2)), (0, 0), "and the bus is free");
        }
        state
    };
    assert_eq!(answer(OWN, 0, &[]), Some(BUSY));
    assert_eq!(answer(OWN + 1, 0, &[]), None);
    assert_eq!(answer(OWN, 0, &[(CR1, PE)]), None, "ACK is clear");
    assert_eq!(answer(OWN, 0, &[(CR1, ACK)]), None, "PE is clear");
    assert_eq!(answer(OWN, 0, &[(OAR1, 1 << 15 | u32::from(OWN) << 1)]), None, "ten bits");
    assert_eq!(answer(0x21, 0, &[(OAR2, 0x21 << 1 | 1)]), Some(BUSY | DUALF));
    assert_eq!(answer(0x21, 0, &[(OAR2, 0x21 << 1)]), None);
    assert_eq!(answer(0, 0, &[]), None);
    assert_eq!(answer(0, 0, &[(CR1, PE | ACK | ENGC)]), Some(BUSY | GENCALL));
    assert_eq!(answer(0, 1, &[(CR1, PE | ACK | ENGC)]), None, "a START byte");
}

/// Without ACK a byte arrives, and the master ends; no STOPF comes.
#[test]
fn byte_is_not_acknowledged_without_ack() {
    let mut bench = bench("stm32f103");
    master(&mut bench, OWN, &[1, 2], 0);
    addressed(&mut bench, BUSY);
    bench.write(CR1, PE);
    until(&mut bench, RXNE);
    assert_eq!(bench.read(DR), 1);
    bench.advance(bench.now + BIT);
    assert_eq!((bench.finished().1, bench.read(SR1), bench.read(SR2)), (1, 0, 0));
}

#[test]
fn master_may_repeat_its_start() {
    let mut bench = bench("stm32f407");
    master(&mut bench, OWN, &[7], 1);
    addressed(&mut bench, BUSY);
    until(&mut bench, RXNE);
    assert_eq!(bench.read(DR), 7);
    addressed(&mut bench, BUSY | TRA);
    bench.write(DR, 0x99);
    until(&mut bench, TXE | AF);
    bench.advance(bench.now + BIT);
    let (_, acknowledged, received) = bench.finished();
    assert_eq!((acknowledged, received), (3, vec![Some(0x99)]));
}

/// A START of its own waits for the master's STOP, and a master outside for its own.
#[test]
fn masters_wait_for_each_other() {
    let mut bench = bench("stm32f103");
    bench.write(CR1, PE);
    bench.write(CCR, 5);
    bench.write(CR1, PE | ACK);
    master(&mut bench, 0x11, &[], 0);
    bench.write(CR1, PE | ACK | START);
    let began = bench.now - 1;
    assert_eq!(until(&mut bench, SB), 11 * BIT + BIT - 1);
    assert_eq!(bench.finished().0, began + 11 * BIT);
    master(&mut bench, OWN, &[], 0);
    bench.advance(bench.now + 1_000);
    assert_eq!(bench.read(SR1), SB);
    bench.write(DR, 0x20);
    until(&mut bench, AF);
    bench.write(SR1, 0);
    bench.write(CR1, PE | ACK | STOP);
    bench.advance(bench.now + BIT);
    assert_eq!(until(&mut bench, ADDR), 10 * BIT);
}

/// Both lines are let go of: the master sees ones and no acknowledgement.
#[test]
fn slave_that_is_switched_off_lets_go_of_the_lines() {
    for control in [0, SWRST] {
        let mut bench = bench("stm32f407");
        master(&mut bench, OWN, &[1, 2], 0);
        until(&mut bench, ADDR);
        bench.write(CR1, control);
        bench.advance(bench.now + 10 * BIT);
        assert_eq!((bench.finished().1, bench.read(SR1)), (1, 0), "{control:#x}");
        let mut bench = self::bench("stm32f407");
        master(&mut bench, OWN, &[], 2);
        until(&mut bench, ADDR);
        bench.write(CR1, control);
        bench.advance(bench.now + 19 * BIT);
        assert_eq!(bench.finished().2, [Some(0xff), Some(0xff)]);
    }
}

/// A reset ends it for good: the next transfer begins anew.
#[test]
fn reset_forgets_the_master() {
    let mut bench = bench("stm32f407");
    master(&mut bench, OWN, &[1], 0);
    until(&mut bench, ADDR);
    bench.bus.reset_by(mcu::ResetCause::Software, bench.now, 0);
    bench.advance(bench.now + 1_000);
    assert_eq!(bench.bus.board.take_finished_transfers(), []);
}

#[test]
fn unmodelled_settings_of_a_slave_are_refused() {
    let mut bench = bench("stm32f407");
    bench.write(CR1, PE | ACK | NOSTRETCH);
    master(&mut bench, OWN, &[1], 0);
    bench.advance(bench.now + 10 * BIT);
    assert!(bench.failure().contains("CR1.NOSTRETCH"));
    let mut bench = self::bench("stm32f407");
    master(&mut bench, OWN, &[1], 0);
    addressed(&mut bench, BUSY);
    let said = bench.try_write(CR1, PE | ACK | STOP).unwrap_err().to_string();
    assert!(said.contains("STOP") && said.contains("CR1"), "{said}");
    let mut bench = self::bench("stm32f407");
    bench.outside("I2C1", MasterData::Spi { mode: 0, bytes: vec![1] });
    assert!(bench.failure().contains("does not speak I2C"));
}

/// Transfers whose time has come wait for the one before, and for a bus that is free for a bit.
#[test]
fn transfers_follow_each_other() {
    let mut bench = bench("stm32f103");
    master(&mut bench, 0x11, &[], 0);
    let began = bench.now;
    master(&mut bench, 0x12, &[], 0);
    bench.advance(began + 100 * BIT);
    let finished = bench.bus.board.take_finished_transfers();
    let ends: Vec<u64> = finished.iter().map(|transfer| transfer.cycles - began).collect();
    assert_eq!(ends, [11 * BIT, 23 * BIT]);
}
