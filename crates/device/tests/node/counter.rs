//! The counter never gives a number twice, whatever the power does to its memory.

use device::node::flash::{Flash, SEGMENTS};
use device::node::{Counter, world};

/// Fresh flash in this thread's world.
fn fresh(seed: u64) {
    world(|world| world.flash = Flash::new(seed));
}

/// The power comes back, and the counter starts.
fn start() -> Counter {
    world(|world| world.flash.start());
    Counter::start(1000)
}

fn is_off() -> bool {
    world(|world| world.flash.is_off())
}

#[test]
fn numbers_are_consecutive_and_a_start_skips_to_the_next_block() {
    fresh(1);
    let mut counter = start();
    // Two segments of ten records each, 64 numbers a record, and once around.
    for expected in 1000..1000 + 3 * 64 * 20 {
        assert_eq!(counter.take(), Some(expected));
    }
    // The block that the next number would have begun is not reserved yet.
    assert_eq!(start().take(), Some(1000 + 3 * 64 * 20));
    assert_eq!(start().take(), Some(1000 + 3 * 64 * 20 + 64));
}

#[test]
fn a_start_alone_writes_nothing() {
    fresh(1);
    for _ in 0..100 {
        let _ = start();
    }
    assert_eq!(world(|world| world.flash.erasures()), [0; SEGMENTS]);
}

/// `counter.h`: one erasure for each start that reserves, and for each 640 messages.
#[test]
fn the_wear_is_what_the_header_says() {
    fresh(1);
    let mut counter = start();
    for _ in 0..640 * 6 {
        counter.take().expect("the memory works");
    }
    assert_eq!(world(|world| world.flash.erasures()), [3, 3]);
    for _ in 0..4 {
        start().take().expect("the memory works");
    }
    assert_eq!(world(|world| world.flash.erasures()), [5, 5]);
}

/// The power fails at each word and erasure in turn, in each life of a part, and what that leaves
/// reads at random.
#[test]
fn no_number_comes_twice_over_power_failures_at_every_step() {
    let mut failures = 0u32;
    for seed in 0..4000 {
        let mut rng = fastrand::Rng::with_seed(seed);
        fresh(seed);
        let mut highest = None;
        for life in 0..12 {
            let mut counter = start();
            // The first steps of a life are those that matter: a record made firm, an erasure, a
            // record.
            let steps = if rng.bool() { rng.u32(..16) } else { rng.u32(..100) };
            world(|world| world.flash.fail_after(steps));
            for _ in 0..rng.u32(..1500) {
                let number = counter.take();
                // What the processor does once its power has failed does not count.
                if is_off() {
                    failures += 1;
                    break;
                }
                let number = number.unwrap_or_else(|| panic!("seed {seed}, life {life}: refused"));
                assert!(highest < Some(number), "seed {seed}, life {life}: {number} after {highest:?}");
                highest = Some(number);
            }
        }
    }
    assert!(failures > 20_000, "only {failures} power failures within a write");
}

#[test]
fn the_last_block_is_not_given_out() {
    fresh(1);
    let mut counter = Counter::start(u32::MAX - 64);
    for expected in u32::MAX - 64..u32::MAX {
        assert_eq!(counter.take(), Some(expected));
    }
    assert_eq!(counter.take(), None);
    assert_eq!(start().take(), None);
}

/// Numbers that the memory does not keep are not given out.
#[test]
fn a_memory_that_keeps_nothing_is_noticed() {
    fresh(1);
    let mut counter = start();
    assert_eq!(counter.take(), Some(1000));
    for expected in 1001..1064 {
        assert_eq!(counter.take(), Some(expected));
    }
    world(|world| world.flash.wear_out(true));
    assert_eq!((counter.take(), counter.take()), (None, None));
    world(|world| world.flash.wear_out(false));
    assert_eq!(counter.take(), Some(1064));
}
