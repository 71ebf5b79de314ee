//! The collector's knowledge of a meter's suite, address and numbers, and its sources:
//! docs/reference/protocol.md, "What the collector knows of suite and address".

use super::fixture::{
    COLLECTOR, NOW_MS, NOW_S, TestMeter, collector_and_meters, deliver, due, hear, one, quiet, restarted,
};
use rand::{SeedableRng, rngs::StdRng};
use wire::meter::{
    Address, Alert, Cause, Collector, CollectorError, Command, CommandResult, Content, Measurement,
    MessageKind, MeterState, Policy, Rejection, Report, Suite, UplinkOutcome, packets,
};

fn configure(suite: Suite) -> Command {
    Command::Configure { interval_s: 60, suite }
}

fn register(name: u16) -> Command {
    Command::Register { meter: name, address: 0x50, collector_address: COLLECTOR }
}

/// Returns a report from a sender without keys.
fn keyless(name: u16, n: u32) -> Vec<Vec<u8>> {
    let content = Content::Measurement(Measurement { time_s: NOW_S, energy_dwh: 0, power_w: 30_000 });
    let report = Report { n, time_set: true, lost: 0, content };
    packets(COLLECTOR, MessageKind::Report, Suite::None, name, n, &report.to_bytes())
}

fn suites(collector: &Collector) -> Vec<Suite> {
    collector.state(1).expect("there").suites().to_vec()
}

/// The collector sends what is due until the meter takes it, and hears its answer.
fn carry_out(
    collector: &mut Collector,
    meter: &mut TestMeter,
    now_ms: &mut u64,
    rng: &mut StdRng,
) -> Command {
    for _ in 0..16 {
        if let Some((m, command)) = due(collector, *now_ms, rng).pop().and_then(|sent| meter.hear(&sent)) {
            let answer = meter.answer(m, CommandResult::Done, [0; 11]);
            assert!(matches!(hear(collector, &answer, *now_ms), UplinkOutcome::Answer(_)), "{command:?}");
            return command;
        }
        *now_ms = collector.next_due_ms().expect("again");
    }
    panic!("the meter was not reached");
}

#[test]
fn older_copy_reuses_no_command_number() {
    let rng = &mut StdRng::seed_from_u64(1);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::Aes128Gcm], quiet(), rng);
    let (meter, mut now_ms) = (&mut meters[0], NOW_MS);
    let (record, copy) = (meter.provision.record(), collector.state(1).expect("there"));
    for _ in 0..100 {
        collector.command(1, Command::Reboot).expect("queued");
        carry_out(&mut collector, meter, &mut now_ms, rng);
    }
    assert_eq!(meter.last_m, NOW_S + 99);
    let restore = |collector: &mut Collector, copy: MeterState| {
        collector.remove(1).expect("there");
        collector.add(record.clone(), copy).expect("it is not there");
    };
    // Time carries them ..
    restore(&mut collector, copy.clone());
    let mut later_ms = NOW_MS + 100_000;
    collector.command(1, Command::Reboot).expect("queued");
    carry_out(&mut collector, meter, &mut later_ms, rng);
    assert_eq!(meter.last_m, NOW_S + 100);
    // .. and where the clock is wrong a floor does, which outlives the copy.
    let mut floored = copy.clone();
    floored.number_commands_from(NOW_S + 500);
    restore(&mut collector, floored);
    collector.command(1, Command::Reboot).expect("queued");
    carry_out(&mut collector, meter, &mut 1000, rng);
    assert_eq!(meter.last_m, NOW_S + 500);
    // A clock that is decades ahead does not use the numbers up.
    collector.command(1, Command::Reboot).expect("queued");
    carry_out(&mut collector, meter, &mut (u64::from(u32::MAX) * 1000), rng);
    assert_eq!(meter.last_m, NOW_S + 501);
    // Where neither holds the meter says so, and the command gets a number of its own.
    restore(&mut collector, copy);
    let ticket = collector.command(1, Command::Reboot).expect("queued");
    let sent = one(due(&mut collector, 1000, rng));
    assert_eq!(meter.hear(&sent), None);
    let too_low = |m: u32, last_m: u32, meter: &mut TestMeter| {
        let mut body = [0; 11];
        body[..4].copy_from_slice(&last_m.to_be_bytes());
        meter.answer(m, CommandResult::NumberTooLow, body)
    };
    let answer = too_low(1, meter.last_m, meter);
    let last_m = meter.last_m;
    assert_eq!(hear(&mut collector, &answer, 1000), UplinkOutcome::NumberTooLow { meter: 1, last_m });
    assert_eq!(collector.commands(1)[0].0, ticket);
    assert_eq!(carry_out(&mut collector, meter, &mut 1000, rng), Command::Reboot);
    assert_eq!((meter.last_m, collector.commands(1)), (NOW_S + 502, Vec::new()));
    // The last number is not above any other: that command is over.
    collector.command(1, Command::Reboot).expect("queued");
    one(due(&mut collector, 1000, rng));
    let answer = too_low(NOW_S + 503, u32::MAX, meter);
    let heard = hear(&mut collector, &answer, 1000);
    assert!(
        matches!(heard, UplinkOutcome::Answer(ref answered) if answered.answer.outcome == CommandResult::NumberTooLow)
    );
    assert_eq!(collector.command(1, Command::Reboot), Err(CollectorError::NumbersUsedUp(1)));
}

