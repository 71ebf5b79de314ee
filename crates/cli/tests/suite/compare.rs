//! `--save`, `--against` and `--fail-over`; Markdown and JUnit; many ELF files; tables of 80
//! columns.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;
use testkit::documents::home;

fn wattseal(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wattseal"));
    command.env("WATTSEAL_HOME", home()).current_dir(folder).args(line.split(' '));
    command.output().expect("the binary under test runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Returns the output, after checking the exit code.
fn said(folder: &Path, line: &str, code: i32) -> (String, String) {
    let output = wattseal(folder, line);
    let (data, remark) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{line}: {data}{remark}");
    assert!(!remark.contains("panicked"), "{remark}");
    (data, remark)
}

/// Calls `work` five times, each of which takes `rounds` rounds of a loop.
fn firmware(folder: &Path, name: &str, rounds: u32) -> PathBuf {
    let source = folder.join("firmware.c");
    let program = format!(
        "#include <avr/io.h>\n#include <avr/sleep.h>\n#include <avr/interrupt.h>\n\
         __attribute__((noinline)) void work(void) {{ for (uint8_t n = 0; n < {rounds}; n++) GPIOR0 = n; }}\n\
         int main(void) {{ for (uint8_t n = 0; n < 5; n++) work(); cli(); sleep_mode(); }}\n"
    );
    std::fs::write(&source, program).expect("written");
    let elf = folder.join(name);
    let mut compiler = Command::new("avr-gcc");
    compiler.args(["-mmcu=atmega328p", "-Os", "-g", "-o"]).args([&elf, &source]);
    assert!(compiler.status().expect("avr-gcc is installed").success());
    elf
}

/// A folder with two versions of one firmware, the second one slower.
fn versions() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    firmware(folder.path(), "old.elf", 100);
    firmware(folder.path(), "new.elf", 110);
    folder
}

const MEASURE: &str = "--target atmega328p --function work --calls 5";

#[test]
fn measure_shows_what_changed_and_fails_past_the_limit() {
    let folder = versions();
    let at = folder.path();
    said(at, &format!("measure old.elf {MEASURE} --save base.json"), 0);
    let saved: Vec<Value> =
        serde_json::from_slice(&std::fs::read(at.join("base.json")).expect("saved")).expect("rows");
    assert_eq!(saved.len(), 5 + 1);
    let (data, _) = said(at, &format!("measure old.elf {MEASURE} --against base.json --fail-over 0%"), 0);
    assert_eq!(data, "0 of 2 rows changed, 0 new, 0 gone\n");

    let (data, _) = said(at, &format!("measure new.elf {MEASURE} --against base.json"), 0);
    assert!(data.contains("work") && data.contains("cycles") && !data.contains("PAST"), "{data}");
    let grown = format!("measure new.elf {MEASURE} --against base.json --fail-over 1%");
    let (data, remark) = said(at, &grown, 1);
    assert!(data.contains("PAST") && data.contains("2 of 2 rows changed"), "{data}");
    assert!(remark.contains("new.elf atmega328p work (call): cycles grew by "), "{remark}");
    assert!(remark.contains("limit +1 %"), "{remark}");
    said(at, &grown.replace("1%", "50%"), 0);
    // What became less fails nothing.
    said(at, &format!("measure new.elf {MEASURE} --save base.json"), 0);
    let (data, _) = said(at, &format!("measure old.elf {MEASURE} --against base.json --fail-over 0%"), 0);
    assert!(data.contains(" -8."), "{data}");

    let (data, _) = said(at, &format!("measure old.elf {MEASURE} --against base.json --format json"), 0);
    let rows: Vec<Value> = serde_json::from_str(&data).expect("rows");
    let cycles = rows.iter().find(|row| row["row"] == "old.elf atmega328p work (call)").expect("work");
    assert_eq!((&cycles["figure"], &cycles["state"]), (&json!("cycles"), &json!("known")));
    assert!(cycles["percent"].as_f64() < Some(-8.0) && cycles["passed"] == true, "{cycles}");
}

#[test]
fn rows_that_are_new_and_gone_are_named() {
    let folder = versions();
    let at = folder.path();
    said(at, &format!("measure old.elf {MEASURE} --save base.json"), 0);
    let (data, _) =
        said(at, "measure old.elf --target atmega328p --function main --calls 1 --against base.json", 0);
    let line = |name: &str| data.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{data}"));
    assert!(line("main").contains("new") && line("work").contains("gone"), "{data}");
    assert!(data.contains("0 of 1 rows changed, 1 new, 1 gone"), "{data}");
}

#[test]
fn compare_refuses_a_bad_baseline_before_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let refused = |content: &str| {
        std::fs::write(at.join("base.json"), content).expect("written");
        // The ELF file is not there: nothing has been run.
        let (data, remark) = said(at, "measure none.elf --target atmega328p --against base.json", 1);
        assert!(data.is_empty() && remark.contains("base.json: "), "{remark}");
        remark
    };
    assert!(refused("").contains("not JSON"));
    assert!(refused("{}").contains("not an array of rows"));
    let remark = refused("[{\"target\": \"atmega328p\", \"op\": \"sha1\"}]");
    assert!(remark.contains("row 1 has no text 'firmware'"), "{remark}");
    assert!(remark.contains("--save of wattseal measure writes such a file"), "{remark}");
    let (_, remark) = said(at, "measure none.elf --target atmega328p --against nowhere.json", 1);
    assert!(remark.contains("nowhere.json: No such file"), "{remark}");
    let (_, remark) = said(at, "measure none.elf --target atmega328p --save no/such/folder.json", 1);
    assert!(remark.contains("no/such/folder.json"), "{remark}");
    let (_, remark) = said(at, "measure none.elf --target atmega328p --fail-over 1%", 2);
    assert!(remark.contains("--against"), "{remark}");
    let (_, remark) = said(at, "measure none.elf --target atmega328p --against base.json --fail-over 1", 2);
    assert!(remark.contains("'1' is not a growth: write 1%"), "{remark}");
}

