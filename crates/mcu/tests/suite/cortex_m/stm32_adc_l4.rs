//! The converter of the STM32L4R5: RM0432, chapter "Analog-to-digital converters".

use super::steps::{KEPT, Step, machine, run, word};
use super::stm32_peripherals::Bench;

const ADC: u32 = 0x5004_0000;
const ISR: u32 = ADC;
const IER: u32 = ADC + 0x04;
const CR: u32 = ADC + 0x08;
const CFGR: u32 = ADC + 0x0c;
const CFGR2: u32 = ADC + 0x10;
const SMPR1: u32 = ADC + 0x14;
const SQR1: u32 = ADC + 0x30;
const SQR2: u32 = ADC + 0x34;
const DR: u32 = ADC + 0x40;
const CCR: u32 = ADC + 0x308;
const ADVREGEN: u32 = 1 << 28;
/// 20 us at 120 MHz.
const REGULATOR: u64 = 2_400;
/// CCR.CKMODE: HCLK / 4.
const QUARTER: u32 = 3 << 16;
/// Cycles of a conversion with 2.5 clocks of sampling at that clock.
const ONE: u64 = 60;

/// Inputs 1 to 6 at 1 to 6 eighths of the supply; calibrated and on, with a quarter of HCLK.
fn set_up() -> Bench {
    let mut bench = Bench::new("stm32l4r5");
    bench.bus.board.supply_v = 4.0;
    (1..=6).for_each(|input| bench.bus.board.set_analog(input, f64::from(input) / 2.0));
    assert_eq!(bench.read(CR), 1 << 29, "DEEPPWD after reset");
    bench.write(CCR, QUARTER);
    bench.write(CR, 0);
    bench.write(CR, ADVREGEN);
    let up = bench.now + REGULATOR;
    bench.advance(up);
    bench.write(CR, 1 << 31 | ADVREGEN);
    let calibrated = bench.now + 116 * 4;
    bench.advance(calibrated - 1);
    assert_eq!(bench.read(CR), 1 << 31 | ADVREGEN);
    bench.advance(calibrated);
    assert_eq!(bench.read(CR), ADVREGEN, "ADCAL falls back");
    bench.write(CR, 1 | ADVREGEN);
    let ready = bench.now + 60;
    bench.advance(ready - 1);
    assert_eq!(bench.read(ISR), 0);
    bench.advance(ready);
    assert_eq!(bench.read(ISR), 1, "ADRDY");
    bench
}

fn start(bench: &mut Bench) -> u64 {
    bench.write(CR, 1 << 2 | 1 | ADVREGEN);
    bench.now
}

/// The regulator and DEEPPWD, before all else.
#[test]
fn converter_needs_its_regulator() {
    let mut bench = Bench::new("stm32l4r5");
    bench.write(CCR, QUARTER);
    let says = |bench: &mut Bench, value: u32, words: &str| {
        let said = bench.try_write(CR, value).unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
    };
    says(&mut bench, 1 << 31 | 1 << 29, "regulator is off");
    says(&mut bench, 1 | ADVREGEN, "20000 ns");
    let up = bench.now + REGULATOR;
    bench.advance(up);
    bench.write(CCR, 0);
    says(&mut bench, 1 << 31 | ADVREGEN, "ADCSEL");
    bench.write(CCR, QUARTER);
    bench.write(CR, 1 | ADVREGEN);
    says(&mut bench, 1 << 31 | 1 | ADVREGEN, "ADEN is set");
    says(&mut bench, 0, "while ADEN is set");
}

/// Six ranks in SQR1 and SQR2, their times by SMPRx, EOC after each, EOS after the last; the
/// interrupt goes with DR.
#[test]
fn ranks_come_one_after_the_other() {
    let mut bench = set_up();
    bench.write(SQR1, 5 | 6 << 6 | 5 << 12 | 4 << 18 | 3 << 24);
    bench.write(SQR2, 2 | 1 << 6);
    // Channel 3: 640.5 clocks, channel 4: 6.5.
    bench.write(SMPR1, 7 << 9 | 1 << 12);
    bench.write(IER, 1 << 2);
    let mut end = start(&mut bench);
    for (channel, sampling) in [(6, 10), (5, 10), (4, 26), (3, 2562), (2, 10), (1, 10)] {
        end += sampling + 50;
        bench.advance(end - 1);
        assert_eq!((bench.bus.requests, bench.read(ISR) & 4), (0, 0), "channel {channel}");
        bench.advance(end);
        let flags = if channel == 1 { 0xf } else { 7 };
        assert_eq!((bench.bus.requests, bench.read(ISR)), (1 << 18, flags));
        assert_eq!((bench.read(DR), bench.bus.requests), (channel * 512, 0));
    }
    assert_eq!(bench.read(CR), 1 | ADVREGEN, "ADSTART falls back");
}

