//! Converter of the nRF52840.
//!
//! Source: PS, "SAADC". At 64 MHz, 64 cycles are a microsecond; tCONV is 2 us.

use super::steps::{KEPT, Step, machine, run, word};
use super::stm32_peripherals::Bench;
use mcu::{Board, Mcu, Samples, Signal};
use std::sync::Arc;

const SAADC: u32 = 0x4000_7000;
const START: u32 = SAADC;
const SAMPLE: u32 = SAADC + 4;
const STOP: u32 = SAADC + 8;
const CALIBRATEOFFSET: u32 = SAADC + 0xc;
const STARTED: u32 = SAADC + 0x100;
const END: u32 = SAADC + 0x104;
const DONE: u32 = SAADC + 0x108;
const RESULTDONE: u32 = SAADC + 0x10c;
const CALIBRATEDONE: u32 = SAADC + 0x110;
const STOPPED: u32 = SAADC + 0x114;
const LIMITH: u32 = SAADC + 0x118;
const LIMITL: u32 = SAADC + 0x11c;
const INTENSET: u32 = SAADC + 0x304;
const STATUS: u32 = SAADC + 0x400;
const ENABLE: u32 = SAADC + 0x500;
const PSELP: u32 = SAADC + 0x510;
const PSELN: u32 = SAADC + 0x514;
const CONFIG: u32 = SAADC + 0x518;
const LIMIT: u32 = SAADC + 0x51c;
const CH: u32 = 0x10;
const RESOLUTION: u32 = SAADC + 0x5f0;
const OVERSAMPLE: u32 = SAADC + 0x5f4;
const SAMPLERATE: u32 = SAADC + 0x5f8;
const PTR: u32 = SAADC + 0x62c;
const MAXCNT: u32 = SAADC + 0x630;
const AMOUNT: u32 = SAADC + 0x634;
/// CONFIG: gain 1, internal reference, 3 us.
const PLAIN: u32 = 5 << 8;
const VDD1_4: u32 = 1 << 12;
const DIFF: u32 = 1 << 20;
const BURST: u32 = 1 << 24;
const TIMERS: u32 = 1 << 12;
const US: u64 = 64;

/// Channel 0 at AIN0, 3 us, with 0.3 V; a buffer of `results` results, started.
fn bench(results: u32) -> Bench {
    let mut bench = idle(results);
    bench.write(START, 1);
    assert_eq!(bench.read(STARTED), 1);
    bench
}

/// The same before START.
fn idle(results: u32) -> Bench {
    let mut bench = Bench::new("nrf52840");
    bench.bus.board = Board::new(64_000_000);
    bench.bus.board.set_analog(0, 0.3);
    for (register, value) in
        [(PSELP, 1), (CONFIG, PLAIN), (RESOLUTION, 2), (PTR, KEPT), (MAXCNT, results), (ENABLE, 1)]
    {
        bench.write(register, value);
    }
    bench
}

/// The flag of an event, which is clear then.
fn take(bench: &mut Bench, event: u32) -> u32 {
    let flag = bench.read(event);
    bench.write(event, 0);
    flag
}

/// SAMPLE, and the cycle at which it was.
fn sample(bench: &mut Bench) -> u64 {
    bench.write(SAMPLE, 1);
    bench.now
}

fn says(bench: &mut Bench, register: u32, value: u32, words: &str) {
    let fault = format!("{:?}", bench.try_write(register, value).expect_err("a fault"));
    assert!(fault.contains(words), "{fault}");
}

/// The results of one SAMPLE with these settings, and the machine.
fn results(settings: &[(u32, u32)], board: impl Fn(&mut Board)) -> (Vec<i16>, Box<dyn Mcu>) {
    let mut steps: Vec<Step> =
        [(PSELP, 1), (CONFIG, PLAIN), (RESOLUTION, 2), (PTR, KEPT), (MAXCNT, 8), (ENABLE, 1)]
            .iter()
            .chain(settings)
            .chain(&[(START, 1), (SAMPLE, 1)])
            .map(|(register, value)| Step::Write(*register, *value))
            .collect();
    steps.push(Step::Wait(35_000));
    steps.push(Step::Copy(KEPT + 16, AMOUNT));
    let mut machine = machine("nrf52840", &steps);
    board(machine.board_mut());
    run(machine.as_mut(), 200_000);
    let amount = word(machine.as_ref(), KEPT + 16);
    let result = |index: u32| (word(machine.as_ref(), KEPT + index / 2 * 4) >> (index % 2 * 16)) as i16;
    ((0..amount).map(result).collect(), machine)
}

