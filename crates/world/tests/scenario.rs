//! What a scenario's file may say, and what it is told where it says something else.

use world::scenario::{Mode, Scenario};

const GOOD: &str = include_str!("../../../scenarios/harvest-solar.toml");

fn refused(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from} is not in the file");
    Scenario::from_toml(&GOOD.replacen(from, to, 1)).expect_err("it makes no sense")
}

#[test]
fn the_project_s_scenarios_are_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let mut modes = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = std::fs::read_to_string(&path).expect("text");
            let scenario = Scenario::from_toml(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            modes.push(scenario.node.mode);
        }
    }
    assert!(modes.contains(&Mode::Periodic) && modes.contains(&Mode::Asynchronous));
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
}

#[test]
fn what_does_not_go_together_is_refused() {
    let error = refused("deadline_s = 5.0", "deadline_s = 5.0\ngap_s = 60.0");
    assert!(error.contains("server.gap_s is for asynchronous mode alone"), "{error}");
    let error = refused("mode = \"periodic\"", "mode = \"asynchronous\"");
    assert!(error.contains("server.gap_s is missing"), "{error}");
    let error = refused("file = \"greensboro\"", "");
    assert!(error.contains("either file or latitude_deg"), "{error}");
}
