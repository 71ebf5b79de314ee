//! Complementary channels of TIM1: control bits with preload, and dead times.
//!
//! Source: RM0090, sections 17.3.11, 17.3.14, 17.4.2 and 17.4.18. The STM32F103's is the same:
//! RM0008 chapter 14.

use super::stm32_peripherals::Bench;

const PORTA: u32 = 0x4001_0800;
const PORTB: u32 = 0x4001_0c00;
const TIM1: u32 = 0x4001_2c00;
const TIM2: u32 = 0x4000_0000;
const CR1: u32 = 0x00;
const CR2: u32 = 0x04;
const SMCR: u32 = 0x08;
const DIER: u32 = 0x0c;
const SR: u32 = 0x10;
const EGR: u32 = 0x14;
const CCMR1: u32 = 0x18;
const CCER: u32 = 0x20;
const ARR: u32 = 0x2c;
const CCR1: u32 = 0x34;
const BDTR: u32 = 0x44;
const MOE: u32 = 1 << 15;
const COM: u32 = 1 << 5;

fn write(bench: &mut Bench, timer: u32, writes: &[(u32, u32)]) {
    writes.iter().for_each(|(offset, value)| bench.write(timer + offset, *value));
}

/// An STM32F103 with TIM1's CH1 at PA8 and CH1N at PB13.
fn bench() -> Bench {
    let mut bench = Bench::new("stm32f103");
    bench.write(PORTA + 4, 0x4444_444b);
    bench.write(PORTB + 4, 0x44b4_4444);
    bench
}

/// CH1 and CH1N, where they are driven.
fn levels(bench: &Bench) -> [Option<bool>; 2] {
    [("GPIOA", 8), ("GPIOB", 13)].map(|(port, pin)| {
        let board = &bench.bus.board;
        board.is_driven(port, pin).then(|| board.pin(port, pin)).flatten()
    })
}

/// CCxE, CCxNE and OCxM wait for COMG, whose flag interrupts as the trigger's does; the polarity
/// does not wait, nor does the fourth channel, nor anything once CCPC is clear.
#[test]
fn control_bits_wait_for_a_commutation() {
    let mut bench = bench();
    write(&mut bench, TIM1, &[(CCMR1, 5 << 4), (CCER, 1), (BDTR, MOE), (CR2, 1), (DIER, COM)]);
    assert_eq!(levels(&bench), [Some(true), None]);
    write(&mut bench, TIM1, &[(CCMR1, 4 << 4), (CCER, 5)]);
    assert_eq!((bench.read(TIM1 + CCER), levels(&bench)), (5, [Some(true), None]), "what is written waits");
    bench.write(TIM1 + CCER, 5 | 2);
    assert_eq!(levels(&bench), [Some(false), None], "CC1P does not");
    bench.write(TIM1 + CCER, 5);
    assert_eq!((bench.bus.requests, bench.read(TIM1 + SR) & COM), (0, 0));
    bench.write(TIM1 + EGR, COM);
    assert_eq!((bench.bus.requests, bench.read(TIM1 + SR) & COM), (1 << 26, COM));
    assert_eq!(levels(&bench), [Some(false), Some(true)]);
    bench.write(TIM1 + SR, !COM);
    assert_eq!(bench.bus.requests, 0);
    bench.write(TIM1 + CCER, 0);
    assert_eq!(levels(&bench), [Some(false), Some(true)]);
    bench.write(TIM1 + CR2, 0);
    assert_eq!(levels(&bench), [None, None], "without CCPC nothing waits");
    assert!(bench.try_write(TIM2 + CR2, 1).is_err(), "TIM2 has no such bit");
}

/// CCUS: TIM2's update, the trigger input (ITR1), is a commutation, too.
#[test]
fn a_trigger_commutates() {
    for (control, commutated) in [(1, false), (1 | 1 << 2, true)] {
        let mut bench = bench();
        write(&mut bench, TIM1, &[(SMCR, 1 << 4), (CCMR1, 5 << 4), (BDTR, MOE), (CR2, control), (CCER, 1)]);
        write(&mut bench, TIM2, &[(CR2, 2 << 4), (ARR, 99), (CR1, 1)]);
        let began = bench.now;
        bench.seen.pins.clear();
        bench.advance(began + 99);
        assert_eq!(levels(&bench), [None, None]);
        bench.advance(began + 101);
        assert_eq!(levels(&bench)[0], commutated.then_some(true));
        assert_eq!(bench.read(TIM1 + SR) & COM != 0, commutated);
    }
}

/// Each output becomes active a dead time after the reference's edge, and inactive with it: 10
/// periods of tDTS, which CKD makes twice as long.
#[test]
fn a_dead_time_is_between_the_outputs() {
    for (setting, clocks) in [(10, 10), (2 << 6 | 3, 134), (6 << 5 | 1, 264), (7 << 5 | 2, 544)] {
        for (ckd, dead) in [(0, clocks), (1 << 8, 2 * clocks)] {
            let mut bench = bench();
            write(&mut bench, TIM1, &[(ARR, 9_999), (CCMR1, 6 << 4), (CCR1, 4_000), (EGR, 1)]);
            write(&mut bench, TIM1, &[(CCER, 5), (BDTR, MOE | setting), (CR1, 1 | ckd)]);
            let began = bench.now;
            bench.advance(began + 3_000);
            bench.seen.pins.clear();
            bench.advance(began + 13_000);
            let edges: Vec<_> =
                bench.seen.pins.iter().map(|(_, pin, on, at)| (*pin, *on, *at - began)).collect();
            let expected =
                [(8, false, 4_000), (13, true, 4_000 + dead), (13, false, 10_000), (8, true, 10_000 + dead)];
            assert_eq!(edges, expected, "DTG {setting:#x}, CKD {ckd:#x}");
        }
    }
}

/// A pulse that is shorter than the dead time is not there.
#[test]
fn a_dead_time_swallows_short_pulses() {
    let mut bench = bench();
    write(&mut bench, TIM1, &[(ARR, 999), (CCMR1, 6 << 4), (CCR1, 990), (EGR, 1)]);
    write(&mut bench, TIM1, &[(CCER, 5), (BDTR, MOE | 20), (CR1, 1)]);
    let began = bench.now;
    bench.advance(began + 500);
    bench.seen.pins.clear();
    bench.advance(began + 1_500);
    let edges: Vec<_> = bench.seen.pins.iter().map(|(_, pin, on, at)| (*pin, *on, *at - began)).collect();
    assert_eq!(edges, [(8, false, 990), (8, true, 1_020)], "CH1N stays low");
}
