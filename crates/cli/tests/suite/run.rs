//! `wattseal run`: programs that speak, listen and end, as on a board.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/run");

/// A program of the folder `run`, compiled and linked.
fn built(source: &str, compiler: &str, flags: &[&str]) -> PathBuf {
    // Tests run side by side.
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let elf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("run-{number}-{source}.elf"));
    let output = Command::new(compiler)
        .args(["-Os", "-g", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&elf)
        .args(flags)
        .arg(Path::new(SOURCES).join(source))
        .output()
        .expect("the compiler runs");
    assert!(output.status.success(), "{source}: {}", String::from_utf8_lossy(&output.stderr));
    elf
}

fn arm(source: &str) -> PathBuf {
    arm_with(source, &[])
}

fn arm_with(source: &str, more: &[&str]) -> PathBuf {
    let places = [".vectors=0x08000000", ".text=0x08000100", ".buffers=0x20000000"];
    let places = places.map(|place| format!("-Wl,--section-start={place}"));
    let flags = ["-mcpu=cortex-m4", "-mthumb", "-nostdlib", "-Wl,-estart"].map(str::to_owned);
    let flags: Vec<&str> =
        flags.iter().chain(&places).map(String::as_str).chain(more.iter().copied()).collect();
    built(source, "arm-none-eabi-gcc", &flags)
}

pub fn avr(source: &str) -> PathBuf {
    built(source, "avr-gcc", &["-mmcu=atmega328p"])
}

pub fn run_with(elf: &Path, target: &str, options: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_wattseal"))
        .env("WATTSEAL_HOME", Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .arg("run")
        .arg(elf)
        .args(["--target", target])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary under test runs");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it is read");
    child.wait_with_output().expect("it ends")
}

fn run(elf: &Path, target: &str, options: &[&str]) -> (Option<i32>, String, String) {
    let output = run_with(elf, target, options, "");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn input_reaches_the_uart_and_main_s_result_is_the_exit_code() {
    let echo = avr("echo.c");
    for (input, shouted, code) in [("hello\n", "HELLO\n", 6), ("\n", "\n", 1), ("Wh\n", "WH\n", 3)] {
        let output = run_with(&echo, "atmega328p", &["--input", "-"], input);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("ready\n{shouted}"), "{said}");
        assert_eq!(output.status.code(), Some(code), "{said}");
    }
    // Where _exit ends nothing, what follows it does: avr-libc's loop for ever.
    let output = run_with(&echo, "atmega328p", &["--input", "-", "--exit", "none"], "hello\n");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("run-input");
    std::fs::write(&file, "file\n").expect("written");
    let file = file.display().to_string();
    let (code, out, said) = run(&echo, "atmega328p", &["--input", &file, "--uart", "USART0"]);
    assert_eq!((code, out.as_str()), (Some(5), "ready\nFILE\n"), "{said}");
}

#[test]
fn run_ends_an_endless_wait_as_a_failure() {
    let echo = avr("echo.c");
    let (code, out, said) = run(&echo, "atmega328p", &["--time", "20ms"]);
    assert_eq!((code, out.as_str()), (Some(1), "ready\n"), "{said}");
    assert!(said.contains("had not ended after --time 0.02s"), "{said}");
    let (code, _, said) = run(&echo, "atmega328p", &["--max-cycles", "1e5"]);
    assert!(code == Some(1) && said.contains("--max-cycles 100000"), "{said}");
}

/// A remark explains how to read defmt's frames, which look like nothing, unless they were asked
/// for.
#[test]
fn a_log_by_defmt_is_named() {
    let logs = arm_with("ports.c", &["-Wl,--defsym=_defmt_version_=4"]);
    let says = |options: &[&str]| run(&logs, "stm32f407", options).2.contains("RTT.0 | defmt-print -e ");
    assert!(says(&[]) && !says(&["--port", "RTT.0"]));
    assert!(!run(&arm("ports.c"), "stm32f407", &[]).2.contains("defmt"));
}

