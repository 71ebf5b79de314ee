//! Programmable peripheral interconnect of the nRF52840.
//!
//! Source: PS, "PPI". At 64 MHz, a count of 16 MHz is four cycles, and so is the way from an event
//! to its task.

use super::steps::{KEPT, Step, machine, run, word};
use super::stm32_peripherals::Bench;
use mcu::Mcu;

const PPI: u32 = 0x4001_f000;
const CHEN: u32 = PPI + 0x500;
const CHENSET: u32 = PPI + 0x504;
const CHENCLR: u32 = PPI + 0x508;
const TIMER0: u32 = 0x4000_8000;
const TIMER1: u32 = 0x4000_9000;
const SAADC: u32 = 0x4000_7000;
const GPIOTE: u32 = 0x4000_6000;
const RTC0: u32 = 0x4000_b000;
const CLOCK: u32 = 0x4000_0000;
const RADIO: u32 = 0x4000_1000;
const EGU0: u32 = 0x4001_4000;
const P0: u32 = 0x5000_0000;
/// Registers of a TIMER.
const CAPTURE: u32 = 0x040;
const COMPARE: u32 = 0x140;
const SHORTS: u32 = 0x200;
const BITMODE: u32 = 0x508;
const PRESCALER: u32 = 0x510;
const CC: u32 = 0x540;

fn eep(channel: u32) -> u32 {
    PPI + 0x510 + 8 * channel
}

fn tep(channel: u32) -> u32 {
    eep(channel) + 4
}

fn fork(channel: u32) -> u32 {
    PPI + 0x910 + 4 * channel
}

/// TASKS_CHG[n].EN, TASKS_CHG[n].DIS, CHG[n].
fn group(number: u32) -> [u32; 3] {
    [PPI + 8 * number, PPI + 8 * number + 4, PPI + 0x800 + 4 * number]
}

/// A timer of 32 bits that counts 16 MHz.
fn timer(base: u32) -> [(u32, u32); 2] {
    [(base + BITMODE, 3), (base + PRESCALER, 0)]
}

/// GPIOTE's channel 0 toggles P0.13.
const TOGGLE: [(u32, u32); 2] = [(P0 + 0x518, 1 << 13), (GPIOTE + 0x510, 3 << 16 | 13 << 8 | 3)];

/// A program that writes the first, waits for 80,000 cycles, writes the others and keeps registers:
/// its machine behind `cycles`, and the edges at P0.13.
fn program(
    writes: &[&[(u32, u32)]],
    late: &[(u32, u32)],
    kept: &[u32],
    cycles: u64,
) -> (Box<dyn Mcu>, Vec<(bool, u64)>) {
    let step = |(register, value): &(u32, u32)| Step::Write(*register, *value);
    let mut steps: Vec<Step> = writes.iter().copied().flatten().map(step).collect();
    steps.push(Step::Wait(20_000));
    steps.extend(late.iter().map(step));
    steps.extend((0..).zip(kept).map(|(index, register)| Step::Copy(KEPT + 4 * index, *register)));
    let mut machine = machine("nrf52840", &steps);
    let seen = run(machine.as_mut(), cycles);
    let edges = seen.pins.iter().filter(|pin| (pin.0.as_str(), pin.1) == ("P0", 13));
    let edges = edges.map(|(_, _, high, at)| (*high, *at)).collect();
    (machine, edges)
}

fn kept(machine: &dyn Mcu, count: u32) -> Vec<u32> {
    (0..count).map(|index| word(machine, KEPT + 4 * index)).collect()
}

/// The counter is at 50 when the event comes, and at 51 when the task and that of the fork do.
#[test]
fn task_comes_one_period_of_16_mhz_after_its_event() {
    let channel = [
        (TIMER0 + CC, 50),
        (eep(0), TIMER0 + COMPARE),
        (tep(0), TIMER0 + CAPTURE + 4),
        (fork(0), TIMER0 + CAPTURE + 8),
        (CHENSET, 1),
        (TIMER0, 1),
    ];
    let (machine, _) =
        program(&[&timer(TIMER0), &channel], &[], &[TIMER0 + CC + 4, TIMER0 + CC + 8, CHEN], 200_000);
    assert_eq!(kept(machine.as_ref(), 3), [51, 51, 1]);
}

/// A match every 100 counts, whose event the program never clears.
#[test]
fn timer_toggles_a_pin_without_the_core() {
    let setup = [(TIMER0 + CC, 100), (TIMER0 + SHORTS, 1), (eep(3), TIMER0 + COMPARE), (tep(3), GPIOTE)];
    let start = [(CHEN, 1 << 3), (TIMER0, 1)];
    let (_, edges) = program(&[&TOGGLE, &timer(TIMER0), &setup, &start], &[], &[], 4_000);
    assert!(edges.len() > 5, "{edges:?}");
    for pair in edges.windows(2) {
        assert_eq!((pair[1].0, pair[1].1 - pair[0].1), (!pair[0].0, 400), "{edges:?}");
    }
}

/// SAMPLE at 101; with 3 us and 2 us the result is there 80 counts later, its capture one more.
#[test]
fn timer_samples_the_converter_whose_end_is_captured() {
    let converter = [
        (SAADC + 0x510, 1),
        (SAADC + 0x518, 5 << 8),
        (SAADC + 0x62c, KEPT + 0x40),
        (SAADC + 0x630, 1),
        (SAADC + 0x500, 1),
        (SAADC, 1),
    ];
    let channels = [
        (TIMER0 + CC, 100),
        (eep(0), TIMER0 + COMPARE),
        (tep(0), SAADC + 0x004),
        (eep(19), SAADC + 0x104),
        (tep(19), TIMER0 + CAPTURE + 4),
        (CHENSET, 1 << 19 | 1),
        (TIMER0, 1),
    ];
    let (machine, _) =
        program(&[&timer(TIMER0), &converter, &channels], &[], &[TIMER0 + CC + 4, SAADC + 0x634], 200_000);
    assert_eq!(kept(machine.as_ref(), 2), [101 + 80 + 1, 1]);
}