/// Each order to set the time has another number. An earlier answer, played again, names the
/// later number, whose answer was lost: the collector knows it.
#[test]
fn replayed_earlier_attempt_changes_nothing() {
    let rng = &mut StdRng::seed_from_u64(8);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::Aes128Gcm], quiet(), rng);
    let (meter, mut now_ms) = (&mut meters[0], NOW_MS);
    let ticket = collector.set_time(1).expect("queued");
    // The first attempt is lost, the second one's answer.
    one(due(&mut collector, now_ms, rng));
    let sent = loop {
        now_ms = collector.next_due_ms().expect("again").max(now_ms + 1);
        if let Some(sent) = due(&mut collector, now_ms, rng).pop() {
            break sent;
        }
    };
    let (m, _) = meter.hear(&sent).expect("a command");
    assert!(m > NOW_S);
    let mut body = [0; 11];
    body[..4].copy_from_slice(&m.to_be_bytes());
    let answer = meter.answer(NOW_S, CommandResult::NumberTooLow, body);
    assert_eq!(hear(&mut collector, &answer, now_ms), UplinkOutcome::Rejected(Rejection::NoCommand));
    assert_eq!(collector.commands(1)[0].0, ticket);
    let answer = meter.answer(m, CommandResult::Done, [0; 11]);
    assert!(
        matches!(hear(&mut collector, &answer, now_ms), UplinkOutcome::Answer(answered) if answered.ticket == ticket)
    );
}

/// The second of two commands in a second is ahead of time: an older copy would reuse it.
#[test]
fn command_numbers_stay_behind_the_time() {
    let rng = &mut StdRng::seed_from_u64(20);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::Aes128Gcm], quiet(), rng);
    let meter = &mut meters[0];
    for second in 0..3 {
        collector.command(1, Command::Reboot).expect("queued");
        let now_ms = NOW_MS + 1000 * second;
        assert_eq!(collector.due(now_ms.saturating_sub(1).max(NOW_MS), rng).len(), usize::from(second == 0));
        let sent = one(due(&mut collector, now_ms, rng));
        let (m, _) = meter.hear(&sent).expect("its own");
        assert_eq!(u64::from(m), now_ms / 1000);
        let answer = meter.answer(m, CommandResult::Done, [0; 11]);
        assert!(matches!(hear(&mut collector, &answer, now_ms), UplinkOutcome::Answer(_)));
    }
    // A clock that was set back by hours does not hold commands up.
    collector.command(1, Command::Reboot).expect("queued");
    let sent = one(due(&mut collector, NOW_MS - 7_200_000, rng));
    assert_eq!(meter.hear(&sent), Some((NOW_S + 3, Command::Reboot)));
}