#[test]
fn semihosting_itm_and_rtt_come_out_by_their_names() {
    let ports = arm("ports.c");
    let (code, out, said) = run(&ports, "stm32f407", &[]);
    assert_eq!(code, Some(42), "{said}");
    for text in ["by semihosting\n", "by ITM\n", "by RTT 0\n", "by RTT 99\n"] {
        assert!(out.contains(text), "{out}");
    }
    for (port, text) in [("semihosting", "by semihosting\n"), ("ITM.0", "by ITM\n")] {
        assert_eq!(run(&ports, "stm32f407", &["--port", port]).1, text);
    }
    let numbered: String = (0..100).map(|line| format!("by RTT {line}\n")).collect();
    assert_eq!(run(&ports, "stm32f407", &["--port", "RTT.0"]).1, numbered, "all lines, each once");
}

#[test]
fn each_port_keeps_its_lines_whole() {
    let (code, out, said) = run(&arm("mixed.c"), "stm32f407", &[]);
    assert_eq!((code, out.as_str()), (Some(0), "begun, ended\nby semihosting\n"), "{said}");
}

/// A program that sleeps for good has ended, its timer has not: with a time the pin is looked at up
/// to then.
#[test]
fn peripherals_go_on_after_the_program_up_to_the_time() {
    let pwm = avr("pwm.c");
    let (code, _, said) = run(&pwm, "atmega328p", &[]);
    assert!(code == Some(0) && said.contains("the program ended") && said.contains("--time"), "{said}");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("run-pwm.vcd");
    let vcd = file.display().to_string();
    let (code, _, said) = run(&pwm, "atmega328p", &["--time", "10ms", "--vcd", &vcd]);
    assert!(code == Some(0) && said.contains("went on until --time 0.01s"), "{said}");
    assert!(said.contains("; 160000 cycles"), "{said}");
    // PD6 changes every 256 cycles of 62.5 ns, 16 us: 625 times, and a few lines more say what
    // there is.
    let lines = std::fs::read_to_string(&file).expect("written").lines().count();
    assert!((1200..1500).contains(&lines), "{lines}");
    // Where nothing goes on, the end is the end.
    let (_, _, said) = run(&avr("exit.c"), "atmega328p", &["--exit", "done", "--time", "10ms"]);
    assert!(said.contains("exited with 17"), "{said}");
}

/// A lost wake-up is no end; sleep with interrupts off is one (`pwm.c`).
#[test]
fn a_program_that_has_lost_its_wake_up_fails() {
    let asleep = avr("asleep.c");
    for options in [&[][..], &["--time", "10ms"]] {
        let (code, _, said) = run(&asleep, "atmega328p", options);
        assert!(
            code == Some(1) && said.contains("is asleep, and nothing can wake it"),
            "{options:?}: {said}"
        );
        assert!(said.contains("in main+"), "{said}");
        let (code, _, said) = run(&asleep, "atmega328p", &[options, &["--ends-asleep"]].concat());
        assert!(code == Some(0) && said.contains("is asleep, and nothing can wake it"), "{said}");
    }
}

/// Start-up is no interrupt, whichever of its names comes first.
#[test]
fn start_up_is_called_so() {
    let elf = avr("three.c").display().to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_wattseal"));
    command.args(["measure", &elf, "--target", "atmega328p"]);
    let output = command.env("WATTSEAL_HOME", testkit::documents::home()).output().expect("it runs");
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(table.contains("(start-up)") && !table.contains("__vector"), "{table}");
}

#[test]
fn an_exit_code_that_nobody_knows_is_a_failure() {
    let (whole, stripped) = (avr("three.c"), built("three.c", "avr-gcc", &["-mmcu=atmega328p", "-s"]));
    assert_eq!(run(&whole, "atmega328p", &[]).0, Some(3));
    let (code, _, said) = run(&stripped, "atmega328p", &[]);
    assert!(
        code == Some(1) && said.contains("its exit code is not known") && said.contains("--exit"),
        "{said}"
    );
    assert_eq!(run(&stripped, "atmega328p", &["--exit", "none"]).0, Some(0));
}

