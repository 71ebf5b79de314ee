//! Messages that are opened apart from the collector, which goes on meanwhile.

use super::fixture::{NOW_MS, NOW_S, TestMeter, collector_and_meters, setup};
use rand::{SeedableRng, rngs::StdRng};
use wire::meter::{
    Collector, Command, CommandResult, Due, MeterState, OpenedMessage, Policy, Provision, ReassemblyOutcome,
    Rejection, SealedMessage, Suite, UplinkOutcome,
};

fn gathered(collector: &mut Collector, packets: &[Vec<u8>]) -> SealedMessage {
    let mut whole = None;
    for packet in packets {
        match collector.reassemble(packet) {
            ReassemblyOutcome::Sealed(message) => whole = Some(message),
            ReassemblyOutcome::Done(heard) => assert_eq!(heard, UplinkOutcome::Piece),
        }
    }
    whole.expect("all pieces")
}

/// As a verifier does.
fn opened(message: SealedMessage) -> OpenedMessage {
    std::thread::spawn(move || message.open()).join().expect("opening does not panic")
}

/// Brings the collector to send its next command, and the meter to answer it.
fn answer(collector: &mut Collector, meter: &mut TestMeter, rng: &mut StdRng) -> Vec<Vec<u8>> {
    loop {
        match collector.due(NOW_MS, rng).pop().expect("a command waits") {
            Due::Save(state) => collector.confirm_state(state.meter, state.revision),
            Due::SaveKeys(record) => collector.confirm_keys(&record),
            Due::Send(sent) => {
                let (m, _) = meter.hear(&sent).expect("its own");
                return meter.answer(m, CommandResult::Done, [0; 11]);
            }
        }
    }
}

#[test]
fn curve_messages_are_known_before_opening() {
    let rng = &mut StdRng::seed_from_u64(1);
    let (mut collector, mut meters) = collector_and_meters(&Suite::ALL, Policy::default(), rng);
    for meter in &mut meters {
        let message = gathered(&mut collector, &meter.report(NOW_S, rng));
        assert_eq!(message.takes_curves(), meter.suite.has_curve(), "{}", meter.suite);
        assert_eq!(message.meter(), meter.address.name);
    }
}

#[test]
fn report_opened_twice_is_taken_once() {
    let rng = &mut StdRng::seed_from_u64(2);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::EciesEcdsa], Policy::default(), rng);
    let report = meters[0].report(NOW_S, rng);
    let copies = [(); 3].map(|()| opened(gathered(&mut collector, &report)));
    let mut heard = copies.into_iter().map(|copy| {
        let heard = collector.accept(copy, NOW_MS);
        if matches!(heard, UplinkOutcome::Busy) {
            collector.confirm_report(1, 1).expect("handed out");
        }
        heard
    });
    assert!(matches!(heard.next(), Some(UplinkOutcome::Report(_))));
    assert_eq!(heard.next(), Some(UplinkOutcome::Busy));
    assert!(matches!(heard.next(), Some(UplinkOutcome::Duplicate(_))));
}

#[test]
fn message_of_a_removed_or_rekeyed_meter_is_not_taken() {
    let rng = &mut StdRng::seed_from_u64(3);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::Ecies], Policy::default(), rng);
    let report = meters[0].report(NOW_S, rng);
    let (first, second, third) = (
        opened(gathered(&mut collector, &report)),
        opened(gathered(&mut collector, &report)),
        opened(gathered(&mut collector, &report)),
    );
    let state = collector.remove(1).expect("there");
    assert_eq!(collector.accept(first, NOW_MS), UplinkOutcome::Rejected(Rejection::UnknownMeter));
    // Provisioned anew: its numbers begin with 1 again, and what was made with the old keys is
    // nothing to it.
    let public = *collector.identity().public();
    let anew = Provision::generate(setup(1, Suite::Ecies), &public, rng);
    collector.add(anew.record(), MeterState::new(&anew.record())).expect("free");
    assert_eq!(collector.accept(second, NOW_MS), UplinkOutcome::Rejected(Rejection::UnknownMeter));
    assert_eq!(collector.counters_of(1).expect("there").total(), 0);
    // The same keys, added again: what was under way is lost, and comes again.
    collector.remove(1).expect("there");
    collector.add(meters[0].provision.record(), state).expect("free");
    assert_eq!(collector.accept(third, NOW_MS), UplinkOutcome::Rejected(Rejection::UnknownMeter));
    let again = opened(gathered(&mut collector, &report));
    assert!(matches!(collector.accept(again, NOW_MS), UplinkOutcome::Report(_)));
}

#[test]
fn message_in_a_former_suite_is_not_taken() {
    let rng = &mut StdRng::seed_from_u64(4);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::Ecies], Policy::default(), rng);
    let meter = &mut meters[0];
    collector.command(1, Command::Configure { interval_s: 9, suite: Suite::EciesEcdsa }).expect("queued");
    let early = meter.report(NOW_S, rng);
    let answer = answer(&mut collector, meter, rng);
    // A number behind that of the answer, sealed as before it: who has the shared keys alone cannot
    // sign.
    meter.suite = Suite::Ecies;
    let late = meter.report(NOW_S, rng);
    let (early, late) = (gathered(&mut collector, &early), gathered(&mut collector, &late));
    assert!(matches!(collector.on_packet(&answer[0], NOW_MS), UplinkOutcome::Answer(_)));
    assert_eq!(collector.accept(opened(late), NOW_MS), UplinkOutcome::OtherSuite);
    assert!(matches!(collector.accept(opened(early), NOW_MS), UplinkOutcome::Report(_)));
}

#[test]
fn message_under_a_former_name_is_not_taken() {
    let rng = &mut StdRng::seed_from_u64(5);
    let (mut collector, mut meters) = collector_and_meters(&[Suite::EciesEcdsa], Policy::default(), rng);
    let meter = &mut meters[0];
    let register = Command::Register { meter: 77, address: 0x43, collector_address: 0x41 };
    collector.command(1, register).expect("queued");
    let old_name = meter.report(NOW_S, rng);
    let answer = answer(&mut collector, meter, rng);
    let old_name = gathered(&mut collector, &old_name);
    assert!(matches!(collector.on_packet(&answer[0], NOW_MS), UplinkOutcome::Answer(_)));
    assert_eq!(collector.accept(opened(old_name), NOW_MS), UplinkOutcome::Rejected(Rejection::UnknownMeter));
    let new_name = opened(gathered(&mut collector, &meter.report(NOW_S, rng)));
    assert!(matches!(collector.accept(new_name, NOW_MS), UplinkOutcome::Report(_)));
}
