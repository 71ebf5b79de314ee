//! Command lines put together of what is right and what is wrong: each ends in time, with an exit
//! code of the contract, and never in a panic.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use testkit::documents::home;
use testkit::random::{self, Random, seed};

/// Commands that take little time as they are. What stands in braces is a file.
const USUAL: [&str; 13] = [
    "bench --target atmega328p --op aes128-encrypt --variant fast --runs 3",
    "bench --target mc68hc08 --op aes128-encrypt --variant small --format json",
    "measure {elf} --target atmega328p --max-cycles 20000",
    "measure {elf} {elf} --target atmega328p --function main --max-cycles 1e4 --format markdown",
    "measure {elf} --target atmega328p --listing main --max-cycles 20k",
    "run {elf} --target atmega328p --max-cycles 20000",
    "run {elf} --target atmega328p --time 1ms --port USART0 --lcov {out}",
    "ct --target atmega328p --op aes128-encrypt --variant fast --runs 3",
    "ct {elf} --target atmega328p --function main --secret ticks --max-cycles 20000",
    "check {folder}",
    "firmware verify {elf} --key {elf}",
    "plan --target atmega328p --scheme aes128-gcm --energy 2mJ --supply 3.0",
    "reproduce nothing-of-this-name",
];

/// Further words of a command line.
const MORE: [&str; 43] = [
    "--target stm32f407",
    "--target",
    "--op",
    "--op zzz",
    "--variant O0",
    "--clock 0",
    "--clock 16MHz",
    "--clock 1e99",
    "--crystal 8MHz",
    "--supply 5",
    "--supply -1",
    "--supply NaN",
    "--format json",
    "--format junit",
    "--format csv",
    "--format xml",
    "--wide",
    "--calls 0",
    "--calls 1",
    "--until main",
    "--until nowhere",
    "--pin PORTB.9",
    "--pin PORTB.1",
    "--marker ticks",
    "--function work",
    "--function wrok",
    "--input {elf}",
    "--uart USART9",
    "--save {out}",
    "--save /nonexistent/figures.json",
    "--against {elf}",
    "--fail-over 1%",
    "--fail-over lots",
    "--vcd {out}",
    "--trace {out}",
    "--gdb nowhere:at:all",
    "--stub USART0",
    "--stub 0x0-0xffffffff",
    "--secret ticks:99999999999",
    "--runs 2",
    "--cache {folder}",
    "--cache {elf}",
    "--target ./none.toml",
];

/// Words that are nobody's.
const NONSENSE: [&str; 14] = [
    "",
    "-",
    "--",
    "--=",
    "---",
    "-1",
    "'",
    "\u{1f50b}",
    "\t\n\r",
    "../..",
    "%s%s%n",
    "0x",
    "--target=",
    "18446744073709551616",
];

fn elf() -> PathBuf {
    let elf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("any-command-line.elf");
    let source = home().join("crates/cli/tests/suite/run/debug.c");
    let status = Command::new("avr-gcc")
        .args(["-mmcu=atmega328p", "-Os", "-gdwarf-4", "-o"])
        .args([&elf, &source])
        .status()
        .expect("the compiler runs");
    assert!(status.success());
    elf
}

fn line(random: &mut Random, files: &[(&str, String)]) -> Vec<String> {
    let mut pick = |from: &[&str]| from[random.below(from.len() as u32) as usize].to_owned();
    let mut words: Vec<String> = pick(&USUAL).split(' ').map(str::to_owned).collect();
    let more = [pick(&MORE), pick(&MORE), pick(&MORE), pick(&NONSENSE)];
    for more in &more[..random.below(4) as usize] {
        words.extend(more.split(' ').map(str::to_owned));
    }
    if random.below(4) == 0 {
        let at = random.below(words.len() as u32 + 1) as usize;
        words.insert(at, more[3].clone());
    }
    // A word that is missing or in another's place, but never what keeps the run short.
    let at = 1 + random.below(words.len() as u32) as usize;
    let keeps_short = |word: &String| {
        ["--max-cycles", "--op", "--time", "--runs", "--target", "--variant"].contains(&word.as_str())
    };
    match random.below(6) {
        0 if at < words.len() && !words[at - 1..=at].iter().any(keeps_short) => drop(words.remove(at)),
        1 if at + 1 < words.len() && !words[at - 1..=at + 1].iter().any(keeps_short) => {
            words.swap(at, at + 1)
        }
        _ => {}
    }
    for (name, path) in files {
        words.iter_mut().filter(|word| word == name).for_each(|word| word.clone_from(path));
    }
    words
}

/// Two hundred lines in the tests, ten thousand with `WATTSEAL_ORACLE=long`.
#[test]
fn any_command_line_has_an_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let shown = |path: PathBuf| path.display().to_string();
    let files = [
        ("{elf}", shown(elf())),
        ("{out}", shown(folder.path().join("out"))),
        ("{folder}", shown(folder.path().to_owned())),
    ];
    let mut random = Random::new(seed());
    let mut codes = [0_usize; 3];
    // Another test may be building all programs of the same part, for which a command waits.
    let longest_s = "900";
    for _ in 0..random::instructions(200, 10_000) {
        let words = line(&mut random, &files);
        let output = Command::new("timeout")
            .args(["--signal=KILL", longest_s, env!("CARGO_BIN_EXE_wattseal")])
            .args(&words)
            .env("WATTSEAL_HOME", home())
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .output()
            .expect("the binary under test runs");
        let said = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        assert!(!said.contains("panicked at") && !said.contains("RUST_BACKTRACE"), "{words:?}: {said}");
        // A program of `run` has a code of its own, this one 7.
        let is_run = words.first().is_some_and(|word| word == "run");
        assert!(matches!(code, Some(0..=2)) || is_run && code == Some(7), "{words:?}: {code:?}: {said}");
        if code != Some(0) {
            assert!(!said.trim().is_empty(), "{words:?}: {code:?} and nothing said");
        }
        if let Some(code @ 0..=2) = code {
            codes[code as usize] += 1;
        }
    }
    assert!(codes.iter().all(|count| *count > 0), "{codes:?}");
}