/// BOOTSZ 11 is the boot section at 0x7e00, BOOTRST the lowest bit of the high byte; low 0x62 is
/// the factory's oscillator by 8.
#[test]
fn fuse_starts_a_program_in_the_boot_section() {
    let flags = ["-mmcu=atmega328p", "-Wl,--section-start=.text=0x7e00"];
    let boot = built("three.c", "avr-gcc", &flags);
    for high in ["high=0xDE", "high=222"] {
        assert_eq!(run(&boot, "atmega328p", &["--fuse", high]).0, Some(3));
    }
    let (code, _, said) = run(&boot, "atmega328p", &[]);
    assert!(code == Some(2) && said.contains("give --fuse high=0xfe"), "{said}");
    assert_eq!(run(&boot, "atmega328p", &["--fuse", "high=0xD8"]).0, Some(2), "at 0x7000 there is nothing");
    let time = |fuse: &[&str]| run(&avr("three.c"), "atmega328p", fuse).2;
    assert_ne!(time(&["--fuse", "low=0x62"]), time(&[]), "a sixteenth of the clock");
    for (fuse, words) in
        [("height=1", "bytes are low, high and extended"), ("high=0x1FF", "such as high=0xD8")]
    {
        let (code, _, said) = run(&boot, "atmega328p", &["--fuse", fuse]);
        assert!(code == Some(2) && said.contains(words), "{said}");
    }
    let (code, _, said) = run(&arm("alias.c"), "stm32f407", &["--fuse", "low=0"]);
    assert!(code == Some(2) && said.contains("the stm32f407 has no fuses"), "{said}");
}

#[test]
fn a_fault_at_registers_without_a_model_names_them() {
    for (source, words) in [
        ("alias.c", ["0x40003400", "alias 0x4206802c", "--stub I2S2ext"]),
        ("wild.c", ["fetch", "0x40003400", "registers of I2S2ext"]),
    ] {
        let (code, _, said) = run(&arm(source), "stm32f407", &[]);
        assert!(code == Some(1) && words.iter().all(|word| said.contains(word)), "{source}: {said}");
    }
}

/// The cause, not what it led to: no function reaches where no code is, and erased flash is no odd
/// instruction.
#[test]
fn a_fault_names_its_cause() {
    let (code, _, said) = run(&avr("erased.c"), "atmega328p", &[]);
    assert!(code == Some(1) && said.contains("that is erased flash: a wild jump"), "{said}");
    assert!(said.contains("outside of the program's code") && !said.contains("+0x"), "{said}");
    let other = built("echo.c", "avr-gcc", &["-mmcu=atmega2560"]);
    let (code, _, said) = run(&other, "attiny85", &["--max-cycles", "1e6"]);
    assert!(
        code == Some(1) && said.contains("built for the atmega2560") && said.contains("--target atmega2560"),
        "{said}"
    );
}

