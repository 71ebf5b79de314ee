//! Settings are as before a change or as after it, whole, whatever byte write the power fails in;
//! and what was answered stays.

use device::meter::eeprom::{BYTES, Eeprom, Torn};
use device::meter::store::{Settings, eeprom};
use fastrand::Rng;
use std::ops::Range;

/// Beginning of the records.
const AT: usize = 156;
/// Bytes of the record that commands change: m to the check of the last command.
const CHANGED: Range<usize> = 4..28;

const TORN: [Torn; 5] = [Torn::Old, Torn::New, Torn::Value(0x00), Torn::Value(0xff), Torn::Unstable];

fn is_off() -> bool {
    eeprom(|eeprom| eeprom.is_off())
}

/// Changes the settings as the command m does.
fn change(settings: &mut [u8; 32], m: u32) {
    let mut rng = Rng::with_seed(u64::from(m));
    settings[CHANGED].fill_with(|| rng.u8(..));
    settings[4..8].copy_from_slice(&m.to_be_bytes());
}

/// The first settings, with m = 0, as `docs/reference/protocol.md` has them: generation, the
/// settings, CRC-32 of "WSS1" and those.
fn provision(seed: u64) {
    let mut record = [0; 32];
    record[3] = 1;
    change(&mut record, 0);
    let check = crc32fast::hash(&[b"WSS1", &record[..28]].concat());
    record[28..].copy_from_slice(&check.to_be_bytes());
    let mut image = [0xff; BYTES];
    image[AT..AT + 32].copy_from_slice(&record);
    eeprom(|eeprom| *eeprom = Eeprom::with_image(&image, seed));
}

fn m(settings: &[u8; 32]) -> u32 {
    u32::from_be_bytes([settings[4], settings[5], settings[6], settings[7]])
}

/// A life: a start, and `commands` commands. `answered` is the last command that was answered,
/// `sent` the last one that was begun.
fn live(commands: u32, answered: &mut u32, sent: &mut u32, what: &str) {
    let (mut settings, started) = Settings::start();
    if is_off() {
        return;
    }
    assert!(started, "{what}: no settings any more");
    let found = m(&settings.record);
    assert!((*answered..=*sent).contains(&found), "{what}: {found}, but {answered} was answered");
    let mut expected = settings;
    change(&mut expected.record, found);
    assert_eq!(settings, expected, "{what}: not whole");
    // Firm after this start: what is found counts as answered.
    *answered = found;
    for _ in 0..commands {
        *sent += 1;
        change(&mut settings.record, *sent);
        let kept = settings.keep();
        if is_off() {
            return;
        }
        assert!(kept, "{what}");
        *answered = *sent;
    }
}

/// Each byte write of a start and two commands is cut short in every way, then each of the next.
#[test]
fn two_cuts_in_a_row_at_every_byte_write() {
    let mut cuts = 0;
    for first in 0..96 {
        for torn in TORN {
            for second in 0..96 {
                let again = TORN[(first + second) as usize % 5];
                let what = format!("cuts within writes {first} ({torn:?}) and {second} ({again:?})");
                provision(first * 100 + second);
                let (mut answered, mut sent) = (0, 0);
                live(2, &mut answered, &mut sent, &what);
                for (writes, torn) in [(first, torn), (second, again)] {
                    eeprom(Eeprom::start);
                    eeprom(|eeprom| eeprom.cut_after(writes, torn));
                    live(2, &mut answered, &mut sent, &what);
                    cuts += u32::from(is_off());
                }
                for _ in 0..3 {
                    eeprom(Eeprom::start);
                    live(1, &mut answered, &mut sent, &what);
                }
            }
        }
    }
    assert!(cuts > 90_000, "only {cuts} cuts");
}

/// Cuts at random, seed by seed. Returns how many there were.
fn random_cuts(seeds: Range<u64>) -> u32 {
    let mut cuts = 0;
    for seed in seeds {
        let mut rng = Rng::with_seed(seed);
        provision(seed);
        let (mut answered, mut sent) = (0, 0);
        for life in 0..20 {
            eeprom(Eeprom::start);
            let writes = rng.u64(..200);
            eeprom(|eeprom| eeprom.cut_after(writes, Torn::Any));
            live(rng.u32(..8), &mut answered, &mut sent, &format!("seed {seed}, life {life}"));
            cuts += u32::from(is_off());
        }
    }
    cuts
}

#[test]
fn random_cuts_leave_settings_whole() {
    let cuts = random_cuts(0..100);
    assert!(cuts > 500, "only {cuts} cuts");
}

/// `cargo test --release -p wattseal-device --test meter settings -- --ignored`
#[test]
#[ignore = "many cuts"]
fn many_random_cuts_leave_settings_whole() {
    let cuts = random_cuts(1000..6000);
    println!("{cuts} cuts");
    assert!(cuts > 20_000, "only {cuts} cuts");
}

#[test]
fn without_a_record_there_are_no_settings() {
    for seed in 0..200 {
        let mut rng = Rng::with_seed(seed);
        let mut image = [if seed == 0 { 0xff } else { 0 }; BYTES];
        if seed > 1 {
            image.fill_with(|| rng.u8(..));
        }
        eeprom(|eeprom| *eeprom = Eeprom::with_image(&image, seed));
        let (settings, started) = Settings::start();
        assert_eq!((settings.record, started), ([0; 32], false), "image {seed}");
        assert_eq!(eeprom(|eeprom| *eeprom.image()), image);
    }
}

#[test]
fn a_memory_that_keeps_nothing_is_noticed() {
    provision(1);
    let (mut settings, _) = Settings::start();
    eeprom(|eeprom| eeprom.wear_out(true));
    change(&mut settings.record, 7);
    assert!(!settings.keep());
    assert!(!Settings::start().1);
}
