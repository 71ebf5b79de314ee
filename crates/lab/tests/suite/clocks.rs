//! Time and energy follow the clock that the program sets: by the part's registers, its fuses and
//! its crystal, also where it changes in mid-run.

use crate::bare::{measure, request, set_up, try_measure};
use lab::LabError;
use lab::measure::{MeasureResult, Request};
use lab::user_firmware::ClockSource;
use lab::workspace::Workspace;

/// The times of the calls of `work` must be these cycles at these clocks, and the energies those at
/// the data sheet's current.
fn check(result: &MeasureResult, target: &str, calls: &[(u64, f64)]) {
    let target = Workspace::find().expect("the project").target(target).expect("a target");
    assert_eq!(result.rows.len(), calls.len(), "{:?}", result.rows);
    for (row, (cycles, hz)) in result.rows.iter().zip(calls) {
        assert_eq!(row.inclusive_cycles, *cycles, "{row:?}");
        let time_s = *cycles as f64 / hz;
        assert!((row.time_s / time_s - 1.0).abs() < 1e-9, "{row:?}, not {time_s} s at {hz} Hz");
        let power_w = target.supply.power_w(*hz, target.supply.default_v).expect("allowed");
        assert!(power_w > 0.0 && (row.energy_j / (time_s * power_w) - 1.0).abs() < 1e-9, "{row:?}");
    }
}

/// Measures the calls of `work` in a program.
fn calls(target: &str, text: &str) -> (Request, MeasureResult) {
    let request = Request { functions: vec!["work".into()], ..request(target, text) };
    let result = measure(&request);
    (request, result)
}

/// From 16 MHz to 2 MHz between two calls of RCALL 3, NOP 1, RET 4.
const AVR: &str = "function start
rcall work
ldi r16, 0x80
sts 0x61, r16
ldi r16, 3
sts 0x61, r16
rcall work
1: rjmp 1b
end start
function work
nop
ret
end work
";

#[test]
fn avr_clkpr_divides_the_crystal() {
    let (asked, result) = calls("atmega328p", AVR);
    check(&result, "atmega328p", &[(8, 16e6), (8, 2e6)]);
    assert_eq!((result.clock_source, result.clocks.last_hz), (ClockSource::Program, 2_000_000));
    let faster = measure(&set_up(asked.clone(), |setup| setup.crystal_hz = Some(8_000_000)));
    check(&faster, "atmega328p", &[(8, 8e6), (8, 1e6)]);
    // Over the change: 14 cycles up to the end of the second STS, 8 from there.
    let all = measure(&Request { functions: Vec::new(), ..asked });
    let start = all.rows.iter().find(|row| row.name == "start").expect("a row");
    assert_eq!(start.inclusive_cycles, 22);
    assert!((start.time_s - (14.0 / 16e6 + 8.0 / 2e6)).abs() < 1e-15, "{start:?}");
}

#[test]
fn an_override_says_that_it_is_one() {
    let asked = Request { functions: vec!["work".into()], ..request("atmega328p", AVR) };
    // With a given clock, a program that sets another one is refused as ever.
    let text = AVR.replace("ldi r16, 3", "ldi r16, 0");
    let given = set_up(asked.clone(), |setup| {
        setup.clock_hz = Some(4_000_000);
        setup.elf = request("atmega328p", &text).setup.elf;
    });
    let result = measure(&given);
    check(&result, "atmega328p", &[(8, 4e6), (8, 4e6)]);
    assert!(result.clock_remark().contains("whatever the program sets"), "{}", result.clock_remark());
    for wrong in [
        set_up(given, |setup| setup.crystal_hz = Some(1)),
        set_up(asked, |setup| {
            setup.crystal_hz = Some(12_000_000);
            setup.target = "i8051".into();
        }),
    ] {
        assert!(matches!(try_measure(&wrong), Err(LabError::Usage(_) | LabError::Firmware(_))));
    }
}

/// From the 1.048576 MHz of start-up, 32 times REFO, to 762 times REFO; CALL 4, NOP 1, RET 4.
#[test]
fn msp430_ucs_multiplies_its_reference() {
    let text = "function start
mov #0x5c00, r1
mov #0x5a80, &0x015c
call #work
mov #0x12f9, &0x0164
call #work
1: jmp 1b
end start
function work
nop
ret
end work
";
    let (_, result) = calls("msp430f5438a", text);
    check(&result, "msp430f5438a", &[(9, 1_048_576.0), (9, 762.0 * 32_768.0)]);
}

/// HSI, then the crystal, then the PLL on it: HSE 4 MHz by 2 times 6; BL 4, NOP 1, BX 3.
#[test]
fn stm32_rcc_switches_to_the_crystal_and_the_pll() {
    let text = ".syntax unified
.word 0x20001000, start + 1
.thumb_func
function start
bl work
ldr r0, =0x40021000
ldr r1, =0x00010083
str r1, [r0]
movs r1, #1
str r1, [r0, #4]
bl work
movs r1, #1
str r1, [r0, #0x2c]
ldr r1, =0x00110001
str r1, [r0, #4]
ldr r1, =0x01010083
str r1, [r0]
ldr r1, =0x00110002
str r1, [r0, #4]
bl work
1: b 1b
.ltorg
end start
.thumb_func
function work
nop
bx lr
end work
";
    let request = Request { functions: vec!["work".into()], ..request("stm32f051", text) };
    let request = set_up(request, |setup| setup.crystal_hz = Some(4_000_000));
    let result = measure(&request);
    let cycles = result.rows[0].inclusive_cycles;
    check(&result, "stm32f051", &[(cycles, 8e6), (cycles, 4e6), (cycles, 12e6)]);
}

/// From the low-speed oscillator by 8 to the crystal, as start-up does it.
#[test]
fn r8c_goes_from_its_oscillator_to_the_crystal() {
    let text = "function start
ldc #0x800, isp
jsr.a work
mov.b #0x01, 0x000a
mov.b #0x28, 0x0007
mov.b #0x08, 0x0006
mov.b #0x00, 0x000c
jsr.a work
1: jmp.b 1b
end start
function work
nop
rts
end work
";
    let (_, result) = calls("r8c", text);
    let cycles = result.rows[0].inclusive_cycles;
    check(&result, "r8c", &[(cycles, 15_625.0), (cycles, 20e6)]);
    assert_eq!((result.clocks.slowest_hz, result.clocks.fastest_hz), (15_625, 20_000_000));
}

/// The state does not grow with the changes: `Timeline` holds no list. Time stays right to the end.
#[test]
fn a_clock_that_changes_for_ever_is_followed() {
    let text = "function start
1: ldi r16, 0x80
sts 0x61, r16
ldi r16, 1
sts 0x61, r16
ldi r16, 0x80
sts 0x61, r16
ldi r16, 0
sts 0x61, r16
rjmp 1b
end start
";
    let request =
        Request { functions: vec!["start".into()], max_cycles: 1_400_000, ..request("atmega328p", text) };
    let result = measure(&request);
    // A round of 14 cycles, 6 of them at 8 MHz.
    assert_eq!(result.clocks.changes, 200_000);
    let time_s = result.rows[0].time_s;
    let expected = 100_000.0 * (8.0 / 16e6 + 6.0 / 8e6);
    assert!((time_s / expected - 1.0).abs() < 1e-9, "{time_s} s, not {expected} s");
}
