//! Power that fails at any time, within any byte write, while commands come and old ones are
//! replayed: what `invariants` says holds.

use super::world::{ADDRESS, COLLECTOR, METER, SECOND_NS, World, load, setup};
use crate::invariants::Count;
use device::meter::Cause;
use device::meter::eeprom::Torn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use wire::meter::{Command, Policy, Suite};

/// Returns the number of power failures: `WATTSEAL_CUTS=20000` for many.
fn cuts(short: u64) -> u64 {
    std::env::var("WATTSEAL_CUTS").ok().and_then(|text| text.parse().ok()).unwrap_or(short)
}

/// Cuts of one meter's trial.
const TRIAL: u64 = 250;
/// Measurement of a step of the converter, and the calibration at first: see `setup` and `load`.
const POWER_W: f64 = 700.0;
/// A meter that everything arrives at has delivered all that it kept, and answered, by then. It
/// waits for 6.5 s at most between two attempts, the collector for 9.6 s. While the collector does
/// not know whether an address was changed, it commands the old one and the new one by turns; and
/// with a signature a report each second is being written for half of the time, in the buffer that
/// a command's pieces need: one attempt in four comes in. A minute is not enough for one trial in a
/// thousand (`kept_seeds`).
const BACK_WITHIN_NS: u64 = 600 * SECOND_NS;

/// A collector's to a meter that computes in no time.
fn prompt() -> Policy {
    Policy { answer_within_ms: [100; Suite::ALL.len()], ..Policy::default() }
}

/// Subject of a trial: a suite, or all of them by turns.
#[derive(Clone, Copy)]
enum Seals {
    With(Suite),
    ByTurns,
}

const SEALS: [Seals; 8] = [
    Seals::With(Suite::None),
    Seals::With(Suite::Aes128Gcm),
    Seals::With(Suite::Aes256Gcm),
    Seals::With(Suite::Ecies),
    Seals::With(Suite::EciesEcdsa),
    Seals::With(Suite::AsconAead128),
    Seals::With(Suite::Aes256GcmRekeyed),
    Seals::ByTurns,
];

/// Suites that are changed between.
const TURNS: [Suite; Suite::ALL.len()] = Suite::ALL;

impl Seals {
    fn name(self) -> &'static str {
        match self {
            Seals::With(suite) => suite.name(),
            Seals::ByTurns => "all by turns",
        }
    }
}

struct Trial {
    world: World,
    seals: Seals,
}

impl Trial {
    fn new(seals: Seals, seed: u64) -> Trial {
        let suite = match seals {
            Seals::With(suite) => suite,
            Seals::ByTurns => TURNS[seed as usize % TURNS.len()],
        };
        let mut world = World::new(setup(suite, 1), seed);
        world.set_load(load(POWER_W));
        world.collector.set_policy(Policy { set_time: false, ..prompt() });
        world.watch(format!("{}, seed {seed}", seals.name()));
        let setup = world.provision.setup();
        let step = f64::from(setup.voltage_uv) * f64::from(setup.current_ua);
        if let Some(invariants) = &mut world.invariants {
            invariants.power_per_step = Some(POWER_W / step);
        }
        Trial { world, seals }
    }

    /// Returns true if the key is renewed.
    fn renews(&self) -> bool {
        matches!(self.seals, Seals::With(Suite::Aes256GcmRekeyed))
    }

    /// A command that changes something, or asks.
    fn command(&mut self) -> Command {
        let renews = self.renews();
        let chance = &mut self.world.chance;
        // Where the meter does not seal so, it refuses.
        if chance.u8(..8) < if renews { 4 } else { u8::from(matches!(self.seals, Seals::ByTurns)) } {
            return Command::RenewKey;
        }
        match chance.u8(..8) {
            0 => Command::ReadStatus { page: chance.u8(..2) },
            1 => Command::SetTime { time_s: chance.u32(1_000_000..) },
            2 => Command::Reboot,
            3 => Command::Calibrate {
                voltage_uv: chance.u32(700_000..900_000),
                current_ua: chance.u32(80_000..120_000),
                phase: 0,
            },
            4 => Command::Register {
                meter: *chance.choice(&[METER, 0x4321]).expect("some"),
                address: ADDRESS + chance.u8(..3),
                collector_address: COLLECTOR,
            },
            _ => {
                let suite = match self.seals {
                    Seals::With(suite) => suite,
                    Seals::ByTurns => *chance.choice(&TURNS).expect("some"),
                };
                Command::Configure { interval_s: chance.u16(1..3), suite }
            }
        }
    }

