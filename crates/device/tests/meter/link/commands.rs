//! Commands: those that are done, their answers, and the state that is kept of them.

use super::world::{ADDRESS, COLLECTOR, METER, SECOND_NS, World, setup};
use device::meter::Cause;
use device::meter::eeprom::Torn;
use device::meter::store::{Settings, eeprom};
use std::ops::Range;
use wire::meter::{Address, Answer, Command, CommandResult, Suite};

/// Range of the settings in EEPROM.
const SETTINGS: Range<usize> = 156..252;

/// Returns the state that must not change where a command is not done: the number of done commands,
/// and the settings in EEPROM.
fn done(world: &World) -> (u16, Vec<u8>) {
    (world.meter.status().commands, world.meter.eeprom().image()[SETTINGS].to_vec())
}

/// Returns how often bytes of the settings were written.
fn settings_writes(world: &World) -> u32 {
    world.meter.eeprom().writes()[SETTINGS].iter().sum()
}

/// Has the meter hear a command, in a second in which it has not answered yet; what it answers at
/// once.
fn tell(world: &mut World, command: Command, m: u32) -> Option<Answer> {
    world.run(SECOND_NS);
    let suite = world.provision.setup().suite;
    let packets = world.forged(suite, &command.to_bytes(m));
    let packet = world.answer_to(&packets)?;
    Some(world.opened_answer(&packet, world.address()).expect("authentic").1)
}

fn cut_power(world: &mut World) {
    world.cut_power(Torn::Old, SECOND_NS, Cause::External);
    world.run(SECOND_NS);
}

/// With a lower m, or with the last one and other bytes: both are authentic, and neither is done.
/// An answer tells the last m.
#[test]
fn a_number_is_good_for_one_command() {
    for suite in Suite::ALL {
        let mut world = World::new(setup(suite, 600), 11);
        world.run(SECOND_NS);
        let last = Command::Configure { interval_s: 9, suite };
        assert_eq!(
            tell(&mut world, Command::SetTime { time_s: 1000 }, 6).expect("one").outcome,
            CommandResult::Done
        );
        assert_eq!(tell(&mut world, last, 7).expect("one").outcome, CommandResult::Done);
        for restarts in 0..3 {
            let before = done(&world);
            let number = world.meter.status().number;
            for (command, m) in [
                (Command::SetTime { time_s: 77 }, 6),
                (Command::Configure { interval_s: 1, suite }, 7),
                (Command::ReadStatus { page: 0 }, 7),
                (Command::Configure { interval_s: 10, suite: Suite::None }, 1),
            ] {
                let what = format!("{suite}, {command:?}, {restarts} restarts");
                let answer = tell(&mut world, command, m).expect("one");
                assert_eq!((answer.m, answer.last_m()), (m, Some(7)), "{what}");
                assert_eq!(answer.body[4..], [0; 7], "{what}");
                assert_eq!(done(&world), before, "{what}");
            }
            // The same bytes are answered again.
            let answer = tell(&mut world, last, 7).expect("one");
            assert_eq!((answer.m, answer.outcome, answer.body), (7, CommandResult::Done, [0; 11]), "{suite}");
            assert_eq!(done(&world), before);
            let status = world.meter.status();
            assert_eq!((status.repeated, status.refused), (1, 4), "{suite}");
            assert!(status.number >= number + 5);
            cut_power(&mut world);
            assert_eq!(world.meter.status().suite, suite.code());
        }
    }
}

/// An attacker who replays earlier commands all the time gets one answer a second for it, whichever
/// they are.
#[test]
fn there_is_one_answer_a_second_to_what_is_not_done() {
    for suite in Suite::ALL {
        let mut world = World::new(setup(suite, 600), 12);
        world.run(SECOND_NS);
        let last = Command::SetTime { time_s: 1000 };
        tell(&mut world, last, 7).expect("one");
        let replayed =
            [last.to_bytes(7), Command::Reboot.to_bytes(7), Command::SetTime { time_s: 1 }.to_bytes(3)]
                .map(|plaintext| world.forged(suite, &plaintext));
        let before = world.meter.status();
        let from_ns = world.now_ns;
        while world.now_ns < from_ns + 9 * SECOND_NS {
            for packets in &replayed {
                world.answer_to(packets);
                world.run(SECOND_NS / 50);
            }
        }
        let after = world.meter.status();
        let answers = after.number - before.number;
        assert!((8..=10).contains(&answers), "{suite}: {answers} answers in 9 s");
        assert_eq!((after.commands, after.starts), (1, 1), "{suite}");
        // What comes meanwhile and is new is done at once.
        let new = world.forged(suite, &Command::ReadStatus { page: 0 }.to_bytes(8));
        world.answer_to(&replayed[0]);
        assert!(world.answer_to(&new).is_some(), "{suite}");
        assert_eq!(world.meter.status().commands, 2, "{suite}");
    }
}

