//! Sleep counts at the current of its mode: in the whole run, in the calls that sleep, and in what
//! `run` says.

use crate::bare::{program, request, set_up, try_measure};
use lab::measure::{MeasureResult, Request};
use lab::power_states::StateSpent;
use lab::run::{self, Outside, RunResult};
use lab::target::Target;
use lab::workspace::Workspace;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

/// Timer 0 at the system clock by 1024 overflows every 262,144 cycles and wakes from idle.
const AVR: &str = "function start
rjmp main
.org 0x40
reti
main: ldi r16, 5
out 0x25, r16
ldi r16, 1
sts 0x6e, r16
out 0x33, r16
sei
rcall nap
1: rjmp 1b
end start
function nap
sleep
ret
end nap
";

/// The system timer counts down from 0xffff and wakes from WFI; SCR is what the test puts in.
fn cortex(scr: u32) -> String {
    format!(
        ".syntax unified
.word 0x20001000, start + 1
.rept 14
.word tick + 1
.endr
.thumb_func
function start
ldr r0, =0xe000ed10
movs r1, #{scr}
str r1, [r0]
ldr r0, =0xe000e010
ldr r1, =0xffff
str r1, [r0, #4]
movs r1, #7
str r1, [r0]
1: wfi
b 1b
.ltorg
end start
.thumb_func
function tick
bx lr
end tick
"
    )
}

fn target(name: &str) -> Target {
    Workspace::find().expect("the project").target(name).expect("a target")
}

fn ran(request: &Request) -> MeasureResult {
    try_measure(request).unwrap_or_else(|error| panic!("{}: {error}", request.setup.target))
}

fn state<'r>(result: &'r MeasureResult, name: &str) -> &'r StateSpent {
    let states = &result.states;
    states.iter().find(|state| state.state == name).unwrap_or_else(|| panic!("no {name}: {states:?}"))
}

fn is_near(value: f64, wanted: f64) {
    assert!((value / wanted - 1.0).abs() < 1e-9, "{value}, not {wanted}");
}

/// Checks that the states add up to the program's row.
fn add_up(result: &MeasureResult) {
    assert_eq!(result.states.iter().map(|state| state.cycles).sum::<u64>(), result.cycles);
    let sum = |value: fn(&StateSpent) -> f64| result.states.iter().map(value).sum::<f64>();
    is_near(sum(|state| state.time_s), result.program.time_s);
    is_near(sum(|state| state.energy_j), result.program.energy_j);
    assert!((sum(|state| state.bounded_s) - result.program.bounded_s).abs() < 1e-12);
}

#[test]
fn idle_of_an_avr_counts_at_its_own_current() {
    let asked = Request { functions: vec!["nap".into()], max_cycles: 200_000, ..request("atmega328p", AVR) };
    let result = ran(&asked);
    add_up(&result);
    let part = target("atmega328p");
    let mode = part.supply.sleep("idle").expect("a mode");
    let (idle, active) = (state(&result, "idle"), state(&result, "active"));
    is_near(idle.current_a, mode.current_at(16e6, 5.0));
    is_near(active.current_a, part.supply.current_a(16e6, 5.0).expect("allowed"));
    assert!(idle.time_s > 10.0 * active.time_s && idle.current_a < 0.5 * active.current_a, "{result:?}");
    assert_eq!((idle.bounded_s, result.program.bounded_s), (0.0, 0.0));
    is_near(idle.energy_j, result.program.asleep_j);
    // The call that sleeps has it, too.
    let [nap] = &result.rows[..] else { panic!("one call: {:?}", result.rows) };
    is_near(nap.asleep_s, idle.time_s);
    is_near(nap.asleep_j, idle.energy_j);
    assert!(nap.energy_j < 0.5 * nap.time_s * 5.0 * active.current_a, "{nap:?}");
    assert_eq!((nap.supply_v, nap.memory.as_str()), (Some(5.0), "flash"));
    let names: Vec<&str> = result.state_rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["active", "idle"]);
    is_near(result.state_rows[1].current_a, idle.current_a);
}

