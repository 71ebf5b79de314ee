//! The closed loop with a node that follows a script: what is done to it is worked out by hand.

mod fake;

use self::fake::{AWAKE_A, Fake};
use energy::storage::Capacitor;
use energy::sun::{Irradiance, Panel};
use sim::harvest::outcome::{EventKind, Misses, Outcome, Reason};
use sim::harvest::recorder::Run;
use sim::harvest::setup::simulate;
use sim::node::Node;
use sim::radio::{ChannelModel, Framing};
use sim::simulation::Quiet;
use sim::station::verifier::{Demand, Verifier};
use sim::supply::harvest::{Harvest, Step};
use sim::supply::{Charger, Circuit, Regulator};
use sim::time::SECOND_NS;

/// Surroundings of the node.
struct World {
    seed: u64,
    days: f64,
    sun: Irradiance,
    loss: f64,
    step: Step,
}

struct Setting {
    world: World,
    panel_w: f64,
    charger: Charger,
    capacitor: Capacitor,
    regulator: Regulator,
    start_v: f64,
    demand: Demand,
    deadline_s: f64,
    node: Fake,
}

/// A night of six hours and a reading a minute.
fn periodic() -> Setting {
    Setting {
        world: World {
            seed: 1,
            days: 0.25,
            sun: Irradiance { step_s: 3600.0, w_per_m2: vec![0.0; 24], source: "none".into() },
            loss: 0.0,
            step: Step::default(),
        },
        panel_w: 0.01,
        charger: Charger { overhead_a: 5e-6, minimum_v: 1.0 },
        capacitor: Capacitor { capacitance_f: 0.5, max_v: 5.0, esr_ohm: 2.0, leakage_a: 5e-6 },
        regulator: Regulator {
            output_v: 2.7,
            dropout_v: 0.1,
            quiescent_a: 1e-6,
            turn_on_v: 3.0,
            turn_off_v: 2.2,
        },
        start_v: 4.0,
        demand: Demand::Periodic { interval_ns: 60 * SECOND_NS },
        deadline_s: 5.0,
        node: Fake::new(Some(60)),
    }
}

fn challenged() -> Setting {
    Setting {
        demand: Demand::Challenges { gap_s: 60.0 },
        deadline_s: 1.0,
        node: Fake::new(None),
        ..periodic()
    }
}

impl Setting {
    fn run(self) -> Outcome {
        let panel = Panel { rated_w: self.panel_w, charger_efficiency: 0.8 };
        let circuit = Circuit::new(panel, self.charger, self.capacitor, self.regulator, self.start_v);
        let deadline_ns = (self.deadline_s * SECOND_NS as f64) as u64;
        let World { seed, days, sun, loss, step } = self.world;
        let server = Verifier::new(self.node.peer(), self.demand, deadline_ns, 1);
        let harvest = Harvest::new(circuit, (sun, 1.0), 1.8, step, self.node.states());
        let model = ChannelModel { seed, loss, ..ChannelModel::ideal(Framing::Cc2500, 32_000) };
        let run = Run { title: "test".into(), seed, days, threshold_v: 0.0, sample_s: step.sample_s };
        let node = Box::new(self.node);
        let outcome = simulate(node, harvest, server, model, run, &Quiet).expect("no fault");
        let energy = &outcome.energy;
        let share = energy.imbalance_j() / energy.throughput_j();
        assert!(share.abs() < 1e-9, "the account is off by {share:e}");
        outcome
    }
}

#[test]
fn a_periodic_node_is_authenticated_each_interval() {
    let outcome = periodic().run();
    // Every 60 s and 203 ms of work: 21,600 / 60.203 = 358.8.
    assert_eq!(outcome.authentications, 358);
    assert_eq!((outcome.misses, outcome.rejected, outcome.resets), (Misses::default(), 0, 0));
    assert_eq!(outcome.signed, 358);
    assert!((outcome.max_latency_s.unwrap() - 0.003).abs() < 1e-6);
}

