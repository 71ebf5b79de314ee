//! The STM32's peripherals as a program sees them through the bus.

use super::steps::{KEPT, Step, clocked_machine, run, word};
use crate::clock_gates::enable_all;
use mcu::{
    ClockUpdate, DacStep, Fault, FinishedTransfer, MasterData, MasterTransfer, Observer, Part, PeripheralBus,
    PinEdge, SpiClock, peripherals::new_peripheral,
};
use std::path::Path;

#[derive(Default)]
pub struct Seen {
    pub pins: Vec<(String, u8, bool, u64)>,
    pub bytes: Vec<(String, u8, u64)>,
    pub volts: Vec<(u8, Option<f64>, u64)>,
}

impl Observer for Seen {
    fn pin(&mut self, edge: &PinEdge<'_>) {
        self.pins.push((edge.port.into(), edge.pin, edge.high, edge.cycles));
    }

    fn uart(&mut self, port: &str, byte: u8, cycles: u64) {
        self.bytes.push((port.into(), byte, cycles));
    }

    fn analog(&mut self, step: &DacStep<'_>) {
        self.volts.push((step.channel, step.volts, step.cycles));
    }
}

pub struct Bench {
    pub bus: PeripheralBus,
    pub seen: Seen,
    pub now: u64,
}

impl Bench {
    pub fn new(target: &str) -> Bench {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../../targets/{target}.toml"));
        let text = std::fs::read_to_string(file).expect("a target file");
        let part = Part::from_toml(&text).expect("a valid target file");
        let devices =
            part.peripherals.iter().map(|spec| new_peripheral(&part, spec).expect("a model")).collect();
        let mut bus = PeripheralBus::new(devices).expect("bus");
        enable_all(&mut bus, target);
        Bench { bus, seen: Seen::default(), now: 0 }
    }

    pub fn try_write(&mut self, address: u32, value: u32) -> Result<(), Fault> {
        self.now += 1;
        self.bus.write(address, 4, value, self.now, 0, Some(&mut self.seen))
    }

    pub fn write(&mut self, address: u32, value: u32) {
        self.try_write(address, value).expect("a modelled register");
    }

    /// A write of `size` bytes.
    pub fn write_part(&mut self, address: u32, size: u8, value: u32) {
        self.now += 1;
        self.bus.write(address, size, value, self.now, 0, Some(&mut self.seen)).expect("a modelled register");
    }

    pub fn read(&mut self, address: u32) -> u32 {
        self.bus.read(address, 4, self.now, 0, None).expect("a modelled register")
    }

    /// A master outside begins a transfer in the next cycle, at 100 kHz: ten cycles a bit.
    pub fn outside(&mut self, bus: &str, data: MasterData) {
        let at_ns = (self.now + 1) * 1_000;
        let transfer = MasterTransfer { bus: bus.into(), at_ns, clock_hz: 100_000, data };
        self.bus.board.add_master_transfer(transfer);
        self.bus.resume(self.now, 0);
        self.advance(self.now + 1);
    }

    /// Outcome of the master's only transfer: the cycle of its end, the bytes that were
    /// acknowledged and those that were read.
    pub fn finished(&mut self) -> (u64, usize, Vec<Option<u8>>) {
        let finished = self.bus.board.take_finished_transfers();
        let [FinishedTransfer { cycles, acknowledged, received, .. }] = &finished[..] else {
            panic!("{finished:?}");
        };
        (*cycles, *acknowledged, received.clone())
    }

    /// Why the run has to stop.
    pub fn failure(&mut self) -> String {
        let clock = SpiClock { mode: 0, hz: 1 };
        self.bus.board.transfer("", clock, 0, self.now).expect_err("a failure")
    }

