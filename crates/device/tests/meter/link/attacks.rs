//! Attackers on the air without keys: they record, replay, alter, cut and invent.

use super::world::{ADDRESS, METER, SECOND_NS, World, load, setup};
use device::meter::eeprom::Eeprom;
use device::meter::{Cause, Meter, Status};
use wire::meter::{Cause as Told, Command, CommandResult, Suite};

/// Packets that are tried: `WATTSEAL_ATTACK=1000000` for many.
fn attempts(short: usize) -> usize {
    std::env::var("WATTSEAL_ATTACK").ok().and_then(|text| text.parse().ok()).unwrap_or(short)
}

/// Returns the state that an attacker must not change. The energy is not in it: it may have been
/// measured since the meter looked last.
fn state(world: &World) -> (Status, Vec<u8>) {
    let status = Status { refused: 0, state: 0, energy: 0, ..world.meter.status() };
    (status, world.meter.eeprom().image().to_vec())
}

/// Returns the packets of collector and meter up to now: an attacker has recorded them. The last
/// command and the report that is being sent are open.
fn recorded(world: &mut World) -> Vec<Vec<u8>> {
    let suite = world.provision.setup().suite;
    let mut heard = Vec::new();
    let numbers: Vec<u32> = world.answers.iter().map(|answered| answered.answer.m).collect();
    for m in numbers {
        heard.extend(world.forged(suite, &Command::ReadStatus { page: 0 }.to_bytes(m)));
    }
    let n = world.reports.last().expect("a report").report.n;
    for n in [n - 1, n] {
        heard.push(world.forged_acknowledgement(suite, n));
    }
    heard.extend(world.sent.iter().rev().take(6).cloned());
    heard
}

/// Byte 1 of acknowledgements and commands of the suites 1 to 5, and how many bytes follow.
const WELL_FORMED: [(u8, usize); 13] = [
    (0x88, 20),
    (0x90, 20),
    (0x98, 20),
    (0xa0, 20),
    (0xa8, 20),
    (0xc8, 36),
    (0xd0, 36),
    (0xd9, 56),
    (0xda, 56),
    (0xe3, 48),
    (0xe4, 48),
    (0xe5, 48),
    (0xe8, 36),
];

fn mutated(rng: &mut fastrand::Rng, recorded: &[Vec<u8>]) -> Vec<u8> {
    let mut packet = rng.choice(recorded).expect("some").clone();
    match rng.u8(..8) {
        0 => packet = (0..rng.usize(1..62)).map(|_| rng.u8(..)).collect(),
        1 => packet.truncate(rng.usize(1..packet.len())),
        2 => packet.extend((0..rng.usize(1..62)).map(|_| rng.u8(..))),
        3 => packet[1] = rng.u8(..),
        4 => {
            // To the meter, of the right length for what it says, and nothing else.
            let (kind_and_suite, bytes) = *rng.choice(&WELL_FORMED).expect("some");
            packet = vec![ADDRESS, kind_and_suite, (METER >> 8) as u8, METER as u8, rng.u8(..)];
            packet.extend((0..bytes).map(|_| rng.u8(..)));
        }
        _ => {}
    }
    packet.truncate(61);
    if rng.bool() {
        packet[0] = ADDRESS;
    }
    for _ in 0..rng.usize(..3) {
        let at = rng.usize(..packet.len());
        packet[at] ^= 1 << rng.u8(..8);
    }
    packet
}

