//! Samples of the full tier, by `WATTSEAL_SEED`; the long tier takes all.

use std::sync::LazyLock;

/// The variants in C, in which no fast kernel is.
const C_VARIANTS: [&str; 3] = ["portable", "O0", "small"];

/// The targets of each core.
const CORES: [&[&str]; 7] = [
    &["atmega328p", "atmega128l", "atmega2560", "atmega324pa", "atmega32u4"],
    &["msp430f5438a", "msp430fr5994"],
    &["stm32f051", "samd21", "rp2040"],
    &["stm32f100", "stm32f103"],
    &["stm32f407", "nrf52840", "stm32f401", "stm32f411", "stm32l4r5"],
    &["stm32f767"],
    &["ch32v003"],
];

/// The number that all samples of a process have, so that two tests build the same; printed.
pub fn seed() -> u64 {
    static SEED: LazyLock<u64> = LazyLock::new(testkit::random::seed);
    println!("WATTSEAL_SEED={}", *SEED);
    *SEED
}

/// Two of some, of two cores where neighbours are of one.
pub fn two_of<T>(all: &[T], seed: u64) -> [&T; 2] {
    let first = (seed % all.len() as u64) as usize;
    [&all[first], &all[(first + all.len() / 2) % all.len()]]
}

/// True of a name that fits the pattern in a variable of the environment, or where there is none.
pub fn is_chosen(variable: &str, name: &str) -> bool {
    std::env::var(variable).map_or(true, |pattern| fast_glob::glob_match(&pattern, name))
}

/// One of some.
pub fn one_of<'a>(all: &[&'a str], seed: u64) -> &'a str {
    all[(seed % all.len() as u64) as usize]
}

/// The variant in C that a sample has of a target: all three of a core that has as many targets.
pub fn c_variant(target: &str, seed: u64) -> &'static str {
    let place = CORES.iter().find_map(|core| core.iter().position(|&name| name == target));
    let place = place.expect("a target of a core") as u64;
    // Which target it is depends on what is left.
    one_of(&C_VARIANTS, seed / 64 + place)
}

#[test]
fn sample_has_each_c_variant_of_a_core_with_three_targets() {
    for seed in [0, 64, 128, seed()] {
        for core in CORES.iter().filter(|core| core.len() > 2) {
            let taken: Vec<&str> = core.iter().map(|target| c_variant(target, seed)).collect();
            assert!(C_VARIANTS.iter().all(|variant| taken.contains(variant)), "{seed}: {core:?}, {taken:?}");
        }
    }
}
