//! SPI of the STM32 as a slave.
//!
//! Sources: RM0008, section 25.3.2; RM0090, section 28.3.2; RM0091, section 28.5.

use super::stm32_peripherals::Bench;
use mcu::{MasterData, Pin};

const SPI1: u32 = 0x4001_3000;
const CR1: u32 = SPI1;
const CR2: u32 = SPI1 + 4;
const SR: u32 = SPI1 + 8;
const DR: u32 = SPI1 + 12;
const MSTR: u32 = 1 << 2;
const SPE: u32 = 1 << 6;
const SSI: u32 = 1 << 8;
const SSM: u32 = 1 << 9;
const RXNE: u32 = 1;
const TXE: u32 = 2;
const OVR: u32 = 1 << 6;
const BSY: u32 = 1 << 7;
const BYTE: u64 = 80;

/// A slave that software selects.
fn selected(target: &str) -> Bench {
    let mut bench = Bench::new(target);
    bench.write(CR1, SSM | SPE);
    bench
}

/// An STM32F407 as a slave that PA4 selects.
fn at_pin(level: Option<bool>) -> Bench {
    let mut bench = Bench::new("stm32f407");
    bench.write(0x4002_0020, 5 << 16);
    bench.write(0x4002_0000, 0xa800_0000 | 2 << 8);
    bench.bus.board.set_input(Pin::new("GPIOA", 4), level);
    bench.bus.resume(bench.now, 0);
    bench.write(CR1, SPE);
    bench
}

fn master(bench: &mut Bench, mode: u8, bytes: &[u8]) {
    bench.outside("SPI1", MasterData::Spi { mode, bytes: bytes.to_vec() });
}

#[test]
fn slave_exchanges_bytes() {
    for target in ["stm32f103", "stm32f407"] {
        let mut bench = selected(target);
        bench.write(CR2, 1 << 6);
        bench.write(DR, 0xa1);
        assert_eq!(bench.read(SR), 0, "the byte waits for the master");
        master(&mut bench, 0, &[0x11, 0x22]);
        let began = bench.now;
        assert_eq!(bench.read(SR), TXE | BSY, "{target}");
        bench.write(DR, 0xa2);
        assert_eq!(bench.read(SR), BSY);
        bench.advance(began + BYTE - 1);
        assert_eq!((bench.read(SR), bench.bus.requests), (BSY, 0));
        bench.advance(began + BYTE);
        assert_eq!((bench.read(SR), bench.bus.requests), (RXNE | TXE | BSY, 1 << 35));
        assert_eq!(bench.read(DR), 0x11);
        bench.advance(began + 2 * BYTE);
        assert_eq!((bench.read(SR), bench.read(DR)), (RXNE | TXE, 0x22));
        assert_eq!(bench.finished(), (began + 2 * BYTE, 0, vec![Some(0xa1), Some(0xa2)]));
        let sent: Vec<_> = bench.seen.bytes.iter().map(|(port, byte, at)| (&port[..], *byte, *at)).collect();
        assert_eq!(sent, [("SPI1", 0xa1, began + BYTE), ("SPI1", 0xa2, began + 2 * BYTE)]);
    }
}

/// RM0091: four bytes of FIFO in each direction.
#[test]
fn slave_with_fifos_exchanges_bytes() {
    let mut bench = selected("stm32f051");
    bench.write_part(DR, 2, 0xa2a1);
    bench.write_part(DR, 1, 0xa3);
    master(&mut bench, 0, &[1, 2, 3, 4, 5]);
    let began = bench.now;
    bench.advance(began + 4 * BYTE);
    assert_eq!(bench.read(SR) & !(3 << 11), RXNE | TXE | BSY | 3 << 9);
    bench.advance(began + 5 * BYTE);
    assert_eq!(bench.read(SR) & OVR, OVR);
    assert_eq!(bench.finished().2, [Some(0xa1), Some(0xa2), Some(0xa3), None, None]);
    let halves = [0; 2].map(|_: u32| bench.bus.read(DR, 2, bench.now, 0, None).expect("two bytes"));
    assert_eq!(halves, [0x0201, 0x0403]);
}

