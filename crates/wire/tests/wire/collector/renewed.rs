//! The renewal of suite 6's key, the collector's side, against a meter's that is made here from
//! docs/reference/protocol.md alone: "Renewal of the key".

use super::fixture::{COLLECTOR, NOW_MS, TestMeter, collector_and_meters, deliver, due, quiet};
use aes_gcm::aead::AeadInPlace;
use aes_gcm::{Aes256Gcm, KeyInit, Nonce, Tag};
use fips203::ml_kem_512;
use fips203::traits::{Encaps, SerDes};
use hmac::{Hmac, Mac};
use p256::SecretKey;
use p256::elliptic_curve::sec1::ToEncodedPoint;
use rand::{Rng, SeedableRng, rngs::StdRng};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use testkit::random::seed;
use wire::meter::{
    Collector, Command, CommandResult, Due, MeterKeys, MeterState, Policy, Provision, Rejection, Suite,
    Transmission, UplinkOutcome,
};

const SUITE: Suite = Suite::Aes256GcmRekeyed;
const METER: u16 = 1;
const REPORT: u8 = 0;
const ANSWER: u8 = 1;
const COMMAND: u8 = 3;
const OFFER_PIECES: u8 = 27;
const PIECES: u8 = 53;

fn is_renewal(packet: &[u8]) -> bool {
    packet[1] & 0x3f == 6 << 3 | 6
}

fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(key).expect("any length");
    mac.update(text);
    mac.finalize().into_bytes().into()
}

fn nonce(kind: u8, index: u8, m: u32) -> [u8; 12] {
    let mut nonce = [kind, 6, 0, METER as u8, 0, 0, 1, index, 0, 0, 0, 0];
    nonce[8..].copy_from_slice(&m.to_be_bytes());
    nonce
}

/// A meter, and a renewal that is under way there.
struct Renewing {
    meter: TestMeter,
    epoch: u32,
    key: [u8; 32],
    m: u32,
    offer: Vec<u8>,
    response: Vec<u8>,
    next: Option<[u8; 32]>,
    rng: StdRng,
    /// Packets of the collector by nonce and key: no other text may come with it.
    sent: HashMap<(u32, u32, u8), Vec<u8>>,
    /// Makes a response that no collector takes.
    lies: bool,
}

impl Renewing {
    fn new(policy: Policy, seed: u64) -> (Collector, Renewing, StdRng) {
        let mut rng = StdRng::seed_from_u64(seed);
        let (collector, meters) = collector_and_meters(&[SUITE], policy, &mut rng);
        let meter = meters.into_iter().next().expect("one");
        let key = *meter.provision.record().keys.expose().1;
        let (offer, response, rng_of) = (Vec::new(), Vec::new(), StdRng::seed_from_u64(seed ^ 1));
        let sent = HashMap::new();
        let (m, next, lies) = (0, None, false);
        let renewing = Renewing { meter, epoch: 0, key, m, offer, response, next, rng: rng_of, sent, lies };
        (collector, renewing, rng)
    }

    /// The reply to a packet of a renewal; `None`: to what is not for it.
    fn reply(&mut self, packet: &[u8]) -> Option<Vec<u8>> {
        let (index, mut text) = (packet[5], packet[6..38].to_vec());
        let cipher = Aes256Gcm::new(&self.key.into());
        let tag = Tag::from_slice(&packet[38..]);
        let opened = |m: u32, text: &mut [u8]| {
            cipher.decrypt_in_place_detached(Nonce::from_slice(&nonce(COMMAND, index, m)), &[], text, tag)
        };
        opened(self.m, &mut text).ok()?;
        let before = self.sent.entry((self.epoch, self.m, index)).or_insert_with(|| packet[6..].to_vec());
        assert_eq!(*before, packet[6..], "two texts under one nonce: m {}, piece {index}", self.m);
        let mut said = vec![0; 32];
        if index < OFFER_PIECES {
            if self.offer.len() == usize::from(index) * 32 {
                self.offer.extend(text);
            }
        } else {
            assert_eq!(text, [0; 32]);
            if self.response.is_empty() {
                self.respond()?;
            }
            said = self.response[usize::from(index - OFFER_PIECES) * 32..][..32].to_vec();
        }
        Some(self.sealed(ANSWER, index, self.m, &said))
    }

