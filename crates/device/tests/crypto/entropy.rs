//! The health tests of SP 800-90B on stuck, biased and healthy sources, and a seed across power
//! loss at every byte.

use device::crypto::Drbg;
use device::crypto::entropy::*;
use num_bigint::BigUint;
use sha2::{Digest, Sha256};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Samples that are given one after another, then none.
fn set_samples(samples: impl IntoIterator<Item = u8, IntoIter: 'static>) {
    let mut samples = samples.into_iter();
    set_source(move || samples.next());
}

/// A healthy source: bytes with `bits` random bits each, the others 0. Counts what it gives.
fn set_healthy(bits: u8, seed: u64) -> Rc<Cell<usize>> {
    let given = Rc::new(Cell::new(0));
    let mut random = fastrand::Rng::with_seed(seed);
    let count = Rc::clone(&given);
    set_source(move || {
        count.set(count.get() + 1);
        Some(random.u8(..) >> (8 - bits))
    });
    given
}

/// Section 4.4.1: 1 + ceil(20 / H).
fn repetition_cutoff(h: u32) -> usize {
    1 + 20usize.div_ceil(h as usize)
}

/// Section 4.4.2: 1 + critbinom(512, 2^-H, 1 - 2^-20), the lowest k with P(X <= k) at least that;
/// in whole numbers, everything times 2^(512 H).
fn proportion_cutoff(h: u32) -> usize {
    let one = BigUint::from(1u8);
    let (hit, miss) = (&one, (&one << h) - &one);
    let whole = &one << (512 * h);
    let goal = &whole - (&whole >> 20);
    let (mut sum, mut choose) = (BigUint::ZERO, one.clone());
    for k in 0u32..=512 {
        sum += &choose * hit * miss.pow(512 - k);
        if sum >= goal {
            return k as usize + 1;
        }
        choose = choose * (512 - k) / (k + 1);
    }
    unreachable!("the sum over all is the whole");
}

/// Different samples, none of which fails a test.
fn varied() -> impl Iterator<Item = u8> {
    (0u32..).map(|at| (at % 251) as u8)
}

/// Returns true if a start-up test on these samples fails.
fn start_fails(h: u8, samples: Vec<u8>) -> bool {
    let mut entropy = Entropy::default();
    set_samples(samples.into_iter().chain(varied()));
    let failed = entropy.start(h) != 0;
    assert_eq!(failed, entropy == Entropy::default(), "a failure is latched, and nothing else");
    failed
}

#[test]
fn a_run_of_equal_samples_fails_at_the_cutoff_and_not_before() {
    for h in 1..=8u8 {
        let cutoff = repetition_cutoff(h.into());
        for start in [0, 1, 200, 1000] {
            let run = |len| varied().take(start).chain(vec![254; len]).collect();
            assert!(!start_fails(h, run(cutoff - 1)), "H = {h}, {start}");
            assert!(start_fails(h, run(cutoff)), "H = {h}, {start}");
        }
    }
}

#[test]
fn frequent_value_fails_exactly_at_the_window_s_cutoff() {
    for h in 1..=8u8 {
        let cutoff = proportion_cutoff(h.into());
        // The value 255 first, then in groups of no more than may follow each other, with others
        // between.
        let group = repetition_cutoff(h.into()) - 1;
        let window = |count: usize| {
            let (mut samples, mut left, mut other) = (Vec::new(), count, varied());
            while left != 0 {
                let now = group.min(left);
                samples.extend(vec![255; now]);
                samples.extend(other.by_ref().take(1));
                left -= now;
            }
            assert!(samples.len() <= 512, "H = {h}: {count} in {}", samples.len());
            samples.extend(other.take(512 - samples.len()));
            samples
        };
        assert!(!start_fails(h, window(cutoff - 1)), "H = {h}, cutoff {cutoff}");
        assert!(start_fails(h, window(cutoff)), "H = {h}, cutoff {cutoff}");
        // In the second window likewise; and what the first one had does not count there.
        assert!(!start_fails(h, [window(cutoff - 1), window(cutoff - 1)].concat()), "H = {h}");
        assert!(start_fails(h, [window(cutoff - 1), window(cutoff)].concat()), "H = {h}");
    }
}

#[test]
fn stuck_and_biased_sources_fail_healthy_ones_do_not() {
    for h in 1..=8u8 {
        assert!(start_fails(h, vec![0; 1024]), "stuck at 0");
        assert!(start_fails(h, vec![0xff; 1024]), "stuck at 255");
        let mut entropy = Entropy::default();
        for seed in 0..40 {
            set_healthy(h, seed);
            assert_eq!(entropy.start(h), 0, "H = {h}, seed {seed}");
        }
        // A source that gives half of what is said of it, rounded down: the value that a window
        // begins with comes up at least 2^(H/2) times as often as it may on average.
        if h > 1 {
            for seed in 0..40 {
                set_healthy(h / 2, seed);
                assert_eq!(entropy.start(h), -1, "H = {h}, seed {seed}");
            }
        }
    }
}

