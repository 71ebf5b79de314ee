//! Every message of `crates/testkit/vectors/meter-protocol.txt`, which an independent program made:
//! sealed here it has the same bytes, opened here it says the same.

use rand_core::{CryptoRng, RngCore};
use testkit::vectors::{MeterKeysCase, MeterMessageCase, meter_protocol};
use wire::meter::{
    Address, Channel, Command, Identity, MessageKind, MeterKeys, Packet, Provision, PublicKey, Reassembly,
    Report, Setup, Suite, packets, signature_holds,
};

/// Gives these bytes once.
struct FixedBytes(Option<[u8; 32]>);

impl RngCore for FixedBytes {
    fn next_u32(&mut self) -> u32 {
        unreachable!("keys are drawn as bytes")
    }
    fn next_u64(&mut self) -> u64 {
        unreachable!("keys are drawn as bytes")
    }
    fn fill_bytes(&mut self, out: &mut [u8]) {
        out.copy_from_slice(&self.0.take().expect("a message with an ephemeral key, and one alone"));
    }
}

impl CryptoRng for FixedBytes {}

struct Sides {
    case: MeterKeysCase,
    keys: MeterKeys,
    meter: Identity,
    collector: Identity,
}

fn sides() -> (Sides, Vec<MeterMessageCase>) {
    let (case, messages) = meter_protocol();
    let meter = Identity::from_private_bytes(&case.meter_private).expect("a key");
    let collector = Identity::from_private_bytes(&case.collector_private).expect("a key");
    (Sides { keys: MeterKeys::new(case.key128, case.key256), case, meter, collector }, messages)
}

impl Sides {
    /// The side that messages of a kind come from, and the other one.
    fn channels(&self, kind: MessageKind) -> (Channel<'_>, Channel<'_>) {
        let (meter, collector) = (&self.meter, &self.collector);
        let channel = |own: &'static str| -> Channel<'_> {
            let (own, peer) = if own == "meter" { (meter, collector) } else { (collector, meter) };
            Channel { meter: self.case.provisioned, keys: &self.keys, own, peer: peer.public() }
        };
        match kind {
            MessageKind::Report | MessageKind::Answer => (channel("meter"), channel("collector")),
            MessageKind::Acknowledgement | MessageKind::Command => (channel("collector"), channel("meter")),
        }
    }
}

impl Sides {
    /// Returns the meter's registered address.
    fn address(&self) -> Address {
        let MeterKeysCase { name, meter_address: radio, collector_address: collector, .. } = self.case;
        Address { name, radio, collector }
    }

    fn seal(&self, message: &MeterMessageCase) -> Vec<u8> {
        let (kind, suite) = kind_and_suite(message);
        let channel = self.channels(kind).0;
        match (kind, message.plaintext) {
            (MessageKind::Answer, Some(plain)) => {
                channel.answer(suite, message.number, self.address(), &plain)
            }
            (_, Some(plain)) => {
                channel.seal(kind, suite, message.number, &plain, &mut FixedBytes(message.ephemeral))
            }
            (_, None) => channel.acknowledge(suite, message.number),
        }
    }
}

/// The number and the plaintext, where it is authentic. An acknowledgement has no plaintext.
fn open(
    channel: &Channel<'_>,
    kind: MessageKind,
    suite: Suite,
    address: Address,
    bytes: &[u8],
) -> Option<(Option<u32>, Option<[u8; 16]>)> {
    let opened = match kind {
        MessageKind::Acknowledgement => {
            return channel.open_acknowledgement(suite, bytes).ok().map(|n| (Some(n), None));
        }
        MessageKind::Answer => channel.open_answer(suite, address, bytes),
        _ => channel.open(kind, suite, bytes),
    };
    opened.ok().map(|opened| (opened.number, Some(opened.plaintext)))
}

fn kind_and_suite(message: &MeterMessageCase) -> (MessageKind, Suite) {
    (MessageKind::from_code(message.kind), Suite::from_code(message.suite).expect("a suite"))
}

#[test]
fn sealing_gives_the_vectors_bytes() {
    let (sides, messages) = sides();
    for message in &messages {
        let (kind, suite) = kind_and_suite(message);
        let sealed = sides.seal(message);
        assert_eq!(sealed, message.message, "{message:?}");
        let to_meter = matches!(kind, MessageKind::Acknowledgement | MessageKind::Command);
        let address = if to_meter { sides.case.meter_address } else { sides.case.collector_address };
        assert_eq!(packets(address, kind, suite, sides.case.name, message.number, &sealed), message.packets);
    }
}

#[test]
fn opening_gives_the_vectors_plaintexts() {
    let (sides, messages) = sides();
    for message in &messages {
        let (kind, suite) = kind_and_suite(message);
        let mut reassembly = Reassembly::default();
        let mut whole = None;
        for packet in &message.packets {
            assert_eq!(whole, None);
            let packet = Packet::parse(packet).expect("well-formed");
            assert_eq!(packet.meter, sides.case.name);
            whole = reassembly.take(&packet);
        }
        let whole = whole.expect("all packets are there");
        assert_eq!(whole.bytes, message.message);
        let channel = sides.channels(kind).1;
        let (number, plaintext) =
            open(&channel, kind, suite, sides.address(), &whole.bytes).expect("authentic");
        assert_eq!(plaintext, message.plaintext, "{message:?}");
        assert_eq!(number.unwrap_or(message.number), message.number);
        let Some(plaintext) = plaintext else { continue };
        match kind {
            MessageKind::Report => assert_eq!(Report::from_bytes(&plaintext).to_bytes(), plaintext),
            MessageKind::Command => {
                let (m, command) = Command::from_bytes(&plaintext).expect("a command");
                assert_eq!((m, command.to_bytes(m)), (message.number, plaintext));
            }
            _ => {}
        }
    }
}