    fn sealed(&self, kind: u8, index: u8, m: u32, said: &[u8]) -> Vec<u8> {
        let mut text = said.to_vec();
        let cipher = Aes256Gcm::new(&self.key.into());
        let nonce = nonce(kind, index, m);
        let tag = cipher.encrypt_in_place_detached(Nonce::from_slice(&nonce), &[], &mut text).expect("short");
        [&[COLLECTOR, kind << 6 | 6 << 3 | 6, 0, METER as u8, m as u8, index], &text[..], &tag[..]].concat()
    }

    fn respond(&mut self) -> Option<()> {
        let (point, encapsulation_key) = self.offer.split_first_chunk::<64>()?;
        let own = SecretKey::from_slice(&self.rng.random::<[u8; 32]>()).expect("less than the order");
        let peer = p256::PublicKey::from_sec1_bytes(&[&[4], &point[..]].concat()).expect("a point");
        let z = p256::ecdh::diffie_hellman(own.to_nonzero_scalar(), peer.as_affine());
        let encapsulation_key = encapsulation_key.try_into().expect("800 bytes");
        let to = ml_kem_512::EncapsKey::try_from_bytes(encapsulation_key).expect("a key");
        let (t, ciphertext) = to.encaps_from_seed(&self.rng.random());
        let own = own.public_key().to_encoded_point(false);
        self.response = [&own.as_bytes()[1..], &ciphertext.into_bytes()].concat();
        if self.lies {
            self.response[..64].fill(0xff);
        }
        let mut info = b"WattSeal suite 6\0\x01".to_vec();
        info.extend(&self.meter.provision.identity().public().to_bytes()[..8]);
        info.extend(&self.meter.collector.to_bytes()[..8]);
        info.extend((self.epoch + 1).to_be_bytes());
        info.extend(self.m.to_be_bytes());
        assert_eq!(info.len(), 42);
        let said = Sha256::digest([&info[..], &self.offer, &self.response].concat());
        let secrets = [&z.raw_secret_bytes()[..], &t.into_bytes()].concat();
        let derived = hmac(&self.key, &secrets);
        self.next = Some(hmac(&derived, &[&b"P-256 ML-KEM-512"[..], &said, &[1]].concat()));
        Some(())
    }

    /// Receives a transmission and returns the packets of the reply.
    fn hears(&mut self, sent: &Transmission) -> Vec<Vec<u8>> {
        if is_renewal(&sent.packets[0]) {
            return self.reply(&sent.packets[0]).into_iter().collect();
        }
        let mut command = self.meter.hear(sent);
        if let (None, Some(next)) = (command, self.next) {
            // With the next key, where it opens.
            let before = self.meter.provision.clone();
            self.use_keys(next, self.epoch + 1);
            command = self.meter.hear(sent);
            match command {
                Some(_) => (self.key, self.epoch, self.next, self.m) = (next, self.epoch + 1, None, 0),
                None => self.meter.provision = before,
            }
        }
        let Some((m, command)) = command else { return Vec::new() };
        let is_ours = self.meter.suite == SUITE;
        let outcome = match command {
            Command::RenewKey if !is_ours => CommandResult::OutOfRange,
            Command::RenewKey => {
                (self.m, self.next) = (m, None);
                (self.offer, self.response) = (Vec::new(), Vec::new());
                CommandResult::Done
            }
            _ => CommandResult::Done,
        };
        self.meter.answer(m, outcome, [0; 11])
    }

