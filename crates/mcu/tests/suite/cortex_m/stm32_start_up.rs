//! Of the STM32's peripherals those that a program's start-up uses.

use super::programs::{assemble, part};
use super::stm32_peripherals::Bench;
use crate::clock_gates::enabling;
use mcu::{ClockUpdate, Image, ResetCause, Segment, Stop, Until, new_clocked_machine};

const RNG: u32 = 0x5006_0800;

/// RM0090 section 24.3.1: a word after 40 periods of PLL48CLK; 168 MHz and 48 MHz.
#[test]
fn the_generator_takes_forty_periods_for_a_word() {
    let mut bench = Bench::new("stm32f407");
    bench.bus.update_clocks(ClockUpdate::Usb { hclk_hz: 168_000_000, usb_hz: 48_000_000 }, 0);
    bench.write(RNG, 1 << 2);
    let began = bench.now;
    bench.advance(began + 139);
    assert_eq!((bench.read(RNG + 4), bench.read(RNG + 8)), (0, 0));
    bench.advance(began + 140);
    assert_eq!(bench.read(RNG + 4), 1);
    let first = bench.read(RNG + 8);
    assert_eq!(bench.read(RNG + 4), 0, "it has been read");
    // Interrupt 80 once the next is there.
    bench.write(RNG, 1 << 2 | 1 << 3);
    assert_eq!((bench.bus.requests, bench.bus.due), (0, began + 280));
    bench.advance(began + 280);
    assert_eq!(bench.bus.requests, 1 << 80);
    let second = bench.read(RNG + 8);
    assert_eq!(bench.bus.requests, 0);
    assert!(first != 0 && second != 0 && first != second);
    // The sequence goes on over a reset, and is the same after power-up.
    for (cause, same) in [(ResetCause::Software, false), (ResetCause::PowerOn, true)] {
        bench.bus.reset_by(cause, bench.now, 0);
        bench.bus.update_clocks(ClockUpdate::Usb { hclk_hz: 168_000_000, usb_hz: 48_000_000 }, bench.now);
        bench.write(RNG, 1 << 2);
        bench.advance(bench.now + 140);
        assert_eq!(bench.read(RNG + 8) == first, same);
    }
}

/// RM0090 section 24.3.2: an error where PLL48CLK is slower than HCLK / 16; CEIS stays until it is
/// written zero.
#[test]
fn the_generator_needs_its_clock() {
    let mut bench = Bench::new("stm32f407");
    bench.write(RNG, 1 << 2 | 1 << 3);
    assert_eq!((bench.read(RNG + 4), bench.bus.requests), (1 << 5 | 1 << 1, 1 << 80));
    bench.bus.update_clocks(ClockUpdate::Usb { hclk_hz: 160_000_000, usb_hz: 10_000_000 }, bench.now);
    assert_eq!(bench.read(RNG + 4), 1 << 5, "recovered");
    bench.write(RNG + 4, 0);
    assert_eq!((bench.read(RNG + 4), bench.bus.requests), (0, 0));
    bench.bus.update_clocks(ClockUpdate::Usb { hclk_hz: 160_000_000, usb_hz: 9_999_999 }, bench.now);
    assert_eq!(bench.read(RNG + 4), 1 << 5 | 1 << 1);
    bench.advance(bench.now + 100_000);
    assert_eq!(bench.read(RNG + 4), 1 << 5 | 1 << 1, "no word");
}

const CRC: u32 = 0x4002_3000;

