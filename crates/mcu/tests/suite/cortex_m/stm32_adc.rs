//! Converters of the STM32F0, F1, F4 and F7.
//!
//! Sources: RM0090 section 13 (F4 and F7), RM0041 chapter 10 and RM0008 chapter 11 (F1), RM0091
//! chapter 13 (F0).

use super::steps::{KEPT, Step, machine, run, word};
use super::stm32_peripherals::Bench;
use mcu::ClockUpdate;

const ADC: u32 = 0x4001_2000;
const RESULT: u32 = KEPT + 0x400;
/// Clocks of a conversion with the shortest sampling time, each of eight cycles.
const ONE: u64 = (3 + 12) * 8;

/// Inputs 1 to 3 at a quarter, a half and three quarters of the supply; three conversions in a
/// group, on since long ago.
fn set_up(control: u32) -> (Bench, u64) {
    let mut bench = Bench::new("stm32f407");
    bench.bus.board.supply_v = 4.0;
    (1..=3).for_each(|input| bench.bus.board.set_analog(input, f64::from(input)));
    bench.write(ADC + 0x304, 3 << 16);
    bench.write(ADC + 0x04, 1 << 8);
    bench.write(ADC + 0x2c, 2 << 20);
    bench.write(ADC + 0x34, 1 | 2 << 5 | 3 << 10);
    bench.write(ADC + 0x08, 1 | control);
    bench.advance(10_000);
    bench.write(ADC + 0x08, 1 | control | 1 << 30);
    let began = bench.now;
    (bench, began)
}

/// EOC comes with the last conversion of the group, or with EOCS after each; one that is not read
/// then is an overrun.
#[test]
fn a_group_ends_once_or_each_time() {
    let (mut bench, began) = set_up(0);
    bench.advance(began + 3 * ONE - 1);
    assert_eq!(bench.read(ADC) & 0x22, 0);
    bench.advance(began + 3 * ONE);
    assert_eq!((bench.read(ADC) & 0x22, bench.read(ADC + 0x4c)), (2, 3072));
    let (mut bench, began) = set_up(1 << 10);
    for (turn, code) in [(1, 1024), (2, 2048), (3, 3072)] {
        bench.advance(began + turn * ONE);
        assert_eq!((bench.read(ADC) & 0x22, bench.read(ADC + 0x4c)), (2, code));
    }
    let (mut bench, began) = set_up(1 << 10);
    bench.advance(began + 2 * ONE);
    assert_eq!(bench.read(ADC) & 0x22, 0x22);
    bench.advance(began + 10 * ONE);
    assert_eq!(bench.read(ADC + 0x4c), 1024, "nothing is converted any more");
}

/// CONT: the group begins anew without a pause.
#[test]
fn stm32f1_converts_continuously() {
    let (mut bench, began) = set_up(1 << 1);
    for turn in 1..4 {
        bench.advance(began + turn * 3 * ONE - 1);
        assert_eq!(bench.read(ADC) & 2, 0);
        bench.advance(began + turn * 3 * ONE);
        assert_eq!((bench.read(ADC) & 2, bench.read(ADC + 0x4c)), (2, 3072));
    }
}

/// The temperature sensor and the internal reference, where TSVREFE is set.
#[test]
fn there_are_inner_channels() {
    let mut bench = Bench::new("stm32f407");
    bench.bus.board.supply_v = 3.3;
    bench.write(ADC + 0x304, 3 << 16);
    bench.write(ADC + 0x08, 1);
    bench.advance(10_000);
    bench.write(ADC + 0x34, 17);
    assert!(bench.try_write(ADC + 0x08, 1 | 1 << 30).is_err());
    bench.write(ADC + 0x304, 1 << 23 | 3 << 16);
    // 1.21 V and 0.76 V of 3.3 V: 4096 steps.
    for (channel, code) in [(17, 1501), (16, 943)] {
        bench.write(ADC + 0x34, channel);
        bench.write(ADC + 0x08, 1 | 1 << 30);
        bench.advance(bench.now + ONE);
        assert_eq!(bench.read(ADC + 0x4c), code);
    }
}

