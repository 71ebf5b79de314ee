//! The renewal of suite 6's key between the firmware and wire's collector:
//! docs/reference/protocol.md, "Renewal of the key".

mod power_cuts;

use super::world::{ADDRESS, Harm, Harming, METER, SECOND_NS, World, is_renewal, setup};
use device::meter::Cause;
use device::meter::eeprom::{Eeprom, Torn};
use std::collections::HashMap;
use wire::meter::{
    Channel, Collector, Command, CommandResult, MessageKind, MeterKeys, MeterState, Packet, Policy, Suite,
    UplinkOutcome, packets,
};

const SUITE: Suite = Suite::Aes256GcmRekeyed;

fn world(seed: u64) -> World {
    let mut world = World::new(setup(SUITE, 2), seed);
    world.run(3 * SECOND_NS);
    world
}

fn keys(world: &World) -> MeterKeys {
    world.collector.record(METER).expect("it is known").keys.clone()
}

/// Runs until both sides have this epoch's key and no other.
fn until_epoch(world: &mut World, epoch: u32, what: &str) {
    let limit = world.now_ns + 600 * SECOND_NS;
    while keys(world).epoch() != epoch
        || keys(world).has_next()
        || u32::from(world.meter.status().epoch) != epoch
    {
        assert!(
            world.now_ns < limit,
            "{what}: epoch {} and {} instead of {epoch}, next {}, {:?}, commands {:?}",
            keys(world).epoch(),
            world.meter.status().epoch,
            keys(world).has_next(),
            world.meter.status(),
            world.collector.commands(METER)
        );
        world.step(limit);
    }
}

fn order(world: &mut World) {
    world.collector.command(METER, Command::RenewKey).expect("there is room");
}

/// The meter is heard, and hears.
fn is_well(world: &mut World, what: &str) {
    (world.lost, world.doubled) = (0.0, 0.0);
    let limit = world.now_ns + 120 * SECOND_NS;
    while world.meter.status().waiting != 0 {
        assert!(world.now_ns < limit, "{what}: {:?}", world.meter.status());
        world.step(limit);
    }
    let (heard, answered) = (world.reports.len(), world.answers.len());
    world.collector.command(METER, Command::ReadStatus { page: 1 }).expect("there is room");
    let limit = world.now_ns + 300 * SECOND_NS;
    while world.reports.len() < heard + 4 || world.answers.len() == answered {
        let (heard, answers) = (world.reports.len() - heard, world.answers.len() - answered);
        assert!(
            world.now_ns < limit,
            "{what}: {heard} reports, {answers} answers, {:?}",
            world.meter.status()
        );
        world.step(limit);
    }
}

/// A packet of a command, sealed with these keys.
fn sealed_with(world: &mut World, keys: &MeterKeys, plaintext: &[u8; 16]) -> Vec<Vec<u8>> {
    let m = u32::from_be_bytes(plaintext[..4].try_into().expect("4 bytes"));
    let record = world.provision.record();
    let own = world.collector.identity().clone();
    let channel = Channel { meter: METER, keys, own: &own, peer: &record.public };
    let sealed = channel.seal(MessageKind::Command, SUITE, m, plaintext, &mut world.rng);
    packets(ADDRESS, MessageKind::Command, SUITE, METER, m, &sealed)
}