/// The check value of CRC-32/MPEG-2 (initial value all ones, nothing reversed) for 8 bytes and the
/// usual one of CRC-32.
#[test]
fn cyclic_redundancy_checks_have_their_values() {
    // By hand: CRC-32/MPEG-2 of 00 00 00 00 is 0xc704dd7b.
    for target in ["stm32f100", "stm32f407", "stm32f051", "stm32f767"] {
        let mut bench = Bench::new(target);
        assert_eq!(bench.read(CRC), u32::MAX);
        bench.write(CRC, 0);
        assert_eq!(bench.read(CRC), 0xc704_dd7b);
        bench.write(CRC + 8, 1);
        assert_eq!((bench.read(CRC), bench.read(CRC + 8)), (u32::MAX, 0));
        bench.write(CRC + 4, 0x1_5a);
        assert_eq!(bench.read(CRC + 4), 0x5a);
    }
    // CRC-32 (IEEE 802.3) of "123456789": 0xcbf43926; reversed by byte in, and out, and
    // complemented.
    for target in ["stm32f051", "stm32f767"] {
        let mut bench = Bench::new(target);
        bench.write(CRC + 8, 1 | 1 << 5 | 1 << 7);
        b"123456789".iter().for_each(|byte| bench.write_part(CRC, 1, (*byte).into()));
        assert_eq!(!bench.read(CRC), 0xcbf4_3926);
    }
    // CRC-16/CCITT-FALSE of the same: 0x29b1; CRC-8/SMBUS: 0xf4; CRC-7/MMC: 0x75.
    for (size, polynomial, initial, check) in [(1, 0x1021, 0xffff, 0x29b1), (2, 7, 0, 0xf4), (3, 9, 0, 0x75)]
    {
        let mut bench = Bench::new("stm32f767");
        bench.write(CRC + 0x14, polynomial);
        bench.write(CRC + 0x10, initial);
        bench.write(CRC + 8, size << 3 | 1);
        b"123456789".iter().for_each(|byte| bench.write_part(CRC, 1, (*byte).into()));
        assert_eq!(bench.read(CRC), check);
    }
    assert!(Bench::new("stm32f051").try_write(CRC + 0x14, 7).is_err(), "no polynomial");
}

/// RM0090 section 4.3: four cycles for a word; RM0091 section 5.3: a buffer for the next, two
/// cycles for a halfword.
#[test]
fn a_check_takes_its_cycles() {
    let mut bench = Bench::new("stm32f407");
    bench.write(CRC, 1);
    bench.write(CRC, 2);
    // Written at cycles 1 and 2, done at 5 and, from there, at 9.
    assert_eq!(std::mem::take(&mut bench.bus.stall), 3);
    bench.read(CRC);
    assert_eq!(std::mem::take(&mut bench.bus.stall), 7);
    let mut bench = Bench::new("stm32f051");
    bench.write(CRC, 1);
    bench.write_part(CRC, 2, 2);
    assert_eq!(bench.bus.stall, 0);
    bench.read(CRC);
    assert_eq!(std::mem::take(&mut bench.bus.stall), 5);
}

/// RM0090 section 9.2; RM0091 section 9.1.1.
#[test]
fn syscfg_maps_flash_or_ram_to_zero_and_has_its_cell_ready() {
    const SYSCFG: u32 = 0x4001_3800;
    for target in ["stm32f407", "stm32f767"] {
        let mut bench = Bench::new(target);
        bench.write(SYSCFG, 0);
        assert_eq!(bench.read(SYSCFG + 0x20), 0);
        bench.write(SYSCFG + 0x20, 1);
        assert_eq!(bench.read(SYSCFG + 0x20), 1 << 8 | 1);
    }
    for (target, syscfg) in [("stm32f407", SYSCFG), ("stm32f051", 0x4001_0000), ("stm32l4r5", 0x4001_0000)] {
        let mut bench = Bench::new(target);
        bench.write(syscfg, 3);
        assert_eq!(bench.read(syscfg) & 7, 3, "{target}: RAM");
        assert!(bench.bus.events.ram_at_zero, "{target}");
        let said = bench.try_write(syscfg, 1).expect_err("the system memory").to_string();
        assert!(said.contains("address 0"), "{said}");
        bench.write(syscfg, 0);
        assert!(!bench.bus.events.ram_at_zero, "{target}");
    }
    assert!(Bench::new("stm32f767").try_write(SYSCFG, 1 << 8).is_err(), "banks swapped");
}

