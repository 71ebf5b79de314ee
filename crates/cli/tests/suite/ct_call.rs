//! `wattseal ct --call` and `--matrix`: functions of users, built for each part, with secret
//! arguments.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A part of each family that has a C compiler.
const PARTS: [&str; 7] =
    ["atmega328p", "msp430f5438a", "stm32f051", "stm32f407", "ch32v003", "mc68hc08", "i8051"];
/// Those whose compiler gives functions and no lines.
const SDCC: [&str; 2] = ["mc68hc08", "i8051"];

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Exit code, standard output and standard error.
fn ct(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_wattseal"))
        .env("WATTSEAL_HOME", home())
        .current_dir(home().join("docs/examples"))
        .arg("ct")
        .args(arguments)
        .output()
        .expect("the binary under test runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn rows(out: &str) -> Vec<Value> {
    serde_json::from_str(out).expect(out)
}

/// Rows of a call of the example on parts, with the first argument secret.
fn checked(call: &str, parts: &[&str], code: i32) -> Vec<Value> {
    let targets = parts.iter().flat_map(|part| ["--target", part]);
    let arguments = ["compare.c", "--call", call, "--secret-arg", "key", "--runs", "3", "--format", "json"];
    let (exit, out, err) = ct(&arguments.into_iter().chain(targets).collect::<Vec<_>>());
    assert_eq!(exit, Some(code), "{out}{err}");
    let rows = rows(&out);
    assert_eq!(rows.len(), parts.len(), "{out}");
    rows
}

#[test]
fn an_early_return_is_found_on_every_family() {
    for row in checked("compare([16], [16]=0, 16)", &PARTS, 1) {
        let leaks = row["leaks"].as_array().expect("leaks");
        assert!(leaks.iter().any(|leak| leak["kind"] == "branch"), "{row}");
        assert!(leaks.iter().all(|leak| leak["secrets"] == "argument 1 (key)"), "{row}");
        let place = leaks[0]["place"].as_str().expect("a place");
        let target = row["target"].as_str().expect("a name");
        assert!(
            place.contains("compare") && (SDCC.contains(&target) || place.contains("compare.c:")),
            "{row}"
        );
        assert!(row["provenance"]["compiler"].is_string(), "{row}");
    }
}

#[test]
fn a_comparison_of_all_bytes_is_constant() {
    // sdcc makes a branch of the last line for the 8051, as the page of public code says of others.
    for row in checked("equal([16], [16], 16)", &PARTS[..6], 0) {
        let counts = ["secret_bytes", "secret_bytes_read", "runs"].map(|field| row[field].as_u64());
        assert_eq!((&row["verdict"], counts), (&"constant".into(), [Some(16), Some(16), Some(3)]), "{row}");
    }
}

/// The same random secrets agree; only following them shows the branch.
#[test]
fn a_secret_scalar_is_followed_into_its_register() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("scalar.c");
    fs::write(&path, "int f(unsigned long secret, int other) { return secret == 12345 ? 7 : other; }\n")
        .expect("written");
    let file = path.to_str().expect("UTF-8");
    let arguments = [file, "--call", "f(?, ?)", "--target", "stm32f051", "--target", "atmega328p"];
    let (code, out, err) = ct(&[&arguments[..], &["--secret-arg", "0", "--format", "json"]].concat());
    assert_eq!(code, Some(1), "{out}{err}");
    for row in rows(&out) {
        assert!(row["verdict"] == "dependent" && row["differs"].is_null(), "{row}");
    }
    let (code, out, err) = ct(&[&arguments[..], &["--secret-arg", "other", "--format", "json"]].concat());
    assert_eq!(code, Some(0), "{out}{err}");
    let verdicts = rows(&out).into_iter().map(|row| row["verdict"].clone());
    assert!(verdicts.eq(["constant", "constant"]), "{out}");
}

/// Assembly is of one part: the host cannot run it.
#[test]
fn an_output_that_is_not_compared_is_said_in_each_format() {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, header) = (folder.path().join("mask.S"), folder.path().join("mask.h"));
    let text = "    .syntax unified\n    .thumb\n    .section .text.mask, \"ax\"\n    .global mask\n\
                    .type mask, %function\nmask:\n    eors r0, r1\n    bx lr\n    .size mask, . - mask\n";
    fs::write(&source, text).expect("written");
    fs::write(&header, "#include <stdint.h>\nuint32_t mask(uint32_t secret, uint32_t other);\n")
        .expect("written");
    let files = [&source, &header].map(|path| path.to_str().expect("UTF-8"));
    let call = ["--call", "mask(?, ?)", "--secret-arg", "0", "--target", "stm32f051", "--runs", "2"];
    for (format, said) in [
        ("table", "constant, output NOT COMPARED"),
        ("markdown", "constant, output NOT COMPARED"),
        ("json", "\"verdict\": \"uncompared\""),
        ("csv", ",uncompared,"),
        ("sarif", "\"ruleId\": \"output-not-compared\""),
        ("junit", "(output not compared)"),
    ] {
        let (code, out, err) = ct(&[&files[..], &call, &["--format", format]].concat());
        assert_eq!(code, Some(0), "{out}{err}");
        let flat = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(said), "{format}: {out}{err}");
        assert!(format != "sarif" || flat.contains("\"level\": \"note\""), "{out}");
    }
}

