//! The node's state machine: readings, answers, and what it does without energy, radio or sense.

use device::node::{Node, read_challenge, world};
use openssl::bn::{BigNum, BigNumContext};
use openssl::ec::{EcGroup, EcKey, EcPoint};
use openssl::ecdsa::EcdsaSig;
use openssl::hash::{MessageDigest, hash};
use openssl::nid::Nid;
use p256::ecdsa::signature::Verifier;
use wire::node::{Challenge, Config, Message, Mode, Reassembly, Scheme, Status, Trigger};

const NODE: u32 = 0x0102_0304;
const TICKS: u64 = 4096;

fn config(mode: Mode, scheme: Scheme) -> Config {
    let mut private_key = [0; 32];
    for (n, byte) in private_key.iter_mut().enumerate() {
        *byte = 7 * n as u8 + 1;
    }
    if scheme == Scheme::Secp160r1 {
        // Below the order, which has 161 bits.
        private_key[0] = 0;
    }
    Config {
        mode,
        scheme,
        node_id: NODE,
        first_counter: 1,
        interval_s: 60,
        threshold_mv: 2500,
        listen_every_ms: 1000,
        listen_for_ms: 5,
        node_address: 0x11,
        server_address: 0x22,
        channel: 3,
        power: 0xfe,
        private_key,
    }
}

fn start(config: &Config) -> Node {
    Node::start(&config.to_bytes()).expect("a configuration that it can work with")
}

fn status(node: &Node) -> Status {
    Status::from_bytes(&node.status()).expect("a state that there is")
}

fn messages() -> Vec<Message> {
    let mut reassembly = Reassembly::default();
    world(|world| {
        let packets = std::mem::take(&mut world.sent).into_iter();
        packets.filter_map(|(_, packet)| reassembly.take(&packet).expect("a node's packet")).collect()
    })
}

/// By libraries that share nothing with the firmware.
fn verified(message: &Message, config: &Config, challenge: &[u8; 16]) -> bool {
    let signed = message.signed_bytes(challenge);
    match config.scheme {
        Scheme::P256 => {
            let key = p256::ecdsa::SigningKey::from_slice(&config.private_key).expect("below the order");
            let signature = p256::ecdsa::Signature::from_slice(&message.signature).expect("r and s");
            key.verifying_key().verify(&signed, &signature).is_ok()
        }
        Scheme::Secp160r1 => {
            let group = EcGroup::from_curve_name(Nid::SECP160R1).expect("OpenSSL has the curve");
            let private = BigNum::from_slice(&config.private_key[..21]).expect("a number");
            let mut context = BigNumContext::new().expect("memory");
            let mut point = EcPoint::new(&group).expect("memory");
            point.mul_generator2(&group, &private, &mut context).expect("a point");
            let key = EcKey::from_public_key(&group, &point).expect("a key");
            let (r, s) = message.signature.split_at(20);
            let number = |bytes| BigNum::from_slice(bytes).expect("a number");
            let signature = EcdsaSig::from_private_components(number(r), number(s)).expect("a signature");
            let digest = hash(MessageDigest::sha1(), &signed).expect("SHA-1");
            signature.verify(&digest, &key).expect("a verdict")
        }
    }
}

/// A challenge's packet, to this node or another.
fn challenge(node_id: u32, byte: u8, answer_in_ms: u16) -> Vec<u8> {
    Challenge { node_address: 0x11, node_id, challenge: [byte; 16], answer_in_ms }.to_packet().to_vec()
}

