//! A collector that crashes at any time, over a radio that loses, doubles and reorders, with meters
//! that are commanded, renamed and told to seal otherwise: every report is stored once and in
//! order, and no number of a command is ever sealed with two texts.
//!
//! The printed seed repeats a run as `WATTSEAL_SEED`.

use super::fixture::{COLLECTOR, NOW_MS, TestMeter, collector_and_meters};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::collections::HashMap;
use wire::meter::{
    Channel, Collector, Command, CommandResult, Due, Identity, MessageKind, MeterId, MeterRecord, MeterState,
    Packet, Policy, Reassembly, Suite, Transmission, UplinkOutcome,
};

/// The state that survives the collector.
struct Store {
    identity: Identity,
    kept: HashMap<MeterId, (MeterRecord, MeterState)>,
    readings: HashMap<MeterId, Vec<u32>>,
}

impl Store {
    fn start(&self) -> Collector {
        let mut collector = Collector::new(self.identity.clone(), Policy::default());
        for (meter, (record, state)) in &self.kept {
            let mut state = state.clone();
            state.last_n = self.readings[meter].last().copied().unwrap_or(0);
            collector.add(record.clone(), state).expect("names are kept apart");
        }
        collector
    }
}

/// The report that a meter is sending.
struct Report {
    n: u32,
    suite: Suite,
    packets: Vec<Vec<u8>>,
}

struct World {
    rng: StdRng,
    store: Store,
    collector: Collector,
    meters: Vec<TestMeter>,
    sending: Vec<Option<Report>>,
    /// To the collector, or to all meters: when, and what.
    air: Vec<(u64, bool, Vec<u8>)>,
    now_ms: u64,
    /// The rate of failures: 0 for none.
    chaos: f64,
    crashes: usize,
    answered: usize,
    /// The plaintext of each command by its number.
    sealed: HashMap<(MeterId, u32), [u8; 16]>,
}

impl World {
    fn new(seed: u64) -> World {
        let mut rng = StdRng::seed_from_u64(seed);
        let (collector, meters) = collector_and_meters(&Suite::ALL[1..], Policy::default(), &mut rng);
        let ids = 1..=meters.len() as MeterId;
        let kept = |meter: MeterId| {
            let record = collector.record(meter).expect("there").clone();
            (meter, (record, collector.state(meter).expect("there")))
        };
        let store = Store {
            identity: collector.identity().clone(),
            kept: ids.clone().map(kept).collect(),
            readings: ids.map(|meter| (meter, Vec::new())).collect(),
        };
        let sending = meters.iter().map(|_| None).collect();
        World {
            rng,
            store,
            collector,
            meters,
            sending,
            air: Vec::new(),
            now_ms: NOW_MS,
            chaos: 1.0,
            crashes: 0,
            answered: 0,
            sealed: HashMap::new(),
        }
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.rng.random_bool(probability * self.chaos)
    }

    fn crash(&mut self) {
        self.collector = self.store.start();
        self.crashes += 1;
    }

    fn transmit(&mut self, to_collector: bool, packets: &[Vec<u8>]) {
        for packet in packets {
            let copies = if self.chance(0.3) { 0 } else { 1 + usize::from(self.chance(0.1)) };
            for _ in 0..copies {
                let late_ms = if self.chance(0.2) { self.rng.random_range(0..2000) } else { 0 };
                self.air.push((self.now_ms + 10 + late_ms, to_collector, packet.clone()));
            }
        }
    }

    fn step(&mut self) {
        self.now_ms += 50;
        self.send_reports();
        if self.chance(0.05) {
            self.command();
        }
        self.send_commands();
        if self.chance(0.01) {
            self.crash();
        }
        let now_ms = self.now_ms;
        let (arrived, later) = self.air.drain(..).partition(|(at_ms, ..)| *at_ms <= now_ms);
        self.air = later;
        for (_, to_collector, packet) in arrived {
            if to_collector { self.collector_hears(&packet) } else { self.meters_hear(&packet) }
        }
    }