/// The STM32F407 has a current asleep only at 168 MHz.
#[test]
fn sleep_without_a_known_current_is_a_marked_upper_bound() {
    let asked = Request { max_cycles: 100_000, ..request("stm32f407", &cortex(0)) };
    let at = |clock_hz: u64| ran(&set_up(asked.clone(), |setup| setup.clock_hz = Some(clock_hz)));
    let known = at(168_000_000);
    add_up(&known);
    is_near(state(&known, "sleep").current_a, 12e-3);
    assert_eq!(known.program.bounded_s, 0.0);

    // 12 mA are more than it draws running at 16 MHz.
    let slow = at(16_000_000);
    add_up(&slow);
    is_near(state(&slow, "sleep").current_a, state(&slow, "active").current_a);
    is_near(slow.program.bounded_s, slow.program.asleep_s);
    assert!(slow.program.asleep_s > 0.5 * slow.program.time_s, "{slow:?}");
}

/// SLEEPDEEP enters a mode of the part's power control: it is not taken for the sleep whose current
/// is known.
#[test]
fn deep_sleep_of_a_cortex_m_is_a_mode_of_its_own() {
    let asked = Request { max_cycles: 100_000, ..request("stm32f407", &cortex(4)) };
    let result = ran(&set_up(asked, |setup| setup.clock_hz = Some(168_000_000)));
    add_up(&result);
    let deep = state(&result, "deep sleep");
    is_near(deep.current_a, state(&result, "active").current_a);
    is_near(deep.bounded_s, deep.time_s);
}

/// From 16 MHz to 2 MHz, then idle: each state has the time of its own clock.
#[test]
fn states_follow_the_clock() {
    let text = AVR.replace("rcall nap", "ldi r16, 0x80\nsts 0x61, r16\nldi r16, 3\nsts 0x61, r16\nrcall nap");
    let result = ran(&Request { max_cycles: 100_000, ..request("atmega328p", &text) });
    // The machine's clock changes where STS begins, the time of calls where it ends: two cycles
    // later.
    let time_s: f64 = result.states.iter().map(|state| state.time_s).sum();
    let later_s = 2.0 * (1.0 / 2e6 - 1.0 / 16e6);
    assert!((time_s - result.program.time_s - later_s).abs() < 1e-12, "{result:?}");
    let part = target("atmega328p");
    let mode = part.supply.sleep("idle").expect("a mode");
    is_near(state(&result, "idle").current_a, mode.current_at(2e6, 5.0));
    let active = state(&result, "active").current_a;
    let [slow, fast] = [2e6, 16e6].map(|hz| part.supply.current_a(hz, 5.0).expect("allowed"));
    assert!(slow < active && active < fast, "{slow} {active} {fast}");
}

fn run_of(target: &str, text: &str, clock_hz: Option<u64>) -> RunResult {
    let request = run::Request {
        setup: lab::user_firmware::Setup {
            clock_hz,
            elf: program(target, text),
            ..request(target, text).setup
        },
        ports: Vec::new(),
        uart: None,
        exit: None,
        ends_asleep: true,
        is_paced: false,
        max_cycles: Some(200_000),
        max_time_s: None,
        traces: Default::default(),
        arguments: Vec::new(),
    };
    let outside = Outside {
        interrupted: &AtomicBool::new(false),
        input: None,
        gdb: None,
        out: &mut |_, _| ControlFlow::Continue(()),
        say: &mut |_| {},
    };
    run::run(&Workspace::find().expect("the project"), &request, outside).expect("it begins")
}

/// `run` looks at no instruction, and has the same sums as `measure`.
#[test]
fn run_has_the_states_of_measure() {
    for (part, text, clock_hz) in
        [("atmega328p", AVR.to_owned(), None), ("stm32f407", cortex(0), Some(16_000_000))]
    {
        let asked = Request { max_cycles: 200_000, ..request(part, &text) };
        let measured = ran(&set_up(asked, |setup| setup.clock_hz = clock_hz));
        let ran = run_of(part, &text, clock_hz);
        assert_eq!(ran.states, measured.states, "{part}");
        let said = ran.energy_remark().expect("an energy");
        assert!(said.contains("code in flash: active "), "{said}");
        assert_eq!(said.starts_with("at most "), clock_hz.is_some(), "{said}");
    }
}