/// DMA2 stream 0 takes the results in a circle; without DDS no more than one turn, and then nothing
/// is asked for.
#[test]
fn dma_takes_the_results() {
    const STREAM: u32 = 0x4002_6410;
    let steps = |control: u32| {
        [
            Step::Write(STREAM + 4, 6),
            Step::Write(STREAM + 8, ADC + 0x4c),
            Step::Write(STREAM + 12, KEPT),
            Step::Write(STREAM, 1 << 13 | 1 << 11 | 1 << 10 | 1 << 8 | 1),
            Step::Write(ADC + 0x304, 3 << 16),
            Step::Write(ADC + 0x04, 1 << 8),
            Step::Write(ADC + 0x2c, 2 << 20),
            Step::Write(ADC + 0x34, 1 | 2 << 5 | 3 << 10),
            Step::Write(ADC + 0x08, 1 | control),
            Step::Wait(300),
            Step::Write(ADC + 0x08, 1 | control | 1 << 30),
            Step::Wait(400),
            Step::Write(KEPT, 0),
            Step::Wait(400),
            Step::Copy(RESULT, ADC),
        ]
    };
    for (dds, first) in [(1 << 9, 1024 | 2048 << 16), (0, 0)] {
        let mut machine = machine("stm32f407", &steps(1 << 8 | 1 << 1 | dds));
        machine.board_mut().supply_v = 4.0;
        (1..=3).for_each(|input| machine.board_mut().set_analog(input, f64::from(input)));
        run(&mut *machine, 10_000);
        let words = [0, 4, 8].map(|offset| word(&*machine, KEPT + offset));
        assert_eq!(words, [first, 3072 | 1024 << 16, 2048 | 3072 << 16]);
        assert_eq!(word(&*machine, RESULT) & 0x20, 0, "no overrun");
    }
}

/// EXTSEL 6, rising edges: TIM2's update starts a conversion every 500 cycles.
#[test]
fn a_timer_starts_it() {
    const TIM2: u32 = 0x4000_0000;
    let mut bench = Bench::new("stm32f407");
    bench.bus.board.supply_v = 4.0;
    bench.bus.board.set_analog(1, 1.0);
    bench.write(ADC + 0x304, 3 << 16);
    bench.write(ADC + 0x34, 1);
    bench.write(ADC + 0x08, 1 | 1 << 28 | 6 << 24);
    bench.advance(10_000);
    bench.write(TIM2 + 4, 2 << 4);
    bench.write(TIM2 + 0x2c, 499);
    bench.write(TIM2, 1);
    let began = bench.now;
    for turn in 1..4 {
        bench.advance(began + turn * 500 + ONE - 1);
        assert_eq!(bench.read(ADC) & 2, 0);
        bench.advance(began + turn * 500 + ONE);
        assert_eq!((bench.read(ADC) & 2, bench.read(ADC + 0x4c)), (2, 1024));
    }
    assert!(bench.try_write(ADC + 0x08, 1 | 1 << 28).is_err(), "TIM1_CC1");
}

/// Half of 168 MHz is more than the data sheet allows: it converts all the same, and the run says
/// so.
#[test]
fn a_clock_that_is_too_fast_is_passed_over_and_said() {
    let steps = [
        Step::Write(ADC + 0x08, 1),
        Step::Wait(300),
        Step::Write(ADC + 0x08, 1 | 1 << 30),
        Step::Wait(100),
        Step::Copy(RESULT, ADC),
    ];
    let mut machine = machine("stm32f407", &steps);
    run(&mut *machine, 5_000);
    assert_eq!(word(&*machine, RESULT) & 2, 2);
    let said =
        "ADC1 converts at 84 MHz; the data sheet allows 36 MHz, and promises nothing of what it reads above";
    assert_eq!(machine.tolerated(), [(said, 1)]);
}

/// The STM32F767 has the same converter (RM0410, section 15), with other triggers and another
/// channel of the sensor, which are refused.
#[test]
fn the_stm32f767_converts_alike() {
    let mut bench = Bench::new("stm32f767");
    bench.bus.board.supply_v = 4.0;
    bench.bus.board.set_analog(2, 3.0);
    bench.write(ADC + 0x304, 3 << 16 | 1 << 23);
    bench.write(ADC + 0x04, 1 << 5);
    bench.write(ADC + 0x34, 2);
    bench.write(ADC + 0x08, 1);
    bench.advance(10_000);
    bench.write(ADC + 0x08, 1 | 1 << 30);
    let end = bench.now + ONE;
    bench.advance(end - 1);
    assert_eq!((bench.bus.requests, bench.read(ADC) & 2), (0, 0));
    bench.advance(end);
    assert_eq!((bench.bus.requests, bench.read(ADC + 0x4c)), (1 << 18, 3072));
    assert_eq!(bench.bus.requests, 0, "EOC goes with DR");
    assert!(bench.try_write(ADC + 0x08, 1 | 1 << 28 | 6 << 24).unwrap_err().to_string().contains("EXTEN"));
    bench.write(ADC + 0x34, 16);
    assert!(bench.try_write(ADC + 0x08, 1 | 1 << 30).unwrap_err().to_string().contains("channel 16"));
}

