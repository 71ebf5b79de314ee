//! The CH32V003's TIM2: CH32V003RM V1.4, chapter 11, as far as it is the STM32's.

use crate::clock_gates::enable_all;
use mcu::{Observer, Part, PeripheralBus, PinEdge, peripherals::new_peripheral};
use std::path::Path;

const TIM2: u32 = 0x4000_0000;
const GPIOD: u32 = 0x4001_1400;

#[derive(Default)]
struct Edges(Vec<(u8, bool, u64)>);

impl Observer for Edges {
    fn pin(&mut self, edge: &PinEdge<'_>) {
        assert_eq!(edge.port, "GPIOD");
        self.0.push((edge.pin, edge.high, edge.cycles));
    }
}

/// As ch32fun's tim2_pwm.c sets it up, with its channel active low: PWM mode 1 of 256 clocks at
/// PD4.
#[test]
fn a_channel_moves_its_pin() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../targets/ch32v003.toml");
    let part = Part::from_toml(&std::fs::read_to_string(file).expect("a target file")).expect("valid");
    let devices = part.peripherals.iter().map(|spec| new_peripheral(&part, spec).expect("a model")).collect();
    let mut bus = PeripheralBus::new(devices).expect("a bus");
    enable_all(&mut bus, "ch32v003");
    let mut edges = Edges::default();
    let writes = [
        // CFGLR: PD4 is an alternate function's output.
        (GPIOD, 0x0009_0000),
        (TIM2 + 0x2c, 255),
        // CHCTLR1: OC1M = 6, OC1PE; CTLR1: ARPE; CCER: CC1E, CC1P.
        (TIM2 + 0x18, 0x68),
        (TIM2, 0x80),
        (TIM2 + 0x20, 3),
        (TIM2 + 0x34, 64),
        (TIM2 + 0x14, 1),
        (TIM2, 0x81),
    ];
    for (register, value) in writes {
        bus.write(register, 4, value, 10, 0, Some(&mut edges)).expect("a register");
    }
    edges.0.clear();
    for now in 11..10 + 3 * 256 {
        bus.tick(now, 0, Some(&mut edges));
    }
    let from_start: Vec<_> = edges.0.iter().map(|(pin, high, at)| (*pin, *high, at - 10)).collect();
    assert_eq!(from_start, [(4, true, 64), (4, false, 256), (4, true, 320), (4, false, 512), (4, true, 576)]);
}
