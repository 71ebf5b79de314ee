//! The STM32's peripherals as a program sees them through the bus.

use mcu::{Fault, Observer, Part, PeripheralBus, PinEdge, peripherals::new_peripheral};
use std::path::Path;

#[derive(Default)]
struct Seen {
    pins: Vec<(String, u8, bool, u64)>,
    bytes: Vec<(String, u8, u64)>,
}

impl Observer for Seen {
    fn pin(&mut self, edge: &PinEdge<'_>) {
        self.pins.push((edge.port.into(), edge.pin, edge.high, edge.cycles));
    }

    fn uart(&mut self, port: &str, byte: u8, cycles: u64) {
        self.bytes.push((port.into(), byte, cycles));
    }
}

struct Bench {
    bus: PeripheralBus,
    seen: Seen,
    now: u64,
}

impl Bench {
    fn new(target: &str) -> Bench {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../targets/{target}.toml"));
        let text = std::fs::read_to_string(file).expect("a target file");
        let part = Part::from_toml(&text).expect("a valid target file");
        let devices =
            part.peripherals.iter().map(|spec| new_peripheral(&part, spec).expect("a model")).collect();
        Bench { bus: PeripheralBus::new(devices).expect("bus"), seen: Seen::default(), now: 0 }
    }

    fn try_write(&mut self, address: u32, value: u32) -> Result<(), Fault> {
        self.now += 1;
        self.bus.write(address, 4, value, self.now, 0, Some(&mut self.seen))
    }

    fn write(&mut self, address: u32, value: u32) {
        self.try_write(address, value).expect("a modelled register");
    }

    fn read(&mut self, address: u32) -> u32 {
        self.bus.read(address, 4, self.now, 0, None).expect("a modelled register")
    }

    fn advance(&mut self, now: u64) {
        self.now = now;
        while self.bus.due <= now {
            self.bus.tick(now, 0, Some(&mut self.seen));
        }
    }
}

/// RM0090 section 8.4: MODER, BSRR (set before reset), ODR, IDR.
#[test]
fn outputs_are_seen_and_inputs_follow_their_pulls() {
    const GPIOD: u32 = 0x4002_0c00;
    let mut bench = Bench::new("stm32f407");
    bench.write(GPIOD + 0x18, 1 << 12);
    assert!(bench.seen.pins.is_empty(), "an input shows nothing");
    bench.write(GPIOD, 1 << 24 | 1 << 26);
    bench.write(GPIOD + 0x18, 1 << 13 | 1 << (13 + 16) | 1 << (12 + 16));
    let port = "GPIOD".to_string();
    assert_eq!(
        bench.seen.pins,
        [(port.clone(), 12, true, 2), (port.clone(), 12, false, 3), (port, 13, true, 3)]
    );
    assert_eq!(bench.read(GPIOD + 0x14), 1 << 13);
    bench.write(GPIOD + 0x0c, 1);
    assert_eq!(bench.read(GPIOD + 0x10), 1 << 13 | 1, "pin 0 is pulled up");
}

/// RM0041 section 7.2: CRL and CRH with four bits a pin, BRR.
#[test]
fn the_stm32f1_has_other_registers() {
    const GPIOC: u32 = 0x4001_1000;
    let mut bench = Bench::new("stm32f100");
    assert_eq!(bench.read(GPIOC), 0x4444_4444);
    bench.write(GPIOC + 4, 0x4444_4422);
    bench.write(GPIOC + 0x10, 0x300);
    bench.write(GPIOC + 0x14, 0x100);
    assert_eq!(bench.read(GPIOC + 8), 0x200);
    assert_eq!(bench.seen.pins.len(), 3);
    bench.write(GPIOC, 0x8444_4444);
    bench.write(GPIOC + 0x0c, 0x280);
    assert_eq!(bench.read(GPIOC + 8) & 0x80, 0x80, "an input with pull-up");
}

/// A frame of ten bits at BRR cycles each; one character waits while another leaves.
#[test]
fn characters_leave_the_usart_in_time() {
    for (target, base, setup) in [
        ("stm32f100", 0x4000_4400, vec![(0x08, 100), (0x0c, 1 << 13 | 1 << 3)]),
        ("stm32f051", 0x4000_4400, vec![(0x0c, 100), (0x00, 1 | 1 << 3)]),
    ] {
        let mut bench = Bench::new(target);
        for (offset, value) in setup {
            bench.write(base + offset, value);
        }
        let (status, data) = if target == "stm32f100" { (0, 4) } else { (0x1c, 0x28) };
        let start = bench.now;
        bench.write(base + data, u32::from(b'o'));
        bench.write(base + data, u32::from(b'k'));
        assert_eq!(bench.read(base + status) & 0xc0, 0, "neither empty nor complete");
        bench.advance(start + 1 + 1000);
        assert_eq!(bench.read(base + status) & 0xc0, 0x80);
        bench.advance(start + 1 + 2000);
        assert_eq!(bench.read(base + status) & 0xc0, 0xc0);
        let port = "USART2".to_string();
        assert_eq!(bench.seen.bytes, [(port.clone(), b'o', start + 1001), (port, b'k', start + 2001)]);
    }
    let mut bench = Bench::new("stm32f100");
    assert!(bench.try_write(0x4000_4404, 1).is_err(), "the transmitter is off");
}

/// RM0090 section 18.4: prescaler + 1 cycles a count, an update after reload + 1 counts.
#[test]
fn a_timer_counts_up_and_interrupts() {
    const TIM2: u32 = 0x4000_0000;
    let mut bench = Bench::new("stm32f407");
    bench.write(TIM2 + 0x28, 9);
    bench.write(TIM2 + 0x2c, 99);
    bench.write(TIM2 + 0x14, 1);
    bench.write(TIM2 + 0x10, 0);
    bench.write(TIM2 + 0x0c, 1);
    bench.write(TIM2, 1);
    let start = bench.now;
    bench.advance(start + 55);
    assert_eq!(bench.read(TIM2 + 0x24), 5);
    assert_eq!(bench.bus.requests, 0);
    bench.advance(start + 1000);
    assert_eq!(bench.bus.requests, 1 << 28);
    assert_eq!((bench.read(TIM2 + 0x10), bench.read(TIM2 + 0x24)), (1, 0));
    bench.write(TIM2 + 0x10, 0);
    assert_eq!(bench.bus.requests, 0);
    bench.advance(start + 2000);
    assert_eq!(bench.bus.requests, 1 << 28);
    assert!(bench.try_write(TIM2, 1 | 1 << 4).is_err(), "counting down is not modelled");
}

/// RM0410 section 4.4: over-drive is ready when it is asked for; RM0090 section 21.4: the watchdog may be set up.
#[test]
fn power_control_and_watchdog() {
    let mut bench = Bench::new("stm32f767");
    assert_eq!(bench.read(0x4000_7004) & 3 << 16, 0);
    bench.write(0x4000_7000, 1 << 16);
    assert_eq!(bench.read(0x4000_7004) & 3 << 16, 1 << 16);
    assert!(bench.try_write(0x4000_3008, 100).is_err(), "no key");
    bench.write(0x4000_3000, 0x5555);
    bench.write(0x4000_3008, 100);
    assert_eq!(bench.read(0x4000_3008), 100);
    assert!(bench.try_write(0x4000_3000, 0xcccc).is_err(), "starting it");
}