/// Of every message every bit is part of what is authentic, its meter, its kind and its suite, too;
/// signatures have one other form (r, -s), which no single bit makes.
#[test]
fn vectors_with_one_changed_bit_are_refused() {
    let (sides, messages) = sides();
    for message in messages.iter().filter(|message| message.suite != 0) {
        let (kind, suite) = kind_and_suite(message);
        let channel = sides.channels(kind).1;
        let address = sides.address();
        let opens = |channel: &Channel<'_>, kind: MessageKind, suite: Suite, bytes: &[u8]| {
            open(channel, kind, suite, address, bytes).is_some()
        };
        assert!(opens(&channel, kind, suite, &message.message));
        // Where curves take long, one bit in 31, other ones in each message.
        let step = if message.ephemeral.is_some() { 31 } else { 1 };
        for bit in (message.number as usize % step..8 * message.message.len()).step_by(step) {
            let mut bytes = message.message.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!opens(&channel, kind, suite, &bytes), "bit {bit} of {message:?}");
        }
        let other = Channel { meter: sides.case.name, ..channel };
        assert!(!opens(&other, kind, suite, &message.message));
        for other in Suite::ALL.into_iter().filter(|other| *other != suite && *other != Suite::None) {
            assert!(!opens(&channel, kind, other, &message.message));
        }
        for other in MessageKind::ALL.into_iter().filter(|other| *other != kind) {
            assert!(!opens(&channel, other, suite, &message.message));
        }
        // An answer is of where it was given.
        if kind == MessageKind::Answer {
            let Address { name, radio, collector } = address;
            for elsewhere in [
                Address { name: name ^ 1, ..address },
                Address { radio: radio ^ 1, ..address },
                Address { collector: collector ^ 1, ..address },
            ] {
                assert!(open(&channel, kind, suite, elsewhere, &message.message).is_none());
            }
        }
        // Nor is it taken by who made it.
        if message.ephemeral.is_some() {
            assert!(!opens(&sides.channels(kind).0, kind, suite, &message.message));
        }
    }
}

#[test]
fn auditor_verifies_signatures_without_a_secret() {
    let (sides, messages) = sides();
    let (meter, collector) = (sides.meter.public(), sides.collector.public());
    let signed =
        |message: &&MeterMessageCase| kind_and_suite(message) == (MessageKind::Report, Suite::EciesEcdsa);
    for message in messages.iter().filter(signed) {
        assert!(signature_holds(sides.case.provisioned, meter, collector, &message.message));
        assert!(!signature_holds(sides.case.name, meter, collector, &message.message));
        assert!(!signature_holds(sides.case.provisioned, collector, collector, &message.message));
        assert!(!signature_holds(sides.case.provisioned, meter, meter, &message.message));
        assert!(!signature_holds(sides.case.provisioned, meter, collector, &message.message[1..]));
    }
}

#[test]
fn flash_and_eeprom_match_the_independent_program() {
    let (sides, _) = sides();
    let case = &sides.case;
    let setup = Setup {
        meter: case.provisioned,
        address: case.meter_address,
        collector_address: case.collector_address,
        channel: case.channel,
        power: case.power,
        interval_s: case.interval_s,
        suite: Suite::from_code(case.suite).expect("a suite"),
        voltage_uv: case.voltage_uv,
        current_ua: case.current_ua,
        phase: case.phase,
    };
    let collector = PublicKey::from_bytes(&case.collector_public).expect("a point");
    assert_eq!(&collector, sides.collector.public());
    let provision =
        Provision::with_keys(setup, sides.keys.clone(), sides.meter.clone(), &collector, case.seed);
    assert_eq!(provision.flash()[..], case.flash[..]);
    assert_eq!(provision.eeprom()[..], case.eeprom[..]);
    assert_eq!(provision.record().public.to_bytes(), case.meter_public);
    let kept = serde_json::to_string(&provision.record()).expect("it can be kept");
    let back: wire::meter::MeterRecord = serde_json::from_str(&kept).expect("and read again");
    assert_eq!(back, provision.record());
}

/// docs/reference/protocol.md, "Messages byte by byte": each block is a packet of the files or a plaintext.
#[test]
fn the_documentation_shows_these_messages() {
    let (_, messages) = meter_protocol();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut known: Vec<String> = messages
        .iter()
        .flat_map(|message| {
            message.packets.iter().map(|packet| hex(packet)).chain(message.plaintext.map(|plain| hex(&plain)))
        })
        .collect();
    let updates = include_str!("../../../testkit/vectors/meter-update.txt").lines();
    known.extend(updates.filter_map(|line| Some(line.split_once(" = ")?.1.to_owned())));
    let document = include_str!("../../../../docs/reference/protocol.md");
    let (_, chapter) = document.split_once("## Messages byte by byte").expect("the chapter");
    let mut shown = 0;
    for block in chapter.split("```").skip(1).step_by(2) {
        let bytes: String = block.lines().filter_map(|line| line.split_whitespace().next()).collect();
        assert!(known.contains(&bytes), "{bytes} is in the documentation alone");
        shown += 1;
    }
    assert!(shown > 20, "{shown}");
}