#[test]
fn readings_are_signed_and_their_counters_rise() {
    for scheme in [Scheme::Secp160r1, Scheme::P256] {
        let config = config(Mode::Periodic, scheme);
        world(|world| world.stored_mv = [3100].into());
        let mut node = start(&config);
        for _ in 0..3 {
            node.turn();
        }
        let sent: Vec<usize> = world(|world| world.sent.iter().map(|(_, packet)| packet.len()).collect());
        match scheme {
            Scheme::Secp160r1 => assert_eq!(sent, [61, 61, 61]),
            Scheme::P256 => assert_eq!(sent, [61, 35, 61, 35, 61, 35]),
        }
        let messages = messages();
        let first = messages[0].counter;
        for (n, message) in messages.iter().enumerate() {
            assert_eq!((message.kind, message.node_id, message.scheme), (Trigger::Reading, NODE, scheme));
            assert_eq!((message.counter, message.stored_mv), (first + n as u32, 3100));
            assert!(verified(message, &config, &[0; 16]));
        }
        // At once, and then every minute.
        let uptimes: Vec<u32> = messages.iter().map(|message| message.uptime_s).collect();
        let begin = uptimes[0];
        assert_eq!(uptimes, [begin, begin + 60, begin + 120]);
        let status = status(&node);
        assert_eq!((status.wakes, status.signatures, status.sent, status.refused), (3, 3, 3, 0));
        assert_eq!(status.counter, first + 2);
    }
}

#[test]
fn a_changed_message_is_not_verified() {
    let config = config(Mode::Periodic, Scheme::P256);
    start(&config).turn();
    let message = messages().remove(0);
    assert!(verified(&message, &config, &[0; 16]));
    for change in [
        |message: &mut Message| message.counter += 1,
        |message: &mut Message| message.node_id += 1,
        |message: &mut Message| message.stored_mv -= 1,
        |message: &mut Message| message.uptime_s += 1,
        |message: &mut Message| message.kind = Trigger::Answer([0; 4]),
    ] {
        let mut changed = message.clone();
        change(&mut changed);
        assert!(!verified(&changed, &config, &[0; 16]));
    }
}

#[test]
fn without_enough_energy_nothing_is_sent_and_the_radio_sleeps() {
    let config = config(Mode::Periodic, Scheme::Secp160r1);
    world(|world| world.stored_mv = [2499, 2500, 0, 2501].into());
    let mut node = start(&config);
    for expected in [0, 1, 1, 2] {
        node.turn();
        assert_eq!(world(|world| world.sent.len()), expected);
        // Started, it is asleep; after each message, too.
        let log = world(|world| world.radio_log.clone());
        assert_eq!(log.len(), 1 + 2 * expected, "{log:?}");
        assert!(expected == 0 || log.last() == Some(&"sleep"), "{log:?}");
    }
    assert_eq!((status(&node).refused, status(&node).sent), (2, 2));
}

#[test]
fn a_challenge_is_answered_when_the_server_listens() {
    for scheme in [Scheme::Secp160r1, Scheme::P256] {
        let config = config(Mode::Asynchronous, scheme);
        let begin = world(|world| {
            // 10 ticks are 2.4 ms, 5 ms are 20.
            world.to_hear = [(10, challenge(NODE, 0x5a, 700))].into();
            world.ticks
        });
        let mut node = start(&config);
        node.turn();
        // 700 ms are 2867 ticks.
        assert_eq!(world(|world| world.sent[0].0), begin + 10 + 2867);
        let messages = messages();
        assert_eq!((messages.len(), messages[0].kind), (1, Trigger::Answer([0x5a; 4])));
        assert!(verified(&messages[0], &config, &[0x5a; 16]));
        assert!(!verified(&messages[0], &config, &[0x5b; 16]));
        assert_eq!((status(&node).challenges, status(&node).sent), (1, 1));
        // It sleeps while it signs and waits, and at the end.
        assert_eq!(world(|world| world.radio_log.pop()), Some("sleep"));
        // The next listening hears nothing.
        node.turn();
        assert_eq!(world(|world| (world.ticks, world.sent.len())), (begin + TICKS + 20, 0));
    }
}

