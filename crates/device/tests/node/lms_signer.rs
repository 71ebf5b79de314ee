//! A leaf of an LMS tree never signs twice, whatever the power does to the counter's memory.

use crate::signers::{leaf, leaves_over_power_failures, start};
use device::crypto::lms::{Piece, verify};
use device::node::flash::Flash;
use device::node::{Counter, LmsKey, world};

/// A key pair with a tree of 32 leaves, and the memory that was fresh before.
fn made() -> (LmsKey, [u8; 56], Flash) {
    world(|world| world.flash = Flash::new(1));
    let (key, public) = LmsKey::make(&mut start(), [7; 32], [9; 16], 5).expect("a known height");
    (key, public, world(|world| world.flash.clone()))
}

#[test]
fn each_leaf_signs_once_and_then_none() {
    let (key, public, _) = made();
    for expected in 0..32 {
        let message = [expected as u8; 3];
        // A start in between costs no leaf.
        let (head, mut signing) = key.begin(&mut start(), &[5; 32], &message).expect("a leaf is left");
        assert_eq!(leaf(head), expected);
        let rest = signing.rest();
        let pieces = [Piece::Message(&message), Piece::Signature(&rest)];
        assert_eq!(verify(&public, &head, pieces), (0, 0), "leaf {expected}");
    }
    for _ in 0..3 {
        assert!(key.begin(&mut start(), &[5; 32], b"one more").is_none());
    }
}

/// The power fails at each word and erasure in turn, in each life of a part, and what that leaves
/// reads at random.
#[test]
fn no_leaf_comes_twice_over_power_failures_at_every_step() {
    let (key, _, fresh) = made();
    let begin = |counter: &mut Counter| key.begin(counter, &[5; 32], b"message");
    let (failures, signatures) = leaves_over_power_failures(&fresh, 4000, begin);
    assert!(failures > 10_000 && signatures > 30_000, "only {failures} failures, {signatures} signatures");
}

#[test]
fn a_counter_that_lost_its_records_signs_nothing() {
    let (key, ..) = made();
    assert!(key.begin(&mut start(), &[5; 32], b"message").is_some());
    world(|world| world.flash = Flash::new(2));
    for _ in 0..3 {
        assert!(key.begin(&mut start(), &[5; 32], b"message").is_none());
    }
}

#[test]
fn a_memory_that_keeps_nothing_is_noticed() {
    let (key, ..) = made();
    world(|world| world.flash.wear_out(true));
    assert!(key.begin(&mut start(), &[5; 32], b"message").is_none());
    assert!(LmsKey::make(&mut start(), [8; 32], [9; 16], 5).is_none());
}

/// Numbers go on, so that the old key's leaves are used up with it.
#[test]
fn new_key_begins_with_leaf_0_and_ends_the_old_one_s_leaves() {
    let (old, ..) = made();
    let mut counter = start();
    for _ in 0..40 {
        // As 40 signatures of another key would.
        counter.take().expect("the memory works");
    }
    let (new, _) = LmsKey::make(&mut counter, [8; 32], [10; 16], 5).expect("a known height");
    assert!(old.begin(&mut counter, &[5; 32], b"message").is_none());
    let (head, _) = new.begin(&mut counter, &[5; 32], b"message").expect("a leaf is left");
    assert_eq!(leaf(head), 0);
}