/// Without a seal anybody says it.
#[test]
fn command_numbers_are_learned_from_sealed_answers_only() {
    let rng = &mut StdRng::seed_from_u64(2);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::None], quiet(), rng);
    collector.command(1, Command::Reboot).expect("queued");
    one(due(&mut collector, NOW_MS, rng));
    let answer = meters[0].answer(NOW_S, CommandResult::NumberTooLow, [0xff; 11]);
    assert!(matches!(hear(&mut collector, &answer, NOW_MS), UplinkOutcome::Answer(_)));
    assert_eq!(collector.state(1).expect("there").next_m(), NOW_S + 1);
}

/// An order to seal nothing opens nothing before its sealed answer, nor after its withdrawal.
#[test]
fn withdrawn_order_leaves_nothing_open() {
    for suite in &Suite::ALL[1..] {
        let rng = &mut StdRng::seed_from_u64(3);
        let (mut collector, mut meters) = collector_and_meters(&[*suite], Policy::default(), rng);
        let meter = &mut meters[0];
        let ticket = collector.command(1, configure(Suite::None)).expect("queued");
        one(due(&mut collector, NOW_MS, rng));
        let refused = UplinkOutcome::Rejected(Rejection::Suite);
        assert_eq!(hear(&mut collector, &keyless(1, 50), NOW_MS), refused, "pending, {suite}");
        collector.withdraw(1, ticket).expect("under way");
        assert_eq!(collector.commands(1).len(), 1, "a command of the collector's own is to end it");
        let mut collector = restarted(collector, Policy::default());
        assert_eq!(hear(&mut collector, &keyless(1, 50), NOW_MS), refused, "withdrawn, {suite}");
        deliver(&mut collector, meter, rng, NOW_MS);
        assert_eq!(suites(&collector), [*suite, Suite::None]);
        // A question would not end it: the meter forgets its number with its power.
        let mut now_ms = NOW_MS;
        let sent = one(due(&mut collector, now_ms, rng));
        // The collector sets the time by itself; the answer shows that the order is over.
        let command = meter.hear(&sent);
        assert!(matches!(command, Some((_, Command::SetTime { .. }))), "{command:?}");
        now_ms = collector.next_due_ms().expect("again");
        carry_out(&mut collector, meter, &mut now_ms, rng);
        assert_eq!(suites(&collector), [*suite]);
        assert_eq!(collector.next_due_ms(), None);
        deliver(&mut collector, meter, rng, now_ms);
    }
}

/// The same of a suite that is sealed, and shows less than the one before.
#[test]
fn lower_suite_is_taken_after_its_answer_only() {
    let rng = &mut StdRng::seed_from_u64(21);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::EciesEcdsa], quiet(), rng);
    let meter = &mut meters[0];
    collector.command(1, configure(Suite::Ecies)).expect("queued");
    let (m, _) = meter.hear(&one(due(&mut collector, NOW_MS, rng))).expect("its own");
    let report = meter.report(NOW_S, rng);
    assert_eq!(hear(&mut collector, &report, NOW_MS), UplinkOutcome::OtherSuite);
    let answer = meter.answer(m, CommandResult::Done, [0; 11]);
    assert!(matches!(hear(&mut collector, &answer, NOW_MS), UplinkOutcome::Answer(_)));
    assert!(matches!(hear(&mut collector, &report, NOW_MS), UplinkOutcome::Report(_)));
}

#[test]
fn unsent_order_is_taken_back_at_once() {
    let rng = &mut StdRng::seed_from_u64(4);
    let (mut collector, _) = collector_and_meters(&[Suite::Aes128Gcm], quiet(), rng);
    for command in [configure(Suite::None), register(77)] {
        let ticket = collector.command(1, command).expect("queued");
        collector.due(NOW_MS, rng);
        collector.withdraw(1, ticket).expect("under way, and not saved yet");
        let state = collector.state(1).expect("there");
        assert_eq!((state.suites().len(), state.addresses().len()), (1, 1));
        assert_eq!(collector.next_due_ms(), None);
    }
}

