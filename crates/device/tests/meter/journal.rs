//! A report whose append was finished is kept until it is acknowledged, in order, whatever byte
//! write the power fails in.

use device::meter::eeprom::{BYTES, Eeprom, Torn};
use device::meter::store::{Journal, eeprom};
use fastrand::Rng;
use std::collections::BTreeSet;
use std::ops::Range;

/// Bytes of a report's message, by suite (`docs/reference/protocol.md`, "Packets").
const LENGTH: [usize; 6] = [16, 36, 36, 112, 144, 36];
/// All of them.
const SUITES: Range<u8> = 0..LENGTH.len() as u8;
/// Beginning of the journal.
const AT: usize = 256;

/// A message that no other has.
fn message(n: u32, suite: u8) -> Vec<u8> {
    let mut rng = Rng::with_seed(u64::from(n) << 8 | u64::from(suite));
    std::iter::repeat_with(|| rng.u8(..)).take(LENGTH[usize::from(suite)]).collect()
}

fn is_off() -> bool {
    eeprom(|eeprom| eeprom.is_off())
}

fn byte_writes() -> u32 {
    eeprom(|eeprom| eeprom.writes().iter().sum())
}

/// A report that the journal should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kept {
    n: u32,
    suite: u8,
    alert: bool,
}

/// A meter's journal, what it should hold, and the collector.
struct Meter {
    what: String,
    journal: Journal,
    /// Waiting records, the oldest first.
    waiting: Vec<Kept>,
    /// Those of which the power failed in the midst of their append or of their mark: they may wait
    /// or not.
    either: BTreeSet<u32>,
    /// The record that is held, the append or the marks under way.
    under_way: Vec<u32>,
    last_n: u32,
    /// Numbers that the collector has taken.
    taken: Vec<u32>,
}

impl Meter {
    /// With an empty memory.
    fn new(seed: u64, what: String) -> Meter {
        eeprom(|eeprom| *eeprom = Eeprom::new(seed));
        Meter {
            what,
            journal: Journal::start(),
            waiting: Vec::new(),
            either: BTreeSet::new(),
            under_way: Vec::new(),
            last_n: 0,
            taken: Vec::new(),
        }
    }

    /// The power is back: what waits now is what should, or may.
    fn start(&mut self) {
        self.either.extend(self.under_way.drain(..));
        eeprom(Eeprom::start);
        let memory = eeprom(|eeprom| eeprom.clone());
        self.journal = Journal::start();
        let found: Vec<_> = std::iter::from_fn(|| {
            let (report, bytes) = self.journal.oldest_message(48)?;
            assert_eq!(bytes, message(report.n, report.suite), "{}: {report:?}", self.what);
            self.journal.acknowledged();
            Some(Kept { n: report.n, suite: report.suite, alert: report.alert != 0 })
        })
        .collect();
        assert_eq!(self.journal.lost_and_damaged(), (0, 0), "{}", self.what);
        assert!(found.is_sorted_by_key(|kept| kept.n), "{}: {found:?}", self.what);
        for kept in &self.waiting {
            assert!(
                found.contains(kept) || self.either.contains(&kept.n),
                "{}: {kept:?} is lost of {found:?}",
                self.what
            );
        }
        for kept in &found {
            let known = self.waiting.contains(kept) || self.either.contains(&kept.n);
            assert!(known, "{}: {kept:?} is there again", self.what);
        }
        self.waiting = found;
        // Looking changed nothing.
        eeprom(|eeprom| *eeprom = memory);
        self.journal = Journal::start();
        assert_eq!(self.journal.count(), self.waiting.len(), "{}", self.what);
    }

    /// Clears the reports under way once nothing is being written.
    fn settle(&mut self) {
        if !is_off() && !eeprom(|eeprom| eeprom.busy()) && !self.journal.holds() {
            self.under_way.clear();
        }
    }

    /// A new report, whose append begins at once.
    fn append(&mut self, suite: u8, alert: bool) {
        self.hold(suite, alert);
        self.begin();
    }

    /// The append of the report that is held begins, if one is.
    fn begin(&mut self) {
        if !is_off() && self.journal.holds() {
            self.journal.append();
            if !is_off() {
                // It begins when all marks are kept.
                self.under_way = vec![self.last_n];
            }
        }
    }

