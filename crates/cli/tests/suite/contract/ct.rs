//! The rows and the verdicts of `ct`.

use super::{refused, rows, stdout, wattseal};
use serde_json::Value;

#[test]
fn ct_rows_say_what_was_found() {
    let rows = rows(&[
        "ct",
        "--target",
        "atmega328p",
        "--op",
        "aes128-encrypt",
        "--variant",
        "fast",
        "--runs",
        "4",
        "--format",
        "json",
    ]);
    assert_eq!(rows.len(), 1);
    let mut fields: Vec<&str> = rows[0].as_object().expect("an object").keys().map(String::as_str).collect();
    fields.sort_unstable();
    let expected = [
        "accesses",
        "cycles",
        "differs",
        "instructions",
        "leaks",
        "op",
        "pc",
        "place",
        "provenance",
        "readers",
        "run",
        "runs",
        "secret_bytes",
        "secret_bytes_read",
        "seed",
        "tables",
        "target",
        "variant",
        "verdict",
        "what",
    ];
    assert_eq!(fields, expected);
    assert_eq!((rows[0]["verdict"].as_str(), rows[0]["runs"].as_u64()), (Some("constant"), Some(4)));
    assert!(
        rows[0]["tables"].as_str().is_some_and(|tables| tables.contains("ws_secret_table_aes_sbox")),
        "{}",
        rows[0]
    );
}

/// Checked rows are shown, whatever ends the run: here a row that takes more cycles than allowed,
/// behind one that does not.
#[test]
fn ct_shows_what_it_has_when_it_fails() {
    let line = "ct --target attiny85 --op ascon-aead128-seal --op ascon-hash256 --variant fast --runs 1 --max-cycles 300000";
    for (format, shown) in
        [("table", "│ ascon-aead128-seal"), ("csv", "attiny85,ascon-aead128-seal,fast,constant")]
    {
        let output = wattseal(&line.split(' ').chain(["--format", format]).collect::<Vec<_>>());
        let (said, why) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "{why}");
        assert!(said.contains(shown) && !said.contains("ascon-hash256"), "{said}");
        assert!(why.contains("ascon-hash256 did not return within 300000 cycles"), "{why}");
    }
}

#[test]
fn ct_failure_names_the_line_that_is_not_constant() {
    let arguments = [
        "ct",
        "--target",
        "atmega328p",
        "--op",
        "aes128-encrypt",
        "--variant",
        "fast",
        "--runs",
        "4",
        "--strict",
    ];
    let output = wattseal(&arguments);
    assert_eq!(output.status.code(), Some(1));
    let (data, remark) = (stdout(&output), String::from_utf8_lossy(&output.stderr).into_owned());
    assert!(
        data.contains("VARIABLE")
            && data.contains("aes_fast.S:")
            && data.contains("ws_secret_table_aes_sbox+0x"),
        "{data}"
    );
    assert!(remark.contains("1 of 1 rows"), "{remark}");
    let output = wattseal(&[&arguments[..], &["--format", "csv"]].concat());
    assert!(
        stdout(&output).starts_with("target,op,variant,verdict,runs,seed,cycles,"),
        "{}",
        stdout(&output)
    );
    assert!(refused(&["ct", "--runs", "0"], 2).contains("--runs"));
}

#[test]
fn sarif_suppresses_what_is_accepted() {
    let line =
        ["ct", "--target", "atmega328p", "--op", "aes128-gcm-open", "--variant", "fast", "--runs", "3"];
    let output = wattseal(&[&line[..], &["--format", "sarif"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let results = document["runs"][0]["results"].as_array().expect("results");
    let is_accepted = |result: &Value| result["suppressions"][0]["justification"].is_string();
    assert!(!results.is_empty() && results.iter().all(is_accepted), "{results:?}");
}