#[test]
fn start_refuses_an_impossible_entropy_rate() {
    let mut entropy = Entropy::default();
    set_healthy(8, 1);
    for h in [0, 9, 255] {
        assert_eq!(entropy.start(h), -1);
        assert_eq!(entropy.gather(), (-1, [0; 32]));
    }
}

#[test]
fn outputs_are_the_hash_of_as_many_samples_as_it_takes() {
    for h in 1..=8u8 {
        let given = set_healthy(h, 7);
        let mut entropy = Entropy::default();
        assert_eq!(entropy.start(h), 0);
        assert_eq!(given.get(), 1024, "the start-up test");
        let mut random = fastrand::Rng::with_seed(7);
        let mut sample = || random.u8(..) >> (8 - h);
        (0..1024).for_each(|_| _ = sample());
        for _ in 0..20 {
            let samples: Vec<u8> = (0..320usize.div_ceil(h.into())).map(|_| sample()).collect();
            assert_eq!(entropy.gather(), (0, Sha256::digest(&samples).into()), "H = {h}");
        }
    }
}

#[test]
fn a_failure_while_gathering_gives_nothing_and_stays() {
    for h in [1u8, 4, 8] {
        let needed = 320usize.div_ceil(h.into());
        let cutoff = repetition_cutoff(h.into());
        // Stuck from somewhere in the request on, so that the last sample is the one that fails;
        // and gone at the last sample.
        let stuck: Vec<u8> = varied().take(1024 + needed - cutoff).chain(vec![254; cutoff]).collect();
        let gone: Vec<u8> = varied().take(1024 + needed - 1).collect();
        for samples in [stuck, gone] {
            set_samples(samples);
            let mut entropy = Entropy::default();
            assert_eq!(entropy.start(h), 0);
            assert_eq!(entropy.gather(), (-1, [0; 32]), "H = {h}");
            // Healthy again, it is asked in vain, and is not even read.
            let given = set_healthy(8, 1);
            assert_eq!(entropy.gather(), (-1, [0; 32]), "H = {h}");
            assert_eq!(given.get(), 0);
            assert_eq!(entropy.start(h), 0);
            assert_eq!(entropy.gather().0, 0);
        }
        // One sample later than the request goes on, it comes out.
        let late: Vec<u8> = varied().take(1024 + needed - cutoff + 1).chain(vec![254; cutoff]).collect();
        set_samples(late);
        let mut entropy = Entropy::default();
        assert_eq!(entropy.start(h), 0);
        assert_eq!(entropy.gather().0, 0, "H = {h}");
        assert_eq!(entropy.gather(), (-1, [0; 32]), "H = {h}");
    }
}

/// The first output of a generator.
fn output(mut drbg: Drbg) -> [u8; 32] {
    let mut output = [0; 32];
    assert_eq!(drbg.generate(&mut output, &[]), 0);
    output
}

/// Starts with power; the output.
fn start() -> [u8; 32] {
    with_memory(|memory| {
        memory.power = None;
        memory.off = false;
    });
    let (result, drbg) = seed_start(&[], b"meter 7");
    assert_eq!(result, 0, "a seed is missing: {:?}", with_memory(|memory| memory.clone()));
    output(drbg)
}

/// Starts with power for `power` bytes. Returns whether it lasted; then the output goes to
/// `outputs`.
fn start_cut_off(power: usize, outputs: &mut Vec<[u8; 32]>) -> bool {
    with_memory(|memory| {
        memory.power = Some(power);
        memory.off = false;
    });
    let (result, drbg) = seed_start(&[], b"meter 7");
    let off = with_memory(|memory| memory.off);
    if !off {
        assert_eq!(result, 0);
        outputs.push(output(drbg));
    }
    !off
}

fn fresh_memory(torn: Torn, flash: bool) {
    with_memory(|memory| *memory = Memory { torn, flash, ..Memory::new() });
    assert_eq!(seed_install(&std::array::from_fn(|at| at as u8)), 0);
}

fn distinct(outputs: &[[u8; 32]]) {
    assert_eq!(outputs.iter().collect::<BTreeSet<_>>().len(), outputs.len(), "an output came twice");
}

/// Bytes that one start writes: two records, and in flash two erasures.
const BYTES: usize = 2 * RECORD + 2;

#[test]
fn seed_survives_power_loss_at_every_byte_and_is_used_once() {
    for torn in [Torn::Old, Torn::Erased, Torn::Mixed] {
        for flash in [false, true] {
            let mut cut_off = 0;
            for power in 0..=BYTES {
                for again in (0..=BYTES).step_by(if power % 20 == 0 { 1 } else { 13 }) {
                    fresh_memory(torn, flash);
                    let mut outputs = vec![start()];
                    cut_off += usize::from(!start_cut_off(power, &mut outputs));
                    cut_off += usize::from(!start_cut_off(again, &mut outputs));
                    outputs.push(start());
                    outputs.push(start());
                    distinct(&outputs);
                }
            }
            assert!(cut_off > 3000, "{cut_off}");
        }
    }
}