#[test]
fn stolen_key_opens_nothing_before_and_after_its_epoch() {
    let mut world = world(41);
    let mut stolen = vec![keys(&world)];
    for epoch in 1..=3 {
        assert_eq!(world.command(Command::RenewKey).answer.outcome, CommandResult::Done);
        until_epoch(&mut world, epoch, "without losses");
        world.run(5 * SECOND_NS);
        stolen.push(keys(&world));
        // Keys that are no more are not in the memory.
        for (of, keys) in (0..).zip(&stolen) {
            let is_there =
                world.meter.eeprom().keys().windows(32).any(|bytes| bytes == keys.expose_epoch_key());
            assert_eq!(is_there, of == epoch, "the key of epoch {of} in epoch {epoch}");
        }
    }
    is_well(&mut world, "after three renewals");
    let record = world.provision.record();
    let opened_with = |keys: &MeterKeys| {
        let channel = Channel { meter: METER, keys, own: world.collector.identity(), peer: &record.public };
        let opens = |accepted: &&wire::meter::ReceivedReport| {
            channel.open(MessageKind::Report, SUITE, &accepted.sealed).is_ok()
        };
        world.reports.iter().filter(opens).map(|accepted| accepted.report.n).collect::<Vec<u32>>()
    };
    let by_epoch: Vec<Vec<u32>> = stolen.iter().map(opened_with).collect();
    assert!(by_epoch.iter().all(|numbers| numbers.len() > 1), "{by_epoch:?}");
    // Each report with one of them, and numbers that go on.
    let all: Vec<u32> = by_epoch.concat();
    assert_eq!(all, world.reports.iter().map(|accepted| accepted.report.n).collect::<Vec<u32>>());
    // Nor does the meter take a command with one.
    for keys in &stolen[..3] {
        let reboot = sealed_with(&mut world, keys, &Command::Reboot.to_bytes(0xffff_fff0));
        assert_eq!(world.answer_to(&reboot), None);
    }
    assert_eq!(world.meter.status().starts, 1);
}

#[test]
fn reports_are_sealed_with_the_key_of_the_memory() {
    let mut world = World::new(setup(SUITE, 2), 54);
    world.watch("three renewals".to_owned());
    world.run(3 * SECOND_NS);
    for epoch in 1..=3 {
        order(&mut world);
        until_epoch(&mut world, epoch, "without losses");
        is_well(&mut world, "without losses");
    }
}

#[test]
fn lost_and_doubled_packets_are_sent_again() {
    let seed = testkit::random::seed();
    let mut world = world(seed);
    for epoch in 1..=3 {
        (world.lost, world.doubled) = (0.3, 0.3);
        order(&mut world);
        until_epoch(&mut world, epoch, &format!("seed {seed}"));
        is_well(&mut world, &format!("seed {seed}"));
    }
    let numbers: Vec<u32> = world.reports.iter().map(|accepted| accepted.report.n).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "seed {seed}: {numbers:?}");
    assert_eq!(world.meter.status().lost, 0, "seed {seed}");
}

/// Every packet of a renewal is lost, doubled, late or replayed in turn: of both sides, with the
/// reports and acknowledgements among them.
#[test]
fn each_packet_in_turn_may_be_lost_doubled_late_or_replayed() {
    const END: usize = usize::MAX / 2;
    let seed = testkit::random::seed();
    // Of the last four every third packet, from one by chance on.
    let harms = [
        (Harm::Lost, 1),
        (Harm::Doubled, 1),
        (Harm::Replayed(END), 1),
        (Harm::Replayed(40), 3),
        (Harm::Late(1), 3),
        (Harm::Late(40), 3),
        (Harm::Silence(10), 3),
    ];
    for (harm, step) in harms {
        let mut harmed = 0;
        for at in (seed as usize % step..).step_by(step) {
            let what = format!("seed {seed}, packet {at} {harm:?}");
            let mut world = World::new(setup(SUITE, 2), 58);
            world.watch(what.clone());
            world.run(3 * SECOND_NS);
            world.harming = Some(Harming::new(at, harm));
            order(&mut world);
            until_epoch(&mut world, 1, &what);
            let harming = world.harming.take().expect("it was there");
            if harming.packets <= at {
                break;
            }
            harmed += 1;
            // What it still has comes once all is over.
            if let Some((is_to_meter, packet)) = harming.kept {
                world.play(is_to_meter, &packet);
            }
            world.run(2 * SECOND_NS);
            is_well(&mut world, &what);
            let key = *keys(&world).expose_epoch_key();
            let has =
                |world: &World, key: &[u8]| world.meter.eeprom().keys().windows(32).any(|bytes| bytes == key);
            assert!(has(&world, &key), "{what}: the two sides have different keys");
            let first = *world.provision.record().keys.expose_epoch_key();
            assert!(!has(&world, &first), "{what}: the key before is still there");
            let status = world.meter.status();
            assert_eq!((status.epoch, status.starts, status.lost), (1, 1, 0), "{what}");
        }
        assert!(harmed >= 2 * 53 / step, "{harm:?}: {harmed} packets");
    }
}

