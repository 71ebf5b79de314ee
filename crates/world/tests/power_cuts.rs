//! The meter's firmware on its models loses its power: at random moments, and within every byte that it writes into its EEPROM. Every
//! report that the journal had to the end is delivered once and in order, no number is used for two messages, and the meter
//! comes back.
//!
//! Twenty thousand cuts: `cargo test --release -p wattseal-world --test power_cuts -- --ignored --nocapture`, with
//! WATTSEAL_SEED=n for others than seed 1.

use lab::target::House;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use wire::meter::{Collector, Command, Identity, MeterState, Policy, Provision, Setup, Suite};
use world::modelled::{Firmware, PHASE};
use world::pair::{Computing, Outcome, Pair, Watch};

const METER: u16 = 7;
const GROUP: u8 = 210;
const MILLISECOND_NS: u64 = 1_000_000;
/// A meter that is heard nothing of for so long has not come back. It waits for 6.4 s at most between two attempts, and 0.3 s
/// beside that, at the least share of packets that arrive here: fewer than one in 10^8 attempts in a row are all lost.
const BACK_WITHIN_NS: u64 = 300_000_000_000;

fn firmware() -> Arc<Firmware> {
    let house = House::find().expect("the tests run inside the project");
    Firmware::build(&house).expect("it builds")
}

/// A meter under test, and all that is known of what it did.
struct Trial {
    pair: Pair,
    watch: Watch,
    rng: StdRng,
    /// n of the reports that the application has.
    delivered: Vec<u32>,
    /// n of reports that the journal had to the end.
    kept: BTreeSet<u32>,
    /// What went on the air under a number: by kind and number, the message.
    messages: BTreeMap<(u8, u32), Vec<u8>>,
    answers: u32,
    /// Measurements that the meter says it lost: since its start, and before.
    lost: u32,
    lost_before: u32,
}

impl Trial {
    fn new(firmware: &Arc<Firmware>, suite: Suite, seed: u64) -> Trial {
        let mut rng = StdRng::seed_from_u64(seed);
        let identity = Identity::generate(&mut rng);
        let setup = Setup {
            meter: METER,
            address: 0x45,
            collector_address: 0x41,
            channel: GROUP,
            power: 0,
            interval_s: 1,
            suite,
            voltage_uv: 867_000,
            current_ua: 195_000,
            phase: PHASE,
        };
        let provision = Provision::generate(setup, identity.public(), &mut rng);
        let mut collector = Collector::new(identity, Policy { set_time: false, ..Policy::default() });
        let record = provision.record();
        let state = MeterState::new(&record);
        collector.add(record, state).expect("the first meter");
        let mut meter = firmware.meter(&provision, rng.random()).expect("a meter");
        meter.power_up(0);
        let watch = Watch::default();
        let pair =
            Pair::new(meter, collector, GROUP, Computing::default(), StdRng::seed_from_u64(rng.random()));
        Trial {
            pair,
            watch,
            rng,
            delivered: Vec::new(),
            kept: BTreeSet::new(),
            messages: BTreeMap::new(),
            answers: 0,
            lost: 0,
            lost_before: 0,
        }
    }

    fn run(&mut self, for_ns: u64) {
        let until_ns = self.pair.meter.now_ns() + for_ns;
        self.pair.run(until_ns, &mut self.watch).expect("the firmware runs");
        for outcome in self.pair.take_outcomes() {
            match outcome {
                Outcome::Report(report, _) => {
                    let n = report.report.n;
                    assert!(
                        self.delivered.last().is_none_or(|&last| last < n),
                        "{n} behind {:?}",
                        self.delivered.last()
                    );
                    self.delivered.push(n);
                }
                Outcome::Answer(..) => self.answers += 1,
            }
        }
        // GCM's messages begin with n. Byte 1 of a packet has the kind and, where it is one of several, which piece.
        for packet in self.pair.take_packets() {
            let kind = packet.bytes[1] >> 6;
            let n = u32::from_be_bytes([packet.bytes[5], packet.bytes[6], packet.bytes[7], packet.bytes[8]]);
            let message = packet.bytes[5..].to_vec();
            let before = self.messages.entry((kind, n)).or_insert_with(|| message.clone());
            assert_eq!(*before, message, "kind {kind}, n {n} for two messages");
        }
        let status = self.pair.meter.status();
        if status.kept_number != 0 {
            self.kept.insert(status.kept_number);
        }
        assert_eq!(status.faults, 0, "what is wrong with the meter");
        self.lost = status.lost.into();
    }

    fn cut(&mut self) {
        // What the journal had to the end up to now.
        self.run(0);
        self.lost_before += self.lost;
        self.lost = 0;
        let torn = self.rng.random();
        self.pair.cut_power(torn);
    }

