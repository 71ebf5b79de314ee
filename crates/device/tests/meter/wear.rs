//! Writes of the journal: the tables of `docs/reference/meter.md`, "Journal and wear".

use device::meter::eeprom::Eeprom;
use device::meter::store::{Journal, eeprom};

/// Writes that a byte of the ATmega328P's EEPROM endures: DS40002061, "Features".
const ENDURANCE: f64 = 100_000.0;
const SUITES: [(u8, usize, &str); 4] =
    [(0, 16, "none"), (1, 36, "aes128-gcm"), (3, 112, "ecies"), (4, 144, "ecies-ecdsa")];

/// Readings that are acknowledged once `written` of their bytes were written and one is under way;
/// `None`: after all. Returns bytes written a reading, and readings for one write of the byte that
/// is written most.
fn wear(suite: u8, len: usize, written: Option<u64>) -> (f64, f64) {
    const READINGS: u32 = 17_000;
    eeprom(|eeprom| *eeprom = Eeprom::new(1));
    let mut journal = Journal::start();
    for n in 1..=READINGS {
        // Random, as ciphertext is: what is given up must not look like more than was written.
        let mut rng = fastrand::Rng::with_seed(n.into());
        let message: Vec<u8> = std::iter::repeat_with(|| rng.u8(..)).take(len).collect();
        journal.hold(n, suite, false, &message);
        journal.append();
        eeprom(|eeprom| eeprom.advance(written.unwrap_or(u64::MAX)));
        assert_eq!(journal.busy(), written.is_some());
        assert_eq!(journal.oldest().map(|report| report.n), Some(n));
        journal.acknowledged();
        eeprom(|eeprom| eeprom.advance(u64::MAX));
    }
    let (sum, most) = eeprom(|eeprom| {
        let writes = eeprom.writes();
        (writes.iter().sum::<u32>(), writes.iter().copied().max().unwrap_or(0))
    });
    (f64::from(sum) / f64::from(READINGS), f64::from(READINGS) / f64::from(most))
}

/// A row of a table.
fn row(name: &str, (bytes, readings): (f64, f64)) -> String {
    let days = ENDURANCE * readings / 86_400.0;
    format!("| {name} | {bytes:.0} | {readings:.1} | {days:.0} | {:.0} |\n", 10.0 * days)
}

#[test]
fn the_tables_are_as_measured() {
    let late: String = SUITES.iter().map(|(suite, len, name)| row(name, wear(*suite, *len, None))).collect();
    let early: String = [6, 9, 12, 18, 30]
        .iter()
        .map(|&written| row(&format!("{} ms", written * 34 / 10), wear(1, 36, Some(written - 1))))
        .collect();
    println!("{late}\n{early}");
    let documentation = include_str!("../../../../docs/reference/meter.md");
    assert!(documentation.contains(&late), "docs/reference/meter.md has not:\n{late}");
    assert!(documentation.contains(&early), "docs/reference/meter.md has not:\n{early}");
}
