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
        "ROUNDS ?= 100\nmain.elf: main.c\n\tavr-gcc -mmcu=atmega328p -Os -g -DROUNDS=$(ROUNDS) -o $@ $<\n",
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
fn what_cannot_be_checked_says_why() {
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
