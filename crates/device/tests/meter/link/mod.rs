//! Whole meters against wire's collector, which shares nothing with the firmware but
//! `docs/reference/protocol.md`.

mod attacks;
mod commands;
mod cuts;
mod renewal;
mod speed;
mod update;
mod wear;
mod world;

use wire::meter::{Cause as Told, Command, CommandResult, Status as Page, Suite};
use world::{ADDRESS, COLLECTOR, METER, SECOND_NS, World, load, setup};

#[test]
fn every_suite_delivers_measurements() {
    for suite in Suite::ALL {
        let mut world = World::new(setup(suite, 10), 1);
        world.set_load(load(2300.0));
        world.run(125 * SECOND_NS);
        assert!(world.reports.iter().all(|accepted| accepted.suite == suite && accepted.meter == METER));
        let alerts = world.alerts();
        assert_eq!(alerts.len(), 1, "{suite}");
        assert_eq!((alerts[0].cause, alerts[0].starts, alerts[0].detail), (Told::PowerOn, 1, [0; 3]));
        // The time is not set: seconds since the start. 2300 W for 10 s are 63.9 of 0.1 Wh; windows
        // are whole tenths of a second.
        let measurements = world.measurements();
        assert_eq!(measurements.len(), 12, "{suite}");
        let expected = measurements.iter().enumerate().all(|(i, (_, measurement))| {
            let seconds = 10 * (i as u32 + 1);
            let energy = f64::from(seconds) * 2300.0 / 360.0;
            measurement.time_s == seconds
                && (measurement.power_w - 2300).abs() <= 1
                && f64::from(measurement.energy_dwh) > energy - 1.7
                && f64::from(measurement.energy_dwh) <= energy
        });
        assert!(expected, "{suite}: {measurements:?}");
        assert!(world.reports.iter().all(|accepted| !accepted.report.time_set && accepted.report.lost == 0));
        let status = world.meter.status();
        assert_eq!((status.measurements, status.alerts, status.acknowledged), (12, 1, 13), "{suite}");
        assert_eq!((status.resent, status.refused, status.waiting, status.faults), (0, 0, 0, 0), "{suite}");
        assert_eq!((status.voltage, status.current), (2300, 1000), "{suite}");
        assert_eq!(status.acknowledged_number, world.reports.last().expect("one").report.n);
        // An acknowledgement comes before the journal begins to write: nothing was kept.
        assert_eq!((status.abandoned, status.kept_number), (13, 0), "{suite}");
        assert!(world.meter.eeprom().writes()[256..].iter().all(|&writes| writes == 0), "{suite}");
    }
}

#[test]
fn every_suite_takes_commands() {
    for suite in Suite::ALL {
        let mut world = World::new(setup(suite, 7), 2);
        world.set_load(load(1000.0));
        world.run(20 * SECOND_NS);

        let answered = world.command(Command::SetTime { time_s: 1_000_000 });
        assert_eq!(answered.answer.outcome, CommandResult::Done, "{suite}");
        world.run(8 * SECOND_NS);
        let last = world.reports.last().expect("a report").report;
        assert!(
            last.time_set && (1_000_000..1_000_010).contains(&last.time_s().expect("it is set")),
            "{last:?}"
        );

        let answered = world.command(Command::ReadStatus { page: 0 });
        let Some(Page::Settings { time_s, suite: told, interval_s, waiting, starts, .. }) =
            answered.answer.status(0)
        else {
            panic!("page 0: {answered:?}");
        };
        assert_eq!((told, interval_s, waiting, starts), (Some(suite), 7, 0, 1));
        assert!((1_000_008..1_000_010).contains(&time_s), "{time_s}");
        let answered = world.command(Command::ReadStatus { page: 1 });
        assert!(answered.answer.status(1).is_some());
        // Energy, 230.0 V, 4.35 A, nothing refused, nothing lost.
        assert_eq!(answered.answer.body[4..], [0x08, 0xfc, 0x01, 0xb3, 0, 0, 0]);
        let energy = u32::from_be_bytes(answered.answer.body[..4].try_into().expect("4 bytes"));
        assert!((28 * 1000 / 360 - 2..=30 * 1000 / 360).contains(&energy), "{suite}: {energy}");

        let calibrate = |current_ua, phase| Command::Calibrate { voltage_uv: 800_000, current_ua, phase };
        assert_eq!(world.command(calibrate(200_000, 0)).answer.outcome, CommandResult::Done);
        world.run(15 * SECOND_NS);
        assert_eq!(world.meter.status().power, 2000, "{suite}");
        assert_eq!(world.command(calibrate(100, 0)).answer.outcome, CommandResult::OutOfRange);
        world.run(15 * SECOND_NS);
        assert_eq!(world.meter.status().power, 2000, "{suite}");

        let register =
            Command::Register { meter: 0x4321, address: ADDRESS + 1, collector_address: COLLECTOR };
        assert_eq!(world.command(register).answer.outcome, CommandResult::Done, "{suite}");
        let before = world.reports.len();
        world.run(20 * SECOND_NS);
        assert!(world.reports.len() >= before + 2);
        let packet = world.sent.last().expect("a packet");
        assert_eq!((packet[0], &packet[2..4]), (COLLECTOR, &[0x43, 0x21][..]));

        assert_eq!(world.command(Command::Reboot).answer.outcome, CommandResult::Done);
        world.run(20 * SECOND_NS);
        let alert = *world.alerts().last().expect("an alert");
        assert_eq!((alert.cause, alert.starts), (Told::Commanded, 2), "{suite}");
        // What commands have set stays, but for the time.
        assert!(world.measurements().len() > 5 && world.meter.status().power == 2000);
        assert_eq!(world.sent.last().expect("a packet")[2..4], [0x43, 0x21]);
    }
}