#[test]
fn storage_loses_the_drawn_energy_in_the_dark() {
    let outcome = periodic().run();
    // By charge: awake 358 × 0.2 s × 5 mA = 0.358 C; on the air 358 × 3 ms × 21.2 mA = 22.8 mC (and
    // the beginning of a 359th sleep); asleep (21,600 − 72.7) s × 10 µA = 215.3 mC; overhead and
    // regulator 21,600 s × 6 µA = 129.6 mC; leakage about 5 µA × 3.0/5 × 21,600 s = 64.8 mC at 3.0
    // V, 86.4 mC at 4.0 V. In all 0.80 C of 0.5 F: 1.60 V.
    let stored_end_v = (2.0 * outcome.energy.stored_end_j / 0.5).sqrt();
    let known_c = 0.358 + 0.022_8 + 0.215_3 + 0.129_6;
    let leaked_c = 5e-6 / 5.0 * (4.0 + stored_end_v) / 2.0 * 21_600.0;
    assert!((4.0 - stored_end_v - (known_c + leaked_c) / 0.5).abs() < 2e-3, "{stored_end_v}");
    let active = &outcome.energy.loads[0];
    // At 2.7 V while the storage is above 2.8 V, and at 0.1 V below the storage then.
    assert!((active.time_s - 71.6).abs() < 1e-6);
    assert!(active.energy_j < AWAKE_A * 71.6 * 2.7 && active.energy_j > AWAKE_A * 71.6 * 2.3);
    assert_eq!(outcome.energy.offered_j, 0.0);
}

#[test]
fn a_full_storage_takes_no_more() {
    let mut setting = periodic();
    setting.world.sun.w_per_m2.fill(1000.0);
    setting.start_v = 4.99;
    let outcome = setting.run();
    assert!(outcome.max_v < 5.0 + 2.0 * 0.002, "{}", outcome.max_v);
    // 10 mW for six hours; the node takes less than 0.3 mW on average.
    assert!((outcome.energy.offered_j - 216.0).abs() < 1e-6);
    assert!(outcome.energy.curtailed_j > 0.95 * 216.0);
    assert!(
        (outcome.energy.charger_j / (outcome.energy.offered_j - outcome.energy.curtailed_j) - 0.2).abs()
            < 1e-9
    );
}

#[test]
fn an_empty_storage_resets_the_node_and_the_sun_brings_it_back() {
    let mut setting = periodic();
    setting.start_v = 3.05;
    setting.world.days = 1.0;
    setting.world.sun.w_per_m2[10..16].fill(800.0);
    let outcome = setting.run();
    assert_eq!(outcome.resets, 1);
    let times = |wanted: EventKind| {
        let found = outcome.events.iter().filter(move |event| event.kind == wanted);
        found.map(|event| event.time_s).collect::<Vec<_>>()
    };
    let (up, lost) = (times(EventKind::PowerUp), times(EventKind::PowerLost));
    assert_eq!((up.len(), lost.len()), (2, 1));
    assert!(up[1] > 9.0 * 3600.0 && up[1] < 13.0 * 3600.0, "{up:?}");
    // Missed once a minute while it is off, by that reason; authenticated before and after.
    let off_s = up[1] - lost[0];
    assert!((outcome.off_s - off_s).abs() < 1e-6);
    assert!((outcome.misses.node_off as f64 - off_s / 60.0).abs() < 2.0, "{:?} in {off_s} s", outcome.misses);
    assert_eq!(outcome.misses.total(), outcome.misses.node_off);
    let done = times(EventKind::Authenticated);
    assert!(done.iter().any(|&t| t < lost[0]) && done.iter().any(|&t| t > up[1]));
    assert_eq!(outcome.rejected, 0, "the counter lives through the reset");
}

#[test]
fn the_gate_keeps_the_node_alive_instead() {
    let mut setting = periodic();
    setting.start_v = 3.05;
    setting.node.threshold_v = 3.0;
    let outcome = setting.run();
    assert_eq!(outcome.resets, 0);
    assert!(outcome.misses.no_energy > 300, "{:?}", outcome.misses);
    assert_eq!(outcome.misses.no_energy, outcome.misses.total());
    assert!(outcome.refused >= outcome.misses.no_energy);
}

