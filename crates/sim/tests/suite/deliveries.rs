//! The link benchmark of Kalns and others (2016), a few messages each: the whole of them is
//! `./wattseal reproduce kalns2016`.

use lab::delivery::{Deliveries, Delivery, DeliveryKind, Endpoints, Message};
use lab::progress::Progress;
use lab::workspace::Workspace;
use sim::link::LinkBenchmark;

struct Silence;

impl Progress for Silence {
    fn report(&self, _done: usize, _total: usize, _what: &str) {}
}

fn deliver(message: Message, suite: &str) -> Vec<Delivery> {
    let workspace = Workspace::find().expect("the tests run inside the project");
    let endpoints = Endpoints { collector: "stm32f767".into(), collector_variant: "fast".into(), runs: 3 };
    let kind = DeliveryKind { message, suite: suite.into() };
    LinkBenchmark.deliver(&workspace, &endpoints, &kind, &Silence).expect("all arrive")
}

/// Bytes on the air take 8 * 29 * 7 / 10 MHz each: 5 of preamble, 2 of synchronisation, header,
/// length, 2 of CRC, and the one behind that keeps the transmitter on; a packet's first byte is the
/// header.
fn air_s(packet_bytes: f64) -> f64 {
    (packet_bytes - 1.0 + 5.0 + 2.0 + 2.0 + 2.0 + 1.0) * 162.4e-6
}

#[test]
fn a_measurement_with_aes_gcm_is_acknowledged_within_40_ms() {
    for run in deliver(Message::Measurement, "aes128-gcm") {
        assert_eq!((run.message_bytes, run.packets), (36, 1));
        assert!(run.round_trip_s <= 0.040, "{run:?}");
        // The report and its acknowledgement.
        let expected_s = air_s(5.0 + 36.0) + air_s(5.0 + 20.0);
        assert!((run.radio_s - expected_s).abs() < 2.0 * 162.4e-6, "{expected_s}: {run:?}");
        assert!(run.prepare_s.unwrap_or(f64::NAN) + run.radio_s < run.round_trip_s, "{run:?}");
        // The rest of the journal's 46 bytes was not written.
        assert!(run.nonvolatile_s < 46.0 * 3.4e-3, "{run:?}");
    }
}

#[test]
fn a_signed_measurement_is_acknowledged_within_3_5_s() {
    for run in deliver(Message::Measurement, "ecies-ecdsa") {
        assert_eq!((run.message_bytes, run.packets), (144, 3));
        assert!(run.round_trip_s <= 3.5, "{run:?}");
    }
}

#[test]
fn a_command_is_answered_once_it_is_kept() {
    for run in deliver(Message::Command, "aes256-gcm") {
        assert_eq!((run.message_bytes, run.packets), (36, 1));
        // 32 bytes of settings of 3.4 ms each.
        assert!((run.nonvolatile_s - 32.0 * 3.4e-3).abs() < 1e-9, "{run:?}");
        assert!(
            run.round_trip_s > run.nonvolatile_s + run.unpack_s.unwrap_or(f64::NAN)
                && run.round_trip_s < 0.25,
            "{run:?}"
        );
    }
}
