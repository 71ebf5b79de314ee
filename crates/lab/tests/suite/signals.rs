//! Signals at pins and at the converter, as a file gives them, reach the program at their times.

use crate::bare::{request, set_up, try_measure};
use lab::LabError;
use lab::measure::{MeasureRow, Request};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use vcd::{TimescaleUnit, Value};

/// A rising edge at PD2 (INT0) toggles PB0; it sleeps in between.
const EDGES: &str = "function start
rjmp main
.org 4
rjmp edge
.org 0x40
main: sbi 0x04, 0
ldi r16, 3
sts 0x69, r16
sbi 0x1d, 0
ldi r16, 1
out 0x33, r16
sei
1: sleep
rjmp 1b
end start
function edge
sbi 0x03, 0
reti
end edge
";

/// PB0 is high while the voltage at ADC1 is at least half of the supply: conversions one after the
/// other, 13 cycles of the clock by 16 each.
const HALF: &str = "function start
sbi 0x04, 0
ldi r16, 0x61
sts 0x7c, r16
ldi r16, 0xe4
sts 0x7a, r16
1: lds r16, 0x79
sbrs r16, 7
cbi 0x05, 0
sbrc r16, 7
sbi 0x05, 0
rjmp 1b
end start
";

/// A folder for the files of one test.
fn folder() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("signals-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A request that measures from a rising to a falling edge of PB0, for 20 ms.
fn asked(text: &str, folder: &Path, signals: &str) -> Request {
    let path = folder.join("signals.toml");
    std::fs::write(&path, signals).expect("written");
    let asked = Request { pin: Some("PB0".into()), max_cycles: 320_000, ..request("atmega328p", text) };
    set_up(asked, |setup| setup.signals = Some(path))
}

fn regions(request: &Request) -> Vec<MeasureRow> {
    let result = try_measure(request).expect("it begins");
    result.rows.into_iter().filter(|row| row.kind == "region" && row.calls == 1).collect()
}

/// A list of cycles of intervals and of their beginnings.
fn times(request: &Request) -> (Vec<u64>, Vec<u64>) {
    let regions = regions(request);
    let starts = regions.iter().map(|row| row.start_cycle.expect("an interval begins")).collect();
    (regions.iter().map(|row| row.inclusive_cycles).collect(), starts)
}

#[test]
fn wave_wakes_the_program_at_each_of_its_edges() {
    let wave =
        "[[pin]]\npin = 'PD2'\nwave = { frequency = '1kHz', duty = '25%', from = '1ms', until = '11ms' }\n";
    let (cycles, starts) = times(&asked(EDGES, &folder(), wave));
    // Of ten edges, 1 ms apart at 16 MHz, every second one begins an interval.
    assert_eq!(cycles, [16_000; 5]);
    let gaps: Vec<u64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(gaps, [32_000; 4]);
    assert!((16_000..16_020).contains(&starts[0]), "{starts:?}");
}

#[test]
fn button_bounces_at_each_change() {
    let button = |bounce: &str| {
        let text = format!(
            "[[pin]]\npin = 'PORTD.2'\nbutton = {{ pressed = 1, at = ['2ms', '8ms'], hold = '3ms'{bounce} }}\n"
        );
        times(&asked(EDGES, &folder(), &text)).0.len()
    };
    assert_eq!(button(""), 1);
    // Three contacts before it stays pressed, and three rising ones before it stays released.
    assert_eq!(button(", bounce = '600us'"), 7);
}

#[test]
fn recorded_edges_come_at_the_times_of_the_dump() {
    let folder = folder();
    let mut dump = vcd::Writer::new(File::create(folder.join("line.vcd")).expect("a file"));
    dump.timescale(100, TimescaleUnit::NS).expect("written");
    dump.add_module("top").expect("written");
    let [line, other] = ["line", "other"].map(|name| dump.add_wire(1, name).expect("written"));
    dump.upscope().expect("written");
    dump.enddefinitions().expect("written");
    for (ticks, value) in
        [(0, Value::V0), (10_000, Value::V1), (12_000, Value::X), (15_000, Value::V0), (35_000, Value::V1)]
    {
        dump.timestamp(ticks).expect("written");
        dump.change_scalar(line, value).expect("written");
        dump.change_scalar(other, Value::V1).expect("written");
    }
    drop(dump);
    let signals = "[[pin]]\npin = 'PD2'\nvcd = { file = 'line.vcd', signal = 'top.line' }\n";
    // From 1 ms to 3.5 ms.
    assert_eq!(times(&asked(EDGES, &folder, signals)).0, [40_000]);
}

#[test]
fn voltages_of_a_table_reach_the_converter() {
    let folder = folder();
    std::fs::write(folder.join("ramp.csv"), "time,mv\n0,0\n5e-3,5000\n10e-3,0\n").expect("written");
    let signals =
        "[[analog]]\nchannel = 1\ncsv = { file = 'ramp.csv', column = 'mv', scale = 1e-3, repeat = true }\n";
    let (cycles, starts) = times(&asked(HALF, &folder, signals));
    // Above half from 2.5 ms to 7.5 ms and again from 12.5 ms on, to within two conversions.
    assert_eq!(cycles.len(), 2, "{cycles:?}");
    let near =
        |value: u64, wanted: u64| assert!(value.abs_diff(wanted) < 2 * 13 * 16 + 20, "{value}, not {wanted}");
    cycles.iter().for_each(|cycles| near(*cycles, 80_000));
    near(starts[0], 40_000);
    near(starts[1], 200_000);
}

#[test]
fn steps_hold_their_voltage() {
    let folder = folder();
    std::fs::write(folder.join("steps.csv"), "time_s,v\n0,0\n1e-3,5\n2e-3,0\n").expect("written");
    let signals = "[[analog]]\nchannel = 1\ncsv = { file = 'steps.csv', steps = true }\n";
    let (cycles, _) = times(&asked(HALF, &folder, signals));
    assert!(cycles.len() == 1 && cycles[0].abs_diff(16_000) < 2 * 13 * 16 + 20, "{cycles:?}");
}

/// The error for a file, or for one with this pin's or channel's signal.
fn said(signals: &str) -> String {
    let folder = folder();
    std::fs::write(folder.join("two.csv"), "t,v\n0,1\n0,2\n").expect("written");
    std::fs::write(folder.join("text.csv"), "t,v\n0,one\n").expect("written");
    match try_measure(&asked(EDGES, &folder, signals)).map(|result| result.failure) {
        Err(error @ (LabError::BadFile { .. } | LabError::File { .. })) => error.to_string(),
        other => panic!("{signals}: {other:?}"),
    }
}

#[test]
fn files_that_say_what_cannot_be_are_refused() {
    let pin = |rest: &str| format!("[[pin]]\npin = 'PD2'\n{rest}\n");
    let analog = |rest: &str| format!("[[analog]]\nchannel = 1\n{rest}\n");
    let cases = [
        (String::new(), "it has no signal: give it a table [[pin]], [[analog]] or [[master]]"),
        ("[[pim]]\n".into(), "line 1: unknown field `pim`"),
        (pin(""), "pin PD2: give it one of edges, wave, button and vcd"),
        (pin("").replace("PD2", "PX2"), "pin PX2: write it as PORT.BIT"),
        (pin("").replace("PD2", "PORTE.2"), "there is no port 'PORTE' on the atmega328p"),
        (pin("").replace("PD2", "PC7"), "PORTC of atmega328p has the pins 0, 1, 2, 3, 4, 5, 6"),
        (pin("edges = [['1ms', 2]]"), "2 is no level: write 0, 1 or \"z\""),
        (
            pin("edges = [['2ms', 1], ['1ms', 0]]"),
            "the edge at 1000000 ns follows one at 2000000 ns; times ascend",
        ),
        (pin("edges = []"), "it has no edge"),
        (pin("edges = [['1', 1]]"), "'1' is not a time"),
        (pin("wave = { frequency = '1kHz', duty = '100%' }"), "a wave of 100% has no edge"),
        (pin("wave = { frequency = '100MHz', duty = '5%' }"), "is shorter than 1 ns"),
        (pin("button = { pressed = 0, at = ['200y'], hold = '1ms' }"), "'200y' is not a time"),
        (pin("wave = { frequency = '1kHz', from = '2ms', until = '1ms' }"), "ends before it begins"),
        (pin("button = { pressed = 0, released = 0, at = ['1ms'], hold = '1ms' }"), "are the same"),
        (pin("button = { pressed = 0, at = ['1ms', '1.5ms'], hold = '1ms' }"), "times ascend"),
        (
            pin("button = { pressed = 0, at = ['1ms'], hold = '1ms', bounce = '1ms' }"),
            "longer than its contacts bounce",
        ),
        (pin("vcd = { file = 'gone.vcd', signal = 'a' }"), "gone.vcd: No such file"),
        (pin("vcd = { file = 'two.csv', signal = 'a' }"), "it is no value change dump"),
        (pin("edges = [['0s', 1]]") + &pin("edges = [['0s', 0]]"), "it has two signals; join them"),
        (analog(""), "channel 1: give it one of volts, mains and csv"),
        (analog("volts = '1'").replace("= 1\n", "= 8\n"), "the atmega328p has the channels 0 to 7"),
        (analog("csv = { file = 'two.csv' }"), "line 3: the time 0 s is not after the one before"),
        (analog("csv = { file = 'text.csv' }"), "line 2: 'one' is no number"),
        (analog("csv = { file = 'two.csv', column = 'w' }"), "there is no column 'w'; it has t, v"),
        (analog("volts = '1'") + &analog("volts = '2'"), "it has two signals; leave one out"),
        (
            "[[master]]\nbus = 'TWI'\nat = '0s'\nclock = '1MHz'\naddress = 1\n".into(),
            "master at TWI: atmega328p has no I2C slave 'TWI'",
        ),
    ];
    for (signals, wanted) in cases {
        let said = said(&signals);
        assert!(said.contains(wanted) && said.contains("signals"), "{signals}: {said}");
    }
}

/// P0.13 of an nRF52840 is high while SAADC sees at least 1.8 V at AIN2: conversions of 5 us, one
/// after the other.
const NRF_HALF: &str = ".word 0x20000400
.word start
function start
ldr r0, =0x50000508
ldr r1, =0x50000518
ldr r2, =0x2000
str r2, [r1]
ldr r3, =0x40007500
movs r1, #3
str r1, [r3, #0x10]
movs r1, #0
str r1, [r3, #0x18]
movs r1, #1
str r1, [r3]
ldr r4, =0x400075f0
movs r5, #2
str r5, [r4]
ldr r5, =0x20000100
str r5, [r4, #0x3c]
str r1, [r4, #0x40]
ldr r4, =0x40007000
ldr r6, =0x40007104
1: str r1, [r4]
str r1, [r4, #4]
2: ldr r7, [r6]
cmp r7, #0
beq 2b
movs r7, #0
str r7, [r6]
ldrh r7, [r5]
lsr r7, r7, #11
beq 3f
str r2, [r0]
b 1b
3: str r2, [r0, #4]
b 1b
.ltorg
end start
";

#[test]
fn voltages_of_a_table_reach_the_converter_of_the_nrf52840() {
    let folder = folder();
    std::fs::write(folder.join("steps.csv"), "time_s,v\n0,0\n1e-3,2\n2e-3,1\n").expect("written");
    let path = folder.join("signals.toml");
    std::fs::write(&path, "[[analog]]\nchannel = 2\ncsv = { file = 'steps.csv', steps = true }\n")
        .expect("written");
    let asked = Request { pin: Some("P0.13".into()), max_cycles: 200_000, ..request("nrf52840", NRF_HALF) };
    let (cycles, starts) = times(&set_up(asked, |setup| setup.signals = Some(path)));
    // A millisecond of 64 MHz, to within two turns.
    assert!(cycles.len() == 1 && cycles[0].abs_diff(64_000) < 800, "{cycles:?}");
    assert!(starts[0].abs_diff(64_000) < 800, "{starts:?}");
}

/// PA0 of an STM32F103 goes high with the first byte at SPI1, a slave, and low with the second.
const SPI_SLAVE: &str = ".word 0x20000400
.word start
function start
ldr r0, =0x40021018
ldr r1, =0x1005
str r1, [r0]
ldr r0, =0x40010800
ldr r1, =0x44444442
str r1, [r0]
ldr r2, =0x40013000
ldr r1, =0x240
str r1, [r2]
movs r3, #1
1: ldr r1, [r2, #8]
lsl r1, r1, #31
beq 1b
ldr r1, [r2, #0xc]
str r3, [r0, #0x10]
2: ldr r1, [r2, #8]
lsl r1, r1, #31
beq 2b
str r3, [r0, #0x14]
3: b 3b
.ltorg
end start
";

#[test]
fn master_outside_reaches_the_slave_at_its_time() {
    let folder = folder();
    let path = folder.join("signals.toml");
    std::fs::write(&path, "[[master]]\nbus = 'SPI1'\nat = '2ms'\nclock = '100kHz'\nsend = [1, 2]\n")
        .expect("written");
    let asked = Request { pin: Some("PA0".into()), ..request("stm32f103", SPI_SLAVE) };
    let (cycles, starts) = times(&set_up(asked, |setup| setup.signals = Some(path)));
    // Eight bits of 80 cycles at 8 MHz, and as many from 2 ms to the end of the first byte.
    assert!(cycles.len() == 1 && cycles[0].abs_diff(640) < 20, "{cycles:?}");
    assert!(starts[0].abs_diff(16_640) < 30, "{starts:?}");
}
