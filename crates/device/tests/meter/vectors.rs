//! The meter's C against every message of `crates/testkit/vectors/meter-protocol.txt`, which an
//! independent program made. What is sealed with an ephemeral key of the meter's own choice is not
//! among them: whole meters send it to `wire` (`link`), which opens the file's.

use device::meter::message::{
    Address, Assembly, Header, acknowledges, packets, prepare, provision, read, unpack,
};
use testkit::vectors::{MeterMessageCase, meter_protocol};

const REPORT: u8 = 0;
const ANSWER: u8 = 1;
const ACKNOWLEDGEMENT: u8 = 2;
const COMMAND: u8 = 3;

fn header(case: &MeterMessageCase) -> Header {
    Header { kind: case.kind, suite: case.suite, number: case.number }
}

#[test]
fn meter_seals_the_vectors_bytes() {
    let (keys, cases) = meter_protocol();
    provision(&keys.flash);
    let address = Address {
        meter: keys.name.to_be_bytes(),
        own: keys.meter_address,
        collector: keys.collector_address,
    };
    let mut sealed = 0;
    for case in cases.iter().filter(|case| case.kind <= ANSWER && case.ephemeral.is_none()) {
        let plain = case.plaintext.expect("reports and answers have one");
        let message = prepare(&header(case), &address, &plain).expect("it has all that it needs");
        assert_eq!(message, case.message, "{case:?}");
        assert_eq!(packets(keys.collector_address, keys.name, &header(case), &message), case.packets);
        sealed += 1;
    }
    // Three reports in four suites, five answers in six; and to a configure with `none`.
    assert_eq!(sealed, 43);
}

#[test]
fn all_packets_are_cut_alike_and_put_together_in_any_order() {
    let (keys, cases) = meter_protocol();
    for case in &cases {
        let address = if case.kind <= ANSWER { keys.collector_address } else { keys.meter_address };
        assert_eq!(packets(address, keys.name, &header(case), &case.message), case.packets);
        let mut assembly = Assembly::default();
        let (last, before) = case.packets.split_first().expect("packets");
        for packet in before.iter().rev() {
            assert_eq!(assembly.collect(packet), None);
        }
        assert_eq!(assembly.collect(last).as_ref(), Some(&case.message));
        let piece = read(last).expect("a packet of the protocol");
        assert_eq!((piece.meter, piece.number_lsb), (keys.name, case.number as u8));
        assert_eq!(read(&last[..last.len() - 1]), None);
        assert_eq!(read(&[&last[..], &[0]].concat()), None);
    }
}

#[test]
fn opening_commands_and_acknowledgements_refuses_a_changed_bit() {
    let (keys, cases) = meter_protocol();
    provision(&keys.flash);
    for case in cases.iter().filter(|case| case.kind >= ACKNOWLEDGEMENT) {
        let report = Header { kind: REPORT, ..header(case) };
        let taken = |message: &[u8]| match case.kind {
            COMMAND => unpack(case.suite, message).is_some_and(|(m, plain)| {
                assert_eq!((m, Some(plain)), (case.number, case.plaintext));
                true
            }),
            _ => acknowledges(&report, message),
        };
        assert!(taken(&case.message), "{case:?}");
        if case.suite == 0 {
            continue;
        }
        // Curves take long: other bits in each message.
        let step = if case.ephemeral.is_some() { 251 } else { 3 };
        for bit in (case.number as usize % step..8 * case.message.len()).step_by(step) {
            let mut message = case.message.clone();
            message[bit / 8] ^= 1 << (bit % 8);
            assert!(!taken(&message), "bit {bit} of {case:?}");
        }
        assert!(!acknowledges(&Header { number: case.number ^ 1, ..report }, &[0; 20]));
        // Another meter, by its number alone.
        let mut other = keys.flash;
        other[3] ^= 1;
        provision(&other);
        assert!(!taken(&case.message), "{case:?}");
        provision(&keys.flash);
    }
}
