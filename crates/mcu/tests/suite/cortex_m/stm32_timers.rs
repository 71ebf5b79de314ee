//! The STM32's timers, by the figures and registers of RM0090, sections 17 and 18.

use super::stm32_peripherals::Bench;

const TIM1: u32 = 0x4001_0000;
const TIM2: u32 = 0x4000_0000;
const CR1: u32 = 0x00;
const DIER: u32 = 0x0c;
const SR: u32 = 0x10;
const EGR: u32 = 0x14;
const CCMR1: u32 = 0x18;
const CNT: u32 = 0x24;
const PSC: u32 = 0x28;
const ARR: u32 = 0x2c;
const RCR: u32 = 0x30;
const CCR1: u32 = 0x34;

/// An STM32F407 with these registers of a timer written, in this order, and the cycle of the last
/// write.
fn set_up(timer: u32, writes: &[(u32, u32)]) -> (Bench, u64) {
    let mut bench = Bench::new("stm32f407");
    writes.iter().for_each(|(offset, value)| bench.write(timer + offset, *value));
    let began = bench.now;
    (bench, began)
}

/// Values of a register of TIM2 in a number of consecutive cycles.
fn sequence(bench: &mut Bench, register: u32, cycles: u64) -> Vec<u32> {
    (0..cycles)
        .map(|_| {
            let value = bench.read(TIM2 + register);
            bench.advance(bench.now + 1);
            value
        })
        .collect()
}

/// Section 18.4.5: CCxIF when the counter matches, with interrupts of its own on TIM1 (table 62).
#[test]
fn a_match_interrupts() {
    for (timer, compare, update) in [(TIM2, 28, 28), (TIM1, 27, 25)] {
        let writes = [(PSC, 9), (ARR, 99), (CCR1, 30), (EGR, 1), (SR, 0), (DIER, 3), (CR1, 1)];
        let (mut bench, began) = set_up(timer, &writes);
        assert_eq!(bench.bus.due, began + 300);
        bench.advance(began + 299);
        assert_eq!((bench.bus.requests, bench.read(timer + SR)), (0, 0));
        bench.advance(began + 300);
        assert_eq!((bench.bus.requests, bench.read(timer + SR)), (1 << compare, 2));
        bench.write(timer + SR, !2);
        assert_eq!((bench.bus.requests, bench.bus.due), (0, began + 1000));
        bench.advance(began + 1000);
        // The other channels' registers are at zero and match as well.
        assert_eq!((bench.bus.requests, bench.read(timer + SR)), (1 << update, 0x1d));
        // The next one while the update's flag stays.
        assert_eq!(bench.bus.due, began + 1300);
    }
    // Above the reload value: at the overflow.
    let (mut bench, began) = set_up(TIM2, &[(ARR, 9), (CCR1, 20), (DIER, 2), (CR1, 1)]);
    bench.advance(began + 9);
    assert_eq!(bench.read(TIM2 + SR), 0);
    bench.advance(began + 10);
    assert_eq!((bench.read(TIM2 + SR), bench.bus.requests), (0x1f, 1 << 28));
}

/// Figures of sections 18.3.2: down from the reload value to zero; up to it and down again with an
/// event at either end.
#[test]
fn timer_counts_down_and_both_ways() {
    let (mut bench, _) = set_up(TIM2, &[(ARR, 4), (CR1, 1 << 4), (EGR, 1), (SR, 0), (CR1, 1 | 1 << 4)]);
    assert_eq!(sequence(&mut bench, CNT, 7), [4, 3, 2, 1, 0, 4, 3]);
    assert_eq!(bench.read(TIM2 + SR) & 1, 1);
    let (mut bench, _) = set_up(TIM2, &[(ARR, 4), (CCR1, 9), (CR1, 1 | 1 << 5)]);
    assert_eq!(sequence(&mut bench, CNT, 10), [0, 1, 2, 3, 4, 3, 2, 1, 0, 1]);
    let (mut bench, began) = set_up(TIM2, &[(ARR, 4), (DIER, 1), (CR1, 1 | 1 << 5)]);
    for turn in [4, 8, 12] {
        bench.advance(began + turn - 1);
        assert_eq!(bench.bus.requests, 0, "{turn}");
        bench.advance(began + turn);
        assert_eq!(bench.bus.requests, 1 << 28, "{turn}");
        // DIR: down from the overflow on.
        assert_eq!(bench.read(TIM2 + CR1) >> 4 & 1, u32::from(turn % 8 == 4));
        bench.write(TIM2 + SR, 0);
    }
}

