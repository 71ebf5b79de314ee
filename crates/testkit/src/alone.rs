//! Tests that need a process of their own, because what they look at is the process's: its umask,
//! its log, its end. Such a test starts this program again, for itself alone.

use std::process::{Command, Output};

/// Names the test in its own process.
const VARIABLE: &str = "WATTSEAL_ALONE";

/// Returns true if this process is the one of `test`.
#[must_use]
pub fn is_here(test: &str) -> bool {
    std::env::var(VARIABLE).is_ok_and(|alone| alone == test)
}

/// This program with one test alone, by its whole name (`store::kills::writes`), its output shown;
/// `before` is what comes before the program, as `nice` does.
///
/// # Panics
/// If this program does not exist any more.
#[must_use]
pub fn command(test: &str, before: &[&str]) -> Command {
    let this = std::env::current_exe().expect("this program");
    let mut command = match before {
        [] => Command::new(this),
        [first, others @ ..] => {
            let mut command = Command::new(first);
            command.args(others).arg(this);
            command
        }
    };
    command
        .args(["--exact", test, "--include-ignored", "--nocapture", "--test-threads=1"])
        .env(VARIABLE, test);
    command
}

/// Demands that the test ran, and passed.
///
/// # Panics
/// If it did not pass; also if there is no test of that name.
pub fn assert_passed(output: &Output) {
    let [out, error] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(output.status.success() && out.contains("\ntest result: ok. 1 passed"), "{out}\n{error}");
}

/// Runs a test in a process of its own.
///
/// # Panics
/// If it does not pass there.
pub fn run(test: &str) {
    assert_passed(&command(test, &[]).output().expect("this program runs"));
}
