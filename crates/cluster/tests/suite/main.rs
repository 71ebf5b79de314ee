//! What was acknowledged is there, whatever part of the cluster is killed, paused or cut off.

use cluster::report::report;
use cluster::run::{ClusterObserver, ClusterRequest, ClusterStatus, run};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Once;
use std::time::Duration;
use testkit::documents::home;
use testkit::random;

/// The collector's program, which tests of all packages together have built; else it is built now.
fn collector() -> PathBuf {
    static BUILT: Once = Once::new();
    // Beside the folder `deps` that tests are built into.
    let own = std::env::current_exe().expect("this program");
    let program = own.ancestors().nth(2).expect("a folder").join("wattseal-collector");
    BUILT.call_once(|| {
        if !program.exists() {
            let arguments =
                ["build", "--locked", "--package", "wattseal-collector", "--bin", "wattseal-collector"];
            let built = Command::new(env!("CARGO")).args(arguments).current_dir(home()).status();
            assert!(built.is_ok_and(|built| built.success()), "the collector is not built");
        }
    });
    program
}

/// As libtest shows it where a test fails.
struct Told;

impl ClusterObserver for Told {
    fn preparing(&mut self, what: &str) {
        println!("{what}");
    }

    fn event(&mut self, at: Duration, what: &str) {
        println!("{:.1} s  {what}", at.as_secs_f64());
    }

    fn show(&mut self, _: &ClusterStatus<'_>) {}
}

fn harmed(kills: usize, meters: u16) {
    let request = ClusterRequest {
        lasts: None,
        kills: Some(kills),
        chaos: true,
        seed: random::seed(),
        meters,
        collector: collector(),
    };
    let result = run(&request, None, &|| false, &mut Told).expect("it runs").expect("it began");
    println!("{}", report(&result, output::Format::Table).expect("a table"));
    assert!(result.is_good(), "{:?}", result.wrong);
    assert_eq!(result.harms, kills);
    assert!(result.checked.stored >= result.checked.acknowledged && result.checked.acknowledged > 50);
    assert!(result.checked.commands_done > 0 && result.partitions_looked > 0);
}

#[test]
fn what_was_acknowledged_survives_a_few_harms() {
    harmed(6, 8);
}

/// docs/cluster.md, "Chaos".
#[test]
#[ignore = "takes an hour and more"]
fn what_was_acknowledged_survives_500_harms() {
    harmed(500, 16);
}
