//! Images of a meter's firmware, the collector's side, against a meter's that is made here from
//! docs/reference/protocol.md alone: "Firmware by radio".

use super::fixture::{COLLECTOR, NOW_MS, TestMeter, collector_and_meters, deliver, due, quiet, restarted};
use aes_gcm::aead::AeadInPlace;
use aes_gcm::{Aes128Gcm, KeyInit, Nonce, Tag};
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::collections::{HashMap, VecDeque};
use testkit::random::seed;
use wire::meter::{
    Collector, CollectorError, Command, CommandResult, Delivery, Image, ImageRefusal, QueuedCommand,
    Rejection, Status, Suite, Transmission, UpdateEnd, UpdateStage, UplinkOutcome,
};

const METER: u16 = 1;
const DATA: usize = 36;

fn image(version: u32, noise: u8, bytes: usize) -> Image {
    let mut image = b"WSI1part".to_vec();
    image.resize(20, 0);
    for number in [version, 0x1000, 512, bytes as u32 - 44, 44] {
        image.extend(number.to_be_bytes());
    }
    image.extend((image.len()..bytes).map(|at| (at as u8).wrapping_mul(31) ^ noise));
    Image::new(image).expect("an image")
}

/// A meter that takes images: what is in its flash outlives its power, the m of the update does
/// not.
struct Taking {
    meter: TestMeter,
    key: [u8; 16],
    m: u32,
    told: Option<[u8; 11]>,
    flash: Vec<u8>,
    flash_of: Option<[u8; 11]>,
    version: u32,
    trial_next: bool,
    on_trial: bool,
    /// Refuses with this result, once the header is there.
    refuses: Option<u8>,
    /// Goes back to the former image at its restart.
    goes_back: bool,
    /// Packets of the collector by nonce: no other text may come with it.
    sent: HashMap<(u32, u16), Vec<u8>>,
    restarts: u32,
}

impl Taking {
    fn new(seed: u64) -> (Collector, Taking, StdRng) {
        let mut rng = StdRng::seed_from_u64(seed);
        let (collector, meters) = collector_and_meters(&[Suite::Aes128Gcm], quiet(), &mut rng);
        let meter = meters.into_iter().next().expect("one");
        let key = *meter.provision.record().keys.expose().0;
        let taking = Taking {
            meter,
            key,
            m: 0,
            told: None,
            flash: Vec::new(),
            flash_of: None,
            version: 1,
            trial_next: false,
            on_trial: false,
            refuses: None,
            goes_back: false,
            sent: HashMap::new(),
            restarts: 0,
        };
        (collector, taking, rng)
    }

    fn nonce(kind: u8, number: u16, m: u32) -> Vec<u8> {
        let at = 0x0200 + number;
        [&[kind, 1, 0, METER as u8, 0, 0][..], &at.to_be_bytes(), &m.to_be_bytes()].concat()
    }

    fn bytes(&self) -> usize {
        let told = self.told.expect("told");
        usize::from(told[0]) << 16 | usize::from(told[1]) << 8 | usize::from(told[2])
    }

    fn state(&self) -> u16 {
        match self.refuses {
            Some(result) if self.flash.len() >= 2 * DATA => 0xfc00 | u16::from(result),
            _ => self.flash.len().div_ceil(DATA) as u16,
        }
    }

    /// The reply to a piece; `None` to what is not for it.
    fn reply(&mut self, packet: &[u8]) -> Option<Vec<u8>> {
        let index = u16::from_be_bytes([packet[5], packet[6]]);
        let mut text = packet[7..43].to_vec();
        let cipher = Aes128Gcm::new(&self.key.into());
        let nonce = Taking::nonce(3, index, self.m);
        let tag = Tag::from_slice(&packet[43..]);
        cipher.decrypt_in_place_detached(Nonce::from_slice(&nonce), &[], &mut text, tag).ok()?;
        let before = self.sent.entry((self.m, index)).or_insert_with(|| packet[7..].to_vec());
        assert_eq!(*before, packet[7..], "two texts under one nonce: m {}, piece {index}", self.m);
        if index == self.state() && self.flash.len() < self.bytes() {
            let left = self.bytes() - self.flash.len();
            self.flash.extend(&text[..left.min(DATA)]);
            self.trial_next |= self.flash.len() == self.bytes();
        }
        let state = self.state();
        let nonce = Taking::nonce(1, state, self.m);
        let tag = cipher.encrypt_in_place_detached(Nonce::from_slice(&nonce), &[], &mut []).expect("short");
        let [first, second] = state.to_be_bytes();
        Some([&[COLLECTOR, 0x4f, 0, METER as u8, self.m as u8, first, second], &tag[..]].concat())
    }