/// Carried out although it was withdrawn: the meter seals nothing, and is won back.
#[test]
fn meter_that_obeyed_a_withdrawn_order_is_won_back() {
    let rng = &mut StdRng::seed_from_u64(5);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::Ecies], Policy::default(), rng);
    let (meter, mut now_ms) = (&mut meters[0], NOW_MS);
    let ticket = collector.command(1, configure(Suite::None)).expect("queued");
    meter.hear(&one(due(&mut collector, NOW_MS, rng))).expect("its own");
    collector.withdraw(1, ticket).expect("under way");
    let report = meter.report(NOW_S, rng);
    assert_eq!(hear(&mut collector, &report, NOW_MS), UplinkOutcome::Rejected(Rejection::Suite));
    // Its answer to anything but a configure is not believed either.
    for _ in 0..2 {
        let sent = one(due(&mut collector, now_ms, rng));
        now_ms = collector.next_due_ms().expect("again");
        if let Some((m, _)) = meter.hear(&sent) {
            let answer = meter.answer(m, CommandResult::Done, [0; 11]);
            assert_eq!(hear(&mut collector, &answer, now_ms), UplinkOutcome::Rejected(Rejection::Suite));
        }
    }
    collector.command(1, configure(Suite::Aes256Gcm)).expect("queued");
    assert_eq!(carry_out(&mut collector, meter, &mut now_ms, rng), configure(Suite::Aes256Gcm));
    assert_eq!(suites(&collector), [Suite::Aes256Gcm]);
    deliver(&mut collector, meter, rng, now_ms);
}

/// From `none` upwards only an authentic answer leads; a forged one locks no meter out.
#[test]
fn suite_rises_by_authentic_messages_only() {
    let rng = &mut StdRng::seed_from_u64(6);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::None], quiet(), rng);
    let meter = &mut meters[0];
    collector.command(1, configure(Suite::Aes128Gcm)).expect("queued");
    let sent = one(due(&mut collector, NOW_MS, rng));
    let forged = meter.answer(NOW_S, CommandResult::Done, [0; 11]);
    assert_eq!(forged[0][1] >> 3 & 7, 0);
    assert_eq!(hear(&mut collector, &forged, NOW_MS), UplinkOutcome::Rejected(Rejection::Suite));
    deliver(&mut collector, meter, rng, NOW_MS);
    meter.hear(&sent).expect("its own");
    // By its first report, if the answer was lost: its earlier journal is lost then.
    deliver(&mut collector, meter, rng, NOW_MS);
    assert_eq!(suites(&collector), [Suite::Aes128Gcm]);
    assert_eq!(hear(&mut collector, &keyless(1, 90), NOW_MS), UplinkOutcome::Rejected(Rejection::Suite));
    let answer = meter.answer(NOW_S, CommandResult::Done, [0; 11]);
    assert!(matches!(hear(&mut collector, &answer, NOW_MS), UplinkOutcome::Answer(_)));
}

/// The first answer is lost: measurements before the second one are taken.
#[test]
fn report_made_before_the_second_answer_is_taken() {
    for next in Suite::ALL {
        let rng = &mut StdRng::seed_from_u64(19);
        let before = if next == Suite::Aes128Gcm { Suite::Ecies } else { Suite::Aes128Gcm };
        let (mut collector, mut meters) = collector_and_meters(&[before], quiet(), rng);
        let meter = &mut meters[0];
        let sealed_before = meter.report(NOW_S, rng);
        collector.command(1, configure(next)).expect("queued");
        let (m, _) = meter.hear(&one(due(&mut collector, NOW_MS, rng))).expect("its own");
        meter.answer(m, CommandResult::Done, [0; 11]);
        let between = meter.report(NOW_S, rng);
        let answer = meter.answer(m, CommandResult::Done, [0; 11]);
        assert!(matches!(hear(&mut collector, &answer, NOW_MS), UplinkOutcome::Answer(_)));
        for report in [&sealed_before, &between] {
            let UplinkOutcome::Report(accepted) = hear(&mut collector, report, NOW_MS) else {
                panic!("{next}")
            };
            collector.confirm_report(1, accepted.report.n).expect("handed out");
        }
        deliver(&mut collector, meter, rng, NOW_MS);
    }
}