    /// Keys whose suite 6 seals with this one.
    fn use_keys(&mut self, key: [u8; 32], epoch: u32) {
        let provision = &self.meter.provision;
        let keys = provision.record().keys;
        let (key128, key256) = keys.expose();
        let all = [&key128[..], key256, &epoch.to_be_bytes(), &key].concat();
        let keys = MeterKeys::from_exposed(&all).expect("keys");
        let identity = provision.identity().clone();
        self.meter.provision =
            Provision::with_keys(*provision.setup(), keys, identity, &self.meter.collector, [0; 48]);
    }

    fn is_even(&self, collector: &Collector) -> bool {
        let keys = &collector.record(METER).expect("there").keys;
        !keys.has_next() && (keys.epoch(), keys.expose_epoch_key()) == (self.epoch, &self.key)
    }
}

/// Goes on until both have this epoch's key, and no other. Returns when that is.
fn until_epoch(
    (collector, side, rng): (&mut Collector, &mut Renewing, &mut StdRng),
    epoch: u32,
    mut now_ms: u64,
) -> u64 {
    for _ in 0..5000 {
        for sent in due(collector, now_ms, rng) {
            for packet in side.hears(&sent) {
                collector.on_packet(&packet, now_ms);
            }
        }
        if side.epoch == epoch && side.is_even(collector) {
            // The key before goes.
            assert!(due(collector, now_ms, rng).is_empty());
            return now_ms;
        }
        now_ms += 100;
    }
    panic!("epoch {} and not {epoch}: {:?}", side.epoch, collector.commands(METER));
}

#[test]
fn renewal_gives_both_sides_the_same_key() {
    let (mut collector, mut side, mut rng) = Renewing::new(quiet(), 1);
    let mut now_ms = NOW_MS;
    for epoch in 1..=3 {
        collector.command(METER, Command::RenewKey).expect("queued");
        now_ms = until_epoch((&mut collector, &mut side, &mut rng), epoch, now_ms);
        let state = collector.state(METER).expect("there");
        assert_eq!(state.renewed_s(), Some((now_ms / 1000) as u32));
        deliver(&mut collector, &mut side.meter, &mut rng, now_ms);
    }
    // Nothing is left to be done.
    assert_eq!((collector.busy().count(), collector.next_due_ms()), (0, None));
    assert_eq!(side.sent.len(), 3 * usize::from(PIECES));
}

/// The durable part of the state: all that was asked to be saved, or less.
struct Durable {
    state: MeterState,
    keys: MeterKeys,
}

/// The collector crashes at each moment of a renewal, and goes on with what it had asked to be
/// saved: the renewal comes to its end without being ordered again, and no piece of two offers has
/// one nonce.
#[test]
fn restarted_collector_restarts_the_renewal() {
    let mut ends = 0;
    for crash_after in 0.. {
        let (mut collector, mut side, mut rng) = Renewing::new(quiet(), 2);
        let (identity, record) =
            (collector.identity().clone(), collector.record(METER).expect("there").clone());
        collector.command(METER, Command::RenewKey).expect("queued");
        let state = collector.state(METER).expect("there");
        let mut durable = Durable { state, keys: record.keys.clone() };
        let (mut now_ms, mut left) = (NOW_MS, Some(crash_after));
        let mut steps = 0;
        while side.epoch != 1 || !side.is_even(&collector) || durable.keys.has_next() {
            steps += 1;
            assert!(steps < 5000, "crash after {crash_after}: epoch {}", side.epoch);
            now_ms += 50;
            for due in collector.due(now_ms, &mut rng) {
                match due {
                    Due::Save(state) => {
                        collector.confirm_state(METER, state.revision);
                        durable.state = *state;
                    }
                    Due::SaveKeys(record) => {
                        collector.confirm_keys(&record);
                        durable.keys = record.keys;
                    }
                    Due::Send(sent) => {
                        for packet in side.hears(&sent) {
                            if let UplinkOutcome::Answer(_) = collector.on_packet(&packet, now_ms) {
                                // Each second time its owner comes to save it.
                                if crash_after % 2 == 0 {
                                    durable.state = collector.state(METER).expect("there");
                                }
                            }
                        }
                    }
                }
                if left == Some(0) {
                    let mut record = record.clone();
                    record.keys = durable.keys.clone();
                    collector = Collector::new(identity.clone(), quiet());
                    collector.add(record, durable.state.clone()).expect("the only one");
                    // The meter is heard: with the key that it has.
                    deliver(&mut collector, &mut side.meter, &mut rng, now_ms);
                }
                left = left.and_then(|left: usize| left.checked_sub(1));
            }
        }
        deliver(&mut collector, &mut side.meter, &mut rng, now_ms);
        if left.is_some() {
            ends = crash_after;
            break;
        }
    }
    // A step for each piece, and those of commands and keys.
    assert!(ends > usize::from(PIECES) + 4, "{ends} steps");
}