    fn send_reports(&mut self) {
        for index in 0..self.meters.len() {
            if self.rng.random_range(0..4) > 0 {
                continue;
            }
            let (meter, now_s) = (&mut self.meters[index], (self.now_ms / 1000) as u32);
            let report = self.sending[index].get_or_insert_with(|| {
                let packets = meter.report(now_s, &mut self.rng);
                Report { n: meter.n, suite: meter.suite, packets }
            });
            // The seal stays; the name is the present one.
            for packet in &mut report.packets {
                packet[2..4].copy_from_slice(&meter.address.name.to_be_bytes());
            }
            let packets = report.packets.clone();
            self.transmit(true, &packets);
        }
    }

    fn command(&mut self) {
        let meter = self.rng.random_range(1..=self.meters.len() as MeterId);
        let command = match self.rng.random_range(0..5) {
            0 => {
                let suite = *Suite::ALL[1..].choose(&mut self.rng).expect("four");
                Command::Configure { interval_s: 1, suite }
            }
            // Each meter its own names.
            1 => Command::Register {
                meter: meter + 10 * self.rng.random_range(0..3),
                address: 0x42,
                collector_address: COLLECTOR,
            },
            2 => Command::ReadStatus { page: 1 },
            3 => Command::Reboot,
            _ => {
                let _ = self.collector.set_time(meter);
                return;
            }
        };
        // The queue may be full.
        let ticket = self.collector.command(meter, command);
        if let (Ok(ticket), true) = (ticket, self.rng.random_bool(0.2)) {
            self.collector.withdraw(meter, ticket).expect("it waits");
        }
    }

    fn send_commands(&mut self) {
        for _ in 0..2 {
            for due in self.collector.due(self.now_ms, &mut self.rng) {
                match due {
                    Due::Save(state) => {
                        if self.chance(0.05) {
                            return self.crash();
                        }
                        let (meter, revision) = (state.meter, state.revision);
                        self.store.kept.get_mut(&meter).expect("there").1 = *state;
                        if self.chance(0.05) {
                            return self.crash();
                        }
                        self.collector.confirm_state(meter, revision);
                    }
                    Due::SaveKeys(_) => unreachable!("no key is renewed here"),
                    Due::Send(sent) => {
                        self.look_at(&sent);
                        self.transmit(false, &sent.packets);
                    }
                }
            }
        }
    }

    /// A number stands for one command.
    fn look_at(&mut self, sent: &Transmission) {
        let mut reassembly = Reassembly::default();
        let take = |packet: &Vec<u8>| reassembly.take(&Packet::parse(packet).expect("well-formed"));
        let whole = sent.packets.iter().filter_map(take).last().expect("all pieces");
        let meter = &self.meters[usize::from(sent.meter) - 1];
        let record = meter.provision.record();
        let (own, peer) = (meter.provision.identity(), &meter.collector);
        let channel = Channel { meter: sent.meter, keys: &record.keys, own, peer };
        let opened = channel.open(whole.kind, whole.suite, &whole.bytes).expect("the collector's");
        let m = opened.number.expect("commands have one");
        let before = *self.sealed.entry((sent.meter, m)).or_insert(opened.plaintext);
        assert_eq!(before, opened.plaintext, "number {m} of meter {} for two commands", sent.meter);
    }