fn result(settings: &[(u32, u32)], inputs: [f64; 2]) -> i16 {
    let (results, _) = results(settings, |board| {
        board.set_analog(0, inputs[0]);
        board.set_analog(7, inputs[1]);
    });
    assert_eq!(results.len(), 1);
    results[0]
}

/// A voltage that is another one from a time on, after 0 V.
fn step_to(volts: f64, at_ns: u64) -> Signal {
    Signal::Samples(Arc::new(Samples { points: vec![(0, 0.0), (at_ns, volts)], steps: true, repeats: false }))
}

#[test]
fn conversion_takes_acquisition_time_and_two_microseconds() {
    for (select, us) in [(0, 3), (1, 5), (2, 10), (3, 15), (4, 20), (5, 40)] {
        let mut bench = bench(1);
        bench.write(CONFIG, PLAIN | select << 16);
        bench.write(INTENSET, 2);
        let began = sample(&mut bench);
        assert_eq!((bench.bus.due, bench.read(STATUS)), (began + (us + 2) * US, 1));
        bench.advance(began + (us + 2) * US - 1);
        assert_eq!([DONE, RESULTDONE, END, AMOUNT].map(|at| bench.read(at)), [0; 4]);
        bench.advance(began + (us + 2) * US);
        assert_eq!([DONE, RESULTDONE, END, AMOUNT].map(|at| bench.read(at)), [1; 4]);
        assert_eq!((bench.read(STATUS), bench.bus.requests), (0, 1 << 7));
    }
}

/// RESULT = (V(P) - V(N)) * GAIN / REFERENCE * 2^(RESOLUTION - m); the supply is 3.0 V.
#[test]
fn result_follows_gain_reference_resolution_and_mode() {
    assert_eq!(result(&[], [0.3, 0.0]), 2048);
    for (resolution, expected) in [(0, 128), (1, 512), (2, 2048), (3, 8192)] {
        assert_eq!(result(&[(RESOLUTION, resolution)], [0.3, 0.0]), expected);
    }
    // 0.12 V times 1/6, 1/5, 1/4, 1/3, 1/2, 1, 2, 4: a result is rounded down.
    for (gain, expected) in [136, 163, 204, 273, 409, 819, 1638, 3276].into_iter().enumerate() {
        assert_eq!(result(&[(CONFIG, (gain as u32) << 8)], [0.12, 0.0]), expected, "gain {gain}");
    }
    assert_eq!(result(&[(CONFIG, PLAIN | VDD1_4)], [0.375, 0.0]), 2048);
    // Single-ended, CH[n].PSELN counts for nothing.
    assert_eq!(result(&[(PSELN, 8)], [0.3, 0.15]), 2048);
    let differential = [(PSELN, 8), (CONFIG, PLAIN | DIFF)];
    assert_eq!(result(&differential, [0.3, 0.15]), 512);
    assert_eq!(result(&differential, [0.15, 0.3]), -512);
    // Ends of the range.
    assert_eq!(result(&[], [3.0, 0.0]), 4095);
    assert_eq!(result(&differential, [3.0, 0.0]), 2047);
    assert_eq!(result(&differential, [0.0, 3.0]), -2048);
}

/// VDD, and a fifth of VDDH, which is VDD: at gain 1/6, 3.6 V are full scale.
#[test]
fn supply_is_an_input() {
    assert_eq!(result(&[(PSELP, 9), (CONFIG, 0)], [0.0; 2]), 3413);
    assert_eq!(result(&[(PSELP, 13), (CONFIG, PLAIN)], [0.0; 2]), 4095, "0.6 V");
    assert_eq!(result(&[(PSELP, 13), (CONFIG, 4 << 8)], [0.0; 2]), 2048);
}

