//! The rows and the files of `measure`, and firmware that it refuses.

use super::{command, firmware, home, measured, refused, rows, stdout, wattseal};
use serde_json::Value;
use std::process::{Command, Stdio};

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
    for (name, bytes, code, kind) in [
        ("a.hex", &b":00000001FF\n"[..], 1, "nothing to load in it"),
        ("a.uf2", b"UF2\nabc", 1, "a UF2 file has blocks of 512"),
        ("a.srec", b"S9030000FC", 1, "nothing to load in it"),
        (
            "a.bin",
            b"\x00\x20\x00\x20",
            2,
            "nor UF2; of a raw binary say where it lies, with --base 0x8000000",
        ),
        ("empty.elf", b"", 2, "an empty file; link it again"),
        ("a.a", b"!<arch>\n", 2, "a library; give the program"),
        ("cut.elf", b"\x7fELF", 2, "the beginning of an ELF file; link it again"),
        ("big.elf", b"\x7fELF\x01\x02", 2, "a big-endian ELF file"),
    ] {
        for command in ["measure", "run"] {
            let error = refused(&[command, &file(name, bytes), "--target", "stm32f407"], code);
            assert!(error.contains(kind), "{error}");
        }
    }
    let host = env!("CARGO_BIN_EXE_wattseal");
    assert!(
        refused(&["measure", host, "--target", "stm32f407"], 2).contains("a 64-bit ELF file, such as this")
    );
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
fn a_hex_file_without_its_map_is_refused_with_what_to_do() {
    let folder = home().join("target/contract-test");
    std::fs::create_dir_all(&folder).expect("target/ can be written");
    let hex = folder.join("alone.ihx");
    std::fs::write(&hex, ":00000001FF\n").expect("target/ can be written");
    let text = refused(&["measure", &hex.display().to_string(), "--target", "i8051"], 1);
    assert!(text.contains("alone.map is not beside it; link with sdcc"), "{text}");
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