    fn restart(&mut self) {
        self.restarts += 1;
        (self.m, self.told) = (0, None);
        if std::mem::take(&mut self.trial_next) && !self.goes_back {
            self.version = u32::from_be_bytes(self.flash[20..24].try_into().expect("4 bytes"));
            self.on_trial = true;
        }
    }

    /// Receives a transmission and returns the packets of the reply.
    fn hears(&mut self, sent: &Transmission) -> Vec<Vec<u8>> {
        if sent.packets[0][1] & 7 == 7 {
            assert_eq!((sent.packets.len(), sent.packets[0].len()), (1, 59));
            return self.reply(&sent.packets[0]).into_iter().collect();
        }
        let before = self.meter.last_m;
        let Some((m, command)) = self.meter.hear(sent) else { return Vec::new() };
        let is_new = m > before;
        let (mut result, mut body) = (CommandResult::Done, [0; 11]);
        match command {
            Command::ReadStatus { page: 2 } => {
                let (version, on_trial, trial_next) = (self.version, self.on_trial, self.trial_next);
                body = Status::Firmware { version, slot: 1, on_trial, trial_next, received: 0, bytes: 0 }
                    .to_bytes();
            }
            Command::UpdateFirmware { version, .. } if version < self.version => {
                result = CommandResult::ImageRefused(ImageRefusal::Old);
            }
            Command::UpdateFirmware { .. } if self.on_trial => {
                result = CommandResult::ImageRefused(ImageRefusal::OnTrial);
            }
            Command::UpdateFirmware { .. } if is_new => {
                let told: [u8; 11] = command.to_bytes(m)[5..].try_into().expect("11 bytes");
                if self.flash_of != Some(told) {
                    self.flash.clear();
                    self.trial_next = false;
                }
                (self.m, self.told, self.flash_of) = (m, Some(told), Some(told));
            }
            Command::Reboot if is_new => self.restart(),
            _ => {}
        }
        self.meter.answer(m, result, body)
    }
}

/// Goes on until it has ended, over a channel that loses, doubles and turns around so much of it.
fn until_end(
    (collector, side, rng): (&mut Collector, &mut Taking, &mut StdRng),
    impaired: f64,
    now_ms: &mut u64,
    mut each: impl FnMut(&mut Collector, &mut Taking, &mut StdRng),
) -> UpdateEnd {
    let mut to_collector: VecDeque<Vec<u8>> = VecDeque::new();
    let mut to_meter: VecDeque<Transmission> = VecDeque::new();
    for _ in 0..200_000 {
        for sent in due(collector, *now_ms, rng) {
            let copies =
                if rng.random_bool(impaired) { 0 } else { 1 + usize::from(rng.random_bool(impaired)) };
            to_meter.extend(std::iter::repeat_n(sent, copies));
        }
        if to_meter.len() > 1 && rng.random_bool(impaired) {
            to_meter.swap(0, 1);
        }
        // Late packets come with the next ones.
        if let Some(sent) = to_meter.pop_front() {
            for packet in side.hears(&sent) {
                let copies =
                    if rng.random_bool(impaired) { 0 } else { 1 + usize::from(rng.random_bool(impaired)) };
                to_collector.extend(std::iter::repeat_n(packet, copies));
            }
        }
        if to_collector.len() > 1 && rng.random_bool(impaired) {
            to_collector.swap(0, 1);
        }
        if let Some(packet) = to_collector.pop_front() {
            collector.on_packet(&packet, *now_ms);
        }
        each(collector, side, rng);
        if let Some(end) = collector.update_progress(METER).and_then(|progress| progress.update.end) {
            return end;
        }
        *now_ms += 50;
    }
    panic!("{:?}, {:?}", collector.update_progress(METER), collector.commands(METER));
}

