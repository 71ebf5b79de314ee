//! A collector whose meters rest now and then does what one does whose meters never rest.
//!
//! The printed seed repeats a run as `WATTSEAL_SEED`.

use super::fixture::{NOW_MS, TestMeter, collector_and_meters, restarted};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::collections::HashMap;
use testkit::random;
use wire::meter::{
    Collector, Command, CommandResult, CompletedCommand, Due, MeterId, Policy, ReceivedReport, Rejection,
    Report, Suite, Transmission, UplinkOutcome,
};

/// The result of a message, whether or not the collector asked its owner.
#[derive(Debug, PartialEq)]
enum Outcome {
    /// New, and stored: this is sent.
    Stored(Box<ReceivedReport>, Transmission),
    NotStored(Box<ReceivedReport>),
    Acknowledged(Transmission),
    NumberReused,
    Answer(Box<CompletedCommand>),
    Other(UplinkOutcome),
}

type Reports = HashMap<(MeterId, u32), Report>;

/// A collector and its owner's reports.
struct Side {
    collector: Collector,
    reports: Reports,
}

impl Side {
    /// All packets of a message. stores: whether the owner can store it.
    fn hear(&mut self, packets: &[Vec<u8>], stores: bool, now_ms: u64) -> Outcome {
        let Side { collector, reports } = self;
        let mut heard = UplinkOutcome::Piece;
        for packet in packets {
            heard = collector.on_packet(packet, now_ms);
        }
        match heard {
            UplinkOutcome::Report(accepted) if stores => {
                let (meter, n) = (accepted.meter, accepted.report.n);
                reports.insert((meter, n), accepted.report);
                let sent = collector.confirm_report(meter, n).expect("handed out");
                Outcome::Stored(accepted, sent)
            }
            UplinkOutcome::Report(accepted) => {
                collector.reject_report(accepted.meter, accepted.report.n).expect("handed out");
                Outcome::NotStored(accepted)
            }
            UplinkOutcome::OldNumber(accepted) => {
                let (meter, n) = (accepted.meter, accepted.report.n);
                let known = reports.entry((meter, n)).or_insert_with(|| accepted.report);
                if *known == accepted.report {
                    Outcome::Acknowledged(collector.confirm_report(meter, n).expect("handed out"))
                } else {
                    collector.number_reused(meter, n).expect("handed out");
                    Outcome::NumberReused
                }
            }
            UplinkOutcome::Duplicate(sent) => Outcome::Acknowledged(sent),
            UplinkOutcome::NumberReused(_) | UplinkOutcome::Rejected(Rejection::NumberReused) => {
                Outcome::NumberReused
            }
            UplinkOutcome::Answer(answered) => Outcome::Answer(answered),
            other => Outcome::Other(other),
        }
    }
}

struct Both {
    never: Side,
    rests: Side,
}

impl Both {
    /// Does the same with both, and says what came of it, which is the same.
    fn each<T: PartialEq + std::fmt::Debug>(&mut self, mut does: impl FnMut(&mut Side) -> T) -> T {
        let (never, rests) = (does(&mut self.never), does(&mut self.rests));
        assert_eq!(never, rests);
        self.compare();
        never
    }

    fn compare(&self) {
        let (never, rests) = (&self.never.collector, &self.rests.collector);
        let meters: Vec<MeterId> = never.meters().collect();
        assert_eq!(meters, rests.meters().collect::<Vec<_>>());
        for meter in meters {
            assert_eq!(never.state(meter), rests.state(meter));
            assert_eq!(never.record(meter), rests.record(meter));
            assert_eq!(never.counters_of(meter), rests.counters_of(meter));
            assert_eq!(never.commands(meter), rests.commands(meter));
            assert_eq!(never.next_due_ms_of(meter), rests.next_due_ms_of(meter));
        }
        assert_eq!(never.busy().collect::<Vec<_>>(), rests.busy().collect::<Vec<_>>());
        assert_eq!(never.counters(), rests.counters());
        assert_eq!(never.held_bytes(), rests.held_bytes());
    }
}

fn order(rng: &mut StdRng) -> Command {
    match rng.random_range(0..5) {
        0 => Command::Configure { interval_s: 60, suite: Suite::ALL[rng.random_range(0..5)] },
        1 => Command::Register {
            meter: rng.random_range(1..30),
            address: 0x50,
            collector_address: super::fixture::COLLECTOR,
        },
        2 => Command::ReadStatus { page: rng.random_range(0..3) },
        3 => Command::SetTime { time_s: rng.random() },
        _ => Command::Reboot,
    }
}

/// Every message that a meter sent, whole.
type History = Vec<Vec<Vec<u8>>>;

fn command_and_answer(
    both: &mut Both,
    meters: &mut [TestMeter],
    history: &mut History,
    rng: &mut StdRng,
    now_ms: u64,
) {
    let seed = rng.random();
    let due = both.each(|side| side.collector.due(now_ms, &mut StdRng::seed_from_u64(seed)));
    for due in due {
        match due {
            Due::Save(state) => both.each(|side| side.collector.confirm_state(state.meter, state.revision)),
            Due::SaveKeys(record) => both.each(|side| side.collector.confirm_keys(&record)),
            Due::Send(sent) => {
                let meter = &mut meters[usize::from(sent.meter) - 1];
                let Some((m, _)) = meter.hear(&sent) else { continue };
                let outcome =
                    if rng.random_bool(0.8) { CommandResult::Done } else { CommandResult::OutOfRange };
                let packets = meter.answer(m, outcome, [0; 11]);
                if rng.random_bool(0.8) {
                    both.each(|side| side.hear(&packets, true, now_ms));
                }
                history.push(packets);
            }
        }
    }
}