#[test]
fn require_sealed_takes_and_orders_no_suite_none() {
    let rng = &mut StdRng::seed_from_u64(7);
    let policy = Policy { require_sealed: true, ..quiet() };
    let (mut collector, mut meters) = collector_and_meters(&[Suite::Aes128Gcm, Suite::None], policy, rng);
    assert_eq!(collector.command(1, configure(Suite::None)), Err(CollectorError::SealRequired));
    let report = meters[1].report(NOW_S, rng);
    assert_eq!(hear(&mut collector, &report, NOW_MS), UplinkOutcome::Rejected(Rejection::Suite));
    // One that sealed nothing is told to seal, and does.
    collector.command(2, configure(Suite::Ecies)).expect("queued");
    let mut now_ms = NOW_MS;
    carry_out(&mut collector, &mut meters[1], &mut now_ms, rng);
    deliver(&mut collector, &mut meters[1], rng, now_ms);
}

/// Two forged bytes of a packet do not move a meter, with a register pending or withdrawn.
#[test]
fn forged_name_in_a_packet_moves_no_meter() {
    for withdrawn in [false, true] {
        let rng = &mut StdRng::seed_from_u64(8);
        let (mut collector, mut meters) = collector_and_meters(&[Suite::Aes128Gcm], Policy::default(), rng);
        let (meter, mut now_ms) = (&mut meters[0], NOW_MS);
        let ticket = collector.command(1, register(77)).expect("queued");
        one(due(&mut collector, NOW_MS, rng));
        if withdrawn {
            collector.withdraw(1, ticket).expect("under way");
        }
        let mut rewritten = meter.report(NOW_S, rng);
        rewritten[0][3] = 77;
        assert!(matches!(hear(&mut collector, &rewritten, NOW_MS), UplinkOutcome::Report(_)));
        collector.confirm_report(1, meter.n).expect("handed out");
        // The meter is where it was, heard, spoken to, and so after a restart.
        let mut collector = restarted(collector, Policy::default());
        deliver(&mut collector, meter, rng, now_ms);
        carry_out(&mut collector, meter, &mut now_ms, rng);
        let moved = !withdrawn;
        let name = if moved { 77 } else { 1 };
        assert_eq!(collector.state(1).expect("there").addresses(), [meter.address]);
        assert_eq!(meter.address.name, name);
        deliver(&mut collector, meter, rng, now_ms);
    }
}

/// An answer's address is in its nonce: it cannot be rewritten, even to one of the same name.
#[test]
fn answer_shows_the_address_of_the_meter() {
    let rng = &mut StdRng::seed_from_u64(9);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::Aes128Gcm], Policy::default(), rng);
    let meter = &mut meters[0];
    let same_name = Command::Register { meter: 1, address: 0x55, collector_address: COLLECTOR };
    collector.command(1, same_name).expect("queued");
    let (m, _) = meter.hear(&one(due(&mut collector, NOW_MS, rng))).expect("its own");
    let mut elsewhere = meter.answer(m, CommandResult::Done, [0; 11]);
    elsewhere[0][3] = 9;
    assert_eq!(hear(&mut collector, &elsewhere, NOW_MS), UplinkOutcome::Rejected(Rejection::UnknownMeter));
    let answer = meter.answer(m, CommandResult::Done, [0; 11]);
    assert!(matches!(hear(&mut collector, &answer, NOW_MS), UplinkOutcome::Answer(_)));
    let address = Address { name: 1, radio: 0x55, collector: COLLECTOR };
    assert_eq!(collector.state(1).expect("there").addresses(), [address]);
    // Between two that the collector thinks possible, another one's answer is not authentic.
    let ticket = collector.command(1, register(77)).expect("queued");
    one(due(&mut collector, NOW_MS, rng));
    collector.withdraw(1, ticket).expect("under way");
    let (m, _) = meter.hear(&one(due(&mut collector, NOW_MS, rng))).expect("its own");
    let mut rewritten = meter.answer(m, CommandResult::Done, [0; 11]);
    rewritten[0][3] = 77;
    assert_eq!(hear(&mut collector, &rewritten, NOW_MS), UplinkOutcome::Rejected(Rejection::NotAuthentic));
    assert_eq!(collector.state(1).expect("there").addresses().len(), 2);
    rewritten[0][3] = 1;
    assert!(matches!(hear(&mut collector, &rewritten, NOW_MS), UplinkOutcome::Answer(_)));
    assert_eq!(collector.state(1).expect("there").addresses(), [address]);
}