/// A reboot that is answered again is not done again, whether it comes before or after the start.
#[test]
fn a_meter_reboots_once_for_a_command() {
    for suite in Suite::ALL {
        let mut world = World::new(setup(suite, 600), 19);
        for _ in 0..3 {
            assert_eq!(
                tell(&mut world, Command::Reboot, 7).expect("one").outcome,
                CommandResult::Done,
                "{suite}"
            );
        }
        world.run(SECOND_NS);
        let status = world.meter.status();
        assert_eq!((status.starts, status.commands, status.repeated), (2, 0, 2), "{suite}");
    }
}

/// Also that to one that was done before, cannot be done, or is too late; and where it is from
/// stands in its nonce.
#[test]
fn the_answer_to_a_configure_is_always_sealed() {
    for from in Suite::ALL {
        let mut world = World::new(setup(from, 600), 13);
        world.run(SECOND_NS);
        let address = world.address();
        let sealed_as = |suite| if suite == Suite::None { Suite::Aes128Gcm } else { suite };
        let out_of_range = [&[0, 0, 0, 9, 1, 0, 0][..], &[0; 9]].concat().try_into().expect("16 bytes");
        for (plaintext, outcome) in [
            (out_of_range, CommandResult::OutOfRange),
            (Command::Configure { interval_s: 5, suite: from }.to_bytes(8), CommandResult::NumberTooLow),
            (Command::Configure { interval_s: 5, suite: from }.to_bytes(10), CommandResult::Done),
            (Command::Configure { interval_s: 5, suite: from }.to_bytes(10), CommandResult::Done),
        ] {
            world.run(SECOND_NS);
            let packets = world.forged(from, &plaintext);
            let packet = world.answer_to(&packets).expect("an answer");
            let (suite, answer) = world.opened_answer(&packet, address).expect("authentic");
            assert_eq!((suite, answer.outcome), (sealed_as(from), outcome), "{from}");
        }
        // All else is answered as the meter seals, and so is a configure with its new suite.
        world.run(SECOND_NS);
        let packets = world.forged(from, &Command::ReadStatus { page: 0 }.to_bytes(11));
        let packet = world.answer_to(&packets).expect("an answer");
        assert_eq!(world.opened_answer(&packet, address).expect("authentic").0, from);
        for to in Suite::ALL {
            let mut world = World::new(setup(from, 600), 14);
            world.run(2 * SECOND_NS);
            let packets = world.forged(from, &Command::Configure { interval_s: 5, suite: to }.to_bytes(1));
            let packet = world.answer_to(&packets).expect("an answer");
            let (suite, answer) = world.opened_answer(&packet, address).expect("authentic");
            assert_eq!((suite, answer.outcome), (sealed_as(to), CommandResult::Done), "{from} to {to}");
        }
    }
}

