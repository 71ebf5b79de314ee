//! Writes of whole meters into their EEPROM: the second table of `docs/reference/meter.md`,
//! "Journal and wear".

use super::world::{SECOND_NS, World, load, setup};
use wire::meter::{Policy, Suite};

/// Writes that a byte of the ATmega328P's EEPROM endures: DS40002061, "Features".
const ENDURANCE: f64 = 100_000.0;
/// Beginning of the journal; before it are seed, numbers and settings.
const JOURNAL: usize = 256;
const READINGS: u32 = 20_000;

/// One reading a second with AES-128-GCM, that share of the packets lost in either direction, and a
/// collector that sets the time, and asks for it where readings come late: bytes written into the
/// journal for each reading, and days until a byte of it, and one before it, has been written as
/// often as it endures.
fn wear(lost: f64) -> (f64, [f64; 2]) {
    let mut world = World::new(setup(Suite::Aes128Gcm, 1), 1);
    world.set_load(load(450.0));
    world.collector.set_policy(Policy::default());
    world.lost = lost;
    world.run(u64::from(READINGS) * SECOND_NS);
    assert!(world.reports.iter().any(|accepted| accepted.report.time_set), "nobody has set the time");
    let writes = world.meter.eeprom().writes();
    let days = |bytes: &[u32]| {
        let most = bytes.iter().copied().max().unwrap_or(0);
        ENDURANCE / f64::from(most) * f64::from(READINGS) / 86_400.0
    };
    let (before, journal) = writes.split_at(JOURNAL);
    (f64::from(journal.iter().sum::<u32>()) / f64::from(READINGS), [days(journal), days(before)])
}

#[test]
fn the_table_is_as_measured() {
    let mut table = String::new();
    for lost in [0.0, 0.01, 0.05, 0.3] {
        let (bytes, [journal, before]) = wear(lost);
        let journal = if journal.is_finite() { format!("{journal:.0}") } else { "for ever".into() };
        table += &format!("| {:.0} % | {bytes:.1} | {journal} | {before:.0} |\n", 100.0 * lost);
    }
    println!("{table}");
    let documentation = include_str!("../../../../../docs/reference/meter.md");
    assert!(documentation.contains(&table), "docs/reference/meter.md has not:\n{table}");
}
