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

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Exit code, standard output and standard error.
fn ct(options: &[&str]) -> (Option<i32>, String, String) {
    ct_of(firmware(), options)
}

fn ct_of(elf: &Path, options: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_wattseal"))
        .env("WATTSEAL_HOME", home())
        .arg("ct")
        .arg(elf)
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
        let secrets: Vec<&Value> = rows.iter().filter(|row| row["kind"] == "read").collect();
        assert_eq!((rows.len(), secrets.len()), (2, 1), "{out}");
        assert_eq!((&rows[0]["kind"], &rows[0]["secrets"]), (&kind.into(), &"key".into()), "{out}");
        let place = rows[0]["place"].as_str().expect("a place");
        assert!(place.starts_with(function) && place.ends_with(&line_of(comment)), "{place}");
    }
}

/// The formats of lines that avr-gcc 5 writes.
#[test]
fn leaks_have_lines_in_old_debug_formats() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/ct.c");
    for (name, flag) in [("two.elf", "-gdwarf-2"), ("three.elf", "-gdwarf-3")] {
        let elf = folder.path().join(name);
        let done = Command::new("avr-gcc")
            .args(["-mmcu=atmega328p", "-Os", flag])
            .args([Path::new("-o"), &elf, &source])
            .status();
        assert!(done.expect("avr-gcc runs").success());
        for (function, comment) in [("look_up", "ADDRESS"), ("differs", "BRANCH")] {
            let (code, out, err) =
                ct_of(&elf, &["--function", function, "--secret", "key", "--format", "json"]);
            assert_eq!(code, Some(1), "{name} {function}: {err}");
            let rows: Vec<Value> = serde_json::from_str(&out).expect("JSON");
            let leaks: Vec<&Value> = rows.iter().filter(|row| row["kind"] != "read").collect();
            let place = leaks[0]["place"].as_str().expect("a place");
            assert!(leaks.len() == 1 && place.ends_with(&line_of(comment)), "{name}: {out}");
        }
    }
}

/// An inlined function, and one of libgcc, which has no lines.
#[test]
fn leaks_name_inlined_functions_and_those_of_libgcc() {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, elf) = (folder.path().join("named.c"), folder.path().join("named.elf"));
    let text = "#include <avr/interrupt.h>\n#include <avr/sleep.h>\n#include <stdint.h>\n\
                volatile uint64_t key = 3, sink;\nvolatile uint8_t hit;\n\
                static inline __attribute__((always_inline)) void inner(uint8_t a) { if (a & 1) hit = 1; }\n\
                __attribute__((noinline)) void outer(void) { inner((uint8_t)key); sink = key * key; }\n\
                int main(void) { outer(); cli(); sleep_mode(); return 0; }\n";
    std::fs::write(&source, text).expect("written");
    let done = Command::new("avr-gcc")
        .args(["-mmcu=atmega328p", "-O2", "-gdwarf-4", "-o"])
        .args([&elf, &source])
        .status();
    assert!(done.expect("avr-gcc runs").success());
    let options = ["--function", "outer", "--secret", "key:8", "--format", "json"];
    let (code, out, err) = ct_of(&elf, &options);
    assert_eq!(code, Some(1), "{err}");
    let rows: Vec<Value> = serde_json::from_str(&out).expect("JSON");
    let is_at = |row: &Value, place: &str, inlined: &str| {
        row["place"].as_str().is_some_and(|text| text.starts_with(place)) && row["inlined"] == inlined
    };
    assert!(rows.iter().any(|row| is_at(row, "outer+", "inner")), "{out}");
    assert!(rows.iter().any(|row| is_at(row, "__muldi3", "")), "{out}");
}

