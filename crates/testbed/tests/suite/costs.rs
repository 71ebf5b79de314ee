//! Costs of readings: against the link benchmark of kalns2016, and against the file that the
//! collector has.

use lab::delivery::{Deliveries, DeliveryKind, Endpoints, Message};
use lab::progress::Progress;
use lab::workspace::Workspace;
use sim::link::LinkBenchmark;
use std::sync::OnceLock;
use testbed::demo::cost::Cost;
use testbed::demo::measure;
use testbed::demo::start::LATENCY_NS;

/// By suite, a few readings each.
fn measured() -> &'static [Cost] {
    static COSTS: OnceLock<Vec<Cost>> = OnceLock::new();
    COSTS.get_or_init(|| {
        let workspace = Workspace::find().expect("the tests run inside the project");
        measure::costs(&workspace, 3, 7).expect("all readings come")
    })
}

fn is_near(what: &str, ours: f64, theirs: f64, share: f64, most: f64) {
    assert!((ours - theirs).abs() <= share * theirs + most, "{what}: {ours} beside {theirs}");
}

struct Silence;

impl Progress for Silence {
    fn report(&self, _done: usize, _total: usize, _what: &str) {}
}

/// Another channel, other accounts, a collector that computes: the times agree all the same.
#[test]
fn times_are_those_of_kalns2016() {
    let workspace = Workspace::find().expect("the tests run inside the project");
    for cost in [&measured()[1], &measured()[3]] {
        let endpoints =
            Endpoints { collector: "stm32f767".into(), collector_variant: "fast".into(), runs: 2 };
        let kind = DeliveryKind { message: Message::Measurement, suite: cost.suite.into() };
        let runs = LinkBenchmark.deliver(&workspace, &endpoints, &kind, &Silence).expect("all arrive");
        let mean = |of: fn(&lab::delivery::Delivery) -> f64| {
            1e3 * runs.iter().map(of).sum::<f64>() / runs.len() as f64
        };
        is_near(cost.suite, cost.prepare_ms, mean(|run| run.prepare_s.unwrap_or(f64::NAN)), 0.01, 0.0);
        // Theirs opens the report before it answers, and both look at the air now and then.
        let theirs = mean(|run| run.round_trip_s - run.unpack_s.unwrap_or(0.0)) + 2e-6 * LATENCY_NS as f64;
        is_near(cost.suite, cost.round_trip_ms, theirs, 0.01, 1.0);
    }
}

/// docs/reference/protocol.md, "Packets" and "On an RFM12B": a piece has 4 bytes before it beside
/// the header, a packet 11 around it.
#[test]
fn bytes_on_the_air_are_the_protocol_s() {
    let bytes: Vec<f64> = measured().iter().map(|cost| cost.air_bytes).collect();
    let packet = |piece: f64| piece + 4.0 + 11.0;
    let short = packet(36.0);
    assert_eq!(bytes, [packet(16.0), short, short, 2.0 * packet(56.0), 3.0 * packet(48.0), short]);
}

#[test]
fn the_collector_s_file_is_what_is_measured() {
    let file = collector::api::Costs::default().get();
    assert_eq!(file.len(), measured().len());
    for (known, cost) in file.iter().zip(measured()) {
        assert_eq!(known.suite.name(), cost.suite);
        let is_known = |ours, theirs: Option<f64>, share| {
            is_near(cost.suite, ours, theirs.expect("a figure"), share, 0.0);
        };
        is_known(cost.prepare_ms, known.prepare_ms, 0.02);
        is_known(cost.processor_uj + cost.radio_uj, known.energy_uj, 0.05);
        is_known(cost.air_bytes, known.air_bytes, 0.0);
        is_known(cost.round_trip_ms, known.round_trip_ms, 0.05);
    }
}
