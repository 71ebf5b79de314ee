//! AFIO and EXTI of the CH32V003.
//!
//! Sources: CH32V003RM V1.4, chapters 6 and 7, with the bits of WCH's header (ch32fun,
//! ch32v003hw.h).

use crate::cortex_m::stm32_peripherals::Bench;
use mcu::Pin;

const PCFR1: u32 = 0x4001_0004;
const EXTICR: u32 = 0x4001_0008;
const EXTI: u32 = 0x4001_0400;
const GPIOA: u32 = 0x4001_0800;
const GPIOC: u32 = 0x4001_1000;
const GPIOD: u32 = 0x4001_1400;
const TIM1: u32 = 0x4001_2c00;
const TIM2: u32 = 0x4000_0000;
const CHCTLR1: u32 = 0x18;
const CCER: u32 = 0x20;
const BDTR: u32 = 0x44;
/// All eight pins: alternate functions' outputs, push-pull.
const ALTERNATE: u32 = 0x9999_9999;

fn drive(bench: &mut Bench, port: &str, pin: u8, level: bool) {
    bench.bus.board.set_input(Pin::new(port, pin), Some(level));
    bench.bus.resume(bench.now, 0);
}

/// Line 3 is PA3, PC3 or PD3 by two bits of EXTICR; its edge interrupts with 20, as of all eight
/// lines.
#[test]
fn lines_follow_the_port_of_exticr() {
    for (bits, port, others) in [(2, "GPIOC", ["GPIOD", "GPIOA"]), (3, "GPIOD", ["GPIOC", "GPIOA"])] {
        let mut bench = Bench::new("ch32v003");
        bench.write(EXTICR, bits << 6);
        assert_eq!(bench.read(EXTICR), bits << 6);
        // INTENR, RTENR.
        bench.write(EXTI, 8);
        bench.write(EXTI + 0x08, 8);
        for other in others {
            drive(&mut bench, other, 3, true);
        }
        assert_eq!((bench.bus.requests, bench.read(EXTI + 0x14)), (0, 0));
        drive(&mut bench, port, 3, true);
        assert_eq!((bench.bus.requests, bench.read(EXTI + 0x14)), (1 << 20, 8), "{port}");
        bench.write(EXTI + 0x14, 8);
        assert_eq!(bench.bus.requests, 0);
    }
    let mut bench = Bench::new("ch32v003");
    assert!(bench.try_write(EXTI, 1 << 9).is_err(), "the wake-up unit's line");
    assert!(bench.try_write(EXTICR + 4, 0).is_err(), "there is one EXTICR");
}

/// The pins that are driven while both outputs of TIM1's channels 1 to 4, or those of TIM2's, are
/// on.
fn driven(remap: u32, timer: u32, channels: u32) -> Vec<String> {
    let mut bench = Bench::new("ch32v003");
    for port in [GPIOA, GPIOC, GPIOD] {
        bench.write(port, ALTERNATE);
    }
    bench.write(PCFR1, remap);
    assert_eq!(bench.read(PCFR1), remap);
    // Both channels forced high.
    bench.write(timer + CHCTLR1, 0x5050);
    bench.write(timer + CHCTLR1 + 4, 0x5050);
    bench.write(timer + CCER, channels);
    if timer == TIM1 {
        bench.write(timer + BDTR, 1 << 15);
    }
    let pins = ["A", "C", "D"].into_iter().flat_map(|port| (0..8).map(move |pin| (port, pin)));
    let driven = pins.filter(|(port, pin)| bench.bus.board.pin(&format!("GPIO{port}"), *pin) == Some(true));
    driven.map(|(port, pin)| format!("P{port}{pin}")).collect()
}

/// CH1 to CH4 of TIM2 by TIM2_RM, and of TIM1 by TIM1_RM, then its complements alone, which so are
/// no complements.
#[test]
fn pcfr1_moves_the_timers_pins() {
    let tables = [
        (TIM2, 8, 0x1111, ["PC0 PD3 PD4 PD7", "PC1 PC2 PC5 PD2", "PC0 PC1 PD3 PD7", "PC1 PC7 PD5 PD6"]),
        (TIM1, 6, 0x1111, ["PA1 PC3 PC4 PD2", "PC0 PC6 PC7 PD3", "PA1 PC3 PC4 PD2", "PC4 PC5 PC7 PD4"]),
        (TIM1, 6, 0x0444, ["PA2 PD0 PD1", "PC3 PC4 PD1", "PA2 PD0 PD1", "PC3 PC6 PD2"]),
    ];
    for (timer, shift, channels, expected) in tables {
        for (remap, pins) in (0..).zip(expected) {
            assert_eq!(driven(remap << shift, timer, channels).join(" "), pins, "{timer:#x}, {remap}");
        }
    }
}

/// TIM1 has three interrupts; what PCFR1 has for others is kept, LSI at a channel refused.
#[test]
fn tim1_interrupts_and_pcfr1_keeps_the_rest() {
    let mut bench = Bench::new("ch32v003");
    bench.write(TIM1 + 0x0c, 1 | 1 << 1 | 1 << 5 | 1 << 6);
    for (event, irq) in [(1, 35), (1 << 1, 37), (1 << 5, 36), (1 << 6, 36)] {
        bench.write(TIM1 + 0x14, event);
        assert_eq!(bench.bus.requests, 1 << irq, "event {event:#x}");
        bench.write(TIM1 + 0x10, 0);
    }
    let others = 7 | 1 << 15 | 3 << 17 | 3 << 21 | 4 << 24;
    bench.write(PCFR1, others | 1 << 16);
    assert_eq!(bench.read(PCFR1), others, "bit 16 is reserved");
    assert!(bench.try_write(PCFR1, 1 << 23).unwrap_err().to_string().contains("LSI"));
}