/// RM0091 table 37, RM0041 section 8.1: line 3 of port C, by SWIER, too.
#[test]
fn lines_interrupt_on_every_part() {
    for (target, exti, syscfg, irq) in [
        ("stm32f051", 0x4001_0400, 0x4001_0000, 6),
        ("stm32f100", 0x4001_0400, 0x4001_0000, 9),
        ("stm32f767", 0x4001_3c00, 0x4001_3800, 9),
    ] {
        let mut bench = Bench::new(target);
        bench.write(syscfg + 8, 2 << 12);
        let mask = bench.read(exti);
        bench.write(exti, mask | 8);
        bench.write(exti + 8, 8);
        bench.bus.board.set_input(mcu::Pin::new("GPIOC", 3), Some(true));
        bench.bus.resume(bench.now, 0);
        assert_eq!((bench.bus.requests, bench.read(exti + 0x14)), (1 << irq, 8), "{target}");
        bench.write(exti + 0x14, 8);
        assert_eq!(bench.bus.requests, 0);
        bench.write(exti + 0x10, 8);
        assert_eq!((bench.bus.requests, bench.read(exti + 0x10)), (1 << irq, 8));
        bench.write(exti + 0x14, 8);
        assert_eq!((bench.bus.requests, bench.read(exti + 0x10)), (0, 0));
    }
}

/// The unit takes four cycles for a word, and a read of its result right behind the write waits for
/// them (RM0090, section 4.2); one of CRC_IDR does not.
#[test]
fn a_read_of_the_result_waits() {
    let cycles = |register: u32| {
        let source = format!(
            ".word 0x20004000, _start + 1\n.thumb_func\n_start:\n{}ldr r0, ={CRC:#x}\nldr r1, =0xe000edfc\n\
             ldr r2, =1 << 24\nstr r2, [r1]\nldr r1, =0xe0001000\nmovs r2, #1\nstr r2, [r1]\nldr r3, [r1, #4]\n\
             str r2, [r0]\nldr r4, [r0, #{register}]\nldr r5, [r1, #4]\nbkpt 0\n.ltorg",
            enabling("stm32f407")
        );
        let bytes = assemble("cortex-m4", &format!("crc-{register}"), &source);
        let mut machine = new_clocked_machine(&part("stm32f407"), None).expect("a machine");
        machine.load(&Image { segments: vec![Segment { address: 0x0800_0000, bytes }] }).expect("it fits");
        machine.reset();
        let stop = machine.run(&Until { cycles: Some(1000), ..Until::default() });
        assert_eq!(stop, Ok(Stop::Breakpoint));
        let registers = machine.registers();
        registers[5].1 - registers[3].1
    };
    let waited = cycles(0) - cycles(4);
    assert!((2..=4).contains(&waited), "{waited}");
}

/// RM0090 section 39.2 and its like: the flash in KiB.
#[test]
fn parts_identify_themselves() {
    for (target, identifier, size, kib) in [
        ("stm32f051", 0x1fff_f7ac, 0x1fff_f7cc, 64),
        ("stm32f100", 0x1fff_f7e8, 0x1fff_f7e0, 128),
        ("stm32f407", 0x1fff_7a10, 0x1fff_7a22, 1024),
        ("stm32f767", 0x1ff0_f420, 0x1ff0_f442, 2048),
    ] {
        let mut bench = Bench::new(target);
        assert_eq!(bench.bus.read(size, 2, 0, 0, None).expect("a size"), kib, "{target}");
        assert_ne!(bench.read(identifier + 8), 0);
        assert!(bench.try_write(identifier, 1).is_err());
    }
}