/// An old copy, of before the suite changed: what is authentic is taken, and teaches it.
#[test]
fn older_copy_takes_authentic_reports_in_any_sealed_suite() {
    for (before, after) in [
        (Suite::Aes128Gcm, Suite::Aes256Gcm),
        (Suite::Aes128Gcm, Suite::EciesEcdsa),
        (Suite::Ecies, Suite::Aes128Gcm),
        (Suite::None, Suite::Ecies),
    ] {
        let rng = &mut StdRng::seed_from_u64(10);
        let (mut collector, mut meters) = collector_and_meters(&[before], quiet(), rng);
        let meter = &mut meters[0];
        meter.suite = after;
        deliver(&mut collector, meter, rng, NOW_MS);
        assert_eq!(suites(&collector), [after], "{before}");
        collector.command(1, Command::Reboot).expect("queued");
        let mut now_ms = NOW_MS;
        carry_out(&mut collector, meter, &mut now_ms, rng);
    }
    // Not downwards: a code, which a thief of the copy can make, replaces no signature.
    let rng = &mut StdRng::seed_from_u64(11);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::EciesEcdsa], Policy::default(), rng);
    let meter = &mut meters[0];
    meter.suite = Suite::Aes128Gcm;
    let report = meter.report(NOW_S, rng);
    assert_eq!(hear(&mut collector, &report, NOW_MS), UplinkOutcome::OtherSuite);
    // The record beside the keys says what the meter may have been told: then its answer decides.
    let mut state = collector.remove(1).expect("there");
    state.may_have(&[Suite::Aes128Gcm], &[]);
    collector.add(meter.provision.record(), state).expect("it is not there");
    let mut now_ms = NOW_MS;
    let command = carry_out(&mut collector, meter, &mut now_ms, rng);
    assert!(matches!(command, Command::SetTime { .. }), "{command:?}");
    // A report from before the answer is in its journal.
    assert!(matches!(hear(&mut collector, &report, NOW_MS), UplinkOutcome::Report(_)));
    collector.confirm_report(1, 1).expect("handed out");
    deliver(&mut collector, meter, rng, now_ms);
}

/// The same for names.
#[test]
fn older_copy_hears_a_meter_by_its_new_name() {
    let rng = &mut StdRng::seed_from_u64(12);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::Aes128Gcm], Policy::default(), rng);
    let (meter, mut now_ms) = (&mut meters[0], NOW_MS);
    let mut copy = collector.state(1).expect("there");
    collector.command(1, register(77)).expect("queued");
    carry_out(&mut collector, meter, &mut now_ms, rng);
    let told = collector.state(1).expect("there").addresses().to_vec();
    copy.may_have(&[], &told);
    collector.remove(1).expect("there");
    collector.add(meter.provision.record(), copy).expect("it is not there");
    now_ms += 1000;
    deliver(&mut collector, meter, rng, now_ms);
    carry_out(&mut collector, meter, &mut now_ms, rng);
    assert_eq!(collector.state(1).expect("there").addresses(), told);
}

/// Messages in suites that nothing speaks for, and that take curves, are looked at now and then.
#[test]
fn unexpected_curve_messages_are_opened_one_in_eight() {
    let rng = &mut StdRng::seed_from_u64(13);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::Aes128Gcm], quiet(), rng);
    let meter = &mut meters[0];
    meter.suite = Suite::Ecies;
    let mut forged = meter.report(NOW_S, rng);
    forged[1][60] ^= 1;
    let heard: Vec<UplinkOutcome> = (0..80).map(|_| hear(&mut collector, &forged, NOW_MS)).collect();
    let count =
        |rejection| heard.iter().filter(|heard| **heard == UplinkOutcome::Rejected(rejection)).count();
    assert_eq!((count(Rejection::NotAuthentic), count(Rejection::Suite)), (10, 70));
    let report = meter.report(NOW_S, rng);
    let taken = (0..8).any(|_| matches!(hear(&mut collector, &report, NOW_MS), UplinkOutcome::Report(_)));
    assert!(taken);
}

