//! The meter's drivers on the model of the ATmega328P, call by call (`device/trial`).
//!
//! Expected times: DS40002061, table 8-1 (3.4 ms for a byte of EEPROM), and the clock's 16 MHz
//! / 1024.

use firmware::Firmware;
use firmware::build_app;
use lab::board::{BoardDescription, Quantity};
use lab::workspace::Workspace;
use mcu::{Mcu, Signal, Stop, Until, new_machine};
use std::f64::consts::TAU;

const CLOCK_HZ: u64 = 16_000_000;
const TICKS_HZ: u64 = 15_625;
const EEPROM: u32 = 0x81_0000;
const BYTE_S: f64 = 3.4e-3;

/// The calls, `device/trial/main.c`.
const TICKS: u8 = 1;
const SECONDS: u8 = 2;
const SLEEP: u8 = 3;
const STOP: u8 = 4;
const READ: u8 = 5;
const WRITE: u8 = 6;
const BEGIN: u8 = 7;
const BUSY: u8 = 8;
const ABANDON: u8 = 9;
const SAMPLE: u8 = 10;
const ENTROPY: u8 = 11;
const PROVISION: u8 = 12;
const WATCHDOG: u8 = 13;
const FEED: u8 = 14;
const RESET: u8 = 15;
const HANG: u8 = 0xff;
const UNTOUCHED: u8 = 16;
const DIG: u8 = 17;

/// Inputs and outputs of a call.
#[derive(Clone, Copy, Debug, Default)]
struct Call {
    value: u32,
    at: u16,
    what: u8,
    len: u8,
    result: u8,
    cause: u8,
}

struct Rig {
    machine: Box<dyn Mcu>,
    emontx: BoardDescription,
    firmware: Firmware,
}

impl Rig {
    fn new() -> Rig {
        let workspace = Workspace::find().expect("the project's folder");
        let emontx = workspace.board("emontx").expect("a board");
        let target = workspace.target(&emontx.target).expect("a target");
        let source = workspace.board_source(&emontx, &target, Some(CLOCK_HZ)).expect("a clock of the part");
        let elf = build_app(&source, "small", "trial").expect("it builds");
        let firmware = Firmware::read(&elf, target.part.core).expect("an ELF file");
        let mut machine = new_machine(&target.part, CLOCK_HZ).expect("a model");
        machine.load(firmware.image()).expect("it fits");
        emontx.mount(&mut *machine, None).expect("a board");
        // Nobody wakes what sleeps for ever.
        machine.board_mut().externally_wakeable = false;
        machine.reset();
        let mut rig = Rig { machine, emontx, firmware };
        rig.reach_ready(1.0);
        rig
    }

    fn symbol(&self, name: &str) -> u32 {
        self.firmware.symbol(name).expect("device/trial has it").address
    }

    /// Sets mains voltage and current, in shares of the converter's reference.
    fn set_sensors(&mut self, voltage: f64, current: f64) {
        for (quantity, share) in [(Quantity::MainsVoltage, voltage), (Quantity::MainsCurrent, current)] {
            let channel = self.emontx.channel_of(quantity).expect("a sensor");
            self.machine.board_mut().set_analog(channel, share * self.emontx.supply_v);
        }
    }

    fn run_s(&mut self, seconds: f64, address: Option<u32>) -> Stop {
        let cycles = self.machine.cycles() + (seconds * CLOCK_HZ as f64) as u64;
        let until = Until { cycles: Some(cycles), addresses: address.into_iter().collect() };
        self.machine.run(&until).expect("no fault")
    }

    fn reach_ready(&mut self, limit_s: f64) {
        let ready = self.symbol("ws_trial_ready");
        assert_eq!(self.run_s(limit_s, Some(ready)), Stop::Address(ready), "at {:#06x}", self.machine.pc());
    }

    fn trial(&self) -> Call {
        let mut bytes = [0; 10];
        assert!(self.machine.peek(self.symbol("ws_trial"), &mut bytes));
        Call {
            value: u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
            at: u16::from_le_bytes([bytes[4], bytes[5]]),
            what: bytes[6],
            len: bytes[7],
            result: bytes[8],
            cause: bytes[9],
        }
    }