#[test]
fn input_is_taken_at_the_end_of_the_acquisition() {
    // With 40 us: the voltage of an input that rises 38 us after the program's first cycles counts,
    // that of one that rises 2 us before the end of the conversion does not.
    let at = |us: u64| {
        let settings = [(CONFIG, PLAIN | 5 << 16)];
        results(&settings, |board| board.set_signal(0, step_to(0.3, us * 1000))).0[0]
    };
    let rises: Vec<i16> = (38..46).map(at).collect();
    let last = rises.iter().position(|code| *code == 0).expect("a step that comes too late");
    assert!(rises[..last].iter().all(|code| *code == 2048), "{rises:?}");
    // SAMPLE comes about 2 us after the reset.
    assert!((41..45).contains(&(38 + last)), "{rises:?}");
}

#[test]
fn scan_converts_each_channel_in_order() {
    let second = [(PSELP + CH, 2), (CONFIG + CH, PLAIN | 2 << 16)];
    let fifth = [(PSELP + 5 * CH, 8), (CONFIG + 5 * CH, PLAIN)];
    let (found, _) = results(&[second, fifth].concat(), |board| {
        for (input, volts) in [(0, 0.3), (1, 0.15), (7, 0.075)] {
            board.set_analog(input, volts);
        }
    });
    assert_eq!(found, [2048, 1024, 512]);
    let mut bench = bench(3);
    for (register, value) in [second, fifth].concat() {
        bench.write(register, value);
    }
    let began = sample(&mut bench);
    for (us, amount, ended) in [(5, 1, 0), (17, 2, 0), (22, 3, 1)] {
        bench.advance(began + us * US - 1);
        assert_eq!((bench.read(AMOUNT), bench.read(STATUS)), (amount - 1, 1), "{us} us");
        bench.advance(began + us * US);
        assert_eq!((bench.read(AMOUNT), bench.read(END), take(&mut bench, DONE)), (amount, ended, 1));
    }
    assert_eq!(bench.read(STATUS), 0);
}

/// "The SAMPLE task must be set 2^OVERSAMPLE number of times before the result is written to RAM."
#[test]
fn oversampled_result_takes_its_samples() {
    let mut bench = bench(1);
    bench.write(OVERSAMPLE, 2);
    for number in 1..=4 {
        let began = sample(&mut bench);
        bench.advance(began + 5 * US);
        let last = u32::from(number == 4);
        assert_eq!([DONE, RESULTDONE, END, AMOUNT].map(|at| bench.read(at)), [1, last, last, last]);
        bench.write(DONE, 0);
    }
}

/// With BURST one SAMPLE takes them all, as fast as it can.
#[test]
fn burst_averages_its_conversions() {
    let mut bench = bench(1);
    bench.write(OVERSAMPLE, 3);
    bench.write(CONFIG, PLAIN | BURST);
    let began = sample(&mut bench);
    for number in 1..=8 {
        bench.advance(began + number * 5 * US);
        assert_eq!((take(&mut bench, DONE), bench.read(RESULTDONE)), (1, u32::from(number == 8)));
    }
    // The input rises in the midst of 256 conversions of 5 us.
    let burst = [(OVERSAMPLE, 8), (CONFIG, PLAIN | BURST)];
    let average = |at_us: u64| results(&burst, |board| board.set_signal(0, step_to(0.3, at_us * 1000))).0[0];
    assert_eq!(average(0), 2048);
    // A conversion of 0 V more is 8 less.
    let [early, late] = [average(400), average(500)];
    assert_eq!(early - late, 20 * 8, "{early}");
    assert_eq!((2048 - early) % 8, 0);
}

/// SAMPLERATE: 16 MHz / CC, from one SAMPLE to STOP; after END nothing is taken until START.
#[test]
fn timer_samples_by_itself() {
    let mut bench = bench(2);
    bench.write(SAMPLERATE, TIMERS | 160);
    let began = sample(&mut bench);
    bench.advance(began + 15 * US - 1);
    assert_eq!(bench.read(AMOUNT), 1);
    bench.advance(began + 15 * US);
    assert_eq!((bench.read(AMOUNT), take(&mut bench, END)), (2, 1));
    bench.advance(began + 48 * US);
    assert_eq!((bench.read(AMOUNT), bench.read(END)), (2, 0));
    bench.write(START, 1);
    assert_eq!(bench.read(AMOUNT), 0);
    bench.advance(began + 55 * US - 1);
    assert_eq!(bench.read(AMOUNT), 0);
    bench.advance(began + 55 * US);
    assert_eq!(bench.read(AMOUNT), 1);
    bench.write(STOP, 1);
    bench.advance(began + 100 * US);
    assert_eq!((bench.read(AMOUNT), bench.bus.due), (1, u64::MAX));
}

