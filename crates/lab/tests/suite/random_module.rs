//! Random bytes of the parts' own generators. They have no expected value: looked at are their
//! number, that they differ, and the time that the source takes.

use firmware::Firmware;
use lab::harness::OperationRun;
use lab::operations::Catalogue;
use lab::reference::random_case;
use lab::workspace::Workspace;
use rand::SeedableRng;
use rand::rngs::StdRng;

const CYCLES: u64 = 100_000_000;
const BYTES: usize = 32;

/// Runs the operation twice. Returns the bytes of both runs, and the time of the second one.
fn two_runs(name: &str) -> ([Vec<u8>; 2], f64) {
    let workspace = Workspace::find().expect("the tests run inside the project");
    let target = workspace.target(name).expect("a target");
    let point = target.operating_point(None, None).expect("its own defaults");
    let catalogue = Catalogue::read(&workspace).expect("the catalogue");
    let mut operations = catalogue.built_as(&target, "fast").expect("the target's sets");
    operations.retain(|operation| operation.name == "random-module-generate");
    let [operation] = &operations[..] else { panic!("{name} has the operation once") };
    let source = workspace.source(&target, &point).expect("a toolchain");
    let build = firmware::build(&source, "fast", &[&operation.name]).expect("the firmware builds");
    let elf = Firmware::read(&build.image(&operation.name), target.part.core).expect("an ELF file");
    let mut bench =
        OperationRun::start(&target, &elf, operation, point.clock_hz, CYCLES).expect("start-up ends");
    let mut rng = StdRng::seed_from_u64(1);
    let mut run = || {
        let case = random_case(operation, BYTES, &mut rng).expect("a case");
        let measurement = bench.measure(&case).expect("the operation returns");
        assert!(measurement.verified, "{name}: the generator reports an error");
        let output = bench.buffer("output").expect("a buffer");
        let mut bytes = vec![0; BYTES + 1];
        assert!(bench.machine().peek(output.address, &mut bytes), "RAM can be read");
        assert_eq!(bytes.pop(), Some(0), "{name}: more bytes than asked for");
        (bytes, measurement.cycles)
    };
    let ((first, _), (second, cycles)) = (run(), run());
    ([first, second], cycles as f64 * target.seconds_per_cycle(&point))
}

/// Checks the bytes, and that the time is at least the source's and at most `slack` more.
fn check(name: &str, source_s: f64, slack: f64) {
    let (runs, time_s) = two_runs(name);
    assert_ne!(runs[0], runs[1], "{name}");
    for bytes in &runs {
        let mut different = bytes.clone();
        different.sort_unstable();
        different.dedup();
        assert!(different.len() > BYTES / 2, "{name}: {bytes:02x?}");
    }
    assert!((source_s..source_s * (1.0 + slack)).contains(&time_s), "{name}: {time_s} s, not {source_s} s");
}

/// 128 µs to start, and 120 µs a byte with bias correction.
#[test]
fn nrf52840_gives_bytes_in_the_time_of_its_source() {
    check("nrf52840", 128e-6 + 32.0 * 120e-6, 0.01);
}

/// Nine words, of which one is not given out, of 40 periods each. The VCO, twice the core's clock,
/// is divided by 9 for PLL48CLK.
#[test]
fn stm32_gives_words_in_the_time_of_its_source() {
    for (name, vco_hz) in [("stm32f407", 336e6), ("stm32f767", 432e6)] {
        check(name, 9.0 * 40.0 / (vco_hz / 9.0), 0.25);
    }
}
