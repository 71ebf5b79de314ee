//! The collector's end: each report once and acknowledged only when it is stored, commands until
//! they are answered, suites and names while they change, the meter's time, and restarts of the
//! collector.

use super::fixture::{
    COLLECTOR, NOW_MS, NOW_S, collector_and_meters, deliver, due, hear, one, quiet, restarted,
};
use rand::{SeedableRng, rngs::StdRng};
use wire::meter::{
    CollectorError, Command, CommandResult, Delivery, Due, MeterState, Policy, Rejection, Status, Suite,
    UplinkOutcome,
};

#[test]
fn report_is_taken_once_and_acknowledged_when_stored() {
    for suite in Suite::ALL {
        let rng = &mut StdRng::seed_from_u64(1);
        let (mut collector, mut meters) = collector_and_meters(&[suite], quiet(), rng);
        let meter = &mut meters[0];
        let packets = meter.report(NOW_S, rng);
        let UplinkOutcome::Report(accepted) = hear(&mut collector, &packets, NOW_MS + 7) else {
            panic!("{suite}")
        };
        assert_eq!((accepted.meter, accepted.suite, accepted.heard_ms), (1, suite, NOW_MS + 7));
        assert_eq!((accepted.report.n, accepted.report.time_s()), (1, Some(NOW_S)));
        assert_eq!(
            accepted.sealed,
            packets.iter().flat_map(|packet| &packet[5..]).copied().collect::<Vec<_>>()
        );
        // Not stored: neither acknowledged nor handed out twice.
        assert_eq!(hear(&mut collector, &packets, NOW_MS), UplinkOutcome::Busy);
        assert_eq!(collector.confirm_report(1, 2), Err(CollectorError::NotHandedOut { meter: 1, n: 2 }));
        collector.reject_report(1, 1).expect("handed out");
        assert!(matches!(hear(&mut collector, &packets, NOW_MS), UplinkOutcome::Report(_)));
        let sent = collector.confirm_report(1, 1).expect("handed out");
        assert_eq!(sent.packets[0][0], 0x42);
        assert_eq!(meter.acknowledged(&sent, suite), 1);
        assert_eq!(collector.confirm_report(1, 1), Err(CollectorError::NotHandedOut { meter: 1, n: 1 }));
        // Stored: acknowledged again with the same bytes, also when others came since.
        assert_eq!(hear(&mut collector, &packets, NOW_MS), UplinkOutcome::Duplicate(sent.clone()));
        assert_eq!(deliver(&mut collector, meter, rng, NOW_MS), 2);
        assert_eq!(hear(&mut collector, &packets, NOW_MS), UplinkOutcome::Duplicate(sent.clone()));
        let mut collector = restarted(collector, quiet());
        // It does not know any more what was in it: its owner does.
        let heard = hear(&mut collector, &packets, NOW_MS);
        assert!(
            matches!(heard, UplinkOutcome::OldNumber(ref known) if known.report == accepted.report),
            "{heard:?}"
        );
        assert_eq!(hear(&mut collector, &packets, NOW_MS), UplinkOutcome::Busy);
        assert_eq!(collector.confirm_report(1, 1), Ok(sent.clone()));
        assert_eq!(hear(&mut collector, &packets, NOW_MS), UplinkOutcome::Duplicate(sent));
        assert_eq!(collector.state(1).expect("there").last_n, 2);
        assert_eq!(deliver(&mut collector, meter, rng, NOW_MS), 3);
        assert_eq!(collector.counters().total(), 0);
    }
}

