//! The node's real firmware, for some minutes.

use lab::workspace::Workspace;
use sim::harvest::outcome::{EventKind, Misses, Outcome};
use sim::harvest::scenario::Scenario;
use sim::harvest::setup::run_scenario;
use sim::simulation::Quiet;

fn scenario(name: &str) -> Scenario {
    let path = format!("{}/../../scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("a scenario");
    Scenario::from_toml(&text).expect("it makes sense")
}

fn run(scenario: &Scenario) -> Outcome {
    let workspace = Workspace::find().expect("the project's folder");
    let outcome = run_scenario(&workspace, scenario, &Quiet).expect("no fault");
    let energy = &outcome.energy;
    let share = energy.imbalance_j() / energy.throughput_j();
    assert!(share.abs() < 1e-9, "the account is off by {share:e}");
    for part in ["cpu", "radio"] {
        let loads = energy.loads.iter().filter(|load| load.part == part);
        let time_s: f64 = loads.map(|load| load.time_s).sum();
        let on_s = outcome.days * 86_400.0 - outcome.off_s;
        assert!((time_s - on_s).abs() < 1e-4, "{part}: {time_s} s of {on_s} s");
    }
    outcome
}

fn time_s(outcome: &Outcome, part: &str, state: &str) -> f64 {
    let loads = outcome.energy.loads.iter().filter(|load| load.part == part && load.state == state);
    loads.map(|load| load.time_s).sum()
}

#[test]
fn readings_come_at_their_intervals() {
    let mut scenario = scenario("harvest-solar");
    scenario.days = 700.0 / 86_400.0;
    let outcome = run(&scenario);
    // At the start, after 300 s, after 600 s.
    assert_eq!((outcome.authentications, outcome.misses, outcome.rejected), (3, Misses::default(), 0));
    assert_eq!((outcome.signed, outcome.refused, outcome.resets), (3, 0, 0));
    // 4 bytes of preamble, 4 of sync word, 1 of length, 61, 2 of check sum: 72 bytes at 250 kbit/s
    // are 2.304 ms.
    let air_s = time_s(&outcome, "radio", "tx");
    assert!((air_s / (3.0 * 2.304e-3) - 1.0).abs() < 0.05, "{air_s}");
    assert!(time_s(&outcome, "cpu", "LPM3") > 690.0);
    assert_eq!(run(&scenario), outcome, "one seed, one result");
}

#[test]
fn p_256_takes_two_packets() {
    let mut scenario = scenario("harvest-p256");
    scenario.days = 200.0 / 86_400.0;
    let outcome = run(&scenario);
    assert_eq!((outcome.authentications, outcome.rejected), (1, 0));
    // 72 bytes, and 11 + 35: 1.472 ms.
    let air_s = time_s(&outcome, "radio", "tx");
    assert!((air_s / 3.776e-3 - 1.0).abs() < 0.05, "{air_s}");
}

#[test]
fn challenges_are_answered_once_the_server_listens() {
    let mut scenario = scenario("harvest-challenge");
    scenario.days = 200.0 / 86_400.0;
    scenario.server.gap_s = Some(15.0);
    let outcome = run(&scenario);
    assert!(outcome.authentications >= 5, "{outcome:?}");
    assert_eq!((outcome.misses, outcome.rejected), (Misses::default(), 0));
    // Repeated for 4.005 s, then an answer of 2.3 ms.
    let latency_s = outcome.mean_latency_s.expect("an answer");
    assert!((4.005..4.05).contains(&latency_s), "{latency_s}");
}

/// Power at the rail of a node that waits for challenges, in microwatts: all of it, and what the
/// running processor draws.
fn waiting_uw(scenario: &Scenario) -> [f64; 2] {
    let outcome = run(scenario);
    assert_eq!((outcome.authentications, outcome.misses), (0, Misses::default()));
    let active = outcome.energy.loads.iter().filter(|load| load.state == "active");
    let active_j: f64 = active.map(|load| load.energy_j).sum();
    [outcome.energy.used_j(), active_j].map(|joules| joules / (outcome.days * 86_400.0) * 1e6)
}

/// `docs/how-to/simulate.md` has these. The radio's own turns are longer, which costs more than the
/// processor's sleep saves.
#[test]
fn wake_on_radio_spares_the_processor_and_no_energy() {
    let mut scenario = scenario("harvest-challenge");
    scenario.days = 300.0 / 86_400.0;
    scenario.server.gap_s = Some(1e7);
    for (every_ms, by_processor, by_radio) in
        [(1000, [229.05, 7.767], [232.23, 0.443]), (4000, [66.75, 2.110], [145.09, 0.439])]
    {
        scenario.node.listen_every_ms = every_ms;
        for (wake_on_radio, expected) in [(false, by_processor), (true, by_radio)] {
            scenario.node.wake_on_radio = wake_on_radio;
            let figures = waiting_uw(&scenario);
            let is_near = |(figure, expected): (f64, f64)| (figure / expected - 1.0).abs() < 2e-3;
            let all_near = figures.into_iter().zip(expected).all(is_near);
            assert!(all_near, "{every_ms} ms, {wake_on_radio}: {figures:?} for {expected:?}");
        }
    }
}

#[test]
fn below_the_threshold_nothing_is_signed() {
    let mut scenario = scenario("harvest-solar");
    // Half an hour without a message, the radio asleep: at 0.1 mA a 0.47 F storage would lose 0.38
    // V.
    scenario.days = 1790.0 / 86_400.0;
    scenario.node.threshold_v = Some(3.6);
    scenario.sun.share = 0.0;
    let outcome = run(&scenario);
    assert_eq!((outcome.authentications, outcome.signed, outcome.refused), (0, 0, 6));
    assert_eq!(outcome.misses.no_energy, outcome.misses.total());
    assert!(outcome.misses.total() >= 5, "{:?}", outcome.misses);
    assert!(outcome.min_v > 3.4, "{} V", outcome.min_v);
}

#[test]
fn the_counter_outlives_a_loss_of_power() {
    let mut scenario = scenario("harvest-dark");
    // A storage that does not last until the morning of a day in June.
    scenario.days = 0.6;
    scenario.node.interval_s = 600;
    scenario.capacitor.capacitance_f = 0.02;
    scenario.sun.start_day = 172;
    scenario.sun.share = 0.2;
    scenario.start_v = 3.0;
    let outcome = run(&scenario);
    assert!(outcome.resets >= 1, "{outcome:?}");
    assert_eq!(outcome.rejected, 0, "a counter was used twice");
    let off = outcome.events.iter().find(|event| event.kind == EventKind::PowerLost);
    let lost_s = off.expect("a loss of power").time_s;
    let authenticated = EventKind::Authenticated;
    let after = outcome.events.iter().filter(|event| event.kind == authenticated && event.time_s > lost_s);
    assert!(after.count() > 5);
}