#[test]
fn late_saved_keys_do_not_replace_newer_ones() {
    let (mut collector, mut side, mut rng) = Renewing::new(quiet(), 3);
    collector.command(METER, Command::RenewKey).expect("queued");
    let mut now_ms = NOW_MS;
    let late = 'kept: loop {
        now_ms += 50;
        for due in collector.due(now_ms, &mut rng) {
            match due {
                Due::Save(state) => collector.confirm_state(METER, state.revision),
                Due::SaveKeys(record) => break 'kept record,
                Due::Send(sent) => {
                    side.hears(&sent).iter().for_each(|packet| drop(collector.on_packet(packet, now_ms)));
                }
            }
        }
    };
    assert!(collector.saved_keys(METER).is_some_and(|saved| saved.epoch() == 0 && !saved.has_next()));
    collector.remove(METER);
    let other = Provision::generate(*side.meter.provision.setup(), collector.identity().public(), &mut rng);
    collector.add(other.record(), MeterState::new(&other.record())).expect("removed");
    deliver(&mut collector, &mut TestMeter::new(other, side.meter.collector), &mut rng, now_ms);
    collector.confirm_keys(&late);
    assert_eq!((collector.saved_keys(METER), collector.busy().count()), (None, 0));
}

/// Forgeries of a renewal's replies, and replays of earlier ones, change nothing and do not stop
/// it.
#[test]
fn wrong_renewal_pieces_are_refused_and_it_goes_on() {
    let seed = seed();
    let (mut collector, mut side, mut rng) = Renewing::new(quiet(), seed);
    let mut attacker = StdRng::seed_from_u64(seed ^ 2);
    let (mut now_ms, mut heard, mut refused) = (NOW_MS, Vec::<Vec<u8>>::new(), 0);
    for epoch in 1..=3 {
        collector.command(METER, Command::RenewKey).expect("queued");
        let mut steps = 0;
        while side.epoch != epoch || !side.is_even(&collector) {
            steps += 1;
            assert!(steps < 5000, "seed {seed}");
            now_ms += 50;
            for sent in due(&mut collector, now_ms, &mut rng) {
                for packet in side.hears(&sent) {
                    if is_renewal(&packet) {
                        let keys = collector.record(METER).expect("there").keys.clone();
                        for wrong in wrong_ones(&packet, &heard, &mut attacker) {
                            let said = collector.on_packet(&wrong, now_ms);
                            assert!(
                                matches!(said, UplinkOutcome::Rejected(_)),
                                "seed {seed}: {wrong:02x?}: {said:?}"
                            );
                            refused += 1;
                        }
                        assert!(collector.record(METER).expect("there").keys == keys, "seed {seed}");
                        heard.push(packet.clone());
                    }
                    assert!(
                        !matches!(collector.on_packet(&packet, now_ms), UplinkOutcome::Rejected(_)),
                        "seed {seed}"
                    );
                    // It was taken, and is asked for no more.
                    if is_renewal(&packet) {
                        let again = collector.on_packet(&packet, now_ms);
                        assert_eq!(again, UplinkOutcome::Rejected(Rejection::NoCommand), "seed {seed}");
                    }
                }
            }
        }
        deliver(&mut collector, &mut side.meter, &mut rng, now_ms);
    }
    assert!(refused > 3 * usize::from(PIECES) * 8, "{refused}");
    assert_eq!(heard.len(), 3 * usize::from(PIECES));
}