#[test]
fn command_is_sent_after_its_number_is_kept_until_answered() {
    for suite in Suite::ALL {
        let rng = &mut StdRng::seed_from_u64(2);
        let (mut collector, mut meters) = collector_and_meters(&[suite], quiet(), rng);
        let meter = &mut meters[0];
        assert_eq!(collector.next_due_ms(), None);
        let first = collector.command(1, Command::ReadStatus { page: 1 }).expect("queued");
        let second = collector.command(1, Command::Reboot).expect("queued");
        assert_eq!(collector.next_due_ms(), Some(0));
        // Nothing on the air before it is kept, however often it is asked.
        for _ in 0..2 {
            let due = collector.due(NOW_MS, rng);
            assert!(matches!(due.as_slice(), [Due::Save(_)]), "{due:?}");
        }
        let state = collector.state(1).expect("there");
        collector.confirm_state(1, state.revision - 1);
        assert!(matches!(collector.due(NOW_MS, rng).as_slice(), [Due::Save(_)]));
        collector.confirm_state(1, state.revision);
        let sent = one(due(&mut collector, NOW_MS, rng));
        assert_eq!(due(&mut collector, NOW_MS, rng), []);
        let next_ms = collector.next_due_ms().expect("again");
        let wait_ms = quiet().answer_within_ms[usize::from(suite.code())];
        assert!((NOW_MS + wait_ms..=NOW_MS + wait_ms * 3 / 2).contains(&next_ms));
        assert_eq!(due(&mut collector, next_ms - 1, rng), []);
        let mut again = one(due(&mut collector, next_ms, rng));
        // The same bytes, beginning with the piece that came second before.
        again.packets.rotate_right(1);
        assert_eq!(again, sent);
        let expected = [(first, Delivery::UnderWay { m: NOW_S, attempts: 2 }), (second, Delivery::Waiting)];
        let commands = collector.commands(1);
        assert_eq!(
            commands.iter().map(|(ticket, _, delivery)| (*ticket, *delivery)).collect::<Vec<_>>(),
            expected
        );

        let status =
            Status::Metering { energy_dwh: 1, voltage_dv: 2304, current_ca: 650, refused: 0, lost: 0 };
        assert_eq!(meter.hear(&sent), Some((NOW_S, Command::ReadStatus { page: 1 })));
        let answer = meter.answer(NOW_S, CommandResult::Done, status.to_bytes());
        let UplinkOutcome::Answer(answered) = hear(&mut collector, &answer, next_ms) else {
            panic!("{suite}")
        };
        assert_eq!((answered.ticket, answered.answer.status(1)), (first, Some(status)));
        assert_eq!(hear(&mut collector, &answer, next_ms), UplinkOutcome::Rejected(Rejection::NoCommand));

        let sent = one(due(&mut collector, next_ms, rng));
        assert_eq!(hear(&mut collector, &answer, next_ms), UplinkOutcome::Rejected(Rejection::NoCommand));
        let (m, command) = meter.hear(&sent).expect("its own");
        assert_eq!(command, Command::Reboot);
        assert!(m > NOW_S && u64::from(m) <= (next_ms / 1000).max(u64::from(NOW_S) + 1), "{m}");
        let answer = meter.answer(m, CommandResult::Done, [0; 11]);
        assert!(matches!(hear(&mut collector, &answer, next_ms), UplinkOutcome::Answer(_)));
        assert_eq!((collector.next_due_ms(), collector.commands(1)), (None, Vec::new()));
        assert_eq!(collector.counters().of(Rejection::NoCommand), 2);
    }
}

#[test]
fn command_under_way_survives_a_restart_with_its_number() {
    let rng = &mut StdRng::seed_from_u64(3);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::EciesEcdsa], quiet(), rng);
    let meter = &mut meters[0];
    collector.command(1, Command::Reboot).expect("queued");
    collector.command(1, Command::ReadStatus { page: 0 }).expect("queued");
    assert_eq!(meter.hear(&one(due(&mut collector, NOW_MS, rng))), Some((NOW_S, Command::Reboot)));
    let mut collector = restarted(collector, quiet());
    assert_eq!(meter.hear(&one(due(&mut collector, NOW_MS, rng))), Some((NOW_S, Command::Reboot)));
    let answer = meter.answer(NOW_S, CommandResult::Done, [0; 11]);
    assert!(matches!(hear(&mut collector, &answer, NOW_MS), UplinkOutcome::Answer(_)));
    let sent = one(due(&mut collector, NOW_MS, rng));
    assert_eq!(meter.hear(&sent), Some((NOW_S + 1, Command::ReadStatus { page: 0 })));
}

