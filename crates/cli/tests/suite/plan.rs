//! `wattseal plan` as others rely on it: what it answers, and what it says where there is no
//! answer.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// One target, scheme and variant, so that little is built and measured.
const NARROW: [&str; 7] =
    ["plan", "--target", "msp430f5438a", "--scheme", "ecdsa-secp160r1", "--variant", "fast"];

fn plan(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wattseal"))
        .env("WATTSEAL_HOME", home())
        .args(NARROW)
        .args(arguments)
        .output()
        .expect("the binary under test runs")
}

fn rows(arguments: &[&str]) -> Vec<Value> {
    let output = plan(&[arguments, &["--format", "json"]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("an array of objects")
}

fn refused(arguments: &[&str], code: i32) -> String {
    let output = plan(arguments);
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
    assert!(output.stdout.is_empty(), "{arguments:?} wrote data although it failed");
    assert!(!text.contains("panicked"), "{text}");
    text
}

fn number(row: &Value, field: &str) -> f64 {
    row[field].as_f64().unwrap_or_else(|| panic!("{field} is a number: {row}"))
}

#[test]
fn every_feasible_point_keeps_to_the_requirement() {
    let rows = rows(&["--energy", "2mJ", "--supply", "2.0"]);
    assert!(!rows.is_empty() && rows.iter().any(|row| row["front"] == true));
    for row in &rows {
        assert!(number(row, "energy_j") <= 2e-3);
        assert_eq!(row["limit"], "energy");
        assert!((number(row, "slack") - (1.0 - number(row, "energy_j") / 2e-3)).abs() < 1e-9);
        let parts = number(row, "compute_j") + number(row, "radio_j") + number(row, "sleep_j");
        assert!((number(row, "energy_j") - parts).abs() < 1e-12);
        assert!((number(row, "latency_s") - number(row, "cycles") / number(row, "clock_hz")).abs() < 1e-9);
        // Table 3.1: 12 MHz is the most at 2.0 V.
        assert!(number(row, "clock_hz") <= 12e6);
    }
}

/// The paper's own cycles at 14 MHz and 2.7 V: 2,372,103 / 14 MHz = 0.1694 s, and 1.9 mJ measured.
#[test]
fn the_paper_s_cycles_give_the_paper_s_energy() {
    let rows = rows(&["--cycles", "2372103", "--clock", "14M", "--supply", "2.7", "--latency", "170ms"]);
    assert_eq!(rows.len(), 1);
    assert!((number(&rows[0], "latency_s") - 0.16944).abs() < 1e-5);
    assert!((number(&rows[0], "energy_j") / 1.9e-3 - 1.0).abs() < 0.15, "{}", rows[0]);
}

/// 12 MHz is the most at 2.0 V: 2,372,103 cycles take 197.7 ms, 19 % (197.675 / 166.667 - 1 = 18.6
/// %) above 1/6 s.
#[test]
fn infeasible_plan_names_the_requirement_and_its_excess() {
    let error = refused(&["--cycles", "2372103", "--supply", "2.0", "--latency", "1/6s"], 1);
    assert!(error.contains("none of 12 points"), "{error}");
    assert!(error.contains("latency at most 166.7 ms excludes 12, 12 of them alone"), "{error}");
    assert!(
        error.contains(
            "closest: msp430f5438a ecdsa-secp160r1 fast at 12 MHz, 2 V needs 197.7 ms, 19 % above 166.7 ms"
        ),
        "{error}"
    );
    let error = refused(&["--security", "128"], 1);
    assert!(error.contains("gives 80 bits, 38 % below 128 bits"), "{error}");
}

/// A telegram has a message of its own.
#[test]
fn telegrams_are_planned_by_name() {
    let plan = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_wattseal"))
            .env("WATTSEAL_HOME", home())
            .args([
                "plan",
                "--target",
                "stm32f407",
                "--variant",
                "fast",
                "--clock",
                "16MHz",
                "--supply",
                "3.0",
            ])
            .args(["--radio", "cc1101", "--cycles", "1000"])
            .args(arguments)
            .output()
            .expect("the binary under test runs")
    };
    let rows: Vec<Value> = serde_json::from_slice(&plan(&["--scheme", "oms-*", "--format", "json"]).stdout)
        .expect("an array of objects");
    // 8 bytes of preamble and synchronisation; frames of format B.
    let on_air = |scheme: &str| {
        let row = rows.iter().find(|row| row["scheme"] == scheme).unwrap_or_else(|| panic!("{scheme}"));
        number(row, "radio_bytes")
    };
    assert_eq!(["oms-a", "oms-b", "oms-d"].map(on_air), [41.0, 62.0, 56.0]);
    let kinds: Vec<&Value> = rows.iter().map(|row| &row["kind"]).collect();
    assert_eq!(kinds, ["encryption", "sealing", "sealing"]);
    for (scheme, is_warned_of) in [("oms-*", true), ("oms-d", false)] {
        let table = String::from_utf8(plan(&["--scheme", scheme]).stdout).expect("UTF-8");
        assert_eq!(table.contains("oms-a encrypts alone: anybody can alter its messages"), is_warned_of);
    }
    let long = plan(&["--scheme", "oms-b", "--bytes", "16"]);
    let text = String::from_utf8_lossy(&long.stderr).into_owned();
    assert_eq!(long.status.code(), Some(2), "{text}");
    assert!(text.contains("oms-b has a message of its own, of 14 bytes; leave out --bytes"), "{text}");
}

#[test]
fn wrong_usage_says_how_it_is_right() {
    for (arguments, hint) in [
        (["--energy", "2mj"].as_slice(), "did you mean 2mJ?"),
        (&["--rate", "15min"], "did you mean 1/15min?"),
        (&["--battery", "220mAh"], "its voltage is missing"),
        (&["--plot", "out.png"], "did you mean out.svg?"),
        (&["--radio", "cc2050"], "did you mean cc2500"),
        (&["--scheme", "ecdsa-p265"], "did you mean ecdsa-p256"),
        (&["--life", "5y"], "--battery 220mAh@3V"),
        (&["--life", "5y", "--battery", "220mAh@3V"], "--rate 4/h"),
        (&["--clock", "16M", "--supply", "2.0"], "16 MHz is too fast at 2 V"),
        (&["--supply", "5"], "3.6 V"),
    ] {
        let error = refused(arguments, 2);
        assert!(error.contains(hint), "{arguments:?}: {error}");
    }
}

/// 0.22 Ah at 3.0 V over the mean power at 3.0 V, by hand: 2,376 J. By (6.1) 0.02 F must be charged
/// to 3.6 V; 0.1 F to 1.6 V, which is below the supply that the regulator needs.
#[test]
fn a_battery_s_life_and_a_capacitor_s_voltage() {
    for (capacitor, capacitance_f) in [("0.02F", 0.02), ("0.1F", 0.1)] {
        let battery = ["--rate", "1/15min", "--supply", "3.0", "--battery", "0.22Ah@3.0V"];
        for row in rows(&[&battery[..], &["--capacitor", capacitor]].concat()) {
            let active_j = number(&row, "compute_j") + number(&row, "radio_j");
            assert!((number(&row, "life_s") * number(&row, "mean_w") / 2376.0 - 1.0).abs() < 1e-6);
            let by_6_1_v = ((2.0 * active_j + 0.125) * 2.0 / capacitance_f).sqrt();
            assert!((by_6_1_v > 3.0) == (capacitor == "0.02F"), "{by_6_1_v} V");
            assert!((number(&row, "stored_v") - by_6_1_v.max(3.0)).abs() < 1e-9);
            assert!(number(&row, "sleep_j") > 0.0);
        }
    }
}

#[test]
fn a_plot_is_a_picture_or_a_page() {
    let folder = home().join("target/plan-test");
    std::fs::create_dir_all(&folder).expect("a folder under target/");
    for (name, marks) in [("plan.svg", ["<svg", "</svg>"]), ("plan.html", ["<!DOCTYPE html>", "<table>"])] {
        let path = folder.join(name);
        let output = plan(&["--energy", "2mJ", "--plot", path.to_str().expect("UTF-8")]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = std::fs::read_to_string(&path).expect("the picture");
        assert!(marks.iter().all(|mark| text.contains(mark)), "{name}");
    }
}
