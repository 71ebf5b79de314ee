//! Random, mutated, truncated and replayed packets: the collector takes none, and nothing changes
//! but counters and, within bounds, unfinished messages. The printed seed repeats a run as
//! `WATTSEAL_SEED`.

use super::fixture::{NOW_MS, NOW_S, TestMeter, collector_and_meters};
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::collections::HashSet;
use testkit::random::seed;
use wire::meter::{
    Collector, Command, CommandResult, Due, MALFORMED_KINDS, MeterState, Packet, Policy, Reassembly, Suite,
    UplinkOutcome, packets,
};

/// Changes a packet in a way that somebody on the air can.
fn mutated(packet: &[u8], others: &[Vec<u8>], rng: &mut StdRng) -> Vec<u8> {
    let mut packet = packet.to_vec();
    for _ in 0..rng.random_range(1..=2) {
        let at = rng.random_range(0..packet.len().max(1));
        match rng.random_range(0..24) {
            _ if packet.is_empty() => packet.push(rng.random()),
            0 => packet.truncate(at),
            1 => packet.extend((0..rng.random_range(1..70)).map(|_| rng.random::<u8>())),
            // The header, so that what is behind it comes to other places.
            2 => packet[at.min(4)] = rng.random(),
            3 => packet[at.min(1)] ^= 1 << rng.random_range(0..8),
            4..8 => packet[at] = rng.random(),
            8..11 => {
                let other = &others[rng.random_range(0..others.len())];
                let end = other.len().min(packet.len());
                packet[at.min(end)..end].copy_from_slice(&other[at.min(end)..end]);
            }
            _ => packet[at] ^= 1 << rng.random_range(0..8),
        }
    }
    packet
}

/// Traffic on the air: reports that are stored, commands with their answers, acknowledgements.
fn exchange(collector: &mut Collector, meters: &mut [TestMeter], rng: &mut StdRng) -> Vec<Vec<u8>> {
    let mut heard = Vec::new();
    for meter in meters {
        let id = meter.provision.setup().meter;
        for round in 0..3 {
            let report = meter.report(NOW_S, rng);
            for packet in &report {
                collector.on_packet(packet, NOW_MS);
            }
            let acknowledgement = collector.confirm_report(id, meter.n).expect("handed out");
            assert_eq!(meter.acknowledged(&acknowledgement, meter.suite), meter.n);
            collector.command(id, Command::ReadStatus { page: 1 }).expect("queued");
            let now_ms = NOW_MS + 2000 * u64::from(round);
            while let Some(due) = collector.due(now_ms, rng).pop() {
                match due {
                    Due::Save(state) => collector.confirm_state(id, state.revision),
                    Due::SaveKeys(record) => collector.confirm_keys(&record),
                    Due::Send(command) => {
                        let (m, _) = meter.hear(&command).expect("its own");
                        let answer = meter.answer(m, CommandResult::Done, [round; 11]);
                        assert!(matches!(collector.on_packet(&answer[0], NOW_MS), UplinkOutcome::Answer(_)));
                        heard.extend(command.packets);
                        heard.extend(answer);
                    }
                }
            }
            heard.extend(acknowledgement.packets);
            heard.extend(report);
        }
    }
    heard
}

/// Begins a command for each meter, and returns the messages that the collector does not hear: the
/// answers, and of the next reports all pieces. The command's packets are `heard`.
fn keep_back(
    collector: &mut Collector,
    meters: &mut [TestMeter],
    heard: &mut Vec<Vec<u8>>,
    rng: &mut StdRng,
) -> Vec<Vec<Vec<u8>>> {
    for meter in (1..).take(meters.len()) {
        collector.command(meter, Command::Reboot).expect("queued");
    }
    let mut messages = Vec::new();
    for _ in 0..2 {
        for due in collector.due(NOW_MS + 6000, rng) {
            match due {
                Due::Save(state) => collector.confirm_state(state.meter, state.revision),
                Due::SaveKeys(record) => collector.confirm_keys(&record),
                Due::Send(command) => {
                    let meter = &mut meters[usize::from(command.meter) - 1];
                    let (m, _) = meter.hear(&command).expect("its own");
                    messages.push(meter.answer(m, CommandResult::Done, [0; 11]));
                    heard.extend(command.packets);
                }
            }
        }
    }
    for meter in meters {
        for _ in 0..3 {
            messages.push(meter.report(NOW_S, rng));
        }
    }
    messages
}