    pub fn advance(&mut self, now: u64) {
        self.now = now;
        while self.bus.due <= now {
            self.bus.tick(now, 0, Some(&mut self.seen));
            if self.bus.due == 0 {
                // The run has to stop.
                break;
            }
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

/// Drivers for several families write zero where the STM32L47x has ASCR; on a part without it that
/// does nothing. RM0410, table 1: the STM32F767 has ports up to K.
#[test]
fn ports_take_the_reset_value_of_a_register_that_they_lack() {
    let mut bench = Bench::new("stm32l4r5");
    bench.write(0x4800_002c, 0);
    assert!(bench.try_write(0x4800_002c, 1).is_err());
    let mut bench = Bench::new("stm32f767");
    for (port, name) in [(0x4002_2400, "GPIOJ"), (0x4002_2800, "GPIOK")] {
        bench.write(port, 1);
        bench.write(port + 0x18, 1);
        assert_eq!(bench.seen.pins.last(), Some(&(name.to_string(), 0, true, bench.now)));
    }
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

/// BRR counts what RCC chooses for the USART: here 139 periods of it a bit, ten bits a frame.
/// CCIPR.USART2SEL, DCKCFGR2.USART2SEL: PCLK, SYSCLK, HSI, LSE; CFGR3.USART1SW: PCLK, SYSCLK, LSE,
/// HSI. After a reset the cores of these parts run at 4, 16 and 8 MHz.
#[test]
fn a_usart_has_the_clock_that_is_chosen_for_it() {
    let l4 = (0x4002_1088, 2, 0x4000_4400, [4e6, 4e6, 16e6, 32_768.0]);
    let f7 = (0x4002_3890, 2, 0x4000_4400, [16e6, 16e6, 16e6, 32_768.0]);
    let f0 = (0x4002_1030, 0, 0x4001_3800, [8e6, 8e6, 32_768.0, 8e6]);
    for (target, core_hz, (register, shift, usart, sources_hz)) in
        [("stm32l4r5", 4e6, l4), ("stm32f767", 16e6, f7), ("stm32f051", 8e6, f0)]
    {
        for (choice, source_hz) in sources_hz.into_iter().enumerate() {
            let frame = (1390.0 * core_hz / source_hz) as u32;
            // A turn of the loop takes from one to four cycles; what is around it, less than fifty.
            let after = |turns: u32| {
                let steps = [
                    Step::Write(register, (choice as u32) << shift),
                    Step::Write(usart + 0x0c, 139),
                    Step::Write(usart, 1 | 1 << 3),
                    Step::Write(usart + 0x28, u32::from(b'x')),
                    Step::Wait(turns),
                    Step::Copy(KEPT, usart + 0x1c),
                ];
                let mut machine = clocked_machine(target, &steps);
                run(&mut *machine, u64::from(4 * turns + 2_000));
                word(&*machine, KEPT) >> 6 & 1
            };
            assert_eq!((after(frame / 8), after(frame + 50)), (0, 1), "{target}, source {choice}");
        }
    }
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
    // The channels' registers, at zero, match as well.
    assert_eq!((bench.read(TIM2 + 0x10), bench.read(TIM2 + 0x24)), (0x1f, 0));
    bench.write(TIM2 + 0x10, 0);
    assert_eq!(bench.bus.requests, 0);
    bench.advance(start + 2000);
    assert_eq!(bench.bus.requests, 1 << 28);
}

/// RM0090 section 7.2: a USART has the clock of its bus, a timer twice that where the bus is slower
/// than the core.
#[test]
fn a_divided_bus_slows_its_peripherals_down() {
    // USART2 and TIM2 on APB1, USART1 and TIM9 on APB2.
    for (usart, timer, divider) in [(0x4000_4400, 0x4000_0000, 4), (0x4001_1000, 0x4001_4000, 2)] {
        let mut bench = Bench::new("stm32f407");
        bench.write(timer + 0x2c, 99);
        bench.write(timer, 1);
        bench.advance(bench.now + 50);
        assert_eq!(bench.read(timer + 0x24), 50);
        bench.bus.update_clocks(ClockUpdate::Buses { apb1: 4, apb2: 2 }, bench.now);
        let changed = bench.now;
        bench.advance(changed + 40);
        assert_eq!(bench.read(timer + 0x24), 50 + 40 * 2 / divider);
        bench.write(usart + 0x08, 100);
        bench.write(usart + 0x0c, 1 << 13 | 1 << 3);
        let start = bench.now;
        bench.write(usart + 4, u32::from(b'x'));
        bench.advance(start + 10_000);
        assert_eq!(bench.seen.bytes[0].2, start + 1 + 1000 * u64::from(divider));
    }
}

/// RM0410 section 4.4: over-drive is ready when it is asked for; RM0090 section 21.4: the watchdog
/// may be set up.
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
    // 101 clocks of 32 kHz by 4, at 1 MHz; fed anew at cycle 10,000.
    assert!(!bench.bus.has_running_watchdog());
    bench.write(0x4000_3000, 0xcccc);
    let started = bench.now;
    assert!(bench.bus.has_running_watchdog());
    assert_eq!(bench.bus.due, started + 101 * 4 * 1_000_000 / 32_000);
    bench.now = 9_999;
    bench.write(0x4000_3000, 0xaaaa);
    assert_eq!(bench.bus.due, 10_000 + 12_625);
}

/// RM0090 section 28: eight clocks of PCLK / 8, a byte that waits, and one that is lost because
/// nobody takes it.
#[test]
fn spi_sends_and_receives() {
    const SPI1: u32 = 0x4001_3000;
    let mut bench = Bench::new("stm32f407");
    bench.bus.update_clocks(ClockUpdate::Buses { apb1: 4, apb2: 2 }, bench.now);
    // SSOE, whose pin is software's while SSM is set; FRF, which is not modelled.
    bench.write(SPI1 + 4, 1 << 2);
    assert!(bench.try_write(SPI1 + 4, 1 << 4).is_err(), "TI mode");
    bench.write(SPI1, 0x0304 | 2 << 3 | 0x40);
    assert!(bench.try_write(SPI1, 0x0304 | 1 << 3 | 0x40).is_err(), "the divider changes while it works");
    bench.write(SPI1 + 12, 0x5a);
    let began = bench.now;
    assert_eq!(bench.read(SPI1 + 8), 0x82, "busy, and room for one more");
    bench.write(SPI1 + 12, 0xa5);
    assert_eq!(bench.read(SPI1 + 8), 0x80);
    let byte = 8 * 8 * 2;
    bench.advance(began + byte - 1);
    assert_eq!(bench.read(SPI1 + 8) & 1, 0);
    bench.advance(began + byte);
    assert_eq!(bench.read(SPI1 + 8), 0x83);
    assert_eq!(bench.read(SPI1 + 12), 0xff, "nobody is selected");
    bench.advance(began + 2 * byte);
    assert_eq!(bench.read(SPI1 + 8), 0x03);
    bench.write(SPI1 + 12, 1);
    bench.advance(began + 4 * byte);
    assert_eq!(bench.read(SPI1 + 8), 0x43, "overrun");
    bench.read(SPI1 + 12);
    bench.read(SPI1 + 8);
    assert_eq!(bench.read(SPI1 + 8), 0x02);
}

/// RM0091 section 28.5.9: a halfword is two bytes, four wait, RXNE from two on, with FRXTH from
/// one, TXE up to two; all three families.
#[test]
fn spi_with_fifos() {
    const SPI1: u32 = 0x4001_3000;
    for target in ["stm32f051", "stm32f767", "stm32l4r5"] {
        let mut bench = Bench::new(target);
        assert_eq!(bench.read(SPI1 + 4), 0x700, "{target}");
        assert!(bench.try_write(SPI1 + 4, 0xf00).is_err(), "sixteen bits");
        // DS 0 is taken as eight bits; NSSP changes nothing while SSM is set.
        bench.write(SPI1 + 4, 1 << 3);
        assert_eq!(bench.read(SPI1 + 4), 0x708);
        bench.write(SPI1, 0x0304 | 0x40);
        bench.write_part(SPI1 + 12, 2, 0x0201);
        let began = bench.now;
        assert_eq!(bench.read(SPI1 + 8), 0x0882, "one in its shift register, one waits");
        bench.write_part(SPI1 + 12, 1, 3);
        bench.write_part(SPI1 + 12, 1, 4);
        assert_eq!(bench.read(SPI1 + 8), 0x1880, "three wait");
        bench.write_part(SPI1 + 12, 1, 5);
        assert!(bench.try_write(SPI1 + 12, 6).is_err(), "four wait");
        let byte = 8 * 2;
        bench.advance(began + byte);
        assert_eq!(bench.read(SPI1 + 8), 0x1a80, "a quarter is not enough for RXNE");
        bench.write(SPI1 + 4, 1 << 12);
        assert_eq!(bench.read(SPI1 + 8), 0x1a81);
        assert!(bench.bus.read(SPI1 + 12, 2, bench.now, 0, None).is_err(), "a halfword of one byte");
        bench.advance(began + 2 * byte);
        assert_eq!(bench.bus.read(SPI1 + 12, 2, bench.now, 0, None).ok(), Some(0xffff), "nobody is selected");
        bench.advance(began + 5 * byte);
        assert_eq!(bench.read(SPI1 + 8), 0x0603, "three have come");
        bench.write_part(SPI1 + 12, 2, 0);
        bench.advance(began + 9 * byte);
        assert_eq!(bench.read(SPI1 + 8), 0x0643, "the fifth is lost");
        for _ in 0..4 {
            assert_eq!(bench.bus.read(SPI1 + 12, 1, bench.now, 0, None).ok(), Some(0xff));
        }
        bench.read(SPI1 + 8);
        assert_eq!(bench.read(SPI1 + 8), 0x0002);
    }
}

/// RM0090 section 13: an injected group of two, 84 clocks of sampling and 12 of conversion each,
/// PCLK by 4.
#[test]
fn the_converter_converts_a_group() {
    const ADC: u32 = 0x4001_2000;
    let mut bench = Bench::new("stm32f407");
    bench.bus.update_clocks(ClockUpdate::Buses { apb1: 4, apb2: 2 }, bench.now);
    bench.bus.board.supply_v = 3.3;
    bench.bus.board.set_analog(11, 1.65);
    bench.bus.board.set_analog(12, 3.5);
    bench.write(ADC + 0x304, 1 << 16);
    bench.write(ADC + 0x04, 0x180);
    bench.write(ADC + 0x0c, 4 << 3 | 4 << 6);
    bench.write(ADC + 0x38, 1 << 20 | 11 << 10 | 12 << 15);
    bench.write(ADC + 0x08, 1);
    assert!(bench.try_write(ADC + 0x08, 1 | 1 << 22).is_err(), "not on yet");
    // 3 us are 504 cycles at 168 MHz.
    bench.advance(bench.now + 504);
    bench.write(ADC + 0x08, 1 | 1 << 22);
    let one = (84 + 12) * 4 * 2;
    let began = bench.now;
    bench.advance(began + 2 * one - 1);
    assert_eq!(bench.read(ADC) & 4, 0);
    bench.advance(began + 2 * one);
    assert_eq!(bench.read(ADC) & 4, 4);
    assert_eq!(bench.bus.requests, 1 << 18);
    assert_eq!((bench.read(ADC + 0x3c), bench.read(ADC + 0x40)), (2048, 4095));
    bench.write(ADC, !4);
    assert_eq!(bench.bus.requests, 0);
}

/// RM0090 section 12.3: a falling edge at PB1 on line 1.
#[test]
fn an_edge_at_a_pin_interrupts() {
    const EXTI: u32 = 0x4001_3c00;
    let mut bench = Bench::new("stm32f407");
    let pin = mcu::Pin::new("GPIOB", 1);
    bench.bus.board.set_input(pin.clone(), Some(true));
    bench.write(0x4001_3808, 1 << 4);
    bench.write(EXTI + 0x0c, 2);
    bench.write(EXTI, 2);
    assert_eq!(bench.read(0x4002_0410) & 2, 2, "IDR");
    bench.bus.board.set_input(pin.clone(), Some(false));
    bench.bus.resume(bench.now, 0);
    assert_eq!((bench.bus.requests, bench.read(EXTI + 0x14)), (1 << 7, 2));
    bench.write(EXTI + 0x14, 2);
    assert_eq!(bench.bus.requests, 0);
    bench.bus.board.set_input(pin, Some(true));
    bench.bus.resume(bench.now, 0);
    assert_eq!(bench.bus.requests, 0, "only falling ones");
}

/// RM0432: CR, APB1FZR1, APB1FZR2 and APB2FZR, one register more than the STM32F4 has.
#[test]
fn the_stm32l4_freezes_with_three_registers() {
    const DBGMCU: u32 = 0xe004_2000;
    let mut bench = Bench::new("stm32l4r5");
    for register in 1..=4 {
        bench.write(DBGMCU + 4 * register, register);
    }
    let read: Vec<u32> = (1..=4).map(|register| bench.read(DBGMCU + 4 * register)).collect();
    assert_eq!(read, [1, 2, 3, 4]);
    assert!(bench.try_write(DBGMCU + 0x14, 1).is_err());
    assert!(Bench::new("stm32f407").try_write(DBGMCU + 0x10, 1).is_err());
}