/// The processor listens once, for 5 ms, and leaves it to the radio until the storage is to be
/// looked at.
#[test]
fn radio_that_listens_by_itself_wakes_the_node() {
    let config = config(Mode::WakeOnRadio, Scheme::P256);
    let begin = world(|world| world.ticks);
    let mut node = start(&config);
    node.turn();
    assert_eq!(world(|world| world.radio_log.clone()), ["start", "listen", "wait", "sleep"]);
    assert_eq!(world(|world| world.ticks), begin + 20 + 60 * TICKS);
    // A packet of others' ends the wait, and nothing is left out: the next turn begins at once.
    world(|world| {
        world.to_hear = [(1000, challenge(NODE + 1, 9, 0)), (3000, challenge(NODE, 0x5a, 7))].into()
    });
    let begin = world(|world| world.ticks);
    node.turn();
    assert_eq!((status(&node).ignored, world(|world| world.ticks)), (1, begin + 20 + 1000));
    node.turn();
    let messages = messages();
    assert_eq!((messages.len(), messages[0].kind), (1, Trigger::Answer([0x5a; 4])));
    assert!(verified(&messages[0], &config, &[0x5a; 16]));
    // 7 ms are 28 ticks.
    assert_eq!(world(|world| world.ticks), begin + 20 + 1000 + 20 + 3000 + 28);
    assert_eq!(world(|world| world.radio_log.pop()), Some("sleep"));
    assert_eq!((status(&node).wakes, status(&node).challenges, status(&node).sent), (3, 1, 1));
}

/// Neither a storage that holds too little nor a radio that fails keeps the processor awake.
#[test]
fn node_without_energy_or_radio_does_not_wait_for_it() {
    let config = config(Mode::WakeOnRadio, Scheme::P256);
    world(|world| world.stored_mv = [2000, 3000].into());
    let mut node = start(&config);
    node.turn();
    assert_eq!(world(|world| world.radio_log.clone()), ["start"]);
    world(|world| world.radio_works = false);
    let mut ticks = Vec::new();
    for _ in 0..3 {
        node.turn();
        ticks.push(world(|world| world.ticks));
    }
    assert_eq!(status(&node).closed, 1);
    assert!(ticks.windows(2).all(|pair| pair[1] - pair[0] >= TICKS), "{ticks:?}");
}

#[test]
fn an_answer_waits_no_longer_than_a_server_can_repeat() {
    let config = config(Mode::Asynchronous, Scheme::Secp160r1);
    world(|world| world.to_hear = [(0, challenge(NODE, 1, u16::MAX))].into());
    let mut node = start(&config);
    node.turn();
    // 1005 ms.
    assert_eq!(world(|world| world.sent[0].0), 1005 * 512 / 125);
}

#[test]
fn others_packets_are_passed_over() {
    let config = config(Mode::Asynchronous, Scheme::Secp160r1);
    world(|world| {
        world.to_hear = [(1, challenge(NODE + 1, 9, 0)), (1, vec![0x11]), (1, challenge(NODE, 2, 0))].into();
    });
    let mut node = start(&config);
    node.turn();
    assert_eq!(messages()[0].kind, Trigger::Answer([2; 4]));
    assert_eq!((status(&node).ignored, status(&node).challenges), (2, 1));
}

#[test]
fn node_without_enough_energy_does_not_listen_or_answer() {
    let config = config(Mode::Asynchronous, Scheme::Secp160r1);
    // Too little; enough to listen, but no more once the challenge is there; enough.
    world(|world| {
        world.stored_mv = [2000, 3000, 2400, 3000].into();
        world.to_hear = [(5, challenge(NODE, 1, 0)), (5, challenge(NODE, 2, 0))].into();
    });
    let mut node = start(&config);
    node.turn();
    assert_eq!(world(|world| world.radio_log.clone()), ["start"]);
    assert_eq!(status(&node).closed, 1);
    node.turn();
    // Not before the interval: a listening would have come after a second.
    assert!(world(|world| world.ticks) >= 60 * TICKS);
    assert_eq!((status(&node).challenges, status(&node).refused, status(&node).sent), (1, 1, 0));
    node.turn();
    assert_eq!(messages()[0].kind, Trigger::Answer([2; 4]));
}

