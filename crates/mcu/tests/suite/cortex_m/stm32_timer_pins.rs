//! Pins of the STM32's timers, and their inputs from each other: RM0090, sections 17.3 and 18.3.

use super::stm32_peripherals::Bench;
use mcu::Pin;

const GPIOA: u32 = 0x4002_0000;
const TIM1: u32 = 0x4001_0000;
const TIM2: u32 = 0x4000_0000;
const TIM3: u32 = 0x4000_0400;
const CR1: u32 = 0x00;
const CR2: u32 = 0x04;
const SMCR: u32 = 0x08;
const DIER: u32 = 0x0c;
const SR: u32 = 0x10;
const EGR: u32 = 0x14;
const CCMR1: u32 = 0x18;
const CCER: u32 = 0x20;
const CNT: u32 = 0x24;
const PSC: u32 = 0x28;
const ARR: u32 = 0x2c;
const CCR1: u32 = 0x34;
const CCR2: u32 = 0x38;
const BDTR: u32 = 0x44;

/// Writes registers of a timer.
fn write(bench: &mut Bench, timer: u32, writes: &[(u32, u32)]) {
    writes.iter().for_each(|(offset, value)| bench.write(timer + offset, *value));
}

/// An STM32F407 with these pins of port A at TIM1 or TIM2 (AF1).
fn bench(pins: &[u32]) -> Bench {
    let mut bench = Bench::new("stm32f407");
    for pin in pins {
        let function = bench.read(GPIOA + 0x20 + pin / 8 * 4) | 1 << (pin % 8 * 4);
        bench.write(GPIOA + 0x20 + pin / 8 * 4, function);
        let mode = bench.read(GPIOA) & !(3 << (2 * pin)) | 2 << (2 * pin);
        bench.write(GPIOA, mode);
    }
    bench
}

/// Something outside drives a pin of port A, at a cycle.
fn drive(bench: &mut Bench, pin: u8, level: bool, at: u64) {
    bench.advance(at);
    bench.bus.board.set_input(Pin::new("GPIOA", pin), Some(level));
    bench.bus.resume(at, 0);
}

/// Section 18.3.12, table "Counting direction versus encoder signals": with both inputs each edge
/// counts, up where TI1 leads; below 0 follows ARR, with an update. Modes 1 and 2 count the edges
/// of TI1 and of TI2 alone, and CCxP turns an input over.
#[test]
fn encoder_counts_edges_by_its_direction() {
    let counts = |mode: u32, polarity: u32, edges: &[(u8, bool)]| {
        let mut bench = bench(&[0, 1]);
        write(&mut bench, TIM2, &[(CCMR1, 0x0101), (CCER, polarity), (SMCR, mode), (ARR, 99), (CR1, 1)]);
        let from = bench.now;
        let after = (1u64..).zip(edges).map(|(step, (pin, level))| {
            drive(&mut bench, *pin, *level, from + 100 * step);
            bench.read(TIM2 + CNT)
        });
        let after: Vec<u32> = after.collect();
        (after, bench.read(TIM2 + CR1) & 0x10, bench.read(TIM2 + SR) & 1)
    };
    let up = [(0, true), (1, true), (0, false), (1, false)];
    let down = [(1, true), (0, true), (1, false), (0, false)];
    assert_eq!(counts(3, 0, &up), (vec![1, 2, 3, 4], 0, 0));
    assert_eq!(counts(3, 0, &down), (vec![99, 98, 97, 96], 0x10, 1));
    let there_and_back = [(0, true), (1, true), (1, false), (0, false)];
    assert_eq!(counts(3, 0, &there_and_back), (vec![1, 2, 1, 0], 0x10, 0));
    assert_eq!(counts(1, 0, &up).0, [1, 1, 2, 2]);
    assert_eq!(counts(2, 0, &up).0, [0, 1, 1, 2]);
    assert_eq!(counts(3, 2, &up).0, [99, 98, 97, 96], "CC1P");
}

