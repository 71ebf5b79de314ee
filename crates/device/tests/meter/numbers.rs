//! No number comes twice, whatever byte write the power fails in, and the meter goes on.

use device::meter::eeprom::{BYTES, Eeprom, Torn};
use device::meter::store::{Numbers, eeprom};

/// Beginning of the records, and their bytes (`docs/reference/protocol.md`, "Provisioning").
const AT: usize = 120;
const RECORD: usize = 12;
const BLOCK: u32 = 256;

fn record(first: u32, starts: u32) -> Vec<u8> {
    let mut bytes = [first.to_be_bytes(), starts.to_be_bytes()].concat();
    let check = crc32fast::hash(&[b"WSN1", &bytes[..]].concat());
    bytes.extend(check.to_be_bytes());
    bytes
}

/// A memory as it is provisioned, with this first number, in this thread.
fn provision(first: u32, seed: u64) {
    let mut image = [0xff; BYTES];
    image[AT..AT + RECORD].copy_from_slice(&record(first, 0));
    eeprom(|eeprom| *eeprom = Eeprom::with_image(&image, seed));
}

/// The power comes back.
fn start() -> (Numbers, bool) {
    eeprom(Eeprom::start);
    Numbers::start()
}

fn is_off() -> bool {
    eeprom(|eeprom| eeprom.is_off())
}

#[test]
fn numbers_are_consecutive_and_a_start_skips_to_the_next_block() {
    provision(1, 1);
    let (mut numbers, started) = start();
    assert!(started);
    for expected in 1..=10 * BLOCK {
        assert_eq!(numbers.take(), Some(expected));
        numbers.work();
        eeprom(|eeprom| eeprom.advance(1));
    }
    assert_eq!(numbers.starts(), 1);
    let (mut numbers, _) = start();
    // The block after the one that was begun was reserved already or is not; a number is above all
    // before, and no more than two blocks are skipped.
    let next = numbers.take().expect("a number");
    assert!((10 * BLOCK + 1..=12 * BLOCK + 1).contains(&next) && next % BLOCK == 1, "{next}");
    assert_eq!(numbers.starts(), 2);
}

#[test]
fn the_next_block_is_reserved_in_the_background() {
    provision(1, 1);
    let (mut numbers, _) = start();
    for _ in 0..BLOCK {
        numbers.take();
        numbers.work();
        eeprom(|eeprom| eeprom.advance(1));
    }
    // Nothing to wait for: not one byte is written by this.
    let before = eeprom(|eeprom| eeprom.writes().iter().sum::<u32>());
    assert_eq!(numbers.take(), Some(BLOCK + 1));
    assert_eq!(eeprom(|eeprom| eeprom.writes().iter().sum::<u32>()), before);
    // And without the background it is reserved when it is needed.
    for expected in BLOCK + 2..5 * BLOCK {
        assert_eq!(numbers.take(), Some(expected));
    }
}

/// A life: a start, and `takes` numbers while the background writes now and then. Returns the last
/// number, where there is one that was given out with the power on; panics where one is not above
/// `above`.
fn live(takes: u32, above: Option<u32>, what: &str) -> Option<u32> {
    let (mut numbers, started) = Numbers::start();
    if is_off() {
        return above;
    }
    assert!(started, "{what}: no numbers any more");
    let mut highest = above;
    for turn in 0..takes {
        let n = numbers.take();
        if is_off() {
            break;
        }
        assert!(n > highest, "{what}: {n:?} after {highest:?}");
        highest = n;
        numbers.work();
        eeprom(|eeprom| eeprom.advance(u64::from(turn % 2)));
        if is_off() {
            break;
        }
    }
    highest
}

const TORN: [Torn; 5] = [Torn::Old, Torn::New, Torn::Value(0x00), Torn::Value(0xff), Torn::Unstable];

/// A cut at every byte write of a life with three reservations, then one at every byte write of the
/// next, each with everything that may become of the byte.
#[test]
fn two_cuts_in_a_row_at_every_byte_write() {
    // A start, and two blocks in the background: 12 byte writes each.
    const WRITES: u64 = 3 * RECORD as u64;
    let mut cuts = 0;
    for first in 0..WRITES {
        for torn in TORN {
            for second in 0..=WRITES {
                for again in TORN {
                    let what = format!("cuts within writes {first} ({torn:?}) and {second} ({again:?})");
                    provision(1, first * 100 + second);
                    live(3, None, &what);
                    let mut highest = Some(3);
                    for (writes, torn) in [(first, torn), (second, again)] {
                        eeprom(Eeprom::start);
                        eeprom(|eeprom| eeprom.cut_after(writes, torn));
                        highest = live(2 * BLOCK, highest, &what);
                        cuts += u32::from(is_off());
                    }
                    for _ in 0..3 {
                        eeprom(Eeprom::start);
                        highest = live(2, highest, &what);
                    }
                }
            }
        }
    }
    assert!(cuts > 30_000, "only {cuts} cuts");
}

