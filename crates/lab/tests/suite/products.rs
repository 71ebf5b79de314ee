//! Products and other results of kernels on random operands, half of them at the edges, against
//! big integers and independent hashes. The edges themselves are in `curves`.
//!
//! The long form takes a million operands a kernel. It prints its seed, and goes on where it was
//! ended:
//!
//! ```sh
//! WATTSEAL_OPERATIONS=p256-field-multiply \
//!     cargo test -p wattseal-lab --test suite -- --ignored --nocapture products::a_million
//! ```

use crate::operations::each_operation;
use crate::samples::{is_chosen, seed, two_of};
use lab::harness::OperationRun;
use lab::operations::Operation;
use lab::reference::field::Field;
use lab::reference::{self, Case};
use lab::target::Target;
use lab::workspace::Workspace;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::path::PathBuf;

/// Operands of a kernel in the suite, and in the long form.
const FEW: u64 = 100;
const MANY: u64 = 1_000_000;
/// Operands between two marks of the long form, whose random numbers begin anew.
const CHUNK: u64 = 1_000;
const CYCLES: u64 = 1_000_000_000;
/// Permutations and compression functions, by operations that consist of them.
const PERMUTATIONS: [&str; 6] =
    ["sha1", "sha256", "sha512", "sha3-256", "ascon-hash256", "chacha20-poly1305-seal"];

/// Cases of an operation.
struct Cases<'a> {
    operation: &'a Operation,
    /// A field and its operation, where the operation is a field's.
    field: Option<(Field, &'a str)>,
}

impl<'a> Cases<'a> {
    fn new(operation: &'a Operation) -> Cases<'a> {
        let field = operation.name.split_once("-field-");
        let field = field.map(|(name, what)| (Field::named(name).expect("a field"), what));
        Cases { operation, field }
    }

    fn draw(&self, rng: &mut StdRng) -> Case {
        let Some((field, what)) = &self.field else {
            let bytes = rng.random_range(0..=usize::from(self.operation.bytes));
            return reference::random_case(self.operation, bytes, rng).expect("a reference");
        };
        field.random_case(what, rng).expect("an operation")
    }
}

fn is_kernel(operation: &Operation) -> bool {
    operation.name.contains("-field-") || PERMUTATIONS.contains(&operation.name.as_str())
}

/// Hands each of the chosen kernels of a target in a variant to `run`.
fn each(
    target: &Target,
    variant: &str,
    wanted: &dyn Fn(&Operation) -> bool,
    run: &mut dyn FnMut(&Operation, &mut OperationRun<'_>),
) {
    let chosen = |operation: &Operation| is_kernel(operation) && wanted(operation);
    each_operation(target, variant, CYCLES, &chosen, run);
}

fn verify(what: &str, bench: &mut OperationRun<'_>, case: &Case) {
    let is_right = bench.run_case(case).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(is_right, "{what}: {:02x?}", case.inputs);
}

fn check(name: &str, seed: u64) {
    let workspace = Workspace::find().expect("the tests run inside the project");
    let target = workspace.target(name).expect("a target");
    let mut rng = StdRng::seed_from_u64(seed);
    for variant in ["small", "nompy", "mpy16", "fast"] {
        each(&target, variant, &|_| true, &mut |operation, bench| {
            let cases = Cases::new(operation);
            let what = format!("{name} {variant} {}", operation.name);
            (0..FEW).for_each(|_| verify(&what, bench, &cases.draw(&mut rng)));
        });
    }
}

/// The seed of the long form, and the operands that it has done.
fn read_mark(path: &PathBuf) -> Option<(u64, u64)> {
    let text = std::fs::read_to_string(path).ok()?;
    let (seed, done) = text.trim().split_once(' ')?;
    Some((seed.parse().ok()?, done.parse().ok()?))
}

/// A million operands for each kernel that WATTSEAL_TARGETS and WATTSEAL_OPERATIONS name, in the
/// variant `fast`.
#[test]
#[ignore = "takes hours"]
fn a_million() {
    let workspace = Workspace::find().expect("the tests run inside the project");
    let fresh = testkit::random::seed();
    let mut kernels = 0;
    for name in TARGETS.iter().filter(|name| is_chosen("WATTSEAL_TARGETS", name)) {
        let target = workspace.target(name).expect("a target");
        let wanted = |operation: &Operation| is_chosen("WATTSEAL_OPERATIONS", &operation.name);
        each(&target, "fast", &wanted, &mut |operation, bench| {
            let file = format!("products-{name}-{}", operation.name);
            let mark = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(file);
            let (seed, mut done) = read_mark(&mark).filter(|(_, done)| *done < MANY).unwrap_or((fresh, 0));
            let cases = Cases::new(operation);
            while done < MANY {
                let what = format!("{name} {}, seed {seed}, operands from {done} on", operation.name);
                let mut rng = StdRng::seed_from_u64(seed ^ done);
                (0..CHUNK).for_each(|_| verify(&what, bench, &cases.draw(&mut rng)));
                done += CHUNK;
                std::fs::write(&mark, format!("{seed} {done}\n")).expect("a mark");
            }
            println!("{name} {}: {done} operands, seed {seed}", operation.name);
            kernels += 1;
        });
    }
    assert_ne!(kernels, 0, "something is looked at");
}

const TARGETS: [&str; 10] = [
    "atmega328p",
    "atmega128l",
    "msp430f5438a",
    "stm32f051",
    "stm32f100",
    "stm32f407",
    "stm32f767",
    "i8051",
    "mc68hc08",
    "ch32v003",
];

#[test]
fn few_of_two_targets() {
    two_of(&TARGETS, seed()).into_iter().for_each(|name| check(name, seed()));
}

#[test]
#[ignore = "minutes: the other targets"]
fn few() {
    TARGETS.iter().for_each(|name| check(name, seed()));
}