#[test]
fn suite_change_survives_every_lost_packet() {
    for next in [Suite::EciesEcdsa, Suite::Aes256Gcm, Suite::None] {
        let rng = &mut StdRng::seed_from_u64(4);
        let (mut collector, mut meters) = collector_and_meters(&[Suite::Aes128Gcm], quiet(), rng);
        let meter = &mut meters[0];
        let journalled = meter.report(NOW_S, rng);
        let command = Command::Configure { interval_s: 60, suite: next };
        let ticket = collector.command(1, command).expect("queued");
        assert_eq!(meter.hear(&one(due(&mut collector, NOW_MS, rng))), Some((NOW_S, command)));
        let lost = meter.answer(NOW_S, CommandResult::Done, [0; 11]);
        // The meter has changed, and the collector cannot know: it goes on as it was, then as it
        // will be.
        assert_eq!(collector.state(1).expect("there").suites(), [Suite::Aes128Gcm, next]);
        let mut now_ms = collector.next_due_ms().expect("again");
        let second = one(due(&mut collector, now_ms, rng));
        assert_eq!(second.packets[0][1] >> 3 & 7, next.code());
        assert_eq!(meter.hear(&second), Some((NOW_S, command)));
        now_ms = collector.next_due_ms().expect("again");
        assert_eq!(one(due(&mut collector, now_ms, rng)).packets[0][1] >> 3 & 7, Suite::Aes128Gcm.code());
        if next == Suite::None {
            // To seal nothing any more is believed of the sealed answer alone.
            let report = meter.report(NOW_S, rng);
            assert_eq!(hear(&mut collector, &report, now_ms), UplinkOutcome::Rejected(Rejection::Suite));
        }
        let answer = meter.answer(NOW_S, CommandResult::Done, [0; 11]);
        let UplinkOutcome::Answer(answered) = hear(&mut collector, &answer, now_ms) else { panic!("{next}") };
        assert_eq!(answered.ticket, ticket);
        assert_eq!(hear(&mut collector, &lost, now_ms), UplinkOutcome::Rejected(Rejection::NoCommand));
        // Reports that were sealed before still come from the journal, and only those.
        let mut collector = restarted(collector, quiet());
        let heard = hear(&mut collector, &journalled, now_ms);
        assert!(
            matches!(heard, UplinkOutcome::Report(ref accepted) if accepted.suite == Suite::Aes128Gcm),
            "{heard:?}"
        );
        let sent = collector.confirm_report(1, 1).expect("handed out");
        assert_eq!(meter.acknowledged(&sent, Suite::Aes128Gcm), 1);
        deliver(&mut collector, meter, rng, now_ms);
        assert_eq!(collector.state(1).expect("there").suites(), [next]);
        // A meter whose power failed before its journal was in order may send it again.
        assert_eq!(hear(&mut collector, &journalled, now_ms), UplinkOutcome::Duplicate(sent));
        // Commands go by the new one.
        collector.command(1, Command::Reboot).expect("queued");
        let heard = meter.hear(&one(due(&mut collector, now_ms, rng)));
        assert!(matches!(heard, Some((_, Command::Reboot))), "{heard:?}");
    }
}

#[test]
fn refused_suite_is_forgotten() {
    let rng = &mut StdRng::seed_from_u64(5);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::Ecies], quiet(), rng);
    let meter = &mut meters[0];
    collector.command(1, Command::Configure { interval_s: 60, suite: Suite::None }).expect("queued");
    let sent = one(due(&mut collector, NOW_MS, rng));
    meter.hear(&sent).expect("its own");
    meter.suite = Suite::Ecies;
    let answer = meter.answer(NOW_S, CommandResult::OutOfRange, [0; 11]);
    assert!(matches!(hear(&mut collector, &answer, NOW_MS), UplinkOutcome::Answer(_)));
    assert_eq!(collector.state(1).expect("there").suites(), [Suite::Ecies]);
    deliver(&mut collector, meter, rng, NOW_MS);
}

