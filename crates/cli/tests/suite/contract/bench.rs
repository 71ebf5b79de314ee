//! The rows of `bench`: fields, seeds, kept results, calibrations.

use super::{command, firmware, home, measured, refused, rows, stdout, wattseal};
use serde_json::Value;
use std::io::{BufRead, Read};
use std::process::{Command, Stdio};
use testkit::programs;

#[test]
fn bench_rows_have_the_contract_s_fields() {
    let rows = rows(&[
        "bench",
        "--target",
        "atmega328p",
        "--op",
        "aes128-encrypt",
        "--op",
        "aes128-decrypt",
        "--runs",
        "3",
        "--format",
        "json",
    ]);
    assert_eq!(rows.len(), 2 * 4);
    let fields: Vec<&str> = rows[0].as_object().expect("an object").keys().map(String::as_str).collect();
    let mut expected = vec![
        "target",
        "op",
        "variant",
        "bytes",
        "clock_hz",
        "supply_v",
        "runs",
        "cycles",
        "accuracy",
        "time_s",
        "power_w",
        "energy_j",
        "energy_accuracy",
        "memory",
        "flash_bytes",
        "ram_bytes",
        "stack_bytes",
        "verified",
        "provenance",
    ];
    expected.sort_unstable();
    let mut sorted = fields.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, expected);
    for row in &rows {
        assert_eq!(row["verified"], true);
        assert_eq!(row["runs"], 3);
        let accuracy = row["accuracy"].as_object().expect("an object");
        assert!(accuracy["cycles"] == "exact" && accuracy["source"].is_string() && accuracy.len() == 2);
        let cycles = row["cycles"].as_object().expect("an object");
        assert!(["mean", "sd", "se", "min", "max"].iter().all(|field| cycles[*field].is_number()));
        let (time, power) = (row["time_s"].as_f64().unwrap(), row["power_w"].as_f64().unwrap());
        assert!((time - cycles["mean"].as_f64().unwrap() / row["clock_hz"].as_f64().unwrap()).abs() < 1e-12);
        assert!((row["energy_j"].as_f64().unwrap() - time * power).abs() < 1e-12);
        let accuracy = row["energy_accuracy"].as_object().expect("an object");
        assert!(accuracy["energy"] == "estimate" && accuracy["source"].is_string() && accuracy.len() == 2);
        assert_eq!((&row["supply_v"], &row["memory"]), (&Value::from(5.0), &Value::from("flash")));
        assert!(row["flash_bytes"].as_i64().unwrap() > 0);
        let provenance = &row["provenance"];
        assert!(provenance["compiler"].as_str().is_some_and(|compiler| compiler.starts_with("avr-gcc ")));
        assert_eq!(
            (&provenance["seed"], &provenance["version"]),
            (&1.into(), &env!("CARGO_PKG_VERSION").into())
        );
        assert_eq!(provenance["target_sha256"].as_str().map(str::len), Some(64));
    }
}

/// git looks at each file of the tree.
#[test]
fn commit_is_looked_up_for_rows_that_show_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    programs::script(&folder.path().join("git"), &format!("echo called >>{}", log.display()));
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").expect("a path"));
    let bench = ["bench", "--target", "atmega328p", "--op", "aes128-*crypt", "--runs", "1", "--format"];
    for (format, lookups) in [("table", 0), ("json", usize::from(home().join(".git").exists()))] {
        let output = command(&bench).arg(format).env("PATH", &path).output().expect("wattseal runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let called = std::fs::read_to_string(&log).unwrap_or_default();
        assert_eq!(called.lines().count(), lookups, "{format}");
    }
}

#[test]
fn the_same_seed_gives_the_same_rows() {
    let arguments =
        ["bench", "--target", "atmega128l", "--op", "sha1", "--variant", "small", "--format", "json"];
    assert_eq!(rows(&arguments), rows(&arguments));
}