    /// A new report; waits for the append before it.
    fn hold(&mut self, suite: u8, alert: bool) {
        while !is_off() && self.journal.busy() {
            self.begin();
            eeprom(|eeprom| eeprom.advance(1));
        }
        self.settle();
        if is_off() {
            return;
        }
        self.last_n += 1;
        let (n, before) = (self.last_n, self.journal.lost_and_damaged().0);
        self.journal.hold(n, suite, alert, &message(n, suite));
        let lost = self.journal.lost_and_damaged().0.wrapping_sub(before);
        // Measurements are dropped, alerts only if that was not enough.
        let numbers = self.journal.waiting();
        assert_eq!(numbers.last(), Some(&n), "{}", self.what);
        let (kept, gone): (Vec<Kept>, Vec<Kept>) =
            self.waiting.iter().partition(|kept| numbers.contains(&kept.n));
        let lost_here = gone.iter().filter(|kept| !kept.alert).count();
        assert_eq!(usize::from(lost), lost_here, "{}: {gone:?}", self.what);
        // With records of one length, the oldest.
        if self.waiting.iter().all(|kept| LENGTH[usize::from(kept.suite)] == LENGTH[usize::from(suite)]) {
            let measurements = kept.iter().position(|kept| !kept.alert).map(|first| kept[first].n);
            assert!(lost_here == gone.len() || measurements.is_none(), "{}: {gone:?}", self.what);
            let newest = gone.iter().filter(|kept| !kept.alert).map(|kept| kept.n).max();
            assert!(measurements.is_none_or(|n| newest < Some(n)), "{}: {gone:?} of {kept:?}", self.what);
        }
        self.waiting = kept;
        assert_eq!(self.waiting.len() + 1, self.journal.count(), "{}", self.what);
        let dropped: Vec<_> = gone.iter().map(|kept| kept.n).collect();
        self.waiting.push(Kept { n, suite, alert });
        if is_off() || eeprom(|eeprom| eeprom.busy()) {
            self.under_way.extend(dropped);
        } else {
            self.under_way.clear();
        }
        self.under_way.push(n);
    }

    /// The oldest report reaches the collector, and is acknowledged if that comes back.
    fn send(&mut self, acknowledged: bool) {
        let sent = self.journal.oldest_message(56);
        if is_off() {
            return;
        }
        let Some((report, bytes)) = sent else {
            assert_eq!(self.waiting, [], "{}", self.what);
            return;
        };
        let kept = Kept { n: report.n, suite: report.suite, alert: report.alert != 0 };
        assert_eq!(self.waiting.first(), Some(&kept), "{}", self.what);
        assert_eq!(bytes, message(report.n, report.suite), "{}", self.what);
        if self.taken.last().is_none_or(|last| *last < report.n) {
            self.taken.push(report.n);
        }
        if !acknowledged {
            return;
        }
        self.settle();
        let held = self.journal.holds().then_some(self.last_n);
        self.journal.acknowledged();
        self.waiting.remove(0);
        if held == Some(report.n) {
            // Nothing of it was written, and nothing is.
            self.under_way.retain(|&n| n != report.n);
            return;
        }
        if self.under_way.first() == Some(&report.n) {
            // Given up: it is no record, and needs no mark unless all of it was written; or the
            // power failed meanwhile.
            self.under_way.clear();
        }
        // Beside an append that goes on, the mark waited for that.
        if is_off() || eeprom(|eeprom| eeprom.busy()) {
            self.under_way.retain(|&n| is_off() || held == Some(n));
            self.under_way.push(report.n);
        }
    }

    /// Runs `turns` turns of a meter's life, or fewer if the power fails.
    fn live(&mut self, rng: &mut Rng, turns: u32, suites: Range<u8>) {
        for _ in 0..turns {
            match rng.u8(..10) {
                0 | 1 => self.append(rng.u8(suites.clone()), rng.u8(..8) == 0),
                2 => self.hold(rng.u8(suites.clone()), rng.u8(..8) == 0),
                8 => self.begin(),
                3..6 => self.send(rng.u8(..4) > 0),
                _ => {
                    let writes = if rng.bool() { rng.u64(..4) } else { rng.u64(..160) };
                    eeprom(|eeprom| eeprom.advance(writes));
                }
            }
            self.settle();
            if is_off() {
                return;
            }
        }
    }

    /// Hands the rest to the collector. Nothing comes twice, and all comes in order.
    fn finish(&mut self) {
        self.start();
        let waiting: Vec<_> = self.waiting.iter().map(|kept| kept.n).collect();
        while !self.waiting.is_empty() {
            self.send(true);
        }
        assert!(self.taken.is_sorted_by(|a, b| a < b), "{}: {:?}", self.what, self.taken);
        let last = self.taken.last();
        // What the collector has not from this was taken by it before.
        assert!(waiting.iter().all(|n| Some(n) <= last), "{}", self.what);
        assert_eq!(self.journal.count(), 0, "{}", self.what);
    }
}