/// Many restarts, most of them cut off somewhere.
#[test]
fn power_loss_again_and_again() {
    let mut random = fastrand::Rng::with_seed(20260101);
    for torn in [Torn::Old, Torn::Erased, Torn::Mixed] {
        for flash in [false, true] {
            fresh_memory(torn, flash);
            let mut outputs = Vec::new();
            for _ in 0..2000 {
                start_cut_off(random.usize(..3 * BYTES / 2), &mut outputs);
            }
            outputs.push(start());
            assert!(outputs.len() > 300, "{}", outputs.len());
            distinct(&outputs);
        }
    }
}

#[test]
fn start_cut_off_within_the_new_record_has_no_effect() {
    for power in 0..BYTES {
        fresh_memory(Torn::Mixed, false);
        start();
        let before = with_memory(|memory| memory.clone());
        let undisturbed = start();
        with_memory(|memory| *memory = before);
        assert_eq!(start_cut_off(power, &mut Vec::new()), power >= 2 * RECORD);
        assert_eq!(start() == undisturbed, power < RECORD, "{power}");
    }
}

#[test]
fn a_record_that_decays_does_not_bring_the_one_before_back() {
    for bit in 0..8 * RECORD {
        for slot in [1, 0] {
            // The first start writes slot 1, the second slot 0.
            fresh_memory(Torn::Old, false);
            start();
            if slot == 0 {
                start();
            }
            with_memory(|memory| memory.slots[slot][bit / 8] ^= 1 << (bit % 8));
            let (result, drbg) = seed_start(&[], b"meter 7");
            assert_eq!((result, drbg), (-1, Drbg::default()), "bit {bit}");
            // A name is no entropy, and 47 bytes are too few.
            assert_eq!(seed_start(&[7; 47], &[0; 100]).0, -1);
            let (result, drbg) = seed_start(&[7; 48], b"meter 7");
            assert_eq!(result, 0);
            distinct(&[output(drbg), start(), start()]);
        }
    }
}

#[test]
fn generator_refuses_a_memory_that_forgets() {
    for slot in 0..2 {
        for at in 0..RECORD {
            fresh_memory(Torn::Old, false);
            start();
            // The current record is in slot 1 now, slot 0 is erased.
            with_memory(|memory| memory.worn = Some((slot, at)));
            let (result, drbg) = seed_start(&[], b"meter 7");
            if slot == 0 {
                // A byte that stays erased; the counter's byte, or the like, may have to be 0xff by
                // chance.
                let lucky = with_memory(|memory| memory.slots[1] == [0xff; RECORD]);
                assert_eq!(result, if lucky { 0 } else { -1 }, "byte {at}");
            } else {
                // The old record counts no more, although one byte of it stays.
                assert_eq!(result, 0);
            }
            if result != 0 {
                assert_eq!(drbg, Drbg::default());
            }
        }
    }
    with_memory(|memory| *memory = Memory { worn: Some((0, 30)), ..Memory::new() });
    assert_eq!(seed_install(&[0; 48]), -1);
}

#[test]
fn the_name_the_seed_and_fresh_entropy_all_count() {
    let first = |seed: u8, fresh: &[u8], name: &[u8]| {
        with_memory(|memory| *memory = Memory::new());
        assert_eq!(seed_install(&[seed; 48]), 0);
        let (result, drbg) = seed_start(fresh, name);
        assert_eq!(result, 0);
        output(drbg)
    };
    let outputs = [
        first(1, b"", b""),
        first(2, b"", b""),
        first(1, b"x", b""),
        first(1, b"", b"meter 1"),
        first(1, b"", b"meter 2"),
    ];
    distinct(&outputs);
    assert_eq!(first(1, b"", b"meter 1"), outputs[3]);
}

/// The later record is known where both count and where the counter wraps.
#[test]
fn the_later_record_is_the_seed() {
    let record = |counter: u32, seed: u8| -> [u8; RECORD] {
        let body = [&counter.to_be_bytes()[..], &[seed; 48]].concat();
        let check = Sha256::digest(&body);
        [&body[..], &check[..8]].concat().try_into().expect("60 bytes")
    };
    let from = |slots: [[u8; RECORD]; 2]| {
        with_memory(|memory| *memory = Memory { slots, ..Memory::new() });
        let result = start();
        let counter = |slot: &[u8; RECORD]| u32::from_be_bytes(slot[..4].try_into().expect("4 bytes"));
        let after = with_memory(|memory| memory.slots);
        let erased = after.iter().filter(|slot| **slot == [0xff; RECORD]).count();
        assert_eq!(erased, 1, "what is not the seed is erased");
        let kept = after.iter().find(|slot| **slot != [0xff; RECORD]).expect("one is not");
        (result, counter(kept))
    };
    let erased = [0xff; RECORD];
    for (old, new) in
        [(0, 1), (5, 6), (0xffff_fffe, 0xffff_ffff), (0xffff_ffff, 0), (0x7fff_ffff, 0x8000_0000)]
    {
        let alone = from([record(new, 2), erased]);
        assert_eq!(alone.1, u32::wrapping_add(new, 1));
        assert_eq!(from([erased, record(new, 2)]), alone);
        assert_eq!(from([record(old, 1), record(new, 2)]), alone);
        assert_eq!(from([record(new, 2), record(old, 1)]), alone);
    }
}