/// Cuts at random, seed by seed; also between byte writes, and in lives that are cut at once.
/// Returns how many there were.
fn random_cuts(seeds: std::ops::Range<u64>) -> u32 {
    let mut cuts = 0;
    for seed in seeds {
        let mut rng = fastrand::Rng::with_seed(seed);
        provision(1, seed);
        let mut highest = None;
        for life in 0..20 {
            eeprom(Eeprom::start);
            let writes = if rng.bool() { rng.u64(..14) } else { rng.u64(..80) };
            eeprom(|eeprom| eeprom.cut_after(writes, Torn::Any));
            highest = live(rng.u32(..1500), highest, &format!("seed {seed}, life {life}"));
            cuts += u32::from(is_off());
        }
    }
    cuts
}

#[test]
fn random_cuts_give_no_number_twice() {
    let cuts = random_cuts(0..100);
    assert!(cuts > 1500, "only {cuts} cuts");
}

/// `cargo test --release -p wattseal-device --test meter numbers -- --ignored`
#[test]
#[ignore = "150,000 cuts"]
fn many_random_cuts_give_no_number_twice() {
    let cuts = random_cuts(1000..11_000);
    println!("{cuts} cuts");
    assert!(cuts > 100_000, "only {cuts} cuts");
}

/// Life after life is cut in the bytes where it hurts most, and each such byte reads otherwise at
/// each start: no number comes twice even then, though a memory may lose its record (`numbers.h`).
/// Returns how many cuts there were, how many memories lost it, and after how many cuts in a row at
/// the earliest.
fn cuts_where_it_hurts(seeds: std::ops::Range<u64>) -> (u32, u32, u32) {
    let (mut cuts, mut lost, mut earliest) = (0, 0, u32::MAX);
    for seed in seeds {
        let mut rng = fastrand::Rng::with_seed(seed);
        provision(1, seed);
        let mut highest = None;
        for life in 0..40 {
            eeprom(Eeprom::start);
            let writes = [0, 1, 5, 9, 10, 10, 11, 11, 11, 12, 13, 22, 23, 23][rng.usize(..14)];
            eeprom(|eeprom| eeprom.cut_after(writes, Torn::Unstable));
            let (mut numbers, started) = Numbers::start();
            while !is_off() && started {
                let n = numbers.take();
                if !is_off() {
                    assert!(n > highest, "seed {seed}, life {life}: {n:?} after {highest:?}");
                    highest = n;
                }
            }
            if !is_off() {
                assert_eq!(numbers.take(), None, "seed {seed}, life {life}");
                lost += 1;
                earliest = earliest.min(life);
                break;
            }
            cuts += 1;
        }
    }
    (cuts, lost, earliest)
}

#[test]
fn cuts_where_it_hurts_give_no_number_twice() {
    let (cuts, lost, _) = cuts_where_it_hurts(0..1000);
    assert!(lost * 500 < cuts, "{lost} memories lost in {cuts} cuts");
}

/// As above.
#[test]
#[ignore = "6,000,000 cuts"]
fn many_cuts_where_it_hurts_give_no_number_twice() {
    let (cuts, lost, earliest) = cuts_where_it_hurts(1000..151_000);
    println!("{cuts} cuts, {lost} memories lost, after {earliest} cuts at the earliest");
    assert!(lost * 1000 < cuts, "{lost} memories lost in {cuts} cuts");
}

/// A memory that was erased or never provisioned gives no numbers, and nothing is written into it.
#[test]
fn without_a_record_there_are_no_numbers() {
    let mut rng = fastrand::Rng::with_seed(7);
    for seed in 0..200 {
        let mut image = [if seed == 0 { 0xff } else { 0 }; BYTES];
        if seed > 1 {
            image.fill_with(|| rng.u8(..));
        }
        eeprom(|eeprom| *eeprom = Eeprom::with_image(&image, seed));
        let (mut numbers, started) = start();
        numbers.work();
        assert!(
            !started && numbers.take().is_none() && numbers.starts() == 0,
            "random image {seed} of seed 7"
        );
        numbers.work();
        assert_eq!(eeprom(|eeprom| *eeprom.image()), image);
    }
}

/// `docs/reference/protocol.md`: at 2^32 - 1 the meter makes no more.
#[test]
fn the_last_number_is_not_given_out() {
    provision(u32::MAX - BLOCK, 1);
    let (mut numbers, started) = start();
    assert!(started);
    for expected in u32::MAX - BLOCK..u32::MAX {
        assert_eq!(numbers.take(), Some(expected));
        numbers.work();
    }
    assert_eq!((numbers.take(), numbers.take()), (None, None));
    let (mut numbers, started) = start();
    assert!(!started && numbers.take().is_none());
}

/// Numbers that the memory does not keep are not given out.
#[test]
fn a_memory_that_keeps_nothing_is_noticed() {
    provision(1, 1);
    let (mut numbers, _) = start();
    eeprom(|eeprom| eeprom.wear_out(true));
    for expected in 1..=BLOCK {
        assert_eq!(numbers.take(), Some(expected));
        numbers.work();
        eeprom(|eeprom| eeprom.advance(1));
    }
    assert_eq!((numbers.take(), numbers.take()), (None, None));
    eeprom(|eeprom| eeprom.wear_out(false));
    assert_eq!(numbers.take(), Some(BLOCK + 1));
}