/// Somebody who heard packets, and kept messages from the collector.
struct Attacker {
    heard: Vec<Vec<u8>>,
    messages: Vec<Vec<Vec<u8>>>,
    kept_back: HashSet<Vec<u8>>,
    /// All of these, in an order that is the seed's.
    material: Vec<Vec<u8>>,
    /// Packets of the message that is being sent.
    to_come: Vec<Vec<u8>>,
}

impl Attacker {
    fn new(heard: Vec<Vec<u8>>, messages: Vec<Vec<Vec<u8>>>) -> Attacker {
        let kept_back: HashSet<Vec<u8>> = messages.iter().flatten().cloned().collect();
        let mut material: Vec<Vec<u8>> = heard.iter().chain(&kept_back).cloned().collect();
        material.sort();
        Attacker { heard, messages, kept_back, material, to_come: Vec::new() }
    }

    /// Returns the next packet; `None` where it would be a genuine one that is not part of a
    /// message with a wrong bit.
    fn packet(&mut self, rng: &mut StdRng) -> Option<Vec<u8>> {
        let of_message = !self.to_come.is_empty();
        let packet = match rng.random_range(0..10) {
            _ if of_message => self.to_come.remove(0),
            // A whole message with one bit changed, behind a piece that makes the collector forget
            // those of others.
            3 => {
                self.to_come.clone_from(&self.messages[rng.random_range(0..self.messages.len())]);
                let mut first = self.to_come[0].clone();
                first[4] ^= 0x80;
                let piece = rng.random_range(0..self.to_come.len());
                let at = rng.random_range(5..self.to_come[piece].len());
                self.to_come[piece][at] ^= 1 << rng.random_range(0..8);
                first
            }
            0 => (0..rng.random_range(0..80)).map(|_| rng.random()).collect(),
            // Random, with a header that is right.
            1 => {
                let mut packet = self.material[rng.random_range(0..self.material.len())].clone();
                rng.fill(&mut packet[5..]);
                packet
            }
            2 => self.heard[rng.random_range(0..self.heard.len())].clone(),
            _ => mutated(&self.material[rng.random_range(0..self.material.len())], &self.material, rng),
        };
        (of_message || !self.kept_back.contains(&packet)).then_some(packet)
    }
}

fn attack(count: usize, seed: u64) {
    let rng = &mut StdRng::seed_from_u64(seed);
    let (mut collector, mut meters) = collector_and_meters(&Suite::ALL[1..], Policy::default(), rng);
    let mut heard = exchange(&mut collector, &mut meters, rng);
    let messages = keep_back(&mut collector, &mut meters, &mut heard, rng);
    let mut attacker = Attacker::new(heard, messages);
    assert_eq!(attacker.kept_back.len(), 6 + 3 * (1 + 1 + 2 + 3 + 1 + 1));

    let states = |collector: &Collector| -> Vec<MeterState> {
        (1..=4).map(|meter| collector.state(meter).expect("there")).collect()
    };
    let (before, mut refused, mut again, mut pieces) = (states(&collector), 0, 0, 0);
    let refused_before = collector.counters().total();
    for number in 0..count {
        let Some(packet) = attacker.packet(rng) else { continue };
        match collector.on_packet(&packet, NOW_MS + 6000 + number as u64) {
            UplinkOutcome::Rejected(_) => refused += 1,
            UplinkOutcome::Piece => pieces += 1,
            // A stored report is acknowledged again: it was authentic, and is the same.
            UplinkOutcome::Duplicate(_) => again += 1,
            taken => panic!("packet {number} of seed {seed} was taken: {taken:?}, {packet:02x?}"),
        }
        assert!(collector.held_bytes() <= 4 * 2 * 144);
    }
    assert_eq!(states(&collector), before);
    assert_eq!(collector.counters().total() - refused_before, refused);
    println!("{count} packets: {refused} refused, {again} acknowledged again, {pieces} pieces");
    assert!(refused > count as u64 / 2 && again > 0 && pieces > 0);
    println!("{}", serde_json::to_string(collector.counters()).expect("a map"));
    // The meters are heard as before; where a piece of the attacker's lies in the way, when they
    // send again.
    for meter in &mut meters {
        let report = meter.report(NOW_S, rng);
        let mut sent = report.iter().chain(&report).map(|packet| collector.on_packet(packet, NOW_MS));
        assert!(sent.any(|heard| matches!(heard, UplinkOutcome::Report(_))));
    }
}