/// SAMPLERATE.MODE Task: the timer samples no more.
#[test]
fn timer_ends_where_samples_come_by_task() {
    let mut bench = bench(8);
    bench.write(SAMPLERATE, TIMERS | 160);
    let began = sample(&mut bench);
    bench.advance(began + 15 * US);
    bench.write(SAMPLERATE, 160);
    bench.advance(began + 60 * US);
    assert_eq!((bench.read(AMOUNT), bench.bus.due), (2, u64::MAX));
}

/// "Last result is equal or above CH[n].LIMIT.HIGH", "equal or below CH[n].LIMIT.LOW".
#[test]
fn limits_have_events_of_their_channel() {
    let events = |low: i16, high: i16| {
        let mut bench = bench(1);
        bench.write(PSELP, 0);
        bench.write(PSELP + CH, 1);
        bench.write(CONFIG + CH, PLAIN);
        bench.write(LIMIT + CH, u32::from(high as u16) << 16 | u32::from(low as u16));
        bench.write(INTENSET, 3 << 8);
        let began = sample(&mut bench);
        bench.advance(began + 5 * US);
        let flags = (bench.read(LIMITH + 8), bench.read(LIMITL + 8));
        assert_eq!((bench.read(LIMITH), bench.read(LIMITL)), (0, 0));
        assert_eq!(bench.bus.requests != 0, flags != (0, 0));
        flags
    };
    assert_eq!(events(-1, 2049), (0, 0));
    assert_eq!(events(-1, 2048), (1, 0));
    assert_eq!(events(2047, 4095), (0, 0));
    assert_eq!(events(2048, 4095), (0, 1));
}

/// "The STOP task will terminate an ongoing sampling"; STOPPED comes in any case.
#[test]
fn stop_ends_a_conversion_and_the_buffer() {
    let mut bench = bench(4);
    let began = sample(&mut bench);
    bench.advance(began + 5 * US);
    let began = sample(&mut bench);
    bench.write(STOP, 1);
    assert_eq!((take(&mut bench, STOPPED), bench.read(STATUS)), (1, 0));
    bench.advance(began + 50 * US);
    assert_eq!([AMOUNT, END].map(|at| bench.read(at)), [1, 0]);
    says(&mut bench, SAMPLE, 1, "SAMPLE before START");
    bench.write(STOP, 1);
    assert_eq!(bench.read(STOPPED), 1);
    // A conversion that is counted for no result any more.
    bench.write(START, 1);
    bench.write(OVERSAMPLE, 1);
    let began = sample(&mut bench);
    bench.advance(began + 5 * US);
    bench.write(STOP, 1);
    bench.write(RESULTDONE, 0);
    bench.write(START, 1);
    let began = sample(&mut bench);
    bench.advance(began + 5 * US);
    assert_eq!(bench.read(RESULTDONE), 0);
}

/// RESULT.PTR is taken at START, and may be the next buffer's from STARTED on.
#[test]
fn buffer_begins_where_ptr_was_at_start() {
    let mut steps: Vec<Step> = [
        (PSELP, 1),
        (CONFIG, PLAIN),
        (PTR, KEPT),
        (MAXCNT, 1),
        (ENABLE, 1),
        (START, 1),
        (PTR, KEPT + 8),
        (SAMPLE, 1),
    ]
    .iter()
    .map(|(register, value)| Step::Write(*register, *value))
    .collect();
    steps.extend([Step::Wait(500), Step::Write(START, 1), Step::Write(SAMPLE, 1), Step::Wait(500)]);
    let mut machine = machine("nrf52840", &steps);
    machine.board_mut().set_analog(0, 0.3);
    run(machine.as_mut(), 10_000);
    assert_eq!([KEPT, KEPT + 4, KEPT + 8].map(|at| word(machine.as_ref(), at)), [512, 0, 512]);
}

