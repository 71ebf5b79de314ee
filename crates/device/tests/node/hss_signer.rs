//! An upper leaf of HSS signs one key and a lower one one message, whatever the power does to the
//! counter's memory.

use crate::signers::{leaf, leaves_over_power_failures, start};
use device::crypto::lms::hss_verify;
use device::node::flash::Flash;
use device::node::{Counter, HssKey, LowerTree, world};
use hbs_lms::{HssParameter, LmotsAlgorithm, LmsAlgorithm, Seed, Sha256_256};
use sha2::{Digest, Sha256};

/// A key pair with trees of 32 leaves, and the memory that was fresh before.
fn made(seed: [u8; 32], identifier: [u8; 16]) -> (HssKey, [u8; 60], Flash) {
    world(|world| world.flash = Flash::new(1));
    let (key, public) = HssKey::make(&mut start(), seed, identifier, [5, 5]).expect("known heights");
    (key, public, world(|world| world.flash.clone()))
}

/// A lower tree's public key, signed: what the application keeps.
fn signed_key(lower: &mut LowerTree) -> Vec<u8> {
    [lower.head.as_slice(), &lower.signing.rest(), &lower.public_key].concat()
}

/// RFC 8554 section 6.2.
fn signature(signed_key: &[u8], (head, mut signing): ([u8; 40], device::crypto::lms::Signing)) -> Vec<u8> {
    [[0, 0, 0, 1].as_slice(), signed_key, &head, &signing.rest()].concat()
}

/// Key pair, lower tree's key and signatures are those of another implementation; at the end of a
/// tree the next one has its turn.
#[test]
fn keys_and_signatures_agree_with_another_implementation() {
    let bytes: [u8; 32] = std::array::from_fn(|at| 7 * at as u8);
    let level = HssParameter::<Sha256_256>::new(LmotsAlgorithm::LmotsW8, LmsAlgorithm::LmsH5);
    let (private, public) =
        hbs_lms::keygen::<Sha256_256>(&[level, level], &Seed::from(bytes), None).expect("keys of two levels");
    // As it derives the upper tree's seed and identifier of its own.
    let derived = |which: u8, seed: &[u8]| -> [u8; 32] {
        Sha256::digest([&[0; 20], [0xfe, 0xfe, which].as_slice(), seed].concat()).into()
    };
    let root = derived(0, &bytes);
    let identifier = derived(2, &root)[..16].try_into().expect("16 bytes");
    let (key, public_key, _) = made(derived(1, &root), identifier);
    assert_eq!(public_key.as_slice(), public.as_slice());
    let mut update = |_: &[u8]| Ok(());
    let theirs =
        hbs_lms::sign::<Sha256_256>(b"message", private.as_slice(), &mut update, None).expect("leaf 0");
    for upper_leaf in 0..2 {
        let mut lower = key.renew(&mut start(), &[4; 32]).expect("an upper leaf is left");
        assert_eq!(lower.upper_leaf, upper_leaf);
        let signed_key = signed_key(&mut lower);
        if upper_leaf == 0 {
            assert_eq!(theirs.as_ref()[4 + 1292..][..56], lower.public_key, "the lower key");
        }
        for expected in 0..32 {
            let message = [expected as u8; 3];
            // A start in between costs no leaf.
            let begun = key.begin(&mut start(), upper_leaf, &[5; 32], &message).expect("a leaf is left");
            assert_eq!(leaf(begun.0), expected);
            if [0, 1, 31].contains(&expected) {
                let signature = signature(&signed_key, begun);
                assert_eq!(hss_verify(&public_key, [message.as_slice()], &signature), (0, 0), "{expected}");
                assert!(
                    hbs_lms::verify::<Sha256_256>(&message, &signature, &public_key).is_ok(),
                    "{expected}"
                );
            }
        }
        for other in 0..3 {
            assert!(key.begin(&mut start(), other, &[5; 32], b"one more").is_none());
        }
    }
}

/// The power fails at each word and erasure in turn, in each life of a part, and what that leaves
/// reads at random.
#[test]
fn no_lower_leaf_comes_twice_over_power_failures_at_every_step() {
    let (key, ..) = made([7; 32], [9; 16]);
    assert!(key.renew(&mut start(), &[4; 32]).is_some());
    let renewed = world(|world| world.flash.clone());
    let begin = |counter: &mut Counter| key.begin(counter, 0, &[5; 32], b"message");
    let (failures, signatures) = leaves_over_power_failures(&renewed, 400, begin);
    assert!(failures > 1000 && signatures > 3000, "only {failures} failures, {signatures} signatures");
}

