//! Packets on the air, one after the other, to a collector with a meter of each suite that seals:
//! it takes none of them, keeps no more than its bounds, and its meters' states stay as they were.
//!
//! The input: packets, each behind a byte with its length. Bits 6 and 7 of that byte: one of the
//! genuine packets is taken, and the bytes that follow are laid over it, so that the fuzzer need
//! not guess headers.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rand::{SeedableRng, rngs::StdRng};
use std::sync::LazyLock;
use wire::meter::{
    Channel, Collector, Content, Identity, Measurement, MessageKind, MeterRecord, MeterState, Policy,
    Provision, ReassemblyOutcome, Report, Setup, Suite, UplinkOutcome, packets,
};

struct Fixture {
    identity: Identity,
    meters: Vec<MeterRecord>,
    /// All pieces of a report of each meter.
    genuine: Vec<Vec<u8>>,
}

static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| {
    let rng = &mut StdRng::seed_from_u64(1);
    let identity = Identity::generate(rng);
    let (mut meters, mut genuine) = (Vec::new(), Vec::new());
    for (meter, suite) in (1..).zip(&Suite::ALL[1..]) {
        let setup = Setup { suite: *suite, ..Setup::usual(meter) };
        let provision = Provision::generate(setup, identity.public(), rng);
        let record = provision.record();
        let channel =
            Channel { meter, keys: &record.keys, own: provision.identity(), peer: identity.public() };
        let content = Content::Measurement(Measurement { time_s: 1, energy_dwh: 2, power_w: 3 });
        let report = Report { n: 1, time_set: true, lost: 0, content };
        let sealed = channel.seal(MessageKind::Report, *suite, 1, &report.to_bytes(), rng);
        genuine.extend(packets(setup.collector_address, MessageKind::Report, *suite, meter, 1, &sealed));
        meters.push(record);
    }
    Fixture { identity, meters, genuine }
});

fuzz_target!(|bytes: &[u8]| {
    let fixture = &*FIXTURE;
    let mut collector = Collector::new(fixture.identity.clone(), Policy::default());
    for record in &fixture.meters {
        collector.add(record.clone(), MeterState::new(record)).expect("new ones");
    }
    let states = |collector: &Collector| (1..=4).map(|meter| collector.state(meter)).collect::<Vec<_>>();
    let (before, mut rest) = (states(&collector), bytes);
    // Those of the genuine pieces that came unchanged may make a message whole, which is taken
    // then.
    let mut genuine = false;
    while let Some((head, behind)) = rest.split_first() {
        let length = usize::from(head & 0x3f).min(behind.len());
        let (given, behind) = behind.split_at(length);
        rest = behind;
        let packet = if head & 0xc0 == 0xc0 {
            let Some((which, over)) = given.split_first() else { continue };
            let mut packet = fixture.genuine[usize::from(*which) % fixture.genuine.len()].clone();
            for pair in over.chunks_exact(2) {
                let at = usize::from(pair[0]) % packet.len();
                packet[at] ^= pair[1];
            }
            packet
        } else {
            given.to_vec()
        };
        genuine |= fixture.genuine.contains(&packet);
        let heard = match collector.reassemble(&packet) {
            ReassemblyOutcome::Done(heard) => heard,
            ReassemblyOutcome::Sealed(message) => {
                let opened = message.open();
                collector.accept(opened, 1000)
            }
        };
        match heard {
            UplinkOutcome::Rejected(_) | UplinkOutcome::Piece => {}
            UplinkOutcome::Report(_) | UplinkOutcome::Busy if genuine => {}
            heard => panic!("{packet:02x?} was taken: {heard:?}"),
        }
        assert!(collector.held_bytes() <= 4 * 2 * 144);
    }
    if !genuine {
        assert_eq!(states(&collector), before);
    }
});