    fn bytes(&self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        assert!(self.machine.peek(self.symbol("ws_trial") + 10, &mut bytes));
        bytes
    }

    fn put(&mut self, bytes: &[u8]) {
        let at = self.symbol("ws_trial") + 10;
        assert!(self.machine.poke(at, bytes));
    }

    /// Has the firmware begin a call.
    fn start(&mut self, call: Call) {
        let mut bytes = call.value.to_le_bytes().to_vec();
        bytes.extend(call.at.to_le_bytes());
        bytes.extend([call.what, call.len, 0]);
        let at = self.symbol("ws_trial");
        assert!(self.machine.poke(at, &bytes));
    }

    /// Has it made a call; what came out, and the seconds that it took.
    fn call_within(&mut self, call: Call, limit_s: f64) -> (Call, f64) {
        self.start(call);
        let before = self.machine.cycles();
        self.reach_ready(limit_s);
        (self.trial(), (self.machine.cycles() - before) as f64 / CLOCK_HZ as f64)
    }

    fn call(&mut self, what: u8) -> Call {
        self.call_within(Call { what, ..Call::default() }, 1.0).0
    }

    fn eeprom(&self, at: u32, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        assert!(self.machine.peek(EEPROM + at, &mut bytes));
        bytes
    }
}

#[test]
fn the_clock_is_exact_over_minutes() {
    let mut rig = Rig::new();
    let begin = rig.machine.cycles();
    // Between overflows, across one, and across many: what it says is what the crystal's cycles
    // say.
    for sleep_s in [1, 3, 4, 5, 60, 200] {
        let now = rig.call(TICKS).value;
        let deadline = now + sleep_s * TICKS_HZ as u32;
        let (_, took_s) = rig
            .call_within(Call { what: SLEEP, value: deadline, ..Call::default() }, f64::from(sleep_s) + 1.0);
        assert!((took_s - f64::from(sleep_s)).abs() < 2.5e-4, "{took_s} s for {sleep_s} s");
        let late = rig.call(TICKS).value - deadline;
        assert!(late <= 2, "{late} ticks late");
        let elapsed = (rig.machine.cycles() - begin) / CLOCK_HZ;
        assert!(u64::from(rig.call(SECONDS).value).abs_diff(elapsed) <= 1);
    }
    // The start-up before the clock began is shorter than a tick's hundred.
    let ticks = u64::from(rig.call(TICKS).value);
    assert!((rig.machine.cycles() / 1024).abs_diff(ticks) < 100);
    let seconds = u64::from(rig.call(SECONDS).value);
    assert_eq!(seconds, ticks / TICKS_HZ);
}

#[test]
fn a_deadline_that_has_passed_is_no_sleep() {
    let mut rig = Rig::new();
    rig.run_s(0.1, None);
    rig.reach_ready(0.01);
    let now = rig.call(TICKS).value;
    for ago in [0, 1, 100] {
        let (_, took_s) =
            rig.call_within(Call { what: SLEEP, value: now.wrapping_sub(ago), ..Call::default() }, 1.0);
        assert!(took_s < 20e-6, "{took_s}");
    }
    for ticks in 1..5 {
        let now = rig.call(TICKS).value;
        let (_, took_s) = rig.call_within(Call { what: SLEEP, value: now + ticks, ..Call::default() }, 1.0);
        assert!(took_s < f64::from(ticks + 2) / TICKS_HZ as f64, "{took_s} s for {ticks} ticks");
    }
}

#[test]
fn the_clock_stops_for_ever() {
    let mut rig = Rig::new();
    rig.start(Call { what: STOP, ..Call::default() });
    assert_eq!(rig.run_s(10.0, None), Stop::Halted);
}

