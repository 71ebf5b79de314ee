//! Tests that a program has in itself, one after the other from a reset each: embedded-test's, as
//! `cargo test` runs them.

use crate::LabError;
use crate::user_firmware::{Setup, UserFirmware, advice_on};
use crate::workspace::Workspace;
use firmware::{EmbeddedTest, embedded_tests};
use mcu::{Mcu, Stop, Until};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The program's own time for a test that says none, in seconds.
const TIMEOUT_S: u32 = 60;
/// Cycles between two looks at time and Ctrl-C.
const LOOK_EVERY: u64 = 1_000_000;

/// Tests that are run: the arguments of Rust's test programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Chosen {
    /// Parts of names, of which one has to be in a test's; all where empty.
    filters: Vec<String>,
    skipped: Vec<String>,
    /// Filters are whole names.
    exact: bool,
    list: bool,
    /// Those that are ignored, and no others.
    only_ignored: bool,
    include_ignored: bool,
}

impl Chosen {
    /// Reads the arguments behind the program's name.
    ///
    /// # Errors
    /// [`LabError::Usage`] for one that is not known here.
    fn from_arguments(arguments: &[String]) -> Result<Chosen, LabError> {
        let mut chosen = Chosen::default();
        let mut left = arguments.iter();
        while let Some(argument) = left.next() {
            match argument.as_str() {
                "--exact" => chosen.exact = true,
                "--list" => chosen.list = true,
                "--ignored" => chosen.only_ignored = true,
                "--include-ignored" => chosen.include_ignored = true,
                // Tests are run one after the other, and what they say is shown where they fail.
                "--nocapture" | "--no-capture" | "--quiet" | "-q" => {}
                "--skip" | "--test-threads" | "--color" | "--format" => {
                    let value = left.next();
                    if argument == "--skip" {
                        chosen.skipped.extend(value.cloned());
                    }
                }
                other if other.starts_with('-') => {
                    return Err(LabError::Usage(format!(
                        "{other} is no argument of tests here; there are --exact, --list, --ignored, --include-ignored, --skip NAME and parts of names"
                    )));
                }
                filter => chosen.filters.push(filter.into()),
            }
        }
        Ok(chosen)
    }

    fn has(&self, test: &EmbeddedTest) -> bool {
        let is_named =
            |name: &String| if self.exact { test.name == *name } else { test.name.contains(name.as_str()) };
        (self.filters.is_empty() || self.filters.iter().any(is_named)) && !self.skipped.iter().any(is_named)
    }

    /// Returns true if a test that is chosen is only told of.
    fn ignores(&self, test: &EmbeddedTest) -> bool {
        if self.only_ignored { !test.ignored } else { test.ignored && !self.include_ignored }
    }
}

/// Runs the tests of a program, and tells of them as Rust's test programs do. Returns whether all
/// of them passed; `None` where the program has no tests.
///
/// # Errors
/// [`Setup::load`]'s; arguments that are not known; `say` that fails.
pub fn run_tests(
    workspace: &Workspace,
    setup: &Setup,
    arguments: &[String],
    interrupted: &AtomicBool,
    say: &mut dyn FnMut(&str) -> Result<(), LabError>,
) -> Result<Option<bool>, LabError> {
    let all = embedded_tests(&setup.elf)?;
    if all.is_empty() {
        return Ok(None);
    }
    let chosen = Chosen::from_arguments(arguments)?;
    let tests: Vec<&EmbeddedTest> = all.iter().filter(|test| chosen.has(test)).collect();
    if chosen.list {
        for test in tests.iter().filter(|test| !chosen.only_ignored || test.ignored) {
            say(&format!("{}: test\n", test.name))?;
        }
        return Ok(Some(true));
    }
    let begun = Instant::now();
    let loaded = setup.load(workspace)?;
    let mut failures = Vec::new();
    let (mut passed, mut ignored) = (0, 0);
    say(&format!("\nrunning {} tests\n", tests.len()))?;
    for test in &tests {
        if chosen.ignores(test) {
            ignored += 1;
            say(&format!("test {} ... ignored\n", test.name))?;
            continue;
        }
        let Outcome { problem, sent } = run_test(&loaded, test, interrupted);
        let expects = if test.should_panic { " - should panic" } else { "" };
        let shown = if problem.is_some() { "FAILED" } else { "ok" };
        say(&format!("test {}{expects} ... {shown}\n", test.name))?;
        match problem {
            None => passed += 1,
            Some(problem) => failures.push((test.name.as_str(), problem, sent)),
        }
    }
    if !failures.is_empty() {
        say("\nfailures:\n")?;
    }
    for (name, problem, sent) in &failures {
        say(&format!("\n---- {name} ----\n{sent}{problem}\n"))?;
    }
    say(&format!(
        "\ntest result: {}. {passed} passed; {} failed; {ignored} ignored; 0 measured; {} filtered out; finished in {:.2}s\n\n",
        if failures.is_empty() { "ok" } else { "FAILED" },
        failures.len(),
        all.len() - tests.len(),
        begun.elapsed().as_secs_f64()
    ))?;
    Ok(Some(failures.is_empty()))
}

