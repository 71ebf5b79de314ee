//! Statements of a scenario's file, and the errors for other ones.

use sim::configured::scenario::ConfiguredScenario;
use sim::harvest::scenario::{Mode, Scenario};
use sim::network::scenario::NetworkScenario;

const GOOD: &str = include_str!("../../../../scenarios/harvest-solar.toml");

fn refused(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from} is not in the file");
    Scenario::from_toml(&GOOD.replacen(from, to, 1)).expect_err("it makes no sense")
}

#[test]
fn the_project_s_scenarios_are_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let mut modes = Vec::new();
    let mut networks = 0;
    let mut configured = 0;
    for entry in std::fs::read_dir(folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = std::fs::read_to_string(&path).expect("text");
            if NetworkScenario::is_one(&text) {
                NetworkScenario::from_toml(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
                networks += 1;
                continue;
            }
            if text.contains("\n[choice]\n") {
                ConfiguredScenario::from_toml(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
                configured += 1;
                continue;
            }
            let scenario = Scenario::from_toml(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            modes.push(scenario.node.mode);
        }
    }
    assert!(modes.contains(&Mode::Periodic) && modes.contains(&Mode::Asynchronous));
    assert!(networks > 1 && configured > 0);
}

#[test]
fn a_misspelt_field_is_named_with_those_that_there_are() {
    let error = refused("interval_s", "intervall_s");
    assert!(error.contains("intervall_s") && error.contains("`interval_s`"), "{error}");
    let error = refused("ecdsa-secp160r1\"", "ecdsa-secp192r1\"");
    assert!(error.contains("ecdsa-secp192r1") && error.contains("`ecdsa-p256`"), "{error}");
}

#[test]
fn a_figure_out_of_range_is_named_with_its_range() {
    let error = refused("start_day = 80", "start_day = 366");
    assert_eq!(error, "sun.start_day is 366; allowed is 1 to 365 (the day of the year)");
    let error = refused("turn_on_v = 2.9", "turn_on_v = 2.0");
    assert!(error.starts_with("regulator.turn_on_v is 2; allowed is 2.25 to 5 "), "{error}");
    let error = refused("charger_efficiency = 0.8", "charger_efficiency = 1.8");
    assert!(error.contains("charger_efficiency is 1.8"), "{error}");
    let error = refused("start_v = 3.5", "start_v = nan");
    assert!(error.starts_with("start_v is NaN"), "{error}");
    let error = refused("rated_w = 0.010", "rated_w = 1e308");
    assert!(error.starts_with("panel.rated_w is 1"), "{error}");
}

#[test]
fn a_threshold_that_the_node_cannot_measure_is_refused() {
    // A node that waits for it would never sign.
    let text = GOOD.replacen("max_v = 5.0", "max_v = 9.0", 1).replacen(
        "interval_s = 300",
        "interval_s = 300\nthreshold_v = 7.0",
        1,
    );
    let error = Scenario::from_toml(&text).expect_err("the converter ends at 5.958 V");
    assert!(error.starts_with("node.threshold_v is 7; allowed is 0 to 5.958 "), "{error}");
}

#[test]
fn too_coarse_steps_and_endless_traces_are_refused() {
    let whole = format!("{GOOD}\n[step]\nawake_s = 0.001\nasleep_s = 1.0\nsample_s = 60.0\n");
    assert!(Scenario::from_toml(&whole).is_ok());
    // A tenth of a second at 30 mA takes 3 V from a millifarad.
    let small = whole.replacen("capacitance_f = 0.47", "capacitance_f = 0.001", 1);
    assert!(Scenario::from_toml(&small).is_ok());
    let error =
        Scenario::from_toml(&small.replacen("awake_s = 0.001", "awake_s = 0.1", 1)).expect_err("too long");
    assert!(error.starts_with("step.awake_s is 0.1; allowed is 0.00001 to 0.002 "), "{error}");
    let year = whole.replacen("start_v = 3.5", "start_v = 3.5\ndays = 366.0", 1);
    assert!(Scenario::from_toml(&year).is_ok());
    let error = Scenario::from_toml(&year.replacen("sample_s = 60.0", "sample_s = 0.001", 1))
        .expect_err("3e10 samples");
    assert!(error.starts_with("step.sample_s is 0.001; allowed is 3.16"), "{error}");
}

#[test]
fn scenario_refuses_contradictions() {
    let error = refused("deadline_s = 5.0", "deadline_s = 5.0\ngap_s = 60.0");
    assert!(error.contains("server.gap_s is for asynchronous mode alone"), "{error}");
    let error = refused("mode = \"periodic\"", "mode = \"asynchronous\"");
    assert!(error.contains("server.gap_s is missing"), "{error}");
    // The server hears nothing before the last copy of its challenge, 4.005 s after the first.
    let challenge = include_str!("../../../../scenarios/harvest-challenge.toml");
    let hasty = challenge.replacen("deadline_s = 6.0", "deadline_s = 4.005", 1);
    let error = Scenario::from_toml(&hasty).expect_err("no answer can be in time");
    assert!(
        error.starts_with("server.deadline_s is 4.005, but a challenge is repeated for 4.005 s"),
        "{error}"
    );
    let error = refused("file = \"greensboro\"", "");
    assert!(error.contains("either file or latitude_deg"), "{error}");
}

/// The firmware refuses these turns, and the node would sleep for ever.
#[test]
fn scenario_refuses_turns_that_the_radio_cannot_keep() {
    let error = refused("mode = \"periodic\"", "mode = \"periodic\"\nwake_on_radio = true");
    assert!(error.contains("node.wake_on_radio is for asynchronous mode alone"), "{error}");
    let challenge = include_str!("../../../../scenarios/harvest-challenge.toml");
    let with = |every_ms: u32, for_ms: u32| {
        let text = challenge
            .replacen(
                "listen_every_ms = 4000",
                &format!("wake_on_radio = true\nlisten_every_ms = {every_ms}"),
                1,
            )
            .replacen("listen_for_ms = 5", &format!("listen_for_ms = {for_ms}"), 1);
        Scenario::from_toml(&text)
    };
    for (every_ms, for_ms) in [(4000, 5), (1900, 228), (2000, 36), (100, 12), (30, 2)] {
        with(every_ms, for_ms).expect("turns that the radio keeps");
    }
    for (every_ms, for_ms) in [(0, 5), (29, 2), (1000, 1), (1000, 121), (2000, 37)] {
        let error = with(every_ms, for_ms).expect_err("the radio cannot");
        assert!(error.starts_with(&format!("node.listen_for_ms is {for_ms}")), "{error}");
    }
}
