//! `wattseal ct FIRMWARE.elf`: a function of any firmware, by taint tracking.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const SOURCE: &str = include_str!("ct.c");

fn firmware() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let elf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ct.elf");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/ct.c");
        let done = Command::new("avr-gcc")
            .args(["-mmcu=atmega328p", "-Os", "-gdwarf-4", "-o"])
            .args([&elf, &source])
            .status()
            .expect("avr-gcc runs");
        assert!(done.success());
        elf
    })
}

/// Exit code, standard output and standard error.
fn ct(options: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_wattseal"))
        .env("WATTSEAL_HOME", Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .arg("ct")
        .arg(firmware())
        .args(["--target", "atmega328p"])
        .args(options)
        .output()
        .expect("the binary under test runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn line_of(comment: &str) -> String {
    let line = SOURCE.lines().position(|line| line.contains(comment)).expect("the comment") + 1;
    format!("ct.c:{line}")
}

#[test]
fn a_leak_is_named_with_its_kind_line_and_secret() {
    for (function, kind, comment) in [("look_up", "address", "ADDRESS"), ("differs", "branch", "BRANCH")] {
        let (code, out, err) = ct(&["--function", function, "--secret", "key", "--format", "json"]);
        assert_eq!(code, Some(1), "{err}");
        let rows: Vec<Value> = serde_json::from_str(&out).expect("JSON");
        assert_eq!(rows.len(), 1, "{out}");
        assert_eq!((&rows[0]["kind"], &rows[0]["secrets"]), (&kind.into(), &"key".into()), "{out}");
        let place = rows[0]["place"].as_str().expect("a place");
        assert!(place.starts_with(function) && place.ends_with(&line_of(comment)), "{place}");
    }
}

#[test]
fn without_a_leak_it_succeeds() {
    let (code, out, err) = ct(&["--function", "differs_constantly", "--secret", "key", "--secret", "tag:4"]);
    assert_eq!((code, out.as_str()), (Some(0), ""), "{err}");
    assert!(err.contains("no branch, address or time depends on a secret"), "{err}");
}

#[test]
fn what_is_public_or_declassified_is_no_leak() {
    for option in ["--public", "--declassify"] {
        let (code, _, err) = ct(&["--function", "look_up", "--secret", "key", option, "key"]);
        assert_eq!(code, Some(0), "{option}: {err}");
    }
}

#[test]
fn wrong_names_are_refused_with_the_nearest() {
    for (options, said) in [
        (&["--function", "lookup", "--secret", "key"][..], "did you mean look_up"),
        (&["--function", "look_up", "--secret", "kez"], "did you mean key"),
        (&["--function", "look_up", "--secret", "key:5"], "key has only 4 bytes"),
        (&["--function", "look_up", "--secret", "0x800100"], "give its bytes"),
        (&["--function", "look_up"], "--secret"),
        (&["--secret", "key"], "--function"),
    ] {
        let (code, out, err) = ct(options);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{options:?}: {err}");
        assert!(err.contains(said), "{options:?}: {err}");
    }
}
