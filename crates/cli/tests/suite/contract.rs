//! The command line as others rely on it: exit codes, streams, fields, and errors that say what to
//! do next.

use serde_json::Value;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
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
fn bench_rows_have_the_contract_s_fields() {
    let rows = rows(&[
        "bench",
        "--target",
        "atmega328p",
        "--op",
        "aes128-*crypt",
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

#[test]
fn measure_refuses_a_file_that_is_no_firmware_for_the_target() {
    let error = refused(&["measure", "no-such.elf", "--target", "atmega328p"], 1);
    assert!(error.contains("no-such.elf") && error.contains("No such file"), "{error}");
    let error = refused(&["measure", firmware(), "--target", "stm32f407"], 2);
    assert!(error.contains("built for AVR") && error.contains("ARM"), "{error}");
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        path.display().to_string()
    };
    for (name, bytes, kind) in [
        ("a.hex", &b":00000001FF\n"[..], "an Intel hex file"),
        ("a.uf2", b"UF2\nabc", "a UF2 file"),
        ("a.srec", b"S9030000FC", "a file of S-records"),
        ("a.bin", b"\x00\x20\x00\x20", "a file of another format"),
        ("empty.elf", b"", "an empty file"),
        ("a.a", b"!<arch>\n", "a library"),
    ] {
        for command in ["measure", "run"] {
            let error = refused(&[command, &file(name, bytes), "--target", "stm32f407"], 2);
            assert!(error.contains(kind) && error.contains("give the linker's output"), "{error}");
        }
    }
    let host = env!("CARGO_BIN_EXE_wattseal");
    assert!(refused(&["measure", host, "--target", "stm32f407"], 2).contains("a 64-bit ELF file"));
    // One that is damaged is no wrong usage.
    let whole = std::fs::read(firmware()).expect("built");
    let error = refused(&["measure", &file("cut.elf", &whole[..200]), "--target", "atmega328p"], 1);
    assert!(error.contains("damaged") || error.contains("cut short"), "{error}");
    let error = refused(&["measure", folder.path().to_str().expect("UTF-8"), "--target", "atmega328p"], 1);
    assert!(error.contains("Is a directory") && error.contains("name a file in that folder"), "{error}");
}

/// The rows of the others are there, in every format, and what cannot be read is an error in each.
#[test]
fn a_file_that_cannot_be_read_takes_nothing_from_the_others() {
    let asked = |format| {
        [
            "measure",
            firmware(),
            "gone.elf",
            "--target",
            "atmega328p",
            "--max-cycles",
            "200000",
            "--format",
            format,
        ]
    };
    for (format, error) in [
        ("json", "\"how\": \"not-begun\""),
        ("csv", "not-begun,,gone.elf: No such file"),
        ("junit", "<error message=\"gone.elf: No such file"),
        ("markdown", "**gone.elf atmega328p did not end as it should: gone.elf: No such file"),
        ("table", "ws_ghash_blocks"),
    ] {
        let output = wattseal(&asked(format));
        let (out, said) = (stdout(&output), String::from_utf8_lossy(&output.stderr).into_owned());
        assert!(output.status.code() == Some(1) && said.contains("gone.elf: No such file"), "{said}");
        assert!(out.contains(error) && out.contains("ws_aes"), "{format}: {out}");
    }
    let one = ["measure", "gone.elf", "--target", "atmega328p", "--format", "junit"];
    assert!(stdout(&wattseal(&one)).contains("errors=\"1\""));
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
fn firmware_that_never_returns_is_stopped_at_max_cycles() {
    // What was measured until then is there, also where something was asked for that did not come
    // about.
    let missed = [
        "measure",
        firmware(),
        "--target",
        "atmega328p",
        "--max-cycles",
        "100000",
        "--until",
        "ws_bench_message",
    ];
    let output = wattseal(&missed);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(error.contains("did not return within 100000 cycles to ws_bench_message"), "{error}");
    assert!(stdout(&output).contains("main"), "{}", stdout(&output));
    // What was measured until then is reported, and said to have not returned.
    let arguments =
        ["measure", firmware(), "--target", "atmega328p", "--function", "main", "--max-cycles", "100000"];
    let calls = measured(&[&arguments[4..], &["--format", "json"]].concat());
    assert_eq!((calls.len(), &calls[0]["calls"], &calls[0]["not_returned"]), (1, &0.into(), &1.into()));
    let cycles = |field: &str| calls[0][field].as_u64().expect("a count");
    assert!((100_000..100_010).contains(&(cycles("start_cycle") + cycles("inclusive_cycles"))), "{calls:?}");
    let output = wattseal(&arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        stdout(&output).contains("not returned") && said.contains("stopped after --max-cycles"),
        "{said}"
    );
    let error = refused(
        &["bench", "--target", "atmega328p", "--op", "sha1", "--variant", "O0", "--max-cycles", "20000"],
        1,
    );
    assert!(
        error.contains("did not return within 20000 cycles") && error.contains("--max-cycles"),
        "{error}"
    );
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

#[test]
fn measure_reports_each_call_of_a_function() {
    let function = "ws_aes_encrypt";
    let calls = measured(&["--function", function, "--calls", "4", "--format", "json"]);
    assert_eq!(calls.len(), 4);
    for call in &calls {
        assert_eq!((call["kind"].as_str(), call["name"].as_str()), (Some("call"), Some(function)));
        assert!(call["exclusive_cycles"].as_u64() <= call["inclusive_cycles"].as_u64());
        assert!(call["stack_bytes"].as_u64() > Some(0));
        // No branch depends on the data: every call takes the same time.
        assert_eq!(call["inclusive_cycles"], calls[0]["inclusive_cycles"]);
    }
    let bench = rows(&[
        "bench",
        "--target",
        "atmega328p",
        "--op",
        "aes128-encrypt",
        "--variant",
        "small",
        "--format",
        "json",
    ]);
    assert_eq!(
        bench[0]["cycles"]["mean"].as_f64(),
        calls[0]["inclusive_cycles"].as_u64().map(|cycles| cycles as f64)
    );
}

/// The bench's firmware leaves the crystal's clock as it is: time follows the crystal, or an
/// override, which says so.
#[test]
fn measure_says_by_which_clock_it_counts_time() {
    let asked =
        ["measure", firmware(), "--target", "atmega328p", "--function", "ws_aes_encrypt", "--calls", "1"];
    let time = |more: &[&str]| {
        let output = wattseal(&[&asked[..], more, &["--format", "json"]].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let rows: Value = serde_json::from_slice(&output.stdout).expect("rows");
        (
            rows[0]["inclusive_cycles"].as_f64().expect("cycles") / rows[0]["time_s"].as_f64().expect("time"),
            said,
        )
    };
    for (more, hz, remark) in [
        (&[][..], 16e6, "at 16 MHz, which the program leaves as it is"),
        (&["--crystal", "8M"], 8e6, "at 8 MHz, which the program leaves as it is"),
        (&["--clock", "4M"], 4e6, "at 4 MHz as asked for, whatever the program sets"),
    ] {
        let (found, said) = time(more);
        assert!((found / hz - 1.0).abs() < 1e-9 && said.contains(remark), "{found} Hz: {said}");
    }
    let error = refused(&[&asked[..], &["--clock", "4M", "--crystal", "8M"]].concat(), 2);
    assert!(error.contains("--crystal"), "{error}");
}

#[test]
fn measure_lists_a_function_s_instructions() {
    let asked = |format| {
        let begin = ["measure", firmware(), "--target", "atmega328p", "--max-cycles", "200000"];
        [&begin[..], &["--listing", "ws_aes_encrypt", "--format", format]].concat()
    };
    let rows = rows(&asked("json"));
    let fields: Vec<&str> = rows[0].as_object().expect("an object").keys().map(String::as_str).collect();
    let expected = [
        "address",
        "cycles",
        "cycles_per_execution",
        "executions",
        "file",
        "instruction",
        "line",
        "opcode",
        "source",
    ];
    assert_eq!(fields, expected);
    let executed = rows[0]["executions"].as_u64().expect("a count");
    assert!(executed > 0 && rows[0]["file"].as_str().is_some_and(|file| file.starts_with("device/")));
    let table = stdout(&wattseal(&asked("table")));
    assert!(table.starts_with("ws_aes_encrypt: ") && table.contains("by source line"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    assert_eq!(stdout(&wattseal(&asked("csv"))).lines().count(), rows.len() + 1);
}

/// A file that cannot be opened is refused at once; one that cannot be written any more makes the
/// run a failure, with its rows.
#[test]
fn files_of_a_run_that_cannot_be_written_are_failures() {
    let arguments =
        ["measure", firmware(), "--target", "atmega328p", "--format", "csv", "--max-cycles", "200000"];
    for option in ["--vcd", "--trace", "--lcov", "--save", "--flamegraph"] {
        let text = refused(&[&arguments[..], &[option, "no-such-folder/file"]].concat(), 1);
        assert!(text.contains("no-such-folder/file") && text.contains("check the path"), "{text}");
        let output = wattseal(&[&arguments[..], &[option, "/dev/full"]].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && said.contains("/dev/full"), "{option}: {said}");
        assert!(said.contains("make room"), "{option}: {said}");
        assert!(stdout(&output).contains("function,main"), "{option}: the rows are there");
    }
}

#[test]
fn measure_draws_a_flame_graph() {
    let svg = home().join("target/contract-test.svg");
    let path = svg.to_str().expect("UTF-8");
    let output = wattseal(&[
        "measure",
        firmware(),
        "--target",
        "atmega328p",
        "--function",
        "ws_aes_gcm_seal",
        "--calls",
        "1",
        "--flamegraph",
        path,
    ]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let drawing = std::fs::read_to_string(&svg).expect("the flame graph");
    assert!(drawing.contains("<svg") && drawing.contains("ws_ghash_blocks") && drawing.contains("cycles"));
}

#[test]
fn a_marker_s_writes_bracket_a_region() {
    let regions = measured(&["--marker", "ws_bench_result", "--max-cycles", "1000000", "--format", "json"]);
    // Start-up's clearing of the variable is the first write. From there on a region is one round
    // of the main loop.
    assert!(regions.len() > 2);
    assert!(regions.iter().all(|region| region["kind"] == "region"));
    assert!(regions[1..].iter().all(|region| region["inclusive_cycles"] == regions[1]["inclusive_cycles"]));
}

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
fn help_shows_an_example() {
    for subcommand in ["bench", "check", "ct", "measure", "reproduce", "run"] {
        let output = wattseal(&[subcommand, "--help"]);
        assert!(
            output.status.success() && stdout(&output).contains(&format!("Example: wattseal {subcommand}"))
        );
    }
}

#[test]
fn a_hex_file_without_its_map_is_refused_with_what_to_do() {
    let folder = home().join("target/contract-test");
    std::fs::create_dir_all(&folder).expect("target/ can be written");
    let hex = folder.join("alone.ihx");
    std::fs::write(&hex, ":00000001FF\n").expect("target/ can be written");
    let text = refused(&["measure", &hex.display().to_string(), "--target", "i8051"], 1);
    assert!(text.contains("alone.map is not beside it; link with sdcc"), "{text}");
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

/// Ctrl-C: what was counted is printed, and the exit code is that of a failure.
#[test]
fn an_interrupted_measurement_prints_what_was_counted() {
    let arguments = ["measure", firmware(), "--target", "atmega328p", "--max-cycles", "18000000000000000000"];
    let mut child = command(&arguments);
    let child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs");
    std::thread::sleep(std::time::Duration::from_secs(2));
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(interrupt.success());
    let output = child.wait_with_output().expect("ends");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("interrupted") && stdout(&output).contains("main"), "{error}");
}
