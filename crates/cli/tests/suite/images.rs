//! The same program as ELF file, Intel HEX, S-records, UF2 and raw binary: what runs and what is
//! measured is the same, whatever the file.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use testkit::documents::home;

/// A program with two functions, which ends asleep or in a loop.
const PROGRAM: &str = "
#include <stdint.h>
volatile uint16_t sum;
__attribute__((noinline)) void inner(uint8_t n) { while (n--) { sum += n; } }
__attribute__((noinline)) void outer(uint8_t n) { inner(n); inner(n); sum ^= n; }
#ifdef __arm__
void start(void);
__attribute__((section(\".vectors\"), used)) static void *const vectors[] = {(void *)0x20001000, (void *)start};
void start(void) { outer(5); for (;;) { } }
#else
int main(void) { outer(5); for (;;) { } }
#endif
";

struct Built {
    folder: tempfile::TempDir,
    target: &'static str,
    tools: &'static str,
}

impl Built {
    fn new(target: &'static str, tools: &'static str, flags: &[&str]) -> Built {
        let built = Built { folder: tempfile::tempdir().expect("a folder"), target, tools };
        std::fs::write(built.at("program.c"), PROGRAM).expect("written");
        let map = format!("-Wl,-Map={}", built.at("program.map").display());
        built.ran(
            "gcc",
            flags.iter().copied().chain([
                "-Os",
                "-g",
                "-ffunction-sections",
                &map,
                "-o",
                "program.elf",
                "program.c",
            ]),
        );
        for (format, name) in [("ihex", "program.hex"), ("srec", "program.srec"), ("binary", "program.bin")] {
            built.ran(
                "objcopy",
                ["-O", format, "-j", ".text", "-j", ".data", "-j", ".vectors", "program.elf", name],
            );
        }
        built.ran("strip", ["-o", "stripped.elf", "program.elf"]);
        built
    }

    fn avr() -> Built {
        Built::new("atmega328p", "avr", &["-mmcu=atmega328p"])
    }

    fn arm() -> Built {
        let places = [".vectors=0x08000000", ".text=0x08000100", ".bss=0x20000000"];
        let places = places.map(|place| format!("-Wl,--section-start={place}"));
        let flags = ["-mcpu=cortex-m4", "-mthumb", "-nostdlib", "-Wl,-estart"];
        let flags: Vec<&str> = flags.into_iter().chain(places.iter().map(String::as_str)).collect();
        Built::new("stm32f407", "arm-none-eabi", &flags)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn ran<'a>(&self, tool: &str, arguments: impl IntoIterator<Item = &'a str>) {
        let output = Command::new(format!("{}-{tool}", self.tools))
            .args(arguments)
            .current_dir(self.folder.path())
            .output()
            .expect("the tool runs");
        assert!(output.status.success(), "{tool}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn measured(&self, file: &str, function: &str, more: &[&str]) -> Output {
        wattseal(
            &["measure"],
            &self.at(file),
            self.target,
            &[&["--function", function, "--max-cycles", "5000", "--format", "json"], more].concat(),
        )
    }

    /// Cycles and stack of the calls of a function.
    fn calls(&self, file: &str, function: &str, more: &[&str]) -> Vec<(u64, u64, u64, u64)> {
        let output = self.measured(file, function, more);
        let said = String::from_utf8_lossy(&output.stderr);
        let rows: Vec<Value> = serde_json::from_slice(&output.stdout).expect(&said);
        let number = |row: &Value, field: &str| row[field].as_u64().expect(field);
        rows.iter()
            .filter(|row| row["kind"] == "call")
            .map(|row| {
                let [start, inclusive, exclusive, stack] =
                    ["start_cycle", "inclusive_cycles", "exclusive_cycles", "stack_bytes"]
                        .map(|field| number(row, field));
                (start, inclusive, exclusive, stack)
            })
            .collect()
    }

    /// The address of a function.
    fn address(&self, function: &str) -> String {
        let output =
            Command::new(format!("{}-nm", self.tools)).arg(self.at("program.elf")).output().expect("nm runs");
        let names = String::from_utf8(output.stdout).expect("text");
        let line = names.lines().find(|line| line.ends_with(&format!(" {function}"))).expect(function);
        format!("0x{}", line.split_whitespace().next().expect("an address"))
    }
}

fn wattseal(command: &[&str], file: &Path, target: &str, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wattseal"))
        .env("WATTSEAL_HOME", home())
        .args(command)
        .arg(file)
        .args(["--target", target])
        .args(more)
        .output()
        .expect("the binary under test runs")
}

#[test]
fn function_costs_the_same_by_name_address_and_map() {
    for (built, base) in [(Built::avr(), "0"), (Built::arm(), "0x8000000")] {
        let map = built.at("program.map").display().to_string();
        for function in ["outer", "inner"] {
            let expected = built.calls("program.elf", function, &[]);
            assert_eq!(expected.len(), if function == "outer" { 1 } else { 2 }, "{}", built.target);
            let address = built.address(function);
            for file in ["program.hex", "program.srec", "program.bin", "stripped.elf"] {
                let more: &[&str] = if file == "program.bin" { &["--base", base] } else { &[] };
                // Who calls is not known without names, and who is called has its own frame.
                let by_address = built.calls(file, &address, more);
                assert_eq!(by_address, expected, "{} {file} {function} by address", built.target);
                let by_map = built.calls(file, function, &[more, &["--map", &map]].concat());
                assert_eq!(by_map, expected, "{} {file} {function} by map", built.target);
            }
        }
    }
}

#[test]
fn missing_names_are_reported_once() {
    let built = Built::avr();
    let output = built.measured("program.hex", &built.address("outer"), &[]);
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!(said.matches("is an Intel hex file, which has no").count(), 1, "{said}");
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    let program = rows.iter().find(|row| row["kind"] == "program").expect("the program's row");
    assert!(program["ram_bytes"].is_null() && program["flash_bytes"].as_i64() > Some(100), "{program}");
    let whole = built.measured("program.elf", "outer", &[]);
    assert!(!String::from_utf8_lossy(&whole.stderr).contains("which has no"));
    let error = |file: &str, more: &[&str]| {
        String::from_utf8(built.measured(file, "outer", more).stderr).expect("text")
    };
    assert!(error("program.hex", &[]).contains("there is no function 'outer'"));
    assert!(error("program.bin", &[]).contains("--base 0x8000000"));
    assert!(error("program.elf", &["--base", "0"]).contains("--base is for a raw binary"));
    assert!(error("program.hex", &["--map", "/dev/null"]).contains("no map of GNU ld"));
}

/// A block of UF2 for each 256 bytes of a binary.
fn uf2(binary: &[u8], address: u32, family: u32) -> Vec<u8> {
    let blocks: Vec<&[u8]> = binary.chunks(256).collect();
    let mut file = Vec::new();
    for (number, payload) in blocks.iter().enumerate() {
        let words = [0x0a32_4655, 0x9e5d_5157, 0x2000, address + 256 * number as u32, payload.len() as u32];
        let words = words.into_iter().chain([number as u32, blocks.len() as u32, family]);
        words.for_each(|word: u32| file.extend(word.to_le_bytes()));
        file.extend_from_slice(payload);
        file.resize(512 * number + 508, 0);
        file.extend(0x0ab1_6f30_u32.to_le_bytes());
    }
    file
}

/// The families of UF2's own list: an STM32F4, and an RP2040.
#[test]
fn a_uf2_file_runs_on_its_family_alone() {
    let built = Built::arm();
    let binary = std::fs::read(built.at("program.bin")).expect("built");
    let (ours, others) = (built.at("ours.uf2"), built.at("others.uf2"));
    std::fs::write(&ours, uf2(&binary, 0x0800_0000, 0x5775_5a57)).expect("written");
    std::fs::write(&others, uf2(&binary, 0x0800_0000, 0xe48b_ff56)).expect("written");
    assert_eq!(
        built.calls("ours.uf2", &built.address("outer"), &[]),
        built.calls("program.elf", "outer", &[])
    );
    let refused = wattseal(&["run"], &others, "stm32f407", &[]);
    let said = String::from_utf8(refused.stderr).expect("text");
    assert!(refused.status.code() == Some(2) && said.contains("a UF2 file for the rp2040"), "{said}");
}

#[test]
fn a_board_s_name_is_its_part_at_its_clock_and_supply() {
    let built = Built::avr();
    let run = |name: &str| {
        let options = ["--function", "outer", "--max-cycles", "5000", "--format", "json"];
        let output = wattseal(&["measure"], &built.at("program.elf"), name, &options);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        serde_json::from_slice::<Vec<Value>>(&output.stdout).expect(&said)
    };
    let (part, uno, slow) = (run("atmega328p"), run("uno"), run("promini8"));
    assert_eq!(part, uno);
    let time = |rows: &[Value]| rows[0]["time_s"].as_f64().expect("a time");
    assert_eq!(time(&slow), 2.0 * time(&uno));
    assert_eq!((slow[0]["supply_v"].as_f64(), &slow[0]["target"]), (Some(3.3), &Value::from("atmega328p")));
    let missed = wattseal(&["measure"], &built.at("program.elf"), "unoo", &[]);
    let said = String::from_utf8(missed.stderr).expect("text");
    assert!(missed.status.code() == Some(2) && said.contains("did you mean uno"), "{said}");
}
