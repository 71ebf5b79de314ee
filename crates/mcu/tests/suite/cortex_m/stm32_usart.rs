//! The receiver of the STM32's USART: bytes that the board feeds.

use super::stm32_peripherals::Bench;

/// Base, status, data in, and what sets it up: BRR 100, receiver on with its interrupts.
type Setup = (&'static str, u32, u32, u32, Vec<(u32, u32)>);

fn setups() -> Vec<Setup> {
    let base = 0x4000_4400;
    vec![
        ("stm32f103", base, 0, 4, vec![(0x08, 100), (0x0c, 1 << 13 | 1 << 5 | 1 << 4 | 1 << 2)]),
        ("stm32f407", base, 0, 4, vec![(0x08, 100), (0x0c, 1 << 13 | 1 << 5 | 1 << 4 | 1 << 2)]),
        ("stm32f051", base, 0x1c, 0x24, vec![(0x0c, 100), (0x00, 1 | 1 << 5 | 1 << 4 | 1 << 2)]),
        ("stm32f767", base, 0x1c, 0x24, vec![(0x0c, 100), (0x00, 1 | 1 << 5 | 1 << 4 | 1 << 2)]),
        // PRESC divides by 4.
        ("stm32l4r5", base, 0x1c, 0x24, vec![(0x2c, 2), (0x0c, 25), (0x00, 1 | 1 << 5 | 1 << 4 | 1 << 2)]),
    ]
}

/// RM0090 section 30.3.3, RM0091 section 27.5.3: RXNE after each frame of ten bits, ORE where the
/// last one was not read, IDLE a frame after the last.
#[test]
fn bytes_arrive_one_frame_after_the_other() {
    for (target, base, status, data, writes) in setups() {
        let mut bench = Bench::new(target);
        writes.iter().for_each(|(offset, value)| bench.write(base + offset, *value));
        let began = bench.now;
        assert!(bench.bus.uart_receive("USART2", b"xyz", began));
        bench.advance(began + 999);
        assert_eq!((bench.read(base + status) & 0x38, bench.bus.requests), (0, 0), "{target}");
        bench.advance(began + 1_000);
        assert_ne!(bench.bus.requests, 0, "{target}");
        assert_eq!(bench.read(base + status) & 0x38, 1 << 5, "{target}");
        assert_eq!(bench.read(base + data), u32::from(b'x'), "{target}");
        assert_eq!((bench.read(base + status) & 0x38, bench.bus.requests), (0, 0), "{target}");
        bench.advance(began + 3_000);
        assert_eq!(bench.read(base + status) & 0x38, 1 << 5 | 1 << 3, "{target}: z is lost");
        assert_eq!(bench.read(base + data), u32::from(b'y'), "{target}");
        if status != 0 {
            assert_eq!(bench.read(base + status) & 0x38, 1 << 3, "{target}");
            bench.write(base + 0x20, 1 << 3);
        }
        assert_eq!((bench.read(base + status) & 0x38, bench.bus.requests), (0, 0), "{target}");
        bench.advance(began + 4_000);
        assert_eq!(bench.read(base + status) & 0x38, 1 << 4, "{target}: idle");
        assert_ne!(bench.bus.requests, 0, "{target}");
        if status == 0 {
            bench.read(base + data);
        } else {
            bench.write(base + 0x20, 1 << 4);
        }
        assert_eq!((bench.read(base + status) & 0x38, bench.bus.requests), (0, 0), "{target}");
    }
}

/// RM0432, USART_PRESC: the STM32L4+ alone divides the USART's clock.
#[test]
fn the_prescaler_is_the_l4_s_alone() {
    let mut bench = Bench::new("stm32l4r5");
    bench.write(0x4000_442c, 0);
    assert_eq!(bench.read(0x4000_442c), 0);
    assert!(Bench::new("stm32f767").try_write(0x4000_442c, 0).is_err());
}

/// With its receiver off it hears nothing; nine bits with the parity take a bit longer.
#[test]
fn frames_are_as_they_are_set_up() {
    let mut bench = Bench::new("stm32f407");
    bench.write(0x4000_4408, 100);
    bench.write(0x4000_440c, 1 << 13);
    bench.bus.uart_receive("USART2", b"a", bench.now);
    bench.advance(bench.now + 5_000);
    assert_eq!(bench.read(0x4000_4400), 0xc0);
    bench.write(0x4000_440c, 1 << 13 | 1 << 12 | 1 << 10 | 1 << 2);
    let began = bench.now;
    bench.bus.uart_receive("USART2", b"a", began);
    bench.advance(began + 1_099);
    assert_eq!(bench.read(0x4000_4400) & 0x20, 0);
    bench.advance(began + 1_100);
    assert_eq!(bench.read(0x4000_4400) & 0x20, 0x20);
}