#[test]
fn a_radio_that_fails_is_started_anew() {
    let config = config(Mode::Periodic, Scheme::Secp160r1);
    world(|world| world.radio_works = false);
    let mut node = start(&config);
    node.turn();
    // At the start, and when there was something to send.
    assert_eq!((status(&node).radio_faults, status(&node).sent), (2, 0));
    world(|world| world.radio_works = true);
    node.turn();
    world(|world| world.radio_works = false);
    node.turn();
    world(|world| world.radio_works = true);
    node.turn();
    let counters: Vec<u32> = messages().iter().map(|message| message.counter).collect();
    // Those of messages that were not sent are used up.
    assert_eq!(counters, [2, 4]);
    assert_eq!((status(&node).radio_faults, status(&node).sent, status(&node).signatures), (3, 2, 4));
    assert_eq!(world(|world| world.radio_log.iter().filter(|&&what| what == "start").count()), 4);
}

#[test]
fn node_refuses_unusable_settings() {
    let good = config(Mode::Asynchronous, Scheme::P256);
    // Format, mode, scheme, interval_s, listen_for_ms.
    for (offset, bytes) in [(0, [0xff; 2]), (2, [4, 1]), (2, [1, 2]), (12, [0; 2]), (18, [0; 2])] {
        let mut config = good.to_bytes();
        config[offset..offset + 2].copy_from_slice(&bytes);
        assert!(Node::start(&config).is_none(), "{bytes:?} at {offset}");
    }
    // What the radio cannot do by itself.
    let by_radio = Config { mode: Mode::WakeOnRadio, ..good.clone() };
    assert!(Node::start(&by_radio.to_bytes()).is_some());
    for (listen_every_ms, listen_for_ms) in [(0, 5), (10_000, 5), (1000, 0)] {
        let config = Config { listen_every_ms, listen_for_ms, ..by_radio.clone() };
        assert!(Node::start(&config.to_bytes()).is_none(), "{listen_for_ms} of {listen_every_ms} ms");
    }
    // A key of 0 shows when it is to sign.
    let mut node = start(&Config { private_key: [0; 32], mode: Mode::Periodic, ..good });
    node.turn();
    assert!(status(&node).key_refused);
    assert_eq!((status(&node).sent, world(|world| world.sent.len())), (0, 0));
}

/// Any bytes of any length: only a challenge to this node is taken for one.
#[test]
fn a_parser_takes_any_bytes() {
    let seed = fastrand::u64(..);
    let mut rng = fastrand::Rng::with_seed(seed);
    let good = challenge(NODE, 0x77, 0x1234);
    assert_eq!(read_challenge(&good, NODE), Some(([0x77; 16], 0x1234)));
    for round in 0..200_000 {
        let mut packet =
            if rng.bool() { good.clone() } else { (0..rng.usize(..62)).map(|_| rng.u8(..)).collect() };
        match rng.u8(..4) {
            0 => packet.truncate(rng.usize(..=packet.len())),
            1 => packet.extend((0..rng.usize(1..38)).map(|_| rng.u8(..))),
            2 if !packet.is_empty() => {
                let at = rng.usize(..packet.len());
                packet[at] ^= 1 << rng.u8(..8);
            }
            _ => {}
        }
        let expected = (packet.len() == 24 && packet[1..6] == [1, 1, 2, 3, 4]).then(|| {
            (packet[6..22].try_into().expect("16 bytes"), 256 * u16::from(packet[22]) + u16::from(packet[23]))
        });
        assert_eq!(read_challenge(&packet, NODE), expected, "seed {seed}, round {round}: {packet:02x?}");
    }
}

/// The node survives any packets, and answers the next challenge.
#[test]
fn a_node_survives_any_packets() {
    let seed = fastrand::u64(..);
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut node = start(&config(Mode::Asynchronous, Scheme::Secp160r1));
    world(|world| {
        world.to_hear = (0..1000)
            .map(|_| (0, (0..rng.usize(1..62)).map(|_| rng.u8(..)).collect()))
            .chain([(0, challenge(NODE, 3, 0))])
            .collect();
    });
    node.turn();
    assert_eq!(status(&node).ignored, 1000, "seed {seed}");
    assert_eq!(messages().len(), 1, "seed {seed}");
}