/// RES: 10.5, 8.5 and 6.5 clocks behind the sampling; SMPPLUS: 3.5 for 2.5.
#[test]
fn resolution_and_smpplus_change_its_time() {
    for (res, halves, code) in [(0, 25, 2048), (1, 21, 512), (2, 17, 128), (3, 13, 32)] {
        for (plus, sampling) in [(0, 5), (1 << 31, 7)] {
            let mut bench = set_up();
            bench.write(SQR1, 4 << 6);
            bench.write(SMPR1, plus);
            bench.write(CFGR, res << 3);
            let end = start(&mut bench) + 2 * (halves + sampling);
            bench.advance(end - 1);
            assert_eq!(bench.read(ISR) & 4, 0);
            bench.advance(end);
            assert_eq!((bench.read(ISR) & 4, bench.read(DR)), (4, code));
        }
    }
}

/// OVSR, OVSS: eight conversions, their sum by two; EOC comes with the last.
#[test]
fn converter_oversamples() {
    let mut bench = set_up();
    bench.write(SQR1, 3 << 6);
    bench.write(CFGR2, 1 | 2 << 2 | 1 << 5);
    let end = start(&mut bench) + 8 * ONE;
    bench.advance(end - 1);
    assert_eq!(bench.read(ISR) & 4, 0);
    bench.advance(end);
    assert_eq!((bench.read(ISR) & 4, bench.read(DR)), (4, 8 * 1536 / 2));
    assert!(bench.try_write(CFGR2, 1 | 1 << 9).is_err(), "TROVS");
}

/// VREFINT is channel 0, the sensor channel 17, both to be switched on.
#[test]
fn its_inner_channels_are_0_and_17() {
    let mut bench = set_up();
    for (channel, bit, code) in [(0, 22, 1241), (17, 23, 765)] {
        bench.write(SQR1, channel << 6);
        assert!(bench.try_write(CR, 1 << 2 | 1 | ADVREGEN).unwrap_err().to_string().contains("is off"));
        bench.write(CCR, QUARTER | 1 << bit);
        let end = start(&mut bench) + ONE;
        bench.advance(end);
        assert_eq!(bench.read(DR), code);
    }
}

/// EXTSEL 11: TIM2's update starts a conversion every 500 cycles; what has no model is said.
#[test]
fn a_timer_starts_it() {
    const TIM2: u32 = 0x4000_0000;
    let mut bench = set_up();
    bench.write(SQR1, 2 << 6);
    bench.write(CFGR, 1 << 31 | 1 << 10 | 11 << 6);
    start(&mut bench);
    bench.write(TIM2 + 4, 2 << 4);
    bench.write(TIM2 + 0x2c, 499);
    bench.write(TIM2, 1);
    let began = bench.now;
    for turn in 1..4 {
        bench.advance(began + turn * 500 + ONE - 1);
        assert_eq!(bench.read(ISR) & 4, 0);
        bench.advance(began + turn * 500 + ONE);
        assert_eq!((bench.read(ISR) & 4, bench.read(DR)), (4, 1024));
    }
    bench.write(CR, 1 << 4 | 1 | ADVREGEN);
    assert_eq!(bench.read(CR), 1 | ADVREGEN, "ADSTP");
    for (register, value) in [
        (CFGR, 1 << 16),
        (CFGR, 1 << 10),
        (CFGR, 2 << 10 | 11 << 6),
        (IER, 1 << 7),
        (ADC + 0x60, 1 << 31),
        (ADC + 0xb0, 2),
        (CR, 1 << 3 | 1 | ADVREGEN),
    ] {
        assert!(bench.try_write(register, value).is_err(), "{register:#x}");
    }
}

/// ADCSEL selects SYSCLK, here the MSI's 4 MHz, by PRESC 2. The clocks of the core that count are
/// those of the program's own registers.
#[test]
fn its_clock_may_be_rcc_s() {
    const CCIPR: u32 = 0x4002_1088;
    let steps = [
        Step::Write(CCIPR, 3 << 28),
        Step::Write(CCR, 1 << 18),
        Step::Write(CR, 0),
        Step::Write(CR, ADVREGEN),
        Step::Wait(1_000),
        Step::Write(CR, 1 | ADVREGEN),
        Step::Wait(100),
        Step::Write(SQR1, 4 << 6),
        // 640.5 clocks.
        Step::Write(SMPR1, 7 << 12),
        Step::Write(CR, 1 << 2 | 1 | ADVREGEN),
        // 653 clocks of two cycles.
        Step::Wait(300),
        Step::Copy(KEPT, ISR),
        Step::Wait(300),
        Step::Copy(KEPT + 4, ISR),
        Step::Copy(KEPT + 8, DR),
    ];
    let mut machine = machine("stm32l4r5", &steps);
    machine.board_mut().supply_v = 3.0;
    machine.board_mut().set_analog(4, 1.5);
    run(&mut *machine, 50_000);
    let kept: [u32; 3] = std::array::from_fn(|index| word(&*machine, KEPT + 4 * index as u32));
    assert_eq!(kept, [1, 0xf, 2048]);
}