    /// Runs for a time, or until the memory's power has failed.
    fn run(&mut self, for_ns: u64) {
        let until_ns = self.world.now_ns + for_ns;
        while self.world.now_ns < until_ns && !self.world.meter.eeprom().is_off() {
            self.world.step(until_ns);
        }
    }

    /// From a start to the next cut.
    fn life(&mut self) {
        let renews = self.renews();
        let chance = &mut self.world.chance;
        let lost = *chance.choice(&[0.0, 0.2, 0.5, 1.0]).expect("some");
        // Now and then so long that the journal runs over; and so long that a renewal may come to
        // its end.
        let most_s = if chance.u8(..16) == 0 {
            45
        } else if renews {
            8
        } else {
            3
        };
        let for_ns = chance.u64(1..most_s * SECOND_NS);
        let (writes, within) = (chance.u64(..if renews { 500 } else { 250 }), chance.bool());
        (self.world.lost, self.world.doubled) = (lost, 0.2);
        if within {
            self.world.meter.eeprom_mut().cut_after(writes, Torn::Any);
        }
        if self.world.collector.commands(METER).is_empty() {
            let command = self.command();
            self.world.collector.command(METER, command).expect("in range");
        }
        self.run(for_ns / 2);
        if !self.world.commanded.is_empty() && self.world.chance.bool() {
            let old = self.world.chance.choice(&self.world.commanded).expect("some").clone();
            self.world.inject(&old);
        }
        self.run(for_ns / 2);
        let off_ns = self.world.chance.u64(..SECOND_NS);
        self.world.cut_power(Torn::Any, off_ns, Cause::PowerOn);
    }

    /// Everything arrives until all that was kept has, and the last command is answered.
    fn come_back(&mut self) {
        (self.world.lost, self.world.doubled) = (0.0, 0.0);
        let from_ns = self.world.now_ns;
        loop {
            self.run(SECOND_NS / 10);
            let image = *self.world.meter.eeprom().image();
            let renewed = !self.renews() || self.world.collector.busy().next().is_none();
            let invariants = self.world.invariants.as_mut().expect("it is watched");
            if invariants.is_settled(&image) && self.world.collector.commands(METER).is_empty() && renewed {
                invariants.settle(&image);
                return;
            }
            assert!(
                self.world.now_ns - from_ns < BACK_WITHIN_NS,
                "{}: it does not come back",
                invariants.what
            );
        }
    }

    fn finish(mut self) -> Count {
        self.come_back();
        self.world.invariants.expect("it is watched").count
    }
}

fn random_cuts(seals: Seals, seed: u64, cuts: u64) -> Count {
    let mut trial = Trial::new(seals, seed);
    for _ in 0..cuts {
        trial.life();
        if trial.world.chance.u8(..8) == 0 {
            trial.come_back();
        }
    }
    trial.finish()
}

/// Trials that found something once.
#[test]
fn kept_seeds() {
    // The answer to a register order is lost, and the order comes in again after 58 s.
    random_cuts(Seals::With(Suite::EciesEcdsa), 20_807_569_307, TRIAL);
}

/// `WATTSEAL_CUTS=1000000 cargo test --release -p wattseal-device --test meter
/// link::cuts::power_cuts --
/// --nocapture`: as many, in equal parts with each suite and with all by turns; `WATTSEAL_SEED=n`
/// for others than a seed by chance.
#[test]
fn power_cuts_at_any_time_lose_nothing_that_was_kept() {
    let (seed, begun) = (testkit::random::seed(), Instant::now());
    for (first, seals) in (0..).map(|part| seed.wrapping_add(part << 32)).zip(SEALS) {
        // A renewal takes one, too.
        let curves =
            !matches!(seals, Seals::With(suite) if !suite.has_curve() && suite != Suite::Aes256GcmRekeyed);
        let parts = SEALS.len() as u64;
        let cuts = (cuts(parts * if curves { 150 } else { 1000 }) / parts).max(1);
        let trials = cuts.div_ceil(TRIAL);
        let next = AtomicU64::new(0);
        let worker = || {
            let mut count = Count::default();
            loop {
                let trial = next.fetch_add(1, Ordering::Relaxed);
                if trial >= trials {
                    return count;
                }
                count += random_cuts(seals, first.wrapping_add(trial), TRIAL.min(cuts - trial * TRIAL));
            }
        };
        let mut count = Count::default();
        std::thread::scope(|scope| {
            let workers = std::thread::available_parallelism().map_or(1, usize::from).min(trials as usize);
            let workers: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
            for worker in workers {
                count += worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            }
        });
        println!("{}, seeds from {first}: {cuts} cuts, {count:?}, {:.1?}", seals.name(), begun.elapsed());
        assert!(count.starts >= cuts && count.reports > cuts / 4 && count.answers > cuts / 20, "{count:?}");
        let renews = matches!(seals, Seals::With(Suite::Aes256GcmRekeyed));
        assert!(!renews || count.keys > cuts / 20, "{count:?}");
    }
}

