//! `check`: a project of somebody's own, with its `wattseal.toml`.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;
use testkit::documents::home;

pub const SOURCE: &str = "#include <avr/io.h>\n#include <avr/sleep.h>\n#include <avr/interrupt.h>\n\
    __attribute__((noinline)) void work(void) { for (uint8_t n = 0; n < ROUNDS; n++) GPIOR0 = n; }\n\
    int main(void) { work(); work(); cli(); sleep_mode(); }\n";

/// A project of one firmware for an ATmega328P, which `make` builds.
pub fn project(settings: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("main.c", SOURCE);
    write(
        "Makefile",
        "ROUNDS ?= 100\nmain.elf: main.c\n\tavr-gcc -mmcu=atmega328p -Os -gdwarf-4 -DROUNDS=$(ROUNDS) -o $@ $<\n",
    );
    write("wattseal.toml", settings);
    folder
}

pub const SETTINGS: &str = "build = \"make --always-make\"\n\n[limits]\ncycles = \"+1%\"\n\n\
    [[firmware]]\nelf = \"main.elf\"\ntarget = \"atmega328p\"\nlimits = { flash = \"1kB\", ram = 64 }\n\n\
    [firmware.functions.work]\ncycles = 1000\nstack = 8\n";

fn check(folder: &Path, arguments: &[&str], rounds: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wattseal"));
    command.arg("check").args(arguments).current_dir(folder);
    command.env("WATTSEAL_HOME", home()).env("ROUNDS", rounds).output().expect("the binary under test runs")
}

fn said(output: &Output, code: i32) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    let (data, remark) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{data}{remark}");
    (data, remark)
}

#[test]
fn a_project_is_built_measured_and_compared() {
    let folder = project(SETTINGS);
    let at = folder.path();
    let (data, remark) = said(&check(at, &[], "100"), 0);
    assert!(data.contains("work") && data.contains("new") && data.contains("(program)"), "{data}");
    assert!(data.lines().all(|line| line.chars().count() <= 80), "{data}");
    assert!(remark.contains("wattseal-baseline.json to compare with; --save writes it"), "{remark}");
    let (_, remark) = said(&check(at, &["--save"], "100"), 0);
    assert!(remark.contains("is the baseline now"), "{remark}");
    let (data, _) = said(&check(at, &[], "100"), 0);
    assert!(data.contains("0 of 2 rows changed"), "{data}");

    // Growth, and then the absolute limit.
    let (data, remark) = said(&check(at, &[], "110"), 1);
    assert!(data.contains("PAST"), "{data}");
    assert!(remark.contains("main.elf atmega328p work (call): cycles grew by "), "{remark}");
    assert!(remark.contains("main.elf atmega328p (program): cycles grew by "), "{remark}");
    let (_, remark) = said(&check(at, &["--save"], "110"), 0);
    assert!(!remark.contains("grew"), "{remark}");
    said(&check(at, &[], "110"), 0);
    let (_, remark) = said(&check(at, &["--save"], "250"), 1);
    assert!(remark.contains("work (call): cycles 1,2") && remark.contains("limit 1,000"), "{remark}");
}

#[test]
fn reports_are_written_beside_the_table() {
    let folder = project(SETTINGS);
    let reports = ["--report", "out.md", "--report", "out.xml", "--report", "out.json"];
    let at = folder.path();
    let (data, _) = said(&check(at, &reports, "100"), 0);
    assert!(data.contains('│'), "{data}");
    let read = |name: &str| std::fs::read_to_string(at.join(name)).expect("a report");
    assert!(read("out.md").starts_with("| row | figure |"));
    assert!(read("out.xml").contains("name=\"wattseal check\" tests=\"2\""));
    let rows: Vec<Value> = serde_json::from_str(&read("out.json")).expect("rows");
    assert!(rows.iter().any(|row| row["figure"] == "flash" && row["limit"] == "1,000"), "{rows:?}");
    let (_, remark) = said(&check(at, &["--report", "out.pdf"], "100"), 2);
    assert!(remark.contains("out.pdf: its name must say the format; there are csv, json, md"), "{remark}");
}

/// A crash is quick, but no improvement, in any format.
#[test]
fn a_run_that_does_not_end_is_an_error_in_every_format() {
    let folder = project(SETTINGS);
    let at = folder.path();
    said(&check(at, &["--save"], "250"), 1);
    let crash = "#include <avr/io.h>\n__attribute__((noinline)) void work(void) {\n\
        for (uint8_t n = 0; n < ROUNDS; n++) GPIOR0 = n;\n\
        if (CRASH) *(volatile uint8_t *)0x8000; }\n\
        int main(void) { work(); work(); return 0; }\n";
    std::fs::write(at.join("main.c"), crash.replace("CRASH", "0")).expect("written");
    said(&check(at, &["--save"], "100"), 0);
    std::fs::write(at.join("main.c"), crash.replace("CRASH", "GPIOR0 == 9")).expect("written");
    let reports = ["--report", "r.md", "--report", "r.xml", "--report", "r.json", "--report", "r.csv"];
    let (data, remark) = said(&check(at, &reports, "10"), 1);
    let read = |name: &str| std::fs::read_to_string(at.join(name)).expect("a report");
    let (markdown, xml, csv) = (read("r.md"), read("r.xml"), read("r.csv"));
    for text in [&data, &markdown, &xml, &csv, &remark] {
        assert!(text.contains("0x00808000") && text.contains("main.c:4"), "{text}");
    }
    let first = markdown.lines().next().expect("a line");
    assert!(first.starts_with("**main.elf atmega328p did not end as it should"), "{markdown}");
    let rows: Vec<&str> = markdown.lines().filter(|line| line.starts_with("| main.elf")).collect();
    assert!(!rows.is_empty() && rows.iter().all(|row| row.contains("| – |  | no end |")), "{markdown}");
    assert!(xml.contains("errors=\"2\"") && xml.contains("<error message="), "{xml}");
    let rows: Vec<Value> = serde_json::from_str(&read("r.json")).expect("rows");
    for row in &rows {
        assert_eq!((&row["ended"]["how"], &row["change"]), (&"fault".into(), &Value::Null), "{row}");
        let place = row["ended"]["where"].as_str().expect("a place");
        assert!(
            place.starts_with("0x") && place.contains(" in work+") && place.ends_with("main.c:4"),
            "{place}"
        );
    }
    let header = csv.lines().next().expect("a header");
    assert!(header.ends_with("wrong,ended_how,ended_where,ended_why") && csv.contains(",fault,"), "{csv}");
}

