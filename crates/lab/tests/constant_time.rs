//! No operation takes time from a secret, on any target and in any variant: once caches and branch predictors know the
//! way, every random input takes the same number of cycles. All inputs are random but for their lengths, and so is the
//! public nonce; counter mode alone is left out, because how far its public counter carries decides its time.

use lab::bench::Bench;
use lab::elf::Firmware;
use lab::firmware;
use lab::operations::{Catalogue, Operation};
use lab::reference::random_case;
use lab::target::House;
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::time::SystemTime;

/// Runs after start-up that do not count.
const WARM_UP: usize = 3;
/// Runs that must agree.
const RUNS: usize = 12;
/// Well above what the slowest operation takes.
const CYCLES: u64 = 100_000_000;

fn check(target: &str) {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("the clock is past 1970");
    let seed = now.as_nanos() as u64;
    println!("seed {seed}");
    let mut rng = StdRng::seed_from_u64(seed);
    let house = House::find().expect("the tests run inside the project");
    let target = house.target(target).expect("a target");
    let point = target.operating_point(None, None).expect("its own defaults");
    let operations: Vec<Operation> = Catalogue::read(&house)
        .and_then(|catalogue| catalogue.of(&target))
        .expect("the catalogue")
        .into_iter()
        .filter(|operation| !operation.name.ends_with("-ctr"))
        .collect();
    let names: Vec<&str> = operations.iter().map(|operation| operation.name.as_str()).collect();
    let mut uneven = Vec::new();
    for variant in &target.toolchain.variants {
        let build = firmware::build(&house, &target, &point, variant, &names).expect("the firmware builds");
        for operation in &operations {
            let elf = Firmware::read(&build.image(&operation.name), target.part.core).expect("an ELF file");
            let mut bench =
                Bench::start(&target, &elf, operation, point.clock_hz, CYCLES).expect("start-up ends");
            let mut measure = || {
                let case =
                    random_case(operation, usize::from(operation.bytes), &mut rng).expect("a reference");
                let measurement = bench.measure(&case).expect("the operation returns");
                assert!(measurement.verified, "{} {} {variant}: wrong", target.name(), operation.name);
                measurement.cycles
            };
            for _ in 0..WARM_UP {
                measure();
            }
            let cycles: Vec<u64> = (0..RUNS).map(|_| measure()).collect();
            if cycles.iter().any(|&other| other != cycles[0]) {
                uneven.push(format!("{} {variant}: {cycles:?}", operation.name));
            }
        }
    }
    assert!(uneven.is_empty(), "{}: cycles depend on the inputs\n{}", target.name(), uneven.join("\n"));
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
    atmega328p atmega128l msp430f5438a stm32f051 stm32f100 stm32f407 stm32f767 r8c i8051 mc68hc08
}
