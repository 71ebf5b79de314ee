//! `wattseal measure --call`: functions of users, on parts of every family.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/call");

/// A part of each family that gcc or clang builds for.
const PARTS: [&str; 5] = ["atmega328p", "msp430f5438a", "stm32f051", "stm32f407", "ch32v003"];
/// Those that sdcc builds for.
const SDCC: [&str; 2] = ["i8051", "mc68hc08"];

fn source(name: &str) -> PathBuf {
    Path::new(SOURCES).join(name)
}

/// Exit code, standard output and standard error.
fn measured(files: &[PathBuf], call: &str, targets: &[&str], more: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_wattseal"))
        .env("WATTSEAL_HOME", Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .arg("measure")
        .args(files)
        .args(["--call", call])
        .args(targets.iter().flat_map(|target| ["--target", target]))
        .args(more)
        .output()
        .expect("the binary under test runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Rows of a call that every part gets right.
fn good(name: &str, call: &str, targets: &[&str], more: &[&str]) -> Vec<Value> {
    let more: Vec<&str> = more.iter().copied().chain(["--format", "json"]).collect();
    let (code, out, err) = measured(&[source(name)], call, targets, &more);
    assert_eq!(code, Some(0), "{call}: {err}");
    let rows: Vec<Value> = serde_json::from_str(&out).expect(call);
    assert_eq!(rows.len(), targets.len(), "{out}");
    for row in &rows {
        assert_eq!(row["verified"], true, "{row}");
        assert!(row["cycles"]["mean"].as_f64() > Some(0.0) && row["energy_j"].as_f64() > Some(0.0), "{row}");
    }
    rows
}

/// Standard error of a call that fails.
fn refused(name: &str, call: &str, target: &str, code: i32) -> String {
    let (exit, out, err) = measured(&[source(name)], call, &[target], &[]);
    assert_eq!(exit, Some(code), "{call}: {out}{err}");
    err
}

#[test]
fn outputs_are_equal_on_every_family() {
    let targets = [&PARTS[..], &SDCC].concat();
    let rows = good("functions.c", "fir(i16[16], 16)", &targets, &[]);
    assert!(rows.iter().all(|row| row["outputs"] == rows[0]["outputs"] && row["seed"] == 1), "{rows:?}");
    let compiler = |target: &str| {
        rows.iter().find(|row| row["target"] == target).expect("a row")["compiler"].as_str().expect("text")
    };
    assert!(compiler("atmega328p").starts_with("avr-gcc ") && compiler("atmega328p").ends_with(" -O2"));
    assert!(compiler("i8051").starts_with("sdcc "));
    let other = good("functions.c", "fir(i16[16], 16)", &["stm32f407"], &["--seed", "2", "-DSCALE=2"]);
    assert_ne!(other[0]["outputs"], rows[0]["outputs"]);
}

#[test]
fn arguments_of_each_kind_reach_the_function() {
    let targets = ["atmega328p", "stm32f407", "i8051"];
    good("functions.c", "crc32(u8[]=\"123456789\", 9)", &targets, &[]);
    good("functions.c", "fir([4]={1,-2,3}, 4)", &targets, &["--runs", "2"]);
    good("functions.c", "twice_len(\"abc\", [4]=7)", &targets, &[]);
    good("functions.c", "product(-3..3, ?)", &["stm32f407"], &[]);
    good("functions.c", "quicksort([12], 0, 11)", &PARTS, &[]);
    good("functions.c", "chosen(1, 2, less)", &PARTS, &[]);
}

#[test]
fn structures_are_compared_member_by_member() {
    good("functions.c", "summarise([10], 10)", &PARTS, &[]);
    good("functions.c", "move([3]={1,2,3}, 3, -5)", &PARTS, &[]);
}

#[test]
fn floating_point_is_that_of_the_host_bit_by_bit() {
    good("functions.c", "dot([6], [6], 6)", &["atmega328p", "stm32f051", "stm32f407", "ch32v003"], &[]);
}

/// avr-gcc's double has four bytes.
#[test]
fn a_difference_names_part_variable_and_reason() {
    let said = refused("functions.c", "mean([6], 6)", "atmega328p", 1);
    assert!(said.contains("atmega328p: the result differs: "), "{said}");
    assert!(said.contains("double has 4 bytes there; --tolerance 1e-6"), "{said}");
    good("functions.c", "mean([6], 6)", &["atmega328p", "stm32f407"], &["--tolerance", "1e-5"]);
    let said = refused("functions.c", "product(300, 300)", "msp430f5438a", 1);
    assert!(said.contains("the result differs: 24464 on msp430f5438a, 90000 on the host"), "{said}");
    // sdcc keeps arguments at fixed addresses, where a call of itself overwrites them.
    let said = refused("functions.c", "quicksort([12], 0, 11)", "i8051", 1);
    assert!(said.contains("i8051: argument 1 (a)["), "{said}");
}

/// libgcc's division and floating point keep values in a4 and a5 across calls of __mulsi3, which
/// the project's own for the CH32V003 changes.
#[test]
fn the_compiler_s_own_runtime_is_linked() {
    good("functions.c", "quotient(?, ?)", &["ch32v003"], &[]);
    // As avr-size has it of the same function by itself: 142 bytes and 60 of libgcc.
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("fir.elf");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/fir.c");
    let compiled = Command::new("avr-gcc")
        .args(["-mmcu=atmega328p", "-O2", "-nostartfiles", "-Wl,-e,fir", "-o"])
        .args([&program, &source])
        .status();
    assert!(compiled.expect("avr-gcc runs").success());
    let sizes = Command::new("avr-size").arg(&program).output().expect("avr-size runs").stdout;
    let sizes = String::from_utf8(sizes).expect("text");
    let text: i64 = sizes.split_whitespace().nth(6).expect("a size").parse().expect("a number");
    let (code, out, err) = measured(&[source], "fir([8], 8)", &["atmega328p"], &["--format", "json"]);
    let rows: Value = serde_json::from_str(&out).expect(&err);
    assert_eq!((code, rows[0]["flash_bytes"].as_i64()), (Some(0), Some(text)), "{out}");
}

#[test]
fn cpp_several_sources_headers_and_options_are_compiled() {
    good("shapes.cpp", "shapes::area([1])", &PARTS, &[]);
    good("shapes.cpp", "shapes::turned({3, 4})", &PARTS, &[]);
    let said = refused("shapes.cpp", "shapes::aera([1])", "stm32f407", 2);
    assert!(said.contains("there is no function 'shapes::aera'; did you mean shapes::area"), "{said}");
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path
    };
    let main =
        file("main.c", "#include <own.h>\nunsigned scaled(unsigned a) { return helper(a) * FACTOR; }\n");
    let helper = file("helper.c", "#include <own.h>\nunsigned helper(unsigned a) { return a ^ 0x55; }\n");
    let header = file("own.h", "unsigned helper(unsigned a);\nunsigned scaled(unsigned a);\n");
    let include = folder.path().display().to_string();
    let options = ["-I", &include, "-DFACTOR=3", "--cflags", "-Os"];
    for files in [[main.clone(), helper.clone()].as_slice(), &[header.clone(), helper.clone(), main.clone()]]
    {
        let (code, out, err) =
            measured(files, "scaled(0..1000)", &["atmega328p", "i8051", "stm32f407"], &options);
        assert_eq!(code, Some(0), "{out}{err}");
    }
    // An object and a library of one part.
    let object = folder.path().join("helper.o");
    let compiled = Command::new("avr-gcc")
        .args(["-mmcu=atmega328p", "-Os", "-I", &include, "-c"])
        .arg(&helper)
        .arg("-o")
        .arg(&object)
        .status();
    assert!(compiled.expect("avr-gcc runs").success());
    let library = folder.path().join("libhelper.a");
    let archived = Command::new("avr-gcc-ar").arg("rcs").arg(&library).arg(&object).status();
    assert!(archived.expect("avr-gcc-ar runs").success());
    for linked in [object, library] {
        let (code, out, err) = measured(&[main.clone(), linked], "scaled(7)", &["atmega328p"], &options);
        assert_eq!(code, Some(0), "{out}{err}");
        assert!(err.contains("and not with the host") && err.contains("compared with nothing"), "{err}");
    }
}

#[test]
fn wrong_arguments_are_refused_before_a_run() {
    for (call, part) in [
        ("fri([4], 4)", "there is no function 'fri'; did you mean fir"),
        ("fir([4])", "fir takes 2 arguments (int16_t *, uint8_t), and the call has 1"),
        ("fir(4, 4)", "argument 1 (x): it is int16_t *; give an array"),
        ("fir(u8[4], 4)", "argument 1 (x): its elements are int16_t and not u8"),
        ("fir([4], 300)", "argument 2 (n): 300 is no uint8_t: that is 0 to 255"),
        ("fir([4], 1.5)", "argument 2 (n): 1.5 is no uint8_t"),
        ("crc32([4], 4)", "argument 1 (data): it is void *; write the type"),
        ("product(i16[4], 4)", "argument 1 (a): it is int; give a number"),
    ] {
        let said = refused("functions.c", call, "atmega328p", 2);
        assert!(said.contains(part), "{call}: {said}");
    }
    let said = measured(&[source("functions.c")], "fir([9999], 4)", &["stm32f407"], &["--runs", "99999"]).2;
    assert!(said.contains("are too many; give fewer --runs"), "{said}");
    let said = refused("functions.c", "fir([4], 4)", "r8c", 2);
    assert!(said.contains("r8c is skipped: there is no C compiler for it"), "{said}");
}

#[test]
fn out_of_bounds_and_endless_are_errors_in_every_format() {
    for (call, part) in [
        (
            "past_end([4], 4)",
            "out of bounds on the host: global-buffer-overflow beside argument 1 (p), in past_end",
        ),
        ("endless(1)", "on the host the function did not return within 10 s"),
    ] {
        let said = refused("functions.c", call, "atmega328p", 1);
        assert!(said.contains(part), "{call}: {said}");
    }
    let (code, out, _) =
        measured(&[source("functions.c")], "past_end([4], 4)", &["atmega328p"], &["--format", "junit"]);
    assert!(code == Some(1) && out.contains("failures=\"1\"") && out.contains("out of bounds"), "{out}");
    let (code, out, _) =
        measured(&[source("functions.c")], "past_end([4], 4)", &["atmega328p"], &["--format", "json"]);
    let rows: Value = serde_json::from_str(&out).expect("JSON");
    assert!(code == Some(1) && rows[0]["problem"].is_string() && rows[0]["cycles"].is_null(), "{out}");
}

#[test]
fn compiler_s_own_message_is_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let broken = folder.path().join("broken.c");
    std::fs::write(&broken, "int broken(int a) { return a + ; }\n").expect("written");
    let (code, _, err) = measured(std::slice::from_ref(&broken), "broken(1)", &["atmega328p"], &[]);
    assert!(code == Some(1) && err.contains("broken.c:1:32: error: expected expression"), "{err}");
    std::fs::write(&broken, "").expect("written");
    let (code, _, err) = measured(&[broken], "broken(1)", &["atmega328p"], &[]);
    assert!(code == Some(2) && err.contains("there is no function 'broken'"), "{err}");
}

#[test]
fn rows_are_ranked_by_a_figure() {
    for by in ["energy", "cycles", "flash"] {
        let field = |row: &Value| match by {
            "energy" => row["energy_j"].as_f64(),
            "cycles" => row["cycles"]["mean"].as_f64(),
            _ => row["flash_bytes"].as_f64(),
        };
        let rows = good("functions.c", "fir([16], 16)", &PARTS, &["--by", by]);
        assert!(rows.is_sorted_by(|one, next| field(one) <= field(next)), "{by}: {rows:?}");
    }
}

#[test]
fn targets_are_drawn_by_the_figure_they_are_ranked_by() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fir.svg");
    let plot = ["--plot", path.to_str().expect("UTF-8"), "--by", "cycles"];
    let rows = good("functions.c", "fir([16], 16)", &PARTS, &plot);
    let drawn = std::fs::read_to_string(&path).expect("written");
    let text = |text: &str| drawn.find(text).unwrap_or_else(|| panic!("{text} is not in {drawn}"));
    assert!(text("Cycles by part") < text("fir([16], 16)"));
    let at: Vec<usize> = rows.iter().map(|row| text(row["target"].as_str().expect("a name"))).collect();
    assert!(at.is_sorted(), "{at:?}");
    let (code, _, err) = measured(&[source("functions.c")], "fir([16], 16)", &[], &["--plot", "none/a.svg"]);
    assert!(code == Some(1) && err.contains("none/a.svg"), "{err}");
}

#[test]
fn table_fits_80_columns_and_is_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let saved = folder.path().join("before.json").display().to_string();
    let (code, out, err) = measured(&[source("functions.c")], "fir([16], 16)", &PARTS, &["--save", &saved]);
    assert_eq!(code, Some(0), "{err}");
    let table: Vec<&str> = out.lines().filter(|line| line.starts_with(['│', '┌', '╞', '└'])).collect();
    assert_eq!(table.len(), 4 + PARTS.len(), "{out}");
    assert!(table.iter().all(|line| line.chars().count() <= 80) && out.contains("RAM B"), "{out}");
    let options = ["--against", &saved, "--cflags", "-O0", "--fail-over", "1%"];
    let (code, out, err) = measured(&[source("functions.c")], "fir([16], 16)", &["stm32f407"], &options);
    assert!(code == Some(1) && out.contains("PAST") && err.contains("fir([16], 16)"), "{out}{err}");
}