/// Section 18.4.1, CMS: matches set flags counting down, up, or both ways.
#[test]
fn mode_selects_the_matches_that_count() {
    for (mode, matches) in [(1, vec![6, 14]), (2, vec![2, 10]), (3, vec![2, 6, 10, 14])] {
        let (mut bench, began) = set_up(TIM2, &[(ARR, 4), (CCR1, 2), (DIER, 2), (CR1, 1 | mode << 5)]);
        let mut seen = Vec::new();
        for cycle in 1..=16 {
            bench.advance(began + cycle);
            if bench.bus.requests != 0 {
                seen.push(cycle);
                // In the same cycle, so that no write's own cycle is between.
                bench.now -= 1;
                bench.write(TIM2 + SR, 0);
            }
        }
        assert_eq!(seen, matches, "mode {mode}");
    }
}

/// Sections 18.3.1 and 18.3.8: with ARPE and OC1PE what is written is in use from the next update
/// event on.
#[test]
fn preloaded_registers_wait_for_an_update() {
    let writes = [(ARR, 9), (CCR1, 3), (CCMR1, 1 << 3), (EGR, 1), (SR, 0), (CR1, 1 | 1 << 7)];
    let (mut bench, began) = set_up(TIM2, &writes);
    bench.write(TIM2 + ARR, 4);
    bench.write(TIM2 + CCR1, 1);
    assert_eq!((bench.read(TIM2 + ARR), bench.read(TIM2 + CCR1)), (4, 1));
    bench.advance(began + 3);
    assert_eq!(bench.read(TIM2 + SR) & 2, 2, "at 3, the old value");
    bench.advance(began + 9);
    assert_eq!((bench.read(TIM2 + CNT), bench.read(TIM2 + SR) & 1), (9, 0));
    bench.advance(began + 10);
    bench.now -= 1;
    bench.write(TIM2 + SR, 0);
    bench.advance(began + 11);
    assert_eq!(bench.read(TIM2 + SR) & 3, 2, "at 1, the new value");
    bench.advance(began + 15);
    assert_eq!((bench.read(TIM2 + CNT), bench.read(TIM2 + SR) & 3), (0, 3));
    // Without, at once: 2 is past 1, so it runs to its end, 2^32 - 1, which is no event.
    let (mut bench, began) = set_up(TIM2, &[(ARR, 9), (CR1, 1)]);
    bench.advance(began + 1);
    bench.write(TIM2 + ARR, 1);
    bench.advance(began + (1 << 32));
    assert_eq!((bench.read(TIM2 + CNT), bench.read(TIM2 + SR) & 1), (0, 0));
    bench.advance(began + (1 << 32) + 2);
    assert_eq!((bench.read(TIM2 + CNT), bench.read(TIM2 + SR) & 1), (0, 1));
}

/// Section 17.3.3: an update event at every RCR + 1st overflow; EGR.UG begins anew.
#[test]
fn the_repetition_counter_divides_events() {
    let (mut bench, began) = set_up(TIM1, &[(ARR, 9), (RCR, 2), (EGR, 1), (SR, 0), (DIER, 1), (CR1, 1)]);
    bench.advance(began + 29);
    assert_eq!(bench.bus.requests, 0);
    bench.advance(began + 30);
    assert_eq!(bench.bus.requests, 1 << 25);
    // Long after: 10^12 cycles are 3 * 10^10 periods of 30 and 10 cycles, the count at 0 and one
    // turn of the next three done.
    bench.advance(began + 1_000_000_000_000);
    bench.now -= 1;
    bench.write(TIM1 + SR, 0);
    assert_eq!(bench.read(TIM1 + CNT), 0);
    bench.advance(began + 1_000_000_000_019);
    assert_eq!(bench.bus.requests, 0);
    bench.advance(began + 1_000_000_000_020);
    assert_eq!(bench.bus.requests, 1 << 25);
}

/// Sections 18.4.1 and 18.4.6: URS, UDIS, OPM.
#[test]
fn events_can_be_kept_quiet() {
    let (mut bench, _) = set_up(TIM2, &[(CR1, 1 << 2), (EGR, 1)]);
    assert_eq!(bench.read(TIM2 + SR), 0, "URS: not by UG");
    bench.write(TIM2 + EGR, 2);
    assert_eq!(bench.read(TIM2 + SR), 2, "CC1G");
    let (mut bench, began) = set_up(TIM2, &[(ARR, 9), (DIER, 1), (CR1, 1 | 1 << 1)]);
    bench.advance(began + 25);
    assert_eq!((bench.read(TIM2 + CNT), bench.read(TIM2 + SR) & 1, bench.bus.requests), (5, 0, 0));
    let (mut bench, began) = set_up(TIM2, &[(ARR, 9), (DIER, 1), (CR1, 1 | 1 << 3)]);
    bench.advance(began + 500);
    assert_eq!((bench.read(TIM2 + CR1), bench.read(TIM2 + CNT), bench.bus.requests), (1 << 3, 0, 1 << 28));
}