/// TIMER1 disables at 300 the group of the channel that toggles at 100, 250, 400 ...
#[test]
fn task_disables_a_group_of_channels() {
    let [_, disable, members] = group(2);
    let setup = [
        (TIMER0 + CC, 100),
        (TIMER0 + CC + 4, 150),
        (TIMER0 + SHORTS, 2),
        (TIMER1 + CC, 300),
        (eep(0), TIMER0 + COMPARE),
        (tep(0), GPIOTE),
        (eep(1), TIMER1 + COMPARE),
        (tep(1), disable),
        (members, 1),
        (CHENSET, 3),
        (TIMER1, 1),
        (TIMER0, 1),
    ];
    let (machine, edges) = program(&[&TOGGLE, &timer(TIMER0), &timer(TIMER1), &setup], &[], &[CHEN], 200_000);
    assert_eq!((kept(machine.as_ref(), 1), edges.len()), (vec![2], 2), "{edges:?}");
}

#[test]
fn enabling_a_group_prevails() {
    let [enable, disable, members] = group(0);
    let setup = |first: u32, second: u32| {
        [
            (TIMER0 + CC, 20),
            (eep(0), TIMER0 + COMPARE),
            (tep(0), first),
            (fork(0), second),
            (members, 1 << 7),
            (CHENSET, 1),
            (TIMER0, 1),
        ]
    };
    for order in [setup(enable, disable), setup(disable, enable)] {
        let (machine, _) = program(&[&timer(TIMER0), &order], &[], &[CHEN], 200_000);
        assert_eq!(kept(machine.as_ref(), 1), [1 << 7 | 1]);
    }
}

/// RTC0's event needs EVTEN; channel 31 starts TIMER0 by it, and without it TIMER0 stands still.
#[test]
fn fixed_channel_starts_a_timer_by_the_clock() {
    let counted = |enabled: u32, routed: u32| {
        let clock = [(CLOCK + 0x008, 1), (RTC0 + 0x344, routed), (RTC0 + CC, 2), (RTC0, 1)];
        let start = [(CHENSET, enabled)];
        let capture = [(TIMER0 + CAPTURE, 1)];
        let (machine, _) = program(&[&timer(TIMER0), &start, &clock], &capture, &[TIMER0 + CC], 200_000);
        kept(machine.as_ref(), 1)[0]
    };
    assert!(counted(1 << 31, 1 << 16) > 5_000);
    assert_eq!([counted(1 << 31, 0), counted(1 << 30, 1 << 16)], [0, 0]);
}

#[test]
fn channels_are_enabled_and_disabled_by_bits() {
    let mut bench = Bench::new("nrf52840");
    bench.write(CHENSET, 0x0000_ff00);
    bench.write(CHENCLR, 0x0000_0f00);
    assert_eq!([CHEN, CHENSET, CHENCLR].map(|register| bench.read(register)), [0xf000; 3]);
    let [enable, disable, members] = group(5);
    bench.write(members, 0x11);
    bench.write(enable, 1);
    assert_eq!(bench.read(CHEN), 0xf011);
    bench.write(disable, 0);
    bench.write(disable, 1);
    assert_eq!((bench.read(CHEN), bench.read(members), bench.read(enable)), (0xf000, 0x11, 0));
}

#[test]
fn end_points_that_are_not_routed_are_named() {
    let says = |writes: &[(u32, u32)], enabled: u32, words: &str| {
        let mut bench = Bench::new("nrf52840");
        writes.iter().for_each(|(register, value)| bench.write(*register, *value));
        let fault = format!("{:?}", bench.try_write(CHENSET, enabled).expect_err("a fault"));
        assert!(fault.contains(words), "{fault}");
    };
    says(&[(eep(4), RADIO + 0x10c)], 1 << 4, "channel 4: RADIO has no model that PPI reaches (0x4000110c)");
    says(&[(eep(4), TIMER0 + COMPARE), (tep(4), EGU0)], 1 << 4, "channel 4: EGU0 has no model");
    says(&[(eep(4), TIMER0 + COMPARE), (fork(4), EGU0)], 1 << 4, "channel 4: EGU0 has no model");
    says(&[(eep(0), TIMER0 + CC)], 1, "0x40008540 is no event's register");
    says(&[(eep(0), TIMER0 + COMPARE), (tep(0), TIMER0 + COMPARE)], 1, "is no task's register");
    says(&[], 1 << 20, "channel 20: RADIO has no model");
    says(&[], 1 << 27, "channel 27: RADIO has no model");
    // One that is not enabled may be anything.
    Bench::new("nrf52840").write(eep(0), RADIO);
}

#[test]
fn event_or_task_without_a_model_stops_the_run() {
    let mut bench = Bench::new("nrf52840");
    bench.write(eep(0), TIMER0 + 0x100);
    bench.write(CHENSET, 1);
    let said = bench.failure();
    assert!(said.contains("TIMER0: PPI is given the event at 0x40008100"), "{said}");

    let mut bench = Bench::new("nrf52840");
    for (register, value) in [(eep(0), TIMER0 + COMPARE), (tep(0), TIMER0 + 0x020), (TIMER0 + CC, 5)] {
        bench.write(register, value);
    }
    bench.write(CHENSET, 1);
    bench.write(TIMER0, 1);
    bench.advance(10_000);
    let said = bench.failure();
    assert!(said.contains("TIMER0: a task that an event triggers: this task is not modelled"), "{said}");
}