/// A run that fails leaves the baseline as it was, and none where there was none.
#[test]
fn a_failed_run_saves_nothing() {
    let folder = versions();
    let at = folder.path();
    let fails = "measure old.elf --target atmega328p --function work --calls 9 --save base.json";
    said(at, fails, 1);
    assert!(!at.join("base.json").exists());
    std::fs::write(at.join("base.json"), "[]").expect("written");
    said(at, fails, 1);
    assert_eq!(std::fs::read_to_string(at.join("base.json")).expect("there"), "[]");
}

#[test]
fn bench_and_ct_compare_alike() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for (command, field) in [("bench", "/cycles/mean"), ("ct", "/cycles")] {
        let line = format!("{command} --target atmega328p --op sha1 --variant small --runs 2");
        let line = if command == "ct" { line + " --public" } else { line };
        said(at, &format!("{line} --save base.json"), 0);
        let (data, _) = said(at, &format!("{line} --against base.json --fail-over 0%"), 0);
        assert_eq!(data, "0 of 1 rows changed, 0 new, 0 gone\n");
        let mut rows: Vec<Value> =
            serde_json::from_slice(&std::fs::read(at.join("base.json")).expect("saved")).expect("rows");
        let cycles = rows[0].pointer_mut(field).expect("cycles");
        *cycles = json!(cycles.as_f64().expect("a number") / 2.0);
        std::fs::write(at.join("base.json"), Value::from(rows).to_string()).expect("written");
        let (data, _) = said(at, &format!("{line} --against base.json --fail-over 1%"), 1);
        assert!(data.contains("sha1 small") && data.contains("+100.00 PAST"), "{data}");
    }
    // A leak fails whatever was before.
    let leak = "ct --target atmega328p --op aes128-encrypt --variant fast --runs 4 --strict --format junit";
    let (data, _) = said(at, leak, 1);
    assert!(data.contains("failures=\"1\"") && data.contains("<failure message=\"VARIABLE: "), "{data}");
}

#[test]
fn many_files_are_one_table() {
    let folder = versions();
    let at = folder.path();
    let (data, _) = said(at, &format!("measure old.elf new.elf {MEASURE}"), 0);
    for name in ["old.elf", "new.elf", "(program)"] {
        assert!(data.contains(name), "{data}");
    }
    assert_eq!(data.matches("firmware").count(), 1, "{data}");
    let (_, remark) = said(at, "measure old.elf new.elf --target atmega328p --flamegraph a.svg", 2);
    assert!(remark.contains("are of one ELF file"), "{remark}");
}