/// Section 18.3.5: the counter at the edge, a flag, its interrupt, and one that says that a capture
/// was missed; reading clears the flag.
#[test]
fn an_edge_captures_the_counter() {
    let mut bench = bench(&[0]);
    write(&mut bench, TIM2, &[(CCMR1, 1), (CCER, 1), (DIER, 2), (CR1, 1)]);
    let began = bench.now;
    drive(&mut bench, 0, true, began + 100);
    assert_eq!((bench.bus.requests, bench.read(TIM2 + SR)), (1 << 28, 2));
    drive(&mut bench, 0, false, began + 150);
    assert_eq!(bench.read(TIM2 + CCR1), 100, "no falling edge");
    assert_eq!((bench.bus.requests, bench.read(TIM2 + SR)), (0, 0));
    drive(&mut bench, 0, true, began + 200);
    drive(&mut bench, 0, false, began + 210);
    drive(&mut bench, 0, true, began + 300);
    assert_eq!(bench.read(TIM2 + SR), 2 | 1 << 9, "CC1OF");
    assert_eq!((bench.read(TIM2 + CCR1), bench.read(TIM2 + SR)), (300, 1 << 9));
    bench.write(TIM2 + CCR1, 7);
    assert_eq!(bench.read(TIM2 + CCR1), 300, "it cannot be written");
}

/// CC1P: falling; with CC1NP: both; IC1PSC: every fourth; the filter of eight samples of the
/// timer's clock lets no shorter pulse through.
#[test]
fn edges_are_chosen() {
    let captured = |mode: u32, enable: u32, edges: &[u64]| {
        let mut bench = bench(&[0]);
        write(&mut bench, TIM2, &[(CCMR1, mode), (CCER, enable), (CR1, 1)]);
        let began = bench.now;
        let mut found = Vec::new();
        for (index, at) in edges.iter().enumerate() {
            drive(&mut bench, 0, index % 2 == 0, began + at);
            let next = edges.get(index + 1).map_or(u64::MAX, |next| next - 1);
            bench.advance(began + next.min(at + 9));
            if bench.read(TIM2 + SR) & 2 != 0 {
                found.push(bench.read(TIM2 + CCR1));
            }
        }
        found
    };
    let edges = [100, 200, 300, 400, 500, 600, 700, 800];
    assert_eq!(captured(1, 1, &edges), [100, 300, 500, 700]);
    assert_eq!(captured(1, 3, &edges), [200, 400, 600, 800]);
    assert_eq!(captured(1, 0xb, &edges), [100, 200, 300, 400, 500, 600, 700, 800]);
    assert_eq!(captured(1 | 2 << 2, 1, &edges), [700]);
    assert_eq!(captured(1 | 3 << 4, 1, &[100, 200, 300, 307, 400, 410]), [108, 408]);
}

/// Section 18.3.6, PWM input mode: a period of 1,000 with 300 of them high, in CCR1 and CCR2, the
/// counter reset by each rising edge.
#[test]
fn a_pulse_and_its_period_are_measured() {
    let mut bench = bench(&[0]);
    write(&mut bench, TIM2, &[(CCMR1, 1 | 2 << 8), (CCER, 1 | 3 << 4), (SMCR, 5 << 4 | 4), (CR1, 1)]);
    let began = bench.now;
    for period in 1..4 {
        drive(&mut bench, 0, true, began + 1_000 * period);
        if period > 1 {
            assert_eq!(bench.read(TIM2 + CCR1), 1_000, "period {period}");
        }
        assert_eq!((bench.read(TIM2 + CNT), bench.read(TIM2 + SR) & 1 << 6), (0, 1 << 6), "reset, TIF");
        drive(&mut bench, 0, false, began + 1_000 * period + 300);
        assert_eq!(bench.read(TIM2 + CCR2), 300, "period {period}");
    }
}