/// `run` enters the handler of a fault and says so; `--stop-on-fault` ends there, as `measure`
/// does, which `=false` lets go on.
#[test]
fn fault_enters_its_handler_and_is_told() {
    let fault = arm("fault.c");
    let (code, out, said) = run(&fault, "stm32f407", &[]);
    assert_eq!((code, out.as_str()), (Some(5), "division by zero\n"), "{said}");
    assert!(said.contains("HardFault entered at cycle ") && said.contains("division by zero"), "{said}");
    assert!(said.contains("start"), "the function's name: {said}");
    let (code, out, said) = run(&fault, "stm32f407", &["--stop-on-fault"]);
    assert!(code == Some(1) && out.is_empty() && said.contains("division by zero"), "{said}");
    assert!(!said.contains("entered"), "{said}");
    for (options, stops) in [(&[][..], true), (&["--stop-on-fault=false"], false)] {
        let output = Command::new(env!("CARGO_BIN_EXE_wattseal"))
            .env("WATTSEAL_HOME", Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
            .arg("measure")
            .arg(&fault)
            .args(["--target", "stm32f407", "--function", "hard_fault"])
            .args(options)
            .output()
            .expect("the binary under test runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(said.contains("division by zero"), stops, "{options:?}: {said}");
    }
}

/// The machine has the supply that is asked for, or the target's.
#[test]
fn supply_reaches_the_converter() {
    let elf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("run-avr_vcc_bandgap.elf");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcu/tests/suite/ordinary/avr_vcc_bandgap.c");
    let mut compiler = Command::new("avr-gcc");
    let status =
        compiler.args(["-Os", "-mmcu=atmega328p", "-DF_CPU=16000000UL", "-o"]).arg(&elf).arg(source).status();
    assert!(status.expect("the compiler runs").success());
    for (options, code) in [(&[][..], "225"), (&["--supply", "3.3V", "--clock", "8MHz"], "341")] {
        let (_, out, said) = run(&elf, "atmega328p", options);
        assert_eq!(out.trim(), code, "{options:?}: {said}");
    }
}

/// Boards outside of the data sheet do not end a run, nor do stubs: the end names both.
#[test]
fn the_end_says_what_the_run_passed_over() {
    let (_, _, said) = run(&arm("fast_adc.c"), "stm32f407", &["--clock", "168M", "--max-cycles", "1e6"]);
    let end = "passed over 1 times: ADC1 converts at 84 MHz; the data sheet allows 36 MHz";
    assert!(said.contains(end) && !said.contains("model"), "{said}");
    let (_, _, said) = run(&arm("alias.c"), "stm32f407", &["--stub", "I2S2ext", "--max-cycles", "1e6"]);
    assert!(said.contains("I2S2ext only remembered what was written: 1 reads, 0 writes"), "{said}");
}

/// The same program on each family: its exit code is `_exit`'s argument, or that of a function that
/// is named.
#[test]
fn a_function_s_argument_is_the_exit_code() {
    let families = [("stm32f407", arm("exit.c")), ("atmega328p", avr("exit.c"))];
    for (target, elf) in &families {
        let (code, _, said) = run(elf, target, &["--exit", "done"]);
        assert_eq!(code, Some(17), "{target}: {said}");
        let (code, _, said) = run(elf, target, &["--exit", "dome"]);
        assert!(code == Some(2) && said.contains("did you mean done"), "{target}: {said}");
    }
}

/// A look at what goes in and out just where the program ends must not pass over its end.
#[test]
fn the_end_is_seen_also_at_the_last_cycle_of_a_limit() {
    let elf = avr("exit.c");
    let (_, _, said) = run(&elf, "atmega328p", &["--exit", "done"]);
    let cycles = said.split_once("; ").and_then(|(_, rest)| rest.split_once(" cycles")).expect("cycles").0;
    let (code, _, said) = run(&elf, "atmega328p", &["--exit", "done", "--max-cycles", cycles]);
    assert_eq!(code, Some(17), "{said}");
}

#[test]
fn run_refuses_impossible_requests() {
    let ports = arm("ports.c");
    let echo = avr("echo.c");
    for (elf, target, options, words) in [
        (&echo, "atmega328p", vec!["--uart", "USART0"], "--input"),
        (&echo, "atmega328p", vec!["--uart", "USART1", "--input", "-"], "did you mean USART0"),
        // It would hide all that the program says.
        (&echo, "atmega328p", vec!["--port", "USART1", "--max-cycles", "1e5"], "did you mean USART0"),
        (&echo, "atmega328p", vec!["--port", "PORTB", "--max-cycles", "1e5"], "there is no port 'PORTB'"),
        (&ports, "stm32f407", vec!["--port", "ITM.x"], "did you mean ITM.0"),
        (&ports, "stm32f407", vec!["--time", "5"], "167ms"),
        (&ports, "stm32f407", vec!["--max-cycles", "0"], "1e6"),
        (&ports, "stm32f407", vec!["--supply", "9V"], "9"),
        (&ports, "atmega328p", vec![], "AVR"),
    ] {
        let (code, out, said) = run(elf, target, &options);
        assert!(matches!(code, Some(1 | 2)) && out.is_empty(), "{options:?}: {code:?} {out} {said}");
        assert!(said.contains(words), "{options:?}: {said}");
    }
}