#[test]
fn without_a_leak_it_succeeds_and_says_what_was_read() {
    let options = ["--function", "differs_constantly", "--secret", "key", "--secret", "tag:4"];
    let (code, out, err) = ct(&options);
    assert!(code == Some(0) && out.contains("secret") && out.contains("tag"), "{out}{err}");
    assert!(err.contains("no branch, address or time depends on a secret"), "{err}");
    assert!(err.contains("of which 2 read 8 of 8 secret bytes"), "{err}");
    let (_, out, _) = ct(&[&options[..], &["--format", "json"]].concat());
    let rows: Vec<Value> = serde_json::from_str(&out).expect("JSON");
    assert_eq!(rows.len(), 2, "{out}");
    for (row, secret) in rows.iter().zip(["key", "tag"]) {
        assert_eq!((&row["kind"], &row["secrets"]), (&"read".into(), &secret.into()), "{out}");
        let counts = ["bytes", "bytes_read", "readers"].map(|field| row[field].as_u64());
        assert_eq!(counts, [Some(4), Some(4), Some(2)], "{out}");
    }
}

/// A check that saw no instruction read a secret has not looked at it.
#[test]
fn a_secret_that_nothing_reads_is_a_failure() {
    // Another object than the function's; and one that is read with one that is not.
    for (function, secrets, said) in [
        ("look_up", &["tag"][..], "any of the 4 bytes of tag"),
        ("look_up_in_registers", &["key"], "any of the 4 bytes of key"),
        ("differs_constantly", &["key", "table:256"], "any of the 256 bytes of table"),
    ] {
        let options: Vec<&str> = ["--function", function]
            .into_iter()
            .chain(secrets.iter().flat_map(|secret| ["--secret", secret]))
            .collect();
        let (code, _, err) = ct(&options);
        assert!(code == Some(1) && err.contains(said), "{function}: {err}");
        assert!(!err.contains("no branch, address or time depends"), "{function}: {err}");
        let (code, out, _) = ct(&[&options[..], &["--format", "junit"]].concat());
        assert!(code == Some(1) && out.contains("failures=\"1\"") && out.contains(said), "{function}: {out}");
        let (code, out, _) = ct(&[&options[..], &["--format", "json"]].concat());
        assert!(code == Some(1) && out.contains("\"bytes_read\": 0"), "{function}: {out}");
    }
}

/// The look-up of a value that its caller has read.
#[test]
fn a_secret_argument_is_followed_by_name_and_register() {
    for secret in [["--secret-arg", "secret"], ["--secret-arg", "0"], ["--secret-register", "r24"]] {
        let options = [&["--function", "look_up_in_registers", "--format", "json"][..], &secret].concat();
        let (code, out, err) = ct(&options);
        assert_eq!(code, Some(1), "{err}");
        let rows: Vec<Value> = serde_json::from_str(&out).expect("JSON");
        assert_eq!(rows[0]["kind"], "address", "{out}");
        assert!(err.contains("1 instruction depends on a secret"), "{err}");
    }
}

/// The example of the page, and what it is without the mark that its answer is public.
#[test]
fn marks_of_a_program_are_secret_and_public() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = std::fs::read_to_string(home().join("docs/examples/marked.c")).expect("the example");
    let mark = "ws_ct_public(&difference, sizeof difference);";
    assert!(text.contains(mark));
    let built = |name: &str, text: &str, whole: &[&str]| {
        let (source, elf) = (folder.path().join(name), folder.path().join(name).with_extension("elf"));
        std::fs::write(&source, text).expect("written");
        let done = Command::new("avr-gcc")
            .args(["-mmcu=atmega328p", "-Os", "-gdwarf-4", "-std=c99", "-Wall", "-Wextra", "-Werror", "-I"])
            .arg(home().join("device/ct"))
            .args(whole)
            .arg(&source)
            .arg("-o")
            .arg(&elf)
            .status();
        assert!(done.expect("avr-gcc runs").success());
        elf
    };
    // Optimised as a whole, too.
    for whole in [&[][..], &["-flto"]] {
        let (code, _, err) = ct_of(&built("marked.c", &text, whole), &["--function", "check"]);
        assert!(code == Some(0) && err.contains("read 16 of 16 secret bytes"), "{whole:?}: {err}");
        let told = text.replace(mark, "");
        let options = ["--function", "check", "--format", "json"];
        let (code, out, err) = ct_of(&built("told.c", &told, whole), &options);
        assert_eq!(code, Some(1), "{whole:?}: {err}");
        let line =
            told.lines().position(|line| line.contains("difference ? 0 : 1")).expect("it is there") + 1;
        let rows: Vec<Value> = serde_json::from_str(&out).expect("JSON");
        let place = rows[0]["place"].as_str().expect("a place");
        let is_told = rows[0]["kind"] == "branch" && rows[0]["secrets"] == "ws_ct_secret";
        assert!(is_told && place.ends_with(&format!("told.c:{line}")), "{whole:?}: {out}");
    }
    // Without marks nothing is secret.
    let off = format!("#define WS_CT_OFF\n{text}");
    let (code, _, err) = ct_of(&built("off.c", &off, &[]), &["--function", "check"]);
    assert!(code == Some(2) && err.contains("nothing is secret"), "{err}");
}