/// For each m and piece there is one content in each direction: else two messages would share a
/// nonce.
#[test]
fn no_piece_has_two_contents() {
    let seed = testkit::random::seed();
    let mut world = world(seed);
    (world.lost, world.doubled) = (0.3, 0.3);
    let mut seen: HashMap<(u32, u8, u8, u8), Vec<u8>> = HashMap::new();
    for epoch in 1..=2 {
        (world.lost, world.doubled) = (0.3, 0.3);
        world.sent.clear();
        world.renewals.clear();
        order(&mut world);
        until_epoch(&mut world, epoch, &format!("seed {seed}"));
        let renewals = world.sent.iter().chain(&world.renewals).filter(|packet| is_renewal(packet));
        for packet in renewals {
            // By m, as far as it is known: a renewal that was lost was begun anew.
            let key = (epoch, packet[4], packet[1], packet[5]);
            let before = seen.entry(key).or_insert_with(|| packet.clone());
            assert_eq!(before, packet, "seed {seed}, {key:?}");
        }
    }
    assert!(seen.len() >= 2 * 2 * 53, "seed {seed}: {}", seen.len());
}

/// A collector that begins anew, with what was durable, at any time.
#[test]
fn the_collector_may_begin_anew_at_any_time() {
    let seed = testkit::random::seed();
    for round in 0..60 {
        let what = format!("seed {seed}, round {round}");
        let mut world = world(seed.wrapping_add(round));
        order(&mut world);
        let for_ns = world.chance.u64(..3 * SECOND_NS);
        world.run(for_ns);
        let (record, state) =
            (world.collector.record(METER).expect("known").clone(), world.collector.state(METER));
        let identity = world.collector.identity().clone();
        world.collector = Collector::new(identity, Policy { set_time: false, ..Policy::default() });
        let state: MeterState = state.expect("known");
        world.collector.add(record, state).expect("the only one");
        is_well(&mut world, &what);
        // What was begun comes to its end, or is ordered again.
        world.run(60 * SECOND_NS);
        if keys(&world).epoch() == 0 {
            order(&mut world);
        }
        until_epoch(&mut world, 1, &what);
        is_well(&mut world, &what);
    }
}

/// The attacker records and plays again, mixes pieces of several renewals, and changes bits.
#[test]
fn attacker_s_packets_renew_nothing() {
    let seed = testkit::random::seed();
    let mut world = world(seed);
    for epoch in 1..=2 {
        order(&mut world);
        until_epoch(&mut world, epoch, "without losses");
        world.run(3 * SECOND_NS);
    }
    let (old, sent) = (world.renewals.clone(), world.meter.status().epoch);
    let commands = world.commanded.concat();
    let before = keys(&world);
    for packet in old.iter().chain(&commands) {
        world.until_it_is_still();
        world.whisper(packet);
    }
    // While another renewal is under way.
    order(&mut world);
    world.run(SECOND_NS / 2);
    for _ in 0..400 {
        let mut packet = world.chance.choice(&old).expect("some").clone();
        let at = world.chance.usize(4..packet.len());
        packet[at] ^= 1 << world.chance.u8(..8);
        world.until_it_is_still();
        world.whisper(&packet);
    }
    assert_eq!((world.meter.status().epoch, keys(&world) == before || keys(&world).has_next()), (sent, true));
    until_epoch(&mut world, 3, &format!("seed {seed}"));
    is_well(&mut world, &format!("seed {seed}"));
}

/// With a report in the journal the next key is not taken: it would not be opened any more.
#[test]
fn waiting_reports_are_delivered_before_the_next_key() {
    let mut world = world(47);
    order(&mut world);
    // The collector's acknowledgements are lost from when it has the next key on.
    until_next_key(&mut world);
    world.deaf = true;
    world.run(10 * SECOND_NS);
    assert!(world.meter.status().waiting > 2, "{:?}", world.meter.status());
    let recorded = sealed_next(&mut world);
    world.until_it_is_still();
    recorded.iter().for_each(|packet| world.whisper(packet));
    world.run(SECOND_NS);
    assert_eq!(world.meter.status().epoch, 0, "it was taken with a journal that is not empty");
    world.deaf = false;
    until_epoch(&mut world, 1, "once it is heard");
    is_well(&mut world, "once it is heard");
    assert_eq!(world.meter.status().lost, 0);
}