/// A meter that replies to what was not asked, with its keys, and so authentic. A response to a
/// part of the offer is none.
#[test]
fn replies_out_of_turn_are_not_taken() {
    let (mut collector, mut side, mut rng) = Renewing::new(quiet(), 6);
    collector.command(METER, Command::RenewKey).expect("queued");
    let (mut now_ms, mut played) = (NOW_MS, 0);
    while side.epoch != 1 || !side.is_even(&collector) {
        assert!(now_ms < NOW_MS + 600_000, "{:?}", collector.commands(METER));
        now_ms += 50;
        for sent in due(&mut collector, now_ms, &mut rng) {
            let asked = is_renewal(&sent.packets[0]).then(|| sent.packets[0][5]);
            let replies = side.hears(&sent);
            let out_of_turn = (0..PIECES).filter(|index| Some(*index) != asked);
            for index in out_of_turn.filter(|_| asked.is_some()) {
                let reply = side.sealed(ANSWER, index, side.m, &[0x55; 32]);
                assert_eq!(
                    collector.on_packet(&reply, now_ms),
                    UplinkOutcome::Rejected(Rejection::NoCommand)
                );
                played += 1;
            }
            replies.iter().for_each(|packet| drop(collector.on_packet(packet, now_ms)));
        }
    }
    assert_eq!(played, usize::from(PIECES) * usize::from(PIECES - 1));
}

/// Of the packet that is about to come; heard: those that came before it, of this renewal and of
/// others.
fn wrong_ones(packet: &[u8], heard: &[Vec<u8>], rng: &mut StdRng) -> Vec<Vec<u8>> {
    let mut wrong = vec![
        packet[..rng.random_range(6..packet.len())].to_vec(),
        [packet, &[0]].concat(),
        // As one of the collector's, a report, and another suite's.
        [&[packet[0], COMMAND << 6 | 0x36], &packet[2..]].concat(),
        [&[packet[0], REPORT << 6 | 0x36], &packet[2..]].concat(),
        [&[packet[0], ANSWER << 6 | 2 << 3 | 6], &packet[2..]].concat(),
        // Of another renewal, and in another place of this one.
        [&packet[..4], &[packet[4].wrapping_add(1)], &packet[5..]].concat(),
        [&packet[..5], &[(packet[5] + rng.random_range(1..PIECES)) % PIECES], &packet[6..]].concat(),
        [&packet[..5], &[rng.random_range(PIECES..=255)], &packet[6..]].concat(),
    ];
    let mut flipped = packet.to_vec();
    flipped[rng.random_range(6..packet.len())] ^= 1 << rng.random_range(0..8);
    wrong.push(flipped);
    if !heard.is_empty() {
        let old = &heard[rng.random_range(0..heard.len())];
        // As it was, and as if it were this one.
        wrong.push(old.clone());
        wrong.push([&packet[..6], &old[6..]].concat());
        wrong.push([&packet[..38], &old[38..]].concat());
    }
    wrong
}

/// An authentic response that is none: of a meter that is broken. It is not asked for over and
/// over.
#[test]
fn malformed_response_ends_the_renewal() {
    let (mut collector, mut side, mut rng) = Renewing::new(quiet(), 4);
    side.lies = true;
    collector.command(METER, Command::RenewKey).expect("queued");
    let (mut now_ms, mut sent_packets) = (NOW_MS, 0);
    for _ in 0..2000 {
        now_ms += 100;
        for sent in due(&mut collector, now_ms, &mut rng) {
            sent_packets += 1;
            side.hears(&sent).iter().for_each(|packet| drop(collector.on_packet(packet, now_ms)));
        }
    }
    assert_eq!((sent_packets, collector.busy().count()), (1 + usize::from(PIECES), 0));
    let keys = &collector.record(METER).expect("there").keys;
    assert_eq!((keys.epoch(), keys.has_next()), (0, false));
    deliver(&mut collector, &mut side.meter, &mut rng, now_ms);
}

