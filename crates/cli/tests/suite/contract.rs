//! The command line as others rely on it: exit codes, streams, fields, and errors that say what to
//! do next.

mod bench;
mod ct;
mod measure;
mod tables;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

pub(crate) fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wattseal"));
    command.env("WATTSEAL_HOME", home()).args(arguments);
    command
}

pub(crate) fn wattseal(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the binary under test runs")
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

/// Returns standard error, after checking that the exit code is right and nothing is on standard
/// output.
pub(crate) fn refused(arguments: &[&str], code: i32) -> String {
    let output = wattseal(arguments);
    let text = String::from_utf8(output.stderr.clone()).expect("UTF-8");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
    assert!(output.stdout.is_empty(), "{arguments:?} wrote data although it failed");
    assert!(!text.contains("panicked"), "{text}");
    text
}

pub(crate) fn rows(arguments: &[&str]) -> Vec<Value> {
    // Rows of an earlier run of these tests would be no measurement.
    let fresh: &[&str] = if arguments[0] == "bench" { &["--fresh"] } else { &[] };
    let output = wattseal(&[arguments, fresh].concat());
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty() || arguments[0] == "measure", "a pipe is no place for progress");
    serde_json::from_slice(&output.stdout).expect("an array of objects")
}

/// The rows of a measurement but the last one, which is the whole program's.
fn measured(arguments: &[&str]) -> Vec<Value> {
    let mut rows = rows(&[&["measure", firmware(), "--target", "atmega328p"], arguments].concat());
    let program = rows.pop().expect("the program's row");
    assert_eq!(program["kind"], "program");
    assert!(program["flash_bytes"].as_u64() > Some(100), "{program}");
    rows
}

/// The bench firmware that the first of these tests builds.
fn firmware() -> &'static str {
    static ELF: OnceLock<String> = OnceLock::new();
    ELF.get_or_init(|| {
        let out = home().join("target/contract-test");
        let status = Command::new("make")
            .args(["--silent", "--directory"])
            .arg(home().join("device"))
            .args(["TARGET=atmega328p", "OP=aes128-gcm-seal", "VARIANT=small"])
            .arg(format!("OUT={}", out.canonicalize().unwrap_or(out.clone()).display()))
            .status()
            .expect("make runs");
        assert!(status.success());
        out.join("atmega328p/small/aes128-gcm-seal.elf").display().to_string()
    })
}

#[test]
fn an_unknown_name_is_wrong_usage_and_names_its_neighbours() {
    let error = refused(&["bench", "--target", "atmega382p"], 2);
    assert!(error.contains("there is no target 'atmega382p'; did you mean atmega328p"), "{error}");
    let error = refused(&["bench", "--target", "atmega328p", "--op", "aes-encrypt"], 2);
    assert!(
        error.contains("there is no operation 'aes-encrypt'") && error.contains("aes128-encrypt"),
        "{error}"
    );
    let error = refused(&["bench", "--target", "atmega328p", "--variant", "fats"], 2);
    assert!(error.contains("did you mean fast"), "{error}");
    let error = refused(&["measure", firmware(), "--target", "atmega328p", "--function", "ws_ghash"], 2);
    assert!(error.contains("there is no function 'ws_ghash'; did you mean ws_ghash_blocks"), "{error}");
    let error = refused(&["measure", firmware(), "--target", "atmega328p", "--until", "mian"], 2);
    assert!(error.contains("did you mean main"), "{error}");
    let error = refused(&["measure", firmware(), "--target", "atmega328p", "--pin", "PORTZ.1"], 2);
    assert!(error.contains("there is no port 'PORTZ'") && error.contains("PORTB"), "{error}");
    assert!(refused(&["help", "benhc"], 2).contains("'bench'"));
    assert!(refused(&["bnech"], 2).contains("bench"));
}

#[test]
fn clock_or_supply_outside_the_data_sheet_is_refused() {
    let error = refused(&["bench", "--target", "atmega328p", "--clock", "16M", "--supply", "3.3"], 2);
    assert!(
        error.contains("16 MHz is too fast at 3.3 V") && error.contains("allows 13.33 MHz there"),
        "{error}"
    );
    let error = refused(&["bench", "--target", "msp430f5438a", "--clock", "20M", "--supply", "2.0"], 2);
    assert!(error.contains("12 MHz") && error.contains("2.20 V"), "{error}");
    assert!(refused(&["bench", "--target", "stm32f407", "--supply", "5"], 2).contains("3.6 V"));
    assert!(refused(&["bench", "--clock", "0"], 2).contains("at least 1 Hz"));
}