/// Earlier measurements are reused, and said to be; the rows are the same to the last digit.
#[test]
fn a_second_bench_has_the_rows_of_the_first() {
    let arguments = [
        "bench",
        "--target",
        "stm32f100",
        "--op",
        "sha1",
        "--op",
        "sha256",
        "--op",
        "ecdsa-p256-verify",
        "--variant",
        "fast",
        "--format",
        "json",
    ];
    let fresh = wattseal(&[&arguments[..], &["--fresh"]].concat());
    assert!(!String::from_utf8_lossy(&fresh.stderr).contains("earlier"));
    let again = wattseal(&arguments);
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(said.contains("3 of 3 rows are of an earlier measurement") && said.contains("--fresh"), "{said}");
    assert_eq!(stdout(&fresh), stdout(&again));
    // The first runs are the same however many follow; what does not vary needs but three.
    let rows: Vec<Value> = serde_json::from_slice(&fresh.stdout).expect("an array of objects");
    let [sha1, sha256, verify] = &rows[..] else { panic!("three rows") };
    for steady in [sha1, sha256] {
        assert_eq!((steady["runs"].as_u64(), steady["cycles"]["sd"].as_f64()), (Some(3), Some(0.0)));
    }
    let (runs, cycles) = (verify["runs"].as_u64().expect("a number"), &verify["cycles"]);
    let field = |name: &str| cycles[name].as_f64().expect("a number");
    assert!((5..=100).contains(&runs) && 1.96 * field("se") <= 0.02 * field("mean"), "{verify}");
}

/// avr-gcc moves the stack pointer a byte at a time; a depth read in between would be up to 255
/// bytes too much.
#[test]
fn sealing_on_the_smallest_avr_needs_at_most_400_bytes() {
    for row in rows(&[
        "bench",
        "--target",
        "atmega328p",
        "--op",
        "aes128-gcm-seal",
        "--variant",
        "portable",
        "--variant",
        "small",
        "--variant",
        "fast",
        "--runs",
        "1",
        "--format",
        "json",
    ]) {
        let bytes = |field: &str| row[field].as_u64().expect("a number");
        // The round keys alone are 176.
        assert!((176..=400).contains(&(bytes("ram_bytes") + bytes("stack_bytes"))), "{row}");
    }
}

#[test]
fn csv_has_a_header_and_a_line_a_row() {
    let output =
        wattseal(&["bench", "--target", "atmega328p", "--op", "sha256", "--runs", "2", "--format", "csv"]);
    let text = stdout(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("target,op,variant,bytes,clock_hz,supply_v,runs,cycles_mean,cycles_sd,"));
    assert_eq!(lines.len(), 1 + 4);
}

fn calibration(name: &str, text: &str) -> String {
    let folder = home().join("target/contract-test");
    std::fs::create_dir_all(&folder).expect("a folder under target/");
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a file in it");
    path.display().to_string()
}