#[test]
fn reports_wait_in_order_until_they_are_acknowledged() {
    let mut meter = Meter::new(1, "no cuts".into());
    for suite in SUITES {
        meter.append(suite, suite == 3);
    }
    eeprom(|eeprom| eeprom.advance(u64::MAX));
    meter.settle();
    meter.start();
    assert_eq!(meter.waiting.len(), SUITES.len());
    meter.finish();
    assert_eq!(meter.taken, [1, 2, 3, 4, 5, 6]);
    eeprom(|eeprom| eeprom.advance(u64::MAX));
    meter.start();
    assert_eq!(meter.waiting, []);
}

#[test]
fn full_journal_drops_the_oldest_measurement() {
    for (suite, room) in [(0, 17), (1, 17), (2, 17), (3, 6), (4, 5), (5, 17)] {
        let mut meter = Meter::new(1, format!("suite {suite}"));
        for n in 0..100 {
            meter.append(suite, n == 3);
        }
        eeprom(|eeprom| eeprom.advance(u64::MAX));
        meter.settle();
        assert_eq!(meter.waiting.len(), room, "suite {suite}");
        assert_eq!(usize::from(meter.journal.lost_and_damaged().0), 100 - room, "suite {suite}");
        meter.start();
        // The alert is still there.
        let numbers: Vec<_> = meter.waiting.iter().map(|kept| kept.n).collect();
        let newest = 100 - (room as u32 - 2)..=100;
        assert_eq!(numbers, std::iter::once(4).chain(newest).collect::<Vec<_>>(), "suite {suite}");
    }
}

/// An acknowledgement that comes first makes the rest of the append unnecessary, and the next
/// record begins close behind.
#[test]
fn an_early_acknowledgement_saves_writes() {
    let mut meter = Meter::new(1, "early".into());
    let before = byte_writes();
    for _ in 0..1000 {
        meter.append(1, false);
        eeprom(|eeprom| eeprom.advance(10));
        meter.send(true);
        assert!(!meter.journal.busy());
    }
    // The ten, and the one under way.
    assert_eq!(byte_writes() - before, 11 * 1000);
    let most = eeprom(|eeprom| eeprom.writes()[AT..].iter().copied().max());
    assert!(most <= Some(1000 / 40 + 1), "{most:?} writes of a byte");
    meter.finish();
    assert_eq!(meter.taken, (1..=1000).collect::<Vec<_>>());
}

/// One that comes before the append has begun spares all of it; and what is held is not kept.
#[test]
fn report_acknowledged_while_held_is_never_written() {
    let mut meter = Meter::new(1, "held".into());
    meter.append(1, false);
    eeprom(|eeprom| eeprom.advance(u64::MAX));
    meter.settle();
    meter.send(true);
    eeprom(|eeprom| eeprom.advance(u64::MAX));
    meter.settle();
    let before = byte_writes();
    for _ in 0..1000 {
        meter.hold(4, false);
        assert!(meter.journal.busy());
        meter.send(true);
        assert!(!meter.journal.busy());
    }
    assert_eq!(byte_writes(), before);
    // Behind one that waits, it is neither sent nor written by itself.
    meter.append(1, false);
    eeprom(|eeprom| eeprom.advance(u64::MAX));
    meter.settle();
    meter.hold(1, true);
    eeprom(|eeprom| eeprom.advance(u64::MAX));
    meter.settle();
    assert!(meter.journal.busy());
    assert_eq!(meter.journal.waiting(), [1002, 1003]);
    meter.start();
    assert_eq!(meter.waiting.iter().map(|kept| kept.n).collect::<Vec<_>>(), [1002]);
    meter.finish();
}

const TORN: [Torn; 5] = [Torn::Old, Torn::New, Torn::Value(0x00), Torn::Value(0xff), Torn::Unstable];