/// Until the collector has the next key.
fn until_next_key(world: &mut World) {
    let limit = world.now_ns + 60 * SECOND_NS;
    while !keys(world).has_next() {
        assert!(world.now_ns < limit);
        world.step(limit);
    }
}

/// A command with the next key, as the collector would send it.
fn sealed_next(world: &mut World) -> Vec<Vec<u8>> {
    let next = keys(world).next_epoch().expect("it has one");
    sealed_with(world, &next, &Command::ReadStatus { page: 0 }.to_bytes(0xfff0_0000))
}

#[test]
fn another_suite_has_no_key_to_renew() {
    let mut world = World::new(setup(Suite::Aes128Gcm, 2), 48);
    assert_eq!(world.command(Command::RenewKey).answer.outcome, CommandResult::OutOfRange);
    // From there and back the key is as it was.
    world.command(Command::Configure { interval_s: 2, suite: SUITE });
    order(&mut world);
    until_epoch(&mut world, 1, "after a change of suite");
    world.command(Command::Configure { interval_s: 2, suite: Suite::Ecies });
    world.run(5 * SECOND_NS);
    world.command(Command::Configure { interval_s: 2, suite: SUITE });
    is_well(&mut world, "back");
    assert_eq!((world.meter.status().epoch, keys(&world).epoch()), (1, 1));
}

/// A meter that was told to seal otherwise, while it may have the next key, is not asked for that
/// again and again; once it seals so again, it is.
#[test]
fn a_change_of_suite_between_two_keys_leaves_them_for_later() {
    let mut world = world(49);
    order(&mut world);
    until_next_key(&mut world);
    // With reports that wait it does not take the next key, and is told with the present one.
    world.deaf = true;
    world.run(5 * SECOND_NS);
    let other = Command::Configure { interval_s: 2, suite: Suite::Aes128Gcm };
    world.collector.command(METER, other).expect("there is room");
    let (limit, mut whispered) = (world.now_ns + 300 * SECOND_NS, world.commanded.len());
    while world.meter.status().suite != Suite::Aes128Gcm.code() {
        assert!(world.now_ns < limit && world.meter.status().waiting > 0, "{:?}", world.meter.status());
        world.run(SECOND_NS);
        for packets in world.commanded.split_off(whispered) {
            world.until_it_is_still();
            packets.iter().for_each(|packet| world.whisper(packet));
            world.commanded.push(packets);
        }
        whispered = world.commanded.len();
    }
    world.deaf = false;
    world.run(30 * SECOND_NS);
    assert!(keys(&world).has_next());
    let before = world.commanded.len();
    world.run(60 * SECOND_NS);
    assert_eq!(world.commanded.len() - before, 0, "commands in a minute of quiet");
    world.command(Command::Configure { interval_s: 2, suite: SUITE });
    until_epoch(&mut world, 1, "once it seals with it again");
    is_well(&mut world, "once it seals with it again");
}

/// Runs until the collector has sent this piece of a renewal, or asked for it. Returns its packet.
fn until_piece(world: &mut World, index: u8) -> Vec<u8> {
    let limit = world.now_ns + 60 * SECOND_NS;
    loop {
        match world.renewals.last() {
            Some(packet) if packet[5] == index => return packet.clone(),
            _ => assert!(world.now_ns < limit, "piece {index}: {:?}", world.meter.status()),
        }
        world.step(limit);
    }
}

/// With a piece of the offer missing the meter would agree on a key with a part of the collector's.
#[test]
fn the_response_waits_for_every_piece_of_the_offer() {
    const LAST_OF_OFFER: u8 = 26;
    // The same renewal once before: its packets are the same, and this one asks for the response.
    let mut before = world(55);
    order(&mut before);
    let question = until_piece(&mut before, LAST_OF_OFFER + 1);
    for missing in [LAST_OF_OFFER, 2, 13] {
        let mut world = world(55);
        order(&mut world);
        until_piece(&mut world, missing - 1);
        world.deaf = true;
        world.run(2 * SECOND_NS);
        assert_eq!(world.renewals.last().expect("some")[5], missing);
        assert_eq!(world.answer_to(std::slice::from_ref(&question)), None, "piece {missing} has not come");
        // Nor where only this one is missing.
        for index in missing + 1..=LAST_OF_OFFER {
            let piece = before.renewals.iter().find(|packet| packet[5] == index).expect("it was sent");
            assert!(world.answer_to(std::slice::from_ref(piece)).is_some(), "piece {index}");
        }
        assert_eq!(
            world.answer_to(std::slice::from_ref(&question)),
            None,
            "only piece {missing} has not come"
        );
        world.deaf = false;
        until_epoch(&mut world, 1, "once it is heard");
        is_well(&mut world, "once it is heard");
    }
}