#[test]
fn the_eeprom_keeps_what_is_written() {
    let mut rig = Rig::new();
    let text = b"sixteen letters!";
    rig.put(text);
    let (_, took_s) = rig.call_within(Call { what: WRITE, at: 1000, len: 16, ..Call::default() }, 1.0);
    assert_eq!(rig.eeprom(999, 18), [&[0xff], &text[..], &[0xff]].concat());
    assert!((took_s / (16.0 * BYTE_S) - 1.0).abs() < 0.01, "{took_s}");
    rig.put(&[0; 16]);
    let (_, took_s) = rig.call_within(Call { what: READ, at: 1001, len: 14, ..Call::default() }, 1.0);
    assert_eq!(rig.bytes(16), [&text[1..15], &[0, 0]].concat());
    assert!(took_s < 100e-6, "{took_s}");
    // It is over: nothing wakes the clock's sleep before its time.
    assert_eq!(rig.call(BUSY).result, 0);
}

#[test]
fn the_eeprom_is_written_in_the_background() {
    let mut rig = Rig::new();
    rig.put(b"background");
    let (_, took_s) = rig.call_within(Call { what: BEGIN, at: 300, len: 10, ..Call::default() }, 1.0);
    assert!(took_s < 100e-6, "{took_s}");
    assert_eq!(rig.call(BUSY).result, 1);
    // Reading waits only for the byte under way, and the writing that was begun goes on.
    rig.run_s(2.5 * BYTE_S, None);
    rig.reach_ready(0.01);
    assert_eq!(rig.eeprom(300, 2), b"ba");
    let (_, took_s) = rig.call_within(Call { what: READ, at: 300, len: 2, ..Call::default() }, 1.0);
    assert!(took_s < 1.1 * BYTE_S, "{took_s}");
    assert_eq!(rig.bytes(2), b"ba");
    let writing = rig.call(BUSY).result;
    assert_eq!(writing, 1);
}

#[test]
fn background_writing_takes_its_time_and_ends() {
    let mut rig = Rig::new();
    rig.put(b"background");
    rig.call_within(Call { what: BEGIN, at: 300, len: 10, ..Call::default() }, 1.0);
    let now = rig.call(TICKS).value;
    // While the processor sleeps, too.
    let until = |s: f64| now + (s * TICKS_HZ as f64) as u32;
    rig.call_within(Call { what: SLEEP, value: until(9.7 * BYTE_S), ..Call::default() }, 1.0);
    assert_eq!(rig.call(BUSY).result, 1);
    rig.call_within(Call { what: SLEEP, value: until(10.2 * BYTE_S), ..Call::default() }, 1.0);
    assert_eq!(rig.call(BUSY).result, 0);
    assert_eq!(rig.eeprom(300, 10), b"background");
}

#[test]
fn abandoned_write_ends_with_the_byte_under_way() {
    let mut rig = Rig::new();
    rig.put(b"background");
    rig.call_within(Call { what: BEGIN, at: 300, len: 10, ..Call::default() }, 1.0);
    let now = rig.call(TICKS).value;
    let until = now + (3.5 * BYTE_S * TICKS_HZ as f64) as u32;
    rig.call_within(Call { what: SLEEP, value: until, ..Call::default() }, 1.0);
    let (_, took_s) = rig.call_within(Call { what: ABANDON, ..Call::default() }, 1.0);
    assert!(took_s < 0.6 * BYTE_S, "{took_s}");
    assert_eq!(rig.call(BUSY).result, 0);
    rig.run_s(0.1, None);
    rig.reach_ready(0.01);
    assert_eq!(rig.eeprom(300, 10), [&b"back"[..], &[0xff; 6]].concat());
    // And the next waits for nothing.
    rig.put(b"again");
    rig.call_within(Call { what: WRITE, at: 310, len: 5, ..Call::default() }, 1.0);
    assert_eq!(rig.eeprom(300, 15), [&b"back"[..], &[0xff; 6], b"again"].concat());
}