#[test]
fn name_changes_while_reports_come() {
    let rng = &mut StdRng::seed_from_u64(6);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::Aes128Gcm, Suite::Ecies], quiet(), rng);
    let meter = &mut meters[0];
    let register = |name| Command::Register { meter: name, address: 0x50, collector_address: COLLECTOR };
    assert_eq!(collector.command(1, register(2)), Err(CollectorError::NameTaken(2)));
    collector.command(1, register(77)).expect("queued");
    assert_eq!(collector.command(2, register(77)), Err(CollectorError::NameTaken(77)));
    let first = one(due(&mut collector, NOW_MS, rng));
    assert_eq!((first.packets[0][0], &first.packets[0][2..4]), (0x42, [0, 1].as_slice()));
    deliver(&mut collector, meter, rng, NOW_MS);
    let sealed_before = meter.report(NOW_S, rng);
    let now_ms = collector.next_due_ms().expect("again");
    let second = one(due(&mut collector, now_ms, rng));
    assert_eq!((second.packets[0][0], &second.packets[0][2..4]), (0x50, [0, 77].as_slice()));
    assert_eq!(meter.hear(&first), Some((NOW_S, register(77))));
    // Reports in the journal come with the new name, and as they were sealed.
    let mut renamed = sealed_before.clone();
    renamed[0][3] = 77;
    assert!(matches!(hear(&mut collector, &renamed, now_ms), UplinkOutcome::Report(_)));
    let sent = collector.confirm_report(1, meter.n).expect("handed out");
    assert_eq!((sent.meter, sent.packets[0][0]), (1, 0x50));
    meter.acknowledged(&sent, Suite::Aes128Gcm);
    let answer = meter.answer(NOW_S, CommandResult::Done, [0; 11]);
    assert!(matches!(hear(&mut collector, &answer, now_ms), UplinkOutcome::Answer(_)));
    assert_eq!(
        hear(&mut collector, &sealed_before, now_ms),
        UplinkOutcome::Rejected(Rejection::UnknownMeter)
    );
    let mut collector = restarted(collector, quiet());
    deliver(&mut collector, meter, rng, now_ms);
    // The old name is free.
    collector.command(2, register(1)).expect("queued");
}

#[test]
fn time_is_set_until_answered_with_a_new_number_each_time() {
    let rng = &mut StdRng::seed_from_u64(7);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::Aes256Gcm], Policy::default(), rng);
    let meter = &mut meters[0];
    meter.time_set = false;
    deliver(&mut collector, meter, rng, NOW_MS);
    let journalled = meter.report(4, rng);
    assert_eq!(
        meter.hear(&one(due(&mut collector, NOW_MS + 1, rng))),
        Some((NOW_S, Command::SetTime { time_s: NOW_S }))
    );
    let lost_ms = collector.next_due_ms().expect("again");
    // Kept with the number of the attempt, and sent with another after a restart.
    let mut collector = restarted(collector, Policy::default());
    let sent = one(due(&mut collector, lost_ms + 5000, rng));
    let first_s = ((lost_ms + 5000) / 1000) as u32;
    assert_eq!(meter.hear(&sent), Some((first_s, Command::SetTime { time_s: first_s })));
    let now_ms = collector.next_due_ms().expect("again");
    let sent = one(due(&mut collector, now_ms, rng));
    let (m, command) = meter.hear(&sent).expect("its own");
    assert!(m > first_s);
    assert_eq!(command, Command::SetTime { time_s: (now_ms / 1000) as u32 });
    // A late answer to the attempt before is one all the same: of the time that went out with its
    // number.
    let answer = meter.answer(first_s, CommandResult::Done, [0; 11]);
    let UplinkOutcome::Answer(answered) = hear(&mut collector, &answer, now_ms) else { panic!("answered") };
    assert_eq!((answered.answer.m, answered.command), (first_s, Command::SetTime { time_s: first_s }));
    // Reports that were made before the time was set say nothing about it.
    assert!(matches!(hear(&mut collector, &journalled, now_ms), UplinkOutcome::Report(_)));
    collector.confirm_report(1, 2).expect("handed out");
    assert_eq!(collector.next_due_ms(), None);
    meter.time_set = true;
    deliver(&mut collector, meter, rng, now_ms);
    assert_eq!(collector.next_due_ms(), None);

    // Ahead: set; behind: asked first, and set when the answer is behind, too.
    let ahead = meter.report((now_ms / 1000) as u32 + 2, rng);
    assert!(matches!(hear(&mut collector, &ahead, now_ms), UplinkOutcome::Report(_)));
    collector.confirm_report(1, meter.n).expect("handed out");
    let (m, command) = meter.hear(&one(due(&mut collector, now_ms, rng))).expect("a command");
    assert!(matches!(command, Command::SetTime { .. }));
    let answer = meter.answer(m, CommandResult::Done, [0; 11]);
    assert!(matches!(hear(&mut collector, &answer, now_ms), UplinkOutcome::Answer(_)));
    let behind_s = (now_ms / 1000) as u32 - 3;
    let behind = meter.report(behind_s, rng);
    assert!(matches!(hear(&mut collector, &behind, now_ms), UplinkOutcome::Report(_)));
    collector.confirm_report(1, meter.n).expect("handed out");
    let (m, command) = meter.hear(&one(due(&mut collector, now_ms, rng))).expect("a command");
    assert_eq!(command, Command::ReadStatus { page: 0 });
    let status = Status::Settings {
        time_s: behind_s,
        suite: Some(Suite::Aes256Gcm),
        interval_s: 10,
        waiting: 0,
        starts: 1,
        stack_untouched_quads: 25,
    };
    let answer = meter.answer(m, CommandResult::Done, status.to_bytes());
    assert!(matches!(hear(&mut collector, &answer, now_ms), UplinkOutcome::Answer(_)));
    let (_, command) = meter.hear(&one(due(&mut collector, now_ms, rng))).expect("a command");
    assert!(matches!(command, Command::SetTime { .. }));
}

