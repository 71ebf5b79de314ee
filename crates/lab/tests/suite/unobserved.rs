//! Runs of the bench that only stop where the call begins and returns, and those that only look at
//! control transfers, must give the very cycles of runs that are looked at step by step: on every
//! target, with whatever its model has of caches, prefetch and dual issue.

use firmware::Firmware;
use lab::harness::OperationRun;
use lab::operations::Catalogue;
use lab::reference::random_case;
use lab::workspace::Workspace;
use mcu::NoObserver;
use rand::SeedableRng;
use rand::rngs::StdRng;

/// Those of them that a target has: calls of one level and of several, with loops, long and short.
const OPERATIONS: [&str; 6] =
    ["aes128-encrypt", "aes128-ctr", "aes256-gcm-open", "sha1", "drbg-generate", "p256-field-multiply"];
/// After the first, which is observed in both.
const RUNS: usize = 4;
/// Well above what the slowest of them takes.
const CYCLES: u64 = 100_000_000;

fn check(target: &str) {
    let mut rng = StdRng::seed_from_u64(testkit::random::seed());
    let workspace = Workspace::find().expect("the tests run inside the project");
    let target = workspace.target(target).expect("a target");
    let point = target.operating_point(None, None).expect("its own defaults");
    let catalogue = Catalogue::read(&workspace).expect("the catalogue");
    let mut compared = 0;
    for variant in ["portable", "fast"] {
        let mut operations = catalogue.built_as(&target, variant).expect("the target's sets");
        operations.retain(|operation| OPERATIONS.contains(&operation.name.as_str()));
        if operations.is_empty() {
            continue;
        }
        let names: Vec<&str> = operations.iter().map(|operation| operation.name.as_str()).collect();
        let build =
            firmware::build(&workspace.source(&target, &point).expect("a toolchain"), variant, &names)
                .expect("the firmware builds");
        for operation in &operations {
            let elf = Firmware::read(&build.image(&operation.name), target.part.core).expect("an ELF file");
            let start =
                || OperationRun::start(&target, &elf, operation, point.clock_hz, CYCLES).expect("it starts");
            let (mut observed, mut followed, mut unobserved) = (start(), start(), start());
            let mut stack = 0;
            for run in 0..=RUNS {
                let bytes = usize::from(operation.bytes);
                let case = random_case(operation, bytes, &mut rng).expect("a reference");
                let seen = observed.measure_observed(&case, &mut NoObserver).expect("it returns");
                let follow = followed.measure(&case).expect("it returns");
                assert_eq!(
                    (follow.start, follow.cycles, follow.stack, follow.return_to),
                    (seen.start, seen.cycles, seen.stack, seen.return_to),
                    "{} {} {variant}, run {run}",
                    target.name(),
                    operation.name
                );
                let unseen = unobserved.measure_unobserved(&case).expect("it returns");
                assert!(seen.verified && unseen.verified, "{} {} {variant}", target.name(), operation.name);
                if run == 0 {
                    stack = seen.stack;
                }
                assert_eq!(unseen.stack, stack, "only the first run was observed");
                assert_eq!(
                    (unseen.start, unseen.cycles),
                    (seen.start, seen.cycles),
                    "{} {} {variant}, run {run}",
                    target.name(),
                    operation.name
                );
                compared += 1;
            }
        }
    }
    assert!(compared > RUNS, "{} has some of the operations", target.name());
}

macro_rules! targets {
    ($($name:ident)*) => { $(
        #[test]
        fn $name() {
            check(stringify!($name));
        }
    )* };
}

targets! {
    atmega328p atmega128l atmega324pa atmega2560 atmega32u4 attiny85 msp430f5438a msp430fr5994 stm32f051 stm32f100 stm32f103 stm32f401 stm32f407 stm32l4r5 stm32f411 stm32f767 samd21 nrf52840 rp2040 r8c i8051 mc68hc08 ch32v003
}