#[test]
fn answer_is_authentic_for_the_meter_s_present_address() {
    let new = Address { name: 0x4321, radio: ADDRESS + 1, collector: COLLECTOR + 1 };
    for suite in Suite::ALL.into_iter().filter(|suite| *suite != Suite::None) {
        let mut world = World::new(setup(suite, 600), 15);
        world.run(2 * SECOND_NS);
        // The collector has sent none of what follows.
        world.lost = 1.0;
        let old = world.address();
        let register =
            Command::Register { meter: new.name, address: new.radio, collector_address: new.collector };
        let read = world.forged(suite, &Command::ReadStatus { page: 0 }.to_bytes(1));
        let register = world.forged(suite, &register.to_bytes(2));
        for (packets, address) in [(read, old), (register, new)] {
            let packet = world.answer_to(&packets).expect("an answer");
            assert!(world.opened_answer(&packet, address).is_some(), "{suite}");
            for elsewhere in [
                Address { name: address.name ^ 1, ..address },
                Address { name: address.name ^ 0x100, ..address },
                Address { radio: address.radio ^ 1, ..address },
                Address { collector: address.collector ^ 1, ..address },
            ] {
                assert_eq!(world.opened_answer(&packet, elsewhere), None, "{suite}");
            }
            // The name in the packet is the same one.
            assert_eq!((packet[0], &packet[2..4]), (address.collector, &address.name.to_be_bytes()[..]));
        }
        assert_eq!(old.name, METER);
    }
}

/// Settings are written once for each command that may change something, before its answer, and not
/// for those that cannot.
#[test]
fn reading_the_state_writes_no_settings() {
    let suite = Suite::Aes128Gcm;
    let mut world = World::new(setup(suite, 600), 16);
    world.run(SECOND_NS);
    let calibrate = |phase| Command::Calibrate { voltage_uv: 800_000, current_ua: 100_000, phase };
    let read = Command::ReadStatus { page: 0 };
    for (m, (command, written)) in (1..).zip([
        (read, 0),
        (calibrate(1), 32),
        (Command::ReadStatus { page: 1 }, 0),
        (Command::SetTime { time_s: 1000 }, 32),
        (Command::Configure { interval_s: 600, suite }, 32),
        (calibrate(300), 32),
        (read, 0),
        (Command::ReadStatus { page: 2 }, 0),
    ]) {
        let before = settings_writes(&world);
        assert!(tell(&mut world, command, m).is_some());
        assert_eq!(settings_writes(&world) - before, written, "{command:?}");
        // Neither is what is answered again, or is too late.
        assert!(tell(&mut world, command, m).is_some());
        assert!(tell(&mut world, read, 0).is_some());
        assert_eq!(settings_writes(&world) - before, written, "{command:?}");
    }
}

/// An answered command stays done through a loss of power, and earlier ones stay too late. Reading
/// the state is excepted: it leaves no trace.
#[test]
fn answered_command_outdates_earlier_ones_but_status_reads() {
    for suite in Suite::ALL {
        let refused = Command::Calibrate { voltage_uv: 1, current_ua: 1, phase: 0 };
        for (command, ends) in [
            (Command::SetTime { time_s: 1000 }, true),
            (refused, true),
            (Command::ReadStatus { page: 0 }, false),
        ] {
            let mut world = World::new(setup(suite, 600), 17);
            world.run(SECOND_NS);
            // One that was withdrawn, and that somebody has recorded.
            let withdrawn = Command::Configure { interval_s: 7, suite: Suite::None };
            assert!(tell(&mut world, command, 6).is_some());
            assert_eq!(tell(&mut world, withdrawn, 5).expect("one").last_m(), Some(6), "{command:?}");
            cut_power(&mut world);
            let answer = tell(&mut world, withdrawn, 5);
            let done = answer.is_none_or(|answer| answer.outcome == CommandResult::Done);
            assert_eq!(done, !ends, "{suite}, {command:?}");
            assert_eq!(world.meter.status().commands, u16::from(!ends), "{suite}, {command:?}");
        }
    }
}

/// The check of the last command as docs/reference/protocol.md, "Provisioning", has it.
#[test]
fn the_record_has_the_check_of_the_last_command() {
    let mut world = World::new(setup(Suite::Aes256Gcm, 600), 18);
    world.run(SECOND_NS);
    for (m, command) in [(5, Command::SetTime { time_s: 1000 }), (0xffff_fffe, Command::Reboot)] {
        assert!(tell(&mut world, command, m).is_some());
        world.run(SECOND_NS);
        eeprom(|eeprom| *eeprom = world.meter.eeprom().clone());
        let (settings, found) = Settings::start();
        assert!(found);
        let check = crc32fast::hash(&command.to_bytes(m));
        assert_eq!(settings.record[4..8], m.to_be_bytes());
        assert_eq!(settings.record[26..28], check.to_be_bytes()[2..], "{command:?}");
    }
}