#[test]
fn challenges_are_answered() {
    let outcome = challenged().run();
    // 21,600 s / (60 s + 0.204 s), give or take three standard deviations of a Poisson count.
    assert!(
        (outcome.authentications as f64 - 358.8).abs() < 3.0 * 358.8f64.sqrt(),
        "{}",
        outcome.authentications
    );
    assert_eq!((outcome.misses.total(), outcome.rejected), (0, 0));
    // 24 bytes and 11: 1.12 ms, then 200 ms and 3 ms.
    assert!((outcome.mean_latency_s.unwrap() - 0.204_12).abs() < 1e-6, "{:?}", outcome.mean_latency_s);
}

#[test]
fn an_answer_after_the_deadline_is_late() {
    let mut setting = challenged();
    setting.node.dawdles_ns = 900_000_000;
    // Awake for 1.1 s a minute takes 2 C.
    setting.capacitor.capacitance_f = 5.0;
    let outcome = setting.run();
    assert_eq!(outcome.authentications, 0);
    assert!(
        outcome.misses.late > 280 && outcome.misses.total() - outcome.misses.late <= 1,
        "{:?}",
        outcome.misses
    );
    assert!(outcome.events.iter().all(|event| !matches!(event.kind, EventKind::Rejected(_))));
}

#[test]
fn packets_lost_on_the_air_are_missed_by_that_reason() {
    let mut setting = challenged();
    setting.world.loss = 0.1;
    let outcome = setting.run();
    let total = (outcome.authentications + outcome.misses.radio) as f64;
    // Both ways: 1 − 0.9² = 0.19.
    let expected = 0.19 * total;
    assert!(
        (outcome.misses.radio as f64 - expected).abs() < 3.0 * (expected * 0.81).sqrt(),
        "{:?}",
        outcome.misses
    );
    assert_eq!(outcome.misses.total(), outcome.misses.radio);
}

#[test]
fn repeated_counters_and_forged_signatures_are_refused() {
    let mut setting = periodic();
    setting.node.repeats = true;
    let outcome = setting.run();
    assert_eq!((outcome.authentications, outcome.rejected), (1, 357));
    assert!(
        matches!(&outcome.events[2].kind, EventKind::Rejected(why) if why.contains("has been used")),
        "{:?}",
        &outcome.events[..5]
    );

    let mut setting = periodic();
    setting.node.forges = true;
    let outcome = setting.run();
    assert_eq!((outcome.authentications, outcome.rejected), (0, 358));
    assert_eq!(outcome.misses.count_of(Reason::Radio), outcome.misses.total());
}

#[test]
fn one_seed_one_result() {
    let make = |seed| {
        let mut setting = challenged();
        setting.world.days = 0.05;
        setting.world.loss = 0.1;
        setting.world.seed = seed;
        setting.run()
    };
    assert_eq!(make(1), make(1));
    assert_ne!(make(1).events, make(2).events);
}

#[test]
fn half_the_step_gives_the_same_world() {
    let make = |share: f64| {
        let mut setting = periodic();
        setting.start_v = 3.05;
        setting.world.days = 0.5;
        setting.world.sun.w_per_m2[8..].fill(300.0);
        let whole = Step::default();
        setting.world.step =
            Step { awake_s: whole.awake_s * share, asleep_s: whole.asleep_s * share, ..whole };
        setting.run()
    };
    let (whole, half) = (make(1.0), make(0.5));
    assert_eq!(whole.authentications, half.authentications);
    assert_eq!(whole.misses, half.misses);
    for (a, b) in [
        (whole.min_v, half.min_v),
        (whole.energy.stored_end_j, half.energy.stored_end_j),
        (whole.energy.used_j(), half.energy.used_j()),
        (whole.energy.lost_j(), half.energy.lost_j()),
    ] {
        assert!((a / b - 1.0).abs() < 1e-4, "{a} and {b}");
    }
}
