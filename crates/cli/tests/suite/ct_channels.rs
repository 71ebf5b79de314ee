//! Parts on which the time of an access depends on its address, as the page on constant time has
//! them.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Two look-ups in tables of 512 bytes: one constant, one in RAM.
const SOURCE: &str = "#include <stdint.h>
#define R(x) x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7
#define S(x) R(x), R(x + 8), R(x + 16), R(x + 24), R(x + 32), R(x + 40), R(x + 48), R(x + 56)
static const uint8_t constant[512] = {S(0), S(1), S(2), S(3), S(4), S(5), S(6), S(7)};
uint8_t variable[512] = {S(0), S(1), S(2), S(3), S(4), S(5), S(6), S(7)};
uint8_t in_flash(uint8_t a, uint8_t b) { return constant[a] ^ constant[2 * b + 1]; }
uint8_t in_ram(uint8_t a, uint8_t b) { return variable[a] ^ variable[2 * b + 1]; }
";

/// Parts of each core whose accesses take one time each.
const CONSTANT: [&str; 12] = [
    "atmega128l",
    "atmega2560",
    "atmega324pa",
    "atmega328p",
    "atmega32u4",
    "ch32v003",
    "i8051",
    "mc68hc08",
    "msp430f5438a",
    "stm32f051",
    "stm32f100",
    "stm32f103",
];

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Cycles of a function on targets, as the page has them: `14`, or `14 to 94`.
fn measured(function: &str, targets: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("look.c");
    fs::write(&path, SOURCE).expect("written");
    let output = Command::new(env!("CARGO_BIN_EXE_wattseal"))
        .env("WATTSEAL_HOME", home())
        .arg("measure")
        .arg(&path)
        .args(["--call", &format!("{function}(?, ?)"), "--runs", "40", "--format", "json"])
        .args(targets.iter().flat_map(|target| ["--target", target]))
        .output()
        .expect("the binary under test runs");
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    let ranges = rows.iter().map(|row| {
        let [least, most] = ["min", "max"].map(|field| row["cycles"][field].as_u64().expect("cycles"));
        if least == most { least.to_string() } else { format!("{least} to {most}") }
    });
    ranges.collect()
}

/// Rows of the page's table: the target, and the cycles of each function.
fn rows_of_page() -> Vec<[String; 3]> {
    let page = fs::read_to_string(home().join("docs/how-to/constant-time.md")).expect("the page");
    let lines = page.lines().skip_while(|line| !line.starts_with("| target | what holds data"));
    let rows = lines.skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        [cells[0], cells[2], cells[3]].map(str::to_owned)
    })
    .collect()
}

fn assert_rows(targets: &[&str]) {
    let mut rows = rows_of_page();
    rows.retain(|[target, ..]| targets.contains(&target.as_str()));
    rows.sort();
    assert_eq!(rows.len(), targets.len());
    let (flash, ram) = (measured("in_flash", targets), measured("in_ram", targets));
    for (row, (flash, ram)) in rows.iter().zip(flash.into_iter().zip(ram)) {
        assert_eq!(row[1..], [flash, ram], "{}", row[0]);
    }
}

#[test]
fn times_of_accesses_follow_addresses_as_the_page_says() {
    assert_rows(&["msp430fr5994", "nrf52840", "rp2040", "samd21"]);
}

#[test]
fn times_of_accesses_behind_accelerators_are_the_pages() {
    assert_rows(&["stm32f401", "stm32f407", "stm32f411", "stm32f767", "stm32l4r5"]);
}

#[test]
fn times_of_accesses_on_other_parts_are_constant() {
    for function in ["in_flash", "in_ram"] {
        let ranges = measured(function, &CONSTANT);
        assert!(ranges.len() == 12 && ranges.iter().all(|range| !range.contains("to")), "{ranges:?}");
    }
}
