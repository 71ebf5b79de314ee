//! Tools that the tests of both signers of hash-based signatures share.

use device::crypto::lms::Signing;
use device::node::flash::Flash;
use device::node::{Counter, world};

/// The power comes back, and the signer's counter starts.
pub fn start() -> Counter {
    world(|world| world.flash.start());
    Counter::start_in_blocks(0, 1)
}

/// The leaf that a signature's head names.
pub fn leaf(head: [u8; 40]) -> u32 {
    u32::from_be_bytes(head[..4].try_into().expect("4 bytes"))
}

/// Has each of `parts` parts sign until it refuses, while its power fails within any word or
/// erasure, and the interrupted bits read at random. Each leaf is above all before. fresh: the
/// memory that a part has at first. Returns how often the power failed, and how many signatures
/// were begun.
pub fn leaves_over_power_failures(
    fresh: &Flash,
    parts: u64,
    begin: impl Fn(&mut Counter) -> Option<([u8; 40], Signing)>,
) -> (u32, u32) {
    let (mut failures, mut signatures) = (0, 0);
    for seed in 0..parts {
        let mut rng = fastrand::Rng::with_seed(seed);
        world(|world| world.flash = fresh.clone().reseeded(seed));
        let mut highest = None;
        'part: loop {
            let mut counter = start();
            world(|world| world.flash.fail_after(rng.u32(..24)));
            loop {
                let begun = begin(&mut counter);
                // What the processor does once its power has failed does not count.
                if world(|world| world.flash.is_off()) {
                    failures += 1;
                    break;
                }
                let Some((head, _)) = begun else { break 'part };
                assert!(highest < Some(leaf(head)), "seed {seed}: {} after {highest:?}", leaf(head));
                highest = Some(leaf(head));
                signatures += 1;
            }
        }
    }
    (failures, signatures)
}