#[test]
fn the_provision_is_what_the_host_wrote() {
    let mut rig = Rig::new();
    rig.call_within(Call { what: PROVISION, at: 170, len: 6, ..Call::default() }, 1.0);
    assert_eq!(rig.bytes(7), [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0]);
    let at = rig.symbol("ws_provision");
    let bytes: Vec<u8> = (0..176).collect();
    assert!(rig.machine.poke(at, &bytes));
    rig.call_within(Call { what: PROVISION, at: 112, len: 64, ..Call::default() }, 1.0);
    assert_eq!(rig.bytes(64), bytes[112..]);
}

#[test]
fn the_stack_shows_how_far_it_was_used() {
    let mut rig = Rig::new();
    let before = rig.call(UNTOUCHED).value;
    assert!(before > 1500, "{before}");
    rig.call(DIG);
    let after = rig.call(UNTOUCHED).value;
    // A frame of 200 bytes; the call before it used some of its room already.
    assert!((120..=240).contains(&(before - after)), "{before}, {after}");
}

#[test]
fn causes_of_resets_are_told_apart() {
    let mut rig = Rig::new();
    assert_eq!(rig.trial().cause, 1, "power-on");
    rig.start(Call { what: RESET, ..Call::default() });
    rig.run_s(0.1, None);
    rig.reach_ready(0.1);
    assert_eq!(rig.trial().cause, 5, "commanded");

    rig.call(WATCHDOG);
    // Fed each 5 s it does nothing; then the calls end.
    for _ in 0..4 {
        let deadline = rig.call(TICKS).value + 5 * TICKS_HZ as u32;
        rig.call_within(Call { what: SLEEP, value: deadline, ..Call::default() }, 6.0);
        rig.call(FEED);
        assert_eq!(rig.trial().cause, 5);
    }
    rig.start(Call { what: HANG, ..Call::default() });
    rig.reach_ready(20.0);
    assert_eq!(rig.trial().cause, 4, "watchdog");
    // And it is off: nothing more comes.
    rig.run_s(20.0, None);
    rig.reach_ready(0.1);
    assert_eq!(rig.trial().cause, 4);
}

/// With a step of noise, without which 25 samples a period would all be rounded alike in every
/// period.
fn mains(supply_v: f64, seed: u64) -> Signal {
    Signal::Mains {
        offset_v: 0.5 * supply_v,
        amplitude_v: 0.4 * supply_v,
        hz: 50.0,
        phase_rad: 0.0,
        harmonics: vec![],
        noise_v: 1e-3 * supply_v,
        seed,
    }
}

#[test]
fn pairs_of_samples_come_at_their_rate_and_108_us_apart() {
    let mut rig = Rig::new();
    for (quantity, seed) in [(Quantity::MainsVoltage, 1), (Quantity::MainsCurrent, 2)] {
        let channel = rig.emontx.channel_of(quantity).expect("a sensor");
        rig.machine.board_mut().set_signal(channel, mains(rig.emontx.supply_v, seed));
    }
    rig.call(SAMPLE);
    // Nothing else but samples.
    rig.start(Call::default());
    let at = rig.symbol("ws_metering_sample");
    // The angles of the same sine at both inputs, by the fundamental of a hundred periods.
    let mut sums = [[0.0; 2]; 2];
    let begin = rig.machine.cycles();
    for pair in 0..2500 {
        assert_eq!(rig.run_s(0.01, Some(at)), Stop::Address(at));
        let registers = rig.machine.registers();
        let word = |low: &str, high: &str| {
            let get = |name: &str| registers.iter().find(|(known, _)| known == name).expect("a register").1;
            f64::from(get(low) | get(high) << 8)
        };
        let angle = TAU * f64::from(pair) / 25.0;
        for (sum, sample) in sums.iter_mut().zip([word("r24", "r25"), word("r22", "r23")]) {
            sum[0] += sample * angle.sin();
            sum[1] += sample * angle.cos();
        }
    }
    let cycles = rig.machine.cycles() - begin;
    assert!(cycles.abs_diff(2500 * CLOCK_HZ / 1250) < CLOCK_HZ / 1250, "{cycles}");
    let [voltage, current] = sums.map(|[sine, cosine]| cosine.atan2(sine));
    let apart_us = (current - voltage) / TAU * 20_000.0;
    assert!((apart_us - 108.0).abs() < 1.0, "{apart_us} us");
    let amplitude = sums[0][0].hypot(sums[0][1]) / 1250.0;
    // 2 V of 5 V in 1024 steps.
    assert!((amplitude - 409.6).abs() < 1.0, "{amplitude}");
}

