//! The meter's firmware on its models loses its power: at random moments, and within every byte
//! that it writes into its EEPROM, with each suite, while commands come and old ones are replayed.
//! What holds is in `invariants`: it is seen on the air and in the memory, and the firmware is not
//! asked.
//!
//! Twenty thousand cuts: `cargo test --release -p wattseal-sim --test suite power_cuts:: --
//! --ignored --nocapture`, with WATTSEAL_SEED=n for others than seed 1.

#[path = "../../../device/tests/invariants/mod.rs"]
mod invariants;

use invariants::memory::{self, BYTES};
use invariants::{Count, Invariants};
use lab::workspace::Workspace;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use sim::link::{LinkCollector, LinkExperiment};
use sim::node::Node;
use sim::node::meter::MeterFirmware;
use sim::station::collector::ProcessingDelay;
use sim::supply::Voltages;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wire::meter::{Command, Delivery, Identity, Provision, QueuedCommand, Setup, Suite, Transmission};

const METER: u16 = 7;
const OTHER_NAME: u16 = 8;
const ADDRESS: u8 = 0x45;
const COLLECTOR_ADDRESS: u8 = 0x41;
const GROUP: u8 = 210;
const VOLTAGE_UV: u32 = 867_000;
const CURRENT_UA: u32 = 195_000;
const POWER_W: f64 = 900.0;
const MILLISECOND_NS: u64 = 1_000_000;
const SECOND_NS: u64 = 1000 * MILLISECOND_NS;
/// Interval at which the air is checked: less than the 41 ms in which a block of numbers is
/// written.
const LOOK_NS: u64 = 5 * MILLISECOND_NS;
/// A meter that everything arrives at has delivered all that it kept by then, whatever it seals
/// with. It waits for 6.8 s at most between two attempts, seals for 3 s, and gathers noise for 5.
const BACK_WITHIN_NS: u64 = 200 * SECOND_NS;
/// An answer is waited for where its command goes out within that time.
const SOON_NS: u64 = 12 * SECOND_NS;
/// A byte of a start, an append and an acknowledgement is written by then.
const BYTE_WITHIN_NS: u64 = 60 * SECOND_NS;
/// Bytes that a start, an append and an acknowledgement write at most: two slots of the seed,
/// numbers, settings, a record of 153 bytes and the next one, which is due before the meter listens
/// again where sealing takes seconds, and the marks of these and of what waits.
const BYTES_MOST: u64 = 2 * 60 + 12 + 32 + 2 * 153 + 6;

/// The suites of a build: no build for the ATmega328P has all of them.
const SIGNING: [Suite; 5] =
    [Suite::None, Suite::Aes128Gcm, Suite::Aes256Gcm, Suite::Ecies, Suite::EciesEcdsa];
const ASCON: [Suite; 5] =
    [Suite::AsconAead128, Suite::None, Suite::Aes128Gcm, Suite::Aes256Gcm, Suite::Ecies];

/// The one with these suites.
fn firmware(suites: &[Suite]) -> Arc<MeterFirmware> {
    let workspace = Workspace::find().expect("the tests run inside the project");
    let last = *suites.iter().max().expect("a suite");
    let firmware = MeterFirmware::build(&workspace, "emontx", last).expect("it builds");
    assert!(suites.iter().all(|suite| firmware.has(*suite)), "{suites:?}");
    firmware
}