/// 24 conversions with the longest acquisition of the channels.
#[test]
fn calibration_takes_conversions_of_the_longest_acquisition() {
    let mut bench = idle(1);
    bench.write(PSELP + CH, 2);
    bench.write(CONFIG + CH, PLAIN | 2 << 16);
    bench.write(CALIBRATEOFFSET, 1);
    let began = bench.now;
    says(&mut bench, START, 1, "before CALIBRATEDONE");
    bench.advance(began + 24 * 12 * US - 1);
    assert_eq!(bench.read(CALIBRATEDONE), 0);
    bench.advance(began + 24 * 12 * US);
    assert_eq!(bench.read(CALIBRATEDONE), 1);
    bench.write(START, 1);
    says(&mut bench, CALIBRATEOFFSET, 1, "anomaly 237");
}

#[test]
fn tasks_without_a_meaning_are_refused() {
    let mut disabled = Bench::new("nrf52840");
    says(&mut disabled, START, 1, "ENABLE");
    let mut idle = idle(0);
    says(&mut idle, START, 1, "MAXCNT 0");
    says(&mut idle, SAMPLE, 1, "before START");
    let mut bench = bench(2);
    sample(&mut bench);
    says(&mut bench, SAMPLE, 1, "during a conversion");
    says(&mut bench, START, 1, "during a conversion");
    bench.write(ENABLE, 0);
    assert_eq!((bench.read(STATUS), bench.bus.due), (0, u64::MAX));
}

#[test]
fn samples_that_the_ps_rules_out_are_refused() {
    let refuse = |settings: &[(u32, u32)], words: &str| {
        let mut bench = bench(1);
        for (register, value) in settings {
            bench.write(*register, *value);
        }
        says(&mut bench, SAMPLE, 1, words);
    };
    refuse(&[(PSELP, 0)], "CH[n].PSELP");
    refuse(&[(CONFIG, PLAIN | DIFF)], "CH[n].PSELN");
    refuse(&[(PSELP + CH, 2)], "RESULT.MAXCNT");
    refuse(&[(PSELP + CH, 2), (OVERSAMPLE, 1)], "OVERSAMPLE");
    refuse(&[(PSELP + CH, 2), (SAMPLERATE, TIMERS | 2047)], "SAMPLERATE.MODE");
    refuse(&[(SAMPLERATE, TIMERS | 79)], "SAMPLERATE.CC");
    refuse(&[(SAMPLERATE, TIMERS | 80), (CONFIG, PLAIN | 1 << 16)], "SAMPLERATE.CC");
    refuse(&[(SAMPLERATE, TIMERS | 159), (OVERSAMPLE, 1), (CONFIG, PLAIN | BURST)], "SAMPLERATE.CC");
}

#[test]
fn reserved_values_are_refused() {
    let mut bench = idle(1);
    for (register, value, words) in [
        (RESOLUTION, 4, "RESOLUTION"),
        (OVERSAMPLE, 9, "OVERSAMPLE"),
        (PSELP + 7 * CH, 10, "PSELP"),
        (PSELN, 14, "PSELN"),
        (CONFIG, 6 << 16, "TACQ"),
        (CONFIG, 1, "RESP"),
        (CONFIG + CH, 2 << 4, "RESN"),
    ] {
        says(&mut bench, register, value, words);
    }
    bench.write(CONFIG + 7 * CH, !(1 << 17 | 0x33));
    assert_eq!(bench.read(CONFIG + 7 * CH), 0x0115_1700);
    assert_eq!((bench.read(CONFIG + CH), bench.read(LIMIT + CH)), (0x0002_0000, 0x7fff_8000));
}

/// A timer that conversions no longer keep up with stops the run.
#[test]
fn slower_channel_under_the_timer_stops_the_run() {
    let mut steps: Vec<Step> = [
        (PSELP, 1),
        (CONFIG, PLAIN),
        (MAXCNT, 8),
        (PTR, KEPT),
        (ENABLE, 1),
        (SAMPLERATE, TIMERS | 100),
        (START, 1),
        (SAMPLE, 1),
        (CONFIG, PLAIN | 5 << 16),
    ]
    .iter()
    .map(|(register, value)| Step::Write(*register, *value))
    .collect();
    steps.push(Step::Wait(5_000));
    let mut machine = machine("nrf52840", &steps);
    let stop = machine.run(&mcu::Until { cycles: Some(10_000), ..mcu::Until::default() });
    assert!(format!("{stop:?}").contains("SAMPLERATE.CC"), "{stop:?}");
}