/// Settings without a model that would change the program's results stop it; so do registers that a
/// timer does not have.
#[test]
fn unmodelled_settings_and_absent_registers_are_refused() {
    const TIM6: u32 = 0x4000_1000;
    const TIM13: u32 = 0x4000_1c00;
    for (address, value) in [
        // An encoder at TIM9, SMS[3], OCxCE, the trigger's DMA.
        (0x4001_4000 + 0x08, 3),
        (TIM2 + 0x08, 1 << 16 | 4),
        (TIM2 + CCMR1, 1 << 7),
        (TIM2 + DIER, 1 << 14),
        // ITR2 of TIM9 is OC1 of TIM10.
        (0x4001_4000 + 0x08, 2 << 4 | 7),
        // BKE.
        (TIM1 + 0x44, 1 << 12),
        (TIM13 + DIER, 1 << 8),
        (TIM2 + RCR, 1),
        (TIM6 + CCR1, 1),
        (TIM6 + CR1, 1 << 4),
        (TIM13 + CCR1 + 4, 1),
        (TIM1 + 0x44, 1 << 8),
    ] {
        assert!(Bench::new("stm32f407").try_write(address, value).is_err(), "{address:#x}");
    }
    // RM0041, table 79: TIM15 has ITR0 in high-density devices alone.
    assert!(Bench::new("stm32f100").try_write(0x4001_4000 + 0x08, 7).is_err());
    let mut bench = Bench::new("stm32f407");
    // PWM mode 1 on channel 1, its output on, MOE.
    for (offset, value) in [(CCMR1, 0x68), (0x20, 1), (0x44, 1 << 15)] {
        bench.write(TIM1 + offset, value);
        assert_eq!(bench.read(TIM1 + offset), value);
    }
    // A break by EGR.BG switches the outputs off.
    bench.write(TIM1 + EGR, 1 << 7);
    assert_eq!((bench.read(TIM1 + 0x44), bench.read(TIM1 + SR)), (0, 1 << 7));
}

/// RM0090 section 17.4.18, AOE: the next update sets MOE, if no break input is active; here there
/// is none. The pin shows PWM from then on.
#[test]
fn outputs_are_switched_on_by_the_next_update() {
    const BDTR: u32 = 0x44;
    // PA8 is TIM1_CH1, alternate function 1. PWM mode 1: high for three of ten counts.
    let setup = [(ARR, 9), (CCR1, 3), (CCMR1, 0x68), (0x20, 1), (EGR, 1), (SR, 0), (BDTR, 1 << 14), (CR1, 1)];
    let mut bench = Bench::new("stm32f407");
    bench.write(0x4002_0000, 2 << 16);
    bench.write(0x4002_0024, 1);
    setup.iter().for_each(|(offset, value)| bench.write(TIM1 + offset, *value));
    let began = bench.now;
    bench.advance(began + 9);
    assert_eq!(bench.read(TIM1 + BDTR), 1 << 14);
    bench.advance(began + 35);
    assert_eq!(bench.read(TIM1 + BDTR), 1 << 14 | 1 << 15);
    let edges: Vec<_> = bench.seen.pins.iter().map(|(_, _, level, at)| (*level, at - began)).collect();
    assert_eq!(edges, [(true, 10), (false, 13), (true, 20), (false, 23), (true, 30), (false, 33)]);
    // A break by software switches them off until the next update; UG is one, whatever URS says of
    // its flag.
    bench.write(TIM1 + CR1, 1 << 2);
    bench.write(TIM1 + EGR, 1 << 7);
    assert_eq!(bench.read(TIM1 + BDTR), 1 << 14);
    bench.write(TIM1 + EGR, 1);
    assert_eq!(bench.read(TIM1 + BDTR), 1 << 14 | 1 << 15);
}

/// Two timers at one vector (table 62: TIM1's update and TIM10): one's interrupt is not taken back
/// by the other.
#[test]
fn neighbours_at_a_vector_leave_each_other_alone() {
    const TIM10: u32 = 0x4001_4400;
    let (mut bench, began) = set_up(TIM1, &[(ARR, 9), (DIER, 1), (CR1, 1)]);
    bench.advance(began + 10);
    assert_eq!(bench.bus.requests, 1 << 25);
    bench.write(TIM10 + ARR, 100);
    assert_eq!(bench.bus.requests, 1 << 25);
}

/// TIM1's update and TIM10 have one vector (table 62): it is requested as long as one of them asks
/// for it.
#[test]
fn shared_vector_is_requested_while_one_timer_asks_for_it() {
    const TIM10: u32 = 0x4001_4400;
    for (first, second) in [(TIM1, TIM10), (TIM10, TIM1)] {
        let mut bench = Bench::new("stm32f407");
        for timer in [TIM1, TIM10] {
            bench.write(timer + DIER, 1);
            bench.write(timer + EGR, 1);
        }
        assert_eq!(bench.bus.requests, 1 << 25);
        bench.write(first + SR, 0);
        assert_eq!(bench.bus.requests, 1 << 25, "the other one asks for it still");
        bench.write(second + SR, 0);
        assert_eq!(bench.bus.requests, 0);
    }
}