/// It reports in after a second of trial.
fn reports_in(_: &mut Collector, side: &mut Taking, rng: &mut StdRng) {
    if side.on_trial && rng.random_bool(0.05) {
        side.on_trial = false;
    }
}

#[test]
fn image_arrives_whole_through_loss_and_reordering() {
    let seed = seed();
    for (round, impaired) in [0.0, 0.1, 0.3, 0.5].into_iter().enumerate() {
        let (mut collector, mut side, mut rng) = Taking::new(seed.wrapping_add(round as u64));
        let mut now_ms = NOW_MS;
        for version in 2..5 {
            let image = image(version, version as u8, 1000 + 4 * version as usize);
            collector.update(METER, image.clone()).expect("known");
            let end = until_end((&mut collector, &mut side, &mut rng), impaired, &mut now_ms, reports_in);
            assert_eq!(end, UpdateEnd::Runs, "seed {seed}, {impaired}");
            assert_eq!(side.flash, image.bytes(), "seed {seed}, {impaired}");
            assert_eq!(collector.update_progress(METER).expect("one").stage, UpdateStage::Ended);
        }
        assert!(side.restarts >= 3, "seed {seed}");
    }
}

#[test]
fn update_survives_restarts_at_each_step() {
    let seed = seed();
    for round in 0..40 {
        let (mut collector, mut side, mut rng) = Taking::new(seed.wrapping_add(round));
        let image = image(2, 7, 1500);
        collector.update(METER, image.clone()).expect("known");
        let mut now_ms = NOW_MS;
        let end =
            until_end((&mut collector, &mut side, &mut rng), 0.1, &mut now_ms, |collector, side, rng| {
                if rng.random_bool(0.02) {
                    let before =
                        std::mem::replace(collector, Collector::new(collector.identity().clone(), quiet()));
                    *collector = restarted(before, quiet());
                    let progress = collector.update_progress(METER).expect("it is kept");
                    assert_eq!(progress.update.digest, *image.digest());
                    assert!(matches!(progress.stage, UpdateStage::NeedsImage | UpdateStage::Ended));
                    if progress.update.end.is_none() {
                        collector.update(METER, image.clone()).expect("known");
                    }
                }
                if rng.random_bool(0.01) && !side.on_trial && !side.trial_next {
                    side.restart();
                }
                reports_in(collector, side, rng);
            });
        assert_eq!(end, UpdateEnd::Runs, "seed {seed}, round {round}");
        assert_eq!(side.flash, image.bytes());
    }
}

/// Two images whose headers are the same, one given in the place of the other at any time: no piece
/// of one goes out under the other's m.
#[test]
fn replacing_image_has_another_number() {
    let seed = seed();
    for round in 0..20 {
        let (mut collector, mut side, mut rng) = Taking::new(seed.wrapping_add(round));
        let images = [image(2, 1, 1200), image(2, 2, 1200)];
        let mut given = 0;
        collector.update(METER, images[0].clone()).expect("known");
        let mut now_ms = NOW_MS;
        let end =
            until_end((&mut collector, &mut side, &mut rng), 0.1, &mut now_ms, |collector, side, rng| {
                let stage = collector.update_progress(METER).expect("one").stage;
                let is_sent = matches!(stage, UpdateStage::Sending { pieces, of } if pieces + 3 < of);
                if given < 6 && is_sent && rng.random_bool(0.05) {
                    given += 1;
                    collector.update(METER, images[given % 2].clone()).expect("known");
                    // The meter knows an image by its header: the signer's mistake.
                    side.flash_of = None;
                }
                reports_in(collector, side, rng);
            });
        assert_eq!(end, UpdateEnd::Runs, "seed {seed}, round {round}");
        assert_eq!(side.flash, images[given % 2].bytes(), "seed {seed}, round {round}");
    }
}