#[test]
fn packets_that_are_not_authentic_change_nothing_but_a_counter() {
    for (suite, short) in [
        (Suite::Aes128Gcm, 20_000),
        (Suite::Aes256Gcm, 5_000),
        (Suite::Ecies, 3_000),
        (Suite::EciesEcdsa, 3_000),
        (Suite::AsconAead128, 5_000),
    ] {
        let seed = fastrand::u64(..);
        let mut world = World::new(setup(suite, 5), seed);
        world.set_load(load(100.0));
        for _ in 0..3 {
            world.command(Command::ReadStatus { page: 0 });
        }
        world.run(12 * SECOND_NS);
        // A report waits for its acknowledgement from here on.
        world.deaf = true;
        world.run(5 * SECOND_NS + SECOND_NS / 4);
        world.until_it_is_still();
        let recorded = recorded(&mut world);
        let before = state(&world);
        assert_ne!(before.0.waiting, 0);
        let refused = world.meter.status().refused;
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut last = Vec::new();
        for n in 0..attempts(short) {
            let packet = mutated(&mut rng, &recorded);
            // What was recorded is another test's, as a whole or in pieces.
            if recorded.contains(&packet) {
                continue;
            }
            world.whisper(&packet);
            last = packet;
            if n % 256 == 0 {
                assert_eq!(state(&world), before, "{suite}, seed {seed}, packet {n}: {last:02x?}");
            }
        }
        assert_eq!(state(&world), before, "{suite}, seed {seed}: {last:02x?}");
        assert_ne!(world.meter.status().refused, refused);
        // And it goes on as if nothing had been.
        world.deaf = false;
        world.run(30 * SECOND_NS);
        assert_eq!(world.meter.status().waiting, 0, "{suite}, seed {seed}");
        assert_eq!(world.command(Command::ReadStatus { page: 1 }).answer.outcome, CommandResult::Done);
    }
}

/// Made with the right keys, but for another suite than the meter's.
#[test]
fn nothing_of_another_suite_is_taken() {
    for own in Suite::ALL {
        let mut world = World::new(setup(own, 5), 12);
        world.run(SECOND_NS);
        world.deaf = true;
        world.run(5 * SECOND_NS);
        world.until_it_listens();
        let before = state(&world);
        let n = before.0.number;
        assert_eq!(before.0.waiting, 1);
        for other in Suite::ALL.into_iter().filter(|other| *other != own) {
            let mut packets = world.forged(other, &Command::Reboot.to_bytes(9));
            packets.push(world.forged_acknowledgement(other, n));
            for packet in packets {
                world.whisper(&packet);
            }
            assert_eq!(state(&world), before, "{other} on {own}");
        }
        // With the meter's own, the command is taken.
        let packets = world.forged(own, &Command::ReadStatus { page: 0 }.to_bytes(9));
        for packet in packets {
            world.whisper(&packet);
        }
        world.until_it_listens();
        assert_eq!(world.meter.status().commands, 1, "{own}");
    }
}

#[test]
fn acknowledgements_of_other_reports_change_nothing() {
    for suite in Suite::ALL {
        let mut world = World::new(setup(suite, 5), 13);
        world.run(SECOND_NS);
        world.deaf = true;
        world.run(10 * SECOND_NS);
        world.until_it_listens();
        let before = state(&world);
        assert_eq!(before.0.waiting, 2);
        let newest = before.0.number;
        // Past ones, the one that is waiting behind, ones that are to come.
        for n in [newest - 2, newest, newest + 1, newest - 1 + 256, 0, u32::MAX] {
            let packet = world.forged_acknowledgement(suite, n);
            world.whisper(&packet);
            assert_eq!(state(&world), before, "{suite}: {n}, {newest}");
        }
        let right = world.forged_acknowledgement(suite, newest - 1);
        world.whisper(&right);
        world.until_it_listens();
        assert_eq!(world.meter.status().acknowledged_number, newest - 1);
        let once = world.meter.status();
        world.whisper(&right);
        let repeated = world.meter.status();
        assert_eq!(
            (repeated.acknowledged, repeated.refused),
            (once.acknowledged, once.refused + 1),
            "{suite}"
        );
    }
}

