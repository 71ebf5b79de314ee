//! The digital-to-analog converter of the STM32.

use super::steps::{KEPT, Step, machine, run};
use super::stm32_peripherals::Bench;
use mcu::ClockUpdate;

const DAC: u32 = 0x4000_7400;

/// RM0090 sections 14.3.3 to 14.3.5 and 14.5: DOR one clock of APB1 after the holding register;
/// VREF+ * DOR / 4096; the alignments.
#[test]
fn a_written_value_is_put_out() {
    let mut bench = Bench::new("stm32f407");
    bench.bus.update_clocks(ClockUpdate::Buses { apb1: 4, apb2: 2 }, 0);
    bench.bus.board.supply_v = 3.3;
    bench.write(DAC, 1);
    assert_eq!(bench.seen.volts, [(1, Some(0.0), 1)]);
    bench.write(DAC + 0x08, 0x800);
    let written = bench.now;
    bench.advance(written + 3);
    assert_eq!(bench.read(DAC + 0x2c), 0);
    bench.advance(written + 4);
    assert_eq!(bench.read(DAC + 0x2c), 0x800);
    assert_eq!(bench.seen.volts[1], (1, Some(1.65), written + 4));
    assert_eq!(bench.bus.board.analog_v(4, bench.now), 1.65, "PA4 is input 4 of the converters");
    // Left-aligned, eight bits, and both at once.
    for (offset, value, codes) in [
        (0x0c, 0x1230, (0x123, 0)),
        (0x10, 0xab, (0xab0, 0)),
        (0x1c, 0xcd, (0xab0, 0xcd0)),
        (0x20, 0x0456_0789, (0x789, 0x456)),
        (0x24, 0x1230_4560, (0x456, 0x123)),
        (0x28, 0x2211, (0x110, 0x220)),
    ] {
        bench.write(DAC + offset, value);
        bench.advance(bench.now + 4);
        assert_eq!((bench.read(DAC + 0x2c), bench.read(DAC + 0x30)), codes, "{offset:#x}");
        assert_eq!(bench.read(DAC + offset), value);
    }
    bench.write(DAC, 0);
    assert_eq!(bench.seen.volts.last().map(|step| step.1), Some(None));
    assert_eq!(bench.bus.board.analog_v(4, bench.now), 0.0);
}

/// RM0090 section 14.3.6: one clock of APB1 after a trigger by software, three after one by a timer
/// (TSEL 0: TIM6).
#[test]
fn a_trigger_puts_it_out() {
    const TIM6: u32 = 0x4000_1000;
    let mut bench = Bench::new("stm32f407");
    bench.bus.update_clocks(ClockUpdate::Buses { apb1: 4, apb2: 2 }, 0);
    bench.write(DAC, 1 | 1 << 2 | 7 << 3);
    bench.write(DAC + 0x08, 0x123);
    bench.advance(bench.now + 100);
    assert_eq!(bench.read(DAC + 0x2c), 0);
    bench.write(DAC + 0x04, 1);
    let started = bench.now;
    assert_eq!(bench.read(DAC + 0x04), 1);
    bench.advance(started + 4);
    assert_eq!((bench.read(DAC + 0x04), bench.read(DAC + 0x2c)), (0, 0x123));
    // TIM6 counts at half the core's clock; MMS: the update.
    bench.write(DAC, 1 | 1 << 2);
    bench.write(DAC + 0x08, 0x456);
    bench.write(TIM6 + 4, 2 << 4);
    bench.write(TIM6 + 0x2c, 49);
    bench.write(TIM6, 1);
    let started = bench.now;
    bench.advance(started + 100 + 11);
    assert_eq!(bench.read(DAC + 0x2c), 0x123);
    bench.advance(started + 100 + 12);
    assert_eq!(bench.read(DAC + 0x2c), 0x456);
    assert!(bench.try_write(DAC, 1 | 1 << 2 | 6 << 3).is_err(), "EXTI line 9");
    assert!(bench.try_write(DAC, 1 | 1 << 6).is_err(), "noise");
}

/// TIM6 triggers DAC channel 1, whose values DMA1 stream 5, channel 7, brings from memory over and
/// over.
#[test]
fn dma_plays_a_waveform() {
    const STREAM: u32 = 0x4002_6010 + 5 * 24;
    let steps = [
        Step::Write(KEPT, 0x4030_2010),
        Step::Write(STREAM + 4, 4),
        Step::Write(STREAM + 8, DAC + 0x10),
        Step::Write(STREAM + 12, KEPT),
        // CHSEL 7, MINC, CIRC, memory to peripheral, bytes.
        Step::Write(STREAM, 7 << 25 | 1 << 10 | 1 << 8 | 1 << 6 | 1),
        Step::Write(DAC, 1 << 12 | 1 << 2 | 1),
        Step::Write(0x4000_1004, 2 << 4),
        Step::Write(0x4000_102c, 99),
        Step::Write(0x4000_1000, 1),
    ];
    let mut machine = machine("stm32f407", &steps);
    machine.board_mut().supply_v = 4.096;
    let seen = run(&mut *machine, 1_000);
    // After the first trigger, which finds nothing there, each value is put out 100 cycles after
    // the one before it.
    let steps: Vec<_> =
        seen.volts.iter().map(|(_, volts, _)| volts.map(|volts| (volts * 1e3).round() as u32)).collect();
    let codes = [0, 0x100, 0x200, 0x300, 0x400, 0x100, 0x200].map(Some);
    assert_eq!(steps[..7], codes);
    assert!(seen.volts[1..].windows(2).all(|pair| pair[1].2 - pair[0].2 == 100), "{:?}", seen.volts);
}