/// Returns how often a meter that rested was woken, as far as that shows.
fn run(seed: u64, steps: usize) {
    let rng = &mut StdRng::seed_from_u64(seed);
    let (collector, mut meters) = collector_and_meters(&Suite::ALL, Policy::default(), rng);
    let identity = collector.identity().clone();
    let mut other = Collector::new(identity, Policy::default());
    for meter in collector.meters() {
        let record = collector.record(meter).expect("there").clone();
        other.add(record, collector.state(meter).expect("there")).expect("a new one");
    }
    let side = |collector| Side { collector, reports: Reports::new() };
    let mut both = Both { never: side(collector), rests: side(other) };
    let (mut history, mut now_ms) = (History::new(), NOW_MS);
    for _ in 0..steps {
        now_ms += [10, 500, 5_000, 70_000].choose(rng).expect("some");
        let (id, stores) = (rng.random_range(0..meters.len()), rng.random_bool(0.9));
        let name = id as MeterId + 1;
        match rng.random_range(0..10) {
            0..3 => {
                let meter = &mut meters[id];
                meter.time_set = rng.random_bool(0.9);
                // Now and then its memory is written again.
                meter.n -= u32::from(meter.n > 1 && rng.random_bool(0.1));
                let late_s = if rng.random_bool(0.8) { 0 } else { rng.random_range(0..100) };
                let packets = meter.report((now_ms / 1000) as u32 - late_s, rng);
                both.each(|side| side.hear(&packets, stores, now_ms));
                history.push(packets);
            }
            3 | 4 => {
                let Some(again) = history.choose(rng).cloned() else { continue };
                both.each(|side| side.hear(&again, stores, now_ms));
            }
            5 => {
                let Some(mut forged) = history.choose(rng).cloned() else { continue };
                let packet = forged.last_mut().expect("packets");
                let at = rng.random_range(5..packet.len());
                packet[at] ^= 1 << rng.random_range(0..8);
                both.each(|side| side.hear(&forged, stores, now_ms));
            }
            6 => {
                let command = order(rng);
                let queued = both.each(|side| side.collector.command(name, command));
                if let (Ok(ticket), true) = (queued, rng.random_bool(0.2)) {
                    both.each(|side| side.collector.withdraw(name, ticket)).expect("it waits");
                }
            }
            7 => command_and_answer(&mut both, &mut meters, &mut history, rng, now_ms),
            8 if rng.random_bool(0.1) => {
                let set_time = rng.random();
                both.each(|side| side.collector.set_policy(Policy { set_time, ..Policy::default() }));
            }
            _ => {
                for _ in 0..rng.random_range(1..4) {
                    both.rests.collector.compact_idle(now_ms);
                }
                both.compare();
            }
        }
    }
}

#[test]
fn compact_meter_behaves_like_an_active_one() {
    let seed = random::seed();
    for run_of in 0..20 {
        run(seed.wrapping_add(run_of), 400);
    }
}

#[test]
fn idle_meter_is_compacted_after_two_silent_checks() {
    let rng = &mut StdRng::seed_from_u64(1);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::Aes128Gcm], super::fixture::quiet(), rng);
    let report = meters[0].report((NOW_MS / 1000) as u32, rng);
    let known = |collector: &mut Collector| {
        matches!(collector.on_packet(&report[0], NOW_MS), UplinkOutcome::Duplicate(_))
    };
    assert!(matches!(collector.on_packet(&report[0], NOW_MS), UplinkOutcome::Report(_)));
    for _ in 0..3 {
        collector.compact_idle(NOW_MS);
    }
    // It was handed out all the time.
    collector.confirm_report(1, 1).expect("handed out");
    collector.compact_idle(NOW_MS);
    assert!(known(&mut collector));
    collector.command(1, Command::Reboot).expect("queued");
    for _ in 0..3 {
        collector.compact_idle(NOW_MS);
    }
    assert!(known(&mut collector), "a command waits for it");
    let (ticket, ..) = collector.commands(1)[0];
    collector.withdraw(1, ticket).expect("it waits");
    collector.compact_idle(NOW_MS);
    assert!(known(&mut collector), "it was touched since");
    collector.compact_idle(NOW_MS);
    collector.compact_idle(NOW_MS);
    assert!(
        matches!(collector.on_packet(&report[0], NOW_MS), UplinkOutcome::OldNumber(_)),
        "its owner knows it"
    );
    // A message that is being opened.
    collector.reject_report(1, 1).expect("handed out");
    let next = meters[0].report((NOW_MS / 1000) as u32, rng);
    let wire::meter::ReassemblyOutcome::Sealed(message) = collector.reassemble(&next[0]) else {
        panic!("it is whole")
    };
    for _ in 0..3 {
        collector.compact_idle(NOW_MS);
    }
    assert!(matches!(collector.accept(message.open(), NOW_MS), UplinkOutcome::Report(_)));
    // The state of a compact meter is that of an active one.
    collector.confirm_report(1, 2).expect("handed out");
    let state = collector.state(1);
    collector.compact_idle(NOW_MS);
    collector.compact_idle(NOW_MS);
    assert_eq!(collector.state(1), state);
    let again = restarted(collector, super::fixture::quiet());
    assert_eq!(again.state(1), state);
}
