//! Tables of several parts, lists, and files for a picture, a page, a dashboard.

use super::{refused, rows, stdout, wattseal};
use serde_json::Value;

const PARTS: [&str; 6] = ["--target", "atmega328p", "--target", "stm32f407", "--target", "msp430f5438a"];

/// `bench` of one operation on three parts, with further options.
fn bench(options: &[&str]) -> String {
    let line = [&["bench", "--op", "aes128-encrypt", "--variant", "fast"][..], &PARTS, options].concat();
    let output = wattseal(&line);
    assert!(output.status.success(), "{line:?}: {}", String::from_utf8_lossy(&output.stderr));
    stdout(&output)
}

fn tables(text: &str) -> usize {
    text.lines().filter(|line| line.starts_with('┌')).count()
}

fn is_narrow(text: &str) -> bool {
    text.lines().all(|line| line.chars().count() <= 80)
}

#[test]
fn parts_of_one_operation_stand_in_one_table() {
    let text = bench(&[]);
    assert!(tables(&text) == 1 && is_narrow(&text), "{text}");
    assert!(text.starts_with("aes128-encrypt of 16 bytes, fast\n"), "{text}");
    assert!(text.contains("stm32f407 (2.6 %)") && text.contains("(estimate)"), "{text}");
    // One target stands above its operations.
    let one = wattseal(&["bench", "--target", "atmega328p", "--op", "aes128-*crypt", "--variant", "fast"]);
    let text = stdout(&one);
    assert!(tables(&text) == 1 && text.starts_with("atmega328p  16 MHz"), "{text}");
}

#[test]
fn ranked_parts_begin_with_the_least() {
    for (by, pointer) in [("energy", "/energy_j"), ("cycles", "/cycles/mean"), ("flash", "/flash_bytes")] {
        let rows: Vec<Value> = serde_json::from_str(&bench(&["--by", by, "--format", "json"])).expect("rows");
        let figures: Vec<f64> =
            rows.iter().filter_map(|row| row.pointer(pointer)).filter_map(Value::as_f64).collect();
        assert!(figures.len() == 3 && figures.is_sorted(), "{by}: {figures:?}");
        let table = bench(&["--by", by]);
        assert!(tables(&table) == 1 && is_narrow(&table) && table.contains("██████"), "{table}");
        let place = |row: &Value| table.find(row["target"].as_str().expect("a name")).expect(&table);
        assert!(rows.iter().map(place).is_sorted(), "{table}");
    }
    assert!(refused(&["bench", "--by", "enrgy"], 2).contains("'energy'"));
}

#[test]
fn pair_of_targets_or_variants_stands_side_by_side() {
    let pair = |line: &[&str]| {
        let output = wattseal(&[&["bench", "--op", "aes128-encrypt"][..], line].concat());
        let text = stdout(&output);
        assert!(output.status.success() && is_narrow(&text) && tables(&text) == 1, "{text}");
        text
    };
    let text = pair(&["--compare", "atmega328p", "stm32f407"]);
    assert!(text.contains("ratio: stm32f407 over atmega328p") && text.starts_with("fast\n"), "{text}");
    let cycles = text.lines().find(|line| line.contains("cycles")).expect(&text);
    assert!(cycles.contains("2,078") && cycles.contains("620~") && cycles.contains("0.298"), "{text}");
    let text = pair(&["--target", "atmega328p", "--compare", "small", "fast"]);
    assert!(text.starts_with("atmega328p\n") && text.contains("ratio: fast over small"), "{text}");
    for (names, hint) in [
        (["small", "stm32f407"], "one is a variant"),
        (["fast", "fast"], "the same"),
        (["atmega382p", "stm32f407"], "did you mean atmega328p"),
    ] {
        let error = refused(&["bench", "--op", "sha1", "--compare", names[0], names[1]], 2);
        assert!(error.contains(hint), "{error}");
    }
    let both = ["bench", "--target", "r8c", "--compare", "atmega328p", "stm32f407"];
    assert!(refused(&both, 2).contains("leave --target out"));
}

#[test]
fn picture_and_page_have_each_part() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    bench(&["--plot", &at("parts.svg"), "--report", &at("parts.html")]);
    let read = |name: &str| std::fs::read_to_string(at(name)).expect("a file");
    let (svg, page) = (read("parts.svg"), read("parts.html"));
    assert!(svg.starts_with("<svg") && svg.contains("Energy by part"), "{svg}");
    for part in ["atmega328p", "stm32f407", "msp430f5438a"] {
        assert!(svg.contains(part) && page.matches(part).count() >= 2, "{part}");
    }
    assert!(page.contains("avr-gcc") && page.contains("--op aes128-encrypt"), "{page}");
    // The page asks for nothing beyond itself.
    let links = ["<script", "<link", " src=\"http", "url(http"];
    assert!(links.iter().all(|link| !page.contains(link)), "{page}");
    let error = refused(&["bench", "--op", "sha1", "--report", &folder.path().display().to_string()], 2);
    assert!(error.contains("is a folder"), "{error}");
}

#[test]
fn dashboards_and_latex_have_each_row() {
    let entries: Vec<Value> = serde_json::from_str(&bench(&["--format", "github-benchmark"])).expect("JSON");
    assert_eq!(entries.len(), 3 * 5, "{entries:?}");
    let all = |field: &str, holds: fn(&Value) -> bool| entries.iter().all(|entry| holds(&entry[field]));
    assert!(all("name", Value::is_string) && all("unit", Value::is_string) && all("value", Value::is_number));
    let benchmarks: Value = serde_json::from_str(&bench(&["--format", "bencher"])).expect("JSON");
    let benchmarks = benchmarks.as_object().expect("an object");
    assert!(benchmarks.len() == 3 && benchmarks.values().all(|row| row["energy"]["value"].is_number()));
    let latex = bench(&["--format", "latex"]);
    assert!(latex.contains("\\begin{tabular}") && latex.contains("stm32f407 & 168 & "), "{latex}");
    assert!(refused(&["bench", "--format", "sarif"], 2).contains("[possible values: table, json"));
}

#[test]
fn lists_name_what_commands_take() {
    for (what, name, least) in [
        ("targets", "atmega328p", 20),
        ("ops", "aes128-encrypt", 50),
        ("variants", "portable", 5),
        ("schemes", "aes128-gcm", 5),
        ("papers", "mane2014", 5),
        ("boards", "bluepill", 5),
    ] {
        let output = wattseal(&["list", what]);
        let table = stdout(&output);
        assert!(output.status.success() && is_narrow(&table) && table.contains(name), "{table}");
        let rows = rows(&["list", what, "--format", "json"]);
        assert!(rows.len() >= least, "{what}: {rows:?}");
        let csv = stdout(&wattseal(&["list", what, "--format", "csv"]));
        assert_eq!(
            csv.lines().next().map(|line| line.split(',').count()),
            rows[0].as_object().map(|row| row.len())
        );
    }
    assert!(refused(&["list", "target"], 2).contains("'targets'"));
}

/// A server of test reports learns that rows are missing.
#[test]
fn unfinished_bench_is_an_error_in_junit_s_report() {
    let line = ["bench", "--target", "atmega328p", "--op", "sha1", "--variant", "fast", "--fresh"];
    let output = wattseal(&[&line[..], &["--max-cycles", "10", "--format", "junit"]].concat());
    let report = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{report}");
    assert!(report.contains("errors=\"1\"") && report.contains("<error message="), "{report}");
    assert!(report.contains("within 10 cycles"), "{report}");
}