/// A start, an alert, measurements that the journal has to the end and that are acknowledged then,
/// a command: the power fails in each byte write of that, which is torn in every way.
#[test]
fn every_byte_write_can_be_the_last() {
    const TORN: [Torn; 4] = [Torn::Old, Torn::New, Torn::Value(0x5a), Torn::Unstable];
    for (suite, writes) in
        [(Suite::None, 160), (Suite::Aes128Gcm, 180), (Suite::EciesEcdsa, 400), (Suite::AsconAead128, 180)]
    {
        let mut trial = Trial::new(Seals::With(suite), 21);
        let mut happened = 0;
        for write in 0..writes {
            // By turns; with curves there are many writes of the same kind.
            if suite == Suite::EciesEcdsa && write % 4 != 0 {
                continue;
            }
            trial.world.cut_power(Torn::Old, SECOND_NS, Cause::PowerOn);
            let torn = TORN[write as usize / 4 % 4];
            trial.world.meter.eeprom_mut().cut_after(write, torn);
            trial.world.lost = 1.0;
            trial.run(2 * SECOND_NS + SECOND_NS / 2);
            trial.world.lost = 0.0;
            let command = Command::Configure { interval_s: 1, suite };
            trial.world.collector.command(METER, command).expect("in range");
            trial.run(2 * SECOND_NS);
            happened += u64::from(trial.world.meter.eeprom().is_off());
            trial.world.cut_power(torn, SECOND_NS / 10, Cause::PowerOn);
            trial.come_back();
        }
        let count = trial.finish();
        println!("{suite}: {happened} of {writes} byte writes, {count:?}");
        assert!(happened >= writes / 5, "{suite}: only {happened} cuts came");
    }
}

/// The first answer to a configure is lost, and the power fails; what was sealed before the next
/// answer is delivered all the same.
#[test]
fn reports_before_an_answered_suite_change_are_delivered() {
    for from in Suite::ALL {
        for to in Suite::ALL {
            let mut world = World::new(setup(from, 5), 31);
            world.collector.set_policy(Policy { set_time: false, ..prompt() });
            world.watch(format!("{from} to {to}"));
            world.run(3 * SECOND_NS);
            world.mute = true;
            world
                .collector
                .command(METER, Command::Configure { interval_s: 5, suite: to })
                .expect("in range");
            world.run(12 * SECOND_NS);
            world.cut_power(Torn::Old, SECOND_NS, Cause::PowerOn);
            world.run(7 * SECOND_NS);
            world.mute = false;
            let before = world.reports.len();
            world.run(60 * SECOND_NS);
            let what = format!("{from} to {to}: {:?}", world.meter.status());
            assert!(world.answers.len() == 1 && world.meter.status().suite == to.code(), "{what}");
            assert!(world.reports.len() > before + 12 && world.meter.status().waiting == 0, "{what}");
        }
    }
}

/// A command that was withdrawn is over once a later one was answered, whatever becomes of the
/// power.
#[test]
fn a_withdrawn_command_is_not_done_after_a_power_cut() {
    for suite in Suite::ALL.into_iter().filter(|suite| *suite != Suite::None) {
        let mut world = World::new(setup(suite, 5), 32);
        // The collector ends it with a command whose number the meter keeps: it sets the time.
        world.collector.set_policy(prompt());
        world.run(3 * SECOND_NS);
        world.deaf = true;
        let configure = Command::Configure { interval_s: 5, suite: Suite::None };
        let ticket = world.collector.command(METER, configure).expect("in range");
        world.run(SECOND_NS);
        let recorded = world.commanded.first().expect("it was sent").clone();
        world.collector.withdraw(METER, ticket).expect("it waits");
        world.deaf = false;
        world.run(60 * SECOND_NS);
        assert_eq!(world.collector.state(METER).expect("it is known").suites(), [suite], "it is over");
        world.cut_power(Torn::Old, SECOND_NS, Cause::PowerOn);
        world.run(2 * SECOND_NS);
        world.inject(&recorded);
        world.run(5 * SECOND_NS);
        assert_eq!(world.meter.status().suite, suite.code(), "{suite}: the withdrawn command was done");
    }
}