#[test]
fn servers_get_markdown_and_junit() {
    let folder = versions();
    let at = folder.path();
    let (data, _) = said(at, &format!("measure old.elf {MEASURE} --format markdown"), 0);
    assert!(data.starts_with("| what | name | calls |") && data.contains("\n| --- | --- | ---: |"), "{data}");
    said(at, &format!("measure old.elf {MEASURE} --save base.json"), 0);
    let against = format!("measure new.elf {MEASURE} --against base.json --fail-over 1%");
    let (data, _) = said(at, &format!("{against} --format markdown"), 1);
    assert!(data.starts_with("| row | figure | before | now |"), "{data}");
    assert!(data.contains("| new.elf atmega328p work (call) | cycles |"), "{data}");
    assert!(data.contains("PAST") && data.contains("2 of 2 rows changed"), "{data}");
    let (data, _) = said(at, &format!("{against} --format junit"), 1);
    assert!(data.starts_with("<?xml") && data.contains("name=\"wattseal measure\" tests=\"2\""), "{data}");
    assert!(data.contains("<failure message=\"cycles grew by "), "{data}");
    let (data, _) = said(at, &format!("measure old.elf {MEASURE} --format junit"), 0);
    assert!(data.contains("failures=\"0\"") && data.contains("<testcase"), "{data}");
}

/// Fewer columns, one line for many calls; all of it with --wide. No colours in a pipe.
#[test]
fn tables_fit_80_columns() {
    let folder = versions();
    let at = folder.path();
    // A paper's notes stand below its tables.
    let is_table = |line: &&str| line.starts_with(['┌', '│', '╞', '└']);
    let width =
        |data: &str| data.lines().filter(is_table).map(|line| line.chars().count()).max().unwrap_or(0);
    let lines = [
        format!("measure old.elf {MEASURE}"),
        "measure old.elf --target atmega328p".into(),
        "bench --target atmega328p --op aes128-gcm-* --runs 1".into(),
        "ct --target atmega328p --op aes128-encrypt --runs 2".into(),
        "plan --target msp430f5438a --scheme ecdsa-secp160r1 --energy 2mJ --supply 2.0".into(),
        "reproduce mane2014".into(),
    ];
    for line in &lines {
        let (data, _) = said(at, line, 0);
        assert!((40..=80).contains(&width(&data)) && !data.contains('\u{1b}'), "{line}\n{data}");
        let (wide, _) = said(at, &format!("{line} --wide"), 0);
        assert!(width(&wide) >= width(&data), "{line}\n{wide}");
    }
    let (data, _) = said(at, &lines[0], 0);
    assert_eq!(data.matches("work").count(), 1, "{data}");
    assert!(data.contains("each of them with --wide"), "{data}");
    let (data, _) = said(at, &format!("{} --wide", lines[0]), 0);
    assert_eq!((data.matches("work").count(), data.contains("at cycle")), (5, true), "{data}");
}

#[test]
fn nonsense_is_refused() {
    let folder = versions();
    let at = folder.path();
    let refused =
        |rest: &str, code: i32| said(at, &format!("measure old.elf --target atmega328p {rest}"), code).1;
    assert!(refused("--function work --calls 0", 2).contains("'0' is not above 0"));
    let error = refused("--pin PORTB.9", 2);
    assert!(error.contains("PORTB of atmega328p has the pins 0, 1, 2, 3, 4, 5, 6, 7"), "{error}");
    assert!(refused("--pin PORTC.7", 2).contains("has the pins 0, 1, 2, 3, 4, 5, 6\n"));
    assert!(refused("--pin PORTB.x", 2).contains("write it as PORT.BIT"));
    let error = refused("--marker main", 2);
    assert!(error.contains("--marker main: it is a function, which nothing writes"), "{error}");
    // What is seen only by running: the rows are there, the exit code is that of a failure.
    assert!(refused("--pin PORTB.5", 1).contains("PORTB.5 did not rise within"));
    let error = refused("--marker 0x800100", 1);
    assert!(error.contains("0x800100 was not written, within"), "{error}");
}
