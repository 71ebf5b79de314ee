//! The collector's time for a report, on the processor that runs the tests:
//! `cargo test -p wattseal-wire --features aws-lc --test wire -- --ignored opening_times`, with
//! `--nocapture` behind it.

use super::fixture::{NOW_MS, NOW_S, collector_and_meters, quiet};
use rand::{SeedableRng, rngs::StdRng};
use std::env;
use std::time::Instant;
use wire::meter::{ReassemblyOutcome, Suite, UplinkOutcome};

const SEED: u64 = 1;
const RUNS: usize = 2000;

/// Prints the times from a report's packets to the report that is accepted, in microseconds.
#[test]
#[ignore = "a measurement of the processor that it runs on"]
fn opening_times_of_a_report() {
    println!("seed {SEED}, {RUNS} reports a suite, in µs");
    println!("suite          median     25 %     75 %      min      max     mean deviation");
    let suites = [Suite::None, Suite::Aes128Gcm, Suite::Aes256Gcm, Suite::Ecies, Suite::EciesEcdsa];
    let medians = suites.map(|suite| {
        let mut times_us = times_us(suite);
        times_us.sort_by(f64::total_cmp);
        let at = |share: f64| times_us[((times_us.len() - 1) as f64 * share).round() as usize];
        let mean = times_us.iter().sum::<f64>() / RUNS as f64;
        let squares: f64 = times_us.iter().map(|time| (time - mean).powi(2)).sum();
        let deviation = (squares / RUNS as f64).sqrt();
        let figures = [at(0.5), at(0.25), at(0.75), at(0.0), at(1.0), mean, deviation];
        println!("{:12}{}", suite.name(), figures.map(|figure| format!("{figure:9.2}")).concat());
        at(0.5)
    });
    println!(
        "over aes128-gcm: ecies {:.1}, ecies-ecdsa {:.1}",
        medians[3] / medians[1],
        medians[4] / medians[1]
    );
    assert!(medians[0] < medians[1] && medians[1] < medians[3] && medians[3] < medians[4], "{medians:?}");
}

fn times_us(suite: Suite) -> Vec<f64> {
    let rng = &mut StdRng::seed_from_u64(SEED);
    let (mut collector, mut meters) = collector_and_meters(&[suite], quiet(), rng);
    let mut times_us = Vec::with_capacity(RUNS);
    // One more: the first fills caches.
    for run in 0..=RUNS {
        let packets = meters[0].report(NOW_S, rng);
        let begin = Instant::now();
        let mut accepted = None;
        for packet in &packets {
            if let ReassemblyOutcome::Sealed(message) = collector.reassemble(packet) {
                accepted = Some(collector.accept(message.open(), NOW_MS));
            }
        }
        let time_us = begin.elapsed().as_secs_f64() * 1e6;
        assert!(matches!(accepted, Some(UplinkOutcome::Report(_))), "{suite}: {accepted:?}");
        collector.confirm_report(1, meters[0].n).expect("handed out");
        if run > 0 {
            times_us.push(time_us);
        }
    }
    times_us
}

/// Makes 100 reports of the suite that `OPENED_SUITE` names, and opens the first `OPENED`.
///
/// An instruction counter of the whole process tells by two such runs what one report takes.
#[test]
#[ignore = "for a counter of instructions around it"]
fn opened_reports_of_a_suite() {
    let variable = |name| env::var(name).unwrap_or_else(|_| panic!("{name} is not set"));
    let suite = Suite::named(&variable("OPENED_SUITE")).expect("a suite's name");
    let opened: usize = variable("OPENED").parse().expect("a number of reports");
    let rng = &mut StdRng::seed_from_u64(SEED);
    let (mut collector, mut meters) = collector_and_meters(&[suite], quiet(), rng);
    let reports: Vec<_> = (0..100).map(|_| (meters[0].report(NOW_S, rng), meters[0].n)).collect();
    for (packets, n) in &reports[..opened] {
        let mut accepted = None;
        for packet in packets {
            if let ReassemblyOutcome::Sealed(message) = collector.reassemble(packet) {
                accepted = Some(collector.accept(message.open(), NOW_MS));
            }
        }
        assert!(matches!(accepted, Some(UplinkOutcome::Report(_))), "{suite}: {accepted:?}");
        collector.confirm_report(1, *n).expect("handed out");
    }
}