/// A meter that is told to seal otherwise before it has shown the next key is not asked for it any
/// more; once it seals so again, it is.
#[test]
fn meter_with_another_suite_shows_its_key_later() {
    let (mut collector, mut side, mut rng) = Renewing::new(quiet(), 5);
    collector.command(METER, Command::RenewKey).expect("queued");
    let mut now_ms = NOW_MS;
    while !collector.record(METER).expect("there").keys.has_next() {
        now_ms += 50;
        for sent in due(&mut collector, now_ms, &mut rng) {
            side.hears(&sent).iter().for_each(|packet| drop(collector.on_packet(packet, now_ms)));
        }
    }
    collector.command(METER, Command::Configure { interval_s: 1, suite: Suite::Aes128Gcm }).expect("queued");
    let mut sent_packets = 0;
    for _ in 0..2000 {
        now_ms += 100;
        for sent in due(&mut collector, now_ms, &mut rng) {
            sent_packets += 1;
            side.hears(&sent).iter().for_each(|packet| drop(collector.on_packet(packet, now_ms)));
        }
    }
    assert_eq!(collector.state(METER).expect("there").suite(), Suite::Aes128Gcm);
    assert!(sent_packets < 10 && collector.next_due_ms().is_none(), "{sent_packets} sent");
    deliver(&mut collector, &mut side.meter, &mut rng, now_ms);
    collector.command(METER, Command::Configure { interval_s: 1, suite: SUITE }).expect("queued");
    now_ms = until_epoch((&mut collector, &mut side, &mut rng), 1, now_ms);
    deliver(&mut collector, &mut side.meter, &mut rng, now_ms);
    // One that seals otherwise has no key to renew, and is not asked again.
    collector.command(METER, Command::Configure { interval_s: 1, suite: Suite::Aes256Gcm }).expect("queued");
    collector.command(METER, Command::RenewKey).expect("queued");
    for _ in 0..100 {
        now_ms += 100;
        for sent in due(&mut collector, now_ms, &mut rng) {
            side.hears(&sent).iter().for_each(|packet| drop(collector.on_packet(packet, now_ms)));
        }
    }
    assert_eq!((collector.busy().count(), side.epoch), (0, 1));
}

#[test]
fn old_key_is_renewed_if_the_policy_asks() {
    const DAY_MS: u64 = 86_400_000;
    let by_age = Policy { renew_keys_after_s: Some(30 * 86_400), ..quiet() };
    let (mut collector, mut side, mut rng) = Renewing::new(by_age, 6);
    // The first one, which the flash has for ever, with the first report.
    deliver(&mut collector, &mut side.meter, &mut rng, NOW_MS);
    let mut now_ms = until_epoch((&mut collector, &mut side, &mut rng), 1, NOW_MS);
    for (days, busy) in [(1, 0), (28, 0), (2, 1)] {
        now_ms += days * DAY_MS;
        // After a rest, too.
        collector.compact_idle(now_ms);
        collector.compact_idle(now_ms);
        deliver(&mut collector, &mut side.meter, &mut rng, now_ms);
        assert_eq!(collector.busy().count(), busy, "after {days} more days");
    }
    // Once, however often the meter is heard meanwhile.
    deliver(&mut collector, &mut side.meter, &mut rng, now_ms);
    assert_eq!(collector.commands(METER).len(), 1);
    now_ms = until_epoch((&mut collector, &mut side, &mut rng), 2, now_ms);
    deliver(&mut collector, &mut side.meter, &mut rng, now_ms);
    assert_eq!(collector.busy().count(), 0);
    // By command alone; and not where keys are not kept.
    for policy in [quiet(), Policy { renew_keys: false, ..by_age }] {
        collector.set_policy(policy);
        now_ms += 400 * DAY_MS;
        deliver(&mut collector, &mut side.meter, &mut rng, now_ms);
        assert_eq!(collector.busy().count(), 0);
    }
}