/// RM0090 section 14.3.7: a trigger while the request of the last one waits is an underrun.
#[test]
fn an_underrun_interrupts() {
    let mut bench = Bench::new("stm32f407");
    bench.write(DAC, 1 | 1 << 2 | 7 << 3 | 1 << 12 | 1 << 13);
    bench.write(DAC + 4, 1);
    assert_eq!((bench.read(DAC + 0x34), bench.bus.requests), (0, 0));
    bench.write(DAC + 4, 1);
    assert_eq!((bench.read(DAC + 0x34), bench.bus.requests), (1 << 13, 1 << 54));
    bench.write(DAC + 0x34, 1 << 13);
    assert_eq!((bench.read(DAC + 0x34), bench.bus.requests), (0, 0));
}

/// RM0432, DAC_CR: TEN at bit 1, TSEL of four bits, 0 for the software; TIM15 is 8. The outputs are
/// inputs 9 and 10 of the converter.
#[test]
fn the_stm32l4_has_other_fields() {
    const TIM15: u32 = 0x4001_4000;
    let mut bench = Bench::new("stm32l4r5");
    bench.bus.board.supply_v = 3.3;
    // Channel 1 at once, channel 2 by the software.
    bench.write(DAC, 1 | (1 | 1 << 1) << 16);
    bench.write(DAC + 0x20, 0x0400_0800);
    bench.advance(bench.now + 1);
    assert_eq!((bench.read(DAC + 0x2c), bench.read(DAC + 0x30)), (0x800, 0));
    assert_eq!(bench.bus.board.analog_v(9, bench.now), 1.65, "PA4");
    bench.write(DAC + 4, 2);
    bench.advance(bench.now + 1);
    assert_eq!(bench.read(DAC + 0x30), 0x400);
    // Channel 1 by TIM15's update.
    bench.write(DAC, 1 | 1 << 1 | 8 << 2);
    bench.write(DAC + 0x08, 0x123);
    bench.write(TIM15 + 4, 2 << 4);
    bench.write(TIM15 + 0x2c, 99);
    bench.write(TIM15, 1);
    let started = bench.now;
    bench.advance(started + 102);
    assert_eq!(bench.read(DAC + 0x2c), 0x800);
    bench.advance(started + 103);
    assert_eq!(bench.read(DAC + 0x2c), 0x123, "three clocks after the trigger");
    assert!(bench.try_write(DAC, 1 | 1 << 1 | 13 << 2).is_err(), "EXTI line 9");
    assert!(bench.try_write(DAC, 1 | 1 << 1 | 11 << 2).is_err(), "LPTIM1");
    assert!(bench.try_write(DAC, 1 << 14).is_err(), "calibration");
    // MCR: the buffer off for channel 2, which is off; what else there is is refused.
    bench.write(DAC + 0x3c, 2 << 16);
    assert_eq!(bench.read(DAC + 0x3c), 2 << 16);
    for mode in [2, 3 << 16, 4 << 16] {
        assert!(bench.try_write(DAC + 0x3c, mode).is_err(), "{mode:#x}");
    }
    assert!(bench.try_write(DAC + 0x40, 1).is_err(), "SHSR1");
    assert!(Bench::new("stm32f407").try_write(DAC + 0x3c, 0).is_err(), "MCR is the STM32L4's");
}

/// DMAMUX's request 6 is channel 1's: TIM6 (TSEL 5) triggers it, and channel 1 of DMA1 brings the
/// values.
#[test]
fn dma_plays_a_waveform_on_the_stm32l4() {
    const CHANNEL: u32 = 0x4002_0008;
    let steps = [
        Step::Write(KEPT, 0x4030_2010),
        Step::Write(0x4002_0800, 6),
        Step::Write(CHANNEL + 4, 4),
        Step::Write(CHANNEL + 8, DAC + 0x10),
        Step::Write(CHANNEL + 12, KEPT),
        // MINC, CIRC, memory to peripheral, bytes.
        Step::Write(CHANNEL, 1 << 7 | 1 << 5 | 1 << 4 | 1),
        Step::Write(DAC, 1 << 12 | 5 << 2 | 1 << 1 | 1),
        Step::Write(0x4000_1004, 2 << 4),
        Step::Write(0x4000_102c, 99),
        Step::Write(0x4000_1000, 1),
    ];
    let mut machine = machine("stm32l4r5", &steps);
    machine.board_mut().supply_v = 4.096;
    let seen = run(&mut *machine, 1_000);
    let steps: Vec<_> =
        seen.volts.iter().map(|(_, volts, _)| volts.map(|volts| (volts * 1e3).round() as u32)).collect();
    let codes = [0, 0x100, 0x200, 0x300, 0x400, 0x100].map(Some);
    assert_eq!(steps[..6], codes);
    assert!(seen.volts[1..].windows(2).all(|pair| pair[1].2 - pair[0].2 == 100), "{:?}", seen.volts);
}