struct Outcome {
    /// Why it did not pass.
    problem: Option<String>,
    /// Its output.
    sent: String,
}

/// Runs one test from the reset that the machine stands at.
fn run_test(loaded: &UserFirmware, test: &EmbeddedTest, interrupted: &AtomicBool) -> Outcome {
    let mut machine = loaded.machine.snapshot();
    machine.board_mut().command_line = format!("run_addr {}", test.address);
    machine.board_mut().take_sent();
    let mut sent = Vec::new();
    let ended = loop {
        let until = Until { cycles: Some(machine.cycles() + LOOK_EVERY), addresses: Vec::new() };
        let stop = machine.run(&until);
        sent.extend(machine.board_mut().take_sent().into_iter().map(|sent| sent.byte));
        let limit_s = test.timeout_s.unwrap_or(TIMEOUT_S);
        match stop {
            Ok(Stop::Cycles) if interrupted.load(Ordering::Relaxed) => break Err("interrupted".to_owned()),
            Ok(Stop::Cycles) if seconds(&*machine) >= f64::from(limit_s) => {
                break Err(format!("no end within {limit_s} s of the program's time"));
            }
            Ok(Stop::Cycles) => {}
            Ok(Stop::Exit(code)) => break Ok(code),
            Ok(_) => break Err("it stands still, and gave no result".into()),
            Err(fault) => {
                break Err(
                    fault.to_string() + &advice_on(&*machine, &fault, &loaded.target, &loaded.firmware)
                );
            }
        }
    };
    let place = loaded.firmware.place(machine.pc());
    let problem = match ended {
        Ok(0) if test.should_panic => Some("it should panic, and did not".to_owned()),
        Ok(0) => None,
        Ok(_) if test.should_panic => None,
        Ok(code) => Some(format!("it ended with {code}{place}")),
        Err(why) => Some(why + &place),
    };
    Outcome { problem, sent: String::from_utf8_lossy(&sent).into_owned() }
}

fn seconds(machine: &dyn Mcu) -> f64 {
    machine.board().time_ns(machine.cycles()) as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(line: &str) -> Result<Chosen, LabError> {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Chosen::from_arguments(&arguments)
    }

    #[test]
    fn arguments_choose_tests_as_libtest_s_do() {
        let test = |name: &str, ignored| EmbeddedTest {
            name: name.into(),
            address: 0,
            ignored,
            should_panic: false,
            timeout_s: None,
        };
        let (fast, slow) = (test("tests::fast", false), test("tests::slow", true));
        let run = |line: &str| {
            let chosen = chosen(line).expect("known arguments");
            [&fast, &slow].map(|test| chosen.has(test) && !chosen.ignores(test))
        };
        assert_eq!(run(""), [true, false]);
        assert_eq!(run("--include-ignored"), [true, true]);
        assert_eq!(run("--ignored"), [false, true]);
        assert_eq!(run("fast slow --include-ignored"), [true, true]);
        assert_eq!(run("fast --exact"), [false, false]);
        assert_eq!(run("tests::fast --exact --nocapture"), [true, false]);
        assert_eq!(run("--skip fast --test-threads 1"), [false, false]);
        assert!(chosen("--bogus").expect_err("unknown").is_usage());
    }
}