#[test]
fn update_ends_as_the_meter_reports() {
    let end_of = |prepare: &dyn Fn(&mut Taking)| {
        let (mut collector, mut side, mut rng) = Taking::new(91);
        prepare(&mut side);
        collector.update(METER, image(3, 3, 900)).expect("known");
        let mut now_ms = NOW_MS;
        let end = until_end((&mut collector, &mut side, &mut rng), 0.0, &mut now_ms, reports_in);
        // It is kept, and nothing more is sent, until the owner forgets it.
        assert!(due(&mut collector, now_ms + 3_600_000, &mut rng).is_empty());
        let mut collector = restarted(collector, quiet());
        assert_eq!(collector.update_progress(METER).expect("kept").update.end, Some(end));
        assert_eq!(collector.state(METER).expect("known").update().expect("kept").version, 3);
        collector.forget_update(METER).expect("known");
        assert_eq!(collector.update_progress(METER), None);
        end
    };
    assert_eq!(end_of(&|_| {}), UpdateEnd::Runs);
    assert_eq!(end_of(&|side| side.version = 3), UpdateEnd::Runs);
    assert_eq!(end_of(&|side| side.version = 4), UpdateEnd::Refused(ImageRefusal::Old));
    assert_eq!(end_of(&|side| side.refuses = Some(3)), UpdateEnd::Refused(ImageRefusal::OtherSlot));
    assert_eq!(end_of(&|side| side.refuses = Some(18)), UpdateEnd::Refused(ImageRefusal::NotKept));
    assert_eq!(end_of(&|side| side.goes_back = true), UpdateEnd::WentBack);
    assert_eq!(end_of(&|side| side.on_trial = true), UpdateEnd::Runs, "it waits for a trial to end");
}

/// With the image that it is to have, or with another: neither counts as one that runs, and no
/// other image comes.
#[test]
fn a_meter_on_trial_is_only_asked_until_the_trial_ends() {
    for version in [1, 3] {
        let (mut collector, mut side, mut rng) = Taking::new(96);
        (side.version, side.on_trial) = (version, true);
        collector.update(METER, image(3, 3, 900)).expect("known");
        let (mut now_ms, mut questions) = (NOW_MS, 0);
        while now_ms < NOW_MS + 120_000 {
            for sent in due(&mut collector, now_ms, &mut rng) {
                let asks = QueuedCommand::Command(Command::ReadStatus { page: 2 });
                assert!(collector.commands(METER).iter().all(|(_, order, _)| *order == asks));
                questions += 1;
                side.hears(&sent).iter().for_each(|packet| drop(collector.on_packet(packet, now_ms)));
            }
            now_ms += 100;
        }
        let progress = collector.update_progress(METER).expect("one");
        assert_eq!((progress.stage, progress.update.end), (UpdateStage::Asking, None), "version {version}");
        assert!((10..=13).contains(&questions), "{questions} questions");
        side.on_trial = false;
        let end = until_end((&mut collector, &mut side, &mut rng), 0.0, &mut now_ms, reports_in);
        assert_eq!(end, UpdateEnd::Runs, "version {version}");
    }
}

#[test]
fn meter_without_the_update_ends_it() {
    for outcome in [CommandResult::UnknownCommand, CommandResult::OutOfRange] {
        let (mut collector, mut side, mut rng) = Taking::new(92);
        collector.update(METER, image(2, 2, 900)).expect("known");
        for sent in due(&mut collector, NOW_MS, &mut rng) {
            let (m, _) = side.meter.hear(&sent).expect("a question");
            for packet in side.meter.answer(m, outcome, [0; 11]) {
                assert!(matches!(collector.on_packet(&packet, NOW_MS), UplinkOutcome::Answer(_)));
            }
        }
        let progress = collector.update_progress(METER).expect("one");
        assert_eq!(progress.update.end, Some(UpdateEnd::NotPossible));
    }
}

#[test]
fn update_command_needs_an_image() {
    let (mut collector, ..) = Taking::new(93);
    let command = Command::UpdateFirmware { bytes: 900, version: 2, header: 0 };
    assert_eq!(collector.command(METER, command), Err(CollectorError::ImageNeeded));
    assert_eq!(collector.update(METER + 1, image(2, 2, 900)), Err(CollectorError::UnknownMeter(METER + 1)));
    assert_eq!(collector.commands(METER), []);
}