#[test]
fn the_sampler_goes_on_beside_everything() {
    let mut rig = Rig::new();
    rig.set_sensors(0.4, 0.6);
    rig.call(SAMPLE);
    rig.put(&[0x55; 64]);
    rig.call_within(Call { what: BEGIN, at: 300, len: 64, ..Call::default() }, 1.0);
    let deadline = rig.call(TICKS).value + 4 * TICKS_HZ as u32;
    let (_, took_s) = rig.call_within(Call { what: SLEEP, value: deadline, ..Call::default() }, 5.0);
    assert!((took_s - 4.0).abs() < 2.5e-4, "{took_s}");
    assert_eq!(rig.eeprom(300, 64), [0x55; 64]);
    let mut bytes = [0; 16];
    assert!(rig.machine.peek(rig.symbol("ws_trial_samples"), &mut bytes));
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let pairs = word(0);
    assert!(pairs.abs_diff(5000) < 5, "{pairs}");
    // Of 1024 steps: 409.6 and 614.4.
    assert_eq!((word(4) / pairs, word(8) / pairs), (409, 614));
}

/// Figures in the header of `sampler_interrupt.S`.
#[test]
fn the_samplers_interrupt_takes_53_cycles_and_97() {
    let mut rig = Rig::new();
    rig.set_sensors(0.4, 0.6);
    rig.call(SAMPLE);
    // Nothing else but samples.
    rig.start(Call::default());
    let (interrupt, sample) = (rig.symbol("__vector_21"), rig.symbol("ws_metering_sample"));
    let reach = |rig: &mut Rig, at: &[u32]| {
        let until = Until { cycles: None, addresses: at.to_vec() };
        assert!(matches!(rig.machine.run(&until), Ok(Stop::Address(_))));
        rig.machine.cycles()
    };
    let return_address = |rig: &Rig| {
        let mut bytes = [0; 2];
        assert!(rig.machine.peek(0x80_0000 + rig.machine.sp() + 1, &mut bytes));
        u32::from(u16::from_be_bytes(bytes)) * 2
    };
    let mut seen = [0; 4];
    for _ in 0..32 {
        let begin = reach(&mut rig, &[interrupt]);
        let back = return_address(&rig);
        let mut end = reach(&mut rig, &[back, sample]);
        let mut within = 0;
        if rig.machine.pc() == sample {
            let after = return_address(&rig);
            // RCALL takes three cycles, which the linker makes of CALL here.
            within = reach(&mut rig, &[after]) - end + 3;
            end = reach(&mut rig, &[back]);
        }
        match (end - begin - within, within) {
            (53, 0) => seen[0] += 1,
            (57, 0) => seen[1] += 1,
            (97, 5..) => seen[2] += 1,
            (101, 5..) => seen[3] += 1,
            other => panic!("{other:?}"),
        }
    }
    // Each eighth conversion is one of the current, or one of the voltage, always.
    assert!(seen == [16, 0, 12, 4] || seen == [12, 4, 16, 0], "{seen:?}");
}

#[test]
fn noise_is_the_lowest_bits_of_eight_conversions() {
    let mut rig = Rig::new();
    assert_eq!(rig.call(ENTROPY).result, 0xff, "the sampler is off");
    // Lowest bits 1 and 0.
    rig.set_sensors(409.5 / 1024.0, 614.5 / 1024.0);
    rig.call(SAMPLE);
    rig.call(ENTROPY);
    for _ in 0..3 {
        let (call, took_s) = rig.call_within(Call { what: ENTROPY, ..Call::default() }, 1.0);
        assert_eq!((call.result, rig.bytes(1)[0]), (0, 0b1010_1010));
        assert!((took_s - 3.2e-3).abs() < 1e-4, "{took_s}");
    }
}