#[test]
fn names_are_found_whatever_their_case_and_with_a_slip() {
    let error = refused(&["bench", "--target", "atmega328p", "--op", "SHA256"], 2);
    assert!(error.contains("did you mean sha256"), "{error}");
    let error = refused(&["bench", "--target", "STM32F407"], 2);
    assert!(error.contains("did you mean stm32f407"), "{error}");
    let own = ["measure", firmware(), "--target", "atmega328p", "--max-cycles", "1e5"];
    let error = refused(&[&own[..], &["--function", "mian"]].concat(), 2);
    assert!(error.contains("did you mean main"), "{error}");
    let error = refused(&[&own[..], &["--function", "main", "--calls", "-3"]].concat(), 2);
    assert!(error.contains("'-3' is not above 0") && !error.contains("-- -3"), "{error}");
    // A pin by its short name: it does not move here, which is a failure of the run.
    let output = wattseal(&[&own[..], &["--pin", "PB5"]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && said.contains("PB5 did not rise"), "{said}");
    assert!(refused(&[&own[..], &["--pin", "PZ5"]].concat(), 2).contains("PB5"));
}

#[test]
fn a_compiler_that_is_not_there_is_named_with_its_package() {
    let output =
        command(&["bench", "--target", "stm32f407"]).env("PATH", "/nonexistent").output().expect("runs");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        error.contains("arm-none-eabi-gcc is not installed; install it with: apt-get install"),
        "{error}"
    );
}

#[test]
fn help_shows_an_example() {
    for subcommand in ["bench", "check", "ct", "fault", "measure", "reproduce", "run"] {
        let output = wattseal(&[subcommand, "--help"]);
        assert!(
            output.status.success() && stdout(&output).contains(&format!("Example: wattseal {subcommand}"))
        );
    }
}

#[test]
fn a_simulation_tells_all_in_one_object() {
    let arguments =
        ["simulate", "scenarios/harvest-solar.toml", "--days", "0.008", "--seed", "3", "--format", "json"];
    let output = command(&arguments).current_dir(home()).output().expect("the binary under test runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    assert!(error.starts_with("wattseal: 0.008 days in "), "{error}");
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).expect("an array of objects");
    let outcome = &rows[0];
    // 691 s: at the start, after 300 s, after 600 s.
    assert_eq!((rows.len(), &outcome["authentications"]), (1, &Value::from(3)), "{outcome}");
    assert_eq!((&outcome["rejected"], &outcome["resets"]), (&Value::from(0), &Value::from(0)));
    for field in ["misses", "energy", "min_v", "max_v", "events", "trace", "active_j_per_signature"] {
        assert!(!outcome[field].is_null(), "{field}");
    }
}

/// A year would take half an hour: the picture's folder is looked at first.
#[test]
fn simulate_refuses_an_unwritable_picture_before_the_run() {
    let error =
        refused(&["simulate", "harvest-solar", "--days", "360", "--plot", "no-such-folder/out.svg"], 1);
    assert!(error.contains("no-such-folder/out.svg"), "{error}");
}

#[test]
fn a_scenario_that_is_none_is_refused_as_usage() {
    let error = refused(&["simulate", "harvest-sollar"], 2);
    assert!(error.contains("harvest-sollar") && error.contains("did you mean harvest-solar"), "{error}");

    let good = std::fs::read_to_string(home().join("scenarios/harvest-solar.toml")).expect("a scenario");
    let path = std::env::temp_dir().join(format!("wattseal-scenario-{}.toml", std::process::id()));
    std::fs::write(&path, good.replace("clock_hz", "clock_mhz")).expect("a writable folder");
    let error = refused(&["simulate", &path.display().to_string()], 2);
    let _ = std::fs::remove_file(&path);
    assert!(error.contains("clock_mhz") && error.contains("`clock_hz`"), "{error}");
    assert!(error.contains(&path.display().to_string()), "{error}");
}

#[test]
fn standard_output_that_is_full_is_a_failure() {
    for arguments in [
        &["measure", firmware(), "--target", "atmega328p", "--function", "ws_aes_encrypt", "--calls", "1"][..],
        &["bench", "--target", "atmega328p", "--op", "aes128-encrypt", "--variant", "fast", "--runs", "1"],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux");
        let output = command(arguments).stdout(full).output().expect("runs");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.contains("standard output: No space left"), "{error}");
    }
}

/// A reader of standard error may go before all is said: `2>&1 | head -1`.
#[test]
fn closed_standard_error_is_no_panic() {
    let (read, write) = std::io::pipe().expect("a pipe");
    drop(read);
    let output = command(&["measure", "none.elf", "--target", "atmega328p"]).stderr(write).output();
    assert_eq!(output.expect("it runs").status.code(), Some(1));
}