#[test]
fn a_suite_can_be_changed_to_any_other() {
    for from in Suite::ALL {
        let mut world = World::new(setup(from, 5), 3);
        world.run(3 * SECOND_NS);
        for to in Suite::ALL {
            let answered = world.command(Command::Configure { interval_s: 2, suite: to });
            assert_eq!(answered.answer.outcome, CommandResult::Done, "{from} to {to}");
            world.run(5 * SECOND_NS);
            assert_eq!(world.reports.last().expect("a report").suite, to, "{from} to {to}");
        }
        assert_eq!(usize::from(world.meter.status().commands), Suite::ALL.len());
    }
}

/// All that happens to packets: the collector has every measurement once, in order.
#[test]
fn lost_and_doubled_packets_lose_nothing() {
    for suite in Suite::ALL {
        let seed = fastrand::u64(..);
        // With three packets in a row at 30 % one attempt in six succeeds.
        let interval_s = if suite.has_curve() { 60 } else { 10 };
        let mut world = World::new(setup(suite, interval_s), seed);
        world.set_load(load(500.0));
        (world.lost, world.doubled) = (0.3, 0.3);
        world.run(120 * u64::from(interval_s) * SECOND_NS + SECOND_NS);
        (world.lost, world.doubled) = (0.0, 0.0);
        world.run(8 * SECOND_NS);
        let status = world.meter.status();
        let times: Vec<u32> =
            world.measurements().iter().map(|(_, measurement)| measurement.time_s).collect();
        let expected: Vec<u32> = (1..=120).map(|i| u32::from(interval_s) * i).collect();
        assert_eq!(times, expected, "{suite}, seed {seed}");
        assert_eq!(
            (times.len(), status.lost, status.waiting),
            (status.measurements as usize, 0, 0),
            "seed {seed}"
        );
        assert!(status.resent > 20, "seed {seed}: {status:?}");
    }
}

/// The collector hears everything, the meter nothing: it sends again with growing patience, and
/// loses only the oldest measurements.
#[test]
fn a_meter_that_is_not_heard_keeps_what_it_has_room_for() {
    let mut world = World::new(setup(Suite::Aes128Gcm, 60), 4);
    world.lost = 1.0;
    world.run(20 * SECOND_NS);
    // At 0, after 100 ms and up to 100 ms more, up to 200 more, ... up to 6400 more.
    let sent = world.meter.status().sent;
    assert!((5..=12).contains(&sent), "{sent}");
    world.run(3600 * SECOND_NS);
    world.lost = 0.0;
    world.run(60 * SECOND_NS);
    let status = world.meter.status();
    let made = status.measurements;
    assert_eq!(made, 61);
    let times: Vec<u32> = world.measurements().iter().map(|(_, measurement)| measurement.time_s).collect();
    let kept = times.len() as u32;
    // The alert stays, although it is the oldest.
    assert_eq!((kept + u32::from(status.lost), world.alerts().len()), (made, 1));
    assert!((15..=17).contains(&kept), "{kept}");
    let expected: Vec<u32> = (made - kept + 1..=made).map(|i| 60 * i).collect();
    assert_eq!(times, expected);
    assert_eq!(u16::from(world.reports.last().expect("a report").report.lost), status.lost);
}

/// A meter that has waited in one thread goes on in another; the first ephemeral key is made there.
#[test]
fn a_meter_may_go_to_another_thread() {
    let mut worlds: Vec<World> = (0..4).map(|seed| World::new(setup(Suite::EciesEcdsa, 2), seed)).collect();
    for _ in 0..3 {
        worlds = worlds
            .into_iter()
            .map(|mut world| {
                std::thread::spawn(move || {
                    world.run(3 * SECOND_NS);
                    world
                })
                .join()
                .expect("it ends")
            })
            .collect();
    }
    for world in &worlds {
        let status = world.meter.status();
        assert_eq!((status.measurements, status.acknowledged, status.faults), (4, 5, 0));
    }
}