/// As many pieces a second as the policy says, to all meters together, and reports and commands go
/// on meanwhile.
#[test]
fn image_pieces_leave_room_on_the_channel() {
    let mut rng = StdRng::seed_from_u64(94);
    let policy = wire::meter::Policy { update_piece_every_ms: 200, ..quiet() };
    let suites = [Suite::Aes128Gcm; 3];
    let (mut collector, mut meters) = collector_and_meters(&suites, policy, &mut rng);
    for meter in 1..=3 {
        collector.update(meter, image(2, 2, 4000)).expect("known");
    }
    let mut pieces = Vec::new();
    let mut now_ms = NOW_MS;
    while now_ms < NOW_MS + 30_000 {
        for sent in due(&mut collector, now_ms, &mut rng) {
            let meter = &mut meters[usize::from(sent.meter) - 1];
            if sent.packets[0][1] & 7 == 7 {
                pieces.push((now_ms, sent.meter));
                let to = (COLLECTOR, sent.meter);
                let index = u16::from_be_bytes([sent.packets[0][5], sent.packets[0][6]]);
                let m = meter.last_m;
                let reply =
                    meter.with_channel(|channel| channel.update_reply(Suite::Aes128Gcm, to, m, index + 1));
                assert_eq!(collector.on_packet(&reply, now_ms), UplinkOutcome::Piece);
            } else if let Some((m, command)) = meter.hear(&sent) {
                let body = match command {
                    Command::ReadStatus { page: 2 } => [0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0],
                    _ => [0; 11],
                };
                for packet in meter.answer(m, CommandResult::Done, body) {
                    collector.on_packet(&packet, now_ms);
                }
            }
        }
        if (now_ms - NOW_MS).is_multiple_of(5_000) {
            deliver(&mut collector, &mut meters[0], &mut rng, now_ms);
        }
        let next_ms = collector.next_due_ms().unwrap_or(u64::MAX);
        now_ms = next_ms.clamp(now_ms + 1, now_ms / 5_000 * 5_000 + 5_000);
    }
    let gaps: Vec<u64> = pieces.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    assert!(pieces.len() > 100 && gaps.iter().all(|gap| *gap >= 200), "{} {gaps:?}", pieces.len());
}

/// A reply that is not the meter's, or of before, changes nothing.
#[test]
fn foreign_replies_are_rejected() {
    let (mut collector, mut side, mut rng) = Taking::new(95);
    let reply = |side: &Taking, m: u32, state: u16| {
        side.meter
            .with_channel(|channel| channel.update_reply(Suite::Aes128Gcm, (COLLECTOR, METER), m, state))
    };
    let packet = reply(&side, 1, 0);
    assert_eq!(collector.on_packet(&packet, NOW_MS), UplinkOutcome::Rejected(Rejection::NoCommand));
    collector.update(METER, image(2, 2, 1000)).expect("known");
    let mut now_ms = NOW_MS;
    while side.flash.len() < 10 * DATA {
        for sent in due(&mut collector, now_ms, &mut rng) {
            for packet in side.hears(&sent) {
                collector.on_packet(&packet, now_ms);
            }
        }
        now_ms += 100;
    }
    let before = collector.update_progress(METER);
    assert_eq!(before.expect("one").stage, UpdateStage::Sending { pieces: 10, of: 28 });
    for (m, state, heard) in [
        (side.m, 3, UplinkOutcome::Piece),
        (side.m, 10, UplinkOutcome::Piece),
        (side.m, 29, UplinkOutcome::Piece),
        (side.m ^ 0x100, 12, UplinkOutcome::Rejected(Rejection::NotAuthentic)),
        (side.m ^ 1, 12, UplinkOutcome::Rejected(Rejection::NoCommand)),
    ] {
        let packet = reply(&side, m, state);
        assert_eq!(collector.on_packet(&packet, now_ms), heard, "{m:x} {state}");
        assert_eq!(collector.update_progress(METER), before, "{m:x} {state}");
    }
    // A piece is none that a meter sends.
    let sent = due(&mut collector, now_ms + 10_000, &mut rng);
    assert_eq!(
        collector.on_packet(&sent[0].packets[0], now_ms),
        UplinkOutcome::Rejected(Rejection::Direction)
    );
    assert!(!matches!(collector.commands(METER).first(), Some((_, _, Delivery::UnderWay { .. }))));
}