/// Section 18.3.14: gated by TI1's level, started by its edge, clocked by TI2; external clock mode
/// 2 with every fourth edge of ETR.
#[test]
fn a_pin_controls_the_counter() {
    let mut gated = bench(&[0]);
    write(&mut gated, TIM2, &[(SMCR, 5 << 4 | 5), (CR1, 1)]);
    let began = gated.now;
    gated.advance(began + 100);
    assert_eq!(gated.read(TIM2 + CNT), 0);
    drive(&mut gated, 0, true, began + 200);
    drive(&mut gated, 0, false, began + 250);
    gated.advance(began + 300);
    assert_eq!((gated.read(TIM2 + CNT), gated.read(TIM2 + SR) & 1 << 6), (50, 1 << 6));
    drive(&mut gated, 0, true, began + 400);
    gated.advance(began + 410);
    assert_eq!(gated.read(TIM2 + CNT), 60);

    let mut started = bench(&[1]);
    write(&mut started, TIM2, &[(SMCR, 6 << 4 | 6), (DIER, 1 << 6)]);
    let began = started.now;
    drive(&mut started, 1, true, began + 100);
    assert_eq!((started.read(TIM2 + CR1), started.bus.requests), (1, 1 << 28));
    started.advance(began + 107);
    assert_eq!(started.read(TIM2 + CNT), 7);

    let mut clocked = bench(&[1]);
    write(&mut clocked, TIM2, &[(PSC, 1), (ARR, 2), (EGR, 1), (SR, 0), (SMCR, 6 << 4 | 7), (CR1, 1)]);
    let began = clocked.now;
    let mut counts = Vec::new();
    for edge in 1..=7 {
        drive(&mut clocked, 1, true, began + 100 * edge);
        drive(&mut clocked, 1, false, began + 100 * edge + 50);
        counts.push((clocked.read(TIM2 + CNT), clocked.read(TIM2 + SR) & 1));
    }
    assert_eq!(counts, [(0, 0), (1, 0), (1, 0), (2, 0), (2, 0), (0, 1), (0, 1)]);

    let mut external = bench(&[0]);
    write(&mut external, TIM2, &[(SMCR, 1 << 14 | 2 << 12), (CR1, 1)]);
    let began = external.now;
    for edge in 1..=9 {
        drive(&mut external, 0, true, began + 100 * edge);
        drive(&mut external, 0, false, began + 100 * edge + 50);
    }
    assert_eq!(external.read(TIM2 + CNT), 2);
}

/// Section 18.3.15: TIM2's update clocks TIM3 (ITR1), which so counts its periods; TIM2's enable
/// starts it; gates it.
#[test]
fn a_timer_drives_another() {
    let mut bench = Bench::new("stm32f407");
    write(&mut bench, TIM3, &[(SMCR, 1 << 4 | 7), (CR1, 1)]);
    write(&mut bench, TIM2, &[(ARR, 99), (CR2, 2 << 4), (CR1, 1)]);
    let began = bench.now;
    bench.advance(began + 99);
    assert_eq!(bench.read(TIM3 + CNT), 0);
    bench.advance(began + 12_345);
    assert_eq!((bench.read(TIM3 + CNT), bench.read(TIM2 + CNT)), (123, 45));

    let mut bench = Bench::new("stm32f407");
    write(&mut bench, TIM3, &[(SMCR, 1 << 4 | 6)]);
    write(&mut bench, TIM2, &[(CR2, 1 << 4), (CR1, 1)]);
    let began = bench.now;
    bench.advance(began + 50);
    assert_eq!((bench.read(TIM3 + CR1), bench.read(TIM3 + CNT)), (1, 50));

    // OC1REF of TIM2, high for 30 of 100 counts.
    let mut bench = Bench::new("stm32f407");
    write(&mut bench, TIM2, &[(ARR, 99), (CCMR1, 6 << 4), (CCR1, 30), (EGR, 1), (CR2, 4 << 4)]);
    write(&mut bench, TIM3, &[(SMCR, 1 << 4 | 5), (CR1, 1)]);
    let held = bench.read(TIM3 + CNT);
    bench.write(TIM2 + CR1, 1);
    let began = bench.now;
    bench.advance(began + 1_000);
    let counted = bench.read(TIM3 + CNT) - held;
    // The reference is high before the counter runs, for as long as the writes between take.
    assert!((300..=302).contains(&counted), "{counted}");
}