/// Nothing defines the byte that the master gets where none was written. A second byte that no
/// program reads is lost.
#[test]
fn slave_that_does_nothing_overruns() {
    let mut bench = selected("stm32f103");
    master(&mut bench, 0, &[0x11, 0x22]);
    bench.advance(bench.now + 2 * BYTE);
    assert_eq!((bench.read(SR), bench.read(DR)), (RXNE | TXE | OVR, 0x11));
    assert_eq!(bench.finished().2, [None, None]);
    assert!(bench.seen.bytes.is_empty());
}

#[test]
fn line_selects_the_slave_while_low() {
    let exchange = |bench: &mut Bench| {
        bench.write(DR, 0xa1);
        master(bench, 0, &[0x11]);
        bench.advance(bench.now + BYTE);
        (bench.read(SR) & RXNE, bench.finished().2)
    };
    assert_eq!(exchange(&mut at_pin(Some(false))), (RXNE, vec![Some(0xa1)]));
    let mut high = at_pin(Some(true));
    assert_eq!(exchange(&mut high), (0, vec![None]));
    assert_eq!(high.read(SR), 0, "the byte still waits");
    let mut software = Bench::new("stm32f407");
    software.write(CR1, SSM | SSI | SPE);
    assert_eq!(exchange(&mut software), (0, vec![None]));
    // Neither a master nor an interface that is off is a slave.
    let mut own = Bench::new("stm32f407");
    own.write(CR1, SSM | SSI | MSTR | SPE);
    master(&mut own, 0, &[0x11]);
    own.advance(own.now + BYTE);
    assert_eq!((own.read(SR), own.finished().2), (TXE, vec![None]));
    let mut off = Bench::new("stm32f407");
    master(&mut off, 0, &[0x11]);
    off.advance(off.now + BYTE);
    assert_eq!((off.read(SR), off.finished().2), (TXE, vec![None]));
}

#[test]
fn clock_that_the_slave_does_not_take_is_refused() {
    let mut bench = selected("stm32f103");
    master(&mut bench, 3, &[1]);
    assert!(bench.failure().contains("SPI mode 3, and CR1 has mode 0"));
    let mut bench = Bench::new("stm32f103");
    bench.write(CR1, SSM | SPE | 3);
    master(&mut bench, 3, &[0x42]);
    bench.advance(bench.now + BYTE);
    assert_eq!(bench.read(DR), 0x42);
    let mut bench = selected("stm32f103");
    let buses = mcu::ClockUpdate::Buses { apb1: 1, apb2: 8 };
    bench.bus.update_clocks(buses, bench.now);
    master(&mut bench, 0, &[1]);
    assert!(bench.failure().contains("half of PCLK"));
}

#[test]
fn line_that_rises_or_floats_is_refused() {
    let mut bench = at_pin(None);
    master(&mut bench, 0, &[1]);
    assert!(bench.failure().contains("it floats"));
    let mut bench = at_pin(Some(false));
    master(&mut bench, 0, &[1]);
    bench.bus.board.set_input(Pin::new("GPIOA", 4), Some(true));
    bench.bus.resume(bench.now, 0);
    bench.advance(bench.now + BYTE);
    assert!(bench.failure().contains("NSS rises"));
    let mut bench = selected("stm32f103");
    bench.outside("SPI1", MasterData::I2c { address: 1, write: vec![], read: 0 });
    assert!(bench.failure().contains("does not speak SPI"));
}

/// As of a master, SPE is not cleared within a byte.
#[test]
fn slave_is_not_switched_off_within_a_byte() {
    let mut bench = selected("stm32f407");
    master(&mut bench, 0, &[1]);
    assert!(bench.try_write(CR1, SSM).unwrap_err().to_string().contains("BSY"));
    bench.advance(bench.now + BYTE);
    bench.write(CR1, SSM);
}

#[test]
fn transfers_follow_each_other() {
    let mut bench = selected("stm32f407");
    master(&mut bench, 0, &[1]);
    let began = bench.now;
    master(&mut bench, 0, &[2]);
    bench.advance(began + BYTE);
    assert_eq!(bench.read(DR), 1);
    bench.advance(began + 2 * BYTE);
    assert_eq!(bench.read(DR), 2);
    let finished = bench.bus.board.take_finished_transfers();
    let ends: Vec<u64> = finished.iter().map(|transfer| transfer.cycles - began).collect();
    assert_eq!(ends, [BYTE, 2 * BYTE]);
}