const RCC_CFGR: u32 = 0x4002_1004;
const F1_ADC: u32 = 0x4001_2400;
/// ADON, EXTTRIG by SWSTART, JEXTTRIG by JSWSTART.
const F1_ON: u32 = 1 | 1 << 20 | 7 << 17 | 1 << 15 | 7 << 12;

/// ADCCLK is an eighth of the core's; on, calibrated, and channel 3 with 13.5 clocks of sampling,
/// so that a conversion takes 26.
fn f1_set_up() -> Vec<Step> {
    vec![
        Step::Write(RCC_CFGR, 3 << 14),
        Step::Write(F1_ADC + 0x08, F1_ON),
        Step::Wait(100),
        Step::Write(F1_ADC + 0x08, F1_ON | 1 << 2),
        Step::Copy(KEPT, F1_ADC + 0x08),
        Step::Wait(400),
        Step::Copy(KEPT + 4, F1_ADC + 0x08),
        Step::Write(F1_ADC + 0x34, 3),
        Step::Write(F1_ADC + 0x10, 2 << 9),
    ]
}

/// SWSTART, a second ADON, and JSWSTART with an offset; CAL falls back after 83 clocks.
#[test]
fn the_stm32f1_converts_and_calibrates() {
    let starts = [
        Step::Write(F1_ADC + 0x08, F1_ON | 1 << 22),
        Step::Copy(KEPT + 8, F1_ADC),
        Step::Wait(100),
        Step::Copy(KEPT + 12, F1_ADC),
        Step::Copy(KEPT + 16, F1_ADC + 0x4c),
        Step::Copy(KEPT + 20, F1_ADC),
        Step::Write(F1_ADC, 0),
        Step::Write(F1_ADC + 0x08, F1_ON),
        Step::Wait(100),
        Step::Copy(KEPT + 24, F1_ADC),
        Step::Write(F1_ADC, 0),
        Step::Write(F1_ADC + 0x14, 1025),
        Step::Write(F1_ADC + 0x38, 3 << 15),
        Step::Write(F1_ADC + 0x08, F1_ON | 1 << 21),
        Step::Wait(100),
        Step::Copy(KEPT + 28, F1_ADC),
        Step::Copy(KEPT + 32, F1_ADC + 0x3c),
    ];
    let steps: Vec<Step> = f1_set_up().into_iter().chain(starts).collect();
    for target in ["stm32f100", "stm32f103"] {
        let mut machine = machine(target, &steps);
        machine.board_mut().supply_v = 3.0;
        machine.board_mut().set_analog(3, 0.75);
        run(&mut *machine, 50_000);
        let kept = std::array::from_fn(|index| word(&*machine, KEPT + 4 * index as u32));
        let expected = [F1_ON | 1 << 2, F1_ON, 0x10, 0x12, 1024, 0x10, 0x12, 0x0e, 0xffff];
        assert_eq!(kept, expected, "{target}");
    }
}

/// JDISCEN: each start converts one of the group, in its order, and JEOC comes with the last. A
/// trigger of TIM2 during the calibration is lost, those after it start.
#[test]
fn the_stm32f1_s_injected_group_goes_one_by_one() {
    const TIM2: u32 = 0x4000_0000;
    let by_timer = 1 | 1 << 15 | 2 << 12;
    let steps = [
        Step::Write(RCC_CFGR, 3 << 14),
        Step::Write(F1_ADC + 0x04, 1 << 12 | 1 << 8),
        // JL = 1: JSQ3 and JSQ4 are channels 3 and 4.
        Step::Write(F1_ADC + 0x38, 1 << 20 | 3 << 10 | 4 << 15),
        Step::Write(F1_ADC + 0x08, by_timer),
        Step::Wait(100),
        Step::Write(F1_ADC + 0x08, by_timer | 1 << 2),
        // One update by UG, which is TRGO (MMS = 2), at once and two later.
        Step::Write(TIM2 + 4, 2 << 4),
        Step::Write(TIM2 + 0x14, 1),
        Step::Wait(400),
        Step::Copy(KEPT, F1_ADC),
        Step::Write(TIM2 + 0x14, 1),
        Step::Wait(100),
        Step::Copy(KEPT + 4, F1_ADC),
        Step::Write(TIM2 + 0x14, 1),
        Step::Wait(100),
        Step::Copy(KEPT + 8, F1_ADC),
        Step::Copy(KEPT + 12, F1_ADC + 0x3c),
        Step::Copy(KEPT + 16, F1_ADC + 0x40),
    ];
    let mut machine = machine("stm32f103", &steps);
    machine.board_mut().supply_v = 4.0;
    machine.board_mut().set_analog(3, 1.0);
    machine.board_mut().set_analog(4, 2.0);
    run(&mut *machine, 50_000);
    let kept = std::array::from_fn(|index| word(&*machine, KEPT + 4 * index as u32));
    assert_eq!(kept, [0, 8, 0xe, 1024, 2048]);
}