/// RM0383: 23.6.1 (IDCODE, revision A), 5.4.1 (PWR_CR: scale 2), 24.2 (512 kB of flash); SPI5 and
/// its interrupt 85; no port F.
#[test]
fn the_stm32f411_has_its_own_peripherals() {
    let mut bench = Bench::new("stm32f411");
    assert_eq!((bench.read(0xe004_2000), bench.read(0x4000_7000)), (0x1000_0431, 0x8000));
    assert_eq!(bench.bus.read(0x1fff_7a22, 2, 0, 0, None), Ok(512));
    // CR2.TXEIE.
    bench.write(0x4001_5004, 1 << 7);
    bench.write(0x4001_5000, 1 << 6 | 1 << 2 | 3 << 8);
    assert_eq!(bench.bus.requests, 1 << 85);
    assert!(bench.bus.read(0x4002_1400, 4, 0, 0, None).is_err());
}

/// RM0090 section 7.3.10: RCC_AHB1ENR begins with CCMDATARAMEN; RM0383 section 6.3.9 has no such
/// bit, and the STM32F411 no CCM.
#[test]
fn the_stm32f411_has_no_ccm() {
    for (target, enabled, read) in [("stm32f407", 1 << 20, Ok(0)), ("stm32f411", 0, Err("0x10000000"))] {
        let program = |address: u32| {
            let source = format!(
                ".word 0x20004000, _start + 1\n.thumb_func\n_start:\nldr r0, ={address:#x}\nldr r2, [r0]\nbkpt 0\n.ltorg"
            );
            let bytes = assemble("cortex-m4", &format!("ccm-{target}-{address:x}"), &source);
            let mut machine = new_clocked_machine(&part(target), None).expect("a machine");
            machine
                .load(&Image { segments: vec![Segment { address: 0x0800_0000, bytes }] })
                .expect("it fits");
            machine.reset();
            let stop = machine.run(&Until { cycles: Some(1000), ..Until::default() });
            stop.map(|_| machine.registers()[2].1).map_err(|fault| fault.to_string())
        };
        assert_eq!(program(0x4002_3830), Ok(enabled), "{target}");
        match (program(0x1000_0000), read) {
            (Ok(value), Ok(zero)) => assert_eq!(value, zero, "{target}"),
            (Err(fault), Err(address)) => assert!(fault.contains(address), "{fault}"),
            (found, _) => panic!("{target}: {found:?}"),
        }
    }
}

/// RM0383, table 5 and section 6.3.2: 8 MHz of HSE by PLLM 4, times PLLN 100, by PLLP 2 are 100
/// MHz, for which the flash needs three wait states.
#[test]
fn the_stm32f411_reaches_100_mhz_with_three_wait_states() {
    let program = |wait_states: u32| {
        let source = format!(
            ".word 0x20004000, _start + 1\n.thumb_func\n_start:\nldr r0, =0x40023c00\nldr r1, ={:#x}\nstr r1, [r0]\n\
             ldr r0, =0x40023800\nldr r1, =0x00010083\nstr r1, [r0]\nldr r1, =0x04401904\nstr r1, [r0, #4]\n\
             ldr r1, =0x01010083\nstr r1, [r0]\nldr r1, =0x1002\nstr r1, [r0, #8]\nbkpt 0\n.ltorg",
            0x700 | wait_states
        );
        let bytes = assemble("cortex-m4", &format!("f411-{wait_states}"), &source);
        let mut machine = new_clocked_machine(&part("stm32f411"), None).expect("a machine");
        machine.load(&Image { segments: vec![Segment { address: 0x0800_0000, bytes }] }).expect("it fits");
        machine.reset();
        let stop = machine.run(&Until { cycles: Some(1000), ..Until::default() });
        (stop, machine.clock_hz())
    };
    assert_eq!(program(3), (Ok(Stop::Breakpoint), 100_000_000));
    let (stop, _) = program(2);
    assert!(
        format!("{stop:?}").contains("2 wait states are too few: the flash needs 3 at 100 MHz"),
        "{stop:?}"
    );
}