/// A meter whose memory was written again: other reports under numbers that are known.
#[test]
fn other_report_under_a_known_number_is_unacknowledged() {
    for suite in Suite::ALL {
        let rng = &mut StdRng::seed_from_u64(14);
        let (mut collector, mut meters) = collector_and_meters(&[suite], quiet(), rng);
        let meter = &mut meters[0];
        for _ in 0..3 {
            deliver(&mut collector, meter, rng, NOW_MS);
        }
        meter.n = 1;
        let other = meter.report(NOW_S + 99, rng);
        let heard = hear(&mut collector, &other, NOW_MS);
        if suite == Suite::None {
            assert_eq!(heard, UplinkOutcome::Rejected(Rejection::NumberReused));
        } else {
            assert!(
                matches!(heard, UplinkOutcome::NumberReused(ref accepted) if accepted.report.n == 2),
                "{heard:?}"
            );
        }
        assert_eq!(collector.counters().of(Rejection::NumberReused), 1);
        // After a restart its owner has to compare; not confirmed it is not acknowledged.
        let mut collector = restarted(collector, quiet());
        assert!(matches!(hear(&mut collector, &other, NOW_MS), UplinkOutcome::OldNumber(_)));
        collector.reject_report(1, 2).expect("handed out");
        assert!(matches!(hear(&mut collector, &other, NOW_MS), UplinkOutcome::OldNumber(_)));
        collector.number_reused(1, 2).expect("handed out");
        let heard = hear(&mut collector, &other, NOW_MS);
        assert!(
            matches!(heard, UplinkOutcome::NumberReused(_)),
            "it is not asked for over and over: {heard:?}"
        );
        assert_eq!(collector.state(1).expect("there").last_n, 3);
    }
}

#[test]
fn repeated_start_count_shows_a_counter_rollback() {
    let rng = &mut StdRng::seed_from_u64(15);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::Aes128Gcm, Suite::None], quiet(), rng);
    for (meter, went_back) in meters.iter_mut().zip([true, false]) {
        let id = meter.provision.setup().meter;
        let mut start = |starts: u16, cause: Cause| {
            meter.n += 1;
            let content = Content::Alert(Alert { time_s: NOW_S, cause, starts, detail: [0; 3] });
            let report = meter.send(&Report { n: meter.n, time_set: true, lost: 0, content }, rng);
            let UplinkOutcome::Report(accepted) = hear(&mut collector, &report, NOW_MS) else {
                panic!("{starts}")
            };
            // Not stored at first: it comes again, and is the same start.
            collector.reject_report(id, meter.n).expect("handed out");
            let UplinkOutcome::Report(again) = hear(&mut collector, &report, NOW_MS) else {
                panic!("{starts}")
            };
            assert_eq!(accepted, again);
            collector.confirm_report(id, meter.n).expect("handed out");
            accepted.counter_rollback
        };
        assert!(!start(1, Cause::PowerOn));
        assert!(!start(2, Cause::BrownOut));
        assert!(!start(2, Cause::NoiseSource), "no start");
        assert!(!start(7, Cause::Watchdog));
        assert_eq!(start(1, Cause::PowerOn), went_back);
        assert_eq!(start(1, Cause::PowerOn), went_back);
        assert!(!start(65_500, Cause::PowerOn));
        assert!(!start(3, Cause::PowerOn), "around at 2^16");
    }
}