/// Two timers that reset each other do not stop the run.
#[test]
fn triggers_in_a_circle_end() {
    let mut bench = Bench::new("stm32f407");
    write(&mut bench, TIM2, &[(SMCR, 2 << 4 | 4), (CR1, 1)]);
    write(&mut bench, TIM3, &[(SMCR, 1 << 4 | 4), (CR1, 1)]);
    bench.write(TIM2 + EGR, 1);
    for _ in 0..50 {
        bench.advance(bench.now + 1);
    }
    assert!(bench.read(TIM3 + CNT) <= 2);
}

/// Sections 18.3.9 and 17.3.11: PWM mode 1 at PA5 (TIM2_CH1), 3 of 10 counts high; CC1P turns it
/// round; without CC1E, or with another function, nothing drives the pin.
#[test]
fn a_pin_shows_the_pulse_width() {
    let mut bench = bench(&[5]);
    write(&mut bench, TIM2, &[(ARR, 9), (CCMR1, 6 << 4), (CCR1, 3), (EGR, 1)]);
    assert!(!bench.bus.board.is_driven("GPIOA", 5));
    bench.write(TIM2 + CCER, 1);
    assert_eq!(bench.bus.board.pin("GPIOA", 5), Some(true));
    bench.seen.pins.clear();
    bench.write(TIM2 + CR1, 1);
    let began = bench.now;
    bench.advance(began + 25);
    let edges: Vec<_> = bench.seen.pins.iter().map(|(_, pin, high, at)| (*pin, *high, at - began)).collect();
    assert_eq!(edges, [(5, false, 3), (5, true, 10), (5, false, 13), (5, true, 20), (5, false, 23)]);
    assert_eq!(bench.read(GPIOA + 0x10) >> 5 & 1, 0, "IDR sees it");
    bench.write(TIM2 + CCER, 3);
    assert_eq!(bench.bus.board.pin("GPIOA", 5), Some(true), "CC1P");
    bench.write(TIM2 + CCER, 0);
    assert!(!bench.bus.board.is_driven("GPIOA", 5));
    bench.write(TIM2 + CCER, 1);
    bench.write(GPIOA + 0x20, 2 << 20);
    assert!(!bench.bus.board.is_driven("GPIOA", 5), "AF2 is another's");
}

/// Section 17.4.9, table 95: TIM1_CH1 at PA8 and TIM1_CH1N at PA7 with MOE, and the idle states
/// with OSSI without it.
#[test]
fn an_advanced_timer_has_complements() {
    let mut bench = bench(&[7, 8]);
    let level = |bench: &Bench, pin| {
        bench.bus.board.is_driven("GPIOA", pin).then(|| bench.bus.board.pin("GPIOA", pin))
    };
    let levels = |bench: &Bench| [level(bench, 8).flatten(), level(bench, 7).flatten()];
    // OC1REF forced high.
    write(&mut bench, TIM1, &[(CCMR1, 5 << 4), (CCER, 5)]);
    assert_eq!(levels(&bench), [None, None], "MOE is off");
    bench.write(TIM1 + BDTR, 1 << 15);
    assert_eq!(levels(&bench), [Some(true), Some(false)]);
    bench.write(TIM1 + CCER, 4);
    assert_eq!(levels(&bench), [None, Some(true)], "alone it is not the complement");
    bench.write(TIM1 + BDTR, 1 << 15 | 1 << 11);
    assert_eq!(levels(&bench), [Some(false), Some(true)], "OSSR");
    bench.write(TIM1 + CR2, 1 << 8);
    bench.write(TIM1 + BDTR, 1 << 10);
    assert_eq!(levels(&bench), [Some(true), Some(false)], "OIS1, OIS1N");
}