/// One ELF file that cannot be read takes nothing from the others.
#[test]
fn unreadable_file_is_an_error_beside_the_other_rows() {
    let missing = "\n[[firmware]]\nelf = \"gone.elf\"\ntarget = \"atmega328p\"\n";
    let folder = project(&format!("{SETTINGS}{missing}"));
    let at = folder.path();
    let (data, remark) = said(&check(at, &["--report", "r.xml"], "100"), 1);
    assert!(data.contains("work") && data.contains("gone.elf atmega328p did not end"), "{data}");
    assert!(remark.contains("gone.elf: No such file"), "{remark}");
    let xml = std::fs::read_to_string(at.join("r.xml")).expect("a report");
    assert!(xml.contains("errors=\"1\"") && xml.contains("tests=\"3\""), "{xml}");
}

#[test]
fn a_lost_wake_up_is_an_error_unless_it_is_the_end() {
    let folder = project(SETTINGS);
    let at = folder.path();
    std::fs::write(at.join("main.c"), SOURCE.replace("cli()", "sei()")).expect("written");
    let (_, remark) = said(&check(at, &["--report", "r.xml"], "100"), 1);
    assert!(
        remark.contains("is asleep, and nothing can wake it") && remark.contains("ends_asleep"),
        "{remark}"
    );
    let xml = std::fs::read_to_string(at.join("r.xml")).expect("a report");
    assert!(xml.contains("errors=\"2\""), "{xml}");
    let settings = SETTINGS.replace("\nlimits", "\nends_asleep = true\nlimits");
    std::fs::write(at.join("wattseal.toml"), settings).expect("written");
    said(&check(at, &[], "100"), 0);
}

/// A program that waits for a line, and takes longer over a longer one.
#[test]
fn input_is_sent_to_the_program() {
    let source = "#include <avr/io.h>\n#include <avr/sleep.h>\n#include <avr/interrupt.h>\n\
        __attribute__((noinline)) void line(void) { uint8_t c; do { while (!(UCSR0A & 1 << RXC0)); c = UDR0; } while (c != 10); }\n\
        int main(void) { UBRR0 = 8; UCSR0B = 1 << RXEN0; line(); cli(); sleep_mode(); }\n";
    let settings =
        SETTINGS.replace("functions.work]\ncycles = 1000\nstack = 8", "functions.line]\ncycles = 40000");
    let folder = project(&settings.replace("\nlimits", "\ninput = \"line.txt\"\nlimits"));
    let at = folder.path();
    std::fs::write(at.join("main.c"), source).expect("written");
    std::fs::write(at.join("line.txt"), "ten bytes\n").expect("written");
    let (data, _) = said(&check(at, &[], "0"), 0);
    assert!(data.contains("line"), "{data}");
    // Ten bits of 144 cycles each for a byte.
    std::fs::write(at.join("line.txt"), format!("{:60}\n", "")).expect("written");
    let (_, remark) = said(&check(at, &[], "0"), 1);
    assert!(remark.contains("line (call): cycles ") && remark.contains("limit 40,000"), "{remark}");
    std::fs::remove_file(at.join("line.txt")).expect("there");
    let (_, remark) = said(&check(at, &[], "0"), 1);
    assert!(remark.contains("line.txt: No such file"), "{remark}");
}

#[test]
fn paths_are_relative_to_the_file() {
    let folder = project(SETTINGS);
    let elsewhere = tempfile::tempdir().expect("a folder");
    let path = folder.path().display().to_string();
    said(&check(elsewhere.path(), &[&path, "--save"], "100"), 0);
    assert!(folder.path().join("wattseal-baseline.json").exists());
    said(&check(elsewhere.path(), &[&format!("{path}/wattseal.toml")], "100"), 0);
}

#[test]
fn check_explains_an_impossible_project() {
    let failing = project(&SETTINGS.replace("make --always-make", "echo no compiler >&2; false"));
    let (data, remark) = said(&check(failing.path(), &[], "100"), 1);
    assert!(data.is_empty() && remark.contains("no compiler"), "{remark}");
    assert!(remark.contains("build: echo no compiler >&2; false: exit status: 1"), "{remark}");

    let folder = project(&SETTINGS.replace("work]", "wrok]"));
    let (_, remark) = said(&check(folder.path(), &["--save"], "100"), 2);
    assert!(remark.contains("there is no function 'wrok'; did you mean work"), "{remark}");
    assert!(!folder.path().join("wattseal-baseline.json").exists());

    let typo = project(&SETTINGS.replace("target", "tagret"));
    let (_, remark) = said(&check(typo.path(), &[], "100"), 2);
    assert!(remark.contains("wattseal.toml:8: there is no key 'tagret'; did you mean target?"), "{remark}");

    let nothing = tempfile::tempdir().expect("a folder");
    let (_, remark) = said(&check(nothing.path(), &[], "100"), 1);
    assert!(remark.contains("wattseal.toml: No such file"), "{remark}");
}