    fn collector_hears(&mut self, packet: &[u8]) {
        match self.collector.on_packet(packet, self.now_ms) {
            UplinkOutcome::Report(accepted) => {
                let (meter, n) = (accepted.meter, accepted.report.n);
                if self.chance(0.05) {
                    return self.collector.reject_report(meter, n).expect("handed out");
                }
                if self.chance(0.03) {
                    return self.crash();
                }
                self.store.readings.get_mut(&meter).expect("there").push(n);
                if self.chance(0.03) {
                    return self.crash();
                }
                let sent = self.collector.confirm_report(meter, n).expect("handed out");
                self.transmit(false, &sent.packets);
            }
            UplinkOutcome::Duplicate(sent) => self.transmit(false, &sent.packets),
            UplinkOutcome::OldNumber(accepted) => {
                let (meter, n) = (accepted.meter, accepted.report.n);
                assert!(self.store.readings[&meter].contains(&n), "taken once and not stored");
                let sent = self.collector.confirm_report(meter, n).expect("handed out");
                self.transmit(false, &sent.packets);
            }
            UplinkOutcome::Answer(answered) => {
                self.answered += 1;
                // The owner may keep what an answer has changed, or not.
                if self.rng.random() {
                    let state = self.collector.state(answered.meter).expect("there");
                    self.store.kept.get_mut(&answered.meter).expect("there").1 = state;
                }
            }
            // Meters change to suites that show less, which is not taken before it is answered.
            UplinkOutcome::OtherSuite
            | UplinkOutcome::Busy
            | UplinkOutcome::Piece
            | UplinkOutcome::Rejected(_) => {}
            UplinkOutcome::NumberReused(_) | UplinkOutcome::NumberTooLow { .. } => {
                panic!("no memory went back here")
            }
        }
    }

    fn meters_hear(&mut self, bytes: &[u8]) {
        let packet = Packet::parse(bytes).expect("well-formed");
        let Some(index) = self.meters.iter().position(|meter| meter.address.name == packet.meter) else {
            return;
        };
        let meter = &mut self.meters[index];
        let id = meter.provision.setup().meter;
        if packet.kind == MessageKind::Command {
            let sent = Transmission { meter: id, packets: vec![bytes.to_vec()] };
            if let Some((m, _)) = meter.hear(&sent) {
                let answer = meter.answer(m, CommandResult::Done, [0; 11]);
                self.transmit(true, &answer);
            }
            return;
        }
        let Some(report) = &self.sending[index] else { return };
        let record = meter.provision.record();
        let (own, peer) = (meter.provision.identity(), &meter.collector);
        let channel = Channel { meter: id, keys: &record.keys, own, peer };
        if (packet.suite, packet.number_lsb) == (report.suite, report.n as u8)
            && channel.open_acknowledgement(packet.suite, packet.body) == Ok(report.n)
        {
            assert_eq!(self.store.readings[&id].last(), Some(&report.n), "acknowledged and not stored");
            self.sending[index] = None;
        }
    }
}

fn run(seed: u64, steps: usize) {
    println!("WATTSEAL_SEED={seed}");
    let mut world = World::new(seed);
    for _ in 0..steps {
        world.step();
    }
    // Then all is well, and everything comes to its end.
    world.chaos = 0.0;
    let end_ms = world.now_ms + 3_600_000;
    while world.now_ms < end_ms && world.collector.next_due_ms().is_some() {
        world.step();
    }
    assert_eq!(world.collector.next_due_ms(), None, "a command was never answered");
    for _ in 0..40 {
        world.step();
    }
    for (meter, readings) in &world.store.readings {
        assert!(readings.is_sorted_by(|a, b| a < b), "meter {meter}: {readings:?}");
        let station = &world.meters[usize::from(*meter) - 1];
        let state = world.collector.state(*meter).expect("there");
        assert_eq!(state.addresses(), [station.address]);
        assert_eq!(state.suites(), [station.suite]);
    }
    let stored: usize = world.store.readings.values().map(Vec::len).sum();
    println!("{stored} reports, {} answers, {} crashes", world.answered, world.crashes);
    assert!(stored > steps / 20 && world.answered > steps / 200 && world.crashes > steps / 200);
}

#[test]
fn crashing_collector_loses_and_doubles_nothing() {
    let seed = std::env::var("WATTSEAL_SEED").ok().and_then(|seed| seed.parse().ok());
    match seed {
        Some(seed) => run(seed, 1000),
        None => (1..=2).for_each(|seed| run(seed, 1000)),
    }
}

#[test]
#[ignore = "ten minutes"]
fn many_crashes_lose_and_double_nothing() {
    (1..=40).for_each(|seed| run(seed, 5000));
}