/// RM0008, tables 43 and following: TIM2_CH2 of the STM32F103 is at PA1, with TIM2_REMAP 01 at PB3;
/// an input is at a floating pin.
#[test]
fn remapping_moves_the_pins() {
    const PORTA: u32 = 0x4001_0800;
    const PORTB: u32 = 0x4001_0c00;
    const MAPR: u32 = 0x4001_0004;
    let mut bench = Bench::new("stm32f103");
    bench.write(PORTA, 0x4444_44b4);
    bench.write(PORTB, 0x4444_b444);
    write(&mut bench, TIM2, &[(CCMR1, 5 << 12), (CCER, 1 << 4)]);
    let driven =
        |bench: &Bench| [bench.bus.board.is_driven("GPIOA", 1), bench.bus.board.is_driven("GPIOB", 3)];
    assert_eq!(driven(&bench), [true, false]);
    bench.write(MAPR, 1 << 8);
    assert_eq!(driven(&bench), [false, true]);
    write(&mut bench, TIM3, &[(CCMR1, 1), (CCER, 1), (CR1, 1)]);
    let began = bench.now;
    drive(&mut bench, 6, true, began + 77);
    assert_eq!(bench.read(TIM3 + CCR1), 77);
}

/// RM0008, tables 46 (remapping), 63 (vectors) and 86 (internal triggers): TIM1 of the STM32F103,
/// whose ITR0 would be TIM5's.
#[test]
fn tim1_of_the_stm32f103() {
    const TIM1: u32 = 0x4001_2c00;
    const PORTA: u32 = 0x4001_0800;
    const PORTB: u32 = 0x4001_0c00;
    const MAPR: u32 = 0x4001_0004;
    let mut bench = Bench::new("stm32f103");
    bench.write(PORTA, 0xb444_4444);
    bench.write(PORTB + 4, 0x44b4_4444);
    write(&mut bench, TIM1, &[(CCMR1, 5 << 4), (CCER, 5), (BDTR, 1 << 15)]);
    let driven =
        |bench: &Bench| [bench.bus.board.is_driven("GPIOA", 7), bench.bus.board.is_driven("GPIOB", 13)];
    assert_eq!(driven(&bench), [false, true], "CH1N");
    bench.write(MAPR, 1 << 6);
    assert_eq!(driven(&bench), [true, false], "partial remap");
    bench.write(MAPR, 3 << 6);
    assert_eq!(driven(&bench), [false, false], "full remap: port E, which the package does not have");
    write(&mut bench, TIM1, &[(CCER, 0), (SR, 0), (DIER, 1 | 1 << 1 | 1 << 6)]);
    for (event, irq) in [(1, 25), (1 << 1, 27), (1 << 6, 26)] {
        bench.write(TIM1 + EGR, event);
        assert_eq!(bench.bus.requests, 1 << irq, "event {event:#x}");
        bench.write(TIM1 + SR, 0);
    }
    assert!(bench.try_write(TIM1 + SMCR, 4).is_err(), "ITR0");
    // ITR1: TIM2's updates reset the counter.
    write(&mut bench, TIM1, &[(DIER, 0), (SMCR, 1 << 4 | 4), (CR1, 1)]);
    write(&mut bench, TIM2, &[(CR2, 2 << 4), (ARR, 99), (CR1, 1)]);
    bench.advance(bench.now + 103);
    assert!(bench.read(TIM1 + CNT) < 5);
    assert_eq!(bench.read(TIM1 + SR) & 1 << 6, 1 << 6);
}