/// Continuous conversions of 26 clocks of eight cycles, each moved by DMA: in some 21,000 cycles
/// 101 of them.
#[test]
fn the_stm32f1_s_conversions_go_by_dma() {
    const DMA1: u32 = 0x4002_0000;
    let rest = [
        Step::Write(DMA1 + 0x10, F1_ADC + 0x4c),
        Step::Write(DMA1 + 0x14, KEPT + 0x100),
        Step::Write(DMA1 + 0x0c, 0xffff),
        // Halfwords, over and over at one place.
        Step::Write(DMA1 + 0x08, 1 << 10 | 1 << 8 | 1),
        Step::Write(F1_ADC + 0x08, F1_ON | 1 << 8 | 1 << 1),
        Step::Write(F1_ADC + 0x08, F1_ON | 1 << 8 | 1 << 1 | 1 << 22),
        Step::Wait(100),
        Step::Copy(KEPT + 8, DMA1 + 0x0c),
        Step::Wait(7000),
        Step::Copy(KEPT + 12, DMA1 + 0x0c),
    ];
    let steps: Vec<Step> = f1_set_up().into_iter().chain(rest).collect();
    let mut machine = machine("stm32f103", &steps);
    machine.board_mut().supply_v = 3.0;
    machine.board_mut().set_analog(3, 0.75);
    run(&mut *machine, 50_000);
    let moved = word(&*machine, KEPT + 8) - word(&*machine, KEPT + 12);
    assert!((100..=103).contains(&moved), "{moved}");
    assert_eq!(word(&*machine, KEPT + 0x100) & 0xffff, 1024);
}

/// Accesses that a program must not make, or that no model has.
#[test]
fn stm32f1_refuses_mistakes_and_unmodelled_settings() {
    let too_soon = [Step::Write(F1_ADC + 0x08, F1_ON), Step::Write(F1_ADC + 0x08, F1_ON | 1 << 22)];
    let watchdog = [Step::Write(F1_ADC + 0x04, 1 << 23)];
    let compare = [Step::Write(F1_ADC + 0x08, 1 | 1 << 20)];
    for (steps, words) in
        [(&too_soon[..], "1000 ns"), (&watchdog, "of CR1 only"), (&compare, "only the TRGO of timers")]
    {
        let until = mcu::Until { cycles: Some(50_000), ..mcu::Until::default() };
        let said = machine("stm32f103", steps).run(&until).expect_err(words).to_string();
        assert!(said.contains(words), "{said}");
    }
}

/// Half of 64 MHz is more than the STM32F103's 14 MHz.
#[test]
fn the_stm32f1_says_at_the_end_that_its_clock_was_too_fast() {
    let too_fast = [
        Step::Write(RCC_CFGR, 0),
        Step::Write(F1_ADC + 0x08, F1_ON),
        Step::Wait(100),
        Step::Write(F1_ADC + 0x08, F1_ON | 1 << 22),
        Step::Wait(100),
        Step::Copy(KEPT, F1_ADC),
    ];
    let mut machine = machine("stm32f103", &too_fast);
    run(&mut *machine, 50_000);
    assert_eq!(word(&*machine, KEPT) & 2, 2);
    let [(said, 1)] = machine.tolerated()[..] else { panic!("{:?}", machine.tolerated()) };
    assert!(said.contains("at 32 MHz; the data sheet allows 14 MHz"), "{said}");
}