#[test]
fn impossible_requests_are_refused() {
    let rng = &mut StdRng::seed_from_u64(8);
    let policy = Policy { most_commands: 2, ..quiet() };
    let (mut collector, mut meters) = collector_and_meters(&[Suite::Aes128Gcm], policy, rng);
    let meter = &mut meters[0];
    assert_eq!(collector.command(9, Command::Reboot), Err(CollectorError::UnknownMeter(9)));
    let refused = Command::Configure { interval_s: 0, suite: Suite::None };
    assert_eq!(collector.command(1, refused), Err(CollectorError::OutOfRange));
    let first = collector.command(1, Command::Reboot).expect("queued");
    collector.command(1, Command::Reboot).expect("queued");
    assert_eq!(collector.command(1, Command::Reboot), Err(CollectorError::QueueFull(2)));
    collector.withdraw(1, first).expect("it waits");
    assert_eq!(collector.withdraw(1, first), Err(CollectorError::NoCommand(first)));
    let record = meter.provision.record();
    let state = MeterState::new(&record);
    let kept = serde_json::to_string(&state).expect("it can be kept");
    assert_eq!(collector.add(record.clone(), state), Err(CollectorError::NameTaken(1)));
    for (whole, damaged) in
        [("[\"aes128-gcm\"]", "[]"), ("\"revision\":0", "\"revision\":0,\"earliest_suite\":1")]
    {
        assert!(kept.contains(whole), "{kept}");
        let damaged = serde_json::from_str(&kept.replace(whole, damaged)).expect("a state");
        assert_eq!(collector.add(record.clone(), damaged), Err(CollectorError::DamagedState(1)));
    }

    let good = meter.report(NOW_S, rng).remove(0);
    let with = |at: usize, byte: u8| {
        let mut packet = good.clone();
        packet[at] = byte;
        packet
    };
    let cases = [
        (with(0, 0x40), Rejection::Address),
        (with(1, 3 << 6 | 1 << 3), Rejection::Direction),
        (with(1, 2 << 3), Rejection::NotAuthentic),
        (with(3, 2), Rejection::UnknownMeter),
        (with(4, 2), Rejection::Number),
        (with(5, 1), Rejection::NotAuthentic),
        (with(40, !good[40]), Rejection::NotAuthentic),
    ];
    for (packet, rejection) in cases {
        assert_eq!(collector.on_packet(&packet, NOW_MS), UplinkOutcome::Rejected(rejection));
    }
    assert_eq!(collector.counters().total(), 7);
    assert_eq!(collector.counters_of(1).expect("there").total(), 5);
    let counted = serde_json::to_value(collector.counters()).expect("a map");
    assert_eq!((&counted["not-authentic"], &counted["address"]), (&3.into(), &1.into()));
    assert!(matches!(collector.on_packet(&good, NOW_MS), UplinkOutcome::Report(_)));
}