fn seed() -> u64 {
    std::env::var("WATTSEAL_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1)
}

/// Between measurements: a curve takes seconds, and there is to be room for commands.
fn interval_s(suites: &[Suite]) -> u16 {
    if suites.iter().any(|suite| suite.has_curve()) { 6 } else { 1 }
}

/// A meter under test, its collector, and the observer.
struct Trial {
    link: LinkExperiment,
    loss: f64,
    phase: i16,
    rng: StdRng,
    invariants: Invariants,
    suites: Vec<Suite>,
    /// Commands as they were sent.
    sent: Vec<Transmission>,
}

impl Trial {
    /// A meter that seals with the first of the suites, and is told of the others.
    fn new(firmware: &Arc<MeterFirmware>, suites: &[Suite], seed: u64) -> Trial {
        let mut rng = StdRng::seed_from_u64(seed);
        let identity = Identity::generate(&mut rng);
        let setup = Setup {
            meter: METER,
            address: ADDRESS,
            collector_address: COLLECTOR_ADDRESS,
            channel: GROUP,
            power: 0,
            interval_s: interval_s(suites),
            suite: suites[0],
            voltage_uv: VOLTAGE_UV,
            current_ua: CURRENT_UA,
            phase: firmware.phase(),
        };
        let provision = Provision::generate(setup, identity.public(), &mut rng);
        let names: Vec<_> = suites.iter().map(|suite| suite.name()).collect();
        let mut invariants =
            Invariants::new(format!("{}, seed {seed}", names.join(" ")), &provision, &identity);
        invariants.power_per_step = Some(POWER_W / (f64::from(VOLTAGE_UV) * f64::from(CURRENT_UA)));
        let mut meter = firmware.meter(&provision, rng.random()).expect("a meter");
        meter.power_up(0, Voltages { rail_v: 0.0, stored_v: 0.0 }).expect("it starts");
        let collector = LinkCollector {
            identity,
            record: provision.record(),
            delay: ProcessingDelay::default(),
            rng: StdRng::seed_from_u64(rng.random()),
        };
        let mut link = LinkExperiment::new(meter, collector, seed).expect("the first meter");
        link.set_load(POWER_W);
        let (suites, phase) = (suites.to_vec(), firmware.phase());
        Trial { link, loss: 0.0, phase, rng, invariants, suites, sent: Vec::new() }
    }

    fn set_loss(&mut self, loss: f64) {
        self.loss = loss;
        self.link.set_loss(loss);
    }

    fn writes(&mut self) -> u64 {
        self.link.meter().expect("a meter").nonvolatile_writes()
    }

    /// Returns the contents of the memory.
    fn image(&mut self) -> [u8; BYTES] {
        let mut image = [0; BYTES];
        assert!(self.link.meter().expect("a meter").read_memory(&mut image), "the model has an EEPROM");
        image
    }

    fn now_ns(&self) -> u64 {
        self.link.now_ns()
    }

    fn run(&mut self, for_ns: u64) {
        let until_ns = self.now_ns() + for_ns;
        while self.now_ns() < until_ns {
            let look_ns = until_ns.min(self.now_ns() + LOOK_NS);
            self.link.run_until(look_ns).expect("the firmware runs");
            self.look();
        }
    }

    /// Records the events since the last look.
    fn look(&mut self) {
        let record = self.link.take_record();
        self.sent.extend(record.commands);
        if let Some(&(_, QueuedCommand::Command(command), Delivery::UnderWay { m, .. })) =
            self.link.engine().commands(METER).first()
        {
            self.invariants.commanded(m, command);
        }
        if record.packets.is_empty() && record.reports.is_empty() && record.answers.is_empty() {
            return;
        }
        let image = self.image();
        record.keys.iter().for_each(|keys| self.invariants.confirm_keys(keys));
        for packet in record.packets {
            // This part has no suite whose key is renewed.
            self.invariants.sent(&packet.packet, &image, &[]);
        }
        for delivery in record.reports {
            self.invariants.accepted(&delivery.accepted);
        }
        for (answered, _) in record.answers {
            self.invariants.answered(&answered, &image);
        }
    }

    fn cut(&mut self) {
        self.look();
        let before = self.image();
        let torn = self.rng.random();
        self.link.restart_meter(torn).expect("it starts");
        let after = self.image();
        self.invariants.cut(&before, &after);
    }

    /// Lives on without a loss until all that was kept has been delivered.
    fn come_back(&mut self) {
        let loss = self.loss;
        self.set_loss(0.0);
        let from_ns = self.now_ns();
        loop {
            self.run(20 * MILLISECOND_NS);
            let image = self.image();
            if self.invariants.is_settled(&image) && !self.answer_is_near() {
                self.invariants.settle(&image);
                break;
            }
            let waited_ns = self.now_ns() - from_ns;
            assert!(waited_ns < BACK_WITHIN_NS, "{}: the meter does not come back", self.invariants.what);
        }
        self.set_loss(loss);
    }

    /// Returns true if a command is under way, and is sent again soon. The collector waits longer
    /// each time.
    fn answer_is_near(&mut self) -> bool {
        let soon_ms = (self.now_ns() + SOON_NS) / 1_000_000;
        self.link.engine().next_due_ms().is_some_and(|due_ms| due_ms < soon_ms)
    }

    /// A command that changes something, or asks, if none is under way; or an old one once more.
    fn command(&mut self) {
        let rng = &mut self.rng;
        if !self.sent.is_empty() && rng.random_bool(0.3) {
            let old = self.sent[rng.random_range(0..self.sent.len())].clone();
            self.link.inject(old);
        }
        if !self.link.engine().commands(METER).is_empty() {
            return;
        }
        let command = match rng.random_range(0..8) {
            0 => Command::ReadStatus { page: rng.random_range(0..2) },
            1 => Command::SetTime { time_s: rng.random_range(1_000_000..u32::MAX) },
            2 => Command::Reboot,
            3 => Command::Calibrate {
                voltage_uv: rng.random_range(800_000..900_000),
                current_ua: rng.random_range(180_000..220_000),
                phase: self.phase,
            },
            4 => Command::Register {
                meter: if rng.random() { METER } else { OTHER_NAME },
                address: ADDRESS + rng.random_range(0..3),
                collector_address: COLLECTOR_ADDRESS,
            },
            _ => {
                let suite = self.suites[rng.random_range(0..self.suites.len())];
                Command::Configure { interval_s: interval_s(&self.suites) + rng.random_range(0..2), suite }
            }
        };
        self.link.engine().command(METER, command).expect("there is room");
    }
}

/// Cuts within the first, second, ... byte that is written after a start, until a cycle of append
/// and acknowledgement is through. The collector is heard once the memory has the report to the
/// end, with the share `loss` of packets lost.
fn within_every_byte(firmware: &Arc<MeterFirmware>, suite: Suite, loss: f64, seed: u64) -> (u64, Count) {
    let mut trial = Trial::new(firmware, &[suite], seed);
    let mut cuts = 0;
    // Where acknowledgements are lost, the next records come before the first is through: its bytes
    // have been cut by then.
    for byte in 1..=BYTES_MOST {
        let target = trial.writes() + byte;
        let first_n = memory::numbers(&trial.image(), false).map_or(0, |numbers| numbers.limit);
        let until_ns = trial.now_ns() + BYTE_WITHIN_NS;
        trial.set_loss(1.0);
        let mut held = false;
        let through = loop {
            trial.run(MILLISECOND_NS);
            let holds = memory::journal(&trial.image()).iter().any(|record| record.n >= first_n);
            if holds {
                trial.set_loss(loss);
                held = true;
            }
            if trial.writes() >= target {
                break false;
            }
            if held && !holds {
                break true;
            }
            assert!(trial.now_ns() < until_ns, "{}: byte {byte} is not written", trial.invariants.what);
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
            trial.come_back();
            // From a start on, and with nothing that waits.
            trial.cut();
            cuts += 1;
        }
    }
    trial.come_back();
    (cuts, trial.invariants.count)
}

fn at_random(firmware: &Arc<MeterFirmware>, suites: &[Suite], cuts: u64, loss: f64, seed: u64) -> Count {
    let mut trial = Trial::new(firmware, suites, seed);
    trial.set_loss(loss);
    // A curve takes seconds, and its first one noise.
    let long_ms = if suites.iter().any(|suite| suite.has_curve()) { 12_000 } else { 3000 };
    for cut in 0..cuts {
        let within_ms = if trial.rng.random_bool(0.5) { 300 } else { long_ms };
        let for_ns = trial.rng.random_range(0..within_ms * MILLISECOND_NS);
        trial.command();
        trial.run(for_ns);
        trial.cut();
        if cut % 8 == 7 {
            trial.come_back();
        }
    }
    trial.come_back();
    trial.invariants.count
}

#[test]
fn cuts_within_every_byte_of_an_append_and_its_acknowledgement() {
    let (firmware, seed) = (firmware(&[Suite::Aes128Gcm]), seed());
    let (cuts, count) = within_every_byte(&firmware, Suite::Aes128Gcm, 0.0, seed);
    println!("seed {seed}: {cuts} cuts, {count:?}");
    // An append of 36 bytes has 45, and its acknowledgement 1 at least; what a start writes comes
    // before.
    assert!(cuts >= 46, "{cuts}");
}

#[test]
fn cuts_at_random_with_every_suite() {
    let seed = seed();
    for (suites, cuts) in [
        (&[Suite::None][..], 20),
        (&[Suite::Aes128Gcm], 24),
        (&[Suite::Aes256Gcm], 16),
        (&[Suite::Ecies], 4),
        (&[Suite::EciesEcdsa], 4),
        (&SIGNING, 8),
        (&[Suite::AsconAead128], 16),
        (&ASCON, 8),
    ] {
        let begun = std::time::Instant::now();
        let count = at_random(&firmware(suites), suites, cuts, 0.2, seed);
        println!("seed {seed}, {suites:?}: {cuts} cuts, {count:?}, {:.1?}", begun.elapsed());
        assert!(count.starts > cuts && count.reports > 0, "{count:?}");
    }
}

/// A journal that runs over while nothing arrives; the reports that come through then tell what was
/// lost, and nothing else is.
fn deaf_for_a_while(firmware: &Arc<MeterFirmware>, suite: Suite, seed: u64) -> Count {
    let mut trial = Trial::new(firmware, &[suite], seed);
    trial.set_loss(1.0);
    // 17 reports have room.
    trial.run(24 * SECOND_NS);
    trial.come_back();
    trial.invariants.count
}

#[test]
fn report_without_room_is_counted_as_lost() {
    let (firmware, seed) = (firmware(&[Suite::Aes128Gcm]), seed());
    let count = deaf_for_a_while(&firmware, Suite::Aes128Gcm, seed);
    println!("seed {seed}: {count:?}");
    assert!(count.lost > 4 && count.reports > 17, "{count:?}");
}

/// Kind of a trial of the long run.
#[derive(Clone, Copy, Debug)]
enum TrialKind {
    AtRandom(&'static [Suite]),
    WithinEveryByte(Suite),
    Deaf(Suite),
}

const CUTS: u64 = 20_000;
const CUTS_OF_A_TRIAL: u64 = 100;
const KINDS: [TrialKind; 15] = [
    TrialKind::AtRandom(&[Suite::None]),
    TrialKind::AtRandom(&[Suite::Aes128Gcm]),
    TrialKind::AtRandom(&[Suite::Aes256Gcm]),
    TrialKind::AtRandom(&[Suite::Ecies]),
    TrialKind::AtRandom(&[Suite::EciesEcdsa]),
    TrialKind::AtRandom(&SIGNING),
    TrialKind::AtRandom(&[Suite::AsconAead128]),
    TrialKind::AtRandom(&ASCON),
    TrialKind::WithinEveryByte(Suite::None),
    TrialKind::WithinEveryByte(Suite::Aes128Gcm),
    TrialKind::WithinEveryByte(Suite::Ecies),
    TrialKind::WithinEveryByte(Suite::EciesEcdsa),
    TrialKind::WithinEveryByte(Suite::AsconAead128),
    TrialKind::Deaf(Suite::None),
    TrialKind::Deaf(Suite::Ecies),
];

#[test]
#[ignore = "takes an hour or more"]
fn twenty_thousand_cuts() {
    let first = seed() * 1000;
    let (signing, ascon) = (firmware(&SIGNING), firmware(&ASCON));
    let of = |suite: Suite| if signing.has(suite) { &signing } else { &ascon };
    let begun = std::time::Instant::now();
    let (next, cuts) = (AtomicU64::new(0), AtomicU64::new(0));
    let worker = || {
        while cuts.load(Ordering::Relaxed) < CUTS {
            let run = next.fetch_add(1, Ordering::Relaxed);
            let (seed, kind) = (first + run, KINDS[run as usize % KINDS.len()]);
            let loss = [0.0, 0.2, 0.5][run as usize / KINDS.len() % 3];
            let (more, count) = match kind {
                TrialKind::AtRandom(suites) => {
                    (CUTS_OF_A_TRIAL, at_random(of(suites[0]), suites, CUTS_OF_A_TRIAL, loss, seed))
                }
                TrialKind::WithinEveryByte(suite) => within_every_byte(of(suite), suite, loss, seed),
                TrialKind::Deaf(suite) => (0, deaf_for_a_while(of(suite), suite, seed)),
            };
            let all = cuts.fetch_add(more, Ordering::Relaxed) + more;
            println!("seed {seed}, {kind:?}: {more} cuts, {count:?}; {all} in all, {:.0?}", begun.elapsed());
        }
    };
    std::thread::scope(|scope| {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        for worker in workers {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}