/// Half of PCLK is 24 MHz, too much; a quarter is 12 MHz. Channels 1 and 3 with 13.5 clocks of
/// sampling: 26 clocks of four cycles each.
fn f0_set_up(configuration: u32) -> Bench {
    let mut bench = Bench::new("stm32f051");
    bench.bus.board.supply_v = 4.0;
    bench.bus.board.set_analog(1, 1.0);
    bench.bus.board.set_analog(3, 3.0);
    bench.write(F1_ADC + 0x10, 2 << 30);
    bench.write(F1_ADC + 0x08, 1 << 31);
    let calibrated = bench.now + 83 * 4;
    bench.advance(calibrated - 1);
    assert_eq!(bench.read(F1_ADC + 0x08), 1 << 31);
    bench.advance(calibrated);
    assert_eq!(bench.read(F1_ADC + 0x08), 0, "ADCAL falls back");
    bench.write(F1_ADC + 0x0c, configuration);
    bench.write(F1_ADC + 0x14, 2);
    bench.write(F1_ADC + 0x28, 1 << 3 | 1 << 1);
    bench.write(F1_ADC + 0x08, 1);
    let ready = bench.now + 48;
    assert!(bench.try_write(F1_ADC + 0x08, 1 << 2 | 1).unwrap_err().to_string().contains("ADRDY"));
    bench.advance(ready);
    assert_eq!(bench.read(F1_ADC), 1, "ADRDY");
    bench.write(F1_ADC + 0x04, 1 << 2);
    bench.write(F1_ADC + 0x08, 1 << 2 | 1);
    bench
}

/// EOC after each channel, EOSEQ after the last; ADSTART falls back.
#[test]
fn the_stm32f0_converts_its_channels() {
    // Upwards, and with SCANDIR downwards, left-aligned eight bits.
    for (configuration, codes) in [(0, [1024, 3072]), (1 << 2 | 1 << 5 | 2 << 3, [0xc000, 0x4000])] {
        let mut bench = f0_set_up(configuration);
        let began = bench.now;
        let one = if configuration == 0 { 26 * 4 } else { 23 * 4 };
        bench.advance(began + one - 1);
        assert_eq!((bench.bus.requests, bench.read(F1_ADC) & 4), (0, 0));
        bench.advance(began + one);
        assert_eq!(bench.bus.requests, 1 << 12);
        assert_eq!((bench.read(F1_ADC), bench.read(F1_ADC + 0x40)), (7, codes[0]));
        assert_eq!((bench.bus.requests, bench.read(F1_ADC + 0x08)), (0, 5), "EOC goes with DR");
        bench.advance(began + 2 * one);
        assert_eq!((bench.read(F1_ADC), bench.read(F1_ADC + 0x40)), (0xf, codes[1]));
        assert_eq!(bench.read(F1_ADC + 0x08), 1);
    }
}

/// An unread result is overrun, or with WAIT waited for; CONT begins anew.
#[test]
fn the_stm32f0_overruns_or_waits() {
    let mut bench = f0_set_up(0);
    let late = bench.now + 1000;
    bench.advance(late);
    assert_eq!(
        (bench.read(F1_ADC) & 0x10, bench.read(F1_ADC + 0x40)),
        (0x10, 1024),
        "OVR, the first is kept"
    );
    let mut bench = f0_set_up(1 << 14 | 1 << 13);
    for code in [1024, 3072, 1024] {
        let late = bench.now + 1000;
        bench.advance(late);
        assert_eq!((bench.read(F1_ADC) & 0x10, bench.read(F1_ADC + 0x40)), (0, code));
    }
    bench.write(F1_ADC + 0x08, 1 << 4 | 1);
    assert_eq!(bench.read(F1_ADC + 0x08), 1, "ADSTP");
}

/// Inner channels are to be switched on; what has no model is said.
#[test]
fn stm32f0_refuses_mistakes_and_unmodelled_settings() {
    let mut bench = f0_set_up(0);
    let late = bench.now + 1000;
    bench.advance(late);
    let mut says = |register: u32, value: u32, words: &str| {
        let said = bench.try_write(F1_ADC + register, value).unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
    };
    says(0x0c, 1 << 10 | 1 << 6, "EXTEN");
    says(0x04, 1 << 7, "watchdog");
    says(0x08, 1 << 31, "ADEN is set");
    bench.write(F1_ADC + 0x28, 1 << 16);
    assert!(bench.try_write(F1_ADC + 0x08, 5).unwrap_err().to_string().contains("channel 16"));
    bench.write(F1_ADC + 0x308, 1 << 23);
    assert_eq!(bench.read(F1_ADC + 0x40), 1024);
    bench.write(F1_ADC + 0x08, 5);
    let late = bench.now + 1000;
    bench.advance(late);
    // 1.45 V of 4 V.
    assert_eq!(bench.read(F1_ADC + 0x40), 1484);
    bench.write(F1_ADC + 0x10, 1 << 30);
    bench.write(F1_ADC + 0x08, 5);
    assert!(bench.bus.events.tolerated()[0].0.contains("at 24 MHz"));
}

