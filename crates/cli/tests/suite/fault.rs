//! `wattseal fault`: a check that one fault passes, and one that compares twice, on every family.

use crate::contract::home;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Compiler and flags of a family, with a target.
struct Family {
    target: &'static str,
    program: &'static str,
    flags: &'static str,
}

const THUMB: &str = "-mthumb -nostdlib -Wl,-estart -Wl,--section-start=.vectors=0x08000000 \
                     -Wl,--section-start=.text=0x08000100 -Wl,--section-start=.bss=0x20000200";
const AVR: Family = Family { target: "atmega328p", program: "avr-gcc", flags: "-mmcu=atmega328p" };
const M4: Family = Family { target: "stm32f407", program: "arm-none-eabi-gcc", flags: "-mcpu=cortex-m4" };

const FAMILIES: [Family; 9] = [
    AVR,
    M4,
    Family { target: "stm32f051", program: "arm-none-eabi-gcc", flags: "-mcpu=cortex-m0" },
    Family { target: "stm32f103", program: "arm-none-eabi-gcc", flags: "-mcpu=cortex-m3" },
    Family { target: "stm32f767", program: "arm-none-eabi-gcc", flags: "-mcpu=cortex-m7" },
    Family {
        target: "ch32v003",
        program: "riscv64-unknown-elf-gcc",
        flags: "-march=rv32ec -mabi=ilp32e -nostdlib -mno-relax -msmall-data-limit=0 -Wl,--no-relax \
                -Wl,--section-start=.vectors=0 -Wl,-Ttext=0x100 -Wl,-Tbss=0x20000000",
    },
    Family { target: "msp430f5438a", program: "clang", flags: "--target=msp430 -c" },
    Family {
        target: "i8051",
        program: "sdcc",
        flags: "-mmcs51 --model-large --iram-size 128 --xram-loc 0x100",
    },
    Family {
        target: "mc68hc08",
        program: "sdcc",
        flags: "-mhc08 --out-fmt-ihx --code-loc 0x860 --data-loc 0x60 --stack-loc 0x85e",
    },
];

impl Family {
    /// The program of `fault.c`, compiled and linked once: tests run side by side, and one would
    /// read what another writes.
    fn built(&self, twice: bool) -> PathBuf {
        static BUILT: Mutex<BTreeMap<(&str, bool), PathBuf>> = Mutex::new(BTreeMap::new());
        let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
        built.entry((self.target, twice)).or_insert_with(|| self.build(twice)).clone()
    }

    fn build(&self, twice: bool) -> PathBuf {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fault");
        std::fs::create_dir_all(&folder).expect("a folder");
        let name = format!("{}-{twice}", self.target);
        let is_sdcc = self.program == "sdcc";
        let elf = folder.join(format!("{name}.{}", if is_sdcc { "ihx" } else { "elf" }));
        let is_linked_apart = self.program == "clang";
        let out = if is_linked_apart { folder.join(format!("{name}.o")) } else { elf.clone() };
        let mut compiler = Command::new(self.program);
        compiler.args(self.flags.split_whitespace());
        if self.program == "arm-none-eabi-gcc" {
            compiler.args(THUMB.split_whitespace());
        }
        if !is_sdcc {
            compiler.args(["-Os", "-fno-inline", "-gdwarf-4"]);
        }
        compiler.args(twice.then_some("-DTWICE")).arg("-o").arg(&out);
        succeeds(compiler.arg(home().join("crates/cli/tests/suite/fault.c")));
        if is_linked_apart {
            let places = [".vectors=0xfffe", ".text=0x5c00", ".bss=0x1c00"];
            let places = places.map(|place| format!("--section-start={place}"));
            succeeds(Command::new("ld.lld").args(places).arg("-o").arg(&elf).arg(&out));
        }
        elf
    }

    /// Exit code, standard output and standard error of a campaign.
    fn fault(&self, twice: bool, options: &str) -> (Option<i32>, String, String) {
        let elf = self.built(twice).display().to_string();
        let line = format!("fault {elf} --target {} {options}", self.target);
        wattseal(&line.split_whitespace().collect::<Vec<_>>())
    }
}