/// The power fails at each word and erasure of a renewal. The lower tree before goes on, or it is
/// another one's turn; no upper leaf signs twice.
#[test]
fn no_upper_leaf_comes_twice_over_a_power_failure_in_a_renewal() {
    let (key, ..) = made([7; 32], [9; 16]);
    assert!(key.renew(&mut start(), &[4; 32]).is_some());
    let (head, _) = key.begin(&mut start(), 0, &[5; 32], b"message").expect("a leaf is left");
    assert_eq!(leaf(head), 0);
    let renewed = world(|world| world.flash.clone());
    let (mut goes_on, mut taken) = (0, 0);
    for step in 0.. {
        world(|world| world.flash = renewed.clone().reseeded(step));
        let mut counter = start();
        world(|world| world.flash.fail_after(step as u32));
        let _ = key.renew(&mut counter, &[4; 32]);
        if !world(|world| world.flash.is_off()) {
            break;
        }
        // What the application kept is that of upper leaf 0.
        let highest = match key.begin(&mut start(), 0, &[5; 32], b"message") {
            Some((head, _)) => {
                assert!(leaf(head) >= 1, "step {step}");
                goes_on += 1;
                0
            }
            None => {
                taken += 1;
                1
            }
        };
        assert!(key.begin(&mut start(), 1, &[5; 32], b"message").is_none() || highest == 1, "step {step}");
        if step % 5 == 0 {
            let lower = key.renew(&mut start(), &[4; 32]).expect("an upper leaf is left");
            assert_eq!(lower.upper_leaf, highest + 1, "step {step}");
            assert_eq!(leaf(lower.head), lower.upper_leaf, "step {step}");
        }
    }
    assert!(goes_on > 3, "{goes_on} went on, of {taken} the number was taken");
}

#[test]
fn an_upper_tree_ends() {
    let (key, ..) = made([7; 32], [9; 16]);
    let mut counter = start();
    let lower = key.renew(&mut counter, &[4; 32]).expect("upper leaf 0");
    assert_eq!(lower.upper_leaf, 0);
    // As the signatures of 31 lower trees would, and one of the last one.
    for _ in 0..31 * 33 - 1 {
        counter.take().expect("the memory works");
    }
    let lower = key.renew(&mut counter, &[4; 32]).expect("the last upper leaf");
    assert_eq!(lower.upper_leaf, 31);
    assert!(key.begin(&mut counter, 30, &[5; 32], b"message").is_none());
    assert!(key.begin(&mut counter, 31, &[5; 32], b"message").is_some());
    assert!(key.renew(&mut counter, &[4; 32]).is_none());
    assert!(key.begin(&mut counter, 31, &[5; 32], b"message").is_some(), "what was refused costs nothing");
}

#[test]
fn a_counter_that_lost_its_records_signs_nothing() {
    let (key, ..) = made([7; 32], [9; 16]);
    assert!(key.renew(&mut start(), &[4; 32]).is_some());
    assert!(key.begin(&mut start(), 0, &[5; 32], b"message").is_some());
    world(|world| world.flash = Flash::new(2));
    for _ in 0..2 {
        assert!(key.begin(&mut start(), 0, &[5; 32], b"message").is_none());
        assert!(key.renew(&mut start(), &[4; 32]).is_none());
    }
}

#[test]
fn a_memory_that_keeps_nothing_is_noticed() {
    let (key, ..) = made([7; 32], [9; 16]);
    assert!(key.renew(&mut start(), &[4; 32]).is_some());
    world(|world| world.flash.wear_out(true));
    assert!(key.begin(&mut start(), 0, &[5; 32], b"message").is_none());
    assert!(key.renew(&mut start(), &[4; 32]).is_none());
    assert!(HssKey::make(&mut start(), [8; 32], [9; 16], [5, 5]).is_none());
}

/// Numbers go on, so that the old key's leaves are used up with it.
#[test]
fn another_key_ends_the_first_one_s_leaves() {
    let (old, ..) = made([7; 32], [9; 16]);
    let mut counter = start();
    for _ in 0..32 * 33 {
        // As all signatures of another key would.
        counter.take().expect("the memory works");
    }
    let (new, _) = HssKey::make(&mut counter, [8; 32], [10; 16], [5, 5]).expect("known heights");
    assert!(old.renew(&mut counter, &[4; 32]).is_none());
    let lower = new.renew(&mut counter, &[4; 32]).expect("an upper leaf is left");
    assert_eq!(lower.upper_leaf, 0);
    for upper_leaf in [31, 32, 33, 1 << 16, u32::MAX] {
        assert!(old.begin(&mut counter, upper_leaf, &[5; 32], b"message").is_none());
    }
}

#[test]
fn trees_of_other_heights_are_not_made() {
    for heights in [[5, 0], [5, 6], [4, 5], [15, 5], [5, 255]] {
        world(|world| world.flash = Flash::new(1));
        assert!(HssKey::make(&mut start(), [8; 32], [9; 16], heights).is_none(), "{heights:?}");
    }
}