/// RM0008, section 11.3.3: the second converter of the STM32F103 has channels 16 and 17 at VSS, no
/// DMA, and the first one's interrupt, which stays as long as either asks for it.
#[test]
fn the_stm32f103_has_a_second_converter() {
    const SECOND: u32 = F1_ADC + 0x400;
    let mut bench = Bench::new("stm32f103");
    bench.bus.board.supply_v = 4.0;
    bench.bus.board.set_analog(3, 1.0);
    bench.bus.update_clocks(ClockUpdate::Usb { hclk_hz: 64_000_000, usb_hz: 0 }, 0);
    bench.bus.events.generic_clocks_hz = vec![0, 0, 0, 0, 8_000_000];
    for adc in [F1_ADC, SECOND] {
        bench.write(adc + 0x04, 1 << 5);
        bench.write(adc + 0x34, 3);
        bench.write(adc + 0x08, F1_ON);
    }
    let on = bench.now + 100;
    bench.advance(on);
    for adc in [F1_ADC, SECOND] {
        bench.write(adc + 0x08, F1_ON | 1 << 22);
    }
    let done = bench.now + 2_000;
    bench.advance(done);
    assert_eq!((bench.bus.requests, bench.read(SECOND + 0x4c)), (1 << 18, 1024));
    assert_eq!(bench.bus.requests, 1 << 18, "the first one's");
    assert_eq!((bench.read(F1_ADC + 0x4c), bench.bus.requests), (1024, 0));
    bench.write(SECOND + 0x34, 17);
    bench.write(SECOND + 0x08, F1_ON | 1 << 22);
    let done = bench.now + 2_000;
    bench.advance(done);
    assert_eq!(bench.read(SECOND + 0x4c), 0);
    assert!(bench.try_write(SECOND + 0x08, F1_ON | 1 << 8).unwrap_err().to_string().contains("DMA"));
    assert!(bench.try_write(F1_ADC + 0x04, 6 << 16).is_err(), "DUALMOD");
}

/// RM0090, sections 13.3.9, 13.6 and 13.13.6: TIM2's TRGO starts the STM32F4's injected group one
/// by one, offsets are taken off, and results stand left, behind a sign.
#[test]
fn the_stm32f4_s_injected_group_by_a_timer() {
    const TIM2: u32 = 0x4000_0000;
    let mut bench = Bench::new("stm32f407");
    bench.bus.board.supply_v = 4.0;
    (1..=3).for_each(|input| bench.bus.board.set_analog(input, f64::from(input)));
    bench.write(ADC + 0x304, 3 << 16);
    // SCAN, JDISCEN; JL = 1: JSQ3 and JSQ4 are channels 3 and 1.
    bench.write(ADC + 0x04, 1 << 12 | 1 << 8);
    bench.write(ADC + 0x38, 1 << 20 | 3 << 10 | 1 << 15);
    bench.write(ADC + 0x18, 1025);
    // JEXTEN, JEXTSEL 3, ALIGN.
    bench.write(ADC + 0x08, 1 | 1 << 20 | 3 << 16 | 1 << 11);
    bench.advance(10_000);
    bench.write(TIM2 + 4, 2 << 4);
    for (flags, results) in [(8, [3072 << 3, 0]), (0xc, [3072 << 3, 0xfff8])] {
        bench.write(TIM2 + 0x14, 1);
        let end = bench.now + ONE;
        bench.advance(end);
        assert_eq!(bench.read(ADC) & 0x1f, flags);
        assert_eq!([0x3c, 0x40].map(|offset| bench.read(ADC + offset)), results);
    }
    bench.write(ADC + 0x34, 2);
    for (res, left) in [(0, 2048 << 4), (1, 512 << 6), (2, 128 << 8), (3, 32 << 2)] {
        bench.write(ADC + 0x04, res << 24);
        bench.write(ADC + 0x08, 1 | 1 << 11 | 1 << 30);
        let end = bench.now + ONE;
        bench.advance(end);
        assert_eq!(bench.read(ADC + 0x4c), left);
    }
}