#[test]
fn attacker_s_packets_are_never_taken() {
    attack(4_000, seed());
}

#[test]
#[ignore = "half a minute"]
fn nothing_of_a_million_is_taken() {
    attack(1_000_000, seed());
}

/// Any bytes cause no panic, and a message that can be taken apart can be put together again.
#[test]
fn any_bytes_parse_or_are_refused() {
    let rng = &mut StdRng::seed_from_u64(seed());
    let (mut parsed, mut errors) = (0, HashSet::new());
    let mut reassembly = Reassembly::default();
    for _ in 0..200_000 {
        let length = [4, 9, 21, 25, 41, 53, 61, 62][rng.random_range(0..8)];
        let mut bytes: Vec<u8> = (0..length).map(|_| rng.random()).collect();
        if rng.random_range(0..8) == 0 && length > 4 {
            bytes[2..4].fill(0);
        }
        match Packet::parse(&bytes) {
            Err(error) => {
                errors.insert(std::mem::discriminant(&error));
            }
            Ok(packet) => {
                parsed += 1;
                if let Some(message) = reassembly.take(&packet) {
                    let number = u32::from(packet.number_lsb);
                    let cut = packets(
                        packet.address,
                        packet.kind,
                        packet.suite,
                        packet.meter,
                        number,
                        &message.bytes,
                    );
                    assert_eq!(cut[usize::from(packet.index)], bytes);
                }
            }
        }
        assert!(reassembly.held_bytes() <= 4 * 144);
    }
    assert!(parsed > 1000, "{parsed}");
    assert_eq!(errors.len(), MALFORMED_KINDS);
}

/// Strangers, and meters whose messages never become whole, cost the collector nothing but what its
/// own meters are allowed.
#[test]
fn flood_stays_within_memory_bounds() {
    let rng = &mut StdRng::seed_from_u64(seed());
    let (mut collector, mut meters) =
        collector_and_meters(&[Suite::EciesEcdsa, Suite::Ecies], Policy::default(), rng);
    let first = meters[0].report(NOW_S, rng).remove(0);
    for name in 0..=u16::MAX {
        let mut packet = first.clone();
        packet[2..4].copy_from_slice(&name.to_be_bytes());
        packet[4] = rng.random();
        collector.on_packet(&packet, NOW_MS);
    }
    // Also of the meter that does not seal like that: it may, by an order that an older copy does
    // not know.
    assert_eq!(collector.held_bytes(), 2 * 144);
    assert_eq!(collector.counters_of(2).expect("there").total(), 0);
    // 65,536 names, less the two.
    assert_eq!(collector.counters().total(), 65_534);
    assert_eq!(collector.counters().of(wire::meter::Rejection::UnknownMeter), 65_533);
}

/// Measures readings a second with AES-128-GCM from 1,000 meters: received, stored and
/// acknowledged.
#[test]
#[ignore = "a measurement; release builds alone"]
fn readings_a_second() {
    let rng = &mut StdRng::seed_from_u64(1);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::Aes128Gcm; 1000], Policy::default(), rng);
    let reports: Vec<_> = (0..20)
        .flat_map(|_| meters.iter_mut().map(|meter| meter.report(NOW_S, rng)).collect::<Vec<_>>())
        .collect();
    let start = std::time::Instant::now();
    for report in &reports {
        let UplinkOutcome::Report(accepted) = collector.on_packet(&report[0], NOW_MS) else {
            panic!("a new report")
        };
        collector.confirm_report(accepted.meter, accepted.report.n).expect("handed out");
    }
    println!("{:.0} readings a second", reports.len() as f64 / start.elapsed().as_secs_f64());
}