#[test]
fn ct_accepts_public_and_declassified_bytes() {
    for option in ["--public", "--declassify"] {
        let (code, _, err) =
            ct(&["--function", "look_up", "--secret", "key", option, "key:3", "--secret", "tag"]);
        assert!(code == Some(1) && err.contains("1 instruction depends"), "{option}: {err}");
        // Nothing is secret any more, so nothing is known of a secret.
        let (code, _, err) = ct(&["--function", "look_up", "--secret", "key", option, "key"]);
        assert!(code == Some(1) && err.contains("none of key is secret"), "{option}: {err}");
    }
    let constantly = ["--function", "differs_constantly", "--secret", "key", "--declassify", "key:3"];
    let (code, _, err) = ct(&constantly);
    assert!(code == Some(0) && err.contains("read 1 of 1 secret bytes"), "{err}");
}

#[test]
fn wrong_names_are_refused_with_the_nearest() {
    for (options, said) in [
        (&["--function", "lookup", "--secret", "key"][..], "did you mean look_up"),
        (&["--function", "look_up", "--secret", "kez"], "did you mean key"),
        (&["--function", "look_up", "--secret", "key:5"], "key has only 4 bytes"),
        (&["--function", "look_up", "--secret", "0x800100"], "give its bytes"),
        (&["--function", "look_up"], "--secret"),
        (&["--function", "look_up_in_registers", "--secret-register", "r99"], "register"),
        (&["--function", "look_up_in_registers", "--secret-arg", "sekret"], "did you mean secret"),
        (&["--function", "look_up_in_registers", "--secret-arg", "1"], "they are 0 to 0"),
        (&["--secret-arg", "0"], "--function"),
        (&["--secret", "key"], "--function"),
    ] {
        let (code, out, err) = ct(options);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{options:?}: {err}");
        assert!(err.contains(said), "{options:?}: {err}");
    }
}

/// The rules of SARIF 2.1.0 that code scanning needs: OASIS, sections 3.13 to 3.35.
#[test]
fn sarif_has_each_leak_at_its_line() {
    let options = ["--function", "look_up", "--secret", "key", "--format", "sarif"];
    let (code, out, err) = ct(&options);
    assert_eq!(code, Some(1), "{err}");
    let document: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(document["version"], "2.1.0");
    let run = &document["runs"][0];
    let driver = &run["tool"]["driver"];
    let rules = driver["rules"].as_array().expect("rules");
    assert!(driver["name"] == "wattseal" && rules.iter().all(|rule| rule["id"].is_string()), "{out}");
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), 1, "{out}");
    let result = &results[0];
    let index = result["ruleIndex"].as_u64().expect("an index") as usize;
    assert_eq!(
        (&result["ruleId"], &rules[index]["id"]),
        (&"secret-dependent-address".into(), &result["ruleId"])
    );
    assert!(result["message"]["text"].as_str().is_some_and(|text| text.contains("key")), "{out}");
    let place = &result["locations"][0]["physicalLocation"];
    let uri = place["artifactLocation"]["uri"].as_str().expect("a URI");
    let line = format!("ct.c:{}", place["region"]["startLine"]);
    assert!(uri.ends_with("tests/suite/ct.c") && line == line_of("ADDRESS"), "{out}");
    let clear = ["--function", "differs_constantly", "--secret", "key", "--format", "sarif"];
    let (code, out, err) = ct(&clear);
    let document: Value = serde_json::from_str(&out).expect("JSON");
    assert!(
        code == Some(0) && document["runs"][0]["results"].as_array().is_some_and(Vec::is_empty),
        "{err}{out}"
    );
}