/// Withdrawn over and over: the ways that the meter is spoken to in stay bounded.
#[test]
fn withdrawn_changes_are_bounded() {
    let rng = &mut StdRng::seed_from_u64(16);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::Aes128Gcm], quiet(), rng);
    let names = (100..120).map(register);
    let told = names.chain(Suite::ALL.map(configure)).chain(Suite::ALL.map(configure));
    for command in told {
        let ticket = collector.command(1, command).expect("queued");
        one(due(&mut collector, NOW_MS, rng));
        collector.withdraw(1, ticket).expect("under way");
    }
    let state = collector.state(1).expect("there");
    assert_eq!((state.addresses().len(), state.suites().len()), (8, 7));
    // 56 ways, of which the meter understands one.
    let meter = &mut meters[0];
    (meter.address.name, meter.address.radio, meter.suite) = (119, 0x50, Suite::EciesEcdsa);
    collector.command(1, Command::Reboot).expect("queued");
    let mut now_ms = NOW_MS;
    let taken = (0..56).find_map(|_| {
        let sent = one(due(&mut collector, now_ms, rng));
        now_ms = collector.next_due_ms().expect("again");
        meter.hear(&sent)
    });
    let (m, _) = taken.expect("one of them");
    let answer = meter.answer(m, CommandResult::Done, [0; 11]);
    assert!(matches!(hear(&mut collector, &answer, now_ms), UplinkOutcome::Answer(_)));
    let state = collector.state(1).expect("there");
    assert_eq!((state.addresses(), state.suites()), (&[meter.address][..], &[Suite::EciesEcdsa][..]));
    deliver(&mut collector, meter, rng, now_ms);
}

/// A state of the version before, with a change of suite and name under way.
#[test]
fn state_of_the_previous_version_is_read() {
    let old = r#"{"meter":1,"revision":7,"last_n":41,"next_m":9,"next_ticket":3,"suites":["aes128-gcm","ecies"],"earliest_suite":1,
        "past_suites":["none"],"settled_n":40,"places":[{"name":1,"address":66,"collector_address":65},
        {"name":77,"address":80,"collector_address":65}],"time_set_n":5,"waiting":[],
        "under_way":{"ticket":2,"order":{"command":{"register":{"meter":77,"address":80,"collector_address":65}}},"m":8,"brought":true}}"#;
    let state: MeterState = serde_json::from_str(old).expect("a state");
    let rng = &mut StdRng::seed_from_u64(17);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::None], quiet(), rng);
    let (meter, mut now_ms) = (&mut meters[0], NOW_MS);
    collector.remove(1).expect("there");
    collector.add(meter.provision.record(), state).expect("it is not there");
    assert_eq!(suites(&collector), [Suite::Ecies]);
    (meter.n, meter.suite) = (41, Suite::Ecies);
    deliver(&mut collector, meter, rng, now_ms);
    assert_eq!(carry_out(&mut collector, meter, &mut now_ms, rng), register(77));
    assert_eq!(meter.last_m, 8);
    assert_eq!(collector.state(1).expect("there").addresses(), [meter.address]);
}

/// A meter forgets a question's number with its power: a withdrawn order stays possible.
#[test]
fn status_does_not_close_a_withdrawn_order() {
    let rng = &mut StdRng::seed_from_u64(18);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::Aes128Gcm], quiet(), rng);
    let (meter, mut now_ms) = (&mut meters[0], NOW_MS);
    let withdrawn = [register(77), configure(Suite::Ecies)].map(|command| {
        let ticket = collector.command(1, command).expect("queued");
        let sent = one(due(&mut collector, NOW_MS, rng));
        collector.withdraw(1, ticket).expect("under way");
        sent
    });
    collector.command(1, Command::ReadStatus { page: 1 }).expect("queued");
    carry_out(&mut collector, meter, &mut now_ms, rng);
    assert_eq!(collector.state(1).expect("there").addresses().len(), 2);
    assert_eq!(suites(&collector).len(), 2);
    // The power fails, and the second of them comes now.
    meter.last_m = 0;
    meter.hear(&withdrawn[1]).expect("it is above all that it knows");
    deliver(&mut collector, meter, rng, now_ms);
    collector.command(1, Command::Reboot).expect("queued");
    carry_out(&mut collector, meter, &mut now_ms, rng);
    let state = collector.state(1).expect("there");
    assert_eq!((state.addresses(), state.suites()), (&[meter.address][..], &[Suite::Ecies][..]));
}