/// 4.2175 mA at 14 MHz by the data sheet (3.50 + 2/8 * 2.87); measured twice that.
#[test]
fn a_calibration_corrects_power_and_energy_and_says_so() {
    let text = "target = \"msp430f5438a\"\nsource = \"a bench\"\n\
                [[point]]\nclock_hz = 14e6\nsupply_v = 2.7\ncurrent_a = 8.435e-3\n";
    let path = calibration("twice.toml", text);
    let plain = [
        "bench",
        "--target",
        "msp430f5438a",
        "--op",
        "sha1",
        "--variant",
        "small",
        "--runs",
        "1",
        "--clock",
        "14M",
        "--supply",
        "2.7",
        "--format",
        "json",
    ];
    let output = wattseal(&[plain.as_slice(), &["--calibration", &path]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("2.000 times the data sheet's active current, and 0.000 mA"), "{said}");
    assert!(said.contains("the model was -50 %, and is +0 %"), "{said}");
    let calibrated: Vec<Value> = serde_json::from_slice(&output.stdout).expect("an array of objects");
    let plain = rows(&plain);
    let number = |row: &Value, field: &str| row[field].as_f64().expect("a number");
    assert!((number(&calibrated[0], "power_w") - 2.7 * 8.435e-3).abs() < 1e-9);
    let ratio = number(&calibrated[0], "energy_j") / number(&plain[0], "energy_j");
    assert!((ratio - 2.0).abs() < 1e-9, "{ratio}");
    assert_eq!(calibrated[0]["cycles"], plain[0]["cycles"]);
}

#[test]
fn a_calibration_that_cannot_be_used_is_refused() {
    let bench = |path: &str, code| refused(&["bench", "--target", "atmega328p", "--calibration", path], code);
    assert!(bench("no-such.toml", 1).contains("no-such.toml"));
    let other = home().join("calibrations/mane2014.toml");
    let error = bench(other.to_str().expect("UTF-8"), 2);
    assert!(
        error.contains("calibrates msp430f5438a") && error.contains("add --target msp430f5438a"),
        "{error}"
    );
    let error = refused(
        &["measure", firmware(), "--target", "atmega328p", "--calibration", other.to_str().expect("UTF-8")],
        2,
    );
    assert!(error.contains("calibrates msp430f5438a"), "{error}");
    let head = "source = \"a bench\"\n[[point]]\nclock_hz = 8e6\nsupply_v = 5.0\n";
    let path = calibration("unknown.toml", &format!("target = \"atmega382p\"\n{head}current_a = 1e-3\n"));
    let error = bench(&path, 1);
    assert!(error.contains("there is no target 'atmega382p'; did you mean atmega328p"), "{error}");
    let path = calibration("energy.toml", &format!("target = \"atmega328p\"\n{head}energy_j = 1e-3\n"));
    let error = bench(&path, 1);
    assert!(
        error.contains("calibration point 1") && error.contains("lacks the cycles or the time"),
        "{error}"
    );
    let falling =
        format!("{head}current_a = 9e-3\n[[point]]\nclock_hz = 16e6\nsupply_v = 5.0\ncurrent_a = 3e-3\n");
    let error = bench(&calibration("falling.toml", &format!("target = \"atmega328p\"\n{falling}")), 1);
    assert!(error.contains("contradict the data sheet"), "{error}");
}

#[test]
fn more_bytes_than_fit_are_refused_with_the_room_there_is() {
    let error = refused(&["bench", "--target", "atmega328p", "--op", "sha1", "--bytes", "4000"], 2);
    assert!(error.contains("--bytes 4000") && error.contains("512"), "{error}");
}

/// Ctrl-C ends the rows well-formed, and says that nothing of what was measured is lost.
#[test]
fn a_bench_that_is_interrupted_says_that_its_rows_are_kept() {
    let asked =
        ["bench", "--target", "atmega328p", "--op", "sha*", "--runs", "200", "--fresh", "--format", "json"];
    let mut bench = command(&asked)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary under test runs");
    let mut out = std::io::BufReader::new(bench.stdout.take().expect("a pipe"));
    let mut text = String::new();
    // The first row is there.
    while !text.contains('}') && out.read_line(&mut text).expect("UTF-8") > 0 {}
    let told = Command::new("kill").args(["-INT", &bench.id().to_string()]).status().expect("kill runs");
    assert!(told.success());
    out.read_to_string(&mut text).expect("UTF-8");
    let output = bench.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("interrupted") && said.contains("are kept"), "{said}");
    let rows: Vec<Value> = serde_json::from_str(&text).expect("an array that ends");
    assert!(!rows.is_empty());
}

/// The firmware of a bench does by itself what bench measures.
#[test]
fn a_bench_s_firmware_by_itself_does_what_bench_measures() {
    let options = ["--function", "ws_aes_gcm_seal", "--calls", "2", "--format", "json"];
    let calls = measured(&options);
    let bench = rows(&[
        "bench",
        "--target",
        "atmega328p",
        "--op",
        "aes128-gcm-seal",
        "--variant",
        "small",
        "--format",
        "json",
    ]);
    let mean = bench[0]["cycles"]["mean"].as_f64();
    assert!(calls.iter().all(|call| call["inclusive_cycles"].as_f64() == mean), "{mean:?}: {calls:?}");
    let output = wattseal(&["measure", firmware(), "--target", "atmega328p", "--max-cycles", "200000"]);
    let (table, said) = (stdout(&output), String::from_utf8_lossy(&output.stderr).into_owned());
    assert!(said.contains("a firmware of bench: it got the inputs of aes128-gcm-seal"), "{said}");
    // Time and energy are there, and what is not is said.
    assert!(
        table.contains("time") && table.contains("energy") && table.contains("with --wide, too: "),
        "{table}"
    );
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
}