/// Every byte write of a life is cut short, in every way, and then every byte write of a life after
/// it.
fn cuts_at_every_byte_write(seed: u64, turns: u32, suites: Range<u8>, second_step: usize) -> u32 {
    let mut cuts = 0;
    let script = |first: Option<(u64, Torn)>, second: Option<(u64, Torn)>| {
        let what = format!("seed {seed}, cuts {first:?} and {second:?}");
        let mut meter = Meter::new(seed, what);
        let mut rng = Rng::with_seed(seed);
        // Something that waits, and a ring that has gone around.
        meter.live(&mut rng, 40, suites.clone());
        let mut cut = 0;
        let mut writes = [0, 0];
        for (index, at) in [first, second].into_iter().enumerate() {
            meter.start();
            if let Some((at, torn)) = at {
                eeprom(|eeprom| eeprom.cut_after(at, torn));
            }
            let before = byte_writes();
            meter.live(&mut Rng::with_seed(seed + 1), turns, suites.clone());
            writes[index] = byte_writes() - before;
            cut += u32::from(is_off());
            eeprom(|eeprom| eeprom.cut(Torn::Any));
        }
        meter.finish();
        (cut, writes)
    };
    let writes = script(None, None).1[0];
    for first in 0..u64::from(writes) {
        for torn in TORN {
            let writes = script(Some((first, torn)), None).1[1];
            for second in (0..u64::from(writes)).step_by(second_step) {
                cuts += script(Some((first, torn)), Some((second, TORN[(first + second) as usize % 5]))).0;
            }
        }
    }
    cuts
}

#[test]
fn two_cuts_in_a_row_at_every_byte_write() {
    let cuts = cuts_at_every_byte_write(1, 6, 0..3, 11);
    assert!(cuts > 1_000, "only {cuts} cuts");
}

/// Cuts at random, seed by seed. Returns how many there were.
fn random_cuts(seeds: Range<u64>) -> u32 {
    let mut cuts = 0;
    for seed in seeds {
        let mut rng = Rng::with_seed(seed);
        let mut meter = Meter::new(seed, String::new());
        let suites = [SUITES, 1..2, 1..3, 3..5, 4..6][rng.usize(..5)].clone();
        for life in 0..20 {
            meter.what = format!("seed {seed}, life {life}");
            meter.start();
            let writes = if rng.bool() { rng.u64(..50) } else { rng.u64(..2000) };
            eeprom(|eeprom| eeprom.cut_after(writes, Torn::Any));
            meter.live(&mut rng, 60, suites.clone());
            cuts += u32::from(is_off());
            // A reset, or a cut in the byte that is under way.
            eeprom(|eeprom| eeprom.cut(Torn::Any));
            meter.settle();
        }
        meter.what = format!("seed {seed}, the end");
        meter.finish();
    }
    cuts
}

#[test]
fn random_cuts_lose_nothing() {
    let cuts = random_cuts(0..100);
    assert!(cuts > 1000, "only {cuts} cuts");
}

/// `cargo test --release -p wattseal-device --test meter journal -- --ignored`
#[test]
#[ignore = "minutes"]
fn many_random_cuts_lose_nothing() {
    let cuts = random_cuts(1000..3000);
    println!("{cuts} cuts");
    assert!(cuts > 20_000, "only {cuts} cuts");
}

/// As above.
#[test]
#[ignore = "minutes"]
fn many_times_two_cuts_in_a_row_at_every_byte_write() {
    let cuts = cuts_at_every_byte_write(2, 6, SUITES, 1) + cuts_at_every_byte_write(3, 6, 1..2, 1);
    println!("{cuts} cuts");
    assert!(cuts > 20_000, "only {cuts} cuts");
}

#[test]
fn any_memory_is_an_empty_journal() {
    for seed in 0..200 {
        let mut rng = Rng::with_seed(seed);
        let mut image = [[0xff, 0x00, 0x50, 0x54][seed as usize % 4]; BYTES];
        if seed >= 4 {
            image.fill_with(|| rng.u8(..));
        }
        let mut meter = Meter::new(seed, format!("image {seed}"));
        eeprom(|eeprom| *eeprom = Eeprom::with_image(&image, seed));
        meter.start();
        assert_eq!(meter.waiting, []);
        assert_eq!(eeprom(|eeprom| *eeprom.image()), image);
        meter.live(&mut rng, 100, SUITES);
        meter.finish();
    }
}

/// A bit of the memory that flips by itself: the record is not sent, and counted.
#[test]
fn a_record_that_decays_is_left_out_and_counted() {
    for suite in SUITES {
        let mut meter = Meter::new(1, format!("suite {suite}"));
        meter.append(suite, false);
        meter.append(suite, false);
        eeprom(|eeprom| eeprom.advance(u64::MAX));
        meter.settle();
        assert!(!meter.journal.busy());
        eeprom(|eeprom| {
            let mut image = *eeprom.image();
            image[AT + 7] ^= 4;
            *eeprom = Eeprom::with_image(&image, 1);
        });
        let (oldest, bytes) = meter.journal.oldest_message(48).expect("the other one");
        assert_eq!((oldest.n, bytes), (2, message(2, suite)), "suite {suite}");
        assert_eq!(meter.journal.lost_and_damaged(), (0, 1), "suite {suite}");
    }
}
