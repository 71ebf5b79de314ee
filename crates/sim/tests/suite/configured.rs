//! The node that configures itself, some days of winter under the sun of its scenario.

use lab::workspace::Workspace;
use sim::configured::scenario::ConfiguredScenario;
use sim::configured::simulation::{PolicyOutcome, run};
use sim::simulation::Quiet;

const SCENARIO: &str = include_str!("../../../../scenarios/configured.toml");

fn outcomes(days: f64) -> Vec<PolicyOutcome> {
    let workspace = Workspace::find().expect("the tests run inside the project");
    let mut scenario = ConfiguredScenario::from_toml(SCENARIO).expect("the project's scenario");
    scenario.days = days;
    run(&workspace, &scenario, &Quiet).expect("days of winter")
}

#[test]
fn configured_node_signs_more_often_and_stronger() {
    let outcomes = outcomes(60.0);
    for outcome in &outcomes {
        let PolicyOutcome { signed_128_bits, signed_80_bits, refused, without_power, .. } = outcome;
        assert_eq!(signed_128_bits + signed_80_bits + refused + without_power, outcome.due, "{outcome:?}");
        assert_eq!(outcome.due, 60 * 288, "{outcome:?}");
        assert!(outcome.rail_j_per_signature < outcome.stored_j_per_signature, "{outcome:?}");
    }
    let signed = |outcome: &PolicyOutcome| outcome.signed_128_bits + outcome.signed_80_bits;
    let named = |words: &[&str]| {
        let is_named = |outcome: &&PolicyOutcome| words.iter().all(|word| outcome.policy.contains(word));
        outcomes.iter().find(is_named).unwrap_or_else(|| panic!("{words:?} in {outcomes:?}"))
    };
    let configured = named(&["configures itself"]);
    for strong in [named(&["P-256", "8 MHz"]), named(&["P-256", "25 MHz"])] {
        assert!(signed(configured) >= signed(strong) && strong.signed_80_bits == 0, "{outcomes:?}");
    }
    let weak = named(&["secp160r1", "8 MHz"]);
    assert!(weak.signed_128_bits == 0 && configured.signed_128_bits > 0, "{outcomes:?}");
}

#[test]
fn choice_without_schemes_is_refused() {
    let text = SCENARIO.replace("[\"ecdsa-p256\", \"ecdsa-secp160r1\"]", "[]");
    let problem = ConfiguredScenario::from_toml(&text).expect_err("no scheme");
    assert!(problem.contains("choice.schemes"), "{problem}");
    let text = SCENARIO.replace("full = 0.98", "full = 1.2");
    assert!(ConfiguredScenario::from_toml(&text).expect_err("too full").contains("choice.full"));
}