/// As measure --call says it.
#[test]
fn a_stack_that_meets_the_variables_is_the_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("deep.c");
    let text = "unsigned char deep(const unsigned char *key) {\n    volatile unsigned char all[1960];\n\
                    unsigned i;\n    for (i = 0; i < sizeof all; i++) all[i] = (unsigned char)(key[i & 63] + i);\n\
                    return all[7];\n}\n";
    fs::write(&path, text).expect("written");
    let file = path.to_str().expect("UTF-8");
    let (code, out, err) =
        ct(&[file, "--call", "deep([64])", "--secret-arg", "0", "--target", "ch32v003", "--format", "json"]);
    assert_eq!(code, Some(1), "{err}");
    let row = &rows(&out)[0];
    let what = row["what"].as_str().expect("text");
    assert!(row["verdict"] == "failed" && what.contains("meets the variables: there is room for"), "{row}");
}

#[test]
fn a_matrix_has_a_row_for_each_call_build_and_part() {
    let (code, out, err) = ct(&["--matrix", "matrix.toml", "--runs", "2", "--format", "json"]);
    assert_eq!(code, Some(1), "{err}");
    let rows = rows(&out);
    assert_eq!(rows.len(), 3 * 2 * 2, "{out}");
    for row in &rows {
        let verdict = if row["op"] == "compare" { "dependent" } else { "constant" };
        let is_found = row["verdict"] == verdict || verdict == "dependent" && row["verdict"] == "variable";
        assert!(is_found, "{row}");
    }
    let identities: Vec<String> =
        rows.iter().map(|row| format!("{} {} {}", row["target"], row["op"], row["variant"])).collect();
    assert_eq!(identities[..2], ["\"atmega328p\" \"compare\" \"O2\"", "\"atmega328p\" \"compare\" \"Os\""]);
}

/// A build that fails has a row, and the others have theirs.
#[test]
fn a_build_that_fails_has_a_row_that_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = fs::read_to_string(home().join("docs/examples/matrix.toml")).expect("the example");
    let source = home().join("docs/examples/compare.c");
    let text = text.replace("compare.c", source.to_str().expect("UTF-8"))
        + "\n[[build]]\nname = \"wrong\"\nflags = [\"-fno-such-thing\"]\n\n\
           [[build]]\nname = \"absent\"\ncompiler = \"clang-without-a-version\"\n";
    let path = folder.path().join("matrix.toml");
    fs::write(&path, text).expect("written");
    let path = path.to_str().expect("UTF-8");
    let (code, out, err) =
        ct(&["--matrix", path, "--target", "stm32f051", "--runs", "2", "--format", "json"]);
    assert_eq!(code, Some(1), "{err}");
    let rows = rows(&out);
    let of = |variant: &str| -> Vec<&Value> { rows.iter().filter(|row| row["variant"] == variant).collect() };
    assert_eq!((of("O2").len(), of("wrong").len(), of("absent").len()), (2, 2, 2), "{out}");
    assert!(of("wrong").iter().all(|row| row["verdict"] == "failed"), "{out}");
    assert!(of("wrong")[0]["what"].as_str().expect("text").contains("-fno-such-thing"), "{out}");
    let absent = of("absent")[0]["what"].as_str().expect("text");
    assert!(absent.contains("clang-without-a-version is not installed"), "{absent}");
    assert!(err.contains("4 of 8 rows were not built"), "{err}");
    assert_eq!(of("O2")[1]["verdict"], "constant");
}

#[test]
fn wrong_arguments_are_refused_with_advice() {
    let call = "equal([16], [16], 16)";
    let on = ["--target", "stm32f051"];
    for (arguments, said) in [
        (&["compare.c", "--call", call, "--secret-arg", "kye"][..], "key"),
        (&["compare.c", "--call", call, "--secret-arg", "3"], "they are 0 to 2"),
        (&["compare.c", "--call", call], "--secret-arg"),
        (&["compare.c"], "--call"),
        (&["compare.c", "compare.c"], "--call"),
        (&["--matrix", "absent.toml"], "absent.toml"),
        (&["--matrix", "wattseal.toml"], "wattseal.toml"),
    ] {
        let (code, out, err) = ct(&[arguments, &on].concat());
        // A file is one's own, or not there: that is no misuse of the command.
        let wanted = if arguments[0] == "--matrix" { 1 } else { 2 };
        let is_refused = code == Some(wanted) && out.is_empty() && err.contains(said);
        assert!(is_refused, "{arguments:?}: {code:?} {err}");
    }
}