/// The memory of a meter that is provisioned anew has a record of the key that was renewed before.
#[test]
fn the_key_of_another_provisioning_counts_as_none() {
    let mut before = world(56);
    for epoch in 1..=2 {
        order(&mut before);
        until_epoch(&mut before, epoch, "before it is provisioned anew");
    }
    is_well(&mut before, "before it is provisioned anew");
    let old = *keys(&before).expose_epoch_key();
    let eeprom = before.meter.cut_power(before.now_ns, Torn::Old);
    let has_old = |eeprom: &Eeprom| eeprom.keys().windows(old.len()).any(|bytes| bytes == old);
    assert!(has_old(&eeprom));
    let mut world = World::new(setup(SUITE, 2), 57);
    world.start(eeprom, SECOND_NS, Cause::PowerOn);
    world.run(3 * SECOND_NS);
    assert_eq!(world.meter.status().epoch, 0);
    is_well(&mut world, "provisioned anew");
    // From there on it is renewed as any other, and the record of before is erased.
    for epoch in 1..=2 {
        order(&mut world);
        until_epoch(&mut world, epoch, "provisioned anew");
    }
    world.cut_power(Torn::Old, SECOND_NS, Cause::PowerOn);
    is_well(&mut world, "after a start");
    assert!(world.meter.status().epoch == 2 && !has_old(world.meter.eeprom()));
}

/// Runs until the collector has the next key, and is to have it proven.
fn until_next(world: &mut World) -> MeterKeys {
    let limit = world.now_ns + 60 * SECOND_NS;
    while !keys(world).has_next() {
        assert!(world.now_ns < limit, "{:?}", world.meter.status());
        world.step(limit);
    }
    keys(world).next_epoch().expect("it has one")
}

/// Somebody has recorded all that was ever on the air, and takes what meter and collector have in
/// their memories, all of it, between two renewals. No 32 bytes of that are the key of anything but
/// of the present epoch.
#[test]
fn theft_of_all_memories_opens_neither_past_nor_future() {
    const THEFT: u32 = 2;
    let mut world = world(50);
    let (mut by_epoch, mut loot) = (Vec::new(), Vec::new());
    for epoch in 0..=4 {
        if epoch > 0 {
            order(&mut world);
            until_epoch(&mut world, epoch, "without losses");
        }
        world.recorded.clear();
        is_well(&mut world, "between two renewals");
        world.run(5 * SECOND_NS);
        by_epoch.push(std::mem::take(&mut world.recorded));
        if epoch == THEFT {
            let (eeprom, record) = (world.meter.eeprom(), world.collector.record(METER).expect("known"));
            let flash = world.provision.flash();
            loot.extend([&flash[..], eeprom.image(), eeprom.keys(), world.meter.ram()].concat());
            let (key128, key256) = record.keys.expose();
            loot.extend([&key128[..], &key256[..], record.keys.expose_epoch_key()].concat());
            loot.extend_from_slice(&world.collector.identity().private_bytes()[..]);
        }
    }
    assert!(loot.len() > 176 + 1180 + 1700, "{} bytes", loot.len());
    let record = world.provision.record();
    let own = world.collector.identity().clone();
    let opens = |key: &[u8], packet: &[u8]| {
        // In epoch 0 the second key is the epoch's.
        let keys = MeterKeys::new([0; 16], key.try_into().expect("32 bytes"));
        let channel = Channel { meter: METER, keys: &keys, own: &own, peer: &record.public };
        let packet = Packet::parse(packet).expect("of the protocol");
        channel.open(packet.kind, packet.suite, packet.body).is_ok()
    };
    // Reports and commands, some of each.
    let some = |packets: &[Vec<u8>], kind: MessageKind| {
        let of_kind = |packet: &&Vec<u8>| packet[1] >> 6 == kind.code() && !is_renewal(packet);
        packets.iter().filter(of_kind).take(2).cloned().collect::<Vec<_>>()
    };
    for (epoch, packets) in (0..).zip(&by_epoch) {
        let packets = [some(packets, MessageKind::Report), some(packets, MessageKind::Command)].concat();
        assert!(packets.len() > 2, "epoch {epoch}: {} packets", packets.len());
        for packet in packets {
            let opened = loot.windows(32).any(|key| opens(key, &packet));
            // Flash has the key of epoch 0 for ever: docs/reference/protocol.md, "Forward secrecy".
            assert_eq!(opened, epoch == THEFT || epoch == 0, "epoch {epoch}: {packet:02x?}");
        }
    }
}