/// A command's pieces, in any order, doubled, and with those of another between them.
#[test]
fn pieces_come_as_they_will() {
    for suite in [Suite::Ecies, Suite::EciesEcdsa] {
        let seed = fastrand::u64(..);
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut world = World::new(setup(suite, 600), seed);
        world.run(SECOND_NS);
        for m in 1..=20 {
            world.until_it_listens();
            let mut pieces = world.forged(suite, &Command::ReadStatus { page: 0 }.to_bytes(m));
            let other = world.forged(suite, &Command::Reboot.to_bytes(m + 1));
            world.whisper(rng.choice(&other[1..]).expect("some"));
            rng.shuffle(&mut pieces);
            world.whisper(&pieces[0]);
            for piece in &pieces {
                world.whisper(piece);
            }
            world.until_it_listens();
            assert_eq!(u32::from(world.meter.status().commands), m, "{suite}, seed {seed}");
        }
    }
}

#[test]
fn an_erased_memory_seals_nothing_and_takes_no_command() {
    for suite in [Suite::None, Suite::Aes128Gcm, Suite::AsconAead128] {
        let mut world = World::new(setup(suite, 5), 14);
        world.start(Eeprom::new(1), 0, Cause::PowerOn);
        world.sent.clear();
        world.run(20 * SECOND_NS);
        world.until_it_listens();
        let command = world.forged(suite, &Command::Reboot.to_bytes(9));
        world.whisper(&command[0]);
        world.until_it_listens();
        let status = world.meter.status();
        assert_eq!((status.faults, status.number, status.commands, world.sent.len()), (3, 0, 0, 0));
        // Numbers alone, and no settings: it measures as it was provisioned, and takes no command.
        let mut image = *World::new(setup(suite, 5), 14).meter.eeprom().image();
        image[156..252].fill(0xff);
        world.start(Eeprom::with_image(&image, 1), 0, Cause::PowerOn);
        world.run(20 * SECOND_NS);
        world.until_it_listens();
        world.whisper(&command[0]);
        world.until_it_listens();
        let status = world.meter.status();
        assert_eq!((status.faults, status.commands), (2, 0));
        assert!(status.measurements >= 3);
    }
}

#[test]
fn a_part_that_is_not_provisioned_sleeps() {
    let mut meter = Meter::start(&[0xff; 176], Eeprom::new(1), Cause::PowerOn, 1, 0);
    assert_eq!(meter.resume(0, device::meter::Reply::Done), device::meter::Call::Stopped);
    assert_eq!(meter.resume(10 * SECOND_NS, device::meter::Reply::Done), device::meter::Call::Stopped);
    assert_eq!(meter.eeprom().image(), &[0xff; 1024]);
}

/// Without noise the seed serves, and says so; without a seed, the noise does; without both,
/// nothing is sealed with curves.
#[test]
fn a_noise_source_that_fails_is_told_of() {
    let mut world = World::new(setup(Suite::Ecies, 5), 15);
    let provisioned = Eeprom::with_image(&world.provision.eeprom(), 1);
    let restart = |world: &mut World, mut eeprom: Eeprom, with_seed: bool, with_noise: bool| {
        if !with_seed {
            let mut image = *eeprom.image();
            image[..120].fill(0xff);
            eeprom = Eeprom::with_image(&image, 1);
        }
        world.meter = Meter::start(&world.provision.flash(), eeprom, Cause::PowerOn, 1, world.now_ns);
        if !with_noise {
            world.meter.fail_noise();
        }
        world.resume(device::meter::Reply::Done);
        world.run(12 * SECOND_NS);
        let eeprom = world.meter.eeprom().clone();
        (world.meter.status(), eeprom)
    };
    // Begun anew: the numbers of the start before are not there any more.
    let fresh = |world: &mut World| {
        let next = World::new(setup(Suite::Ecies, 5), 15);
        *world = next;
    };
    fresh(&mut world);
    let (status, eeprom) = restart(&mut world, provisioned, true, false);
    assert_eq!((status.faults, status.alerts, status.measurements), (4, 2, 2));
    assert_eq!(world.alerts().last().expect("one").cause, Told::NoiseSource);
    let (status, eeprom) = restart(&mut world, eeprom, false, true);
    assert_eq!((status.faults, status.alerts, status.measurements), (0, 1, 2));
    let (status, _) = restart(&mut world, eeprom, false, false);
    assert_eq!((status.faults, status.alerts, status.measurements), (12, 0, 0));
}