fn succeeds(command: &mut Command) {
    let output = command.output().expect("the compiler runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn wattseal(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_wattseal"))
        .args(arguments)
        .env("WATTSEAL_HOME", home())
        .output()
        .expect("the binary under test runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

const CHECK: &str = "--function check --good reach:reject --bad reach:accept";

fn rows(out: &str) -> Vec<Value> {
    serde_json::from_str(out).expect("JSON")
}

#[test]
fn planted_skip_is_found_on_every_family() {
    for family in FAMILIES {
        let (code, out, said) = family.fault(false, &format!("{CHECK} --format json"));
        assert_eq!(code, Some(1), "{}: {said}", family.target);
        let rows = rows(&out);
        let total = rows.last().expect("the total");
        assert!(total["bypassed"].as_u64() > Some(0), "{}: {said}", family.target);
        let parts = ["detected", "bypassed", "crash", "hang", "other", "no_effect"];
        let sum: Option<u64> = parts.map(|part| total[part].as_u64()).into_iter().sum();
        assert_eq!(sum, total["faults"].as_u64(), "{total}");
        // The branch and the call behind it: sdcc writes no lines.
        let planted = rows.iter().find(|row| row["place"].as_str().is_some_and(|at| at.starts_with("check")));
        assert!(planted.is_some_and(|row| row["bypassed"].as_u64() > Some(0)), "{}: {out}", family.target);
    }
}

#[test]
fn double_check_is_passed_by_no_single_skip() {
    for family in FAMILIES {
        let (code, out, said) = family.fault(true, CHECK);
        assert_eq!(code, Some(0), "{}: {out}{said}", family.target);
        assert!(said.contains(" 0 bypassed"), "{said}");
    }
}

#[test]
fn every_model_runs_and_a_sample_repeats_itself() {
    let all = "--model skip,skip:2,register,zero,flags,opcode,load --sample 150 --seed 7 --format json";
    let run = || M4.fault(false, &format!("{CHECK} {all}"));
    let (_, out, said) = run();
    let total = rows(&out).pop().expect("the total");
    assert_eq!((&total["faults"], &total["provenance"]["seed"]), (&150.into(), &7.into()), "{said}");
    assert!(said.contains("drawn from") && said.contains("with seed 7"), "{said}");
    assert_eq!(run().1, out);
}

#[test]
fn limit_accepts_bypasses_and_reports_carry_them() {
    let (code, out, said) = AVR.fault(false, &format!("{CHECK} --limit 99 --format sarif"));
    assert!(code == Some(0) && out.contains("fault-bypass") && out.contains("fault.c"), "{out}{said}");
    let (_, out, _) = AVR.fault(false, &format!("{CHECK} --format json"));
    let bypassed = rows(&out).pop().expect("the total")["bypassed"].as_u64().expect("a number");
    for (limit, code) in [(bypassed, Some(0)), (bypassed - 1, Some(1))] {
        assert_eq!(AVR.fault(false, &format!("{CHECK} --limit {limit}")).0, code, "{limit}");
    }
    let (code, out, _) = AVR.fault(false, &format!("{CHECK} --format junit"));
    assert!(code == Some(1) && out.contains("failures=\"1\"") && out.contains(":skip"), "{out}");
}

#[test]
fn replay_says_what_a_bypass_does() {
    let (_, out, _) = M4.fault(false, &format!("{CHECK} --format json"));
    let example = rows(&out)[0]["example"].as_str().expect("a bypass").to_owned();
    let (code, out, said) = M4.fault(false, &format!("{CHECK} --replay {example}"));
    assert!(code == Some(0) && out.contains("outcome: bypassed"), "{out}{said}");
    assert!(out.contains("met reach:accept") && out.contains("its way differs"), "{out}");
    let (code, _, said) = M4.fault(false, &format!("{CHECK} --replay 9999:skip"));
    assert!(code == Some(2) && said.contains("there is no fault '9999:skip'"), "{said}");
}

#[test]
fn campaign_that_would_say_nothing_is_refused() {
    for (options, code, said) in [
        ("--function accept --good reach:reject --bad reach:accept", 1, "window was not reached"),
        ("--from accept --to reject --good reach:reject --bad exit:9", 1, "reach:reject came before"),
        ("--function check --good reach:accept --bad reach:reject", 1, "without a fault is bad"),
        ("--function check --good exit:3 --bad reach:accept --max-cycles 1e4", 1, "met no marker"),
        ("--function check --good reach:reject --bad reach:reject", 2, "both good and bad"),
        ("--function chek --good reach:reject --bad reach:accept", 2, "did you mean check"),
        ("--function check --good reach:reject --bad reach:acept", 2, "did you mean accept"),
        ("--function check --good reject --bad reach:accept", 2, "is no marker"),
        ("--function check --good reach:reject --bad reach:accept --model flip", 2, "is no model"),
        ("--window 9..3 --good reach:reject --bad reach:accept", 2, "is no range of cycles"),
        ("--good reach:reject --bad reach:accept", 2, "--function"),
    ] {
        let (found, out, error) = AVR.fault(false, options);
        assert_eq!((found, out.as_str()), (Some(code), ""), "{options}: {error}");
        assert!(error.contains(said), "{options}: {error}");
    }
}

#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let elf = AVR.built(false).display().to_string();
    let full = std::fs::File::create("/dev/full").expect("/dev/full");
    let output = Command::new(env!("CARGO_BIN_EXE_wattseal"))
        .args(["fault", &elf, "--target", "atmega328p"])
        .args(CHECK.split(' '))
        .env("WATTSEAL_HOME", home())
        .stdout(full)
        .output()
        .expect("the binary under test runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && said.contains("No space left"), "{said}");
}

/// The commands of the page, in their order.
#[test]
fn commands_of_the_page_work() {
    let page = std::fs::read_to_string(home().join("docs/how-to/faults.md")).expect("the page");
    let elf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pin.elf").display().to_string();
    let page = page.replace(" \\\n    ", " ");
    let lines: Vec<String> = page
        .lines()
        .filter(|line| line.starts_with("avr-gcc ") || line.starts_with("wattseal "))
        .map(|line| line.replace("pin.elf", &elf))
        .collect();
    let [compiled, campaign, replayed, ..] = lines.as_slice() else { panic!("{lines:?}") };
    let words: Vec<&str> = compiled.split(' ').collect();
    succeeds(Command::new(words[0]).args(&words[1..]).current_dir(home()));
    let run = |line: &str| wattseal(&line.split(' ').skip(1).collect::<Vec<_>>());
    let (code, _, said) = run(campaign);
    assert!(code == Some(1) && said.contains("bypassed") && said.contains("to protect"), "{said}");
    let (code, out, said) = run(replayed);
    assert!(code == Some(0) && out.contains("outcome: "), "{out}{said}");
}

/// A campaign of all models that is drawn anew each time.
fn drawn(options: &str) -> (Option<i32>, Vec<Value>, String) {
    let markers = "--from start --to reject --good reach:reject --bad reach:accept";
    let models = "--model skip,skip:2,register,zero,flags,opcode,load --format json";
    let (code, out, said) = M4.fault(false, &format!("{markers} {models} {options}"));
    let rows = if out.is_empty() { Vec::new() } else { rows(&out) };
    (code, rows, said)
}

#[test]
fn pruned_campaign_has_the_results_of_an_unpruned_one() {
    let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time").as_secs();
    let options = format!("--sample 600 --seed {seed}");
    println!("{options}");
    let (pruned, whole) = (drawn(&options), drawn(&format!("{options} --no-pruning")));
    assert!(!pruned.1.is_empty(), "{}", pruned.2);
    assert_eq!(pruned.1, whole.1);
}

#[test]
fn interrupted_campaign_goes_on_from_its_state() {
    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().join("state");
    let options = format!("--sample 300 --seed 5 --state {}", state.display());
    let whole = drawn(&options);
    assert!(!whole.1.is_empty(), "{}", whole.2);
    let text = std::fs::read_to_string(&state).expect("the state");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() > 10, "{text}");
    // It ended in the midst of a line.
    std::fs::write(&state, format!("{}\n{}", lines[..6].join("\n"), &lines[6][..9])).expect("a file");
    assert_eq!(drawn(&options).1, whole.1);
    assert_eq!(drawn(&options).1, whole.1, "nothing is left to be run");
    for (other, reason) in
        [("--seed 6", "seed is 5 there, and 6 here"), ("--sample 301 --seed 5", "faults is 300 there")]
    {
        let sample = if other.contains("sample") { "" } else { "--sample 300" };
        let (code, _, said) = drawn(&format!("{sample} {other} --state {}", state.display()));
        assert!(code != Some(0) && said.contains(reason), "{code:?} {said}");
    }
    std::fs::write(&state, "no state\n").expect("a file");
    let (_, _, said) = drawn(&options);
    assert!(said.contains("no state of a campaign"), "{said}");
}

/// The remote protocol: why it stopped, and its end.
#[test]
fn replayed_fault_waits_for_gdb() {
    let elf = M4.built(false).display().to_string();
    let mut child = Command::new(env!("CARGO_BIN_EXE_wattseal"))
        .args(["fault", &elf, "--target", M4.target])
        .args(CHECK.split(' '))
        .args(["--replay", "1:skip", "--gdb", "0"])
        .env("WATTSEAL_HOME", home())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the binary under test runs");
    let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    let mut before = Vec::new();
    let address = lines.into_iter().find_map(|line| {
        before.push(line.clone());
        Some(line.split("target remote ").nth(1)?.trim_end_matches('\'').to_owned())
    });
    let mut gdb = std::net::TcpStream::connect(address.expect("an address")).expect("it listens");
    gdb.write_all(b"+$?#3f").expect("sent");
    let mut answer = [0; 4];
    gdb.read_exact(&mut answer).expect("an answer");
    assert!(before.iter().any(|line| line.contains("fault 1:skip has been made")), "{before:?}");
    assert!(String::from_utf8_lossy(&answer).contains('$'), "{answer:?}");
    gdb.write_all(b"+$k#6b").expect("sent");
    drop(gdb);
    child.wait().expect("it ends");
}