/// Two meters whose memories are the same to the last byte, those of their generators, too: what
/// comes of the noise after that decides the next key, so that who had all of it before does not
/// have that.
#[test]
fn the_next_key_takes_noise_that_no_thief_has() {
    let next_key = |noise: u64| {
        let mut world = world(51);
        // From then on the generator is seeded.
        order(&mut world);
        until_epoch(&mut world, 1, "without losses");
        is_well(&mut world, "without losses");
        world.meter.change_noise(noise);
        order(&mut world);
        *until_next(&mut world).expose_epoch_key()
    };
    assert_eq!(next_key(1), next_key(1), "all else is the same");
    assert_ne!(next_key(1), next_key(2));
}

/// A request for the response without the key writes nothing: seeds are in a memory that wears out.
#[test]
fn request_without_the_key_does_not_seed_the_generator() {
    let mut world = world(52);
    order(&mut world);
    let limit = world.now_ns + 60 * SECOND_NS;
    let is_last_of_offer = |packet: &Vec<u8>| packet[5] == 26;
    while !world.renewals.last().is_some_and(is_last_of_offer) {
        world.step(limit);
    }
    world.deaf = true;
    world.run(2 * SECOND_NS);
    let question = world.renewals.last().expect("some").clone();
    assert_eq!(question[5], 27, "the first piece of the response is asked for");
    let seeds = |world: &World| world.meter.eeprom().writes()[..120].iter().sum::<u32>();
    let before = seeds(&world);
    for at in [4, 6, 20, 37, 38, 53] {
        let mut forged = question.clone();
        forged[at] ^= 1;
        world.until_it_is_still();
        world.whisper(&forged);
    }
    assert_eq!(seeds(&world), before);
    world.until_it_is_still();
    world.whisper(&question);
    world.until_it_listens();
    assert!(seeds(&world) > before);
    world.deaf = false;
    until_epoch(&mut world, 1, "once it is heard");
}

/// The meter's power fails in the midst of a renewal, and another one is begun in the same epoch;
/// what it said in the one is nothing in the other, whatever number is written on it.
#[test]
fn renewal_refuses_answers_of_an_abandoned_one() {
    let mut world = world(53);
    order(&mut world);
    let limit = world.now_ns + 300 * SECOND_NS;
    let asks_for = |world: &World, index: u8| world.renewals.last().is_some_and(|packet| packet[5] == index);
    while !asks_for(&world, 45) {
        assert!(world.now_ns < limit);
        world.step(limit);
    }
    let broken_off: Vec<Vec<u8>> = world.sent.drain(..).filter(|packet| is_renewal(packet)).collect();
    let number = broken_off[0][4];
    world.cut_power(Torn::Old, SECOND_NS, Cause::PowerOn);
    world.renewals.clear();
    let mut played = 0;
    while keys(&world).epoch() == 0 {
        assert!(world.now_ns < limit, "{:?}", world.meter.status());
        let asked = world.renewals.last().map(|packet| (packet[4], packet[5]));
        if let Some((now, index)) = asked.filter(|(now, _)| *now != number)
            && let Some(old) = broken_off.iter().find(|old| old[5] == index)
        {
            let mut old = old.clone();
            old[4] = now;
            let now_ms = world.now_ms();
            let heard = world.collector.on_packet(&old, now_ms);
            assert!(matches!(heard, UplinkOutcome::Rejected(_)), "piece {index}: {heard:?}");
            played += 1;
        }
        world.step(limit);
    }
    assert!(played > 45, "{played}");
    until_epoch(&mut world, 1, "all the same");
    is_well(&mut world, "all the same");
}