    /// Lives on without a cut until all that was kept has been delivered and something newer, too.
    fn come_back(&mut self, what: &str) {
        let from_ns = self.pair.meter.now_ns();
        let before = self.delivered.len();
        let newest = self.kept.last().copied().unwrap_or(0);
        loop {
            self.run(20 * MILLISECOND_NS);
            if self.delivered.len() > before && self.delivered.last().is_some_and(|&last| last >= newest) {
                break;
            }
            let waited_ns = self.pair.meter.now_ns() - from_ns;
            assert!(waited_ns < BACK_WITHIN_NS, "{what}: the meter does not come back");
        }
        let delivered: BTreeSet<u32> = self.delivered.iter().copied().collect();
        // Where less arrives than is measured the journal drops measurements, and counts them.
        let missing: Vec<_> = self.kept.range(..=newest).filter(|n| !delivered.contains(n)).collect();
        let lost = self.lost_before + self.lost;
        assert!(missing.len() <= lost as usize, "{what}: kept, but not delivered: {missing:?}, {lost} lost");
        self.kept.retain(|&n| n > newest);
    }

    /// Commands that come to the meter now and then: they write settings, and are answered.
    fn command(&mut self) {
        if self.pair.collector.commands(METER).is_empty() {
            let command = match self.rng.random_range(0..3) {
                0 => Command::ReadStatus { page: self.rng.random_range(0..2) },
                1 => Command::SetTime { time_s: self.rng.random() },
                _ => Command::Configure { interval_s: 1, suite: Suite::Aes128Gcm },
            };
            self.pair.collector.command(METER, command).expect("there is room");
        }
    }
}

fn seed() -> u64 {
    std::env::var("WATTSEAL_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1)
}

/// Cuts within the first, second, ... byte that is written after a start, until a cycle of append and acknowledgement is through. The
/// collector is heard once the journal has the report to the end, with the share `loss` of packets lost.
fn within_every_byte(firmware: &Arc<Firmware>, loss: f64, seed: u64) -> u64 {
    let mut trial = Trial::new(firmware, Suite::Aes128Gcm, seed);
    let writes = |trial: &Trial| trial.pair.meter.machine().nonvolatile_writes();
    let mut cuts = 0;
    for byte in 1.. {
        let target = writes(&trial) + byte;
        trial.pair.loss = 1.0;
        let through = loop {
            trial.run(MILLISECOND_NS);
            let status = trial.pair.meter.status();
            if status.kept_number != 0 {
                trial.pair.loss = loss;
            }
            if writes(&trial) >= target {
                break false;
            }
            if status.kept_number != 0 && status.acknowledged_number == status.kept_number {
                break true;
            }
        };
        if through {
            break;
        }
        // Within the 3.4 ms that a byte takes.
        let into_ns = trial.rng.random_range(0..2 * MILLISECOND_NS);
        trial.run(into_ns);
        trial.cut();
        cuts += 1;
        if byte % 8 == 0 {
            trial.pair.loss = loss;
            trial.come_back(&format!("seed {seed}, cut in byte {byte}"));
        }
    }
    trial.pair.loss = loss;
    trial.come_back(&format!("seed {seed}, at the end"));
    cuts
}

fn at_random(firmware: &Arc<Firmware>, cuts: u32, loss: f64, seed: u64) -> Trial {
    let mut trial = Trial::new(firmware, Suite::Aes128Gcm, seed);
    trial.pair.loss = loss;
    for cut in 0..cuts {
        let within_ms = if trial.rng.random_bool(0.5) { 300 } else { 3000 };
        let for_ns = trial.rng.random_range(0..within_ms * MILLISECOND_NS);
        trial.command();
        trial.run(for_ns);
        trial.cut();
        if cut % 8 == 7 {
            trial.come_back(&format!("seed {seed}, cut {cut}"));
        }
    }
    trial.come_back(&format!("seed {seed}, at the end"));
    trial
}

#[test]
fn cuts_within_every_byte_of_an_append_and_its_acknowledgement() {
    let firmware = firmware();
    let seed = seed();
    let cuts = within_every_byte(&firmware, 0.0, seed);
    println!("seed {seed}: {cuts} cuts");
    // An append of 36 bytes has 46, and its acknowledgement 1 at least; what a start writes comes before.
    assert!(cuts >= 47, "{cuts}");
}

#[test]
fn cuts_at_random() {
    let firmware = firmware();
    let seed = seed();
    let trial = at_random(&firmware, 60, 0.2, seed);
    println!("seed {seed}: {} reports, {} answers", trial.delivered.len(), trial.answers);
    assert!(trial.answers > 0);
}

#[test]
#[ignore = "takes minutes"]
fn twenty_thousand_cuts() {
    let firmware = firmware();
    let (mut cuts, mut reports, mut answers) = (0, 0, 0);
    let begun = std::time::Instant::now();
    for run in 0.. {
        let seed = seed() * 1000 + run;
        let loss = [0.0, 0.2, 0.5][run as usize % 3];
        let trial = at_random(&firmware, 1000, loss, seed);
        reports += trial.delivered.len();
        answers += trial.answers;
        cuts += 1000 + within_every_byte(&firmware, loss, seed);
        println!("seed {seed}: {cuts} cuts, {reports} reports, {answers} answers, {:.0?}", begun.elapsed());
        if cuts >= 20_000 {
            break;
        }
    }
}
