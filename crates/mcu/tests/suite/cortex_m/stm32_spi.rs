//! Select line of the STM32's SPI as a master.
//!
//! Sources: RM0008, sections 25.3.1 and 25.3.10; RM0090, sections 28.3.1 and 28.3.10.

use super::stm32_peripherals::Bench;
use mcu::Pin;

const SPI1: u32 = 0x4001_3000;
const CR2: u32 = SPI1 + 4;
const SR: u32 = SPI1 + 8;
const DR: u32 = SPI1 + 12;
const MSTR: u32 = 1 << 2;
const SPE: u32 = 1 << 6;
const SSI: u32 = 1 << 8;
const SSM: u32 = 1 << 9;
const SSOE: u32 = 1 << 2;
const ERRIE: u32 = 1 << 5;
const MODF: u32 = 1 << 5;

fn pin(bench: &Bench, bit: u8) -> Option<bool> {
    bench.bus.board.is_driven("GPIOA", bit).then(|| bench.bus.board.pin("GPIOA", bit)).flatten()
}

/// An STM32F103 with PA4 and PA15 as alternate functions' outputs, or an STM32F407 with PA4 as
/// SPI1's.
fn bench(target: &str) -> Bench {
    let mut bench = Bench::new(target);
    if target == "stm32f407" {
        bench.write(0x4002_0020, 5 << 16);
        bench.write(0x4002_0000, 0xa800_0000 | 2 << 8);
    } else {
        bench.write(0x4001_0800, 0x444b_4444);
        bench.write(0x4001_0804, 0xb444_4444);
    }
    bench
}

/// SSOE: the line is low while the interface is on.
#[test]
fn nss_is_low_while_the_master_is_on() {
    for target in ["stm32f103", "stm32f407"] {
        let mut bench = bench(target);
        bench.write(CR2, SSOE);
        bench.write(SPI1, MSTR);
        assert_ne!(pin(&bench, 4), Some(false), "{target}");
        bench.write(SPI1, MSTR | SPE);
        assert_eq!(pin(&bench, 4), Some(false), "{target}");
        bench.write(DR, 0x5a);
        bench.advance(bench.now + 100);
        assert_eq!((bench.read(SR), pin(&bench, 4)), (3, Some(false)), "{target}");
        bench.write(SPI1, MSTR);
        assert_ne!(pin(&bench, 4), Some(false), "{target}");
    }
    // SPI1_REMAP: PA15.
    let mut bench = bench("stm32f103");
    bench.write(CR2, SSOE);
    bench.write(SPI1, MSTR | SPE);
    bench.write(0x4001_0004, 1);
    assert_eq!((pin(&bench, 4), pin(&bench, 15)), (None, Some(false)));
}

/// Without SSOE the line is an input: low, another master has the bus, which switches this one off,
/// until SR is read and CR1 written.
#[test]
fn a_low_nss_is_a_mode_fault() {
    let mut bench = bench("stm32f103");
    bench.write(0x4001_0800, 0x4444_4444);
    bench.bus.board.set_input(Pin::new("GPIOA", 4), Some(true));
    bench.bus.resume(bench.now, 0);
    bench.write(CR2, ERRIE);
    bench.write(SPI1, MSTR | SPE);
    bench.write(DR, 0x5a);
    bench.bus.board.set_input(Pin::new("GPIOA", 4), Some(false));
    bench.bus.resume(bench.now, 0);
    assert_eq!((bench.bus.requests, bench.read(SPI1)), (1 << 35, 0), "MSTR and SPE are clear");
    bench.write(SPI1, MSTR | SPE);
    assert_eq!(bench.read(SPI1), 0, "they cannot be set before SR is read");
    assert_eq!(bench.read(SR), MODF | 2, "and what was sent is lost");
    bench.bus.board.set_input(Pin::new("GPIOA", 4), Some(true));
    bench.write(SPI1, MSTR | SPE);
    assert_eq!((bench.read(SPI1), bench.read(SR), bench.bus.requests), (MSTR | SPE, 2, 0));
    // A line that floats is no level.
    bench.bus.board.set_input(Pin::new("GPIOA", 4), None);
    bench.bus.resume(bench.now, 0);
    let said = bench.bus.read(SR, 4, bench.now, 0, None).unwrap_err().to_string();
    assert!(said.contains("it floats"), "{said}");
}

/// SSM: SSI is the line, but with SSOE no fault comes of it (libopencm3's dogm128 clears SSI so
/// while it sends).
#[test]
fn software_may_cause_the_mode_fault() {
    let mut bench = bench("stm32f407");
    bench.write(SPI1, MSTR | SSM | SSI | SPE);
    bench.write(SPI1, MSTR | SSM | SPE);
    assert_eq!((bench.read(SR), bench.read(SPI1)), (MODF | 2, SSM));
    let mut bench = self::bench("stm32f407");
    bench.write(CR2, SSOE);
    bench.write(SPI1, MSTR | SSM | SPE);
    bench.write(DR, 0x5a);
    bench.advance(bench.now + 100);
    assert_eq!((bench.read(SR), bench.read(SPI1)), (3, MSTR | SSM | SPE));
}

/// Pulses of NSS between bytes have no model.
#[test]
fn nss_pulses_are_refused() {
    let mut bench = Bench::new("stm32f051");
    bench.write(CR2, SSOE | 1 << 3);
    assert!(bench.try_write(SPI1, MSTR | SPE).unwrap_err().to_string().contains("NSSP"));
    bench.write(CR2, SSOE);
    bench.write(SPI1, MSTR | SPE);
    assert!(bench.try_write(CR2, SSOE | 1 << 3).is_err());
}
